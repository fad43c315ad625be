/* SPDX-License-Identifier: MIT */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "process/call.h"
#include "process/env_line.h"
#include "process/instant.h"
#include "process/parent.h"
#include "process/path.h"

/* A task, a thread or a module that records refer to by its name. */
struct entry {
	uint32_t number; /* image of a task; number of a thread */
	uint64_t hash;	 /* of the path of a module */
};

bool tr_diff_begin(struct tr_diff *diff)
{
	diff->rules.seed = tr_hash_seed(diff);
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		*side = (struct tr_diff_side){ .spool = tr_spool_new(diff->max_spool) };
		side->normal.rules = &diff->rules;
		if (!side->spool)
			return false;
	}
	return true;
}

/*
 * Returns the entry of a task (letter t), a thread (c) or a module (m). *is_new: it was added and is
 * zero. NULL: memory is exhausted.
 */
static struct entry *entry_of(struct tr_diff_side *side, char letter, struct tr_text name,
			      bool *is_new)
{
	uint64_t seed = tr_number_hash(side->normal.rules->seed, (unsigned char)letter);
	uint64_t id = tr_text_hash(seed, name);
	struct entry *entry = tr_id_map_get(&side->names, id);

	*is_new = !entry;
	if (entry)
		return entry;
	entry = tr_arena_alloc(&side->arena, sizeof *entry);
	if (!entry || !tr_id_map_put(&side->names, id, entry))
		return NULL;
	*entry = (struct entry){ 0, 0 };
	return entry;
}

static uint32_t new_image(struct tr_diff_side *side, uint32_t exec, uint32_t parent, int64_t began)
{
	if (side->image_count >= TR_ALIGN_NONE - 1 ||
	    !tr_array_room(side->images, side->image_count, side->image_cap))
		return TR_ALIGN_NONE;
	side->images[side->image_count] = (struct tr_diff_image){
		.exec = exec, .parent = parent, .becomes = TR_ALIGN_NONE, .began = began
	};
	return (uint32_t)side->image_count++;
}

/* The entry of a task, which runs something from now on. NULL: memory is exhausted. */
static struct entry *task_of(struct tr_diff_side *side, struct tr_text task)
{
	bool is_new;
	struct entry *entry = entry_of(side, 't', task, &is_new);

	if (entry && (is_new || entry->number == TR_ALIGN_NONE))
		entry->number = new_image(side, TR_ALIGN_NONE, TR_ALIGN_NONE, TR_INSTANT_NONE);
	return entry && entry->number != TR_ALIGN_NONE ? entry : NULL;
}

/* The image of the parent that an exec record names; NONE if it is not in the trace. */
static uint32_t find_parent(const struct tr_diff_side *side)
{
	const struct tr_parent *named = &side->follow.parent;
	uintptr_t found = 0;

	if (named->kind == TR_PARENT_RECORD)
		found = (uintptr_t)tr_id_map_get(&side->seqs, named->seq);
	return found ? (uint32_t)(found - 1) : TR_ALIGN_NONE;
}

/* The record with this number begins a program in its task. False: memory is exhausted. */
static bool begin_program(struct tr_diff_side *side, struct tr_record *record, uint32_t number,
			  uint32_t *group)
{
	struct entry *task = task_of(side, side->normal.task);
	uint32_t parent = find_parent(side), before;
	uint64_t seq;

	if (!task)
		return false;
	before = task->number;
	if (parent == TR_ALIGN_NONE)
		parent = side->images[before].exec == TR_ALIGN_NONE ? side->images[before].parent
								    : before;
	int64_t began = side->images[before].began;
	if (began == TR_INSTANT_NONE)
		began = tr_instant_from_text(side->normal.time);
	uint32_t image = new_image(side, number, parent, began);
	if (image == TR_ALIGN_NONE)
		return false;
	if (side->images[before].exec == TR_ALIGN_NONE)
		side->images[before].becomes = image;
	task->number = *group = image;
	/* the values of this map are no addresses, but 1 and the number of the image */
	return !tr_cell_number(&record->seq, &seq) ||
	       tr_id_map_put(&side->seqs, seq, (void *)((uintptr_t)image + 1));
}

/*
 * The line of an exec record, with its environment as the difference to its parent's. data NULL: err
 * is filled.
 */
static struct tr_text exec_line(struct tr_diff_side *side, struct tr_record *record,
				struct tr_text line, struct tr_error *err)
{
	static const struct tr_text none = { NULL, 0 };
	struct tr_follow *follow = &side->follow;

