/* SPDX-License-Identifier: MIT */
/*
 * The kinds of build tools. By default this follows from its name: gcc,
 * arm-linux-gnueabihf-g++-12.2, clang++-16, cl.exe, ccache; a cross prefix, a version and .exe are
 * skipped. A configuration can instead list the programs that matter and how they name response
 * files, in the JSON form of xcalbuild's tracer:
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

enum tr_tool {
	TR_TOOL_NONE,
	TR_TOOL_DRIVER,	   /* takes sources, and options as GCC and Clang have them */
	TR_TOOL_DRIVER_CL, /* the same with Microsoft's options */
	TR_TOOL_COMPILER,  /* the compiler that a driver runs: cc1, clang -cc1 */
	TR_TOOL_ASSEMBLER,
	TR_TOOL_LINKER,
	TR_TOOL_ARCHIVER,
	TR_TOOL_PREPROCESSOR,
	TR_TOOL_COLLECTOR, /* collect2: a linker that runs another one */
	TR_TOOL_HELPER,	   /* only ever runs as part of another tool: lto-wrapper */
	TR_TOOL_LAUNCHER,  /* ccache, distcc: runs the command in its arguments */
	TR_TOOL_LIBTOOL,   /* a script that runs variants of the command in its arguments */
};

/* The tool with that name; a path may precede it. */
enum tr_tool tr_tool_of_name(struct tr_text path);

/* True for linkers. The collector, too, takes the options of the linker that it runs. */
static inline bool tr_tool_is_linker(enum tr_tool tool)
{
	return tool == TR_TOOL_LINKER || tool == TR_TOOL_COLLECTOR;
}

/* The last component of a path, without .exe. */
struct tr_text tr_tool_base(struct tr_text path);

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
 * How a program names response files, borrowed from config. NULL: the program is not listed. An
 * empty list has tr_respfile_usual for every program.
 */
const struct tr_respfile_rules *tr_tool_config_find(const struct tr_tool_config *config,
						    struct tr_text program);

/* True if the list is empty, so that a program which it matches need not be a compiler. */
bool tr_tool_config_takes_all(const struct tr_tool_config *config);

#endif
