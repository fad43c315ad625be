/* SPDX-License-Identifier: MIT */
/* Files that the command uses: response files, and programs with a sanitizer. */

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/wire.h"
#include "process/call.h"
#include "process/path.h"
#include "process/respfile.h"
#include "process/command.h"
#include "record/literal.h"
#include "tr_record.h"

/* Response files, which must be read before the command deletes them. */

enum { FILES = 64 }; /* response files of one command line, nested ones included */

struct gathering {
	const struct tr_respfile_source *source;
	const struct tr_respfile_rules *rules; /* how the program names them */
	struct tr_arena *arena;
	struct tr_text names[FILES], contents[FILES];
	size_t count, bytes;
	struct tr_text noted; /* names and contents that the program has read, each with a NUL */
	bool failed;
};

static bool is_known(const struct gathering *g, struct tr_text name)
{
	for (size_t i = 0; i < g->count; i++)
		if (tr_text_equal(g->names[i], name))
			return true;
	return false;
}

/* Returns the content that the library has read; data NULL: it has not. */
static struct tr_text noted_content(const struct gathering *g, struct tr_text name)
{
	const char *p = g->noted.data, *end = p + g->noted.len;

	while (p < end) {
		size_t name_len = strlen(p);
		const char *content = p + name_len + 1;
		if (tr_text_equal(name, (struct tr_text){ p, name_len }))
			return tr_text_from(content);
		p = content + strlen(content) + 1;
	}
	return (struct tr_text){ NULL, 0 };
}

static void add_file(struct gathering *g, struct tr_text name)
{
	struct tr_error err;

	/* names of the command's descriptors would open files of this process */
	if (tr_text_starts(name, TR_TEXT("/dev/")) || tr_text_starts(name, TR_TEXT("/proc/")) ||
	    g->count == FILES || is_known(g, name))
		return;
	tr_error_clear(&err);
	struct tr_text content = noted_content(g, name);
	if (!content.data)
		content = tr_respfile_content(name, false, g->source, g->arena, &err);
	g->failed |= err.cause == TR_CAUSE_MEMORY;
	if (!content.data || content.len > TR_RESPFILE_MAX - g->bytes)
		return;
	g->bytes += content.len;
	g->names[g->count] = tr_arena_copy(g->arena, name);
	g->contents[g->count] = content;
	g->failed |= !g->names[g->count].data;
	g->count++;
}

/* Adds the files that a response file names. */
static void add_nested(struct gathering *g, struct tr_text content)
{
	struct tr_words words = { .pos = content.data,
				  .end = content.data + content.len,
				  .quoting = g->source->quoting };
	struct tr_buffer before = TR_BUFFER_INIT, word = TR_BUFFER_INIT;
	size_t used;

	while (!g->failed && tr_words_next(&words, &word)) {
		/* not argv[0]; the option that names it may be the word before it */
		struct tr_text argv[] = { TR_TEXT(""), tr_buffer_text(&before),
					  tr_buffer_text(&word) };
		struct tr_text name = tr_respfile_named(argv, 3, 1, g->rules, &used);
		if (!name.data || used < 2)
			name = tr_respfile_named(argv, 3, 2, g->rules, &used);
		if (name.data)
			add_file(g, name);
		tr_buffer_reset(&before);
		tr_buffer_put_text(&before, tr_buffer_text(&word));
		tr_buffer_reset(&word);
	}
	g->failed |= word.failed || before.failed;
	tr_buffer_free(&before);
	tr_buffer_free(&word);
}

static void put_map(const struct gathering *g, struct tr_buffer *to)
{
	const char *before = "\trespfile={\"";

	for (size_t i = 0; i < g->count; i++) {
		tr_buffer_put_text(to, tr_text_from(before));
		tr_string_escape(g->names[i], to);
		tr_buffer_put_literal(to, "\":\"");
		tr_string_escape(g->contents[i], to);
		tr_buffer_put_byte(to, '"');
		before = ",\"";
	}
	tr_buffer_put_byte(to, '}');
}

