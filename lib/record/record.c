/* SPDX-License-Identifier: MIT */
/* Records as text and as values: cells, fields, and whole lines. */

#include "record/record.h"

#include <string.h>

#include "core/buffer.h"
#include "core/input.h"
#include "core/text.h"
#include "core/utf8.h"
#include "record/line.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/tabs.h"

/* Cells. */

static void put_hex_escape(unsigned char c, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\\x");
	tr_buffer_put_hex(to, c, 2);
}

/* Appends the escape of a byte in a cell. */
static void put_escape(unsigned char c, struct tr_buffer *to)
{
	switch (c) {
	case '\t':
		tr_buffer_put_literal(to, "\\t");
		return;
	case '\n':
		tr_buffer_put_literal(to, "\\n");
		return;
	case '\r':
		tr_buffer_put_literal(to, "\\r");
		return;
	case '\\':
		tr_buffer_put_literal(to, "\\\\");
		return;
	default:
		put_hex_escape(c, to);
	}
}

/* Returns the first byte from p on that a cell must not contain unescaped, or end. */
static const char *next_escaped(const char *p, const char *end)
{
	for (;;) {
		p = tr_string_special(p, end);
		if (p == end)
			return end;
		unsigned length = 0;
		if ((unsigned char)*p >= 0x80)
			length = tr_utf8_length(p, end);
		else if (*p == '"')
			length = 1;
		if (length == 0)
			return p;
		p += length;
	}
}

/* Appends bytes of a cell, without the rules for whole cells and for the first byte of a key. */
static void put_inside(const char *p, const char *end, bool key, struct tr_buffer *to)
{
	while (p < end) {
		const char *stop = next_escaped(p, end);
		/* keys are short */
		const char *equals = key ? memchr(p, '=', (size_t)(stop - p)) : NULL;
		if (equals)
			stop = equals;
		tr_buffer_put(to, p, (size_t)(stop - p));
		if (stop < end)
			put_escape((unsigned char)*stop++, to);
		p = stop;
	}
}

void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to)
{
	if (bytes.len == 0) {
		tr_buffer_put_literal(to, "\\e");
		return;
	}
	const char *p = bytes.data, *end = p + bytes.len;
	if (bytes.len == 1 && *p == '-')
		tr_buffer_put_byte(to, '\\');
	/* unescaped, these mark keys that do not come from the source */
	if (key && (*p == '.' || *p == '#'))
		put_hex_escape((unsigned char)*p++, to);
	put_inside(p, end, key, to);
}

/* Reads the escape at p and sets its length. Returns NULL, or what is wrong. */
static const char *read_escape(const char *p, const char *end, char *byte, size_t *len)
{
	static const char letters[] = "tnr\\", meanings[] = "\t\n\r\\";
	*len = 2;
	if (end - p < 2)
		return "unknown escape in a cell";
	if (p[1] == 'x') {
		int high = end - p >= 4 ? tr_hex_digit(p[2]) : -1;
		int low = end - p >= 4 ? tr_hex_digit(p[3]) : -1;
		if (high < 0 || low < 0)
			return "\\x needs two hex digits";
		*byte = (char)(high << 4 | low);
		*len = 4;
		return NULL;
	}
	const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
	if (!letter) {
		if (p[1] == 'e')
			return "\\e must be a whole cell";
		return p[1] == '-' ? "\\- must be a whole cell" : "unknown escape in a cell";
	}
	*byte = meanings[letter - letters];
	return NULL;
}

bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err)
{
	*bytes = spelling;
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len))
		return true;
	if (tr_text_is(spelling, "\\e") || tr_text_is(spelling, "\\-")) {
		*bytes = spelling.data[1] == 'e' ? TR_TEXT("") : TR_TEXT("-");
		return true;
	}
	char *to = tr_arena_alloc(arena, spelling.len);
	if (!to) {
		tr_error_memory(err);
		return false;
	}
	bytes->data = to;
	for (const char *p = spelling.data, *end = p + spelling.len; p < end;) {
		size_t len = 1;
		*to = *p;
		const char *reason = *p == '\\' ? read_escape(p, end, to, &len) : NULL;
		if (reason) {
			tr_error_say_in(err, TR_CAUSE_INPUT, reason, "%s: %.*s", reason,
					(int)(end - p), p);
			return false;
		}
		to++;
		p += len;
	}
	bytes->len = (size_t)(to - bytes->data);
	return true;
}

