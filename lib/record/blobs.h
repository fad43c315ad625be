/* SPDX-License-Identifier: MIT */
/*
 * The blobs of a record: left out, moved into files, or fetched from there.
 * Fields whose key begins with a point are for exact rewrites and stay as they
 * are. A record that came as text and has no such value is not touched;
 * one that has is changed into fields (its line is taken away).
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
 * dir is for STORE and FETCH. A record with a field that cannot be understood
 * stays as it is. TR_WARN: a blob cannot be fetched, the record is of no use; TR_FATAL: a
 * file cannot be written, or memory is out.
 */
enum tr_status tr_record_blobs(struct tr_record *record, enum tr_blobs what,
			       struct tr_blob_dir *dir, struct tr_error *err);

#endif
