/* SPDX-License-Identifier: MIT */
#include "format/etrace/line.h"

#include "core/text.h"

/* Bytes in front of a line that trace_pipe may have printed: command, pid, flags, time. */
enum { PREFIX_MAX = 256 };

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets a bit for the first byte that is above 9, and maybe for some after it. */
static inline uint64_t other_bytes(uint64_t bytes)
{
	return ((bytes + EACH(0x76)) | bytes) & EACH(0x80);
}

/* The number whose digits are bytes of 0 to 9: joins two, four, then eight of them at a time. */
static inline uint64_t sum_digits(uint64_t bytes)
{
	const uint64_t mask = UINT64_C(0x000000ff000000ff);

	bytes = bytes * 10 + (bytes >> 8);
	return ((bytes & mask) * UINT64_C(0x000f424000000064) +
		(bytes >> 16 & mask) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* Returns how many of the eight bytes at p are digits, and sets their number, all at once. */
static inline unsigned eight_digits(const char *p, uint64_t *number)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof bytes);
	bytes ^= EACH('0');
	uint64_t others = other_bytes(bytes);
	unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
	/* zeros in front make it eight of them */
	*number = sum_digits(count ? bytes << (64 - 8 * count) : 0);
	return count;
}

/* Reads any digits, one by one. Returns their end; NULL: they are too many. */
static const char *slow_digits(const char *p, const char *end, uint64_t *number)
{
	enum { SAFE = 19 }; /* digits that always fit */
	const char *safe = end - p < SAFE ? end : p + SAFE;
	uint64_t n = 0;

	for (; p < safe && (unsigned char)(*p - '0') <= 9; p++)
		n = n * 10 + (unsigned char)(*p - '0');
	for (; p < end && (unsigned char)(*p - '0') <= 9; p++) {
		unsigned digit = (unsigned char)(*p - '0');
		if (n > (UINT64_MAX - digit) / 10)
			return NULL;
		n = n * 10 + digit;
	}
	*number = n;
	return p;
}

/* Looks at up to TR_INPUT_PAD bytes after end. */
static inline const char *digits(const char *p, const char *end, uint64_t *number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	static const uint64_t powers[] = { 1,	   10,	    100,      1000,	10000,
					   100000, 1000000, 10000000, 100000000 };
	uint64_t low;
	unsigned count = eight_digits(p, number);
	const char *after = p + count;

	if (count == 8) {
		count = eight_digits(p + 8, &low);
		*number = *number * powers[count] + low;
		after += count;
	}
	if (count < 8 && after <= end)
		return after;
#endif
	return slow_digits(p, end, number);
}

const char *tr_etrace_digits(const char *p, const char *end, uint64_t *number)
{
	return digits(p, end, number);
}

/* Reads digits up to the byte `stop` and returns what follows it; NULL: bad or too many. */
static inline const char *number_to(const char *p, const char *end, char stop, uint64_t *number,
				    bool *padded)
{
	const char *after = digits(p, end, number);

	if (!after || after == p || after == end || *after != stop)
		return NULL;
	if (*p == '0' && after - p > 1)
		*padded = true;
	return after + 1;
}

bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded)
{
	const char *end = text.data + text.len;

	if (text.len == 0 || slow_digits(text.data, end, number) != end)
		return false;
	if (*text.data == '0' && text.len > 1)
		*padded = true;
	return true;
}

/* Reads upid, cpu and seconds from p on; NULL: they are not there. */
static const char *read_head(const char *p, const char *end, struct tr_etrace_line *line)
{
	line->padded = false;
	if ((p = number_to(p, end, ',', &line->upid, &line->padded)) &&
	    (p = number_to(p, end, ',', &line->cpu, &line->padded)))
		p = number_to(p, end, ',', &line->sec, &line->padded);
	/* the tracer prints numbers with a sign, and none of these is below 0 */
	return p && line->upid <= INT64_MAX && line->cpu <= INT64_MAX ? p : NULL;
}

