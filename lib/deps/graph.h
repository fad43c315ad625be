/* SPDX-License-Identifier: MIT */
/*
 * Which command read and wrote which content of which file.
 *
 *	command --- an exec record, or a forked process that calls no exec
 *	file ------ has one or more names (paths.h), or none: a pipe, a deleted file
 *	version --- a content of a file: opening it with O_TRUNC begins another one
 *	use ------- what a command did with a version, first and last
 *
 * Moments are ordinals of events, from 1; all events after the first 2^32 - 2 share one moment. A
 * use ends when its command closes the file, or ends. A version depends on what its writers read
 * before that moment. Pairs of inputs and outputs are never stored: a search walks from version to
 * use to command (search.h).
 *
 * Memory grows with the number of commands, files, versions and uses, not with that of events; a
 * user that only counts uses can drop those of programs that have ended (tr_deps_drop_uses).
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
#define TR_DEPS_NO_SEQ UINT64_MAX /* there is no record */

/* The actions of a use: the words of `does` in trec(5). */
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

/* The evidence that a command read or wrote. Of the uses of a version, only the strongest count. */
enum tr_evidence {
	TR_EVIDENCE_NONE,
	TR_EVIDENCE_HELD,   /* it made a pipe that no other command wrote to: a here-document */
	TR_EVIDENCE_OPENED, /* it opened the file itself, or had a pipe at 0, 1 or 2 */
	TR_EVIDENCE_PASSED, /* the program inherited the descriptor: assumed */
	TR_EVIDENCE_SEEN,   /* the trace has the transfer, a mapping or an exec */
};

struct tr_deps_command {
	struct tr_deps_command *parent; /* that forked it or called exec; or NULL */
	/*
	 * the command itself if it is a program, else its nearest ancestor that is one, or the top
	 */
	struct tr_deps_command *owner;
	bool program;	   /* an exec record; otherwise a fork, or a task without one */
	bool shell;	   /* the program is a shell */
	uint64_t seq;	   /* of the exec record; or TR_DEPS_NO_SEQ */
	uint64_t fork_seq; /* of the fork record that created it; or TR_DEPS_NO_SEQ */
	struct tr_deps_command *became; /* the next program of its process; NULL: none */
	uint32_t began, ended;
	struct tr_deps_path *executable, *directory; /* NULL: unknown */
	struct tr_deps_path *moved_to;	 /* its directory when it started others, or NULL */
	struct tr_text task, time, name; /* cells, as trec spells them */
	struct tr_text argv;		 /* the field's value, as trec spells it; data NULL: none */
	struct tr_deps_use *uses;	 /* the newest first */
	struct tr_deps_use *mapped;	 /* private: this and older ones are in graph->uses */
	uint32_t running;		 /* of an owner: how many of its commands have not ended */
	uint64_t bytes_read, bytes_written; /* by the calls that are in the trace */
	struct tr_deps_command *next;
	struct tr_deps_command *children, *sibling; /* the newest first */
	bool chosen;				    /* for the user of the graph */
	union {					    /* each user of the graph sets one of these */
		uint32_t node;			    /* in a forest: see tr_critical_set_nodes */
		uint32_t files_read;		    /* counted by view/stat_files.c */
		uint32_t record; /* 1 + number of the record that tr-diff compares; 0: none */
		uint32_t recipe; /* that contains the program: tools/tr_deps_recipes.c */
	};

	struct tr_deps_use **sorted; /* of a search: private to search.c */
	uint32_t use_count, at, sorted_count;
	bool sorted_forward;
	uint32_t mark, moment;
};

struct tr_deps_file {
	struct tr_deps_path *path;	 /* its name, or its last one; NULL: a pipe */
	struct tr_deps_version *version; /* the current one */
	struct tr_deps_file *next;
	uint32_t names;
	bool created;	      /* the trace created it, so no content is older than the trace */
	bool created_assumed; /* created is an assumption: the trace does not show it */
	bool pipe;
	bool both_ends; /* a command opened both ends of this named pipe, as make's jobserver does */
	bool deleted;	/* its last name was deleted */
	bool replaced;	/* another file took its name, and was not deleted */
	bool used;	/* its content was read or written */
	bool chosen;	/* for the user of the graph */
};

struct tr_deps_version {
	struct tr_deps_file *file;
	struct tr_deps_version *older; /* the version whose content this one contains, or NULL */
	struct tr_deps_version *newer; /* the version that contains the content of this one */
	struct tr_deps_use *uses;      /* the newest first */
	uint8_t read, written;	       /* enum tr_evidence: the strongest of all uses */
	bool transferred;	       /* a call in the trace read from it */
	bool dropped;		       /* it had uses by commands that have ended */
	uint32_t mark;		       /* of a search: private to search.c */
	uint32_t recipe;	       /* for the user of the graph, as in tr_deps_command */
};

