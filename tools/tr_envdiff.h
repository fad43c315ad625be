/* What the files of tr-envdiff share. The flow is described in tr_envdiff_run.c. */
#ifndef TR_TOOLS_TR_ENVDIFF_H
#define TR_TOOLS_TR_ENVDIFF_H

#include "core/spool.h"
#include "process/env_line.h"

#include "cli.h"

/* tr_envdiff_store.c: lines put aside, in order; a mark goes with each. Zero it. */
struct tr_line_store {
	struct tr_spool *spool; /* NULL: it is empty */
	struct tr_buffer line;	/* the one that is being put in */
	struct tr_spool_window window;
	uint64_t read_at;
	uint64_t count;	       /* of lines that were not read yet */
	struct tr_arena arena; /* of the record that was read last */
	struct tr_record record;
};

/* Appends the record's line. False: reported. */
bool tr_line_store_put(struct tr_line_store *store, struct tr_cli *cli, struct tr_record *record,
		       bool mark);

/* The mark of the next line; there has to be one. False: reported. */
bool tr_line_store_peek(struct tr_line_store *store, struct tr_cli *cli, bool *mark);

/* Takes the next line out; it is good until the next call. NULL: reported. */
struct tr_record *tr_line_store_take(struct tr_line_store *store, struct tr_cli *cli);

void tr_line_store_free(struct tr_line_store *store);

/* tr_envdiff_names.c: --keep, --drop, --mask. */
struct tr_globs {
	struct tr_glob {
		const char *pattern;
		bool used; /* it matched a name */
	} * list;
	size_t count;
};

struct tr_name_globs {
	struct tr_globs keep, drop, mask;
	struct tr_arena arena;
};

/* False: memory is out. */
bool tr_globs_add(struct tr_globs *globs, const char *glob);
bool tr_name_globs_are_set(const struct tr_name_globs *globs);
/* For struct tr_environment_rules; context: the globs. */
bool tr_name_globs_judge(void *context, struct tr_text spelling, bool fold, unsigned *verdict);
/* All input was read: reports the patterns that matched no name. */
void tr_name_globs_report(const struct tr_name_globs *globs, struct tr_cli *cli);
/* Whether the pattern is complete: not empty, and without an open '['. */
bool tr_glob_is_complete(const char *pattern);
void tr_name_globs_free(struct tr_name_globs *globs);

enum tr_input_base { TR_INPUT_PARENT, TR_INPUT_TOP, TR_INPUT_AUTO };

struct tr_comparison;
struct tr_mask;

struct tr_envdiff {
	struct tr_cli *cli;

	/* what is wanted */
	enum tr_telling base;
	enum tr_input_base input_base;
	enum tr_name_case names;
	struct tr_name_globs globs;
	struct tr_comparison *comparison; /* NULL: a filter */
	bool mask_only_names;
	struct tr_mask *mask; /* NULL: values are not searched for */

	struct tr_lineage *lineage;
	struct tr_line_store waiting; /* lines behind an exec whose parent has not come */
	struct tr_heir *first, *last; /* of the exec records among them, which are marked */

	/* --input-base=auto */
	struct tr_lineage *scout;     /* reads against the parent, and counts */
	struct tr_line_store segment; /* until it is known how it is to be read */

	/* the segment */
	bool has_header;
	bool sets_seen;	     /* etrace's */
	uint64_t execs;	     /* exec records */
	uint64_t untold;     /* of them, those of whose environment nothing is known */
	uint64_t kept_whole; /* because nothing else is known to tell a difference to */
	uint64_t added, left_out;
	struct tr_buffer map, line, scratch, top_line;
};

/* tr_envdiff_memory.c: reports it; always false. */
bool tr_envdiff_out_of_memory(struct tr_envdiff *envdiff);

/* tr_envdiff_run.c: reads all operands. */
void tr_envdiff_run(struct tr_envdiff *envdiff);

/* tr_envdiff_filter.c: a line, in order, with its segment's reading known. False: stop. */
bool tr_envdiff_filter_line(struct tr_envdiff *envdiff, struct tr_record *record);

/* No more lines come of this place. */
bool tr_envdiff_filter_end(struct tr_envdiff *envdiff);

/* tr_envdiff_rewrite.c: a record of a segment that tells of environments. False: stop. */
bool tr_envdiff_write_exec(struct tr_envdiff *envdiff, struct tr_record *record,
			   const struct tr_heir *heir);
bool tr_envdiff_write_other(struct tr_envdiff *envdiff, struct tr_record *record);

/* A record that may hold what is to be hidden, in a form that cannot be searched for it. */
bool tr_envdiff_leave_out(struct tr_envdiff *envdiff, struct tr_record *record, const char *why);

/* The env record that a segment lacks. False: reported. */
bool tr_envdiff_render_top(struct tr_envdiff *envdiff, struct tr_environment *env,
			   struct tr_buffer *line);

/* Writes the record, or puts it aside until all masked values are known. False: stop. */
bool tr_envdiff_put(struct tr_envdiff *envdiff, struct tr_record *record);

/* tr_envdiff_mask.c: what --mask means beyond the variables. False: reported. */
bool tr_mask_begin(struct tr_envdiff *envdiff);
void tr_mask_free(struct tr_envdiff *envdiff);

/*
 * The record's masked values are to be searched for; none without envdiff->mask. *unreadable: its
 * environment may hold more of them.
 */
bool tr_mask_collect(struct tr_envdiff *envdiff, struct tr_record *record, bool *unreadable);

/* Puts a record aside that will be written. */
bool tr_mask_put(struct tr_envdiff *envdiff, struct tr_record *record);

/* All values are known. */
bool tr_mask_ready(struct tr_envdiff *envdiff);

/* Appends a spelled value without them. */
bool tr_mask_value(struct tr_envdiff *envdiff, struct tr_text value, struct tr_buffer *to);

/* All values are known: writes what was put aside, and reports what stays. */
void tr_mask_write(struct tr_envdiff *envdiff);

/* tr_envdiff_compare.c */

/* Takes A and B off the operands. NULL: reported. */
struct tr_comparison *tr_comparison_new(struct tr_envdiff *envdiff);
void tr_comparison_free(struct tr_envdiff *envdiff);
bool tr_comparison_line(struct tr_envdiff *envdiff, struct tr_record *record);
bool tr_comparison_end(struct tr_envdiff *envdiff); /* of a place */
void tr_comparison_print(struct tr_envdiff *envdiff);

#endif
