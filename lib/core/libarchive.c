/* SPDX-License-Identifier: MIT */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/library.h"
#include "core/libarchive.h"

/*
 * The functions of libarchive that this file calls. They are loaded when an archive is read or
 * written for the first time (library.h).
 */
#define TR_LIBARCHIVE_FUNCTIONS(F) \
	F(archive_entry_clear) \
	F(archive_entry_copy_pathname) \
	F(archive_entry_filetype) \
	F(archive_entry_free) \
	F(archive_entry_hardlink) \
	F(archive_entry_is_encrypted) \
	F(archive_entry_mtime) \
	F(archive_entry_new) \
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

struct tr_libarchive {
#define TR_LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
	TR_LIBARCHIVE_FUNCTIONS(TR_LIBARCHIVE_MEMBER)
#undef TR_LIBARCHIVE_MEMBER
};

struct tr_kind {
	const char *name;
	int (*support)(struct archive *a);    /* for reading */
	int (*set_format)(struct archive *a); /* for writing */
	int last_block;
};

/*
 * libarchive converts names between the encoding of the locale and that of the archive, and in the
 * C locale loses all characters beyond ASCII. With UTF-8 there is nothing to convert. The locale is
 * set for this thread only, and only during a call. 0: there is no such locale.
 */
locale_t tr_utf8_locale(void);

