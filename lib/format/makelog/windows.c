/* SPDX-License-Identifier: MIT */
/*
 * Command lines of Windows, in which a backslash separates folders, as nmake, msbuild and others
 * print them, perhaps after a prompt with the directory.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "format/makelog/makelog.h"
#include "process/command.h"
#include "process/directory.h"
#include "process/path.h"

static struct tr_text without(struct tr_text text, size_t count)
{
	return (struct tr_text){ text.data + count, text.len - count };
}

static bool is_program(struct tr_text path, const char *name)
{
	return tr_text_equal_in_any_case(tr_tool_base(path), tr_text_from(name));
}

static struct tr_text skip_blanks(struct tr_text text)
{
	while (text.len && *text.data == ' ')
		text = without(text, 1);
	return text;
}

/*
 * The program at the beginning of a command line of Windows: a text in quotes, a path with blanks
 * that ends in .exe, or a word. *after: the offset of its arguments.
 */
static struct tr_text program_of(struct tr_text text, size_t *after)
{
	enum { LONGEST = 1024 };
	bool quoted = text.len && *text.data == '"';
	const char *end =
		text.len ? memchr(text.data + quoted, quoted ? '"' : ' ', text.len - quoted) : NULL;
	size_t len = end ? (size_t)(end - text.data) : text.len;

	for (size_t i = 4; !quoted && tr_path_has_drive(text) && i < text.len && i < LONGEST; i++)
		if (text.data[i] == ' ' &&
		    tr_text_equal_in_any_case((struct tr_text){ text.data + i - 4, 4 },
					      TR_TEXT(".exe"))) {
			len = i;
			break;
		}
	*after = len + (quoted && end);
	return (struct tr_text){ text.data + quoted, len - quoted };
}

/*
 * The length of the prompt of cmd.exe with its directory, C:\b>; 0: there is none. In text that
 * people have copied a blank may follow, but only before a build tool: "C:\b\a.exe x> y" is a
 * redirection.
 */
static size_t skip_prompt(struct tr_makelog_names *names, struct tr_text text)
{
	const char *mark = tr_path_has_drive(text) ? memchr(text.data, '>', text.len) : NULL;
	size_t len = mark ? (size_t)(mark - text.data) : 0, after;

	if (len < 3 || text.data[2] != '\\' || len + 1 == text.len || mark[-1] == ' ' ||
	    memchr(text.data, '"', len) || memmem(text.data, len, " -", 2) ||
	    memmem(text.data, len, " /", 2))
		return 0;
	struct tr_text rest = skip_blanks(without(text, len + 1));
	if (mark[1] != ' ')
		return len + 1;
	struct tr_makelog_program program = tr_makelog_program(names, program_of(rest, &after));
	return program.tool != TR_TOOL_NONE || program.cmd ? len + 1 : 0;
}

/*
 * True if a backslash precedes a letter or digit outside of quotes. It would have no effect in a
 * shell, so it separates folders.
 */
static bool has_path(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	bool quoted = false;

	if (!memchr(p, '\\', text.len) || memchr(p, '\'', text.len))
		return false;
	for (; p + 1 < end; p++) {
		unsigned char letter = (unsigned char)p[1] | 0x20;
		if (*p == '"')
			quoted = !quoted;
		if (*p != '\\')
			continue;
		if (!quoted && ((letter >= 'a' && letter <= 'z') || (p[1] >= '0' && p[1] <= '9')))
			return true;
		p++;
	}
	return false;
}

/* The end of the first command: a redirection of cmd.exe, or the operator before another one. */
static size_t end_of_command(struct tr_text text)
{
	bool quoted = false;
	size_t slashes = 0; /* backslashes before the byte; an odd number escapes a quote */

	for (size_t i = 1; i < text.len; i++) {
		char c = text.data[i], before = text.data[i - 1];
		slashes = before == '\\' ? slashes + 1 : 0;
		if (c == '"' && slashes % 2 == 0)
			quoted = !quoted;
		if (!quoted && before == ' ' && (c == '&' || c == '|' || c == '<' || c == '>'))
			return i;
		if (!quoted && c == '>' && before == '2' && i > 1 && text.data[i - 2] == ' ')
			return i - 1;
	}
	return text.len;
}

