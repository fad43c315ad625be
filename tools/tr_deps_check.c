/* SPDX-License-Identifier: MIT */
/* Findings of tr-deps. They set exit status 1, on which CI can stop. */
#include "tr_deps.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/file.h"
#include "view/json_value.h"

bool tr_deps_check_outside(struct tr_deps *deps, struct tr_deps_set *set)
{
	unsigned ignored = deps->missing ? 0 : TR_DOES_MISSING | TR_DOES_STAT | TR_DOES_LIST;

	for (struct tr_deps_path *path = NULL; (path = tr_deps_next_path(deps, path));) {
		bool inside = !(path->does & ~ignored) || !tr_deps_is_shown(deps, path);
		for (size_t i = 0; i < deps->outside.count && !inside; i++) {
			const struct tr_deps_path *directory =
				tr_deps_paths_spelled(&deps->graph.paths, deps->tracker.directory,
						      tr_text_from(deps->outside.globs[i]));
			inside = directory && tr_deps_path_is_below(path, directory);
		}
		if (!inside)
			tr_deps_set_add(deps, set, path);
	}
	if (set->count)
		tr_cli_status(&deps->cli, 1);
	return !deps->cli.stop;
}

/* Writes one finding: its parts in the columns of a line, or as members of an object. */
static bool put_finding(struct tr_deps *deps, const char *what, const char *const *names,
			const struct tr_text *values, size_t count)
{
	struct tr_buffer *line = &deps->line;

	tr_cli_status(&deps->cli, 1);
	tr_buffer_reset(line);
	if (deps->as == AS_JSON) {
		tr_buffer_put_literal(line, "{\"what\":");
		tr_json_view_bytes(tr_text_from(what), line);
		for (size_t i = 0; i < count; i++) {
			tr_buffer_put_byte(line, ',');
			tr_json_view_bytes(tr_text_from(names[i]), line);
			tr_buffer_put_byte(line, ':');
			tr_json_view_bytes(values[i], line);
		}
		tr_buffer_put_literal(line, "}\n");
	} else if (deps->as == AS_TSV) {
		tr_buffer_put_text(line, tr_text_from(what));
		for (size_t i = 0; i < count; i++) {
			tr_buffer_put_byte(line, '\t');
			tr_cell_escape(values[i], false, line);
		}
		tr_buffer_put_byte(line, '\n');
	} else {
		tr_buffer_put_text(line, tr_text_from(what));
		for (size_t i = 0; i < count; i++) {
			tr_buffer_put_text(line, i ? TR_TEXT("  ") : TR_TEXT(": "));
			tr_buffer_put_text(line, values[i]);
		}
		tr_deps_put_line(deps, tr_buffer_text(line));
		return !deps->cli.stop;
	}
	return line->failed ? tr_cli_out_of_memory(&deps->cli)
			    : tr_cli_put_text(&deps->cli, tr_buffer_text(line));
}

static struct tr_text keep(struct tr_deps *deps, struct tr_text text)
{
	struct tr_text own = tr_arena_copy(&deps->arena, text);
	struct tr_error err;

	if (!own.data) {
		tr_error_memory(&err);
		tr_cli_abort(&deps->cli, &err);
		own = TR_TEXT("");
	}
	return own;
}

/* --declared: rules of make, as compilers write them into .d files. */

enum { DECLARED_MAX = 64 << 20 };

struct rule_reader {
	const char *pos, *end;
	struct tr_buffer word;
	size_t lost; /* relative paths in an unknown directory */
};

enum token { WORD, COLON, LINE_END, FILE_END };

/* Reads the next token of a rule, without escapes. *literal: the word contains no variable. */
static enum token next_token(struct rule_reader *reader, bool *literal)
{
	const char *p = reader->pos, *end = reader->end;

