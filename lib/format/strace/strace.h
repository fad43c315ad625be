/*
 * Private to the strace format. The facts: trace-formats(5), "strace".
 *
 * From bytes to records: a line has a prefix (prefix.h), which says who and
 * when, and a body (body.h), which says what: a call, or the first or second
 * half of one. Halves are put together by task (reader_resume.c). Calls that
 * come back become records (reader_call.c), whose values are put into the
 * stream's words (value.h, exec.h); what they say of processes and directories
 * is kept in a tree (process/tree.h). A record that needs to know a parent that
 * the log has not told of yet waits (hold.h).
 */
#ifndef TR_FORMAT_STRACE_STRACE_H
#define TR_FORMAT_STRACE_STRACE_H

#include "format/format.h"

int tr_strace_bid(struct tr_input *in);

/* -ff: a file for each process, whose number ends the file's name and stands on no line of it. */
int64_t tr_strace_part(const struct tr_read_config *config, struct tr_input *in);
struct tr_source *tr_strace_merge(struct tr_input *const *parts, const int64_t *numbers,
				  size_t count);
/* The number that ends the name; false: there is none. */
bool tr_strace_name_number(const char *name, uint64_t *number);

struct tr_reader *tr_strace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err);
enum tr_status tr_strace_next(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err);
void tr_strace_close(struct tr_reader *reader);

#endif
