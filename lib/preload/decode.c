/* SPDX-License-Identifier: MIT */
/*
 * Follows processes by the records of the journal (take), and writes what strace would have printed
 * (the put_ functions). The order of records is not that of the events: a child may report before
 * its parent, and the status of an exit may be followed by another one. So lines of some events
 * wait, in struct announced and struct tr_decode_process, until a later record decides.
 */
#include "preload/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/journal.h"

enum {
	LARGEST = 1 << 30,    /* bytes of a record */
	ENOUGH = 1 << 20,     /* bytes of lines after which the caller writes them */
	SETTLED = 1000000000, /* nanoseconds after which the status of an exit is final */
};

/* An announced program that starts in a process that libc creates. */
struct announced {
	uint64_t token, time;
	uint32_t parent, child; /* child 0: unknown */
	unsigned flags;
	bool started;	       /* its lines were written */
	struct tr_buffer tail; /* the rest of its line, after the directory */
	struct tr_buffer cwd;
	struct tr_buffer files;
	struct tr_buffer actions; /* calls of libc in its process before it begins: records */
};

struct tr_decode_process {
	uint32_t pid, parent; /* parent 0: unknown */
	bool open;	      /* its exec has begun, and whether it succeeded is unknown */
	bool dead;	      /* its end was written, but its parent has not reported it */
	bool exiting;	      /* its status may still change */
	bool traced;	      /* strace watches it */
	bool loaded;	      /* it has the library, unless its open exec succeeded */
	bool orphan;	      /* its parent is unknown, and it has run no program yet */
	bool early;	      /* its parent is not known yet, so its fork was not written */
	bool flagged;	      /* it reported that its program makes system calls itself */
	bool unwatched;	      /* the processes that it started may be missing */
	unsigned outsiders;   /* number of its children in other pid namespaces */
	int filter;	      /* how it has set a filter, as in put_filter; 0: it has not */
	uint64_t filter_time;
	unsigned flags;		/* of the open exec */
	uint64_t token;		/* of the open exec */
	uint64_t line;		/* of the open exec */
	unsigned note;		/* TR_DECODE_ flags of that line */
	struct announced *runs; /* the program that it was created to run; NULL once written */
	char *cwd;		/* NULL: unknown */
	int status;		/* of the exit, as from wait(2) */
	uint64_t time;		/* of the exit */
	uint64_t created;	/* the time, if it is early */
	struct tr_decode_process *earlier, *later; /* in the order of their exits, while exiting */
};

/* A record of the journal, whose strings are in the data. */
struct item {
	struct tr_journal_record head;
	const char *cwd, *path; /* "" if they are absent */
	const char *lists;	/* the first argument */
	struct tr_text files;	/* names and contents, each with a NUL */
};

/* Lines. */

