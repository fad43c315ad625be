/* The options that all tools have, and what they do. */
#include "config.h"

#include "cli_private.h"

#include <stdlib.h>

const struct tr_option tr_cli_shared_input[] = {
	{ TR_CLI_FORMAT, 'f', "format", "NAME",
	  "read the input as NAME instead of finding out its format" },
	{ TR_CLI_MEMBER, 0, "member", "GLOB",
	  "of archives, read only the members that match (repeatable)" },
	{ TR_CLI_MAX_RECORD, 0, "max-record", "SIZE", "largest record to accept (default 1G)" },
	{ TR_CLI_MAX_DEPTH, 0, "max-depth", "N",
	  "deepest nesting of a value to accept (default and maximum 60)" },
	{ TR_CLI_MAX_RATIO, 0, "max-ratio", "N",
	  "largest ratio of decompressed to compressed bytes (default 1000)" },
	{ TR_CLI_PROGRESS, 0, "progress", "auto|always|never",
	  "report progress on stderr (auto: when only that is a terminal)" },
	{ 0 },
};

const struct tr_option tr_cli_shared_output[] = {
	{ TR_CLI_OUTPUT, 'o', "output", "FILE",
	  "write to FILE instead of stdout" },
	{ TR_CLI_LINE_BUFFERED, 0, "line-buffered", NULL,
	  "write every record at once (default on a terminal)" },
	{ 0 },
};

const struct tr_option tr_cli_shared_general[] = {
	{ TR_CLI_SETTING, 'O', "option", "KEY=VALUE",
	  "set an option of one format (repeatable; see below)" },
	{ TR_CLI_STRICT, 0, "strict", NULL,
	  "stop at the first trouble and leave no output file behind" },
	{ TR_CLI_QUIET, 'q', "quiet", NULL, "print no notes, only errors" },
	{ TR_CLI_VERBOSE, 0, "verbose", NULL,
	  "print details: what the target format has no place for" },
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

/* takes: gets what is accepted, where the value is not. */
static bool known_value(const struct tr_format_option *options, struct tr_text key,
			struct tr_text value, struct tr_buffer *takes)
{
	for (; options && options->key; options++) {
		if (!tr_text_is(key, options->key))
			continue;
		if (tr_setting_accepts(options, value))
			return true;
		/* several formats may have the key, and take the same */
		struct tr_text values = tr_text_from(options->values);
		if (takes->len && memmem(takes->data, takes->len, values.data, values.len))
			continue;
		if (takes->len)
			tr_buffer_put_literal(takes, " or ");
		tr_buffer_put_text(takes, values);
	}
	return false;
}

static bool known_setting(struct tr_cli *cli, const struct tr_setting *setting)
{
	struct tr_buffer takes = TR_BUFFER_INIT;
	bool good = known_value(cli->tool->settings, setting->key, setting->value, &takes);

	for (size_t i = 0; !good && tr_formats[i]; i++)
		good = known_value(tr_formats[i]->options, setting->key, setting->value, &takes);
	if (!good && !takes.len)
		tr_cli_usage(cli, "unknown key in -O '%s'", cli->argument);
	else if (!good)
		tr_cli_usage(cli, "-O %.*s takes %.*s, not '%s'", (int)setting->key.len,
			     setting->key.data, (int)takes.len, takes.data, setting->value.data);
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

void tr_cli_settings_idle(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->setting_count && i < TOLD_APART; i++) {
		struct tr_text key = p->settings[i].key;
		if (p->settings_taken >> i & 1 || has_option(cli->tool->settings, key, true, true))
			continue;
		tr_error_set(&p->err, TR_CAUSE_USAGE,
			     "-O %.*s: no format that is read or written here has it", (int)key.len,
			     key.data);
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

static void set_format(struct tr_cli *cli)
{
	const struct tr_format *format = tr_format_by_name(tr_text_from(cli->argument));

	if (!format)
		tr_cli_usage(cli, "unknown format '%s': see --list-formats", cli->argument);
	else if (!(format->flags & TR_FORMAT_READS))
		tr_cli_usage(cli, "format '%s' cannot be read", cli->argument);
	else
		cli->config.format = format;
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
		set_format(cli);
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
