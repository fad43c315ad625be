/* SPDX-License-Identifier: MIT */
/*
 * Decides which calls are parts of other calls, by the state of their parent. decide does it for a
 * call whose parent is known; calls with a pending parent are in a queue, and those that this
 * resolves are decided in a list, not by recursion.
 */
#include "process/call_filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "process/parent.h"

/* The state of a process. */
enum {
	SEEN = 1,
	BELOW_DRIVER = 2, /* it or an ancestor is a driver */
	DRIVES = 4,	  /* it has run a compiler, so it is a driver, whatever its name */
	PENDING = 8,	  /* it is not known yet whether it is below a driver */
	PAGE = 64	  /* states in one page, two in a byte */
};

/* The state of an exec record; 0: it has not come, or has no number. */
static unsigned state_of(const struct tr_call_filter *filter, uint64_t seq)
{
	const unsigned char *page = tr_id_map_get(&filter->pages, seq / PAGE);

	return page ? page[seq % PAGE / 2] >> (seq % 2 * 4) & 15U : 0;
}

/*
 * Sets the state of an exec record. States are kept four bits each, in pages, because every exec
 * record of a trace has one until the end. False: memory is exhausted.
 */
static bool set_state(struct tr_call_filter *filter, uint64_t seq, unsigned state)
{
	if (seq == TR_NO_POSITION)
		return true;
	unsigned char *page = tr_id_map_get(&filter->pages, seq / PAGE);
	if (!page) {
		page = calloc(1, PAGE / 2);
		if (!page || !tr_id_map_put(&filter->pages, seq / PAGE, page)) {
			free(page);
			return false;
		}
	}
	unsigned shift = seq % 2 * 4;
	unsigned char *both = &page[seq % PAGE / 2];
	*both = (unsigned char)((*both & ~(15U << shift)) | state << shift);
	return true;
}

/* Moves the calls that are pending on the process from the queue to the resolved ones. */
static void resolve(struct tr_call_filter *filter, uint64_t seq)
{
	struct tr_pending_item *item =
		seq == TR_NO_POSITION ? NULL : tr_pending_resolve(&filter->pending, seq);

	if (!item)
		return;
	*(filter->resolved ? &filter->last_resolved->sibling : &filter->resolved) = item;
	for (; item; item = item->sibling) {
		tr_pending_remove(&filter->pending, item);
		filter->last_resolved = item;
	}
}

/* Decides a call whose parent has the state `above`, 0 if that is unknown. */
static enum tr_call_verdict decide(struct tr_call_filter *filter, uint64_t seq, uint64_t parent,
				   unsigned above, enum tr_stage stage)
{
	bool hidden = above & BELOW_DRIVER;
	unsigned state = SEEN | (above & BELOW_DRIVER);

	/* drivers run these; a trace without parents cannot show an exception */
	if (stage == TR_STAGE_COMPILER || stage == TR_STAGE_ASSEMBLER)
		hidden |= !(above & SEEN);
	if (stage == TR_STAGE_ASSEMBLER || stage == TR_STAGE_TOOL || stage == TR_STAGE_LINKER ||
	    stage == TR_STAGE_COLLECTOR)
		hidden |= (above & DRIVES) != 0;
	if (stage == TR_STAGE_DRIVER)
		state |= BELOW_DRIVER;
	if (stage == TR_STAGE_COLLECTOR)
		state |= DRIVES; /* the linker that it runs is not another link */
	if (stage == TR_STAGE_COMPILER && (above & SEEN) && !(above & DRIVES) &&
	    !set_state(filter, parent, above | DRIVES))
		return TR_CALL_FAILED;
	if (!set_state(filter, seq, state))
		return TR_CALL_FAILED;
	resolve(filter, seq);
	return hidden ? TR_CALL_HIDDEN : TR_CALL_KEPT;
}

