/* SPDX-License-Identifier: MIT */
#include "process/kinship.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "process/command.h"

enum {
	SEEN = 1,
	SHADED = 2,  /* it or somebody above it is a driver */
	DRIVES = 4,  /* it has run a compiler, so it is a driver by what it does */
	WAITING = 8, /* whether it is shaded is not known yet */
	PAGE = 64    /* states in one page, two in a byte */
};

struct tr_kinship_waiting {
	struct tr_kinship_waiting *previous, *next; /* of all, or of those that are ready */
	struct tr_kinship_waiting *sibling;	    /* waits for the same parent */
	uint64_t seq, parent;
	enum tr_kin kin;
	size_t len, product_len;
	char what[]; /* and the product after it */
};

static unsigned state_of(const struct tr_kinship *kinship, uint64_t seq)
{
	const unsigned char *page = tr_id_map_get(&kinship->pages, seq / PAGE);

	return page ? page[seq % PAGE / 2] >> (seq % 2 * 4) & 15U : 0;
}

static bool set_state(struct tr_kinship *kinship, uint64_t seq, unsigned state)
{
	if (seq == TR_NO_POSITION)
		return true;
	unsigned char *page = tr_id_map_get(&kinship->pages, seq / PAGE);
	if (!page) {
		page = calloc(1, PAGE / 2);
		if (!page || !tr_id_map_put(&kinship->pages, seq / PAGE, page)) {
			free(page);
			return false;
		}
	}
	unsigned shift = seq % 2 * 4;
	unsigned char *both = &page[seq % PAGE / 2];
	*both = (unsigned char)((*both & ~(15U << shift)) | state << shift);
	return true;
}

/* Those who waited for seq are ready, in the order in which they came. */
static void wake(struct tr_kinship *kinship, uint64_t seq)
{
	if (seq == TR_NO_POSITION)
		return;
	struct tr_kinship_waiting *one = tr_id_map_take(&kinship->waiting, seq);
	struct tr_kinship_waiting *reversed = NULL;

	while (one) {
		struct tr_kinship_waiting *sibling = one->sibling;
		one->sibling = reversed;
		reversed = one;
		one = sibling;
	}
	while (reversed) {
		one = reversed;
		reversed = one->sibling;
		*(one->previous ? &one->previous->next : &kinship->first) = one->next;
		*(one->next ? &one->next->previous : &kinship->last) = one->previous;
		if (kinship->cursor == one)
			kinship->cursor = one->next;
		one->next = NULL;
		*(kinship->ready ? &kinship->ready_last->next : &kinship->ready) = one;
		kinship->ready_last = one;
	}
}

/* Its parent has that state, 0 where nothing is known of it. */
static enum tr_kin_verdict settle(struct tr_kinship *kinship, uint64_t seq, uint64_t parent,
				  unsigned above, enum tr_kin kin)
{
	bool hidden = above & SHADED;
	unsigned state = SEEN | (above & SHADED);

	/* nobody starts these by themselves, as far as a trace without parents can tell */
	if (kin == TR_KIN_COMPILER || kin == TR_KIN_PART)
		hidden |= !(above & SEEN);
	if (kin == TR_KIN_PART || kin == TR_KIN_TOOL || kin == TR_KIN_LINKER ||
	    kin == TR_KIN_COLLECTOR)
		hidden |= (above & DRIVES) != 0;
	if (kin == TR_KIN_DRIVER)
		state |= SHADED;
	if (kin == TR_KIN_COLLECTOR)
		state |= DRIVES; /* the linker that it runs is not another link */
	if (kin == TR_KIN_COMPILER && (above & SEEN) && !(above & DRIVES) &&
	    !set_state(kinship, parent, above | DRIVES))
		return TR_KIN_FAILED;
	if (!set_state(kinship, seq, state))
		return TR_KIN_FAILED;
	wake(kinship, seq);
	return hidden ? TR_KIN_HIDDEN : TR_KIN_KEPT;
}

enum tr_kin_verdict tr_kinship_judge(struct tr_kinship *kinship, uint64_t seq, uint64_t parent,
				     enum tr_kin kin)
{
	unsigned above = parent == TR_NO_POSITION ? 0 : state_of(kinship, parent);
	bool comes = parent != TR_NO_POSITION && seq != TR_NO_POSITION && parent > seq && !above;

