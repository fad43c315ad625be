/* SPDX-License-Identifier: MIT */
/*
 * The runs of a segment as an array, in the order of their beginning. tr_runs reports events, from
 * which nodes are filled (follow_run); the texts of programs go to a temporary file. When the
 * segment is complete, tr_forest_link finds parents, cuts cycles, and links children and siblings.
 */
#include "process/forest.h"

#include <stdlib.h>
#include <string.h>

#include "core/heap.h"

/* Marks the forest as failed, with the first error. */
static void out_of_memory(struct tr_forest *forest)
{
	if (!forest->failed)
		tr_error_memory(forest->err);
	forest->failed = true;
}

/*
 * A node at the end of the array. NULL: memory is exhausted, or there are more runs than indexes.
 */
static struct tr_forest_node *add_node(struct tr_forest *forest)
{
	if (forest->count == TR_FOREST_NONE ||
	    !tr_array_room(forest->nodes, forest->count, forest->cap))
		return NULL;
	return &forest->nodes[forest->count++];
}

/* The index of a run by its number. */
static uint32_t index_of(const struct tr_forest *forest, uint64_t number)
{
	return number == TR_RUN_NONE || number < forest->base ||
			       number - forest->base >= forest->count
		       ? TR_FOREST_NONE
		       : (uint32_t)(number - forest->base);
}

/* Returns the index of the name of a signal. UINT64_MAX: memory is exhausted. */
static uint64_t add_signal(struct tr_forest *forest, const char *name)
{
	if (!tr_array_room(forest->signals, forest->signal_count, forest->signal_cap)) {
		out_of_memory(forest);
		return UINT64_MAX;
	}
	memcpy(forest->signals[forest->signal_count], name, TR_RUN_SIGNAL);
	return forest->signal_count++;
}

/* Stores the text of a program, as the view describes it. */
static void add_text(struct tr_forest *forest, struct tr_forest_node *node,
		     struct tr_record *record)
{
	struct tr_buffer *text = &forest->text;
	uint32_t len = 0;

	if (!forest->texts)
		forest->texts = tr_spool_new(forest->max_spool);
	tr_buffer_put(text, (const char *)&len, sizeof len);
	if (!forest->texts || !forest->describe(forest->context, record, text) || text->failed ||
	    text->len > UINT32_MAX) {
		out_of_memory(forest);
		return;
	}
	len = (uint32_t)(text->len - sizeof len);
	memcpy(text->data, &len, sizeof len);
	node->text = tr_spool_size(forest->texts);
	forest->failed = !tr_spool_write(forest->texts, text->data, text->len, forest->err);
	tr_buffer_reset(text); /* frees the memory of a large text */
}

/* Sets when a run began: the time, or in its place the number of the record. */
static void set_began(struct tr_forest *forest, struct tr_forest_node *node,
		      const struct tr_run *run)
{
	node->has_began = run->began != TR_INSTANT_NONE;
	node->began = node->has_began ? run->began : (int64_t)forest->runs.records;
	forest->timed |= node->has_began;
}

/* Sets how and when a run ended. An end has no use as a time before any beginning has one. */
static void set_end(struct tr_forest *forest, struct tr_forest_node *node,
		    const struct tr_run_end *end)
{
	node->fate = end->fate;
	node->has_ended = forest->timed && end->time != TR_INSTANT_NONE;
	node->ended = node->has_ended ? end->time : (int64_t)forest->runs.records;
	node->end = end->fate == TR_RUN_KILLED ? add_signal(forest, end->signal) : end->status;
}

