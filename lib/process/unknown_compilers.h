/* SPDX-License-Identifier: MIT */
/*
 * Unknown programs whose command lines look like those of compilers: they have -c, a source, and an
 * output or another option of compilers. Their calls are not recognised unless an option says what
 * they are, so they are counted by name and reported at the end. Only a few names are kept, because
 * a build has few compilers.
 */
#ifndef TR_PROCESS_UNKNOWN_COMPILERS_H
#define TR_PROCESS_UNKNOWN_COMPILERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"
#include "process/compilers.h"
#include "process/respfile.h"

/* Zero it. */
struct tr_unknown_compilers {
	struct {
		char name[TR_PROGRAM_NAME_MAX + 1];
		uint64_t count;
	} list[4];
	size_t count;
};

/*
 * Counts the command of an unknown program if it looks like that of a compiler. words: the program
 * and its arguments, of which only the texts are used. Returns the index of its name in the list,
 * plus 1; 0: it is not counted.
 */
size_t tr_unknown_compilers_count(struct tr_unknown_compilers *unknown, const struct tr_word *words,
				  size_t count);

/* Sets err to a note about the next name, and removes that name. False: there is none. */
bool tr_unknown_compilers_report(struct tr_unknown_compilers *unknown, struct tr_error *err);

#endif
