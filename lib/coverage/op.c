#include "coverage/op.h"

#include <stdlib.h>
#include <string.h>

/* In the order in which they are written. */
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

static char *put(char *to, struct tr_text text)
{
	memcpy(to, text.data, text.len);
	return to + text.len;
}

static char *put_hex(char *to, unsigned bits)
{
	static const char digits[] = "0123456789abcdef";

	to = put(to, TR_TEXT("0x"));
	if (bits > 15)
		*to++ = digits[bits >> 4];
	*to++ = digits[bits & 15];
	return to;
}

size_t tr_op_spell(uint8_t op, char *to)
{
	unsigned unnamed = op & ~(unsigned)NAMED;
	char *p = to;

	for (size_t i = 0; i < WORDS; i++) {
		if (!(op & words[i].bit))
			continue;
		if (p != to)
			*p++ = '|';
		p = put(p, words[i].word);
	}
	if (p == to && unnamed) {
		p = put_hex(put(p, TR_TEXT("?(")), unnamed);
		*p++ = ')';
	} else if (unnamed) {
		*p++ = '|';
		p = put_hex(p, unnamed);
	}
	if (p == to)
		p = put(p, TR_TEXT("none"));
	return (size_t)(p - to);
}

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

bool tr_op_from_value(const struct tr_value *value, uint8_t *op)
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

bool tr_op_from_text(struct tr_text text, uint8_t *op)
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

static void make_value(struct tr_op_values *all, unsigned op)
{
	struct tr_value *value = &all->values[op];
	struct tr_symbol *symbol = &all->symbols[op];
	struct tr_name *names = all->names[op];

	char *p = put(all->fields[op], TR_TEXT("\top="));
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
