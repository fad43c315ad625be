/* SPDX-License-Identifier: MIT */
/*
 * tr-filter. A record takes this path:
 *
 *	tr_filter.c              options, then every line of the stream in order: headers,
 *	                         trailers, definitions and context are passed on
 *	tr_filter_select.c       judges a record: expressions, --calls, --frames, --tree
 *	tr_filter_queue.c        writes selected records as the bytes they came as, after those that
 *	                         are still open: an enter that only its leave can decide, an exec
 *	                         record whose environment is unknown (--rebase); and before each
 *	                         the definitions that it uses (record/definitions.h)
 *	tr_filter_coverage.c     judges blocks of execution traces without a record, and compares
 *	                         records with other traces: --minus, --common
 */
#ifndef TR_TOOLS_TR_FILTER_H
#define TR_TOOLS_TR_FILTER_H

#include "record/calls.h"
#include "core/buffer.h"
#include "core/map.h"
#include "coverage/block.h"
#include "expr/expr.h"
#include "record/definitions.h"
#include "record/pending.h"
#include "record/vocabulary.h"
#include "coverage/programs.h"
#include "view/computed.h"

#include "cli.h"

/* --tree: a task and its descendants. */
struct tr_task_tree {
	struct tr_map tasks; /* the live ones */
	struct tr_map seqs;  /* of all their exec records */
	struct tr_map
		ended;	 /* a bounded number of tasks whose fork may be printed after their exit */
	uint64_t missed; /* exit records that came before the fork that puts their task inside */
};

/* --rebase: environments that depend on no record that may be left out. */
struct tr_env_tracker;
struct tr_exec_env;
struct tr_held;
struct tr_rebase {
	struct tr_env_tracker *tracker;
	struct tr_exec_env *exec;     /* of the last record, if it is an exec */
	struct tr_held *first, *last; /* exec records in the queue whose parent is unknown */
	struct tr_buffer map, line;
};

enum tr_item_type {
	TR_ITEM_PASS,	  /* headers, trailers, comments, and definitions of unknown types */
	TR_ITEM_CONTEXT,  /* written as soon as a record of the segment is kept */
	TR_ITEM_SELECTED, /* counts */
	TR_ITEM_LEAVE,	  /* goes with its enter */
};

/* Calls that were entered and did not return. */
struct tr_call;
struct tr_calls {
	struct tr_map by_key;
	struct tr_call *first, *last;
	size_t open_bytes; /* of the lines of open enters */
	bool reported_many;
	struct tr_arena arena; /* for judging one of them */
};

/* --calls and --frames, and the position in the segment. */
struct tr_call_sets {
	bool has_calls, has_frames;
	struct tr_call_set calls, wanted; /* numbers of calls, of frames */
	struct tr_call_kinds kinds;
	uint64_t next_call;	    /* follows the largest number of a call so far */
	uint64_t frame;		    /* of a call that returns now */
	uint64_t frames;	    /* that have calls; in several traces the most of any */
	bool met_frames;	    /* some call is of the wanted frames */
	enum tr_call_set_rest rest; /* what is wanted of this frame and those after it */
};

/* --minus or --common: a trace with which records are compared. */
struct tr_filter_cover {
	const char *path;
	bool common;
	struct tr_covered *covered;
	bool read;
	bool noted; /* the note that it has nothing to compare with was printed */
};

enum tr_definitions_mode { TR_DEFINITIONS_USED, TR_DEFINITIONS_ALL, TR_DEFINITIONS_NONE };

enum tr_record_sort { TR_SORT_PLAIN, TR_SORT_CONTEXT, TR_SORT_ENTER, TR_SORT_LEAVE };

struct tr_filter {
	struct tr_cli *cli;

	/* what the user asks for */
	const char *operand; /* the expression, if getopt took it for an option; NULL: it did not */
	struct tr_expr **exprs;
	struct tr_expr_state **states;
	size_t expr_count;
	bool has_expression;	   /* -e or --expr-file */
	const char *since, *until; /* NULL: not given; with one the first operand may be a file */
	size_t bounds;		   /* the number of exprs, at the front, from --since and --until */
	bool invert, count_only, raw, nul;
	enum tr_field_side side;
	bool limited; /* -m */
	uint64_t limit;
	struct tr_field_list *fields;
	const char *root; /* --tree */
	struct tr_call_sets sets;
	bool rebases; /* --rebase */
	bool merges;  /* --merge */
	struct tr_filter_cover *covers;
	size_t cover_count, cover_cap;
	const char **operands; /* with the files of covers; NULL: there are none */
	enum tr_definitions_mode definitions_mode;
	bool no_context;

	/* what is found out from it, and from all segments */
	bool named[TR_CONTEXT_KINDS]; /* context kinds that an expression names */
	bool unknown_kinds;	      /* an expression names some: see tr_expr_saw_kind */
	bool needs_start;	      /* an expression needs the time of the first record */
	bool found_root;	      /* some record is of the tree */
	bool left_rest;		      /* some file was not read to its end */
	struct tr_computed *computed; /* NULL: no computed field is used */
	struct tr_programs programs;  /* of -O exe and path */
	struct tr_sieve *sieve;	      /* judges by columns; NULL: there is none */
	struct tr_block_taker taker, *block_taker;   /* NULL: blocks come as records */
	struct tr_filter_blocks *blocks;	     /* the answers for them; NULL: none came */
	struct tr_text always[TR_CONTEXT_KINDS + 2]; /* kinds that pass the sieve */
	struct tr_merge *merge;			     /* --merge; NULL: there is none */
	uint64_t merge_errors; /* of trailers, and of what could not be merged */
	bool merge_truncated;
	bool gave_up; /* the rest was not read: the expressions lost too much time on it */

