/* SPDX-License-Identifier: MIT */
/*
 * Lines: prefix, body and time. strace has no grammar that could be parsed from left to right:
 * where the arguments of a call end is known only after all brackets and strings in them, and
 * programs can print to the same file. So a line is first classified by its beginning and end, and
 * what does not fit exactly is UNKNOWN or CUT.
 */
#include "format/strace/lines.h"

/* The prefix. */

enum {
	EPOCH_DIGITS = 9, /* seconds since 1970 have at least that many, and a pid at most 7 */
};

/* Skips ".123456" if it is there. */
static const char *skip_fraction(const char *p, const char *end)
{
	if (p == end || *p != '.')
		return p;
	const char *after = tr_skip_digits(p + 1, end);
	return after > p + 1 ? after : p;
}

/*
 * Skips what may follow a pid: the name of the process, as in 7<make>, and its number in its own
 * namespace in a comment. A quote ends the search for the end of the comment, because it belongs to
 * arguments.
 */
static const char *skip_pid_notes(const char *p, const char *end)
{
	const char *after;

	if (p < end && *p == '<' && (after = tr_strace_note_end(p, end)))
		p = after;
	if (end - p > 4 && memcmp(p, " /* ", 4) == 0) {
		for (after = p + 4; after < end - 1 && *after != '"'; after++)
			if (after[0] == '*' && after[1] == '/')
				return after + 2;
	}
	return p;
}

/* Takes "7 " or "[pid     7] ". A number of nine digits or more without brackets is a time. */
static void take_pid(const char **p, const char *end, struct tr_strace_line *line)
{
	const char *q = *p;
	bool bracketed = tr_strace_take(&q, end, TR_TEXT("[pid "));
	const char *digits = bracketed ? tr_strace_skip(q, end) : q;
	unsigned long long pid;

	q = digits;
	if (!tr_strace_digits(&q, end, &pid) || (!bracketed && q - digits >= EPOCH_DIGITS))
		return;
	q = skip_pid_notes(q, end);
	if (bracketed && !tr_strace_take(&q, end, TR_TEXT("]")))
		return;
	if (q == end || *q != ' ')
		return;
	line->has_pid = true;
	line->bracketed = bracketed;
	line->pid = pid;
	*p = bracketed ? q + 1 : tr_strace_skip(q, end);
}

/*
 * Takes a time and the blank after it: HH:MM:SS (-t), seconds since 1970 (-ttt), or, with a
 * fraction and few digits, seconds since the line before (-r).
 */
static void take_time(const char **p, const char *end, struct tr_strace_line *line)
{
	const char *begin = tr_strace_skip(*p, end), *q = tr_skip_digits(begin, end);
	enum tr_strace_clock clock = TR_STRACE_NO_CLOCK;
	const char *whole = q;

	if (q == begin)
		return;
	if (q - begin == 2 && end - q > 6 && q[0] == ':' && tr_is_digit(q[1]) &&
	    tr_is_digit(q[2]) && q[3] == ':' && tr_is_digit(q[4]) && tr_is_digit(q[5])) {
		clock = TR_STRACE_DAY;
		q = skip_fraction(q + 6, end);
	} else {
		q = skip_fraction(q, end);
		if (whole - begin >= EPOCH_DIGITS)
			clock = TR_STRACE_EPOCH;
		else if (q > whole)
			clock = TR_STRACE_RELATIVE;
	}
	if (clock == TR_STRACE_NO_CLOCK || q == end || *q != ' ')
		return;
	line->clock = clock;
	line->time = tr_text_span(begin, q);
	*p = tr_strace_skip(q, end);
}

/* Skips "(+     0.000123) ", which adds nothing to an absolute time. */
static void skip_relative(const char **p, const char *end)
{
	const char *q = *p;

	if (!tr_strace_take(&q, end, TR_TEXT("(+")))
		return;
	q = skip_fraction(tr_skip_digits(tr_strace_skip(q, end), end), end);
	if (tr_strace_take(&q, end, TR_TEXT(") ")))
		*p = q;
}

