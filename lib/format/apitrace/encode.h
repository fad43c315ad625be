/* SPDX-License-Identifier: MIT */
/*
 * The encoder turns records into the bytes of events. The bytes of a record are collected
 * before any of them is written: a record that cannot be encoded leaves neither bytes nor
 * signatures that count as written.
 */
#ifndef TR_FORMAT_APITRACE_ENCODE_H
#define TR_FORMAT_APITRACE_ENCODE_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "format/apitrace/write_signature.h"
#include "record/record.h"

struct tr_encoder {
	uint64_t version;    /* of the stream that is written */
	bool thread_details; /* it has threads as details: apitrace does not read that */
	struct tr_written_signatures signatures;
	struct tr_id_map entered; /* calls that have not returned, by seq of the stream */
	uint64_t calls;		  /* entered so far: the number of the next one */

	/* the record's */
	struct tr_buffer bytes;
	struct tr_apitrace_signature **fresh; /* signatures whose definitions are in bytes */
	size_t fresh_count, fresh_cap;
	/* where numbers begin in bytes; only for records with .raw, where they may be longer */
	bool marking;
	size_t *marks;
	size_t mark_count, mark_cap;
	bool failed; /* memory is out */
	bool flawed; /* it is written, but wrong: flaw */
	struct tr_error flaw;
	struct tr_error *err;
};

/* A zeroed encoder is ready for tr_encode_head. */
void tr_encoder_free(struct tr_encoder *encoder);

/* Forgets the stream that was written: tr_encode_head begins another one. */
void tr_encoder_restart(struct tr_encoder *encoder);

/*
 * Encodes a call, an enter or a leave. TR_WARN: it is left out (err says why), or, with
 * TR_FLAW, encoded without the part that err names.
 */
enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err);

/*
 * Encodes the head of the stream, from a header record, or from nothing if that is NULL.
 * version: the one that is asked for, or -1. TR_WARN: encoded, but without everything that the
 * header contains.
 */
enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err);

static inline void tr_encode_byte(struct tr_encoder *encoder, uint8_t byte)
{
	tr_buffer_put_byte(&encoder->bytes, (char)byte);
}

#endif
