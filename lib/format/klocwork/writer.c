/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace. put_record takes a record through
 *
 *	writer_kin.h	the parent that a reader will find
 *	put_env_diff	its environment as the trace needs it, if the record has another form
 *	render.h	the line, unless .raw still holds the same record
 *	writer_kin.h	the written event, as a parent of later ones
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "format/klocwork/klocwork.h"
#include "format/klocwork/object.h"
#include "format/klocwork/render.h"
#include "format/klocwork/writer_kin.h"
#include "format/writer_base.h"
#include "process/environment.h"
#include "record/literal.h"
#include "record/record.h"

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

/* The map in a field; NULL: err is filled. */
static const struct tr_value *field_map(struct tr_record *record, struct tr_field *field,
					struct tr_error *err)
{
	const struct tr_value *value = tr_field_value(record, field, err);
	if (value && value->type != TR_MAP) {
		tr_error_set(err, TR_CAUSE_INPUT, "an environment that is no map");
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

/* The environment of an earlier record; NULL: unknown. */
static struct tr_environment *known_env(struct environments *env, uint64_t ordinal)
{
	bool plain = ordinal >= env->begin && ordinal < env->plain_before;
	struct tr_environment *found = tr_environments_of(env->pool, ordinal);
	return found || !plain ? found : env->top;
}

/*
 * Finds the record's environment, as a reference of the caller. near: the parent's; NULL:
 * unknown. NULL in *result: unknown.
 */
static enum tr_status find_own(struct environments *env, struct tr_record *record,
			       const struct tr_klocwork_fields *fields, struct tr_environment *near,
			       struct tr_environment **result, struct tr_error *err)
{
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
	const struct tr_value *map = field_map(record, field, err);
	if (!map)
		return tr_error_status(err);
	if (field == fields->env)
		*result = tr_environment_whole(env->pool, near, map);
	else
		*result = tr_environment_apply(env->pool, field == fields->envtop ? env->top : near,
					       map, NULL);
	return *result ? TR_OK : tr_error_memory(err);
}

/* The environment that a reader takes as the base of the record's difference. */
static struct tr_environment *base_of(struct environments *env, uint64_t read)
{
	return env->target_top || read == TR_NO_POSITION ? env->top : known_env(env, read);
}

/* The environment of the parent that the record names; NULL: unknown. */
static struct tr_environment *near_of(struct environments *env,
				      const struct tr_klocwork_parentage *parentage)
{
	if (parentage->place == TR_KLOCWORK_ROOT)
		return env->top;
	bool there = parentage->place == TR_KLOCWORK_WRITTEN;
	return there ? known_env(env, parentage->parent) : NULL;
}

/* The parent is not in the trace (yet), or a reader finds an event of another segment. */
static bool is_alone(const struct environments *env, const struct tr_klocwork_parentage *parentage)
{
	uint64_t read = parentage->read.seq;
	return parentage->place == TR_KLOCWORK_STRANGER || parentage->read.pending ||
	       (read != TR_NO_POSITION && read < env->begin);
}

/*
 * Removes the parent of an event whose difference is against the env line because its parent is not
 * there: another event may have the parent's id, now or later.
 */
static void remove_parent(struct tr_klocwork_parentage *parentage,
			  struct tr_klocwork_overrides *overrides)
{
	if (!tr_klocwork_names_nobody(parentage->parent_id))
		overrides->parent_id = TR_TEXT("-1");
	parentage->parent_id = (struct tr_text){ NULL, 0 };
	parentage->read = (struct tr_klocwork_parent){ TR_NO_POSITION, false, false };
}

static bool override(struct environments *env, struct tr_environment *base,
		     struct tr_environment *own, struct tr_klocwork_overrides *overrides)
{
	overrides->has_envdiff = true;
	overrides->envdiff = (struct tr_text){ NULL, 0 };
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
 * If all records have differences against the env line, one without any has the environment of the
 * env line instead of its parent's.
 */
static bool is_top(struct environments *env, const struct tr_klocwork_fields *fields)
{
	env->has_top |= fields->envtop != NULL;
	env->has_other |= fields->env || fields->envdiff;
	return !fields->envtop && env->has_top && !env->has_other;
}

/*
 * Sets envdiff in overrides if the record's own fields are not what the trace needs, for an exec
 * record with that ordinal; and parent_id if the difference is against the env line because the
 * parent is not there. *known becomes false if envdiff cannot be computed. TR_WARN: a field is not
 * a map.
 */
static enum tr_status put_env_diff(struct environments *env, struct tr_record *record,
				   const struct tr_klocwork_fields *fields, uint64_t ordinal,
				   struct tr_klocwork_parentage *parentage,
				   struct tr_klocwork_overrides *overrides, bool *known,
				   struct tr_error *err)
{
	bool root = parentage->place == TR_KLOCWORK_ROOT;
	bool top = is_top(env, fields), to_top = fields->envtop || top;
	if (is_alone(env, parentage) && (to_top || fields->env) && !env->target_top)
		remove_parent(parentage, overrides);
	/* without a parent, the difference to the env line is right in both cases */
	bool differs_top = to_top && !env->target_top && parentage->read.seq != TR_NO_POSITION;
	bool differs_parent = env->target_top && !to_top && !root;
	bool needed = fields->env || differs_top || differs_parent;
	parentage->settled = needed || to_top;
	if (!needed && !fields->envtop && !env->pool && !env->target_top) {
		env->differences |= fields->envdiff != NULL;
		return TR_OK;
	}
	enum tr_status status = begin_environments(env, ordinal, record->arena, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *own, *near = near_of(env, parentage);
	status = find_own(env, record, fields, top ? env->top : near, &own, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *base = base_of(env, parentage->read.seq);
	bool computable =
		own && base && (!needed || tr_environments_may_write(env->pool, record->line.len));
	bool good = !needed || override(env, base, computable ? own : NULL, overrides);
	*known = !needed || computable;
	if (good && own)
		good = tr_environments_remember(env->pool, ordinal, own);
	tr_environment_release(env->pool, own);
	return good ? TR_OK : tr_error_memory(err);
}

/* Reports one count for each call and clears it. TR_OK: all are reported. */
static enum tr_status report_tally(struct tr_klocwork_tally *tally, struct tr_error *err)
{
	const struct {
		uint64_t *count;
		const char *what;
		bool lost;
	} rows[] = {
		{ &tally->strangers,
		  "events whose parent is not in this trace, nor the environment that their "
		  "env-diff refers to",
		  false },
		{ &tally->mistaken,
		  "events whose parent_id is unknown or refers to a different event, so that their "
		  "env-diff refers to another environment",
		  false },
		{ &tally->unstated,
		  "events of unknown environment, which readers take for that of their parent",
		  false },
		{ &tally->unknown,
		  "events written without env-diff, because the environment of their parent is "
		  "unknown",
		  true },
		{ &tally->limited,
		  "events written without env-diff, because these would take more than 1000 times "
		  "what was read",
		  true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t count = *rows[i].count;
		if (!count)
			continue;
		*rows[i].count = 0;
		tr_error_say_in(err, TR_CAUSE_INPUT, rows[i].what, "%s: %" PRIu64, rows[i].what,
				count);
		if (!rows[i].lost)
			tr_error_is_note(err);
		return TR_WARN;
	}
	return TR_OK;
}

struct writer {
	struct tr_writer base;
	struct tr_buffer line, raw;
	struct tr_klocwork_object object; /* scratch for .raw */
	bool amid_line;			  /* the last written byte is not an LF */

	/* the segment */
	bool begun; /* a line of it is written */
	struct environments env;

	/* the whole stream */
	struct tr_klocwork_kin kin;
	struct tr_klocwork_tally tally;
};

static enum tr_status note(struct tr_error *err)
{
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)err;
	writer->begun = false;
	tr_klocwork_kin_end(&writer->kin);
	end_environments(&writer->env, writer->kin.count);
	return TR_OK;
}

static enum tr_status close_trace(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)err;
	tr_klocwork_kin_finish(&writer->kin);
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

static void put_raw(struct writer *writer, struct tr_text bytes)
{
	tr_output_put_text(writer->base.out, bytes);
	if (bytes.len)
		writer->amid_line = bytes.data[bytes.len - 1] != '\n';
}

static bool is_version(const struct tr_record *record)
{
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       tr_text_is(record->name.text, "version");
}

/* The record has a whole environment, so the first one of the trace is empty. */
static bool has_whole(struct tr_record *record)
{
	return tr_text_is(record->kind, "exec") && tr_record_field(record, "env");
}

/* Writes a version line for a stream that was not a klocwork trace, or has lost it. */
static enum tr_status begin_trace(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool missing = !writer->begun && !writer->base.faithful && !is_version(record);
	writer->begun = true;
	if (!missing)
		return TR_OK;
	put_line(writer, TR_TEXT("{\"version\":101}\n{\"creator\":\"" PACKAGE_STRING "\"}\n"));
	writer->env.supplied = has_whole(record);
	if (writer->env.supplied)
		put_line(writer, TR_TEXT("{\"env\":{}}\n"));
	tr_klocwork_kin_supplied(&writer->kin, writer->env.supplied ? 3 : 2);
	tr_error_set(err, TR_CAUSE_INPUT, "version and creator were not in the stream: supplied");
	return note(err);
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
	put_raw(writer, tr_buffer_text(&writer->raw));
	return TR_OK;
}

/* Adds the record's position to a message. */
static enum tr_status about(const struct tr_record *record, enum tr_status status,
			    struct tr_error *err)
{
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status render_exec(struct writer *writer, struct tr_record *record,
				  const struct tr_klocwork_fields *fields,
				  const struct tr_klocwork_overrides *overrides,
				  struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	enum tr_status status =
		tr_klocwork_render_exec(record, fields, overrides, &writer->line, err);
	if (status != TR_OK)
		return about(record, status, err);
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

/*
 * Sets parent_id if the record did not come from a klocwork trace. There the parent is an event of
 * the trace or none (-1); elsewhere it may be a process that never ran a program of its own, or one
 * that was not traced. False: memory.
 */
static bool set_parent_id(struct writer *writer, struct tr_record *record,
			  const struct tr_klocwork_fields *fields,
			  struct tr_klocwork_parentage *parentage,
			  struct tr_klocwork_overrides *overrides)
{
	bool foreign = !writer->base.faithful && writer->base.headed;
	bool root = parentage->place == TR_KLOCWORK_ROOT;
	if (writer->base.faithful || parentage->place == TR_KLOCWORK_STRANGER ||
	    (!foreign && fields->ppid))
		return true;
	if (!root && !tr_klocwork_kin_id(&writer->kin, parentage->parent, record->arena,
					 &overrides->parent_id))
		return false;
	/* an id that readers find in the trace stays */
	if (root && foreign && !tr_klocwork_names_nobody(parentage->parent_id) &&
	    parentage->read.seq == TR_NO_POSITION)
		overrides->parent_id = TR_TEXT("-1");
	return !overrides->parent_id.data ||
	       tr_klocwork_kin_rename(&writer->kin, overrides->parent_id, record->arena, parentage);
}

/* Adds the written event; before: size of the output before it. False: memory is out. */
static bool remember(struct writer *writer, struct tr_record *record,
		     const struct tr_klocwork_fields *fields,
		     const struct tr_klocwork_parentage *parentage, uint64_t before)
{
	const struct environments *env = &writer->env;
	/* a record without an environment has its parent's, if any record has one */
	bool stated = writer->base.faithful || fields->envdiff || env->differences || env->pool;
	bool relative = !env->target_top && (parentage->settled || stated);
	return (writer->base.faithful ||
		tr_klocwork_kin_keep_id(&writer->kin, record, parentage)) &&
	       tr_klocwork_kin_event(&writer->kin, record, parentage, relative,
				     (size_t)(tr_output_count(writer->base.out) - before));
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_klocwork_fields fields;
	struct tr_klocwork_overrides overrides = { { NULL, 0 }, { NULL, 0 }, false };
	struct tr_klocwork_parentage parentage;
	uint64_t before = tr_output_count(writer->base.out);
	enum tr_status status = tr_klocwork_fields_find(record, &fields, err);
	if (status != TR_OK)
		return about(record, status, err);
	if (!tr_klocwork_kin_find(&writer->kin, record, &fields, &parentage) ||
	    !set_parent_id(writer, record, &fields, &parentage, &overrides))
		return tr_error_memory(err);
	bool known = true;
	status = put_env_diff(&writer->env, record, &fields, writer->kin.count, &parentage,
			      &overrides, &known, err);
	if (status != TR_OK)
		return about(record, status, err);
	writer->object.env_top = fields.envtop != NULL;
	bool as_is = !overrides.has_envdiff && !overrides.parent_id.data;
	status = as_is ? write_raw(writer, record, fields.raw, err) : TR_END;
	if (status == TR_OK) /* fields do not hold every id, and an absent one is invented */
		tr_klocwork_kin_reread(&writer->kin, &writer->object, &parentage);
	if (status == TR_END)
		status = render_exec(writer, record, &fields, &overrides, err);
	if (status != TR_OK)
		return status;
	if (!known && tr_environments_are_spent(writer->env.pool))
		writer->tally.limited++;
	else
		writer->tally.unknown += !known;
	writer->tally.unstated +=
		writer->env.supplied && !fields.env && !fields.envtop && !fields.envdiff;
	return remember(writer, record, &fields, &parentage, before) ? TR_OK : tr_error_memory(err);
}

static enum tr_status put_context(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = write_raw(writer, record, tr_record_field(record, ".raw"), err);
	if (status != TR_END)
		return status;
	status = tr_klocwork_render_context(record, &writer->line, err);
	if (status != TR_OK)
		return about(record, status, err);
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

static enum tr_status put_env(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	enum tr_status status = put_context(writer, record, err);
	if (status != TR_OK)
		return status;
	return about(record, set_env_line(&writer->env, record, err), err);
}

/* Context kinds of another format are written only if this format has them. */
static bool is_context(const struct writer *writer, const struct tr_record *record)
{
	if (tr_text_is(record->kind, "env"))
		return true;
	if (writer->base.faithful || !writer->base.headed)
		return tr_text_is(record->kind, "meta") || tr_text_is(record->kind, "raw");
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       (tr_text_is(record->name.text, "version") ||
		tr_text_is(record->name.text, "creator"));
}

/* Adds a written record other than exec. A version begins a trace with another env line. */
static bool follow_context(struct writer *writer, const struct tr_record *record, size_t weight)
{
	if (writer->kin.parents.events && is_version(record))
		end_environments(&writer->env, writer->kin.count);
	return tr_klocwork_kin_context(&writer->kin, record, weight);
}

static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool exec = tr_text_is(record->kind, "exec");
	if (!exec && !is_context(writer, record))
		return TR_END;
	struct tr_error remark;
	enum tr_status begun = begin_trace(writer, record, &remark);
	bool env = tr_text_is(record->kind, "env");
	uint64_t before = tr_output_count(writer->base.out);
	enum tr_status status = exec  ? put_exec(writer, record, err)
				: env ? put_env(writer, record, err)
				      : put_context(writer, record, err);
	size_t weight = (size_t)(tr_output_count(writer->base.out) - before);
	if (!exec && weight && !follow_context(writer, record, weight))
		return tr_error_memory(err);
	if (status == TR_OK && begun != TR_OK) {
		*err = remark;
		status = begun;
	}
	return status;
}

static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	return report_tally(&writer->tally, err);
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raw);
	tr_klocwork_object_free(&writer->object);
	tr_klocwork_kin_free(&writer->kin);
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
	tr_klocwork_kin_init(&writer->kin, &writer->tally);
	return &writer->base;
}
