/* SPDX-License-Identifier: MIT */
/*
 * Computed fields. tr_computed_follow sees every line and keeps what later records need: the frame
 * number, the definitions of stack frames, the beginnings of processes and of open calls. get
 * makes the value of one field of the current record from that, in the arena of the record, and
 * only when an expression asks for it.
 */
#include "view/computed.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "coverage/block.h"
#include "coverage/programs.h"
#include "process/call.h"
#include "process/instant.h"
#include "record/ask.h"
#include "record/calls.h"
#include "record/literal.h"
#include "record/vocabulary.h"

const char *const tr_computed_names[TR_COMPUTED_NAMES] = {
	"frame", "backtrace", "end", "duration", "source", "output",
};

const char *const tr_computed_symbols[TR_COMPUTED_SYMBOLS] = { "function", "file", "line",
							       "inline" };

static const char *const computed_records[TR_COMPUTED_NAMES] = {
	"API calls",
	"calls with backtraces",
	"block records",
	"exit, sys, enter and leave records",
	"exec records of compilers",
	"exec records of compilers and linkers",
};

const char *tr_computed_records(struct tr_text name)
{
	for (size_t i = 0; i < TR_COMPUTED_NAMES; i++) {
		if (tr_text_is(name, tr_computed_names[i]))
			return computed_records[i];
	}
	return NULL;
}

/* The beginning of a process, or the definition of a stack frame, under its key. */
struct entry {
	struct tr_text key;
	union {
		int64_t began;	/* of a process */
		int64_t serial; /* of the definition of a frame */
	};
	struct tr_text value; /* of a frame: its map, as trec spells it */
	char data[];
};

/* A call that has been entered, and when. */
struct timed_call {
	struct tr_live_call live;
	int64_t began;
};

struct tr_computed {
	struct tr_computed_fields fields;
	struct tr_call_kinds call_kinds;
	struct tr_compilers *compilers; /* NULL: those that are built in */
	uint64_t frame;			/* the frame of a call that returns now */
	bool frame_ends;		/* with the last record */
	bool joined;			/* an enter is a call that never returns */
	bool has_records;
	bool ended;	/* the next line begins a segment; until then, open calls have values */
	int64_t serial; /* counts the records and trailers of the stream */
	int64_t first;	/* the serial of the first definition of this segment */
	bool defined;	/* a frame was defined since the last record or trailer */
	struct tr_map frames;	 /* of definitions, by id */
	struct tr_map processes; /* by task */
	struct tr_live_calls calls;
	int64_t began; /* the beginning of what the last record ends, or NONE */
	struct tr_buffer text;

	struct tr_programs *programs; /* NULL: there are none */
	/* where the last record is, if it is a block and `placed` is set; NULL: in no program */
	const struct tr_loaded_program *place;
	uint64_t address; /* in the file of the program */
	bool placed;
};

/* Frees all entries of a map, and empties it. */
static void clear(struct tr_map *map)
{
	size_t position = 0;
	void *entry;

	while ((entry = tr_map_next(map, &position)))
		free(entry);
	tr_map_free(map);
	*map = (struct tr_map)TR_MAP_INIT;
}

/*
 * Definitions between the last record and a header belong to the segment of the header. If there
 * are any, the frames are kept, and `first` separates them from those of the segment before.
 */
static void begin_segment(struct tr_computed *c)
{
	if (!c->defined)
		clear(&c->frames);
	c->first = c->serial;
	clear(&c->processes);
	tr_live_calls_free(&c->calls);
	c->frame = 0;
	c->frame_ends = c->has_records = c->ended = false;
}

static struct tr_value *get(struct tr_computed_fields *self, struct tr_text key,
			    struct tr_record *record, struct tr_record *leave,
			    struct tr_error *err);

struct tr_computed *tr_computed_new(unsigned (*call_kinds)(struct tr_text name),
				    struct tr_compilers *compilers)
{
	struct tr_computed *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->fields.get = get;
	c->call_kinds.ask = call_kinds;
	c->compilers = compilers;
	return c;
}