/*
 * Skips the number of the call and its address: "[  59] ", "[00007f12345678] " or
 * "[????????????????] ". False: there is neither.
 */
static bool skip_bracket(const char **p, const char *end)
{
	const char *q = *p + 1;

	if (*p == end || **p != '[')
		return false;
	q = tr_strace_skip(q, end);
	const char *begin = q;
	while (q < end && (tr_hex_digit(*q) >= 0 || *q == '?'))
		q++;
	if (q == begin || !tr_strace_take(&q, end, TR_TEXT("] ")))
		return false;
	*p = q;
	return true;
}

void tr_strace_prefix_read(struct tr_text text, struct tr_strace_line *line)
{
	const char *p = text.data, *end = p + text.len;

	*line = (struct tr_strace_line){ .type = TR_STRACE_UNKNOWN };
	take_pid(&p, end, line);
	take_time(&p, end, line);
	if (line->clock != TR_STRACE_NO_CLOCK)
		skip_relative(&p, end);
	while (skip_bracket(&p, end))
		;
	line->body = p;
}

/* Results. */

/* Skips the bytes of a name. */
static const char *name_end(const char *p, const char *end)
{
	while (p < end && tr_strace_is_name(*p))
		p++;
	return p;
}

/*
 * Returns the end of the name of a call. It is "???" where strace could not read the call in time.
 */
static const char *call_end(const char *p, const char *end)
{
	if (p == end || *p != '?')
		return name_end(p, end);
	while (p < end && *p == '?')
		p++;
	return p;
}

/* Takes the text in parentheses at *p, up to the end if they are not closed. */
static struct tr_text take_parenthesis(const char **p, const char *end)
{
	const char *begin = *p + 1, *close = tr_strace_arguments_end(begin, end);

	*p = close ? close + 1 : end;
	return tr_text_span(begin, close ? close : end);
}

/*
 * Reads what follows the value: an error and its description, other text, and the duration. False:
 * something else follows, so this is no result. Other text in several parentheses, which -e inject
 * causes, keeps them: "(flags FD_CLOEXEC) (INJECTED)".
 */
static bool read_tail(const char *p, const char *end, struct tr_strace_result *result)
{
	const char *q = name_end(p, end);

	if (q > p && *p == 'E') {
		result->error = tr_text_span(p, q);
		p = tr_strace_skip(q, end);
		if (p < end && *p == '(')
			take_parenthesis(&p, end); /* a description of the error */
	} else if (tr_text_starts(tr_text_span(p, end), TR_TEXT("(errno "))) {
		/* -1 (errno 123): a number that strace has no name for */
		result->error = take_parenthesis(&p, end);
	}
	const char *first = p = tr_strace_skip(p, end);
	for (; p < end && *p == '('; p = tr_strace_skip(p, end)) {
		struct tr_text text = take_parenthesis(&p, end);
		result->info = result->info.data ? tr_text_span(first, p) : text;
	}
	if (p < end && *p == '<' && end[-1] == '>') {
		result->time = tr_text_span(p + 1, end - 1);
		return true;
	}
	return p == end;
}

/* Skips the returned value: a number or a word, and the note of -y. */
static const char *value_end(const char *p, const char *end)
{
	const char *after;

	while (p < end && (tr_strace_is_name(*p) || *p == '-'))
		p++;
	if (p < end && *p == '<' && (after = tr_strace_note_end(p, end)))
		p = after;
	/* </path>(deleted) */
	if (p < end && *p == '(')
		while (p < end && *p != ' ')
			p++;
	return p;
}

/*
 * Takes the pid from a comment. A call in another pid namespace returns the number there, followed
 * by the one that lines begin with; only the latter finds the child in the log.
 */
static void take_outer_pid(const char **p, const char *end, struct tr_strace_result *result)
{
	const char *q = *p;
	unsigned long long pid;

	if (!tr_strace_take(&q, end, TR_TEXT("/* ")))
		return;
	const char *digits = q;
	if (!tr_strace_digits(&q, end, &pid))
		return;
	struct tr_text number = tr_text_span(digits, q);
	if (!tr_strace_take(&q, end, TR_TEXT(" in strace's PID NS */")))
		return;
	result->value = number;
	*p = tr_strace_skip(q, end);
}

