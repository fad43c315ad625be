/*
 * Where tasks are and which descriptors they have open, in a stream whose calls
 * name files as seen from a working directory or a descriptor, as strace prints
 * them. A log states absolute paths.
 *
 * What a record says of a descriptor or a directory itself (strace -y) comes
 * first. A task that acts before the record of its fork has a working directory
 * only where it says so: its relative paths stay as they are.
 */
#ifndef TR_FORMAT_ETRACE_WHERE_H
#define TR_FORMAT_ETRACE_WHERE_H

#include "core/error.h"
#include "process/tree.h"
#include "record/record.h"

struct tr_etrace_where {
	struct tr_tasks tasks;
	struct tr_buffer path;
	uint64_t unresolved; /* relative paths whose directory is not known */
};

void tr_etrace_where_init(struct tr_etrace_where *where);
void tr_etrace_where_free(struct tr_etrace_where *where);

/* The record has come. TR_OK or TR_FATAL. */
enum tr_status tr_etrace_where_follow(struct tr_etrace_where *where, struct tr_record *record,
				      struct tr_error *err);

/*
 * Makes *path absolute, in the record's arena, as seen from the descriptor in the field
 * directory (NULL, or not there: from the working directory): "." and ".." stay. False: a value
 * is bad, or memory is out; err says which.
 */
bool tr_etrace_where_join(struct tr_etrace_where *where, struct tr_record *record,
			  const char *directory, struct tr_text *path, struct tr_error *err);

/* Takes "." and ".." out of an absolute path. False: memory is out. */
bool tr_etrace_where_clean(struct tr_record *record, struct tr_text *path, struct tr_error *err);

/* The path that strace -y gives a descriptor; data NULL: none. False as above. */
bool tr_etrace_where_note(struct tr_record *record, const char *key, struct tr_text *path,
			  struct tr_error *err);

/* What a call of fcntl does. */
enum tr_etrace_control {
	TR_ETRACE_DUPFD,
	TR_ETRACE_DUPFD_CLOEXEC,
	TR_ETRACE_SETFD,
	TR_ETRACE_OTHER_CONTROL,
};
enum tr_etrace_control tr_etrace_where_control(struct tr_record *record);

/* The first descriptor from fd on that the log shows as open. False: there is none. */
bool tr_etrace_where_next(const struct tr_etrace_where *where, uint64_t task, uint64_t *fd);

#endif
