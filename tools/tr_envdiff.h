/* SPDX-License-Identifier: MIT */
/*
 * tr-envdiff. A line takes this path:
 *
 *	tr_envdiff.c          options; with --input-base=auto, lines are stored until the end of
 *	                      their segment shows which base they have; then records get the
 *	                      environment of --base, and stay in order after an exec record
 *	                      whose parent is unknown
 *	tr_envdiff_compare.c  with --compare, takes the two environments instead
 *	tr_envdiff_mask.c     with --mask, stores all lines until the end of the input, and
 *	                      writes them without the masked values
 */
#ifndef TR_TOOLS_TR_ENVDIFF_H
#define TR_TOOLS_TR_ENVDIFF_H

#include "process/env_line.h"
#include "record/pending.h"

#include "cli.h"

/* The patterns of --keep, --drop and --mask. */
struct tr_globs {
	struct tr_glob {
		const char *pattern;
		bool used; /* it matched a name */
	} * list;
	size_t count, cap;
};

struct tr_name_globs {
	struct tr_globs keep, drop, mask;
	struct tr_arena arena;
};

/* For struct tr_environment_rules; context: the globs. False: memory is exhausted. */
bool tr_name_globs_judge(void *context, struct tr_text spelling, bool fold, unsigned *verdict);

/* Stored lines, in order, each with a mark. Zero it. */
struct tr_line_store {
	struct tr_pending queue;
	struct tr_buffer line; /* a line that is composed */
	struct tr_arena arena; /* of the last record read */
	struct tr_record record;
};

enum tr_input_base { TR_INPUT_PARENT, TR_INPUT_TOP, TR_INPUT_AUTO };

struct tr_comparison;
struct tr_mask;

struct tr_envdiff {
	struct tr_cli *cli;

	/* what the user asks for */
	enum tr_env_form base;
	enum tr_input_base input_base;
	enum tr_name_case names;
	struct tr_name_globs globs;
	struct tr_comparison *comparison; /* NULL: a filter */
	bool mask_only_names;
	struct tr_mask *mask;	     /* NULL: values are masked in variables only */
	struct tr_line_store masked; /* all lines, until all values are known */

	struct tr_env_tracker *tracker;
	struct tr_line_store waiting;	  /* lines after an exec record whose parent is unknown */
	struct tr_exec_env *first, *last; /* of the exec records among them, whose mark is set */

	/* --input-base=auto */
	struct tr_env_tracker *scout; /* reads against the parent, and counts */
	struct tr_line_store segment; /* the lines of the segment */

	/* the segment */
	bool has_header;
	bool sets_seen;	     /* etrace's */
	uint64_t execs;	     /* exec records */
	uint64_t unknown;    /* of them, those without an environment */
	uint64_t kept_whole; /* environments, because their base is unknown */
	uint64_t added, left_out;
	struct tr_buffer map, line, scratch, top_line;
};

/* Reports exhausted memory or spool space, and stops. Returns false. */
bool tr_envdiff_out_of_memory(struct tr_envdiff *envdiff);

/* tr_envdiff_mask.c: --mask beyond the variables. False: reported. */
bool tr_mask_begin(struct tr_envdiff *envdiff);
void tr_mask_free(struct tr_envdiff *envdiff);

/*
 * Adds the record's masked values to those that are searched for, if envdiff->mask is set.
 * *unreadable: its environment cannot be read, and may contain more of them.
 */
bool tr_mask_collect(struct tr_envdiff *envdiff, struct tr_record *record, bool *unreadable);

/* Prepares the search, after the last value. */
bool tr_mask_ready(struct tr_envdiff *envdiff);

/* Appends a value, as trec spells it, without the masked values. */
bool tr_mask_value(struct tr_envdiff *envdiff, struct tr_text value, struct tr_buffer *to);

/* Writes a record without the masked values. */
bool tr_mask_line(struct tr_envdiff *envdiff, const struct tr_record *record);

/* Reports occurrences of masked values that stay. */
void tr_mask_report(struct tr_envdiff *envdiff);

/* tr_envdiff_compare.c */

/* Takes A and B from the operands. NULL: reported. */
struct tr_comparison *tr_comparison_new(struct tr_envdiff *envdiff);
void tr_comparison_free(struct tr_envdiff *envdiff);
bool tr_comparison_line(struct tr_envdiff *envdiff, struct tr_record *record);
bool tr_comparison_end(struct tr_envdiff *envdiff); /* of a segment, file or member */
void tr_comparison_print(struct tr_envdiff *envdiff);

#endif
