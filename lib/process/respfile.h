/* SPDX-License-Identifier: MIT */
/*
 * Response files hold arguments, which a tool puts in place of the argument that names the file.
 *
 * A record may contain their contents, because a build deletes many of them at once. Its field
 * respfile is a string, the content of the first file that the command line names (as in the build
 * specifications of xcalbuild), or a map from names as written to contents. A file that the record
 * does not contain is read from this machine only if it is below a directory in
 * tr_respfile_source.roots, because a trace could name any file that its reader may read.
 *
 * There is no global state, and all results are in the caller's arena.
 */
#ifndef TR_PROCESS_RESPFILE_H
#define TR_PROCESS_RESPFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "process/command.h"
#include "record/value.h"

/* The forms in which an option names its file, as bits. */
enum {
	TR_RESPFILE_ATTACHED = 1, /* @FILE */
	TR_RESPFILE_SPACE = 2,	  /* --via FILE */
	TR_RESPFILE_EQUAL = 4,	  /* --via=FILE */
};

struct tr_respfile_rule {
	struct tr_text option; /* if it begins with "--", in upper or lower case */
	unsigned forms;
};

struct tr_respfile_rules {
	const struct tr_respfile_rule *list;
	size_t count;
};

/* Only @FILE, which nearly all tools understand. */
extern const struct tr_respfile_rules tr_respfile_usual;

/* A word of an expanded command line. */
struct tr_word {
	struct tr_text text;
	size_t origin; /* index of the argument itself, or of the one that named its file */
	bool from_file;
};

struct tr_respfile_source {
	struct tr_text directory;	   /* names are relative to it, in nested files as well */
	const struct tr_value *recorded;   /* the respfile field; NULL: none */
	const struct tr_file_roots *roots; /* where files may be read; NULL: nowhere */
	enum tr_quoting quoting;
	bool c_comments; /* the files may have comments of C and C++ */
};

/* Limits for the response files of one command line. */
enum {
	TR_RESPFILE_MAX = 16 << 20,  /* bytes in all files */
	TR_RESPFILE_WORDS = 1 << 20, /* words in all files */
	TR_RESPFILE_FILES = 2000,    /* GCC has the same limit */
	TR_RESPFILE_NESTED = 32,     /* levels of files that name each other */
};

/* Reasons for not expanding a response file. A later one takes precedence over an earlier one. */
enum tr_respfile_reason {
	TR_RESPFILE_EXPANDED, /* none: all are expanded */
	TR_RESPFILE_UNKNOWN,  /* its content is unknown */
	TR_RESPFILE_TOO_DEEP,
	TR_RESPFILE_TOO_MANY,
	TR_RESPFILE_TOO_LARGE,
	TR_RESPFILE_TOO_WORDY,
};

/* A response file that is left on the command line; the first with that reason. */
struct tr_respfile_left {
	enum tr_respfile_reason reason;
	struct tr_text name;
};

struct tr_expansion {
	struct tr_word *words;
	size_t count, cap;
	size_t files;		      /* number of files that were expanded */
	size_t missing;		      /* number of files that were not; their arguments stay */
	struct tr_respfile_left left; /* one of the latter, for messages */
};

/*
 * The name of the response file in argument i, borrowed from argv; data NULL: it names none. *used
 * is the number of arguments that this takes. "@rpath/..." and similar names of the linker of macOS
 * are not response files.
 */
struct tr_text tr_respfile_named(const struct tr_text *argv, size_t argc, size_t i,
				 const struct tr_respfile_rules *rules, size_t *used);

/*
 * Puts the words of response files in place of the arguments that name them. argv[0] is never a
 * response file. A file that is unknown or exceeds a limit stays as an argument. Returns TR_OK, or
 * TR_FATAL: out of memory.
 */
enum tr_status tr_respfile_expand(const struct tr_text *argv, size_t argc,
				  const struct tr_respfile_rules *rules,
				  const struct tr_respfile_source *source, struct tr_arena *arena,
				  struct tr_expansion *result, struct tr_error *err);

/*
 * The content of a response file: from the record, or else from a file below source->roots. first:
 * it is the first that the command line names. data NULL: unknown, or out of memory
 * (TR_CAUSE_MEMORY in err).
 */
struct tr_text tr_respfile_content(struct tr_text name, bool first,
				   const struct tr_respfile_source *source, struct tr_arena *arena,
				   struct tr_error *err);

/*
 * Sets err to the reason why a response file is left. TR_OK: there is none. TR_WARN: its content is
 * unknown (err is a note), or it exceeds a limit (err is a flaw).
 */
enum tr_status tr_respfile_report(const struct tr_respfile_left *left,
				  const struct tr_file_roots *roots, struct tr_error *err);

#endif
