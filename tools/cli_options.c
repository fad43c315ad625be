/* SPDX-License-Identifier: MIT */
/* The command line: the tables for getopt_long and --help, common options, and -O. */

#include <stdio.h>
#include <stdlib.h>

#include "cli_private.h"
#include "core/archive.h"
#include "core/codec.h"
#include "core/text.h"
#include "coverage/programs.h"

/* The ids of the common options. */
enum {
	TR_CLI_FORMAT = 100,
	TR_CLI_MEMBER,
	TR_CLI_OUTPUT,
	TR_CLI_SETTING,
	TR_CLI_STRICT,
	TR_CLI_MAX_RECORD,
	TR_CLI_MAX_DEPTH,
	TR_CLI_MAX_RATIO,
	TR_CLI_LINE_BUFFERED,
	TR_CLI_PROGRESS,
	TR_CLI_QUIET,
	TR_CLI_VERBOSE,
	TR_CLI_REPORT,
	TR_CLI_LIST_FORMATS,
	TR_CLI_HELP,
	TR_CLI_VERSION,
};

/*
 * The choices are in the text that --help shows, so the two cannot differ. Optional arguments have
 * them in brackets.
 */
static int find_choice(struct tr_cli *cli, struct tr_text word)
{
	const struct tr_option *row = cli->private->row;
	const char *choices = row->argument + strspn(row->argument, "[="), *choice = choices;

	for (int i = 0;; i++) {
		size_t len = strcspn(choice, "|]");
		if (tr_text_equal(word, (struct tr_text){ choice, len }))
			return i;
		if (choice[len] != '|')
			break;
		choice += len + 1;
	}
	tr_cli_usage(cli, "--%s takes %.*s, not '%.*s'", row->name, (int)strcspn(choices, "]"),
		     choices, (int)word.len, word.data);
	return -1;
}

int tr_cli_choice(struct tr_cli *cli)
{
	return find_choice(cli, tr_text_from(cli->argument));
}

bool tr_cli_choices(struct tr_cli *cli, unsigned *set)
{
	const char *word = cli->argument;

	for (;;) {
		const char *end = word + strcspn(word, ",");
		int choice = find_choice(cli, tr_text_span(word, end));
		if (choice < 0)
			return false;
		*set |= 1u << choice;
		if (!*end)
			return true;
		word = end + 1;
	}
}

/*
 * The digits are read to their end even after an overflow, so that the message can tell a number
 * that is too large from text that is no number.
 */
bool tr_cli_number(struct tr_cli *cli, bool size, uint64_t max, uint64_t *value)
{
	const struct tr_option *row = cli->private->row;
	const char *p = cli->argument;
	uint64_t number = 0;
	unsigned shift = 0;
	bool good = *p >= '0' && *p <= '9', fits = true;

	for (; *p >= '0' && *p <= '9'; p++) {
		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
	}
	if (size && *p) {
		static const char suffixes[] = "KMG";
		const char *suffix = memchr(suffixes, *p & ~0x20, sizeof suffixes - 1);
		shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
		p += suffix != NULL;
	}
	if (!good || *p) {
		return tr_cli_usage(cli, "%s%s takes a %s, not '%s'", row->name ? "--" : "-",
				    row->name ? row->name : (char[]){ row->letter, 0 },
				    size ? "size (as 4096, 64K, 16M, 2G)" : "number",
				    cli->argument);
	}
	/* the shift is applied to the limit, because the number might overflow */
	if (!fits || number > max >> shift)
		return tr_cli_usage(cli, "%s%s: at most %llu, not '%s'", row->name ? "--" : "-",
				    row->name ? row->name : (char[]){ row->letter, 0 },
				    (unsigned long long)max, cli->argument);
	*value = number << shift;
	return true;
}

/* A format that exists, but only in the other direction, gets a message of its own. */
const struct tr_format *tr_cli_format(struct tr_cli *cli, bool writing)
{
	const unsigned wanted = writing ? TR_FORMAT_WRITES : TR_FORMAT_READS;
	struct tr_text name = tr_text_from(cli->argument);
	const struct tr_format *format = tr_format_by_name(name);
	struct tr_similar similar;

	if (format && format->flags & wanted)
		return format;
	tr_similar_begin(&similar, name);
	for (size_t i = 0; tr_formats[i]; i++)
		if (tr_formats[i]->flags & wanted)
			tr_similar_offer(&similar, tr_text_from(tr_formats[i]->name));
	if (format)
		tr_cli_usage(cli, "format '%s' cannot be %s", format->name,
			     writing ? "written" : "read");
	else
		tr_cli_unknown(cli, "format", name, &similar, ": see --list-formats");
	return NULL;
}

