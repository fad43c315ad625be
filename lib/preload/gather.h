/* SPDX-License-Identifier: MIT */
/*
 * Response files, which a program reads and its build deletes. The content is taken before the
 * program begins, for every program: which of them have response files is known later. The rules of
 * preload/journal.h apply.
 */
#ifndef TR_PRELOAD_GATHER_H
#define TR_PRELOAD_GATHER_H

#include <stddef.h>

enum {
	TR_GATHER_FILES = 64,	    /* of one command line, with the files that they name */
	TR_GATHER_BYTES = 16 << 20, /* in all of them */
};

/* Zero it. */
struct tr_gathered {
	char **strings; /* names and contents, ended by NULL; NULL: there are none */
	size_t count;
	char *memory, *free, *end;
};

/* Reads the regular files that arguments name as @FILE, and those that these name. */
void tr_gather(struct tr_gathered *files, char *const *argv);
/* Gives the memory back. */
void tr_gather_end(struct tr_gathered *files);

#endif
