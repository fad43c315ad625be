#include "config.h"

#include "core/packer.h"

#include <errno.h>
#include <stdlib.h>

#include "core/libarchive.h"

enum { PACK_BLOCK = 64 << 10 };

struct tr_packer {
	struct tr_libarchive lib;
	struct tr_kind kind;
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
	if (!tr_libarchive_load(&p->lib, err)) {
		free(p);
		return NULL;
	}
	p->kind = tr_kind_find(&p->lib, kind);
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
			/* more than the size that was promised */
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
	/* it writes the end now: to nowhere, where that was not asked for */
	p->failed = p->failed || !p->finished;
	p->lib.archive_write_free(p->archive);
	p->lib.archive_entry_free(p->entry);
	tr_utf8_locale_free(p->locale);
	free(p);
}

const char *tr_packer_version(void)
{
	struct tr_libarchive lib;
	return tr_libarchive_load(&lib, NULL) ? lib.archive_version_details()
					      : TREC_LIBARCHIVE " cannot be used";
}
