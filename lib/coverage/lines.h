/* SPDX-License-Identifier: MIT */
/*
 * Coverage by source line: how often the lines, functions and conditional jumps of programs were
 * executed.
 *
 *	block and its program (programs.h) -> tr_lines_count -> counts per statement
 *	-> tr_lines_make -> files, each with its lines, functions and branches
 *
 * A line was executed as often as the statement of it that was executed most often, in each
 * function: the instances of a template or an inline function add up. Memory grows with the
 * programs and not with the blocks.
 */
#ifndef TR_COVERAGE_LINES_H
#define TR_COVERAGE_LINES_H

#include "coverage/programs.h"

/*
 * Counts a block in a program, which is at its address in the file, `times` times. False: memory
 * is exhausted.
 */
bool tr_lines_count(struct tr_loaded_program *loaded, const struct tr_block *block, uint64_t times);

struct tr_source_line {
	uint32_t line;
	uint64_t count;
};

struct tr_source_function {
	struct tr_text name; /* linkage name */
	uint32_t line;
	uint64_t count;
};

/* A conditional jump that was executed. */
struct tr_source_branch {
	uint32_t line;
	uint64_t address;
	uint64_t taken, fallen;
};

/* A source file with lines that have code. All lists are sorted by line. */
struct tr_source_file {
	struct tr_text path;
	const struct tr_elf *program; /* the first one that has lines of it */
	struct tr_source_line *lines;
	size_t line_count;
	struct tr_source_function *functions;
	size_t function_count;
	struct tr_source_branch *branches;
	size_t branch_count;
};

/* The files, sorted by path. */
struct tr_source_files {
	struct tr_source_file *list;
	size_t count, cap;
	struct tr_arena memory;
};

/*
 * Makes the list of files. counted: the numbers are those of executions; otherwise they say whether
 * something was executed, and are 0 or 1. The caller frees it with tr_source_files_free, before the
 * programs. False: memory is exhausted.
 */
bool tr_lines_make(const struct tr_programs *programs, bool counted, struct tr_source_files *files);
void tr_source_files_free(struct tr_source_files *files);

/* Frees the counts of all programs. */
void tr_lines_free(struct tr_programs *programs);

#endif
