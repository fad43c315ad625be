/* SPDX-License-Identifier: MIT */
/* Writes what is selected: the queue, definitions, rows, lines, environments. */

#include "tr_filter.h"

#include <stdlib.h>

#include "process/env_line.h"
#include "core/buffer.h"
#include "record/vocabulary.h"

enum {
	MUCH = 16 << 20, /* bytes of items from which on they are spilled */
	OVERHEAD = 136,	 /* of an item, as it counts in them and against the limit of open calls */
};

static struct tr_pending empty_queue(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct tr_queued);

	queue.spill_weight = MUCH;
	queue.max_spool = INT64_MAX;
	return queue;
}

void tr_queued_set_call(struct tr_pending_item *item, struct tr_call *call)
{
	struct tr_queued *queued = item->data;

	queued->call = call;
	item->pinned = call != NULL;
}

static struct tr_pending_item *add_item(struct tr_pending *queue, enum tr_item_type type,
					struct tr_text text, struct tr_call *call)
{
	struct tr_queued queued = { type, call };
	struct tr_pending_item *item = tr_pending_add(queue, &queued, text, text.len + OVERHEAD);

	if (item)
		item->pinned = call != NULL;
	return item;
}

struct tr_pending_item *tr_filter_queue(struct tr_filter *filter, enum tr_item_type type,
					struct tr_text text, struct tr_call *call)
{
	return add_item(&filter->queue, type, text, call);
}

struct tr_definition {
	struct tr_definition *next;
	uint64_t place; /* in the order of the source */
	bool written, wanted;
	struct tr_text id, line;
	char data[];
};

bool tr_definition_is_known(const struct tr_record *record)
{
	static const char *const words[] = { "fn", "enum", "mask", "struct", "frame" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (tr_text_is(record->kind, words[i]))
			return record->task.type == TR_CELL_TEXT;
	}
	return false;
}

/* Translates a text in a line to the copy of the line. */
static struct tr_text moved(struct tr_text text, struct tr_text from, const char *to)
{
	return (struct tr_text){ to + (text.data - from.data), text.len };
}

bool tr_definitions_add(struct tr_definitions *defs, struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	if (!tr_record_from_line(&record, line, NULL))
		return true;
	const struct tr_definition *known = tr_map_get(&defs->by_id, record.task.text);

	if (known && tr_text_equal(known->line, line))
		return true;
	struct tr_definition *def = malloc(sizeof *def + line.len);
	if (!def)
		return false;
	memcpy(def->data, line.data, line.len);
	*def = (struct tr_definition){ .next = defs->list, .place = defs->count++ };
	def->line = (struct tr_text){ def->data, line.len };
	def->id = moved(record.task.text, line, def->data);
	defs->list = def;
	defs->waiting++;
	defs->settled_len = 0;
	if (!tr_map_put(&defs->by_id, def->id, def))
		return false;
	struct tr_text name = moved(record.name.text, line, def->data);
	return !tr_text_is(record.kind, "fn") || tr_map_get(&defs->by_name, name) ||
	       tr_map_put(&defs->by_name, name, def);
}

