/* SPDX-License-Identifier: MIT */
/*
 * Response files: arguments that stand in a file, which a tool puts in the
 * place of the argument that names it.
 *
 * A record may hold their content, because a build deletes many of them at
 * once: in the field respfile, a string (the first that the command line
 * names, as xcalbuild's build specifications have it) or a map from each name
 * as it is written to the content. A file that the record does not hold is read
 * from this machine only below the directories of tr_respfile_source, because a
 * trace can name any file of its reader.
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

/* How an option names its file. */
enum {
	TR_RESPFILE_ATTACHED = 1, /* @FILE */
	TR_RESPFILE_SPACE = 2,	  /* --via FILE */
	TR_RESPFILE_EQUAL = 4,	  /* --via=FILE */
};

struct tr_respfile_rule {
	struct tr_text option; /* one that begins with "--" in upper or lower case */
	unsigned forms;
};

struct tr_respfile_rules {
	const struct tr_respfile_rule *list;
	size_t count;
};

/* @FILE, which nearly all tools have. */
extern const struct tr_respfile_rules tr_respfile_usual;

/* A command line's word, and where it is from. */
struct tr_word {
	struct tr_text text;
	size_t origin; /* index of the argument that it is, or that named the file it stood in */
	bool from_file;
};

struct tr_respfile_source {
	struct tr_text directory;	   /* names are relative to this, in nested files too */
	const struct tr_value *recorded;   /* the respfile field; NULL: none */
	const struct tr_file_roots *roots; /* of files that may be read; NULL: none */
	enum tr_quoting quoting;
};

/* Bounds for the response files of one command line. */
enum {
	TR_RESPFILE_MAX = 16 << 20,  /* bytes of all files */
	TR_RESPFILE_WORDS = 1 << 20, /* words of all files */
	TR_RESPFILE_FILES = 2000,    /* GCC has the same limit */
	TR_RESPFILE_NESTED = 32,     /* files that are open in one another */
};

/* Why a response file is not expanded. A later reason takes precedence over an earlier one. */
enum tr_respfile_reason {
	TR_RESPFILE_EXPANDED, /* all are expanded */
	TR_RESPFILE_UNKNOWN,  /* its content is not known */
	TR_RESPFILE_TOO_DEEP,
	TR_RESPFILE_TOO_MANY,
	TR_RESPFILE_TOO_LARGE,
	TR_RESPFILE_TOO_WORDY,
};

/* The response file that a message names: the first of those with the same reason. */
struct tr_respfile_left {
	enum tr_respfile_reason reason;
	struct tr_text name;
};

struct tr_expansion {
	struct tr_word *words;
	size_t count, cap;
	size_t files;		      /* files that were expanded */
	size_t missing;		      /* files that were not; their arguments stay */
	struct tr_respfile_left left; /* one of those, if there is one */
};

/*
 * The file that argument i names, data NULL where it names none; *used is how
 * many arguments that takes. What begins with "@rpath/" and the like is no file.
 */
struct tr_text tr_respfile_named(const struct tr_text *argv, size_t argc, size_t i,
				 const struct tr_respfile_rules *rules, size_t *used);

/*
 * The command line with the files in the place of their names, in the arena.
 * argv[0] is never one. Files that name each other without end are bounded.
 * TR_OK; TR_FATAL: memory.
 */
enum tr_status tr_respfile_expand(const struct tr_text *argv, size_t argc,
				  const struct tr_respfile_rules *rules,
				  const struct tr_respfile_source *source, struct tr_arena *arena,
				  struct tr_expansion *result, struct tr_error *err);

/*
 * The content of a file as the record has it, else as a file below source->roots has
 * it, in the arena. first: it is the first that the command line names. data NULL: there
 * is none, or (TR_CAUSE_MEMORY in err) memory is out.
 */
struct tr_text tr_respfile_content(struct tr_text name, bool first,
				   const struct tr_respfile_source *source, struct tr_arena *arena,
				   struct tr_error *err);

/*
 * Reports the response file that is left. TR_OK: there is none. TR_WARN: its content is
 * unknown (a note), or a limit keeps it from being expanded (a flaw).
 */
enum tr_status tr_respfile_report(const struct tr_respfile_left *left,
				  const struct tr_file_roots *roots, struct tr_error *err);

#endif
