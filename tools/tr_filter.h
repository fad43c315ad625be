/* What the files of tr-filter share. The flow is described in tr_filter_run.c. */
#ifndef TR_TOOLS_TR_FILTER_H
#define TR_TOOLS_TR_FILTER_H

#include "call/call_set.h"
#include "core/buffer.h"
#include "core/map.h"
#include "core/spool.h"
#include "expr/expr.h"
#include "record/context.h"
#include "view/computed.h"

#include "cli.h"

/* tr_filter_definitions.c: those of the segment, kept until a record that is kept needs them. */
struct tr_definition;
struct tr_definitions {
	struct tr_map by_id;   /* "F17" */
	struct tr_map by_name; /* of fn: the first of that name */
	struct tr_definition *list;
	size_t waiting;		       /* of the list, those not written yet */
	uint64_t count;		       /* of all: the place of the next in the source's order */
	struct tr_definition **wanted; /* what one record needs */
	size_t wanted_count, wanted_cap;
	/* The last name of a call for which there is nothing to write any more. */
	char settled[64];
	size_t settled_len;
};

/* True for those whose use can be seen in a record; the others pass as they come. */
bool tr_definition_is_known(const struct tr_record *record);

/* Keeps a copy of the definition in line. False: memory is out. */
bool tr_definitions_add(struct tr_definitions *defs, struct tr_text line);

/* Writes what line uses and what was not written before, in the source's order. False: memory. */
bool tr_definitions_write(struct tr_definitions *defs, struct tr_text line, struct tr_output *out);

/*
 * True when line, of which these are the columns, surely needs nothing that was not written
 * before: for most calls a glance tells. Reads up to TR_INPUT_PAD bytes behind it.
 */
bool tr_definitions_are_settled(struct tr_definitions *defs, struct tr_text line,
				const struct tr_columns *columns);

/* Forgets all of them. */
void tr_definitions_free(struct tr_definitions *defs);

/* tr_filter_tree.c: a task and all that comes of it. */
struct tr_task_tree {
	struct tr_map tasks; /* the live ones */
	struct tr_map seqs;  /* of the exec record that is current in each of them */
	struct tr_buffer scratch;
};

/* False: memory is out. */
bool tr_task_tree_begin(struct tr_task_tree *tree, struct tr_text root);

/* Whether the record belongs to the tree; every record has to come by, in order. False: memory. */
bool tr_task_tree_follow(struct tr_task_tree *tree, struct tr_record *record, bool *inside);

void tr_task_tree_free(struct tr_task_tree *tree);

/* tr_filter_rebase.c: environments that depend on no record that may be left out. */
struct tr_lineage;
struct tr_heir;
struct tr_held;
struct tr_rebase {
	struct tr_lineage *lineage;
	struct tr_heir *heir;	      /* of the record that came by last, where it is an exec */
	struct tr_held *first, *last; /* exec records in the queue whose parent has not come */
	struct tr_buffer map, line;
};

/* A segment begins. False: memory is out. */
bool tr_rebase_begin(struct tr_rebase *rebase, const struct tr_limits *limits);
void tr_rebase_free(struct tr_rebase *rebase);

/* The exec record that came by last cannot be written yet. */
bool tr_rebase_must_wait(const struct tr_rebase *rebase);

/*
 * tr_filter_queue.c: what may be written, in order, while an enter waits for
 * its leave to be judged: everything that comes meanwhile waits behind it.
 */
enum tr_item_type {
	TR_ITEM_PASS,	  /* comments, definitions that nobody knows */
	TR_ITEM_CONTEXT,  /* written as soon as a record of the segment is kept */
	TR_ITEM_SELECTED, /* counts */
	TR_ITEM_LEAVE,	  /* goes with its enter */
	TR_ITEM_RUN,	  /* many of these, in the spool */
};

struct tr_call;

struct tr_item {
	struct tr_item *next;
	enum tr_item_type type;
	bool open; /* not decided: it and what follows has to wait */
	/*
	 * Of an open enter, and with -m of any that is selected and of a leave,
	 * which owns it then: it knows whether its enter was still among the first.
	 */
	struct tr_call *call;
	struct tr_text text; /* data, or row */
	char *row;	     /* owned; NULL: none */
	size_t cost;	     /* bytes of memory */
	uint64_t begin, end; /* of a run: offsets in the spool */
	char data[];
};

struct tr_queue {
	struct tr_item *first, *last;
	size_t cost;		  /* of all items */
	size_t relieve_at;	  /* the cost that is too much */
	struct tr_spool *spool;	  /* NULL until it is needed */
	struct tr_buffer unsaved; /* what goes behind the end of the spool next */
	struct tr_spool_window window;
};

/* Appends a copy; NULL: memory is out. */
struct tr_item *tr_queue_add(struct tr_queue *queue, enum tr_item_type type, struct tr_text text,
			     struct tr_call *call);

