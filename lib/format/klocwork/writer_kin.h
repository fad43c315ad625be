/*
 * Whom a reader of the trace that is being written takes for an event's parent:
 * the nearest event before with that id, as parents.h has it. Ids come again, so
 * this need not be the parent that the record names: that one may be left out,
 * or have run another program since.
 */
#ifndef TR_FORMAT_KLOCWORK_WRITER_KIN_H
#define TR_FORMAT_KLOCWORK_WRITER_KIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"
#include "format/klocwork/ids.h"
#include "record/record.h"

struct tr_klocwork_kin {
	struct tr_klocwork_ids ids; /* of the events written in this scope, to their seq */
	bool events;		    /* there were some */
};

#define TR_KLOCWORK_KIN_INIT \
	{ \
		TR_KLOCWORK_IDS_INIT, false \
	}

/* The seq of the event that a parent_id (JSON text; data NULL: absent) means; TR_NO_POSITION: none.
 */
uint64_t tr_klocwork_kin_find(struct tr_klocwork_kin *kin, struct tr_text parent_id);

/* The event is written. False: memory is out. */
bool tr_klocwork_kin_event(struct tr_klocwork_kin *kin, const struct tr_record *record,
			   uint64_t seq);

/* A meta or env record is written: at some of them ids begin anew. */
void tr_klocwork_kin_context(struct tr_klocwork_kin *kin, const struct tr_record *record);

void tr_klocwork_kin_forget(struct tr_klocwork_kin *kin);
void tr_klocwork_kin_free(struct tr_klocwork_kin *kin);

#endif
