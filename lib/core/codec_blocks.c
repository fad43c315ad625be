/* SPDX-License-Identifier: MIT */
/*
 * A ring of blocks between the caller, who fills them and sends away what came
 * of them, in order, and the workers, who take them in order too. A block
 * belongs to the caller until it is filled, then to one worker until it is
 * packed, then to the caller again.
 */

#include "core/codec_blocks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

struct slot {
	char *data; /* class->size bytes, allocated when it is first used */
	struct tr_block block;
	struct tr_buffer packed;
	bool done, failed;
};

struct worker {
	struct blocks *blocks;
	void *state;
	pthread_t thread;
};

struct blocks {
	struct tr_sink base;
	const struct tr_block_class *class;
	struct tr_sink *inner;
	struct worker *workers; /* the first is the caller's where there are no threads */
	size_t worker_count;
	bool threaded;

	/* the caller's */
	size_t len;		      /* of the block that is being filled */
	uint64_t offset;	      /* of its data */
	bool begun;		      /* the magic is out */
	bool any;		      /* a block was made */
	struct tr_block_sizes *sizes; /* for the index */
	size_t size_count, size_cap;
	struct tr_buffer index;

	pthread_mutex_t lock; /* over what follows, and done of the slots */
	pthread_cond_t filled, packed;
	struct slot *slots;
	size_t slot_count;
	uint64_t sent, taken, made; /* blocks that went out, were taken by workers, were filled */
	bool stop;
};

static struct slot *slot_of(const struct blocks *b, uint64_t number)
{
	return &b->slots[number % b->slot_count];
}

