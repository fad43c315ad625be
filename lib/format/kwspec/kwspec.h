/*
 * Private to the kwspec format: kwinject.out, the build specification of
 * Klocwork. Fields with ";" between, a record a line:
 *
 *	version;108
 *	config;COMPILER;OPTION;...
 *	compile;DIRECTORY;COMPILER;OBJECT;SOURCE;FLAG;...
 *	link;DIRECTORY;OUTPUT;INPUT;...
 *
 * The vendor's pages show "%3B" for a ";" in a field, and nothing else of that
 * kind; "%25", "%0A" and "%0D" are what follows from it.
 */
#ifndef TR_FORMAT_KWSPEC_KWSPEC_H
#define TR_FORMAT_KWSPEC_KWSPEC_H

#include "format/format.h"
#include "process/call.h"

/*
 * Appends the lines that a call amounts to; product: what it links (tr_call_product). TR_WARN: they would be too long, and none is
 * appended. TR_FATAL: memory is out.
 */
enum tr_status tr_kwspec_lines(const struct tr_call *call, struct tr_text product,
			       struct tr_arena *arena, struct tr_buffer *to, struct tr_error *err);

/* Appends the config lines of a specification, of which it has some. False: err is filled. */
bool tr_kwspec_config_read(struct tr_text path, struct tr_buffer *to, struct tr_error *err);

struct tr_writer *tr_kwspec_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);
void tr_kwspec_discard(struct tr_writer *writer);

#endif
