/* SPDX-License-Identifier: MIT */
/* A simulation of a shop with two counters: lists and checks by macros, and a report at a signal. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
	struct link *next, *previous;
};

#define CONTAINER(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
#define LIST_INIT(list) ((list)->next = (list)->previous = (list))
#define LIST_EMPTY(list) ((list)->next == (list))
#define LIST_EACH(at, list) \
	for (struct link *at = (list)->next, *at##_next = at->next; at != (list); \
	     at = at##_next, at##_next = at->next)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #x); \
			abort(); \
		} \
	} while (0)

struct customer {
	struct link queue;
	int number, arrived, items;
};

struct counter {
	struct link queue;
	int length, busy_until, served;
};

static unsigned state = 12345;
static volatile sig_atomic_t wanted;

static unsigned next_random(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 16 & 0x7fff;
}

static void append(struct link *list, struct link *item)
{
	item->previous = list->previous;
	item->next = list;
	list->previous->next = item;
	list->previous = item;
}

static void take(struct link *item)
{
	item->previous->next = item->next;
	item->next->previous = item->previous;
	LIST_INIT(item);
}

static struct counter *shortest(struct counter *counters, int count)
{
	struct counter *best = counters;

	for (int i = 1; i < count; i++)
		if (counters[i].length < best->length)
			best = &counters[i];
	return best;
}

static void arrive(struct counter *counters, int count, int now)
{
	static int number;
	struct customer *customer = malloc(sizeof *customer);
	struct counter *counter = shortest(counters, count);

	CHECK(customer);
	customer->number = ++number;
	customer->arrived = now;
	customer->items = 1 + (int)(next_random() % 6);
	append(&counter->queue, &customer->queue);
	counter->length++;
}

/* Those who wait too long leave without buying. */
static int impatient(struct counter *counter, int now)
{
	int left = 0;

	LIST_EACH(at, &counter->queue)
	{
		struct customer *customer = CONTAINER(at, struct customer, queue);
		if (now - customer->arrived < 25)
			continue;
		take(at);
		free(customer);
		counter->length--;
		left++;
	}
	return left;
}

static void serve(struct counter *counter, int now, int *longest)
{
	if (LIST_EMPTY(&counter->queue) || now < counter->busy_until)
		return;
	struct customer *customer = CONTAINER(counter->queue.next, struct customer, queue);

	take(&customer->queue);
	*longest = MAX(*longest, now - customer->arrived);
	counter->busy_until = now + MIN(2 * customer->items, 10);
	counter->length--;
	counter->served++;
	free(customer);
}

static void report(const struct counter *counters, int count, int now)
{
	printf("at %d:", now);
	for (int i = 0; i < count; i++)
		printf(" %d waiting, %d served;", counters[i].length, counters[i].served);
	putchar('\n');
}

static void on_signal(int number)
{
	wanted = number;
}

int main(int argc, char **argv)
{
	struct counter counters[2];
	int longest = 0, lost = 0;
	int end = argc > 1 ? atoi(argv[1]) : 200;

	memset(counters, 0, sizeof counters);
	for (int i = 0; i < 2; i++)
		LIST_INIT(&counters[i].queue);
	if (signal(SIGUSR1, on_signal) == SIG_ERR) {
		perror("signal");
		return 1;
	}
	for (int now = 0; now < end; now++) {
		if (next_random() % 100 < 32)
			arrive(counters, 2, now);
		for (int i = 0; i < 2; i++) {
			serve(&counters[i], now, &longest);
			lost += impatient(&counters[i], now);
		}
		if (now == end / 2)
			raise(SIGUSR1);
		if (wanted) {
			report(counters, 2, now);
			wanted = 0;
		}
	}
	report(counters, 2, end);
	printf("longest wait %d, lost %d\n", longest, lost);
	CHECK(longest < 30);
	for (int i = 0; i < 2; i++)
		LIST_EACH(at, &counters[i].queue)
	free(CONTAINER(at, struct customer, queue));
	return 0;
}
