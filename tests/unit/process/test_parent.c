/* SPDX-License-Identifier: MIT */
/*
 * The parents of processes: the cases of tests/data/process/parent.cases, by each user of parent.h.
 */
#include "process/parent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "process/call_filter.h"
#include "process/env_tracker.h"
#include "process/follow.h"
#include "process/forest.h"
#include "tap.h"

enum { MAX_LINES = 16 };
#define SIXTY "012345678901234567890123456789012345678901234567890123456789"

struct parent_case {
	char name[256];
	char lines[MAX_LINES][256];
	size_t count;
	bool only_field; /* no line has a fork or ppid, which environments and calls do not use */
	struct tr_forest forest;
	struct tr_arena arena;
	bool linked;
};

/* Whether records are trees of values, as readers of binary formats make them, instead of text. */
static bool as_values;

static void set_number(struct tr_cell *cell)
{
	uint64_t number;

	if (cell->type == TR_CELL_TEXT && tr_cell_number(cell, &number))
		*cell = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = number };
}

/* Splits the record, and makes values of its text if that is wanted. */
static bool make_values(struct tr_record *record)
{
	struct tr_error err;
	bool good = tr_record_split(record, &err) == TR_OK;

	for (size_t i = 0; i < record->count && good && as_values; i++) {
		struct tr_field *field = &record->fields[i];
		good = tr_field_value(record, field, &err);
		field->text = (struct tr_text){ NULL, 0 };
	}
	if (good && as_values) {
		set_number(&record->seq);
		set_number(&record->task);
		record->line = record->rest = (struct tr_text){ NULL, 0 };
		record->canonical = false;
	}
	return good;
}

/* Makes a record of line i, with a field added at its end, if it is an exec. */
static bool make_record(struct parent_case *c, size_t i, struct tr_record *record,
			const char *field)
{
	struct tr_error err;
	struct tr_buffer line = TR_BUFFER_INIT;
	size_t len = strlen(c->lines[i]);

	tr_buffer_put(&line, c->lines[i], len - 1);
	tr_buffer_put_text(&line, tr_text_from(field));
	tr_buffer_put_byte(&line, '\n');
	tr_record_init(record, &c->arena);
	bool good = tr_record_from_line(record, tr_arena_copy(&c->arena, tr_buffer_text(&line)),
					&err) &&
		    make_values(record);
	tr_buffer_free(&line);
	return good && tr_text_is(record->kind, "exec");
}

/* True if the environment contains the variable S<parent>, or for "-", none of another record. */
static bool has_mark(struct tr_environments *pool, struct tr_environment *env, uint64_t seq,
		     const char *parent)
{
	struct tr_buffer map = TR_BUFFER_INIT;
	char mark[32], own[32];

	snprintf(mark, sizeof mark, "\"S%s\"", parent);
	snprintf(own, sizeof own, "{\"S%" PRIu64 "\":1}", seq);
	bool good = !env || tr_environment_write(pool, env, &map);
	tr_buffer_put_byte(&map, '\0');
	good = strcmp(parent, "-") ? good && map.len > 1 && strstr(map.data, mark)
				   : good && (map.len == 1 || !strcmp(map.data, "{}") ||
					      !strcmp(map.data, own));
	if (!good)
		diag("environment of %" PRIu64 ": %s", seq, map.data);
	tr_buffer_free(&map);
	return good;
}

/* The environment of each record has a variable that its children inherit. */
static bool check_tracker(struct parent_case *c, uint64_t seq, const char *parent)
{
	struct tr_env_tracker_config config = { .wants_parent = true };
	struct tr_env_tracker *tracker = tr_env_tracker_new(&config);
	struct tr_exec_env *execs[MAX_LINES] = { NULL };
	struct tr_error err;
	bool good = tracker;

	for (size_t i = 0; i < c->count && good; i++) {
		struct tr_record record;
		uint64_t number = i;
		char field[64];
		sscanf(c->lines[i], "exec %" SCNu64, &number);
		snprintf(field, sizeof field, "\tenvdiff={\"S%" PRIu64 "\":1}", number);
		if (make_record(c, i, &record, field))
			good = tr_env_tracker_follow(tracker, &record, &execs[i], &err) != TR_FATAL;
	}
	good = good && tr_env_tracker_settle(tracker);
	for (size_t i = 0; i < c->count && good; i++)
		if (execs[i] && execs[i]->seq == seq)
			good = has_mark(tr_env_tracker_pool(tracker), execs[i]->own, seq, parent);
	for (size_t i = 0; i < c->count; i++)
		if (tracker)
			tr_env_tracker_release(tracker, execs[i]);
	tr_env_tracker_free(tracker);
	return good;
}

