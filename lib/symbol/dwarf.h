/* SPDX-License-Identifier: MIT */
/*
 * Reads an ELF file and its DWARF with libdw, which is loaded here and nowhere else: functions,
 * rows of the line tables, inlined calls, sections of code. Debug information may be in the file
 * itself, in a separate file (build id, debuglink, /usr/lib/debug) or split (.dwo, .dwp).
 *
 * elf.h runs this in a process of its own, because libdw is not made for hostile files.
 */
#ifndef TR_SYMBOL_DWARF_H
#define TR_SYMBOL_DWARF_H

#include "symbol/elf.h"

/*
 * The arrays that are filled, all zero at first. The owner frees them with tr_dwarf_free, or exits,
 * as the process of elf.h does.
 */
struct tr_dwarf {
	struct tr_elf_head head; /* the counts of the arrays are in it */
	struct tr_code_row *rows;
	struct tr_code_function *functions;
	struct tr_code_inline *inlines;
	struct tr_code_section *sections;
	uint32_t *files;	  /* offsets of paths in strings; the first is the empty one */
	struct tr_buffer strings; /* each with its NUL; the first one is empty */
	size_t row_cap, function_cap, inline_cap, section_cap, file_cap;
};

/*
 * Reads the file and closes fd. demangles: demangle the names of functions. False: err is filled.
 * The caller has cleared DEBUGINFOD_URLS, so that no server is contacted.
 */
bool tr_dwarf_read(struct tr_dwarf *dwarf, const char *path, int fd, bool demangles,
		   struct tr_error *err);

void tr_dwarf_free(struct tr_dwarf *dwarf);

#endif
