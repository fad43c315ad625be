/* SPDX-License-Identifier: MIT */
/*
 * Directories that are pending on others. A directory is an absolute path, or a path below the
 * directory of an origin, which may be unknown for a long time. Chains of origins are shortened
 * when they are followed, so that later look-ups stay cheap.
 */
#include "process/directory.h"

#include <stdlib.h>
#include <string.h>

struct tr_directory {
	size_t references;
	struct tr_origin *origin; /* NULL: path is absolute */
	size_t len;
	char path[];
};

/* The path of a directory, absolute or relative to its origin. */
static struct tr_text path_of(const struct tr_directory *directory)
{
	return (struct tr_text){ directory->path, directory->len };
}

struct tr_origin *tr_origin_new(struct tr_origins *origins)
{
	struct tr_origin *origin = calloc(1, sizeof *origin);

	if (!origin)
		return NULL;
	origin->references = 1;
	origin->all = origins;
	origin->exec = TR_EXEC_NONE;
	origin->next = origins->first;
	origin->link = &origins->first;
	if (origin->next)
		origin->next->link = &origin->next;
	origins->first = origin;
	return origin;
}

struct tr_origin *tr_origin_retain(struct tr_origin *origin)
{
	if (origin)
		origin->references++;
	return origin;
}

/* Drops a reference. An origin without references is added to the list of origins to free. */
static void drop_reference(struct tr_origin *origin, struct tr_origin **unused)
{
	if (!origin || --origin->references > 0)
		return;
	*origin->link = origin->next;
	if (origin->next)
		origin->next->link = origin->link;
	origin->next = *unused;
	*unused = origin;
}

/* Frees a list of origins, and what only they refer to, without recursion: chains may be long. */
static void free_all(struct tr_origin *unused)
{
	while (unused) {
		struct tr_origin *origin = unused;
		struct tr_directory *directory = origin->directory;
		unused = origin->next;
		drop_reference(origin->exec_from, &unused);
		drop_reference(origin->asks, &unused);
		if (directory && --directory->references == 0) {
			drop_reference(directory->origin, &unused);
			free(directory);
		}
		free(origin);
	}
}

void tr_origin_release(struct tr_origin *origin)
{
	struct tr_origin *unused = NULL;

	drop_reference(origin, &unused);
	free_all(unused);
}

void tr_origins_free(struct tr_origins *origins)
{
	struct tr_origin *next;

	/*
	 * these are in cycles; each gets a reference, so that none is freed while the list is
	 * walked
	 */
	for (struct tr_origin *origin = origins->first; origin; origin = origin->next)
		origin->references++;
	for (struct tr_origin *origin = origins->first; origin; origin = origin->next)
		tr_directory_release(origin->directory);
	for (struct tr_origin *origin = origins->first; origin; origin = next) {
		next = origin->next;
		free(origin);
	}
	origins->first = NULL;
}

/*
 * An exec record or a directory may be inherited from the parent, which may have inherited it from
 * its own parent, and so on. Such chains may be long, so a look-up shortens them: a hop makes an
 * origin refer to what its parent refers to. This function hops from an origin to the exec record
 * of its parent. False: that is final, or pending.
 */
static bool hop_exec(struct tr_origin *origin)
{
	struct tr_origin *from = origin->exec_from;

	if (!origin->settled || origin->exec != TR_EXEC_NONE || !from || !from->settled)
		return false;
	origin->exec = from->exec;
	origin->exec_from = tr_origin_retain(from->exec_from);
	tr_origin_release(from);
	return true;
}

/*
 * Hops to the directory. It does not hop over a guess: tr_directory_guess returns the path of
 * the origin for which it was made.
 */
static bool hop_place(struct tr_origin *origin)
{
	struct tr_directory *directory = origin->directory;
	struct tr_origin *from = directory ? directory->origin : NULL;

	if (!from || !from->placed ||
	    (from->directory && !from->directory->origin && from->guessed))
		return false;
	origin->guessed |= from->guessed;
	origin->directory = from->directory ? tr_directory_enter(origin->all, from->directory,
								 path_of(directory))
					    : NULL;
	tr_directory_release(directory);
	return true;
}

/*
 * Between two hops of the first origin, every second origin of its chain hops as well, so that
 * their chains become shorter, too, and later look-ups stay cheap.
 */
bool tr_origin_exec(struct tr_origin *origin, uint64_t *seq)
{
	while (hop_exec(origin))
		for (struct tr_origin *next = origin->exec_from; next && hop_exec(next);)
			next = next->exec_from;
	*seq = origin->exec;
	return origin->settled && (origin->exec != TR_EXEC_NONE || !origin->exec_from);
}

