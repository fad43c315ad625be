/* Information: the entries of an INFO section, and those of a shared object that was loaded. */
#include "config.h"

#include <inttypes.h>

#include "coverage/date.h"
#include "format/gnatcov/reader.h"
#include "format/gnatcov/wire.h"

/*
 * No list is out of step for a tag that is merely new; but a tag like this one
 * is no tag, and its length no length.
 */
enum { ABSURD_TAG = 0x10000 };

/* The entry `at` bytes behind pos is none: what follows it is looked through for a header. */
static enum tr_status lost(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err)
{
	tr_error_at_offset(err, reader->in->offset + at);
	tr_input_skip(reader->in, at + TR_GNATCOV_INFO_SIZE);
	reader->state = TR_GNATCOV_LOST;
	return TR_WARN;
}

static enum tr_status cut(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err)
{
	if (!reader->in->at_end || reader->in->damaged)
		return tr_gnatcov_stuck(reader);
	tr_error_at_offset(err, reader->in->offset + at);
	return tr_gnatcov_cut(reader, err);
}

static const char *shown_tag(uint32_t tag)
{
	const char *name = tr_gnatcov_tag_name(tag);

	return name ? name : "of unknown kind";
}

/* The end of a list, which has no data. */
static enum tr_status list_end(struct tr_gnatcov_reader *reader, size_t at,
			       const struct tr_gnatcov_info *info, struct tr_error *err)
{
	if (info->data.len == 0)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "the end of the information has %zu bytes of data",
		     info->data.len);
	return lost(reader, at, err);
}

enum tr_status tr_gnatcov_info_at(struct tr_gnatcov_reader *reader, size_t at,
				  struct tr_gnatcov_info *info, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	bool big = reader->section.big;

	if (!tr_input_more(in, at + TR_GNATCOV_INFO_SIZE)) {
		tr_error_set(err, TR_CAUSE_CUT, "the file is cut amid its information");
		return cut(reader, at, err);
	}
	info->tag = tr_wire_u32(in->pos + at, big);
	info->data.len = tr_wire_u32(in->pos + at + 4, big);
	info->size = TR_GNATCOV_INFO_SIZE;
	if (info->tag == TR_GNATCOV_END)
		return list_end(reader, at, info, err);
	if (info->tag >= ABSURD_TAG) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
		return lost(reader, at, err);
	}
	unsigned padding = (unsigned)-info->data.len % TR_GNATCOV_INFO_ALIGN;
	info->size += info->data.len + padding;
	if (!tr_input_more(in, at + info->size)) {
		tr_error_set(err, TR_CAUSE_CUT,
			     "the file is cut: information %s says %zu bytes, %zu are left",
			     shown_tag(info->tag), info->data.len,
			     tr_input_available(in) - at - TR_GNATCOV_INFO_SIZE);
		return cut(reader, at, err);
	}
	info->data.data = in->pos + at + TR_GNATCOV_INFO_SIZE;
	info->pad = (uint32_t)tr_wire_pad(info->data.data + info->data.len, padding);
	return TR_OK;
}

static bool is_number(uint32_t tag)
{
	return tag == TR_GNATCOV_EXEC_FILE_SIZE || tag == TR_GNATCOV_EXEC_FILE_CRC32 ||
	       tag == TR_GNATCOV_EXEC_CODE_SIZE;
}

/* What gnatcov does not take, or takes for something else. */
static bool has_flaw(const struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info,
		     struct tr_error *err)
{
	struct tr_trace_date date;

	if (!tr_gnatcov_tag_name(info->tag)) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
		return true;
	}
	if (info->pad) {
		tr_error_set(err, TR_CAUSE_INPUT, "padding behind information %s is not zero",
			     shown_tag(info->tag));
		return true;
	}
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    tr_trace_date_read(info->data, reader->section.big, &date))
		return false;
	tr_error_set(err, TR_CAUSE_INPUT, "DATE_TIME is no date of 8 bytes");
	return true;
}

/* The cell or key of a tag. */
static const char *tag_text(struct tr_gnatcov_reader *reader, uint32_t tag)
{
	enum { MAX_DIGITS = 11 };
	const char *name = tr_gnatcov_tag_name(tag);
	char *digits = name ? NULL : tr_arena_alloc(&reader->arena, MAX_DIGITS);

	if (digits) {
		struct tr_buffer to = { digits, 0, MAX_DIGITS, false };
		tr_buffer_put_decimal(&to, tag);
		tr_buffer_put_byte(&to, '\0');
		name = digits;
	}
	return name; /* NULL: memory */
}