/*
 * The rows that all tools share, in the order of --help=all. TR_CLI_READS selects shared_input,
 * TR_CLI_WRITES selects shared_output, and every tool has shared_general.
 */
static const struct tr_option shared_input[] = {
	{ TR_CLI_FORMAT, 'f', "format", "NAME",
	  "read the input as format NAME instead of detecting it" },
	{ TR_CLI_MEMBER, 0, "member", "GLOB",
	  "read only archive members whose name matches (repeatable)" },
	{ TR_CLI_MAX_RECORD, 0, "max-record", "SIZE",
	  "accept records up to this size (default "
	  "256M)" },
	{ TR_CLI_MAX_DEPTH, 0, "max-depth", "N",
	  "accept values nested up to N deep (default and maximum 60)" },
	{ TR_CLI_MAX_RATIO, 0, "max-ratio", "N",
	  "largest accepted ratio of decompressed to compressed bytes, and of written "
	  "environments to records (default 1000)" },
	{ TR_CLI_PROGRESS, 0, "progress", "auto|always|never",
	  "report progress on stderr (auto: if it is a terminal and the output is not)" },
	{ 0 },
};

static const struct tr_option shared_output[] = {
	{ TR_CLI_OUTPUT, 'o', "output", "FILE",
	  "write to FILE instead of stdout; .gz, .xz, .zst, .bz2 and .lz4 compress it" },
	{ TR_CLI_LINE_BUFFERED, 0, "line-buffered", NULL,
	  "write every record immediately (default on a terminal)" },
	{ 0 },
};

static const struct tr_option shared_general[] = {
	{ TR_CLI_SETTING, 'O', "option", "KEY=VALUE",
	  "set an option of a format (repeatable; see --help=formats)" },
	{ TR_CLI_STRICT, 0, "strict", NULL,
	  "stop at the first error or note and remove the output file" },
	{ TR_CLI_QUIET, 'q', "quiet", NULL, "print errors but no notes" },
	{ TR_CLI_VERBOSE, 0, "verbose", NULL,
	  "print more notes, such as records that the target format cannot hold" },
	{ TR_CLI_REPORT, 0, "report", "FILE",
	  "write all messages, the result of each file, and a summary to FILE as JSON Lines" },
	{ TR_CLI_LIST_FORMATS, 0, "list-formats", NULL,
	  "list the formats: name, read, write, exactness, summary" },
	{ TR_CLI_HELP, 'h', "help", "[=all|formats]",
	  "print this help; all: include the common options; formats: print the keys of -O" },
	{ TR_CLI_VERSION, 'V', "version", NULL,
	  "print the versions of the tool and of the libraries in use" },
	{ 0 },
};

/*
 * The column in which the text of an option begins, and the last column: 80 would wrap on some
 * terminals.
 */
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

/* One option of --help. The text begins on a line of its own if the option's names are too long. */
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
		column += printf("%s%s",
				 *row->argument == '[' ? ""
				 : row->name	       ? "="
						       : " ",
				 row->argument);
	if (column > HELP_COLUMN - 2) {
		putchar('\n');
		column = 0;
	}
	printf("%*s", HELP_COLUMN - column, "");
	wrap(row->help, HELP_COLUMN, HELP_COLUMN);
}

/* One key of -O in --help=formats, after the name of the format, or of the tool, that has it. */
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

/* A key of -O in a table of keys. */
struct key {
	size_t table;			/* 0: the tool's; else those of the formats */
	const struct tr_format *format; /* NULL: the key is the tool's */
	const struct tr_format_option *option;
	const char *owner;
};

/* Steps to the next key of this name (data NULL: of any) in all tables. Begin with zeros. */
static bool next_key(const struct tr_cli *cli, struct tr_text name, struct key *key)
{
	const struct tr_format_option *next = key->option ? key->option + 1 : cli->tool->settings;

	for (;;) {
		while (next && next->key && name.data && !tr_text_is(name, next->key))
			next++;
		key->option = next && next->key ? next : NULL;
		key->owner = key->format ? key->format->name : cli->tool->name;
		if (key->option || !tr_formats[key->table])
			return key->option;
		key->format = tr_formats[key->table++];
		next = key->format->options;
	}
}

static const struct tr_text any_name = { NULL, 0 };