	*literal = true;
	tr_buffer_reset(&reader->word);
	for (;; p++) {
		if (p + 1 < end && p[0] == '\\' && p[1] == '\n')
			p++;
		else if (p + 2 < end && p[0] == '\\' && p[1] == '\r' && p[2] == '\n')
			p += 2;
		else if (p >= end || (*p != ' ' && *p != '\t' && *p != '\r'))
			break;
	}
	if (p >= end)
		return FILE_END;
	if (*p == '#')
		while (p < end && *p != '\n')
			p++;
	if (p >= end || *p == '\n') {
		reader->pos = p < end ? p + 1 : p;
		return p < end ? LINE_END : FILE_END;
	}
	if (*p == ':') {
		while (p < end && (*p == ':' || *p == '='))
			p++;
		reader->pos = p;
		return COLON;
	}
	for (; p < end; p++) {
		if (*p == '\\' && p + 1 < end && (p[1] == ' ' || p[1] == '#' || p[1] == ':')) {
			p++;
		} else if (*p == '$' && p + 1 < end && p[1] == '$') {
			p++;
		} else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' ||
			   (*p == '\\' && p + 1 < end && (p[1] == '\n' || p[1] == '\r'))) {
			break;
		} else if (*p == ':' &&
			   (p + 1 >= end || p[1] == ' ' || p[1] == '\t' || p[1] == '\n' ||
			    p[1] == '\r' || p[1] == ':' || p[1] == '=')) {
			break;
		} else if (*p == '$' || *p == '%' || *p == '*') {
			*literal = false;
		}
		tr_buffer_put_byte(&reader->word, *p);
	}
	reader->pos = p;
	return WORD;
}

struct rule {
	struct tr_deps_set targets, needs;
	bool whole; /* all its words are literal */
};

/* Reads the next rule that has a target, a colon and prerequisites. False: there is none. */
static bool next_rule(struct tr_deps *deps, struct rule_reader *reader,
		      struct tr_deps_path *directory, struct rule *rule)
{
	bool literal, colon;
	enum token token;

	do {
		rule->targets.count = rule->needs.count = 0;
		rule->targets.id = ++deps->sets;
		rule->needs.id = ++deps->sets;
		rule->whole = true;
		colon = false;
		while (reader->pos < reader->end && *reader->pos == '\t') { /* a recipe */
			const char *lf =
				memchr(reader->pos, '\n', (size_t)(reader->end - reader->pos));
			reader->pos = lf ? lf + 1 : reader->end;
		}
		while ((token = next_token(reader, &literal)) == WORD || token == COLON) {
			if (token == COLON) {
				colon = true;
				continue;
			}
			if (!literal) {
				rule->whole = false;
				continue;
			}
			struct tr_deps_path *path = tr_deps_paths_spelled(
				&deps->graph.paths, directory, tr_buffer_text(&reader->word));
			if (path)
				tr_deps_set_add(deps, colon ? &rule->needs : &rule->targets, path);
			else
				reader->lost++;
		}
		if (deps->cli.stop)
			return false;
	} while (token != FILE_END && (!colon || !rule->targets.count || !rule->needs.count));
	return colon && rule->targets.count && rule->needs.count;
}

/* A use of a file, which may have been used under other names, too. */
struct name {
	struct tr_deps_path *path, *spelled;
};

/* The files that a target was made from according to the trace, and their names there. */
struct used {
	struct tr_deps *deps;
	struct tr_deps_set resolved;
	struct name *names;
	size_t count, cap;
};

static bool add_used(void *context, struct tr_deps_use *use)
{
	struct used *used = context;
	struct tr_deps *deps = used->deps;

	if (!use->version || !use->path)
		return use->version;
	const struct tr_deps_file *file = use->version->file;
	if (file->names == 0 || (!tr_deps_in_project(deps, use->path) && use->version->written))
		return !tr_deps_matches(deps, &deps->cut, use->path);
	if (tr_deps_is_shown(deps, use->path)) {
		tr_deps_set_add(deps, &used->resolved, use->path);
		if (tr_array_room(used->names, used->count, used->cap))
			used->names[used->count++] =
				(struct name){ use->path, use->details->spelled };
		else
			tr_cli_out_of_memory(&deps->cli);
	}
	return false;
}

/* Returns the command that wrote the file last, or, if none did, one that read it. */
static struct tr_deps_command *author(const struct tr_deps_path *path, bool *wrote)
{
	const struct tr_deps_file *file = path->file ? path->file : path->last;
	struct tr_deps_command *reader = NULL;

	*wrote = true;
	for (const struct tr_deps_version *v = file ? file->version : NULL; v; v = v->older)
		for (struct tr_deps_use *use = v->uses; use; use = use->next_of_version) {
			if (tr_deps_is_writer(use))
				return use->command;
			reader = use->command;
		}
	*wrote = false;
	return reader;
}

