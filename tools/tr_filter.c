/* SPDX-License-Identifier: MIT */
/* tr-filter: options, and the path of a line through the tool. */

#include "tr_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coverage/merge.h"
#include "record/literal.h"
#include "record/vocabulary.h"

enum {
	OPTION_EXPR = 1,
	OPTION_EXPR_FILE,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_INVERT,
	OPTION_COUNT,
	OPTION_MAX,
	OPTION_FIELDS,
	OPTION_RAW,
	OPTION_SIDE,
	OPTION_NUL,
	OPTION_CALLS,
	OPTION_FRAMES,
	OPTION_TREE,
	OPTION_REBASE,
	OPTION_MERGE,
	OPTION_MINUS,
	OPTION_COMMON,
	OPTION_DEFINITIONS,
	OPTION_CONTEXT,
};

static const struct tr_option options[] = {
	{ OPTION_EXPR, 'e', "expr", "EXPR", "select records that match EXPR (repeatable)" },
	{ OPTION_EXPR_FILE, 0, "expr-file", "FILE", "the same, with the expression in FILE" },
	{ OPTION_SINCE, 0, "since", "TIME",
	  "select records at or after TIME: 12.5 (seconds), 12:00, 2026-11-20T12:00, +5s (after "
	  "the first)" },
	{ OPTION_UNTIL, 0, "until", "TIME", "select records at or before TIME" },
	{ OPTION_CALLS, 0, "calls", "SET",
	  "select calls by number and class: 0-99,200-/2,*/frame,draw,@FILE (repeatable)" },
	{ OPTION_FRAMES, 0, "frames", "SET", "select the calls of these frames; SET as above" },
	{ OPTION_TREE, 0, "tree", "TASK", "select a task and all its descendants" },
	{ OPTION_INVERT, 'v', "invert", NULL, "select records that do not match" },
	{ OPTION_COUNT, 'c', "count", NULL, "print only the number of selected records" },
	{ OPTION_MAX, 'm', "max", "N", "stop after N selected records" },
	{ OPTION_FIELDS, 0, "fields", "LIST",
	  "print these fields of each selected record, separated by TAB, instead of the record" },
	{ OPTION_RAW, 0, "raw", NULL,
	  "with --fields: strings without quotes and escapes, nothing for an absent field" },
	{ OPTION_SIDE, 0, "side", "human|machine",
	  "with --fields: only this side of <human;machine>" },
	{ OPTION_NUL, '0', "null", NULL, "with --fields: end each row with NUL, not LF" },
	{ OPTION_REBASE, 0, "rebase", NULL,
	  "make environments independent of other records: differences against the first one" },
	{ OPTION_MERGE, 0, "merge", NULL,
	  "merge all input into one trace, with each block, unit "
	  "or line once" },
	{ OPTION_MINUS, 0, "minus", "FILE", "select code executed in the input, not in FILE" },
	{ OPTION_COMMON, 0, "common", "FILE", "select code executed in the input and in FILE" },
	{ OPTION_DEFINITIONS, 0, "definitions", "used|all|none",
	  "which definitions to copy (default used: those that selected records use)" },
	{ OPTION_CONTEXT, 0, "context", "all|none",
	  "copy env, meta and other records that describe the trace (default all)" },
	{ 0 },
};

static const char *const examples[] = {
	"every run of gcc that compiles",
	"tr-filter 'exec and basename(name) == \"gcc\" and argv == \"-c\"' build.json",
	"the number of programs that failed to start, in a log of strace",
	"tr-filter -c -O failed=yes 'exec and has(error)' build.strace",
	"the commands that make started",
	"tr-filter --fields=name,argv --tree=1 build.json",
	NULL,
};

static const char *(*const libraries[])(void) = { tr_expr_regex_version, NULL };

static const struct tr_tool tool = {
	.name = "tr-filter",
	.usage = "[OPTION...] EXPR [FILE...]",
	.summary =
		"Copies the records that match EXPR from trace files or record streams, byte for "
		"byte, with the definitions and context that they need.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = tr_cli_computed_settings,
	.arrow = true,
	.status_one = "no record was selected",
	.examples = examples,
	.libraries = libraries,
};

