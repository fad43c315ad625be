/* SPDX-License-Identifier: MIT */
/*
 * Execution traces in tr-filter.
 *
 * Blocks are selected without a record (coverage/block.h). A trace executes the same blocks again
 * and again, and an expression that does not use seq has the same answer for equal blocks. So the
 * answers for the latest blocks are kept, and a block is judged as a record only if its answer is
 * not among them.
 *
 * --minus and --common select what was executed in this trace and not in another one, or in both.
 * The files of these options are read as the first operands.
 */

#include "tr_filter.h"

#include <stdlib.h>
#include <string.h>

#include "coverage/block.h"
#include "coverage/covered.h"

enum { SET_BITS = 13, SET_SIZE = 4 };

/* Remembers for a block without padding whether it is selected. */
struct answer {
	uint64_t address;
	uint32_t rest; /* tr_block_rest; 0: there is no answer */
	bool selected;
};

struct tr_filter_blocks {
	struct tr_op_values *ops;
	struct tr_block_speller speller;
	struct tr_block_record built; /* for judging a block */
	struct tr_arena arena;
	struct answer answers[1 << SET_BITS]
			     [SET_SIZE]; /* of the latest blocks; the last one first */
};

/* Not before the first block, because other traces have no use for it. NULL: memory. */
static struct tr_filter_blocks *make_blocks(void)
{
	struct tr_filter_blocks *blocks = calloc(1, sizeof *blocks);
	struct tr_op_values *ops = tr_op_values_new();

	if (!blocks || !ops) {
		free(blocks);
		free(ops);
		return NULL;
	}
	blocks->speller.ops = blocks->ops = ops;
	tr_block_record_init(&blocks->built, ops, &blocks->arena);
	return blocks;
}

/* Returns the set in which the answer for a block is kept. */
static inline struct answer *set_of(struct tr_filter_blocks *blocks, const struct tr_block *block)
{
	uint64_t mixed = block->address ^ (uint64_t)tr_block_rest(block) << 32;

	return blocks->answers[mixed * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SET_BITS)];
}

/* NULL: there is no answer. */
static inline const struct answer *find_answer(struct tr_filter_blocks *blocks,
					       const struct tr_block *block)
{
	const struct answer *set = set_of(blocks, block);
	uint32_t rest = tr_block_rest(block);

	for (size_t i = 0; i < SET_SIZE; i++)
		if (set[i].address == block->address && set[i].rest == rest)
			return &set[i];
	return NULL;
}

/*
 * Judges a block by all expressions, and keeps the answer in place of the oldest one of its set.
 * NULL: a message is due, which needs the record of the block.
 */
static __attribute__((noinline)) const struct answer *judge(const struct tr_filter *filter,
							    const struct tr_block *block)
{
	struct tr_filter_blocks *blocks = filter->blocks;
	enum tr_match match = TR_MATCH_YES;

	tr_block_record_set(&blocks->built, block, 0, 0);
	for (size_t i = 0; i < filter->expr_count && match == TR_MATCH_YES; i++) {
		struct tr_error err;
		match = tr_expr_match(filter->states[i], &blocks->built.record, NULL, false, &err);
		if (err.cause != TR_CAUSE_NONE)
			return NULL;
	}
	tr_arena_reset(&blocks->arena);
	struct answer *set = set_of(blocks, block);
	memmove(set + 1, set, (SET_SIZE - 1) * sizeof *set);
	*set = (struct answer){ block->address, tr_block_rest(block),
				(match == TR_MATCH_YES) != filter->invert };
	return set;
}

/* True if selected blocks can be written here: nothing is to be written before them, or counted. */
static bool can_write(const struct tr_filter *filter)
{
	return !filter->queue.first && !filter->limited && !filter->fields &&
	       (filter->count_only || (filter->any_kept && !filter->definitions.waiting));
}

/* Takes blocks (struct tr_block_taker). */
static size_t take(struct tr_block_taker *taker, const struct tr_block *list, size_t count,
		   uint64_t seq)
{
	struct tr_filter *filter = tr_container(taker, struct tr_filter, taker);
	struct tr_output *out = filter->cli->out;
	bool writes = can_write(filter);
	uint64_t selected = 0;
	size_t taken = 0;

	if (!filter->blocks && !(filter->blocks = make_blocks()))
		return 0; /* it is slower without */
	for (; taken < count && !out->failed; taken++) {
		const struct tr_block *block = &list[taken];
		const struct answer *answer = find_answer(filter->blocks, block);
		if (!answer)
			answer = judge(filter, block);
		if (!answer || (answer->selected && !writes))
			break;
		if (!answer->selected)
			continue;
		selected++;
		if (!filter->count_only)
			tr_output_used(out,
				       tr_block_line(&filter->blocks->speller, block, seq + taken,
						     tr_output_room(out, TR_SPELL_MAX)));
	}
	filter->has_records = true;
	filter->selected += selected;
	filter->written += filter->count_only ? 0 : selected;
	tr_output_record_end(out);
	return taken;
}

