/* SPDX-License-Identifier: MIT */
/* A tool from its first option to its exit status: operands, records in, records out. */

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_private.h"
#include "process/compilers.h"

/* Identifies a file whatever its name is: an output must not replace an input by another path. */
struct file_id {
	dev_t device;
	ino_t inode;
};

/* The operand's file; false if it does not exist or is not a regular file. */
static bool operand_stat(const char *operand, struct stat *st)
{
	int result = strcmp(operand, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(operand, st);

	return result == 0 && S_ISREG(st->st_mode);
}

void tr_cli_keeps(struct tr_cli *cli, const struct stat *st)
{
	struct file_id id = { st->st_dev, st->st_ino };

	tr_buffer_put(&cli->private->inputs, (const char *)&id, sizeof id);
}

void tr_cli_reads(struct tr_cli *cli, struct tr_text path)
{
	char name[PATH_MAX];
	struct stat st;

	if (path.len >= sizeof name)
		return;
	memcpy(name, path.data, path.len);
	name[path.len] = '\0';
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
		tr_cli_keeps(cli, &st);
}

bool tr_cli_refuses(struct tr_cli *cli, const struct tr_trace_place *place, const char *path,
		    const struct stat *replaced)
{
	const struct tr_buffer *inputs = &cli->private->inputs;
	const struct tr_cli_log *log = &cli->private->log;
	struct tr_error err;
	struct file_id id;

	for (size_t at = 0; S_ISREG(replaced->st_mode) && at < inputs->len; at += sizeof id) {
		memcpy(&id, inputs->data + at, sizeof id);
		if (id.device != replaced->st_dev || id.inode != replaced->st_ino)
			continue;
		tr_error_set(&err, TR_CAUSE_USAGE, "%s is %s: choose another name for the output",
			     path, log->ready && at == log->kept ? "the report" : "an input file");
		tr_cli_message_of(cli, place, &err);
		return true;
	}
	return false;
}

/*
 * True if reading the operand would read what this tool writes to stdout, a regular file: it
 * has something to read, or is read after something was written.
 */
static bool reads_stdout(const char *operand, bool first, const struct stat *out)
{
	struct stat st;

	if (!operand_stat(operand, &st) || st.st_dev != out->st_dev || st.st_ino != out->st_ino)
		return false;
	off_t at = strcmp(operand, "-") == 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
	return !first || at < st.st_size;
}

/*
 * Opens nothing yet: it finds out which files are inputs, before the output or the report could
 * empty one of them.
 */
bool tr_cli_inputs_open(struct tr_cli *cli, const char *const *operands, size_t count)
{
	struct stat out, st;
	cli->private->inputs_known = true;
	bool on_stdout =
		!cli->output_path && fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode);
	bool kept = cli->output_path || cli->private->log.path;

	/* nothing is written to a file that has a name, so no input can be replaced */
	if (!on_stdout && !kept)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (on_stdout && reads_stdout(operands[i], i == 0, &out)) {
			tr_cli_fail(cli, "%s: input file is output file",
				    strcmp(operands[i], "-") == 0 ? "stdin" : operands[i]);
			return false;
		}
		if (kept && operand_stat(operands[i], &st))
			tr_cli_keeps(cli, &st);
	}
	/* without the list an output could replace an input */
	if (cli->private->inputs.failed) {
		tr_cli_fail(cli, "out of memory");
		return false;
	}
	return true;
}

/* The mapped bytes that the reading thread uses now. Signals belong to the whole process. */
static struct {
	volatile uintptr_t begin, end;
	volatile sig_atomic_t faults;
	uintptr_t page;
} guarded;

/*
 * Replaces a page that the file no longer has by zeros. mmap is not on the list of functions that
 * a handler may call, but it is a plain system call, and the signal comes from our own
 * instruction, not from inside a function.
 * A fault at another address, or one that cannot be repaired, ends the process as usual.
 */
