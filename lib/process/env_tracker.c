/* SPDX-License-Identifier: MIT */
/*
 * The environments of exec records. A record is read (fill), gets the environment of its parent if
 * that is known (inherit), or is held in the queue until the parent comes, or cannot come any
 * more. The first environment (top) belongs to the segment.
 */
#include "process/env_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/spool.h"
#include "process/env_line.h"
#include "process/parent.h"
#include "process/path.h"
#include "record/literal.h"
#include "record/pending.h"

enum {
	MAX_HERE = 64 << 20,
	MAX_WEIGHT = 128 << 20,
	/*
	 * After this many records in a row with rising seqs the stream counts as ordered: a lower
	 * seq that has not come was left out, and will not come.
	 */
	IN_ORDER = 256,
};

static const char is_no_map[] = "its environment is not a map";
static const char is_no_number[] = "its parent is not a number";
static const char was_left_out[] = "the environment of its parent is unknown";
static const char own_parent[] = "it is its own parent";
static const char own_ancestor[] = "it is its own ancestor";
static const char no_trouble[] = ""; /* the record itself states that it is unknown */

/*
 * The environments of records, by seq. If all of them take much memory, those that nothing but this
 * store refers to move to a temporary file: children of any record may still come, but most have
 * come already.
 *
 * Most records have the environment of another one, so the records refer to a list of environments.
 * A value of the list is a pointer to an environment, whose place is its number in the list, or
 * 2n + 1 for an environment at offset n of the file, which has its length and its map as a literal.
 */
struct store {
	struct tr_environments *pool;
	uint64_t max_spool; /* 0: everything stays in memory */
	size_t max_weight;  /* bytes of environments in memory; 0: MAX_WEIGHT */
	struct tr_number_map known;
	void **list; /* with a reference each */
	size_t count, cap;
	struct tr_spool *spool;
	struct tr_spool_window window;
	struct tr_buffer scratch;
	size_t spill_at;
};

/* True if a value of the list is an offset: pointers are even. */
static bool is_spilled(const void *value)
{
	return (uintptr_t)value & 1;
}

/* The offset in a value that is spilled. */
static uint64_t offset_of(const void *value)
{
	return (uintptr_t)value >> 1;
}

/* The n bytes of the file from there. NULL: the pool has the error. */
static const char *look(struct store *store, uint64_t at, size_t n)
{
	struct tr_error err;
	const char *bytes = tr_spool_look(store->spool, &store->window, at, n, &err);
	if (!bytes)
		tr_environments_fail(store->pool, &err);
	return bytes;
}

/* Reads the environment at that offset; the caller owns a reference. NULL: failed. */
static struct tr_environment *fetch(struct store *store, uint64_t at)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_environment *env = NULL;
	const char *bytes = look(store, at, sizeof(size_t));
	size_t len = 0;
	if (bytes)
		memcpy(&len, bytes, sizeof len);
	bytes = bytes ? look(store, at + sizeof len, len) : NULL;
	const struct tr_value *map =
		bytes ? tr_literal_parse((struct tr_text){ bytes, len }, &arena, NULL) : NULL;
	if (map)
		env = tr_environment_whole(store->pool, NULL, map);
	tr_arena_free(&arena);
	return env;
}

/*
 * The environment of a record, no reference for the caller. NULL: unknown, or *failed. One that is
 * read back stays in memory, so that the next child of its record finds it there.
 */
static struct tr_environment *store_find(struct store *store, uint64_t seq, bool *failed)
{
	uint32_t place;
	*failed = false;
	if (!tr_number_map_get(&store->known, seq, &place))
		return NULL;
	void *value = store->list[place];
	if (!is_spilled(value))
		return value;
	struct tr_environment *env = fetch(store, offset_of(value));
	*failed = !env;
	if (!env)
		return NULL;
	tr_environment_set_place(env, place);
	return store->list[place] = env;
}

