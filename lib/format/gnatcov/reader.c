/* SPDX-License-Identifier: MIT */
/*
 * The reader of execution traces. Its parts, in the order of the file: section headers, information
 * entries, special entries, entries of blocks, and the search for the next header after damage.
 *
 *	next			a plain entry of a block, which nearly all are; else next_unit
 *	  hand_over		plain entries as blocks, to a tool that needs no records
 *	  AT_HEADER		read_header	-> a record `section`
 *	  AT_INFO		read_info	-> a record `info`
 *	  AT_ENTRY		read_entry	-> `block`, or read_special: load, unload, loadaddr
 *	  LOST			find_header	skips to the next magic
 *
 * Input that gnatcov refuses is read if its meaning is clear, and reported as a flaw: the record
 * follows the message (HELD). Entries have no magic and no checksum, so after bytes that cannot be
 * decoded, reading can only continue at the next section header.
 */
#include "format/gnatcov/gnatcov.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire.h"
#include "coverage/block.h"
#include "coverage/layout.h"
#include "format/reader_base.h"
#include "record/literal.h"

enum state {
	AT_HEADER, /* of a section */
	AT_INFO,   /* in the list of an INFO section */
	AT_ENTRY,  /* of a section of blocks */
	LOST,	   /* bytes up to the next header cannot be decoded */
	DONE,
	HELD, /* a record is complete, and follows the message about it */
};

struct reader {
	struct tr_reader base; /* its record is of any kind but block */
	enum state state;
	struct tr_gnatcov_section section;
	bool begun;		 /* there was a section */
	struct tr_layout layout; /* checks what entries refer to */
	struct tr_record *held;	 /* in state HELD */
	enum state after;	 /* the state after HELD */
	struct tr_op_values *ops;
	struct tr_block_record block;
	struct tr_block_taker *const *taker; /* NULL: no block is taken */
	size_t run;			     /* how many blocks it is offered at a time */
	struct tr_buffer text;		     /* scratch */
};

/* Frees what the base does not own. */
static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_layout_free(&reader->layout);
	tr_buffer_free(&reader->text);
	free(reader->ops);
}

/* One information entry in the window. */
struct info {
	uint32_t tag;
	struct tr_text data; /* in the window */
	uint32_t pad;	     /* its bytes as one number, which should be 0 */
	size_t size;	     /* of all of it */
};

/*
 * Ends reading at the end of the input; err says that it ends too early, at pos + at. If the window
 * is damaged, the trace reports that instead.
 */
static enum tr_status cut(struct reader *reader, size_t at, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;

	reader->state = DONE;
	if (!in->at_end || in->damaged)
		return TR_END;
	tr_error_at_offset(err, in->offset + at);
	tr_input_skip(in, tr_input_available(in));
	return TR_WARN;
}

/*
 * Skips `skip` bytes, of which those from pos + at on cannot be decoded; the next step searches for
 * a header.
 */
static enum tr_status lost(struct reader *reader, size_t at, size_t skip, struct tr_error *err)
{
	tr_error_at_offset(err, reader->base.in->offset + at);
	tr_input_skip(reader->base.in, skip);
	reader->state = LOST;
	return TR_WARN;
}

/* Begins the record; its fields are added next. */
static void begin(struct reader *reader, const char *kind, struct tr_cell name)
{
	struct tr_record *record = &reader->base.record;

	tr_record_init(record, &reader->base.arena);
	record->kind = tr_text_from(kind);
	record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = reader->base.seq };
	record->name = name;
	record->split = true;
	record->source_offset = reader->base.in->offset;
}

/* Adds a field. False: memory is exhausted. */
static bool add(struct reader *reader, const char *key, struct tr_value value)
{
	struct tr_value *kept = tr_arena_alloc(&reader->base.arena, sizeof *kept);

	if (!kept || (value.type == TR_STRING && !value.text.data))
		return false;
	*kept = value;
	return tr_record_add(&reader->base.record, tr_text_from(key), kept) != NULL;
}

/* Makes a string value of any bytes, in the arena. text.data NULL: memory is exhausted. */
static struct tr_value string(struct reader *reader, struct tr_text bytes)
{
	tr_buffer_reset(&reader->text);
	bool plain = tr_string_escape(bytes, &reader->text);
	struct tr_value value = { .type = TR_STRING, .flags = plain ? TR_PLAIN : 0 };
	if (!reader->text.failed)
		value.text = tr_arena_copy(&reader->base.arena, tr_buffer_text(&reader->text));
	return value;
}

