/* SPDX-License-Identifier: MIT */
/* Private to the format kwspec, which kwspec.c describes: its reader. */
#ifndef TR_FORMAT_KWSPEC_KWSPEC_H
#define TR_FORMAT_KWSPEC_KWSPEC_H

#include "format/format.h"

int tr_kwspec_bid(struct tr_input *in);
struct tr_reader *tr_kwspec_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err);

/* True for lines that have no command and are kept as they are: config, jconfig, jcompile, jar. */
bool tr_kwspec_is_kept(struct tr_text word);

#endif
