/* SPDX-License-Identifier: MIT */
#include "core/codec.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"

/*
 * A stream has no magic, so the head and the first events are parsed. Valid bytes alone are no
 * evidence, because nearly every byte is valid somewhere. Names are: their printable characters
 * count for the format, and a control character in the name of a function counts against it.
 */

enum {
	LOOK = TR_APITRACE_LOOK,
	EVENTS = 8,
	VERSION_BITS = 4,
	CHARACTER_BITS = 3, /* that one of eight is printable is a chance of half a bit less */
	CONTROL_BITS = 12,  /* one in a name outweighs what garbage has around it */
	NAME_BITS = 32,	    /* for or against a name at most */
	ENOUGH = 60,
	LEAST_NAME = 3, /* bytes of a name that is taken for the first one of a stream */
	FURTHER = 24, /* bits that a further stream of a file needs, which nothing else announces */
};

/* Returns the bits of a name, for or against; its first bytes are enough. */
static int name_bits(struct tr_text name)
{
	int bits = 0;
	for (size_t i = 0; i < name.len && bits < NAME_BITS && bits > -NAME_BITS; i++) {
		bool control = (unsigned char)name.data[i] < 0x20 || name.data[i] == 0x7f;
		bits += control ? -CONTROL_BITS : CHARACTER_BITS;
	}
	return bits;
}

/* Returns the bits of the names of properties. */
static int property_bits(const struct tr_record *head)
{
	int bits = 0;
	for (size_t i = 0; i < head->count; i++) {
		const struct tr_value *list = head->fields[i].value;
		for (size_t j = 0; list->type == TR_LIST && j < list->count && bits < ENOUGH; j++) {
			const struct tr_value *name = &list->as.items[j].as.items[0];
			/* the names that tracers write need no escapes */
			bits += name->flags & TR_PLAIN ? name_bits(name->text) : 0;
		}
	}
	return bits;
}

/*
 * Returns the bits of the names in definitions. The names of labels never count against the format.
 */
static int signature_bits(const struct tr_apitrace_signature *signature)
{
	int bits = 0;
	for (; signature && bits < ENOUGH; signature = signature->next) {
		bits += name_bits(signature->name);
		for (size_t i = 0; i < signature->count && bits < ENOUGH; i++) {
			int label = name_bits(signature->labels[i].name);
			bits += label > 0 ? label : 0;
		}
	}
	return bits;
}

/* Parses an event. False: it is cut or no event. */
static bool parse_event(struct tr_apitrace_parse *parse)
{
	struct tr_apitrace_event event = { .enter = false };
	unsigned tag;
	tr_record_init(&event.record, &parse->arena);
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (tag == TR_APITRACE_ENTER)
		return tr_apitrace_parse_enter(parse, &event);
	if (tag == TR_APITRACE_LEAVE)
		return tr_apitrace_uint(parse, &event.call) &&
		       tr_apitrace_parse_leave(parse, &event);
	return tr_apitrace_bad(parse, parse->p - 1, "not an event", tag);
}

/*
 * Returns the bits of evidence in the bytes, and where the last event that was looked at begins.
 * parse->outcome describes that event.
 */
static int weigh(struct tr_apitrace_parse *parse, const char *start, const char *end,
		 const char **last)
{
	struct tr_record head;
	tr_apitrace_parse_begin(parse, start, end, 0);
	tr_record_init(&head, &parse->arena);
	bool whole = tr_apitrace_parse_head(parse, &head);
	int properties = property_bits(&head);
	bool empty =
		whole && parse->p == parse->end && parse->version >= TR_APITRACE_HAS_PROPERTIES;
	for (unsigned i = 0; i < EVENTS && whole; i++) {
		*last = parse->p;
		whole = parse_event(parse);
	}
	int signatures = signature_bits(parse->defined);
	/* the reader reports what is bad after a good beginning */
	if (parse->outcome == TR_APITRACE_BAD && !parse->defined && !properties)
		return 0;
	if (!signatures && !properties && !empty)
		return 0; /* valid bytes alone, such as zeros, are no evidence */
	int bits = VERSION_BITS + properties + signatures;
	return bits > 0 ? bits : 0;
}

/* Weighs the beginning of the stream, and asks for more of it while an event is cut. */
static int apitrace_bid(struct tr_input *in)
{
	struct tr_apitrace_parse parse = { .any_version = true, .max_depth = 1 };
	const char *event;
	int bits = 0;
	for (size_t want = 1; bits < ENOUGH && tr_input_more(in, want);) {
		/* the version, which is no character of a text; it may be in more bytes than it
		 * needs */
		unsigned char first = (unsigned char)*in->pos;
		if (first > TR_APITRACE_ANY_VERSION && first < 0x80)
			break;
		bits = weigh(&parse, in->pos, in->end, &event);
		if (parse.outcome != TR_APITRACE_SHORT || tr_input_available(in) >= LOOK)
			break;
		want = tr_input_available(in) + 1;
	}
	tr_apitrace_parse_free(&parse);
	return bits;
}