static bool want(struct tr_definitions *defs, struct tr_definition *def)
{
	if (!def || def->written || def->wanted)
		return true;
	if (!tr_array_room(defs->wanted, defs->wanted_count, defs->wanted_cap))
		return false;
	def->wanted = true;
	defs->wanted[defs->wanted_count++] = def;
	return true;
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

/* The end of an id like F17 at p; p where there is none. */
static const char *id_end(const char *p, const char *end)
{
	const char *digits = p + 1;

	if (p == end || *p < 'A' || *p > 'Z')
		return p;
	while (digits < end && *digits >= '0' && *digits <= '9')
		digits++;
	return digits > p + 1 ? digits : p;
}

static bool want_id(struct tr_definitions *defs, const char *p, const char *end)
{
	return p == end || want(defs, tr_map_get(&defs->by_id, tr_text_span(p, end)));
}

/* Wants the ids after "@" in a column, outside strings. */
static bool want_marked_ids(struct tr_definitions *defs, const char *p, const char *end)
{
	const char *at = memchr(p, '@', (size_t)(end - p));

	while (at) {
		const char *quote = memchr(p, '"', (size_t)(at - p));
		p = quote ? skip_string(quote, end) : id_end(at + 1, end);
		if (!quote && !want_id(defs, at + 1, p))
			return false;
		/* memchr runs again only past the last "@" found, so the time stays linear */
		if (p > at)
			at = memchr(p, '@', (size_t)(end - p));
	}
	return true;
}

/* Wants every id of a column, with or without "@" before it. */
static bool want_all_ids(struct tr_definitions *defs, const char *p, const char *end)
{
	while (p < end) {
		const char *behind = *p == '"' ? skip_string(p, end) : id_end(p, end);
		if (*p != '"' && !want_id(defs, p, behind))
			return false;
		p = behind > p ? behind : p + 1;
	}
	return true;
}

static bool want_fields(struct tr_definitions *defs, struct tr_text rest, bool *has_signature)
{
	const char *p = rest.data, *end = p + rest.len;

	while (p < end) {
		const char *tab = memchr(p + 1, '\t', (size_t)(end - p - 1));
		struct tr_text column = tr_text_span(p + 1, tab ? tab : end);
		bool signature = tr_text_starts(column, TR_TEXT(".sig="));
		bool all = signature || tr_text_starts(column, TR_TEXT(".bt="));
		const char *value = memchr(column.data, '=', column.len);
		*has_signature = *has_signature || signature;
		const char *behind = column.data + column.len;
		if (value && !(all ? want_all_ids : want_marked_ids)(defs, value + 1, behind))
			return false;
		p = tab ? tab : end;
	}
	return true;
}

static bool are_settled(struct tr_definitions *defs, struct tr_text line,
			const struct tr_columns *columns)
{
	struct tr_text name = tr_columns_text(columns, TR_COLUMN_NAME);

	if (columns->escapes || tr_line_may_refer(line.data, line.data + line.len))
		return false;
	if (!tr_kind_is_call(tr_columns_text(columns, TR_COLUMN_KIND)) ||
	    tr_text_equal(name, (struct tr_text){ defs->settled, defs->settled_len }))
		return true;
	const struct tr_definition *function = tr_map_get(&defs->by_name, name);
	if (function && !function->written)
		return false;
	defs->settled_len = name.len <= sizeof defs->settled ? name.len : 0;
	memcpy(defs->settled, name.data, defs->settled_len);
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct tr_definition *const *x = a, *const *y = b;

	return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

static bool write_definitions(struct tr_definitions *defs, struct tr_text line,
			      struct tr_output *out)
{
	struct tr_record record = { .arena = NULL };
	bool has_signature = false;

	defs->wanted_count = 0;
	if (!tr_record_from_line(&record, line, NULL) || record.type != TR_RECORD)
		return true;
	if (!want_fields(defs, record.rest, &has_signature))
		return false;
	if (tr_kind_is_call(record.kind) && !has_signature &&
	    !want(defs, tr_map_get(&defs->by_name, record.name.text)))
		return false;
	if (defs->wanted_count > 1)
		qsort(defs->wanted, defs->wanted_count, sizeof *defs->wanted, by_place);
	for (size_t i = 0; i < defs->wanted_count; i++) {
		defs->wanted[i]->written = true;
		tr_output_put_text(out, defs->wanted[i]->line);
	}
	defs->waiting -= defs->wanted_count;
	return true;
}

static void free_definitions(struct tr_definitions *defs)
{
	for (struct tr_definition *def = defs->list, *next; def; def = next) {
		next = def->next;
		free(def);
	}
	tr_map_free(&defs->by_id);
	tr_map_free(&defs->by_name);
	free(defs->wanted);
	*defs = (struct tr_definitions){ 0 };
}

bool tr_filter_out_of_memory(struct tr_filter *filter)
{
	struct tr_error err;

	tr_error_memory(&err);
	tr_cli_report(filter->cli, &err);
	filter->cli->stop = true;
	return false;
}

bool tr_filter_full(const struct tr_filter *filter)
{
	return filter->limited && filter->selected >= filter->limit;
}

bool tr_filter_sated(const struct tr_filter *filter)
{
	return filter->limited && filter->selected + filter->waiting >= filter->limit;
}

bool tr_filter_writes_lines(const struct tr_filter *filter)
{
	return !filter->count_only && !filter->fields;
}

struct tr_held {
	struct tr_held *next;
	struct tr_pending_item *item;
	struct tr_exec_env *exec;
	uint64_t source_line, source_offset;
};

static bool begin_rebase(struct tr_rebase *rebase, const struct tr_limits *limits)
{
	struct tr_env_tracker_config config = { .max_spool = limits->max_spool,
						.max_ratio = limits->max_ratio };

	if (rebase->tracker)
		return tr_env_tracker_begin(rebase->tracker);
	rebase->tracker = tr_env_tracker_new(&config);
	return rebase->tracker;
}

static void free_rebase(struct tr_rebase *rebase)
{
	while (rebase->first) {
		struct tr_held *next = rebase->first->next;
		tr_env_tracker_release(rebase->tracker, rebase->first->exec);
		free(rebase->first);
		rebase->first = next;
	}
	tr_env_tracker_release(rebase->tracker, rebase->exec);
	tr_env_tracker_free(rebase->tracker);
	tr_buffer_free(&rebase->map);
	tr_buffer_free(&rebase->line);
	*rebase = (struct tr_rebase){ .exec = NULL };
}

/* Reports an environment that cannot be rebased, unless it is self-contained. */
static void report_failure(struct tr_filter *filter, const struct tr_record *record,
			   const struct tr_exec_env *exec)
{
	struct tr_error err;

	if (exec->form == TR_ENV_FORM_WHOLE)
		return;
	tr_error_set(&err, TR_CAUSE_INPUT, "%s: this environment is not rebased",
		     tr_exec_env_trouble(filter->rebase.tracker, exec));
	err.severity = TR_FLAW;
	tr_cli_report_record(filter->cli, record, &err, false);
}

/* Rebases the line of an exec record whose environment is known. */
static bool rebase_line(struct tr_filter *filter, const struct tr_record *record,
			const struct tr_exec_env *exec, struct tr_text *line)
{
	struct tr_rebase *rebase = &filter->rebase;
	const char *key;

	tr_buffer_reset(&rebase->map);
	tr_environments_may_write(tr_env_tracker_pool(rebase->tracker), line->len);
	enum tr_status status =
		tr_exec_env_convert(rebase->tracker, exec, TR_ENV_FORM_TOP, &key, &rebase->map);
	if (status == TR_FATAL)
		return tr_filter_out_of_memory(filter);
	/* without an environment in the record, nothing is lost */
	if (status != TR_OK && !tr_exec_env_is_silent(exec))
		report_failure(filter, record, exec);
	if (filter->cli->stop || status == TR_WARN)
		return !filter->cli->stop;
	tr_buffer_reset(&rebase->line);
	if (!tr_env_line_put(*line, key, tr_buffer_text(&rebase->map), &rebase->line))
		return tr_filter_out_of_memory(filter);
	*line = tr_buffer_text(&rebase->line);
	return true;
}

static bool rebase_current(struct tr_filter *filter, const struct tr_record *record,
			   struct tr_text *line)
{
	struct tr_exec_env *exec = filter->rebase.exec;

	return !exec || !tr_text_is(record->kind, "exec") ||
	       rebase_line(filter, record, exec, line);
}

static bool tr_rebase_must_wait(const struct tr_rebase *rebase)
{
	return rebase->exec && rebase->exec->pending;
}

static bool line_of(struct tr_filter *filter, struct tr_record *record, struct tr_text *line)
{
	struct tr_error err;

	*line = record->line;
	if (line->data)
		return true;
	tr_buffer_reset(&filter->text);
	switch (tr_record_write(record, &filter->text, &err)) {
	case TR_OK:
		*line = tr_buffer_text(&filter->text);
		return true;
	case TR_FATAL:
		return tr_filter_out_of_memory(filter);
	default:
		tr_cli_report_record(filter->cli, record, &err, true);
		return false;
	}
}

static bool render_row(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave)
{
	struct tr_buffer *to = &filter->text;
	size_t count = tr_field_list_count(filter->fields);

	for (size_t i = 0; i < count; i++) {
		struct tr_error err;
		if (i > 0)
			tr_buffer_put_byte(to, '\t');
		if (tr_field_list_write(filter->fields, i, record, leave, filter->raw, to, &err))
			continue;
		if (err.cause != TR_CAUSE_NONE)
			tr_cli_report_record(filter->cli, record, &err, false);
		if (!filter->raw)
			tr_buffer_put_byte(to, '-');
	}
	tr_buffer_put_byte(to, filter->nul ? '\0' : '\n');
	return !to->failed || tr_filter_out_of_memory(filter);
}

bool tr_filter_render(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave,
		      struct tr_text *text)
{
	if (tr_filter_writes_lines(filter)) {
		if (!line_of(filter, record, text))
			return false;
		return !filter->rebases || rebase_current(filter, record, text);
	}
	tr_buffer_reset(&filter->text);
	if (filter->fields && !render_row(filter, record, leave))
		return false;
	*text = tr_buffer_text(&filter->text);
	return true;
}

static bool put(struct tr_cli *cli, struct tr_text line)
{
	tr_output_put_text(cli->out, line);
	tr_output_record_end(cli->out);
	if (cli->out->failed)
		cli->stop = true;
	return !cli->stop;
}

/* Writes a line after the definitions that it uses. */
static bool put_line(struct tr_filter *filter, struct tr_text line)
{
	struct tr_output *out = filter->cli->out;

	if (filter->definitions.waiting && !write_definitions(&filter->definitions, line, out))
		return tr_filter_out_of_memory(filter);
	return put(filter->cli, line);
}

static bool drain(struct tr_filter *filter, struct tr_pending *queue);

/* Writes the context from before the first record that is kept. */
static bool put_pending(struct tr_filter *filter)
{
	filter->any_kept = true;
	return drain(filter, &filter->pending);
}

static inline bool spill(struct tr_filter *filter, struct tr_pending *queue)
{
	struct tr_error err;

	if (tr_pending_spill(queue, &err))
		return true;
	tr_cli_abort(filter->cli, &err);
	return false;
}

static bool emit_context(struct tr_filter *filter, struct tr_text line)
{
	if (filter->any_kept) {
		filter->written++;
		return put_line(filter, line);
	}
	if (!add_item(&filter->pending, TR_ITEM_CONTEXT, line, NULL))
		return tr_filter_out_of_memory(filter);
	return spill(filter, &filter->pending);
}

/*
 * False for a leave that has a name: its enter was cut away, and the trailer counts the two of
 * them as one.
 */
static bool line_counts(struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	return !tr_text_starts(line, TR_TEXT("leave\t")) ||
	       (tr_record_from_line(&record, line, NULL) && record.name.type == TR_CELL_ABSENT);
}

static bool emit_selected(struct tr_filter *filter, struct tr_text text, struct tr_call *call)
{
	if (tr_filter_full(filter))
		return true;
	filter->selected++;
	if (call) {
		call->kept = true;
		filter->owed += call->awaited;
	}
	if (filter->count_only)
		return true;
	if (!filter->fields) {
		filter->written += line_counts(text);
		return (filter->any_kept || put_pending(filter)) && put_line(filter, text);
	}
	tr_output_put_text(filter->cli->out, text);
	tr_output_record_end(filter->cli->out);
	return !filter->cli->out->failed;
}

static bool emit_leave(struct tr_filter *filter, struct tr_text line, struct tr_call *call)
{
	bool kept = !call || call->kept;

	free(call);
	return !kept || !tr_filter_writes_lines(filter) || put_line(filter, line);
}

static bool emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		 struct tr_call *call)
{
	switch (type) {
	case TR_ITEM_PASS:
		return !text.len || !tr_filter_writes_lines(filter) || put_line(filter, text);
	case TR_ITEM_CONTEXT:
		return !tr_filter_writes_lines(filter) || emit_context(filter, text);
	case TR_ITEM_SELECTED:
		return emit_selected(filter, text, call);
	case TR_ITEM_LEAVE:
		return emit_leave(filter, text, call);
	}
	return true;
}

static bool is_whole(struct tr_text line)
{
	return line.data[line.len - 1] == '\n';
}

/*
 * Writes a line that may lie in a mapped file which another process changes: code that reads the
 * line more than once gets a copy, and the line is checked just before it is written. False: it
 * was not written.
 */
static bool put_fleeting_line(struct tr_filter *filter, struct tr_text line,
			      const struct tr_columns *columns)
{
	struct tr_buffer *copy = &filter->text;

	if (filter->definitions.waiting && !are_settled(&filter->definitions, line, columns)) {
		tr_buffer_reset(copy);
		tr_buffer_put_text(copy, line);
		if (copy->failed)
			return tr_filter_out_of_memory(filter);
		return is_whole(tr_buffer_text(copy)) && put_line(filter, tr_buffer_text(copy));
	}
	return tr_output_room(filter->cli->out, line.len) && is_whole(line) &&
	       put(filter->cli, line);
}

/* Writes or counts a line that is selected by its columns alone. */
bool tr_filter_take(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns)
{
	struct tr_filter *filter = sieve->taker;

	if (filter->queue.first)
		return false; /* the queue comes first */
	if (!filter->count_only) {
		if (!filter->any_kept)
			return false; /* pending context comes first */
		if (!put_fleeting_line(filter, line, columns))
			return false;
		filter->written++;
	}
	filter->selected++;
	return true;
}

bool tr_filter_relieve(struct tr_filter *filter)
{
	return spill(filter, &filter->queue);
}

bool tr_filter_emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		    struct tr_call *call)
{
	/* a leave is written without its enter only with a limit */
	if (!filter->limited && type == TR_ITEM_LEAVE)
		free(call);
	if (!filter->limited)
		call = NULL;
	if (!filter->queue.first)
		return emit(filter, type, text, call);
	struct tr_pending_item *item = add_item(&filter->queue, type, text, call);
	if (!item && type == TR_ITEM_LEAVE)
		free(call);
	if (!item)
		return tr_filter_out_of_memory(filter);
	if (type == TR_ITEM_SELECTED) {
		filter->waiting++;
		if (call)
			call->item = item;
	}
	return tr_filter_relieve(filter);
}

