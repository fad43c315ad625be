/*
 * Numbers as the filter language compares them: exactly, whatever their
 * spelling and width. 18446744073709551615, 0xffffffffffffffff,
 * 18446744073709551615.0 and 1.8446744073709551615e19 are one number; no
 * comparison goes through a rounded intermediate.
 */
#ifndef TR_EXPR_NUMBER_H
#define TR_EXPR_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/text.h"
#include "record/value.h"

/* A decimal as a view of its spelling: never converted, so never rounded. */
struct tr_decimal {
	struct tr_text
		digits;	  /* from the first digit that is not 0; may hold one '.'; len 0: zero */
	int64_t exponent; /* of that digit: 0 for units, -1 for tenths */
	bool negative;
};

enum tr_number_type {
	TR_NUMBER_INTEGER, /* negative, magnitude */
	TR_NUMBER_DECIMAL, /* decimal */
	TR_NUMBER_REAL64,  /* real */
	TR_NUMBER_REAL32,  /* real, which holds a float */
};

/* What a record has. */
struct tr_number {
	enum tr_number_type type;
	bool negative;
	uint64_t magnitude;
	struct tr_decimal decimal;
	double real;
};

/* What an expression has: read once, in every form that a comparison may want. */
struct tr_number_literal {
	bool is_integer; /* negative and magnitude hold it */
	bool is_real;	 /* spelled with "." or "e": a REAL's width rounds it */
	bool negative;
	uint64_t magnitude;
	struct tr_decimal decimal;
	double real64;
	float real32;
};

enum tr_order {
	TR_LESS,
	TR_EQUAL,
	TR_GREATER,
	TR_UNORDERED, /* NaN is on one side */
};

/* The number that a cell's text spells: decimal or 0x. False: it spells none. */
bool tr_number_from_cell(struct tr_text cell, struct tr_number *number);

/* The number of a value, for a symbol the one in parentheses. False: it has none. */
bool tr_number_from_value(const struct tr_value *value, struct tr_number *number);

struct tr_number tr_number_from_count(uint64_t count);

/*
 * Reads a token that the lexer took for a number. Copies into the arena what
 * it keeps. False: memory is out, or (fits is false) more than 64 bits of hex.
 */
bool tr_number_literal_read(struct tr_text token, struct tr_arena *arena,
			    struct tr_number_literal *literal, bool *fits);

enum tr_order tr_number_compare(const struct tr_number *number,
				const struct tr_number_literal *literal);

/* Both are literals: whether a range is empty. */
enum tr_order tr_number_literal_compare(const struct tr_number_literal *a,
					const struct tr_number_literal *b);

#endif
