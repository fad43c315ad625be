/* SPDX-License-Identifier: MIT */
#include "process/files.h"

#include <stdlib.h>
#include <string.h>

struct file {
	uint64_t fd;
	struct tr_directory *directory; /* NULL: not known */
	bool awaited;			/* the parent's */
	bool cloexec;
};

/* Several may have the same until one of them changes it. */
struct table {
	size_t references;
	size_t count, cap;
	struct file list[]; /* fds rise */
};

struct tr_files {
	size_t references;
	struct table *table; /* NULL: empty */
};

struct tr_files *tr_files_new(void)
{
	struct tr_files *files = calloc(1, sizeof *files);

	if (files)
		files->references = 1;
	return files;
}

struct tr_files *tr_files_retain(struct tr_files *files)
{
	if (files)
		files->references++;
	return files;
}

static void table_release(struct table *table)
{
	if (!table || --table->references > 0)
		return;
	for (size_t i = 0; i < table->count; i++)
		tr_directory_release(table->list[i].directory);
	free(table);
}

void tr_files_release(struct tr_files *files)
{
	if (!files || --files->references > 0)
		return;
	table_release(files->table);
	free(files);
}

/* The table becomes one of its own, with room for one more. False: memory is out. */
static bool own(struct tr_files *files)
{
	struct table *table = files->table;
	size_t count = table ? table->count : 0, cap = table ? table->cap : 8;

	if (table && table->references == 1 && count < cap)
		return true;
	cap = count < cap ? cap : cap * 2;
	struct table *mine = malloc(sizeof *mine + cap * sizeof *mine->list);
	if (!mine)
		return false;
	*mine = (struct table){ .references = 1, .count = count, .cap = cap };
	for (size_t i = 0; i < count; i++) {
		mine->list[i] = table->list[i];
		tr_directory_retain(mine->list[i].directory);
	}
	table_release(table);
	files->table = mine;
	return true;
}

/* Where fd is, or belongs. */
static size_t find(const struct table *table, uint64_t fd)
{
	size_t low = 0, high = table ? table->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table->list[middle].fd < fd)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct table *table, size_t i, uint64_t fd)
{
	return table && i < table->count && table->list[i].fd == fd;
}

static bool insert(struct tr_files *files, size_t i, struct file file)
{
	if (files->table && files->table->count == TR_FILES_MAX)
		return true;
	if (!own(files))
		return false;
	struct table *table = files->table;
	memmove(table->list + i + 1, table->list + i, (table->count - i) * sizeof *table->list);
	table->list[i] = file;
	tr_directory_retain(file.directory);
	table->count++;
	return true;
}

bool tr_files_open(struct tr_files *files, uint64_t fd, struct tr_directory *directory,
		   bool cloexec)
{
	struct file file = { .fd = fd, .directory = directory, .cloexec = cloexec };
	size_t i = find(files->table, fd);

	if (!is_at(files->table, i, fd))
		return insert(files, i, file);
	if (!own(files))
		return false;
	tr_directory_retain(directory);
	tr_directory_release(files->table->list[i].directory);
	files->table->list[i] = file;
	return true;
}

static void remove_at(struct table *table, size_t i)
{
	tr_directory_release(table->list[i].directory);
	table->count--;
	memmove(table->list + i, table->list + i + 1, (table->count - i) * sizeof *table->list);
}

bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory)
{
	size_t i = find(files->table, fd);

	if (directory)
		return tr_files_open(files, fd, directory, false);
	if (!is_at(files->table, i, fd))
		return true;
	if (!own(files))
		return false;
	remove_at(files->table, i);
	return true;
}

bool tr_files_next(const struct tr_files *files, uint64_t *fd)
{
	const struct table *table = files ? files->table : NULL;
	size_t i = find(table, *fd);

	if (!table || i == table->count)
		return false;
	*fd = table->list[i].fd;
	return true;
}

bool tr_files_set_cloexec(struct tr_files *files, uint64_t first, uint64_t last, bool cloexec)
{
	size_t i = find(files->table, first);

	if (!files->table || !own(files))
		return !files->table;
	for (struct table *table = files->table; i < table->count && table->list[i].fd <= last; i++)
		table->list[i].cloexec = cloexec;
	return true;
}

bool tr_files_exec(struct tr_files *files)
{
	if (!files->table || !own(files))
		return !files->table;
	for (size_t i = files->table->count; i-- > 0;)
		if (files->table->list[i].cloexec)
			remove_at(files->table, i);
	return true;
}

struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd)
{
	const struct table *table = files ? files->table : NULL;
	size_t i = find(table, fd);

	return is_at(table, i, fd) ? table->list[i].directory : NULL;
}

bool tr_files_hold(struct tr_files *files, uint64_t fd, struct tr_directory *directory)
{
	struct file file = { .fd = fd, .directory = directory, .awaited = true };
	size_t i = find(files->table, fd);

	return is_at(files->table, i, fd) || insert(files, i, file);
}

bool tr_files_resolve(struct tr_files *files, struct tr_files *parent, bool waits)
{
	struct table *table = files ? files->table : NULL;

	for (size_t i = 0; table && i < table->count; i++) {
		struct file *file = &table->list[i];
		if (!file->awaited)
			continue;
		struct tr_directory *there = tr_files_get(parent, file->fd);
		if (there == file->directory)
			continue; /* inherited before: it waits with the parent */
		if (!there && parent && waits) {
			if (!tr_files_hold(parent, file->fd, file->directory))
				return false;
			continue;
		}
		file->awaited = false;
		tr_directory_follow(file->directory, there);
	}
	return true;
}

bool tr_files_inherit(struct tr_files *files, const struct tr_files *from)
{
	const struct table *table = from ? from->table : NULL;

	if (table && !files->table) {
		files->table = from->table;
		files->table->references++;
		return true;
	}
	for (size_t k = 0; table && k < table->count; k++) {
		const struct file *file = &table->list[k];
		size_t i = find(files->table, file->fd);
		if (!is_at(files->table, i, file->fd) && !insert(files, i, *file))
			return false;
	}
	return true;
}
