/* SPDX-License-Identifier: MIT */
/*
 * Standard error and the report: messages with their position and their count, --report=FILE, and
 * progress. They decide the exit status.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli_private.h"
#include "core/file.h"
#include "core/output.h"
#include "view/json_value.h"

/*
 * Names and quoted input may be hostile: nothing in them may reach a terminal as a control
 * sequence. C1 controls are valid UTF-8, and are escaped as well.
 */
static void escape(struct tr_text text, struct tr_buffer *to)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		bool shown;
		unsigned len = tr_terminal_character(p, end, &shown);

		if (shown)
			tr_buffer_put(to, p, len);
		else
			tr_terminal_escape(p, len, to);
		p += len;
	}
}

/*
 * Erases the progress line, if one is on the terminal, so that a message begins in the first
 * column.
 */
static void clear_progress(struct tr_cli *cli)
{
	if (cli->private->progress_up)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	cli->private->progress_up = false;
}

/* In one write, so that the lines of parallel tools do not mix. */
static void say(struct tr_cli *cli, struct tr_text text)
{
	clear_progress(cli);
	while (text.len) {
		ssize_t n = write(STDERR_FILENO, text.data, text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* no other place is left for a message */
		text.data += n;
		text.len -= (size_t)n;
	}
}

volatile sig_atomic_t tr_cli_attention;
static volatile sig_atomic_t tick, asked, waiting;
static char prepared[160];
static volatile sig_atomic_t prepared_len;

/*
 * A progress line is due. A handler may not print, so it asks the loop over the records to do so.
 */
static void on_tick(int signal_number)
{
	(void)signal_number;
	tick = 1;
	tr_cli_attention = 1;
}

/*
 * SIGUSR1 asks for a progress line. While the tool waits in a read, no loop runs that could
 * compose the line, so the handler writes the one that was prepared before the wait.
 */
static void on_request(int signal_number)
{
	int saved = errno;

	(void)signal_number;
	if (waiting) {
		(void)!write(STDERR_FILENO, prepared, (size_t)prepared_len);
	} else {
		asked = 1;
		tr_cli_attention = 1;
	}
	errno = saved;
}

int64_t tr_cli_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Installs a handler. SA_RESTART: a signal for progress must not make a read or a write fail. */
static void catch (int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

void tr_cli_progress_begin(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	/* progress and results must not mix on the terminal */
	bool apart = cli->output_path || !isatty(STDOUT_FILENO);
	/* a tool that reads its own pipe, as tr-record does, does not know the progress */
	bool shown = cli->tool->shared & TR_CLI_READS;
	bool on = p->progress == TR_CLI_ALWAYS ||
		  (p->progress == TR_CLI_AUTO && isatty(STDERR_FILENO) && apart);

	p->started = p->completed = tr_cli_clock();
	catch (SIGUSR1, on_request);
	if (on && shown) {
		struct itimerval timer = { { 0, 250000 }, { 1, 0 } };
		catch (SIGALRM, on_tick);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
}

/* "12.3 MB" in powers of 1000. */
static int put_bytes(char *to, size_t cap, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	size_t unit = 0;

	for (; bytes >= 999.5 && unit < 6; unit++)
		bytes /= 1000;
	return snprintf(to, cap, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
}

/* The line, without an end. */
static int describe(const struct tr_cli *cli, char *to, size_t cap)
{
	uint64_t done = 0, total = 0;
	tr_trace_progress(cli->trace, &done, &total);
	double seconds = (double)(tr_cli_clock() - cli->private->started) / 1000;
	double rate = seconds > 0 ? (double)done / seconds : 0;
	int len = snprintf(to, cap, "%s: ", cli->tool->name);

	len += put_bytes(to + len, cap - (size_t)len, (double)done);
	if (total)
		len += snprintf(to + len, cap - (size_t)len, " (%.0f %%)",
				100 * (double)done / (double)total);
	len += snprintf(to + len, cap - (size_t)len, ", ");
	len += put_bytes(to + len, cap - (size_t)len, rate);
	len += snprintf(to + len, cap - (size_t)len, "/s");
	if (total > done && rate > 0) {
		long left = (long)((double)(total - done) / rate);
		len += snprintf(to + len, cap - (size_t)len, ", %ld:%02ld:%02ld left", left / 3600,
				left / 60 % 60, left % 60);
	}
	return len;
}

/*
 * The length of the line that fits on the terminal, whose width may have changed: a line that
 * wraps cannot be erased. A fact is shown completely or left out.
 */
static size_t fit(const char *line, size_t len)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col || len < size.ws_col)
		return len;
	size_t room = size.ws_col - 1U;
	for (size_t at = room; at > 0; at--) {
		if (line[at] == ',')
			return at;
	}
	return room;
}

void tr_cli_progress(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	char line[160];

	/* a record has come, so the wait is over, and the handler must not print any more */
	waiting = 0;
	tr_cli_attention = 0;
	if (!asked && !tick)
		return;
	size_t len = (size_t)describe(cli, line, sizeof line - 1);
	line[len] = '\n';
	bool redraw = !asked && isatty(STDERR_FILENO);
	asked = tick = 0;
	pid_t group = tcgetpgrp(STDERR_FILENO);
	if (redraw && group >= 0 && group != getpgrp())
		return; /* in the background the terminal belongs to another program */
	say(cli, (struct tr_text){ line, redraw ? fit(line, len) : len + 1 });
	p->progress_up = redraw;
}

void tr_cli_progress_wait(struct tr_cli *cli)
{
	waiting = 0;
	int len = describe(cli, prepared, sizeof prepared - 1);
	prepared[len] = '\n';
	prepared_len = len + 1;
	waiting = 1;
	tr_cli_attention = 1; /* the next record ends the wait */
}

void tr_cli_progress_end(struct tr_cli *cli)
{
	struct itimerval off = { { 0, 0 }, { 0, 0 } };

	waiting = 0;
	setitimer(ITIMER_REAL, &off, NULL);
	clear_progress(cli);
}

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
	return tr_cli_refuses(cli, NULL, path, st);
}

/*
 * Opens the file of --report. It is emptied only after it is known to be neither the output nor an
 * input, and is removed again if this call has created it. False: reported.
 */
static bool open_report(struct tr_cli *cli)
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
	log->kept = S_ISREG(st.st_mode) ? cli->private->inputs.len : SIZE_MAX;
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
	if (open_report(cli))
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

static void put_json_number(struct tr_buffer *to, const char *key, uint64_t number, bool known)
{
	put_key(to, key);
	if (known)
		tr_buffer_put_decimal(to, number);
	else
		tr_buffer_put_literal(to, "null");
}

/*
 * Begins a line with its type and the name of the tool, and opens the report if that has not been
 * tried yet. NULL: there is no report.
 */
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

/*
 * Writes the line. After a failure no more lines are written: a report with a gap is worse than
 * one that ends.
 */
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

/*
 * Counts a message for the file or member it concerns and for all, and writes it to the report.
 * Messages that are not printed (-q, or more than 20 of a kind) are in the report all the same.
 */
static void log_trouble(struct tr_cli *cli, const struct tr_trace_place *place,
			const struct tr_error *err)
{
	static const char *const causes[] = {
		[TR_CAUSE_NONE] = "other",	  [TR_CAUSE_INPUT] = "input",
		[TR_CAUSE_CUT] = "truncated",	  [TR_CAUSE_LIMIT] = "limit",
		[TR_CAUSE_MEMORY] = "memory",	  [TR_CAUSE_SYSTEM] = "system",
		[TR_CAUSE_PIPE] = "pipe",	  [TR_CAUSE_USAGE] = "usage",
		[TR_CAUSE_UPSTREAM] = "upstream",
	};
	static const char *const severities[] = { "damage", "flaw", "note", "detail" };
	struct tr_cli_log *log = &cli->private->log;
	bool note = err->severity >= TR_NOTE;

	/* without a report, the rest is not needed */
	if (!log->path)
		return;
	log->all.errors += !note;
	log->all.notes += note;
	/* truncated input is an error, even if it was decoded without another one */
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
	put_json_number(line, "line", err->line, err->line != TR_NO_POSITION);
	put_json_number(line, "offset", err->offset, err->offset != TR_NO_POSITION);
	put_json_number(line, "record", err->record, err->record != TR_NO_POSITION);
	put_name(line, "cause", causes[err->cause]);
	put_name(line, "severity", severities[err->severity]);
	put_key(line, "text");
	/* the text has the same escapes as on the terminal, so that both can be compared */
	struct tr_buffer text = TR_BUFFER_INIT;
	escape(tr_text_from(err->text), &text);
	tr_json_view_bytes(tr_buffer_text(&text), line);
	line->failed |= text.failed;
	tr_buffer_free(&text);
	end_line(cli);
}

/* Forgets what was counted for the member before. */
static void clear_member(struct tr_cli_log *log)
{
	log->cut = false;
	tr_buffer_reset(&log->outputs);
	log->output_count = log->kept_count = 0;
	log->member = (struct tr_cli_log_count){ 0 };
}

void tr_cli_log_step(struct tr_cli *cli)
{
	cli->private->tally.opened++;
	cli->private->log.in_member = true;
	clear_member(&cli->private->log);
}

void tr_cli_log_output(struct tr_cli *cli, bool kept)
{
	struct tr_cli_log *log = &cli->private->log;

	if (!log->path || !cli->output_name)
		return;
	if (log->output_count++)
		tr_buffer_put_byte(&log->outputs, ',');
	log->kept_count += kept;
	tr_json_view_bytes(tr_text_from(cli->output_name), &log->outputs);
}

/* True if nothing was done with a place, because an earlier run had made all of its outputs. */
static bool is_kept(const struct tr_cli_log *log)
{
	return log->output_count && log->kept_count == log->output_count && !log->member.errors;
}

/* One word for how the reading of a place went. */
static const char *result_of(const struct tr_cli *cli, const struct tr_trace_place *place,
			     const struct tr_trace_seen *seen, bool damaged)
{
	const struct tr_cli_log *log = &cli->private->log;

	if (log->cut)
		return "truncated";
	if (!place->format)
		return damaged ? "damaged" : "unknown";
	if (log->member.errors)
		return "damaged";
	if (is_kept(log))
		return "kept";
	return (seen->parsed && !seen->complete) || cli->stop ? "partial" : "ok";
}

/* Writes the line of a file or member, and adds its records to the sum. */
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
	put_key(line, "output");
	tr_buffer_put_byte(line, '[');
	tr_buffer_put_text(line, tr_buffer_text(&log->outputs));
	tr_buffer_put_byte(line, ']');
	line->failed |= log->outputs.failed;
	put_json_number(line, "records", seen->records, seen->parsed && place->format);
	put_json_number(line, "errors", log->member.errors, true);
	put_json_number(line, "notes", log->member.notes, true);
	put_name(line, "result", result);
	end_line(cli);
}