/* The tool's own keys, and those of formats that it does something with. */
static void print_settings(const struct tr_cli *cli)
{
	const struct tr_tool *tool = cli->tool;
	struct key key = { 0 };

	while (next_key(cli, any_name, &key)) {
		bool reads = !tool->format || tool->format == key.format;
		if (!key.format || (reads && key.option->reading) ||
		    (tool->shared & TR_CLI_FORMATS && key.option->writing))
			print_setting(key.owner, key.option);
	}
}

/* The exit statuses at the end of --help. */
static void print_status(const struct tr_tool *tool)
{
	int column = printf("\nExit status: ") - 1;

	if (!tool->status)
		column += printf("0 done; ");
	if (tool->status_one)
		column += printf("1 %s; ", tool->status_one);
	wrap(tool->status ? tool->status : "2 an error occurred, or data was damaged or left out.",
	     column, 0);
}

void tr_cli_short_usage(const struct tr_cli *cli)
{
	fprintf(stderr, "Usage: %s %s\nTry '%s --help' for more.\n", cli->tool->name,
		cli->tool->usage, cli->tool->name);
}

/*
 * The last line of the short help names the common options that are used most; --help=all has the
 * others.
 */
static void print_common_hint(const struct tr_tool *tool)
{
	bool reads = tool->shared & TR_CLI_READS, writes = tool->shared & TR_CLI_WRITES;

	printf("\n");
	wrap(reads && writes ? "Common options: -o FILE, -f FORMAT, -O KEY=VALUE, --member=GLOB, "
			       "--strict, --report=FILE, -q, --version; --help=all lists them, and "
			       "--help=formats the keys of -O."
	     : writes ? "Common options: -o FILE, -O KEY=VALUE, --strict, --report=FILE, -q, "
			"--version; --help=all lists them, and --help=formats the keys of -O."
		      : "--help=all lists the common options, and --help=formats the keys of -O.",
	     0, 0);
}

/* Prints the help that --help, --help=all or --help=formats asks for. */
static void print_help(const struct tr_cli *cli)
{
	const struct tr_tool *tool = cli->tool;
	const struct tr_cli_rows *rows = &cli->private->rows;
	bool all = cli->argument && strcmp(cli->argument, "all") == 0;

	if (cli->argument && !all) {
		printf("Keys of -O:\n");
		print_settings(cli);
		return;
	}
	printf("Usage: %s %s\n", tool->name, tool->usage);
	wrap(tool->summary, 0, 0);
	if (all || rows->own)
		printf("\nOptions:\n");
	for (size_t i = 0; i < (all ? rows->count : rows->own); i++)
		print_row(rows->list[i]);
	if (!all)
		print_common_hint(tool);
	if (all && tool->shared & TR_CLI_READS) {
		printf("\n");
		wrap("Without FILE, or if FILE is -, stdin is read. Compressed files and "
		     "archives are opened automatically. Sizes can have a suffix K, M or G.",
		     0, 0);
	}
	printf("\nExamples:\n");
	for (const char *const *example = tool->examples; example && example[0]; example += 2)
		printf("  # %s\n  %s\n", example[0], example[1]);
	print_status(tool);
	printf("See %s(1), trec(5), trace-formats(5).\n", tool->name);
}

/* Prints the versions of the tool and of the libraries that it may use. */
static void print_version(const struct tr_cli *cli)
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

/* One line for each format, with columns that are separated by TAB. */
static void list_formats(void)
{
	for (size_t i = 0; tr_formats[i]; i++)
		printf("%s\t%s\t%s\t%s\t%s\n", tr_formats[i]->name,
		       tr_formats[i]->flags & TR_FORMAT_READS ? "yes" : "no",
		       tr_formats[i]->flags & TR_FORMAT_WRITES ? "yes" : "no", tr_formats[i]->exact,
		       tr_formats[i]->summary);
}

/* Grows a list of `count` elements by one. NULL: memory is exhausted, reported. */
static void *grown(struct tr_cli *cli, void *list, size_t count, size_t size)
{
	void *larger = realloc(list, (count + 1) * size);

	if (!larger)
		tr_cli_out_of_memory(cli);
	return larger;
}

/* Adds an input file if the setting names one: format.h lists the words for values that do. */
static void note_input(struct tr_cli *cli, const struct tr_setting *setting)
{
	static const char *const inputs[] = { "FILE", "CONFIG", "PROG" };
	struct key key = { 0 };

	while (next_key(cli, setting->key, &key))
		for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
			if (strcmp(key.option->values, inputs[i]) == 0) {
				tr_cli_reads(cli, setting->value);
				return;
			}
}

