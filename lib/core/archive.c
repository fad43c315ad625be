/* SPDX-License-Identifier: MIT */

#include "core/archive.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec_private.h"
#include "core/libarchive.h"
#include "core/spool.h"
#include "core/wire.h"

/* Offsets and sizes in the header of a tar member, which begins with the name. */
enum {
	TAR_BLOCK = 512,
	NAME_SIZE = 100,
	MODE_SIZE = 8,
	CHECKSUM_AT = 148,
	CHECKSUM_SIZE = 8,
	USTAR_AT = 257,
};

/*
 * Reads a number of a header: octal digits, with blanks before them and a blank or NUL after them.
 */
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

/*
 * Tars from before 1988 have no magic, but all have a checksum of the header, computed with blanks
 * in place of the checksum itself.
 */
static bool tar_sum_is_right(const char *block)
{
	unsigned want, sum = CHECKSUM_SIZE * ' ';
	int sum_signed = CHECKSUM_SIZE * ' '; /* some old programs added signed characters */
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
 * Decides early, because text that arrives slowly must not be held back until 512 bytes are there,
 * and because text must not be taken for a tar. A header begins with a name, NULs up to byte 100,
 * and the mode, which is octal in every tar.
 */
static bool may_be_tar(struct tr_text start)
{
	size_t name = 0;
	while (name < start.len && name < NAME_SIZE && start.data[name])
		if ((unsigned char)start.data[name++] < ' ')
			return false;
	for (size_t i = name; i < start.len && i < NAME_SIZE; i++)
		if (start.data[i])
			return false;
	for (size_t i = NAME_SIZE; i < start.len && i < NAME_SIZE + MODE_SIZE; i++)
		if (start.data[i] && !strchr(" 01234567", start.data[i]))
			return false;
	return name > 0;
}

static bool is_tar(struct tr_input *in)
{
	/* a header that is complete at once may have a name of any bytes */
	bool whole = tr_input_more(in, 1) && tr_input_available(in) >= TAR_BLOCK;
	for (size_t want = 1; !whole && want < TAR_BLOCK; want = tr_input_available(in) + 1)
		if (!tr_input_more(in, want) ||
		    !may_be_tar((struct tr_text){ in->pos, tr_input_available(in) }))
			return false;
	if (!tr_input_more(in, TAR_BLOCK) || !*in->pos)
		return false;
	/* two of three are required: the magic, the checksum, a plausible name and mode */
	return (memcmp(in->pos + USTAR_AT, "ustar", 5) == 0) + tar_sum_is_right(in->pos) +
		       may_be_tar((struct tr_text){ in->pos, TAR_BLOCK }) >=
	       2;
}

/*
 * A tar without members consists of zeros: two blocks at least, one record at most. More zeros, or
 * an incomplete block, are more likely a file whose writer crashed.
 */
static bool is_empty_tar(struct tr_input *in)
{
	enum { RECORD = 10240 };
	size_t len = 0, zeros = 0;
	do {
		len = tr_input_available(in);
		while (zeros < len && in->pos[zeros] == '\0')
			zeros++;
	} while (zeros == len && len <= RECORD && tr_input_more(in, len + 1));
	return zeros == len && len >= 2 * TAR_BLOCK && len <= RECORD && len % TAR_BLOCK == 0;
}

/*
 * An old cpio has 16-bit words in either byte order: the first is the magic, the fourth the mode
 * with the type of the file.
 */
static bool is_binary_cpio(struct tr_input *in)
{
	enum { MODE_AT = 6, HEADER_SIZE = 26, BAD_TYPE = 3 };
	static const char trailer[] = "TRAILER!!!"; /* the entry at the end, which has no type */
	if (!tr_input_more(in, 2))
		return false;
	bool little = memcmp(in->pos, "\xc7\x71", 2) == 0;
	if ((!little && memcmp(in->pos, "\x71\xc7", 2) != 0) || !tr_input_more(in, HEADER_SIZE))
		return false;
	unsigned type = (unsigned char)in->pos[MODE_AT + little] >> 4;
	if (type == 0)
		return tr_input_more(in, HEADER_SIZE + sizeof trailer) &&
		       memcmp(in->pos + HEADER_SIZE, trailer, sizeof trailer) == 0;
	return type != BAD_TYPE && type <= 014;
}

const char *tr_archive_detect(struct tr_input *in)
{
	static const struct {
		const char *format;
		struct tr_text magic;
	} magics[] = {
		{ "zip", { "PK\003\004", 4 } }, { "zip", { "PK\005\006", 4 } }, /* empty zip */
		{ "cpio", { "070701", 6 } },	{ "cpio", { "070702", 6 } },
		{ "cpio", { "070707", 6 } },	{ "7z", { "7z\xbc\xaf\x27\x1c", 6 } },
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
	if (is_binary_cpio(in))
		return "cpio";
	return is_tar(in) || is_empty_tar(in) ? "tar" : NULL;
}

/* Checks the fields of a local file header: its magic alone occurs in any data. */
static bool is_zip_member(const char *header)
{
	enum { NEWEST = 63, VERSION_AT = 4, METHOD_AT = 8, NAME_LENGTH_AT = 26, METHOD_MAX = 99 };
	const unsigned char *p = (const unsigned char *)header;
	return p[VERSION_AT] <= NEWEST && p[METHOD_AT] <= METHOD_MAX && p[METHOD_AT + 1] == 0 &&
	       (p[NAME_LENGTH_AT] || p[NAME_LENGTH_AT + 1]) && p[NAME_LENGTH_AT + 1] < 4;
}

/* Skips to the next local file header, at least one byte ahead. False: there is none. */
static bool find_zip_member(struct tr_input *in)
{
	enum { MAGIC_SIZE = 4, HEADER_SIZE = 30 };
	while (tr_input_more(in, MAGIC_SIZE + 1)) {
		size_t available = tr_input_available(in);
		const char *at = memmem(in->pos + 1, available - 1, "PK\003\004", MAGIC_SIZE);
		tr_input_skip(in, at ? (size_t)(at - in->pos) : available - MAGIC_SIZE);
		if (at && tr_input_more(in, HEADER_SIZE) && is_zip_member(in->pos))
			return true;
	}
	return false;
}

/* Skips n bytes, even if the window holds fewer. */
static bool skip_bytes(struct tr_input *in, uint64_t n)
{
	while (n && tr_input_more(in, 1)) {
		size_t part = tr_input_available(in);
		if (part > n)
			part = (size_t)n;
		tr_input_skip(in, part);
		n -= part;
	}
	return n == 0;
}

/*
 * Skips the directory at the end of a zip. Returns the number of members that it lists (65535 means
 * any larger number), or -1 if the window does not begin with a complete directory.
 */
static int skip_zip_directory(struct tr_input *in)
{
	/* the parts of the directory, and the fields that give the length of the data after each */
	static const struct {
		struct tr_text magic;
		unsigned size, lengths[3], wide_length;
	} parts[] = {
		{ { "PK\001\002", 4 }, 46, { 28, 30, 32 }, 0 }, /* a member */
		{ { "PK\006\006", 4 }, 12, { 0 }, 4 },		/* the zip64 end, and its locator */
		{ { "PK\006\007", 4 }, 20, { 0 }, 0 },
		{ { "PK\005\006", 4 }, 22, { 20 }, 0 }, /* the end */
	};
	enum { PARTS = sizeof parts / sizeof *parts, END = PARTS - 1, COUNT_AT = 10 };

	for (;;) {
		size_t i = 0;
		if (!tr_input_more(in, parts[END].size))
			return -1; /* every directory ends with a part of that size */
		while (i < PARTS && memcmp(in->pos, parts[i].magic.data, 4) != 0)
			i++;
		if (i == PARTS || !tr_input_more(in, parts[i].size))
			return -1;
		uint64_t n = parts[i].size;
		for (unsigned j = 0; j < 3 && parts[i].lengths[j]; j++)
			n += tr_wire_u16(in->pos + parts[i].lengths[j], false);
		if (parts[i].wide_length)
			n += tr_wire_u64(in->pos + parts[i].wide_length, false);
		int count = tr_wire_u16(in->pos + COUNT_AT, false);
		if (!skip_bytes(in, n))
			return -1;
		if (i == END)
			return count;
	}
}

/* Reading. */

struct tr_archive {
	const char *format;
	struct tr_input *in;
	struct tr_limits limits;
	struct tr_spool *spool; /* for a 7z only */
	struct tr_unpacker *unpacker;
	char *name;    /* name of the current member */
	uint64_t made; /* bytes of all members so far, for the ratio */
	bool stopped;  /* the limit was exceeded; even skipping a member may decompress it */
	bool lost;     /* the unpacker failed; the next step searches for a member */
	bool any_lost; /* set once a member was lost in this archive */
	uint64_t seen; /* entries that the unpacker has reached */
};

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

/* Begins to read an archive of this format at the position of the window. False: err is filled. */
static bool begin(struct tr_archive *archive, const char *format, struct tr_error *err)
{
	bool seeks = strcmp(format, "7z") == 0;
	archive->format = format;
	archive->any_lost = false;
	archive->seen = 0;
	if (seeks)
		archive->spool = tr_spool_new(archive->limits.max_spool);
	if (archive->spool && !spool_all(archive, err))
		return false;
	if (!seeks || archive->spool)
		archive->unpacker = tr_unpacker_new(format, archive->in, archive->spool, err);
	else
		tr_error_memory(err);
	return archive->unpacker != NULL;
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
	*archive = (struct tr_archive){ .in = in, .limits = *limits };
	if (begin(archive, format, err))
		return archive;
	tr_archive_free(archive);
	return NULL;
}

const char *tr_archive_format(const struct tr_archive *archive)
{
	return archive->format;
}

/* libarchive stops at one damaged member, but the members of a zip are independent. */
static bool may_go_on(const struct tr_archive *archive, const struct tr_error *err)
{
	return strcmp(archive->format, "zip") == 0 && !archive->in->damaged &&
	       err->cause == TR_CAUSE_INPUT;
}

/* Finds the next member after damage. TR_END: there is none. */
static enum tr_status find_next(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	archive->lost = false;
	archive->any_lost = true;
	(void)tr_unpacker_release(archive->unpacker);
	tr_unpacker_free(archive->unpacker);
	archive->unpacker = NULL;
	bool found = find_zip_member(in);
	if (!found && in->damaged)
		tr_input_error(in, err);
	if (found)
		archive->unpacker = tr_unpacker_new(archive->format, in, NULL, err);
	archive->stopped = !archive->unpacker;
	if (archive->unpacker)
		return TR_OK;
	return found || in->damaged ? TR_FATAL : TR_END;
}

/* Steps to the next regular file. */
static enum tr_status next_file(struct tr_archive *archive, struct tr_unpacked *entry,
				struct tr_error *err)
{
	enum tr_status status = archive->lost ? find_next(archive, err) : TR_OK;
	if (status != TR_OK)
		return status;
	struct tr_error why;
	do {
		status = tr_unpacker_next(archive->unpacker, entry, &why);
		archive->seen += status == TR_OK;
	} while (status == TR_OK && !entry->regular);
	archive->lost = status == TR_FATAL && may_go_on(archive, &why);
	if (status >= TR_WARN && err)
		*err = why;
	return archive->lost ? TR_WARN : status;
}

/* Reports why nothing after this position is read. */
static enum tr_status end_badly(struct tr_archive *archive, const char *what, struct tr_error *err)
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

/* The first 32 bytes of a 7z state its length. */
static enum tr_status end_of_spool(struct tr_archive *archive, struct tr_error *err)
{
	enum { START = 32, OFFSET_AT = 12, SIZE_AT = 20 };
	char buf[START];
	const char *start = buf;
	size_t len = sizeof buf;
	if (!tr_spool_read(archive->spool, 0, buf, &start, &len, err))
		return TR_FATAL;
	if (len < sizeof buf)
		return TR_END; /* the unpacker has reported that */
	uint64_t end =
		START + tr_wire_u64(start + OFFSET_AT, false) + tr_wire_u64(start + SIZE_AT, false);
	if (tr_spool_size(archive->spool) <= end)
		return TR_END;
	return end_badly(archive, "what follows the end of the archive is not read", err);
}

/* Compares the directory of a zip, which libarchive ignores, with the members that were found. */
static enum tr_status end_of_zip(struct tr_archive *archive, struct tr_error *err)
{
	int count = skip_zip_directory(archive->in);
	if (count < 0)
		return end_badly(
			archive,
			"no whole directory follows the last member; members may be missing", err);
	if (archive->any_lost || (uint64_t)count == (archive->seen & UINT16_MAX))
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "zip: the directory at the end lists %d members, but %llu were found", count,
		     (unsigned long long)archive->seen);
	return TR_WARN;
}

/*
 * Called when the unpacker has reached the end of the archive. Reads the input to its own end,
 * where a decoder verifies its checksums. TR_OK: another archive follows. TR_END: only padding
 * follows.
 */
static enum tr_status after_end(struct tr_archive *archive, struct tr_error *err)
{
	struct tr_input *in = archive->in;
	if (archive->spool)
		return end_of_spool(archive, err);
	bool exact = tr_unpacker_release(archive->unpacker);
	tr_unpacker_free(archive->unpacker);
	archive->unpacker = NULL;
	enum tr_status status = TR_OK;
	if (strcmp(archive->format, "zip") == 0)
		status = end_of_zip(archive, err);
	if (status == TR_FATAL)
		return status;
	if (!skip_padding(in))
		return end_badly(archive, "more than 64 MiB of zeros follow the end", err);
	if (in->damaged)
		return end_badly(archive, "damaged data follows the end of the archive", err);
	bool more = tr_input_available(in) > 0;
	const char *format = more && exact ? tr_archive_detect(in) : NULL;
	if (more && !format)
		return end_badly(archive, "garbage follows the end of the archive", err);
	if (more && !begin(archive, format, err))
		return TR_FATAL;
	archive->stopped = !more;
	return more || status == TR_WARN ? status : TR_END;
}

enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err)
{
	struct tr_unpacked entry;
	if (archive->stopped)
		return TR_END; /* the cause was reported before */
	enum tr_status status;
	while ((status = next_file(archive, &entry, err)) == TR_END && archive->unpacker)
		if ((status = after_end(archive, err)) != TR_OK)
			break;
	archive->stopped |= status == TR_FATAL || status == TR_END;
	if (status != TR_OK)
		return status;
	/*
	 * an entry with data counts as a regular file: cpio stores the data with the last of
	 * several links
	 */
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
	if (!archive->name)
		return tr_error_memory(err);
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
		/*
		 * a block at an earlier offset is placed at the current one: no valid archive has
		 * such blocks
		 */
		if (m->after == TR_FATAL)
			m->archive->lost = may_go_on(m->archive, &m->error);
		m->block_offset = m->offset;
		if (offset > 0 && (uint64_t)offset > m->offset)
			m->block_offset = (uint64_t)offset;
	}
	return m->block.len > 0;
}

