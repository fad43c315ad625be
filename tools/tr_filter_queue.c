/* Output that has to wait for an enter that only its leave can decide. */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

struct tr_item *tr_queue_add(struct tr_queue *queue, enum tr_item_type type, struct tr_text text,
			     struct tr_call *call)
{
	/* whoever parses the copy may load a few bytes more than it has */
	struct tr_item *item = malloc(sizeof *item + text.len + TR_INPUT_PAD);

	if (!item)
		return NULL;
	*item = (struct tr_item){ .type = type, .call = call, .text = { item->data, text.len } };
	if (text.len)
		memcpy(item->data, text.data, text.len);
	memset(item->data + text.len, 0, TR_INPUT_PAD);
	*(queue->first ? &queue->last->next : &queue->first) = item;
	queue->last = item;
	return item;
}

struct tr_item *tr_queue_take(struct tr_queue *queue)
{
	struct tr_item *item = queue->first;

	if (!item || item->open)
		return NULL;
	queue->first = item->next;
	return item;
}

void tr_item_free(struct tr_item *item)
{
	free(item->row);
	free(item);
}
