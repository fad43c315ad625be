#define _GNU_SOURCE /* memmem */
#include "format/srctrace/feed.h"

#include <inttypes.h>
#include <string.h>

#include "format/srctrace/srctrace.h"
#include "record/base64.h"

void tr_srctrace_feed_init(struct tr_srctrace_feed *feed, struct tr_input *in)
{
	*feed = (struct tr_srctrace_feed){ .in = in, .line = 1 };
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	/* told to read it as a source trace, we take for a log what begins like text of one */
	feed->console = !tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

void tr_srctrace_feed_free(struct tr_srctrace_feed *feed)
{
	tr_buffer_free(&feed->prefix);
	tr_buffer_free(&feed->bytes);
}

/* What stands before the marker that ends the line; data NULL where none does. */
static struct tr_text before_marker(struct tr_text line, const char *marker)
{
	struct tr_text end = tr_text_from(marker);
	if (line.len < end.len || memcmp(line.data + line.len - end.len, end.data, end.len) != 0)
		return (struct tr_text){ NULL, 0 };
	line.len -= end.len;
	return line;
}

/* The next line of the log, left in the window. Lines beyond --max-record are none of ours. */
static enum tr_status next_line(struct tr_srctrace_feed *feed, struct tr_text *line,
				struct tr_error *err)
{
	enum tr_status status;
	while ((status = tr_input_line(feed->in, line, err)) == TR_WARN)
		feed->line++;
	return status;
}

static void skip_line(struct tr_srctrace_feed *feed, struct tr_text line)
{
	tr_input_skip(feed->in, line.len);
	feed->line++;
}

/* Behind damage: the next magic, if one file holds several traces. */
static enum tr_status find_magic(struct tr_input *in)
{
	while (tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE)) {
		const char *magic = memmem(in->pos, tr_input_available(in), TR_SRCTRACE_MAGIC,
					   TR_SRCTRACE_MAGIC_SIZE);
		tr_input_skip(in, magic ? (size_t)(magic - in->pos)
					: tr_input_available(in) - TR_SRCTRACE_MAGIC_SIZE + 1);
		if (magic)
			return TR_OK;
	}
	tr_input_skip(in, tr_input_available(in));
	return TR_END;
}

enum tr_status tr_srctrace_feed_begin(struct tr_srctrace_feed *feed, struct tr_error *err)
{
	if (!feed->console)
		return find_magic(feed->in);
	struct tr_text line;
	tr_buffer_reset(&feed->bytes);
	feed->at = 0;
	feed->strangers = 0;
	tr_error_clear(&feed->trouble);
	for (;;) {
		enum tr_status status = next_line(feed, &line, err);
		if (status != TR_OK)
			return status;
		struct tr_text text = tr_text_trimmed(line);
		struct tr_text prefix = before_marker(text, TR_SRCTRACE_BEGIN);
		struct tr_text end = before_marker(text, TR_SRCTRACE_END);
		/* the rest of a trace that was given up */
		if (feed->open && end.data && tr_text_equal(end, tr_buffer_text(&feed->prefix)))
			feed->open = false;
		if (prefix.data) {
			tr_buffer_reset(&feed->prefix);
			tr_buffer_put_text(&feed->prefix, prefix);
		}
		skip_line(feed, line);
		if (feed->prefix.failed)
			return tr_error_memory(err);
		if (prefix.data) {
			feed->open = true;
			return TR_OK;
		}
	}
}

static void give_up(struct tr_srctrace_feed *feed, uint64_t line)
{
	feed->trouble.line = line;
	feed->open = false;
}

/* A line of Base64, without prefix and blanks, behind what is decoded already. */
static void decode(struct tr_srctrace_feed *feed, struct tr_text text)
{
	size_t size;
	char *to = tr_buffer_room(&feed->bytes, tr_base64_size(text.len));
	const char *wrong = NULL;
	if (!to)
		tr_error_memory(&feed->trouble);
	else if (text.len % 4)
		tr_error_set(&feed->trouble, TR_CAUSE_CUT,
			     "Base64 of a source trace: incomplete group of 4 characters");
	else if ((wrong = tr_base64_read(text, to, &size)) != NULL)
		tr_error_set(&feed->trouble, TR_CAUSE_CUT, "Base64 of a source trace: %s", wrong);
	if (feed->trouble.cause != TR_CAUSE_NONE)
		give_up(feed, feed->line);
	else
		tr_buffer_used(&feed->bytes, size);
}

/* Takes one line of the log. */
static void take_line(struct tr_srctrace_feed *feed)
{
	struct tr_text line, prefix = tr_buffer_text(&feed->prefix);
	enum tr_status status = next_line(feed, &line, &feed->trouble);
	if (status != TR_OK) {
		if (status == TR_END)
			tr_error_set(&feed->trouble, TR_CAUSE_CUT,
				     "incomplete Base64 trace: the log ends before \"%s\"",
				     TR_SRCTRACE_END);
		give_up(feed, feed->line);
		return;
	}
	struct tr_text text = tr_text_trimmed(line), begin = before_marker(text, TR_SRCTRACE_BEGIN);
	if (begin.data && tr_text_equal(begin, prefix)) {
		tr_error_set(&feed->trouble, TR_CAUSE_CUT,
			     "incomplete Base64 trace: another one begins before \"%s\"",
			     TR_SRCTRACE_END);
		give_up(feed, feed->line);
		return; /* the line stays: it begins the next trace */
	}
	feed->strangers += begin.data != NULL;
	if (tr_text_starts(text, prefix)) {
		text.data += prefix.len;
		text.len -= prefix.len;
		text = tr_text_trimmed(text);
		if (tr_text_is(text, TR_SRCTRACE_END))
			feed->open = false;
		else if (!begin.data)
			decode(feed, text);
	}
	skip_line(feed, line);
}

/* Forgets what is used up, so that a trace of any length takes the memory of its largest entry. */
static void slide(struct tr_srctrace_feed *feed)
{
	size_t left = feed->bytes.len - feed->at;
	if (!feed->at)
		return;
	memmove(feed->bytes.data, feed->bytes.data + feed->at, left);
	feed->bytes.len = left;
	feed->at = 0;
}

bool tr_srctrace_feed_more(struct tr_srctrace_feed *feed, size_t want)
{
	if (!feed->console)
		return tr_input_more(feed->in, want);
	if (feed->bytes.len - feed->at < want)
		slide(feed);
	while (feed->bytes.len - feed->at < want && feed->open)
		take_line(feed);
	return feed->bytes.len - feed->at >= want;
}

struct tr_text tr_srctrace_feed_window(const struct tr_srctrace_feed *feed)
{
	if (!feed->console)
		return tr_text_span(feed->in->pos, feed->in->end);
	struct tr_text all = tr_buffer_text(&feed->bytes);
	return (struct tr_text){ all.data + feed->at, all.len - feed->at };
}

void tr_srctrace_feed_skip(struct tr_srctrace_feed *feed, size_t n)
{
	if (feed->console)
		feed->at += n;
	else
		tr_input_skip(feed->in, n);
}

void tr_srctrace_feed_place(const struct tr_srctrace_feed *feed, struct tr_error *err)
{
	if (feed->console)
		tr_error_at_line(err, feed->line ? feed->line - 1 : 0);
	else
		tr_error_at_offset(err, feed->in->offset);
}