/* The bytes that tags consist of. */
static const bool tag_bytes[256] = {
	['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true
};

/* Returns the first bar or bracket from p on, or end. */
static const char *find_mark(const char *p, const char *end)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('[')));
	unsigned mask = (unsigned)_mm_movemask_epi8(marks);
	if (mask) {
		p += __builtin_ctz(mask);
		return p < end ? p : end;
	}
#endif
	while (p < end && *p != '|' && *p != '[')
		p++;
	return p;
}

static bool is_word(struct tr_text text)
{
	size_t i = 0;

	while (i < text.len && tag_bytes[(unsigned char)text.data[i]])
		i++;
	return text.len && i == text.len;
}

/* Reads the tag and what follows it. False: there is no tag. */
static bool read_data(const char *p, const char *end, struct tr_etrace_line *line)
{
	const char *mark = find_mark(p, end);

	line->tag = tr_text_span(p, mark);
	line->index = 0;
	line->known = line->tag.len ? tr_etrace_tag_find(line->tag, &line->ended) : NULL;
	if (!line->known && !is_word(line->tag))
		return false;
	if (mark == end) {
		line->form = TR_ETRACE_BARE;
		line->text = tr_text_span(end, end);
		return true;
	}
	line->form = *mark == '|' ? TR_ETRACE_BAR : TR_ETRACE_PART;
	p = mark + 1;
	if (line->form == TR_ETRACE_PART)
		p = number_to(p, end, ']', &line->index, &line->padded);
	line->text = tr_text_span(p ? p : end, end);
	return p && line->index <= INT64_MAX;
}

/* Reads nine digits and the "!" after them, as nearly all nanoseconds are. False: they differ. */
static inline bool nine_digits(const char *p, uint64_t *number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	enum { DIGITS = 9 };
	unsigned last = (unsigned char)(p[DIGITS - 1] - '0');
	uint64_t bytes;

	memcpy(&bytes, p, sizeof bytes);
	bytes ^= EACH('0');
	*number = sum_digits(bytes) * 10 + last;
	return p[DIGITS] == '!' && last <= 9 && *p != '0' && !other_bytes(bytes);
#else
	(void)p;
	(void)number;
	return false;
#endif
}

/* Reads everything after the head. */
static bool read_rest(const char *p, struct tr_etrace_line *line)
{
	const char *end = line->whole.data + line->whole.len;

	if (end - p >= 10 && nine_digits(p, &line->nsec))
		p += 10;
	else
		p = number_to(p, end, '!', &line->nsec, &line->padded);
	if (!p || line->nsec >= TR_ETRACE_NANOSECONDS || !read_data(p, end, line))
		return false;
	line->type = TR_ETRACE_EVENT;
	return true;
}

/* Tries the bytes from p on, after the prefix. */
static bool read_event(const char *p, struct tr_etrace_line *line, struct tr_etrace_head *head)
{
	const char *begin = line->whole.data;
	const char *rest = read_head(p, begin + line->whole.len, line);

	if (!rest)
		return false;
	line->prefix = tr_text_span(begin, p);
	size_t len = (size_t)(rest - begin);
	if (head && len <= sizeof head->text) {
		memcpy(head->text, begin, len);
		head->len = len;
		head->padded = line->padded;
		head->upid = line->upid;
		head->cpu = line->cpu;
		head->sec = line->sec;
		head->prefix = line->prefix.len;
	}
	return read_rest(rest, line);
}

/* Whether the line, which is longer, begins as the head. The bytes compared can be read. */
static inline bool begins_as(const char *line, const struct tr_etrace_head *head)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	enum { BOTH = 32 };
	unsigned equal = 0;
	for (unsigned i = 0; i < BOTH; i += 16) {
		__m128i one = _mm_loadu_si128((const __m128i *)(const void *)(line + i));
		__m128i other = _mm_loadu_si128((const __m128i *)(const void *)(head->text + i));
		equal |= (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) << i;
	}
	if (head->len < BOTH) {
		unsigned all = (1u << head->len) - 1;
		return (equal & all) == all;
	}
