#define _GNU_SOURCE /* memmem */
#include "format/drcov/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 64 << 10 };

struct tr_reader *tr_drcov_open(const struct tr_read_config *config, struct tr_input *in,
				struct tr_error *err)
{
	struct tr_drcov_reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->limits = config->limits;
	tr_arena_limit(&reader->arena, config->limits.max_record);
	reader->line = 1;
	struct tr_text starts = tr_setting_get(&config->settings, "starts", "auto");
	reader->starts = tr_text_is(starts, "absolute")	  ? TR_DRCOV_ABSOLUTE
			 : tr_text_is(starts, "relative") ? TR_DRCOV_RELATIVE
							  : TR_DRCOV_AUTO;
	return (struct tr_reader *)reader;
}

void tr_drcov_close(struct tr_reader *base)
{
	struct tr_drcov_reader *reader = (struct tr_drcov_reader *)base;
	tr_buffer_free(&reader->head_text);
	tr_buffer_free(&reader->lines);
	tr_buffer_free(&reader->hits);
	tr_buffer_free(&reader->hits_line);
	tr_buffer_free(&reader->out);
	tr_arena_free(&reader->arena);
	free(reader->bases);
	free(reader);
}

static bool has(struct tr_text text, const char *word)
{
	return text.len && memmem(text.data, text.len, word, strlen(word));
}

/*
 * Digits of an address: the flavor says which (drcov-64, drcov-32); otherwise the first row,
 * whose addresses have eight in a program of 32 bits.
 */
static unsigned address_digits(struct tr_text flavor, struct tr_text row)
{
	const char *end = row.data + row.len, *x = row.len ? memchr(row.data, 'x', row.len) : NULL;
	size_t digits = 0;
	while (x && ++x < end && *x != ',')
		digits++;
	if (has(flavor, "-64"))
		return 16;
	return digits == 8 || (has(flavor, "-32") && digits < 8) ? 8 : 16;
}

static void put_header(struct tr_drcov_reader *reader)
{
	const struct tr_drcov_head *head = &reader->head;
	struct tr_buffer usual = TR_BUFFER_INIT;
	tr_buffer_put_literal(&reader->out, "%trec\t1");
	if (++reader->dumps > 1) {
		tr_drcov_put_key(reader, "stream");
		tr_buffer_put_decimal(&reader->out, reader->dumps);
	}
	tr_drcov_put_key(reader, "version");
	tr_buffer_put_decimal(&reader->out, head->version);
	if (head->flavor.data) {
		tr_drcov_put_key(reader, "flavor");
		tr_drcov_put_string(reader, head->flavor);
	}
	tr_drcov_put_key(reader, "table");
	tr_buffer_put_decimal(&reader->out, head->table);
	tr_drcov_put_key(reader, "columns");
	for (size_t i = 0; i < head->columns.count; i++) {
		tr_buffer_put_byte(&reader->out, i ? ',' : '[');
		tr_drcov_put_string(reader, tr_module_column_name(&head->columns, i));
	}
	tr_buffer_put_literal(&reader->out, "]");
	tr_drcov_put_key(reader, "bits");
	tr_buffer_put_decimal(&reader->out, reader->digits * 4);
	tr_drcov_head_write(head, &usual);
	tr_drcov_put_odd(reader, ".head", tr_buffer_text(&reader->head_text), &usual);
	tr_buffer_free(&usual);
}

/* The head is read: what does it allow? */
static enum tr_status judge_head(struct tr_drcov_reader *reader, struct tr_error *err)
{
	const struct tr_drcov_head *head = &reader->head;
	reader->state = TR_DRCOV_OVER;
	if (!head->has_version)
		tr_error_set(err, TR_CAUSE_INPUT, "no drcov file: it does not begin with \"%s N\"",
			     TR_DRCOV_VERSION);
	else if (head->version != 2 && head->version != 3)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "drcov of version %" PRIu64 ": versions 2 and 3 are read",
			     head->version);
	else if (!head->has_table && !tr_input_more(reader->in, 1))
		tr_error_set(err, TR_CAUSE_CUT, "the input ends before the module table");
	else if (!head->has_table)
		tr_error_set(err, TR_CAUSE_INPUT, "no module table in the first %d KiB",
			     HEAD_MAX >> 10);
	else if (reader->bad_columns)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the module table has too many columns, or repeats one");
	else
		return TR_OK;
	return tr_drcov_warn(reader, err);
}

