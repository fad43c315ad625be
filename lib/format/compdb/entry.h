/* Entries of a database: made of a call, a JSON text each, in a row in one buffer. */
#ifndef TR_FORMAT_COMPDB_ENTRY_H
#define TR_FORMAT_COMPDB_ENTRY_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "process/call.h"

/* What two entries have to share so that one of them says nothing new. */
enum tr_compdb_unique {
	TR_COMPDB_UNIQUE_FILE_OUTPUT,
	TR_COMPDB_UNIQUE_FILE,
	TR_COMPDB_UNIQUE_ALL,
	TR_COMPDB_UNIQUE_NONE,
};

/* The parts of an entry, as bytes. */
struct tr_compdb_entry {
	struct tr_text directory, file, output; /* output, data NULL: none is said */
	struct tr_text implied; /* the output that the command makes without saying so */
	const struct tr_text *argv;
	size_t argc;
	struct tr_text extra; /* members of other keys, as compact JSON without braces; data NULL */
};

enum { TR_COMPDB_KEY = 64 }; /* hex digits of a hash */

/* In front of each entry's text in the buffer. */
struct tr_compdb_head {
	char key[TR_COMPDB_KEY];  /* equal: the same for -O unique */
	char file[TR_COMPDB_KEY]; /* equal: of the same file */
	bool fallback;		  /* only where no other entry is of that file */
	size_t len;
};

/* Appends an entry. False: memory is out. */
bool tr_compdb_entry_put(const struct tr_compdb_entry *entry, enum tr_compdb_unique unique,
			 bool fallback, struct tr_buffer *to);

/*
 * Appends an entry for each source that the call compiles. inlined: options of
 * response files stand in the place of their names; else only where sources
 * stand in them. TR_WARN: they would be too long, and none is
 * appended. TR_FATAL: memory is out.
 */
enum tr_status tr_compdb_call_put(const struct tr_call *call, bool inlined,
				  enum tr_compdb_unique unique, struct tr_arena *arena,
				  struct tr_buffer *to, struct tr_error *err);

#endif
