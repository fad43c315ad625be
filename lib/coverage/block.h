/* SPDX-License-Identifier: MIT */
/*
 * A block of machine code that was executed: the `block` record of execution traces, and the
 * other records whose name is an address (load, unload, loadaddr).
 *
 *	record -> tr_block_read -> struct tr_block -> tr_block_record_set -> record or its line
 *
 * A trace has millions of blocks, so they are read without parsing fields and written without a
 * tree.
 *
 * The op byte says what happened to the block. In the stream it is a set of fixed words, which need
 * no number: block|br0, block|fault|0x4, none. If no bit of an op has a word, it is written ?(0x4).
 */
#ifndef TR_COVERAGE_BLOCK_H
#define TR_COVERAGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/record.h"
#include "record/value.h"

enum {
	TR_EXEC_BR0 = 0x01,   /* the branch at the end was taken */
	TR_EXEC_BR1 = 0x02,   /* the branch at the end fell through */
	TR_EXEC_BLOCK = 0x10, /* the whole block was executed */
	TR_EXEC_FAULT = 0x20, /* a fault at, or before, the end */
	TR_EXEC_SPECIAL = 0x80,
};

enum {
	TR_OP_SPELLED = 32, /* maximum length of a spelling */
	TR_OP_FIELD = 48,
};

/* Writes the spelling of op to `to`, which has TR_OP_SPELLED bytes; returns its length. */
size_t tr_op_spell(uint8_t op, char *to);

/* The values and spellings of all ops, which the built records share. */
struct tr_op_values {
	char fields[256][TR_OP_FIELD]; /* the end of a line: TAB, "op=", the spelling, LF */
	uint8_t lengths[256];
	struct tr_value values[256];
	struct tr_symbol symbols[256];
	struct tr_name names[256][5];
};

/* The caller frees it with free(3). NULL: memory is exhausted. */
struct tr_op_values *tr_op_values_new(void);

struct tr_block {
	uint64_t address;
	uint64_t pad;	/* its bytes in file order, as one number; 0: none */
	uint16_t size;	/* bytes; 0 and a block beyond the top of memory are legal */
	uint8_t op;	/* TR_EXEC_… */
	uint8_t digits; /* of an address: 8 or 16 */
};

/*
 * Returns the last address, modulo the width of addresses: for an empty block the one before the
 * first.
 */
static inline uint64_t tr_block_last(const struct tr_block *block)
{
	uint64_t last = block->address + block->size - 1;

	return block->digits == 8 ? (uint32_t)last : last;
}

/* Returns all but the address of a block without padding as one number, which is not 0. */
static inline uint32_t tr_block_rest(const struct tr_block *block)
{
	return (uint32_t)block->digits << 24 | (uint32_t)block->op << 16 | block->size;
}

/* Returns the block that has this address and the rest. */
static inline struct tr_block tr_block_from_rest(uint64_t address, uint32_t rest)
{
	return (struct tr_block){ .address = address,
				  .size = (uint16_t)rest,
				  .op = (uint8_t)(rest >> 16),
				  .digits = (uint8_t)(rest >> 24) };
}

enum { TR_BLOCK_DIGITS = 20 }; /* maximum for a number of 64 bits */

/* Spells the lines of blocks. Set ops, the rest zero. */
struct tr_block_speller {
	const struct tr_op_values *ops;
	uint64_t seq; /* the last one, in digits; usually the next is one more */
	char digits[2 * TR_BLOCK_DIGITS], *first_digit; /* the second half is padding */
};

/* Writes a line with its LF to `to`, which has TR_SPELL_MAX bytes; returns its length. */
size_t tr_block_line(struct tr_block_speller *speller, const struct tr_block *block, uint64_t seq,
		     char *to);

/*
 * A built record that is reused for one block after the other. Its content is valid until the next
 * tr_block_record_set; callers pass on `record`.
 */
struct tr_block_record {
	struct tr_record record; /* first, because record->spell casts its address */
	struct tr_field fields[8];
	struct tr_value size, pad;
	struct tr_block block;
	struct tr_block_speller speller;
};

void tr_block_record_init(struct tr_block_record *record, const struct tr_op_values *ops,
			  struct tr_arena *arena);
/* Writes the line of such a record without reading its fields; `spell` of the record. */
size_t tr_block_spell(const struct tr_record *record, char *to);

/* The slow path of tr_block_record_set: fills in the parts that all records have in common. */
void tr_block_record_reset(struct tr_block_record *self);

/* False: tr_block_record_set takes the slow path. */
static inline bool tr_block_record_is_ready(const struct tr_block_record *self)
{
	return self->record.spell == tr_block_spell;
}

static inline void tr_block_record_set(struct tr_block_record *self, const struct tr_block *block,
				       uint64_t seq, uint64_t source_offset)
{
	struct tr_record *record = &self->record;

	/* a caller that changed the record cleared spell */
	if (!tr_block_record_is_ready(self))
		tr_block_record_reset(self);
	self->block.address = block->address;
	self->block.pad = block->pad;
	self->block.size = block->size;
	self->block.op = block->op;
	self->block.digits = block->digits;
	self->size.as.number = block->size;
	self->pad.as.number = block->pad;
	/* the cast is safe: values of built records are never written to */
	self->fields[1].value = (struct tr_value *)&self->speller.ops->values[block->op];
	record->count = block->pad ? 3 : 2;
	record->seq.number = seq;
	record->name.width = block->digits;
	record->name.number = block->address;
	record->source_offset = source_offset;
}

/* Returns the block for which the record was built, or NULL. */
static inline const struct tr_block *tr_block_built(const struct tr_record *record)
{
	return record->spell == tr_block_spell ? &((const struct tr_block_record *)record)->block
					       : NULL;
}

/*
 * Blocks without records: a reader can hand over runs of plain blocks, which nearly all entries of
 * an execution trace are, and then makes no records. It may ignore the taker. Blocks with padding,
 * special entries, and at least one block of each window of the input are always records, so that
 * the tool regains control.
 */
struct tr_block_taker {
	/*
	 * Takes blocks in order, the first of which has the number seq, and returns how many; the
	 * block after those must come as a record. They are valid during the call.
	 */
	size_t (*take)(struct tr_block_taker *taker, const struct tr_block *blocks, size_t count,
		       uint64_t seq);
};

/*
 * Reads the block of a record of kind block. An absent op is TR_EXEC_BLOCK. TR_OK; TR_WARN: address
 * or size are missing or invalid; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_block_read(struct tr_record *record, struct tr_block *block,
			     struct tr_error *err);

/* Reads an address cell: 0x and 8 or 16 digits. False: it is not one. */
bool tr_address_read(const struct tr_cell *cell, uint64_t *address, uint8_t *digits);

#endif
