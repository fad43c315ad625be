/* SPDX-License-Identifier: MIT */
#include "record/call_kind.h"

unsigned tr_call_kinds_of(struct tr_call_kinds *kinds, struct tr_text name)
{
	enum { SLOTS = sizeof kinds->slots / sizeof *kinds->slots };

	if (name.len == 0 || name.len > sizeof kinds->slots->name)
		return kinds->ask(name);
	/* names of one API differ at their ends */
	size_t hash = (unsigned char)name.data[name.len - 1] * 5u +
		      (unsigned char)name.data[name.len / 2] * 19u + name.len;
	struct tr_call_kinds_slot *slot = &kinds->slots[hash % SLOTS];
	if (slot->len == name.len && memcmp(slot->name, name.data, name.len) == 0)
		return slot->kinds;
	slot->kinds = (unsigned char)kinds->ask(name);
	slot->len = (unsigned char)name.len;
	memcpy(slot->name, name.data, name.len);
	return slot->kinds;
}
