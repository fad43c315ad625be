/* SPDX-License-Identifier: MIT */
/* tr-envdiff: options, and the path of a line through the tool. */

#include "tr_envdiff.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/literal.h"

bool tr_envdiff_out_of_memory(struct tr_envdiff *envdiff)
{
	struct tr_error err;

	if (envdiff->tracker)
		tr_environments_error(tr_env_tracker_pool(envdiff->tracker), &err);
	else
		tr_error_memory(&err);
	return tr_cli_abort(envdiff->cli, &err);
}

/*
 * True if variables are selected or hidden, so that no environment may be written as it was read.
 */
static bool has_globs(const struct tr_name_globs *globs)
{
	return globs->keep.count || globs->drop.count || globs->mask.count;
}

/* Tries all patterns, because patterns that never match are reported. */
static bool matches(struct tr_globs *globs, const char *name, int flags)
{
	bool any = false;

	for (size_t i = 0; i < globs->count; i++) {
		if (fnmatch(globs->list[i].pattern, name, flags) == 0)
			globs->list[i].used = any = true;
	}
	return any;
}

/* Returns the end of a bracket expression, after its ']'. NULL: it has none. */
static const char *bracket_end(const char *p)
{
	p += *p == '!' || *p == '^';
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '[' && p[1] && strchr(":=.", p[1])) {
			const char end[] = { p[1], ']', '\0' };
			const char *stop = strstr(p + 2, end);
			p = stop ? stop + 1 : p;
		}
	}
	return *p ? p + 1 : NULL;
}

/* True for a pattern whose brackets are all closed, and that is not empty. */
static bool is_complete_glob(const char *pattern)
{
	const char *p = pattern;

	while (p && *p) {
		if (*p == '[')
			p = bracket_end(p + 1);
		else
			p += *p == '\\' && p[1] ? 2 : 1;
	}
	return p && p > pattern;
}

/* Makes the string for fnmatch; NULL: memory is exhausted. */
static const char *name_string(struct tr_name_globs *globs, struct tr_text spelling)
{
	tr_arena_reset(&globs->arena);
	struct tr_text bytes = tr_string_bytes(spelling, &globs->arena);
	char *string = bytes.data ? tr_arena_alloc(&globs->arena, bytes.len + 1) : NULL;

	if (!string)
		return NULL;
	/* no real name contains NUL, so any other byte can replace it */
	for (size_t i = 0; i < bytes.len; i++)
		string[i] = bytes.data[i] ? bytes.data[i] : '\1';
	string[bytes.len] = '\0';
	return string;
}

/* All three lists are tried for each name, so that each pattern that matches is marked as used. */
bool tr_name_globs_judge(void *context, struct tr_text spelling, bool fold, unsigned *verdict)
{
	struct tr_name_globs *globs = context;
	int flags = fold ? FNM_CASEFOLD : 0;
	const char *name = name_string(globs, spelling);

	if (!name)
		return false;
	*verdict = 0;
	/* without --keep all names are kept */
	bool kept = matches(&globs->keep, name, flags) || !globs->keep.count;
	bool dropped = matches(&globs->drop, name, flags);
	if (kept && !dropped)
		*verdict |= TR_NAME_SELECTED;
	if (matches(&globs->mask, name, flags))
		*verdict |= TR_NAME_HIDDEN;
	return true;
}

/* Notes the patterns of an option that match no variable of the whole input. */
static void report_unused(const struct tr_globs *globs, struct tr_cli *cli, const char *option)
{
	for (size_t i = 0; i < globs->count; i++) {
		if (!globs->list[i].used)
			tr_cli_note(cli, "no variable matches %s=%s", option,
				    globs->list[i].pattern);
	}
}

/*
 * A plain name that matches nothing is an error, because the user expects the variable. A pattern
 * with wildcards may come from a list that is used for all traces, so it produces a note.
 */
static void report_globs(const struct tr_name_globs *globs, struct tr_cli *cli)
{
	static const char message[] = "no variable matches --mask=%s; nothing was masked for it";

	report_unused(&globs->keep, cli, "--keep");
	report_unused(&globs->drop, cli, "--drop");
	for (size_t i = 0; i < globs->mask.count; i++) {
		const struct tr_glob *glob = &globs->mask.list[i];
		if (glob->used)
			continue;
		if (strpbrk(glob->pattern, "*?["))
			tr_cli_note(cli, message, glob->pattern);
		else
			tr_cli_fail(cli, message, glob->pattern);
	}
}

