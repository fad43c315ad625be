/*
 * Hit counts stand behind all the blocks that they are about, and a record has
 * its count beside it. So they are looked for ahead: as far as the limits allow
 * where the flavor promises them, else in tables of a size that nobody minds.
 */
#define _GNU_SOURCE /* memmem */
#include <inttypes.h>
#include <string.h>

#include "format/drcov/reader.h"

enum { UNPROMISED = 4 << 20 };

static bool promised(const struct tr_drcov_reader *reader)
{
	struct tr_text flavor = reader->head.flavor;
	return flavor.len && memmem(flavor.data, flavor.len, "hits", 4);
}

/* The end of the table as an offset in the window. False: it is not there, or too far. */
static bool end_of_blocks(struct tr_drcov_reader *reader, size_t limit, size_t *at)
{
	struct tr_input *in = reader->in;
	*at = 0;
	if (reader->count > limit / TR_DRCOV_BLOCK)
		return false;
	if (!reader->text) {
		*at = (size_t)reader->count * TR_DRCOV_BLOCK;
		return tr_input_more(in, *at + 1);
	}
	size_t seen = 0;
	for (uint64_t i = 0; i < reader->count;) {
		const char *lf = memchr(in->pos + seen, '\n', tr_input_available(in) - seen);
		if (lf) {
			seen = *at = (size_t)(lf - in->pos) + 1;
			i++;
			continue;
		}
		seen = tr_input_available(in);
		if (seen > limit || !tr_input_more(in, seen + 1))
			return false;
	}
	return tr_input_more(in, *at + 1);
}

/* The line that begins there, with its line feed; len 0: it is too long for one of ours. */
static struct tr_text line_at(struct tr_input *in, size_t at)
{
	enum { LINE_MAX = 80 };
	tr_input_more(in, at + LINE_MAX);
	size_t there = tr_input_available(in) - at;
	const char *p = in->pos + at;
	const char *lf = memchr(p, '\n', there < LINE_MAX ? there : LINE_MAX);
	return (struct tr_text){ p, lf ? (size_t)(lf - p) + 1 : 0 };
}

bool tr_drcov_find_hits(struct tr_drcov_reader *reader)
{
	struct tr_input *in = reader->in;
	bool sure = promised(reader);
	uint64_t count, limit = sure ? reader->limits.max_record : UNPROMISED;
	if (limit > SIZE_MAX / 4)
		limit = SIZE_MAX / 4;
	size_t at, size = (size_t)reader->count * TR_DRCOV_HIT;
	if (!end_of_blocks(reader, (size_t)limit, &at))
		return true;
	struct tr_text line = line_at(in, at);
	if (!line.len || !tr_drcov_hits_line(line, &count) || count != reader->count)
		return true;
	size_t line_len = line.len;
	tr_buffer_put_text(&reader->hits_line, line);
	tr_input_more(in, at + line_len + size);
	size_t there = tr_input_available(in) - at - line_len;
	if (there < size)
		size = there - there % TR_DRCOV_HIT;
	tr_buffer_put(&reader->hits, in->pos + at + line_len, size);
	return !reader->hits.failed && !reader->hits_line.failed;
}

enum tr_status tr_drcov_skip_hits(struct tr_drcov_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t size = (size_t)reader->count * TR_DRCOV_HIT;
	if (!reader->hits_line.len)
		return TR_END;
	reader->binary = true;
	tr_input_skip(in, reader->hits_line.len);
	tr_buffer_reset(&reader->hits_line);
	bool whole = tr_input_more(in, size);
	size_t there = tr_input_available(in);
	tr_input_skip(in, there < size ? there : size);
	if (whole)
		return TR_END;
	tr_error_set(err, TR_CAUSE_CUT, "hit counts for %zu of %" PRIu64 " blocks",
		     there / TR_DRCOV_HIT, reader->count);
	return tr_drcov_warn(reader, err);
}
