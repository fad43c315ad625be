/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes archives with libarchive, which no other file uses. A zip of which libarchive
 * cannot read a member is continued at the next member.
 */

#include "core/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec_private.h"
#include "core/library.h"
#include "core/spool.h"
#include "core/text.h"
#include "core/utf8.h"
#include "core/wire.h"

/*
 * The functions of libarchive that this file calls. They are loaded when an archive is read or
 * written for the first time (library.h).
 */
#define LIBARCHIVE_FUNCTIONS(F) \
	F(archive_entry_clear) \
	F(archive_entry_copy_pathname) \
	F(archive_entry_filetype) \
	F(archive_entry_free) \
	F(archive_entry_hardlink) \
	F(archive_entry_is_encrypted) \
	F(archive_entry_mtime) \
	F(archive_entry_new) \
	F(archive_entry_nlink) \
	F(archive_entry_pathname) \
	F(archive_entry_pathname_utf8) \
	F(archive_entry_set_filetype) \
	F(archive_entry_set_mtime) \
	F(archive_entry_set_perm) \
	F(archive_entry_set_size) \
	F(archive_entry_size) \
	F(archive_entry_size_is_set) \
	F(archive_errno) \
	F(archive_error_string) \
	F(archive_filter_bytes) \
	F(archive_read_data_block) \
	F(archive_read_data_skip) \
	F(archive_read_free) \
	F(archive_read_new) \
	F(archive_read_next_header2) \
	F(archive_read_open1) \
	F(archive_read_set_callback_data) \
	F(archive_read_set_read_callback) \
	F(archive_read_set_seek_callback) \
	F(archive_read_support_format_7zip) \
	F(archive_read_support_format_cpio) \
	F(archive_read_support_format_tar) \
	F(archive_read_support_format_zip_streamable) \
	F(archive_set_error) \
	F(archive_version_details) \
	F(archive_write_close) \
	F(archive_write_data) \
	F(archive_write_free) \
	F(archive_write_header) \
	F(archive_write_new) \
	F(archive_write_open) \
	F(archive_write_set_bytes_in_last_block) \
	F(archive_write_set_bytes_per_block) \
	F(archive_write_set_format_7zip) \
	F(archive_write_set_format_cpio_newc) \
	F(archive_write_set_format_pax_restricted) \
	F(archive_write_set_format_zip)

struct libarchive {
#define LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
	LIBARCHIVE_FUNCTIONS(LIBARCHIVE_MEMBER)
#undef LIBARCHIVE_MEMBER
};

struct kind {
	const char *name;
	int (*support)(struct archive *a);    /* for reading */
	int (*set_format)(struct archive *a); /* for writing */
	int last_block;
	/* times of members that programs can read, in seconds since 1970 */
	int64_t first_time, last_time;
};

/*
 * A zip has 16 bits for the length of a name, and libarchive overruns a buffer if a name is longer.
 * The other formats have the same limit, although their programs read somewhat longer names.
 */
enum { LONGEST_NAME = UINT16_MAX };

/* The name of the entry at the end of a cpio. */
#define TRAILER "TRAILER!!!"

/* Loads libarchive. False: err is filled. */
static bool load(struct libarchive *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
#define SYMBOL(name) TR_LIBRARY_FUNCTION(struct libarchive, name, name),
		LIBARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
			{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBARCHIVE, symbols, lib, err);
}

/* Finds the functions for a kind, which is one of these four. */
static struct kind kind_find(const struct libarchive *lib, const char *name)
{
	enum { TAR_RECORD = 10240 }; /* tar pads the end to the size of a tape record */
	/* FILETIME of 7z counts 100 ns since 1601 in 63 bits; GNU tar refuses much later times */
	const int64_t year_1601 = -11644473600, year_30828 = INT64_MAX / 10000000 + year_1601;
	const struct kind kinds[] = {
		{
			.name = "tar",
			.support = lib->archive_read_support_format_tar,
			/* pax, with extended headers only for values that ustar cannot hold */
			.set_format = lib->archive_write_set_format_pax_restricted,
			.last_block = TAR_RECORD,
			.first_time = year_1601,
			.last_time = year_30828,
		},
		{
			.name = "zip",
			/* by local headers, because the directory at the end would need a seek */
			.support = lib->archive_read_support_format_zip_streamable,
			.set_format = lib->archive_write_set_format_zip,
			.last_block = 1,
			.first_time = 0,
			.last_time = UINT32_MAX,
		},
		{
			.name = "cpio",
			.support = lib->archive_read_support_format_cpio,
			.set_format = lib->archive_write_set_format_cpio_newc,
			.last_block = 1,
			.first_time = 0,
			.last_time = UINT32_MAX,
		},
		{
			.name = "7z",
			.support = lib->archive_read_support_format_7zip,
			.set_format = lib->archive_write_set_format_7zip,
			.last_block = 1,
			.first_time = year_1601,
			.last_time = year_30828,
		},
	};
	const struct kind *kind = kinds;
	while (strcmp(kind->name, name) != 0)
		kind++;
	return *kind;
}

/*
 * libarchive converts names between the encoding of the locale and that of the archive, and in the
 * C locale loses all characters beyond ASCII. With UTF-8 there is nothing to convert. The locale is
 * set for this thread only, and only during a call. 0: there is no such locale.
 */
