/* SPDX-License-Identifier: MIT */
#include "deps/paths.h"

#include <string.h>

enum {
	LINKS_MAX = 40, /* as Linux has it: more links in one path are a loop */
	TEXT_MAX = 16 << 10,
};

static struct tr_deps_path *fail(struct tr_deps_paths *paths)
{
	paths->failed = true;
	return NULL;
}

/* A new node. Its key in the map is the address of the parent, then the name. */
static struct tr_deps_path *add(struct tr_deps_paths *paths, struct tr_deps_path *parent,
				struct tr_text key)
{
	struct tr_deps_path *path = tr_arena_alloc(&paths->arena, sizeof *path);
	struct tr_text own = tr_arena_copy(&paths->arena, key);

	if (!path || !own.data || !tr_map_put(&paths->nodes, own, path))
		return fail(paths);
	*path = (struct tr_deps_path){ .parent = parent };
	path->name = (struct tr_text){ own.data + sizeof parent, own.len - sizeof parent };
	if (!parent)
		return path;
	path->next = parent->children;
	parent->children = path;
	/* but not /dev/shm, where people keep files, such as those of a build's TMPDIR */
	path->special =
		parent->special && !(tr_text_is(path->name, "shm") && !parent->parent->parent &&
				     tr_text_is(parent->name, "dev"));
	if (!parent->parent)
		path->special = tr_text_is(path->name, "proc") || tr_text_is(path->name, "sys") ||
				tr_text_is(path->name, "dev");
	return path;
}

static struct tr_deps_path *child(struct tr_deps_paths *paths, struct tr_deps_path *parent,
				  struct tr_text name)
{
	tr_buffer_reset(&paths->key);
	tr_buffer_put(&paths->key, (const char *)&parent, sizeof parent);
	tr_buffer_put_text(&paths->key, name);
	if (paths->key.failed)
		return fail(paths);
	struct tr_deps_path *path = tr_map_get(&paths->nodes, tr_buffer_text(&paths->key));
	return path ? path : add(paths, parent, tr_buffer_text(&paths->key));
}

void tr_deps_paths_init(struct tr_deps_paths *paths)
{
	*paths = (struct tr_deps_paths){ .arena = TR_ARENA_INIT,
					 .nodes = TR_MAP_INIT,
					 .key = TR_BUFFER_INIT,
					 .recent_text = TR_BUFFER_INIT };
	paths->root = child(paths, NULL, TR_TEXT(""));
	if (paths->root)
		paths->root->directory = true;
}

void tr_deps_paths_free(struct tr_deps_paths *paths)
{
	tr_map_free(&paths->nodes);
	tr_arena_free(&paths->arena);
	tr_buffer_free(&paths->key);
	tr_buffer_free(&paths->recent_text);
}

/*
 * Walks along the text from base. *links: how many links may still be followed; NULL: none are, and
 * the path stays as it is spelled.
 */
static struct tr_deps_path *walk(struct tr_deps_paths *paths, struct tr_deps_path *base,
				 struct tr_text text, bool follow, int *links)
{
	const char *p = text.data, *end = text.data + text.len;

	if (!text.len || text.len > TEXT_MAX)
		return NULL;
	if (*p == '/')
		base = paths->root;
	while (base && p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		struct tr_text name = tr_text_span(p, slash ? slash : end);
		p = slash ? slash + 1 : end;
		if (!name.len || tr_text_is(name, "."))
			continue;
		if (tr_text_is(name, "..")) {
			base = base->parent ? base->parent : base;
			continue;
		}
		struct tr_deps_path *here = base;
		base = child(paths, here, name);
		if (!base || !links || !base->link.data || (!follow && !slash))
			continue;
		if (*links > 0) {
			--*links;
			struct tr_deps_path *target = walk(paths, here, base->link, true, links);
			base = target ? target : base;
		}
	}
	return base;
}

struct tr_deps_path *tr_deps_paths_spelled(struct tr_deps_paths *paths, struct tr_deps_path *base,
					   struct tr_text text)
{
	return walk(paths, base, text, false, NULL);
}

/*
 * The directory of an absolute path, which is usually that of the path before: *text becomes what
 * follows it. Returns NULL if links lead through it.
 */
static struct tr_deps_path *recent_directory(struct tr_deps_paths *paths, struct tr_text *text)
{
	const char *slash = text->len ? memrchr(text->data, '/', text->len) : NULL;
	int links = LINKS_MAX;

	if (!slash || *text->data != '/' || text->len > TEXT_MAX)
		return NULL;
	struct tr_text directory = tr_text_span(text->data, slash + 1);
	if (paths->recent && tr_text_equal(directory, tr_buffer_text(&paths->recent_text))) {
		*text = tr_text_span(slash + 1, text->data + text->len);
		return paths->recent;
	}
	tr_buffer_reset(&paths->recent_text);
	tr_buffer_put_text(&paths->recent_text, directory);
	paths->recent = walk(paths, NULL, directory, true, &links);
	if (links < LINKS_MAX || paths->recent_text.failed)
		paths->recent = NULL;
	if (paths->recent)
		*text = tr_text_span(slash + 1, text->data + text->len);
	return paths->recent;
}

struct tr_deps_path *tr_deps_paths_resolved(struct tr_deps_paths *paths, struct tr_deps_path *base,
					    struct tr_text text, bool follow,
					    struct tr_deps_path **spelled)
{
	int links = LINKS_MAX;
	struct tr_text rest = text;
	struct tr_deps_path *directory = recent_directory(paths, &rest), *path = directory;

	if (!directory)
		path = walk(paths, base, text, follow, &links);
	else if (rest.len)
		path = walk(paths, directory, rest, follow, &links);
	if (spelled)
		*spelled = links == LINKS_MAX ? path : walk(paths, base, text, false, NULL);
	return path;
}

bool tr_deps_paths_set_link(struct tr_deps_paths *paths, struct tr_deps_path *path,
			    struct tr_text target)
{
	if (path->link.data && tr_text_equal(path->link, target))
		return true;
	paths->recent = NULL;
	path->link = tr_arena_copy(&paths->arena, target);
	return path->link.data || fail(paths);
}

void tr_deps_path_write(const struct tr_deps_path *path, struct tr_buffer *to)
{
	size_t len = 0;

	for (const struct tr_deps_path *p = path; p->parent; p = p->parent)
		len += p->name.len + 1;
	if (!len) {
		tr_buffer_put_byte(to, '/');
		return;
	}
	char *room = tr_buffer_room(to, len);
	if (!room)
		return;
	tr_buffer_used(to, len);
	for (const struct tr_deps_path *p = path; p->parent; p = p->parent) {
		len -= p->name.len + 1;
		room[len] = '/';
		memcpy(room + len + 1, p->name.data, p->name.len);
	}
}

bool tr_deps_path_is_below(const struct tr_deps_path *path, const struct tr_deps_path *directory)
{
	while (path && path != directory)
		path = path->parent;
	return path;
}