#endif
	return memcmp(line, head->text, head->len) == 0;
}

/* Reads a line that begins as the last one. */
static bool read_again(const struct tr_etrace_head *head, struct tr_etrace_line *line)
{
	const char *begin = line->whole.data;

	line->prefix = tr_text_span(begin, begin + head->prefix);
	line->padded = head->padded;
	line->upid = head->upid;
	line->cpu = head->cpu;
	line->sec = head->sec;
	return read_rest(begin + head->len, line);
}

/* Without the option nocontext-info trace_pipe prints more in front of the "0: ". */
static bool read_after_context(struct tr_etrace_line *line)
{
	const char *p = line->whole.data;
	const char *end = p + (line->whole.len < PREFIX_MAX ? line->whole.len : PREFIX_MAX);

	while (p < end && (p = memmem(p, (size_t)(end - p), " 0: ", 4))) {
		p += 4;
		if (read_event(p, line, NULL))
			return true;
	}
	return false;
}

/* `CPU:3 [LOST 12 EVENTS]`, or without the number. */
static bool read_lost(struct tr_etrace_line *line)
{
	struct tr_text lost = TR_TEXT("[LOST "), tail = TR_TEXT("EVENTS]");
	const char *p = line->whole.data, *end = p + line->whole.len;
	bool padded = false;

	if (!tr_text_starts(line->whole, TR_TEXT("CPU:")))
		return false;
	p = number_to(p + 4, end, ' ', &line->cpu, &padded);
	if (!p || !tr_text_starts(tr_text_span(p, end), lost))
		return false;
	p += lost.len;
	const char *after = number_to(p, end, ' ', &line->lost, &padded);
	line->has_lost = after != NULL;
	line->type = TR_ETRACE_LOST;
	return tr_text_equal(tr_text_span(after ? after : p, end), tail);
}

/* Reads a line that does not begin as the one before it. */
static void read_anew(struct tr_etrace_head *head, struct tr_etrace_line *line)
{
	static const struct tr_text initcwd = { "INITCWD=", 8 };
	struct tr_text whole = line->whole;
	bool usual = tr_text_starts(whole, TR_TEXT("0: "));

	if (read_event(usual ? whole.data + 3 : whole.data, line, head))
		return;
	if (tr_text_starts(whole, initcwd)) {
		line->type = TR_ETRACE_INITCWD;
		line->text = tr_text_span(whole.data + initcwd.len, whole.data + whole.len);
		return;
	}
	if (read_lost(line) || read_after_context(line))
		return;
	line->type = TR_ETRACE_NOISE;
	line->reason = whole.len ? "no line of the tracer's" : "an empty line";
}

void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_head *head,
			 struct tr_etrace_line *line)
{
	line->whole = whole;
	line->cut = false;
	bool again = head && head->len && whole.len > head->len && begins_as(whole.data, head);
	if (!again || !read_again(head, line))
		read_anew(head, line);
}

void tr_etrace_put_any_number(int64_t number, struct tr_buffer *to)
{
	if (number < 0)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* Writes eight digits with leading zeros: splits into two, four, then eight digits at a time. */
static void put_eight(uint32_t n, char *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t x = n / 10000 | (uint64_t)(n % 10000) << 32;
	uint64_t hundreds = (x * 10486 >> 20) & UINT64_C(0x0000007f0000007f);

	x = (x - hundreds * 100) << 16 | hundreds;
	uint64_t tens = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	x = ((x - tens * 10) << 8 | tens) | EACH('0');
	memcpy(p, &x, sizeof x);
#else
	for (unsigned i = 8; i-- > 0; n /= 10)
		p[i] = (char)('0' + n % 10);
#endif
}

void tr_etrace_write_nanoseconds(uint64_t nsec, char *p)
{
	enum { EIGHT_DIGITS = 100 * 1000 * 1000 };

	*p = (char)('0' + nsec / EIGHT_DIGITS);
	put_eight((uint32_t)(nsec % EIGHT_DIGITS), p + 1);
}