void tr_computed_free(struct tr_computed *c)
{
	if (!c)
		return;
	clear(&c->frames);
	clear(&c->processes);
	tr_live_calls_free(&c->calls);
	tr_buffer_free(&c->text);
	free(c);
}

void tr_computed_set_programs(struct tr_computed *c, struct tr_programs *programs)
{
	c->programs = programs;
}

void tr_computed_set_joined(struct tr_computed *c)
{
	c->joined = true;
}

struct tr_computed_fields *tr_computed_fields(struct tr_computed *c)
{
	return &c->fields;
}

/* Adds or replaces an entry; number is its time or serial. False: memory is exhausted. */
static bool keep(struct tr_map *map, struct tr_text key, int64_t number, struct tr_text value)
{
	struct entry *entry = malloc(sizeof *entry + key.len + value.len);

	if (!entry)
		return false;
	entry->key = (struct tr_text){ entry->data, key.len };
	entry->value = (struct tr_text){ entry->data + key.len, value.len };
	entry->began = number;
	memcpy(entry->data, key.data, key.len);
	if (value.len)
		memcpy(entry->data + key.len, value.data, value.len);
	free(tr_map_take(map, key));
	if (tr_map_put(map, entry->key, entry))
		return true;
	free(entry);
	return false;
}

/* Removes the entry of a process and returns its time. */
static int64_t take(struct tr_map *map, struct tr_text key)
{
	struct entry *entry = tr_map_take(map, key);
	int64_t began = entry ? entry->began : TR_INSTANT_NONE;

	free(entry);
	return began;
}

/* Keeps the fields of a %frame line as a map. */
static bool define_frame(struct tr_computed *c, struct tr_record *record)
{
	struct tr_buffer *to = &c->text;
	struct tr_error err;

	if (tr_record_split(record, &err) == TR_FATAL)
		return false;
	tr_error_clear(&err);
	tr_buffer_reset(to);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		const struct tr_value *value =
			field->bad ? NULL : tr_ask_field(record, field, &err);
		if (!value)
			continue;
		tr_buffer_put_byte(to, to->len ? ',' : '{');
		tr_buffer_put_byte(to, '"');
		tr_string_escape(field->key, to);
		tr_buffer_put_literal(to, "\":");
		tr_literal_write(value, to);
	}
	tr_buffer_put_text(to, to->len ? TR_TEXT("}") : TR_TEXT("{}"));
	c->defined = true;
	return err.cause != TR_CAUSE_MEMORY && !to->failed &&
	       keep(&c->frames, record->task.text, c->serial, tr_buffer_text(to));
}

/* Returns the text of a cell, which may hold a number. Valid until the next call. */
static struct tr_text cell_text(struct tr_computed *c, const struct tr_cell *cell)
{
	if (cell->type == TR_CELL_TEXT)
		return cell->text;
	tr_buffer_reset(&c->text);
	tr_cell_write(cell, &c->text);
	return tr_buffer_text(&c->text);
}

/* Keeps the beginning of a process under its task, as the source spells it. */
static bool follow_fork(struct tr_computed *c, struct tr_record *record, int64_t now)
{
	struct tr_error err;

	tr_error_clear(&err);
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	const struct tr_value *child = tr_ask_any(record, "child", &err);
	if (!child)
		return err.cause != TR_CAUSE_MEMORY;
	tr_buffer_reset(&c->text);
	tr_literal_write(child, &c->text);
	return !c->text.failed &&
	       keep(&c->processes, tr_buffer_text(&c->text), now, (struct tr_text){ NULL, 0 });
}

/* Keeps the time of an enter. For a leave, sets c->began to the time of its enter. */
static bool follow_call(struct tr_computed *c, struct tr_record *record, int64_t now)
{
	struct timed_call *call;
	struct tr_live_call *twin;

	if (tr_text_is(record->kind, "enter")) {
		call = tr_live_calls_add(&c->calls, record, sizeof *call, &twin);
		if (call)
			call->began = now;
		free(twin);
		return call;
	}
	call = tr_live_calls_take(&c->calls, record);
	c->began = call ? call->began : TR_INSTANT_NONE;
	free(call);
	return !c->calls.key.failed;
}