/*
 * Skips the item of that size and returns its record. If err is filled with a flaw of the item,
 * that is returned first, and the record by the next call.
 */
static enum tr_status hand_out(struct reader *reader, struct tr_record *made, size_t size,
			       struct tr_record **record, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;

	reader->base.seq++;
	tr_error_at_offset(err, in->offset);
	tr_input_skip(in, size);
	*record = made;
	if (err->cause == TR_CAUSE_NONE)
		return TR_OK;
	if (err->severity == TR_DAMAGE)
		err->severity = TR_FLAW;
	reader->held = made;
	reader->after = reader->state;
	reader->state = HELD;
	return TR_WARN;
}

/* Reports that fewer bytes than a header are left. */
static enum tr_status no_header(struct reader *reader, struct tr_error *err)
{
	size_t left = tr_input_available(reader->base.in);

	if (left == 0 && !reader->begun)
		tr_error_set(err, TR_CAUSE_CUT, "the file is empty");
	else if (left == 0)
		tr_error_set(err, TR_CAUSE_CUT,
			     "the file ends after its information: no section of entries");
	else
		tr_error_set(err, TR_CAUSE_CUT,
			     "truncated: %zu of the %d bytes of a section header", left,
			     TR_GNATCOV_HEADER_SIZE);
	return cut(reader, 0, err);
}

/*
 * Decodes a section header. False: nothing after it can be decoded, and err says why. The byte
 * order is that of the host that wrote the section; the ELF machine is big endian always.
 */
static bool decode_header(const char *p, struct tr_gnatcov_section *section, struct tr_error *err)
{
	const unsigned char *byte = (const unsigned char *)p;

	*section = (struct tr_gnatcov_section){
		.kind = byte[13],
		.pc_size = byte[14],
		.big = byte[15] == 1,
		.machine = (uint16_t)(byte[16] << 8 | byte[17]),
		.pad = (uint16_t)tr_wire_pad(p + 18, 2),
	};
	if (byte[12] != TR_GNATCOV_VERSION)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "version %u of the format is unknown: only version 1 is supported",
			     byte[12]);
	else if (byte[15] > 1)
		tr_error_set(err, TR_CAUSE_INPUT, "byte order %u: neither 0, little, nor 1, big",
			     byte[15]);
	else if (section->kind == TR_GNATCOV_CONSOLIDATED)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "section of kind 248, CONSOLIDATED: not supported by any tool");
	else if (section->kind >= TR_GNATCOV_KINDS)
		tr_error_set(err, TR_CAUSE_INPUT, "section of unknown kind %u", section->kind);
	else if (section->kind != TR_GNATCOV_INFO && section->pc_size != 4 && section->pc_size != 8)
		tr_error_set(err, TR_CAUSE_INPUT, "addresses of %u bytes: neither 4 nor 8",
			     section->pc_size);
	else
		return true;
	return false;
}

/* Fills err if gnatcov expects another section here; this one is read in any case. */
static void check_place(const struct reader *reader, const struct tr_gnatcov_section *section,
			struct tr_error *err)
{
	bool after_info = reader->begun && reader->section.kind == TR_GNATCOV_INFO;
	const char *name = tr_gnatcov_name(tr_gnatcov_kinds, section->kind);

	if (!reader->begun &&
	    (section->kind == TR_GNATCOV_FLAT || section->kind == TR_GNATCOV_HISTORY)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the first section is %s, without information before it (an "
			     "emulator's own output?)",
			     name);
	} else if (after_info &&
		   (section->kind == TR_GNATCOV_INFO || section->kind == TR_GNATCOV_DECISION_MAP)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a section %s where FLAT or HISTORY must follow the information",
			     name);
	}
}

/* Makes a symbol; number -1: a word without a number. name NULL: the number has no name. */
static struct tr_value word(struct reader *reader, const char *name, int64_t number)
{
	struct tr_symbol *symbol = tr_arena_alloc(&reader->base.arena, sizeof *symbol);
	struct tr_name *names = tr_arena_alloc(&reader->base.arena, sizeof *names);

