/* SPDX-License-Identifier: MIT */
/*
 * Keeps copies of the enters that have no leave yet, and joins lines or fields when the leave
 * comes.
 *
 * A built record is copied into one block of memory by the place_ functions, which run twice: first
 * without memory, to count the bytes, and then to copy them, so that size and copy cannot disagree.
 */

#include "record/join.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/container.h"
#include "core/input.h"
#include "record/calls.h"

struct block {
	char *bytes; /* NULL: only count */
	size_t used;
};

/* Copies size bytes to the next free place of the block, and returns it; NULL while counting. */
static void *place(struct block *block, const void *from, size_t size)
{
	char *to = block->bytes ? block->bytes + block->used : NULL;
	if (to && size)
		memcpy(to, from, size);
	block->used += (size + 15) & ~(size_t)15;
	return to;
}

static void place_text(struct block *block, struct tr_text *text)
{
	if (text->data)
		text->data = place(block, text->data, text->len);
}

static void place_symbol(struct block *block, struct tr_symbol **symbol)
{
	struct tr_symbol copy = **symbol;
	struct tr_name *names = place(block, copy.names, copy.count * sizeof *names);
	for (size_t i = 0; i < copy.count; i++) {
		struct tr_name name = copy.names[i];
		place_text(block, &name.text);
		if (names)
			names[i] = name;
	}
	copy.names = names;
	*symbol = place(block, &copy, sizeof copy);
}

static void place_within(struct block *block, struct tr_value *value);

/* Places values with all that they contain. */
static struct tr_value *place_values(struct block *block, const struct tr_value *values,
				     size_t count)
{
	struct tr_value *to = place(block, values, count * sizeof *to);
	for (size_t i = 0; i < count; i++) {
		struct tr_value value = values[i];
		place_within(block, &value);
		if (to)
			to[i] = value;
	}
	return to;
}

static struct tr_member *place_members(struct block *block, const struct tr_member *members,
				       size_t count)
{
	struct tr_member *to = place(block, members, count * sizeof *to);
	for (size_t i = 0; i < count; i++) {
		struct tr_member member = members[i];
		place_text(block, &member.key);
		member.value = place_values(block, member.value, 1);
		if (to)
			to[i] = member;
	}
	return to;
}

/* Copies what value points to, and makes it point there. At most 60 levels deep, as values are. */
static void place_within(struct block *block, struct tr_value *value)
{
	place_text(block, &value->text);
	switch ((enum tr_type)value->type) {
	case TR_SYMBOL:
		place_symbol(block, &value->as.symbol);
		break;
	case TR_LIST:
	case TR_REPR:
		value->as.items = place_values(block, value->as.items, value->count);
		break;
	case TR_MAP:
	case TR_STRUCT:
		value->as.members = place_members(block, value->as.members, value->count);
		break;
	default:
		break;
	}
}

static void place_fields(struct block *block, struct tr_record *record)
{
	const struct tr_field *fields = record->fields;
	struct tr_field *to = place(block, fields, record->count * sizeof *to);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field field = fields[i];
		place_text(block, &field.key);
		place_text(block, &field.text);
		if (field.value)
			field.value = place_values(block, field.value, 1);
		if (to)
			to[i] = field;
	}
	record->fields = to;
}

/* Places everything that a record points to. */
static void place_record(struct block *block, struct tr_record *record)
{
	struct tr_cell *const cells[] = { &record->seq, &record->time, &record->task,
					  &record->name };
	place_text(block, &record->kind);
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		if (cells[i]->type == TR_CELL_TEXT)
			place_text(block, &cells[i]->text);
	place_text(block, &record->comment);
	place_fields(block, record);
}

/* Copies a record that came as text: its line, which is parsed again. */
static struct tr_record *clone_line(const struct tr_record *record, size_t *size)
{
	size_t len = record->line.len;
	*size = sizeof(struct tr_record) + len + TR_INPUT_PAD;
	struct tr_record *copy = malloc(*size);
	if (!copy)
		return NULL;
	char *line = (char *)(copy + 1);
	memcpy(line, record->line.data, len);
	memset(line + len, 0, TR_INPUT_PAD);
	tr_record_init(copy, NULL);
	/* it was parsed before, so this cannot fail */
	tr_record_from_line(copy, (struct tr_text){ line, len }, NULL);
	copy->canonical = record->canonical;
	copy->source_line = record->source_line;
	copy->source_offset = record->source_offset;
	return copy;
}

/*
 * Makes a deep copy in one block of memory, which free(3) frees; *size is its size. Like any line,
 * that of the copy has readable bytes after it. The copy has no arena: set one before its fields
 * are split or parsed. NULL: memory is exhausted.
 */
