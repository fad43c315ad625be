/* SPDX-License-Identifier: MIT */
/* Statistics of files: how many each program read and wrote, and how many bytes. */
#include "view/stat_private.h"

#include <stdlib.h>

#include "process/call.h"
#include "process/command.h"

/*
 * Marks of a path: what its latest program did with it, and, multiplied by OF_TRACE, what any
 * program did. KEPT: a use of it by the latest program is not counted until the end.
 */
enum { READ = 1, WRITTEN = 2, OF_TRACE = 4, KEPT = 16 };

/* A program. While its segment is read, only the first members are set. */
struct row {
	const struct tr_deps_command *program;
	uint64_t read, written, bytes_read, bytes_written;
	uint64_t order;		       /* of the program among all */
	uint64_t seq;		       /* TR_DEPS_NO_SEQ: unknown */
	struct tr_text makes, command; /* in the arena; data NULL: unknown */
};

bool tr_stat_files_put(struct tr_stat_files *files, struct tr_record *record)
{
	return tr_file_uses_put(&files->uses, record);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Those with most bytes come first, then those with most files. */
static int busiest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t bytes = sum(x->bytes_read, x->bytes_written);
	uint64_t other = sum(y->bytes_read, y->bytes_written);

	if (bytes != other)
		return bytes > other ? -1 : 1;
	if (x->read + x->written != y->read + y->written)
		return x->read + x->written > y->read + y->written ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Sets the texts of a row from the command of the graph. False: memory is exhausted. */
static bool describe(struct tr_stat_files *files, struct row *row)
{
	struct tr_buffer line = TR_BUFFER_INIT, text = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_deps_command *program = row->program;
	struct tr_record record;
	struct tr_error err;
	struct tr_text makes;

	row->program = NULL; /* the graph is freed at the end of the segment */
	row->seq = program ? program->seq : TR_DEPS_NO_SEQ;
	if (!program)
		return true;
	tr_buffer_put_literal(&line, "exec\t-\t-\t-\t");
	tr_buffer_put_text(&line, program->name);
	if (program->argv.data) {
		tr_buffer_put_literal(&line, "\targv=");
		tr_buffer_put_text(&line, program->argv);
	}
	tr_buffer_put_byte(&line, '\n');
	bool fine = !line.failed && tr_record_from_buffer(&record, &arena, &line, &err) == TR_OK &&
		    tr_command_show(&record, 0, &text) &&
		    tr_call_makes(&record, files->compilers, &makes);
	if (fine) {
		row->command = tr_arena_copy(&files->arena, tr_buffer_text(&text));
		tr_buffer_reset(&text);
		if (makes.data) {
			tr_shell_quote_printable(makes, &text);
			row->makes = tr_arena_copy(&files->arena, tr_buffer_text(&text));
			fine = row->makes.data;
		}
		fine = fine && row->command.data && !text.failed;
	}
	tr_buffer_free(&line);
	tr_buffer_free(&text);
	tr_arena_free(&arena);
	return fine;
}

/*
 * Uses of a program that has ended are counted at once and dropped, so that memory does not grow
 * with them. But whether a use reads or writes can depend on later uses of the same content; such a
 * use, and others of the same path by this program, are kept until the end of the segment.
 */

/* Makes `user` the latest user of the path. */
static void set_user(struct tr_deps_path *path, void *user)
{
	if (path->user != user)
		path->set &= ~(uint32_t)(READ | WRITTEN | KEPT);
	path->user = user;
}

/*
 * Whether a use can be dropped, because no later event changes what it counts for: *reads, or
 * nothing.
 */
static bool is_decided(const struct tr_deps_use *use, bool *reads)
{
	*reads = false;
	if (!tr_deps_is_droppable(use) || use->written ||
	    use->does & (TR_DOES_RENAME | TR_DOES_LINK))
		return false;
	if (!use->path || !use->read)
		return true;
	if (use->version->file->pipe || use->path->directory || use->path->special)
		return false;
	if (use->read == TR_EVIDENCE_PASSED)
		return use->version->read != TR_EVIDENCE_PASSED;
	*reads = use->read == TR_EVIDENCE_SEEN || tr_deps_opens_for_itself(use->command);
	return *reads || use->version->transferred;
}

/* Counts a use that is decided, unless another use of its path is kept. */
static bool count_decided(void *context, const struct tr_deps_use *use)
{
	struct tr_stat_files *files = context;
	struct tr_deps_path *path = use->path;
	bool reads;

	if (!is_decided(use, &reads))
		return false;
	if (!reads)
		return true;
	if (path->set & KEPT)
		return false;
	use->command->owner->files_read += !(path->set & READ);
	files->read += !(path->set & READ * OF_TRACE);
	path->set |= READ | READ * OF_TRACE;
	return true;
}

/*
 * Counts the decided uses of a program, and of the processes that it forked, in files_read of the
 * program.
 */
static void count_ended(void *context, struct tr_deps_command *program)
{
	struct tr_stat_files *files = context;
	const struct tr_deps_command *c;
	bool reads;

	for (c = program; c; c = tr_deps_next_fork(c)) {
		for (const struct tr_deps_use *use = c->uses; use; use = use->next_of_command) {
			if (use->path)
				set_user(use->path, program);
			if (use->path && !is_decided(use, &reads))
				use->path->set |= KEPT;
		}
	}
	for (c = program; c; c = tr_deps_next_fork(c))
		tr_deps_drop_uses(&files->uses.graph, (struct tr_deps_command *)c, count_decided,
				  files);
}

void tr_stat_files_init(struct tr_stat_files *files, const struct tr_stat_config *config)
{
	*files = (struct tr_stat_files){ .top = config->top,
					 .compilers = config->compilers,
					 .rows = TR_BUFFER_INIT,
					 .arena = TR_ARENA_INIT };
	tr_file_uses_init(&files->uses, false);
	files->uses.program_ended = count_ended;
	files->uses.context = files;
}

/*
 * Adds a file to the sums of its program, and the first time also to those of the trace. Several
 * uses of a file by one program count once: marks in the path show what its latest program has
 * counted.
 */
static void count_file(struct tr_stat_files *files, struct row *row, const struct tr_deps_use *use)
{
	struct tr_deps_path *path = use->path;
	bool reads, writes;

	if (!tr_file_use_counts(use, &reads, &writes))
		return;
	set_user(path, row);
	unsigned does = (reads ? READ : 0) | (writes ? WRITTEN : 0), fresh = does & ~path->set;
	row->read += fresh & READ ? 1 : 0;
	row->written += fresh & WRITTEN ? 1 : 0;
	fresh = does & ~(path->set / OF_TRACE);
	files->read += fresh & READ ? 1 : 0;
	files->written += fresh & WRITTEN ? 1 : 0;
	path->set |= does | does * OF_TRACE;
}

/* Counts what a command did, and what the processes did that it forked and that called no exec. */
static void count_command(struct tr_stat_files *files, struct row *row,
			  const struct tr_deps_command *top)
{
	for (const struct tr_deps_command *c = top; c; c = tr_deps_next_fork(c)) {
		row->bytes_read = sum(row->bytes_read, c->bytes_read);
		row->bytes_written = sum(row->bytes_written, c->bytes_written);
		files->bytes_read = sum(files->bytes_read, c->bytes_read);
		files->bytes_written = sum(files->bytes_written, c->bytes_written);
		for (const struct tr_deps_use *use = c->uses; use; use = use->next_of_command)
			count_file(files, row, use);
	}
}

/* Makes a row for each program; the first row is for processes without an exec record. */
static bool make_rows(struct tr_stat_files *files, struct row **rows, size_t *count)
{
	const struct tr_deps_command *first = files->uses.graph.first_command, *c;
	size_t n = 1;

	for (c = first; c; c = c->next)
		n += c->program;
	struct row *row = *rows = calloc(n, sizeof **rows);
	if (!row)
		return false;
	*count = n;
	for (c = first; c; c = c->next) {
		if (c->program) {
			row++;
			*row = (struct row){ .program = c,
					     .read = c->files_read, /* by uses that were dropped */
					     .order = (uint64_t)(row - *rows) };
			count_command(files, row, c);
		} else if (!c->parent) {
			count_command(files, *rows, c);
		}
	}
	return true;
}

bool tr_stat_files_end(struct tr_stat_files *files)
{
	struct row *rows = NULL;
	size_t count = 0;

	if (!files->uses.following) {
		tr_file_uses_clear(&files->uses);
		return true;
	}
	bool fine = tr_file_uses_finish(&files->uses) && make_rows(files, &rows, &count);
	if (fine) {
		const struct tr_deps_graph *graph = &files->uses.graph;
		files->reads = (files->reads || !files->any) && graph->has_reads;
		files->writes = (files->writes || !files->any) && graph->has_writes;
		files->any = true;
		qsort(rows, count, sizeof *rows, busiest_first);
	}
	for (size_t i = 0; fine && i < count && (!files->top || i < files->top); i++) {
		if (!(rows[i].read | rows[i].written | rows[i].bytes_read | rows[i].bytes_written))
			break;
		fine = describe(files, &rows[i]);
		rows[i].order = files->rows.len / sizeof *rows;
		tr_buffer_put(&files->rows, (const char *)&rows[i], sizeof *rows);
	}
	free(rows);
	tr_file_uses_clear(&files->uses);
	return fine && !files->rows.failed;
}

static void report_row(const struct tr_stat_files *files, const struct row *row,
		       struct tr_report *report)
{
	tr_report_cell_number(report, row->read);
	tr_report_cell_number(report, row->written);
	if (files->reads)
		tr_report_cell_number(report, row->bytes_read);
	if (files->writes)
		tr_report_cell_number(report, row->bytes_written);
	if (row->seq == TR_DEPS_NO_SEQ)
		tr_report_cell_none(report);
	else
		tr_report_cell_number(report, row->seq);
	tr_report_cell_program(report, row->makes, row->command);
}

void tr_stat_files_report(struct tr_stat_files *files, struct tr_report *report)
{
	const char *columns[8] = { "read", "written" };
	size_t n = 2, count = files->rows.len / sizeof(struct row);
	struct row *rows = (void *)files->rows.data;

	if (files->reads)
		columns[n++] = "bytes-read";
	if (files->writes)
		columns[n++] = "bytes-written";
	columns[n++] = "seq";
	columns[n++] = "makes";
	columns[n++] = "command";
	if (count)
		qsort(rows, count, sizeof *rows, busiest_first);
	tr_report_group(report, "file-uses");
	tr_report_number(report, "read", files->read);
	tr_report_number(report, "written", files->written);
	if (files->reads)
		tr_report_number(report, "bytes-read", files->bytes_read);
	else
		tr_report_unknown(report, "bytes-read");
	if (files->writes)
		tr_report_number(report, "bytes-written", files->bytes_written);
	else
		tr_report_unknown(report, "bytes-written");
	tr_report_table(report, "by-command", columns);
	for (size_t i = 0; i < count && (!files->top || i < files->top); i++)
		report_row(files, &rows[i], report);
	tr_report_table_end(report);
	tr_report_group_end(report);
}

void tr_stat_files_free(struct tr_stat_files *files)
{
	tr_file_uses_free(&files->uses);
	tr_buffer_free(&files->rows);
	tr_arena_free(&files->arena);
}