/* True for a length, and a name of that length without blanks or control characters. */
static bool is_name(const char *p, const char *end)
{
	uint64_t len;
	p = tr_wire_uint(p, &len);
	if (!p || p >= end || len < LEAST_NAME || len > (uint64_t)(end - p))
		return false;
	while (len && *p > 0x20 && *p < 0x7f)
		p++, len--;
	return !len;
}

/* A quick check before a head is parsed, because most bytes are none. */
static bool looks_like_head(const char *p, const char *end)
{
	uint64_t version = (unsigned char)*p++, number;
	if (version >= TR_APITRACE_HAS_PROPERTIES) {
		if (p == end || (unsigned char)*p++ > version)
			return false; /* the semantic version */
		if (p < end && *p)
			return is_name(p, end); /* of a property */
		p++;
	}
	if (p >= end || *p++ != TR_APITRACE_ENTER)
		return false;
	if (version >= TR_APITRACE_HAS_THREADS && !(p = tr_wire_uint(p, &number)))
		return false;
	p = p < end ? tr_wire_uint(p, &number) : NULL; /* the id of the function */
	return p && p < end && is_name(p, end);
}

bool tr_apitrace_begins(const char *p, const char *end, bool last, bool valid)
{
	struct tr_apitrace_parse parse = { .max_depth = 1 };
	const char *event = p;
	if (p == end || (unsigned char)*p > TR_APITRACE_VERSION || !looks_like_head(p, end))
		return false;
	int bits = weigh(&parse, p, end, &event);
	/* a short stream is followed by the head of another one instead of an event */
	bool bad = valid && parse.outcome == TR_APITRACE_BAD && !looks_like_head(event, end);
	/*
	 * within a stream, bytes that only begin like a head are data, which stay with their event;
	 * so are those of a head that the input's end has cut
	 */
	struct tr_record head;
	tr_apitrace_parse_begin(&parse, p, end, 0);
	tr_record_init(&head, &parse.arena);
	bool whole = tr_apitrace_parse_head(&parse, &head) ||
		     (parse.outcome == TR_APITRACE_SHORT && !last);
	tr_apitrace_parse_free(&parse);
	return bits >= FURTHER && whole && !bad;
}

bool tr_apitrace_begins_cut(const char *p, const char *end)
{
	struct tr_apitrace_parse parse = { .max_depth = 1 };
	struct tr_record head;
	tr_apitrace_parse_begin(&parse, p, end, 0);
	tr_record_init(&head, &parse.arena);
	bool whole = tr_apitrace_parse_head(&parse, &head) && parse_event(&parse);
	bool cut = !whole && parse.outcome == TR_APITRACE_SHORT;
	tr_apitrace_parse_free(&parse);
	return cut;
}

/*
 * Only traces of API calls are kept in these containers, so data with a damaged head is one:
 * always in snappy, and in brotli unless it is text, which tr-repack may have put there.
 */
static int apitrace_search(struct tr_input *in, const struct tr_settings *settings)
{
	(void)settings;
	enum { HEAD = 64 };

	if (in->codec != &tr_codec_brotli)
		return in->codec == &tr_codec_snappy;
	tr_input_more(in, HEAD);
	size_t available = tr_input_available(in);
	for (size_t i = 0; i < available && i < HEAD; i++)
		if ((unsigned char)in->pos[i] < ' ' && !memchr("\t\n\r", in->pos[i], 3))
			return 1;
	return 0;
}

static const char *const extensions[] = { ".trace", NULL };

static const struct tr_codec *const containers[] = {
	&tr_codec_snappy,
	&tr_codec_gzip,
	&tr_codec_brotli,
	&tr_codec_zstd_seekable, /* versions after 11.1 do */
	NULL,
};

static const struct tr_format_option options[] = {
	{ "version", "0|1|2|3|4|5|6", false, true,
	  "stream version to write (default: that of the input)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_apitrace = {
	.name = "apitrace",
	.summary = "binary trace of graphics API calls",
	.exact = "SAME",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.containers = containers,
	.options = options,
	.bid = apitrace_bid,
	.search = apitrace_search,
	.open = tr_apitrace_open,
	.create = tr_apitrace_create,
	.styles = tr_apitrace_styles,
	.call_kinds = tr_apitrace_call_kinds,
	.call_api = tr_apitrace_call_api,
};
