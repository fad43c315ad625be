/* SPDX-License-Identifier: MIT */
/*
 * A wrapper that hides libarchive from all other files. An unpacker reads an archive, a packer
 * writes one, both in the thread of the caller.
 */
#ifndef TR_CORE_LIBARCHIVE_H
#define TR_CORE_LIBARCHIVE_H

#include "core/input.h"
#include "core/source.h"
#include "core/spool.h"

struct tr_unpacker;

/* An entry of an archive; the texts are valid until the next step. */
struct tr_unpacked {
	const char *name;
	const char *hard_link; /* the entry that this one is a hard link to, or NULL */
	int64_t size;	       /* -1 if it is not known yet */
	int64_t mtime;
	bool regular, encrypted;
};

/*
 * Opens an archive of kind "tar", "zip", "cpio" or "7z". Borrows in, which must not be used for
 * anything else meanwhile. If spool is not NULL, the bytes come from there and in is not read,
 * because a 7z needs to seek. NULL: err is filled.
 */
struct tr_unpacker *tr_unpacker_new(const char *kind, struct tr_input *in, struct tr_spool *spool,
				    struct tr_error *err);

/*
 * Steps to the next entry and skips the rest of the last one. TR_WARN: this entry cannot be read,
 * call again.
 */
enum tr_status tr_unpacker_next(struct tr_unpacker *unpacker, struct tr_unpacked *entry,
				struct tr_error *err);

/*
 * The next block of the current entry and its offset there; the bytes between blocks are zeros.
 * TR_WARN: this entry is damaged, later ones may be intact. A block that comes with an error is
 * valid. Valid until the next call.
 */
enum tr_status tr_unpacker_block(struct tr_unpacker *unpacker, const char **data, size_t *len,
				 int64_t *offset, struct tr_error *err);

/*
 * Skips the bytes that libarchive consumed from in. False: in is already after them, because
 * libarchive read too far ahead. After this call the unpacker can only be freed.
 */
bool tr_unpacker_release(struct tr_unpacker *unpacker);

void tr_unpacker_free(struct tr_unpacker *unpacker);

struct tr_packer;

/* Borrows sink, and never finishes or flushes it. NULL: err is filled. */
struct tr_packer *tr_packer_new(const char *kind, struct tr_sink *sink, struct tr_error *err);

/* Begins a member. */
bool tr_packer_begin(struct tr_packer *packer, const char *name, int64_t size, int64_t mtime,
		     struct tr_error *err);

bool tr_packer_put(struct tr_packer *packer, const char *data, size_t len, struct tr_error *err);

/* Writes the end of the archive. */
bool tr_packer_finish(struct tr_packer *packer, struct tr_error *err);

/* Frees the packer. Without a finish before, it writes nothing more. */
void tr_packer_free(struct tr_packer *packer);

/* Returns "libarchive 3.6.2 zlib/1.2.13 …", or a text that it cannot be loaded. */
const char *tr_packer_version(void);

#endif