static locale_t utf8_locale(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void utf8_locale_free(locale_t locale)
{
	if (locale)
		freelocale(locale);
}

const char *tr_archive_version(void)
{
	struct libarchive lib;
	return load(&lib, NULL) ? lib.archive_version_details() : TREC_LIBARCHIVE " cannot be used";
}

/* Reading. */

enum { SPOOL_BLOCK = 64 << 10, KEPT_MAX = 4096 };

struct tr_archive {
	const char *format;
	struct tr_input *in;
	struct tr_limits limits;
	struct tr_spool *spool; /* contains the whole archive; for a 7z only, which needs to seek */
	uint64_t spool_offset;	/* of the next byte for libarchive */
	char *spool_block;

	struct libarchive lib;
	locale_t locale;
	struct archive *reader;	     /* NULL: there is none, or it is not used any more */
	struct archive_entry *entry; /* owned, because libarchive does not check its own for NULL */
	uint64_t begin;		     /* offset of in at the start of the archive */
	size_t lent; /* bytes at the start of the window that libarchive has received */
	bool opened; /* libarchive has read the start */
	bool newc;   /* a cpio with headers of hexadecimal digits */
	bool tar, cpio, zip;
	bool in_header;	    /* libarchive looks for the next header */
	bool in_member;	    /* libarchive has read a header, and not skipped its data */
	int64_t data_begin; /* of the entry: offset in the archive */
	bool held;	 /* a header was read, and only the damage before or in it was reported */
	int held_result; /* what libarchive returned with that header */
	bool end_mark;	 /* libarchive has read something after the last member */
	bool failed;	 /* the input failed: error contains the reason */
	bool broken;	 /* libarchive returns no more */
	struct tr_error error;

	char *name;    /* name of the current member */
	uint64_t made; /* bytes of all members so far, for the ratio */
	bool stopped;  /* the limit was exceeded; even skipping a member may decompress it */
	bool lost;     /* libarchive failed; the next step searches for a member */
	bool any_lost; /* set once a member was lost in this archive */
	uint64_t seen; /* entries that libarchive has reached */
};

/* Skips the bytes that libarchive has consumed. False: in is already after them. */
static bool skip_used(struct tr_archive *archive)
{
	struct tr_input *in = archive->in;
	uint64_t used =
		archive->begin + (uint64_t)archive->lib.archive_filter_bytes(archive->reader, -1);
	if (used < in->offset || used - in->offset > archive->lent)
		return false;
	archive->lent -= (size_t)(used - in->offset);
	tr_input_skip(in, (size_t)(used - in->offset));
	return true;
}

enum { NEWC_HEADER = 110 };

/* Whether libarchive takes this for a header: it skips what has anything but digits. */
static bool is_newc_header(const char *p)
{
	for (int i = 0; i < NEWC_HEADER; i++)
		if (tr_hex_digit(p[i]) < 0)
			return false;
	return memcmp(p, "07070", 5) == 0 && (p[5] == '1' || p[5] == '2');
}

/*
 * Finds the header in the window that libarchive reads next; the end of the window: there is none.
 * The steps are those of libarchive: they depend on the byte where the last digit of the magic
 * would be, so a header that begins within a step is not found.
 */
static const char *next_header(const struct tr_input *in)
{
	const char *p = in->pos;

	while (in->end - p >= NEWC_HEADER) {
		bool last = p[5] == '1' || p[5] == '2';
		if (last && is_newc_header(p))
			return p;
		p += last ? 2 : p[5] == '0' ? 1 : 6;
	}
	return in->end;
}

/*
 * libarchive allocates the length that the header of a cpio states for the name, up to 4 GiB.
 * Checks the headers in the window up to the one that libarchive reads next. False: no name has
 * that length.
 */
static bool cpio_name_is_short(struct tr_archive *archive)
{
	enum { LENGTH_AT = 94, LENGTH = 8, LONGEST = 1 << 20 };
	const struct tr_input *in = archive->in;
	const char *last = next_header(in);
	char digits[LENGTH + 1] = "";

	for (const char *p = in->pos; p <= last; p++) {
		p = memmem(p, (size_t)(in->end - p), "07070", 5);
		if (!p || p > last || in->end - p < NEWC_HEADER)
			break;
		if (!is_newc_header(p))
			continue;
		memcpy(digits, p + LENGTH_AT, LENGTH);
		unsigned long length = strtoul(digits, NULL, 16);
		if (length <= LONGEST)
			continue;
		archive->failed = true;
		tr_error_set(&archive->error, TR_CAUSE_INPUT, "cpio: damaged: a name of %lu bytes",
			     length);
		return false;
	}
	return true;
}

/*
 * libarchive copies the bytes that it has received and not consumed, for example the first part of
 * a header. They stay in the window too, because at the end of the archive the next reader
 * continues with them.
 */
static la_ssize_t lend_window(struct archive *a, void *context, const void **data)
{
	struct tr_archive *archive = context;
	struct tr_input *in = archive->in;
	if (!skip_used(archive) || archive->lent > KEPT_MAX) {
		tr_input_skip(in, archive->lent);
		archive->lent = 0;
	}
	if (!tr_input_more(in, archive->lent + 1)) {
		if (!in->damaged)
			return 0;
		archive->failed = true;
		tr_input_error(in, &archive->error);
		archive->lib.archive_set_error(a, EIO, "the input is damaged");
		return ARCHIVE_FATAL;
	}
	if (archive->newc && archive->in_header && !cpio_name_is_short(archive)) {
		archive->lib.archive_set_error(a, EIO, "the input is damaged");
		return ARCHIVE_FATAL;
	}
	size_t seen = archive->lent;
	*data = in->pos + seen;
	archive->lent = tr_input_available(in);
	return (la_ssize_t)(archive->lent - seen);
}

/* Gives libarchive a block of the spool, for a format that has to seek. */
static la_ssize_t lend_spool(struct archive *a, void *context, const void **data)
{
	struct tr_archive *archive = context;
	size_t len = SPOOL_BLOCK;
	const char *bytes = NULL;
	if (!tr_spool_read(archive->spool, archive->spool_offset, archive->spool_block, &bytes,
			   &len, &archive->error)) {
		archive->failed = true;
		archive->lib.archive_set_error(a, EIO, "the spool is damaged");
		return ARCHIVE_FATAL;
	}
	archive->spool_offset += len;
	*data = bytes;
	return (la_ssize_t)len;
}

/* Moves in the spool, for libarchive. */
static la_int64_t seek_spool(struct archive *a, void *context, la_int64_t offset, int whence)
{
	struct tr_archive *archive = context;
	(void)a;
	int64_t size = (int64_t)tr_spool_size(archive->spool);
	int64_t base = 0;
	if (whence == SEEK_CUR)
		base = (int64_t)archive->spool_offset;
	else if (whence == SEEK_END)
		base = size;
	/* an offset beyond the file is limited to its ends, where a read finds nothing */
	if (offset < -base)
		offset = -base;
	if (offset > size - base)
		offset = size - base;
	archive->spool_offset = (uint64_t)(base + offset);
	return base + offset;
}

/* Ends libarchive's reader; the spool stays, so that a reader for another format can begin. */
static void close_reader(struct tr_archive *archive)
{
	if (archive->reader)
		archive->lib.archive_read_free(archive->reader);
	archive->reader = NULL;
}

/*
 * Skips the bytes that libarchive consumed, and closes the reader. False: in is already after them,
 * because libarchive read too far ahead.
 */
static bool leave_reader(struct tr_archive *archive)
{
	bool exact = skip_used(archive);
	close_reader(archive);
	return exact;
}

/* Begins to read an archive at the position of the window. False: memory is exhausted. */
static bool open_reader(struct tr_archive *archive, struct tr_error *err)
{
	const struct libarchive *lib = &archive->lib;
	archive->begin = archive->in->offset;
	archive->lent = 0;
	archive->opened = archive->failed = archive->broken = archive->in_member = archive->held =
		false;
	archive->reader = lib->archive_read_new();
	if (!archive->reader ||
	    kind_find(lib, archive->format).support(archive->reader) <= ARCHIVE_FAILED ||
	    lib->archive_read_set_callback_data(archive->reader, archive) != ARCHIVE_OK) {
		close_reader(archive);
		tr_error_memory(err);
		return false;
	}
	lib->archive_read_set_read_callback(archive->reader,
					    archive->spool ? lend_spool : lend_window);
	if (archive->spool)
		lib->archive_read_set_seek_callback(archive->reader, seek_spool);
	return true;
}

/* Copies the whole input to a spool. False: err is filled. */
static bool spool_all(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	archive->spool = tr_spool_new(archive->limits.max_spool);
	archive->spool_block = malloc(SPOOL_BLOCK);
	if (!archive->spool || !archive->spool_block) {
		tr_error_memory(err);
		return false;
	}
	while (tr_input_more(in, 1)) {
		if (!tr_spool_write(archive->spool, in->pos, tr_input_available(in), err))
			return false;
		tr_input_skip(in, tr_input_available(in));
	}
	if (in->damaged)
		tr_input_error(in, err);
	return !in->damaged;
}

/*
 * Reads from the first 32 bytes of a 7z where its directory ends, which is the end of the archive.
 * UINT64_MAX: these bytes are missing or not possible. False: err is filled.
 */
static bool stated_end(struct tr_archive *archive, uint64_t *end, struct tr_error *err)
{
	enum { START = 32, OFFSET_AT = 12, SIZE_AT = 20 };
	char buf[START];
	const char *start = buf;
	size_t len = sizeof buf;

	if (!tr_spool_read(archive->spool, 0, buf, &start, &len, err))
		return false;
	uint64_t offset = len < START ? UINT64_MAX : tr_wire_u64(start + OFFSET_AT, false);
	uint64_t size = len < START ? 0 : tr_wire_u64(start + SIZE_AT, false);
	bool possible = offset < INT64_MAX && size < INT64_MAX;
	*end = possible ? START + offset + size : UINT64_MAX;
	return true;
}

/*
 * Spools a 7z and checks that its directory is complete: libarchive allocates as much as the first
 * bytes state before it looks for it. False: err is filled.
 */
static bool spool_7z(struct tr_archive *archive, struct tr_error *err)
{
	uint64_t end;
	if (!spool_all(archive, err) || !stated_end(archive, &end, err))
		return false;
	if (end <= tr_spool_size(archive->spool))
		return true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "7z: truncated or damaged: the list of its members, which is at the end, is "
		     "incomplete");
	return false;
}

