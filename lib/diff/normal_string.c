/* SPDX-License-Identifier: MIT */
/*
 * The normal text of a string: the directories of --root are mapped, the random parts of temporary
 * file names become "*", and the user's replacements (--same) are applied.
 *
 * A temporary file is recognized by the name that a certain program gives it (gcc's ccXXXXXX.s),
 * and where such a name could also be a word, by its directory and its letters too. The cases are
 * in tests/data/diff/temporary.cases.
 */
#include "diff/normal_private.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/*
 * Returns the first of three bytes in [p, end), or end. Most texts here are so short that calling
 * memchr for each byte would take longer.
 */
static inline const char *find_any(const char *p, const char *end, char a, char b, char c)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	for (; end - p >= 16; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)),
							  _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b))),
					     _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
		unsigned mask = (unsigned)_mm_movemask_epi8(found);
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && *p != a && *p != b && *p != c)
		p++;
	return p;
}

const char *tr_normal_string_end(const char *p, const char *end)
{
	for (p++; (p = find_any(p, end, '"', '\\', '\\')) < end && *p == '\\';)
		p += 2;
	return p < end ? p + 1 : end;
}

/* Returns the end of a path component: the next slash or quote that is not escaped, or the end. */
static inline const char *component_end(const char *p, const char *end)
{
	while ((p = find_any(p, end, '"', '\\', '/')) < end && *p == '\\')
		p += 2;
	return p < end ? p : end;
}

/* Names of temporary files. */

/* Where a name of a certain shape is that of a temporary file. */
enum place {
	ANYWHERE,
	DIGITS, /* anywhere, if the random part is a number */
	MIXED,	/* in a temporary directory, or if the random part is no word, such as wF3a9x */
	PLAIN,	/* as MIXED, but not for a directory */
	GCC, /* as MIXED, but outside a temporary directory only with an extension of gcc's own */
	CONFIGURE, /* a number; if the extension is not configure's own, no year or version */
	IN_TMP,	   /* only in a temporary directory */
	ROOT,	   /* in the root directory, if the random part is a number */
};

/* The form of the temporary names that a program makes from a random part. */
struct shape {
	char prefix[13];	   /* before the random part */
	unsigned char len;	   /* of the prefix; 0 after the last shape of a list */
	unsigned char least, most; /* bytes of the random part */
	bool extension;		   /* one may follow */
	enum place place;
};

#define SHAPE(prefix, least, most, extension, place) \
	{ \
		prefix, sizeof(prefix) - 1, least, most, extension, place \
	}
#define SHAPES(...) \
	(const struct shape[]) \
	{ \
		__VA_ARGS__, SHAPE("", 0, 0, false, ANYWHERE) \
	}
/* By the first byte of their prefix. */
/* clang-format off */
static const struct shape *const shapes[256] = {
	['c'] = SHAPES(SHAPE("cc", 6, 6, true, GCC), /* gcc */
		       SHAPE("conf", 6, 6, false, MIXED), /* config.status */
		       SHAPE("conf", 2, 8, true, CONFIGURE), /* configure */
		       SHAPE("cmTC_", 5, 5, true, ANYWHERE)), /* CMake */
	['T'] = SHAPES(SHAPE("TryCompile-", 6, 6, false, ANYWHERE)), /* CMake */
	['s'] = SHAPES(SHAPE("st", 6, 6, false, PLAIN), /* ar, strip, objcopy */
		       SHAPE("sed", 6, 6, false, PLAIN), /* sed -i */
		       SHAPE("sort", 6, 6, false, IN_TMP), /* sort */
		       SHAPE("socket:[", 1, 20, false, DIGITS)), /* kernel: files without a path */
	['p'] = SHAPES(SHAPE("pipe:[", 1, 20, false, DIGITS),
		       SHAPE("proc/", 1, 10, false, ROOT)),
	['U'] = SHAPES(SHAPE("UNIX:[", 1, 20, false, DIGITS),
		       SHAPE("UNIX-STREAM:[", 1, 20, false, DIGITS),
		       SHAPE("UNIX-DGRAM:[", 1, 20, false, DIGITS)),
	['N'] = SHAPES(SHAPE("NETLINK:[", 1, 20, false, DIGITS)),
	['t'] = SHAPES(SHAPE("tmp.", 6, 12, false, MIXED), /* mktemp */
		       SHAPE("tmp", 8, 8, true, IN_TMP), /* Python */
		       SHAPE("tmp_obj_", 6, 6, false, ANYWHERE)), /* git */
	['.'] = SHAPES(SHAPE(".tmp_", 1, 8, true, DIGITS)), /* kbuild */
	['r'] = SHAPES(SHAPE("rustc", 6, 6, false, IN_TMP), /* rustc */
		       SHAPE("rmeta", 6, 6, false, MIXED)),
	['G'] = SHAPES(SHAPE("GMfifo", 1, 10, false, DIGITS)), /* the job server of make */
};
/* clang-format on */