/*
 * Keeps the time of an event that begins something, and sets c->began if this one ends it. An exec
 * begins a process only if no fork did, because the source may not contain forks. False: memory is
 * exhausted.
 */
static bool follow_time(struct tr_computed *c, struct tr_record *record)
{
	static const struct tr_text none = { NULL, 0 };
	int64_t now = tr_instant_from_cell(&record->time);
	struct tr_text task = cell_text(c, &record->task);

	/* without times there are no durations to prepare */
	if (now == TR_INSTANT_NONE)
		return true;
	if (tr_text_is(record->kind, "fork"))
		return follow_fork(c, record, now);
	if (tr_text_is(record->kind, "exec"))
		return tr_map_get(&c->processes, task) || keep(&c->processes, task, now, none);
	if (tr_text_is(record->kind, "exit"))
		c->began = take(&c->processes, task);
	else if (tr_text_is(record->kind, "enter") || tr_text_is(record->kind, "leave"))
		return follow_call(c, record, now);
	return !c->text.failed;
}

/*
 * Follows where programs are loaded. A module whose file cannot be read counts as unknown. False:
 * memory is exhausted.
 */
static bool follow_programs(struct tr_computed *c, struct tr_record *record)
{
	struct tr_error ignored;

	c->placed = false;
	if (record->type == TR_HEADER)
		tr_programs_begin(c->programs);
	return record->type != TR_RECORD || tr_text_is(record->kind, "block") ||
	       tr_programs_put(c->programs, record, &ignored) != TR_FATAL;
}

/* True if a call ends with the record, and a frame with the call. */
static bool ends_frame(struct tr_computed *c, const struct tr_record *record)
{
	return tr_kind_is_call(record->kind) && (c->joined || !tr_text_is(record->kind, "enter")) &&
	       record->name.type == TR_CELL_TEXT &&
	       (tr_call_kinds_of(&c->call_kinds, record->name.text) & TR_CALL_END_FRAME);
}

void tr_computed_end_call(struct tr_computed *c, bool ends)
{
	/* a call that ends a frame belongs to it, so the number rises only now */
	c->frame += c->frame_ends;
	c->frame_ends = ends;
}

bool tr_computed_follow(struct tr_computed *c, struct tr_record *record)
{
	if (c->ended)
		begin_segment(c);
	if (c->programs && !follow_programs(c, record))
		return false;
	switch (record->type) {
	case TR_HEADER:
		c->ended = c->has_records;
		return true;
	case TR_TRAILER:
		c->ended = true;
		c->defined = false;
		c->serial++;
		return true;
	case TR_DEFINITION:
		return !tr_text_is(record->kind, "frame") || record->task.type != TR_CELL_TEXT ||
		       define_frame(c, record);
	case TR_COMMENT:
		return true;
	case TR_RECORD:
		break;
	}
	c->has_records = true;
	c->defined = false;
	c->serial++;
	tr_computed_end_call(c, ends_frame(c, record));
	return follow_time(c, record);
}

/* Allocates a value of a type; the caller fills the rest. NULL: err is filled. */
static struct tr_value *new_value(struct tr_arena *arena, enum tr_type type, struct tr_error *err)
{
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);

	if (value)
		*value = (struct tr_value){ .type = (uint8_t)type };
	else
		tr_error_memory(err);
	return value;
}

/* Allocates a number of a type. NULL: err is filled. */
static struct tr_value *number(struct tr_arena *arena, enum tr_type type, uint64_t number,
			       struct tr_error *err)
{
	struct tr_value *value = new_value(arena, type, err);

	if (value)
		value->as.number = number;
	return value;
}

/* The frame in which a call returns. NULL: the record is no call, or err is filled. */
static struct tr_value *get_frame(const struct tr_computed *c, struct tr_record *record,
				  const struct tr_record *leave, struct tr_error *err)
{
	if (!tr_kind_is_call(record->kind))
		return NULL;
	/* an enter is asked for before its call ends: see tr_computed_end_call */
	bool later = !c->joined && !leave && tr_text_is(record->kind, "enter") && c->frame_ends;
	return number(record->arena, TR_UINT, c->frame + later, err);
}