/*
 * Appends a spelled cell in its canonical spelling. False: it is malformed
 * (err filled) or memory is exhausted.
 */
static bool respell_cell(struct tr_text spelling, bool key, struct tr_arena *arena,
			 struct tr_buffer *to, struct tr_error *err)
{
	if (key && tr_text_is(spelling, "-")) {
		tr_error_set(err, TR_CAUSE_INPUT, "a key cannot be absent");
		return false;
	}
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len)) {
		tr_buffer_put_text(to, spelling);
		return true;
	}
	struct tr_text bytes;
	if (!tr_cell_bytes(spelling, arena, &bytes, err))
		return false;
	/* an unescaped mark at the beginning is not part of the name and stays unescaped */
	if (key && (*spelling.data == '.' || *spelling.data == '#'))
		put_inside(bytes.data, bytes.data + bytes.len, key, to);
	else
		tr_cell_escape(bytes, key, to);
	return true;
}

bool tr_cell_number(const struct tr_cell *cell, uint64_t *number)
{
	struct tr_text text = cell->text;
	uint64_t large;
	if (cell->type == TR_CELL_NUMBER) {
		*number = cell->number;
		return true;
	}
	if (cell->type != TR_CELL_TEXT)
		return false;
	if (tr_decimal_id(text, number))
		return true;
	if (text.len == 0 || *text.data == '0' || !tr_decimal_read(text, UINT64_MAX, &large))
		return false;
	*number = large;
	return true;
}

void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to)
{
	switch ((enum tr_cell_type)cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_byte(to, '-');
		return;
	case TR_CELL_TEXT:
		tr_buffer_put_text(to, cell->text);
		return;
	case TR_CELL_NUMBER:
		tr_buffer_put_decimal(to, cell->number);
		return;
	case TR_CELL_ADDRESS:
		tr_buffer_put_literal(to, "0x");
		tr_buffer_put_hex(to, cell->number, cell->width);
		return;
	}
}

/* Records to canonical lines. */

/* Writes a column in its canonical spelling, after a TAB. False: it has an invalid escape. */
static bool write_cell(struct tr_record *record, const struct tr_cell *cell, const char *column,
		       struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_put_byte(to, '\t');
	if (cell->type != TR_CELL_TEXT) {
		tr_cell_write(cell, to);
		return true;
	}
	if (respell_cell(cell->text, false, record->arena, to, err))
		return true;
	tr_error_name(err, tr_text_from(column));
	return false;
}

/*
 * Checks the id of a definition, in its canonical spelling: for the words of trec(5) it is a letter
 * and a number. False: err is filled.
 */
static bool check_id(struct tr_text word, struct tr_text id, struct tr_error *err)
{
	static const struct {
		const char *word;
		char letter;
	} letters[] = {
		{ "fn", 'F' },	   { "enum", 'E' },  { "mask", 'M' },
		{ "struct", 'S' }, { "frame", 'K' },
	};
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
		if (!tr_text_is(word, letters[i].word))
			continue;
		struct tr_cell digits = { .type = TR_CELL_TEXT,
					  .text = { id.data + 1, id.len - 1 } };
		uint64_t number;
		if (id.data[0] == letters[i].letter && tr_cell_number(&digits, &number))
			return true;
		tr_error_set(err, TR_CAUSE_INPUT, "the id of %%%s must be %c and a number",
			     letters[i].word, letters[i].letter);
		return false;
	}
	return true;
}