/* Reports a key of -O that no format has, with the most similar one. */
static bool unknown_key(struct tr_cli *cli, struct tr_text name)
{
	struct tr_similar similar;
	struct key key = { 0 };

	tr_similar_begin(&similar, name);
	while (next_key(cli, any_name, &key))
		tr_similar_offer(&similar, tr_text_from(key.option->key));
	return tr_cli_unknown(cli, "key in -O", tr_text_from(cli->argument), &similar, "");
}

/* True if some owner of the key accepts the value; otherwise the message lists what each takes. */
static bool is_known(struct tr_cli *cli, const struct tr_setting *setting)
{
	struct tr_buffer takes = TR_BUFFER_INIT;
	struct key key = { 0 };
	const char *only = NULL; /* the values that all owners accept; "": they differ */

	while (next_key(cli, setting->key, &key)) {
		const char *values = key.option->values;
		if (tr_setting_accepts(key.option, setting->value)) {
			tr_buffer_free(&takes);
			return true;
		}
		only = !only || strcmp(only, values) == 0 ? values : "";
		tr_buffer_put_text(&takes, takes.len ? TR_TEXT("; ") : TR_TEXT(": "));
		tr_buffer_put_text(&takes, tr_text_from(key.owner));
		tr_buffer_put_literal(&takes, " takes ");
		tr_buffer_put_text(&takes, tr_text_from(values));
	}
	if (!only)
		unknown_key(cli, setting->key);
	else if (*only)
		tr_cli_usage(cli, "-O %.*s takes %s, not '%s'", (int)setting->key.len,
			     setting->key.data, only, setting->value.data);
	else
		tr_cli_usage(cli, "-O %s%.*s", cli->argument, (int)takes.len, takes.data);
	tr_buffer_free(&takes);
	return false;
}

/* Adds a setting of -O. A key that neither a format nor the tool has is a usage error. */
static void add_setting(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	struct tr_settings *settings = &cli->config.read.settings;
	const char *equals = strchr(cli->argument, '=');

	if (!equals || equals == cli->argument) {
		tr_cli_usage(cli, "-O needs KEY=VALUE, not '%s'", cli->argument);
		return;
	}
	struct tr_setting setting = { tr_text_span(cli->argument, equals),
				      tr_text_from(equals + 1) };
	if (!is_known(cli, &setting))
		return;
	struct tr_setting *list = grown(cli, p->settings, settings->count, sizeof *list);
	if (!list)
		return;
	note_input(cli, &setting);
	list[settings->count++] = setting;
	settings->list = p->settings = list;
	p->setting_count = settings->count;
}

const struct tr_format_option tr_cli_compiler_settings[] = {
	TR_COMPILER_OPTIONS(true, false),
	{ 0 },
};

struct tr_compilers *tr_cli_compilers(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	struct tr_error err;

	if (!cli->stop && !p->compilers &&
	    !tr_setting_get_compilers(&cli->config.read.settings, &p->compilers, &err))
		tr_cli_abort(cli, &err);
	return p ? p->compilers : NULL;
}

enum { SETTINGS = 64 }; /* those that have a bit in settings_taken */

void tr_cli_settings_taken(struct tr_cli *cli, const struct tr_format *format, bool writing)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->setting_count && i < SETTINGS; i++) {
		struct key key = { 0 };
		while (next_key(cli, p->settings[i].key, &key))
			if (key.format == format &&
			    (writing ? key.option->writing : key.option->reading))
				p->settings_taken |= UINT64_C(1) << i;
	}
}

/* Notes keys of -O that no format in use has. Of a key with several owners, all are named. */
void tr_cli_settings_idle(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->setting_count && i < SETTINGS; i++) {
		struct tr_text name = p->settings[i].key;
		struct tr_buffer owners = TR_BUFFER_INIT;
		struct key key = { 0 };
		const struct tr_format *last = NULL;
		size_t count = 0;

		while (next_key(cli, name, &key) && key.format) {
			if (key.format == last)
				continue;
			last = key.format;
			if (count++)
				tr_buffer_put_literal(&owners, ", ");
			tr_buffer_put_text(&owners, tr_text_from(key.owner));
		}
		/* the loop ends early at a key of the tool, which is always in use */
		if (!key.option && !(p->settings_taken >> i & 1))
			tr_cli_remark(cli, NULL, TR_CAUSE_USAGE, TR_NOTE,
				      "-O %.*s ignored: only %.*s %s it", (int)name.len, name.data,
				      (int)owners.len, owners.data, count == 1 ? "has" : "have");
		tr_buffer_free(&owners);
	}
}

