/* SPDX-License-Identifier: MIT */
/* Records come by: what they tell of their environment, and whose it is a difference to. */
#include "process/lineage_private.h"

#include <stdlib.h>

#include "record/literal.h"

enum { MAX_HERE = 64 << 20 };

static const char is_no_map[] = "its environment is no map";
static const char is_no_number[] = "its parent is no number";
static const char was_left_out[] = "the environment of its parent is unknown";
static const char own_parent[] = "it is its own parent";
static const char not_told[] = ""; /* the record says so itself: no trouble of ours */

struct tr_lineage *tr_lineage_new(const struct tr_lineage_config *config)
{
	struct tr_lineage *lineage = calloc(1, sizeof *lineage);
	if (!lineage)
		return NULL;
	lineage->config = *config;
	lineage->pool = tr_environments_new();
	if (!lineage->pool) {
		free(lineage);
		return NULL;
	}
	tr_environments_set_rules(lineage->pool, &config->rules);
	tr_environments_limit(lineage->pool, config->max_ratio);
	tr_environments_spill(lineage->pool, MAX_HERE, config->max_spool);
	if (!tr_lineage_begin(lineage)) {
		tr_lineage_free(lineage);
		return NULL;
	}
	return lineage;
}

static void end_segment(struct tr_lineage *lineage)
{
	tr_lineage_abandon(lineage);
	tr_lineage_forget(lineage);
	tr_environment_release(lineage->pool, lineage->top);
	lineage->top = NULL;
}

void tr_lineage_free(struct tr_lineage *lineage)
{
	if (!lineage)
		return;
	end_segment(lineage);
	tr_environments_free(lineage->pool);
	tr_buffer_free(&lineage->scratch);
	free(lineage);
}

struct tr_environments *tr_lineage_pool(struct tr_lineage *lineage)
{
	return lineage->pool;
}

/* Whatever came before, the first environment is unknown from now on. */
static bool lose_top(struct tr_lineage *lineage)
{
	struct tr_environment *top = tr_environment_unknown(lineage->pool);
	if (!top)
		return false;
	tr_environment_release(lineage->pool, lineage->top);
	lineage->top = top;
	lineage->has_top = lineage->any_exec = false;
	return true;
}

bool tr_lineage_begin(struct tr_lineage *lineage)
{
	end_segment(lineage);
	lineage->only_top = true;
	lineage->any_top = lineage->names_settled = false;
	tr_environments_fold(lineage->pool, lineage->config.names == TR_NAMES_FOLDED);
	lineage->any_seq = false;
	lineage->numbered = lineage->disorder = 0;
	lineage->doubts = (struct tr_lineage_doubts){ 0 };
	return lose_top(lineage);
}

bool tr_lineage_has_top(const struct tr_lineage *lineage)
{
	return lineage->has_top;
}

struct tr_environment *tr_lineage_top(const struct tr_lineage *lineage)
{
	return lineage->top;
}

void tr_lineage_make_top(struct tr_lineage *lineage, struct tr_heir *heir)
{
	tr_lineage_set_top(lineage, heir->own);
	tr_environment_release(lineage->pool, heir->top);
	heir->top = tr_environment_retain(heir->own);
}

const struct tr_lineage_doubts *tr_lineage_doubts(const struct tr_lineage *lineage)
{
	return &lineage->doubts;
}

/* Memory, or the temporary file. */
static enum tr_status failed(const struct tr_lineage *lineage, struct tr_error *err)
{
	tr_environments_error(lineage->pool, err);
	return TR_FATAL;
}

/* The value of a field; NULL with TR_WARN where it is bad. */
static enum tr_status value_of(struct tr_record *record, struct tr_field *field,
			       const struct tr_value **value, struct tr_error *err)
{
	*value = tr_field_value(record, field, err);
	if (*value)
		return TR_OK;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

/* The map of a field; NULL where it is none. TR_FATAL: memory. */
static enum tr_status map_of(struct tr_record *record, struct tr_field *field,
			     const struct tr_value **map, struct tr_error *err)
{
	enum tr_status status = value_of(record, field, map, err);
	if (status == TR_WARN || (status == TR_OK && (*map)->type != TR_MAP))
		*map = NULL;
	return status == TR_FATAL ? TR_FATAL : TR_OK;
}

/* The env record: the first environment. */
static enum tr_status follow_env(struct tr_lineage *lineage, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "vars");
	const struct tr_value *map = NULL;
	if (field && map_of(record, field, &map, err) == TR_FATAL)
		return TR_FATAL;
	if (!map) {
		if (!lose_top(lineage))
			return failed(lineage, err);
		tr_error_set(err, TR_CAUSE_INPUT, "the first environment is no map");
		err->severity = TR_FLAW;
		return TR_WARN;
	}
	tr_lineage_look_at_env(lineage, map);
	struct tr_environment *top = tr_environment_whole(lineage->pool, NULL, map);
	if (!top)
		return failed(lineage, err);
	tr_lineage_set_top(lineage, top);
	tr_environment_release(lineage->pool, top);
	return TR_OK;
}

