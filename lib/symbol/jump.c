/* SPDX-License-Identifier: MIT */
/*
 * Decodes as much of each instruction set as is needed to find conditional jumps and calls.
 * Sources: the architecture manuals of Intel, Arm, IBM (Power ISA), RISC-V, SPARC and MIPS.
 */
#include "symbol/jump.h"

#include <elf.h>

/* The rest of an x86 instruction. */
struct cursor {
	const uint8_t *pos, *end;
};

/* Returns the next byte; 0 after the end. */
static uint8_t next(struct cursor *c)
{
	return c->pos < c->end ? *c->pos++ : (uint8_t)0;
}

/* Skips n bytes. */
static void skip(struct cursor *c, size_t n)
{
	c->pos += n < (size_t)(c->end - c->pos) ? n : (size_t)(c->end - c->pos);
}

/* Skips a ModRM byte and what belongs to it; returns the byte. wide: addresses of 32 or 64 bits. */
static uint8_t skip_modrm(struct cursor *c, bool wide)
{
	uint8_t modrm = next(c), mod = modrm >> 6, rm = modrm & 7;
	if (mod == 3)
		return modrm;
	if (!wide) {
		skip(c, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
		return modrm;
	}
	uint8_t base = rm == 4 ? next(c) & 7 : rm;
	skip(c, mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
	return modrm;
}

/* Whether an opcode of the one-byte map has a ModRM byte. */
static bool has_modrm(uint8_t op)
{
	if (op < 0x40)
		return (op & 0x04) == 0;
	return op == 0x62 || op == 0x63 || op == 0x69 || op == 0x6b || (op & 0xf0) == 0x80 ||
	       (op & 0xfe) == 0xc0 || (op >= 0xc4 && op <= 0xc7) || (op & 0xfc) == 0xd0 ||
	       (op & 0xf8) == 0xd8 || (op & 0xfe) == 0xf6 || (op & 0xfe) == 0xfe;
}

/* Whether an opcode of the one-byte map has an immediate of 8 bits. */
static bool has_imm8(uint8_t op)
{
	if (op < 0x40)
		return (op & 0x07) == 4;
	return op == 0x6a || op == 0x6b || (op & 0xf0) == 0x70 || op == 0x80 || op == 0x82 ||
	       op == 0x83 || op == 0xa8 || (op & 0xf8) == 0xb0 || op == 0xc0 || op == 0xc1 ||
	       op == 0xc6 || op == 0xcd || op == 0xd4 || op == 0xd5 || (op & 0xf8) == 0xe0 ||
	       op == 0xeb;
}

/* Whether an opcode of the one-byte map has an immediate of 16 or 32 bits. */
static bool has_imm32(uint8_t op)
{
	if (op < 0x40)
		return (op & 0x07) == 5;
	return op == 0x68 || op == 0x69 || op == 0x81 || op == 0xa9 || (op & 0xf8) == 0xb8 ||
	       op == 0xc7;
}

/* Skips the rest of an instruction of the map 0F, 0F38 (map 2) or 0F3A (map 3). */
static void skip_mapped(struct cursor *c, unsigned map, uint8_t op, bool wide)
{
	bool none = map == 1 && ((op >= 0x05 && op <= 0x0b) || op == 0x0e || (op & 0xf8) == 0x30 ||
				 op == 0x77 || (op >= 0xa0 && op <= 0xa2) ||
				 (op >= 0xa8 && op <= 0xaa) || (op & 0xf8) == 0xc8);
	bool imm = map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xa4 ||
					     op == 0xac || op == 0xba || op == 0xc2 ||
					     (op >= 0xc4 && op <= 0xc6) || op == 0x0f));
	if (!none)
		skip_modrm(c, wide);
	skip(c, imm);
}

