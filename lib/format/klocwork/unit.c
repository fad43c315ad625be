#define _GNU_SOURCE /* memrchr */
#include "format/klocwork/unit.h"

#include <string.h>

static const char byte_order_mark[] = "\xef\xbb\xbf";
enum { MARK_LENGTH = sizeof byte_order_mark - 1 };

static bool is_filler(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == ',';
}

/* Over what may stand around objects on a line. */
static const char *skip_filler(const char *p, const char *end)
{
	while (p < end && is_filler(*p))
		p++;
	return p;
}

static const char *skip_mark(const char *p, const char *end)
{
	bool mark = end - p >= MARK_LENGTH && memcmp(p, byte_order_mark, MARK_LENGTH) == 0;
	return mark ? p + MARK_LENGTH : p;
}

static uint64_t count_lines(const char *p, const char *end)
{
	uint64_t lines = 0;
	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		lines++;
		p++;
	}
	return lines;
}

/*
 * The object at begin does not end on its line: finds its end, each byte looked
 * at once. `known` bytes of the window are there. The last token of the object;
 * CUT: the input or the limit ends it (err says which).
 */
static enum tr_json_token find_end(struct tr_input *in, const struct tr_limits *limits,
				   size_t begin, size_t *end, struct tr_error *err)
{
	struct tr_json_walk walk = TR_JSON_WALK_INIT;
	size_t walked = begin, searched = begin;
	for (;;) {
		/* only whole lines: no token goes over a line end, so none is cut */
		size_t available = tr_input_available(in), whole = walked;
		const char *lf = memrchr(in->pos + searched, '\n', available - searched);
		if (lf)
			whole = (size_t)(lf + 1 - in->pos);
		if (in->at_end)
			whole = available;
		searched = available;
		struct tr_json json = { in->pos + walked, in->pos + whole };
		enum tr_json_token token = tr_json_go_on(&json, &walk);
		*end = (size_t)(json.pos - in->pos);
		if (token == TR_JSON_BAD)
			tr_error_set(err, TR_CAUSE_INPUT, "an object that does not end");
		if (token != TR_JSON_CUT)
			return token;
		walked = whole;
		if (in->at_end) {
			tr_error_set(err, TR_CAUSE_INPUT, "an object that does not end");
			return token;
		}
		if (available >= limits->max_record) {
			tr_error_set(err, TR_CAUSE_LIMIT, "an object larger than the limit");
			return token;
		}
		if (!tr_input_more(in, available + 1) && !in->at_end) {
			tr_error_memory(err);
			return TR_JSON_BAD;
		}
	}
}

/* The unit ends with its line where nothing but filler follows the object, else with the object. */
static void end_unit(struct tr_klocwork_unit *unit, const char *pos, const char *end)
{
	const char *behind = skip_filler(pos + unit->end, end);
	if (behind == end)
		unit->length = (size_t)(behind - pos);
	else if (*behind == '\n')
		unit->length = (size_t)(behind + 1 - pos);
	else
		unit->length = unit->end;
	unit->lines = count_lines(pos, pos + unit->length);
}

/* An object that goes over several lines. */
static enum tr_json_token read_spread(struct tr_input *in, const struct tr_limits *limits,
				      struct tr_klocwork_object *object,
				      struct tr_klocwork_unit *unit, struct tr_error *err)
{
	enum tr_json_token token = find_end(in, limits, unit->begin, &unit->end, err);
	if (token == TR_JSON_BAD || token == TR_JSON_CUT)
		return token;
	struct tr_json json = { in->pos + unit->begin, in->pos + unit->end };
	token = tr_klocwork_object_read(object, &json, err);
	if (token == TR_JSON_OBJECT)
		end_unit(unit, in->pos, in->end);
	return token;
}

enum tr_status tr_klocwork_unit_next(struct tr_input *in, const struct tr_limits *limits,
				     struct tr_klocwork_object *object,
				     struct tr_klocwork_unit *unit, struct tr_error *err)
{
	struct tr_text line;
	tr_error_clear(err);
	enum tr_status status = tr_input_line(in, &line, err);
	if (status != TR_OK)
		return status;
	const char *end = line.data + line.len;
	const char *begin = in->offset == 0 ? skip_mark(line.data, end) : line.data;
	begin = skip_filler(begin, end);
	bool ended = end[-1] == '\n';
	*unit = (struct tr_klocwork_unit){ TR_KLOCWORK_BLANK, line.len, (size_t)(begin - line.data),
					   0, ended };
	if (begin == end || *begin == '\n')
		return TR_OK;
	unit->type = TR_KLOCWORK_GARBAGE;
	if (*begin != '{') {
		tr_error_set(err, TR_CAUSE_INPUT, "no JSON object");
		return TR_OK;
	}
	struct tr_json json = { begin, end };
	enum tr_json_token token = tr_klocwork_object_read(object, &json, err);
	if (token == TR_JSON_OBJECT) {
		unit->end = (size_t)(json.pos - line.data);
		end_unit(unit, line.data, end);
	} else if (token == TR_JSON_CUT && ended) {
		token = read_spread(in, limits, object, unit, err);
	}
	if (token == TR_JSON_OBJECT)
		unit->type = TR_KLOCWORK_OBJECT;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}

bool tr_klocwork_unit_whole(struct tr_text text, struct tr_klocwork_object *object,
			    struct tr_error *err)
{
	const char *end = text.data + text.len;
	const char *p = skip_mark(text.data, end);
	while (p < end && (is_filler(*p) || *p == '\n'))
		p++;
	struct tr_json json = { p, end };
	if (tr_klocwork_object_read(object, &json, err) != TR_JSON_OBJECT)
		return false;
	p = skip_filler(json.pos, end);
	return p == end || (*p == '\n' && p + 1 == end);
}

struct tr_text tr_klocwork_unit_line(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	if (end > p && end[-1] == '\n')
		end--;
	const char *line = skip_mark(p, end);
	while ((line = skip_filler(line, end)) < end && *line == '\n')
		p = ++line;
	return tr_text_span(p, end);
}
