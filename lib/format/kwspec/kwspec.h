/* SPDX-License-Identifier: MIT */
/* Private to the format kwspec, which kwspec.c describes. */
#ifndef TR_FORMAT_KWSPEC_KWSPEC_H
#define TR_FORMAT_KWSPEC_KWSPEC_H

#include "format/format.h"
#include "process/call.h"

int tr_kwspec_bid(struct tr_input *in);
struct tr_reader *tr_kwspec_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err);

/* True for lines that have no command and are kept as they are: config, jconfig, jcompile, jar. */
bool tr_kwspec_is_kept(struct tr_text word);

/* Appends a field after its separator. */
void tr_kwspec_put_field(struct tr_buffer *to, struct tr_text bytes);

/*
 * probe.c: runs a compiler with the options of GCC, and appends its config line. NULL: done; else
 * the reason why there is no line. Check to->failed for exhausted memory.
 */
const char *tr_kwspec_probe(struct tr_text compiler, struct tr_buffer *to);

#endif
