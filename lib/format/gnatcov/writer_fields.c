/* What the fields of records say, in the terms of the format. */
#include "config.h"

#include <inttypes.h>

#include "coverage/date.h"
#include "core/wire.h"
#include "format/gnatcov/writer.h"

static enum tr_status bad(struct tr_error *err, const char *what)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

/* The value of a field, or NULL and a status: TR_END where there is no such field. */
static enum tr_status value_of(struct tr_record *record, const char *key, struct tr_value **value,
			       struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);

	*value = NULL;
	if (!field)
		return TR_END;
	*value = tr_field_value(record, field, err);
	if (*value)
		return TR_OK;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

static enum tr_status number_of(struct tr_record *record, const char *key, uint64_t max,
				uint64_t *number, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, key, &value, err);

	if (status != TR_OK)
		return status;
	if ((value->type != TR_UINT && value->type != TR_POINTER) || value->as.number > max) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: %s is no number up to %" PRIu64, key,
			     max);
		return TR_WARN;
	}
	*number = value->as.number;
	return TR_OK;
}

/* A machine by its number, which counts, or by its name. */
static enum tr_status machine_of(struct tr_record *record, uint16_t *machine, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, "machine", &value, err);
	int number = -1;

	*machine = 0;
	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	if (value->type == TR_UINT && value->as.number <= UINT16_MAX)
		number = (int)value->as.number;
	else if (value->type == TR_SYMBOL && value->as.symbol->numbered == TR_SYMBOL_WORDS &&
		 value->as.symbol->count == 1)
		number = tr_gnatcov_machine_of(value->as.symbol->names[0].text);
	else if (value->type == TR_SYMBOL && value->as.symbol->numbered != TR_SYMBOL_WORDS &&
		 value->as.symbol->number <= UINT16_MAX && !(value->flags & TR_NEGATIVE))
		number = (int)value->as.symbol->number;
	if (number < 0)
		return bad(err, "machine is none that is known");
	*machine = (uint16_t)number;
	return TR_OK;
}

static enum tr_status endian_of(struct tr_record *record, bool *big, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, "endian", &value, err);

	*big = false;
	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	if (value->type == TR_SYMBOL && value->as.symbol->count == 1) {
		struct tr_text word = value->as.symbol->names[0].text;
		*big = tr_text_is(word, "big");
		if (*big || tr_text_is(word, "little"))
			return TR_OK;
	}
	return bad(err, "endian is neither big nor little");
}

enum tr_status tr_gnatcov_section_of(struct tr_record *record, struct tr_gnatcov_section *section,
				     struct tr_error *err)
{
	uint64_t bits = 32, pad = 0;
	int kind = record->name.type == TR_CELL_TEXT ? tr_gnatcov_kind_of(record->name.text) : -1;

	if (kind < 0)
		return bad(err, "no section is called that");
	section->kind = (uint8_t)kind;
	enum tr_status status = number_of(record, "bits", 255 * 8, &bits, err);
	if (status == TR_OK && (bits % 8 || (kind != TR_GNATCOV_INFO && bits != 32 && bits != 64)))
		return bad(err, "bits of a section of entries are 32 or 64");
	if (status == TR_FATAL || status == TR_WARN)
		return status;
	section->pc_size = (uint8_t)(bits / 8);
	status = number_of(record, ".pad", UINT16_MAX, &pad, err);
	if (status == TR_FATAL || status == TR_WARN)
		return status;
	section->pad = (uint16_t)pad;
	status = endian_of(record, &section->big, err);
	return status == TR_OK ? machine_of(record, &section->machine, err) : status;
}

/* The bytes of a string value. */
static enum tr_status bytes_of(struct tr_record *record, const struct tr_value *value,
			       struct tr_text *bytes, struct tr_error *err)
{
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return bad(err, "the data of information is a string");
	*bytes = tr_string_bytes(value->text, record->arena);
	if (bytes->data)
		return bytes->len <= UINT32_MAX ? TR_OK : bad(err, "information of 4 GiB and more");
	return tr_error_memory(err);
}

/* Data out of the decoded value alone. */
static enum tr_status encode(struct tr_record *record, const struct tr_value *value, bool big,
			     struct tr_gnatcov_item *item, struct tr_error *err)
{
	enum { ROOM = 32 };
	struct tr_trace_date date;
	char *room = tr_arena_alloc(record->arena, ROOM);

