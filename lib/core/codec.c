/* SPDX-License-Identifier: MIT */
/*
 * The code that all codecs share: blocks for several threads, decoders, encoders, and the list.
 */

#include "core/codec.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/codec_private.h"

/*
 * A ring of blocks connects the caller, who fills them and sends the packed ones in order, with the
 * workers, who take them in order too. A block belongs to the caller until it is filled, then to
 * one worker until it is packed, then to the caller again.
 */
struct slot {
	char *data; /* class->size bytes, allocated at the first use */
	struct tr_codec_block block;
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
	struct worker *workers; /* the first one is the caller itself if there are no threads */
	size_t worker_count;
	bool threaded;

	/* used by the caller only */
	size_t len;		      /* bytes in the block that is being filled */
	uint64_t offset;	      /* offset of the data of this block */
	bool begun;		      /* the magic was written */
	bool any;		      /* a block was submitted */
	struct tr_block_sizes *sizes; /* for the index */
	size_t size_count, size_cap;
	struct tr_buffer index;

	pthread_mutex_t lock; /* guards the members below, and `done` of the slots */
	pthread_cond_t filled, packed;
	struct slot *slots;
	size_t slot_count;
	uint64_t sent, taken, made; /* blocks that were sent, taken by workers, and filled */
	bool stop;
};

/* The slot of a block; slots are used in turn. */
static struct slot *slot_of(const struct blocks *b, uint64_t number)
{
	return &b->slots[number % b->slot_count];
}

/* Compresses the block of a slot. */
static void pack(const struct blocks *b, const struct worker *worker, struct slot *slot)
{
	/* without tr_buffer_reset, which frees large memory that the next block needs again */
	slot->packed.len = 0;
	slot->packed.failed = false;
	slot->failed =
		!b->class->pack(worker->state, &slot->block, &slot->packed) || slot->packed.failed;
}

/* A thread: takes the next block that is filled, and compresses it without the lock. */
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

/* Keeps the sizes of a block, for an index at the end. False: memory is exhausted. */
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

/* Waits for the oldest block and writes it to the inner sink. */
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

/* Writes the magic of the container, once, also before an empty file. */
static bool send_magic(struct blocks *b, struct tr_error *err)
{
	if (b->begun)
		return true;
	b->begun = true;
	return b->class->magic.len == 0 ||
	       b->inner->write(b->inner, b->class->magic.data, b->class->magic.len, err);
}

