/* SPDX-License-Identifier: MIT */
/*
 * The format klocwork, and its reader, which finds the next unit in the window and converts its
 * object (next_unit), makes the record's line, and delivers it, or queues it while it or a line
 * before it is pending on a parent (parents.h).
 *
 * Klocwork documents a trace as one object per line. Real files have more: text of the build
 * between the lines, several objects on a line, objects over many lines, byte order marks where
 * files were concatenated, and headers in the middle where several builds or hosts wrote to one
 * file. All of it is read; text that is not an object becomes a `raw` record.
 */

#include <string.h>

#include "format/klocwork/klocwork.h"
#include "format/reader_base.h"
#include "record/literal.h"

enum {
	BLANKS_MAX = 1 << 20, /* bytes of blank lines kept for one record with --exact */
	VERSION_UNKNOWN = 200 /* 1.x is known, whatever x */
};

/*
 * The search for the end of an object of several lines that failed last; zero: none. An object
 * without an end is garbage line by line, and each of these lines may open an object that goes as
 * far; so the next search continues where the last one stopped.
 */
struct spread {
	struct tr_json_walk walk;
	uint64_t walked_to;		    /* stream offset up to which it has walked */
	uint64_t opened[TR_JSON_MAX_DEPTH]; /* offsets of the brackets that are open there */
};

/*
 * A unit of a trace in the window: an object with the blanks and commas around it, a blank line, or
 * a line that is neither. A line may hold several objects, and an object several lines.
 */
struct unit {
	enum {
		OBJECT,
		GARBAGE, /* a line; err says why it is not an object */
		BLANK,	 /* a line */
	} type;
	size_t length;	   /* of the unit, from the window's pos on */
	size_t begin, end; /* of the object */
	uint64_t lines;	   /* LFs in it */
};

/* base.lines counts the lines before the window's pos. */
struct reader {
	struct tr_reader base;
	struct tr_klocwork_object object;
	struct spread spread;
	struct unit unit;
	struct tr_klocwork_parents parents;
	bool ended;

	/*
	 * --exact: every byte of the trace is in the stream. If the writer would not give back a
	 * unit, the .raw of the record holds it, with the blank lines before it and the missing
	 * line end after it.
	 */
	bool exact;
	bool amid_line;		   /* the unit before did not end its line */
	struct tr_buffer blank;	   /* blank lines since the last unit */
	struct tr_buffer rendered; /* scratch: the line that the writer would write */
};

/*
 * Continues the last search without the brackets around the one at origin if that was open, else
 * begins anew.
 */
static void begin_at(struct spread *spread, uint64_t origin)
{
	unsigned outer = 0, depth = spread->walk.depth;
	while (outer < depth && spread->opened[outer] != origin)
		outer++;
	if (outer == depth) {
		spread->walk = (struct tr_json_walk)TR_JSON_WALK_INIT;
		spread->walked_to = origin;
		return;
	}
	spread->walk.depth = depth - outer;
	memmove(spread->opened, spread->opened + outer, (depth - outer) * sizeof *spread->opened);
}

/* Walks over the tokens of whole lines; no token crosses the end of a line. */
static enum tr_json_token walk_lines(struct spread *spread, struct tr_json *json)
{
	const char *text = json->pos;
	uint64_t offset = spread->walked_to;
	struct tr_text none;
	do {
		struct tr_json_walk walk = spread->walk;
		enum tr_json_token token = tr_json_next(json, &none);
		if (token != TR_JSON_CUT && !tr_json_accept(&walk, token))
			return TR_JSON_BAD;
		if (walk.depth > spread->walk.depth)
			spread->opened[walk.depth - 1] = offset + (uint64_t)(json->pos - 1 - text);
		spread->walked_to = offset + (uint64_t)(json->pos - text);
		if (token == TR_JSON_CUT)
			return token;
		spread->walk = walk;
	} while (spread->walk.depth);
	return TR_JSON_OBJECT_END;
}

