/*
 * Strings as apitrace shows them: printable ASCII and TAB as they are, no CR,
 * everything else in octal of a kind. Its third digit is a repetition of the
 * second, and a zero is left out; so 0xc3 is \3 and 0xa9 is \551.
 */
#include "core/utf8.h"
#include "record/string_scan.h"
#include "format/apitrace/text_private.h"

static void put_octal(uint64_t code, bool fixed, struct tr_buffer *to)
{
	char digits[24];
	char *p = digits + sizeof digits;

	if (fixed) {
		for (int i = 0; i < 3 || code; i++, code >>= 3)
			*--p = (char)('0' + (code & 7));
	} else {
		unsigned second = code >> 3 & 7;
		*--p = (char)('0' + (code & 7));
		if (second) {
			*--p = (char)('0' + second);
			*--p = (char)('0' + second);
		}
	}
	*--p = '\\';
	tr_buffer_put(to, p, (size_t)(digits + sizeof digits - p));
}

/* One byte or unit that is no plain character. False: C's strings end here. */
static bool put_unit(const struct tr_apitrace_text *text, uint64_t code, struct tr_buffer *to)
{
	bool fixed = text->config.fixed_octal;

	if (!fixed)
		code = (uint32_t)code; /* a wchar_t */
	if (code == 0 && !fixed)
		return false;
	if (code == '"' || code == '\\') {
		tr_buffer_put_byte(to, '\\');
		tr_buffer_put_byte(to, (char)code);
	} else if ((code >= 0x20 && code <= 0x7e) || code == '\t') {
		tr_buffer_put_byte(to, (char)code);
	} else if (code == '\n' && text->config.multiline) {
		/* coloured line by line, for pagers */
		tr_buffer_put_text(to, text->colors.normal);
		tr_buffer_put_byte(to, '\n');
		tr_buffer_put_text(to, text->colors.literal);
	} else if (code == '\n') {
		tr_buffer_put_literal(to, "\\n");
	} else if (code != '\r' || fixed) {
		put_octal(code, fixed, to);
	}
	return true;
}

/* The bytes of a character of a narrow string; none of them is one by itself. */
static void put_bytes(const struct tr_apitrace_text *text, uint32_t code, struct tr_buffer *to)
{
	/* what is no character, a lone surrogate, has the form of one with three bytes */
	char bytes[4] = { (char)0xed, (char)(0x80 | (code >> 6 & 0x3f)),
			  (char)(0x80 | (code & 0x3f)) };
	bool surrogate = code >= 0xd800 && code < 0xe000;
	unsigned len = surrogate ? 3 : tr_utf8_encode(code, bytes);

	for (unsigned i = 0; i < len; i++)
		put_unit(text, (unsigned char)bytes[i], to);
}

/* What an escape stands for. False: nothing more is to be shown. */
static bool put_escape(const struct tr_apitrace_text *text, const char **p, const char *end,
		       bool wide, struct tr_buffer *to)
{
	struct tr_escape escape;

	if (!tr_escape_read(*p, end, wide, &escape))
		return false; /* no value has that */
	*p += escape.len;
	if (wide || escape.type == TR_ESCAPE_BYTE || escape.code < 0x80)
		return put_unit(text, escape.code, to);
	put_bytes(text, (uint32_t)escape.code, to);
	return true;
}

/* What stands raw and is no plain character: beyond ASCII. */
static void put_raw(const struct tr_apitrace_text *text, const char **p, const char *end, bool wide,
		    struct tr_buffer *to)
{
	unsigned len = wide ? tr_utf8_length(*p, end) : 0;

	put_unit(text, len ? tr_utf8_decode(*p, len) : (unsigned char)**p, to);
	*p += len ? len : 1;
}

void tr_apitrace_text_string(struct tr_apitrace_text *text, struct tr_text spelling, bool wide)
{
	struct tr_buffer *to = &text->line;
	const char *p = spelling.data, *end = p + spelling.len;
	bool more = true;

	tr_buffer_put_byte(to, '"');
	while (more && p < end) {
		const char *special = tr_string_special(p, end);
		tr_buffer_put(to, p, (size_t)(special - p));
		p = special;
		if (p == end)
			break;
		if (*p == '\\')
			more = put_escape(text, &p, end, wide, to);
		else
			put_raw(text, &p, end, wide, to);
	}
	tr_buffer_put_byte(to, '"');
}