static size_t count_alphanumeric(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && tr_is_alphanumeric(*q))
		q++;
	return (size_t)(q - p);
}

static size_t count_hex(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && ((*q >= '0' && *q <= '9') || (*q >= 'a' && *q <= 'f')))
		q++;
	return (size_t)(q - p);
}

static bool is_number(struct tr_text text)
{
	uint64_t number;

	return tr_decimal_read(text, UINT64_MAX, &number);
}

/*
 * True if the text has both upper and lower case letters or digits and is not a word such as
 * Config.
 */
static bool is_mixed(struct tr_text text)
{
	size_t capital = 0, small = 0;

	for (size_t i = 0; i < text.len; i++) {
		capital += text.data[i] >= 'A' && text.data[i] <= 'Z';
		small += text.data[i] >= 'a' && text.data[i] <= 'z';
	}
	bool word = capital == 1 && small == text.len - 1 && *text.data <= 'Z';
	return capital && capital < text.len && !word;
}

/* True if one of the directories before a name is a temporary one: /tmp, /var/tmp, tmp.d4Ge9x. */
static bool is_in_tmp(const char *begin, const char *name)
{
	for (const char *p = begin; p < name && (p = memmem(p, (size_t)(name - p), "tmp", 3));
	     p++) {
		bool after = p[3] == '/' || p[3] == '.';
		if (after && (p == begin || !tr_is_alphanumeric(p[-1])))
			return true;
	}
	return false;
}

/* True if one of these extensions begins at `after`, which is the end of the random part. */
static bool has_extension(const char *after, const char *end, const char *const *list)
{
	for (; *list; list++) {
		struct tr_text extension = tr_text_from(*list);
		if (tr_text_starts(tr_text_span(after, end), extension) &&
		    (after + extension.len == end || !tr_is_alphanumeric(after[extension.len])))
			return true;
	}
	return false;
}

/* True if a name with this random part is that of a temporary file at its place. */
static bool is_allowed(enum place place, struct tr_text random, const char *begin, const char *name,
		       const char *end)
{
	static const char *const of_gcc[] = { ".s", ".res", ".cdtor", ".lto", ".ltrans0", NULL };
	static const char *const of_configure[] = { ".dir", ".file", ".exe", NULL };
	const char *after = random.data + random.len;

	switch (place) {
	case ANYWHERE:
		return true;
	case DIGITS:
		return is_number(random);
	case ROOT:
		return is_number(random) && name - begin == 1;
	case CONFIGURE:
		return is_number(random) && (has_extension(after, end, of_configure) ||
					     (random.len > 4 && (after == end || *after != '.')));
	case MIXED:
		return is_mixed(random) || is_in_tmp(begin, name);
	case PLAIN:
		return (is_mixed(random) && (after == end || *after != '/')) ||
		       is_in_tmp(begin, name);
	case GCC:
		return (is_mixed(random) && has_extension(after, end, of_gcc)) ||
		       is_in_tmp(begin, name);
	case IN_TMP:
		break;
	}
	return is_in_tmp(begin, name);
}

/*
 * Finds the random part of a name that begins with one of the prefixes. begin: of the path; end: of
 * all that can be read, because the name may be shorter. Returns the length of the random part, or
 * 0; sets *before to the number of bytes of the name that precede it.
 */
static size_t temporary_after_prefix(const char *begin, const char *name, const char *end,
				     size_t *before)
{
	const struct shape *shape = name + 1 < end ? shapes[(unsigned char)*name] : NULL;

	for (; shape && shape->len; shape++) {
		struct tr_text prefix = { shape->prefix, shape->len };
		enum place place = shape->place;
		if (name[1] != shape->prefix[1] || !tr_text_starts(tr_text_span(name, end), prefix))
			continue;
		const char *p = name + prefix.len;
		size_t len = count_alphanumeric(p, end);
		/* Python has an underscore, too */
		while (place == IN_TMP && p + len < end && p[len] == '_')
			len += 1 + count_alphanumeric(p + len + 1, end);
		struct tr_text random = { p, len };
		const char *after = p + len;
		if (prefix.data[prefix.len - 1] == '[' && (after == end || *after != ']'))
			continue;
		if (len < shape->least || len > shape->most)
			continue;
		if (after < end && tr_is_in_file_name(*after) &&
		    !(shape->extension && *after == '.'))
			continue;
		if (!is_allowed(place, random, begin, name, end))
			continue;
		*before = prefix.len;
		return len;
	}
	return 0;
}

