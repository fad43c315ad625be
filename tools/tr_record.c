/* SPDX-License-Identifier: MIT */
/*
 * tr-record: runs a command and records what it does.
 *
 *	command with the library (tr_record_preload.c), or under strace (tr_record_strace.c)
 *	  | pipe, read as a log of strace
 *	record -- selected by --only; response files are read before the command deletes them
 *	  |       (tr_record_files.c); programs that fail because of a sanitizer are reported
 *	stdout or -o FILE
 */

#include "cli.h"
#include "tr_record.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/decode.h"
#include "process/command.h"
#include "process/compilers.h"
#include "process/path.h"

enum { ONLY = 1, NO_RESPFILES, NO_WAIT, BACKEND, FILES, STAT, WRAP, APPEND, LIST_COMPILERS };
enum { MARKS = 64 }; /* patterns of --only that are reported if they match nothing */

static const struct tr_option options[] = {
	{ ONLY, 0, "only", "LIST",
	  "record only executions of these programs: names or patterns, separated by commas" },
	{ FILES, 0, "files", NULL,
	  "record which files are opened, read, written, renamed and deleted, for tr-deps" },
	{ STAT, 0, "stat", NULL,
	  "with --files: also record calls that only query files, such as stat" },
	{ NO_RESPFILES, 0, "no-respfiles", NULL,
	  "do not put the content of response files into the records" },
	{ NO_WAIT, 0, "no-wait", NULL,
	  "do not wait for processes that outlive the command, such as servers" },
	{ BACKEND, 0, "backend", "auto|preload|strace",
	  "watch the command with a library that its programs load, and strace(1) for programs "
	  "that cannot load it (auto, the default); the library alone; or strace alone" },
	{ WRAP, 0, "wrap", NULL,
	  "record only COMMAND itself, not what it starts: for CC='tr-record --wrap "
	  "--append=FILE -- cc'" },
	{ APPEND, 0, "append", "FILE",
	  "append the records to FILE when the command ends; several commands may do so at the "
	  "same time" },
	{ LIST_COMPILERS, 0, "list-compilers", NULL,
	  "list the known compilers and other build tools: name, family, kind" },
	{ 0 },
};

static const char *const examples[] = {
	"a build, and its compilation database",
	"tr-record -o build.trec -- make -j8 && tr-repack -t compdb build.trec",
	"which programs a test runs",
	"tr-record -- ./test.sh | tr-filter --fields=name exec",
	"a build in which only the compiler can be replaced",
	"make CC=\"tr-record --wrap --append=$PWD/build.trec -- cc\"",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-record",
	.usage = "[OPTION...] [--] COMMAND [ARG...]",
	.summary = "Runs a command and writes a stream of records of what it and its children "
		   "do.",
	.shared = TR_CLI_WRITES,
	.options = options,
	.settings = tr_cli_compiler_settings,
	.examples = examples,
	.format = &tr_format_strace,
	.command = true,
	.status = "that of the command; 2 if it could not be recorded.",
};

struct recorder {
	struct tr_cli cli;
	struct tr_capture capture;
	const char *append;  /* the file of --append; NULL: none */
	const char *only;    /* NULL: everything */
	bool matched[MARKS]; /* the patterns of only that some program matched */
	bool respfiles;
	uint64_t command; /* its pid, 0 while unknown */
	bool ran, ended;  /* whether the command has begun, and ended */
	int status;	  /* its wait status */
	struct tr_sanitized sanitized;
	const struct tr_preload_note *note; /* about the current record; NULL: none */
	bool all_read;			    /* the output of strace, to its end */
	struct tr_writer *writer;
	struct tr_buffer line;
	uint64_t unknown_ends; /* processes of which only the end is in the log */
	uint64_t written;      /* records of this segment */
	uint64_t next_seq;
};

/* Takes the next pattern of --only from the list at *p. False: there is none. */
static bool next_pattern(const char **p, struct tr_text *pattern)
{
	*p += strspn(*p, ",");
	*pattern = (struct tr_text){ *p, strcspn(*p, ",") };
	*p += pattern->len;
	return pattern->len;
}

