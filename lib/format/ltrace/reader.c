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
 * The header holds how lines begin (pids, clock) and where results begin (align), as in the first
 * line of ltrace's; a record whose line differs has fields of its own for that.
 */
#include <stdlib.h>

#include "core/buffer.h"
#include "format/ltrace/ltrace.h"
#include "format/reader_base.h"
#include "record/literal.h"

enum {
	MOST_OPEN = 4096, /* calls that have begun; programs do not nest so many */
	PROBE = 64 << 10, /* bytes in which the first line of ltrace's is searched for */
	SUMMARY_MAX = 80, /* bytes that hold the head of the table of -c */
	DAY = 24 * 60 * 60,
	MICRO = 1000000,
	MICRO_DIGITS = 6,
};

/* A call that has begun. */
struct open_call {
	uint64_t task; /* NO_TASK: lines have no pid */
	uint64_t name; /* a hash */
	uint64_t seq;
	size_t arguments;
};

#define NO_TASK UINT64_MAX

struct reader {
	struct tr_reader base;
	struct tr_buffer bytes; /* scratch */
	unsigned pids, clock;	/* as in the header */
	size_t align;
	bool headed;
	struct open_call *open; /* in the order in which they began */
	size_t open_count, open_cap;
	uint64_t orphans;
	uint64_t day, day_time; /* of -t and -tt: midnights that have passed, and the last time */
	uint64_t elapsed;	/* of -r, in microseconds */
};

/* Reads digits that are known to be there, and to fit. */
static uint64_t read_number(const char *p, size_t digits)
{
	uint64_t number = 0;

	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(p[i] - '0');
	return number;
}

/* The task and the name (FNV-1a) of a call; a system call may have the name of a function. */
static struct open_call call_of(const struct tr_ltrace_line *line)
{
	struct open_call call = { .name = UINT64_C(0xcbf29ce484222325) + line->system };

	call.task = line->pid.data ? read_number(line->pid.data, line->pid.len) : NO_TASK;
	for (size_t i = 0; i < line->name.len; i++)
		call.name =
			(call.name ^ (unsigned char)line->name.data[i]) * UINT64_C(0x100000001b3);
	return call;
}

/* Forgets a call that has begun. */
static void drop_open(struct reader *reader, size_t i)
{
	reader->open_count--;
	memmove(&reader->open[i], &reader->open[i + 1],
		(reader->open_count - i) * sizeof *reader->open);
}

/*
 * Takes the call that the line continues. Calls of the task that began later have been left by
 * longjmp(3) or an exception. False: it is unknown.
 */
static bool end_call(struct reader *reader, const struct tr_ltrace_line *line,
		     struct open_call *call)
{
	struct open_call wanted = call_of(line);
	size_t at = reader->open_count;

	while (at > 0 && (reader->open[at - 1].name != wanted.name ||
			  reader->open[at - 1].task != wanted.task))
		at--;
	if (!at)
		return false;
	*call = reader->open[at - 1];
	for (size_t i = reader->open_count; i >= at; i--)
		if (i == at || reader->open[i - 1].task == wanted.task)
			drop_open(reader, i - 1);
	return true;
}

/*
 * Appends the time in seconds. A time of day counts from the midnight before the log begins: half
 * a day back means that another one has passed. Relative times are added up.
 */
static void put_time(struct reader *reader, const struct tr_ltrace_line *line, struct tr_buffer *to)
{
	enum { DAY_TIME = 8 };
	const char *p = line->time.data;

	if (line->clock == TR_LTRACE_T || line->clock == TR_LTRACE_TT) {
		uint64_t now = read_number(p, 2) * 3600 + read_number(p + 3, 2) * 60 +
			       read_number(p + 6, 2);
		if (now + DAY / 2 < reader->day_time)
			reader->day++;
		else if (now > reader->day_time + DAY / 2 && reader->day)
			reader->day--; /* a line that is late, from before midnight */
		reader->day_time = now;
		tr_buffer_put_decimal(to, reader->day * DAY + now);
		tr_buffer_put(to, p + DAY_TIME, line->time.len - DAY_TIME);
	} else if (line->clock == TR_LTRACE_R) {
		size_t digits = line->time.len - MICRO_DIGITS - 1;
		reader->elapsed +=
			read_number(p, digits) * MICRO + read_number(p + digits + 1, MICRO_DIGITS);
		tr_buffer_put_decimal(to, reader->elapsed / MICRO);
		tr_buffer_put_byte(to, '.');
		for (uint64_t unit = MICRO / 10; unit; unit /= 10)
			tr_buffer_put_byte(to, (char)('0' + reader->elapsed / unit % 10));
	} else {
		tr_buffer_put_text(to, p ? line->time : TR_TEXT("-"));
	}
}

