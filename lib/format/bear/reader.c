#include <stdlib.h>

#include "format/bear/bear.h"
#include "format/bear/processes.h"
#include "record/json_items.h"
#include "record/literal.h"

struct tr_reader {
	struct tr_json_items items;
	struct tr_bear_processes processes;
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line, extra, text;
	uint64_t seq, source_line;
	bool strip, headed;
	bool stranger; /* line is a raw record that was reported and not handed out yet */
};

enum { MOST = 1 << 20, BITS = 50, BITS_CUT = 25 };

/* The members of an object that matter, and those of the objects in it. */
struct event {
	struct tr_json_member *members, *started, *execution;
	size_t count, started_count, execution_count;
	const struct tr_json_member *rid, *timestamp, *pid, *ppid;
	const struct tr_json_member *terminated, *signalled;
};

static const struct tr_json_member *typed(const struct tr_json_member *members, size_t count,
					  const char *key, enum tr_json_token type)
{
	const struct tr_json_member *member = tr_json_member_find(members, count, key);

	return member && member->type == type ? member : NULL;
}

/* False: memory is out. */
static bool open_execution(struct event *event, const struct tr_json_member *in, size_t count,
			   struct tr_arena *arena)
{
	const struct tr_json_member *execution = typed(in, count, "execution", TR_JSON_OBJECT);

	event->pid = typed(in, count, "pid", TR_JSON_NUMBER);
	event->ppid = typed(in, count, "ppid", TR_JSON_NUMBER);
	return !execution ||
	       tr_json_members(execution->value, arena, &event->execution, &event->execution_count);
}

static bool open_event(struct event *event, struct tr_text object, struct tr_arena *arena)
{
	*event = (struct event){ 0 };
	if (!tr_json_members(object, arena, &event->members, &event->count))
		return false;
	event->rid = typed(event->members, event->count, "rid", TR_JSON_STRING);
	event->timestamp = typed(event->members, event->count, "timestamp", TR_JSON_STRING);
	event->terminated = typed(event->members, event->count, "terminated", TR_JSON_OBJECT);
	event->signalled = typed(event->members, event->count, "signalled", TR_JSON_OBJECT);
	const struct tr_json_member *started =
		typed(event->members, event->count, "started", TR_JSON_OBJECT);
	if (!started)
		return open_execution(event, event->members, event->count, arena);
	return tr_json_members(started->value, arena, &event->started, &event->started_count) &&
	       open_execution(event, event->started, event->started_count, arena);
}

static bool is_execution(const struct event *event)
{
	return typed(event->execution, event->execution_count, "executable", TR_JSON_STRING) ||
	       typed(event->execution, event->execution_count, "arguments", TR_JSON_ARRAY);
}

int tr_bear_bid(struct tr_input *in)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_text object;
	struct event event;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &object))
		return 0;
	/* not no where memory is out: to open it is what can say so */
	if (!open_event(&event, object, &arena))
		bits = 1;
	else if (is_execution(&event) && event.pid)
		bits = BITS;
	else if (event.rid && (event.terminated || event.signalled || event.timestamp))
		bits = BITS;
	/* an execution that is cut: nobody else's object begins like that */
	else if (event.rid && event.count == 1 && object.len > 0 &&
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
	reader->processes = (struct tr_bear_processes)TR_BEAR_PROCESSES_INIT;
	reader->strip = tr_text_is(intercept, "strip");
	return reader;
}

void tr_bear_close(struct tr_reader *reader)
{
	tr_bear_processes_free(&reader->processes);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->line);
	tr_buffer_free(&reader->extra);
	tr_buffer_free(&reader->text);
	free(reader);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

/* Hands out the line. */
static enum tr_status deliver(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	struct tr_buffer *line = &reader->line;

	tr_buffer_put_byte(line, '\n');
	/* whoever scans the line with wide loads finds readable bytes behind it */
	if (!tr_buffer_room(line, TR_INPUT_PAD) || reader->extra.failed || reader->text.failed)
		return out_of_memory(err);
	tr_record_init(&reader->record, &reader->arena);
	if (!tr_record_from_line(&reader->record, tr_buffer_text(line), err))
		return TR_FATAL;
	reader->record.canonical = true;
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

static bool put_value(struct tr_text value, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_json json = { value.data, value.data + value.len };
	enum tr_json_token token = tr_json_spell(&json, to, NULL, err);

	return token != TR_JSON_BAD && token != TR_JSON_CUT;
}

static bool put_field(const char *key, const struct tr_json_member *member, struct tr_buffer *to,
		      struct tr_error *err)
{
	if (!member)
		return true;
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_byte(to, '=');
	return put_value(member->value, to, err);
}

/* Members of a level that the record's fields do not have. */
static bool put_others(struct tr_reader *reader, const struct tr_json_member *members, size_t count,
		       const char *const *known, struct tr_error *err)
{
	struct tr_buffer *extra = &reader->extra;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;
		while (known[k] && !tr_text_is(members[i].key, known[k]))
			k++;
		if (known[k])
			continue;
		tr_buffer_put_literal(extra, ",\"");
		tr_json_string_to_spelling(members[i].key, extra);
		tr_buffer_put_literal(extra, "\":");
		if (!put_value(members[i].value, extra, err))
			return false;
	}
	return true;
}