/* Replaces the text of an item. False: memory is out. */
bool tr_queue_replace(struct tr_queue *queue, struct tr_item *item, struct tr_text text);

/*
 * Where the items take much memory, those that are decided go to a file, in
 * runs between those that are open or have a call.
 */
bool tr_queue_relieve(struct tr_queue *queue, struct tr_error *err);

/* Takes the first item out when it is decided (free it); NULL: there is none. */
struct tr_item *tr_queue_take(struct tr_queue *queue);

/* The next item of a run: type and text, which is good until the next call. TR_END. */
enum tr_status tr_queue_read(struct tr_queue *queue, struct tr_item *run, struct tr_item *item,
			     struct tr_error *err);

/* With its row; not its call. */
void tr_item_free(struct tr_item *item);

/* With its items, of which none has a call. */
void tr_queue_free(struct tr_queue *queue);

/* tr_filter_call.c: an enter whose leave has not come. */
struct tr_call {
	struct tr_call *before, *behind; /* in the order of the enters */
	unsigned kinds;			 /* call_kind.h, where a set is to know them */
	enum tr_match match;
	bool awaited;		 /* the leave may still come */
	bool kept;		 /* written or counted: the leave follows */
	struct tr_item *item;	 /* while the enter is in the queue */
	struct tr_record record; /* the enter, from the item; only of an open one */
	size_t key_len;
	char key[]; /* task and seq */
};

struct tr_calls {
	struct tr_map by_key;
	struct tr_call *first, *last;
	size_t open_bytes; /* of the lines of open enters */
	bool told_many;
	struct tr_arena arena; /* for judging one of them */
};

/* tr_filter_sets.c: --calls and --frames, and where in the segment we are. */
struct tr_call_sets {
	bool has_calls, has_frames;
	struct tr_call_set calls, wanted; /* numbers of calls, of frames */
	uint64_t next_call;	    /* follows the largest number of a call so far */
	uint64_t frame;		    /* that a call belongs to which returns now */
	uint64_t frames;	    /* that have calls; in several traces the most of any */
	bool met_frames;	    /* some call is of the wanted frames */
	enum tr_call_set_rest rest; /* what is wanted of this frame and those to come */
};

enum tr_definitions_mode { TR_DEFINITIONS_USED, TR_DEFINITIONS_ALL, TR_DEFINITIONS_NONE };

enum tr_record_sort { TR_SORT_PLAIN, TR_SORT_CONTEXT, TR_SORT_ENTER, TR_SORT_LEAVE };

struct tr_filter {
	struct tr_cli *cli;

	/* what is wanted */
	const char *operand; /* the expression, where getopt took it for an option; NULL: not */
	struct tr_expr **exprs;
	struct tr_expr_state **states;
	size_t expr_count;
	bool has_expression; /* -e or --expr-file */
	const char *since, *until; /* NULL: not given; with one the first operand may be a file */
	size_t bounds;		   /* of exprs, the first so many are of --since and --until */
	bool invert, count_only, raw, nul;
	enum tr_field_side side;
	bool limited; /* -m */
	uint64_t limit;
	struct tr_field_list *fields;
	const char *root; /* --tree */
	bool found_root;  /* some record is of the tree */
	struct tr_call_sets sets;
	bool rebases; /* --rebase */
	bool merges;  /* --merge */
	enum tr_definitions_mode definitions_mode;
	bool no_context;
	bool named[TR_CONTEXT_KINDS]; /* context kinds that an expression speaks of */
	bool unknown_kinds;	      /* an expression names some: see tr_expr_saw_kind */
	bool needs_start;	      /* an expression wants the time of the first record */
	bool left_rest;		      /* of some file the rest was not read */
	bool gave_up;		      /* an expression lost too much time: nothing more is read */
	struct tr_computed *computed; /* NULL: nothing asks for computed fields */
	struct tr_sieve *sieve;	      /* what columns tell; NULL: there is none */
	struct tr_text always[TR_CONTEXT_KINDS + 2]; /* kinds that the sieve lets through */

	/* --merge: all segments */
	struct tr_merge *merge; /* NULL: there is none */
	uint64_t merge_errors;	/* of trailers, and of what could not be merged */
	bool merge_truncated;

	/* the segment */
	bool has_header, has_records, any_kept;
	uint64_t left_out_before; /* by the sieve, before the segment */
	uint64_t written;	  /* records that went out, as a trailer counts them */
	struct tr_queue pending;  /* context, until a record is kept */
	struct tr_definitions definitions;
	struct tr_task_tree tree;
	struct tr_rebase rebase;
	struct tr_calls calls;
	struct tr_queue queue;

	uint64_t selected; /* in all segments */
	uint64_t waiting;  /* that are in the queue and will be selected */
	size_t owed;	   /* leaves that have not come, of enters that went out */
	struct tr_buffer text, key;
};

/* tr_filter_run.c: reads all operands and writes what is selected. */
void tr_filter_run(struct tr_filter *filter);

/* tr_filter_judge.c */

