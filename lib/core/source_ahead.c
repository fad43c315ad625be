/*
 * Reading ahead on a thread: a ring of two blocks between a producer, which
 * calls the inner source, and the consumer. The inner source belongs to the
 * producer from the start to the join, save for its interrupt.
 */
#include "config.h"

#include "core/source.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* a chunk of the snappy container is a block: it is decoded to where it is read from */
enum { BLOCK = 1 << 20, RING = 2 * BLOCK };

struct ahead {
	struct tr_source base;
	struct tr_source *inner;
	pthread_t producer;
	pthread_mutex_t lock; /* over all that follows, except the ring's bytes */
	pthread_cond_t filled, drained;
	/*
	 * Bytes that ever went in and came out; [out, in) modulo RING is what the
	 * consumer may read, the rest what the producer may write.
	 */
	uint64_t in, out;
	uint64_t raw_offset; /* of the inner source */
	bool ended;	     /* error, or no cause where it was just the end */
	bool stop;	     /* the consumer has gone */
	struct tr_error error;
	char ring[RING];
};

static struct ahead *self(struct tr_source *source)
{
	return (struct ahead *)source;
}

/* Where the producer may write, and how much, once half of the ring is free; 0: stop. */
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

static ssize_t ahead_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct ahead *a = self(source);
	pthread_mutex_lock(&a->lock);
	while (a->in == a->out && !a->ended)
		pthread_cond_wait(&a->filled, &a->lock);
	size_t at = a->out % RING;
	size_t n = (size_t)(a->in - a->out);
	pthread_mutex_unlock(&a->lock);

	if (n == 0) {
		/* the producer has written its last: no lock needed */
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

static bool ahead_would_wait(struct tr_source *source)
{
	struct ahead *a = self(source);
	pthread_mutex_lock(&a->lock);
	bool wait = a->in == a->out && !a->ended;
	pthread_mutex_unlock(&a->lock);
	return wait;
}

static uint64_t ahead_raw_offset(struct tr_source *source)
{
	struct ahead *a = self(source);
	pthread_mutex_lock(&a->lock);
	uint64_t raw_offset = a->raw_offset;
	pthread_mutex_unlock(&a->lock);
	return raw_offset;
}

static void stop_producer(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->drained);
	pthread_mutex_unlock(&a->lock);
	/* it may be waiting for bytes that never come */
	if (a->inner->interrupt)
		a->inner->interrupt(a->inner);
	pthread_join(a->producer, NULL);
}

static void free_ahead(struct ahead *a)
{
	pthread_cond_destroy(&a->drained);
	pthread_cond_destroy(&a->filled);
	pthread_mutex_destroy(&a->lock);
	a->inner->close(a->inner);
	free(a);
}

static void ahead_close(struct tr_source *source)
{
	stop_producer(self(source));
	free_ahead(self(source));
}

static void ahead_interrupt(struct tr_source *source)
{
	struct tr_source *inner = self(source)->inner;
	if (inner->interrupt)
		inner->interrupt(inner);
}

/* The process's signals are its own threads' business: handlers must not run here. */
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
	/* with default attributes these cannot fail */
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->filled, NULL);
	pthread_cond_init(&a->drained, NULL);
	if (!start_producer(a)) {
		free_ahead(a);
		return NULL;
	}
	return &a->base;
}
