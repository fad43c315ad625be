#include "format/etrace/pen.h"

#include "core/decimal.h"
#include "format/etrace/tag.h"

static char *put_number(uint64_t number, char end, char *p)
{
	p += tr_decimal_write(number, p);
	*p++ = end;
	return p;
}

static void spell_nanoseconds(struct tr_etrace_pen *pen)
{
	char *p = put_number(pen->time.nsec, '!', pen->head + pen->nsec_at);

	pen->head_len = (size_t)(p - pen->head);
}

static void spell_time(struct tr_etrace_pen *pen)
{
	char *p = put_number(pen->time.sec, ',', pen->head + pen->time_at);

	pen->nsec_at = (size_t)(p - pen->head);
	spell_nanoseconds(pen);
}

void tr_etrace_pen_begin(struct tr_etrace_pen *pen, uint64_t upid, uint64_t cpu,
			 struct tr_etrace_moment time)
{
	char *p = pen->head;

	memcpy(p, "0: ", 3);
	p = put_number(upid, ',', p + 3);
	p = put_number(cpu, ',', p);
	pen->time_at = (size_t)(p - pen->head);
	pen->time = time;
	spell_time(pen);
}

void tr_etrace_pen_step(struct tr_etrace_pen *pen)
{
	char *digit = pen->head + pen->head_len - 2;

	if (++pen->time.nsec == TR_ETRACE_NANOSECONDS) {
		pen->time.nsec = 0;
		pen->time.sec++;
		spell_time(pen);
		return;
	}
	while (*digit == '9')
		*digit-- = '0';
	if (*digit == ',') /* one digit more than before */
		spell_nanoseconds(pen);
	else
		++*digit;
}

void tr_etrace_pen_head(struct tr_etrace_pen *pen, struct tr_text data)
{
	tr_buffer_put(pen->to, pen->head, pen->head_len);
	tr_buffer_put_text(pen->to, data);
	tr_etrace_pen_step(pen);
}

void tr_etrace_pen_open(struct tr_etrace_pen *pen, struct tr_text tag)
{
	tr_etrace_pen_head(pen, tag);
	tr_buffer_put_byte(pen->to, '|');
}

void tr_etrace_pen_line(struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text)
{
	tr_etrace_pen_open(pen, tag);
	tr_buffer_put_text(pen->to, text);
	tr_buffer_put_byte(pen->to, '\n');
}

static void put_part(struct tr_etrace_pen *pen, struct tr_text tag, uint64_t n, struct tr_text text)
{
	tr_etrace_pen_head(pen, tag);
	tr_buffer_put_byte(pen->to, '[');
	tr_buffer_put_decimal(pen->to, n);
	tr_buffer_put_byte(pen->to, ']');
	tr_buffer_put_text(pen->to, text);
	tr_buffer_put_byte(pen->to, '\n');
}

/* Takes the first piece off a text. */
static struct tr_text take_piece(struct tr_text *text)
{
	size_t len = text->len < TR_ETRACE_PIECE ? text->len : TR_ETRACE_PIECE;
	struct tr_text piece = { text->data, len };

	*text = tr_text_span(text->data + len, text->data + text->len);
	return piece;
}

/* Takes the first line off a text, without its end. False: it was the last. */
static bool take_line(struct tr_text *text, struct tr_text *line)
{
	const char *end = text->data + text->len;
	const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;

	*line = tr_text_span(text->data, lf ? lf : end);
	*text = tr_text_span(lf ? lf + 1 : end, end);
	return lf != NULL;
}

static void end_group(struct tr_etrace_pen *pen)
{
	tr_etrace_pen_line(pen, TR_TEXT("Cont_end"), TR_TEXT(""));
}

/*
 * Text in parts. The kinds differ in how parts are numbered: `step` is added
 * with each, and with each Cont `cont_step`. A first line gives a part even where
 * it is empty, which the tracer would drop.
 */
static uint64_t put_parts(struct tr_etrace_pen *pen, struct tr_text tag, uint64_t n, unsigned step,
			  unsigned cont_step, struct tr_text text)
{
	struct tr_text line;
	bool more = take_line(&text, &line), in_group = false;

	do {
		put_part(pen, tag, n, take_piece(&line));
		n += step;
	} while (line.len);
	while (more) {
		more = take_line(&text, &line);
		tr_etrace_pen_line(pen, TR_TEXT("Cont"), take_piece(&line));
		n += cont_step;
		in_group = line.len == 0;
		if (line.len)
			end_group(pen);
		for (; line.len; n += step)
			put_part(pen, tag, n, take_piece(&line));
	}
	if (in_group)
		end_group(pen);
	return n;
}

static void put_end(struct tr_etrace_pen *pen, struct tr_text tag)
{
	tr_etrace_pen_head(pen, tag);
	tr_buffer_put_literal(pen->to, "_end|\n");
}

void tr_etrace_pen_string(struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text)
{
	struct tr_text line;

	if (text.len >= TR_ETRACE_PIECE) {
		put_parts(pen, tag, 0, 1, 0, text);
		put_end(pen, tag);
		return;
	}
	bool more = take_line(&text, &line), group = more;
	tr_etrace_pen_line(pen, tag, line);
	while (more) {
		more = take_line(&text, &line);
		tr_etrace_pen_line(pen, TR_TEXT("Cont"), line);
	}
	if (group)
		end_group(pen);
}

void tr_etrace_pen_argument(struct tr_etrace_pen *pen, uint64_t n, struct tr_text text)
{
	put_parts(pen, TR_TEXT("A"), n, 0, 0, text);
}

void tr_etrace_pen_env(struct tr_etrace_pen *pen, struct tr_text text)
{
	put_parts(pen, TR_TEXT("Env"), 0, 1, 1, text);
}
