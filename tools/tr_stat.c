/* SPDX-License-Identifier: MIT */
/* tr-stat: the contents of a trace in figures. */

#include <stdio.h>

#include "record/join.h"
#include "cli.h"
#include "core/buffer.h"
#include "expr/expr.h"
#include "coverage/coverage.h"
#include "deps/file_call.h"
#include "view/computed.h"
#include "view/critical_text.h"
#include "view/stat.h"

enum { BY = 1, TOP, JSON, CRITICAL };

static const struct tr_option options[] = {
	{ BY, 0, "by", "FIELD",
	  "print one table instead: how often each value of FIELD occurs, and how long processes "
	  "with it took; FIELD: fields as in tr-filter --fields, separated by commas; or frame: "
	  "the frames of API calls" },
	{ CRITICAL, 0, "critical", NULL,
	  "print the critical path instead: the commands that determined when the build ended" },
	{ TOP, 0, "top", "N", "print at most N rows of each table (default: 10; 0: all)" },
	{ JSON, 0, "json", NULL, "print one JSON object" },
	{ 0 },
};

static const char *const examples[] = {
	"the contents of a trace",
	"tr-stat build.json",
	"which programs a build ran, and how often",
	"tr-filter exec build.json | tr-stat --by='basename(name)' --top=0",
	"why a build took so long: which command waited for which",
	"tr-stat --critical build.nfsdb",
	"the frames of a graphics trace that have most calls, for a script",
	"tr-stat --by=frame --json gears.trace | jq '.frame[0]'",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-stat",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Prints figures about trace files or a stream of records.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = tr_cli_computed_settings,
	.examples = examples,
};

struct tool_stat {
	struct tr_cli cli;
	struct tr_stat_config config;
	struct tr_field_list *fields; /* --by */
	struct tr_computed *computed; /* NULL: --by has no computed field */
	struct tr_coverage coverage;  /* with the programs of -O exe and path */
	bool has_programs;
	struct tr_join *join; /* a field may be at the return of a call */
	struct tr_stat *stat;
	struct tr_file_call_taker taker;
	bool critical;
	struct tr_buffer key, part;
	struct tr_arena arena; /* of the fields' names */
};

/* A field with the name of a figure's column gets backquotes. */
static const char *name_of(struct tool_stat *t, struct tr_text text)
{
	static const char *const ours[] = { "count", "share", "seconds", "mean", "longest" };
	bool same = false;

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		same |= tr_text_is(text, ours[i]);
	char *name = tr_arena_alloc(&t->arena, text.len + 3);
	if (!name) {
		tr_cli_out_of_memory(&t->cli);
		return "";
	}
	snprintf(name, text.len + 3, same ? "`%.*s`" : "%.*s", (int)text.len, text.data);
	return name;
}

/* Names the columns of the table after the fields of --by. */
static void name_fields(struct tool_stat *t)
{
	size_t count = tr_field_list_count(t->fields);

	for (size_t i = 0; i < count; i++)
		t->config.by[i] = name_of(t, tr_field_list_text(t->fields, i));
	t->config.by[count] = NULL;
}

/* Handles --by; the last one counts. "frame" is no field: frames are counted from the calls. */
static void choose_by(struct tool_stat *t)
{
	struct tr_expr_error error;

	tr_field_list_free(t->fields);
	t->fields = NULL;
	if (tr_text_is(tr_text_from(t->cli.argument), "frame")) {
		t->config.table = TR_STAT_BY_FRAME;
		return;
	}
	t->config.table = TR_STAT_BY_KEY;
	t->fields = tr_field_list_compile(tr_text_from(t->cli.argument), &error);
	if (!t->fields)
		tr_cli_usage_at(&t->cli, tr_text_from(t->cli.argument), error.column,
				"--by, byte %zu: %s", error.column, error.text);
	else if (tr_field_list_count(t->fields) > TR_STAT_FIELDS)
		tr_cli_usage(&t->cli, "--by: more than %d fields", TR_STAT_FIELDS);
	else
		name_fields(t);
}

/* Handles the tool's own options. */
static void read_options(struct tool_stat *t)
{
	uint64_t number;

	for (int id; (id = tr_cli_option(&t->cli)) != 0;) {
		if (id == BY)
			choose_by(t);
		else if (id == JSON)
			t->config.json = true;
		else if (id == CRITICAL)
			t->critical = true;
		else if (tr_cli_number(&t->cli, false, SIZE_MAX, &number))
			t->config.top = (size_t)number;
	}
	if (!t->cli.stop && t->critical && t->config.table != TR_STAT_BY_ALL)
		tr_cli_usage(&t->cli, "--critical cannot be combined with --by");
}

