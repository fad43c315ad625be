/*
 * --rebase: a program's environment is told as a difference against its
 * parent's, and the parent may be left out. Every exec record that comes by is
 * followed; those that are kept say their difference against the env record.
 */
#include "config.h"

#include "tr_filter.h"

#include "process/environment.h"

bool tr_rebase_begin(struct tr_rebase *rebase)
{
	static const struct tr_value empty = { .type = TR_MAP };

	tr_rebase_free(rebase);
	rebase->pool = tr_environments_new();
	/* without an env record the first environment is empty, and not unknown */
	if (rebase->pool)
		rebase->top = tr_environment_whole(rebase->pool, NULL, &empty);
	return rebase->top != NULL;
}

void tr_rebase_free(struct tr_rebase *rebase)
{
	if (rebase->pool) {
		tr_environment_release(rebase->pool, rebase->top);
		tr_environment_release(rebase->pool, rebase->own);
	}
	tr_environments_free(rebase->pool);
	tr_buffer_free(&rebase->line);
	*rebase = (struct tr_rebase){ 0 };
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

static enum tr_status flaw(struct tr_error *err, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: this environment is not rebased", what);
	err->severity = TR_FLAW;
	return TR_WARN;
}

/* The map of a field, TR_WARN where it is none. */
static enum tr_status map_of(struct tr_record *record, struct tr_field *field,
			     const struct tr_value **map, struct tr_error *err)
{
	const struct tr_value *value = tr_field_value(record, field, err);

	if (!value && err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	if (!value || value->type != TR_MAP)
		return flaw(err, "an environment that is no map");
	*map = value;
	return TR_OK;
}

/* The env record: what all differences are against. */
static enum tr_status follow_env(struct tr_rebase *rebase, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_field *vars = tr_record_field(record, "vars");
	const struct tr_value *map;

	if (!vars)
		return TR_OK;
	enum tr_status status = map_of(record, vars, &map, err);
	if (status != TR_OK)
		return status;
	tr_environment_release(rebase->pool, rebase->top);
	rebase->top = tr_environment_whole(rebase->pool, NULL, map);
	return rebase->top ? TR_OK : out_of_memory(err);
}

/* What the record's difference is against. TR_WARN: its parent did not come by. */
static enum tr_status find_parent(struct tr_rebase *rebase, struct tr_record *record,
				  struct tr_environment **parent, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "parent");

	*parent = rebase->top;
	if (!field)
		return TR_OK;
	const struct tr_value *seq = tr_field_value(record, field, err);
	if (!seq && err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	*parent = NULL;
	if (seq && seq->type == TR_UINT)
		*parent = tr_environments_of(rebase->pool, seq->as.number);
	return *parent ? TR_OK : flaw(err, "the environment of the parent is not known");
}

/* The record's environment out of its own field, or its parent's where it has none. */
static enum tr_status find_own(struct tr_rebase *rebase, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_field *whole = tr_record_field(record, "env");
	struct tr_field *against_top = tr_record_field(record, "envtop");
	struct tr_field *against_parent = tr_record_field(record, "envdiff");
	struct tr_field *field = whole ? whole : against_top ? against_top : against_parent;
	struct tr_environment *base = rebase->top;
	const struct tr_value *map = NULL;
	enum tr_status status = TR_OK;

	if (!field || field == against_parent)
		status = find_parent(rebase, record, &base, err);
	if (status == TR_OK && field)
		status = map_of(record, field, &map, err);
	if (status != TR_OK)
		return status;
	if (!field)
		rebase->own = tr_environment_retain(base);
	else if (field == whole)
		rebase->own = tr_environment_whole(rebase->pool, base, map);
	else
		rebase->own = tr_environment_apply(rebase->pool, base, map);
	return rebase->own ? TR_OK : out_of_memory(err);
}

static enum tr_status follow_exec(struct tr_rebase *rebase, struct tr_record *record,
				  struct tr_error *err)
{
	enum tr_status status = find_own(rebase, record, err);
	uint64_t seq;

	if (status != TR_OK)
		return status;
	if (tr_cell_number(&record->seq, &seq) &&
	    !tr_environments_remember(rebase->pool, seq, rebase->own))
		return out_of_memory(err);
	rebase->known = true;
	return TR_OK;
}

enum tr_status tr_rebase_follow(struct tr_rebase *rebase, struct tr_record *record,
				struct tr_error *err)
{
	tr_environment_release(rebase->pool, rebase->own);
	rebase->own = NULL;
	rebase->known = false;
	bool is_env = tr_text_equal(record->kind, TR_TEXT("env"));
	bool is_exec = tr_text_equal(record->kind, TR_TEXT("exec"));
	if (!is_env && !is_exec)
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	return is_env ? follow_env(rebase, record, err) : follow_exec(rebase, record, err);
}

static bool is_environment(struct tr_text column)
{
	return tr_text_starts(column, TR_TEXT("env=")) ||
	       tr_text_starts(column, TR_TEXT("envdiff=")) ||
	       tr_text_starts(column, TR_TEXT("envtop="));
}

static bool put_difference(struct tr_rebase *rebase)
{
	tr_buffer_put_literal(&rebase->line, "\tenvtop=");
	return tr_environment_diff(rebase->pool, rebase->top, rebase->own, &rebase->line) == TR_OK;
}

/* The place of the environment is that of the old one, else behind argv, else the end. */
static bool put_columns(struct tr_rebase *rebase, const char *p, const char *end, bool has_old)
{
	bool put = false, fine = true;

	while (p < end && fine) {
		const char *tab = memchr(p + 1, '\t', (size_t)(end - p - 1));
		struct tr_text column = tr_text_span(p + 1, tab ? tab : end);
		bool old = is_environment(column);
		if (!old)
			tr_buffer_put(&rebase->line, p, column.len + 1);
		if (!put && (old || (!has_old && tr_text_starts(column, TR_TEXT("argv="))))) {
			put = true;
			fine = put_difference(rebase);
		}
		p = tab ? tab : end;
	}
	return fine && (put || put_difference(rebase));
}

bool tr_rebase_write(struct tr_rebase *rebase, struct tr_record *record, struct tr_text *line)
{
	struct tr_record parsed = { .arena = record->arena };

	if (!rebase->known || !tr_text_equal(record->kind, TR_TEXT("exec")) ||
	    !tr_record_from_line(&parsed, *line, NULL))
		return true;
	const char *rest = parsed.rest.data, *end = rest + parsed.rest.len;
	bool has_old = tr_record_field(record, "env") || tr_record_field(record, "envdiff") ||
		       tr_record_field(record, "envtop");
	tr_buffer_reset(&rebase->line);
	tr_buffer_put(&rebase->line, line->data, (size_t)(rest - line->data));
	if (!put_columns(rebase, rest, end, has_old))
		return false;
	tr_buffer_put_byte(&rebase->line, '\n');
	*line = tr_buffer_text(&rebase->line);
	return !rebase->line.failed;
}
