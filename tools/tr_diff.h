/* SPDX-License-Identifier: MIT */
/*
 * tr-diff. The path of the data:
 *
 *	tr_diff.c         the options; reads both traces, aligns them (lib/diff) and visits each
 *	                  difference
 *	tr_diff_show.c    prints a difference as text, JSON or records
 *	tr_diff_frames.c  counts the frames that contain differences
 *	tr_diff_files.c   --files: adds the inputs and outputs of programs
 *	tr_diff_hint.c    suggests --root
 */
#ifndef TR_TOOLS_TR_DIFF_H
#define TR_TOOLS_TR_DIFF_H

#include "cli.h"
#include "coverage/block.h"
#include "diff/diff.h"
#include "record/calls.h"

enum tr_diff_what { TR_DIFF_REMOVED, TR_DIFF_ADDED, TR_DIFF_CHANGED, TR_DIFF_MOVED };

struct tr_difference {
	enum tr_diff_what what;
	uint32_t a, b; /* numbers of the records; TR_ALIGN_NONE: there is none on this side */
};

struct tr_diff_files; /* below */

enum tr_diff_form { TR_DIFF_TEXT, TR_DIFF_BRIEF, TR_DIFF_SUMMARY, TR_DIFF_JSON, TR_DIFF_TREC };

/* A record of one side that is printed. */
struct tr_shown {
	struct tr_text line;
	struct tr_record record;
	struct tr_arena arena;
	struct tr_normal *normal; /* of its side */
};

/* A change that may be the same in several records. */
struct tr_diff_pattern {
	uint64_t hash;
	uint32_t count;
	bool shown;
};

/* A field that differs; NULL: the record of that side has none. */
struct tr_diff_field {
	const struct tr_normal_field *a, *b;
};

struct tr_diff_show {
	struct tr_cli *cli;
	struct tr_diff *diff;
	struct tr_diff_files *files; /* NULL: they are not compared */
	enum tr_diff_form form;
	bool color;
	struct tr_diff_pattern *patterns;
	size_t pattern_count, pattern_cap;
	struct tr_index pattern_index;
	/*
	 * of text: the pattern of each record that changed, in their order, which is visited twice
	 */
	uint32_t *changed;
	size_t changed_count, changed_cap, shown_count;
	struct tr_shown sides[2];
	struct tr_diff_field *fields; /* that differ between the records of both sides */
	size_t field_count, field_cap;
	const char *env_unknown; /* why their environments are not compared; NULL: they are */
	bool counting;		 /* changes are not shortened */
	bool own; /* changes are spelled as in the traces, otherwise as they are compared */
	struct tr_buffer text, changes;
	struct tr_buffer
		program; /* of an exit record: the name cell of its program, if it is known */
};

/*
 * Counts a change, so that text shows it once if several records have it: before all differences
 * are printed, and in the same order. False: reported.
 */
bool tr_diff_count(struct tr_diff_show *show, const struct tr_difference *difference);

/* Prints a difference. False: reported, or the tool stops. */
bool tr_diff_put_difference(struct tr_diff_show *show, const struct tr_difference *difference);

void tr_diff_show_free(struct tr_diff_show *show);

struct tr_diff_frame {
	uint32_t end : 31; /* the number of the record after the frame */
	uint32_t differs : 1;
};

enum { TR_FRAME_NAMES = 128 };

/* The frames of both traces, 4 bytes for each. Initialise with zeros, and set kinds.ask. */
struct tr_diff_frames {
	struct tr_call_kinds kinds;
	uint64_t others[TR_FRAME_NAMES]; /* hashes of kinds and names of calls that end no frame */
	struct tr_frame_list {
		struct tr_diff_frame *frames;
		size_t count, cap;
	} sides[2];
};

/*
 * Takes an API call; an enter is one that never returned. name: a hash of its kind and name, or 0;
 * count: of the records of its side up to this one. False: memory is exhausted.
 */
bool tr_diff_follow_frames(struct tr_diff_frames *frames, unsigned side,
			   const struct tr_record *record, uint64_t name, size_t count);

/* Marks the frame of a record that differs. */
void tr_diff_mark_frame(struct tr_diff_frames *frames, unsigned side, uint32_t record);

/* Appends a line with the frames that are marked; nothing if there are no frames. */
void tr_diff_put_frames(const struct tr_diff_frames *frames, struct tr_buffer *to);

void tr_diff_frames_free(struct tr_diff_frames *frames);

/*
 * Sets *found to whether --root with two directories would remove most differences, and then sets
 * paths[0] and paths[1] to these. False: err is filled.
 */
bool tr_diff_find_root(struct tr_diff *diff, struct tr_buffer *paths, bool *found,
		       struct tr_error *err);

/*
 * Creates the list of what the programs of both traces read and wrote. Its memory grows with the
 * distinct uses of files. NULL: memory is exhausted.
 */
struct tr_diff_files *tr_diff_files_new(struct tr_diff *diff);
void tr_diff_files_free(struct tr_diff_files *files);

/* Takes a record after tr_diff_put. False: err is filled. */
bool tr_diff_files_put(struct tr_diff_files *files, unsigned side, struct tr_record *record,
		       struct tr_error *err);

/* Completes the list after both traces were read. False: err is filled. */
bool tr_diff_files_finish(struct tr_diff_files *files, struct tr_error *err);

/* True if both traces have calls that concern files; after tr_diff_files_finish. */
bool tr_diff_files_known(const struct tr_diff_files *files);

/*
 * Adds the fields inputs and outputs to the exec record that was read last on a side; see diff.h.
 */
bool tr_diff_files_add(struct tr_diff_files *files, unsigned side, uint32_t number,
		       struct tr_normal *normal);

/*
 * Explains a program that is only in the second trace: appends a line for each of its inputs that
 * was written by a new or changed step, or with `list` a list of these inputs in the spelling of
 * trec. False: memory is exhausted.
 */
bool tr_diff_files_put_reasons(struct tr_diff_files *files, uint32_t number, bool list,
			       struct tr_buffer *to);

#endif
