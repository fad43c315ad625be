#include "config.h"

#include "core/packer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPOOL_BLOCK = 64 << 10,
	PACK_BLOCK = 64 << 10,
	TAR_RECORD = 10240, /* tar pads its end to this, as tape had it */
};

struct kind {
	const char *name;
	int (*support)(struct archive *a);    /* reading */
	int (*set_format)(struct archive *a); /* writing */
	int last_block;
};

static const struct kind kinds[] = {
	{
		.name = "tar",
		.support = archive_read_support_format_tar,
		/* pax, with extended headers only where ustar cannot say it */
		.set_format = archive_write_set_format_pax_restricted,
		.last_block = TAR_RECORD,
	},
	{
		.name = "zip",
		/* by local headers: the directory at the end would need a seek */
		.support = archive_read_support_format_zip_streamable,
		.set_format = archive_write_set_format_zip,
		.last_block = 1,
	},
	{
		.name = "cpio",
		.support = archive_read_support_format_cpio,
		.set_format = archive_write_set_format_cpio_newc,
		.last_block = 1,
	},
	{
		.name = "7z",
		.support = archive_read_support_format_7zip,
		.set_format = archive_write_set_format_7zip,
		.last_block = 1,
	},
};

static const struct kind *find_kind(const char *name)
{
	const struct kind *kind = kinds;
	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
}

/*
 * libarchive converts names from and to the locale's encoding, and in the C
 * locale loses what is not ASCII. With UTF-8 there is nothing to convert. The
 * locale is this thread's and only for the time of one call.
 */