/* Returns the directory in which a command works, to which make -C changes. NULL: unknown. */
static struct tr_deps_path *directory_of(const struct tr_deps_command *command)
{
	for (; command; command = command->parent) {
		if (command->moved_to)
			return command->moved_to;
		if (command->program)
			return command->directory;
	}
	return NULL;
}

static bool reads(const struct tr_deps_command *command, const struct tr_deps_path *path)
{
	for (const struct tr_deps_use *use = command->uses; use; use = use->next_of_command)
		if (use->read && (use->path == path || use->details->spelled == path))
			return true;
	return false;
}

static bool contains(const struct tr_deps_set *set, const struct tr_deps_path *path)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->paths[i] == path)
			return true;
	return false;
}

/* True if the rule declares the path, or another name under which it was used. */
static bool declares(const struct rule *rule, const struct used *used,
		     const struct tr_deps_path *path)
{
	bool found = contains(&rule->needs, path);

	for (size_t i = 0; !found && i < used->count; i++)
		found = used->names[i].path == path &&
			contains(&rule->needs, used->names[i].spelled);
	return found;
}

static bool is_used(const struct used *used, const struct tr_deps_path *path)
{
	for (size_t i = 0; i < used->count; i++)
		if (used->names[i].path == path || used->names[i].spelled == path)
			return true;
	return false;
}

/* Compares a rule with what the version was made from. */
static bool compare_rule(struct tr_deps *deps, const struct rule *rule,
			 struct tr_deps_version *version, struct tr_deps_path *target)
{
	static const char *const names[] = { "target", "file" };
	struct used used = { .deps = deps };
	struct tr_deps_search search = {
		.graph = &deps->graph, .through = deps->through, .found = add_used, .context = &used
	};

	used.resolved = tr_deps_set_new(deps);
	tr_deps_search_begin(&search);
	bool fine = tr_deps_search(&search, version);
	tr_deps_search_free(&search);
	struct tr_text of = keep(deps, tr_deps_text(deps, target));
	for (size_t i = 0; fine && i < used.resolved.count; i++) {
		struct tr_deps_path *path = used.resolved.paths[i];
		if (!rule->whole || path == target || !tr_deps_in_project(deps, path) ||
		    (path->file && target->file == path->file) || declares(rule, &used, path))
			continue;
		struct tr_text values[] = { of, keep(deps, tr_deps_text(deps, path)) };
		fine = put_finding(deps, "used, not declared", names, values, 2);
	}
	for (size_t i = 0; fine && i < rule->needs.count; i++) {
		struct tr_deps_path *path = rule->needs.paths[i];
		struct tr_deps_path *real =
			tr_deps_paths_resolved(&deps->graph.paths, deps->graph.paths.root,
					       keep(deps, tr_deps_text(deps, path)), true, NULL);
		if (is_used(&used, path) || (real && is_used(&used, real)))
			continue;
		struct tr_text values[] = { of, keep(deps, tr_deps_text(deps, path)) };
		fine = put_finding(deps, "declared, not used", names, values, 2);
	}
	free(used.resolved.paths);
	free(used.names);
	return fine;
}

static bool check_file(struct tr_deps *deps, struct tr_deps_path *path)
{
	struct tr_buffer bytes = TR_BUFFER_INIT;
	struct rule_reader reader = { .word = TR_BUFFER_INIT };
	struct rule rule = { 0 };
	struct tr_error err;
	bool wrote, fine = true;
	struct tr_deps_command *command = author(path, &wrote);
	struct tr_deps_path *directory = directory_of(command);

	if (!tr_file_read(tr_deps_text(deps, path), DECLARED_MAX, &bytes, &err)) {
		tr_cli_report(&deps->cli, &err);
		return !deps->cli.stop;
	}
	reader.pos = bytes.data;
	reader.end = bytes.data + bytes.len;
	while (fine && next_rule(deps, &reader, directory ? directory : deps->project, &rule)) {
		bool compiler = wrote && reads(command, rule.needs.paths[0]);
		for (size_t i = 0; fine && i < rule.targets.count; i++) {
			struct tr_deps_path *target = rule.targets.paths[i];
			/* only files that the compiler had read when it closed its .d file */
			const struct tr_deps_file *file = compiler ? path->file : target->file;
			if (compiler || tr_deps_was_written(target))
				fine = compare_rule(deps, &rule, file->version, target);
		}
	}
	struct tr_text name = tr_deps_text(deps, path);
	if (fine && reader.lost)
		tr_cli_fail(&deps->cli,
			    "%.*s: %zu relative paths are left out, because the directory of the "
			    "command that wrote it is not known: add --project=DIR, or for strace "
			    "-O cwd=DIR",
			    (int)name.len, name.data, reader.lost);
	free(rule.targets.paths);
	free(rule.needs.paths);
	tr_buffer_free(&reader.word);
	tr_buffer_free(&bytes);
	return fine;
}

