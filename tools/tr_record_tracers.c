/* SPDX-License-Identifier: MIT */
/*
 * The straces of --backend=auto. A process that is about to run a program that cannot load the
 * library asks for a strace, and waits until that watches the process and everything that it
 * starts. Each strace writes a log of its own, whose lines are inserted into the log of the library
 * by their time.
 */

#include "tr_record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/decode.h"
#include "preload/journal.h"

enum {
	CHUNK = 1 << 20, /* bytes that are read at once, and then freed on disk */
	TROUBLE = 2,
};

/* The logs contain lines of a process, or only the call that created it. */
static const char reported[] = "reported", created[] = "created";

/* A strace that watches a process and everything that it starts. */
struct tr_tracer {
	pid_t pid;     /* of strace; 0: it has ended */
	uint32_t root; /* the process */
	int log;
	off_t read, freed;	/* offsets in the log up to which it was read, and freed */
	bool more;		/* there may be more to read */
	struct tr_buffer lines; /* of the log, as far as it was read */
	size_t used;		/* bytes of lines that were inserted */
	uint64_t next;		/* the time of the line after these; 0: not read yet */
	bool known;		/* the records of the library contain the process */
	bool begun, dropped;	/* the process has called exec; it is no longer watched */
	bool killed;		/* the process was killed before it called exec */
	bool entering;		/* its first exec has not returned, and ends its other threads */
	struct tr_buffer begin; /* the last exec in another thread, as a call of the process */
	char path[PATH_MAX];
};

static void end_tracer(struct tr_tracer *tracer)
{
	close(tracer->log);
	unlink(tracer->path);
	tr_buffer_free(&tracer->lines);
	tr_buffer_free(&tracer->begin);
}

/* Makes the pipe for messages, which never blocks the straces. */
static bool make_messages(struct tr_tracers *tracers)
{
	return tracers->messages[1] || pipe2(tracers->messages, O_CLOEXEC | O_NONBLOCK) == 0;
}