static bool put_extra(struct tr_reader *reader, const struct event *event, struct tr_error *err)
{
	static const char *const event_keys[] = { "rid",       "started",   "terminated",
						  "signalled", "pid",	    "ppid",
						  "execution", "timestamp", NULL };
	static const char *const started_keys[] = { "execution", "pid", "ppid", NULL };
	static const char *const execution_keys[] = { "executable", "arguments", "working_dir",
						      "environment", NULL };

	tr_buffer_reset(&reader->extra);
	if (!put_others(reader, event->members, event->count, event_keys, err) ||
	    !put_others(reader, event->started, event->started_count, started_keys, err) ||
	    !put_others(reader, event->execution, event->execution_count, execution_keys, err))
		return false;
	/* a time that would come back otherwise */
	tr_buffer_reset(&reader->text);
	if (event->timestamp && !tr_bear_time_read(body(event->timestamp), &reader->text)) {
		tr_buffer_put_literal(&reader->extra, ",\"timestamp\":");
		if (!put_value(event->timestamp->value, &reader->extra, err))
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
static void put_columns(struct tr_reader *reader, const char *kind, const struct event *event,
			struct tr_text task)
{
	struct tr_buffer *line = &reader->line;

	tr_buffer_reset(line);
	tr_buffer_put_text(line, tr_text_from(kind));
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_decimal(line, reader->seq++);
	tr_buffer_put_byte(line, '\t');
	if (!event->timestamp || !tr_bear_time_read(body(event->timestamp), line))
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
	if (task.data)
		tr_buffer_put_text(line, task);
	else
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
}

static bool put_environment(struct tr_reader *reader, const struct event *event,
			    struct tr_error *err)
{
	const struct tr_json_member *environment =
		typed(event->execution, event->execution_count, "environment", TR_JSON_OBJECT);

	if (!environment)
		return true;
	tr_buffer_put_literal(&reader->line, "\tenv=");
	return tr_bear_environment(environment->value, reader->strip, &reader->arena, &reader->line,
				   err);
}

/* The event's time in seconds; empty where it has none. */
static struct tr_text time_of(struct tr_reader *reader, const struct event *event)
{
	tr_buffer_reset(&reader->text);
	if (event->timestamp && !tr_bear_time_read(body(event->timestamp), &reader->text))
		tr_buffer_reset(&reader->text);
	return tr_buffer_text(&reader->text);
}

static bool put_execution(struct tr_reader *reader, const struct event *event, struct tr_error *err)
{
	const struct tr_json_member *executable =
		typed(event->execution, event->execution_count, "executable", TR_JSON_STRING);
	const struct tr_json_member *cwd =
		typed(event->execution, event->execution_count, "working_dir", TR_JSON_STRING);
	const struct tr_json_member *argv =
		typed(event->execution, event->execution_count, "arguments", TR_JSON_ARRAY);
	struct tr_buffer *line = &reader->line;
	uint64_t parent;

	if (executable)
		tr_json_string_to_cell(body(executable), line);
	else
		tr_buffer_put_byte(line, '-');
	if (event->ppid && tr_bear_processes_find(&reader->processes, event->ppid->value,
						  time_of(reader, event), &parent)) {
		tr_buffer_put_literal(line, "\tparent=");
		tr_buffer_put_decimal(line, parent);
	}
	if (!put_field("ppid", event->ppid, line, err) || !put_field("cwd", cwd, line, err) ||
	    !put_field("argv", argv, line, err) || !put_environment(reader, event, err) ||
	    !put_field("rid", event->rid, line, err))
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
	return put_field(key, &number, &reader->line, err);
}

static bool put_exit(struct tr_reader *reader, const struct event *event, struct tr_error *err)
{
	tr_buffer_put_byte(&reader->line, '-');
	if (event->terminated && !put_number("status", event->terminated, "status", reader, err))
		return false;
	if (event->signalled && !put_number("signal", event->signalled, "number", reader, err))
		return false;
	return put_field("rid", event->rid, &reader->line, err) && put_extra(reader, event, err);
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
	tr_error_set(err, TR_CAUSE_INPUT, "%s: kept as a raw record", why);
	tr_error_at_line(err, reader->source_line);
	return TR_WARN;
}

static enum tr_status make_record(struct tr_reader *reader, struct tr_text object,
				  const struct event *event, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_text task = { NULL, 0 };
	uint64_t seq = reader->seq;
	bool done;

	if (is_execution(event)) {
		if (event->pid)
			task = event->pid->value;
		put_columns(reader, "exec", event, task);
		done = put_execution(reader, event, err);
		if (done && task.data &&
		    !tr_bear_processes_start(&reader->processes,
					     event->rid ? body(event->rid) : TR_TEXT(""), task,
					     seq))
			return out_of_memory(err);
	} else if (event->rid && (event->terminated || event->signalled)) {
		if (!tr_bear_processes_end(&reader->processes, body(event->rid),
					   time_of(reader, event), &task))
			task.data = NULL;
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
	return report(reader, object, "an event with a value that no record can hold", err);
}

enum tr_status tr_bear_next(struct tr_reader *reader, struct tr_record **record,
			    struct tr_error *err)
{
	struct tr_text object;
	struct event event;

	if (reader->stranger) {
		reader->stranger = false;
		return deliver(reader, record, err);
	}
	tr_arena_reset(&reader->arena);
	if (!reader->headed) {
		unsigned version = 3;
		if (tr_json_items_peek(reader->items.in, MOST, &object)) {
			if (!open_event(&event, object, &reader->arena))
				return out_of_memory(err);
			version = is_execution(&event) && !event.started ? 4 : 3;
		}
		return give_header(reader, version, record, err);
	}
	enum tr_status status =
		tr_json_items_next(&reader->items, &object, &reader->source_line, err);
	if (status != TR_OK)
		return status;
	if (!open_event(&event, object, &reader->arena))
		return out_of_memory(err);
	return make_record(reader, object, &event, record, err);
}
