/* SPDX-License-Identifier: MIT */
/* Conditional jumps at the end of blocks, and calls, as GNU as assembles them for each machine. */
#include "symbol/jump.h"

#include <elf.h>
#include <string.h>

#include "core/text.h"
#include "tap.h"

static const struct {
	const char *name;
	uint16_t machine;
	bool big, thumb;
	const char *bytes; /* hex, with a blank between instructions */
	int at;		   /* offset of the jump; -1: there is none */
} cases[] = {
	{ "x86-64: cmp, jne", EM_X86_64, false, false, "4883f825 7502", 4 },
	{ "x86-64: jne rel32", EM_X86_64, false, false, "4885c0 0f8491000000", 3 },
	{ "x86-64: jmp", EM_X86_64, false, false, "4883f825 eb02", -1 },
	{ "x86-64: jmp with an offset that looks like jne", EM_X86_64, false, false,
	  "90 e900007502", -1 },
	{ "x86-64: call", EM_X86_64, false, false, "e8f80b0000", -1 },
	{ "x86-64: ret", EM_X86_64, false, false, "5d c3", -1 },
	{ "x86-64: loop", EM_X86_64, false, false, "90 e2fd", 1 },
	{ "x86-64: movabs before jne", EM_X86_64, false, false, "48b80102030405067502 7502", 10 },
	{ "x86-64: SIB, disp32 and imm32", EM_X86_64, false, false, "c78485000000007b000000 7402",
	  11 },
	{ "x86-64: test with an immediate", EM_X86_64, false, false, "f60501000000ff 7402", 7 },
	{ "x86-64: not has none", EM_X86_64, false, false, "f7d0 7402", 2 },
	{ "x86-64: imul imm32", EM_X86_64, false, false, "69c010270000 7c02", 6 },
	{ "x86-64: 16-bit immediate", EM_X86_64, false, false, "6681f93412 7402", 5 },
	{ "x86-64: SSE with imm8", EM_X86_64, false, false, "660f70c1e4 7402", 5 },
	{ "x86-64: pcmpistri", EM_X86_64, false, false, "660f3a63c11a 7602", 6 },
	{ "x86-64: VEX", EM_X86_64, false, false, "c5fd6f06 c4e37d39c101 7402", 10 },
	{ "x86-64: vzeroupper", EM_X86_64, false, false, "c5f877 7402", 3 },
	{ "x86-64: EVEX", EM_X86_64, false, false, "62f1fd486f06 7402", 6 },
	{ "x86-64: rip-relative", EM_X86_64, false, false, "802552860100df 7402", 7 },
	{ "x86-64: the last instruction is cut", EM_X86_64, false, false, "4883f825 75", 4 },
	{ "x86-64: endbr64, bnd jne", EM_X86_64, false, false, "f30f1efa f27502", 4 },
	{ "i386: push, jne", EM_386, false, false, "6834120000 7502", 5 },
	{ "i386: inc is no REX", EM_386, false, false, "40 7502", 1 },
	{ "i386: 16-bit jcc", EM_386, false, false, "660f840200", 0 },
	{ "i386: moffs", EM_386, false, false, "a178563412 7402", 5 },
	{ "i386: lds is no VEX", EM_386, false, false, "c501 7402", 2 },
	{ "ARM: bne", EM_ARM, false, false, "000050e3 0200001a", 4 },
	{ "ARM: b", EM_ARM, false, false, "000050e3 020000ea", -1 },
	{ "ARM: big endian popeq", EM_ARM, true, false, "08bd8010", 0 },
	{ "Thumb: beq", EM_ARM, false, true, "0028 02d0", 2 },
	{ "Thumb: svc", EM_ARM, false, true, "0028 00df", -1 },
	{ "Thumb: cbnz", EM_ARM, false, true, "10b9", 0 },
	{ "Thumb: push is no cbz", EM_ARM, false, true, "10b5", -1 },
	{ "Thumb: bne.w after a 32-bit move", EM_ARM, false, true, "4ff0010c 40f00280", 4 },
	{ "Thumb: bl", EM_ARM, false, true, "fff7fcff", -1 },
	{ "AArch64: b.ne", EM_AARCH64, false, false, "1f000071 41000054", 4 },
	{ "AArch64: cbz", EM_AARCH64, false, false, "400000b4", 0 },
	{ "AArch64: tbnz", EM_AARCH64, false, false, "40000037", 0 },
	{ "AArch64: b", EM_AARCH64, false, false, "02000014", -1 },
	{ "AArch64: ret", EM_AARCH64, false, false, "c0035fd6", -1 },
	{ "PowerPC: beq", EM_PPC, true, false, "2c030000 41820008", 4 },
	{ "PowerPC: b", EM_PPC, true, false, "48000008", -1 },
	{ "PowerPC: bc always", EM_PPC, true, false, "42800008", -1 },
	{ "PowerPC: blr", EM_PPC, true, false, "4e800020", -1 },
	{ "PowerPC: beqlr", EM_PPC, true, false, "4d820020", 0 },
	{ "PowerPC: little endian bdnz", EM_PPC64, false, false, "fcff0042", 0 },
	{ "RISC-V: bne", EM_RISCV, false, false, "0111 63940700", 2 },
	{ "RISC-V: c.beqz", EM_RISCV, false, false, "91c3", 0 },
	{ "RISC-V: c.j", EM_RISCV, false, false, "11a0", -1 },
	{ "RISC-V: ret", EM_RISCV, false, false, "67800000", -1 },
	{ "MIPS: bne and its slot", EM_MIPS, true, false, "14400003 00000000", 0 },
	{ "MIPS: b", EM_MIPS, true, false, "10000003 00000000", -1 },
	{ "SPARC: bne and its slot", EM_SPARC, true, false, "12800004 01000000", 0 },
	{ "SPARC: ba", EM_SPARC, true, false, "10800004 01000000", -1 },
	{ "SPARC: sethi", EM_SPARC, true, false, "11000004 01000000", -1 },
	{ "an unknown machine", EM_68K, true, false, "6602 4e71", -1 },
	{ "no code", EM_X86_64, false, false, "", -1 },
};