	if (!symbol || !names)
		return (struct tr_value){
			.type = TR_STRING
		}; /* without text: memory is exhausted */
	*symbol = (struct tr_symbol){ .names = names, .count = name != NULL };
	if (number >= 0) {
		symbol->numbered = TR_SYMBOL_ENUM;
		symbol->number = (uint64_t)number;
	}
	names->text = tr_text_from(name);
	return (struct tr_value){ .type = TR_SYMBOL, .as.symbol = symbol };
}

/* Adds .pad if it is not zero. False: memory is exhausted. */
static bool add_pad(struct reader *reader, uint64_t pad)
{
	struct tr_value value = { .type = TR_POINTER, .as.number = pad };

	return !pad || add(reader, ".pad", value);
}

/* Makes the record of a section header. False: memory is exhausted. */
static bool build_section(struct reader *reader, const struct tr_gnatcov_section *section)
{
	const char *machine = tr_gnatcov_name(tr_gnatcov_machines, section->machine);
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(
					tr_gnatcov_name(tr_gnatcov_kinds, section->kind)) };
	struct tr_value bits = { .type = TR_UINT, .as.number = section->pc_size * 8u };

	begin(reader, "section", name);
	return add(reader, "bits", bits) &&
	       add(reader, "endian", word(reader, section->big ? "big" : "little", -1)) &&
	       add(reader, "machine", word(reader, machine, section->machine)) &&
	       add_pad(reader, section->pad);
}

/*
 * Continues with the content of a section. Forgets what is loaded where, unless the section belongs
 * to the list of information before it.
 */
static void begin_section(struct reader *reader, const struct tr_gnatcov_section *section)
{
	bool after_info = reader->begun && reader->section.kind == TR_GNATCOV_INFO;

	/* information that is not right before the section was about another run */
	tr_layout_section(&reader->layout, section->kind == TR_GNATCOV_INFO || !after_info);
	reader->section = *section;
	reader->begun = true;
	reader->state = section->kind == TR_GNATCOV_INFO ? AT_INFO : AT_ENTRY;
}

/* Makes a record of the section header at pos. */
static enum tr_status read_header(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	struct tr_gnatcov_section section;

	if (!tr_input_more(in, TR_GNATCOV_HEADER_SIZE))
		return no_header(reader, err);
	if (memcmp(in->pos, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE) != 0) {
		tr_error_set(err, TR_CAUSE_INPUT, "a section header is missing");
		return lost(reader, 0, 0, err);
	}
	if (!decode_header(in->pos, &section, err))
		return lost(reader, 0, TR_GNATCOV_MAGIC_SIZE, err);
	check_place(reader, &section, err);
	if (!build_section(reader, &section))
		return tr_error_memory(err);
	begin_section(reader, &section);
	return hand_out(reader, &reader->base.record, TR_GNATCOV_HEADER_SIZE, record, err);
}

/* A tag above this is not a new one: the bytes are not an information entry. */
enum { ABSURD_TAG = 0x10000 };

/* Returns the name of a tag for a message. */
static const char *shown_tag(uint32_t tag)
{
	const char *name = tr_gnatcov_name(tr_gnatcov_tags, tag);

	return name ? name : "of unknown kind";
}

/*
 * Reads the information entry at pos + at. TR_OK: all of it is in the window; the tag of the list's
 * end is TR_GNATCOV_END. TR_WARN: err is filled and the next state set. TR_END: the window is
 * damaged, and the next state set.
 */
static enum tr_status info_at(struct reader *reader, size_t at, struct info *info,
			      struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	bool big = reader->section.big;

	if (!tr_input_more(in, at + TR_GNATCOV_INFO_SIZE)) {
		tr_error_set(err, TR_CAUSE_CUT, "truncated within its information");
		return cut(reader, at, err);
	}
	info->tag = tr_wire_u32(in->pos + at, big);
	info->data.len = tr_wire_u32(in->pos + at + 4, big);
	info->size = TR_GNATCOV_INFO_SIZE;
	if (info->tag == TR_GNATCOV_END && info->data.len == 0)
		return TR_OK;
	if (info->tag == TR_GNATCOV_END) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the end of the information has %zu bytes of data", info->data.len);
		return lost(reader, at, at + TR_GNATCOV_INFO_SIZE, err);
	}
	if (info->tag >= ABSURD_TAG) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
		return lost(reader, at, at + TR_GNATCOV_INFO_SIZE, err);
	}
	unsigned padding = (unsigned)-info->data.len % TR_GNATCOV_INFO_ALIGN;
	info->size += info->data.len + padding;
	if (!tr_input_more(in, at + info->size)) {
		tr_error_set(err, TR_CAUSE_CUT,
			     "truncated: information %s has %zu bytes, and %zu are left",
			     shown_tag(info->tag), info->data.len,
			     tr_input_available(in) - at - TR_GNATCOV_INFO_SIZE);
		return cut(reader, at, err);
	}
	info->data.data = in->pos + at + TR_GNATCOV_INFO_SIZE;
	info->pad = (uint32_t)tr_wire_pad(info->data.data + info->data.len, padding);
	return TR_OK;
}

