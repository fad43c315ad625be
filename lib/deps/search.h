/* SPDX-License-Identifier: MIT */
/*
 * Searches in the graph for what a version was made from, and what was made from it.
 *
 *	version -> its writers, until they closed it -> what they had read by then -> version ...
 *	version -> its readers, from when they read it -> what they closed after that -> version ...
 *
 * A version is visited once, and a command again only from another moment, so the time of a search
 * grows with the uses that it finds. Not thread safe, because the search leaves marks in the graph.
 */
#ifndef TR_DEPS_SEARCH_H
#define TR_DEPS_SEARCH_H

#include "deps/graph.h"

enum tr_deps_through { TR_THROUGH_NONE, TR_THROUGH_WRAPPERS, TR_THROUGH_ALL };

struct tr_deps_search {
	struct tr_deps_graph *graph;
	enum tr_deps_through through; /* whose reads also count as reads of their children */
	bool missing;		      /* also find uses that only looked for a file, or at one */
	bool forward;

	/*
	 * Called for each use that reads (forward: writes) use->version, or looks for use->path.
	 * True: the search continues from that version.
	 */
	bool (*found)(void *context, struct tr_deps_use *use);
	/* Called for each command, possibly more than once; may be NULL. */
	void (*visited)(void *context, struct tr_deps_command *command);
	/* Called once for each version; may be NULL. */
	void (*reached)(void *context, struct tr_deps_version *version);
	void *context;

	/* private */
	uint32_t mark;
	struct tr_deps_step *steps;
	size_t count, cap;
};

/* Begins a search: no version or command has been visited. */
void tr_deps_search_begin(struct tr_deps_search *search);

/* Searches from a version. False: memory is exhausted. */
bool tr_deps_search(struct tr_deps_search *search, struct tr_deps_version *version);

void tr_deps_search_free(struct tr_deps_search *search);

#endif
