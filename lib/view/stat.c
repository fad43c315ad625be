/* SPDX-License-Identifier: MIT */
#include "view/stat.h"

#include <stdlib.h>

#include "record/ask.h"
#include "record/vocabulary.h"
#include "record/literal.h"
#include "view/stat_private.h"

struct tr_stat *tr_stat_new(const struct tr_stat_config *config)
{
	struct tr_stat *stat = calloc(1, sizeof *stat);

	if (!stat)
		return NULL;
	stat->config = *config;
	struct tr_tally *timed = config->table == TR_STAT_BY_KEY ? &stat->keys : &stat->names;
	stat->calls.tally = timed;
	stat->calls.kinds.ask = config->call_kinds;
	if (!tr_stat_runs_init(&stat->runs, timed, config->top)) {
		tr_stat_free(stat);
		return NULL;
	}
	return stat;
}

void tr_stat_free(struct tr_stat *stat)
{
	if (!stat)
		return;
	tr_tally_free(&stat->kinds);
	tr_tally_free(&stat->names);
	tr_tally_free(&stat->tasks);
	tr_tally_free(&stat->errors);
	tr_tally_free(&stat->keys);
	tr_stat_runs_free(&stat->runs);
	tr_stat_calls_free(&stat->calls);
	tr_stat_blocks_free(&stat->blocks);
	tr_buffer_free(&stat->files);
	tr_arena_free(&stat->arena);
	free(stat);
}

bool tr_stat_file(struct tr_stat *stat, const struct tr_stat_file *from)
{
	struct tr_stat_input file = {
		.name = tr_arena_copy(&stat->arena, from->name),
		.format = tr_arena_copy(&stat->arena, from->format),
		.size = from->size,
		.unpacked = from->unpacked,
	};

	if (from->container.data)
		file.container = tr_arena_copy(&stat->arena, from->container);
	tr_buffer_put(&stat->files, (const char *)&file, sizeof file);
	return file.name.data && file.format.data && !stat->files.failed &&
	       tr_stat_calls_end(&stat->calls, from->unpacked);
}

/* Counts a cell by the bytes that it stands for. NULL: there is nothing in it, or memory is out. */
static struct tr_tally_entry *count_cell(struct tr_stat *stat, struct tr_tally *tally,
					 struct tr_record *record, const struct tr_cell *cell)
{
	struct tr_error err;

	if (cell->type == TR_CELL_ABSENT)
		return NULL;
	struct tr_text bytes = tr_ask_cell(cell, record->arena, &err);
	stat->failed |= !bytes.data;
	return bytes.data ? tr_tally_count(tally, bytes) : NULL;
}

/* Why it failed, where the record says that it did. */
static void count_error(struct tr_stat *stat, struct tr_record *record)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *error = tr_ask_any(record, "error", &err);
	if (error) {
		tr_literal_write(error, &text);
		tr_tally_count(&stat->errors, tr_buffer_text(&text));
	} else if (tr_ask_has(record, "failed", &err)) {
		tr_tally_count(&stat->errors, TR_TEXT("failed"));
	}
	stat->failed |= err.cause == TR_CAUSE_MEMORY || text.failed;
	tr_buffer_free(&text);
}

static void count_trailer(struct tr_stat *stat, struct tr_record *record)
{
	struct tr_error err;

	tr_error_clear(&err);
	stat->lost += tr_ask_number(record, "errors", 0, &err);
	stat->truncated |= tr_ask_has(record, "truncated", &err);
	stat->failed |= err.cause == TR_CAUSE_MEMORY;
}

enum sort { OTHER, BLOCK, CALL, LEAVE, SYS, EXEC, CONTEXT };

static enum sort sort_of(struct tr_text kind)
{
	static const struct {
		const char *kind;
		enum sort sort;
	} sorts[] = {
		{ "block", BLOCK }, { "call", CALL }, { "enter", CALL },
		{ "leave", LEAVE }, { "sys", SYS },   { "exec", EXEC },
	};

	for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
		if (tr_text_is(kind, sorts[i].kind))
			return sorts[i].sort;
	}
	return tr_context_kind(kind) >= 0 ? CONTEXT : OTHER;
}

static bool put_record(struct tr_stat *stat, struct tr_record *record, struct tr_text key)
{
	enum sort sort = sort_of(record->kind);
	struct tr_tally_entry *entry = NULL;
	/* the second half of a call: its first half was counted */
	bool second = sort == LEAVE && record->name.type != TR_CELL_ABSENT;

	stat->records += !second;
	tr_tally_count(&stat->kinds, record->kind);
	if (second || sort == CONTEXT)
		entry = NULL;
	else if (stat->config.table == TR_STAT_BY_KEY)
		entry = key.data ? tr_tally_count(&stat->keys, key) : NULL;
	else if (sort != BLOCK)
		entry = count_cell(stat, &stat->names, record, &record->name);
	if (!second)
		count_cell(stat, &stat->tasks, record, &record->task);
	if (sort == BLOCK)
		return tr_stat_blocks_put(&stat->blocks, record);
	if ((sort == CALL || sort == LEAVE) && !tr_stat_calls_put(&stat->calls, record, entry))
		return false;
	if (sort == SYS || sort == EXEC)
		count_error(stat, record);
	if (sort == SYS) {
		int64_t duration;
		if (!tr_instant_from_field(record, "dur", &duration))
			return false;
		if (duration != TR_INSTANT_NONE && duration >= 0)
			tr_tally_time(stat->runs.tally, entry, duration);
	}
	return tr_stat_runs_put(&stat->runs, record, entry);
}

bool tr_stat_put(struct tr_stat *stat, struct tr_record *record, struct tr_text key)
{
	switch (record->type) {
	case TR_RECORD:
		if (!put_record(stat, record, key))
			return false;
		break;
	case TR_DEFINITION:
		stat->definitions++;
		break;
	case TR_COMMENT:
		break;
	case TR_TRAILER:
		count_trailer(stat, record);
		/* fall through */
	case TR_HEADER:
		stat->segments += record->type == TR_HEADER;
		/* of a file that is no stream the calls end where it does */
		if (record->type == TR_HEADER && !tr_stat_calls_end(&stat->calls, 0))
			return false;
		if (!tr_stat_runs_put(&stat->runs, record, NULL))
			return false;
	}
	return !stat->kinds.failed && !stat->names.failed && !stat->tasks.failed &&
	       !stat->errors.failed && !stat->keys.failed && !stat->failed;
}