	if (tr_follow_record(follow, record, err) == TR_FATAL)
		return none;
	if (!follow->own || follow->minimal)
		return line;
	struct tr_environment *base = follow->top;
	if (follow->parent.kind == TR_PARENT_RECORD)
		base = tr_environments_of(follow->pool, follow->parent.seq);
	tr_buffer_reset(&side->line);
	tr_buffer_reset(&side->scratch);
	enum tr_status known = TR_END;
	if (base)
		known = tr_environment_diff(follow->pool, base, follow->own, &side->scratch);
	if (known == TR_END)
		return line;
	if (known == TR_FATAL) {
		tr_environments_error(follow->pool, err);
		return none;
	}
	struct tr_text map = tr_buffer_text(&side->scratch);
	if (tr_env_line_put(line, "envdiff", tr_text_is(map, "{}") ? TR_TEXT("") : map,
			    &side->line))
		return tr_buffer_text(&side->line);
	tr_error_memory(err);
	return none;
}

/* A task has forked a child, of which records may have come before this one. */
static bool fork_child(struct tr_diff_side *side, struct tr_text child, uint32_t parent)
{
	bool is_new;
	struct entry *task = entry_of(side, 't', child, &is_new);

	if (!task)
		return false;
	if (is_new || task->number == TR_ALIGN_NONE)
		task->number = new_image(side, TR_ALIGN_NONE, parent,
					 tr_instant_from_text(side->normal.time));
	else if (side->images[task->number].parent == TR_ALIGN_NONE)
		side->images[task->number].parent = parent;
	return task->number != TR_ALIGN_NONE;
}

/* Keys have a seed of their own: the kind and the name are a content too. */
static uint64_t key_seed(const struct tr_diff_side *side)
{
	return tr_number_hash(side->normal.rules->seed, 1);
}

/* The key of most records: their kind and name, which alone are a content too. */
static uint64_t name_key(const struct tr_diff_side *side)
{
	return tr_number_hash(side->normal.name_hash, 1);
}

/*
 * The key of a record that is compared in an order: the function or system call, and the file, since
 * a call with another file is another call.
 */
static uint64_t sequence_key(const struct tr_diff_side *side)
{
	uint64_t path = side->normal.path, hash = name_key(side);

	return path ? tr_number_hash(hash, path) : hash;
}

/* The key of a record of a set: its name, and of a block its module too. */
static uint64_t set_key(struct tr_diff_side *side, bool *fine)
{
	const struct tr_normal *normal = &side->normal;
	uint64_t hash = name_key(side);
	bool is_new;

	if (!normal->module.data)
		return hash;
	bool block = tr_text_is(normal->kind, "block");
	struct entry *module = entry_of(side, 'm', normal->module, &is_new);
	*fine = module != NULL;
	if (!module)
		return hash;
	if (!block)
		module->hash = hash;
	return block ? tr_number_hash(hash, module->hash) : hash;
}

/* Takes the key and the group of a record, which is read. False: memory is exhausted. */
static bool place_record(struct tr_diff *diff, struct tr_diff_side *side, struct tr_record *record,
			 struct tr_diff_record *entry)
{
	struct tr_normal *normal = &side->normal;
	bool is_new, fine = true;
	uint32_t number = (uint32_t)side->count;
	struct entry *named;
	struct tr_text child;

	entry->key = entry->class == TR_DIFF_SET ? set_key(side, &fine) : sequence_key(side);
	switch ((enum tr_diff_class)entry->class) {
	case TR_DIFF_EXEC:
		fine = begin_program(side, record, number, &entry->group);
		entry->key = entry->content; /* see tr_diff_set_keys */
		break;
	case TR_DIFF_EXIT:
	case TR_DIFF_PROCESS:
		if (!(named = task_of(side, normal->task)))
			return false;
		entry->group = named->number;
		if (tr_text_is(normal->kind, "fork"))
			fine = tr_parent_field(record, "child", &child) &&
			       (!child.data || fork_child(side, child, entry->group));
		else if (entry->class == TR_DIFF_EXIT)
			named->number = TR_ALIGN_NONE; /* the next with that id is another one */
		break;
	case TR_DIFF_THREAD:
		if (!(named = entry_of(side, 'c', normal->task, &is_new)))
			return false;
		if (is_new)
			named->number = side->threads++;
		entry->group = named->number;
		break;
	case TR_DIFF_KIND:
		entry->group = (uint32_t)tr_text_hash(side->normal.rules->seed, normal->kind);
		break;
	case TR_DIFF_SET:
		break;
	}
	if (fine && diff->key) {
		tr_buffer_reset(&side->scratch);
		if (diff->key(diff->context, record, &side->scratch)) {
			uint64_t kind = tr_text_hash(key_seed(side), normal->kind);
			entry->key = tr_text_hash(kind, tr_buffer_text(&side->scratch));
			entry->keyed = 1;
			/* programs stay what they are, because the rest of their process follows */
			if (entry->class != TR_DIFF_EXEC)
				entry->class = TR_DIFF_SET;
		}
		fine = !side->scratch.failed;
	}
	return fine;
}