static locale_t utf8_locale(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void free_locale(locale_t locale)
{
	if (locale)
		freelocale(locale);
}

struct tr_unpacker {
	const struct kind *kind;
	struct archive *archive;
	struct archive_entry *entry; /* libarchive does not check its own for NULL */
	locale_t locale;
	struct tr_input *in;
	uint64_t begin; /* in's offset at first */
	size_t lent;	/* bytes of in's window that libarchive is looking at */
	struct tr_spool *spool;
	uint64_t spool_offset;
	char *spool_block;
	bool opened, failed, broken; /* failed: error says why; broken: libarchive gives no more */
	struct tr_error error;
};

static la_ssize_t lend_window(struct archive *a, void *context, const void **data)
{
	struct tr_unpacker *u = context;
	tr_input_skip(u->in, u->lent);
	u->lent = 0;
	if (!tr_input_more(u->in, 1)) {
		if (!u->in->damaged)
			return 0;
		u->failed = true;
		tr_input_error(u->in, &u->error);
		archive_set_error(a, EIO, "the input is damaged");
		return ARCHIVE_FATAL;
	}
	*data = u->in->pos;
	u->lent = tr_input_available(u->in);
	return (la_ssize_t)u->lent;
}

static la_ssize_t lend_spool(struct archive *a, void *context, const void **data)
{
	struct tr_unpacker *u = context;
	size_t len = SPOOL_BLOCK;
	const char *bytes = NULL;
	if (!tr_spool_read(u->spool, u->spool_offset, u->spool_block, &bytes, &len, &u->error)) {
		u->failed = true;
		archive_set_error(a, EIO, "the spool is damaged");
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
	/* a hostile offset stops at the ends: reading there finds nothing */
	if (offset < -base)
		offset = -base;
	if (offset > size - base)
		offset = size - base;
	u->spool_offset = (uint64_t)(base + offset);
	return base + offset;
}

struct tr_unpacker *tr_unpacker_new(const char *kind, struct tr_input *in, struct tr_spool *spool)
{
	struct tr_unpacker *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	*u = (struct tr_unpacker){
		.kind = find_kind(kind),
		.archive = archive_read_new(),
		.entry = archive_entry_new(),
		.locale = utf8_locale(),
		.in = in,
		.begin = in->offset,
		.spool = spool,
		.spool_block = spool ? malloc(SPOOL_BLOCK) : NULL,
	};
	if (!u->archive || !u->entry || (spool && !u->spool_block)) {
		tr_unpacker_free(u);
		return NULL;
	}
	/* what fails here fails for want of memory */
	if (u->kind->support(u->archive) <= ARCHIVE_FAILED ||
	    archive_read_set_callback_data(u->archive, u) != ARCHIVE_OK) {
		tr_unpacker_free(u);
		return NULL;
	}
	archive_read_set_read_callback(u->archive, spool ? lend_spool : lend_window);
	if (spool)
		archive_read_set_seek_callback(u->archive, seek_spool);
	return u;
}

/* libarchive's verdict as a status. */
static enum tr_status judge(struct tr_unpacker *u, int result, struct tr_error *err)
{
	if (result == ARCHIVE_OK)
		return TR_OK;
	if (result == ARCHIVE_EOF)
		return TR_END;
	if (u->failed) {
		if (err)
			*err = u->error;
	} else if (archive_errno(u->archive) == ENOMEM) {
		tr_error_memory(err);
	} else {
		const char *what = archive_error_string(u->archive);
		if (u->broken)
			what = "nothing can be read behind the damage";
		tr_error_set(err, TR_CAUSE_INPUT, "%s: %s", u->kind->name, what ? what : "damaged");
	}
	u->broken = u->broken || u->failed || result <= ARCHIVE_FATAL;
	return u->broken ? TR_FATAL : TR_WARN;
}

static void describe(struct archive_entry *from, struct tr_unpacked *entry)
{
	const char *name = archive_entry_pathname(from);
	if (!name)
		name = archive_entry_pathname_utf8(from);
	*entry = (struct tr_unpacked){
		.name = name ? name : "",
		.hard_link = archive_entry_hardlink(from),
		.size = archive_entry_size_is_set(from) ? archive_entry_size(from) : -1,
		.mtime = archive_entry_mtime(from),
		.regular = archive_entry_filetype(from) == AE_IFREG || archive_entry_hardlink(from),
		.encrypted = archive_entry_is_encrypted(from) == 1,
	};
}

enum tr_status tr_unpacker_next(struct tr_unpacker *u, struct tr_unpacked *entry,
				struct tr_error *err)
{
	locale_t before = uselocale(u->locale);
	int result = u->broken ? ARCHIVE_FATAL : ARCHIVE_OK;
	if (!u->opened && result == ARCHIVE_OK)
		result = archive_read_open1(u->archive);
	u->opened = true;
	if (result == ARCHIVE_OK)
		result = archive_read_next_header2(u->archive, u->entry);
	if (result == ARCHIVE_WARN)
		result = ARCHIVE_OK; /* some attribute that nobody asks for */
	if (result == ARCHIVE_OK)
		describe(u->entry, entry);
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
			       : archive_read_data_block(u->archive, &block, len, &place);
	uselocale(before);
	*data = block;
	*offset = place;
	if (!block)
		*len = 0;
	return judge(u, result, err);
}

bool tr_unpacker_release(struct tr_unpacker *u)
{
	uint64_t behind = u->begin + (uint64_t)archive_filter_bytes(u->archive, -1);
	if (behind > u->in->offset && behind - u->in->offset <= u->lent)
		tr_input_skip(u->in, (size_t)(behind - u->in->offset));
	u->lent = 0;
	u->broken = true;
	return u->in->offset == behind;
}

void tr_unpacker_free(struct tr_unpacker *u)
{
	if (!u)
		return;
	archive_read_free(u->archive);
	archive_entry_free(u->entry);
	free_locale(u->locale);
	free(u->spool_block);
	free(u);
}

struct tr_packer {
	const struct kind *kind;
	struct archive *archive;
	struct archive_entry *entry;
	locale_t locale;
	struct tr_sink *sink;
	bool failed, finished; /* failed: error says why */
	struct tr_error error;
};

/*
 * libarchive never hears of a failure: after one, some of its formats
 * do not free their compressor. What follows goes nowhere.
 */
static la_ssize_t write_sink(struct archive *a, void *context, const void *data, size_t len)
{
	struct tr_packer *p = context;
	(void)a;
	if (!p->failed && !p->sink->write(p->sink, data, len, &p->error))
		p->failed = true;
	return (la_ssize_t)len;
}

/* True where libarchive is content. */
static bool done(struct tr_packer *p, la_ssize_t result, struct tr_error *err)
{
	if (result >= ARCHIVE_WARN && !p->failed)
		return true;
	const char *what = archive_error_string(p->archive);
	if (!p->failed && archive_errno(p->archive) == ENOMEM)
		tr_error_memory(&p->error);
	else if (!p->failed)
		tr_error_set(&p->error, TR_CAUSE_SYSTEM, "%s: %s", p->kind->name,
			     what ? what : "cannot write");
	p->failed = true;
	if (err)
		*err = p->error;
	return false;
}

static bool set_up(struct tr_packer *p, struct tr_error *err)
{
	if (!done(p, p->kind->set_format(p->archive), err))
		return false;
	archive_write_set_bytes_per_block(p->archive, PACK_BLOCK);
	archive_write_set_bytes_in_last_block(p->archive, p->kind->last_block);
	return done(p, archive_write_open(p->archive, p, NULL, write_sink, NULL), err);
}

struct tr_packer *tr_packer_new(const char *kind, struct tr_sink *sink, struct tr_error *err)
{
	struct tr_packer *p = calloc(1, sizeof *p);
	if (!p) {
		tr_error_memory(err);
		return NULL;
	}
	p->kind = find_kind(kind);
	p->archive = archive_write_new();
	p->entry = archive_entry_new();
	p->locale = utf8_locale();
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
	locale_t before = uselocale(p->locale);
	archive_entry_clear(p->entry);
	archive_entry_copy_pathname(p->entry, name);
	archive_entry_set_filetype(p->entry, AE_IFREG);
	archive_entry_set_perm(p->entry, 0644);
	archive_entry_set_mtime(p->entry, (time_t)mtime, 0);
	archive_entry_set_size(p->entry, size);
	bool good = done(p, archive_write_header(p->archive, p->entry), err);
	uselocale(before);
	return good;
}

bool tr_packer_put(struct tr_packer *p, const char *data, size_t len, struct tr_error *err)
{
	while (len) {
		la_ssize_t n = archive_write_data(p->archive, data, len);
		if (!done(p, n, err))
			return false;
		if (n <= 0) {
			/* more than the size that was promised */
			tr_error_set(err, TR_CAUSE_USAGE, "%s: member grew", p->kind->name);
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
	bool good = done(p, archive_write_close(p->archive), err);
	uselocale(before);
	return good;
}

void tr_packer_free(struct tr_packer *p)
{
	if (!p)
		return;
	/* it writes the end now: to nowhere, where that was not asked for */
	p->failed = p->failed || !p->finished;
	archive_write_free(p->archive);
	archive_entry_free(p->entry);
	free_locale(p->locale);
	free(p);
}

const char *tr_packer_version(void)
{
	return archive_version_details();
}
