/* SPDX-License-Identifier: MIT */
/*
 * The trace32 format: the branch flow that Lauterbach's TRACE32 exports from a hardware trace with
 * Trace.EXPORT.BranchFlow FILE /NOSYMBOL /CALLER. trace-formats(5) describes it for users.
 *
 *	lines -> bid -> next: read_entry (a change of flow), put_block (what ran before it) -> records
 *
 *	#######################################################################
 *	# Branch Flow trace file
 *	# target; caller; trace record
 *	#######################################################################
 *	C:0x20000400; T:0x08000132
 *	C:0x20000434; T:0x20000426		target, and the instruction from which it was reached
 *
 * From one target to the next caller, the instructions were executed one after the other. The
 * letters are TRACE32's access classes. The list has no sizes of instructions, so the end of the
 * last one and the conditional jumps that were not taken can only be derived from the program.
 *
 * Source: the reader of GNATcoverage (trace_adapters/trace32, trace32-branchflow.adb), which is
 * public, and its manual (doc/gnatcov/trace32.rst). The third column is named in the head, and not
 * in its example of a line, so it can be absent.
 */
#ifndef TR_FORMAT_TRACE32_TRACE32_H
#define TR_FORMAT_TRACE32_TRACE32_H

#include "format/format.h"

#endif
