/* SPDX-License-Identifier: MIT */
#include "diff/diff.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/input.h"
#include "process/env_line.h"
#include "process/follow.h"
#include "process/instant.h"
#include "process/makes.h"
#include "process/path.h"
#include "record/tabs.h"

/*
 * malloc maps memory for this many items, so that it grows without being copied. After large memory
 * was freed, malloc would map only larger blocks.
 */
enum { FIRST_ITEMS = 1 << 14 };

bool tr_diff_begin(struct tr_diff *diff)
{
	diff->rules.seed = tr_hash_seed(diff);
	diff->maker = tr_makes_new(diff->compilers);
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		*side = (struct tr_diff_side){
			.spool = tr_spool_new(diff->max_spool),
			.names = tr_spool_new(diff->max_spool),
			.segment_begins = true,
		};
		side->normal.rules = &diff->rules;
		if (!side->spool || !side->names ||
		    !tr_array_grow(&side->records, &side->cap, FIRST_ITEMS,
				   sizeof *side->records) ||
		    !tr_array_grow(&side->images, &side->image_cap, FIRST_ITEMS,
				   sizeof *side->images))
			return false;
	}
	return diff->maker;
}

/* Tasks, threads and modules, to which records refer by a name. */

static uint64_t task_hash(const struct tr_diff_side *side, struct tr_text name)
{
	return tr_normal_task_hash(side->normal.rules->seed, name);
}

/* Hashes the name of a thread (letter c) or a module (m) to 63 bits. */
static uint64_t name_hash(const struct tr_diff_side *side, char letter, struct tr_text name)
{
	uint64_t seed = tr_number_hash(side->normal.rules->seed, (unsigned char)letter);

	return tr_text_hash(seed, name) >> 1;
}

/* Returns the image that runs in a task; TR_DIFF_NONE: none is known. */
static uint32_t image_in(struct tr_diff_side *side, uint64_t task)
{
	uint32_t image;
	bool found = tr_number_map_get(&side->tasks, task, &image);

	return found && !side->images[image].ended ? image : TR_DIFF_NONE;
}

/*
 * Adds an image, which the task runs from now on. began is kept only if durations are compared.
 * Returns TR_DIFF_NONE if memory is exhausted.
 */
static uint32_t new_image(struct tr_diff *diff, struct tr_diff_side *side, uint64_t task,
			  struct tr_diff_image image, int64_t began)
{
	size_t count = side->image_count, place = count - side->first_image;

	if (count >= TR_DIFF_NONE - 1 || !tr_array_room(side->images, count, side->image_cap) ||
	    !tr_array_room(side->image_seqs, place, side->image_seq_cap) ||
	    (diff->times > 0 && !tr_array_room(side->began, count, side->began_cap)))
		return TR_DIFF_NONE;
	side->images[count] = image;
	side->image_seqs[place] = place ? side->image_seqs[place - 1] : 0;
	if (diff->times > 0)
		side->began[count] = began;
	if (!tr_number_map_put(&side->tasks, task, (uint32_t)count))
		return TR_DIFF_NONE;
	side->image_count++;
	return (uint32_t)count;
}

static uint32_t new_forked(struct tr_diff *diff, struct tr_diff_side *side, uint64_t task,
			   uint32_t parent, int64_t began)
{
	return new_image(
		diff, side, task,
		(struct tr_diff_image){ .program = TR_DIFF_NONE, .forked = 1, .parent = parent },
		began);
}

/* Returns the image that runs in a task, a new one if none is known. TR_DIFF_NONE: as above. */
static uint32_t image_of(struct tr_diff *diff, struct tr_diff_side *side)
{
	uint64_t task = task_hash(side, side->normal.task);
	uint32_t image = image_in(side, task);

	return image != TR_DIFF_NONE ? image
				     : new_forked(diff, side, task, TR_DIFF_NONE, TR_INSTANT_NONE);
}

