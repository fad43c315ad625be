/* SPDX-License-Identifier: MIT */
/*
 * The uses of files by the commands of a segment, for views:
 *
 *	tr_file_uses_put      each record; the first file call starts the graph (deps/graph.h)
 *	tr_file_uses_finish   the segment is complete: the graph can be read, if `following` is set
 *	tr_file_uses_list     the files that each program read and wrote
 *	tr_file_uses_clear    drops all, before the next segment
 *
 * Until the first file call, process records are kept as text, up to a limit; so a trace without
 * file calls costs almost nothing. After that, memory grows with the distinct files and commands.
 * Not thread safe.
 */
#ifndef TR_VIEW_FILE_USES_H
#define TR_VIEW_FILE_USES_H

#include "deps/graph.h"
#include "deps/tracker.h"

struct tr_file_uses {
	bool times;	/* also record when each use was closed, which takes twice the memory */
	bool following; /* the segment has file calls */
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_buffer held; /* lines before the first file call */
	bool full;	       /* held has reached its limit */
	/* as in deps/tracker.h; may be set after tr_file_uses_init */
	void (*program_ended)(void *context, struct tr_deps_command *program);
	void *context;
};

/* A file and what a program did with it. */
struct tr_file_use {
	const struct tr_deps_command *program; /* NULL: the trace has no exec record of it */
	struct tr_deps_path *path;
	bool reads, writes; /* renaming or linking a file to this path counts as writing it */
	uint64_t first;
};

void tr_file_uses_init(struct tr_file_uses *uses, bool times);

/* Takes a record that is no header and no trailer. False: memory is exhausted. */
bool tr_file_uses_put(struct tr_file_uses *uses, struct tr_record *record);

/* Takes a call for which there is no record. False: it must come as a record. */
static inline bool tr_file_uses_take(struct tr_file_uses *uses, const struct tr_record *columns,
				     const struct tr_file_call *call)
{
	return uses->following && tr_deps_take(&uses->tracker, columns, call);
}

bool tr_file_uses_finish(struct tr_file_uses *uses);

/* True if a use reads or writes a file that is no device, directory or pipe. */
bool tr_file_use_counts(const struct tr_deps_use *use, bool *reads, bool *writes);

/*
 * Allocates the list, in which the files of a program follow each other in the order of their first
 * use; the caller frees it with free(3). Devices, directories and pipes are left out. False: memory
 * is exhausted.
 */
bool tr_file_uses_list(const struct tr_file_uses *uses, struct tr_file_use **list, size_t *count);

void tr_file_uses_clear(struct tr_file_uses *uses);
void tr_file_uses_free(struct tr_file_uses *uses);

#endif
