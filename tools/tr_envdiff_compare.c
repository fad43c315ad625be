/* SPDX-License-Identifier: MIT */
/*
 * --compare: two sides, each a list of names with values. A side is filled from its exec record,
 * or from what its file contains: the first environment, information entries or properties.
 */

#include "tr_envdiff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "record/literal.h"
#include "core/buffer.h"

struct pair {
	struct tr_text name;  /* bytes */
	struct tr_text value; /* literal */
	struct tr_text shown; /* literal of the human form; data NULL: as value */
	size_t place;	      /* among all of its list */
};

/* Names may be repeated; then their order matters. */
struct pairs {
	struct pair *list;
	size_t count, cap;
	struct tr_arena arena; /* of the texts */
};

/* Adds a pair. name: the text of a string, with escapes; shown: NULL if the value is printed. */
static bool add_pair(struct pairs *pairs, struct tr_text name, const struct tr_value *value,
		     const struct tr_value *shown)
{
	struct tr_buffer text = TR_BUFFER_INIT, other = TR_BUFFER_INIT;

	if (!tr_array_room(pairs->list, pairs->count, pairs->cap))
		return false;
	tr_literal_write(value, &text);
	if (shown)
		tr_literal_write(shown, &other);
	struct pair pair = { .place = pairs->count };
	struct tr_text spelling = tr_arena_copy(&pairs->arena, name);
	pair.value = tr_arena_copy(&pairs->arena, tr_buffer_text(&text));
	if (shown)
		pair.shown = tr_arena_copy(&pairs->arena, tr_buffer_text(&other));
	if (spelling.data)
		pair.name = tr_string_bytes(spelling, &pairs->arena);
	bool fine = !text.failed && !other.failed && pair.name.data && pair.value.data &&
		    (!shown || pair.shown.data);
	if (fine)
		pairs->list[pairs->count++] = pair;
	tr_buffer_free(&text);
	tr_buffer_free(&other);
	return fine;
}

/* Adds the variables of an environment that is written as a map. False: memory is exhausted. */
static bool add_map(struct pairs *pairs, struct tr_text literal)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *map = tr_literal_parse(literal, &arena, NULL);
	bool fine = map != NULL;

	for (size_t i = 0; fine && i < map->count; i++)
		fine = add_pair(pairs, map->as.members[i].key, map->as.members[i].value, NULL);
	tr_arena_free(&arena);
	return fine;
}

/*
 * Adds an information entry: its bytes decide whether two are equal, and its decoded value is what
 * people read. False: memory is exhausted.
 */
static bool add_info(struct pairs *pairs, struct tr_record *record)
{
	const struct tr_value *data = tr_record_value(record, "data", NULL);
	const struct tr_value *value = tr_record_value(record, "value", NULL);
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_cell_write(&record->name, &name);
	bool fine = !name.failed && (!data || add_pair(pairs, tr_buffer_text(&name), data, value));
	tr_buffer_free(&name);
	return fine;
}

/* Adds the properties in the header of an apitrace stream. False: memory is exhausted. */
static bool add_properties(struct pairs *pairs, struct tr_record *header)
{
	const struct tr_value *list = tr_record_value(header, "properties", NULL);
	bool fine = true;

	for (size_t i = 0; fine && list && list->type == TR_LIST && i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		if (item->type == TR_LIST && item->count == 2 &&
		    item->as.items[0].type == TR_STRING)
			fine = add_pair(pairs, item->as.items[0].text, &item->as.items[1], NULL);
	}
	return fine;
}

/*
 * Orders names by their bytes. fold: ASCII letters are equal in both cases, as in environments of
 * Windows.
 */
static int compare_bytes(struct tr_text a, struct tr_text b, bool fold)
{
	size_t len = a.len < b.len ? a.len : b.len;

	for (size_t i = 0; i < len; i++) {
		unsigned char x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
		if (fold && x >= 'a' && x <= 'z')
			x = (unsigned char)(x - 0x20);
		if (fold && y >= 'a' && y <= 'z')
			y = (unsigned char)(y - 0x20);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.len > b.len) - (a.len < b.len);
}

