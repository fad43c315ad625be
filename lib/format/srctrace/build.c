#include "format/srctrace/build.h"

#include <inttypes.h>
#include <string.h>

#include "core/hex.h"
#include "coverage/unit.h"
#include "format/srctrace/render.h"
#include "record/numbers.h"

enum {
	/* nobody has a file with so many statements, and a line must not ask for gigabytes */
	MOST_BITS = 1 << 27,
};

static enum tr_status wrong(struct tr_error *err, const char *key, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: %s", key, what);
	return TR_WARN;
}

/* The value of a field of that type; NULL: err is filled. */
static const struct tr_value *value(struct tr_record *record, const char *key, enum tr_type type,
				    struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	if (!field) {
		wrong(err, key, "the field is missing");
		return NULL;
	}
	struct tr_error why;
	struct tr_value *found = tr_field_value(record, field, &why);
	if (!found && why.cause == TR_CAUSE_MEMORY)
		tr_error_memory(err);
	else if (!found)
		wrong(err, key, why.text);
	else if (found->type != type)
		wrong(err, key, "the value has another type");
	else
		return found;
	return NULL;
}

static enum tr_status trouble(const struct tr_error *err)
{
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

static enum tr_status finished(const struct tr_buffer *entry, struct tr_error *err)
{
	if (!entry->failed)
		return TR_OK;
	return tr_error_memory(err);
}

enum tr_status tr_srctrace_build_info(struct tr_record *record,
				      const struct tr_srctrace_layout *layout,
				      struct tr_buffer *entry, struct tr_error *err)
{
	uint32_t kind;
	struct tr_cell *name = &record->name;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (name->type != TR_CELL_TEXT || !tr_srctrace_info_kind(name->text, &kind))
		return wrong(err, "name", "no kind of information in a source trace");
	const struct tr_value *data = value(record, "data", TR_STRING, err);
	if (!data)
		return trouble(err);
	struct tr_text bytes = tr_string_bytes(data->text, record->arena);
	if (!bytes.data)
		return tr_error_memory(err);
	if (bytes.len > UINT32_MAX)
		return wrong(err, "data", "longer than a trace can hold");
	tr_srctrace_put_u32(kind, layout->big, entry);
	tr_srctrace_put_u32((uint32_t)bytes.len, layout->big, entry);
	size_t start = entry->len;
	tr_buffer_put_text(entry, bytes);
	tr_srctrace_pad(start, layout->align, entry);
	return finished(entry, err);
}

/* The three bit counts, from their fields. */
static enum tr_status find_bits(struct tr_record *record, uint32_t bits[], struct tr_error *err)
{
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		const char *key = tr_unit_bits_keys[i];
		const struct tr_value *count = value(record, key, TR_UINT, err);
		if (!count)
			return trouble(err);
		if (count->as.number > MOST_BITS)
			return wrong(err, key, "more bits than a file has");
		bits[i] = (uint32_t)count->as.number;
	}
	return TR_OK;
}

static enum tr_status put_hashes(struct tr_record *record, struct tr_buffer *entry,
				 struct tr_error *err)
{
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		const char *key = tr_unit_hash_keys[i];
		const struct tr_value *hash = value(record, key, TR_STRING, err);
		if (!hash)
			return trouble(err);
		bool good = hash->text.len == 2 * TR_SRCTRACE_HASH;
		for (size_t k = 0; good && k < hash->text.len; k += 2) {
			int high = tr_hex_digit(hash->text.data[k]);
			int low = tr_hex_digit(hash->text.data[k + 1]);
			good = high >= 0 && low >= 0;
			if (good)
				tr_buffer_put_byte(entry, (char)(high << 4 | low));
		}
		if (!good)
			return wrong(err, key, "no fingerprint of 40 hex digits");
	}
	return TR_OK;
}

