/* SPDX-License-Identifier: MIT */
/* tr-tohtml: a trace as a page for a browser. */

#include "cli.h"
#include "core/buffer.h"
#include "view/html.h"
#include "view/source_text.h"

enum { TITLE = 1, LIMIT, CORES, CRITICAL, PHASES };

static const struct tr_option options[] = {
	{ TITLE, 0, "title", "TEXT", "title of the page (default: the names of the files)" },
	{ CORES, 0, "cores", "N", "show how many of N cores were busy (default: not shown)" },
	{ CRITICAL, 0, "critical", NULL,
	  "also show the critical path of a trace without file calls" },
	{ PHASES, 0, "phases", "FILE",
	  "show the compiler phases in a file that Clang wrote with -ftime-trace (repeatable)" },
	{ LIMIT, 0, "limit", "N", "show at most N processes or calls (default: 1000000)" },
	{ 0 },
};

static const char *const examples[] = {
	"the timeline of a build",
	"tr-tohtml -o build.html build.json",
	"the same with idle cores, for a machine with 8",
	"tr-tohtml --cores=8 -o build.html build.nfsdb",
	"the first hundred frames of a graphics trace",
	"tr-filter --frames=0-99 gears.trace | tr-tohtml --title=gears -o gears.html",
	NULL,
};

static const struct tr_format_option settings[] = {
	TR_COMPILER_OPTIONS(true, false),
	TR_CLI_PROGRAM_OPTIONS(true, false, "for source files: "),
	{ "branches", "yes|no", true, false,
	  "source files: list the outcomes of branches after their line (default no)" },
	{ "sources", "DIR", true, false, "source files: look for them below this directory" },
	{ 0 },
};

static const struct tr_tool tool = {
	.name = "tr-tohtml",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Writes a page for a browser: a timeline of processes or API calls to zoom "
		   "and search, or source files with coverage. The page is one file and loads "
		   "nothing from elsewhere.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = settings,
	.examples = examples,
};

/* The state of the tool; unsupported counts the records that the page does not show. */
struct tohtml {
	struct tr_cli cli;
	struct tr_html_config config;
	const char *title;
	struct tr_phases phases;
	struct tr_buffer names; /* of the operands */
	struct tr_unsupported_kinds unsupported;
	struct tr_text page;		/* title of a page of source files */
	struct tr_source_text *sources; /* NULL: the page has processes or calls */
};

/* The kinds of records that the page shows. */
static const char *const kinds[] = { "exec", "fork", "exit", "call", "enter", "leave", NULL };

/*
 * Handles the tool's own options. --cores is bounded so that a product with times cannot overflow.
 */
static void read_options(struct tohtml *t)
{
	uint64_t number;

	for (int id; (id = tr_cli_option(&t->cli)) != 0;) {
		if (id == TITLE)
			t->title = t->cli.argument;
		else if (id == PHASES && !tr_cli_add_phases(&t->cli, &t->phases))
			return;
		else if (id == CRITICAL)
			t->config.critical = true;
		else if (id == CORES && tr_cli_number(&t->cli, false, 1 << 20, &number))
			t->config.cores = (size_t)number;
		else if (id == LIMIT && tr_cli_number(&t->cli, false, UINT32_MAX - 1, &number))
			t->config.limit = (size_t)number;
	}
	t->config.phases = t->phases.count ? &t->phases : NULL;
}

/* The title: --title, or the names of the operands, or "trace" for stdin. */
static struct tr_text title_of(struct tohtml *t)
{
	if (t->title)
		return tr_text_from(t->title);
	for (size_t i = 0; i < t->cli.operand_count; i++) {
		if (i)
			tr_buffer_put_literal(&t->names, ", ");
		tr_buffer_put_text(&t->names, tr_text_from(t->cli.operands[i]));
	}
	return t->names.len ? tr_buffer_text(&t->names) : TR_TEXT("trace");
}

/* Reports a source that cannot be read. */
static void report(void *context, const struct tr_error *err)
{
	struct tohtml *t = context;

	tr_cli_report(&t->cli, err);
}

/*
 * Makes the view of source files if the trace has their lines: it begins with records that state
 * them, or the programs of its blocks are known. False: a stop.
 */