/* Finds len digits as clang writes them: -1a2b3c.o in /tmp, -1a2b3c4d.o.tmp beside the output. */
static const char *find_clang(const char *name, const char *end, size_t len)
{
	for (const char *p = end; --p > name;) {
		size_t digits = *p == '-' ? count_hex(p + 1, end) : 0;
		if (digits && digits == len && p + 1 + len < end && p[1 + len] == '.')
			return p + 1;
	}
	return NULL;
}

/* A quick test: false if temporary_at_end finds nothing in the name in [name, end). */
static inline bool can_end_temporary(const char *begin, const char *name, const char *end)
{
	return end - name > 8 &&
	       (end[-1] == 'p' || end[-8] == 'p' ||
		(begin[1] == 't' && memcmp(begin, "/tmp/", 5) == 0) ||
		(name - begin >= 5 && name[-2] == 'p' && memcmp(name - 5, "/tmp/", 5) == 0));
}

/* Finds the random part of the name in [name, end) by what the name ends with; see above. */
static size_t temporary_at_end(const char *begin, const char *name, const char *end, size_t *before)
{
	enum { LLD = 7, MKTEMP = 6, MKTEMP_MOST = 12, CLANG = 6, CLANG_OUTPUT = 8 };
	const char *random = NULL;
	size_t len = 0;

	if (end - name > LLD + 4 && memcmp(end - LLD - 4, ".tmp", 4) == 0 &&
	    count_hex(end - LLD, end) == LLD) {
		random = end - LLD;
		len = LLD;
	} else if (memcmp(end - 4, ".tmp", 4) == 0) {
		random = find_clang(name, end, len = CLANG_OUTPUT);
	}
	if (!random && is_in_tmp(begin, name)) {
		random = find_clang(name, end, len = CLANG);
		const char *tail = end;
		while (!random && tail > name && tr_is_alphanumeric(tail[-1]))
			tail--;
		/* mkstemp(3), with any prefix */
		if (!random && tail > name && end - tail >= MKTEMP && end - tail <= MKTEMP_MOST &&
		    is_mixed(tr_text_span(tail, end))) {
			random = tail;
			len = (size_t)(end - tail);
		}
	}
	*before = random ? (size_t)(random - name) : 0;
	return random ? len : 0;
}

/* Strings. */

/*
 * Returns the length of the directory of --root that is at p in the string that starts at `begin`,
 * and sets *to to its replacement; 0 if there is none. A path starts the string, or follows a byte
 * that no file name has, or an option of one letter (-I/srv).
 */
static size_t root_at(const struct tr_normal *n, const char *begin, const char *p, const char *end,
		      struct tr_text *to)
{
	if (p > begin && tr_is_in_file_name(p[-1]) && !(p - begin == 2 && begin[0] == '-'))
		return 0;
	for (size_t i = 0; i < n->rules->root_count; i++) {
		const struct tr_normal_root *root = &n->rules->roots[i];
		if (tr_text_starts(tr_text_span(p, end), root->from) &&
		    (p + root->from.len == end || !tr_is_in_file_name(p[root->from.len]))) {
			*to = root->to;
			return root->from.len;
		}
	}
	return 0;
}

/*
 * Reads a string up to its closing quote, or to the end, and replaces directories and the random
 * parts of temporary file names. A directory of --root starts with a slash; the name of a file
 * starts the string or follows a slash.
 */
static const char *replace_names(struct tr_normal *n, const char *begin, const char *end,
				 bool first)
{
	bool roots = first && n->rules->root_count;
	const char *p = begin;

	for (;;) {
		size_t before, len;
		struct tr_text to;
		if (roots && p < end && (len = root_at(n, begin, p, end, &to)) > 0) {
			tr_normal_flush(n, p);
			/* the directory of the second trace may be a temporary one */
			n->copied = to.data;
			replace_names(n, to.data, to.data + to.len, false);
			tr_normal_flush(n, to.data + to.len);
			n->copied = p += len;
			/* "/" is mapped as "", so the directory itself has lost its slash */
			if (!to.len && (p == end || *p != '/'))
				tr_buffer_put_byte(&n->text, '/');
			continue;
		}
		p += p < end && *p == '/';
		const char *name = p;
		len = 0;
		if (!n->rules->temporary)
			len = temporary_after_prefix(begin, p, end, &before);
		p = component_end(p, end);
		if (!len && !n->rules->temporary && can_end_temporary(begin, name, p))
			len = temporary_at_end(begin, name, p, &before);
		if (len) {
			tr_normal_flush(n, name + before);
			n->copied = name + before + len;
			tr_normal_add_file(n, (struct tr_text){ name + before, len },
					   before && name[before - 1] == '[');
			/* the prefix of a name in the root directory contains a slash */
			p = p < n->copied ? n->copied : p;
			continue;
		}
		if (p == end || *p == '"')
			return p;
	}
}

