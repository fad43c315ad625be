/* SPDX-License-Identifier: MIT */
/*
 * Writes typed JSON: canonical values from text to text, and then the array of a record.
 *
 * A canonical spelling is trusted: its brackets match and their depth is limited, so it is walked
 * without checks of the grammar. Everything else goes through the parser first (put_respelled), and
 * what is malformed is kept as $raw.
 */
#include "format/json/typed.h"

#include <string.h>

#include "core/utf8.h"
#include "record/literal.h"
#include "record/string_scan.h"

/* Canonical trec values as typed JSON. */

const char *const tr_typed_names[TR_TYPED_SPELLED] = {
	"$int", "$ptr", "$real", "$str", "$wstr", "$blob", "$sym",
};

/* Whether the text at p begins with these bytes. */
static bool starts(const char *p, const char *end, struct tr_text with)
{
	return tr_text_starts(tr_text_span(p, end), with);
}

/*
 * Returns the end of the string at p if it is printable ASCII without escapes, and so the same in
 * JSON. NULL: it is not, or it is only the beginning of a value: a name, or a string that was cut.
 */
static inline const char *plain_string_end(const char *p, const char *end)
{
	const char *stop = tr_string_special(p + 1, end);
	if (stop == end || *stop != '"')
		return NULL;
	stop++;
	bool whole = stop == end || *stop == ',' || *stop == ':' || *stop == '=' || *stop == ']' ||
		     *stop == '}' || *stop == ';' || *stop == '>';
	return whole ? stop : NULL;
}

/* Returns the end of the scalar at p, where the compound around it continues. */
static const char *scalar_end(const char *p, const char *end)
{
	for (; p < end && *p != ',' && *p != ']' && *p != '}' && *p != '>' && *p != ';'; p++)
		if (*p == '"')
			p = tr_string_end(p, end) - 1;
	return p;
}

/* Returns the tag of a spelling that begins with a letter. */
static enum tr_typed_tag word_tag(struct tr_text t)
{
	const char *end = t.data + t.len;
	if (starts(t.data, end, TR_TEXT("L\"")))
		return TR_TYPED_WSTR;
	if (starts(t.data, end, TR_TEXT("b64:")) || starts(t.data, end, TR_TEXT("blob:")) ||
	    starts(t.data, end, TR_TEXT("file:")))
		return TR_TYPED_BLOB;
	if (tr_text_is(t, "true") || tr_text_is(t, "false") || tr_text_is(t, "null"))
		return TR_TYPED_CONSTANT;
	if (tr_text_is(t, "inf") || tr_text_is(t, "inff") || tr_text_is(t, "nan") ||
	    tr_text_is(t, "nanf") || starts(t.data, end, TR_TEXT("nan:")) ||
	    starts(t.data, end, TR_TEXT("nanf:")))
		return TR_TYPED_REAL;
	return TR_TYPED_SYM;
}

/* Returns the tag of a number by its spelling. */
static enum tr_typed_tag number_tag(struct tr_text t)
{
	if (tr_text_starts(t, TR_TEXT("0x")))
		return TR_TYPED_PTR;
	for (size_t i = 1; i < t.len; i++)
		if (!tr_is_digit(t.data[i]))
			return TR_TYPED_REAL;
	return TR_TYPED_INT;
}

enum tr_typed_tag tr_typed_tag(struct tr_text canonical)
{
	const char *p = canonical.data, *end = p + canonical.len;
	switch (canonical.len ? *p : '?') {
	case '[':
	case '{':
	case '<':
		return TR_TYPED_COMPOUND;
	case '"':
		p = tr_string_end(p, end);
		return p == end || starts(p, end, TR_TEXT("...")) ? TR_TYPED_STR : TR_TYPED_SYM;
	case '-':
	case '+':
		return number_tag(canonical);
	default:
		return tr_is_digit(*p) ? number_tag(canonical) : word_tag(canonical);
	}
}

/*
 * True if a string with its quotes is a JSON string that all tools keep: it is whole and portable.
 */
static bool is_portable(struct tr_text string)
{
	return string.data[string.len - 1] == '"' &&
	       tr_json_keeps_string((struct tr_text){ string.data + 1, string.len - 2 });
}

/* Appends {"$TAG":"SPELLING"}. */
static void put_tagged(enum tr_typed_tag tag, struct tr_text spelling, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"");
	tr_buffer_put_text(to, tr_text_from(tr_typed_names[tag]));
	tr_buffer_put_literal(to, "\":\"");
	tr_string_escape(spelling, to);
	tr_buffer_put_literal(to, "\"}");
}

