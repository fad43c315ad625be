/* One character of a JSON string: as it is, as an escape, or as the byte that is none. */
#include "core/hex.h"
#include "core/utf8.h"
#include "record/json_scan.h"

enum { SURROGATE_FIRST = 0xd800, SURROGATE_LOW = 0xdc00, SURROGATE_LAST = 0xdfff };

/* The four hex digits at p, which is behind `\u`; -1 where they are not there. */
static int32_t hex_unit(const char *p, const char *end)
{
	if (end - p < 4)
		return -1;
	int32_t unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = tr_hex_digit(p[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* `\u` at p that is no escape: is it because the text ends? */
static bool ends_in_hex(const char *p, const char *end)
{
	for (p += 2; p < end; p++)
		if (tr_hex_digit(*p) < 0)
			return false;
	return true;
}

static struct tr_json_element unicode_escape(const char *p, const char *end)
{
	int32_t unit = hex_unit(p + 2, end);
	if (unit < 0)
		return (struct tr_json_element){ ends_in_hex(p, end) ? TR_JSON_ENDS
								     : TR_JSON_NO_ESCAPE,
						 0, 0 };
	if (unit < SURROGATE_FIRST || unit > SURROGATE_LAST)
		return (struct tr_json_element){ TR_JSON_CHARACTER, (uint32_t)unit, 6 };
	if (unit < SURROGATE_LOW && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		int32_t low = hex_unit(p + 8, end);
		if (low >= SURROGATE_LOW && low <= SURROGATE_LAST) {
			uint32_t code = 0x10000 +
					(((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
			return (struct tr_json_element){ TR_JSON_CHARACTER, code, 12 };
		}
	}
	return (struct tr_json_element){ TR_JSON_SURROGATE, (uint32_t)unit, 6 };
}

static struct tr_json_element escape(const char *p, const char *end)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	if (end - p < 2)
		return (struct tr_json_element){ TR_JSON_ENDS, 0, 0 };
	if (p[1] == 'u')
		return unicode_escape(p, end);
	const char *letter = memchr(letters, p[1], sizeof letters - 1);
	if (!letter)
		return (struct tr_json_element){ TR_JSON_NO_ESCAPE, 0, 0 };
	return (struct tr_json_element){ TR_JSON_CHARACTER, (uint32_t)meant[letter - letters], 2 };
}

struct tr_json_element tr_json_element(const char *p, const char *end)
{
	if (*p == '\\')
		return escape(p, end);
	unsigned length = tr_utf8_length(p, end);
	if (!length)
		return (struct tr_json_element){ TR_JSON_RAW_BYTE, (unsigned char)*p, 1 };
	return (struct tr_json_element){ TR_JSON_CHARACTER, tr_utf8_decode(p, length), length };
}

static unsigned put_hex_escape(uint32_t unit, char *to)
{
	static const char digits[] = "0123456789abcdef";
	to[0] = '\\';
	to[1] = 'u';
	for (int i = 0; i < 4; i++)
		to[2 + i] = digits[unit >> (12 - 4 * i) & 15];
	return 6;
}

unsigned tr_json_element_spell(const struct tr_json_element *element, char *to)
{
	static const char shortest[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};
	uint32_t code = element->code;
	if (element->type == TR_JSON_RAW_BYTE) {
		static const char digits[] = "0123456789abcdef";
		to[0] = '\\';
		to[1] = 'x';
		to[2] = digits[code >> 4];
		to[3] = digits[code & 15];
		return 4;
	}
	if (element->type == TR_JSON_SURROGATE || code == 0x7f)
		return put_hex_escape(code, to);
	if (code >= 0x20 && code != '"' && code != '\\')
		return tr_utf8_encode(code, to);
	char letter = code < 0x20 ? shortest[code] : (char)code;
	if (!letter)
		return put_hex_escape(code, to);
	to[0] = '\\';
	to[1] = letter;
	return 2;
}
