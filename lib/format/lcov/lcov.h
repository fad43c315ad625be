/* SPDX-License-Identifier: MIT */
/*
 * The lcov format: coverage by source line, as lcov and genhtml read it. trace-formats(5)
 * describes it for users.
 *
 *	blocks of an execution trace -> writer.c: programs (coverage/programs.h) and counts
 *	(coverage/lines.h) -> one section per source file
 *
 * A tracefile is text:
 *
 *	TN:
 *	SF:/src/a.c			a source file
 *	VER:build-id 1f2e...		of the program
 *	FN:3,main			a function and its line
 *	FNDA:1,main			how often it was entered
 *	FNF:1				functions, and those that were entered
 *	FNH:1
 *	BRDA:5,0,0,1			line, jump, outcome, how often
 *	BRF:2				outcomes, and those that happened
 *	BRH:1
 *	DA:3,1				line and how often it ran
 *	LF:4				lines with code, and those that ran
 *	LH:3
 *	end_of_record
 *
 * Sources: geninfo(1) of lcov 1.16 and 2.0, section TRACEFILE FORMAT; lcovutil.pm of lcov 2.x, which
 * still reads FN and FNDA beside its own FNL and FNA, which lcov 1.x does not read.
 */
#ifndef TR_FORMAT_LCOV_LCOV_H
#define TR_FORMAT_LCOV_LCOV_H

#include "format/format.h"

struct tr_writer *tr_lcov_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);

#endif