/* Sorts by name; pairs with equal names stay in their order. */
static int by_name(const void *a, const void *b, void *fold)
{
	const struct pair *x = a, *y = b;
	int order = compare_bytes(x->name, y->name, *(bool *)fold);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* True for text that is printed without quotes: one line, without escapes. */
static bool is_bare(struct tr_text spelling, struct tr_text bytes, bool name)
{
	if (bytes.len && bytes.data[0] == '"')
		return false;
	if (name && bytes.len && memchr(bytes.data + 1, '=', bytes.len - 1))
		return false;
	for (size_t i = 0; i + 1 < spelling.len; i++) {
		if (spelling.data[i] != '\\')
			continue;
		i++;
		if (spelling.data[i] != '\\' && spelling.data[i] != '"')
			return false;
	}
	return true;
}

/* Prints text without quotes where that is unambiguous, and else as a string. */
static void put_text(struct tr_text bytes, bool name, struct tr_buffer *to)
{
	struct tr_buffer spelling = TR_BUFFER_INIT;

	tr_string_escape(bytes, &spelling);
	if (is_bare(tr_buffer_text(&spelling), bytes, name)) {
		tr_buffer_put_text(to, bytes);
	} else {
		tr_buffer_put_byte(to, '"');
		tr_buffer_put_text(to, tr_buffer_text(&spelling));
		tr_buffer_put_byte(to, '"');
	}
	to->failed |= spelling.failed;
	tr_buffer_free(&spelling);
}

/*
 * Prints a value: the text of a string, or another value as trec writes it. A cut string keeps its
 * quotes, because the dots after it are not part of the text.
 */
static void put_value(struct tr_text literal, struct tr_buffer *to)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *value = tr_literal_parse(literal, &arena, NULL);

	if (value && value->type == TR_STRING && !(value->flags & TR_CUT)) {
		struct tr_text bytes = tr_string_bytes(value->text, &arena);
		to->failed |= !bytes.data;
		if (bytes.data)
			put_text(bytes, false, to);
	} else {
		tr_buffer_put_text(to, literal);
	}
	tr_arena_free(&arena);
}

/* The text to print for a value. */
static struct tr_text shown_of(const struct pair *pair)
{
	return pair->shown.data ? pair->shown : pair->value;
}

/* Prints a value without the masked values. */
static bool put_masked(struct tr_envdiff *envdiff, struct tr_text literal, struct tr_buffer *to)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	bool fine = tr_mask_value(envdiff, literal, &text) && !text.failed;
	if (fine)
		put_value(tr_buffer_text(&text), to);
	tr_buffer_free(&text);
	return fine;
}

/* Prints a pair. exact: the value itself, because the human forms are equal. */
static bool print_pair(struct tr_envdiff *envdiff, char sign, const struct pair *pair, bool fold,
		       bool exact)
{
	struct tr_buffer *line = &envdiff->line;
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_string_quote(pair->name, &name);
	/* hidden variables are compared by their values, and printed without them */
	unsigned verdict = 0;
	struct tr_text literal = tr_buffer_text(&name);
	struct tr_text value = exact ? pair->value : shown_of(pair);
	bool fine = !name.failed &&
		    tr_name_globs_judge(&envdiff->globs,
					(struct tr_text){ literal.data + 1, literal.len - 2 }, fold,
					&verdict);
	tr_buffer_reset(line);
	tr_buffer_put_byte(line, sign);
	/* a name may contain the value of a masked variable, too */
	if (envdiff->mask)
		fine = fine && put_masked(envdiff, literal, line);
	else
		put_text(pair->name, true, line);
	tr_buffer_free(&name);
	tr_buffer_put_byte(line, '=');
	if (verdict & TR_NAME_HIDDEN)
		tr_buffer_put_literal(line, "***");
	else if (envdiff->mask)
		fine = fine && put_masked(envdiff, value, line);
	else
		put_value(value, line);
	if (!fine)
		return false;
	tr_buffer_put_byte(line, '\n');
	tr_cli_put_text(envdiff->cli, tr_buffer_text(line));
	return !line->failed;
}

/* Returns the number of pairs from i on that share their name. */
static size_t run_of(const struct pairs *pairs, size_t i, bool fold)
{
	size_t n = 1;

	while (i + n < pairs->count &&
	       compare_bytes(pairs->list[i].name, pairs->list[i + n].name, fold) == 0)
		n++;
	return n;
}

/* True if the pairs have the same values, or (shown) the same human forms of them. */
static bool are_same(const struct pair *a, const struct pair *b, size_t n, bool shown)
{
	for (size_t i = 0; i < n; i++)
		if (!tr_text_equal(shown ? shown_of(&a[i]) : a[i].value,
				   shown ? shown_of(&b[i]) : b[i].value))
			return false;
	return true;
}

/*
 * Merges the two sorted lists and prints the names whose values differ. A name that occurs several
 * times is compared with all of its values at once. *differ: some line was printed.
 */
