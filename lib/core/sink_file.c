/*
 * A file that is either whole or not there: written under a hidden name beside
 * the target and renamed over it at the end. What is no regular file is
 * written as it is.
 */
#include "config.h"

#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"

enum {
	MAX_LINKS = 40,	  /* what Linux follows */
	MAX_TRIES = 100,  /* for a name that is not taken; the second is luck already */
	SHOWN_NAME = 200, /* of the target's name in the temporary one: NAME_MAX is 255 */
};

struct file_sink {
	struct tr_sink base;
	struct tr_unfinished file;
	struct tr_file_group *group; /* NULL: it gets its name by itself */
	bool replaces;		     /* a file whose mode and owner are kept */
	struct stat replaced;
};

static struct file_sink *self(const struct tr_sink *sink)
{
	return (struct file_sink *)sink;
}

static bool file_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_fd_write(self(sink)->file.fd, data, len, err);
}

static bool file_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink;
	(void)err;
	return true;
}

/* Removes what did not get its name, and frees. */
static void drop(struct tr_unfinished *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary)
		unlinkat(file->dir, file->temporary, 0);
	if (file->dir >= 0)
		close(file->dir);
	free(file->temporary);
	free(file->name);
	free(file->path);
	*file = (struct tr_unfinished){ .fd = -1, .dir = -1 };
}

/* The content reaches the disk before the name, or a crash could leave an empty file under it. */
static bool sync_file(int fd, struct tr_error *err)
{
	int result;

	do
		result = fsync(fd);
	while (result != 0 && errno == EINTR);
	/* pipes, terminals and some file systems cannot */
	if (result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS || errno == ENOSYS)
		return true;
	return tr_fd_write_failed(errno, err);
}

static bool give_name(struct tr_unfinished *file, struct tr_error *err)
{
	if (renameat(file->dir, file->temporary, file->dir, file->name) != 0) {
		tr_error_system(err, errno, "cannot rename %s", file->temporary);
		return false;
	}
	free(file->temporary);
	file->temporary = NULL;
	return true;
}

static bool complete(struct tr_unfinished *file, struct tr_error *err)
{
	bool synced = sync_file(file->fd, err);
	int fd = file->fd;

	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR && synced)
		return tr_fd_write_failed(errno, err);
	return synced && (!file->temporary || give_name(file, err));
}

static bool file_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct file_sink *s = self(sink);
	struct tr_file_group *group = s->group;

	if (!s->file.temporary || !group || tr_file_group_is_full(group))
		return complete(&s->file, err);
	if (group->named_at_once && !give_name(&s->file, err))
		return false;
	group->list[group->count++] = s->file;
	s->file = (struct tr_unfinished){ .fd = -1, .dir = -1 };
	return true;
}

static void file_close(struct tr_sink *sink)
{
	drop(&self(sink)->file);
	free(self(sink));
}

