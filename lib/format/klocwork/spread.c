#define _GNU_SOURCE /* memrchr */
#include "format/klocwork/spread.h"

#include <string.h>

/*
 * Where the last search had a bracket open at origin, all that follows it has
 * been walked: the brackets around it are left away. Else from the start.
 */
static void begin_at(struct tr_klocwork_spread *spread, uint64_t origin)
{
	unsigned outer = 0, depth = spread->walk.depth;
	while (outer < depth && spread->opened[outer] != origin)
		outer++;
	if (outer == depth) {
		spread->walk = (struct tr_json_walk)TR_JSON_WALK_INIT;
		spread->behind = origin;
		return;
	}
	spread->walk.depth = depth - outer;
	memmove(spread->opened, spread->opened + outer, (depth - outer) * sizeof *spread->opened);
}

/* Over the tokens of a text that is whole lines: none of them goes over a line's end. */
static enum tr_json_token walk_lines(struct tr_klocwork_spread *spread, struct tr_json *json)
{
	const char *text = json->pos;
	uint64_t offset = spread->behind;
	struct tr_text none;
	do {
		struct tr_json_walk walk = spread->walk;
		enum tr_json_token token = tr_json_next(json, &none);
		if (token != TR_JSON_CUT && !tr_json_accept(&walk, token))
			return TR_JSON_BAD;
		if (walk.depth > spread->walk.depth)
			spread->opened[walk.depth - 1] = offset + (uint64_t)(json->pos - 1 - text);
		spread->behind = offset + (uint64_t)(json->pos - text);
		if (token == TR_JSON_CUT)
			return token;
		spread->walk = walk;
	} while (spread->walk.depth);
	return TR_JSON_OBJECT_END;
}

enum tr_json_token tr_klocwork_spread_end(struct tr_klocwork_spread *spread, struct tr_input *in,
					  const struct tr_limits *limits, size_t begin, size_t *end,
					  struct tr_error *err)
{
	begin_at(spread, in->offset + begin);
	size_t searched = (size_t)(spread->behind - in->offset);
	for (;;) {
		size_t walked = (size_t)(spread->behind - in->offset), whole = walked;
		size_t available = tr_input_available(in);
		const char *lf = memrchr(in->pos + searched, '\n', available - searched);
		if (lf)
			whole = (size_t)(lf + 1 - in->pos);
		if (in->at_end)
			whole = available;
		searched = available;
		struct tr_json json = { in->pos + walked, in->pos + whole };
		enum tr_json_token token = walk_lines(spread, &json);
		*end = (size_t)(json.pos - in->pos);
		if (token == TR_JSON_BAD || (token == TR_JSON_CUT && in->at_end))
			tr_error_set(err, TR_CAUSE_INPUT, "an object that does not end");
		if (token != TR_JSON_CUT || in->at_end)
			return token;
		if (available >= limits->max_record) {
			tr_error_set(err, TR_CAUSE_LIMIT, "an object larger than the limit (--max-record raises it)");
			return token;
		}
		if (!tr_input_more(in, available + 1) && !in->at_end) {
			tr_error_memory(err);
			return TR_JSON_BAD;
		}
	}
}