void tr_cli_log_place(struct tr_cli *cli, const struct tr_trace_place *place,
		      const struct tr_trace_seen *seen, bool damaged)
{
	static const struct tr_trace_seen nothing;
	struct tr_cli_log *log = &cli->private->log;

	if (!log->path || !log->in_member)
		return;
	log->in_member = false;
	/* how much of a kept input is read depends on its format, and says nothing */
	put_member(cli, place, result_of(cli, place, seen, damaged),
		   is_kept(log) ? &nothing : seen);
}

void tr_cli_log_member(struct tr_cli *cli)
{
	struct tr_cli_log *log = &cli->private->log;
	const struct tr_trace_place *place = cli->trace ? tr_trace_here(cli->trace) : NULL;

	if (place && place->in) {
		struct tr_trace_seen seen = tr_trace_seen(cli->trace);
		tr_cli_log_place(cli, place, &seen, place->in->damaged);
	}
	log->in_member = false; /* a place that only reports lost records is not a file */
}

void tr_cli_log_missed(struct tr_cli *cli, const struct tr_trace_place *place,
		       const struct tr_error *err)
{
	static const struct tr_trace_seen nothing;
	struct tr_cli_log *log = &cli->private->log;
	bool note = err->severity >= TR_NOTE;

	if (note)
		cli->private->tally.skipped++;
	else
		cli->private->tally.unreadable++;
	if (!log->path || !place || !place->name)
		return;
	clear_member(log);
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
		put_json_number(line, "members", log->members, true);
		put_json_number(line, "records", log->all.records, true);
		put_json_number(line, "errors", log->all.errors, true);
		put_json_number(line, "notes", log->all.notes, true);
		put_json_number(line, "status",
				(uint64_t)(cli->command_status ? cli->command_status : cli->status),
				true);
		end_line(cli);
	}
	if (log->ready && close(log->fd) != 0)
		tr_cli_fail(cli, "%s: %s", log->path, strerror(errno));
	tr_buffer_free(&log->line);
	tr_buffer_free(&log->outputs);
}

