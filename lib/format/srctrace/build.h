/* Records to entries of a source trace. */
#ifndef TR_FORMAT_SRCTRACE_BUILD_H
#define TR_FORMAT_SRCTRACE_BUILD_H

#include "format/srctrace/unit.h"
#include "record/record.h"

/*
 * Appends the entry that the record says. TR_OK; TR_WARN: it lacks something,
 * err says what, nothing usable was appended; TR_FATAL: memory.
 */
enum tr_status tr_srctrace_build_info(struct tr_record *record,
				      const struct tr_srctrace_layout *layout,
				      struct tr_buffer *entry, struct tr_error *err);
enum tr_status tr_srctrace_build_unit(struct tr_record *record,
				      const struct tr_srctrace_layout *layout,
				      struct tr_buffer *entry, struct tr_error *err);

/*
 * Puts the bytes of .raw in the place of entry, if they are the same but for
 * what says nothing (an edit of a field wins). False: memory is out.
 */
bool tr_srctrace_build_raw(struct tr_record *record, const struct tr_srctrace_layout *layout,
			   struct tr_buffer *entry);

#endif