/* Takes the lines up to the first module. TR_OK; TR_WARN: one is too long; TR_FATAL. */
static enum tr_status take_head(struct tr_drcov_reader *reader, struct tr_error *err)
{
	struct tr_drcov_head *head = &reader->head;
	struct tr_buffer *text = &reader->head_text;
	struct tr_text line;
	enum tr_status status;
	while (!tr_drcov_head_whole(head)) {
		status = tr_drcov_peek_line(reader, &line, err);
		if (status == TR_END)
			break;
		if (status != TR_OK)
			return status;
		/* not a row of the table before its columns were said */
		if ((head->has_table && !tr_text_starts(line, TR_TEXT("Columns:"))) ||
		    text->len + line.len > HEAD_MAX)
			break;
		bool known = tr_drcov_head_line(head, line);
		reader->bad_columns = !known && head->has_table;
		if (!known && (!head->has_version || head->has_table))
			break;
		tr_buffer_put_text(text, line);
		if (text->failed)
			return tr_error_memory(err);
		reader->odd_head |= !known && tr_text_trimmed(line).len;
		tr_drcov_skip_line(reader, line);
	}
	/* the texts of head pointed into the window */
	tr_drcov_head_parse(head, tr_buffer_text(text));
	return TR_OK;
}

static void begin_dump(struct tr_drcov_reader *reader)
{
	reader->head = (struct tr_drcov_head){ .has_version = false };
	tr_buffer_reset(&reader->head_text);
	tr_buffer_reset(&reader->hits);
	tr_buffer_reset(&reader->hits_line);
	reader->base_count = 0;
	reader->modules = reader->blocks = reader->count = reader->seq = 0;
	reader->text = reader->odd_head = reader->bad_columns = false;
}

static enum tr_status read_head(struct tr_drcov_reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_text row = { "", 0 };
	begin_dump(reader);
	tr_drcov_mark(reader);
	enum tr_status status = take_head(reader, err);
	if (status == TR_OK)
		status = judge_head(reader, err);
	if (status != TR_OK) {
		reader->state = TR_DRCOV_OVER;
		return status;
	}
	/* the first row is only looked at: what is wrong with it shows when it is read */
	if (reader->head.count && tr_drcov_peek_line(reader, &row, err) == TR_FATAL)
		return TR_FATAL;
	reader->digits = address_digits(reader->head.flavor, row);
	reader->state = reader->head.count ? TR_DRCOV_MODULES : TR_DRCOV_TABLE;
	put_header(reader);
	if (!reader->odd_head)
		return tr_drcov_deliver(reader, record, err);
	reader->ready = true;
	tr_error_set(err, TR_CAUSE_INPUT, "lines before the module table that are not known: kept");
	err->severity = TR_FLAW;
	return tr_drcov_warn(reader, err);
}

/* False: memory is out. */
static bool reserve_bases(struct tr_drcov_reader *reader, size_t count)
{
	if (count < 2 * reader->base_count)
		count = 2 * reader->base_count;
	struct tr_drcov_base *bases = realloc(reader->bases, count * sizeof *bases);
	if (!bases)
		return false;
	memset(bases + reader->base_count, 0, (count - reader->base_count) * sizeof *bases);
	reader->bases = bases;
	reader->base_count = count;
	return true;
}

/* False: memory is out. */
static bool keep_base(struct tr_drcov_reader *reader, const struct tr_module *module)
{
	const struct tr_module_columns *columns = &reader->head.columns;
	uint64_t id = tr_module_number(columns, module, TR_MODULE_ID, TR_DRCOV_NO_MODULE);
	uint64_t whole = tr_module_number(columns, module, TR_MODULE_CONTAINING_ID, id);
	uint64_t address = tr_module_number(columns, module, TR_MODULE_BASE, 0);
	reader->module_id = id;
	reader->module_end = tr_module_number(columns, module, TR_MODULE_END, address);
	if (id >= TR_DRCOV_NO_MODULE)
		return true; /* no block can name it */
	if (id >= reader->base_count && !reserve_bases(reader, (size_t)id + 1))
		return false;
	/* version 2 counts from the base of the whole module, whose entry comes first */
	if (reader->head.version == 2 && whole != id && whole < reader->base_count &&
	    reader->bases[whole].known)
		address = reader->bases[whole].address;
	reader->bases[id] = (struct tr_drcov_base){ address, true };
	return true;
}

