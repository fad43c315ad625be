/*
 * --compare: two sides, each a list of names with values. A side is filled when
 * its exec record comes by, or with what its file says of itself: the first
 * environment, information entries, properties.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "tr_envdiff_compare.h"

enum side_type { SIDE_TASK, SIDE_SEQ, SIDE_TOP, SIDE_FILE };

struct side {
	enum side_type type;
	const char *what; /* operand */
	uint64_t seq;
	struct tr_pairs pairs;
	struct tr_heir *heir; /* found, but it waits */
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

static bool is_file(const char *operand)
{
	return strcmp(operand, "-") == 0 || access(operand, F_OK) == 0;
}

/* top, seq:N, or a task. False: the usage error is reported. */
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
			return tr_cli_usage(cli, "--compare: '%s' is no number", operand);
	}
	return true;
}

/* Two files, or two environments in the files behind them. */
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
				    "file that they are in; '%s' is no file",
				    operands[first]);
	cli->operands += 2;
	cli->operand_count -= 2;
	if (!read_side(cli, operands[0], &sides[0]) || !read_side(cli, operands[1], &sides[1]))
		return false;
	if (sides[0].type == SIDE_TOP && sides[1].type == SIDE_TOP)
		return tr_cli_usage(cli, "--compare top top: both are the same");
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
		tr_lineage_release(envdiff->lineage, comparison->sides[i].heir);
		tr_pairs_free(&comparison->sides[i].pairs);
	}
	tr_buffer_free(&comparison->literal);
	free(comparison);
}

/* The environment is what the side has. */
static bool fill(struct tr_envdiff *envdiff, struct side *side, struct tr_environment *env)
{
	struct tr_comparison *comparison = envdiff->comparison;
	struct tr_environments *pool = tr_lineage_pool(envdiff->lineage);

	side->found = true;
	side->partial = !tr_environment_is_whole(env);
	comparison->fold |= tr_environments_are_folded(pool);
	tr_buffer_reset(&comparison->literal);
	if (!tr_environment_write(pool, env, &comparison->literal) ||
	    !tr_pairs_add_map(&side->pairs, tr_buffer_text(&comparison->literal)))
		return tr_envdiff_out_of_memory(envdiff);
	return true;
}

/* An exec record that a side names, and is settled; the other side may be the top. */
static bool take_heir(struct tr_envdiff *envdiff, struct side *side, const struct tr_heir *heir)
{
	struct side *sides = envdiff->comparison->sides;
	struct side *other = &sides[side == sides];

	return fill(envdiff, side, heir->own) &&
	       (other->type != SIDE_TOP || fill(envdiff, other, heir->top));
}

/* Task ids of JSON traces may be strings: 12 means "12" too. */
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

static bool names_record(const struct side *side, const struct tr_record *record,
			 const struct tr_heir *heir)
{
	if (side->type == SIDE_SEQ)
		return heir->has_seq && heir->seq == side->seq;
	return side->type == SIDE_TASK && is_task(record, side->what);
}

static bool look_at_exec(struct tr_envdiff *envdiff, const struct tr_record *record,
			 struct tr_heir *heir)
{
	bool fine = true;

	for (size_t i = 0; i < 2 && fine; i++) {
		struct side *side = &envdiff->comparison->sides[i];
		if (!names_record(side, record, heir))
			continue;
		if (side->found || side->heir) {
			side->others++;
		} else if (heir->waits) {
			heir->references++;
			side->heir = heir;
		} else {
			fine = take_heir(envdiff, side, heir);
		}
	}
	return fine;
}

/* Which side the file is that is being read; NULL: none. */
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

/* The first environment of a file: its env record's, or that of the first who tells it whole. */
static bool look_at_first(struct tr_envdiff *envdiff, struct side *side,
			  const struct tr_record *record, const struct tr_heir *heir)
{
	bool is_env = tr_text_is(record->kind, "env") && tr_lineage_has_top(envdiff->lineage);
	bool whole = heir && heir->own && tr_environment_is_whole(heir->own);

	if (is_env && (!side->found || side->guessed)) {
		tr_pairs_free(&side->pairs);
		side->guessed = false;
		return fill(envdiff, side, tr_lineage_top(envdiff->lineage));
	}
	if (!whole || side->found)
		return true;
	side->guessed = true;
	return fill(envdiff, side, heir->own);
}

