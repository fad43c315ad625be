#include <stdlib.h>
#include <string.h>

#include "format/klocwork/exact.h"
#include "format/klocwork/klocwork.h"
#include "format/klocwork/object.h"
#include "format/klocwork/parents.h"
#include "format/klocwork/unit.h"
#include "record/literal.h"

enum {
	IDLE = 1000,	      /* milliseconds: who has waited so long is not kept any longer */
	BLANKS_MAX = 1 << 20, /* blank lines kept for one record with --exact */
	VERSION_UNKNOWN = 200 /* 1.x is known, whatever x */
};

struct reader {
	struct tr_input *in;
	struct tr_limits limits;
	struct tr_klocwork_object object;
	struct tr_klocwork_spread spread;
	struct tr_klocwork_unit unit;
	struct tr_klocwork_parents parents;
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line; /* the record's */
	struct tr_klocwork_exact exact;
	uint64_t seq;
	uint64_t source_line; /* of the window's pos, from 1 */
	bool garbage;	      /* the unit in the window was reported and is due as a raw record */
	char reason[TR_ERROR_TEXT];
	bool odd_version; /* to be remarked upon */
	uint64_t odd_line;
	bool ended, told_orphans;
};

struct tr_reader *tr_klocwork_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	struct tr_text base = tr_setting_get(&config->settings, "env-base", "parent");
	reader->in = in;
	reader->limits = config->limits;
	tr_arena_limit(&reader->arena, config->limits.max_record);
	reader->exact.on = config->exact;
	reader->object.env_top = tr_text_is(base, "top");
	reader->source_line = 1;
	tr_klocwork_parents_init(&reader->parents);
	return (struct tr_reader *)reader;
}

void tr_klocwork_close(struct tr_reader *base)
{
	struct reader *reader = (struct reader *)base;
	tr_klocwork_object_free(&reader->object);
	tr_klocwork_parents_free(&reader->parents);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->line);
	tr_klocwork_exact_free(&reader->exact);
	free(reader);
}

/* Hands out reader->line, which is whole. */
static enum tr_status deliver(struct reader *reader, uint64_t source_line, uint64_t source_offset,
			      struct tr_record **record, struct tr_error *err)
{
	if (tr_record_from_buffer(&reader->record, &reader->arena, &reader->line, err) != TR_OK)
		return TR_FATAL;
	reader->record.source_line = source_line;
	reader->record.source_offset = source_offset;
	*record = &reader->record;
	return TR_OK;
}

static enum tr_status deliver_queued(struct reader *reader, const struct tr_klocwork_queued *queued,
				     struct tr_record **record, struct tr_error *err)
{
	uint64_t source_line = queued->source_line, source_offset = queued->source_offset;
	tr_buffer_reset(&reader->line);
	tr_klocwork_parents_take(&reader->parents, &reader->line);
	return deliver(reader, source_line, source_offset, record, err);
}

static struct tr_text unit_text(const struct reader *reader)
{
	return (struct tr_text){ reader->in->pos, reader->unit.length };
}

/* Steps over the unit. What is pointed to in the window is gone after that. */
static void consume(struct reader *reader)
{
	const struct tr_klocwork_unit *unit = &reader->unit;
	reader->exact.amid_line = unit->length && reader->in->pos[unit->length - 1] != '\n';
	reader->source_line += unit->lines;
	tr_input_skip(reader->in, unit->length);
	tr_buffer_reset(&reader->exact.blank);
}

static void add_raw(struct reader *reader, bool lossy)
{
	const struct tr_klocwork_unit *unit = &reader->unit;
	const char *pos = reader->in->pos;
	if (reader->exact.on)
		tr_klocwork_exact_add_raw(&reader->exact, unit_text(reader), &reader->line,
					  &reader->arena);
	else if (lossy)
		tr_klocwork_add_raw(tr_text_span(pos + unit->begin, pos + unit->end),
				    &reader->line);
}