/*
 * The stack frames that .bt names, as their definitions describe them. NULL: there is none, or err
 * is filled.
 */
static struct tr_value *get_backtrace(const struct tr_computed *c, struct tr_record *record,
				      struct tr_error *err)
{
	struct tr_arena *arena = record->arena;

	if (tr_record_split(record, err) == TR_FATAL)
		return NULL;
	tr_error_clear(err);
	const struct tr_value *ids = tr_ask(record, ".bt", TR_LIST, err);
	struct tr_value *list = ids ? new_value(arena, TR_LIST, err) : NULL;
	if (!list)
		return NULL;
	list->as.items = tr_arena_alloc(arena, ids->count * sizeof *list->as.items);
	if (!list->as.items) {
		tr_error_memory(err);
		return NULL;
	}
	/* an id without a definition is shown as it is */
	for (list->count = 0; list->count < ids->count; list->count++) {
		const struct tr_value *id = &ids->as.items[list->count];
		const struct entry *entry = NULL;
		if (id->type == TR_SYMBOL && id->as.symbol->count == 1)
			entry = tr_map_get(&c->frames, id->as.symbol->names[0].text);
		if (entry && entry->serial < c->first)
			entry = NULL; /* defined in an earlier segment */
		struct tr_text copy = entry ? tr_arena_copy(arena, entry->value) : TR_TEXT("");
		struct tr_value *frame = entry ? tr_literal_parse(copy, arena, err) : NULL;
		if (entry && !frame)
			return NULL;
		list->as.items[list->count] = frame ? *frame : *id;
	}
	return list;
}

/*
 * The address after the last byte of a block. With addresses of 32 bits it wraps there. NULL: the
 * record is no block, or err is filled.
 */
static struct tr_value *get_end(struct tr_record *record, struct tr_error *err)
{
	struct tr_block block;
	struct tr_error ignored;

	if (!tr_text_is(record->kind, "block") || tr_block_read(record, &block, &ignored) != TR_OK)
		return NULL;
	uint64_t end = block.address + block.size;
	return number(record->arena, TR_POINTER, block.digits == 8 ? (uint32_t)end : end, err);
}

/* A duration as a REAL. NULL: a time is unknown, or time ran backwards, or err is filled. */
static struct tr_value *seconds(struct tr_arena *arena, int64_t from, int64_t to,
				struct tr_error *err)
{
	int64_t duration = tr_instant_between(from, to);
	double real = (double)duration / TR_INSTANT_SECOND;
	uint64_t bits;

	if (duration == TR_INSTANT_NONE)
		return NULL;
	memcpy(&bits, &real, sizeof bits);
	return number(arena, TR_REAL64, bits, err);
}

/*
 * Returns the duration of the process or call that the record ends. NULL: unknown, or err is
 * filled.
 */
static struct tr_value *get_duration(const struct tr_computed *c, struct tr_record *record,
				     const struct tr_record *leave, struct tr_error *err)
{
	struct tr_arena *arena = record->arena;
	int64_t now = tr_instant_from_cell(&record->time);

	if (tr_text_is(record->kind, "sys")) {
		if (tr_record_split(record, err) == TR_FATAL)
			return NULL;
		tr_error_clear(err);
		return (struct tr_value *)tr_ask_any(record, "dur", err);
	}
	if (leave)
		return seconds(arena, now, tr_instant_from_cell(&leave->time), err);
	if (tr_text_is(record->kind, "exit") || tr_text_is(record->kind, "leave"))
		return seconds(arena, c->began, now, err);
	return NULL;
}

