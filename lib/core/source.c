/* SPDX-License-Identifier: MIT */
/*
 * Sources of bytes: memory, descriptors, and a thread that reads another source ahead. A read from
 * a pipe waits in poll, so that closing the source can interrupt it.
 */

#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

struct memory {
	struct tr_source source; /* first, because the caller has a pointer to it */
	struct tr_text left;
};

/* Copies bytes from memory. */
static ssize_t read_memory(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory *memory = (struct memory *)source;
	size_t n = memory->left.len < cap ? memory->left.len : cap;

	(void)err;
	if (n)
		memcpy(buf, memory->left.data, n);
	memory->left.data += n;
	memory->left.len -= n;
	return (ssize_t)n;
}

static bool memory_would_wait(struct tr_source *source)
{
	(void)source;
	return false;
}

static void close_memory(struct tr_source *source)
{
	free(source);
}

struct tr_source *tr_source_memory(struct tr_text bytes)
{
	struct memory *memory = malloc(sizeof *memory);

	if (!memory)
		return NULL;
	*memory = (struct memory){
		.source = {
			.read = read_memory,
			.would_wait = memory_would_wait,
			.close = close_memory,
		},
		.left = bytes,
	};
	return &memory->source;
}

/* A file descriptor: a file, a pipe, a terminal, a socket. */

struct fd_source {
	struct tr_source base;
	int fd;
	bool owned;
	bool may_wait; /* anything but a regular file */
	int wake[2];   /* a pipe that becomes readable on interrupt; -1 without one */
	off_t size;    /* of a regular file, when it was opened */
	uint64_t count;
	struct tr_file_view view;
};

static struct fd_source *self(struct tr_source *source)
{
	return (struct fd_source *)source;
}

/* Waits until bytes can be read. False: the source was interrupted. */
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

/* Closes a file when it has been read: there may be thousands of small ones. */
static void close_at_end(struct fd_source *s)
{
	if (s->owned && !s->may_wait) {
		close(s->fd);
		s->fd = -1;
	}
}

/*
 * True if the end comes before the size that a regular file had. The size now is compared, too,
 * because files of the kernel state a size that they do not have. A file may grow.
 */
static bool has_shrunk(const struct fd_source *s)
{
	struct stat st;

	return !s->may_wait && lseek(s->fd, 0, SEEK_CUR) < s->size && fstat(s->fd, &st) == 0 &&
	       st.st_size < s->size;
}

/* Reads from a descriptor. 0: the end, or an interrupt. */
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
			if (n || !cap)
				return n;
			bool shrunk = has_shrunk(s);
			close_at_end(s);
			if (!shrunk)
				return 0;
			tr_error_set(err, TR_CAUSE_CUT, "became shorter while it was read");
			return -1;
		}
		/* EAGAIN: another process set O_NONBLOCK on the shared descriptor */
		if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
			tr_error_system(err, errno, "cannot read");
			return -1;
		}
	}
}

/* Returns whether a read has to wait for bytes. */
static bool fd_would_wait(struct tr_source *source)
{
	struct fd_source *s = self(source);
	struct pollfd polled = { .fd = s->fd, .events = POLLIN };
	return s->may_wait && poll(&polled, 1, 0) == 0;
}

/* Closes what the source owns. */
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

/* Wakes a read of another thread; later reads return 0, too. */
static void fd_interrupt(struct tr_source *source)
{
	struct fd_source *s = self(source);
	/* a failed write means that the pipe is full, and so readable already */
	if (s->wake[1] >= 0 && write(s->wake[1], "", 1) < 0)
		return;
}

/*
 * A view of the file from `back` bytes before the position; data NULL: there is none, for example
 * of a pipe.
 */
static struct tr_text fd_look(struct tr_source *source, size_t back)
{
	struct fd_source *s = self(source);
	/* the position may have been moved by another process that shares the descriptor */
	off_t place = s->fd < 0 || s->may_wait ? -1 : lseek(s->fd, 0, SEEK_CUR);
	if (place < 0 || (uint64_t)place < back)
		return (struct tr_text){ NULL, 0 };
	return tr_file_view_at(&s->view, s->fd, place - (off_t)back);
}

/* Moves the position past bytes that were used in a view. */
static bool fd_pass(struct tr_source *source, size_t n)
{
	struct fd_source *s = self(source);
	if (lseek(s->fd, (off_t)n, SEEK_CUR) < 0)
		return false;
	s->count += n;
	return true;
}

