/* SPDX-License-Identifier: MIT */
/*
 * Private to the format bear: the commands of a build that Bear intercepts, one JSON object a
 * line.
 *
 *	bear.c	  names, options; bytes -> object (tr_json_items_next) -> event -> record
 *	writer.c  record -> environment (process/follow.h) -> event as JSON -> bytes
 *
 * Version 3 (rizsotto/Bear 3.x, `bear intercept`, events.json):
 *	{"rid":"N","started":{"execution":{"executable":,"arguments":[],
 *	 "working_dir":,"environment":{}},"pid":,"ppid":},"timestamp":"ISO 8601"}
 *	{"rid":"N","terminated":{"status":"0"},"timestamp":}
 *	{"rid":"N","signalled":{"number":9},"timestamp":}
 * rid identifies one execution; the pid is that of a supervisor and is used again.
 *
 * Version 4 (4.x): {"pid":,"execution":{...}}, with only the variables that compilers use, and
 * without parent, time and end.
 */
#ifndef TR_FORMAT_BEAR_BEAR_H
#define TR_FORMAT_BEAR_BEAR_H

#include "format/format.h"

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);

#endif
