/*
 * Programs that are built with AddressSanitizer look for leaks when they end (LeakSanitizer), which
 * takes ptrace: in a program that is watched already that fails, and so does the program.
 */
#include "config.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/wire.h"
#include "process/command.h"
#include "process/path.h"
#include "tr_record.h"

enum { LARGEST = 64 << 20 }; /* bytes of a program that are searched */

/* Where ELF files of one word size have the fields that lead to their symbols. */
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
	const char *sections; /* whole section headers */
	size_t section_size, section_count;
	bool big;
};

static uint64_t read_word(const struct elf *elf, const char *p)
{
	return elf->layout->wide ? tr_wire_u64(p, elf->big) : tr_wire_u32(p, elf->big);
}

/* False: not an ELF file with section headers. A cut table counts as far as it goes. */
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

/* The content of a section, empty where the file does not hold all of it. */
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

/* The runtime's own functions: no program has them without it. */
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

/* A symbol table of the program defines the runtime, or needs it from a library. */
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
		/* a weak reference stays unresolved where there is no runtime */
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

/* The program has LeakSanitizer's runtime, and was not looked at before. */
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

bool tr_sanitized_failed(struct tr_sanitized *sanitized, struct tr_record *record,
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
	if (program && tr_command_number(record, "status") != 0 && !is_turned_off()) {
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