/*
 * Finds the end of the unit's object, which does not end on its line. BAD, CUT: there is none, or
 * memory is out; err is filled.
 */
static enum tr_json_token find_object_end(struct reader *reader, struct tr_error *err)
{
	struct spread *spread = &reader->spread;
	struct tr_input *in = reader->base.in;
	begin_at(spread, in->offset + reader->unit.begin);
	size_t searched = (size_t)(spread->walked_to - in->offset);
	for (;;) {
		size_t walked = (size_t)(spread->walked_to - in->offset), whole = walked;
		size_t available = tr_input_available(in);
		const char *lf = memrchr(in->pos + searched, '\n', available - searched);
		if (lf)
			whole = (size_t)(lf + 1 - in->pos);
		if (in->at_end)
			whole = available;
		searched = available;
		struct tr_json json = { in->pos + walked, in->pos + whole };
		enum tr_json_token token = walk_lines(spread, &json);
		reader->unit.end = (size_t)(json.pos - in->pos);
		if (token == TR_JSON_BAD || (token == TR_JSON_CUT && in->at_end))
			tr_error_set(err, token == TR_JSON_CUT ? TR_CAUSE_CUT : TR_CAUSE_INPUT,
				     "an object without an end");
		if (token != TR_JSON_CUT || in->at_end)
			return token;
		if (available >= reader->base.max_record) {
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "an object larger than the limit (--max-record raises it)");
			return token;
		}
		if (!tr_input_more(in, available + 1) && !in->at_end) {
			tr_error_memory(err);
			return TR_JSON_BAD;
		}
	}
}

/* True for a byte that may be between objects: a blank, a CR, or a comma of a JSON array. */
static bool is_filler(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == ',';
}

/* Skips the bytes that are allowed around objects on a line. */
static const char *skip_filler(const char *p, const char *end)
{
	while (p < end && is_filler(*p))
		p++;
	return p;
}

/* Skips a byte order mark; concatenated files have them inside. */
static const char *skip_mark(const char *p, const char *end)
{
	return end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? p + 3 : p;
}

/* The unit ends with its line if only filler follows the object, else with the object. */
static void end_unit(struct unit *unit, const char *pos, const char *end)
{
	const char *rest = skip_filler(pos + unit->end, end);
	if (rest == end || *rest == '\n')
		unit->length = (size_t)(rest - pos) + (rest < end);
	else
		unit->length = unit->end;
	unit->lines = 0;
	for (end = pos + unit->length; (pos = memchr(pos, '\n', (size_t)(end - pos))); pos++)
		unit->lines++;
}

/*
 * Finds the next unit and converts an object. Skips nothing. TR_OK; TR_END; TR_WARN: a line is too
 * long and was skipped; TR_FATAL: memory.
 */
