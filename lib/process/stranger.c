/* SPDX-License-Identifier: MIT */
#include "process/stranger.h"

#include <inttypes.h>
#include <string.h>

#include "process/command.h"
#include "process/path.h"

static bool is_compile(const struct tr_word *words, size_t count)
{
	static const char *const extensions[] = { ".c", ".cc", ".cpp", ".cxx", ".C",
						  ".S", ".s",  ".asm", ".m",   NULL };
	/* a program that only a shell could name has no other sense of -c */
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

size_t tr_strangers_count(struct tr_strangers *strangers, const struct tr_word *words, size_t count)
{
	enum { MOST = sizeof strangers->list / sizeof *strangers->list };
	static const char *const interpreters[] = { "python", "python3", "perl", "ruby", NULL };
	struct tr_text name = tr_tool_base(words[0].text);
	size_t i = 0;

	if (!name.len || name.len > TR_PROGRAM_NAME_MAX || tr_command_is_shell(name) ||
	    tr_text_is_among(name, interpreters) || !is_compile(words, count))
		return 0;
	while (i < strangers->count && !tr_text_is(name, strangers->list[i].name))
		i++;
	if (i == MOST)
		return 0;
	strangers->count += i == strangers->count;
	memcpy(strangers->list[i].name, name.data, name.len);
	strangers->list[i].count++;
	return i + 1;
}

bool tr_strangers_report(struct tr_strangers *strangers, struct tr_error *err)
{
	while (strangers->count && !strangers->list[strangers->count - 1].count)
		strangers->count--;
	if (!strangers->count)
		return false;
	const char *name = strangers->list[--strangers->count].name;
	uint64_t count = strangers->list[strangers->count].count;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "unknown program that is called like a compiler: %s, %" PRIu64
		     " time%s; -O compiler=%s=gcc if it has the options of GCC",
		     name, count, count == 1 ? "" : "s", name);
	tr_error_is_note(err);
	return true;
}
