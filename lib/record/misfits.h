/*
 * For writers: records of kinds that have no place in the target format are
 * counted by kind, and told at the end to those who ask. All zero: none.
 */
#ifndef TR_RECORD_MISFITS_H
#define TR_RECORD_MISFITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

enum { TR_MISFIT_KINDS = 32 };

struct tr_misfits {
	struct {
		char kind[24];
		uint64_t count;
	} kinds[TR_MISFIT_KINDS];
	size_t count, told;
};

void tr_misfits_add(struct tr_misfits *misfits, struct tr_text kind);

/*
 * TR_WARN: the next of them, a detail (--verbose), or where they were all that
 * came, a note: a file with nothing in it is not what was meant. TR_OK: that was all.
 */
enum tr_status tr_misfits_tell(struct tr_misfits *misfits, const char *format, bool were_all,
			       struct tr_error *err);

#endif
