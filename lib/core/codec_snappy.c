/* SPDX-License-Identifier: MIT */
/*
 * Decodes raw snappy blocks. A block consists of its decoded size as a varint, then elements. The
 * low two bits of the first byte of an element are its type: 0 is a literal, the others are copies
 * of earlier output with an offset of 1, 2 or 4 bytes.
 *
 * Far from both ends only offsets and long lengths are checked: STRIDE bytes are moved even if
 * fewer are needed, and the excess is overwritten. Near an end every byte is checked.
 */

#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/codec_private.h"
#include "core/library.h"
#include "core/wire.h"

enum {
	LITERAL = 0,
	COPY_1 = 1,
	COPY_2 = 2,
	COPY_4 = 3,
	LONGEST_INLINE = 60, /* bytes of a literal; longer ones have a length in separate bytes */
	LONGEST_COPY = 64,
	STRIDE = 16,
	/* minimum distance from an end: one element, and the bytes moved beyond it */
	IN_MARGIN = 1 + LONGEST_INLINE + STRIDE,
	OUT_MARGIN = LONGEST_COPY + 2 * STRIDE,
};

struct decoder {
	const unsigned char *in, *in_end;
	unsigned char *begin, *out, *out_end;
};

struct element {
	size_t length;
	size_t offset; /* offset of a copy, backwards; 0: a literal */
};

bool tr_snappy_size(struct tr_text packed, uint32_t *size)
{
	/* 32 bits in groups of 7, and the maximum of the last group, which has 4 */
	enum { LONGEST = 5, LAST_MAX = 15 };
	const unsigned char *p = (const unsigned char *)packed.data;
	*size = 0;
	for (size_t i = 0; i < LONGEST && i < packed.len; i++) {
		*size |= (uint32_t)(p[i] & 0x7f) << 7 * i;
		if (p[i] < 0x80)
			return i < LONGEST - 1 || p[i] <= LAST_MAX;
	}
	return false;
}

/* Reads a little-endian number of n bytes. */
static bool read_number(struct decoder *d, unsigned n, size_t *value)
{
	if ((size_t)(d->in_end - d->in) < n)
		return false;
	*value = 0;
	for (unsigned i = 0; i < n; i++)
		*value |= (size_t)*d->in++ << 8 * i;
	return true;
}

/*
 * Reads the tag of an element, its length and its offset. False: it is cut, or refers to nothing.
 */
static bool read_element(struct decoder *d, struct element *e)
{
	size_t tag;
	if (!read_number(d, 1, &tag))
		return false;
	size_t upper = tag >> 2;
	*e = (struct element){ .length = upper + 1 };
	switch (tag & 3) {
	case LITERAL:
		if (upper < LONGEST_INLINE)
			return true;
		if (!read_number(d, (unsigned)(upper - LONGEST_INLINE) + 1, &e->length))
			return false;
		e->length += e->length < SIZE_MAX; /* with 32 bits, no block has so many bytes */
		return true;
	case COPY_1:
		if (!read_number(d, 1, &e->offset))
			return false;
		e->length = (upper & 7) + 4;
		e->offset |= tag >> 5 << 8;
		break;
	default:
		if (!read_number(d, (tag & 3) == COPY_4 ? 4 : 2, &e->offset))
			return false;
		break;
	}
	return e->offset != 0;
}

/* Decodes the available part of the next element. False: it is incomplete or invalid. */
static bool decode_one(struct decoder *d)
{
	struct element e;
	if (!read_element(d, &e) || e.offset > (size_t)(d->out - d->begin))
		return false;
	size_t room = (size_t)(d->out_end - d->out), left = (size_t)(d->in_end - d->in);
	size_t n = e.length < room ? e.length : room;
	if (e.offset) {
		/* byte by byte, because a copy may overlap its own output */
		for (const unsigned char *stop = d->out + n; d->out < stop; d->out++)
			*d->out = d->out[-(ptrdiff_t)e.offset];
		return n == e.length;
	}
	if (n > left)
		n = left;
	memcpy(d->out, d->in, n);
	d->in += n;
	d->out += n;
	return n == e.length;
}