static bool print_pairs(struct tr_envdiff *envdiff, const struct pairs *a, const struct pairs *b,
			bool fold, bool *differ)
{
	size_t i = 0, j = 0;
	bool fine = true;

	*differ = false;
	while (fine && (i < a->count || j < b->count)) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : compare_bytes(a->list[i].name, b->list[j].name, fold);
		size_t before = order <= 0 ? run_of(a, i, fold) : 0;
		size_t after = order >= 0 ? run_of(b, j, fold) : 0;
		bool same = before == after && are_same(a->list + i, b->list + j, before, false);
		bool exact = !same && before == after &&
			     are_same(a->list + i, b->list + j, before, true);
		for (size_t k = 0; k < before && !same && fine; k++)
			fine = print_pair(envdiff, '-', &a->list[i + k], fold, exact);
		for (size_t k = 0; k < after && !same && fine; k++)
			fine = print_pair(envdiff, '+', &b->list[j + k], fold, exact);
		*differ |= !same;
		i += before;
		j += after;
	}
	return fine;
}

/* Frees all pairs, and empties the list. */
static void free_pairs(struct pairs *pairs)
{
	free(pairs->list);
	tr_arena_free(&pairs->arena);
	*pairs = (struct pairs){ .list = NULL };
}

enum side_type { SIDE_TASK, SIDE_SEQ, SIDE_TOP, SIDE_FILE };

/* A or B. It is found as soon as a record fills it; with a file, further records add to it. */
struct side {
	enum side_type type;
	const char *what; /* operand */
	uint64_t seq;
	struct pairs pairs;
	struct tr_exec_env *exec; /* found, but it waits */
	bool found;
	bool partial;	 /* more may be in it than is known */
	bool guessed;	 /* a file's first environment is so far that of an exec record */
	uint64_t others; /* exec records of that task that came later */
};

struct tr_comparison {
	struct side sides[2];
	bool fold;
	struct tr_buffer literal;
};

/* True if an operand names a file. Tasks are numbers, so files rarely have such names. */
static bool is_file(const char *operand)
{
	return strcmp(operand, "-") == 0 || access(operand, F_OK) == 0;
}

/* Reads top, seq:N or a task. False: the usage error is reported. */
static bool read_side(struct tr_cli *cli, const char *operand, struct side *side)
{
	static const char prefix[] = "seq:";
	struct tr_cell cell = { .type = TR_CELL_TEXT };

	*side = (struct side){ .type = SIDE_TASK, .what = operand };
	if (strcmp(operand, "top") == 0) {
		side->type = SIDE_TOP;
	} else if (strncmp(operand, prefix, sizeof prefix - 1) == 0) {
		side->type = SIDE_SEQ;
		cell.text = tr_text_from(operand + sizeof prefix - 1);
		if (!tr_cell_number(&cell, &side->seq))
			return tr_cli_usage(cli, "--compare: '%s' is not a number", operand);
	}
	return true;
}

/* Takes two files, or two environments and the files that contain them. */
static bool read_operands(struct tr_envdiff *envdiff, struct side *sides)
{
	struct tr_cli *cli = envdiff->cli;
	const char *const *operands = cli->operands;

	if (cli->operand_count < 2)
		return tr_cli_usage(cli, "--compare needs two environments to compare");
	bool first = is_file(operands[0]), second = is_file(operands[1]);
	if (cli->operand_count == 2 && first && second) {
		for (size_t i = 0; i < 2; i++)
			sides[i] = (struct side){ .type = SIDE_FILE, .what = operands[i] };
		return true;
	}
	if (cli->operand_count == 2 && (first || second))
		return tr_cli_usage(cli,
				    "--compare takes two files, or two environments and then the "
				    "file that they are in; '%s' is not a file",
				    operands[first]);
	cli->operands += 2;
	cli->operand_count -= 2;
	if (!read_side(cli, operands[0], &sides[0]) || !read_side(cli, operands[1], &sides[1]))
		return false;
	if (sides[0].type == SIDE_TOP && sides[1].type == SIDE_TOP)
		return tr_cli_usage(cli, "--compare top top: both environments are the same");
	return true;
}

struct tr_comparison *tr_comparison_new(struct tr_envdiff *envdiff)
{
	struct tr_comparison *comparison = calloc(1, sizeof *comparison);

	if (!comparison) {
		tr_envdiff_out_of_memory(envdiff);
		return NULL;
	}
	if (read_operands(envdiff, comparison->sides))
		return comparison;
	free(comparison);
	return NULL;
}

