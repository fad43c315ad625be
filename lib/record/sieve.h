/*
 * A sieve tells from the fixed columns of a line whether anybody wants its
 * record, before the record is made. It is a hint: readers may know nothing of
 * it, and let lines through whenever that is easier. What a sieve says must
 * not depend on anything but the columns, and must not be worth a message.
 */
#ifndef TR_RECORD_SIEVE_H
#define TR_RECORD_SIEVE_H

#include <stdint.h>

#include "record/columns.h"

enum tr_sift {
	TR_SIFT_OUT,  /* nobody wants it */
	TR_SIFT_OPEN, /* not to be told from here */
	TR_SIFT_IN,   /* it is wanted, whatever else it says: the record is `chosen` */
};

struct tr_sieve {
	/* For lines of records whose columns have no escapes. */
	enum tr_sift (*sift)(struct tr_sieve *sieve, const struct tr_columns *columns);
	uint64_t left_out; /* lines so far; counted by the reader */
};

#endif