/* Returns the image of the exec record with this seq; TR_DIFF_NONE: there is none. */
static uint32_t image_with_seq(const struct tr_diff_side *side, uint64_t seq)
{
	size_t count = side->image_count - side->first_image, low = 0, high = count;
	uintptr_t found = (uintptr_t)tr_id_map_get(&side->seqs, seq);

	if (found)
		return (uint32_t)(found - 1);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (side->image_seqs[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	/* images that were forked after it have its seq, too */
	if (low == count || side->image_seqs[low] != seq ||
	    side->images[side->first_image + low].forked)
		return TR_DIFF_NONE;
	return (uint32_t)(side->first_image + low);
}

/* Sets the seq of the exec record of the last image. False: memory is exhausted. */
static bool set_seq(struct tr_diff_side *side, uint32_t image, uint64_t seq)
{
	uint64_t *known = &side->image_seqs[image - side->first_image];

	if (image == side->first_image || seq > *known) {
		*known = seq;
		return true;
	}
	/* the map has no pointers, but 1 + the number of the image */
	return tr_id_map_put(&side->seqs, seq, (void *)((uintptr_t)image + 1));
}

/* True for programs whose calls depend on how many jobs they run at once, and on when these end. */
static bool is_make(struct tr_text name)
{
	name = tr_path_base(name);
	return tr_text_is(name, "make") || tr_text_is(name, "gmake") || tr_text_is(name, "ninja");
}

/* Adds the image of an exec record with this number. False: memory is exhausted. */
static bool begin_program(struct tr_diff *diff, struct tr_diff_side *side,
			  const struct tr_record *record, uint32_t number, uint32_t *group)
{
	const struct tr_normal *normal = &side->normal;
	uint64_t task = task_hash(side, normal->task), seq;
	/* without tasks, as in databases, no program replaces another one */
	bool absent = tr_text_is(normal->task, "-");
	uint32_t before = absent ? TR_DIFF_NONE : image_in(side, task), parent = TR_DIFF_NONE;
	int64_t began = TR_INSTANT_NONE;

	if (normal->parent.data && tr_decimal_read(normal->parent, UINT64_MAX, &seq))
		parent = image_with_seq(side, seq);
	if (parent == TR_DIFF_NONE && before != TR_DIFF_NONE)
		parent = side->images[before].forked ? side->images[before].parent : before;
	if (diff->times > 0 && before != TR_DIFF_NONE)
		began = side->began[before];
	if (diff->times > 0 && began == TR_INSTANT_NONE)
		began = tr_instant_from_text(normal->time);
	*group = new_image(diff, side, task,
			   (struct tr_diff_image){ .program = number & INT32_MAX,
						   .parent = parent & INT32_MAX },
			   began);
	if (*group == TR_DIFF_NONE)
		return false;
	side->images[*group].make = is_make(normal->name);
	if (before != TR_DIFF_NONE && side->images[before].forked)
		side->images[before].program = *group & INT32_MAX;
	return !tr_cell_number(&record->seq, &seq) || set_seq(side, *group, seq);
}

/*
 * Adds the image of a forked child, unless records of the child preceded this one. These can be all
 * of them. False: memory is exhausted.
 */
static bool fork_child(struct tr_diff *diff, struct tr_diff_side *side, uint32_t parent)
{
	uint64_t task = task_hash(side, side->normal.child);
	struct tr_diff_image *image = NULL;
	uint32_t number;

	if (tr_number_map_get(&side->tasks, task, &number))
		image = &side->images[number];
	bool has_parent = image && image->parent != TR_DIFF_NONE;
	if (!image || (image->ended && (has_parent || !image->forked)))
		return new_forked(diff, side, task, parent,
				  tr_instant_from_text(side->normal.time)) != TR_DIFF_NONE;
	if (!has_parent)
		image->parent = parent & INT32_MAX;
	return true;
}

/*
 * Sets *number to that of the thread of a record, which is mostly that of the record before.
 * Threads are numbered from 0 as they appear. False: memory is exhausted.
 */
static bool number_thread(struct tr_diff_side *side, const struct tr_cell *task, uint32_t *number)
{
	bool numbered = task->type == TR_CELL_NUMBER;

	if (numbered && side->any_thread && task->number == side->last_task) {
		*number = side->last_thread;
		return true;
	}
	uint64_t id = name_hash(side, 'c', side->normal.task);
	uintptr_t found = (uintptr_t)tr_id_map_get(&side->ids, id);

	/* the map has no pointers, but 1 + the number */
	if (!found && !tr_id_map_put(&side->ids, id, (void *)(found = ++side->threads)))
		return false;
	*number = (uint32_t)(found - 1);
	if (numbered) {
		side->any_thread = true;
		side->last_task = task->number;
		side->last_thread = *number;
	}
	return true;
}

/* Returns a key of the kind and the name. */
static uint64_t name_key(const struct tr_diff_side *side)
{
	return tr_number_hash(side->normal.name_hash, 1);
}

/*
 * Returns the key of most records: a hash of their kind and name, and of some also of a field,
 * because the same call with another file is another call.
 */
static uint64_t field_key(const struct tr_diff_side *side)
{
	uint64_t path = side->normal.path, hash = name_key(side);

	return path ? tr_number_hash(hash, path) : hash;
}

/*
 * Returns the key of a record of a set: as above, but for a block its name, or its name and module.
 * A block that has no line is spelled from its key.
 */
static uint64_t set_key(struct tr_diff_side *side, bool *fine)
{
	const struct tr_normal *normal = &side->normal;
	uint64_t hash = field_key(side);

	if (!normal->module.data)
		return tr_text_is(normal->kind, "block") ? normal->name_hash : hash;
	uint64_t module = name_hash(side, 'm', normal->module);
	if (tr_text_is(normal->kind, "block"))
		return tr_number_hash(hash, (uintptr_t)tr_id_map_get(&side->ids, module));
	/* the map has no pointers, but hashes */
	*fine = tr_id_map_put(&side->ids, module, (void *)((uintptr_t)hash | 1));
	return hash;
}

/* A bit of the key of a program: it includes the file that the program makes (tr_diff_set_keys). */
enum { MAKES = 1 };

/* Returns the key of a program: a hash of its name, directory and arguments. */
static uint64_t command_key(const struct tr_diff_side *side)
{
	return tr_number_hash(side->normal.program, side->normal.path) & ~(uint64_t)MAKES;
}

/* Sets the key and the group of a record that was read. False: memory is exhausted. */
static bool place_record(struct tr_diff *diff, struct tr_diff_side *side, struct tr_record *record,
			 struct tr_diff_record *entry)
{
	struct tr_normal *normal = &side->normal;
	bool fine = true;

	entry->key = entry->class == TR_DIFF_SET    ? set_key(side, &fine)
		     : entry->class == TR_DIFF_EXEC ? command_key(side)
						    : field_key(side);
	switch ((enum tr_diff_class)entry->class) {
	case TR_DIFF_EXEC:
		fine = begin_program(diff, side, record, (uint32_t)side->count, &entry->group);
		entry->tool = !tr_makes_nothing(diff->maker, record);
		break;
	case TR_DIFF_EXIT:
	case TR_DIFF_PROCESS:
		if ((entry->group = image_of(diff, side)) == TR_DIFF_NONE)
			return false;
		if (entry->class == TR_DIFF_EXIT)
			side->images[entry->group].ended = 1;
		else if (normal->child.data && tr_text_is(normal->kind, "fork"))
			fine = fork_child(diff, side, entry->group);
		break;
	case TR_DIFF_THREAD:
		fine = number_thread(side, &record->task, &entry->group);
		break;
	case TR_DIFF_KIND:
		entry->group = (uint32_t)normal->kind_hash;
		break;
	case TR_DIFF_SET:
	case TR_DIFF_NOT_COMPARED:
		break;
	}
	if (fine && diff->key) {
		tr_buffer_reset(&side->scratch);
		if (diff->key(diff->context, record, &side->scratch)) {
			entry->key =
				tr_text_hash(normal->kind_hash, tr_buffer_text(&side->scratch));
			entry->keyed = 1;
			/* programs keep their class, because they decide which processes match */
			if (entry->class != TR_DIFF_EXEC)
				entry->class = TR_DIFF_SET;
		}
		fine = !side->scratch.failed;
	}
	return fine;
}

/* True for the record that contains the time when a trace was made. */
static bool is_date(const struct tr_normal *normal)
{
	return tr_text_is(normal->kind, "info") && tr_text_is(normal->name, "DATE_TIME");
}

/* True if the kernel makes a system call again after a signal. */
static bool is_restarted(const struct tr_normal *normal, struct tr_text line)
{
	static const char error[] = "\terror=ERESTARTNOINTR";
	const size_t len = sizeof error - 1;
	/* only the duration follows, after its key */
	const char *end =
		normal->spent.data ? normal->spent.data - sizeof "dur=" : line.data + line.len - 1;

	return (size_t)(end - line.data) > len && memcmp(end - len, error, len) == 0;
}

/* True for the signal that a child has ended, and the end of its handler: they come at any time. */
static bool is_child_signal(const struct tr_normal *normal)
{
	return tr_text_is(normal->name, "SIGCHLD") || tr_text_is(normal->name, "rt_sigreturn");
}

/* True for a record that contains nothing but an environment, if the user leaves these out. */
static bool is_ignored_environment(const struct tr_normal *normal)
{
	return normal->rules->ignored_count &&
	       (tr_text_is(normal->kind, "env") || tr_text_is(normal->kind, "envset")) &&
	       tr_normal_leaves_out(normal, TR_TEXT("env"));
}

/*
 * True for what make does to run its jobs: calls that have no path, and no descriptor of a file or
 * standard stream. What has a standard stream and a pipe connects the two.
 */
static bool runs_jobs(const struct tr_normal *normal, struct tr_text line)
{
	struct tr_text fields =
		tr_text_span(normal->name.data + normal->name.len + 1, line.data + line.len);

	if (normal->path || normal->rules->descriptors)
		return false;
	if (normal->descriptors)
		return !(normal->descriptors & TR_USES_FILE);
	if (tr_text_is(normal->kind, "sys"))
		return !tr_text_starts(fields, TR_TEXT("fd=")) &&
		       !tr_text_starts(fields, TR_TEXT("target=")); /* of a link */
	return tr_text_is(normal->kind, "fork");
}

/* Returns the image of the program that runs in an image; TR_DIFF_NONE: unknown. */
static uint32_t running_in(const struct tr_diff_side *side, uint32_t number)
{
	const struct tr_diff_image *image = &side->images[number];

	if (!image->forked)
		return number;
	/* if the fork comes after the child's exec, only that has the parent */
	if (image->parent == TR_DIFF_NONE && image->program != TR_DIFF_NONE)
		image = &side->images[image->program];
	return image->parent;
}

/*
 * Sets the class of a record that is not compared. Notes one that make may have made to run its
 * jobs: its process runs make, or has not called exec yet. False: memory is exhausted.
 */
static bool leave_out(struct tr_diff_side *side, struct tr_text line, struct tr_diff_record *entry)
{
	static const char probe[] = "\tcmd=F_GETFD\t->\terror=EBADF";
	const struct tr_normal *normal = &side->normal;

	if (entry->class == TR_DIFF_SET && is_ignored_environment(normal))
		entry->class = TR_DIFF_NOT_COMPARED;
	if (entry->class != TR_DIFF_PROCESS)
		return true;
	/* gcc's question whether it has a pipe of make */
	bool probes = normal->descriptors && !(normal->descriptors & TR_USES_FILE) &&
		      tr_text_is(normal->name, "fcntl") &&
		      memmem(line.data, line.len, probe, sizeof probe - 1);
	if (probes || is_restarted(normal, line) || is_child_signal(normal)) {
		entry->class = TR_DIFF_NOT_COMPARED;
		return true;
	}
	uint32_t image = running_in(side, entry->group);
	bool other = image != TR_DIFF_NONE && !side->images[image].make;
	if (other || !runs_jobs(normal, line))
		return true;
	if (!tr_array_room(side->jobs, side->job_count, side->job_cap))
		return false;
	side->jobs[side->job_count++] = (uint32_t)side->count;
	entry->spare = (normal->descriptors & TR_USES_UNKNOWN) != 0;
	return true;
}

/*
 * Leaves out what make does to run its jobs, itself or in a child before that calls exec. How often
 * it waits, which signals interrupt it and how it uses its pipes depends on its -j and on chance.
 */
static void leave_out_jobs(struct tr_diff_side *side)
{
	for (size_t i = 0; i < side->job_count; i++) {
		struct tr_diff_record *record = &side->records[side->jobs[i]];
		uint32_t image = running_in(side, record->group);
		if (image == TR_DIFF_NONE || !side->images[image].make) {
			record->spare = 0;
			continue;
		}
		record->class = TR_DIFF_NOT_COMPARED;
		side->counts[TR_DIFF_PROCESS]--;
		side->counts[TR_DIFF_NOT_COMPARED]++;
	}
	free(side->jobs);
	side->jobs = NULL;
	side->job_count = side->job_cap = 0;
}

void tr_diff_end_segment(struct tr_diff_side *side)
{
	leave_out_jobs(side);
	free(side->image_seqs);
	side->image_seqs = NULL;
	side->image_seq_cap = 0;
	side->first_image = side->image_count;
	side->segment_begins = true;
	side->any_thread = false;
	tr_number_map_free(&side->tasks);
	tr_id_map_free(&side->seqs);
	tr_id_map_free(&side->ids);
	tr_normal_forget_files(&side->normal);
}

/* Gives memory of the first trace, which was read, to the second one. */
static void begin_second(struct tr_diff *diff)
{
	struct tr_diff_side *from = &diff->sides[0], *to = &diff->sides[1];

	if (!to->image_seqs) {
		to->image_seqs = from->image_seqs;
		to->image_seq_cap = from->image_seq_cap;
		from->image_seqs = NULL;
	}
	tr_diff_end_segment(from);
}

/* The names of a record in their spool; the others follow the first one. */
struct names {
	uint32_t number, count; /* number: of the record */
	uint64_t first;		/* hash */
};

/* Writes the names of the record that was read last, with its number. It has some. */
static bool write_names(struct tr_diff_side *side, uint32_t number, struct tr_error *err)
{
	const struct tr_normal *normal = &side->normal;
	struct names names = { number, (uint32_t)normal->name_count, normal->names->hash };
	bool fine = tr_spool_write(side->names, (const char *)&names, sizeof names, err);

	for (size_t i = 1; fine && i < names.count; i++)
		fine = tr_spool_write(side->names, (const char *)&normal->names[i].hash,
				      sizeof names.first, err);
	return fine;
}

/* Writes the names and the line of the record that was read last. */
static inline bool write_record(struct tr_diff_side *side, uint32_t number, struct tr_text line,
				struct tr_error *err)
{
	return (!side->normal.name_count || write_names(side, number, err)) &&
	       tr_spool_write(side->spool, line.data, line.len, err);
}

/*
 * Makes room for one more record. Records are most of the memory, which the system provides faster
 * in large pages.
 */
static bool make_room(struct tr_diff_side *side)
{
	if (side->count < side->cap)
		return true;
	if (!tr_array_room(side->records, side->count, side->cap))
		return false;
#ifdef MADV_HUGEPAGE
	/* includes malloc's header, because realloc cannot move a mapping of two kinds of pages */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	size_t before = (uintptr_t)side->records % page;
	(void)madvise((char *)side->records - before, before + side->cap * sizeof *side->records,
		      MADV_HUGEPAGE);
#endif
	return true;
}

/* Adds the record that was written to where there is room. False: memory is exhausted. */
static inline bool add_record(struct tr_diff_side *side)
{
	struct tr_diff_record *record = &side->records[side->count];
	size_t mark = side->count / TR_DIFF_MARK;

	if (side->count % TR_DIFF_MARK == 0) {
		if (!tr_array_room(side->marks, mark, side->mark_cap))
			return false;
		side->marks[mark] = tr_spool_size(side->names);
	}
	record->segment = side->segment_begins;
	record->match = TR_ALIGN_NONE;
	side->segment_begins = false;
	side->any_named |= record->named;
	side->any_first |= record->wanted;
	side->counts[record->class]++;
	side->count++;
	return true;
}

bool tr_diff_put(struct tr_diff *diff, unsigned which, struct tr_record *record,
		 struct tr_text line, struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_normal *normal = &side->normal;

	if (record->type == TR_HEADER) {
		/* seqs, tasks and modules of the next segment are others */
		tr_diff_end_segment(side);
		return true;
	}
	if (which == 1 && !side->count)
		begin_second(diff);
	if (record->type != TR_RECORD)
		return true;
	if (side->count == TR_ALIGN_MOST) {
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d records", TR_ALIGN_MOST);
		return false;
	}
	size_t classes = normal->objects.count;
	normal->checks = record->line.data && !record->canonical;
	if (!make_room(side) || !tr_normal_hash(normal, record, line, which == 0))
		goto exhausted;
	if (normal->objects.count > classes)
		side->objects_known = side->count;
	if (is_date(normal))
		return true;
	struct tr_diff_record *entry = &side->records[side->count];
	*entry = (struct tr_diff_record){
		.content = normal->content,
		.offset = tr_spool_size(side->spool),
		.class = normal->known->class,
		.named = normal->name_count > 0,
		.wanted = tr_text_is(normal->kind, "env"),
	};
	if (place_record(diff, side, record, entry) && leave_out(side, line, entry) &&
	    add_record(side))
		return write_record(side, (uint32_t)side->count - 1, line, err);
exhausted:
	tr_error_memory(err);
	return false;
}

size_t tr_diff_put_blocks(struct tr_diff *diff, unsigned which, const struct tr_block *blocks,
			  size_t count, uint64_t seq)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_normal *normal = &side->normal;
	size_t taken = 0;

	if (diff->key || !tr_normal_takes_blocks(&diff->rules) || seq > UINT32_MAX - count)
		return 0;
	if (which == 1 && !side->count)
		begin_second(diff);
	for (; taken < count && side->count < TR_ALIGN_MOST && make_room(side); taken++) {
		if (!tr_normal_hash_block(normal, &blocks[taken]))
			break;
		side->records[side->count] = (struct tr_diff_record){
			.content = normal->content,
			.key = normal->name_hash,
			.offset = tr_block_rest(&blocks[taken]),
			.class = TR_DIFF_SET,
			.block = 1,
			.group = (uint32_t)(seq + taken),
		};
		if (!add_record(side))
			break;
	}
	return taken;
}

/* Returns where the new line and names of a rewritten record are. */
static const struct tr_diff_rewritten *find_rewritten(const struct tr_diff_side *side,
						      uint32_t number)
{
	size_t at =
		tr_array_search(i, 0, side->rewritten_count, side->rewritten[i].number < number);
	return &side->rewritten[at];
}

/* Spells the line of a block; otherwise as look_at_line. */
static struct tr_text spell_block(struct tr_diff_side *side, const struct tr_diff_record *record,
				  struct tr_error *err)
{
	struct tr_block block = tr_block_from_rest(0, (uint32_t)record->offset);
	struct tr_buffer *to = &side->line;

	block.address = tr_normal_address(&side->normal, record->key, block.digits);
	if (!side->ops && (side->ops = tr_op_values_new()))
		side->speller.ops = side->ops;
	tr_buffer_reset(to);
	char *line = side->ops ? tr_buffer_room(to, TR_SPELL_MAX + TR_INPUT_PAD) : NULL;
	if (line) {
		to->len = tr_block_line(&side->speller, &block, record->group, line);
		return tr_buffer_text(to);
	}
	tr_error_memory(err);
	return (struct tr_text){ NULL, 0 };
}

/* Returns the line of a record. data NULL: err is filled. */
static struct tr_text look_at_line(struct tr_diff_side *side, uint32_t number, struct tr_error *err)
{
	const struct tr_diff_record *record = &side->records[number];
	uint64_t begin = record->offset;
	size_t next = number + 1;

	if (record->block)
		return spell_block(side, record, err);
	while (next < side->count && side->records[next].block)
		next++;
	uint64_t end = next < side->count ? side->records[next].offset : side->lines_end;
	if (record->rewritten) {
		const struct tr_diff_rewritten *line = find_rewritten(side, number);
		const struct tr_diff_rewritten *last = side->rewritten + side->rewritten_count - 1;
		begin = line->line;
		end = line < last ? line[1].line : tr_spool_size(side->spool);
	}
	size_t len = (size_t)(end - begin);
	return (struct tr_text){
		tr_spool_look(side->spool, &side->windows[record->rewritten], begin, len, err), len
	};
}

/*
 * Returns the names of a record that has some: hashes of 64 bits, not aligned. Names are read
 * mostly in the order of their records, so the search starts where the last one ended. NULL: err is
 * filled.
 */
static const char *look_at_names(struct tr_diff_side *side, uint32_t number, uint64_t *count,
				 struct tr_error *err)
{
	uint64_t offset = side->marks[number / TR_DIFF_MARK];
	struct tr_spool_window *window = &side->names_window;
	const char *at;

	if (side->records[number].rewritten)
		offset = find_rewritten(side, number)->names;
	else if (side->next_number <= number && side->next_offset > offset)
		offset = side->next_offset;
	while ((at = tr_spool_look(side->names, window, offset, sizeof(struct names), err))) {
		struct names names;
		memcpy(&names, at, sizeof names);
		uint64_t first = offset + offsetof(struct names, first);
		size_t len = names.count * sizeof names.first;
		offset = first + len;
		if (names.number != number)
			continue;
		if (!side->records[number].rewritten) {
			side->next_number = number + 1;
			side->next_offset = offset;
		}
		*count = names.count;
		return names.count == 1 ? at + offsetof(struct names, first)
					: tr_spool_look(side->names, window, first, len, err);
	}
	return NULL;
}

/*
 * Returns the exec record of the program that started this one; TR_DIFF_NONE: unknown. In a damaged
 * trace it may follow this one, so that its key is not known yet, and a program may start itself.
 */
static uint32_t driver_of(const struct tr_diff_side *side, uint32_t number)
{
	uint32_t image = side->records[number].group, parent = side->images[image].parent;

	return parent >= image || side->images[parent].forked ? TR_DIFF_NONE
							      : side->images[parent].program;
}

/*
 * Marks the programs without a match, and all that started them. Returns false if there are none.
 */
static bool mark_wanted(struct tr_diff_side *side)
{
	bool any = false;

	for (size_t k = 0; k < side->image_count; k++) {
		uint32_t at = side->images[k].program;
		if (side->images[k].forked || side->records[at].match != TR_ALIGN_NONE)
			continue;
		any = true;
		for (; at != TR_DIFF_NONE && !side->records[at].wanted; at = driver_of(side, at))
			side->records[at].wanted = 1;
	}
	return any;
}

/* Parses the line of a record. data NULL: err is filled. */
static struct tr_text read_record(struct tr_diff_side *side, uint32_t number,
				  struct tr_arena *arena, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_text line = look_at_line(side, number, err);

	tr_arena_reset(arena);
	tr_record_init(record, arena);
	if (line.data && !tr_record_from_line(record, line, err))
		line.data = NULL;
	return line;
}

/* False if a text has certainly neither MAKEFLAGS nor MFLAGS. */
static bool has_make_flags(struct tr_text text)
{
	static const char name[] = "FLAGS\":";

	return memmem(text.data, text.len, name, sizeof name - 1);
}

/*
 * Appends the difference between the environment of a record, which tr_follow_record took last, and
 * `base` to side->scratch. *less: variables were left out that differ only in what is not compared.
 * TR_END: it is unknown. TR_FATAL: err is filled.
 */
static enum tr_status put_difference(struct tr_diff_side *side, const struct tr_follow *follow,
				     struct tr_environment *base, bool *less, struct tr_error *err)
{
	struct tr_environments *pool = follow->pool;
	enum tr_status status, back = TR_END;

	tr_buffer_reset(&side->scratch);
	status = tr_environment_diff(pool, base, follow->own, &side->scratch);
	/* gcc removes the job server from the flags of make for the programs that it starts */
	if (status == TR_OK && base && has_make_flags(tr_buffer_text(&side->scratch))) {
		back = tr_environment_diff(pool, follow->own, base, &side->line);
		*less = back == TR_OK &&
			tr_normal_drop_job_server(&side->normal, tr_buffer_text(&side->line),
						  &side->scratch);
		tr_buffer_reset(&side->line);
	}
	if (status == TR_FATAL || back == TR_FATAL) {
		tr_environments_error(pool, err);
		return TR_FATAL;
	}
	return status;
}

/*
 * Writes a line with the difference between its environment and that of its parent to side->line;
 * nothing if the line has such a difference already. follow: after this record. whole: it is the
 * difference to an empty environment instead. False: err is filled.
 */
static bool write_difference(struct tr_diff_side *side, const struct tr_follow *follow,
			     struct tr_text line, bool whole, struct tr_error *err)
{
	struct tr_environment *base = follow->top;
	bool minimal = follow->minimal && !whole, less = false;

	tr_buffer_reset(&side->line);
	if (!follow->own || (minimal && !has_make_flags(line)))
		return true;
	if (whole)
		base = NULL;
	else if (follow->parent.kind == TR_PARENT_RECORD)
		base = tr_environments_of(follow->pool, follow->parent.seq);
	enum tr_status known = TR_END;
	if (base || whole)
		known = put_difference(side, follow, base, &less, err);
	if (known != TR_OK || (minimal && !less))
		return known != TR_FATAL;
	struct tr_text map = tr_buffer_text(&side->scratch);
	bool fine = tr_env_line_put(line, NULL, "envdiff",
				    tr_text_is(map, "{}") ? TR_TEXT("") : map, &side->line);
	if (!fine)
		tr_error_memory(err);
	return fine;
}

/* Replaces the line of a record by side->line. False: err is filled. */
static bool rewrite(struct tr_diff *diff, unsigned which, uint32_t number,
		    const struct tr_record *record, struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_diff_record *entry = &side->records[number];
	struct tr_text line = tr_buffer_text(&side->line);

	if (!tr_array_room(side->rewritten, side->rewritten_count, side->rewritten_cap) ||
	    !tr_normal_hash(&side->normal, record, line, which == 0)) {
		tr_error_memory(err);
		return false;
	}
	side->rewritten[side->rewritten_count++] =
		(struct tr_diff_rewritten){ number, tr_spool_size(side->spool),
					    tr_spool_size(side->names) };
	entry->content = side->normal.content;
	entry->rewritten = 1;
	entry->named = side->normal.name_count > 0;
	side->any_named |= entry->named;
	return write_record(side, number, line, err);
}

bool tr_diff_compare_environments(struct tr_diff *diff, struct tr_error *err)
{
	struct tr_arena arena = { 0 };
	struct tr_follow follow = { .pool = NULL };
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		const struct tr_diff_side *other = &diff->sides[!i];
		/* in the other trace, the first program has the environment that a record has here */
		bool apart = side->any_first && !other->any_first && other->normal.any_whole;
		bool first = true;
		if (!(side->normal.any_environment || apart) || !mark_wanted(side))
			continue;
		for (uint32_t k = 0; fine && k < side->count; k++) {
			struct tr_diff_record *entry = &side->records[k];
			struct tr_record record;
			if (entry->segment) {
				tr_follow_free(&follow);
				first = true;
			}
			bool whole = apart && first && entry->class == TR_DIFF_EXEC;
			first &= entry->class != TR_DIFF_EXEC;
			if (!entry->wanted)
				continue;
			entry->wanted = 0;
			struct tr_text line = read_record(side, k, &arena, &record, err);
			fine = line.data && tr_follow_record(&follow, &record, err) != TR_FATAL;
			if (!fine || entry->class != TR_DIFF_EXEC || entry->match != TR_ALIGN_NONE)
				continue;
			fine = write_difference(side, &follow, line, whole, err) &&
			       (!side->line.len || rewrite(diff, i, k, &record, err));
		}
		tr_follow_free(&follow);
	}
	tr_arena_free(&arena);
	return fine;
}

