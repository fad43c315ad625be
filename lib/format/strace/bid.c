#include "format/strace/body.h"
#include "format/strace/calls.h"
#include "format/strace/prefix.h"
#include "format/strace/scan.h"
#include "format/strace/strace.h"

enum {
	PROBE = 64 << 10, /* a line of execve alone may be longer: then its beginning has to do */
	LINES = 8,
	BITS_PREFIXED = 12, /* a call behind a number or a time */
	BITS_BARE = 6,	    /* one without: C code looks like that, too */
	BITS_EXEC = 20,
	ENOUGH = 60,
};

/* `execve("/` is what nearly every log begins with. */
static int weigh_cut(const struct tr_strace_prefix *prefix, const char *end)
{
	const char *p = prefix->body;

	if (tr_strace_take(&p, end, TR_TEXT("execve(\"")) ||
	    tr_strace_take(&p, end, TR_TEXT("<... execve resumed>")))
		return BITS_EXEC;
	return 0;
}

static int weigh(struct tr_text line, bool whole)
{
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;
	const char *end = line.data + line.len;

	tr_strace_prefix_read(line, &prefix);
	bool prefixed = prefix.has_pid || prefix.clock != TR_STRACE_NO_CLOCK;
	if (!whole)
		return weigh_cut(&prefix, end);
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	switch (body.type) {
	case TR_STRACE_CALL:
	case TR_STRACE_BEGUN:
	case TR_STRACE_PID_CHANGED:
	case TR_STRACE_DETACHED:
	case TR_STRACE_RESUMED:
	case TR_STRACE_SIGNAL:
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
	case TR_STRACE_SUPERSEDED:
		if (prefixed)
			return BITS_PREFIXED;
		return body.type != TR_STRACE_CALL || tr_strace_argument_names(body.name)
			       ? BITS_BARE
			       : 0;
	case TR_STRACE_ATTACHED:
		return BITS_PREFIXED;
	default:
		return weigh_cut(&prefix, end);
	}
}

static int weigh_lines(const char *p, const char *end)
{
	int bits = 0;

	for (int i = 0; i < LINES && p < end && bits < ENOUGH; i++) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		bits += weigh(tr_text_span(p, lf ? lf : end), lf != NULL);
		p = lf ? lf + 1 : end;
	}
	return bits;
}

int tr_strace_bid(struct tr_input *in)
{
	size_t weighed = 0;
	int bits = 0;

	for (bool more = true; !bits;) {
		size_t available = tr_input_available(in);
		bool last = !more || available >= PROBE;
		/* again only where a line has become whole: bytes may come one by one */
		if (last || memchr(in->pos + weighed, '\n', available - weighed))
			bits = weigh_lines(in->pos, in->end);
		if (last)
			break;
		weighed = available;
		if (!bits)
			more = tr_input_more(in, available + 1);
	}
	return bits;
}
