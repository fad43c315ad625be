/* SPDX-License-Identifier: MIT */
/*
 * The queue of pending records: those that were read and are held back until their parent, their
 * leave or their environment is known.
 *
 *	add	appends an item: a text, usually the line of a record, and a struct of the user
 *	hold	makes it pending on a key, such as the seq of its parent; a user without keys sets
 *		item->pending itself
 *	resolve	releases all items that are pending on a key, and returns them in their order
 *	stuck	at the end of the input, finds an item whose key will not come, or one of a cycle (A is
 *		pending on B, and B on A)
 *	next	delivers the items in order, up to the first one that is pending
 *
 * A user that delivers items out of order, as soon as they are resolved, calls remove instead of
 * next.
 *
 * Memory: the user bounds the number of pending items, by count, weight or a count of its own, and
 * gives up some of them. Above spill_weight, the items that are neither pending nor pinned move to
 * a temporary file of max_spool bytes at most, and keep their place in the order. The unit of
 * weight is the user's.
 *
 * After a failure (memory, or the temporary file) the queue can only be freed. Not thread safe.
 */
#ifndef TR_RECORD_PENDING_H
#define TR_RECORD_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/map.h"
#include "core/spool.h"
#include "core/text.h"

struct tr_pending_item {
	struct tr_text text; /* readers may look TR_INPUT_PAD bytes after it */
	void *data;	     /* the user's struct, of queue->data_size bytes */
	bool pending;	     /* set by hold; a user without keys sets and clears it */
	bool pinned;	     /* it has to stay in memory, because something points to it */
	size_t weight;	     /* its part of queue->weight */

	/* private */
	bool keyed, named, run;
	size_t room; /* for text, in memory */
	uint64_t key, name;
	struct tr_pending_item *previous, *next;
	struct tr_pending_item *sibling; /* the next of the same key; of the last: the first */
	char *replaced;			 /* owns text, if that was replaced */
	uint64_t begin, end;		 /* of a run of spilled items: offsets in the spool */
	max_align_t memory[];		 /* data, then text */
};

struct tr_pending {
	size_t data_size;
	size_t spill_weight; /* above this weight, items are spilled; 0: never */
	uint64_t max_spool;

	size_t count;  /* of all items, spilled ones included */
	size_t weight; /* of the items in memory */
	struct tr_pending_item *first, *last;

	/* private */
	size_t keyed;
	struct tr_id_map by_key, by_name;
	struct tr_pending_item *given;	/* the item that was delivered last */
	struct tr_pending_item *spare;	/* memory for the next item */
	struct tr_pending_item *reread; /* delivered items that were spilled */
	struct tr_pending_item
		*cursor; /* of stuck: the items before it are pending on others of the queue */
	bool searching;
	size_t spill_again; /* the weight at which the next attempt may gain something */
	struct tr_spool *spool;
	struct tr_spool_window window;
};

#define TR_PENDING_INIT(type) \
	{ \
		.data_size = sizeof(type) \
	}

/*
 * Appends an item with a copy of the data and a text of len bytes, which the caller writes to
 * *room. NULL: memory is exhausted.
 */
struct tr_pending_item *tr_pending_make(struct tr_pending *queue, const void *data, size_t len,
					size_t weight, char **room);

/* Like tr_pending_make, with a copy of text. */
struct tr_pending_item *tr_pending_add(struct tr_pending *queue, const void *data,
				       struct tr_text text, size_t weight);

/*
 * Appends an item that is not pending and that nothing points to; it may go straight to the
 * temporary file. False: err is filled.
 */
bool tr_pending_put(struct tr_pending *queue, const void *data, struct tr_text text, size_t weight,
		    struct tr_error *err);

/* Replaces the text of an item. False: memory is exhausted. */
bool tr_pending_replace(struct tr_pending *queue, struct tr_pending_item *item,
			struct tr_text text);

/*
 * Names an item for tr_pending_find, which finds the last one of a name. False: memory is
 * exhausted.
 */
bool tr_pending_name(struct tr_pending *queue, struct tr_pending_item *item, uint64_t name);
struct tr_pending_item *tr_pending_find(const struct tr_pending *queue, uint64_t name);

/* Makes the item pending on a key. False: memory is exhausted, and it is not pending. */
bool tr_pending_hold(struct tr_pending *queue, struct tr_pending_item *item, uint64_t key);

/*
 * Releases the items that are pending on the key; they stay in the queue. Returns the first one;
 * `sibling` leads to the next one, in their order, until an item is held again. NULL: there is
 * none.
 */
struct tr_pending_item *tr_pending_resolve(struct tr_pending *queue, uint64_t key);

/* Releases one item from its key. */
void tr_pending_release(struct tr_pending *queue, struct tr_pending_item *item);

/*
 * At the end of the input, returns the item to give up next: one that is pending on a name that the
 * queue does not have or, if there is none, one of a cycle (*cycle). NULL: no item has a key.
 */
struct tr_pending_item *tr_pending_stuck(struct tr_pending *queue, bool *cycle);

/*
 * Delivers the first item, which is valid until the next call. TR_END: there is none, or it is
 * pending. TR_FATAL: err is filled.
 */
enum tr_status tr_pending_next(struct tr_pending *queue, const struct tr_pending_item **item,
			       struct tr_error *err);

/* The data of the first item, which may be pending, until the next call. NULL: err is filled. */
const void *tr_pending_peek(struct tr_pending *queue, struct tr_error *err);

/* Takes an item out of the queue. The caller then owns it, and frees it or appends it again. */
void tr_pending_remove(struct tr_pending *queue, struct tr_pending_item *item);

/* Appends an item that was removed from this queue, or from one whose data have the same type. */
void tr_pending_append(struct tr_pending *queue, struct tr_pending_item *item);

void tr_pending_free_item(struct tr_pending_item *item);

/* Spills the items that may move, if the queue is too heavy. False: err is filled. */
bool tr_pending_spill_all(struct tr_pending *queue, struct tr_error *err);
static inline bool tr_pending_spill(struct tr_pending *queue, struct tr_error *err)
{
	return queue->weight <= queue->spill_weight || tr_pending_spill_all(queue, err);
}

/* The size of the temporary file, in bytes. */
static inline uint64_t tr_pending_spooled(const struct tr_pending *queue)
{
	return queue->spool ? tr_spool_size(queue->spool) : 0;
}

/* Frees all items. The queue is then empty, and can be used again. */
void tr_pending_free(struct tr_pending *queue);

#endif