/* Begins to read an archive of this format at the position of the window. False: err is filled. */
static bool begin(struct tr_archive *archive, const char *format, struct tr_error *err)
{
	archive->format = format;
	archive->cpio = strcmp(format, "cpio") == 0;
	archive->newc = archive->cpio && tr_input_more(archive->in, 6) &&
			(memcmp(archive->in->pos, "070701", 6) == 0 ||
			 memcmp(archive->in->pos, "070702", 6) == 0);
	archive->tar = strcmp(format, "tar") == 0;
	archive->zip = strcmp(format, "zip") == 0;
	archive->any_lost = false;
	archive->seen = 0;
	return (strcmp(format, "7z") != 0 || spool_7z(archive, err)) && open_reader(archive, err);
}

struct tr_archive *tr_archive_open(struct tr_input *in, const struct tr_limits *limits,
				   struct tr_error *err)
{
	const char *format = tr_archive_detect(in);
	struct tr_archive *archive = calloc(1, sizeof *archive);
	if (!archive) {
		tr_error_memory(err);
		tr_input_free(in);
		return NULL;
	}
	archive->in = in;
	archive->limits = *limits;
	if (!format) {
		tr_error_set(err, TR_CAUSE_INPUT, "not an archive");
	} else if (load(&archive->lib, err)) {
		archive->locale = utf8_locale();
		archive->entry = archive->lib.archive_entry_new();
		if (!archive->entry)
			tr_error_memory(err);
		else if (begin(archive, format, err))
			return archive;
	}
	tr_archive_free(archive);
	return NULL;
}

