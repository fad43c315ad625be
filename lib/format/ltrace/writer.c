/* SPDX-License-Identifier: MIT */
/*
 * Prints records as lines: for the writer, which takes whole segments, and for the text style,
 * which also shows calls of other formats.
 */
#include <stdlib.h>

#include "format/ltrace/ltrace.h"
#include "format/writer_base.h"

enum { MICRO = 1000000 };

/* Makes lines of records. */
struct printer {
	struct tr_ltrace_layout layout; /* of the segment, if it is one of ltrace's */
	size_t align;
	bool faithful;
	uint64_t last; /* time of the line before, in microseconds, for -r */
	struct tr_buffer line;
};

/* The number of a name in a list; fallback if it is not there. */
static unsigned number_of(struct tr_text name, const char *const *names, unsigned fallback)
{
	for (unsigned i = 0; names[i]; i++)
		if (tr_text_is(name, names[i]))
			return i;
	return fallback;
}

/* The only name of a symbol, as in the reader's lists; data NULL: the field has none. */
static struct tr_text word_of(struct tr_record *record, const char *key)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	if (!value || value->type != TR_SYMBOL || value->as.symbol->count != 1)
		return (struct tr_text){ NULL, 0 };
	return value->as.symbol->names[0].text;
}

/* The number of a field; fallback if it is none. */
static uint64_t uint_of(struct tr_record *record, const char *key, uint64_t fallback)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	return value && value->type == TR_UINT ? value->as.number : fallback;
}

/* The bytes of a string or symbol; data NULL: it is neither. */
static struct tr_text text_of(struct tr_record *record, const char *key)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	if (value && value->type == TR_STRING)
		return tr_value_bytes(value, record->arena);
	return word_of(record, key);
}

/* header NULL: the segment is of another format. */
static void begin(struct printer *printer, struct tr_record *header)
{
	printer->layout = (struct tr_ltrace_layout){ TR_LTRACE_NO_PID, TR_LTRACE_NO_CLOCK };
	printer->align = TR_LTRACE_ALIGN;
	printer->faithful = header;
	printer->last = 0;
	if (!header)
		return;
	printer->layout.pids = number_of(word_of(header, "pids"), tr_ltrace_pids, TR_LTRACE_NO_PID);
	printer->layout.clock =
		number_of(word_of(header, "clock"), tr_ltrace_clocks, TR_LTRACE_NO_CLOCK);
	printer->align = uint_of(header, "align", TR_LTRACE_ALIGN);
	if (printer->align > TR_LTRACE_MAX_ALIGN)
		printer->align = TR_LTRACE_ALIGN;
}

/* The layout of the record's line. */
static struct tr_ltrace_layout layout_of(const struct printer *printer, struct tr_record *record)
{
	struct tr_ltrace_layout layout = printer->layout;

	if (!printer->faithful) {
		layout.pids = TR_LTRACE_BRACKETED;
		layout.clock = TR_LTRACE_TTT;
	}
	layout.pids = number_of(word_of(record, ".pids"), tr_ltrace_pids, layout.pids);
	layout.clock = number_of(word_of(record, ".clock"), tr_ltrace_clocks, layout.clock);
	return layout;
}

/* Reads SECONDS[.FRACTION]. False: it is no time, or beyond 64 bits. */
static bool read_time(const struct tr_cell *cell, uint64_t *micro)
{
	const char *p = cell->text.data, *end = p + cell->text.len;
	uint64_t unit = MICRO;

	*micro = 0;
	if (cell->type == TR_CELL_NUMBER)
		return !__builtin_mul_overflow(cell->number, (uint64_t)MICRO, micro);
	if (cell->type != TR_CELL_TEXT || !cell->text.len)
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(*micro, UINT64_C(10), micro) ||
		    __builtin_add_overflow(*micro, (uint64_t)(*p - '0') * MICRO, micro))
			return false;
	if (p < end && *p == '.')
		while (++p < end && *p >= '0' && *p <= '9')
			*micro += (uint64_t)(*p - '0') * (unit /= 10);
	return p == end;
}