/* True if the data of the tag is a number in digits. */
static bool is_number(uint32_t tag)
{
	return tag == TR_GNATCOV_EXEC_FILE_SIZE || tag == TR_GNATCOV_EXEC_FILE_CRC32 ||
	       tag == TR_GNATCOV_EXEC_CODE_SIZE;
}

/* Fills err if gnatcov refuses or misreads the entry. */
static void check_info(const struct reader *reader, const struct info *info, struct tr_error *err)
{
	struct tr_date date;
	bool swapped;

	if (!tr_gnatcov_name(tr_gnatcov_tags, info->tag)) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
	} else if (info->pad) {
		tr_error_set(err, TR_CAUSE_INPUT, "padding after information %s is not zero",
			     shown_tag(info->tag));
	} else if (info->tag != TR_GNATCOV_DATE_TIME) {
		return;
	} else if (!tr_gnatcov_date_read(info->data, reader->section.big, &date, &swapped)) {
		tr_error_set(err, TR_CAUSE_INPUT, "DATE_TIME is not a date of 8 bytes");
	} else if (swapped) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the year of DATE_TIME is not in the section's byte order: taken as "
			     "%u",
			     date.year);
		tr_error_is_note(err);
	}
}

/* The name or number of a tag, for a cell or key. NULL: memory is exhausted. */
static const char *tag_text(struct reader *reader, uint32_t tag)
{
	enum { MAX_DIGITS = 11 };
	const char *name = tr_gnatcov_name(tr_gnatcov_tags, tag);
	char *digits = name ? NULL : tr_arena_alloc(&reader->base.arena, MAX_DIGITS);

	if (digits) {
		struct tr_buffer to = tr_buffer_over(digits, MAX_DIGITS);
		tr_buffer_put_decimal(&to, tag);
		tr_buffer_put_byte(&to, '\0');
		name = digits;
	}
	return name;
}

/* Adds the value of data that is a date or a number. */
static bool add_decoded(struct reader *reader, const struct info *info)
{
	struct tr_value value = { .type = TR_UINT };
	struct tr_date date;
	bool swapped;

	if (is_number(info->tag) && tr_ada_number(info->data, &value.as.number))
		return add(reader, "value", value);
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_gnatcov_date_read(info->data, reader->section.big, &date, &swapped))
		return true;
	tr_buffer_reset(&reader->text);
	tr_date_write(&date, &reader->text);
	value = (struct tr_value){ .type = TR_STRING,
				   .flags = TR_PLAIN,
				   .text = tr_arena_copy(&reader->base.arena,
							 tr_buffer_text(&reader->text)) };
	return !reader->text.failed && add(reader, "value", value);
}

/*
 * Makes the record of an information entry: its bytes, and what they mean if that is known. False:
 * memory is exhausted.
 */
static bool build_info(struct reader *reader, const struct info *info)
{
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(tag_text(reader, info->tag)) };

	if (!name.text.data)
		return false;
	begin(reader, "info", name);
	return add(reader, "data", string(reader, info->data)) && add_decoded(reader, info) &&
	       add_pad(reader, info->pad);
}

/* Makes a record of the next entry of an INFO section. TR_END: the list is over. */
static enum tr_status read_info(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct info info;
	enum tr_status status = info_at(reader, 0, &info, err);

	if (status != TR_OK)
		return status;
	if (info.tag == TR_GNATCOV_END) {
		tr_input_skip(reader->base.in, info.size);
		reader->state = AT_HEADER;
		return TR_END;
	}
	check_info(reader, &info, err);
	if (!build_info(reader, &info))
		return tr_error_memory(err);
	if (info.tag == TR_GNATCOV_KERNEL_FILE_NAME && !reader->layout.kernel_asked) {
		reader->layout.kernel_asked = true;
		reader->layout.kernel = info.data.len > 0;
	}
	return hand_out(reader, &reader->base.record, info.size, record, err);
}

