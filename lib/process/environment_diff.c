/* SPDX-License-Identifier: MIT */
/* What two environments say of each other. */
#include "process/environment_private.h"

#include <stdlib.h>

enum { FREE_VARIABLES = 1 << 18, FREE_BYTES = 64 << 20 };

void tr_environments_limit(struct tr_environments *pool, unsigned ratio)
{
	pool->ratio = ratio;
}

static bool is_beyond(uint64_t written, uint64_t free, uint64_t read, unsigned ratio)
{
	return written > free && (written - free) / ratio > read;
}

bool tr_environments_may_write(struct tr_environments *pool, size_t record_bytes)
{
	pool->records++;
	pool->bytes_read += record_bytes;
	pool->spent =
		pool->ratio &&
		(is_beyond(pool->variables_written, FREE_VARIABLES, pool->records, pool->ratio) ||
		 is_beyond(pool->bytes_written, FREE_BYTES, pool->bytes_read, pool->ratio));
	return !pool->spent;
}

bool tr_environments_are_spent(const struct tr_environments *pool)
{
	return pool->spent;
}

static bool put_member(struct tr_environments *pool, struct tr_atom *name,
		       const struct tr_atom *value, bool hides, char *before, struct tr_buffer *to)
{
	unsigned verdict = 0;
	if (hides && !tr_name_judge(pool, name, &verdict))
		return false;
	tr_buffer_put_byte(to, *before);
	*before = ',';
	tr_buffer_put_byte(to, '"');
	tr_buffer_put_text(to, tr_atom_text(name));
	tr_buffer_put_literal(to, "\":");
	if (!value)
		tr_buffer_put_literal(to, "null");
	else if (verdict & TR_NAME_HIDDEN)
		tr_buffer_put_literal(to, "\"***\"");
	else
		return tr_atom_put(&pool->atoms, value, to);
	return !to->failed;
}

/* Can the findings be told at all? Not what base knows and env does not. */
static bool can_tell(const struct tr_environments *pool)
{
	for (size_t i = 0; i < pool->finding_count; i++) {
		if (pool->findings[i].has[0] && !pool->findings[i].has[1])
			return false;
	}
	return true;
}

/* What is set, in env's order; then what is gone, in base's. */
static int in_order(const void *a, const void *b)
{
	const struct tr_finding *x = a, *y = b;
	if (!x->value[1] != !y->value[1])
		return x->value[1] ? -1 : 1;
	if (!x->value[1] && x->has[0] != y->has[0])
		return x->has[0] ? -1 : 1;
	int side = x->value[1] || !x->has[0];
	return (x->stamp[side] > y->stamp[side]) - (x->stamp[side] < y->stamp[side]);
}

/* Those that differ come first, in order; their number. */
static size_t sort_differences(struct tr_environments *pool, bool open)
{
	size_t count = 0;
	for (size_t i = 0; i < pool->finding_count; i++) {
		if (tr_finding_differs(&pool->findings[i], open))
			pool->findings[count++] = pool->findings[i];
	}
	if (count > 1)
		qsort(pool->findings, count, sizeof *pool->findings, in_order);
	return count;
}

/* hides: values that the rules say are not told. */
static enum tr_status put_differences(struct tr_environments *pool, bool open, bool hides,
				      struct tr_buffer *to)
{
	char before = '{';
	size_t count = sort_differences(pool, open), begin = to->len;
	for (size_t i = 0; i < count; i++) {
		const struct tr_finding *finding = &pool->findings[i];
		int side =
			finding->value[1] || !finding->has[0]; /* what is gone: as it was called */
		if (!put_member(pool, finding->name[side], finding->value[1], hides, &before, to))
			return TR_FATAL;
	}
	if (!count)
		tr_buffer_put_byte(to, before);
	tr_buffer_put_byte(to, '}');
	pool->variables_written += count;
	pool->bytes_written += to->len - begin;
	return to->failed ? TR_FATAL : TR_OK;
}

enum tr_status tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
				   struct tr_environment *env, struct tr_buffer *to)
{
	if ((base ? base->origin : NULL) != env->origin)
		return TR_END;
	tr_findings_begin(pool);
	if (base ? !tr_findings_add_candidates(pool, env, base) : !tr_findings_add(pool, env, 1))
		return TR_FATAL;
	if (base) {
		tr_findings_look_up(pool, env, 1);
		tr_findings_look_up(pool, base, 0);
	}
	if (env->origin && !can_tell(pool))
		return TR_END;
	return put_differences(pool, env->origin, true, to);
}

bool tr_environment_write(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to)
{
	tr_findings_begin(pool);
	return tr_findings_add(pool, env, 1) &&
	       put_differences(pool, env->origin, true, to) == TR_OK;
}

bool tr_environment_spell(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to)
{
	tr_findings_begin(pool);
	return tr_findings_add(pool, env, 1) &&
	       put_differences(pool, env->origin, false, to) == TR_OK;
}

bool tr_environment_doubt(struct tr_environments *pool, struct tr_environment *base,
			  const struct tr_value *map, struct tr_environment_doubts *doubts)
{
	tr_findings_begin(pool);
	bool open = base && base->origin, fine = tr_findings_add_map(pool, map);
	if (fine)
		tr_findings_look_up(pool, base, 0);
	for (size_t i = 0; i < pool->named && fine; i++) {
		const struct tr_finding *finding = &pool->findings[i];
		if (finding->value[1])
			doubts->redundant += finding->value[0] == finding->value[1];
		else
			doubts->impossible += finding->has[0] ? !finding->value[0] : !open;
	}
	tr_findings_drop_map(pool);
	return fine;
}
