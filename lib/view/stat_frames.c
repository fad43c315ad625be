/* SPDX-License-Identifier: MIT */
/* What is said of API calls and of their frames. */
#include "view/stat_private.h"

#include <stdlib.h>

static const struct tr_stat_frame *frames_of(const struct tr_stat_calls *calls, size_t *count)
{
	*count = calls->frames.len / sizeof(struct tr_stat_frame);
	return (const void *)calls->frames.data;
}

static void report_frames(const struct tr_stat_calls *calls, struct tr_report *report)
{
	size_t count;
	const struct tr_stat_frame *frames = frames_of(calls, &count), *busiest = frames;
	uint64_t fewest = UINT64_MAX, sum = 0;

	tr_report_number(report, "frames", count);
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		sum += frames[i].calls;
		fewest = frames[i].calls < fewest ? frames[i].calls : fewest;
		busiest = frames[i].calls > busiest->calls ? &frames[i] : busiest;
	}
	tr_report_group(report, "calls-per-frame");
	tr_report_number(report, "fewest", fewest);
	tr_report_real(report, "mean", (double)sum / (double)count, 1);
	tr_report_number(report, "most", busiest->calls);
	tr_report_number(report, "in-frame", busiest->number);
	tr_report_number(report, "from-call", busiest->first);
	tr_report_number(report, "to-call", busiest->last);
	tr_report_group_end(report);
}

void tr_stat_calls_report(struct tr_stat_calls *calls, struct tr_report *report)
{
	tr_report_group(report, "calls");
	if (calls->api)
		tr_report_text(report, "api", tr_text_from(calls->api));
	tr_report_number(report, "calls", calls->calls);
	tr_report_number(report, "draws", calls->draws);
	tr_report_number(report, "fake", calls->fake);
	tr_report_number(report, "incomplete", calls->incomplete);
	report_frames(calls, report);
	tr_report_group(report, "blobs");
	tr_report_number(report, "count", calls->blobs);
	tr_report_number(report, "bytes", calls->blob_bytes);
	tr_report_number(report, "largest", calls->largest_blob);
	tr_report_group_end(report);
	tr_report_group_end(report);
}

static int most_calls_first(const void *a, const void *b)
{
	const struct tr_stat_frame *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

bool tr_stat_frames_report(struct tr_stat_calls *calls, struct tr_report *report, size_t top)
{
	static const char *const columns[] = { "calls", "draws", "bytes", "first",
					       "last",	"frame", NULL };
	size_t count;
	const struct tr_stat_frame *frames = frames_of(calls, &count);
	struct tr_stat_frame *list = malloc((count + 1) * sizeof *list);

	if (!list)
		return false;
	if (count)
		memcpy(list, frames, count * sizeof *list);
	qsort(list, count, sizeof *list, most_calls_first);
	tr_report_number(report, "frames", count);
	tr_report_table(report, "frame", columns);
	for (size_t i = 0; i < count && (!top || i < top); i++) {
		tr_report_cell_number(report, list[i].calls);
		tr_report_cell_number(report, list[i].draws);
		tr_report_cell_number(report, list[i].bytes);
		tr_report_cell_number(report, list[i].first);
		tr_report_cell_number(report, list[i].last);
		tr_report_cell_number(report, list[i].number);
	}
	tr_report_table_end(report);
	free(list);
	return true;
}