/* Writes an environment to the file and sets *value to its offset. False: no space. */
static bool spill(struct store *store, struct tr_environment *env, void **value)
{
	struct tr_buffer *text = &store->scratch;
	struct tr_error ignored;
	size_t len = 0;
	if (!store->spool)
		store->spool = tr_spool_new(store->max_spool);
	if (!store->spool)
		return false;
	uint64_t at = tr_spool_size(store->spool);
	tr_buffer_reset(text);
	tr_buffer_put(text, (const char *)&len, sizeof len);
	if (at > UINTPTR_MAX >> 1 || !tr_environment_write_plain(store->pool, env, text))
		return false;
	len = text->len - sizeof len;
	memcpy(text->data, &len, sizeof len);
	if (!tr_spool_write(store->spool, text->data, text->len, &ignored))
		return false;
	*value = (void *)(uintptr_t)(at << 1 | 1);
	return true;
}

/*
 * Moves the environments that only this store refers to into the file. *any: some were moved.
 * False: there is no more space.
 */
static bool spill_all(struct store *store, bool *any)
{
	for (size_t i = 0; i < store->count; i++) {
		struct tr_environment *env = store->list[i];
		if (is_spilled(env) || !tr_environment_is_whole(env) ||
		    tr_environment_references(env) != 1)
			continue;
		if (!spill(store, env, &store->list[i]))
			return false;
		tr_environment_release(store->pool, env);
		*any = true;
	}
	return true;
}

/* Spills repeatedly, because an environment that is a difference keeps a reference to its base. */
static void spill_if_large(struct store *store)
{
	size_t max = store->max_weight ? store->max_weight : MAX_WEIGHT;
	bool any = true, fine = true;
	if (!store->spill_at)
		store->spill_at = max;
	if (!store->max_spool || tr_environments_weight(store->pool) < store->spill_at)
		return;
	while (fine && any && tr_environments_weight(store->pool) > max / 2) {
		any = false;
		fine = spill_all(store, &any);
	}
	/* the next attempt has to be worth its time; after a failure there is none */
	size_t weight = tr_environments_weight(store->pool);
	store->spill_at = !fine ? SIZE_MAX : 2 * weight > max ? 2 * weight : max;
}

/* Sets *place to that of an environment in the list, and adds it. False: memory is exhausted. */
static bool find_place(struct store *store, struct tr_environment *env, uint32_t *place)
{
	*place = tr_environment_place(env);
	if (*place < store->count && store->list[*place] == env)
		return true;
	if (store->count == UINT32_MAX || !tr_array_room(store->list, store->count, store->cap))
		return false;
	*place = (uint32_t)store->count++;
	store->list[*place] = tr_environment_retain(env);
	tr_environment_set_place(env, *place);
	return true;
}

/*
 * Sets the environment of a record. Of several records with one seq, the last counts for those that
 * follow. False: memory is exhausted.
 */
static bool store_put(struct store *store, uint64_t seq, struct tr_environment *env)
{
	uint32_t place;
	if (!find_place(store, env, &place) || !tr_number_map_put(&store->known, seq, place))
		return false;
	spill_if_large(store);
	return true;
}

/* Forgets all records; the store can be used again. */
static void store_free(struct store *store)
{
	for (size_t i = 0; i < store->count; i++) {
		if (!is_spilled(store->list[i]))
			tr_environment_release(store->pool, store->list[i]);
	}
	free(store->list);
	store->list = NULL;
	store->count = store->cap = 0;
	tr_number_map_free(&store->known);
	tr_spool_free(store->spool);
	store->spool = NULL;
	tr_buffer_free(&store->scratch);
	tr_buffer_free(&store->window.bytes);
	store->window.at = 0;
	store->spill_at = 0;
}

struct tr_env_tracker {
	struct tr_env_tracker_config config;
	struct tr_environments *pool;
	struct tr_env_tracker_doubts doubts;
	struct tr_buffer scratch;
	struct tr_exec_env *spare; /* for the next record; NULL: none */

	/* the segment */
	struct tr_environment *top;
	bool has_top;
	bool any_exec;		/* since the trace began; a segment may have several traces */
	bool names_settled;	/* whether they are folded: the first exec record has come */
	bool any_top, only_top; /* some records, all of them, have differences to top */
	struct store store;
	struct tr_pending pending; /* struct tr_exec_env *, with a reference each */
	struct tr_id_map links;	   /* seq to 1 + its parent's, of those while some are pending */
	bool any_seq;
	uint64_t highest;  /* of all seqs */
	uint64_t numbered; /* records with a seq that came */
	uint64_t disorder; /* value of `numbered` when a seq last was not the highest */
};

