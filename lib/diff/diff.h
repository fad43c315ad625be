/* SPDX-License-Identifier: MIT */
/*
 * Two traces, and what differs between them.
 *
 *	tr_diff_put     (side.c) every line of one trace, then of the other: hashes are kept, lines
 *	                and the hashes of names go to a spool (core/spool.h)
 *	tr_diff_align   (compare.c) finds for each record its partner in the other trace
 *	tr_diff_settle  (tolerance.c) what counts as equal though its text differs, and the reverse
 *	tr_diff_read    a record again, to show what differs
 *
 * Records of processes are compared within their process, calls within their thread; entries of
 * databases, blocks and units wherever they are. A process is known by its program, and by the file
 * that it makes or its directory and arguments, or else, as threads are, by what it does (stream.h);
 * after that the rest of both traces is compared process by process. What a process did that is in one
 * trace only is not compared.
 *
 * Memory: 32 bytes for each record, and 16 for each program and each process; while a trace is read, up
 * to 30 more for each of these, and while both are aligned, up to 28 more for each record, and 71 for
 * each process that called no exec. Not thread safe.
 */
#ifndef TR_DIFF_DIFF_H
#define TR_DIFF_DIFF_H

#include "core/error.h"
#include "core/spool.h"
#include "diff/align.h"
#include "diff/normal.h"
#include "diff/rename.h"
#include "record/record.h"

struct tr_compilers; /* process/compilers.h */

#define TR_DIFF_NONE INT32_MAX

/* A program that runs in a task: from its exec record, or the fork of the task, to the next exec. */
struct tr_diff_image {
	uint32_t program : 31; /* number of its exec record; if it was forked, the image of its
				* first program; TR_DIFF_NONE: it has none */
	uint32_t forked : 1;
	uint32_t parent : 31; /* image; TR_DIFF_NONE: unknown */
	uint32_t ended : 1;   /* its exit record was read */
	uint64_t id : 63;     /* the same for partners; while a trace is read, a hash of the task */
	uint64_t both : 1;    /* the other trace has an image with this id */
};

/* The line of a record that was changed, at the end of the spool. */
struct tr_diff_rewritten {
	uint32_t number;
	uint64_t offset;
};

struct tr_diff_side {
	struct tr_diff_record *records;
	size_t count, cap;
	size_t counts[TR_DIFF_CLASSES];
	bool any_named; /* some record has names that the run chose */
	struct tr_spool *spool;
	struct tr_spool_window windows[2]; /* of lines as they were read; of those rewritten */
	uint64_t lines_end;		   /* where the first ones end in the spool */
	struct tr_diff_rewritten *rewritten;
	size_t rewritten_count, rewritten_cap;

	struct tr_diff_image *images;
	size_t image_count, image_cap;
	int64_t *began; /* with --times: when the process of an image was forked, or called its
			 * first exec; see instant.h */
	size_t began_cap;
	/* of the segment that is read */
	bool segment_begins;
	size_t first_image;
	uint64_t *image_seqs; /* of its exec record, or of the last one before it; it never falls */
	size_t image_seq_cap;
	struct tr_index tasks;	/* the last image of each */
	struct tr_id_map seqs;	/* 1 + the image of exec records whose seq is not the highest one */
	struct tr_id_map names; /* by a hash: 1 + the number of a thread; the hash of a module */

	uint32_t threads;
	size_t objects_known; /* the first record that was read with all classes of objects */
	struct tr_normal normal;
	struct tr_buffer line, scratch;
};

struct tr_diff {
	struct tr_normal_rules rules;
	struct tr_compilers *compilers; /* NULL: those that are built in; borrowed */
	/*
	 * Appends the key that the user chose for a record; NULL: none. False: the record has no
	 * such key, or memory is exhausted (to->failed).
	 */
	bool (*key)(void *context, struct tr_record *record, struct tr_buffer *to);
	/*
	 * Adds fields to a program that was read: what is compared of it besides its record; NULL:
	 * nothing. False: memory is exhausted.
	 */
	bool (*add_fields)(void *context, unsigned side, uint32_t number, struct tr_normal *normal);
	void *context;
	uint64_t max_spool;
	double tolerance; /* real numbers are equal if they differ by at most this much, */
	uint64_t ulps;	  /* or by at most so many numbers of their width */
	double times;	  /* durations differ beyond this factor; 0: they are not compared */
	struct tr_diff_side sides[2];
	struct tr_renames renames; /* after tr_diff_align */
};

/*
 * The caller has set all members before `sides`, except rules.seed, and keeps what they point to.
 * False: memory is exhausted.
 */
bool tr_diff_begin(struct tr_diff *diff);

/* line: of the record. False: err is filled. */
bool tr_diff_put(struct tr_diff *diff, unsigned side, struct tr_record *record, struct tr_text line,
		 struct tr_error *err);

/*
 * Makes the environment of each program without a partner the difference to that of its parent.
 * False: err is filled.
 */
bool tr_diff_compare_environments(struct tr_diff *diff, struct tr_error *err);

/* Forgets what the ids mean that were in the lines of a side, and frees the memory for that. */
void tr_diff_forget_ids(struct tr_diff_side *side);

/*
 * Reads calls again that came before the classes of objects were known which they use. False: err is
 * filled.
 */
bool tr_diff_learn_objects(struct tr_diff *diff, struct tr_error *err);

/* After both traces. False: err is filled. */
bool tr_diff_align(struct tr_diff *diff, struct tr_error *err);

/*
 * Reads a record again: its fields are in sides[side].normal then. Returns its line with the LF. Both
 * are valid until the next call for this side. data NULL: err is filled.
 */
struct tr_text tr_diff_read(struct tr_diff *diff, unsigned side, uint32_t number,
			    struct tr_error *err);

/*
 * Appends the name cell of the program whose process a record ends, if it is known. The last record
 * that was read is not valid any more. False: err is filled.
 */
bool tr_diff_put_program(struct tr_diff *diff, unsigned side, uint32_t number, struct tr_buffer *to,
			 struct tr_error *err);

/*
 * Sets *names to the hashes of the names in a record that the run chose (64 bits each, not aligned),
 * valid until the next call for this side, and *count to their number. False: err is filled.
 */
bool tr_diff_names(struct tr_diff *diff, unsigned side, uint32_t number, const char **names,
		   uint64_t *count, struct tr_error *err);

/*
 * Gives each program without a partner the key by which it is known: its name, directory, and the
 * file that it makes, or its arguments. False: err is filled.
 */
bool tr_diff_set_keys(struct tr_diff *diff, struct tr_error *err);

/* True if two fields of the records that were read last, one of each side, are equal. */
bool tr_diff_equal_fields(const struct tr_diff *diff, const struct tr_normal_field *a,
			  const struct tr_normal_field *b);

/*
 * Makes the contents of partners equal if they differ only by what is tolerated, and different if
 * their durations are. False: err is filled.
 */
bool tr_diff_settle(struct tr_diff *diff, struct tr_error *err);

void tr_diff_free(struct tr_diff *diff);

#endif