/*
 * Reads "= VALUE ..." after the arguments. False: it is cut, or what looked like the end of the
 * arguments was in their middle. With an error the value is dropped: it is always -1.
 */
static bool read_result(struct tr_text text, struct tr_strace_result *result)
{
	const char *p = text.data, *end = p + text.len;

	*result = (struct tr_strace_result){ 0 };
	p = tr_strace_skip(p, end);
	if (!tr_strace_take(&p, end, TR_TEXT("=")))
		return false;
	p = tr_strace_skip(p, end);
	if (p == end)
		return false;
	if (*p == '?') {
		p++;
	} else {
		const char *after = value_end(p, end);
		if (after == p)
			return false;
		result->value = tr_text_span(p, after);
		p = after;
	}
	p = tr_strace_skip(p, end);
	take_outer_pid(&p, end, result);
	if (!read_tail(p, end, result))
		return false;
	if (result->error.data)
		result->value.data = NULL;
	return true;
}

bool tr_strace_body_close(struct tr_text rest, struct tr_strace_line *line)
{
	return rest.len && *rest.data == ')' &&
	       read_result(tr_text_span(rest.data + 1, rest.data + rest.len), &line->result);
}

/*
 * Returns the parenthesis after the last string of an execve, if only brackets and the end of an
 * abbreviation are between them. A search from the end is quick, and worth its code: an execve has
 * kilobytes of arguments, and most of them fail because a shell tries each folder of PATH. The
 * caller reads the result after it, and searches from the beginning if that fails.
 */
static const char *last_close(struct tr_text rest)
{
	const char *quote = rest.len ? memrchr(rest.data, '"', rest.len) : NULL;
	const char *p = quote ? quote + 1 : NULL, *end = rest.data + rest.len;

	if (!p)
		return NULL;
	tr_strace_take(&p, end, TR_TEXT("..."));
	tr_strace_take(&p, end, TR_TEXT(", ..."));
	return tr_strace_take(&p, end, TR_TEXT("])")) ? p - 1 : NULL;
}

/*
 * Removes the mark of a call whose task was ended meanwhile: "f(1 <unfinished ...>) = ?", "f(1
 * <unavailable>) = ?". False: there is none.
 */
static bool chop_broken(struct tr_strace_line *line)
{
	return !line->result.value.data && !line->result.error.data &&
	       (tr_strace_chop(&line->arguments, TR_TEXT(" <unfinished ...>")) ||
		tr_strace_chop(&line->arguments, TR_TEXT(" <unavailable>")));
}

bool tr_strace_body_finish(struct tr_text rest, struct tr_strace_line *line)
{
	const char *end = rest.data + rest.len;
	const char *close = tr_text_is(line->name, "execve") ? last_close(rest) : NULL;

	line->broken = false;
	if (close) {
		line->arguments = tr_text_span(rest.data, close);
		if (read_result(tr_text_span(close + 1, end), &line->result))
			return true;
	}
	close = tr_strace_arguments_end(rest.data, end);
	if (!close)
		return false;
	line->arguments = tr_text_span(rest.data, close);
	if (!read_result(tr_text_span(close + 1, end), &line->result))
		return false;
	line->broken = chop_broken(line);
	return true;
}

/* Bodies. */

/*
 * Removes the end of a call that continues elsewhere, and sets the type of the line. False: the
 * line has no such end.
 */
