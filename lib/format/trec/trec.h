/* SPDX-License-Identifier: MIT */
/*
 * Private to the format trec, the record stream as a format like any other.
 *
 *	trec.c	   evidence; record -> line -> bytes
 *	reader.c   window -> checked lines -> sieve -> record
 */
#ifndef TR_FORMAT_TREC_TREC_H
#define TR_FORMAT_TREC_TREC_H

#include "format/format.h"

struct tr_reader *tr_trec_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err);

#endif
