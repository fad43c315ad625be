/* SPDX-License-Identifier: MIT */
/*
 * The format bear, and its reader: objects out of the window (record/json.h), the members that
 * matter at each of their levels (struct event), the environment without what Bear has added, and
 * the record.
 */
#include "core/date.h"
#include "core/map.h"
#include "format/bear/bear.h"
#include "format/reader_base.h"
#include "process/path.h"
#include "record/json.h"
#include "record/literal.h"

/* An object and the members that matter; NULL: absent, or of another type. */
struct event {
	struct tr_json_object top, in_started, in_execution, in_end;
	const struct tr_json_member *rid, *timestamp, *started;
	const struct tr_json_member *end; /* `terminated` or `signalled` */
	const struct tr_json_member *status, *signal;
	/* in started; at the top in version 4 */
	const struct tr_json_member *execution, *pid, *ppid;
	const struct tr_json_member *executable, *arguments, *working_dir, *environment;
};

/* The event begins an execution. */
static bool is_execution(const struct event *event)
{
	return event->executable || event->arguments;
}

/* Sets the object that a member is; it is empty if the member is not there. */
static void open_member(struct tr_json_object *object, const struct tr_json_member *member)
{
	object->members = member ? member->members : NULL;
	object->count = member ? member->count : 0;
}

/*
 * The object's text has TR_INPUT_PAD after it; environments: the recent ones, or NULL. False:
 * memory is exhausted.
 */
static bool open_event(struct event *event, struct tr_text text,
		       const struct tr_json_recent *environments, struct tr_arena *arena)
{
	struct tr_json_object *top = &event->top, *outside = top, *in = &event->in_execution;

	*event = (struct event){ .rid = NULL };
	/* `started` and the execution in it, but not the environment */
	if (!tr_json_members_deep(text, 2, environments, arena, &top->members, &top->count))
		return false;
	event->rid = tr_json_take(top, "rid", TR_JSON_STRING);
	event->timestamp = tr_json_take(top, "timestamp", TR_JSON_STRING);
	event->started = tr_json_take(top, "started", TR_JSON_OBJECT);
	if (event->started) {
		outside = &event->in_started;
		open_member(outside, event->started);
	}
	event->pid = tr_json_take(outside, "pid", TR_JSON_NUMBER);
	event->ppid = tr_json_take(outside, "ppid", TR_JSON_NUMBER);
	event->execution = tr_json_take(outside, "execution", TR_JSON_OBJECT);
	open_member(in, event->execution);
	event->executable = tr_json_take(in, "executable", TR_JSON_STRING);
	event->arguments = tr_json_take(in, "arguments", TR_JSON_ARRAY);
	event->working_dir = tr_json_take(in, "working_dir", TR_JSON_STRING);
	event->environment = tr_json_take(in, "environment", TR_JSON_OBJECT);
	/* an event that begins an execution does not end it, and there is one reason for an end */
	if (is_execution(event))
		return true;
	event->end = tr_json_take(top, "terminated", TR_JSON_OBJECT);
	bool exits = event->end;
	if (!exits)
		event->end = tr_json_take(top, "signalled", TR_JSON_OBJECT);
	open_member(&event->in_end, event->end);
	if (exits)
		event->status = tr_json_take(&event->in_end, "status", TR_JSON_STRING);
	else
		event->signal = tr_json_take(&event->in_end, "number", TR_JSON_NUMBER);
	return true;
}

/*
 * Appends ,"key":VALUE for each member that has no field. False: a value that no record can hold,
 * one of Bear's keys with a value of another type or at another level, or memory is exhausted.
 */
static bool put_others(const struct tr_json_object *object, struct tr_buffer *to,
		       struct tr_error *err)
{
	static const struct tr_text keys[] = {
		TR_TEXT("rid"),	      TR_TEXT("timestamp"),   TR_TEXT("terminated"),
		TR_TEXT("signalled"), TR_TEXT("started"),     TR_TEXT("execution"),
		TR_TEXT("pid"),	      TR_TEXT("ppid"),	      TR_TEXT("executable"),
		TR_TEXT("arguments"), TR_TEXT("working_dir"), TR_TEXT("environment"),
	};