static void put_format(struct tr_buffer *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put_format(struct tr_buffer *out, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	int len = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (len > 0)
		tr_buffer_put(out, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
}

static void put_time(struct tr_buffer *out, uint32_t pid, uint64_t time)
{
	char fraction[10];
	uint64_t rest = time % 1000000000;

	for (int i = 9; i > 0; i--, rest /= 10)
		fraction[i] = (char)('0' + rest % 10);
	fraction[0] = '.';
	tr_buffer_put_decimal(out, pid);
	tr_buffer_put_byte(out, ' ');
	tr_buffer_put_decimal(out, time / 1000000000);
	tr_buffer_put(out, fraction, sizeof fraction);
	tr_buffer_put_byte(out, ' ');
}

static const char *put_strings(struct tr_buffer *out, const char *strings, uint32_t count)
{
	tr_buffer_put_byte(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		tr_buffer_put_text(out, i ? TR_TEXT(", \"") : TR_TEXT("\""));
		tr_print_escaped(out, strings);
		tr_buffer_put_byte(out, '"');
		strings += strlen(strings) + 1;
	}
	tr_buffer_put_byte(out, ']');
	return strings;
}

/* Appends the part of the line of an exec that follows the directory. */
static void put_tail(struct tr_buffer *out, const struct item *item)
{
	const char *strings;

	tr_buffer_put_literal(out, ">, \"");
	tr_print_escaped(out, item->path);
	tr_buffer_put_literal(out, "\", ");
	strings = put_strings(out, item->lists, item->head.argc);
	tr_buffer_put_literal(out, ", ");
	put_strings(out, strings, item->head.envc);
	tr_buffer_put_literal(out, ", 0");
}

/* Appends an exec with its directory, which the reader takes as the directory of the task. */
static void put_exec(struct tr_buffer *out, uint32_t pid, uint64_t time, const char *cwd)
{
	put_time(out, pid, time);
	tr_buffer_put_literal(out, "execveat(AT_FDCWD<");
	tr_print_escaped(out, cwd);
}

static void put_resumed(struct tr_buffer *out, uint32_t pid, uint64_t time, int error)
{
	put_time(out, pid, time);
	tr_buffer_put_literal(out, "<... execveat resumed>) = ");
	tr_print_result(out, error);
}

static void put_chdir(struct tr_buffer *out, uint32_t pid, uint64_t time, const char *path,
		      int error)
{
	put_time(out, pid, time);
	tr_buffer_put_literal(out, "chdir(\"");
	tr_print_escaped(out, path);
	tr_buffer_put_literal(out, "\") = ");
	tr_print_result(out, error);
}

static void put_end(struct tr_buffer *out, uint32_t pid, uint64_t time, int status)
{
	const char *name;

	put_time(out, pid, time);
	if (!WIFSIGNALED(status)) {
		put_format(out, "+++ exited with %d +++\n", WEXITSTATUS(status));
		return;
	}
	name = sigabbrev_np(WTERMSIG(status));
	if (name)
		put_format(out, "+++ killed by SIG%s", name);
	else
		put_format(out, "+++ killed by SIGRT_%d", WTERMSIG(status) - 32);
	tr_buffer_put_text(out,
			   WCOREDUMP(status) ? TR_TEXT(" (core dumped) +++\n") : TR_TEXT(" +++\n"));
}

/* Counts the lines in out, and returns the number of the next one. */
static uint64_t next_line(struct tr_decode *decode, const struct tr_buffer *out)
{
	const char *p = out->data + decode->counted, *end = out->data + out->len;

	for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		decode->lines++;
	decode->counted = out->len;
	return decode->lines + 1;
}

static void put_note(struct tr_decode *decode, uint64_t line, unsigned flags, struct tr_text files)
{
	struct tr_decode_note note = {
		.line = line,
		.len = (uint32_t)files.len,
		.flags = flags,
	};

	if (!note.len && !note.flags)
		return;
	tr_buffer_put(&decode->notes, (const char *)&note, sizeof note);
	tr_buffer_put(&decode->notes, files.data, files.len);
	decode->out_of_memory |= decode->notes.failed;
}

/* Returns the TR_DECODE_ flag for a program that was announced with these flags. */
static unsigned flag_of(unsigned flags)
{
	return flags & (TR_JOURNAL_STATIC | TR_JOURNAL_CLOSED | TR_JOURNAL_BYPASS)
		       ? TR_DECODE_UNWATCHED
		       : 0;
}

/* Returns the TR_DECODE_ flag for the first program of a process whose parent is unknown. */
static unsigned orphan_flag(struct tr_decode_process *process)
{
	bool orphan = process && process->orphan;

	if (process)
		process->orphan = false;
	return orphan ? TR_DECODE_ORPHAN : 0;
}

/* Processes. */

static struct tr_decode_process *find(const struct tr_decode *decode, uint32_t pid)
{
	return tr_id_map_get(&decode->processes, pid);
}

static struct tr_decode_process *add(struct tr_decode *decode, uint32_t pid)
{
	struct tr_decode_process *process = calloc(1, sizeof *process);

	if (!process || !tr_id_map_put(&decode->processes, pid, process)) {
		decode->out_of_memory = true;
		free(process);
		return NULL;
	}
	process->pid = pid;
	return process;
}

/* Takes a process out of the list of those whose status may still change. */
static void stop_exiting(struct tr_decode *decode, struct tr_decode_process *process)
{
	if (!process->exiting)
		return;
	*(process->earlier ? &process->earlier->later : &decode->first_exit) = process->later;
	*(process->later ? &process->later->earlier : &decode->last_exit) = process->earlier;
	process->exiting = false;
}

static void free_process(struct tr_decode_process *process)
{
	free(process->cwd);
	free(process);
}

/* Frees a process, whose number may be used again. */
static void forget(struct tr_decode *decode, struct tr_decode_process *process)
{
	stop_exiting(decode, process);
	decode->early -= process->early;
	tr_id_map_take(&decode->processes, process->pid);
	free_process(process);
}

/* Directories are tracked, because calls have paths that are relative to them. */
static void set_cwd(struct tr_decode *decode, struct tr_decode_process *process, const char *cwd)
{
	if (!decode->calls || !process)
		return;
	free(process->cwd);
	process->cwd = cwd && *cwd == '/' ? strdup(cwd) : NULL;
}

static const char *cwd_of(const struct tr_decode_process *process)
{
	return process && process->cwd ? process->cwd : "";
}

static void free_announced(struct announced *program)
{
	tr_buffer_free(&program->tail);
	tr_buffer_free(&program->cwd);
	tr_buffer_free(&program->files);
	tr_buffer_free(&program->actions);
	free(program);
}

/* Frees an announced program, which no later record concerns. */
static void release(struct tr_decode *decode, struct announced *program)
{
	tr_id_map_take(&decode->announced, program->token);
	free_announced(program);
}

/*
 * Forgets where the path leads, because a call has changed it. below: the descriptor of the call.
 */
static void change_name(struct tr_links *links, const char *cwd, int below, const char *path)
{
	if (below == AT_FDCWD || *path == '/')
		tr_links_changed(links, cwd, path);
	else
		tr_links_changed_somewhere(links, path);
}

/* Forgets the links that a call may have changed. */
static void follow_links(struct tr_links *links, const struct tr_call_record *call, const char *cwd)
{
	const char *first = tr_call_string(call, 0), *second = tr_call_string(call, 1);
	bool at = call->kind == TR_CALL_RENAMEAT || call->kind == TR_CALL_RENAMEAT2;

	switch (call->kind) {
	case TR_CALL_RENAME:
	case TR_CALL_RENAMEAT:
	case TR_CALL_RENAMEAT2:
		change_name(links, cwd, at ? call->fd : AT_FDCWD, first);
		change_name(links, cwd, at ? call->other : AT_FDCWD, second);
		break;
	case TR_CALL_SYMLINK:
		tr_links_made(links, cwd, second, first);
		break;
	case TR_CALL_SYMLINKAT:
		if (call->fd == AT_FDCWD || *second == '/')
			tr_links_made(links, cwd, second, first);
		else
			tr_links_changed_somewhere(links, second);
		break;
	case TR_CALL_UNLINK:
	case TR_CALL_RMDIR:
		tr_links_changed(links, cwd, first);
		break;
	case TR_CALL_UNLINKAT:
		if (call->fd == AT_FDCWD || *first == '/')
			tr_links_changed(links, cwd, first);
		else
			tr_links_removed_somewhere(links, first);
		break;
	}
}

/* Appends the lines of a file call. */
static void put_call(struct tr_decode *decode, const struct tr_call_record *call, uint32_t pid,
		     const char *cwd, struct tr_buffer *out)
{
	struct tr_buffer *prefix = &decode->prefix;
	const char *real = NULL;

	tr_buffer_reset(prefix);
	put_time(prefix, pid, call->time);
	decode->out_of_memory |= prefix->failed;
	if (!call->error && call->strings) {
		bool opens = call->kind == TR_CALL_OPENAT || call->kind == TR_CALL_CREAT ||
			     call->kind == TR_CALL_LOAD;
		real = tr_call_string(call, 1);
		if (opens && !real && call->fd == AT_FDCWD &&
		    (call->flags & O_TMPFILE) != O_TMPFILE)
			real = tr_links_resolve(&decode->links, cwd, tr_call_string(call, 0),
						!(call->flags & O_NOFOLLOW));
		if (!opens)
			follow_links(&decode->links, call, cwd);
	}
	tr_call_print(call, tr_buffer_text(prefix), cwd, real, out);
}

/* Appends the calls of libc in the process before the program began. */
static void put_actions(struct tr_decode *decode, const struct announced *program, const char *cwd,
			struct tr_buffer *out)
{
	const char *action = program->actions.data;

	for (size_t left = program->actions.len; left;) {
		const struct tr_call_record *call = (const void *)action;
		put_call(decode, call, program->child, cwd, out);
		action += call->length;
		left -= call->length;
	}
}

/* Writes the exec of an announced program in the process that libc has created for it. */
static void put_whole(struct tr_decode *decode, struct announced *program, const char *cwd,
		      struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, program->child);

	put_actions(decode, program, program->cwd.data, out);
	set_cwd(decode, process, cwd);
	put_note(decode, next_line(decode, out), flag_of(program->flags) | orphan_flag(process),
		 tr_buffer_text(&program->files));
	put_exec(out, program->child, program->time, cwd);
	tr_buffer_put_text(out, tr_buffer_text(&program->tail));
	tr_buffer_put_literal(out, ") = 0\n");
	program->started = true;
	if (process)
		process->loaded = false; /* until the program reports itself */
}

/* Calls that set a filter. */
enum { BY_SECCOMP = 1, BY_PRCTL = 2, STRICTLY = 4 };

/* Notes that the process filters system calls, and that what it starts from now on is unknown. */
static void put_filter(struct tr_decode *decode, struct tr_decode_process *process,
		       struct tr_buffer *out)
{
	const char *mode = process->filter & STRICTLY ? "STRICT" : "FILTER";

	put_note(decode, next_line(decode, out), TR_DECODE_UNWATCHED, TR_TEXT(""));
	put_time(out, process->pid, process->filter_time);
	if (process->filter & BY_PRCTL)
		put_format(out, "prctl(PR_SET_SECCOMP, SECCOMP_MODE_%s) = 0\n", mode);
	else
		put_format(out, "seccomp(SECCOMP_SET_MODE_%s, 0) = 0\n", mode);
	decode->filtered++;
	process->filter = 0;
	process->loaded = false;
}

/* Completes the open exec: it succeeded, because the process has done something since. */
static void touch_known(struct tr_decode *decode, struct tr_decode_process *process,
			struct tr_buffer *out)
{
	struct announced *program = process->runs;

	if (process->open) {
		put_resumed(out, process->pid, decode->now, 0);
		process->loaded = false;
	}
	process->open = false;
	if (process->filter)
		put_filter(decode, process, out);
	if (program) {
		put_whole(decode, program, program->cwd.data, out);
		process->runs = NULL;
		release(decode, program);
	}
}

static void put_created(struct tr_buffer *out, uint32_t parent, uint32_t child, uint64_t time,
			const char *call)
{
	put_time(out, parent, time);
	put_format(out, "%s = %" PRIu32 "\n", call, child);
}

/* Writes the forks of children that reported before their parent, which waited in vfork. */
static void put_early(struct tr_decode *decode, uint32_t parent, struct tr_buffer *out)
{
	struct tr_decode_process *child;

	for (size_t i = 0;
	     decode->early && (child = tr_id_map_next(&decode->processes, &i)) != NULL;) {
		if (!child->early || child->parent != parent)
			continue;
		child->early = false;
		decode->early--;
		put_created(out, parent, child->pid, child->created, "vfork()");
	}
}

/* Writes that a process was created by that call, and sets the parent of the child. */
static void put_fork(struct tr_decode *decode, uint32_t parent, uint32_t child, uint64_t time,
		     const char *call, struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, parent), *created = find(decode, child);

	if (created) {
		created->parent = parent;
		created->loaded = !process || process->loaded;
	}
	set_cwd(decode, created, process ? process->cwd : NULL);
	if (!decode->first) {
		decode->first = child;
		decode->recorder = parent;
	}
	if (process && !process->dead) {
		touch_known(decode, process, out);
		put_created(out, parent, child, time, call);
	} else if (created && (process || parent == decode->recorder)) { /* or it was adopted */
		created->orphan = child != decode->first;
	} else if (created) {
		created->early = true;
		created->created = time;
		decode->early++;
	}
	put_early(decode, child, out);
}