/* Marks the patterns of --only that match the name. True: at least one does. */
static bool mark_matches(struct recorder *recorder, struct tr_text name)
{
	char pattern[NAME_MAX + 1], base[NAME_MAX + 1];
	const char *p = recorder->only;
	struct tr_text word;
	bool any = false;

	if (name.len > NAME_MAX)
		return false;
	memcpy(base, name.data, name.len);
	base[name.len] = '\0';
	for (size_t i = 0; next_pattern(&p, &word); i++) {
		if (word.len > NAME_MAX)
			continue;
		memcpy(pattern, word.data, word.len);
		pattern[word.len] = '\0';
		if (fnmatch(pattern, base, 0) != 0)
			continue;
		any = true;
		if (i < MARKS)
			recorder->matched[i] = true;
	}
	return any;
}

/* Reports each pattern of --only that matched no program. */
static void report_unmatched(struct recorder *recorder)
{
	const char *p = recorder->only;
	struct tr_text word;

	for (size_t i = 0; i < MARKS && next_pattern(&p, &word); i++)
		if (!recorder->matched[i])
			tr_cli_note(&recorder->cli, "--only: no program '%.*s' was run",
				    (int)word.len, word.data);
}

/* --only is compared with the name of the file that ran and with argv[0]. */
static bool is_wanted(struct recorder *recorder, struct tr_record *record)
{
	struct tr_command command;
	struct tr_error err;

	if (!recorder->only || record->type != TR_RECORD)
		return true;
	if (!tr_text_is(record->kind, "exec"))
		return tr_text_is(record->kind, "raw");
	if (tr_command_read(record, &command, &err) != TR_OK)
		return false;
	bool listed = mark_matches(recorder, tr_path_base(tr_command_program(&command)));
	if (command.argc)
		listed |= mark_matches(recorder, tr_path_base(command.argv[0]));
	return listed;
}

/* Replaces the line of the record with recorder->line. */
static bool replace(struct recorder *recorder, struct tr_record *record)
{
	struct tr_error err;
	struct tr_record changed;

	if (!tr_buffer_room(&recorder->line, TR_INPUT_PAD) || recorder->line.failed)
		return false;
	tr_record_init(&changed, record->arena);
	if (!tr_record_from_line(&changed, tr_buffer_text(&recorder->line), &err))
		return false;
	changed.canonical = true;
	changed.source_line = record->source_line;
	changed.source_offset = record->source_offset;
	*record = changed;
	return true;
}

/*
 * The trailer counts the records of the segment, without those that --only left out. It is marked
 * as truncated if the end of the command is not in the log.
 */
static bool recount(struct recorder *recorder, struct tr_record *trailer)
{
	struct tr_buffer *line = &recorder->line;

	tr_buffer_reset(line);
	tr_trailer_recount(trailer, recorder->written, line);
	if (recorder->ran && !recorder->ended)
		tr_buffer_put_literal(line, "\ttruncated=true");
	tr_buffer_put_byte(line, '\n');
	recorder->written = 0;
	return replace(recorder, trailer);
}

/* True if the name is in the rest of a list, which begins with the quote of its first name. */
static bool has_flag(struct tr_text list, const char *name)
{
	size_t len = strlen(name);
	const char *p = list.data, *end = p + list.len;

	while ((size_t)(end - p) > len + 1 && *p == '"') {
		if (memcmp(p + 1, name, len) == 0 && p[len + 1] == '"')
			return true;
		p = memchr(p + 1, '"', (size_t)(end - p - 1));
		if (!p || end - p < 2 || p[1] != ',')
			return false;
		p += 2;
	}
	return false;
}

/* Appends the line with the flags of a note. */
static void put_flagged(struct tr_text line, unsigned flags, struct tr_buffer *to)
{
	static const char *const names[] = { "unwatched", "orphan", "end-unknown" };
	static const char begin[] = "\tflagged=[";
	const char *list = memmem(line.data, line.len, begin, sizeof begin - 1);
	const char *end = line.data + line.len - 1, *rest = list ? list + sizeof begin - 1 : "]";
	const char *comma = "";

	tr_buffer_put_text(to, tr_text_span(line.data, list ? list : end));
	tr_buffer_put(to, begin, sizeof begin - 1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(flags & 1U << i) || (list && has_flag(tr_text_span(rest, end), names[i])))
			continue;
		tr_buffer_put_text(to, tr_text_from(comma));
		tr_buffer_put_byte(to, '"');
		tr_buffer_put_text(to, tr_text_from(names[i]));
		tr_buffer_put_byte(to, '"');
		comma = ",";
	}
	if (list && *comma)
		tr_buffer_put_byte(to, ',');
	tr_buffer_put_text(to, list ? tr_text_span(rest, end) : tr_text_from(rest));
	tr_buffer_put_byte(to, '\n');
}

