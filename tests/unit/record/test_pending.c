/* SPDX-License-Identifier: MIT */
/* The queue of pending records: order, keys, cycles, bounds and the temporary file. */
#include "record/pending.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

struct note {
	unsigned number;
};

static struct tr_pending_item *add(struct tr_pending *queue, unsigned number, const char *text)
{
	struct note note = { number };

	return tr_pending_add(queue, &note, tr_text_from(text), strlen(text));
}

static unsigned number_of(const struct tr_pending_item *item)
{
	const struct note *note = item->data;

	return note->number;
}

/* Delivers one item and compares it. text NULL: none is to come. */
static bool delivers(struct tr_pending *queue, unsigned number, const char *text)
{
	const struct tr_pending_item *item;
	struct tr_error err;
	enum tr_status status = tr_pending_next(queue, &item, &err);

	if (!text)
		return status == TR_END;
	return status == TR_OK && number_of(item) == number && tr_text_is(item->text, text);
}

static void check_order(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct note);
	struct tr_error err;

	ok(delivers(&queue, 0, NULL), "an empty queue delivers nothing");
	add(&queue, 1, "one");
	struct tr_pending_item *two = add(&queue, 2, "two");
	add(&queue, 3, "");
	ok(tr_pending_hold(&queue, two, 7) && two->pending, "the second item is pending on 7");
	ok(delivers(&queue, 1, "one") && delivers(&queue, 0, NULL), "it keeps those after it");
	ok(!tr_pending_resolve(&queue, 8), "nothing is pending on 8");
	ok(tr_pending_resolve(&queue, 7) == two && !two->sibling && !two->pending, "7 comes");
	ok(!tr_pending_resolve(&queue, 7), "only once");
	ok(tr_pending_replace(&queue, two, TR_TEXT("deux")) && queue.weight == 7, "it changes");
	const struct note *first = tr_pending_peek(&queue, &err);
	ok(first && first->number == 2, "it is the first");
	ok(delivers(&queue, 2, "deux") && delivers(&queue, 3, "") && delivers(&queue, 0, NULL),
	   "all are delivered");
	ok(!queue.count && !queue.weight, "nothing is left");
	tr_pending_free(&queue);
}

static void check_keys(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct note);
	struct tr_pending_item *items[5];

	for (unsigned i = 0; i < 5; i++) {
		items[i] = add(&queue, i, "x");
		tr_pending_hold(&queue, items[i], 1);
	}
	tr_pending_release(&queue, items[4]);
	tr_pending_release(&queue, items[0]);
	tr_pending_release(&queue, items[0]);
	tr_pending_release(&queue, items[2]);
	ok(!items[0]->pending && !items[2]->pending && !items[4]->pending && items[1]->pending,
	   "items leave their key one by one");
	tr_pending_hold(&queue, items[0], 1);
	ok(tr_pending_resolve(&queue, 1) == items[1] && items[1]->sibling == items[3] &&
		   items[3]->sibling == items[0] && !items[0]->sibling,
	   "the others leave it in the order in which they were held");
	tr_pending_hold(&queue, items[1], 2);
	tr_pending_remove(&queue, items[1]);
	ok(!tr_pending_resolve(&queue, 2), "an item that is removed leaves its key");
	tr_pending_append(&queue, items[1]);
	ok(queue.last == items[1] && queue.count == 5, "and can come back");
	tr_pending_free(&queue);
}

static void check_stuck(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct note);
	static const struct {
		unsigned name, key;
	} nodes[] = { { 10, 11 }, { 11, 10 }, { 12, 11 }, { 13, 99 }, { 14, 13 }, { 15, 98 } };
	static const unsigned order[] = { 13, 14, 15, 10, 11, 12 };
	bool cycle;

	for (unsigned i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		struct tr_pending_item *item = add(&queue, nodes[i].name, "");
		tr_pending_hold(&queue, item, nodes[i].key);
		tr_pending_name(&queue, item, nodes[i].name);
	}
	for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
		struct tr_pending_item *item = tr_pending_stuck(&queue, &cycle);
		ok(item && number_of(item) == order[i] && cycle == (i >= 3), "%u is given up, %u",
		   order[i], item ? number_of(item) : 0);
		if (item) {
			tr_pending_remove(&queue, item);
			tr_pending_free_item(item);
		}
	}
	ok(!tr_pending_stuck(&queue, &cycle), "nothing is left");
	tr_pending_free(&queue);
}

static void check_counts(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct note);

	add(&queue, 1, "12345");
	add(&queue, 2, "");
	ok(queue.count == 2 && queue.weight == 5, "two items have the weight of their texts");
	struct tr_pending_item *third = add(&queue, 3, "6");
	ok(queue.count == 3 && queue.weight == 6, "a third one is counted");
	tr_pending_remove(&queue, third);
	ok(queue.count == 2 && queue.weight == 5, "an item that is removed no longer is");
	tr_pending_free_item(third);
	tr_pending_free(&queue);
	ok(queue.count == 0 && queue.weight == 0, "an empty queue has no weight");
}

static void check_spill(void)
{
	enum { COUNT = 3000, HELD = 700, PINNED = 1500 };
	struct tr_pending queue = TR_PENDING_INIT(struct note);
	struct tr_pending_item *held = NULL;
	struct tr_error err;
	char text[1024];
	bool good = true;

	queue.spill_weight = 1000;
	queue.max_spool = INT64_MAX;
	memset(text, 'x', sizeof text);
	for (unsigned i = 0; i < COUNT; i++) {
		struct note note = { i };
		struct tr_text line = { text, i % sizeof text };
		if (i == HELD) {
			held = tr_pending_add(&queue, &note, line, line.len);
			held->pending = true;
		} else if (i == PINNED) {
			tr_pending_add(&queue, &note, line, line.len)->pinned = true;
		} else {
			good &= tr_pending_put(&queue, &note, line, line.len, &err);
		}
	}
	ok(good && queue.count == COUNT && queue.weight < 4 * sizeof text, "items are spilled");
	const struct tr_pending_item *item;
	for (unsigned i = 0; i < COUNT && good; i++) {
		if (i == HELD) {
			ok(tr_pending_next(&queue, &item, &err) == TR_END, "one is pending");
			held->pending = false;
		}
		const struct note *peeked = tr_pending_peek(&queue, &err);
		good = peeked && peeked->number == i &&
		       tr_pending_next(&queue, &item, &err) == TR_OK && number_of(item) == i &&
		       item->text.len == i % sizeof text &&
		       memcmp(item->text.data, text, item->text.len) == 0;
	}
	ok(good && !queue.count && delivers(&queue, 0, NULL), "and delivered in their order");
	ok(!queue.spool && !queue.weight, "the temporary file is gone");
	queue.max_spool = 100;
	struct note note = { 1 };
	struct tr_text line = { text, 200 };
	for (unsigned i = 0; good && i < 6; i++)
		good = tr_pending_put(&queue, &note, line, line.len, &err);
	ok(!good && err.cause == TR_CAUSE_LIMIT, "the temporary file is bounded");
	tr_pending_free(&queue);
}

int main(void)
{
	check_order();
	check_keys();
	check_stuck();
	check_counts();
	check_spill();
	return done_testing();
}
