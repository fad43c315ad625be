/* SPDX-License-Identifier: MIT */
/*
 * The module table of drcov: its head, its columns, its rows and the list of modules. The spelling
 * of the source is kept with its meaning, and is written again if it still has that meaning.
 */

#include "coverage/module_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "record/ask.h"
#include "record/literal.h"

/* The columns, and how their numbers are written: in decimal or hex, in at least width digits. */
static const struct {
	const char *name;
	bool text, decimal;
	unsigned width; /* 0: of hex numbers, as wide as an address */
} kinds[] = {
	[TR_MODULE_ID] = { "id", false, true, 3 },
	[TR_MODULE_CONTAINING_ID] = { "containing_id", false, true, 3 },
	[TR_MODULE_BASE] = { "base", false, false, 0 },
	[TR_MODULE_END] = { "end", false, false, 0 },
	[TR_MODULE_ENTRY] = { "entry", false, false, 0 },
	[TR_MODULE_OFFSET] = { "offset", false, false, 16 },
	[TR_MODULE_PREFERRED_BASE] = { "preferred_base", false, false, 0 },
	[TR_MODULE_CHECKSUM] = { "checksum", false, false, 8 },
	[TR_MODULE_TIMESTAMP] = { "timestamp", false, false, 8 },
	[TR_MODULE_SIZE] = { "size", false, true, 1 },
	[TR_MODULE_PATH] = { "path", true, false, 0 },
	[TR_MODULE_OTHER] = { NULL, true, false, 0 },
};

/* Returns the column of that name; newer tables call the base "start". */
static enum tr_module_column kind_of(struct tr_text name)
{
	if (tr_text_is(name, "start"))
		return TR_MODULE_BASE;
	for (unsigned i = 0; i < TR_MODULE_OTHER; i++)
		if (tr_text_is(name, kinds[i].name))
			return (enum tr_module_column)i;
	return TR_MODULE_OTHER;
}

/* Adds the column of that name. False: there are too many, it is too long, or it is repeated. */
static bool module_columns_add(struct tr_module_columns *columns, struct tr_text name)
{
	enum tr_module_column kind = kind_of(name);
	size_t used = columns->count ? columns->ends[columns->count - 1] : 0;
	if (columns->count == TR_MODULE_COLUMNS || name.len > sizeof columns->text - used)
		return false;
	for (size_t i = 0; i < columns->count; i++)
		if (kind == TR_MODULE_OTHER ? tr_text_equal(tr_module_column_name(columns, i), name)
					    : columns->kinds[i] == kind)
			return false;
	if (name.len)
		memcpy(columns->text + used, name.data, name.len);
	columns->ends[columns->count] = (uint16_t)(used + name.len);
	columns->kinds[columns->count++] = kind;
	return true;
}

/* Parses "id, base, end, path". False: there are none, too many, or one twice; then count is 0. */
static bool parse_columns(struct tr_module_columns *columns, struct tr_text list)
{
	const char *p = list.data, *end = p + list.len;
	columns->count = 0;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;
		if (!module_columns_add(columns, tr_text_trimmed(tr_text_span(p, stop)))) {
			columns->count = 0;
			return false;
		}
		p = comma ? comma + 1 : end;
	}
	return columns->count > 0;
}

/* Sets the columns of a version of the table; windows: with checksum and timestamp. */
static void module_columns_of(struct tr_module_columns *columns, uint64_t table, bool windows)
{
	static const char *const lists[] = {
		"id, size, path",
		"id, base, end, entry, path",
		"id, containing_id, start, end, entry, path",
		"id, containing_id, start, end, entry, offset, path",
		"id, containing_id, start, end, entry, offset, preferred_base, path",
	};
	table = table < 1 ? 1 : table > 5 ? 5 : table;
	(void)parse_columns(columns, tr_text_from(lists[table - 1]));
	if (!windows || table == 1)
		return;
	columns->count--; /* the path is last */
	(void)module_columns_add(columns, TR_TEXT("checksum"));
	(void)module_columns_add(columns, TR_TEXT("timestamp"));
	(void)module_columns_add(columns, TR_TEXT("path"));
}

/* True if the table has such a column. */
static bool module_columns_have(const struct tr_module_columns *columns, enum tr_module_column kind)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->kinds[i] == kind)
			return true;
	return false;
}

