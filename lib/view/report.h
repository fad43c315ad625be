/* SPDX-License-Identifier: MIT */
/*
 * Figures for people or for programs: groups of named values and tables, as aligned text or as one
 * JSON object. The calls are the same for both.
 *
 *	records      178          {"records":178,
 *	                           "kinds":[{"count":176,"share":0.989,"kind":"exec"}]}
 *	kinds
 *	  count  share  kind
 *	    176   98.9  exec
 *
 * Texts are bytes: shown as cells are spelled in the stream, in JSON as
 * view/json_value.h has them. Nothing is written before tr_report_end.
 */
#ifndef TR_VIEW_REPORT_H
#define TR_VIEW_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/output.h"

enum { TR_REPORT_COLUMNS = 24 }; /* of a table, at most */

struct tr_report_cell {
	size_t offset, len; /* in texts, as it is shown */
	size_t width;	    /* on a terminal */
	bool left;	    /* aligned to the left: text */
};

struct tr_report {
	bool json;
	unsigned depth; /* of groups */
	bool first;	/* nothing follows the last open bracket yet */
	bool apart;	/* the next value outside of groups follows an empty line */
	struct tr_buffer text;

	/* the table that is open */
	const char *const *columns; /* their names */
	size_t column_count, next;
	struct tr_buffer texts;
	struct tr_buffer cells; /* of struct tr_report_cell */
};

void tr_report_begin(struct tr_report *report, bool json);

/* Begins and ends a group. name is a word; in text it is a title, and the group is indented. */
void tr_report_group(struct tr_report *report, const char *name);
void tr_report_group_end(struct tr_report *report);

/* Put a value after its name. */
void tr_report_number(struct tr_report *report, const char *name, uint64_t number);
void tr_report_text(struct tr_report *report, const char *name, struct tr_text bytes);
void tr_report_seconds(struct tr_report *report, const char *name, int64_t nanoseconds);
void tr_report_real(struct tr_report *report, const char *name, double value, unsigned digits);
void tr_report_flag(struct tr_report *report, const char *name);    /* true */
void tr_report_unknown(struct tr_report *report, const char *name); /* "unknown", null */

/* Begins a table, whose cells follow row by row, each by one of the functions below. */
void tr_report_table(struct tr_report *report, const char *name, const char *const *columns);
void tr_report_cell_number(struct tr_report *report, uint64_t number);
void tr_report_cell_seconds(struct tr_report *report,
			    int64_t nanoseconds); /* NONE: "-" in text, null in JSON */
void tr_report_cell_share(struct tr_report *report, uint64_t part, uint64_t whole);
void tr_report_cell_text(struct tr_report *report, struct tr_text bytes); /* data NULL: absent */
void tr_report_cell_none(struct tr_report *report); /* absent, in a column of numbers */
/* Puts a text that needs no escapes: one line of valid UTF-8. */
void tr_report_cell_line(struct tr_report *report, struct tr_text line);
/*
 * Puts two cells for a program, whose texts need no escapes: the file that it makes, and its
 * command, which is cut after 160 columns in text. data NULL: "-", or null.
 */
void tr_report_cell_program(struct tr_report *report, struct tr_text makes, struct tr_text command);
void tr_report_table_end(struct tr_report *report);

/* Writes the report. False: memory is exhausted. */
bool tr_report_end(struct tr_report *report, struct tr_output *out);
void tr_report_free(struct tr_report *report);

#endif