static bool write_definition(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_put_byte(to, '%');
	tr_buffer_put_text(to, record->kind);
	size_t id = to->len + 1;
	if (!write_cell(record, &record->task, "id", to, err) || to->failed ||
	    !check_id(record->kind, tr_text_span(to->data + id, to->data + to->len), err))
		return false;
	return write_cell(record, &record->name, "name", to, err);
}

/* Writes the columns that a line of this type has before its fields. */
static bool write_fixed(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	switch (record->type) {
	case TR_HEADER:
		tr_buffer_put_literal(to, "%trec");
		return write_cell(record, &record->seq, "version", to, err);
	case TR_TRAILER:
		tr_buffer_put_literal(to, "!end");
		return write_cell(record, &record->seq, "count", to, err);
	case TR_DEFINITION:
		return write_definition(record, to, err);
	default:
		tr_buffer_put_text(to, record->kind);
		return write_cell(record, &record->seq, "seq", to, err) &&
		       write_cell(record, &record->time, "time", to, err) &&
		       write_cell(record, &record->task, "task", to, err) &&
		       write_cell(record, &record->name, "name", to, err);
	}
}

/* Appends a value in its canonical spelling; it is parsed only if its text is not canonical. */
static bool write_value(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err)
{
	if (!field->value) {
		enum tr_spelling spelling = tr_literal_check(field->text, NULL, err);
		if (spelling == TR_CANONICAL) {
			tr_buffer_put_text(to, field->text);
			return true;
		}
		if (spelling == TR_MALFORMED || !tr_field_value(record, field, err))
			return false;
	}
	tr_literal_write(field->value, to);
	return true;
}

struct writing {
	struct tr_record *record;
	struct tr_buffer *to;
	struct tr_error *err;
};

/* Writes a field (a visitor); field NULL: the arrow. */
static bool write_field(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	struct writing *w = context;
	if (!field) {
		tr_buffer_put_literal(w->to, "\t->");
		return true;
	}
	tr_buffer_put_byte(w->to, '\t');
	if (trouble) {
		*w->err = *trouble;
		return false;
	}
	if (!field->key.data) {
		tr_error_set(w->err, TR_CAUSE_INPUT, "a column is not a field: %.*s",
			     (int)field->text.len, field->text.data);
		return false;
	}
	if (!respell_cell(field->key, true, w->record->arena, w->to, w->err)) {
		tr_error_name(w->err, TR_TEXT("key"));
		return false;
	}
	tr_buffer_put_byte(w->to, '=');
	if (write_value(w->record, field, w->to, w->err))
		return true;
	tr_error_name(w->err, field->key);
	return false;
}

/* Writes a line in its canonical spelling. False: err is filled. */
static bool write_line(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	if (record->type == TR_COMMENT) {
		tr_buffer_put_byte(to, '#');
		tr_buffer_put_text(to, record->comment);
	} else if (!write_fixed(record, to, err) ||
		   !tr_record_walk(record, write_field, &(struct writing){ record, to, err })) {
		return false;
	}
	tr_buffer_put_byte(to, '\n');
	return true;
}

enum tr_status tr_record_write(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	if (record->line.data && record->canonical) {
		tr_buffer_put_text(to, record->line);
	} else if (record->spell && !record->line.data) {
		char *line = tr_buffer_room(to, TR_SPELL_MAX);
		if (line)
			tr_buffer_used(to, record->spell(record, line));
	} else {
		size_t start = to->len;
		struct tr_error trouble;
		tr_error_clear(&trouble);
		bool written = write_line(record, to, &trouble);
		if (trouble.cause == TR_CAUSE_MEMORY)
			return tr_error_memory(err);
		if (!written && !to->failed) {
			to->len = start;
			if (err)
				*err = trouble;
			return TR_WARN;
		}
	}
	return to->failed ? tr_error_memory(err) : TR_OK;
}

void tr_trailer_recount(const struct tr_record *trailer, uint64_t count, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "!end\t");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_text(to, trailer->rest);
}

