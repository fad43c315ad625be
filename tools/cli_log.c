/*
 * --report=FILE: every message, every file or member, and the result, as JSON Lines for
 * programs. Each line is written at once, so what a crash leaves behind is whole up to there,
 * and lacks the last line, the sum.
 */
#include "config.h"

#include "cli_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "view/json_value.h"

/* /dev/stderr, /dev/fd/3: the descriptor itself, not its file anew, which would be emptied. */
static int descriptor_of(const char *path)
{
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	char *end;

	for (int i = 0; i < 3; i++)
		if (strcmp(path, standard[i]) == 0)
			return i;
	if (strncmp(path, "/dev/fd/", 8) != 0 || path[8] < '0' || path[8] > '9')
		return -1;
	long number = strtol(path + 8, &end, 10);
	return *end || number > INT_MAX ? -1 : (int)number;
}

/* The file is the result of the tool, or one of its operands. */
static bool is_in_use(struct tr_cli *cli, const struct stat *st)
{
	const struct tr_cli_private *p = cli->private;
	const char *path = p->log.path;
	struct stat other;

	if (!S_ISREG(st->st_mode))
		return false;
	if (cli->output_path ? stat(cli->output_path, &other) == 0
			     : fstat(STDOUT_FILENO, &other) == 0) {
		if (st->st_dev == other.st_dev && st->st_ino == other.st_ino) {
			tr_cli_fail(cli, "%s is the output: choose another name for --report",
				    path);
			return true;
		}
	}
	/* after a usage error the operands are not known: any word may be one */
	for (int i = 1; !p->inputs_known && !cli->tool->command && i < p->argc; i++)
		if (p->argv[i] != path)
			tr_cli_reads(cli, tr_text_from(p->argv[i]));
	return tr_cli_refuses(cli, path, st);
}

static bool open_file(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	int fd = descriptor_of(log->path);
	bool made = false;
	struct stat st;

	log->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : open(log->path, flags);
	if (log->fd < 0 && fd < 0 && errno == ENOENT) {
		log->fd = open(log->path, flags | O_CREAT, 0666);
		made = true;
	}
	if (log->fd < 0 || fstat(log->fd, &st) != 0) {
		tr_cli_fail(cli, "%s: %s", log->path, strerror(errno));
		return false;
	}
	if (is_in_use(cli, &st)) {
		if (made)
			unlink(log->path);
		return false;
	}
	if (fd < 0 && S_ISREG(st.st_mode) && ftruncate(log->fd, 0) != 0) {
		tr_cli_fail(cli, "%s: %s", log->path, strerror(errno));
		return false;
	}
	if (S_ISREG(st.st_mode))
		tr_cli_keeps(cli, &st);
	log->ready = true;
	return true;
}

bool tr_cli_log_open(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;

	if (!log->path || log->tried)
		return !log->path || log->ready;
	log->tried = true;
	if (open_file(cli))
		return true;
	cli->stop = cli->private->discard = true;
	return false;
}

static void put_key(struct tr_buffer *to, const char *key)
{
	tr_buffer_put_literal(to, ",\"");
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_literal(to, "\":");
}

static void put_name(struct tr_buffer *to, const char *key, const char *name)
{
	put_key(to, key);
	if (name)
		tr_json_view_bytes(tr_text_from(name), to);
	else
		tr_buffer_put_literal(to, "null");
}

static void put_number(struct tr_buffer *to, const char *key, uint64_t number, bool known)
{
	put_key(to, key);
	if (known)
		tr_buffer_put_decimal(to, number);
	else
		tr_buffer_put_literal(to, "null");
}

/* A line begins with its type and the tool. NULL: there is no report. */
static struct tr_buffer *begin_line(struct tr_cli *cli, const char *type)
{
	struct tr_buffer *line = &cli->private->log.line;

	if (!tr_cli_log_open(cli) || !cli->private->log.ready)
		return NULL;
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "{\"type\":\"");
	tr_buffer_put_text(line, tr_text_from(type));
	tr_buffer_put_byte(line, '"');
	put_name(line, "tool", cli->tool->name);
	return line;
}

static void end_line(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;
	struct tr_error err;

	tr_buffer_put_literal(&log->line, "}\n");
	if (log->line.failed)
		tr_error_memory(&err);
	else if (tr_fd_write(log->fd, log->line.data, log->line.len, &err))
		return;
	log->ready = false; /* the message about it goes to stderr alone */
	tr_cli_fail(cli, "%s: %s", log->path, err.text);
}

