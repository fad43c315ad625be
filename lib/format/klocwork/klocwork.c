/* SPDX-License-Identifier: MIT */
/* Format klocwork: its evidence, and its description. */

#include <string.h>

#include "format/klocwork/klocwork.h"
#include "format/reader_base.h"

enum {
	PROBE = 16 << 10, /* bytes of a build log that may come before a trace */
	ENOUGH = 60,
	BITS_VERSION = 20,
	BITS_HEADER = 10,
	BITS_EVENT = 30,
	BITS_UNSEEN = 1
};

struct evidence {
	int bits;
	bool sure;    /* no other format has this */
	bool foreign; /* there are objects that are not of a trace */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An id, an executable, and one more key of an event, which no other known JSON lines have. */
static bool is_event(const struct tr_klocwork_object *object)
{
	const struct tr_klocwork_piece *pieces = object->pieces;
	return pieces[TR_KLOCWORK_ID].len && pieces[TR_KLOCWORK_EXECUTABLE].len &&
	       (pieces[TR_KLOCWORK_ARGS].len || pieces[TR_KLOCWORK_WORK_DIR].len ||
		pieces[TR_KLOCWORK_PARENT_ID].len);
}

static void weigh(struct evidence *evidence, const struct tr_klocwork_object *object, bool whole)
{
	struct tr_text name = tr_klocwork_object_name(object);
	struct tr_text value = tr_klocwork_object_value(object);
	char first = value.data ? *value.data : 0;
	if (is_event(object)) {
		evidence->bits += BITS_EVENT;
		evidence->sure = true;
	} else if (name.data && tr_text_is(name, "version") && is_digit(first)) {
		evidence->bits += BITS_VERSION;
		/* major * 100 + minor */
		evidence->sure |=
			value.len >= 3 && is_digit(value.data[1]) && is_digit(value.data[2]);
	} else if (name.data && ((tr_text_is(name, "creator") && first == '"') ||
				 (tr_text_is(name, "env") && first == '{'))) {
		evidence->bits += BITS_HEADER;
	} else if (whole) {
		evidence->foreign = true;
	}
}

/* Weighs the objects of a text, as the reader would find them, and skips all else. */
static int weigh_text(struct tr_klocwork_object *object, const char *p, const char *end)
{
	struct evidence evidence = { 0, false, false };
	while (p < end && evidence.bits < ENOUGH) {
		while (p < end && (*p == ' ' || *p == '\t' || *p == ','))
			p++;
		struct tr_json json = { p, end };
		struct tr_error err;
		tr_error_clear(&err);
		bool begins = p < end && *p == '{';
		enum tr_json_token token =
			begins ? tr_klocwork_object_read(object, &json, &err) : TR_JSON_BAD;
		/* the open that follows reports that memory is out */
		if (err.cause == TR_CAUSE_MEMORY)
			return BITS_UNSEEN;
		if (token != TR_JSON_BAD)
			weigh(&evidence, object, token == TR_JSON_OBJECT);
		if (token == TR_JSON_OBJECT) {
			p = json.pos;
			if (p < end && *p != '\r' && *p != '\n')
				continue; /* another one on this line */
		}
		const char *lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
		p = lf ? lf + 1 : end;
	}
	return evidence.foreign && !evidence.sure ? 0 : evidence.bits;
}

static int weigh_lines(const char *p, const char *end, void *object)
{
	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	return weigh_text(object, p, end);
}

static int bid(struct tr_input *in)
{
	struct tr_klocwork_object object = { .env_top = false };
	int bits = tr_bid_by_lines(in, PROBE, weigh_lines, &object);

	tr_klocwork_object_free(&object);
	return bits;
}

static const char *const extensions[] = { ".kw.json", ".kw.jsonl", NULL };

static const struct tr_format_option options[] = {
	{ "env-base", "parent|top", true, true,
	  "env-diff is against the parent's environment (default), or the env line's" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_klocwork = {
	.name = "klocwork",
	.summary = "kwinject build trace, JSON lines",
	.exact = "EXACT in kwinject's spelling, else equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_FORKLESS,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = tr_klocwork_open,
	.create = tr_klocwork_create,
	.default_style = "tree",
};