/* Appends the line of an exit without its time and status, which are unknown. */
static void put_unknown_end(const struct tr_record *record, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "exit\t");
	tr_buffer_put_text(to, record->seq.text);
	tr_buffer_put_literal(to, "\t-\t");
	tr_buffer_put_text(to, record->task.text);
	tr_buffer_put_literal(to, "\t-\n");
}

/* Adds the content of its note to a record. */
static bool complete(struct recorder *recorder, struct tr_record *record)
{
	const struct tr_preload_note *note = recorder->note;
	unsigned flags = note ? note->flags & ~(unsigned)TR_DECODE_TRACED : 0;
	bool is_exec = tr_text_is(record->kind, "exec");
	struct tr_buffer *line = &recorder->line;
	bool good = true;

	if (is_exec && recorder->respfiles &&
	    tr_record_respfiles(record, tr_cli_compilers(&recorder->cli),
				note ? note->files : TR_TEXT(""), line))
		good = replace(recorder, record);
	if (!good || line->failed || !flags)
		return good && !line->failed;
	struct tr_buffer before = *line, bare = TR_BUFFER_INIT;
	struct tr_text old = record->line;
	*line = (struct tr_buffer)TR_BUFFER_INIT;
	if (flags & TR_DECODE_END_UNKNOWN) {
		put_unknown_end(record, &bare);
		old = tr_buffer_text(&bare);
	}
	put_flagged(old, flags, line);
	good = !bare.failed && replace(recorder, record);
	tr_buffer_free(&before);
	tr_buffer_free(&bare);
	return good;
}

/* Puts a record that counts what the library has lost, before the trailer. */
static bool put_lost(struct recorder *recorder)
{
	const struct tr_preload_losses *losses = recorder->capture.losses;
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_record lost;
	struct tr_error err;
	struct tr_arena arena = TR_ARENA_INIT;

	if (!losses || !(losses->lost + losses->torn + losses->incomplete))
		return true;
	tr_buffer_put_literal(&line, "lost\t");
	tr_buffer_put_decimal(&line, recorder->next_seq);
	tr_buffer_put_literal(&line, "\t-\t-\t-\tevents=");
	tr_buffer_put_decimal(&line, losses->lost + losses->torn + losses->incomplete);
	tr_buffer_put_byte(&line, '\n');
	bool good = tr_record_from_buffer(&lost, &arena, &line, &err) == TR_OK;
	if (good) {
		recorder->written++;
		good = tr_cli_put(&recorder->cli, recorder->writer, &lost);
	} else {
		tr_cli_out_of_memory(&recorder->cli);
	}
	tr_buffer_free(&line);
	tr_arena_free(&arena);
	return good;
}

static bool put(struct recorder *recorder, struct tr_record *record)
{
	bool good = true;

	if (record->type == TR_TRAILER) {
		if (!put_lost(recorder))
			return false;
		good = recount(recorder, record);
	} else if (record->type == TR_RECORD) {
		recorder->written++;
		tr_buffer_reset(&recorder->line);
		if (tr_text_is(record->kind, "exec") || tr_text_is(record->kind, "exit") ||
		    tr_text_is(record->kind, "sys"))
			good = complete(recorder, record);
	}
	if (!good)
		return tr_cli_out_of_memory(&recorder->cli);
	return tr_cli_put(&recorder->cli, recorder->writer, record);
}

/* The first process starts in the current directory, so no directory has to be guessed. */
static struct tr_setting *know_directory(struct tr_cli *cli, char *directory, size_t size)
{
	struct tr_settings *settings = &cli->config.read.settings;
	struct tr_setting *list = calloc(settings->count + 1, sizeof *list);