	if (object->taken_count == object->count)
		return true;
	for (size_t i = 0; i < object->count; i++) {
		if (tr_json_is_taken(object, &object->members[i]))
			continue;
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			if (tr_text_equal(object->members[i].key, keys[k])) {
				tr_error_set(err, TR_CAUSE_INPUT,
					     "a key of Bear in the wrong place");
				return false;
			}
	}
	return tr_json_put_others(object, to, err);
}

/* Bear's preloaded library, by its folder or its name. */
static bool is_library(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	if (tr_text_is(base, "libear.so") || tr_text_is(base, "libintercept-preload.so"))
		return true;
	struct tr_text ending = TR_TEXT("/bear/libexec.so");
	return path.len >= ending.len &&
	       memcmp(path.data + path.len - ending.len, ending.data, ending.len) == 0;
}

/* The next library of a list separated by colons or blanks; data NULL: none is left. */
static struct tr_text next_library(struct tr_text *list)
{
	const char *p = list->data, *end = p + list->len, *q;

	while (p < end && (*p == ':' || *p == ' '))
		p++;
	for (q = p; q < end && *q != ':' && *q != ' ';)
		q++;
	*list = tr_text_span(q, end);
	return q > p ? tr_text_span(p, q) : (struct tr_text){ NULL, 0 };
}

/* Appends LD_PRELOAD without Bear's library. False: nothing is left. */
static bool put_preload(struct tr_text list, struct tr_buffer *to)
{
	struct tr_text library;
	bool any = false;

	while ((library = next_library(&list)).data) {
		if (is_library(library))
			continue;
		if (any)
			tr_buffer_put_byte(to, ':');
		any = true;
		tr_json_string_to_spelling(library, to);
	}
	return any;
}

/* True if the list has Bear's library. */
static bool has_library(struct tr_text list)
{
	struct tr_text library;

	while ((library = next_library(&list)).data)
		if (is_library(library))
			return true;
	return false;
}

/* The text between the quotes of a string. */
static struct tr_text body(const struct tr_json_member *member)
{
	return (struct tr_text){ member->value.data + 1, member->value.len - 2 };
}

/* The variable is LD_PRELOAD and contains Bear's library. */
static bool is_preload(const struct tr_json_member *member)
{
	return tr_text_is(member->key, "LD_PRELOAD") && member->type == TR_JSON_STRING &&
	       !memchr(member->value.data, '\\', member->value.len) && has_library(body(member));
}

/* Appends a variable, but none of Bear's own. */
static bool put_variable(const struct tr_json_member *member, bool *any, struct tr_buffer *to,
			 struct tr_error *err)
{
	size_t begin = to->len;
	bool kept = true;

	if (tr_text_starts(member->key, TR_TEXT("INTERCEPT_")))
		return true;
	if (*any)
		tr_buffer_put_byte(to, ',');
	tr_buffer_put_byte(to, '"');
	tr_json_string_to_spelling(member->key, to);
	tr_buffer_put_literal(to, "\":");
	if (is_preload(member)) {
		tr_buffer_put_byte(to, '"');
		kept = put_preload(body(member), to);
		tr_buffer_put_byte(to, '"');
	} else if (!tr_json_put_value(member->value, to, err)) {
		return false;
	}
	if (!kept && !to->failed)
		to->len = begin;
	*any |= kept;
	return true;
}

/* False if Bear's interception has neither added nor changed a variable. */
static bool may_be_intercepted(struct tr_text environment)
{
	static const char intercept[] = "INTERCEPT_", preload[] = "LD_PRELOAD";

	return memmem(environment.data, environment.len, intercept, sizeof intercept - 1) ||
	       memmem(environment.data, environment.len, preload, sizeof preload - 1);
}

