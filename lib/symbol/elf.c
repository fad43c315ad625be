/* SPDX-License-Identifier: MIT */
/* Runs the extraction in a child process, receives its tables, and looks addresses up in them. */
#include "symbol/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "symbol/dwarf.h"
#include "symbol/statements.h"

enum { TABLES = 'T', FAILURE = 'F' };

/* The head of the data that the child sends. The tables follow, or the text of the failure. */
struct message {
	uint64_t type;
	uint64_t cause;		 /* of a failure */
	struct tr_elf_head head; /* of tables */
};

enum { CHILD_SECONDS = 300 }; /* a program of 1 GB takes less than a minute */

/* Resets all signals, because handlers of the parent must not run in the child. */
static void reset_signals(void)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

#ifndef __SANITIZE_ADDRESS__ /* which reserves far more than it uses */
/*
 * Returns how much address space reading a program of that size may take. Programs take about ten
 * times their size, and a stripped one can be a tenth of its debug information. Compressed debug
 * information can be a thousand times as large as the file, and is damage or malice then.
 */
static uint64_t memory_limit(uint64_t size)
{
	const uint64_t mega = 1 << 20;
	uint64_t small = 256 * mega + 256 * size, large = 4096 * mega + 64 * size;

	return small < large ? small : large;
}

/* The size of the address space of this process, including the data of the parent. */
static uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : (uint64_t)4 << 30;
}
#endif

/* Limits the resources of the child. */
static void limit_child(uint64_t size)
{
	struct rlimit no_core = { 0, 0 }, seconds = { CHILD_SECONDS, CHILD_SECONDS };
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &seconds);
#ifndef __SANITIZE_ADDRESS__
	uint64_t most = address_space() + memory_limit(size);
	struct rlimit memory = { (rlim_t)most, (rlim_t)most };
	if (most <= RLIM_INFINITY / 2)
		setrlimit(RLIMIT_AS, &memory);
#else
	(void)size;
#endif
}

/* Sends the tables; errors are ignored, because then the reader is gone. */
static void send_tables(int fd, const struct tr_dwarf *dwarf,
			const struct tr_code_statement *statements)
{
	const struct tr_elf_head *head = &dwarf->head;
	struct message message = { .type = TABLES, .head = *head };
	struct {
		const void *data;
		size_t size;
	} parts[] = {
		{ &message, sizeof message },
		{ dwarf->rows, head->rows * sizeof *dwarf->rows },
		{ dwarf->functions, head->functions * sizeof *dwarf->functions },
		{ dwarf->inlines, head->inlines * sizeof *dwarf->inlines },
		{ dwarf->sections, head->sections * sizeof *dwarf->sections },
		{ statements, head->statements * sizeof *statements },
		{ dwarf->files, head->files * sizeof *dwarf->files },
		{ dwarf->strings.data, head->strings },
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].size && !tr_fd_write(fd, parts[i].data, parts[i].size, NULL))
			return;
}

/* The child: extracts the tables and sends them. Never returns. */
static void run_child(const char *path, int file, uint64_t size, bool demangles, int to)
{
	struct tr_dwarf dwarf = { .rows = NULL };
	struct tr_code_statement *statements = NULL;
	struct tr_error err;
	reset_signals();
	limit_child(size);
	/* libdw and the loader print fatal errors; the parent has its own message */
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	unsetenv("DEBUGINFOD_URLS"); /* libdwfl would contact these servers */
	tr_error_clear(&err);
	bool good = tr_dwarf_read(&dwarf, path, file, demangles, &err);
	if (good) {
		size_t count = tr_statements_make(dwarf.rows, dwarf.head.rows, dwarf.functions,
						  dwarf.head.functions, &statements);
		good = count != SIZE_MAX;
		if (good)
			dwarf.head.statements = count;
		else
			tr_error_memory(&err);
	}
	if (good) {
		send_tables(to, &dwarf, statements);
	} else {
		struct message message = { .type = FAILURE, .cause = err.cause };
		if (tr_fd_write(to, (const char *)&message, sizeof message, NULL))
			tr_fd_write(to, err.text, strlen(err.text), NULL);
	}
	_exit(0);
}

