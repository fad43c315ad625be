/* SPDX-License-Identifier: MIT */
/*
 * --files: the files that the programs of both traces read and wrote. Each exec record gets two
 * more fields, which are compared like all others:
 *
 *	inputs    a map from each file that the program read to the step of the build that wrote its
 *	          content, or to null if no program of the trace did
 *	outputs   a list of the files that it wrote
 *
 * The step is the outermost program that wrote the file, itself or through a descendant, and that
 * did not start the reader: ./configure rather than the sed that it runs.
 */

#include "tr_diff.h"

#include <stdlib.h>
#include <string.h>

#include "deps/tracker.h"
#include "process/command.h"
#include "process/path.h"
#include "record/literal.h"

/* A file that a program read or wrote. */
struct item {
	/* strings without their quotes: normal, and as they are; label.data NULL: no writer */
	struct tr_text path, label, own_path, own_label;
	const struct tr_deps_command *step;
	size_t order; /* if a file was used several times, the last use counts */
};

struct tr_diff_files {
	struct tr_diff *diff;
	struct file_side {
		struct tr_deps_graph graph;
		struct tr_deps_tracker tracker;
		struct tr_id_map numbers;     /* 1 + the number of an exec record, by its seq */
		struct tr_id_map commands;    /* by the number of their exec record */
		struct tr_deps_command *last; /* the last one in `commands` */
		struct tr_id_map writers;     /* those that writer_of has found, by version */
		const struct tr_deps_command *marked; /* it and its ancestors are chosen */
		struct tr_normal normal;
		uint64_t calls; /* that concern files */
	} sides[2];
	struct tr_arena arena; /* of the items */
	struct item *items;
	size_t count, cap;
	struct tr_buffer texts[2], scratch;
};

struct tr_diff_files *tr_diff_files_new(struct tr_diff *diff)
{
	struct tr_diff_files *files = calloc(1, sizeof *files);

	for (unsigned i = 0; files && i < 2; i++) {
		struct file_side *side = &files->sides[i];
		tr_deps_graph_init(&side->graph);
		tr_deps_tracker_init(&side->tracker, &side->graph);
		side->normal.rules = &diff->rules;
	}
	if (files)
		files->diff = diff;
	return files;
}

/* Finds the exec records of the commands that were added since the last call. */
static bool name_commands(struct file_side *side)
{
	struct tr_deps_command *command = side->last ? side->last->next : side->graph.first_command;

	for (; command; command = command->next) {
		side->last = command;
		uintptr_t number = (uintptr_t)tr_id_map_get(&side->numbers, command->seq);
		if (!command->program || command->seq == TR_DEPS_NO_SEQ || !number)
			continue;
		command->record = (uint32_t)number;
		if (!tr_id_map_put(&side->commands, number - 1, command))
			return false;
	}
	tr_id_map_free(&side->numbers);
	return true;
}

bool tr_diff_files_put(struct tr_diff_files *files, unsigned which, struct tr_record *record,
		       struct tr_error *err)
{
	struct file_side *side = &files->sides[which];
	uint64_t seq;

	if (record->type == TR_RECORD && tr_text_is(record->kind, "exec") &&
	    tr_cell_number(&record->seq, &seq) &&
	    /* the map has numbers, not pointers */
	    !tr_id_map_put(&side->numbers, seq,
			   (void *)(uintptr_t)files->diff->sides[which].count)) {
		tr_error_memory(err);
		return false;
	}
	/* records that the tracker does not understand are compared anyway */
	if (tr_deps_put(&side->tracker, record, err) == TR_FATAL)
		return false;
	/* the next segment has seqs of its own */
	if (record->type != TR_HEADER || name_commands(side))
		return true;
	tr_error_memory(err);
	return false;
}

bool tr_diff_files_finish(struct tr_diff_files *files, struct tr_error *err)
{
	for (unsigned i = 0; i < 2; i++) {
		struct file_side *side = &files->sides[i];
		if (tr_deps_finish(&side->tracker, err) == TR_FATAL)
			return false;
		side->calls = side->tracker.calls;
		if (!name_commands(side)) {
			tr_error_memory(err);
			return false;
		}
	}
	return true;
}

bool tr_diff_files_known(const struct tr_diff_files *files)
{
	return files->sides[0].calls && files->sides[1].calls;
}

/* Returns an argument without its quotes; data NULL: there are fewer. */
static struct tr_text argument(const struct tr_deps_command *command, size_t index)
{
	const char *p = command->argv.data, *end = p + command->argv.len;

	while (p && p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
		const char *begin = p + 1;
		p = tr_normal_string_end(p, end);
		if (index-- == 0)
			return tr_text_span(begin, p - 1);
	}
	return (struct tr_text){ NULL, 0 };
}