/* Counts the lines that could not be written to a log: strace prints a message for each. */
static void read_messages(struct tr_tracers *tracers)
{
	struct tr_buffer *message = &tracers->message;
	while (tracers->messages[1]) {
		char *room = tr_buffer_room(message, PIPE_BUF);
		ssize_t n = room ? read(tracers->messages[0], room, PIPE_BUF) : -1;
		if (n <= 0)
			return;
		tr_buffer_used(message, (size_t)n);
		char *p = message->data, *end = p + message->len;
		for (char *lf; p < end && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
			tracers->lost += memmem(p, (size_t)(lf - p), tracers->directory,
						strlen(tracers->directory)) != NULL;
		message->len = (size_t)(end - p);
		memmove(message->data, p, message->len);
	}
}

/* Starts a strace for a process that waits for it. */
static void attach(struct tr_tracers *tracers, uint32_t root)
{
	struct tr_tracer tracer = { .root = root };

	if (!make_messages(tracers) ||
	    !tr_array_room(tracers->list, tracers->count, tracers->cap) ||
	    snprintf(tracer.path, PATH_MAX, "%s/strace-%zu", tracers->directory, tracers->made++) >=
		    PATH_MAX ||
	    (tracer.log = open(tracer.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0) {
		tracers->page->refused = root;
		return;
	}
	tracer.pid = fork();
	if (tracer.pid == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
		dup2(tracers->messages[1], STDERR_FILENO);
		setsid(); /* it gets no signals of the terminal */
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &tracers->signals, NULL);
		tr_strace_attach(tracer.path, (pid_t)root, tracers->decode->calls != NULL);
		_exit(TROUBLE);
	}
	if (tracer.pid < 0) {
		tracers->page->refused = root;
		end_tracer(&tracer);
		return;
	}
	tracers->list[tracers->count++] = tracer;
}

/* Ends a strace that need not watch its process, and ignores the rest of its log. */
static void detach(struct tr_tracers *tracers, uint32_t root)
{
	for (size_t i = 0; i < tracers->count; i++) {
		struct tr_tracer *tracer = &tracers->list[i];
		if (tracer->root != root || !tracer->pid)
			continue;
		tracer->dropped = true;
		kill(tracer->pid, SIGTERM);
	}
}

void tr_tracers_serve(struct tr_tracers *tracers)
{
	struct tr_buffer *attached = &tracers->decode->attach;
	struct tr_buffer *detached = &tracers->decode->detach;
	uint32_t pid;

	for (size_t at = 0; at + sizeof pid <= attached->len; at += sizeof pid) {
		memcpy(&pid, attached->data + at, sizeof pid);
		attach(tracers, pid);
	}
	for (size_t at = 0; at + sizeof pid <= detached->len; at += sizeof pid) {
		memcpy(&pid, detached->data + at, sizeof pid);
		detach(tracers, pid);
	}
	tr_buffer_reset(attached);
	tr_buffer_reset(detached);
}

static bool is_exec(struct tr_text line)
{
	return memmem(line.data, line.len, " execve(", 8) ||
	       memmem(line.data, line.len, " execveat(", 10);
}

static bool is_superseded(struct tr_text line)
{
	return memmem(line.data, line.len, " +++ superseded by ", 19);
}

/* Searches for the first exec. A thread that calls it continues under the pid of the process. */
static void find_begin(struct tr_tracer *tracer, uint64_t pid, struct tr_text line)
{
	if (pid == tracer->root) {
		tracer->killed = memmem(line.data, line.len, " +++ killed by ", 15);
		tracer->begun = tracer->killed || is_exec(line);
		if (!tracer->begin.len || !is_superseded(line))
			return;
		tracer->begun = true;
		tr_buffer_put_text(&tracer->lines, tr_buffer_text(&tracer->begin));
	} else if (is_exec(line)) {
		const char *rest = memchr(line.data, ' ', line.len), *end = line.data + line.len;
		tr_buffer_reset(&tracer->begin);
		tr_buffer_put_decimal(&tracer->begin, tracer->root);
		tr_buffer_put_text(&tracer->begin, tr_text_span(rest, end));
		tr_buffer_put_byte(&tracer->begin, '\n');
	}
}

/*
 * True if the line is the end of a thread that the first exec ends, whose beginning is not in the
 * log. begins: this is the first line that is used.
 */
static bool ends_thread(struct tr_tracer *tracer, uint64_t pid, struct tr_text line, bool begins)
{
	static const char end[] = " +++ ", open[] = " <unfinished ...>";

	if (pid != tracer->root)
		return tracer->entering && memmem(line.data, line.len, end, sizeof end - 1);
	tracer->entering =
		begins && memmem(line.data, line.len, open, sizeof open - 1) && is_exec(line);
	if (!tracer->begin.len)
		return false;
	tr_buffer_reset(&tracer->begin);
	return is_superseded(line); /* by the thread whose call begins the lines */
}

/* Returns the process that the call in the line has created; 0: none. */
static uint64_t created_in(struct tr_text line)
{
	static const char *const calls[] = { " clone", " fork", " vfork" };
	const char *result = memrchr(line.data, '=', line.len);
	char *rest = NULL;
	uint64_t pid = result ? strtoul(result + 1, &rest, 10) : 0;

	if (pid && strncmp(rest, " /* ", 4) == 0) /* the pid in the namespace of strace */
		pid = strtoul(rest + 4, NULL, 10);

	for (size_t i = 0; pid && i < sizeof calls / sizeof *calls; i++)
		if (memmem(line.data, line.len, calls[i], strlen(calls[i])))
			return pid;
	return 0;
}

static void remember(struct tr_tracers *tracers, uint64_t pid, const char *how)
{
	const void *known = tr_id_map_get(&tracers->known, pid);

	if (pid && known != reported && known != how)
		tracers->incomplete |= !tr_id_map_put(&tracers->known, pid, (char *)how);
}

/*
 * Takes the complete lines of a log, beginning with the first exec: the calls before that are those
 * of the library. Of a process that is killed before, only the end is taken.
 */
static void take_lines(struct tr_tracers *tracers, struct tr_tracer *tracer, const char *p,
		       const char *end)
{
	for (const char *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		uint64_t pid = strtoul(p, NULL, 10);
		struct tr_text line = { p, (size_t)(lf - p) };
		bool begun = tracer->begun;
		if (!begun)
			find_begin(tracer, pid, line);
		if (!tracer->begun || ends_thread(tracer, pid, line, !begun))
			continue;
		tr_buffer_put(&tracer->lines, p, line.len + 1);
		remember(tracers, pid, reported);
	}
	tracers->incomplete |= tracer->lines.failed || tracer->begin.failed;
}

/* Reads the log of a strace. */
static void read_log(struct tr_tracers *tracers, struct tr_tracer *tracer)
{
	struct tr_buffer part = TR_BUFFER_INIT;
	ssize_t n;

	do {
		char *room = tr_buffer_room(&part, CHUNK);
		n = room ? pread(tracer->log, room, CHUNK, tracer->read + (off_t)part.len) : -1;
		if (n > 0)
			tr_buffer_used(&part, (size_t)n);
	} while (n > 0 && (part.len < 8 * CHUNK || !memrchr(part.data, '\n', part.len)));
	tracer->more = n > 0;
	tracers->incomplete |= n < 0;
	if (part.len && !tracer->read)
		unlink(tracer->path); /* strace has opened it */
	char *lf = part.len ? memrchr(part.data, '\n', part.len) : NULL;
	if (lf) {
		take_lines(tracers, tracer, part.data, lf + 1);
		tracer->read += lf + 1 - part.data;
	}
	if (tracer->read - tracer->freed >= CHUNK &&
	    fallocate(tracer->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, tracer->freed,
		      tracer->read - tracer->freed) == 0)
		tracer->freed = tracer->read;
	tr_buffer_free(&part);
}

/* Removes the lines that were inserted. */
static void compact(struct tr_tracer *tracer)
{
	struct tr_buffer *lines = &tracer->lines;

	memmove(lines->data, lines->data + tracer->used, lines->len - tracer->used);
	lines->len -= tracer->used;
	tracer->used = 0;
}

void tr_tracers_read(struct tr_tracers *tracers)
{
	read_messages(tracers);
	for (size_t i = 0; i < tracers->count; i++) {
		struct tr_tracer *tracer = &tracers->list[i];
		if (tracer->used)
			compact(tracer);
		read_log(tracers, tracer);
	}
}

/* Returns the time of the next line to insert; UINT64_MAX: none can be inserted yet. */
static uint64_t next_time(const struct tr_decode *decode, struct tr_tracer *tracer)
{
	char *p;

	tracer->known |= tr_decode_is_traced(decode, tracer->root);
	if (tracer->used == tracer->lines.len || !tracer->known || tracer->dropped)
		return UINT64_MAX;
	if (!tracer->next) {
		strtoul(tracer->lines.data + tracer->used, &p, 10); /* the process */
		uint64_t seconds = strtoull(p, &p, 10);
		tracer->next =
			seconds * 1000000000 + (*p == '.' ? strtoull(p + 1, NULL, 10) * 1000 : 0);
	}
	return tracer->next;
}

void tr_tracers_insert(void *context, uint64_t until, struct tr_buffer *out)
{
	struct tr_tracers *tracers = context;

	for (;;) {
		struct tr_tracer *first = NULL;
		uint64_t time = UINT64_MAX;
		for (size_t i = 0; i < tracers->count; i++) {
			uint64_t next = next_time(tracers->decode, &tracers->list[i]);
			if (next >= time || next > until)
				continue;
			first = &tracers->list[i];
			time = next;
		}
		if (!first)
			return;
		const char *line = first->lines.data + first->used;
		const char *lf = memchr(line, '\n', first->lines.len - first->used);
		tr_buffer_put_text(out, tr_text_span(line, lf + 1));
		remember(tracers, created_in(tr_text_span(line, lf)), created);
		first->used += (size_t)(lf + 1 - line);
		first->next = 0;
	}
}

bool tr_tracers_more(struct tr_tracers *tracers)
{
	size_t kept = 0;
	bool more = false;

	for (size_t i = 0; i < tracers->count; i++) {
		struct tr_tracer *tracer = &tracers->list[i];
		more |= tracer->more;
		bool unread = tracer->more || tracer->used < tracer->lines.len;
		if (tracer->pid || (unread && !tracer->dropped))
			tracers->list[kept++] = *tracer;
		else
			end_tracer(tracer);
	}
	tracers->count = kept;
	if (more)
		tr_tracers_read(tracers);
	return more;
}

bool tr_tracers_ended(struct tr_tracers *tracers, pid_t pid, int status)
{
	for (size_t i = 0; i < tracers->count; i++) {
		struct tr_tracer *tracer = &tracers->list[i];
		if (tracer->pid != pid)
			continue;
		tracer->pid = 0;
		read_log(tracers, tracer);
		tracer->known |= tr_decode_is_traced(tracers->decode, tracer->root);
		if (!tracer->begun)
			tracers->page->refused = tracer->root;
		/* it was killed, or ended before it saw the exec */
		if (!tracer->dropped && (tracer->begun ? status != 0 : tracer->known))
			tracers->incomplete = true;
		return true;
	}
	return false;
}

bool tr_tracers_saw(const struct tr_tracers *tracers, pid_t pid)
{
	return tr_id_map_get(&tracers->known, (uint64_t)pid) == reported;
}

bool tr_tracers_saw_created(const struct tr_tracers *tracers, pid_t pid)
{
	return tr_id_map_get(&tracers->known, (uint64_t)pid);
}

void tr_tracers_free(struct tr_tracers *tracers)
{
	for (size_t i = 0; i < tracers->count; i++) {
		struct tr_tracer *tracer = &tracers->list[i];
		if (tracer->pid) /* the processes continue */
			kill(tracer->pid, SIGTERM);
		/* unless the library has reported the end as that of any other process */
		tracers->incomplete |= !tracer->dropped && (tracer->known || !tracer->killed) &&
				       tracer->used < tracer->lines.len;
		end_tracer(tracer);
	}
	read_messages(tracers);
	if (tracers->messages[1]) {
		close(tracers->messages[0]);
		close(tracers->messages[1]);
	}
	tr_buffer_free(&tracers->message);
	tr_id_map_free(&tracers->known);
	free(tracers->list);
}