void tr_comparison_free(struct tr_envdiff *envdiff)
{
	struct tr_comparison *comparison = envdiff->comparison;

	if (!comparison)
		return;
	for (size_t i = 0; i < 2; i++) {
		tr_env_tracker_release(envdiff->tracker, comparison->sides[i].exec);
		free_pairs(&comparison->sides[i].pairs);
	}
	tr_buffer_free(&comparison->literal);
	free(comparison);
}

/* Fills a side from an environment. */
static bool fill_side(struct tr_envdiff *envdiff, struct side *side, struct tr_environment *env)
{
	struct tr_comparison *comparison = envdiff->comparison;
	struct tr_environments *pool = tr_env_tracker_pool(envdiff->tracker);

	side->found = true;
	side->partial = !tr_environment_is_whole(env);
	comparison->fold |= tr_environments_are_folded(pool);
	tr_buffer_reset(&comparison->literal);
	if (!tr_environment_write(pool, env, &comparison->literal) ||
	    !add_map(&side->pairs, tr_buffer_text(&comparison->literal)))
		return tr_envdiff_out_of_memory(envdiff);
	return true;
}

/* Fills the side that names an exec record whose environment is known. */
static bool fill_from_exec(struct tr_envdiff *envdiff, struct side *side,
			   const struct tr_exec_env *exec)
{
	struct side *sides = envdiff->comparison->sides;
	struct side *other = &sides[side == sides];

	/* "top" is the first environment of the segment in which the other side was found */
	return fill_side(envdiff, side, exec->own) &&
	       (other->type != SIDE_TOP || fill_side(envdiff, other, exec->top));
}

/* Compares a task; ids of JSON traces may be strings, so 12 matches "12" too. */
static bool is_task(const struct tr_record *record, const char *what)
{
	struct tr_text bytes, wanted = tr_text_from(what);
	struct tr_buffer text = TR_BUFFER_INIT;

	if (record->task.type == TR_CELL_ABSENT)
		return false;
	tr_cell_write(&record->task, &text);
	bool is = tr_cell_bytes(tr_buffer_text(&text), record->arena, &bytes, NULL) &&
		  (tr_text_equal(bytes, wanted) ||
		   (bytes.len == wanted.len + 2 && bytes.data[0] == '"' &&
		    memcmp(bytes.data + 1, wanted.data, wanted.len) == 0));
	tr_buffer_free(&text);
	return is;
}

/* True if the operand of a side means this exec record. */
static bool names_record(const struct side *side, const struct tr_record *record,
			 const struct tr_exec_env *exec)
{
	if (side->type == SIDE_SEQ)
		return exec->has_seq && exec->seq == side->seq;
	return side->type == SIDE_TASK && is_task(record, side->what);
}

/*
 * Fills the sides that mean this exec record, or keeps the record until its environment is known.
 * False: reported.
 */
static bool look_at_exec(struct tr_envdiff *envdiff, const struct tr_record *record,
			 struct tr_exec_env *exec)
{
	bool fine = true;

	for (size_t i = 0; i < 2 && fine; i++) {
		struct side *side = &envdiff->comparison->sides[i];
		if (!names_record(side, record, exec))
			continue;
		if (side->found || side->exec) {
			side->others++;
		} else if (exec->pending) {
			exec->references++;
			side->exec = exec;
		} else {
			fine = fill_from_exec(envdiff, side, exec);
		}
	}
	return fine;
}

/* Returns the side of the current file; NULL: none. */
static struct side *side_here(struct tr_envdiff *envdiff)
{
	struct side *sides = envdiff->comparison->sides;
	const char *file = tr_trace_here(envdiff->cli->trace)->file;

	if (sides[0].type != SIDE_FILE)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		if (strcmp(sides[i].what, file ? file : "-") == 0)
			return &sides[i];
	}
	return NULL;
}

/* Takes the first environment of a file: of its env record, or the first whole one. */
static bool look_at_first(struct tr_envdiff *envdiff, struct side *side,
			  const struct tr_record *record, const struct tr_exec_env *exec)
{
	bool is_env = tr_text_is(record->kind, "env") && tr_env_tracker_has_top(envdiff->tracker);
	bool whole = exec && exec->own && tr_environment_is_whole(exec->own);

	if (is_env && (!side->found || side->guessed)) {
		/* the env record replaces the guess from an exec record before it */
		free_pairs(&side->pairs);
		side->guessed = false;
		return fill_side(envdiff, side, tr_env_tracker_top(envdiff->tracker));
	}
	if (!whole || side->found)
		return true;
	side->guessed = true;
	return fill_side(envdiff, side, exec->own);
}