static bool look_at_entries(struct tr_envdiff *envdiff, struct side *side, struct tr_record *record)
{
	bool header = record->type == TR_HEADER;
	bool info = record->type == TR_RECORD && tr_text_is(record->kind, "info");

	if (!header && !info)
		return true;
	if (!(header ? tr_pairs_add_properties(&side->pairs, record)
		     : tr_pairs_add_info(&side->pairs, record)))
		return tr_envdiff_out_of_memory(envdiff);
	side->found |= side->pairs.count > 0;
	return true;
}

/* Who waited does so no more. */
static bool end_segment(struct tr_envdiff *envdiff)
{
	bool fine = tr_lineage_settle(envdiff->lineage);

	for (size_t i = 0; i < 2; i++) {
		struct side *side = &envdiff->comparison->sides[i];
		struct tr_heir *heir = side->heir;
		side->heir = NULL;
		if (heir && fine)
			fine = take_heir(envdiff, side, heir);
		tr_lineage_release(envdiff->lineage, heir);
	}
	fine = fine && tr_lineage_begin(envdiff->lineage);
	return fine || envdiff->cli->stop || tr_envdiff_out_of_memory(envdiff);
}

bool tr_comparison_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_heir *heir;
	struct tr_error err;

	if ((record->type == TR_HEADER || record->type == TR_TRAILER) && !end_segment(envdiff))
		return false;
	enum tr_status status = tr_lineage_follow(envdiff->lineage, record, &heir, &err);
	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status == TR_WARN)
		tr_cli_report_record(envdiff->cli, record, &err, false);
	if (heir && heir->telling == TR_TELLS_WHOLE && heir->own &&
	    !tr_lineage_has_top(envdiff->lineage))
		tr_lineage_make_top(envdiff->lineage, heir);
	struct side *side = side_here(envdiff);
	bool unreadable,
		fine = !envdiff->cli->stop && tr_mask_collect(envdiff, record, &unreadable);
	if (fine && side)
		fine = look_at_first(envdiff, side, record, heir) &&
		       look_at_entries(envdiff, side, record);
	else if (fine && heir)
		fine = look_at_exec(envdiff, record, heir);
	tr_lineage_release(envdiff->lineage, heir);
	return fine;
}

bool tr_comparison_end(struct tr_envdiff *envdiff)
{
	return end_segment(envdiff);
}

/* False: there is nothing to compare with, which is reported. */
static bool check(struct tr_envdiff *envdiff, const struct side *side)
{
	struct tr_cli *cli = envdiff->cli;

	if (!side->found && side->type == SIDE_FILE)
		tr_cli_fail(cli,
			    "%s: neither environments, nor information entries, nor "
			    "properties are in it",
			    side->what);
	else if (!side->found && side->type != SIDE_TOP)
		tr_cli_fail(cli, "there is no exec record of '%s'", side->what);
	else if (side->partial && !side->pairs.count)
		tr_cli_fail(cli, "nothing is known of the environment of '%s'", side->what);
	else if (side->partial)
		tr_cli_fail(cli, "not all is known of the environment of '%s'", side->what);
	if (side->others && side->type == SIDE_TASK)
		tr_cli_note(cli,
			    "task '%s' has %" PRIu64 " more exec records: the first is taken "
			    "(seq:N names another)",
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
	/* what is wrong is told of both: the top is not found where the other is not */
	bool fine = check(envdiff, a);
	if (!check(envdiff, b) || !fine)
		return;
	tr_pairs_sort(&a->pairs, comparison->fold);
	tr_pairs_sort(&b->pairs, comparison->fold);
	if (envdiff->mask && !tr_mask_ready(envdiff))
		return;
	if (!tr_pairs_print(envdiff, &a->pairs, &b->pairs, comparison->fold, &differ))
		tr_envdiff_out_of_memory(envdiff);
	else if (differ)
		tr_cli_status(envdiff->cli, 1);
}
