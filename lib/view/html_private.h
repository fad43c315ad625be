/* SPDX-License-Identifier: MIT */
/* What the files of the page for browsers share. */
#ifndef TR_VIEW_HTML_PRIVATE_H
#define TR_VIEW_HTML_PRIVATE_H

#include "process/forest.h"
#include "process/lineage.h"
#include "record/calls.h"
#include "view/html.h"

/* A run or a call. Times are nanoseconds; without times a record is a microsecond. */
struct tr_html_span {
	int64_t begin, end;
	uint32_t name, ending; /* words */
	uint32_t makes;	       /* the same: the file that a program makes; the first is "" */
	uint32_t lane, level;
	uint32_t parent; /* TR_FOREST_NONE */
};

/* Texts that occur often: each has a number, and is written once. */
struct tr_html_words {
	struct tr_map map;
	struct tr_arena arena;
	struct tr_buffer json; /* the list of them, without brackets */
};

/* False: memory is out. */
bool tr_html_word(struct tr_html_words *words, struct tr_text bytes, uint32_t *number);
void tr_html_words_free(struct tr_html_words *words);

struct tr_html_calls {
	struct tr_map threads; /* struct thread, by task */
	struct tr_map live;    /* calls that have not returned, by task and seq */
	uint64_t frame, count, draws;
	int64_t frame_began;
	bool any;
};

struct tr_html {
	struct tr_html_config config;
	struct tr_output *out;
	struct tr_buffer spans; /* of struct tr_html_span */
	struct tr_html_words names, endings, makes, lanes;
	struct tr_spool *lines; /* a line of JSON for each span */
	uint64_t lines_size;
	struct tr_buffer pending; /* lines on their way */
	struct tr_buffer frames;  /* JSON */
	struct tr_buffer top;	  /* JSON: the first environment */
	uint64_t left;		  /* spans that had no place */
	uint32_t lane_count;

	bool decided, timed; /* whether there are times, by the first record that tells */
	int64_t base, now, latest;
	uint64_t records, segments;
	bool has_calls; /* some span is a call */

	struct tr_forest forest;
	struct tr_lineage *lineage;
	struct tr_buffer environment; /* JSON of the exec record that is being put */
	struct tr_buffer text;	      /* scratch */
	struct tr_html_calls calls;
	struct tr_call_kinds call_kinds;
};

/* html_write.c: false: err is filled, or memory is out (it is prepared to say so). */
bool tr_html_add(struct tr_html *html, const struct tr_html_span *span, struct tr_text line,
		 struct tr_error *err);
/* A lane with this label below those that there are. */
bool tr_html_lane(struct tr_html *html, struct tr_text label, uint32_t *lane);
bool tr_html_write(struct tr_html *html, struct tr_error *err);

/* html_runs.c */
bool tr_html_follow(struct tr_html *html, struct tr_record *record);
bool tr_html_describe(void *context, struct tr_record *record, struct tr_buffer *text);
bool tr_html_runs(struct tr_html *html, struct tr_error *err);

/* html_calls.c */
bool tr_html_call(struct tr_html *html, struct tr_record *record, struct tr_error *err);
bool tr_html_calls_end(struct tr_html *html, struct tr_error *err);
void tr_html_calls_free(struct tr_html_calls *calls);

#endif