	if (!comes && !(above & WAITING))
		return settle(kinship, seq, parent, above, kin);
	return set_state(kinship, seq, SEEN | WAITING) ? TR_KIN_WAITS : TR_KIN_FAILED;
}

static struct tr_kinship_waiting *copy(enum tr_kin kin, struct tr_text product, struct tr_text what)
{
	struct tr_kinship_waiting *one = malloc(sizeof *one + what.len + product.len);

	if (!one)
		return NULL;
	*one = (struct tr_kinship_waiting){ .kin = kin,
					    .len = what.len,
					    .product_len = product.len };
	if (what.len)
		memcpy(one->what, what.data, what.len);
	if (product.len)
		memcpy(one->what + what.len, product.data, product.len);
	return one;
}

static bool wait_for_parent(struct tr_kinship *kinship, uint64_t seq, uint64_t parent,
			    struct tr_kinship_waiting *one)
{
	if (!one)
		return false;
	one->previous = kinship->last;
	one->sibling = tr_id_map_get(&kinship->waiting, parent);
	one->seq = seq;
	one->parent = parent;
	if (!tr_id_map_put(&kinship->waiting, parent, one)) {
		free(one);
		return false;
	}
	*(kinship->last ? &kinship->last->next : &kinship->first) = one;
	kinship->last = one;
	return true;
}

bool tr_kinship_wait(struct tr_kinship *kinship, uint64_t seq, uint64_t parent, enum tr_kin kin,
		     struct tr_text what)
{
	return wait_for_parent(kinship, seq, parent, copy(kin, TR_TEXT(""), what));
}

static bool is_linker(enum tr_kin kin)
{
	return kin == TR_KIN_LINKER || kin == TR_KIN_COLLECTOR;
}

/* Nothing that is known runs it: whether a driver explains it is known at the end. */
static bool wait_for_driver(struct tr_kinship *kinship, struct tr_kinship_waiting *one)
{
	if (!one)
		return false;
	one->next = NULL;
	*(kinship->linkers ? &kinship->last_linker->next : &kinship->linkers) = one;
	kinship->last_linker = one;
	return true;
}

/*
 * Nobody else comes: whoever waits for a missing one is ready, which makes those
 * ready who wait for that; in the end there are circles, one of which is broken.
 */
static void give_up(struct tr_kinship *kinship)
{
	if (!kinship->ending)
		kinship->cursor = kinship->first;
	kinship->ending = true;
	while (kinship->cursor && state_of(kinship, kinship->cursor->parent) & WAITING)
		kinship->cursor = kinship->cursor->next;
	const struct tr_kinship_waiting *one = kinship->cursor ? kinship->cursor : kinship->first;
	if (one)
		wake(kinship, one->parent);
}

bool tr_kinship_next(struct tr_kinship *kinship, bool at_end, struct tr_text *what)
{
	for (;;) {
		free(kinship->given);
		kinship->given = NULL;
		if (!kinship->ready && at_end)
			give_up(kinship);
		struct tr_kinship_waiting *one = kinship->ready;
		if (!one) {
			kinship->ending = false;
			return false;
		}
		kinship->ready = one->next;
		kinship->given = one;
		unsigned above = state_of(kinship, one->parent);
		/* a circle: of a parent that waits itself nothing is known */
		if (above & WAITING)
			above = 0;
		enum tr_kin_verdict verdict =
			settle(kinship, one->seq, one->parent, above, one->kin);
		kinship->failed |= verdict == TR_KIN_FAILED;
		if (verdict == TR_KIN_KEPT && is_linker(one->kin) && !above) {
			kinship->given = NULL;
			wait_for_driver(kinship, one);
			continue;
		}
		if (verdict != TR_KIN_KEPT || !one->len)
			continue;
		*what = (struct tr_text){ one->what, one->len };
		return true;
	}
}

static bool emit_ready(struct tr_kinship *kinship, bool at_end, tr_kinship_emit *emit,
		       void *context)
{
	struct tr_text what;

	while (tr_kinship_next(kinship, at_end, &what))
		if (!emit(context, what))
			return false;
	return !kinship->failed;
}

static bool add_product(struct tr_map *products, struct tr_text product)
{
	struct tr_text *own;

	if (tr_map_get(products, product))
		return true;
	own = malloc(sizeof *own + product.len);
	if (!own)
		return false;
	*own = (struct tr_text){ (char *)(own + 1), product.len };
	if (product.len)
		memcpy(own + 1, product.data, product.len);
	if (tr_map_put(products, *own, own))
		return true;
	free(own);
	return false;
}