static void replace_page(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	uintptr_t page = address - address % guarded.page;

	(void)context;
	if (address >= guarded.begin && address < guarded.end &&
	    mmap((void *)page, guarded.page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != MAP_FAILED)
		guarded.faults = 1;
	else if (signal(number, SIG_DFL) != SIG_ERR)
		raise(number);
}

/* Begins the use of mapped bytes by this thread; a fault in them is repaired from now on. */
static void enter(const char *data, size_t len)
{
	guarded.faults = 0;
	guarded.begin = (uintptr_t)data;
	guarded.end = guarded.begin + len;
}

/* Ends it. False: a page was replaced by zeros, so what was read from it is not to be used. */
static bool leave(void)
{
	guarded.begin = guarded.end = 0;
	return !guarded.faults;
}

const struct tr_fault_guard *tr_cli_fault_guard(void)
{
	static const struct tr_fault_guard guard = { enter, leave };
	struct sigaction action = { .sa_sigaction = replace_page, .sa_flags = SA_SIGINFO };

	guarded.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	return sigaction(SIGBUS, &action, NULL) == 0 ? &guard : NULL;
}

bool tr_cli_line(struct tr_cli *cli, struct tr_record *record, struct tr_buffer *to,
		 struct tr_text *line)
{
	struct tr_cli_private *p = cli->private;

	*line = record->line;
	if (line->data)
		return true;
	tr_buffer_reset(to);
	char *spelled = record->spell ? tr_buffer_room(to, TR_SPELL_MAX) : NULL;
	if (spelled) {
		*line = (struct tr_text){ spelled, record->spell(record, spelled) };
		return true;
	}
	enum tr_status status = tr_record_write(record, to, &p->err);
	*line = tr_buffer_text(to);
	if (status == TR_OK)
		return true;
	/* the record is lost for this output, and the trailer says so */
	tr_cli_report_record(cli, record, &p->err, true);
	if (status == TR_FATAL)
		tr_cli_abandon(cli);
	return false;
}

bool tr_cli_put_line(struct tr_cli *cli, struct tr_record *record)
{
	struct tr_text line;

	return tr_cli_line(cli, record, &cli->private->line, &line) ? tr_cli_put_text(cli, line)
								    : !cli->stop;
}

bool tr_cli_stands_alone(const struct tr_cli *cli, const struct tr_trace_place *place)
{
	return !(place->format->flags & TR_FORMAT_MERGES) ||
	       (cli->operand_count <= 1 && !place->archive);
}

bool tr_cli_copy_bytes(struct tr_cli *cli, const struct tr_trace_place *place, bool *cut_line)
{
	struct tr_cli_private *p = cli->private;
	struct tr_input *in = place->in;

	/*
	 * the mark was taken off before the format was detected; it belongs to the first byte of
	 * the output only
	 */
	if (place->bom && tr_output_count(cli->out) == 0)
		tr_output_put_literal(cli->out, "\xef\xbb\xbf");
	while (!cli->stop && tr_input_more(in, 1)) {
		size_t len = tr_input_available(in);
		*cut_line = in->pos[len - 1] != '\n';
		if (!tr_cli_put_text(cli, (struct tr_text){ in->pos, len }))
			return false;
		tr_input_skip(in, len);
		if (tr_cli_attention)
			tr_cli_progress(cli);
	}
	/* all bytes before the damage are copied, as the parser would decode them */
	if (!cli->stop && in->damaged) {
		tr_input_error(in, &p->err);
		tr_cli_report(cli, &p->err);
	}
	return !cli->stop;
}

/*
 * Gives up the output because of p->err. Exhausted memory and a closed pipe would end all other
 * outputs too.
 */
static void give_up(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	p->discard = true;
	/* with several outputs, the others are independent of this one */
	if (!cli->several || p->err.cause == TR_CAUSE_MEMORY || p->err.cause == TR_CAUSE_PIPE)
		cli->stop = true;
}

struct tr_writer *tr_cli_writer(struct tr_cli *cli, const struct tr_format *format)
{
	struct tr_cli_private *p = cli->private;
	struct tr_write_config config = { cli->config.read.settings, cli->strict,
					  tr_format_by_name };

	if (cli->stop)
		return NULL;
	struct tr_writer *writer = NULL;
	tr_cli_settings_taken(cli, format, true);
	if (tr_settings_check(&config.settings, format, true, &p->err))
		writer = format->create(&config, cli->out, &p->err);
	if (!writer)
		tr_cli_abort(cli, &p->err);
	return writer;
}

bool tr_cli_put(struct tr_cli *cli, struct tr_writer *writer, struct tr_record *record)
{
	struct tr_cli_private *p = cli->private;
	enum tr_status status = tr_writer_put(writer, record, &p->err);

	if (status == TR_OK) {
		if (!cli->out->failed)
			return true;
		return tr_cli_goes_on(cli);
	}
	tr_cli_report_record(cli, record, &p->err, p->err.severity == TR_DAMAGE);
	if (status == TR_FATAL)
		give_up(cli);
	return !cli->stop && !p->discard;
}

/* Puts blocks that come without records into the writer. */
static size_t put_blocks(struct tr_block_taker *taker, const struct tr_block *blocks, size_t count,
			 uint64_t seq)
{
	const struct tr_cli_private *p = tr_container(taker, struct tr_cli_private, taker);

	return tr_writer_put_blocks(p->block_writer, blocks, count, seq);
}

void tr_cli_put_blocks(struct tr_cli *cli, struct tr_writer *writer)
{
	struct tr_cli_private *p = cli->private;

	p->taker.take = put_blocks;
	p->block_writer = writer;
	p->blocks = writer && tr_writer_takes_blocks(writer) ? &p->taker : NULL;
}

/* An error at the end of an output concerns all inputs that were written to it. */
static void report_end(struct tr_cli *cli, const struct tr_error *err)
{
	const struct tr_trace_place *place = cli->trace ? tr_trace_here(cli->trace) : NULL;
	bool of_one = cli->several || (cli->operand_count <= 1 && !(place && place->archive));

	if (of_one || err->line != TR_NO_POSITION || err->offset != TR_NO_POSITION)
		tr_cli_report(cli, err);
	else
		tr_cli_report_nowhere(cli, err);
}

bool tr_cli_finish(struct tr_cli *cli, struct tr_writer *writer)
{
	struct tr_cli_private *p = cli->private;

	if (p->block_writer == writer)
		tr_cli_put_blocks(cli, NULL);
	while (tr_cli_goes_on(cli) && !p->discard) {
		enum tr_status status = tr_writer_finish(writer, &p->err);
		if (status == TR_OK || status == TR_END)
			break;
		report_end(cli, &p->err);
		if (status == TR_FATAL)
			give_up(cli);
	}
	tr_writer_free(writer);
	return !cli->stop && !p->discard;
}

void tr_cli_begin(struct tr_cli *cli, const struct tr_tool *tool, int argc, char **argv)
{
	*cli = (struct tr_cli){
		.tool = tool,
		.config.read.limits = TR_LIMITS_DEFAULT,
		/* on one processor a thread that reads ahead only costs switches */
		.config.threads = sysconf(_SC_NPROCESSORS_ONLN) > 1,
	};
	/* before anything is opened */
	tr_cli_standard_descriptors();
	tr_cli_catch_file_limit();
	cli->private = calloc(1, sizeof *cli->private);
	if (cli->private) {
		cli->private->argc = argc;
		cli->private->argv = argv;
		cli->config.read.blocks = &cli->private->blocks;
		tr_cli_watch_exit(true);
	}
	if (!cli->private || !tr_cli_rows_make(cli)) {
		fprintf(stderr, "%s: out of memory\n", tool->name);
		cli->stop = true;
		cli->status = 2;
	}
}

/* Flushes the output before a wait for input, so that results do not stay in a buffer. */
static void on_wait(void *context)
{
	struct tr_cli *cli = context;

	if (cli->out && !cli->out->failed && !cli->packed)
		tr_output_flush(cli->out);
	tr_cli_progress_wait(cli);
}

bool tr_cli_open(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	if (cli->stop)
		return false;
	/* the user has probably forgotten the file, and would wait for ever */
	if (cli->operand_count == 0 && isatty(STDIN_FILENO)) {
		tr_cli_short_usage(cli);
		tr_cli_status(cli, 2);
		cli->stop = true;
		return false;
	}
	cli->config.on_wait = on_wait;
	cli->config.wait_context = cli;
	static const char *const from_stdin[] = { "-" };
	const char *const *operands = cli->operand_count ? cli->operands : from_stdin;
	size_t count = cli->operand_count ? cli->operand_count : 1;
	/* the report is opened after that, because it must not be one of the inputs */
	if (!tr_cli_inputs_open(cli, operands, count)) {
		cli->stop = true;
		return false;
	}
	if (!tr_cli_log_open(cli))
		return false;
	cli->trace = tr_trace_open(operands, count, &cli->config);
	if (!cli->trace)
		return tr_cli_out_of_memory(cli);
	if (cli->blob_path) {
		p->blob_dir = tr_blob_dir_open(cli->blob_path, cli->blobs == TR_BLOBS_STORE,
					       cli->config.read.limits.max_record, &p->err);
		if (!p->blob_dir)
			return tr_cli_abort(cli, &p->err);
	}
	tr_cli_progress_begin(cli);
	return true;
}

/* Handles the rare cases between two records: output that failed, and a value of the last record
 * that exceeded --max-record and counted as absent. False: nothing more is read. */
static __attribute__((noinline)) bool may_continue(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	bool good = tr_cli_goes_on(cli);
	if (p->last && p->last->arena && p->last->arena->limited) {
		(void)tr_arena_error(p->last->arena, &p->err);
		tr_cli_report_record(cli, p->last, &p->err, false);
	}
	return good && !cli->stop;
}

void tr_cli_note_read(struct tr_cli *cli, const struct tr_trace_place *place)
{
	struct tr_cli_private *p = cli->private;
	/* a place that only reports lost records must not replace an older file */
	bool silent = !place->in && cli->output_path;

	p->read_before = p->any_read;
	p->any_read = p->any_read || (place->format && !silent);
	if (place->format && p->setting_count)
		tr_cli_settings_taken(cli, place->format, false);
}

bool tr_cli_step(struct tr_cli *cli, struct tr_trace_place **place)
{
	struct tr_cli_private *p = cli->private;

	(void)may_continue(cli); /* the reader of the last record ends here */
	p->last = NULL;
	tr_cli_log_member(cli);
	while (!cli->stop) {
		enum tr_status status = tr_trace_step(cli->trace, place, &p->err);
		if (status == TR_OK) {
			tr_cli_log_step(cli);
			tr_cli_note_read(cli, *place);
			return true;
		}
		if (status == TR_END)
			return false;
		tr_cli_report(cli, &p->err);
		tr_cli_log_missed(cli, tr_trace_here(cli->trace), &p->err);
		if (status == TR_FATAL)
			return false;
	}
	return false;
}

/*
 * Changes the blobs of a record. False: it cannot be used, which is reported and counted as lost.
 */
static bool change_blobs(struct tr_cli *cli, struct tr_record *record)
{
	struct tr_cli_private *p = cli->private;
	enum tr_status status = tr_record_blobs(record, cli->blobs, p->blob_dir, &p->err);

	if (status == TR_OK)
		return true;
	p->last = record;
	tr_cli_report_record(cli, record, &p->err, true);
	if (status == TR_FATAL)
		tr_cli_abandon(cli);
	return false;
}

/*
 * Handles all results but a record that is returned as it is: progress, blobs, messages, the end.
 */
static __attribute__((noinline)) bool next_after(struct tr_cli *cli, enum tr_status status,
						 struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;

	for (;;) {
		if (tr_cli_attention)
			tr_cli_progress(cli);
		if (status == TR_OK && (!cli->changes_blobs || change_blobs(cli, *record)))
			return true;
		if (status == TR_END)
			return false;
		if (status != TR_OK)
			tr_cli_report(cli, &p->err);
		/*
		 * a place that its format cannot open, such as without the program of -O, was not
		 * read
		 */
		if (status == TR_FATAL && !tr_trace_is_open(cli->trace))
			p->any_read = p->read_before;
		/* --strict sets stop when the error is reported */
		if (status == TR_FATAL || cli->stop)
			return false;
		status = tr_trace_next(cli->trace, record, &p->err);
	}
}

/* In line, because some loops take only a few hundred instructions for a record. */
static inline __attribute__((always_inline)) bool next_here(struct tr_cli *cli,
							    struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;
	const struct tr_record *last = p->last;

	if ((cli->stop || (cli->out && cli->out->failed) ||
	     (last && last->arena && last->arena->limited)) &&
	    !may_continue(cli)) {
		p->last = NULL;
		return false;
	}
	enum tr_status status = tr_trace_next(cli->trace, record, &p->err);
	bool read = (status == TR_OK && !tr_cli_attention && !cli->changes_blobs) ||
		    next_after(cli, status, record);
	p->last = read ? *record : NULL;
	return read;
}

bool tr_cli_next_here(struct tr_cli *cli, struct tr_record **record)
{
	return next_here(cli, record);
}

/* Not in line, so that records without a join do not pay for the registers of this loop. */
static __attribute__((noinline)) bool next_of_join(struct tr_cli *cli, struct tr_join *join,
						   struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;
	struct tr_record *line;

	while (!cli->stop) {
		switch (tr_join_next(join, record, &p->err)) {
		case TR_OK:
			return true;
		case TR_END:
			if (p->join_ends) {
				p->join_ends = false;
				return false;
			}
			p->join_ends = !next_here(cli, &line);
			tr_join_put(join, p->join_ends ? NULL : line);
			continue;
		case TR_WARN:
			break;
		case TR_FATAL:
			tr_cli_abandon(cli);
		}
		if (p->join_ends)
			tr_cli_report(cli, &p->err);
		else
			tr_cli_report_record(cli, p->last, &p->err, p->err.severity == TR_DAMAGE);
	}
	return false;
}

bool tr_cli_next_joined(struct tr_cli *cli, struct tr_join *join, struct tr_record **record)
{
	if (!join || tr_join_is_idle(join)) {
		if (!next_here(cli, record))
			return false;
		if (!join ||
		    !(tr_join_is_kind(*record, "enter") || tr_join_is_kind(*record, "leave")))
			return true;
		tr_join_put(join, *record);
	}
	return next_of_join(cli, join, record);
}

/* Continues with the next places. It is not inlined, so that tr_cli_next stays small. */
static __attribute__((noinline)) bool next_place(struct tr_cli *cli, struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;

	while (tr_cli_step(cli, &p->place)) {
		if (next_here(cli, record))
			return true;
	}
	p->place = NULL;
	return false;
}

bool tr_cli_next(struct tr_cli *cli, struct tr_record **record)
{
	return (cli->private->place && next_here(cli, record)) || next_place(cli, record);
}

int tr_cli_end(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	if (!p)
		return cli->status;
	/* the blobs are on the disk before the output that names them gets its name */
	while (p->blob_dir && tr_blob_dir_sync(p->blob_dir, &p->err) != TR_END)
		tr_cli_fail(cli, "%s", p->err.text);
	tr_blob_dir_close(p->blob_dir);
	tr_cli_progress_end(cli);
	/* after an error, the missing use of an option is a consequence of it */
	if (p->any_read && !cli->stop && !cli->status)
		tr_cli_settings_idle(cli);
	if (p->any_read && !cli->stop && cli->config.member_count &&
	    !tr_trace_met_archive(cli->trace))
		tr_cli_note(cli, "--member selects nothing: no input is an archive");
	tr_cli_output_end(cli);
	tr_cli_summarise(cli);
	tr_cli_log_member(cli);
	/* the sum of the report comes after all messages, and so after the end of the output */
	tr_cli_log_end(cli);
	tr_trace_free(cli->trace);
	tr_cli_rows_free(cli);
	tr_compilers_free(p->compilers);
	free(p->settings);
	free(p->members);
	free(p->alike);
	tr_buffer_free(&p->message);
	tr_buffer_free(&p->line);
	tr_buffer_free(&p->inputs);
	free(p);
	tr_cli_watch_exit(false);
	return cli->status;
}
