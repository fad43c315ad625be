/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of normal.h share. first: of the first trace, as in tr_normal_read.
 */
#ifndef TR_DIFF_NORMAL_PRIVATE_H
#define TR_DIFF_NORMAL_PRIVATE_H

#include "diff/normal.h"

static inline bool tr_is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (tr_lower(c) >= 'a' && tr_lower(c) <= 'z');
}

/* True for a byte that continues the name of a file. */
static inline bool tr_is_in_file_name(char c)
{
	return tr_is_alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '~' ||
	       c == '%' || (unsigned char)c >= 0x80;
}

/* Appends the part of the line that was read before p and is not yet in the normal text. */
static inline void tr_normal_flush(struct tr_normal *n, const char *p)
{
	tr_buffer_put_text(&n->text, tr_text_span(n->copied, p));
	n->copied = p;
}

/* normal_string.c: reads the string that starts at p, and returns its closing quote, or the end. */
const char *tr_normal_put_string(struct tr_normal *n, const char *p, const char *end, bool first);

/*
 * Skips strings in which nothing is replaced, with one comma or colon between them. p: the quote
 * that opens the first one. Returns where the first string begins that needs tr_normal_put_string,
 * which can be p, or what follows the last string.
 */
const char *tr_normal_skip_strings(const struct tr_normal *n, const char *p, const char *end,
				   bool first);

/*
 * Reads a cell, or any other text without quotes around it. Paths in cells are spelled as in
 * strings as far as it matters here.
 */
void tr_normal_put_cell(struct tr_normal *n, struct tr_text cell, bool first);

/* normal_value.c: finds out which values of a system call or API call are run-specific. */
void tr_normal_set_call(struct tr_normal *n);

/*
 * Reads the value of a field, which starts at `value`, up to the TAB after it, or the end. Returns
 * where it ends.
 */
const char *tr_normal_put_value(struct tr_normal *n, const struct tr_normal_field *field,
				const char *value, const char *end, bool first);

/* Adds the random part of a file name. kernel: the kernel's number of a file without a path. */
void tr_normal_add_file(struct tr_normal *n, struct tr_text text, bool kernel);

/* Updates the table of open files after a record of a task; fields: the columns after the name. */
void tr_normal_follow_task(struct tr_normal *n, struct tr_text fields);

#endif
