/* SPDX-License-Identifier: MIT */
/*
 * Processes as a tree. The forest keeps the commands of a segment; when it is complete, one pass
 * measures the columns and a second one writes the lines.
 */
#include "view/tree_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "process/forest.h"
#include "process/command.h"

enum {
	DRAWN = 40, /* levels; deeper ones are shown as a number */
	DIGITS = 3, /* of seconds */
};

enum column { SECONDS, EXIT, SEQ, COLUMNS };

struct tr_tree_text {
	struct tr_tree_text_config config;
	struct tr_output *out;
	struct tr_forest forest;
	struct tr_buffer line, text;
	bool more[DRAWN + 1];	/* whether a level continues below this line */
	size_t widths[COLUMNS]; /* of the columns before the command; 0: it is not shown */
	bool any;		/* a segment was shown */
};

/* Keeps the command of a run. With a width, no more of it is kept than a line can show. */
static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	const struct tr_tree_text *tree = context;

	/* a character has up to four bytes */
	return tr_command_show(record, 4 * tree->config.width, text);
}

struct tr_tree_text *tr_tree_text_new(const struct tr_tree_text_config *config,
				      struct tr_output *out)
{
	struct tr_tree_text *tree = calloc(1, sizeof *tree);

	if (!tree)
		return NULL;
	tree->config = *config;
	if (tree->config.width > SIZE_MAX / 8)
		tree->config.width = 0;
	tree->out = out;
	tr_forest_init(&tree->forest, config->max_spool, describe, tree);
	return tree;
}

void tr_tree_text_free(struct tr_tree_text *tree)
{
	if (!tree)
		return;
	tr_forest_free(&tree->forest);
	tr_buffer_free(&tree->line);
	tr_buffer_free(&tree->text);
	free(tree);
}

/*
 * Writes the cell of a run in a column: how long it took, how it ended, or the seq of its record.
 */
static void put_cell(const struct tr_forest *forest, const struct tr_forest_node *node,
		     enum column column, struct tr_buffer *to)
{
	int64_t time = tr_forest_duration(node);
	bool known = true;

	if (column == EXIT)
		known = tr_forest_end(forest, node, to);
	else if (column == SEQ && node->seq != TR_RUN_NONE)
		tr_buffer_put_decimal(to, node->seq);
	else if (column == SECONDS && time != TR_INSTANT_NONE)
		tr_instant_write(time, DIGITS, to);
	else
		known = false;
	if (!known)
		tr_buffer_put_byte(to, '-');
}

static const char *const titles[COLUMNS] = {
	[SECONDS] = "seconds",
	[EXIT] = "exit",
	[SEQ] = "seq",
};

/*
 * Decides which columns are shown, and their widths: those of the titles or of the longest cells.
 */
static void measure(struct tr_tree_text *tree)
{
	const struct tr_forest *forest = &tree->forest;
	/*
	 * the nodes with the longest cells; a cell that is no number is the longest if it is a
	 * signal
	 */
	const struct tr_forest_node *longest[COLUMNS] = { NULL };
	size_t signal = 0;
	bool ends = false;

	for (size_t i = 0; i < forest->count; i++) {
		const struct tr_forest_node *node = &forest->nodes[i];
		int64_t time = tr_forest_duration(node);
		if (time != TR_INSTANT_NONE &&
		    (!longest[SECONDS] || time > tr_forest_duration(longest[SECONDS])))
			longest[SECONDS] = node;
		if (node->fate == TR_RUN_EXITED && node->end != UINT64_MAX &&
		    (!longest[EXIT] || node->end > longest[EXIT]->end))
			longest[EXIT] = node;
		if (node->fate == TR_RUN_KILLED && strlen(forest->signals[node->end]) > signal)
			signal = strlen(forest->signals[node->end]);
		ends |= node->fate == TR_RUN_EXITED || node->fate == TR_RUN_KILLED;
		if (node->seq != TR_RUN_NONE && (!longest[SEQ] || node->seq > longest[SEQ]->seq))
			longest[SEQ] = node;
	}
	for (enum column column = SECONDS; column < COLUMNS; column++) {
		size_t *width = &tree->widths[column];
		*width = strlen(titles[column]);
		if (longest[column])
			put_cell(forest, longest[column], column, &tree->text);
		if (tree->text.len > *width)
			*width = tree->text.len;
		tr_buffer_reset(&tree->text);
	}
	if (signal > tree->widths[EXIT])
		tree->widths[EXIT] = signal;
	/* a column without any value only takes room */
	if (!ends)
		tree->widths[EXIT] = 0;
	if (!longest[SECONDS])
		tree->widths[SECONDS] = 0;
}

