/* SPDX-License-Identifier: MIT */
/*
 * The critical path. number_nodes gives each node a position in the order of the tree, so that the
 * runs below a node are a range of positions; list_children sorts the children of each node by
 * their ends, and list_commands the commands of the graph by position. walk_back then goes from
 * the last end to the first beginning. The children of a node are taken from the end of their list
 * (left), so that each is looked at once.
 */
#include "view/critical.h"

#include <stdlib.h>
#include <string.h>

#include "process/command.h"

/*
 * A use is looked at once for each level of the tree on the path; damaged traces have many levels.
 */
enum { LOOKS_MAX = 100000000 };

/* A process among the children of a run: the ends of its last program, by rising ends. */
struct child {
	int64_t ended;
	uint32_t head, tail; /* its first and its last run */
};

/* A command of the graph that is in the forest, and the position of its node. */
struct command {
	const struct tr_deps_command *command;
	uint32_t position;
};

/* A use that wrote a version, at a time that is known. */
struct writer {
	const struct tr_deps_use *use;
	const struct writer *next; /* of the same version */
	uint32_t position;	   /* of the command */
};

struct walk {
	const struct tr_forest *forest;
	struct tr_critical *critical;
	size_t cap;
	int64_t *began, *ended;	   /* by node; what is unknown is estimated */
	uint32_t *position, *last; /* by node: in the order of the tree; the last one below it */
	uint32_t *node_at;	   /* the reverse of position */
	/* the children of a node, and those of no node at forest->count, begin at first[node] */
	uint32_t *first;
	struct child *children;
	int64_t *begins;	  /* of the same children, rising */
	uint32_t *left;		  /* by node: how many of its children may still be on the path */
	bool *taken;		  /* the path has come to the end of this run, or to a pipe of it */
	struct command *commands; /* by position */
	size_t command_count;
	struct writer *list;	  /* all writers; a version can have a thousand readers for each */
	struct tr_id_map writers; /* the first one by the address of its version */
	size_t looks;
};

/* An event that lets a run go on. */
struct event {
	uint32_t node; /* TR_FOREST_NONE: there is none */
	int64_t time;
	enum tr_critical_cause cause;
	const struct tr_deps_path *file;
};

const char *tr_critical_word(enum tr_critical_cause cause)
{
	static const char *const words[] = {
		[TR_CRITICAL_START] = "start",	 [TR_CRITICAL_PARENT] = "parent",
		[TR_CRITICAL_EXEC] = "exec",	 [TR_CRITICAL_EXIT] = "exit",
		[TR_CRITICAL_SLOT] = "job slot", [TR_CRITICAL_FILE] = "file",
		[TR_CRITICAL_PIPE] = "pipe",
	};

	return words[cause];
}

bool tr_critical_set_nodes(const struct tr_forest *forest, struct tr_deps_graph *graph)
{
	struct tr_id_map by_seq = TR_ID_MAP_INIT;
	bool fine = true;

	for (size_t i = 0; fine && i < forest->count; i++)
		if (forest->nodes[i].seq != TR_RUN_NONE)
			fine = tr_id_map_put(&by_seq, forest->nodes[i].seq, &forest->nodes[i]);
	for (struct tr_deps_command *c = graph->first_command; c; c = c->next) {
		/* a run that was forked and then called exec once is found by its exec record */
		uint64_t seq = c->program ? c->seq : c->fork_seq;
		const struct tr_forest_node *node =
			seq == TR_DEPS_NO_SEQ ? NULL : tr_id_map_get(&by_seq, seq);
		if (!node && !c->program && c->became && c->became->seq != TR_DEPS_NO_SEQ)
			node = tr_id_map_get(&by_seq, c->became->seq);
		c->node = node ? (uint32_t)(node - forest->nodes) : TR_FOREST_NONE;
	}
	tr_id_map_free(&by_seq);
	return fine;
}

/* Sorts children by their ends. */
static int by_end(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->ended != y->ended)
		return x->ended < y->ended ? -1 : 1;
	/*
	 * the list is read from its end: of children that ended together, the one that began first
	 * comes last
	 */
	return x->head > y->head ? -1 : x->head < y->head;
}

/* Sorts times. */
static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* True if the trace has no end of this run, although its process may have ended. */
static bool is_open(const struct tr_forest_node *node)
{
	return node->fate == TR_RUN_OPEN || !node->has_ended;
}

