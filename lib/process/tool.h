/* SPDX-License-Identifier: MIT */
/*
 * What a program is, by its name: gcc, arm-linux-gnueabihf-g++-12.2, clang++-16,
 * cl.exe, ccache. A cross prefix, a version and .exe are looked through.
 */
#ifndef TR_PROCESS_TOOL_H
#define TR_PROCESS_TOOL_H

#include "core/text.h"

enum tr_tool {
	TR_TOOL_NONE,
	TR_TOOL_DRIVER,	   /* takes sources, with options as GCC and Clang have them */
	TR_TOOL_DRIVER_CL, /* the same with Microsoft's */
	TR_TOOL_COMPILER,  /* what a driver runs: cc1, and clang -cc1 */
	TR_TOOL_ASSEMBLER,
	TR_TOOL_LINKER,
	TR_TOOL_ARCHIVER,
	TR_TOOL_PREPROCESSOR,
	TR_TOOL_COLLECTOR, /* collect2: a linker that runs another one */
	TR_TOOL_HELPER,	   /* runs as a part of others only: lto-wrapper */
	TR_TOOL_LAUNCHER,  /* ccache, distcc: the words behind are the call */
	TR_TOOL_LIBTOOL,   /* a script that runs the call several times, each time otherwise */
};

/* path may be a name alone. */
enum tr_tool tr_tool_of_name(struct tr_text path);

/* The name without directory and .exe. */
struct tr_text tr_tool_base(struct tr_text path);

#endif