void tr_trailer_put(uint64_t count, uint64_t errors, bool truncated, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "!end\t");
	tr_buffer_put_decimal(to, count);
	if (errors) {
		tr_buffer_put_literal(to, "\terrors=");
		tr_buffer_put_decimal(to, errors);
	}
	if (truncated)
		tr_buffer_put_literal(to, "\ttruncated=true");
}

/* Fields: the columns after the fixed ones. */

enum {
	FIRST_FIELDS = 8,
	LONG_LINE = 64 << 10, /* from this length on, parsed values are not kept */
};

/* For the short functions that split a line: calling them would take a third of the time. */
#define INLINED static inline __attribute__((always_inline))

/* Adds a field; the array grows at every power of two, so no capacity is stored. */
INLINED struct tr_field *new_field(struct tr_record *record)
{
	size_t count = record->count;
	bool full = count == 0 || (count >= FIRST_FIELDS && (count & (count - 1)) == 0);
	if (full) {
		size_t cap = count ? count * 2 : FIRST_FIELDS;
		struct tr_field *fields = tr_arena_alloc(record->arena, cap * sizeof *fields);
		if (!fields)
			return NULL;
		if (count)
			memcpy(fields, record->fields, count * sizeof *fields);
		record->fields = fields;
	}
	return &record->fields[record->count++];
}

struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key, struct tr_value *value)
{
	struct tr_field *field = new_field(record);
	if (field)
		*field = (struct tr_field){ .key = key, .value = value };
	return field;
}

/* Returns why a column, which is not an arrow, is not a field, or NULL; sets *equals to its "=". */
static const char *field_reason(struct tr_text column, const char **equals)
{
	if (column.len == 0)
		return "empty column";
	*equals = memchr(column.data, '=', column.len);
	if (!*equals)
		return "field without =";
	return *equals == column.data ? "field without key" : NULL;
}

enum column { ARROW, FIELD, NO_FIELD };

/* Makes *field of a column. NO_FIELD: *reason says why it is not one. */
INLINED enum column read_column(struct tr_text column, enum tr_line_type type, bool arrow_seen,
				struct tr_field *field, const char **reason)
{
	const char *equals = NULL;
	if (!tr_text_is(column, "->"))
		*reason = field_reason(column, &equals);
	else if (type != TR_RECORD)
		*reason = "-> outside a record";
	else if (arrow_seen)
		*reason = "a second ->";
	else
		return ARROW;
	if (*reason) {
		*field = (struct tr_field){ .text = column, .bad = true };
		return NO_FIELD;
	}
	*field = (struct tr_field){
		.key = tr_text_span(column.data, equals),
		.text = tr_text_span(equals + 1, column.data + column.len),
	};
	return FIELD;
}

/* The columns after the fixed ones. */
struct columns {
	struct tr_tabs tabs;
	const char *pos, *end;
	unsigned number; /* of the last column, from 1 */
};

/* The number of columns before the fields. */
static unsigned fixed_count(const struct tr_record *record)
{
	switch (record->type) {
	case TR_RECORD:
		return 5;
	case TR_DEFINITION:
		return 3;
	default:
		return 2;
	}
}

static struct columns columns_begin(const struct tr_record *record)
{
	const char *begin = record->rest.data, *end = begin + record->rest.len;
	struct columns columns = {
		.tabs = tr_tabs_begin(record->line.data, begin, end),
		.end = end,
		.number = fixed_count(record),
	};
	columns.pos = tr_tabs_next(&columns.tabs);
	return columns;
}

/* Steps to the next column. False: there are no more. */
INLINED bool next_column(struct columns *columns, struct tr_text *column)
{
	if (columns->pos == columns->end)
		return false;
	const char *start = columns->pos + 1;
	columns->pos = tr_tabs_next(&columns->tabs);
	columns->number++;
	*column = tr_text_span(start, columns->pos);
	return true;
}

/* Fills err with an error in the current column. */
static void report(const struct columns *columns, const char *reason, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, reason, "column %u: %s", columns->number, reason);
}

enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err)
{
	if (record->split || !record->line.data)
		return TR_OK;
	enum tr_status status = TR_OK;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	struct columns columns = columns_begin(record);
	struct tr_text column;
	while (next_column(&columns, &column)) {
		struct tr_field *field = new_field(record);
		const char *reason;
		if (!field)
			return tr_arena_error(record->arena, err);
		enum column what = read_column(column, record->type, record->arrow != TR_NO_ARROW,
					       field, &reason);
		if (what == ARROW)
			record->arrow = --record->count;
		if (what == NO_FIELD && status == TR_OK) {
			report(&columns, reason, err);
			status = TR_WARN;
		}
	}
	record->split = true;
	return status;
}

typedef bool visitor(void *context, struct tr_field *field, const struct tr_error *trouble);

/*
 * Visits the fields of a line, without keeping them. The arena of a long line is reset after each
 * field, so that memory does not grow with their number.
 */
static bool walk_columns(struct tr_record *record, visitor *visit, void *context)
{
	struct columns columns = columns_begin(record);
	struct tr_text column;
	bool arrow = false;
	while (next_column(&columns, &column)) {
		struct tr_field field;
		struct tr_error trouble;
		const char *reason;
		enum column what = read_column(column, record->type, arrow, &field, &reason);
		arrow = arrow || what == ARROW;
		if (what == NO_FIELD)
			report(&columns, reason, &trouble);
		if (!visit(context, what == ARROW ? NULL : &field,
			   what == NO_FIELD ? &trouble : NULL))
			return false;
		if (record->line.len > LONG_LINE)
			tr_arena_reset(record->arena);
	}
	return true;
}

/* Visits the fields of a record that is split or built. */
static bool walk_fields(struct tr_record *record, visitor *visit, void *context)
{
	for (size_t i = 0; i < record->count; i++)
		if ((i == record->arrow && !visit(context, NULL, NULL)) ||
		    !visit(context, &record->fields[i], NULL))
			return false;
	return record->arrow != record->count || visit(context, NULL, NULL);
}

bool tr_record_walk(struct tr_record *record, visitor *visit, void *context)
{
	if (record->split || !record->line.data)
		return walk_fields(record, visit, context);
	if (record->line.len <= LONG_LINE)
		return walk_columns(record, visit, context);
	/* the record's own arena may hold more than this record */
	struct tr_arena *arena = record->arena;
	struct tr_arena values = TR_ARENA_INIT;
	values.limit = arena->limit;
	record->arena = &values;
	bool whole = walk_columns(record, visit, context);
	record->arena = arena;
	tr_arena_free(&values);
	return whole;
}

struct tr_field *tr_record_field(struct tr_record *record, const char *key)
{
	if (!record->split && tr_record_split(record, NULL) == TR_FATAL)
		return NULL;
	size_t len = strlen(key);
	for (size_t i = record->count; i-- > 0;) {
		struct tr_field *field = &record->fields[i];
		/* the first letter alone rules out most keys of the same length */
		if (field->key.data && field->key.len == len &&
		    (!len || *field->key.data == *key) && !memcmp(field->key.data, key, len))
			return field;
	}
	return NULL;
}

struct tr_value *tr_record_value(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);

	return field ? tr_field_value(record, field, err) : NULL;
}

/* Records of lines: columns, fields and values are parsed when they are needed. */

void tr_record_init(struct tr_record *record, struct tr_arena *arena)
{
	/*
	 * in pieces that take a few stores each: for a larger piece compilers use "rep stos", which
	 * takes longer to start than all of this
	 */
	enum { PIECE = 64, REST = sizeof *record % PIECE };
	char *to = (char *)record;
	for (size_t i = 0; i < sizeof *record / PIECE; i++, to += PIECE)
		memset(to, 0, PIECE);
	memset(to, 0, REST);
	record->arrow = TR_NO_ARROW;
	record->arena = arena;
	record->source_line = record->source_offset = TR_NO_POSITION;
}

