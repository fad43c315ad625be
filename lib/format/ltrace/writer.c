/* SPDX-License-Identifier: MIT */
/*
 * Prints records as lines: for the writer, which takes whole segments, and for the text style,
 * which also shows calls of other formats.
 */
#include <stdlib.h>

#include "format/ltrace/ltrace.h"
#include "format/writer_base.h"
#include "record/ask.h"

enum { MICRO = 1000000 };

struct printer {
	struct tr_output *out;
	unsigned pids, clock; /* as the lines of the segment begin */
	size_t align;	      /* column of the results */
	bool faithful;	      /* the segment was a log of ltrace */
	uint64_t last;	      /* time of the last line of -r, in microseconds */
	struct tr_buffer line;
	struct tr_record *record; /* of that line, and its first error */
	struct tr_error *err;
};

/* The number of a name in a list; fallback if it is not there. */
static unsigned number_of(struct tr_text name, const char *const *names, unsigned fallback)
{
	for (unsigned i = 0; name.data && names[i]; i++)
		if (tr_text_is(name, names[i]))
			return i;
	return fallback;
}

/* The bytes of a string, or the only name of a symbol; data NULL: the field has neither. */
static struct tr_text text_of(struct tr_record *record, const char *key, struct tr_error *err)
{
	const struct tr_value *value = tr_ask_any(record, key, err);
	struct tr_text text = { NULL, 0 };

	if (value && value->type == TR_SYMBOL && value->as.symbol->count == 1)
		return value->as.symbol->names[0].text;
	if (!value || value->type != TR_STRING)
		return text;
	text = tr_value_bytes(value, record->arena);
	if (!text.data)
		tr_error_memory(err);
	return text;
}

/* Begins a segment. header NULL: it is of another format, and its lines get a pid and a time. */
static void begin(struct printer *p, struct tr_record *header, struct tr_error *err)
{
	p->pids = header ? TR_LTRACE_NO_PID : TR_LTRACE_BRACKETED;
	p->clock = header ? TR_LTRACE_NO_CLOCK : TR_LTRACE_TTT;
	p->align = TR_LTRACE_ALIGN;
	p->faithful = header;
	p->last = 0;
	if (!header)
		return;
	p->pids = number_of(text_of(header, "pids", err), tr_ltrace_pids, p->pids);
	p->clock = number_of(text_of(header, "clock", err), tr_ltrace_clocks, p->clock);
	p->align = tr_ask_number(header, "align", TR_LTRACE_ALIGN, err);
	if (p->align > TR_LTRACE_BLANKS_MAX)
		p->align = TR_LTRACE_ALIGN;
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
	for (; p < end && tr_is_digit(*p); p++)
		if (__builtin_mul_overflow(*micro, UINT64_C(10), micro) ||
		    __builtin_add_overflow(*micro, (uint64_t)(*p - '0') * MICRO, micro))
			return false;
	if (p < end && *p == '.')
		while (++p < end && tr_is_digit(*p))
			*micro += (uint64_t)(*p - '0') * (unit /= 10);
	return p == end;
}

/* Appends a number of at least that many digits, between two texts. */
static void put_padded(const char *before, uint64_t number, unsigned width, char fill,
		       const char *after, struct tr_buffer *to)
{
	char digits[TR_DECIMAL_MAX];
	size_t len = tr_decimal_write(number, digits);

	tr_buffer_put_text(to, tr_text_from(before));
	for (; width > len; width--)
		tr_buffer_put_byte(to, fill);
	tr_buffer_put(to, digits, len);
	tr_buffer_put_text(to, tr_text_from(after));
}

/*
 * Appends the time in the form of the log; nothing if it has none or the record lacks it. Relative
 * times need the last one, which counts from the beginning as they do: others have their own epoch.
 */
static void put_time(struct printer *p, unsigned clock)
{
	struct tr_buffer *to = &p->line;
	uint64_t micro;

	if (clock == TR_LTRACE_NO_CLOCK || !read_time(&p->record->time, &micro))
		return;
	uint64_t seconds = micro / MICRO;
	if (clock == TR_LTRACE_T || clock == TR_LTRACE_TT) {
		put_padded("", seconds / 3600 % 24, 2, '0', ":", to);
		put_padded("", seconds / 60 % 60, 2, '0', ":", to);
		put_padded("", seconds % 60, 2, '0', "", to);
	} else if (clock == TR_LTRACE_R) {
		uint64_t last = p->last;
		p->last = micro;
		micro = micro > last ? micro - last : 0;
		put_padded("", micro / MICRO, 3, ' ', "", to);
	} else {
		tr_buffer_put_decimal(to, seconds);
	}
	if (clock != TR_LTRACE_T)
		put_padded(".", micro % MICRO, 6, '0', "", to);
	tr_buffer_put_byte(to, ' ');
}

/* Appends blanks, up to a limit: the count comes from the input. */
static void put_blanks(uint64_t count, struct tr_buffer *to)
{
	for (uint64_t i = 0; i < count && i < TR_LTRACE_BLANKS_MAX; i++)
		tr_buffer_put_byte(to, ' ');
}

