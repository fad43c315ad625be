#define _GNU_SOURCE /* memrchr */
#include "format/strace/body.h"

#include "format/strace/scan.h"

static const char *name_end(const char *p, const char *end)
{
	while (p < end && tr_strace_is_name(*p))
		p++;
	return p;
}

/* The same of a call, which is "???" where strace could not see in time what it is. */
static const char *call_end(const char *p, const char *end)
{
	if (p == end || *p != '?')
		return name_end(p, end);
	while (p < end && *p == '?')
		p++;
	return p;
}

/* "(text)" at *p, in info or as nothing that matters. */
static void take_parenthesis(const char **p, const char *end, struct tr_strace_result *result)
{
	const char *close = tr_strace_arguments_end(*p + 1, end);

	if (!close)
		close = end;
	result->info = tr_text_span(*p + 1, close);
	*p = close < end ? close + 1 : end;
}

/* Behind the value: error and its words, other words, and how long it took. */
static bool read_tail(const char *p, const char *end, struct tr_strace_result *result)
{
	const char *q = name_end(p, end);

	if (q > p && *p == 'E') {
		result->error = tr_text_span(p, q);
		p = tr_strace_skip(q, end);
		if (p < end && *p == '(') {
			take_parenthesis(&p, end, result);
			result->info.data = NULL; /* strerror says what the name says */
		}
	}
	while ((p = tr_strace_skip(p, end)) < end && *p == '(')
		take_parenthesis(&p, end, result);
	if (p < end && *p == '<' && end[-1] == '>') {
		result->time = tr_text_span(p + 1, end - 1);
		return true;
	}
	return p == end;
}

static const char *value_end(const char *p, const char *end)
{
	const char *behind;

	while (p < end && (tr_strace_is_name(*p) || *p == '-'))
		p++;
	if (p < end && *p == '<' && (behind = tr_strace_note_end(p, end)))
		p = behind;
	/* </path>(deleted) */
	if (p < end && *p == '(')
		while (p < end && *p != ' ')
			p++;
	return p;
}

/* "2 ... 11450 in strace's PID NS": the number that the log has in front of its lines. */
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
		const char *behind = value_end(p, end);
		if (behind == p)
			return false;
		result->value = tr_text_span(p, behind);
		p = behind;
	}
	p = tr_strace_skip(p, end);
	take_outer_pid(&p, end, result);
	/* -1 (errno 123): a number that strace has no name for */
	if (!read_tail(p, end, result))
		return false;
	if (result->error.data ||
	    (result->info.data && tr_text_starts(result->info, TR_TEXT("errno "))))
		result->value.data = NULL;
	if (!result->error.data && result->info.data &&
	    tr_text_starts(result->info, TR_TEXT("errno "))) {
		result->error = result->info;
		result->info.data = NULL;
	}
	return true;
}

bool tr_strace_body_close(struct tr_text rest, struct tr_strace_body *body)
{
	return rest.len && *rest.data == ')' &&
	       read_result(tr_text_span(rest.data + 1, rest.data + rest.len), &body->result);
}

/*
 * The parenthesis behind the last string, where nothing but brackets and the end
 * of an abbreviation stand between the two. An execve is long, and most of them
 * fail: these are told from their end.
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

/* "f(1 <unfinished ...>) = ?", "f(1 <unavailable>) = ?": its task was ended meanwhile. */
static bool chop_broken(struct tr_strace_body *body)
{
	return !body->result.value.data && !body->result.error.data &&
	       (tr_strace_chop(&body->arguments, TR_TEXT(" <unfinished ...>")) ||
		tr_strace_chop(&body->arguments, TR_TEXT(" <unavailable>")));
}

