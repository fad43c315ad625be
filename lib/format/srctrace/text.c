/* SPDX-License-Identifier: MIT */
/*
 * Source traces as gnatcov's dump-src-trace prints them, byte for byte: the date as its eight
 * bytes, and neither alignment nor byte order nor version. Records of other kinds are not shown.
 */
#include "format/srctrace/srctrace.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "record/ask.h"

struct text {
	struct tr_output *out;
	struct tr_buffer entry; /* composed before it is shown, because a field may be missing */
	bool in_info;		/* information was shown last: an empty line is due */
};

static void *create(const struct tr_text_config *config, struct tr_output *out,
		    struct tr_error *err)
{
	struct text *text = calloc(1, sizeof *text);

	(void)config;
	if (text)
		text->out = out;
	else
		tr_error_memory(err);
	return text;
}

static void destroy(void *view)
{
	struct text *text = view;

	tr_buffer_free(&text->entry);
	free(text);
}

/* Reports an entry that cannot be shown. */
static enum tr_status wrong(struct tr_error *err, const char *key, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "not shown: %s: %s", key, what);
	return TR_WARN;
}

/* Finds a field of that type. TR_WARN: it is missing or has another type. */
static enum tr_status need(struct tr_record *record, const char *key, enum tr_type type,
			   const struct tr_value **value, struct tr_error *err)
{
	struct tr_error why;
	enum tr_status status = tr_field_need(record, key, type, value, &why);

	if (status == TR_FATAL)
		return tr_error_memory(err);
	if (status != TR_OK)
		tr_error_set(err, TR_CAUSE_INPUT, "not shown: %s", why.text);
	return status;
}

/* Appends a name in gnatcov's spelling: "Program_Name" for PROGRAM_NAME. */
static void put_kind(struct tr_text name, struct tr_buffer *to)
{
	bool first = true;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool upper = c >= 'A' && c <= 'Z';
		tr_buffer_put_byte(to, upper && !first ? (char)(c | 0x20) : c);
		first = !upper;
	}
}

/*
 * Appends the line of an information entry. Its bytes are printed as they are, even those of a
 * date.
 */
static enum tr_status put_info(struct text *text, struct tr_record *record, struct tr_error *err)
{
	const struct tr_value *data;
	enum tr_status status = need(record, "data", TR_STRING, &data, err);

	if (status != TR_OK)
		return status;
	struct tr_text bytes = tr_string_bytes(data->text, record->arena);
	if (!bytes.data)
		return tr_error_memory(err);
	tr_buffer_put_literal(&text->entry, "Info ");
	if (record->name.type == TR_CELL_TEXT)
		put_kind(record->name.text, &text->entry);
	else
		tr_cell_write(&record->name, &text->entry);
	tr_buffer_put_literal(&text->entry, ": ");
	tr_buffer_put_text(&text->entry, bytes);
	tr_buffer_put_byte(&text->entry, '\n');
	return TR_OK;
}

/* Appends the name of a unit's source file. */
static enum tr_status put_name(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_text name = TR_TEXT("");

	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "name", "a unit without a file name");
	if (!tr_cell_bytes(record->name.text, record->arena, &name, err))
		return tr_error_status(err);
	tr_buffer_put_literal(to, "Unit ");
	tr_buffer_put_text(to, name);
	return TR_OK;
}

/* Appends the fingerprints. */
static enum tr_status put_hashes(struct tr_record *record, struct tr_buffer *to,
				 struct tr_error *err)
{
	static const struct {
		const char *key, *before;
	} hashes[] = { { "scos", " (SCOs hash=" },
		       { "bit_maps", ", bit maps hash=" },
		       { "annotations", ", annotations hash=" } };

	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
		const struct tr_value *hash;
		if (i == 2 && !tr_record_field(record, hashes[i].key))
			break; /* version 2 has none */
		enum tr_status status = need(record, hashes[i].key, TR_STRING, &hash, err);
		if (status != TR_OK)
			return status;
		tr_buffer_put_text(to, tr_text_from(hashes[i].before));
		tr_buffer_put_text(to, hash->text);
	}
	tr_buffer_put_literal(to, ")\n");
	return TR_OK;
}