/* from: the source of the expression; name: text that may be the name of a file, or NULL. */
static bool bad_expression(struct tr_cli *cli, const char *from, struct tr_text text,
			   const char *name, const struct tr_expr_error *error)
{
	if (!error->column)
		return tr_cli_usage(cli, "out of memory");
	if (name && access(name, F_OK) == 0)
		return tr_cli_usage_at(cli, text, error->column,
				       "%s, byte %zu: %s (there is a file '%s': the expression "
				       "comes before the files)",
				       from, error->column, error->text, name);
	return tr_cli_usage_at(cli, text, error->column, "%s, byte %zu: %s", from, error->column,
			       error->text);
}

/* A lone word is a kind, but no format has this one. */
static bool is_unknown_kind(const struct tr_expr *expr)
{
	struct tr_text kind;

	return tr_expr_lone_kind(expr, &kind) && !tr_is_known_kind(kind);
}

/* Such a kind is legal, but if a file has this name, the user means the file. */
static bool is_file_by_mistake(const struct tr_expr *expr, const char *text)
{
	return is_unknown_kind(expr) && access(text, F_OK) == 0;
}

/* True for an operand that names no file and is a valid expression. */
static bool is_expression_by_mistake(const char *text)
{
	struct tr_expr_error error;
	struct tr_expr *expr = access(text, F_OK) != 0 && errno == ENOENT
				       ? tr_expr_compile(tr_text_from(text), &error)
				       : NULL;
	bool is_valid = expr && !is_unknown_kind(expr);

	tr_expr_free(expr);
	return is_valid;
}

/* Puts the expression before those from `at` on. */
static bool insert_state(struct tr_filter *filter, struct tr_expr *expr, size_t at)
{
	size_t count = filter->expr_count + 1;
	struct tr_expr **exprs = realloc(filter->exprs, count * sizeof *exprs);

	if (exprs)
		filter->exprs = exprs;
	struct tr_expr_state **states = realloc(filter->states, count * sizeof *states);
	if (states)
		filter->states = states;
	struct tr_expr_state *state = exprs && states ? tr_expr_state_new(expr) : NULL;
	if (!state) {
		tr_expr_free(expr);
		return tr_cli_out_of_memory(filter->cli);
	}
	memmove(exprs + at + 1, exprs + at, (filter->expr_count - at) * sizeof *exprs);
	memmove(states + at + 1, states + at, (filter->expr_count - at) * sizeof *states);
	exprs[at] = expr;
	states[at] = state;
	filter->expr_count++;
	return true;
}

/* name: the operand or argument; NULL if the text comes from a file. */
static bool add_expression(struct tr_filter *filter, struct tr_text text, const char *from,
			   const char *name)
{
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(text, &error);

	if (!expr)
		return bad_expression(filter->cli, from, text, name, &error);
	if (name && is_file_by_mistake(expr, name)) {
		tr_expr_free(expr);
		return tr_cli_usage(filter->cli,
				    "'%s' is a file, not a kind of record: the expression comes "
				    "before the files",
				    name);
	}
	return insert_state(filter, expr, filter->expr_count);
}

/* Adds the expression in a file, which may be a pipe. */
static void add_expression_file(struct tr_filter *filter, const char *path)
{
	enum { BLOCK = 4096, MOST = 16 << 20 };
	struct tr_buffer content = TR_BUFFER_INIT;
	FILE *file = fopen(path, "re");
	size_t n = 1;

	tr_cli_reads(filter->cli, tr_text_from(path));
	if (!file) {
		tr_cli_usage(filter->cli, "%s: %s", path, strerror(errno));
		return;
	}
	while (n > 0 && content.len < MOST) {
		char *room = tr_buffer_room(&content, BLOCK);
		n = room ? fread(room, 1, BLOCK, file) : 0;
		tr_buffer_used(&content, n);
	}
	if (ferror(file))
		tr_cli_usage(filter->cli, "%s: cannot be read", path);
	else if (content.len >= MOST)
		tr_cli_usage(filter->cli, "%s: an expression has at most 16 MiB", path);
	else if (content.failed)
		tr_cli_out_of_memory(filter->cli);
	else
		add_expression(filter, tr_buffer_text(&content), path, NULL);
	fclose(file);
	tr_buffer_free(&content);
}

