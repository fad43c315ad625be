/* SPDX-License-Identifier: MIT */
/* Recognises the calls of unknown compilers, and counts them by name. */
#include "process/unknown_compilers.h"

#include <inttypes.h>
#include <string.h>

#include "process/command.h"
#include "process/path.h"

static bool is_compile(const struct tr_word *words, size_t count)
{
	static const char *const extensions[] = { ".c", ".cc", ".cpp", ".cxx", ".C",
						  ".S", ".s",  ".asm", ".m",   NULL };
	/* a program that only a shell could expand ($CC) needs no further option */
	bool compiles = false, source = false, typical = tr_text_starts(words->text, TR_TEXT("$"));

	for (size_t i = 1; i < count; i++) {
		struct tr_text text = words[i].text;
		bool option = text.len > 1 && *text.data == '-';
		compiles |= tr_text_is(text, "-c");
		source |= !option && tr_text_is_among(tr_path_extension(text), extensions);
		typical |= option && memchr("oIDO", text.data[1], 4);
	}
	return compiles && source && typical;
}

size_t tr_unknown_compilers_count(struct tr_unknown_compilers *unknown, const struct tr_word *words,
				  size_t count)
{
	enum { MOST = sizeof unknown->list / sizeof *unknown->list };
	static const char *const interpreters[] = { "python", "python3", "perl", "ruby", NULL };
	struct tr_text name = tr_tool_base(words[0].text);
	size_t i = 0;

	if (!name.len || name.len > TR_PROGRAM_NAME_MAX || tr_command_is_shell(name) ||
	    tr_text_is_among(name, interpreters) || !is_compile(words, count))
		return 0;
	while (i < unknown->count && !tr_text_is(name, unknown->list[i].name))
		i++;
	if (i == MOST)
		return 0;
	unknown->count += i == unknown->count;
	memcpy(unknown->list[i].name, name.data, name.len);
	unknown->list[i].count++;
	return i + 1;
}

bool tr_unknown_compilers_report(struct tr_unknown_compilers *unknown, struct tr_error *err)
{
	while (unknown->count && !unknown->list[unknown->count - 1].count)
		unknown->count--;
	if (!unknown->count)
		return false;
	const char *name = unknown->list[--unknown->count].name;
	uint64_t count = unknown->list[unknown->count].count;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "unknown program that is called like a compiler: %s, %" PRIu64
		     " time%s; -O compiler=%s=gcc if it has the options of GCC",
		     name, count, count == 1 ? "" : "s", name);
	tr_error_is_note(err);
	return true;
}