const char *tr_archive_format(const struct tr_archive *archive)
{
	return archive->format;
}

/* Turns a result of libarchive into a status. */
static enum tr_status convert_result(struct tr_archive *archive, int result, struct tr_error *err)
{
	if (result == ARCHIVE_OK)
		return TR_OK;
	if (result == ARCHIVE_EOF)
		return TR_END;
	if (archive->failed) {
		*err = archive->error;
	} else if (archive->lib.archive_errno(archive->reader) == ENOMEM) {
		tr_error_memory(err);
	} else {
		const char *what = archive->lib.archive_error_string(archive->reader);
		if (archive->broken)
			what = "nothing can be read after the damage";
		what = what ? what : "damaged";
		/* some texts of libarchive end in LF */
		tr_error_set(err, TR_CAUSE_INPUT, "%s: %.*s", archive->format,
			     (int)strcspn(what, "\n"), what);
	}
	archive->broken = archive->broken || archive->failed || result <= ARCHIVE_FATAL;
	return archive->broken ? TR_FATAL : TR_WARN;
}

/* The texts are valid until the next step. */
struct entry {
	const char *name,
		*hard_link; /* hard_link: the name of the file that it links to, or NULL */
	bool regular;
};

static const char *entry_name(const struct tr_archive *archive)
{
	const char *name = archive->lib.archive_entry_pathname(archive->entry);
	if (!name)
		name = archive->lib.archive_entry_pathname_utf8(archive->entry);
	return name ? name : "";
}

/*
 * True if a warning of libarchive about a header concerns only what is not used here (a name that
 * cannot be converted is read as bytes). Any other warning is about damage: bytes before the header
 * were skipped, which may be a member, or attributes were ignored, which may be the name or the size.
 */
static bool is_harmless(const char *warning)
{
	static const char *const unused[] = { "convert", "ACL", "acl.", "xattr", "selinux" };
	for (size_t i = 0; warning && i < sizeof unused / sizeof *unused; i++)
		if (strstr(warning, unused[i]))
			return true;
	return false;
}

/*
 * Checks that a header, or the directory, follows a member of a zip for which libarchive has read
 * no data. libarchive skips anything else, and compares sizes only with data that it has read.
 * False: err is filled.
 */
static bool is_at_zip_header(struct tr_archive *archive, struct tr_error *err)
{
	static const char magic[] = { 'P', 'K' };
	struct tr_input *in = archive->in;
	/* the window must not move while libarchive uses it */
	if (archive->lent == 0)
		(void)tr_input_more(in, sizeof magic);
	size_t len = tr_input_available(in);
	if (memcmp(in->pos, magic, len < sizeof magic ? len : sizeof magic) == 0)
		return true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "%s: zip: damaged: its header states no data, but data follows",
		     entry_name(archive));
	return false;
}

/* Checks how libarchive has read a header or the end. False: err is filled with damage. */
static bool check_header(struct tr_archive *archive, int result, int64_t len, struct tr_error *err)
{
	enum { NEWC_END = 124, ODC_END = 87 }; /* the last header of a cpio, with its name */
	const char *warning = archive->lib.archive_error_string(archive->reader);
	if (result == ARCHIVE_WARN && !is_harmless(warning)) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: damaged: %s", archive->format,
			     warning ? warning : "a header");
		return false;
	}
	/* libarchive has skipped bytes before the end, without a warning */
	if (result == ARCHIVE_EOF && archive->cpio && len > (archive->newc ? NEWC_END : ODC_END)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "cpio: damaged: skipped bytes before the end; members may be missing");
		return false;
	}
	return true;
}