static bool chop_begun(struct tr_text *rest, struct tr_strace_line *line)
{
	struct tr_text before = *rest;

	if (rest->len == 0 || rest->data[rest->len - 1] != '>')
		return false;
	line->type = tr_strace_chop(rest, TR_TEXT(" <unfinished ...>")) ? TR_STRACE_BEGUN
		     : tr_strace_chop(rest, TR_TEXT(" <detached ...>")) ? TR_STRACE_DETACHED
									: TR_STRACE_PID_CHANGED;
	if (line->type != TR_STRACE_PID_CHANGED)
		return true;
	if (!tr_strace_chop(&before, TR_TEXT(" ...>")))
		return false;
	const char *end = before.data + before.len, *digits = end;
	while (digits > before.data && tr_is_digit(digits[-1]))
		digits--;
	before.len = (size_t)(digits - before.data);
	unsigned long long pid;
	if (!tr_strace_chop(&before, TR_TEXT(" <pid changed to ")) ||
	    !tr_strace_digits(&digits, end, &pid))
		return false;
	*rest = before;
	line->number = pid;
	return true;
}

/*
 * Reads a line that begins with "name(". Its end decides the type; a call without an end that is
 * known is cut.
 */
static void read_call(const char *open, const char *end, struct tr_strace_line *line)
{
	struct tr_text rest = tr_text_span(open + 1, end);

	if (!chop_begun(&rest, line)) {
		line->type = TR_STRACE_CALL;
		if (tr_strace_body_finish(rest, line))
			return;
		line->type = TR_STRACE_CUT;
	}
	line->arguments = rest;
}

/*
 * Reads "<... name resumed>". Where the arguments end depends on the first half of the call, so
 * they are not separated from the result here.
 */
static void read_resumed(const char *p, const char *end, struct tr_strace_line *line)
{
	const char *q = call_end(p, end);
	struct tr_text rest;

	line->name = tr_text_span(p, q);
	if (q == p || !tr_strace_take(&q, end, TR_TEXT(" resumed>")))
		return;
	rest = tr_text_span(q, end);
	q = tr_strace_skip(q, end);
	if (tr_strace_take(&q, end, TR_TEXT("<unfinished ...>"))) {
		/* nothing but ") = ?" follows */
		rest = tr_text_span(q, end);
		if (!rest.len || (tr_strace_body_close(rest, line) && !line->result.value.data &&
				  !line->result.error.data))
			line->type = TR_STRACE_LEFT;
		return;
	}
	line->type = TR_STRACE_RESUMED;
	/* old ones have a blank in front of the parenthesis */
	if (q < end && *q == ')')
		rest = tr_text_span(q, end);
	line->arguments = rest;
}

/*
 * Reads "--- SIGNAL {...} ---" and "--- stopped by SIGNAL ---". Without its end it is unknown text.
 */
static void read_signal(struct tr_text text, struct tr_strace_line *line)
{
	const char *p = text.data, *end;

	if (!tr_strace_chop(&text, TR_TEXT(" ---")))
		return;
	end = p + text.len;
	line->type = TR_STRACE_SIGNAL;
	if (tr_strace_take(&p, end, TR_TEXT("stopped by ")))
		line->type = TR_STRACE_STOPPED;
	const char *q = name_end(p, end);
	line->name = tr_text_span(p, q);
	line->arguments = tr_text_span(tr_strace_skip(q, end), end);
	if (q == p)
		line->type = TR_STRACE_UNKNOWN;
}

/* Reads "+++ ... +++". Words that are not known leave the line unknown, and it is kept as it is. */
static void read_end(struct tr_text text, struct tr_strace_line *line)
{
	const char *p = text.data, *end;
	unsigned long long number = 0;

	if (!tr_strace_chop(&text, TR_TEXT(" +++")))
		return;
	end = p + text.len;
	if (tr_strace_take(&p, end, TR_TEXT("exited with "))) {
		if (tr_strace_digits(&p, end, &number) && p == end)
			line->type = TR_STRACE_EXITED;
	} else if (tr_strace_take(&p, end, TR_TEXT("killed by "))) {
		const char *q = name_end(p, end);
		line->name = tr_text_span(p, q);
		line->core = tr_strace_take(&q, end, TR_TEXT(" (core dumped)"));
		if (q == end && tr_strace_is_signal(line->name))
			line->type = TR_STRACE_KILLED;
	} else if (tr_strace_take(&p, end, TR_TEXT("superseded by execve in pid "))) {
		if (tr_strace_digits(&p, end, &number) && p == end)
			line->type = TR_STRACE_SUPERSEDED;
	}
	line->number = number;
}