/* Adds the properties of a header, or an information entry, to the side of a file. */
static bool look_at_entries(struct tr_envdiff *envdiff, struct side *side, struct tr_record *record)
{
	bool header = record->type == TR_HEADER;
	bool info = record->type == TR_RECORD && tr_text_is(record->kind, "info");

	if (!header && !info)
		return true;
	if (!(header ? add_properties(&side->pairs, record) : add_info(&side->pairs, record)))
		return tr_envdiff_out_of_memory(envdiff);
	side->found |= side->pairs.count > 0;
	return true;
}

/* Fills the sides whose exec records were pending, at the end of a segment. */
bool tr_comparison_end(struct tr_envdiff *envdiff)
{
	bool fine = tr_env_tracker_settle(envdiff->tracker);

	for (size_t i = 0; i < 2; i++) {
		struct side *side = &envdiff->comparison->sides[i];
		struct tr_exec_env *exec = side->exec;
		side->exec = NULL;
		if (exec && fine)
			fine = fill_from_exec(envdiff, side, exec);
		tr_env_tracker_release(envdiff->tracker, exec);
	}
	fine = fine && tr_env_tracker_begin(envdiff->tracker);
	return fine || envdiff->cli->stop || tr_envdiff_out_of_memory(envdiff);
}

bool tr_comparison_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_exec_env *exec;
	struct tr_error err;

	if ((record->type == TR_HEADER || record->type == TR_TRAILER) &&
	    !tr_comparison_end(envdiff))
		return false;
	enum tr_status status = tr_env_tracker_follow(envdiff->tracker, record, &exec, &err);
	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status == TR_WARN)
		tr_cli_report_record(envdiff->cli, record, &err, false);
	/* a trace without an env record begins with the first whole environment */
	if (exec && exec->form == TR_ENV_FORM_WHOLE && exec->own &&
	    !tr_env_tracker_has_top(envdiff->tracker))
		tr_env_tracker_make_top(envdiff->tracker, exec);
	struct side *side = side_here(envdiff);
	bool unreadable,
		fine = !envdiff->cli->stop && tr_mask_collect(envdiff, record, &unreadable);
	if (fine && side)
		fine = look_at_first(envdiff, side, record, exec) &&
		       look_at_entries(envdiff, side, record);
	else if (fine && exec)
		fine = look_at_exec(envdiff, record, exec);
	tr_env_tracker_release(envdiff->tracker, exec);
	return fine;
}

/* Reports a side without an environment. False: a side has none. */
static bool check(struct tr_envdiff *envdiff, const struct side *side)
{
	struct tr_cli *cli = envdiff->cli;

	if (!side->found && side->type == SIDE_FILE)
		tr_cli_fail(cli, "%s: contains no environments, information entries or properties",
			    side->what);
	else if (!side->found && side->type != SIDE_TOP)
		tr_cli_fail(cli, "there is no exec record of '%s'", side->what);
	else if (side->partial && !side->pairs.count)
		tr_cli_fail(cli, "the environment of '%s' is unknown", side->what);
	else if (side->partial)
		tr_cli_fail(cli, "the environment of '%s' is only partly known", side->what);
	if (side->others && side->type == SIDE_TASK)
		tr_cli_note(cli,
			    "task '%s' has %" PRIu64 " more exec records: using the first (seq:N "
			    "selects another)",
			    side->what, side->others);
	return side->found && (!side->partial || side->pairs.count);
}

void tr_comparison_print(struct tr_envdiff *envdiff)
{
	struct tr_comparison *comparison = envdiff->comparison;
	struct side *a = &comparison->sides[0], *b = &comparison->sides[1];
	bool differ;

	/* a file that is compared with itself was all read as the first side */
	if (a->type == SIDE_FILE && strcmp(a->what, b->what) == 0 && check(envdiff, a))
		return;
	/* errors of both sides are reported */
	bool fine = check(envdiff, a);
	if (!check(envdiff, b) || !fine)
		return;
	for (size_t i = 0; i < 2; i++) {
		struct pairs *pairs = &comparison->sides[i].pairs;
		if (pairs->count)
			qsort_r(pairs->list, pairs->count, sizeof *pairs->list, by_name,
				&comparison->fold);
	}
	if (envdiff->mask && !tr_mask_ready(envdiff))
		return;
	if (!print_pairs(envdiff, &a->pairs, &b->pairs, comparison->fold, &differ))
		tr_envdiff_out_of_memory(envdiff);
	else if (differ)
		tr_cli_status(envdiff->cli, 1);
}