/* Finds out which context kinds the expressions name: those are plain from then on. */
void tr_filter_name_kinds(struct tr_filter *filter);
/* Prepares computed fields, if anything asks for one. */
bool tr_filter_begin_computed(struct tr_filter *filter);
/* Lets the reader leave out what surely is not selected, where nobody else has to see it. */
void tr_filter_make_sieve(struct tr_filter *filter);

/* What expressions have to know of every record that the sieve did not leave out. */
void tr_filter_look_at(struct tr_filter *filter, const struct tr_record *record);

/* At the end: fields, kinds and the task that are asked for and that no record has. */
void tr_filter_note_unseen(struct tr_filter *filter);

enum tr_record_sort tr_filter_sort(const struct tr_filter *filter, const struct tr_record *record);

/* What -v makes of all expressions and of --tree. Reports what is bad in the record. */
enum tr_match tr_filter_judge(struct tr_filter *filter, struct tr_record *record,
			      struct tr_record *leave, bool open, bool in_tree);

/* tr_filter_emit.c: what is decided goes out. False: stop. */

/* -m has all it wants. */
bool tr_filter_full(const struct tr_filter *filter);

/* It will have all that it wants, out of what waits. */
bool tr_filter_sated(const struct tr_filter *filter);

/* Lines are written, neither rows nor a count. */
bool tr_filter_writes_lines(const struct tr_filter *filter);

/* The taker of the sieve (sieve.h), where no limit and no fields are asked for. */
bool tr_filter_take(struct tr_sieve *sieve, struct tr_text line,
		    const struct tr_columns *columns);

/* Behind what waits, or at once. Takes call over when type is TR_ITEM_LEAVE. */
bool tr_filter_emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		    struct tr_call *call);

/* After something was put into the queue. */
bool tr_filter_relieve(struct tr_filter *filter);

/* What the queue has that is decided. */
bool tr_filter_drain(struct tr_filter *filter);

/* Reports it; always false. */
bool tr_filter_out_of_memory(struct tr_filter *filter);

/* tr_filter_render.c */

/* The line as it came, or as the record was built. False: it cannot be written, or stop. */
bool tr_filter_line_of(struct tr_filter *filter, struct tr_record *record, struct tr_text *line);

/* What is written for the record: the row of --fields, its line, nothing for -c. False: cannot be.
 */
bool tr_filter_render(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave,
		      struct tr_text *text);

/* tr_filter_rebase.c: False: stop. */

/* Every record has to come by. */
bool tr_filter_follow_rebase(struct tr_filter *filter, struct tr_record *record);

/* The line of the record that came by last, with envtop where it is an exec. */
bool tr_filter_rebase(struct tr_filter *filter, const struct tr_record *record,
		      struct tr_text *line);

/* The exec record that came by last is selected, and waits in the queue. */
bool tr_filter_hold_exec(struct tr_filter *filter, const struct tr_record *record,
			 struct tr_text line);

/* Nobody comes any more for whom somebody could wait. */
bool tr_filter_settle_rebase(struct tr_filter *filter);

/* tr_filter_call.c: False: stop. */
bool tr_filter_enter(struct tr_filter *filter, struct tr_record *record, bool in_tree);
bool tr_filter_leave(struct tr_filter *filter, struct tr_record *record, bool in_tree);

/* A call has returned and was judged: decides what is open, where another frame tells more of it. */
bool tr_filter_returned(struct tr_filter *filter, unsigned kinds);

/* No leave, and no parent, will come any more: decides what is open. */
bool tr_filter_end_calls(struct tr_filter *filter);

/* tr_filter_merge.c: False: stop. */
bool tr_filter_merge_begin(struct tr_filter *filter);
bool tr_filter_merge_line(struct tr_filter *filter, struct tr_record *record);
bool tr_filter_merge_end(struct tr_filter *filter); /* writes the one trace */
void tr_filter_merge_free(struct tr_filter *filter);

/* tr_filter_sets.c */

/* Adds to --frames or --calls. False: the usage error is printed. */
bool tr_filter_add_set(struct tr_filter *filter, bool frames, const char *text);
bool tr_filter_has_sets(const struct tr_filter *filter);
void tr_filter_free_sets(struct tr_filter *filter);

/* A segment begins. */
void tr_filter_begin_frames(struct tr_filter *filter);

/* What the sets need to know of a call; 0 where there are none. */
unsigned tr_filter_call_kinds(const struct tr_filter *filter, const struct tr_record *record);

/* Whether the record is of a call in the sets; open: its leave may still come. */
enum tr_match tr_filter_in_sets(struct tr_filter *filter, const struct tr_record *record,
				bool open);

/* A call has returned: another frame may begin. True: that tells of open calls what it did not. */
bool tr_filter_end_frame(struct tr_filter *filter, unsigned kinds);

/* Nothing that follows in this file can be in the sets. */
bool tr_filter_past_sets(const struct tr_filter *filter);

#endif
