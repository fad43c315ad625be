/* SPDX-License-Identifier: MIT */
/*
 * Statistics of API calls. Frames are counted as apitrace does: a call belongs
 * to the frame in which it returns; calls that never return do so at the end,
 * in the order in which they were entered.
 */
#include "view/stat_private.h"

#include <stdlib.h>

#include "core/container.h"
#include "record/ask.h"
#include "record/calls.h"

struct live_call {
	struct tr_live_call live;
	uint64_t seq;
	unsigned kinds;
	int64_t time;
	uint32_t entry;
};

static void count_blob(struct tr_stat_calls *calls, uint64_t bytes)
{
	calls->blobs++;
	calls->blob_bytes += bytes;
	if (bytes > calls->largest_blob)
		calls->largest_blob = bytes;
}

/* Recursion is bounded because values nest to a limited depth. */
static void find_blobs(struct tr_stat_calls *calls, const struct tr_value *value)
{
	switch (value->type) {
	case TR_BLOB:
		count_blob(calls, value->text.len);
		break;
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		count_blob(calls, value->as.number);
		break;
	case TR_LIST:
	case TR_REPR:
		for (size_t i = 0; i < value->count; i++)
			find_blobs(calls, &value->as.items[i]);
		break;
	case TR_MAP:
	case TR_STRUCT:
		for (size_t i = 0; i < value->count; i++)
			find_blobs(calls, value->as.members[i].value);
	}
}

/* False if the text has neither a blob nor .flags; most lines are such, and are not parsed. */
static bool is_of_interest(struct tr_text text)
{
	return memmem(text.data, text.len, "b64:", 4) || memmem(text.data, text.len, "blob:", 5) ||
	       memmem(text.data, text.len, "file:", 5) ||
	       memmem(text.data, text.len, "\t.flags=", 8);
}

static bool count_fields(struct tr_stat_calls *calls, struct tr_record *record)
{
	struct tr_error err;

	if (record->line.data && !record->split && !is_of_interest(record->rest))
		return true;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	tr_error_clear(&err);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		bool flags = tr_text_is(field->key, ".flags");
		bool spelled = field->text.data && !field->value;
		if (field->bad || (spelled && !flags && !is_of_interest(field->text)))
			continue;
		const struct tr_value *value = tr_ask_field(record, field, &err);
		if (err.cause == TR_CAUSE_MEMORY)
			return false;
		if (value && flags)
			calls->fake += value->type == TR_UINT && value->as.number & 1;
		else if (value)
			find_blobs(calls, value);
	}
	return true;
}

/*
 * A frame ends with a call that completes it, but its size is known only when the next record
 * shows where that call ended in the trace: until then, the frame is `closing`.
 */
static void close_frame(struct tr_stat_calls *calls, uint64_t offset)
{
	struct tr_stat_frame *frame = &calls->frame;

	frame->bytes = offset > frame->from ? offset - frame->from : 0;
	tr_buffer_put(&calls->frames, (const char *)frame, sizeof *frame);
	*frame = (struct tr_stat_frame){ .number = frame->number + 1, .from = offset };
	calls->closing = false;
}

static void returned(struct tr_stat_calls *calls, uint64_t seq, unsigned kinds)
{
	struct tr_stat_frame *frame = &calls->frame;

	if (frame->calls++ == 0)
		frame->first = seq;
	frame->last = seq;
	frame->draws += (kinds & TR_CALL_RENDER) != 0;
	calls->draws += (kinds & TR_CALL_RENDER) != 0;
	calls->closing = (kinds & TR_CALL_END_FRAME) != 0;
}

static bool enter(struct tr_stat_calls *calls, const struct tr_record *record, uint64_t seq,
		  unsigned kinds, uint32_t entry)
{
	struct tr_live_call *twin;
	struct live_call *call = tr_live_calls_add(&calls->live, record, sizeof *call, &twin);

	if (!call)
		return false;
	if (twin) {
		const struct live_call *lost = tr_container(twin, struct live_call, live);
		calls->incomplete++;
		returned(calls, lost->seq, lost->kinds);
		free(twin);
	}
	call->seq = seq;
	call->kinds = kinds;
	call->time = tr_instant_from_cell(&record->time);
	call->entry = entry;
	return true;
}

static bool leave(struct tr_stat_calls *calls, const struct tr_record *record, uint64_t seq)
{
	struct live_call *call = tr_live_calls_take(&calls->live, record);
	int64_t now = tr_instant_from_cell(&record->time);

	if (!call)
		return !calls->live.key.failed;
	if (now != TR_INSTANT_NONE && call->time != TR_INSTANT_NONE && now >= call->time)
		tr_tally_time(calls->tally, call->entry, now - call->time);
	returned(calls, seq, call->kinds);
	free(call);
	return true;
}

bool tr_stat_calls_put(struct tr_stat_calls *calls, struct tr_record *record, uint32_t entry)
{
	uint64_t seq;

	if (!record->line.data && record->source_offset != TR_NO_POSITION)
		calls->offset = record->source_offset;
	if (calls->closing)
		close_frame(calls, calls->offset);
	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_RUN_NONE;
	if (!count_fields(calls, record))
		return false;
	if (tr_text_is(record->kind, "leave"))
		return leave(calls, record, seq);
	struct tr_text name = record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("");
	unsigned kinds = tr_call_kinds_of(&calls->kinds, name);
	calls->calls++;
	if (!calls->api)
		calls->api = calls->call_api(name);
	if (tr_text_is(record->kind, "enter"))
		return enter(calls, record, seq, kinds, entry);
	returned(calls, seq, kinds);
	return !calls->frames.failed;
}

bool tr_stat_calls_end(struct tr_stat_calls *calls, uint64_t unpacked)
{
	uint64_t end = calls->offset ? unpacked : 0; /* a stream has no offsets of the trace */

	calls->incomplete += calls->live.by_key.count;
	while (calls->live.first) {
		struct live_call *call = tr_live_calls_remove(&calls->live, calls->live.first);
		if (calls->closing)
			close_frame(calls, end);
		returned(calls, call->seq, call->kinds);
		free(call);
	}
	if (calls->closing)
		close_frame(calls, end);
	/* calls after the last frame are not a frame; the next trace starts with call 0 */
	calls->frame = (struct tr_stat_frame){ .number = calls->frame.number };
	calls->offset = 0;
	return !calls->frames.failed;
}

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

void tr_stat_calls_free(struct tr_stat_calls *calls)
{
	tr_live_calls_free(&calls->live);
	tr_buffer_free(&calls->frames);
}
