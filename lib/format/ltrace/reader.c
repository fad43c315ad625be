/* SPDX-License-Identifier: MIT */
/*
 * Makes records of lines:
 *
 *	call	a call and its return on one line
 *	enter	a call that begins; leave: its return, with the same seq
 *	sys	a system call; its halves are flagged "unfinished" and "resumed"
 *	signal, exit, exec
 *	raw	any other line, reported
 *
 * The header holds how lines begin (pids, clock) and where results begin (align), as the first
 * line of ltrace's has them; a record whose line differs has fields of its own for that.
 */
#include <stdlib.h>

#include "core/buffer.h"
#include "format/ltrace/ltrace.h"
#include "format/reader_base.h"
#include "record/literal.h"

enum {
	MOST_OPEN = 4096, /* calls that have begun; programs do not nest so many */
	PROBE = 64 << 10, /* bytes in which the first line of ltrace's is searched for */
};

/* A call that has begun. */
struct open_call {
	struct tr_text task; /* owned */
	uint64_t name;	     /* a hash */
	uint64_t seq;
	size_t arguments;
};

struct reader {
	struct tr_reader base;
	struct tr_buffer bytes; /* scratch */
	struct tr_ltrace_layout layout;
	size_t align;
	bool headed;
	struct open_call *open; /* in the order in which they began */
	size_t open_count, open_cap;
	uint64_t orphans;
	uint64_t day, day_time; /* of -t and -tt: midnights that have passed, and the last time */
	uint64_t elapsed;	/* of -r, in microseconds */
};

static void drop_open(struct reader *reader, size_t i)
{
	free((char *)reader->open[i].task.data);
	reader->open_count--;
	memmove(&reader->open[i], &reader->open[i + 1],
		(reader->open_count - i) * sizeof *reader->open);
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	while (reader->open_count)
		drop_open(reader, reader->open_count - 1);
	free(reader->open);
	tr_buffer_free(&reader->bytes);
}

