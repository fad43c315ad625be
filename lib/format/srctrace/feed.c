/* SPDX-License-Identifier: MIT */

#include "format/srctrace/feed.h"

#include <stdlib.h>
#include <string.h>

#include "format/srctrace/srctrace.h"
#include "record/base64.h"

void tr_srctrace_feed_init(struct tr_srctrace_feed *feed, struct tr_input *in, uint64_t most)
{
	*feed = (struct tr_srctrace_feed){ .in = in, .line = 1, .most = most };
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	/* with -f srctrace, what does not begin with the magic is taken for a log */
	feed->console = !tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

/* Forgets the trace that is read: the next one takes its place. */
static void drop_first(struct tr_srctrace_feed *feed)
{
	struct tr_srctrace_channel *first = feed->count ? feed->channels[0] : NULL;

	if (!first)
		return;
	tr_buffer_free(&first->prefix);
	tr_buffer_free(&first->bytes);
	free(first);
	feed->count--;
	memmove(feed->channels, feed->channels + 1, feed->count * sizeof feed->channels[0]);
}

void tr_srctrace_feed_free(struct tr_srctrace_feed *feed)
{
	while (feed->count)
		drop_first(feed);
}

/* What stands before the marker that ends the line; data NULL where none does.
 */
static struct tr_text before_marker(struct tr_text line, const char *marker)
{
	struct tr_text end = tr_text_from(marker);
	if (line.len < end.len || memcmp(line.data + line.len - end.len, end.data, end.len) != 0)
		return (struct tr_text){ NULL, 0 };
	line.len -= end.len;
	return line;
}

/* The next line of the log, left in the window. Lines beyond --max-record are
 * none of ours. */
static enum tr_status next_line(struct tr_srctrace_feed *feed, struct tr_text *line,
				struct tr_error *err)
{
	enum tr_status status;
	while ((status = tr_input_line(feed->in, line, err)) == TR_WARN)
		feed->line++;
	return status;
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

static void give_up(struct tr_srctrace_channel *channel, uint64_t line)
{
	channel->trouble.line = line;
	channel->open = false;
}

/* The open trace that the line belongs to: the one with the longest prefix.
 * NULL: none. */
static struct tr_srctrace_channel *find_channel(struct tr_srctrace_feed *feed, struct tr_text text)
{
	struct tr_srctrace_channel *found = NULL;

	for (size_t i = 0; i < feed->count; i++) {
		struct tr_srctrace_channel *here = feed->channels[i];
		if (here->open && tr_text_starts(text, tr_buffer_text(&here->prefix)) &&
		    (!found || here->prefix.len > found->prefix.len))
			found = here;
	}
	return found;
}

/* A trace begins in this line. False: memory is out. */
static bool open_channel(struct tr_srctrace_feed *feed, struct tr_text prefix)
{
	struct tr_srctrace_channel *before = find_channel(feed, prefix);

	if (before && before->prefix.len == prefix.len) {
		tr_error_set(&before->trouble, TR_CAUSE_CUT,
			     "incomplete Base64 trace: another one begins before \"%s\"",
			     TR_SRCTRACE_END);
		give_up(before, feed->line);
	}
	if (feed->count == TR_SRCTRACE_CHANNELS) {
		feed->too_many++;
		return true;
	}
	struct tr_srctrace_channel *channel = calloc(1, sizeof *channel);
	if (!channel)
		return false;
	feed->channels[feed->count++] = channel;
	channel->open = true;
	channel->begin = feed->line;
	tr_error_clear(&channel->trouble);
	tr_buffer_put_text(&channel->prefix, prefix);
	return !channel->prefix.failed;
}

/* Is there room for `more` bytes of a trace whose turn it is not? */
static bool may_keep(const struct tr_srctrace_feed *feed, size_t more)
{
	uint64_t kept = more;

	for (size_t i = 1; i < feed->count; i++)
		kept += feed->channels[i]->bytes.len;
	return kept <= feed->most;
}

/* A line of Base64, without prefix and blanks, after what is decoded already.
 */
static void decode(struct tr_srctrace_feed *feed, struct tr_srctrace_channel *channel,
		   struct tr_text text)
{
	struct tr_error *trouble = &channel->trouble;
	size_t size = tr_base64_size(text.len);
	const char *wrong = NULL;
	char *to = NULL;

	if (!text.len)
		return;
	if (text.len % 4)
		tr_error_set(trouble, TR_CAUSE_CUT,
			     "Base64 of a source trace: incomplete group of 4 characters");
	else if (channel != feed->channels[0] && !may_keep(feed, size))
		tr_error_set(trouble, TR_CAUSE_LIMIT,
			     "traces with mixed lines are too long to be kept (--max-record)");
	else if (!(to = tr_buffer_room(&channel->bytes, size)))
		tr_error_memory(trouble);
	else if ((wrong = tr_base64_read(text, to, &size)) != NULL)
		tr_error_set(trouble, TR_CAUSE_CUT, "Base64 of a source trace: %s", wrong);
	if (trouble->cause != TR_CAUSE_NONE)
		give_up(channel, feed->line);
	else
		tr_buffer_used(&channel->bytes, size);
}

/* Takes one line of the log. TR_OK; TR_END; TR_FATAL: err is filled. */
static enum tr_status take_line(struct tr_srctrace_feed *feed, struct tr_error *err)
{
	struct tr_text line;
	enum tr_status status = next_line(feed, &line, err);

	if (status != TR_OK)
		return status;
	struct tr_text text = tr_text_trimmed(line), begin = before_marker(text, TR_SRCTRACE_BEGIN);
	struct tr_srctrace_channel *channel = begin.data ? NULL : find_channel(feed, text);
	if (begin.data && !open_channel(feed, begin))
		return tr_error_memory(err);
	if (channel) {
		text.data += channel->prefix.len;
		text.len -= channel->prefix.len;
		text = tr_text_trimmed(text);
		if (tr_text_is(text, TR_SRCTRACE_END))
			channel->open = false;
		else
			decode(feed, channel, text);
	}
	tr_input_skip(feed->in, line.len);
	feed->line++;
	return TR_OK;
}

enum tr_status tr_srctrace_feed_begin(struct tr_srctrace_feed *feed, struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (!feed->console)
		return find_magic(feed->in);
	drop_first(feed);
	while (!feed->count && status == TR_OK)
		status = take_line(feed, err);
	if (feed->count)
		feed->channels[0]->kept = feed->channels[0]->bytes.len;
	return status;
}

/* Forgets what is used up, so that a trace of any length takes the memory of
 * its largest entry. */
static void slide(struct tr_srctrace_channel *channel)
{
	size_t left = channel->bytes.len - channel->at;

	if (!channel->at)
		return;
	memmove(channel->bytes.data, channel->bytes.data + channel->at, left);
	channel->bytes.len = left;
	channel->kept -= channel->kept < channel->at ? channel->kept : channel->at;
	channel->at = 0;
}

/* The log has no more lines for the trace that is read. */
static void end_of_log(struct tr_srctrace_feed *feed, enum tr_status status)
{
	struct tr_srctrace_channel *channel = feed->channels[0];

	if (status == TR_END)
		tr_error_set(&channel->trouble, TR_CAUSE_CUT,
			     "incomplete Base64 trace: the log ends before \"%s\"",
			     TR_SRCTRACE_END);
	give_up(channel, feed->line);
}

bool tr_srctrace_feed_more(struct tr_srctrace_feed *feed, size_t want)
{
	if (!feed->console)
		return tr_input_more(feed->in, want);
	struct tr_srctrace_channel *channel = feed->channels[0];
	if (channel->bytes.len - channel->at < want)
		slide(channel);
	while (channel->bytes.len - channel->at < want && channel->open) {
		enum tr_status status = take_line(feed, &channel->trouble);
		if (status != TR_OK)
			end_of_log(feed, status);
	}
	return channel->bytes.len - channel->at >= want;
}

struct tr_text tr_srctrace_feed_window(const struct tr_srctrace_feed *feed)
{
	if (!feed->console)
		return tr_text_span(feed->in->pos, feed->in->end);
	const struct tr_srctrace_channel *channel = feed->channels[0];
	struct tr_text all = tr_buffer_text(&channel->bytes);
	return (struct tr_text){ all.data + channel->at, all.len - channel->at };
}

void tr_srctrace_feed_skip(struct tr_srctrace_feed *feed, size_t n)
{
	if (feed->console)
		feed->channels[0]->at += n;
	else
		tr_input_skip(feed->in, n);
}

bool tr_srctrace_feed_trouble(struct tr_srctrace_feed *feed, struct tr_error *err)
{
	struct tr_srctrace_channel *channel = feed->count ? feed->channels[0] : NULL;

	if (!channel || channel->trouble.cause == TR_CAUSE_NONE)
		return false;
	*err = channel->trouble;
	tr_error_clear(&channel->trouble);
	return true;
}

uint64_t tr_srctrace_feed_line(const struct tr_srctrace_feed *feed)
{
	const struct tr_srctrace_channel *channel = feed->count ? feed->channels[0] : NULL;

	/* which line a byte that was kept came from is not known */
	return channel && channel->at < channel->kept ? channel->begin
	       : feed->line			      ? feed->line - 1
						      : 0;
}

void tr_srctrace_feed_place(const struct tr_srctrace_feed *feed, struct tr_error *err)
{
	if (feed->console)
		tr_error_at_line(err, tr_srctrace_feed_line(feed));
	else
		tr_error_at_offset(err, feed->in->offset);
}
