#include <stdlib.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/wire.h"

static void mark(struct tr_encoder *encoder)
{
	enum { FIRST = 64 };
	if (encoder->mark_count == encoder->mark_cap) {
		size_t cap = encoder->mark_cap ? 2 * encoder->mark_cap : FIRST;
		size_t *marks = realloc(encoder->marks, cap * sizeof *marks);
		if (!marks) {
			encoder->failed = true;
			return;
		}
		encoder->marks = marks;
		encoder->mark_cap = cap;
	}
	encoder->marks[encoder->mark_count++] = encoder->bytes.len;
}

void tr_encode_uint(struct tr_encoder *encoder, uint64_t number)
{
	if (encoder->marking)
		mark(encoder);
	tr_wire_append_uint(&encoder->bytes, number);
}

void tr_encode_string(struct tr_encoder *encoder, struct tr_text bytes)
{
	tr_encode_uint(encoder, bytes.len);
	tr_buffer_put_text(&encoder->bytes, bytes);
}

static void put_names(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	tr_encode_string(encoder, signature->name);
	tr_encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++)
		tr_encode_string(encoder, signature->labels[i].name);
}

static void put_constants(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	bool is_enum = signature->table == TR_APITRACE_ENUMS;
	if (!is_enum || encoder->version >= TR_APITRACE_HAS_ENUM_TABLES)
		tr_encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *label = &signature->labels[i];
		tr_encode_string(encoder, label->name);
		if (is_enum)
			tr_encode_byte(encoder, label->tag);
		tr_encode_uint(encoder, label->number);
	}
}

static void put_frame(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *part = &signature->labels[i];
		tr_encode_byte(encoder, part->tag);
		if (part->tag <= TR_APITRACE_FRAME_FILE)
			tr_encode_string(encoder, part->name);
		else
			tr_encode_uint(encoder, part->number);
	}
	tr_encode_byte(encoder, TR_APITRACE_FRAME_END);
}

/* Notes that the definition is in bytes, in case these are taken back. */
static bool note_fresh(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	enum { FIRST = 16 };
	if (encoder->fresh_count == encoder->fresh_cap) {
		size_t cap = encoder->fresh_cap ? 2 * encoder->fresh_cap : FIRST;
		void *fresh = realloc(encoder->fresh, cap * sizeof *encoder->fresh);
		if (!fresh)
			return false;
		encoder->fresh = fresh;
		encoder->fresh_cap = cap;
	}
	encoder->fresh[encoder->fresh_count++] = signature;
	return true;
}

static void define(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!note_fresh(encoder, signature)) {
		encoder->failed = true;
		return;
	}
	signature->written = true;
	switch (signature->table) {
	case TR_APITRACE_ENUMS:
	case TR_APITRACE_MASKS:
		put_constants(encoder, signature);
		return;
	case TR_APITRACE_FRAMES:
		put_frame(encoder, signature);
		return;
	default:
		put_names(encoder, signature);
		return;
	}
}

void tr_encode_signature(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!signature) {
		encoder->failed = true;
		return;
	}
	tr_encode_uint(encoder, signature->wire);
	if (!signature->written)
		define(encoder, signature);
}

void tr_encode_begin(struct tr_encoder *encoder, struct tr_arena *arena, struct tr_error *err)
{
	tr_buffer_reset(&encoder->bytes);
	encoder->fresh_count = 0;
	encoder->mark_count = 0;
	encoder->failed = encoder->flawed = false;
	encoder->err = err;
	encoder->signatures.scratch_arena = arena;
}

void tr_encode_undo(struct tr_encoder *encoder)
{
	while (encoder->fresh_count)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = 0;
}

/* The bytes that the number at p takes, whatever it is; 0: it is cut or too long. */
static size_t uint_length(const char *p, const char *end)
{
	size_t length = 0;
	while (p + length < end && length < TR_WIRE_UINT_MAX && p[length] & 0x80)
		length++;
	return p + length < end && length < TR_WIRE_UINT_MAX ? length + 1 : 0;
}

/* The number at p, less the bytes at its top that say nothing. */
static size_t short_length(const char *p, size_t length)
{
	while (length > 1 && (p[length - 1] & 0x7f) == 0)
		length--;
	return length;
}

bool tr_encode_same(const struct tr_encoder *encoder, struct tr_text source)
{
	const char *a = encoder->bytes.data, *p = source.data, *end = p + source.len;
	size_t at = 0;
	for (size_t i = 0; i <= encoder->mark_count; i++) {
		size_t stop = i < encoder->mark_count ? encoder->marks[i] : encoder->bytes.len;
		size_t len = stop - at;
		if ((size_t)(end - p) < len || (len && memcmp(a + at, p, len) != 0))
			return false;
		p += len;
		at = stop;
		if (i == encoder->mark_count)
			break;
		size_t ours = uint_length(a + at, a + encoder->bytes.len);
		size_t theirs = uint_length(p, end);
		if (!theirs || short_length(p, theirs) != ours)
			return false;
		for (size_t k = 0; k < ours; k++)
			if ((a[at + k] & 0x7f) != (p[k] & 0x7f))
				return false;
		p += theirs;
		at += ours;
	}
	return p == end;
}

void tr_encode_raw(struct tr_encoder *encoder, struct tr_record *record, struct tr_field *raw)
{
	struct tr_error ignored;
	struct tr_value *value = tr_field_value(record, raw, &ignored);
	if (!value || value->type != TR_BLOB || !tr_encode_same(encoder, value->text))
		return;
	encoder->bytes.len = 0;
	tr_buffer_put_text(&encoder->bytes, value->text);
}