/* FNV-1a over the name; a system call may have the name of a function. */
static uint64_t hash_name(const struct tr_ltrace_line *line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + line->system;

	for (size_t i = 0; i < line->name.len; i++)
		hash = (hash ^ (unsigned char)line->name.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Remembers a call that has begun with this seq. False: memory is out. */
static bool begin_call(struct reader *reader, const struct tr_ltrace_line *line, uint64_t seq,
		       size_t arguments)
{
	struct open_call call = { .name = hash_name(line), .seq = seq, .arguments = arguments };
	char *task = malloc(line->pid.len + 1);

	if (reader->open_count == MOST_OPEN)
		drop_open(reader, 0);
	if (!task || !tr_array_room(reader->open, reader->open_count, reader->open_cap)) {
		free(task);
		return false;
	}
	if (line->pid.len)
		memcpy(task, line->pid.data, line->pid.len);
	call.task = (struct tr_text){ task, line->pid.len };
	reader->open[reader->open_count++] = call;
	return true;
}

/*
 * Takes the call that the line continues. Calls of the task that began later have been left by
 * longjmp(3) or an exception. False: it is not known.
 */
static bool end_call(struct reader *reader, const struct tr_ltrace_line *line,
		     struct open_call *call)
{
	uint64_t name = hash_name(line);
	size_t at = reader->open_count;

	while (at > 0 && !(reader->open[at - 1].name == name &&
			   tr_text_equal(reader->open[at - 1].task, line->pid)))
		at--;
	if (!at)
		return false;
	*call = reader->open[at - 1];
	for (size_t i = reader->open_count; i >= at; i--)
		if (i == at || tr_text_equal(reader->open[i - 1].task, line->pid))
			drop_open(reader, i - 1);
	return true;
}

/* Reads digits that are known to be there. */
static uint64_t read_number(const char *p, size_t digits)
{
	uint64_t number = 0;

	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(p[i] - '0');
	return number;
}

/*
 * Appends the time in seconds. A time of day counts from the midnight before the log begins: half
 * a day back means that another one has passed. Relative times are added up.
 */
static void put_time(struct reader *reader, const struct tr_ltrace_line *line, struct tr_buffer *to)
{
	enum { MICRO = 1000000, MICRO_DIGITS = 6, DAY_TIME = 8 };
	const char *p = line->time.data;

	switch (line->layout.clock) {
	case TR_LTRACE_T:
	case TR_LTRACE_TT: {
		uint64_t now = read_number(p, 2) * 3600 + read_number(p + 3, 2) * 60 +
			       read_number(p + 6, 2);
		if (now + TR_LTRACE_DAY / 2 < reader->day_time)
			reader->day++;
		else if (now > reader->day_time + TR_LTRACE_DAY / 2 && reader->day)
			reader->day--; /* a line that is late, from before midnight */
		reader->day_time = now;
		tr_buffer_put_decimal(to, reader->day * TR_LTRACE_DAY + now);
		tr_buffer_put(to, p + DAY_TIME, line->time.len - DAY_TIME);
		break;
	}
	case TR_LTRACE_TTT:
		tr_buffer_put_text(to, line->time);
		break;
	case TR_LTRACE_R: {
		size_t digits = line->time.len - MICRO_DIGITS - 1;
		reader->elapsed +=
			read_number(p, digits) * MICRO + read_number(p + digits + 1, MICRO_DIGITS);
		tr_buffer_put_decimal(to, reader->elapsed / MICRO);
		tr_buffer_put_byte(to, '.');
		for (uint64_t unit = MICRO / 10; unit; unit /= 10)
			tr_buffer_put_byte(to, (char)('0' + reader->elapsed / unit % 10));
		break;
	}
	default:
		tr_buffer_put_byte(to, '-');
	}
}

static void put_string(const char *key, struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_byte(to, '"');
	tr_string_escape(text, to);
	tr_buffer_put_byte(to, '"');
}

static void put_number(const char *key, uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
}

/* Appends the cells, and the fields that say how the line begins. */
static void put_columns(struct reader *reader, const char *kind, uint64_t seq, struct tr_text name,
			const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;

	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(kind));
	put_number("\t", seq, to);
	tr_buffer_put_byte(to, '\t');
	put_time(reader, line, to);
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, line->pid.data ? line->pid : TR_TEXT("-"));
	tr_buffer_put_byte(to, '\t');
	if (name.data)
		tr_cell_escape(name, false, to);
	else
		tr_buffer_put_byte(to, '-');
	if (line->layout.pids != reader->layout.pids) {
		tr_buffer_put_literal(to, "\t.pids=");
		tr_buffer_put_text(to, tr_text_from(tr_ltrace_pids[line->layout.pids]));
	}
	if (line->layout.clock != reader->layout.clock) {
		tr_buffer_put_literal(to, "\t.clock=");
		tr_buffer_put_text(to, tr_text_from(tr_ltrace_clocks[line->layout.clock]));
	}
	if (line->address.data) {
		tr_buffer_put_literal(to, "\tip=");
		tr_buffer_put_text(to, line->address);
	}
	if (line->indent)
		put_number("\t.indent=", line->indent, to);
}

/* Appends the outputs: the result and the duration. */
static void put_result(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	char spelled[TR_REAL_MAX];
	uint64_t bits;

	if (!line->is_void) {
		tr_buffer_put_literal(to, "\treturn=");
		tr_ltrace_put_literal(line->result, &reader->bytes, to);
	}
	/* the number of the error is negative, and its name depends on the machine */
	if (line->system && line->result.len && *line->result.data == '-')
		tr_buffer_put_literal(to, "\tfailed=true");
	if (line->duration.data && tr_real64_read(line->duration, &bits)) {
		tr_buffer_put_literal(to, "\tdur=");
		tr_buffer_put(to, spelled, tr_real64_write(bits, spelled));
	}
}

