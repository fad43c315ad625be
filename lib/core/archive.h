/* SPDX-License-Identifier: MIT */
/*
 * Archives: tar, zip, cpio and 7z.
 *
 *	window -> tr_archive_detect -> tr_archive_open -> tr_archive_next -> tr_archive_source
 *	tr_archive_create -> tr_archive_member_sink -> tr_archive_finish -> sink
 *
 * An archive is read from any window; a 7z needs to seek, so it is spooled to an unlinked temporary
 * file of limited size first. An archive is written to any sink. Compression around a tar is
 * handled elsewhere: tr_codec_open removes it before reading, and an encoder sink adds it when
 * writing. Not thread safe.
 */
#ifndef TR_CORE_ARCHIVE_H
#define TR_CORE_ARCHIVE_H

#include "core/input.h"
#include "core/source.h"

struct tr_archive;

struct tr_archive_member {
	const char *name; /* as the archive spells it; valid until the next call */
	int64_t size;	  /* bytes, or -1 if the archive does not state it before the data */
	int64_t mtime;	  /* seconds since 1970, 0 if unknown */
};

/* Returns "tar", "zip", "cpio", "7z" or NULL after a look at the first bytes of the window. */
const char *tr_archive_detect(struct tr_input *in);

/* Skips to the next local file header of a zip, at least one byte ahead. False: there is none. */
bool tr_zip_find_member(struct tr_input *in);

/*
 * Skips the directory at the end of a zip. Returns the number of members that it lists (some programs
 * write only its lowest 16 bits), or -1 if the window does not begin with a complete directory.
 */
int64_t tr_zip_skip_directory(struct tr_input *in);

/* Takes ownership of in. NULL: err is filled and in is freed. */
struct tr_archive *tr_archive_open(struct tr_input *in, const struct tr_limits *limits,
				   struct tr_error *err);

/* Returns the detected format: "tar", "zip", "cpio" or "7z". */
const char *tr_archive_format(const struct tr_archive *archive);

/*
 * Steps to the next regular file and skips the unread rest of the member before. TR_OK; TR_END;
 * TR_WARN: one member is damaged, call again; TR_FATAL: nothing more can be read.
 */
enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err);

/*
 * The bytes of the current member. Close the source before the next tr_archive_next. NULL: memory
 * is exhausted.
 */
struct tr_source *tr_archive_source(struct tr_archive *archive);

void tr_archive_free(struct tr_archive *archive);

struct tr_archive_writer;

/*
 * Begins an archive of format "tar", "zip", "cpio" or "7z". Takes ownership of sink; NULL: err is
 * filled and the sink is closed.
 */
struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err);

/*
 * A sink for one member. Archives state the size before the data, so the data are spooled: finish
 * writes the member to the archive, close without finish drops it. A time that the format cannot
 * hold becomes the nearest one that it can hold. NULL: err is filled, because the format has no room
 * for the name or memory is exhausted; other members can be written.
 */
struct tr_sink *tr_archive_member_sink(struct tr_archive_writer *writer, const char *name,
				       int64_t mtime, struct tr_error *err);

/* Writes the end of the archive and finishes its sink. */
bool tr_archive_finish(struct tr_archive_writer *writer, struct tr_error *err);

/* Frees the writer. Without a finish before, the output is discarded. */
void tr_archive_writer_free(struct tr_archive_writer *writer);

/* Returns "zip" for out.zip, "tar" for out.tar and out.tar.zst, NULL for any other extension. */
const char *tr_archive_by_extension(struct tr_text path);

/* Returns "libarchive 3.6.2 zlib/1.2.13 …", or a text that it cannot be loaded. */
const char *tr_archive_version(void);

#endif
