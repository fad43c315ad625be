/* SPDX-License-Identifier: MIT */
/*
 * The writer of source traces: each record becomes the bytes of an entry, which are written as they
 * are, or as lines of Base64 for a console.
 *
 *	choose_layout	alignment and byte order: -O, the source, or the default
 *	build_info, build_unit	the entry of a record; keep_raw: with the source's padding
 *	put_bytes	to the output, or through the lines of a console
 *
 * The header is written with the first entry. The end of the information entries is written before
 * the first unit, or at the end of the trace.
 */
#include "format/srctrace/srctrace.h"

#include <inttypes.h>
#include <string.h>

#include "core/text.h"
#include "coverage/unit.h"
#include "format/writer_base.h"
#include "record/ask.h"
#include "record/base64.h"

enum { LINE_BYTES = 60 }; /* of a line of 80 columns */

/* Bytes as lines of Base64 for a console. */
struct console {
	struct tr_output *out;
	char bytes[LINE_BYTES]; /* of the line that is not full yet */
	size_t count;
};

enum { DEFAULT_ALIGN = 8 };

struct writer {
	struct tr_writer base;
	struct console console;
	bool base64;
	struct tr_text align, endian; /* -O; data NULL: as the trace was */
	struct tr_buffer entry;

	/* the trace */
	struct tr_srctrace_layout layout;
	unsigned padding; /* of the header; 0 unless it was so in the source */
	bool same_layout; /* as in the source, so that .raw holds */
	bool headed;	  /* it has a header in the stream */
	bool known;	  /* the header states a layout: even an empty trace is written */
	bool begun;	  /* its header was written */
	bool units;	  /* the list of information entries has ended */
};

/* No source file has so many statements, and a line must not be able to request gigabytes. */
enum { MOST_BITS = 1 << 27 };

/* Appends a number in the byte order of the trace. */
static void put_u32(uint32_t n, bool big, struct tr_buffer *to)
{
	char bytes[sizeof n];
	tr_wire_put_u32(bytes, big, n);
	tr_buffer_put(to, bytes, sizeof bytes);
}

/* Appends zeros up to the padded size of the bytes that were put since start. */
static void pad(size_t start, unsigned align, struct tr_buffer *to)
{
	while ((to->len - start) % align && !to->failed)
		tr_buffer_put_byte(to, 0);
}

/* Finds the kind of information for a text of the name column, a name or a number. */
static bool find_kind(struct tr_text name, uint32_t *kind)
{
	uint64_t number;
	for (*kind = 1; *kind < TR_SRCTRACE_INFO_KINDS; ++*kind)
		if (tr_text_is(name, tr_srctrace_info_name(*kind)))
			return true;
	bool found = tr_decimal_read(name, UINT32_MAX, &number);
	*kind = (uint32_t)number;
	return found && number != TR_SRCTRACE_INFO_END;
}

/* Reports a value that an entry cannot have. */
static enum tr_status wrong(struct tr_error *err, const char *key, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: %s", key, what);
	return TR_WARN;
}

/*
 * Appends the entry of a record. TR_OK; TR_WARN: a field is missing or wrong, and the entry is
 * unusable; TR_FATAL: memory is exhausted.
 */
static enum tr_status build_info(struct tr_record *record, const struct tr_srctrace_layout *layout,
				 struct tr_buffer *entry, struct tr_error *err)
{
	uint32_t kind;
	struct tr_cell *name = &record->name;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (name->type != TR_CELL_TEXT || !find_kind(name->text, &kind))
		return wrong(err, "name", "not a kind of information in a source trace");
	const struct tr_value *data;
	enum tr_status status = tr_field_need(record, "data", TR_STRING, &data, err);
	if (status != TR_OK)
		return status;
	struct tr_text bytes = tr_string_bytes(data->text, record->arena);
	if (!bytes.data)
		return tr_error_memory(err);
	if (bytes.len > UINT32_MAX)
		return wrong(err, "data", "longer than a trace can hold");
	put_u32(kind, layout->big, entry);
	put_u32((uint32_t)bytes.len, layout->big, entry);
	size_t start = entry->len;
	tr_buffer_put_text(entry, bytes);
	pad(start, layout->align, entry);
	return TR_OK;
}

/* Reads the three counts of bits. They are limited, because a buffer is made of that size. */
static enum tr_status find_bits(struct tr_record *record, uint32_t bits[], struct tr_error *err)
{
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		const char *key = tr_unit_bits_keys[i];
		const struct tr_value *count;
		enum tr_status status = tr_field_need(record, key, TR_UINT, &count, err);
		if (status != TR_OK)
			return status;
		if (count->as.number > MOST_BITS)
			return wrong(err, key, "more bits than a file has");
		bits[i] = (uint32_t)count->as.number;
	}
	return TR_OK;
}

