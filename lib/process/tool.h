/* SPDX-License-Identifier: MIT */
/*
 * Configurations that list the programs that matter and how they name response files, in place of
 * the table of compilers (compilers.h). They are in the JSON form of xcalbuild's tracer:
 *
 *	[{"binary":"armlink","responseFileArgs":
 *	  [{"argument":"--via","argFormat":["space","equal"]}]}]
 *
 * Its names are those of executables without .exe, in upper or lower case. An empty list matches
 * every program.
 */
#ifndef TR_PROCESS_TOOL_H
#define TR_PROCESS_TOOL_H

#include <stdbool.h>

#include "core/error.h"
#include "core/text.h"
#include "process/respfile.h"

/* A configuration is immutable, and so can be used by several threads. */
struct tr_tool_config;

/* Reads a configuration. origin: its name in messages. NULL: err is set. */
struct tr_tool_config *tr_tool_config_parse(struct tr_text json, struct tr_text origin,
					    struct tr_error *err);
struct tr_tool_config *tr_tool_config_read(struct tr_text path, struct tr_error *err);

/* The programs that xcalbuild's tracer records by default. NULL: out of memory. */
struct tr_tool_config *tr_tool_config_xcalbuild(struct tr_error *err);

/* Accepts NULL. */
void tr_tool_config_free(struct tr_tool_config *config);

/*
 * Returns the rules by which a program names response files, borrowed from config. NULL: the
 * program is not listed. An empty list has tr_respfile_usual for every program.
 */
const struct tr_respfile_rules *tr_tool_config_find(const struct tr_tool_config *config,
						    struct tr_text program);

/* True if the list is empty, so that a program which it matches need not be a compiler. */
bool tr_tool_config_takes_all(const struct tr_tool_config *config);

#endif
