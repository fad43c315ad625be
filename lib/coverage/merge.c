/* SPDX-License-Identifier: MIT */
/*
 * Merges traces. The header of a segment, or its first record, determines its form. A trace whose
 * form is not that of the first one is left out with a message. The form does the rest.
 */
#include "coverage/merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "coverage/merge_private.h"
#include "record/literal.h"

struct tr_merge {
	const struct tr_merge_form *form;    /* of the first trace, and of all that are merged */
	void *self;			     /* of form */
	const struct tr_merge_form *segment; /* of the segment that is read; NULL: not known yet */
	bool skipped;			     /* the segment is of another form */
	bool reported_unknown;		     /* records without a form were reported */
};

void tr_merge_begin(struct tr_merge_lines *lines, const char *kind)
{
	tr_buffer_put_text(&lines->text, tr_text_from(kind));
	tr_buffer_put_byte(&lines->text, '\t');
	tr_buffer_put_decimal(&lines->text, lines->seq++);
	tr_buffer_put_byte(&lines->text, '\t');
}

void tr_merge_end(struct tr_merge_lines *lines)
{
	tr_buffer_put_byte(&lines->text, '\n');
	/* after a failure nothing is written any more, and tr_merge_write returns false */
	if (lines->text.failed)
		return;
	tr_output_put_text(lines->out, tr_buffer_text(&lines->text));
	tr_output_record_end(lines->out);
	lines->text.len = 0;
}

void tr_merge_infos(struct tr_merge_lines *lines, struct tr_text infos)
{
	const char *p = infos.data, *end = p + infos.len, *lf;

	for (; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		tr_merge_begin(lines, "info");
		tr_buffer_put_text(&lines->text, tr_text_span(p, lf));
		tr_merge_end(lines);
	}
}

enum tr_status tr_merge_left_out(struct tr_error *err, const char *reason)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, reason, "left out: %s", reason);
	return TR_WARN;
}

enum tr_status tr_merge_columns(struct tr_record *record, unsigned tabs, struct tr_buffer *scratch,
				struct tr_text *columns, struct tr_error *err)
{
	tr_buffer_reset(scratch);
	enum tr_status status = tr_record_write(record, scratch, err);
	if (status != TR_OK)
		return status;
	*columns = tr_buffer_text(scratch);
	for (const char *p; tabs && (p = memchr(columns->data, '\t', columns->len)); tabs--)
		*columns = tr_text_span(p + 1, columns->data + columns->len);
	return TR_OK;
}

/* Writes a field again. A malformed value is left out. */
static void put_field(struct tr_record *record, struct tr_field *field, struct tr_buffer *to)
{
	struct tr_error ignored;
	const struct tr_value *value = tr_field_value(record, field, &ignored);

	if (!value)
		return;
	tr_field_begin(field->key, to);
	tr_literal_write(value, to);
}

/*
 * Values are parsed and written again, so that equal values of two traces have the same spelling.
 * TR_WARN: a malformed value is left out, and the others are written. Of several fields with the
 * same key the last one counts, so those before a malformed one must not take its place.
 */
enum tr_status tr_merge_fields(struct tr_record *record, const char *const *skip,
			       struct tr_buffer *to, struct tr_error *err)
{
	struct tr_map malformed = TR_MAP_INIT; /* the last malformed field with each key */
	enum tr_status status = TR_OK;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	for (size_t i = 0; i < record->count && status != TR_FATAL; i++) {
		struct tr_field *field = &record->fields[i];
		if ((field->key.data && tr_text_is_among(field->key, skip)) ||
		    tr_field_value(record, field, err))
			continue;
		status = tr_error_status(err);
		if (field->key.data && !tr_map_put(&malformed, field->key, field))
			status = tr_error_memory(err);
	}
	for (size_t i = 0; i < record->count && status != TR_FATAL; i++) {
		struct tr_field *field = &record->fields[i];
		const struct tr_field *last =
			field->key.data ? tr_map_get(&malformed, field->key) : NULL;
		if (!(field->key.data && tr_text_is_among(field->key, skip)) &&
		    !(last && field <= last))
			put_field(record, field, to);
	}
	tr_map_free(&malformed);
	return to->failed ? tr_error_memory(err) : status;
}

enum tr_status tr_merge_header(struct tr_record *header, const char *format, struct tr_buffer *to,
			       struct tr_error *err)
{
	/* fields that describe the file of the first trace, and not the merged trace */
	static const char *const skip[] = { "format", "container", "member", "stream",
					    ".bom",   ".head",	   NULL };

	tr_buffer_put_literal(to, "%trec\t1\tformat=");
	tr_buffer_put_text(to, tr_text_from(format));
	return header ? tr_merge_fields(header, skip, to, err) : TR_OK;
}

