/*
 * JSON views of records (tr-tojson(1)): one object per record, for people's
 * scripts. What JSON cannot hold is shown, not kept: see format/json for the
 * typed form that comes back.
 */
#ifndef TR_VIEW_JSON_RECORDS_H
#define TR_VIEW_JSON_RECORDS_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_json_view;

struct tr_json_view_config {
	bool array;  /* one JSON array instead of JSON Lines */
	bool pretty; /* indented by two blanks */
};

struct tr_json_view *tr_json_view_new(const struct tr_json_view_config *config,
				      struct tr_output *out);

/* Definitions, headers, trailers and comments are not shown. TR_WARN: a field is bad, err filled. */
enum tr_status tr_json_view_put(struct tr_json_view *view, struct tr_record *record,
				struct tr_error *err);

/* Closes the array. */
void tr_json_view_finish(struct tr_json_view *view);
void tr_json_view_free(struct tr_json_view *view);

#endif