/* True if two tables have the same columns in the same order. */
static bool module_columns_equal(const struct tr_module_columns *a,
				 const struct tr_module_columns *b)
{
	bool equal = a->count == b->count;
	for (size_t i = 0; equal && i < a->count; i++)
		equal = tr_text_equal(tr_module_column_name(a, i), tr_module_column_name(b, i));
	return equal;
}

/* Some tools write -1 as the containing_id of a module that is in no other. */
static bool is_none(enum tr_module_column kind, uint64_t number)
{
	return kind == TR_MODULE_CONTAINING_ID && number == TR_MODULE_NO_ID;
}

/* Parses decimal digits, or hex digits with 0x or without. */
static bool parse_number(struct tr_text text, bool decimal, uint64_t *number)
{
	if (decimal)
		return tr_decimal_read(text, UINT64_MAX, number);
	if (text.len > 2 && *text.data == '0' && (text.data[1] | 0x20) == 'x') {
		text.data += 2;
		text.len -= 2;
	}
	*number = 0;
	for (size_t i = 0; i < text.len; i++) {
		int digit = tr_hex_digit(text.data[i]);
		if (digit < 0 || *number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return text.len > 0;
}

bool tr_module_parse(const struct tr_module_columns *columns, struct tr_text row,
		     struct tr_module *module)
{
	bool good = true;
	/* tables of Windows have CR LF */
	if (row.len && row.data[row.len - 1] == '\r')
		row.len--;
	const char *p = row.data, *end = p + row.len;
	for (size_t i = 0; i < columns->count; i++) {
		struct tr_module_cell *cell = &module->cells[i];
		bool last = i + 1 == columns->count;
		const char *comma = last || !p ? NULL : memchr(p, ',', (size_t)(end - p));
		*cell = (struct tr_module_cell){ .type = TR_MODULE_NONE };
		if (!p) {
			good = false;
			continue;
		}
		cell->text = tr_text_span(p, comma ? comma : end);
		/* trailing blanks belong to the path */
		if (last)
			while (cell->text.len && *cell->text.data == ' ') {
				cell->text.data++;
				cell->text.len--;
			}
		else
			cell->text = tr_text_trimmed(cell->text);
		cell->type = TR_MODULE_TEXT;
		enum tr_module_column kind = columns->kinds[i];
		if (!kinds[kind].text) {
			bool number = parse_number(cell->text, kinds[kind].decimal, &cell->number);
			if (kind == TR_MODULE_CONTAINING_ID && tr_text_is(cell->text, "-1")) {
				cell->number = TR_MODULE_NO_ID;
				number = true;
			}
			if (number)
				cell->type = TR_MODULE_NUMBER;
			good &= number;
		}
		p = comma ? comma + 1 : NULL;
	}
	return good;
}

/*
 * Writes a number as DynamoRIO does: with its number of digits, so that the table is byte for byte
 * the same.
 */
static void write_number(enum tr_module_column kind, uint64_t n, unsigned digits,
			 struct tr_buffer *to)
{
	if (is_none(kind, n)) {
		tr_buffer_put_literal(to, " -1");
	} else if (kinds[kind].decimal) {
		tr_drcov_put_padded(n, kinds[kind].width, to);
	} else {
		if (kind != TR_MODULE_OFFSET)
			tr_buffer_put_literal(to, "0x");
		tr_buffer_put_hex(to, n, kinds[kind].width ? kinds[kind].width : digits);
	}
}

/* Appends a text. A table has no escapes, so what would end the cell becomes a blank. */
static void write_text(struct tr_text text, bool last, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++) {
		bool ends = text.data[i] == '\n' || (text.data[i] == ',' && !last);
		tr_buffer_put_byte(to, ends ? ' ' : text.data[i]);
	}
}

void tr_module_write(const struct tr_module_columns *columns, const struct tr_module *module,
		     unsigned digits, struct tr_buffer *to)
{
	bool legacy = module_columns_have(columns, TR_MODULE_SIZE);
	for (size_t i = 0; i < columns->count; i++) {
		const struct tr_module_cell *cell = &module->cells[i];
		enum tr_module_column kind = columns->kinds[i];
		if (i)
			tr_buffer_put_literal(to, ", ");
		/* DynamoRIO puts a second blank before the path */
		if (kind == TR_MODULE_PATH && !legacy)
			tr_buffer_put_byte(to, ' ');
		if (kinds[kind].text || cell->type == TR_MODULE_TEXT)
			write_text(cell->text, i + 1 == columns->count, to);
		else
			write_number(kind, cell->type == TR_MODULE_NUMBER ? cell->number : 0,
				     digits, to);
	}
	tr_buffer_put_byte(to, '\n');
}

/* True if two rows have the same meaning. */
static bool module_equal(const struct tr_module_columns *columns, const struct tr_module *a,
			 const struct tr_module *b)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct tr_module_cell *x = &a->cells[i], *y = &b->cells[i];
		if ((x->type == TR_MODULE_NUMBER) != (y->type == TR_MODULE_NUMBER))
			return false;
		/* a missing cell equals an empty one */
		if (x->type == TR_MODULE_NUMBER ? x->number != y->number
						: !tr_text_equal(x->text, y->text))
			return false;
	}
	return true;
}