/* Is "env-unknown" among its flags? */
static bool is_flagged_unknown(struct tr_record *record)
{
	struct tr_field *field = tr_record_field(record, "flagged");
	const struct tr_value *list = field ? tr_field_value(record, field, NULL) : NULL;
	for (size_t i = 0; list && list->type == TR_LIST && i < list->count; i++) {
		if (list->as.items[i].type == TR_STRING &&
		    tr_text_is(list->as.items[i].text, "env-unknown"))
			return true;
	}
	return false;
}

/*
 * What the record's envdiff is against goes to heir->parent, or heir->wanted is
 * set, and *found is false.
 */
static enum tr_status find_parent(struct tr_lineage *lineage, struct tr_record *record,
				  struct tr_heir *heir, bool *found, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "parent");
	const struct tr_value *value = NULL;
	struct tr_environment *parent = lineage->top;
	bool lost;
	*found = true;
	if (field && value_of(record, field, &value, err) == TR_FATAL)
		return TR_FATAL;
	if (value && value->type == TR_UINT) {
		heir->wanted = value->as.number;
		heir->has_parent = true;
		parent = tr_lineage_find(lineage, heir->wanted, &lost);
		if (lost)
			return failed(lineage, err);
		bool self = heir->has_seq && heir->seq == heir->wanted;
		*found = parent || self || tr_lineage_has_passed(lineage, heir->wanted);
		if (!parent && *found) {
			heir->trouble = self ? own_parent : was_left_out;
			parent = tr_lineage_missing(lineage, heir->wanted);
		}
	} else if (field) {
		heir->trouble = is_no_number;
		heir->parent = tr_environment_unknown(lineage->pool);
		return heir->parent ? TR_OK : failed(lineage, err);
	}
	if (*found && !parent)
		return failed(lineage, err);
	heir->parent = tr_environment_retain(parent);
	return TR_OK;
}

/* How the record tells its environment, and the map with that; *map NULL: it is none. */
static enum tr_status find_telling(struct tr_lineage *lineage, struct tr_record *record,
				   struct tr_heir *heir, const struct tr_value **map,
				   struct tr_field **field, struct tr_error *err)
{
	struct tr_field *whole = tr_record_field(record, "env");
	struct tr_field *top = tr_record_field(record, "envtop");
	struct tr_field *parent = tr_record_field(record, "envdiff");
	*field = whole ? whole : top ? top : parent;
	heir->telling = whole ? TR_TELLS_WHOLE : top ? TR_TELLS_TOP : TR_TELLS_NOTHING;
	if (!whole && !top && parent)
		heir->telling = lineage->config.against_top ? TR_TELLS_TOP : TR_TELLS_PARENT;
	lineage->any_top |= heir->telling == TR_TELLS_TOP;
	if (*field && heir->telling != TR_TELLS_TOP)
		lineage->only_top = false;
	return *field ? map_of(record, *field, map, err) : TR_OK;
}

/* What the record's own environment is, where that depends on no parent. False: memory. */
static bool find_own(struct tr_lineage *lineage, struct tr_record *record, struct tr_heir *heir,
		     const struct tr_field *field, const struct tr_value *map)
{
	struct tr_environment *near = heir->parent ? heir->parent : heir->top;
	heir->waits_for_own = false;
	if (field && !map) {
		heir->trouble = is_no_map;
		heir->own = tr_environment_unknown(lineage->pool);
	} else if (heir->telling == TR_TELLS_WHOLE) {
		heir->own = tr_environment_whole(lineage->pool, near, map);
	} else if (heir->telling == TR_TELLS_TOP) {
		heir->own = tr_environment_apply(lineage->pool, heir->top, map, &heir->lean);
	} else if (!field && is_flagged_unknown(record)) {
		heir->trouble = not_told;
		heir->own = tr_environment_unknown(lineage->pool);
	} else if (!field &&
		   (lineage->config.against_top || (lineage->any_top && lineage->only_top))) {
		/* differences against the first one, and this one has none */
		heir->own = tr_environment_retain(heir->top);
	} else {
		heir->waits_for_own = true;
		return true;
	}
	return heir->own != NULL;
}

