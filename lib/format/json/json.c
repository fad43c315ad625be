#include "format/json/json.h"

#include <stdlib.h>

#include "format/json/typed.h"

enum {
	LOOK = 4096, /* how far the first array is looked into */
	UNDECIDED = -1,
	HEADER_BITS = 64,
	COMMENT_BITS = 40,
	RECORD_BITS = 32,
};

/* A walk over what the window has; tokens that it does not have are '\0'. */
struct look {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Steps over blanks and one byte, which it returns. */
static char next_byte(struct look *look)
{
	while (look->p < look->end && is_blank(*look->p))
		look->p++;
	return look->p < look->end ? *look->p++ : '\0';
}

static bool is_kind_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* A kind, "%word", "!end" or "#"; the closing quote is not in it. */
static struct tr_text first_word(struct look *look)
{
	const char *word = look->p;
	if (look->p < look->end && (*word == '%' || *word == '!' || *word == '#'))
		look->p++;
	while (look->p < look->end && is_kind_byte(*look->p))
		look->p++;
	return tr_text_span(word, look->p);
}

/* What an array that begins with this word and this byte of its second element speaks for. */
static int word_bits(struct tr_text word, char second)
{
	bool number = second >= '0' && second <= '9';
	if (tr_text_is(word, "#"))
		return second == '"' ? COMMENT_BITS : 0;
	if (*word.data == '%' || *word.data == '!')
		return word.len > 1 && (second == '"' || number) ? HEADER_BITS : 0;
	if (*word.data < 'a' || *word.data > 'z')
		return 0;
	return second == '"' || second == 'n' || number ? RECORD_BITS : 0;
}

/* Bits that speak for an array of ours; UNDECIDED where the window ends too early to say. */
static int evidence(struct look look)
{
	static const char before[] = "[\"", behind[] = "\",";
	for (const char *want = before; *want; want++) {
		char c = next_byte(&look);
		if (c != *want)
			return c ? 0 : UNDECIDED;
	}
	struct tr_text word = first_word(&look);
	for (const char *want = behind; *want; want++) {
		char c = next_byte(&look);
		if (c != *want || word.len == 0)
			return c ? 0 : UNDECIDED;
	}
	char second = next_byte(&look);
	return second ? word_bits(word, second) : UNDECIDED;
}

/* Asks for no more bytes than the answer needs: the next ones may be long in coming. */
static int bid(struct tr_input *in)
{
	for (;;) {
		int bits = evidence((struct look){ in->pos, in->end });
		if (bits != UNDECIDED)
			return bits;
		size_t available = tr_input_available(in);
		if (available >= LOOK || !tr_input_more(in, available + 1))
			return 0;
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
