/* SPDX-License-Identifier: MIT */
/*
 * Resolves symbolic links as the kernel does, one component after the other (tr_links_resolve): see
 * decode.h. Each path that was looked up is kept with its target.
 */
#include "preload/decode.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KNOWN_MAX = 100000, /* paths that are kept */
	LINKS_MAX = 40,	    /* links in a path: MAXSYMLINKS of the kernel */
};

/* A path that was looked up: a symbolic link, or any other file. */
struct link {
	bool directory;	   /* other paths lead through it */
	size_t len;	   /* of the target; 0: it is not a link */
	struct link *next; /* the next symbolic link */
	char text[];	   /* the path and the target, each with a NUL */
};

void tr_links_clear(struct tr_links *links)
{
	struct link *link;

	for (size_t i = 0; (link = tr_map_next(&links->known, &i)) != NULL;)
		free(link);
	tr_map_clear(&links->known);
	links->symbolic = NULL;
}

/* Adds a path to the list of symbolic links, if it is one. */
static void add_symbolic(struct tr_links *links, struct link *link)
{
	if (!link->len)
		return;
	link->next = links->symbolic;
	links->symbolic = link;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Whether the path is that directory or leads through it. directory NULL: whether any component of
 * the path has that name.
 */
static bool is_through(const char *path, const char *directory, const char *base)
{
	size_t len = strlen(directory ? directory : base);

	if (directory)
		return strncmp(path, directory, len) == 0 &&
		       (path[len] == '/' || path[len] == '\0');
	for (const char *p = path; (p = strchr(p, '/')) != NULL;) {
		p++;
		if (strncmp(p, base, len) == 0 && (p[len] == '/' || p[len] == '\0'))
			return true;
	}
	return false;
}

/* Forgets the paths for which is_through is true. */
static void forget(struct tr_links *links, const char *directory, const char *base)
{
	struct tr_map rest = TR_MAP_INIT;
	struct link *link;

	links->symbolic = NULL;
	for (size_t i = 0; (link = tr_map_next(&links->known, &i)) != NULL;) {
		struct tr_text path = tr_text_from(link->text);
		if (is_through(link->text, directory, base) || !tr_map_put(&rest, path, link))
			free(link);
		else
			add_symbolic(links, link);
	}
	tr_map_free(&links->known);
	links->known = rest;
}

/* Keeps the path in links->real; target: of a link, otherwise empty. NULL: memory is exhausted. */
static struct link *keep(struct tr_links *links, struct tr_text target)
{
	struct tr_text path = tr_buffer_text(&links->real);

	if (links->known.count >= KNOWN_MAX)
		tr_links_clear(links);
	struct link *link = malloc(sizeof *link + path.len + target.len + 2);
	if (!link)
		return NULL;
	*link = (struct link){ .len = target.len };
	memcpy(link->text, path.data, path.len);
	link->text[path.len] = '\0';
	memcpy(link->text + path.len + 1, target.data, target.len);
	link->text[path.len + 1 + target.len] = '\0';
	if (!tr_map_put(&links->known, (struct tr_text){ link->text, path.len }, link)) {
		free(link);
		return NULL;
	}
	add_symbolic(links, link);
	return link;
}

/*
 * Looks up the path in links->real, and keeps the result. NULL: there is no file, or memory is
 * exhausted.
 */
static struct link *look_up(struct tr_links *links)
{
	struct tr_text path = tr_buffer_text(&links->real);
	struct link *link = tr_map_get(&links->known, path);
	char target[PATH_MAX];

	if (link)
		return link;
	if (path.len >= PATH_MAX)
		return NULL;
	tr_buffer_put_byte(&links->real, '\0');
	ssize_t len = links->real.failed ? -1 : readlink(links->real.data, target, sizeof target);
	links->real.len = path.len;
	if (len < 0 && errno != EINVAL)
		return NULL;
	return keep(links, (struct tr_text){ target, len > 0 ? (size_t)len : 0 });
}

/* Removes the last component of a path. */
static void remove_last(struct tr_buffer *real)
{
	while (real->len && real->data[--real->len] != '/')
		;
}

/* Sets the components that are left: those of a path, then those of rest. */
static void set_rest(struct tr_links *links, const char *path, size_t len, struct tr_text rest)
{
	struct tr_buffer next = links->target;

	tr_buffer_reset(&next);
	tr_buffer_put(&next, path, len);
	tr_buffer_put_text(&next, rest);
	links->target = links->rest;
	links->rest = next;
	if (len && *path == '/')
		tr_buffer_reset(&links->real);
}

const char *tr_links_resolve(struct tr_links *links, const char *cwd, const char *path, bool follow)
{
	struct tr_buffer *real = &links->real;
	struct tr_text rest;

	if (*path != '/' && *cwd != '/')
		return NULL;
	tr_buffer_reset(real);
	if (cwd[1])
		tr_buffer_put_text(real, tr_text_from(cwd));
	set_rest(links, path, strlen(path), TR_TEXT(""));
	rest = tr_buffer_text(&links->rest);
	for (unsigned depth = 0; rest.len;) {
		size_t len = 0;
		while (len < rest.len && rest.data[len] != '/')
			len++;
		struct tr_text name = { rest.data, len };
		rest = tr_text_span(rest.data + len, rest.data + rest.len);
		while (rest.len && *rest.data == '/')
			rest = tr_text_span(rest.data + 1, rest.data + rest.len);
		if (tr_text_is(name, ".."))
			remove_last(real);
		if (!len || tr_text_is(name, ".") || tr_text_is(name, ".."))
			continue;
		tr_buffer_put_byte(real, '/');
		tr_buffer_put_text(real, name);
		if (real->failed || tr_text_is(tr_buffer_text(real), "/proc") ||
		    tr_text_is(tr_buffer_text(real), "/dev/fd"))
			return NULL;
		if (!rest.len && !follow)
			break;
		struct link *link = look_up(links);
		if (link && rest.len)
			link->directory = true;
		if (!link || !link->len)
			continue;
		if (++depth > LINKS_MAX)
			return NULL;
		remove_last(real);
		char joined[PATH_MAX + 1];
		size_t target = link->len;
		memcpy(joined, strchr(link->text, '\0') + 1, target);
		if (rest.len)
			joined[target++] = '/';
		set_rest(links, joined, target, rest);
		rest = tr_buffer_text(&links->rest);
	}
	if (!real->len)
		tr_buffer_put_byte(real, '/');
	tr_buffer_put_byte(real, '\0');
	return real->failed || links->rest.failed ? NULL : real->data;
}

void tr_links_changed(struct tr_links *links, const char *cwd, const char *path)
{
	const char *real = links->known.count ? tr_links_resolve(links, cwd, path, false) : NULL;
	struct link *link = real ? tr_map_get(&links->known, tr_text_from(real)) : NULL;

	if (link && (link->directory || link->len))
		forget(links, real, NULL);
	else if (link)
		free(tr_map_take(&links->known, tr_text_from(real)));
}

void tr_links_changed_somewhere(struct tr_links *links, const char *path)
{
	forget(links, NULL, base_of(path));
}

void tr_links_removed_somewhere(struct tr_links *links, const char *path)
{
	const struct link *link = links->symbolic;

	while (link && strcmp(base_of(link->text), base_of(path)) != 0)
		link = link->next;
	if (link)
		forget(links, NULL, base_of(path));
}

void tr_links_made(struct tr_links *links, const char *cwd, const char *path, const char *target)
{
	tr_links_changed(links, cwd, path);
	if (!tr_links_resolve(links, cwd, path, false))
		return;
	links->real.len--; /* the NUL */
	keep(links, tr_text_from(target));
}

void tr_links_free(struct tr_links *links)
{
	tr_links_clear(links);
	tr_map_free(&links->known);
	tr_buffer_free(&links->rest);
	tr_buffer_free(&links->real);
	tr_buffer_free(&links->target);
}