uint64_t tr_module_number(const struct tr_module_columns *columns, const struct tr_module *module,
			  enum tr_module_column kind, uint64_t otherwise)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->kinds[i] == kind && module->cells[i].type == TR_MODULE_NUMBER)
			return module->cells[i].number;
	return otherwise;
}

/* Returns the path, or "" if there is none. */
static struct tr_text path_of(const struct tr_module_columns *columns,
			      const struct tr_module *module)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->kinds[i] == TR_MODULE_PATH && module->cells[i].text.data)
			return module->cells[i].text;
	return TR_TEXT("");
}

/* Appends the key of the field for a column. */
static void put_key(const struct tr_module_columns *columns, size_t i, struct tr_buffer *to)
{
	if (columns->kinds[i] == TR_MODULE_BASE)
		tr_buffer_put_literal(to, "base"); /* even if the table calls it start */
	else
		tr_cell_escape(tr_module_column_name(columns, i), true, to);
}

/* Appends the value of a field for a cell. */
static void put_value(enum tr_module_column kind, const struct tr_module_cell *cell,
		      struct tr_buffer *line)
{
	if (cell->type == TR_MODULE_TEXT) {
		tr_string_quote(cell->text, line);
	} else if (is_none(kind, cell->number)) {
		tr_buffer_put_literal(line, "-1");
	} else if (kinds[kind].decimal) {
		tr_buffer_put_decimal(line, cell->number);
	} else {
		tr_buffer_put_literal(line, "0x");
		tr_buffer_put_hex(line, cell->number, 1);
	}
}

enum tr_status tr_module_ask(struct tr_record *record, struct tr_module_fact *fact,
			     struct tr_error *err)
{
	tr_error_clear(err);
	fact->id = tr_ask_number(record, "id", TR_MODULE_NO_ID, err);
	fact->containing = tr_ask_number(record, "containing_id", fact->id, err);
	const struct tr_value *base = tr_ask(record, "base", TR_POINTER, err);
	if (!base)
		base = tr_ask(record, "start", TR_POINTER, err);
	fact->base = base ? base->as.number : 0;
	fact->path = tr_ask_cell(&record->name, record->arena, err);
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

void tr_module_line(const struct tr_module_columns *columns, const struct tr_module *module,
		    uint64_t seq, struct tr_buffer *line)
{
	tr_buffer_put_literal(line, "module\t");
	tr_buffer_put_decimal(line, seq);
	tr_buffer_put_literal(line, "\t-\t-\t");
	tr_cell_escape(path_of(columns, module), false, line);
	for (size_t i = 0; i < columns->count; i++) {
		const struct tr_module_cell *cell = &module->cells[i];
		if (cell->type == TR_MODULE_NONE || columns->kinds[i] == TR_MODULE_PATH)
			continue;
		tr_buffer_put_byte(line, '\t');
		put_key(columns, i, line);
		tr_buffer_put_byte(line, '=');
		put_value(columns->kinds[i], cell, line);
	}
}

/* Reads the field of a column. TR_OK also if there is none. */
static enum tr_status read_cell(const struct tr_module_columns *columns, size_t i,
				struct tr_record *record, struct tr_module_cell *cell,
				struct tr_error *err)
{
	char text[TR_MODULE_COLUMNS_TEXT * 4 + 8]; /* an escaped byte takes four */
	struct tr_buffer key = tr_buffer_over(text, sizeof text);
	put_key(columns, i, &key);
	tr_buffer_put_byte(&key, '\0');
	const struct tr_value *value;
	enum tr_status status = tr_field_find(record, text, &value, err);
	if (status != TR_OK || !value)
		return status;
	if (value->type == TR_UINT || value->type == TR_POINTER) {
		cell->type = TR_MODULE_NUMBER;
		cell->number = value->as.number;
		return TR_OK;
	}
	if (columns->kinds[i] == TR_MODULE_CONTAINING_ID && value->type == TR_INT &&
	    (value->flags & TR_NEGATIVE) && value->as.number == 1) {
		cell->type = TR_MODULE_NUMBER;
		cell->number = TR_MODULE_NO_ID;
		return TR_OK;
	}
	if (value->type != TR_STRING || value->flags & TR_CUT) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: neither a number nor a complete string",
			     text);
		return TR_WARN;
	}
	cell->type = TR_MODULE_TEXT;
	cell->text = tr_string_bytes(value->text, record->arena);
	if (cell->text.data)
		return TR_OK;
	return tr_error_memory(err);
}