/* Returns the label of a step: its name; of a script the script, of a shell command its text. */
static struct tr_text label_of(const struct tr_deps_command *step)
{
	enum { LONGEST = 60 };
	struct tr_text name = tr_path_base(step->name), word = argument(step, 1);

	if (!tr_command_is_shell(name) && !tr_text_starts(name, TR_TEXT("python")) &&
	    !tr_text_starts(name, TR_TEXT("perl")))
		return step->name;
	if (word.data && tr_text_is(word, "-c"))
		word = argument(step, 2);
	else if (word.data && tr_text_starts(word, TR_TEXT("-")))
		word.data = NULL;
	if (!word.data)
		return step->name;
	if (word.len > LONGEST && !memchr(word.data, '\\', LONGEST))
		word.len = LONGEST;
	return word;
}

/*
 * Marks a program and its ancestors instead of those of the last program. Ancestors of both are left
 * as they are, because processes can be nested deeply.
 */
static void mark(struct file_side *side, const struct tr_deps_command *program)
{
	struct tr_deps_command *at = (struct tr_deps_command *)program;
	struct tr_deps_command *last = (struct tr_deps_command *)side->marked;

	for (; at && !at->chosen; at = at->parent)
		at->chosen = true;
	for (; last != at; last = last->parent)
		last->chosen = false;
	side->marked = program;
}

/* Returns the step of a writer. The ancestors of the reader are marked. */
static const struct tr_deps_command *step_of(const struct tr_deps_command *writer)
{
	const struct tr_deps_command *step = tr_deps_program(writer), *up;

	while (step && (up = tr_deps_program(step->parent)) && !up->chosen &&
	       !tr_command_is_build_tool(up->name))
		step = up;
	return step;
}

/* Finds the writer of a version or else of an older one; NULL: it is not in the trace. */
static const struct tr_deps_command *find_writer(const struct tr_deps_version *version)
{
	for (; version; version = version->older) {
		const struct tr_deps_use *use = version->written ? version->uses : NULL;
		for (; use; use = use->next_of_version) {
			if (tr_deps_is_writer(use))
				return use->command;
		}
	}
	return NULL;
}

/*
 * Sets *writer to what find_writer returns. Each version is searched once, because it can have many
 * readers. False: memory is exhausted.
 */
static bool writer_of(struct file_side *side, const struct tr_deps_version *version,
		      const struct tr_deps_command **writer)
{
	uintptr_t id = (uintptr_t)version;
	const void *known = tr_id_map_get(&side->writers, id);

	*writer = NULL;
	if (!known) {
		*writer = find_writer(version);
		/* a version without a writer has itself in the map */
		return tr_id_map_put(&side->writers, id,
				     *writer ? (void *)*writer : (void *)version);
	}
	if (known != version)
		*writer = known;
	return true;
}

/* Copies the normal text of a string to the arena. data NULL: memory is exhausted. */
static struct tr_text copy_normal(struct tr_diff_files *files, unsigned which, struct tr_text text)
{
	text = tr_normal_string(&files->sides[which].normal, text, which == 0);
	return text.data || !text.len ? tr_arena_copy(&files->arena, text) : text;
}

/* Adds a file unless it is temporary. step NULL: no writer is known. False: memory is exhausted. */
static bool add_item(struct tr_diff_files *files, unsigned which, const struct tr_deps_path *path,
		     const struct tr_deps_command *step)
{
	struct item item = { .step = step, .order = files->count };

	tr_buffer_reset(&files->scratch);
	tr_deps_path_write(path, &files->scratch);
	struct tr_buffer spelled = { 0 };
	tr_string_escape(tr_buffer_text(&files->scratch), &spelled);
	bool fine = !files->scratch.failed && !spelled.failed;
	if (fine) {
		item.own_path = tr_arena_copy(&files->arena, tr_buffer_text(&spelled));
		item.path = copy_normal(files, which, tr_buffer_text(&spelled));
	}
	tr_buffer_free(&spelled);
	if (!fine || !item.path.data || !item.own_path.data)
		return false;
	if (files->sides[which].normal.name_count > 0)
		return true; /* a temporary file, whose name the run chose */
	if (step) {
		item.own_label = label_of(step);
		item.label = copy_normal(files, which, item.own_label);
		if (!item.label.data)
			return false;
	}
	if (!tr_array_room(files->items, files->count, files->cap))
		return false;
	files->items[files->count++] = item;
	return true;
}

/* The next command that is part of a program: it was forked by it and called no exec; or NULL. */
static const struct tr_deps_command *next_part(const struct tr_deps_command *program,
					       const struct tr_deps_command *at)
{
	const struct tr_deps_command *next = at->children;

	for (;;) {
		while (next && next->program)
			next = next->sibling;
		if (next || at == program)
			return next;
		next = at->sibling;
		at = at->parent;
	}
}