static enum tr_status short_table(struct tr_drcov_reader *reader, struct tr_error *err)
{
	reader->state = TR_DRCOV_TABLE;
	tr_error_set(err, TR_CAUSE_CUT,
		     "the module table announces %" PRIu64 " modules, there are %" PRIu64,
		     reader->head.count, reader->modules);
	return tr_drcov_warn(reader, err);
}

static enum tr_status read_module(struct tr_drcov_reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_text line;
	struct tr_module module;
	struct tr_buffer usual = TR_BUFFER_INIT;
	enum tr_status status = tr_drcov_peek_line(reader, &line, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	if (status == TR_END || tr_text_starts(line, TR_TEXT("BB Table:")) ||
	    line.data[line.len - 1] != '\n') {
		if (status == TR_OK && line.data[line.len - 1] != '\n')
			tr_drcov_skip_line(reader, line); /* a row that is cut */
		return short_table(reader, err);
	}
	struct tr_text row = { line.data, line.len - 1 };
	bool good = tr_module_parse(&reader->head.columns, row, &module);
	if (!keep_base(reader, &module))
		return tr_error_memory(err);
	tr_module_line(&reader->head.columns, &module, reader->seq++, &reader->out);
	tr_module_write(&reader->head.columns, &module, reader->digits, &usual);
	tr_drcov_put_odd(reader, ".row", line, &usual);
	tr_buffer_free(&usual);
	tr_drcov_mark(reader);
	if (!good) {
		reader->ready = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a row of the module table that is not like its "
			     "columns: passed on");
		err->severity = TR_FLAW;
		(void)tr_drcov_warn(reader, err);
	}
	tr_drcov_skip_line(reader, line);
	if (++reader->modules == reader->head.count)
		reader->state = TR_DRCOV_TABLE;
	return good ? tr_drcov_deliver(reader, record, err) : TR_WARN;
}

/* What stands behind the tables: another dump, or what nobody wrote on purpose. */
static enum tr_status read_after(struct tr_drcov_reader *reader, struct tr_error *err)
{
	enum { MAGIC = sizeof TR_DRCOV_VERSION - 1 };
	struct tr_input *in = reader->in;
	enum tr_status status = tr_drcov_skip_hits(reader, err);
	if (status != TR_END)
		return status;
	reader->state = TR_DRCOV_OVER;
	if (!tr_input_more(in, 1))
		return TR_END;
	if (tr_input_more(in, MAGIC) && memcmp(in->pos, TR_DRCOV_VERSION, MAGIC) == 0) {
		reader->state = TR_DRCOV_HEAD;
		return TR_END;
	}
	uint64_t hits;
	struct tr_text start = tr_text_span(in->pos, in->end);
	bool counts = tr_drcov_hits_line(tr_drcov_next_line(&start), &hits);
	tr_error_say(err, TR_CAUSE_INPUT,
		     counts ? "hit counts do not match the blocks: ignored"
			    : "bytes after the tables are ignored");
	(void)tr_drcov_warn(reader, err);
	while (tr_input_more(in, 1))
		tr_input_skip(in, tr_input_available(in));
	return TR_WARN;
}

enum tr_status tr_drcov_next(struct tr_reader *base, struct tr_record **record,
			     struct tr_error *err)
{
	struct tr_drcov_reader *reader = (struct tr_drcov_reader *)base;
	tr_arena_reset(&reader->arena);
	if (reader->ready)
		return tr_drcov_deliver(reader, record, err);
	for (;;) {
		enum tr_status status = TR_END;
		tr_buffer_reset(&reader->out);
		switch (reader->state) {
		case TR_DRCOV_HEAD:
			status = read_head(reader, record, err);
			break;
		case TR_DRCOV_MODULES:
			status = read_module(reader, record, err);
			break;
		case TR_DRCOV_TABLE:
			status = tr_drcov_read_table(reader, record, err);
			break;
		case TR_DRCOV_BLOCKS:
			status = tr_drcov_read_block(reader, record, err);
			break;
		case TR_DRCOV_AFTER:
			status = read_after(reader, err);
			break;
		case TR_DRCOV_OVER:
			return TR_END;
		}
		if (status != TR_END)
			return status;
	}
}