/* The same without pending records: what depends on a parent that comes later is unknown. */
static bool check_follow(struct parent_case *c, uint64_t seq, const char *parent)
{
	struct tr_follow follow = { .pool = NULL };
	bool good = true;

	for (size_t i = 0; i < c->count && good; i++) {
		struct tr_record record;
		struct tr_error err;
		uint64_t number = i;
		char field[64];
		sscanf(c->lines[i], "exec %" SCNu64, &number);
		snprintf(field, sizeof field, "\tenvdiff={\"S%" PRIu64 "\":1}", number);
		if (!make_record(c, i, &record, field))
			continue;
		good = tr_follow_record(&follow, &record, &err) == TR_OK;
		if (number == seq && follow.own)
			good = has_mark(follow.pool, follow.own, seq, parent);
	}
	tr_follow_free(&follow);
	return good;
}

static bool emit(void *context, struct tr_text output)
{
	*(bool *)context |= tr_text_is(output, "this");
	return true;
}

/* The record's call is hidden if its parent, and nothing else, is a driver. */
static bool check_filter(struct parent_case *c, uint64_t seq, const char *parent)
{
	struct tr_call_filter filter = TR_CALL_FILTER_INIT;
	bool alone = strcmp(parent, "-") == 0, good = true, kept = false;

	for (size_t i = 0; i < c->count && good; i++) {
		struct tr_record record;
		uint64_t number = i;
		sscanf(c->lines[i], "exec %" SCNu64, &number);
		bool driver = alone || number == seq || number == strtoull(parent, NULL, 10);
		struct tr_text none = { NULL, 0 };
		if (make_record(c, i, &record, ""))
			good = tr_call_filter_put(
				       &filter, &record, driver ? TR_STAGE_DRIVER : TR_STAGE_OTHER,
				       none, number == seq ? TR_TEXT("this") : TR_TEXT("other"),
				       emit, &kept) != TR_CALL_FAILED;
	}
	good = good && tr_call_filter_end(&filter, emit, &kept);
	return good && kept == alone;
}

static void put_line(struct parent_case *c, struct tr_text line)
{
	struct tr_record record;
	struct tr_error err;

	tr_arena_reset(&c->arena);
	tr_record_init(&record, &c->arena);
	if (ok(c->count < MAX_LINES && line.len < sizeof *c->lines, "the line has room")) {
		memcpy(c->lines[c->count], line.data, line.len);
		c->lines[c->count++][line.len] = '\0';
	}
	c->only_field &=
		!tr_text_starts(line, TR_TEXT("fork")) && !strstr(c->lines[c->count - 1], "ppid=");
	ok(tr_record_from_line(&record, line, &err) && make_values(&record) &&
		   tr_forest_put(&c->forest, &record, &err),
	   "%s: a line is read", c->name);
}

static const struct tr_forest_node *find_node(const struct parent_case *c, uint64_t seq)
{
	for (size_t i = 0; i < c->forest.count; i++)
		if (c->forest.nodes[i].seq == seq)
			return &c->forest.nodes[i];
	return NULL;
}

/* Compares a node with the one that a case expects; "-": none. */
static void check(struct parent_case *c, const char *line)
{
	uint64_t seq;
	char other[32], all[8] = "";

	if (!c->linked)
		ok(tr_forest_link(&c->forest), "%s: is linked", c->name);
	c->linked = true;
	if (!ok(sscanf(line + 2, "%" SCNu64 " %31s %7s", &seq, other, all) >= 2, "%s: %s", c->name,
		line))
		return;
	if (line[0] == '>' && c->only_field && strcmp(all, "views")) {
		ok(check_tracker(c, seq, other), "%s: %s, by env_tracker.h", c->name, line);
		ok(check_follow(c, seq, other), "%s: %s, by follow.h", c->name, line);
		ok(check_filter(c, seq, other), "%s: %s, by call_filter.h", c->name, line);
	}
	const struct tr_forest_node *node = find_node(c, seq);
	if (!ok(node != NULL, "%s: %" PRIu64 " is there", c->name, seq))
		return;
	uint32_t got = line[0] == '>' ? node->parent : node->replaces;
	uint64_t got_seq = got == TR_FOREST_NONE ? UINT64_MAX : c->forest.nodes[got].seq;
	uint64_t want = strcmp(other, "-") ? strtoull(other, NULL, 10) : UINT64_MAX;
	if (!ok(got_seq == want, "%s: %s", c->name, line))
		diag("got %" PRId64, (int64_t)got_seq);
}

