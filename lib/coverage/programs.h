/* SPDX-License-Identifier: MIT */
/*
 * The programs named by -O exe and -O path, and where they were in memory according to a trace:
 * finds the program to which an executed block belongs, and the address of the block in its file.
 *
 *	-O demangle, exe, base, path -> struct tr_programs
 *	section, info, load, unload, loadaddr, module -> tr_programs_put
 *	block -> tr_programs_place -> program and address
 *
 * A block of a module (drcov) or of a shared object (gnatcov) belongs to the program with the same
 * file name. Any other block belongs to the program whose addresses contain it; a program is at the
 * addresses in its file, or at those of -O base. Not thread safe.
 */
#ifndef TR_COVERAGE_PROGRAMS_H
#define TR_COVERAGE_PROGRAMS_H

#include "coverage/block.h"
#include "coverage/layout.h"
#include "core/map.h"
#include "record/record.h"
#include "symbol/elf.h"

/* A program, its counts (coverage.c), and where it is. */
struct tr_loaded_program {
	struct tr_elf *program;
	uint64_t bias; /* added to addresses of the file; from -O base, otherwise 0 */
	uint64_t hits; /* blocks that belong to it */
	bool known; /* one of them is in a source line, or in a function if the program has no lines */
	struct tr_line_counts *counts; /* NULL: no block was counted */
};

struct tr_programs {
	struct tr_loaded_program **list;
	size_t count, cap;
	struct tr_loaded_program *last; /* the one that contained the last block */
	bool demangles; /* set by the owner before programs are added: names are demangled */
	char **paths;	/* -O path: directories */
	size_t path_count, path_cap;
	struct tr_layout layout;
	struct tr_id_map modules; /* of drcov, by their ids */
	struct tr_map missing;	  /* paths of modules for which there is no program */
	struct tr_arena memory;
	uint64_t blocks; /* that were placed or not */
};

/* Adds the program of a file. False: err is filled. */
bool tr_programs_add(struct tr_programs *programs, struct tr_text path, struct tr_error *err);

/* Adds a directory in which the files of modules are. False: memory is exhausted, err is filled. */
bool tr_programs_search(struct tr_programs *programs, struct tr_text path, struct tr_error *err);

/*
 * Sets where a program was loaded: "0xADDRESS" for the first, or "NAME=0xADDRESS" with the name or
 * path of its file. All programs must have been added. False: err is filled.
 */
bool tr_programs_base(struct tr_programs *programs, struct tr_text value, struct tr_error *err);

/* Begins a segment: forgets what was loaded. */
void tr_programs_begin(struct tr_programs *programs);

/*
 * Handles a record that states where code is. TR_OK; TR_END: it is of another kind; TR_WARN: it is
 * malformed, or the program of a module cannot be read; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_programs_put(struct tr_programs *programs, struct tr_record *record,
			       struct tr_error *err);

/*
 * Returns the program of a module: one that was added, found by its path or else its name, or a
 * file below the directories. NULL: there is none, or (err is filled) it cannot be read.
 */
struct tr_loaded_program *tr_programs_module(struct tr_programs *programs, struct tr_text path,
					     struct tr_error *err);

/*
 * Returns the program of a block and sets block->address to the address in its file. record: that
 * of the block; may be NULL without modules. NULL: the block belongs to no program, or memory is
 * exhausted (err->cause).
 */
struct tr_loaded_program *tr_programs_place(struct tr_programs *programs, struct tr_record *record,
					    struct tr_block *block, struct tr_error *err);

/*
 * Fills err with what to report at the end: debug information that cannot be read (damage), or a
 * program of which no block was found, or none in its lines (a note). False: there is nothing to
 * report.
 */
bool tr_programs_remark(const struct tr_programs *programs, struct tr_error *err);

void tr_programs_free(struct tr_programs *programs);

#endif