/* False: err is filled. */
static bool libarchive_load(struct tr_libarchive *lib, struct tr_error *err)
{
	static const struct tr_symbol symbols[] = {
#define SYMBOL(name) TR_SYMBOL(struct tr_libarchive, name, name),
		TR_LIBARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
			{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBARCHIVE, symbols, lib, err);
}

/* Finds the functions for a kind, which is one of these four. */
static struct tr_kind kind_find(const struct tr_libarchive *lib, const char *name)
{
	enum { TAR_RECORD = 10240 }; /* tar pads the end to the size of a tape record */
	const struct tr_kind kinds[] = {
		{
			.name = "tar",
			.support = lib->archive_read_support_format_tar,
			/* pax, with extended headers only for values that ustar cannot hold */
			.set_format = lib->archive_write_set_format_pax_restricted,
			.last_block = TAR_RECORD,
		},
		{
			.name = "zip",
			/* by local headers, because the directory at the end would need a seek */
			.support = lib->archive_read_support_format_zip_streamable,
			.set_format = lib->archive_write_set_format_zip,
			.last_block = 1,
		},
		{
			.name = "cpio",
			.support = lib->archive_read_support_format_cpio,
			.set_format = lib->archive_write_set_format_cpio_newc,
			.last_block = 1,
		},
		{
			.name = "7z",
			.support = lib->archive_read_support_format_7zip,
			.set_format = lib->archive_write_set_format_7zip,
			.last_block = 1,
		},
	};
	const struct tr_kind *kind = kinds;
	while (strcmp(kind->name, name) != 0)
		kind++;
	return *kind;
}

locale_t tr_utf8_locale(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void utf8_locale_free(locale_t locale)
{
	if (locale)
		freelocale(locale);
}

enum { PACK_BLOCK = 64 << 10 };

struct tr_packer {
	struct tr_libarchive lib;
	struct tr_kind kind;
	struct archive *archive;
	struct archive_entry *entry;
	locale_t locale;
	struct tr_sink *sink;
	bool failed, finished; /* failed: error contains the reason */
	struct tr_error error;
};

/*
 * Failures are not passed on to libarchive, because after one, some of its formats do not free
 * their compressor. The bytes after a failure are dropped.
 */
static la_ssize_t write_sink(struct archive *a, void *context, const void *data, size_t len)
{
	struct tr_packer *p = context;
	(void)a;
	if (!p->failed && !p->sink->write(p->sink, data, len, &p->error))
		p->failed = true;
	return (la_ssize_t)len;
}

/* True if libarchive succeeded; otherwise fills err. */
static bool done(struct tr_packer *p, la_ssize_t result, struct tr_error *err)
{
	if (result >= ARCHIVE_WARN && !p->failed)
		return true;
	const char *what = p->lib.archive_error_string(p->archive);
	if (!p->failed && p->lib.archive_errno(p->archive) == ENOMEM)
		tr_error_memory(&p->error);
	else if (!p->failed)
		tr_error_set(&p->error, TR_CAUSE_SYSTEM, "%s: %s", p->kind.name,
			     what ? what : "cannot write");
	p->failed = true;
	if (err)
		*err = p->error;
	return false;
}

static bool set_up(struct tr_packer *p, struct tr_error *err)
{
	if (!done(p, p->kind.set_format(p->archive), err))
		return false;
	p->lib.archive_write_set_bytes_per_block(p->archive, PACK_BLOCK);
	p->lib.archive_write_set_bytes_in_last_block(p->archive, p->kind.last_block);
	return done(p, p->lib.archive_write_open(p->archive, p, NULL, write_sink, NULL), err);
}

struct tr_packer *tr_packer_new(const char *kind, struct tr_sink *sink, struct tr_error *err)
{
	struct tr_packer *p = calloc(1, sizeof *p);
	if (!p) {
		tr_error_memory(err);
		return NULL;
	}
	if (!libarchive_load(&p->lib, err)) {
		free(p);
		return NULL;
	}
	p->kind = kind_find(&p->lib, kind);
	p->archive = p->lib.archive_write_new();
	p->entry = p->lib.archive_entry_new();
	p->locale = tr_utf8_locale();
	p->sink = sink;
	if (!p->archive || !p->entry) {
		tr_error_memory(err);
		tr_packer_free(p);
		return NULL;
	}
	if (!set_up(p, err)) {
		tr_packer_free(p);
		return NULL;
	}
	return p;
}

bool tr_packer_begin(struct tr_packer *p, const char *name, int64_t size, int64_t mtime,
		     struct tr_error *err)
{
	const struct tr_libarchive *lib = &p->lib;
	locale_t before = uselocale(p->locale);
	lib->archive_entry_clear(p->entry);
	lib->archive_entry_copy_pathname(p->entry, name);
	lib->archive_entry_set_filetype(p->entry, AE_IFREG);
	lib->archive_entry_set_perm(p->entry, 0644);
	lib->archive_entry_set_mtime(p->entry, (time_t)mtime, 0);
	lib->archive_entry_set_size(p->entry, size);
	bool good = done(p, lib->archive_write_header(p->archive, p->entry), err);
	uselocale(before);
	return good;
}

bool tr_packer_put(struct tr_packer *p, const char *data, size_t len, struct tr_error *err)
{
	while (len) {
		la_ssize_t n = p->lib.archive_write_data(p->archive, data, len);
		if (!done(p, n, err))
			return false;
		if (n <= 0) {
			/* more data than the announced size */
			tr_error_set(err, TR_CAUSE_USAGE, "%s: member grew", p->kind.name);
			return false;
		}
		data += n;
		len -= (size_t)n;
	}
	return true;
}

bool tr_packer_finish(struct tr_packer *p, struct tr_error *err)
{
	locale_t before = uselocale(p->locale);
	p->finished = true;
	bool good = done(p, p->lib.archive_write_close(p->archive), err);
	uselocale(before);
	return good;
}

void tr_packer_free(struct tr_packer *p)
{
	if (!p)
		return;
	/*
	 * this call writes the end of the archive; the bytes are dropped unless finish was called
	 */
	p->failed = p->failed || !p->finished;
	p->lib.archive_write_free(p->archive);
	p->lib.archive_entry_free(p->entry);
	utf8_locale_free(p->locale);
	free(p);
}

const char *tr_packer_version(void)
{
	struct tr_libarchive lib;
	return libarchive_load(&lib, NULL) ? lib.archive_version_details()
					   : TREC_LIBARCHIVE " cannot be used";
}

enum { SPOOL_BLOCK = 64 << 10, KEPT_MAX = 4096 };

struct tr_unpacker {
	struct tr_libarchive lib;
	struct tr_kind kind;
	struct archive *archive;
	struct archive_entry *entry; /* owned, because libarchive does not check its own for NULL */
	locale_t locale;
	struct tr_input *in;
	uint64_t begin; /* offset of in at the start of the archive */
	size_t lent;	/* bytes at the start of the window that libarchive has received */
	struct tr_spool *spool;
	uint64_t spool_offset;
	char *spool_block;
	bool opened;
	bool failed; /* error contains the reason */
	bool broken; /* libarchive returns no more */
	struct tr_error error;
};

/* Skips the bytes that libarchive has consumed. False: in is already after them. */
static bool skip_used(struct tr_unpacker *u)
{
	uint64_t used = u->begin + (uint64_t)u->lib.archive_filter_bytes(u->archive, -1);
	if (used < u->in->offset || used - u->in->offset > u->lent)
		return false;
	size_t n = (size_t)(used - u->in->offset);
	tr_input_skip(u->in, n);
	u->lent -= n;
	return true;
}

/*
 * libarchive copies the bytes that it has received and not consumed, for example the first part of
 * a header. They stay in the window too, because at the end of the archive the next reader
 * continues with them.
 */
static la_ssize_t lend_window(struct archive *a, void *context, const void **data)
{
	struct tr_unpacker *u = context;
	if (!skip_used(u) || u->lent > KEPT_MAX) {
		tr_input_skip(u->in, u->lent);
		u->lent = 0;
	}
	if (!tr_input_more(u->in, u->lent + 1)) {
		if (!u->in->damaged)
			return 0;
		u->failed = true;
		tr_input_error(u->in, &u->error);
		u->lib.archive_set_error(a, EIO, "the input is damaged");
		return ARCHIVE_FATAL;
	}
	size_t seen = u->lent;
	*data = u->in->pos + seen;
	u->lent = tr_input_available(u->in);
	return (la_ssize_t)(u->lent - seen);
}

static la_ssize_t lend_spool(struct archive *a, void *context, const void **data)
{
	struct tr_unpacker *u = context;
	size_t len = SPOOL_BLOCK;
	const char *bytes = NULL;
	if (!tr_spool_read(u->spool, u->spool_offset, u->spool_block, &bytes, &len, &u->error)) {
		u->failed = true;
		u->lib.archive_set_error(a, EIO, "the spool is damaged");
		return ARCHIVE_FATAL;
	}
	u->spool_offset += len;
	*data = bytes;
	return (la_ssize_t)len;
}

static la_int64_t seek_spool(struct archive *a, void *context, la_int64_t offset, int whence)
{
	struct tr_unpacker *u = context;
	(void)a;
	int64_t size = (int64_t)tr_spool_size(u->spool);
	int64_t base = 0;
	if (whence == SEEK_CUR)
		base = (int64_t)u->spool_offset;
	else if (whence == SEEK_END)
		base = size;
	/* an offset beyond the file is limited to its ends, where a read finds nothing */
	if (offset < -base)
		offset = -base;
	if (offset > size - base)
		offset = size - base;
	u->spool_offset = (uint64_t)(base + offset);
	return base + offset;
}

/* Configures libarchive. False: memory is exhausted. */
static bool unpacker_set_up(struct tr_unpacker *u)
{
	if (u->kind.support(u->archive) <= ARCHIVE_FAILED ||
	    u->lib.archive_read_set_callback_data(u->archive, u) != ARCHIVE_OK)
		return false;
	u->lib.archive_read_set_read_callback(u->archive, u->spool ? lend_spool : lend_window);
	if (u->spool)
		u->lib.archive_read_set_seek_callback(u->archive, seek_spool);
	return true;
}

struct tr_unpacker *tr_unpacker_new(const char *kind, struct tr_input *in, struct tr_spool *spool,
				    struct tr_error *err)
{
	struct tr_unpacker *u = calloc(1, sizeof *u);
	if (!u) {
		tr_error_memory(err);
		return NULL;
	}
	if (!libarchive_load(&u->lib, err)) {
		free(u);
		return NULL;
	}
	u->kind = kind_find(&u->lib, kind);
	u->archive = u->lib.archive_read_new();
	u->entry = u->lib.archive_entry_new();
	u->locale = tr_utf8_locale();
	u->in = in;
	u->begin = in->offset;
	u->spool = spool;
	u->spool_block = spool ? malloc(SPOOL_BLOCK) : NULL;
	if (u->archive && u->entry && (!spool || u->spool_block) && unpacker_set_up(u))
		return u;
	tr_error_memory(err);
	tr_unpacker_free(u);
	return NULL;
}

/* Turns a result of libarchive into a status. */
static enum tr_status judge(struct tr_unpacker *u, int result, struct tr_error *err)
{
	if (result == ARCHIVE_OK)
		return TR_OK;
	if (result == ARCHIVE_EOF)
		return TR_END;
	if (u->failed) {
		if (err)
			*err = u->error;
	} else if (u->lib.archive_errno(u->archive) == ENOMEM) {
		tr_error_memory(err);
	} else {
		const char *what = u->lib.archive_error_string(u->archive);
		if (u->broken)
			what = "nothing can be read after the damage";
		tr_error_set(err, TR_CAUSE_INPUT, "%s: %s", u->kind.name, what ? what : "damaged");
	}
	u->broken = u->broken || u->failed || result <= ARCHIVE_FATAL;
	return u->broken ? TR_FATAL : TR_WARN;
}

static void describe(const struct tr_unpacker *u, struct tr_unpacked *entry)
{
	const struct tr_libarchive *lib = &u->lib;
	struct archive_entry *from = u->entry;
	const char *name = lib->archive_entry_pathname(from);
	if (!name)
		name = lib->archive_entry_pathname_utf8(from);
	const char *link = lib->archive_entry_hardlink(from);
	*entry = (struct tr_unpacked){
		.name = name ? name : "",
		.hard_link = link,
		.size = lib->archive_entry_size_is_set(from) ? lib->archive_entry_size(from) : -1,
		.mtime = lib->archive_entry_mtime(from),
		.regular = link || lib->archive_entry_filetype(from) == AE_IFREG,
		.encrypted = lib->archive_entry_is_encrypted(from) == 1,
	};
}

enum tr_status tr_unpacker_next(struct tr_unpacker *u, struct tr_unpacked *entry,
				struct tr_error *err)
{
	locale_t before = uselocale(u->locale);
	int result = u->broken ? ARCHIVE_FATAL : ARCHIVE_OK;
	if (!u->opened && result == ARCHIVE_OK)
		result = u->lib.archive_read_open1(u->archive);
	u->opened = true;
	if (result == ARCHIVE_OK)
		result = u->lib.archive_read_next_header2(u->archive, u->entry);
	if (result == ARCHIVE_WARN)
		result = ARCHIVE_OK; /* the warning is about an attribute that is not used here */
	if (result == ARCHIVE_OK)
		describe(u, entry);
	uselocale(before);
	return judge(u, result, err);
}

enum tr_status tr_unpacker_block(struct tr_unpacker *u, const char **data, size_t *len,
				 int64_t *offset, struct tr_error *err)
{
	const void *block = NULL;
	locale_t before = uselocale(u->locale);
	*len = 0;
	*offset = 0;
	la_int64_t place = 0;
	int result = u->broken ? ARCHIVE_FATAL
			       : u->lib.archive_read_data_block(u->archive, &block, len, &place);
	uselocale(before);
	*data = block;
	*offset = place;
	if (!block)
		*len = 0;
	return judge(u, result, err);
}

bool tr_unpacker_release(struct tr_unpacker *u)
{
	bool exact = skip_used(u);
	u->lent = 0;
	u->broken = true;
	return exact;
}

void tr_unpacker_free(struct tr_unpacker *u)
{
	if (!u)
		return;
	u->lib.archive_read_free(u->archive);
	u->lib.archive_entry_free(u->entry);
	utf8_locale_free(u->locale);
	free(u->spool_block);
	free(u);
}