/* Appends a value that is no compound: as JSON's own if all tools keep it, else with its tag. */
static void put_scalar(struct tr_text t, struct tr_buffer *to)
{
	enum tr_typed_tag tag = tr_typed_tag(t);
	if (tag == TR_TYPED_CONSTANT || (tag == TR_TYPED_INT && tr_typed_is_exact(t)) ||
	    (tag == TR_TYPED_STR && is_portable(t)))
		tr_buffer_put_text(to, t);
	else
		put_tagged(tag, t, to);
}

/* Inserts a tag that depends on the text after the brackets. */
static void insert(struct tr_buffer *to, size_t at, struct tr_text t)
{
	if (!tr_buffer_room(to, t.len))
		return;
	memmove(to->data + at + t.len, to->data + at, to->len - at);
	memcpy(to->data + at, t.data, t.len);
	tr_buffer_used(to, t.len);
}

static const char *put_any(const char *p, const char *end, struct tr_buffer *to);

/* Appends a list; one that was cut gets the tag $cut, which is known only at its end. */
static const char *put_list(const char *p, const char *end, struct tr_buffer *to)
{
	size_t start = to->len;
	tr_buffer_put_byte(to, '[');
	p++;
	while (p < end && *p != ']') {
		if (*p == ',') {
			tr_buffer_put_byte(to, ',');
			p++;
		}
		p = put_any(p, end, to);
	}
	tr_buffer_put_byte(to, ']');
	p++;
	if (starts(p, end, TR_TEXT("..."))) {
		insert(to, start, TR_TEXT("{\"$cut\":"));
		tr_buffer_put_byte(to, '}');
		p += 3;
	}
	return p;
}

/* Returns the end of the key at p in a map or structure. */
static const char *key_end(const char *p, const char *end)
{
	if (*p == '"') {
		const char *plain = plain_string_end(p, end);
		return plain ? plain : tr_string_end(p, end);
	}
	while (p < end && *p != '=')
		p++;
	return p;
}

/* Appends a key of a map or structure. */
static void put_key(struct tr_text key, struct tr_buffer *to)
{
	const char *end = key.data + key.len;
	if (key.data[0] == '"' && plain_string_end(key.data, end) == end) {
		tr_buffer_put_text(to, key);
	} else if (key.data[0] == '"') {
		put_scalar(key, to);
	} else {
		tr_buffer_put_quoted(to, key);
	}
}

/* Appends the [KEY,VALUE] pairs from p, after "{"; returns the end after "}". */
static const char *put_pairs(const char *p, const char *end, bool comma, struct tr_buffer *to)
{
	while (p < end && *p != '}') {
		if (comma)
			tr_buffer_put_byte(to, ',');
		comma = true;
		if (*p == ',')
			p++;
		tr_buffer_put_byte(to, '[');
		const char *after = key_end(p, end);
		put_key(tr_text_span(p, after), to);
		tr_buffer_put_byte(to, ',');
		p = put_any(after + 1, end, to);
		tr_buffer_put_byte(to, ']');
	}
	tr_buffer_put_literal(to, "]}");
	return p + 1;
}

/* Appends a structure, with its id or null as the first element. */
static const char *put_struct(const char *p, const char *end, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"$struct\":[");
	size_t start = to->len;
	p = put_pairs(*p == '=' ? p + 1 : p, end, true, to);
	if (!starts(p, end, TR_TEXT("@S"))) {
		insert(to, start, TR_TEXT("null"));
		return p;
	}
	const char *id = ++p;
	for (p++; p < end && tr_is_digit(*p);)
		p++;
	insert(to, start, TR_TEXT("\"\""));
	insert(to, start + 1, tr_text_span(id, p));
	return p;
}

/* Appends what is in braces: `=` after the first key means a structure, `:` a map. */
static const char *put_braces(const char *p, const char *end, struct tr_buffer *to)
{
	p++;
	if (*p == '=' || (*p != '}' && *key_end(p, end) == '='))
		return put_struct(p, end, to);
	tr_buffer_put_literal(to, "{\"$map\":[");
	return put_pairs(p, end, false, to);
}

/* Appends the pair of a human form and a machine form. */
static const char *put_repr(const char *p, const char *end, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"$repr\":[");
	p = put_any(p + 1, end, to);
	tr_buffer_put_byte(to, ',');
	p = put_any(p + 1, end, to);
	tr_buffer_put_literal(to, "]}");
	return p + 1;
}

