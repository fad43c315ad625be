/* SPDX-License-Identifier: MIT */
/*
 * Files and directories by descriptor. Below a directory of the user, links are not followed and
 * components are opened one by one, because others may write there.
 */

#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/input.h"

enum { PIPE_SIZE = 1 << 20 };

/* POSIX allows EAGAIN and EWOULDBLOCK to differ. */
static bool would_block(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK;
}

/* Returns a file without a name in the directory, or -1. */
static int open_unlinked(const char *directory)
{
#ifdef O_TMPFILE
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0)
		return fd;
#endif
	/* not every file system supports O_TMPFILE */
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/trec-XXXXXX", directory);
	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int named = mkostemp(path, O_CLOEXEC);
	if (named >= 0)
		unlink(path);
	return named;
}

int tr_file_unnamed(struct tr_error *err)
{
	const char *directory = getenv("TMPDIR");

	if (!directory || !*directory)
		directory = "/tmp";
	int fd = open_unlinked(directory);
	if (fd < 0)
		tr_error_system(err, errno, "cannot make a temporary file in %s", directory);
	return fd;
}

bool tr_fd_write_failed(int sys_errno, struct tr_error *err)
{
	tr_error_system(err, sys_errno, "cannot write");
	if (err && sys_errno == EPIPE)
		err->cause = TR_CAUSE_PIPE;
	return false;
}

bool tr_fd_write(int fd, const char *data, size_t len, struct tr_error *err)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		} else if (n == 0) {
			/* a device accepts nothing and returns no error */
			return tr_fd_write_failed(ENOSPC, err);
		} else if (would_block(errno)) {
			/* another process set O_NONBLOCK on the shared descriptor */
			struct pollfd polled = { .fd = fd, .events = POLLOUT };
			(void)poll(&polled, 1, -1);
		} else if (errno != EINTR) {
			return tr_fd_write_failed(errno, err);
		}
	}
	return true;
}

void tr_fd_enlarge_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	/* F_GETPIPE_SZ fails for anything else */
	int size = fcntl(fd, F_GETPIPE_SZ);
	if (size > 0 && size < PIPE_SIZE)
		(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
#else
	(void)fd;
#endif
}

enum { DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC };

/*
 * Creates the directories of the path, which is changed meanwhile. False: errno contains the
 * reason.
 */
static bool make_all(char *path)
{
	for (char *slash = path + 1;; slash++) {
		slash += strcspn(slash, "/");
		char end = *slash;
		*slash = '\0';
		bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
		*slash = end;
		if (!made || !end)
			return made;
	}
}

int tr_directory_open(const char *path, bool make, struct tr_error *err)
{
	int fd = open(path, DIRECTORY);

	if (fd < 0 && errno == ENOENT && make && *path) {
		char *copy = strdup(path);
		if (!copy) {
			tr_error_memory(err);
			return -1;
		}
		bool made = make_all(copy);
		free(copy);
		fd = made ? open(path, DIRECTORY) : -1;
	}
	if (fd < 0)
		tr_error_system(err, errno, "%s", path);
	return fd;
}

/*
 * Opens the directory of this name, and creates it if it is missing. -1: errno contains the reason.
 */
static int enter(int dir, const char *name)
{
	if (strcmp(name, "..") == 0) {
		errno = EXDEV;
		return -1;
	}
	if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, DIRECTORY | O_NOFOLLOW);
}