/* The last call. */
static const struct {
	const char *name;
	uint16_t machine;
	bool big, thumb;
	const char *bytes;
	int at;
} calls[] = {
	{ "x86-64: call, mov", EM_X86_64, false, false, "e8f80b0000 89d8", 0 },
	{ "x86-64: a call that je passes over", EM_X86_64, false, false, "7405 e8f80b0000 c9 c3",
	  -1 },
	{ "x86-64: a call after a mov that je passes over", EM_X86_64, false, false,
	  "7408 4889c7 e8f80b0000 c3", 5 },
	{ "x86-64: two calls, and that of the stack protector", EM_X86_64, false, false,
	  "e8f80b0000 90 ffd0 7405 e8f80b0000 c9", 6 },
	{ "x86-64: call of r12", EM_X86_64, false, false, "41ffd4", 0 },
	{ "x86-64: jmp of rax", EM_X86_64, false, false, "ffe0", -1 },
	{ "x86-64: the bytes of a call in a number", EM_X86_64, false, false, "b8e8000000 c3", -1 },
	{ "i386: inc and dec are no prefixes", EM_386, false, false, "40 c3", -1 },
	{ "i386: call of memory", EM_386, false, false, "ff5004", 0 },
	{ "ARM: bl", EM_ARM, false, false, "fcffffeb", 0 },
	{ "ARM: blx of r3", EM_ARM, false, false, "33ff2fe1", 0 },
	{ "ARM: b", EM_ARM, false, false, "fcffffea", -1 },
	{ "ARM: beq, bl", EM_ARM, false, false, "0000000a fcffffeb 0088bde8", -1 },
	{ "Thumb: bl", EM_ARM, false, true, "1846 fff7fcff", 2 },
	{ "Thumb: blx of r3", EM_ARM, false, true, "9847", 0 },
	{ "Thumb: bx lr", EM_ARM, false, true, "7047", -1 },
	{ "Thumb: b.w", EM_ARM, false, true, "fff7febf", -1 },
	{ "AArch64: bl", EM_AARCH64, false, false, "00000094", 0 },
	{ "AArch64: blr", EM_AARCH64, false, false, "60003fd6", 0 },
	{ "AArch64: b.eq, bl", EM_AARCH64, false, false, "40000054 00000094", -1 },
	{ "PowerPC: bl", EM_PPC, true, false, "48000001", 0 },
	{ "PowerPC: bctrl", EM_PPC, true, false, "4e800421", 0 },
	{ "PowerPC: b, blr", EM_PPC, true, false, "48000008 4e800020", -1 },
	{ "RISC-V: jal", EM_RISCV, false, false, "ef000000", 0 },
	{ "RISC-V: jalr of ra", EM_RISCV, false, false, "e7800000", 0 },
	{ "RISC-V: c.jalr of a5", EM_RISCV, false, false, "8297", 0 },
	{ "RISC-V: ret, c.ebreak", EM_RISCV, false, false, "67800000 0290", -1 },
	{ "MIPS: jal is not looked for", EM_MIPS, true, false, "0c000000 00000000", -1 },
};