/*
 * Appends an environment as a map, with strip without the variables that Bear's interception adds.
 * False: a value that no record can hold, or memory is exhausted.
 */
static bool put_variables(struct tr_text environment, bool strip, struct tr_arena *arena,
			  struct tr_buffer *to, struct tr_error *err)
{
	struct tr_json_member *members;
	size_t count;
	bool any = false;

	if (!strip || !may_be_intercepted(environment))
		return tr_json_put_value(environment, to, err);
	if (!tr_json_members(environment, arena, &members, &count)) {
		(void)tr_arena_error(arena, err);
		return false;
	}
	tr_buffer_put_byte(to, '{');
	for (size_t i = 0; i < count; i++)
		if (!put_variable(&members[i], &any, to, err))
			return false;
	tr_buffer_put_byte(to, '}');
	return true;
}

/*
 * The reader knows which process runs which execution, because only Bear's pid links an execution
 * to its children. Both tables forget the least recently used entries (core/map.h).
 */
struct reader {
	struct tr_reader base;
	struct tr_json_items items;
	struct tr_json_recent environments; /* most executions have that of another one */
	struct tr_recent running;	    /* seq of the execution that each pid runs */
	struct tr_recent pids;		    /* pid of each rid */
	struct tr_buffer extra, text;
	struct tr_text first; /* the object for which the header was delivered; data NULL: none */
	bool strip, headed;
	bool odd_time; /* the event's timestamp would be written differently */
};

enum { MOST = 1 << 20, BITS = 50, BITS_CUT = 25 };

/* Recognises an event by a combination of keys that no other JSON lines have. */
static int bid(struct tr_input *in)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_text object;
	struct event event;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &object))
		return 0;
	/* if memory is exhausted, the open that follows reports it */
	if (!open_event(&event, object, NULL, &arena))
		bits = 1;
	else if (is_execution(&event) && event.pid)
		bits = BITS;
	else if (event.rid && (event.end || event.timestamp))
		bits = BITS;
	/* an execution that is cut: no other format's object begins with a rid alone */
	else if (event.rid && event.top.count == 1 && object.len > 0 &&
		 object.data[object.len - 1] != '}')
		bits = BITS_CUT;
	tr_arena_free(&arena);
	return bits;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_recent_free(&reader->running);
	tr_recent_free(&reader->pids);
	tr_buffer_free(&reader->extra);
	tr_buffer_free(&reader->text);
	tr_json_recent_free(&reader->environments);
}

/* Delivers the header with the version of Bear. */
static enum tr_status deliver_header(struct reader *reader, unsigned version,
				     struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;

	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "%trec\t1\tversion=");
	tr_buffer_put_decimal(line, version);
	reader->headed = true;
	enum tr_status status = tr_reader_deliver(&reader->base, record, err);
	return status == TR_OK ? tr_record_split(*record, err) : status;
}

/*
 * Appends a timestamp (2026-11-21T00:29:13.959052Z) as seconds since 1970 with the same digits
 * after the point. False: the writer would not give it back.
 */
static bool put_time(struct tr_text timestamp, struct tr_buffer *seconds)
{
	struct tr_date date;
	struct tr_text fraction;

	if (!tr_date_parse(timestamp, &date, &fraction))
		return false;
	int64_t number = tr_date_seconds(&date);
	if (number < 0)
		return false;
	tr_buffer_put_decimal(seconds, (uint64_t)number);
	tr_buffer_put_text(seconds, fraction);
	return true;
}

/* Puts members that have no field into extra, and a timestamp that the time column cannot hold. */
static bool put_extra(struct reader *reader, const struct event *event, struct tr_error *err)
{
	struct tr_buffer *extra = &reader->extra;

	tr_buffer_reset(extra);
	if (!put_others(&event->top, extra, err) || !put_others(&event->in_started, extra, err) ||
	    !put_others(&event->in_execution, extra, err) ||
	    !put_others(&event->in_end, extra, err))
		return false;
	if (reader->odd_time) {
		tr_buffer_put_literal(extra, ",\"timestamp\":");
		if (!tr_json_put_value(event->timestamp->value, extra, err))
			return false;
	}
	tr_json_put_extra(tr_buffer_text(extra), &reader->base.line);
	return true;
}