/* The ids of the tool's options. */
enum {
	OPTION_BASE = 1,
	OPTION_INPUT_BASE,
	OPTION_NAMES,
	OPTION_COMPARE,
	OPTION_KEEP,
	OPTION_DROP,
	OPTION_MASK,
	OPTION_MASK_ONLY_NAMES,
};

static const struct tr_option options[] = {
	{ OPTION_BASE, 0, "base", "parent|top|none",
	  "write environments as differences against the parent's (default) or the first one, or "
	  "in full" },
	{ OPTION_INPUT_BASE, 0, "input-base", "parent|top|auto",
	  "base of the differences in the input (default parent); auto: detect and report it" },
	{ OPTION_COMPARE, 0, "compare", NULL,
	  "compare two environments, named by the first two operands: a task, seq:N, top; or two "
	  "files" },
	{ OPTION_KEEP, 0, "keep", "GLOB", "keep only variables whose name matches (repeatable)" },
	{ OPTION_DROP, 0, "drop", "GLOB", "remove variables whose name matches (repeatable)" },
	{ OPTION_MASK, 0, "mask", "GLOB",
	  "write *** for the values of variables whose name matches, and for these values "
	  "wherever else they occur (repeatable)" },
	{ OPTION_MASK_ONLY_NAMES, 0, "mask-only-names", NULL,
	  "with --mask: do not mask the values elsewhere" },
	{ OPTION_NAMES, 0, "names", "auto|exact|windows",
	  "whether PATH and Path are two variables or one (auto: one in traces from Windows)" },
	{ 0 },
};

static const char *const examples[] = {
	"which processes got a different PATH than their parents?",
	"tr-envdiff --keep=PATH build.json | tr-filter --fields=seq,name,envdiff 'has(envdiff)'",
	"environments that do not depend on other records, without secrets",
	"tr-envdiff --base=none --mask='*TOKEN*' --mask='*PASSW*' build.json",
	"how the environment of process 12 differs from the first one",
	"tr-envdiff --compare top 12 build.json",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-envdiff",
	.usage = "[OPTION...] [FILE...]",
	.summary =
		"Converts the environments of the programs in a trace, redacts them, or compares "
		"two of them.",
	.shared = TR_CLI_ALL,
	.options = options,
	.status_one = "with --compare: there are differences",
	.examples = examples,
};

/*
 * Adds a pattern of --keep, --drop or --mask. fnmatch takes an unclosed '[' for a character, which
 * would silently mask nothing, so that is a usage error.
 */
static void add_glob(struct tr_envdiff *envdiff, struct tr_globs *globs)
{
	struct tr_cli *cli = envdiff->cli;

	if (!is_complete_glob(cli->argument))
		tr_cli_usage(cli,
			     *cli->argument ? "pattern '%s': unclosed '['" : "empty pattern '%s'",
			     cli->argument);
	else if (!tr_array_room(globs->list, globs->count, globs->cap))
		tr_envdiff_out_of_memory(envdiff);
	else
		globs->list[globs->count++] = (struct tr_glob){ cli->argument, false };
}

/*
 * Handles one of the tool's own options. *compares and *rewrites are set by options that exclude
 * each other.
 */
static void set_option(struct tr_envdiff *envdiff, int option, bool *compares, bool *rewrites)
{
	static const enum tr_env_form bases[] = { TR_ENV_FORM_PARENT, TR_ENV_FORM_TOP,
						  TR_ENV_FORM_WHOLE };
	struct tr_cli *cli = envdiff->cli;
	/* these options have choices; -1 is a usage error */
	bool chooses =
		option == OPTION_BASE || option == OPTION_INPUT_BASE || option == OPTION_NAMES;
	int choice = chooses ? tr_cli_choice(cli) : 0;

	if (choice < 0)
		return;
	switch (option) {
	case OPTION_BASE:
		envdiff->base = bases[choice];
		*rewrites = true;
		break;
	case OPTION_INPUT_BASE:
		envdiff->input_base = (enum tr_input_base)choice;
		break;
	case OPTION_NAMES:
		envdiff->names = (enum tr_name_case)choice;
		break;
	case OPTION_COMPARE:
		*compares = true;
		break;
	case OPTION_KEEP:
		add_glob(envdiff, &envdiff->globs.keep);
		break;
	case OPTION_DROP:
		add_glob(envdiff, &envdiff->globs.drop);
		break;
	case OPTION_MASK:
		add_glob(envdiff, &envdiff->globs.mask);
		break;
	case OPTION_MASK_ONLY_NAMES:
		envdiff->mask_only_names = true;
		break;
	}
}

