/* SPDX-License-Identifier: MIT */
/*
 * The lcov format: coverage by source line, as lcov and genhtml read it. trace-formats(5)
 * describes it for users.
 *
 *	section -> reader.c -> records source, srcfunction, srcbranch, srcline
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
#include "format/writer_base.h"

int tr_lcov_bid(struct tr_input *in);
struct tr_reader *tr_lcov_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err);

/* Common to all writers of coverage by source line: their steps (writer.c) and -O options. */

#define TR_LCOV_STEPS(name) \
	{ \
		.format = name, .begin = tr_lcov_begin, .put = tr_lcov_put, \
		.blocks = tr_lcov_blocks, .close = tr_lcov_close, .report = tr_lcov_report, \
		.discard = tr_lcov_discard \
	}

enum tr_status tr_lcov_begin(struct tr_writer *base, struct tr_record *header,
			     struct tr_error *err);
enum tr_status tr_lcov_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err);
size_t tr_lcov_blocks(struct tr_writer *base, const struct tr_block *blocks, size_t count,
		      uint64_t seq);
enum tr_status tr_lcov_close(struct tr_writer *base, struct tr_error *err);
enum tr_status tr_lcov_report(struct tr_writer *base, struct tr_error *err);
void tr_lcov_discard(struct tr_writer *base);

/* One of these writers. */
struct tr_lcov_form {
	struct tr_writer_steps steps;
	bool one_test; /* files of all tests are added up */
	/* Writes all files, which are sorted. False: memory is exhausted. */
	bool (*write)(const struct tr_sources *sources, const struct tr_settings *settings,
		      struct tr_output *out);
};

struct tr_writer *tr_lcov_writer(const struct tr_lcov_form *form,
				 const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);

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
			"write the names that C++ and Ada functions have in the source (no)" \
	}

#endif
