/* SPDX-License-Identifier: MIT */
/*
 * Which event a reader of the written trace takes for an event's parent. Ids are used again, and a
 * parent may be left out, so it need not be the parent that the record names; and it may come
 * later. Every written record therefore goes through the same queue as in a reader (parents.h),
 * with its ordinal in the trace as its seq, because the seqs of a stream may repeat, or come in any
 * order.
 */
#ifndef TR_FORMAT_KLOCWORK_WRITER_KIN_H
#define TR_FORMAT_KLOCWORK_WRITER_KIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "core/text.h"
#include "format/klocwork/object.h"
#include "format/klocwork/parents.h"
#include "format/klocwork/render.h"
#include "record/record.h"

/* Events that the writer counts and reports at the end. */
struct tr_klocwork_tally {
	uint64_t strangers; /* env-diff against a parent that is not in the trace */
	uint64_t unknown;   /* env-diff could not be computed */
	uint64_t limited;   /* env-diff would take too much memory */
	uint64_t mistaken;  /* a reader takes another event for the parent */
	uint64_t unstated;  /* no environment, in a trace with an env line of the writer's own */
};

/* The place of the parent that a record names. */
enum tr_klocwork_place {
	TR_KLOCWORK_ROOT,     /* it has none */
	TR_KLOCWORK_WRITTEN,  /* earlier in the trace */
	TR_KLOCWORK_STRANGER, /* not in the trace, or not yet */
};

/* The parent of an event that is to be written. */
struct tr_klocwork_parentage {
	struct tr_text id, parent_id; /* keys (object.h) of the ids that will be written */
	enum tr_klocwork_place place;
	uint64_t parent;		/* WRITTEN: its ordinal; STRANGER: its seq */
	struct tr_klocwork_parent read; /* the one that a reader finds: an ordinal */
	bool settled;			/* the env-diff is against the one that a reader finds */
};

struct tr_klocwork_kin {
	struct tr_klocwork_parents parents;
	uint64_t count; /* records in the trace: the next one's ordinal */
	/* from the seq of each event of the segment to its ordinal */
	struct tr_klocwork_ids written;
	/* from ordinals of events to their written ids, if children do not name them */
	struct tr_klocwork_ids numbers;
	struct tr_id_map names; /* ids that are not numbers: struct name */
	struct tr_klocwork_tally *tally;
};

/* The tally is borrowed. */
void tr_klocwork_kin_init(struct tr_klocwork_kin *kin, struct tr_klocwork_tally *tally);

/* Finds the parent that the record names and the one that its ppid refers to. False: memory. */
bool tr_klocwork_kin_find(struct tr_klocwork_kin *kin, struct tr_record *record,
			  const struct tr_klocwork_fields *fields,
			  struct tr_klocwork_parentage *parentage);

/* Another parent_id (JSON text; data NULL: none) will be written. False: memory is out. */
bool tr_klocwork_kin_rename(struct tr_klocwork_kin *kin, struct tr_text parent_id,
			    struct tr_arena *arena, struct tr_klocwork_parentage *parentage);

/* The ids that will be written are those of this object instead of the record's. */
void tr_klocwork_kin_reread(struct tr_klocwork_kin *kin, const struct tr_klocwork_object *object,
			    struct tr_klocwork_parentage *parentage);

/*
 * The id of the event with that ordinal, as JSON text in the arena; data NULL:
 * it was not kept, or was dropped. False: memory is out.
 */
bool tr_klocwork_kin_id(struct tr_klocwork_kin *kin, uint64_t ordinal, struct tr_arena *arena,
			struct tr_text *id);

/* Keeps the id of the event that is written next. False: memory is out. */
bool tr_klocwork_kin_keep_id(struct tr_klocwork_kin *kin, struct tr_record *record,
			     const struct tr_klocwork_parentage *parentage);

/*
 * Adds a written event of that many bytes. relative: its environment depends on its parent. False:
 * memory is out.
 */
bool tr_klocwork_kin_event(struct tr_klocwork_kin *kin, const struct tr_record *record,
			   const struct tr_klocwork_parentage *parentage, bool relative,
			   size_t weight);

/* Adds a written meta, env or raw record; some of them begin a scope. False: memory is out. */
bool tr_klocwork_kin_context(struct tr_klocwork_kin *kin, const struct tr_record *record,
			     size_t weight);

/* Adds lines that the stream does not have: a version, a creator, an env line. */
void tr_klocwork_kin_supplied(struct tr_klocwork_kin *kin, unsigned lines);

/* Ends the segment; ends the trace. */
void tr_klocwork_kin_end(struct tr_klocwork_kin *kin);
void tr_klocwork_kin_finish(struct tr_klocwork_kin *kin);

void tr_klocwork_kin_free(struct tr_klocwork_kin *kin);

#endif
