/* SPDX-License-Identifier: MIT */
/*
 * Reads ELF files with libdw: the layout of the program (read_layout), the units of its DWARF
 * (read_units), then its symbol table (read_symbols). The encodings of return instructions are from
 * the manuals that jump.c names.
 */
#include "symbol/dwarf.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/map.h"
#include "process/path.h"
#include "symbol/demangle.h"
#include "symbol/jump.h"

void tr_dwarf_free(struct tr_dwarf *dwarf)
{
	free(dwarf->rows);
	free(dwarf->functions);
	free(dwarf->inlines);
	free(dwarf->sections);
	free(dwarf->files);
	tr_buffer_free(&dwarf->strings);
	*dwarf = (struct tr_dwarf){ .rows = NULL };
}

#ifndef TREC_LIBDW
bool tr_dwarf_read(struct tr_dwarf *dwarf, const char *path, int fd, bool demangles,
		   struct tr_error *err)
{
	(void)dwarf;
	(void)path;
	(void)demangles;
	close(fd);
	tr_error_say(err, TR_CAUSE_SYSTEM,
		     "this build cannot read programs: it was configured without libdw, which is "
		     "part of elfutils (Debian: libdw-dev)");
	return false;
}
#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <inttypes.h>

#include "core/library.h"

#define FUNCTIONS(X) \
	X(dwarf_attr) \
	X(dwarf_attr_integrate) \
	X(dwarf_child) \
	X(dwarf_cu_info) \
	X(dwarf_decl_line) \
	X(dwarf_diename) \
	X(dwarf_dieoffset) \
	X(dwarf_entrypc) \
	X(dwarf_errmsg) \
	X(dwarf_filesrc) \
	X(dwarf_formflag) \
	X(dwarf_formstring) \
	X(dwarf_formudata) \
	X(dwarf_get_units) \
	X(dwarf_getsrcfiles) \
	X(dwarf_getsrclines) \
	X(dwarf_hasattr_integrate) \
	X(dwarf_lineaddr) \
	X(dwarf_linebeginstatement) \
	X(dwarf_linecol) \
	X(dwarf_lineendsequence) \
	X(dwarf_lineno) \
	X(dwarf_linesrc) \
	X(dwarf_onesrcline) \
	X(dwarf_ranges) \
	X(dwarf_siblingof) \
	X(dwarf_tag) \
	X(dwfl_begin) \
	X(dwfl_end) \
	X(dwfl_errmsg) \
	X(dwfl_module_build_id) \
	X(dwfl_module_getdwarf) \
	X(dwfl_module_getelf) \
	X(dwfl_module_getsym_info) \
	X(dwfl_module_getsymtab) \
	X(dwfl_report_elf) \
	X(dwfl_report_end) \
	X(dwfl_standard_find_debuginfo) \
	X(elf_getdata_rawchunk) \
	X(elf_getident) \
	X(elf_getphdrnum) \
	X(elf_nextscn) \
	X(gelf_getehdr) \
	X(gelf_getphdr) \
	X(gelf_getshdr)

#define MEMBER(name) __typeof__(name) *name;
struct library {
	FUNCTIONS(MEMBER)
};
#define SYMBOL(name) TR_LIBRARY_FUNCTION(struct library, name, name),
static const struct tr_library_function symbols[] = { FUNCTIONS(SYMBOL){ NULL, 0 } };

enum { DEPTH = 256 }; /* of DIEs; compilers nest them less than 50 deep */

/* ARM: where the code of a function ends and data begins, or code begins again. */
struct mark {
	uint64_t address;
	bool data;
};

struct extraction {
	struct library dw;
	struct tr_dwarf *to;
	Elf *elf;		  /* the program itself, which has its code */
	struct tr_map paths;	  /* file numbers + 1 */
	struct tr_arena memory;	  /* of their keys */
	struct tr_buffer path;	  /* scratch */
	struct tr_text directory; /* in which the unit was compiled */
	const char *last_source;  /* libdw returns the same pointer for the same file */
	uint32_t last_file;
	bool demangles;
	bool ada; /* the language of the unit */
	struct tr_demangle names;
	struct mark *marks; /* sorted by address */
	size_t mark_count, mark_cap;
	bool failed; /* memory is exhausted */
};

/* Adds a string; returns its offset. */
static uint32_t put_string(struct extraction *x, const char *string)
{
	struct tr_buffer *strings = &x->to->strings;
	if (!string || !*string)
		return 0;
	size_t at = strings->len;
	tr_buffer_put(strings, string, strlen(string) + 1);
	x->failed |= strings->failed || at > UINT32_MAX;
	return (uint32_t)at;
}