/* The information that gnatcov requires about a shared object. */
struct loaded {
	bool named, stamped;
	uint64_t file_size, crc, code_size;
	bool bad_number, bad_tag;
};

/* Notes what an entry states about a shared object. Of several with one tag, the last counts. */
static void note_tag(struct loaded *loaded, const struct info *info)
{
	uint64_t number = 0;

	if (is_number(info->tag) && !tr_ada_number(info->data, &number))
		loaded->bad_number = true;
	switch (info->tag) {
	case TR_GNATCOV_EXEC_FILE_NAME:
		loaded->named = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_TIME_STAMP:
		loaded->stamped = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_SIZE:
		loaded->file_size = number;
		break;
	case TR_GNATCOV_EXEC_FILE_CRC32:
		loaded->crc = number;
		break;
	case TR_GNATCOV_EXEC_CODE_SIZE:
		loaded->code_size = number;
		break;
	default:
		loaded->bad_tag |= !tr_gnatcov_name(tr_gnatcov_tags, info->tag);
	}
}

/* gnatcov requires 5 entries. As fields of a record, they take many times their own size. */
enum { LIST_MAX = 4096 };

/* Reads the list after a load entry into fields, and adds its size to *size. */
static enum tr_status read_list(struct reader *reader, struct loaded *loaded, size_t *size,
				struct tr_error *err)
{
	struct info info = { 0 };
	enum tr_status status;

	while ((status = info_at(reader, *size, &info, err)) == TR_OK &&
	       info.tag != TR_GNATCOV_END) {
		const char *key = tag_text(reader, info.tag);
		if (reader->base.record.count > LIST_MAX) {
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "more than %d entries of information on a shared object",
				     LIST_MAX);
			return lost(reader, *size, *size + TR_GNATCOV_INFO_SIZE, err);
		}
		note_tag(loaded, &info);
		if (!key || !add(reader, key, string(reader, info.data)) ||
		    !add_pad(reader, info.pad))
			return tr_error_memory(err);
		*size += info.size;
	}
	*size += info.size;
	return status;
}

/* Loads the object, and fills err if gnatcov refuses it. TR_OK; TR_FATAL: memory is exhausted. */
static enum tr_status load(struct reader *reader, const struct loaded *loaded,
			   const struct tr_block *entry, struct tr_error *err)
{
	enum tr_layout_answer answer = TR_LAYOUT_ADDED;

	if (loaded->bad_number)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a size or checksum of a shared object is not a number");
	else if (!loaded->named || !loaded->stamped || !loaded->file_size || !loaded->crc ||
		 !loaded->code_size)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded with incomplete information");
	else if (loaded->bad_tag)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object has an unknown kind of information");
	if (loaded->code_size)
		answer = tr_layout_add(&reader->layout, entry->address, entry->digits,
				       loaded->code_size);
	if (answer == TR_LAYOUT_OVERLAP)
		tr_error_set(err, TR_CAUSE_INPUT, "a shared object was loaded over another one");
	else if (answer == TR_LAYOUT_FULL)
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d shared objects are loaded",
			     TR_OBJECTS_MAX);
	return answer == TR_LAYOUT_MEMORY ? tr_error_memory(err) : TR_OK;
}

/* Makes the name column of an entry: its address, with the digits of the section. */
static struct tr_cell address_cell(const struct tr_block *entry)
{
	return (struct tr_cell){ .type = TR_CELL_ADDRESS,
				 .width = entry->digits,
				 .number = entry->address };
}

/*
 * Makes a record of a load entry and the list of information after it, whose entries are its
 * fields.
 */
static enum tr_status read_load(struct reader *reader, const struct tr_block *entry, size_t size,
				struct tr_record **record, struct tr_error *err)
{
	struct loaded loaded = { 0 };

	begin(reader, "load", address_cell(entry));
	if (!add_pad(reader, entry->pad))
		return tr_error_memory(err);
	enum tr_status status = read_list(reader, &loaded, &size, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	if (load(reader, &loaded, entry, err) == TR_FATAL)
		return TR_FATAL;
	return hand_out(reader, &reader->base.record, size, record, err);
}

/* Fills err if a special entry is wrong, or not allowed at its place. */
static void check_special(const struct reader *reader, const struct tr_block *entry,
			  struct tr_error *err)
{
	bool due = reader->layout.kernel && !reader->layout.loaded;

