/* SPDX-License-Identifier: MIT */
/* Which rows of a line table are statements, and of which line. */
#include "symbol/statements.h"

#include <string.h>

#include "tap.h"

enum {
	S = TR_ROW_STATEMENT,
	E = TR_ROW_END,
	H = TR_FUNCTION_HIDDEN,
	V = TR_FUNCTION_VALUE,
	R = TR_FUNCTION_RETURNS,
	Y = TR_FUNCTION_SYMBOL,
	P = TR_FUNCTION_PART,
	M = TR_ROW_STATEMENT | TR_ROW_MARK,
	C = TR_ROW_STATEMENT | TR_ROW_CALLS
};

/* A table: the function is 0x10 to 0x20 of line 3; file is 1. want: ADDRESS:LINE,... in decimal. */
static const struct {
	const char *name;
	unsigned function; /* its flags; UINT_MAX: there is none */
	struct tr_code_row rows[6];
	const char *want;
} cases[] = {
	{ "rows without is_stmt or line are none",
	  0,
	  { { 0x12, 1, 5, 1, S }, { 0x13, 1, 6, 1, 0 }, { 0x14, 1, 0, 1, S } },
	  "18:5" },
	{ "the rows at the entry have the line of the declaration",
	  0,
	  { { 0x10, 1, 4, 1, S }, { 0x10, 1, 5, 1, S }, { 0x12, 1, 6, 1, S } },
	  "16:3,16:3,18:6" },
	{ "so do rows that follow at the same line and column, as the stack protector has",
	  0,
	  { { 0x10, 1, 4, 1, S },
	    { 0x12, 1, 4, 1, S },
	    { 0x14, 1, 6, 1, S },
	    { 0x16, 1, 4, 1, S } },
	  "16:3,18:3,20:6,22:4" },
	{ "a call that is inlined at the entry has its own line",
	  0,
	  { { 0x10, 1, 5, 0, M },
	    { 0x10, 1, 4, 1, S },
	    { 0x12, 1, 4, 1, S },
	    { 0x14, 1, 6, 1, S } },
	  "16:5,16:3,18:3,20:6" },
	{ "but not at another column",
	  0,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 4, 3, S } },
	  "16:3,18:4" },
	{ "nor where columns are unknown",
	  0,
	  { { 0x10, 1, 4, 0, S }, { 0x12, 1, 4, 0, S } },
	  "16:3,18:4" },
	{ "a further range of the function has no entry",
	  P,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S } },
	  "16:4,18:6" },
	{ "nor has a function that only the symbol table has",
	  Y,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S } },
	  "16:4,18:6" },
	{ "the brace of a function that returns a value",
	  V | R,
	  { { 0x10, 1, 4, 1, S },
	    { 0x12, 1, 6, 1, S },
	    { 0x18, 1, 7, 1, S },
	    { 0x1a, 1, 7, 1, S } },
	  "16:3,18:6" },
	{ "it stays where it destroys variables, to the last row that does",
	  V | R,
	  { { 0x10, 1, 4, 1, S },
	    { 0x12, 1, 6, 1, S },
	    { 0x16, 1, 7, 1, S },
	    { 0x18, 1, 7, 1, C },
	    { 0x1a, 1, 7, 1, S } },
	  "16:3,18:6,22:7,24:7" },
	{ "it stays without a value, also at the return instruction",
	  R,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S }, { 0x18, 1, 7, 1, S } },
	  "16:3,18:6,24:7,31:7" },
	{ "there each of its rows is a statement: jumps go to one that begins none",
	  R,
	  { { 0x10, 1, 4, 1, S },
	    { 0x12, 1, 7, 2, S },
	    { 0x14, 1, 6, 1, S },
	    { 0x16, 1, 6, 1, 0 },
	    { 0x18, 1, 7, 2, 0 },
	    { 0x1a, 1, 7, 2, S | E } },
	  "16:3,18:7,20:6,24:7,31:7" },
	{ "the return instruction is no other statement if its row begins at it",
	  R,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S }, { 0x1f, 1, 7, 1, S } },
	  "16:3,18:6,31:7" },
	{ "nor if another line than the brace is last",
	  R,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 7, 1, S }, { 0x18, 1, 6, 1, S } },
	  "16:3,18:7,24:6" },
	{ "nor if there is only the entry",
	  R,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 4, 1, S } },
	  "16:3,18:3" },
	{ "and where the function does not end in a return",
	  V,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S }, { 0x18, 1, 7, 1, S } },
	  "16:3,18:6,24:7" },
	{ "the brace is not last: another line is",
	  V | R,
	  { { 0x10, 1, 4, 1, S }, { 0x12, 1, 7, 1, S }, { 0x18, 1, 6, 1, S } },
	  "16:3,18:7,24:6" },
	{ "one line: the column decides",
	  V | R,
	  { { 0x10, 1, 3, 10, S }, { 0x12, 1, 3, 20, S }, { 0x18, 1, 3, 30, S } },
	  "16:3,18:3" },
	{ "a function within a macro is at one place, and keeps its entry",
	  V | R,
	  { { 0x10, 1, 3, 10, S }, { 0x14, 1, 3, 10, S }, { 0x18, 1, 3, 10, S } },
	  "16:3" },
	{ "code of the compiler", H, { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S } }, "" },
	{ "no function", 0xffff, { { 0x10, 1, 4, 1, S }, { 0x12, 1, 6, 1, S } }, "16:4,18:6" },
	{ "before, in and after the function",
	  H,
	  { { 0x08, 1, 4, 1, S }, { 0x10, 1, 5, 1, S }, { 0x20, 1, 6, 1, S } },
	  "8:4,32:6" },
	{ "the end of a sequence", 0, { { 0x12, 1, 4, 1, S }, { 0x14, 1, 4, 1, S | E } }, "18:4" },
	{ "no rows", 0, { { 0, 0, 0, 0, 0 } }, "" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tr_code_function function = { 0x10, 0x20, 0x1f, 1,
						     1,	   1,	 3,    cases[i].function,
						     0 };
		struct tr_code_statement *list;
		size_t rows = 0, len = 0;
		char got[128] = "";
		while (rows < 6 && cases[i].rows[rows].address)
			rows++;
		bool none = cases[i].function == 0xffff;
		size_t count = tr_statements_make(cases[i].rows, rows, &function, !none, &list);
		for (size_t k = 0; k < count; k++)
			len += (size_t)snprintf(got + len, sizeof got - len, "%s%d:%d",
						k ? "," : "", (int)list[k].address,
						(int)list[k].line);
		if (!ok(strcmp(got, cases[i].want) == 0, "%s", cases[i].name))
			diag("%s, not %s", got, cases[i].want);
		free(list);
	}
	return done_testing();
}
