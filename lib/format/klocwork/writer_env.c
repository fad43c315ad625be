#include "format/klocwork/writer_env.h"

#include "format/klocwork/id.h"
#include "record/literal.h"

void tr_klocwork_env_end(struct tr_klocwork_env *env, uint64_t ordinal)
{
	if (env->pool)
		tr_environment_release(env->pool, env->top);
	tr_environments_free(env->pool);
	tr_buffer_free(&env->vars);
	tr_buffer_free(&env->diff);
	*env = (struct tr_klocwork_env){ .target_top = env->target_top, .begin = ordinal };
}

/* The map that a field holds; NULL: err says what it is instead. */
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

static enum tr_status no_map(const struct tr_error *err)
{
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

/* The env line's map becomes the first environment; without an env line that is empty. */
static enum tr_status set_top(struct tr_klocwork_env *env, struct tr_arena *arena,
			      struct tr_error *err)
{
	static const struct tr_value empty = { .type = TR_MAP };
	const struct tr_value *map = &empty;
	if (env->vars.len)
		map = tr_literal_parse(tr_buffer_text(&env->vars), arena, err);
	if (!map)
		return no_map(err);
	tr_environment_release(env->pool, env->top);
	env->top = tr_environment_whole(env->pool, NULL, map);
	return env->top ? TR_OK : tr_error_memory(err);
}

enum tr_status tr_klocwork_env_top(struct tr_klocwork_env *env, struct tr_record *record,
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

/* The first record that needs it: from here on environments are remembered. */
static enum tr_status begin(struct tr_klocwork_env *env, uint64_t ordinal, struct tr_arena *arena,
			    struct tr_error *err)
{
	if (env->pool)
		return TR_OK;
	env->pool = tr_environments_new();
	env->plain_before = env->differences ? 0 : ordinal;
	if (env->pool)
		tr_environments_limit(env->pool, TR_ENVIRONMENTS_RATIO);
	return env->pool ? set_top(env, arena, err) : tr_error_memory(err);
}

/* The environment of an earlier record; NULL: not known. */
static struct tr_environment *known_env(struct tr_klocwork_env *env, uint64_t ordinal)
{
	bool plain = ordinal >= env->begin && ordinal < env->plain_before;
	struct tr_environment *found = tr_environments_of(env->pool, ordinal);
	return found || !plain ? found : env->top;
}

/*
 * What the record's environment is (the caller's reference). near: the
 * parent's, NULL where that is not known. NULL in *result: not known.
 */
static enum tr_status find_own(struct tr_klocwork_env *env, struct tr_record *record,
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
		return no_map(err);
	if (field == fields->env)
		*result = tr_environment_whole(env->pool, near, map);
	else
		*result = tr_environment_apply(env->pool, field == fields->envtop ? env->top : near,
					       map);
	return *result ? TR_OK : tr_error_memory(err);
}

/* The environment that the trace's reader will take for the record's parent's. */
static struct tr_environment *base_of(struct tr_klocwork_env *env, uint64_t read)
{
	return env->target_top || read == TR_NO_POSITION ? env->top : known_env(env, read);
}

/* That of the parent that the record names; NULL: not known. */
static struct tr_environment *near_of(struct tr_klocwork_env *env,
				      const struct tr_klocwork_parentage *parentage)
{
	if (parentage->place == TR_KLOCWORK_ROOT)
		return env->top;
	bool there = parentage->place == TR_KLOCWORK_WRITTEN;
	return there ? known_env(env, parentage->parent) : NULL;
}

/* Is the parent not there (yet), or another segment's event in its place? */
static bool is_alone(const struct tr_klocwork_env *env,
		     const struct tr_klocwork_parentage *parentage)
{
	uint64_t read = parentage->read.seq;
	return parentage->place == TR_KLOCWORK_STRANGER || parentage->read.waits ||
	       (read != TR_NO_POSITION && read < env->begin);
}

/*
 * An event whose difference is to the env line, because its parent is not there,
 * is nobody's child: another event may have the parent's id, now or later.
 */
static void disown(struct tr_klocwork_parentage *parentage, struct tr_klocwork_overrides *overrides)
{
	if (!tr_klocwork_names_nobody(parentage->parent_id))
		overrides->parent_id = TR_TEXT("-1");
	parentage->parent_id = (struct tr_text){ NULL, 0 };
	parentage->read = (struct tr_klocwork_parent){ TR_NO_POSITION, false, false };
}

static bool override(struct tr_klocwork_env *env, struct tr_environment *base,
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
 * Where all records tell differences against the env line, one that tells none
 * has its environment, and not its parent's.
 */
static bool is_top(struct tr_klocwork_env *env, const struct tr_klocwork_fields *fields)
{
	env->told_top |= fields->envtop != NULL;
	env->told_other |= fields->env || fields->envdiff;
	return !fields->envtop && env->told_top && !env->told_other;
}

enum tr_status tr_klocwork_env_exec(struct tr_klocwork_env *env, struct tr_record *record,
				    const struct tr_klocwork_fields *fields, uint64_t ordinal,
				    struct tr_klocwork_parentage *parentage,
				    struct tr_klocwork_overrides *overrides, bool *known,
				    struct tr_error *err)
{
	bool root = parentage->place == TR_KLOCWORK_ROOT;
	bool top = is_top(env, fields), told_top = fields->envtop || top;
	if (is_alone(env, parentage) && (told_top || fields->env) && !env->target_top)
		disown(parentage, overrides);
	/* the difference to the env line serves both readings where there is no parent */
	bool differs_top = told_top && !env->target_top && parentage->read.seq != TR_NO_POSITION;
	bool differs_parent = env->target_top && !told_top && !root;
	bool needed = fields->env || differs_top || differs_parent;
	parentage->settled = needed || told_top;
	if (!needed && !fields->envtop && !env->pool && !env->target_top) {
		env->differences |= fields->envdiff != NULL;
		return TR_OK;
	}
	enum tr_status status = begin(env, ordinal, record->arena, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *own, *near = near_of(env, parentage);
	status = find_own(env, record, fields, top ? env->top : near, &own, err);
	if (status != TR_OK)
		return status;
	struct tr_environment *base = base_of(env, parentage->read.seq);
	bool computable = own && base &&
			  (!needed || tr_environments_may_write(env->pool, record->line.len));
	bool good = !needed || override(env, base, computable ? own : NULL, overrides);
	*known = !needed || computable;
	if (good && own)
		good = tr_environments_remember(env->pool, ordinal, own);
	tr_environment_release(env->pool, own);
	return good ? TR_OK : tr_error_memory(err);
}