/* Appends bytes to a list as a string with trec's escapes. */
static bool add_string(struct tr_value *list, struct tr_text bytes, struct tr_arena *arena,
		       struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_value *item = &list->as.items[list->count];

	tr_string_escape(bytes, &text);
	*item = (struct tr_value){ .type = TR_STRING };
	item->text = tr_arena_copy(arena, tr_buffer_text(&text));
	bool fine = !text.failed && item->text.data;
	if (fine && !memchr(item->text.data, '\\', item->text.len))
		item->flags = TR_PLAIN;
	tr_buffer_free(&text);
	if (!fine)
		tr_error_memory(err);
	list->count += fine;
	return fine;
}

/*
 * The output for a source, or without one (data NULL) for all sources together. Sets *failed when
 * memory is exhausted.
 */
static struct tr_text output_of(const struct tr_invocation *invocation, struct tr_text source,
				struct tr_arena *arena, bool *failed)
{
	struct tr_text output;

	if (!source.data) {
		struct tr_buffer name = TR_BUFFER_INIT;
		output = invocation->tool == TR_TOOL_DRIVER_CL ? invocation->product
							       : invocation->output;
		if (output.data)
			return output;
		tr_invocation_product(invocation, &name);
		if (name.len)
			output = tr_arena_copy(arena, tr_buffer_text(&name));
		*failed |= name.failed || (name.len && !output.data);
		tr_buffer_free(&name);
		return output;
	}
	output = tr_invocation_output(invocation, source, arena, failed);
	if (!output.data && !*failed && invocation->program.section->object.len &&
	    (invocation->mode == TR_MODE_COMPILE || invocation->mode == TR_MODE_ASSEMBLY)) {
		output = tr_invocation_object(invocation, source, arena);
		*failed = !output.data;
	}
	return output;
}

/* Lists the sources of a call, or its outputs. */
static bool list_files(const struct tr_invocation *invocation, bool outputs, struct tr_value *list,
		       struct tr_arena *arena, struct tr_error *err)
{
	bool failed = false;

	if (outputs && invocation->mode == TR_MODE_LINK) {
		struct tr_text output =
			output_of(invocation, (struct tr_text){ NULL, 0 }, arena, &failed);
		if (failed)
			tr_error_memory(err);
		return !failed && (!output.data || add_string(list, output, arena, err));
	}
	for (size_t i = 0; i < invocation->count && !failed; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role != TR_ROLE_SOURCE)
			continue;
		struct tr_text file =
			outputs ? output_of(invocation, part->file, arena, &failed) : part->file;
		if (file.data && !add_string(list, file, arena, err))
			return false;
	}
	if (failed)
		tr_error_memory(err);
	return !failed;
}

/*
 * The files that a compiler or linker reads (sources) or makes (outputs): a string, or a list.
 * NULL: the record is no such program, or it failed to start, or err is filled. Options that
 * cannot be read are reported with the record (tr_arena_defer).
 */
static struct tr_value *get_files(const struct tr_computed *c, struct tr_record *record,
				  bool outputs, struct tr_error *err)
{
	const struct tr_call_config config = { .compilers = c->compilers };
	struct tr_arena *arena = record->arena;
	struct tr_error why;
	struct tr_call call;

	if (!tr_text_is(record->kind, "exec"))
		return NULL;
	enum tr_status status = tr_record_split(record, &why);
	if (status != TR_FATAL && !tr_command_failed(record))
		status = tr_call_read(record, &config, &call, &why);
	else if (status != TR_FATAL)
		return NULL;
	if (status == TR_FATAL) {
		*err = why;
		return NULL;
	}
	/* a command line that cannot be read counts as absent here */
	if (status == TR_WARN)
		tr_arena_defer(arena, &why);
	if (status != TR_OK || call.libtool ||
	    (call.tool != TR_TOOL_DRIVER && call.tool != TR_TOOL_DRIVER_CL &&
	     call.tool != TR_TOOL_COMPILER && call.tool != TR_TOOL_ASSEMBLER &&
	     call.tool != TR_TOOL_LINKER && call.tool != TR_TOOL_COLLECTOR) ||
	    call.invocation.mode == TR_MODE_QUERY)
		return NULL;
	struct tr_value *list = new_value(arena, TR_LIST, err);
	if (!list)
		return NULL;
	list->as.items =
		tr_arena_alloc(arena, (call.invocation.count + 1) * sizeof *list->as.items);
	if (!list->as.items) {
		tr_error_memory(err);
		return NULL;
	}
	if (!list_files(&call.invocation, outputs, list, arena, err) || list->count == 0)
		return NULL;
	return list->count == 1 ? &list->as.items[0] : list;
}