	if (!room)
		return tr_error_memory(err);
	if (value->type == TR_UINT) { /* as Ada writes it */
		struct tr_buffer to = tr_buffer_over(room, ROOM);
		tr_buffer_put_byte(&to, ' ');
		tr_buffer_put_decimal(&to, value->as.number);
		item->data = tr_buffer_text(&to);
		return TR_OK;
	}
	if (value->type != TR_STRING || item->tag != TR_GNATCOV_DATE_TIME)
		return bytes_of(record, value, &item->data, err);
	if (!tr_trace_date_parse(value->text, &date))
		return bad(err, "a date is written 2012-02-21T08:00:37Z");
	tr_trace_date_put_year(date.year, big, room);
	const unsigned rest[] = { date.month, date.day, date.hour, date.minute, date.second, 0 };
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		room[2 + i] = (char)rest[i];
	item->data = (struct tr_text){ room, 8 };
	return TR_OK;
}

static unsigned padding(const struct tr_gnatcov_item *item)
{
	return (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
}

/* Padding that is kept is as long as the data asks for, or it is not kept. */
static void set_pad(struct tr_gnatcov_item *item, uint64_t pad)
{
	item->pad = pad < UINT64_C(1) << padding(item) * 8 ? (uint32_t)pad : 0;
}

enum tr_status tr_gnatcov_item_of(struct tr_record *record, bool big, struct tr_gnatcov_item *item,
				  struct tr_error *err)
{
	struct tr_value *value;
	uint64_t pad = 0;
	int64_t tag = record->name.type == TR_CELL_TEXT ? tr_gnatcov_tag_of(record->name.text) : -1;

	if (tag <= 0)
		return bad(err, "no information is called that");
	item->tag = (uint32_t)tag;
	enum tr_status status = value_of(record, "data", &value, err);
	if (status == TR_OK)
		status = bytes_of(record, value, &item->data, err);
	else if (status == TR_END && (status = value_of(record, "value", &value, err)) == TR_OK)
		status = encode(record, value, big, item, err);
	if (status != TR_OK)
		return status == TR_END ? bad(err, "information without data") : status;
	status = number_of(record, ".pad", UINT64_MAX, &pad, err);
	set_pad(item, pad);
	return status == TR_END ? TR_OK : status;
}

static bool is_pad(const struct tr_field *field)
{
	return field->key.data && tr_text_is(field->key, ".pad");
}

/* The number of a .pad field. TR_WARN: it is none. */
static enum tr_status pad_of(struct tr_record *record, struct tr_field *field, uint64_t *pad,
			     struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);

	if (!value)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (value->type != TR_POINTER && value->type != TR_UINT)
		return bad(err, ".pad is no number");
	*pad = value->as.number;
	return TR_OK;
}

enum tr_status tr_gnatcov_next_item(struct tr_record *record, size_t *next,
				    struct tr_gnatcov_item *item, struct tr_error *err)
{
	uint64_t pad = 0;
	int64_t tag = -1;
	size_t i = *next;

	for (; i < record->count; i++) {
		tag = record->fields[i].key.data ? tr_gnatcov_tag_of(record->fields[i].key) : -1;
		if (tag > 0)
			break;
	}
	if (i == record->count)
		return TR_END;
	struct tr_value *value = tr_field_value(record, &record->fields[i], err);
	if (!value)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	item->tag = (uint32_t)tag;
	enum tr_status status = bytes_of(record, value, &item->data, err);
	if (status != TR_OK)
		return status;
	*next = i + 1;
	if (*next < record->count && is_pad(&record->fields[*next]))
		status = pad_of(record, &record->fields[(*next)++], &pad, err);
	set_pad(item, pad);
	return status;
}

enum tr_status tr_gnatcov_entry_pad(struct tr_record *record, uint64_t *pad, struct tr_error *err)
{
	*pad = 0;
	if (record->count == 0 || !is_pad(&record->fields[0]))
		return TR_OK;
	return pad_of(record, &record->fields[0], pad, err);
}

bool tr_gnatcov_turn_date(struct tr_gnatcov_item *item, bool from_big, bool to_big,
			  struct tr_arena *arena)
{
	struct tr_trace_date date;

	if (from_big == to_big || item->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(item->data, from_big, &date))
		return true;
	struct tr_text turned = tr_arena_copy(arena, item->data);
	if (!turned.data)
		return false;
	tr_trace_date_put_year(date.year, to_big, (char *)(uintptr_t)turned.data);
	item->data = turned;
	return true;
}