/* Submits the block that was being filled to the workers. */
static bool submit(struct blocks *b, bool last, struct tr_error *err)
{
	struct slot *slot = slot_of(b, b->made);
	if (!send_magic(b, err))
		return false;
	slot->block = (struct tr_codec_block){
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
	/* the next slot must be free */
	return b->made - b->sent < b->slot_count || send_one(b, err);
}

/* Writes all blocks that were given to threads, in their order, as they become ready. */
static bool drain(struct blocks *b, struct tr_error *err)
{
	while (b->sent < b->made)
		if (!send_one(b, err))
			return false;
	return true;
}

/* Copies bytes to the block that is filled; a full one goes to a thread. */
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

/* Writes the bytes so far as a block that is not full, if the container may have such blocks. */
static bool flush_blocks(struct tr_sink *sink, struct tr_error *err)
{
	struct blocks *b = (struct blocks *)sink;
	return send_magic(b, err) &&
	       (b->len == 0 || b->class->only_full || submit(b, false, err)) && drain(b, err) &&
	       b->inner->flush(b->inner, err);
}

/* Writes the last block, if the container needs one, and the index. */
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

/* Frees what the codec holds for a worker. */
static void free_worker(struct blocks *b, struct worker *worker)
{
	if (b->class->end)
		b->class->end(worker->state);
}

/* Frees everything. All threads have ended. */
static void free_blocks(struct blocks *b)
{
	for (size_t i = 0; i < b->worker_count; i++)
		free_worker(b, &b->workers[i]);
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

/* Ends the threads, even if blocks that are no longer needed are not finished. */
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

/* Adds a worker with the state of its codec. False: memory is exhausted. */
static bool add_worker(struct blocks *b, int level)
{
	struct worker *worker = &b->workers[b->worker_count];
	*worker = (struct worker){ .blocks = b };
	worker->state = b->class->begin ? b->class->begin(level) : worker;
	b->worker_count += worker->state != NULL;
	return worker->state;
}

/* Starts as many threads as possible. Without any, the caller does the work. */
static bool start_workers(struct blocks *b, int level, unsigned threads)
{
	sigset_t all, before;
	if (!add_worker(b, level))
		return false;
	if (threads < 2)
		return true;
	/* signals are handled on the threads of the program: handlers must not run here */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return true;
	for (;;) {
		struct worker *worker = &b->workers[b->worker_count - 1];
		if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
			/* the worker without a thread is freed, unless it is the only one */
			if (b->threaded)
				free_worker(b, &b->workers[--b->worker_count]);
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
		/* these calls cannot fail with default attributes */
		pthread_mutex_init(&b->lock, NULL);
		pthread_cond_init(&b->filled, NULL);
		pthread_cond_init(&b->packed, NULL);
		/* each worker has one slot, the caller fills one, and one is ready */
		b->slot_count = most > 1 ? most + 2 : 1;
		b->slots = calloc(b->slot_count, sizeof *b->slots);
		b->workers = calloc(most, sizeof *b->workers);
		if (b->slots && b->workers && start_workers(b, level, threads))
			return &b->base;
		free_blocks(b);
	}
	inner->close(inner);
	tr_error_memory(err);
	return NULL;
}

/* Decoders. */

/* Output below this size is allowed at any ratio. */
static const uint64_t RATIO_FREE = (uint64_t)64 << 20;

struct decoder {
	struct tr_source source; /* first, because the caller has a pointer to it */
	const struct tr_decoder_class *class;
	void *state;
	struct tr_input *in;
	struct tr_limits limits;
	uint64_t made;
	bool full;		/* the last read filled its buffer, so there is probably more */
	enum tr_status outcome; /* TR_OK while the stream goes on */
	struct tr_error error;	/* if outcome is TR_FATAL */
};

bool tr_ratio_exceeded(const struct tr_limits *limits, uint64_t made, uint64_t taken)
{
	return made > RATIO_FREE && limits->max_ratio && made / limits->max_ratio > taken;
}

void tr_decoder_error(struct tr_error *err, const struct tr_input *in, const char *name,
		      const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: %s (at byte %" PRIu64 " of the compressed data)",
		     name, what, in->offset);
}

/* Skips zeros. Returns whether there were any. */
static bool skip_zeros(struct tr_input *in)
{
	bool any = false;
	while (tr_input_more(in, 1) && *in->pos == '\0') {
		const char *p = in->pos;
		while (p < in->end && *p == '\0')
			p++;
		tr_input_skip(in, (size_t)(p - in->pos));
		any = true;
	}
	return any;
}

enum tr_status tr_decoder_behind(struct tr_input *in, const char *name,
				 int (*bid)(const char *data, size_t len), struct tr_error *err)
{
	bool padded = skip_zeros(in);
	if (tr_input_available(in) == 0)
		return TR_END;
	int bits = TR_CODEC_MORE;
	for (size_t want = 1; !padded && bits == TR_CODEC_MORE && tr_input_more(in, want);
	     want = tr_input_available(in) + 1)
		bits = bid(in->pos, tr_input_available(in));
	if (!padded && bits)
		return TR_OK;
	tr_decoder_error(err, in, name, "garbage after the end");
	return TR_FATAL;
}

/*
 * Ends the stream if it decompresses to more than --max-ratio allows: a small file must not fill a
 * disk.
 */
static void check_ratio(struct decoder *d)
{
	/* in a stack of codecs, the ratio counts from the bytes of the file */
	uint64_t raw = tr_input_raw_offset(d->in);
	uint64_t here = d->in->offset + tr_input_available(d->in);
	uint64_t taken = raw < here ? raw : here;
	if (!tr_ratio_exceeded(&d->limits, d->made, taken))
		return;
	d->outcome = TR_FATAL;
	tr_error_set(&d->error, TR_CAUSE_LIMIT,
		     "%s: decompresses to more than %u times its size (--max-ratio)",
		     d->class->name, d->limits.max_ratio);
}

/* Reports that the input ended although the step needs more. */
static void cut(struct decoder *d)
{
	d->outcome = TR_FATAL;
	if (d->in->damaged) {
		tr_input_error(d->in, &d->error);
		return;
	}
	tr_decoder_error(&d->error, d->in, d->class->name, "ends early");
	d->error.cause = TR_CAUSE_CUT;
}

/*
 * Calls the step of the codec until it returns bytes. A step that makes no progress gets a longer
 * window; if there is none, the stream is cut.
 */
static ssize_t read_decoder(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct decoder *d = (struct decoder *)source;
	struct tr_room room = { buf, buf + cap };
	size_t want = 1;

	while (d->outcome == TR_OK && room.pos == buf) {
		bool some = tr_input_more(d->in, want);
		uint64_t before = d->in->offset;
		d->outcome = d->class->step(d->state, d->in, &room, &d->error);
		d->made += (size_t)(room.pos - buf);
		bool moved = room.pos > buf || d->in->offset > before;
		if ((d->outcome == TR_END && d->in->damaged) ||
		    (d->outcome == TR_OK && !moved && !some))
			cut(d);
		else if (d->outcome == TR_OK)
			check_ratio(d);
		want = moved ? 1 : tr_input_available(d->in) + 1;
	}
	d->full = room.pos == room.end;
	if (room.pos > buf)
		return room.pos - buf;
	if (d->outcome == TR_END)
		return 0;
	if (err)
		*err = d->error;
	return -1;
}

static bool decoder_would_wait(struct tr_source *source)
{
	struct decoder *d = (struct decoder *)source;
	return d->outcome == TR_OK && !d->full && tr_input_would_wait(d->in);
}

static uint64_t decoder_raw_offset(struct tr_source *source)
{
	return tr_input_raw_offset(((struct decoder *)source)->in);
}

static void decoder_interrupt(struct tr_source *source)
{
	tr_input_interrupt(((struct decoder *)source)->in);
}

/* Frees the decoder and its input. */
static void close_decoder(struct tr_source *source)
{
	struct decoder *d = (struct decoder *)source;
	d->class->destroy(d->state);
	tr_input_free(d->in);
	free(d);
}

/* Owns in and state from here on, also if it fails. */
struct tr_source *tr_decoder_new(const struct tr_decoder_class *class, void *state,
				 struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	struct decoder *d = state ? malloc(sizeof *d) : NULL;
	if (!d) {
		if (state)
			class->destroy(state);
		tr_input_free(in);
		tr_error_memory(err);
		return NULL;
	}
	*d = (struct decoder){
		.source = {
			.read = read_decoder,
			.would_wait = decoder_would_wait,
			.close = close_decoder,
			.raw_offset = decoder_raw_offset,
			.interrupt = decoder_interrupt,
		},
		.class = class,
		.state = state,
		.in = in,
		.limits = *limits,
		.outcome = TR_OK,
	};
	return &d->source;
}

/* Encoders. */

enum { BLOCK_SIZE = 64 << 10 };

struct encoder {
	struct tr_sink sink; /* first, because the caller has a pointer to it */
	const struct tr_encoder_class *class;
	void *state;
	struct tr_sink *inner;
	char block[BLOCK_SIZE];
};

/*
 * Calls the step of the codec until the request is done, and writes its output to the inner sink.
 */
static bool run(struct encoder *e, const char *data, size_t len, enum tr_encode what,
		struct tr_error *err)
{
	enum tr_status status;
	do {
		struct tr_room room = { e->block, e->block + sizeof e->block };
		status = e->class->step(e->state, &data, &len, what, &room, err);
		size_t made = (size_t)(room.pos - e->block);
		if (status == TR_FATAL || (made && !e->inner->write(e->inner, e->block, made, err)))
			return false;
	} while (status == TR_OK);
	return true;
}

static bool write_encoder(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return len == 0 || run((struct encoder *)sink, data, len, TR_ENCODE_MORE, err);
}

static bool flush_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FLUSH, err) && e->inner->flush(e->inner, err);
}

