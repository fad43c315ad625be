/* One record, with its environment told as it was asked for. */
#include "config.h"

#include "tr_envdiff.h"

#include "record/literal.h"

bool tr_envdiff_put(struct tr_envdiff *envdiff, struct tr_record *record)
{
	return envdiff->mask ? tr_mask_put(envdiff, record)
			     : tr_cli_put_line(envdiff->cli, record);
}

static bool put_out(struct tr_envdiff *envdiff, struct tr_text line)
{
	struct tr_record record = { .line = line };

	return tr_envdiff_put(envdiff, &record);
}

/* The record as a line; data NULL: it cannot be written, which is reported. */
static struct tr_text line_of(struct tr_envdiff *envdiff, struct tr_record *record,
			      struct tr_buffer *scratch)
{
	struct tr_error err;

	if (record->line.data)
		return record->line;
	tr_buffer_reset(scratch);
	switch (tr_record_write(record, scratch, &err)) {
	case TR_OK:
		return tr_buffer_text(scratch);
	case TR_FATAL:
		tr_envdiff_out_of_memory(envdiff);
		break;
	default:
		tr_cli_report_record(envdiff->cli, record, &err, true);
	}
	return (struct tr_text){ NULL, 0 };
}

static const char *name_of(enum tr_telling telling)
{
	return telling == TR_TELLS_WHOLE ? "env" : telling == TR_TELLS_TOP ? "envtop" : "envdiff";
}

/* It could not be told as it was asked for: is that trouble, worth a word, or nothing? */
static void tell_of_failure(struct tr_envdiff *envdiff, struct tr_record *record,
			    const struct tr_heir *heir)
{
	struct tr_error err;

	if (heir->telling == TR_TELLS_WHOLE) {
		envdiff->kept_whole++;
		return;
	}
	tr_error_set(&err, TR_CAUSE_INPUT, "%s: there is no %s for it",
		     tr_heir_trouble(envdiff->lineage, heir), name_of(envdiff->base));
	err.severity = TR_FLAW;
	tr_cli_report_record(envdiff->cli, record, &err, false);
}

/* The line with another value in the place of a field's. */
static bool put_value(struct tr_envdiff *envdiff, struct tr_text line, struct tr_text key,
		      struct tr_text value)
{
	struct tr_buffer *to = &envdiff->line;
	const char *p = line.data, *end = line.data + line.len - 1;

	tr_buffer_reset(to);
	while (p < end) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		struct tr_text column = tr_text_span(p, tab ? tab : end);
		if (p > line.data)
			tr_buffer_put_byte(to, '\t');
		if (column.len > key.len && column.data[key.len] == '=' &&
		    tr_text_starts(column, key)) {
			tr_buffer_put(to, column.data, key.len + 1);
			tr_buffer_put_text(to, value);
		} else if (!tr_text_starts(column, TR_TEXT(".raw="))) {
			tr_buffer_put_text(to, column);
		} else if (p > line.data) {
			to->len--;
		}
		p = tab ? tab + 1 : end;
	}
	tr_buffer_put_byte(to, '\n');
	return to->failed ? tr_envdiff_out_of_memory(envdiff)
			  : put_out(envdiff, tr_buffer_text(to));
}

bool tr_envdiff_leave_out(struct tr_envdiff *envdiff, struct tr_record *record, const char *why)
{
	struct tr_error err;

	tr_error_say_in(&err, TR_CAUSE_INPUT, why,
			"%s: left out, because it may contain a masked value", why);
	envdiff->left_out++;
	tr_cli_report_record(envdiff->cli, record, &err, false);
	return !envdiff->cli->stop;
}

/* The env record, without what is not wanted of it. */
static bool write_env(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_text line)
{
	struct tr_environments *pool = tr_lineage_pool(envdiff->lineage);
	struct tr_field *field = tr_record_field(record, "vars");
	const struct tr_value *map = field ? tr_field_value(record, field, NULL) : NULL;

	if (!map || map->type != TR_MAP)
		return tr_envdiff_leave_out(envdiff, record, "an env record without a map");
	struct tr_environment *env = tr_environment_whole(pool, NULL, map);
	tr_buffer_reset(&envdiff->map);
	bool fine = env && tr_environment_write(pool, env, &envdiff->map);
	tr_environment_release(pool, env);
	return fine ? put_value(envdiff, line, TR_TEXT("vars"), tr_buffer_text(&envdiff->map))
		    : tr_envdiff_out_of_memory(envdiff);
}

