/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes as a program: its functions and lines refer to nothing outside of the tables.
 * libdw runs in this process, so that a sanitizer checks it; the tools run it in a process of its
 * own.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbol/dwarf.h"
#include "symbol/jump.h"
#include "symbol/statements.h"

/* The machines for which the last instruction of a block is decoded. */
static const uint16_t machines[] = { 2, 3, 8, 20, 40, 62, 183, 243 };

static void check(const struct tr_dwarf *dwarf, const struct tr_code_statement *statements,
		  size_t count)
{
	const struct tr_elf_head *head = &dwarf->head;
	for (size_t i = 0; i < head->files; i++)
		if (dwarf->files[i] >= head->strings)
			fuzz_fail("a path is one of the strings");
	for (size_t i = 0; i < head->functions; i++)
		if (dwarf->functions[i].name >= head->strings ||
		    dwarf->functions[i].linkage >= head->strings ||
		    dwarf->functions[i].file >= head->files ||
		    dwarf->functions[i].first >= dwarf->functions[i].end)
			fuzz_fail("a function has a name, a file and code");
	for (size_t i = 1; i < head->rows; i++)
		if (dwarf->rows[i - 1].address > dwarf->rows[i].address)
			fuzz_fail("rows are sorted");
	if (count > head->rows + head->functions)
		fuzz_fail(
			"a row is one statement at most, and the return of a function is another");
	for (size_t i = 0; i < count; i++)
		if (statements[i].file >= head->files ||
		    (statements[i].function != TR_CODE_NONE &&
		     statements[i].function >= head->functions))
			fuzz_fail("a statement has a file and a function, or none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_dwarf dwarf = { .rows = NULL };
	struct tr_code_statement *statements = NULL;
	struct tr_error err;
	int fd = memfd_create("program", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		fuzz_fail("a file in memory");
	tr_error_clear(&err);
	if (tr_dwarf_read(&dwarf, "program", fd, true, &err)) {
		size_t count = tr_statements_make(dwarf.rows, dwarf.head.rows, dwarf.functions,
						  dwarf.head.functions, &statements);
		check(&dwarf, statements, count);
	} else if (!err.text[0]) {
		fuzz_fail("a message gives the reason why a program cannot be read");
	}
	free(statements);
	tr_dwarf_free(&dwarf);
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct tr_code code = { machines[i], size & 1, size & 2, data, size };
		size_t at = tr_jump_find(&code);
		if (at != SIZE_MAX && at >= size)
			fuzz_fail("a jump is in the block");
	}
	return 0;
}
