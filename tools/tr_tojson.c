/* SPDX-License-Identifier: MIT */
/* tr-tojson: JSON views of trace files and of the record stream. */

#include "cli.h"
#include "record/vocabulary.h"
#include "view/chrome.h"
#include "view/json_records.h"

enum { AS = 1, TYPED, PRETTY, COMPUTED, PHASES };

static const struct tr_option options[] = {
	{ AS, 0, "as", "records|array|chrome|klocwork|compdb|buildspec|bear|gcovjson",
	  "records (default): one object per line; array: one array of these objects; chrome: a "
	  "timeline for Perfetto and chrome://tracing; others: a trace in this format, like "
	  "tr-repack -t" },
	{ TYPED, 0, "typed", NULL,
	  "write one array per line, which tr-parse -f json reads back as the same stream" },
	{ PRETTY, 0, "pretty", NULL, "indent the output of records and array" },
	{ COMPUTED, 0, "computed", NULL,
	  "add computed fields (see tr-filter(1)): frame, end, duration, source, output" },
	{ PHASES, 0, "phases", "FILE",
	  "with --as=chrome: show the compiler phases in a file that Clang wrote with "
	  "-ftime-trace (repeatable)" },
	{ 0 },
};

static const char *const examples[] = {
	"the compiler calls of a build, one argument per line",
	"tr-filter 'exec and basename(name) == \"gcc\"' build.json | tr-tojson | jq -r '.argv[]?'",
	"the records as one array",
	"tr-tojson --as=array --pretty build.json > records.json",
	"a timeline for ui.perfetto.dev",
	"tr-tojson --as=chrome -o build-timeline.json build.json",
	"change a stream with jq without losing anything",
	"tr-tojson --typed build.json | jq -c 'select(.[4] != \"/bin/sh\")' | tr-parse -f json",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-tojson",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Writes the records of trace files or of a stream as JSON.",
	.shared = TR_CLI_ALL | TR_CLI_FORMATS,
	.options = options,
	.examples = examples,
};

/* The output: a view of the records, or a trace by the writer of format. */
struct form {
	struct tr_json_view_config view;
	const struct tr_format *format;
	bool as, typed, chrome;
	struct tr_phases phases; /* for chrome */
};

/* Handles --as. False: a usage error is printed. */
static bool choose(struct tr_cli *cli, struct form *form, const char *name)
{
	struct tr_text text = tr_text_from(name);

	form->as = true;
	form->view.array = tr_text_is(text, "array");
	form->chrome = tr_text_is(text, "chrome");
	form->format = NULL;
	if (form->view.array || form->chrome || tr_text_is(text, "records"))
		return true;
	const struct tr_format *format = tr_format_by_name(text);
	if (!format || !(format->flags & TR_FORMAT_JSON))
		return tr_cli_usage(cli, "--as takes %s, not '%s'", options[0].argument, name);
	if (!(format->flags & TR_FORMAT_WRITES))
		return tr_cli_usage(cli, "format %s cannot be written", name);
	form->format = format;
	return true;
}

/* Handles the tool's own options, and reports those that exclude each other. */
static void read_options(struct tr_cli *cli, struct form *form)
{
	for (int id; (id = tr_cli_option(cli)) != 0;) {
		if (id == AS && !choose(cli, form, cli->argument))
			return;
		if (id == PHASES && !tr_cli_add_phases(cli, &form->phases))
			return;
		form->typed |= id == TYPED;
		form->view.pretty |= id == PRETTY;
		form->view.computed |= id == COMPUTED;
	}
	if (cli->stop)
		return;
	if (form->typed && form->as)
		tr_cli_usage(cli, "--typed cannot be combined with --as");
	else if (form->view.pretty && (form->typed || form->format || form->chrome))
		tr_cli_usage(cli, "--pretty needs --as=records or --as=array");
	else if (form->view.computed && (form->typed || form->format || form->chrome))
		tr_cli_usage(cli, "--computed needs --as=records or --as=array");
	else if (form->phases.count && !form->chrome)
		tr_cli_usage(cli, "--phases needs --as=chrome");
	if (form->typed)
		form->format = &tr_format_json;
}