/* Sets the first environment, and takes a reference. */
static void set_top(struct tr_env_tracker *tracker, struct tr_environment *env)
{
	tr_environment_retain(env);
	tr_environment_release(tracker->pool, tracker->top);
	tracker->top = env;
	tracker->has_top = true;
}

/* The names of the segment's variables: those of Windows are compared without regard to case. */

/*
 * True if the names of the segment are still to be detected, and a variable is one of Windows:
 * COMSPEC, or a name like =C:, which holds the current directory of a drive; or if the working
 * directory has a drive, like C:\src. map and record may be NULL.
 */
static bool detects_windows(const struct tr_env_tracker *tracker, const struct tr_value *map,
			    struct tr_record *record)
{
	if (tracker->config.names != TR_NAMES_AUTO || tracker->names_settled ||
	    tr_environments_are_folded(tracker->pool))
		return false;
	for (size_t i = 0; map && i < map->count; i++) {
		struct tr_text name = map->as.members[i].key;
		if (tr_text_equal_in_any_case(name, TR_TEXT("COMSPEC")) ||
		    (name.len == 3 && name.data[0] == '=' &&
		     tr_path_has_drive((struct tr_text){ name.data + 1, 2 })))
			return true;
	}
	const struct tr_value *cwd = record ? tr_record_value(record, "cwd", NULL) : NULL;
	return cwd && cwd->type == TR_STRING && tr_path_has_drive(cwd->text) &&
	       tr_path_is_absolute(cwd->text);
}

/* Folds names from here on; the first environment was made before that was known. */
static bool fold_names(struct tr_env_tracker *tracker)
{
	if (!tracker->has_top) {
		tr_environments_fold(tracker->pool, true);
		return true;
	}
	struct tr_environment *top = tr_environment_fold(tracker->pool, tracker->top);
	if (top)
		set_top(tracker, top);
	tr_environment_release(tracker->pool, top);
	return top;
}

void tr_env_tracker_release(struct tr_env_tracker *tracker, struct tr_exec_env *exec)
{
	if (!exec || --exec->references > 0)
		return;
	tr_environment_release(tracker->pool, exec->own);
	tr_environment_release(tracker->pool, exec->parent);
	tr_environment_release(tracker->pool, exec->top);
	free((char *)exec->literal.data);
	free(tracker->spare);
	tracker->spare = exec;
}

/* Counts what contradicts each reading of a record's map. False: memory is exhausted. */
static bool count_doubts(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
			 const struct tr_value *map)
{
	struct tr_env_tracker_doubts *doubts = &tracker->doubts;
	for (size_t i = 0; i < map->count; i++) {
		bool removes = map->as.members[i].value->type == TR_NULL;
		++*(removes ? &doubts->removals : &doubts->sets);
	}
	return tr_environment_doubt(tracker->pool, exec->parent, map, &doubts->against_parent) &&
	       tr_environment_doubt(tracker->pool, exec->top, map, &doubts->against_top);
}

/* Makes the environment of a record that was pending from its map. False: memory. */
static bool inherit(struct tr_env_tracker *tracker, struct tr_exec_env *exec,
		    const struct tr_value *map)
{
	if (!map) {
		exec->own = tr_environment_retain(exec->parent);
		return true;
	}
	if (tracker->config.doubts && !count_doubts(tracker, exec, map))
		return false;
	exec->own = tr_environment_apply(tracker->pool, exec->parent, map, &exec->minimal);
	exec->minimal &= map->count > 0; /* an empty map is redundant */
	return exec->own != NULL;
}

/* Records that are pending on their parent. */

/*
 * Watches the numbers of the records: if they rise, a parent with a lower number will not come any
 * more.
 */
static void note_seq(struct tr_env_tracker *tracker, uint64_t seq)
{
	tracker->numbered++;
	if (!tracker->any_seq || seq > tracker->highest)
		tracker->highest = seq;
	else
		tracker->disorder = tracker->numbered;
	tracker->any_seq = true;
}

