/* Reading archives: see archive.h. What libarchive does is behind packer.h. */
#include "core/archive.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec_stream.h"
#include "core/packer.h"

enum { TAR_BLOCK = 512, NAME_SIZE = 100, CHECKSUM_AT = 148, CHECKSUM_SIZE = 8, USTAR_AT = 257 };

/* A header's numbers: octal digits, with blanks before and a blank or NUL behind. */
static bool read_octal(const char *p, size_t len, unsigned *value)
{
	size_t i = 0, digits = 0;
	*value = 0;
	while (i < len && p[i] == ' ')
		i++;
	for (; i < len && p[i] >= '0' && p[i] <= '7'; i++, digits++)
		*value = *value << 3 | (unsigned)(p[i] - '0');
	return digits > 0 && digits < 8 && (i == len || p[i] == ' ' || p[i] == '\0');
}

/* Tars before 1988 have no magic; all have a sum of the header's bytes, itself taken as blanks. */
static bool tar_sum_is_right(const char *block)
{
	unsigned want, sum = CHECKSUM_SIZE * ' ';
	int sum_signed = CHECKSUM_SIZE * ' '; /* some tars have added signed chars */
	for (unsigned i = 0; i < TAR_BLOCK; i++) {
		if (i == CHECKSUM_AT)
			i += CHECKSUM_SIZE;
		sum += (unsigned char)block[i];
		sum_signed += (signed char)block[i];
	}
	return read_octal(block + CHECKSUM_AT, CHECKSUM_SIZE, &want) &&
	       (want == sum || (int)want == sum_signed);
}

/*
 * Text that comes slowly must not wait for 512 bytes: a name is followed by
 * nothing but NULs, and nobody puts a line feed into one.
 */
static bool may_be_tar_name(struct tr_text start)
{
	size_t len = start.len < NAME_SIZE ? start.len : NAME_SIZE;
	const char *nul = memchr(start.data, '\0', len);
	size_t name = nul ? (size_t)(nul - start.data) : len;
	for (size_t i = 0; i < name; i++)
		if ((unsigned char)start.data[i] < ' ')
			return false;
	for (size_t i = name; i < len; i++)
		if (start.data[i] != '\0')
			return false;
	return name > 0;
}

static bool is_tar(struct tr_input *in)
{
	for (size_t want = 1; want < TAR_BLOCK; want = tr_input_available(in) + 1)
		if (!tr_input_more(in, want) ||
		    !may_be_tar_name((struct tr_text){ in->pos, tr_input_available(in) }))
			return false;
	return tr_input_more(in, TAR_BLOCK) &&
	       (memcmp(in->pos + USTAR_AT, "ustar", 5) == 0 || tar_sum_is_right(in->pos));
}

const char *tr_archive_detect(struct tr_input *in)
{
	static const struct {
		const char *format;
		struct tr_text magic;
	} magics[] = {
		{ "zip", { "PK\003\004", 4 } },
		{ "zip", { "PK\005\006", 4 } }, /* an empty one */
		{ "cpio", { "070701", 6 } },
		{ "cpio", { "070702", 6 } },
		{ "cpio", { "070707", 6 } },
		{ "cpio", { "\xc7\x71", 2 } },
		{ "cpio", { "\x71\xc7", 2 } },
		{ "7z", { "7z\xbc\xaf\x27\x1c", 6 } },
	};
	bool unsure = true;
	for (size_t want = 1; unsure && tr_input_more(in, want);
	     want = tr_input_available(in) + 1) {
		struct tr_text start = { in->pos, tr_input_available(in) };
		unsure = false;
		for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
			int bits = tr_codec_magic(start, magics[i].magic);
			if (bits > 0)
				return magics[i].format;
			unsure = unsure || bits == TR_CODEC_MORE;
		}
	}
	return is_tar(in) ? "tar" : NULL;
}

struct tr_archive {
	const char *format;
	struct tr_input *in;
	struct tr_limits limits;
	struct tr_spool *spool; /* of a 7z */
	struct tr_unpacker *unpacker;
	char *name;    /* of the current member */
	uint64_t made; /* bytes of members, for the ratio */
	bool stopped;  /* beyond that limit: even skipping a member may mean to unpack it */
};