/* The launchers and the program at the beginning of a command line of Windows. */
struct programs {
	struct tr_text list[4];
	size_t count;
	enum tr_tool_kind tool; /* of the last one */
	struct tr_text rest;	/* the arguments of the last one */
};

static void find_programs(struct tr_makelog_names *names, struct tr_text text,
			  struct programs *programs)
{
	enum { MOST = sizeof programs->list / sizeof *programs->list };
	size_t after;

	*programs = (struct programs){ .tool = TR_TOOL_LAUNCHER, .rest = text };
	while (programs->tool == TR_TOOL_LAUNCHER && programs->count < MOST) {
		while (programs->rest.len && *programs->rest.data == ' ')
			programs->rest = without(programs->rest, 1);
		struct tr_text program = program_of(programs->rest, &after);
		programs->tool = (enum tr_tool_kind)tr_makelog_program(names, program).tool;
		programs->list[programs->count++] = program;
		programs->rest = without(programs->rest, after);
	}
}

/* True if a command line is one of Windows. */
static bool is_windows(const struct programs *programs, struct tr_text text)
{
	struct tr_text program = programs->list[programs->count - 1];

	/* "C:\\bin\\cl.exe": a program has written its command as a string of C or Rust */
	if (program.len > 2 && memmem(program.data + 1, program.len - 1, "\\\\", 2))
		return false;
	if (programs->tool == TR_TOOL_NONE || programs->tool == TR_TOOL_DRIVER_CL)
		return programs->tool == TR_TOOL_DRIVER_CL;
	return has_path(text) || (memchr(program.data, '\\', program.len) && *program.data != '/');
}

/* Passes on a command, whose arguments are `len` bytes of the rest. False: out of memory. */
static bool take_words(const struct programs *programs, size_t len, struct tr_text directory,
		       tr_makelog_take *take, void *context)
{
	struct tr_words words = { .quoting = TR_QUOTING_WINDOWS,
				  .pos = programs->rest.data,
				  .end = programs->rest.data + len };
	struct tr_buffer word = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_word *list = NULL;
	size_t taken = 0, cap = 0;
	bool done = true;

	while (done && (taken < programs->count || tr_words_next(&words, &word))) {
		struct tr_text copy = taken < programs->count
					      ? programs->list[taken]
					      : tr_arena_copy(&arena, tr_buffer_text(&word));
		done = copy.data && !word.failed && tr_array_room(list, taken, cap);
		if (done)
			list[taken] = (struct tr_word){ copy, taken, false };
		taken += done;
		word.len = 0;
	}
	if (done)
		take(context, &(struct tr_makelog_found){
				      .words = list, .count = taken, .directory = directory });
	tr_arena_free(&arena);
	tr_buffer_free(&word);
	free(list);
	return done;
}

/*
 * The commands in cmd.exe /C "COMMAND && COMMAND", which CMake writes around links, without the
 * first and the last quote, as cmd.exe reads them. data NULL: the line is no such command.
 */
static struct tr_text script_of_cmd(struct tr_text text)
{
	struct tr_text none = { NULL, 0 };
	bool script = false;
	size_t after;

	if (!is_program(program_of(text, &after), "cmd"))
		return none;
	text = skip_blanks(without(text, after));
	while (!script && text.len > 2 && *text.data == '/') {
		script = (text.data[1] | 0x20) == 'c';
		const char *blank = memchr(text.data, ' ', text.len);
		text = skip_blanks(without(text, blank ? (size_t)(blank - text.data) : text.len));
	}
	const char *last = text.len > 1 && *text.data == '"'
				   ? memrchr(text.data + 1, '"', text.len - 1)
				   : NULL;
	return !script ? none : last ? tr_text_span(text.data + 1, last) : text;
}