/* Adds a call to a queue. NULL: memory is exhausted. */
static struct tr_pending_item *add_call(struct tr_pending *queue, uint64_t seq, uint64_t parent,
					enum tr_stage stage, struct tr_text product,
					struct tr_text output)
{
	struct tr_pending_call call = { seq, parent, stage, output.len };
	char *room;
	struct tr_pending_item *item =
		tr_pending_make(queue, &call, output.len + product.len, 0, &room);

	if (item && output.len)
		memcpy(room, output.data, output.len);
	if (item && product.len)
		memcpy(room + output.len, product.data, product.len);
	return item;
}

/* The output of a pending call, which is the first part of its text. */
static struct tr_text output_of(const struct tr_pending_item *item)
{
	const struct tr_pending_call *call = item->data;

	return (struct tr_text){ item->text.data, call->output_len };
}

static bool is_linker(enum tr_stage stage)
{
	return stage == TR_STAGE_LINKER || stage == TR_STAGE_COLLECTOR;
}

/* Decides a resolved call, and emits its output if it is kept. False: memory is exhausted. */
static bool decide_resolved(struct tr_call_filter *filter, struct tr_pending_item *item,
			    tr_call_emit *emit, void *context)
{
	const struct tr_pending_call *call = item->data;
	unsigned above = state_of(filter, call->parent);

	if (above & PENDING)
		above = 0; /* the parent is pending in the same cycle */
	enum tr_call_verdict verdict = decide(filter, call->seq, call->parent, above, call->stage);
	if (verdict == TR_CALL_KEPT && is_linker(call->stage) && !above) {
		tr_pending_append(&filter->linkers, item);
		return true;
	}
	bool fine = verdict != TR_CALL_FAILED;
	if (verdict == TR_CALL_KEPT && call->output_len)
		fine = emit(context, output_of(item));
	tr_pending_free_item(item);
	return fine;
}

/* Decides all resolved calls, which may resolve others. False: memory is exhausted. */
static bool decide_all(struct tr_call_filter *filter, tr_call_emit *emit, void *context)
{
	struct tr_pending_item *item;
	bool fine = true;

	while (fine && (item = filter->resolved)) {
		filter->resolved = item->sibling;
		fine = decide_resolved(filter, item, emit, context);
	}
	return fine;
}

/* The kind of call that links a file; DRIVER if both do. */
enum { COLLECTOR = 1, DRIVER };

static uintptr_t linked_by(const struct tr_call_filter *filter, struct tr_text product)
{
	return (uintptr_t)tr_id_map_get(&filter->linked, tr_text_hash(filter->seed, product));
}

/* Adds a file that a driver or collector links. False: memory is exhausted. */
static bool add_product(struct tr_call_filter *filter, struct tr_text product, uintptr_t by)
{
	if (!filter->linked.count)
		filter->seed = tr_hash_seed(filter);
	filter->has_driver |= by == DRIVER;
	return linked_by(filter, product) >= by ||
	       tr_id_map_put(&filter->linked, tr_text_hash(filter->seed, product), (void *)by);
}

/*
 * True if a driver, or a collector, links the same file. If a missing response file names the file
 * of a linker, any driver is accepted, because drivers write such files.
 */
static bool is_explained(const struct tr_call_filter *filter, const struct tr_pending_item *item)
{
	const struct tr_pending_call *call = item->data;
	struct tr_text product = { item->text.data + call->output_len,
				   item->text.len - call->output_len };
	uintptr_t least = call->stage == TR_STAGE_COLLECTOR ? DRIVER : COLLECTOR;

	if (!product.len)
		return least == DRIVER ? filter->has_driver : filter->linked.count > 0;
	return linked_by(filter, product) >= least;
}

/*
 * Emits the outputs of linkers that nothing explains, after the last record. False: emit has
 * failed.
 */
static bool emit_linkers(struct tr_call_filter *filter, tr_call_emit *emit, void *context)
{
	for (const struct tr_pending_item *item = filter->linkers.first; item; item = item->next) {
		struct tr_text output = output_of(item);
		if (output.len && !is_explained(filter, item) && !emit(context, output))
			return false;
	}
	return true;
}

