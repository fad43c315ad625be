/* SPDX-License-Identifier: MIT */
/*
 * Conditional jumps and calls in machine code. Traces also have branch bits for unconditional
 * jumps, so the last instruction of a block must be decoded to know whether there was a choice.
 */
#ifndef TR_SYMBOL_JUMP_H
#define TR_SYMBOL_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_code {
	uint16_t machine; /* as in <elf.h> */
	bool big_endian;
	bool thumb; /* ARM: 16-bit instructions */
	const uint8_t *bytes;
	size_t size;
};

/*
 * Returns the offset of the last instruction of the block if that is a conditional jump, otherwise
 * SIZE_MAX. The last instruction may be truncated. x86, ARM, AArch64, PowerPC, RISC-V, SPARC and
 * MIPS are known; the last two have a delay slot after the jump.
 */
size_t tr_jump_find(const struct tr_code *code);

/*
 * Returns the size of the instruction at the beginning of the code; 0: it is truncated, or the
 * machine is unknown.
 */
size_t tr_jump_instruction(const struct tr_code *code);

/*
 * Returns the offset of the last call of a function, or SIZE_MAX. A call that the conditional jump
 * before it can skip, like that of the stack protector, is ignored. Always SIZE_MAX for machines
 * with a delay slot.
 */
size_t tr_jump_last_call(const struct tr_code *code);

/* Whether jumps of the machine have a delay slot: the instruction after them is executed, too. */
bool tr_jump_has_slot(uint16_t machine);

#endif