/* The line is complete but for its LF: out with it, or behind those that wait. */
static enum tr_status pass_on(struct reader *reader, const struct tr_klocwork_queued *queued,
			      struct tr_text wanted, struct tr_record **record,
			      struct tr_error *err)
{
	bool queue = wanted.data || queued->orphan || tr_klocwork_parents_busy(&reader->parents);
	if (reader->line.failed)
		return tr_error_memory(err);
	if (queue && !tr_klocwork_parents_queue(&reader->parents, queued,
						tr_buffer_text(&reader->line), wanted))
		return tr_error_memory(err);
	consume(reader);
	if (queue)
		return TR_END; /* of this unit: nothing to hand out yet */
	tr_buffer_put_byte(&reader->line, '\n');
	return deliver(reader, queued->source_line, queued->source_offset, record, err);
}

static struct tr_klocwork_queued here(const struct reader *reader)
{
	return (struct tr_klocwork_queued){ .seq = reader->seq,
					    .source_line = reader->source_line,
					    .source_offset =
						    reader->in->offset + reader->unit.begin,
					    .parent = TR_NO_POSITION,
					    .weight = reader->unit.length };
}

static enum tr_status read_event(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	const struct tr_klocwork_object *object = &reader->object;
	struct tr_klocwork_parents *parents = &reader->parents;
	struct tr_klocwork_queued queued = here(reader);
	struct tr_text none = { NULL, 0 };
	struct tr_text id = tr_klocwork_object_piece(object, object->id);
	struct tr_text parent_id = tr_klocwork_object_piece(object, object->parent_id);
	struct tr_klocwork_parent parent = tr_klocwork_parents_find(parents, id, parent_id);
	if (!tr_klocwork_parents_event(parents, id, reader->seq, &parent))
		return tr_error_memory(err);
	/* a line that goes out at once needs no gaps to be filled later */
	bool at_once = !parent.waits && !parent.orphan && !tr_klocwork_parents_busy(parents);
	tr_buffer_reset(&reader->line);
	tr_klocwork_object_line(object, reader->seq++, at_once ? parent.seq : TR_NO_POSITION,
				&reader->line, &queued.gaps);
	add_raw(reader, object->lossy);
	queued.parent = parent.seq;
	queued.orphan = parent.orphan;
	return pass_on(reader, &queued, parent.waits ? parent_id : none, record, err);
}

/* 1.x is what is known; anything else is remarked upon, and read all the same. */
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

static enum tr_status read_context(struct reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	const struct tr_klocwork_object *object = &reader->object;
	struct tr_text name = tr_klocwork_object_name(object), none = { NULL, 0 };
	struct tr_klocwork_queued queued = here(reader);
	bool version = name.data && tr_text_is(name, "version");
	if (version && !is_known_version(tr_klocwork_object_value(object))) {
		reader->odd_version = true;
		reader->odd_line = reader->source_line;
	}
	if (version || (name.data && (tr_text_is(name, "creator") || tr_text_is(name, "env"))))
		tr_klocwork_parents_scope(&reader->parents, !version);
	tr_buffer_reset(&reader->line);
	tr_klocwork_object_line(object, reader->seq++, TR_NO_POSITION, &reader->line, &queued.gaps);
	add_raw(reader, object->lossy);
	return pass_on(reader, &queued, none, record, err);
}

/* A raw record for the unit. text: the line in it. */
static enum tr_status read_raw(struct reader *reader, struct tr_text text, const char *reason,
			       struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &reader->line;
	struct tr_text none = { NULL, 0 };
	struct tr_klocwork_queued queued = here(reader);
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "raw\t");
	tr_buffer_put_decimal(line, reader->seq++);
	tr_buffer_put_literal(line, "\t-\t-\t-\ttext=\"");
	tr_string_escape(text, line);
	tr_buffer_put_literal(line, "\"\treason=\"");
	tr_string_escape(tr_text_from(reason), line);
	tr_buffer_put_byte(line, '"');
	queued.gaps = (struct tr_klocwork_gaps){ line->len, line->len };
	add_raw(reader, false);
	return pass_on(reader, &queued, none, record, err);
}

/* --exact: blank lines that no unit follows, or too many for one. */
static enum tr_status read_blanks(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	reader->unit.length = 0;
	reader->unit.lines = 0;
	return read_raw(reader, tr_klocwork_unit_line(tr_buffer_text(&reader->exact.blank)),
			"blank lines", record, err);
}