/* A buffer of bits, without its padding. */
static enum tr_status put_bits(struct tr_record *record, const char *key, uint32_t bits,
			       struct tr_buffer *entry, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_numbers numbers;
	struct tr_error why;
	uint64_t bit;
	if (!field)
		return wrong(err, key, "the field is missing");
	enum tr_status status = tr_numbers_begin(&numbers, record, field, &why);
	if (status == TR_FATAL)
		tr_error_memory(err);
	if (status != TR_OK)
		return status == TR_FATAL ? status : wrong(err, key, why.text);
	size_t size = (size_t)tr_srctrace_bytes(bits);
	char *to = tr_buffer_room(entry, size);
	if (!to)
		return finished(entry, err);
	memset(to, 0, size);
	tr_buffer_used(entry, size);
	while ((status = tr_numbers_next(&numbers, &bit)) == TR_OK && bit < bits)
		to[bit / 8] |= (char)(1 << bit % 8);
	return status == TR_END ? TR_OK : wrong(err, key, "an element is no bit of the buffer");
}

static enum tr_status find_name(struct tr_record *record, struct tr_text *name,
				struct tr_error *err)
{
	struct tr_error why;
	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "name", "a unit needs a file name");
	if (tr_cell_bytes(record->name.text, record->arena, name, &why))
		return TR_OK;
	if (why.cause != TR_CAUSE_MEMORY)
		return wrong(err, "name", why.text);
	return tr_error_memory(err);
}

enum tr_status tr_srctrace_build_unit(struct tr_record *record,
				      const struct tr_srctrace_layout *layout,
				      struct tr_buffer *entry, struct tr_error *err)
{
	uint32_t bits[TR_SRCTRACE_BUFFERS];
	struct tr_text name;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = find_name(record, &name, err);
	if (status == TR_OK)
		status = find_bits(record, bits, err);
	if (status != TR_OK)
		return status;
	tr_srctrace_put_u32((uint32_t)name.len, layout->big, entry);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++)
		tr_srctrace_put_u32(bits[i], layout->big, entry);
	tr_buffer_put_literal(entry, "\0\0\0\0"); /* encoding, padding */
	status = put_hashes(record, entry, err);
	size_t start = entry->len;
	tr_buffer_put_text(entry, name);
	tr_srctrace_pad(start, layout->align, entry);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS && status == TR_OK; i++) {
		start = entry->len;
		status = put_bits(record, tr_unit_list_keys[i], bits[i], entry, err);
		tr_srctrace_pad(start, layout->align, entry);
	}
	return status == TR_OK ? finished(entry, err) : status;
}

/* Makes zero what says nothing in the entry. False: its lengths do not fit its size. */
static bool clear_gaps(struct tr_buffer *entry, bool unit, const struct tr_srctrace_layout *layout)
{
	struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS];
	size_t count = 1;
	if (entry->len < (unit ? TR_SRCTRACE_UNIT : TR_SRCTRACE_INFO))
		return false;
	if (unit) {
		struct tr_srctrace_unit parts;
		tr_srctrace_unit_measure(entry->data, layout, &parts);
		if (parts.size != entry->len)
			return false;
		count = tr_srctrace_unit_gaps(&parts, layout->align, gaps);
	} else {
		uint32_t length = tr_wire_u32(entry->data + 4, layout->big);
		gaps[0] = tr_srctrace_info_gap(length, layout->align);
		if (gaps[0].offset + gaps[0].size != entry->len)
			return false;
	}
	tr_srctrace_gaps_clear(entry->data, gaps, count);
	return true;
}

bool tr_srctrace_build_raw(struct tr_record *record, const struct tr_srctrace_layout *layout,
			   struct tr_buffer *entry)
{
	struct tr_field *field = tr_record_field(record, ".raw");
	struct tr_value *raw = field ? tr_field_value(record, field, NULL) : NULL;
	struct tr_buffer plain = TR_BUFFER_INIT;
	if (!raw || raw->type != TR_BLOB || raw->text.len != entry->len)
		return true;
	tr_buffer_put_text(&plain, raw->text);
	bool good = !plain.failed;
	if (good && clear_gaps(&plain, tr_text_is(record->kind, "unit"), layout) &&
	    tr_text_equal(tr_buffer_text(&plain), tr_buffer_text(entry)))
		memcpy(entry->data, raw->text.data, entry->len);
	tr_buffer_free(&plain);
	return good;
}