/* Adds the name of a function, demangled if requested, and returns its offset. */
static uint32_t put_name(struct extraction *x, const char *name)
{
	uint32_t string = put_string(x, x->demangles ? tr_demangle(&x->names, name, x->ada) : name);
	x->failed |= x->names.failed;
	return string;
}

/* Returns the number of a file; 0: it is unknown. */
static uint32_t file_of(struct extraction *x, const char *source)
{
	struct tr_dwarf *to = x->to;
	if (!source || !*source)
		return 0;
	if (source == x->last_source)
		return x->last_file;
	tr_buffer_reset(&x->path);
	tr_path_join(x->directory, tr_text_from(source), &x->path);
	struct tr_text path = tr_buffer_text(&x->path);
	uint32_t *known = tr_map_get(&x->paths, path);
	if (!known) {
		struct tr_text key = tr_arena_copy(&x->memory, path);
		known = tr_arena_alloc(&x->memory, sizeof *known);
		if (!key.data || !known ||
		    !tr_array_room(to->files, to->head.files, to->file_cap) ||
		    !tr_map_put(&x->paths, key, known)) {
			x->failed = true;
			return 0;
		}
		tr_buffer_put_byte(&x->path, 0);
		*known = (uint32_t)to->head.files;
		to->files[to->head.files++] = put_string(x, x->path.data);
	}
	x->last_source = source;
	x->last_file = *known;
	return *known;
}