/* Appends the fingerprints from their hex digits. */
static enum tr_status put_hashes(struct tr_record *record, const struct tr_srctrace_layout *layout,
				 struct tr_buffer *entry, struct tr_error *err)
{
	for (int i = 0; i < tr_srctrace_hashes(layout); i++) {
		const char *key = tr_unit_hash_keys[i];
		const struct tr_value *hash;
		enum tr_status status = tr_field_need(record, key, TR_STRING, &hash, err);
		if (status != TR_OK)
			return status;
		bool good = hash->text.len == 2 * TR_SRCTRACE_HASH;
		for (size_t k = 0; good && k < hash->text.len; k += 2) {
			int high = tr_hex_digit(hash->text.data[k]);
			int low = tr_hex_digit(hash->text.data[k + 1]);
			good = high >= 0 && low >= 0;
			if (good)
				tr_buffer_put_byte(entry, (char)(high << 4 | low));
		}
		if (!good)
			return wrong(err, key, "not a fingerprint of 40 hex digits");
	}
	return TR_OK;
}

/* Appends a buffer of bits, without its padding. Bit k is in byte k/8 with the mask 1<<(k%8). */
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
		return tr_error_memory(err);
	memset(to, 0, size);
	tr_buffer_used(entry, size);
	while ((status = tr_numbers_next(&numbers, &bit)) == TR_OK && bit < bits)
		to[bit / 8] |= (char)(1 << bit % 8);
	return status == TR_END ? TR_OK : wrong(err, key, "an element is not a bit of the buffer");
}

/* Returns the bytes of a unit's file name. */
static enum tr_status find_name(struct tr_record *record, struct tr_text *name,
				struct tr_error *err)
{
	struct tr_error why;
	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "name", "a unit without a file name");
	if (tr_cell_bytes(record->name.text, record->arena, name, &why))
		return TR_OK;
	if (why.cause != TR_CAUSE_MEMORY)
		return wrong(err, "name", why.text);
	return tr_error_memory(err);
}

/* Appends a byte that has a word or is a number; absent: 0. False: it is neither. */
static bool put_word(struct tr_record *record, const char *key,
		     const char *(*word)(unsigned number), struct tr_buffer *entry,
		     struct tr_error *err)
{
	struct tr_value *value = tr_record_value(record, key, NULL);
	unsigned number = 0;
	if (value && value->type == TR_UINT && value->as.number <= UINT8_MAX)
		number = (unsigned)value->as.number;
	else if (value)
		while (number <= UINT8_MAX &&
		       !(word(number) && tr_ask_is(record, key, word(number), err)))
			number++;
	tr_buffer_put_byte(entry, (char)number);
	return number <= UINT8_MAX;
}

/*
 * Finds the project of a unit of version 2. Readers expect that all units of a trace have a
 * project, which may be empty, or none has, as the first unit shows.
 */
static enum tr_status find_project(struct tr_record *record, bool first,
				   struct tr_srctrace_layout *layout, struct tr_text *project,
				   struct tr_error *err)
{
	*project = (struct tr_text){ NULL, 0 };
	if (!layout->old)
		return TR_OK;
	enum tr_status status = tr_field_string(record, "project", project, err);
	if (status == TR_OK && first)
		layout->projects = project->data != NULL;
	if (status == TR_OK && project->len && !layout->projects)
		return wrong(err, "project", "the first unit of the trace has none");
	return status;
}

/* Appends language, part, encoding and what follows them before the fingerprints. */
static enum tr_status put_kind(struct tr_record *record, const struct tr_srctrace_layout *layout,
			       struct tr_buffer *entry, struct tr_error *err)
{
	if (!layout->old) {
		tr_buffer_put_literal(entry, "\0\0\0\0"); /* encoding, padding */
		return TR_OK;
	}
	if (!put_word(record, "language", tr_srctrace_language, entry, err))
		return wrong(err, "language", "neither unit nor file, nor a byte");
	if (!put_word(record, "part", tr_srctrace_part, entry, err))
		return wrong(err, "part", "neither none, body, spec nor separate, nor a byte");
	tr_buffer_put_byte(entry, 0); /* encoding */
	return TR_OK;
}