void tr_cli_log_trouble(struct tr_cli *cli, const struct tr_trace_place *place,
			const struct tr_error *err)
{
	static const char *const causes[] = {
		[TR_CAUSE_NONE] = "other",     [TR_CAUSE_INPUT] = "input",
		[TR_CAUSE_CUT] = "truncated",  [TR_CAUSE_LIMIT] = "limit",
		[TR_CAUSE_MEMORY] = "memory",  [TR_CAUSE_SYSTEM] = "system",
		[TR_CAUSE_PIPE] = "pipe",      [TR_CAUSE_USAGE] = "usage",
		[TR_CAUSE_UPSTREAM] = "upstream",
	};
	static const char *const severities[] = { "damage", "flaw", "note", "detail" };
	struct tr_cli_log *log = &cli->private->log;
	bool note = err->severity >= TR_NOTE;

	if (!log->path)
		return;
	log->all.errors += !note;
	log->all.notes += note;
	if (place && log->in_member) {
		log->member.errors += !note;
		log->member.notes += note;
		log->cut = log->cut || (!note && err->cause == TR_CAUSE_CUT);
	}
	struct tr_buffer *line = begin_line(cli, "trouble");
	if (!line)
		return;
	put_name(line, "file", place ? place->file : NULL);
	put_name(line, "member", place ? place->member : NULL);
	put_number(line, "line", err->line, err->line != TR_NO_POSITION);
	put_number(line, "offset", err->offset, err->offset != TR_NO_POSITION);
	put_number(line, "record", err->record, err->record != TR_NO_POSITION);
	put_name(line, "cause", causes[err->cause]);
	put_name(line, "severity", severities[err->severity]);
	put_key(line, "text");
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_cli_escape(tr_text_from(err->text), &text);
	tr_json_view_bytes(tr_buffer_text(&text), line);
	line->failed |= text.failed;
	tr_buffer_free(&text);
	end_line(cli);
}

void tr_cli_log_step(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;

	log->in_member = true;
	log->cut = false;
	log->member = (struct tr_cli_log_count){ 0 };
}

/* One word for how the reading of a place went. */
static const char *result_of(const struct tr_cli *cli, const struct tr_trace_place *place,
			     const struct tr_trace_seen *seen)
{
	const struct tr_cli_log *log = &cli->private->log;

	if (log->cut || (place->format && seen->truncated))
		return "truncated";
	if (!place->format)
		return place->in->damaged ? "damaged" : "unknown";
	if (log->member.errors)
		return "damaged";
	return (seen->parsed && !seen->complete) || cli->stop ? "partial" : "ok";
}

static void put_member(struct tr_cli *cli, const struct tr_trace_place *place, const char *result,
		       const struct tr_trace_seen *seen)
{
	struct tr_cli_log *log = &cli->private->log;
	struct tr_buffer *line = begin_line(cli, "member");

	log->members++;
	if (!line)
		return;
	log->all.records += seen->parsed ? seen->records : 0;
	put_name(line, "name", place->name);
	put_name(line, "file", place->file);
	put_name(line, "member", place->member);
	put_name(line, "format", place->format ? place->format->name : NULL);
	put_name(line, "container", place->codec ? place->codec->name : NULL);
	put_number(line, "records", seen->records, seen->parsed && place->format);
	put_number(line, "errors", log->member.errors, true);
	put_number(line, "notes", log->member.notes, true);
	put_name(line, "result", result);
	end_line(cli);
}

void tr_cli_log_member(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;
	const struct tr_trace_place *place;

	if (!log->path || !log->in_member || !cli->trace)
		return;
	log->in_member = false;
	place = tr_trace_here(cli->trace);
	if (!place || !place->in)
		return; /* the place that tells of the lost ones is no file */
	struct tr_trace_seen seen = tr_trace_seen(cli->trace);
	put_member(cli, place, result_of(cli, place, &seen), &seen);
}

void tr_cli_log_missed(struct tr_cli *cli, const struct tr_error *err)
{
	static const struct tr_trace_seen nothing;
	struct tr_cli_log *log = &cli->private->log;
	const struct tr_trace_place *place = tr_trace_here(cli->trace);
	bool note = err->severity >= TR_NOTE;

	if (!log->path || !place || !place->name)
		return;
	log->member = (struct tr_cli_log_count){ .errors = !note, .notes = note };
	put_member(cli, place, note ? "skipped" : "unreadable", &nothing);
}

void tr_cli_log_end(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;
	struct tr_buffer *line;

	/* --help and the like read and write nothing */
	if (log->path && (log->tried || cli->status) && (line = begin_line(cli, "sum")) != NULL) {
		put_name(line, "version", PACKAGE_VERSION);
		put_number(line, "members", log->members, true);
		put_number(line, "records", log->all.records, true);
		put_number(line, "errors", log->all.errors, true);
		put_number(line, "notes", log->all.notes, true);
		put_number(line, "status",
			   (uint64_t)(cli->command_status ? cli->command_status : cli->status),
			   true);
		end_line(cli);
	}
	if (log->ready && close(log->fd) != 0)
		tr_cli_fail(cli, "%s: %s", log->path, strerror(errno));
	tr_buffer_free(&log->line);
}