/*
 * Skips the rest of the last entry and reads the next header. Returns a result of libarchive.
 * ARCHIVE_WARN: libarchive recovered from the damage in err; the next call returns what it read.
 */
static int read_header(struct tr_archive *archive, struct tr_error *err)
{
	const struct libarchive *lib = &archive->lib;
	int result = archive->broken ? ARCHIVE_FATAL : ARCHIVE_OK;
	if (archive->held) {
		archive->held = false;
		return archive->held_result;
	}
	if (!archive->opened && result == ARCHIVE_OK)
		result = lib->archive_read_open1(archive->reader);
	archive->opened = true;
	/* libarchive is then at the header */
	if (archive->in_member && result == ARCHIVE_OK)
		result = lib->archive_read_data_skip(archive->reader);
	if (result == ARCHIVE_EOF || result == ARCHIVE_WARN)
		result = ARCHIVE_OK;
	if (archive->newc && result == ARCHIVE_OK && skip_used(archive) &&
	    !cpio_name_is_short(archive))
		result = ARCHIVE_FATAL;
	int64_t after_member = lib->archive_filter_bytes(archive->reader, -1);
	bool good = true;
	if (archive->zip && archive->in_member && after_member == archive->data_begin &&
	    result == ARCHIVE_OK && skip_used(archive))
		good = is_at_zip_header(archive, err);
	archive->in_header = true;
	if (result == ARCHIVE_OK)
		result = lib->archive_read_next_header2(archive->reader, archive->entry);
	archive->in_header = false;
	archive->data_begin = lib->archive_filter_bytes(archive->reader, -1);
	archive->end_mark = archive->data_begin != after_member;
	good = good && check_header(archive, result, archive->data_begin - after_member, err);
	if (result == ARCHIVE_WARN)
		result = ARCHIVE_OK;
	archive->in_member = result == ARCHIVE_OK;
	archive->held = !good && (result == ARCHIVE_OK || result == ARCHIVE_EOF);
	archive->held_result = result;
	return archive->held ? ARCHIVE_WARN : result;
}

/* Steps to the next entry and skips the rest of the last one. TR_WARN: it cannot be read. */
static enum tr_status next_entry(struct tr_archive *archive, struct entry *entry,
				 struct tr_error *err)
{
	const struct libarchive *lib = &archive->lib;
	locale_t before = uselocale(archive->locale);
	int result = read_header(archive, err);
	if (result == ARCHIVE_OK) {
		entry->name = entry_name(archive);
		entry->hard_link = lib->archive_entry_hardlink(archive->entry);
		entry->regular =
			entry->hard_link || lib->archive_entry_filetype(archive->entry) == AE_IFREG;
	}
	uselocale(before);
	return result == ARCHIVE_WARN ? TR_WARN : convert_result(archive, result, err);
}

/* True if members may follow: libarchive stops at damage, but members of a zip are independent. */
static bool may_continue(const struct tr_archive *archive, const struct tr_error *err)
{
	return archive->zip && !archive->in->damaged && err->cause == TR_CAUSE_INPUT;
}

/* Finds the next member after damage. TR_END: there is none. */
static enum tr_status find_next(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	archive->lost = false;
	archive->any_lost = true;
	(void)leave_reader(archive);
	bool found = tr_zip_find_member(in);
	if (!found && in->damaged)
		tr_input_error(in, err);
	archive->stopped = !found || !open_reader(archive, err);
	if (!archive->stopped)
		return TR_OK;
	return found || in->damaged ? TR_FATAL : TR_END;
}

/* Steps to the next regular file. */
static enum tr_status next_file(struct tr_archive *archive, struct entry *entry,
				struct tr_error *err)
{
	enum tr_status status = archive->lost ? find_next(archive, err) : TR_OK;
	if (status != TR_OK)
		return status;
	struct tr_error why;
	do {
		status = next_entry(archive, entry, &why);
		archive->seen += status == TR_OK;
	} while (status == TR_OK && !entry->regular);
	archive->lost = status == TR_FATAL && may_continue(archive, &why);
	if (status >= TR_WARN && err)
		*err = why;
	return archive->lost ? TR_WARN : status;
}

/* Reports why nothing after this position is read. */
static enum tr_status end_with_error(struct tr_archive *archive, const char *what,
				     struct tr_error *err)
{
	if (archive->in->damaged)
		tr_input_error(archive->in, err);
	else
		tr_error_set(err, TR_CAUSE_INPUT, "%s: %s", archive->format, what);
	return TR_FATAL;
}

/* Skips zeros after the end, which pad tapes, up to the largest block of any tape drive. */
static bool skip_padding(struct tr_input *in)
{
	const uint64_t most = in->offset + ((uint64_t)64 << 20);
	while (in->offset < most && tr_input_more(in, 1) && !*in->pos) {
		const char *p = in->pos;
		while (p < in->end && !*p)
			p++;
		tr_input_skip(in, (size_t)(p - in->pos));
	}
	return in->offset < most;
}

/* A 7z ends where its first bytes say, unless there is data after it. */
static enum tr_status end_of_spool(struct tr_archive *archive, struct tr_error *err)
{
	uint64_t end;
	if (!stated_end(archive, &end, err))
		return TR_FATAL;
	if (tr_spool_size(archive->spool) <= end)
		return TR_END;
	return end_with_error(archive, "data after the end of the archive is not read", err);
}