enum tr_call_verdict tr_call_filter_put(struct tr_call_filter *filter, struct tr_record *record,
					enum tr_stage stage, struct tr_text product,
					struct tr_text output, tr_call_emit *emit, void *context)
{
	struct tr_pending_item *item;
	struct tr_parent named;
	uint64_t seq;
	bool done = true;

	if (!tr_parent_read(record, &named))
		return TR_CALL_FAILED;
	uint64_t parent = named.seq;
	if (product.data && stage != TR_STAGE_LINKER &&
	    !add_product(filter, product, is_linker(stage) ? COLLECTOR : DRIVER))
		return TR_CALL_FAILED;
	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_NO_POSITION;
	unsigned above = parent == TR_NO_POSITION ? 0 : state_of(filter, parent);
	/* a parent with a higher seq may still come */
	bool comes = parent != TR_NO_POSITION && seq != TR_NO_POSITION && parent > seq && !above;
	if (comes || (above & PENDING)) {
		item = set_state(filter, seq, SEEN | PENDING)
			       ? add_call(&filter->pending, seq, parent, stage, product, output)
			       : NULL;
		done = item && tr_pending_hold(&filter->pending, item, parent) &&
		       (seq == TR_NO_POSITION || tr_pending_name(&filter->pending, item, seq));
		return done ? TR_CALL_PENDING : TR_CALL_FAILED;
	}
	enum tr_call_verdict verdict = decide(filter, seq, parent, above, stage);
	/* the trace does not show the program that runs the linker */
	bool loose = parent == TR_NO_POSITION || (!above && seq != TR_NO_POSITION && parent < seq);
	if (verdict == TR_CALL_KEPT && is_linker(stage) && loose) {
		verdict = TR_CALL_PENDING;
		done = add_call(&filter->linkers, seq, parent, stage, product, output);
	} else if (verdict == TR_CALL_KEPT && output.len) {
		done = emit(context, output);
	}
	return done && decide_all(filter, emit, context) ? verdict : TR_CALL_FAILED;
}

enum tr_call_verdict tr_call_filter_put_part(struct tr_call_filter *filter,
					     struct tr_record *record, tr_call_emit *emit,
					     void *context)
{
	struct tr_parent named;
	uint64_t seq;

	if (!tr_parent_read(record, &named))
		return TR_CALL_FAILED;
	unsigned above = named.seq == TR_NO_POSITION ? 0 : state_of(filter, named.seq);
	if (!(above & BELOW_DRIVER))
		return TR_CALL_KEPT;
	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_NO_POSITION;
	/* the stage makes no difference: whatever it runs is below the driver, too */
	enum tr_call_verdict verdict = decide(filter, seq, named.seq, above, TR_STAGE_OTHER);
	return decide_all(filter, emit, context) ? verdict : TR_CALL_FAILED;
}

bool tr_call_filter_end(struct tr_call_filter *filter, tr_call_emit *emit, void *context)
{
	struct tr_pending_item *item;
	bool cycle, done = true;

	/* parents that are missing will not come; each cycle is broken at its first call */
	while (done && (item = tr_pending_stuck(&filter->pending, &cycle))) {
		resolve(filter, item->key);
		done = decide_all(filter, emit, context);
	}
	done = done && emit_linkers(filter, emit, context);
	tr_call_filter_free(filter);
	return done;
}

void tr_call_filter_free(struct tr_call_filter *filter)
{
	struct tr_pending_item *item;
	size_t position = 0;
	void *page;

	while ((item = filter->resolved)) {
		filter->resolved = item->sibling;
		tr_pending_free_item(item);
	}
	tr_pending_free(&filter->pending);
	tr_pending_free(&filter->linkers);
	tr_id_map_free(&filter->linked);
	while ((page = tr_id_map_next(&filter->pages, &position)))
		free(page);
	tr_id_map_free(&filter->pages);
	*filter = (struct tr_call_filter)TR_CALL_FILTER_INIT;
}
