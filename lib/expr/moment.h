/*
 * Points in time as people write them: seconds, ISO 8601, a time of day (on the date of the
 * first record) and +5s (after the first record). Without a zone they are in UTC, or in the
 * zone of the variable TZ where it is set.
 */
#ifndef TR_EXPR_MOMENT_H
#define TR_EXPR_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

enum tr_moment_type {
	TR_MOMENT_SECONDS, /* a number, to be read from the text itself */
	TR_MOMENT_DATE,	   /* amount: since 1970 */
	TR_MOMENT_OF_DAY,  /* amount: since midnight */
	TR_MOMENT_AFTER,   /* amount: since the first record */
};

struct tr_moment {
	enum tr_moment_type type;
	bool has_zone;
	int64_t zone;	   /* seconds east of UTC */
	__int128 amount; /* in units of 10^-18 s */
};

/* False: the text is no point in time. */
bool tr_moment_read(struct tr_text text, struct tr_moment *moment);

static inline bool tr_moment_needs_start(const struct tr_moment *moment)
{
	return moment->type == TR_MOMENT_OF_DAY || moment->type == TR_MOMENT_AFTER;
}

/*
 * Appends the seconds since 1970 as decimal digits. start: the time of the first record, as a
 * cell spells it; only for one that needs it. False: start is no time.
 */
bool tr_moment_write(const struct tr_moment *moment, struct tr_text start, struct tr_buffer *to);

#endif