/* Returns whether the name is a symbolic link, which may lead nowhere. */
static bool is_link(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Reports why the component cannot be entered, and closes its directory. */
static int refuse(int dir, const char *component, int sys_errno, struct tr_error *err)
{
	if (is_link(dir, component))
		tr_error_set(err, TR_CAUSE_SYSTEM, "%s is a symbolic link, which is not followed",
			     component);
	else
		tr_error_system(err, sys_errno, "%s", component);
	close(dir);
	return -1;
}

/* Opens, and creates, the directories of a path one component at a time. */
int tr_directory_below(int root, const char *path, const char **name, struct tr_error *err)
{
	char component[NAME_MAX + 1] = "";
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);

	if (dir < 0) {
		tr_error_system(err, errno, "%s", path);
		return -1;
	}
	for (;;) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		*name = path;
		if (!path[len])
			return dir;
		if (len > NAME_MAX)
			return refuse(dir, path, ENAMETOOLONG, err);
		memcpy(component, path, len);
		component[len] = '\0';
		int next = enter(dir, component);
		if (next < 0)
			return refuse(dir, component, errno, err);
		close(dir);
		dir = next;
		path += len;
	}
}

#ifndef MAP_POPULATE
#define MAP_POPULATE 0 /* pages are then loaded one by one */
#endif

void tr_file_view_free(struct tr_file_view *view)
{
	if (view->base)
		munmap(view->base, view->len);
	*view = (struct tr_file_view){ .base = NULL };
}

/* Maps the file from the page of offset on. False: too little is left, or mmap failed. */
static bool move(struct tr_file_view *view, int fd, off_t offset)
{
	struct stat st;

	tr_file_view_free(view);
	off_t page = sysconf(_SC_PAGESIZE);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size - offset < TR_FILE_VIEW_LEAST + TR_INPUT_PAD)
		return false;
	off_t begin = offset - offset % page, left = st.st_size - begin;
	size_t len = left < TR_FILE_VIEW ? (size_t)left : TR_FILE_VIEW;
	void *base = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, begin);
	if (base == MAP_FAILED)
		return false;
	*view = (struct tr_file_view){ .base = base, .len = len, .offset = begin };
	return true;
}

struct tr_text tr_file_view_at(struct tr_file_view *view, int fd, off_t offset)
{
	struct tr_text none = { NULL, 0 };
	const off_t least = TR_FILE_VIEW_LEAST + TR_INPUT_PAD;
	bool there = view->base && offset >= view->offset &&
		     view->offset + (off_t)view->len - offset >= least;

	if (offset < 0 || (!there && !move(view, fd, offset)))
		return none;
	size_t skipped = (size_t)(offset - view->offset);
	return (struct tr_text){ view->base + skipped, view->len - skipped - TR_INPUT_PAD };
}

/*
 * Opens the path, which is copied to the end of to with a NUL after it. -1: errno contains the
 * reason.
 */
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

/* Reads all of fd, at most max bytes. */
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

/*
 * Appends the content of fd if it is a regular file, and closes it. fd -1: errno contains the
 * cause.
 */
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
		if (errno == ENOMEM) {
			tr_error_memory(err);
		} else if (errno == EINVAL && fd >= 0) {
			tr_error_set(err, TR_CAUSE_USAGE, "%.*s: not a regular file",
				     TR_SHOWN(path, 200));
		} else if (errno == EFBIG) {
			tr_error_set(err, TR_CAUSE_USAGE,
				     "%.*s: larger than the limit of %zu bytes",
				     TR_SHOWN(path, 200), max);
			err->sys_errno = EFBIG; /* readers of response files have another message */
		} else {
			tr_error_system(err, errno, "%.*s", TR_SHOWN(path, 200));
		}
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

/* Returns the path with all links resolved, to be freed. NULL: errno contains the cause. */
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
		tr_error_system(err, errno, "%.*s", TR_SHOWN(path, 200));
	free(root->path);
	return false;
}

/* Returns the part of a resolved path below the root. NULL: it is elsewhere. */
static char *below(const struct tr_file_root *root, char *path)
{
	size_t len = strcmp(root->path, "/") == 0 ? 0 : strlen(root->path);

	return strncmp(path, root->path, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Opens a file by a resolved path below a directory; NUL-terminates the components in place. */
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
	/* opening a device may have effects, so its type is checked first */
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

/*
 * The path is resolved first, for the comparison with the roots, and then opened without following
 * links, because it may have changed meanwhile.
 */
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
