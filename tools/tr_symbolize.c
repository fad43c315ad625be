/* SPDX-License-Identifier: MIT */
/*
 * tr-symbolize: adds function, file and line to the blocks of execution traces, and to stack
 * frames.
 */

#include <stdlib.h>

#include "cli.h"
#include "core/buffer.h"
#include "coverage/programs.h"
#include "record/ask.h"
#include "record/literal.h"

enum { EXE = 1, BASE, PATH, DEMANGLE };

static const struct tr_option options[] = {
	{ EXE, 0, "exe", "PROG", "a program or library that was run (repeatable)" },
	{ BASE, 0, "base", "ADDRESS",
	  "load address of the first program (0x...), or of another one (NAME=0x...; repeatable)" },
	{ PATH, 0, "path", "DIR",
	  "search the files of the trace's modules below this directory (repeatable)" },
	{ DEMANGLE, 0, "demangle", NULL,
	  "write the names that C++ and Ada functions have in the source" },
	{ 0 },
};

static const char *const examples[] = {
	"the functions that were executed most often",
	"tr-symbolize --exe=prog run.log | tr-stat --by=function --top=10",
	"the blocks of one source file",
	"tr-symbolize --exe=prog run.trace | tr-filter 'block and file $= \"/parser.c\"'",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-symbolize",
	.usage = "--exe=PROG|--path=DIR [OPTION...] [FILE...]",
	.summary = "Adds the function, file and line of each block of an execution trace, and of "
		   "stack frames, from the debug information of programs.",
	.shared = TR_CLI_ALL,
	.options = options,
	.examples = examples,
};

struct symbolize {
	struct tr_cli cli;
	struct tr_setting *settings; /* the options as the -O of other tools */
	size_t setting_count, setting_cap;
	struct tr_programs programs;
	struct tr_buffer scratch; /* the spelling of a record */
	struct tr_buffer line;	  /* the line that is written */
	uint64_t named;		  /* blocks that have a function or a line now */
};

/* True if the record already has a field with that key. */
static bool has(struct tr_record *record, const char *key)
{
	return tr_record_field(record, key) != NULL;
}

/* Appends the function, file and line of an address, unless the record has these fields. */
static void put_place(struct symbolize *s, struct tr_record *record, const struct tr_elf *program,
		      uint64_t address)
{
	struct tr_buffer *to = &s->line;
	const struct tr_code_function *function = tr_elf_function(program, address);
	const struct tr_code_row *row = tr_elf_row(program, address);
	if (function && !has(record, "function")) {
		tr_buffer_put_literal(to, "\tfunction=");
		tr_string_quote(tr_text_from(tr_elf_string(program, function->linkage)), to);
	}
	if (row && row->file && !has(record, "file")) {
		tr_buffer_put_literal(to, "\tfile=");
		tr_string_quote(tr_text_from(tr_elf_file(program, row->file)), to);
	}
	if (row && !has(record, "line")) {
		tr_buffer_put_literal(to, "\tline=");
		tr_buffer_put_decimal(to, row->line);
	}
	s->named += function || row;
}

/* Appends the calls that are inlined at an address, unless the record has them. */
static void put_inlines(struct symbolize *s, struct tr_record *record, const struct tr_elf *program,
			uint64_t address)
{
	enum { DEPTH = 32 };
	struct tr_buffer *to = &s->line;
	const struct tr_code_inline *calls[DEPTH];
	size_t count = tr_elf_inlines(program, address, calls, DEPTH);
	if (count && !has(record, "inline")) {
		tr_buffer_put_literal(to, "\tinline=");
		for (size_t i = 0; i < count; i++) {
			tr_buffer_put_byte(to, i ? ',' : '[');
			tr_string_quote(tr_text_from(tr_elf_string(program, calls[i]->name)), to);
		}
		tr_buffer_put_byte(to, ']');
	}
}

/* Begins the output with the line of the record. False: it has no line, or memory is exhausted. */
static bool begin_line(struct symbolize *s, struct tr_record *record)
{
	struct tr_text text;
	tr_buffer_reset(&s->scratch);
	if (!tr_cli_line(&s->cli, record, &s->scratch, &text))
		return false;
	tr_buffer_reset(&s->line);
	tr_buffer_put(&s->line, text.data, text.len - 1);
	return true;
}

/* Ends and writes the line. */
static void end_line(struct symbolize *s)
{
	tr_buffer_put_byte(&s->line, '\n');
	if (s->line.failed)
		tr_cli_out_of_memory(&s->cli);
	else
		tr_cli_put_text(&s->cli, tr_buffer_text(&s->line));
}

/* Writes a block with its fields. */
static void put_block(struct symbolize *s, struct tr_record *record)
{
	struct tr_cli *cli = &s->cli;
	struct tr_block block;
	struct tr_error err;
	tr_error_clear(&err);
	enum tr_status status = tr_block_read(record, &block, &err);
	const struct tr_loaded_program *loaded = NULL;
	if (status == TR_OK)
		loaded = tr_programs_place(&s->programs, record, &block, &err);
	if (status == TR_FATAL || tr_error_is_memory(&err)) {
		tr_cli_out_of_memory(cli);
		return;
	}
	if (status == TR_WARN)
		tr_cli_report_record(cli, record, &err, false);
	if (!loaded) {
		tr_cli_put_line(cli, record);
	} else if (begin_line(s, record)) {
		put_place(s, record, loaded->program, block.address);
		put_inlines(s, record, loaded->program, block.address);
		end_line(s);
	}
}

/*
 * Finds the address of an offset in the file, minus 1: strace prints return addresses, and the call
 * is before them. False: there is no code.
 */
