/*
 * Lines go by once and in order. With --input-base=auto those of a segment are
 * put aside while a scout counts what speaks for which reading; then they go
 * the same way as all others: to the filter, or to the comparison.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "tr_envdiff.h"

/* What is to be compared has to be known, even where it is not shown. */
static bool judge(void *context, struct tr_text name, bool fold, unsigned *verdict)
{
	struct tr_envdiff *envdiff = context;
	bool fine = tr_name_globs_judge(&envdiff->globs, name, fold, verdict);

	if (envdiff->comparison)
		*verdict &= ~(unsigned)TR_NAME_HIDDEN;
	return fine;
}

static struct tr_lineage *new_lineage(struct tr_envdiff *envdiff, bool against_top, bool doubts)
{
	struct tr_lineage_config config = {
		.against_top = against_top,
		/* with rules an environment that cannot be told otherwise is not told as it was
		   read */
		.wants_parent = !envdiff->comparison && (envdiff->base == TR_TELLS_PARENT ||
							 tr_name_globs_are_set(&envdiff->globs)),
		.doubts = doubts,
		.names = envdiff->names,
		.max_spool = envdiff->cli->config.read.limits.max_spool,
		.max_ratio = envdiff->cli->config.read.limits.max_ratio,
		.rules = { tr_name_globs_are_set(&envdiff->globs) ? judge : NULL, envdiff },
	};
	struct tr_lineage *lineage = tr_lineage_new(&config);
	if (!lineage)
		tr_envdiff_out_of_memory(envdiff);
	return lineage;
}

static bool consume(struct tr_envdiff *envdiff, struct tr_record *record)
{
	return envdiff->comparison ? tr_comparison_line(envdiff, record)
				   : tr_envdiff_filter_line(envdiff, record);
}

static uint64_t doubts_of(const struct tr_environment_doubts *doubts)
{
	return doubts->redundant + doubts->impossible;
}

/*
 * Was the writer's base the first environment? A writer says nothing that goes
 * without saying, and removes nothing that is not there: of two readings the
 * one that has it so is wrong. A few cases of that are only bad manners.
 */
static bool means_top(const struct tr_lineage_doubts *doubts)
{
	uint64_t entries = doubts->sets + doubts->removals;
	uint64_t parent = doubts_of(&doubts->against_parent);
	uint64_t top = doubts_of(&doubts->against_top);

	if (parent <= top)
		return false;
	return !top || parent > entries / 20;
}

static void tell_evidence(struct tr_envdiff *envdiff, const struct tr_lineage_doubts *doubts,
			  bool top)
{
	const struct tr_environment_doubts *parent = &doubts->against_parent;
	const struct tr_environment_doubts *first = &doubts->against_top;
	bool differs = doubts_of(parent) != doubts_of(first);
	struct tr_error err;

	tr_error_set(&err, TR_CAUSE_NONE,
		     "input base is %s%s: of %" PRIu64 " settings and %" PRIu64
		     " removals, %" PRIu64 " are redundant and %" PRIu64
		     " impossible as differences against the parent, %" PRIu64 " and %" PRIu64
		     " against the first environment",
		     top ? "top" : "parent", differs ? "" : " (nothing speaks against it)",
		     doubts->sets, doubts->removals, parent->redundant, parent->impossible,
		     first->redundant, first->impossible);
	tr_error_is_note(&err);
	tr_cli_report(envdiff->cli, &err);
}

/* What came before is complete. */
static bool end_place(struct tr_envdiff *envdiff)
{
	return envdiff->comparison ? tr_comparison_end(envdiff) : tr_envdiff_filter_end(envdiff);
}

/* The segment is complete: its lines are read as the writer meant them. */
static bool decide(struct tr_envdiff *envdiff)
{
	struct tr_line_store *segment = &envdiff->segment;

	if (!end_place(envdiff))
		return false;
	if (!tr_lineage_settle(envdiff->scout))
		return tr_envdiff_out_of_memory(envdiff);
	const struct tr_lineage_doubts *doubts = tr_lineage_doubts(envdiff->scout);
	bool top = means_top(doubts);
	if (doubts->sets || doubts->removals)
		tell_evidence(envdiff, doubts, top);
	tr_lineage_free(envdiff->lineage);
	envdiff->lineage = NULL; /* who reports that there is no memory for the next one asks it */
	envdiff->lineage = new_lineage(envdiff, top, false);
	bool fine = envdiff->lineage != NULL;
	if (fine && !tr_lineage_begin(envdiff->scout))
		fine = tr_envdiff_out_of_memory(envdiff);
	while (fine && segment->count) {
		struct tr_record *record = tr_line_store_take(segment, envdiff->cli);
		fine = record && consume(envdiff, record);
	}
	return fine;
}

/* auto: the line waits until its segment has come as a whole. */
static bool put_aside(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_heir *heir;
	struct tr_error err;

	if (record->type == TR_HEADER && envdiff->segment.count && !decide(envdiff))
		return false;
	/* what is wrong with a record is reported when it is used */
	if (tr_lineage_follow(envdiff->scout, record, &heir, &err) == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	tr_lineage_release(envdiff->scout, heir);
	if (!tr_line_store_put(&envdiff->segment, envdiff->cli, record, false))
		return false;
	return record->type != TR_TRAILER || decide(envdiff);
}

static bool one_place(struct tr_envdiff *envdiff)
{
	struct tr_record *record;

	while (tr_cli_next_here(envdiff->cli, &record)) {
		if (!(envdiff->scout ? put_aside(envdiff, record) : consume(envdiff, record)))
			return false;
	}
	if (envdiff->cli->stop || (envdiff->segment.count && !decide(envdiff)))
		return false;
	return end_place(envdiff);
}

void tr_envdiff_run(struct tr_envdiff *envdiff)
{
	struct tr_trace_place *place;
	bool top = envdiff->input_base == TR_INPUT_TOP;

	envdiff->lineage = new_lineage(envdiff, top, false);
	if (envdiff->input_base == TR_INPUT_AUTO && envdiff->lineage)
		envdiff->scout = new_lineage(envdiff, false, true);
	if (envdiff->cli->stop)
		return;
	while (tr_cli_step(envdiff->cli, &place) && one_place(envdiff))
		;
	if (envdiff->comparison && !envdiff->cli->stop)
		tr_comparison_print(envdiff);
	else if (envdiff->mask && !envdiff->cli->stop)
		tr_mask_write(envdiff);
	if (!envdiff->cli->stop)
		tr_name_globs_report(&envdiff->globs, envdiff->cli);
}