/* Puts the columns before the command, aligned to the right. node NULL: their titles. */
static void put_columns(struct tr_tree_text *tree, const struct tr_forest_node *node)
{
	for (enum column column = SECONDS; column < COLUMNS; column++) {
		size_t width = tree->widths[column];
		if (!width)
			continue;
		if (node)
			put_cell(&tree->forest, node, column, &tree->text);
		else
			tr_buffer_put_text(&tree->text, tr_text_from(titles[column]));
		for (size_t i = tree->text.len; i < width; i++)
			tr_buffer_put_byte(&tree->line, ' ');
		tr_buffer_put_text(&tree->line, tr_buffer_text(&tree->text));
		tr_buffer_put_literal(&tree->line, "  ");
		tr_buffer_reset(&tree->text);
	}
}

/* Draws the branches of each level, which continue as the line above requires. */
static void put_branches(struct tr_tree_text *tree, size_t depth)
{
	static const char *const utf8[] = { "\xe2\x94\x82  ", "   ", "\xe2\x94\x9c\xe2\x94\x80 ",
					    "\xe2\x94\x94\xe2\x94\x80 " };
	static const char *const ascii[] = { "|  ", "   ", "|- ", "`- " };
	const char *const *pieces = tree->config.ascii ? ascii : utf8;

	for (size_t level = 1; level <= depth && level <= DRAWN; level++) {
		size_t piece = (tree->more[level] ? 0 : 1) + (level == depth ? 2 : 0);
		tr_buffer_put_text(&tree->line, tr_text_from(pieces[piece]));
	}
	if (depth > DRAWN) {
		tr_buffer_put_byte(&tree->line, '[');
		tr_buffer_put_decimal(&tree->line, depth);
		tr_buffer_put_literal(&tree->line, "] ");
	}
}

/* Cuts the line to width characters. */
static void cut(struct tr_tree_text *tree)
{
	size_t width = tree->config.width, count = 0, last = 0;

	if (!width)
		return;
	for (size_t i = 0; i < tree->line.len; i++) {
		if (tr_utf8_is_inside(tree->line.data[i]))
			continue;
		if (++count == width)
			last = i;
		if (count <= width)
			continue;
		tree->line.len = last;
		tr_buffer_put_text(&tree->line,
				   tree->config.ascii ? TR_TEXT(">") : TR_TEXT("\xe2\x80\xa6"));
		return;
	}
}

/* Writes the line that was composed. False: memory is exhausted. */
static bool write_line(struct tr_tree_text *tree)
{
	if (tree->line.failed || tree->text.failed)
		return false;
	cut(tree);
	tr_buffer_put_byte(&tree->line, '\n');
	tr_output_put_text(tree->out, tr_buffer_text(&tree->line));
	tr_buffer_reset(&tree->line);
	return !tree->line.failed;
}

/* Writes the line of titles, after an empty line if this is not the first tree. */
static bool show_titles(struct tr_tree_text *tree)
{
	if (tree->any)
		tr_output_put_byte(tree->out, '\n');
	tree->any = true;
	put_columns(tree, NULL);
	tr_buffer_put_literal(&tree->line, "command");
	return write_line(tree);
}

/* Writes the line of a run. False: err is filled. */
static bool show_node(struct tr_tree_text *tree, const struct tr_forest_node *node, size_t depth,
		      struct tr_error *err)
{
	put_columns(tree, node);
	if (depth <= DRAWN)
		/* the lines below continue this level if it has more nodes */
		tree->more[depth] = node->next != TR_FOREST_NONE;
	put_branches(tree, depth);
	if (node->replaces != TR_FOREST_NONE)
		tr_buffer_put_literal(&tree->line, "exec ");
	if (!node->program)
		tr_buffer_put_literal(&tree->line, "(fork)");
	else if (!tr_forest_add_text(&tree->forest, node, &tree->line, err))
		return false;
	if (write_line(tree))
		return true;
	tr_error_memory(err);
	return false;
}

/* Writes the tree of a complete segment. */
static enum tr_status show(struct tr_tree_text *tree, struct tr_error *err)
{
	struct tr_forest *forest = &tree->forest;
	size_t depth;

	if (!tr_forest_link(forest))
		return tr_error_memory(err);
	measure(tree);
	if (!show_titles(tree))
		return tr_error_memory(err);
	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		if (!show_node(tree, &forest->nodes[at], depth, err))
			return TR_FATAL;
		if (tree->out->failed)
			break;
	}
	tr_output_record_end(tree->out);
	tr_forest_clear(forest);
	return TR_OK;
}

enum tr_status tr_tree_text_put(struct tr_tree_text *tree, struct tr_record *record,
				struct tr_error *err)
{
	if (tr_forest_complete(&tree->forest, record)) {
		enum tr_status status = show(tree, err);
		if (status != TR_OK)
			return status;
	}
	return !record || tr_forest_put(&tree->forest, record, err) ? TR_OK : TR_FATAL;
}