/* Shortens the chain of directories above an origin, in the same way. */
static void shorten(struct tr_origin *origin)
{
	while (hop_place(origin)) {
		struct tr_origin *next = origin->directory ? origin->directory->origin : NULL;
		while (next && hop_place(next))
			next = next->directory ? next->directory->origin : NULL;
	}
}

/*
 * True if a chain of exec records leads to this origin. A chain must not lead back to itself,
 * because following it would never end.
 */
static bool leads_to(struct tr_origin *from, const struct tr_origin *origin)
{
	uint64_t seq;

	if (from)
		tr_origin_exec(from, &seq);
	while (from && from != origin)
		from = from->exec_from;
	return from != NULL;
}

/*
 * True if a directory is pending on this origin, so that placing the origin in it would make a
 * cycle.
 */
static bool lies_in(const struct tr_directory *directory, const struct tr_origin *origin)
{
	struct tr_origin *from = directory ? directory->origin : NULL;

	while (from && from != origin) {
		shorten(from);
		from = from->directory ? from->directory->origin : NULL;
	}
	return from != NULL;
}

/* Sets the directory, which may be pending on other origins, but not on this one. */
static void place_in(struct tr_origin *origin, struct tr_directory *directory)
{
	if (origin->placed)
		return;
	origin->placed = true;
	if (!lies_in(directory, origin))
		origin->directory = tr_directory_retain(directory);
	shorten(origin);
}

void tr_origin_settle(struct tr_origin *origin, uint64_t ppid, uint64_t exec,
		      struct tr_origin *exec_from, struct tr_directory *directory)
{
	if (!origin->settled) {
		origin->settled = origin->has_ppid = true;
		origin->ppid = ppid;
		if (exec != TR_EXEC_NONE)
			origin->exec = exec;
		else if (!leads_to(exec_from, origin))
			origin->exec_from = tr_origin_retain(exec_from);
	}
	place_in(origin, directory);
}

void tr_origin_give_up(struct tr_origin *origin, bool orphan)
{
	if (origin->settled)
		return;
	origin->settled = true;
	origin->orphan = orphan;
}

void tr_origin_place(struct tr_origin *origin, struct tr_directory *directory, bool guessed)
{
	if (origin->placed)
		return;
	origin->placed = true;
	origin->guessed = guessed;
	origin->directory = tr_directory_retain(directory);
}

/* Makes a directory of a path, and frees the path. NULL: it is too long, or out of memory. */
static struct tr_directory *take_path(struct tr_origins *origins, struct tr_origin *origin,
				      struct tr_buffer *path)
{
	struct tr_directory *directory = NULL;

	if (!path->failed && path->len <= TR_DIRECTORY_MAX)
		directory = malloc(sizeof *directory + path->len);
	origins->failed |= path->failed || (!directory && path->len <= TR_DIRECTORY_MAX);
	if (directory) {
		directory->references = 1;
		directory->origin = tr_origin_retain(origin);
		directory->len = path->len;
		if (path->len)
			memcpy(directory->path, path->data, path->len);
	}
	tr_buffer_free(path);
	return directory;
}

struct tr_directory *tr_directory_new(struct tr_origins *origins, struct tr_text absolute)
{
	struct tr_buffer path = TR_BUFFER_INIT;

	tr_directory_join(TR_TEXT("/"), absolute, &path);
	return take_path(origins, NULL, &path);
}

struct tr_directory *tr_directory_of(struct tr_origin *origin)
{
	struct tr_buffer path = TR_BUFFER_INIT;

	return take_path(origin->all, origin, &path);
}

struct tr_directory *tr_directory_enter(struct tr_origins *origins,
					const struct tr_directory *directory, struct tr_text path)
{
	struct tr_buffer joined = TR_BUFFER_INIT;
	bool absolute = path.len && *path.data == '/';

	if (!directory && !absolute)
		return NULL;
	tr_directory_join(directory ? path_of(directory) : TR_TEXT("/"), path, &joined);
	return take_path(origins, absolute ? NULL : directory->origin, &joined);
}

bool tr_directory_same(const struct tr_directory *a, const struct tr_directory *b)
{
	return a == b ||
	       (a && b && a->origin == b->origin && tr_text_equal(path_of(a), path_of(b)));
}

struct tr_directory *tr_directory_retain(struct tr_directory *directory)
{
	if (directory)
		directory->references++;
	return directory;
}

void tr_directory_release(struct tr_directory *directory)
{
	if (!directory || --directory->references > 0)
		return;
	tr_origin_release(directory->origin);
	free(directory);
}

