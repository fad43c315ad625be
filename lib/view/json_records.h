/* SPDX-License-Identifier: MIT */
/*
 * JSON views of records (tr-tojson(1)): one object for each record, for scripts. Values that JSON
 * cannot hold are shown in a form that cannot be read back; format/json has one that can.
 *
 * An object has the columns first, always all five: kind, seq (a number where
 * every JSON tool keeps it, else a string), time, task, name (strings); an
 * absent one is null. Then the fields:
 *
 *  - of most kinds each as a key of its own;
 *  - of call, enter, leave and sys, whose keys come from the traced program, under "args"; keys
 *    that trec defines (.flags, .bt) are beside it;
 *  - fields after the arrow under "results", but `return` beside it. "results" is present, perhaps
 *    empty, exactly if the record has an arrow;
 *  - the frames of .bt under "backtrace", as the stream defines them.
 *
 * A field that cannot have a key of its own is a [KEY,VALUE] pair under "more", so that no object
 * here repeats a key: its name is that of a column or one of the above, or it is repeated and not
 * the last.
 *
 *	integer             number; beyond +-(2^53-1) a string
 *	address             "0x7ffe"
 *	real                number; "inf" "-inf" "nan"
 *	string              string; {"$bytes":"BASE64"} where it is not UTF-8 (lone surrogates too)
 *	cut string, list    {"$cut":VALUE}
 *	wide string         string; {"$wide":"as trec spells it"} where it is no Unicode
 *	blob                {"$bytes":"BASE64"}; left out or kept in a file:
 *	                    {"$blob":{"length":N,"sha256":"…"}}
 *	symbol              its names: "GL_LINES", "O_RDWR|O_CREAT|0x4"; without a name the
 *	                    number of an enum, the "0x…" of a mask
 *	list                array
 *	map, structure      object; repeated keys are repeated
 *	human and machine   the human form
 *	no value at all     {"$raw":"the text"}, and it is reported
 *
 * Keys that are not UTF-8 keep their spelling in trec; a column without '=' is
 * {"$raw":"the text"} under "more".
 *
 *	record -> arrange_fields: the place of each field -> put_object: compact text -> indent -> output
 */
#ifndef TR_VIEW_JSON_RECORDS_H
#define TR_VIEW_JSON_RECORDS_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_json_view;

struct tr_json_view_config {
	bool computed; /* adds the computed fields (computed.h) that the record has no key for */
	unsigned (*call_kinds)(struct tr_text name); /* with computed: as in struct tr_format */
	bool array;				     /* one JSON array instead of JSON Lines */
	bool pretty;				     /* indented by two blanks */
};

/* Borrows out. NULL: memory is exhausted. */
struct tr_json_view *tr_json_view_new(const struct tr_json_view_config *config,
				      struct tr_output *out);

/*
 * Shows a record; other lines of the stream have no object. TR_OK. TR_WARN: the object was written,
 * but part of the record is not valid trec; err describes the first such part. TR_FATAL: memory is
 * exhausted, and nothing was written.
 */
enum tr_status tr_json_view_put(struct tr_json_view *view, struct tr_record *record,
				struct tr_error *err);

/* Closes the array. */
void tr_json_view_finish(struct tr_json_view *view);
void tr_json_view_free(struct tr_json_view *view);

#endif