/* Appends a key and a text that needs no escape. */
static void put_text(const char *key, struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_text(to, text);
}

/* Appends a key and a string. */
static void put_string(const char *key, struct tr_text text, struct tr_buffer *to)
{
	put_text(key, TR_TEXT("\""), to);
	tr_string_escape(text, to);
	tr_buffer_put_byte(to, '"');
}

/* Appends a key and a number. */
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
	put_text("\t", line->pid.data ? line->pid : TR_TEXT("-"), to);
	tr_buffer_put_byte(to, '\t');
	if (name.data)
		tr_cell_escape(name, false, to);
	else
		tr_buffer_put_byte(to, '-');
	if (line->pids != reader->pids)
		put_text("\t.pids=", tr_text_from(tr_ltrace_pids[line->pids]), to);
	if (line->clock != reader->clock)
		put_text("\t.clock=", tr_text_from(tr_ltrace_clocks[line->clock]), to);
	if (line->address.data)
		put_text("\tip=", line->address, to);
	if (line->indent)
		put_number("\t.indent=", line->indent, to);
}

/* Appends the arguments, numbered from first; their names are not in the log. */
static size_t put_arguments(struct reader *reader, const struct tr_ltrace_line *line, size_t first)
{
	return tr_ltrace_put_arguments(line->arguments, line->system ? 'a' : '#', first,
				       &reader->bytes, &reader->base.line);
}

/* Appends the number of blanks before the result if it is not that of the column. */
static void put_pad(struct reader *reader, const struct tr_ltrace_line *line)
{
	if (line->pad != tr_ltrace_pad(line->closed, reader->align))
		put_number("\t.pad=", line->pad, &reader->base.line);
}

/* Appends the result and the duration. */
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

/* A call on one line, or one that begins. False: memory is exhausted. */
static bool put_call(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	bool whole = line->body == TR_LTRACE_CALL;
	const char *kind = whole ? "call" : "enter";
	uint64_t seq = reader->base.seq++;

	put_columns(reader, line->system ? "sys" : kind, seq, line->name, line);
	if (line->caller.data)
		put_string("\tcaller=", line->caller, to);
	if (line->no_return)
		tr_buffer_put_literal(to, "\t.end=\"no return\"");
	if (whole)
		put_pad(reader, line);
	size_t arguments = put_arguments(reader, line, 0);
	if (whole) {
		tr_buffer_put_literal(to, "\t->");
		put_result(reader, line);
		return true;
	}
	if (line->system)
		tr_buffer_put_literal(to, "\tflagged=[\"unfinished\"]");
	if (reader->open_count == MOST_OPEN)
		drop_open(reader, 0);
	if (!tr_array_room(reader->open, reader->open_count, reader->open_cap))
		return false;
	struct open_call call = call_of(line);
	call.seq = seq;
	call.arguments = arguments;
	reader->open[reader->open_count++] = call;
	return true;
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
	/* a leave without an enter has no name */
	struct tr_text name = known || line->system ? line->name : (struct tr_text){ NULL, 0 };

	reader->orphans += orphan;
	put_columns(reader, line->system ? "sys" : "leave",
		    known && !line->system ? call.seq : reader->base.seq++, name, line);
	if (!name.data)
		put_string("\tfunction=", line->name, to);
	if (line->system)
		tr_buffer_put_text(to, orphan ? TR_TEXT("\tflagged=[\"resumed\",\"orphan\"]")
					      : TR_TEXT("\tflagged=[\"resumed\"]"));
	else if (orphan)
		tr_buffer_put_literal(to, "\tflagged=[\"orphan\"]");
	put_pad(reader, line);
	tr_buffer_put_literal(to, "\t->");
	if (line->arguments.len)
		put_arguments(reader, line,
			      !line->continued ? 0
			      : call.arguments ? call.arguments
					       : 1);
	put_result(reader, line);
}