struct tr_merge *tr_merge_new(void)
{
	return calloc(1, sizeof(struct tr_merge));
}

void tr_merge_free(struct tr_merge *merge)
{
	if (merge && merge->self)
		merge->form->discard(merge->self);
	if (merge)
		free(merge->self);
	free(merge);
}

/* Finds the form by the format in the header; NULL: there is none, or it cannot be merged. */
static const struct tr_merge_form *form_of_header(struct tr_record *header)
{
	static const struct tr_merge_form *const forms[] = { &tr_merge_blocks, &tr_merge_units,
							     &tr_merge_modules, &tr_merge_sources };
	struct tr_field *format = tr_record_field(header, "format");

	for (size_t i = 0; format && i < sizeof forms / sizeof *forms; i++)
		if (tr_text_is(format->text, forms[i]->format))
			return forms[i];
	return NULL;
}

/* Finds the form by the first record. Only source traces have information without a section. */
static const struct tr_merge_form *form_of_record(struct tr_record *record)
{
	static const struct {
		const char *kind;
		const struct tr_merge_form *form;
	} kinds[] = {
		{ "unit", &tr_merge_units },	      { "info", &tr_merge_units },
		{ "module", &tr_merge_modules },      { "section", &tr_merge_blocks },
		{ "source", &tr_merge_sources },      { "srcline", &tr_merge_sources },
		{ "srcfunction", &tr_merge_sources }, { "srcbranch", &tr_merge_sources },
		{ "block", &tr_merge_blocks },	      { "load", &tr_merge_blocks },
		{ "loadaddr", &tr_merge_blocks },
	};

	if (tr_text_is(record->kind, "block") && tr_record_field(record, "module"))
		return &tr_merge_modules;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(record->kind, kinds[i].kind))
			return kinds[i].form;
	return NULL;
}

/* Begins a segment of that form; header is NULL if it has none. */
static enum tr_status begin_segment(struct tr_merge *merge, const struct tr_merge_form *form,
				    struct tr_record *header, struct tr_error *err)
{
	merge->segment = form;
	if (!merge->form)
		merge->form = form;
	merge->skipped = form != merge->form;
	if (merge->skipped) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: the first trace is %s, and this is not", merge->form->name);
		return TR_WARN;
	}
	if (!merge->self && !(merge->self = calloc(1, form->size)))
		return tr_error_memory(err);
	return form->begin(merge->self, header, err);
}

/* Handles a record of a segment whose form is still unknown. */
static enum tr_status put_unknown(struct tr_merge *merge, struct tr_record *record,
				  struct tr_error *err)
{
	static const char *const context[] = { "meta", "env", "envset", "raw", "lost" };

	for (size_t i = 0; i < sizeof context / sizeof *context; i++)
		if (tr_text_is(record->kind, context[i]))
			return TR_OK;
	if (merge->reported_unknown)
		return TR_OK;
	merge->reported_unknown = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "left out: records of kind %.*s: only gnatcov, srctrace, drcov and lcov can "
		     "be merged",
		     TR_SHOWN(record->kind, 40));
	return TR_WARN;
}

/* Gives a record to the form of its segment, which may be known only now. */
static enum tr_status put_record(struct tr_merge *merge, struct tr_record *record,
				 struct tr_error *err)
{
	if (!merge->segment) {
		const struct tr_merge_form *form = form_of_record(record);
		if (!form)
			return put_unknown(merge, record, err);
		enum tr_status status = begin_segment(merge, form, NULL, err);
		if (status != TR_OK)
			return status;
	}
	return merge->skipped ? TR_OK : merge->form->put(merge->self, record, err);
}

enum tr_status tr_merge_put(struct tr_merge *merge, struct tr_record *record, struct tr_error *err)
{
	if (record->type == TR_RECORD)
		return put_record(merge, record, err);
	if (record->type != TR_HEADER && record->type != TR_TRAILER)
		return TR_OK;
	merge->segment = NULL;
	merge->skipped = false;
	if (record->type != TR_HEADER)
		return TR_OK;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return tr_error_memory(err);
	const struct tr_merge_form *form = form_of_header(record);
	return form ? begin_segment(merge, form, record, err) : TR_OK;
}

bool tr_merge_write(struct tr_merge *merge, uint64_t errors, bool truncated, struct tr_output *out)
{
	struct tr_merge_lines lines = { .out = out, .text = TR_BUFFER_INIT };

	/* without any trace the result is an empty execution trace */
	if (!merge->form)
		merge->form = &tr_merge_blocks;
	if (!merge->self && !(merge->self = calloc(1, merge->form->size)))
		return false;
	merge->form->write(merge->self, &lines);
	tr_trailer_put(lines.seq, errors, truncated, &lines.text);
	tr_merge_end(&lines);
	bool good = !lines.text.failed;
	tr_buffer_free(&lines.text);
	return good;
}