/*
 * Sets the times of a node. Unknown ones are estimated: a run begins with its parent and ends with
 * the trace, but never before it begins.
 */
static void set_times(struct walk *walk, uint32_t node)
{
	const struct tr_forest *forest = walk->forest;
	const struct tr_forest_node *run = &forest->nodes[node];
	bool above = run->parent != TR_FOREST_NONE;

	walk->began[node] = run->has_began ? run->began
			    : above	   ? walk->began[run->parent]
					   : forest->earliest;
	walk->ended[node] = is_open(run) ? forest->latest : run->ended;
	if (walk->ended[node] < walk->began[node])
		walk->ended[node] = walk->began[node];
}

/* Numbers the nodes in the order of the tree, and sets their times. */
static void number_nodes(struct walk *walk)
{
	const struct tr_forest *forest = walk->forest;
	uint32_t count = 0;
	size_t depth;

	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		walk->node_at[count] = at;
		walk->position[at] = walk->last[at] = count++;
		set_times(walk, at);
	}
	while (count-- > 0) { /* children come after their parents */
		uint32_t at = walk->node_at[count], above = forest->nodes[at].parent;
		if (above != TR_FOREST_NONE && walk->last[above] < walk->last[at])
			walk->last[above] = walk->last[at];
	}
}

/*
 * True if the parent may have waited for a child. A child without an end counts only if its parent
 * has none.
 */
static bool can_wait(const struct walk *walk, uint32_t parent, uint32_t tail)
{
	const struct tr_forest_node *nodes = walk->forest->nodes;

	return !is_open(&nodes[tail]) || parent == TR_FOREST_NONE || is_open(&nodes[parent]);
}

/* Returns the last program of a process, whose programs called exec without a fork. */
static uint32_t tail_of(const struct walk *walk, uint32_t node)
{
	for (uint32_t next = node; next != TR_FOREST_NONE;
	     next = tr_forest_successor(walk->forest, node))
		node = next;
	return node;
}

/* Returns the number of the list of the children of a node; that of the roots is the last one. */
static size_t list_of(const struct walk *walk, uint32_t node)
{
	return node == TR_FOREST_NONE ? walk->forest->count : node;
}

/*
 * Lists the children of each node by their ends, and separately when they began. The first pass
 * counts, the second fills.
 */
static void list_children(struct walk *walk)
{
	const struct tr_forest *forest = walk->forest;
	uint32_t *first = walk->first;

	for (size_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < forest->count; i++) {
			const struct tr_forest_node *node = &forest->nodes[i];
			if (node->replaces != TR_FOREST_NONE)
				continue;
			uint32_t tail = tail_of(walk, i);
			size_t list = list_of(walk, node->parent);
			if (!can_wait(walk, node->parent, tail))
				continue;
			if (pass == 0) {
				first[list + 1]++;
				continue;
			}
			uint32_t at = first[list] + walk->left[list]++;
			walk->children[at] = (struct child){ walk->ended[tail], i, tail };
			walk->begins[at] = walk->began[i];
		}
		for (size_t list = 0; pass == 0 && list <= forest->count; list++)
			first[list + 1] += first[list];
	}
	for (size_t list = 0; list <= forest->count; list++) {
		size_t count = first[list + 1] - first[list];
		if (count < 2)
			continue;
		qsort(&walk->children[first[list]], count, sizeof *walk->children, by_end);
		qsort(&walk->begins[first[list]], count, sizeof *walk->begins, by_value);
	}
}

/* Sorts commands by their position, and those of one node by their beginning. */
static int by_position(const void *a, const void *b)
{
	const struct command *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return x->command->began < y->command->began ? -1 : x->command->began > y->command->began;
}

/* Returns the writers of a version of a file; NULL: none of them has closed it. */
static const struct writer *writers_of(const struct walk *walk,
				       const struct tr_deps_version *version)
{
	return version->written ? tr_id_map_get(&walk->writers, (uintptr_t)version) : NULL;
}

/*
 * Lists the uses that wrote and closed a file, so that the writers of a version are found without
 * a walk over all of its uses. False: memory is exhausted.
 */