static void put_padded(uint64_t number, unsigned digits, char fill, struct tr_buffer *to)
{
	size_t begin = to->len;

	tr_buffer_put_decimal(to, number);
	size_t len = to->len - begin;
	char *gap = len < digits ? tr_buffer_insert(to, begin, digits - len) : NULL;
	if (gap)
		memset(gap, fill, digits - len);
}

static void put_seconds(uint64_t micro, unsigned width, struct tr_buffer *to)
{
	put_padded(micro / MICRO, width, ' ', to);
	tr_buffer_put_byte(to, '.');
	put_padded(micro % MICRO, 6, '0', to);
}

static void put_time(struct printer *printer, unsigned clock, const struct tr_cell *time)
{
	struct tr_buffer *to = &printer->line;
	uint64_t micro, seconds;

	if (clock == TR_LTRACE_NO_CLOCK || !read_time(time, &micro))
		return;
	seconds = micro / MICRO;
	switch (clock) {
	case TR_LTRACE_T:
	case TR_LTRACE_TT:
		put_padded(seconds / 3600 % 24, 2, '0', to);
		tr_buffer_put_byte(to, ':');
		put_padded(seconds / 60 % 60, 2, '0', to);
		tr_buffer_put_byte(to, ':');
		put_padded(seconds % 60, 2, '0', to);
		if (clock == TR_LTRACE_TT) {
			tr_buffer_put_byte(to, '.');
			put_padded(micro % MICRO, 6, '0', to);
		}
		break;
	case TR_LTRACE_R:
		put_seconds(micro > printer->last ? micro - printer->last : 0, 3, to);
		break;
	default:
		put_seconds(micro, 0, to);
	}
	printer->last = micro;
	tr_buffer_put_byte(to, ' ');
}

static void put_blanks(uint64_t count, struct tr_buffer *to)
{
	/* more would be no line of a log, and take memory */
	enum { MOST = 1 << 16 };

	for (uint64_t i = 0; i < count && i < MOST; i++)
		tr_buffer_put_byte(to, ' ');
}

/* Begins the line of the record. */
static void put_prefix(struct printer *printer, struct tr_record *record)
{
	struct tr_ltrace_layout layout = layout_of(printer, record);
	struct tr_field *address = tr_record_field(record, "ip");
	struct tr_value *value = address ? tr_field_value(record, address, NULL) : NULL;
	struct tr_buffer *to = &printer->line;

	tr_buffer_reset(to);
	if (layout.pids != TR_LTRACE_NO_PID && record->task.type != TR_CELL_ABSENT) {
		bool bracketed = layout.pids == TR_LTRACE_BRACKETED;
		tr_buffer_put_text(to, bracketed ? TR_TEXT("[pid ") : TR_TEXT(""));
		tr_cell_write(&record->task, to);
		tr_buffer_put_text(to, bracketed ? TR_TEXT("] ") : TR_TEXT(" "));
	}
	put_time(printer, layout.clock, &record->time);
	if (value && value->type == TR_POINTER) {
		tr_buffer_put_literal(to, "[0x");
		tr_buffer_put_hex(to, value->as.number, 1);
		tr_buffer_put_literal(to, "] ");
	}
	put_blanks(uint_of(record, ".indent", 0), to);
}

/* Whether the field is one that the line has elsewhere. */
static bool is_own_field(const struct tr_field *field)
{
	static const char *const keys[] = { "ip",      "caller",   "return", "dur",
					    "flagged", "function", "failed", NULL };

	return !field->key.data || (field->key.len && *field->key.data == '.') ||
	       number_of(field->key, keys, UINT32_MAX) != UINT32_MAX;
}

/* Appends the value of a field. TR_WARN: it is bad. */
static enum tr_status put_field(struct printer *printer, struct tr_record *record,
				struct tr_field *field, struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);

	if (!value)
		return tr_error_status(err);
	if (!tr_ltrace_put_value(value, record->arena, &printer->line))
		return tr_error_memory(err);
	return TR_OK;
}

/* Appends the arguments. resumed: others may have been printed in the first half. */
static enum tr_status put_arguments(struct printer *printer, struct tr_record *record, bool resumed,
				    struct tr_error *err)
{
	bool first = true;

	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		enum tr_status status;