static struct tr_record *clone_record(const struct tr_record *record, size_t *size)
{
	if (record->line.data)
		return clone_line(record, size);
	struct tr_record copy = *record;
	struct block block = { NULL, 0 };
	place(&block, record, sizeof *record);
	place_record(&block, &copy);
	*size = block.used;
	block.bytes = malloc(block.used);
	if (!block.bytes)
		return NULL;
	block.used = 0;
	struct tr_record *to = place(&block, record, sizeof *record);
	to->arena = NULL;
	to->spell = NULL; /* its data may be freed earlier */
	place_record(&block, to);
	return to;
}

struct live {
	struct tr_live_call call;
	struct tr_record *enter;
	size_t size; /* of enter */
};

struct tr_join {
	struct tr_live_calls calls;
	size_t bytes;		 /* of their enters */
	bool reported;		 /* that there are too many was reported */
	struct tr_record *given; /* the line that was put and not processed yet */
	bool ended;		 /* the segment of the live calls has ended */
	struct live *shown;	 /* the call of the record that was returned last; or NULL */
	struct tr_buffer line;
	struct tr_arena arena; /* of the last record, if it was made here */
	struct tr_record call;
	struct tr_field *fields;
	size_t capacity; /* of fields */
};

struct tr_join *tr_join_new(void)
{
	return calloc(1, sizeof(struct tr_join));
}

/* Sets the call that the next record comes from, which is freed after that record. */
static void set_shown(struct tr_join *join, struct live *live)
{
	if (join->shown)
		free(join->shown->enter);
	free(join->shown);
	join->shown = live;
	join->bytes -= live ? live->size : 0;
}

void tr_join_free(struct tr_join *join)
{
	if (!join)
		return;
	while (join->calls.first)
		set_shown(join, tr_live_calls_remove(&join->calls, join->calls.first));
	set_shown(join, NULL);
	tr_live_calls_free(&join->calls);
	tr_buffer_free(&join->line);
	tr_arena_free(&join->arena);
	free(join->fields);
	free(join);
}

bool tr_join_is_idle(const struct tr_join *join)
{
	return !join->calls.first && !join->shown && !join->given;
}

/*
 * Keeps a copy of an enter until its leave comes. A pending enter with the same task and seq has
 * lost its leave, and becomes the call to return next. False: memory is exhausted.
 */
static bool keep(struct tr_join *join, const struct tr_record *enter)
{
	struct tr_live_call *twin;
	struct live *live = tr_live_calls_add(&join->calls, enter, sizeof *live, &twin);

	if (!live)
		return false;
	set_shown(join, twin ? tr_container(twin, struct live, call) : NULL);
	live->enter = clone_record(enter, &live->size);
	if (live->enter) {
		join->bytes += live->size;
		return true;
	}
	free(tr_live_calls_remove(&join->calls, &live->call));
	return false;
}

/* Returns an enter whose leave is missing. */
static struct tr_record *alone(struct tr_join *join, struct live *live)
{
	tr_arena_reset(&join->arena);
	live->enter->arena = &join->arena;
	return live->enter;
}

/* Appends the columns of the rest of a line, without "->". */
static void put_fields(struct tr_join *join, struct tr_text rest)
{
	const char *p = rest.data, *end = p + rest.len;

	while (p < end) {
		const char *tab = memchr(p + 1, '\t', (size_t)(end - p - 1));
		const char *next = tab ? tab : end;
		if (!(next - p == 3 && p[1] == '-' && p[2] == '>'))
			tr_buffer_put_text(&join->line, tr_text_span(p, next));
		p = next;
	}
}

/* Appends the rest of a line that has no "->", or begins with it. */
static void put_leave_fields(struct tr_join *join, struct tr_text rest)
{
	if (tr_text_starts(rest, TR_TEXT("\t->")) && (rest.len == 3 || rest.data[3] == '\t'))
		tr_buffer_put_text(&join->line, tr_text_span(rest.data + 3, rest.data + rest.len));
	else
		put_fields(join, rest);
}

/*
 * Makes a call of two lines: the columns and fields of the enter, the arrow, and the fields of the
 * leave. False: memory is exhausted.
 */
static bool join_lines(struct tr_join *join, const struct tr_record *enter,
		       const struct tr_record *leave)
{
	struct tr_buffer *line = &join->line;
	struct tr_record *call = &join->call;

	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "call");
	tr_buffer_put_text(line,
			   tr_text_span(enter->line.data + enter->kind.len, enter->rest.data));
	put_fields(join, enter->rest);
	tr_buffer_put_literal(line, "\t->");
	put_leave_fields(join, leave->rest);
	tr_buffer_put_byte(line, '\n');
	if (tr_record_from_buffer(call, &join->arena, line, NULL) != TR_OK)
		return false;
	call->canonical = enter->canonical && leave->canonical;
	return true;
}