static bool list_writers(struct walk *walk)
{
	size_t count = 0;

	for (size_t i = 0; i < walk->command_count; i++)
		for (const struct tr_deps_use *use = walk->commands[i].command->uses; use;
		     use = use->next_of_command)
			count += use->written != 0;
	walk->list = malloc((count + 1) * sizeof *walk->list);
	if (!walk->list)
		return false;
	count = 0;
	for (size_t i = 0; i < walk->command_count; i++) {
		for (const struct tr_deps_use *use = walk->commands[i].command->uses; use;
		     use = use->next_of_command) {
			if (!tr_deps_is_writer(use) || use->details->closed == TR_INSTANT_NONE)
				continue;
			struct writer *writer = &walk->list[count++];
			*writer = (struct writer){ use, writers_of(walk, use->version),
						   walk->commands[i].position };
			if (!tr_id_map_put(&walk->writers, (uintptr_t)use->version, writer))
				return false;
		}
	}
	return true;
}

/* Lists the commands of the graph in the order of the tree. False: memory is exhausted. */
static bool list_commands(struct walk *walk, struct tr_deps_graph *graph)
{
	size_t count = 0;

	if (!tr_critical_set_nodes(walk->forest, graph))
		return false;
	for (const struct tr_deps_command *c = graph->first_command; c; c = c->next)
		count++;
	walk->commands = calloc(count + 1, sizeof *walk->commands);
	if (!walk->commands)
		return false;
	for (const struct tr_deps_command *c = graph->first_command; c; c = c->next)
		if (c->node != TR_FOREST_NONE)
			walk->commands[walk->command_count++] =
				(struct command){ c, walk->position[c->node] };
	if (walk->command_count)
		qsort(walk->commands, walk->command_count, sizeof *walk->commands, by_position);
	return list_writers(walk);
}

/* Returns the index of the first command at this position or after it. */
static size_t seek(const struct walk *walk, uint32_t position)
{
	return tr_array_search(i, 0, walk->command_count, walk->commands[i].position < position);
}

/* Finds the child of a node (NONE: the root) that ended last by then and is not on the path yet. */
static const struct child *last_child(struct walk *walk, uint32_t node, int64_t until)
{
	size_t list = list_of(walk, node);
	const struct child *children = &walk->children[walk->first[list]];
	uint32_t *left = &walk->left[list];

	while (*left &&
	       (children[*left - 1].ended > until || walk->taken[children[*left - 1].tail]))
		--*left;
	if (!*left || (node != TR_FOREST_NONE && children[*left - 1].ended < walk->began[node]))
		return NULL;
	return &children[*left - 1];
}

/* Returns how many of the sorted values are below the limit. */
static size_t count_until(const int64_t *values, size_t count, int64_t limit)
{
	return tr_array_search(i, 0, count, values[i] < limit);
}

/* True if other children of the node had begun by then, and ended later. */
static bool runs_others(const struct walk *walk, uint32_t node, int64_t time)
{
	size_t list = list_of(walk, node);
	size_t from = walk->first[list], count = walk->first[list + 1] - from;
	size_t begun = count_until(&walk->begins[from], count, time);
	size_t over = tr_array_search(i, 0, count, walk->children[from + i].ended <= time);

	return begun > over;
}

/*
 * Adds a step to the path, which is found from its end to its beginning. False: memory is
 * exhausted.
 */
static bool add_step(struct walk *walk, uint32_t node, int64_t began, int64_t ended,
		     enum tr_critical_cause cause, const struct tr_deps_path *file)
{
	struct tr_critical *critical = walk->critical;

	/* steps that took no time are left out, except the first one */
	if (began >= ended && cause != TR_CRITICAL_START)
		return true;
	if (!tr_array_room(critical->steps, critical->count, walk->cap))
		return false;
	critical->steps[critical->count++] =
		(struct tr_critical_step){ node, began, ended, cause, file };
	return true;
}

/* Finds the last close of a pipe that the run reads, after it began and until the given time. */
static struct event last_pipe(struct walk *walk, uint32_t node, int64_t until)
{
	struct event best = { .node = TR_FOREST_NONE };
	uint32_t position = walk->position[node];