/* The value of --by: of several fields their cells, separated by TABs. NO_KEY: it has none. */
static struct tr_text key_of(struct tool_stat *t, struct tr_record *record)
{
	size_t count = tr_field_list_count(t->fields);
	bool any = false;

	tr_buffer_reset(&t->key);
	for (size_t i = 0; i < count; i++) {
		struct tr_error err;
		struct tr_buffer *part = count > 1 ? &t->part : &t->key;
		tr_buffer_reset(part);
		bool here = tr_field_list_write(t->fields, i, record, NULL, true, part, &err);
		if (here)
			any = true;
		else if (err.cause == TR_CAUSE_MEMORY)
			t->key.failed = true;
		else if (err.cause != TR_CAUSE_NONE)
			tr_cli_report_record(&t->cli, record, &err, false);
		/*
		 * a single field is shown as its bytes; several are joined as cells, which contain
		 * no TAB
		 */
		if (count == 1)
			break;
		if (i)
			tr_buffer_put_byte(&t->key, '\t');
		if (here)
			tr_cell_escape(tr_buffer_text(part), false, &t->key);
		else
			tr_buffer_put_byte(&t->key, '-');
		t->key.failed |= part->failed;
	}
	if (t->key.failed)
		tr_cli_out_of_memory(&t->cli);
	return any ? tr_buffer_text(&t->key) : TR_STAT_NO_KEY;
}

/*
 * Collects coverage by source line for the report of all figures: from records that state it, and
 * from blocks if their program is known.
 */
static void collect_lines(struct tool_stat *t, struct tr_record *record)
{
	struct tr_error err;
	enum tr_status status = TR_OK;

	if (record->type == TR_HEADER)
		tr_coverage_begin(&t->coverage);
	if (record->type != TR_RECORD)
		return;
	if (t->has_programs)
		status = tr_coverage_put(&t->coverage, record, &err);
	else if (tr_text_starts(record->kind, TR_TEXT("s")))
		status = tr_sources_put(&t->coverage.sources, record, &err);
	if (status == TR_WARN)
		tr_cli_report_record(&t->cli, record, &err, false);
	else if (status == TR_FATAL)
		tr_cli_out_of_memory(&t->cli);
}

/* Counts a call that the reader hands over without a record. */
static bool take_call(struct tr_file_call_taker *taker, const struct tr_record *columns,
		      int64_t time, const struct tr_file_call *call)
{
	return tr_stat_take(tr_container(taker, struct tool_stat, taker)->stat, columns, time,
			    call);
}

/* Counts one record, with its value of --by. */
static void count(struct tool_stat *t, struct tr_record *record)
{
	struct tr_text key = TR_STAT_NO_KEY;

	if (t->computed && !tr_computed_follow(t->computed, record))
		tr_cli_out_of_memory(&t->cli);
	if (t->config.table == TR_STAT_BY_ALL)
		collect_lines(t, record);
	if (t->fields && record->type == TR_RECORD)
		key = key_of(t, record);
	if (!t->cli.stop && !tr_stat_put(t->stat, record, key))
		tr_cli_out_of_memory(&t->cli);
}

/* Prepares the computed fields if --by has one. False: memory is exhausted. */
static bool begin_computed(struct tool_stat *t)
{
	bool used = false;
	bool has_programs = t->has_programs = tr_cli_programs(&t->cli, &t->coverage.programs);

	if (t->cli.stop)
		return true; /* reported */
	for (size_t i = 0; t->fields && i < TR_COMPUTED_NAMES; i++)
		used |= tr_field_list_uses(t->fields, tr_computed_names[i]);
	for (size_t i = 0; t->fields && has_programs && i < TR_COMPUTED_SYMBOLS; i++)
		used |= tr_field_list_uses(t->fields, tr_computed_symbols[i]);
	if (!used)
		return true;
	t->computed = tr_computed_new(tr_format_call_kinds, t->config.compilers);
	if (t->computed && t->join)
		tr_computed_set_joined(t->computed);
	if (t->computed && has_programs)
		tr_computed_set_programs(t->computed, &t->coverage.programs);
	if (t->computed)
		tr_field_list_set_computed(t->fields, tr_computed_fields(t->computed));
	return t->computed != NULL;
}

/* Adds the size and the format of a file that was read. */
static void add_file(struct tool_stat *t, const struct tr_trace_place *place)
{
	struct tr_stat_file file = {
		.name = tr_text_from(place->name),
		.format = tr_text_from(place->format ? place->format->name : "unknown"),
		.container = { NULL, 0 },
		.size = place->size,
		.unpacked = place->in->offset,
	};

	if (place->codec)
		file.container = tr_text_from(place->codec->name);
	if (!tr_stat_file(t->stat, &file))
		tr_cli_out_of_memory(&t->cli);
}

