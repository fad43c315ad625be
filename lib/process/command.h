/* SPDX-License-Identifier: MIT */
/*
 * Command lines: read from exec records, split into words as the programs that read them do, and
 * quoted for a shell. The functions have no state, and are thread safe on different records.
 */
#ifndef TR_PROCESS_COMMAND_H
#define TR_PROCESS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/record.h"

/* The command of an exec record. All texts are bytes, in the arena of the record. */
struct tr_command {
	struct tr_text executable; /* data NULL: unknown; use argv[0] */
	struct tr_text directory;  /* the working directory; data NULL: unknown */
	struct tr_text *argv;
	size_t argc;
	bool cut;			 /* the tracer left out arguments or parts of them */
	const struct tr_value *respfile; /* the field of that name; NULL: none */
};

/*
 * Reads the command of an exec record. TR_WARN: argv is missing or is not a list of strings; the
 * executable and the directory are set. TR_FATAL: out of memory.
 */
enum tr_status tr_command_read(struct tr_record *record, struct tr_command *command,
			       struct tr_error *err);

/* The executable of an exec record; data NULL: unknown. */
struct tr_text tr_command_executable(struct tr_record *record);

/* True if the exec itself failed: the record has the field error or failed. */
bool tr_command_failed(struct tr_record *record);

/* The number in a field; TR_NO_POSITION if there is none. */
uint64_t tr_command_number(struct tr_record *record, const char *key);

/* The string in a field as bytes; data NULL if there is none, or if it is cut. */
struct tr_text tr_command_string(struct tr_record *record, const char *key);

/* True if all arguments and the directory are known, as formats that list commands need. */
static inline bool tr_command_is_whole(const struct tr_command *command)
{
	return !command->cut && command->directory.data;
}

/* Sets err to the reason why a command that is not whole is left out. Returns TR_WARN. */
enum tr_status tr_command_left_out(const struct tr_command *command, struct tr_error *err);

/* The executable, or argv[0] if that is unknown; it may be empty. */
static inline struct tr_text tr_command_program(const struct tr_command *command)
{
	if (command->executable.data || !command->argc)
		return command->executable.data ? command->executable : TR_TEXT("");
	return command->argv[0];
}

/* True for shells by the name of the program, which a path may precede. */
bool tr_command_is_shell(struct tr_text program);

/*
 * As tr_command_is_shell, for programs that run the commands of a build file, and have no other
 * effect: make and ninja.
 */
bool tr_command_is_build_tool(struct tr_text program);

/*
 * Appends the command of an exec record for people to read: its argv as words that are quoted
 * where needed, or its executable if it has no argv. If that exceeds limit bytes (0: no limit), it
 * is cut between two characters and ends in "…". False: out of memory.
 */
bool tr_command_show(struct tr_record *record, size_t limit, struct tr_buffer *to);

/*
 * Like tr_command_show if the command consists of printable ASCII without backslashes and double
 * quotes, as most do: JSON spells it in the same way. False: it does not, and nothing is appended.
 */
bool tr_command_show_plain(struct tr_record *record, size_t limit, struct tr_buffer *to);

/* Like tr_command_show, with the escapes of a string in JSON, but without quotes around it. */
bool tr_command_show_json(struct tr_record *record, size_t limit, struct tr_buffer *to);

/* How a text is split into words. */
enum tr_quoting {
	TR_QUOTING_GNU,	    /* response files of GNU and LLVM: ' and ", backslash everywhere */
	TR_QUOTING_WINDOWS, /* Microsoft's C run-time: only ", backslash only before a quote */
	TR_QUOTING_COMMAND, /* a compilation database: as GNU, but no backslash between ' and ' */
};

struct tr_words {
	const char *pos, *end; /* the text that is left; borrowed */
	enum tr_quoting quoting;
	bool comments;	 /* skip lines that begin with # or ; */
	bool amid_line;	 /* initially false */
	bool c_comments; /* skip comments of C and C++ between words */
};

/*
 * Appends the bytes of the next word. False: there is none left. The end of the text closes open
 * quotes. Check word->failed for exhausted memory.
 */
bool tr_words_next(struct tr_words *words, struct tr_buffer *word);

/* Appends bytes (without NUL) as one word of a POSIX shell. */
void tr_shell_quote(struct tr_text bytes, struct tr_buffer *to);

/*
 * Appends bytes as one word that is printable: one line of valid UTF-8. Words with other bytes are
 * written as $'...', which bash, zsh and POSIX.1-2024 understand.
 */
void tr_shell_quote_printable(struct tr_text bytes, struct tr_buffer *to);

#endif