/*
 * The data of a stored line: its position in the source, for messages, and whether it is an exec
 * record.
 */
struct stored {
	uint64_t source_line, source_offset;
	bool mark;
};

/* Appends the record's line, unless it has none. False: reported. */
static bool store_line(struct tr_line_store *store, struct tr_cli *cli, struct tr_record *record,
		       bool mark)
{
	struct stored stored = { record->source_line, record->source_offset, mark };
	struct tr_text line;
	struct tr_error err;

	if (!store->queue.data_size) {
		store->queue = (struct tr_pending)TR_PENDING_INIT(struct stored);
		store->queue.spill_weight = 1; /* lines wait long; a spool has memory of its own */
		store->queue.max_spool = cli->config.read.limits.max_spool;
	}
	if (!tr_cli_line(cli, record, &store->line, &line))
		return !cli->stop;
	return tr_pending_put(&store->queue, &stored, line, line.len, &err) ||
	       tr_cli_abort(cli, &err);
}

/* Takes the next line, which is valid until the next call. NULL: reported. */
static struct tr_record *take_line(struct tr_line_store *store, struct tr_cli *cli)
{
	struct tr_record *record = &store->record;
	const struct tr_pending_item *item;
	struct tr_error err;

	bool good = tr_pending_next(&store->queue, &item, &err) == TR_OK;
	tr_arena_reset(&store->arena);
	tr_record_init(record, &store->arena);
	if (!good || !tr_record_from_line(record, item->text, &err)) {
		tr_cli_abort(cli, &err);
		return NULL;
	}
	const struct stored *stored = item->data;
	record->source_line = stored->source_line;
	record->source_offset = stored->source_offset;
	return record;
}

/* Frees a store, also one that was never used. */
static void free_store(struct tr_line_store *store)
{
	tr_pending_free(&store->queue);
	tr_buffer_free(&store->line);
	tr_arena_free(&store->arena);
}

/* Writes a record, or stores it until all masked values are known (--mask). */
static bool put_record(struct tr_envdiff *envdiff, struct tr_record *record)
{
	return envdiff->mask ? store_line(&envdiff->masked, envdiff->cli, record, false)
			     : tr_cli_put_line(envdiff->cli, record);
}

/* Writes or stores a line that was composed here. */
static bool put_text_line(struct tr_envdiff *envdiff, struct tr_text line)
{
	struct tr_record record = { .line = line };

	return put_record(envdiff, &record);
}

/* Reports an environment that cannot be written as asked; whole ones are only counted. */
static void report_failure(struct tr_envdiff *envdiff, struct tr_record *record,
			   const struct tr_exec_env *exec)
{
	static const char *const names[] = { [TR_ENV_FORM_WHOLE] = "env",
					     [TR_ENV_FORM_TOP] = "envtop",
					     [TR_ENV_FORM_PARENT] = "envdiff" };

	if (exec->form == TR_ENV_FORM_WHOLE)
		envdiff->kept_whole++;
	else
		tr_cli_remark(envdiff->cli, record, TR_CAUSE_INPUT, TR_FLAW,
			      "%s: there is no %s for it",
			      tr_exec_env_trouble(envdiff->tracker, exec), names[envdiff->base]);
}

/* Writes the line with another value of a field, and without .raw. */
static bool put_changed(struct tr_envdiff *envdiff, struct tr_text line, struct tr_text key,
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
			  : put_text_line(envdiff, tr_buffer_text(to));
}

/*
 * Leaves a record out in which variables cannot be removed or masked: a lost record is better than
 * a leaked one. False: stop.
 */
static bool leave_out(struct tr_envdiff *envdiff, struct tr_record *record, const char *why)
{
	struct tr_error err;

	tr_error_say_in(&err, TR_CAUSE_INPUT, why, "%s: left out, because it may contain a secret",
			why);
	envdiff->left_out++;
	tr_cli_report_record(envdiff->cli, record, &err, false);
	return !envdiff->cli->stop;
}

/* Writes the env record with the selected variables. */
static bool write_env(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_text line)
{
	struct tr_environments *pool = tr_env_tracker_pool(envdiff->tracker);
	const struct tr_value *map = tr_record_value(record, "vars", NULL);

	if (!map || map->type != TR_MAP)
		return leave_out(envdiff, record, "an env record without a map");
	struct tr_environment *env = tr_environment_whole(pool, NULL, map);
	tr_buffer_reset(&envdiff->map);
	bool fine = env && tr_environment_write(pool, env, &envdiff->map);
	tr_environment_release(pool, env);
	return fine ? put_changed(envdiff, line, TR_TEXT("vars"), tr_buffer_text(&envdiff->map))
		    : tr_envdiff_out_of_memory(envdiff);
}