/* Changes the directory as cd [/D] PATH does. data NULL: unknown. */
static void change(struct tr_text *directory, struct tr_text path, struct tr_buffer *joined)
{
	struct tr_buffer next = TR_BUFFER_INIT;

	path = skip_blanks(path);
	if (tr_text_starts(path, TR_TEXT("/D ")) || tr_text_starts(path, TR_TEXT("/d ")))
		path = skip_blanks(without(path, 3));
	while (path.len && path.data[path.len - 1] == ' ')
		path.len--;
	if (path.len > 1 && *path.data == '"' && path.data[path.len - 1] == '"')
		path = (struct tr_text){ path.data + 1, path.len - 2 };
	if (!path.len || tr_text_is(path, "."))
		return;
	if (!tr_path_has_drive(path)) {
		if (!directory->data || *path.data == '\\' || memchr(path.data, '%', path.len)) {
			*directory = (struct tr_text){ NULL, 0 };
			return;
		}
		tr_buffer_put_text(&next, *directory);
		tr_buffer_put_byte(&next, tr_path_has_drive(*directory) ? '\\' : '/');
	}
	tr_buffer_put_text(&next, path);
	tr_buffer_free(joined);
	*joined = next;
	*directory = tr_buffer_text(joined);
	if (joined->len > TR_DIRECTORY_MAX)
		directory->data = NULL;
}

/*
 * A backslash before a quote or a blank separates no folders. Without folders, only programs of
 * Windows make a command line one of Windows.
 */
bool tr_makelog_may_be_windows(struct tr_text text, struct tr_makelog_program first)
{
	const char *end = text.data + text.len, *p = text.data;

	if (tr_path_has_drive(text) || *text.data == '"')
		return true;
	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		if (end - p > 1 && p[1] != '"' && p[1] != ' ')
			return true;
		p += end - p > 1 ? 2 : 1;
	}
	return first.tool == TR_TOOL_DRIVER_CL || first.tool == TR_TOOL_LAUNCHER || first.cmd;
}

bool tr_makelog_windows_parse(struct tr_makelog_names *names, struct tr_text text,
			      struct tr_text directory, tr_makelog_take *take, void *context,
			      bool *failed)
{
	struct programs programs;
	struct tr_buffer joined = TR_BUFFER_INIT;
	size_t prompt = skip_prompt(names, text);
	struct tr_text line = skip_blanks(without(text, prompt)), script = script_of_cmd(line);
	bool windows = prompt || script.data, more = true;
	bool link = false; /* the current command is in the arguments of cmake */

	if (prompt)
		directory = (struct tr_text){ text.data, prompt - 1 };
	for (text = script.data ? script : line; more && text.len;) {
		find_programs(names, text, &programs);
		windows = windows || is_windows(&programs, text);
		if (!windows)
			break;
		size_t end = end_of_command(programs.rest);
		struct tr_text arguments = { programs.rest.data, end };
		if (is_program(programs.list[0], "cmake") &&
		    memmem(arguments.data, end, " vs_link_", 9)) {
			/* cmake -E vs_link_exe OPTION... -- link.exe ARGUMENT... */
			const char *dashes = memmem(arguments.data, end, " -- ", 4);
			/* once, because each time the rest is searched for its end */
			if (dashes && !link) {
				link = true;
				text = tr_text_span(dashes + 4, text.data + text.len);
				continue;
			}
		} else if (script.data && is_program(programs.list[0], "cd")) {
			change(&directory, arguments, &joined);
		} else if (programs.tool != TR_TOOL_NONE &&
			   !take_words(&programs, end, directory, take, context)) {
			*failed = true;
			break;
		}
		link = false;
		text = without(programs.rest, end);
		more = text.len && (*text.data == '&' || *text.data == '|');
		while (text.len && (*text.data == '&' || *text.data == '|' || *text.data == ' '))
			text = without(text, 1);
	}
	*failed |= joined.failed;
	tr_buffer_free(&joined);
	return windows;
}
