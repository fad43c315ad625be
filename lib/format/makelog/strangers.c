/* SPDX-License-Identifier: MIT */
/*
 * Unknown programs that look like compilers: they have -c, a source, and an output or an option that
 * compilers have. Names are few, because a build has few compilers; further ones are not counted.
 */
#include <inttypes.h>
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/command.h"
#include "process/path.h"

static bool is_compile(const struct tr_word *words, size_t count)
{
	static const char *const extensions[] = { ".c", ".cc", ".cpp", ".cxx", ".C",
						  ".S", ".s",  ".asm", ".m",   NULL };
	bool compiles = false, source = false, typical = false;

	for (size_t i = 1; i < count; i++) {
		struct tr_text text = words[i].text;
		bool option = text.len > 1 && *text.data == '-';
		compiles |= tr_text_is(text, "-c");
		source |= !option && tr_text_is_among(tr_path_extension(text), extensions);
		typical |= option && memchr("oIDO", text.data[1], 4);
	}
	return compiles && source && typical;
}

void tr_makelog_strangers_count(struct tr_makelog_strangers *strangers, const struct tr_word *words,
				size_t count)
{
	enum { MOST = sizeof strangers->list / sizeof *strangers->list };
	static const char *const interpreters[] = { "python", "python3", "perl", "ruby", NULL };
	struct tr_text name = tr_tool_base(words[0].text);
	size_t i = 0;

	if (!name.len || name.len > TR_PROGRAM_NAME_MAX || tr_command_is_shell(name) ||
	    tr_text_is_among(name, interpreters) || !is_compile(words, count))
		return;
	while (i < strangers->count && !tr_text_is(name, strangers->list[i].name))
		i++;
	if (i == MOST)
		return;
	strangers->count += i == strangers->count;
	memcpy(strangers->list[i].name, name.data, name.len);
	strangers->list[i].count++;
}

bool tr_makelog_strangers_report(struct tr_makelog_strangers *strangers, struct tr_error *err)
{
	if (!strangers->count)
		return false;
	const char *name = strangers->list[--strangers->count].name;
	uint64_t count = strangers->list[strangers->count].count;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "unknown program that is called as a compiler is: %s, %" PRIu64
		     " time%s; -O compiler=%s=gcc if it has the options of GCC",
		     name, count, count == 1 ? "" : "s", name);
	return true;
}