/* Fills the bytes of hex digits with blanks between them; returns their number. */
static size_t read_hex(const char *p, uint8_t *bytes)
{
	size_t size = 0;
	for (; *p; p += *p == ' ' ? 1 : 2)
		if (*p != ' ')
			bytes[size++] = (uint8_t)(tr_hex_digit(p[0]) << 4 | tr_hex_digit(p[1]));
	return size;
}

/* Whether the blanks of a case are where instructions end. */
static bool has_ends(const char *bytes, struct tr_code code)
{
	for (const char *p = bytes; code.size;) {
		size_t size = tr_jump_instruction(&code), digits = strcspn(p, " ");
		if (size != digits / 2)
			return code.machine == EM_68K && size == 0;
		p += digits + (p[digits] == ' ');
		code.bytes += size;
		code.size -= size;
	}
	return true;
}

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t bytes[32];
		size_t size = read_hex(cases[i].bytes, bytes);
		struct tr_code code = { cases[i].machine, cases[i].big, cases[i].thumb, bytes,
					size };
		size_t at = tr_jump_find(&code);
		ok(at == (size_t)(ptrdiff_t)cases[i].at, "%s", cases[i].name);
		ok(has_ends(cases[i].bytes, code), "%s: sizes of instructions", cases[i].name);
		/* no byte after the code is looked at: valgrind and sanitizers see it */
		for (size_t cut = 0; cut <= size; cut++) {
			uint8_t *copy = malloc(cut + !cut);
			if (!copy)
				return 1;
			memcpy(copy, bytes, cut);
			code.bytes = copy;
			code.size = cut;
			if (tr_jump_find(&code) != SIZE_MAX && tr_jump_find(&code) >= cut)
				ok(false, "%s: a jump after %zu bytes", cases[i].name, cut);
			if (tr_jump_instruction(&code) > cut)
				ok(false, "%s: an instruction of more than %zu bytes",
				   cases[i].name, cut);
			free(copy);
		}
	}
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		uint8_t bytes[32];
		size_t size = read_hex(calls[i].bytes, bytes);
		for (size_t cut = 0; cut <= size; cut++) {
			uint8_t *copy = malloc(cut + !cut);
			if (!copy)
				return 1;
			memcpy(copy, bytes, cut);
			struct tr_code code = { calls[i].machine, calls[i].big, calls[i].thumb,
						copy, cut };
			size_t at = tr_jump_last_call(&code), want = (size_t)(ptrdiff_t)calls[i].at;
			if (cut == size || (at != SIZE_MAX && (want == SIZE_MAX || at > want)))
				ok(at == want, "%s, %zu bytes", calls[i].name, cut);
			free(copy);
		}
	}
	return done_testing();
}