/* Reads the path of a module, which is the name of its record. */
static enum tr_status read_path(struct tr_record *record, struct tr_module_cell *cell,
				struct tr_error *err)
{
	if (record->name.type != TR_CELL_TEXT) {
		tr_error_set(err, TR_CAUSE_INPUT, "a module without a path");
		return TR_WARN;
	}
	cell->type = TR_MODULE_TEXT;
	if (tr_cell_bytes(record->name.text, record->arena, &cell->text, err))
		return TR_OK;
	return tr_error_status(err);
}

enum tr_status tr_module_read(const struct tr_module_columns *columns, struct tr_record *record,
			      struct tr_module *module, struct tr_error *err)
{
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	for (size_t i = 0; i < columns->count; i++) {
		struct tr_module_cell *cell = &module->cells[i];
		*cell = (struct tr_module_cell){ .type = TR_MODULE_NONE };
		enum tr_status status = columns->kinds[i] == TR_MODULE_PATH
						? read_path(record, cell, err)
						: read_cell(columns, i, record, cell, err);
		if (status != TR_OK)
			return status;
		struct tr_text text = cell->type == TR_MODULE_TEXT ? cell->text : TR_TEXT("");
		bool last = i + 1 == columns->count;
		if (memchr(text.data, '\n', text.len)) {
			tr_error_set(err, TR_CAUSE_INPUT, "a table cannot contain a newline");
			return TR_WARN;
		}
		if (!last && memchr(text.data, ',', text.len)) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "a table can contain a comma only in its last column");
			return TR_WARN;
		}
	}
	return TR_OK;
}

struct tr_text tr_drcov_next_line(struct tr_text *text)
{
	const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;
	struct tr_text line = { text->data, lf ? (size_t)(lf - text->data) + 1 : text->len };
	text->data += line.len;
	text->len -= line.len;
	return line;
}

/* Skips the word at the beginning, and blanks after it. False: it is not there. */
static bool take(struct tr_text *text, const char *word)
{
	struct tr_text start = tr_text_from(word);
	if (!tr_text_starts(*text, start))
		return false;
	text->data += start.len;
	text->len -= start.len;
	while (text->len && *text->data == ' ') {
		text->data++;
		text->len--;
	}
	return true;
}

/* Reads decimal digits and skips them. False: there are none, or too many. */
static bool take_number(struct tr_text *text, uint64_t *number)
{
	struct tr_text digits = { text->data, 0 };
	while (digits.len < text->len && digits.data[digits.len] >= '0' &&
	       digits.data[digits.len] <= '9')
		digits.len++;
	text->data += digits.len;
	text->len -= digits.len;
	return tr_decimal_read(digits, UINT64_MAX, number);
}

/* "version 2, count 12" */
static bool versioned(struct tr_text text, uint64_t *version, uint64_t *count)
{
	return take(&text, "version") && take_number(&text, version) && take(&text, ",") &&
	       take(&text, "count") && take_number(&text, count) && text.len == 0;
}

/* Reads what follows "Module Table:". Version 1 has only the count. */
static bool table_line(struct tr_drcov_head *head, struct tr_text text)
{
	struct tr_text number = text;
	uint64_t version;
	if (versioned(text, &version, &head->count))
		head->table = version;
	else if (take_number(&number, &head->count) && number.len == 0)
		head->table = 1;
	return head->table > 0;
}