/* True if the random part of a temporary file name is in the component [name, end) of a string. */
static inline bool is_temporary(const char *begin, const char *name, const char *end,
				const char *limit)
{
	size_t before;

	return (name < end && shapes[(unsigned char)*name] &&
		temporary_after_prefix(begin, name, limit, &before)) ||
	       (can_end_temporary(begin, name, end) && temporary_at_end(begin, name, end, &before));
}

/*
 * Returns the closing quote of a string, or the end, if nothing in it can be replaced, as in most
 * strings. NULL: something may be replaced.
 */
static inline const char *skip_plain(const struct tr_normal *n, const char *begin, const char *end,
				     bool first)
{
	if (n->rules->replace || (first && n->rules->root_count))
		return NULL;
	for (const char *p = begin;; p++) {
		const char *name = p;
		p = component_end(p, end);
		if (is_temporary(begin, name, p, end))
			return NULL;
		if (p == end || *p == '"')
			return p;
	}
}

enum { BLOCK = 16 };

/* Returns a bit for each quote, slash and backslash among the first bytes of [p, end). */
static inline unsigned find_stops(const char *p, const char *end)
{
	unsigned mask = 0;

#if defined __SSE2__ && !defined TR_PORTABLE
	if (end - p >= BLOCK) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
		__m128i slashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/'));
		__m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
		return (unsigned)_mm_movemask_epi8(
			_mm_or_si128(_mm_or_si128(quotes, slashes), escapes));
	}
#endif
	for (unsigned i = 0; i < BLOCK && p + i < end; i++)
		mask |= (unsigned)(p[i] == '"' || p[i] == '/' || p[i] == '\\') << i;
	return mask;
}

/* True if a name in a map is that of a variable that contains make's job server. */
static inline bool is_for_make(const char *begin, const char *end)
{
	struct tr_text name = tr_text_span(begin, end);

	return *begin == 'M' && (tr_text_is(name, "MAKEFLAGS") || tr_text_is(name, "MFLAGS"));
}

const char *tr_normal_skip_strings(const struct tr_normal *n, const char *p, const char *end,
				   bool first)
{
	const char *begin = p + 1, *name = begin, *done = p;

	if (n->rules->replace || (first && n->rules->root_count))
		return p;
	for (const char *block = begin; block < end; block += BLOCK) {
		for (unsigned mask = find_stops(block, end); mask; mask &= mask - 1) {
			const char *stop = block + __builtin_ctz(mask);
			/* the quote that opens a string is before its first name */
			if (stop < name)
				continue;
			if (*stop == '\\' || is_temporary(begin, name, stop, end))
				return done;
			name = stop + 1;
			if (*stop == '/')
				continue;
			if (*name == ':' && is_for_make(begin, stop))
				return done;
			done = name;
			if (end - done < 2 || (*done != ',' && *done != ':') || done[1] != '"')
				return done;
			begin = name = done + 2;
			done++;
		}
	}
	return done;
}

const char *tr_normal_put_string(struct tr_normal *n, const char *p, const char *end, bool first)
{
	if (!n->rules->replace)
		return replace_names(n, p, end, first);
	tr_normal_flush(n, p);
	size_t from = n->text.len;
	p = replace_names(n, p, end, first);
	tr_normal_flush(n, p);
	if (!n->text.failed) {
		struct tr_text whole = { n->text.data + from, n->text.len - from };
		tr_buffer_reset(&n->scratch);
		if (!n->rules->replace(n->rules->context, whole, &n->scratch))
			n->failed = true;
		n->text.len = from;
		tr_buffer_put_text(&n->text, tr_buffer_text(&n->scratch));
	}
	return p;
}

void tr_normal_put_cell(struct tr_normal *n, struct tr_text cell, bool first)
{
	const char *p = cell.data, *end = p + cell.len;

	n->copied = p;
	for (;; p++) {
		const char *stop = skip_plain(n, p, end, first);
		p = stop ? stop : tr_normal_put_string(n, p, end, first);
		if (p >= end)
			return;
	}
}
