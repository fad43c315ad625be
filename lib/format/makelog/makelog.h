/* SPDX-License-Identifier: MIT */
/*
 * Private to the format makelog: the commands that make, ninja and libtool print while they run.
 * Only read. The path of the data:
 *
 *	line.c		a line -> what is in front of its command; messages about directories
 *	windows.c	the text of a command line of Windows -> simple commands
 *	shell.c		any other one -> simple commands, with their directories
 *	word.c		a word of it without its quotes; results of automake's substitutions
 *	command.c	simple commands -> commands of build tools
 *	where.c		messages and cd -> the directory of the next command
 *	makelog.c	joins lines, makes records `exec`
 *
 * The messages are those of GNU make 4.3 and its translations, ninja 1.11 and libtool 2.4.7:
 *
 *	make[1]: Entering directory '/srv/x'	also `/srv/x', "/srv/x", and in other languages
 *	make[1]: Leaving directory '/srv/x'
 *	ninja: Entering directory `build'	until the end of the log
 *	libtool: compile:  gcc -c a.c -o a.o
 *	[ 50%] gcc ..., [1/20] gcc ...		cmake, ninja
 *	+ gcc ...				a shell with -x
 *	2026-11-23T10:00:00.1234567Z gcc ...	systems for continuous integration; also [10:00:00]
 *	[exec] gcc ..., ##[command]gcc ...	Ant, Maven and others; Azure and GitHub
 *	$ gcc ...				GitLab and others, which show a prompt
 *	| gcc ...				the log of a task of Yocto
 *	1>C:\b>cl ...				msbuild's number of a project; the prompt of cmd.exe
 *	runner ['gcc', '-c', 'a.c']		waf, which also prints its directory: Waf: Entering ...
 *	running: "cc" "-c" "a.c"		crate cc of Rust; cargo -vv adds [NAME VERSION]
 *	Project "C:\b\a.vcxproj" on node 1	msbuild: it builds in C:\b
 *
 * A log is text, and nothing marks the commands in it. A simple command is taken if its program is
 * a build tool by its name (process/tool.h), and its arguments are plausible: a compiler needs an
 * option or a source, the others an option or a file name with an extension. So "gcc or clang", "
 * CC init/main.o" and "ld: warning: ..." are text. An unknown program may run a compiler that its
 * arguments name with -c and a source; echo, rm and the like do not.
 *
 * A command may continue in the next lines: after a backslash, while a quote, a subshell, a brace
 * or a branch with cd is open, and as here-documents, which are data unless a shell reads them.
 *
 * What only the shell of the build could expand ($x, `x`, *) is kept as it is, and the record is
 * flagged "unexpanded". No part of a log is ever run, but what a substitution or eval runs is read
 * as commands. The results of two idioms of automake are known: `test -f 'a.c' || echo './'`a.c,
 * which is nothing where the folder is ./, else the folder; and $depbase, the name of a file with
 * dependencies.
 */
#ifndef TR_FORMAT_MAKELOG_MAKELOG_H
#define TR_FORMAT_MAKELOG_MAKELOG_H

#include "core/arena.h"
#include "core/buffer.h"
#include "format/format.h"
#include "process/compilers.h"
#include "process/respfile.h"

/*
 * A line as a terminal shows it: without CR at its end, what was overwritten before another CR, and
 * sequences of ESC, such as colours. It may be in *plain, which is to be checked for a failure.
 */
struct tr_text tr_makelog_plain(struct tr_text line, struct tr_buffer *plain);

/* Removes the time, the progress, a prompt and similar things in front of a command. */
struct tr_text tr_makelog_command(struct tr_text line);

/*
 * The bytes of a time that a system for continuous integration prints in front of each line, and of
 * the blank after it. 0: none.
 */
size_t tr_makelog_stamp(struct tr_text line);

enum tr_makelog_move { TR_MAKELOG_STAYS, TR_MAKELOG_ENTERS, TR_MAKELOG_LEAVES };