/* Compares the directory of a zip, which libarchive ignores, with the members that were found. */
static enum tr_status end_of_zip(struct tr_archive *archive, struct tr_error *err)
{
	int64_t count = tr_zip_skip_directory(archive->in);
	if (count < 0)
		return end_with_error(
			archive,
			"there is no complete directory after the last member; members may be "
			"missing",
			err);
	uint64_t seen = count > UINT16_MAX ? archive->seen : archive->seen & UINT16_MAX;
	if (archive->any_lost || (uint64_t)count == seen)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "zip: the directory at the end lists %" PRId64 " members, but %" PRIu64
		     " were found",
		     count, archive->seen);
	return TR_WARN;
}

/*
 * Called when libarchive has reached the end of the archive. Reads the input to its own end,
 * where a decoder verifies its checksums. TR_OK: another archive follows. TR_END: only padding
 * follows.
 */
static enum tr_status after_end(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	if (archive->spool)
		return end_of_spool(archive, err);
	bool exact = leave_reader(archive);
	enum tr_status status = TR_OK;
	if (archive->zip)
		status = end_of_zip(archive, err);
	/* every program that writes a tar ends it with zeros */
	if (archive->tar && !archive->end_mark) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "tar: ends without a block of zeros; members may be missing");
		status = TR_WARN;
	}
	if (status == TR_FATAL)
		return status;
	if (!skip_padding(in))
		return end_with_error(archive, "more than 64 MiB of zeros follow the end", err);
	if (in->damaged)
		return end_with_error(archive, "damaged data follows the end of the archive", err);
	bool more = tr_input_available(in) > 0;
	const char *format = more && exact ? tr_archive_detect(in) : NULL;
	if (more && !format)
		return end_with_error(archive, "garbage follows the end of the archive", err);
	if (more && !begin(archive, format, err))
		return TR_FATAL;
	archive->stopped = !more;
	return more || status == TR_WARN ? status : TR_END;
}

enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err)
{
	const struct libarchive *lib = &archive->lib;
	struct entry entry;
	if (archive->stopped)
		return TR_END; /* the cause was reported before */
	enum tr_status status;
	while ((status = next_file(archive, &entry, err)) == TR_END && archive->reader)
		if ((status = after_end(archive, err)) != TR_OK)
			break;
	archive->stopped |= status == TR_FATAL || status == TR_END;
	if (status != TR_OK)
		return status;
	int64_t size = -1;
	if (lib->archive_entry_size_is_set(archive->entry))
		size = lib->archive_entry_size(archive->entry);
	/*
	 * an entry with data counts as a regular file: cpio stores the data with the last of
	 * several links
	 */
	if (entry.hard_link && size <= 0) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the same file as %s, skipped", entry.name,
			     entry.hard_link);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (archive->newc && !entry.hard_link && size == 0 &&
	    lib->archive_entry_nlink(archive->entry) > 1) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: a hard link without data, skipped",
			     entry.name);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (lib->archive_entry_is_encrypted(archive->entry) == 1) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: is encrypted", entry.name);
		return TR_WARN;
	}
	free(archive->name);
	archive->name = strdup(entry.name);
	if (!archive->name)
		return tr_error_memory(err);
	*member = (struct tr_archive_member){
		.name = archive->name,
		.size = size,
		.mtime = lib->archive_entry_mtime(archive->entry),
	};
	return TR_OK;
}

/* The source of one member's bytes. */
struct member {
	struct tr_source base;
	struct tr_archive *archive;
	struct tr_text block;  /* unread rest of the last block */
	uint64_t offset;       /* of the next byte, in the member */
	uint64_t block_offset; /* of the block; the bytes before it are a hole, read as zeros */
	enum tr_status after;  /* status that libarchive returned with the block */
	struct tr_error error;
};

/* Reads the next block if the last one is used up. A block that comes with an error is valid. */
static bool next_block(struct member *m)
{
	struct tr_archive *archive = m->archive;
	while (m->after == TR_OK && m->block.len == 0) {
		const void *data = NULL;
		size_t len = 0;
		la_int64_t offset = 0;
		int result = ARCHIVE_FATAL;
		locale_t before = uselocale(archive->locale);
		if (!archive->broken)
			result = archive->lib.archive_read_data_block(archive->reader, &data, &len,
								      &offset);
		uselocale(before);
		m->block = (struct tr_text){ data, data ? len : 0 };
		m->after = convert_result(archive, result, &m->error);
		if (m->after == TR_FATAL)
			archive->lost = may_continue(archive, &m->error);
		/*
		 * a block at an earlier offset is placed at the current one: no valid archive has
		 * such blocks
		 */
		m->block_offset = m->offset;
		if (offset > 0 && (uint64_t)offset > m->offset)
			m->block_offset = (uint64_t)offset;
	}
	return m->block.len > 0;
}

/* Stops reading because the data exceed --max-ratio. */
static void stop(struct member *m)
{
	m->archive->stopped = true;
	m->block.len = 0;
	m->block_offset = m->offset;
	m->after = TR_FATAL;
	tr_error_set(&m->error, TR_CAUSE_LIMIT,
		     "%s: decompresses to more than %u times its size (--max-ratio), "
		     "nothing more is read",
		     m->archive->format, m->archive->limits.max_ratio);
}

