/* SPDX-License-Identifier: MIT */
/*
 * Converts the environment of an exec record to a form, and puts it into the line of the record in
 * place of the old field. The rest of the line stays byte for byte.
 */
#include "process/env_line.h"

#include "record/record.h"
#include "record/tabs.h"

struct tr_field *tr_env_line_field(struct tr_record *record, enum tr_env_form *form)
{
	static const struct tr_text keys[] = { { "env", 3 }, { "envtop", 6 }, { "envdiff", 7 } };
	static const enum tr_env_form forms[] = { TR_ENV_FORM_WHOLE, TR_ENV_FORM_TOP,
						  TR_ENV_FORM_PARENT };
	size_t best = sizeof keys / sizeof *keys;
	struct tr_field *found = NULL;

	*form = TR_ENV_FORM_NONE;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return NULL;
	/* of several fields with one key the last counts */
	for (size_t i = record->count; i-- > 0;) {
		struct tr_field *field = &record->fields[i];
		if (!field->key.len || *field->key.data != 'e')
			continue;
		for (size_t k = 0; k < best; k++) {
			if (tr_text_equal(field->key, keys[k])) {
				found = field;
				*form = forms[best = k];
			}
		}
	}
	return found;
}

enum tr_status tr_env_line_map(struct tr_record *record, struct tr_field *field,
			       const struct tr_value **map, struct tr_error *err)
{
	const struct tr_value *value = tr_field_value(record, field, err);

	*map = NULL;
	if (!value)
		return tr_error_status(err);
	if (value->type == TR_MAP) {
		*map = value;
		return TR_OK;
	}
	tr_error_set(err, TR_CAUSE_INPUT, "an environment that is not a map");
	return TR_WARN;
}

enum tr_status tr_env_line_read(struct tr_environments *pool, struct tr_record *record,
				struct tr_field *field, struct tr_environment *base,
				struct tr_environment *near, struct tr_environment **env,
				bool *minimal, struct tr_error *err)
{
	const struct tr_value *map;
	bool spelled = field->text.data && !field->value;

	*minimal = true;
	*env = spelled ? tr_environments_recall(pool, base, field->text, minimal) : NULL;
	if (*env)
		return TR_OK;
	enum tr_status status = tr_env_line_map(record, field, &map, err);
	if (status != TR_OK)
		return status;
	*env = base ? tr_environment_apply(pool, base, map, minimal)
		    : tr_environment_whole(pool, near, map);
	if (!*env) {
		tr_environments_error(pool, err);
		return TR_FATAL;
	}
	if (spelled)
		tr_environments_keep(pool, base, field->text, *env, *minimal);
	return TR_OK;
}

bool tr_env_line_is_unknown(struct tr_record *record)
{
	const struct tr_value *list = tr_record_value(record, "flagged", NULL);

	for (size_t i = 0; list && list->type == TR_LIST && i < list->count; i++) {
		if (list->as.items[i].type == TR_STRING &&
		    tr_text_is(list->as.items[i].text, "env-unknown"))
			return true;
	}
	return false;
}

/* Appends the map: a difference to nothing, to the first environment, or to the parent's. */
static enum tr_status put_map(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
			      enum tr_env_form form, const char **key, struct tr_buffer *map)
{
	struct tr_environments *pool = tr_env_tracker_pool(tracker);
	size_t before = map->len;
	enum tr_status status;

	switch (form) {
	case TR_ENV_FORM_WHOLE:
		*key = "env";
		return tr_environment_diff(pool, NULL, exec->own, map);
	case TR_ENV_FORM_TOP:
		*key = "envtop";
		return tr_environment_diff(pool, exec->top, exec->own, map);
	case TR_ENV_FORM_PARENT:
		*key = "envdiff";
		if (!exec->parent)
			return TR_END;
		status = tr_environment_diff(pool, exec->parent, exec->own, map);
		if (status == TR_OK && map->len - before == sizeof "{}" - 1)
			map->len = before;
		return status;
	case TR_ENV_FORM_NONE:
		break;
	}
	return TR_OK;
}

/*
 * An environment that is inherited unchanged needs no field, except among records with envtop:
 * there a record without a field has the first environment.
 */
static void put_inherited(const struct tr_exec_env *exec, const char **key, struct tr_buffer *map)
{
	bool inherits = exec->form == TR_ENV_FORM_NONE || exec->form == TR_ENV_FORM_PARENT;

	if (!inherits || !exec->own_pending || tr_environment_is_unknown(exec->top))
		return;
	*key = "envdiff";
	tr_buffer_put_literal(map, "{}");
}

/* If the environment cannot have the wanted form, it keeps the one that it has: TR_END. */
enum tr_status tr_exec_env_convert(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
				   enum tr_env_form form, const char **key, struct tr_buffer *map)
{
	size_t before = map->len;
	enum tr_status status = TR_END;

