/* SPDX-License-Identifier: MIT */
/*
 * Private to the format ltrace: the log of ltrace 0.7.3, library calls and, with its -S, system
 * calls. The path of the data:
 *
 *	ltrace.c	bid; line -> its parts -> record; the halves of a call are joined
 *	value.c		text of arguments and results <-> values
 *	writer.c	record -> line, for the writer and for the text style
 *
 * A line is a prefix and a body. The facts come from the logs that Debian's ltrace 0.7.3 writes
 * (tests/data/ltrace/record.sh) and from its output.c and lens_default.c.
 *
 *	prefix	[pid N]_ with -f on standard error, N_ with -f -o FILE
 *		HH:MM:SS_ with -t, HH:MM:SS.uuuuuu_ with -tt, SECONDS.uuuuuu_ with -ttt, or
 *		with -r SECONDS.uuuuuu_ since the line before, in ten columns or more
 *		[0xADDRESS]_ with -i, and with -n N times the depth of the call in blanks
 *	body	name(ARGUMENTS)   = RESULT <SECONDS>	the time with -T
 *		name(ARGUMENTS <unfinished ...>		another event comes before the return
 *		name(ARGUMENTS <no return ...>		a signal, or the end of the task, does
 *		<... name resumed> ARGUMENTS)   = RESULT
 *		--- SIGCHLD (Child exited) ---
 *		--- Called exec() ---
 *		+++ exited (status 3) +++
 *		+++ killed by SIGABRT +++
 *
 * A name is `caller->function` with -l, `function@library` with -x, and SYS_name for a system
 * call. The result begins at column 50, or that of -a, or after one blank. Quotes in
 * strings are not escaped; the quote that ends a string is recognised by what follows it.
 */
#ifndef TR_FORMAT_LTRACE_LTRACE_H
#define TR_FORMAT_LTRACE_LTRACE_H

#include "format/format.h"

enum {
	TR_LTRACE_ALIGN = 50,
	/* blanks before a call or a result; no log has more, and they take memory */
	TR_LTRACE_BLANKS_MAX = 1 << 16,
};

/*
 * The forms in which lines begin. The names are those in the stream, in the order of the enums; the
 * lists end with NULL.
 */
enum tr_ltrace_pids { TR_LTRACE_NO_PID, TR_LTRACE_PLAIN, TR_LTRACE_BRACKETED };
enum tr_ltrace_clock {
	TR_LTRACE_NO_CLOCK,
	TR_LTRACE_T,
	TR_LTRACE_TT,
	TR_LTRACE_TTT,
	TR_LTRACE_R,
};
extern const char *const tr_ltrace_pids[], *const tr_ltrace_clocks[];

/* The reason of the raw record of a last line that has no LF. */
#define TR_LTRACE_CUT "the last line is truncated"

/* Blanks between the ')' before column `closed` and the result, which begins at column align. */
static inline size_t tr_ltrace_pad(size_t closed, size_t align)
{
	return closed + 1 < align ? align - 1 - closed : 1;
}

/*
 * Appends the literal of each argument as a field with the key prefix and its number, from first
 * on. bytes is scratch. Returns the number after the last one.
 */
size_t tr_ltrace_put_arguments(struct tr_text arguments, char prefix, size_t first,
			       struct tr_buffer *bytes, struct tr_buffer *to);

/* Appends the literal of one value; text that ltrace has no value for is kept as it is. */
void tr_ltrace_put_literal(struct tr_text text, struct tr_buffer *bytes, struct tr_buffer *to);

/* Appends a value as ltrace prints it. False: memory is exhausted. */
bool tr_ltrace_put_value(const struct tr_value *value, struct tr_arena *arena,
			 struct tr_buffer *to);

struct tr_writer *tr_ltrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);
extern const struct tr_text_style tr_ltrace_styles[];

#endif
