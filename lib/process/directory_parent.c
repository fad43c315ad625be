/* SPDX-License-Identifier: MIT */
/* Whose child a process is, where that depends on who made it. */
#include "process/directory.h"

bool tr_origin_has_told(struct tr_origin *origin)
{
	for (struct tr_origin *from; (from = origin->asks) && from->settled;) {
		origin->asks = NULL;
		if (origin->sibling) {
			origin->asks = tr_origin_retain(from->asks);
			origin->sibling = from->sibling;
			origin->has_ppid = from->has_ppid;
			origin->ppid = from->ppid;
		} else if (from->thread) {
			origin->ppid = from->tgid;
		}
		tr_origin_release(from);
	}
	return origin->settled && !origin->asks;
}

void tr_origin_ask(struct tr_origin *origin, struct tr_origin *maker, bool sibling)
{
	struct tr_origin *from = maker;

	while (from && from != origin)
		from = from->asks;
	origin->has_ppid = !sibling && !from;
	if (from)
		return; /* a circle: nobody knows */
	origin->asks = tr_origin_retain(maker);
	origin->sibling = sibling;
	tr_origin_has_told(origin);
}
