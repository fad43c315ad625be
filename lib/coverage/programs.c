/* SPDX-License-Identifier: MIT */
/* Programs by their file names and addresses. */
#include "coverage/programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/ask.h"

/* A module of a drcov file. */
struct module_program {
	struct tr_loaded_program *loaded; /* NULL: there is none */
	uint64_t bias;
};

/* Returns the part after the last slash or backslash. */
static struct tr_text base_name(struct tr_text path)
{
	size_t at = path.len;
	while (at && path.data[at - 1] != '/' && path.data[at - 1] != '\\')
		at--;
	return (struct tr_text){ path.data + at, path.len - at };
}

/* Opens a program and adds it to the list. NULL: err is filled. */
static struct tr_loaded_program *add_program(struct tr_programs *programs, const char *path,
					     struct tr_error *err)
{
	struct tr_loaded_program *loaded = tr_arena_alloc(&programs->memory, sizeof *loaded);
	if (!loaded || !tr_array_room(programs->list, programs->count, programs->cap)) {
		tr_error_memory(err);
		return NULL;
	}
	*loaded = (struct tr_loaded_program){ .program =
						      tr_elf_open(path, programs->demangles, err) };
	if (!loaded->program)
		return NULL;
	programs->list[programs->count++] = loaded;
	return loaded;
}

/* Copies a text with a NUL. NULL: memory is exhausted. */
static char *string_of(struct tr_programs *programs, struct tr_text text)
{
	char *string = tr_arena_alloc(&programs->memory, text.len + 1);
	if (string) {
		memcpy(string, text.data, text.len);
		string[text.len] = 0;
	}
	return string;
}

bool tr_programs_add(struct tr_programs *programs, struct tr_text path, struct tr_error *err)
{
	char *name = string_of(programs, path);
	if (!name)
		tr_error_memory(err);
	return name && add_program(programs, name, err);
}

bool tr_programs_search(struct tr_programs *programs, struct tr_text path, struct tr_error *err)
{
	char *name = string_of(programs, path);
	if (name && tr_array_room(programs->paths, programs->path_count, programs->path_cap)) {
		programs->paths[programs->path_count++] = name;
		return true;
	}
	tr_error_memory(err);
	return false;
}

/* Returns the program whose file has this path, or else this name; or NULL. */
static struct tr_loaded_program *named(const struct tr_programs *programs, struct tr_text path)
{
	for (size_t i = 0; i < programs->count; i++)
		if (tr_text_is(path, programs->list[i]->program->path))
			return programs->list[i];
	struct tr_text name = base_name(path);
	for (size_t i = 0; i < programs->count && name.len; i++)
		if (tr_text_equal(base_name(tr_text_from(programs->list[i]->program->path)), name))
			return programs->list[i];
	return NULL;
}

bool tr_programs_base(struct tr_programs *programs, struct tr_text value, struct tr_error *err)
{
	size_t at = value.len;
	while (at && value.data[at - 1] != '=')
		at--;
	struct tr_text digits = { value.data + at, value.len - at };
	struct tr_text name = { value.data, at ? at - 1 : 0 };
	uint64_t address = 0;
	bool good = tr_text_skip(&digits, TR_TEXT("0x")) && digits.len && digits.len <= 16;
	for (size_t i = 0; good && i < digits.len; i++) {
		int digit = tr_hex_digit(digits.data[i]);
		good = digit >= 0;
		address = address << 4 | (unsigned)digit;
	}
	if (!good) {
		tr_error_set(err, TR_CAUSE_USAGE,
			     "base takes 0xADDRESS or NAME=0xADDRESS, not '%.*s'",
			     TR_SHOWN(value, 80));
		return false;
	}
	struct tr_loaded_program *loaded = at		     ? named(programs, name)
					   : programs->count ? programs->list[0]
							     : NULL;
	if (!loaded) {
		tr_error_set(err, TR_CAUSE_USAGE,
			     "base names '%.*s', which is not one of the programs given with exe",
			     TR_SHOWN(name, 80));
		return false;
	}
	loaded->bias = address - loaded->program->head.base;
	return true;
}

void tr_programs_begin(struct tr_programs *programs)
{
	tr_layout_section(&programs->layout, true);
	tr_id_map_free(&programs->modules);
	programs->modules = (struct tr_id_map)TR_ID_MAP_INIT;
}