static enum tr_status next_unit(struct reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	struct unit *unit = &reader->unit;
	struct tr_text line;
	tr_error_clear(err);
	enum tr_status status = tr_input_line(in, &line, err);
	if (status != TR_OK)
		return status;
	const char *end = line.data + line.len;
	const char *begin = skip_filler(skip_mark(line.data, end), end);
	bool ended = end[-1] == '\n';
	*unit = (struct unit){ BLANK, line.len, (size_t)(begin - line.data), 0, ended };
	if (begin == end || *begin == '\n')
		return TR_OK;
	unit->type = GARBAGE;
	if (*begin != '{') {
		tr_error_set(err, TR_CAUSE_INPUT, "not a JSON object");
		return TR_OK;
	}
	struct tr_json json = { begin, end };
	enum tr_json_token token = tr_klocwork_object_read(&reader->object, &json, err);
	unit->end = (size_t)(json.pos - line.data);
	if (token == TR_JSON_CUT && !ended)
		err->cause = TR_CAUSE_CUT;
	if (token == TR_JSON_CUT && ended) {
		token = find_object_end(reader, err);
		end = in->end;
		json = (struct tr_json){ in->pos + unit->begin, in->pos + unit->end };
		if (token == TR_JSON_OBJECT_END)
			token = tr_klocwork_object_read(&reader->object, &json, err);
	}
	if (token == TR_JSON_OBJECT) {
		unit->type = OBJECT;
		end_unit(unit, in->pos, end);
	}
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

bool tr_klocwork_unit_whole(struct tr_text text, struct tr_klocwork_object *object,
			    struct tr_error *err)
{
	const char *end = text.data + text.len;
	const char *p = skip_filler(skip_mark(text.data, end), end);
	while (p < end && *p == '\n')
		p = skip_filler(skip_mark(p + 1, end), end);
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
	const char *rest = skip_filler(skip_mark(p, end), end);
	while (rest < end && *rest == '\n') {
		p = rest + 1;
		rest = skip_filler(skip_mark(p, end), end);
	}
	return tr_text_span(p, end);
}

/* Renders the record's line (no LF) as the writer would. TR_WARN: it has none; TR_FATAL: memory. */
static enum tr_status render(struct reader *reader)
{
	static const struct tr_klocwork_overrides none;
	struct tr_klocwork_fields fields = { .ppid = NULL };
	struct tr_buffer *line = &reader->base.line;
	struct tr_record record;
	struct tr_error ignored;
	tr_buffer_reset(&reader->rendered);
	tr_buffer_put_byte(line, '\n');
	if (line->failed)
		return TR_FATAL;
	tr_record_init(&record, &reader->base.arena);
	bool read = tr_record_from_line(&record, tr_buffer_text(line), &ignored);
	line->len--;
	if (!read)
		return TR_WARN;
	if (!tr_text_is(record.kind, "exec"))
		return tr_klocwork_render_context(&record, &reader->rendered, &ignored);
	enum tr_status status = tr_klocwork_fields_find(&record, &fields, &ignored);
	if (status != TR_OK)
		return status;
	return tr_klocwork_render_exec(&record, &fields, &none, &reader->rendered, &ignored);
}

/*
 * Adds .raw to the line (no LF): with --exact the unit and the blank lines before it, unless the
 * writer would give them back; else the object, if the record's fields cannot hold it.
 */
static void add_raw(struct reader *reader, bool lossy)
{
	struct tr_buffer *line = &reader->base.line, *blank = &reader->blank;
	const struct unit *unit = &reader->unit;
	const char *pos = reader->base.in->pos;
	struct tr_text text = { pos, unit->length };
	if (reader->exact && !reader->amid_line && !blank->len) {
		enum tr_status status = render(reader);
		tr_buffer_put_byte(&reader->rendered, '\n');
		/* without memory, .raw would be missing */
		line->failed |= status == TR_FATAL || reader->rendered.failed;
		if (status == TR_OK && tr_text_equal(tr_buffer_text(&reader->rendered), text))
			return;
	}
	if (!reader->exact && !lossy)
		return;
	tr_buffer_put_literal(line, "\t.raw=\"");
	if (reader->exact) {
		/* escaped together, because a sequence may cross the boundary */
		tr_buffer_put_text(blank, text);
		tr_string_escape(tr_buffer_text(blank), line);
		line->failed |= blank->failed;
	} else {
		tr_string_escape(tr_text_span(pos + unit->begin, pos + unit->end), line);
		tr_buffer_put_literal(line, "\\n");
	}
	tr_buffer_put_byte(line, '"');
}

/* Delivers a record of the queue, and inserts its parent or flag into the line. */
static enum tr_status deliver_queued(struct reader *reader, const struct tr_klocwork_queued *queued,
				     struct tr_text line, struct tr_record **record,
				     struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	const char *p = line.data;
	reader->base.source_line = queued->source_line;
	reader->base.source_offset = queued->source_offset;
	tr_buffer_reset(to);
	if (queued->parent != TR_NO_POSITION) {
		p += queued->gaps.parent;
		tr_buffer_put_text(to, tr_text_span(line.data, p));
		tr_buffer_put_literal(to, "\tparent=");
		tr_buffer_put_decimal(to, queued->parent);
	}
	if (queued->orphan) {
		const char *flag = line.data + queued->gaps.flagged;
		tr_buffer_put_text(to, tr_text_span(p, flag));
		tr_buffer_put_literal(to, "\tflagged=[\"orphan\"]");
		p = flag;
	}
	tr_buffer_put_text(to, tr_text_span(p, line.data + line.len));
	return tr_reader_deliver(&reader->base, record, err);
}

/* The number of the line at the window's pos. */
static uint64_t line_here(const struct reader *reader)
{
	return reader->base.lines + 1;
}

/*
 * Delivers the unit's line, which is complete except for .raw and LF, or queues it, and skips the
 * unit. wanted: the id that it is pending on; data NULL: none. record NULL: the next call delivers
 * the line. TR_END: there is nothing to deliver yet.
 */
static enum tr_status pass_on(struct reader *reader, struct tr_klocwork_queued *queued, bool lossy,
			      struct tr_text wanted, struct tr_record **record,
			      struct tr_error *err)
{
	struct tr_reader *base = &reader->base;
	const struct unit *unit = &reader->unit;
	bool queue = wanted.data || queued->orphan || tr_klocwork_parents_busy(&reader->parents);

	add_raw(reader, lossy);
	queued->seq = base->seq - 1;
	queued->source_line = line_here(reader);
	queued->source_offset = base->in->offset + unit->begin;
	if (base->line.failed)
		return tr_error_memory(err);
	if (queue && !tr_klocwork_parents_queue(&reader->parents, queued,
						tr_buffer_text(&base->line), unit->length, wanted))
		return tr_error_memory(err);
	reader->amid_line = unit->length && base->in->pos[unit->length - 1] != '\n';
	base->lines += unit->lines;
	tr_input_skip(base->in, unit->length);
	tr_buffer_reset(&reader->blank);
	if (queue)
		return TR_END;
	base->source_line = queued->source_line;
	base->source_offset = queued->source_offset;
	base->held = !record;
	return record ? tr_reader_deliver(base, record, err) : TR_END;
}

static enum tr_status read_event(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	const struct tr_klocwork_object *object = &reader->object;
	struct tr_klocwork_parents *parents = &reader->parents;
	struct tr_text none = { NULL, 0 };
	struct tr_text id = tr_klocwork_object_piece(object, object->id);
	struct tr_text parent_id = tr_klocwork_object_piece(object, object->parent_id);
	struct tr_klocwork_parent parent = tr_klocwork_parents_find(parents, id, parent_id);
	struct tr_klocwork_queued queued = { .parent = parent.seq, .orphan = parent.orphan };
	if (!tr_klocwork_parents_event(parents, id, reader->base.seq, &parent))
		return tr_error_memory(err);
	/* the parent of a line that is delivered at once is inserted here */
	bool at_once = !parent.pending && !parent.orphan && !tr_klocwork_parents_busy(parents);
	tr_buffer_reset(&reader->base.line);
	tr_klocwork_object_line(object, reader->base.seq++, at_once ? parent.seq : TR_NO_POSITION,
				&reader->base.line, &queued.gaps);
	return pass_on(reader, &queued, object->lossy, parent.pending ? parent_id : none, record,
		       err);
}

/* 1.x is known; a trace of another version is read, with a remark. */
static bool is_known_version(struct tr_text value)
{
	unsigned number = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9' || number >= VERSION_UNKNOWN)
			return false;
		number = number * 10 + (unsigned)(value.data[i] - '0');
	}
	return number >= 100 && number < VERSION_UNKNOWN;
}

