/* SPDX-License-Identifier: MIT */
/* What an heir has: its own environment, out of what it tells and of its parent's or the first. */
#include "process/lineage_private.h"

#include <stdlib.h>

void tr_lineage_set_top(struct tr_lineage *lineage, struct tr_environment *env)
{
	tr_environment_retain(env);
	tr_environment_release(lineage->pool, lineage->top);
	lineage->top = env;
	lineage->has_top = true;
}

void tr_lineage_release(struct tr_lineage *lineage, struct tr_heir *heir)
{
	if (!heir || --heir->references > 0)
		return;
	tr_environment_release(lineage->pool, heir->own);
	tr_environment_release(lineage->pool, heir->parent);
	tr_environment_release(lineage->pool, heir->top);
	free((char *)heir->literal.data);
	free(heir);
}

static void count_doubts(struct tr_lineage *lineage, const struct tr_value *map)
{
	for (size_t i = 0; i < map->count; i++) {
		if (map->as.members[i].value->type == TR_NULL)
			lineage->doubts.removals++;
		else
			lineage->doubts.sets++;
	}
}

bool tr_heir_inherit(struct tr_lineage *lineage, struct tr_heir *heir, const struct tr_value *map)
{
	struct tr_lineage_doubts *doubts = &lineage->doubts;
	if (!map) {
		heir->own = tr_environment_retain(heir->parent);
		return true;
	}
	if (lineage->config.doubts) {
		count_doubts(lineage, map);
		if (!tr_environment_doubt(lineage->pool, heir->parent, map,
					  &doubts->against_parent) ||
		    !tr_environment_doubt(lineage->pool, heir->top, map, &doubts->against_top))
			return false;
	}
	heir->own = tr_environment_apply(lineage->pool, heir->parent, map, &heir->lean);
	heir->lean &= map->count > 0; /* who has its parent's environment says nothing */
	return heir->own != NULL;
}