static void take_line(struct parent_case *c, char *line)
{
	size_t len = strlen(line);

	if (line[0] == '@') {
		line[strcspn(line, "\n")] = 0;
		tr_forest_free(&c->forest);
		tr_forest_init(&c->forest, 1 << 20, NULL, NULL);
		c->linked = false;
		c->only_field = true;
		c->count = 0;
		snprintf(c->name, sizeof c->name, "%s", line + 2);
	} else if (line[0] == '<') {
		put_line(c, (struct tr_text){ line + 2, len - 2 });
	} else if (line[0] == '>' || line[0] == '=') {
		line[strcspn(line, "\n")] = 0;
		check(c, line);
	}
}

static void check_read(void)
{
	static const struct {
		const char *line;
		enum tr_parent_kind kind;
		const char *text;
		uint64_t seq;
	} cases[] = {
		{ "exec\t1\t-\t1\t-\n", TR_PARENT_NONE, NULL, TR_NO_POSITION },
		{ "exec\t1\t-\t1\t-\tparent=7\n", TR_PARENT_RECORD, "7", 7 },
		{ "exec\t1\t-\t1\t-\tparent=7\tppid=8\n", TR_PARENT_RECORD, "7", 7 },
		{ "exec\t1\t-\t1\t-\tparent=\"7\"\n", TR_PARENT_RECORD, "\"7\"", TR_NO_POSITION },
		{ "exec\t1\t-\t1\t-\tppid=8\n", TR_PARENT_TASK, "8", TR_NO_POSITION },
		{ "exec\t1\t-\t1\t-\tppid=\"" SIXTY SIXTY "\"\n", TR_PARENT_TASK,
		  "\"" SIXTY SIXTY "\"", TR_NO_POSITION },
	};
	struct tr_arena arena = TR_ARENA_INIT;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tr_record record;
		struct tr_parent parent;
		struct tr_error err;
		tr_record_init(&record, &arena);
		bool good = tr_record_from_line(&record, tr_text_from(cases[i].line), &err) &&
			    make_values(&record) && tr_parent_read(&record, &parent);
		ok(good && parent.kind == cases[i].kind && parent.seq == cases[i].seq &&
			   (cases[i].text ? tr_text_is(parent.text, cases[i].text)
					  : !parent.text.data),
		   "the parent of record %zu", i);
	}
	tr_arena_free(&arena);
}

/* The text of task cells, which is the same however the record was made. */
static void check_cell(void)
{
	static const struct {
		const char *line, *text; /* NULL: absent */
	} cases[] = {
		{ "exec\t1\t-\t-\t-\n", NULL },
		{ "exec\t1\t-\t7\t-\n", "7" },
		{ "exec\t1\t-\t18446744073709551615\t-\n", "18446744073709551615" },
		{ "exec\t1\t-\ta\\tb\t-\n", "a\tb" },
		{ "exec\t1\t-\ta\\q\t-\n", NULL }, /* it cannot be decoded */
	};
	struct tr_arena arena = TR_ARENA_INIT;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tr_record record;
		struct tr_text text = TR_TEXT("before");
		struct tr_error err;
		tr_record_init(&record, &arena);
		bool good = tr_record_from_line(&record, tr_text_from(cases[i].line), &err) &&
			    make_values(&record) && tr_parent_cell(&record, &record.task, &text);
		ok(good && (cases[i].text ? tr_text_is(text, cases[i].text)
					  : !text.data && !text.len),
		   "the task of record %zu", i);
	}
	tr_arena_free(&arena);
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct parent_case c = { .name = "" };
	char path[4096], line[256];

	tr_forest_init(&c.forest, 1 << 20, NULL, NULL);
	snprintf(path, sizeof path, "%s/tests/data/process/parent.cases", top ? top : ".");
	FILE *file = fopen(path, "rb");
	for (int pass = 0; ok(file != NULL, "the cases are there") && pass < 2; pass++) {
		as_values = pass == 1;
		rewind(file);
		while (fgets(line, sizeof line, file))
			take_line(&c, line);
		check_read();
		check_cell();
	}
	if (file)
		fclose(file);
	tr_forest_free(&c.forest);
	tr_arena_free(&c.arena);
	return done_testing();
}