/* Reads the sections of code and the addresses of segments. False: it is not a program. */
static bool read_layout(struct extraction *x, struct tr_error *err)
{
	const struct library *dw = &x->dw;
	struct tr_dwarf *to = x->to;
	struct tr_elf_head *head = &to->head;
	GElf_Ehdr ehdr;
	size_t count = 0;
	if (!dw->gelf_getehdr(x->elf, &ehdr) || (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)) {
		tr_error_say(err, TR_CAUSE_INPUT, "neither a program nor a shared library");
		return false;
	}
	/* most files end with the table of sections, so a truncated file does not have it */
	size_t table = (size_t)ehdr.e_shnum * ehdr.e_shentsize;
	if (table && !dw->elf_getdata_rawchunk(x->elf, (int64_t)ehdr.e_shoff, table, ELF_T_BYTE))
		head->unread++;
	head->machine = ehdr.e_machine;
	head->bits = ehdr.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	head->big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	head->relocatable = ehdr.e_type == ET_DYN;
	head->base = UINT64_MAX;
	if (dw->elf_getphdrnum(x->elf, &count) != 0)
		count = 0;
	struct tr_code_section segment = { 0, 0, 0 };
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;
		if (!dw->gelf_getphdr(x->elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		uint64_t align = phdr.p_align > 1 ? phdr.p_align - 1 : 0;
		uint64_t base = phdr.p_vaddr & ~align, end = phdr.p_vaddr + phdr.p_memsz;
		head->base = base < head->base ? base : head->base;
		head->end = end > head->end ? end : head->end;
		if (phdr.p_flags & PF_X)
			segment = (struct tr_code_section){ phdr.p_vaddr, phdr.p_filesz,
							    phdr.p_offset };
	}
	if (head->base == UINT64_MAX)
		head->base = 0;
	bool any = false;
	for (Elf_Scn *scn = NULL; (scn = dw->elf_nextscn(x->elf, scn)) != NULL;) {
		GElf_Shdr shdr;
		if (!dw->gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    !shdr.sh_size)
			continue;
		if (!tr_array_room(to->sections, head->sections, to->section_cap)) {
			x->failed = true;
			return true;
		}
		to->sections[head->sections++] =
			(struct tr_code_section){ shdr.sh_addr, shdr.sh_size,
						  shdr.sh_type == SHT_PROGBITS ? shdr.sh_offset
									       : UINT64_MAX };
		any = true;
	}
	/* a program without section headers: its segment of code */
	if (!any && segment.size) {
		if (tr_array_room(to->sections, head->sections, to->section_cap))
			to->sections[head->sections++] = segment;
		else
			x->failed = true;
	}
	return true;
}

/* Returns the section of code that contains the address, or NULL. */
static const struct tr_code_section *section_of(const struct extraction *x, uint64_t address)
{
	const struct tr_dwarf *to = x->to;
	for (size_t i = 0; i < to->head.sections; i++)
		if (address - to->sections[i].address < to->sections[i].size)
			return &to->sections[i];
	return NULL;
}

/* Copies the n bytes of code before an address. False: they are not in the file. */
static bool code_before(const struct extraction *x, uint64_t end, size_t n, uint8_t *bytes)
{
	const struct tr_code_section *section = section_of(x, end - n);
	if (!section || section->offset == UINT64_MAX || end - section->address > section->size)
		return false;
	Elf_Data *data = x->dw.elf_getdata_rawchunk(
		x->elf, (int64_t)(section->offset + (end - n - section->address)), n, ELF_T_BYTE);
	if (!data || data->d_size != n)
		return false;
	memcpy(bytes, data->d_buf, n);
	return true;
}

/*
 * Returns where the code of a function ends, before its data and the instruction that aligns them.
 */
static uint64_t end_of_code(const struct extraction *x, uint64_t first, uint64_t end)
{
	static const uint8_t thumb[] = { 0x00, 0xbf }, arm[] = { 0x00, 0xf0, 0x20, 0xe3 };
	uint8_t b[4];
	size_t n = tr_array_search(i, 0, x->mark_count, x->marks[i].address < end);
	while (n && x->marks[n - 1].data && x->marks[n - 1].address > first)
		end = x->marks[--n].address;
	if (x->to->head.machine != EM_ARM || x->to->head.big_endian)
		return end;
	if (code_before(x, end, sizeof thumb, b) && memcmp(b, thumb, sizeof thumb) == 0)
		end -= sizeof thumb;
	else if (code_before(x, end, sizeof arm, b) && memcmp(b, arm, sizeof arm) == 0)
		end -= sizeof arm;
	return end;
}

/*
 * Returns how far before the end of PowerPC code its blr is, or 0. On 64 bits it is followed by the
 * traceback table, which begins with a zero word.
 */
static uint32_t find_blr(const struct extraction *x, uint64_t end)
{
	static const uint8_t zero[4];
	enum { TABLE_MAX = 64 };
	for (uint32_t n = 0; n <= TABLE_MAX; n += 4) {
		uint8_t b[8];
		if (!code_before(x, end - n, 4, b) || (n && !code_before(x, end - n + 4, 4, b + 4)))
			return 0;
		bool big = x->to->head.big_endian;
		bool blr = memcmp(b, big ? "\x4e\x80\0\x20" : "\x20\0\x80\x4e", 4) == 0;
		if (blr && (!n || memcmp(b + 4, zero, sizeof zero) == 0))
			return n + 4;
	}
	return 0;
}

/* Returns how far before the end of code its last instruction is if that is a return, or 0. */
static uint32_t find_return(const struct extraction *x, uint64_t end)
{
	const struct tr_elf_head *head = &x->to->head;
	uint8_t b[4] = { 0, 0, 0, 0 };
	switch (head->machine) {
	case EM_386:
	case EM_X86_64:
		if (code_before(x, end, 1, b) && b[0] == 0xc3)
			return 1;
		return code_before(x, end, 3, b) && b[0] == 0xc2 ? 3 : 0;
	}
	if (head->machine == EM_RISCV && code_before(x, end, 2, b) && b[0] == 0x82 && b[1] == 0x80)
		return 2; /* c.jr ra */
	if (!code_before(x, end, 4, b))
		return 0;
	uint32_t word =
		head->big_endian
			? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
			: (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
	uint16_t half = head->big_endian ? (uint16_t)word : (uint16_t)(word >> 16);
	switch (head->machine) {
	case EM_PPC:
		return word == 0x4e800020 ? 4 : 0; /* blr */
	case EM_PPC64:
		return find_blr(x, end);
	case EM_AARCH64:
		return word == 0xd65f03c0 ? 4 : 0; /* ret */
	case EM_RISCV:
		return word == 0x00008067 ? 4 : 0; /* ret */
	case EM_ARM:
		/* bx lr, pop or ldm with pc; in Thumb bx lr, pop with pc, pop.w with pc */
		if (word == 0xe12fff1e || (word & 0xfe108000) == 0xe8108000)
			return 4;
		return half == 0x4770 || (half & 0xff00) == 0xbd00 ? 2 : 0;
	case EM_MIPS:
		/* jr ra, with a delay slot */
		if (word == 0x03e00008)
			return 4;
		return code_before(x, end - 4, 4, b) &&
				       (head->big_endian
						? b[0] == 0x03 && b[1] == 0xe0 && b[3] == 0x08
						: b[3] == 0x03 && b[2] == 0xe0 && b[0] == 0x08)
			       ? 8
			       : 0;
	case EM_SPARC:
	case EM_SPARC32PLUS:
	case EM_SPARCV9:
		/* return, ret, retl; the last two have a delay slot */
		if ((word & 0xc1f80000) == 0x81c80000)
			return 4;
		return code_before(x, end - 4, 4, b) && b[0] == 0x81 &&
				       (b[1] == 0xc7 || b[1] == 0xc3) && b[3] == 0x08
			       ? 8
			       : 0;
	}
	return 0;
}

/*
 * Counts a part that cannot be read. why: the message of the library, or NULL. Missing debug
 * information is not counted, and exhausted memory is an error of its own.
 */
static void count_unread(struct extraction *x, const char *why)
{
	if (why && strstr(why, "memory"))
		x->failed = true;
	else if (!why || !tr_text_equal_in_any_case(tr_text_from(why),
						    TR_TEXT("no DWARF information found")))
		x->to->head.unread++;
}

/* Adds the rows of a unit. */
static void read_rows(struct extraction *x, Dwarf_Die *unit)
{
	const struct library *dw = &x->dw;
	struct tr_dwarf *to = x->to;
	Dwarf_Lines *lines;
	size_t count;
	Dwarf_Attribute table;
	if (dw->dwarf_getsrclines(unit, &lines, &count) != 0) {
		const char *why = dw->dwarf_errmsg(-1);
		if (dw->dwarf_attr(unit, DW_AT_stmt_list, &table))
			count_unread(x, why);
		return;
	}
	bool begun = false,
	     dropped = true; /* of the sequence; dropped: the linker removed its code */
	for (size_t i = 0; i < count && !x->failed; i++) {
		Dwarf_Line *line = dw->dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		int number = 0, column = 0;
		bool end = false, statement = false;
		if (!line || dw->dwarf_lineaddr(line, &address) != 0 ||
		    dw->dwarf_lineno(line, &number) != 0)
			continue;
		dw->dwarf_linecol(line, &column);
		dw->dwarf_lineendsequence(line, &end);
		dw->dwarf_linebeginstatement(line, &statement);
		if (!begun)
			dropped = address == 0 || !section_of(x, address);
		begun = !end;
		if (dropped)
			continue;
		if (!tr_array_room(to->rows, to->head.rows, to->row_cap)) {
			x->failed = true;
			return;
		}
		to->rows[to->head.rows++] = (struct tr_code_row){
			address, end ? 0 : file_of(x, dw->dwarf_linesrc(line, NULL, NULL)),
			number > 0 && !end ? (uint32_t)number : 0,
			column > 0 ? (uint32_t)column : 0,
			(end ? TR_ROW_END : 0) | (statement ? TR_ROW_STATEMENT : 0)
		};
	}
}

/* Returns the string of an attribute of the DIE, its origin or declaration; or NULL. */
static const char *string_of(const struct library *dw, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	return dw->dwarf_attr_integrate(die, name, &attr) ? dw->dwarf_formstring(&attr) : NULL;
}

/* Whether a flag of the DIE, its origin or declaration is set. */
static bool flag_of(const struct library *dw, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool set = false;
	return dw->dwarf_attr_integrate(die, name, &attr) && dw->dwarf_formflag(&attr, &set) == 0 &&
	       set;
}

/*
 * Returns the file whose number an attribute holds; 0: it is unknown. The number refers to the
 * table of the unit with the attribute, or, if that is a split one, of its skeleton unit.
 */
static uint32_t numbered_file(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die, unsigned name)
{
	const struct library *dw = &x->dw;
	Dwarf_Attribute attr;
	Dwarf_Word number;
	Dwarf_Files *files;
	Dwarf_Die own;
	size_t count;
	if (!dw->dwarf_attr_integrate(die, name, &attr) || dw->dwarf_formudata(&attr, &number) != 0)
		return 0;
	if ((dw->dwarf_cu_info(attr.cu, NULL, NULL, &own, NULL, NULL, NULL, NULL) != 0 ||
	     dw->dwarf_getsrcfiles(&own, &files, &count) != 0) &&
	    dw->dwarf_getsrcfiles(unit, &files, &count) != 0)
		return 0;
	if (number < count)
		return file_of(x, dw->dwarf_filesrc(files, number, NULL, NULL));
	count_unread(x, NULL);
	return 0;
}

/* Whether the name has a prefix of functions that have no source. */
static bool is_made_by_compiler(const char *name)
{
	static const char *const prefixes[] = { "_GLOBAL__",	 "__static_initialization_and_",
						"__cxx_global_", "_ZTh",
						"_ZTv",		 "_ZTc" };
	for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Returns the linkage name if it differs from the name in the source; or NULL. */
static const char *linkage_name(const struct library *dw, Dwarf_Die *die)
{
	const char *linkage = string_of(dw, die, DW_AT_linkage_name);
	return linkage ? linkage : string_of(dw, die, DW_AT_MIPS_linkage_name);
}

/*
 * Whether the names are those of a constructor or destructor. On ARM these return their object. The
 * linkage name of a constructor has C1 to C5 after its class, or after the arguments of a template.
 */
static bool is_structor(const char *name, const char *linkage)
{
	const char *p = name && linkage ? strstr(linkage, name) : NULL;
	if (!p)
		return name && *name == '~';
	size_t len = strlen(name);
	for (p += len; (p = strchr(p, 'C')) != NULL; p++)
		if (p[1] >= '1' && p[1] <= '5' && (p[2] == 'E' || p[2] == 'I') &&
		    (p[-1] == 'E' || memcmp(p - len, name, len) == 0))
			return true;
	return false;
}

/* A walk over those ranges of a DIE whose code the linker kept. Begins all zero. */
struct ranges {
	ptrdiff_t at; /* of libdw, as base is */
	Dwarf_Addr base, first, end;
};

/* Steps to the next range. False: there are no more. */
static bool next_range(struct extraction *x, Dwarf_Die *die, struct ranges *ranges)
{
	while (!x->failed && (ranges->at = x->dw.dwarf_ranges(die, ranges->at, &ranges->base,
							      &ranges->first, &ranges->end)) > 0)
		if (ranges->first != 0 && ranges->end > ranges->first &&
		    section_of(x, ranges->first))
			return true;
	return false;
}

/* Returns the address at which the code of a DIE is entered; UINT64_MAX: it is unknown. */
static Dwarf_Addr entry_of(const struct library *dw, Dwarf_Die *die)
{
	Dwarf_Addr entry;
	return dw->dwarf_entrypc(die, &entry) == 0 ? entry : UINT64_MAX;
}

/* Returns what the ranges of a function have in common. */
static struct tr_code_function describe_function(struct extraction *x, Dwarf_Die *unit,
						 Dwarf_Die *die)
{
	const struct library *dw = &x->dw;
	const char *name = dw->dwarf_diename(die), *linkage = linkage_name(dw, die);
	bool lambda = name && strcmp(name, "operator()") == 0;
	struct tr_code_function function = { .name = put_name(x, name) };
	int line = 0;
	function.linkage = linkage ? put_name(x, linkage) : function.name;
	function.file = numbered_file(x, unit, die, DW_AT_decl_file);
	if (dw->dwarf_decl_line(die, &line) == 0 && line > 0)
		function.line = (uint32_t)line;
	if ((flag_of(dw, die, DW_AT_artificial) && !lambda) ||
	    dw->dwarf_hasattr_integrate(die, DW_AT_trampoline) || is_made_by_compiler(name) ||
	    is_made_by_compiler(linkage))
		function.flags |= TR_FUNCTION_HIDDEN;
	if (dw->dwarf_hasattr_integrate(die, DW_AT_type) &&
	    !(x->to->head.machine == EM_ARM && is_structor(name, linkage)))
		function.flags |= TR_FUNCTION_VALUE;
	return function;
}

/* Adds the ranges of a function. */
static void put_function(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die)
{
	struct tr_dwarf *to = x->to;
	struct ranges ranges = { 0 };
	struct tr_code_function function;
	Dwarf_Addr entry = entry_of(&x->dw, die);
	for (bool described = false; next_range(x, die, &ranges); described = true) {
		if (!described)
			function = describe_function(x, unit, die);
		if (!tr_array_room(to->functions, to->head.functions, to->function_cap)) {
			x->failed = true;
			return;
		}
		struct tr_code_function *range = &to->functions[to->head.functions++];
		*range = function;
		range->first = ranges.first;
		range->end = ranges.end;
		uint64_t last = end_of_code(x, range->first, range->end);
		uint32_t size = find_return(x, last);
		if (size) {
			range->flags |= TR_FUNCTION_RETURNS;
			range->returns_at = last - size;
		}
		if (entry != range->first && entry != UINT64_MAX)
			range->flags |= TR_FUNCTION_PART;
	}
}

/* Adds a row that is not in the line table, at the entry of a DIE that has a source line. */
static void put_mark(struct extraction *x, Dwarf_Die *die, uint32_t file, uint32_t line)
{
	struct tr_dwarf *to = x->to;
	Dwarf_Addr address;
	if (!line || x->dw.dwarf_entrypc(die, &address) != 0 || !address || !section_of(x, address))
		return;
	if (!tr_array_room(to->rows, to->head.rows, to->row_cap))
		x->failed = true;
	else
		to->rows[to->head.rows++] = (struct tr_code_row){ address, file, line, 0,
								  TR_ROW_STATEMENT | TR_ROW_MARK };
}

/* Returns what the ranges of an inlined call have in common. */
static struct tr_code_inline describe_inline(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die,
					     unsigned depth)
{
	const struct library *dw = &x->dw;
	const char *name = dw->dwarf_diename(die), *linkage = linkage_name(dw, die);
	struct tr_code_inline call = { .depth = depth };
	Dwarf_Attribute attr;
	Dwarf_Word line;
	int declared;
	if (!name) /* its origin, which has the name, cannot be found */
		count_unread(x, NULL);
	call.name = put_name(x, name);
	call.linkage = linkage ? put_name(x, linkage) : call.name;
	call.file = numbered_file(x, unit, die, DW_AT_call_file);
	if (dw->dwarf_attr(die, DW_AT_call_line, &attr) && dw->dwarf_formudata(&attr, &line) == 0 &&
	    line <= UINT32_MAX)
		call.line = (uint32_t)line;
	call.declared_in = numbered_file(x, unit, die, DW_AT_decl_file);
	if (dw->dwarf_decl_line(die, &declared) == 0 && declared > 0)
		call.declared_at = (uint32_t)declared;
	return call;
}

/*
 * Adds the ranges of an inlined call, and rows for its line and that of the called function,
 * because the table has only the lines of the body.
 */
static void put_inline(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	struct tr_dwarf *to = x->to;
	struct ranges ranges = { 0 };
	struct tr_code_inline call;
	uint32_t declared_at = 0;
	Dwarf_Addr entry = entry_of(&x->dw, die);
	bool described = false;
	for (; next_range(x, die, &ranges); described = true) {
		if (!described) {
			call = describe_inline(x, unit, die, depth);
			declared_at = call.declared_at;
		}
		if (!tr_array_room(to->inlines, to->head.inlines, to->inline_cap)) {
			x->failed = true;
			return;
		}
		call.first = ranges.first;
		call.end = ranges.end;
		call.declared_at = call.first == entry ? declared_at : 0;
		to->inlines[to->head.inlines++] = call;
	}
	if (!described)
		return;
	put_mark(x, die, call.file, call.line);
	put_mark(x, die, call.declared_in, declared_at);
}

/* Adds a row for a label with a name, which has none in the line table. */
static void put_label(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die)
{
	int line = 0;
	if (x->dw.dwarf_decl_line(die, &line) == 0 && line > 0)
		put_mark(x, die, numbered_file(x, unit, die, DW_AT_decl_file), (uint32_t)line);
}

/*
 * Visits a DIE and its descendants. The offset of a sibling must be larger: a damaged file may
 * contain a cycle.
 */
static void visit(struct extraction *x, Dwarf_Die *unit, Dwarf_Die *die, unsigned depth)
{
	const struct library *dw = &x->dw;
	Dwarf_Die child, next;
	Dwarf_Off last = dw->dwarf_dieoffset(die);
	int found = dw->dwarf_child(die, &child);
	if (found < 0 || (found == 0 && depth > DEPTH))
		count_unread(x, found < 0 ? dw->dwarf_errmsg(-1) : NULL);
	if (depth > DEPTH || x->failed || found != 0)
		return;
	for (;;) {
		Dwarf_Off offset = dw->dwarf_dieoffset(&child);
		if (offset <= last)
			count_unread(x, NULL);
		if (offset <= last || x->failed)
			return;
		last = offset;
		switch (dw->dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			put_function(x, unit, &child);
			visit(x, unit, &child, depth + 1);
			break;
		case DW_TAG_inlined_subroutine:
			put_inline(x, unit, &child, depth);
			visit(x, unit, &child, depth + 1);
			break;
		case DW_TAG_label:
			put_label(x, unit, &child);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			visit(x, unit, &child, depth + 1);
			break;
		}
		found = dw->dwarf_siblingof(&child, &next);
		if (found < 0)
			count_unread(x, dw->dwarf_errmsg(-1));
		if (found != 0)
			return;
		child = next;
	}
}

/* Whether the unit is compiled from Ada. */
static bool is_ada(const struct library *dw, Dwarf_Die *unit)
{
	enum { ADA_2005 = 0x2e, ADA_2012 = 0x2f }; /* DWARF's list of languages has these */
	Dwarf_Attribute attr;
	Dwarf_Word language;
	return dw->dwarf_attr(unit, DW_AT_language, &attr) &&
	       dw->dwarf_formudata(&attr, &language) == 0 &&
	       (language == DW_LANG_Ada83 || language == DW_LANG_Ada95 || language == ADA_2005 ||
		language == ADA_2012);
}

/* Reads all units. */
static void read_units(struct extraction *x, Dwarf *dwarf)
{
	const struct library *dw = &x->dw;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	Dwarf_Half version;
	uint8_t type;
	int found = 0;
	while (!x->failed &&
	       (found = dw->dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit, &split)) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		const char *directory = string_of(dw, &unit, DW_AT_comp_dir);
		x->directory = tr_text_from(directory ? directory : "");
		x->last_source = NULL;
		read_rows(x, &unit);
		Dwarf_Die *whole = type == DW_UT_skeleton && split.cu ? &split : &unit;
		x->ada = is_ada(dw, whole);
		visit(x, &unit, whole, 0);
	}
	if (found < 0)
		count_unread(x, dw->dwarf_errmsg(-1));
	x->to->head.has_lines = x->to->head.rows > 0;
}

static int by_row(const void *a, const void *b)
{
	const struct tr_code_row *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	bool x_end = x->flags & TR_ROW_END, y_end = y->flags & TR_ROW_END;
	bool x_mark = x->flags & TR_ROW_MARK, y_mark = y->flags & TR_ROW_MARK;
	return x_end != y_end ? y_end - x_end : y_mark - x_mark;
}

static int by_function(const void *a, const void *b)
{
	const struct tr_code_function *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_inline(const void *a, const void *b)
{
	const struct tr_code_inline *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Sorts an array, stably: a merge sort, which hostile input cannot slow down. */
static bool sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	char *from = items, *spare = malloc(count * size + 1), *to = spare;
	if (!spare)
		return false;
	for (size_t run = 1; run < count; run *= 2) {
		for (size_t low = 0; low < count; low += 2 * run) {
			size_t a = low, b = low + run < count ? low + run : count;
			size_t middle = b, end = b + run < count ? b + run : count;
			for (size_t k = low; k < end; k++) {
				bool left = b >= end ||
					    (a < middle &&
					     compare(from + a * size, from + b * size) <= 0);
				memcpy(to + k * size, from + (left ? a++ : b++) * size, size);
			}
		}
		char *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * size);
	free(spare);
	return true;
}

/* Keeps one of the functions with the same range: several units contain the same template. */
static void unite_functions(struct tr_dwarf *to)
{
	size_t kept = 0;
	for (size_t i = 0; i < to->head.functions; i++)
		if (!kept || to->functions[i].first != to->functions[kept - 1].first ||
		    to->functions[i].end != to->functions[kept - 1].end)
			to->functions[kept++] = to->functions[i];
	to->head.functions = kept;
}

/* Returns the function that contains the address among the first count, sorted ones; or NULL. */
static struct tr_code_function *function_at(struct tr_dwarf *to, size_t count, uint64_t address)
{
	size_t n = tr_array_search(i, 0, count, to->functions[i].first <= address);
	return n && address < to->functions[n - 1].end ? &to->functions[n - 1] : NULL;
}

static int by_mark(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

/* Reads the mapping symbols of ARM and AArch64: $a, $t, $x (code) and $d (data). */
static void read_marks(struct extraction *x, Dwfl_Module *module)
{
	const struct library *dw = &x->dw;
	int count = dw->dwfl_module_getsymtab(module);
	for (int i = 1; i < count && !x->failed; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
			dw->dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		if (!name || *name != '$' || !name[1] || !strchr("atxd", name[1]) ||
		    (name[2] && name[2] != '.') || sym.st_shndx == SHN_UNDEF)
			continue;
		if (!tr_array_room(x->marks, x->mark_count, x->mark_cap)) {
			x->failed = true;
			return;
		}
		x->marks[x->mark_count++] = (struct mark){ address, name[1] == 'd' };
	}
	x->failed |= !sort(x->marks, x->mark_count, sizeof *x->marks, by_mark);
}

/* Adds the functions of the symbol table that the debug information does not describe. */
static void read_symbols(struct extraction *x, Dwfl_Module *module)
{
	const struct library *dw = &x->dw;
	struct tr_dwarf *to = x->to;
	int count = dw->dwfl_module_getsymtab(module);
	size_t known = to->head.functions;
	for (int i = 1; i < count && !x->failed; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
			dw->dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		if (!name || !*name || GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		bool thumb = to->head.machine == EM_ARM && (address & 1);
		address -= thumb;
		struct tr_code_function *in = function_at(to, known, address);
		if (in && thumb)
			in->flags |= TR_FUNCTION_THUMB;
		/*
		 * Lambdas, and functions that are static or in a namespace without a name, have no
		 * linkage name in the debug information, and may all have the same name.
		 */
		if (in && in->first == address && in->linkage == in->name &&
		    (strncmp(name, "_Z", 2) == 0 ||
		     strcmp(to->strings.data + in->name, "operator()") == 0))
			in->linkage = put_name(x, name);
		if (in || address + sym.st_size < address || !section_of(x, address))
			continue;
		if (!tr_array_room(to->functions, to->head.functions, to->function_cap)) {
			x->failed = true;
			return;
		}
		uint32_t string = put_name(x, name);
		to->functions[to->head.functions++] = (struct tr_code_function){
			address, address + sym.st_size, 0, string, string, 0,
			0,	 TR_FUNCTION_SYMBOL,	0
		};
	}
	x->failed |= !sort(to->functions, to->head.functions, sizeof *to->functions, by_function);
	unite_functions(to);
}

/*
 * In a function with a value, marks the last row at the closing brace whose code calls something:
 * variables are destroyed there. Without a call, the code at the brace only leaves the function.
 */
static void mark_call(struct extraction *x, const struct tr_code_function *function)
{
	enum { CODE_MAX = 1024 };
	const struct tr_elf_head *head = &x->to->head;
	struct tr_code_row *rows = x->to->rows;
	uint64_t end = end_of_code(x, function->first, function->end);
	size_t n = tr_array_search(i, 0, head->rows, rows[i].address < end), first = n;
	while (first && rows[first - 1].address > function->first &&
	       end - rows[first - 1].address <= CODE_MAX &&
	       rows[first - 1].line == rows[n - 1].line)
		first--;
	if (first == n)
		return;
	uint8_t bytes[CODE_MAX];
	struct tr_code code = { head->machine, head->big_endian,
				function->flags & TR_FUNCTION_THUMB, bytes,
				end - rows[first].address };
	size_t call = code_before(x, end, code.size, bytes) ? tr_jump_last_call(&code) : SIZE_MAX;
	if (call == SIZE_MAX)
		return;
	while (rows[n - 1].address > rows[first].address + call)
		n--;
	rows[n - 1].flags |= TR_ROW_CALLS;
}

/* Reads an open module. False: err is filled. */
static bool read_module(struct extraction *x, Dwfl_Module *module, struct tr_error *err)
{
	const struct library *dw = &x->dw;
	struct tr_dwarf *to = x->to;
	struct tr_elf_head *head = &to->head;
	GElf_Addr bias, vaddr;
	const unsigned char *id;
	x->elf = dw->dwfl_module_getelf(module, &bias);
	if (!x->elf) {
		tr_error_set(err, TR_CAUSE_INPUT, "not an ELF file: %s", dw->dwfl_errmsg(-1));
		return false;
	}
	if (!read_layout(x, err))
		return false;
	int size = dw->dwfl_module_build_id(module, &id, &vaddr);
	if (size > 0 && size <= TR_BUILD_ID_MAX) {
		memcpy(head->build_id, id, (size_t)size);
		head->build_id_size = (uint8_t)size;
	}
	if (head->machine == EM_ARM || head->machine == EM_AARCH64)
		read_marks(x, module);
	Dwarf *dwarf = dw->dwfl_module_getdwarf(module, &bias);
	if (!dwarf)
		count_unread(x, dw->dwfl_errmsg(-1));
	if (dwarf && !x->failed)
		read_units(x, dwarf);
	x->ada = false;
	x->failed |= !sort(to->rows, head->rows, sizeof *to->rows, by_row) ||
		     !sort(to->functions, head->functions, sizeof *to->functions, by_function) ||
		     !sort(to->inlines, head->inlines, sizeof *to->inlines, by_inline);
	unite_functions(to);
	if (!x->failed)
		read_symbols(x, module);
	for (size_t i = 0; i < head->functions && !x->failed; i++) {
		unsigned kept = TR_FUNCTION_VALUE | TR_FUNCTION_RETURNS;
		if ((to->functions[i].flags & (kept | TR_FUNCTION_HIDDEN)) == kept)
			mark_call(x, &to->functions[i]);
	}
	return true;
}

bool tr_dwarf_read(struct tr_dwarf *to, const char *path, int fd, bool demangles,
		   struct tr_error *err)
{
	struct extraction x = {
		.to = to, .paths = TR_MAP_INIT, .memory = TR_ARENA_INIT, .demangles = demangles
	};
	static const char none[1] = "";
	if (!tr_library_load(TREC_LIBDW, symbols, &x.dw, err) ||
	    (demangles && !tr_demangle_begin(&x.names, err))) {
		close(fd);
		return false;
	}
	Dwfl_Callbacks callbacks = { .find_debuginfo = x.dw.dwfl_standard_find_debuginfo };
	tr_buffer_put(&to->strings, none, 1);
	x.failed = to->strings.failed || !tr_array_room(to->files, to->head.files, to->file_cap);
	if (!x.failed)
		to->files[to->head.files++] = 0;
	Dwfl *dwfl = x.failed ? NULL : x.dw.dwfl_begin(&callbacks);
	Dwfl_Module *module = dwfl ? x.dw.dwfl_report_elf(dwfl, path, path, fd, 0, true) : NULL;
	bool good = false;
	if (module) {
		x.dw.dwfl_report_end(dwfl, NULL, NULL);
		good = read_module(&x, module, err);
	} else {
		close(fd);
		tr_error_set(err, TR_CAUSE_INPUT, "not an ELF file: %s", x.dw.dwfl_errmsg(-1));
	}
	if (dwfl)
		x.dw.dwfl_end(dwfl);
	tr_map_free(&x.paths);
	tr_arena_free(&x.memory);
	tr_buffer_free(&x.path);
	tr_demangle_free(&x.names);
	free(x.marks);
	if (x.failed)
		tr_error_memory(err);
	to->head.strings = to->strings.len;
	return good && !x.failed;
}
#endif
