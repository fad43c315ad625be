#include <stdlib.h>

#include "format/bear/bear.h"
#include "format/bear/event.h"
#include "process/recent.h"
#include "record/literal.h"

struct tr_reader {
	struct tr_json_items items;
	struct tr_recent running; /* by pid: the seq of what it executes */
	struct tr_recent pids;	  /* by rid */
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line, extra, text;
	uint64_t seq, source_line;
	bool strip, headed;
	bool odd_time; /* of the event: it would come back otherwise */
	bool stranger; /* line is a raw record that was reported and not handed out yet */
};

enum { MOST = 1 << 20, BITS = 50, BITS_CUT = 25 };

int tr_bear_bid(struct tr_input *in)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_text object;
	struct tr_bear_event event;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &object))
		return 0;
	/* not no where memory is out: to open it is what can say so */
	if (!tr_bear_event_open(&event, object, &arena))
		bits = 1;
	else if (tr_bear_is_execution(&event) && event.pid)
		bits = BITS;
	else if (event.rid && (event.terminated || event.signalled || event.timestamp))
		bits = BITS;
	/* an execution that is cut: nobody else's object begins like that */
	else if (event.rid && event.top.count == 1 && object.len > 0 &&
		 object.data[object.len - 1] != '}')
		bits = BITS_CUT;
	tr_arena_free(&arena);
	return bits;
}

struct tr_reader *tr_bear_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err)
{
	struct tr_text intercept = tr_setting_get(&config->settings, "intercept", "strip");
	struct tr_reader *reader = calloc(1, sizeof *reader);

	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	tr_json_items_init(&reader->items, in, true);
	reader->strip = tr_text_is(intercept, "strip");
	return reader;
}

void tr_bear_close(struct tr_reader *reader)
{
	tr_recent_free(&reader->running);
	tr_recent_free(&reader->pids);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->line);
	tr_buffer_free(&reader->extra);
	tr_buffer_free(&reader->text);
	free(reader);
}

/* Hands out the line. */
static enum tr_status deliver(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	tr_buffer_put_byte(&reader->line, '\n');
	reader->line.failed |= reader->extra.failed || reader->text.failed;
	if (tr_record_from_buffer(&reader->record, &reader->arena, &reader->line, err) != TR_OK)
		return TR_FATAL;
	reader->record.source_line = reader->source_line;
	*record = &reader->record;
	return TR_OK;
}

static enum tr_status give_header(struct tr_reader *reader, unsigned version,
				  struct tr_record **record, struct tr_error *err)
{
	tr_buffer_reset(&reader->line);
	tr_buffer_put_literal(&reader->line, "%trec\t1\tversion=");
	tr_buffer_put_decimal(&reader->line, version);
	reader->headed = true;
	enum tr_status status = deliver(reader, record, err);
	return status == TR_OK ? tr_record_split(*record, err) : status;
}

/* What stands between the quotes of a string's text. */
static struct tr_text body(const struct tr_json_member *member)
{
	return (struct tr_text){ member->value.data + 1, member->value.len - 2 };
}

static bool put_extra(struct tr_reader *reader, const struct tr_bear_event *event,
		      struct tr_error *err)
{
	tr_buffer_reset(&reader->extra);
	if (!tr_bear_event_others(event, &reader->extra, err))
		return false;
	if (reader->odd_time) {
		tr_buffer_put_literal(&reader->extra, ",\"timestamp\":");
		if (!tr_json_put_value(event->timestamp->value, &reader->extra, err))
			return false;
	}
	if (!reader->extra.len)
		return true;
	tr_buffer_put_literal(&reader->line, "\textra={");
	tr_buffer_put(&reader->line, reader->extra.data + 1, reader->extra.len - 1);
	tr_buffer_put_byte(&reader->line, '}');
	return true;
}

