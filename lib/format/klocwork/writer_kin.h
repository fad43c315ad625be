/*
 * Whom a reader of the trace that is being written takes for an event's parent.
 * Ids come again, and a parent may be left out, so this need not be the parent
 * that the record names; and who is read as the parent may come later. So every
 * record that is written goes through what a reader would do with it (parents.h),
 * with its ordinal in the trace in the place of a seq: seqs of a stream may
 * repeat, or stand in any order.
 */
#ifndef TR_FORMAT_KLOCWORK_WRITER_KIN_H
#define TR_FORMAT_KLOCWORK_WRITER_KIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/id_map.h"
#include "core/text.h"
#include "format/klocwork/ids.h"
#include "format/klocwork/object.h"
#include "format/klocwork/parents.h"
#include "format/klocwork/render.h"
#include "format/klocwork/writer_tally.h"
#include "record/record.h"

/* Where the parent that a record names is. */
enum tr_klocwork_place {
	TR_KLOCWORK_ROOT,     /* it has none */
	TR_KLOCWORK_WRITTEN,  /* in the trace, before */
	TR_KLOCWORK_STRANGER, /* not in the trace (yet) */
};

/* An event that is to be written. */
struct tr_klocwork_parentage {
	struct tr_text id, parent_id; /* keys (id.h) of what will stand there */
	enum tr_klocwork_place place;
	uint64_t parent;		/* WRITTEN: its ordinal; STRANGER: its seq */
	struct tr_klocwork_parent read; /* by a reader: an ordinal */
	bool settled; /* the env-diff is against what is read as the parent, whoever that is */
};

struct tr_klocwork_kin {
	struct tr_klocwork_parents parents;
	uint64_t count; /* records in the trace: the next one's ordinal */
	/* seq of each event of the segment, to its ordinal */
	struct tr_klocwork_ids written;
	/* ordinals of events to their ids as written, where children do not say them */
	struct tr_klocwork_ids numbers;
	struct tr_id_map names; /* those that are no numbers; to struct name */
	struct tr_klocwork_tally *tally;
};

/* The tally is borrowed. */
void tr_klocwork_kin_init(struct tr_klocwork_kin *kin, struct tr_klocwork_tally *tally);

/* Finds the parent that the record names, and that its ppid means. False: memory is out. */
bool tr_klocwork_kin_find(struct tr_klocwork_kin *kin, struct tr_record *record,
			  const struct tr_klocwork_fields *fields,
			  struct tr_klocwork_parentage *parentage);

/* Another parent_id (JSON text; data NULL: none) will stand there. False: memory is out. */
bool tr_klocwork_kin_rename(struct tr_klocwork_kin *kin, struct tr_text parent_id,
			    struct tr_arena *arena, struct tr_klocwork_parentage *parentage);

/* The ids that will stand there are those of this object, and not the record's. */
void tr_klocwork_kin_reread(struct tr_klocwork_kin *kin, const struct tr_klocwork_object *object,
			    struct tr_klocwork_parentage *parentage);

/*
 * The id of the event with that ordinal, as JSON text in the arena; data NULL:
 * it was not kept, or is forgotten. False: memory is out.
 */
bool tr_klocwork_kin_id(struct tr_klocwork_kin *kin, uint64_t ordinal, struct tr_arena *arena,
			struct tr_text *id);

/* Keeps the id of the event that is written next. False: memory is out. */
bool tr_klocwork_kin_keep_id(struct tr_klocwork_kin *kin, struct tr_record *record,
			     const struct tr_klocwork_parentage *parentage);

/*
 * The event is written, in so many bytes. tells: what it says of its environment
 * depends on who its parent is. False: memory is out.
 */
bool tr_klocwork_kin_event(struct tr_klocwork_kin *kin, const struct tr_record *record,
			   const struct tr_klocwork_parentage *parentage, bool tells,
			   size_t weight);

/* A meta, env or raw record is written: at some of them ids begin anew. False: memory is out. */
bool tr_klocwork_kin_context(struct tr_klocwork_kin *kin, const struct tr_record *record,
			     size_t weight);

/* So many lines are written that the stream does not have: a version, a creator, an env line. */
void tr_klocwork_kin_supplied(struct tr_klocwork_kin *kin, unsigned lines);

/* The segment is over; nothing more comes. */
void tr_klocwork_kin_end(struct tr_klocwork_kin *kin);
void tr_klocwork_kin_finish(struct tr_klocwork_kin *kin);

void tr_klocwork_kin_free(struct tr_klocwork_kin *kin);

#endif
