/* SPDX-License-Identifier: MIT */
/* The parents of processes: the cases of tests/data/process/parent.cases, by forest.h. */
#include "process/parent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "process/forest.h"
#include "tap.h"

struct parent_case {
	char name[256];
	struct tr_forest forest;
	struct tr_arena arena;
	bool linked;
};

static void put_line(struct parent_case *c, struct tr_text line)
{
	struct tr_record record;
	struct tr_error err;

	tr_arena_reset(&c->arena);
	tr_record_init(&record, &c->arena);
	ok(tr_record_from_line(&record, line, &err) && tr_forest_put(&c->forest, &record, &err),
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
	char other[32];

	if (!c->linked)
		ok(tr_forest_link(&c->forest), "%s: is linked", c->name);
	c->linked = true;
	if (!ok(sscanf(line + 2, "%" SCNu64 " %31s", &seq, other) == 2, "%s: %s", c->name, line))
		return;
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
	};
	struct tr_arena arena = TR_ARENA_INIT;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tr_record record;
		struct tr_parent parent;
		struct tr_error err;
		tr_record_init(&record, &arena);
		bool good = tr_record_from_line(&record, tr_text_from(cases[i].line), &err) &&
			    tr_record_split(&record, &err) == TR_OK &&
			    tr_parent_read(&record, &parent);
		ok(good && parent.kind == cases[i].kind && parent.seq == cases[i].seq &&
			   (cases[i].text ? tr_text_is(parent.text, cases[i].text)
					  : !parent.text.data),
		   "the parent of record %zu", i);
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
	if (ok(file != NULL, "the cases are there")) {
		while (fgets(line, sizeof line, file))
			take_line(&c, line);
		fclose(file);
	}
	tr_forest_free(&c.forest);
	tr_arena_free(&c.arena);
	check_read();
	return done_testing();
}