static bool add_pad(struct tr_gnatcov_reader *reader, uint64_t pad)
{
	struct tr_value value = { .type = TR_POINTER, .as.number = pad };

	return !pad || tr_gnatcov_add(reader, ".pad", value);
}

/* What the data means, where it means a date or a number. */
static bool add_decoded(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info)
{
	struct tr_value value = { .type = TR_UINT };
	struct tr_trace_date date;

	if (is_number(info->tag) && tr_gnatcov_number(info->data, &value.as.number))
		return tr_gnatcov_add(reader, "value", value);
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(info->data, reader->section.big, &date))
		return true;
	tr_buffer_reset(&reader->text);
	tr_trace_date_write(&date, &reader->text);
	value = (struct tr_value){ .type = TR_STRING,
				   .flags = TR_PLAIN,
				   .text = tr_arena_copy(&reader->arena,
							 tr_buffer_text(&reader->text)) };
	return !reader->text.failed && tr_gnatcov_add(reader, "value", value);
}

static bool build(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info)
{
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(tag_text(reader, info->tag)) };

	if (!name.text.data)
		return false;
	tr_gnatcov_begin(reader, "info", name);
	return tr_gnatcov_add(reader, "data", tr_gnatcov_string(reader, info->data)) &&
	       add_decoded(reader, info) && add_pad(reader, info->pad);
}

/* A note is told once as well, and what it is about follows. */
static bool tell_swapped_year(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info,
			      struct tr_error *err)
{
	struct tr_trace_date date;

	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(info->data, reader->section.big, &date) || !date.swapped)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT, "the year of DATE_TIME is not in the section's byte "
					  "order: taken as %u", date.year);
	if (!tr_gnatcov_tell(reader, err))
		return false;
	tr_error_is_note(err);
	return true;
}

enum tr_status tr_gnatcov_read_info(struct tr_gnatcov_reader *reader, struct tr_record **record,
				    struct tr_error *err)
{
	struct tr_gnatcov_info info;
	enum tr_status status = tr_gnatcov_info_at(reader, 0, &info, err);

	if (status != TR_OK)
		return status;
	if (info.tag == TR_GNATCOV_END) {
		tr_input_skip(reader->in, info.size);
		reader->state = TR_GNATCOV_AT_HEADER;
		return TR_END;
	}
	if ((has_flaw(reader, &info, err) && tr_gnatcov_tell(reader, err)) ||
	    tell_swapped_year(reader, &info, err))
		return TR_WARN;
	if (!build(reader, &info)) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	if (info.tag == TR_GNATCOV_KERNEL_FILE_NAME && !reader->kernel_asked) {
		reader->kernel_asked = true;
		reader->kernel = info.data.len > 0;
	}
	tr_input_skip(reader->in, info.size);
	return tr_gnatcov_hand_out(reader, record);
}

/* What is asked of a shared object, and what came. */
struct loaded {
	bool named, stamped;
	uint64_t file_size, crc, code_size;
	bool bad_number, bad_tag;
};

static void note_tag(struct loaded *loaded, const struct tr_gnatcov_info *info)
{
	uint64_t number = 0;

	if (is_number(info->tag) && !tr_gnatcov_number(info->data, &number))
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
		loaded->bad_tag |= !tr_gnatcov_tag_name(info->tag);
	}
}

/* Reads the list behind a load entry into fields. *size grows by all of it. */
static enum tr_status read_list(struct tr_gnatcov_reader *reader, struct loaded *loaded,
				size_t *size, struct tr_error *err)
{
	struct tr_gnatcov_info info = { 0 };
	enum tr_status status;

	while ((status = tr_gnatcov_info_at(reader, *size, &info, err)) == TR_OK &&
	       info.tag != TR_GNATCOV_END) {
		const char *key = tag_text(reader, info.tag);
		note_tag(loaded, &info);
		if (!key || !tr_gnatcov_add(reader, key, tr_gnatcov_string(reader, info.data)) ||
		    !add_pad(reader, info.pad)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
		*size += info.size;
	}
	*size += info.size;
	return status;
}

static bool load_has_flaw(struct tr_gnatcov_reader *reader, const struct loaded *loaded,
			  const struct tr_block *entry, struct tr_error *err)
{
	struct tr_object object = { entry->address, entry->address + loaded->code_size - 1, 0 };
	enum tr_objects_answer answer = TR_OBJECTS_ADDED;

	if (entry->digits == 8)
		object.last = loaded->code_size > UINT32_MAX ? 0 : (uint32_t)object.last;
	if (loaded->bad_number)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a size or checksum of a shared object is no number");
	else if (!loaded->named || !loaded->stamped || !loaded->file_size || !loaded->crc ||
		 !loaded->code_size)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded with incomplete information");
	else if (loaded->bad_tag)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object has an unknown kind of information");
	if (loaded->code_size)
		answer = tr_objects_load(&reader->objects, object);
	if (answer == TR_OBJECTS_OVERLAP)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded over one that is there");
	else if (answer == TR_OBJECTS_FULL)
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d shared objects are loaded",
			     TR_OBJECTS_MAX);
	else if (answer == TR_OBJECTS_MEMORY)
		tr_error_memory(err);
	return err->cause != TR_CAUSE_NONE;
}