/*
 * Reads a member. libarchive returns blocks with their offsets, and what lies between two of them
 * is a hole of zeros, which counts for --max-ratio like other bytes.
 */
static ssize_t member_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct member *m = (struct member *)source;
	struct tr_archive *archive = m->archive;
	if (!next_block(m) && m->block_offset <= m->offset) {
		if (m->after == TR_END)
			return 0;
		if (err)
			*err = m->error;
		return -1;
	}
	/* an empty last block at the end of a sparse file also makes a hole */
	uint64_t hole = m->block_offset - m->offset;
	size_t n = hole < cap ? (size_t)hole : cap;
	if (n) {
		memset(buf, 0, n);
	} else {
		n = m->block.len < cap ? m->block.len : cap;
		memcpy(buf, m->block.data, n);
		m->block.data += n;
		m->block.len -= n;
		m->block_offset += n;
	}
	m->offset += n;
	archive->made += n;
	if (tr_ratio_exceeded(&archive->limits, archive->made, tr_input_raw_offset(archive->in)))
		stop(m);
	return (ssize_t)n;
}

/* Whether the next read may wait for the input of the archive. */
static bool member_would_wait(struct tr_source *source)
{
	struct member *m = (struct member *)source;
	return m->after == TR_OK && m->block.len == 0 && !m->archive->spool &&
	       tr_input_would_wait(m->archive->in);
}

static void member_close(struct tr_source *source)
{
	free(source);
}

static uint64_t member_raw_offset(struct tr_source *source)
{
	return tr_input_raw_offset(((struct member *)source)->archive->in);
}

struct tr_source *tr_archive_source(struct tr_archive *archive)
{
	struct member *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	/* no interrupt: it would end the input, which contains the other members too */
	*m = (struct member){
		.base = {
			.read = member_read,
			.would_wait = member_would_wait,
			.close = member_close,
			.raw_offset = member_raw_offset,
		},
		.archive = archive,
		.after = TR_OK,
	};
	return &m->base;
}

void tr_archive_free(struct tr_archive *archive)
{
	if (!archive)
		return;
	close_reader(archive);
	if (archive->entry)
		archive->lib.archive_entry_free(archive->entry);
	utf8_locale_free(archive->locale);
	tr_spool_free(archive->spool);
	free(archive->spool_block);
	tr_input_free(archive->in);
	free(archive->name);
	free(archive);
}

/* Writing. Each member is spooled until its size is known. */

enum { PACK_BLOCK = 64 << 10, COPY_SIZE = 64 << 10 };

struct tr_archive_writer {
	struct tr_sink *sink;
	struct libarchive lib;
	struct kind kind;
	struct archive *archive;
	struct archive_entry *entry;
	locale_t locale;
	bool failed, finished; /* failed: error contains the reason */
	struct tr_error error;
};

/*
 * Failures are not passed on to libarchive, because after one, some of its formats do not free
 * their compressor. The bytes after a failure are dropped.
 */
static la_ssize_t write_sink(struct archive *a, void *context, const void *data, size_t len)
{
	struct tr_archive_writer *writer = context;
	(void)a;
	if (!writer->failed && !writer->sink->write(writer->sink, data, len, &writer->error))
		writer->failed = true;
	return (la_ssize_t)len;
}

/* True if libarchive succeeded; otherwise fills err. */
static bool done(struct tr_archive_writer *writer, la_ssize_t result, struct tr_error *err)
{
	if (result >= ARCHIVE_WARN && !writer->failed)
		return true;
	const char *what = writer->lib.archive_error_string(writer->archive);
	if (!writer->failed && writer->lib.archive_errno(writer->archive) == ENOMEM)
		tr_error_memory(&writer->error);
	else if (!writer->failed)
		tr_error_set(&writer->error, TR_CAUSE_SYSTEM, "%s: %s", writer->kind.name,
			     what ? what : "cannot write");
	writer->failed = true;
	if (err)
		*err = writer->error;
	return false;
}

/* Loads and configures libarchive. False: err is filled. */
static bool set_up(struct tr_archive_writer *writer, const char *format, struct tr_error *err)
{
	struct libarchive *lib = &writer->lib;
	if (!load(lib, err))
		return false;
	writer->kind = kind_find(lib, format);
	writer->archive = lib->archive_write_new();
	writer->entry = lib->archive_entry_new();
	writer->locale = utf8_locale();
	if (!writer->archive || !writer->entry) {
		tr_error_memory(err);
		return false;
	}
	if (!done(writer, writer->kind.set_format(writer->archive), err))
		return false;
	lib->archive_write_set_bytes_per_block(writer->archive, PACK_BLOCK);
	lib->archive_write_set_bytes_in_last_block(writer->archive, writer->kind.last_block);
	return done(writer,
		    lib->archive_write_open(writer->archive, writer, NULL, write_sink, NULL), err);
}

struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err)
{
	struct tr_archive_writer *writer = calloc(1, sizeof *writer);
	if (!writer) {
		tr_error_memory(err);
		sink->close(sink);
		return NULL;
	}
	writer->sink = sink;
	if (set_up(writer, format, err))
		return writer;
	tr_archive_writer_free(writer);
	return NULL;
}