/* Begins the line of the record. */
static void put_prefix(struct printer *p)
{
	struct tr_record *record = p->record;
	struct tr_buffer *to = &p->line;
	unsigned pids = number_of(text_of(record, ".pids", p->err), tr_ltrace_pids, p->pids);
	unsigned clock = number_of(text_of(record, ".clock", p->err), tr_ltrace_clocks, p->clock);
	const struct tr_value *address = tr_ask(record, "ip", TR_POINTER, p->err);

	tr_buffer_reset(to);
	if (pids != TR_LTRACE_NO_PID && record->task.type != TR_CELL_ABSENT) {
		bool bracketed = pids == TR_LTRACE_BRACKETED;
		tr_buffer_put_text(to, bracketed ? TR_TEXT("[pid ") : TR_TEXT(""));
		tr_cell_write(&record->task, to);
		tr_buffer_put_text(to, bracketed ? TR_TEXT("] ") : TR_TEXT(" "));
	}
	put_time(p, clock);
	if (address) {
		tr_buffer_put_literal(to, "[0x");
		tr_buffer_put_hex(to, address->as.number, 1);
		tr_buffer_put_literal(to, "] ");
	}
	put_blanks(tr_ask_number(record, ".indent", 0, p->err), to);
}

/* Appends the value of a field, unless an earlier one was bad. */
static void put_field(struct printer *p, struct tr_field *field)
{
	const struct tr_value *value =
		p->err->cause ? NULL : tr_field_value(p->record, field, p->err);

	if (value && !tr_ltrace_put_value(value, p->record->arena, &p->line))
		tr_error_memory(p->err);
}

/* Appends the arguments. resumed: others may have been printed in the first half. */
static void put_arguments(struct printer *p, bool resumed)
{
	/* these fields are elsewhere in the line, as are those with a point */
	static const char *const others[] = { "ip",	 "caller",   "return", "dur",
					      "flagged", "function", "failed", NULL };
	const struct tr_text first = TR_TEXT("#0"), first_of_system = TR_TEXT("a0");
	bool follows = false;

	for (size_t i = 0; i < p->record->count; i++) {
		struct tr_field *field = &p->record->fields[i];

		if (!field->key.data || *field->key.data == '.' ||
		    number_of(field->key, others, UINT32_MAX) != UINT32_MAX)
			continue;
		if (follows || (resumed && !tr_text_equal(field->key, first) &&
				!tr_text_equal(field->key, first_of_system)))
			tr_buffer_put_literal(&p->line, ", ");
		follows = true;
		put_field(p, field);
	}
}

/* Appends the parenthesis, the blanks and the result. */
static void put_result(struct printer *p)
{
	struct tr_buffer *to = &p->line;
	struct tr_field *result = tr_record_field(p->record, "return");
	struct tr_field *duration = tr_record_field(p->record, "dur");

	tr_buffer_put_byte(to, ')');
	put_blanks(tr_ask_number(p->record, ".pad", tr_ltrace_pad(to->len, p->align), p->err), to);
	tr_buffer_put_literal(to, "= ");
	if (result)
		put_field(p, result);
	else
		tr_buffer_put_literal(to, "<void>");
	if (duration) {
		tr_buffer_put_literal(to, " <");
		put_field(p, duration);
		tr_buffer_put_byte(to, '>');
	}
}

/* True if the record has the flag. */
static bool has_flag(struct printer *p, const char *flag)
{
	const struct tr_value *list = tr_ask(p->record, "flagged", TR_LIST, p->err);

	for (size_t i = 0; list && i < list->count; i++)
		if (list->as.items[i].type == TR_STRING && tr_text_is(list->as.items[i].text, flag))
			return true;
	return false;
}

/* Appends the bytes of the name; that of a leave without an enter is in a field. */
static void put_name(struct printer *p)
{
	struct tr_text name = text_of(p->record, "function", p->err);
	const struct tr_cell *cell = &p->record->name;

	if (cell->type == TR_CELL_TEXT &&
	    !tr_cell_bytes(cell->text, p->record->arena, &name, p->err))
		return;
	if (cell->type == TR_CELL_TEXT || cell->type == TR_CELL_ABSENT)
		tr_buffer_put_text(&p->line, name);
	else
		tr_cell_write(cell, &p->line);
}

/* Prints a call, or a half of one. */
static void put_call(struct printer *p)
{
	struct tr_buffer *to = &p->line;
	bool system = tr_text_is(p->record->kind, "sys");
	bool leave = system ? has_flag(p, "resumed") : tr_text_is(p->record->kind, "leave");
	bool enter = system ? has_flag(p, "unfinished") : tr_text_is(p->record->kind, "enter");
	struct tr_text caller = text_of(p->record, "caller", p->err);

	tr_buffer_put_text(to, leave ? TR_TEXT("<... ") : caller);
	tr_buffer_put_text(to, leave || !caller.data ? TR_TEXT("") : TR_TEXT("->"));
	tr_buffer_put_text(to, system ? TR_TEXT("SYS_") : TR_TEXT(""));
	put_name(p);
	tr_buffer_put_text(to, leave ? TR_TEXT(" resumed> ") : TR_TEXT("("));
	put_arguments(p, leave);
	if (!enter)
		put_result(p);
	else if (tr_text_is(text_of(p->record, ".end", p->err), "no return"))
		tr_buffer_put_literal(to, " <no return ...>");
	else
		tr_buffer_put_literal(to, " <unfinished ...>");
}