/*
 * Makes a record of a version, creator or env line, or of any other object that is not an event. A
 * header line begins a scope: ids after it are those of another build.
 */
static enum tr_status read_context(struct reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	const struct tr_klocwork_object *object = &reader->object;
	struct tr_text name = tr_klocwork_object_name(object), none = { NULL, 0 };
	struct tr_klocwork_queued queued = { .parent = TR_NO_POSITION };
	bool version = name.data && tr_text_is(name, "version");
	if (version && !is_known_version(tr_klocwork_object_value(object))) {
		struct tr_error *remark = &reader->base.remark;
		tr_error_set(remark, TR_CAUSE_INPUT, "not a version 1.x trace: read as one anyway");
		tr_error_is_note(remark);
		tr_error_at_line(remark, line_here(reader));
	}
	if (version || (name.data && (tr_text_is(name, "creator") || tr_text_is(name, "env"))))
		tr_klocwork_parents_scope(&reader->parents, !version);
	tr_buffer_reset(&reader->base.line);
	tr_klocwork_object_line(object, reader->base.seq++, TR_NO_POSITION, &reader->base.line,
				&queued.gaps);
	return pass_on(reader, &queued, object->lossy, none, record, err);
}

/* Makes a raw record of the unit. text: the line in it. */
static enum tr_status read_raw(struct reader *reader, struct tr_text text, const char *reason,
			       struct tr_record **record, struct tr_error *err)
{
	struct tr_klocwork_queued queued = { .parent = TR_NO_POSITION };
	tr_reader_put_raw(&reader->base, text, reason);
	return pass_on(reader, &queued, false, (struct tr_text){ NULL, 0 }, record, err);
}

