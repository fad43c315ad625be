/* SPDX-License-Identifier: MIT */
/*
 * Ids and their values in bounded memory, and the parents of events: see parents.h.
 *
 * Traces have millions of events whose ids count upwards, so a run of them takes three numbers. The
 * other ids are in a table of a fixed size. Both forget the oldest: a parent is nearly always a
 * recent event, and a hostile trace must not grow the reader.
 */
#include "format/klocwork/parents.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "format/klocwork/klocwork.h"

enum {
	MAX_RUNS = 1 << 16,
	SETS = 1 << 14, /* a power of two */
	WAYS = 16,
	MAX_TEXT = 240, /* longer ids, which no tracer writes, are not kept */
};

struct tr_klocwork_run {
	uint64_t id, value, count; /* id + i has value + i */
};

/* An id in the table; all zero: free. */
struct tr_klocwork_entry {
	uint64_t key;	      /* the number, or the hash of text */
	struct tr_text *text; /* with its bytes after it; NULL: a number */
	uint64_t value;
	uint64_t used;
};

/* The id is a number that runs can hold, in its only spelling. */
static bool is_number(struct tr_text id, uint64_t *number)
{
	enum { SAFE_DIGITS = 19 };
	if (!id.len || id.len > SAFE_DIGITS || (id.data[0] == '0' && id.len > 1))
		return false;
	uint64_t n = 0;
	for (size_t i = 0; i < id.len; i++) {
		unsigned digit = (unsigned char)id.data[i] - '0';
		if (digit > 9)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

/* Spreads the bits of a number over the sets of the table. */
static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return n ^ n >> 33;
}

/* The hash of an id that is no number; not seeded, because sets are bounded. */
static uint64_t hash_id(struct tr_text id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < id.len; i++)
		hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Returns the WAYS entries in which an id may be. */
static struct tr_klocwork_entry *find_set(struct tr_klocwork_ids *ids, uint64_t key)
{
	return ids->table + (mix(key) & (SETS - 1)) * WAYS;
}

/*
 * Finds the entry of an id (text.data NULL: the number key), and counts the use. NULL: it is not in
 * the table.
 */
static struct tr_klocwork_entry *find_entry(struct tr_klocwork_ids *ids, uint64_t key,
					    struct tr_text text)
{
	if (!ids->table)
		return NULL;
	struct tr_klocwork_entry *set = find_set(ids, key);
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].key != key || set[i].used <= ids->forgotten)
			continue;
		if (set[i].text ? text.data && tr_text_equal(*set[i].text, text) : !text.data) {
			set[i].used = ++ids->clock;
			return &set[i];
		}
	}
	return NULL;
}

/* Sets the value of an id. The least recently used entry of a full set is replaced. */
static bool put_entry(struct tr_klocwork_ids *ids, uint64_t key, struct tr_text text,
		      uint64_t value)
{
	if (!ids->table)
		ids->table = calloc((size_t)SETS * WAYS, sizeof *ids->table);
	if (!ids->table)
		return false;
	struct tr_klocwork_entry *entry = find_entry(ids, key, text), *set = find_set(ids, key);
	if (entry) {
		entry->value = value;
		return true;
	}
	struct tr_text *copy = NULL;
	if (text.data) {
		copy = malloc(sizeof *copy + text.len);
		if (!copy)
			return false;
		*copy = (struct tr_text){ memcpy(copy + 1, text.data, text.len), text.len };
	}
	entry = set;
	for (unsigned i = 1; i < WAYS; i++)
		if (set[i].used < entry->used)
			entry = &set[i];
	free(entry->text);
	*entry = (struct tr_klocwork_entry){ key, copy, value, ++ids->clock };
	return true;
}