enum tr_status tr_file_group_complete(struct tr_file_group *group, struct tr_error *err)
{
	/* all begin to be written before the first is waited for */
	for (size_t i = 0; i < group->count; i++)
		(void)sync_file_range(group->list[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	while (group->count) {
		struct tr_unfinished *file = &group->list[--group->count];
		bool completed = complete(file, err);
		if (!completed)
			tr_error_name(err, tr_text_from(file->path));
		drop(file);
		if (!completed)
			return TR_WARN;
	}
	return TR_END;
}

/* Length of the directory part of path with its slash; 0 where there is none. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash + 1 - path) : 0;
}

/* What the symbolic link at path points to, as a path from here; NULL: errno says why. */
static char *follow(const char *path)
{
	char *link = malloc(PATH_MAX);
	if (!link)
		return NULL;
	ssize_t length = readlink(path, link, PATH_MAX);
	if (length == PATH_MAX)
		errno = ENAMETOOLONG;
	if (length < 0 || length == PATH_MAX) {
		free(link);
		return NULL;
	}
	size_t directory = length > 0 && link[0] == '/' ? 0 : directory_length(path);
	char *result = malloc(directory + (size_t)length + 1);
	if (result) {
		memcpy(result, path, directory);
		memcpy(result + directory, link, (size_t)length);
		result[directory + (size_t)length] = '\0';
	}
	free(link);
	return result;
}

/*
 * Follows the links at the end of path. NULL: errno says why; or, with
 * *descriptor, the path leads to an open file of a process (/dev/stdout).
 */
static char *resolve(const char *path, bool *descriptor)
{
	char *resolved = strdup(path);
	for (int links = 0; resolved; links++) {
		struct stat st;
		if (lstat(resolved, &st) != 0 || !S_ISLNK(st.st_mode))
			return resolved;
		*descriptor = strncmp(resolved, "/proc/", 6) == 0;
		char *next = NULL;
		if (links == MAX_LINKS)
			errno = ELOOP;
		else if (!*descriptor)
			next = follow(resolved);
		free(resolved);
		resolved = next;
	}
	return NULL;
}

/* "name" -> ".name.0123456789abcdef": hidden, and unpredictable. */
static char *temporary_name(const char *target)
{
	uint64_t number;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return NULL;
	size_t size = SHOWN_NAME + sizeof "..0123456789abcdef";
	char *name = malloc(size);
	if (name)
		snprintf(name, size, ".%.*s.%016" PRIx64, SHOWN_NAME, target, number);
	return name;
}

/*
 * Owner and mode as a plain rewrite would leave them; set-id bits are not for
 * data. Where the group cannot be kept, its rights are not given to another.
 */
static void keep_mode(const struct file_sink *s)
{
	const struct stat *was = &s->replaced;
	mode_t mode = was->st_mode & 0777;
	if (fchown(s->file.fd, was->st_uid, was->st_gid) != 0 &&
	    fchown(s->file.fd, (uid_t)-1, was->st_gid) != 0)
		mode = (mode & 0707) | (mode & 07) << 3;
	(void)fchmod(s->file.fd, mode);
}

/* False: errno says why. */
static bool open_temporary(struct file_sink *s)
{
	enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW };
	struct tr_unfinished *file = &s->file;
	mode_t mode = s->replaces ? 0600 : 0666;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		char *name = temporary_name(file->name);
		if (!name)
			return false;
		file->fd = openat(file->dir, name, FLAGS, mode);
		if (file->fd >= 0) {
			file->temporary = name;
			if (s->replaces)
				keep_mode(s);
			return true;
		}
		free(name);
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static bool open_as_it_is(struct file_sink *s, const char *path, int flags)
{
	s->file.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (s->file.fd < 0)
		return false;
	tr_fd_enlarge_pipe(s->file.fd);
	return true;
}

/* A file of this name beside others in a directory that is open. False: errno says why. */
static bool open_in_directory(struct file_sink *s, const char *name)
{
	struct stat *was = &s->replaced;

	s->replaces = fstatat(s->file.dir, name, was, AT_SYMLINK_NOFOLLOW) == 0;
	if (s->replaces && S_ISDIR(was->st_mode)) {
		errno = EISDIR;
		return false;
	}
	/* a link or a device is replaced itself */
	s->replaces = s->replaces && S_ISREG(was->st_mode);
	/* rename would do it, but who made the file read-only did not want that */
	if (s->replaces && faccessat(s->file.dir, name, W_OK, AT_EACCESS) != 0)
		return false;
	s->file.name = strdup(name);
	return s->file.name && open_temporary(s);
}

/* Opens the directory of target, and a temporary file in it. False: errno says why. */
static bool open_beside(struct file_sink *s, char *target)
{
	size_t len = directory_length(target);
	const char *name = target + len;

	if (!*name) {
		errno = ENOENT;
		return false;
	}
	char *directory = len ? strndup(target, len) : strdup(".");
	if (!directory)
		return false;
	s->file.dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return s->file.dir >= 0 && open_in_directory(s, name);
}

/* False: errno says why. */
static bool open_file(struct file_sink *s, const char *path)
{
	struct stat st;
	bool there = stat(path, &st) == 0;

	if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return open_as_it_is(s, path, 0);
	bool descriptor = false;
	char *target = resolve(path, &descriptor);
	/* the shell that opened /dev/stdout decided whether to truncate it */
	if (!target)
		return descriptor && open_as_it_is(s, path, O_APPEND);
	if (there && S_ISDIR(st.st_mode))
		errno = EISDIR;
	bool opened = !(there && S_ISDIR(st.st_mode)) && open_beside(s, target);
	int sys_errno = errno;
	free(target);
	errno = sys_errno;
	return opened;
}

static struct file_sink *new_sink(const char *path, struct tr_error *err)
{
	struct file_sink *s = malloc(sizeof *s);
	char *copy = strdup(path);

	if (!s || !copy) {
		free(s);
		free(copy);
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct file_sink){
		.base = { .write = file_write,
			  .flush = file_flush,
			  .finish = file_finish,
			  .close = file_close },
		.file = { .fd = -1, .dir = -1, .path = copy },
	};
	return s;
}

static struct tr_sink *opened(struct file_sink *s, bool good, struct tr_error *err)
{
	if (good)
		return &s->base;
	tr_error_system(err, errno, "cannot create %s", s->file.path);
	file_close(&s->base);
	return NULL;
}

struct tr_sink *tr_sink_file(const char *path, struct tr_error *err)
{
	struct file_sink *s = new_sink(path, err);

	return s ? opened(s, open_file(s, path), err) : NULL;
}

struct tr_sink *tr_sink_file_at(int dir, const char *name, const char *path,
				struct tr_file_group *group, struct tr_error *err)
{
	struct file_sink *s = new_sink(path, err);

	if (!s)
		return NULL;
	s->group = group;
	s->file.dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return opened(s, s->file.dir >= 0 && open_in_directory(s, name), err);
}

const struct tr_unfinished *tr_sink_file_unfinished(const struct tr_sink *sink)
{
	return self(sink)->file.temporary ? &self(sink)->file : NULL;
}