/* Kind, seq, time, task. */
static void put_columns(struct tr_reader *reader, const char *kind,
			const struct tr_bear_event *event, struct tr_text task)
{
	struct tr_buffer *line = &reader->line;

	tr_buffer_reset(line);
	tr_buffer_put_text(line, tr_text_from(kind));
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_decimal(line, reader->seq++);
	tr_buffer_put_byte(line, '\t');
	reader->odd_time = event->timestamp && !tr_bear_time_read(body(event->timestamp), line);
	if (!event->timestamp || reader->odd_time)
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
	if (task.data)
		tr_buffer_put_text(line, task);
	else
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
}

static bool put_environment(struct tr_reader *reader, const struct tr_bear_event *event,
			    struct tr_error *err)
{
	if (!event->environment)
		return true;
	tr_buffer_put_literal(&reader->line, "\tenv=");
	return tr_bear_environment(event->environment->value, reader->strip, &reader->arena,
				   &reader->line, err);
}

/* A number that stands in a string, or by itself. */
static bool number_of(struct tr_text text, uint64_t *number)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = text };

	return text.len && tr_cell_number(&cell, number);
}

/* What the parent executes; a number that comes again, after its process has ended, is nobody's. */
static bool find_parent(struct tr_reader *reader, const struct tr_bear_event *event, uint64_t *seq)
{
	uint64_t pid;

	return event->ppid && number_of(event->ppid->value, &pid) &&
	       tr_recent_find(&reader->running, pid, seq) && *seq != TR_NO_POSITION;
}

/* False: memory is out. */
static bool begin_process(struct tr_reader *reader, const struct tr_bear_event *event, uint64_t seq)
{
	uint64_t pid, rid;

	/* version 4 tells neither parents nor ends */
	if (!event->started || !event->pid || !number_of(event->pid->value, &pid))
		return true;
	if (event->rid && number_of(body(event->rid), &rid) &&
	    !tr_recent_put(&reader->pids, rid, pid))
		return false;
	return tr_recent_put(&reader->running, pid, seq);
}

/* The process that ends, as a cell; data NULL: not known. False: memory is out. */
static bool end_process(struct tr_reader *reader, const struct tr_bear_event *event,
			struct tr_text *task)
{
	uint64_t pid, rid;

	*task = (struct tr_text){ NULL, 0 };
	if (!number_of(body(event->rid), &rid) || !tr_recent_find(&reader->pids, rid, &pid))
		return true;
	tr_buffer_reset(&reader->text);
	tr_buffer_put_decimal(&reader->text, pid);
	*task = tr_arena_copy(&reader->arena, tr_buffer_text(&reader->text));
	return task->data && tr_recent_put(&reader->running, pid, TR_NO_POSITION);
}

static bool put_execution(struct tr_reader *reader, const struct tr_bear_event *event,
			  struct tr_error *err)
{
	struct tr_buffer *line = &reader->line;
	uint64_t parent;

	if (event->executable)
		tr_json_string_to_cell(body(event->executable), line);
	else
		tr_buffer_put_byte(line, '-');
	if (find_parent(reader, event, &parent)) {
		tr_buffer_put_literal(line, "\tparent=");
		tr_buffer_put_decimal(line, parent);
	}
	if (!tr_json_put_field("ppid", event->ppid, line, err) ||
	    !tr_json_put_field("cwd", event->working_dir, line, err) ||
	    !tr_json_put_field("argv", event->arguments, line, err) ||
	    !put_environment(reader, event, err) ||
	    !tr_json_put_field("rid", event->rid, line, err))
		return false;
	/* version 4 keeps what compilers look at */
	if (!event->started)
		tr_buffer_put_literal(line, "\tflagged=[\"env-trimmed\"]");
	return put_extra(reader, event, err);
}

/* An integer, or the string that version 3 makes of it. */
static bool put_number(const char *key, const struct tr_json_member *object, const char *member_key,
		       struct tr_reader *reader, struct tr_error *err)
{
	struct tr_json_member *members;
	size_t count;

