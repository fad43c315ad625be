/* SPDX-License-Identifier: MIT */
/*
 * Archives: tar, zip, cpio and 7z, read from any window (what needs a seek is
 * spooled to an unlinked temporary file of limited size) and written to any
 * sink. Compression around a tar is not the archive's business: tr_codec_open
 * takes it off before, an encoder sink puts it on after.
 */
#ifndef TR_CORE_ARCHIVE_H
#define TR_CORE_ARCHIVE_H

#include "core/input.h"
#include "core/source.h"

struct tr_archive;

struct tr_archive_member {
	const char *name; /* bytes as the archive has them; good until the next call */
	int64_t size;	  /* -1 where the archive does not say before the data */
	int64_t mtime;	  /* seconds since 1970, 0 where not known */
};

/* "tar", "zip", "cpio", "7z" by the first bytes of the window, or NULL. Only looks. */
const char *tr_archive_detect(struct tr_input *in);

/* Owns in. NULL: err is filled and in is freed. */
struct tr_archive *tr_archive_open(struct tr_input *in, const struct tr_limits *limits,
				   struct tr_error *err);

/* "tar", "zip", "cpio", "7z": what it turned out to be. */
const char *tr_archive_format(const struct tr_archive *archive);

/*
 * Steps to the next regular file. TR_OK; TR_END; TR_WARN: one member is bad,
 * call again; TR_FATAL. What was left unread of the member before is skipped.
 */
enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err);

/* The current member's bytes. Close it before the next tr_archive_next. NULL: memory is out. */
struct tr_source *tr_archive_source(struct tr_archive *archive);

void tr_archive_free(struct tr_archive *archive);

struct tr_archive_writer;

/* format: "tar", "zip", "cpio", "7z". Owns sink; NULL: err is filled and sink is closed. */
struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err);

/*
 * A sink for one member. Its size has to stand before its data, so it is
 * spooled; finish writes it to the archive, close without finish drops it.
 */
struct tr_sink *tr_archive_member_sink(struct tr_archive_writer *writer, const char *name,
				       int64_t mtime, struct tr_error *err);

/* Ends the archive and finishes its sink. */
bool tr_archive_finish(struct tr_archive_writer *writer, struct tr_error *err);

/* Frees; without finish before, what was written is discarded. */
void tr_archive_writer_free(struct tr_archive_writer *writer);

/* "zip" for out.zip, "tar" for out.tar and out.tar.zst; NULL when the name is no archive's. */
const char *tr_archive_by_extension(struct tr_text path);

const char *tr_archive_version(void);

/* The structure of a zip, for members that are read without its directory. */

#endif