/*
 * The position after the name of the file: a line where the format has lines, else the byte offset
 * and the number of the record.
 */
static void put_position(const struct tr_error *err, struct tr_buffer *to)
{
	if (err->line != TR_NO_POSITION) {
		tr_buffer_put_byte(to, ':');
		tr_buffer_put_decimal(to, err->line);
	} else if (err->offset != TR_NO_POSITION) {
		tr_buffer_put_literal(to, ":@0x");
		tr_buffer_put_hex(to, err->offset, 1);
	}
	if (err->line == TR_NO_POSITION && err->record != TR_NO_POSITION) {
		tr_buffer_put_literal(to, " (record ");
		tr_buffer_put_decimal(to, err->record);
		tr_buffer_put_byte(to, ')');
	}
	tr_buffer_put_literal(to, ": ");
}

/* Prints one message: tool, file, position and text, with control bytes escaped. */
static void print_line(struct tr_cli *cli, const struct tr_trace_place *place,
		       const struct tr_error *err, bool note)
{
	struct tr_buffer *to = &cli->private->message;

	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(cli->tool->name));
	tr_buffer_put_literal(to, ": ");
	if (place && place->name && !cli->tool->command) { /* a command is not an input */
		escape(tr_text_from(place->name), to);
		put_position(err, to);
	}
	if (note)
		tr_buffer_put_literal(to, "note: ");
	escape(tr_text_from(err->text), to);
	tr_buffer_put_byte(to, '\n');
	say(cli, to->failed ? TR_TEXT("no memory for a message\n") : tr_buffer_text(to));
}

