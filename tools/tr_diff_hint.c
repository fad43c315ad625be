/* SPDX-License-Identifier: MIT */
/* Finds directories for --root that would remove most differences. */

#include "tr_diff.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 2000 /* records of a side that are tried */ };

/* The contents of records that differ, after a directory was mapped. */
struct contents {
	uint64_t list[MOST];
	size_t count;
};

static bool differs(const struct tr_diff *diff, unsigned side, size_t number)
{
	const struct tr_diff_record *record = &diff->sides[side].records[number];

	return !record->implied && record->class != TR_DIFF_NOT_COMPARED &&
	       (record->match == TR_ALIGN_NONE ||
		diff->sides[!side].records[record->match].content != record->content);
}

/* Copies an absolute path of a record: its directory or its name. False: it has none. */
static bool take_path(const struct tr_normal *normal, struct tr_buffer *to)
{
	const struct tr_normal_field *field = tr_normal_find(normal, "cwd");
	struct tr_text path = field ? field->value : normal->name;

	if (field && path.len > 2)
		path = (struct tr_text){ path.data + 1, path.len - 2 };
	if (!path.len || *path.data != '/')
		return false;
	tr_buffer_reset(to);
	tr_buffer_put_text(to, path);
	return !to->failed;
}

/* Copies a path of the first record of each side that differs. *found: both sides have one. */
static bool take_paths(struct tr_diff *diff, struct tr_buffer *paths, bool *found,
		       struct tr_error *err)
{
	*found = true;
	for (unsigned i = 0; *found && i < 2; i++) {
		size_t looks = 0;
		*found = false;
		for (uint32_t k = 0; !*found && looks < MOST && k < diff->sides[i].count; k++) {
			if (!differs(diff, i, k))
				continue;
			looks++;
			if (!tr_diff_split(diff, i, k, err).data)
				return false;
			*found = take_path(&diff->sides[i].normal, &paths[i]);
		}
	}
	return true;
}

/* Removes the directories and the name that both paths end with. */
static void strip_common(struct tr_text *a, struct tr_text *b)
{
	size_t same = 0, slash = 0;

	while (same < a->len && same < b->len &&
	       a->data[a->len - 1 - same] == b->data[b->len - 1 - same]) {
		same++;
		if (a->data[a->len - same] == '/' && same < a->len && same < b->len)
			slash = same;
	}
	a->len -= slash;
	b->len -= slash;
}

/* Hashes the records of a side that differ again, with a mapped directory. False: err is filled. */
static bool hash_again(struct tr_diff *diff, unsigned side, const struct tr_normal_rules *rules,
		       struct contents *to, struct tr_error *err)
{
	struct tr_normal normal = { .rules = rules };
	bool fine = true;

	tr_normal_add_object_classes(&normal, &diff->sides[side].normal);
	to->count = 0;
	for (uint32_t k = 0; fine && to->count < MOST && k < diff->sides[side].count; k++) {
		struct tr_record record;
		if (!differs(diff, side, k))
			continue;
		struct tr_text line = tr_diff_split(diff, side, k, err);
		tr_record_init(&record, NULL);
		if (!line.data || !tr_record_from_line(&record, line, err)) {
			fine = false;
		} else if (!tr_normal_hash(&normal, &record, line, side == 0)) {
			tr_error_memory(err);
			fine = false;
		} else {
			to->list[to->count++] = normal.content;
		}
	}
	tr_normal_free(&normal);
	tr_hashes_sort(to->list, to->count);
	return fine;
}

/* True if more than half of the contents of each side are also on the other one. */
static bool are_mostly_equal(const struct contents *a, const struct contents *b)
{
	size_t most = a->count > b->count ? a->count : b->count;

	return tr_hashes_common(a->list, a->count, b->list, b->count, most / 2 + 1) > 0;
}

/*
 * True for /a/b and /a, which rarely contain copies of each other. An empty directory is the root
 * of the file system, where a copy of another directory can be (chroot).
 */
static bool is_below(struct tr_text path, struct tr_text directory)
{
	return directory.len && tr_text_skip(&path, directory) && (!path.len || *path.data == '/');
}

bool tr_diff_find_root(struct tr_diff *diff, struct tr_buffer *paths, bool *found,
		       struct tr_error *err)
{
	struct tr_normal_root root;
	struct tr_normal_rules rules = diff->rules;
	struct contents *contents = malloc(2 * sizeof *contents);
	bool fine = contents != NULL;

	*found = false;
	if (!contents)
		tr_error_memory(err);
	fine = fine && take_paths(diff, paths, found, err);
	if (fine && *found) {
		root = (struct tr_normal_root){ tr_buffer_text(&paths[0]),
						tr_buffer_text(&paths[1]) };
		strip_common(&root.from, &root.to);
		paths[0].len = root.from.len;
		paths[1].len = root.to.len;
		rules.roots = &root;
		rules.root_count = 1;
		*found = !tr_text_equal(root.from, root.to) && !is_below(root.from, root.to) &&
			 !is_below(root.to, root.from);
		for (unsigned i = 0; fine && *found && i < 2; i++)
			fine = hash_again(diff, i, &rules, &contents[i], err);
		*found = fine && *found && are_mostly_equal(&contents[0], &contents[1]);
	}
	free(contents);
	return fine;
}