/* Flags the next line, the end of the process, if children of it may be unknown. */
static void note_end(struct tr_decode *decode, const struct tr_decode_process *process,
		     struct tr_buffer *out)
{
	if (process->unwatched)
		put_note(decode, next_line(decode, out), TR_DECODE_UNWATCHED, TR_TEXT(""));
}

/* Writes the end of a process that exits: its status will not change any more. */
static void settle(struct tr_decode *decode, struct tr_decode_process *process,
		   struct tr_buffer *out)
{
	if (!process->exiting)
		return;
	note_end(decode, process, out);
	put_end(out, process->pid, process->time, process->status);
	stop_exiting(decode, process);
	process->dead = true;
}

/* Writes an end without its status and time, which are unknown. */
static void put_unknown_end(struct tr_decode *decode, uint32_t pid, struct tr_buffer *out)
{
	decode->unnoticed++;
	put_note(decode, next_line(decode, out), TR_DECODE_END_UNKNOWN, TR_TEXT(""));
	put_end(out, pid, decode->now, 0);
}

/* Ends the old process if a new one has its number. */
static struct tr_decode_process *replace(struct tr_decode *decode, uint32_t pid,
					 struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, pid);

	if (process && process->traced) {
		forget(decode, process);
	} else if (process) {
		touch_known(decode, process, out);
		settle(decode, process, out);
		if (!process->dead)
			put_unknown_end(decode, pid, out);
		forget(decode, process);
	}
	return add(decode, pid);
}