/* Takes an event of a run. */
static void follow_run(void *context, const struct tr_run_report *report)
{
	struct tr_forest *forest = context;
	const struct tr_run *run = report->run;
	struct tr_forest_node *node;

	if (forest->failed)
		return;
	if (report->event == TR_RUN_BEGAN) {
		if (forest->count == 0)
			forest->base = run->number;
		node = add_node(forest);
		if (!node) {
			out_of_memory(forest);
			return;
		}
		*node = (struct tr_forest_node){ .parent_seq = tr_run_parent_seq(run),
						 .parent = index_of(forest, tr_run_parent(run)),
						 .replaces = index_of(forest, report->replaces),
						 .seq = run->seq };
		set_began(forest, node, run);
	}
	node = &forest->nodes[run->number - forest->base];
	switch (report->event) {
	case TR_RUN_BEGAN:
		break;
	case TR_RUN_PROGRAM:
		node->program = true;
		node->seq = run->seq;
		set_began(forest, node, run);
		if (forest->describe)
			add_text(forest, node, report->record);
		break;
	case TR_RUN_PARENT_KNOWN:
		node->parent = index_of(forest, tr_run_parent(run));
		break;
	case TR_RUN_ENDED:
		set_end(forest, node, report->end);
	}
}

void tr_forest_init(struct tr_forest *forest, uint64_t max_spool,
		    bool (*describe)(void *context, struct tr_record *record,
				     struct tr_buffer *text),
		    void *context)
{
	*forest = (struct tr_forest){ .root = TR_FOREST_NONE,
				      .earliest = TR_INSTANT_NONE,
				      .latest = TR_INSTANT_NONE,
				      .describe = describe,
				      .context = context,
				      .max_spool = max_spool };
	tr_runs_init(&forest->runs, follow_run, forest);
}

bool tr_forest_put(struct tr_forest *forest, struct tr_record *record, struct tr_error *err)
{
	forest->err = err;
	if (!tr_runs_put(&forest->runs, record))
		out_of_memory(forest);
	forest->earliest = forest->runs.earliest;
	forest->latest = forest->runs.latest;
	return !forest->failed;
}

/*
 * Finds parents that came later, or whose run had ended, by the seq of their record. Then the nodes
 * have room for their children.
 */
static bool find_parents(struct tr_forest *forest)
{
	struct tr_id_map by_seq = TR_ID_MAP_INIT;
	bool wanted = false, fine = true;

	for (size_t i = 0; i < forest->count && !wanted; i++)
		wanted = forest->nodes[i].parent == TR_FOREST_NONE &&
			 forest->nodes[i].parent_seq != TR_RUN_NONE;
	for (size_t i = 0; i < forest->count && wanted && fine; i++) {
		struct tr_forest_node *node = &forest->nodes[i];
		if (node->program && node->seq != TR_RUN_NONE && !tr_id_map_get(&by_seq, node->seq))
			fine = tr_id_map_put(&by_seq, node->seq, node);
	}
	for (size_t i = 0; i < forest->count && fine; i++) {
		struct tr_forest_node *node = &forest->nodes[i];
		if (node->parent == TR_FOREST_NONE && node->parent_seq != TR_RUN_NONE) {
			const struct tr_forest_node *parent =
				tr_id_map_get(&by_seq, node->parent_seq);
			if (parent)
				node->parent = (uint32_t)(parent - forest->nodes);
			else
				forest->lost++;
		}
		node->child = node->next = TR_FOREST_NONE;
	}
	tr_id_map_free(&by_seq);
	return fine;
}

/*
 * A process that called exec several times has one parent: that of its first run, its head. Until
 * cut_cycles is done, `next` of each run is the index of its head.
 */
static void find_heads(struct tr_forest *forest)
{
	for (size_t i = 0; i < forest->count; i++) {
		struct tr_forest_node *node = &forest->nodes[i];
		node->next = (uint32_t)i;
		if (node->replaces == TR_FOREST_NONE)
			continue;
		/* the run that is replaced began earlier, so its head is set */
		node->next = forest->nodes[node->replaces].next;
		struct tr_forest_node *head = &forest->nodes[node->next];
		if (head->parent == TR_FOREST_NONE)
			head->parent = node->parent;
	}
}

/*
 * Makes every path up end at a root. While the paths are walked, `child` of a head is the number of
 * the walk that visited it, so that each head is visited once, and a walk that meets its own number
 * has found a cycle.
 */