static int by_path(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = tr_text_compare(a->path, b->path);

	return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Lists what a program read, or wrote, sorted by path. False: memory is exhausted. */
static bool list_items(struct tr_diff_files *files, unsigned which,
		       const struct tr_deps_command *program, bool read)
{
	struct file_side *side = &files->sides[which];
	const struct tr_deps_command *part = program, *writer = NULL;
	bool fine = true;

	tr_arena_reset(&files->arena);
	files->count = 0;
	mark(side, program);
	for (; fine && part; part = next_part(program, part)) {
		/* the newest use comes first */
		for (const struct tr_deps_use *use = part->uses; fine && use;
		     use = use->next_of_command) {
			const struct tr_deps_path *path = use->path;
			if (!path || path->directory || path->special || !use->version ||
			    use->version->file->pipe ||
			    !(read ? tr_deps_is_reader(use) : tr_deps_is_writer(use)))
				continue;
			fine = !read || writer_of(side, use->version, &writer);
			const struct tr_deps_command *step = writer ? step_of(writer) : NULL;
			/* a file that it wrote itself is not an input */
			if (fine && step != program)
				fine = add_item(files, which, path, step);
		}
	}
	if (files->count)
		qsort(files->items, files->count, sizeof *files->items, by_path);
	size_t kept = 0;
	for (size_t i = 0; i < files->count; i++) {
		if (!kept || !tr_text_equal(files->items[kept - 1].path, files->items[i].path))
			files->items[kept++] = files->items[i];
	}
	files->count = kept;
	return fine;
}

static void put_quoted(struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_buffer_put_text(to, text);
	tr_buffer_put_byte(to, '"');
}

/* Appends the files as a map to their writers, or as a list. own: as the trace spells them. */
static void put_items(const struct tr_diff_files *files, bool map, bool own, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, map ? '{' : '[');
	for (size_t i = 0; i < files->count; i++) {
		const struct item *item = &files->items[i];
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		put_quoted(own ? item->own_path : item->path, to);
		if (!map)
			continue;
		tr_buffer_put_byte(to, ':');
		if (item->label.data)
			put_quoted(own ? item->own_label : item->label, to);
		else
			tr_buffer_put_literal(to, "null");
	}
	tr_buffer_put_byte(to, map ? '}' : ']');
}

bool tr_diff_files_add(struct tr_diff_files *files, unsigned which, uint32_t number,
		       struct tr_normal *normal)
{
	const struct tr_deps_command *program =
		tr_id_map_get(&files->sides[which].commands, number);
	struct tr_buffer *to = &files->texts[which];
	size_t ends[2][2];

	if (!program || !tr_diff_files_known(files))
		return true;
	tr_buffer_reset(to);
	for (unsigned i = 0; i < 2; i++) {
		if (!list_items(files, which, program, i == 0))
			return false;
		for (unsigned own = 0; own < 2; own++) {
			put_items(files, i == 0, own, to);
			ends[i][own] = to->len;
		}
	}
	const char *text = tr_buffer_text(to).data;
	for (unsigned i = 0; !to->failed && i < 2; i++) {
		const char *begin = text + (i ? ends[0][1] : 0), *middle = text + ends[i][0];
		if (!tr_normal_add(normal, i ? TR_TEXT("outputs") : TR_TEXT("inputs"),
				   tr_text_span(begin, middle)))
			return false;
		normal->fields[normal->count - 1].value = tr_text_span(middle, text + ends[i][1]);
	}
	return !to->failed;
}

/* Returns the match of a step of the second trace; TR_ALIGN_NONE: it is new. */
static uint32_t match_of(const struct tr_diff_files *files, const struct tr_deps_command *step)
{
	return step->record ? files->diff->sides[1].records[step->record - 1].match : TR_ALIGN_NONE;
}

/* True if a step of the second trace is in the first one and has not changed. */
static bool is_unchanged(const struct tr_diff_files *files, const struct tr_deps_command *step)
{
	const struct tr_diff_side *sides = files->diff->sides;
	uint32_t match = match_of(files, step);

	return match != TR_ALIGN_NONE &&
	       sides[0].records[match].content == sides[1].records[step->record - 1].content;
}

enum { ARGUMENTS_MAX = 200 /* of a command whose arguments are compared one by one */ };

/* The arguments of a command: their normal texts, and as the trace spells them. */
struct arguments {
	struct tr_text normal[ARGUMENTS_MAX], own[ARGUMENTS_MAX];
	size_t count;
};

