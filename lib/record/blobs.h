/* SPDX-License-Identifier: MIT */
/*
 * The blobs of a record: left out, moved to files, or fetched from files.
 *
 *	record -> tr_record_blobs, tr_blob_dir -> record
 *
 * A record without such a blob stays as it is. In others the values are changed in place, in the
 * arena of the record, and a record that came as text loses its line. Fields whose keys begin with
 * a dot serve exact rewrites and are not changed. Not thread safe.
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
 * Changes the blobs of a record. dir is borrowed; LEAVE_OUT does not use it. A record with a
 * malformed field stays unchanged, because it could not be written. TR_WARN: a blob cannot be
 * fetched, and the record must not be used. TR_FATAL: a file cannot be written, or memory is
 * exhausted.
 */
enum tr_status tr_record_blobs(struct tr_record *record, enum tr_blobs what,
			       struct tr_blob_dir *dir, struct tr_error *err);

#endif
