#define _GNU_SOURCE /* O_PATH */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int message_len(struct tr_text path)
{
	return path.len > 200 ? 200 : (int)path.len;
}

/* The path with a NUL behind it, put at the end of to. -1: errno says why. */
static int open_path(struct tr_text path, struct tr_buffer *to)
{
	if (path.len && memchr(path.data, '\0', path.len)) {
		errno = ENOENT;
		return -1;
	}
	char *name = tr_buffer_room(to, path.len + 1);
	if (!name) {
		errno = ENOMEM;
		return -1;
	}
	if (path.len)
		memcpy(name, path.data, path.len);
	name[path.len] = '\0';
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Everything that fd gives, which is no more than max bytes. */
static bool read_all(int fd, size_t max, struct tr_buffer *to)
{
	enum { STEP = 16 << 10 };
	size_t begin = to->len;

	for (;;) {
		char *room = tr_buffer_room(to, STEP);
		if (!room) {
			errno = ENOMEM;
			return false;
		}
		ssize_t n = read(fd, room, STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		tr_buffer_used(to, (size_t)n);
		if (to->len - begin > max) {
			errno = EFBIG;
			return false;
		}
	}
}

/* Appends what fd holds if it is a regular file, and closes it. fd -1: errno is the cause. */
static bool read_regular(int fd, struct tr_text path, size_t max, struct tr_buffer *to,
			 struct tr_error *err)
{
	size_t begin = to->len;
	struct stat st;
	bool done = fd >= 0 && fstat(fd, &st) == 0;

	if (done && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		done = false;
	}
	done = done && read_all(fd, max, to);
	if (!done) {
		to->len = begin;
		if (errno == ENOMEM)
			tr_error_memory(err);
		else
			tr_error_system(err, errno, "%.*s", message_len(path),
					path.data ? path.data : "");
	}
	if (fd >= 0)
		close(fd);
	return done;
}

bool tr_file_read(struct tr_text path, size_t max, struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	int fd = open_path(path, to);

	to->len = begin;
	return read_regular(fd, path, max, to, err);
}

/* The path with all links resolved, to be freed. NULL: errno is the cause. */
static char *resolve(struct tr_text path)
{
	if (!path.len || memchr(path.data, '\0', path.len)) {
		errno = ENOENT;
		return NULL;
	}
	char *name = strndup(path.data, path.len);
	char *resolved = name ? realpath(name, NULL) : NULL;
	int cause = errno;

	free(name);
	errno = cause;
	return resolved;
}

bool tr_file_roots_add(struct tr_file_roots *roots, struct tr_text path, struct tr_error *err)
{
	struct tr_file_root *list = realloc(roots->list, (roots->count + 1) * sizeof *list);

	if (!list) {
		tr_error_memory(err);
		return false;
	}
	roots->list = list;
	struct tr_file_root *root = &list[roots->count];
	*root = (struct tr_file_root){ resolve(path), -1 };
	if (root->path)
		root->fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd >= 0) {
		roots->count++;
		return true;
	}
	if (errno == ENOMEM)
		tr_error_memory(err);
	else
		tr_error_system(err, errno, "%.*s", message_len(path), path.data ? path.data : "");
	free(root->path);
	return false;
}

/* The part of a resolved path that is below the root, NULL if it is elsewhere. */
static char *below(const struct tr_file_root *root, char *path)
{
	size_t len = strcmp(root->path, "/") == 0 ? 0 : strlen(root->path);

	return strncmp(path, root->path, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Opens a file by a resolved path below a directory; ends the path's components in place. */
static int open_below(int root, char *path)
{
	struct stat st;
	int directory = root, fd = -1;

	for (char *slash; directory >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		*slash = '\0';
		int next = openat(directory, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (directory != root)
			close(directory);
		directory = next;
	}
	if (directory < 0)
		return -1;
	/* opening a device may have effects, so the type is known first */
	if (fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISREG(st.st_mode))
			fd = openat(directory, path,
				    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		else
			errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	}
	int cause = errno;
	if (directory != root)
		close(directory);
	errno = cause;
	return fd;
}

bool tr_file_roots_read(const struct tr_file_roots *roots, struct tr_text path, size_t max,
			struct tr_buffer *to, struct tr_error *err)
{
	char *resolved = NULL, *rest = NULL;
	int fd = -1;

	errno = EACCES;
	if (roots->count && path.len && *path.data == '/')
		resolved = resolve(path);
	if (resolved)
		errno = EACCES;
	for (size_t i = 0; i < roots->count && resolved && !rest; i++)
		if ((rest = below(&roots->list[i], resolved)))
			fd = open_below(roots->list[i].fd, rest);
	int cause = errno;
	free(resolved);
	errno = cause;
	return read_regular(fd, path, max, to, err);
}

void tr_file_roots_free(struct tr_file_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		close(roots->list[i].fd);
		free(roots->list[i].path);
	}
	free(roots->list);
	*roots = (struct tr_file_roots){ 0 };
}