bool tr_drcov_head_line(struct tr_drcov_head *head, struct tr_text line)
{
	struct tr_text text = tr_text_trimmed(line);
	if (!head->has_version) {
		head->has_version = take(&text, TR_DRCOV_VERSION) &&
				    take_number(&text, &head->version) && text.len == 0;
		return head->has_version;
	}
	if (head->table) {
		if (tr_drcov_head_whole(head) || !take(&text, "Columns:"))
			return false;
		head->bad_columns = !parse_columns(&head->columns, text);
		return !head->bad_columns;
	}
	bool blank = !text.len;
	if (!head->flavor.data && take(&text, "DRCOV FLAVOR:"))
		head->flavor = text;
	else if (!take(&text, "Module Table:") || !table_line(head, text))
		head->odd |= !blank;
	return true;
}

bool tr_drcov_head_whole(const struct tr_drcov_head *head)
{
	return head->table == 1 || (head->table && head->columns.count);
}

bool tr_drcov_head_begins(struct tr_text text)
{
	struct tr_drcov_head head = { .has_version = false };
	return text.len && tr_drcov_head_line(&head, tr_drcov_next_line(&text));
}

/* Supplies the columns of the table's version if no line states them. */
static void drcov_head_supply(struct tr_drcov_head *head)
{
	if (!head->columns.count)
		module_columns_of(&head->columns, head->table, false);
}

/* Removes the lines of the head from text. */
static void take_head(struct tr_drcov_head *head, struct tr_text *text)
{
	*head = (struct tr_drcov_head){ .has_version = false };
	for (struct tr_text rest = *text; rest.len; *text = rest)
		if (!tr_drcov_head_line(head, tr_drcov_next_line(&rest)))
			break;
	drcov_head_supply(head);
}

bool tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text)
{
	bool ended = text.len && text.data[text.len - 1] == '\n';
	take_head(head, &text);
	return ended && !text.len;
}

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, TR_DRCOV_VERSION " ");
	tr_buffer_put_decimal(to, head->version);
	if (head->flavor.data) {
		tr_buffer_put_literal(to, "\nDRCOV FLAVOR: ");
		tr_buffer_put_text(to, head->flavor);
	}
	tr_buffer_put_literal(to, "\nModule Table: ");
	if (head->table > 1) {
		tr_buffer_put_literal(to, "version ");
		tr_buffer_put_decimal(to, head->table);
		tr_buffer_put_literal(to, ", count ");
	}
	tr_buffer_put_decimal(to, head->count);
	if (head->table > 1) {
		tr_buffer_put_literal(to, "\nColumns: ");
		for (size_t i = 0; i < head->columns.count; i++) {
			if (i)
				tr_buffer_put_literal(to, ", ");
			tr_buffer_put_text(to, tr_module_column_name(&head->columns, i));
		}
	}
	tr_buffer_put_byte(to, '\n');
}

/* True if two heads have the same meaning, in any spelling. */
static bool drcov_head_equal(const struct tr_drcov_head *a, const struct tr_drcov_head *b)
{
	return a->version == b->version && a->table == b->table && a->count == b->count &&
	       !a->flavor.data == !b->flavor.data && tr_text_equal(a->flavor, b->flavor) &&
	       module_columns_equal(&a->columns, &b->columns);
}

bool tr_drcov_blocks_line(struct tr_text line, uint64_t *count)
{
	struct tr_text text = tr_text_trimmed(line);
	return take(&text, "BB Table:") && take_number(&text, count) && take(&text, " ") &&
	       tr_text_is(text, "bbs");
}

void tr_drcov_blocks_write(uint64_t count, bool text, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "BB Table: ");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_literal(to, " bbs\n");
	if (text)
		tr_buffer_put_literal(to, TR_DRCOV_TEXT_LINE "\n");
}

bool tr_drcov_hits_line(struct tr_text line, uint64_t *count)
{
	struct tr_text text = tr_text_trimmed(line);
	uint64_t version;
	return take(&text, "Hit Count Table:") && versioned(text, &version, count) && version == 1;
}

void tr_drcov_hits_write(uint64_t count, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "Hit Count Table: version 1, count ");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_byte(to, '\n');
}

void tr_module_list_free(struct tr_module_list *list)
{
	tr_buffer_free(&list->flavor);
	tr_buffer_free(&list->spelled);
	tr_buffer_free(&list->rows);
	free(list->places);
	free(list->by_id);
	free(list->sorted);
	list->places = NULL;
	list->by_id = list->sorted = NULL;
	list->count = list->cap = 0;
}

