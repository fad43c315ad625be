#include "format/klocwork/parents.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "format/klocwork/id.h"

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

/* Would the one that waits become its own ancestor as a child of a record with this parent? */
static bool is_ancestor(struct tr_klocwork_parents *parents, uint64_t waiting, uint64_t parent)
{
	while (parent != TR_NO_POSITION && parent != waiting) {
		struct tr_klocwork_queued *record = find_queued(parents, parent);
		parent = record ? record->parent : TR_NO_POSITION;
	}
	return parent == waiting;
}

/* The event seq with that id is here: whoever waits for it has its parent. */
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
		parents->waiting--;
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
		parent.waits = !parent.orphan;
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
	if (parents->waiting)
		resolve(parents, id, seq, parent->seq);
	return tr_klocwork_ids_put(&parents->ids, id, seq);
}

/* The record in that slot waits in vain. */
static void give_up(struct tr_klocwork_parents *parents, size_t slot)
{
	struct tr_klocwork_queued *record = &parents->queue[slot];
	parents->wanted[slot] = 0;
	parents->waiting--;
	record->orphan = !record->zero;
	parents->orphans += record->orphan;
}

void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents)
{
	for (size_t slot = 0; slot < RING && parents->waiting; slot++)
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
	parents->waiting += wanted.len > 0;
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
 * The slot of the record for which the first of the queue has to wait: itself,
 * or an ancestor, which may stand behind it. Without the second a circle would
 * close behind its back. RING: none. No way is gone twice: a search goes on at
 * the ancestor that waited, and ends where one has found that nobody waits.
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
	size_t slot = parents->waiting ? blocking_slot(parents) : RING;
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

void tr_klocwork_parents_take(struct tr_klocwork_parents *parents, struct tr_buffer *to)
{
	struct tr_klocwork_queued *record = &parents->queue[parents->first];
	tr_klocwork_line_finish((struct tr_text){ record->bytes, record->length }, &record->gaps,
				record->parent, record->orphan, to);
	tr_klocwork_parents_drop(parents);
}

void tr_klocwork_line_finish(struct tr_text line, const struct tr_klocwork_gaps *gaps,
			     uint64_t parent, bool orphan, struct tr_buffer *to)
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
	tr_buffer_put_byte(to, '\n');
}