static void cut_cycles(struct tr_forest *forest)
{
	struct tr_forest_node *nodes = forest->nodes;

	for (size_t i = 0; i < forest->count; i++) {
		uint32_t at = nodes[i].next;
		while (nodes[at].child == TR_FOREST_NONE) {
			nodes[at].child = (uint32_t)i;
			if (nodes[at].parent == TR_FOREST_NONE)
				break;
			uint32_t above = nodes[nodes[at].parent].next;
			if (nodes[above].child == (uint32_t)i) {
				nodes[at].parent = TR_FOREST_NONE;
				forest->lost++;
				break;
			}
			at = above;
		}
	}
	for (size_t i = 0; i < forest->count; i++)
		nodes[i].parent = nodes[nodes[i].next].parent;
	for (size_t i = 0; i < forest->count; i++)
		nodes[i].child = nodes[i].next = TR_FOREST_NONE;
}

/* Puts a run, and those that replace it and follow it already, in front of *list. */
static void prepend(struct tr_forest *forest, uint32_t node, uint32_t *list)
{
	uint32_t last = node;

	while (forest->nodes[last].next != TR_FOREST_NONE)
		last = forest->nodes[last].next;
	forest->nodes[last].next = *list;
	*list = node;
}

bool tr_forest_link(struct tr_forest *forest)
{
	tr_runs_finish(&forest->runs);
	if (forest->failed || !find_parents(forest))
		return false;
	find_heads(forest);
	cut_cycles(forest);
	for (size_t i = forest->count; i-- > 0;) {
		struct tr_forest_node *node = &forest->nodes[i];
		if (node->replaces != TR_FOREST_NONE) {
			forest->nodes[node->replaces].next = (uint32_t)i;
			continue; /* prepend adds it with the run that it replaces */
		}
		prepend(forest, (uint32_t)i,
			node->parent == TR_FOREST_NONE ? &forest->root
						       : &forest->nodes[node->parent].child);
	}
	return true;
}

uint32_t tr_forest_next(const struct tr_forest *forest, uint32_t node, size_t *depth)
{
	if (node == TR_FOREST_NONE) {
		*depth = 0;
		return forest->root;
	}
	if (forest->nodes[node].child != TR_FOREST_NONE) {
		++*depth;
		return forest->nodes[node].child;
	}
	while (forest->nodes[node].next == TR_FOREST_NONE) {
		node = forest->nodes[node].parent;
		if (node == TR_FOREST_NONE)
			return TR_FOREST_NONE;
		--*depth;
	}
	return forest->nodes[node].next;
}

/* Returns n bytes of the texts. NULL: err is filled. */
static const char *look(struct tr_forest *forest, uint64_t at, size_t n, struct tr_error *err)
{
	enum { AROUND = 16 << 10 }; /* the next text is near, before or after this one */
	struct tr_spool_window *window = &forest->window;

	if (at >= window->at && at + n <= window->at + window->bytes.len)
		return window->bytes.data + (at - window->at);
	size_t skip = at % AROUND;
	const char *bytes = tr_spool_look(forest->texts, window, at - skip, skip + n, err);
	return bytes ? bytes + skip : NULL;
}

bool tr_forest_add_text(struct tr_forest *forest, const struct tr_forest_node *node,
			struct tr_buffer *to, struct tr_error *err)
{
	uint32_t len;

	if (!node->program || !forest->texts)
		return true;
	const char *text = look(forest, node->text, sizeof len, err);
	if (!text)
		return false;
	memcpy(&len, text, sizeof len);
	text = look(forest, node->text, sizeof len + len, err);
	if (!text)
		return false;
	tr_buffer_put(to, text + sizeof len, len);
	if (to->failed)
		tr_error_memory(err);
	return !to->failed;
}

