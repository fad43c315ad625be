/* SPDX-License-Identifier: MIT */
#include "view/json_frames.h"

#include <stdlib.h>

struct frame {
	struct tr_text id, object;
	char data[];
};

bool tr_json_frames_put(struct tr_json_frames *frames, struct tr_text id, struct tr_text object)
{
	struct frame *frame = malloc(sizeof *frame + id.len + object.len);

	if (!frame)
		return false;
	frame->id = (struct tr_text){ frame->data, id.len };
	frame->object = (struct tr_text){ frame->data + id.len, object.len };
	memcpy(frame->data, id.data, id.len);
	memcpy(frame->data + id.len, object.data, object.len);
	struct frame *before = tr_map_take(&frames->by_id, id);
	free(before);
	if (tr_map_put(&frames->by_id, frame->id, frame))
		return true;
	free(frame);
	return false;
}

struct tr_text tr_json_frames_get(const struct tr_json_frames *frames, struct tr_text id)
{
	const struct frame *frame = tr_map_get(&frames->by_id, id);

	return frame ? frame->object : (struct tr_text){ NULL, 0 };
}

void tr_json_frames_clear(struct tr_json_frames *frames)
{
	size_t position = 0;
	struct frame *frame;

	while ((frame = tr_map_next(&frames->by_id, &position)))
		free(frame);
	tr_map_free(&frames->by_id);
	frames->ended = false;
}
