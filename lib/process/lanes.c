/* SPDX-License-Identifier: MIT */
#include "process/lanes.h"

#include <stdlib.h>

/* A heap of numbers with what they belong to: the least first. */
struct item {
	int64_t key;
	uint32_t value;
};

struct heap {
	struct item *items;
	size_t count;
};

static bool before(const struct item *a, const struct item *b)
{
	return a->key != b->key ? a->key < b->key : a->value < b->value;
}

static void push(struct heap *heap, struct item item)
{
	size_t i = heap->count++;

	for (; i && before(&item, &heap->items[(i - 1) / 2]); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = item;
}

static struct item pop(struct heap *heap)
{
	struct item least = heap->items[0], last = heap->items[--heap->count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child + 1 < heap->count && before(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (child >= heap->count || !before(&heap->items[child], &last))
			break;
		heap->items[i] = heap->items[child];
		i = child;
	}
	heap->items[i] = last;
	return least;
}

/* The innermost run that is open on each lane, and what is known of those below it. */
struct work {
	const struct tr_forest *forest;
	struct tr_lanes *lanes;
	uint32_t *top;	  /* by lane; TR_FOREST_NONE: it is free */
	uint32_t *below;  /* by node: what it stands on */
	struct heap busy; /* lanes by the end of their lowest run */
	struct heap idle; /* lanes by their number */
};

static bool has_times(const struct tr_forest *forest)
{
	for (size_t i = 0; i < forest->count; i++) {
		if (forest->nodes[i].began != TR_INSTANT_NONE)
			return true;
	}
	return false;
}

/* Sets the beginning and the end of a node from its own times. */
static void set_span(struct tr_lanes *lanes, const struct tr_forest *forest, size_t i)
{
	const struct tr_forest_node *node = &forest->nodes[i];
	struct tr_span *span = &lanes->spans[i];

	span->open = node->fate == TR_RUN_OPEN;
	if (!lanes->timed) {
		span->begin = (int64_t)node->first;
		span->end = (int64_t)(span->open ? node->first + 1 : node->last);
	} else {
		bool above = node->parent != TR_FOREST_NONE;
		/* one without a time of its own begins with its parent, which came before it here
		 */
		span->begin = node->began != TR_INSTANT_NONE ? node->began
			      : above			     ? lanes->spans[node->parent].begin
							     : forest->earliest;
		span->open |= node->ended == TR_INSTANT_NONE;
		span->end = span->open ? forest->latest : node->ended;
	}
	if (span->end < span->begin)
		span->end = span->begin;
}

/* Nodes in the order of the tree into order; then beginnings and ends. */
static void set_spans(struct tr_lanes *lanes, const struct tr_forest *forest)
{
	size_t depth, count = 0;

	lanes->timed = has_times(forest);
	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		lanes->order[count++] = at;
		set_span(lanes, forest, at);
	}
	if (lanes->timed)
		return;
	/* children end before their parents do; in reverse they come first */
	while (count-- > 0) {
		uint32_t at = lanes->order[count], parent = forest->nodes[at].parent;
		struct tr_span *above = parent == TR_FOREST_NONE ? NULL : &lanes->spans[parent];
		if (above && above->open && above->end < lanes->spans[at].end)
			above->end = lanes->spans[at].end;
	}
}

/* Merges runs of order, which are sorted, by beginning; what comes first stays first. */
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

/* Takes off what has ended by then. */
static void settle(struct work *work, uint32_t lane, int64_t now)
{
	uint32_t *top = &work->top[lane];

	while (*top != TR_FOREST_NONE && work->lanes->spans[*top].end <= now)
		*top = work->below[*top];
}

/* On the lane of its parent, where that is the innermost there and lasts as long. */
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
	span->level = spans[parent].level + 1;
	work->below[node] = parent;
	work->top[span->lane] = node;
	return true;
}

static void place(struct work *work, uint32_t node)
{
	struct tr_span *span = &work->lanes->spans[node];

	if (place_above(work, node))
		return;
	while (work->busy.count && work->busy.items[0].key <= span->begin) {
		uint32_t lane = pop(&work->busy).value;
		push(&work->idle, (struct item){ lane, lane });
	}
	span->lane = work->idle.count ? pop(&work->idle).value : work->lanes->count++;
	span->level = 0;
	work->below[node] = TR_FOREST_NONE;
	work->top[span->lane] = node;
	push(&work->busy, (struct item){ span->end, span->lane });
}

bool tr_lanes_make(struct tr_lanes *lanes, const struct tr_forest *forest)
{
	size_t count = forest->count;
	struct work work = { .forest = forest, .lanes = lanes };

	*lanes = (struct tr_lanes){ .spans = calloc(count + 1, sizeof *lanes->spans),
				    .order = calloc(count + 1, sizeof *lanes->order) };
	work.top = calloc(count + 1, sizeof *work.top);
	work.below = calloc(count + 1, sizeof *work.below);
	work.busy.items = calloc(count + 1, sizeof *work.busy.items);
	work.idle.items = calloc(count + 1, sizeof *work.idle.items);
	bool fine = lanes->spans && lanes->order && work.top && work.below && work.busy.items &&
		    work.idle.items;
	if (fine) {
		set_spans(lanes, forest);
		sort_order(lanes->spans, lanes->order, work.below, count);
		for (size_t i = 0; i < count; i++)
			lanes->spans[i].lane = TR_FOREST_NONE;
		for (size_t i = 0; i < count; i++)
			place(&work, lanes->order[i]);
	}
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