/* Forgets the call of an item that leaves the queue unwritten. */
static void drop_call(const struct tr_queued *queued)
{
	if (queued->call)
		queued->call->item = NULL;
	if (queued->type == TR_ITEM_LEAVE)
		free(queued->call);
}

/* Removes the decided items at the beginning, after a failure. */
static void drop_decided(struct tr_pending *queue)
{
	struct tr_pending_item *item;

	while ((item = queue->first) && !item->pending) {
		drop_call(item->data);
		tr_pending_remove(queue, item);
		tr_pending_free_item(item);
	}
}

static bool drain_item(struct tr_filter *filter, const struct tr_pending_item *item)
{
	const struct tr_queued *queued = item->data;

	filter->waiting -= queued->type == TR_ITEM_SELECTED;
	if (queued->call)
		queued->call->item = NULL;
	return emit(filter, queued->type, item->text, queued->call);
}

static bool drain(struct tr_filter *filter, struct tr_pending *queue)
{
	const struct tr_pending_item *item;
	struct tr_error err;
	enum tr_status status = TR_OK;
	bool fine = true;

	while (fine && (status = tr_pending_next(queue, &item, &err)) == TR_OK)
		fine = drain_item(filter, item);
	if (status == TR_FATAL)
		tr_cli_abort(filter->cli, &err);
	fine = fine && status == TR_END;
	if (!fine)
		drop_decided(queue);
	return fine;
}