static void pack(const struct blocks *b, const struct worker *worker, struct slot *slot)
{
	/* not given back, as a reset would: the next block needs as much */
	slot->packed.len = 0;
	slot->packed.failed = false;
	slot->failed =
		!b->class->pack(worker->state, &slot->block, &slot->packed) || slot->packed.failed;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct blocks *b = worker->blocks;
	pthread_mutex_lock(&b->lock);
	for (;;) {
		while (!b->stop && b->taken == b->made)
			pthread_cond_wait(&b->filled, &b->lock);
		if (b->stop)
			break;
		struct slot *slot = slot_of(b, b->taken++);
		pthread_mutex_unlock(&b->lock);
		pack(b, worker, slot);
		pthread_mutex_lock(&b->lock);
		slot->done = true;
		pthread_cond_signal(&b->packed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static bool note_sizes(struct blocks *b, const struct slot *slot)
{
	if (!b->class->index)
		return true;
	if (!tr_array_room(b->sizes, b->size_count, b->size_cap))
		return false;
	b->sizes[b->size_count++] = (struct tr_block_sizes){ (uint32_t)slot->block.data.len,
							     (uint32_t)slot->packed.len };
	return true;
}

/* Waits for the oldest block and sends it away. */
static bool send_one(struct blocks *b, struct tr_error *err)
{
	struct slot *slot = slot_of(b, b->sent);
	pthread_mutex_lock(&b->lock);
	while (!slot->done)
		pthread_cond_wait(&b->packed, &b->lock);
	pthread_mutex_unlock(&b->lock);
	b->sent++;
	if (slot->failed || !note_sizes(b, slot)) {
		tr_error_memory(err);
		return false;
	}
	return slot->packed.len == 0 ||
	       b->inner->write(b->inner, slot->packed.data, slot->packed.len, err);
}

static bool send_magic(struct blocks *b, struct tr_error *err)
{
	if (b->begun)
		return true;
	b->begun = true;
	return b->class->magic.len == 0 ||
	       b->inner->write(b->inner, b->class->magic.data, b->class->magic.len, err);
}

/* The block that was being filled goes to the workers. */
static bool submit(struct blocks *b, bool last, struct tr_error *err)
{
	struct slot *slot = slot_of(b, b->made);
	if (!send_magic(b, err))
		return false;
	slot->block = (struct tr_block){
		.data = { slot->data ? slot->data : "", b->len },
		.offset = b->offset,
		.last = last,
	};
	b->any = true;
	b->offset += b->len;
	b->len = 0;
	slot->done = false;
	if (!b->threaded) {
		pack(b, &b->workers[0], slot);
		slot->done = true;
		b->made++;
		return send_one(b, err);
	}
	pthread_mutex_lock(&b->lock);
	b->made++;
	pthread_cond_signal(&b->filled);
	pthread_mutex_unlock(&b->lock);
	/* the next one is to be free */
	return b->made - b->sent < b->slot_count || send_one(b, err);
}

static bool drain(struct blocks *b, struct tr_error *err)
{
	while (b->sent < b->made)
		if (!send_one(b, err))
			return false;
	return true;
}

static bool write_blocks(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct blocks *b = (struct blocks *)sink;
	while (len) {
		struct slot *slot = slot_of(b, b->made);
		if (!slot->data && !(slot->data = malloc(b->class->size))) {
			tr_error_memory(err);
			return false;
		}
		size_t n = b->class->size - b->len < len ? b->class->size - b->len : len;
		memcpy(slot->data + b->len, data, n);
		b->len += n;
		data += n;
		len -= n;
		if (b->len == b->class->size && !submit(b, false, err))
			return false;
	}
	return true;
}

static bool flush_blocks(struct tr_sink *sink, struct tr_error *err)
{
	struct blocks *b = (struct blocks *)sink;
	return send_magic(b, err) && (b->len == 0 || submit(b, false, err)) && drain(b, err) &&
	       b->inner->flush(b->inner, err);
}

static bool finish_blocks(struct tr_sink *sink, struct tr_error *err)
{
	struct blocks *b = (struct blocks *)sink;
	bool one_more = b->len || b->class->has_last || (b->class->has_any && !b->any);
	if (!send_magic(b, err) || (one_more && !submit(b, true, err)) || !drain(b, err))
		return false;
	if (b->class->index)
		b->class->index(b->sizes, b->size_count, &b->index);
	if (b->index.failed) {
		tr_error_memory(err);
		return false;
	}
	return (b->index.len == 0 || b->inner->write(b->inner, b->index.data, b->index.len, err)) &&
	       b->inner->finish(b->inner, err);
}

static void dismiss(struct blocks *b, struct worker *worker)
{
	if (b->class->end)
		b->class->end(worker->state);
}

static void free_blocks(struct blocks *b)
{
	for (size_t i = 0; i < b->worker_count; i++)
		dismiss(b, &b->workers[i]);
	for (size_t i = 0; b->slots && i < b->slot_count; i++) {
		free(b->slots[i].data);
		tr_buffer_free(&b->slots[i].packed);
	}
	pthread_cond_destroy(&b->packed);
	pthread_cond_destroy(&b->filled);
	pthread_mutex_destroy(&b->lock);
	tr_buffer_free(&b->index);
	free(b->sizes);
	free(b->slots);
	free(b->workers);
	free(b);
}

static void close_blocks(struct tr_sink *sink)
{
	struct blocks *b = (struct blocks *)sink;
	if (b->threaded) {
		pthread_mutex_lock(&b->lock);
		b->stop = true;
		pthread_cond_broadcast(&b->filled);
		pthread_mutex_unlock(&b->lock);
		for (size_t i = 0; i < b->worker_count; i++)
			pthread_join(b->workers[i].thread, NULL);
	}
	b->inner->close(b->inner);
	free_blocks(b);
}

static bool add_worker(struct blocks *b, int level)
{
	struct worker *worker = &b->workers[b->worker_count];
	*worker = (struct worker){ .blocks = b };
	worker->state = b->class->begin ? b->class->begin(level) : worker;
	b->worker_count += worker->state != NULL;
	return worker->state;
}

/* As many threads as there can be; where there can be none, the caller works himself. */
static bool hire(struct blocks *b, int level, unsigned threads)
{
	sigset_t all, before;
	if (!add_worker(b, level))
		return false;
	if (threads < 2)
		return true;
	/* the process's signals are its own threads' business: handlers must not run here */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return true;
	for (;;) {
		struct worker *worker = &b->workers[b->worker_count - 1];
		if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
			/* the one without a thread is given up, unless it is the only one */
			if (b->threaded)
				dismiss(b, &b->workers[--b->worker_count]);
			break;
		}
		b->threaded = true;
		if (b->worker_count == threads || !add_worker(b, level))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return true;
}

struct tr_sink *tr_blocks_new(const struct tr_block_class *class, struct tr_sink *inner, int level,
			      unsigned threads, struct tr_error *err)
{
	struct blocks *b = calloc(1, sizeof *b);
	if (b) {
		size_t most = threads ? threads : 1;
		b->class = class;
		b->base = (struct tr_sink){ .write = write_blocks,
					    .flush = flush_blocks,
					    .finish = finish_blocks,
					    .close = close_blocks };
		b->inner = inner;
		/* with default attributes these cannot fail */
		pthread_mutex_init(&b->lock, NULL);
		pthread_cond_init(&b->filled, NULL);
		pthread_cond_init(&b->packed, NULL);
		/* each worker has one, the caller fills one, and one is ready */
		b->slot_count = most > 1 ? most + 2 : 1;
		b->slots = calloc(b->slot_count, sizeof *b->slots);
		b->workers = calloc(most, sizeof *b->workers);
		if (b->slots && b->workers && hire(b, level, threads))
			return &b->base;
		free_blocks(b);
	}
	inner->close(inner);
	tr_error_memory(err);
	return NULL;
}
