/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, its bid, and the rows of a text table of blocks, which reader and
 * writer share. The module table is in coverage/module_table.h, because gnatcov's writer needs it,
 * too.
 */
#include "format/drcov/drcov.h"

#include <string.h>

#include "core/text.h"

static const char *const extensions[] = { ".drcov", ".cov", NULL };

static const struct tr_format_option options[] = {
	{ "version", "2|3", false, true,
	  "write this version: block starts from module or segment" },
	{ "table", "2|3|4|5", false, true, "write a module table of this version" },
	{ "text", "yes|no", false, true, "write the blocks as text" },
	{ "starts", "absolute|relative|auto", true, false,
	  "block starts are absolute, as written by QEMU's plugin, or relative to the module "
	  "(auto: detect)" },
	{ "module", "PATH@BASE", false, true,
	  "the module at address BASE (0x...), for traces without modules (repeatable)" },
	{ NULL, NULL, false, false, NULL },
};

/* Recognises the first words, or the beginning of them in a truncated file. */
static int bid(struct tr_input *in)
{
	enum { MAGIC = sizeof TR_DRCOV_VERSION - 1, LEAST = 6 };
	tr_input_more(in, MAGIC);
	size_t n = tr_input_available(in) < MAGIC ? tr_input_available(in) : MAGIC;
	return n >= LEAST && memcmp(in->pos, TR_DRCOV_VERSION, n) == 0 ? 8 * (int)n : 0;
}

const struct tr_format tr_format_drcov = {
	.name = "drcov",
	.summary = "DynamoRIO coverage: modules and their basic blocks",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = tr_drcov_open,
	.create = tr_drcov_create,
};

/* Moves *p over blanks and TABs. */
static void skip_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
}

/* Reads digits of a base up to max, and moves *p over them. False: there are none, or too many. */
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

/* Moves *p over the text. False: *p is at something else. */
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
	struct tr_text text = tr_text_trimmed(line);
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

void tr_drcov_row_write(const struct tr_drcov_row *row, unsigned digits, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "module[");
	tr_drcov_put_padded(row->module, 3, to);
	tr_buffer_put_literal(to, "]: 0x");
	tr_buffer_put_hex(to, row->start, digits);
	tr_buffer_put_literal(to, ", ");
	tr_drcov_put_padded(row->size, 3, to);
	tr_buffer_put_byte(to, '\n');
}