bool tr_deps_check_declared(struct tr_deps *deps)
{
	bool fine = true, any = false;

	for (struct tr_deps_path *path = NULL; fine && (path = tr_deps_next_path(deps, path));) {
		if (!path->file || path->directory || !tr_deps_matches(deps, &deps->wanted, path))
			continue;
		any = true;
		fine = check_file(deps, path);
	}
	if (!any)
		tr_cli_fail(&deps->cli, "no file of the trace matches '%s'", deps->wanted.globs[0]);
	return fine;
}

/* --cycles: strongly connected files, by Tarjan's algorithm without recursion. */

struct node {
	struct tr_deps_path *path;
	struct tr_deps_set needs;
	size_t index, low, next; /* index from 1 */
	bool on_stack;
	struct node *below; /* the caller */
};

static bool put_cycle(struct tr_deps *deps, struct node **nodes, size_t count)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	static const char *const names[] = { "files" };
	struct tr_deps_set set = tr_deps_set_new(deps);

	for (size_t i = 0; i < count; i++)
		tr_deps_set_add(deps, &set, nodes[i]->path);
	tr_deps_set_sort(&set);
	for (size_t i = 0; i < set.count; i++) {
		if (i)
			tr_buffer_put_byte(&text, ' ');
		tr_buffer_put_text(&text, tr_deps_text(deps, set.paths[i]));
	}
	struct tr_text value = tr_buffer_text(&text);
	bool fine = put_finding(deps, "cycle", names, &value, 1);
	free(set.paths);
	tr_buffer_free(&text);
	return fine;
}

static struct node *node_of(struct tr_deps *deps, struct tr_deps_path *path)
{
	if (!path->user) {
		struct node *node = tr_arena_alloc(&deps->arena, sizeof *node);
		if (!node)
			return NULL;
		*node = (struct node){ .path = path };
		path->user = node;
	}
	return path->user;
}

bool tr_deps_check_cycles(struct tr_deps *deps)
{
	struct node **stack = NULL;
	size_t count = 0, cap = 0, index = 0;
	bool fine = true;

	for (struct tr_deps_path *start = NULL; fine && (start = tr_deps_next_path(deps, start));) {
		if (!tr_deps_was_written(start) || !tr_deps_is_shown(deps, start) || start->user)
			continue;
		struct node *node = node_of(deps, start);
		while (fine && node) {
			if (!node->index) {
				node->index = node->low = ++index;
				node->on_stack = true;
				node->needs = tr_deps_set_new(deps);
				fine = tr_array_room(stack, count, cap) &&
				       tr_deps_collect(deps, node->path, true, &node->needs);
				if (fine)
					stack[count++] = node;
			}
			struct node *deeper = NULL;
			while (fine && !deeper && node->next < node->needs.count) {
				struct tr_deps_path *path = node->needs.paths[node->next++];
				if (!tr_deps_was_written(path))
					continue;
				struct node *other = node_of(deps, path);
				fine = other;
				if (other && !other->index)
					deeper = other;
				else if (other && other->on_stack && other->index < node->low)
					node->low = other->index;
			}
			if (deeper) {
				deeper->below = node;
				node = deeper;
				continue;
			}
			if (node->low == node->index && fine) {
				size_t first = count;
				while (stack[--first] != node)
					stack[first]->on_stack = false;
				node->on_stack = false;
				if (count - first > 1)
					fine = put_cycle(deps, stack + first, count - first);
				count = first;
			}
			free(node->needs.paths);
			node->needs.paths = NULL;
			if (node->below && node->low < node->below->low)
				node->below->low = node->low;
			node = node->below;
		}
	}
	free(stack);
	return fine;
}

/* --overlaps: commands that are alive at the same time and use a file that one of them writes. */