/* The trace does not show what runs the linker. */
static bool is_loose(const struct tr_kinship *kinship, const struct tr_record *record,
		     enum tr_kin kin, uint64_t parent)
{
	uint64_t seq;

	if (!is_linker(kin))
		return false;
	if (parent == TR_NO_POSITION)
		return true;
	/* a parent that has not come may come yet */
	return !state_of(kinship, parent) && tr_cell_number(&record->seq, &seq) && parent < seq;
}

/*
 * A driver, or a collector, makes the same file. What a linker makes is not known where a response
 * file that is missing says it: drivers write such files, so any of them explains that.
 */
static bool is_explained(const struct tr_kinship *kinship, const struct tr_kinship_waiting *one)
{
	struct tr_text product = { one->what + one->len, one->product_len };
	bool collector = one->kin == TR_KIN_COLLECTOR;

	if (!product.len)
		return kinship->driven.count || (!collector && kinship->collected.count);
	return tr_map_get(&kinship->driven, product) ||
	       (!collector && tr_map_get(&kinship->collected, product));
}

static bool emit_linkers(struct tr_kinship *kinship, tr_kinship_emit *emit, void *context)
{
	for (const struct tr_kinship_waiting *one = kinship->linkers; one; one = one->next)
		if (one->len && !is_explained(kinship, one) &&
		    !emit(context, (struct tr_text){ one->what, one->len }))
			return false;
	return true;
}

enum tr_kin_verdict tr_kinship_take(struct tr_kinship *kinship, struct tr_record *record,
				    enum tr_kin kin, struct tr_text product, struct tr_text what,
				    tr_kinship_emit *emit, void *context)
{
	uint64_t seq, parent = tr_command_number(record, "parent");
	bool done = true;

	if (product.data && !is_linker(kin) && !add_product(&kinship->driven, product))
		return TR_KIN_FAILED;
	if (product.data && kin == TR_KIN_COLLECTOR && !add_product(&kinship->collected, product))
		return TR_KIN_FAILED;

	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_NO_POSITION;
	enum tr_kin_verdict verdict = tr_kinship_judge(kinship, seq, parent, kin);
	if (verdict == TR_KIN_KEPT && is_loose(kinship, record, kin, parent))
		return wait_for_driver(kinship, copy(kin, product, what)) &&
				       emit_ready(kinship, false, emit, context)
			       ? TR_KIN_WAITS
			       : TR_KIN_FAILED;
	if (verdict == TR_KIN_WAITS)
		done = wait_for_parent(kinship, seq, parent, copy(kin, product, what));
	else if (verdict == TR_KIN_KEPT && what.len)
		done = emit(context, what);
	return done && emit_ready(kinship, false, emit, context) ? verdict : TR_KIN_FAILED;
}

bool tr_kinship_end(struct tr_kinship *kinship, tr_kinship_emit *emit, void *context)
{
	bool done =
		emit_ready(kinship, true, emit, context) && emit_linkers(kinship, emit, context);

	tr_kinship_free(kinship);
	return done;
}

void tr_kinship_free(struct tr_kinship *kinship)
{
	size_t position = 0;
	struct tr_kinship_waiting *lists[] = { kinship->first, kinship->ready, kinship->given };
	void *page, *product;

	for (struct tr_kinship_waiting *one = kinship->linkers, *next; one; one = next) {
		next = one->next;
		free(one);
	}
	for (size_t at = 0; (product = tr_map_next(&kinship->driven, &at));)
		free(product);
	for (size_t at = 0; (product = tr_map_next(&kinship->collected, &at));)
		free(product);
	tr_map_free(&kinship->driven);
	tr_map_free(&kinship->collected);
	while ((page = tr_id_map_next(&kinship->pages, &position)))
		free(page);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		while (lists[i]) {
			struct tr_kinship_waiting *next = i < 2 ? lists[i]->next : NULL;
			free(lists[i]);
			lists[i] = next;
		}
	}
	tr_id_map_free(&kinship->pages);
	tr_id_map_free(&kinship->waiting);
	*kinship = (struct tr_kinship)TR_KINSHIP_INIT;
}
