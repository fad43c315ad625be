/* SPDX-License-Identifier: MIT */
#include "format/drcov/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire.h"
#include "format/writer_base.h"
#include "record/ask.h"

static void begin_blocks(struct tr_drcov_blocks *blocks, unsigned digits)
{
	tr_buffer_reset(&blocks->table);
	tr_buffer_reset(&blocks->hits);
	tr_buffer_reset(&blocks->lines);
	tr_buffer_reset(&blocks->hits_line);
	blocks->text = blocks->counted = blocks->absolute = false;
	blocks->digits = digits;
	blocks->count = 0;
}

static void free_blocks(struct tr_drcov_blocks *blocks)
{
	tr_buffer_free(&blocks->table);
	tr_buffer_free(&blocks->hits);
	tr_buffer_free(&blocks->lines);
	tr_buffer_free(&blocks->hits_line);
}

static bool same(const struct tr_drcov_row *a, const struct tr_drcov_row *b)
{
	return a->start == b->start && a->size == b->size && a->module == b->module;
}

bool tr_drcov_blocks_add(struct tr_drcov_blocks *blocks, const struct tr_drcov_row *row,
			 uint64_t hits, struct tr_text spelled)
{
	struct tr_drcov_row parsed;
	char *to = tr_buffer_room(&blocks->hits, TR_DRCOV_HIT);
	if (to)
		tr_wire_put_u32(to, false, hits > UINT32_MAX ? UINT32_MAX : (uint32_t)hits);
	tr_buffer_used(&blocks->hits, to ? TR_DRCOV_HIT : 0);
	blocks->count++;
	if (!blocks->text) {
		to = tr_buffer_room(&blocks->table, TR_DRCOV_BLOCK);
		if (to)
			tr_drcov_row_pack(row, to);
		tr_buffer_used(&blocks->table, to ? TR_DRCOV_BLOCK : 0);
	} else if (spelled.len &&
		   memchr(spelled.data, '\n', spelled.len) == spelled.data + spelled.len - 1 &&
		   tr_drcov_row_parse(spelled, &parsed) && same(&parsed, row)) {
		tr_buffer_put_text(&blocks->table, spelled);
	} else {
		tr_drcov_row_write(row, blocks->digits, &blocks->table);
	}
	return !blocks->table.failed && !blocks->hits.failed;
}

/* True when the source's lines say what these tables are, so that they can stand. */
static bool lines_hold(const struct tr_drcov_blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->lines), line = { "", 0 };
	uint64_t count = 0;
	bool found = false;
	while (text.len && !found) {
		line = tr_drcov_next_line(&text);
		found = tr_drcov_blocks_line(line, &count);
		if (!found && tr_text_trimmed(line).len)
			return false;
	}
	bool marked = tr_text_starts(text, TR_TEXT(TR_DRCOV_TEXT_MARK)) &&
		      text.data[text.len - 1] == '\n';
	tr_drcov_next_line(&text);
	return found && count == blocks->count && text.len == 0 && marked == blocks->text &&
	       line.data[line.len - 1] == '\n';
}

static bool hits_line_holds(const struct tr_drcov_blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->hits_line);
	struct tr_text line = tr_drcov_next_line(&text);
	uint64_t count;
	return line.len && !text.len && line.data[line.len - 1] == '\n' &&
	       tr_drcov_hits_line(line, &count) && count == blocks->count;
}

static void write_blocks(const struct tr_drcov_blocks *blocks, struct tr_output *out)
{
	char small[128];
	struct tr_buffer line = tr_buffer_over(small, sizeof small);
	if (lines_hold(blocks)) {
		tr_output_put_text(out, tr_buffer_text(&blocks->lines));
	} else {
		tr_drcov_blocks_write(blocks->count, blocks->text, &line);
		tr_output_put_text(out, tr_buffer_text(&line));
	}
	tr_output_put_text(out, tr_buffer_text(&blocks->table));
	if (!blocks->counted)
		return;
	line.len = 0;
	if (hits_line_holds(blocks)) {
		tr_output_put_text(out, tr_buffer_text(&blocks->hits_line));
	} else {
		tr_drcov_hits_write(blocks->count, &line);
		tr_output_put_text(out, tr_buffer_text(&line));
	}
	tr_output_put_text(out, tr_buffer_text(&blocks->hits));
}

struct writer {
	struct tr_writer base;
	struct tr_settings settings;
	unsigned version, table; /* -O; 0: as it was */
	struct tr_text text;	 /* -O; data NULL: as it was */

	/* the dump */
	bool headed; /* it has a header in the stream */
	bool own;    /* it was a drcov file */
	bool begun;  /* something of it came */
	struct tr_module_list list;
	struct tr_drcov_blocks blocks;
	struct tr_drcov_foreign foreign;