/* The date of a trace says when it was made. */
static bool is_date(const struct tr_normal *normal)
{
	return tr_text_is(normal->kind, "info") && tr_text_is(normal->name, "DATE_TIME");
}

/*
 * The key of a program, which was read last: its name, directory, and the file that it makes, or its
 * arguments. The assembler of a compiler makes a file with a random name, or the same one as the
 * assembler of another call, so the key of its driver is part of its key. MAKES marks keys with a
 * file, because a driver without one has all its arguments in its key, and a change in these must
 * not change the keys of its children. *fine: false if memory is exhausted.
 */
static uint64_t exec_key(struct tr_diff *diff, struct tr_diff_side *side, struct tr_record *record,
			 uint32_t driver, bool first, bool *fine)
{
	enum { MAKES = 1 };
	struct tr_normal *normal = &side->normal;
	struct tr_text makes;
	uint64_t hash = tr_text_hash(key_seed(side), tr_path_base(normal->fields[0].text));
	const struct tr_normal_field *cwd = tr_normal_find(normal, "cwd");

	hash = cwd ? tr_text_hash(hash, cwd->text) : hash;
	*fine = tr_call_makes(record, diff->compilers, &makes);
	if (!*fine || !makes.data) {
		const struct tr_normal_field *argv = tr_normal_find(normal, "argv");
		hash = argv ? tr_text_hash(hash, argv->text) : hash;
		return hash & ~(uint64_t)MAKES;
	}
	struct tr_text text = tr_normal_string(normal, makes, first);
	*fine = text.data != NULL;
	hash = tr_text_hash(hash, text);
	if (driver != TR_ALIGN_NONE && (side->records[driver].key & MAKES))
		hash = tr_number_hash(hash, side->records[driver].key);
	return hash | MAKES;
}

/* The exec record of the program that started this one; TR_ALIGN_NONE: unknown. */
static uint32_t driver_of(const struct tr_diff_side *side, uint32_t number)
{
	uint32_t parent = side->images[side->records[number].group].parent;

	return parent == TR_ALIGN_NONE ? parent : side->images[parent].exec;
}

bool tr_diff_set_keys(struct tr_diff *diff, struct tr_error *err)
{
	struct tr_arena arena = { 0 };
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		if (!side->counts[TR_DIFF_EXEC])
			continue;
		for (uint32_t k = 0; k < side->count; k++) {
			uint32_t at = k;
			if (side->records[k].class != TR_DIFF_EXEC ||
			    side->records[k].match != TR_ALIGN_NONE)
				continue;
			for (; at != TR_ALIGN_NONE && !side->records[at].wanted;
			     at = driver_of(side, at))
				side->records[at].wanted = 1;
		}
		/* drivers come before what they start */
		for (uint32_t k = 0; fine && k < side->count; k++) {
			struct tr_record record;
			if (!side->records[k].wanted || side->records[k].keyed)
				continue;
			struct tr_text line = tr_diff_read(diff, i, k, err);
			tr_arena_reset(&arena);
			tr_record_init(&record, &arena);
			fine = line.data && tr_record_from_line(&record, line, err);
			if (!fine)
				break;
			side->records[k].key =
				exec_key(diff, side, &record, driver_of(side, k), i == 0, &fine);
			if (!fine)
				tr_error_memory(err);
		}
	}
	tr_arena_free(&arena);
	return fine;
}

/* Writes the number of names and their hashes in front of the line. */
static bool write_names(struct tr_diff_side *side, struct tr_error *err)
{
	const struct tr_normal *normal = &side->normal;
	uint64_t count = normal->name_count;
	bool fine = tr_spool_write(side->spool, (const char *)&count, sizeof count, err);

	for (size_t i = 0; fine && i < count; i++)
		fine = tr_spool_write(side->spool, (const char *)&normal->names[i].hash,
				      sizeof normal->names[i].hash, err);
	return fine;
}

void tr_diff_forget_ids(struct tr_diff_side *side)
{
	if (side->names.cap) {
		tr_id_map_free(&side->names);
		tr_arena_free(&side->arena);
	}
	if (side->seqs.cap)
		tr_id_map_free(&side->seqs);
	if (side->follow.pool)
		tr_follow_free(&side->follow);
}

