#include "format/etrace/reorder.h"

#include <stdlib.h>
#include <string.h>

#include "core/input.h"

static bool is_before(const struct tr_etrace_waiting *a, const struct tr_etrace_waiting *b)
{
	if (a->sec != b->sec)
		return a->sec < b->sec;
	if (a->nsec != b->nsec)
		return a->nsec < b->nsec;
	return a->number < b->number;
}

static void rise(struct tr_etrace_waiting *heap, size_t i)
{
	struct tr_etrace_waiting line = heap[i];

	for (; i && is_before(&line, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = line;
}

static void sink(struct tr_etrace_waiting *heap, size_t count)
{
	struct tr_etrace_waiting line = heap[0];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &line))
			break;
		heap[i] = heap[child];
	}
	heap[i] = line;
}

bool tr_etrace_reorder_put(struct tr_etrace_reorder *reorder, struct tr_etrace_waiting line,
			   bool timed)
{
	if (reorder->count == reorder->cap) {
		size_t cap = reorder->cap ? reorder->cap * 2 : 64;
		struct tr_etrace_waiting *larger = reallocarray(reorder->heap, cap, sizeof *larger);
		if (!larger)
			return false;
		reorder->heap = larger;
		reorder->cap = cap;
	}
	/* who looks at it with wide loads finds readable bytes behind it */
	char *text = malloc(line.len + TR_INPUT_PAD);
	if (!text)
		return false;
	memcpy(text, line.text, line.len);
	memset(text + line.len, 0, TR_INPUT_PAD);
	line.text = text;
	if (timed) {
		reorder->sec = line.sec;
		reorder->nsec = line.nsec;
	}
	line.sec = reorder->sec;
	line.nsec = reorder->nsec;
	reorder->heap[reorder->count] = line;
	rise(reorder->heap, reorder->count++);
	return true;
}

bool tr_etrace_reorder_take(struct tr_etrace_reorder *reorder, bool all,
			    struct tr_etrace_waiting *line)
{
	if (!reorder->count || (!all && reorder->count <= reorder->window))
		return false;
	*line = reorder->heap[0];
	reorder->heap[0] = reorder->heap[--reorder->count];
	if (reorder->count)
		sink(reorder->heap, reorder->count);
	return true;
}

void tr_etrace_reorder_free(struct tr_etrace_reorder *reorder)
{
	for (size_t i = 0; i < reorder->count; i++)
		free(reorder->heap[i].text);
	free(reorder->heap);
}