/* Returns the process of a record, which is new here if vfork or clone created it. */
static struct tr_decode_process *touch(struct tr_decode *decode, const struct item *item,
				       struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct tr_decode_process *process = find(decode, head->pid);

	if (process && !process->dead && !process->exiting) {
		touch_known(decode, process, out);
		process->loaded = true;
		return process;
	}
	process = replace(decode, head->pid, out);
	if (process) {
		put_fork(decode, head->ppid, head->pid, head->time, "vfork()", out);
		process->loaded = true;
	}
	return process;
}

/* Ends a process whose wait status its parent has reported; parent 0: the recorder has. */
static void end(struct tr_decode *decode, uint32_t parent, uint32_t pid, int status,
		struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, pid);

	if (!process && parent) { /* it was killed before it did anything */
		process = add(decode, pid);
		put_fork(decode, parent, pid, decode->now, "vfork()", out);
	}
	if (process && process->traced)
		forget(decode, process);
	if (!process || !find(decode, pid))
		return;
	/* it reported neither itself nor that the exec failed */
	if (process->open && !flag_of(process->flags)) {
		decode->opaque++;
		put_note(decode, process->line, process->note | TR_DECODE_UNWATCHED, TR_TEXT(""));
	}
	if (process->runs && !flag_of(process->runs->flags)) {
		decode->opaque++;
		process->runs->flags |= TR_JOURNAL_CLOSED;
	}
	touch_known(decode, process, out);
	/* functions of libc report the end of a process before it ends */
	if (process->loaded && !process->exiting && !process->dead && WIFEXITED(status)) {
		struct tr_decode_process *creator = find(decode, process->parent);
		process->unwatched = true;
		if (creator && creator->outsiders)
			creator->outsiders--; /* this is one of these children */
		else
			decode->bypassing++;
	}
	if (!process->dead) {
		note_end(decode, process, out);
		put_end(out, pid, process->exiting ? process->time : decode->now, status);
	}
	if (process->runs)
		release(decode, process->runs);
	forget(decode, process);
}

/* Records. */

static uint64_t token_of(const struct tr_journal_record *head)
{
	return (uint64_t)head->token_pid << 32 | head->token;
}

/* Keeps an announced program until the process in which it starts is known. */
static void announce(struct tr_decode *decode, const struct item *item)
{
	struct announced *program = calloc(1, sizeof *program);

	if (!program || !tr_id_map_put(&decode->announced, token_of(&item->head), program)) {
		decode->out_of_memory = true;
		free(program);
		return;
	}
	program->token = token_of(&item->head);
	program->time = item->head.time;
	program->parent = item->head.pid;
	program->flags = item->head.flags;
	tr_buffer_put(&program->cwd, item->cwd, strlen(item->cwd) + 1);
	put_tail(&program->tail, item);
	tr_buffer_put_text(&program->files, item->files);
	decode->out_of_memory |=
		program->cwd.failed || program->tail.failed || program->files.failed;
}

