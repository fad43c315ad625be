/* SPDX-License-Identifier: MIT */
/* Ids and their values in bounded memory, and the parents of events: see parents.h. */
#include "format/klocwork/parents.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"

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
	uint64_t key; /* the number, or the hash of text */
	char *text;   /* NULL for numbers; its length is in front: struct id_text */
	uint64_t value;
	uint64_t used;
};

struct id_text {
	size_t len;
	char bytes[];
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

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return n ^ n >> 33;
}

uint64_t tr_klocwork_id_hash(struct tr_text id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < id.len; i++)
		hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static struct tr_text entry_text(const struct tr_klocwork_entry *entry)
{
	if (!entry->text)
		return (struct tr_text){ NULL, 0 };
	const struct id_text *text = (const struct id_text *)(const void *)entry->text;
	return (struct tr_text){ text->bytes, text->len };
}

/* The entry of an id (text.data NULL: the number key), or NULL. */
static struct tr_klocwork_entry *find_entry(struct tr_klocwork_ids *ids, uint64_t key,
					    struct tr_text text)
{
	if (!ids->table)
		return NULL;
	struct tr_klocwork_entry *set = ids->table + (mix(key) & (SETS - 1)) * WAYS;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].key != key || set[i].used <= ids->forgotten)
			continue;
		if (!set[i].text == !text.data && tr_text_equal(entry_text(&set[i]), text)) {
			set[i].used = ++ids->clock;
			return &set[i];
		}
	}
	return NULL;
}

