/* SPDX-License-Identifier: MIT */
/*
 * Compares two traces.
 *
 *	tr_diff_put    (side.c) takes each record of the first trace, then of the second: keeps its
 *	               hashes, and writes its line to a spool (core/spool.h); tr_diff_put_blocks
 *	               takes blocks of execution traces, whose lines are spelled when they are read
 *	tr_diff_align  (compare.c) pairs the records of both traces: programs first, because they
 *	               say which process is which, then sets of records (align.c), processes and
 *	               threads (stream.c), and the records of each of these in order (align.c);
 *	               checks that names correspond throughout (rename.c); applies tolerances
 *	               (tolerance.c)
 *	tr_diff_read   reads a record again, to show what differs
 *
 * The match of a record, if it has one, is the record of the other trace that it is paired with.
 * Two matching records have changed if their contents, which are hashes of their normal text
 * (normal.h), differ.
 *
 * Records of a process are paired with those of the matching process in order, those of make in any
 * order, API calls with those of the matching thread; entries of databases, blocks and units with
 * records at any place. Processes match if their programs do: programs of the same name and
 * directory that make the same file or else have the same arguments. Threads, and processes without
 * a program, match if they do the same. The records of a process that is in one trace only are not
 * compared.
 *
 * Memory: 32 bytes for each record, and 16 for each program and each process; while a trace is
 * read, up to 30 more for each program and process, and 4 for each call that make may have made to
 * run its jobs; while both are aligned, up to 28 more for each record, and 71 for each process that
 * called no exec. Not thread safe.
 */
#ifndef TR_DIFF_DIFF_H
#define TR_DIFF_DIFF_H

#include "core/error.h"
#include "core/spool.h"
#include "coverage/block.h"
#include "diff/align.h"
#include "diff/normal.h"
#include "diff/rename.h"
#include "record/record.h"

struct tr_compilers; /* process/compilers.h */
struct tr_makes;     /* process/makes.h */

#define TR_DIFF_NONE INT32_MAX

/*
 * The program of a task from an exec record, or from the fork of the task, to the next exec record.
 */
struct tr_diff_image {
	uint32_t program : 31; /* number of its exec record; for a forked image, the image of the
				* first program after it; TR_DIFF_NONE: there is none */
	uint32_t forked : 1;   /* it begins with a fork, or with the first record of its task */
	uint32_t parent : 31;  /* image that started it; TR_DIFF_NONE: unknown */
	uint32_t ended : 1;    /* its exit record was read */
	uint64_t id : 62;      /* after the programs were paired: equal for matching images */
	uint64_t both : 1;     /* the other trace has an image with this id */
	uint64_t make : 1;     /* it is make (side.c) */
};

/* Where the spools have the new line and names of a record, whose environment was replaced. */
struct tr_diff_rewritten {
	uint32_t number;
	uint64_t line, names;
};

/* One record of so many has the place of its names in the spool noted. */
enum { TR_DIFF_MARK = 64 };

struct tr_diff_side {
	struct tr_diff_record *records;
	size_t count, cap;
	size_t counts[TR_DIFF_CLASSES];
	bool any_named;		/* some record has names that the run chose (struct tr_run_name) */
	bool any_first;		/* a record env has the first environment */
	struct tr_spool *spool; /* lines */
	struct tr_spool_window windows[2]; /* of original lines; of rewritten lines */
	uint64_t lines_end;		   /* where the original lines end in the spool */
	/*
	 * the names of records that have some: their number in both, and hashes; see look_at_names
	 */
	struct tr_spool *names;
	struct tr_spool_window names_window;
	uint64_t
		*marks; /* where the names of every TR_DIFF_MARKth record begin, or of later ones */
	size_t mark_cap;
	uint32_t next_number; /* next_offset: of the names of this record or of later ones */
	uint64_t next_offset;
	struct tr_diff_rewritten *rewritten;
	size_t rewritten_count, rewritten_cap;

	struct tr_diff_image *images;
	size_t image_count, image_cap;
	int64_t *began; /* with --times, for each image: when its process was forked or else called
			 * its first exec; see instant.h */
	size_t began_cap;
	/* state of the segment that is being read */
	bool segment_begins;
	size_t first_image;
	uint64_t *image_seqs; /* the highest seq of the exec records up to each image */
	size_t image_seq_cap;
	struct tr_number_map tasks; /* the last image of each task, by the hash of its name */
	struct tr_id_map seqs; /* 1 + the image of exec records whose seq was not the highest */
	struct tr_id_map ids;  /* by a hash: 1 + the number of a thread, or the hash of a module */
	uint32_t *jobs;	       /* records with which make may have run its jobs */
	size_t job_count, job_cap;

	uint32_t threads, last_thread;
	uint64_t last_task;   /* that of last_thread, */
	bool any_thread;      /* if this is true */
	size_t objects_known; /* the first record that was hashed when all classes were known */
	struct tr_normal normal;
	struct tr_block_speller speller; /* of blocks that are read again */
	struct tr_op_values *ops;	 /* NULL: no block was read yet */
	struct tr_buffer line, scratch;
};

