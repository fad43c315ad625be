/* The options that all tools have, and what they do. */
#include "config.h"

#include "cli_private.h"

#include <stdlib.h>

const struct tr_option tr_cli_shared_input[] = {
	{ TR_CLI_FORMAT, 'f', "format", "NAME",
	  "read the input as NAME instead of detecting its format" },
	{ TR_CLI_MEMBER, 0, "member", "GLOB",
	  "of archives, read only the members that match (repeatable)" },
	{ TR_CLI_MAX_RECORD, 0, "max-record", "SIZE", "largest record to accept (default 256M)" },
	{ TR_CLI_MAX_DEPTH, 0, "max-depth", "N",
	  "deepest nesting of a value to accept (default and maximum 60)" },
	{ TR_CLI_MAX_RATIO, 0, "max-ratio", "N",
	  "largest ratio of decompressed to compressed bytes, and of environments as written "
	  "to records (default 1000)" },
	{ TR_CLI_PROGRESS, 0, "progress", "auto|always|never",
	  "report progress on stderr (auto: when only that is a terminal)" },
	{ 0 },
};

const struct tr_option tr_cli_shared_output[] = {
	{ TR_CLI_OUTPUT, 'o', "output", "FILE",
	  "write to FILE instead of stdout; .gz, .xz, .zst, .bz2 and .lz4 compress it" },
	{ TR_CLI_LINE_BUFFERED, 0, "line-buffered", NULL,
	  "write every record at once (default on a terminal)" },
	{ 0 },
};

const struct tr_option tr_cli_shared_general[] = {
	{ TR_CLI_SETTING, 'O', "option", "KEY=VALUE",
	  "set an option of one format (repeatable; see below)" },
	{ TR_CLI_STRICT, 0, "strict", NULL,
	  "stop at the first trouble and remove the output file" },
	{ TR_CLI_QUIET, 'q', "quiet", NULL, "print no notes, only errors" },
	{ TR_CLI_VERBOSE, 0, "verbose", NULL,
	  "print details: records that the target format cannot hold" },
	{ TR_CLI_REPORT, 0, "report", "FILE",
	  "write all messages, the result of each file, and a summary to FILE as JSON Lines" },
	{ TR_CLI_LIST_FORMATS, 0, "list-formats", NULL,
	  "list the formats: name, read, write, exactness, summary" },
	{ TR_CLI_HELP, 'h', "help", NULL, "print this help" },
	{ TR_CLI_VERSION, 'V', "version", NULL,
	  "print the version, and those of the libraries in use" },
	{ 0 },
};

/* One more element's worth of a list of `count`; NULL: memory is out, and said so. */
static void *grown(struct tr_cli *cli, void *list, size_t count, size_t size)
{
	void *larger = realloc(list, (count + 1) * size);

	if (!larger) {
		tr_error_memory(&cli->private->err);
		tr_cli_report(cli, &cli->private->err);
		cli->stop = true;
	}
	return larger;
}

/*
 * takes: gets what the owner of the options accepts, if that is not the value. *only: the
 * values that all owners so far accept, "" where they differ.
 */
static bool known_value(const char *owner, const struct tr_format_option *options,
			struct tr_text key, struct tr_text value, struct tr_buffer *takes,
			const char **only)
{
	for (; options && options->key; options++) {
		if (!tr_text_is(key, options->key))
			continue;
		if (tr_setting_accepts(options, value))
			return true;
		*only = !*only || strcmp(*only, options->values) == 0 ? options->values : "";
		tr_buffer_put_text(takes, takes->len ? TR_TEXT("; ") : TR_TEXT(": "));
		tr_buffer_put_text(takes, tr_text_from(owner));
		tr_buffer_put_literal(takes, " takes ");
		tr_buffer_put_text(takes, tr_text_from(options->values));
	}
	return false;
}

/* The values that format.h lists as names of files that are read. */
static bool names_input(const struct tr_format_option *options, struct tr_text key)
{
	static const char *const values[] = { "FILE", "CONFIG", "PROG" };

	for (; options && options->key; options++)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++)
			if (tr_text_is(key, options->key) &&
			    strcmp(options->values, values[i]) == 0)
				return true;
	return false;
}

static void note_input(struct tr_cli *cli, const struct tr_setting *setting)
{
	bool input = names_input(cli->tool->settings, setting->key);

	for (size_t i = 0; !input && tr_formats[i]; i++)
		input = names_input(tr_formats[i]->options, setting->key);
	if (input)
		tr_cli_reads(cli, setting->value);
}