/* Appends the number of blanks before the result if it is not that of the column. */
static void put_pad(struct reader *reader, const struct tr_ltrace_line *line)
{
	size_t usual = tr_ltrace_pad(line->closed, reader->align);

	if (line->pad != usual)
		put_number("\t.pad=", line->pad, &reader->base.line);
}

static void put_caller(struct reader *reader, const struct tr_ltrace_line *line)
{
	if (line->caller.data)
		put_string("\tcaller=", line->caller, &reader->base.line);
}

/* A call on one line. */
static void put_call(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;

	put_columns(reader, line->system ? "sys" : "call", reader->base.seq++, line->name, line);
	put_caller(reader, line);
	put_pad(reader, line);
	tr_ltrace_put_arguments(line->arguments, line->system ? 'a' : '#', 0, &reader->bytes, to);
	tr_buffer_put_literal(to, "\t->");
	put_result(reader, line);
}

/* A call that begins. False: memory is out. */
static bool put_begun(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	uint64_t seq = reader->base.seq++;

	put_columns(reader, line->system ? "sys" : "enter", seq, line->name, line);
	put_caller(reader, line);
	if (line->no_return)
		tr_buffer_put_literal(to, "\t.end=\"no return\"");
	size_t arguments = tr_ltrace_put_arguments(line->arguments, line->system ? 'a' : '#', 0,
						   &reader->bytes, to);
	if (line->system)
		tr_buffer_put_literal(to, "\tflagged=[\"unfinished\"]");
	return begin_call(reader, line, seq, arguments);
}

/* Whether the function returns in a task in which it was not called. */
static bool is_fork(struct tr_text name)
{
	return tr_text_is(name, "fork") || tr_text_is(name, "vfork") || tr_text_is(name, "clone") ||
	       tr_text_is(name, "__clone");
}

/*
 * The return of a call. Its arguments are numbered from where those of its first half end, so
 * that a number other than 0 means that others were printed before.
 */
static void put_resumed(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	struct open_call call = { .seq = 0 };
	bool known = end_call(reader, line, &call);
	bool orphan = !known && !is_fork(line->name);
	size_t first = !line->continued ? 0 : call.arguments ? call.arguments : 1;

	reader->orphans += orphan;
	if (known && !line->system) {
		put_columns(reader, "leave", call.seq, line->name, line);
	} else if (line->system) {
		put_columns(reader, "sys", reader->base.seq++, line->name, line);
	} else {
		/* a leave without an enter has no name */
		put_columns(reader, "leave", reader->base.seq++, (struct tr_text){ NULL, 0 }, line);
		put_string("\tfunction=", line->name, to);
	}
	if (line->system)
		tr_buffer_put_text(to, orphan ? TR_TEXT("\tflagged=[\"resumed\",\"orphan\"]")
					      : TR_TEXT("\tflagged=[\"resumed\"]"));
	else if (orphan)
		tr_buffer_put_literal(to, "\tflagged=[\"orphan\"]");
	put_pad(reader, line);
	tr_buffer_put_literal(to, "\t->");
	if (line->arguments.len || line->continued)
		tr_ltrace_put_arguments(line->arguments, line->system ? 'a' : '#', first,
					&reader->bytes, to);
	put_result(reader, line);
}

static void put_simple(struct reader *reader, const char *kind, struct tr_text name,
		       const struct tr_ltrace_line *line)
{
	put_columns(reader, kind, reader->base.seq++, name, line);
}

/* Makes base.line of a line that is ltrace's. False: memory is out. */
static bool put_line(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	struct tr_text none = { NULL, 0 };

	switch (line->body) {
	case TR_LTRACE_CALL:
		put_call(reader, line);
		break;
	case TR_LTRACE_BEGUN:
		return put_begun(reader, line);
	case TR_LTRACE_RESUMED:
		put_resumed(reader, line);
		break;
	case TR_LTRACE_SIGNAL:
		put_simple(reader, "signal", line->name, line);
		put_string("\ttext=", line->text, to);
		break;
	case TR_LTRACE_EXEC:
		put_simple(reader, "exec", none, line);
		break;
	case TR_LTRACE_EXITED:
		put_simple(reader, "exit", none, line);
		tr_buffer_put_literal(to, "\tstatus=");
		tr_buffer_put_text(to, line->text);
		break;
	default:
		put_simple(reader, "exit", none, line);
		put_string("\tsignal=", line->name, to);
	}
	return true;
}

