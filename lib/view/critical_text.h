/* SPDX-License-Identifier: MIT */
/*
 * The critical path of traces (critical.h) as a table: tr-stat --critical.
 *
 *	records -> tr_critical_text_put -> at the end of each segment, its steps -> a report (report.h)
 *
 * Memory: about 200 bytes for each process, the commands on the path, and what view/file_uses.h
 * takes. Not thread safe.
 */
#ifndef TR_VIEW_CRITICAL_TEXT_H
#define TR_VIEW_CRITICAL_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_critical_text_config {
	size_t top; /* how many steps are shown, the longest ones; 0: all */
	bool json;
	uint64_t max_spool;		/* as in struct tr_limits */
	struct tr_compilers *compilers; /* NULL: those that are built in; borrowed */
};

struct tr_critical_text;

/* NULL: memory is exhausted. */
struct tr_critical_text *tr_critical_text_new(const struct tr_critical_text_config *config);

/* Takes the next line of the stream, NULL at its end. TR_FATAL: err is filled. */
enum tr_status tr_critical_text_put(struct tr_critical_text *text, struct tr_record *record,
				    struct tr_error *err);

/* Return, after the end, whether any segment has a path, and whether any has file calls. */
bool tr_critical_text_found(const struct tr_critical_text *text);
bool tr_critical_text_has_files(const struct tr_critical_text *text);

/* Writes the table. False: memory is exhausted. */
bool tr_critical_text_write(struct tr_critical_text *text, struct tr_output *out);

void tr_critical_text_free(struct tr_critical_text *text);

#endif
