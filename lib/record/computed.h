/* SPDX-License-Identifier: MIT */
/*
 * Fields that a record does not have but that follow from it and from the records before it:
 * see tr-filter(1). What computes them (view/computed.h) is given to what asks for them through
 * this, so that neither knows the other. A record's own field of the name always comes first.
 */
#ifndef TR_RECORD_COMPUTED_H
#define TR_RECORD_COMPUTED_H

#include "core/error.h"
#include "record/record.h"
#include "record/value.h"

struct tr_computed_fields {
	/*
	 * The value, in the arena of the record. leave: of an enter, NULL where it has none.
	 * NULL: the record has no such field, or (err->cause is set) memory is out.
	 */
	struct tr_value *(*get)(struct tr_computed_fields *self, struct tr_text key,
				struct tr_record *record, struct tr_record *leave,
				struct tr_error *err);
};

#endif