/* True if a record with this seq will not come any more. */
static bool has_passed(const struct tr_env_tracker *tracker, uint64_t seq)
{
	return tracker->any_seq && seq < tracker->highest &&
	       tracker->numbered - tracker->disorder >= IN_ORDER &&
	       !tr_pending_find(&tracker->pending, seq);
}

static struct tr_exec_env *exec_of(const struct tr_pending_item *item)
{
	return *(struct tr_exec_env **)item->data;
}

/* True if a record is its own ancestor. At least one record of such a cycle was pending. */
static bool is_own_ancestor(const struct tr_env_tracker *tracker, const struct tr_exec_env *exec)
{
	enum { MAX_STEPS = 1000 }; /* bounds the search; longer cycles are not detected */
	uint64_t at = exec->wanted;

	for (unsigned steps = 0; exec->has_seq && steps < MAX_STEPS; steps++) {
		void *parent = tr_id_map_get(&tracker->links, at);
		if (!parent)
			return false;
		at = (uint64_t)(uintptr_t)parent - 1;
		if (at == exec->seq)
			return true;
	}
	return false;
}

/* Completes a record, whose exec->parent is known now. False: memory is exhausted. */
static bool finish_exec(struct tr_env_tracker *tracker, struct tr_exec_env *exec)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *map = NULL;

	exec->pending = false;
	if (!exec->own_pending) {
		if (!is_own_ancestor(tracker, exec))
			return true;
		exec->trouble = own_ancestor;
		tr_environment_release(tracker->pool, exec->parent);
		exec->parent = tr_environment_unknown(tracker->pool);
		return exec->parent;
	}
	if (exec->literal.data)
		map = tr_literal_parse(exec->literal, &arena, NULL);
	/* it was parsed before, so if it cannot be parsed, memory is exhausted */
	bool fine = (map || !exec->literal.data) && inherit(tracker, exec, map);
	tr_arena_free(&arena);
	return fine;
}

/* A list of records that were pending on one whose environment is known now. */
struct resolved {
	struct tr_pending_item *first, *last;
};

/*
 * Moves the records that are pending on seq from the queue to the end of the list. trouble: the
 * reason why env is not known, or NULL.
 */
static void take_resolved(struct tr_env_tracker *tracker, uint64_t seq, struct tr_environment *env,
			  const char *trouble, struct resolved *list)
{
	struct tr_pending_item *item = tr_pending_resolve(&tracker->pending, seq);

	if (!item)
		return;
	*(list->first ? &list->last->sibling : &list->first) = item;
	for (; item; item = item->sibling) {
		struct tr_exec_env *exec = exec_of(item);
		exec->parent = tr_environment_retain(env);
		if (trouble)
			exec->trouble = trouble;
		tr_pending_remove(&tracker->pending, item);
		list->last = item;
	}
}

/* Completes the records that are pending on seq, and those that are pending on them, and so on. */
static bool resolve(struct tr_env_tracker *tracker, uint64_t seq, struct tr_environment *env,
		    const char *trouble)
{
	struct resolved list = { NULL, NULL };
	bool fine = true;

	take_resolved(tracker, seq, env, trouble, &list);
	while (list.first) {
		struct tr_pending_item *item = list.first;
		struct tr_exec_env *exec = exec_of(item);
		fine = fine && finish_exec(tracker, exec);
		if (fine && exec->own_pending && exec->has_seq) {
			take_resolved(tracker, exec->seq, exec->own, NULL, &list);
			fine = store_put(&tracker->store, exec->seq, exec->own);
		}
		list.first = item->sibling;
		tr_env_tracker_release(tracker, exec);
		tr_pending_free_item(item);
	}
	return fine;
}

/* The environment of record seq is known. False: memory is exhausted. */
static bool add_known(struct tr_env_tracker *tracker, uint64_t seq, struct tr_environment *env)
{
	if (!store_put(&tracker->store, seq, env))
		return false;
	if (!tracker->pending.count)
		return true;
	bool fine = resolve(tracker, seq, env, NULL);
	if (!tracker->pending.count)
		tr_id_map_free(&tracker->links);
	return fine;
}

