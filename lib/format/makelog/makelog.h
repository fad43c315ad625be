/* SPDX-License-Identifier: MIT */
/*
 * Private to the format makelog: the commands that make, ninja and libtool print while they run.
 * Only read. The path of the data:
 *
 *	line.c		a line -> its command, without the time, progress or prompt before it;
 *			messages about directories, and cd -> the directory of the next command
 *	windows.c	a command line of Windows -> simple commands
 *	shell.c		a command line of a shell -> simple commands, with their directories
 *	command.c	a simple command -> the command of a build tool
 *	makelog.c	joins continued lines, makes exec records
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
 *	$ gcc ...				GitLab and others, which print a prompt
 *	| gcc ...				the log of a task of Yocto
 *	1>C:\b>cl ...				msbuild's project number; the prompt of cmd.exe
 *	runner ['gcc', '-c', 'a.c']		waf, which also prints "Waf: Entering directory"
 *	running: "cc" "-c" "a.c"		Rust's crate cc; cargo -vv adds [NAME VERSION]
 *	Project "C:\b\a.vcxproj" on node 1	msbuild, which builds it in C:\b
 *
 * A log is text, and nothing marks the commands in it. A simple command is a record if the name of
 * its program is that of a build tool (process/compilers.h) and its arguments are plausible: a
 * compiler needs an option or a source, other tools an option or a file name with an extension. So
 * "gcc or clang", a label such as "CC init/main.o", and "ld: warning: ..." are text. An unknown
 * program may run a compiler that its arguments name, if -c and a source follow; echo, rm and the
 * like run none.
 *
 * A command continues in the next lines after a backslash, while a quote, a subshell, a brace or a
 * branch with cd is open, and for here-documents, which are data unless a shell reads them.
 *
 * Text that only the shell of the build could expand ($x, `x`, *) stays as it is, and the record is
 * flagged "unexpanded". No part of a log is ever run, but the commands in substitutions and eval
 * are records, too. Two substitutions of automake have a known result: `test -f 'a.c' || echo
 * './'`a.c is the folder of the source, or nothing if that is ./; and $depbase is the name of a
 * file with dependencies.
 */
#ifndef TR_FORMAT_MAKELOG_MAKELOG_H
#define TR_FORMAT_MAKELOG_MAKELOG_H

#include "core/arena.h"
#include "core/buffer.h"
#include "format/format.h"
#include "process/compilers.h"
#include "process/respfile.h"

/*
 * Returns a line as a terminal shows it: without the CR at its end, text that a later CR
 * overwrites, and escape sequences such as colours. The result may be in *plain; check
 * plain->failed.
 */
struct tr_text tr_makelog_plain(struct tr_text line, struct tr_buffer *plain);

/* Removes the time, the progress, a prompt and similar things in front of a command. */
struct tr_text tr_makelog_command(struct tr_text line);

/*
 * The length of the time that a system for continuous integration prints in front of each line,
 * with the blank after it. 0: none.
 */
size_t tr_makelog_stamp(struct tr_text line);

/* True for a message about a directory, such as make's "Entering directory". */
bool tr_makelog_is_message(struct tr_text line);

/* Where commands run. Zero it, and set cwd. */
struct tr_makelog_where {
	struct tr_buffer cwd; /* the directory outside of makes; empty: unknown */
	struct tr_makelog_place {
		int level;
		struct tr_buffer path;
	} * list;		 /* directories that makes have entered and not left */
	size_t count, made, cap; /* those after count were left; their memory is used again */
	bool guessed;		 /* two makes of one level are running */
	bool traced;		 /* cwd was printed by a program, perhaps for one command only */
};
void tr_makelog_where_free(struct tr_makelog_where *where);

/* The directory of the next command; data NULL: unknown. */
struct tr_text tr_makelog_where_now(const struct tr_makelog_where *where);

/* True if that directory is a guess. */
bool tr_makelog_where_is_guess(const struct tr_makelog_where *where);

/*
 * Follows a message about a directory. TR_END: the line is no such message. TR_WARN: the path is
 * too long, or so many directories are open that the first is forgotten. TR_FATAL: out of memory.
 */
enum tr_status tr_makelog_where_follow(struct tr_makelog_where *where, struct tr_text line,
				       struct tr_error *err);

/*
 * True if a cd sets the directory of the lines that follow: after a prompt, or as a line that
 * consists of cd and an absolute path, as Go and Xcode print it; but never inside a make. prompt: $
 * of a shell, + of sh -x, 0 if there is none.
 */
bool tr_makelog_where_is_about_next(const struct tr_makelog_where *where, char prompt,
				    struct tr_text command);

/* Sets the directory of the lines that follow; data NULL: unknown. Check where->cwd.failed. */
void tr_makelog_where_set(struct tr_makelog_where *where, char prompt, struct tr_text directory);

/* What the name of a program shows. All zero: an unknown program. */
struct tr_makelog_program {
	uint8_t tool;	  /* enum tr_tool_kind; a driver if `calls` */
	bool calls;	  /* its first argument selects the tool, such as cc of "zig cc" */
	bool shell;	  /* as tr_command_is_shell */
	bool remote;	  /* ssh */
	bool cmd;	  /* the shell of Windows */
	bool wrapper;	  /* runs the command in its arguments: env, nice */
	bool reads_words; /* xargs */
	bool no_runner;	  /* runs no command of its arguments: echo, rm */
};