	if (!list || !getcwd(directory, size))
		return list;
	list[0] = (struct tr_setting){ TR_TEXT("cwd"), tr_text_from(directory) };
	for (size_t i = 0; i < settings->count; i++)
		list[i + 1] = settings->list[i];
	settings->list = list;
	settings->count++;
	return list;
}

/* The wait status in an exit record. */
static int wait_status(struct tr_record *record)
{
	uint64_t code = tr_command_number(record, "status");
	struct tr_field *field = tr_record_field(record, "signal");

	for (int i = 1; field && i < NSIG; i++) {
		const char *name = sigabbrev_np(i);
		if (name && tr_text_starts(field->text, TR_TEXT("SIG")) &&
		    tr_text_is((struct tr_text){ field->text.data + 3, field->text.len - 3 }, name))
			return i;
	}
	return code <= UINT8_MAX ? (int)code << 8 : 0;
}

/* The first process of the log is the command. */
static void watch_command(struct recorder *recorder, struct tr_record *record)
{
	uint64_t pid;

	if (record->type != TR_RECORD || !tr_cell_number(&record->task, &pid) || pid > INT_MAX)
		return;
	if (!recorder->command) {
		recorder->command = pid;
		tr_capture_command((pid_t)pid);
	}
	if (pid != recorder->command)
		return;
	recorder->ran |= tr_text_is(record->kind, "exec");
	if (!tr_text_is(record->kind, "exit"))
		return;
	recorder->ended = true;
	recorder->status = wait_status(record);
	tr_capture_lingers(&recorder->capture, recorder->cli.quiet);
}

/* True if the record is about the process that tried to start the command and failed. */
static bool is_failed_start(const struct recorder *recorder, const struct tr_record *record)
{
	return recorder->ended && !recorder->ran && record->type == TR_RECORD &&
	       tr_text_is(record->kind, "exit");
}

/* True if the record is the end of a process whose beginning is not in the log. */
static bool is_unknown_end(const struct recorder *recorder, struct tr_record *record)
{
	static const char orphan[] = "\"orphan\"";

	if (record->type != TR_RECORD || !tr_text_is(record->kind, "exit"))
		return false;
	const struct tr_field *flags = tr_record_field(record, "flagged");
	return (recorder->note && recorder->note->flags & TR_DECODE_ORPHAN) ||
	       (flags && memmem(flags->text.data, flags->text.len, orphan, sizeof orphan - 1));
}

/* Explains what to do if LeakSanitizer has failed in a traced program; its message does not. */
static void watch_sanitizers(struct recorder *recorder, struct tr_record *record)
{
	bool traced = recorder->capture.backend == TR_BACKEND_STRACE ||
		      (recorder->note && recorder->note->flags & TR_DECODE_TRACED);
	struct tr_buffer path = TR_BUFFER_INIT;

	if (tr_sanitized_failed(&recorder->sanitized, record, traced, &path))
		tr_cli_note(&recorder->cli,
			    "%.*s failed: it is built with LeakSanitizer, which does not work in a "
			    "program that strace watches: set LSAN_OPTIONS=detect_leaks=0 for "
			    "tr-record",
			    (int)path.len, path.data);
	tr_buffer_free(&path);
}

static void record(struct recorder *recorder)
{
	struct tr_cli *cli = &recorder->cli;
	char directory[PATH_MAX];
	struct tr_setting *settings = know_directory(cli, directory, sizeof directory);
	struct tr_record *line;

	cli->operand_count = 0;
	cli->config.format = &tr_format_strace;
	if (dup2(recorder->capture.log, STDIN_FILENO) < 0)
		tr_cli_fail(cli, "cannot read the output of strace: %s", strerror(errno));
	close(recorder->capture.log);
	recorder->capture.log = STDIN_FILENO;
	if (tr_cli_open(cli))
		recorder->writer = tr_cli_writer(cli, &tr_format_trec);
	while (recorder->writer && tr_cli_next(cli, &line)) {
		watch_command(recorder, line);
		recorder->next_seq += line->type == TR_RECORD;
		recorder->note = line->type == TR_RECORD
					 ? tr_preload_note(&recorder->capture, line->source_line)
					 : NULL;
		if (recorder->capture.backend == TR_BACKEND_STRACE || recorder->capture.attaches)
			watch_sanitizers(recorder, line);
		recorder->unknown_ends += is_unknown_end(recorder, line);
		if (!is_failed_start(recorder, line) && is_wanted(recorder, line) &&
		    !put(recorder, line))
			break;
	}
	recorder->all_read = recorder->writer && !cli->stop;
	if (recorder->only && recorder->all_read && recorder->ran)
		report_unmatched(recorder);
	if (recorder->writer)
		tr_cli_finish(cli, recorder->writer);
	free(settings);
}