struct tr_loaded_program *tr_programs_module(struct tr_programs *programs, struct tr_text path,
					     struct tr_error *err)
{
	struct tr_loaded_program *loaded = named(programs, path);
	struct tr_buffer name = TR_BUFFER_INIT;
	struct tr_text parts[] = { path, base_name(path) };
	if (loaded || tr_map_get(&programs->missing, path))
		return loaded;
	for (size_t i = 0; i < 2 * programs->path_count && !loaded; i++) {
		tr_buffer_reset(&name);
		tr_buffer_put_text(&name, tr_text_from(programs->paths[i / 2]));
		tr_buffer_put_byte(&name, '/');
		tr_buffer_put_text(&name, parts[i % 2]);
		tr_buffer_put_byte(&name, 0);
		if (name.failed) {
			tr_error_memory(err);
			break;
		}
		if (access(name.data, R_OK) != 0)
			continue;
		loaded = add_program(programs, name.data, err);
		break;
	}
	tr_buffer_free(&name);
	if (!loaded && programs->path_count && !tr_error_is_memory(err)) {
		/* a directory is searched once for each path */
		struct tr_text key = tr_arena_copy(&programs->memory, path);
		if (!key.data || !tr_map_put(&programs->missing, key, programs))
			tr_error_memory(err);
	}
	return loaded;
}

/* Takes a module of a drcov file. */
static enum tr_status put_module(struct tr_programs *programs, struct tr_record *record,
				 struct tr_error *err)
{
	struct module_program *module = tr_arena_alloc(&programs->memory, sizeof *module);
	uint64_t id = tr_ask_number(record, "id", UINT64_MAX, err);
	uint64_t containing = tr_ask_number(record, "containing_id", id, err);
	const struct tr_value *start = tr_ask(record, "base", TR_POINTER, err);
	if (!start)
		start = tr_ask(record, "start", TR_POINTER, err);
	struct tr_text path = { NULL, 0 };
	if (record->name.type == TR_CELL_TEXT)
		path = tr_ask_cell(&record->name, record->arena, err);
	if (tr_error_is_memory(err) || !module)
		return tr_error_memory(err);
	if (id == UINT64_MAX || !path.data)
		return TR_OK;
	*module = (struct module_program){ .loaded = tr_programs_module(programs, path, err) };
	uint64_t base = start ? start->as.number : 0;
	if (module->loaded) {
		/* a segment has the same bias as the module that contains it */
		const struct module_program *whole =
			containing != id ? tr_id_map_get(&programs->modules, containing) : NULL;
		module->bias = whole && whole->loaded == module->loaded
				       ? whole->bias
				       : base - module->loaded->program->head.base;
	}
	if (tr_error_is_memory(err) || !tr_id_map_put(&programs->modules, id, module))
		return tr_error_memory(err);
	if (err->cause != TR_CAUSE_NONE) {
		err->severity = TR_NOTE;
		return TR_WARN;
	}
	return TR_OK;
}

