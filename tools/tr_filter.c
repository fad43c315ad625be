/* tr-filter: the records of a trace that match an expression. */
#include "config.h"

#include "tr_filter.h"

#include "record/literal.h"
#include "record/vocabulary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	OPTION_DEFINITIONS,
	OPTION_CONTEXT,
};

static const struct tr_option options[] = {
	{ OPTION_EXPR, 'e', "expr", "EXPR",
	  "select records that match EXPR (repeatable: all hold)" },
	{ OPTION_EXPR_FILE, 0, "expr-file", "FILE", "the same, with the expression in FILE" },
	{ OPTION_SINCE, 0, "since", "TIME",
	  "select records from TIME on: seconds, 2026-11-20T12:00, 12:00 (on the date of the first "
	  "record), or +5s (after it)" },
	{ OPTION_UNTIL, 0, "until", "TIME", "select records up to TIME" },
	{ OPTION_CALLS, 0, "calls", "SET",
	  "select calls by number, as apitrace does: 0-99,200-/2,*/frame,draw,@FILE (repeatable: "
	  "one set)" },
	{ OPTION_FRAMES, 0, "frames", "SET", "select the calls of these frames; SET as above" },
	{ OPTION_TREE, 0, "tree", "TASK", "select a task and all its descendants" },
	{ OPTION_INVERT, 'v', "invert", NULL, "select what does not match" },
	{ OPTION_COUNT, 'c', "count", NULL, "print only how many records are selected" },
	{ OPTION_MAX, 'm', "max", "N", "stop after N selected records" },
	{ OPTION_FIELDS, 0, "fields", "LIST",
	  "print these fields of each selected record, separated by TAB, instead of the record" },
	{ OPTION_RAW, 0, "raw", NULL,
	  "with --fields: strings without quotes and escapes, nothing for what is absent" },
	{ OPTION_SIDE, 0, "side", "human|machine",
	  "with --fields: of values <human;machine>, print only this side" },
	{ OPTION_NUL, '0', "null", NULL, "with --fields: end each row with NUL, not LF" },
	{ OPTION_REBASE, 0, "rebase", NULL,
	  "make environments self-contained: write them as differences against the first one" },
	{ OPTION_MERGE, 0, "merge", NULL,
	  "make one trace of all: each range of code, unit of source or block of drcov once" },
	{ OPTION_DEFINITIONS, 0, "definitions", "used|all|none",
	  "which definitions to pass (default used: those that selected records use)" },
	{ OPTION_CONTEXT, 0, "context", "all|none",
	  "whether env, meta and other records that describe the trace are passed with what is "
	  "selected (default all)" },
	{ 0 },
};

static const char *const examples[] = {
	"every run of gcc that compiles",
	"tr-filter 'exec and basename(name) == \"gcc\" and argv == \"-c\"' build.json",
	"how many programs failed to start, in a log of strace",
	"tr-filter -c -O failed=yes 'exec and has(error)' build.strace",
	"what make started, as a list",
	"tr-filter --fields=name,argv --tree=1 build.json",
	NULL,
};

static const char *(*const libraries[])(void) = { tr_expr_regex_version, NULL };

static const struct tr_tool tool = {
	.name = "tr-filter",
	.usage = "[OPTION...] EXPR [FILE...]",
	.summary =
		"Copies the records that match EXPR out of trace files or record streams, byte for "
		"byte, with what is needed to understand them.",
	.shared = TR_CLI_ALL,
	.options = options,
	.arrow = true,
	.status_one = "no record was selected",
	.examples = examples,
	.libraries = libraries,
};