static void offer_keys(struct tr_similar *similar, const struct tr_format_option *options)
{
	for (; options && options->key; options++)
		tr_similar_offer(similar, tr_text_from(options->key));
}

static void unknown_key(struct tr_cli *cli, struct tr_text key)
{
	struct tr_similar similar;

	tr_similar_begin(&similar, key);
	offer_keys(&similar, cli->tool->settings);
	for (size_t i = 0; tr_formats[i]; i++)
		offer_keys(&similar, tr_formats[i]->options);
	tr_cli_unknown(cli, "key in -O", tr_text_from(cli->argument), &similar, "");
}

static bool known_setting(struct tr_cli *cli, const struct tr_setting *setting)
{
	struct tr_buffer takes = TR_BUFFER_INIT;
	const char *only = NULL;
	bool good = known_value(cli->tool->name, cli->tool->settings, setting->key, setting->value,
				&takes, &only);

	for (size_t i = 0; !good && tr_formats[i]; i++)
		good = known_value(tr_formats[i]->name, tr_formats[i]->options, setting->key,
				   setting->value, &takes, &only);
	if (!good && !takes.len)
		unknown_key(cli, setting->key);
	else if (!good && *only)
		tr_cli_usage(cli, "-O %.*s takes %s, not '%s'", (int)setting->key.len,
			     setting->key.data, only, setting->value.data);
	else if (!good)
		tr_cli_usage(cli, "-O %s%.*s", cli->argument, (int)takes.len, takes.data);
	tr_buffer_free(&takes);
	return good;
}

/* What no format and not the tool itself would look at is a mistake worth stopping for. */
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
	if (!known_setting(cli, &setting))
		return;
	struct tr_setting *list = grown(cli, p->settings, settings->count, sizeof *list);
	if (!list)
		return;
	note_input(cli, &setting);
	list[settings->count++] = setting;
	settings->list = p->settings = list;
	p->setting_count = settings->count;
}

static bool has_option(const struct tr_format_option *options, struct tr_text key, bool reading,
		       bool writing)
{
	for (; options && options->key; options++)
		if (tr_text_is(key, options->key) &&
		    ((reading && options->reading) || (writing && options->writing)))
			return true;
	return false;
}

enum { TOLD_APART = 64 };

void tr_cli_settings_taken(struct tr_cli *cli, const struct tr_format *format, bool writing)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->setting_count && i < TOLD_APART; i++)
		if (has_option(format->options, p->settings[i].key, !writing, writing))
			p->settings_taken |= UINT64_C(1) << i;
}

/* The formats that have the key. */
static size_t list_owners(struct tr_text key, struct tr_buffer *to)
{
	size_t count = 0;

	for (size_t i = 0; tr_formats[i]; i++) {
		if (!has_option(tr_formats[i]->options, key, true, true))
			continue;
		if (count++)
			tr_buffer_put_literal(to, ", ");
		tr_buffer_put_text(to, tr_text_from(tr_formats[i]->name));
	}
	return count;
}

void tr_cli_settings_idle(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->setting_count && i < TOLD_APART; i++) {
		struct tr_text key = p->settings[i].key;
		if (p->settings_taken >> i & 1 || has_option(cli->tool->settings, key, true, true))
			continue;
		struct tr_buffer owners = TR_BUFFER_INIT;
		size_t count = list_owners(key, &owners);
		tr_error_set(&p->err, TR_CAUSE_USAGE, "-O %.*s ignored: only %.*s %s it",
			     (int)key.len, key.data, (int)owners.len, owners.data,
			     count == 1 ? "has" : "have");
		tr_buffer_free(&owners);
		tr_error_is_note(&p->err);
		tr_cli_report(cli, &p->err);
	}
}

static void add_member(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	const char **list = grown(cli, p->members, cli->config.member_count, sizeof *list);

	if (!list)
		return;
	list[cli->config.member_count++] = cli->argument;
	cli->config.members = p->members = list;
}

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

void tr_cli_shared_option(struct tr_cli *cli, int id)
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
		if (id == TR_CLI_HELP)
			tr_cli_help(cli);
		else if (id == TR_CLI_VERSION)
			tr_cli_version(cli);
		else
			tr_cli_list_formats();
		cli->stop = true;
		break;
	}
}