	if (entry->size == TR_GNATCOV_LOADADDR && !due)
		tr_error_set(err, TR_CAUSE_INPUT, "unexpected load address of a kernel");
	else if (entry->size == TR_GNATCOV_LOADADDR && entry->address == 0)
		tr_error_set(err, TR_CAUSE_INPUT, "the load address of the kernel is 0");
	else if (entry->size == 0 || entry->size > TR_GNATCOV_UNLOAD)
		tr_error_set(err, TR_CAUSE_INPUT, "unknown special entry 0x%04x", entry->size);
	else if (entry->size != TR_GNATCOV_LOADADDR && due)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "special entry 0x%04x where the load address of the kernel is "
			     "expected",
			     entry->size);
	else if (entry->size == TR_GNATCOV_UNLOAD &&
		 !tr_layout_find(&reader->layout, entry->address))
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object that is not loaded was unloaded");
}

/* Makes a record of the special entry at pos, which has size bytes: a block if it is unknown. */
static enum tr_status read_special(struct reader *reader, const struct tr_block *entry, size_t size,
				   struct tr_record **record, struct tr_error *err)
{
	struct tr_record *made = &reader->base.record;

	tr_error_clear(err);
	check_special(reader, entry, err);
	if (entry->size == TR_GNATCOV_LOAD && err->cause != TR_CAUSE_NONE) {
		/* the entry is read again with its list, which may also have a flaw */
		reader->layout.loaded = true;
		err->severity = TR_FLAW;
		tr_error_at_offset(err, reader->base.in->offset);
		return TR_WARN;
	}
	if (entry->size == TR_GNATCOV_LOAD)
		return read_load(reader, entry, size, record, err);
	if (entry->size == TR_GNATCOV_LOADADDR) {
		reader->layout.loaded = true;
		begin(reader, "loadaddr", address_cell(entry));
	} else if (entry->size == TR_GNATCOV_UNLOAD) {
		tr_layout_unload(&reader->layout, entry->address);
		begin(reader, "unload", address_cell(entry));
	} else {
		made = &reader->block.record;
		tr_block_record_set(&reader->block, entry, reader->base.seq,
				    reader->base.in->offset);
	}
	if (made == &reader->base.record && !add_pad(reader, entry->pad))
		return tr_error_memory(err);
	return hand_out(reader, made, size, record, err);
}

/* Ends a section of entries. */
static enum tr_status end_of_entries(struct reader *reader, enum state state, struct tr_error *err)
{
	reader->state = state;
	if (!reader->layout.kernel || reader->layout.loaded || reader->base.in->damaged)
		return TR_END;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the information names a kernel, but there is no load entry for it");
	err->severity = TR_FLAW;
	tr_error_at_offset(err, reader->base.in->offset);
	return TR_WARN;
}

/* Reports that less than a whole entry is left. */
static enum tr_status last_bytes(struct reader *reader, size_t size, struct tr_error *err)
{
	const struct tr_input *in = reader->base.in;
	size_t left = tr_input_available(in);

	if (left == 0 && in->at_end && !in->damaged)
		return end_of_entries(reader, DONE, err);
	tr_error_set(err, TR_CAUSE_CUT, "truncated: %zu of the %zu bytes of an entry", left, size);
	return cut(reader, 0, err);
}

/*
 * Whether a header begins at pos, where an entry is expected: the program was run again, or files
 * were concatenated. Only headers begin with that magic.
 */
static bool is_header(const struct reader *reader)
{
	struct tr_input *in = reader->base.in;

	if (memcmp(in->pos, TR_GNATCOV_MAGIC, 4) != 0)
		return false;
	tr_input_more(in, TR_GNATCOV_MAGIC_SIZE);
	size_t there = tr_input_available(in);
	if (there > TR_GNATCOV_MAGIC_SIZE)
		there = TR_GNATCOV_MAGIC_SIZE;
	return memcmp(in->pos, TR_GNATCOV_MAGIC, there) == 0;
}

/*
 * The offset of a header within the entry; 0: none. An emulator that was killed leaves part of an
 * entry, and the next run appends its header to that. Called for entries with bits that are never
 * set, because the bytes of a header always have such bits.
 */
