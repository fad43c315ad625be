#include "format/drcov/row.h"

#include "core/hex.h"
#include "coverage/drcov_head.h"

uint32_t tr_drcov_u32(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;
	return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

void tr_drcov_put_u32(uint32_t n, char *p)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (char)(n >> (8 * i));
}

struct tr_drcov_row tr_drcov_row_unpack(const char *p)
{
	uint32_t both = tr_drcov_u32(p + 4);
	return (struct tr_drcov_row){ tr_drcov_u32(p), both & 0xffff, both >> 16 };
}

void tr_drcov_row_pack(const struct tr_drcov_row *row, char *p)
{
	tr_drcov_put_u32((uint32_t)row->start, p);
	tr_drcov_put_u32((row->size & 0xffff) | row->module << 16, p + 4);
}

static void skip_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
}

static bool number(const char **p, const char *end, unsigned base, uint64_t max, uint64_t *n)
{
	const char *begin = *p;
	*n = 0;
	for (; *p < end; ++*p) {
		int digit = tr_hex_digit(**p);
		if (digit < 0 || (unsigned)digit >= base)
			break;
		if (*n > (max - (unsigned)digit) / base)
			return false;
		*n = *n * base + (unsigned)digit;
	}
	return *p > begin;
}

static bool expect(const char **p, const char *end, const char *text)
{
	size_t len = strlen(text);
	if ((size_t)(end - *p) < len || memcmp(*p, text, len) != 0)
		return false;
	*p += len;
	return true;
}

bool tr_drcov_row_parse(struct tr_text line, struct tr_drcov_row *row)
{
	struct tr_text text = tr_drcov_trimmed(line);
	const char *p = text.data, *end = p + text.len;
	uint64_t module, start, size;
	if (!expect(&p, end, "module["))
		return false;
	skip_blanks(&p, end);
	if (!number(&p, end, 10, UINT32_MAX, &module) || !expect(&p, end, "]:"))
		return false;
	skip_blanks(&p, end);
	if (!expect(&p, end, "0x") || !number(&p, end, 16, UINT64_MAX, &start) ||
	    !expect(&p, end, ","))
		return false;
	skip_blanks(&p, end);
	if (!number(&p, end, 10, UINT32_MAX, &size) || p != end)
		return false;
	*row = (struct tr_drcov_row){ start, (uint32_t)size, (uint32_t)module };
	return true;
}

static void put_padded(struct tr_buffer *to, uint32_t n)
{
	if (n < 100)
		tr_buffer_put_byte(to, ' ');
	if (n < 10)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_decimal(to, n);
}

void tr_drcov_row_write(const struct tr_drcov_row *row, unsigned digits, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "module[");
	put_padded(to, row->module);
	tr_buffer_put_literal(to, "]: 0x");
	tr_buffer_put_hex(to, row->start, digits);
	tr_buffer_put_literal(to, ", ");
	put_padded(to, row->size);
	tr_buffer_put_byte(to, '\n');
}
