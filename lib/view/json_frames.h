/* SPDX-License-Identifier: MIT */
/*
 * The stack frames of a segment, as the JSON objects that they are shown as:
 * records have nothing but their ids. Zero it.
 */
#ifndef TR_VIEW_JSON_FRAMES_H
#define TR_VIEW_JSON_FRAMES_H

#include <stdbool.h>

#include "core/map.h"
#include "core/text.h"

struct tr_json_frames {
	struct tr_map by_id;
	bool ended; /* records of the segment were shown: a header begins the next one */
};

/* Keeps copies; a later one of the same id replaces the one before. False: memory is out. */
bool tr_json_frames_put(struct tr_json_frames *frames, struct tr_text id, struct tr_text object);

/* data NULL: there is none. */
struct tr_text tr_json_frames_get(const struct tr_json_frames *frames, struct tr_text id);

/* Forgets all of them; usable afterwards. */
void tr_json_frames_clear(struct tr_json_frames *frames);

#endif
