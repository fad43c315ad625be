/* C strings as strace prints them: see value.h. */
#include "format/strace/value.h"

#include "core/hex.h"
#include "format/strace/scan.h"
#include "record/literal.h"
#include "record/string_scan.h"

/* The byte that the escape at p, a backslash, stands for; *p moves behind it. */
static unsigned char read_escape(const char **p, const char *end)
{
	static const char letters[] = "ntrvfab", meanings[] = "\n\t\r\v\f\a\b";
	const char *q = *p + 1;
	const char *letter;

	if (q == end) {
		*p = q;
		return '\\';
	}
	if (*q == 'x' && end - q > 2 && tr_hex_digit(q[1]) >= 0 && tr_hex_digit(q[2]) >= 0) {
		*p = q + 3;
		return (unsigned char)(tr_hex_digit(q[1]) << 4 | tr_hex_digit(q[2]));
	}
	if (*q >= '0' && *q <= '7') {
		unsigned byte = 0;
		for (int i = 0; i < 3 && q < end && *q >= '0' && *q <= '7'; i++)
			byte = byte << 3 | (unsigned)(*q++ - '0');
		*p = q;
		return (unsigned char)byte;
	}
	*p = q + 1;
	letter = *q ? strchr(letters, *q) : NULL;
	return letter ? (unsigned char)meanings[letter - letters] : (unsigned char)*q;
}

void tr_strace_bytes(struct tr_text body, struct tr_buffer *to)
{
	const char *p = body.data, *end = p + body.len;

	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		tr_buffer_put(to, p, (size_t)(stop - p));
		p = stop;
		if (p < end)
			tr_buffer_put_byte(to, (char)read_escape(&p, end));
	}
}

/*
 * Escapes that have their own meaning in both: what stands there can stay.
 * Others are a run of bytes, which may make up characters together.
 */
static bool is_shared_escape(const char *p, const char *end)
{
	return *p == '\\' && end - p > 1 &&
	       (p[1] == '"' || p[1] == '\\' || p[1] == 'n' || p[1] == 't' || p[1] == 'r' ||
		p[1] == 'f');
}

static const char *put_run(const char *p, const char *end, struct tr_buffer *to)
{
	enum { RUN = 64, CHARACTER = 4 }; /* bytes that are escaped at a time, and of a character */
	char run[RUN];
	size_t len = 0;

	while (p < end && *p != '"' && tr_string_is_special((unsigned char)*p) &&
	       !is_shared_escape(p, end)) {
		unsigned char byte = (unsigned char)*p;
		if (*p == '\\')
			byte = read_escape(&p, end);
		else
			p++;
		bool goes_on = (byte & 0xc0) == 0x80; /* UTF-8 */
		if (len == RUN || (len >= RUN - CHARACTER && !goes_on)) {
			tr_string_escape((struct tr_text){ run, len }, to);
			len = 0;
		}
		run[len++] = (char)byte;
	}
	tr_string_escape((struct tr_text){ run, len }, to);
	return p;
}

const char *tr_strace_spell(const char *p, const char *end, struct tr_buffer *to)
{
	const char *copied = p;

	while ((p = tr_string_special(p, end)) < end && *p != '"') {
		if (is_shared_escape(p, end)) {
			p += 2;
			continue;
		}
		tr_buffer_put(to, copied, (size_t)(p - copied));
		copied = p = put_run(p, end, to);
	}
	tr_buffer_put(to, copied, (size_t)(p - copied));
	return p;
}

bool tr_strace_is_string(struct tr_text text, struct tr_text *body, bool *cut)
{
	const char *end = text.data + text.len;

	if (text.len < 2 || *text.data != '"')
		return false;
	const char *behind = tr_strace_string_end(text.data + 1, end);
	if (!behind)
		return false;
	*body = tr_text_span(text.data + 1, behind - 1);
	*cut = tr_strace_take(&behind, end, TR_TEXT("..."));
	return behind == end;
}
