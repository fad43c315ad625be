/* SPDX-License-Identifier: MIT */
/*
 * A program or shared library: which function, file and line an address belongs to.
 *
 *	file -> tr_dwarf_read (dwarf.h) -> tr_statements_make (statements.h)	in a child process
 *	     -> tables through a pipe -> struct tr_elf -> lookups
 *
 * Addresses are those of the file itself: the caller subtracts the load address. libdw (elfutils)
 * is loaded by the child when a program is opened. If a file makes libdw crash or run forever, only
 * the child ends, and the caller gets a message.
 */
#ifndef TR_SYMBOL_ELF_H
#define TR_SYMBOL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

enum { TR_BUILD_ID_MAX = 64, TR_CODE_NONE = UINT32_MAX };

enum {
	TR_ROW_END = 1,	      /* the first address after a sequence */
	TR_ROW_STATEMENT = 2, /* a place for a breakpoint */
	TR_ROW_MARK = 4,      /* not in the table: a label or an inlined call begins here */
	TR_ROW_CALLS = 8, /* at the closing brace of a function with a value, and calls something */
};

/* A row of a line table. Sorted by address; the end of a sequence is before the next one. */
struct tr_code_row {
	uint64_t address;
	uint32_t file; /* 0: unknown */
	uint32_t line; /* 0: unknown */
	uint32_t column;
	uint32_t flags;
};

enum {
	TR_FUNCTION_HIDDEN = 1,	 /* made by the compiler: it has no source lines */
	TR_FUNCTION_VALUE = 2,	 /* returns a value */
	TR_FUNCTION_RETURNS = 4, /* its last instruction is a return */
	TR_FUNCTION_SYMBOL = 8,	 /* known from the symbol table only */
	TR_FUNCTION_PART = 16,	 /* a further range of a function: not its entry */
	TR_FUNCTION_THUMB = 32,	 /* ARM: it has 16-bit instructions */
};

/* A range of a function. Sorted by first. */
struct tr_code_function {
	uint64_t first, end;
	uint64_t returns_at; /* the last instruction, if TR_FUNCTION_RETURNS */
	uint32_t name;	     /* in the strings, as in the source */
	uint32_t linkage;    /* mangled, unless names are demangled; or the plain name */
	uint32_t file, line; /* of the declaration; 0: unknown */
	uint32_t flags;
	uint32_t unused;
};

/* A range of an inlined call. Sorted by first; an outer call is before the calls in it. */
struct tr_code_inline {
	uint64_t first, end;
	uint32_t name, linkage; /* as of a function */
	uint32_t file, line;	/* of the call */
	uint32_t depth;
	/* of the called function: file and line; 0: unknown, or not where it is entered */
	uint32_t declared_in, declared_at;
	uint32_t unused;
};

/* A section of code. */
struct tr_code_section {
	uint64_t address, size;
	uint64_t offset; /* in the file; UINT64_MAX: the file does not contain its bytes */
};

/* A place at which a source line begins to run. Sorted by address. */
struct tr_code_statement {
	uint64_t address;
	uint32_t file, line;
	uint32_t function; /* its index; TR_CODE_NONE: unknown */
	uint32_t unused;
};

/* The fixed part of the tables; the arrays follow in this order. */
struct tr_elf_head {
	uint64_t rows, functions, inlines, sections, statements, files, strings;
	uint64_t base;	 /* lowest address of a segment, rounded down to its alignment */
	uint64_t unread; /* parts of the debug information that cannot be read */
	uint64_t end;	 /* first address after the highest segment */
	uint16_t machine;
	uint8_t bits; /* 32 or 64 */
	bool big_endian;
	bool relocatable; /* a PIE or a shared library: it can be loaded at any address */
	bool has_lines;	  /* it has debug information */
	uint8_t build_id_size;
	uint8_t unused;
	uint8_t build_id[TR_BUILD_ID_MAX];
};

/* Not thread safe. Everything that the functions return is valid until tr_elf_free. */
struct tr_elf {
	char *path;
	int file;		 /* descriptor, for tr_elf_code; -1: none */
	struct tr_buffer memory; /* what the child sent; the arrays are in it */
	struct tr_elf_head head;
	const struct tr_code_row *rows;
	const struct tr_code_function *functions;
	const struct tr_code_inline *inlines;
	const struct tr_code_section *sections;
	const struct tr_code_statement *statements;
	const uint32_t *files;
	const char *strings;
	uint32_t *by_name; /* entries of functions, sorted by linkage; NULL: not needed yet */
	size_t by_name_count;
};

/*
 * Reads a program, which the caller frees with tr_elf_free. demangles: demangle the names of
 * functions. NULL: err is filled (the file cannot be read, is not an ELF program, or this build has
 * no libdw).
 */
struct tr_elf *tr_elf_open(const char *path, bool demangles, struct tr_error *err);
void tr_elf_free(struct tr_elf *program);

/* Returns the function that contains the address, or NULL. */
const struct tr_code_function *tr_elf_function(const struct tr_elf *program, uint64_t address);

/*
 * Returns the function of that linkage name, or NULL: there is none, or there are several. *failed:
 * memory is exhausted.
 */
const struct tr_code_function *tr_elf_function_named(struct tr_elf *program, struct tr_text name,
						     bool *failed);

/* Returns the row that describes the address, or NULL. */
const struct tr_code_row *tr_elf_row(const struct tr_elf *program, uint64_t address);

/*
 * Lists the calls that are inlined at the address, the outermost first, at most max of them.
 * Returns their number.
 */
size_t tr_elf_inlines(const struct tr_elf *program, uint64_t address,
		      const struct tr_code_inline **list, size_t max);

/*
 * Copies code from the file. Returns the number of bytes at that address, at most size; 0: the file
 * does not contain them.
 */
size_t tr_elf_code(const struct tr_elf *program, uint64_t address, uint8_t *to, size_t size);

/* Returns the path of a file of the tables, absolute and without dots; empty: unknown. */
static inline const char *tr_elf_file(const struct tr_elf *program, uint32_t file)
{
	return program->strings + program->files[file];
}

static inline const char *tr_elf_string(const struct tr_elf *program, uint32_t string)
{
	return program->strings + string;
}

#endif
