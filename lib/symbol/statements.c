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

/*
 * Whether the row becomes a statement. brace: that of a function without a value, whose rows are
 * statements even without is_stmt, because jumps to the end of the function lead to them; or NULL.
 */
static bool is_taken(const struct tr_code_row *row, const struct tr_code_row *brace)
{
	return is_statement(row) || (!(row->flags & TR_ROW_END) && is_brace(row, brace));
}

/*
 * Returns the end of the rows at the entry of a function, which belong to the line of its
 * declaration: those at its first address, and those that follow at the same line and column. Marks
 * among them keep their own lines.
 */
static const struct tr_code_row *after_entry(const struct tr_code_row *row,
					     const struct tr_code_row *end,
					     const struct tr_code_row *brace, uint64_t entry)
{
	const struct tr_code_row *last = NULL;
	for (; row < end; row++) {
		if (!is_taken(row, brace) || row->flags & TR_ROW_MARK)
			continue;
		if (row->address != entry && !(last && is_same_place(row, last)))
			break;
		last = row;
	}
	return row;
}

/* Appends the statements of rows that belong to one function, or to none (function NULL). */
static struct tr_code_statement *put_rows(struct tr_code_statement *to,
					  const struct tr_code_row *row,
					  const struct tr_code_row *end,
					  const struct tr_code_function *function, uint32_t index)
{
	const struct tr_code_row *brace = NULL, *body = row;
	const struct tr_code_statement *last_brace = NULL; /* the last statement, if at the brace */
	if (function && function->flags & TR_FUNCTION_HIDDEN)
		return to;
	if (function && function->flags & TR_FUNCTION_RETURNS) {
		if (function->flags & TR_FUNCTION_VALUE)
			end = before_brace(row, end, function->first);
		else
			brace = find_brace(row, end);
	}
	if (function && function->line &&
	    !(function->flags & (TR_FUNCTION_PART | TR_FUNCTION_SYMBOL)))
		body = after_entry(row, end, brace, function->first);
	for (; row < end; row++) {
		if (!is_taken(row, brace))
			continue;
		bool entry = row < body && !(row->flags & TR_ROW_MARK);
		*to++ = (struct tr_code_statement){
			.address = row->address,
			.file = entry && function->file ? function->file : row->file,
			.line = entry ? function->line : row->line,
			.function = index,
		};
		last_brace = !entry && is_brace(row, brace) ? to - 1 : NULL;
	}
	/* jumps to the return instruction can skip the first instruction at the brace */
	if (last_brace && last_brace->address < function->returns_at) {
		*to = *last_brace;
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
		uint64_t limit =
			UINT64_MAX; /* of the rows of this function, or before the next one */
		if (f < function_count)
			limit = inside ? functions[f].end : functions[f].first;
		for (next = i + 1; next < row_count && rows[next].address < limit; next++)
			;
		to = put_rows(to, rows + i, rows + next, inside ? &functions[f] : NULL,
			      inside ? (uint32_t)f : TR_CODE_NONE);
	}
	return (size_t)(to - *statements);
}