static void take_exec(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct tr_decode_process *process;

	if (head->flags & TR_JOURNAL_IN_CHILD) {
		process = find(decode, head->pid);
		if (process)
			touch_known(decode, process, out);
		if (!tr_id_map_get(&decode->announced, token_of(head)))
			announce(decode, item);
		return;
	}
	process = touch(decode, item, out);
	if (!process)
		return;
	process->traced = head->flags & TR_JOURNAL_TRACED;
	process->token = token_of(head);
	if (process->traced)
		return;
	process->line = next_line(decode, out);
	process->note = flag_of(head->flags) | orphan_flag(process);
	put_note(decode, process->line, process->note, item->files);
	put_exec(out, head->pid, head->time, item->cwd);
	put_tail(out, item);
	tr_buffer_put_literal(out, " <unfinished ...>\n");
	process->open = true;
	process->loaded = true;
	process->flags = head->flags;
	process->token = token_of(head);
	set_cwd(decode, process, item->cwd);
}

/* Notes that the program of the process has reported itself. */
static void set_begun(struct tr_decode_process *process, const struct tr_journal_record *head)
{
	process->flagged = head->flags & TR_JOURNAL_BYPASS;
	process->loaded = !process->flagged;
}

/* Handles a program that has begun in the process that libc created for it. */
static void start(struct tr_decode *decode, struct announced *program, const struct item *item,
		  struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	bool whole = head->kind == TR_JOURNAL_FOREIGN && !(head->flags & TR_JOURNAL_STATIC);

	if (!program->child) {
		program->child = head->pid;
		if (replace(decode, head->pid, out))
			put_fork(decode, program->parent, head->pid, program->time,
				 "clone(child_stack=0x1, flags=CLONE_VM|CLONE_VFORK|SIGCHLD)", out);
	}
	if (whole) {
		tr_buffer_reset(&program->tail);
		put_tail(&program->tail, item);
	}
	tr_buffer_reset(&program->files);
	tr_buffer_put_text(&program->files, item->files);
	program->flags |= head->flags & TR_JOURNAL_BYPASS;
	put_whole(decode, program, item->cwd, out);
	struct tr_decode_process *process = find(decode, head->pid);
	if (process)
		set_begun(process, head);
	if (process && process->runs) {
		process->runs = NULL;
		release(decode, program);
	}
}

/*
 * Handles a program that only starts another one, which strace reports. The calls that libc made in
 * its process come first.
 */
static void take_starter(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct announced *program = tr_id_map_get(&decode->announced, token_of(head));
	struct tr_decode_process *process = touch(decode, item, out);

	if (!program)
		return; /* its announcement is lost, and counted as that */
	program->child = head->pid;
	if (*program->cwd.data) { /* libc has changed to it */
		set_cwd(decode, process, program->cwd.data);
		put_chdir(out, head->pid, head->time, program->cwd.data, 0);
	}
	put_actions(decode, program, cwd_of(process), out);
	release(decode, program);
}

/* Handles a program that has begun, announced or not. */
static void take_begin(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct announced *program = tr_id_map_get(&decode->announced, token_of(head));
	struct tr_decode_process *process = find(decode, head->pid);
	bool same = head->flags & TR_JOURNAL_SAME, bypasses = head->flags & TR_JOURNAL_BYPASS;

	decode->bypassing += bypasses;
	if (program && !program->started && (!program->child || program->child == head->pid) &&
	    (same || !(program->flags & TR_JOURNAL_STATIC))) {
		start(decode, program, item, out);
		return;
	}
	if (process && process->open && process->token == token_of(head)) {
		bool is_it = same || (process->flags & TR_JOURNAL_STATIC);
		/* execvp passes a file that the kernel cannot run to the shell */
		if (same)
			put_note(decode, process->line, process->note | flag_of(head->flags),
				 item->files);
		put_resumed(out, head->pid, head->time, is_it ? 0 : ENOEXEC);
		process->open = false;
		set_cwd(decode, process, item->cwd);
		set_begun(process, head);
		if (same)
			return;
	}
	if (head->kind == TR_JOURNAL_LOADED)
		return; /* its announcement is lost, and counted as that */
	process = touch(decode, item, out);
	if (!process)
		return;
	set_begun(process, head);
	set_cwd(decode, process, item->cwd);
	put_note(decode, next_line(decode, out),
		 (bypasses ? TR_DECODE_UNWATCHED : 0) | orphan_flag(process), item->files);
	put_exec(out, head->pid, head->time, item->cwd);
	put_tail(out, item);
	tr_buffer_put_literal(out, ") = 0\n");
}

static void take_failure(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct announced *program = tr_id_map_get(&decode->announced, token_of(head));
	struct tr_decode_process *process = find(decode, head->pid);

	if (program) {
		release(decode, program);
	} else if (process && process->open && process->token == token_of(head)) {
		put_resumed(out, head->pid, head->time, head->value);
		process->open = false;
	} else if (process && process->traced && process->token == token_of(head)) {
		process->traced = false; /* another program may be tried, or the process ends */
		tr_buffer_put(&decode->detach, (const char *)&head->pid, sizeof head->pid);
		decode->out_of_memory |= decode->detach.failed;
	}
}

static void take_spawn(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct announced *program = tr_id_map_get(&decode->announced, token_of(head));

	if (!program || !head->child)
		return;
	if (!program->started && !program->child) {
		struct tr_decode_process *process = replace(decode, head->child, out);
		program->child = head->child;
		put_fork(decode, program->parent, head->child, program->time,
			 "clone(child_stack=0x1, flags=CLONE_VM|CLONE_VFORK|SIGCHLD)", out);
		if (process && !(program->flags & (TR_JOURNAL_STATIC | TR_JOURNAL_CLOSED))) {
			process->runs = program; /* until it reports its directory */
			return;
		}
		put_whole(decode, program, program->cwd.data, out);
	}
	release(decode, program);
}