/* Makes an unknown environment for a record that does not come. NULL: memory is exhausted. */
static struct tr_environment *add_missing(struct tr_env_tracker *tracker, uint64_t seq)
{
	struct tr_environment *env = tr_environment_unknown(tracker->pool);
	/* its children share it */
	bool fine = env && store_put(&tracker->store, seq, env);
	tr_environment_release(tracker->pool, env);
	return fine ? env : NULL;
}

/* The parent of the record will not come in time. False: memory is exhausted. */
static bool give_up(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
		    const char *trouble)
{
	uint64_t seq = exec->wanted;
	struct tr_environment *env = add_missing(tracker, seq);

	return env && resolve(tracker, seq, env, trouble);
}

/* Finds the record on whose parent the first pending record depends in the end. NULL: none. */
static struct tr_exec_env *blocker(const struct tr_env_tracker *tracker)
{
	enum { MAX_STEPS = 64 };
	const struct tr_pending_item *item = tracker->pending.first;

	for (unsigned steps = 0; item && steps < MAX_STEPS; steps++) {
		struct tr_exec_env *exec = exec_of(item);
		item = tr_pending_find(&tracker->pending, exec->wanted);
		if (!item)
			return exec;
	}
	return NULL;
}

/* Gives up records whose parent should have come by now. False: memory is exhausted. */
static bool expire(struct tr_env_tracker *tracker)
{
	bool fine = true;

	while (fine && tracker->pending.count) {
		struct tr_exec_env *exec = blocker(tracker);
		if (!exec || exec->wanted >= tracker->highest)
			break;
		uint64_t since = exec->since > tracker->disorder ? exec->since : tracker->disorder;
		if (tracker->numbered - since < IN_ORDER)
			break;
		fine = give_up(tracker, exec, was_left_out);
	}
	return fine;
}

bool tr_env_tracker_settle(struct tr_env_tracker *tracker)
{
	const struct tr_pending_item *item;
	bool cycle, fine = true;

	while (fine && (item = tr_pending_stuck(&tracker->pending, &cycle)))
		fine = give_up(tracker, exec_of(item), cycle ? own_ancestor : was_left_out);
	return fine;
}

/* Forgets all records that are pending. */
static void abandon(struct tr_env_tracker *tracker)
{
	const struct tr_pending_item *item = tracker->pending.first;

	for (; item; item = item->next) {
		exec_of(item)->pending = false;
		tr_env_tracker_release(tracker, exec_of(item));
	}
	tr_pending_free(&tracker->pending);
	tr_id_map_free(&tracker->links);
}

/* The segment, and its records. */

struct tr_env_tracker *tr_env_tracker_new(const struct tr_env_tracker_config *config)
{
	struct tr_env_tracker *tracker = calloc(1, sizeof *tracker);
	if (!tracker)
		return NULL;
	tracker->config = *config;
	tracker->pool = tr_environments_new();
	if (!tracker->pool) {
		free(tracker);
		return NULL;
	}
	tracker->pending = (struct tr_pending)TR_PENDING_INIT(struct tr_exec_env *);
	tracker->store.pool = tracker->pool;
	tracker->store.max_spool = config->max_spool;
	tracker->store.max_weight = config->max_weight;
	tr_environments_set_rules(tracker->pool, &config->rules);
	tr_environments_limit(tracker->pool, config->max_ratio);
	tr_environments_spill(tracker->pool, MAX_HERE, config->max_spool);
	if (!tr_env_tracker_begin(tracker)) {
		tr_env_tracker_free(tracker);
		return NULL;
	}
	return tracker;
}

/* Forgets all that belongs to a segment. */
static void end_segment(struct tr_env_tracker *tracker)
{
	abandon(tracker);
	store_free(&tracker->store);
	tr_environment_release(tracker->pool, tracker->top);
	tracker->top = NULL;
}

void tr_env_tracker_free(struct tr_env_tracker *tracker)
{
	if (!tracker)
		return;
	end_segment(tracker);
	tr_environments_free(tracker->pool);
	tr_buffer_free(&tracker->scratch);
	free(tracker->spare);
	free(tracker);
}

struct tr_environments *tr_env_tracker_pool(struct tr_env_tracker *tracker)
{
	return tracker->pool;
}

