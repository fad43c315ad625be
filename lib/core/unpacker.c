#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "core/libarchive.h"
#include "core/packer.h"

enum { SPOOL_BLOCK = 64 << 10, KEPT_MAX = 4096 };

struct tr_unpacker {
	struct tr_libarchive lib;
	struct tr_kind kind;
	struct archive *archive;
	struct archive_entry *entry; /* libarchive does not check its own for NULL */
	locale_t locale;
	struct tr_input *in;
	uint64_t begin; /* in's offset at first */
	size_t lent;	/* bytes at the start of in's window that libarchive has seen */
	struct tr_spool *spool;
	uint64_t spool_offset;
	char *spool_block;
	bool opened, failed, broken; /* failed: error says why; broken: libarchive gives no more */
	struct tr_error error;
};

/* Skips what libarchive has used. False: in is already further than that. */
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
 * libarchive copies what it has seen and not used, for example the first part of a header. It stays
 * in the window too: at the end of the archive, what follows has to be read from there.
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
	/* a hostile offset stops at the ends: reading there finds nothing */
	if (offset < -base)
		offset = -base;
	if (offset > size - base)
		offset = size - base;
	u->spool_offset = (uint64_t)(base + offset);
	return base + offset;
}

/* What fails here fails for want of memory. */
static bool set_up(struct tr_unpacker *u)
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
	if (!tr_libarchive_load(&u->lib, err)) {
		free(u);
		return NULL;
	}
	u->kind = tr_kind_find(&u->lib, kind);
	u->archive = u->lib.archive_read_new();
	u->entry = u->lib.archive_entry_new();
	u->locale = tr_utf8_locale();
	u->in = in;
	u->begin = in->offset;
	u->spool = spool;
	u->spool_block = spool ? malloc(SPOOL_BLOCK) : NULL;
	if (u->archive && u->entry && (!spool || u->spool_block) && set_up(u))
		return u;
	tr_error_memory(err);
	tr_unpacker_free(u);
	return NULL;
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
		result = ARCHIVE_OK; /* some attribute that nobody asks for */
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
	tr_utf8_locale_free(u->locale);
	free(u->spool_block);
	free(u);
}
