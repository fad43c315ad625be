/* SPDX-License-Identifier: MIT */
/*
 * The statements of a program: the places at which its source lines begin to run. A line was
 * executed if the first instruction of any of its statements was. The rules come close to what
 * gcov counts as a line of code:
 *
 *  - A statement is a row of the line table that begins one (is_stmt) and has a line.
 *  - So is a label with a name. The labels of a switch have no row, and are not statements.
 *  - So are the line of an inlined call and the line of the called function, at the entry of the
 *    inlined code.
 *  - Functions made by the compiler have none: implicit constructors, initialisers of static
 *    objects, thunks. The operator() of a lambda has some.
 *  - The rows at the entry of a function belong to the line of its declaration. So do those that
 *    follow at the same line and column: the opening brace, where the stack protector begins.
 *  - The closing brace of a function that returns a value is not a statement: the last rows at the
 *    highest line and column, if the function ends in a return instruction. It is one where their
 *    code calls functions: variables are destroyed there, on return or after an exception.
 *  - The closing brace of a function without a value is a statement at each of its rows, because
 *    the common exit of the function can have a row without is_stmt. The return instruction after
 *    them is another statement, because jumps can skip the first instruction.
 */
#ifndef TR_SYMBOL_STATEMENTS_H
#define TR_SYMBOL_STATEMENTS_H

#include "symbol/elf.h"

/*
 * Makes the statements of sorted rows and sorted functions. *statements has at most one item for
 * each row and function, and is freed with free(3). Returns their number; SIZE_MAX: memory is
 * exhausted.
 */
size_t tr_statements_make(const struct tr_code_row *rows, size_t row_count,
			  const struct tr_code_function *functions, size_t function_count,
			  struct tr_code_statement **statements);

#endif
