/* Lines of merged traces: what all kinds of merge do with headers, fields and columns. */
#ifndef TR_COVERAGE_MERGE_LINE_H
#define TR_COVERAGE_MERGE_LINE_H

#include "core/buffer.h"
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

#endif