/* False: 20 of this kind were printed already; it is only counted. */
static bool is_below_limit(struct tr_cli *cli, const struct tr_error *err, bool note)
{
	struct tr_cli_private *p = cli->private;
	const char *pattern = err->pattern ? err->pattern : "";
	struct tr_cli_alike *found = NULL;

	for (size_t i = 0; i < p->alike_count && !found; i++)
		if (p->alike[i].pattern == pattern)
			found = &p->alike[i];
	if (!found) {
		struct tr_cli_alike *list = realloc(p->alike, (p->alike_count + 1) * sizeof *list);
		if (!list)
			return true;
		p->alike = list;
		found = &list[p->alike_count++];
		*found = (struct tr_cli_alike){ .pattern = pattern, .notes = true };
	}
	found->notes = found->notes && note;
	memcpy(found->last, err->text, sizeof found->last);
	return ++found->count <= TR_CLI_ALIKE;
}

void tr_cli_summarise(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->alike_count; i++) {
		const struct tr_cli_alike *alike = &p->alike[i];
		struct tr_error err;

		if (alike->count <= TR_CLI_ALIKE)
			continue;
		tr_error_set(&err, TR_CAUSE_NONE, "%llu more like this: %s",
			     (unsigned long long)(alike->count - TR_CLI_ALIKE), alike->last);
		print_line(cli, NULL, &err, alike->notes);
	}
	if (p->has_last_line)
		print_line(cli, NULL, &p->last_line, false);
}

struct tr_cli_tally tr_cli_tally(const struct tr_cli *cli)
{
	return cli->private->tally;
}

void tr_cli_last_line(struct tr_cli *cli, const char *format, ...)
{
	struct tr_cli_private *p = cli->private;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&p->last_line, TR_CAUSE_NONE, format, args);
	va_end(args);
	p->has_last_line = !cli->quiet;
}

/*
 * The path of every message: it decides whether the message is printed, writes it to the report,
 * and sets the exit status. Notes count as errors with --strict. A closed pipe ends the tool in
 * silence.
 */
void tr_cli_message_of(struct tr_cli *cli, const struct tr_trace_place *place,
		       const struct tr_error *err)
{
	bool note = err->severity >= TR_NOTE && !cli->strict;
	bool silent = note && (cli->quiet || (err->severity == TR_DETAIL && !cli->verbose));

	if (err->cause == TR_CAUSE_PIPE) {
		cli->stop = true; /* the reader closed the pipe, which is not an error */
		return;
	}
	if (cli->private->relay) {
		cli->private->relay(cli, place != NULL, err);
	} else {
		if (!silent && is_below_limit(cli, err, note))
			print_line(cli, place, err, note);
		log_trouble(cli, place, err);
	}
	if (note)
		return;
	tr_cli_status(cli, 2);
	/* with more memory more would be decoded, so what came out must not pass for the result */
	if (cli->strict || err->cause == TR_CAUSE_MEMORY)
		cli->stop = cli->private->discard = true;
}

void tr_cli_report(struct tr_cli *cli, const struct tr_error *err)
{
	const struct tr_record *last = cli->private ? cli->private->last : NULL;
	struct tr_error limit;

	/* the caller may not know that --max-record is the cause */
	if (err->cause == TR_CAUSE_MEMORY && last && last->arena && last->arena->limited) {
		(void)tr_arena_error(last->arena, &limit);
		limit.line = last->source_line;
		limit.offset = last->source_offset;
		err = &limit;
	}
	tr_cli_message_of(cli, cli->trace ? tr_trace_here(cli->trace) : NULL, err);
}

void tr_cli_report_nowhere(struct tr_cli *cli, const struct tr_error *err)
{
	tr_cli_message_of(cli, NULL, err);
}

