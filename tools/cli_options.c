/* The command line: one table for getopt_long, --help and the tests. */
#include "config.h"

#include "cli_private.h"

#include <stdlib.h>

#include "core/similar.h"

static size_t add_rows(const struct tr_option **list, size_t at, const struct tr_option *table)
{
	for (; table && table->id; table++) {
		if (list)
			list[at] = table;
		at++;
	}
	return at;
}

static size_t all_rows(const struct tr_tool *tool, const struct tr_option **list)
{
	size_t count = add_rows(list, 0, tool->options);

	if (tool->shared & TR_CLI_READS)
		count = add_rows(list, count, tr_cli_shared_input);
	if (tool->shared & TR_CLI_WRITES)
		count = add_rows(list, count, tr_cli_shared_output);
	return add_rows(list, count, tr_cli_shared_general);
}

enum { LONG_BASE = 256 }; /* getopt values: a row's index on top of all letters */

bool tr_cli_rows_make(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	size_t count = all_rows(cli->tool, NULL), longs = 0, shorts = 0;

	p->rows.list = calloc(count + 1, sizeof *p->rows.list);
	p->long_options = calloc(count + 1, sizeof *p->long_options);
	p->short_options = calloc(2 * count + 6, 1);
	if (!p->rows.list || !p->long_options || !p->short_options)
		return false;
	p->rows.count = all_rows(cli->tool, p->rows.list);
	if (cli->tool->command)
		p->short_options[shorts++] = '+';
	p->short_options[shorts++] = ':'; /* tells a missing argument from an unknown option */
	for (const char *arrow = ">::"; cli->tool->arrow && *arrow; arrow++)
		p->short_options[shorts++] = *arrow;
	for (size_t i = 0; i < count; i++) {
		const struct tr_option *row = p->rows.list[i];

		if (row->name)
			p->long_options[longs++] =
				(struct option){ row->name,
						 row->argument ? required_argument : no_argument,
						 NULL, LONG_BASE + (int)i };
		if (row->letter)
			p->short_options[shorts++] = row->letter;
		if (row->letter && row->argument)
			p->short_options[shorts++] = ':';
	}
	return true;
}

void tr_cli_rows_free(struct tr_cli *cli)
{
	free(cli->private->rows.list);
	free(cli->private->long_options);
	free(cli->private->short_options);
}

/* The row of what getopt_long (or its optopt) names; NULL: none. */
static const struct tr_option *row_of(const struct tr_cli_private *p, int value)
{
	if (value >= LONG_BASE)
		return p->rows.list[value - LONG_BASE];
	for (size_t i = 0; value && i < p->rows.count; i++)
		if (p->rows.list[i]->letter == value)
			return p->rows.list[i];
	return NULL;
}

/* What does here what an option of another program does; NULL: nothing is known of that. */
static const char *hint_of(const struct tr_cli *cli, const char *word)
{
	const char *name = word + strspn(word, "-");
	size_t len = strcspn(name, "=");

	for (const char *const *hint = cli->tool->hints; hint && *hint; hint += 2)
		if (strlen(*hint) == len && memcmp(*hint, name, len) == 0)
			return hint[1];
	return NULL;
}

static void unknown_option(struct tr_cli *cli, const char *word)
{
	const struct tr_cli_private *p = cli->private;
	size_t len = strcspn(word, "="), matches = 0;
	struct tr_text name = { word + strspn(word, "-"), len - strspn(word, "-") };
	const char *hint = hint_of(cli, word), *first = NULL, *second = NULL;
	struct tr_similar similar;

	tr_similar_begin(&similar, name);
	for (size_t i = 0; name.len && i < p->rows.count; i++) {
		const char *long_name = p->rows.list[i]->name;
		if (!long_name)
			continue;
		tr_similar_offer(&similar, tr_text_from(long_name));
		if (strncmp(long_name, name.data, name.len) != 0)
			continue;
		second = matches++ == 1 ? long_name : second;
		first = first ? first : long_name;
	}
	if (hint)
		tr_cli_usage(cli, "unknown option '%.*s': see %s", (int)len, word, hint);
	else if (word[1] == '-' && matches > 1)
		tr_cli_usage(cli, "ambiguous option '%.*s': --%s, --%s%s", (int)len, word, first,
			     second, matches > 2 ? " ..." : "");
	else if (word[1] == '-' && similar.found.len)
		tr_cli_usage(cli, "unknown option '%.*s'; similar: --%.*s", (int)len, word,
			     (int)similar.found.len, similar.found.data);
	else
		tr_cli_usage(cli, "unknown option '%.*s'", (int)len, word);
}

static void bad_option(struct tr_cli *cli, bool missing)
{
	const struct tr_cli_private *p = cli->private;
	const struct tr_option *row = row_of(p, optopt);
	const char *word = p->argv[optind - 1];

	if (missing && row && optopt < LONG_BASE)
		tr_cli_usage(cli, "option '-%c' needs an argument: %s", row->letter, row->argument);
	else if (missing && row)
		tr_cli_usage(cli, "option '--%s' needs an argument: %s", row->name, row->argument);
	else if (row && optopt >= LONG_BASE)
		tr_cli_usage(cli, "option '--%s' takes no argument", row->name);
	else if (optopt > 0 && optopt < LONG_BASE)
		unknown_option(cli, (char[]){ '-', (char)optopt, 0 });
	else
		unknown_option(cli, word);
}

int tr_cli_option(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	while (!cli->stop) {
		opterr = 0;
		int value = getopt_long(p->argc, p->argv, p->short_options, p->long_options, NULL);
		if (value == -1) {
			cli->operands = (const char *const *)p->argv + optind;
			cli->operand_count = (size_t)(p->argc - optind);
			return 0;
		}
		if (value == '>') {
			cli->argument = p->argv[optind - 1];
			if (cli->argument[1] == '>')
				return TR_CLI_ARROW;
			optopt = value; /* behind other letters it is none of ours */
			value = '?';
		}
		if (value == '?' || value == ':') {
			bad_option(cli, value == ':');
			return 0;
		}
		p->row = row_of(p, value);
		cli->argument = optarg;
		if (p->row->id < TR_CLI_FORMAT)
			return p->row->id;
		tr_cli_shared_option(cli, p->row->id);
	}
	return 0;
}
