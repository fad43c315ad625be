/* SPDX-License-Identifier: MIT */
/*
 * Blocks of execution traces and their op words. A trace has millions of blocks, so the usual
 * spelling of a line is read and written without a tree (read_plain, put_block), and the texts and
 * values of all 256 ops are made once.
 */
#include "coverage/block.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "record/ask.h"

/* The words of an op, in the order in which they are written. */
static const struct {
	uint8_t bit;
	struct tr_text word;
} words[] = {
	{ TR_EXEC_BLOCK, { "block", 5 } },     { TR_EXEC_FAULT, { "fault", 5 } },
	{ TR_EXEC_BR0, { "br0", 3 } },	       { TR_EXEC_BR1, { "br1", 3 } },
	{ TR_EXEC_SPECIAL, { "special", 7 } },
};

enum {
	WORDS = sizeof words / sizeof *words,
	NAMED = TR_EXEC_BLOCK | TR_EXEC_FAULT | TR_EXEC_BR0 | TR_EXEC_BR1 | TR_EXEC_SPECIAL,
};

/* Copies a text, and returns the end of the copy. */
static char *put_text(char *to, struct tr_text text)
{
	memcpy(to, text.data, text.len);
	return to + text.len;
}

/* Writes a byte as 0xHEX, and returns the end. */
static char *put_hex(char *to, unsigned bits)
{
	static const char digits[] = "0123456789abcdef";

	to = put_text(to, TR_TEXT("0x"));
	if (bits > 15)
		*to++ = digits[bits >> 4];
	*to++ = digits[bits & 15];
	return to;
}

/*
 * Words first, in the order of the table; bits without a word follow as hex, so that every op has
 * a spelling.
 */
size_t tr_op_spell(uint8_t op, char *to)
{
	unsigned unnamed = op & ~(unsigned)NAMED;
	char *p = to;

	for (size_t i = 0; i < WORDS; i++) {
		if (!(op & words[i].bit))
			continue;
		if (p != to)
			*p++ = '|';
		p = put_text(p, words[i].word);
	}
	if (p == to && unnamed) {
		p = put_hex(put_text(p, TR_TEXT("?(")), unnamed);
		*p++ = ')';
	} else if (unnamed) {
		*p++ = '|';
		p = put_hex(p, unnamed);
	}
	if (p == to)
		p = put_text(p, TR_TEXT("none"));
	return (size_t)(p - to);
}

/* Adds the bit of a word to *op. False: there is no such word. */
static bool add_word(struct tr_text word, uint8_t *op)
{
	for (size_t i = 0; i < WORDS; i++) {
		if (tr_text_equal(word, words[i].word)) {
			*op |= words[i].bit;
			return true;
		}
	}
	return tr_text_is(word, "none");
}

/* Reads the op of a symbol, from its number if it has one. */
static bool from_symbol(const struct tr_symbol *symbol, uint8_t *op)
{
	uint64_t bits = symbol->unknown_bits;

	if (symbol->numbered != TR_SYMBOL_WORDS) {
		*op = (uint8_t)symbol->number;
		return symbol->number <= UINT8_MAX;
	}
	*op = (uint8_t)bits;
	for (size_t i = 0; i < symbol->count; i++)
		if (!add_word(symbol->names[i].text, op))
			return false;
	return bits <= UINT8_MAX;
}

/*
 * Reads an op from a value in any equivalent spelling, including a plain number. False: the value
 * is not an op.
 */
static bool op_from_value(const struct tr_value *value, uint8_t *op)
{
	switch (value->type) {
	case TR_SYMBOL:
		return from_symbol(value->as.symbol, op);
	case TR_UINT:
	case TR_POINTER:
		*op = (uint8_t)value->as.number;
		return value->as.number <= UINT8_MAX;
	default:
		return false;
	}
}

/* Accepts only the usual spelling, with the words in order; op_from_value handles the others. */
static bool op_from_text(struct tr_text text, uint8_t *op)
{
	const char *p = text.data, *end = p + text.len;

	*op = 0;
	for (size_t i = 0; i < WORDS && p < end; i++) {
		size_t len = words[i].word.len;
		if ((size_t)(end - p) < len || memcmp(p, words[i].word.data, len) != 0)
			continue;
		*op |= words[i].bit;
		p += len;
		if (p == end)
			return true;
		if (*p++ != '|')
			return false;
	}
	return false;
}

