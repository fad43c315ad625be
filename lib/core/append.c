/* SPDX-License-Identifier: MIT */
/*
 * The sink for a file that several processes add to at the same time. The output is kept in a spool
 * until it is complete, and then appended under a lock, so that the file contains it as a whole or
 * not at all.
 */

#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/spool.h"

struct append_sink {
	struct tr_sink base;
	struct tr_spool *spool;
	struct tr_append_format format;
	int fd;
	unsigned lock_seconds; /* how long to wait for the lock */
};

static struct append_sink *self(struct tr_sink *sink)
{
	return (struct append_sink *)sink;
}

static bool append_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_spool_write(self(sink)->spool, data, len, err);
}

/* Only complete output is added to the file, so nothing is flushed. */
static bool append_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true;
}

/*
 * Locks the file. A process that was stopped while it had the lock must not stop everyone else, so
 * the wait is limited.
 */
static bool lock(const struct append_sink *s, struct tr_error *err)
{
	enum { SHORTEST = 1000 * 1000, LONGEST = 50 * SHORTEST };
	struct timespec pause = { .tv_nsec = SHORTEST }, start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (flock(s->fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			tr_error_system(err, errno, "cannot lock the file");
			return false;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec - (now.tv_nsec < start.tv_nsec) >=
		    (time_t)s->lock_seconds) {
			tr_error_set(err, TR_CAUSE_SYSTEM,
				     "another process has kept the file locked for %u seconds",
				     s->lock_seconds);
			return false;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST)
			pause.tv_nsec *= 2;
	}
	return true;
}

/*
 * Repairs a file of this size that a process left incomplete when it was killed while adding to it:
 * then the file ends in a part of a line, or its last line is not the one that ends a segment.
 */
static bool complete_file(const struct append_sink *s, off_t size, struct tr_error *err)
{
	const struct tr_append_format *format = &s->format;
	char end[1 << 10], *line = end;
	size_t want = size < (off_t)sizeof end ? (size_t)size : sizeof end;
	ssize_t n = pread(s->fd, end, want, size - (off_t)want);

	if (n != (ssize_t)want) {
		tr_error_system(err, n < 0 ? errno : EIO, "cannot read");
		return false;
	}
	bool cut = n > 0 && end[n - 1] != '\n';
	if (n > 1) {
		char *before = memrchr(end, '\n', (size_t)n - 1);
		line = before ? before + 1 : end;
	}
	struct tr_text last = { line, (size_t)(end + n - line) };
	if (n == 0 || (!cut && tr_text_starts(last, format->last)))
		return true;
	return (!cut || tr_fd_write(s->fd, "\n", 1, err)) &&
	       tr_fd_write(s->fd, format->cut.data, format->cut.len, err);
}

/* Appends the spool to the file. */
static bool copy(const struct append_sink *s, struct tr_error *err)
{
	enum { PART = 64 << 10 };
	uint64_t at = 0, end = tr_spool_size(s->spool);
	bool good = true;
	char *part = malloc(PART);

	if (!part) {
		tr_error_memory(err);
		return false;
	}
	while (good && at < end) {
		const char *data = NULL;
		/* bytes in memory are written at once, those in a file in parts */
		size_t len = PART;
		if (!tr_spool_read(s->spool, at, part, &data, &len, err) || !len) {
			good = false;
			break;
		}
		if (data != part)
			len = (size_t)(end - at);
		good = tr_fd_write(s->fd, data, len, err);
		at += len;
	}
	free(part);
	return good;
}

/* Appends all, or restores the file. */
static bool append(const struct append_sink *s, struct tr_error *err)
{
	struct stat st;

	if (fstat(s->fd, &st) != 0) {
		tr_error_system(err, errno, "cannot read");
		return false;
	}
	if (complete_file(s, st.st_size, err) && copy(s, err))
		return true;
	/* if this fails, the next process completes the file */
	(void)!ftruncate(s->fd, st.st_size);
	return false;
}

static bool append_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct append_sink *s = self(sink);

	if (!lock(s, err))
		return false;
	bool good = append(s, err);
	flock(s->fd, LOCK_UN); /* child processes may have the file open, too */
	int fd = s->fd;
	s->fd = -1;
	if (close(fd) != 0 && errno != EINTR && good)
		return tr_fd_write_failed(errno, err);
	return good;
}

static void append_close(struct tr_sink *sink)
{
	struct append_sink *s = self(sink);

	if (s->fd >= 0)
		close(s->fd);
	tr_spool_free(s->spool);
	free(s);
}

/* Opens the file, and verifies that it is one to which this output may be added. */
static int open_file(const char *path, struct tr_text begin, struct tr_error *err)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	char head[64];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		tr_error_system(err, errno, "cannot open %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		tr_error_set(err, TR_CAUSE_USAGE, "%s: only a regular file can be appended to",
			     path);
	} else {
		ssize_t n = pread(fd, head, begin.len < sizeof head ? begin.len : sizeof head, 0);
		if (n >= 0 && memcmp(head, begin.data, (size_t)n) == 0)
			return fd;
		if (n < 0)
			tr_error_system(err, errno, "cannot read %s", path);
		else
			tr_error_set(err, TR_CAUSE_USAGE,
				     "%s: not in the format of the records to append", path);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

struct tr_sink *tr_sink_append(const char *path, const struct tr_append_format *format,
			       unsigned lock_seconds, struct tr_error *err)
{
	struct append_sink *s = malloc(sizeof *s);
	struct tr_spool *spool = s ? tr_spool_new(UINT64_MAX) : NULL;

	if (!spool) {
		free(s);
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct append_sink){
		.base = { .write = append_write,
			  .flush = append_flush,
			  .finish = append_finish,
			  .close = append_close },
		.spool = spool,
		.format = *format,
		.fd = open_file(path, format->begin, err),
		.lock_seconds = lock_seconds,
	};
	if (s->fd >= 0)
		return &s->base;
	append_close(&s->base);
	return NULL;
}