	/* the segment */
	bool has_header, has_records, any_kept;
	bool later_part; /* of a trace that was split: its context is passed on in any case */
	uint64_t selected_before;  /* the segment */
	uint64_t left_out_before;  /* by the sieve, before the segment */
	uint64_t written;	   /* records, as a trailer counts them */
	struct tr_pending pending; /* context, until a record is kept */
	struct tr_definitions definitions;
	struct tr_task_tree tree;
	struct tr_rebase rebase;
	struct tr_calls calls;
	struct tr_pending queue; /* the records that may be written, in order */

	uint64_t selected; /* in all segments */
	uint64_t waiting;  /* in the queue, which will be selected */
	size_t owed;	   /* leaves that are missing, of enters that were written */
	struct tr_buffer text, key;
};

/* tr_filter_select.c */

/* Prepares the expressions: context kinds they name, computed fields, the sieve. False: memory. */
bool tr_filter_begin_select(struct tr_filter *filter);
void tr_filter_free_select(struct tr_filter *filter);

/* Begins a segment. False: memory is exhausted. */
bool tr_filter_begin_sets(struct tr_filter *filter);

/* Adds to --frames or --calls. False: the usage error is printed. */
bool tr_filter_add_set(struct tr_filter *filter, bool frames, const char *text);
bool tr_filter_has_sets(const struct tr_filter *filter);

/* True if nothing that follows in this file can be in the sets. */
bool tr_filter_past_sets(const struct tr_filter *filter);

enum tr_record_sort tr_filter_sort(const struct tr_filter *filter, const struct tr_record *record);

/* Shows a record to the expressions and to --tree, in order; the sieve's are left out. */
bool tr_filter_look_at(struct tr_filter *filter, struct tr_record *record, enum tr_record_sort sort,
		       bool *in_tree);

/*
 * Judges a record by all expressions, sets, --tree and -v. Reports what is bad in the record.
 * leave: of an enter, or NULL; open: the leave may still come.
 */
enum tr_match tr_filter_judge(struct tr_filter *filter, struct tr_record *record,
			      struct tr_record *leave, bool open, bool in_tree);

/* The kinds of a call that the sets or computed fields need; 0: none. */
unsigned tr_filter_call_kinds(struct tr_filter *filter, const struct tr_record *record);

/* Counts a call that has returned. True: it ended a frame, and that may decide open calls. */
bool tr_filter_ends_frame(struct tr_filter *filter, unsigned kinds);

/* At the end: notes fields, kinds, tasks and bounds of the user that no record has. */
void tr_filter_note_unseen(struct tr_filter *filter);

/* tr_filter_coverage.c */

/* Takes blocks without records, if equal blocks are always selected or left out together. */
void tr_filter_begin_blocks(struct tr_filter *filter);
void tr_filter_free_blocks(struct tr_filter *filter);

/* Adds --minus or --common. The file is read first, as an operand. */
void tr_filter_add_cover(struct tr_filter *filter, const char *path, bool common);

/* Puts the files of these options before the operands. False: memory is exhausted. */
bool tr_filter_begin_covers(struct tr_filter *filter);

/* True if the place is one of these files; if so, it is read. */
bool tr_filter_read_cover(struct tr_filter *filter, const struct tr_trace_place *place);

/*
 * Compares a line of the input with all of them. False: the record is not selected, or the tool is
 * to stop.
 */
bool tr_filter_in_covers(struct tr_filter *filter, struct tr_record *record);

void tr_filter_free_covers(struct tr_filter *filter);

/* tr_filter_queue.c. A function that returns false has reported why, or the tool is to stop. */

/* Begins a segment. */
bool tr_filter_begin_output(struct tr_filter *filter);
void tr_filter_free_output(struct tr_filter *filter);

/* True if -m records are selected. */
bool tr_filter_full(const struct tr_filter *filter);

/* True if records are written as lines, not as rows or a count. */
static inline bool tr_filter_writes_lines(const struct tr_filter *filter)
{
	return !filter->count_only && !filter->fields;
}

/* Takes lines from the sieve (record/line.h), without a limit or --fields. */
bool tr_filter_take(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns);

/* Writes a line that is not selected but passed on. */
bool tr_filter_pass(struct tr_filter *filter, struct tr_text line);

/* Writes a record of that type. */
bool tr_filter_put(struct tr_filter *filter, enum tr_item_type type, struct tr_record *record);

/* Writes a selected record. */
bool tr_filter_keep(struct tr_filter *filter, struct tr_record *record);

/* Judges and writes the enter or the leave of a call, or another record, which is whole. */
bool tr_filter_enter(struct tr_filter *filter, struct tr_record *record, bool in_tree);
bool tr_filter_leave(struct tr_filter *filter, struct tr_record *record, bool in_tree);
bool tr_filter_whole(struct tr_filter *filter, struct tr_record *record, bool in_tree);

/* --rebase: follows every record, in order. */
bool tr_filter_follow_rebase(struct tr_filter *filter, struct tr_record *record);

/* Decides all that is open at the end of a segment. */
bool tr_filter_end_calls(struct tr_filter *filter);

#endif
