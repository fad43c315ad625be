/* SPDX-License-Identifier: MIT */
/*
 * Machine code with marks for what was executed (tr-totext --style=asm): the disassembly of
 * objdump(1), with gnatcov's marks for each instruction and function:
 *
 *	main !: 0000000000401136-0000000000401157
 *	0000000000401136 +:  55                   	push   %rbp
 *	0000000000401148 v:  75 05                	jne    40114f <main+0x19>
 *
 * The marks are + for executed, - for not executed, > and v for a conditional jump that was always
 * or never taken, and ! for a function of which only a part was executed. Memory grows with the
 * distinct code and the largest function.
 */
#ifndef TR_VIEW_ASM_TEXT_H
#define TR_VIEW_ASM_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_programs;
struct tr_asm_text;

/* objdump: the program to run; borrowed, as out is. NULL: memory is exhausted. */
struct tr_asm_text *tr_asm_text_new(const char *objdump, struct tr_output *out);

/* Returns the programs, to which the caller adds those of the blocks before the first record. */
struct tr_programs *tr_asm_text_programs(struct tr_asm_text *view);

/* Takes the next line of the stream, or NULL at its end: then the programs are written. */
enum tr_status tr_asm_text_put(struct tr_asm_text *view, struct tr_record *record,
			       struct tr_error *err);

void tr_asm_text_free(struct tr_asm_text *view);

#endif