/*
 * Gives a program that makes a file the key that it has by this: a hash of its name, directory and
 * file. The compiler proper and the assembler make files with random names, so their keys include
 * the key of their driver; but only if that one has a file, because otherwise a change in any
 * argument of the driver would change the keys of its children. False: memory is exhausted.
 */
static bool set_key_of_maker(struct tr_diff *diff, struct tr_diff_side *side,
			     struct tr_record *record, struct tr_text line, uint32_t number,
			     bool first)
{
	struct tr_normal *normal = &side->normal;
	uint32_t driver = driver_of(side, number);
	struct tr_text file;

	if (!tr_makes_find(diff->maker, record, &file))
		return false;
	if (!file.data)
		return true;
	if (!tr_normal_read_command(normal, line, first, false))
		return false;
	uint64_t hash = tr_text_hash(normal->kind_hash, tr_path_base(normal->fields[0].text));
	const struct tr_normal_field *cwd = tr_normal_find(normal, "cwd");
	hash = cwd ? tr_text_hash(hash, cwd->text) : hash;
	struct tr_text text = tr_normal_string(normal, file, first);
	if (!text.data)
		return false;
	hash = tr_text_hash(hash, text);
	/*
	 * the driver's key may be this hash, which must not cancel it out; the user's has no MAKES
	 */
	if (driver != TR_DIFF_NONE && !side->records[driver].keyed &&
	    (side->records[driver].key & MAKES))
		hash = tr_number_hash(tr_number_hash(hash, 1), side->records[driver].key);
	side->records[number].key = hash | MAKES;
	return true;
}