bool tr_klocwork_ids_put_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t value)
{
	struct tr_klocwork_run *last = ids->run_count ? &ids->runs[ids->run_count - 1] : NULL;
	if (last && id - last->id == last->count && value - last->value == last->count) {
		last->count++;
		return true;
	}
	/* so an id in the table is never in a newer run: the table is searched first */
	if (last && id < last->id + last->count)
		return put_entry(ids, id, (struct tr_text){ NULL, 0 }, value);
	if (ids->run_count == MAX_RUNS) { /* the older half is dropped */
		ids->run_count = MAX_RUNS / 2;
		memmove(ids->runs, ids->runs + MAX_RUNS / 2, ids->run_count * sizeof *ids->runs);
	}
	if (!tr_array_room(ids->runs, ids->run_count, ids->run_cap))
		return false;
	ids->runs[ids->run_count++] = (struct tr_klocwork_run){ id, value, 1 };
	return true;
}

bool tr_klocwork_ids_put(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_put_number(ids, number, value);
	return id.len > MAX_TEXT || put_entry(ids, hash_id(id), id, value);
}

bool tr_klocwork_ids_find_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t *value)
{
	const struct tr_text none = { NULL, 0 };
	struct tr_klocwork_entry *entry = find_entry(ids, id, none);
	if (entry) {
		*value = entry->value;
		return true;
	}
	/* runs before low begin at or before id */
	size_t low = tr_array_search(i, 0, ids->run_count, ids->runs[i].id <= id);
	if (!low || id - ids->runs[low - 1].id >= ids->runs[low - 1].count)
		return false;
	*value = ids->runs[low - 1].value + (id - ids->runs[low - 1].id);
	/* ids in use are not to be dropped with the old half; if memory is out, they may be */
	if (ids->run_cap == MAX_RUNS && low <= MAX_RUNS / 2)
		(void)put_entry(ids, id, none, *value);
	return true;
}

bool tr_klocwork_ids_find(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t *value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_find_number(ids, number, value);
	struct tr_klocwork_entry *entry = find_entry(ids, hash_id(id), id);
	if (entry)
		*value = entry->value;
	return entry != NULL;
}

void tr_klocwork_ids_forget(struct tr_klocwork_ids *ids)
{
	ids->run_count = 0;
	ids->forgotten = ids->clock;
}

void tr_klocwork_ids_free(struct tr_klocwork_ids *ids)
{
	if (ids->table)
		for (size_t i = 0; i < (size_t)SETS * WAYS; i++)
			free(ids->table[i].text);
	free(ids->table);
	free(ids->runs);
	*ids = (struct tr_klocwork_ids){ .runs = NULL };
}

/* The record of an item of the queue. */
static struct tr_klocwork_queued *record_of(const struct tr_pending_item *item)
{
	return item->data;
}

/* The id that the record is pending on; it follows the line in the item's text. */
static struct tr_text wanted_id(const struct tr_pending_item *item)
{
	size_t len = record_of(item)->wanted_length;
	return (struct tr_text){ item->text.data + item->text.len - len, len };
}

/* The queued parent of a record, or NULL. */
static struct tr_pending_item *queued_parent(struct tr_klocwork_parents *parents, uint64_t parent)
{
	return parent == TR_NO_POSITION ? NULL : tr_pending_find(&parents->queue, parent);
}

struct tr_klocwork_parent tr_klocwork_parents_find(struct tr_klocwork_parents *parents,
						   struct tr_text id, struct tr_text parent_id)
{
	struct tr_klocwork_parent parent = { TR_NO_POSITION, false, false };
	if (!tr_klocwork_names_nobody(parent_id) &&
	    !tr_klocwork_ids_find(&parents->ids, parent_id, &parent.seq)) {
		parent.seq = TR_NO_POSITION;
		parent.orphan = id.data && tr_text_equal(id, parent_id);
		parent.pending = !parent.orphan;
	}
	return parent;
}

/* Resolves the records that are pending on this id of the event seq. False: memory is out. */
static bool resolve(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
		    uint64_t parent)
{
	uint64_t hash = hash_id(id);
	struct tr_pending_item *item = tr_pending_resolve(&parents->queue, hash), *next;
	for (; item; item = next) {
		struct tr_klocwork_queued *record = record_of(item);
		next = item->sibling;
		/* a child of its own descendant stays pending */
		uint64_t ancestor = parent;
		while (ancestor != TR_NO_POSITION && ancestor != record->seq) {
			const struct tr_pending_item *above = queued_parent(parents, ancestor);
			ancestor = above ? record_of(above)->parent : TR_NO_POSITION;
		}
		if (ancestor != record->seq && tr_text_equal(wanted_id(item), id))
			record->parent = seq;
		else if (!tr_pending_hold(&parents->queue, item, hash))
			return false;
	}
	return true;
}