	/* the whole file: to be told at the end */
	uint64_t dumps, too_far, empty;
	bool supplied; /* a header */
};

static bool ends_in(struct tr_text text, struct tr_text end)
{
	return text.len >= end.len &&
	       memcmp(text.data + text.len - end.len, end.data, end.len) == 0;
}

/* All of the dump is there: counts, then tables. */
static bool put_dump(struct writer *writer)
{
	struct tr_module_list *list = &writer->list;
	struct tr_buffer head = TR_BUFFER_INIT;
	bool good = true;
	if (!writer->own) {
		good = tr_drcov_foreign_list(&writer->foreign, &writer->settings, list,
					     writer->version, writer->table) &&
		       tr_drcov_foreign_blocks(&writer->foreign, list, &writer->blocks);
		/* the counts of what was a drcov file are lost, and not to be promised */
		struct tr_text *flavor = &list->head.flavor;
		if (!writer->blocks.counted && ends_in(*flavor, TR_TEXT("-hits")))
			flavor->len -= sizeof "-hits" - 1;
		if (!list->head.flavor.data)
			list->head.flavor = writer->blocks.counted ? TR_TEXT("drcov-hits")
					    : list->digits == 8	   ? TR_TEXT("drcov-32")
								   : TR_TEXT("drcov-64");
	}
	tr_module_list_write(list, &head);
	good &= !head.failed;
	if (good) {
		tr_output_put_text(writer->base.out, tr_buffer_text(&head));
		write_blocks(&writer->blocks, writer->base.out);
	}
	tr_buffer_free(&head);
	writer->dumps++;
	writer->too_far += writer->foreign.too_far;
	writer->empty += writer->foreign.empty;
	return good;
}

static enum tr_status end_dump(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if ((writer->begun || (writer->headed && writer->own)) && !put_dump(writer))
		return tr_error_memory(err);
	writer->headed = writer->own = writer->begun = false;
	return TR_OK;
}

static bool begin_dump(struct writer *writer, struct tr_record *header)
{
	struct tr_module_list *list = &writer->list;
	bool good = tr_module_list_begin(list, header);
	writer->own = header && tr_record_field(header, "columns");
	if (writer->own)
		tr_module_list_choose(list, writer->version, writer->table);
	begin_blocks(&writer->blocks, list->digits);
	writer->blocks.text = writer->text.data && tr_text_is(writer->text, "yes");
	tr_drcov_foreign_begin(&writer->foreign);
	return good;
}

static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	writer->headed = true;
	return begin_dump(writer, header) ? TR_OK : tr_error_memory(err);
}

/* What the source says of its tables of blocks. */
static enum tr_status put_meta(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_drcov_blocks *blocks = &writer->blocks;
	struct tr_text form = tr_ask_string(record, "value", err);
	struct tr_text lines = tr_ask_string(record, ".lines", err);
	struct tr_text hits = tr_ask_string(record, ".hits", err);
	if (!writer->text.data)
		blocks->text = form.data && tr_text_is(form, "text");
	blocks->counted = tr_record_field(record, "hits") != NULL;
	blocks->absolute = tr_ask_is(record, "starts", "absolute", err);
	if (lines.data)
		tr_buffer_put_text(&blocks->lines, lines);
	if (hits.data)
		tr_buffer_put_text(&blocks->hits_line, hits);
	if (blocks->lines.failed || blocks->hits_line.failed || err->cause == TR_CAUSE_MEMORY)
		return tr_error_memory(err);
	return TR_OK;
}

