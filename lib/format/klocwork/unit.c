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
				      struct tr_klocwork_spread *spread,
				      struct tr_klocwork_unit *unit, struct tr_error *err)
{
	enum tr_json_token token =
		tr_klocwork_spread_end(spread, in, limits, unit->begin, &unit->end, err);
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
				     struct tr_klocwork_spread *spread,
				     struct tr_klocwork_unit *unit, struct tr_error *err)
{
	struct tr_text line;
	tr_error_clear(err);
	enum tr_status status = tr_input_line(in, &line, err);
	if (status != TR_OK)
		return status;
	const char *end = line.data + line.len;
	/* a mark also where files were put together */
	const char *begin = skip_filler(skip_mark(line.data, end), end);
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
		token = read_spread(in, limits, object, spread, unit, err);
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
