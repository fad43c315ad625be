/*
 * apitrace's snappy container: "at", then chunks of a u32le length and a raw
 * snappy block of that length. apitrace writes 1 MiB of data to a chunk, and
 * skips white space in front of it all when it reads.
 *
 * When a recorded program forks, the child inherits the data that the parent has not
 * written yet, and writes it to the parent's file as a chunk when it makes its first call
 * or exits. The parent writes the same data again at the beginning of its next chunk. Such
 * a copy is left out: it comes either directly before the parent's chunk, or after it, in
 * the middle of an event. A copy that holds the beginning of the file is a stream of its
 * own and is kept, unless it comes after a full chunk.
 */
#include "config.h"

#include "core/codec_stream.h"

#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/codec_blocks.h"
#include "core/library.h"
#include "core/snappy_block.h"

enum {
	MAGIC_SIZE = 2,
	LENGTH_SIZE = 4,
	BLANKS_MAX = 4096, /* more of them in front of the magic are a text's */
	CHUNK_SIZE = 1 << 20,
	/* nobody writes larger ones; what is above is no length */
	LARGEST_BLOCK = 64 << 20,
	LARGEST_PACKED = LARGEST_BLOCK + LARGEST_BLOCK / 6 + 32, /* snappy's worst case */
	LONGEST_SIZE = 5, /* bytes that say the size of a block */
	WORST_RATIO = 6,  /* each byte a literal of its own, whose length takes four */
	/* the best that a block can do: a copy of 64 bytes in 3 bytes */
	BEST_RATIO = 22,
	HISTORY = 8,   /* chunks that copies are compared with */
	COPY_MIN = 16, /* bytes; what is shorter may be equal without being a copy */
};

/* Loaded when there is something to compress. */
struct libsnappy {
	__typeof__(snappy_compress) *compress;
	__typeof__(snappy_max_compressed_length) *max_compressed_length;
};

static bool load(struct libsnappy *lib, struct tr_error *err)
{
	static const struct tr_symbol symbols[] = {
		TR_SYMBOL(struct libsnappy, compress, snappy_compress),
		TR_SYMBOL(struct libsnappy, max_compressed_length, snappy_max_compressed_length),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBSNAPPY, symbols, lib, err);
}

static uint32_t read_u32le(const char *data)
{
	const unsigned char *p = (const unsigned char *)data;
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A block's first bytes say how long its data is: believed only where so much can be in it. */
static bool block_size(const char *data, size_t len, size_t packed_size, size_t *size)
{
	uint32_t value;
	if (!tr_snappy_size((struct tr_text){ data, len }, &value))
		return false;
	*size = value;
	return *size <= LARGEST_BLOCK && *size / BEST_RATIO <= packed_size;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Behind a size of whatever value, a literal that begins like no text: what is
 * left to see of a container where a number of its first chunk is damaged.
 */
static bool begins_binary(const char *data, size_t len)
{
	enum { TAG = 3, SHORT_LITERAL = 60, CONTROL = 0x20 };
	size_t i = 0;

	while (i < LONGEST_SIZE && i < len && (data[i] & 0x80))
		i++;
	if (len < i + 3 || (data[i + 1] & TAG) != 0)
		return false;
	/* lengths from there on are in bytes of their own */
	size_t length = (unsigned char)data[i + 1] >> 2;
	size_t first = i + 2 + (length < SHORT_LITERAL ? 0 : length - SHORT_LITERAL + 1);
	return first < len && (unsigned char)data[first] < CONTROL && !is_blank(data[first]);
}

static int bid(const char *data, size_t len)
{
	enum { ENOUGH = 16 }; /* for the first byte of data */
	for (size_t blanks = 0; len && blanks < BLANKS_MAX && is_blank(*data); blanks++) {
		data++;
		len--;
	}
	int bits = tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("at"));
	if (bits <= 0)
		return bits;
	/* two letters are little: the length and the size behind have to make sense, too */
	if (len < MAGIC_SIZE + LENGTH_SIZE)
		return TR_CODEC_MORE;
	uint32_t packed_size = read_u32le(data + MAGIC_SIZE);
	data += MAGIC_SIZE + LENGTH_SIZE;
	len -= MAGIC_SIZE + LENGTH_SIZE;
	size_t size;
	if (packed_size && packed_size <= LARGEST_PACKED &&
	    block_size(data, len < packed_size ? len : packed_size, packed_size, &size))
		return bits + 8;
	if (begins_binary(data, len))
		return bits;
	return len < packed_size && len < ENOUGH ? TR_CODEC_MORE : 0;
}

/* A chunk that was decoded. */
struct chunk {
	struct tr_buffer packed;
	size_t size; /* of its data */
};

struct decoder {
	bool begun;	/* the magic has been taken */
	uint64_t chunk; /* number of the current one, from 0 */
	size_t missing; /* bytes of the current chunk that are not in packed yet */
	struct tr_buffer packed, plain;
	size_t given;		/* of plain */
	enum tr_status outcome; /* what comes when all is given */
	struct tr_error error;

	struct chunk history[HISTORY]; /* the last chunks; chunk n is at n % HISTORY */
	struct tr_buffer compared;     /* data of one of them */
	char first[COPY_MIN];	       /* bytes of the first chunk's data */
	bool past_first;	       /* a full chunk came, or one that does not begin so */
	uint64_t copies;	       /* that were left out */
};

static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	for (size_t i = 0; i < HISTORY; i++)
		tr_buffer_free(&d->history[i].packed);
	tr_buffer_free(&d->compared);
	tr_buffer_free(&d->packed);
	tr_buffer_free(&d->plain);
	free(d);
}