/* Reads everything from the pipe. False: memory is exhausted, or it cannot be read. */
static bool receive(int fd, struct tr_buffer *to)
{
	for (;;) {
		char *room = tr_buffer_room(to, 1 << 16);
		if (!room)
			return false;
		ssize_t n = read(fd, room, to->cap - to->len);
		if (n == 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			tr_buffer_used(to, (size_t)n);
	}
}

/* Sets the pointers to the arrays in memory. False: the child did not send all of them. */
static bool take_tables(struct tr_elf *program)
{
	const struct tr_elf_head *head = &program->head;
	const char *pos = program->memory.data + sizeof(struct message);
	size_t left = program->memory.len - sizeof(struct message);
	struct {
		const void *array;
		uint64_t count;
		size_t size;
	} parts[] = {
		{ &program->rows, head->rows, sizeof *program->rows },
		{ &program->functions, head->functions, sizeof *program->functions },
		{ &program->inlines, head->inlines, sizeof *program->inlines },
		{ &program->sections, head->sections, sizeof *program->sections },
		{ &program->statements, head->statements, sizeof *program->statements },
		{ &program->files, head->files, sizeof *program->files },
		{ &program->strings, head->strings, 1 },
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].count > left / parts[i].size)
			return false;
		memcpy((void *)(uintptr_t)parts[i].array, &pos, sizeof pos);
		pos += parts[i].count * parts[i].size;
		left -= parts[i].count * parts[i].size;
	}
	return left == 0 && head->files && head->strings;
}

/* Fills err with the reason why the child ended, with that wait status, without sending tables. */
static void explain_end(int status, struct tr_error *err)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (sig == SIGXCPU || sig == SIGKILL)
		tr_error_say(err, TR_CAUSE_INPUT, "its debug information takes too long to read");
	else if (sig)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "libdw failed while it read the file (signal %d): is it damaged?",
			     sig);
	else /* libdw calls exit */
		tr_error_say(err, TR_CAUSE_INPUT,
			     "its debug information takes too much memory to read");
}

/* Checks what was received. False: err is filled. */
static bool check_answer(struct tr_elf *program, int status, struct tr_error *err)
{
	struct message message;
	struct tr_buffer *memory = &program->memory;
	if (memory->len < sizeof message) {
		explain_end(status, err);
		return false;
	}
	memcpy(&message, memory->data, sizeof message);
	program->head = message.head;
	if (message.type == FAILURE) {
		tr_buffer_put_byte(memory, 0);
		if (memory->failed)
			tr_error_memory(err);
		else if (message.cause == TR_CAUSE_MEMORY) /* more than its limit */
			explain_end(0, err);
		else
			tr_error_set(err, (enum tr_cause)message.cause, "%s",
				     memory->data + sizeof message);
		return false;
	}
	if (!take_tables(program)) {
		explain_end(status, err);
		return false;
	}
	return true;
}

/* Runs the child and receives its tables. False: err is filled. */
static bool extract(struct tr_elf *program, uint64_t size, bool demangles, struct tr_error *err)
{
	int ends[2], status = 0;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		tr_error_system(err, errno, "cannot make a pipe");
		return false;
	}
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		run_child(program->path, program->file, size, demangles, ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		tr_error_system(err, errno, "cannot start a process to read the program");
		close(ends[0]);
		return false;
	}
	tr_fd_enlarge_pipe(ends[0]);
	bool good = receive(ends[0], &program->memory);
	close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!good) {
		tr_error_memory(err);
		return false;
	}
	return check_answer(program, status, err);
}

struct tr_elf *tr_elf_open(const char *path, bool demangles, struct tr_error *err)
{
	struct stat st;
	struct tr_elf *program = calloc(1, sizeof *program);
	if (!program) {
		tr_error_memory(err);
		return NULL;
	}
	program->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (program->file < 0 || fstat(program->file, &st) != 0)
		tr_error_system(err, errno, "cannot be opened");
	else if (!S_ISREG(st.st_mode))
		tr_error_say(err, TR_CAUSE_INPUT, "not a regular file");
	else if (!(program->path = strdup(path)))
		tr_error_memory(err);
	else if (extract(program, (uint64_t)st.st_size, demangles, err))
		return program;
	tr_elf_free(program);
	tr_error_name(err, tr_text_from(path));
	return NULL;
}

