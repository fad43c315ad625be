/* SPDX-License-Identifier: MIT */
/* Splitting a text into words as the programs do that read it. */
#ifndef TR_PROCESS_WORDS_H
#define TR_PROCESS_WORDS_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/text.h"

enum tr_quoting {
	TR_QUOTING_GNU,	    /* response files of GNU and LLVM: both quotes, backslash everywhere */
	TR_QUOTING_WINDOWS, /* the C run-time's: double quotes, backslash only in front of one */
	TR_QUOTING_COMMAND, /* "command" of a compilation database: no backslash in single quotes */
};

struct tr_words {
	const char *pos, *end;
	enum tr_quoting quoting;
	bool comments;	/* lines that begin with # or ; are none */
	bool amid_line; /* starts as false */
};

/* Appends the next word's bytes; false: there is none left. A quote may be left open. */
bool tr_words_next(struct tr_words *words, struct tr_buffer *word);

#endif
