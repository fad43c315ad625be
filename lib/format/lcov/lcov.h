/* SPDX-License-Identifier: MIT */
/*
 * The lcov format: coverage by source line, as lcov and genhtml read it. trace-formats(5)
 * describes it for users.
 *
 *	section -> lcov.c -> records source, srcfunction, srcbranch, srcline
 *	these records, or blocks of an execution trace -> writer.c (coverage/coverage.h)
 *	-> lcov.c: one section per source file and test; cobertura.c and gcovjson.c: other formats
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
 *	BRDA:5,0,0,1			line, jump, outcome, how often; - if the jump was not reached
 *	BRF:2				outcomes, and those that happened
 *	BRH:1
 *	DA:3,1				line and how often it ran, and in some files a checksum
 *	LF:4				lines with code, and those that ran
 *	LH:3
 *	end_of_record
 *
 * Sources: geninfo(1) of lcov 1.16 and 2.0, section TRACEFILE FORMAT; lcovutil.pm of lcov 2.x,
 * which reads FN and FNDA as well as its own FNL and FNA, which lcov 1.x does not read. We read
 * both and write FN and FNDA. MCDC of lcov 2.x becomes a raw record.
 */
#ifndef TR_FORMAT_LCOV_LCOV_H
#define TR_FORMAT_LCOV_LCOV_H

#include "coverage/sources.h"
#include "format/format.h"

/* A format that writes coverage by source line: what distinguishes it from the others. */
struct tr_lcov_form {
	const char *format;	/* its name */
	bool one_test;		/* files of all tests are added up */
	bool branches_in_lines; /* a line without a count cannot have branches */
	/* Writes all files, which are sorted. False: memory is exhausted. */
	bool (*write)(const struct tr_sources *sources, const struct tr_settings *settings,
		      struct tr_output *out);
};

/* Creates the writer of such a format (writer.c). NULL: err is filled. */
struct tr_writer *tr_lcov_writer(const struct tr_lcov_form *form,
				 const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);

/* The -O options that all of these formats have. */
#define TR_LCOV_OPTIONS \
	{ "exe", "PROG", false, true, \
	  "a program or library whose lines are reported (repeatable)" }, \
		{ "base", "ADDRESS", false, true, \
		  "load address of the first program (0x...), or of another one (NAME=0x...; " \
		  "repeatable)" }, \
		{ "path", "DIR", false, true, \
		  "search the files of the trace's modules below this directory (repeatable)" }, \
	{ \
		"demangle", "no|yes", false, true, \
			"write the names that C++ and Ada functions have in the source (default " \
			"no)" \
	}

#endif
