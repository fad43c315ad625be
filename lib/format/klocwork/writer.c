/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace. put_exec takes an event through
 *
 *	find_parent	the parent that its record names, and the one that a reader will find
 *	put_env_diff	its environment as the trace needs it, if the record has another form
 *	render_exec	the line, unless .raw still holds the same record (render.c)
 *	remember	the written event, as a parent of later ones
 *
 * Ids are used again, and a parent may be left out, so the event that a reader of the written trace
 * takes for the parent need not be the one that the record names; and it may come later. Every
 * written record therefore goes through the same queue as in a reader (parents.h), with its ordinal
 * in the trace as its seq, because the seqs of a stream may repeat, or come in any order.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "format/klocwork/klocwork.h"
#include "format/writer_base.h"
#include "process/environment.h"
#include "process/parent.h"
#include "record/literal.h"

/* Events that are counted and reported at the end. */
enum { STRANGER, MISTAKEN, UNSTATED, UNKNOWN, LIMITED, TALLIES };

static const struct {
	const char *what;
	bool lost;
} tallies[TALLIES] = {
	[STRANGER] = { "events whose parent is not in this trace, nor the environment that their "
		       "env-diff refers to",
		       false },
	[MISTAKEN] = { "events whose parent_id is unknown or refers to a different event, so that "
		       "their env-diff refers to another environment",
		       false },
	[UNSTATED] = { "events with an unknown environment, which readers assume to be that of "
		       "their parent",
		       false },
	[UNKNOWN] = { "events written without env-diff, because the environment of their parent is "
		      "unknown",
		      true },
	[LIMITED] = { "events written without env-diff, because these would exceed 1000 times "
		      "the size of the input",
		      true },
};

/*
 * Records whose environment has another form than the trace: whole (env), or against the env line
 * where the trace has it against the parent (envtop), or the reverse. Nothing is computed or
 * remembered before the first of them in a segment, because most traces have none.
 */
struct environments {
	bool target_top;	      /* the trace has its differences against the env line */
	struct tr_environments *pool; /* NULL: nothing had to be computed in this segment */
	struct tr_environment *top;
	bool supplied;		 /* the env line is the writer's own */
	bool differences;	 /* there were some before environments were computed */
	bool has_top, has_other; /* records with differences against the env line; with others */
	uint64_t begin;		 /* first ordinal of the segment */
	uint64_t plain_before;	 /* up to this ordinal, all have the env line's environment */
	struct tr_buffer vars;	 /* the env line's map */
	struct tr_buffer diff;	 /* the last difference that was computed */
};

/* Ends the segment; the next one begins with that ordinal. */
static void end_environments(struct environments *env, uint64_t ordinal)
{
	if (env->pool)
		tr_environment_release(env->pool, env->top);
	tr_environments_free(env->pool);
	tr_buffer_free(&env->vars);
	tr_buffer_free(&env->diff);
	*env = (struct environments){ .target_top = env->target_top, .begin = ordinal };
}

struct writer {
	struct tr_writer base;
	struct tr_buffer line, raw;
	struct tr_klocwork_object object; /* scratch for .raw */
	bool amid_line;			  /* the last written byte is not an LF */

	/* the segment */
	bool begun; /* a line of it is written */
	struct environments env;
	struct tr_klocwork_ids written; /* from the seq of each event to its ordinal */
	/* from ordinals of events to their written ids, if children do not name them */
	struct tr_klocwork_ids numbers;
	struct tr_id_map names; /* of ids that are not numbers, as JSON: struct tr_text */

	/* the whole stream */
	struct tr_klocwork_parents parents;
	uint64_t count; /* records in the trace: the next one's ordinal */
	uint64_t tally[TALLIES];
};

/* An event that is to be written. */
struct event {
	struct tr_record *record;
	struct tr_klocwork_fields fields;
	struct tr_klocwork_overrides overrides;
	struct tr_text id, parent_id; /* keys (klocwork.h) of the ids that will be written */

	/* the parent that the record names */
	enum {
		ROOT,	 /* it has none */
		WRITTEN, /* earlier in the trace */
		ABSENT,	 /* not in the trace, or not yet */
	} place;
	uint64_t parent; /* WRITTEN: its ordinal; ABSENT: its seq */

	struct tr_klocwork_parent read; /* the one that a reader finds: an ordinal */
	bool settled;			/* the env-diff is against the one that a reader finds */
	bool unknown;			/* env-diff cannot be computed */
};