/* Reads a message of strace. Only "Process N attached" matters: it names a task. */
static void read_message(const char *p, const char *end, struct tr_strace_line *line)
{
	unsigned long long pid;

	line->type = TR_STRACE_MESSAGE;
	if (!tr_strace_take(&p, end, TR_TEXT("Process ")) || !tr_strace_digits(&p, end, &pid) ||
	    !tr_strace_take(&p, end, TR_TEXT(" attached")))
		return;
	line->type = TR_STRACE_ATTACHED;
	line->number = pid;
}

/*
 * Takes "strace: " or, as strace was called, "/usr/bin/strace: ". The search for the blank is
 * limited to the length of a path.
 */
static bool take_own_name(const char **p, const char *end)
{
	enum { LONGEST = 4096 };
	const char *stop = end - *p > LONGEST ? *p + LONGEST : end;
	const char *blank = memchr(*p, ' ', (size_t)(stop - *p));
	struct tr_text name = tr_text_span(*p, blank ? blank : *p);

	if (!tr_strace_chop(&name, TR_TEXT("strace:")) ||
	    (name.len && name.data[name.len - 1] != '/'))
		return false;
	*p = blank + 1;
	return true;
}

const char *tr_strace_frame_mark(const char *p, const char *end)
{
	const char *begin = tr_skip_digits(p, end);

	begin += begin > p && begin < end && *begin == ' ';
	p = tr_strace_skip(begin, end);
	return p == end || (*p == '>' && p > begin) ? p : NULL;
}

/*
 * Takes the mark of a line that -k prints below a call; old versions print an empty line at the
 * end. *p: the body of the line.
 */
static bool take_frame(struct tr_text line, const char **p)
{
	const char *end = line.data + line.len, *mark = tr_strace_frame_mark(line.data, end);

	*p = tr_strace_skip(*p, end);
	return *p == end || (mark == *p && tr_strace_take(p, end, TR_TEXT("> ")));
}

/* Returns the next word of a line; it is empty at the end. */
static struct tr_text next_word(const char **p, const char *end)
{
	const char *begin = *p = tr_strace_skip(*p, end);
	const char *blank = memchr(begin, ' ', (size_t)(end - begin));

	*p = blank ? blank : end;
	return tr_text_span(begin, *p);
}

/*
 * True if this is the head of a table of -c or a rule in it: "% time     seconds ...", "------
 * ----------- ...". -U selects the order of the columns, so every word has to be one of the heads,
 * or every word has to be a rule.
 */
static bool is_table(const char *p, const char *end)
{
	static const char heads[] =
		" % time seconds usecs/call shortest longest calls errors syscall ";
	unsigned words = 0, rules = 0, count = 0;

	for (struct tr_text word; (word = next_word(&p, end)).len; count++) {
		const char *head = memmem(heads, sizeof heads - 1, word.data, word.len);
		words += head && head[-1] == ' ' && head[word.len] == ' ';
		rules += tr_text_starts(word, TR_TEXT("----"));
		if (count >= words && count >= rules)
			return false;
	}
	return count >= 2 && (words == count || rules == count);
}

bool tr_strace_is_row(struct tr_text line)
{
	const char *p = line.data, *end = p + line.len;
	unsigned numbers = 0, names = 0;

	for (struct tr_text word; (word = next_word(&p, end)).len;) {
		bool number = true, name = true;
		for (size_t i = 0; i < word.len; i++) {
			number &= tr_is_digit(word.data[i]) || word.data[i] == '.';
			name &= tr_strace_is_name(word.data[i]);
		}
		if (!number && !name)
			return false;
		*(number ? &numbers : &names) += 1;
	}
	return numbers && names == 1;
}

