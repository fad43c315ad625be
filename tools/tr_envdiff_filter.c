/*
 * The filter: lines go out in the order in which they came. Behind an exec
 * record whose parent has not come yet they wait; most streams have none.
 */
#include "config.h"

#include <inttypes.h>

#include "tr_envdiff.h"

static bool write_line(struct tr_envdiff *envdiff, struct tr_record *record,
		       const struct tr_heir *heir)
{
	return heir ? tr_envdiff_write_exec(envdiff, record, heir)
		    : tr_envdiff_write_other(envdiff, record);
}

/* The line waits behind others, or for its parent. Takes heir over. */
static bool wait(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_heir *heir)
{
	uint64_t before = envdiff->waiting.count;

	if (!tr_line_store_put(&envdiff->waiting, envdiff->cli, record, heir != NULL) ||
	    envdiff->waiting.count == before) {
		tr_lineage_release(envdiff->lineage, heir);
		return !envdiff->cli->stop;
	}
	if (heir) {
		*(envdiff->last ? &envdiff->last->behind : &envdiff->first) = heir;
		envdiff->last = heir;
	}
	return true;
}

static void drop_first(struct tr_envdiff *envdiff)
{
	struct tr_heir *heir = envdiff->first;

	envdiff->first = heir->behind;
	if (!envdiff->first)
		envdiff->last = NULL;
	tr_lineage_release(envdiff->lineage, heir);
}

/* Writes what need not wait any more. */
static bool drain(struct tr_envdiff *envdiff)
{
	struct tr_line_store *waiting = &envdiff->waiting;
	bool is_exec, fine = true;

	while (fine && waiting->count) {
		if (!tr_line_store_peek(waiting, envdiff->cli, &is_exec))
			return false;
		if (is_exec && envdiff->first->waits)
			return true;
		struct tr_record *record = tr_line_store_take(waiting, envdiff->cli);
		fine = record && write_line(envdiff, record, is_exec ? envdiff->first : NULL);
		if (is_exec)
			drop_first(envdiff);
	}
	return fine;
}

/* Nobody else comes for whom anybody could wait. */
static bool settle(struct tr_envdiff *envdiff)
{
	if (!tr_lineage_settle(envdiff->lineage))
		return tr_envdiff_out_of_memory(envdiff);
	return drain(envdiff);
}

static void tell_of_segment(struct tr_envdiff *envdiff)
{
	struct tr_error err;

	if (envdiff->untold && envdiff->untold == envdiff->execs) {
		tr_error_set(&err, TR_CAUSE_NONE,
			     envdiff->sets_seen ? "etrace's sets of variables are not environments"
			     : envdiff->globs.mask.count
				     ? "no exec record has an environment: no variables were masked"
				     : "no exec record has an environment");
		tr_error_is_note(&err);
		tr_cli_report(envdiff->cli, &err);
	} else if (envdiff->untold) {
		tr_error_set(&err, TR_CAUSE_NONE, "%" PRIu64 " exec records have no environment",
			     envdiff->untold);
		err.severity = TR_DETAIL;
		tr_cli_report(envdiff->cli, &err);
	}
	if (envdiff->kept_whole) {
		tr_error_set(&err, TR_CAUSE_NONE,
			     "%" PRIu64 " environments stay whole: their base is unknown",
			     envdiff->kept_whole);
		err.severity = TR_DETAIL;
		tr_cli_report(envdiff->cli, &err);
	}
}

static bool begin_segment(struct tr_envdiff *envdiff)
{
	tell_of_segment(envdiff);
	envdiff->execs = envdiff->untold = envdiff->kept_whole = 0;
	envdiff->added = envdiff->left_out = 0;
	envdiff->sets_seen = envdiff->has_header = false;
	return tr_lineage_begin(envdiff->lineage) || tr_envdiff_out_of_memory(envdiff);
}

static bool header(struct tr_envdiff *envdiff, struct tr_record *record)
{
	if (!settle(envdiff) || !begin_segment(envdiff))
		return false;
	envdiff->has_header = true;
	return tr_envdiff_put(envdiff, record);
}