/* Takes a shared object that is loaded: its id is the number of its program + 1. */
static enum tr_status put_load(struct tr_programs *programs, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object object;
	enum tr_status status = tr_layout_load(&programs->layout, record, &object, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	struct tr_loaded_program *loaded = tr_programs_module(programs, object.path, err);
	size_t id = 0;
	for (size_t i = 0; loaded && i < programs->count; i++)
		if (programs->list[i] == loaded)
			id = i + 1;
	tr_layout_find(&programs->layout, object.first)->id = id;
	if (tr_error_is_memory(err))
		return TR_FATAL;
	if (err->cause != TR_CAUSE_NONE) {
		err->severity = TR_NOTE;
		return TR_WARN;
	}
	return TR_OK;
}

enum tr_status tr_programs_put(struct tr_programs *programs, struct tr_record *record,
			       struct tr_error *err)
{
	uint64_t address;
	uint8_t digits;
	tr_error_clear(err);
	if (tr_text_is(record->kind, "module"))
		return put_module(programs, record, err);
	if (tr_text_is(record->kind, "info"))
		return tr_layout_info(&programs->layout, record, err);
	if (tr_text_is(record->kind, "load"))
		return put_load(programs, record, err);
	bool section = tr_text_is(record->kind, "section");
	bool unload = tr_text_is(record->kind, "unload");
	if (!section && !unload && !tr_text_is(record->kind, "loadaddr"))
		return TR_END;
	if (section)
		tr_layout_section(&programs->layout, record->name.type == TR_CELL_TEXT &&
							     tr_text_is(record->name.text, "INFO"));
	else if (!tr_address_read(&record->name, &address, &digits))
		return TR_OK;
	else if (unload)
		tr_layout_unload(&programs->layout, address);
	else
		tr_layout_loadaddr(&programs->layout, address);
	return TR_OK;
}

/* True if the program contains the address of a file. */
static inline bool contains(const struct tr_loaded_program *loaded, uint64_t address)
{
	const struct tr_elf_head *head = &loaded->program->head;
	return address - head->base < head->end - head->base;
}

/* Counts a block at that address of the file. */
static inline struct tr_loaded_program *hit(struct tr_loaded_program *loaded, uint64_t address)
{
	const struct tr_elf *program = loaded->program;
	loaded->hits++;
	if (!loaded->known)
		loaded->known = program->head.has_lines ? tr_elf_row(program, address) != NULL
							: tr_elf_function(program, address) != NULL;
	return loaded;
}

struct tr_loaded_program *tr_programs_place(struct tr_programs *programs, struct tr_record *record,
					    struct tr_block *block, struct tr_error *err)
{
	struct tr_loaded_program *last = programs->last;
	programs->blocks++;
	if (programs->modules.count) {
		uint64_t id = tr_ask_number(record, "module", UINT64_MAX, err);
		const struct module_program *module = tr_id_map_get(&programs->modules, id);
		if (tr_error_is_memory(err) || !module || !module->loaded)
			return NULL;
		block->address -= module->bias;
		return hit(module->loaded, block->address);
	}
	if (!tr_layout_is_plain(&programs->layout)) {
		const struct tr_object *object;
		if (!tr_layout_place(&programs->layout, block, &object))
			return NULL;
		if (object) {
			if (!object->id)
				return NULL;
			struct tr_loaded_program *loaded = programs->list[object->id - 1];
			block->address += loaded->program->head.base;
			return hit(loaded, block->address);
		}
	}
	if (last && contains(last, block->address - last->bias)) {
		block->address -= last->bias;
		return hit(last, block->address);
	}
	for (size_t i = 0; i < programs->count; i++) {
		struct tr_loaded_program *loaded = programs->list[i];
		if (!contains(loaded, block->address - loaded->bias))
			continue;
		programs->last = loaded;
		block->address -= loaded->bias;
		return hit(loaded, block->address);
	}
	return NULL;
}

bool tr_programs_remark(const struct tr_programs *programs, struct tr_error *err)
{
	for (size_t i = 0; i < programs->count; i++) {
		const struct tr_elf *program = programs->list[i]->program;
		if (!program->head.unread)
			continue;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "%s: %" PRIu64 " parts of its debug information cannot be read; their "
			     "functions and lines are missing",
			     program->path, program->head.unread);
		return true;
	}
	for (size_t i = 0; i < programs->count && programs->blocks; i++) {
		const struct tr_loaded_program *loaded = programs->list[i];
		const struct tr_elf *program = loaded->program;
		bool symbols = program->head.rows || program->head.functions;
		const char *question = loaded->bias ? "is the address given with base right?"
						    : "is it the program that was run?";
		if (loaded->known || (loaded->hits && !symbols))
			continue;
		if (loaded->hits)
			tr_error_set(err, TR_CAUSE_INPUT,
				     "none of the %" PRIu64 " blocks in %s is in one of its %s: %s",
				     loaded->hits, program->path,
				     program->head.has_lines ? "lines" : "functions", question);
		else if (program->head.relocatable && !loaded->bias)
			tr_error_set(err, TR_CAUSE_INPUT,
				     "none of the %" PRIu64
				     " blocks is in %s, which can be loaded anywhere: give its "
				     "address with base=0x... (for QEMU the first address in the "
				     "tables that -d page logs)",
				     programs->blocks, program->path);
		else
			tr_error_set(err, TR_CAUSE_INPUT,
				     "none of the %" PRIu64 " blocks is in %s: %s",
				     programs->blocks, program->path, question);
		tr_error_is_note(err);
		return true;
	}
	return false;
}

void tr_programs_free(struct tr_programs *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		tr_elf_free(programs->list[i]->program);
	free(programs->list);
	free(programs->paths);
	tr_layout_free(&programs->layout);
	tr_id_map_free(&programs->modules);
	tr_map_free(&programs->missing);
	tr_arena_free(&programs->memory);
}