/* Notes that a process exits. The line is written later, because the status may still change. */
static void begin_exit(struct tr_decode *decode, struct tr_decode_process *process, int status,
		       uint64_t time)
{
	stop_exiting(decode, process); /* _exit after exit: the last status counts */
	process->status = status;
	process->time = time;
	process->exiting = true;
	process->later = NULL;
	process->earlier = decode->last_exit;
	*(decode->last_exit ? &decode->last_exit->later : &decode->first_exit) = process;
	decode->last_exit = process;
}

/*
 * Whether this is not the final report of an end: a process that traces others sees the ends of
 * threads, and of processes before their parent does.
 */
static bool is_traced_by(struct tr_decode *decode, const struct item *item)
{
	const struct tr_journal_record *head = &item->head;
	struct tr_decode_process *process = find(decode, head->child);

	if (process && process->parent == head->pid)
		return false;
	if (process && !process->exiting && !process->dead && !process->traced)
		begin_exit(decode, process, head->value, head->time);
	return true;
}

static void take_wait(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	uint32_t child = head->child;

	if (!child) { /* system and pclose do not know it */
		struct announced *program = tr_id_map_get(&decode->announced, token_of(head));
		if (!program)
			return;
		child = program->child;
		release(decode, program);
		if (!child)
			return;
	}
	touch(decode, item, out);
	if (!(head->flags & TR_JOURNAL_TRACED) || !is_traced_by(decode, item))
		end(decode, head->pid, child, head->value, out);
}

static void take_exit(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, item->head.pid);

	if (!process || !process->exiting)
		process = touch(decode, item, out);
	if (!process)
		return;
	process->unwatched = (item->head.flags & TR_JOURNAL_BYPASS) && !process->flagged;
	decode->bypassing += process->unwatched;
	begin_exit(decode, process, (item->head.value & 0xff) << 8, item->head.time);
}

/* Handles a fork, which the parent and the child report in any order. */
static void take_fork(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	bool by_parent = head->kind == TR_JOURNAL_FORKED;
	uint32_t parent = by_parent ? head->pid : head->ppid;
	uint32_t child = by_parent ? head->child : head->pid;
	struct tr_decode_process *process = find(decode, child);

	/* the child may have ended before its parent reports it */
	if (process && process->parent == parent &&
	    (by_parent || !(process->dead || process->exiting)))
		return;
	if (replace(decode, child, out))
		put_fork(decode, parent, child, head->time,
			 "clone(child_stack=NULL, "
			 "flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD)",
			 out);
}

/* Handles a process that reports nothing and was found between two that are known. */
static void take_ancestor(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct announced *program = tr_id_map_get(&decode->announced, token_of(head));
	struct tr_decode_process *process = find(decode, head->pid);

	if ((process && !process->dead && !process->exiting) || !replace(decode, head->pid, out))
		return;
	put_fork(decode, head->ppid, head->pid, head->time, "fork()", out);
	if (program && !program->child && program->parent == head->ppid) {
		program->child = head->pid; /* which its parent reports later */
		put_whole(decode, program, program->cwd.data, out);
	}
}

static void take_filter(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	struct tr_decode_process *process = touch(decode, item, out);

	if (!process)
		return;
	process->filter =
		(item->head.child ? BY_PRCTL : BY_SECCOMP) | (item->head.value ? 0 : STRICTLY);
	process->filter_time = item->head.time;
}

/* Counts a child in another pid namespace, where its number has no meaning here. */
static void take_outside(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, item->head.pid);

	if (!process || process->dead)
		return;
	touch_known(decode, process, out);
	process->outsiders++;
	put_note(decode, next_line(decode, out), TR_DECODE_UNWATCHED, TR_TEXT(""));
	put_time(out, process->pid, item->head.time);
	tr_buffer_put_literal(out, "clone(child_stack=NULL, flags=CLONE_NEWPID|SIGCHLD) = ?\n");
}

