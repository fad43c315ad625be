/* SPDX-License-Identifier: MIT */
/*
 * Searches for many strings at once (Aho and Corasick): a tree of their prefixes, in which each
 * node has a link to the longest suffix of its text that is in the tree. So a text is read once,
 * however many needles there are.
 */
#include "core/needles.h"

#include <stdlib.h>

#include "core/buffer.h"

enum { ROOT = 0, SHORTEST_CUT = 8 };

/* A node of the tree: a prefix of needles. Its text is at bytes + owner and has depth bytes. */
struct node {
	uint32_t child, next; /* first child, and next sibling; 0: none */
	uint32_t fail;	      /* the longest proper suffix that is a prefix of a needle */
	uint32_t inner;	      /* length of the longest needle that ends here and begins at a word */
	uint32_t owner, depth;
	uint8_t byte;
	bool whole, open; /* whole: it is a needle; open: the needle is open */
	bool any;	  /* a suffix of it is a needle */
};

struct tr_needles {
	struct node *nodes;
	size_t count, cap, max;
	uint32_t first[256]; /* children of the root */
	struct tr_buffer bytes;
	bool full;
};

bool tr_is_word_byte(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* True if a hit that begins or ends between these bytes is a part of a longer word. */
static bool is_inside_word(char before, char after)
{
	return tr_is_word_byte(before) && tr_is_word_byte(after);
}

struct tr_needles *tr_needles_new(size_t max_bytes)
{
	struct tr_needles *needles = calloc(1, sizeof *needles);

	if (!needles)
		return NULL;
	needles->max = max_bytes < UINT32_MAX / 2 ? max_bytes + 1 : UINT32_MAX / 2;
	needles->cap = 64;
	needles->nodes = calloc(needles->cap, sizeof *needles->nodes);
	needles->count = 1; /* the root */
	if (needles->nodes)
		return needles;
	free(needles);
	return NULL;
}

void tr_needles_free(struct tr_needles *needles)
{
	if (!needles)
		return;
	free(needles->nodes);
	tr_buffer_free(&needles->bytes);
	free(needles);
}

/*
 * Returns the child of a node for a byte; 0: there is none. The children of the root, which are
 * needed most often, are in a table.
 */
static uint32_t child_of(const struct tr_needles *needles, uint32_t node, uint8_t byte)
{
	if (node == ROOT)
		return needles->first[byte];
	uint32_t child = needles->nodes[node].child;
	while (child && needles->nodes[child].byte != byte)
		child = needles->nodes[child].next;
	return child;
}

/* Adds a child. 0: memory is exhausted, or there are too many nodes. */
static uint32_t add_child(struct tr_needles *needles, uint32_t parent, uint8_t byte, uint32_t owner)
{
	if (needles->count == needles->max) {
		needles->full = true;
		return 0;
	}
	if (!tr_array_room(needles->nodes, needles->count, needles->cap))
		return 0;
	uint32_t child = (uint32_t)needles->count++;
	struct node *up = &needles->nodes[parent];
	needles->nodes[child] = (struct node){
		.owner = owner, .depth = up->depth + 1, .byte = byte, .next = up->child
	};
	if (parent == ROOT)
		needles->first[byte] = child;
	else
		up->child = child;
	return child;
}

/* Adds a string to the tree. open: the tracer cut it, so a text that continues it is a hit, too. */
bool tr_needles_add(struct tr_needles *needles, struct tr_text needle, bool open)
{
	uint32_t node = ROOT, next;
	size_t i = 0, owner = needles->bytes.len;

	for (; i < needle.len && (next = child_of(needles, node, (uint8_t)needle.data[i])); i++)
		node = next;
	/* a needle that is a prefix of another one needs no bytes of its own */
	if (i < needle.len)
		tr_buffer_put_text(&needles->bytes, needle);
	if (needles->bytes.failed)
		return false;
	for (; i < needle.len; i++) {
		node = add_child(needles, node, (uint8_t)needle.data[i], (uint32_t)owner);
		if (!node)
			return false;
	}
	needles->nodes[node].whole = true;
	needles->nodes[node].open |= open;
	return true;
}

bool tr_needles_are_full(const struct tr_needles *needles)
{
	return needles->full;
}

bool tr_needles_are_none(const struct tr_needles *needles)
{
	return needles->count == 1;
}

/* Returns the node after a byte: a child, or the child of the longest suffix that has one. */
static uint32_t step(const struct tr_needles *needles, uint32_t node, uint8_t byte)
{
	for (;;) {
		uint32_t child = child_of(needles, node, byte);
		if (child || node == ROOT)
			return child;
		node = needles->nodes[node].fail;
	}
}

/* Sets the members that depend on the longest suffix. Those of shorter strings are set already. */
static void link_suffix(struct tr_needles *needles, uint32_t at, uint32_t fail)
{
	struct node *node = &needles->nodes[at];
	const struct node *suffix = &needles->nodes[fail];
	const char *string = needles->bytes.data + node->owner;

	node->fail = fail;
	node->any = node->whole || suffix->any;
	node->inner = suffix->inner;
	if (suffix->whole && !is_inside_word(string[node->depth - suffix->depth - 1],
					     string[node->depth - suffix->depth]))
		node->inner = suffix->depth;
}

/*
 * Sets the links to suffixes, level by level, so that those of shorter prefixes are set before
 * they are used.
 */
bool tr_needles_prepare(struct tr_needles *needles)
{
	/* nodes in the order of their depth */
	uint32_t *queue = malloc(needles->count * sizeof *queue);
	size_t begin = 0, end = 0;

	if (!queue)
		return false;
	for (unsigned byte = 0; byte < 256; byte++) {
		if (!needles->first[byte])
			continue;
		queue[end++] = needles->first[byte];
		link_suffix(needles, needles->first[byte], ROOT);
	}
	while (begin < end) {
		uint32_t at = queue[begin++];
		for (uint32_t child = needles->nodes[at].child; child;
		     child = needles->nodes[child].next) {
			queue[end++] = child;
			link_suffix(
				needles, child,
				step(needles, needles->nodes[at].fail, needles->nodes[child].byte));
		}
	}
	free(queue);
	return true;
}

/* Returns the end of the word that follows an open needle. */
static size_t end_of_rest(struct tr_text text, size_t at)
{
	while (at < text.len && (unsigned char)text.data[at] > ' ' &&
	       !memchr("\"'`;&|,)", text.data[at], 8))
		at++;
	return at;
}

/* Returns the length of the longest needle that ends before `end` and counts; 0: none. */
static size_t length_of_hit(const struct node *node, struct tr_text text, size_t end)
{
	size_t begin = end - node->depth;
	bool ends = end == text.len || !is_inside_word(text.data[end - 1], text.data[end]);

	if (!ends && !node->open)
		return 0;
	if (node->whole && (begin == 0 || !is_inside_word(text.data[begin - 1], text.data[begin])))
		return node->depth;
	return ends ? node->inner : 0;
}

void tr_needles_find(const struct tr_needles *needles, struct tr_text text, bool cut,
		     struct tr_covers *covers, struct tr_covers *parts)
{
	size_t rest = 0; /* the end of the last open hit */
	uint32_t at = ROOT;

	for (size_t i = 0; i < text.len; i++) {
		at = step(needles, at, (uint8_t)text.data[i]);
		const struct node *node = &needles->nodes[at];
		if (!node->any)
			continue;
		size_t length = length_of_hit(node, text, i + 1);
		if (length && node->open && rest <= i)
			rest = end_of_rest(text, i + 1);
		if (length)
			tr_covers_add(covers, i + 1 - length,
				      node->open && rest > i ? rest : i + 1);
		else if (parts)
			tr_covers_add(parts, i, i + 1);
	}
	if (cut && needles->nodes[at].depth >= SHORTEST_CUT)
		tr_covers_add(covers, text.len - needles->nodes[at].depth, text.len);
}

void tr_covers_add(struct tr_covers *covers, size_t begin, size_t end)
{
	struct tr_cover *last = covers->count ? &covers->list[covers->count - 1] : NULL;

	if (last && begin <= last->end && end >= last->begin) {
		last->begin = begin < last->begin ? begin : last->begin;
		last->end = end > last->end ? end : last->end;
		return;
	}
	if (!tr_array_room(covers->list, covers->count, covers->cap)) {
		covers->failed = true;
		return;
	}
	covers->list[covers->count++] = (struct tr_cover){ begin, end };
}

/* Sorts covers by their beginning. */
static int by_begin(const void *a, const void *b)
{
	const struct tr_cover *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

void tr_covers_merge(struct tr_covers *covers)
{
	size_t kept = 0;

	if (covers->count < 2)
		return;
	qsort(covers->list, covers->count, sizeof *covers->list, by_begin);
	for (size_t i = 1; i < covers->count; i++) {
		struct tr_cover *last = &covers->list[kept], *next = &covers->list[i];
		if (next->begin > last->end)
			covers->list[++kept] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	covers->count = kept + 1;
}

size_t tr_covers_count_outside(const struct tr_covers *parts, const struct tr_covers *covers)
{
	size_t count = 0, i = 0;

	for (size_t k = 0; k < parts->count; k++) {
		while (i < covers->count && covers->list[i].end < parts->list[k].end)
			i++;
		count += i == covers->count || covers->list[i].begin > parts->list[k].begin;
	}
	return count;
}

void tr_covers_free(struct tr_covers *covers)
{
	free(covers->list);
	*covers = (struct tr_covers){ 0 };
}
