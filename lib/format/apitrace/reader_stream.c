/*
 * Files of programs that fork hold several streams (see apitrace.h): where the next one begins,
 * directly after an event or somewhere after damage.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/reader.h"

bool tr_apitrace_at_stream(struct tr_apitrace_reader *reader)
{
	struct tr_input *in = reader->in;
	if (!reader->begun || !tr_input_more(in, 1))
		return false;
	uint64_t version = (unsigned char)*in->pos;
	/* 0 and 1 are events, too; the streams of one file are of one version */
	if (version <= TR_APITRACE_LEAVE && version != reader->parse.version)
		return false;
	tr_input_more(in, TR_APITRACE_LOOK);
	return tr_apitrace_begins(in->pos, in->end);
}

void tr_apitrace_begin_stream(struct tr_apitrace_reader *reader)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	tr_apitrace_signatures_free(&parse->signatures);
	tr_id_map_free(&reader->live);
	tr_arena_free(&reader->live_arena);
	reader->free = NULL;
	reader->calls = 0;
	reader->streams++;
	reader->begun = reader->ended = false;
}

/* The first place from p on, and before `last`, where one begins; or last. */
static const char *find(const struct tr_apitrace_reader *reader, const char *p, const char *last)
{
	while (p < last && (p = memchr(p, (int)reader->parse.version, (size_t)(last - p)))) {
		if (tr_apitrace_begins(p, reader->in->end))
			return p;
		p++;
	}
	return last;
}

bool tr_apitrace_find_stream(const struct tr_apitrace_reader *reader, size_t *size)
{
	const struct tr_input *in = reader->in;
	const char *found = in->pos < in->end ? find(reader, in->pos + 1, in->end) : in->end;
	if (found == in->end)
		return false;
	*size = (size_t)(found - in->pos);
	return true;
}

bool tr_apitrace_skip_to_stream(struct tr_apitrace_reader *reader)
{
	struct tr_input *in = reader->in;
	if (tr_input_more(in, 1))
		tr_input_skip(in, 1); /* nothing begins where the damage was found */
	for (;;) {
		/* a head is looked at when as much of it is there as can be */
		bool more = tr_input_more(in, TR_APITRACE_LOOK);
		size_t size = tr_input_available(in);
		const char *last = in->end - (more ? TR_APITRACE_LOOK - 1 : 0);
		const char *found = find(reader, in->pos, last);
		tr_input_skip(in, (size_t)(found - in->pos));
		if (found < last)
			return true;
		if (!size || (!more && !tr_input_more(in, 1)))
			return false;
	}
}