/*
 * The key of the id that will be written, or of a field's value. None if it cannot be rendered,
 * because the record will not be written. False: memory is out.
 */
static bool find_key(struct tr_record *record, struct tr_field *field, struct tr_text *key)
{
	struct tr_buffer json = TR_BUFFER_INIT;
	struct tr_error err;
	*key = (struct tr_text){ NULL, 0 };
	bool rendered = field ? tr_json_from_field(record, field, &json, &err)
			      : tr_klocwork_render_id(record, &json, &err);
	bool good = !json.failed && (rendered || !tr_error_is_memory(&err));
	if (good && rendered) {
		struct tr_text text = tr_arena_copy(record->arena, tr_buffer_text(&json));
		good = text.data && tr_klocwork_id_key(text, record->arena, key);
	}
	tr_buffer_free(&json);
	return good;
}

/* Finds the event that a reader of the written trace will take for the parent. */
static void find_reading(struct writer *writer, struct event *event)
{
	event->read = tr_klocwork_parents_find(&writer->parents, event->id, event->parent_id);
}

/* Finds the parent that the record names and the one that its ppid refers to. False: memory. */
static bool find_parent(struct writer *writer, struct event *event)
{
	struct tr_record *record = event->record;
	struct tr_field *ppid = event->fields.ppid;
	struct tr_parent named;
	if (!tr_parent_read(record, &named))
		return false;
	event->parent = TR_NO_POSITION;
	if (named.kind == TR_PARENT_RECORD && named.seq != TR_NO_POSITION) {
		event->place = WRITTEN;
		if (!tr_klocwork_ids_find_number(&writer->written, named.seq, &event->parent)) {
			event->place = ABSENT;
			event->parent = named.seq;
		}
	}
	/* most ids are their own keys */
	event->id = record->task.text;
	if ((record->task.type != TR_CELL_TEXT || !tr_klocwork_id_is_plain(event->id)) &&
	    !find_key(record, NULL, &event->id))
		return false;
	if (ppid)
		event->parent_id = ppid->text;
	if (ppid && (!ppid->text.data || !tr_klocwork_id_is_plain(ppid->text)) &&
	    !find_key(record, ppid, &event->parent_id))
		return false;
	find_reading(writer, event);
	return true;
}

/*
 * Sets parent_id if the record did not come from a klocwork trace. There the parent is an event of
 * the trace or none (-1); elsewhere it may be a process that never ran a program of its own, or one
 * that was not traced. False: memory.
 */
static bool set_parent_id(struct writer *writer, struct event *event)
{
	struct tr_arena *arena = event->record->arena;
	bool foreign = !writer->base.faithful && writer->base.headed;
	char digits[TR_DECIMAL_MAX];
	struct tr_text id = { digits, 0 };
	uint64_t number;
	if (writer->base.faithful || event->place == ABSENT || (!foreign && event->fields.ppid))
		return true;
	if (event->place == WRITTEN) {
		const struct tr_text *name = tr_id_map_get(&writer->names, event->parent);
		if (name)
			id = *name;
		else if (tr_klocwork_ids_find_number(&writer->numbers, event->parent, &number))
			id.len = tr_decimal_write(number, digits);
		if (!id.len)
			return true; /* it was not kept, or was dropped */
		event->overrides.parent_id = tr_arena_copy(arena, id);
	} else {
		/* an id that readers find in the trace stays */
		if (!foreign || tr_klocwork_names_nobody(event->parent_id) ||
		    event->read.seq != TR_NO_POSITION)
			return true;
		event->overrides.parent_id = TR_TEXT("-1");
	}
	if (!event->overrides.parent_id.data ||
	    !tr_klocwork_id_key(event->overrides.parent_id, arena, &event->parent_id))
		return false;
	find_reading(writer, event);
	return true;
}

/* Keeps the id of the event that is written next. False: memory is out. */
static bool keep_id(struct writer *writer, const struct event *event)
{
	struct tr_cell id = { .type = TR_CELL_TEXT, .text = event->id };
	struct tr_buffer json = TR_BUFFER_INIT;
	struct tr_error err;
	struct tr_text *name = NULL;
	uint64_t number;
	if (!event->id.data)
		return true; /* no parent_id equals it */
	if (tr_cell_number(&id, &number))
		return tr_klocwork_ids_put_number(&writer->numbers, writer->count, number);
	if (tr_klocwork_render_id(event->record, &json, &err) && !json.failed)
		name = malloc(sizeof *name + json.len);
	if (name)
		*name = (struct tr_text){ memcpy(name + 1, json.data, json.len), json.len };
	tr_buffer_free(&json);
	if (name && tr_id_map_put(&writer->names, writer->count, name))
		return true;
	free(name);
	return false;
}