/* Makes a string of a name or a path. NULL: err is filled. */
static struct tr_value *get_string(const char *string, struct tr_arena *arena, struct tr_error *err)
{
	struct tr_value list = { .type = TR_LIST };

	list.as.items = new_value(arena, TR_STRING, err);
	return list.as.items && add_string(&list, tr_text_from(string), arena, err) ? list.as.items
										    : NULL;
}

/* The functions that are inlined at the address of the block. NULL: none, or err is filled. */
static struct tr_value *get_inlines(const struct tr_computed *c, struct tr_arena *arena,
				    struct tr_error *err)
{
	enum { DEPTH = 32 };
	const struct tr_elf *program = c->place->program;
	const struct tr_code_inline *calls[DEPTH];
	size_t count = tr_elf_inlines(program, c->address, calls, DEPTH);
	struct tr_value *list = count ? new_value(arena, TR_LIST, err) : NULL;

	if (!list)
		return NULL;
	list->as.items = tr_arena_alloc(arena, count * sizeof *list->as.items);
	if (!list->as.items) {
		tr_error_memory(err);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (!add_string(list, tr_text_from(tr_elf_string(program, calls[i]->name)), arena,
				err))
			return NULL;
	return list;
}

/* Finds what the program knows about the address of a block. NULL: nothing, or err is filled. */
static struct tr_value *get_symbol(struct tr_computed *c, struct tr_text key,
				   struct tr_record *record, struct tr_error *err)
{
	struct tr_arena *arena = record->arena;
	struct tr_block block;

	if (!tr_text_is(record->kind, "block"))
		return NULL;
	if (!c->placed) {
		c->place = NULL;
		if (tr_block_read(record, &block, err) == TR_OK)
			c->place = tr_programs_place(c->programs, record, &block, err);
		if (tr_error_is_memory(err))
			return NULL;
		tr_error_clear(err); /* a block that cannot be read does not have the field */
		c->address = block.address;
		c->placed = true;
	}
	if (!c->place)
		return NULL;
	if (tr_text_is(key, "inline"))
		return get_inlines(c, arena, err);
	const struct tr_elf *program = c->place->program;
	if (tr_text_is(key, "function")) {
		const struct tr_code_function *function = tr_elf_function(program, c->address);
		return function ? get_string(tr_elf_string(program, function->linkage), arena, err)
				: NULL;
	}
	const struct tr_code_row *row = tr_elf_row(program, c->address);
	if (row && tr_text_is(key, "line"))
		return number(arena, TR_UINT, row->line, err);
	return row && row->file ? get_string(tr_elf_file(program, row->file), arena, err) : NULL;
}

/* The interface of expressions. NULL: this record has no such field, or err is filled. */
static struct tr_value *get(struct tr_computed_fields *self, struct tr_text key,
			    struct tr_record *record, struct tr_record *leave, struct tr_error *err)
{
	struct tr_computed *c = (struct tr_computed *)self;

	tr_error_clear(err);
	for (size_t i = 0; c->programs && i < TR_COMPUTED_SYMBOLS; i++)
		if (tr_text_is(key, tr_computed_symbols[i]))
			return get_symbol(c, key, record, err);
	if (tr_text_is(key, "frame"))
		return get_frame(c, record, leave, err);
	if (tr_text_is(key, "backtrace"))
		return get_backtrace(c, record, err);
	if (tr_text_is(key, "end"))
		return get_end(record, err);
	if (tr_text_is(key, "duration"))
		return get_duration(c, record, leave, err);
	if (tr_text_is(key, "source") || tr_text_is(key, "output"))
		return get_files(c, record, *key.data == 'o', err);
	return NULL;
}