/* Adds --since or --until as a comparison with the time. */
static void add_bound(struct tr_filter *filter, const char *name, const char *operator)
{
	struct tr_cli *cli = filter->cli;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_expr_error error;
	struct tr_expr *expr = NULL;

	tr_buffer_put_text(&text, tr_text_from(operator));
	tr_string_quote(tr_text_from(cli->argument), &text);
	if (!text.failed)
		expr = tr_expr_compile(tr_buffer_text(&text), &error);
	if (expr)
		insert_state(filter, expr, filter->bounds++);
	else if (text.failed || !error.column)
		tr_cli_out_of_memory(filter->cli);
	else
		tr_cli_usage(cli, "--%s: %s", name, error.text);
	tr_buffer_free(&text);
}

/* Handles one of the tool's own options. Usage errors set cli->stop. */
static void set_option(struct tr_filter *filter, int option)
{
	struct tr_cli *cli = filter->cli;
	struct tr_expr_error error;
	int choice;

	switch (option) {
	/* "->KEY ..." looks like an option to getopt, but is an expression */
	case TR_CLI_ARROW:
		filter->operand = cli->argument;
		break;
	case OPTION_EXPR:
		filter->has_expression = true;
		add_expression(filter, tr_text_from(cli->argument), "expression", cli->argument);
		break;
	case OPTION_EXPR_FILE:
		filter->has_expression = true;
		add_expression_file(filter, cli->argument);
		break;
	case OPTION_SINCE:
		filter->since = cli->argument;
		add_bound(filter, "since", "time >= ");
		break;
	case OPTION_UNTIL:
		filter->until = cli->argument;
		add_bound(filter, "until", "time <= ");
		break;
	case OPTION_CALLS:
	case OPTION_FRAMES:
		tr_filter_add_set(filter, option == OPTION_FRAMES, cli->argument);
		break;
	case OPTION_TREE:
		filter->root = cli->argument;
		break;
	case OPTION_REBASE:
		filter->rebases = true;
		break;
	case OPTION_MERGE:
		filter->merges = true;
		break;
	case OPTION_MINUS:
	case OPTION_COMMON:
		tr_filter_add_cover(filter, cli->argument, option == OPTION_COMMON);
		break;
	case OPTION_INVERT:
		filter->invert = true;
		break;
	case OPTION_COUNT:
		filter->count_only = true;
		break;
	case OPTION_MAX:
		filter->limited = tr_cli_number(cli, false, UINT64_MAX, &filter->limit);
		break;
	case OPTION_FIELDS:
		/* the last --fields counts */
		tr_field_list_free(filter->fields);
		filter->fields = tr_field_list_compile(tr_text_from(cli->argument), &error);
		if (!filter->fields)
			bad_expression(cli, "--fields", tr_text_from(cli->argument), NULL, &error);
		break;
	case OPTION_RAW:
		filter->raw = true;
		break;
	case OPTION_SIDE:
		choice = tr_cli_choice(cli);
		if (choice >= 0)
			filter->side = (enum tr_field_side)choice;
		break;
	case OPTION_NUL:
		filter->nul = true;
		break;
	case OPTION_DEFINITIONS:
		choice = tr_cli_choice(cli);
		if (choice >= 0)
			filter->definitions_mode = (enum tr_definitions_mode)choice;
		break;
	case OPTION_CONTEXT:
		filter->no_context = tr_cli_choice(cli) == 1;
		break;
	}
}

/* Reports combinations of options that have no meaning. False: a usage error is printed. */
static bool check_usage(struct tr_filter *filter)
{
	struct tr_cli *cli = filter->cli;

	if (cli->stop)
		return false;
	if (filter->count_only && filter->fields)
		return tr_cli_usage(cli, "--count cannot be combined with --fields");
	if ((filter->raw || filter->nul || filter->side != TR_SIDE_BOTH) && !filter->fields)
		return tr_cli_usage(cli, "--raw, --side and --null need --fields");
	if (filter->fields)
		tr_field_list_set_side(filter->fields, filter->side);
	if (filter->rebases && filter->fields)
		return tr_cli_usage(cli, "--rebase cannot be combined with --fields");
	if (filter->merges &&
	    (filter->count_only || filter->fields || filter->limited || filter->root ||
	     filter->rebases || filter->no_context || filter->bounds ||
	     filter->definitions_mode != TR_DEFINITIONS_USED || tr_filter_has_sets(filter)))
		return tr_cli_usage(cli, "--merge goes with -e, --expr-file and -v alone");
	if (filter->merges && filter->invert && !filter->expr_count)
		return tr_cli_usage(cli, "--merge: -v needs an expression (-e)");
	return true;
}