/* Makes a call of two built records; its fields borrow their values. False: memory is exhausted. */
static bool join_built(struct tr_join *join, const struct tr_record *enter,
		       const struct tr_record *leave)
{
	size_t count = enter->count + leave->count;

	if (count > join->capacity) {
		struct tr_field *fields = realloc(join->fields, count * sizeof *fields);
		if (!fields)
			return false;
		join->fields = fields;
		join->capacity = count;
	}
	if (enter->count)
		memcpy(join->fields, enter->fields, enter->count * sizeof *join->fields);
	if (leave->count)
		memcpy(join->fields + enter->count, leave->fields,
		       leave->count * sizeof *join->fields);
	join->call = *enter;
	join->call.arena = &join->arena;
	join->call.kind = TR_TEXT("call");
	join->call.spell = NULL;
	join->call.fields = join->fields;
	join->call.count = count;
	join->call.arrow = enter->count;
	return true;
}

/* Replaces *record, if it was built, by one that has a line, in the arena. */
static enum tr_status as_line(struct tr_join *join, struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	if ((*record)->line.data)
		return TR_OK;
	enum tr_status status = tr_record_write(*record, &text, err);
	if (status == TR_OK) {
		struct tr_text line = tr_arena_copy(&join->arena, tr_buffer_text(&text));
		struct tr_record *made = tr_arena_alloc(&join->arena, sizeof *made);
		if (line.data && made) {
			tr_record_init(made, &join->arena);
			tr_record_from_line(made, line, NULL);
			made->canonical = true;
			*record = made;
		} else {
			tr_error_memory(err);
			status = TR_FATAL;
		}
	}
	tr_buffer_free(&text);
	return status;
}

/*
 * Makes a call of an enter and its leave, in join->call. If one of them is a line, the other is
 * spelled as one, too. The call is at the position of the leave.
 */
static enum tr_status joined(struct tr_join *join, struct tr_record *enter, struct tr_record *leave,
			     struct tr_error *err)
{
	bool built = !enter->line.data && !leave->line.data;
	enum tr_status status = TR_OK;

	tr_arena_reset(&join->arena);
	enter->arena = &join->arena;
	if (!built)
		status = as_line(join, &enter, err);
	if (status == TR_OK && !built)
		status = as_line(join, &leave, err);
	if (status != TR_OK)
		return status;
	if (!(built ? join_built : join_lines)(join, enter, leave))
		return tr_error_memory(err);
	join->call.source_line = leave->source_line;
	join->call.source_offset = leave->source_offset;
	return TR_OK;
}

void tr_join_put(struct tr_join *join, struct tr_record *record)
{
	join->given = record;
	join->ended = !record || record->type == TR_HEADER || record->type == TR_TRAILER;
}

/* Processes the line that was put. *record NULL: no record results. */
static enum tr_status process(struct tr_join *join, struct tr_record **record, struct tr_error *err)
{
	struct tr_record *given = join->given;

	*record = NULL;
	join->given = NULL;
	if (tr_join_is_kind(given, "enter")) {
		if (!keep(join, given))
			return tr_error_memory(err);
		*record = join->shown ? alone(join, join->shown) : NULL;
		return TR_OK;
	}
	if (tr_join_is_kind(given, "leave"))
		set_shown(join, tr_live_calls_take(&join->calls, given));
	if (join->calls.key.failed)
		return tr_error_memory(err);
	*record = join->shown ? &join->call : given;
	return join->shown ? joined(join, join->shown->enter, given, err) : TR_OK;
}

/* Reports once that there are too many calls. */
static enum tr_status report_lost(struct tr_join *join, struct tr_error *err)
{
	join->reported = true;
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "too many calls have not returned: from here on, the oldest count as calls "
		     "that never return");
	err->severity = TR_FLAW;
	return TR_WARN;
}

enum tr_status tr_join_next(struct tr_join *join, struct tr_record **record, struct tr_error *err)
{
	set_shown(join, NULL);
	bool lost = !join->ended && tr_calls_are_lost(join->calls.by_key.count, join->bytes);
	if (lost && !join->reported)
		return report_lost(join, err);
	if (lost || (join->ended && join->calls.first)) {
		set_shown(join, tr_live_calls_remove(&join->calls, join->calls.first));
		*record = alone(join, join->shown);
		return TR_OK;
	}
	if (!join->given)
		return TR_END;
	enum tr_status status = process(join, record, err);
	return status == TR_OK && !*record ? TR_END : status;
}