/*
 * The number of zeros before the next block. An empty last block at the end of a sparse file also
 * makes a hole.
 */
static size_t zeros_before_block(const struct member *m, size_t cap)
{
	uint64_t hole = m->block_offset - m->offset;
	return hole < cap ? (size_t)hole : cap;
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

/* Writing. Each member is spooled until its size is known. */

enum { COPY_SIZE = 64 << 10 };

struct tr_archive_writer {
	struct tr_sink *sink;
	struct tr_packer *packer;
};

struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err)
{
	struct tr_archive_writer *writer = malloc(sizeof *writer);
	struct tr_packer *packer = NULL;
	if (writer)
		packer = tr_packer_new(format, sink, err);
	else
		tr_error_memory(err);
	if (!packer) {
		free(writer);
		sink->close(sink);
		return NULL;
	}
	*writer = (struct tr_archive_writer){ sink, packer };
	return writer;
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

static bool member_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct member_sink *m = (struct member_sink *)sink;
	struct tr_packer *packer = m->writer->packer;
	uint64_t size = tr_spool_size(m->spool);
	char buf[COPY_SIZE];
	if (!tr_packer_begin(packer, m->name, (int64_t)size, m->mtime, err))
		return false;
	for (uint64_t offset = 0; offset < size;) {
		const char *data = NULL;
		size_t len = sizeof buf;
		if (!tr_spool_read(m->spool, offset, buf, &data, &len, err) ||
		    !tr_packer_put(packer, data, len, err))
			return false;
		offset += len;
	}
	return true;
}

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
	return tr_packer_finish(writer->packer, err) && writer->sink->finish(writer->sink, err);
}

void tr_archive_writer_free(struct tr_archive_writer *writer)
{
	if (!writer)
		return;
	tr_packer_free(writer->packer);
	writer->sink->close(writer->sink);
	free(writer);
}

const char *tr_archive_by_extension(struct tr_text path)
{
	static const struct {
		const char *extension, *format;
	} plain[] = {
		{ ".tar", "tar" },
		{ ".zip", "zip" },
		{ ".cpio", "cpio" },
		{ ".7z", "7z" },
	};
	const struct tr_codec *codec = tr_codec_by_extension(path);
	if (codec && !tr_path_ends(path, codec->extension))
		return "tar"; /* .tgz and similar */
	if (codec)
		path.len -= strlen(codec->extension);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (tr_path_ends(path, plain[i].extension))
			return plain[i].format;
	return NULL;
}