/* Handles a record of the journal. */
static void take(struct tr_decode *decode, const struct item *item, struct tr_buffer *out)
{
	const struct tr_journal_record *head = &item->head;
	struct tr_decode_process *process;

	decode->now = head->time;
	switch (head->kind) {
	case TR_JOURNAL_EXEC:
		decode->opaque += flag_of(head->flags) && !(head->flags & TR_JOURNAL_TRACED);
		take_exec(decode, item, out);
		break;
	case TR_JOURNAL_LOADED:
	case TR_JOURNAL_FOREIGN:
		if (head->flags & TR_JOURNAL_START)
			take_starter(decode, item, out);
		else
			take_begin(decode, item, out);
		break;
	case TR_JOURNAL_FAILED:
		take_failure(decode, item, out);
		break;
	case TR_JOURNAL_SPAWNED:
		take_spawn(decode, item, out);
		break;
	case TR_JOURNAL_FORK:
	case TR_JOURNAL_FORKED:
		take_fork(decode, item, out);
		break;
	case TR_JOURNAL_EXIT:
		take_exit(decode, item, out);
		break;
	case TR_JOURNAL_WAIT:
		take_wait(decode, item, out);
		break;
	case TR_JOURNAL_CHDIR:
		process = touch(decode, item, out);
		if (!head->value)
			set_cwd(decode, process, item->path);
		put_chdir(out, head->pid, head->time, item->cwd, head->value);
		break;
	case TR_JOURNAL_FCHDIR:
		process = touch(decode, item, out);
		if (!head->value)
			set_cwd(decode, process, item->cwd);
		put_time(out, head->pid, head->time);
		put_format(out, "fchdir(%" PRId32, (int32_t)head->child);
		if (!head->value) {
			tr_buffer_put_byte(out, '<');
			tr_print_escaped(out, item->cwd);
			tr_buffer_put_byte(out, '>');
		}
		tr_buffer_put_literal(out, ") = ");
		tr_print_result(out, head->value);
		break;
	case TR_JOURNAL_ATTACH:
		if (touch(decode, item, out))
			tr_buffer_put(&decode->attach, (const char *)&head->pid, sizeof head->pid);
		decode->out_of_memory |= decode->attach.failed;
		break;
	case TR_JOURNAL_FILTER:
		take_filter(decode, item, out);
		break;
	case TR_JOURNAL_UNFILTERED:
		process = find(decode, head->pid);
		if (process)
			process->filter = 0;
		break;
	case TR_JOURNAL_OUTSIDE:
		take_outside(decode, item, out);
		break;
	case TR_JOURNAL_ANCESTOR:
		take_ancestor(decode, item, out);
		break;
	default:
		decode->torn++;
	}
}

/* Handles a file call, which may be the first record of a child of vfork. */
static void take_call(struct tr_decode *decode, const struct tr_call_record *call,
		      struct tr_buffer *out)
{
	struct tr_decode_process *process = find(decode, call->pid);

	decode->now = call->time;
	if (call->token) {
		struct announced *program = tr_id_map_get(&decode->announced, call->token);
		if (program && !program->started)
			tr_buffer_put(&program->actions, (const char *)call, call->length);
		decode->out_of_memory |= program && program->actions.failed;
		return;
	}
	if (call->ppid && (!process || process->dead || process->exiting)) {
		process = replace(decode, call->pid, out);
		if (process)
			put_fork(decode, call->ppid, call->pid, call->time, "vfork()", out);
	}
	/* of a thread of a program that was replaced, or of an unknown process */
	if (!process || process->dead || process->open) {
		decode->unplaced++;
		return;
	}
	touch_known(decode, process, out);
	process->loaded = true;
	put_call(decode, call, call->pid, cwd_of(process), out);
}

/* Whether one of the lines may be a call that changes where a path leads. */
static bool may_change_names(const char *lines, size_t len)
{
	static const char *const calls[] = { " rename", " symlink", " unlink", " rmdir" };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (memmem(lines, len, calls[i], strlen(calls[i])))
			return true;
	return false;
}

/* Notes the ends of processes among the lines. */
static void note_traced(struct tr_decode *decode, uint64_t line, const char *p, const char *end)
{
	static const char mark[] = " +++";
	size_t len = sizeof mark - 1;

	for (const char *lf; p < end && (lf = memchr(p, '\n', (size_t)(end - p))) != NULL; line++) {
		if ((size_t)(lf - p) > len && memcmp(lf - len, mark, len) == 0)
			put_note(decode, line, TR_DECODE_TRACED, TR_TEXT(""));
		p = lf + 1;
	}
}

/* Lets the caller insert its lines up to that time. */
static void insert(struct tr_decode *decode, uint64_t until, struct tr_buffer *out)
{
	size_t before = out->len;

	if (!decode->insert)
		return;
	decode->insert(decode->context, until, out);
	if (out->len == before)
		return;
	size_t len = out->len;
	out->len = before;
	uint64_t line = next_line(decode, out);
	out->len = len;
	note_traced(decode, line, out->data + before, out->data + len);
	if (decode->calls && may_change_names(out->data + before, out->len - before))
		tr_links_clear(&decode->links);
}

/* Appends the file calls up to that time, until there are enough lines to write. */
static void take_calls(struct tr_decode *decode, uint64_t until, struct tr_buffer *out)
{
	const struct tr_call_record *call;

	while (out->len - decode->begun < ENOUGH &&
	       (call = tr_collect_next(decode->calls, until)) != NULL) {
		insert(decode, call->time, out);
		take_call(decode, call, out);
	}
	decode->more = out->len - decode->begun >= ENOUGH;
}

/* Reads the record at data. False: it is incomplete, or there is none. */
static bool read_record(const char *data, size_t len, struct item *item)
{
	struct tr_journal_record *head = &item->head;
	const char *p = data + sizeof *head, *end = data + len;
	uint64_t sum = tr_journal_sum_record(head);
	uint64_t lists = (uint64_t)head->argc + head->envc + head->files;

	if (head->strings < lists || head->strings - lists > 2)
		return false;
	item->cwd = item->path = "";
	item->lists = p;
	item->files = (struct tr_text){ p, 0 };
	for (uint32_t i = 0; i < head->strings; i++) {
		const char *nul = memchr(p, '\0', (size_t)(end - p));
		if (!nul)
			return false;
		sum = tr_journal_sum(sum, p, (size_t)(nul + 1 - p));
		if (i == 0 && head->strings > lists)
			item->cwd = p;
		if (i == 1 && head->strings == lists + 2)
			item->path = p;
		p = nul + 1;
		if (i + lists < head->strings)
			item->lists = p;
		if (i + 1 + head->files == head->strings)
			item->files.data = p;
	}
	item->files.len = (size_t)(end - item->files.data);
	return p == end && sum == head->checksum;
}