/* Writes etrace's envset record, var="NAME=value", if its variable is selected. */
static bool write_set(struct tr_envdiff *envdiff, struct tr_record *record, struct tr_text line)
{
	struct tr_environments *pool = tr_env_tracker_pool(envdiff->tracker);
	const struct tr_value *var = tr_record_value(record, "var", NULL);
	const char *equals = var && var->type == TR_STRING && var->text.len > 1
				     ? memchr(var->text.data + 1, '=', var->text.len - 1)
				     : NULL;

	if (!equals)
		return leave_out(envdiff, record, "an envset record without NAME=value");
	struct tr_text name = tr_text_span(var->text.data, equals);
	unsigned verdict;
	if (!tr_environments_judge(pool, name, &verdict))
		return tr_envdiff_out_of_memory(envdiff);
	if (!(verdict & TR_NAME_SELECTED)) {
		envdiff->left_out++;
		return true;
	}
	if (!(verdict & TR_NAME_HIDDEN))
		return put_text_line(envdiff, line);
	tr_buffer_reset(&envdiff->map);
	tr_buffer_put_byte(&envdiff->map, '"');
	tr_buffer_put_text(&envdiff->map, name);
	tr_buffer_put_literal(&envdiff->map, "=***\"");
	return put_changed(envdiff, line, TR_TEXT("var"), tr_buffer_text(&envdiff->map));
}

/*
 * Writes a record that is no exec. With rules, raw and line records are left out: they have the
 * bytes of the source, with all variables.
 */
static bool write_other(struct tr_envdiff *envdiff, struct tr_record *record)
{
	bool is_record = record->type == TR_RECORD;
	bool is_set = is_record && tr_text_is(record->kind, "envset");
	struct tr_text line;

	envdiff->sets_seen |= is_set;
	if (!is_record || !has_globs(&envdiff->globs))
		return put_record(envdiff, record);
	bool is_env = tr_text_is(record->kind, "env");
	if (tr_text_is(record->kind, "raw"))
		return leave_out(envdiff, record, "a raw record");
	if (tr_text_is(record->kind, "line"))
		return leave_out(envdiff, record, "a line record");
	if (!is_env && !is_set)
		return put_record(envdiff, record);
	if (!tr_cli_line(envdiff->cli, record, &envdiff->scratch, &line))
		return !envdiff->cli->stop;
	return is_env ? write_env(envdiff, record, line) : write_set(envdiff, record, line);
}

/* True if the record has the environment in the wanted form, so that its spelling can stay. */
static bool has_wanted_form(const struct tr_envdiff *envdiff, const struct tr_exec_env *exec)
{
	bool renamed = exec->form == TR_ENV_FORM_TOP && envdiff->input_base != TR_INPUT_PARENT;

	return exec->form == envdiff->base && !exec->trouble && !renamed &&
	       (exec->minimal || exec->form == TR_ENV_FORM_WHOLE);
}

/* Writes a record; exec: its environment, or NULL. */
static bool write_line(struct tr_envdiff *envdiff, struct tr_record *record,
		       const struct tr_exec_env *exec)
{
	struct tr_text line;
	const char *key;

	if (!exec)
		return write_other(envdiff, record);
	if (!tr_cli_line(envdiff->cli, record, &envdiff->scratch, &line))
		return !envdiff->cli->stop;
	envdiff->execs++;
	bool rules = has_globs(&envdiff->globs);
	if (!rules && has_wanted_form(envdiff, exec))
		return put_text_line(envdiff, line);
	bool silent = tr_exec_env_is_silent(exec);
	envdiff->unknown += silent;
	tr_buffer_reset(&envdiff->map);
	/* whole environments and those against the first one can be much larger than the input */
	if (envdiff->base != TR_ENV_FORM_PARENT)
		tr_environments_may_write(tr_env_tracker_pool(envdiff->tracker), line.len);
	enum tr_status status =
		tr_exec_env_convert(envdiff->tracker, exec, envdiff->base, &key, &envdiff->map);
	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status != TR_OK && !silent)
		report_failure(envdiff, record, exec);
	if (envdiff->cli->stop)
		return false;
	/* with rules a value that is not a map is dropped, because it may contain anything */
	if (status == TR_WARN && !rules)
		return put_text_line(envdiff, line);
	tr_buffer_reset(&envdiff->line);
	if (!tr_env_line_put(line, record, key, tr_buffer_text(&envdiff->map), &envdiff->line))
		return tr_envdiff_out_of_memory(envdiff);
	return put_text_line(envdiff, tr_buffer_text(&envdiff->line));
}

