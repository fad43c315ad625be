/* SPDX-License-Identifier: MIT */
/* Counts words in a hash table that grows, and prints the most frequent ones from a heap. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	unsigned hash;
	int count;
	char word[];
};

struct table {
	struct entry **slots;
	size_t size, used;
};

static void *need(void *memory)
{
	if (!memory) {
		perror("words");
		exit(2);
	}
	return memory;
}

static unsigned hash(const char *word, size_t len)
{
	unsigned h = 2166136261u;

	for (size_t i = 0; i < len; i++) {
		h ^= (unsigned char)word[i];
		h *= 16777619u;
	}
	return h;
}

static void grow(struct table *table)
{
	size_t size = table->size ? 2 * table->size : 8;
	struct entry **slots = need(calloc(size, sizeof *slots));

	for (size_t i = 0; i < table->size; i++) {
		struct entry *entry = table->slots[i];
		while (entry) {
			struct entry *next = entry->next;
			entry->next = slots[entry->hash % size];
			slots[entry->hash % size] = entry;
			entry = next;
		}
	}
	free(table->slots);
	table->slots = slots;
	table->size = size;
}

static struct entry *lookup(const struct table *table, const char *word, size_t len, unsigned h)
{
	if (!table->size)
		return NULL;
	struct entry *entry = table->slots[h % table->size];

	while (entry && (entry->hash != h || strncmp(entry->word, word, len) || entry->word[len]))
		entry = entry->next;
	return entry;
}

static void count(struct table *table, const char *word, size_t len)
{
	unsigned h = hash(word, len);
	struct entry *entry = lookup(table, word, len, h);

	if (entry) {
		entry->count++;
		return;
	}
	if (table->used >= table->size)
		grow(table);
	entry = need(calloc(1, sizeof *entry + len + 1));
	memcpy(entry->word, word, len);
	entry->hash = h;
	entry->count = 1;
	entry->next = table->slots[h % table->size];
	table->slots[h % table->size] = entry;
	table->used++;
}

static void read_text(struct table *table, const char *text)
{
	char word[32];
	size_t len = 0;

	for (const char *p = text;; p++) {
		if (isalpha((unsigned char)*p)) {
			if (len < sizeof word)
				word[len++] = (char)tolower((unsigned char)*p);
			continue;
		}
		if (len)
			count(table, word, len);
		len = 0;
		if (!*p)
			break;
	}
}

/* Whether a comes after b in the list. */
static int is_after(const struct entry *a, const struct entry *b)
{
	if (a->count != b->count)
		return a->count < b->count;
	return strcmp(a->word, b->word) > 0;
}

/* Moves an entry down the heap, on whose top is the one that comes last. */
static void sink(struct entry **heap, size_t n, size_t i)
{
	for (;;) {
		size_t last = i, left = 2 * i + 1, right = left + 1;
		if (left < n && is_after(heap[left], heap[last]))
			last = left;
		if (right < n && is_after(heap[right], heap[last]))
			last = right;
		if (last == i)
			return;
		struct entry *swap = heap[i];
		heap[i] = heap[last];
		heap[last] = swap;
		i = last;
	}
}

static size_t top(const struct table *table, struct entry **heap, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < table->size; i++) {
		for (struct entry *entry = table->slots[i]; entry; entry = entry->next) {
			if (n < most) {
				heap[n++] = entry;
				for (size_t k = n / 2; n == most && k-- > 0;)
					sink(heap, n, k);
			} else if (is_after(heap[0], entry)) {
				heap[0] = entry;
				sink(heap, n, 0);
			}
		}
	}
	for (size_t left = n; left > 1;) {
		struct entry *swap = heap[--left];
		heap[left] = heap[0];
		heap[0] = swap;
		sink(heap, left, 0);
	}
	return n;
}

static void drop(struct table *table)
{
	for (size_t i = 0; i < table->size; i++)
		while (table->slots[i]) {
			struct entry *entry = table->slots[i];
			table->slots[i] = entry->next;
			free(entry);
		}
	free(table->slots);
}

int main(void)
{
	static const char text[] =
		"The fox and the dog met the cat. A cat and a dog are no friends, "
		"and the fox is no friend of the dog; but the cat sat, and the fox ran on and on.";
	struct table table = { NULL, 0, 0 };
	struct entry *heap[5];

	read_text(&table, text);
	size_t n = top(&table, heap, sizeof heap / sizeof *heap);
	for (size_t i = 0; i < n; i++)
		printf("%d %s\n", heap[i]->count, heap[i]->word);
	int odd = lookup(&table, "horse", 5, hash("horse", 5)) != NULL;
	if (odd)
		puts("a horse?");
	drop(&table);
	return odd;
}
