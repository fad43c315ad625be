/* SPDX-License-Identifier: MIT */
/*
 * The format's description, the bid, and the reader: line -> its parts -> record.
 *
 * ltrace does not escape quotes, and prints names of C++ with parentheses and blanks, so a line
 * cannot be parsed from left to right: the result is searched for from the end, and the name by
 * what may be in one. A line that does not fit exactly is OTHER and becomes a raw record; what is
 * accepted can be written again byte for byte.
 *
 * The records are
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
#include "format/ltrace/ltrace.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "format/reader_base.h"
#include "record/literal.h"

enum body {
	OTHER,	 /* not a line of a log */
	SUMMARY, /* nor is this: the head of the table that -c prints instead */
	CALL,
	BEGUN,
	RESUMED,
	SIGNAL,
	EXEC,
	EXITED,
	KILLED,
};

/* A line in its parts. Those that it does not have are empty, their data NULL. */
struct line {
	enum body body;
	enum tr_ltrace_pids pids;
	enum tr_ltrace_clock clock;
	struct tr_text pid, time, address; /* address: of -i */
	size_t indent;
	struct tr_text caller;
	struct tr_text name; /* of the function or signal, without SYS_ */
	bool system;	     /* a system call */
	bool no_return;	     /* it begins, and <no return ...> follows */
	struct tr_text arguments;
	bool continued; /* resumed: arguments were printed before these */
	size_t closed;	/* column after the ')' */
	size_t pad;	/* blanks from there to the result */
	bool is_void;	/* the result is <void> */
	struct tr_text result;
	struct tr_text duration;
	struct tr_text text; /* of a signal: its description; of an exit: the status */
};

const char *const tr_ltrace_pids[] = { "none", "plain", "bracketed", NULL };
const char *const tr_ltrace_clocks[] = { "none", "t", "tt", "ttt", "r", NULL };

/* Moves *p over word. False: the text at *p begins otherwise. */
static bool take(const char **p, const char *end, struct tr_text word)
{
	bool starts = tr_text_starts(tr_text_span(*p, end), word);

	*p += starts ? word.len : 0;
	return starts;
}

/* Removes word from the end of text. False: the text ends otherwise. */
static bool chop(struct tr_text *text, struct tr_text word)
{
	bool ends = text->len >= word.len &&
		    memcmp(text->data + text->len - word.len, word.data, word.len) == 0;

	text->len -= ends ? word.len : 0;
	return ends;
}

/* True if p has no leading zero, so that the number is spelled the same again. */
static bool is_canonical(const char *p, const char *digits_end)
{
	enum { MOST = 18 };

	return digits_end > p && (*p != '0' || digits_end == p + 1) && digits_end - p <= MOST;
}

/* True for .uuuuuu at p. */
static bool is_fraction(const char *p, const char *end)
{
	enum { MICROSECONDS = 7 };

	return p < end && *p == '.' && tr_skip_digits(p + 1, end) == p + MICROSECONDS;
}

/* True for HH:MM:SS at p, within a day. */
static bool is_day_time(const char *p, const char *end)
{
	static const char limits[] = "29:59:59"; /* the largest digit of each */

	if ((size_t)(end - p) < sizeof limits - 1)
		return false;
	for (size_t i = 0; i < sizeof limits - 1; i++)
		if (limits[i] == ':' ? p[i] != ':' : p[i] < '0' || p[i] > limits[i])
			return false;
	return p[0] < '2' || p[1] < '4';
}

