/* From a source to a window on decoded bytes, and to the format of those. */
#include "config.h"

#include "core/codec.h"
#include "format/trace_private.h"

static bool keep_text(struct tr_buffer *buffer, const char *first, const char *second)
{
	tr_buffer_reset(buffer);
	tr_buffer_put_text(buffer, tr_text_from(first));
	if (second) {
		tr_buffer_put_byte(buffer, ':');
		tr_buffer_put_text(buffer, tr_text_from(second));
	}
	tr_buffer_put_byte(buffer, '\0');
	return !buffer->failed;
}

bool tr_trace_name_place(struct tr_trace *trace, const char *operand, const char *member,
			 struct tr_error *err)
{
	const char *file = strcmp(operand, "-") == 0 ? NULL : operand;

	trace->place = (struct tr_trace_place){ .file = file, .size = -1 };
	if (!keep_text(&trace->name, file ? file : "stdin", member) ||
	    (member && !keep_text(&trace->member, member, NULL))) {
		tr_error_memory(err);
		return false;
	}
	trace->place.name = trace->name.data;
	trace->place.member = member ? trace->member.data : NULL;
	return true;
}

/*
 * Takes compression off. The wait for the very first bytes may be the longest
 * of all, so on_wait is set for it; then it moves to the last window, because
 * the first one may be read on another thread, and so may those of archives.
 */
bool tr_trace_decode(struct tr_trace *trace, struct tr_source *source, struct tr_error *err)
{
	enum { LONGEST_MAGIC = 6 };
	const struct tr_trace_config *config = &trace->config;
	struct tr_input *in = source ? tr_input_new(source, &config->read.limits, 0) : NULL;

	if (!in) {
		tr_error_memory(err);
		return false;
	}
	tr_input_on_wait(in, config->on_wait, config->wait_context);
	tr_input_more(in, LONGEST_MAGIC);
	tr_input_on_wait(in, NULL, NULL);
	tr_trace_tell_waits(trace, false);
	in = tr_codec_open(in, &config->read.limits, config->threads, err);
	if (!in)
		return false;
	if (!in->ahead)
		tr_trace_tell_waits(trace, true);
	tr_input_on_wait(in, config->on_wait, config->wait_context);
	trace->in = trace->place.in = in;
	trace->place.codec = in->codec;
	return true;
}

static void skip_bom(struct tr_trace *trace)
{
	const struct tr_format *forced = trace->config.format;

	/* line by line every byte is kept, those of a mark too */
	if (trace->config.read.lines || (forced && (forced->flags & TR_FORMAT_BINARY)) ||
	    !tr_input_more(trace->in, 1) || *trace->in->pos != '\xef' ||
	    !tr_input_more(trace->in, 3) || memcmp(trace->in->pos, "\xef\xbb\xbf", 3) != 0)
		return;
	tr_input_skip(trace->in, 3);
	trace->place.bom = true;
}

/*
 * An empty input is an empty stream, which a filter writes when nothing matches, unless it was in
 * a container that belongs to one format.
 */
static const struct tr_format *detect(struct tr_input *in)
{
	const struct tr_format *format = tr_format_detect(in);

	if (!format && !tr_input_more(in, 1) && !in->damaged)
		return tr_format_by_name(TR_TEXT("trec"));
	return format;
}

/* The format that the window is of, among those it may be. */
static const struct tr_format *recognise(const struct tr_trace *trace, struct tr_input *in)
{
	const struct tr_format *forced = trace->config.format;

	if (!forced)
		return detect(in);
	/* of a text nobody should wait for more than the first line */
	return !(forced->flags & TR_FORMAT_BINARY) || forced->bid(in) > 0 ? forced : NULL;
}

/*
 * The format of what the window decodes to if it is brotli. NULL: not known; *certain where the
 * window is brotli all the same.
 */
static const struct tr_format *recognise_brotli(const struct tr_trace *trace, bool *certain)
{
	enum { PROBE = 1024 };
	char probe[PROBE];
	size_t len = tr_codec_brotli_peek(trace->in, probe, sizeof probe, certain);
	struct tr_source *source = len ? tr_source_memory((struct tr_text){ probe, len }) : NULL;
	struct tr_input *in =
		source ? tr_input_new(source, &trace->config.read.limits, sizeof probe) : NULL;

	if (!in)
		return NULL;
	if (*certain)
		in->codec = &tr_codec_brotli;
	const struct tr_format *format = recognise(trace, in);
	tr_input_free(in);
	return format;
}

static bool take_off_brotli(struct tr_trace *trace, struct tr_error *err)
{
	const struct tr_trace_config *config = &trace->config;

	tr_input_on_wait(trace->in, NULL, NULL);
	if (!trace->in->ahead)
		tr_trace_tell_waits(trace, false);
	trace->in = trace->place.in =
		tr_codec_open_as(trace->in, tr_codec_by_name(TR_TEXT("brotli")),
				 &config->read.limits, config->threads, err);
	if (!trace->in)
		return false;
	if (!trace->in->ahead)
		tr_trace_tell_waits(trace, true);
	tr_input_on_wait(trace->in, config->on_wait, config->wait_context);
	trace->place.codec = trace->in->codec;
	return true;
}

/* brotli has no magic: an unknown format is tried as brotli, and opened if its content is known. */
enum tr_status tr_trace_find_format(struct tr_trace *trace, struct tr_error *err)
{
	bool certain;

	skip_bom(trace);
	trace->place.format = recognise(trace, trace->in);
	if (trace->place.format)
		return TR_OK;
	trace->place.format = recognise_brotli(trace, &certain);
	if ((trace->place.format || certain) && !take_off_brotli(trace, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (!trace->place.format) {
		/* damage that leaves nothing to recognise is what a message has to say */
		if (certain)
			tr_input_more(trace->in, 1);
		trace->place.format = trace->config.format;
	}
	return TR_OK;
}

void tr_trace_close_place(struct tr_trace *trace)
{
	if (trace->reader)
		trace->place.format->close(trace->reader);
	trace->reader = NULL;
	if (trace->in && !trace->archives.count)
		trace->done_before += tr_input_raw_offset(trace->in);
	tr_input_free(trace->in);
	trace->in = trace->place.in = NULL;
}