bool tr_diff_set_keys(struct tr_diff *diff, struct tr_error *err)
{
	struct tr_arena arena = { 0 };
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		if (!mark_wanted(side))
			continue;
		/* so drivers get their keys before the programs that they start */
		for (size_t at = 0; fine && at < side->image_count; at++) {
			uint32_t k = side->images[at].program;
			struct tr_record record;
			if (side->images[at].forked || !side->records[k].wanted ||
			    side->records[k].keyed || !side->records[k].tool)
				continue;
			struct tr_text line = read_record(side, k, &arena, &record, err);
			if (!line.data) {
				fine = false;
				break;
			}
			fine = set_key_of_maker(diff, side, &record, line, k, i == 0);
			if (!fine)
				tr_error_memory(err);
		}
	}
	tr_arena_free(&arena);
	return fine;
}

bool tr_diff_read_names(struct tr_diff *diff, unsigned which, uint32_t number, const char **names,
			uint64_t *count, struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];

	if (side->records[number].late) {
		struct tr_normal *normal = &side->normal;
		if (!tr_diff_read(diff, which, number, err).data)
			return false;
		tr_buffer_reset(&side->scratch);
		for (size_t i = 0; i < normal->name_count; i++)
			tr_buffer_put(&side->scratch, (const char *)&normal->names[i].hash,
				      sizeof normal->names[i].hash);
		*names = side->scratch.data;
		*count = normal->name_count;
		if (side->scratch.failed)
			tr_error_memory(err);
		return !side->scratch.failed;
	}
	*count = 0;
	*names = NULL;
	return !side->records[number].named ||
	       (*names = look_at_names(side, number, count, err)) != NULL;
}