static bool finish_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FINISH, err) && e->inner->finish(e->inner, err);
}

/* Drops the encoder. The inner sink drops its bytes, or has written them already. */
static void close_encoder(struct tr_sink *sink)
{
	struct encoder *e = (struct encoder *)sink;
	e->class->destroy(e->state);
	e->inner->close(e->inner);
	free(e);
}

struct tr_sink *tr_encoder_new(const struct tr_encoder_class *class, void *state,
			       struct tr_sink *inner, struct tr_error *err)
{
	struct encoder *e = state ? malloc(sizeof *e) : NULL;
	if (!e) {
		if (state)
			class->destroy(state);
		inner->close(inner);
		tr_error_memory(err);
		return NULL;
	}
	e->sink = (struct tr_sink){
		.write = write_encoder,
		.flush = flush_encoder,
		.finish = finish_encoder,
		.close = close_encoder,
	};
	e->class = class;
	e->state = state;
	e->inner = inner;
	return &e->sink;
}

enum { MAX_LAYERS = 4 };

const struct tr_codec *const tr_codecs[] = {
	&tr_codec_gzip, &tr_codec_xz,	  &tr_codec_zstd,   &tr_codec_bzip2,
	&tr_codec_lz4,	&tr_codec_brotli, &tr_codec_snappy, NULL,
};