static bool find_in_file(const struct tr_elf *program, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < program->head.sections; i++) {
		const struct tr_code_section *section = &program->sections[i];
		*address = section->address + (offset - section->offset) - 1;
		if (section->offset != UINT64_MAX && offset > section->offset &&
		    offset - section->offset <= section->size)
			return true;
	}
	return false;
}

/*
 * Finds the address of a stack frame in the file of its module: from file_offset if the frame has
 * one, else from its offset, which counts from the function, or from the module without a function.
 * NULL: it is unknown, or err is filled.
 */
static struct tr_elf *find_frame(struct symbolize *s, struct tr_record *record, uint64_t *address,
				 struct tr_error *err)
{
	struct tr_text module = tr_ask_string(record, "module", err);
	struct tr_text name = tr_ask_string(record, "function", err);
	uint64_t offset = tr_ask_number(record, "offset", UINT64_MAX, err);
	uint64_t in_file = tr_ask_number(record, "file_offset", UINT64_MAX, err);
	bool failed = false;
	if (tr_error_is_memory(err) || !module.len || (offset & in_file) == UINT64_MAX ||
	    has(record, "file"))
		return NULL;
	tr_error_clear(err);
	struct tr_loaded_program *loaded = tr_programs_module(&s->programs, module, err);
	if (!loaded)
		return NULL;
	const struct tr_elf_head *head = &loaded->program->head;
	if (in_file != UINT64_MAX)
		return find_in_file(loaded->program, in_file, address) ? loaded->program : NULL;
	*address = head->base + offset;
	if (!name.len)
		return offset < head->end - head->base ? loaded->program : NULL;
	const struct tr_code_function *f = tr_elf_function_named(loaded->program, name, &failed);
	if (failed)
		tr_error_memory(err);
	if (!f || offset >= f->end - f->first)
		return NULL;
	*address = f->first + offset;
	return loaded->program;
}

/* Writes a definition of a stack frame with its fields. */
static void put_frame(struct symbolize *s, struct tr_record *record)
{
	struct tr_error err;
	uint64_t address;
	tr_error_clear(&err);
	const struct tr_elf *program = find_frame(s, record, &address, &err);
	if (tr_error_is_memory(&err)) {
		tr_cli_out_of_memory(&s->cli);
		return;
	}
	if (!program && err.cause != TR_CAUSE_NONE) {
		err.severity = TR_NOTE;
		tr_cli_report_record(&s->cli, record, &err, false);
	}
	if (!program) {
		tr_cli_put_line(&s->cli, record);
	} else if (begin_line(s, record)) {
		put_place(s, record, program, address);
		end_line(s);
	}
}

/* Writes a record, and uses those that state where code is. */
static void put_record(struct symbolize *s, struct tr_record *record)
{
	struct tr_error err;
	if (record->type == TR_RECORD && tr_text_is(record->kind, "block")) {
		put_block(s, record);
		return;
	}
	if (record->type == TR_DEFINITION && tr_text_is(record->kind, "frame")) {
		put_frame(s, record);
		return;
	}
	if (record->type == TR_HEADER) {
		tr_programs_begin(&s->programs);
	} else if (record->type == TR_RECORD) {
		tr_error_clear(&err);
		switch (tr_programs_put(&s->programs, record, &err)) {
		case TR_WARN:
			tr_cli_report_record(&s->cli, record, &err, false);
			break;
		case TR_FATAL:
			tr_cli_out_of_memory(&s->cli);
			return;
		default:
			break;
		}
	}
	tr_cli_put_line(&s->cli, record);
}

/* Opens the programs after all options: --base names them, and --demangle changes them. */
static void take_options(struct symbolize *s)
{
	static const char *const keys[] = {
		[EXE] = "exe", [BASE] = "base", [PATH] = "path", [DEMANGLE] = "demangle"
	};
	struct tr_cli *cli = &s->cli;
	struct tr_error err;
	for (int id; (id = tr_cli_option(cli)) != 0;) {
		if (id == EXE)
			tr_cli_reads(cli, tr_text_from(cli->argument));
		if (!tr_array_room(s->settings, s->setting_count, s->setting_cap)) {
			tr_cli_out_of_memory(cli);
			return;
		}
		s->settings[s->setting_count++] =
			(struct tr_setting){ tr_text_from(keys[id]),
					     tr_text_from(id == DEMANGLE ? "yes" : cli->argument) };
	}
	struct tr_settings settings = { s->settings, s->setting_count };
	if (!cli->stop && !tr_setting_programs(&settings, &s->programs, &err))
		tr_cli_abort(cli, &err);
	if (!cli->stop && !s->programs.count && !s->programs.path_count)
		tr_cli_usage(cli, "no program given: --exe=PROG, or --path=DIR for traces with "
				  "modules");
}

int main(int argc, char **argv)
{
	struct symbolize s = { .named = 0 };
	struct tr_record *record;
	struct tr_error err;
	tr_cli_begin(&s.cli, &tool, argc, argv);
	take_options(&s);
	if (tr_cli_open(&s.cli) && tr_cli_output(&s.cli, false)) {
		while (tr_cli_next(&s.cli, &record))
			put_record(&s, record);
		if (!s.cli.stop && tr_programs_remark(&s.programs, &err))
			tr_cli_report(&s.cli, &err);
		else if (!s.cli.stop && s.programs.blocks && !s.named)
			tr_cli_note(&s.cli, "none of the blocks is in one of the given programs");
	}
	tr_programs_free(&s.programs);
	tr_buffer_free(&s.scratch);
	tr_buffer_free(&s.line);
	free(s.settings);
	return tr_cli_end(&s.cli);
}