/*
 * Opens the output file before anything runs. It is written in place, because records are useful
 * even if the recording is interrupted. Its old content stays until the command runs. -1: it cannot
 * be opened, which is reported.
 */
static int open_output(struct tr_cli *cli, const char *path, bool *is_new)
{
	static const char *const from_stdin[] = { "-" };
	const struct tr_codec *codec;
	struct stat st;

	*is_new = false;
	if (!tr_cli_name_codec(cli, false, &codec))
		return -1;
	/* the command may read it */
	if (!tr_cli_inputs_open(cli, from_stdin, 1) ||
	    (stat(path, &st) == 0 && tr_cli_refuses(cli, NULL, path, &st)))
		return -1;
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_EXCL, 0666);
	*is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, flags, 0666);
	if (fd < 0)
		tr_cli_fail(cli, "%s: %s", path, strerror(errno));
	return fd;
}

/* Opens the file of --append before anything runs. NULL: it cannot be used, which is reported. */
static struct tr_sink *open_append(struct tr_cli *cli, const char *path)
{
	enum { PATIENCE = 60 /* seconds to wait for the lock of another process */ };
	const struct tr_append_format trec = {
		.begin = TR_TEXT("%trec\t1"),
		.last = TR_TEXT("!end\t"),
		.cut = TR_TEXT("!end\t0\ttruncated=true\n"),
	};
	const struct tr_codec *codec;
	struct tr_error err;

	if (strcmp(path, "-") == 0) {
		tr_cli_usage(cli, "--append takes a file, not standard output");
		return NULL;
	}
	cli->output_path = path; /* for messages */
	if (!tr_cli_name_codec(cli, false, &codec))
		return NULL;
	if (codec) {
		tr_cli_usage(cli, "%s: --append takes a file that is not compressed", path);
		return NULL;
	}
	struct tr_sink *sink = tr_sink_append(path, &trec, PATIENCE, &err);
	if (!sink)
		tr_cli_fail(cli, "%s", err.text);
	return sink;
}

/* Writes records to the file, once the command has the standard output. fd -1: there is none. */
static bool take_output(struct tr_cli *cli, int fd)
{
	const char *path = cli->output_path;
	const struct tr_codec *codec;
	struct stat st;

	if (!tr_cli_name_codec(cli, false, &codec))
		return false;
	if (fd >= 0 && (fstat(fd, &st) != 0 || (S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0) ||
			dup2(fd, STDOUT_FILENO) < 0)) {
		tr_cli_fail(cli, "%s: %s", path, strerror(errno));
		return false;
	}
	if (fd >= 0)
		close(fd);
	cli->output_path = NULL;
	bool good = tr_cli_output_on(
		cli, tr_cli_encoded(cli, tr_cli_sink(cli, false), codec, TR_CLI_DEFAULT_LEVEL, 1));
	cli->output_path = path; /* for messages */
	return good;
}

/* Writes a line of the list of --list-compilers. */
static void put_compiler(struct tr_cli *cli, const struct tr_compilers *table, struct tr_piece name,
			 bool exe, const struct tr_section *section)
{
	tr_output_put_text(cli->out, tr_compilers_text(table, name));
	tr_output_put_text(cli->out, exe ? TR_TEXT(".exe\t") : TR_TEXT("\t"));
	tr_output_put_text(cli->out, tr_compilers_text(table, section->family));
	tr_output_put_literal(cli->out, "\t");
	tr_output_put_text(cli->out, tr_text_from(tr_section_kind(section)));
	tr_output_put_literal(cli->out, "\n");
}

