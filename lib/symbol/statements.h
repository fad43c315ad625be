/* SPDX-License-Identifier: MIT */
/*
 * The statements of a program: the places at which its source lines begin to run. A line was
 * executed if the first instruction of any of its statements was. The rules come close to what
 * gcov counts as a line of code:
 *
 *  - A statement is a row of the line table that begins one (is_stmt) and has a line.
 *  - So is a label that has a name. The labels of a switch have no row, and are no statements.
 *  - So are the line of a call that is inlined and that of the function, at the entry of the code that is
 *    there instead.
 *  - Functions that the compiler made have none: implicit constructors, initialisers of static
 *    objects, thunks. The operator() of a lambda is not one of them.
 *  - The rows at the entry of a function belong to the line of its declaration. So do those that
 *    follow at the same line and column: the opening brace, where the stack protector begins.
 *  - The closing brace of a function that returns a value is no statement: the last rows at the
 *    highest line and column, if the function ends in a return instruction. But where their code
 *    calls functions it is one: there variables are destroyed, on return or after an exception.
 *  - The closing brace of a function without a value is a statement at each of its rows, because the
 *    code that all ways out of the function share can have a row that begins no statement. It is
 *    another one at the return instruction after them: jumps can go past the first instruction.
 */
#ifndef TR_SYMBOL_STATEMENTS_H
#define TR_SYMBOL_STATEMENTS_H

#include "symbol/elf.h"

/*
 * Makes the statements of sorted rows and sorted functions. *statements has one item per row and
 * function at most, and is freed with free(3). Returns their number; SIZE_MAX: memory is exhausted.
 */
size_t tr_statements_make(const struct tr_code_row *rows, size_t row_count,
			  const struct tr_code_function *functions, size_t function_count,
			  struct tr_code_statement **statements);

#endif