/* Adds a pattern of --member. */
static void add_member(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	const char **list = grown(cli, p->members, cli->config.member_count, sizeof *list);

	if (!list)
		return;
	list[cli->config.member_count++] = cli->argument;
	cli->config.members = p->members = list;
}

/*
 * Sets --max-record, --max-depth or --max-ratio. 0 would refuse everything, and is a usage error.
 */
static void set_limit(struct tr_cli *cli, int id)
{
	struct tr_limits *limits = &cli->config.read.limits;
	uint64_t value = 0;

	if (!tr_cli_number(cli, id == TR_CLI_MAX_RECORD,
			   id == TR_CLI_MAX_RECORD  ? (uint64_t)1 << 40
			   : id == TR_CLI_MAX_DEPTH ? 60
						    : UINT32_MAX,
			   &value))
		return;
	if (value == 0)
		tr_cli_usage(cli, "--%s must not be 0", cli->private->row->name);
	else if (id == TR_CLI_MAX_RECORD)
		limits->max_record = value;
	else if (id == TR_CLI_MAX_DEPTH)
		limits->max_depth = (unsigned)value;
	else
		limits->max_ratio = (unsigned)value;
}

/* Handles a common option. Options that print something and end (--help) set stop. */
static void set_shared_option(struct tr_cli *cli, int id)
{
	struct tr_cli_private *p = cli->private;
	int choice;

	switch (id) {
	case TR_CLI_FORMAT:
		cli->config.format = tr_cli_format(cli, false);
		break;
	case TR_CLI_MEMBER:
		add_member(cli);
		break;
	case TR_CLI_OUTPUT:
		/* "-" is stdout for an output, as it is stdin for an input */
		cli->output_path = strcmp(cli->argument, "-") ? cli->argument : NULL;
		break;
	case TR_CLI_SETTING:
		add_setting(cli);
		break;
	case TR_CLI_STRICT:
		cli->strict = true;
		break;
	case TR_CLI_MAX_RECORD:
	case TR_CLI_MAX_DEPTH:
	case TR_CLI_MAX_RATIO:
		set_limit(cli, id);
		break;
	case TR_CLI_LINE_BUFFERED:
		p->line_buffered = true;
		break;
	case TR_CLI_PROGRESS:
		choice = tr_cli_choice(cli);
		if (choice >= 0)
			p->progress = (enum tr_cli_when)choice;
		break;
	case TR_CLI_QUIET:
		cli->quiet = true;
		break;
	case TR_CLI_VERBOSE:
		cli->verbose = true;
		break;
	case TR_CLI_REPORT:
		if (*cli->argument && strcmp(cli->argument, "-") != 0)
			p->log.path = cli->argument;
		else
			tr_cli_usage(cli, "--report needs a file, or a descriptor as /dev/fd/3");
		break;
	default:
		if (id == TR_CLI_HELP && cli->argument && tr_cli_choice(cli) < 0)
			break;
		if (id == TR_CLI_HELP)
			print_help(cli);
		else if (id == TR_CLI_VERSION)
			print_version(cli);
		else
			list_formats();
		cli->stop = true;
		break;
	}
}

/*
 * Appends the rows of a table to the list; table NULL: it has none. Returns the index after the
 * last one.
 */
static size_t add_rows(const struct tr_option **list, size_t at, const struct tr_option *table)
{
	for (; table && table->id; table++) {
		if (list)
			list[at] = table;
		at++;
	}
	return at;
}

/*
 * Collects the rows of a tool: first its own (*own of them), then the shared ones that apply to
 * it. list NULL: only counts them. Returns their number.
 */
static size_t all_rows(const struct tr_tool *tool, const struct tr_option **list, size_t *own)
{
	size_t count = *own = add_rows(list, 0, tool->options);

	if (tool->shared & TR_CLI_READS)
		count = add_rows(list, count, shared_input);
	if (tool->shared & TR_CLI_WRITES)
		count = add_rows(list, count, shared_output);
	return add_rows(list, count, shared_general);
}

enum { LONG_BASE = 256 }; /* getopt values: a row's index on top of all letters */

