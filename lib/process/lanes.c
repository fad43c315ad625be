/* SPDX-License-Identifier: MIT */
/*
 * Lanes. Runs are placed in the order of their beginning. A run goes on top of its parent if that
 * is free, otherwise to the lowest lane on which nothing runs; two heaps give the lane that ends
 * next, and the lowest idle one, so a run costs a logarithm of the number of lanes.
 */
#include "process/lanes.h"

#include <stdlib.h>

#include "core/heap.h"

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

/* Sorts order by beginning. Most traces have their runs in this order, and no two begin together. */
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
	span->level = spans[parent].level + 1;
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
