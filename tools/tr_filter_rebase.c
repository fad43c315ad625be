/*
 * --rebase: a program's environment is told as a difference against its
 * parent's, and the parent may be left out. Every exec record that comes by is
 * followed; those that are kept say their difference against the env record.
 * One whose parent stands behind it waits in the queue, open, until that is there.
 */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

#include "process/env_line.h"

struct tr_held {
	struct tr_held *next;
	struct tr_item *item;
	struct tr_heir *heir;
	uint64_t source_line, source_offset;
};

bool tr_rebase_begin(struct tr_rebase *rebase, const struct tr_limits *limits)
{
	struct tr_lineage_config config = { .max_spool = limits->max_spool,
					    .max_ratio = limits->max_ratio };

	if (rebase->lineage)
		return tr_lineage_begin(rebase->lineage);
	rebase->lineage = tr_lineage_new(&config);
	return rebase->lineage;
}

void tr_rebase_free(struct tr_rebase *rebase)
{
	while (rebase->first) {
		struct tr_held *next = rebase->first->next;
		tr_lineage_release(rebase->lineage, rebase->first->heir);
		free(rebase->first);
		rebase->first = next;
	}
	tr_lineage_release(rebase->lineage, rebase->heir);
	tr_lineage_free(rebase->lineage);
	tr_buffer_free(&rebase->map);
	tr_buffer_free(&rebase->line);
	*rebase = (struct tr_rebase){ .heir = NULL };
}

/* It cannot be told as it should; where that is a loss, say so. */
static void tell_of_failure(struct tr_filter *filter, const struct tr_record *record,
			    const struct tr_heir *heir)
{
	struct tr_error err;

	if (heir->telling == TR_TELLS_WHOLE)
		return; /* it depends on nothing as it is */
	tr_error_set(&err, TR_CAUSE_INPUT, "%s: this environment is not rebased",
		     tr_heir_trouble(filter->rebase.lineage, heir));
	err.severity = TR_FLAW;
	tr_cli_report_record(filter->cli, record, &err, false);
}

/* The line of a settled heir, rebased. False: stop. */
static bool rebase_line(struct tr_filter *filter, const struct tr_record *record,
			const struct tr_heir *heir, struct tr_text *line)
{
	struct tr_rebase *rebase = &filter->rebase;
	const char *key;

	tr_buffer_reset(&rebase->map);
	tr_environments_may_write(tr_lineage_pool(rebase->lineage), line->len);
	enum tr_status status =
		tr_heir_tell(rebase->lineage, heir, TR_TELLS_TOP, &key, &rebase->map);
	if (status == TR_FATAL)
		return tr_filter_out_of_memory(filter);
	/* where nothing is said, nothing is lost */
	if (status != TR_OK && !tr_heir_is_silent(heir))
		tell_of_failure(filter, record, heir);
	if (filter->cli->stop || status == TR_WARN)
		return !filter->cli->stop;
	tr_buffer_reset(&rebase->line);
	if (!tr_env_line_put(*line, key, tr_buffer_text(&rebase->map), &rebase->line))
		return tr_filter_out_of_memory(filter);
	*line = tr_buffer_text(&rebase->line);
	return true;
}

bool tr_filter_rebase(struct tr_filter *filter, const struct tr_record *record,
		      struct tr_text *line)
{
	struct tr_heir *heir = filter->rebase.heir;

	return !heir || !tr_text_is(record->kind, "exec") ||
	       rebase_line(filter, record, heir, line);
}

bool tr_rebase_must_wait(const struct tr_rebase *rebase)
{
	return rebase->heir && rebase->heir->waits;
}

bool tr_filter_hold_exec(struct tr_filter *filter, const struct tr_record *record,
			 struct tr_text line)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_held *held = malloc(sizeof *held);
	struct tr_item *item =
		held ? tr_queue_add(&filter->queue, TR_ITEM_SELECTED, line, NULL) : NULL;

	if (!item) {
		free(held);
		return tr_filter_out_of_memory(filter);
	}
	item->open = true;
	filter->waiting++;
	*held = (struct tr_held){ NULL, item, rebase->heir, record->source_line,
				  record->source_offset };
	rebase->heir->references++;
	*(rebase->first ? &rebase->last->next : &rebase->first) = held;
	rebase->last = held;
	return tr_filter_relieve(filter);
}

/* Its environment is known, or never will be. */
static bool decide(struct tr_filter *filter, const struct tr_held *held)
{
	struct tr_record place = { .source_line = held->source_line,
				   .source_offset = held->source_offset };
	struct tr_item *item = held->item;
	struct tr_text line = item->text;

	if (!rebase_line(filter, &place, held->heir, &line))
		return false;
	return line.data == item->text.data || tr_queue_replace(&filter->queue, item, line) ||
	       tr_filter_out_of_memory(filter);
}

/* Those in front that wait no more, or all, may go out. fine: as they should be. */
static bool decide_first(struct tr_filter *filter, bool all, bool fine)
{
	struct tr_rebase *rebase = &filter->rebase;

	while (rebase->first && (all || !rebase->first->heir->waits)) {
		struct tr_held *held = rebase->first;
		fine = fine && decide(filter, held);
		held->item->open = false;
		rebase->first = held->next;
		tr_lineage_release(rebase->lineage, held->heir);
		free(held);
	}
	return fine;
}

bool tr_filter_follow_rebase(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_error err;

	tr_lineage_release(rebase->lineage, rebase->heir);
	rebase->heir = NULL;
	switch (tr_lineage_follow(rebase->lineage, record, &rebase->heir, &err)) {
	case TR_FATAL:
		tr_cli_abort(filter->cli, &err);
		return false;
	case TR_OK:
		break;
	default:
		tr_cli_report_record(filter->cli, record, &err, false);
	}
	if (!rebase->first || rebase->first->heir->waits)
		return !filter->cli->stop;
	return decide_first(filter, false, true) && tr_filter_drain(filter);
}

bool tr_filter_settle_rebase(struct tr_filter *filter)
{
	struct tr_rebase *rebase = &filter->rebase;

	if (!rebase->first)
		return true;
	bool fine = !filter->cli->stop &&
		    (tr_lineage_settle(rebase->lineage) || tr_filter_out_of_memory(filter));
	return decide_first(filter, true, fine);
}