/* what: of the current chunk. */
static enum tr_status corrupt(const struct decoder *d, struct tr_input *in, struct tr_error *err,
			      const char *what)
{
	char text[80];
	snprintf(text, sizeof text, "chunk %" PRIu64 " %s", d->chunk, what);
	tr_decoder_error(err, in, "snappy", text);
	return TR_FATAL;
}

/* Copies. */

/* Remembers a chunk that was decoded. False: memory is out. */
static bool remember(struct decoder *d, struct tr_text packed, size_t size)
{
	struct chunk *chunk = &d->history[d->chunk++ % HISTORY];
	chunk->size = size;
	if (packed.data == d->packed.data) {
		struct tr_buffer swapped = chunk->packed;
		chunk->packed = d->packed;
		d->packed = swapped;
		return true;
	}
	chunk->packed.len = 0;
	tr_buffer_put_text(&chunk->packed, packed);
	return !chunk->packed.failed;
}

static bool is_full_chunk(size_t size)
{
	return size >= CHUNK_SIZE;
}

/* Whether the first `size` bytes of plain are those of the chunk. */
static bool begins_like(struct decoder *d, const struct chunk *chunk, size_t size)
{
	bool whole;
	d->compared.len = 0;
	if (!tr_buffer_room(&d->compared, chunk->size + 1))
		return false;
	tr_snappy_decode(tr_buffer_text(&chunk->packed), d->compared.data, chunk->size, &whole);
	return memcmp(d->compared.data, d->plain.data, size) == 0;
}

/* How many bytes at the beginning of plain are a copy, or were given as one. */
static size_t count_copied(struct decoder *d)
{
	const struct chunk *previous = &d->history[(d->chunk - 1) % HISTORY];
	size_t size = d->plain.len;
	if (previous->size >= COPY_MIN && !is_full_chunk(previous->size) &&
	    previous->size <= size && begins_like(d, previous, previous->size))
		return previous->size;
	if (size < COPY_MIN || is_full_chunk(size))
		return 0;
	for (size_t i = 0; i < HISTORY && i < d->chunk; i++)
		if (d->history[i].size >= size && begins_like(d, &d->history[i], size))
			return size;
	return 0;
}

/* The chunk belongs to a stream that begins like the first chunk, and it is not the first. */
static bool begins_stream(struct decoder *d)
{
	size_t size = d->plain.len;
	if (d->chunk == 0)
		memcpy(d->first, d->plain.data, size < COPY_MIN ? size : COPY_MIN);
	return !d->past_first && size >= COPY_MIN && memcmp(d->plain.data, d->first, COPY_MIN) == 0;
}

