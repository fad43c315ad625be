/* SPDX-License-Identifier: MIT */
/* tr-diff: what changed between two traces. */

#include "tr_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deps/tracker.h"
#include "expr/expr.h"
#include "expr/program.h"
#include "process/path.h"
#include "record/join.h"
#include "view/computed.h"

enum {
	BY = 1,
	IGNORE,
	SAME,
	ROOT,
	AS_IS,
	TIMES,
	TOLERANCE,
	FILES,
	BRIEF,
	SUMMARY,
	JSON,
	AS,
	COLOR
};

static const struct tr_option options[] = {
	{ BRIEF, 0, "brief", NULL, "print only whether the traces differ" },
	{ SUMMARY, 's', "summary", NULL, "print only how many records of each kind differ" },
	{ JSON, 0, "json", NULL, "print one JSON object for each difference" },
	{ AS, 0, "as", "text|json|trec",
	  "print the differences as text (default), as JSON, or the records that differ, with the "
	  "field diff" },
	{ BY, 0, "by", "FIELD",
	  "match records that have the same value of FIELD, in any order; several fields with "
	  "commas" },
	{ IGNORE, 0, "ignore", "FIELD",
	  "do not compare these fields; several with commas; env: environments" },
	{ ROOT, 0, "root", "DIR:DIR",
	  "compare paths below the first directory in A with those below the second one in B "
	  "(repeatable)" },
	{ SAME, 0, "same", "REGEX=TEXT",
	  "replace what REGEX matches by TEXT before strings are compared (repeatable)" },
	{ AS_IS, 0, "as-is", "addresses|objects|temporary|descriptors|tasks|readings",
	  "compare these literally; several with commas; by default, each name of the first five "
	  "kinds may be replaced by another throughout B, and readings of clocks and of the system "
	  "are not compared" },
	{ TIMES, 0, "times", "FACTOR",
	  "compare durations, too: they differ if one is longer by this factor and by 0.01 s" },
	{ TOLERANCE, 0, "tolerance", "NUMBER[ulp]",
	  "real numbers are equal if they differ by at most this, or with \"ulp\" by at most this "
	  "many units in the last place" },
	{ FILES, 0, "files", NULL,
	  "also compare which files programs read and write, and what wrote the files they read" },
	{ COLOR, 0, "color", "auto|always|never",
	  "colours (auto: on a terminal, unless NO_COLOR is set)" },
	{ 0 },
};

static const char *const examples[] = {
	"what changes if the same build has another option?",
	"tr-parse build.json | sed s/-O3/-O2/ | tr-diff build.json -",
	"only count the differences",
	"tr-parse build.json | sed s/-O3/-O2/ | tr-diff --summary build.json -",
	"are these the same trace?",
	"tr-diff --brief build.json build.json.gz && echo yes",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-diff",
	.usage = "[OPTION...] A B",
	.summary = "Reports what changed between two traces.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = tr_cli_compiler_settings,
	.status_one = "the traces differ",
	.examples = examples,
};

/* The number of records of a kind, and of their differences by enum tr_diff_what: --summary. */
struct kind_count {
	char kind[32];
	size_t len;
	uint64_t totals[2], differences[4];
};

/* A rule of --same. */
struct same {
	const char *rule;
	struct tr_regex *regex;
	struct tr_text text;
	unsigned timeouts; /* strings on which the expression took too long */
};

struct tool_diff {
	struct tr_cli cli;
	struct tr_diff diff;
	struct tr_diff_show show;
	struct tr_diff_frames frames;
	bool compare_files;
	bool formed; /* an option set the form */
	unsigned color;

	struct tr_normal_ignored *ignored;
	size_t ignored_count, ignored_cap;
	struct tr_normal_root *roots;
	size_t root_count, root_cap;
	bool *roots_found; /* for each of --root: a path in A is below the directory */
	struct same *same;
	size_t same_count, same_cap;
	bool keyed; /* --by: a record had one of its fields */
	struct tr_regex_scratch *scratch;
	struct tr_buffer replaced;

	struct tr_field_list *by;
	struct tr_computed *computed[2];
	unsigned side; /* that is read */
	struct tr_join *join;
	struct tr_buffer line;
	struct tr_block_taker taker, *block_taker; /* of blocks that come without records */