void tr_filter_begin_blocks(struct tr_filter *filter)
{
	bool same = true; /* equal blocks have the same answer */

	for (size_t i = 0; i < filter->expr_count; i++)
		same = same && !tr_expr_uses_seq(filter->exprs[i]);
	if (!same || filter->merges || filter->cover_count || filter->root || filter->computed ||
	    filter->rebases || filter->needs_start || tr_filter_has_sets(filter))
		return;
	filter->taker.take = take;
	filter->block_taker = &filter->taker;
	filter->cli->config.read.blocks = &filter->block_taker;
}

void tr_filter_free_blocks(struct tr_filter *filter)
{
	struct tr_filter_blocks *blocks = filter->blocks;

	if (!blocks)
		return;
	tr_arena_free(&blocks->arena);
	free(blocks->ops);
	free(blocks);
}

/* --minus and --common. */

void tr_filter_add_cover(struct tr_filter *filter, const char *path, bool common)
{
	struct tr_filter_cover cover = { path, common, NULL, false, false };

	if (tr_array_room(filter->covers, filter->cover_count, filter->cover_cap))
		cover.covered = tr_covered_new();
	if (cover.covered)
		filter->covers[filter->cover_count++] = cover;
	else
		tr_cli_out_of_memory(filter->cli);
}

bool tr_filter_begin_covers(struct tr_filter *filter)
{
	struct tr_cli *cli = filter->cli;
	size_t inputs = cli->operand_count ? cli->operand_count : 1;

	if (!filter->cover_count)
		return true;
	filter->operands = calloc(filter->cover_count + inputs, sizeof *filter->operands);
	if (!filter->operands)
		return tr_cli_out_of_memory(cli);
	for (size_t i = 0; i < filter->cover_count; i++)
		filter->operands[i] = filter->covers[i].path;
	for (size_t i = 0; i < inputs; i++)
		filter->operands[filter->cover_count + i] =
			cli->operand_count ? cli->operands[i] : "-";
	cli->operands = filter->operands;
	cli->operand_count = filter->cover_count + inputs;
	return true;
}

/* Reports an error in a record. False: the tool must stop. */
static bool report(struct tr_filter *filter, struct tr_record *record, enum tr_status status,
		   const struct tr_error *err)
{
	if (status == TR_FATAL)
		return tr_cli_out_of_memory(filter->cli);
	if (status == TR_WARN)
		tr_cli_report_record(filter->cli, record, err, false);
	return !filter->cli->stop;
}

bool tr_filter_read_cover(struct tr_filter *filter, const struct tr_trace_place *place)
{
	struct tr_filter_cover *cover = NULL;
	struct tr_record *record;
	struct tr_error err;

	for (size_t i = 0; i < filter->cover_count && !cover; i++)
		if (place->file == filter->covers[i].path)
			cover = &filter->covers[i];
	/* if one of them cannot be read, which was reported, the result would be wrong */
	for (size_t i = 0; i < filter->cover_count && !cover; i++)
		if (!filter->covers[i].read)
			tr_cli_abandon(filter->cli);
	if (!cover)
		return false;
	cover->read = true;
	while (tr_cli_next_here(filter->cli, &record))
		if (!report(filter, record, tr_covered_add(cover->covered, record, &err), &err))
			break;
	if (!tr_covered_end(cover->covered) && !filter->cli->stop) {
		tr_cli_fail(filter->cli,
			    "--%s=%s: no blocks, units or source lines to compare with",
			    cover->common ? "common" : "minus", cover->path);
		tr_cli_abandon(filter->cli);
	}
	return true;
}

bool tr_filter_in_covers(struct tr_filter *filter, struct tr_record *record)
{
	for (size_t i = 0; i < filter->cover_count; i++) {
		struct tr_filter_cover *cover = &filter->covers[i];
		enum tr_covered_answer answer;
		struct tr_error err;
		enum tr_status status =
			tr_covered_test(cover->covered, record, cover->common, &answer, &err);
		if (!report(filter, record, status, &err) || status == TR_WARN)
			return false;
		if (answer == TR_COVERED_NO && !cover->noted &&
		    !tr_covered_has_kind(cover->covered, record)) {
			cover->noted = true;
			tr_cli_note(filter->cli, "--%s=%s has no %s to compare with",
				    cover->common ? "common" : "minus", cover->path,
				    tr_text_is(record->kind, "block")  ? "blocks"
				    : tr_text_is(record->kind, "unit") ? "units"
								       : "source lines");
		}
		if (record->type == TR_RECORD && answer == TR_COVERED_OTHER &&
		    tr_context_kind(record->kind) < 0)
			return false;
		if (answer == TR_COVERED_NEVER ||
		    (answer != TR_COVERED_OTHER && (answer == TR_COVERED_YES) != cover->common))
			return false;
	}
	return true;
}

void tr_filter_free_covers(struct tr_filter *filter)
{
	for (size_t i = 0; i < filter->cover_count; i++)
		tr_covered_free(filter->covers[i].covered);
	free(filter->covers);
	free(filter->operands);
}