static struct tr_cell address_cell(const struct tr_block *entry)
{
	return (struct tr_cell){ .type = TR_CELL_ADDRESS,
				 .width = entry->digits,
				 .number = entry->address };
}

static enum tr_status read_load(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
				size_t size, struct tr_record **record, struct tr_error *err)
{
	struct loaded loaded = { 0 };

	tr_gnatcov_begin(reader, "load", address_cell(entry));
	if (!add_pad(reader, entry->pad)) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	enum tr_status status = read_list(reader, &loaded, &size, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	/* with the second look the object is there already: that is no news */
	if (reader->told_at != reader->in->offset &&
	    load_has_flaw(reader, &loaded, entry, err)) {
		if (err->cause == TR_CAUSE_MEMORY)
			return TR_FATAL;
		tr_gnatcov_tell(reader, err);
		return TR_WARN;
	}
	tr_input_skip(reader->in, size);
	return tr_gnatcov_hand_out(reader, record);
}

/* An entry of one of the other kinds, whose flaw (in err) has been told before. */
static enum tr_status pass_on(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			      size_t size, const char *kind, struct tr_record **record,
			      struct tr_error *err)
{
	if (kind) {
		tr_gnatcov_begin(reader, kind, address_cell(entry));
		if (!add_pad(reader, entry->pad)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
		tr_input_skip(reader->in, size);
		return tr_gnatcov_hand_out(reader, record);
	}
	tr_block_record_set(&reader->block, entry, reader->seq++, reader->in->offset);
	tr_input_skip(reader->in, size);
	*record = &reader->block.record;
	return TR_OK;
}

/* True: err says what is wrong with where or how a special entry stands. */
static bool special_has_flaw(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			     struct tr_error *err)
{
	bool due = reader->kernel && !reader->loaded;

	if (entry->size == TR_GNATCOV_LOADADDR && !due)
		tr_error_set(err, TR_CAUSE_INPUT, "unexpected load address of a kernel");
	else if (entry->size == TR_GNATCOV_LOADADDR && entry->address == 0)
		tr_error_set(err, TR_CAUSE_INPUT, "the load address of the kernel is 0");
	else if (entry->size == 0 || entry->size > TR_GNATCOV_UNLOAD)
		tr_error_set(err, TR_CAUSE_INPUT, "unknown special entry 0x%04x", entry->size);
	else if (entry->size != TR_GNATCOV_LOADADDR && due)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "special entry 0x%04x where the load address of the kernel is due",
			     entry->size);
	else if (entry->size == TR_GNATCOV_UNLOAD &&
		 !tr_objects_find(&reader->objects, entry->address))
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object is unloaded that is not loaded");
	else
		return false;
	return true;
}

enum tr_status tr_gnatcov_read_special(struct tr_gnatcov_reader *reader,
				       const struct tr_block *entry, size_t size,
				       struct tr_record **record, struct tr_error *err)
{
	bool told = reader->told_at == reader->in->offset;

	if (!told && special_has_flaw(reader, entry, err)) {
		/* a list that follows is judged with the entry that it belongs to */
		if (entry->size == TR_GNATCOV_LOAD)
			reader->loaded = true;
		else
			tr_gnatcov_tell(reader, err);
		err->severity = TR_FLAW;
		tr_error_at_offset(err, reader->in->offset);
		return TR_WARN;
	}
	switch (entry->size) {
	case TR_GNATCOV_LOADADDR:
		reader->loaded = true;
		return pass_on(reader, entry, size, "loadaddr", record, err);
	case TR_GNATCOV_LOAD:
		return read_load(reader, entry, size, record, err);
	case TR_GNATCOV_UNLOAD:
		tr_objects_unload(&reader->objects, entry->address);
		return pass_on(reader, entry, size, "unload", record, err);
	default:
		return pass_on(reader, entry, size, NULL, record, err);
	}
}