/* Reads the flavor of a header. err is filled if there is one that a line cannot hold. */
static void read_flavor(struct tr_record *header, struct tr_module_list *list, struct tr_error *err)
{
	struct tr_text flavor;
	if (tr_field_string(header, "flavor", &flavor, err) != TR_OK || !flavor.data)
		return;
	if (memchr(flavor.data, '\n', flavor.len)) {
		tr_error_set(err, TR_CAUSE_INPUT, "flavor: a table cannot contain a newline");
		return;
	}
	tr_buffer_put_text(&list->flavor, flavor);
	list->head.flavor = tr_buffer_text(&list->flavor);
}

/*
 * Reads the columns of a header. False: there are none, or they do not make a table. err is filled
 * if a column was left out because of its name.
 */
static bool header_columns(struct tr_record *header, struct tr_module_columns *columns,
			   struct tr_error *err)
{
	const struct tr_value *list = tr_ask(header, "columns", TR_LIST, err);
	*columns = (struct tr_module_columns){ .count = 0 };
	for (size_t i = 0; list && i < list->count; i++) {
		if (list->as.items[i].type != TR_STRING)
			return false;
		struct tr_text name = tr_string_bytes(list->as.items[i].text, header->arena);
		if (!name.data)
			tr_error_memory(err);
		if (name.data &&
		    (memchr(name.data, ',', name.len) || memchr(name.data, '\n', name.len))) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "columns: the name of one has a comma or a newline: left out");
			continue;
		}
		if (!name.data || !module_columns_add(columns, name))
			return false;
	}
	return columns->count > 0;
}

/* Begins an empty list with the default table, for streams without a header. */
static void begin_usual(struct tr_module_list *list)
{
	tr_buffer_reset(&list->flavor);
	tr_buffer_reset(&list->spelled);
	tr_buffer_reset(&list->rows);
	list->count = 0;
	free(list->by_id);
	free(list->sorted);
	list->by_id = list->sorted = NULL;
	list->digits = 16;
	list->head = (struct tr_drcov_head){ .version = 2, .table = 2, .has_version = true };
	module_columns_of(&list->head.columns, 2, false);
	list->source = list->head.columns;
}

/* A header that does not describe a table is treated like a missing one. */
enum tr_status tr_module_list_begin(struct tr_module_list *list, struct tr_record *header,
				    struct tr_error *err)
{
	struct tr_module_columns columns;
	tr_error_clear(err);
	begin_usual(list);
	if (!header || !header_columns(header, &columns, err))
		return err->cause == TR_CAUSE_NONE ? TR_OK : tr_error_status(err);
	list->head.columns = list->source = columns;
	list->head.version = tr_ask_number(header, "version", 2, err);
	list->head.table = tr_ask_number(header, "table", 2, err);
	if (tr_ask_number(header, "bits", 64, err) == 32)
		list->digits = 8;
	struct tr_text spelled = tr_ask_string(header, ".head", err);
	if (spelled.data)
		tr_buffer_put_text(&list->spelled, spelled);
	if (!tr_error_is_memory(err))
		read_flavor(header, list, err);
	if (list->flavor.failed || list->spelled.failed)
		return tr_error_memory(err);
	return err->cause == TR_CAUSE_NONE ? TR_OK : tr_error_status(err);
}

void tr_module_list_choose(struct tr_module_list *list, unsigned version, unsigned table)
{
	if (version)
		list->head.version = version;
	if (!table)
		return;
	bool windows = module_columns_have(&list->source, TR_MODULE_CHECKSUM);
	list->head.table = table;
	module_columns_of(&list->head.columns, table, windows);
}

bool tr_module_list_place(struct tr_module_list *list, const struct tr_module *module)
{
	const struct tr_module_columns *columns = &list->source;
	if (list->count == UINT32_MAX || !tr_array_room(list->places, list->count, list->cap))
		return false;
	if (!list->by_id && !(list->by_id = calloc(TR_MODULE_IDS, sizeof *list->by_id)))
		return false;
	struct tr_module_place here = {
		.base = tr_module_number(columns, module, TR_MODULE_BASE, 0),
		.id = tr_module_number(columns, module, TR_MODULE_ID, list->count),
	};
	here.end = tr_module_number(columns, module, TR_MODULE_END, here.base);
	here.origin = here.base;
	/* version 2 counts from the base of the whole module, whose row comes first */
	uint64_t whole = tr_module_number(columns, module, TR_MODULE_CONTAINING_ID, here.id);
	const struct tr_module_place *containing = tr_module_list_id(list, whole);
	if (list->head.version == 2 && whole != here.id && containing &&
	    module_columns_have(&list->head.columns, TR_MODULE_CONTAINING_ID))
		here.origin = containing->origin;
	list->places[list->count++] = here;
	if (here.id < TR_MODULE_IDS)
		list->by_id[here.id] = (uint32_t)list->count;
	return true;
}