bool tr_forest_end(const struct tr_forest *forest, const struct tr_forest_node *node,
		   struct tr_buffer *to)
{
	switch ((enum tr_run_fate)node->fate) {
	case TR_RUN_KILLED:
		tr_buffer_put_text(to, tr_text_from(forest->signals[node->end]));
		return true;
	case TR_RUN_REPLACED:
		tr_buffer_put_literal(to, "exec");
		return true;
	case TR_RUN_EXITED:
		if (node->end == UINT64_MAX)
			return false;
		tr_buffer_put_decimal(to, node->end);
		return true;
	case TR_RUN_OPEN:
		break;
	}
	return false;
}

void tr_forest_clear(struct tr_forest *forest)
{
	forest->count = 0;
	forest->signal_count = 0;
	forest->timed = false;
	forest->root = TR_FOREST_NONE;
	forest->lost = 0;
	tr_spool_free(forest->texts);
	forest->texts = NULL;
	tr_buffer_free(&forest->window.bytes);
	forest->window = (struct tr_spool_window){ .at = 0 };
	forest->runs.earliest = forest->runs.latest = TR_INSTANT_NONE;
}

void tr_forest_free(struct tr_forest *forest)
{
	tr_runs_free(&forest->runs);
	free(forest->nodes);
	free(forest->signals);
	tr_spool_free(forest->texts);
	tr_buffer_free(&forest->window.bytes);
	tr_buffer_free(&forest->text);
}

/*
 * Lanes. Runs are placed in the order of their beginning. A run goes on top of its parent if that
 * is free, otherwise to the lowest lane on which nothing runs; two heaps give the lane that ends
 * next, and the lowest idle one, so a run costs a logarithm of the number of lanes.
 */

/* The state of the lanes at the beginning of the run that is placed next. */
struct work {
	const struct tr_forest *forest;
	struct tr_lanes *lanes;
	uint32_t *top;	     /* by lane: the innermost run; TR_FOREST_NONE: the lane is free */
	uint32_t *below;     /* by node: the run below it on its lane */
	struct tr_heap busy; /* lanes by the end of their lowest run */
	struct tr_heap idle; /* lanes by their number */
};

/* Sets the beginning and the end of a node from its own times. */
static void set_span(struct tr_lanes *lanes, const struct tr_forest *forest, size_t i)
{
	const struct tr_forest_node *node = &forest->nodes[i];
	struct tr_span *span = &lanes->spans[i];

	span->open = node->fate == TR_RUN_OPEN;
	if (!lanes->timed) {
		span->begin = node->began;
		span->end = span->open ? node->began + 1 : node->ended;
	} else {
		bool above = node->parent != TR_FOREST_NONE;
		/* without a time of its own it begins with its parent, whose span is set */
		span->begin = node->has_began ? node->began
			      : above	      ? lanes->spans[node->parent].begin
					      : forest->earliest;
		span->open |= !node->has_ended;
		span->end = span->open ? forest->latest : node->ended;
	}
	if (span->end < span->begin)
		span->end = span->begin;
}

/* Fills order with the nodes in the order of the tree, and sets their spans. */
static void set_spans(struct tr_lanes *lanes, const struct tr_forest *forest)
{
	size_t depth, count = 0;

	lanes->timed = forest->timed;
	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		lanes->order[count++] = at;
		set_span(lanes, forest, at);
	}
	if (lanes->timed)
		return;
	/* an open parent lasts as long as its children, which come first in reverse order */
	while (count-- > 0) {
		uint32_t at = lanes->order[count], parent = forest->nodes[at].parent;
		struct tr_span *above = parent == TR_FOREST_NONE ? NULL : &lanes->spans[parent];
		if (above && above->open && above->end < lanes->spans[at].end)
			above->end = lanes->spans[at].end;
	}
}

/* Sorts order by beginning. It is stable, so that parents stay before their children. */
static void sort_order(const struct tr_span *spans, uint32_t *order, uint32_t *scratch,
		       size_t count)
{
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t from = 0; from < count; from += 2 * width) {
			size_t middle = from + width < count ? from + width : count;
			size_t end = middle + width < count ? middle + width : count;
			size_t a = from, b = middle;
			for (size_t to = from; to < end; to++) {
				bool left = a < middle &&
					    (b == end ||
					     spans[order[a]].begin <= spans[order[b]].begin);
				scratch[to] = order[left ? a++ : b++];
			}
		}
		memcpy(order, scratch, count * sizeof *order);
	}
}

