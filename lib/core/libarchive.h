/* SPDX-License-Identifier: MIT */
/*
 * The wall around libarchive: nothing outside knows of it. An unpacker
 * reads an archive, a packer writes one, both in the caller's thread.
 */
#ifndef TR_CORE_LIBARCHIVE_H
#define TR_CORE_LIBARCHIVE_H

#include "core/input.h"
#include "core/source.h"
#include "core/spool.h"

struct tr_unpacker;

/* One thing in an archive; texts are good until the next step. */
struct tr_unpacked {
	const char *name;
	const char *hard_link; /* the name this is another name of, or NULL */
	int64_t size;	       /* -1 where it is not known yet */
	int64_t mtime;
	bool regular, encrypted;
};

/*
 * kind: "tar", "zip", "cpio", "7z". Borrows in, which nobody else may touch
 * meanwhile. With a spool the bytes come from there, and in is not read: a 7z
 * needs to seek. NULL: err is filled.
 */
struct tr_unpacker *tr_unpacker_new(const char *kind, struct tr_input *in, struct tr_spool *spool,
				    struct tr_error *err);

/* TR_WARN: this one cannot be had, call again. What is left of the last one is skipped. */
enum tr_status tr_unpacker_next(struct tr_unpacker *unpacker, struct tr_unpacked *entry,
				struct tr_error *err);

/*
 * The next block of what was stepped to, and its place there: between blocks
 * are zeros. TR_WARN: it is damaged, others are not. A block that comes with
 * an error still counts. Good until the next call.
 */
enum tr_status tr_unpacker_block(struct tr_unpacker *unpacker, const char **data, size_t *len,
				 int64_t *offset, struct tr_error *err);

/*
 * Skips what libarchive used of in. False: in is already further than that,
 * because libarchive looked too far ahead. After this, only free the unpacker.
 */
bool tr_unpacker_release(struct tr_unpacker *unpacker);

void tr_unpacker_free(struct tr_unpacker *unpacker);

struct tr_packer;

/* Borrows sink, and never finishes or flushes it. NULL: err is filled. */
struct tr_packer *tr_packer_new(const char *kind, struct tr_sink *sink, struct tr_error *err);

/* Begins one member. */
bool tr_packer_begin(struct tr_packer *packer, const char *name, int64_t size, int64_t mtime,
		     struct tr_error *err);

bool tr_packer_put(struct tr_packer *packer, const char *data, size_t len, struct tr_error *err);

/* Writes the end. */
bool tr_packer_finish(struct tr_packer *packer, struct tr_error *err);

/* Frees; without finish before, writes no more. */
void tr_packer_free(struct tr_packer *packer);

/* "libarchive 3.6.2 zlib/1.2.13 …", or that it cannot be used. */
const char *tr_packer_version(void);

#endif