/* The columns kind, seq, time and task. */
static void put_columns(struct reader *reader, const char *kind, const struct event *event,
			struct tr_text task)
{
	struct tr_buffer *line = &reader->base.line;

	tr_reader_begin(&reader->base, kind);
	reader->odd_time = event->timestamp && !put_time(body(event->timestamp), line);
	if (!event->timestamp || reader->odd_time)
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, task.data ? task : TR_TEXT("-"));
	tr_buffer_put_byte(line, '\t');
}

/* Puts the environment, if the event has one. */
static bool put_environment(struct reader *reader, const struct event *event, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;

	if (!event->environment)
		return true;
	struct tr_text json = event->environment->value;
	unsigned depth = event->started ? 3 : 2;
	tr_buffer_put_literal(line, "\tenv=");
	const struct tr_json_recent_object *known =
		tr_json_recent_find(&reader->environments, json.data, json.data + json.len, depth);
	if (known) {
		tr_buffer_put_text(line, tr_buffer_text(&known->spelling));
		return true;
	}
	size_t begin = line->len;
	if (!put_variables(json, reader->strip, &reader->base.arena, line, err))
		return false;
	if (!line->failed)
		tr_json_recent_put(&reader->environments, json, depth,
				   tr_text_span(line->data + begin, line->data + line->len));
	return true;
}

/* A number, as the content of a string or by itself. */
static bool number_of(struct tr_text text, uint64_t *number)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = text };

	return text.len && tr_cell_number(&cell, number);
}

/*
 * Finds the execution that the parent runs. A pid whose process has ended has none: pids are used
 * again.
 */
static bool find_parent(struct reader *reader, const struct event *event, uint64_t *seq)
{
	uint64_t pid;

	return event->ppid && number_of(event->ppid->value, &pid) &&
	       tr_recent_find(&reader->running, pid, seq) && *seq != TR_NO_POSITION;
}

/* Sets the execution that the process runs from now on. False: memory is exhausted. */
static bool begin_process(struct reader *reader, const struct event *event, uint64_t seq)
{
	uint64_t pid, rid;

	/* version 4 has neither parents nor ends */
	if (!event->started || !event->pid || !number_of(event->pid->value, &pid))
		return true;
	if (event->rid && number_of(body(event->rid), &rid) &&
	    !tr_recent_put(&reader->pids, rid, pid))
		return false;
	return tr_recent_put(&reader->running, pid, seq);
}

/* The process that ends, as a cell; data NULL: unknown. False: memory is exhausted. */
static bool end_process(struct reader *reader, const struct event *event, struct tr_text *task)
{
	uint64_t pid, rid;

	*task = (struct tr_text){ NULL, 0 };
	if (!number_of(body(event->rid), &rid) || !tr_recent_find(&reader->pids, rid, &pid))
		return true;
	tr_buffer_reset(&reader->text);
	tr_buffer_put_decimal(&reader->text, pid);
	*task = tr_arena_copy(&reader->base.arena, tr_buffer_text(&reader->text));
	return task->data && tr_recent_put(&reader->running, pid, TR_NO_POSITION);
}

/* Puts the fields of an execution. */
static bool put_execution(struct reader *reader, const struct event *event, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;
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
	/* version 4 keeps only the variables that compilers use */
	if (!event->started)
		tr_buffer_put_literal(line, "\tflagged=[\"env-trimmed\"]");
	return put_extra(reader, event, err);
}

