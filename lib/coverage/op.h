/*
 * What happened to a block of machine code: the op byte of execution traces,
 * and its words in the stream. They are words of a fixed set, so no number
 * stands beside them: block|br0, block|fault|0x4, none; bits that have no word
 * and stand alone are ?(0x4).
 */
#ifndef TR_COVERAGE_OP_H
#define TR_COVERAGE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"
#include "record/value.h"

enum {
	TR_EXEC_BR0 = 0x01,   /* the branch at the end was taken */
	TR_EXEC_BR1 = 0x02,   /* the branch at the end fell through */
	TR_EXEC_BLOCK = 0x10, /* the whole block was executed */
	TR_EXEC_FAULT = 0x20, /* a fault at, or before, the end */
	TR_EXEC_SPECIAL = 0x80,
};

enum {
	TR_OP_SPELLED = 32, /* bytes that the longest spelling takes at most */
	TR_OP_FIELD = 48,
};

/* Writes the spelling of op to `to`, which has TR_OP_SPELLED bytes; returns its length. */
size_t tr_op_spell(uint8_t op, char *to);

/* From a field's value in any spelling that says the same; a plain number is one too. */
bool tr_op_from_value(const struct tr_value *value, uint8_t *op);

/* The canonical spelling alone, without a tree. False: look at the value instead. */
bool tr_op_from_text(struct tr_text text, uint8_t *op);

/* The values of all ops, for built records, and their spellings: made once, shared by all. */
struct tr_op_values {
	char fields[256][TR_OP_FIELD]; /* the end of a line: TAB, "op=", the spelling, LF */
	uint8_t lengths[256];
	struct tr_value values[256];
	struct tr_symbol symbols[256];
	struct tr_name names[256][5];
};

/* NULL: memory is out. free(3) it. */
struct tr_op_values *tr_op_values_new(void);

#endif