/* Waits for the parent, with what the record tells. False: memory. */
static bool wait(struct tr_lineage *lineage, struct tr_heir *heir, const struct tr_value *map)
{
	if (map && heir->waits_for_own) {
		tr_buffer_reset(&lineage->scratch);
		tr_literal_write(map, &lineage->scratch);
		char *copy = lineage->scratch.failed ? NULL : malloc(lineage->scratch.len);
		if (!copy)
			return false;
		memcpy(copy, lineage->scratch.data, lineage->scratch.len);
		heir->literal = (struct tr_text){ copy, lineage->scratch.len };
	}
	return tr_lineage_wait(lineage, heir);
}

static enum tr_status fill(struct tr_lineage *lineage, struct tr_record *record,
			   struct tr_heir *heir, struct tr_error *err)
{
	const struct tr_value *map = NULL;
	struct tr_field *field;
	bool found;
	enum tr_status status = find_telling(lineage, record, heir, &map, &field, err);
	if (status != TR_OK)
		return status;
	if (!tr_lineage_look_at_first(lineage, record, map))
		return failed(lineage, err);
	lineage->any_exec = lineage->names_settled = true;
	heir->top = tr_environment_retain(lineage->top);
	status = find_parent(lineage, record, heir, &found, err);
	if (status != TR_OK)
		return status;
	bool fine = find_own(lineage, record, heir, field, map);
	if (fine && found && heir->waits_for_own)
		fine = tr_heir_inherit(lineage, heir, map);
	else if (fine && !found && (heir->waits_for_own || lineage->config.wants_parent))
		fine = wait(lineage, heir, map);
	bool linked = heir->has_seq && heir->has_parent && lineage->config.wants_parent;
	if (fine && linked && lineage->waiting)
		fine = tr_lineage_link(lineage, heir);
	if (fine && heir->own && heir->has_seq)
		fine = tr_lineage_register(lineage, heir->seq, heir->own);
	return fine ? TR_OK : failed(lineage, err);
}

static enum tr_status follow_exec(struct tr_lineage *lineage, struct tr_record *record,
				  struct tr_heir **heir, struct tr_error *err)
{
	struct tr_heir *new = calloc(1, sizeof *new);
	if (!new)
		return failed(lineage, err);
	new->references = 1;
	new->has_seq = tr_cell_number(&record->seq, &new->seq);
	if (new->has_seq)
		tr_lineage_note_seq(lineage, new->seq);
	enum tr_status status = fill(lineage, record, new, err);
	if (status == TR_FATAL) {
		tr_lineage_release(lineage, new);
		return TR_FATAL;
	}
	*heir = new;
	if (new->trouble != is_no_map &&new->trouble != is_no_number)
		return TR_OK;
	tr_error_say(err, TR_CAUSE_INPUT, new->trouble);
	err->severity = TR_FLAW;
	return TR_WARN;
}

/* A trace begins inside of the segment: its first environment is another one. */
static enum tr_status follow_meta(struct tr_lineage *lineage, const struct tr_record *record,
				  struct tr_error *err)
{
	if (!lineage->any_exec || record->name.type != TR_CELL_TEXT ||
	    !tr_text_is(record->name.text, "version"))
		return TR_OK;
	return lose_top(lineage) ? TR_OK : failed(lineage, err);
}

enum tr_status tr_lineage_follow(struct tr_lineage *lineage, struct tr_record *record,
				 struct tr_heir **heir, struct tr_error *err)
{
	uint64_t seq;
	*heir = NULL;
	if (record->type != TR_RECORD)
		return TR_OK;
	bool is_exec = tr_text_is(record->kind, "exec"), is_env = tr_text_is(record->kind, "env");
	if (!is_exec && tr_cell_number(&record->seq, &seq))
		tr_lineage_note_seq(lineage, seq);
	if (tr_text_is(record->kind, "meta"))
		return follow_meta(lineage, record, err);
	if (!is_exec && !is_env)
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status =
		is_env ? follow_env(lineage, record, err) : follow_exec(lineage, record, heir, err);
	if (status != TR_FATAL && lineage->waiting && !tr_lineage_lose_patience(lineage)) {
		tr_lineage_release(lineage, *heir);
		*heir = NULL;
		return failed(lineage, err);
	}
	return status;
}