/* Appends the entry of a unit, with all paddings zero. The first unit completes the layout. */
static enum tr_status build_unit(struct tr_record *record, bool first,
				 struct tr_srctrace_layout *layout, struct tr_buffer *entry,
				 struct tr_error *err)
{
	uint32_t bits[TR_SRCTRACE_BUFFERS];
	struct tr_text name, project;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = find_name(record, &name, err);
	if (status == TR_OK)
		status = find_bits(record, bits, err);
	if (status == TR_OK)
		status = find_project(record, first, layout, &project, err);
	if (status != TR_OK)
		return status;
	put_u32((uint32_t)name.len, layout->big, entry);
	if (layout->projects)
		put_u32((uint32_t)project.len, layout->big, entry);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++)
		put_u32(bits[i], layout->big, entry);
	status = put_kind(record, layout, entry, err);
	if (status == TR_OK)
		status = put_hashes(record, layout, entry, err);
	while (entry->len < tr_srctrace_unit_header(layout) && !entry->failed)
		tr_buffer_put_byte(entry, 0);
	size_t start = entry->len;
	tr_buffer_put_text(entry, name);
	pad(start, layout->align, entry);
	start = entry->len;
	if (project.len)
		tr_buffer_put_text(entry, project);
	pad(start, layout->align, entry);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS && status == TR_OK; i++) {
		start = entry->len;
		status = put_bits(record, tr_unit_list_keys[i], bits[i], entry, err);
		pad(start, layout->align, entry);
	}
	return status;
}

/*
 * Replaces the entry by the bytes of .raw if they differ only in the gaps; otherwise a field was
 * edited since .raw was made. False: memory is exhausted.
 */
static bool keep_raw(struct tr_record *record, bool unit, const struct tr_srctrace_layout *layout,
		     struct tr_buffer *entry)
{
	struct tr_value *raw = tr_record_value(record, ".raw", NULL);
	struct tr_buffer plain = TR_BUFFER_INIT;
	struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS];
	if (!raw || raw->type != TR_BLOB || raw->text.len != entry->len)
		return true;
	size_t count = tr_srctrace_gaps(entry->data, unit, layout, gaps);
	tr_buffer_put_text(&plain, raw->text);
	if (plain.failed)
		return false;
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			plain.data[gaps[i].offset + k] &= (char)~gaps[i].mask;
	if (tr_text_equal(tr_buffer_text(&plain), tr_buffer_text(entry)))
		memcpy(entry->data, raw->text.data, entry->len);
	tr_buffer_free(&plain);
	return true;
}

/* Writes the begin marker. */
static void begin_console(struct console *console)
{
	/* the text before may lack its line end; the runtime also begins with one */
	tr_output_put_literal(console->out, "\n" TR_SRCTRACE_BEGIN "\n");
	console->count = 0;
}

/* Writes a line of Base64. All but the last line of a trace have 80 columns. */
static void end_line(struct console *console)
{
	char text[TR_SRCTRACE_COLUMNS + 4]; /* the encoder asks for one group more */
	struct tr_buffer line = tr_buffer_over(text, sizeof text);
	tr_base64_write((struct tr_text){ console->bytes, console->count }, &line);
	tr_output_put_text(console->out, tr_buffer_text(&line));
	tr_output_put_byte(console->out, '\n');
	console->count = 0;
}

/* Collects bytes into whole lines. */
static void put_console(struct console *console, struct tr_text bytes)
{
	while (bytes.len) {
		size_t n = sizeof console->bytes - console->count;
		if (n > bytes.len)
			n = bytes.len;
		memcpy(console->bytes + console->count, bytes.data, n);
		console->count += n;
		bytes.data += n;
		bytes.len -= n;
		if (console->count == sizeof console->bytes)
			end_line(console);
	}
}

/* Writes the last line and the end marker. */
static void end_console(struct console *console)
{
	if (console->count)
		end_line(console);
	tr_output_put_literal(console->out, TR_SRCTRACE_END "\n");
}

/* Writes bytes of the trace in the chosen form. */
static void put_bytes(struct writer *writer, struct tr_text bytes)
{
	if (writer->base64)
		put_console(&writer->console, bytes);
	else
		tr_output_put_text(writer->base.out, bytes);
}

/* Whether gnatcov accepts this alignment. */
static bool is_alignment(uint64_t n)
{
	return n && n <= 16 && !(n & (n - 1));
}