/* --exact: blank lines that no unit follows, or too many for one unit. */
static enum tr_status read_blanks(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	reader->unit.length = 0;
	reader->unit.lines = 0;
	return read_raw(reader, tr_klocwork_unit_line(tr_buffer_text(&reader->blank)),
			"blank lines", record, err);
}

/* Reads one unit. TR_END: there is nothing to deliver yet. */
static enum tr_status read_unit(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_reader *base = &reader->base;
	if (reader->blank.len > BLANKS_MAX)
		return read_blanks(reader, record, err);
	/* a record that is pending does not wait for input that may never come */
	if (tr_klocwork_parents_busy(&reader->parents) && tr_reader_is_idle(base)) {
		tr_klocwork_parents_settle(&reader->parents);
		return TR_END;
	}
	enum tr_status status = next_unit(reader, err);
	if (status == TR_END) {
		reader->ended = true;
		tr_klocwork_parents_settle(&reader->parents);
		return reader->blank.len ? read_blanks(reader, record, err) : TR_END;
	}
	if (status != TR_OK) {
		tr_error_at_line(err, ++base->lines);
		return status;
	}
	struct tr_text unit = { base->in->pos, reader->unit.length };
	if (reader->unit.type == GARBAGE) {
		/* the next call delivers it as a raw record */
		struct tr_error why = *err;
		tr_error_say_in(err, why.cause, why.pattern, "%s: kept as a raw record", why.text);
		tr_error_at_line(err, line_here(reader));
		status = read_raw(reader, tr_klocwork_unit_line(unit), why.text, NULL, &why);
		return status == TR_FATAL ? tr_error_memory(err) : TR_WARN;
	}
	if (reader->unit.type == OBJECT)
		return reader->object.kind == TR_KLOCWORK_EVENT ? read_event(reader, record, err)
								: read_context(reader, record, err);
	/* with --exact, a blank line belongs to the unit that follows */
	if (reader->exact)
		tr_buffer_put_text(&reader->blank, unit);
	if (reader->blank.failed)
		return tr_error_memory(err);
	base->lines += reader->unit.lines;
	tr_input_skip(base->in, unit.len);
	return TR_END;
}

/*
 * Delivers the record that is due: one that a message announced, then the first of the queue, then
 * the next unit.
 */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_arena_reset(&base->arena);
	enum tr_status status = tr_reader_due(base, record, err);
	while (status == TR_END) {
		struct tr_text line;
		const struct tr_klocwork_queued *queued =
			tr_klocwork_parents_take(&reader->parents, &line);
		if (queued)
			return deliver_queued(reader, queued, line, record, err);
		if (reader->ended)
			return tr_reader_note_orphans(base, reader->parents.orphans,
						      "events whose parent is not in the trace",
						      err);
		status = read_unit(reader, record, err);
	}
	return status;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_klocwork_object_free(&reader->object);
	tr_klocwork_parents_free(&reader->parents);
	tr_buffer_free(&reader->blank);
	tr_buffer_free(&reader->rendered);
}

