/* Functions whose definitions were lost: a name, and the arguments that records show. */
#include <string.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/write_signature.h"

enum {
	MOST_UNNAMED = 4096, /* arguments that only a "#N" speaks of */
	/*
	 * Memory for what is not in the record at hand: arguments that earlier ones
	 * showed, and those below a "#N". Real traces need some kilobytes of it; a
	 * stream of ever new arguments would take it square.
	 */
	MOST_SPARE = 4 << 20,
};

/* A field that is an argument: keys that begin with a dot and `return` are ours. */
static bool is_argument(const struct tr_field *field)
{
	return field->key.data && !field->bad && *field->key.data != '.' &&
	       !tr_text_is(field->key, "return");
}

/* The number of "#N", where it is one that a signature has room for. */
static bool is_unnamed(const struct tr_field *field, uint64_t *number)
{
	if (!is_argument(field) || *field->key.data != '#')
		return false;
	struct tr_cell cell = { .type = TR_CELL_TEXT,
				.text = { field->key.data + 1, field->key.len - 1 } };
	return tr_cell_number(&cell, number) && *number < MOST_UNNAMED;
}

struct arguments {
	struct tr_apitrace_label *labels;
	bool *taken;
	size_t count, next;
	struct tr_map names;
};

static void take(struct arguments *arguments, size_t at, struct tr_text name)
{
	arguments->labels[at] = (struct tr_apitrace_label){ .name = name };
	arguments->taken[at] = true;
	if (at >= arguments->count)
		arguments->count = at + 1;
}

static bool add_name(struct arguments *arguments, struct tr_text name)
{
	if (tr_map_get(&arguments->names, name))
		return true;
	while (arguments->taken[arguments->next])
		arguments->next++;
	take(arguments, arguments->next, name);
	return tr_map_put(&arguments->names, name, &arguments->labels[arguments->next]);
}

/* Those of `before` in front, then what the record adds. False: memory, or a bad key. */
static bool collect(struct arguments *arguments, const struct tr_apitrace_signature *before,
		    struct tr_record *record, struct tr_error *err)
{
	uint64_t number;
	for (size_t i = 0; before && i < before->count; i++) {
		take(arguments, i, before->labels[i].name);
		if (arguments->labels[i].name.len &&
		    !tr_map_put(&arguments->names, before->labels[i].name, &arguments->labels[i]))
			return false;
	}
	for (size_t i = 0; i < record->count; i++)
		if (is_unnamed(&record->fields[i], &number) && !arguments->taken[number])
			take(arguments, (size_t)number, TR_TEXT(""));
	for (size_t i = 0; i < record->count; i++) {
		struct tr_text name;
		if (!is_argument(&record->fields[i]) || *record->fields[i].key.data == '#')
			continue;
		if (!tr_cell_bytes(record->fields[i].key, record->arena, &name, err) ||
		    !add_name(arguments, name))
			return false;
	}
	return true;
}

/* Room for the record's arguments, and for those below the highest "#N" of it. */
static size_t count_own(const struct tr_record *record)
{
	size_t own = 0;
	uint64_t number;
	for (size_t i = 0; i < record->count; i++)
		if (is_unnamed(&record->fields[i], &number) && number >= own)
			own = (size_t)number + 1;
	return own + record->count;
}

/* True where so much more may be kept. */
static bool spare(struct tr_written_signatures *signatures, size_t bytes)
{
	if (bytes > MOST_SPARE - signatures->spared)
		return false;
	signatures->spared += bytes;
	return true;
}

static bool spare_signature(struct tr_written_signatures *signatures,
			    const struct tr_apitrace_signature *before)
{
	size_t bytes = before->count * sizeof *before->labels;
	for (size_t i = 0; i < before->count && bytes <= MOST_SPARE; i++)
		bytes += before->labels[i].name.len;
	return spare(signatures, bytes);
}

/* Labels of no name, none of them taken. False: memory is out. */
static bool make_room(struct arguments *arguments, struct tr_arena *arena, size_t room)
{
	arguments->labels = tr_arena_alloc(arena, room * sizeof *arguments->labels);
	arguments->taken = tr_arena_alloc(arena, room * sizeof *arguments->taken);
	if (!arguments->labels || !arguments->taken)
		return false;
	memset(arguments->taken, 0, room * sizeof *arguments->taken);
	for (size_t i = 0; i < room; i++)
		arguments->labels[i] = (struct tr_apitrace_label){ .name = TR_TEXT("") };
	return true;
}

