/* SPDX-License-Identifier: MIT */
/*
 * Coverage by source line: how often the lines, functions and conditional jumps of programs were
 * executed.
 *
 *	block and its program (programs.h) -> tr_lines_count -> counts per statement
 *	-> tr_lines_make -> files with their lines, functions and branches (sources.h)
 *
 * A line was executed as often as the statement of it that was executed most often, in each
 * function: the instances of a template or an inline function add up. Memory grows with the
 * programs and not with the blocks.
 */
#ifndef TR_COVERAGE_LINES_H
#define TR_COVERAGE_LINES_H

#include "coverage/programs.h"
#include "coverage/sources.h"

/*
 * Counts a block in a program, which is at its address in the file, `times` times. False: memory
 * is exhausted.
 */
bool tr_lines_count(struct tr_loaded_program *loaded, const struct tr_block *block, uint64_t times);

/*
 * Adds the lines, functions and branches of the programs. counted: the numbers are those of
 * executions; otherwise they say whether something was executed, and are 0 or 1. False: memory is
 * exhausted.
 */
bool tr_lines_make(const struct tr_programs *programs, bool counted, struct tr_sources *sources);

/* Frees the counts of all programs. */
void tr_lines_free(struct tr_programs *programs);

#endif
