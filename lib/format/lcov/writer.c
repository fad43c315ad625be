/* SPDX-License-Identifier: MIT */
/*
 * The writer of tracefiles. Blocks are counted as they come; the text is made at the end, because
 * it lists what was not executed, too.
 *
 *	put	modules and shared objects -> tr_programs_put; block -> tr_lines_count
 *	close	tr_lines_make -> put_file for each source file
 */
#include "format/lcov/lcov.h"

#include "coverage/lines.h"
#include "coverage/programs.h"
#include "format/writer_base.h"
#include "record/ask.h"

struct writer {
	struct tr_writer base;
	struct tr_programs programs;
	bool counted; /* a trace has counts, so all numbers are counts */
	bool history; /* each entry of this section is an execution */
	bool map;     /* this section is a decision map */
	bool bare;    /* the remark about programs without lines was made */
	bool remarked;
};

/* Begins a segment. */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)header;
	(void)err;
	tr_programs_begin(&writer->programs);
	writer->history = writer->map = false;
	return TR_OK;
}

/* Counts a block. */
static enum tr_status put_block(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	enum { BITS = TR_EXEC_BR0 | TR_EXEC_BR1 | TR_EXEC_BLOCK | TR_EXEC_FAULT };
	struct tr_block block;
	uint64_t times = 1;
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || writer->map || block.op == TR_EXEC_SPECIAL || !(block.op & BITS))
		return status;
	if (!tr_block_built(record)) {
		times = tr_ask_number(record, "hits", UINT64_MAX, err);
		writer->counted |= times != UINT64_MAX;
		times = times == UINT64_MAX ? 1 : times;
	}
	writer->base.entries = true;
	struct tr_loaded_program *loaded = NULL;
	if (!tr_error_is_memory(err))
		loaded = tr_programs_place(&writer->programs, record, &block, err);
	if (tr_error_is_memory(err) || (loaded && !tr_lines_count(loaded, &block, times)))
		return tr_error_memory(err);
	return TR_OK;
}

/* Takes a record of an execution trace. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if (tr_text_is(record->kind, "block"))
		return put_block(writer, record, err);
	if (tr_text_is(record->kind, "section")) {
		bool text = record->name.type == TR_CELL_TEXT;
		writer->history = text && tr_text_is(record->name.text, "HISTORY");
		writer->map = text && tr_text_is(record->name.text, "DECISION_MAP");
		writer->counted |= writer->history;
	}
	return tr_programs_put(&writer->programs, record, err);
}

/* Appends KEY:NUMBER and the byte after it. */
static void put_number(struct tr_buffer *to, const char *key, uint64_t number, char after)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_byte(to, after);
}

/* Appends a text that ends with a line feed; the format has no escapes for those in it. */
static void put_line(struct tr_buffer *to, struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++)
		tr_buffer_put_byte(to, text.data[i] == '\n' ? ' ' : text.data[i]);
	tr_buffer_put_byte(to, '\n');
}

/* Appends the functions of a file. */
static void put_functions(const struct tr_source_file *file, struct tr_buffer *to)
{
	uint64_t hit = 0;
	for (size_t i = 0; i < file->function_count; i++) {
		put_number(to, "FN:", file->functions[i].line, ',');
		put_line(to, file->functions[i].name);
	}
	for (size_t i = 0; i < file->function_count; i++) {
		put_number(to, "FNDA:", file->functions[i].count, ',');
		put_line(to, file->functions[i].name);
		hit += file->functions[i].count != 0;
	}
	put_number(to, "FNF:", file->function_count, '\n');
	put_number(to, "FNH:", hit, '\n');
}

/* Appends an outcome of a jump. */
static void put_outcome(struct tr_buffer *to, const struct tr_source_branch *branch, size_t number,
			unsigned outcome, uint64_t count)
{
	put_number(to, "BRDA:", branch->line, ',');
	put_number(to, "", number, ',');
	put_number(to, "", outcome, ',');
	put_number(to, "", count, '\n');
}