/* Prepares the value and the text of one op. */
static void make_value(struct tr_op_values *all, unsigned op)
{
	struct tr_value *value = &all->values[op];
	struct tr_symbol *symbol = &all->symbols[op];
	struct tr_name *names = all->names[op];

	char *p = put_text(all->fields[op], TR_TEXT("\top="));
	p += tr_op_spell((uint8_t)op, p);
	*p++ = '\n';
	all->lengths[op] = (uint8_t)(p - all->fields[op]);
	value->type = TR_SYMBOL;
	value->as.symbol = symbol;
	symbol->names = names;
	for (size_t i = 0; i < WORDS; i++)
		if (op & words[i].bit)
			names[symbol->count++].text = words[i].word;
	if (symbol->count) {
		symbol->unknown_bits = op & ~(unsigned)NAMED;
	} else if (op) {
		symbol->numbered = TR_SYMBOL_MASK;
		symbol->number = op;
	} else {
		names[symbol->count++].text = TR_TEXT("none");
	}
}

struct tr_op_values *tr_op_values_new(void)
{
	struct tr_op_values *all = calloc(1, sizeof *all);

	for (unsigned op = 0; all && op < 256; op++)
		make_value(all, op);
	return all;
}

void tr_block_record_init(struct tr_block_record *self, const struct tr_op_values *ops,
			  struct tr_arena *arena)
{
	*self = (struct tr_block_record){ .speller.ops = ops };
	tr_record_init(&self->record, arena);
}

