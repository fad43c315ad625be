/* SPDX-License-Identifier: MIT */
/*
 * The start of a program that is recorded: its announcement in the journal, and an environment that
 * makes it load the library. The rules of preload/journal.h apply.
 */
#ifndef TR_PRELOAD_LAUNCH_H
#define TR_PRELOAD_LAUNCH_H

#include <stddef.h>

#include "preload/journal.h"

struct tr_launch_room;

struct tr_launch {
	const struct tr_journal *journal;
	const char *library; /* that the program loads */
	char *const *env;    /* for the program; valid until tr_launch_end */
	const char *instead; /* a program to start in place of it; NULL: none */
	bool announced; /* false: the program is missing or not watched, and env is the caller's */

	/* private */
	bool keeps; /* the memory stays for the next child of vfork */
	struct tr_journal_record record;
	struct tr_launch_room *room; /* data that is too large for a small stack; NULL: none */
	char *start;  /* with `instead`: the variable that holds the path of the program */
	void *memory; /* for many variables; NULL: none, or it is kept */
	size_t size;
};

/* The program to start. */
struct tr_launch_program {
	int directory;			/* a descriptor to which path is relative, or AT_FDCWD */
	const char *path;		/* "": the file that directory is */
	bool search;			/* path is searched in PATH as by execvp */
	bool enters;			/* libc changes to the directory first */
	char *const *argv, *const *env; /* either may be NULL */
	unsigned flags;			/* TR_JOURNAL_IN_CHILD or 0 */
};

/* Announces the exec of the program, if its file exists and the caller's memory is readable. */
void tr_launch_begin(struct tr_launch *launch, const struct tr_journal *journal,
		     const struct tr_launch_program *program);
/* Reports that the exec failed, ends the launch, and sets errno to error. */
void tr_launch_failed(struct tr_launch *launch, int error);
/* Reports that the program runs as this process. */
void tr_launch_spawned(struct tr_launch *launch, int pid);
/* Frees the memory. */
void tr_launch_end(struct tr_launch *launch);

/*
 * Sets the paths of both libraries: the second one, for 32-bit programs, is in the same folder.
 * False: the path is too long, or does not end in .so.
 */
bool tr_launch_set_library(struct tr_journal *journal, const char *library);

/* A token that was read from the environment. */
struct tr_launch_token {
	unsigned flags;
	uint32_t pid, number, hash;
};

/*
 * Reads the value of the variable into the token and the journal, except for its page. False: the
 * value is malformed.
 */
bool tr_launch_read(const char *value, struct tr_launch_token *token, struct tr_journal *journal);

/* Sets the flags of the token in the value of the variable. */
void tr_launch_mark(char *value, unsigned flags);

/*
 * Response files, which a program reads and its build deletes afterwards. They are read before any
 * program begins, because only the recorder knows which programs have response files.
 */
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