/* Stores the line until those before it are written. Takes exec over. */
static bool hold_line(struct tr_envdiff *envdiff, struct tr_record *record,
		      struct tr_exec_env *exec)
{
	uint64_t before = envdiff->waiting.queue.count;

	if (!store_line(&envdiff->waiting, envdiff->cli, record, exec != NULL) ||
	    envdiff->waiting.queue.count == before) {
		tr_env_tracker_release(envdiff->tracker, exec);
		return !envdiff->cli->stop;
	}
	if (exec) {
		*(envdiff->last ? &envdiff->last->next : &envdiff->first) = exec;
		envdiff->last = exec;
	}
	return true;
}

/* Writes the lines up to the next exec record whose parent is unknown. */
static bool drain_lines(struct tr_envdiff *envdiff)
{
	struct tr_line_store *waiting = &envdiff->waiting;
	struct tr_error err;
	bool fine = true;

	while (fine && waiting->queue.count) {
		const struct stored *stored = tr_pending_peek(&waiting->queue, &err);
		if (!stored)
			return tr_cli_abort(envdiff->cli, &err);
		bool is_exec = stored->mark;
		struct tr_exec_env *exec = is_exec ? envdiff->first : NULL;
		if (exec && exec->pending)
			return true;
		struct tr_record *record = take_line(waiting, envdiff->cli);
		fine = record && write_line(envdiff, record, exec);
		if (exec)
			envdiff->first = exec->next;
		if (!envdiff->first)
			envdiff->last = NULL;
		tr_env_tracker_release(envdiff->tracker, exec);
	}
	return fine;
}

/* Settles all environments at the end of a segment, and writes all lines. */
static bool settle_lines(struct tr_envdiff *envdiff)
{
	if (!tr_env_tracker_settle(envdiff->tracker))
		return tr_envdiff_out_of_memory(envdiff);
	return drain_lines(envdiff);
}

/*
 * Notes what the environments of a segment lacked. That is normal for many formats, so most of it
 * is printed only with --verbose.
 */
static void report_segment(struct tr_envdiff *envdiff)
{
	struct tr_cli *cli = envdiff->cli;

	if (envdiff->unknown && envdiff->unknown == envdiff->execs)
		tr_cli_remark(
			cli, NULL, TR_CAUSE_NONE, TR_NOTE,
			envdiff->sets_seen ? "etrace's sets of variables are not environments"
			: envdiff->globs.mask.count
				? "no exec record has an environment: no variables were masked"
				: "no exec record has an environment");
	else if (envdiff->unknown)
		tr_cli_remark(cli, NULL, TR_CAUSE_NONE, TR_DETAIL,
			      "%" PRIu64 " exec records have no environment", envdiff->unknown);
	if (envdiff->kept_whole)
		tr_cli_remark(cli, NULL, TR_CAUSE_NONE, TR_DETAIL,
			      "%" PRIu64 " environments remain complete: their base is unknown",
			      envdiff->kept_whole);
}

/* Reports on the segment that has ended, and begins the next one. */
static bool begin_segment(struct tr_envdiff *envdiff)
{
	report_segment(envdiff);
	envdiff->execs = envdiff->unknown = envdiff->kept_whole = 0;
	envdiff->added = envdiff->left_out = 0;
	envdiff->sets_seen = envdiff->has_header = false;
	return tr_env_tracker_begin(envdiff->tracker) || tr_envdiff_out_of_memory(envdiff);
}

/* Corrects the count by the records that were added and left out. */
static bool pass_trailer(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_buffer *line = &envdiff->line;
	uint64_t count;

	if (!settle_lines(envdiff))
		return false;
	if (!envdiff->has_header || envdiff->added == envdiff->left_out ||
	    !tr_cell_number(&record->seq, &count))
		return put_record(envdiff, record) && begin_segment(envdiff);
	tr_buffer_reset(line);
	tr_trailer_recount(record, count + envdiff->added - envdiff->left_out, line);
	tr_buffer_put_byte(line, '\n');
	if (line->failed)
		return tr_envdiff_out_of_memory(envdiff);
	return put_text_line(envdiff, tr_buffer_text(line)) && begin_segment(envdiff);
}