static bool begin_sources(struct tohtml *t, const struct tr_record *first)
{
	const struct tr_settings *given = &t->cli.config.read.settings;
	bool has_lines =
		tr_text_starts(first->kind, TR_TEXT("src")) || tr_text_is(first->kind, "source");

	if (!has_lines && !tr_setting_get(given, "exe", NULL).data &&
	    !tr_setting_get(given, "path", NULL).data)
		return true;
	struct tr_source_text_config config = {
		.page = &t->page,
		.branches = tr_text_is(tr_setting_get(given, "branches", "no"), "yes"),
		.directory = tr_setting_get(given, "sources", NULL).data,
		.report = report,
		.context = t,
	};
	t->page = t->config.title;
	t->sources = tr_source_text_new(&config, t->cli.out);
	if (!t->sources)
		return tr_cli_out_of_memory(&t->cli);
	tr_cli_programs(&t->cli, tr_source_text_programs(t->sources));
	return !t->cli.stop;
}

/* Passes this line, all further ones and the end to the view. */
static void put_sources(struct tohtml *t, struct tr_record *record)
{
	struct tr_error err;
	bool more = true;

	while (more) {
		enum tr_status status = tr_source_text_put(t->sources, more ? record : NULL, &err);
		if (status == TR_WARN)
			tr_cli_report_record(&t->cli, record, &err, false);
		else if (status != TR_OK)
			tr_cli_abort(&t->cli, &err);
		more = !t->cli.stop && tr_cli_next(&t->cli, &record);
	}
	if (!t->cli.stop && tr_source_text_put(t->sources, NULL, &err) != TR_OK)
		tr_cli_abort(&t->cli, &err);
	if (!t->cli.stop && !tr_source_text_any(t->sources))
		tr_cli_note(&t->cli, "no lines of source files to show");
}

/* Passes every line and the end to the view. An error that ends this early is reported. */
static void put_all(struct tohtml *t, struct tr_html *html)
{
	struct tr_record *record;
	struct tr_error err;
	bool more, known = false;

	do {
		more = tr_cli_next(&t->cli, &record);
		if (t->cli.stop)
			return;
		if (more && record->type == TR_RECORD && !known) {
			known = true;
			if (!begin_sources(t, record))
				return;
			if (t->sources) {
				put_sources(t, record);
				return;
			}
		}
		if (more && record->type == TR_RECORD && !t->unsupported.supported)
			tr_unsupported_look(&t->unsupported, kinds, record->kind);
		if (!more && tr_unsupported_all(&t->unsupported)) {
			tr_cli_nothing_shown(&t->cli, &t->unsupported, "processes or API calls",
					     NULL);
			return;
		}
		if (tr_html_put(html, more ? record : NULL, &err) != TR_OK) {
			tr_cli_abort(&t->cli, &err);
			return;
		}
	} while (more);
	if (tr_html_left(html))
		tr_cli_note(&t->cli, "%zu are on the page, %llu more are not: see --limit",
			    tr_html_spans(html), (unsigned long long)tr_html_left(html));
	else if (!tr_html_spans(html))
		tr_cli_note(&t->cli, "no processes and no calls to show");
	if (tr_html_spans(html) && t->config.cores && !tr_html_has_cores(html))
		tr_cli_note(&t->cli, "--cores needs processes with times");
	if (tr_html_spans(html) && t->config.critical && !tr_html_has_path(html))
		tr_cli_note(&t->cli, "the trace does not show when processes end, so it has no "
				     "critical path");
	tr_cli_note_phases(&t->cli, &t->phases);
}

int main(int argc, char **argv)
{
	struct tohtml t = { .config = { .limit = 1000000, .call_kinds = tr_format_call_kinds } };

	tr_cli_begin(&t.cli, &tool, argc, argv);
	read_options(&t);
	t.config.compilers = tr_cli_compilers(&t.cli);
	if (tr_cli_open(&t.cli) && tr_cli_output(&t.cli, false)) {
		t.config.title = title_of(&t);
		t.config.max_spool = t.cli.config.read.limits.max_spool;
		struct tr_html *html = t.names.failed ? NULL : tr_html_new(&t.config, t.cli.out);
		if (html)
			put_all(&t, html);
		else
			tr_cli_out_of_memory(&t.cli);
		tr_html_free(html);
	}
	tr_source_text_free(t.sources);
	tr_buffer_free(&t.names);
	tr_phases_free(&t.phases);
	return tr_cli_end(&t.cli);
}