/* A free entry of the key's set, or the least recently used one. */
static struct tr_klocwork_entry *oldest_entry(struct tr_klocwork_ids *ids, uint64_t key)
{
	struct tr_klocwork_entry *set = ids->table + (mix(key) & (SETS - 1)) * WAYS;
	struct tr_klocwork_entry *oldest = set;
	for (unsigned i = 1; i < WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	return oldest;
}

static bool put_entry(struct tr_klocwork_ids *ids, uint64_t key, struct tr_text text,
		      uint64_t value)
{
	if (!ids->table)
		ids->table = calloc((size_t)SETS * WAYS, sizeof *ids->table);
	if (!ids->table)
		return false;
	struct tr_klocwork_entry *entry = find_entry(ids, key, text);
	if (entry) {
		entry->value = value;
		return true;
	}
	struct id_text *copy = NULL;
	if (text.data) {
		copy = malloc(sizeof *copy + text.len);
		if (!copy)
			return false;
		copy->len = text.len;
		memcpy(copy->bytes, text.data, text.len);
	}
	entry = oldest_entry(ids, key);
	free(entry->text);
	*entry = (struct tr_klocwork_entry){ key, (char *)copy, value, ++ids->clock };
	return true;
}

/* Makes space for one more run; if there are too many, the older half is dropped. */
static bool make_run_room(struct tr_klocwork_ids *ids)
{
	if (ids->run_count == MAX_RUNS) {
		ids->run_count = MAX_RUNS / 2;
		memmove(ids->runs, ids->runs + MAX_RUNS / 2, ids->run_count * sizeof *ids->runs);
	}
	return tr_array_room(ids->runs, ids->run_count, ids->run_cap);
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
	if (!make_run_room(ids))
		return false;
	ids->runs[ids->run_count++] = (struct tr_klocwork_run){ id, value, 1 };
	return true;
}

bool tr_klocwork_ids_put(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_put_number(ids, number, value);
	return id.len > MAX_TEXT || put_entry(ids, tr_klocwork_id_hash(id), id, value);
}

/* The index of the last run that begins at or before id; run_count when none does. */
static size_t find_run(const struct tr_klocwork_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->run_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ids->runs[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : ids->run_count;
}

bool tr_klocwork_ids_find_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t *value)
{
	const struct tr_text none = { NULL, 0 };
	struct tr_klocwork_entry *entry = find_entry(ids, id, none);
	if (entry) {
		*value = entry->value;
		return true;
	}
	size_t i = find_run(ids, id);
	if (i == ids->run_count || id - ids->runs[i].id >= ids->runs[i].count)
		return false;
	*value = ids->runs[i].value + (id - ids->runs[i].id);
	/* ids in use are not to be dropped with the old half; if memory is out, they may be */
	if (ids->run_cap == MAX_RUNS && i < MAX_RUNS / 2)
		(void)put_entry(ids, id, none, *value);
	return true;
}

bool tr_klocwork_ids_find(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t *value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_find_number(ids, number, value);
	struct tr_klocwork_entry *entry = find_entry(ids, tr_klocwork_id_hash(id), id);
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
	*ids = (struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
}

enum { RING = TR_KLOCWORK_AHEAD + 2 };

void tr_klocwork_parents_init(struct tr_klocwork_parents *parents)
{
	memset(parents, 0, sizeof *parents);
	parents->ids = (struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
}

void tr_klocwork_parents_free(struct tr_klocwork_parents *parents)
{
	tr_klocwork_ids_free(&parents->ids);
	for (size_t i = 0; i < parents->count; i++)
		free(parents->queue[(parents->first + i) % RING].bytes);
}

/* Never 0, which stands for "does not wait". */
static uint64_t hash_id(struct tr_text id)
{
	return tr_klocwork_id_hash(id) | 1;
}

static struct tr_klocwork_queued *queued(struct tr_klocwork_parents *parents, size_t i)
{
	return &parents->queue[(parents->first + i) % RING];
}

/* The queued record with that seq, or NULL: seqs rise through the queue. */
static struct tr_klocwork_queued *find_queued(struct tr_klocwork_parents *parents, uint64_t seq)
{
	size_t low = 0, high = parents->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (queued(parents, middle)->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < parents->count && queued(parents, low)->seq == seq;
	return found ? queued(parents, low) : NULL;
}

/* The pending record would become its own ancestor as a child of a record with this parent. */
static bool is_ancestor(struct tr_klocwork_parents *parents, uint64_t waiting, uint64_t parent)
{
	while (parent != TR_NO_POSITION && parent != waiting) {
		struct tr_klocwork_queued *record = find_queued(parents, parent);
		parent = record ? record->parent : TR_NO_POSITION;
	}
	return parent == waiting;
}

/* The event seq has that id: records that are pending on it get their parent. */
static void resolve(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
		    uint64_t parent)
{
	uint64_t hash = hash_id(id);
	for (size_t slot = 0; slot < RING; slot++) {
		struct tr_klocwork_queued *record = &parents->queue[slot];
		if (parents->wanted[slot] != hash)
			continue;
		struct tr_text wanted = { record->bytes + record->length, record->wanted_length };
		if (!tr_text_equal(wanted, id) || is_ancestor(parents, record->seq, parent))
			continue;
		record->parent = seq;
		parents->wanted[slot] = 0;
		parents->pending--;
	}
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

bool tr_klocwork_parents_event(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
			       const struct tr_klocwork_parent *parent)
{
	parents->events = true;
	parents->orphans += parent->orphan;
	if (!id.data)
		return true;
	if (parents->pending)
		resolve(parents, id, seq, parent->seq);
	return tr_klocwork_ids_put(&parents->ids, id, seq);
}

/* The pending record in that slot stays without a parent. */
static void give_up(struct tr_klocwork_parents *parents, size_t slot)
{
	struct tr_klocwork_queued *record = &parents->queue[slot];
	parents->wanted[slot] = 0;
	parents->pending--;
	record->orphan = !record->zero;
	parents->orphans += record->orphan;
}

void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents)
{
	for (size_t slot = 0; slot < RING && parents->pending; slot++)
		if (parents->wanted[slot])
			give_up(parents, slot);
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
			       struct tr_text wanted)
{
	size_t slot = (parents->first + parents->count) % RING;
	size_t size = line.len + wanted.len;
	char *bytes = size ? malloc(size) : NULL;
	if (size && !bytes)
		return false;
	if (line.len)
		memcpy(bytes, line.data, line.len);
	if (wanted.len)
		memcpy(bytes + line.len, wanted.data, wanted.len);
	parents->queue[slot] = *record;
	parents->queue[slot].bytes = bytes;
	parents->queue[slot].length = line.len;
	parents->queue[slot].wanted_length = wanted.len;
	parents->queue[slot].zero = tr_text_is(wanted, "0");
	parents->wanted[slot] = wanted.len ? hash_id(wanted) : 0;
	parents->pending += wanted.len > 0;
	parents->bytes += record->weight;
	parents->count++;
	return true;
}

static struct tr_klocwork_queued *queued_parent(struct tr_klocwork_parents *parents,
						const struct tr_klocwork_queued *record)
{
	return record->parent == TR_NO_POSITION ? NULL : find_queued(parents, record->parent);
}

/*
 * The slot of the pending record that keeps the first one in the queue: itself, or an ancestor,
 * which may come after it in the queue; without the second case a cycle could arise. RING: none.
 * No path is searched twice: a search continues at the ancestor that was pending, and ends at a
 * record that is known to be clear.
 */
static size_t blocking_slot(struct tr_klocwork_parents *parents)
{
	struct tr_klocwork_queued *record = &parents->queue[parents->blocker];
	for (; record && !record->clear; record = queued_parent(parents, record)) {
		parents->blocker = (size_t)(record - parents->queue);
		if (parents->wanted[parents->blocker])
			return parents->blocker;
	}
	record = &parents->queue[parents->first];
	for (; record && !record->clear; record = queued_parent(parents, record))
		record->clear = true;
	return RING;
}

struct tr_klocwork_queued *tr_klocwork_parents_ready(struct tr_klocwork_parents *parents)
{
	if (!parents->count)
		return NULL;
	size_t slot = parents->pending ? blocking_slot(parents) : RING;
	if (slot < RING) {
		if (parents->count <= TR_KLOCWORK_AHEAD &&
		    parents->bytes <= TR_KLOCWORK_AHEAD_BYTES)
			return NULL;
		give_up(parents, slot);
	}
	return &parents->queue[parents->first];
}

struct tr_klocwork_queued *tr_klocwork_parents_at(struct tr_klocwork_parents *parents, size_t i)
{
	return i < parents->count ? queued(parents, i) : NULL;
}

void tr_klocwork_parents_drop(struct tr_klocwork_parents *parents)
{
	struct tr_klocwork_queued *record = &parents->queue[parents->first];
	parents->bytes -= record->weight;
	free(record->bytes);
	parents->first = parents->blocker = (parents->first + 1) % RING;
	parents->count--;
}

/* Appends a line with parent and flag in their places. */
static void finish_line(struct tr_text line, const struct tr_klocwork_gaps *gaps, uint64_t parent,
			bool orphan, struct tr_buffer *to)
{
	const char *p = line.data;
	if (parent != TR_NO_POSITION) {
		tr_buffer_put(to, p, gaps->parent);
		tr_buffer_put_literal(to, "\tparent=");
		tr_buffer_put_decimal(to, parent);
		p += gaps->parent;
	}
	if (orphan) {
		const char *flag = line.data + gaps->flagged;
		tr_buffer_put(to, p, (size_t)(flag - p));
		tr_buffer_put_literal(to, "\tflagged=[\"orphan\"]");
		p = flag;
	}
	tr_buffer_put_text(to, tr_text_span(p, line.data + line.len));
}

void tr_klocwork_parents_take(struct tr_klocwork_parents *parents, struct tr_buffer *to)
{
	struct tr_klocwork_queued *record = &parents->queue[parents->first];
	finish_line((struct tr_text){ record->bytes, record->length }, &record->gaps,
		    record->parent, record->orphan, to);
	tr_klocwork_parents_drop(parents);
}
