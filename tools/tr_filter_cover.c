/* SPDX-License-Identifier: MIT */
/*
 * tr-filter --minus and --common: selects what was executed in this trace and not in another one,
 * or in both. The files of these options are read as the first operands.
 */
#include "tr_filter.h"

#include <stdlib.h>

#include "coverage/covered.h"

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
