/* SPDX-License-Identifier: MIT */
/*
 * The qemulog format: the log that QEMU writes with -d in_asm,exec,nochain. Its blocks are an
 * execution trace that requires no plug-in. trace-formats(5) describes it for users.
 *
 *	lines -> bid -> next: read_code (where blocks end), read_trace -> records
 *
 *	----------------
 *	IN: main				a block is translated: its instructions
 *	0x401136:  55                       pushq    %rbp
 *	0x401137:  48 89 e5                 movq     %rsp, %rbp
 *	0x40113a:  75 05                    jne      0x401141
 *
 *	Trace 0: 0x7f33a7400100 [0000000000000000/0000000000401136/1040c0b3/00000200] main
 *						a block is executed: CPU, host address, and in
 *						brackets cs_base, pc, flags and cflags
 *	Stopped execution of TB chain before 0x7f33a7400100 [0000000000401136] main
 *						the block in the line before was not executed
 *
 * Before version 2.12 a line is "Trace 0x7f33a7400100 [0: 0000000000401136] main" or has no "0: ".
 * An instruction that is longer than its line continues in the next one. Bytes are single, or words
 * of the target. The logs of other -d items (page, strace, cpu, op) may be in between.
 *
 * Sources: QEMU's accel/tcg/cpu-exec.c (log_cpu_exec), accel/tcg/translator.c, disas/capstone.c
 * (cap_dump_insn), and logs of versions 2.1 to 7.2.
 */
#ifndef TR_FORMAT_QEMULOG_QEMULOG_H
#define TR_FORMAT_QEMULOG_QEMULOG_H

#include "format/format.h"

#endif
