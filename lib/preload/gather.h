/* SPDX-License-Identifier: MIT */
/*
 * Response files, which a program reads and its build deletes afterwards. They are read before any
 * program begins, because only the recorder knows which programs have response files. The rules of
 * preload/journal.h apply.
 */
#ifndef TR_PRELOAD_GATHER_H
#define TR_PRELOAD_GATHER_H

#include <stddef.h>

enum {
	TR_GATHER_FILES = 64,	    /* for one command line, including nested ones */
	TR_GATHER_BYTES = 16 << 20, /* in all files together */
};

/* Zero it. */
struct tr_gathered {
	char **strings; /* names and contents, ended by NULL; NULL: there are none */
	size_t count;
	char *memory, *free, *end;
};

/* Reads the regular files that arguments or response files name as @FILE. */
void tr_gather(struct tr_gathered *files, char *const *argv);
/* Frees the memory. */
void tr_gather_end(struct tr_gathered *files);

#endif