/* Lists the programs of each section, in the order of the table. */
static void list_compilers(struct tr_cli *cli)
{
	const struct tr_compilers *table = tr_cli_compilers(cli);

	if (!table)
		table = &tr_compilers_known;
	if (!tr_cli_output(cli, false))
		return;
	for (uint32_t s = 0; s < table->section_count; s++) {
		for (uint32_t i = 0; i < table->name_count; i++)
			if (table->names[i].section == s)
				put_compiler(cli, table, table->names[i].text, table->names[i].exe,
					     &table->sections[s]);
		for (uint32_t i = 0; i < table->call_count; i++)
			if (table->calls[i].number == s)
				put_compiler(cli, table, table->calls[i].text, false,
					     &table->sections[s]);
	}
	cli->stop = true;
}

static void read_options(struct recorder *recorder)
{
	struct tr_cli *cli = &recorder->cli;
	bool lists = false;
	bool watches = false; /* --backend was given */

	for (int id; (id = tr_cli_option(cli)) != 0;) {
		if (id == ONLY)
			recorder->only = cli->argument;
		else if (id == NO_RESPFILES)
			recorder->respfiles = false;
		else if (id == NO_WAIT)
			recorder->capture.no_wait = true;
		else if (id == FILES)
			recorder->capture.files = true;
		else if (id == STAT)
			recorder->capture.stat = true;
		else if (id == WRAP)
			recorder->capture.alone = true;
		else if (id == APPEND)
			recorder->append = cli->argument;
		else if (id == LIST_COMPILERS)
			lists = true;
		else {
			recorder->capture.backend = (enum tr_backend)tr_cli_choice(cli);
			watches = true;
		}
	}
	tr_cli_compilers(cli);
	if (lists)
		list_compilers(cli);
	if (cli->stop)
		return;
	watches |= recorder->capture.files;
	struct tr_buffer cwd = TR_BUFFER_INIT;
	struct tr_error err;
	if (recorder->only && !recorder->only[strspn(recorder->only, ",")])
		tr_cli_usage(cli, "--only takes names of programs, such as cc1,ld");
	else if (!tr_setting_get_directory(&cli->config.read.settings, "cwd", false, &cwd, &err))
		tr_cli_usage(cli, "%s", err.text);
	else if (recorder->capture.stat && !recorder->capture.files)
		tr_cli_usage(cli, "--stat needs --files");
	else if (recorder->capture.alone && watches)
		tr_cli_usage(cli, "--wrap watches nothing: it cannot be combined with --backend "
				  "or --files");
	else if (recorder->append && cli->output_path)
		tr_cli_usage(cli, "-o cannot be combined with --append");
	else if (recorder->capture.stat && recorder->capture.backend == TR_BACKEND_PRELOAD)
		tr_cli_usage(cli, "--stat needs --backend=strace");
	else if (!cli->operand_count)
		tr_cli_usage(cli, "no command given");
	tr_buffer_free(&cwd);
	if (recorder->capture.alone)
		recorder->capture.backend = TR_BACKEND_PRELOAD;
}

/* Reports processes whose beginning is not in the log. */
static void report_unknown_ends(struct recorder *recorder)
{
	if (recorder->unknown_ends)
		tr_cli_note(&recorder->cli,
			    "processes of which only the end was recorded, because programs that "
			    "are not watched created them, or because they were killed "
			    "immediately: %" PRIu64,
			    recorder->unknown_ends);
}