	for (size_t i = seek(walk, position);
	     i < walk->command_count && walk->commands[i].position == position; i++) {
		const struct tr_deps_command *command = walk->commands[i].command;
		/* make reads and writes the pipe of its job server, and outputs of its children */
		if (command->program && tr_command_is_build_tool(command->name))
			continue;
		for (const struct tr_deps_use *use = command->uses; use && walk->looks < LOOKS_MAX;
		     use = use->next_of_command) {
			walk->looks++;
			if (!use->version || !use->version->file->pipe || use->written ||
			    !tr_deps_is_reader(use))
				continue;
			for (const struct writer *w = writers_of(walk, use->version); w;
			     w = w->next) {
				uint32_t at = w->position;
				int64_t closed = w->use->details->closed;
				walk->looks++;
				if ((at >= position && at <= walk->last[node]) || closed > until ||
				    closed <= walk->began[node] ||
				    (best.node != TR_FOREST_NONE && closed <= best.time))
					continue;
				best = (struct event){ w->use->command->node, closed,
						       TR_CRITICAL_PIPE, NULL };
			}
		}
	}
	return best;
}

/* Makes a writer the best event if it completed its file later. */
static void take_later(struct event *best, const struct writer *w, struct tr_deps_path *path)
{
	int64_t closed = w->use->details->closed;

	if (best->node == TR_FOREST_NONE || closed > best->time)
		*best = (struct event){ w->use->command->node, closed, TR_CRITICAL_FILE, path };
}

/*
 * Finds, of the files that the process or a descendant reads, and that another process wrote before
 * it began, the one that was completed last: *of_child among those that the child or a descendant
 * of it wrote, and *of_any among all.
 */
static void last_files(struct walk *walk, uint32_t head, const struct child *child,
		       struct event *of_child, struct event *of_any)
{
	uint32_t begin = walk->position[head], end = walk->last[tail_of(walk, head)];
	uint32_t from = child ? walk->position[child->head] : 1;
	uint32_t to = child ? walk->last[child->tail] : 0;

	of_child->node = of_any->node = TR_FOREST_NONE;
	for (size_t i = seek(walk, begin);
	     i < walk->command_count && walk->commands[i].position <= end &&
	     walk->looks < LOOKS_MAX;
	     i++) {
		walk->looks++;
		for (const struct tr_deps_use *use = walk->commands[i].command->uses; use;
		     use = use->next_of_command) {
			walk->looks++;
			if (!use->version || !use->path || !tr_deps_is_reader(use))
				continue;
			for (const struct writer *w = writers_of(walk, use->version); w;
			     w = w->next) {
				uint32_t at = w->position;
				walk->looks++;
				if ((at >= begin && at <= end) ||
				    w->use->details->closed > walk->began[head])
					continue;
				take_later(of_any, w, use->path);
				if (at >= from && at <= to)
					take_later(of_child, w, use->path);
			}
		}
	}
}

/* True if the run is the node or an ancestor of it. */
static bool is_above(const struct walk *walk, uint32_t run, uint32_t node)
{
	return walk->position[run] <= walk->position[node] &&
	       walk->last[run] >= walk->position[node];
}

/*
 * Finds why a process began. If it needed a file of a command for which its parent did not wait,
 * *next is the completion of that file.
 */
static struct event reason(struct walk *walk, uint32_t head, struct event *next)
{
	uint32_t parent = walk->forest->nodes[head].parent;
	const struct child *child = last_child(walk, parent, walk->began[head]);
	struct event file = { 0 }, any = { 0 }, why = { .cause = TR_CRITICAL_PARENT };

	last_files(walk, head, child, &file, &any);
	next->node = TR_FOREST_NONE;
	if (file.node != TR_FOREST_NONE)
		return file;
	if (child)
		why.cause = runs_others(walk, parent, child->ended) ? TR_CRITICAL_SLOT
								    : TR_CRITICAL_EXIT;
	else if (parent == TR_FOREST_NONE)
		why.cause = TR_CRITICAL_START;
	file = any;
	int64_t since = child			   ? child->ended
			: parent == TR_FOREST_NONE ? INT64_MIN
						   : walk->began[parent];
	if (file.node == TR_FOREST_NONE || file.time <= since || is_above(walk, file.node, head) ||
	    walk->taken[file.node])
		return why;
	*next = file;
	return file;
}

