/* SPDX-License-Identifier: MIT */
/*
 * The working directories and open descriptors of tasks, for streams whose calls name files
 * relative to a directory or a descriptor, as strace prints them. A log has absolute paths.
 *
 * If a record states the path of a descriptor or a directory itself (strace -y), that takes
 * precedence. A task that acts before the record of its fork has a known working directory only if
 * it states one: its relative paths stay as they are.
 */
#ifndef TR_FORMAT_ETRACE_WHERE_H
#define TR_FORMAT_ETRACE_WHERE_H

#include "core/error.h"
#include "process/tree.h"
#include "record/record.h"

/* All zero at first. */
struct tr_etrace_where {
	struct tr_tasks tasks;
	struct tr_buffer path;
	uint64_t unresolved; /* relative paths whose directory is unknown */
};

void tr_etrace_where_free(struct tr_etrace_where *where);

/* Applies a record to the tasks. TR_OK or TR_FATAL. */
enum tr_status tr_etrace_where_follow(struct tr_etrace_where *where, struct tr_record *record,
				      struct tr_error *err);

/*
 * Makes *path absolute, in the record's arena, relative to the descriptor in the field directory
 * (NULL, or absent: to the working directory); "." and ".." stay. False: a value is bad, or memory
 * is out; err says which.
 */
bool tr_etrace_where_join(struct tr_etrace_where *where, struct tr_record *record,
			  const char *directory, struct tr_text *path, struct tr_error *err);

/* Removes "." and ".." from an absolute path. False: memory is out. */
bool tr_etrace_where_clean(struct tr_record *record, struct tr_text *path, struct tr_error *err);

/* Finds the path that strace -y states for a descriptor; data NULL: none. False as above. */
bool tr_etrace_where_note(struct tr_record *record, const char *key, struct tr_text *path,
			  struct tr_error *err);

/* The commands of fcntl that matter here. */
enum tr_etrace_control {
	TR_ETRACE_DUPFD,
	TR_ETRACE_DUPFD_CLOEXEC,
	TR_ETRACE_SETFD,
	TR_ETRACE_OTHER_CONTROL,
};
enum tr_etrace_control tr_etrace_where_control(struct tr_record *record);

/* Finds the first open descriptor that is not below *fd. False: there is none. */
bool tr_etrace_where_next(const struct tr_etrace_where *where, uint64_t task, uint64_t *fd);

#endif
