/* SPDX-License-Identifier: MIT */
#include "core/text.h"
#include "format/etrace/etrace.h"
#include "format/etrace/fields.h"
#include "record/literal.h"

static void put_text(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\ttext=\"");
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

/* Appends what follows the seq, for a line of a task without zeros in front of numbers. */
static void put_event(const struct tr_etrace_line *line, struct tr_buffer *to)
{
	enum { MOST = 2 * TR_DECIMAL_MAX + TR_ETRACE_NANO_DIGITS + 3 };
	char *begin = tr_buffer_room(to, MOST), *p = begin;

	if (!begin)
		return;
	p += tr_decimal_write(line->sec, p);
	*p++ = '.';
	tr_etrace_write_nanoseconds(line->nsec, p);
	p += TR_ETRACE_NANO_DIGITS;
	*p++ = '\t';
	p += tr_decimal_write(line->upid, p);
	*p++ = '\t';
	tr_buffer_used(to, (size_t)(p - begin));
	tr_buffer_put_text(to, line->tag);
	tr_buffer_put_literal(to, "\tcpu=");
	tr_etrace_put_number((int64_t)line->cpu, to);
	if (line->form == TR_ETRACE_PART) {
		tr_buffer_put_literal(to, "\tindex=");
		tr_etrace_put_number((int64_t)line->index, to);
	}
	if (line->form != TR_ETRACE_BARE)
		put_text(line->text, to);
	if (tr_text_equal(line->prefix, TR_TEXT("0: ")))
		return;
	tr_buffer_put_literal(to, "\t.prefix=\"");
	tr_string_escape(line->prefix, to);
	tr_buffer_put_byte(to, '"');
}

void tr_etrace_verbatim_record(const struct tr_etrace_line *line, bool end, struct tr_buffer *to)
{
	if (line->type == TR_ETRACE_EVENT && !line->padded) {
		put_event(line, to);
	} else if (line->type == TR_ETRACE_INITCWD) {
		tr_buffer_put_literal(to, "-\t-\tINITCWD");
		put_text(line->text, to);
	} else {
		tr_buffer_put_literal(to, "-\t-\t-");
		put_text(line->whole, to);
	}
	if (!end)
		tr_buffer_put_literal(to, "\t.lf=false");
}

/* The fields of such a record. */
struct parts {
	struct tr_text text, prefix;
	bool has_text, has_prefix, has_index, has_cpu;
	int64_t index, cpu;
};

static bool find_parts(struct tr_record *record, struct parts *parts, struct tr_error *err)
{
	return tr_etrace_field_string(record, "text", &parts->has_text, &parts->text, err) &&
	       tr_etrace_field_string(record, ".prefix", &parts->has_prefix, &parts->prefix, err) &&
	       tr_etrace_field_number(record, "index", &parts->has_index, &parts->index, err) &&
	       tr_etrace_field_number(record, "cpu", &parts->has_cpu, &parts->cpu, err);
}

static bool line_of_event(const struct tr_record *record, const struct parts *parts,
			  struct tr_buffer *to, struct tr_error *err)
{
	struct tr_etrace_moment time;
	uint64_t task;

	if (!tr_etrace_field_time(record, &time, err) || !tr_etrace_field_task(record, &task, err))
		return false;
	tr_buffer_put_text(to, parts->has_prefix ? parts->prefix : TR_TEXT("0: "));
	tr_buffer_put_decimal(to, task);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, (uint64_t)parts->cpu);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, time.sec);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, time.nsec);
	tr_buffer_put_byte(to, '!');
	tr_buffer_put_text(to, record->name.text);
	if (parts->has_index) {
		tr_buffer_put_byte(to, '[');
		tr_buffer_put_decimal(to, (uint64_t)parts->index);
		tr_buffer_put_byte(to, ']');
	} else if (parts->has_text) {
		tr_buffer_put_byte(to, '|');
	}
	return true;
}

static bool put_line(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct parts parts;
	struct tr_value *lf = NULL;

	if (!find_parts(record, &parts, err))
		return false;
	if (record->task.type != TR_CELL_ABSENT && record->name.type == TR_CELL_TEXT) {
		if (!line_of_event(record, &parts, to, err))
			return false;
	} else if (record->name.type == TR_CELL_TEXT) {
		tr_buffer_put_text(to, record->name.text);
		tr_buffer_put_byte(to, '=');
	}
	tr_buffer_put_text(to, parts.text);
	struct tr_field *field = tr_record_field(record, ".lf");
	if (field && !(lf = tr_field_value(record, field, err)))
		return false;
	if (!lf || lf->type != TR_FALSE)
		tr_buffer_put_byte(to, '\n');
	return true;
}

enum tr_status tr_etrace_verbatim_line(struct tr_record *record, struct tr_buffer *to,
				       struct tr_error *err)
{
	size_t begin = to->len;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (put_line(record, to, err) && !to->failed)
		return TR_OK;
	to->len = begin;
	if (to->failed)
		tr_error_memory(err);
	return tr_error_status(err);
}