/* Forgets the ids that are not numbers. */
static void free_names(struct writer *writer)
{
	size_t position = 0;
	void *name;
	while ((name = tr_id_map_next(&writer->names, &position)))
		free(name);
	tr_id_map_free(&writer->names);
}

/* Counts the event when it is known which record a reader takes for the parent. */
static void judge(struct writer *writer, const struct tr_klocwork_queued *event)
{
	uint64_t named = event->named;
	bool there = !event->by_seq || tr_klocwork_ids_find_number(&writer->written, named, &named);
	writer->tally[STRANGER] += !there;
	writer->tally[MISTAKEN] += there && event->relative && named != event->parent;
}

/* Takes the records off the queue whose parent is known now. */
static void drain(struct writer *writer)
{
	const struct tr_klocwork_queued *event;
	struct tr_text none;
	while ((event = tr_klocwork_parents_take(&writer->parents, &none)))
		judge(writer, event);
}

/* Adds the next record; wanted: the key it is pending on, or no data. False: memory is out. */
static bool pass(struct writer *writer, struct tr_klocwork_queued record, size_t weight,
		 struct tr_text wanted)
{
	record.seq = writer->count++;
	if (!wanted.data && !tr_klocwork_parents_busy(&writer->parents)) {
		judge(writer, &record);
		return true;
	}
	if (!tr_klocwork_parents_queue(&writer->parents, &record, TR_TEXT(""), weight, wanted))
		return false;
	drain(writer);
	return true;
}

/* Begins a scope at a version line, or with `soft` at a creator or env line. */
static void begin_scope(struct writer *writer, bool soft)
{
	tr_klocwork_parents_scope(&writer->parents, soft);
	drain(writer);
}

/* Adds the written event of that many bytes. False: memory is out. */
static bool remember(struct writer *writer, const struct event *event, size_t weight)
{
	const struct environments *env = &writer->env;
	/* a record without an environment has its parent's, if any record has one */
	bool stated =
		writer->base.faithful || event->fields.envdiff || env->differences || env->pool;
	uint64_t seq;
	struct tr_klocwork_queued record = {
		.parent = event->read.seq,
		.named = event->settled ? event->read.seq : event->parent,
		.by_seq = !event->settled && event->place == ABSENT,
		.relative = !env->target_top && (event->settled || stated),
	};
	struct tr_text none = { NULL, 0 };
	return (writer->base.faithful || keep_id(writer, event)) &&
	       tr_klocwork_parents_event(&writer->parents, event->id, writer->count,
					 &event->read) &&
	       (!tr_cell_number(&event->record->seq, &seq) ||
		tr_klocwork_ids_put_number(&writer->written, seq, writer->count)) &&
	       pass(writer, record, weight, event->read.pending ? event->parent_id : none);
}

/* The map in a field; NULL: err is filled. */
static const struct tr_value *field_map(struct tr_record *record, struct tr_field *field,
					struct tr_error *err)
{
	const struct tr_value *value = tr_field_value(record, field, err);
	if (value && value->type != TR_MAP) {
		tr_error_set(err, TR_CAUSE_INPUT, "an environment that is not a map");
		return NULL;
	}
	return value;
}

/* Sets the first environment to the env line's map, or to an empty one. */
static enum tr_status set_top(struct environments *env, struct tr_arena *arena,
			      struct tr_error *err)
{
	static const struct tr_value empty = { .type = TR_MAP };
	const struct tr_value *map = &empty;
	if (env->vars.len)
		map = tr_literal_parse(tr_buffer_text(&env->vars), arena, err);
	if (!map)
		return tr_error_status(err);
	tr_environment_release(env->pool, env->top);
	env->top = tr_environment_whole(env->pool, NULL, map);
	return env->top ? TR_OK : tr_error_memory(err);
}

/* Keeps the map of an env record; without a map, an empty one. TR_FATAL: memory. */
static enum tr_status set_env_line(struct environments *env, struct tr_record *record,
				   struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "vars");
	const struct tr_value *map = field ? field_map(record, field, err) : NULL;
	tr_buffer_reset(&env->vars);
	if (!map)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
	tr_literal_write(map, &env->vars);
	if (env->vars.failed)
		return tr_error_memory(err);
	return env->pool ? set_top(env, record->arena, err) : TR_OK;
}