/* Reports what the library could not record. */
static void report_losses(struct recorder *recorder)
{
	const struct tr_preload_losses *losses = recorder->capture.losses;
	struct tr_cli *cli = &recorder->cli;

	if (!losses)
		return;
	if (losses->lost)
		tr_cli_fail(cli, "records that could not be written: %" PRIu64, losses->lost);
	if (losses->incomplete)
		tr_cli_fail(cli, "the recorder ran out of memory, or could not read back what the "
				 "programs recorded: records are missing");
	if (losses->torn)
		tr_cli_fail(cli,
			    "truncated records, because a process was killed while writing, or "
			    "because the disk was full: %" PRIu64,
			    losses->torn);
	if (losses->opaque && !recorder->capture.alone)
		tr_cli_note(
			cli,
			"programs that could not load the library: %" PRIu64
			"; what they started may be missing, unless --backend=strace records it",
			losses->opaque);
	if (losses->bypassing)
		tr_cli_note(cli,
			    "programs that make system calls directly: %" PRIu64
			    "; what they started may be missing, unless --backend=strace records "
			    "it",
			    losses->bypassing);
	if (losses->outside)
		tr_cli_note(cli,
			    "processes in other pid namespaces, which are not watched, and "
			    "neither are their children: %" PRIu64,
			    losses->outside);
	if (losses->filtered)
		tr_cli_note(
			cli,
			"processes that set a system call filter, and are not recorded after "
			"that: %" PRIu64
			"; what they started may be missing, unless --backend=strace records it",
			losses->filtered);
	if (losses->straces)
		tr_cli_remark(cli, NULL, TR_CAUSE_NONE, TR_DETAIL,
			      "programs that could not load the library and were watched by "
			      "strace with everything that they started: %" PRIu64,
			      losses->straces);
	if (losses->unnoticed)
		tr_cli_note(cli, "processes whose end is unknown: %" PRIu64, losses->unnoticed);
}

/* Checks *status of tr_capture_end. False: it is not that of the command, which is reported. */
static bool judge_end(struct recorder *recorder, int *status)
{
	enum { NOT_EXECUTABLE = 126, TROUBLE = 2 };
	struct tr_cli *cli = &recorder->cli;

	const struct tr_preload_losses *losses = recorder->capture.losses;

	/* lost records were reported, and the supervisor returns the status of the command */
	if (!recorder->all_read || (recorder->ran && recorder->ended) || (losses && losses->lost))
		return true;
	if (recorder->ended) {
		*status = NOT_EXECUTABLE; /* strace has reported why */
		return false;
	}
	const char *watcher =
		recorder->capture.backend == TR_BACKEND_STRACE ? "strace" : "the recorder";
	if (recorder->ran)
		tr_cli_fail(cli, "%s ended before the command did: the records are incomplete",
			    watcher);
	else
		tr_cli_fail(cli, "%s did not run the command", watcher);
	*status = TROUBLE;
	return false;
}

/* True: *status is the wait status of the command. False: it is the exit status. */
static bool run(struct recorder *recorder, int *status)
{
	struct tr_cli *cli = &recorder->cli;
	const char *path = cli->output_path;
	bool divert = !path && !recorder->append, is_new = false;
	struct tr_sink *sink = NULL;
	int fd = -1;

	/* before the command runs, and before the output is opened */
	if (!tr_cli_log_open(cli))
		return false;
	if (recorder->append)
		sink = open_append(cli, recorder->append);
	else if (path)
		fd = open_output(cli, path, &is_new);
	if (!divert && !sink && fd < 0)
		return false;
	if (!tr_capture_begin(cli, &recorder->capture, cli->operands, divert, status)) {
		if (sink)
			sink->close(sink);
		if (is_new)
			unlink(path); /* it would be an empty trace */
		return false;
	}
	if (sink ? tr_cli_output_on(cli, sink) : take_output(cli, fd))
		record(recorder);
	*status = tr_capture_end(&recorder->capture);
	report_losses(recorder);
	report_unknown_ends(recorder);
	if (tr_capture_was_left()) {
		tr_cli_note(cli, "processes that outlive the command are not recorded any "
				 "further");
		*status = recorder->status;
	}
	return judge_end(recorder, status);
}

int main(int argc, char **argv)
{
	struct recorder recorder = { .respfiles = true };
	int status = 0;

	tr_cli_begin(&recorder.cli, &tool, argc, argv);
	read_options(&recorder);
	bool ran = !recorder.cli.stop && run(&recorder, &status);
	tr_buffer_free(&recorder.line);
	tr_sanitized_free(&recorder.sanitized);
	tr_preload_free(&recorder.capture);
	if (ran && WIFSIGNALED(status))
		recorder.cli.command_status = 128 + WTERMSIG(status);
	else
		recorder.cli.command_status = ran ? WEXITSTATUS(status) : status;
	int trouble = tr_cli_end(&recorder.cli);
	if (ran)
		status = tr_capture_status(status);
	return status ? status : trouble;
}
