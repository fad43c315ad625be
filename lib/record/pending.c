/* SPDX-License-Identifier: MIT */
/*
 * The queue of pending records. Items are in a list in the order in which they came; those that
 * are pending on a key are found by it in a map. Others can move to a temporary file as a run: an
 * item that stands for a piece of that file.
 */
#include "record/pending.h"

#include <stdlib.h>
#include <string.h>

#include "core/input.h"

/* The size of the data in an item, which the text follows. */
static size_t data_room(const struct tr_pending *queue)
{
	const size_t unit = sizeof(max_align_t);

	return (queue->data_size + unit - 1) / unit * unit;
}

/*
 * Memory for an item with a text of that length; the item that was freed last is reused if it is
 * large enough.
 */
static struct tr_pending_item *allocate(struct tr_pending *queue, size_t len)
{
	struct tr_pending_item *item = queue->spare;

	if (item && item->room >= len) {
		queue->spare = NULL;
		return item;
	}
	item = malloc(sizeof *item + data_room(queue) + len + TR_INPUT_PAD);
	if (item)
		item->room = len;
	return item;
}

/* An item that is not in the queue. NULL: memory is exhausted. */
static inline struct tr_pending_item *new_item(struct tr_pending *queue, size_t len)
{
	struct tr_pending_item *item = allocate(queue, len);

	if (!item)
		return NULL;
	char *text = (char *)item->memory + data_room(queue);
	*item = (struct tr_pending_item){ .data = item->memory,
					  .text = { text, len },
					  .room = item->room };
	memset(text + len, 0, TR_INPUT_PAD);
	return item;
}

void tr_pending_append(struct tr_pending *queue, struct tr_pending_item *item)
{
	item->next = NULL;
	item->previous = queue->last;
	*(queue->last ? &queue->last->next : &queue->first) = item;
	queue->last = item;
	queue->count += !item->run;
	queue->weight += item->weight;
}

struct tr_pending_item *tr_pending_make(struct tr_pending *queue, const void *data, size_t len,
					size_t weight, char **room)
{
	struct tr_pending_item *item = new_item(queue, len);

	if (!item)
		return NULL;
	memcpy(item->data, data, queue->data_size);
	item->weight = weight;
	*room = (char *)item->memory + data_room(queue);
	tr_pending_append(queue, item);
	return item;
}

struct tr_pending_item *tr_pending_add(struct tr_pending *queue, const void *data,
				       struct tr_text text, size_t weight)
{
	char *room;
	struct tr_pending_item *item = tr_pending_make(queue, data, text.len, weight, &room);

	if (item && text.len)
		memcpy(room, text.data, text.len);
	return item;
}

bool tr_pending_replace(struct tr_pending *queue, struct tr_pending_item *item, struct tr_text text)
{
	char *copy = malloc(text.len + TR_INPUT_PAD);

	if (!copy)
		return false;
	if (text.len)
		memcpy(copy, text.data, text.len);
	memset(copy + text.len, 0, TR_INPUT_PAD);
	free(item->replaced);
	item->replaced = copy;
	item->text = (struct tr_text){ copy, text.len };
	item->weight += text.len;
	queue->weight += text.len;
	return true;
}

bool tr_pending_name(struct tr_pending *queue, struct tr_pending_item *item, uint64_t name)
{
	if (!tr_id_map_put(&queue->by_name, name, item))
		return false;
	item->name = name;
	item->named = true;
	return true;
}

struct tr_pending_item *tr_pending_find(const struct tr_pending *queue, uint64_t name)
{
	return tr_id_map_get(&queue->by_name, name);
}

bool tr_pending_hold(struct tr_pending *queue, struct tr_pending_item *item, uint64_t key)
{
	struct tr_pending_item *last = tr_id_map_get(&queue->by_key, key);

	if (!tr_id_map_put(&queue->by_key, key, item))
		return false;
	/* items of one key are in a ring, of which the map has the last one */
	item->sibling = last ? last->sibling : item;
	if (last)
		last->sibling = item;
	item->key = key;
	item->keyed = item->pending = true;
	queue->keyed++;
	/*
	 * this item may have a name that others are pending on, so the search for stuck ones
	 * begins again
	 */
	queue->searching = false;
	return true;
}

/* Marks an item as no longer pending on a key. */
static void clear_key(struct tr_pending *queue, struct tr_pending_item *item)
{
	item->keyed = item->pending = false;
	queue->keyed--;
}

/* Opens the ring of the key, and returns its items as a list in their order. */
struct tr_pending_item *tr_pending_resolve(struct tr_pending *queue, uint64_t key)
{
	struct tr_pending_item *last = tr_id_map_take(&queue->by_key, key);