/* Appends "[0-36] 0 3 6": the range of the bits, and those that are set. */
static enum tr_status put_bits(struct tr_record *record, const char *count_key, const char *key,
			       struct tr_buffer *to, struct tr_error *err)
{
	const struct tr_value *count;
	enum tr_status status = need(record, count_key, TR_UINT, &count, err);
	struct tr_field *field = tr_record_field(record, key);
	struct tr_numbers bits;
	struct tr_error why;
	uint64_t bit;

	if (status != TR_OK)
		return status;
	if (!field)
		return wrong(err, key, "the field is missing");
	status = tr_numbers_begin(&bits, record, field, &why);
	if (status != TR_OK)
		return status == TR_FATAL ? tr_error_memory(err) : wrong(err, key, why.text);
	if (count->as.number) {
		tr_buffer_put_literal(to, "[0-");
		tr_buffer_put_decimal(to, count->as.number - 1);
		tr_buffer_put_byte(to, ']');
	} else {
		tr_buffer_put_literal(to, "[empty range]");
	}
	size_t before = to->len;
	while ((status = tr_numbers_next(&bits, &bit)) == TR_OK) {
		tr_buffer_put_byte(to, ' ');
		tr_buffer_put_decimal(to, bit);
	}
	if (to->len == before)
		tr_buffer_put_literal(to, " <empty>");
	tr_buffer_put_byte(to, '\n');
	return status == TR_WARN ? wrong(err, key, "an element is not a number") : TR_OK;
}

/* Appends the lines of a unit. The first one after information has an empty line before it. */
static enum tr_status put_unit(struct text *text, struct tr_record *record, struct tr_error *err)
{
	static const struct {
		const char *title, *count_key, *key;
	} buffers[] = { { "Statement buffer: ", "statement_bits", "statements" },
			{ "Decision buffer:  ", "decision_bits", "decisions" },
			{ "MCDC buffer:      ", "mcdc_bits", "mcdc" } };
	struct tr_buffer *to = &text->entry;

	if (text->in_info)
		tr_buffer_put_byte(to, '\n');
	enum tr_status status = put_name(record, to, err);
	if (status == TR_OK)
		status = put_hashes(record, to, err);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers && status == TR_OK; i++) {
		tr_buffer_put_text(to, tr_text_from(buffers[i].title));
		status = put_bits(record, buffers[i].count_key, buffers[i].key, to, err);
	}
	tr_buffer_put_byte(to, '\n');
	return status;
}

/* Shows one record, if its text can be composed; NULL: the end of the stream. */
static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	struct text *text = view;

	if (!record)
		return TR_OK;
	bool unit = tr_text_is(record->kind, "unit");

	if (record->type == TR_HEADER)
		text->in_info = false;
	if (record->type != TR_RECORD)
		return TR_OK;
	if (!unit && !tr_text_is(record->kind, "info"))
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	tr_buffer_reset(&text->entry);
	enum tr_status status = unit ? put_unit(text, record, err) : put_info(text, record, err);
	if (text->entry.failed)
		return tr_error_memory(err);
	if (status != TR_OK)
		return status;
	text->in_info = !unit;
	tr_output_put_text(text->out, tr_buffer_text(&text->entry));
	tr_output_record_end(text->out);
	return TR_OK;
}

/* Whether the first record of a stream is one of a source trace. */
static bool begins(const struct tr_record *first)
{
	return tr_text_is(first->kind, "unit") ||
	       (tr_text_is(first->kind, "info") && first->name.type == TR_CELL_TEXT &&
		tr_text_is(first->name.text, "PROGRAM_NAME"));
}

static const char *const kinds[] = { "unit", NULL };

const struct tr_text_style tr_srctrace_styles[] = {
	{
		.name = "gnatcov-src",
		.help = "the output of gnatcov dump-src-trace",
		.shows = "source units",
		.kinds = kinds,
		.begins = begins,
		.create = create,
		.put = put,
		.free = destroy,
	},
	{ 0 },
};
