/* SPDX-License-Identifier: MIT */
/*
 * Coverage by source line.
 *
 *	modules and shared objects -> tr_programs_put; block -> tr_lines_count
 *	source, srcline, srcfunction, srcbranch -> tr_sources_put
 *	finish: tr_lines_make -> the lines of programs, which are added to those of records
 */
#include "coverage/coverage.h"

#include "coverage/lines.h"
#include "record/ask.h"

const char *const tr_coverage_kinds[] = { "block",     "source", "srcline", "srcfunction",
					  "srcbranch", "module", "load",    NULL };

void tr_coverage_begin(struct tr_coverage *coverage)
{
	tr_programs_begin(&coverage->programs);
	coverage->history = coverage->map = false;
	coverage->sources.last = NULL;
}

enum { BITS = TR_EXEC_BR0 | TR_EXEC_BR1 | TR_EXEC_BLOCK | TR_EXEC_FAULT };

/* Whether a block says that something was executed here. */
static bool is_counted(const struct tr_coverage *coverage, const struct tr_block *block)
{
	return !coverage->map && block->op != TR_EXEC_SPECIAL && block->op & BITS;
}

size_t tr_coverage_put_blocks(struct tr_coverage *coverage, const struct tr_block *blocks,
			      size_t count)
{
	struct tr_error err;
	size_t taken = 0;

	if (!coverage->programs.count || coverage->programs.modules.count)
		return 0;
	tr_error_clear(&err);
	for (; taken < count; taken++) {
		struct tr_block block = blocks[taken];
		if (!is_counted(coverage, &block))
			continue;
		coverage->entries = true;
		struct tr_loaded_program *loaded =
			tr_programs_place(&coverage->programs, NULL, &block, &err);
		if (loaded && !tr_lines_count(loaded, &block, 1))
			break;
	}
	return taken;
}

/* Counts a block. */
static enum tr_status put_block(struct tr_coverage *coverage, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	uint64_t times = 1;
	if (!coverage->programs.count && !coverage->programs.path_count) {
		tr_error_say(
			err, TR_CAUSE_USAGE,
			"the source lines of blocks need the program that was run: -O exe=PROG "
			"(or -O path=DIR for the modules of a drcov trace)");
		return TR_FATAL;
	}
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || !is_counted(coverage, &block))
		return status;
	if (!tr_block_built(record)) {
		times = tr_ask_number(record, "hits", UINT64_MAX, err);
		coverage->counted |= times != UINT64_MAX;
		times = times == UINT64_MAX ? 1 : times;
	}
	coverage->entries = true;
	struct tr_loaded_program *loaded = NULL;
	if (!tr_error_is_memory(err))
		loaded = tr_programs_place(&coverage->programs, record, &block, err);
	if (tr_error_is_memory(err) || (loaded && !tr_lines_count(loaded, &block, times)))
		return tr_error_memory(err);
	return TR_OK;
}

enum tr_status tr_coverage_put(struct tr_coverage *coverage, struct tr_record *record,
			       struct tr_error *err)
{
	tr_error_clear(err);
	if (tr_text_is(record->kind, "block"))
		return put_block(coverage, record, err);
	enum tr_status status = tr_sources_put(&coverage->sources, record, err);
	if (status != TR_END) {
		coverage->entries |= status == TR_OK;
		coverage->counted |= status == TR_OK;
		return status;
	}
	if (tr_text_is(record->kind, "section")) {
		bool text = record->name.type == TR_CELL_TEXT;
		coverage->history = text && tr_text_is(record->name.text, "HISTORY");
		coverage->map = text && tr_text_is(record->name.text, "DECISION_MAP");
		coverage->counted |= coverage->history;
	}
	return tr_programs_put(&coverage->programs, record, err);
}

bool tr_coverage_finish(struct tr_coverage *coverage)
{
	bool good = tr_lines_make(&coverage->programs, coverage->counted, &coverage->sources);
	tr_sources_sort(&coverage->sources);
	return good;
}

bool tr_coverage_remark(struct tr_coverage *coverage, struct tr_error *err)
{
	for (size_t i = 0; i < coverage->programs.count && !coverage->bare; i++) {
		const struct tr_elf *program = coverage->programs.list[i]->program;
		if (program->head.has_lines)
			continue;
		coverage->bare = true;
		tr_error_set(
			err, TR_CAUSE_INPUT,
			"%s has no debug information, so it has no lines: compile it with -g, or "
			"install its debug file",
			program->path);
		tr_error_is_note(err);
		return true;
	}
	if (coverage->remarked)
		return false;
	coverage->remarked = true;
	return tr_programs_remark(&coverage->programs, err);
}

void tr_coverage_free(struct tr_coverage *coverage)
{
	tr_sources_free(&coverage->sources);
	tr_lines_free(&coverage->programs);
	tr_programs_free(&coverage->programs);
}
