/* SPDX-License-Identifier: MIT */
/*
 * A directory of blobs, each in a file that is named by its SHA-256.
 *
 *	bytes -> tr_blob_dir_put -> name -> tr_blob_dir_sync
 *	name -> tr_blob_dir_get -> bytes
 *
 * Several processes may write and read one directory at the same time: a file is either complete
 * or absent, and is never changed. One with other content, which only another program or a crash of
 * the system can leave, is replaced, and one that could not be written to the disk is removed. One
 * struct tr_blob_dir is not thread safe.
 */
#ifndef TR_CORE_BLOB_DIR_H
#define TR_CORE_BLOB_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/text.h"

enum { TR_SHA256_HEX = 64 };

/* Writes the SHA-256 of bytes as TR_SHA256_HEX lower-case digits to `to`. */
void tr_sha256_hex(struct tr_text bytes, char *to);

enum { TR_SHA1_HEX = 40 };

/*
 * Writes both hashes of the rest of a file, as lower-case digits without NUL. False: it cannot be
 * read, errno has the reason.
 */
bool tr_hash_file(int fd, char *sha256, char *sha1);

/* Returns the library and its version, "nettle 3.8". */
const char *tr_sha256_version(void);

struct tr_blob_dir;

/*
 * Opens the directory at path. make: blobs will be put, so the directory is created if it is
 * missing (its parent must exist). Otherwise blobs will be read, and the directory need not exist
 * before the first one is. largest: maximum size in bytes of a blob that is read. The caller frees
 * the result with tr_blob_dir_close. NULL: err is filled.
 */
struct tr_blob_dir *tr_blob_dir_open(const char *path, bool make, uint64_t largest,
				     struct tr_error *err);
void tr_blob_dir_close(struct tr_blob_dir *dir);

/* Waits until all blobs are on the disk. TR_WARN: one blob is not, call again; TR_END. */
enum tr_status tr_blob_dir_sync(struct tr_blob_dir *dir, struct tr_error *err);

/*
 * Stores the blob if it is not there yet, and writes its name (TR_SHA256_HEX digits, no NUL).
 * False: err is filled.
 */
bool tr_blob_dir_put(struct tr_blob_dir *dir, struct tr_text bytes, char *name,
		     struct tr_error *err);

/*
 * Reads the blob of this name and length into the arena. TR_WARN: it is missing, or its content
 * does not match its name; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_blob_dir_get(struct tr_blob_dir *dir, struct tr_text name, uint64_t length,
			       struct tr_arena *arena, struct tr_text *bytes, struct tr_error *err);

#endif
