/* SPDX-License-Identifier: MIT */
/*
 * Coverage of source files: how often their lines, functions and branches were executed.
 *
 *	lines of programs (coverage.h), or records source, srcline, srcfunction, srcbranch
 *	-> tr_sources_add_... -> tr_sources_sort -> files with sorted lists
 *
 * A line, function or branch that is added again adds to its count. Memory grows with the distinct
 * ones. Not thread safe.
 */
#ifndef TR_COVERAGE_SOURCES_H
#define TR_COVERAGE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/map.h"
#include "record/record.h"

/* A line that has code. */
struct tr_source_line {
	uint64_t count;
	struct tr_text checksum; /* empty: unknown */
	uint32_t line;
};

struct tr_source_function {
	struct tr_text name; /* linkage name */
	uint64_t count;
	uint32_t line, last_line; /* 0: unknown */
};

/* An outcome of a branch. */
struct tr_source_branch {
	uint64_t count;
	uint64_t block;	       /* the branch, as a number that is unique in its line */
	struct tr_text branch; /* the outcome: a number, or an expression */
	uint32_t line;
	bool reached;	/* the branch was executed, so it had some outcome */
	bool exception; /* the outcome is an exception */
};

/* Items that are added in any order; sorted after tr_sources_sort. */
struct tr_source_lines {
	struct tr_source_line *list;
	size_t count, cap;
};

struct tr_source_functions {
	struct tr_source_function *list;
	size_t count, cap;
};

struct tr_source_branches {
	struct tr_source_branch *list;
	size_t count, cap;
};

/* A source file, in one test. */
struct tr_source_file {
	struct tr_text path;
	struct tr_text test;	/* empty: it has no name */
	struct tr_text version; /* empty: unknown */
	struct tr_text key;	/* of by_key */
	struct tr_source_lines lines;
	struct tr_source_functions functions;
	struct tr_source_branches branches;
};

/* All zero at first. Texts are in memory, until tr_sources_free. */
struct tr_sources {
	struct tr_source_file **list; /* sorted by path and test after tr_sources_sort */
	size_t count, cap;
	struct tr_map by_key;	     /* path, NUL, test */
	struct tr_map texts;	     /* each text is kept once */
	struct tr_source_file *last; /* of the last record; NULL: a segment begins */
	struct tr_arena memory;
	bool one_test; /* set by the owner: files are the same in all tests */
};

/* Returns the file, which is added if it is new. NULL: memory is exhausted. */
struct tr_source_file *tr_sources_file(struct tr_sources *sources, struct tr_text path,
				       struct tr_text test);

/* These add a copy of the item with its texts. False: memory is exhausted. */
bool tr_sources_add_version(struct tr_sources *sources, struct tr_source_file *file,
			    struct tr_text version);
bool tr_sources_add_line(struct tr_sources *sources, struct tr_source_file *file,
			 const struct tr_source_line *line);
bool tr_sources_add_function(struct tr_sources *sources, struct tr_source_file *file,
			     const struct tr_source_function *function);
bool tr_sources_add_branch(struct tr_sources *sources, struct tr_source_file *file,
			   const struct tr_source_branch *branch);

/*
 * Adds what a record source, srcline, srcfunction or srcbranch states. TR_OK; TR_END: it is of
 * another kind; TR_WARN: it is malformed; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_sources_put(struct tr_sources *sources, struct tr_record *record,
			      struct tr_error *err);

/* Sorts all lists and merges equal items; must be called before the lists are read. */
void tr_sources_sort(struct tr_sources *sources);

/*
 * True if a file, which is sorted, has executed everything that was executed of another one. A
 * function is the same if line and name are.
 */
bool tr_source_file_has(const struct tr_source_file *file, const struct tr_source_file *other);

/* True if a file has a line, a function or a branch. */
static inline bool tr_source_file_any(const struct tr_source_file *file)
{
	return file->lines.count || file->functions.count || file->branches.count;
}

/* Returns how many branches of sorted files are in lines that have no count. */
uint64_t tr_sources_lone_branches(const struct tr_sources *sources);

void tr_sources_free(struct tr_sources *sources);

/* The number of all items of a kind, and of those that were executed. */
struct tr_source_share {
	uint64_t all, hit;
};

/* The shares of a file; several files are added up in the same struct. */
struct tr_source_shares {
	struct tr_source_share lines, functions, branches;
};
void tr_source_file_count(const struct tr_source_file *file, struct tr_source_shares *shares);

/*
 * Returns the line before which a function of a sorted file ends: its last line if that is known,
 * or the next function. Of several functions in one line, the last one has the lines.
 */
uint64_t tr_source_function_end(const struct tr_source_file *file, size_t number);
struct tr_source_shares tr_source_function_share(const struct tr_source_file *file, size_t number);

#endif