/*
 * Makes the tables of getopt_long from the rows. "+" ends the options at the first operand,
 * because the options after it belong to the command (tr-record); an arrow ("->") counts as the
 * option ">".
 */
bool tr_cli_rows_make(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	size_t count = all_rows(cli->tool, NULL, &p->rows.own), longs = 0, shorts = 0;

	p->rows.list = calloc(count + 1, sizeof *p->rows.list);
	p->long_options = calloc(count + 1, sizeof *p->long_options);
	/*
	 * each letter takes one byte, and one more for its argument; six are for "+", ":", the
	 * arrow and NUL
	 */
	p->short_options = calloc(2 * count + 6, 1);
	if (!p->rows.list || !p->long_options || !p->short_options)
		return false;
	p->rows.count = all_rows(cli->tool, p->rows.list, &p->rows.own);
	if (cli->tool->command)
		p->short_options[shorts++] = '+';
	p->short_options[shorts++] =
		':'; /* distinguishes a missing argument from an unknown option */
	for (const char *arrow = ">::"; cli->tool->arrow && *arrow; arrow++)
		p->short_options[shorts++] = *arrow;
	for (size_t i = 0; i < count; i++) {
		const struct tr_option *row = p->rows.list[i];

		if (row->name)
			p->long_options[longs++] =
				(struct option){ row->name,
						 !row->argument		 ? no_argument
						 : *row->argument == '[' ? optional_argument
									 : required_argument,
						 NULL, LONG_BASE + (int)i };
		if (row->letter)
			p->short_options[shorts++] = row->letter;
		if (row->letter && row->argument && *row->argument != '[')
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

/* The option here for an option of another program; NULL: unknown. */
static const char *hint_of(const struct tr_cli *cli, const char *word)
{
	const char *name = word + strspn(word, "-");
	size_t len = strcspn(name, "=");

	for (const char *const *hint = cli->tool->hints; hint && *hint; hint += 2)
		if (strlen(*hint) == len && memcmp(*hint, name, len) == 0)
			return hint[1];
	return NULL;
}

/*
 * Reports an option that does not exist. The hint of the tool's table comes first: it is the
 * answer for users of another program. A prefix of several options is ambiguous, as getopt_long
 * sees it.
 */
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

/*
 * Reports what getopt_long rejects: a missing argument, an argument that the option does not take,
 * or an unknown option. getopt's own messages are off, because they would not be in --report.
 */
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
		/* getopt would print messages of its own */
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
			optopt = value; /* after other letters it is not an arrow */
			value = '?';
		}
		if (value == '?' || value == ':') {
			bad_option(cli, value == ':');
			return 0;
		}
		p->row = row_of(p, value);
		cli->argument = optarg;
		/* ids of the tools are below those of the common options */
		if (p->row->id < TR_CLI_FORMAT)
			return p->row->id;
		set_shared_option(cli, p->row->id);
	}
	return 0;
}

/*
 * Files that options of several tools name: the programs of -O, for the computed fields function,
 * file and line of blocks, with the keys of all computed fields; and the phases of compilers.
 */

const struct tr_format_option tr_cli_computed_settings[] = {
	TR_COMPILER_OPTIONS(true, false),
	TR_CLI_PROGRAM_OPTIONS(true, false, "for function, file and line: "),
	{ 0 },
};

bool tr_cli_programs(struct tr_cli *cli, struct tr_programs *programs)
{
	struct tr_error err;

	if (!cli->stop && !tr_setting_programs(&cli->config.read.settings, programs, &err))
		tr_cli_abort(cli, &err);
	return programs->count || programs->path_count;
}

void tr_cli_programs_end(struct tr_cli *cli, struct tr_programs *programs)
{
	struct tr_error err;

	if (!cli->stop && tr_programs_remark(programs, &err))
		tr_cli_report(cli, &err);
	tr_programs_free(programs);
}

bool tr_cli_add_phases(struct tr_cli *cli, struct tr_phases *phases)
{
	struct tr_text path = tr_text_from(cli->argument);
	struct tr_error err;

	tr_cli_reads(cli, path);
	return tr_phases_add(phases, path, &err) || tr_cli_abort(cli, &err);
}

void tr_cli_note_phases(struct tr_cli *cli, const struct tr_phases *phases)
{
	size_t left = cli->stop ? 0 : tr_phases_left(phases);

	if (left)
		tr_cli_note(cli,
			    "--phases: %zu of %zu files match no process of the trace by process "
			    "id and time",
			    left, phases->count);
}