/* Moves STRIDE bytes; the ranges may overlap. */
static inline void move_stride(unsigned char *to, const unsigned char *from)
{
	unsigned char bytes[STRIDE];
	memcpy(bytes, from, STRIDE);
	memcpy(to, bytes, STRIDE);
}

/*
 * Moves at least the bytes before stop, and up to STRIDE - 1 more. The ranges may overlap if they
 * are STRIDE apart.
 */
static inline void move_strides(unsigned char *to, const unsigned char *from,
				const unsigned char *stop)
{
	do {
		move_stride(to, from);
		to += STRIDE;
		from += STRIDE;
	} while (to < stop);
}

/*
 * Moves from a nearer source: bytes that repeat at a distance repeat at every multiple of it, and
 * copying them doubles the distance. What a stride moves beyond them is overwritten by the next
 * one.
 */
static inline void repeat(unsigned char *to, size_t distance, const unsigned char *stop)
{
	const unsigned char *pattern = to - distance;
	for (; distance < STRIDE; distance *= 2) {
		move_stride(to, pattern);
		to += distance;
	}
	if (to < stop)
		move_strides(to, pattern, stop);
}

/* A number of 32 bits, little endian. */
static inline uint32_t load_u32(const unsigned char *p)
{
	return tr_wire_u32((const char *)p, false);
}

/*
 * Decodes elements as long as both ends are so far away that strides may be moved without a check,
 * up to a literal with a length of its own or an invalid offset. A match of more than LONGEST_COPY
 * bytes is encoded as several equal copies of three bytes, which are joined.
 */
static void decode_far_from_ends(struct decoder *d)
{
	const unsigned char *in = d->in;
	unsigned char *out = d->out;
	ptrdiff_t in_left = d->in_end - in, out_left = d->out_end - out;
	if (in_left < IN_MARGIN || out_left < OUT_MARGIN)
		return;
	const unsigned char *in_stop = d->in_end - IN_MARGIN, *out_stop = d->out_end - OUT_MARGIN;
	while (in <= in_stop && out <= out_stop) {
		uint32_t word = load_u32(in);
		unsigned tag = word & 0xff;
		size_t length = (tag >> 2) + 1, offset;
		const unsigned char *next;
		switch (tag & 3) {
		case LITERAL:
			if (length > LONGEST_INLINE)
				goto done;
			move_strides(out, in + 1, out + length);
			in += 1 + length;
			out += length;
			continue;
		case COPY_1:
			length = (tag >> 2 & 7) + 4;
			offset = tag >> 5 << 8 | (word >> 8 & 0xff);
			next = in + 2;
			break;
		case COPY_2:
			offset = word >> 8 & 0xffff;
			next = in + 3;
			while (length % LONGEST_COPY == 0 && next <= in_stop &&
			       ((load_u32(next) ^ word) & 0xffffff) == 0 &&
			       length < (size_t)(out_stop - out)) {
				length += LONGEST_COPY;
				next += 3;
			}
			break;
		default:
			offset = load_u32(in + 1);
			next = in + 5;
			break;
		}
		if (offset == 0 || offset > (size_t)(out - d->begin))
			break;
		if (offset < STRIDE)
			repeat(out, offset, out + length);
		else
			move_strides(out, out - offset, out + length);
		in = next;
		out += length;
	}
done:
	d->in = in;
	d->out = out;
}

size_t tr_snappy_decode(struct tr_text packed, char *plain, size_t size, bool *whole)
{
	struct decoder d = {
		.in = (const unsigned char *)packed.data,
		.in_end = (const unsigned char *)packed.data + packed.len,
		.begin = (unsigned char *)plain,
		.out = (unsigned char *)plain,
		.out_end = (unsigned char *)plain + size,
	};
	bool fine = true;
	while (d.in < d.in_end && *d.in++ & 0x80)
		; /* the size is known */
	while (fine && d.in < d.in_end) {
		decode_far_from_ends(&d);
		fine = d.in == d.in_end || decode_one(&d);
	}
	*whole = fine && d.out == d.out_end;
	return (size_t)(d.out - d.begin);
}

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

