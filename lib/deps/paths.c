/* SPDX-License-Identifier: MIT */
#include "deps/paths.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINKS_MAX = 40, /* in one path, as in Linux; a path with more is a loop */
	MEMO_COUNT = 2048,
	MEMO_TEXT = 104,
};

/*
 * A text without links in it, which leads to the same node whether links are resolved or not. The
 * text of a directory ends in a slash.
 */
struct tr_deps_memo {
	const struct tr_deps_path *base;
	struct tr_deps_path *path; /* NULL: unused */
	uint32_t links, len;
	char text[MEMO_TEXT];
};

static struct tr_deps_path *fail(struct tr_deps_paths *paths)
{
	paths->failed = true;
	return NULL;
}

/* Makes a node. Its key in the map is the address of the parent followed by the name. */
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
	path->len = parent->len + 1 + (uint32_t)path->name.len;
	path->next = parent->children;
	parent->children = path;
	/* /dev/shm contains ordinary files, such as those of a build's TMPDIR */
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
	if (path)
		return path;
	if (parent && parent->len + 1 + name.len > TR_DEPS_PATH_MAX) {
		paths->too_long++;
		return NULL;
	}
	return add(paths, parent, tr_buffer_text(&paths->key));
}

void tr_deps_paths_init(struct tr_deps_paths *paths)
{
	*paths = (struct tr_deps_paths){ .arena = TR_ARENA_INIT,
					 .nodes = TR_MAP_INIT,
					 .key = TR_BUFFER_INIT };
	paths->root = child(paths, NULL, TR_TEXT(""));
	paths->memo = calloc(MEMO_COUNT, sizeof *paths->memo);
	if (paths->root && paths->memo)
		paths->root->directory = true;
	else
		fail(paths);
}

void tr_deps_paths_free(struct tr_deps_paths *paths)
{
	tr_map_free(&paths->nodes);
	tr_arena_free(&paths->arena);
	tr_buffer_free(&paths->key);
	free(paths->memo);
}

/*
 * Walks from base along the text. *links: how many links may still be resolved; NULL: links are not
 * resolved.
 */
static struct tr_deps_path *walk(struct tr_deps_paths *paths, struct tr_deps_path *base,
				 struct tr_text text, bool follow, int *links)
{
	const char *p = text.data, *end = text.data + text.len;

	if (!text.len)
		return NULL;
	if (text.len > TR_DEPS_PATH_MAX) {
		paths->too_long++;
		return NULL;
	}
	if (*p == '/')
		base = paths->top ? paths->top : paths->root;
	while (base && p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		struct tr_text name = tr_text_span(p, slash ? slash : end);
		p = slash ? slash + 1 : end;
		if (!name.len || tr_text_is(name, "."))
			continue;
		if (tr_text_is(name, "..")) {
			base = base->parent && base != paths->top ? base->parent : base;
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

/* The memo: texts that were resolved recently, and their directories, by hashes. */

/* Returns the entry of the memo for a text; NULL: the text is too short or too long for it. */
static struct tr_deps_memo *find_memo(const struct tr_deps_paths *paths,
				      const struct tr_deps_path *base, struct tr_text text)
{
	uint64_t hash = (uintptr_t)base ^ text.len, word;
	const char *p = text.data;

	if (text.len < sizeof word || text.len > MEMO_TEXT)
		return NULL;
	for (const char *last = p + text.len - sizeof word;; p += sizeof word) {
		memcpy(&word, p < last ? p : last, sizeof word);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
		if (p >= last)
			return &paths->memo[hash % MEMO_COUNT];
	}
}

/* Returns the path of a text in the memo, or NULL. */
static struct tr_deps_path *memo_get(const struct tr_deps_paths *paths,
				     const struct tr_deps_memo *memo,
				     const struct tr_deps_path *base, struct tr_text text)
{
	bool known = memo && memo->base == base && memo->links == paths->links &&
		     memo->len == text.len && memcmp(memo->text, text.data, text.len) == 0;

	return known ? memo->path : NULL;
}

/* Keeps the path to which a text leads, unless a link was resolved. */
static void memo_put(const struct tr_deps_paths *paths, struct tr_deps_memo *memo,
		     const struct tr_deps_path *base, struct tr_text text,
		     struct tr_deps_path *path, int links)
{
	if (!memo || !path || links < LINKS_MAX || path->link.data)
		return;
	*memo = (struct tr_deps_memo){ base, path, paths->links, (uint32_t)text.len, "" };
	memcpy(memo->text, text.data, text.len);
}

struct tr_deps_path *tr_deps_paths_resolved(struct tr_deps_paths *paths, struct tr_deps_path *base,
					    struct tr_text text, bool follow,
					    struct tr_deps_path **spelled)
{
	int links = LINKS_MAX;

	if (text.len && *text.data == '/')
		base = paths->top ? paths->top : paths->root;
	struct tr_deps_memo *memo = find_memo(paths, base, text);
	struct tr_deps_path *path = memo_get(paths, memo, base, text);
	if (!path) {
		struct tr_deps_path *from = base;
		struct tr_text directory = text, name = text;
		while (directory.len && directory.data[directory.len - 1] != '/')
			directory.len--;
		struct tr_deps_memo *of_directory = find_memo(paths, base, directory);
		if (of_directory && directory.len < text.len) {
			name = tr_text_span(text.data + directory.len, text.data + text.len);
			from = memo_get(paths, of_directory, base, directory);
			if (!from) {
				from = walk(paths, base, directory, true, &links);
				memo_put(paths, of_directory, base, directory, from, links);
			}
		}
		path = walk(paths, from, name, follow, &links);
		memo_put(paths, memo, base, text, path, links);
	}
	if (spelled)
		*spelled = links == LINKS_MAX ? path : walk(paths, base, text, false, NULL);
	return path;
}

struct tr_deps_path *tr_deps_paths_spelled(struct tr_deps_paths *paths, struct tr_deps_path *base,
					   struct tr_text text)
{
	struct tr_deps_path *path;

	tr_deps_paths_resolved(paths, base, text, false, &path);
	return path;
}

struct tr_deps_path *tr_deps_paths_detached(struct tr_deps_paths *paths)
{
	struct tr_deps_path *path = tr_arena_alloc(&paths->arena, sizeof *path);

	if (!path)
		return fail(paths);
	*path = (struct tr_deps_path){ .parent = NULL };
	return path;
}

bool tr_deps_paths_set_link(struct tr_deps_paths *paths, struct tr_deps_path *path,
			    struct tr_text target)
{
	path->was_directory = false;
	if (path->link.data && tr_text_equal(path->link, target))
		return true;
	paths->links++;
	path->link = tr_arena_copy(&paths->arena, target);
	return path->link.data || fail(paths);
}

void tr_deps_path_write(const struct tr_deps_path *path, struct tr_buffer *to)
{
	size_t len = path->len;

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
