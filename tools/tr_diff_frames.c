/* SPDX-License-Identifier: MIT */
/* Counts the frames that contain differences. */

#include "tr_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANGES_MAX = 8 /* that are printed */ };

bool tr_diff_follow_frames(struct tr_diff_frames *frames, unsigned side,
			   const struct tr_record *record, uint64_t name, size_t count)
{
	struct tr_frame_list *list = &frames->sides[side];
	uint64_t *other = &frames->others[name % TR_FRAME_NAMES];

	if (name && *other == name)
		return true;
	if (record->name.type != TR_CELL_TEXT ||
	    !(tr_call_kinds_of(&frames->kinds, record->name.text) & TR_CALL_END_FRAME)) {
		*other = name;
		return true;
	}
	if (!tr_array_room(list->frames, list->count, list->cap))
		return false;
	list->frames[list->count++] = (struct tr_diff_frame){ .end = (uint32_t)count };
	return true;
}

void tr_diff_mark_frame(struct tr_diff_frames *frames, unsigned side, uint32_t record)
{
	struct tr_frame_list *list = &frames->sides[side];
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->frames[middle].end <= record)
			low = middle + 1;
		else
			high = middle;
	}
	/* a record after the last frame is in none */
	if (low < list->count)
		list->frames[low].differs = 1;
}

/* Appends the number of frames of a side that differ, and the ranges of their numbers. */
static void put_side(const struct tr_frame_list *list, struct tr_buffer *to)
{
	size_t differ = 0, ranges = 0;
	char text[64];

	for (size_t i = 0; i < list->count; i++)
		differ += list->frames[i].differs;
	snprintf(text, sizeof text, "%zu of %zu", differ, list->count);
	tr_buffer_put_text(to, tr_text_from(text));
	for (size_t i = 0; i < list->count; i++) {
		size_t end = i;
		if (!list->frames[i].differs)
			continue;
		while (end + 1 < list->count && list->frames[end + 1].differs)
			end++;
		if (ranges++ == RANGES_MAX) {
			tr_buffer_put_literal(to, ",...");
			break;
		}
		tr_buffer_put_text(to, ranges == 1 ? TR_TEXT(": ") : TR_TEXT(","));
		snprintf(text, sizeof text, end > i ? "%zu-%zu" : "%zu", i, end);
		tr_buffer_put_text(to, tr_text_from(text));
		i = end;
	}
}

void tr_diff_put_frames(const struct tr_diff_frames *frames, struct tr_buffer *to)
{
	if (!frames->sides[0].count && !frames->sides[1].count)
		return;
	tr_buffer_put_literal(to, "frames that differ: A ");
	put_side(&frames->sides[0], to);
	tr_buffer_put_literal(to, "; B ");
	put_side(&frames->sides[1], to);
	tr_buffer_put_byte(to, '\n');
}

void tr_diff_frames_free(struct tr_diff_frames *frames)
{
	free(frames->sides[0].frames);
	free(frames->sides[1].frames);
}