bool tr_filter_drain(struct tr_filter *filter)
{
	return drain(filter, &filter->queue);
}

static bool hold_exec(struct tr_filter *filter, const struct tr_record *record, struct tr_text line)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_held *held = malloc(sizeof *held);
	struct tr_pending_item *item =
		held ? add_item(&filter->queue, TR_ITEM_SELECTED, line, NULL) : NULL;

	if (!item) {
		free(held);
		return tr_filter_out_of_memory(filter);
	}
	item->pending = true;
	filter->waiting++;
	*held = (struct tr_held){ NULL, item, rebase->exec, record->source_line,
				  record->source_offset };
	rebase->exec->references++;
	*(rebase->first ? &rebase->last->next : &rebase->first) = held;
	rebase->last = held;
	return tr_filter_relieve(filter);
}

/* Rebases a held record; its environment is known or stays unknown. */
static bool decide_exec(struct tr_filter *filter, const struct tr_held *held)
{
	struct tr_record place = { .source_line = held->source_line,
				   .source_offset = held->source_offset };
	struct tr_pending_item *item = held->item;
	struct tr_text line = item->text;

	if (!rebase_line(filter, &place, held->exec, &line))
		return false;
	return line.data == item->text.data || tr_pending_replace(&filter->queue, item, line) ||
	       tr_filter_out_of_memory(filter);
}

