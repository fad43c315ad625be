/* tr-totext: traces as people read them. */
#include "config.h"

#include "tr_totext.h"

#include <stdio.h>

enum { STYLE = 1 };

static const struct tr_option options[] = {
	{ STYLE, 0, "style",
	  "apitrace|gnatcov|gnatcov-raw|gnatcov-base|gnatcov-src|tree|dot|script",
	  "how it looks (default: as the input's format has it); apitrace: what apitrace dump -v "
	  "prints, with threads; gnatcov, -raw, -base, -src: what gnatcov dump-trace, "
	  "dump-trace-raw, dump-trace-base, dump-src-trace print; tree: processes, "
	  "how long they took and how they ended; dot: the same for Graphviz; "
	  "script: a shell script that runs the commands again" },
	{ 0 },
};

static const char *const examples[] = {
	"the calls of a graphics trace",
	"tr-totext glxgears.trace | less",
	"those of two threads, frame by frame, without numbers, for diff",
	"tr-filter --calls=0-500 glxgears.trace | tr-totext -O call-nos=no -O thread-ids=no",
	"the shaders that a program compiles, with every byte as it is",
	"tr-totext -O grep=ShaderSource -O octal=fixed glxgears.trace",
	"what a build ran, and what ran it",
	"tr-totext build.json | less",
	"the same as a picture",
	"tr-totext --style=dot build.json | dot -T svg -o build.svg",
	"the compiler calls of a build, to be run again",
	"tr-filter --rebase 'exec and basename(name) == \"gcc\"' build.json | "
	"tr-totext --style=script -o again.sh",
	"the code that any of these runs executed",
	"tr-totext --style=gnatcov-base run1.trace run2.trace",
	NULL,
};

/* What apitrace dump has as options. */
static const char *const hints[] = {
	"v",	    "-O verbose=yes",	    "verbose", "-O verbose=yes",
	"calls",    "tr-filter --calls",    "frames",  "tr-filter --frames",
	"grep",	    "-O grep=REGEX",	    "color",   "-O color=yes",
	"call-nos", "-O call-nos=yes",	    "thread-ids", "-O thread-ids=yes",
	"blobs",    "-O blobs=DIR",	    "multiline",  "-O multiline=yes",
	"arg-names", "-O arg-names=yes",    NULL,
};

static const struct tr_tool tool = {
	.name = "tr-totext",
	.usage = "[OPTION...] [--style=STYLE] [FILE...]",
	.summary = "Shows trace files, or a stream of records, as text for people.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = tr_totext_settings,
	.hints = hints,
	.examples = examples,
};

/* In the order of the option's choices; the first of a format is its default. */
static const struct tr_style *const styles[] = {
	&tr_style_apitrace,    &tr_style_gnatcov, &tr_style_gnatcov_raw, &tr_style_gnatcov_base,
	&tr_style_gnatcov_src, &tr_style_tree,	  &tr_style_dot,	 &tr_style_script,
};
enum { STYLES = sizeof styles / sizeof *styles };

struct totext {
	struct tr_cli cli;
	const struct tr_style *chosen; /* --style */
	const struct tr_style *style;  /* of this segment; NULL: not known yet, or there is none */
	bool known;		       /* style says so, even where there is none */
	void *views[STYLES];
	void *view;		     /* of style; NULL: not made yet */
	struct tr_call_taker *taker; /* of view; NULL: it has none */
	bool any;		     /* a record came that a view was asked to show */
	struct tr_unsupported_kinds unsupported;
	const struct tr_style *missed; /* that was to show the first of these */

	/* a segment without a style */
	char format[80]; /* its name; empty: the stream does not state one */
	struct tr_unsupported_kinds unstyled;
};

static const struct tr_style *style_of_format(struct tr_text format)
{
	for (size_t i = 0; i < STYLES; i++) {
		for (const char *const *name = styles[i]->formats; *name; name++) {
			if (tr_text_is(format, *name))
				return styles[i];
		}
	}
	return NULL;
}

/* A segment without header: its first line has to tell. */
static const struct tr_style *style_of_line(const struct tr_record *record)
{
	static const struct {
		const char *kind;
		const struct tr_style *style;
	} kinds[] = {
		{ "call", &tr_style_apitrace },	   { "enter", &tr_style_apitrace },
		{ "leave", &tr_style_apitrace },   { "fn", &tr_style_apitrace },
		{ "enum", &tr_style_apitrace },	   { "mask", &tr_style_apitrace },
		{ "struct", &tr_style_apitrace },  { "frame", &tr_style_apitrace },
		{ "section", &tr_style_gnatcov },  { "block", &tr_style_gnatcov },
		{ "meta", &tr_style_tree },	   { "env", &tr_style_tree },
		{ "exec", &tr_style_tree },	   { "fork", &tr_style_tree },
		{ "exit", &tr_style_tree },	   { "load", &tr_style_gnatcov },
		{ "unit", &tr_style_gnatcov_src },
	};

	/* execution traces have information, too, but a section stands before it */
	if (tr_text_is(record->kind, "info") && record->name.type == TR_CELL_TEXT)
		return tr_text_is(record->name.text, "PROGRAM_NAME") ? &tr_style_gnatcov_src
								     : &tr_style_gnatcov;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (tr_text_is(record->kind, kinds[i].kind))
			return kinds[i].style;
	}
	return NULL;
}

