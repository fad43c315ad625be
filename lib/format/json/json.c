#include "format/json/json.h"

#include <stdlib.h>

#include "format/json/typed.h"

/* How far a stream's first array is looked for and into. */
enum { LOOK = 4096 };

/* A look at the window's start: false where it ends before the question is answered. */
struct look {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char after_blanks(struct look *look)
{
	while (look->p < look->end && is_blank(*look->p))
		look->p++;
	return look->p < look->end ? *look->p : '\0';
}

static bool is_kind_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Bits that speak for an array of ours at the start of what is there; 0: none, or not enough. */
static int evidence(struct look look)
{
	if (tr_text_starts(tr_text_span(look.p, look.end), TR_TEXT("\xef\xbb\xbf")))
		look.p += 3;
	if (after_blanks(&look) != '[')
		return 0;
	look.p++;
	if (after_blanks(&look) != '"')
		return 0;
	const char *word = ++look.p;
	if (look.p < look.end && (*word == '%' || *word == '!' || *word == '#'))
		look.p++;
	while (look.p < look.end && is_kind_byte(*look.p))
		look.p++;
	struct tr_text first = tr_text_span(word, look.p);
	if (first.len == 0 || look.p == look.end || *look.p++ != '"' ||
	    after_blanks(&look) != ',')
		return 0;
	look.p++;
	char second = after_blanks(&look);
	if (tr_text_is(first, "#"))
		return second == '"' ? 40 : 0;
	if (*word == '%' || *word == '!')
		return first.len > 1 && second ? 64 : 0;
	if (*word < 'a' || *word > 'z')
		return 0;
	return second == '"' || second == 'n' || (second >= '0' && second <= '9') ? 32 : 0;
}

static int bid(struct tr_input *in)
{
	for (;;) {
		size_t available = tr_input_available(in);
		int bits = evidence((struct look){ in->pos, in->end });
		struct look look = { in->pos, in->end };
		char first = after_blanks(&look);
		if (bits || (first && first != '[' && first != '\xef') || available >= LOOK ||
		    memchr(in->pos, ',', available) || !tr_input_more(in, available + 1))
			return bits;
	}
}

struct tr_writer {
	struct tr_output *out;
	struct tr_buffer text;
};

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	(void)config;
	struct tr_writer *writer = calloc(1, sizeof *writer);
	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	return writer;
}

static enum tr_status put(struct tr_writer *writer, struct tr_record *record, struct tr_error *err)
{
	tr_buffer_reset(&writer->text);
	enum tr_status status = tr_typed_put_record(record, &writer->text, err);
	if (status == TR_FATAL)
		return status;
	tr_output_put_text(writer->out, tr_buffer_text(&writer->text));
	tr_output_put_byte(writer->out, '\n');
	tr_output_record_end(writer->out);
	return status;
}

static enum tr_status finish(struct tr_writer *writer, struct tr_error *err)
{
	(void)writer;
	(void)err;
	return TR_OK;
}

static void discard(struct tr_writer *writer)
{
	if (!writer)
		return;
	tr_buffer_free(&writer->text);
	free(writer);
}

static const char *const extensions[] = { ".json", ".jsonl", NULL };

const struct tr_format tr_format_json = {
	.name = "json",
	.summary = "the record stream as typed JSON, one array a line",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_STREAM,
	.extensions = extensions,
	.bid = bid,
	.open = tr_json_reader_open,
	.next = tr_json_reader_next,
	.close = tr_json_reader_close,
	.create = create,
	.put = put,
	.finish = finish,
	.discard = discard,
};