/* Skips an instruction of x86; returns whether it is a conditional jump. */
static bool skip_x86(struct cursor *c, bool is64)
{
	bool half = false; /* operands of 16 bits */
	bool wide = true;  /* addresses of 32 or 64 bits */
	bool rex_w = false;
	uint8_t op = next(c);
	for (;; op = next(c)) { /* the prefixes */
		if (op == 0x66)
			half = true;
		else if (op == 0x67)
			wide = is64;
		else if (is64 && (op & 0xf0) == 0x40)
			rex_w = op & 8;
		else if (op != 0xf0 && op != 0xf2 && op != 0xf3 && /* lock, repne, rep */
			 (op & 0xe7) != 0x26 && (op & 0xfe) != 0x64 /* segments */)
			break;
		if (c->pos == c->end)
			return false;
	}
	/* VEX and EVEX; in 32 bits these are also les, lds and bound, which have a ModRM < c0 */
	bool vector = c->pos < c->end && (is64 || *c->pos >= 0xc0);
	if ((op == 0xc5 || op == 0xc4 || op == 0x62) && vector) {
		uint8_t payload = next(c);
		skip(c, op == 0xc5 ? 0 : op == 0xc4 ? 1 : 2);
		unsigned map = op == 0xc5 ? 1 : payload & (op == 0xc4 ? 31 : 7);
		skip_mapped(c, map, next(c), wide);
		return false;
	}
	if (op == 0x0f) {
		op = next(c);
		if ((op & 0xf0) == 0x80) {
			skip(c, half && !is64 ? 2 : 4);
			return true;
		}
		unsigned map = op == 0x38 ? 2 : op == 0x3a ? 3 : 1;
		skip_mapped(c, map, map > 1 ? next(c) : op, wide);
		return false;
	}
	uint8_t modrm = has_modrm(op) ? skip_modrm(c, wide) : 0xff;
	size_t word = half ? 2 : 4;
	if (has_imm8(op) || (op == 0xf6 && (modrm & 0x38) <= 8))
		skip(c, 1);
	else if ((op & 0xf8) == 0xb8 && rex_w)
		skip(c, 8);
	else if (has_imm32(op) || (op == 0xf7 && (modrm & 0x38) <= 8))
		skip(c, word);
	else if (op == 0xe8 || op == 0xe9)
		skip(c, is64 ? 4 : word);
	else if ((op & 0xfc) == 0xa0)
		skip(c, is64 ? (wide ? 8 : 4) : wide ? 4 : 2);
	else if (op == 0xc2 || op == 0xca)
		skip(c, 2);
	else if (op == 0xc8)
		skip(c, 3);
	else if (!is64 && (op == 0x9a || op == 0xea))
		skip(c, word + 2);
	return (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0;
}

/* Returns 2 or 4 bytes at an offset as a number; a part after the end is zeros. */
static uint32_t word_at(const struct tr_code *code, size_t at, size_t size)
{
	uint32_t word = 0;
	for (size_t i = 0; i < size; i++) {
		uint32_t byte = at + i < code->size ? code->bytes[at + i] : 0;
		word |= byte << 8 * (code->big_endian ? size - 1 - i : i);
	}
	return word;
}

/* Whether a word of 32 bits is a conditional jump. */
static bool is_conditional(uint16_t machine, uint32_t word)
{
	uint32_t op = word >> 26;
	switch (machine) {
	case EM_ARM:
		return word >> 28 < 14;
	case EM_AARCH64:
		return (word & 0xff000010) == 0x54000000 || (word & 0x7c000000) == 0x34000000;
	case EM_PPC:
	case EM_PPC64:
		/* bc, bclr, bcctr, unless BO has both bits of "always" */
		return (op == 16 ||
			(op == 19 && ((word & 0x7fe) == 16 << 1 || (word & 0x7fe) == 528 << 1))) &&
		       (word >> 21 & 0x14) != 0x14;
	case EM_MIPS:
		/* b is beq with twice the same register */
		if (op == 4 || op == 20)
			return (word >> 21 & 31) != (word >> 16 & 31);
		return (op == 1 && (word >> 16 & 0x1f) < 4) || (op >= 5 && op <= 7) ||
		       (op >= 21 && op <= 23);
	case EM_SPARC:
	case EM_SPARC32PLUS:
	case EM_SPARCV9:
		/*
		 * Bicc, BPcc, FBfcc, FBPfcc; never and always have cond 0 and 8; BPr has a register
		 */
		if (word >> 30 || !(word >> 22 & 7) || (word >> 22 & 7) == 4)
			return false;
		return (word >> 22 & 7) == 3 || (word >> 25 & 7) != 0;
	}
	return false;
}

/* Whether the instruction of Thumb or RISC-V of 2 or 4 bytes is a conditional jump. */
static bool is_conditional_mixed(const struct tr_code *code, size_t at, size_t size)
{
	uint32_t half = word_at(code, at, 2), second = word_at(code, at + 2, 2);
	if (code->machine == EM_RISCV)
		return size == 2 ? (half & 3) == 1 && half >> 14 == 3 : (half & 0x7f) == 0x63;
	if (size == 2) /* b<cond>; cbz and cbnz */
		return ((half & 0xf000) == 0xd000 && (half & 0xf00) < 0xe00) ||
		       (half & 0xf500) == 0xb100;
	return (half & 0xf800) == 0xf000 && (second & 0xd000) == 0x8000 && (half & 0x380) != 0x380;
}

/* Whether the instruction of Thumb or RISC-V that begins with these 2 bytes has 4. */
static bool is_long(uint16_t machine, uint32_t half)
{
	return machine == EM_RISCV ? (half & 3) == 3 : half >= 0xe800;
}

/*
 * Like tr_jump_find, for machines with instructions of different sizes: decodes the block from its
 * first instruction on.
 */
static size_t walk(const struct tr_code *code)
{
	size_t at = 0, last = SIZE_MAX;
	while (at < code->size) {
		bool conditional;
		last = at;
		if (code->machine == EM_X86_64 || code->machine == EM_386) {
			struct cursor c = { code->bytes + at, code->bytes + code->size };
			conditional = skip_x86(&c, code->machine == EM_X86_64);
			at = (size_t)(c.pos - code->bytes);
		} else {
			size_t size = is_long(code->machine, word_at(code, at, 2)) ? 4 : 2;
			conditional = is_conditional_mixed(code, at, size);
			at += size;
		}
		if (at >= code->size)
			return conditional ? last : SIZE_MAX;
	}
	return SIZE_MAX;
}

bool tr_jump_has_slot(uint16_t machine)
{
	return machine == EM_MIPS || machine == EM_SPARC || machine == EM_SPARC32PLUS ||
	       machine == EM_SPARCV9;
}

size_t tr_jump_instruction(const struct tr_code *code)
{
	struct cursor c = { code->bytes, code->bytes + code->size };
	size_t size = 4;
	switch (code->machine) {
	case EM_386:
	case EM_X86_64:
		skip_x86(&c, code->machine == EM_X86_64);
		return (size_t)(c.pos - code->bytes);
	case EM_ARM:
	case EM_RISCV:
		if ((code->machine == EM_RISCV || code->thumb) &&
		    !is_long(code->machine, word_at(code, 0, 2)))
			size = 2;
		break;
	case EM_AARCH64:
	case EM_PPC:
	case EM_PPC64:
		break;
	default:
		if (!tr_jump_has_slot(code->machine))
			return 0;
	}
	return size <= code->size ? size : 0;
}

size_t tr_jump_find(const struct tr_code *code)
{
	uint16_t machine = code->machine;
	bool slot = tr_jump_has_slot(machine);
	if (machine == EM_X86_64 || machine == EM_386 || machine == EM_RISCV ||
	    (machine == EM_ARM && code->thumb))
		return walk(code);
	size_t last = (code->size + 3) / 4 * 4;
	if (last < (slot ? 8 : 4))
		return SIZE_MAX;
	last -= slot ? 8 : 4;
	return is_conditional(machine, word_at(code, last, 4)) ? last : SIZE_MAX;
}

/* Whether an instruction of x86 is a call. */
static bool is_x86_call(const struct tr_code *code)
{
	size_t at = 0;
	while (at + 1 < code->size &&
	       (code->bytes[at] == 0xf2 || code->bytes[at] == 0x67 || code->bytes[at] == 0x3e ||
		(code->machine == EM_X86_64 && (code->bytes[at] & 0xf0) == 0x40)))
		at++;
	return code->bytes[at] == 0xe8 || (code->bytes[at] == 0xff && at + 1 < code->size &&
					   (code->bytes[at + 1] & 0x38) == 0x10);
}

/* Whether the code, which is a single instruction, is a call. */
static bool is_call(const struct tr_code *code)
{
	uint32_t word = word_at(code, 0, 4), half = word_at(code, 0, 2),
		 second = word_at(code, 2, 2);
	switch (code->machine) {
	case EM_386:
	case EM_X86_64:
		return is_x86_call(code);
	case EM_ARM:
		if (code->thumb) /* blx of a register; bl and blx */
			return code->size == 2
				       ? (half & 0xff80) == 0x4780
				       : (half & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000;
		return (word & 0x0f000000) == 0x0b000000 || (word & 0xfe000000) == 0xfa000000 ||
		       (word & 0x0ffffff0) == 0x012fff30;
	case EM_AARCH64:
		return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
	case EM_PPC:
	case EM_PPC64: /* b, bc, bclr and bcctr that set the link register */
		return (word & 1) && (word >> 26 == 16 || word >> 26 == 18 ||
				      (word >> 26 == 19 &&
				       ((word & 0x7fe) == 16 << 1 || (word & 0x7fe) == 528 << 1)));
	case EM_RISCV: /* c.jalr; jal and jalr with ra */
		return code->size == 2 ? (half & 0xf07f) == 0x9002 && (half & 0xf80)
				       : (word & 0xfff) == 0x0ef || (word & 0x7fff) == 0x0e7;
	}
	return false;
}

size_t tr_jump_last_call(const struct tr_code *code)
{
	struct tr_code one = *code;
	size_t last = SIZE_MAX;
	bool conditional = false;
	if (tr_jump_has_slot(code->machine))
		return last;
	for (size_t at = 0; at < code->size; at += one.size) {
		one.bytes = code->bytes + at;
		one.size = code->size - at;
		one.size = tr_jump_instruction(&one);
		if (!one.size)
			break;
		if (!conditional && is_call(&one))
			last = at;
		conditional = tr_jump_find(&one) == 0;
	}
	return last;
}