/* etrace's envset: var="NAME=value". */
static bool write_set(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_text line)
{
	struct tr_environments *pool = tr_lineage_pool(envdiff->lineage);
	struct tr_field *field = tr_record_field(record, "var");
	const struct tr_value *var = field ? tr_field_value(record, field, NULL) : NULL;
	const char *equals = var && var->type == TR_STRING && var->text.len > 1
				     ? memchr(var->text.data + 1, '=', var->text.len - 1)
				     : NULL;

	if (!equals)
		return tr_envdiff_leave_out(envdiff, record, "an envset record without NAME=value");
	struct tr_text name = tr_text_span(var->text.data, equals);
	unsigned verdict;
	if (!tr_environments_judge(pool, name, &verdict))
		return tr_envdiff_out_of_memory(envdiff);
	if (!(verdict & TR_NAME_SELECTED)) {
		envdiff->left_out++;
		return true;
	}
	if (!(verdict & TR_NAME_HIDDEN))
		return put_out(envdiff, line);
	tr_buffer_reset(&envdiff->map);
	tr_buffer_put_byte(&envdiff->map, '"');
	tr_buffer_put_text(&envdiff->map, name);
	tr_buffer_put_literal(&envdiff->map, "=***\"");
	return put_value(envdiff, line, TR_TEXT("var"), tr_buffer_text(&envdiff->map));
}

bool tr_envdiff_write_other(struct tr_envdiff *envdiff, struct tr_record *record)
{
	bool is_record = record->type == TR_RECORD;
	bool is_set = is_record && tr_text_is(record->kind, "envset");

	envdiff->sets_seen |= is_set;
	if (!is_record || !tr_name_globs_are_set(&envdiff->globs))
		return tr_envdiff_put(envdiff, record);
	bool is_env = tr_text_is(record->kind, "env");
	if (tr_text_is(record->kind, "raw"))
		return tr_envdiff_leave_out(envdiff, record, "a raw record");
	if (tr_text_is(record->kind, "line"))
		return tr_envdiff_leave_out(envdiff, record, "a line record");
	if (!is_env && !is_set)
		return tr_envdiff_put(envdiff, record);
	struct tr_text line = line_of(envdiff, record, &envdiff->scratch);
	if (!line.data)
		return !envdiff->cli->stop;
	return is_env ? write_env(envdiff, record, line) : write_set(envdiff, record, line);
}

/* The record tells its environment as it was asked for, so its own order and spelling may stay. */
static bool says_it_already(const struct tr_envdiff *envdiff, const struct tr_heir *heir)
{
	bool renamed = heir->telling == TR_TELLS_TOP && envdiff->input_base != TR_INPUT_PARENT;

	return heir->telling == envdiff->base && !heir->trouble && !renamed &&
	       (heir->lean || heir->telling == TR_TELLS_WHOLE);
}

bool tr_envdiff_write_exec(struct tr_envdiff *envdiff, struct tr_record *record,
			   const struct tr_heir *heir)
{
	struct tr_text line = line_of(envdiff, record, &envdiff->scratch);
	const char *key;

	if (!line.data)
		return !envdiff->cli->stop;
	envdiff->execs++;
	bool rules = tr_name_globs_are_set(&envdiff->globs);
	if (!rules && says_it_already(envdiff, heir))
		return put_out(envdiff, line);
	bool silent = tr_heir_is_silent(heir);
	envdiff->untold += silent;
	tr_buffer_reset(&envdiff->map);
	if (envdiff->base != TR_TELLS_PARENT)
		tr_environments_may_write(tr_lineage_pool(envdiff->lineage), line.len);
	enum tr_status status =
		tr_heir_tell(envdiff->lineage, heir, envdiff->base, &key, &envdiff->map);
	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status != TR_OK && !silent)
		tell_of_failure(envdiff, record, heir);
	if (envdiff->cli->stop)
		return false;
	/* what is no map may hold anything, so under rules it goes */
	if (status == TR_WARN && !rules)
		return put_out(envdiff, line);
	tr_buffer_reset(&envdiff->line);
	if (!tr_env_line_put(line, key, tr_buffer_text(&envdiff->map), &envdiff->line))
		return tr_envdiff_out_of_memory(envdiff);
	return put_out(envdiff, tr_buffer_text(&envdiff->line));
}

bool tr_envdiff_render_top(struct tr_envdiff *envdiff, struct tr_environment *env,
			   struct tr_buffer *line)
{
	struct tr_environments *pool = tr_lineage_pool(envdiff->lineage);

	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "env\t-\t-\t-\t-\tvars=");
	bool fine = tr_environment_write(pool, env, line);
	tr_buffer_put_byte(line, '\n');
	return (fine && !line->failed) || tr_envdiff_out_of_memory(envdiff);
}