/* The recursion is bounded: canonical values have at most 60 open brackets. */
static const char *put_any(const char *p, const char *end, struct tr_buffer *to)
{
	if (p >= end)
		return end;
	switch (*p) {
	case '[':
		return put_list(p, end, to);
	case '{':
		return put_braces(p, end, to);
	case '<':
		return put_repr(p, end, to);
	default: {
		const char *after = *p == '"' ? plain_string_end(p, end) : NULL;
		if (after) {
			tr_buffer_put_text(to, tr_text_span(p, after));
			return after;
		}
		after = scalar_end(p, end);
		put_scalar(tr_text_span(p, after), to);
		return after;
	}
	}
}

void tr_typed_put_value(struct tr_text canonical, struct tr_buffer *to)
{
	put_any(canonical.data, canonical.data + canonical.len, to);
}

/* Records as typed JSON. */

/* The record that is being written. */
struct putting {
	struct tr_record *record;
	struct tr_buffer *to;
	struct tr_buffer scratch; /* for values that have to be spelled first */
	struct tr_error *err;	  /* filled if noted or out_of_memory */
	bool noted, out_of_memory;
};

/* Appends a JSON string. */
static void put_json_string(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

/* Appends an object with one key and a string. */
static void put_object(const char *tag, struct tr_text spelling, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"");
	tr_buffer_put_text(to, tr_text_from(tag));
	tr_buffer_put_literal(to, "\":");
	put_json_string(spelling, to);
	tr_buffer_put_byte(to, '}');
}

/* Appends malformed trec as $raw; err gets the first reason. where: a column or key. */
static void put_raw(struct putting *p, struct tr_text spelling, struct tr_text where,
		    const struct tr_error *why)
{
	put_object("$raw", spelling, p->to);
	if (tr_error_is_memory(why))
		p->out_of_memory = true;
	if (!p->noted && p->err) {
		*p->err = *why;
		tr_error_name(p->err, where);
	}
	p->noted = true;
}

/* Whether the bytes are valid UTF-8, as JSON strings have to be. */
static bool is_utf8(struct tr_text bytes)
{
	const char *end = bytes.data + bytes.len;
	return tr_utf8_check(bytes.data, end) == end;
}

/* Whether a key with this first byte is one of trec's own. */
static bool is_lead(char c)
{
	return c == '.' || c == '#';
}

void tr_typed_put_cell(struct tr_text bytes, bool key, bool lead, struct tr_buffer *to)
{
	enum { ESCAPED = 4 }; /* `\x2e` */
	size_t start = to->len;
	tr_cell_escape(bytes, key, to);
	if (!lead || to->failed)
		return;
	char *at = to->data + start;
	at[0] = bytes.data[0];
	memmove(at + 1, at + ESCAPED, to->len - start - ESCAPED);
	to->len -= ESCAPED - 1;
}

/* Appends a cell or key that has an escape. */
static void put_escaped(struct putting *p, struct tr_text spelling, const char *column)
{
	bool key = !column;
	struct tr_text bytes;
	struct tr_error why;
	if (!tr_cell_bytes(spelling, p->record->arena, &bytes, &why)) {
		put_raw(p, spelling, tr_text_from(key ? "key" : column), &why);
		return;
	}
	/* as text, an escaped first `.` or `#` would become one that is not escaped */
	bool mark = key && bytes.len && is_lead(bytes.data[0]), raw_mark = spelling.data[0] != '\\';
	if (is_utf8(bytes) && (!mark || raw_mark)) {
		put_json_string(bytes, p->to);
		return;
	}
	tr_buffer_reset(&p->scratch);
	tr_typed_put_cell(bytes, key, mark && raw_mark, &p->scratch);
	p->out_of_memory |= p->scratch.failed;
	put_object("$cell", tr_buffer_text(&p->scratch), p->to);
}

/* column: its name; NULL: the text is a key. */
static void put_spelled(struct putting *p, struct tr_text spelling, const char *column)
{
	struct tr_error why;
	const char *end = spelling.data + spelling.len;
	if (tr_string_special(spelling.data, end) == end && (column || *spelling.data != '-')) {
		tr_buffer_put_quoted(p->to, spelling);
	} else if (!column && tr_text_is(spelling, "-")) {
		tr_error_set(&why, TR_CAUSE_INPUT, "a key cannot be absent");
		put_raw(p, spelling, TR_TEXT("key"), &why);
	} else if (memchr(spelling.data, '\\', spelling.len)) {
		put_escaped(p, spelling, column);
	} else {
		put_json_string(spelling, p->to);
	}
}

/* Appends a column; null: it is absent. */
static void put_cell(struct putting *p, const struct tr_cell *cell, const char *column)
{
	switch (cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_literal(p->to, "null");
		break;
	case TR_CELL_TEXT:
		put_spelled(p, cell->text, column);
		break;
	default:
		tr_buffer_put_byte(p->to, '"');
		tr_cell_write(cell, p->to);
		tr_buffer_put_byte(p->to, '"');
	}
}