/* One member's bytes. */
struct member {
	struct tr_source base;
	struct tr_archive *archive;
	struct tr_text block;  /* what is left of the last one */
	uint64_t offset;       /* in the member, of what comes next */
	uint64_t block_offset; /* of the block: zeros up to there */
	enum tr_status after;  /* what came with the block */
	struct tr_error error;
};

static bool spool_all(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	while (tr_input_more(in, 1)) {
		if (!tr_spool_write(archive->spool, in->pos, tr_input_available(in), err))
			return false;
		tr_input_skip(in, tr_input_available(in));
	}
	if (in->damaged)
		tr_input_error(in, err);
	return !in->damaged;
}

struct tr_archive *tr_archive_open(struct tr_input *in, const struct tr_limits *limits,
				   struct tr_error *err)
{
	const char *format = tr_archive_detect(in);
	struct tr_archive *archive = calloc(1, sizeof *archive);
	if (!archive || !format) {
		if (archive)
			tr_error_set(err, TR_CAUSE_INPUT, "not an archive");
		else
			tr_error_memory(err);
		tr_input_free(in);
		free(archive);
		return NULL;
	}
	*archive = (struct tr_archive){ .format = format, .in = in, .limits = *limits };
	bool seeks = strcmp(format, "7z") == 0;
	if (seeks)
		archive->spool = tr_spool_new(limits->max_spool);
	if (archive->spool && !spool_all(archive, err)) {
		tr_archive_free(archive);
		return NULL;
	}
	if (!seeks || archive->spool)
		archive->unpacker = tr_unpacker_new(format, in, archive->spool);
	if (!archive->unpacker) {
		tr_archive_free(archive);
		tr_error_memory(err);
		return NULL;
	}
	return archive;
}

const char *tr_archive_format(const struct tr_archive *archive)
{
	return archive->format;
}

enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err)
{
	struct tr_unpacked entry;
	enum tr_status status;
	if (archive->stopped)
		return TR_END; /* the member's reader was told why */
	do
		status = tr_unpacker_next(archive->unpacker, &entry, err);
	while (status == TR_OK && !entry.regular);
	if (status != TR_OK)
		return status;
	/* with data it is a file like others: cpio puts it behind the last name */
	if (entry.hard_link && entry.size <= 0) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the same file as %s, skipped", entry.name,
			     entry.hard_link);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (entry.encrypted) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: is encrypted", entry.name);
		return TR_WARN;
	}
	free(archive->name);
	archive->name = strdup(entry.name);
	if (!archive->name) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	*member = (struct tr_archive_member){
		.name = archive->name,
		.size = entry.size,
		.mtime = entry.mtime,
	};
	return TR_OK;
}

static bool next_block(struct member *m)
{
	while (m->after == TR_OK && m->block.len == 0) {
		int64_t offset;
		m->after = tr_unpacker_block(m->archive->unpacker, &m->block.data, &m->block.len,
					     &offset, &m->error);
		/* a block that lies before what was given: nothing sane has that */
		m->block_offset = m->offset;
		if (offset > 0 && (uint64_t)offset > m->offset)
			m->block_offset = (uint64_t)offset;
	}
	return m->block.len > 0;
}

/* The end may lie behind the last block: a sparse file's tail comes as an empty block. */
static size_t zeros_before_block(const struct member *m, size_t cap)
{
	uint64_t hole = m->block_offset - m->offset;
	return hole < cap ? (size_t)hole : cap;
}

/* Beyond --max-ratio. */
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
	size_t n = zeros_before_block(m, cap);
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

static void member_interrupt(struct tr_source *source)
{
	tr_input_interrupt(((struct member *)source)->archive->in);
}

struct tr_source *tr_archive_source(struct tr_archive *archive)
{
	struct member *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	*m = (struct member){
		.base = {
			.read = member_read,
			.would_wait = member_would_wait,
			.close = member_close,
			.raw_offset = member_raw_offset,
			.interrupt = member_interrupt,
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
	tr_unpacker_free(archive->unpacker);
	tr_spool_free(archive->spool);
	tr_input_free(archive->in);
	free(archive->name);
	free(archive);
}

const char *tr_archive_version(void)
{
	return tr_packer_version();
}