/* Walks from the end of the last root to the beginning of the first one. */
static bool walk_back(struct walk *walk)
{
	const struct tr_forest *forest = walk->forest;
	const struct child *child = last_child(walk, TR_FOREST_NONE, INT64_MAX);
	struct event next = { .node = TR_FOREST_NONE }; /* what the parent waited for, if a file */

	if (!child)
		return true;
	uint32_t node = child->tail;
	int64_t now = child->ended;
	walk->taken[node] = true;
	walk->critical->cut = is_open(&forest->nodes[node]);
	for (;;) {
		struct event event = { .node = TR_FOREST_NONE };
		child = last_child(walk, node, now);
		if (child)
			event = (struct event){ child->tail, child->ended, TR_CRITICAL_EXIT, NULL };
		if (next.node != TR_FOREST_NONE)
			event = next;
		else if (node != TR_FOREST_NONE && walk->command_count) {
			struct event pipe = last_pipe(walk, node, now);
			if (pipe.node != TR_FOREST_NONE && !walk->taken[pipe.node] &&
			    (!child || pipe.time > event.time))
				event = pipe;
		}
		next.node = TR_FOREST_NONE;
		if (event.node != TR_FOREST_NONE) {
			if (!add_step(walk, node, event.time, now, event.cause, event.file))
				return false;
			node = event.node;
			now = event.time;
			walk->taken[node] = true;
			continue;
		}
		if (node == TR_FOREST_NONE) /* no root ended before: the path is complete */
			return true;
		int64_t began = walk->began[node] < now ? walk->began[node] : now;
		uint32_t above = forest->nodes[node].replaces;
		struct event why = { .cause = TR_CRITICAL_EXEC };
		if (above == TR_FOREST_NONE) {
			why = reason(walk, node, &next);
			above = forest->nodes[node].parent;
		}
		if (!add_step(walk, node, began, now, why.cause, why.file))
			return false;
		node = above;
		now = began;
	}
}

/* Frees the memory of the search, but not the path. */
static void free_walk(struct walk *walk)
{
	free(walk->began);
	free(walk->ended);
	free(walk->position);
	free(walk->last);
	free(walk->first);
	free(walk->children);
	free(walk->begins);
	free(walk->left);
	free(walk->taken);
	free(walk->node_at);
	free(walk->commands);
	free(walk->list);
	tr_id_map_free(&walk->writers);
}

/* True if the trace shows how long commands took. */
static bool has_ends(const struct tr_forest *forest)
{
	for (size_t i = 0; i < forest->count; i++)
		if (forest->nodes[i].has_began && !is_open(&forest->nodes[i]) &&
		    forest->nodes[i].fate != TR_RUN_REPLACED)
			return true;
	return false;
}

bool tr_critical_find(struct tr_critical *critical, const struct tr_forest *forest,
		      struct tr_deps_graph *graph)
{
	size_t count = forest->count;
	struct walk walk = { .forest = forest, .critical = critical, .writers = TR_ID_MAP_INIT };

	*critical = (struct tr_critical){ NULL, 0, false };
	if (!has_ends(forest))
		return true;
	walk.began = calloc(count, sizeof *walk.began);
	walk.ended = calloc(count, sizeof *walk.ended);
	walk.position = calloc(count, sizeof *walk.position);
	walk.last = calloc(count, sizeof *walk.last);
	walk.first = calloc(count + 2, sizeof *walk.first);
	walk.children = calloc(count, sizeof *walk.children);
	walk.begins = calloc(count, sizeof *walk.begins);
	walk.left = calloc(count + 1, sizeof *walk.left);
	walk.taken = calloc(count, sizeof *walk.taken);
	walk.node_at = calloc(count, sizeof *walk.node_at);
	bool fine = walk.began && walk.ended && walk.position && walk.last && walk.first &&
		    walk.children && walk.begins && walk.left && walk.taken && walk.node_at;
	if (fine) {
		number_nodes(&walk);
		list_children(&walk);
		fine = (!graph || list_commands(&walk, graph)) && walk_back(&walk);
	}
	/* the path was found from its end */
	for (size_t i = 0; i < critical->count / 2; i++) {
		struct tr_critical_step step = critical->steps[i];
		critical->steps[i] = critical->steps[critical->count - 1 - i];
		critical->steps[critical->count - 1 - i] = step;
	}
	free_walk(&walk);
	if (!fine)
		tr_critical_free(critical);
	return fine;
}

void tr_critical_free(struct tr_critical *critical)
{
	free(critical->steps);
	*critical = (struct tr_critical){ NULL, 0, false };
}