bool tr_diff_rehash_calls(struct tr_diff *diff, struct tr_error *err)
{
	bool fine = true;

	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		if (tr_normal_add_object_classes(&side->normal, &diff->sides[!i].normal))
			side->objects_known = side->count;
	}
	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		struct tr_normal *normal = &side->normal;
		for (uint32_t k = 0; fine && k < side->objects_known; k++) {
			struct tr_diff_record *entry = &side->records[k];
			struct tr_record record;
			if (entry->class != TR_DIFF_THREAD && !entry->keyed)
				continue;
			tr_record_init(&record, NULL);
			struct tr_text line = look_at_line(side, k, err);
			if (!line.data || !tr_record_from_line(&record, line, err))
				return false;
			fine = tr_normal_hash(normal, &record, line, i == 0);
			entry->late = entry->content != normal->content;
			side->any_named |= entry->late;
			entry->content = normal->content;
		}
	}
	if (!fine)
		tr_error_memory(err);
	return fine;
}

/* Adds the duration of a call, or of the process of an exit record, if it is known. */
static bool add_duration(struct tr_diff_side *side, uint32_t number)
{
	const struct tr_diff_record *record = &side->records[number];
	int64_t duration = TR_INSTANT_NONE;

	if (side->normal.spent.data)
		duration = tr_instant_from_text(side->normal.spent);
	else if (record->class == TR_DIFF_EXIT)
		duration = tr_instant_between(side->began[record->group],
					      tr_instant_from_text(side->normal.time));
	return duration == TR_INSTANT_NONE || tr_normal_add_duration(&side->normal, duration);
}

