/* SPDX-License-Identifier: MIT */
/*
 * Marks what was executed in the output of objdump.
 *
 *	block -> its program and ranges (coverage/ranges.h)
 *	at the end, for each program: objdump -d -> lines -> functions with marks
 *
 * A function is written when its end is known, because its mark depends on all of its instructions.
 */
#include "view/asm_text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buffer.h"
#include "coverage/programs.h"
#include "coverage/ranges.h"
#include "symbol/jump.h"

struct tr_asm_text {
	const char *objdump;
	struct tr_output *out;
	struct tr_programs programs;
	struct tr_id_map ranges; /* by the address of the loaded program */
	bool map;		 /* this section is a decision map */

	/* the function that is being written */
	struct tr_buffer name, lines;
	uint64_t first, last; /* addresses */
	uint64_t all, hit;    /* instructions */
	unsigned digits;
};

struct tr_asm_text *tr_asm_text_new(const char *objdump, struct tr_output *out)
{
	struct tr_asm_text *view = calloc(1, sizeof *view);

	if (!view)
		return NULL;
	view->objdump = objdump;
	view->out = out;
	return view;
}

struct tr_programs *tr_asm_text_programs(struct tr_asm_text *view)
{
	return &view->programs;
}

void tr_asm_text_free(struct tr_asm_text *view)
{
	struct tr_ranges *ranges;

	if (!view)
		return;
	for (size_t at = 0; (ranges = tr_id_map_next(&view->ranges, &at));)
		tr_ranges_free(ranges);
	tr_id_map_free(&view->ranges);
	tr_programs_free(&view->programs);
	tr_buffer_free(&view->name);
	tr_buffer_free(&view->lines);
	free(view);
}

/* Adds a block to the code of its program. */
static enum tr_status put_block(struct tr_asm_text *view, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;

	if (!view->programs.count && !view->programs.path_count) {
		tr_error_say(
			err, TR_CAUSE_USAGE,
			"the code of blocks needs the program that was run: -O exe=PROG (or -O "
			"path=DIR for the modules of a drcov trace)");
		return TR_FATAL;
	}
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || view->map || block.op == TR_EXEC_SPECIAL || !block.size)
		return status;
	struct tr_loaded_program *loaded = tr_programs_place(&view->programs, record, &block, err);
	if (!loaded)
		return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
	struct tr_ranges *ranges = tr_id_map_get(&view->ranges, (uintptr_t)loaded);
	if (!ranges) {
		ranges = tr_ranges_new();
		if (!ranges || !tr_id_map_put(&view->ranges, (uintptr_t)loaded, ranges)) {
			tr_ranges_free(ranges);
			return tr_error_memory(err);
		}
	}
	struct tr_range range = { block.address, block.address + block.size - 1, block.op };
	if (range.last >= range.first && !tr_ranges_add(ranges, &range))
		return tr_error_memory(err);
	return TR_OK;
}

/* Writes the function that has ended. */
static void end_function(struct tr_asm_text *view)
{
	struct tr_buffer *head = &view->name;

	if (view->all) {
		tr_buffer_put_byte(head, ' ');
		tr_buffer_put_byte(head, !view->hit ? '-' : view->hit == view->all ? '+' : '!');
		tr_buffer_put_literal(head, ": ");
		tr_buffer_put_hex(head, view->first, view->digits);
		tr_buffer_put_byte(head, '-');
		tr_buffer_put_hex(head, view->last, view->digits);
		tr_buffer_put_byte(head, '\n');
		if (!head->failed && !view->lines.failed) {
			tr_output_put_text(view->out, tr_buffer_text(head));
			tr_output_put_text(view->out, tr_buffer_text(&view->lines));
		}
	}
	head->len = 0;
	view->lines.len = 0;
	view->all = view->hit = 0;
}

/* Reads a hex number, and moves *p over it. False: *p is not at one. */
static bool take_hex(const char **p, const char *end, uint64_t *number)
{
	const char *begin = *p;

	for (*number = 0; *p < end && tr_hex_digit(**p) >= 0; ++*p)
		*number = *number << 4 | (unsigned)tr_hex_digit(**p);
	return *p > begin && *p - begin <= 16;
}

/* Takes the name of the next function from a line "0000000000401136 <main>:". */
static bool take_head(struct tr_asm_text *view, struct tr_text line)
{
	const char *p = line.data, *end = p + line.len;
	uint64_t address;

	if (!take_hex(&p, end, &address) || end - p < 5 || p[0] != ' ' || p[1] != '<' ||
	    end[-2] != '>' || end[-1] != ':')
		return false;
	end_function(view);
	view->digits = (unsigned)(p - line.data);
	tr_buffer_put_text(&view->name, tr_text_span(p + 2, end - 2));
	return true;
}

/* Returns the mark of an instruction. */
static char mark_of(const struct tr_loaded_program *loaded, const struct tr_ranges *ranges,
		    uint64_t address, uint64_t size)
{
	const struct tr_elf_head *head = &loaded->program->head;
	struct tr_range range = { address, address + size - 1, 0 };
	uint8_t bytes[16];

	if (!ranges || !tr_ranges_has(ranges, range))
		return '-';
	const struct tr_code_function *function = tr_elf_function(loaded->program, address);
	struct tr_code code = { .machine = head->machine,
				.big_endian = head->big_endian,
				.thumb = function && function->flags & TR_FUNCTION_THUMB,
				.bytes = bytes,
				.size = size <= sizeof bytes
						? tr_elf_code(loaded->program, address, bytes, size)
						: 0 };
	if (!code.size || tr_jump_find(&code) == SIZE_MAX)
		return '+';
	range.op = TR_EXEC_BR0;
	bool taken = tr_ranges_has(ranges, range);
	range.op = TR_EXEC_BR1;
	bool fallen = tr_ranges_has(ranges, range);
	return taken == fallen ? '+' : taken ? '>' : 'v';
}