bool tr_klocwork_parents_event(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
			       const struct tr_klocwork_parent *parent)
{
	parents->events = true;
	parents->orphans += parent->orphan;
	if (!id.data)
		return true;
	return (!parents->queue.count || resolve(parents, id, seq, parent->seq)) &&
	       tr_klocwork_ids_put(&parents->ids, id, seq);
}

/* The pending record stays without a parent. The id 0 may also mean that it has none. */
static void give_up(struct tr_klocwork_parents *parents, struct tr_pending_item *item)
{
	tr_pending_release(&parents->queue, item);
	record_of(item)->orphan = !tr_text_is(wanted_id(item), "0");
	parents->orphans += record_of(item)->orphan;
}

void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents)
{
	for (struct tr_pending_item *item = parents->queue.first; item; item = item->next)
		if (item->pending)
			give_up(parents, item);
}

void tr_klocwork_parents_scope(struct tr_klocwork_parents *parents, bool soft)
{
	if (soft && !parents->events)
		return;
	tr_klocwork_parents_settle(parents);
	tr_klocwork_ids_forget(&parents->ids);
	parents->events = false;
}

bool tr_klocwork_parents_queue(struct tr_klocwork_parents *parents,
			       const struct tr_klocwork_queued *record, struct tr_text line,
			       size_t weight, struct tr_text wanted)
{
	char *room;
	parents->queue.data_size = sizeof *record;
	struct tr_pending_item *item =
		tr_pending_make(&parents->queue, record, line.len + wanted.len, weight, &room);
	if (!item || !tr_pending_name(&parents->queue, item, record->seq))
		return false;
	if (line.len)
		memcpy(room, line.data, line.len);
	if (wanted.len)
		memcpy(room + line.len, wanted.data, wanted.len);
	record_of(item)->wanted_length = wanted.len;
	return !wanted.len || tr_pending_hold(&parents->queue, item, hash_id(wanted));
}

/*
 * The pending record that keeps the first one in the queue: itself, or an ancestor, which may come
 * after it in the queue; without the second case a cycle could arise. NULL: none. No path is
 * searched twice: a search continues at the ancestor that was pending, and ends at a record that is
 * known to be clear.
 */
static struct tr_pending_item *find_blocker(struct tr_klocwork_parents *parents)
{
	struct tr_pending_item *item = parents->blocker ? parents->blocker : parents->queue.first;
	for (; item && !record_of(item)->clear;
	     item = queued_parent(parents, record_of(item)->parent)) {
		parents->blocker = item;
		if (item->pending)
			return item;
	}
	for (item = parents->queue.first; item && !record_of(item)->clear;
	     item = queued_parent(parents, record_of(item)->parent))
		record_of(item)->clear = true;
	return NULL;
}

const struct tr_klocwork_queued *tr_klocwork_parents_take(struct tr_klocwork_parents *parents,
							  struct tr_text *line)
{
	const struct tr_pending_item *first;
	if (!parents->queue.count)
		return NULL;
	struct tr_pending_item *blocker = find_blocker(parents);
	if (blocker && parents->queue.count <= TR_KLOCWORK_AHEAD &&
	    parents->queue.weight <= TR_KLOCWORK_AHEAD_BYTES)
		return NULL;
	if (blocker)
		give_up(parents, blocker);
	/* nothing is spilled, so there is no error */
	if (tr_pending_next(&parents->queue, &first, NULL) != TR_OK)
		return NULL;
	parents->blocker = NULL;
	*line = (struct tr_text){ first->text.data, first->text.len - wanted_id(first).len };
	return record_of(first);
}

void tr_klocwork_parents_free(struct tr_klocwork_parents *parents)
{
	tr_klocwork_ids_free(&parents->ids);
	tr_pending_free(&parents->queue);
}