/*
 * A message about a directory. level: of the make that prints it; -1: of ninja or waf; MSBUILD and
 * below: of a node of msbuild, MSBUILD itself of any one.
 */
enum { TR_MAKELOG_MSBUILD = -2 };
enum tr_makelog_move tr_makelog_directory(struct tr_text line, int *level, struct tr_text *path);

/* Where commands run. Zero it, and set cwd. */
struct tr_makelog_where {
	struct tr_buffer cwd; /* outside of makes; empty: unknown */
	struct tr_makelog_place {
		int level;
		char *path;
		size_t len;
	} * list; /* that makes have entered and not left */
	size_t count, cap;
	bool guessed; /* two makes of one level are at work */
	bool traced;  /* cwd was printed by a program, perhaps for one command only */
};
void tr_makelog_where_free(struct tr_makelog_where *where);

/* The directory of the next command; data NULL: unknown. Is it a guess? */
struct tr_text tr_makelog_where_now(const struct tr_makelog_where *where);
bool tr_makelog_where_is_guess(const struct tr_makelog_where *where);

/*
 * Enters a directory. TR_WARN: more are open than a build can have, and the first is forgotten; or
 * its path is too long. TR_FATAL: memory.
 */
enum tr_status tr_makelog_where_enter(struct tr_makelog_where *where, int level,
				      struct tr_text path, struct tr_error *err);

/* Leaves a directory: the last one of that level with that path, else the last of that level. */
void tr_makelog_where_leave(struct tr_makelog_where *where, int level, struct tr_text path);

/*
 * True for cd after a prompt, which is about the lines that follow; so is, as Go and Xcode print
 * it, a line that consists of cd and an absolute path. Within makes it is neither. prompt: $ of a
 * shell, + of sh -x, 0 without one.
 */
bool tr_makelog_where_is_about_next(const struct tr_makelog_where *where, char prompt,
				    struct tr_text command);

/* The lines that follow are about that directory; data NULL: unknown. cwd.failed: memory. */
void tr_makelog_where_follow(struct tr_makelog_where *where, char prompt, struct tr_text directory);

/* What is known of a program by its name. All zero: nothing. */
struct tr_makelog_program {
	uint8_t tool;	  /* enum tr_tool_kind; a driver if its first argument decides, as of zig */
	bool calls;	  /* its first argument does */
	bool shell;	  /* as tr_command_is_shell */
	bool remote;	  /* ssh */
	bool cmd;	  /* the shell of Windows */
	bool wrapper;	  /* env, nice and the like, which run the command in their arguments */
	bool reads_words; /* xargs */
	bool no_runner;	  /* echo, rm and the like, which run none of the words after them */
};

/* Names of programs, of which those that were seen before are remembered. Zero it. */
struct tr_makelog_names {
	struct tr_compilers *compilers; /* NULL: those that are built in; owned by the reader */
	struct tr_arena arena;		/* of the command that is looked at */
	bool failed;			/* memory is exhausted */
	struct tr_makelog_slot {
		struct tr_makelog_program program;
		uint8_t len;
		char name[55];
	} slots[256];
};

struct tr_makelog_program tr_makelog_program(struct tr_makelog_names *names, struct tr_text name);

/* A simple command, as it is taken from a command line. Valid during the call. */
struct tr_makelog_found {
	const struct tr_word *words;
	size_t count;
	struct tr_text directory; /* data NULL: unknown */
	bool unexpanded;	  /* a word has what only a shell can expand */
	bool conditional;	  /* it is run only if another command failed or succeeded */
	/* the words as strings of the stream, with "," between; data NULL: not known */
	struct tr_text spelled;
};

/*
 * False if a line cannot hold a command. Most lines of a log are excluded here. *first: what its
 * first word says, unless that has a colon or quotes.
 */
bool tr_makelog_may_hold(struct tr_makelog_names *names, struct tr_text line,
			 struct tr_makelog_program *first);

/*
 * Skips env, nice and the like with their options and settings. found->count: nothing follows.
 * *program: the one that follows. *reads_words: one of the wrappers is xargs.
 */