/* The first environment is unknown from here on. */
static bool forget_top(struct tr_env_tracker *tracker)
{
	struct tr_environment *top = tr_environment_unknown(tracker->pool);
	if (!top)
		return false;
	tr_environment_release(tracker->pool, tracker->top);
	tracker->top = top;
	tracker->has_top = tracker->any_exec = false;
	return true;
}

bool tr_env_tracker_begin(struct tr_env_tracker *tracker)
{
	end_segment(tracker);
	tracker->only_top = true;
	tracker->any_top = tracker->names_settled = false;
	tr_environments_fold(tracker->pool, tracker->config.names == TR_NAMES_FOLDED);
	tracker->any_seq = false;
	tracker->numbered = tracker->disorder = 0;
	tracker->doubts = (struct tr_env_tracker_doubts){ 0 };
	return forget_top(tracker);
}

bool tr_env_tracker_has_top(const struct tr_env_tracker *tracker)
{
	return tracker->has_top;
}

struct tr_environment *tr_env_tracker_top(const struct tr_env_tracker *tracker)
{
	return tracker->top;
}

void tr_env_tracker_make_top(struct tr_env_tracker *tracker, struct tr_exec_env *exec)
{
	set_top(tracker, exec->own);
	tr_environment_release(tracker->pool, exec->top);
	exec->top = tr_environment_retain(exec->own);
}

const struct tr_env_tracker_doubts *tr_env_tracker_doubts(const struct tr_env_tracker *tracker)
{
	return &tracker->doubts;
}

/* Sets err: memory is exhausted, or the temporary file failed. */
static enum tr_status failed(const struct tr_env_tracker *tracker, struct tr_error *err)
{
	tr_environments_error(tracker->pool, err);
	return TR_FATAL;
}

/* Reads the map in a field; NULL if it is none. TR_FATAL: memory is exhausted. */
static enum tr_status map_of(struct tr_record *record, struct tr_field *field,
			     const struct tr_value **map, struct tr_error *err)
{
	*map = NULL;
	return field && tr_env_line_map(record, field, map, err) == TR_FATAL ? TR_FATAL : TR_OK;
}

/* Follows an env record: the first environment. */
static enum tr_status follow_env(struct tr_env_tracker *tracker, struct tr_record *record,
				 struct tr_error *err)
{
	const struct tr_value *map;
	if (map_of(record, tr_record_field(record, "vars"), &map, err) == TR_FATAL)
		return TR_FATAL;
	if (!map) {
		if (!forget_top(tracker))
			return failed(tracker, err);
		tr_error_set(err, TR_CAUSE_INPUT, "the first environment is not a map");
		err->severity = TR_FLAW;
		return TR_WARN;
	}
	if (detects_windows(tracker, map, NULL))
		tr_environments_fold(tracker->pool, true);
	struct tr_environment *top = tr_environment_whole(tracker->pool, NULL, map);
	if (!top)
		return failed(tracker, err);
	set_top(tracker, top);
	tr_environment_release(tracker->pool, top);
	return TR_OK;
}

/*
 * Sets exec->parent to the base of the record's envdiff; or, with *found false, exec->wanted to the
 * record that it has to be pending on. False: memory is exhausted, or the temporary file failed.
 */
static bool find_parent(struct tr_env_tracker *tracker, struct tr_record *record,
			struct tr_exec_env *exec, bool *found)
{
	struct tr_parent parent;
	bool failed;

	*found = true;
	if (!tr_parent_read(record, &parent))
		return false;
	if (parent.kind != TR_PARENT_RECORD) {
		exec->parent = tr_environment_retain(tracker->top);
		return true;
	}
	if (parent.seq == TR_NO_POSITION) {
		exec->trouble = is_no_number;
		exec->parent = tr_environment_unknown(tracker->pool);
		return exec->parent;
	}
	exec->has_parent = true;
	exec->wanted = parent.seq;
	struct tr_environment *env = store_find(&tracker->store, parent.seq, &failed);
	bool self = exec->has_seq && exec->seq == parent.seq;
	if (!env && !failed && !self && !has_passed(tracker, parent.seq)) {
		*found = false;
		return true;
	}
	if (!env && !failed) {
		exec->trouble = self ? own_parent : was_left_out;
		env = add_missing(tracker, parent.seq);
	}
	exec->parent = tr_environment_retain(env);
	return env;
}

