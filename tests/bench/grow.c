/* SPDX-License-Identifier: MIT */
/*
 * grow BYTES WORD [pids] <TRACE: repeats the events of a small Klocwork trace until BYTES are
 * written. Every round has ids, parents, directories and arguments of its own: ids keep increasing,
 * or with "pids" are random and wrap, and WORD, which occurs in most paths of the trace, gets the
 * number of the round as a suffix.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ID[] = "{\"id\":", PARENT[] = ",\"parent_id\":";

struct event {
	long id, parent;
	const char *rest; /* what follows the two */
};

static struct event *events;
static size_t n_events;
static long max_id;
static int pids;

/* false: the line is no event */
static int parse(const char *line, struct event *event)
{
	char *end;

	if (strncmp(line, ID, sizeof(ID) - 1))
		return 0;
	event->id = strtol(line + sizeof(ID) - 1, &end, 10);
	if (strncmp(end, PARENT, sizeof(PARENT) - 1))
		return 0;
	event->parent = strtol(end + sizeof(PARENT) - 1, &end, 10);
	event->rest = end;
	return 1;
}

/* a line that is not an event is written at once: it precedes the events in the trace */
static size_t load(void)
{
	size_t written = 0, room = 0, capacity = 0;
	struct event event;
	char *line = NULL;

	while (getline(&line, &capacity, stdin) > 0) {
		if (!parse(line, &event)) {
			written += (size_t)printf("%s", line);
			continue;
		}
		if (n_events == room) {
			room = room ? 2 * room : 256;
			events = reallocarray(events, room, sizeof(*events));
			if (!events)
				err(2, "memory");
		}
		if (event.id > max_id)
			max_id = event.id;
		events[n_events++] = event;
		line = NULL; /* the event keeps it */
		capacity = 0;
	}
	free(line);
	if (!n_events)
		errx(2, "no events on standard input");
	return written;
}

static long spell_id(long id, long round)
{
	if (id <= 0)
		return id; /* -1 is no parent */
	id += round * max_id;
	return pids ? id * 7919 % 4194301 : id; /* a prime below Linux's default limit */
}

static size_t write_event(const struct event *event, const char *word, long round)
{
	size_t written = (size_t)printf("%s%ld%s%ld", ID, spell_id(event->id, round), PARENT,
					spell_id(event->parent, round));
	char number[32];
	size_t number_size = (size_t)snprintf(number, sizeof(number), "-%ld", round);
	size_t word_size = strlen(word);
	const char *at = event->rest, *hit;

	while ((hit = strstr(at, word))) {
		hit += word_size;
		written += fwrite(at, 1, (size_t)(hit - at), stdout);
		written += fwrite(number, 1, number_size, stdout);
		at = hit;
	}
	return written + fwrite(at, 1, strlen(at), stdout);
}

int main(int argc, char **argv)
{
	pids = argc == 4 && !strcmp(argv[3], "pids");
	if (argc != 3 + pids)
		errx(2, "usage: grow BYTES WORD [pids] <TRACE");
	size_t goal = strtoull(argv[1], NULL, 10);
	size_t written = load();

	for (long round = 0; written < goal; round++)
		for (size_t i = 0; i < n_events; i++)
			written += write_event(&events[i], argv[2], round);
	if (fflush(stdout) || ferror(stdout))
		err(2, "standard output");
	return 0;
}
