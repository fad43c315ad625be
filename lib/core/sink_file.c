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
	int fd;
	char *target;	 /* what the temporary file becomes; NULL: written as it is */
	char *temporary; /* NULL: none, or renamed */
	bool replaces;	 /* a file whose mode and owner are kept */
	struct stat replaced;
};

static struct file_sink *self(const struct tr_sink *sink)
{
	return (struct file_sink *)sink;
}

static bool file_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_fd_write(self(sink)->fd, data, len, err);
}

static bool file_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink;
	(void)err;
	return true;
}

static bool file_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct file_sink *s = self(sink);
	int fd = s->fd;
	s->fd = -1;
	if (close(fd) != 0 && errno != EINTR)
		return tr_fd_write_failed(errno, err);
	if (!s->temporary)
		return true;
	if (rename(s->temporary, s->target) != 0) {
		tr_error_system(err, errno, "cannot rename %s", s->temporary);
		return false;
	}
	free(s->temporary);
	s->temporary = NULL;
	return true;
}

static void file_close(struct tr_sink *sink)
{
	struct file_sink *s = self(sink);
	if (s->fd >= 0)
		close(s->fd);
	if (s->temporary)
		unlink(s->temporary);
	free(s->temporary);
	free(s->target);
	free(s);
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

/* "dir/name" -> "dir/.name.0123456789abcdef": hidden, and nobody can guess it in advance. */
static char *temporary_name(const char *target)
{
	uint64_t number;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return NULL;
	size_t directory = directory_length(target);
	size_t size = directory + SHOWN_NAME + sizeof "..0123456789abcdef";
	char *name = malloc(size);
	if (name) {
		memcpy(name, target, directory);
		snprintf(name + directory, size - directory, ".%.*s.%016" PRIx64, SHOWN_NAME,
			 target + directory, number);
	}
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
	if (fchown(s->fd, was->st_uid, was->st_gid) != 0 &&
	    fchown(s->fd, (uid_t)-1, was->st_gid) != 0)
		mode = (mode & 0707) | (mode & 07) << 3;
	(void)fchmod(s->fd, mode);
}

static bool open_temporary(struct file_sink *s)
{
	mode_t mode = s->replaces ? 0600 : 0666;
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		char *name = temporary_name(s->target);
		if (!name)
			return false;
		s->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (s->fd >= 0) {
			s->temporary = name;
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
	s->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (s->fd < 0)
		return false;
	tr_fd_enlarge_pipe(s->fd);
	return true;
}

/* False: errno says why. */
static bool open_file(struct file_sink *s, const char *path)
{
	s->replaces = stat(path, &s->replaced) == 0;
	if (s->replaces && S_ISDIR(s->replaced.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (s->replaces && !S_ISREG(s->replaced.st_mode))
		return open_as_it_is(s, path, 0);
	/* rename would do it, but who made the file read-only did not want that */
	if (s->replaces && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return false;
	bool descriptor = false;
	s->target = resolve(path, &descriptor);
	/* whoever opened the file behind /dev/stdout decided what of it stays */
	if (!s->target)
		return descriptor && open_as_it_is(s, path, O_APPEND);
	if (s->target[directory_length(s->target)] == '\0') {
		errno = ENOENT;
		return false;
	}
	return open_temporary(s);
}

struct tr_sink *tr_sink_file(const char *path, struct tr_error *err)
{
	struct file_sink *s = malloc(sizeof *s);
	if (!s) {
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct file_sink){
		.base = { .write = file_write,
			  .flush = file_flush,
			  .finish = file_finish,
			  .close = file_close },
		.fd = -1,
	};
	if (!open_file(s, path)) {
		tr_error_system(err, errno, "cannot create %s", path);
		file_close(&s->base);
		return NULL;
	}
	return &s->base;
}

const char *tr_sink_file_temporary(const struct tr_sink *sink)
{
	return self(sink)->temporary;
}
