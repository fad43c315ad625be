/* SPDX-License-Identifier: MIT */
/* The merges of one form (merge_blocks.c, merge_units.c, merge_modules.c) and what they share. */
#ifndef TR_COVERAGE_MERGE_PRIVATE_H
#define TR_COVERAGE_MERGE_PRIVATE_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

/*
 * The record's canonical line after its nth TAB, to the LF, in *columns; scratch holds it.
 * TR_OK; TR_WARN: a field cannot be understood; TR_FATAL: memory.
 */
enum tr_status tr_merge_columns(struct tr_record *record, unsigned tabs, struct tr_buffer *scratch,
				struct tr_text *columns, struct tr_error *err);

/*
 * Appends TAB key=value for each field whose key is not in skip (NULL-terminated), in
 * canonical spelling. As above; with TR_WARN part of it was appended.
 */
enum tr_status tr_merge_fields(struct tr_record *record, const char *const *skip,
			       struct tr_buffer *to, struct tr_error *err);

/*
 * Appends the header of the merged stream: that of the first trace, less what says where
 * that trace came from. header NULL: the stream has none.
 */
enum tr_status tr_merge_header(struct tr_record *header, const char *format, struct tr_buffer *to,
			       struct tr_error *err);

/* Appends kind, number, and absent time and task, up to the name. */
void tr_merge_begin(const char *kind, uint64_t seq, struct tr_buffer *to);

/* How traces of one kind are merged. self is what create returned. */
struct tr_merge_form {
	const char *format;    /* in headers */
	const char *name;      /* for messages: "a drcov trace" */
	void *(*create)(void); /* NULL: memory is out */
	void (*discard)(void *self);
	/* The next trace begins; header may be NULL. TR_OK, TR_WARN or TR_FATAL. */
	enum tr_status (*begin)(void *self, struct tr_record *header, struct tr_error *err);
	/* A record; those of a kind that the form does not know are skipped. */
	enum tr_status (*put)(void *self, struct tr_record *record, struct tr_error *err);
	/* Writes header and records, counting these in *seq. False: memory is out. */
	bool (*write)(void *self, uint64_t *seq, struct tr_output *out);
};

extern const struct tr_merge_form tr_merge_blocks, tr_merge_units, tr_merge_modules;

#endif