/* Returns the number in a column of the table that is written and not in that of the record. */
static uint64_t supply(const struct tr_module_list *list, const struct tr_module *from,
		       enum tr_module_column kind)
{
	const struct tr_module_columns *source = &list->source;
	switch (kind) {
	case TR_MODULE_ID:
		return list->count;
	case TR_MODULE_CONTAINING_ID:
		return tr_module_number(source, from, TR_MODULE_ID, list->count);
	case TR_MODULE_PREFERRED_BASE:
		return tr_module_number(source, from, TR_MODULE_BASE, 0);
	case TR_MODULE_END: /* of tables with sizes alone */
		return tr_module_number(source, from, TR_MODULE_SIZE, 0);
	default:
		return 0;
	}
}

/*
 * Adds a module. spelled: its row as the source spells it, or data NULL; otherwise the row is
 * written in the columns of the head. False: memory is exhausted.
 */
static bool add(struct tr_module_list *list, const struct tr_module *module, struct tr_text spelled)
{
	const struct tr_module_columns *to = &list->head.columns, *from = &list->source;
	struct tr_module row;
	for (size_t i = 0; i < to->count && !spelled.data; i++) {
		struct tr_text name = tr_module_column_name(to, i);
		row.cells[i] = (struct tr_module_cell){ .type = TR_MODULE_NONE };
		for (size_t k = 0; k < from->count; k++)
			if (to->kinds[i] == TR_MODULE_OTHER
				    ? tr_text_equal(name, tr_module_column_name(from, k))
				    : to->kinds[i] == from->kinds[k])
				row.cells[i] = module->cells[k];
		if (row.cells[i].type == TR_MODULE_NONE)
			row.cells[i] = (struct tr_module_cell){
				.type = TR_MODULE_NUMBER,
				.number = supply(list, module, to->kinds[i]),
			};
	}
	if (spelled.data)
		tr_buffer_put_text(&list->rows, spelled);
	else
		tr_module_write(to, &row, list->digits, &list->rows);
	return tr_module_list_place(list, module) && !list->rows.failed;
}