/*
 * With --since or --until the first operand is a file if a file of this name exists, or if the
 * directory cannot be searched; otherwise it is an expression.
 */
static bool is_file(const char *text)
{
	return strcmp(text, "-") == 0 || access(text, F_OK) == 0 || errno == EACCES;
}

/* Takes the first operand as the expression, unless options select records. */
static bool take_operand(struct tr_filter *filter)
{
	struct tr_cli *cli = filter->cli;
	const char *text = filter->operand;
	bool selects = filter->has_expression || filter->root || filter->merges ||
		       filter->cover_count || tr_filter_has_sets(filter);

	if (text && selects)
		return tr_cli_usage(cli,
				    "'%s': with -e, --tree and the like all operands are files "
				    "(./%s)",
				    text, text);
	if (selects && cli->operand_count && is_expression_by_mistake(cli->operands[0]))
		return tr_cli_usage(cli,
				    "'%s' is not a file: with -e, --tree and the like an "
				    "expression needs -e before it",
				    cli->operands[0]);
	if (selects)
		return true;
	if (!text && filter->bounds && (!cli->operand_count || is_file(cli->operands[0])))
		return true;
	if (!text && !cli->operand_count)
		return tr_cli_usage(cli, "an expression is missing");
	if (!text) {
		text = cli->operands[0];
		cli->operands++;
		cli->operand_count--;
	}
	return add_expression(filter, tr_text_from(text),
			      filter->bounds ? "expression (no file has this name)" : "expression",
			      text);
}

/* Adds the errors that a trailer reports. */
static void add_trailer_errors(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_field *errors = tr_record_field(record, "errors");
	struct tr_value *value = errors ? tr_field_value(record, errors, NULL) : NULL;

	if (errors)
		filter->merge_errors += value && value->type == TR_UINT ? value->as.number : 1;
	if (tr_record_field(record, "truncated"))
		filter->merge_truncated = true;
}

/*
 * Gives a record to the merge (coverage/merge.h). Damage is counted for the trailer that the merge
 * writes.
 */
static bool put_merged(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_error err;
	enum tr_status status = tr_merge_put(filter->merge, record, &err);

	if (status == TR_FATAL)
		return tr_cli_out_of_memory(filter->cli);
	if (status == TR_OK)
		return true;
	filter->merge_errors += err.severity == TR_DAMAGE;
	tr_cli_report_record(filter->cli, record, &err, false);
	return !filter->cli->stop;
}

/*
 * Handles a line with --merge. Expressions select only blocks, units and what the lines of a source
 * file state; all other records go into the merge, because these depend on them.
 */
static bool merge_line(struct tr_filter *filter, struct tr_record *record)
{
	static const char *const kinds[] = { "block",	    "unit",	 "srcline",
					     "srcfunction", "srcbranch", NULL };
	bool selectable = record->type == TR_RECORD && tr_text_is_among(record->kind, kinds);

	if (record->type == TR_TRAILER) {
		if (tr_record_split(record, NULL) == TR_FATAL)
			return tr_cli_out_of_memory(filter->cli);
		add_trailer_errors(filter, record);
	}
	if (selectable) {
		if (filter->expr_count &&
		    tr_filter_judge(filter, record, NULL, false, true) != TR_MATCH_YES)
			return !filter->cli->stop;
		filter->selected++;
	}
	return put_merged(filter, record);
}

/* True if the segment has records, including those that the sieve left out. */
static bool saw_records(const struct tr_filter *filter)
{
	return filter->has_records ||
	       (filter->sieve && filter->sieve->left_out != filter->left_out_before);
}

/* Resets what belongs to one segment: counts, sets, open calls and definitions. */
static bool begin_segment(struct tr_filter *filter)
{
	filter->has_records = filter->any_kept = false;
	filter->left_out_before = filter->sieve ? filter->sieve->left_out : 0;
	filter->written = 0;
	filter->later_part = false;
	filter->selected_before = filter->selected;
	return tr_filter_begin_sets(filter) && tr_filter_begin_output(filter);
}

/* Passes a line on; the output is a stream only if it consists of lines. */
static bool pass_line(struct tr_filter *filter, struct tr_record *record)
{
	return !tr_filter_writes_lines(filter) || tr_filter_put(filter, TR_ITEM_PASS, record);
}

/*
 * True if the header is that of a part, but the first, of a trace that was split. Its context is
 * passed on even if none of its records is selected, because some of another part may be.
 */