static enum tr_status misfit(const char *what, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

/* A block that says its module, in a dump that has a table of them. */
static enum tr_status put_own_block(struct writer *writer, struct tr_record *record,
				    struct tr_error *err)
{
	struct tr_drcov_blocks *blocks = &writer->blocks;
	uint64_t address, size, id, hits;
	uint8_t digits;
	size = tr_ask_number(record, "size", UINT64_MAX, err);
	id = tr_ask_number(record, "module", UINT64_MAX, err);
	hits = tr_ask_number(record, "hits", UINT64_MAX, err);
	if (err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	if (!tr_address_read(&record->name, &address, &digits))
		return misfit("a block whose name is not an address", err);
	if (id > UINT32_MAX || size > UINT32_MAX)
		return misfit("a block without a size or a module", err);
	const struct tr_module_place *place = tr_module_list_id(&writer->list, id);
	uint64_t start = address - (place ? place->origin : 0);
	if (blocks->absolute)
		start = (uint32_t)address;
	if (writer->list.digits == 8)
		start = (uint32_t)start;
	if (!blocks->text && (start > UINT32_MAX || size > UINT16_MAX || id > UINT16_MAX))
		return misfit("a block that is too big, or too far from its module", err);
	struct tr_drcov_row row = { start, (uint32_t)size, (uint32_t)id };
	blocks->counted |= hits != UINT64_MAX;
	struct tr_text spelled = { NULL, 0 };
	if (blocks->text)
		spelled = tr_ask_string(record, ".row", err);
	if (err->cause == TR_CAUSE_MEMORY ||
	    !tr_drcov_blocks_add(blocks, &row, hits == UINT64_MAX ? 1 : hits, spelled))
		return tr_error_memory(err);
	return TR_OK;
}

static enum tr_status put_own(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	if (tr_text_is(record->kind, "block"))
		return put_own_block(writer, record, err);
	if (tr_text_is(record->kind, "module"))
		return tr_module_list_add(&writer->list, record, err);
	if (tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	    tr_text_is(record->name.text, "bbs"))
		return put_meta(writer, record, err);
	return TR_END;
}

/* A stream that has lost its header: what it says first tells which it was. */
static enum tr_status supply_header(struct writer *writer, struct tr_record *record,
				    struct tr_error *err)
{
	if (writer->headed)
		return TR_OK;
	writer->headed = true;
	if (!begin_dump(writer, NULL))
		return tr_error_memory(err);
	writer->own = tr_text_is(record->kind, "module") ||
		      (tr_text_is(record->kind, "block") && tr_record_field(record, "module"));
	writer->supplied = true;
	return TR_OK;
}

/* Several dumps that became one trace are several again. False: memory is out. */
static bool next_dump(struct writer *writer)
{
	return put_dump(writer) && begin_dump(writer, NULL);
}

static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	enum tr_status status = supply_header(writer, record, err);
	if (status != TR_OK)
		return status;
	bool next = !writer->own && tr_drcov_foreign_is_next(&writer->foreign, record, err);
	if (err->cause == TR_CAUSE_MEMORY || (next && !next_dump(writer)))
		return tr_error_memory(err);
	status = writer->own ? put_own(writer, record, err)
			     : tr_drcov_foreign_put(&writer->foreign, record, err);
	if (status == TR_END)
		return TR_END;
	writer->begun = true;
	if (status == TR_WARN)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status note(const char *what, struct tr_error *err)
{
	tr_error_say(err, TR_CAUSE_INPUT, what);
	tr_error_is_note(err);
	return TR_WARN;
}

/* The next of what there is to tell, each once. TR_OK: that was all. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	uint64_t too_far = writer->too_far, empty = writer->empty;
	if (too_far) {
		writer->too_far = 0;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: %" PRIu64 " blocks farther than 4 GiB from every module "
			     "(give their module with -O module=PATH@BASE)",
			     too_far);
		return TR_WARN;
	}
	if (empty) {
		writer->empty = 0;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "blocks without a size, which drcov cannot hold: %" PRIu64, empty);
		err->severity = TR_DETAIL;
		return TR_WARN;
	}
	if (writer->supplied) {
		writer->supplied = false;
		return note("the stream has no header: version 2 is supplied", err);
	}
	if (writer->dumps > 1) {
		writer->dumps = 0;
		return note("several dumps in one file: many readers see only the first", err);
	}
	return TR_OK;
}

static const struct tr_writer_steps steps = {
	.format = "drcov",
	.begin = begin_segment,
	.put = put_record,
	.end = end_dump,
	.report = report,
};

static struct tr_text setting(const struct tr_write_config *config, const char *key)
{
	return tr_setting_get(&config->settings, key, NULL);
}

struct tr_writer *tr_drcov_create(const struct tr_write_config *config, struct tr_output *out,
				  struct tr_error *err)
{
	struct tr_text version = setting(config, "version"), table = setting(config, "table");
	for (size_t i = 0; i < config->settings.count; i++) {
		const struct tr_setting *s = &config->settings.list[i];
		struct tr_text path;
		uint64_t base;
		if (!tr_text_is(s->key, "module") || tr_drcov_setting(s->value, &path, &base))
			continue;
		tr_error_set(err, TR_CAUSE_USAGE, "-O module takes PATH@0xBASE, not '%.*s'",
			     (int)(s->value.len < 80 ? s->value.len : 80), s->value.data);
		return NULL;
	}
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->settings = config->settings;
	writer->version = version.len ? (unsigned)(*version.data - '0') : 0;
	writer->table = table.len ? (unsigned)(*table.data - '0') : 0;
	writer->text = setting(config, "text");
	return &writer->base;
}

void tr_drcov_discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_module_list_free(&writer->list);
	free_blocks(&writer->blocks);
	tr_drcov_foreign_free(&writer->foreign);
	free(writer);
}
