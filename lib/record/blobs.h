/* SPDX-License-Identifier: MIT */
/*
 * The blobs of a record: left out, moved into files, or fetched from files.
 *
 *	record -> tr_record_blobs, tr_blob_dir -> record
 *
 * Fields whose key begins with a dot serve exact rewrites and stay unchanged. A record that came as
 * text and has no such value is not changed; one that has loses its line and keeps its fields. Not
 * thread safe.
 */
#ifndef TR_RECORD_BLOBS_H
#define TR_RECORD_BLOBS_H

#include "core/blob_dir.h"
#include "core/error.h"
#include "record/record.h"

enum tr_blobs {
	TR_BLOBS_LEAVE_OUT, /* b64:… becomes blob:LEN */
	TR_BLOBS_STORE,	    /* b64:… becomes file:SHA256:LEN, and a file */
	TR_BLOBS_FETCH,	    /* file:SHA256:LEN becomes b64:… */
};

/*
 * dir is used by STORE and FETCH. A record with a malformed field stays unchanged. TR_WARN: a blob
 * cannot be fetched, and the record must not be used; TR_FATAL: a file cannot be written, or memory
 * is exhausted.
 */
enum tr_status tr_record_blobs(struct tr_record *record, enum tr_blobs what,
			       struct tr_blob_dir *dir, struct tr_error *err);

#endif
