/* SPDX-License-Identifier: MIT */
/*
 * Follows environments in a stream whose parents come before their children, which is the simple
 * case: nothing is held back, and a parent that is not known stays unknown.
 */
#include "process/follow.h"

#include "process/env_line.h"

void tr_follow_free(struct tr_follow *follow)
{
	if (follow->pool) {
		tr_environment_release(follow->pool, follow->top);
		tr_environment_release(follow->pool, follow->own);
	}
	tr_environments_free(follow->pool);
	*follow = (struct tr_follow){ .pool = NULL };
}

/* Without an env record the first environment is empty, and not unknown. */
static bool begin(struct tr_follow *follow)
{
	static const struct tr_value empty = { .type = TR_MAP };

	if (follow->pool)
		return true;
	follow->pool = tr_environments_new();
	if (follow->pool) {
		tr_environments_limit(follow->pool, TR_ENVIRONMENTS_RATIO);
		follow->top = tr_environment_whole(follow->pool, NULL, &empty);
	}
	return follow->top != NULL;
}

/* An env record replaces the first environment. */
static enum tr_status follow_env(struct tr_follow *follow, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_field *vars = tr_record_field(record, "vars");
	const struct tr_value *map;

	if (!vars)
		return TR_OK;
	enum tr_status status = tr_env_line_map(record, vars, &map, err);
	if (status != TR_OK)
		return status;
	tr_environment_release(follow->pool, follow->top);
	follow->top = tr_environment_whole(follow->pool, NULL, map);
	return follow->top ? TR_OK : tr_error_memory(err);
}

/*
 * Finds the environment of an exec record: that of the parent, changed by the record's
 * differences. follow->own stays NULL if it is unknown.
 */
static enum tr_status find_own(struct tr_follow *follow, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_environment *near = follow->top;
	enum tr_env_form form;
	struct tr_field *field = tr_env_line_field(record, &form);

	if (!tr_parent_read(record, &follow->parent))
		return tr_error_memory(err);
	if (follow->parent.kind == TR_PARENT_RECORD)
		near = tr_environments_of(follow->pool, follow->parent.seq);
	if (!field) {
		if (!tr_env_line_is_unknown(record))
			follow->own = tr_environment_retain(near);
		follow->minimal = follow->own != NULL;
		return TR_OK;
	}
	if (form == TR_ENV_FORM_PARENT && !near)
		return TR_OK;
	struct tr_environment *base = form == TR_ENV_FORM_WHOLE ? NULL
				      : form == TR_ENV_FORM_TOP ? follow->top
								: near;
	enum tr_status status = tr_env_line_read(follow->pool, record, field, base, near,
						 &follow->own, &follow->minimal, err);
	/* an empty map is redundant */
	follow->minimal &= form == TR_ENV_FORM_PARENT && follow->own != near;
	return status;
}

/* Follows an exec record, and remembers its environment for its children. */
static enum tr_status follow_exec(struct tr_follow *follow, struct tr_record *record,
				  struct tr_error *err)
{
	uint64_t seq;

	tr_environment_release(follow->pool, follow->own);
	follow->own = NULL;
	follow->minimal = false;
	enum tr_status status = find_own(follow, record, err);
	if (follow->own && tr_cell_number(&record->seq, &seq) &&
	    !tr_environments_remember(follow->pool, seq, follow->own))
		return tr_error_memory(err);
	return status;
}

enum tr_status tr_follow_record(struct tr_follow *follow, struct tr_record *record,
				struct tr_error *err)
{
	bool is_env = tr_text_is(record->kind, "env"), is_exec = tr_text_is(record->kind, "exec");

	if (!is_env && !is_exec)
		return TR_OK;
	if (!begin(follow))
		return tr_error_memory(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	return is_env ? follow_env(follow, record, err) : follow_exec(follow, record, err);
}
