/*
 * A stretch of a regular file where the system has it in memory, for who looks at
 * bytes once and wants few of them: copying them is most of what that costs.
 *
 * The file stays what it is: somebody may write to it while it is looked at, so
 * nothing that was found in the bytes once may be trusted to be there again. And
 * where it is cut meanwhile, or cannot be read, looking is answered by SIGBUS:
 * look only under a guard.
 *
 * What is mapped counts as memory of the process: TR_FILE_VIEW bytes at most.
 * Not thread safe.
 */
#ifndef TR_CORE_FILE_VIEW_H
#define TR_CORE_FILE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/text.h"

enum {
	TR_FILE_VIEW = 512 << 10,      /* bytes */
	TR_FILE_VIEW_LEAST = 32 << 10, /* what is less is not worth it */
};

/*
 * Signals belong to the program, not to a library, so it is the program that
 * lends this. One stretch at a time, not nested.
 */
struct tr_fault_guard {
	/* Until leave, what cannot be had of [data, data + len) reads as zeros. */
	void (*enter)(const char *data, size_t len);
	/* True: all of it could be had. */
	bool (*leave)(void);
};

/* All zeros at first. */
struct tr_file_view {
	char *base;
	size_t len; /* of the file, from offset on */
	off_t offset;
};

/*
 * What fd holds from offset on, good until the next call: TR_FILE_VIEW_LEAST bytes
 * and more, and TR_INPUT_PAD readable ones behind them. Empty where that cannot be
 * had: the file is of another type, or has not so much left.
 */
struct tr_text tr_file_view_at(struct tr_file_view *view, int fd, off_t offset);

void tr_file_view_free(struct tr_file_view *view);

#endif
