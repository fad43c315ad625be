#include "process/files.h"

#include <stdlib.h>
#include <string.h>

struct file {
	uint64_t fd;
	struct tr_directory *directory;
};

struct tr_files {
	size_t references;
	size_t count, cap;
	struct file *list; /* fds rise */
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

void tr_files_release(struct tr_files *files)
{
	if (!files || --files->references > 0)
		return;
	for (size_t i = 0; i < files->count; i++)
		tr_directory_release(files->list[i].directory);
	free(files->list);
	free(files);
}

/* Where fd is, or belongs. */
static size_t find(const struct tr_files *files, uint64_t fd)
{
	size_t low = 0, high = files->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (files->list[middle].fd < fd)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct tr_files *files, size_t i, uint64_t fd)
{
	return i < files->count && files->list[i].fd == fd;
}

static bool insert(struct tr_files *files, size_t i, uint64_t fd, struct tr_directory *directory)
{
	if (files->count == TR_FILES_MAX)
		return true;
	if (files->count == files->cap) {
		size_t cap = files->cap ? files->cap * 2 : 8;
		struct file *list = realloc(files->list, cap * sizeof *list);
		if (!list)
			return false;
		files->list = list;
		files->cap = cap;
	}
	memmove(files->list + i + 1, files->list + i, (files->count - i) * sizeof *files->list);
	files->list[i] = (struct file){ fd, tr_directory_retain(directory) };
	files->count++;
	return true;
}

bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory)
{
	size_t i = find(files, fd);

	if (!is_at(files, i, fd))
		return !directory || insert(files, i, fd, directory);
	tr_directory_release(files->list[i].directory);
	files->list[i].directory = tr_directory_retain(directory);
	if (!directory) {
		files->count--;
		memmove(files->list + i, files->list + i + 1,
			(files->count - i) * sizeof *files->list);
	}
	return true;
}

struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd)
{
	size_t i = files ? find(files, fd) : 0;

	return files && is_at(files, i, fd) ? files->list[i].directory : NULL;
}

bool tr_files_inherit(struct tr_files *files, const struct tr_files *from)
{
	for (size_t k = 0; from && k < from->count; k++) {
		const struct file *file = &from->list[k];
		size_t i = find(files, file->fd);
		if (!is_at(files, i, file->fd) && !insert(files, i, file->fd, file->directory))
			return false;
	}
	return true;
}