enum tr_certainty tr_directory_resolve(const struct tr_directory *directory, struct tr_buffer *to)
{
	if (!directory)
		return TR_PLACE_UNKNOWN;
	struct tr_origin *origin = directory->origin;
	if (!origin) {
		tr_buffer_put_text(to, path_of(directory));
		return TR_PLACE_KNOWN;
	}
	shorten(origin);
	if (!origin->placed)
		return TR_PLACE_OPEN;
	if (!origin->directory)
		return TR_PLACE_UNKNOWN;
	struct tr_buffer base = TR_BUFFER_INIT;
	enum tr_certainty certainty = origin->guessed ? TR_PLACE_GUESSED : TR_PLACE_KNOWN;
	if (origin->directory->origin) /* that is pending, or a guess */
		certainty = tr_directory_resolve(origin->directory, &base);
	else
		tr_buffer_put_text(&base, path_of(origin->directory));
	if (certainty <= TR_PLACE_GUESSED)
		tr_directory_join(tr_buffer_text(&base), path_of(directory), to);
	to->failed |= base.failed;
	tr_buffer_free(&base);
	return certainty;
}

struct tr_text tr_directory_guess(const struct tr_directory *directory)
{
	while (directory && directory->origin)
		directory = directory->origin->directory;
	return directory ? path_of(directory) : (struct tr_text){ NULL, 0 };
}

bool tr_directory_is_open(const struct tr_directory *directory)
{
	struct tr_origin *origin = directory ? directory->origin : NULL;

	if (!origin)
		return false;
	shorten(origin);
	directory = origin->directory;
	return !origin->placed || (directory && directory->origin && !directory->origin->placed);
}

/* The origin on which the directory is pending, and in *path the path from there; NULL: none. */
static struct tr_origin *awaited(const struct tr_directory *directory, struct tr_buffer *path)
{
	struct tr_origin *origin = directory ? directory->origin : NULL;

	if (!origin)
		return NULL;
	shorten(origin);
	tr_buffer_put_text(path, path_of(directory));
	if (!origin->placed)
		return origin;
	directory = origin->directory;
	if (!directory || !directory->origin || directory->origin->placed)
		return NULL;
	struct tr_buffer longer = TR_BUFFER_INIT;
	tr_directory_join(path_of(directory), tr_buffer_text(path), &longer);
	tr_buffer_free(path);
	*path = longer;
	return directory->origin;
}

bool tr_directory_learn(const struct tr_directory *directory, struct tr_text absolute, bool guessed)
{
	struct tr_buffer path = TR_BUFFER_INIT;
	struct tr_origin *origin = awaited(directory, &path);
	bool agrees = origin && !path.failed && absolute.len >= path.len + (path.len > 0);

	if (agrees && path.len) {
		/* a path that leads up, like "../x", fits any directory */
		absolute.len -= path.len;
		agrees = absolute.data[absolute.len - 1] == '/' &&
			 !tr_text_starts(tr_buffer_text(&path), TR_TEXT("..")) &&
			 memcmp(absolute.data + absolute.len, path.data, path.len) == 0;
	}
	if (origin)
		origin->all->failed |= path.failed;
	tr_buffer_free(&path);
	struct tr_directory *place = agrees ? tr_directory_new(origin->all, absolute) : NULL;
	if (place)
		tr_origin_place(origin, place, guessed);
	tr_directory_release(place);
	return place;
}

void tr_directory_follow(const struct tr_directory *directory, struct tr_directory *other)
{
	if (directory->origin)
		place_in(directory->origin, other);
}

void tr_directory_give_up(const struct tr_directory *directory)
{
	struct tr_buffer path = TR_BUFFER_INIT;
	struct tr_origin *origin = awaited(directory, &path);

	if (origin)
		tr_origin_place(origin, NULL, false);
	tr_buffer_free(&path);
}

bool tr_directory_is(const struct tr_directory *directory, struct tr_text absolute)
{
	return directory && !directory->origin && tr_text_equal(path_of(directory), absolute);
}

/* The parent of a process, if that depends on the task that made it. */

bool tr_origin_has_ppid(struct tr_origin *origin)
{
	for (struct tr_origin *from; (from = origin->asks) && from->settled;) {
		origin->asks = NULL;
		if (origin->sibling) {
			origin->asks = tr_origin_retain(from->asks);
			origin->sibling = from->sibling;
			origin->has_ppid = from->has_ppid;
			origin->ppid = from->ppid;
		} else if (from->thread) {
			origin->ppid = from->tgid;
		}
		tr_origin_release(from);
	}
	return origin->settled && !origin->asks;
}

void tr_origin_derive(struct tr_origin *origin, struct tr_origin *maker, bool sibling)
{
	struct tr_origin *from = maker;

	while (from && from != origin)
		from = from->asks;
	origin->has_ppid = !sibling && !from;
	if (from)
		return; /* a cycle: the parent stays unknown */
	origin->asks = tr_origin_retain(maker);
	origin->sibling = sibling;
	tr_origin_has_ppid(origin);
}