/* Where an expression came from; name: what may be a file's name in the wrong place, or NULL. */
static bool bad_expression(struct tr_cli *cli, const char *from, struct tr_text text,
			   const char *name, const struct tr_expr_error *error)
{
	if (!error->column)
		return tr_cli_usage(cli, "out of memory");
	if (name && access(name, F_OK) == 0)
		return tr_cli_usage_at(cli, text, error->column,
				       "%s, byte %zu: %s (a file is called '%s': the expression "
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

/* Such a kind is legal, but a file of that name says what was meant. */
static bool is_file_by_mistake(const struct tr_expr *expr, const char *text)
{
	return is_unknown_kind(expr) && access(text, F_OK) == 0;
}

/* It stands where files are wanted, but there is none of that name, and it makes sense as one. */
static bool is_expression_by_mistake(const char *text)
{
	struct tr_expr_error error;
	struct tr_expr *expr = access(text, F_OK) != 0 && errno == ENOENT
				       ? tr_expr_compile(tr_text_from(text), &error)
				       : NULL;
	bool makes_sense = expr && !is_unknown_kind(expr);

	tr_expr_free(expr);
	return makes_sense;
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
		return tr_filter_out_of_memory(filter);
	}
	memmove(exprs + at + 1, exprs + at, (filter->expr_count - at) * sizeof *exprs);
	memmove(states + at + 1, states + at, (filter->expr_count - at) * sizeof *states);
	exprs[at] = expr;
	states[at] = state;
	filter->expr_count++;
	return true;
}

/* name: the operand or argument, NULL when the text is a file's. */
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

static bool read_file(struct tr_filter *filter, const char *path, struct tr_buffer *content)
{
	enum { BLOCK = 4096, MOST = 16 << 20 };
	FILE *file = fopen(path, "re");
	size_t n = 1;

	if (!file) {
		tr_cli_usage(filter->cli, "%s: %s", path, strerror(errno));
		return false;
	}
	while (n > 0 && content->len < MOST) {
		char *room = tr_buffer_room(content, BLOCK);
		n = room ? fread(room, 1, BLOCK, file) : 0;
		tr_buffer_used(content, n);
	}
	if (ferror(file))
		tr_cli_usage(filter->cli, "%s: cannot be read", path);
	else if (content->len >= MOST)
		tr_cli_usage(filter->cli, "%s: more than 16 MiB are no expression", path);
	else if (content->failed)
		tr_filter_out_of_memory(filter);
	fclose(file);
	return !filter->cli->stop;
}

static void add_expression_file(struct tr_filter *filter, const char *path)
{
	struct tr_buffer content = TR_BUFFER_INIT;

	tr_cli_reads(filter->cli, tr_text_from(path));
	if (read_file(filter, path, &content))
		add_expression(filter, tr_buffer_text(&content), path, NULL);
	tr_buffer_free(&content);
}

/* --since, --until: a test of the time. */
static void add_bound(struct tr_filter *filter, const char *name, const char *operator)
{
	struct tr_cli *cli = filter->cli;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_expr_error error;
	struct tr_expr *expr = NULL;

	tr_buffer_put_text(&text, tr_text_from(operator));
	tr_buffer_put_byte(&text, '"');
	tr_string_escape(tr_text_from(cli->argument), &text);
	tr_buffer_put_byte(&text, '"');
	if (!text.failed)
		expr = tr_expr_compile(tr_buffer_text(&text), &error);
	if (expr)
		insert_state(filter, expr, filter->bounds++);
	else if (text.failed || !error.column)
		tr_filter_out_of_memory(filter);
	else
		tr_cli_usage(cli, "--%s: %s", name, error.text);
	tr_buffer_free(&text);
}

static void set_fields(struct tr_filter *filter, const char *list)
{
	struct tr_expr_error error;

	tr_field_list_free(filter->fields);
	filter->fields = tr_field_list_compile(tr_text_from(list), &error);
	if (!filter->fields)
		bad_expression(filter->cli, "--fields", tr_text_from(list), NULL, &error);
}

static void set_option(struct tr_filter *filter, int option)
{
	struct tr_cli *cli = filter->cli;
	int choice;

	switch (option) {
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
		set_fields(filter, cli->argument);
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
 * With --since or --until the first operand is a file if one of that name exists, or if the
 * directory may not be searched; anything else is an expression.
 */
static bool is_file(const char *text)
{
	return strcmp(text, "-") == 0 || access(text, F_OK) == 0 || errno == EACCES;
}

/* The first operand is the expression, unless options say what to select. */
static bool take_operand(struct tr_filter *filter)
{
	struct tr_cli *cli = filter->cli;
	const char *text = filter->operand;
	bool selects = filter->has_expression || filter->root || filter->merges ||
		       tr_filter_has_sets(filter);

	if (text && selects)
		return tr_cli_usage(cli,
				    "'%s': with -e, --tree and the like all operands are files "
				    "(./%s)",
				    text, text);
	if (selects && cli->operand_count && is_expression_by_mistake(cli->operands[0]))
		return tr_cli_usage(cli,
				    "'%s' is no file: with -e, --tree and the like an expression "
				    "wants -e before it",
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
			      filter->bounds ? "expression (no file has this name)"
					      : "expression",
			      text);
}

static void free_filter(struct tr_filter *filter)
{
	for (size_t i = 0; i < filter->expr_count; i++) {
		tr_expr_state_free(filter->states[i]);
		tr_expr_free(filter->exprs[i]);
	}
	tr_expr_sieve_free(filter->sieve);
	tr_computed_free(filter->computed);
	free(filter->states);
	free(filter->exprs);
	tr_field_list_free(filter->fields);
	tr_definitions_free(&filter->definitions);
	tr_task_tree_free(&filter->tree);
	tr_rebase_free(&filter->rebase);
	tr_map_free(&filter->calls.by_key);
	tr_arena_free(&filter->calls.arena);
	tr_queue_free(&filter->queue);
	tr_queue_free(&filter->pending);
	tr_filter_free_sets(filter);
	tr_filter_merge_free(filter);
	tr_buffer_free(&filter->text);
	tr_buffer_free(&filter->key);
}

int main(int argc, char **argv)
{
	struct tr_cli cli;
	struct tr_filter filter = { .cli = &cli, .side = TR_SIDE_BOTH };
	int option;

	tr_cli_begin(&cli, &tool, argc, argv);
	while ((option = tr_cli_option(&cli)) != 0)
		set_option(&filter, option);
	if (check_usage(&filter) && take_operand(&filter)) {
		tr_filter_name_kinds(&filter);
		cli.config.tells_lost = !filter.count_only && !filter.fields && !filter.merges;
		if (!tr_filter_begin_computed(&filter))
			cli.stop = true;
		if (!filter.merges)
			tr_filter_make_sieve(&filter);
		else if (!tr_filter_merge_begin(&filter))
			cli.stop = true;
		if (tr_cli_open(&cli) && tr_cli_output(&cli, false))
			tr_filter_run(&filter);
	}
	/* what a stop left behind */
	tr_filter_end_calls(&filter);
	free_filter(&filter);
	return tr_cli_end(&cli);
}