/* Begins to remember environments, for the first record that needs it. */
static enum tr_status begin_environments(struct environments *env, uint64_t ordinal,
					 struct tr_arena *arena, struct tr_error *err)
{
	if (env->pool)
		return TR_OK;
	env->pool = tr_environments_new();
	env->plain_before = env->differences ? 0 : ordinal;
	if (env->pool)
		tr_environments_limit(env->pool, TR_ENVIRONMENTS_RATIO);
	return env->pool ? set_top(env, arena, err) : tr_error_memory(err);
}

/* The environment of an earlier record, of none the first one; NULL: unknown. */
static struct tr_environment *known_env(struct environments *env, uint64_t ordinal)
{
	bool plain = ordinal >= env->begin && ordinal < env->plain_before;
	struct tr_environment *found =
		ordinal == TR_NO_POSITION ? env->top : tr_environments_of(env->pool, ordinal);
	return found || !plain ? found : env->top;
}

/*
 * Finds the record's environment, as a reference of the caller. near: the parent's; NULL:
 * unknown. NULL in *result: unknown.
 */
static enum tr_status find_own(struct environments *env, const struct event *event,
			       struct tr_environment *near, struct tr_environment **result,
			       struct tr_error *err)
{
	const struct tr_klocwork_fields *fields = &event->fields;
	struct tr_field *field = fields->env	  ? fields->env
				 : fields->envtop ? fields->envtop
						  : fields->envdiff;
	*result = NULL;
	if (!field) {
		*result = tr_environment_retain(near);
		return TR_OK;
	}
	if (field == fields->envdiff && !near)
		return TR_OK;
	const struct tr_value *map = field_map(event->record, field, err);
	if (!map)
		return tr_error_status(err);
	if (field == fields->env)
		*result = tr_environment_whole(env->pool, near, map);
	else
		*result = tr_environment_apply(env->pool, field == fields->envtop ? env->top : near,
					       map, NULL);
	return *result ? TR_OK : tr_error_memory(err);
}

/* Sets envdiff to the difference of own (NULL: unknown) to base. False: memory is out. */
static bool override(struct environments *env, struct tr_environment *base,
		     struct tr_environment *own, struct tr_klocwork_overrides *overrides)
{
	overrides->has_envdiff = true;
	if (!own)
		return true;
	tr_buffer_reset(&env->diff);
	if (tr_environment_diff(env->pool, base, own, &env->diff) != TR_OK)
		return false;
	if (env->diff.len > sizeof "{}" - 1)
		overrides->envdiff = tr_buffer_text(&env->diff);
	return true;
}

/*
 * Overrides envdiff if the record's own fields are not what the trace needs; and parent_id if the
 * difference is against the env line because the parent is not there. TR_WARN: a field is not a
 * map.
 */