/* Fills err with the reason why the line is damaged. False. */
static bool damage(struct tr_error *err, const char *reason)
{
	tr_error_say(err, TR_CAUSE_INPUT, reason);
	return false;
}

/* Returns the end of the run of [a-z][a-z0-9-]* at p. */
static const char *word_end(const char *p, const char *end)
{
	if (p == end || *p < 'a' || *p > 'z')
		return p;
	while (p < end && ((*p >= 'a' && *p <= 'z') || tr_is_digit(*p) || *p == '-'))
		p++;
	return p;
}

/*
 * Parses the fixed columns after the first one, which ends at *p. Sets *p to their end: the TAB
 * before the first field, or the end of the line.
 */
static bool fixed_columns(const struct tr_record *record, const char **p,
			  struct tr_cell *const *cells, unsigned count, struct tr_error *err)
{
	const char *end = record->line.data + record->line.len - 1;
	struct tr_tabs tabs = tr_tabs_begin(record->line.data, *p, end);
	const char *tab = tr_tabs_next(&tabs);
	for (unsigned i = 0; i < count; i++) {
		if (tab == end) {
			tr_error_set(err, TR_CAUSE_INPUT, "only %u of %u columns", i + 1,
				     count + 1);
			return false;
		}
		const char *start = tab + 1;
		tab = tr_tabs_next(&tabs);
		if (start == tab) {
			tr_error_set(err, TR_CAUSE_INPUT, "empty column %u", i + 2);
			return false;
		}
		bool absent = tab - start == 1 && *start == '-';
		cells[i]->type = absent ? TR_CELL_ABSENT : TR_CELL_TEXT;
		cells[i]->text = tr_text_span(start, tab);
	}
	*p = tab;
	return true;
}

/* Reads the kind and the columns of a record. */
static bool record_line(struct tr_record *record, const char *p, const char *end,
			struct tr_error *err)
{
	const char *kind_end = word_end(p, end);
	if (kind_end == p || (kind_end < end && *kind_end != '\t'))
		return damage(err, "the line does not begin with a kind");
	record->type = TR_RECORD;
	record->kind = tr_text_span(p, kind_end);
	struct tr_cell *const cells[] = { &record->seq, &record->time, &record->task,
					  &record->name };
	if (!fixed_columns(record, &kind_end, cells, 4, err))
		return false;
	record->rest = tr_text_span(kind_end, end);
	return true;
}

/*
 * Reads a header or a definition. Another version than 1 is an error, because its lines may have
 * another meaning.
 */
static bool definition_line(struct tr_record *record, const char *p, const char *end,
			    struct tr_error *err)
{
	const char *word = word_end(p + 1, end);
	if (word == p + 1 || (word < end && *word != '\t'))
		return damage(err, "% must be followed by a word in lower case");
	record->kind = tr_text_span(p + 1, word);
	if (!tr_text_is(record->kind, "trec")) {
		struct tr_cell *const cells[] = { &record->task, &record->name };
		record->type = TR_DEFINITION;
		if (!fixed_columns(record, &word, cells, 2, err))
			return false;
	} else {
		struct tr_cell *const cells[] = { &record->seq };
		record->type = TR_HEADER;
		if (!fixed_columns(record, &word, cells, 1, err))
			return false;
		if (!tr_text_is(record->seq.text, "1"))
			return damage(err, "unknown version of trec");
		record->seq.type = TR_CELL_NUMBER;
		record->seq.number = 1;
	}
	record->rest = tr_text_span(word, end);
	return true;
}

/* Reads a trailer. Other words after "!" are reserved. */
static bool trailer_line(struct tr_record *record, const char *p, const char *end,
			 struct tr_error *err)
{
	const char *after = p + 4;
	if (end - p < 4 || memcmp(p, "!end", 4) != 0 || (after < end && *after != '\t'))
		return damage(err, "the word after ! is not end");
	struct tr_cell *const cells[] = { &record->seq };
	record->type = TR_TRAILER;
	record->kind = tr_text_span(p + 1, after);
	if (!fixed_columns(record, &after, cells, 1, err))
		return false;
	if (!tr_cell_number(&record->seq, &record->seq.number))
		return damage(err, "the count is not a number");
	record->seq.type = TR_CELL_NUMBER;
	record->rest = tr_text_span(after, end);
	return true;
}

