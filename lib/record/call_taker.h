/* SPDX-License-Identifier: MIT */
/*
 * Calls without records. Who looks at each value of a call once, in order, can
 * take calls from their reader as they are read: nothing is made that lasts. A
 * reader may know nothing of it, and gives as records whatever it likes, and what
 * is not as plain as nearly all calls are: arguments that are not all there in
 * their order, calls that have not returned at once, flags, damage.
 */
#ifndef TR_RECORD_CALL_TAKER_H
#define TR_RECORD_CALL_TAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/value.h"

struct tr_call_taker {
	/*
	 * A call of a function whose definition has been given as a record, and is the
	 * first of its name. name: its cell. False: it is wanted as a record.
	 */
	bool (*begin)(struct tr_call_taker *taker, uint64_t number, uint64_t thread,
		      struct tr_text name, size_t arguments);
	/* The next argument, and behind the last one what came back. Good until the next. */
	void (*argument)(struct tr_call_taker *taker, const struct tr_value *value);
	void (*result)(struct tr_call_taker *taker, const struct tr_value *value);
	/*
	 * whole: the call was all that. Otherwise it comes again, as a record. False: it
	 * is wanted as a record after all.
	 */
	bool (*end)(struct tr_call_taker *taker, bool whole);
	uint64_t taken; /* calls so far; counted by the reader */
};

#endif