/* Chooses the layout: that of -O, otherwise of the source, otherwise what most programs write. */
static enum tr_status choose_layout(struct writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	struct tr_srctrace_layout source = { .align = 0 };
	uint64_t version = header ? tr_ask_number(header, "version", 0, err) : 0;
	uint64_t align = header ? tr_ask_number(header, "align", 0, err) : 0;
	uint64_t padding = header ? tr_ask_number(header, ".pad", 0, err) : 0;
	writer->known = is_alignment(align);
	if (writer->known)
		source.align = (unsigned)align;
	source.old = version == TR_SRCTRACE_OLD;
	source.big = header && tr_ask_is(header, "endian", "big", err);
	writer->layout = source;
	if (!source.align)
		writer->layout.align = DEFAULT_ALIGN;
	if (writer->align.data)
		writer->layout.align =
			writer->align.len == 2 ? 16 : (unsigned)(*writer->align.data - '0');
	if (writer->endian.data)
		writer->layout.big = tr_text_is(writer->endian, "big");
	writer->same_layout =
		source.align == writer->layout.align && source.big == writer->layout.big;
	writer->padding = writer->same_layout && padding <= 0xffff ? (unsigned)padding : 0;
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

/* Writes the header of the trace, unless that is done. False: memory is exhausted. */
static bool begin_trace(struct writer *writer)
{
	struct tr_buffer *entry = &writer->entry;
	if (writer->begun)
		return true;
	writer->begun = true;
	tr_buffer_reset(entry);
	tr_buffer_put(entry, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE);
	put_u32(writer->layout.old ? TR_SRCTRACE_OLD : TR_SRCTRACE_VERSION, writer->layout.big,
		entry);
	tr_buffer_put_byte(entry, (char)writer->layout.align);
	tr_buffer_put_byte(entry, writer->layout.big);
	unsigned high = writer->padding >> 8, low = writer->padding & 0xff;
	tr_buffer_put_byte(entry, (char)(writer->layout.big ? high : low));
	tr_buffer_put_byte(entry, (char)(writer->layout.big ? low : high));
	if (writer->base64)
		begin_console(&writer->console);
	put_bytes(writer, tr_buffer_text(entry));
	return !entry->failed;
}

/* Writes the end of the information entries, once. */
static void end_infos(struct writer *writer)
{
	static const char end[TR_SRCTRACE_INFO];
	if (!writer->units)
		put_bytes(writer, (struct tr_text){ end, sizeof end });
	writer->units = true;
}

/* Ends the trace. A trace may have no entries. */
static enum tr_status end_trace(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if (writer->headed && writer->known && !begin_trace(writer))
		return tr_error_memory(err);
	if (writer->begun) {
		end_infos(writer);
		if (writer->base64)
			end_console(&writer->console);
	}
	writer->headed = writer->known = writer->begun = false;
	writer->units = false;
	return TR_OK;
}

static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	writer->headed = true;
	return choose_layout(writer, header, err);
}

/* Supplies a header if the stream has none. TR_WARN: err is a note on it. */
static enum tr_status supply_header(struct writer *writer, struct tr_error *err)
{
	if (writer->headed)
		return TR_OK;
	writer->headed = true;
	tr_error_clear(err);
	(void)choose_layout(writer, NULL, err); /* without a header nothing can fail */
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the stream has no header: alignment %u, %s endian are supplied",
		     writer->layout.align, writer->layout.big ? "big" : "little");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Writes the entry of a record. TR_WARN: it is left out. */
static enum tr_status put_entry(struct writer *writer, struct tr_record *record, bool unit,
				struct tr_error *err)
{
	struct tr_buffer *entry = &writer->entry;
	if (!begin_trace(writer))
		return tr_error_memory(err);
	if (!unit && writer->units) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a source trace cannot hold information after a unit");
		return TR_WARN;
	}
	tr_buffer_reset(entry);
	enum tr_status status =
		unit ? build_unit(record, !writer->units, &writer->layout, entry, err)
		     : build_info(record, &writer->layout, entry, err);
	if (status == TR_OK && entry->failed)
		return tr_error_memory(err);
	if (status != TR_OK)
		return status;
	if (writer->same_layout && !keep_raw(record, unit, &writer->layout, entry))
		return tr_error_memory(err);
	if (unit)
		end_infos(writer);
	put_bytes(writer, tr_buffer_text(entry));
	return TR_OK;
}

/* Writes one record. TR_END: the format has no place for its kind. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool unit = tr_text_is(record->kind, "unit");
	if (!unit && !tr_text_is(record->kind, "info"))
		return TR_END;
	struct tr_error remark;
	enum tr_status supplied = supply_header(writer, &remark);
	enum tr_status status = put_entry(writer, record, unit, err);
	if (status == TR_OK && supplied != TR_OK) {
		*err = remark;
		status = supplied;
	}
	return status;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_buffer_free(&writer->entry);
}

static const struct tr_writer_steps steps = {
	.format = "srctrace",
	.begin = begin_segment,
	.put = put_record,
	.end = end_trace,
	.discard = discard,
};

struct tr_writer *tr_srctrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->console.out = out;
	writer->base64 = tr_text_is(tr_setting_get(&config->settings, "base64", "no"), "yes");
	writer->align = tr_setting_get(&config->settings, "align", NULL);
	writer->endian = tr_setting_get(&config->settings, "endian", NULL);
	return &writer->base;
}
