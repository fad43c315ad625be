/*
 * A record on its way to lines of the log. What returns bool is false where a
 * field is bad or lacking: err says which, and what was written is dropped.
 */
#ifndef TR_FORMAT_ETRACE_DRAFT_H
#define TR_FORMAT_ETRACE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/etrace/pen.h"
#include "format/etrace/tag.h"
#include "format/etrace/where.h"
#include "record/record.h"

struct tr_etrace_draft {
	struct tr_record *record;
	struct tr_etrace_pen pen;
	struct tr_error *err;
	struct tr_etrace_where *where; /* NULL: the record's paths are absolute */
	bool comma;		       /* a parameter stands in front of the next one */
};

/* A text that an event has or is said to have. */
struct tr_etrace_found {
	struct tr_text tag, text;
	bool there;
	bool has_size; /* an event that has no such text does not state its size either */
	int64_t size;
};

/* Says that the record has no such thing. Always false. */
bool tr_etrace_lacks(struct tr_etrace_draft *d, const char *what);

/* The record says so of itself. */
bool tr_etrace_is_flagged(struct tr_etrace_draft *d, const char *flag, bool *truth);

/* The text that a field holds, and the size that the event says it has. */
bool tr_etrace_find_string(struct tr_etrace_draft *d, const char *key, struct tr_text tag,
			   struct tr_etrace_found *string);

/* The field flags as a number; *there is false where there is none. */
bool tr_etrace_find_call_flags(struct tr_etrace_draft *d, enum tr_etrace_type type, bool *there,
			       int64_t *number);

/* A line of parameters: begin, any of those between, end, which adds the unknown ones. */
void tr_etrace_draft_begin(struct tr_etrace_draft *d, struct tr_text tag);
void tr_etrace_draft_number(struct tr_etrace_draft *d, struct tr_text name, int64_t number);
void tr_etrace_draft_size(struct tr_etrace_draft *d, struct tr_text name,
			  const struct tr_etrace_found *string);
bool tr_etrace_draft_field(struct tr_etrace_draft *d, const char *key, struct tr_text name,
			   bool needed);
bool tr_etrace_draft_flags(struct tr_etrace_draft *d, enum tr_etrace_type type, bool needed);
bool tr_etrace_draft_end(struct tr_etrace_draft *d);

/* The lines of a text that is there. */
void tr_etrace_draft_string(struct tr_etrace_draft *d, const struct tr_etrace_found *string);

/* write_exec.c, write_sys.c: the lines of a record. */
bool tr_etrace_write_exec(struct tr_etrace_draft *d);
bool tr_etrace_write_open(struct tr_etrace_draft *d);
bool tr_etrace_write_creat(struct tr_etrace_draft *d);
bool tr_etrace_write_close(struct tr_etrace_draft *d);
bool tr_etrace_write_close_range(struct tr_etrace_draft *d);
bool tr_etrace_write_dup(struct tr_etrace_draft *d);
bool tr_etrace_write_fcntl(struct tr_etrace_draft *d);
bool tr_etrace_write_pipe(struct tr_etrace_draft *d);
bool tr_etrace_write_rename(struct tr_etrace_draft *d);
bool tr_etrace_write_link(struct tr_etrace_draft *d);
bool tr_etrace_write_symlink(struct tr_etrace_draft *d);
bool tr_etrace_write_mount(struct tr_etrace_draft *d);
bool tr_etrace_write_umount(struct tr_etrace_draft *d);

#endif