	struct kind_count *kinds;
	size_t kind_count, kind_cap, last_kind;
	const struct tr_diff_kind *last_known; /* of last_kind */
	bool differ;
};

/* Options. */

static void choose_form(struct tool_diff *t, enum tr_diff_form form)
{
	if (t->formed && t->show.form != form)
		tr_cli_usage(&t->cli, "--brief, --summary, --json and --as exclude each other");
	t->formed = true;
	t->show.form = form;
}

static void add_ignored(struct tool_diff *t, struct tr_text key)
{
	if (!tr_array_room(t->ignored, t->ignored_count, t->ignored_cap))
		tr_cli_out_of_memory(&t->cli);
	else
		t->ignored[t->ignored_count++] = (struct tr_normal_ignored){ key, false };
}

/* --ignore=FIELD,FIELD */
static void choose_ignored(struct tool_diff *t)
{
	struct tr_text rest = tr_text_from(t->cli.argument);

	do {
		const char *comma = memchr(rest.data, ',', rest.len);
		struct tr_text key = tr_text_span(rest.data, comma ? comma : rest.data + rest.len);
		rest.data += key.len + (comma != NULL);
		rest.len -= key.len + (comma != NULL);
		if (!key.len)
			tr_cli_usage(&t->cli, "--ignore: an empty name");
		add_ignored(t, key);
		if (!tr_text_is(key, "env"))
			continue;
		/* an environment can also be in one of these fields, which show_all expects here */
		add_ignored(t, TR_TEXT("envdiff"));
		add_ignored(t, TR_TEXT("envtop"));
	} while (!t->cli.stop && rest.len);
}

/* Removes the slash at the end of a directory. */
static struct tr_text directory(struct tr_text text)
{
	while (text.len > 1 && text.data[text.len - 1] == '/')
		text.len--;
	return text;
}

/* Returns the absolute path of a directory, allocated. data NULL: memory is exhausted. */
static struct tr_text absolute(struct tr_text path)
{
	struct tr_buffer joined = { 0 };
	char *working = *path.data == '/' ? NULL : getcwd(NULL, 0);

	tr_path_join(tr_text_from(working ? working : "/"), path, &joined);
	free(working);
	if (joined.failed) {
		tr_buffer_free(&joined);
		return (struct tr_text){ 0 };
	}
	return directory(tr_buffer_text(&joined));
}

/* --root=A:B */
static void add_root(struct tool_diff *t)
{
	const char *colon = strchr(t->cli.argument, ':');

	if (!colon || colon == t->cli.argument || !colon[1]) {
		tr_cli_usage(&t->cli, "--root=%s: two directories with a colon between them",
			     t->cli.argument);
		return;
	}
	struct tr_normal_root root = { absolute(tr_text_span(t->cli.argument, colon)),
				       absolute(tr_text_from(colon + 1)) };
	bool everything = root.from.data && tr_text_is(root.from, "/");
	bool nothing = everything && root.to.data && tr_text_is(root.to, "/");
	if (everything && !nothing)
		tr_cli_usage(&t->cli,
			     "--root=%s: every path is below /; exchange the traces, and use "
			     "--root=%s:/",
			     t->cli.argument, colon + 1);
	for (size_t i = 0; root.from.data && i < t->root_count; i++) {
		if (tr_text_equal(t->roots[i].from, root.from))
			tr_cli_usage(&t->cli, "--root=%s: another --root has the same directory",
				     t->cli.argument);
	}
	/* the paths below it start with a slash of their own */
	if (root.to.data && tr_text_is(root.to, "/"))
		root.to.len = 0;
	if (!nothing && root.from.data && root.to.data &&
	    tr_array_room(t->roots, t->root_count, t->root_cap)) {
		/* sorted by length, because the longest directory of a path applies */
		size_t at = t->root_count++;
		for (; at > 0 && t->roots[at - 1].from.len < root.from.len; at--)
			t->roots[at] = t->roots[at - 1];
		t->roots[at] = root;
		return;
	}
	free((char *)root.from.data);
	free((char *)root.to.data);
	if (!nothing)
		tr_cli_out_of_memory(&t->cli);
}