/* Decides the first held records that are settled, or all. fine: they are rebased. */
static bool decide_execs(struct tr_filter *filter, bool all, bool fine)
{
	struct tr_rebase *rebase = &filter->rebase;

	while (rebase->first && (all || !rebase->first->exec->pending)) {
		struct tr_held *held = rebase->first;
		fine = fine && decide_exec(filter, held);
		held->item->pending = false;
		rebase->first = held->next;
		tr_env_tracker_release(rebase->tracker, held->exec);
		free(held);
	}
	return fine;
}

bool tr_filter_follow_rebase(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_error err;

	tr_env_tracker_release(rebase->tracker, rebase->exec);
	rebase->exec = NULL;
	switch (tr_env_tracker_follow(rebase->tracker, record, &rebase->exec, &err)) {
	case TR_FATAL:
		tr_cli_abort(filter->cli, &err);
		return false;
	case TR_OK:
		break;
	default:
		tr_cli_report_record(filter->cli, record, &err, false);
	}
	if (!rebase->first || rebase->first->exec->pending)
		return !filter->cli->stop;
	return decide_execs(filter, false, true) && tr_filter_drain(filter);
}

bool tr_filter_settle_rebase(struct tr_filter *filter)
{
	struct tr_rebase *rebase = &filter->rebase;

	if (!rebase->first)
		return true;
	bool fine = !filter->cli->stop &&
		    (tr_env_tracker_settle(rebase->tracker) || tr_filter_out_of_memory(filter));
	return decide_execs(filter, true, fine);
}

bool tr_filter_keep(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text text;

	if (tr_filter_sated(filter))
		return !filter->cli->stop;
	if (filter->rebases && tr_filter_writes_lines(filter) &&
	    tr_rebase_must_wait(&filter->rebase))
		return line_of(filter, record, &text) ? hold_exec(filter, record, text)
						      : !filter->cli->stop;
	if (!tr_filter_render(filter, record, NULL, &text))
		return !filter->cli->stop;
	return tr_filter_emit(filter, TR_ITEM_SELECTED, text, NULL);
}

bool tr_filter_begin_output(struct tr_filter *filter)
{
	tr_pending_free(&filter->pending);
	free_definitions(&filter->definitions);
	filter->pending = empty_queue();
	if (!filter->queue.data_size)
		filter->queue = empty_queue();
	return !filter->rebases ||
	       begin_rebase(&filter->rebase, &filter->cli->config.read.limits) ||
	       tr_filter_out_of_memory(filter);
}

void tr_filter_free_output(struct tr_filter *filter)
{
	free_definitions(&filter->definitions);
	free_rebase(&filter->rebase);
	tr_pending_free(&filter->queue);
	tr_pending_free(&filter->pending);
	tr_buffer_free(&filter->text);
}