struct span {
	const struct tr_deps_command *program;
	struct tr_deps_path *path;
	bool writes;
	/* of a descriptor that the program inherited, if all that it did is assumed */
	const struct tr_deps_version *inherited;
	size_t writer; /* the next span of the path that writes; 0: there is none */
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	if (x->program == y->program)
		return 0;
	return x->program->began < y->program->began ? -1 : 1;
}

static bool is_ancestor(const struct tr_deps_command *above, const struct tr_deps_command *command)
{
	while (command && command != above)
		command = command->parent;
	return command;
}

static bool put_overlap(struct tr_deps *deps, const struct span *a, const struct span *b)
{
	static const char *const names[] = { "file", "first", "second" };
	struct tr_text values[3];
	const struct span *both[] = { a, b };
	struct tr_buffer text = TR_BUFFER_INIT;

	values[0] = keep(deps, tr_deps_text(deps, a->path));
	for (int i = 0; i < 2; i++) {
		tr_buffer_reset(&text);
		tr_buffer_put_text(&text, both[i]->writes ? TR_TEXT("writes ") : TR_TEXT("reads "));
		tr_buffer_put_decimal(&text, both[i]->program->seq);
		tr_buffer_put_literal(&text, " ");
		tr_deps_put_argv(deps, both[i]->program, &text);
		values[1 + i] = keep(deps, tr_buffer_text(&text));
	}
	tr_buffer_free(&text);
	return put_finding(deps, "overlap", names, values, 3);
}

bool tr_deps_check_overlaps(struct tr_deps *deps)
{
	/* pairs of a file that are shown, and compared: a log file can have thousands of users */
	enum { SHOWN = 8, LOOKED = 1 << 20 };
	struct span *spans = calloc(deps->graph.use_count + 1, sizeof *spans);
	size_t n = 0, kept = 0;
	bool fine = spans;

	for (const struct tr_deps_command *c = deps->graph.first_command; fine && c; c = c->next)
		for (const struct tr_deps_use *use = c->uses; use; use = use->next_of_command) {
			const struct tr_deps_command *program = tr_deps_program(c);
			bool writes = tr_deps_is_writer(use);
			if (!program || !tr_deps_is_shown(deps, use->path) ||
			    !(writes || tr_deps_is_reader(use)))
				continue;
			bool assumed = use->read <= TR_EVIDENCE_PASSED &&
				       use->written == TR_EVIDENCE_PASSED;
			spans[n++] = (struct span){ program, use->path, writes,
						    assumed ? use->version : NULL, 0 };
		}
	if (n)
		qsort(spans, n, sizeof *spans, compare_spans);
	for (size_t i = 0; i < n; i++) {
		if (kept && spans[kept - 1].path == spans[i].path &&
		    spans[kept - 1].program == spans[i].program) {
			spans[kept - 1].writes |= spans[i].writes;
			if (spans[kept - 1].inherited != spans[i].inherited)
				spans[kept - 1].inherited = NULL;
		} else {
			spans[kept++] = spans[i];
		}
	}
	for (size_t i = kept; i-- > 1;)
		if (spans[i].path == spans[i - 1].path)
			spans[i - 1].writer = spans[i].writes ? i : spans[i].writer;
	for (size_t i = 0, shown = 0, looked = 0; fine && i < kept; i++) {
		if (i && spans[i].path != spans[i - 1].path)
			shown = looked = 0;
		/*
		 * commands that only read a file are not compared with each other: there are
		 * thousands
		 */
		bool all = spans[i].writes;
		for (size_t j = all ? i + 1 : spans[i].writer;
		     fine && j && j < kept && spans[j].path == spans[i].path &&
		     spans[j].program->began < spans[i].program->ended && shown < SHOWN &&
		     looked++ < LOOKED;
		     j = all ? j + 1 : spans[j].writer) {
			/*
			 * both inherited the log as their output, and perhaps neither wrote to it
			 */
			if (spans[i].inherited && spans[i].inherited == spans[j].inherited)
				continue;
			if (is_ancestor(spans[i].program, spans[j].program) ||
			    is_ancestor(spans[j].program, spans[i].program))
				continue;
			fine = put_overlap(deps, &spans[i], &spans[j]);
			shown++;
		}
	}
	free(spans);
	return fine;
}