bool tr_diff_put(struct tr_diff *diff, unsigned which, struct tr_record *record,
		 struct tr_text line, struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_normal *normal = &side->normal;

	if (record->type == TR_HEADER) {
		/* numbers of records, tasks and modules begin anew */
		tr_diff_forget_ids(side);
		return true;
	}
	if (which == 1)
		tr_diff_forget_ids(&diff->sides[0]);
	if (record->type != TR_RECORD)
		return true;
	if (tr_text_is(record->kind, "exec")) {
		line = exec_line(side, record, line, err);
		if (!line.data)
			return false;
	} else if (tr_text_is(record->kind, "env") &&
		   tr_follow_record(&side->follow, record, err) == TR_FATAL) {
		return false;
	}
	if (side->count == TR_ALIGN_MOST) {
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d records", TR_ALIGN_MOST);
		return false;
	}
	size_t classes = normal->objects.count;
	if (!tr_array_room(side->records, side->count, side->cap) ||
	    !tr_normal_hash(normal, record, line, which == 0))
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
		.match = TR_ALIGN_NONE,
	};
	if (!place_record(diff, side, record, entry))
		goto exhausted;
	side->count++;
	side->counts[entry->class]++;
	return (!entry->named || write_names(side, err)) &&
	       tr_spool_write(side->spool, line.data, line.len, err);
exhausted:
	tr_error_memory(err);
	return false;
}

/* The part of the spool that belongs to a record. data NULL: err is filled. */
static struct tr_text look(struct tr_diff_side *side, uint32_t number, struct tr_error *err)
{
	uint64_t begin = side->records[number].offset;
	uint64_t end = number + 1 < side->count ? side->records[number + 1].offset
						: tr_spool_size(side->spool);
	size_t len = (size_t)(end - begin);

	return (struct tr_text){ tr_spool_look(side->spool, &side->window, begin, len, err), len };
}

/* The line of a record, without the names before it. data NULL: err is filled. */
static struct tr_text look_at_line(struct tr_diff_side *side, uint32_t number, struct tr_error *err)
{
	struct tr_text line = look(side, number, err);
	uint64_t count;

	if (line.data && side->records[number].named) {
		memcpy(&count, line.data, sizeof count);
		size_t before = (size_t)(1 + count) * sizeof count;
		line = (struct tr_text){ line.data + before, line.len - before };
	}
	return line;
}

bool tr_diff_names(struct tr_diff *diff, unsigned which, uint32_t number, const char **names,
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
	struct tr_text part = look(side, number, err);
	if (!part.data)
		return false;
	*count = 0;
	*names = part.data + sizeof *count;
	if (side->records[number].named)
		memcpy(count, part.data, sizeof *count);
	return true;
}

bool tr_diff_learn_objects(struct tr_diff *diff, struct tr_error *err)
{
	bool fine = true;

	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		if (tr_normal_learn_objects(&side->normal, &diff->sides[!i].normal))
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
			entry->content = normal->content;
		}
	}
	if (!fine)
		tr_error_memory(err);
	return fine;
}

/* Adds the duration of a call, or of the process that ends, if it is known. */
static bool add_duration(struct tr_diff_side *side, uint32_t number)
{
	const struct tr_diff_record *record = &side->records[number];
	int64_t duration = TR_INSTANT_NONE;

	if (side->normal.spent.data)
		duration = tr_instant_from_text(side->normal.spent);
	else if (record->class == TR_DIFF_EXIT)
		duration = tr_instant_between(side->images[record->group].began,
					      tr_instant_from_text(side->normal.time));
	return duration == TR_INSTANT_NONE || tr_normal_add_duration(&side->normal, duration);
}

struct tr_text tr_diff_read(struct tr_diff *diff, unsigned which, uint32_t number,
			    struct tr_error *err)
{
	struct tr_diff_side *side = &diff->sides[which];
	struct tr_text line = look_at_line(side, number, err);

	if (!line.data)
		return line;
	if (!tr_normal_read(&side->normal, line, which == 0) ||
	    (diff->times > 0 && !add_duration(side, number)) ||
	    (diff->add_fields && side->records[number].class == TR_DIFF_EXEC &&
	     !diff->add_fields(diff->context, which, number, &side->normal))) {
		tr_error_memory(err);
		line.data = NULL;
	}
	return line;
}

void tr_diff_free(struct tr_diff *diff)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		free(side->records);
		free(side->images);
		tr_spool_free(side->spool);
		tr_buffer_free(&side->window.bytes);
		tr_diff_forget_ids(side);
		tr_normal_free(&side->normal);
		tr_buffer_free(&side->line);
		tr_buffer_free(&side->scratch);
	}
	tr_renames_free(&diff->renames);
}