/* Finds the first line of ltrace's, and takes what the header holds from it. */
static void look_ahead(struct reader *reader)
{
	struct tr_input *in = reader->base.in;
	struct tr_ltrace_line line;
	size_t at = 0;

	while (at < PROBE) {
		size_t available = tr_input_available(in);
		const char *lf = available > at ? memchr(in->pos + at, '\n', available - at) : NULL;

		if (!lf) {
			if (available >= PROBE || !tr_input_more(in, available + 1))
				return;
			continue;
		}
		if (lf - in->pos >= PROBE)
			return;
		tr_ltrace_line_read(tr_text_span(in->pos + at, lf), &line);
		if (line.body != TR_LTRACE_OTHER)
			break;
		at = (size_t)(lf - in->pos) + 1;
	}
	if (at >= PROBE)
		return;
	reader->layout = line.layout;
	if ((line.body == TR_LTRACE_CALL || line.body == TR_LTRACE_RESUMED) && line.pad > 1)
		reader->align = line.closed + line.pad + 1;
}

static enum tr_status put_header(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;

	reader->headed = true;
	look_ahead(reader);
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "%trec\t1");
	if (reader->layout.pids) {
		tr_buffer_put_literal(line, "\tpids=");
		tr_buffer_put_text(line, tr_text_from(tr_ltrace_pids[reader->layout.pids]));
	}
	if (reader->layout.clock) {
		tr_buffer_put_literal(line, "\tclock=");
		tr_buffer_put_text(line, tr_text_from(tr_ltrace_clocks[reader->layout.clock]));
	}
	if (reader->align != TR_LTRACE_ALIGN)
		put_number("\talign=", reader->align, line);
	enum tr_status status = tr_reader_deliver(&reader->base, record, err);
	return status == TR_OK ? tr_record_split(*record, err) : status;
}

/* The line becomes a raw record, which the next call returns after this message. */
static enum tr_status keep_raw(struct reader *reader, struct tr_text line, bool ended,
			       struct tr_error *err)
{
	const char *why = ended ? "not a line of ltrace" : TR_LTRACE_CUT;

	tr_reader_put_raw(&reader->base, line, why);
	reader->base.held = true;
	tr_error_say_in(err, ended ? TR_CAUSE_INPUT : TR_CAUSE_CUT, why, "%s: kept as a raw record",
			why);
	tr_error_at_line(err, reader->base.source_line);
	return TR_WARN;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_ltrace_line line;
	struct tr_text text;
	bool ended;

	tr_arena_reset(&base->arena);
	enum tr_status status = tr_reader_due(base, record, err);
	if (status != TR_END)
		return status;
	if (!reader->headed)
		return put_header(reader, record, err);
	base->source_offset = base->in->offset;
	status = tr_reader_line(base, &text, &ended, err);
	base->source_line = base->lines;
	if (status == TR_END)
		return tr_reader_note_orphans(base, reader->orphans,
					      "returns of calls that do not begin in the trace",
					      err);
	if (status != TR_OK)
		return status;
	tr_ltrace_line_read(text, &line);
	/* the last line may lack digits of its result */
	if (!ended || line.body == TR_LTRACE_OTHER)
		return keep_raw(reader, text, ended, err);
	if (!put_line(reader, &line))
		return tr_error_memory(err);
	base->line.failed |= reader->bytes.failed;
	return tr_reader_deliver(base, record, err);
}

struct tr_reader *tr_ltrace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	reader->align = TR_LTRACE_ALIGN;
	return &reader->base;
}
