/* SPDX-License-Identifier: MIT */
/*
 * The parts of tr-deps.
 *
 *	records -> deps/tracker.h -> deps/graph.h, which is complete at the end of the input
 *	  tr_deps.c --------- options; lists the files or commands that are asked for
 *	  tr_deps_search.c -- finds these files
 *	  tr_deps_check.c --- findings: outside, declared, cycles, overlaps
 *	  tr_deps_rules.c --- the direct dependencies of each file for make, ninja and dot
 *	  tr_deps_recipes.c - the commands of each rule
 *	  tr_deps_document.c  the same for CycloneDX and SPDX, with hashes of files
 */
#ifndef TR_TOOLS_TR_DEPS_H
#define TR_TOOLS_TR_DEPS_H

#include "cli.h"
#include "deps/search.h"
#include "deps/tracker.h"

enum tr_deps_as {
	AS_DEFAULT = -1,
	AS_TREC,
	AS_LIST,
	AS_TSV,
	AS_JSON,
	AS_MAKE,
	AS_NINJA,
	AS_DOT,
	AS_CYCLONEDX,
	AS_SPDX,
};

struct tr_deps_globs {
	const char **globs;
	size_t count, cap;
};

/* A set of paths, in the order in which they were added. */
struct tr_deps_set {
	struct tr_deps_path **paths;
	size_t count, cap;
	uint32_t id; /* path->set of its members */
};

struct tr_deps {
	struct tr_cli cli;
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_file_call_taker taker;
	int mode; /* the question, an option of tr_deps.c; 0: list all uses */
	enum tr_deps_as as;
	enum tr_deps_through through;
	bool direct, commands, missing, special, hash, nul;
	struct tr_deps_globs wanted; /* --of, --from, --who-reads, --who-writes, --declared */
	struct tr_deps_globs cut;
	struct tr_deps_path *project; /* NULL: everything that is not special */
	const char *project_option;
	struct tr_deps_globs outside;
	bool no_removals;			    /* the format has no removals of files */
	uint64_t calls, unknown, mounts, cut_pipes; /* of earlier segments, as in tracker */
	bool too_long;				    /* of earlier segments, as in graph.paths */
	uint64_t unwatched;			    /* programs whose files are not in the trace */
	uint32_t sets;
	uint64_t rules; /* the least number that is free for the next rule of ninja */
	bool left_out;	/* a path that no rule can contain was reported */
	struct tr_buffer text, line;
	struct tr_arena arena;
};

/* Adds a path to a set, unless it is in it. */
void tr_deps_set_add(struct tr_deps *deps, struct tr_deps_set *set, struct tr_deps_path *path);
struct tr_deps_set tr_deps_set_new(struct tr_deps *deps);
void tr_deps_set_sort(struct tr_deps_set *set);

/* Returns the absolute path, which is valid until the next call. */
struct tr_text tr_deps_text(struct tr_deps *deps, const struct tr_deps_path *path);

/* Returns the path after this one in a walk through the tree. path NULL: the first. */
struct tr_deps_path *tr_deps_next_path(struct tr_deps *deps, struct tr_deps_path *path);

/* True if results contain the path: directories are left out, special files without --special. */
bool tr_deps_is_shown(const struct tr_deps *deps, const struct tr_deps_path *path);
bool tr_deps_in_project(const struct tr_deps *deps, const struct tr_deps_path *path);
bool tr_deps_matches(struct tr_deps *deps, const struct tr_deps_globs *globs,
		     const struct tr_deps_path *path);

/* True if the trace wrote the content that the file at this path has at the end. */
bool tr_deps_was_written(const struct tr_deps_path *path);

/* Collects what a file was made from, directly or in all steps. False: memory is exhausted. */
bool tr_deps_collect(struct tr_deps *deps, struct tr_deps_path *target, bool direct,
		     struct tr_deps_set *set);

/* Finds what was made from the files: from every content that ever had one of these names. */
bool tr_deps_collect_from(struct tr_deps *deps, const struct tr_deps_set *wanted,
			  struct tr_deps_set *set);

/* Finds the paths that the question is about. False: a GLOB matches none, which is reported. */
bool tr_deps_find_wanted(struct tr_deps *deps, struct tr_deps_set *set);

/* Makes relative globs absolute: they are relative to the directory of the first command. */
void tr_deps_make_absolute(struct tr_deps *deps, struct tr_deps_globs *globs);

/* A command that a rule can contain: one that a build tool or the first command has started. */
struct tr_deps_recipe {
	const struct tr_deps_command *command;
	uint32_t
		first; /* of its group: the oldest recipe; 0: this is not the newest one of a group */
	uint32_t next; /* the next one of the group; 0: this is the newest one */

	/* private */
	bool starts; /* it has started other recipes */
	bool makes;  /* it is one of the recipes of a target */
	size_t links;
	uint32_t index, low, caller, group;
};

struct tr_deps_target {
	struct tr_deps_path *path;
	struct tr_deps_set needs; /* what it was made from directly */
	uint32_t recipe;	  /* that wrote its content last */
	uint32_t group;		  /* the newest of the recipes that make it */
};

struct tr_deps_recipes {
	struct tr_deps *deps;
	struct tr_deps_recipe *list; /* from 1, in the order in which they began */
	size_t count, cap;

	/* private */
	struct tr_deps_link *links; /* from 1 */
	size_t link_count, link_cap;
	const struct tr_deps_target *target;
};

/* Lists the recipes of the trace. False: memory is exhausted. */
bool tr_deps_recipes_begin(struct tr_deps_recipes *recipes);
void tr_deps_recipes_free(struct tr_deps_recipes *recipes);

/* Returns the recipe that wrote the content of the file at this path last. 0: there is none. */
uint32_t tr_deps_recipe_of(const struct tr_deps_path *path);

/* Sets the groups: targets with the same one are made together. False: memory is exhausted. */
bool tr_deps_recipes_group(struct tr_deps_recipes *recipes, struct tr_deps_target *targets,
			   size_t count);

/* Write the dependencies of the files as rules or as a document. False: it failed. */
bool tr_deps_write_rules(struct tr_deps *deps, const struct tr_deps_set *files);
bool tr_deps_write_document(struct tr_deps *deps, const struct tr_deps_set *files);

/* Each check prints its findings; if there are some, the exit status is 1. */
bool tr_deps_check_outside(struct tr_deps *deps, struct tr_deps_set *set);
bool tr_deps_check_declared(struct tr_deps *deps);
bool tr_deps_check_cycles(struct tr_deps *deps);
bool tr_deps_check_overlaps(struct tr_deps *deps);

/* Writes a line, in which control bytes are escaped; with -0, the text and a NUL. */
void tr_deps_put_line(struct tr_deps *deps, struct tr_text text);

/* Hashes a file of this machine, as hex digits. False: it cannot be read. */
bool tr_deps_hash(struct tr_deps *deps, const struct tr_deps_path *path, char *sha256, char *sha1);

/* Appends the command line of a command, quoted for a shell. */
void tr_deps_put_argv(struct tr_deps *deps, const struct tr_deps_command *command,
		      struct tr_buffer *to);

#endif