/* --same=REGEX=TEXT; the last '=' separates, because it is more often part of a pattern. */
static void add_same(struct tool_diff *t)
{
	const char *equals = strrchr(t->cli.argument, '=');
	char why[200];

	if (!equals || equals == t->cli.argument) {
		tr_cli_usage(&t->cli, "--same=%s: not REGEX=TEXT", t->cli.argument);
		return;
	}
	struct tr_regex *regex =
		tr_regex_compile(tr_text_span(t->cli.argument, equals), why, sizeof why);
	if (!regex && *why)
		tr_cli_usage(&t->cli, "--same=%s: %s", t->cli.argument, why);
	else if (!regex || !tr_array_room(t->same, t->same_count, t->same_cap))
		tr_cli_out_of_memory(&t->cli);
	else
		t->same[t->same_count++] =
			(struct same){ t->cli.argument, regex, tr_text_from(equals + 1), 0 };
	if (t->cli.stop)
		tr_regex_free(regex);
}

/* Replaces what the rules of --same match; see struct tr_normal_rules. */
static bool replace(void *context, struct tr_text text, struct tr_buffer *to)
{
	enum { TIMEOUTS_MAX = 2 }; /* each takes a second */
	struct tool_diff *t = context;

	for (size_t i = 0; i < t->same_count; i++) {
		struct same *same = &t->same[i];
		struct tr_text rest = text;
		enum tr_regex_result result = TR_REGEX_NO;
		tr_buffer_reset(to);
		while (same->timeouts < TIMEOUTS_MAX &&
		       (result = tr_regex_match(same->regex, rest, t->scratch)) == TR_REGEX_YES) {
			struct tr_text found = tr_regex_found(t->scratch, rest);
			const char *end = rest.data + rest.len;
			tr_buffer_put_text(to, tr_text_span(rest.data, found.data));
			tr_buffer_put_text(to, same->text);
			if (!found.len && found.data == end)
				break;
			/* an empty match is replaced once at each byte */
			if (!found.len)
				tr_buffer_put_byte(to, *found.data);
			rest = tr_text_span(found.data + found.len + !found.len, end);
		}
		same->timeouts += result == TR_REGEX_LIMIT;
		if (result == TR_REGEX_FAILED)
			return false;
		tr_buffer_put_text(to, rest);
		tr_buffer_reset(&t->replaced);
		tr_buffer_put_text(&t->replaced, tr_buffer_text(to));
		text = tr_buffer_text(&t->replaced);
	}
	return !to->failed && !t->replaced.failed;
}

/* --times=FACTOR */
static void choose_times(struct tool_diff *t)
{
	char *end;

	t->diff.times = strtod(t->cli.argument, &end);
	if (*end || !(t->diff.times >= 1 && t->diff.times < HUGE_VAL))
		tr_cli_usage(&t->cli, "--times=%s: a factor of at least 1", t->cli.argument);
}

/* --tolerance=NUMBER, or NUMBERulp */
static void choose_tolerance(struct tool_diff *t)
{
	char *end;
	double number = strtod(t->cli.argument, &end);
	bool steps = strcmp(end, "ulp") == 0;

	if (end == t->cli.argument || (*end && !steps) || !(number >= 0 && number < 1e18))
		tr_cli_usage(&t->cli, "--tolerance=%s: a number such as 0.001, or 4ulp",
			     t->cli.argument);
	else if (steps && number != (double)(uint64_t)number)
		tr_cli_usage(&t->cli, "--tolerance=%s: units in the last place are a whole number",
			     t->cli.argument);
	else if (steps)
		t->diff.ulps = (uint64_t)number;
	else
		t->diff.tolerance = number;
}

static void choose_by(struct tool_diff *t)
{
	struct tr_expr_error error;

	tr_field_list_free(t->by);
	t->by = tr_field_list_compile(tr_text_from(t->cli.argument), &error);
	if (!t->by)
		tr_cli_usage_at(&t->cli, tr_text_from(t->cli.argument), error.column,
				"--by, byte %zu: %s", error.column, error.text);
}

static void choose_as_is(struct tool_diff *t)
{
	struct tr_normal_rules *rules = &t->diff.rules;
	bool *const list[] = { &rules->addresses,   &rules->objects, &rules->temporary,
			       &rules->descriptors, &rules->tasks,   &rules->readings };
	unsigned set = 0;

	if (!tr_cli_choices(&t->cli, &set))
		return;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		*list[i] |= set >> i & 1;
}

