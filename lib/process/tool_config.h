/* SPDX-License-Identifier: MIT */
/*
 * Which programs matter and how they name response files, in the JSON form of
 * xcalbuild's tracer:
 *
 *	[{"binary":"armlink","responseFileArgs":
 *	  [{"argument":"--via","argFormat":["space","equal"]}]}]
 *
 * Names are those of executables without .exe, in upper or lower case. An
 * empty list means every program.
 */
#ifndef TR_PROCESS_TOOL_CONFIG_H
#define TR_PROCESS_TOOL_CONFIG_H

#include <stdbool.h>

#include "core/error.h"
#include "core/text.h"
#include "process/respfile.h"

struct tr_tool_config;

/* NULL: err is filled; what names the text in messages. */
struct tr_tool_config *tr_tool_config_parse(struct tr_text json, struct tr_text what,
					    struct tr_error *err);
struct tr_tool_config *tr_tool_config_read(struct tr_text path, struct tr_error *err);

/* The programs that xcalbuild's tracer keeps by itself. NULL: memory. */
struct tr_tool_config *tr_tool_config_xcalbuild(struct tr_error *err);

/*
 * The rules of a program, NULL where it is none that matters. Those of an empty
 * list are the usual.
 */
const struct tr_respfile_rules *tr_tool_config_find(const struct tr_tool_config *config,
						    struct tr_text program);

/* The list is empty: programs that matter are not those that compile. */
bool tr_tool_config_takes_all(const struct tr_tool_config *config);

void tr_tool_config_free(struct tr_tool_config *config);

#endif