/* Writes the line, or stores it after others. Takes exec over. */
static bool write_or_wait(struct tr_envdiff *envdiff, struct tr_record *record,
			  struct tr_exec_env *exec)
{
	/* all lines after a held one are stored too, so that the order stays */
	if (envdiff->waiting.queue.count || (exec && exec->pending))
		return hold_line(envdiff, record, exec) && (!exec || drain_lines(envdiff));
	bool fine = write_line(envdiff, record, exec);
	tr_env_tracker_release(envdiff->tracker, exec);
	return fine;
}

/*
 * Writes an env record for a segment without one, from its first whole environment: envtop needs
 * it as its base.
 */
static bool supply_top(struct tr_envdiff *envdiff, struct tr_record *record,
		       struct tr_exec_env *exec)
{
	struct tr_environments *pool = tr_env_tracker_pool(envdiff->tracker);
	struct tr_buffer *line = &envdiff->top_line;
	struct tr_record env = { .arena = record->arena };
	struct tr_error err;

	tr_env_tracker_make_top(envdiff->tracker, exec);
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "env\t-\t-\t-\t-\tvars=");
	bool fine = tr_environment_write(pool, exec->own, line);
	tr_buffer_put_byte(line, '\n');
	if (!fine || line->failed)
		return tr_envdiff_out_of_memory(envdiff);
	envdiff->added++;
	tr_cli_remark(envdiff->cli, record, TR_CAUSE_NONE, TR_NOTE,
		      "there is no first environment: using that of the first exec record");
	if (!tr_record_from_line(&env, tr_buffer_text(line), &err))
		return tr_cli_abort(envdiff->cli, &err);
	return !envdiff->cli->stop && write_or_wait(envdiff, &env, NULL);
}

/*
 * True if this exec record is the first with a whole environment, and --base=top has no base yet.
 */
static bool needs_top(const struct tr_envdiff *envdiff, const struct tr_exec_env *exec)
{
	return envdiff->base == TR_ENV_FORM_TOP && exec && exec->form == TR_ENV_FORM_WHOLE &&
	       exec->own && tr_environment_is_whole(exec->own) &&
	       !tr_env_tracker_has_top(envdiff->tracker);
}

/*
 * Follows a record, collects its masked values, and writes it with its new environment. False:
 * stop.
 */
static bool rewrite_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_exec_env *exec;
	struct tr_error err;
	bool unreadable = false;
	enum tr_status status = tr_env_tracker_follow(envdiff->tracker, record, &exec, &err);

	if (status == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	if (status == TR_WARN)
		tr_cli_report_record(envdiff->cli, record, &err, false);
	if (envdiff->cli->stop || !tr_mask_collect(envdiff, record, &unreadable) || unreadable ||
	    (needs_top(envdiff, exec) && !supply_top(envdiff, record, exec))) {
		tr_env_tracker_release(envdiff->tracker, exec);
		return unreadable && !envdiff->cli->stop &&
		       leave_out(envdiff, record, "its environment cannot be read");
	}
	/* parents are given up when the stored lines take half of what temporary files may take */
	return write_or_wait(envdiff, record, exec) &&
	       (tr_pending_spooled(&envdiff->waiting.queue) <=
			envdiff->cli->config.read.limits.max_spool / 2 ||
		settle_lines(envdiff));
}

/*
 * Handles a line of the stream by its type. A header or trailer ends the segment before it; parents
 * that have not come by then are given up.
 */
static bool filter_line(struct tr_envdiff *envdiff, struct tr_record *record)
{
	switch (record->type) {
	case TR_HEADER:
		if (!settle_lines(envdiff) || !begin_segment(envdiff))
			return false;
		envdiff->has_header = true;
		return put_record(envdiff, record);
	case TR_TRAILER:
		return pass_trailer(envdiff, record);
	default:
		return rewrite_line(envdiff, record);
	}
}

/* --compare needs the values of hidden variables too. */
static bool judge_name(void *context, struct tr_text name, bool fold, unsigned *verdict)
{
	struct tr_envdiff *envdiff = context;
	bool fine = tr_name_globs_judge(&envdiff->globs, name, fold, verdict);

	if (envdiff->comparison)
		*verdict &= ~(unsigned)TR_NAME_HIDDEN;
	return fine;
}

/*
 * Makes a tracker of environments (process/env_tracker.h) for the options. against_top: the base
 * of the differences in the input; doubts: count what contradicts each base. NULL: reported.
 */