/* A blank line: with --exact it belongs to the unit that follows. */
static enum tr_status take_blank(struct reader *reader, struct tr_error *err)
{
	struct tr_text text = unit_text(reader);
	if (reader->exact.on)
		tr_buffer_put_text(&reader->exact.blank, text);
	if (reader->exact.blank.failed)
		return tr_error_memory(err);
	reader->source_line += reader->unit.lines;
	tr_input_skip(reader->in, text.len);
	return TR_END;
}

/* The line is reported now and handed out with the next call. */
static enum tr_status report_garbage(struct reader *reader, struct tr_error *err)
{
	reader->garbage = true;
	memcpy(reader->reason, err->text, sizeof reader->reason);
	tr_error_say_in(err, TR_CAUSE_INPUT, err->pattern, "%s: kept as a raw record",
			reader->reason);
	tr_error_at_line(err, reader->source_line);
	return TR_WARN;
}

/*
 * A record that waits for its parent must not wait for input that may never
 * come. The time is so long that no pipe from a program at work reaches it.
 */
static bool settle_when_idle(struct reader *reader)
{
	const struct tr_input *in = reader->in;
	size_t available = tr_input_available(in);
	if (!reader->parents.waiting || (available && memchr(in->pos, '\n', available)) ||
	    !tr_input_idle(reader->in, IDLE))
		return false;
	tr_klocwork_parents_settle(&reader->parents);
	return true;
}

/* One unit. TR_END: it gave nothing to hand out (yet). */
static enum tr_status read_unit(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	if (reader->exact.blank.len > BLANKS_MAX)
		return read_blanks(reader, record, err);
	if (reader->garbage) {
		reader->garbage = false;
		struct tr_text line = tr_klocwork_unit_line(unit_text(reader));
		return read_raw(reader, line, reader->reason, record, err);
	}
	if (settle_when_idle(reader))
		return TR_END;
	enum tr_status status = tr_klocwork_unit_next(reader->in, &reader->limits, &reader->object,
						      &reader->spread, &reader->unit, err);
	if (status == TR_END) {
		reader->ended = true;
		tr_klocwork_parents_settle(&reader->parents);
		return reader->exact.blank.len ? read_blanks(reader, record, err) : TR_END;
	}
	if (status != TR_OK) {
		tr_error_at_line(err, reader->source_line++);
		return status;
	}
	switch (reader->unit.type) {
	case TR_KLOCWORK_BLANK:
		return take_blank(reader, err);
	case TR_KLOCWORK_GARBAGE:
		return report_garbage(reader, err);
	default:
		return reader->object.kind == TR_KLOCWORK_EVENT ? read_event(reader, record, err)
								: read_context(reader, record, err);
	}
}

/* Remarks that are due: TR_WARN, else TR_OK. */
static enum tr_status remark(struct reader *reader, struct tr_error *err)
{
	if (reader->odd_version) {
		reader->odd_version = false;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "not a version 1.x trace: read as one all the same");
		tr_error_is_note(err);
		tr_error_at_line(err, reader->odd_line);
		return TR_WARN;
	}
	return TR_OK;
}

static enum tr_status end(struct reader *reader, struct tr_error *err)
{
	uint64_t orphans = reader->parents.orphans;
	if (!orphans || reader->told_orphans)
		return TR_END;
	reader->told_orphans = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "events whose parent is not in the trace (flagged \"orphan\"): %llu",
		     (unsigned long long)orphans);
	tr_error_is_note(err);
	return TR_WARN;
}

enum tr_status tr_klocwork_next(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = (struct reader *)base;
	tr_arena_reset(&reader->arena);
	enum tr_status status = remark(reader, err);
	if (status != TR_OK)
		return status;
	for (;;) {
		struct tr_klocwork_queued *queued = tr_klocwork_parents_ready(&reader->parents);
		if (queued)
			return deliver_queued(reader, queued, record, err);
		if (reader->ended)
			return end(reader, err);
		status = read_unit(reader, record, err);
		if (status != TR_END)
			return status;
	}
}