/*
 * Sets the hashes of the names of a record that was read again to those in the spool: which file a
 * descriptor was is known only while records are read in order. False: err is filled.
 */
static bool restore_names(struct tr_diff_side *side, uint32_t number, struct tr_error *err)
{
	struct tr_normal *normal = &side->normal;
	uint64_t count;

	if (!side->records[number].named || side->records[number].late)
		return true;
	const char *names = look_at_names(side, number, &count, err);
	if (!names)
		return false;
	for (size_t i = 0; i < count && i < normal->name_count; i++) {
		uint64_t *hash = &normal->names[i].hash;
		memcpy(hash, names + i * sizeof *hash, sizeof *hash);
		*hash &= ~(uint64_t)TR_RUN_NAME_OPENED;
	}
	return true;
}

/* tr_diff_read, or with `split` tr_diff_split. */
static struct tr_text read_fields(struct tr_diff *diff, unsigned which, uint32_t number, bool split,
				  struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_normal *normal = &side->normal;
	struct tr_text line = look_at_line(side, number, err);

	if (!line.data)
		return line;
	bool fine =
		split ? tr_normal_split(normal, line) : tr_normal_read(normal, line, which == 0);
	if (!fine || (diff->times > 0 && !add_duration(side, number)) ||
	    (diff->add_fields && side->records[number].class == TR_DIFF_EXEC &&
	     !diff->add_fields(diff->context, which, number, normal))) {
		tr_error_memory(err);
		line.data = NULL;
	} else if (!split && !restore_names(side, number, err)) {
		line.data = NULL;
	}
	return line;
}