static bool is_utf8(const char *text)
{
	const char *end = text + strlen(text);
	return tr_utf8_check(text, end) == end;
}

struct member_sink {
	struct tr_sink base;
	struct tr_archive_writer *writer;
	struct tr_spool *spool;
	int64_t mtime;
	char *name;
};

static bool member_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct member_sink *m = (struct member_sink *)sink;
	return tr_spool_write(m->spool, data, len, err);
}

static bool member_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true; /* an unfinished member is never readable */
}

/*
 * Writes the member to the archive. Its size comes before its bytes there, so it is spooled until
 * it is complete.
 */
static bool member_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct member_sink *m = (struct member_sink *)sink;
	struct tr_archive_writer *writer = m->writer;
	const struct libarchive *lib = &writer->lib;
	uint64_t size = tr_spool_size(m->spool);
	char buf[COPY_SIZE];
	/* libarchive marks names in a zip as UTF-8 if that is the encoding of the locale */
	bool is_marked = strcmp(writer->kind.name, "zip") != 0 || is_utf8(m->name);
	locale_t before = uselocale(is_marked ? writer->locale : (locale_t)0);
	lib->archive_entry_clear(writer->entry);
	lib->archive_entry_copy_pathname(writer->entry, m->name);
	lib->archive_entry_set_filetype(writer->entry, AE_IFREG);
	lib->archive_entry_set_perm(writer->entry, 0644);
	lib->archive_entry_set_mtime(writer->entry, (time_t)m->mtime, 0);
	lib->archive_entry_set_size(writer->entry, (int64_t)size);
	bool good = done(writer, lib->archive_write_header(writer->archive, writer->entry), err);
	uselocale(before);
	for (uint64_t offset = 0; good && offset < size;) {
		const char *data = NULL;
		size_t len = sizeof buf;
		if (!tr_spool_read(m->spool, offset, buf, &data, &len, err))
			return false;
		la_ssize_t n = lib->archive_write_data(writer->archive, data, len);
		good = done(writer, n, err);
		if (good && n <= 0) {
			/* more data than the announced size */
			tr_error_set(err, TR_CAUSE_USAGE, "%s: member grew", writer->kind.name);
			return false;
		}
		offset += good ? (uint64_t)n : 0;
	}
	return good;
}

/* True if a member can have this name; otherwise fills err. */
static bool check_name(const struct tr_archive_writer *writer, const char *name,
		       struct tr_error *err)
{
	size_t len = strlen(name);
	if (len > LONGEST_NAME)
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "%s: a name of %zu bytes cannot be written, only up to %d",
			     writer->kind.name, len, LONGEST_NAME);
	else if (strcmp(writer->kind.name, "7z") == 0 && !is_utf8(name))
		tr_error_set(err, TR_CAUSE_USAGE,
			     "7z: a name that is not UTF-8 cannot be written: use another format, "
			     "such as tar");
	else
		return true;
	return false;
}

/* Drops a member; one that is not finished is not in the archive. */
static void writer_member_close(struct tr_sink *sink)
{
	struct member_sink *m = (struct member_sink *)sink;
	tr_spool_free(m->spool);
	free(m->name);
	free(m);
}

struct tr_sink *tr_archive_member_sink(struct tr_archive_writer *writer, const char *name,
				       int64_t mtime, struct tr_error *err)
{
	const struct kind *kind = &writer->kind;
	if (!check_name(writer, name, err))
		return NULL;
	/* with this name the archive would end; the same name in another spelling is a member */
	if (strcmp(kind->name, "cpio") == 0 && strcmp(name, TRAILER) == 0)
		name = "./" TRAILER;
	/* libarchive's times may have 32 bits */
	bool narrow = sizeof(time_t) == sizeof(int32_t);
	int64_t first = narrow && kind->first_time < INT32_MIN ? INT32_MIN : kind->first_time;
	int64_t last = narrow && kind->last_time > INT32_MAX ? INT32_MAX : kind->last_time;
	mtime = mtime < first ? first : mtime > last ? last : mtime;
	struct member_sink *m = calloc(1, sizeof *m);
	if (m) {
		*m = (struct member_sink){
			.base = { member_write, member_flush, member_finish, writer_member_close },
			.writer = writer,
			.spool = tr_spool_new(INT64_MAX),
			.mtime = mtime,
			.name = strdup(name),
		};
		if (m->spool && m->name)
			return &m->base;
		writer_member_close(&m->base);
	}
	tr_error_memory(err);
	return NULL;
}

bool tr_archive_finish(struct tr_archive_writer *writer, struct tr_error *err)
{
	locale_t before = uselocale(writer->locale);
	writer->finished = true;
	bool good = done(writer, writer->lib.archive_write_close(writer->archive), err);
	uselocale(before);
	return good && writer->sink->finish(writer->sink, err);
}

void tr_archive_writer_free(struct tr_archive_writer *writer)
{
	if (!writer)
		return;
	/* this writes the end of the archive; the bytes are dropped unless finish was called */
	writer->failed = writer->failed || !writer->finished;
	if (writer->archive)
		writer->lib.archive_write_free(writer->archive);
	if (writer->entry)
		writer->lib.archive_entry_free(writer->entry);
	utf8_locale_free(writer->locale);
	writer->sink->close(writer->sink);
	free(writer);
}
