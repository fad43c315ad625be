/*
 * Records that are finished but for what their process's parent will say: whose
 * child it is, or that it is a thread, and where it began. They leave in the order in which they
 * came: while one waits, those behind it queue, as far as a look-ahead goes that is bounded and
 * depends on nothing but the log.
 */
#ifndef TR_FORMAT_STRACE_HOLD_H
#define TR_FORMAT_STRACE_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "process/directory.h"

enum {
	TR_STRACE_AHEAD = 1024,		 /* records that queue behind one that waits */
	TR_STRACE_AHEAD_BYTES = 4 << 20, /* and their bytes */
};

/* What is known to be wrong with a record, in the order in which it is said. */
enum tr_strace_flag {
	TR_STRACE_FLAG_CUT = 1,
	TR_STRACE_FLAG_ENV_UNKNOWN = 2,
	TR_STRACE_FLAG_ENV_REPEATED = 4,
	TR_STRACE_FLAG_ENV_NO_VALUE = 8,
	TR_STRACE_FLAG_UNFINISHED = 16,
	TR_STRACE_FLAG_BEGIN_LOST = 32,
	TR_STRACE_FLAG_FD_UNKNOWN = 64, /* what the executable's path is seen from */
	TR_STRACE_FLAG_ORPHAN = 128,
	TR_STRACE_FLAG_CWD_GUESSED = 256,
};

/* The number of a process that has none in the log. */
#define TR_STRACE_NOBODY UINT64_MAX

/*
 * A record: a line without its LF. Where origin is set it lacks, at offset `gap`, what the parent
 * decides: of an exec record its name, parents and cwd; of another one (plain) its tgid.
 */
struct tr_strace_item {
	uint64_t source_line, source_offset;
	struct tr_buffer line;
	size_t gap;
	struct tr_origin *origin;
	bool plain;
	struct tr_directory *cwd;  /* NULL: not known */
	struct tr_directory *from; /* what path is seen from */
	bool named, spelled;	   /* spelled: the path is in the line */
	struct tr_text path;	   /* bytes of the executable; empty: `from` itself */
	struct tr_text pwd;	   /* PWD of its environment, for want of better; may be empty */
	unsigned flags;
};

struct tr_strace_hold {
	struct tr_strace_item *ring;
	size_t first, count, cap, bytes;
};

/* Appends the flags as a field; nothing where there are none. */
void tr_strace_put_flags(unsigned flags, struct tr_buffer *to);

/* True when the item can leave now. */
bool tr_strace_item_ready(const struct tr_strace_item *item);

/* An execution whose process has no parent in the log. */
static inline bool tr_strace_item_is_orphan(const struct tr_strace_item *item)
{
	return item->origin && !item->plain && item->origin->orphan;
}

/* Fills the gap and ends item->line with its LF. scratch is any buffer: its content is lost. */
void tr_strace_item_finish(struct tr_strace_item *item, struct tr_buffer *scratch);

/* Queues a copy (references are taken), which owns item->line. False: memory is out. */
bool tr_strace_hold_push(struct tr_strace_hold *hold, struct tr_strace_item *item);

/* The first, where it is to leave now; forced: whether it can or not. NULL: not yet. */
struct tr_strace_item *tr_strace_hold_ready(struct tr_strace_hold *hold, bool forced);
void tr_strace_hold_pop(struct tr_strace_hold *hold);

void tr_strace_hold_free(struct tr_strace_hold *hold);

#endif
