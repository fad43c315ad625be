/* Which names --keep, --drop and --mask mean. */
#include "config.h"

#include "tr_envdiff.h"

#include <fnmatch.h>
#include <stdlib.h>

bool tr_globs_add(struct tr_globs *globs, const char *glob)
{
	struct tr_glob *list = realloc(globs->list, (globs->count + 1) * sizeof *list);

	if (!list)
		return false;
	list[globs->count++] = (struct tr_glob){ glob, false };
	globs->list = list;
	return true;
}

bool tr_name_globs_are_set(const struct tr_name_globs *globs)
{
	return globs->keep.count || globs->drop.count || globs->mask.count;
}

/* Tries all patterns, because each is reported that never matches. */
static bool matches(struct tr_globs *globs, const char *name, int flags)
{
	bool any = false;

	for (size_t i = 0; i < globs->count; i++) {
		if (fnmatch(globs->list[i].pattern, name, flags) == 0)
			globs->list[i].used = any = true;
	}
	return any;
}

/* The end of a bracket expression, behind its ']'. NULL: it has none. */
static const char *bracket_end(const char *p)
{
	p += *p == '!' || *p == '^';
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '[' && p[1] && strchr(":=.", p[1])) {
			const char end[] = { p[1], ']', '\0' };
			const char *stop = strstr(p + 2, end);
			p = stop ? stop + 1 : p;
		}
	}
	return *p ? p + 1 : NULL;
}

bool tr_glob_is_complete(const char *pattern)
{
	const char *p = pattern;

	while (p && *p) {
		if (*p == '[')
			p = bracket_end(p + 1);
		else
			p += *p == '\\' && p[1] ? 2 : 1;
	}
	return p && p > pattern;
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
	bool kept = matches(&globs->keep, name, flags) || !globs->keep.count;
	bool dropped = matches(&globs->drop, name, flags);
	if (kept && !dropped)
		*verdict |= TR_NAME_SELECTED;
	if (matches(&globs->mask, name, flags))
		*verdict |= TR_NAME_HIDDEN;
	return true;
}

static void report_unused(const struct tr_globs *globs, struct tr_cli *cli, const char *option)
{
	for (size_t i = 0; i < globs->count; i++) {
		if (!globs->list[i].used)
			tr_cli_note(cli, "no variable matches %s=%s", option,
				    globs->list[i].pattern);
	}
}

/*
 * A name in full is that of a variable which the user knows, so that its absence is an error;
 * a pattern with wildcards may be one of a list that is used for all traces.
 */
void tr_name_globs_report(const struct tr_name_globs *globs, struct tr_cli *cli)
{
	static const char message[] = "no variable matches --mask=%s; nothing was masked for it";

	report_unused(&globs->keep, cli, "--keep");
	report_unused(&globs->drop, cli, "--drop");
	for (size_t i = 0; i < globs->mask.count; i++) {
		const struct tr_glob *glob = &globs->mask.list[i];
		if (glob->used)
			continue;
		if (strpbrk(glob->pattern, "*?["))
			tr_cli_note(cli, message, glob->pattern);
		else
			tr_cli_fail(cli, message, glob->pattern);
	}
}

void tr_name_globs_free(struct tr_name_globs *globs)
{
	free(globs->keep.list);
	free(globs->drop.list);
	free(globs->mask.list);
	tr_arena_free(&globs->arena);
}
