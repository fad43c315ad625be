/* SPDX-License-Identifier: MIT */
/*
 * Limits on the memory and disk space that an input may consume. Data beyond a limit produce an
 * error; no size that the input states is allocated unchecked.
 */
#ifndef TR_CORE_LIMITS_H
#define TR_CORE_LIMITS_H

#include <stdint.h>

struct tr_limits {
	uint64_t max_record; /* bytes of one record, as read and as written: --max-record */
	unsigned max_depth;  /* open brackets in one value: --max-depth */
	unsigned max_ratio;  /* decompressed bytes per compressed byte: --max-ratio; 0: unlimited */
	uint64_t max_spool;  /* bytes of an unlinked temporary file, for input that needs a seek */
};

#define TR_LIMITS_DEFAULT \
	{ \
		(uint64_t)256 << 20, 60, 1000, (uint64_t)64 << 30 \
	}

#endif