/* Writes the digits of n so that they end before `end`; returns the first. */
static char *decimal_before(char *end, uint64_t n)
{
	do {
		*--end = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	return end;
}

/* Returns the digits of seq. Counting them up is cheaper than dividing. */
static const char *seq_digits(struct tr_block_speller *self, uint64_t seq)
{
	char *end = self->digits + TR_BLOCK_DIGITS, *p = end - 1;

	if (!self->first_digit || seq != self->seq + 1) {
		self->first_digit = decimal_before(end, seq);
	} else {
		while (p >= self->first_digit && *p == '9')
			*p-- = '0';
		if (p < self->first_digit)
			*(self->first_digit = p) = '1';
		else
			++*p;
	}
	self->seq = seq;
	return self->first_digit;
}

/* Copies bytes, and returns the end of the copy. */
static char *put(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

#define PUT(to, literal) put((to), literal, sizeof(literal) - 1)

/* Overwrites the LF with the field .pad and another LF; returns the end. */
static __attribute__((noinline)) char *put_pad(const struct tr_block *block, char *to)
{
	struct tr_buffer pad = tr_buffer_over(to, TR_SPELL_MAX / 2);

	tr_buffer_put_literal(&pad, "\t.pad=0x");
	tr_buffer_put_hex(&pad, block->pad, 1);
	tr_buffer_put_byte(&pad, '\n');
	return to + pad.len;
}

/* Inline, because a reader's records have a function of their own for it. */
static inline __attribute__((always_inline)) size_t
put_block(struct tr_block_speller *self, const struct tr_block *block, uint64_t seq, char *to)
{
	enum { SIZE_DIGITS = 8 };
	char *p = to, size[2 * TR_BLOCK_DIGITS];
	const char *digits = seq_digits(self, seq);
	const char *size_digits = decimal_before(size + TR_BLOCK_DIGITS, block->size);

	/* copies of a fixed size need no call; the excess is overwritten */
	p = PUT(p, "block\t");
	memcpy(p, digits, TR_BLOCK_DIGITS);
	p += self->digits + TR_BLOCK_DIGITS - digits;
	p = PUT(p, "\t-\t-\t0x");
	if (block->digits == 8)
		tr_hex_write8((uint32_t)block->address, p);
	else
		tr_hex_write16(block->address, p);
	p = PUT(p + block->digits, "\tsize=");
	memcpy(p, size_digits, SIZE_DIGITS);
	p += size + TR_BLOCK_DIGITS - size_digits;
	memcpy(p, self->ops->fields[block->op], TR_OP_FIELD);
	p += self->ops->lengths[block->op];
	return (size_t)((block->pad ? put_pad(block, p - 1) : p) - to);
}

size_t tr_block_line(struct tr_block_speller *speller, const struct tr_block *block, uint64_t seq,
		     char *to)
{
	return put_block(speller, block, seq, to);
}

size_t tr_block_spell(const struct tr_record *record, char *to)
{
	struct tr_block_record *self = (struct tr_block_record *)(uintptr_t)record;

	return put_block(&self->speller, &self->block, record->seq.number, to);
}

/* Sets the parts that all blocks have in common, so that a reader sets only the others. */
void tr_block_record_reset(struct tr_block_record *self)
{
	struct tr_record *record = &self->record;

	self->size = (struct tr_value){ .type = TR_UINT };
	self->pad = (struct tr_value){ .type = TR_POINTER };
	self->fields[0] = (struct tr_field){ .key = TR_TEXT("size"), .value = &self->size };
	self->fields[1] = (struct tr_field){ .key = TR_TEXT("op") };
	self->fields[2] = (struct tr_field){ .key = TR_TEXT(".pad"), .value = &self->pad };
	tr_record_init(record, record->arena);
	record->type = TR_RECORD;
	record->kind = TR_TEXT("block");
	record->seq.type = TR_CELL_NUMBER;
	record->name.type = TR_CELL_ADDRESS;
	record->fields = self->fields;
	record->split = true;
	record->spell = tr_block_spell;
}

/* Converts eight hex digits, all at once: a letter is its low four bits plus 9. */
static uint32_t eight_digits(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (x >> 6 & UINT64_C(0x0101010101010101)) * 9;
	x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t)(x | x >> 16);
}

/* Reads 8 or 16 hex digits. Spelling the number again shows whether they were digits. */
static bool hex_number(const char *p, size_t len, uint64_t *number)
{
	char again[16];

	*number = eight_digits(p);
	if (len == 16)
		*number = *number << 32 | eight_digits(p + 8);
	tr_hex_write16(*number, again);
	if (memcmp(p, again + 16 - len, len) == 0)
		return true;
	*number = 0;
	for (size_t i = 0; i < len; i++) { /* upper case, or not a digit */
		int digit = tr_hex_digit(p[i]);
		if (digit < 0)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return true;
}

bool tr_address_read(const struct tr_cell *cell, uint64_t *address, uint8_t *digits)
{
	if (cell->type == TR_CELL_ADDRESS) {
		*address = cell->number;
		*digits = cell->width;
		return true;
	}
	struct tr_text text = cell->text;
	if (cell->type != TR_CELL_TEXT || (text.len != 10 && text.len != 18) ||
	    memcmp(text.data, "0x", 2) != 0 || !hex_number(text.data + 2, text.len - 2, address))
		return false;
	*digits = (uint8_t)(text.len - 2);
	return true;
}

/* Reads a number up to 65535 at *p, and moves *p after it. */
static bool size_number(const char **p, const char *end, uint16_t *size)
{
	const char *begin = *p;
	unsigned n = 0;

	while (*p < end && **p >= '0' && **p <= '9' && n <= UINT16_MAX)
		n = n * 10 + (unsigned)(*(*p)++ - '0');
	*size = (uint16_t)n;
	return *p > begin && n <= UINT16_MAX && (*begin != '0' || *p == begin + 1);
}

/* Reads fields in the spelling of our readers. False: use read_fields. */
static bool read_plain(const struct tr_record *record, struct tr_block *block)
{
	const char *p = record->rest.data, *end = p + record->rest.len;

	if (record->rest.len < 12 || memcmp(p, "\tsize=", 6) != 0)
		return false;
	p += 6;
	if (!size_number(&p, end, &block->size) || end - p < 5 || memcmp(p, "\top=", 4) != 0)
		return false;
	p += 4;
	block->pad = 0;
	return op_from_text(tr_text_span(p, end), &block->op);
}

/* Fills err: the block is left out. TR_WARN. */
static enum tr_status bad(struct tr_error *err, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "a block without %s", what);
	return TR_WARN;
}

/* Reads a number up to max; *number is unchanged if there is none. */
static enum tr_status read_number(struct tr_record *record, const char *key, uint64_t max,
				  uint64_t *number, struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = tr_field_find(record, key, &value, err);

	if (status != TR_OK || !value)
		return status;
	if ((value->type != TR_UINT && value->type != TR_POINTER) || value->as.number > max)
		return TR_WARN;
	*number = value->as.number;
	return TR_OK;
}

/* Reads the fields of a block that is not in the usual spelling. TR_WARN: err is filled. */
static enum tr_status read_fields(struct tr_record *record, struct tr_block *block,
				  struct tr_error *err)
{
	uint64_t size = UINT64_MAX, most = block->digits == 8 ? 0xff : UINT64_C(0xffffffffff);
	const struct tr_value *op = NULL;
	enum tr_status status = read_number(record, "size", UINT16_MAX, &size, err);

	if (status == TR_FATAL)
		return status;
	if (size == UINT64_MAX)
		return bad(err, "a size of 16 bits");
	block->size = (uint16_t)size;
	block->pad = 0;
	status = read_number(record, ".pad", most, &block->pad, err);
	if (status != TR_OK)
		return status == TR_FATAL ? status : bad(err, "a .pad that fits");
	block->op = TR_EXEC_BLOCK;
	status = tr_field_find(record, "op", &op, err);
	if (status == TR_FATAL)
		return status;
	if (status == TR_WARN || (op && !op_from_value(op, &block->op)))
		return bad(err, "an op of 8 bits");
	return TR_OK;
}

enum tr_status tr_block_read(struct tr_record *record, struct tr_block *block, struct tr_error *err)
{
	const struct tr_block *built = tr_block_built(record);

	if (built) {
		*block = *built;
		return TR_OK;
	}
	if (!tr_address_read(&record->name, &block->address, &block->digits))
		return bad(err, "an address of 8 or 16 digits");
	if (record->line.data && !record->split && read_plain(record, block))
		return TR_OK;
	return read_fields(record, block, err);
}