/* Descriptions of programs, with a cache by name: a name has two slots. Zero it. */
struct tr_makelog_names {
	struct tr_compilers *compilers; /* NULL: the built-in table; owned by the reader */
	struct tr_arena arena;		/* for the current command */
	bool failed;			/* memory is exhausted */
	struct tr_makelog_slot {
		struct tr_makelog_program program;
		uint8_t len;
		char name[117]; /* long enough for most paths in arguments */
	} slots[512];
};

struct tr_makelog_program tr_makelog_program(struct tr_makelog_names *names, struct tr_text name);

/* A simple command of a command line. Valid during the call of tr_makelog_take. */
struct tr_makelog_found {
	const struct tr_word *words;
	size_t count;
	struct tr_text directory; /* data NULL: unknown */
	bool unexpanded;	  /* a word has text that only a shell can expand */
	bool conditional;	  /* it runs only if another command failed or succeeded */
	/* the words as strings of the stream, with "," between them; data NULL: not known */
	struct tr_text spelled;
};

/*
 * False if a line cannot contain a command, as most lines of a log. Sets *first to the program that
 * its first word names, unless that word has a colon or quotes.
 */
bool tr_makelog_may_hold(struct tr_makelog_names *names, struct tr_text line,
			 struct tr_makelog_program *first);

/*
 * Skips env, nice and similar wrappers with their options and settings. Returns the index of the
 * program that follows, which *program describes; found->count: none follows. *reads_words: one of
 * the wrappers is xargs.
 */
size_t tr_makelog_skip_wrappers(struct tr_makelog_names *names,
				const struct tr_makelog_found *found,
				struct tr_makelog_program *program, bool *reads_words);

/*
 * The index of the word at which the command of a build tool begins; found->count: there is none.
 * begin: the index of the first program after the wrappers, which `first` describes.
 */
size_t tr_makelog_find_tool(struct tr_makelog_names *names, const struct tr_makelog_found *found,
			    size_t begin, struct tr_makelog_program first);

/*
 * The index of the script after a shell, as in "sh -ec SCRIPT" and "bash -o pipefail -c SCRIPT". 0:
 * there is none.
 */
size_t tr_makelog_find_script(const struct tr_makelog_found *found, size_t shell);

/* The index of the script of ssh HOST SCRIPT, if it is one word; else 0. */
size_t tr_makelog_find_remote(const struct tr_makelog_found *found, size_t ssh);

/*
 * The directory of the command at begin: that of the shell, unless the words before it change it,
 * as env -C DIR and cmake -E chdir DIR do. Then it is in *to.
 */
struct tr_text tr_makelog_directory_of(const struct tr_makelog_found *found, size_t begin,
				       struct tr_buffer *to);

/* Receives a simple command. */
typedef void tr_makelog_take(void *context, const struct tr_makelog_found *found);

/* False if a line cannot be a command line of Windows. first: from tr_makelog_may_hold. */
bool tr_makelog_may_be_windows(struct tr_text line, struct tr_makelog_program first);

/*
 * Passes the commands of a command line of Windows to take. directory: where the first one runs;
 * data NULL: unknown. False: the line is not one of Windows. Sets *failed if memory is exhausted.
 */
bool tr_makelog_windows_parse(struct tr_makelog_names *names, struct tr_text text,
			      struct tr_text directory, tr_makelog_take *take, void *context,
			      bool *failed);

/*
 * True for bytes that have no special meaning in a word of a shell outside of quotes, and need no
 * escape in a string of the stream: letters, digits and + , - . / : = _, as the most frequent ones.
 */
static inline bool tr_makelog_is_plain(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '+' && c <= ':') || c == '=' || c == '_';
}

enum tr_makelog_syntax {
	TR_MAKELOG_FINE,
	TR_MAKELOG_UNCLOSED,   /* a quote or a bracket is open at the end */
	TR_MAKELOG_UNBALANCED, /* a bracket closes or opens nothing */
	TR_MAKELOG_TOO_DEEP,   /* more subshells or substitutions than TR_MAKELOG_DEPTH */
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
	struct tr_text directory; /* where its first command runs; data NULL: unknown */
	bool conditional;	  /* it runs only if another command failed or succeeded */
	bool by_line;		  /* stop at the end of the line in which the first command ends */
};

struct tr_makelog_parsed {
	enum tr_makelog_syntax syntax;
	/* of the command with the error, else of the last one; may be empty; until the next call */
	struct tr_text program;
	size_t words;		  /* number of words of that command before the error */
	size_t taken;		  /* number of bytes that were parsed */
	bool quoting;		  /* TR_MAKELOG_UNCLOSED: a quote is open */
	bool moved;		  /* a command has changed the directory */
	struct tr_text directory; /* at the end, until the next call; data NULL: unknown */
	bool open;		  /* the next lines continue it: a here-document, or cd x && */
};

/*
 * Splits a script into simple commands and passes them to take. The arguments of eval, the contents
 * of substitutions, and a here-document for a shell are passed as a command sh -c SCRIPT. False:
 * memory is exhausted.
 */
bool tr_makelog_shell_parse(struct tr_makelog_shell *shell, const struct tr_makelog_script *script,
			    struct tr_makelog_parsed *parsed);

#endif
