/* The fixed parts of a source trace: numbers, sizes and padding. */
#ifndef TR_FORMAT_SRCTRACE_ENTRY_H
#define TR_FORMAT_SRCTRACE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "core/wire.h"

enum {
	TR_SRCTRACE_HEADER = 40, /* bytes of the trace's header */
	TR_SRCTRACE_INFO = 8,	 /* of an information entry's */
	TR_SRCTRACE_UNIT = 80,	 /* of a unit entry's */
	TR_SRCTRACE_HASH = 20,	 /* of a fingerprint */
};

/* How a trace lays its numbers and paddings out. */
struct tr_srctrace_layout {
	unsigned align; /* 1, 2, 4, 8 or 16 */
	bool big;
};

enum tr_srctrace_info_kind {
	TR_SRCTRACE_INFO_END,
	TR_SRCTRACE_PROGRAM_NAME,
	TR_SRCTRACE_EXEC_DATE,
	TR_SRCTRACE_USER_DATA,
	TR_SRCTRACE_INFO_KINDS
};

/* As the name column has it, NULL: a kind without a name. */
const char *tr_srctrace_info_name(uint32_t kind);

/* The kind that the name column says, by name or number. */
bool tr_srctrace_info_kind(struct tr_text name, uint32_t *kind);

void tr_srctrace_put_u32(uint32_t n, bool big, struct tr_buffer *to);

/* Size with its padding; 64 bits, so that sums of lengths cannot overflow. */
static inline uint64_t tr_srctrace_padded(uint64_t size, unsigned align)
{
	return (size + align - 1) & ~(uint64_t)(align - 1);
}

static inline uint64_t tr_srctrace_bytes(uint32_t bits)
{
	return ((uint64_t)bits + 7) / 8;
}

/* Bytes up to the padded size of what was put since `start`. */
void tr_srctrace_pad(size_t start, unsigned align, struct tr_buffer *to);

#endif