void tr_elf_free(struct tr_elf *program)
{
	if (!program)
		return;
	tr_buffer_free(&program->memory);
	if (program->file >= 0)
		close(program->file);
	free(program->by_name);
	free(program->path);
	free(program);
}

const struct tr_code_function *tr_elf_function(const struct tr_elf *program, uint64_t address)
{
	size_t n = tr_array_search(i, 0, program->head.functions,
				   program->functions[i].first <= address);
	return n && address < program->functions[n - 1].end ? &program->functions[n - 1] : NULL;
}

/* The linkage name of an item of by_name. */
static struct tr_text name_at(const struct tr_elf *program, size_t i)
{
	return tr_text_from(
		tr_elf_string(program, program->functions[program->by_name[i]].linkage));
}

static int by_linkage(const void *a, const void *b, void *context)
{
	const struct tr_elf *program = context;
	const struct tr_code_function *x = &program->functions[*(const uint32_t *)a];
	const struct tr_code_function *y = &program->functions[*(const uint32_t *)b];
	return strcmp(tr_elf_string(program, x->linkage), tr_elf_string(program, y->linkage));
}

/* Sorts the entries of functions by their names. False: memory is exhausted. */
static bool sort_names(struct tr_elf *program)
{
	program->by_name = malloc((program->head.functions + 1) * sizeof *program->by_name);
	if (!program->by_name)
		return false;
	for (uint32_t i = 0; i < program->head.functions; i++)
		if (!(program->functions[i].flags & TR_FUNCTION_PART))
			program->by_name[program->by_name_count++] = i;
	if (program->by_name_count)
		qsort_r(program->by_name, program->by_name_count, sizeof *program->by_name,
			by_linkage, program);
	return true;
}

const struct tr_code_function *tr_elf_function_named(struct tr_elf *program, struct tr_text name,
						     bool *failed)
{
	if (!program->by_name && !sort_names(program)) {
		*failed = true;
		return NULL;
	}
	size_t count = program->by_name_count;
	size_t at = tr_array_search(i, 0, count, tr_text_compare(name_at(program, i), name) < 0);
	if (at == count || !tr_text_equal(name_at(program, at), name) ||
	    (at + 1 < count && tr_text_equal(name_at(program, at + 1), name)))
		return NULL;
	return &program->functions[program->by_name[at]];
}

size_t tr_elf_code(const struct tr_elf *program, uint64_t address, uint8_t *to, size_t size)
{
	for (size_t i = 0; i < program->head.sections; i++) {
		const struct tr_code_section *section = &program->sections[i];
		uint64_t at = address - section->address;
		if (at >= section->size || section->offset > INT64_MAX - at)
			continue;
		if (size > section->size - at)
			size = section->size - at;
		ssize_t n = pread(program->file, to, size, (off_t)(section->offset + at));
		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

const struct tr_code_row *tr_elf_row(const struct tr_elf *program, uint64_t address)
{
	const struct tr_code_row *rows = program->rows;
	size_t n = tr_array_search(i, 0, program->head.rows, rows[i].address <= address);
	/* the last of several rows that have a line */
	while (n && (rows[n - 1].flags & TR_ROW_MARK ||
		     (n > 1 && !rows[n - 1].line && rows[n - 2].address == rows[n - 1].address)))
		n--;
	const struct tr_code_row *row = n ? &rows[n - 1] : NULL;
	return row && !(row->flags & TR_ROW_END) && row->line ? row : NULL;
}

size_t tr_elf_inlines(const struct tr_elf *program, uint64_t address,
		      const struct tr_code_inline **list, size_t max)
{
	const struct tr_code_function *function = tr_elf_function(program, address);
	size_t n = tr_array_search(i, 0, program->head.inlines,
				   program->inlines[i].first <= address),
	       count = 0;
	if (!function || !max)
		return 0;
	/* calls lie within their function, so the search ends where that begins */
	for (size_t i = n; i-- && program->inlines[i].first >= function->first && count < max;)
		if (address < program->inlines[i].end)
			list[count++] = &program->inlines[i];
	for (size_t i = 0; i < count / 2; i++) {
		const struct tr_code_inline *swap = list[i];
		list[i] = list[count - 1 - i];
		list[count - 1 - i] = swap;
	}
	return count;
}