enum found { WHOLE, PART, NOTHING }; /* of a record */

/* Looks for a record at data, and fills item if it is whole. */
static enum found find_record(const struct tr_decode *decode, const char *data, size_t len,
			      struct item *item)
{
	struct tr_journal_record *head = &item->head;

	if (len < sizeof *head)
		return memcmp(data, &decode->mark, len < 4 ? len : 4) == 0 ? PART : NOTHING;
	memcpy(head, data, sizeof *head);
	if (head->mark != decode->mark || head->length < sizeof *head || head->length > LARGEST)
		return NOTHING;
	if (head->length > len)
		return PART;
	return read_record(data, head->length, item) ? WHOLE : NOTHING;
}

/* Returns the offset of the next whole record after the one at data; len: there is none. */
static size_t next_whole(const struct tr_decode *decode, const char *data, size_t len)
{
	struct item item;

	for (size_t at = 1; at < len; at++) {
		const char *found = memmem(data + at, len - at, &decode->mark, sizeof decode->mark);
		if (!found)
			break;
		at = (size_t)(found - data);
		if (find_record(decode, found, len - at, &item) == WHOLE)
			return at;
	}
	return len;
}

size_t tr_decode(struct tr_decode *decode, const char *data, size_t len, bool final,
		 struct tr_buffer *out)
{
	struct item item;
	size_t at = 0;

	decode->counted = decode->begun = out->len;
	decode->more = false;
	while (at < len && !decode->more) {
		if (find_record(decode, data + at, len - at, &item) == WHOLE) {
			if (decode->calls && item.head.time > decode->calls->horizon)
				break;
			if (decode->calls)
				take_calls(decode, item.head.time, out);
			if (decode->more)
				break;
			insert(decode, item.head.time, out);
			take(decode, &item, out);
			at += item.head.length;
			continue;
		}
		/*
		 * these bytes are no record, or not yet: if a whole record follows, they will not
		 * become one, because records are appended one after the other
		 */
		size_t next = next_whole(decode, data + at, len - at);
		if (next == len - at && !final)
			break;
		decode->torn++;
		at += next;
	}
	if (decode->calls && decode->read_all && !decode->more)
		take_calls(decode, decode->calls->horizon, out);
	while (decode->first_exit && decode->now - decode->first_exit->time > SETTLED &&
	       decode->now > decode->first_exit->time)
		settle(decode, decode->first_exit, out);
	next_line(decode, out);
	return at;
}

void tr_decode_ended(struct tr_decode *decode, uint32_t pid, int wait_status, uint64_t time,
		     bool created, struct tr_buffer *out)
{
	decode->counted = out->len;
	if (time > decode->now)
		decode->now = time;
	if (find(decode, pid)) {
		end(decode, 0, pid, wait_status, out);
	} else {
		uint64_t line = next_line(decode, out);
		if (!created)
			put_note(decode, line, TR_DECODE_ORPHAN, TR_TEXT(""));
		put_end(out, pid, decode->now, wait_status);
	}
	next_line(decode, out);
}

void tr_decode_flush(struct tr_decode *decode, struct tr_buffer *out)
{
	decode->counted = out->len;
	insert(decode, decode->calls ? decode->calls->horizon : UINT64_MAX, out);
	next_line(decode, out);
}

bool tr_decode_is_traced(const struct tr_decode *decode, uint32_t pid)
{
	const struct tr_decode_process *process = find(decode, pid);

	return process && process->traced;
}

bool tr_decode_knows(const struct tr_decode *decode, uint32_t pid)
{
	return find(decode, pid);
}

bool tr_decode_is_running(const struct tr_decode *decode, uint32_t pid)
{
	const struct tr_decode_process *process = find(decode, pid);

	return process && !process->dead && !process->exiting;
}

void tr_decode_finish(struct tr_decode *decode, bool ended, struct tr_buffer *out)
{
	struct tr_decode_process *process;

	decode->counted = out->len;
	while (decode->first_exit)
		settle(decode, decode->first_exit, out);
	for (size_t i = 0; (process = tr_id_map_next(&decode->processes, &i)) != NULL;) {
		if (process->traced)
			continue;
		touch_known(decode, process, out);
		if (ended && !process->dead)
			put_unknown_end(decode, process->pid, out);
	}
	next_line(decode, out);
}

void tr_decode_free(struct tr_decode *decode)
{
	void *entry;

	for (size_t i = 0; (entry = tr_id_map_next(&decode->processes, &i)) != NULL;)
		free_process(entry);
	for (size_t i = 0; (entry = tr_id_map_next(&decode->announced, &i)) != NULL;)
		free_announced(entry);
	tr_buffer_free(&decode->notes);
	tr_buffer_free(&decode->attach);
	tr_buffer_free(&decode->detach);
	tr_buffer_free(&decode->prefix);
	tr_links_free(&decode->links);
	tr_id_map_free(&decode->processes);
	tr_id_map_free(&decode->announced);
}