enum tr_status tr_module_list_add(struct tr_module_list *list, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_module module, parsed;
	enum tr_status status = tr_module_read(&list->source, record, &module, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	struct tr_text row = tr_ask_string(record, ".row", err), none = { NULL, 0 };
	/* the spelling of the source is kept if it is one row and agrees with the fields */
	bool kept = row.len && memchr(row.data, '\n', row.len) == row.data + row.len - 1 &&
		    module_columns_equal(&list->source, &list->head.columns);
	if (kept) {
		struct tr_text line = { row.data, row.len - 1 };
		(void)tr_module_parse(&list->source, line, &parsed);
		kept = module_equal(&list->source, &parsed, &module);
	}
	if (tr_error_is_memory(err) || !add(list, &module, kept ? row : none))
		return tr_error_memory(err);
	return TR_OK;
}

/* All other columns of numbers are 0. */
bool tr_module_list_put(struct tr_module_list *list, uint64_t base, uint64_t end,
			struct tr_text path)
{
	const uint64_t numbers[TR_MODULE_OTHER + 1] = {
		[TR_MODULE_ID] = list->count, [TR_MODULE_CONTAINING_ID] = list->count,
		[TR_MODULE_BASE] = base,      [TR_MODULE_PREFERRED_BASE] = base,
		[TR_MODULE_END] = end,	      [TR_MODULE_SIZE] = end - base,
	};
	struct tr_text none = { NULL, 0 };
	struct tr_module module;
	for (size_t i = 0; i < list->source.count; i++) {
		enum tr_module_column kind = list->source.kinds[i];
		module.cells[i] = (struct tr_module_cell){ .type = TR_MODULE_NUMBER,
							   .number = numbers[kind] };
		if (kind == TR_MODULE_PATH)
			module.cells[i] =
				(struct tr_module_cell){ .type = TR_MODULE_TEXT, .text = path };
	}
	return add(list, &module, none);
}

enum tr_status tr_module_list_parse(struct tr_module_list *list, struct tr_text text,
				    unsigned version, unsigned table)
{
	struct tr_drcov_head head;
	const char *begin = text.data;
	begin_usual(list);
	take_head(&head, &text);
	if (!head.table || head.bad_columns)
		return TR_END;
	tr_buffer_put_text(&list->spelled, tr_text_span(begin, text.data));
	list->source = head.columns;
	tr_buffer_put_text(&list->flavor, head.flavor);
	list->head = head;
	if (head.flavor.data)
		list->head.flavor = tr_buffer_text(&list->flavor);
	tr_module_list_choose(list, version, table);
	bool as_is = module_columns_equal(&list->source, &list->head.columns);
	while (text.len) {
		struct tr_module module;
		struct tr_text line = tr_drcov_next_line(&text), row = line, none = { NULL, 0 };
		row.len -= row.data[row.len - 1] == '\n';
		(void)tr_module_parse(&list->source, row, &module);
		if (!add(list, &module, as_is ? line : none))
			return TR_FATAL;
	}
	return list->flavor.failed || list->spelled.failed ? TR_FATAL : TR_OK;
}

void tr_module_list_write(const struct tr_module_list *list, struct tr_buffer *to)
{
	struct tr_drcov_head head = list->head, spelled;
	head.count = list->count;
	if (tr_drcov_head_parse(&spelled, tr_buffer_text(&list->spelled)) &&
	    drcov_head_equal(&head, &spelled))
		tr_buffer_put_text(to, tr_buffer_text(&list->spelled));
	else
		tr_drcov_head_write(&head, to);
	tr_buffer_put_text(to, tr_buffer_text(&list->rows));
}

/* Sorts places by their base. */
static int by_base(const void *a, const void *b, void *places)
{
	const struct tr_module_place *x = (struct tr_module_place *)places + *(const uint32_t *)a;
	const struct tr_module_place *y = (struct tr_module_place *)places + *(const uint32_t *)b;
	return (x->base > y->base) - (x->base < y->base);
}

/*
 * Returns the module that contains the address, or else the nearest one below it, from which the
 * address can be counted all the same. NULL: there is none. Nothing may be added to the list
 * afterwards. *failed: memory is exhausted.
 */
static const struct tr_module_place *find(struct tr_module_list *list, uint64_t address,
					  bool *failed)
{
	enum { OVERLAPS = 8 }; /* few modules overlap */
	const struct tr_module_place *nearest = NULL;
	if (list->count == 0)
		return NULL;
	if (!list->sorted) {
		list->sorted = malloc(list->count * sizeof *list->sorted);
		if (!list->sorted) {
			*failed = true;
			return NULL;
		}
		for (size_t i = 0; i < list->count; i++)
			list->sorted[i] = (uint32_t)i;
		qsort_r(list->sorted, list->count, sizeof *list->sorted, by_base, list->places);
	}
	size_t low =
		tr_array_search(i, 0, list->count, list->places[list->sorted[i]].base <= address);
	for (size_t i = 0; i < OVERLAPS && i < low; i++) {
		const struct tr_module_place *here = &list->places[list->sorted[low - 1 - i]];
		if (address < here->end)
			return here;
		if (!nearest)
			nearest = here;
	}
	return nearest;
}

/*
 * False: the table has sizes alone (version 1), so addresses are counted from the module's number.
 */
static bool has_bases(const struct tr_module_list *list)
{
	return module_columns_have(&list->source, TR_MODULE_BASE);
}

unsigned tr_module_list_digits(const struct tr_module_list *list)
{
	return has_bases(list) ? list->digits : 16;
}

void tr_module_list_absolute(const struct tr_module_list *list, uint64_t id, uint64_t *address)
{
	if (!has_bases(list))
		*address += id << 32;
}

void tr_module_list_relative(struct tr_module_list *list, uint64_t address, uint64_t *id,
			     uint64_t *start, bool *failed)
{
	if (!has_bases(list)) {
		*id = address >> 32;
		*start = (uint32_t)address;
		return;
	}
	const struct tr_module_place *place = find(list, address, failed);
	/* a module whose end is not after its base contains everything above it */
	if (place && (address > UINT32_MAX || address < place->end || place->end <= place->base)) {
		*id = place->id;
		*start = address - place->origin;
		if (list->digits == 8)
			*start = (uint32_t)*start;
	} else {
		*id = TR_MODULE_IDS;
		*start = address;
	}
}
