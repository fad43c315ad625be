/* SPDX-License-Identifier: MIT */
/*
 * Unknown programs that are called as compilers are: they have -c, a source, and an output or an option
 * that compilers have. A trace or a log gets no entries of them until an option says what they are, so
 * they are to be named at the end. Names are few, because a build has few compilers; further ones are
 * not counted.
 */
#ifndef TR_PROCESS_STRANGER_H
#define TR_PROCESS_STRANGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"
#include "process/compilers.h"
#include "process/respfile.h"

/* Zero it. */
struct tr_strangers {
	struct {
		char name[TR_PROGRAM_NAME_MAX + 1];
		uint64_t count;
	} list[4];
	size_t count;
};

/*
 * Counts a command that no table knows, if it is called as a compiler is. words: from its program on; of
 * each, only the text matters. Returns the number of its name, from 1 on; 0: it is another command.
 */
size_t tr_strangers_count(struct tr_strangers *strangers, const struct tr_word *words,
			  size_t count);

/* Sets err to the next note. False: there is no more. */
bool tr_strangers_report(struct tr_strangers *strangers, struct tr_error *err);

#endif