/* Finds the style of a segment out, from the line that comes first. */
static void find_style(struct totext *t, struct tr_record *record)
{
	struct tr_text format = { "", 0 };

	if (record->type == TR_COMMENT || record->type == TR_TRAILER)
		return;
	t->known = true;
	if (record->type == TR_HEADER) {
		struct tr_field *field = tr_record_field(record, "format");
		const struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;
		t->known = value && value->type == TR_SYMBOL && value->as.symbol->count == 1;
		if (!t->known)
			return; /* its records will tell */
		format = value->as.symbol->names[0].text;
		t->style = style_of_format(format);
	} else {
		t->style = style_of_line(record);
	}
	snprintf(t->format, sizeof t->format, "%.*s", (int)format.len, format.data);
}

/* The view of a style; NULL: it is reported. */
static void *view_of(struct totext *t, const struct tr_style *style)
{
	size_t i = 0;

	while (styles[i] != style)
		i++;
	if (!t->views[i])
		t->views[i] = style->create(&t->cli);
	return t->views[i];
}

static void trouble(struct totext *t, enum tr_status status, const struct tr_record *record,
		    const struct tr_error *err)
{
	if (status == TR_WARN && record)
		tr_cli_report_record(&t->cli, record, err, false);
	else
		tr_cli_report(&t->cli, err);
	if (status == TR_FATAL)
		t->cli.stop = true;
}

/* A line to the style of its segment. */
static void put(struct totext *t, struct tr_record *record)
{
	struct tr_error err;

	if (!t->view) {
		t->view = view_of(t, t->style);
		t->taker = NULL;
	}
	t->any = t->any || record->type == TR_RECORD;
	if (record->type == TR_RECORD && !t->unsupported.supported &&
	    !tr_unsupported_look(&t->unsupported, t->style->kinds, record->kind) && !t->missed)
		t->missed = t->style;
	/* what the view takes by itself does not come here */
	if (!t->taker && t->unsupported.supported && t->view && t->style->taker)
		t->taker = t->style->taker(t->view);
	enum tr_status status = t->view ? t->style->put(t->view, record, &err) : TR_OK;
	if (status != TR_OK)
		trouble(t, status, record, &err);
}

/* The first style that shows what came; NULL: none does. */
static const char *other_style(const struct tr_unsupported_kinds *kinds)
{
	struct tr_unsupported_kinds ignored = { 0 };

	for (size_t i = 0; i < STYLES; i++) {
		for (size_t k = 0; k < kinds->count; k++) {
			if (tr_unsupported_look(&ignored, styles[i]->kinds,
						tr_text_from(kinds->kinds[k].kind)))
				return styles[i]->name;
		}
	}
	return NULL;
}

/* Reports the segment that has ended, where it has no style; its records name one that fits. */
static void end_segment(struct totext *t)
{
	const char *style = other_style(&t->unstyled);
	char list[TR_ERROR_TEXT / 2];
	struct tr_error err;

	if (!t->chosen && t->known && !t->style) {
		tr_unsupported_list(&t->unstyled, list, sizeof list);
		tr_error_set(&err, TR_CAUSE_USAGE, "%s%s has no style of its own%s%s; %s%s",
			     *t->format ? "format " : "a stream without a header",
			     t->format, *list ? ": " : "", list,
			     style ? "try --style=" : "choose one with --style (see --help)",
			     style ? style : "");
		tr_cli_report(&t->cli, &err);
	}
	t->known = false;
	t->unstyled = (struct tr_unsupported_kinds){ 0 };
}

static void show(struct totext *t)
{
	struct tr_record *record;
	struct tr_error err;

	while (tr_cli_next(&t->cli, &record)) {
		if (record->type == TR_HEADER)
			end_segment(t);
		if (!t->chosen && !t->known) {
			t->style = NULL;
			t->view = NULL;
			t->taker = NULL;
			find_style(t, record);
		}
		if (t->style)
			put(t, record);
		else if (record->type == TR_RECORD)
			tr_unsupported_add(&t->unstyled, record->kind);
		if (record->type == TR_TRAILER)
			end_segment(t);
	}
	end_segment(t);
	if (!t->cli.stop && tr_unsupported_all(&t->unsupported)) {
		tr_cli_nothing_shown(&t->cli, &t->unsupported, t->missed->shows, other_style(&t->unsupported));
		return;
	}
	for (size_t i = 0; i < STYLES && !t->cli.stop; i++) {
		enum tr_status status =
			t->views[i] ? styles[i]->put(t->views[i], NULL, &err) : TR_OK;
		if (status != TR_OK)
			trouble(t, status, NULL, &err);
	}
	/* who asks for names may mean to get none; who took the wrong style does not */
	bool wrong = t->chosen && t->any &&
		     !tr_setting_get(&t->cli.config.read.settings, "grep", NULL).data;
	if (wrong && !t->cli.stop && tr_output_count(t->cli.out) == 0)
		tr_cli_note(&t->cli, "--style=%s shows nothing of this input", t->chosen->name);
}

static void choose(struct totext *t)
{
	int choice = tr_cli_choice(&t->cli);

	if (choice >= 0)
		t->style = t->chosen = styles[choice];
}

int main(int argc, char **argv)
{
	struct totext t = { .style = NULL };

	tr_cli_begin(&t.cli, &tool, argc, argv);
	while (tr_cli_option(&t.cli) != 0)
		choose(&t);
	t.cli.config.read.taker = &t.taker;
	if (tr_cli_open(&t.cli) && tr_cli_output(&t.cli, false))
		show(&t);
	for (size_t i = 0; i < STYLES; i++) {
		if (t.views[i])
			styles[i]->free(t.views[i]);
	}
	return tr_cli_end(&t.cli);
}