/* Makes base.line of a line of ltrace's. False: memory is exhausted. */
static bool put_line(struct reader *reader, const struct tr_ltrace_line *line)
{
	struct tr_buffer *to = &reader->base.line;
	bool is_signal = line->body == TR_LTRACE_SIGNAL, is_exec = line->body == TR_LTRACE_EXEC;

	if (line->body == TR_LTRACE_CALL || line->body == TR_LTRACE_BEGUN)
		return put_call(reader, line);
	if (line->body == TR_LTRACE_RESUMED) {
		put_resumed(reader, line);
		return true;
	}
	put_columns(reader,
		    is_signal ? "signal"
		    : is_exec ? "exec"
			      : "exit",
		    reader->base.seq++, is_signal ? line->name : (struct tr_text){ NULL, 0 }, line);
	if (is_signal)
		put_string("\ttext=", line->text, to);
	else if (line->body == TR_LTRACE_EXITED)
		put_text("\tstatus=", line->text, to);
	else if (line->body == TR_LTRACE_KILLED)
		put_string("\tsignal=", line->name, to);
	return true;
}

/* Takes what the header holds from the first line of ltrace's. 1: it is there. */
static int find_layout(const char *p, const char *end, void *context)
{
	struct reader *reader = context;
	struct tr_ltrace_line line;
	const char *lf;

	if (end - p > PROBE)
		end = p + PROBE;
	for (; (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		tr_ltrace_line_read(tr_text_span(p, lf), &line);
		if (line.body <= TR_LTRACE_SUMMARY)
			continue;
		reader->pids = line.pids;
		reader->clock = line.clock;
		if ((line.body == TR_LTRACE_CALL || line.body == TR_LTRACE_RESUMED) && line.pad > 1)
			reader->align = line.closed + line.pad + 1;
		return 1;
	}
	return 0;
}

/* Delivers the header: how the lines begin, and the column of the results. */
static enum tr_status put_header(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;

	reader->headed = true;
	tr_bid_by_lines(reader->base.in, PROBE, find_layout, reader);
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "%trec\t1");
	if (reader->pids)
		put_text("\tpids=", tr_text_from(tr_ltrace_pids[reader->pids]), to);
	if (reader->clock)
		put_text("\tclock=", tr_text_from(tr_ltrace_clocks[reader->clock]), to);
	if (reader->align != TR_LTRACE_ALIGN)
		put_number("\talign=", reader->align, to);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Delivers the header, then a record for each line. */
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
	if (!ended || line.body <= TR_LTRACE_SUMMARY) {
		const char *why = ended ? "not a line of ltrace" : TR_LTRACE_CUT;
		tr_reader_put_raw(base, text, why);
		tr_error_say_in(err, ended ? TR_CAUSE_INPUT : TR_CAUSE_CUT, why,
				"%s: kept as a raw record", why);
		tr_error_at_line(err, base->source_line);
		return tr_reader_hold(base, TR_DAMAGE, err);
	}
	if (!put_line(reader, &line))
		return tr_error_memory(err);
	base->line.failed |= reader->bytes.failed;
	return tr_reader_deliver(base, record, err);
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	free(reader->open);
	tr_buffer_free(&reader->bytes);
}

/* Refuses the table of -c, which holds no calls. */
struct tr_reader *tr_ltrace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	struct tr_ltrace_line line = { .body = TR_LTRACE_OTHER };
	const char *lf = NULL;

	/* only the first bytes are needed: a pipe may deliver them in parts */
	for (size_t size = 1; !lf && size <= SUMMARY_MAX && tr_input_more(in, size);
	     size = tr_input_available(in) + 1)
		lf = memchr(in->pos, '\n', tr_input_available(in));
	if (lf)
		tr_ltrace_line_read(tr_text_span(in->pos, lf), &line);
	if (line.body == TR_LTRACE_SUMMARY) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a summary of ltrace -c, which contains no calls: record without "
			     "-c, and count with tr-stat");
		return NULL;
	}
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	reader->align = TR_LTRACE_ALIGN;
	return &reader->base;
}