/* Appends seq or count, as a number if JSON tools keep it. */
static void put_number_cell(struct putting *p, const struct tr_cell *cell, const char *column)
{
	if (cell->type == TR_CELL_TEXT && tr_json_keeps_digits(cell->text))
		tr_buffer_put_text(p->to, cell->text);
	else if (cell->type == TR_CELL_NUMBER && cell->number >> 53 == 0)
		tr_buffer_put_decimal(p->to, cell->number);
	else
		put_cell(p, cell, column);
}

/* Appends a value whose spelling is not canonical, or that was built as a tree. */
static void put_respelled(struct putting *p, struct tr_field *field)
{
	struct tr_error why;
	struct tr_value *value = tr_field_value(p->record, field, &why);
	if (!value) {
		put_raw(p, field->text, field->key, &why);
		return;
	}
	tr_buffer_reset(&p->scratch);
	tr_literal_write(value, &p->scratch);
	if (p->scratch.failed)
		p->out_of_memory = true;
	else
		tr_typed_put_value(tr_buffer_text(&p->scratch), p->to);
}

/* Appends a map of plain strings, as most environments are. False: the text is something else. */
static bool put_plain_map(struct tr_text text, struct tr_buffer *to)
{
	size_t begin = to->len;

	if (text.len < TR_PLAIN_LEAST || *text.data != '{')
		return false;
	tr_buffer_put_literal(to, "{\"$map\":[");
	if (tr_literal_put_plain_pairs(text, to)) {
		tr_buffer_put_literal(to, "]}");
		return true;
	}
	to->len = begin;
	return false;
}

/* Appends [KEY,VALUE]. The spelling decides how much work that is. */
static void put_field(struct putting *p, struct tr_field *field)
{
	tr_buffer_put_byte(p->to, '[');
	put_spelled(p, field->key, NULL);
	tr_buffer_put_byte(p->to, ',');
	if (field->text.data && put_plain_map(field->text, p->to)) {
		tr_buffer_put_byte(p->to, ']');
		return;
	}
	struct tr_error why;
	unsigned traits = 0;
	enum tr_spelling spelling = TR_NONCANONICAL;
	if (field->text.data)
		spelling = tr_literal_examine(field->text, &traits, &why);
	if (spelling == TR_MALFORMED)
		put_raw(p, field->text, field->key, &why);
	else if (spelling == TR_NONCANONICAL)
		put_respelled(p, field);
	else if (traits == 0)
		tr_buffer_put_text(p->to, field->text);
	else
		tr_typed_put_value(field->text, p->to);
	tr_buffer_put_byte(p->to, ']');
}

static void put_columns(struct putting *p)
{
	struct tr_record *record = p->record;
	tr_buffer_put_literal(p->to, "[\"");
	switch (record->type) {
	case TR_HEADER:
		tr_buffer_put_literal(p->to, "%trec\",");
		put_number_cell(p, &record->seq, "version");
		break;
	case TR_TRAILER:
		tr_buffer_put_literal(p->to, "!end\",");
		put_number_cell(p, &record->seq, "count");
		break;
	case TR_COMMENT:
		tr_buffer_put_literal(p->to, "#\",");
		put_json_string(record->comment, p->to);
		break;
	case TR_DEFINITION:
		tr_buffer_put_byte(p->to, '%');
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_cell(p, &record->task, "id");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name, "name");
		break;
	case TR_RECORD:
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_number_cell(p, &record->seq, "seq");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->time, "time");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->task, "task");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name, "name");
		break;
	}
}

/* Appends the next element after the columns: a field, the arrow, or a malformed part as $raw. */
static bool put_column(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	struct putting *p = context;
	tr_buffer_put_byte(p->to, ',');
	if (!field)
		tr_buffer_put_literal(p->to, "\"->\"");
	else if (field->key.data)
		put_field(p, field);
	else
		put_object("$raw", field->text, p->to);
	if (trouble && !p->noted) {
		p->noted = true;
		if (p->err)
			*p->err = *trouble;
	}
	return !p->to->failed;
}

enum tr_status tr_typed_put_record(struct tr_record *record, struct tr_buffer *to,
				   struct tr_error *err)
{
	struct putting p = { .record = record, .to = to, .scratch = TR_BUFFER_INIT, .err = err };
	put_columns(&p);
	tr_record_walk(record, put_column, &p);
	tr_buffer_put_byte(to, ']');
	tr_buffer_free(&p.scratch);
	if (p.out_of_memory || to->failed)
		return tr_error_memory(err);
	if (!p.noted)
		return TR_OK;
	if (err)
		err->severity = TR_FLAW;
	return TR_WARN;
}