	if (!tr_json_members(object->value, &reader->arena, &members, &count)) {
		tr_error_memory(err);
		return false;
	}
	const struct tr_json_member *member = tr_json_member_find(members, count, member_key);
	if (!member)
		return true;
	struct tr_json_member number = *member;
	if (member->type == TR_JSON_STRING && member->value.len > 2) {
		struct tr_json json = { member->value.data + 1,
					member->value.data + member->value.len - 1 };
		struct tr_text text;
		if (tr_json_next(&json, &text) == TR_JSON_NUMBER && json.pos == json.end)
			number.value = text;
	}
	return tr_json_put_field(key, &number, &reader->line, err);
}

static bool put_exit(struct tr_reader *reader, const struct tr_bear_event *event,
		     struct tr_error *err)
{
	tr_buffer_put_byte(&reader->line, '-');
	if (event->terminated && !put_number("status", event->terminated, "status", reader, err))
		return false;
	if (event->signalled && !put_number("signal", event->signalled, "number", reader, err))
		return false;
	return tr_json_put_field("rid", event->rid, &reader->line, err) &&
	       put_extra(reader, event, err);
}

/* The object becomes a raw record, which is handed out after this was told. */
static enum tr_status report(struct tr_reader *reader, struct tr_text object, const char *why,
			     struct tr_error *err)
{
	struct tr_buffer *line = &reader->line;

	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "raw\t");
	tr_buffer_put_decimal(line, reader->seq++);
	tr_buffer_put_literal(line, "\t-\t-\t-\ttext=\"");
	tr_string_escape(object, line);
	tr_buffer_put_literal(line, "\"\treason=\"");
	tr_buffer_put_text(line, tr_text_from(why));
	tr_buffer_put_byte(line, '"');
	reader->stranger = true;
	tr_error_say_in(err, TR_CAUSE_INPUT, why, "%s: kept as a raw record", why);
	tr_error_at_line(err, reader->source_line);
	return TR_WARN;
}

static enum tr_status make_record(struct tr_reader *reader, struct tr_text object,
				  const struct tr_bear_event *event, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_text task = { NULL, 0 };
	uint64_t seq = reader->seq;
	bool done;

	if (tr_bear_is_execution(event)) {
		if (event->pid)
			task = event->pid->value;
		put_columns(reader, "exec", event, task);
		done = put_execution(reader, event, err);
		if (done && !begin_process(reader, event, seq))
			return tr_error_memory(err);
	} else if (event->rid && (event->terminated || event->signalled)) {
		if (!end_process(reader, event, &task))
			return tr_error_memory(err);
		put_columns(reader, "exit", event, task);
		done = put_exit(reader, event, err);
	} else {
		return report(reader, object, "no event of Bear's", err);
	}
	if (done)
		return deliver(reader, record, err);
	if (err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	reader->seq = seq;
	return report(reader, object, "an event that is not as Bear writes it", err);
}

enum tr_status tr_bear_next(struct tr_reader *reader, struct tr_record **record,
			    struct tr_error *err)
{
	struct tr_text object;
	struct tr_bear_event event;

	if (reader->stranger) {
		reader->stranger = false;
		return deliver(reader, record, err);
	}
	tr_arena_reset(&reader->arena);
	if (!reader->headed) {
		unsigned version = 3;
		if (tr_json_items_peek(reader->items.in, MOST, &object)) {
			if (!tr_bear_event_open(&event, object, &reader->arena))
				return tr_error_memory(err);
			version = tr_bear_is_execution(&event) && !event.started ? 4 : 3;
		}
		return give_header(reader, version, record, err);
	}
	enum tr_status status =
		tr_json_items_next(&reader->items, &object, &reader->source_line, err);
	if (status != TR_OK)
		return status;
	if (!tr_bear_event_open(&event, object, &reader->arena))
		return tr_error_memory(err);
	return make_record(reader, object, &event, record, err);
}