void tr_strace_line_read(struct tr_text text, struct tr_strace_line *line)
{
	const char *p, *end = text.data + text.len, *q;

	tr_strace_prefix_read(text, line);
	p = line->body;
	q = call_end(p, end);
	if (q > p && q < end && *q == '(' && !tr_is_digit(*p)) {
		line->name = tr_text_span(p, q);
		read_call(q, end, line);
	} else if (tr_strace_take(&p, end, TR_TEXT("<... "))) {
		read_resumed(p, end, line);
	} else if (tr_strace_take(&p, end, TR_TEXT("--- "))) {
		read_signal(tr_text_span(p, end), line);
	} else if (tr_strace_take(&p, end, TR_TEXT("+++ "))) {
		read_end(tr_text_span(p, end), line);
	} else if (take_own_name(&p, end) || tr_strace_take(&p, end, TR_TEXT("[ Process PID="))) {
		read_message(p, end, line);
	} else if (is_table(p, end)) {
		line->type = TR_STRACE_TABLE;
	} else if (take_frame(text, &p)) {
		line->type = TR_STRACE_FRAME;
		line->arguments = tr_text_span(p, end);
	}
}

/* Times. */

enum { NANO = 1000000000, NANO_DIGITS = 9 };

uint64_t tr_strace_nanoseconds(const char *p, const char *end)
{
	uint64_t fraction = 0;

	p += p < end;
	for (int i = 0; i < NANO_DIGITS; i++)
		fraction = fraction * 10 + (p < end ? (uint64_t)(*p++ - '0') : 0);
	return fraction;
}

/* Returns the number of two digits. */
static uint64_t two(const char *p)
{
	return (uint64_t)(p[0] - '0') * 10 + (uint64_t)(p[1] - '0');
}

uint64_t tr_strace_day_seconds(uint64_t last, struct tr_text time)
{
	enum { LATE = 60 * 60 };
	const char *p = time.data;
	uint64_t now = last - last % TR_STRACE_DAY_SECONDS;

	now += two(p) * 3600 + two(p + 3) * 60 + two(p + 6);
	if (now + TR_STRACE_DAY_SECONDS / 2 < last)
		return now + TR_STRACE_DAY_SECONDS;
	/* a little late: from before the midnight that other lines have passed */
	if (now >= TR_STRACE_DAY_SECONDS && now > last + TR_STRACE_DAY_SECONDS - LATE)
		return now - TR_STRACE_DAY_SECONDS;
	return now;
}

/* Adds a relative time to the sum, which is written with as many digits as the log has. */
static size_t relative_time(struct tr_strace_clock_state *state, struct tr_text time, char *to)
{
	const char *p = time.data, *end = p + time.len;
	unsigned long long seconds = 0;

	tr_strace_digits(&p, end, &seconds);
	size_t digits = p < end ? (size_t)(end - p) - 1 : 0;
	if (digits > NANO_DIGITS)
		digits = NANO_DIGITS;
	state->frac += tr_strace_nanoseconds(p, end);
	state->sum += seconds + state->frac / NANO;
	state->frac %= NANO;
	size_t len = tr_decimal_write(state->sum, to);
	to[len++] = '.';
	uint64_t rest = state->frac;
	for (size_t i = NANO_DIGITS; i-- > 0; rest /= 10)
		if (i < digits)
			to[len + i] = (char)('0' + rest % 10);
	return len + digits;
}

size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_line *line,
		      char to[TR_STRACE_TIME_MAX])
{
	struct tr_text rest = line->time;
	size_t len = 0;

	switch (line->clock) {
	case TR_STRACE_NO_CLOCK:
		return 0;
	case TR_STRACE_RELATIVE:
		return relative_time(state, line->time, to);
	case TR_STRACE_DAY:
		state->day_time = tr_strace_day_seconds(state->day_time, line->time);
		len = tr_decimal_write(state->day_time, to);
		rest.data += sizeof "HH:MM:SS" - 1;
		rest.len -= sizeof "HH:MM:SS" - 1;
		break;
	case TR_STRACE_EPOCH:
		break;
	}
	/* no more digits than there is room for */
	if (rest.len > TR_STRACE_TIME_MAX - len)
		rest.len = TR_STRACE_TIME_MAX - len;
	memcpy(to + len, rest.data, rest.len);
	return len + rest.len;
}
