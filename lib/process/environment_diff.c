/* What two environments say of each other. */
#include "process/environment_private.h"

static void put_member(struct tr_environments *pool, struct tr_atom *name,
		       const struct tr_atom *value, char *before, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, *before);
	*before = ',';
	tr_buffer_put_byte(to, '"');
	tr_buffer_put_text(to, tr_atom_text(name));
	tr_buffer_put_literal(to, "\":");
	if (!value)
		tr_buffer_put_literal(to, "null");
	else if (tr_name_judge(pool, name) & TR_NAME_HIDDEN)
		tr_buffer_put_literal(to, "\"***\"");
	else
		tr_buffer_put_text(to, tr_atom_text(value));
}

static void put_end(char before, struct tr_buffer *to)
{
	if (before == '{')
		tr_buffer_put_byte(to, before);
	tr_buffer_put_byte(to, '}');
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

enum tr_status tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
				   struct tr_environment *env, struct tr_buffer *to)
{
	bool open = env->origin;
	if ((base ? base->origin : NULL) != env->origin)
		return TR_END;
	tr_findings_begin(pool);
	if (!tr_findings_add(pool, env, 1))
		return TR_FATAL;
	size_t known = pool->finding_count;
	if (!tr_findings_add(pool, base, 0))
		return TR_FATAL;
	if (open && !can_tell(pool))
		return TR_END;
	char before = '{';
	/* both came in reverse order; what is only in base is gone */
	for (size_t i = known; i-- > 0;) {
		const struct tr_finding *finding = &pool->findings[i];
		if (tr_finding_differs(finding, open))
			put_member(pool, finding->name[1], finding->value[1], &before, to);
	}
	for (size_t i = pool->finding_count; i-- > known;) {
		const struct tr_finding *finding = &pool->findings[i];
		if (finding->value[0])
			put_member(pool, finding->name[0], NULL, &before, to);
	}
	put_end(before, to);
	return to->failed ? TR_FATAL : TR_OK;
}

bool tr_environment_write(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to)
{
	tr_findings_begin(pool);
	if (!tr_findings_add(pool, env, 1))
		return false;
	char before = '{';
	for (size_t i = pool->finding_count; i-- > 0;) {
		const struct tr_finding *finding = &pool->findings[i];
		if (finding->value[1] || env->origin)
			put_member(pool, finding->name[1], finding->value[1], &before, to);
	}
	put_end(before, to);
	return !to->failed;
}

bool tr_environment_doubt(struct tr_environments *pool, struct tr_environment *base,
			  const struct tr_value *map, struct tr_environment_doubts *doubts)
{
	tr_findings_begin(pool);
	bool open = base && base->origin, fine = tr_findings_add_map(pool, map);
	fine = fine && tr_findings_add(pool, base, 0);
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