static bool is_later_part(struct tr_record *header)
{
	struct tr_field *field = tr_record_field(header, "part");

	return field && !tr_text_is(field->text, "1");
}

/* Passes a header. It ends the segment before it, whose trailer may be missing. */
static bool pass_header(struct tr_filter *filter, struct tr_record *record)
{
	if (!tr_filter_end_calls(filter))
		return false;
	/* definitions before the header, as after sort(1), belong to this segment */
	if ((filter->has_header || saw_records(filter)) && !begin_segment(filter))
		return false;
	filter->has_header = true;
	filter->any_kept = filter->later_part = is_later_part(record);
	return pass_line(filter, record);
}

/*
 * Marks a part of which nothing was selected, because its context then counts only with records of
 * other parts.
 */
static void mark_unselected(const struct tr_filter *filter, struct tr_buffer *trailer)
{
	if (filter->later_part && filter->selected == filter->selected_before)
		tr_buffer_put_literal(trailer, "\tselected=0");
}

/* Passes a trailer with the count of the records that were written. */
static bool pass_trailer(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_buffer *line = &filter->text;
	bool ours = filter->has_header || saw_records(filter);

	if (!tr_filter_end_calls(filter))
		return false;
	uint64_t count = ours ? filter->written : record->seq.number;
	bool fine = true;
	if (tr_filter_writes_lines(filter)) {
		tr_buffer_reset(line);
		tr_trailer_recount(record, count, line);
		if (!tr_record_field(record, "selected"))
			mark_unselected(filter, line);
		tr_buffer_put_byte(line, '\n');
		fine = line->failed ? tr_cli_out_of_memory(filter->cli)
				    : tr_filter_pass(filter, tr_buffer_text(line));
	}
	filter->has_header = false;
	return fine && begin_segment(filter);
}

/*
 * Keeps a definition until a selected record uses it, or passes or drops it, according to
 * --definitions.
 */
static bool keep_definition(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text line;

	if (filter->definitions_mode == TR_DEFINITIONS_NONE)
		return true;
	if (filter->definitions_mode == TR_DEFINITIONS_ALL || !tr_definition_is_known(record))
		return pass_line(filter, record);
	if (!tr_filter_writes_lines(filter))
		return true;
	if (!tr_cli_line(filter->cli, record, &filter->text, &line))
		return !filter->cli->stop;
	return tr_definitions_add(&filter->definitions, line) || tr_cli_out_of_memory(filter->cli);
}

/*
 * Judges a record, and writes it if it is selected. The sieve has already chosen some records by
 * their columns.
 */
static bool handle_record(struct tr_filter *filter, struct tr_record *record)
{
	bool in_tree = true;

	filter->has_records = true;
	if (record->chosen)
		return tr_filter_keep(filter, record);
	enum tr_record_sort sort = tr_filter_sort(filter, record);
	bool looks = filter->root || filter->needs_start || filter->unknown_kinds;
	if ((looks && !tr_filter_look_at(filter, record, sort, &in_tree)) ||
	    (filter->rebases && !tr_filter_follow_rebase(filter, record)))
		return false;
	switch (sort) {
	case TR_SORT_CONTEXT:
		return filter->no_context || !tr_filter_writes_lines(filter) ||
		       tr_filter_full(filter) || tr_filter_put(filter, TR_ITEM_CONTEXT, record);
	case TR_SORT_ENTER:
		return tr_filter_enter(filter, record, in_tree);
	case TR_SORT_LEAVE:
		return tr_filter_leave(filter, record, in_tree);
	case TR_SORT_PLAIN:
		break;
	}
	return tr_filter_whole(filter, record, in_tree);
}

/*
 * Handles a line of the stream by its type. Computed fields see every line, because their values
 * depend on records that are not selected.
 */
static bool handle_line(struct tr_filter *filter, struct tr_record *record)
{
	if (filter->computed && !tr_computed_follow(filter->computed, record))
		return tr_cli_out_of_memory(filter->cli);
	if (filter->cover_count && !tr_filter_in_covers(filter, record))
		return !filter->cli->stop;
	if (filter->merge)
		return merge_line(filter, record);
	switch (record->type) {
	case TR_RECORD:
		return handle_record(filter, record);
	case TR_DEFINITION:
		return keep_definition(filter, record);
	case TR_HEADER:
		return pass_header(filter, record);
	case TR_TRAILER:
		return pass_trailer(filter, record);
	case TR_COMMENT:
		return pass_line(filter, record);
	}
	return true;
}

