/* SPDX-License-Identifier: MIT */
/*
 * Processes as a graph for Graphviz: a node for each run, an edge from its parent, and a dashed
 * edge where a process called exec again. A segment is written when it is complete.
 */
#include "view/dot_text.h"

#include <stdlib.h>

#include "core/utf8.h"
#include "process/forest.h"
#include "process/command.h"

enum {
	TOOLTIP = 4000, /* bytes; Graphviz gives up on lines of 16 KiB */
	SHADES = 9,	/* of the colour scheme */
};

struct tr_dot_text {
	struct tr_dot_text_config config;
	struct tr_output *out;
	struct tr_forest forest;
	struct tr_buffer line, text;
	uint64_t graphs;
};

/* Writes the command of a run, which the forest keeps until the graph is written. */
static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	(void)context;
	return tr_command_show(record, TOOLTIP, text);
}

struct tr_dot_text *tr_dot_text_new(const struct tr_dot_text_config *config, struct tr_output *out)
{
	struct tr_dot_text *dot = calloc(1, sizeof *dot);

	if (!dot)
		return NULL;
	dot->config = *config;
	dot->out = out;
	tr_forest_init(&dot->forest, config->max_spool, describe, dot);
	return dot;
}

void tr_dot_text_free(struct tr_dot_text *dot)
{
	if (!dot)
		return;
	tr_forest_free(&dot->forest);
	tr_buffer_free(&dot->line);
	tr_buffer_free(&dot->text);
	free(dot);
}

/* Appends a text for use between quotes; Graphviz expands escapes and HTML entities there. */
static void put_quoted(struct tr_text text, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c == '"' || c == '\\')
			tr_buffer_put_byte(to, '\\');
		if (c == '&')
			tr_buffer_put_literal(to, "&amp;");
		else
			tr_buffer_put_byte(to, c);
	}
}

/* Appends the name of a node in the graph. */
static void put_id(const struct tr_dot_text *dot, const struct tr_forest_node *node,
		   struct tr_buffer *to)
{
	tr_buffer_put_byte(to, 'n');
	tr_buffer_put_decimal(to, (uint64_t)(node - dot->forest.nodes));
}

/*
 * Returns the shade of a run. The longest is the darkest; half its duration is one shade lighter.
 */
static unsigned shade(int64_t duration, int64_t longest)
{
	unsigned shade = SHADES;

	if (duration == TR_INSTANT_NONE)
		return 1;
	for (; shade > 1 && duration < longest; shade--)
		duration = duration > INT64_MAX / 2 ? INT64_MAX : 2 * duration + 1;
	return shade;
}

/* Appends a command, shortened in its middle: its compiler comes first and its source last. */
static void put_command(struct tr_text command, size_t width, struct tr_buffer *to)
{
	if (!width || command.len <= width) {
		put_quoted(command, to);
		return;
	}
	size_t head = width - width / 2, tail = command.len - width / 2;
	while (head > 0 && tr_utf8_is_inside(command.data[head]))
		head--;
	while (tail < command.len && tr_utf8_is_inside(command.data[tail]))
		tail++;
	put_quoted((struct tr_text){ command.data, head }, to);
	tr_buffer_put_literal(to, "\xe2\x80\xa6");
	put_quoted(tr_text_span(command.data + tail, command.data + command.len), to);
}

/* Appends the text in the box: the command, its duration, and how it failed. */
static void put_label(struct tr_dot_text *dot, const struct tr_forest_node *node)
{
	struct tr_buffer *to = &dot->line;

	/* the label has the short command, the tooltip the long one */
	put_command(tr_buffer_text(&dot->text), dot->config.width, to);
	if (tr_forest_duration(node) != TR_INSTANT_NONE) {
		tr_buffer_put_literal(to, "\\n");
		tr_instant_write(tr_forest_duration(node), 3, to);
		tr_buffer_put_literal(to, " s");
	}
	if (tr_forest_failed(node)) {
		struct tr_buffer end = TR_BUFFER_INIT;
		tr_forest_end(&dot->forest, node, &end);
		tr_buffer_put_literal(to, ", exit ");
		put_quoted(tr_buffer_text(&end), to);
		to->failed |= end.failed;
		tr_buffer_free(&end);
	}
}