/* The place of the field in the line: before the fields of the result. */
static const char *place_in(struct tr_record *record)
{
	static const char *const later[] = { "status", "signal", "end",	    "error",
					     "rid",    "tgid",	 "flagged", "extra" };
	const char *end = record->line.data + record->line.len - 1;

	for (size_t i = 0; i < record->count; i++)
		for (size_t k = 0; k < sizeof later / sizeof *later; k++)
			if (tr_text_is(record->fields[i].key, later[k]))
				return record->fields[i].key.data - 1;
	return end;
}

/* True if the text contains a word that begins with the option. */
static bool has_word(struct tr_text line, struct tr_text option)
{
	const char *p = line.data, *end = p + line.len;

	while ((p = memmem(p, (size_t)(end - p), option.data, option.len)))
		if (*(p++ - 1) == '"')
			return true;
	return false;
}

/* True if the line may name a response file, which hardly any does. */
static bool may_name_file(struct tr_record *record, struct tr_compilers *compilers)
{
	struct tr_text path = record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("");

	if (!record->line.data)
		return false;
	if (has_word(record->line, TR_TEXT("@")))
		return true;
	struct tr_program program = tr_program_find(compilers, path, NULL, 0);
	for (size_t i = 0; program.section && i < program.section->respfiles.count; i++) {
		const struct tr_numbered *rule =
			&program.table->respfiles[program.section->respfiles.begin + i];
		if (has_word(record->line, tr_compilers_text(program.table, rule->text)))
			return true;
	}
	return false;
}

/* Reads the call of a tool that has response files. False: it is another, such as curl -d @FILE. */
static bool is_build_tool(struct tr_record *record, struct tr_compilers *compilers,
			  struct tr_call *call)
{
	const struct tr_call_config config = { .compilers = compilers };
	struct tr_error err;

	return tr_call_read(record, &config, call, &err) == TR_OK && call->tool != TR_TOOL_NONE;
}

static void gather(struct gathering *g, const struct tr_command *command)
{
	size_t used = 1;

	for (size_t i = 1; i < command->argc; i += used) {
		used = 1;
		struct tr_text name =
			tr_respfile_named(command->argv, command->argc, i, g->rules, &used);
		if (name.data)
			add_file(g, name);
	}
	for (size_t i = 0; i < g->count; i++)
		add_nested(g, g->contents[i]);
}

bool tr_record_respfiles(struct tr_record *record, struct tr_compilers *compilers,
			 struct tr_text noted, struct tr_buffer *to)
{
	struct tr_file_roots everywhere = { 0 };
	struct tr_call call;
	struct tr_error err;

	if (!may_name_file(record, compilers) || !is_build_tool(record, compilers, &call))
		return false;
	/* the command reads the file itself, with the rights of the same user */
	if (!tr_file_roots_add(&everywhere, TR_TEXT("/"), &err)) {
		to->failed |= err.cause == TR_CAUSE_MEMORY;
		return false;
	}
	struct tr_respfile_source source = { call.command.directory, NULL, &everywhere,
					     TR_QUOTING_GNU, false };
	struct gathering g = {
		.source = &source, .rules = call.rules, .arena = record->arena, .noted = noted
	};
	gather(&g, &call.command);
	tr_file_roots_free(&everywhere);
	to->failed |= g.failed;
	if (!g.count || g.failed)
		return false;
	const char *begin = record->line.data, *place = place_in(record);
	tr_buffer_put(to, begin, (size_t)(place - begin));
	put_map(&g, to);
	tr_buffer_put(to, place, record->line.len - (size_t)(place - begin));
	return !to->failed;
}

/*
 * Programs with AddressSanitizer search for leaks when they end (LeakSanitizer). That needs ptrace,
 * which fails in a process that is already traced, and then the program fails.
 */

enum { LARGEST = 64 << 20 }; /* bytes of the largest program that is searched */