static size_t header_inside(const struct reader *reader, size_t size)
{
	struct tr_input *in = reader->base.in;

	if (!memchr(in->pos + 1, *TR_GNATCOV_MAGIC, size - 1))
		return 0;
	tr_input_more(in, size + TR_GNATCOV_MAGIC_SIZE - 1);
	size_t there = tr_input_available(in);
	if (there > size + TR_GNATCOV_MAGIC_SIZE - 1)
		there = size + TR_GNATCOV_MAGIC_SIZE - 1;
	const char *found = memmem(in->pos + 1, there - 1, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE);
	return found ? (size_t)(found - in->pos) : 0;
}

/* Reports and skips the part of an entry before a header. */
static enum tr_status part_of_entry(struct reader *reader, size_t part, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT,
		     "a section begins inside an entry: the part before it is truncated");
	tr_error_at_offset(err, reader->base.in->offset);
	tr_input_skip(reader->base.in, part);
	reader->state = AT_HEADER;
	return TR_WARN;
}

/* Decodes an entry but for its padding. Inline, so that the entry stays in registers. */
static inline __attribute__((always_inline)) void
decode_plain(const char *p, const struct tr_gnatcov_section *section, struct tr_block *entry)
{
	const char *tail = p + section->pc_size;

	entry->address =
		section->pc_size == 4 ? tr_wire_u32(p, section->big) : tr_wire_u64(p, section->big);
	entry->pad = 0;
	entry->size = tr_wire_u16(tail, section->big);
	entry->op = (uint8_t)tail[2];
	entry->digits = section->pc_size * 2;
}

/*
 * Decodes any entry. The bytes of padding are one number: valgrind's tool leaves garbage in them,
 * which is kept for writing the same bytes again.
 */
static void decode(const char *p, const struct tr_gnatcov_section *section, struct tr_block *entry)
{
	decode_plain(p, section, entry);
	entry->pad = tr_wire_pad(p + section->pc_size + 3, section->pc_size == 4 ? 1 : 5);
}

enum { NEVER_SET = 0x4c }; /* bits of an op that have no meaning */

/*
 * Whether the entry at p is a block without anything unusual, as nearly all are. An entry that
 * begins with the magic may be a header.
 */
static inline __attribute__((always_inline)) bool is_plain(const char *p, size_t pc_size)
{
	const char *tail = p + pc_size;
	uint32_t more = 0;

	if (pc_size == 8)
		memcpy(&more, tail + 4, sizeof more);
	return memcmp(p, TR_GNATCOV_MAGIC, 4) != 0 &&
	       !((uint8_t)tail[2] & (NEVER_SET | TR_EXEC_SPECIAL)) && !tail[3] && !more;
}

/*
 * Reads a plain entry. False: next_unit has to read the entry, because it is unusual or extends
 * beyond the window, or because the record is not ready. No function is called from here, so that
 * no register has to be saved.
 */
static inline bool read_plain_entry(struct reader *reader, struct tr_record **record)
{
	struct tr_input *in = reader->base.in;
	size_t size = reader->section.pc_size * 2u;
	struct tr_block entry;

	if (tr_input_available(in) < size || !is_plain(in->pos, reader->section.pc_size) ||
	    !tr_arena_is_empty(&reader->base.arena) || !tr_block_record_is_ready(&reader->block))
		return false;
	decode_plain(in->pos, &reader->section, &entry);
	tr_block_record_set(&reader->block, &entry, reader->base.seq++, in->offset);
	tr_input_skip(in, size);
	*record = &reader->block.record;
	return true;
}

enum { RUN_MAX = 256 };

/* Decodes plain entries from p on, up to the first other one. Returns how many. */
static inline __attribute__((always_inline)) size_t
decode_run(const char *p, size_t max, struct tr_gnatcov_section section, struct tr_block *blocks)
{
	size_t count = 0;

	for (; count < max && is_plain(p, section.pc_size); p += section.pc_size * 2u)
		decode_plain(p, &section, &blocks[count++]);
	return count;
}

/*
 * Hands the plain entries of the window over, up to one that must come as a record. Runs become
 * longer while they are taken whole, so that a taker that wants records costs little.
 */
