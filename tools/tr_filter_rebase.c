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

/* The map of a field. NULL: it is none, or memory is out. */
static const struct tr_value *map_of(struct tr_record *record, struct tr_field *field)
{
	const struct tr_value *value = tr_field_value(record, field, NULL);

	return value && value->type == TR_MAP ? value : NULL;
}

/* The env record: what all differences are against. */
static enum tr_status follow_env(struct tr_rebase *rebase, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_field *vars = tr_record_field(record, "vars");
	const struct tr_value *map = vars ? map_of(record, vars) : NULL;

	if (!map)
		return vars ? flaw(err, "vars is no map") : TR_OK;
	tr_environment_release(rebase->pool, rebase->top);
	rebase->top = tr_environment_whole(rebase->pool, NULL, map);
	return rebase->top ? TR_OK : out_of_memory(err);
}

/* What the record's difference is against. False: its parent did not come by. */
static bool find_parent(struct tr_rebase *rebase, struct tr_record *record,
			struct tr_environment **parent)
{
	struct tr_field *field = tr_record_field(record, "parent");

	*parent = rebase->top;
	if (!field)
		return true;
	const struct tr_value *seq = tr_field_value(record, field, NULL);
	if (seq && seq->type == TR_UINT)
		*parent = tr_environments_of(rebase->pool, seq->as.number);
	return seq && seq->type == TR_UINT && *parent;
}

static enum tr_status follow_exec(struct tr_rebase *rebase, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_field *whole = tr_record_field(record, "env");
	struct tr_field *against_top = tr_record_field(record, "envtop");
	struct tr_field *against_parent = tr_record_field(record, "envdiff");
	struct tr_field *field = whole ? whole : against_top ? against_top : against_parent;
	struct tr_environment *base = rebase->top;
	uint64_t seq;

	if ((!field || field == against_parent) && !find_parent(rebase, record, &base))
		return flaw(err, "the environment of the parent is not known");
	const struct tr_value *map = field ? map_of(record, field) : NULL;
	if (field && !map)
		return flaw(err, "an environment that is no map");
	if (!field)
		rebase->own = tr_environment_retain(base);
	else if (field == whole)
		rebase->own = tr_environment_whole(rebase->pool, base, map);
	else
		rebase->own = tr_environment_apply(rebase->pool, base, map);
	if (!rebase->own || (tr_cell_number(&record->seq, &seq) &&
			     !tr_environments_remember(rebase->pool, seq, rebase->own)))
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
	if (tr_text_equal(record->kind, TR_TEXT("env")))
		return follow_env(rebase, record, err);
	if (tr_text_equal(record->kind, TR_TEXT("exec")))
		return follow_exec(rebase, record, err);
	return TR_OK;
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
	return tr_environment_diff(rebase->pool, rebase->top, rebase->own, &rebase->line);
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