		if (is_own_field(field))
			continue;
		bool follows = !first || (resumed && !tr_text_is(field->key, "#0") &&
					  !tr_text_is(field->key, "a0"));
		first = false;
		tr_buffer_put_text(&printer->line, follows ? TR_TEXT(", ") : TR_TEXT(""));
		status = put_field(printer, record, field, err);
		if (status != TR_OK)
			return status;
	}
	return TR_OK;
}

/* Appends the parenthesis, the blanks and the result. */
static enum tr_status put_result(struct printer *printer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_buffer *to = &printer->line;
	struct tr_field *result = tr_record_field(record, "return");
	struct tr_field *duration = tr_record_field(record, "dur");
	enum tr_status status = TR_OK;

	tr_buffer_put_byte(to, ')');
	put_blanks(uint_of(record, ".pad", tr_ltrace_pad(to->len, printer->align)), to);
	tr_buffer_put_literal(to, "= ");
	if (result)
		status = put_field(printer, record, result, err);
	else
		tr_buffer_put_literal(to, "<void>");
	if (status == TR_OK && duration) {
		tr_buffer_put_literal(to, " <");
		status = put_field(printer, record, duration, err);
		tr_buffer_put_byte(to, '>');
	}
	return status;
}

static bool has_flag(struct tr_record *record, const char *flag)
{
	struct tr_field *field = tr_record_field(record, "flagged");
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	for (size_t i = 0; value && value->type == TR_LIST && i < value->count; i++)
		if (value->as.items[i].type == TR_STRING &&
		    tr_text_is(value->as.items[i].text, flag))
			return true;
	return false;
}

/* Appends the bytes of the name; those of a leave without an enter are in a field. */
static enum tr_status put_name(struct printer *printer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_text name = text_of(record, "function");

	if (record->name.type == TR_CELL_TEXT) {
		if (!tr_cell_bytes(record->name.text, record->arena, &name, err))
			return tr_error_status(err);
	} else if (record->name.type != TR_CELL_ABSENT) {
		tr_cell_write(&record->name, &printer->line);
		return TR_OK;
	}
	tr_buffer_put_text(&printer->line, name);
	return TR_OK;
}

/* Prints a call, or a half of one. */
static enum tr_status put_call(struct printer *printer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_buffer *to = &printer->line;
	bool system = tr_text_is(record->kind, "sys");
	bool leave = system ? has_flag(record, "resumed") : tr_text_is(record->kind, "leave");
	bool enter = system ? has_flag(record, "unfinished") : tr_text_is(record->kind, "enter");
	struct tr_text caller = text_of(record, "caller"), end = text_of(record, ".end");
	enum tr_status status;

	tr_buffer_put_text(to, leave ? TR_TEXT("<... ") : caller);
	tr_buffer_put_text(to, leave || !caller.data ? TR_TEXT("") : TR_TEXT("->"));
	tr_buffer_put_text(to, system ? TR_TEXT("SYS_") : TR_TEXT(""));
	status = put_name(printer, record, err);
	tr_buffer_put_text(to, leave ? TR_TEXT(" resumed> ") : TR_TEXT("("));
	if (status == TR_OK)
		status = put_arguments(printer, record, leave, err);
	if (status == TR_OK && !enter)
		return put_result(printer, record, err);
	tr_buffer_put_text(to, tr_text_is(end, "no return") ? TR_TEXT(" <no return ...>")
							    : TR_TEXT(" <unfinished ...>"));
	return status;
}

static enum tr_status put_signal(struct printer *printer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status;

	tr_buffer_put_literal(&printer->line, "--- ");
	status = put_name(printer, record, err);
	tr_buffer_put_literal(&printer->line, " (");
	tr_buffer_put_text(&printer->line, text_of(record, "text"));
	tr_buffer_put_literal(&printer->line, ") ---");
	return status;
}

/* TR_END: it is not known how the process ended. */
static enum tr_status put_exit(struct printer *printer, struct tr_record *record)
{
	struct tr_buffer *to = &printer->line;
	struct tr_text signal = text_of(record, "signal");
	uint64_t status = uint_of(record, "status", UINT64_MAX);