static __attribute__((noinline)) void hand_over(struct reader *reader, struct tr_block_taker *taker)
{
	struct tr_block blocks[RUN_MAX];
	struct tr_input *in = reader->base.in;
	const struct tr_gnatcov_section *section = &reader->section;
	size_t size = section->pc_size * 2u, count, taken;

	do {
		size_t max = tr_input_available(in) / size;
		if (max > reader->run)
			max = reader->run;
		/* nearly all traces have one of two forms, each of which has a loop of its own */
		if (section->pc_size == 8 && !section->big)
			count = decode_run(in->pos, max,
					   (struct tr_gnatcov_section){ .pc_size = 8 }, blocks);
		else if (section->pc_size == 4 && !section->big)
			count = decode_run(in->pos, max,
					   (struct tr_gnatcov_section){ .pc_size = 4 }, blocks);
		else
			count = decode_run(in->pos, max, *section, blocks);
		taken = count ? taker->take(taker, blocks, count, reader->base.seq) : 0;
		reader->base.seq += taken;
		reader->base.handed_over += taken;
		tr_input_skip(in, taken * size);
		if (taken < count)
			reader->run = 1;
		else if (reader->run < RUN_MAX)
			reader->run *= 2;
	} while (count && taken == count);
}

/* Reads any entry of a section. TR_END: the state has changed. */
static enum tr_status read_entry(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	size_t size = reader->section.pc_size * 2u;
	struct tr_block entry;

	if (tr_input_available(in) < size && !tr_input_more(in, size))
		return last_bytes(reader, size, err);
	if (is_header(reader))
		return end_of_entries(reader, AT_HEADER, err);
	decode(in->pos, &reader->section, &entry);
	if (entry.op & NEVER_SET || entry.pad) {
		size_t part = header_inside(reader, size);
		if (part)
			return part_of_entry(reader, part, err);
	}
	if (entry.op == TR_EXEC_SPECIAL)
		return read_special(reader, &entry, size, record, err);
	tr_block_record_set(&reader->block, &entry, reader->base.seq++, in->offset);
	tr_input_skip(in, size);
	*record = &reader->block.record;
	return TR_OK;
}

/* Skips input up to the next header. */
static enum tr_status find_header(struct reader *reader)
{
	struct tr_input *in = reader->base.in;

	for (;;) {
		bool more = tr_input_more(in, TR_GNATCOV_MAGIC_SIZE);
		const char *found = memmem(in->pos, tr_input_available(in), TR_GNATCOV_MAGIC,
					   TR_GNATCOV_MAGIC_SIZE);
		if (found) {
			tr_input_skip(in, (size_t)(found - in->pos));
			reader->state = AT_HEADER;
			return TR_END;
		}
		if (!more) {
			if (in->at_end)
				tr_input_skip(in, tr_input_available(in));
			reader->state = DONE;
			return TR_END;
		}
		tr_input_skip(in, tr_input_available(in) - (TR_GNATCOV_MAGIC_SIZE - 1));
	}
}

/* Reads anything but a plain entry. Out of line, so that plain entries need not save registers. */
static __attribute__((noinline)) enum tr_status
next_unit(struct reader *reader, struct tr_record **record, struct tr_error *err)
{
	enum tr_status status = TR_END;

	if (reader->state == HELD) {
		reader->state = reader->after;
		*record = reader->held;
		return TR_OK;
	}
	tr_arena_reset(&reader->base.arena);
	tr_error_clear(err);
	while (status == TR_END) {
		switch (reader->state) {
		case AT_ENTRY:
			status = read_entry(reader, record, err);
			break;
		case AT_INFO:
			status = read_info(reader, record, err);
			break;
		case AT_HEADER:
			status = read_header(reader, record, err);
			break;
		case LOST:
			status = find_header(reader);
			break;
		default:
			return TR_END;
		}
	}
	return status;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (reader->state == AT_ENTRY) {
		struct tr_block_taker *taker = reader->taker ? *reader->taker : NULL;
		if (taker)
			hand_over(reader, taker);
		if (read_plain_entry(reader, record))
			return TR_OK;
	}
	return next_unit(reader, record, err);
}

struct tr_reader *tr_gnatcov_open(const struct tr_read_config *config, struct tr_input *in,
				  struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	reader->ops = tr_op_values_new();
	if (!reader->ops) {
		tr_error_memory(err);
		tr_reader_free(&reader->base);
		return NULL;
	}
	/* the window limits the size of an entry, and its fields take several times that size */
	tr_arena_limit(&reader->base.arena, UINT64_MAX);
	reader->taker = config->blocks;
	reader->run = 1;
	tr_block_record_init(&reader->block, reader->ops, &reader->base.arena);
	return &reader->base;
}
