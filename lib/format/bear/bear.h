/*
 * Private to the bear format: what Bear's interception tells of a build, JSON
 * objects one a line.
 *
 * Version 3 (rizsotto/Bear 3.x, `bear intercept`, events.json):
 *	{"rid":"N","started":{"execution":{"executable":,"arguments":[],
 *	 "working_dir":,"environment":{}},"pid":,"ppid":},"timestamp":"ISO 8601"}
 *	{"rid":"N","terminated":{"status":"0"},"timestamp":}
 *	{"rid":"N","signalled":{"number":9},"timestamp":}
 * rid is of one execution: the pid is that of a supervisor, and comes again.
 *
 * Version 4 (4.x): {"pid":,"execution":{...}}, the environment trimmed to what
 * compilers look at, no parent, no time, no end.
 */
#ifndef TR_FORMAT_BEAR_BEAR_H
#define TR_FORMAT_BEAR_BEAR_H

#include "format/format.h"

int tr_bear_bid(struct tr_input *in);
struct tr_reader *tr_bear_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err);
enum tr_status tr_bear_next(struct tr_reader *reader, struct tr_record **record,
			    struct tr_error *err);
void tr_bear_close(struct tr_reader *reader);

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);
void tr_bear_discard(struct tr_writer *writer);

/*
 * Times: 2026-11-21T00:29:13.959052Z and seconds since 1970, with the same
 * digits behind the point; appended. False: it is none that comes back the same.
 */
bool tr_bear_time_read(struct tr_text timestamp, struct tr_buffer *seconds);
bool tr_bear_time_write(struct tr_text seconds, struct tr_buffer *timestamp);

/* A signal's number by its name; 0: it is none that ends programs. */
unsigned tr_bear_signal_number(struct tr_text name);

/*
 * Appends an environment (the text of a JSON object) as a map, without what
 * Bear's interception put into it where strip says so. False: a value that no
 * record can hold, or memory is out.
 */
bool tr_bear_environment(struct tr_text object, bool strip, struct tr_arena *arena,
			 struct tr_buffer *to, struct tr_error *err);

#endif