/* Takes the time and the blank after it, if there is one. */
static void take_time(const char **p, const char *end, struct line *line)
{
	enum {
		DAY_TIME = 8,
		FRACTION = 7,
		RELATIVE_WIDTH = 3,
		EPOCH_DIGITS = 9,
		MOST_DIGITS = 13, /* whose microseconds fit into 64 bits */
	};
	const char *at = *p, *stop;
	unsigned clock;

	if (is_day_time(at, end)) {
		stop = at + DAY_TIME;
		clock = is_fraction(stop, end) ? TR_LTRACE_TT : TR_LTRACE_T;
	} else {
		while (at < end && *at == ' ')
			at++;
		stop = tr_skip_digits(at, end);
		if (!is_canonical(at, stop) || stop - at > MOST_DIGITS || !is_fraction(stop, end))
			return;
		clock = stop - at >= EPOCH_DIGITS ? TR_LTRACE_TTT : TR_LTRACE_R;
		/* only relative times have blanks before them, up to their width */
		if (at > *p ? clock == TR_LTRACE_TTT || stop - *p != RELATIVE_WIDTH
			    : stop - at < RELATIVE_WIDTH)
			return;
	}
	stop += clock == TR_LTRACE_T ? 0 : FRACTION;
	if (stop == end || *stop != ' ')
		return;
	line->time = tr_text_span(at, stop);
	line->clock = clock;
	*p = stop + 1;
}

/* Reads what precedes the body, and returns where that begins. */
static const char *read_prefix(const char *p, const char *end, struct line *line)
{
	enum { ADDRESS_DIGITS = 16 };
	const char *at = p, *stop, *body;
	bool bracketed = take(&at, end, TR_TEXT("[pid "));

	stop = tr_skip_digits(at, end);
	struct tr_text pid = tr_text_span(at, stop);
	if (is_canonical(at, stop) && take(&stop, end, bracketed ? TR_TEXT("] ") : TR_TEXT(" "))) {
		line->pid = pid;
		line->pids = bracketed ? TR_LTRACE_BRACKETED : TR_LTRACE_PLAIN;
		p = stop;
	}
	take_time(&p, end, line);
	at = p;
	if (take(&at, end, TR_TEXT("[0x"))) {
		for (stop = at; stop < end && stop - at < ADDRESS_DIGITS && *stop &&
				strchr("0123456789abcdef", *stop);)
			stop++;
		struct tr_text address = tr_text_span(at - 2, stop);
		if (stop > at && *at != '0' && take(&stop, end, TR_TEXT("] "))) {
			line->address = address;
			p = stop;
		}
	}
	for (body = p; body < end && *body == ' ';)
		body++;
	line->indent = (size_t)(body - p);
	return body;
}