static enum tr_status put_env_diff(struct writer *writer, struct event *event, struct tr_error *err)
{
	struct environments *env = &writer->env;
	const struct tr_klocwork_fields *fields = &event->fields;
	struct tr_record *record = event->record;
	/*
	 * If all records have differences against the env line, one without any has the environment
	 * of the env line instead of its parent's.
	 */
	env->has_top |= fields->envtop != NULL;
	env->has_other |= fields->env || fields->envdiff;
	bool top = !fields->envtop && env->has_top && !env->has_other;
	bool to_top = fields->envtop || top;
	/* the parent is not there (yet), or a reader finds an event of another segment */
	bool alone = event->place == ABSENT || event->read.pending ||
		     (event->read.seq != TR_NO_POSITION && event->read.seq < env->begin);
	if (alone && (to_top || fields->env) && !env->target_top) {
		/* another event may have the parent's id, now or later */
		if (!tr_klocwork_names_nobody(event->parent_id))
			event->overrides.parent_id = TR_TEXT("-1");
		event->parent_id = (struct tr_text){ NULL, 0 };
		event->read = (struct tr_klocwork_parent){ TR_NO_POSITION, false, false };
	}
	/* without a parent, the difference to the env line is right in both cases */
	bool differs_top = to_top && !env->target_top && event->read.seq != TR_NO_POSITION;
	bool differs_parent = env->target_top && !to_top && event->place != ROOT;
	bool needed = fields->env || differs_top || differs_parent;
	event->settled = needed || to_top;
	if (!needed && !fields->envtop && !env->pool && !env->target_top) {
		env->differences |= fields->envdiff != NULL;
		return TR_OK;
	}
	enum tr_status status = begin_environments(env, writer->count, record->arena, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *own, *near = NULL;
	if (top || event->place != ABSENT)
		near = known_env(env, top ? TR_NO_POSITION : event->parent);
	status = find_own(env, event, near, &own, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *base =
		known_env(env, env->target_top ? TR_NO_POSITION : event->read.seq);
	bool computable =
		own && base && (!needed || tr_environments_may_write(env->pool, record->line.len));
	bool good = !needed || override(env, base, computable ? own : NULL, &event->overrides);
	event->unknown = needed && !computable;
	if (good && own)
		good = tr_environments_remember(env->pool, writer->count, own);
	tr_environment_release(env->pool, own);
	return good ? TR_OK : tr_error_memory(err);
}

/* Ends the segment. Its pending records stay so, but later seqs mean other records. */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_pending_item *item = writer->parents.queue.first;
	(void)err;
	for (; item; item = item->next) {
		struct tr_klocwork_queued *event = item->data;
		if (event->by_seq &&
		    !tr_klocwork_ids_find_number(&writer->written, event->named, &event->named)) {
			event->relative = false;
			writer->tally[STRANGER]++;
		}
		event->by_seq = false;
	}
	tr_klocwork_ids_forget(&writer->written);
	tr_klocwork_ids_forget(&writer->numbers);
	free_names(writer);
	writer->begun = false;
	end_environments(&writer->env, writer->count);
	return TR_OK;
}

/* Ends the trace: pending records have no parent. */
static enum tr_status close_trace(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)err;
	tr_klocwork_parents_settle(&writer->parents);
	drain(writer);
	return TR_OK;
}

/* Writes a line, after ending the line of a .raw that has no LF. */
static void put_line(struct writer *writer, struct tr_text line)
{
	if (writer->amid_line)
		tr_output_put_byte(writer->base.out, '\n');
	writer->amid_line = false;
	tr_output_put_text(writer->base.out, line);
}

/* True if the record is a line of that name. */
static bool is_meta(const struct tr_record *record, const char *name)
{
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       tr_text_is(record->name.text, name);
}

/* Writes a version line for a stream that was not a klocwork trace, or has lost it. */
static enum tr_status begin_trace(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool missing = !writer->begun && !writer->base.faithful && !is_meta(record, "version");
	writer->begun = true;
	if (!missing)
		return TR_OK;
	put_line(writer, TR_TEXT("{\"version\":101}\n{\"creator\":\"" PACKAGE_STRING "\"}\n"));
	/* if records have whole environments, the first one of the trace is empty */
	writer->env.supplied = tr_text_is(record->kind, "exec") && tr_record_field(record, "env");
	if (writer->env.supplied)
		put_line(writer, TR_TEXT("{\"env\":{}}\n"));
	begin_scope(writer, false);
	writer->count += writer->env.supplied ? 3 : 2;
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no version and creator: added");
	tr_error_is_note(err);
	return TR_WARN;
}

