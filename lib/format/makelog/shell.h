/* SPDX-License-Identifier: MIT */
/* Private to shell.c and word.c: the state of the parser of shell commands. */
#ifndef TR_FORMAT_MAKELOG_SHELL_H
#define TR_FORMAT_MAKELOG_SHELL_H

#include "format/makelog/makelog.h"

/* The exit status of the last command, where that does not depend on the machine. */
enum fate { FATE_UNKNOWN, FATE_TRUE, FATE_FALSE };

struct tr_makelog_shell {
	tr_makelog_take *take;
	void *context;

	/* of the text */
	const char *pos, *end;
	struct tr_buffer depbase; /* the value of automake's variable; empty: it is not set */
	enum tr_makelog_syntax syntax;
	struct tr_buffer directory; /* the current one */
	bool known;
	struct tr_buffer previous; /* that of cd - and popd; empty: unknown */
	struct scope {
		char *directory; /* NULL: unknown */
		size_t len;
	} scopes[TR_MAKELOG_DEPTH];
	size_t depth;
	size_t bodies; /* of if and loops, in which this is */
	size_t braces; /* { that are open */
	size_t cases;
	enum fate fate;
	bool by_line;  /* the command ends with its line */
	bool quoting;  /* the error is a quote without an end */
	bool moved;    /* a command has changed the directory */
	bool dangling; /* an operator at the end, which a command has to follow */
	struct here {
		size_t begin, len; /* of its delimiter, in delimiters */
		bool tabs;	   /* removes tabs in front of lines */
		bool script;	   /* a shell reads it */
	} heres[4];		   /* documents that begin in this line */
	size_t here_count;
	struct tr_buffer delimiters;
	bool endless; /* a document whose end is not in the text */

	/* of the command */
	struct tr_buffer bytes; /* its words, one after the other */
	size_t *ends;
	size_t count, cap;
	struct tr_word *words;
	size_t words_cap;
	struct tr_buffer spelled; /* bytes with escapes, from the first word on that needs them */
	bool hard;		  /* there is such a word */
	bool quoted;		  /* the last word has quotes */
	bool unexpanded;	  /* any of its words has what a shell would expand */
	bool conditional;	  /* it follows || */
	bool skipped;		  /* it is not run, or is no command: the list of a loop */
	bool failed;
};

/* Ends the parsing with an error; the first one counts. */
void tr_makelog_shell_fail(struct tr_makelog_shell *shell, enum tr_makelog_syntax syntax);

/* The first byte from p on that may be more than itself, or that a string of the stream escapes. */
const char *tr_makelog_skip_plain(const char *p, const char *end);

/* Appends the bytes of the word at pos to those of the command. True: some of them are not plain. */
bool tr_makelog_shell_word(struct tr_makelog_shell *shell);

/* The directory of the command; data NULL: unknown. */
struct tr_text tr_makelog_shell_directory(const struct tr_makelog_shell *shell);

/* Passes on what a shell runs that is started for it: the command sh -c SCRIPT. */
void tr_makelog_shell_script(struct tr_makelog_shell *shell, struct tr_text script);

#endif
