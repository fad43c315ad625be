/* SPDX-License-Identifier: MIT */
/*
 * The format's description, the bid, and the parts of a line.
 *
 * ltrace does not escape quotes, and prints names of C++ with parentheses and blanks, so a line
 * cannot be parsed from left to right: the result is searched for from the end, and the name by
 * what may be in one. A line that does not fit exactly is OTHER and becomes a raw record; what is
 * accepted can be written again byte for byte.
 */
#include "format/ltrace/ltrace.h"

#include <string.h>

#include "format/reader_base.h"

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

/* Whether p has no leading zero, so that the number is spelled the same again. */
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
static void take_time(const char **p, const char *end, struct tr_ltrace_line *line)
{
	enum { DAY_TIME = 8, FRACTION = 7, RELATIVE_WIDTH = 3, EPOCH_DIGITS = 9 };
	const char *at = *p, *stop;
	unsigned clock;

	if (is_day_time(at, end)) {
		stop = at + DAY_TIME;
		clock = is_fraction(stop, end) ? TR_LTRACE_TT : TR_LTRACE_T;
	} else {
		while (at < end && *at == ' ')
			at++;
		stop = tr_skip_digits(at, end);
		if (!is_canonical(at, stop) || !is_fraction(stop, end))
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
static const char *read_prefix(const char *p, const char *end, struct tr_ltrace_line *line)
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

/* Whether parentheses are followed by others. */
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
static bool read_name(struct tr_text text, struct tr_ltrace_line *line)
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

/* Whether text can be a result. Other text after a " = " is part of a string. */
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
static void chop_duration(struct tr_text *result, struct tr_ltrace_line *line)
{
	struct tr_text text = *result;
	const char *p, *stop;

	if (!chop(&text, TR_TEXT(">")))
		return;
	for (p = text.data + text.len; p > text.data && p[-1] != '<';)
		p--;
	stop = tr_skip_digits(p, text.data + text.len);
	if (p - text.data < 2 || p[-2] != ' ' || !is_canonical(p, stop) ||
	    !is_fraction(stop, text.data + text.len) || stop + 7 != text.data + text.len)
		return;
	line->duration = tr_text_span(p, text.data + text.len);
	*result = tr_text_span(text.data, p - 2);
}

/* Reads `ARGUMENTS)   = RESULT` from p on; begin: of the line. False: there is no result. */
static bool read_result(const char *begin, const char *p, const char *end,
			struct tr_ltrace_line *line)
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
static enum tr_ltrace_body read_call(const char *begin, const char *p, const char *end,
				     struct tr_ltrace_line *line)
{
	struct tr_text rest = tr_text_span(p, end);
	const char *open = arguments_begin(p, end);

	if (!open || !read_name(tr_text_span(p, open), line))
		return TR_LTRACE_OTHER;
	if (chop(&rest, TR_TEXT(" <unfinished ...>")) ||
	    (line->no_return = chop(&rest, TR_TEXT(" <no return ...>")))) {
		line->arguments = tr_text_span(open + 1, rest.data + rest.len);
		return rest.data + rest.len > open ? TR_LTRACE_BEGUN : TR_LTRACE_OTHER;
	}
	return read_result(begin, open + 1, end, line) ? TR_LTRACE_CALL : TR_LTRACE_OTHER;
}

/* Reads the second half of a call. */
static enum tr_ltrace_body read_resumed(const char *begin, const char *p, const char *end,
					struct tr_ltrace_line *line)
{
	const char *resumed = memmem(p, (size_t)(end - p), " resumed> ", 10);

	if (!resumed || !read_name(tr_text_span(p, resumed), line) || line->caller.data)
		return TR_LTRACE_OTHER;
	p = resumed + 10;
	line->continued = take(&p, end, TR_TEXT(", "));
	return read_result(begin, p, end, line) ? TR_LTRACE_RESUMED : TR_LTRACE_OTHER;
}

/* Reads a signal or an exec, after "--- ". */
static enum tr_ltrace_body read_signal(struct tr_text text, struct tr_ltrace_line *line)
{
	const char *open = memmem(text.data, text.len, " (", 2);

	if (tr_text_is(text, "Called exec() ---"))
		return TR_LTRACE_EXEC;
	if (!open || open == text.data || !chop(&text, TR_TEXT(") ---")) ||
	    text.data + text.len < open + 2)
		return TR_LTRACE_OTHER;
	line->name = tr_text_span(text.data, open);
	line->text = tr_text_span(open + 2, text.data + text.len);
	/* strace has {...} there, and once had (...) @ 0 (0) */
	return memchr(line->name.data, ' ', line->name.len) ||
			       memchr(line->text.data, ')', line->text.len)
		       ? TR_LTRACE_OTHER
		       : TR_LTRACE_SIGNAL;
}

/* Reads the end of a process, after "+++ ". */
static enum tr_ltrace_body read_end(struct tr_text text, struct tr_ltrace_line *line)
{
	const char *p = text.data, *end = p + text.len;

	if (take(&p, end, TR_TEXT("exited (status "))) {
		line->text = tr_text_span(p, tr_skip_digits(p, end));
		p += line->text.len;
		return is_canonical(line->text.data, p) && tr_text_is(tr_text_span(p, end), ") +++")
			       ? TR_LTRACE_EXITED
			       : TR_LTRACE_OTHER;
	}
	if (!take(&p, end, TR_TEXT("killed by ")))
		return TR_LTRACE_OTHER;
	line->name = tr_text_span(p, end);
	if (!chop(&line->name, TR_TEXT(" +++")) || !line->name.len ||
	    memchr(line->name.data, ' ', line->name.len))
		return TR_LTRACE_OTHER;
	return TR_LTRACE_KILLED;
}

void tr_ltrace_line_read(struct tr_text text, struct tr_ltrace_line *line)
{
	const char *p, *end = text.data + text.len;

	*line = (struct tr_ltrace_line){ .body = TR_LTRACE_OTHER };
	p = read_prefix(text.data, end, line);
	if (take(&p, end, TR_TEXT("<... ")))
		line->body = read_resumed(text.data, p, end, line);
	else if (take(&p, end, TR_TEXT("--- ")))
		line->body = read_signal(tr_text_span(p, end), line);
	else if (take(&p, end, TR_TEXT("+++ ")))
		line->body = read_end(tr_text_span(p, end), line);
	else if (tr_text_is(text, "% time     seconds  usecs/call     calls      function"))
		line->body = TR_LTRACE_SUMMARY;
	else
		line->body = read_call(text.data, p, end, line);
}

enum {
	PROBE = 64 << 10, /* bytes for the bid */
	LINES = 8,
	BITS_OWN = 16,	/* a line that strace does not print; strace bids 12 for one of its own */
	BITS_LIKE = 10, /* lines that strace may print, too: it bids 6 for each system call */
	BITS_TABLE = 40,
};

/* Whether a line has a spelling that ltrace has and strace has not. */
static bool is_own(const struct tr_ltrace_line *line)
{
	static const struct tr_text others[] = {
		{ "NULL", 4 }, { "/*", 2 }, { "[\"", 2 }, { "=", 1 }, { "AT_FDCWD", 8 }
	};

	/* strace prints "+++ killed by", too */
	if (line->body <= TR_LTRACE_SUMMARY || line->body == TR_LTRACE_KILLED)
		return false;
	if (line->body >= TR_LTRACE_SIGNAL || line->system || line->caller.data ||
	    line->no_return || line->is_void || tr_text_is(line->name, "__libc_start_main") ||
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
		struct tr_ltrace_line line;

		if (!lf)
			break;
		tr_ltrace_line_read(tr_text_span(p, lf), &line);
		if (line.body == TR_LTRACE_SUMMARY)
			return BITS_TABLE;
		own += is_own(&line);
		like += line.body > TR_LTRACE_SUMMARY;
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
	.open = tr_ltrace_open,
	.create = tr_ltrace_create,
	.styles = tr_ltrace_styles,
};