const struct tr_codec *tr_codec_by_name(struct tr_text name)
{
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_text_is(name, tr_codecs[i]->name))
			return tr_codecs[i];
	return NULL;
}

const struct tr_codec *tr_codec_by_extension(struct tr_text path)
{
	/* single extensions for a compressed tar */
	static const struct {
		const char *extension;
		const struct tr_codec *codec;
	} short_names[] = {
		{ ".tgz", &tr_codec_gzip },  { ".txz", &tr_codec_xz },
		{ ".tzst", &tr_codec_zstd }, { ".tbz2", &tr_codec_bzip2 },
		{ ".tbz", &tr_codec_bzip2 }, { ".tlz4", &tr_codec_lz4 },
	};
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_codecs[i]->extension && tr_path_ends(path, tr_codecs[i]->extension))
			return tr_codecs[i];
	for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
		if (tr_path_ends(path, short_names[i].extension))
			return short_names[i].codec;
	return NULL;
}

/* Returns the codec with the best bid. *unsure: more bytes may bring a better one. */
static const struct tr_codec *best_bid(const struct tr_input *in, bool *unsure)
{
	const struct tr_codec *best = NULL;
	int most = 0;
	*unsure = false;
	for (size_t i = 0; tr_codecs[i]; i++) {
		if (!tr_codecs[i]->bid)
			continue;
		int bits = tr_codecs[i]->bid(in->pos, tr_input_available(in));
		if (bits == TR_CODEC_MORE)
			*unsure = true;
		if (bits > most) {
			most = bits;
			best = tr_codecs[i];
		}
	}
	return best;
}

/* Returns the codec for which the whole input is an empty stream, or NULL. */
static const struct tr_codec *empty_stream(const struct tr_input *in)
{
	struct tr_text all = { in->pos, tr_input_available(in) };
	if (!in->at_end || in->damaged)
		return NULL;
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_codecs[i]->empty && tr_text_is(all, tr_codecs[i]->empty))
			return tr_codecs[i];
	return NULL;
}

const struct tr_codec *tr_codec_detect(struct tr_input *in)
{
	const struct tr_codec *best = NULL;
	bool unsure = true;
	for (size_t want = 1; unsure && tr_input_more(in, want); want = tr_input_available(in) + 1)
		best = best_bid(in, &unsure);
	return best ? best : empty_stream(in);
}

/* Returns whether this process may use more than one processor. */
static bool idle_cpu(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

/* Removes one layer of compression. */
static struct tr_input *open_layer(struct tr_input *in, const struct tr_codec *codec,
				   const struct tr_limits *limits, bool threads,
				   struct tr_error *err)
{
	const struct tr_codec *outermost = in->codec ? in->codec : codec;
	bool ahead = in->ahead || threads;
	struct tr_source *source = codec->decoder(in, limits, err);
	if (!source)
		return NULL;
	if (threads)
		source = tr_source_ahead(source);
	in = source ? tr_input_new(source, limits, 0) : NULL;
	if (!in) {
		tr_error_memory(err);
		return NULL;
	}
	in->codec = outermost;
	in->ahead = ahead;
	return in;
}

struct tr_input *tr_codec_open_as(struct tr_input *in, const struct tr_codec *codec,
				  const struct tr_limits *limits, bool threads,
				  struct tr_error *err)
{
	/* one thread, for the outermost layer: further threads would only wait for each other */
	threads = threads && idle_cpu();
	for (unsigned layers = 0; codec; layers++) {
		if (layers == MAX_LAYERS) {
			tr_error_set(err, TR_CAUSE_LIMIT, "compressed more than %d times",
				     MAX_LAYERS);
			tr_input_free(in);
			return NULL;
		}
		in = open_layer(in, codec, limits, threads && layers == 0, err);
		if (!in)
			return NULL;
		codec = tr_codec_detect(in);
	}
	return in;
}

struct tr_input *tr_codec_open(struct tr_input *in, const struct tr_limits *limits, bool threads,
			       struct tr_error *err)
{
	return tr_codec_open_as(in, tr_codec_detect(in), limits, threads, err);
}
