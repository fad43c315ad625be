/* The record stream: what it is called, and how it is recognised. */
#include "format/trec/trec.h"

#include <string.h>

enum {
	BID_BYTES =
		64
		<< 10,	/* of comments, or a first line without an end: enough to see its columns */
	BID_LINES = 16, /* comments aside */
	HEADER_BITS = 48,
	LINE_BITS = 32,	  /* five columns, the first of them a word */
	COMMENT_BITS = 1, /* nothing but comments */
};

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Steps over a kind or definition word and its TAB; NULL: there is none. */
static const char *after_word(const char *p, const char *end)
{
	if (p == end || !is_lower(*p))
		return NULL;
	while (p < end && (is_lower(*p) || (*p >= '0' && *p <= '9') || *p == '-'))
		p++;
	return p < end && *p == '\t' ? p + 1 : NULL;
}

/* Bits that the beginning of a line shows; `end` may cut it. */
static int line_bits(const char *p, const char *end)
{
	size_t columns = 4;

	if ((end - p >= 5 && memcmp(p, "!end\t", 5) == 0) ||
	    (end - p >= 6 && memcmp(p, "%trec\t", 6) == 0))
		return HEADER_BITS;
	if (p < end && *p == '%') {
		p++;
		columns = 2;
	}
	p = after_word(p, end);
	for (; p && columns > 1; columns--) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		if (!tab || tab == p || memchr(p, '\n', (size_t)(tab - p)))
			return 0;
		p = tab + 1;
	}
	return p && p < end && *p != '\t' && *p != '\n' ? LINE_BITS : 0;
}

/* The end of the line at `at`, behind its LF; read as far as needed when `wait`. 0: not there. */
static size_t line_end(struct tr_input *in, size_t at, bool wait)
{
	size_t seen = at;

	for (;;) {
		const char *lf = memchr(in->pos + seen, '\n', tr_input_available(in) - seen);
		if (lf)
			return (size_t)(lf - in->pos) + 1;
		seen = tr_input_available(in);
		if (!wait || seen >= BID_BYTES || !tr_input_more(in, seen + 1))
			return 0;
	}
}

static bool begins_line(char c)
{
	return is_lower(c) || c == '%' || c == '!' || c == '#';
}

/* Waits for the first line that says something at most: what comes later may come much later. */
int tr_trec_bid(struct tr_input *in)
{
	if (!tr_input_more(in, 1))
		return 0;
	int bits = 0;
	size_t at = 0;
	bool comments = false;
	/* the rest of a line that tail -c or split cut speaks neither for nor against it */
	if (!begins_line(*in->pos)) {
		at = line_end(in, 0, false);
		if (!at)
			return 0;
		bits--;
	}
	for (int lines = 0; lines < BID_LINES;) {
		size_t end = line_end(in, at, bits == 0);
		if (!end && bits)
			break; /* the window's cut says nothing against it */
		size_t stop = end ? end : tr_input_available(in);
		if (stop == at)
			break;
		if (in->pos[at] == '#') {
			comments = true;
		} else {
			int line = line_bits(in->pos + at, in->pos + stop);
			if (line == HEADER_BITS)
				return HEADER_BITS;
			bits += line ? line : -LINE_BITS;
			lines++;
		}
		at = stop;
	}
	return bits > 0 ? bits : bits == 0 && comments ? COMMENT_BITS : 0;
}

static const char *const extensions[] = { ".trec", NULL };

const struct tr_format tr_format_trec = {
	.name = "trec",
	.summary = "the record stream: one record a line",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_STREAM,
	.extensions = extensions,
	.bid = tr_trec_bid,
	.open = tr_trec_open,
	.next = tr_trec_next,
	.close = tr_trec_close,
	.create = tr_trec_create,
	.put = tr_trec_put,
	.finish = tr_trec_finish,
	.discard = tr_trec_discard,
};