/* False: it is unknown how the process ended. */
static bool put_exit(struct printer *p)
{
	struct tr_text signal = text_of(p->record, "signal", p->err);
	const struct tr_value *status = tr_ask(p->record, "status", TR_UINT, p->err);

	if (signal.data) {
		tr_buffer_put_literal(&p->line, "+++ killed by ");
		tr_buffer_put_text(&p->line, signal);
		tr_buffer_put_literal(&p->line, " +++");
	} else if (status) {
		put_padded("+++ exited (status ", status->as.number, 0, ' ', ") +++", &p->line);
	}
	return signal.data || status;
}

/* Prints the record. TR_END: there is no line for it. */
static enum tr_status print(struct printer *p, struct tr_record *record, struct tr_error *err)
{
	static const char *const calls[] = { "call", "enter", "leave", "sys", NULL };
	bool has_line = true;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	tr_error_clear(err);
	p->record = record;
	p->err = err;
	if (tr_text_is(record->kind, "raw")) {
		struct tr_text text = text_of(record, "text", err);
		if (!p->faithful || !text.data)
			return TR_END;
		tr_output_put_text(p->out, text);
		/* a log that was cut ends without a line end */
		if (!tr_text_is(text_of(record, "reason", err), TR_LTRACE_CUT))
			tr_output_put_byte(p->out, '\n');
		return TR_OK;
	}
	put_prefix(p);
	if (number_of(record->kind, calls, UINT32_MAX) != UINT32_MAX) {
		put_call(p);
	} else if (tr_text_is(record->kind, "signal")) {
		tr_buffer_put_literal(&p->line, "--- ");
		put_name(p);
		tr_buffer_put_literal(&p->line, " (");
		tr_buffer_put_text(&p->line, text_of(record, "text", err));
		tr_buffer_put_literal(&p->line, ") ---");
	} else if (tr_text_is(record->kind, "exit")) {
		has_line = put_exit(p);
	} else if (tr_text_is(record->kind, "exec") && !tr_record_field(record, "argv")) {
		/* an exec of other formats has a command, which ltrace does not print */
		tr_buffer_put_literal(&p->line, "--- Called exec() ---");
	} else {
		has_line = false;
	}
	if (p->line.failed)
		tr_error_memory(err);
	if (err->cause)
		return tr_error_status(err);
	if (!has_line)
		return TR_END;
	tr_buffer_put_byte(&p->line, '\n');
	tr_output_put_text(p->out, tr_buffer_text(&p->line));
	return TR_OK;
}

struct writer {
	struct tr_writer base;
	struct printer printer;
};

/* Takes how lines begin from the header, if the segment was a log of ltrace. */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	begin(&writer->printer, writer->base.faithful ? header : NULL, err);
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

/* Writes the line of a record. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	return print(&tr_container(base, struct writer, base)->printer, record, err);
}

static void discard(struct tr_writer *base)
{
	tr_buffer_free(&tr_container(base, struct writer, base)->printer.line);
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
	writer->printer.out = out;
	begin(&writer->printer, NULL, err);
	return &writer->base;
}

/* The text style: the lines of the records that are shown. */

static void *create_style(const struct tr_text_config *config, struct tr_output *out,
			  struct tr_error *err)
{
	struct printer *printer = calloc(1, sizeof *printer);

	(void)config;
	if (!printer) {
		tr_error_memory(err);
		return NULL;
	}
	printer->out = out;
	begin(printer, NULL, err);
	return printer;
}

/* Shows one record; NULL: the end of the stream. Kinds without a line are not shown. */
static enum tr_status put_style(void *view, struct tr_record *record, struct tr_error *err)
{
	struct printer *printer = view;
	enum tr_status status = TR_OK;

	if (!record)
		return TR_OK;
	tr_error_clear(err);
	if (record->type == TR_HEADER)
		begin(printer, tr_text_is(text_of(record, "format", err), "ltrace") ? record : NULL,
		      err);
	else if (record->type == TR_RECORD)
		status = print(printer, record, err);
	tr_output_record_end(printer->out);
	return tr_error_is_memory(err) ? TR_FATAL : status == TR_END ? TR_OK : status;
}

static void free_style(void *view)
{
	tr_buffer_free(&((struct printer *)view)->line);
	free(view);
}

static const char *const kinds[] = { "call", "enter", "leave", "sys", "signal", "exit", NULL };

const struct tr_text_style tr_ltrace_styles[] = {
	{
		.name = "ltrace",
		.help = "the output of ltrace",
		.shows = "library and system calls",
		.kinds = kinds,
		.create = create_style,
		.put = put_style,
		.free = free_style,
	},
	{ 0 },
};
