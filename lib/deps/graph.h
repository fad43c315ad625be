/* SPDX-License-Identifier: MIT */
/*
 * Which command read and wrote which content of which file.
 *
 *	command --- an exec record, or a process that was forked and called no exec
 *	file ------ an entity that has one or more names (paths.h), or none: a pipe, a deleted file
 *	version --- a content of a file: opening with O_TRUNC begins another one
 *	use ------- a command and a version: what it did with it, first and last
 *
 * Moments are ordinals of the events, from 1 (those after the first 2^32 - 2 events of a trace are
 * one moment); a use ends when its command closes the file, or ends.
 * A version depends on what its writers read before that moment. Pairs of inputs and outputs are
 * never stored: a search walks from version to use to command (search.h).
 *
 * Memory grows with commands, files, versions and uses, which are distinct, not with the events.
 * Everything lives in one arena until tr_deps_graph_free. Not thread safe.
 */
#ifndef TR_DEPS_GRAPH_H
#define TR_DEPS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/map.h"
#include "deps/paths.h"
#include "process/instant.h"

#define TR_DEPS_NEVER UINT32_MAX  /* no moment */
#define TR_DEPS_NO_SEQ UINT64_MAX /* no number of a record */

/* The words of `does` in trec(5): the things that a use can do. */
enum {
	TR_DOES_READ = 1,
	TR_DOES_WRITE = 2,
	TR_DOES_CREATE = 4,
	TR_DOES_TRUNCATE = 8,
	TR_DOES_APPEND = 0x10,
	TR_DOES_DELETE = 0x20,
	TR_DOES_RENAME = 0x40,
	TR_DOES_LINK = 0x80,
	TR_DOES_EXEC = 0x100,
	TR_DOES_MAP = 0x200,
	TR_DOES_STAT = 0x400,
	TR_DOES_LIST = 0x800,
	TR_DOES_MISSING = 0x1000,
	TR_DOES_WORDS = 13,
};

/* How it is known that a command read, or wrote; the strongest of a version's uses count. */
enum tr_evidence {
	TR_EVIDENCE_NONE,
	TR_EVIDENCE_HELD,   /* it made a pipe that no other command wrote to: a here-document */
	TR_EVIDENCE_OPENED, /* it opened the file itself, or had a pipe at 0, 1 or 2 */
	TR_EVIDENCE_PASSED, /* it inherited the descriptor as a program does: assumed */
	TR_EVIDENCE_SEEN,   /* the trace has the transfer, a mapping or an exec */
};

struct tr_deps_command {
	struct tr_deps_command *parent; /* the command that forked it, or called exec; or NULL */
	/* The command itself, or the next program above it; if there is none, the task at the top. */
	struct tr_deps_command *owner;
	bool program; /* an exec record; otherwise a fork, or a task without one */
	uint64_t seq; /* of the exec record; TR_DEPS_NO_SEQ: it has none, or this is no program */
	uint64_t fork_seq; /* of the fork record that made it; TR_DEPS_NO_SEQ: none did */
	struct tr_deps_command *became; /* by exec; NULL: its process called none after it */
	uint32_t began, ended;
	struct tr_deps_path *executable, *directory; /* NULL: unknown */
	struct tr_deps_path *moved_to;	 /* where it went before it started others, or NULL */
	struct tr_text task, time, name; /* cells, as trec spells them */
	struct tr_text argv;		 /* the field's value, as trec spells it; data NULL: none */
	struct tr_deps_use *uses;	 /* the newest first */
	struct tr_deps_use *mapped;	 /* private: this one and older ones are in graph->uses */
	uint64_t bytes_read, bytes_written; /* by its calls, as far as the trace has them */
	struct tr_deps_command *next;
	struct tr_deps_command *children, *sibling; /* the newest first */
	bool chosen;				    /* for the user of the graph */
	uint32_t place;				    /* the same */

	struct tr_deps_use **sorted; /* of a search: private to search.c */
	uint32_t use_count, at, sorted_count;
	bool sorted_forward;
	uint32_t mark, moment;
};

struct tr_deps_file {
	struct tr_deps_path *path;	 /* its name, or the last that it had; NULL: a pipe */
	struct tr_deps_version *version; /* the current one */
	struct tr_deps_file *next;
	uint32_t names;
	bool created; /* the trace created it, so no content is older than the trace */
	bool perhaps; /* it is only assumed that it was created: it was not known to exist */
	bool pipe;
	bool both; /* of a pipe with a name: a command opened both ends, as make's jobserver does */
	bool deleted;  /* by its last name */
	bool replaced; /* it lost a name to another file, which is not deleted */
	bool used;     /* its content was read or written */
	bool chosen;   /* for the user of the graph */
};

struct tr_deps_version {
	struct tr_deps_file *file;
	struct tr_deps_version *older;	/* its content is part of this one; NULL: it is not */
	struct tr_deps_version *newer;	/* the one whose `older` this is, or NULL */
	struct tr_deps_use *uses;	/* the newest first */
	enum tr_evidence read, written; /* the strongest of all uses */
	bool transferred;		/* the trace has a call that read from it */
	uint32_t mark;			/* of a search: private to search.c */
};