/* Prepares the descriptor for fast reading; a failure only costs speed. */
static void prepare(struct fd_source *s)
{
	struct stat st;
	bool known = fstat(s->fd, &st) == 0;
	s->may_wait = known && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	s->size = known ? st.st_size : 0;
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

/*
 * Reading ahead on a thread: a ring of two blocks between a producer, which calls the inner source,
 * and the consumer. The inner source belongs to the producer from the start to the join, except for
 * its interrupt.
 */

/* a block has the size of a chunk of the snappy container, which is then decoded in place */
enum { BLOCK = 1 << 20, RING = 2 * BLOCK };

struct ahead {
	struct tr_source base;
	struct tr_source *inner;
	pthread_t producer;
	pthread_mutex_t lock; /* guards the members below, except the bytes of the ring */
	pthread_cond_t filled, drained;
	/*
	 * Total numbers of bytes that went in and out. The consumer may read [out, in) modulo RING,
	 * and the producer may write to the rest.
	 */
	uint64_t in, out;
	uint64_t raw_offset; /* of the inner source */
	bool ended;	     /* at the end, or after an error, which is in `error` */
	bool stop;	     /* the consumer is being closed */
	struct tr_error error;
	char ring[RING];
};

/*
 * Waits until half of the ring is free, and returns where the producer may write and how much; 0:
 * stop.
 */
static size_t wait_for_space(struct ahead *a, char **to)
{
	pthread_mutex_lock(&a->lock);
	while (!a->stop && a->in - a->out > RING - BLOCK)
		pthread_cond_wait(&a->drained, &a->lock);
	size_t at = a->in % RING;
	size_t space = RING - (size_t)(a->in - a->out);
	if (space > RING - at)
		space = RING - at;
	*to = a->ring + at;
	bool stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return stop ? 0 : space;
}

/* The thread: reads into the free part of the ring, without the lock, until the end or a stop. */
static void *produce(void *argument)
{
	struct ahead *a = argument;
	struct tr_source *inner = a->inner;
	char *to;
	size_t space;
	ssize_t n = 1;
	while (n > 0 && (space = wait_for_space(a, &to)) > 0) {
		struct tr_error err;
		tr_error_clear(&err);
		n = inner->read(inner, to, space < BLOCK ? space : BLOCK, &err);
		uint64_t raw = inner->raw_offset ? inner->raw_offset(inner) : 0;
		pthread_mutex_lock(&a->lock);
		if (n > 0)
			a->in += (uint64_t)n;
		else
			a->ended = true;
		a->raw_offset = inner->raw_offset ? raw : a->in;
		if (n < 0)
			a->error = err;
		pthread_cond_signal(&a->filled);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

/* Copies bytes from the ring, and waits while it is empty. */
static ssize_t ahead_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct ahead *a = (struct ahead *)source;
	pthread_mutex_lock(&a->lock);
	while (a->in == a->out && !a->ended)
		pthread_cond_wait(&a->filled, &a->lock);
	size_t at = a->out % RING;
	size_t n = (size_t)(a->in - a->out);
	pthread_mutex_unlock(&a->lock);

	if (n == 0) {
		/* the producer has ended, so no lock is needed */
		if (err)
			*err = a->error;
		return a->error.cause == TR_CAUSE_NONE ? 0 : -1;
	}
	if (n > RING - at)
		n = RING - at;
	if (n > cap)
		n = cap;
	memcpy(buf, a->ring + at, n);
	pthread_mutex_lock(&a->lock);
	a->out += n;
	if (a->in - a->out <= RING - BLOCK)
		pthread_cond_signal(&a->drained);
	pthread_mutex_unlock(&a->lock);
	return (ssize_t)n;
}

/* Returns whether the ring is empty. */
static bool ahead_would_wait(struct tr_source *source)
{
	struct ahead *a = (struct ahead *)source;
	pthread_mutex_lock(&a->lock);
	bool wait = a->in == a->out && !a->ended;
	pthread_mutex_unlock(&a->lock);
	return wait;
}

/* Returns the position of the inner source after the last read of the producer. */
static uint64_t ahead_raw_offset(struct tr_source *source)
{
	struct ahead *a = (struct ahead *)source;
	pthread_mutex_lock(&a->lock);
	uint64_t raw_offset = a->raw_offset;
	pthread_mutex_unlock(&a->lock);
	return raw_offset;
}

/* Frees everything. The thread has ended. */
static void free_ahead(struct ahead *a)
{
	pthread_cond_destroy(&a->drained);
	pthread_cond_destroy(&a->filled);
	pthread_mutex_destroy(&a->lock);
	a->inner->close(a->inner);
	free(a);
}

/* Stops the thread, waits for its end, and frees all. */
static void ahead_close(struct tr_source *source)
{
	struct ahead *a = (struct ahead *)source;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->drained);
	pthread_mutex_unlock(&a->lock);
	/* the producer may be waiting for bytes that never come */
	if (a->inner->interrupt)
		a->inner->interrupt(a->inner);
	pthread_join(a->producer, NULL);
	free_ahead(a);
}

/* Interrupts the read of the producer. */
static void ahead_interrupt(struct tr_source *source)
{
	struct tr_source *inner = ((struct ahead *)source)->inner;
	if (inner->interrupt)
		inner->interrupt(inner);
}

/* Starts the thread with all signals blocked: they are handled on the threads of the program. */
static bool start_producer(struct ahead *a)
{
	sigset_t all, before;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	int failure = pthread_create(&a->producer, NULL, produce, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure == 0;
}

struct tr_source *tr_source_ahead(struct tr_source *inner)
{
	struct ahead *a = malloc(sizeof *a);
	if (!a) {
		inner->close(inner);
		return NULL;
	}
	a->base = (struct tr_source){
		.read = ahead_read,
		.would_wait = ahead_would_wait,
		.close = ahead_close,
		.raw_offset = ahead_raw_offset,
		.interrupt = ahead_interrupt,
	};
	a->inner = inner;
	a->in = a->out = a->raw_offset = 0;
	a->ended = a->stop = false;
	tr_error_clear(&a->error);
	/* these calls cannot fail with default attributes */
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->filled, NULL);
	pthread_cond_init(&a->drained, NULL);
	if (!start_producer(a)) {
		free_ahead(a);
		return NULL;
	}
	return &a->base;
}