struct tr_text tr_diff_read(struct tr_diff *diff, unsigned side, uint32_t number,
			    struct tr_error *err)
{
	return read_fields(diff, side, number, false, err);
}

struct tr_text tr_diff_split(struct tr_diff *diff, unsigned side, uint32_t number,
			     struct tr_error *err)
{
	return read_fields(diff, side, number, true, err);
}

bool tr_diff_read_command(struct tr_diff *diff, unsigned which, uint32_t number,
			  struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_text line = look_at_line(side, number, err);

	if (!line.data)
		return false;
	if (!tr_normal_read_command(&side->normal, line, which == 0, true)) {
		tr_error_memory(err);
		return false;
	}
	return true;
}

struct tr_text tr_diff_kind(struct tr_diff *diff, unsigned which, uint32_t number,
			    struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];

	if (side->records[number].block)
		return TR_TEXT("block");
	struct tr_text line = look_at_line(side, number, err);
	return line.data ? tr_text_span(line.data, memchr(line.data, '\t', line.len)) : line;
}

bool tr_diff_put_program(struct tr_diff *diff, unsigned which, uint32_t number,
			 struct tr_buffer *to, struct tr_error *err)
{
	enum { STEPS = 64, NAME = 4 };
	struct tr_diff_side *side = &diff->sides[which];
	const struct tr_diff_image *image = &side->images[side->records[number].group];