/* Marks the line of an instruction: "  401136:\t55 \tpush %rbp". Drops other lines. */
static void put_instruction(struct tr_asm_text *view, const struct tr_loaded_program *loaded,
			    const struct tr_ranges *ranges, struct tr_text line)
{
	const char *p = line.data, *end = p + line.len, *bytes;
	uint64_t address, ignored, size = 0;

	while (p < end && *p == ' ')
		p++;
	if (!take_hex(&p, end, &address) || end - p < 2 || p[0] != ':' || p[1] != '\t')
		return;
	/* groups of hex digits in the file's order, or words; then the mnemonic */
	for (bytes = p += 2; p < end && *p != '\t'; p++) {
		const char *group = p;
		if (!take_hex(&p, end, &ignored))
			break;
		size += (uint64_t)(p - group) / 2;
		if (p == end || *p != ' ')
			break;
	}
	if (!size)
		return;
	char mark = mark_of(loaded, ranges, address, size);
	struct tr_buffer *to = &view->lines;
	tr_buffer_put_hex(to, address, view->digits);
	tr_buffer_put_byte(to, ' ');
	tr_buffer_put_byte(to, mark);
	tr_buffer_put_literal(to, ":  ");
	tr_buffer_put_text(to, tr_text_span(bytes, end));
	tr_buffer_put_byte(to, '\n');
	view->first = view->all ? view->first : address;
	view->last = address + size - 1;
	view->all++;
	view->hit += mark != '-';
	/* a jump without one of its outcomes was executed partly */
	if (mark == '>' || mark == 'v')
		view->all++;
}

/* Handles the output of objdump. False: memory is exhausted, or the output cannot be read. */
static bool read_lines(struct tr_asm_text *view, const struct tr_loaded_program *loaded, int fd)
{
	const struct tr_ranges *ranges = tr_id_map_get(&view->ranges, (uintptr_t)loaded);
	struct tr_buffer text = TR_BUFFER_INIT;
	ssize_t n = 1;

	while (n > 0) {
		char *room = tr_buffer_room(&text, 1 << 16);
		n = room ? read(fd, room, 1 << 16) : -1;
		if (n > 0)
			tr_buffer_used(&text, (size_t)n);
		const char *p = text.data, *end = p + text.len, *lf;
		for (; text.len && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
			if (!take_head(view, tr_text_span(p, lf)))
				put_instruction(view, loaded, ranges, tr_text_span(p, lf));
		if (text.len) {
			text.len = (size_t)(end - p);
			memmove(text.data, p, text.len);
		}
	}
	end_function(view);
	tr_buffer_free(&text);
	return n == 0 && !view->name.failed && !view->lines.failed;
}

/* Runs objdump on a program. */
static enum tr_status disassemble(struct tr_asm_text *view, struct tr_loaded_program *loaded,
				  struct tr_error *err)
{
	char *const arguments[] = { (char *)(uintptr_t)view->objdump,
				    (char[]){ "-d" },
				    (char[]){ "-w" },
				    (char[]){ "--" },
				    loaded->program->path,
				    NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		tr_error_system(err, errno, "cannot make a pipe");
		return TR_FATAL;
	}
	int failed = posix_spawn_file_actions_init(&actions);
	if (!failed) {
		failed = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (!failed)
			failed = posix_spawnp(&child, view->objdump, &actions, NULL, arguments,
					      environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		if (failed == ENOMEM)
			return tr_error_memory(err);
		tr_error_system(err, failed,
				"cannot be run: install objdump, which is part of "
				"binutils");
		tr_error_name(err, tr_text_from(view->objdump));
		return TR_FATAL;
	}
	bool good = read_lines(view, loaded, ends[0]);
	close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!good)
		return tr_error_memory(err);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "%s cannot disassemble %s: for the programs of other machines there is "
		     "binutils-multiarch, or -O objdump=PROG",
		     view->objdump, loaded->program->path);
	return TR_FATAL;
}

/* Writes all programs. */
static enum tr_status write_programs(struct tr_asm_text *view, struct tr_error *err)
{
	enum tr_status status = TR_OK;

	for (size_t i = 0; i < view->programs.count && status == TR_OK; i++)
		status = disassemble(view, view->programs.list[i], err);
	if (status == TR_OK && tr_programs_remark(&view->programs, err))
		status = TR_WARN;
	return status;
}

enum tr_status tr_asm_text_put(struct tr_asm_text *view, struct tr_record *record,
			       struct tr_error *err)
{
	if (!record)
		return write_programs(view, err);
	tr_error_clear(err);
	if (record->type == TR_HEADER) {
		tr_programs_begin(&view->programs);
		view->map = false;
	}
	if (record->type != TR_RECORD)
		return TR_OK;
	if (tr_text_is(record->kind, "block"))
		return put_block(view, record, err);
	if (tr_text_is(record->kind, "section"))
		view->map = record->name.type == TR_CELL_TEXT &&
			    tr_text_is(record->name.text, "DECISION_MAP");
	enum tr_status status = tr_programs_put(&view->programs, record, err);
	return status == TR_END ? TR_OK : status;
}