	if (!last)
		return NULL;
	struct tr_pending_item *first = last->sibling;
	last->sibling = NULL;
	for (struct tr_pending_item *item = first; item; item = item->sibling)
		clear_key(queue, item);
	return first;
}

void tr_pending_release(struct tr_pending *queue, struct tr_pending_item *item)
{
	struct tr_pending_item *before = item;

	if (!item->keyed)
		return;
	while (before->sibling != item)
		before = before->sibling;
	before->sibling = item->sibling;
	if (before == item)
		tr_id_map_take(&queue->by_key, item->key);
	else if (tr_id_map_get(&queue->by_key, item->key) == item)
		(void)tr_id_map_put(&queue->by_key, item->key, before); /* replaces: cannot fail */
	clear_key(queue, item);
}

/*
 * First the items whose key no item of the queue has, from the first on; if there are none, the
 * first one of a cycle. The cursor stays between calls, so that giving up many items takes linear
 * time.
 */
struct tr_pending_item *tr_pending_stuck(struct tr_pending *queue, bool *cycle)
{
	struct tr_pending_item *item = queue->searching ? queue->cursor : queue->first;

	queue->searching = true;
	while (item && (!item->keyed || tr_pending_find(queue, item->key)))
		item = item->next;
	queue->cursor = item;
	*cycle = !item;
	if (!item) /* every path from an item that is left leads to a cycle */
		for (item = queue->first; item && !item->keyed;)
			item = item->next;
	return item;
}

/* Removes the key and the name of an item. */
static void forget(struct tr_pending *queue, struct tr_pending_item *item)
{
	tr_pending_release(queue, item);
	if (item->named && tr_id_map_get(&queue->by_name, item->name) == item)
		tr_id_map_take(&queue->by_name, item->name);
	item->named = false;
}

/* The memory of the item stays, for the caller. */
void tr_pending_remove(struct tr_pending *queue, struct tr_pending_item *item)
{
	if (item->keyed || item->named)
		forget(queue, item);
	*(item->previous ? &item->previous->next : &queue->first) = item->next;
	*(item->next ? &item->next->previous : &queue->last) = item->previous;
	if (queue->cursor == item)
		queue->cursor = item->next;
	queue->count -= !item->run;
	queue->weight -= item->weight;
}

void tr_pending_free_item(struct tr_pending_item *item)
{
	if (item)
		free(item->replaced);
	free(item);
}

/* Frees the item, or keeps its memory for the next one. */
static void recycle(struct tr_pending *queue, struct tr_pending_item *item)
{
	enum { LARGE = 64 << 10 };

	if (queue->spare || item->replaced || item->room > LARGE)
		tr_pending_free_item(item);
	else
		queue->spare = item;
}

/* A spilled item: its data, the length of its text, its text. */
static bool write_item(struct tr_pending *queue, const void *data, struct tr_text text,
		       struct tr_error *err)
{
	return tr_spool_write(queue->spool, data, queue->data_size, err) &&
	       tr_spool_write(queue->spool, (const char *)&text.len, sizeof text.len, err) &&
	       (!text.len || tr_spool_write(queue->spool, text.data, text.len, err));
}

static bool can_be_spilled(const struct tr_pending_item *item)
{
	return !item->pending && !item->pinned && !item->run;
}

/* Inserts an empty run before the item. */
static struct tr_pending_item *insert_run(struct tr_pending *queue, struct tr_pending_item *item)
{
	struct tr_pending_item *run = new_item(queue, 0);

	if (!run)
		return NULL;
	memset(run->data, 0, queue->data_size);
	run->run = true;
	run->begin = run->end = tr_spool_size(queue->spool);
	run->next = item;
	run->previous = item->previous;
	*(run->previous ? &run->previous->next : &queue->first) = run;
	item->previous = run;
	return run;
}

/* Spills the items from this one on, up to one that stays, as one run. */
static struct tr_pending_item *spill_run(struct tr_pending *queue, struct tr_pending_item *item,
					 struct tr_error *err)
{
	struct tr_pending_item *run = insert_run(queue, item);

	if (!run) {
		tr_error_memory(err);
		return NULL;
	}
	while (run->next && can_be_spilled(run->next)) {
		item = run->next;
		if (!write_item(queue, item->data, item->text, err))
			return NULL;
		tr_pending_remove(queue, item);
		queue->count++; /* it is in the run */
		tr_pending_free_item(item);
	}
	run->end = tr_spool_size(queue->spool);
	return run;
}

