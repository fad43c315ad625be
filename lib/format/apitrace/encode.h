/*
 * Records to the bytes of events. The bytes of one record are put together
 * here before any of them goes out: a record that turns out to be unfit leaves
 * nothing behind, neither bytes nor signatures that count as written.
 */
#ifndef TR_FORMAT_APITRACE_ENCODE_H
#define TR_FORMAT_APITRACE_ENCODE_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/id_map.h"
#include "format/apitrace/write_signature.h"
#include "record/record.h"

struct tr_live_call; /* entered and not left */

struct tr_encoder {
	uint64_t version; /* of the stream that is written */
	bool thread_details; /* it has threads as details: apitrace does not read that */
	struct tr_written_signatures signatures;
	struct tr_id_map live; /* by seq of the stream */
	struct tr_live_call *spare;
	uint64_t calls; /* entered so far: the number of the next one */

	/* the record's */
	struct tr_buffer bytes;
	struct tr_apitrace_signature **fresh; /* whose definitions are in bytes */
	size_t fresh_count, fresh_cap;
	/* where numbers begin in bytes: only for records that come with other spellings of them */
	bool marking;
	size_t *marks;
	size_t mark_count, mark_cap;
	bool failed; /* memory is out */
	bool flawed; /* it is written all the same: flaw says what is wrong */
	struct tr_error flaw;
	struct tr_error *err;
};

/* Zeroed, with its version set, is ready. */
void tr_encoder_free(struct tr_encoder *encoder);

/* Forgets the stream that was written before: tr_encode_head begins another one. */
void tr_encoder_restart(struct tr_encoder *encoder);

/*
 * encode.c: a record call, enter or leave, as bytes. TR_WARN: it is left out
 * (err says why), or, with TR_FLAW, is there less what err names.
 */
enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err);

/*
 * encode_head.c: the head of the stream, from a header record or, where that
 * is NULL, from nothing. version: the one that is asked for, or -1. TR_WARN:
 * put together, but not all that the header says is in it.
 */
enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err);

/* encode_wire.c */
void tr_encode_uint(struct tr_encoder *encoder, uint64_t number);
void tr_encode_string(struct tr_encoder *encoder, struct tr_text bytes);

/* The id, and its definition where this is the first time. A signature of NULL: memory is out. */
void tr_encode_signature(struct tr_encoder *encoder, struct tr_apitrace_signature *signature);

/* Begins with no bytes; what was put together stays, or never was. */
void tr_encode_begin(struct tr_encoder *encoder, struct tr_arena *arena, struct tr_error *err);
void tr_encode_undo(struct tr_encoder *encoder);

/* Takes the bytes of .raw for those put together, where reading them gives the very same. */
void tr_encode_raw(struct tr_encoder *encoder, struct tr_record *record, struct tr_field *raw);

/*
 * True when source is what was put together, but for numbers that take more
 * bytes than they need. Only after marking.
 */
bool tr_encode_same(const struct tr_encoder *encoder, struct tr_text source);

static inline void tr_encode_byte(struct tr_encoder *encoder, uint8_t byte)
{
	tr_buffer_put_byte(&encoder->bytes, (char)byte);
}

/* encode_value.c: False: err is filled, or memory is out. */
bool tr_encode_value(struct tr_encoder *encoder, const struct tr_value *value);

/* encode_text.c: the same from the spelling, where that is one of the commonest. False: it is not.
 */
bool tr_encode_plain(struct tr_encoder *encoder, struct tr_text spelling);

/*
 * The fields of a call, as its line has them behind the fixed columns, and its
 * leave. False: there is something that takes the long way.
 */
bool tr_encode_fields(struct tr_encoder *encoder, const struct tr_apitrace_signature *function,
		      uint64_t call, struct tr_text fields);

#endif