/* The chunk is decoded to plain: skips what was given before. False: memory is out. */
static bool leave_out_copy(struct decoder *d, struct tr_text packed)
{
	size_t size = d->plain.len, copied = 0;
	if (!begins_stream(d)) {
		d->past_first = true;
		copied = d->chunk ? count_copied(d) : 0;
	}
	d->past_first = d->past_first || is_full_chunk(size);
	d->given = copied;
	d->copies += copied > 0;
	return copied == size || remember(d, packed, size);
}

/* Nearly all chunks are full: those are neither copies nor come after one. */
static bool may_be_copied(const struct decoder *d, size_t size)
{
	return !is_full_chunk(size) || !d->past_first ||
	       !is_full_chunk(d->history[(d->chunk - 1) % HISTORY].size);
}

/* A note at the end of the data. */
static enum tr_status report_copies(const struct decoder *d, struct tr_error *err)
{
	if (!d->copies)
		return TR_END;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "%" PRIu64 " chunks that repeat others are left out: the recorded program "
		     "forked, and its children wrote copies",
		     d->copies);
	tr_error_is_note(err);
	return TR_FATAL;
}

/* Decodes a whole chunk to where it is wanted, if there is room. */
static bool unpack_to(struct tr_text packed, size_t size, struct tr_room *room)
{
	bool whole;
	if (tr_room_left(room) < size)
		return false;
	tr_snappy_decode(packed, room->pos, size, &whole);
	if (whole)
		room->pos += size;
	return whole;
}

/*
 * Decodes the chunk. what: is wrong with it already, for which it has to be
 * damaged, or NULL. TR_FATAL: it is damaged, and there may be bytes to give.
 */
static enum tr_status unpack(struct decoder *d, struct tr_text packed, const char *what,
			     struct tr_input *in, struct tr_room *room, struct tr_error *err)
{
	size_t size;
	if (!block_size(packed.data, packed.len, packed.len + d->missing, &size))
		return corrupt(d, in, err, "has an impossible size");
	if (!what && !may_be_copied(d, size) && unpack_to(packed, size, room))
		return remember(d, packed, size) ? TR_OK : tr_error_memory(err);
	/* not more than can come of what is there */
	if (size / BEST_RATIO > packed.len)
		size = packed.len * BEST_RATIO;
	d->plain.len = 0;
	d->given = 0;
	/* room for one byte at least: NULL is a failure */
	if (!tr_buffer_room(&d->plain, size + 1))
		return tr_error_memory(err);
	bool whole;
	tr_buffer_used(&d->plain, tr_snappy_decode(packed, d->plain.data, size, &whole));
	if (what || !whole)
		return corrupt(d, in, err, what ? what : "is corrupt");
	return leave_out_copy(d, packed) ? TR_OK : tr_error_memory(err);
}

/* At the start of the container. */
static enum tr_status begin(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	while (tr_input_available(in) && is_blank(*in->pos))
		tr_input_skip(in, 1);
	if (!tr_input_more(in, MAGIC_SIZE))
		return TR_OK;
	if (memcmp(in->pos, "at", MAGIC_SIZE) != 0) {
		tr_decoder_error(err, in, "snappy", "not a container of apitrace");
		return TR_FATAL;
	}
	tr_input_skip(in, MAGIC_SIZE);
	d->begun = true;
	return TR_OK;
}

/* At the start of a chunk, or of the container. */
static enum tr_status begin_chunk(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!d->begun)
		return begin(d, in, err);
	if (!tr_input_more(in, LENGTH_SIZE))
		return tr_input_available(in) ? TR_OK : report_copies(d, err);
	uint32_t length = read_u32le(in->pos);
	if (length == 0)
		return corrupt(d, in, err, "has an impossible length");
	tr_input_skip(in, LENGTH_SIZE);
	d->packed.len = 0;
	d->missing = length; /* however long: gather() sees where the block has to be over */
	return TR_OK;
}