	/* a forked image runs the program of its parent */
	for (unsigned step = 0; image->forked; step++) {
		if (image->parent == TR_DIFF_NONE || step == STEPS)
			return true;
		image = &side->images[image->parent];
	}
	struct tr_text line = look_at_line(side, image->program, err);
	if (!line.data)
		return false;
	struct tr_tabs tabs = tr_tabs_begin(line.data, line.data, line.data + line.len - 1);
	const char *begin = line.data, *tab = NULL;
	for (unsigned column = 0; column <= NAME; column++) {
		begin = tab ? tab + 1 : begin;
		tab = tr_tabs_next(&tabs);
	}
	tr_buffer_put_text(to, tr_text_span(begin, tab));
	return true;
}

void tr_diff_free(struct tr_diff *diff)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		tr_diff_end_segment(side); /* it looks at records */
		free(side->records);
		free(side->images);
		tr_spool_free(side->spool);
		tr_spool_free(side->names);
		free(side->marks);
		free(side->began);
		free(side->rewritten);
		tr_buffer_free(&side->windows[0].bytes);
		tr_buffer_free(&side->windows[1].bytes);
		tr_buffer_free(&side->names_window.bytes);
		tr_normal_free(&side->normal);
		free(side->ops);
		tr_buffer_free(&side->line);
		tr_buffer_free(&side->scratch);
	}
	tr_renames_free(&diff->renames);
	tr_makes_free(diff->maker);
}
