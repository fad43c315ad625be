/* SPDX-License-Identifier: MIT */
/* tr-totext: traces as people read them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "expr/program.h"
#include "view/asm_text.h"
#include "view/dot_text.h"
#include "view/script_text.h"
#include "view/source_text.h"
#include "view/tree_text.h"

enum { STYLE = 1, MAX_STYLES = 24, MAX_OPTIONS = 48 };

/*
 * The styles of the tool itself, which show processes of several formats; all other styles belong
 * to one format and are found in its struct tr_format.
 */

/* Sets width to -O width if that is given. False: it is not a number; err is filled. */
static bool read_width(const struct tr_text_config *config, size_t *width, struct tr_error *err)
{
	struct tr_text given = tr_setting_get(&config->settings, "width", NULL);
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = given };
	uint64_t number;

	if (!given.data)
		return true;
	if (!tr_cell_number(&cell, &number) || number > INT16_MAX) {
		tr_error_set(err, TR_CAUSE_USAGE, "width is a number up to %d", INT16_MAX);
		return false;
	}
	*width = (size_t)number;
	return true;
}

/* Makes the view of the style "tree". NULL: err is filled. */
static void *create_tree(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	struct tr_text lines = tr_setting_get(&config->settings, "lines", "utf8");
	struct tr_tree_text_config tree = { .width = config->width,
					    .ascii = tr_text_is(lines, "ascii"),
					    .max_spool = config->limits.max_spool };

	if (!read_width(config, &tree.width, err))
		return NULL;
	tr_error_memory(err);
	return tr_tree_text_new(&tree, out);
}

/* Makes the view of the style "source". NULL: err is filled. */
static void *create_source(const struct tr_text_config *config, struct tr_output *out,
			   struct tr_error *err)
{
	struct tr_source_text_config source = {
		.branches = tr_text_is(tr_setting_get(&config->settings, "branches", "no"), "yes"),
		.directory = tr_setting_get(&config->settings, "sources", NULL).data,
		.report = config->report,
		.context = config->context,
	};
	struct tr_source_text *view = tr_source_text_new(&source, out);

	tr_error_memory(err);
	if (view && tr_setting_programs(&config->settings, tr_source_text_programs(view), err))
		return view;
	tr_source_text_free(view);
	return NULL;
}

/* Makes the view of the style "asm", in the same way. */
static void *create_asm(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err)
{
	struct tr_asm_text *view =
		tr_asm_text_new(tr_setting_get(&config->settings, "objdump", "objdump").data, out);

	tr_error_memory(err);
	if (view && tr_setting_programs(&config->settings, tr_asm_text_programs(view), err))
		return view;
	tr_asm_text_free(view);
	return NULL;
}

/* Wraps the functions of a view for a style, which does not know the type of the view. */
#define VIEW(name) \
	static enum tr_status put_##name(void *view, struct tr_record *record, \
					 struct tr_error *err) \
	{ \
		return tr_##name##_text_put(view, record, err); \
	} \
	static void free_##name(void *view) \
	{ \
		tr_##name##_text_free(view); \
	}
VIEW(tree)
VIEW(dot)
VIEW(script)
VIEW(source)
VIEW(asm)
#undef VIEW

/* True if a stream without a header shows processes, judged by its first line. */
static bool begins_tree(const struct tr_record *first)
{
	static const char *const kinds[] = { "meta", "env", "exec", "fork", "exit" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(first->kind, kinds[i]))
			return true;
	return false;
}

/* True if a stream without a header has lines of source files. */
static bool begins_source(const struct tr_record *first)
{
	return tr_text_starts(first->kind, TR_TEXT("src")) || tr_text_is(first->kind, "source");
}

/* Makes the view of the style "dot". The default width keeps a box of the picture readable. */
static void *create_dot(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err)
{
	struct tr_dot_text_config dot = { .width = 50, .max_spool = config->limits.max_spool };

	if (!read_width(config, &dot.width, err))
		return NULL;
	tr_error_memory(err);
	return tr_dot_text_new(&dot, out);
}