/* TR_OK: .raw is written. TR_END: there is none that holds this record. */
static enum tr_status write_raw(struct writer *writer, struct tr_record *record,
				struct tr_field *raw, struct tr_error *err)
{
	if (!raw)
		return TR_END;
	tr_buffer_reset(&writer->raw);
	if (!tr_klocwork_raw_holds(record, raw, &writer->object, &writer->raw, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_END;
	struct tr_text bytes = tr_buffer_text(&writer->raw);
	tr_output_put_text(writer->base.out, bytes);
	if (bytes.len)
		writer->amid_line = bytes.data[bytes.len - 1] != '\n';
	return TR_OK;
}

/* Writes writer->line. */
static enum tr_status put_rendered(struct writer *writer, enum tr_status status)
{
	if (status != TR_OK)
		return status;
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

/* Writes an event; see the head of this file. */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct event event = { .record = record };
	const struct tr_klocwork_fields *fields = &event.fields;
	uint64_t before = tr_output_count(writer->base.out);
	enum tr_status status = tr_klocwork_fields_find(record, &event.fields, err);
	if (status != TR_OK)
		return status;
	if (!find_parent(writer, &event) || !set_parent_id(writer, &event))
		return tr_error_memory(err);
	status = put_env_diff(writer, &event, err);
	if (status != TR_OK)
		return status;
	writer->object.env_top = fields->envtop != NULL;
	status = TR_END;
	if (!event.overrides.has_envdiff && !event.overrides.parent_id.data)
		status = write_raw(writer, record, fields->raw, err);
	if (status == TR_OK) { /* fields do not hold every id, and an absent one is invented */
		const struct tr_klocwork_object *object = &writer->object;
		event.id = tr_klocwork_object_piece(object, object->id);
		event.parent_id = tr_klocwork_object_piece(object, object->parent_id);
		find_reading(writer, &event);
	} else if (status == TR_END) {
		tr_buffer_reset(&writer->line);
		status = tr_klocwork_render_exec(record, fields, &event.overrides, &writer->line,
						 err);
		status = put_rendered(writer, status);
	}
	if (status != TR_OK)
		return status;
	if (event.unknown)
		writer->tally[tr_environments_are_spent(writer->env.pool) ? LIMITED : UNKNOWN]++;
	writer->tally[UNSTATED] +=
		writer->env.supplied && !fields->env && !fields->envtop && !fields->envdiff;
	size_t weight = (size_t)(tr_output_count(writer->base.out) - before);
	return remember(writer, &event, weight) ? TR_OK : tr_error_memory(err);
}

/* Writes a record other than exec. */
static enum tr_status put_context(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool env = tr_text_is(record->kind, "env"), version = is_meta(record, "version");
	uint64_t before = tr_output_count(writer->base.out);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	tr_buffer_reset(&writer->line);
	enum tr_status status = write_raw(writer, record, tr_record_field(record, ".raw"), err);
	if (status == TR_END)
		status = put_rendered(writer,
				      tr_klocwork_render_context(record, &writer->line, err));
	if (env && status == TR_OK)
		status = set_env_line(&writer->env, record, err);
	size_t weight = (size_t)(tr_output_count(writer->base.out) - before);
	if (!weight)
		return status;
	/* a version begins a trace with another env line */
	if (version && writer->parents.events)
		end_environments(&writer->env, writer->count);
	if (version || env || is_meta(record, "creator"))
		begin_scope(writer, !version);
	struct tr_klocwork_queued queued = { .parent = TR_NO_POSITION, .named = TR_NO_POSITION };
	return pass(writer, queued, weight, (struct tr_text){ NULL, 0 }) ? status
									 : tr_error_memory(err);
}

/*
 * Writes one record. TR_END: the format has no place for its kind. A note on a supplied header
 * comes after the record was written.
 */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool exec = tr_text_is(record->kind, "exec");
	/* other context kinds of another format have no place here */
	bool own = base->faithful || !base->headed;
	if (!exec && !tr_text_is(record->kind, "env") && !is_meta(record, "version") &&
	    !is_meta(record, "creator") &&
	    !(own && (tr_text_is(record->kind, "meta") || tr_text_is(record->kind, "raw"))))
		return TR_END;
	struct tr_error remark;
	enum tr_status begun = begin_trace(writer, record, &remark);
	enum tr_status status =
		exec ? put_exec(writer, record, err) : put_context(writer, record, err);
	if (status != TR_OK)
		return status;
	if (begun != TR_OK)
		*err = remark;
	return begun;
}

/* Reports one count for each call and clears it. TR_OK: all are reported. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	for (size_t i = 0; i < TALLIES; i++) {
		uint64_t count = writer->tally[i];
		if (!count)
			continue;
		writer->tally[i] = 0;
		tr_error_say_in(err, TR_CAUSE_INPUT, tallies[i].what, "%s: %" PRIu64,
				tallies[i].what, count);
		if (!tallies[i].lost)
			tr_error_is_note(err);
		return TR_WARN;
	}
	return TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raw);
	tr_klocwork_object_free(&writer->object);
	tr_klocwork_parents_free(&writer->parents);
	tr_klocwork_ids_free(&writer->written);
	tr_klocwork_ids_free(&writer->numbers);
	free_names(writer);
	end_environments(&writer->env, 0);
}

static const struct tr_writer_steps steps = {
	.format = "klocwork",
	.put = put_record,
	.end = end_segment,
	.close = close_trace,
	.report = report,
	.discard = discard,
};

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct tr_text base = tr_setting_get(&config->settings, "env-base", "parent");
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->env.target_top = tr_text_is(base, "top");
	return &writer->base;
}
