/* SPDX-License-Identifier: MIT */
/* Options of drivers: which take the next word, and what they are about. */
#ifndef TR_PROCESS_DRIVER_OPTION_H
#define TR_PROCESS_DRIVER_OPTION_H

#include <stdbool.h>

#include "core/text.h"
#include "process/invocation.h"

struct tr_driver_option {
	enum tr_role role;
	bool takes_next; /* the next word is its value */
	bool sets_mode;
	enum tr_mode mode;
	struct tr_text value; /* what is attached to it; data NULL: nothing, or not of interest */
};

/* word begins with "-". */
struct tr_driver_option tr_driver_option_gnu(struct tr_text word);

/* The same for linkers. */
struct tr_driver_option tr_driver_option_ld(struct tr_text word);

/* word begins with "-" or "/". */
struct tr_driver_option tr_driver_option_cl(struct tr_text word);

#endif