/* Makes the view of the style "script". */
static void *create_script(const struct tr_text_config *config, struct tr_output *out,
			   struct tr_error *err)
{
	struct tr_text nested = tr_setting_get(&config->settings, "nested", "no");
	struct tr_script_text_config script = { .nested = tr_text_is(nested, "yes"),
						.max_spool = config->limits.max_spool,
						.max_ratio = config->limits.max_ratio };

	tr_error_memory(err);
	return tr_script_text_new(&script, out);
}

static const char *const processes[] = { "exec", "fork", "exit", NULL };
static const char *const commands[] = { "exec", NULL };
static const char *const blocks[] = { "block", NULL };
static const char *const covered[] = { "block", "srcline", "srcfunction", "srcbranch", NULL };

static const struct tr_format_option tree_options[] = {
	{ "lines", "utf8|ascii", false, true, "tree: characters for its lines (default utf8)" },
	{ "width", "N", false, true,
	  "tree: cut lines to N characters, 0: never (default: width of the terminal); "
	  "dot: cut commands (default 50)" },
	{ 0 },
};

static const struct tr_format_option script_options[] = {
	{ "nested", "yes|no", false, true,
	  "script: include commands that other commands of the script start (default no)" },
	{ 0 },
};

static const struct tr_format_option source_options[] = {
	TR_CLI_PROGRAM_OPTIONS(false, true, "source, asm: "),
	{ "branches", "yes|no", false, true,
	  "source: list the outcomes of branches after their line (default no)" },
	{ "sources", "DIR", false, true, "source: look for the sources below this directory" },
	{ 0 },
};

static const struct tr_format_option asm_options[] = {
	{ "objdump", "PROG", false, true, "asm: the disassembler (default objdump)" },
	{ 0 },
};

static const struct tr_text_style neutral_styles[] = {
	{
		.name = "tree",
		.help = "processes with their times and exit statuses",
		.shows = "processes",
		.kinds = processes,
		.options = tree_options,
		.begins = begins_tree,
		.create = create_tree,
		.put = put_tree,
		.free = free_tree,
	},
	{
		.name = "dot",
		.help = "the process tree for Graphviz",
		.shows = "processes",
		.kinds = processes,
		.create = create_dot,
		.put = put_dot,
		.free = free_dot,
	},
	{
		.name = "script",
		.help = "a shell script that runs the commands again",
		.shows = "commands",
		.kinds = commands,
		.options = script_options,
		.create = create_script,
		.put = put_script,
		.free = free_script,
	},
	{
		.name = "source",
		.help = "source files with an execution count for each line",
		.shows = "coverage by source line",
		.kinds = covered,
		.options = source_options,
		.begins = begins_source,
		.create = create_source,
		.put = put_source,
		.free = free_source,
	},
	{
		.name = "asm",
		.help = "machine code with marks on executed instructions",
		.shows = "executed code",
		.kinds = blocks,
		.options = asm_options,
		.create = create_asm,
		.put = put_asm,
		.free = free_asm,
	},
	{ 0 },
};

static const char *const examples[] = {
	"the calls in a graphics trace",
	"tr-totext glxgears.trace | less",
	"its first 500 calls without call and thread numbers, for diff",
	"tr-filter --calls=0-500 glxgears.trace | tr-totext -O call-nos=no -O thread-ids=no",
	"the shaders that a program compiles, byte for byte",
	"tr-totext -O grep=ShaderSource -O octal=fixed glxgears.trace",
	"which commands a build ran, and what started them",
	"tr-totext build.json | less",
	"the same as a picture",
	"tr-totext --style=dot build.json | dot -T svg -o build.svg",
	"a script that runs the compiler calls of a build again",
	"tr-filter --rebase 'exec and basename(name) == \"gcc\"' build.json | "
	"tr-totext --style=script -o again.sh",
	"the code that was executed in any of these runs",
	"tr-totext --style=gnatcov-base run1.trace run2.trace",
	"which source lines a run executed, and how often",
	"tr-totext --style=source -O exe=prog run.trace | less",
	NULL,
};