/* Writes the trailer of a segment whose rest is not read. */
static void close_segment(struct tr_filter *filter)
{
	struct tr_output *out = filter->cli->out;
	uint64_t errors;
	bool truncated;

	if (!tr_filter_end_calls(filter) || !filter->has_header || !tr_filter_writes_lines(filter))
		return;
	tr_trace_damage(filter->cli->trace, &errors, &truncated);
	tr_buffer_reset(&filter->text);
	tr_trailer_put(filter->written, errors + filter->gave_up, truncated || filter->gave_up,
		       &filter->text);
	mark_unselected(filter, &filter->text);
	tr_buffer_put_byte(&filter->text, '\n');
	tr_output_put_text(out, tr_buffer_text(&filter->text));
}

/* True if all selected records and their leaves are written. */
static bool is_done(const struct tr_filter *filter)
{
	return filter->gave_up || (tr_filter_full(filter) && !filter->owed);
}

/*
 * Filters a file or member. It stops early when nothing that follows can be selected. False: the
 * tool is done or is to stop.
 */
static bool filter_trace(struct tr_filter *filter)
{
	struct tr_record *record;

	filter->has_header = false;
	if (!begin_segment(filter))
		return false;
	while (tr_cli_next_here(filter->cli, &record)) {
		if (!handle_line(filter, record))
			return false;
		if (is_done(filter)) {
			filter->left_rest = true;
			close_segment(filter);
			return false;
		}
		if (tr_filter_has_sets(filter) && tr_filter_past_sets(filter)) {
			filter->left_rest = true;
			close_segment(filter);
			return !filter->cli->stop;
		}
	}
	return tr_filter_end_calls(filter);
}

/*
 * Filters all inputs, and then writes what only the end decides: the merged trace, the count, the
 * exit status and the notes.
 */
static void run(struct tr_filter *filter)
{
	struct tr_trace_place *place;

	while (!is_done(filter) && tr_cli_step(filter->cli, &place) &&
	       (tr_filter_read_cover(filter, place) || filter_trace(filter)))
		;
	filter->merge_errors += filter->gave_up;
	filter->merge_truncated |= filter->gave_up;
	if (filter->merge && !filter->cli->stop &&
	    !tr_merge_write(filter->merge, filter->merge_errors, filter->merge_truncated,
			    filter->cli->out))
		tr_cli_out_of_memory(filter->cli);
	if (filter->count_only && !filter->cli->stop) {
		tr_buffer_reset(&filter->text);
		tr_buffer_put_decimal(&filter->text, filter->selected);
		tr_buffer_put_byte(&filter->text, '\n');
		tr_output_put_text(filter->cli->out, tr_buffer_text(&filter->text));
	}
	if (!filter->selected)
		tr_cli_status(filter->cli, 1);
	tr_filter_note_unseen(filter);
}

int main(int argc, char **argv)
{
	struct tr_cli cli;
	struct tr_filter filter = { .cli = &cli,
				    .side = TR_SIDE_BOTH,
				    .sets.kinds.ask = tr_format_call_kinds };
	int option;

	tr_cli_begin(&cli, &tool, argc, argv);
	while ((option = tr_cli_option(&cli)) != 0)
		set_option(&filter, option);
	if (check_usage(&filter) && take_operand(&filter)) {
		/* only a stream has a trailer that can report lost records */
		cli.config.reports_lost = !filter.count_only && !filter.fields && !filter.merges;
		if (!tr_filter_begin_select(&filter))
			cli.stop = true;
		tr_filter_begin_blocks(&filter);
		if (filter.merges && !(filter.merge = tr_merge_new()))
			tr_cli_out_of_memory(&cli);
		if (tr_filter_begin_covers(&filter) && tr_cli_open(&cli) &&
		    tr_cli_output(&cli, false))
			run(&filter);
	}
	/* after an error, calls may still be open, and are freed by this */
	tr_filter_end_calls(&filter);
	tr_merge_free(filter.merge);
	tr_filter_free_blocks(&filter);
	tr_filter_free_select(&filter);
	tr_filter_free_output(&filter);
	tr_filter_free_covers(&filter);
	int status = tr_cli_end(&cli);
	tr_expr_sieve_free(filter.sieve); /* a trace that is not at its end counts with it */
	return status;
}
