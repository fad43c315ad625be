/*
 * Output that has to wait: for an enter that only its leave can decide, or (context)
 * for the first record that is kept. The enter may be the very first record of a
 * trace whose call never returns, and what waits behind it is all that is selected;
 * a trace may be all context. So what waits must not all be in memory.
 */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

enum { MUCH = 16 << 20, WRITTEN = 256 << 10 };

/* An item in the spool: this, and its text. */
struct head {
	enum tr_item_type type;
	size_t len;
};

static struct tr_item *new_item(struct tr_queue *queue, enum tr_item_type type, size_t len)
{
	/* whoever parses the copy may load a few bytes more than it has */
	size_t cost = sizeof(struct tr_item) + len + TR_INPUT_PAD;
	struct tr_item *item = malloc(cost);

	if (!item)
		return NULL;
	*item = (struct tr_item){ .type = type, .text = { item->data, len }, .cost = cost };
	memset(item->data + len, 0, TR_INPUT_PAD);
	queue->cost += cost;
	return item;
}

struct tr_item *tr_queue_add(struct tr_queue *queue, enum tr_item_type type, struct tr_text text,
			     struct tr_call *call)
{
	struct tr_item *item = new_item(queue, type, text.len);

	if (!item)
		return NULL;
	item->call = call;
	if (text.len)
		memcpy(item->data, text.data, text.len);
	*(queue->first ? &queue->last->next : &queue->first) = item;
	queue->last = item;
	return item;
}

bool tr_queue_replace(struct tr_queue *queue, struct tr_item *item, struct tr_text text)
{
	item->row = malloc(text.len + 1);
	if (!item->row)
		return false;
	memcpy(item->row, text.data, text.len);
	item->text = (struct tr_text){ item->row, text.len };
	item->cost += text.len;
	queue->cost += text.len;
	return true;
}

static void drop(struct tr_queue *queue, struct tr_item *item)
{
	queue->cost -= item->cost;
	tr_item_free(item);
}

static uint64_t spool_end(const struct tr_queue *queue)
{
	return tr_spool_size(queue->spool) + queue->unsaved.len;
}

static bool save(struct tr_queue *queue, struct tr_error *err)
{
	struct tr_buffer *unsaved = &queue->unsaved;

	if (unsaved->failed) {
		tr_error_memory(err);
		return false;
	}
	if (!tr_spool_write(queue->spool, unsaved->data, unsaved->len, err))
		return false;
	tr_buffer_reset(unsaved);
	return true;
}

/* Appends the item to the spool and frees it. */
static bool put_aside(struct tr_queue *queue, struct tr_item *item, struct tr_error *err)
{
	struct head head = { item->type, item->text.len };
	bool nothing = item->type == TR_ITEM_PASS && !item->text.len; /* an enter that failed */

	if (!nothing) {
		tr_buffer_put(&queue->unsaved, (const char *)&head, sizeof head);
		tr_buffer_put_text(&queue->unsaved, item->text);
	}
	drop(queue, item);
	return queue->unsaved.len < WRITTEN || save(queue, err);
}

static bool can_go_aside(const struct tr_item *item)
{
	return !item->open && !item->call && item->type != TR_ITEM_RUN;
}

/* Puts aside what is decided from *link on, up to what is not, as one run. */
static bool put_run_aside(struct tr_queue *queue, struct tr_item **link, struct tr_error *err)
{
	struct tr_item *run = new_item(queue, TR_ITEM_RUN, 0);
	bool fine = run != NULL;

	if (!run) {
		tr_error_memory(err);
		return false;
	}
	run->begin = spool_end(queue);
	run->next = *link;
	*link = run;
	while (fine && run->next && can_go_aside(run->next)) {
		struct tr_item *item = run->next, *next = item->next;
		fine = put_aside(queue, item, err);
		run->next = next;
	}
	run->end = spool_end(queue);
	return fine;
}

bool tr_queue_relieve(struct tr_queue *queue, struct tr_error *err)
{
	bool fine = true;

	if (queue->cost <= MUCH || queue->cost <= queue->relieve_at)
		return true;
	if (!queue->spool && !(queue->spool = tr_spool_new(INT64_MAX))) {
		tr_error_memory(err);
		return false;
	}
	for (struct tr_item **link = &queue->first; *link; link = &(*link)->next) {
		if (fine && can_go_aside(*link))
			fine = put_run_aside(queue, link, err);
		queue->last = *link;
	}
	fine = fine && save(queue, err);
	/* what is open stays: the next time is when there is as much again */
	queue->relieve_at = 2 * queue->cost;
	return fine;
}

struct tr_item *tr_queue_take(struct tr_queue *queue)
{
	struct tr_item *item = queue->first;

	if (!item || item->open)
		return NULL;
	queue->first = item->next;
	queue->cost -= item->cost;
	return item;
}

enum tr_status tr_queue_read(struct tr_queue *queue, struct tr_item *run, struct tr_item *item,
			     struct tr_error *err)
{
	struct head head;

	if (run->begin == run->end)
		return TR_END;
	const char *bytes =
		tr_spool_look(queue->spool, &queue->window, run->begin, sizeof head, err);
	if (!bytes)
		return TR_FATAL;
	memcpy(&head, bytes, sizeof head);
	bytes = tr_spool_look(queue->spool, &queue->window, run->begin, sizeof head + head.len,
			      err);
	if (!bytes)
		return TR_FATAL;
	*item = (struct tr_item){ .type = head.type, .text = { bytes + sizeof head, head.len } };
	run->begin += sizeof head + head.len;
	return TR_OK;
}

void tr_item_free(struct tr_item *item)
{
	free(item->row);
	free(item);
}

void tr_queue_free(struct tr_queue *queue)
{
	for (struct tr_item *item = queue->first, *next; item; item = next) {
		next = item->next;
		tr_item_free(item);
	}
	tr_spool_free(queue->spool);
	tr_buffer_free(&queue->unsaved);
	tr_buffer_free(&queue->window.bytes);
	*queue = (struct tr_queue){ .first = NULL };
}