	*key = "";
	bool spent = form != TR_ENV_FORM_PARENT &&
		     tr_environments_are_spent(tr_env_tracker_pool(tracker));
	if (!tr_exec_env_is_silent(exec) && !spent)
		status = put_map(tracker, exec, form, key, map);
	if (status != TR_END)
		return status;
	/* the record has no field, because it has the first environment */
	bool meant_top = exec->form == TR_ENV_FORM_NONE && !exec->own_pending &&
			 !tr_exec_env_is_silent(exec);
	status = put_map(tracker, exec, meant_top ? TR_ENV_FORM_TOP : exec->form, key, map);
	if (status == TR_END)
		return meant_top ? TR_END : TR_WARN;
	if (status != TR_OK)
		return status;
	if (form == TR_ENV_FORM_TOP && map->len == before)
		put_inherited(exec, key, map);
	return map->failed ? TR_FATAL : TR_END;
}

const char *tr_exec_env_trouble(struct tr_env_tracker *tracker, const struct tr_exec_env *exec)
{
	if (tr_environments_are_spent(tr_env_tracker_pool(tracker)))
		return "the environments of this trace grow beyond --max-ratio";
	if (exec->trouble && *exec->trouble)
		return exec->trouble;
	return tr_environment_is_whole(exec->top) ? "the environment of its parent is unknown"
						  : "the first environment is unknown";
}

bool tr_exec_env_is_silent(const struct tr_exec_env *exec)
{
	return exec->form == TR_ENV_FORM_NONE && tr_environment_is_unknown(exec->own);
}

/* True for the fields that contain an environment. */
static bool is_environment(struct tr_text column)
{
	/* the first letters rule out most columns, and comparing them needs no call of memcmp */
	return tr_text_starts(column, TR_TEXT("env")) &&
	       (tr_text_starts(column, TR_TEXT("env=")) ||
		tr_text_starts(column, TR_TEXT("envdiff=")) ||
		tr_text_starts(column, TR_TEXT("envtop=")));
}

/* The columns of a line after the fixed ones; each follows a TAB. */
struct columns {
	struct tr_tabs tabs;
	const char *tab; /* before the next column; the end of the line if there is none */
	/* the columns as fields of a record that is split; NULL: they are found by their TABs */
	const struct tr_field *fields;
};

static struct columns columns_begin(struct tr_text line, const struct tr_record *record)
{
	enum { FIXED = 5 };
	const char *end = line.data + line.len - 1;
	struct columns columns = { tr_tabs_begin(line.data, line.data, end), end, NULL };

	if (record && record->split && record->count && record->line.data == line.data &&
	    record->arrow == TR_NO_ARROW) {
		columns.fields = record->fields;
		columns.tab = record->rest.data;
		return columns;
	}
	for (unsigned i = 0; i < FIXED; i++)
		columns.tab = tr_tabs_next(&columns.tabs);
	return columns;
}

/* False: there is none. */
static bool next_column(struct columns *columns, struct tr_text *column)
{
	const char *tab = columns->tab;

	if (tab == columns->tabs.end)
		return false;
	if (columns->fields) {
		const struct tr_field *field = columns->fields++;
		columns->tab = field->text.data + field->text.len;
	} else {
		columns->tab = tr_tabs_next(&columns->tabs);
	}
	*column = tr_text_span(tab + 1, columns->tab);
	return true;
}

/* True for the fields that come before argv in the order of trec(5). */
static bool precedes_argv(struct tr_text column)
{
	return tr_text_starts(column, TR_TEXT("parent=")) ||
	       tr_text_starts(column, TR_TEXT("ppid=")) || tr_text_starts(column, TR_TEXT("cwd="));
}

/*
 * The column before which the field is inserted: the old field for the environment, the column
 * after argv, or the first column that argv would precede. NULL: it is appended.
 */
static const char *find_place(struct columns columns)
{
	const char *after_argv = NULL, *after_others = NULL;
	struct tr_text column;

	while (next_column(&columns, &column)) {
		if (is_environment(column))
			return column.data;
		if (tr_text_starts(column, TR_TEXT("argv=")))
			after_argv = columns.tab + 1;
		else if (!after_others && !precedes_argv(column))
			after_others = column.data;
	}
	return after_argv ? after_argv : after_others;
}

/* Appends the new field, unless its map is empty. */
static void put_new(const char *key, struct tr_text map, struct tr_buffer *to)
{
	if (!map.len)
		return;
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_byte(to, '=');
	tr_buffer_put_text(to, map);
}

/* Fields with .raw are dropped: they contain the old environment. */
bool tr_env_line_put(struct tr_text line, const struct tr_record *record, const char *key,
		     struct tr_text map, struct tr_buffer *to)
{
	struct columns columns = columns_begin(line, record);
	const char *place = find_place(columns), *copied = line.data, *end = columns.tabs.end;
	struct tr_text column;
	bool put = false;

	while (next_column(&columns, &column)) {
		bool drop = is_environment(column) || tr_text_starts(column, TR_TEXT(".raw="));
		const char *tab = column.data - 1;
		if (!drop && column.data != place)
			continue;
		tr_buffer_put_text(to, tr_text_span(copied, tab));
		copied = drop ? columns.tab : tab;
		if (column.data == place) {
			put = true;
			put_new(key, map, to);
		}
	}
	tr_buffer_put_text(to, tr_text_span(copied, end));
	if (!put)
		put_new(key, map, to);
	tr_buffer_put_byte(to, '\n');
	return !to->failed;
}