static struct tr_env_tracker *new_tracker(struct tr_envdiff *envdiff, bool against_top, bool doubts)
{
	struct tr_env_tracker_config config = {
		.against_top = against_top,
		/* with rules, an environment must not be written as it was read */
		.wants_parent = !envdiff->comparison &&
				(envdiff->base == TR_ENV_FORM_PARENT || has_globs(&envdiff->globs)),
		.doubts = doubts,
		.names = envdiff->names,
		.max_spool = envdiff->cli->config.read.limits.max_spool,
		.max_ratio = envdiff->cli->config.read.limits.max_ratio,
		.rules = { has_globs(&envdiff->globs) ? judge_name : NULL, envdiff },
	};
	struct tr_env_tracker *tracker = tr_env_tracker_new(&config);
	if (!tracker)
		tr_envdiff_out_of_memory(envdiff);
	return tracker;
}

/* Passes a line to the comparison or to the filter. */
static bool consume(struct tr_envdiff *envdiff, struct tr_record *record)
{
	return envdiff->comparison ? tr_comparison_line(envdiff, record)
				   : filter_line(envdiff, record);
}

/* Returns the number of entries that no writer would have written against this base. */
static uint64_t doubts_of(const struct tr_environment_doubts *doubts)
{
	return doubts->redundant + doubts->impossible;
}

/*
 * True if the differences in the input are against the first environment. A writer neither sets a
 * variable to the value that it has nor removes a missing one, so the base with more such entries
 * is wrong; a few of them are tolerated.
 */
static bool means_top(const struct tr_env_tracker_doubts *doubts)
{
	uint64_t entries = doubts->sets + doubts->removals;
	uint64_t parent = doubts_of(&doubts->against_parent);
	uint64_t top = doubts_of(&doubts->against_top);

	if (parent <= top)
		return false;
	return !top || parent > entries / 20;
}

/*
 * Notes which base was detected, and the counts that led to it, because the user may know better.
 */
static void report_evidence(struct tr_envdiff *envdiff, const struct tr_env_tracker_doubts *doubts,
			    bool top)
{
	const struct tr_environment_doubts *parent = &doubts->against_parent;
	const struct tr_environment_doubts *first = &doubts->against_top;
	bool differs = doubts_of(parent) != doubts_of(first);

	tr_cli_remark(envdiff->cli, NULL, TR_CAUSE_NONE, TR_NOTE,
		      "input base is %s%s: of %" PRIu64 " settings and %" PRIu64
		      " removals, %" PRIu64 " are redundant and %" PRIu64
		      " impossible as differences against the parent, %" PRIu64 " and %" PRIu64
		      " against the first environment",
		      top ? "top" : "parent", differs ? "" : " (no evidence against it)",
		      doubts->sets, doubts->removals, parent->redundant, parent->impossible,
		      first->redundant, first->impossible);
}

/* Ends a file or member. */
static bool end_place(struct tr_envdiff *envdiff)
{
	return envdiff->comparison ? tr_comparison_end(envdiff)
				   : settle_lines(envdiff) && begin_segment(envdiff);
}

/* Decides the base at the end of the segment, and reads its lines with it. */
static bool decide_base(struct tr_envdiff *envdiff)
{
	struct tr_line_store *segment = &envdiff->segment;

	if (!end_place(envdiff))
		return false;
	if (!tr_env_tracker_settle(envdiff->scout))
		return tr_envdiff_out_of_memory(envdiff);
	const struct tr_env_tracker_doubts *doubts = tr_env_tracker_doubts(envdiff->scout);
	bool top = means_top(doubts);
	if (doubts->sets || doubts->removals)
		report_evidence(envdiff, doubts, top);
	/* the base is part of a tracker's configuration */
	tr_env_tracker_free(envdiff->tracker);
	envdiff->tracker =
		NULL; /* new_tracker may fail, and its error is reported without a tracker */
	envdiff->tracker = new_tracker(envdiff, top, false);
	bool fine = envdiff->tracker != NULL;
	if (fine && !tr_env_tracker_begin(envdiff->scout))
		fine = tr_envdiff_out_of_memory(envdiff);
	while (fine && segment->queue.count) {
		struct tr_record *record = take_line(segment, envdiff->cli);
		fine = record && consume(envdiff, record);
	}
	return fine;
}