/* True if an operand is a pipe or socket; sets *status. */
static bool is_pipe(const char *operand, struct stat *status)
{
	int result =
		strcmp(operand, "-") == 0 ? fstat(STDIN_FILENO, status) : stat(operand, status);

	return result == 0 && (S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode));
}

/* True if both operands are the same pipe: its content can be read only once. */
static bool are_same_pipe(const char *const *operands)
{
	struct stat a, b;

	return is_pipe(operands[0], &a) && is_pipe(operands[1], &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static void read_options(struct tool_diff *t)
{
	static const enum tr_diff_form forms[] = { TR_DIFF_TEXT, TR_DIFF_JSON, TR_DIFF_TREC };
	int choice;

	for (int id; (id = tr_cli_option(&t->cli)) != 0;) {
		if (id == BY)
			choose_by(t);
		else if (id == IGNORE)
			choose_ignored(t);
		else if (id == SAME)
			add_same(t);
		else if (id == ROOT)
			add_root(t);
		else if (id == AS_IS)
			choose_as_is(t);
		else if (id == TIMES)
			choose_times(t);
		else if (id == TOLERANCE)
			choose_tolerance(t);
		else if (id == FILES)
			t->compare_files = true;
		else if (id == BRIEF)
			choose_form(t, TR_DIFF_BRIEF);
		else if (id == SUMMARY)
			choose_form(t, TR_DIFF_SUMMARY);
		else if (id == JSON)
			choose_form(t, TR_DIFF_JSON);
		else if ((choice = tr_cli_choice(&t->cli)) < 0)
			continue;
		else if (id == AS)
			choose_form(t, forms[choice]);
		else
			t->color = (unsigned)choice;
	}
	if (!t->cli.stop && t->cli.operand_count != 2)
		tr_cli_usage(&t->cli, "two traces are needed");
	else if (!t->cli.stop && strcmp(t->cli.operands[0], "-") == 0 &&
		 strcmp(t->cli.operands[1], "-") == 0)
		tr_cli_usage(&t->cli, "standard input cannot be both traces");
	else if (!t->cli.stop && are_same_pipe(t->cli.operands))
		tr_cli_usage(&t->cli, "%s and %s are the same pipe", t->cli.operands[0],
			     t->cli.operands[1]);
}

/* Reading. */

/* Fields of --files; see struct tr_diff. */
static bool add_fields(void *context, unsigned side, uint32_t number, struct tr_normal *normal)
{
	struct tool_diff *t = context;

	return tr_diff_files_add(t->show.files, side, number, normal);
}

/* Appends the key of --by; see struct tr_diff. */
static bool write_key(void *context, struct tr_record *record, struct tr_buffer *to)
{
	struct tool_diff *t = context;
	size_t count = tr_field_list_count(t->by);
	struct tr_error err;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		any |= tr_field_list_write(t->by, i, record, NULL, false, to, &err);
		tr_buffer_put_byte(to, '\t');
	}
	t->keyed |= any;
	return any;
}

/* Returns the counts of a kind. NULL: reported. */
static struct kind_count *count_of(struct tool_diff *t, struct tr_text kind)
{
	kind.len = kind.len < sizeof t->kinds->kind ? kind.len : sizeof t->kinds->kind - 1;
	/* mostly it is the kind of the previous record */
	for (size_t i = 0, at = t->last_kind; i < t->kind_count; i++) {
		if (tr_text_equal(kind, (struct tr_text){ t->kinds[at].kind, t->kinds[at].len })) {
			t->last_kind = at;
			return &t->kinds[at];
		}
		at = at + 1 < t->kind_count ? at + 1 : 0;
	}
	if (!tr_array_room(t->kinds, t->kind_count, t->kind_cap)) {
		tr_cli_out_of_memory(&t->cli);
		return NULL;
	}
	t->last_kind = t->kind_count;
	struct kind_count *count = &t->kinds[t->kind_count++];
	*count = (struct kind_count){ .len = kind.len };
	memcpy(count->kind, kind.data, kind.len);
	return count;
}

/* Counts a record after tr_diff_put. False: reported. */
static bool count_record(struct tool_diff *t, struct tr_text kind)
{
	const struct tr_diff_kind *known = t->diff.sides[t->side].normal.known;
	bool same = known == t->last_known && known->name.len;
	struct kind_count *count = same ? &t->kinds[t->last_kind] : count_of(t, kind);

	t->last_known = known;
	if (count)
		count->totals[t->side]++;
	return count;
}

/* Marks the directories of --root that are in a line of the first trace. */
static void find_roots(struct tool_diff *t, struct tr_text line)
{
	for (size_t i = 0; i < t->root_count; i++) {
		struct tr_text from = t->roots[i].from, rest = line;
		while (!t->roots_found[i] &&
		       (rest.data = memmem(rest.data, rest.len, from.data, from.len))) {
			rest = tr_text_span(rest.data + from.len, line.data + line.len);
			t->roots_found[i] = *rest.data == '/' || *rest.data == '"' ||
					    *rest.data == '\t' || *rest.data == ':';
		}
	}
}

static size_t take_blocks(struct tr_block_taker *taker, const struct tr_block *blocks, size_t count,
			  uint64_t seq)
{
	struct tool_diff *t = tr_container(taker, struct tool_diff, taker);
	size_t taken = tr_diff_put_blocks(&t->diff, t->side, blocks, count, seq);
	struct kind_count *kind = taken ? count_of(t, TR_TEXT("block")) : NULL;

	if (kind)
		kind->totals[t->side] += taken;
	t->last_known = NULL;
	return taken;
}

/* True if something may be malformed in a line that was compared, or is a definition. */
static bool is_suspect(const struct tr_diff_side *side, const struct tr_record *record)
{
	if (record->type == TR_RECORD)
		return side->normal.suspect;
	return record->type == TR_DEFINITION && record->line.data && !record->canonical;
}

/*
 * Reports what is malformed in a line of a stream, which is compared as it is spelled. False:
 * reported, too.
 */
static bool check(struct tool_diff *t, struct tr_record *record)
{
	struct tr_error err;

	tr_buffer_reset(&t->line);
	enum tr_status status = tr_record_write(record, &t->line, &err);
	if (status == TR_WARN)
		tr_cli_report_record(&t->cli, record, &err, false);
	return status != TR_FATAL || tr_cli_abort(&t->cli, &err);
}

static void take(struct tool_diff *t, struct tr_record *record)
{
	const struct tr_diff_side *side = &t->diff.sides[t->side];
	struct tr_text line = { NULL, 0 };
	struct tr_error err;

	if (t->by && !tr_computed_follow(t->computed[t->side], record)) {
		tr_cli_out_of_memory(&t->cli);
		return;
	}
	if (record->type == TR_RECORD) {
		if (!tr_cli_line(&t->cli, record, &t->line, &line))
			return;
		if (t->side == 0)
			find_roots(t, line);
	}
	if (!tr_diff_put(&t->diff, t->side, record, line, &err) ||
	    (t->show.files && !tr_diff_files_put(t->show.files, t->side, record, &err)))
		tr_cli_abort(&t->cli, &err);
	else if (is_suspect(side, record) && !check(t, record))
		return;
	else if (record->type == TR_RECORD && !count_record(t, record->kind))
		return;
	else if (record->type == TR_RECORD && side->normal.known->class == TR_DIFF_THREAD &&
		 !tr_diff_follow_frames(&t->frames, t->side, record, side->normal.spelled_name,
					side->count))
		tr_cli_out_of_memory(&t->cli);
}

/* Reads both traces. False: one could not be read at all, or the tool stops. */
static bool read_traces(struct tool_diff *t)
{
	struct tr_trace_place *place;
	struct tr_record *record;
	const char *second = t->cli.operands[1];
	bool read[2] = { false, false };

	if (strcmp(second, "-") == 0)
		second = NULL;
	while (tr_cli_step(&t->cli, &place)) {
		t->side = place->file == second;
		if (t->by)
			tr_field_list_set_computed(t->by, tr_computed_fields(t->computed[t->side]));
		read[t->side] |= place->format != NULL;
		while (tr_cli_next_joined(&t->cli, t->join, &record))
			take(t, record);
	}
	return !t->cli.stop && read[0] && read[1];
}

/* Visiting. */

/* Counts a difference; with compared false, one that is none. False: reported. */
static bool count_kind(struct tool_diff *t, const struct tr_difference *difference, bool compared)
{
	unsigned side = difference->a == TR_ALIGN_NONE;
	struct tr_error err;

	struct tr_text kind =
		tr_diff_kind(&t->diff, side, side ? difference->b : difference->a, &err);
	if (!kind.data)
		return tr_cli_abort(&t->cli, &err);
	struct kind_count *count = count_of(t, kind);
	if (count && compared)
		count->differences[difference->what]++;
	else if (count)
		count->totals[side]--;
	return count != NULL;
}

static bool visit_one(struct tool_diff *t, enum tr_diff_what what, uint32_t a, uint32_t b,
		      bool counting)
{
	struct tr_difference difference = { what, a, b };
	const struct tr_diff_record *record =
		a == TR_ALIGN_NONE ? &t->diff.sides[1].records[b] : &t->diff.sides[0].records[a];

	if (record->class == TR_DIFF_NOT_COMPARED)
		return t->show.form != TR_DIFF_SUMMARY || count_kind(t, &difference, false);
	t->differ = true;
	if (a != TR_ALIGN_NONE)
		tr_diff_mark_frame(&t->frames, 0, a);
	if (b != TR_ALIGN_NONE)
		tr_diff_mark_frame(&t->frames, 1, b);
	if (counting)
		return tr_diff_count(&t->show, &difference);
	if (t->show.form == TR_DIFF_SUMMARY)
		return count_kind(t, &difference, true);
	/* of a process that is in one trace only, one record is printed */
	return record->implied || tr_diff_put_difference(&t->show, &difference);
}

/*
 * Visits the differences in the order of A; a record that is only in B follows the match of the
 * record before it. counting: only counts changes (tr_diff_count). With --brief, stops at the first
 * one.
 */
static void visit(struct tool_diff *t, bool counting)
{
	const struct tr_diff_side *a = &t->diff.sides[0], *b = &t->diff.sides[1];
	size_t j = 0;
	bool more = true;

	for (size_t i = 0; more && i <= a->count; i++) {
		/* most records are equal and in the same order */
		while (i < a->count && a->records[i].match == j && !a->records[i].moved &&
		       a->records[i].content == b->records[j].content) {
			i++;
			j++;
		}
		bool last = i == a->count;
		uint32_t match = last ? TR_ALIGN_NONE : a->records[i].match;
		bool moved = !last && a->records[i].moved;
		if (t->show.form == TR_DIFF_BRIEF && t->differ)
			return;
		if (last || (match != TR_ALIGN_NONE && !moved)) {
			size_t end = last ? b->count : match;
			for (; more && j < end; j++) {
				if (b->records[j].match == TR_ALIGN_NONE)
					more = visit_one(t, TR_DIFF_ADDED, TR_ALIGN_NONE,
							 (uint32_t)j, counting);
			}
			j += more && !last && j == match;
		}
		if (last || !more)
			continue;
		if (match == TR_ALIGN_NONE)
			more = visit_one(t, TR_DIFF_REMOVED, (uint32_t)i, match, counting);
		else if (a->records[i].content != b->records[match].content)
			more = visit_one(t, TR_DIFF_CHANGED, (uint32_t)i, match, counting);
		else if (moved)
			more = visit_one(t, TR_DIFF_MOVED, (uint32_t)i, match, counting);
	}
}

static void put_frames(struct tool_diff *t)
{
	tr_buffer_reset(&t->line);
	tr_diff_put_frames(&t->frames, &t->line);
	if (t->line.failed)
		tr_cli_out_of_memory(&t->cli);
	else
		tr_output_put_text(t->cli.out, tr_buffer_text(&t->line));
}

static void print_summary(struct tool_diff *t)
{
	char line[256];

	put_frames(t);
	snprintf(line, sizeof line, "%-10s %12s %12s %12s %12s %12s\n", "kind", "same", "changed",
		 "removed", "added", "moved");
	tr_output_put_text(t->cli.out, tr_text_from(line));
	for (size_t i = 0; i < t->kind_count; i++) {
		const struct kind_count *k = &t->kinds[i];
		const uint64_t *n = k->differences;
		uint64_t same =
			k->totals[0] - n[TR_DIFF_REMOVED] - n[TR_DIFF_CHANGED] - n[TR_DIFF_MOVED];
		snprintf(line, sizeof line,
			 "%-10s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			 "\n",
			 k->kind, same, n[TR_DIFF_CHANGED], n[TR_DIFF_REMOVED], n[TR_DIFF_ADDED],
			 n[TR_DIFF_MOVED]);
		tr_output_put_text(t->cli.out, tr_text_from(line));
	}
}

/* Notes that a trace has no records. */
static void note_empty(struct tool_diff *t)
{
	bool any[2] = { false, false };

	for (size_t i = 0; i < t->kind_count; i++) {
		any[0] |= t->kinds[i].totals[0] > 0;
		any[1] |= t->kinds[i].totals[1] > 0;
	}
	if (!any[0] || !any[1])
		tr_cli_note(&t->cli, any[0]   ? "B has no records"
				     : any[1] ? "A has no records"
					      : "both traces are empty");
}

/* Notes that the traces have no kind of record in common. */
static void note_kinds(struct tool_diff *t)
{
	struct tr_buffer lists[2] = { { 0 }, { 0 } };
	bool common = false;

	for (size_t i = 0; i < t->kind_count; i++) {
		const struct kind_count *k = &t->kinds[i];
		unsigned side = !k->totals[0];
		/* unrelated formats have these two */
		if (strcmp(k->kind, "meta") == 0 || strcmp(k->kind, "info") == 0)
			continue;
		common |= k->totals[0] && k->totals[1];
		if (lists[side].len)
			tr_buffer_put_literal(&lists[side], ", ");
		tr_buffer_put_text(&lists[side], tr_text_from(k->kind));
	}
	if (!common && lists[0].len && lists[1].len)
		tr_cli_note(&t->cli, "no kind of record is in both traces: A has %.*s; B has %.*s",
			    (int)lists[0].len, lists[0].data, (int)lists[1].len, lists[1].data);
	tr_buffer_free(&lists[0]);
	tr_buffer_free(&lists[1]);
}

/* Notes that the traces are mostly equal apart from a directory. */
static void suggest_root(struct tool_diff *t)
{
	struct tr_buffer paths[2] = { { 0 }, { 0 } };
	struct tr_error err;
	bool found = false;

	if (t->root_count)
		return;
	if (!tr_diff_find_root(&t->diff, paths, &found, &err))
		tr_cli_abort(&t->cli, &err);
	else if (found)
		tr_cli_note(&t->cli, "--root=%.*s:%.*s would remove most differences",
			    (int)paths[0].len, paths[0].data, (int)paths[1].len, paths[1].data);
	tr_buffer_free(&paths[0]);
	tr_buffer_free(&paths[1]);
}

static void show_all(struct tool_diff *t)
{
	struct tr_error err;

	if ((t->show.files && !tr_diff_files_finish(t->show.files, &err)) ||
	    !tr_diff_align(&t->diff, &err)) {
		tr_cli_abort(&t->cli, &err);
		return;
	}
	if (t->show.form == TR_DIFF_TEXT) {
		visit(t, true);
		if (t->differ && !t->cli.stop)
			put_frames(t);
	}
	if (!t->cli.stop)
		visit(t, false);
	if (t->show.files && !tr_diff_files_known(t->show.files))
		tr_cli_note(&t->cli, "--files: not both traces have file calls; %s",
			    TR_DEPS_ADVICE);
	for (size_t i = 0; i < t->same_count; i++) {
		if (t->same[i].timeouts)
			tr_cli_fail(&t->cli,
				    "--same=%s takes too long on some strings, and was not applied "
				    "to all; avoid nested repetition such as (a+)+",
				    t->same[i].rule);
	}
	note_empty(t);
	if (t->kind_count && t->by && !t->keyed)
		tr_cli_note(&t->cli, "--by: no record has one of these fields");
	for (size_t i = 0; i < t->ignored_count; i++) {
		struct tr_text key = t->ignored[i].key;
		bool used = t->ignored[i].used;
		if (tr_text_is(key, "env"))
			for (size_t end = i + 2; i < end;)
				used |= t->ignored[++i].used;
		if (!used)
			tr_cli_note(&t->cli, "--ignore=%.*s: no compared field has this name",
				    (int)key.len, key.data);
	}
	for (size_t i = 0; i < t->root_count; i++) {
		struct tr_text from = t->roots[i].from;
		if (!t->roots_found[i])
			tr_cli_note(&t->cli, "--root=%.*s: no path in A is below this directory",
				    (int)from.len, from.data);
	}
	if (t->cli.stop)
		return;
	if (t->show.form == TR_DIFF_SUMMARY)
		print_summary(t);
	if (!t->differ)
		return;
	note_kinds(t);
	suggest_root(t);
	tr_cli_status(&t->cli, 1);
	if (t->show.form != TR_DIFF_BRIEF)
		return;
	for (size_t i = 0; i < 2; i++) {
		tr_output_put_text(t->cli.out, tr_text_from(t->cli.operands[i]));
		tr_output_put_text(t->cli.out, i ? TR_TEXT(" differ\n") : TR_TEXT(" and "));
	}
}

/* Sets up the comparison. False: memory is exhausted. */
static bool prepare(struct tool_diff *t)
{
	const char *no_color = getenv("NO_COLOR");
	bool terminal = isatty(STDOUT_FILENO) && !t->cli.output_path && !(no_color && *no_color);

	t->frames.kinds.ask = tr_format_call_kinds;
	t->show.cli = &t->cli;
	t->show.diff = &t->diff;
	t->show.color = t->color == 1 || (t->color == 0 && terminal);
	t->diff.rules.ignored = t->ignored;
	t->diff.rules.ignored_count = t->ignored_count;
	t->diff.rules.roots = t->roots;
	t->diff.rules.root_count = t->root_count;
	t->diff.rules.replace = t->same_count ? replace : NULL;
	t->diff.rules.context = t->diff.context = t;
	t->diff.key = t->by ? write_key : NULL;
	t->diff.compilers = tr_cli_compilers(&t->cli);
	t->diff.max_spool = t->cli.config.read.limits.max_spool;
	t->scratch = t->same_count ? tr_regex_scratch_new() : NULL;
	t->join = tr_join_new();
	t->roots_found = calloc(t->root_count + 1, sizeof *t->roots_found);
	for (unsigned i = 0; t->by && i < 2; i++) {
		t->computed[i] = tr_computed_new(tr_format_call_kinds, t->diff.compilers);
		if (!t->computed[i])
			return false;
		tr_computed_set_joined(t->computed[i]);
	}
	if (t->compare_files) {
		t->diff.add_fields = add_fields;
		t->show.files = tr_diff_files_new(&t->diff);
	}
	return t->join && t->roots_found && (t->show.files || !t->compare_files) &&
	       (t->scratch || !t->same_count) && tr_diff_begin(&t->diff);
}

static void free_all(struct tool_diff *t)
{
	tr_diff_show_free(&t->show);
	tr_diff_files_free(t->show.files);
	tr_diff_frames_free(&t->frames);
	tr_diff_free(&t->diff);
	tr_join_free(t->join);
	for (size_t i = 0; i < t->same_count; i++)
		tr_regex_free(t->same[i].regex);
	for (unsigned i = 0; i < 2; i++)
		tr_computed_free(t->computed[i]);
	tr_regex_scratch_free(t->scratch);
	tr_field_list_free(t->by);
	tr_buffer_free(&t->replaced);
	tr_buffer_free(&t->line);
	free(t->same);
	for (size_t i = 0; i < t->root_count; i++) {
		free((char *)t->roots[i].from.data);
		free((char *)t->roots[i].to.data);
	}
	free(t->roots);
	free(t->roots_found);
	free(t->ignored);
	free(t->kinds);
}

int main(int argc, char **argv)
{
	struct tool_diff t = { .differ = false };

	tr_cli_begin(&t.cli, &tool, argc, argv);
	read_options(&t);
	t.cli.config.joins = TR_JOINS_MEMBERS; /* A and B are not parts of one trace */
	t.cli.config.read.as_text = true;
	t.taker.take = take_blocks;
	t.block_taker = &t.taker;
	t.cli.config.read.blocks = &t.block_taker;
	if (tr_cli_open(&t.cli) && tr_cli_output(&t.cli, false)) {
		if (!prepare(&t))
			tr_cli_out_of_memory(&t.cli);
		else if (read_traces(&t))
			show_all(&t);
		else
			tr_cli_abandon(&t.cli); /* keeps the output of an older comparison */
	}
	free_all(&t);
	return tr_cli_end(&t.cli);
}
