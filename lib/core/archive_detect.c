/* SPDX-License-Identifier: MIT */
/*
 * The bytes of archives, without libarchive: recognises archives, and finds the members and the
 * directory of a zip where libarchive cannot go on.
 */
#include <string.h>

#include "core/archive.h"
#include "core/codec_private.h"
#include "core/text.h"
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

/*
 * Whether the input is a tar archive. Tar has no magic in its oldest form, so two of three signs
 * are required.
 */
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

bool tr_zip_find_member(struct tr_input *in)
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
 * Skips the checksum and the sizes (of 32 or 64 bits) that may follow the data of a member.
 * libarchive 3.7 has not read them when the caller skipped the last member.
 */
static void skip_descriptor(struct tr_input *in)
{
	enum { SMALL = 16, WIDE = 24 };

	if (!tr_input_more(in, SMALL) || memcmp(in->pos, "PK\007\010", 4) != 0)
		return;
	bool wide = tr_input_more(in, WIDE + 2) && memcmp(in->pos + SMALL, "PK", 2) != 0 &&
		    memcmp(in->pos + WIDE, "PK", 2) == 0;
	tr_input_skip(in, wide ? WIDE : SMALL);
}

int64_t tr_zip_skip_directory(struct tr_input *in)
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
	enum { PARTS = sizeof parts / sizeof *parts, WIDE_END = 1, END = PARTS - 1 };
	enum { COUNT_AT = 10, WIDE_COUNT_AT = 32, WIDE_COUNT_SIZE = 8 };
	int64_t wide_count = -1;

	skip_descriptor(in);
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
		if (i == WIDE_END && tr_input_more(in, WIDE_COUNT_AT + WIDE_COUNT_SIZE))
			wide_count = (int64_t)tr_wire_u64(in->pos + WIDE_COUNT_AT, false);
		if (!skip_bytes(in, n))
			return -1;
		if (i == END)
			return count == UINT16_MAX && wide_count > count ? wide_count : count;
	}
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