/*
 * Sorts order by beginning. Most traces have their runs in this order, and no two begin together.
 */
static void order_by_beginning(struct tr_lanes *lanes, uint32_t *scratch, size_t count)
{
	size_t i = 1;

	while (i < count && lanes->spans[i - 1].begin < lanes->spans[i].begin)
		i++;
	if (i < count) {
		sort_order(lanes->spans, lanes->order, scratch, count);
		return;
	}
	for (i = 0; i < count; i++)
		lanes->order[i] = (uint32_t)i;
}

/* Removes the runs that have ended at that time from the top of a lane. */
static void settle(struct work *work, uint32_t lane, int64_t now)
{
	uint32_t *top = &work->top[lane];

	while (*top != TR_FOREST_NONE && work->lanes->spans[*top].end <= now)
		*top = work->below[*top];
}

/*
 * Places a run above its parent if that is on top of its lane and does not end before it. False: it
 * needs another lane.
 */
static bool place_above(struct work *work, uint32_t node)
{
	uint32_t parent = work->forest->nodes[node].parent;
	struct tr_span *spans = work->lanes->spans, *span = &spans[node];

	if (parent == TR_FOREST_NONE || spans[parent].lane == TR_FOREST_NONE ||
	    spans[parent].end < span->end)
		return false;
	settle(work, spans[parent].lane, span->begin);
	if (work->top[spans[parent].lane] != parent)
		return false;
	span->lane = spans[parent].lane;
	span->level = (spans[parent].level + 1) & INT32_MAX;
	work->below[node] = parent;
	work->top[span->lane] = node;
	return true;
}

/* Places a run on a lane. False: memory is exhausted. */
static bool place(struct work *work, uint32_t node)
{
	struct tr_span *span = &work->lanes->spans[node];

	if (place_above(work, node))
		return true;
	while (work->busy.count && work->busy.items[0].key <= span->begin) {
		uint64_t lane = tr_heap_pop(&work->busy).order;
		if (!tr_heap_push(&work->idle, (struct tr_heap_item){ .order = lane }))
			return false;
	}
	span->lane =
		work->idle.count ? (uint32_t)tr_heap_pop(&work->idle).order : work->lanes->count++;
	work->below[node] = TR_FOREST_NONE;
	work->top[span->lane] = node;
	return tr_heap_push(&work->busy,
			    (struct tr_heap_item){ .key = span->end, .order = span->lane });
}

bool tr_lanes_make(struct tr_lanes *lanes, const struct tr_forest *forest)
{
	size_t count = forest->count;
	struct work work = { .forest = forest, .lanes = lanes };

	*lanes = (struct tr_lanes){ .spans = calloc(count + 1, sizeof *lanes->spans),
				    .order = calloc(count + 1, sizeof *lanes->order) };
	work.top = calloc(count + 1, sizeof *work.top);
	work.below = calloc(count + 1, sizeof *work.below);
	bool fine = lanes->spans && lanes->order && work.top && work.below;
	if (fine) {
		set_spans(lanes, forest);
		order_by_beginning(lanes, work.below, count);
		for (size_t i = 0; i < count; i++)
			lanes->spans[i].lane = TR_FOREST_NONE;
	}
	for (size_t i = 0; i < count && fine; i++)
		fine = place(&work, lanes->order[i]);
	free(work.top);
	free(work.below);
	free(work.busy.items);
	free(work.idle.items);
	if (!fine)
		tr_lanes_free(lanes);
	return fine;
}

void tr_lanes_free(struct tr_lanes *lanes)
{
	free(lanes->spans);
	free(lanes->order);
	*lanes = (struct tr_lanes){ NULL, NULL, 0, false };
}