/* Its count is put right by what was added and left out; if it was wrong it stays so. */
static bool trailer(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_buffer *line = &envdiff->line;
	uint64_t count;

	if (!settle(envdiff))
		return false;
	bool changed = envdiff->has_header && envdiff->added != envdiff->left_out &&
		       tr_cell_number(&record->seq, &count);
	if (changed) {
		tr_buffer_reset(line);
		tr_buffer_put_literal(line, "!end\t");
		tr_buffer_put_decimal(line, count + envdiff->added - envdiff->left_out);
		tr_buffer_put_text(line, record->rest);
		tr_buffer_put_byte(line, '\n');
		if (line->failed)
			return tr_envdiff_out_of_memory(envdiff);
		struct tr_record changed_trailer = { .line = tr_buffer_text(line) };
		if (!tr_envdiff_put(envdiff, &changed_trailer))
			return false;
	} else if (!tr_envdiff_put(envdiff, record)) {
		return false;
	}
	return begin_segment(envdiff);
}

/* Lines that wait take room on a disk; there is an end to that. */
static bool is_too_long(const struct tr_envdiff *envdiff)
{
	const struct tr_spool *spool = envdiff->waiting.spool;

	return spool && tr_spool_size(spool) > envdiff->cli->config.read.limits.max_spool / 2;
}

/* Writes the line now or, behind others, later. Takes heir over. */
static bool write_or_wait(struct tr_envdiff *envdiff, struct tr_record *record,
			  struct tr_heir *heir)
{
	if (envdiff->waiting.count || (heir && heir->waits))
		return wait(envdiff, record, heir) && (!heir || drain(envdiff));
	bool fine = write_line(envdiff, record, heir);
	tr_lineage_release(envdiff->lineage, heir);
	return fine;
}

/*
 * A segment without env record: the first environment that is told as a whole
 * is the first one, and has to be said for envtop to mean something.
 */
static bool supply_top(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_heir *heir)
{
	struct tr_record env = { .arena = record->arena };
	struct tr_error err;

	tr_lineage_make_top(envdiff->lineage, heir);
	if (!tr_envdiff_render_top(envdiff, heir->own, &envdiff->top_line))
		return false;
	envdiff->added++;
	tr_error_set(&err, TR_CAUSE_NONE,
		     "there is no first environment: that of the first exec record is taken");
	tr_error_is_note(&err);
	tr_cli_report_record(envdiff->cli, record, &err, false);
	if (!tr_record_from_line(&env, tr_buffer_text(&envdiff->top_line), &err)) {
		tr_cli_abort(envdiff->cli, &err);
		return false;
	}
	return !envdiff->cli->stop && write_or_wait(envdiff, &env, NULL);
}

static bool needs_top(const struct tr_envdiff *envdiff, const struct tr_heir *heir)
{
	return envdiff->base == TR_TELLS_TOP && heir && heir->telling == TR_TELLS_WHOLE &&
	       heir->own && tr_environment_is_whole(heir->own) &&
	       !tr_lineage_has_top(envdiff->lineage);
}

static bool record_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_heir *heir;
	struct tr_error err;
	bool unreadable = false;
	enum tr_status status = tr_lineage_follow(envdiff->lineage, record, &heir, &err);

	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status == TR_WARN)
		tr_cli_report_record(envdiff->cli, record, &err, false);
	if (envdiff->cli->stop || !tr_mask_collect(envdiff, record, &unreadable) || unreadable ||
	    (needs_top(envdiff, heir) && !supply_top(envdiff, record, heir))) {
		tr_lineage_release(envdiff->lineage, heir);
		return unreadable && !envdiff->cli->stop &&
		       tr_envdiff_leave_out(envdiff, record, "its environment cannot be read");
	}
	return write_or_wait(envdiff, record, heir) && (!is_too_long(envdiff) || settle(envdiff));
}

bool tr_envdiff_filter_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	switch (record->type) {
	case TR_HEADER:
		return header(envdiff, record);
	case TR_TRAILER:
		return trailer(envdiff, record);
	default:
		return record_line(envdiff, record);
	}
}

bool tr_envdiff_filter_end(struct tr_envdiff *envdiff)
{
	return settle(envdiff) && begin_segment(envdiff);
}