/* Data of a use that views and the records of uses need, but no search. */
struct tr_deps_details {
	struct tr_deps_path *spelled; /* its path as given, with links in it */
	struct tr_deps_path *from;    /* of a rename or link */
	uint64_t seq;		      /* of the record of the first event */
	struct tr_text time, task;    /* of that record: cells, as trec spells them */
	struct tr_text error;	      /* "ENOENT", of the first failure; data NULL: none */
	int64_t closed;		      /* the time of written_until, or TR_INSTANT_NONE */
	struct tr_deps_use *next;     /* the next one that was added */

	uint32_t count; /* events */

	/* for the user of the graph */
	uint16_t assumed;
	bool joined;
};

/* 64 bytes, because a trace has many of them. */
struct tr_deps_use {
	struct tr_deps_command *command;
	struct tr_deps_version *version; /* NULL: the file is missing */
	struct tr_deps_path *path;	 /* the name that was used; NULL: a pipe */
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
	struct tr_id_map uses;	       /* private: uses by commands that have many */
	struct tr_deps_use *free_uses; /* private: dropped ones */
	struct tr_deps_command *first_command, *last_command;
	struct tr_deps_file *first_file, *last_file;
	struct tr_deps_use *first_use, *last_use; /* with details */
	bool details;				  /* keep the details of uses */
	bool without_arguments;			  /* leave the arguments of commands out */
	uint32_t now;				  /* the moment of the current event */
	uint32_t searches;
	int64_t instant;	    /* the time of now, or TR_INSTANT_NONE */
	bool has_reads, has_writes; /* the trace has calls with the number of bytes they moved */
	uint64_t use_count;
	bool failed; /* memory is exhausted: results of functions must not be used */
};

void tr_deps_graph_init(struct tr_deps_graph *graph);
void tr_deps_graph_free(struct tr_deps_graph *graph);

/* All return NULL if memory is exhausted. */
struct tr_deps_command *tr_deps_add_command(struct tr_deps_graph *graph,
					    struct tr_deps_command *parent);
struct tr_deps_file *tr_deps_add_file(struct tr_deps_graph *graph, struct tr_deps_path *path);
struct tr_deps_version *tr_deps_add_version(struct tr_deps_graph *graph, struct tr_deps_file *file,
					    bool keeps_content);

/* Returns the file with this name. A new one existed before the trace. */
struct tr_deps_file *tr_deps_file_at(struct tr_deps_graph *graph, struct tr_deps_path *path);

/* Adds a name to a file, or removes one. */
void tr_deps_bind(struct tr_deps_path *path, struct tr_deps_file *file);
void tr_deps_unbind(struct tr_deps_path *path);

/*
 * Returns the use of the version (NULL: missing) by the command, which has not ended, through the
 * path. It is added if there is none.
 */
struct tr_deps_use *tr_deps_get_use(struct tr_deps_graph *graph, struct tr_deps_command *command,
				    struct tr_deps_version *version, struct tr_deps_path *path);

/*
 * Removes those uses of a command that has ended for which `drop` returns true, so that their
 * memory can be used again. For graphs without details in which no search is made. A use cannot be
 * dropped while its version or path has many newer ones: `drop` is not called for it.
 */
bool tr_deps_is_droppable(const struct tr_deps_use *use);
void tr_deps_drop_uses(struct tr_deps_graph *graph, struct tr_deps_command *command,
		       bool (*drop)(void *context, const struct tr_deps_use *use), void *context);

/* Marks that the use reads, or writes, now. */
void tr_deps_mark_read(struct tr_deps_graph *graph, struct tr_deps_use *use,
		       enum tr_evidence evidence);
void tr_deps_mark_written(struct tr_deps_use *use, enum tr_evidence evidence);

/* Marks that what the use wrote is complete now. */
void tr_deps_mark_closed(const struct tr_deps_graph *graph, struct tr_deps_use *use);

/*
 * Steps from a program through the processes that it forked and that called no exec, in no order.
 * NULL: that was the last one.
 */
const struct tr_deps_command *tr_deps_next_fork(const struct tr_deps_command *command);

/* Returns the program to which a command belongs; NULL: there is none. */
const struct tr_deps_command *tr_deps_program(const struct tr_deps_command *command);

/*
 * Returns whether the command opens files for itself and not, as a shell does, for programs that it
 * runs.
 */
bool tr_deps_opens_for_itself(const struct tr_deps_command *command);

/*
 * Return whether the use reads, or writes, the version. The evidence of all uses of the version
 * decides: programs that inherited the descriptor count if the trace has no transfers; without
 * these, programs that opened it count.
 */
bool tr_deps_is_reader(const struct tr_deps_use *use);
bool tr_deps_is_writer(const struct tr_deps_use *use);

/* Appends the words of the actions, separated by `between`. */
void tr_deps_put_does(unsigned does, const char *between, struct tr_buffer *to);

#endif