/* Finds the field for the record's environment, and its form. */
static struct tr_field *find_form(struct tr_env_tracker *tracker, struct tr_record *record,
				  struct tr_exec_env *exec)
{
	struct tr_field *field = tr_env_line_field(record, &exec->form);
	if (exec->form == TR_ENV_FORM_PARENT && tracker->config.against_top)
		exec->form = TR_ENV_FORM_TOP;
	tracker->any_top |= exec->form == TR_ENV_FORM_TOP;
	if (field && exec->form != TR_ENV_FORM_TOP)
		tracker->only_top = false;
	return field;
}

/* Makes the record's own environment from its field. False: memory. */
static bool read_own(struct tr_env_tracker *tracker, struct tr_record *record,
		     struct tr_exec_env *exec, struct tr_field *field)
{
	struct tr_environment *near = exec->parent ? exec->parent : exec->top, *base = NULL;
	struct tr_error err;

	if (exec->form != TR_ENV_FORM_WHOLE)
		base = exec->form == TR_ENV_FORM_TOP ? exec->top : exec->parent;
	enum tr_status status = tr_env_line_read(tracker->pool, record, field, base, near,
						 &exec->own, &exec->minimal, &err);
	if (status == TR_WARN) {
		exec->trouble = is_no_map;
		exec->own = tr_environment_unknown(tracker->pool);
	} else if (status == TR_FATAL) {
		tr_environments_fail(tracker->pool, &err);
	} else if (exec->form == TR_ENV_FORM_PARENT) {
		exec->own_pending = true;
		/* an empty map is redundant */
		exec->minimal &= exec->own != exec->parent;
	}
	return exec->own != NULL;
}

/*
 * Finds the record's own environment, unless it depends on a parent that is not known yet. map:
 * that of the field, only read if doubts are counted or the record has to be pending. False:
 * memory.
 */
static bool find_own(struct tr_env_tracker *tracker, struct tr_record *record,
		     struct tr_exec_env *exec, struct tr_field *field, const struct tr_value *map,
		     bool found)
{
	exec->own_pending = false;
	if (field && exec->form == TR_ENV_FORM_PARENT && !found && map) {
		exec->own_pending = true;
		return true;
	}
	if (field && exec->form == TR_ENV_FORM_PARENT && map && tracker->config.doubts &&
	    !count_doubts(tracker, exec, map))
		return false;
	if (field)
		return read_own(tracker, record, exec, field);
	if (tr_env_line_is_unknown(record)) {
		exec->trouble = no_trouble;
		exec->own = tr_environment_unknown(tracker->pool);
	} else if (tracker->config.against_top || (tracker->any_top && tracker->only_top)) {
		/* a segment of differences to the first environment, and this record has none */
		exec->own = tr_environment_retain(exec->top);
	} else {
		exec->own_pending = true;
		return !found || inherit(tracker, exec, NULL);
	}
	return exec->own != NULL;
}

/* Makes the record pending on exec->wanted, with a copy of its map. False: memory. */
static bool hold(struct tr_env_tracker *tracker, struct tr_exec_env *exec,
		 const struct tr_value *map)
{
	struct tr_pending *queue = &tracker->pending;

	if (map && exec->own_pending) {
		tr_buffer_reset(&tracker->scratch);
		tr_literal_write(map, &tracker->scratch);
		char *copy = tracker->scratch.failed ? NULL : malloc(tracker->scratch.len);
		if (!copy)
			return false;
		memcpy(copy, tracker->scratch.data, tracker->scratch.len);
		exec->literal = (struct tr_text){ copy, tracker->scratch.len };
	}
	struct tr_pending_item *item = tr_pending_add(queue, &exec, TR_TEXT(""), 0);
	if (!item)
		return false;
	exec->references++;
	exec->pending = true;
	exec->since = tracker->numbered;
	return tr_pending_hold(queue, item, exec->wanted) &&
	       (!exec->has_seq || !exec->own_pending || tr_pending_name(queue, item, exec->seq));
}