/* Opens a reader; -O env-base states what env-diff is against, which the trace does not. */
static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct tr_text base = tr_setting_get(&config->settings, "env-base", "parent");
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	reader->exact = config->exact;
	reader->object.env_top = tr_text_is(base, "top");
	return &reader->base;
}

/* The result of reading the first lines for the bid. */
struct evidence {
	int bits;
	bool certain; /* no other format has this */
	bool foreign; /* there are objects that are not of a trace */
};

/* An id, an executable, and one more key of an event, which no other known JSON lines have. */
static bool is_event(const struct tr_klocwork_object *object)
{
	const struct tr_klocwork_piece *pieces = object->pieces;
	return pieces[TR_KLOCWORK_ID].len && pieces[TR_KLOCWORK_EXECUTABLE].len &&
	       (pieces[TR_KLOCWORK_ARGS].len || pieces[TR_KLOCWORK_WORK_DIR].len ||
		pieces[TR_KLOCWORK_PARENT_ID].len);
}

/*
 * Adds the evidence of one object; whole: it is not cut. Lines of a header could be those of
 * another JSON format, so alone they do not outweigh an object that is not of a trace.
 */
static void weigh(struct evidence *evidence, const struct tr_klocwork_object *object, bool whole)
{
	enum { BITS_VERSION = 20, BITS_HEADER = 10, BITS_EVENT = 30 };
	struct tr_text name = tr_klocwork_object_name(object);
	struct tr_text value = tr_klocwork_object_value(object);
	char first = value.data ? *value.data : 0;
	if (is_event(object)) {
		evidence->bits += BITS_EVENT;
		evidence->certain = true;
	} else if (name.data && tr_text_is(name, "version") && tr_is_digit(first)) {
		evidence->bits += BITS_VERSION;
		/* major * 100 + minor */
		evidence->certain |=
			value.len >= 3 && tr_is_digit(value.data[1]) && tr_is_digit(value.data[2]);
	} else if (name.data && ((tr_text_is(name, "creator") && first == '"') ||
				 (tr_text_is(name, "env") && first == '{'))) {
		evidence->bits += BITS_HEADER;
	} else if (whole) {
		evidence->foreign = true;
	}
}

/* Weighs the objects in the window as the reader would find them, and skips all else. */
static int weigh_lines(const char *p, const char *end, void *context)
{
	enum { ENOUGH = 60, BITS_UNSEEN = 1 };
	struct tr_klocwork_object *object = context;
	struct evidence evidence = { 0, false, false };
	p = skip_mark(p, end);
	while (p < end && evidence.bits < ENOUGH) {
		p = skip_filler(p, end);
		struct tr_json json = { p, end };
		struct tr_error err;
		tr_error_clear(&err);
		enum tr_json_token token = TR_JSON_BAD;
		if (p < end && *p == '{')
			token = tr_klocwork_object_read(object, &json, &err);
		/* the open that follows reports that memory is out */
		if (tr_error_is_memory(&err))
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
	return evidence.foreign && !evidence.certain ? 0 : evidence.bits;
}

/* Weighs the lines in the first bytes. Text of a build may come before the trace. */
static int bid(struct tr_input *in)
{
	enum { PROBE = 16 << 10 }; /* bytes of a build log that may come before a trace */
	struct tr_klocwork_object object = { .env_top = false };
	int bits = tr_bid_by_lines(in, PROBE, weigh_lines, &object);

	tr_klocwork_object_free(&object);
	return bits;
}

static const char *const extensions[] = { ".kw.json", ".kw.jsonl", NULL };

static const struct tr_format_option options[] = {
	{ "env-base", "parent|top", true, true,
	  "env-diff is relative to the parent's environment (default), or to the env line" },
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
	.open = open_reader,
	.create = tr_klocwork_create,
	.default_style = "tree",
};