/* Notes fields of --by that no record had. */
static void note_unseen(struct tool_stat *t)
{
	struct tr_unseen unseen;
	struct tr_error note;

	for (size_t at = 0;
	     !t->cli.stop && t->fields && tr_field_list_next_unseen(t->fields, &at, &unseen);) {
		tr_unseen_note(&unseen, "record", tr_computed_records(unseen.name), &note);
		tr_cli_note(&t->cli, "--by: %s", note.text);
	}
}

/* Counts all inputs, and writes the tables. */
static void count_all(struct tool_stat *t)
{
	struct tr_trace_place *place;
	struct tr_record *record;

	while (tr_cli_step(&t->cli, &place)) {
		while (tr_cli_next_joined(&t->cli, t->join, &record))
			count(t, record);
		if (!t->cli.stop)
			add_file(t, place);
	}
	bool all = t->config.table == TR_STAT_BY_ALL;
	if (!t->cli.stop &&
	    ((all && !tr_coverage_finish(&t->coverage)) || !tr_stat_write(t->stat, t->cli.out)))
		tr_cli_out_of_memory(&t->cli);
	if (all && !t->cli.stop && tr_stat_has_two_clocks(t->stat))
		tr_cli_note(&t->cli, "some times count from 1970 and others from the start of a "
				     "machine: no span is given");
	note_unseen(t);
}

/*
 * Reads all inputs, and then writes the critical path: the last command decides which came before
 * it.
 */
static void put_critical(struct tool_stat *t, struct tr_critical_text *text)
{
	struct tr_record *record;
	struct tr_error err;
	bool more;

	do {
		more = tr_cli_next(&t->cli, &record);
		if (t->cli.stop)
			return;
		if (tr_critical_text_put(text, more ? record : NULL, &err) != TR_OK) {
			tr_cli_abort(&t->cli, &err);
			return;
		}
	} while (more);
	/* an input that could not be read was reported already */
	if (!tr_critical_text_found(text) && !tr_cli_read_nothing(&t->cli)) {
		tr_cli_fail(&t->cli, "the trace does not show when processes end: record it with "
				     "tr-record, or with strace -f -ttt");
		return;
	}
	if (!tr_critical_text_has_files(text))
		tr_cli_note(&t->cli,
			    "the trace has no file calls: the path follows processes only");
	if (!tr_critical_text_write(text, t->cli.out))
		tr_cli_out_of_memory(&t->cli);
}

/* Makes the view of --critical. */
static void show_critical(struct tool_stat *t)
{
	const struct tr_critical_text_config config = {
		.top = t->config.top,
		.json = t->config.json,
		.max_spool = t->cli.config.read.limits.max_spool,
		.compilers = t->config.compilers,
	};
	struct tr_critical_text *text = tr_critical_text_new(&config);

	if (text)
		put_critical(t, text);
	else
		tr_cli_out_of_memory(&t->cli);
	tr_critical_text_free(text);
}

int main(int argc, char **argv)
{
	struct tool_stat t = { .config = { .top = 10,
					   .call_kinds = tr_format_call_kinds,
					   .call_api = tr_format_call_api } };

	tr_cli_begin(&t.cli, &tool, argc, argv);
	read_options(&t);
	t.config.compilers = tr_cli_compilers(&t.cli);
	t.taker.take = take_call;
	if (t.config.table == TR_STAT_BY_ALL && !t.critical)
		t.cli.config.read.files = &t.taker;
	bool open = tr_cli_open(&t.cli) && tr_cli_output(&t.cli, false);
	if (open && t.critical) {
		show_critical(&t);
	} else if (open) {
		/* a field may be in the leave, so calls are joined before they are counted */
		bool joins = t.fields && tr_field_list_needs_leave(t.fields);
		t.config.sources = &t.coverage.sources;
		t.coverage.sources.one_test = true;
		t.stat = tr_stat_new(&t.config);
		t.join = joins ? tr_join_new() : NULL;
		if (t.stat && (!joins || t.join) && begin_computed(&t))
			count_all(&t);
		else
			tr_cli_out_of_memory(&t.cli);
	}
	tr_stat_free(t.stat);
	tr_join_free(t.join);
	tr_computed_free(t.computed);
	tr_sources_free(&t.coverage.sources);
	tr_coverage_free_counts(&t.coverage.programs);
	tr_cli_programs_end(&t.cli, &t.coverage.programs);
	tr_field_list_free(t.fields);
	tr_buffer_free(&t.key);
	tr_buffer_free(&t.part);
	tr_arena_free(&t.arena);
	return tr_cli_end(&t.cli);
}
