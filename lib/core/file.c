#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
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

bool tr_file_read(struct tr_text path, size_t max, struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	struct stat st;
	int fd = open_path(path, to);
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
