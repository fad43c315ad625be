/* SPDX-License-Identifier: MIT */
/* Random values of every type, the same ones for the same seed. */
#ifndef TR_TESTS_RANDOM_VALUE_H
#define TR_TESTS_RANDOM_VALUE_H

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "record/literal.h"
#include "record/value.h"

struct random {
	uint64_t state; /* not 0 */
	struct tr_arena *arena;
	struct tr_buffer scratch;
};

static uint64_t random_bits(struct random *r)
{
	/* xorshift64*: the same on every machine */
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned random_below(struct random *r, unsigned n)
{
	return (unsigned)((random_bits(r) >> 32) % n);
}

/* All lengths of numbers alike. */
static uint64_t random_number(struct random *r)
{
	return random_bits(r) >> random_below(r, 64);
}

/* Tests may stop where memory is out. */
static void *random_alloc(struct random *r, size_t size)
{
	void *p = tr_arena_alloc(r->arena, size);
	if (!p)
		abort();
	return memset(p, 0, size);
}

static struct tr_text random_take(struct random *r)
{
	struct tr_text copy = tr_arena_copy(r->arena, tr_buffer_text(&r->scratch));
	tr_buffer_reset(&r->scratch);
	return copy;
}

/* Bytes in which sequences of UTF-8, whole and broken, are as frequent as ASCII. */
static struct tr_text random_bytes(struct random *r, unsigned max)
{
	static const char *const pieces[] = { "a",    "Z_9",  "\"",	  "\\",	      "\n",
					      "\x7f", "é",    "€",	  "😀",	      "\xc3",
					      "\xa9", "\xe2", "\xed\xa0", "\xf4\x90", " " };
	for (unsigned n = random_below(r, max + 1); n > 0; n--) {
		unsigned choice = random_below(r, 2 * sizeof pieces / sizeof *pieces);
		if (choice < sizeof pieces / sizeof *pieces)
			tr_buffer_put_text(&r->scratch, tr_text_from(pieces[choice]));
		else
			tr_buffer_put_byte(&r->scratch, (char)random_bits(r));
	}
	return random_take(r);
}

static struct tr_text random_string(struct random *r)
{
	struct tr_text bytes = random_bytes(r, 20);
	tr_string_escape(bytes, &r->scratch);
	if (random_below(r, 8) == 0)
		tr_buffer_put_literal(&r->scratch, "\\udbff");
	return random_take(r);
}

static struct tr_text random_wide(struct random *r)
{
	for (unsigned n = random_below(r, 9); n > 0; n--)
		tr_wstring_unit(random_number(r), &r->scratch);
	return random_take(r);
}

/* A word in half of the cases, a reserved one in some. */
static struct tr_text random_name(struct random *r)
{
	static const char *const words[] = {
		"A", "GL_x9", "_", "null", "none", "L", "inff", "b64"
	};
	unsigned choice = random_below(r, 2 * sizeof words / sizeof *words);
	if (choice < sizeof words / sizeof *words)
		return tr_text_from(words[choice]);
	return random_string(r);
}

static struct tr_symbol *random_symbol(struct random *r, uint8_t *flags)
{
	struct tr_symbol *symbol = random_alloc(r, sizeof *symbol);
	symbol->numbered = random_below(r, 3);
	symbol->count = random_below(r, symbol->numbered == TR_SYMBOL_ENUM ? 2 : 4);
	if (symbol->numbered == TR_SYMBOL_WORDS)
		symbol->count += 2; /* one alone has to be a word, none at all is no symbol */
	symbol->names = random_alloc(r, symbol->count * sizeof *symbol->names);
	for (size_t i = 0; i < symbol->count; i++)
		symbol->names[i].text = random_name(r);
	if (symbol->numbered != TR_SYMBOL_ENUM && symbol->count && random_below(r, 3) == 0)
		symbol->unknown_bits = random_number(r) | 1;
	if (symbol->numbered != TR_SYMBOL_WORDS) {
		symbol->number = random_number(r);
		if (random_below(r, 2)) {
			*flags |= TR_HAS_ID;
			symbol->id = random_number(r);
		}
	}
	if (symbol->numbered == TR_SYMBOL_ENUM && random_below(r, 3) == 0)
		*flags |= TR_NEGATIVE;
	return symbol;
}

static void random_value(struct random *r, unsigned depth, struct tr_value *value);

static void random_members(struct random *r, unsigned depth, struct tr_value *value)
{
	value->count = random_below(r, 5);
	value->as.members = random_alloc(r, value->count * sizeof *value->as.members);
	for (size_t i = 0; i < value->count; i++) {
		struct tr_member *member = &value->as.members[i];
		member->key = value->type == TR_MAP ? random_string(r) : random_name(r);
		member->value = random_alloc(r, sizeof *member->value);
		random_value(r, depth - 1, member->value);
	}
	if (value->type == TR_STRUCT && random_below(r, 2)) {
		value->flags |= TR_HAS_ID;
		value->id = random_number(r);
	}
}

static void random_items(struct random *r, unsigned depth, struct tr_value *value)
{
	value->count = value->type == TR_REPR ? 2 : random_below(r, 6);
	value->as.items = random_alloc(r, value->count * sizeof *value->as.items);
	for (size_t i = 0; i < value->count; i++)
		random_value(r, depth - 1, &value->as.items[i]);
	if (value->type == TR_LIST && random_below(r, 5) == 0)
		value->flags |= TR_CUT;
}

static void random_text_value(struct random *r, struct tr_value *value)
{
	switch ((enum tr_type)value->type) {
	case TR_STRING:
		value->text = random_string(r);
		value->flags |= random_below(r, 5) == 0 ? TR_CUT : 0;
		break;
	case TR_WSTRING:
		value->text = random_wide(r);
		break;
	case TR_BLOB:
		value->text = random_bytes(r, 30);
		return;
	default:
		for (int i = 0; i < 64; i++)
			tr_buffer_put_hex(&r->scratch, random_below(r, 16), 1);
		value->text = random_take(r);
		return;
	}
	if (!memchr(value->text.data, '\\', value->text.len))
		value->flags |= TR_PLAIN;
}

/* Makes one real number in four a NaN. */
static uint64_t random_exponent(struct random *r, int shift, uint64_t highest)
{
	return random_below(r, 4) ? 0 : highest << shift;
}

/* depth: how many brackets may still be opened. */
static void random_value(struct random *r, unsigned depth, struct tr_value *value)
{
	unsigned types = depth ? TR_REPR + 1 : TR_LIST;
	*value = (struct tr_value){ .type = (uint8_t)random_below(r, types) };
	switch ((enum tr_type)value->type) {
	case TR_INT:
		value->flags = random_below(r, 2) ? TR_NEGATIVE : 0;
		/* fall through */
	case TR_UINT:
	case TR_POINTER:
	case TR_BLOB_LEFT:
		value->as.number = random_number(r);
		return;
	case TR_REAL64:
		value->as.number = random_bits(r) | random_exponent(r, 52, 0x7ff);
		return;
	case TR_REAL32:
		value->as.number = (uint32_t)random_bits(r) | random_exponent(r, 23, 0xff);
		return;
	case TR_BLOB_FILE:
		value->as.number = random_number(r);
		/* fall through */
	case TR_STRING:
	case TR_WSTRING:
	case TR_BLOB:
		random_text_value(r, value);
		return;
	case TR_SYMBOL:
		value->as.symbol = random_symbol(r, &value->flags);
		return;
	case TR_LIST:
	case TR_REPR:
		random_items(r, depth, value);
		return;
	case TR_MAP:
	case TR_STRUCT:
		random_members(r, depth, value);
		return;
	case TR_NULL:
	case TR_FALSE:
	case TR_TRUE:
		return;
	}
}

#endif
