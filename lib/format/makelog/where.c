/* SPDX-License-Identifier: MIT */
/*
 * Where the commands of a log run: in the directory that the last make has entered and not left;
 * outside of makes, where the build began, or where a session has changed to.
 */
#include <stdlib.h>
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/directory.h"
#include "process/path.h"

enum { MOST = 1000 }; /* directories that are entered at a time */

struct tr_text tr_makelog_where_now(const struct tr_makelog_where *where)
{
	if (!where->count)
		return where->cwd.len ? tr_buffer_text(&where->cwd) : (struct tr_text){ NULL, 0 };
	const struct tr_makelog_place *last = &where->list[where->count - 1];
	return (struct tr_text){ last->path, last->len };
}

/* True if two makes of the same level, or two nodes, are at work, whose commands are mixed. */
static bool is_ambiguous(const struct tr_makelog_where *where)
{
	if (where->count < 2)
		return false;
	const struct tr_makelog_place *last = &where->list[where->count - 1];
	bool nodes = last->level <= TR_MAKELOG_MSBUILD && last[-1].level <= TR_MAKELOG_MSBUILD;
	return (last[-1].level == last->level) != nodes &&
	       !tr_text_equal((struct tr_text){ last->path, last->len },
			      (struct tr_text){ last[-1].path, last[-1].len });
}

static void drop_place(struct tr_makelog_where *where, size_t i)
{
	free(where->list[i].path);
	where->count--;
	memmove(&where->list[i], &where->list[i + 1], (where->count - i) * sizeof *where->list);
}

enum tr_status tr_makelog_where_enter(struct tr_makelog_where *where, int level,
				      struct tr_text path, struct tr_error *err)
{
	struct tr_buffer joined = TR_BUFFER_INIT;
	struct tr_text base = tr_makelog_where_now(where);
	enum tr_status status = TR_OK;

	if (where->count == MOST) {
		drop_place(where, 0);
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "more than %d directories are entered and not left: the first of them "
			     "is forgotten",
			     MOST);
		status = TR_WARN;
	}
	if (!tr_path_is_absolute(path) && !base.data)
		return status;
	tr_directory_join(tr_path_is_absolute(path) ? TR_TEXT("/") : base, path, &joined);
	if (tr_path_has_drive(path)) {
		joined.len = 0;
		tr_buffer_put_text(&joined, path);
	}
	if (joined.len > TR_DIRECTORY_MAX) {
		tr_buffer_free(&joined);
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "a directory whose path is longer than %d bytes is not entered",
			     TR_DIRECTORY_MAX);
		return TR_WARN;
	}
	char *copy = joined.failed ? NULL : malloc(joined.len + 1);
	if (!copy || !tr_array_room(where->list, where->count, where->cap)) {
		free(copy);
		tr_buffer_free(&joined);
		return tr_error_memory(err);
	}
	memcpy(copy, tr_buffer_text(&joined).data, joined.len);
	where->list[where->count++] = (struct tr_makelog_place){ level, copy, joined.len };
	where->guessed = is_ambiguous(where);
	tr_buffer_free(&joined);
	return status;
}

/* True if the messages of both levels are about the same directories. */
static bool is_same_level(int a, int b)
{
	return a == b || (a <= TR_MAKELOG_MSBUILD && b <= TR_MAKELOG_MSBUILD);
}

void tr_makelog_where_leave(struct tr_makelog_where *where, int level, struct tr_text path)
{
	size_t found = where->count;

	for (size_t i = 0; i < where->count; i++) {
		const struct tr_makelog_place *place = &where->list[i];
		if (is_same_level(place->level, level) &&
		    tr_text_equal((struct tr_text){ place->path, place->len }, path))
			found = i;
	}
	for (size_t i = where->count; i > 0 && found == where->count; i--)
		if (is_same_level(where->list[i - 1].level, level))
			found = i - 1;
	if (found < where->count)
		drop_place(where, found);
	where->guessed = is_ambiguous(where);
}

bool tr_makelog_where_is_about_next(const struct tr_makelog_where *where, char prompt,
				    struct tr_text text)
{
	if (where->count)
		return false;
	if (prompt)
		return tr_text_starts(text, TR_TEXT("cd ")) ||
		       tr_text_starts(text, TR_TEXT("pushd "));
	return (tr_text_starts(text, TR_TEXT("cd /")) || tr_text_starts(text, TR_TEXT("cd \"/")) ||
		tr_text_starts(text, TR_TEXT("cd $"))) &&
	       !memchr(text.data, ';', text.len) && !memchr(text.data, '&', text.len) &&
	       !memchr(text.data, '|', text.len);
}

void tr_makelog_where_follow(struct tr_makelog_where *where, char prompt, struct tr_text directory)
{
	tr_buffer_reset(&where->cwd);
	if (directory.data)
		tr_buffer_put_text(&where->cwd, directory);
	where->traced = prompt != '$';
}

bool tr_makelog_where_is_guess(const struct tr_makelog_where *where)
{
	return where->guessed || (where->traced && !where->count);
}

void tr_makelog_where_free(struct tr_makelog_where *where)
{
	while (where->count)
		free(where->list[--where->count].path);
	free(where->list);
	tr_buffer_free(&where->cwd);
}
