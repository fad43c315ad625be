/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of the writer: fields.c reads the fields of a record and keeps the times of
 * lines, where.c makes paths absolute, print.c prints a record as lines of the log.
 */
#ifndef TR_FORMAT_ETRACE_WRITER_H
#define TR_FORMAT_ETRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "format/etrace/line.h"
#include "process/tree.h"
#include "record/record.h"

/*
 * The times of the lines that were written, by task. CAS sorts the lines of a task by time with an
 * unstable sort, so these times must increase strictly: a line is at least 1 ns after the line of
 * its task before it.
 *
 * Memory grows with the living tasks. The last tasks that ended are remembered too, because a
 * number can be used again.
 */

/* All zero at first. */
struct tr_etrace_clock {
	struct tr_id_map tasks;
	void *recent;			/* the task that was looked up last */
	uint64_t ended;			/* of the tasks in the map */
	struct tr_etrace_moment latest; /* after every line so far */
	struct tr_etrace_moment floor;	/* after every line of tasks that are not in the map */
	bool timed;			/* some record had a time */
};

/*
 * Sets *time to that of the first line of a record: the record's own time, or a later one. timed:
 * the record has one. *back: it is before the time of the task's last record. False: it is so late
 * that nothing can be after it.
 */
bool tr_etrace_clock_start(struct tr_etrace_clock *clock, uint64_t task, bool timed,
			   struct tr_etrace_moment *time, bool *back);

/*
 * The lines of that record were written: own is the record's time, next is 1 ns after its last
 * line. ended: the record is the task's exit. False: memory is exhausted.
 */
bool tr_etrace_clock_stop(struct tr_etrace_clock *clock, uint64_t task, bool timed,
			  struct tr_etrace_moment own, struct tr_etrace_moment next, bool ended);

void tr_etrace_clock_free(struct tr_etrace_clock *clock);

/*
 * Fields of a record. What is absent is returned as absent (NULL, data NULL, false, 0), and so is
 * what is malformed or of another type, of which err gets the reason. A filled err makes everything
 * absent, so one check after several calls is enough, and the first error remains. With err NULL
 * errors are ignored. A field that occurs twice has its last value.
 */

const struct tr_value *tr_etrace_field(struct tr_record *record, const char *key,
				       struct tr_error *err);
struct tr_text tr_etrace_field_text(struct tr_record *record, const char *key,
				    struct tr_error *err);
/* A number may come with a form for people: <"/path";3>. */
bool tr_etrace_field_number(struct tr_record *record, const char *key, int64_t *number,
			    struct tr_error *err);
/* A number or an address; errors are ignored. */
bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number);
/* True if the field has the word as one of its flags, or is a number with that bit. */
bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit);
struct tr_etrace_moment tr_etrace_field_time(const struct tr_record *record, struct tr_error *err);
uint64_t tr_etrace_field_task(const struct tr_record *record, struct tr_error *err);

/* The descriptor of <"/path";3>, or the value itself, which may be NULL. */
const struct tr_value *tr_etrace_machine_form(const struct tr_value *value);
bool tr_etrace_value_number(const struct tr_value *value, int64_t *number);

/*
 * The working directories and open descriptors of tasks, for streams whose calls name files
 * relative to a directory or a descriptor, as strace prints them. A log has absolute paths.
 *
 * If a record states the path of a descriptor or a directory itself (strace -y), that takes
 * precedence. A task that acts before the record of its fork has a known working directory only if
 * it states one: its relative paths stay as they are.
 */

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
 * (NULL, or absent: to the working directory); "." and ".." stay.
 */
void tr_etrace_where_join(struct tr_etrace_where *where, struct tr_record *record,
			  const char *directory, struct tr_text *path, struct tr_error *err);

/* Removes "." and ".." from an absolute path. */
void tr_etrace_where_clean(struct tr_record *record, struct tr_text *path, struct tr_error *err);

/* Returns the path that strace -y states for a descriptor; data NULL: none. */
struct tr_text tr_etrace_where_note(struct tr_record *record, const char *key,
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

/*
 * Appends the lines of a record of kind exec, fork, exit, comm, envset or sys. where: NULL if the
 * stream comes from a log, whose paths are absolute. *back: see tr_etrace_clock_start. TR_END: the
 * log has no place for it; *reason says why. TR_WARN: it lacks something that the log needs, or a
 * value is bad; err says which, and nothing was appended. TR_FATAL: memory.
 */
enum tr_status tr_etrace_print_record(struct tr_record *record, struct tr_etrace_clock *clock,
				      struct tr_buffer *to, struct tr_etrace_where *where,
				      bool *back, const char **reason, struct tr_error *err);

/* Appends the line of a fork at that time, if it can state it. False: memory is exhausted. */
bool tr_etrace_print_fork(struct tr_etrace_clock *clock, struct tr_buffer *to, uint64_t parent,
			  uint64_t child, bool timed, struct tr_etrace_moment own);

/* Appends a line that was not understood, and an LF; its time is raised if it has to be. */
bool tr_etrace_print_raw(struct tr_etrace_clock *clock, struct tr_buffer *to, struct tr_text text,
			 bool *back);

#endif