/* Options of apitrace dump, with what replaces them. */
static const char *const hints[] = {
	"v",	     "-O verbose=yes",	  "verbose",	"-O verbose=yes",
	"calls",     "tr-filter --calls", "frames",	"tr-filter --frames",
	"grep",	     "-O grep=REGEX",	  "color",	"-O color=yes",
	"call-nos",  "-O call-nos=yes",	  "thread-ids", "-O thread-ids=yes",
	"blobs",     "-O blobs=DIR",	  "multiline",	"-O multiline=yes",
	"arg-names", "-O arg-names=yes",  NULL,
};

/* The option of all styles; the options of each style follow. */
static const struct tr_format_option grep_option = { "grep", "REGEX", false, true,
						     "only calls of functions whose name matches" };

/*
 * The state of the tool. A view is made when the first segment of its style begins, and is kept
 * for later segments.
 */
struct totext {
	struct tr_cli cli;

	/* --style and -O, made of the styles of all formats and those of the tool */
	struct tr_tool tool;
	struct tr_option options[2];
	struct tr_format_option settings[MAX_OPTIONS + 1];
	size_t setting_count;
	struct tr_buffer choices, help;

	struct {
		const struct tr_text_style *style;
		void *view;   /* NULL: not made yet */
	} styles[MAX_STYLES]; /* in the order of the choices */
	size_t style_count;

	const struct tr_text_style *chosen; /* --style */
	const struct tr_text_style *style;  /* of this segment; NULL: unknown, or there is none */
	bool known;			    /* style is determined, even if it is NULL */
	void *view;			    /* of style; NULL: not made yet */
	struct tr_call_taker *taker;	    /* of view; NULL: it has none */
	struct tr_block_taker *blocks;	    /* the same */
	bool ready;			    /* prepare() has nothing to do */
	bool any;			    /* some view got a record */
	struct tr_unsupported_kinds unsupported;
	const struct tr_text_style *missed; /* the style that got the first of these */

	/* a segment without a style */
	char format[80]; /* its name; empty: the stream does not state one */
	struct tr_unsupported_kinds unstyled;

	struct tr_regex *regex; /* -O grep; NULL: not given */
	struct tr_regex_scratch *scratch;
};

/* Adds a key of -O to those of the tool, which has room for MAX_OPTIONS of them. */
static void add_option(struct totext *t, const struct tr_format_option *option)
{
	if (t->setting_count < MAX_OPTIONS)
		t->settings[t->setting_count++] = *option;
}

/* Adds a style with its choice for --style, its part of the help, and its keys of -O. */
static void add_style(struct totext *t, const struct tr_text_style *style)
{
	if (t->style_count == MAX_STYLES)
		return;
	if (t->style_count)
		tr_buffer_put_byte(&t->choices, '|');
	tr_buffer_put_text(&t->choices, tr_text_from(style->name));
	tr_buffer_put_text(&t->help, tr_text_from(t->style_count ? "; " : ""));
	tr_buffer_put_text(&t->help, tr_text_from(style->name));
	tr_buffer_put_literal(&t->help, ": ");
	tr_buffer_put_text(&t->help, tr_text_from(style->help));
	t->styles[t->style_count++].style = style;
	for (const struct tr_format_option *o = style->options; o && o->key; o++)
		add_option(t, o);
}