/* Clears what the columns of a record set, for lines of other types. */
static void clear_columns(struct tr_record *record)
{
	record->kind = record->comment = (struct tr_text){ NULL, 0 };
	record->seq = record->time = record->task = record->name = (struct tr_cell){ 0 };
}

/*
 * Like tr_record_init, but keeps the old columns: nearly every line is a record, which sets them.
 */
static void begin_line(struct tr_record *record, struct tr_text line)
{
	record->canonical = record->split = record->chosen = false;
	record->fields = NULL;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	record->line = line;
	record->source_line = record->source_offset = TR_NO_POSITION;
}

bool tr_record_from_line(struct tr_record *record, struct tr_text line, struct tr_error *err)
{
	const char *p = line.data, *end = p + line.len;
	begin_line(record, line);
	if (line.len == 0 || end[-1] != '\n')
		return damage(err, "last line without a line feed");
	end--;
	if (p == end)
		return damage(err, "empty line");
	if (end[-1] == '\r')
		return damage(err, "line ends in CR LF");
	switch (*p) {
	case '#':
		clear_columns(record);
		record->type = TR_COMMENT;
		record->comment = tr_text_span(p + 1, end);
		record->rest = tr_text_span(end, end);
		record->split = true;
		return true;
	case '%':
		clear_columns(record);
		return definition_line(record, p, end, err);
	case '!':
		clear_columns(record);
		return trailer_line(record, p, end, err);
	default:
		if (tr_text_starts(line, TR_TEXT("\xef\xbb\xbf")))
			return damage(err, "byte order mark");
		return record_line(record, p, end, err);
	}
}

enum tr_status tr_record_from_buffer(struct tr_record *record, struct tr_arena *arena,
				     struct tr_buffer *line, struct tr_error *err)
{
	/* wide loads read these bytes after the line */
	if (!tr_buffer_room(line, TR_INPUT_PAD) || line->failed)
		return tr_error_memory(err);
	tr_record_init(record, arena);
	struct tr_text text = tr_buffer_text(line);
	struct tr_columns columns;
	const char *lf = text.data + text.len - 1;
	if (text.len && *lf == '\n' && tr_columns_find_short(text.data, lf, &columns))
		tr_record_from_columns(record, text, &columns);
	else if (!tr_record_from_line(record, text, err))
		return TR_FATAL;
	record->canonical = true;
	return TR_OK;
}

static void set_cell(struct tr_cell *cell, const struct tr_columns *columns, enum tr_column column)
{
	cell->text = tr_columns_text(columns, column);
	bool absent = cell->text.len == 1 && *cell->text.data == '-';
	cell->type = absent ? TR_CELL_ABSENT : TR_CELL_TEXT;
}

void tr_record_from_columns(struct tr_record *record, struct tr_text line,
			    const struct tr_columns *columns)
{
	begin_line(record, line);
	record->type = TR_RECORD;
	record->kind = tr_columns_text(columns, TR_COLUMN_KIND);
	set_cell(&record->seq, columns, TR_COLUMN_SEQ);
	set_cell(&record->time, columns, TR_COLUMN_TIME);
	set_cell(&record->task, columns, TR_COLUMN_TASK);
	set_cell(&record->name, columns, TR_COLUMN_NAME);
	record->rest = tr_text_span(columns->start[TR_COLUMNS] - 1, line.data + line.len - 1);
}

struct tr_value *tr_field_value(struct tr_record *record, struct tr_field *field,
				struct tr_error *err)
{
	if (field->value || field->bad) {
		if (field->bad)
			damage(err, "the value is malformed");
		return field->value;
	}
	field->value = tr_literal_parse(field->text, record->arena, err);
	field->bad = !field->value;
	return field->value;
}