bool tr_pending_spill_all(struct tr_pending *queue, struct tr_error *err)
{
	if (!queue->spill_weight || queue->weight <= queue->spill_again)
		return true;
	if (!queue->spool)
		queue->spool = tr_spool_new(queue->max_spool);
	if (!queue->spool) {
		tr_error_memory(err);
		return false;
	}
	for (struct tr_pending_item *item = queue->first; item; item = item->next) {
		if (can_be_spilled(item))
			item = spill_run(queue, item, err);
		if (!item)
			return false;
	}
	/* pending items stay, so the next attempt is at twice their weight */
	queue->spill_again = 2 * queue->weight;
	return true;
}

/* After a run, an item goes straight to the file, and needs no memory at all. */
bool tr_pending_put(struct tr_pending *queue, const void *data, struct tr_text text, size_t weight,
		    struct tr_error *err)
{
	if (queue->last && queue->last->run) {
		if (!write_item(queue, data, text, err))
			return false;
		queue->last->end = tr_spool_size(queue->spool);
		queue->count++;
		return true;
	}
	if (tr_pending_add(queue, data, text, weight))
		return tr_pending_spill(queue, err);
	tr_error_memory(err);
	return false;
}

/* The next n bytes of a run. NULL: err is filled. */
static const char *look(struct tr_pending *queue, const struct tr_pending_item *run, size_t n,
			struct tr_error *err)
{
	return tr_spool_look(queue->spool, &queue->window, run->begin, n, err);
}

/* Reads the head of a run's first item into queue->reread. */
static bool read_head(struct tr_pending *queue, const struct tr_pending_item *run,
		      struct tr_error *err)
{
	struct tr_pending_item *item = queue->reread;
	const char *bytes = look(queue, run, queue->data_size + sizeof item->text.len, err);

	if (!bytes)
		return false;
	if (!item)
		item = queue->reread = new_item(queue, 0);
	if (!item) {
		tr_error_memory(err);
		return false;
	}
	memcpy(item->data, bytes, queue->data_size);
	memcpy(&item->text.len, bytes + queue->data_size, sizeof item->text.len);
	return true;
}

/* An empty queue begins a new temporary file; what was read last stays valid. */
static void rewind_spool(struct tr_pending *queue)
{
	tr_spool_free(queue->spool);
	queue->spool = NULL;
	queue->window.at = 0;
	queue->window.bytes.len = 0;
	queue->spill_again = 0;
}

/* Reads the next item of a run into queue->reread. False: err is filled. */
static bool read_item(struct tr_pending *queue, struct tr_pending_item *run, struct tr_error *err)
{
	size_t head = queue->data_size + sizeof(size_t);

	if (!read_head(queue, run, err))
		return false;
	struct tr_pending_item *item = queue->reread;
	const char *bytes = look(queue, run, head + item->text.len, err);
	if (!bytes)
		return false;
	item->text.data = bytes + head;
	run->begin += head + item->text.len;
	queue->count--;
	if (run->begin == run->end) {
		tr_pending_remove(queue, run);
		tr_pending_free_item(run);
	}
	if (!queue->first)
		rewind_spool(queue);
	return true;
}

/*
 * Takes the first item. The item that was returned before is freed now, so that the caller may use
 * it until then.
 */
enum tr_status tr_pending_next(struct tr_pending *queue, const struct tr_pending_item **item,
			       struct tr_error *err)
{
	struct tr_pending_item *first = queue->first;

	if (queue->given)
		recycle(queue, queue->given);
	queue->given = NULL;
	if (!first && queue->spool)
		rewind_spool(queue);
	if (!first || first->pending)
		return TR_END;
	if (first->run) {
		if (!read_item(queue, first, err))
			return TR_FATAL;
		*item = queue->reread;
		return TR_OK;
	}
	tr_pending_remove(queue, first);
	if (!queue->first && queue->spool)
		rewind_spool(queue);
	*item = queue->given = first;
	return TR_OK;
}

const void *tr_pending_peek(struct tr_pending *queue, struct tr_error *err)
{
	if (!queue->first->run)
		return queue->first->data;
	return read_head(queue, queue->first, err) ? queue->reread->data : NULL;
}

void tr_pending_free(struct tr_pending *queue)
{
	for (struct tr_pending_item *item = queue->first, *next; item; item = next) {
		next = item->next;
		tr_pending_free_item(item);
	}
	tr_pending_free_item(queue->given);
	tr_pending_free_item(queue->reread);
	tr_pending_free_item(queue->spare);
	tr_id_map_free(&queue->by_key);
	tr_id_map_free(&queue->by_name);
	tr_spool_free(queue->spool);
	tr_buffer_free(&queue->window.bytes);
	*queue = (struct tr_pending){ .data_size = queue->data_size,
				      .spill_weight = queue->spill_weight,
				      .max_spool = queue->max_spool };
}