/* Reads the environment of an exec record, as far as it is known now. TR_FATAL: err is filled. */
static enum tr_status fill(struct tr_env_tracker *tracker, struct tr_record *record,
			   struct tr_exec_env *exec, struct tr_error *err)
{
	struct tr_field *field = find_form(tracker, record, exec);
	const struct tr_value *map = NULL;
	bool found;
	/* the first exec record decides how names are compared */
	bool names = tracker->config.names == TR_NAMES_AUTO && !tracker->names_settled;
	if ((names || tracker->config.doubts) && map_of(record, field, &map, err) == TR_FATAL)
		return TR_FATAL;
	if (detects_windows(tracker, map, record) && !fold_names(tracker))
		return failed(tracker, err);
	tracker->any_exec = tracker->names_settled = true;
	exec->top = tr_environment_retain(tracker->top);
	bool fine = find_parent(tracker, record, exec, &found);
	/* a record that has to be pending keeps its map */
	if (fine && !found && map_of(record, field, &map, err) == TR_FATAL)
		return TR_FATAL;
	fine = fine && find_own(tracker, record, exec, field, map, found);
	if (fine && !found && (exec->own_pending || tracker->config.wants_parent))
		fine = hold(tracker, exec, map);
	bool linked = exec->has_seq && exec->has_parent && tracker->config.wants_parent;
	/* while a record is pending, the parent of any record may close a cycle */
	void *parent = (void *)(uintptr_t)(exec->wanted + 1);
	if (fine && linked && tracker->pending.count && parent)
		fine = tr_id_map_put(&tracker->links, exec->seq, parent);
	if (fine && exec->own && exec->has_seq)
		fine = add_known(tracker, exec->seq, exec->own);
	return fine ? TR_OK : failed(tracker, err);
}

/*
 * Follows an exec record. *exec belongs to the caller, who releases it. TR_WARN: its environment
 * cannot be read; *exec is set all the same.
 */
static enum tr_status follow_exec(struct tr_env_tracker *tracker, struct tr_record *record,
				  struct tr_exec_env **exec, struct tr_error *err)
{
	struct tr_exec_env *new = tracker->spare ? tracker->spare : malloc(sizeof *new);
	if (!new)
		return failed(tracker, err);
	tracker->spare = NULL;
	*new = (struct tr_exec_env){ .references = 1 };
	new->has_seq = tr_cell_number(&record->seq, &new->seq);
	if (new->has_seq)
		note_seq(tracker, new->seq);
	enum tr_status status = fill(tracker, record, new, err);
	if (status == TR_FATAL) {
		tr_env_tracker_release(tracker, new);
		return TR_FATAL;
	}
	*exec = new;
	if (new->trouble != is_no_map &&new->trouble != is_no_number)
		return TR_OK;
	tr_error_say(err, TR_CAUSE_INPUT, new->trouble);
	err->severity = TR_FLAW;
	return TR_WARN;
}

/* A trace that begins inside the segment has another first environment. */
static enum tr_status follow_meta(struct tr_env_tracker *tracker, const struct tr_record *record,
				  struct tr_error *err)
{
	if (!tracker->any_exec || record->name.type != TR_CELL_TEXT ||
	    !tr_text_is(record->name.text, "version"))
		return TR_OK;
	return forget_top(tracker) ? TR_OK : failed(tracker, err);
}

enum tr_status tr_env_tracker_follow(struct tr_env_tracker *tracker, struct tr_record *record,
				     struct tr_exec_env **exec, struct tr_error *err)
{
	uint64_t seq;
	*exec = NULL;
	if (record->type != TR_RECORD)
		return TR_OK;
	bool is_exec = tr_text_is(record->kind, "exec"), is_env = tr_text_is(record->kind, "env");
	if (!is_exec && tr_cell_number(&record->seq, &seq))
		note_seq(tracker, seq);
	if (tr_text_is(record->kind, "meta"))
		return follow_meta(tracker, record, err);
	if (!is_exec && !is_env)
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status =
		is_env ? follow_env(tracker, record, err) : follow_exec(tracker, record, exec, err);
	if (status != TR_FATAL && tracker->pending.count && !expire(tracker)) {
		tr_env_tracker_release(tracker, *exec);
		*exec = NULL;
		return failed(tracker, err);
	}
	return status;
}