/* False: memory is exhausted. */
static bool read_arguments(struct tr_diff_files *files, unsigned which,
			   const struct tr_deps_command *command, struct arguments *to)
{
	const char *p = command->argv.data, *end = p + command->argv.len;

	for (to->count = 0; p && p < end && to->count < ARGUMENTS_MAX; to->count++) {
		const char *begin = memchr(p, '"', (size_t)(end - p));
		if (!begin)
			break;
		p = tr_normal_string_end(begin, end);
		to->own[to->count] = tr_text_span(begin + 1, p - 1);
		to->normal[to->count] = copy_normal(files, which, to->own[to->count]);
		if (!to->normal[to->count].data)
			return false;
	}
	return true;
}

/* Appends the arguments that are not in the other command. */
static void put_missing(const struct arguments *from, const struct arguments *other, bool list,
			char sign, struct tr_buffer *to)
{
	bool any = false;

	for (size_t i = 0; i < from->count; i++) {
		size_t j = 0;
		while (j < other->count && !tr_text_equal(from->normal[i], other->normal[j]))
			j++;
		if (j < other->count)
			continue;
		if (!list) {
			tr_buffer_put_byte(to, ' ');
			tr_buffer_put_byte(to, sign);
			tr_buffer_put_byte(to, ' ');
		} else if (any) {
			tr_buffer_put_byte(to, ',');
		}
		any = true;
		put_quoted(from->own[i], to);
	}
}

/* Appends the arguments of a step that have changed. False: memory is exhausted. */
static bool put_changed_arguments(struct tr_diff_files *files, const struct tr_deps_command *step,
				  bool list, struct tr_buffer *to)
{
	uint32_t match = match_of(files, step);
	const struct tr_deps_command *before =
		match == TR_ALIGN_NONE ? NULL : tr_id_map_get(&files->sides[0].commands, match);
	struct arguments a, b;

	if (!before)
		return true;
	if (!read_arguments(files, 0, before, &a) || !read_arguments(files, 1, step, &b))
		return false;
	if (a.count == ARGUMENTS_MAX || b.count == ARGUMENTS_MAX)
		return true;
	tr_buffer_put_text(to, list ? TR_TEXT(",\"removed\":[") : TR_TEXT(""));
	put_missing(&a, &b, list, '-', to);
	tr_buffer_put_text(to, list ? TR_TEXT("],\"added\":[") : TR_TEXT(""));
	put_missing(&b, &a, list, '+', to);
	tr_buffer_put_text(to, list ? TR_TEXT("]") : TR_TEXT(""));
	return true;
}

bool tr_diff_files_put_reasons(struct tr_diff_files *files, uint32_t number, bool list,
			       struct tr_buffer *to)
{
	enum { MOST = 5 };
	const struct tr_deps_command *program = tr_id_map_get(&files->sides[1].commands, number);
	size_t count = 0;

	if (!program || !tr_diff_files_known(files))
		return true;
	if (!list_items(files, 1, program, true))
		return false;
	for (size_t i = 0; i < files->count; i++) {
		const struct item *item = &files->items[i];
		if (!item->step || is_unchanged(files, item->step))
			continue;
		count++;
		if (list) {
			tr_buffer_put_text(to, count == 1 ? TR_TEXT("[{\"input\":")
							  : TR_TEXT(",{\"input\":"));
			put_quoted(item->own_path, to);
			tr_buffer_put_literal(to, ",\"writer\":");
			put_quoted(item->own_label, to);
			if (!put_changed_arguments(files, item->step, true, to))
				return false;
			tr_buffer_put_byte(to, '}');
		} else if (count <= MOST) {
			tr_buffer_put_literal(to, "    because ");
			put_quoted(item->own_path, to);
			tr_buffer_put_literal(to, " was written by ");
			put_quoted(item->own_label, to);
			if (!put_changed_arguments(files, item->step, false, to))
				return false;
			tr_buffer_put_byte(to, '\n');
		}
	}
	if (list && count)
		tr_buffer_put_byte(to, ']');
	if (!list && count > MOST) {
		tr_buffer_put_literal(to, "    and ");
		tr_buffer_put_decimal(to, count - MOST);
		tr_buffer_put_literal(to, " more inputs were written\n");
	}
	return !to->failed;
}

void tr_diff_files_free(struct tr_diff_files *files)
{
	if (!files)
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct file_side *side = &files->sides[i];
		tr_deps_tracker_free(&side->tracker);
		tr_deps_graph_free(&side->graph);
		tr_id_map_free(&side->numbers);
		tr_id_map_free(&side->commands);
		tr_id_map_free(&side->writers);
		tr_normal_free(&side->normal);
		tr_buffer_free(&files->texts[i]);
	}
	tr_arena_free(&files->arena);
	tr_buffer_free(&files->scratch);
	free(files->items);
	free(files);
}
