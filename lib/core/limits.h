/* SPDX-License-Identifier: MIT */
/*
 * What an input may make us do. Beyond a limit there is a clear error, never
 * an allocation by an unchecked number.
 */
#ifndef TR_CORE_LIMITS_H
#define TR_CORE_LIMITS_H

#include <stdint.h>

struct tr_limits {
	uint64_t max_record; /* bytes one record may take, as read and as spelled: --max-record */
	unsigned max_depth;  /* open brackets in one value: --max-depth */
	unsigned max_ratio;  /* decompressed bytes per compressed byte: --max-ratio; 0: any */
	uint64_t max_spool;  /* bytes of an unlinked temporary file, where a seek is needed */
};

#define TR_LIMITS_DEFAULT \
	{ \
		(uint64_t)256 << 20, 60, 1000, (uint64_t)64 << 30 \
	}

#endif
