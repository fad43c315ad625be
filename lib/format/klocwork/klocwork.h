/* SPDX-License-Identifier: MIT */
/*
 * Private to the format klocwork, which trace-formats(5) describes.
 *
 *	klocwork.c    evidence, options
 *	reader.c      window -> unit -> object.c -> line -> parents.c -> record
 *	object.c      JSON object -> pieces -> the record's line
 *	parents.c     ids, and the queue of records that are pending on a parent
 *	writer.c      record -> environment -> writer_kin.c -> render.c -> bytes
 *	writer_kin.c  the parents that a reader of the written trace will find
 *	render.c      record -> JSON; the check of .raw
 */
#ifndef TR_FORMAT_KLOCWORK_KLOCWORK_H
#define TR_FORMAT_KLOCWORK_KLOCWORK_H

#include "format/format.h"
#include "format/klocwork/object.h"

struct tr_reader *tr_klocwork_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err);

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);

/*
 * Converts a unit of a text that is complete: one object with only blanks, commas and line ends
 * around it. The text needs TR_INPUT_PAD readable bytes after it. False: it is not one.
 */
bool tr_klocwork_unit_whole(struct tr_text text, struct tr_klocwork_object *object,
			    struct tr_error *err);

/* The garbage line in a unit's text, without blank lines before it and without its LF. */
struct tr_text tr_klocwork_unit_line(struct tr_text text);

#endif
