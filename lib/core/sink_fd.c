/* A sink on a descriptor that belongs to somebody else: stdout. */
#include "core/output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/fd.h"

struct fd_sink {
	struct tr_sink base;
	int fd;
};

static struct fd_sink *self(struct tr_sink *sink)
{
	return (struct fd_sink *)sink;
}

static bool fd_sink_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_fd_write(self(sink)->fd, data, len, err);
}

static bool fd_sink_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink;
	(void)err;
	return true;
}

static bool fd_sink_finish(struct tr_sink *sink, struct tr_error *err)
{
	/*
	 * Network file systems report late errors at a close, of any duplicate.
	 * No duplicate (stdout was closed, no descriptor is free): no report.
	 */
	int copy = dup(self(sink)->fd);
	if (copy >= 0 && close(copy) != 0 && errno != EINTR)
		return tr_fd_write_failed(errno, err);
	return true;
}

static void fd_sink_close(struct tr_sink *sink)
{
	free(self(sink));
}

struct tr_sink *tr_sink_fd(int fd, struct tr_error *err)
{
	struct fd_sink *s = malloc(sizeof *s);
	if (!s) {
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct fd_sink){
		.base = { .write = fd_sink_write,
			  .flush = fd_sink_flush,
			  .finish = fd_sink_finish,
			  .close = fd_sink_close },
		.fd = fd,
	};
	tr_fd_enlarge_pipe(fd);
	return &s->base;
}