/* Appends the conditional jumps of a file: outcome 0 is taken, 1 is not. */
static void put_branches(const struct tr_source_file *file, struct tr_buffer *to)
{
	uint64_t hit = 0;
	size_t number = 0;
	for (size_t i = 0; i < file->branch_count; i++) {
		const struct tr_source_branch *branch = &file->branches[i];
		number = i && branch[-1].line == branch->line ? number + 1 : 0;
		put_outcome(to, branch, number, 0, branch->taken);
		put_outcome(to, branch, number, 1, branch->fallen);
		hit += (branch->taken != 0) + (branch->fallen != 0);
	}
	if (!file->branch_count)
		return;
	put_number(to, "BRF:", 2 * file->branch_count, '\n');
	put_number(to, "BRH:", hit, '\n');
}

/* Appends the lines of a file. */
static void put_lines(const struct tr_source_file *file, struct tr_buffer *to)
{
	uint64_t hit = 0;
	for (size_t i = 0; i < file->line_count; i++) {
		put_number(to, "DA:", file->lines[i].line, ',');
		put_number(to, "", file->lines[i].count, '\n');
		hit += file->lines[i].count != 0;
	}
	put_number(to, "LF:", file->line_count, '\n');
	put_number(to, "LH:", hit, '\n');
}

/* Writes the section of a source file. False: memory is exhausted. */
static bool put_file(const struct tr_source_file *file, struct tr_buffer *to, struct tr_output *out)
{
	const struct tr_elf_head *head = &file->program->head;
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "TN:\nSF:");
	put_line(to, file->path);
	if (head->build_id_size) {
		tr_buffer_put_literal(to, "VER:build-id ");
		for (size_t i = 0; i < head->build_id_size; i++)
			tr_buffer_put_hex(to, head->build_id[i], 2);
		tr_buffer_put_byte(to, '\n');
	}
	put_functions(file, to);
	put_branches(file, to);
	put_lines(file, to);
	tr_buffer_put_literal(to, "end_of_record\n");
	if (to->failed)
		return false;
	tr_output_put_text(out, tr_buffer_text(to));
	return true;
}

/* Writes the file. */
static enum tr_status close_file(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_source_files files;
	struct tr_buffer text = TR_BUFFER_INIT;
	bool good = tr_lines_make(&writer->programs, writer->counted, &files);
	for (size_t i = 0; good && i < files.count; i++)
		if (files.list[i].line_count)
			good = put_file(&files.list[i], &text, base->out);
	tr_buffer_free(&text);
	tr_source_files_free(&files);
	return good ? TR_OK : tr_error_memory(err);
}

/* Returns the next remark on the programs. TR_OK: there is no other. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	for (size_t i = 0; i < writer->programs.count && !writer->bare; i++) {
		const struct tr_elf *program = writer->programs.list[i]->program;
		if (program->head.has_lines)
			continue;
		writer->bare = true;
		tr_error_set(
			err, TR_CAUSE_INPUT,
			"%s has no debug information, so it has no lines: compile it with -g, or "
			"install its debug file",
			program->path);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (!writer->remarked) {
		writer->remarked = true;
		if (tr_programs_remark(&writer->programs, err))
			return TR_WARN;
	}
	return TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_lines_free(&writer->programs);
	tr_programs_free(&writer->programs);
}

static const struct tr_writer_steps steps = {
	.format = "lcov",
	.begin = begin_segment,
	.put = put_record,
	.close = close_file,
	.report = report,
	.discard = discard,
};

/* Takes the settings of that key. False: err is filled. */
static bool take_settings(const struct tr_settings *settings, const char *key,
			  struct tr_programs *programs,
			  bool (*take)(struct tr_programs *programs, struct tr_text value,
				       struct tr_error *err),
			  struct tr_error *err)
{
	for (size_t i = 0; i < settings->count; i++)
		if (tr_text_is(settings->list[i].key, key) &&
		    !take(programs, settings->list[i].value, err))
			return false;
	return true;
}

struct tr_writer *tr_lcov_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	const struct tr_settings *settings = &config->settings;
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	struct tr_programs *programs = &writer->programs;
	bool good = take_settings(settings, "path", programs, tr_programs_search, err) &&
		    take_settings(settings, "exe", programs, tr_programs_add, err) &&
		    take_settings(settings, "base", programs, tr_programs_base, err);
	if (good && !programs->count && !programs->path_count) {
		tr_error_say(err, TR_CAUSE_USAGE,
			     "lcov needs the program that was run: -O exe=PROG (or -O path=DIR for "
			     "the modules of a drcov trace)");
		good = false;
	}
	if (good)
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