/* The keys are sorted, so that --help=formats does not depend on the order of the formats. */
static int by_key(const void *a, const void *b)
{
	const struct tr_format_option *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* Makes the tables of options from the lists of styles. */
static void collect_styles(struct totext *t)
{
	tr_buffer_put_literal(&t->help,
			      "style of the text (default: that of the input's format); ");
	for (size_t i = 0; tr_formats[i]; i++)
		for (const struct tr_text_style *s = tr_formats[i]->styles; s && s->name; s++)
			add_style(t, s);
	for (const struct tr_text_style *s = neutral_styles; s->name; s++)
		add_style(t, s);
	add_option(t, &grep_option);
	qsort(t->settings, t->setting_count, sizeof *t->settings, by_key);
	tr_buffer_put_byte(&t->choices, '\0');
	tr_buffer_put_byte(&t->help, '\0');
	bool failed = t->choices.failed || t->help.failed;
	t->options[0] = (struct tr_option){ STYLE, 0, "style", failed ? "" : t->choices.data,
					    failed ? "" : t->help.data };
	t->tool = (struct tr_tool){
		.name = "tr-totext",
		.usage = "[OPTION...] [--style=STYLE] [FILE...]",
		.summary = "Shows trace files or a stream of records as text for people.",
		.shared = TR_CLI_ALL,
		.options = t->options,
		.settings = t->settings,
		.hints = hints,
		.examples = examples,
	};
}

/* The style of that name; NULL: there is none. */
static const struct tr_text_style *style_by_name(const struct totext *t, const char *name)
{
	for (size_t i = 0; i < t->style_count; i++)
		if (strcmp(t->styles[i].style->name, name) == 0)
			return t->styles[i].style;
	return NULL;
}

/*
 * Returns the first style of a format, or the neutral one that a format without styles names. NULL:
 * the format is unknown, or no style shows it.
 */
static const struct tr_text_style *style_of_format(const struct totext *t, struct tr_text name)
{
	const struct tr_format *format = tr_format_by_name(name);

	if (!format)
		return NULL;
	if (format->styles)
		return format->styles;
	return format->default_style ? style_by_name(t, format->default_style) : NULL;
}

/*
 * The style of a segment without a header, from its first line: streams may have lost their header
 * on the way. NULL: no style begins with such a record.
 */
static const struct tr_text_style *style_of_line(const struct totext *t,
						 const struct tr_record *record)
{
	for (size_t i = 0; i < t->style_count; i++) {
		const struct tr_text_style *style = t->styles[i].style;
		if (style->begins && style->begins(record))
			return style;
	}
	return NULL;
}

/* Sets the style of a segment from its first line: the format in the header, or the record. */
static void find_style(struct totext *t, struct tr_record *record)
{
	struct tr_text format = { "", 0 };

	if (record->type == TR_COMMENT || record->type == TR_TRAILER)
		return;
	t->known = true;
	if (record->type == TR_HEADER) {
		const struct tr_value *value = tr_record_value(record, "format", NULL);
		/* a header without a format does not determine the style */
		t->known = value && value->type == TR_SYMBOL && value->as.symbol->count == 1;
		if (!t->known)
			return; /* the records determine it */
		format = value->as.symbol->names[0].text;
		t->style = style_of_format(t, format);
	} else {
		t->style = style_of_line(t, record);
	}
	snprintf(t->format, sizeof t->format, "%.*s", (int)format.len, format.data);
}

/* Compiles -O grep. False: it is reported. */
static bool compile_grep(struct totext *t, struct tr_text pattern)
{
	char why[TR_ERROR_TEXT];

	if (t->regex)
		return true;
	t->regex = tr_regex_compile(pattern, why, sizeof why);
	t->scratch = tr_regex_scratch_new();
	if (t->regex && t->scratch)
		return true;
	if (!t->regex && *why)
		tr_cli_usage(&t->cli, "grep: %s", why);
	else
		tr_cli_out_of_memory(&t->cli);
	return false;
}

/* True if a name matches -O grep. */
static bool is_wanted(void *context, struct tr_text name)
{
	struct totext *t = context;
	switch (tr_regex_match(t->regex, name, t->scratch)) {
	case TR_REGEX_YES:
		return true;
	case TR_REGEX_NO:
		return false;
	case TR_REGEX_FAILED:
		tr_cli_out_of_memory(&t->cli);
		return false;
	case TR_REGEX_LIMIT:
		break;
	}
	tr_cli_remark(&t->cli, NULL, TR_CAUSE_LIMIT, TR_DAMAGE,
		      "-O grep takes too long on a name of %zu bytes", name.len);
	return false;
}

/* Reports an error that a view finds while it makes text of a call. */
static void report(void *context, const struct tr_error *err)
{
	struct totext *t = context;

	tr_cli_report(&t->cli, err);
}

/* The view of a style, which is made when it is first needed; NULL: it is reported. */
static void *view_of(struct totext *t, const struct tr_text_style *style)
{
	struct tr_text pattern = tr_setting_get(&t->cli.config.read.settings, "grep", NULL);
	struct winsize size;
	/* lines are cut only where a person sees them; a file or pipe gets all of them */
	bool terminal = !t->cli.output_path && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
	struct tr_text_config config = {
		.settings = t->cli.config.read.settings,
		.limits = t->cli.config.read.limits,
		.width = terminal ? size.ws_col : 0,
		.is_wanted = pattern.data ? is_wanted : NULL,
		.report = report,
		.context = t,
	};
	struct tr_error err;
	size_t i = 0;

	while (t->styles[i].style != style)
		i++;
	if (t->styles[i].view)
		return t->styles[i].view;
	if (pattern.data && !compile_grep(t, pattern))
		return NULL;
	t->styles[i].view = style->create(&config, t->cli.out, &err);
	if (!t->styles[i].view && err.cause == TR_CAUSE_USAGE)
		tr_cli_usage(&t->cli, "%s", err.text);
	else if (!t->styles[i].view)
		tr_cli_abort(&t->cli, &err);
	return t->styles[i].view;
}

/* Reports the error of a view. Only WARN concerns the record; other errors concern the output. */
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

/* Prepares the view of a segment, until one of its records is of a kind that the view shows. */
static __attribute__((noinline)) void prepare(struct totext *t, struct tr_record *record)
{
	if (!t->view) {
		t->view = view_of(t, t->style);
		t->taker = NULL;
		t->blocks = NULL;
	}
	t->any = t->any || record->type == TR_RECORD;
	if (record->type == TR_RECORD && !t->unsupported.supported &&
	    !tr_unsupported_look(&t->unsupported, t->style->kinds, record->kind) && !t->missed)
		t->missed = t->style;
	/* calls that the view takes directly are not passed to this function */
	if (!t->taker && t->unsupported.supported && t->view && t->style->taker)
		t->taker = t->style->taker(t->view);
	if (!t->blocks && t->unsupported.supported && t->view && t->style->blocks)
		t->blocks = t->style->blocks(t->view);
	t->ready = t->view && t->any && t->unsupported.supported;
}

/* Gives a record to the view of the segment. */
static void put(struct totext *t, struct tr_record *record)
{
	struct tr_error err;

	if (!t->ready)
		prepare(t, record);
	enum tr_status status = t->view ? t->style->put(t->view, record, &err) : TR_OK;
	if (status != TR_OK)
		trouble(t, status, record, &err);
}

/*
 * The name of the first style that shows one of the kinds that were met, for the message; NULL:
 * none does.
 */
static const char *other_style(const struct totext *t, const struct tr_unsupported_kinds *kinds)
{
	struct tr_unsupported_kinds ignored = { 0 };

	for (size_t i = 0; i < t->style_count; i++) {
		for (size_t k = 0; k < kinds->count; k++) {
			if (tr_unsupported_look(&ignored, t->styles[i].style->kinds,
						tr_text_from(kinds->kinds[k].kind)))
				return t->styles[i].style->name;
		}
	}
	return NULL;
}

/* Reports a segment that ended without a style, and suggests one that shows its records. */
static void end_segment(struct totext *t)
{
	const char *style = other_style(t, &t->unstyled);
	char list[TR_ERROR_TEXT / 2];

	if (!t->chosen && t->known && !t->style) {
		tr_unsupported_list(&t->unstyled, list, sizeof list);
		tr_cli_remark(&t->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			      "%s%s has no style of its own%s%s; %s%s",
			      *t->format ? "format " : "a stream without a header", t->format,
			      *list ? ": " : "", list,
			      style ? "try --style=" : "choose one with --style (see --help)",
			      style ? style : "");
	}
	t->known = false;
	t->unstyled = (struct tr_unsupported_kinds){ 0 };
}

/*
 * Shows all inputs. A segment is a header to its trailer, and each may have another format, and so
 * another style. The views live until the end of the input, because a tree is complete only then.
 */
static void show(struct totext *t)
{
	struct tr_record *record;
	struct tr_error err;

	while (tr_cli_next(&t->cli, &record)) {
		if (record->type == TR_HEADER)
			end_segment(t);
		if (!t->chosen && !t->known) {
			t->style = NULL;
			t->ready = false;
			t->view = NULL;
			t->taker = NULL;
			t->blocks = NULL;
			find_style(t, record);
		}
		/* a segment without a style is reported at its end, with its kinds */
		if (t->style)
			put(t, record);
		else if (record->type == TR_RECORD)
			tr_unsupported_add(&t->unstyled, record->kind);
		if (record->type == TR_TRAILER)
			end_segment(t);
	}
	end_segment(t);
	if (!t->cli.stop && tr_unsupported_all(&t->unsupported)) {
		tr_cli_nothing_shown(&t->cli, &t->unsupported, t->missed->shows,
				     other_style(t, &t->unsupported));
		return;
	}
	for (size_t i = 0; i < t->style_count && !t->cli.stop; i++) {
		void *view = t->styles[i].view;
		enum tr_status status = view ? t->styles[i].style->put(view, NULL, &err) : TR_OK;
		if (status != TR_OK)
			trouble(t, status, NULL, &err);
	}
	/*
	 * -O grep may match nothing on purpose; a style that shows nothing is probably the wrong
	 * one
	 */
	bool wrong = t->chosen && t->any &&
		     !tr_setting_get(&t->cli.config.read.settings, "grep", NULL).data;
	if (wrong && !t->cli.stop && tr_output_count(t->cli.out) == 0)
		tr_cli_note(&t->cli, "--style=%s shows nothing of this input", t->chosen->name);
}

int main(int argc, char **argv)
{
	struct totext t = { .style = NULL };

	collect_styles(&t);
	tr_cli_begin(&t.cli, &t.tool, argc, argv);
	/* the tables were made before tr_cli_begin, when no message could be printed */
	if (!t.cli.stop && (t.choices.failed || t.help.failed))
		tr_cli_out_of_memory(&t.cli);
	while (tr_cli_option(&t.cli) != 0) {
		int choice = tr_cli_choice(&t.cli);
		if (choice >= 0)
			t.style = t.chosen = t.styles[choice].style;
	}
	/* pointers to the takers, because the view that has them is made later */
	t.cli.config.read.taker = &t.taker;
	t.cli.config.read.blocks = &t.blocks;
	if (tr_cli_open(&t.cli) && tr_cli_output(&t.cli, false))
		show(&t);
	int status = tr_cli_end(&t.cli);
	/* a trace that is not at its end counts with the taker of a view */
	for (size_t i = 0; i < t.style_count; i++)
		if (t.styles[i].view)
			t.styles[i].style->free(t.styles[i].view);
	tr_regex_free(t.regex);
	tr_regex_scratch_free(t.scratch);
	tr_buffer_free(&t.choices);
	tr_buffer_free(&t.help);
	return status;
}