/* Writes the node of a run. Its shade shows its duration, and a red border that it failed. */
static void put_node(struct tr_dot_text *dot, const struct tr_forest_node *node, int64_t longest)
{
	struct tr_buffer *to = &dot->line;

	if (!node->program)
		tr_buffer_put_literal(&dot->text, "(fork)");
	tr_buffer_put_byte(to, '\t');
	put_id(dot, node, to);
	tr_buffer_put_literal(to, " [label=\"");
	put_label(dot, node);
	tr_buffer_put_literal(to, "\", tooltip=\"");
	put_quoted(tr_buffer_text(&dot->text), to);
	tr_buffer_put_literal(to, "\", fillcolor=");
	unsigned darkness = shade(tr_forest_duration(node), longest);
	tr_buffer_put_decimal(to, darkness);
	/* black text cannot be read on the dark shades */
	if (darkness > SHADES / 2 + 1)
		tr_buffer_put_literal(to, ", fontcolor=\"/x11/white\"");
	if (tr_forest_failed(node))
		tr_buffer_put_literal(to, ", color=\"/x11/red\", penwidth=3");
	tr_buffer_put_literal(to, "];\n");
}

/* Writes the edge to a run, from its parent or from the run that it replaces. Roots have none. */
static void put_edge(struct tr_dot_text *dot, const struct tr_forest_node *node)
{
	struct tr_buffer *to = &dot->line;
	bool replaces = node->replaces != TR_FOREST_NONE;
	uint32_t from = replaces ? node->replaces : node->parent;

	if (from == TR_FOREST_NONE)
		return;
	tr_buffer_put_byte(to, '\t');
	put_id(dot, &dot->forest.nodes[from], to);
	tr_buffer_put_literal(to, " -> ");
	put_id(dot, node, to);
	if (replaces)
		tr_buffer_put_literal(to, " [style=dashed, label=\"exec\"]");
	tr_buffer_put_literal(to, ";\n");
}

/* Writes the line that was composed. False: memory is exhausted. */
static bool write_line(struct tr_dot_text *dot)
{
	if (dot->line.failed || dot->text.failed)
		return false;
	tr_output_put_text(dot->out, tr_buffer_text(&dot->line));
	tr_buffer_reset(&dot->line);
	return true;
}

/* Returns the longest duration, to which shades are relative. */
static int64_t longest_of(const struct tr_forest *forest)
{
	int64_t longest = 0;

	for (size_t i = 0; i < forest->count; i++) {
		int64_t duration = tr_forest_duration(&forest->nodes[i]);
		longest = duration > longest ? duration : longest;
	}
	return longest;
}

/* Writes the graph of a complete segment. False: err is filled. */
static bool show(struct tr_dot_text *dot, struct tr_error *err)
{
	struct tr_forest *forest = &dot->forest;
	size_t depth;

	tr_error_memory(err);
	if (!tr_forest_link(forest))
		return false;
	int64_t longest = longest_of(forest);
	tr_buffer_put_literal(&dot->line, "digraph processes_");
	tr_buffer_put_decimal(&dot->line, ++dot->graphs);
	tr_buffer_put_literal(&dot->line, " {\n\trankdir=LR;\n\tnode [shape=box, style=filled, "
					  "colorscheme=blues9, fontname=\"sans-serif\"];\n");
	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		if (!tr_forest_text(forest, &forest->nodes[at], &dot->text, err))
			return false;
		put_node(dot, &forest->nodes[at], longest);
		put_edge(dot, &forest->nodes[at]);
		if (!write_line(dot))
			return false;
		if (dot->out->failed)
			break;
	}
	tr_output_put_literal(dot->out, "}\n");
	tr_output_record_end(dot->out);
	tr_forest_clear(forest);
	return true;
}

enum tr_status tr_dot_text_put(struct tr_dot_text *dot, struct tr_record *record,
			       struct tr_error *err)
{
	if (tr_forest_complete(&dot->forest, record) && !show(dot, err))
		return TR_FATAL;
	return !record || tr_forest_put(&dot->forest, record, err) ? TR_OK : TR_FATAL;
}