/* Stores a line until the end of its segment, for --input-base=auto. */
static bool put_aside(struct tr_envdiff *envdiff, struct tr_record *record)
{
	struct tr_exec_env *exec;
	struct tr_error err;

	if (record->type == TR_HEADER && envdiff->segment.queue.count && !decide_base(envdiff))
		return false;
	/* trouble with a record is reported when it is used */
	if (tr_env_tracker_follow(envdiff->scout, record, &exec, &err) == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	tr_env_tracker_release(envdiff->scout, exec);
	if (!store_line(&envdiff->segment, envdiff->cli, record, false))
		return false;
	return record->type != TR_TRAILER || decide_base(envdiff);
}

/* Reads a file or member. */
static bool read_place(struct tr_envdiff *envdiff)
{
	struct tr_record *record;

	while (tr_cli_next_here(envdiff->cli, &record)) {
		if (!(envdiff->scout ? put_aside(envdiff, record) : consume(envdiff, record)))
			return false;
	}
	if (envdiff->cli->stop || (envdiff->segment.queue.count && !decide_base(envdiff)))
		return false;
	return end_place(envdiff);
}

/* Writes the stored lines without the masked values. */
static void write_masked(struct tr_envdiff *envdiff)
{
	struct tr_record *record;

	while (envdiff->masked.queue.count) {
		record = take_line(&envdiff->masked, envdiff->cli);
		if (!record || !tr_mask_line(envdiff, record))
			return;
	}
	tr_mask_report(envdiff);
}

/*
 * Reads all inputs, and then does what needs all of them: the comparison, or the output with
 * --mask.
 */
static void run(struct tr_envdiff *envdiff)
{
	struct tr_trace_place *place;
	bool top = envdiff->input_base == TR_INPUT_TOP;

	envdiff->tracker = new_tracker(envdiff, top, false);
	if (envdiff->input_base == TR_INPUT_AUTO && envdiff->tracker)
		envdiff->scout = new_tracker(envdiff, false, true);
	if (envdiff->cli->stop)
		return;
	while (tr_cli_step(envdiff->cli, &place) && read_place(envdiff))
		;
	if (envdiff->comparison && !envdiff->cli->stop)
		tr_comparison_print(envdiff);
	else if (envdiff->mask && !envdiff->cli->stop && tr_mask_ready(envdiff))
		write_masked(envdiff);
	if (!envdiff->cli->stop)
		report_globs(&envdiff->globs, envdiff->cli);
}

/* Frees all. Held environments are released before their tracker. */
static void free_envdiff(struct tr_envdiff *envdiff)
{
	tr_comparison_free(envdiff);
	tr_mask_free(envdiff);
	while (envdiff->first) {
		struct tr_exec_env *next = envdiff->first->next;
		tr_env_tracker_release(envdiff->tracker, envdiff->first);
		envdiff->first = next;
	}
	free_store(&envdiff->waiting);
	free_store(&envdiff->segment);
	free_store(&envdiff->masked);
	tr_env_tracker_free(envdiff->tracker);
	tr_env_tracker_free(envdiff->scout);
	free(envdiff->globs.keep.list);
	free(envdiff->globs.drop.list);
	free(envdiff->globs.mask.list);
	tr_arena_free(&envdiff->globs.arena);
	tr_buffer_free(&envdiff->map);
	tr_buffer_free(&envdiff->line);
	tr_buffer_free(&envdiff->scratch);
	tr_buffer_free(&envdiff->top_line);
}

int main(int argc, char **argv)
{
	struct tr_cli cli;
	struct tr_envdiff envdiff = { .cli = &cli, .base = TR_ENV_FORM_PARENT };
	bool compares = false, rewrites = false;
	int option;

	tr_cli_begin(&cli, &tool, argc, argv);
	while ((option = tr_cli_option(&cli)) != 0)
		set_option(&envdiff, option, &compares, &rewrites);
	/* a comparison prints environments itself, so their form in the output has no meaning */
	if (compares && rewrites && !cli.stop)
		tr_cli_usage(&cli, "--base cannot be combined with --compare");
	if (envdiff.mask_only_names && !envdiff.globs.mask.count && !cli.stop)
		tr_cli_usage(&cli, "--mask-only-names needs --mask");
	if (compares && !cli.stop)
		envdiff.comparison = tr_comparison_new(&envdiff);
	if (envdiff.globs.mask.count && !envdiff.mask_only_names && !cli.stop)
		tr_mask_begin(&envdiff);
	/* only a stream has a trailer that can report lost records */
	cli.config.reports_lost = !compares;
	if (!cli.stop && tr_cli_open(&cli) && tr_cli_output(&cli, false))
		run(&envdiff);
	free_envdiff(&envdiff);
	return tr_cli_end(&cli);
}
