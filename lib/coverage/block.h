/*
 * A block of machine code that was executed: the `block` record of execution
 * traces, and the records beside it whose name is an address too (load,
 * unload, loadaddr). There are millions of them, so they have a quick way in
 * and out.
 */
#ifndef TR_COVERAGE_BLOCK_H
#define TR_COVERAGE_BLOCK_H

#include "core/buffer.h"
#include "coverage/op.h"
#include "record/record.h"

struct tr_block {
	uint64_t address;
	uint64_t pad;	/* its bytes in file order, read as one number; 0: none kept */
	uint16_t size;	/* bytes; 0 and beyond the top of memory is legal */
	uint8_t op;	/* TR_EXEC_… */
	uint8_t digits; /* of an address: 8 or 16 */
};

/* The last byte, modulo the width of an address: of an empty block the one before the first. */
static inline uint64_t tr_block_last(const struct tr_block *block)
{
	uint64_t last = block->address + block->size - 1;

	return block->digits == 8 ? (uint32_t)last : last;
}

/*
 * A built record that is used for one block after the other. What it holds is
 * good until the next tr_block_record_set; record is what is handed out.
 */
struct tr_block_record {
	struct tr_record record; /* the first member: record->spell finds the rest from it */
	struct tr_field fields[8];
	struct tr_value size, pad;
	struct tr_block block;
	const struct tr_op_values *ops;
};

void tr_block_record_init(struct tr_block_record *record, const struct tr_op_values *ops,
			  struct tr_arena *arena);
void tr_block_record_set(struct tr_block_record *record, const struct tr_block *block,
			 uint64_t seq, uint64_t source_offset);

/*
 * The block of a record of kind block. An absent op is TR_EXEC_BLOCK. TR_OK;
 * TR_WARN: address or size are not there or are none; TR_FATAL: memory.
 */
enum tr_status tr_block_read(struct tr_record *record, struct tr_block *block,
			     struct tr_error *err);

/* An address cell: 0x and 8 or 16 digits. */
bool tr_address_read(const struct tr_cell *cell, uint64_t *address, uint8_t *digits);

#endif
