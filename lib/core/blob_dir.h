/* SPDX-License-Identifier: MIT */
#ifndef TR_CORE_BLOB_DIR_H
#define TR_CORE_BLOB_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/text.h"

enum { TR_SHA256_HEX = 64 };

/* Writes TR_SHA256_HEX lower-case digits to `to`. */
void tr_sha256_hex(struct tr_text bytes, char *to);

/* "nettle 3.8" */
const char *tr_sha256_version(void);

/*
 * A directory of blobs, each in a file that has its SHA-256 for a name. Several
 * processes may fill and read one at the same time: a file is whole or not
 * there, and is never changed. Nothing is removed.
 */

struct tr_blob_dir;

/*
 * make: to put blobs there; the directory is made where it is not there (its
 * parent has to be). Else to get them; it need not be there before the first.
 * largest: bytes of a blob that get reads at most. NULL: err is filled.
 */
struct tr_blob_dir *tr_blob_dir_open(const char *path, bool make, uint64_t largest,
				     struct tr_error *err);
void tr_blob_dir_close(struct tr_blob_dir *dir);

/* Waits until all blobs are on the disk. TR_WARN: one is not, call again; TR_END. */
enum tr_status tr_blob_dir_sync(struct tr_blob_dir *dir, struct tr_error *err);

/*
 * Sees that the blob is there, and writes its name (TR_SHA256_HEX digits).
 * False: err is filled.
 */
bool tr_blob_dir_put(struct tr_blob_dir *dir, struct tr_text bytes, char *name,
		     struct tr_error *err);

/*
 * The blob of that name and length, in the arena. TR_WARN: it is not there, or
 * the file is not what its name says; TR_FATAL: memory.
 */
enum tr_status tr_blob_dir_get(struct tr_blob_dir *dir, struct tr_text name, uint64_t length,
			       struct tr_arena *arena, struct tr_text *bytes, struct tr_error *err);

#endif
