/* SPDX-License-Identifier: MIT */
/*
 * tr-diff. The path of the data: tr_diff.c has the options, reads both traces (lib/diff) and visits
 * what differs; tr_diff_show.c shows a difference as text, JSON or records, tr_diff_frames.c
 * counts the frames in which there are any, tr_diff_files.c knows who read and wrote which file, and
 * tr_diff_hint.c suggests --root.
 */
#ifndef TR_TOOLS_TR_DIFF_H
#define TR_TOOLS_TR_DIFF_H

#include "cli.h"
#include "diff/diff.h"
#include "record/calls.h"

enum tr_diff_what { TR_DIFF_REMOVED, TR_DIFF_ADDED, TR_DIFF_CHANGED, TR_DIFF_MOVED };

struct tr_difference {
	enum tr_diff_what what;
	uint32_t a, b; /* numbers of the records; TR_ALIGN_NONE */
};

struct tr_diff_files; /* below */

enum tr_diff_form { TR_DIFF_TEXT, TR_DIFF_BRIEF, TR_DIFF_SUMMARY, TR_DIFF_JSON, TR_DIFF_TREC };

/* A record that is shown. */
struct tr_shown {
	struct tr_text line;
	struct tr_record record;
	struct tr_arena arena;
	struct tr_normal *normal; /* of its side */
};

/* A change that records have in common. */
struct tr_diff_pattern {
	uint64_t hash;
	uint32_t count;
	bool shown;
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
	struct tr_shown sides[2];
	bool own; /* changes are composed as the traces spell them, otherwise as they are compared */
	struct tr_buffer text, changes;
	struct tr_buffer
		program; /* cell of the program that ends; empty: unknown, or another record */
};

/* Counts a change that several records may share. False: reported. */
bool tr_diff_count(struct tr_diff_show *show, const struct tr_difference *difference);

/* Shows a difference. False: reported, or a stop. */
bool tr_diff_put_difference(struct tr_diff_show *show, const struct tr_difference *difference);

void tr_diff_show_free(struct tr_diff_show *show);

struct tr_diff_frame {
	uint32_t end : 31; /* the number of the record after its last one */
	uint32_t differs : 1;
};

/* The frames of both traces; 4 bytes for each. Set kinds.ask, the rest zero. */
struct tr_diff_frames {
	struct tr_call_kinds kinds;
	struct tr_frame_list {
		struct tr_diff_frame *frames;
		size_t count, cap;
	} sides[2];
};

/* Takes an API call of a side, of which there are `count` with it. False: memory is exhausted. */
bool tr_diff_follow_frames(struct tr_diff_frames *frames, unsigned side,
			   const struct tr_record *record, size_t count);

/* Marks the frame of a record that differs. */
void tr_diff_mark_frame(struct tr_diff_frames *frames, unsigned side, uint32_t record);

/* Appends a line that says which frames are marked; none if there are no frames. */
void tr_diff_put_frames(const struct tr_diff_frames *frames, struct tr_buffer *to);

void tr_diff_frames_free(struct tr_diff_frames *frames);

/*
 * Sets *found if --root with two directories would make most differences go away, and then
 * paths[0] and paths[1] to these. False: err is filled.
 */
bool tr_diff_find_root(struct tr_diff *diff, struct tr_buffer *paths, bool *found,
		       struct tr_error *err);

/*
 * What the programs of both traces read and wrote: memory grows with distinct uses of files. NULL:
 * memory is exhausted.
 */
struct tr_diff_files *tr_diff_files_new(struct tr_diff *diff);
void tr_diff_files_free(struct tr_diff_files *files);

/* Takes a record that tr_diff_put has taken. False: err is filled. */
bool tr_diff_files_put(struct tr_diff_files *files, unsigned side, struct tr_record *record,
		       struct tr_error *err);

/* After both traces. False: err is filled. */
bool tr_diff_files_finish(struct tr_diff_files *files, struct tr_error *err);

/* True if both traces have calls that concern files; after tr_diff_files_finish. */
bool tr_diff_files_known(const struct tr_diff_files *files);

/* Adds fields to an exec record that was read last, valid until the next call for its side. */
bool tr_diff_files_add(struct tr_diff_files *files, unsigned side, uint32_t number,
		       struct tr_normal *normal);

/*
 * Appends a line for each input of a program that is only in the second trace, if what wrote it is
 * new or has changed; or a list of all of these, as trec spells it. False: memory is exhausted.
 */
bool tr_diff_files_put_reasons(struct tr_diff_files *files, uint32_t number, bool list,
			       struct tr_buffer *to);

#endif