/* Writes the records as objects. A record with an error is reported, and the others follow. */
static void write_view(struct tr_cli *cli, const struct tr_json_view_config *config)
{
	struct tr_json_view *view = tr_json_view_new(config, cli->out);
	struct tr_record *record;
	struct tr_error err;

	if (!view) {
		tr_cli_out_of_memory(cli);
		return;
	}
	while (tr_cli_next(cli, &record)) {
		enum tr_status status = tr_json_view_put(view, record, &err);
		if (status != TR_OK)
			tr_cli_report_record(cli, record, &err, false);
		if (status == TR_FATAL || cli->out->failed)
			break;
	}
	tr_json_view_finish(view);
	tr_json_view_free(view);
}

/* The timeline shows every kind but comm, which names a process, and those that describe others. */
static void look_at_kind(struct tr_unsupported_kinds *unsupported, struct tr_text kind)
{
	/* a name alone is not drawn */
	if (tr_text_is(kind, "comm"))
		tr_unsupported_add(unsupported, kind);
	else
		unsupported->supported |= tr_context_kind(kind) < 0;
}

/*
 * Writes the timeline. The view gets a NULL at the end, when the ends of all processes are known.
 */
static void write_chrome(struct tr_cli *cli, struct tr_phases *phases)
{
	struct tr_chrome *chrome =
		tr_chrome_new(cli->config.read.limits.max_spool, tr_format_call_kinds, cli->out);
	struct tr_unsupported_kinds unsupported = { .count = 0 };
	struct tr_record *record = NULL;
	struct tr_error err;

	if (!chrome) {
		tr_cli_out_of_memory(cli);
		return;
	}
	tr_chrome_set_phases(chrome, phases);
	do {
		bool more = tr_cli_next(cli, &record);
		if (cli->stop)
			break;
		record = more ? record : NULL;
		/* after the first record that is shown, no kind matters any more */
		if (more && record->type == TR_RECORD && !unsupported.supported)
			look_at_kind(&unsupported, record->kind);
		if (!more && tr_unsupported_all(&unsupported)) {
			tr_cli_nothing_shown(cli, &unsupported, "events of a timeline", NULL);
			break;
		}
		enum tr_status status = tr_chrome_put(chrome, record, &err);
		if (status == TR_OK)
			continue;
		tr_cli_abort(cli, &err);
		break;
	} while (record && !cli->out->failed);
	if (unsupported.supported && tr_chrome_is_empty(chrome))
		tr_cli_note(cli, "no processes and no other events to show");
	tr_cli_note_phases(cli, phases);
	tr_chrome_free(chrome);
}

/* Writes a trace in a format that is JSON, with the same bytes as tr-repack. */
static void write_format(struct tr_cli *cli, const struct tr_format *format)
{
	struct tr_writer *writer = NULL;
	struct tr_trace_place *place;
	struct tr_record *record;
	bool cut_line = false;
	/* a copy of the bytes would ignore options of the format, and --typed needs records */
	bool by_records = cli->config.read.settings.count > 0 || (format->flags & TR_FORMAT_STREAM);

	while (tr_cli_step(cli, &place)) {
		/* a file that has the format already is copied, as tr-repack does */
		if (place->format == format && !by_records && tr_cli_stands_alone(cli, place)) {
			if (writer)
				tr_cli_finish(cli, writer);
			writer = NULL;
			if (cut_line)
				tr_output_put_byte(cli->out, '\n');
			tr_cli_copy_bytes(cli, place, &cut_line);
			continue;
		}
		if (cut_line)
			tr_output_put_byte(cli->out, '\n');
		cut_line = false;
		while (tr_cli_next_here(cli, &record)) {
			if (!writer)
				writer = tr_cli_writer(cli, format);
			if (!writer || !tr_cli_put(cli, writer, record))
				break;
		}
	}
	/* empty input produces the empty file of the format, such as "[]" */
	if (!writer && tr_output_count(cli->out) == 0 && !tr_cli_read_nothing(cli))
		writer = tr_cli_writer(cli, format);
	if (writer)
		tr_cli_finish(cli, writer);
}

int main(int argc, char **argv)
{
	struct tr_cli cli;
	struct form form = { .view.call_kinds = tr_format_call_kinds };

	tr_cli_begin(&cli, &tool, argc, argv);
	read_options(&cli, &form);
	/* only the typed form is a stream, with trailers */
	cli.config.reports_lost = form.typed;
	if (!cli.stop && tr_cli_open(&cli) && tr_cli_output(&cli, false)) {
		if (form.format)
			write_format(&cli, form.format);
		else if (form.chrome)
			write_chrome(&cli, &form.phases);
		else
			write_view(&cli, &form.view);
	}
	tr_phases_free(&form.phases);
	return tr_cli_end(&cli);
}