static struct tr_apitrace_signature *rebuild_function(struct tr_written_signatures *signatures,
						      const struct tr_apitrace_signature *before,
						      struct tr_text name, const uint64_t *id,
						      struct tr_record *record,
						      struct tr_error *err)
{
	size_t own = count_own(record), holes = own - record->count;
	struct arguments arguments = { .count = 0 };
	struct tr_apitrace_signature *function = NULL;
	if (!spare(signatures, holes * sizeof *arguments.labels)) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "too many arguments without a name, of functions without definition");
		return NULL;
	}
	if (before && !spare_signature(signatures, before))
		before = NULL;
	tr_error_memory(err);
	if (make_room(&arguments, record->arena, own + (before ? before->count : 0)) &&
	    collect(&arguments, before, record, err)) {
		struct tr_apitrace_signature draft = {
			.table = TR_APITRACE_FUNCTIONS,
			.name = name,
			.labels = arguments.labels,
			.count = arguments.count,
		};
		signatures->any_rebuilt = true;
		function = tr_rebuilt_make(signatures, &draft, id);
	}
	tr_map_free(&arguments.names);
	return function;
}

/* The rebuilt function has a place for every argument of the record. */
static bool suffices(struct tr_written_signatures *signatures,
		     struct tr_apitrace_signature *function, const struct tr_record *record)
{
	uint64_t number;
	for (size_t i = 0; i < record->count; i++)
		if (is_argument(&record->fields[i]) &&
		    !tr_written_argument(signatures, function, record->fields[i].key, i, &number))
			return false;
	return true;
}

/* Where the function of that cell is, if it was looked for not long ago; or another, or NULL. */
static struct tr_apitrace_signature **recent_function(struct tr_written_signatures *signatures,
						      struct tr_text cell)
{
	size_t len = cell.len, hash = len;
	if (len) {
		hash += 5 * (unsigned char)cell.data[len - 1];
		hash += 31 * (unsigned char)cell.data[len / 2];
		hash += 127 * (unsigned char)cell.data[len - len / 4 - 1];
	}
	return &signatures->recent[hash % TR_WRITTEN_RECENT];
}

bool tr_written_is_recent(struct tr_written_signatures *signatures, struct tr_record *record)
{
	if (record->name.type != TR_CELL_TEXT)
		return false;
	const struct tr_apitrace_signature *recent =
		*recent_function(signatures, record->name.text);
	return recent && tr_text_equal(recent->cell, record->name.text);
}

enum tr_status tr_written_function(struct tr_written_signatures *signatures,
				   struct tr_record *record, const uint64_t *id,
				   struct tr_apitrace_signature **function, struct tr_error *err)
{
	struct tr_text name;
	if (record->name.type != TR_CELL_TEXT) {
		tr_error_set(err, TR_CAUSE_INPUT, "a call needs the name of its function");
		return TR_WARN;
	}
	struct tr_apitrace_signature **recent = recent_function(signatures, record->name.text);
	*function = *recent;
	if (!id && *function && tr_text_equal((*function)->cell, record->name.text))
		return TR_OK;
	if (!tr_cell_bytes(record->name.text, record->arena, &name, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	*function = id ? tr_apitrace_signature(&signatures->defined, TR_APITRACE_FUNCTIONS, *id)
		       : tr_apitrace_function(&signatures->defined, name);
	if (*function && tr_text_equal((*function)->name, name)) {
		if (!id)
			*recent = *function;
		return TR_OK;
	}
	tr_rebuilt_begin_key(signatures, id ? 'F' : 'f', id ? *id : 0);
	tr_buffer_put_text(&signatures->scratch, name);
	struct tr_apitrace_signature *before = tr_rebuilt_shown(signatures);
	*function = before;
	if (before && suffices(signatures, before, record))
		return TR_OK;
	*function = rebuild_function(signatures, before, name, id, record, err);
	if (*function)
		return TR_OK;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}
