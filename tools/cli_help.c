/* --help, --version, --list-formats: generated from the tables. */
#include "config.h"

#include "cli_private.h"

#include <stdio.h>

#include "core/archive.h"
#include "core/codec.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 79 };

/* Words of text from the current column on; continued lines begin at `indent`. */
static void wrap(const char *text, int column, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column + len > HELP_WIDTH && column > indent) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		printf("%.*s", len, text);
		column += len;
		text += len;
		if (*text == ' ') {
			text++;
			if (column + 1 + (int)strcspn(text, " ") <= HELP_WIDTH) {
				putchar(' ');
				column++;
			} else {
				printf("\n%*s", indent, "");
				column = indent;
			}
		}
	}
	putchar('\n');
}

static void print_row(const struct tr_option *row)
{
	int column = 2;

	if (row->letter)
		column += printf("  -%c%s", row->letter, row->name ? ", " : "") - 2;
	else
		column += printf("      ") - 2;
	if (row->name)
		column += printf("--%s", row->name);
	if (row->argument)
		column += printf("%s%s", row->name ? "=" : " ", row->argument);
	if (column > HELP_COLUMN - 2) {
		putchar('\n');
		column = 0;
	}
	printf("%*s", HELP_COLUMN - column, "");
	wrap(row->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_setting(const char *owner, const struct tr_format_option *option)
{
	int column = printf("  %s=%s", option->key, option->values);

	if (column > HELP_COLUMN - 2) {
		putchar('\n');
		column = 0;
	}
	printf("%*s%s: ", HELP_COLUMN - column, "", owner);
	wrap(option->help, HELP_COLUMN + (int)strlen(owner) + 2, HELP_COLUMN);
}

/* The tool's own keys, and those of formats that it does something with. */
static void print_settings(const struct tr_tool *tool)
{
	const struct tr_format_option *option;

	for (option = tool->settings; option && option->key; option++)
		print_setting(tool->name, option);
	for (size_t i = 0; tr_formats[i]; i++) {
		bool reads = !tool->format || tool->format == tr_formats[i];
		for (option = tr_formats[i]->options; option && option->key; option++) {
			if ((reads && option->reading) ||
			    (tool->shared & TR_CLI_FORMATS && option->writing))
				print_setting(tr_formats[i]->name, option);
		}
	}
}

static void print_status(const struct tr_tool *tool)
{
	int column = printf("\nExit status: ") - 1;

	if (!tool->status)
		column += printf("0 done; ");
	if (tool->status_one)
		column += printf("1 %s; ", tool->status_one);
	wrap(tool->status ? tool->status
			  : "2 trouble, also when something was damaged or left out.",
	     column, 0);
}

void tr_cli_short_usage(const struct tr_cli *cli)
{
	fprintf(stderr, "Usage: %s %s\nTry '%s --help' for more.\n", cli->tool->name,
		cli->tool->usage, cli->tool->name);
}

void tr_cli_help(const struct tr_cli *cli)
{
	const struct tr_tool *tool = cli->tool;

	printf("Usage: %s %s\n", tool->name, tool->usage);
	wrap(tool->summary, 0, 0);
	printf("\nOptions:\n");
	for (size_t i = 0; i < cli->private->rows.count; i++)
		print_row(cli->private->rows.list[i]);
	printf("\nKeys of -O:\n");
	print_settings(tool);
	if (tool->shared & TR_CLI_READS)
		printf("\nWithout FILE, or where it is -, stdin is read. Compressed files and "
		       "archives\n"
		       "are opened by themselves. Sizes take the suffixes K, M and G.\n");
	printf("\nExamples:\n");
	for (const char *const *example = tool->examples; example && example[0]; example += 2)
		printf("  # %s\n  %s\n", example[0], example[1]);
	print_status(tool);
	printf("See %s(1), trec(5), trace-formats(5).\n", tool->name);
}

void tr_cli_version(const struct tr_cli *cli)
{
	printf("%s (%s) %s\n", cli->tool->name, PACKAGE_NAME, PACKAGE_VERSION);
	for (size_t i = 0; tr_codecs[i]; i++) {
		char version[64] = "";
		if (tr_codecs[i]->version)
			tr_codecs[i]->version(version, sizeof version);
		printf("%s%s%s\n", tr_codecs[i]->library, *version ? " " : "", version);
	}
	printf("%s\n", tr_archive_version());
	for (size_t i = 0; cli->tool->libraries && cli->tool->libraries[i]; i++)
		printf("%s\n", cli->tool->libraries[i]());
}

void tr_cli_list_formats(void)
{
	for (size_t i = 0; tr_formats[i]; i++)
		printf("%s\t%s\t%s\t%s\t%s\n", tr_formats[i]->name,
		       tr_formats[i]->flags & TR_FORMAT_READS ? "yes" : "no",
		       tr_formats[i]->flags & TR_FORMAT_WRITES ? "yes" : "no", tr_formats[i]->exact,
		       tr_formats[i]->summary);
}
