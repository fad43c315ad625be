/* Which names --keep, --drop and --mask mean. */
#include "config.h"

#include "tr_envdiff.h"

#include <fnmatch.h>
#include <stdlib.h>

bool tr_globs_add(struct tr_globs *globs, const char *glob)
{
	const char **list = realloc(globs->list, (globs->count + 1) * sizeof *list);

	if (!list)
		return false;
	list[globs->count++] = glob;
	globs->list = list;
	return true;
}

bool tr_name_globs_are_set(const struct tr_name_globs *globs)
{
	return globs->keep.count || globs->drop.count || globs->mask.count;
}

static bool matches(const struct tr_globs *globs, const char *name, int flags)
{
	for (size_t i = 0; i < globs->count; i++) {
		if (fnmatch(globs->list[i], name, flags) == 0)
			return true;
	}
	return false;
}

/* The name as fnmatch wants it; NULL: memory is out. */
static const char *name_string(struct tr_name_globs *globs, struct tr_text spelling)
{
	tr_arena_reset(&globs->arena);
	struct tr_text bytes = tr_string_bytes(spelling, &globs->arena);
	char *string = bytes.data ? tr_arena_alloc(&globs->arena, bytes.len + 1) : NULL;

	if (!string)
		return NULL;
	/* no name that a program sees has a NUL in it: whatever stands for it here is as good */
	for (size_t i = 0; i < bytes.len; i++)
		string[i] = bytes.data[i] ? bytes.data[i] : '\1';
	string[bytes.len] = '\0';
	return string;
}

bool tr_name_globs_judge(void *context, struct tr_text spelling, bool fold, unsigned *verdict)
{
	struct tr_name_globs *globs = context;
	int flags = fold ? FNM_CASEFOLD : 0;
	const char *name = name_string(globs, spelling);

	if (!name)
		return false;
	*verdict = 0;
	if ((!globs->keep.count || matches(&globs->keep, name, flags)) &&
	    !matches(&globs->drop, name, flags))
		*verdict |= TR_NAME_SELECTED;
	if (matches(&globs->mask, name, flags))
		*verdict |= TR_NAME_HIDDEN;
	return true;
}

void tr_name_globs_free(struct tr_name_globs *globs)
{
	free(globs->keep.list);
	free(globs->drop.list);
	free(globs->mask.list);
	tr_arena_free(&globs->arena);
}
