#include "core/terminal.h"

#include <stdlib.h>

#include "core/utf8.h"

static bool is_bidirectional(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

unsigned tr_terminal_character(const char *p, const char *end, bool *shown)
{
	unsigned char c = (unsigned char)*p;
	unsigned len = tr_utf8_length(p, end);

	if (len <= 1) {
		*shown = len == 1 && c >= 0x20 && c != 0x7f;
		return 1;
	}
	uint32_t code = tr_utf8_decode(p, len);
	*shown = code >= 0xa0 && !is_bidirectional(code);
	return len;
}

void tr_terminal_escape(const char *p, unsigned len, struct tr_buffer *to)
{
	for (unsigned i = 0; i < len; i++) {
		tr_buffer_put_literal(to, "\\x");
		tr_buffer_put_hex(to, (unsigned char)p[i], 2);
	}
}

enum { MAX_COLOUR = 24 }; /* bytes of a sequence */

struct terminal_sink {
	struct tr_sink base;
	struct tr_sink *inner;
	struct tr_buffer text;
	char held[MAX_COLOUR]; /* the begin of a character or sequence that was not all there */
	size_t held_len;
};

/* The length of a sequence that sets colours; 0: none; more than there is: it may become one. */
static size_t colour_length(const char *p, const char *end)
{
	size_t len = 1, have = (size_t)(end - p);

	if (len < have && p[len++] != '[')
		return 0;
	while (len < have && len < MAX_COLOUR && ((p[len] >= '0' && p[len] <= '9') || p[len] == ';'))
		len++;
	if (len >= MAX_COLOUR || (len < have && p[len] != 'm'))
		return 0;
	return len + 1;
}

/* The end of the text is the begin of a longer character. */
static bool is_cut(const char *p, const char *end)
{
	unsigned char c = (unsigned char)*p;
	size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;

	return (size_t)(end - p) < need;
}

/* Appends the text as it is shown. more: what may go on after its end is left; returns its place. */
static const char *escape(struct tr_buffer *to, const char *p, const char *end, bool more)
{
	while (p < end) {
		bool shown = *p == '\n' || *p == '\t';
		size_t colour = *p == '\x1b' ? colour_length(p, end) : 0;
		unsigned len = 1;

		if (more && (colour > (size_t)(end - p) || is_cut(p, end)))
			break;
		if (colour && colour <= (size_t)(end - p)) {
			len = (unsigned)colour;
			shown = true;
		} else if (!shown) {
			len = tr_terminal_character(p, end, &shown);
		}
		if (shown)
			tr_buffer_put(to, p, len);
		else
			tr_terminal_escape(p, len, to);
		p += len;
	}
	return p;
}

/* Writes the buffer. */
static bool put_out(struct terminal_sink *s, struct tr_error *err)
{
	if (s->text.failed) {
		tr_error_memory(err);
		return false;
	}
	return s->inner->write(s->inner, s->text.data, s->text.len, err);
}

static bool terminal_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;
	const char *end = data + len;

	tr_buffer_reset(&s->text);
	/* what was held goes on with the first bytes; it is short */
	while (s->held_len && data < end) {
		s->held[s->held_len++] = *data++;
		const char *left = escape(&s->text, s->held, s->held + s->held_len, true);
		size_t rest = (size_t)(s->held + s->held_len - left);
		memmove(s->held, left, rest);
		s->held_len = rest;
	}
	data = escape(&s->text, data, end, true);
	if (data < end) {
		s->held_len = (size_t)(end - data);
		memcpy(s->held, data, s->held_len);
	}
	return s->text.len == 0 || put_out(s, err);
}

/* The held bytes do not continue a sequence. */
static bool release(struct terminal_sink *s, struct tr_error *err)
{
	if (!s->held_len)
		return true;
	tr_buffer_reset(&s->text);
	escape(&s->text, s->held, s->held + s->held_len, false);
	s->held_len = 0;
	return put_out(s, err);
}

static bool terminal_flush(struct tr_sink *sink, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	return s->inner->flush(s->inner, err);
}

static bool terminal_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	return release(s, err) && s->inner->finish(s->inner, err);
}

static void terminal_close(struct tr_sink *sink)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	s->inner->close(s->inner);
	tr_buffer_free(&s->text);
	free(s);
}

struct tr_sink *tr_sink_terminal(struct tr_sink *inner)
{
	struct terminal_sink *s = malloc(sizeof *s);

	if (!s) {
		inner->close(inner);
		return NULL;
	}
	*s = (struct terminal_sink){
		.base = { .write = terminal_write,
			  .flush = terminal_flush,
			  .finish = terminal_finish,
			  .close = terminal_close },
		.inner = inner,
	};
	return &s->base;
}