/* Puts the fields of an end. The status is a number in a string. */
static bool put_exit(struct reader *reader, const struct event *event, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;
	uint64_t number;

	tr_buffer_put_byte(line, '-');
	if (event->status && number_of(body(event->status), &number)) {
		tr_buffer_put_literal(line, "\tstatus=");
		tr_buffer_put_decimal(line, number);
	} else if (!tr_json_put_field("status", event->status, line, err)) {
		return false;
	}
	return tr_json_put_field("signal", event->signal, line, err) &&
	       tr_json_put_field("rid", event->rid, line, err) && put_extra(reader, event, err);
}

/* The object becomes a raw record, which the next call returns after this message. */
static enum tr_status keep_raw(struct reader *reader, struct tr_text object, const char *why,
			       struct tr_error *err)
{
	struct tr_error detail = *err;

	tr_reader_put_raw(&reader->base, object, why);
	reader->base.held = true;
	tr_error_say_in(err, TR_CAUSE_INPUT, why, "%s%s%s%s: kept as a raw record", why,
			detail.cause ? " (" : "", detail.cause ? detail.text : "",
			detail.cause ? ")" : "");
	tr_error_at_line(err, reader->base.source_line);
	return TR_WARN;
}

/* Makes the record of an event. An event that Bear would not write so is kept as a raw record. */
static enum tr_status make_record(struct reader *reader, struct tr_text object,
				  const struct event *event, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_text task = { NULL, 0 };
	uint64_t seq = reader->base.seq;
	bool done;

	if (is_execution(event)) {
		if (event->pid)
			task = event->pid->value;
		put_columns(reader, "exec", event, task);
		done = put_execution(reader, event, err);
		if (done && !begin_process(reader, event, seq))
			return tr_error_memory(err);
	} else if (event->rid && (event->status || event->signal)) {
		if (!end_process(reader, event, &task))
			return tr_error_memory(err);
		put_columns(reader, "exit", event, task);
		done = put_exit(reader, event, err);
	} else {
		return keep_raw(reader, object, "not an event of Bear", err);
	}
	reader->base.line.failed |= reader->extra.failed || reader->text.failed;
	if (done)
		return tr_reader_deliver(&reader->base, record, err);
	if (tr_error_is_memory(err))
		return TR_FATAL;
	reader->base.seq = seq;
	return keep_raw(reader, object, "an event in a form that Bear does not write", err);
}

/*
 * Delivers the header, then a record for each object. The first object that is JSON shows the
 * version: executions of version 4 have neither `started` nor a rid.
 */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text object = reader->first;
	struct event event;

	tr_arena_reset(&base->arena);
	enum tr_status status = tr_reader_due(base, record, err);
	if (status != TR_END)
		return status;
	status = object.data ? TR_OK
			     : tr_json_items_next(&reader->items, &object, &base->source_line, err);
	if (status == TR_END && !reader->headed)
		return deliver_header(reader, 3, record, err);
	if (status != TR_OK)
		return status;
	if (!open_event(&event, object, &reader->environments, &base->arena))
		return tr_arena_error(&base->arena, err);
	reader->first = reader->headed ? (struct tr_text){ NULL, 0 } : object;
	if (reader->headed)
		return make_record(reader, object, &event, record, err);
	bool old = !is_execution(&event) || event.started || event.rid;
	return deliver_header(reader, old ? 3 : 4, record, err);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct tr_text intercept = tr_setting_get(&config->settings, "intercept", "strip");
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_json_items_init(&reader->items, in, true);
	reader->items.recent = &reader->environments;
	reader->strip = tr_text_is(intercept, "strip");
	return &reader->base;
}

static const char *const extensions[] = { ".bear.json", ".events.json", NULL };

static const struct tr_format_option options[] = {
	{ "version", "3|4", false, true, "write the events of this version of Bear (default 3)" },
	{ "intercept", "strip|keep", true, false,
	  "remove the variables that Bear adds to the environment (default), or keep them" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_bear = {
	.name = "bear",
	.summary = "Bear's intercepted executions, JSON lines",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_HEADS |
		 TR_FORMAT_FORKLESS,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.create = tr_bear_create,
	.default_style = "tree",
};
