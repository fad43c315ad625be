/* SPDX-License-Identifier: MIT */
#include "diff/temporary.h"

/* Where a name is that of a temporary file. */
enum place {
	ANYWHERE,
	DIGITS, /* anywhere, if the random part is a number */
	MIXED,	/* in a temporary directory, or if the random part is no word, as wF3a9x */
	PLAIN,	/* the same, but not of a directory */
	GCC, /* the same, but elsewhere only with an extension that sources and objects have not */
	CONFIGURE, /* a number; without an extension of its own, one that is no year or version */
	IN_TMP,	   /* only there */
	ROOT,	   /* in the root directory, if it is a number */
};

#define SHAPE(prefix, least, most, extension, place) \
	{ \
		{ prefix, sizeof(prefix) - 1 }, least, most, extension, place \
	}
/* The text before the random part, how long that part is, and whether an extension may follow it. */
static const struct {
	struct tr_text prefix;
	size_t least, most;
	bool extension;
	enum place place;
} shapes[] = {
	SHAPE("cc", 6, 6, true, GCC),		     /* gcc */
	SHAPE("st", 6, 6, false, PLAIN),	     /* ar, strip, objcopy */
	SHAPE("sed", 6, 6, false, PLAIN),	     /* sed -i */
	SHAPE("sort", 6, 6, false, IN_TMP),	     /* sort */
	SHAPE("conf", 6, 6, false, MIXED),	     /* config.status */
	SHAPE("conf", 2, 8, true, CONFIGURE),	     /* configure */
	SHAPE("cmTC_", 5, 5, true, ANYWHERE),	     /* CMake */
	SHAPE("TryCompile-", 6, 6, false, ANYWHERE), /* CMake */
	SHAPE("tmp.", 6, 12, false, MIXED),	     /* mktemp */
	SHAPE("tmp", 8, 8, true, IN_TMP),	     /* Python */
	SHAPE("tmp_obj_", 6, 6, false, ANYWHERE),    /* git */
	SHAPE(".tmp_", 1, 8, true, DIGITS),	     /* kbuild */
	SHAPE("rustc", 6, 6, false, IN_TMP),	     /* rustc */
	SHAPE("rmeta", 6, 6, false, MIXED),	     /* rustc */
	SHAPE("GMfifo", 1, 10, false, DIGITS),	     /* the job server of make */
	SHAPE("pipe:[", 1, 20, false, DIGITS),	     /* the kernel, for what has no path */
	SHAPE("socket:[", 1, 20, false, DIGITS),
	SHAPE("UNIX:[", 1, 20, false, DIGITS),
	SHAPE("UNIX-STREAM:[", 1, 20, false, DIGITS),
	SHAPE("UNIX-DGRAM:[", 1, 20, false, DIGITS),
	SHAPE("NETLINK:[", 1, 20, false, DIGITS),
	SHAPE("proc/", 1, 10, false, ROOT),
};

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

/* True if it has capital letters and others, and they are no word such as Config. */
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

/* True if a directory that leads to a name is a temporary one: /tmp, /var/tmp, tmp.d4Ge9x. */
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

/* True if one of these extensions begins at `after`, behind the random part of a name. */
static bool has_extension(const char *after, const char *end, const char *const *list)
{
	for (; *list; list++) {
		struct tr_text one = tr_text_from(*list);
		if (tr_text_starts(tr_text_span(after, end), one) &&
		    (after + one.len == end || !tr_is_alphanumeric(after[one.len])))
			return true;
	}
	return false;
}

/* True if the place allows a name with this random part. */
static bool is_at(enum place place, struct tr_text random, const char *begin, const char *name,
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

size_t tr_temporary_begin(const char *begin, const char *name, const char *end, size_t *before)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes && name + 1 < end; i++) {
		struct tr_text prefix = shapes[i].prefix;
		enum place place = shapes[i].place;
		if (name[0] != prefix.data[0] || name[1] != prefix.data[1] ||
		    !tr_text_starts(tr_text_span(name, end), prefix))
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
		if (len < shapes[i].least || len > shapes[i].most)
			continue;
		if (after < end && tr_in_file_name(*after) &&
		    !(shapes[i].extension && *after == '.'))
			continue;
		if (!is_at(place, random, begin, name, end))
			continue;
		*before = prefix.len;
		return len;
	}
	return 0;
}

/* clang: -1a2b3c.o in a temporary directory, -1a2b3c4d.o.tmp beside the output. */
static const char *find_clang(const char *name, const char *end, size_t len)
{
	for (const char *p = end; --p > name;) {
		size_t digits = *p == '-' ? count_hex(p + 1, end) : 0;
		if (digits && digits == len && p + 1 + len < end && p[1 + len] == '.')
			return p + 1;
	}
	return NULL;
}

size_t tr_temporary_end(const char *begin, const char *name, const char *end, size_t *before)
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
