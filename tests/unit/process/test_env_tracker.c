/* SPDX-License-Identifier: MIT */
/* Environments that went to a file and came back are what they were. */
#include "process/env_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { RECORDS = 6000, NAMES = 40, LARGE = 1 << 30 };

static struct tr_arena arena = TR_ARENA_INIT;
static uint64_t seed = 1;

static unsigned draw(unsigned below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % below;
}

static void put_map(struct tr_buffer *line, const char *key, unsigned count, bool removes)
{
	char text[64];
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(key));
	tr_buffer_put_literal(line, "={");
	for (unsigned i = 0; i < count; i++) {
		bool gone = removes && draw(4) == 0;
		int len = snprintf(text, sizeof text, "%s\"N%u\":", i ? "," : "", draw(NAMES));
		tr_buffer_put(line, text, (size_t)len);
		len = gone ? snprintf(text, sizeof text, "null")
			   : snprintf(text, sizeof text, "\"value %u\"", draw(1000000));
		tr_buffer_put(line, text, (size_t)len);
	}
	tr_buffer_put_byte(line, '}');
}

/* An exec record whose parent is before it, after it if some are late, or missing. */
static void put_line(struct tr_buffer *line, unsigned seq, bool late)
{
	char head[80];
	unsigned parent = late && draw(20) == 0 ? seq + 1 + draw(5) : seq ? draw(seq) : 0;
	int len = snprintf(head, sizeof head, "exec\t%u\t-\t1\t/a\tparent=%u", seq, parent);
	tr_buffer_reset(line);
	tr_buffer_put(line, head, (size_t)len);
	switch (draw(6)) {
	case 0:
		put_map(line, "env", 10 + draw(30), false);
		break;
	case 1:
		put_map(line, "envdiff", 10 + draw(30), true);
		break;
	case 2:
		put_map(line, "envtop", draw(20), true);
		break;
	case 3:
		break;
	default:
		put_map(line, "envdiff", draw(4), true);
	}
	tr_buffer_put_byte(line, '\n');
}

static struct tr_exec_env *follow(struct tr_env_tracker *tracker, struct tr_text line)
{
	struct tr_record record;
	struct tr_exec_env *exec = NULL;
	struct tr_error err;
	tr_arena_reset(&arena);
	tr_record_init(&record, &arena);
	if (!tr_record_from_line(&record, line, &err) ||
	    tr_env_tracker_follow(tracker, &record, &exec, &err) == TR_FATAL)
		return NULL;
	return exec;
}

/* What is known of it, and how it differs from its parent's. */
static bool convert(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
		    struct tr_buffer *to)
{
	struct tr_environments *pool = tr_env_tracker_pool(tracker);
	tr_buffer_reset(to);
	if (!tr_environment_write(pool, exec->own, to))
		return false;
	return !exec->parent || tr_environment_diff(pool, exec->parent, exec->own, to) != TR_FATAL;
}

static bool tell_the_same(struct tr_env_tracker *const *trackers, struct tr_exec_env *const *execs)
{
	struct tr_buffer text[2] = { TR_BUFFER_INIT, TR_BUFFER_INIT };
	bool same = convert(trackers[0], execs[0], &text[0]) &&
		    convert(trackers[1], execs[1], &text[1]) &&
		    tr_text_equal(tr_buffer_text(&text[0]), tr_buffer_text(&text[1]));
	if (!same)
		diag("%.*s\n%.*s", (int)text[0].len, text[0].data, (int)text[1].len, text[1].data);
	tr_buffer_free(&text[0]);
	tr_buffer_free(&text[1]);
	return same;
}

/* One keeps all in memory, the other nothing that it could do without. */
static bool try_segment(struct tr_env_tracker *const *trackers, bool late, size_t *heaviest)
{
	static struct tr_exec_env *waiting[RECORDS][2];
	struct tr_buffer line = TR_BUFFER_INIT;
	size_t waiters = 0;
	bool same = true;
	/* without it nothing is known as a whole, and what is not stays in memory */
	tr_buffer_put_literal(&line, "env\t-\t-\t-\t-");
	put_map(&line, "vars", NAMES, false);
	tr_buffer_put_byte(&line, '\n');
	for (int i = 0; i < 2; i++)
		tr_env_tracker_release(trackers[i], follow(trackers[i], tr_buffer_text(&line)));
	for (unsigned seq = 0; seq < RECORDS && same; seq++) {
		struct tr_exec_env *execs[2];
		put_line(&line, seq, late);
		for (int i = 0; i < 2; i++)
			execs[i] = follow(trackers[i], tr_buffer_text(&line));
		same = execs[0] && execs[1] && execs[0]->pending == execs[1]->pending;
		if (!same)
			break;
		if (execs[0]->pending) {
			memcpy(waiting[waiters++], execs, sizeof execs);
			continue;
		}
		same = tell_the_same(trackers, execs);
		for (int i = 0; i < 2; i++)
			tr_env_tracker_release(trackers[i], execs[i]);
		size_t weight = tr_environments_weight(tr_env_tracker_pool(trackers[1]));
		*heaviest = weight > *heaviest ? weight : *heaviest;
	}
	same = same && tr_env_tracker_settle(trackers[0]) && tr_env_tracker_settle(trackers[1]);
	for (size_t k = 0; k < waiters; k++) {
		same = same && tell_the_same(trackers, waiting[k]);
		for (int i = 0; i < 2; i++)
			tr_env_tracker_release(trackers[i], waiting[k][i]);
	}
	tr_buffer_free(&line);
	return same;
}

int main(void)
{
	struct tr_env_tracker_config config = { .wants_parent = true };
	struct tr_env_tracker *trackers[2] = { tr_env_tracker_new(&config) };
	size_t heaviest = 0;
	config.max_spool = LARGE;
	config.max_weight = 1;
	trackers[1] = tr_env_tracker_new(&config);
	ok(try_segment(trackers, false, &heaviest), "environments in a file are what they were");
	size_t weight = tr_environments_weight(tr_env_tracker_pool(trackers[0]));
	ok(heaviest < weight / 4, "%zu bytes in memory, and not %zu", heaviest, weight);
	ok(tr_env_tracker_begin(trackers[0]) && tr_env_tracker_begin(trackers[1]),
	   "the next segment");
	ok(try_segment(trackers, true, &heaviest), "the same where parents are late");
	ok(tr_env_tracker_begin(trackers[0]) && tr_env_tracker_begin(trackers[1]), "the next");
	ok(tr_environments_weight(tr_env_tracker_pool(trackers[1])) < 1000, "nothing is left");
	/* no room in the file: memory has to do */
	tr_env_tracker_free(trackers[1]);
	config.max_spool = 20000;
	trackers[1] = tr_env_tracker_new(&config);
	ok(try_segment(trackers, true, &heaviest), "a file that is full");
	tr_env_tracker_free(trackers[0]);
	tr_env_tracker_free(trackers[1]);
	tr_arena_free(&arena);
	return done_testing();
}