	if (signal.data) {
		tr_buffer_put_literal(to, "+++ killed by ");
		tr_buffer_put_text(to, signal);
		tr_buffer_put_literal(to, " +++");
		return TR_OK;
	}
	if (status == UINT64_MAX)
		return TR_END;
	tr_buffer_put_literal(to, "+++ exited (status ");
	tr_buffer_put_decimal(to, status);
	tr_buffer_put_literal(to, ") +++");
	return TR_OK;
}

/* A line that was not understood. The last line of a cut log has no LF. */
static enum tr_status put_raw(struct printer *printer, struct tr_record *record,
			      struct tr_output *out)
{
	struct tr_text text = text_of(record, "text");

	if (!printer->faithful || !text.data)
		return TR_END;
	tr_output_put_text(out, text);
	if (!tr_text_is(text_of(record, "reason"), TR_LTRACE_CUT))
		tr_output_put_byte(out, '\n');
	return TR_OK;
}

/* Prints the record. TR_END: there is no line for it. */
static enum tr_status print(struct printer *printer, struct tr_record *record,
			    struct tr_output *out, struct tr_error *err)
{
	enum tr_status status;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_text_is(record->kind, "raw"))
		return put_raw(printer, record, out);
	put_prefix(printer, record);
	if (tr_text_is(record->kind, "call") || tr_text_is(record->kind, "enter") ||
	    tr_text_is(record->kind, "leave") || tr_text_is(record->kind, "sys"))
		status = put_call(printer, record, err);
	else if (tr_text_is(record->kind, "signal"))
		status = put_signal(printer, record, err);
	else if (tr_text_is(record->kind, "exit"))
		status = put_exit(printer, record);
	/* an exec of other formats has a command, which ltrace does not print */
	else if (tr_text_is(record->kind, "exec") && !tr_record_field(record, "argv"))
		tr_buffer_put_literal(&printer->line, "--- Called exec() ---"), status = TR_OK;
	else
		return TR_END;
	if (printer->line.failed)
		return tr_error_memory(err);
	if (status == TR_OK) {
		tr_buffer_put_byte(&printer->line, '\n');
		tr_output_put_text(out, tr_buffer_text(&printer->line));
	} else if (status != TR_END) {
		tr_error_at_line(err, record->source_line);
	}
	return status;
}

/* The writer. */

struct writer {
	struct tr_writer base;
	struct printer printer;
};

static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	(void)err;
	begin(&writer->printer, writer->base.faithful ? header : NULL);
	return TR_OK;
}

static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	return print(&writer->printer, record, writer->base.out, err);
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_buffer_free(&writer->printer.line);
}

static const struct tr_writer_steps steps = {
	.format = "ltrace",
	.begin = begin_segment,
	.put = put_record,
	.discard = discard,
};

struct tr_writer *tr_ltrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	(void)config;
	if (!writer)
		return NULL;
	begin(&writer->printer, NULL);
	return &writer->base;
}

/* The text style: the lines of the records that are shown. */

struct style {
	struct printer printer;
	struct tr_output *out;
};

static void *create_style(const struct tr_text_config *config, struct tr_output *out,
			  struct tr_error *err)
{
	struct style *style = calloc(1, sizeof *style);

	(void)config;
	if (!style) {
		tr_error_memory(err);
		return NULL;
	}
	style->out = out;
	begin(&style->printer, NULL);
	return style;
}

static enum tr_status put_style(void *view, struct tr_record *record, struct tr_error *err)
{
	struct style *style = view;
	enum tr_status status = TR_OK;

	if (!record)
		return TR_OK;
	if (record->type == TR_HEADER)
		begin(&style->printer,
		      tr_text_is(text_of(record, "format"), "ltrace") ? record : NULL);
	else if (record->type == TR_RECORD)
		status = print(&style->printer, record, style->out, err);
	tr_output_record_end(style->out);
	return status == TR_END ? TR_OK : status;
}

static void free_style(void *view)
{
	struct style *style = view;

	tr_buffer_free(&style->printer.line);
	free(style);
}

static const char *const kinds[] = { "call", "enter", "leave", "sys", "signal", "exit", NULL };

const struct tr_text_style tr_ltrace_styles[] = {
	{
		.name = "ltrace",
		.help = "what ltrace prints",
		.shows = "library and system calls",
		.kinds = kinds,
		.create = create_style,
		.put = put_style,
		.free = free_style,
	},
	{ 0 },
};
