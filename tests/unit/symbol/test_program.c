/* SPDX-License-Identifier: MIT */
/*
 * Functions and lines of this very program, and files that are no programs, or damaged ones: each
 * gives a program or a message.
 */
#include "symbol/elf.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "tap.h"

/* Functions to be found; not inlined, and not removed. */
__attribute__((noinline, used)) static int add(int a, int b)
{
	__asm__ volatile("");
	return a + b;
}

static const int line_of_add = __LINE__ - 6;

/* The first byte of this program in memory: the linker defines it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* Returns how far this program is from the addresses in its file. */
static uint64_t bias(const struct tr_elf *program)
{
	return (uint64_t)(uintptr_t)__ehdr_start - program->head.base;
}

static void test_itself(const struct tr_elf *program)
{
	uint64_t address = (uint64_t)(uintptr_t)add - bias(program);
	const struct tr_code_function *function = tr_elf_function(program, address);
	ok(function && strcmp(tr_elf_string(program, function->name), "add") == 0 &&
		   function->first == address,
	   "a function at its address");
	bool written = true;
#ifdef __clang__
	/* with -g1, clang writes no lines of declarations */
	written = function && function->line;
#endif
	ok(function && (!written || (int)function->line == line_of_add),
	   "the line of its declaration");
	const struct tr_code_row *row = tr_elf_row(program, address);
	const char *file = row ? tr_elf_file(program, row->file) : "";
	size_t len = strlen(file);
	ok(len > 14 && strcmp(file + len - 14, "test_program.c") == 0 && *file == '/' &&
		   !strstr(file, "/../"),
	   "the file of a row, absolute and without dots");
	ok(row && (int)row->line >= line_of_add && (int)row->line < line_of_add + 5,
	   "the line of a row");
	ok(!tr_elf_function(program, 1) && !tr_elf_row(program, 1), "no function, no line");
	uint8_t code[4];
	ok(tr_elf_code(program, address, code, sizeof code) == sizeof code &&
		   memcmp(code, (const void *)(uintptr_t)add, sizeof code) == 0,
	   "its code");
	ok(tr_elf_code(program, 1, code, sizeof code) == 0, "no code where none is");
	bool sorted = true, in_order = true;
	for (size_t i = 1; i < program->head.rows; i++)
		sorted &= program->rows[i - 1].address <= program->rows[i].address;
	for (size_t i = 1; i < program->head.statements; i++)
		in_order &= program->statements[i - 1].address <= program->statements[i].address;
	ok(sorted && in_order && program->head.statements, "rows and statements are sorted");
}

/* Opens a file with this content. */
static struct tr_elf *open_bytes(const char *data, size_t len, struct tr_error *err)
{
	static const char path[] = "test_program.elf";
	FILE *file = fopen(path, "wb");
	if (!file)
		return NULL;
	size_t written = fwrite(data, 1, len, file);
	if (fclose(file) != 0 || written != len)
		return NULL;
	tr_error_clear(err);
	struct tr_elf *program = tr_elf_open(path, false, err);
	unlink(path);
	return program;
}

/* Looks at everything that a program of a damaged file refers to. */
static bool is_whole(const struct tr_elf *program)
{
	const struct tr_elf_head *head = &program->head;
	bool good = program->strings[head->strings - 1] == 0;
	for (size_t i = 0; i < head->files; i++)
		good &= program->files[i] < head->strings;
	for (size_t i = 0; i < head->rows; i++)
		good &= program->rows[i].file < head->files;
	for (size_t i = 0; i < head->functions; i++)
		good &= program->functions[i].name < head->strings &&
			program->functions[i].linkage < head->strings &&
			program->functions[i].file < head->files &&
			program->functions[i].first < program->functions[i].end;
	for (size_t i = 0; i < head->statements; i++)
		good &= program->statements[i].file < head->files &&
			(program->statements[i].function == TR_CODE_NONE ||
			 program->statements[i].function < head->functions);
	for (size_t i = 0; i < head->inlines; i++)
		good &= program->inlines[i].name < head->strings &&
			program->inlines[i].file < head->files;
	return good;
}

/* Changes bytes at places that a generator chooses, in the head and the tables most of all. */
static void test_damage(const struct tr_buffer *elf)
{
	uint64_t state = 1;
	size_t opened = 0, refused = 0, wrong = 0, unexplained = 0;
	char *copy = malloc(elf->len);
	if (!copy)
		exit(1);
	for (int i = 0; i < 300; i += (int)every(3)) {
		size_t len = elf->len;
		memcpy(copy, elf->data, len);
		for (int k = 0; k < 1 + i % 40; k++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			size_t at = (size_t)(state >> 20) % (i % 3 == 0 ? 4096 : len);
			copy[at] = (char)(state >> 56);
		}
		if (i % 5 == 0)
			len = (size_t)(state >> 16) % len;
		struct tr_error err;
		struct tr_elf *program = open_bytes(copy, len, &err);
		opened += program != NULL;
		refused += !program;
		unexplained += !program && !err.text[0];
		wrong += program && !is_whole(program);
		tr_elf_free(program);
	}
	free(copy);
	diag("%zu programs, %zu messages", opened, refused);
	ok(wrong == 0, "what is read of a damaged program refers to nothing outside");
	ok(unexplained == 0 && opened && refused, "a damaged program is read or explained");
}

static void test_refused(void)
{
	static const struct {
		const char *name, *data;
		size_t len;
	} cases[] = {
		{ "an empty file", "", 0 },
		{ "a text", "#!/bin/sh\n", 10 },
		{ "the magic alone", "\177ELF", 4 },
		{ "an object", "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\76\0\1\0\0\0", 64 },
	};
	struct tr_error err;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char data[64] = "";
		memcpy(data, cases[i].data, cases[i].len < 24 ? cases[i].len : 24);
		ok(!open_bytes(data, cases[i].len, &err) && strstr(err.text, "test_program.elf: "),
		   "%s is no program", cases[i].name);
	}
	tr_error_clear(&err);
	ok(!tr_elf_open("/", false, &err) && strstr(err.text, "not a regular file"), "a directory");
	tr_error_clear(&err);
	ok(!tr_elf_open("/nowhere", false, &err) && err.sys_errno, "a file that is missing");
}

int main(void)
{
	struct tr_error err;
	struct tr_buffer elf = TR_BUFFER_INIT;
	char self[4096] = "";
	tr_error_clear(&err);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	struct tr_elf *program = n > 0 ? tr_elf_open(self, false, &err) : NULL;
	if (!program) {
		printf("ok 1 - programs # SKIP %s\n1..1\n", err.text);
		return strstr(err.text, "without libdw") ? 0 : 1;
	}
	test_itself(program);
	test_refused();
	if (!tr_file_read(tr_text_from(self), SIZE_MAX / 2, &elf, &err))
		return 1;
	test_damage(&elf);
	tr_buffer_free(&elf);
	tr_elf_free(program);
	return done_testing();
}
