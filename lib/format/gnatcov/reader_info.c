/* Information: the entries of an INFO section, and what all lists of them have in common. */
#include "config.h"

#include <inttypes.h>

#include "coverage/date.h"
#include "format/gnatcov/reader.h"
#include "core/wire.h"

/*
 * No list is out of step for a tag that is merely new; but a tag like this one
 * is no tag, and its length no length.
 */
enum { ABSURD_TAG = 0x10000 };

enum tr_status tr_gnatcov_lost(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err)
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
	return tr_gnatcov_lost(reader, at, err);
}

enum tr_status tr_gnatcov_info_at(struct tr_gnatcov_reader *reader, size_t at,
				  struct tr_gnatcov_info *info, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	bool big = reader->section.big;

	if (!tr_input_more(in, at + TR_GNATCOV_INFO_SIZE)) {
		tr_error_set(err, TR_CAUSE_CUT, "truncated inside its information");
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
		return tr_gnatcov_lost(reader, at, err);
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

bool tr_gnatcov_is_number(uint32_t tag)
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
		tr_error_set(err, TR_CAUSE_INPUT, "padding after information %s is not zero",
			     shown_tag(info->tag));
		return true;
	}
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    tr_trace_date_read(info->data, reader->section.big, &date))
		return false;
	tr_error_set(err, TR_CAUSE_INPUT, "DATE_TIME is no date of 8 bytes");
	return true;
}

const char *tr_gnatcov_tag_text(struct tr_gnatcov_reader *reader, uint32_t tag)
{
	enum { MAX_DIGITS = 11 };
	const char *name = tr_gnatcov_tag_name(tag);
	char *digits = name ? NULL : tr_arena_alloc(&reader->arena, MAX_DIGITS);

	if (digits) {
		struct tr_buffer to = tr_buffer_over(digits, MAX_DIGITS);
		tr_buffer_put_decimal(&to, tag);
		tr_buffer_put_byte(&to, '\0');
		name = digits;
	}
	return name; /* NULL: memory */
}

bool tr_gnatcov_add_pad(struct tr_gnatcov_reader *reader, uint64_t pad)
{
	struct tr_value value = { .type = TR_POINTER, .as.number = pad };

	return !pad || tr_gnatcov_add(reader, ".pad", value);
}

/* What the data means, where it means a date or a number. */
static bool add_decoded(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info)
{
	struct tr_value value = { .type = TR_UINT };
	struct tr_trace_date date;

	if (tr_gnatcov_is_number(info->tag) && tr_ada_number(info->data, &value.as.number))
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
				.text = tr_text_from(tr_gnatcov_tag_text(reader, info->tag)) };

	if (!name.text.data)
		return false;
	tr_gnatcov_begin(reader, "info", name);
	return tr_gnatcov_add(reader, "data", tr_gnatcov_string(reader, info->data)) &&
	       add_decoded(reader, info) && tr_gnatcov_add_pad(reader, info->pad);
}

/* A note is told once as well, and what it is about follows. */
static bool tell_swapped_year(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_info *info,
			      struct tr_error *err)
{
	struct tr_trace_date date;

	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(info->data, reader->section.big, &date) || !date.swapped)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the year of DATE_TIME is not in the section's byte "
		     "order: taken as %u",
		     date.year);
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
	if (!build(reader, &info))
		return tr_error_memory(err);
	if (info.tag == TR_GNATCOV_KERNEL_FILE_NAME && !reader->kernel_asked) {
		reader->kernel_asked = true;
		reader->kernel = info.data.len > 0;
	}
	tr_input_skip(reader->in, info.size);
	return tr_gnatcov_hand_out(reader, record);
}
