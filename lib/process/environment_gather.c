/* Two environments, or one and a map, side by side. */
#include "process/environment_private.h"

#include <stdlib.h>

#include "record/literal.h"

void tr_findings_begin(struct tr_environments *pool)
{
	pool->round++;
	pool->finding_count = pool->named = 0;
}

/* What is found under a name in this round, nothing at first. NULL: memory is out. */
static struct tr_finding *find(struct tr_environments *pool, struct tr_atom *name)
{
	struct tr_atom *key = pool->fold ? tr_atom_fold(&pool->atoms, name) : name;
	if (!key)
		return NULL;
	if (key->round == pool->round)
		return &pool->findings[key->slot];
	if (pool->finding_count == UINT32_MAX)
		return NULL;
	if (pool->finding_count == pool->finding_cap) {
		size_t cap = pool->finding_cap ? pool->finding_cap * 2 : 64;
		struct tr_finding *list = realloc(pool->findings, cap * sizeof *list);
		if (!list)
			return NULL;
		pool->findings = list;
		pool->finding_cap = cap;
	}
	key->round = pool->round;
	key->slot = (uint32_t)pool->finding_count;
	struct tr_finding *finding = &pool->findings[pool->finding_count++];
	*finding = (struct tr_finding){ .key = key };
	return finding;
}

bool tr_findings_add(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (; env; env = env->base) {
		for (size_t i = env->count; i-- > 0;) {
			const struct tr_entry *entry = &env->entries[i];
			struct tr_finding *finding = find(pool, entry->name);
			if (!finding)
				return false;
			if (finding->has[side])
				continue;
			finding->has[side] = true;
			finding->name[side] = entry->name;
			finding->value[side] = entry->value;
		}
	}
	return true;
}

enum { JUDGED = 0x80 };

unsigned tr_name_judge(struct tr_environments *pool, struct tr_atom *name)
{
	const struct tr_environment_rules *rules = &pool->rules;
	struct tr_text text = tr_atom_text(name);
	if (name->verdicts)
		return name->verdicts;
	name->verdicts = JUDGED;
	if (!rules->selects || rules->selects(rules->context, text, pool->fold))
		name->verdicts |= TR_NAME_SELECTED;
	if (rules->hides && rules->hides(rules->context, text, pool->fold))
		name->verdicts |= TR_NAME_HIDDEN;
	return name->verdicts;
}

bool tr_environments_judge(struct tr_environments *pool, struct tr_text name, unsigned *verdict)
{
	struct tr_atom *atom = tr_atom_get(&pool->atoms, name);
	if (!atom)
		return false;
	*verdict = tr_name_judge(pool, atom);
	tr_atom_release(&pool->atoms, atom);
	return true;
}

/* The value as an atom, NULL for what removes; *failed: memory is out. */
static struct tr_atom *value_atom(struct tr_environments *pool, const struct tr_value *value,
				  struct tr_buffer *scratch, bool *failed)
{
	if (value->type == TR_NULL)
		return NULL;
	tr_buffer_reset(scratch);
	tr_literal_write(value, scratch);
	struct tr_atom *atom =
		scratch->failed ? NULL : tr_atom_get(&pool->atoms, tr_buffer_text(scratch));
	*failed = !atom;
	return atom;
}

static bool add_member(struct tr_environments *pool, const struct tr_member *member,
		       struct tr_buffer *scratch)
{
	bool failed = false;
	struct tr_atom *name = tr_atom_get(&pool->atoms, member->key);
	if (!name)
		return false;
	bool selected = tr_name_judge(pool, name) & TR_NAME_SELECTED;
	struct tr_atom *value = selected ? value_atom(pool, member->value, scratch, &failed) : NULL;
	struct tr_finding *finding = selected && !failed ? find(pool, name) : NULL;
	if (!finding) {
		tr_atom_release(&pool->atoms, value);
		tr_atom_release(&pool->atoms, name);
		return !selected;
	}
	if (finding->has[1]) { /* of a repeated name the last counts */
		tr_atom_release(&pool->atoms, finding->value[1]);
		tr_atom_release(&pool->atoms, finding->name[1]);
	}
	finding->has[1] = true;
	finding->name[1] = name;
	finding->value[1] = value;
	return true;
}

bool tr_findings_add_map(struct tr_environments *pool, const struct tr_value *map)
{
	struct tr_buffer scratch = TR_BUFFER_INIT;
	bool fine = true;
	for (size_t i = 0; i < map->count && fine; i++)
		fine = add_member(pool, &map->as.members[i], &scratch);
	tr_buffer_free(&scratch);
	pool->named = pool->finding_count;
	return fine;
}

void tr_findings_drop_map(struct tr_environments *pool)
{
	for (size_t i = 0; i < pool->named; i++) {
		struct tr_finding *finding = &pool->findings[i];
		if (!finding->has[1])
			continue; /* memory ran out under it */
		tr_atom_release(&pool->atoms, finding->value[1]);
		tr_atom_release(&pool->atoms, finding->name[1]);
	}
	pool->named = 0;
}