enum {
	MAGIC_SIZE = 2,
	LENGTH_SIZE = 4,
	BLANKS_MAX = 4096, /* with more blanks before the magic, it is text */
	CHUNK_SIZE = 1 << 20,
	/* larger blocks are never written, so a larger number is not a length */
	LARGEST_BLOCK = 64 << 20,
	LARGEST_PACKED = LARGEST_BLOCK + LARGEST_BLOCK / 6 + 32, /* snappy's worst case */
	LONGEST_SIZE = 5, /* maximum number of bytes of the size of a block */
	WORST_RATIO = 6,  /* for a literal with a length of four bytes for each byte */
	/* the best case: a copy of 64 bytes in 3 bytes */
	BEST_RATIO = 22,
	HISTORY = 8,   /* chunks that copies are compared with */
	COPY_MIN = 16, /* bytes; shorter data may be equal by chance */
};

/* Loaded when data are compressed for the first time. */
struct libsnappy {
	__typeof__(snappy_compress) *compress;
	__typeof__(snappy_max_compressed_length) *max_compressed_length;
};

/* Loads libsnappy, which only writing needs. */
static bool load(struct libsnappy *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct libsnappy, compress, snappy_compress),
		TR_LIBRARY_FUNCTION(struct libsnappy, max_compressed_length,
				    snappy_max_compressed_length),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBSNAPPY, symbols, lib, err);
}

/* Reads the decoded size of a block. False: the block is too short to hold so much. */
static bool block_size(const char *data, size_t len, size_t packed_size, size_t *size)
{
	uint32_t value;
	if (!tr_snappy_size((struct tr_text){ data, len }, &value))
		return false;
	*size = value;
	return *size <= LARGEST_BLOCK && *size / BEST_RATIO <= packed_size;
}

/*
 * True if a literal that is not text follows a size of any value: the recognisable part of a
 * container in which a number of the first chunk is damaged.
 */
static bool begins_binary(const char *data, size_t len)
{
	enum { TAG = 3, SHORT_LITERAL = 60, CONTROL = 0x20 };
	size_t i = 0;

	while (i < LONGEST_SIZE && i < len && (data[i] & 0x80))
		i++;
	if (len < i + 3 || (data[i + 1] & TAG) != 0)
		return false;
	/* larger lengths are in bytes of their own */
	size_t length = (unsigned char)data[i + 1] >> 2;
	size_t first = i + 2 + (length < SHORT_LITERAL ? 0 : length - SHORT_LITERAL + 1);
	return first < len && (unsigned char)data[first] < CONTROL && !tr_is_space(data[first]);
}

/*
 * The bits of the magic, and of the sizes of the first chunk. Without them any text that begins
 * with "at" would be a container.
 */
static int bid(const char *data, size_t len)
{
	enum { ENOUGH = 16 }; /* enough to reach the first byte of data */
	for (size_t blanks = 0; len && blanks < BLANKS_MAX && tr_is_space(*data); blanks++) {
		data++;
		len--;
	}
	int bits = tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("at"));
	if (bits <= 0)
		return bits;
	/* two letters are weak evidence: the length and the size after them must be valid too */
	if (len < MAGIC_SIZE + LENGTH_SIZE)
		return TR_CODEC_MORE;
	uint32_t packed_size = tr_wire_u32(data + MAGIC_SIZE, false);
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

/* A decoded chunk. */
struct chunk {
	struct tr_buffer packed;
	size_t size;	      /* size of its data */
	char first[COPY_MIN]; /* bytes of its data, or all */
};

struct snappy_decoder {
	bool begun;	/* the magic was read */
	uint64_t chunk; /* number of the current one, from 0 */
	size_t missing; /* bytes of the current chunk that are not in packed yet */
	struct tr_buffer packed, plain;
	size_t given;		/* bytes of plain that were returned */
	enum tr_status outcome; /* status after all data were returned */
	struct tr_error error;

	struct chunk history[HISTORY]; /* the last chunks; chunk n is at n % HISTORY */
	struct tr_buffer compared;     /* data of one of them */
	char first[COPY_MIN];	       /* bytes of the first chunk's data */
	bool past_first;	       /* a full chunk came, or one that does not begin so */
	uint64_t copies;	       /* number of copies that were left out */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct snappy_decoder *d = state;
	for (size_t i = 0; i < HISTORY; i++)
		tr_buffer_free(&d->history[i].packed);
	tr_buffer_free(&d->compared);
	tr_buffer_free(&d->packed);
	tr_buffer_free(&d->plain);
	free(d);
}

