#include "config.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PIPE_SIZE = 1 << 20 };

static bool would_block(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK;
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
			/* a device that takes nothing and does not say why */
			return tr_fd_write_failed(ENOSPC, err);
		} else if (would_block(errno)) {
			/* somebody left O_NONBLOCK on a descriptor that we share */
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
	/* on anything else F_GETPIPE_SZ fails */
	int size = fcntl(fd, F_GETPIPE_SZ);
	if (size > 0 && size < PIPE_SIZE)
		(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
#else
	(void)fd;
#endif
}