size_t tr_makelog_skip_wrappers(struct tr_makelog_names *names,
				const struct tr_makelog_found *found,
				struct tr_makelog_program *program, bool *reads_words);

/*
 * The index of the word with which the command of a build tool begins; found->count: none. begin:
 * the first word after the wrappers, which is the name of first.
 */
size_t tr_makelog_find_tool(struct tr_makelog_names *names, const struct tr_makelog_found *found,
			    size_t begin, struct tr_makelog_program first);

/*
 * Finds the script of sh -c among the words after the shell, as in "sh -ec SCRIPT" and "bash -o
 * pipefail -c SCRIPT". 0: it has none.
 */
size_t tr_makelog_find_script(const struct tr_makelog_found *found, size_t shell);

/* The same for ssh HOST SCRIPT, where the script is one word. */
size_t tr_makelog_find_remote(const struct tr_makelog_found *found, size_t ssh);

/*
 * The directory into which the words before a command lead: env -C DIR and cmake -E chdir DIR. It
 * is joined in to. Without them it is that of the shell.
 */
struct tr_text tr_makelog_directory_of(const struct tr_makelog_found *found, size_t begin,
				       struct tr_buffer *to);

/* Is called for each command. */
typedef void tr_makelog_take(void *context, const struct tr_makelog_found *found);

/*
 * False if a line is none of Windows. Most lines are excluded here. first: of tr_makelog_may_hold.
 */
bool tr_makelog_may_be_windows(struct tr_text line, struct tr_makelog_program first);

/*
 * Takes the commands of a command line of Windows. directory: where it begins; data NULL: unknown.
 * False: it is none. *failed becomes true if memory is exhausted.
 */
bool tr_makelog_windows_parse(struct tr_makelog_names *names, struct tr_text text,
			      struct tr_text directory, tr_makelog_take *take, void *context,
			      bool *failed);

enum tr_makelog_syntax {
	TR_MAKELOG_FINE,
	TR_MAKELOG_UNCLOSED,   /* a quote or a bracket has no end */
	TR_MAKELOG_UNBALANCED, /* a bracket where none can be */
	TR_MAKELOG_TOO_DEEP,   /* more subshells than TR_MAKELOG_DEPTH */
	TR_MAKELOG_TOO_LONG,   /* more words than TR_MAKELOG_WORDS, which no system can run */
};
enum { TR_MAKELOG_DEPTH = 1000, TR_MAKELOG_WORDS = 1000000 };

struct tr_makelog_shell;

/* NULL: memory is exhausted. */
struct tr_makelog_shell *tr_makelog_shell_new(tr_makelog_take *take, void *context);
void tr_makelog_shell_free(struct tr_makelog_shell *shell);

/* A text in the language of a shell. */
struct tr_makelog_script {
	struct tr_text text;
	struct tr_text directory; /* where it begins; data NULL: unknown */
	bool conditional;	  /* it is run only if another command failed or succeeded */
	bool by_line;		  /* it ends with the line in which its first command ends */
};

struct tr_makelog_parsed {
	enum tr_makelog_syntax syntax;
	struct tr_text program;	  /* of the last command: where an error was found; may be empty */
	size_t words;		  /* of that command, before the error */
	size_t taken;		  /* bytes of the text up to the end */
	bool quoting;		  /* TR_MAKELOG_UNCLOSED: it is a quote */
	bool moved;		  /* a command has changed the directory */
	struct tr_text directory; /* at the end, until the next call; data NULL: unknown */
	bool open;		  /* the next lines belong to it: a here-document, or cd x && */
};

/*
 * Splits a script into simple commands, which it passes to take. What eval and substitutions run,
 * and a here-document for a shell, is passed as a command sh -c SCRIPT. False: memory is exhausted.
 */
bool tr_makelog_shell_parse(struct tr_makelog_shell *shell, const struct tr_makelog_script *script,
			    struct tr_makelog_parsed *parsed);

#endif
