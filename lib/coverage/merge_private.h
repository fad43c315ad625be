/* SPDX-License-Identifier: MIT */
/*
 * The interface of the forms (merge_blocks.c, merge_units.c, merge_modules.c, merge_sources.c), and
 * the functions that they share (merge.c).
 */
#ifndef TR_COVERAGE_MERGE_PRIVATE_H
#define TR_COVERAGE_MERGE_PRIVATE_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

/* Lines of the merged stream, which are numbered from 0. */
struct tr_merge_lines {
	struct tr_output *out;
	struct tr_buffer text; /* the line that is being composed */
	uint64_t seq;	       /* of the next line */
};

/* Begins a line: kind, number, and the TAB after it. */
void tr_merge_begin(struct tr_merge_lines *lines, const char *kind);
/* Adds the LF and writes the line. */
void tr_merge_end(struct tr_merge_lines *lines);

/*
 * Writes records of kind info; infos are their columns after the number, each line with its LF, as
 * tr_merge_columns returns them.
 */
void tr_merge_infos(struct tr_merge_lines *lines, struct tr_text infos);

/*
 * Sets *columns to the canonical line of the record after its nth TAB, with its LF; scratch holds
 * it. TR_OK; TR_WARN: a field is malformed; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_merge_columns(struct tr_record *record, unsigned tabs, struct tr_buffer *scratch,
				struct tr_text *columns, struct tr_error *err);

/*
 * Appends TAB key=value for each field whose key is not in skip (NULL-terminated), in canonical
 * spelling. Returns as above; with TR_WARN a part was appended.
 */
enum tr_status tr_merge_fields(struct tr_record *record, const char *const *skip,
			       struct tr_buffer *to, struct tr_error *err);

/*
 * Appends the header of the merged stream: that of the first trace without the fields that state
 * where that trace came from. header NULL: the stream has none.
 */
enum tr_status tr_merge_header(struct tr_record *header, const char *format, struct tr_buffer *to,
			       struct tr_error *err);

/* Fills err with "left out: REASON". TR_WARN. */
enum tr_status tr_merge_left_out(struct tr_error *err, const char *reason);

/* The functions that merge traces of one form; self has `size` bytes and is zero at first. */
struct tr_merge_form {
	const char *format; /* in headers */
	const char *name;   /* for messages: "a drcov trace" */
	size_t size;
	/* Begins the next trace; header may be NULL. TR_OK, TR_WARN or TR_FATAL. */
	enum tr_status (*begin)(void *self, struct tr_record *header, struct tr_error *err);
	/* Adds a record; skips kinds that the form does not have. */
	enum tr_status (*put)(void *self, struct tr_record *record, struct tr_error *err);
	/* Writes header and records, even if there was no trace. */
	void (*write)(void *self, struct tr_merge_lines *lines);
	void (*discard)(void *self); /* frees what self holds */
};

extern const struct tr_merge_form tr_merge_blocks, tr_merge_units, tr_merge_modules,
	tr_merge_sources;

#endif