/* Offsets and sizes in ELF files of one word size. */
struct layout {
	size_t header, sections, section_size, section_count;
	size_t section, type, offset, size, link;
	size_t symbol, info, index;
	bool wide;
};

#define LAYOUT(bits) \
	{ \
		.header = sizeof(Elf##bits##_Ehdr), \
		.sections = offsetof(Elf##bits##_Ehdr, e_shoff), \
		.section_size = offsetof(Elf##bits##_Ehdr, e_shentsize), \
		.section_count = offsetof(Elf##bits##_Ehdr, e_shnum), \
		.section = sizeof(Elf##bits##_Shdr), .type = offsetof(Elf##bits##_Shdr, sh_type), \
		.offset = offsetof(Elf##bits##_Shdr, sh_offset), \
		.size = offsetof(Elf##bits##_Shdr, sh_size), \
		.link = offsetof(Elf##bits##_Shdr, sh_link), .symbol = sizeof(Elf##bits##_Sym), \
		.info = offsetof(Elf##bits##_Sym, st_info), \
		.index = offsetof(Elf##bits##_Sym, st_shndx), .wide = (bits) == 64, \
	}

static const struct layout layouts[] = { LAYOUT(32), LAYOUT(64) };

struct elf {
	struct tr_text bytes;
	const struct layout *layout;
	const char *sections; /* the section headers that are complete */
	size_t section_size, section_count;
	bool big;
};

static uint64_t read_word(const struct elf *elf, const char *p)
{
	return elf->layout->wide ? tr_wire_u64(p, elf->big) : tr_wire_u32(p, elf->big);
}

/* False: not an ELF file with section headers. Of a cut table the complete headers count. */
static bool elf_open(struct elf *elf, struct tr_text bytes)
{
	const char *p = bytes.data;

	if (bytes.len < sizeof(Elf32_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 ||
	    (p[EI_CLASS] != ELFCLASS32 && p[EI_CLASS] != ELFCLASS64))
		return false;
	const struct layout *layout = &layouts[p[EI_CLASS] == ELFCLASS64];
	*elf = (struct elf){ bytes, layout, .big = p[EI_DATA] == ELFDATA2MSB };
	if (bytes.len < layout->header)
		return false;
	uint64_t at = read_word(elf, p + layout->sections);
	elf->section_size = tr_wire_u16(p + layout->section_size, elf->big);
	elf->section_count = tr_wire_u16(p + layout->section_count, elf->big);
	if (at > bytes.len || elf->section_size < layout->section)
		return false;
	elf->sections = p + at;
	if (elf->section_count > (bytes.len - at) / elf->section_size)
		elf->section_count = (bytes.len - at) / elf->section_size;
	return true;
}

/* Returns the content of a section, empty if it is cut off. */
static struct tr_text section_bytes(const struct elf *elf, size_t number)
{
	if (number >= elf->section_count)
		return TR_TEXT("");
	const char *header = elf->sections + number * elf->section_size;
	uint64_t at = read_word(elf, header + elf->layout->offset);
	uint64_t size = read_word(elf, header + elf->layout->size);
	if (at > elf->bytes.len || size > elf->bytes.len - at)
		return TR_TEXT("");
	return (struct tr_text){ elf->bytes.data + at, (size_t)size };
}

/* True if the name at that offset is a function of the sanitizer's runtime. */
static bool is_runtime(struct tr_text names, uint32_t at)
{
	static const char *const marks[] = { "__asan_init", "__lsan_init", "__lsan_do_leak_check" };

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		size_t size = strlen(marks[i]) + 1;
		if (at < names.len && size <= names.len - at &&
		    memcmp(names.data + at, marks[i], size) == 0)
			return true;
	}
	return false;
}

/* True if this symbol table defines the runtime, or needs it from a library. */
static bool links_runtime(const struct elf *elf, const char *header)
{
	const struct layout *layout = elf->layout;
	uint32_t type = tr_wire_u32(header + layout->type, elf->big);
	size_t number = (size_t)(header - elf->sections) / elf->section_size;

	if (type != SHT_SYMTAB && type != SHT_DYNSYM)
		return false;
	struct tr_text symbols = section_bytes(elf, number);
	struct tr_text names = section_bytes(elf, tr_wire_u32(header + layout->link, elf->big));
	for (size_t at = 0; symbols.len - at >= layout->symbol; at += layout->symbol) {
		const char *symbol = symbols.data + at;
		/* a weak reference does not require it */
		bool defined = tr_wire_u16(symbol + layout->index, elf->big) != SHN_UNDEF;
		bool weak = ELF32_ST_BIND((unsigned char)symbol[layout->info]) == STB_WEAK;
		if ((defined || !weak) && is_runtime(names, tr_wire_u32(symbol, elf->big)))
			return true;
	}
	return false;
}

static bool is_sanitized(struct tr_text bytes)
{
	struct elf elf;
	bool found = false;

	if (!elf_open(&elf, bytes))
		return false;
	for (size_t i = 0; i < elf.section_count && !found; i++)
		found = links_runtime(&elf, elf.sections + i * elf.section_size);
	return found;
}

static bool is_turned_off(void)
{
	static const char *const variables[] = { "ASAN_OPTIONS", "LSAN_OPTIONS" };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *options = getenv(variables[i]);
		if (options && strstr(options, "detect_leaks=0"))
			return true;
	}
	return false;
}

static void begin_program(struct tr_sanitized *sanitized, uint64_t task, struct tr_record *record)
{
	struct tr_text program = tr_command_executable(record);
	struct tr_text directory = tr_command_string(record, "cwd");
	struct tr_buffer path = TR_BUFFER_INIT;

	free(tr_id_map_take(&sanitized->programs, task));
	if (!program.data || tr_command_failed(record))
		return;
	tr_path_join(directory.data ? directory : TR_TEXT(""), program, &path);
	tr_buffer_put_byte(&path, '\0');
	if (path.failed || !tr_id_map_put(&sanitized->programs, task, path.data))
		tr_buffer_free(&path);
}

/* True if the program contains the runtime and was not examined before. */
static bool is_new_and_sanitized(struct tr_sanitized *sanitized, const char *path)
{
	struct tr_buffer bytes = TR_BUFFER_INIT;
	struct stat st;
	bool found = false;

	if (stat(path, &st) != 0 || tr_id_map_get(&sanitized->known, st.st_ino) ||
	    !tr_id_map_put(&sanitized->known, st.st_ino, sanitized))
		return false;
	if (tr_file_read(tr_text_from(path), LARGEST, &bytes, NULL))
		found = is_sanitized(tr_buffer_text(&bytes));
	tr_buffer_free(&bytes);
	return found;
}

bool tr_sanitized_failed(struct tr_sanitized *sanitized, struct tr_record *record, bool traced,
			 struct tr_buffer *path)
{
	uint64_t task;
	bool found = false;

	if (record->type != TR_RECORD || !tr_cell_number(&record->task, &task))
		return false;
	if (tr_text_is(record->kind, "exec"))
		begin_program(sanitized, task, record);
	if (!tr_text_is(record->kind, "exit"))
		return false;
	char *program = tr_id_map_take(&sanitized->programs, task);
	if (program && traced && tr_command_number(record, "status") != 0 && !is_turned_off()) {
		found = is_new_and_sanitized(sanitized, program);
		tr_buffer_put_text(path, tr_text_from(found ? program : ""));
	}
	free(program);
	return found && !path->failed;
}

void tr_sanitized_free(struct tr_sanitized *sanitized)
{
	size_t position = 0;

	for (void *path; (path = tr_id_map_next(&sanitized->programs, &position));)
		free(path);
	tr_id_map_free(&sanitized->programs);
	tr_id_map_free(&sanitized->known);
}