struct tr_diff {
	struct tr_normal_rules rules;
	struct tr_compilers *compilers; /* NULL: the built-in ones; borrowed */
	/*
	 * Appends the user's key (--by) for a record. NULL: there are no such keys. False: the
	 * record has none, or memory is exhausted (to->failed).
	 */
	bool (*key)(void *context, struct tr_record *record, struct tr_buffer *to);
	/*
	 * Adds fields to an exec record that was read, which are compared too; NULL: there are
	 * none. False: memory is exhausted.
	 */
	bool (*add_fields)(void *context, unsigned side, uint32_t number, struct tr_normal *normal);
	void *context;
	uint64_t max_spool;
	double tolerance; /* real numbers are equal if they differ by at most this, */
	uint64_t ulps;	  /* or by at most this many units in the last place */
	double times;	  /* durations are equal up to this factor; 0: they are not compared */
	struct tr_diff_side sides[2];
	struct tr_renames renames; /* after tr_diff_align */
	struct tr_makes *maker;	   /* private: what commands make */
};

/*
 * Before this, the caller sets all members before `sides` except rules.seed; what they point to
 * stays valid until tr_diff_free. False: memory is exhausted.
 */
bool tr_diff_begin(struct tr_diff *diff);

/* Takes the next record of a side, and its line. False: err is filled. */
bool tr_diff_put(struct tr_diff *diff, unsigned side, struct tr_record *record, struct tr_text line,
		 struct tr_error *err);

/*
 * Takes blocks without padding, the first of which has the number seq, as tr_diff_put would take
 * their records, but much faster: they have no lines. Returns how many it took; tr_diff_put takes
 * the others.
 */
size_t tr_diff_put_blocks(struct tr_diff *diff, unsigned side, const struct tr_block *blocks,
			  size_t count, uint64_t seq);

/*
 * Replaces the environment of each exec record without a match by its difference to that of the
 * parent. If only one trace has its first environment in a record, that of its first program is
 * written in full. False: err is filled.
 */
bool tr_diff_compare_environments(struct tr_diff *diff, struct tr_error *err);

/*
 * Leaves out the records of the segment that are not compared, and forgets its tasks, threads,
 * modules and seqs, whose memory is freed.
 */
void tr_diff_end_segment(struct tr_diff_side *side);

/*
 * Hashes the API calls again that were read before all classes of objects were known. False: err is
 * filled.
 */
bool tr_diff_rehash_calls(struct tr_diff *diff, struct tr_error *err);

/* Sets the match of each record, after both traces were read. False: err is filled. */
bool tr_diff_align(struct tr_diff *diff, struct tr_error *err);

/*
 * Reads a record again, and sets the fields of sides[side].normal. Returns its line with the LF.
 * Both are valid until the next call for this side. data NULL: err is filled.
 */
struct tr_text tr_diff_read(struct tr_diff *diff, unsigned side, uint32_t number,
			    struct tr_error *err);

/* As tr_diff_read, but faster: the fields have no normal texts and no names. */
struct tr_text tr_diff_split(struct tr_diff *diff, unsigned side, uint32_t number,
			     struct tr_error *err);

/*
 * Reads a program again, and sets the fields of sides[side].normal to its name, and to argv and cwd
 * if it has them. False: err is filled.
 */
bool tr_diff_read_command(struct tr_diff *diff, unsigned side, uint32_t number,
			  struct tr_error *err);

/* Returns the kind of a record; otherwise as tr_diff_read, whose results become invalid. */
struct tr_text tr_diff_kind(struct tr_diff *diff, unsigned side, uint32_t number,
			    struct tr_error *err);

/*
 * Appends the name cell of the program that ends with an exit record, if it is known. Invalidates
 * the record that was read last. False: err is filled.
 */
bool tr_diff_put_program(struct tr_diff *diff, unsigned side, uint32_t number, struct tr_buffer *to,
			 struct tr_error *err);

/*
 * Sets *names to the hashes of the run's names in a record (64 bits each, not aligned), valid until
 * the next call for this side, and *count to their number. False: err is filled.
 */
bool tr_diff_read_names(struct tr_diff *diff, unsigned side, uint32_t number, const char **names,
			uint64_t *count, struct tr_error *err);

/*
 * Sets the keys of programs without a match that make a file: a hash of their name, directory and
 * file, instead of their arguments. False: err is filled.
 */
bool tr_diff_set_keys(struct tr_diff *diff, struct tr_error *err);

/* True if two fields, of the records that were read last on each side, are equal. */
bool tr_diff_equal_fields(const struct tr_diff *diff, const struct tr_normal_field *a,
			  const struct tr_normal_field *b);

/*
 * As tr_diff_equal_fields, but names must be paired. If names conflict, tr_diff_align counts others
 * as different, although nothing contradicts them.
 */
bool tr_diff_pairs_names(const struct tr_diff *diff, const struct tr_normal_field *a,
			 const struct tr_normal_field *b);

/*
 * Makes the contents of matching records equal if they differ only within the tolerances, and
 * different if their durations or added fields differ. False: err is filled.
 */
bool tr_diff_apply_tolerances(struct tr_diff *diff, struct tr_error *err);

void tr_diff_free(struct tr_diff *diff);

#endif