/* what: of the current chunk. */
static enum tr_status corrupt(const struct snappy_decoder *d, struct tr_input *in,
			      struct tr_error *err, const char *what)
{
	char text[80];
	snprintf(text, sizeof text, "chunk %" PRIu64 " %s", d->chunk, what);
	tr_decoder_error(err, in, "snappy", text);
	return TR_FATAL;
}

/* Keeps a decoded chunk in the history. False: memory is exhausted. */
static bool keep_chunk(struct snappy_decoder *d, struct tr_text packed, struct tr_text plain)
{
	struct chunk *chunk = &d->history[d->chunk++ % HISTORY];
	chunk->size = plain.len;
	memcpy(chunk->first, plain.data, plain.len < COPY_MIN ? plain.len : COPY_MIN);
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

/* True if the first `size` bytes of plain, COPY_MIN or more, are those of the chunk. */
static bool begins_like(struct snappy_decoder *d, struct tr_text plain, const struct chunk *chunk,
			size_t size)
{
	bool whole;
	if (memcmp(plain.data, chunk->first, COPY_MIN) != 0)
		return false;
	d->compared.len = 0;
	if (!tr_buffer_room(&d->compared, chunk->size + 1))
		return false; /* compared.failed */
	tr_snappy_decode(tr_buffer_text(&chunk->packed), d->compared.data, chunk->size, &whole);
	return memcmp(d->compared.data, plain.data, size) == 0;
}

/* Returns how many bytes at the beginning of plain are a copy, or were returned as one. */
static size_t count_copied(struct snappy_decoder *d, struct tr_text plain)
{
	const struct chunk *previous = &d->history[(d->chunk - 1) % HISTORY];
	if (previous->size >= COPY_MIN && previous->size < CHUNK_SIZE &&
	    previous->size <= plain.len && begins_like(d, plain, previous, previous->size))
		return previous->size;
	if (plain.len < COPY_MIN || plain.len >= CHUNK_SIZE)
		return 0;
	for (size_t i = 0; i < HISTORY && i < d->chunk; i++)
		if (d->history[i].size >= plain.len &&
		    begins_like(d, plain, &d->history[i], plain.len))
			return plain.len;
	return 0;
}

/* Sets how many bytes at the beginning of a chunk are left out. False: memory is exhausted. */
static bool find_copy(struct snappy_decoder *d, struct tr_text packed, struct tr_text plain,
		      size_t *copied)
{
	*copied = 0;
	if (d->chunk == 0)
		memcpy(d->first, plain.data, plain.len < COPY_MIN ? plain.len : COPY_MIN);
	/* unless a stream of its own begins with the chunk, as with the first one */
	if (d->past_first || plain.len < COPY_MIN || memcmp(plain.data, d->first, COPY_MIN) != 0) {
		d->past_first = true;
		*copied = d->chunk ? count_copied(d, plain) : 0;
	}
	d->past_first = d->past_first || plain.len >= CHUNK_SIZE;
	d->copies += *copied > 0;
	return !d->compared.failed &&
	       ((*copied && *copied == plain.len) || keep_chunk(d, packed, plain));
}

/* Notes the copies that were left out, at the end of the data. */
static enum tr_status report_copies(const struct snappy_decoder *d, struct tr_error *err)
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

/*
 * Decodes the chunk. what: an error that was found in it before, or NULL. TR_FATAL: it is damaged;
 * there may be data before the damage.
 */
static enum tr_status unpack(struct snappy_decoder *d, struct tr_text packed, const char *what,
			     struct tr_input *in, struct tr_room *room, struct tr_error *err)
{
	size_t size, copied;
	bool whole = false;
	if (!block_size(packed.data, packed.len, packed.len + d->missing, &size))
		return corrupt(d, in, err, "has an impossible size");
	/* a whole chunk is decoded to where it is wanted, if there is room */
	if (!what && size <= tr_room_left(room))
		tr_snappy_decode(packed, room->pos, size, &whole);
	if (whole) {
		if (!find_copy(d, packed, (struct tr_text){ room->pos, size }, &copied))
			return tr_error_memory(err);
		if (copied)
			memmove(room->pos, room->pos + copied, size - copied);
		room->pos += size - copied;
		return TR_OK;
	}
	/* not more than the packed bytes can hold */
	if (size / BEST_RATIO > packed.len)
		size = packed.len * BEST_RATIO;
	d->plain.len = 0;
	d->given = 0;
	/* room for one byte at least: NULL is a failure */
	if (!tr_buffer_room(&d->plain, size + 1))
		return tr_error_memory(err);
	tr_buffer_used(&d->plain, tr_snappy_decode(packed, d->plain.data, size, &whole));
	if (what || !whole)
		return corrupt(d, in, err, what ? what : "is corrupt");
	return find_copy(d, packed, tr_buffer_text(&d->plain), &d->given) ? TR_OK
									  : tr_error_memory(err);
}

/* Reads the magic at the start of the container, after blanks. */
static enum tr_status begin(struct snappy_decoder *d, struct tr_input *in, struct tr_error *err)
{
	while (tr_input_available(in) && tr_is_space(*in->pos))
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
static enum tr_status begin_chunk(struct snappy_decoder *d, struct tr_input *in,
				  struct tr_error *err)
{
	if (!d->begun)
		return begin(d, in, err);
	if (!tr_input_more(in, LENGTH_SIZE))
		return tr_input_available(in) ? TR_OK : report_copies(d, err);
	uint32_t length = tr_wire_u32(in->pos, false);
	if (length == 0)
		return corrupt(d, in, err, "has an impossible length");
	tr_input_skip(in, LENGTH_SIZE);
	d->packed.len = 0;
	d->missing = length; /* of any length: gather finds where the block must end */
	return TR_OK;
}

/* Copies decoded bytes to the room that is left. */
static void give(struct snappy_decoder *d, struct tr_room *room)
{
	size_t n = d->plain.len - d->given;
	if (n > tr_room_left(room))
		n = tr_room_left(room);
	memcpy(room->pos, d->plain.data + d->given, n);
	room->pos += n;
	d->given += n;
}

/* True if the block that begins with these bytes ends with them. */
static bool is_full(struct tr_text packed)
{
	uint32_t size;
	if (!tr_snappy_size(packed, &size) || size > LARGEST_BLOCK)
		return packed.len >= LONGEST_SIZE;
	return packed.len > LARGEST_PACKED ||
	       packed.len > LONGEST_SIZE + (size_t)size * WORST_RATIO;
}

/* Collects the bytes of a chunk as they arrive: its length alone allocates nothing. */
static enum tr_status gather(struct snappy_decoder *d, struct tr_input *in, struct tr_room *room,
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
	tr_input_skip(in, n); /* the bytes stay where they are until more are read */
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

/* Returns decoded bytes first, then the error after them. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct snappy_decoder *d = state;
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

/* Opens a decoder (struct tr_codec). */
static struct tr_source *snappy_decoder(struct tr_input *in, const struct tr_limits *limits,
					struct tr_error *err)
{
	static const struct tr_decoder_class class = { "snappy", step_decoder, destroy_decoder };
	struct snappy_decoder *d = calloc(1, sizeof *d);
	if (d)
		d->outcome = TR_OK;
	return tr_decoder_new(&class, d, in, limits, err);
}

/* The state of a worker is the loaded library. */
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

/* Compresses a chunk, with its length before it. */
static bool pack(void *worker, const struct tr_codec_block *block, struct tr_buffer *to)
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

/* Opens an encoder for apitrace's container. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_block_class class = {
		.size = CHUNK_SIZE, /* apitrace's buffer for one is no larger */
		.magic = { "at", MAGIC_SIZE },
		.only_full = true, /* a short chunk like an earlier one is taken for a copy of it */
		.begin = begin_worker,
		.end = free,
		.pack = pack,
	};
	struct libsnappy lib;
	/* loaded here first, so that the message is right if it cannot be loaded */
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
	.decoder = snappy_decoder,
	.encoder = encoder,
	.library = "libsnappy",
};