/* The end of parentheses that hold no string; NULL: there is none. */
static const char *parentheses_end(const char *p, const char *end)
{
	size_t depth = 0;

	for (; p < end && *p != '"' && *p != '\''; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* True if parentheses are followed by others. */
static bool may_have_types(const char *p, const char *end)
{
	while ((p = memchr(p, ')', (size_t)(end - p))) && ++p < end)
		if (*p == '(' || tr_text_starts(tr_text_span(p, end), TR_TEXT(" const(")))
			return true;
	return false;
}

/*
 * The '(' before the arguments. -C prints the types of a C++ function's parameters in parentheses
 * of their own.
 */
static const char *arguments_begin(const char *p, const char *end)
{
	const char *at = memchr(p, '(', (size_t)(end - p)), *next;

	while (at && may_have_types(at, end) && (next = parentheses_end(at, end))) {
		take(&next, end, TR_TEXT(" const"));
		if (next == end || *next != '(')
			break;
		at = next;
	}
	return at;
}

/* Skips what names of C, versions and numbers consist of. */
static const char *skip_plain(const char *p, const char *end)
{
	while (p < end &&
	       ((*p >= 'a' && *p <= 'z') || (*p >= '@' && *p <= 'Z') || tr_is_digit(*p) ||
		*p == '_' || *p == '.' || *p == '-' || *p == '$' || *p == '+'))
		p++;
	return p;
}

/* Reads `caller->name`. False: it is no name of a function. */
static bool read_name(struct tr_text text, struct line *line)
{
	const char *p = text.data, *end = p + text.len, *at = skip_plain(p, end);

	if (at > p + 1 && at[-1] == '-' && at < end && *at == '>' &&
	    !tr_text_is(tr_text_span(p, at - 1), "operator")) {
		line->caller = tr_text_span(p, at - 1);
		p = at + 1;
		at = skip_plain(p, end);
	}
	line->name = tr_text_span(p, end);
	/*
	 * Names of C++ contain anything, but not without a scope or an operator. With -e '*',
	 * functions of indirect relocations have no name.
	 */
	if ((p == end && !line->caller.data) || (p < end && tr_is_digit(*p)) ||
	    (at < end && !memmem(p, (size_t)(end - p), "::", 2) &&
	     !memmem(p, (size_t)(end - p), "operator", 8)))
		return false;
	struct tr_text system = TR_TEXT("SYS_");
	line->system = !line->caller.data && tr_text_starts(line->name, system) &&
		       line->name.len > system.len;
	if (line->system)
		line->name = tr_text_span(p + system.len, end);
	return true;
}

/* True if text can be a result. Other text after a " = " is part of a string. */
static bool is_result(struct tr_text text)
{
	static const char pairs[] = "\"\"''{}[]<>";
	const char *last = text.data + text.len - 1, *p = text.data;

	if (!text.len)
		return false;
	if (text.len > 4 && memcmp(last - 3, "\"...", 4) == 0)
		return *p == '"';
	p += *p == '~';
	for (size_t i = 0; pairs[i]; i += 2)
		if (*p == pairs[i])
			return last > p && *last == pairs[i + 1];
	return skip_plain(p, last + 1) > last;
}

/* Removes ` <SECONDS>` of -T from the end of a result. */
static void chop_duration(struct tr_text *result, struct line *line)
{
	enum { FRACTION = 7, MOST = 9 + FRACTION /* which a double keeps */ };
	struct tr_text text = *result;

	if (!chop(&text, TR_TEXT(">")))
		return;
	const char *end = text.data + text.len, *p = end;
	while (p > text.data && end - p < MOST && p[-1] != '<')
		p--;
	const char *stop = tr_skip_digits(p, end);
	if (p - text.data < 2 || p[-1] != '<' || p[-2] != ' ' || !is_canonical(p, stop) ||
	    !is_fraction(stop, end) || stop + FRACTION != end)
		return;
	line->duration = tr_text_span(p, end);
	*result = tr_text_span(text.data, p - 2);
}

/* Reads `ARGUMENTS)   = RESULT` from p on; begin: of the line. False: there is no result. */
static bool read_result(const char *begin, const char *p, const char *end, struct line *line)
{
	const char *equals = end;

	while ((equals = memrchr(p, '=', (size_t)(equals - p))) && equals > p) {
		const char *close = equals - 1;
		struct tr_text result;

		if (*close != ' ' || end - equals < 3 || equals[1] != ' ')
			continue;
		while (close > p && *close == ' ')
			close--;
		if (*close != ')')
			continue;
		result = tr_text_span(equals + 2, end);
		line->duration = (struct tr_text){ NULL, 0 };
		chop_duration(&result, line);
		if (!is_result(result))
			continue;
		line->arguments = tr_text_span(p, close);
		line->closed = (size_t)(close + 1 - begin);
		line->pad = (size_t)(equals - close) - 1;
		line->is_void = tr_text_is(result, "<void>");
		line->result = result;
		return true;
	}
	return false;
}

/* Reads a call, or the first half of one. */
static enum body read_call(const char *begin, const char *p, const char *end, struct line *line)
{
	struct tr_text rest = tr_text_span(p, end);
	const char *open = arguments_begin(p, end);

	if (!open || !read_name(tr_text_span(p, open), line))
		return OTHER;
	if (chop(&rest, TR_TEXT(" <unfinished ...>")) ||
	    (line->no_return = chop(&rest, TR_TEXT(" <no return ...>")))) {
		line->arguments = tr_text_span(open + 1, rest.data + rest.len);
		return rest.data + rest.len > open ? BEGUN : OTHER;
	}
	return read_result(begin, open + 1, end, line) ? CALL : OTHER;
}

/* Reads the second half of a call. */
static enum body read_resumed(const char *begin, const char *p, const char *end, struct line *line)
{
	const char *resumed = memmem(p, (size_t)(end - p), " resumed> ", 10);

	if (!resumed || !read_name(tr_text_span(p, resumed), line) || line->caller.data)
		return OTHER;
	p = resumed + 10;
	line->continued = take(&p, end, TR_TEXT(", "));
	return read_result(begin, p, end, line) && (!line->continued || line->arguments.len)
		       ? RESUMED
		       : OTHER;
}

/* Reads a signal or an exec, after "--- ". */
static enum body read_signal(struct tr_text text, struct line *line)
{
	const char *open = memmem(text.data, text.len, " (", 2);

	if (tr_text_is(text, "Called exec() ---"))
		return EXEC;
	if (!open || open == text.data || !chop(&text, TR_TEXT(") ---")) ||
	    text.data + text.len < open + 2)
		return OTHER;
	line->name = tr_text_span(text.data, open);
	line->text = tr_text_span(open + 2, text.data + text.len);
	/* strace has {...} there, and once had (...) @ 0 (0) */
	return memchr(line->name.data, ' ', line->name.len) ||
			       memchr(line->text.data, ')', line->text.len)
		       ? OTHER
		       : SIGNAL;
}

/* Reads the end of a process, after "+++ ". */
static enum body read_end(struct tr_text text, struct line *line)
{
	const char *p = text.data, *end = p + text.len;

	if (take(&p, end, TR_TEXT("exited (status "))) {
		line->text = tr_text_span(p, tr_skip_digits(p, end));
		p += line->text.len;
		return is_canonical(line->text.data, p) && tr_text_is(tr_text_span(p, end), ") +++")
			       ? EXITED
			       : OTHER;
	}
	if (!take(&p, end, TR_TEXT("killed by ")))
		return OTHER;
	line->name = tr_text_span(p, end);
	if (!chop(&line->name, TR_TEXT(" +++")) || !line->name.len ||
	    memchr(line->name.data, ' ', line->name.len))
		return OTHER;
	return KILLED;
}

/* Reads a line without its LF. */
static void read_line(struct tr_text text, struct line *line)
{
	const char *p, *end = text.data + text.len;

	*line = (struct line){ .body = OTHER };
	p = read_prefix(text.data, end, line);
	if (take(&p, end, TR_TEXT("<... ")))
		line->body = read_resumed(text.data, p, end, line);
	else if (take(&p, end, TR_TEXT("--- ")))
		line->body = read_signal(tr_text_span(p, end), line);
	else if (take(&p, end, TR_TEXT("+++ ")))
		line->body = read_end(tr_text_span(p, end), line);
	else if (tr_text_is(text, "% time     seconds  usecs/call     calls      function"))
		line->body = SUMMARY;
	else
		line->body = read_call(text.data, p, end, line);
	/* the writer has this limit */
	if (line->indent > TR_LTRACE_BLANKS_MAX || line->pad > TR_LTRACE_BLANKS_MAX)
		line->body = OTHER;
}

/* Records. */

enum {
	MOST_OPEN = 4096, /* calls that have begun; programs do not nest so many */
	PROBE = 64
		<< 10, /* bytes for the bid, and in which the first line of ltrace's is searched for */
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
static struct open_call call_of(const struct line *line)
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
static bool end_call(struct reader *reader, const struct line *line, struct open_call *call)
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
static void put_time(struct reader *reader, const struct line *line, struct tr_buffer *to)
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
			const struct line *line)
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
static size_t put_arguments(struct reader *reader, const struct line *line, size_t first)
{
	return tr_ltrace_put_arguments(line->arguments, line->system ? 'a' : '#', first,
				       &reader->bytes, &reader->base.line);
}

/* Appends the number of blanks before the result if it is not that of the column. */
static void put_pad(struct reader *reader, const struct line *line)
{
	if (line->pad != tr_ltrace_pad(line->closed, reader->align))
		put_number("\t.pad=", line->pad, &reader->base.line);
}

/* Appends the result and the duration. */
static void put_result(struct reader *reader, const struct line *line)
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
static bool put_call(struct reader *reader, const struct line *line)
{
	struct tr_buffer *to = &reader->base.line;
	bool whole = line->body == CALL;
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

/* True if the function returns in a task in which it was not called. */
static bool is_fork(struct tr_text name)
{
	return tr_text_is(name, "fork") || tr_text_is(name, "vfork") || tr_text_is(name, "clone") ||
	       tr_text_is(name, "__clone");
}

/*
 * The return of a call. Its arguments are numbered from where those of its first half end, so
 * that a number other than 0 means that others were printed before.
 */
static void put_resumed(struct reader *reader, const struct line *line)
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
static bool put_line(struct reader *reader, const struct line *line)
{
	struct tr_buffer *to = &reader->base.line;
	bool is_signal = line->body == SIGNAL, is_exec = line->body == EXEC;

	if (line->body == CALL || line->body == BEGUN)
		return put_call(reader, line);
	if (line->body == RESUMED) {
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
	else if (line->body == EXITED)
		put_text("\tstatus=", line->text, to);
	else if (line->body == KILLED)
		put_string("\tsignal=", line->name, to);
	return true;
}

/* Takes what the header holds from the first line of ltrace's. 1: it is there. */
static int find_layout(const char *p, const char *end, void *context)
{
	struct reader *reader = context;
	struct line line;
	const char *lf;

	if (end - p > PROBE)
		end = p + PROBE;
	for (; (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		read_line(tr_text_span(p, lf), &line);
		if (line.body <= SUMMARY)
			continue;
		reader->pids = line.pids;
		reader->clock = line.clock;
		if ((line.body == CALL || line.body == RESUMED) && line.pad > 1)
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
	struct line line;
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
	read_line(text, &line);
	/* the last line may lack digits of its result */
	if (!ended || line.body <= SUMMARY) {
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
static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct line line = { .body = OTHER };
	const char *lf = NULL;

	/* only the first bytes are needed: a pipe may deliver them in parts */
	for (size_t size = 1; !lf && size <= SUMMARY_MAX && tr_input_more(in, size);
	     size = tr_input_available(in) + 1)
		lf = memchr(in->pos, '\n', tr_input_available(in));
	if (lf)
		read_line(tr_text_span(in->pos, lf), &line);
	if (line.body == SUMMARY) {
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

/* The bid. */

enum {
	LINES = 8,
	BITS_OWN = 16,	/* a line that strace does not print; strace bids 12 for one of its own */
	BITS_LIKE = 10, /* lines that strace may print, too: it bids 6 for each system call */
	BITS_TABLE = 40,
};

/* True if a line has a spelling that ltrace has and strace has not. */
static bool is_own(const struct line *line)
{
	static const struct tr_text others[] = {
		{ "NULL", 4 }, { "/*", 2 }, { "[\"", 2 }, { "=", 1 }, { "AT_FDCWD", 8 }
	};

	/* strace prints "+++ killed by", too */
	if (line->body <= SUMMARY || line->body == KILLED)
		return false;
	if (line->body >= SIGNAL || line->system || line->caller.data || line->no_return ||
	    line->is_void || tr_text_is(line->name, "__libc_start_main") ||
	    tr_text_is(line->result, "nil"))
		return true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (memmem(line->arguments.data, line->arguments.len, others[i].data,
			   others[i].len))
			return false;
	return line->pad > 1 && line->closed + line->pad == TR_LTRACE_ALIGN - 1;
}

static int weigh_lines(const char *p, const char *end, void *context)
{
	int own = 0, like = 0, read = 0;

	(void)context;
	for (; read < LINES && p < end; read++) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct line line;

		if (!lf)
			break;
		read_line(tr_text_span(p, lf), &line);
		if (line.body == SUMMARY)
			return BITS_TABLE;
		own += is_own(&line);
		like += line.body > SUMMARY;
		p = lf + 1;
	}
	/* text of other kinds has single lines that look like calls */
	return own ? BITS_OWN * own : like > 1 && like == read ? BITS_LIKE : 0;
}

static int bid(struct tr_input *in)
{
	return tr_bid_by_lines(in, PROBE, weigh_lines, NULL);
}

static const char *const extensions[] = { ".ltrace", NULL };

const struct tr_format tr_format_ltrace = {
	.name = "ltrace",
	.summary = "library and system calls as ltrace prints them",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_HEADS,
	.extensions = extensions,
	.bid = bid,
	.open = open_reader,
	.create = tr_ltrace_create,
	.styles = tr_ltrace_styles,
};
