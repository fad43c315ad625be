/* Bytes from a file descriptor: a file, a pipe, a terminal, a socket. */
#include "config.h"

#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/file_view.h"

struct fd_source {
	struct tr_source base;
	int fd;
	bool owned;
	bool may_wait; /* anything but a regular file */
	int wake[2];   /* a pipe whose reading end becomes readable on interrupt; -1 without one */
	uint64_t count;
	struct tr_file_view view;
};

static struct fd_source *self(struct tr_source *source)
{
	return (struct fd_source *)source;
}

/* False when the read was interrupted for good. */
static bool wait_for_bytes(struct fd_source *s)
{
	struct pollfd polled[2] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = s->wake[0], .events = POLLIN }, /* poll ignores -1 */
	};
	while (poll(polled, 2, -1) < 0 && (errno == EINTR || errno == EAGAIN))
		;
	return polled[1].revents == 0;
}

/* A file at its end needs no descriptor any more: there may be thousands of small ones. */
static void let_go(struct fd_source *s)
{
	if (s->owned && !s->may_wait) {
		close(s->fd);
		s->fd = -1;
	}
}

static ssize_t fd_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct fd_source *s = self(source);
	for (;;) {
		if (s->fd < 0)
			return 0;
		if (s->may_wait && !wait_for_bytes(s))
			return 0;
		ssize_t n = read(s->fd, buf, cap);
		if (n >= 0) {
			s->count += (uint64_t)n;
			if (n == 0 && cap)
				let_go(s);
			return n;
		}
		/* EAGAIN: somebody left O_NONBLOCK on a descriptor that we share */
		if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
			tr_error_system(err, errno, "cannot read");
			return -1;
		}
	}
}

static bool fd_would_wait(struct tr_source *source)
{
	struct fd_source *s = self(source);
	struct pollfd polled = { .fd = s->fd, .events = POLLIN };
	return s->may_wait && poll(&polled, 1, 0) == 0;
}

static void fd_close(struct tr_source *source)
{
	struct fd_source *s = self(source);
	tr_file_view_free(&s->view);
	if (s->owned && s->fd >= 0)
		close(s->fd);
	if (s->wake[0] >= 0) {
		close(s->wake[0]);
		close(s->wake[1]);
	}
	free(s);
}

static uint64_t fd_raw_offset(struct tr_source *source)
{
	return self(source)->count;
}

static void fd_interrupt(struct tr_source *source)
{
	struct fd_source *s = self(source);
	/* a pipe that is full wakes as well as one byte more would */
	if (s->wake[1] >= 0 && write(s->wake[1], "", 1) < 0)
		return;
}

static struct tr_text fd_look(struct tr_source *source, size_t back)
{
	struct fd_source *s = self(source);
	/* others may have moved the place too: a descriptor is shared with who opened it */
	off_t place = s->fd < 0 || s->may_wait ? -1 : lseek(s->fd, 0, SEEK_CUR);
	if (place < 0 || (uint64_t)place < back)
		return (struct tr_text){ NULL, 0 };
	return tr_file_view_at(&s->view, s->fd, place - (off_t)back);
}

static bool fd_pass(struct tr_source *source, size_t n)
{
	struct fd_source *s = self(source);
	if (lseek(s->fd, (off_t)n, SEEK_CUR) < 0)
		return false;
	s->count += n;
	return true;
}

/* Every refusal here only costs speed. */
static void prepare(struct fd_source *s)
{
	struct stat st;
	s->may_wait = fstat(s->fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	tr_fd_enlarge_pipe(s->fd);
	if (s->may_wait && pipe2(s->wake, O_CLOEXEC | O_NONBLOCK) != 0)
		s->wake[0] = s->wake[1] = -1;
	if (!s->may_wait)
		(void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

struct tr_source *tr_source_fd(int fd, bool owned)
{
	struct fd_source *s = malloc(sizeof *s);
	if (!s) {
		if (owned)
			close(fd);
		return NULL;
	}
	*s = (struct fd_source){
		.base = { .read = fd_read,
			  .would_wait = fd_would_wait,
			  .close = fd_close,
			  .raw_offset = fd_raw_offset,
			  .interrupt = fd_interrupt,
			  .look = fd_look,
			  .pass = fd_pass },
		.fd = fd,
		.owned = owned,
		.wake = { -1, -1 },
	};
	prepare(s);
	return &s->base;
}
