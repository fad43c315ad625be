/* SPDX-License-Identifier: MIT */
/* Walks over rows and functions in the order of their addresses, one function after the other. */
#include "symbol/statements.h"

#include <stdlib.h>

/* Whether the row can be a statement. */
static bool is_statement(const struct tr_code_row *row)
{
	return (row->flags & (TR_ROW_STATEMENT | TR_ROW_END)) == TR_ROW_STATEMENT && row->line;
}

/* Whether the rows have the same line and column. */
static bool is_same_place(const struct tr_code_row *a, const struct tr_code_row *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column && a->column;
}

/* Returns the statement at the highest line and column: the closing brace. NULL: there is none. */
static const struct tr_code_row *find_brace(const struct tr_code_row *row,
					    const struct tr_code_row *end)
{
	const struct tr_code_row *brace = NULL;
	for (; row < end; row++)
		if (is_statement(row) &&
		    (!brace || row->line > brace->line ||
		     (row->line == brace->line && row->column > brace->column)))
			brace = row;
	return brace;
}

/* Whether the row is at the closing brace. */
static bool is_brace(const struct tr_code_row *row, const struct tr_code_row *brace)
{
	return brace && row->line == brace->line && row->column == brace->column;
}

/*
 * Returns where the statements of a function end: before the last rows at its closing brace, unless
 * these call something. All rows of a function that is within a macro are at one place; its entry
 * is kept.
 */
static const struct tr_code_row *before_brace(const struct tr_code_row *row,
					      const struct tr_code_row *end, uint64_t entry)
{
	const struct tr_code_row *brace = find_brace(row, end);
	while (end > row && end[-1].address != entry && !(end[-1].flags & TR_ROW_CALLS) &&
	       (!is_statement(end - 1) || is_brace(end - 1, brace)))
		end--;
	return end;
}

/* Appends the statements of rows that belong to one function, or to none (function NULL). */
static struct tr_code_statement *put_rows(struct tr_code_statement *to,
					  const struct tr_code_row *row,
					  const struct tr_code_row *end,
					  const struct tr_code_function *function, uint32_t index)
{
	if (function && function->flags & TR_FUNCTION_HIDDEN)
		return to;
	bool returns_value =
		function && (~function->flags & (TR_FUNCTION_VALUE | TR_FUNCTION_RETURNS)) == 0;
	/* jumps to the end of a function without a value go to a row without is_stmt */
	const struct tr_code_row *brace = NULL;
	if (returns_value)
		end = before_brace(row, end, function->first);
	else if (function && function->flags & TR_FUNCTION_RETURNS)
		brace = find_brace(row, end);
	bool has_entry = function && function->line &&
			 !(function->flags & (TR_FUNCTION_PART | TR_FUNCTION_SYMBOL));
	const struct tr_code_row *last = NULL;	       /* of the entry */
	const struct tr_code_statement *shared = NULL; /* the last row, if it is at the brace */
	for (; row < end; row++) {
		if (!is_statement(row) && (row->flags & TR_ROW_END || !is_brace(row, brace)))
			continue;
		bool mark = row->flags & TR_ROW_MARK; /* between rows of the table */
		bool entry =
			has_entry && !mark &&
			(row->address == function->first || (last && is_same_place(row, last)));
		if (!entry && !mark)
			has_entry = false;
		last = mark ? last : row;
		*to++ = (struct tr_code_statement){ row->address,
						    entry && function->file ? function->file
									    : row->file,
						    entry ? function->line : row->line, index, 0 };
		shared = !entry && is_brace(row, brace) ? to - 1 : NULL;
	}
	if (shared && shared->address < function->returns_at) {
		*to = *shared;
		to++->address = function->returns_at;
	}
	return to;
}

size_t tr_statements_make(const struct tr_code_row *rows, size_t row_count,
			  const struct tr_code_function *functions, size_t function_count,
			  struct tr_code_statement **statements)
{
	struct tr_code_statement *to = malloc((row_count + function_count + 1) * sizeof *to);
	*statements = to;
	if (!to)
		return SIZE_MAX;
	size_t f = 0;
	for (size_t i = 0, next; i < row_count; i = next) {
		while (f < function_count && functions[f].end <= rows[i].address)
			f++;
		bool inside = f < function_count && functions[f].first <= rows[i].address;
		uint64_t limit = inside		      ? functions[f].end
				 : f < function_count ? functions[f].first
						      : UINT64_MAX;
		for (next = i + 1; next < row_count && rows[next].address < limit; next++)
			;
		to = put_rows(to, rows + i, rows + next, inside ? &functions[f] : NULL,
			      inside ? (uint32_t)f : TR_CODE_NONE);
	}
	return (size_t)(to - *statements);
}