void tr_cli_report_record(struct tr_cli *cli, const struct tr_record *record,
			  const struct tr_error *err, bool lost)
{
	struct tr_error placed = *err;

	if (placed.line == TR_NO_POSITION && placed.offset == TR_NO_POSITION) {
		placed.line = record->source_line;
		placed.offset = record->source_offset;
	}
	if (lost && cli->trace)
		tr_trace_lost(cli->trace, record);
	tr_cli_report(cli, &placed);
}

void tr_cli_remark(struct tr_cli *cli, const struct tr_record *record, enum tr_cause cause,
		   enum tr_severity severity, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, cause, format, args);
	va_end(args);
	err.severity = severity;
	if (record)
		tr_cli_report_record(cli, record, &err, false);
	else
		tr_cli_report(cli, &err);
}

bool tr_cli_abort(struct tr_cli *cli, const struct tr_error *err)
{
	tr_cli_report(cli, err);
	tr_cli_abandon(cli);
	return false;
}

bool tr_cli_out_of_memory(struct tr_cli *cli)
{
	struct tr_error err;

	tr_error_memory(&err);
	return tr_cli_abort(cli, &err);
}

void tr_cli_fail(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_NONE, format, args);
	va_end(args);
	tr_cli_message_of(cli, NULL, &err);
}

void tr_cli_note(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_NONE, format, args);
	va_end(args);
	tr_error_is_note(&err);
	tr_cli_message_of(cli, NULL, &err);
}

void tr_cli_nothing_shown(struct tr_cli *cli, const struct tr_unsupported_kinds *kinds,
			  const char *shows, const char *style)
{
	char list[TR_ERROR_TEXT / 2];

	tr_unsupported_list(kinds, list, sizeof list);
	tr_cli_fail(cli, "no %s here, only other records: %s%s%s", shows, list,
		    style ? "; try --style=" : "", style ? style : "");
	tr_cli_abandon(cli);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Shows as much of the text's line as fits on one line of the terminal, and a caret under a byte
 * of it. The position of the caret is counted in characters of the escaped text, not in bytes.
 */
static void show_caret(struct tr_cli *cli, struct tr_text text, size_t column)
{
	enum { INDENT = 2, BEFORE = 50, AFTER = 25 };
	struct tr_buffer *to = &cli->private->message;
	const char *end = text.data + text.len, *at = text.data + column - 1, *p = at, *rest = at;

	while (p > text.data && p[-1] != '\n' && (at - p < BEFORE || is_continuation(*p)))
		p--;
	while (rest < end && *rest != '\n' && (rest - at < AFTER || is_continuation(*rest)))
		rest++;
	tr_buffer_reset(to);
	tr_buffer_put(to, "  ", INDENT);
	escape(tr_text_span(p, at), to);
	size_t width = 0;
	for (size_t i = 0; i < to->len; i++)
		width += !is_continuation(to->data[i]);
	escape(tr_text_span(at, rest), to);
	tr_buffer_put_byte(to, '\n');
	for (size_t i = 0; i < width; i++)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_literal(to, "^\n");
	if (!to->failed)
		say(cli, tr_buffer_text(to));
}

/*
 * Prints a usage error and stops; of several usage errors only the first is printed. text (data
 * NULL: none) is shown with a caret under the byte at that column.
 */
static bool fail_usage(struct tr_cli *cli, const struct tr_error *err, struct tr_text text,
		       size_t column)
{
	bool first = !cli->stop;

	if (first) {
		print_line(cli, NULL, err, false);
		if (text.data)
			show_caret(cli, text, column);
		fprintf(stderr, "Try '%s --help' for more.\n", cli->tool->name);
	}
	tr_cli_status(cli, 2);
	cli->stop = cli->private->discard = true;
	if (first)
		log_trouble(cli, NULL, err);
	return false;
}

bool tr_cli_usage(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	return fail_usage(cli, &err, (struct tr_text){ NULL, 0 }, 0);
}

bool tr_cli_unknown(struct tr_cli *cli, const char *what, struct tr_text word,
		    const struct tr_similar *similar, const char *hint)
{
	struct tr_text found = similar->found;

	if (!found.len)
		return tr_cli_usage(cli, "unknown %s '%.*s'%s", what, (int)word.len, word.data,
				    hint);
	return tr_cli_usage(cli, "unknown %s '%.*s'; similar: %.*s", what, (int)word.len, word.data,
			    (int)found.len, found.data);
}

bool tr_cli_usage_at(struct tr_cli *cli, struct tr_text text, size_t column, const char *format,
		     ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	return fail_usage(cli, &err, text, column);
}

void tr_cli_status(struct tr_cli *cli, int status)
{
	if (status > cli->status)
		cli->status = status;
}