static void give(struct decoder *d, struct tr_room *room)
{
	size_t n = d->plain.len - d->given;
	if (n > tr_room_left(room))
		n = tr_room_left(room);
	memcpy(room->pos, d->plain.data + d->given, n);
	room->pos += n;
	d->given += n;
}

/* Whether nothing behind these bytes is of the block that they begin. */
static bool is_full(struct tr_text packed)
{
	uint32_t size;
	if (!tr_snappy_size(packed, &size) || size > LARGEST_BLOCK)
		return packed.len >= LONGEST_SIZE;
	return packed.len > LARGEST_PACKED ||
	       packed.len > LONGEST_SIZE + (size_t)size * WORST_RATIO;
}

/* More of a chunk, as it comes: its length alone allocates nothing, and keeps nothing. */
static enum tr_status gather(struct decoder *d, struct tr_input *in, struct tr_room *room,
			     struct tr_error *err)
{
	size_t n = tr_input_available(in) < d->missing ? tr_input_available(in) : d->missing;
	struct tr_text packed = { in->pos, n };
	bool whole = n == d->missing;
	if (d->packed.len || !whole) {
		tr_buffer_put(&d->packed, in->pos, n);
		if (d->packed.failed)
			return tr_error_memory(err);
		packed = tr_buffer_text(&d->packed);
	}
	d->missing -= n;
	bool cut = n == 0 && d->packed.len;
	tr_input_skip(in, n); /* its bytes stay where they are until more are asked for */
	if (whole)
		return unpack(d, packed, NULL, in, room, err);
	if (cut) {
		enum tr_status status = unpack(d, packed, "ends early", in, room, err);
		if (err->cause == TR_CAUSE_INPUT)
			err->cause = TR_CAUSE_CUT;
		return status;
	}
	if (is_full(packed))
		return unpack(d, packed, "has an impossible length", in, room, err);
	return TR_OK;
}

static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	if (d->given == d->plain.len && d->outcome == TR_OK)
		d->outcome =
			d->missing ? gather(d, in, room, &d->error) : begin_chunk(d, in, &d->error);
	if (d->given < d->plain.len) {
		give(d, room);
		return TR_OK;
	}
	if (d->outcome == TR_FATAL && in->damaged)
		tr_input_error(in, err);
	else if (d->outcome == TR_FATAL && err)
		*err = d->error;
	return d->outcome;
}

static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "snappy", step_decoder, destroy_decoder };
	struct decoder *d = calloc(1, sizeof *d);
	if (d)
		d->outcome = TR_OK;
	return tr_decoder_new(&class, d, in, limits, err);
}

static void *begin_worker(int level)
{
	struct libsnappy *lib = malloc(sizeof *lib);
	struct tr_error err;
	(void)level;
	if (lib && !load(lib, &err)) {
		free(lib);
		lib = NULL;
	}
	return lib;
}

static bool pack(void *worker, const struct tr_block *block, struct tr_buffer *to)
{
	const struct libsnappy *lib = worker;
	size_t size = lib->max_compressed_length(block->data.len);
	char *room = tr_buffer_room(to, LENGTH_SIZE + size);
	if (!room || lib->compress(block->data.data, block->data.len, room + LENGTH_SIZE, &size) !=
			     SNAPPY_OK)
		return false;
	for (unsigned i = 0; i < LENGTH_SIZE; i++)
		room[i] = (char)(size >> 8 * i);
	tr_buffer_used(to, LENGTH_SIZE + size);
	return true;
}

static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_block_class class = {
		.size = CHUNK_SIZE, /* apitrace's buffer for one is no larger */
		.magic = { "at", MAGIC_SIZE },
		.begin = begin_worker,
		.end = free,
		.pack = pack,
	};
	struct libsnappy lib;
	/* once here, so that what is said is right where it cannot be loaded */
	if (!load(&lib, err)) {
		inner->close(inner);
		return NULL;
	}
	return tr_blocks_new(&class, inner, level, threads, err);
}

const struct tr_codec tr_codec_snappy = {
	.name = "snappy",
	.general = false,
	.bid = bid,
	.empty = "at",
	.decoder = decoder,
	.encoder = encoder,
	.library = "libsnappy",
};