bool tr_strace_body_finish(struct tr_text rest, struct tr_strace_body *body)
{
	const char *end = rest.data + rest.len;
	const char *close = tr_text_is(body->name, "execve") ? last_close(rest) : NULL;

	body->broken = false;
	if (close) {
		body->arguments = tr_text_span(rest.data, close);
		if (read_result(tr_text_span(close + 1, end), &body->result))
			return true;
	}
	close = tr_strace_arguments_end(rest.data, end);

	if (!close)
		return false;
	body->arguments = tr_text_span(rest.data, close);
	if (!read_result(tr_text_span(close + 1, end), &body->result))
		return false;
	body->broken = chop_broken(body);
	return true;
}

/* What a call that goes on elsewhere ends in; its arguments stay. */
static bool chop_begun(struct tr_text *rest, struct tr_strace_body *body)
{
	struct tr_text inner = *rest;

	if (rest->len == 0 || rest->data[rest->len - 1] != '>')
		return false;
	if (tr_strace_chop(rest, TR_TEXT(" <unfinished ...>"))) {
		body->type = TR_STRACE_BEGUN;
		return true;
	}
	if (tr_strace_chop(rest, TR_TEXT(" <detached ...>"))) {
		body->type = TR_STRACE_DETACHED;
		return true;
	}
	if (!tr_strace_chop(&inner, TR_TEXT(" ...>")))
		return false;
	const char *digits = inner.data + inner.len;
	while (digits > inner.data && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	struct tr_text before = tr_text_span(inner.data, digits);
	unsigned long long pid;
	if (!tr_strace_chop(&before, TR_TEXT(" <pid changed to ")) ||
	    !tr_strace_digits(&digits, inner.data + inner.len, &pid))
		return false;
	*rest = before;
	body->type = TR_STRACE_PID_CHANGED;
	body->number = pid;
	return true;
}

static void read_call(const char *open, const char *end, struct tr_strace_body *body)
{
	struct tr_text rest = tr_text_span(open + 1, end);

	body->type = TR_STRACE_CALL;
	if (chop_begun(&rest, body)) {
		body->arguments = rest;
		return;
	}
	if (!tr_strace_body_finish(rest, body)) {
		body->type = TR_STRACE_CUT;
		body->arguments = rest;
	}
}

/* "<... name resumed>" was begun elsewhere, so its end can only be found with the beginning. */
static void read_resumed(const char *p, const char *end, struct tr_strace_body *body)
{
	const char *q = call_end(p, end);
	struct tr_text rest;

	body->name = tr_text_span(p, q);
	if (q == p || !tr_strace_take(&q, end, TR_TEXT(" resumed>")))
		return;
	body->type = TR_STRACE_RESUMED;
	rest = tr_text_span(q, end);
	q = tr_strace_skip(q, end);
	if (tr_strace_take(&q, end, TR_TEXT("<unfinished ...>"))) {
		body->type = TR_STRACE_LEFT;
		return;
	}
	/* old ones have a blank in front of the parenthesis */
	if (q < end && *q == ')')
		rest = tr_text_span(q, end);
	body->arguments = rest;
}

static void read_signal(struct tr_text text, struct tr_strace_body *body)
{
	const char *p = text.data, *end;

	if (!tr_strace_chop(&text, TR_TEXT(" ---")))
		return;
	end = p + text.len;
	body->type = TR_STRACE_SIGNAL;
	if (tr_strace_take(&p, end, TR_TEXT("stopped by ")))
		body->type = TR_STRACE_STOPPED;
	const char *q = name_end(p, end);
	body->name = tr_text_span(p, q);
	body->arguments = tr_text_span(tr_strace_skip(q, end), end);
	if (q == p)
		body->type = TR_STRACE_UNKNOWN;
}

static void read_end(struct tr_text text, struct tr_strace_body *body)
{
	const char *p = text.data, *end;
	unsigned long long number = 0;

	if (!tr_strace_chop(&text, TR_TEXT(" +++")))
		return;
	end = p + text.len;
	if (tr_strace_take(&p, end, TR_TEXT("exited with "))) {
		if (tr_strace_digits(&p, end, &number))
			body->type = TR_STRACE_EXITED;
	} else if (tr_strace_take(&p, end, TR_TEXT("killed by "))) {
		const char *q = name_end(p, end);
		body->name = tr_text_span(p, q);
		body->core = tr_strace_take(&q, end, TR_TEXT(" (core dumped)"));
		if (body->name.len)
			body->type = TR_STRACE_KILLED;
	} else if (tr_strace_take(&p, end, TR_TEXT("superseded by execve in pid "))) {
		if (tr_strace_digits(&p, end, &number))
			body->type = TR_STRACE_SUPERSEDED;
	}
	body->number = number;
}

static void read_message(const char *p, const char *end, struct tr_strace_body *body)
{
	unsigned long long pid;

	body->type = TR_STRACE_MESSAGE;
	if (!tr_strace_take(&p, end, TR_TEXT("Process ")) || !tr_strace_digits(&p, end, &pid) ||
	    !tr_strace_take(&p, end, TR_TEXT(" attached")))
		return;
	body->type = TR_STRACE_ATTACHED;
	body->number = pid;
}

/* "strace: ", or how it was called: "/usr/bin/strace: ". */
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

/* What -k prints below a call. */
static bool is_frame(const char *p, const char *end)
{
	return p == end || tr_strace_take(&p, end, TR_TEXT(" > ")) ||
	       tr_strace_take(&p, end, TR_TEXT("> /"));
}

/* The next word of a line, of which there may be none. */
static struct tr_text next_word(const char **p, const char *end)
{
	const char *begin = *p = tr_strace_skip(*p, end);
	const char *blank = memchr(begin, ' ', (size_t)(end - begin));

	*p = blank ? blank : end;
	return tr_text_span(begin, *p);
}

static bool is_one_of(struct tr_text word, const char *const *list)
{
	while (*list && !tr_text_is(word, *list))
		list++;
	return *list;
}

/* "% time     seconds …", "------ ----------- …", in the order that -U asks for. */
static bool is_table(const char *p, const char *end)
{
	static const char *const heads[] = { "%",	 "time",    "seconds", "usecs/call",
					     "shortest", "longest", "calls",   "errors",
					     "syscall",	 NULL };
	unsigned words = 0, rules = 0, count = 0;

	for (struct tr_text word; (word = next_word(&p, end)).len; count++) {
		words += is_one_of(word, heads);
		rules += word.len >= 4 && memcmp(word.data, "----", 4) == 0;
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
			number &=
				(word.data[i] >= '0' && word.data[i] <= '9') || word.data[i] == '.';
			name &= tr_strace_is_name(word.data[i]);
		}
		if (!number && !name)
			return false;
		*(number ? &numbers : &names) += 1;
	}
	return numbers && names == 1;
}

void tr_strace_body_read(struct tr_text text, struct tr_strace_body *body)
{
	const char *p = text.data, *end = p + text.len, *q;

	*body = (struct tr_strace_body){ .type = TR_STRACE_UNKNOWN };
	q = call_end(p, end);
	if (q > p && q < end && *q == '(' && (*p < '0' || *p > '9')) {
		body->name = tr_text_span(p, q);
		read_call(q, end, body);
	} else if (tr_strace_take(&p, end, TR_TEXT("<... "))) {
		read_resumed(p, end, body);
	} else if (tr_strace_take(&p, end, TR_TEXT("--- "))) {
		read_signal(tr_text_span(p, end), body);
	} else if (tr_strace_take(&p, end, TR_TEXT("+++ "))) {
		read_end(tr_text_span(p, end), body);
	} else if (take_own_name(&p, end) || tr_strace_take(&p, end, TR_TEXT("[ Process PID="))) {
		read_message(p, end, body);
	} else if (is_frame(p, end)) {
		body->type = TR_STRACE_MESSAGE;
	} else if (is_table(p, end)) {
		body->type = TR_STRACE_TABLE;
	}
}

bool tr_strace_succeeded(const struct tr_strace_result *result)
{
	return result && result->value.data && !result->error.data;
}