/* The data of a use that only records of uses and views need; searches in the graph do not. */
struct tr_deps_details {
	struct tr_deps_path *spelled; /* its path without links being resolved */
	struct tr_deps_path *from;    /* of a rename or link */
	uint64_t seq;		      /* of the record of the first event */
	struct tr_text time, task;    /* of that record: cells, as trec spells them */
	struct tr_text error;	  /* "ENOENT", of the first failure; data NULL: there was none */
	int64_t closed;		  /* the time of written_until, or TR_INSTANT_NONE */
	struct tr_deps_use *next; /* of all, in the order in which they were added */

	uint32_t count; /* of events */

	/* for the user of the graph */
	uint16_t assumed;
	bool joined;
};

/* 64 bytes, because a trace has many of them. */
struct tr_deps_use {
	struct tr_deps_command *command;
	struct tr_deps_version *version; /* NULL: the file is missing */
	struct tr_deps_path *path;	 /* through which it was used; NULL: a pipe */
	struct tr_deps_use *next_of_command, *next_of_version;
	struct tr_deps_details *details; /* NULL: they are not kept */
	uint32_t read_at, written_until; /* the first read; the last close after writing */
	uint32_t first;
	unsigned does : 16, read : 8, written : 7; /* read, written: enum tr_evidence */
	bool mapped : 1; /* it writes through a mapping, which lasts longer than the descriptor */
};

struct tr_deps_graph {
	struct tr_deps_paths paths;
	struct tr_arena arena;
	struct tr_id_map uses; /* private: those of commands with many */
	struct tr_deps_command *first_command, *last_command;
	struct tr_deps_file *first_file, *last_file;
	struct tr_deps_use *first_use, *last_use; /* of those with details */
	bool details;				  /* keep the details of uses */
	bool without_arguments;			  /* leave the arguments of commands out */
	uint32_t now;				  /* the moment of the event that is being put */
	uint32_t searches;
	int64_t instant;	    /* the time of now, or TR_INSTANT_NONE */
	bool has_reads, has_writes; /* the trace has calls that say how many bytes they moved */
	uint64_t use_count;
	bool failed; /* memory is exhausted: nothing that the functions return can be used */
};

void tr_deps_graph_init(struct tr_deps_graph *graph);
void tr_deps_graph_free(struct tr_deps_graph *graph);

/* All return NULL if memory is exhausted. */
struct tr_deps_command *tr_deps_add_command(struct tr_deps_graph *graph,
					    struct tr_deps_command *parent);
struct tr_deps_file *tr_deps_add_file(struct tr_deps_graph *graph, struct tr_deps_path *path);
struct tr_deps_version *tr_deps_add_version(struct tr_deps_graph *graph, struct tr_deps_file *file,
					    bool keeps_content);

/* The file that has this name; it is added as one that is older than the trace. */
struct tr_deps_file *tr_deps_file_at(struct tr_deps_graph *graph, struct tr_deps_path *path);

/* Gives a file another name, or takes one away. */
void tr_deps_bind(struct tr_deps_path *path, struct tr_deps_file *file);
void tr_deps_unbind(struct tr_deps_path *path);

/*
 * The use of the version (NULL: missing) by the command, which has not ended, through the path; it
 * is added if new.
 */
struct tr_deps_use *tr_deps_use(struct tr_deps_graph *graph, struct tr_deps_command *command,
				struct tr_deps_version *version, struct tr_deps_path *path);

/* Sets that the use reads, or writes, now. */
void tr_deps_use_reads(struct tr_deps_graph *graph, struct tr_deps_use *use,
		       enum tr_evidence evidence);
void tr_deps_use_writes(struct tr_deps_use *use, enum tr_evidence evidence);

/* Sets that what the use wrote is complete now. */
void tr_deps_use_closes(const struct tr_deps_graph *graph, struct tr_deps_use *use);

/*
 * Steps from an owner through the processes that it forked, and that called no exec, in no order. NULL
 * after the last one.
 */
const struct tr_deps_command *tr_deps_next_fork(const struct tr_deps_command *command);

/* The program to whose exec record the doings of a command belong; NULL: there is none. */
const struct tr_deps_command *tr_deps_program(const struct tr_deps_command *command);

/* Whether the program is make or ninja, which only run others; or a shell. */
bool tr_deps_is_build_tool(const struct tr_deps_command *command);
bool tr_deps_is_shell(const struct tr_deps_command *command);

/*
 * Whether the use reads or writes the version, by the evidence of all its uses: transfers that were
 * seen, else the programs that inherited the descriptor, else those that opened it.
 */
bool tr_deps_is_reader(const struct tr_deps_use *use);
bool tr_deps_is_writer(const struct tr_deps_use *use);

/* Appends the words, with a text between two of them. */
void tr_deps_does_write(unsigned does, const char *between, struct tr_buffer *to);

#endif
