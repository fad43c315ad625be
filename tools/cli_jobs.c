/* SPDX-License-Identifier: MIT */
/*
 * Files and members that child processes read. The parent opens them, detects their formats, and
 * gives them to children in batches, because a process costs as much as a small trace:
 *
 *	parent: step, take -> batch -> fork
 *	child:  put back -> work -> frames -> unnamed temporary file
 *	parent: waits for the oldest batch -> frames -> take of the tool, messages
 *
 * Everything that depends on the order (names, messages and their count, the report) is decided by
 * the parent, so it does not depend on the number of processes. Memory is bounded by the number of
 * batches that wait, and results wait on the disk.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli_private.h"
#include "core/file.h"

enum {
	BATCH_PLACES = 256,
	BATCH_BYTES = 4 << 20,
	WAITING = 2,		 /* batches for each process */
	FRAME_MAX = 256 << 10,	 /* bytes of a message of the tool, after which it is cut */
	RESULT_BUFFER = 1 << 20, /* bytes that a child keeps before it writes them */
	STATUS_ERRNO = 100,	 /* exit status of a child that cannot write: this, and errno */
};

enum frame_kind { FRAME_MESSAGE, FRAME_MESSAGE_NOWHERE, FRAME_TOOL, FRAME_END };

/* What is before each frame in the file of a child. It is read by the same program. */
struct frame {
	uint32_t kind, len;
};

/* The content of FRAME_END. */
struct ending {
	struct tr_trace_seen seen;
	uint64_t settings_taken;
	bool damaged; /* the window */
	bool stop, discard;
};

/* What a child knows of itself. */
struct tr_cli_child {
	int fd;
	struct tr_buffer frames; /* that are not written yet */
};

/* A place, or a step that failed. */
struct item {
	struct tr_trace_taken *taken;
	enum tr_status status;
	struct tr_error *err; /* of a step that failed; NULL: none */
};

struct batch {
	struct item items[BATCH_PLACES];
	size_t count, first; /* first: the first one that the child reads */
	uint64_t bytes;
	bool again;	   /* see tr_cli_jobs.work */
	pid_t pid;	   /* 0: no child runs */
	int done;	   /* pipe whose other end the child has; -1: it has ended */
	int result, state; /* file with the frames; of waitpid */
};

struct run {
	struct tr_cli *cli;
	struct tr_cli_jobs *jobs;
	void *context;
	struct batch **waiting; /* in the order of the input */
	size_t count, running;
};

static void free_batch(struct batch *batch)
{
	if (!batch)
		return;
	for (size_t i = 0; i < batch->count; i++) {
		tr_trace_taken_free(batch->items[i].taken);
		free(batch->items[i].err);
	}
	if (batch->done >= 0)
		close(batch->done);
	if (batch->result >= 0)
		close(batch->result);
	free(batch);
}

static struct batch *new_batch(void)
{
	struct batch *batch = calloc(1, sizeof *batch);

	if (batch)
		batch->done = batch->result = -1;
	return batch;
}

/* The child: frames, and the work. */

static void write_frames(struct tr_cli_child *child)
{
	struct tr_error err;

	if (child->frames.failed)
		_exit(STATUS_ERRNO + ENOMEM);
	if (!tr_fd_write(child->fd, child->frames.data, child->frames.len, &err))
		_exit(STATUS_ERRNO + err.sys_errno);
	tr_buffer_reset(&child->frames);
}

static void put_frame(struct tr_cli *cli, enum frame_kind kind, struct tr_text head,
		      struct tr_text body)
{
	struct tr_cli_child *child = cli->private->child;
	struct frame frame = { kind, (uint32_t)(head.len + body.len) };

	tr_buffer_put(&child->frames, (const char *)&frame, sizeof frame);
	tr_buffer_put_text(&child->frames, head);
	tr_buffer_put_text(&child->frames, body);
	if (child->frames.failed || child->frames.len > RESULT_BUFFER)
		write_frames(child);
}

void tr_cli_job_send(struct tr_cli *cli, struct tr_text head, struct tr_text body)
{
	do {
		struct tr_text part = { body.data, body.len < FRAME_MAX ? body.len : FRAME_MAX };
		put_frame(cli, FRAME_TOOL, head, part);
		body.data += part.len;
		body.len -= part.len;
	} while (body.len);
}

/* The text of a message is short, so only that much of it is sent. */
static void relay(struct tr_cli *cli, bool of_place, const struct tr_error *err)
{
	size_t len = offsetof(struct tr_error, text) + strlen(err->text) + 1;

	put_frame(cli, of_place ? FRAME_MESSAGE : FRAME_MESSAGE_NOWHERE,
		  (struct tr_text){ (const char *)err, len }, TR_TEXT(""));
}

/* Reads the places of a batch, and ends the process. */
static __attribute__((noreturn)) void work(const struct run *run, struct batch *batch)
{
	struct tr_cli *cli = run->cli;
	struct tr_cli_private *p = cli->private;
	struct tr_cli_child child = { .fd = batch->result, .frames = TR_BUFFER_INIT };

	tr_cli_output_is_not_ours();
	p->child = &child;
	p->relay = relay;
	for (size_t i = batch->first; i < batch->count && !cli->stop; i++) {
		struct tr_trace_place *place;
		struct item *item = &batch->items[i];

		if (item->status != TR_OK)
			continue;
		p->last = NULL;
		p->settings_taken = 0;
		enum tr_status status = tr_trace_put_back(cli->trace, item->taken, &place, &p->err);
		if (status == TR_OK)
			run->jobs->work(run->context, place, batch->again);
		else
			tr_cli_report(cli, &p->err);
		struct ending ending = { tr_trace_seen(cli->trace), p->settings_taken,
					 place->in && place->in->damaged, cli->stop, p->discard };
		put_frame(cli, FRAME_END, (struct tr_text){ (char *)&ending, sizeof ending },
			  TR_TEXT(""));
		/* a crash at the next place must not lose this one */
		write_frames(&child);
	}
	_exit(0);
}

/* The parent: starts a child for each batch. */

/* False: err is filled, and no child runs. */
static bool start(struct run *run, struct batch *batch, struct tr_error *err)
{
	int ends[2];

	if (batch->result >= 0)
		close(batch->result);
	batch->result = tr_file_unnamed(err);
	if (batch->result < 0)
		return false;
	if (pipe(ends) != 0) {
		tr_error_system(err, errno, "cannot make a pipe");
		return false;
	}
	batch->pid = fork();
	if (batch->pid == 0) {
		close(ends[0]);
		work(run, batch);
	}
	close(ends[1]);
	batch->done = ends[0];
	if (batch->pid > 0) {
		run->running++;
		return true;
	}
	tr_error_system(err, errno, "cannot start a process");
	batch->pid = 0;
	close(batch->done);
	batch->done = -1;
	return false;
}

/* Waits for a child, which has ended or will. */
static void reap(struct run *run, struct batch *batch)
{
	if (batch->done < 0)
		return;
	while (waitpid(batch->pid, &batch->state, 0) < 0 && errno == EINTR)
		;
	close(batch->done);
	batch->done = -1;
	run->running--;
}

/* Waits until some child has ended. Its end of the pipe is closed then. */
static void reap_some(struct run *run)
{
	struct pollfd *list = calloc(run->count, sizeof *list);

	if (!list) {
		reap(run, run->waiting[0]);
		return;
	}
	for (size_t i = 0; i < run->count; i++)
		list[i].fd = run->waiting[i]->done; /* poll ignores -1 */
	while (poll(list, run->count, -1) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < run->count; i++)
		if (list[i].revents)
			reap(run, run->waiting[i]);
	free(list);
}

/* The parent: takes the results in the order of the input. */

/* The next frame; its content is valid until the next call. False: there is none. */
static bool next_frame(struct tr_input *in, struct frame *frame, struct tr_text *content)
{
	if (!tr_input_more(in, sizeof *frame))
		return false;
	memcpy(frame, in->pos, sizeof *frame);
	if (!tr_input_more(in, sizeof *frame + frame->len))
		return false;
	*content = (struct tr_text){ in->pos + sizeof *frame, frame->len };
	return true;
}

static void take_message(struct run *run, const struct tr_trace_place *place,
			 struct tr_text content)
{
	struct tr_error err;

	if (run->jobs->muted)
		return;
	memcpy(&err, content.data, content.len < sizeof err ? content.len : sizeof err);
	tr_cli_message_of(run->cli, place, &err);
}

static void take_ending(struct run *run, const struct tr_trace_place *place, struct tr_text content)
{
	struct tr_cli_private *p = run->cli->private;
	struct ending ending;

	memcpy(&ending, content.data, sizeof ending);
	p->settings_taken |= ending.settings_taken;
	run->jobs->end(run->context, place, true);
	tr_cli_log_place(run->cli, place, &ending.seen, ending.damaged);
	if (!ending.stop || run->cli->stop)
		return;
	run->cli->stop = true;
	p->discard = p->discard || ending.discard;
}

enum taken { TAKEN, AGAIN, CRASHED };

/* Takes the frames of a place. */
static enum taken take_frames(struct run *run, const struct tr_trace_place *place,
			      struct tr_input *in)
{
	bool again = false;
	struct frame frame;
	struct tr_text content;

	while (next_frame(in, &frame, &content)) {
		if (frame.kind == FRAME_END) {
			if (!again)
				take_ending(run, place, content);
			tr_input_skip(in, sizeof frame + frame.len);
			return again ? AGAIN : TAKEN;
		}
		if (!again && frame.kind == FRAME_TOOL)
			again = !run->jobs->take(run->context, place, content);
		else if (!again)
			take_message(run, frame.kind == FRAME_MESSAGE ? place : NULL, content);
		tr_input_skip(in, sizeof frame + frame.len);
	}
	return CRASHED;
}

/* A window on the frames of a batch. NULL: err is filled. */
static struct tr_input *open_result(const struct batch *batch, struct tr_error *err)
{
	const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct tr_source *source =
		lseek(batch->result, 0, SEEK_SET) == 0 ? tr_source_fd(batch->result, false) : NULL;
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;

	if (!in)
		tr_error_memory(err);
	return in;
}

/* Reports a place whose child has ended before it was read. */
static void report_crash(struct run *run, const struct batch *batch,
			 const struct tr_trace_place *place)
{
	static const struct tr_trace_seen nothing = { .truncated = true, .parsed = true };
	struct tr_error err;

	if (WIFSIGNALED(batch->state))
		tr_error_set(&err, TR_CAUSE_SYSTEM,
			     "left out: the process that converted it was ended by signal %d (%s)",
			     WTERMSIG(batch->state), strsignal(WTERMSIG(batch->state)));
	else
		tr_error_set(&err, TR_CAUSE_SYSTEM,
			     "left out: the process that converted it cannot store its result: %s",
			     strerror(WEXITSTATUS(batch->state) - STATUS_ERRNO));
	tr_cli_message_of(run->cli, place, &err);
	run->jobs->end(run->context, place, false);
	tr_cli_log_place(run->cli, place, &nothing, true);
}

/* Reports a step that failed. */
static void take_failure(struct run *run, const struct item *item)
{
	const struct tr_trace_place *place = tr_trace_taken_place(item->taken);

	tr_cli_message_of(run->cli, place, item->err);
	tr_cli_log_missed(run->cli, place, item->err);
}

/* Reads a place in this process. */
static void take_here(struct run *run, struct item *item)
{
	struct tr_cli *cli = run->cli;
	struct tr_cli_private *p = cli->private;
	struct tr_trace_place *place;

	p->last = NULL;
	enum tr_status status = tr_trace_put_back(cli->trace, item->taken, &place, &p->err);
	if (status != TR_OK) {
		tr_cli_report(cli, &p->err);
		return;
	}
	tr_cli_log_step(cli);
	run->jobs->here(run->context, place);
	p->last = NULL;
	tr_cli_log_member(cli);
}

/* Runs a child for one place, once more, and takes its frames. */
static void take_again(struct run *run, const struct item *item)
{
	struct batch again = {
		.items = { *item }, .count = 1, .again = true, .done = -1, .result = -1
	};
	const struct tr_trace_place *place = tr_trace_taken_place(item->taken);
	struct tr_error err;
	struct tr_input *in = NULL;

	if (start(run, &again, &err)) {
		reap(run, &again);
		in = open_result(&again, &err);
		if (in && take_frames(run, place, in) == CRASHED)
			report_crash(run, &again, place);
		tr_input_free(in);
	}
	if (!in) {
		tr_cli_message_of(run->cli, place, &err);
		run->jobs->end(run->context, place, false);
	}
	if (again.result >= 0)
		close(again.result);
}

/* Takes the places from batch->first on. False: a child has crashed, and some are left. */
static bool take_places(struct run *run, struct batch *batch, struct tr_input *in)
{
	while (batch->first < batch->count && !run->cli->stop) {
		struct item *item = &batch->items[batch->first++];
		const struct tr_trace_place *place = tr_trace_taken_place(item->taken);
		if (item->err) {
			take_failure(run, item);
			continue;
		}
		tr_cli_log_step(run->cli);
		run->jobs->muted = false;
		run->jobs->begin(run->context, place);
		switch (take_frames(run, place, in)) {
		case TAKEN:
			break;
		case AGAIN:
			take_again(run, item);
			break;
		case CRASHED:
			report_crash(run, batch, place);
			return batch->first == batch->count;
		}
	}
	return true;
}

/* Takes the results of the oldest batch, or does its work where no process can be started. */
static void take_oldest(struct run *run)
{
	struct batch *batch = run->waiting[0];
	struct tr_error err;
	struct tr_input *in = NULL;
	bool done = false;

	while (!done && !run->cli->stop) {
		reap(run, batch);
		in = batch->pid ? open_result(batch, &err) : NULL;
		if (!in)
			break;
		done = take_places(run, batch, in);
		tr_input_free(in);
		if (!done && !start(run, batch, &err))
			batch->pid = 0;
	}
	for (; !done && batch->first < batch->count && !run->cli->stop; batch->first++) {
		struct item *item = &batch->items[batch->first];
		if (item->err)
			take_failure(run, item);
		else
			take_here(run, item);
	}
	free_batch(batch);
	run->count--;
	memmove(run->waiting, run->waiting + 1, run->count * sizeof *run->waiting);
}

/* Gives a batch to a child as soon as less than the given number work. */
static void give(struct run *run, struct batch *batch)
{
	struct tr_error err;

	while (run->count && !run->cli->stop &&
	       (run->count == (size_t)WAITING * run->jobs->count ||
		run->running == run->jobs->count || run->waiting[0]->done < 0)) {
		if (run->waiting[0]->done < 0 || run->count == (size_t)WAITING * run->jobs->count)
			take_oldest(run);
		else
			reap_some(run);
	}
	run->waiting[run->count++] = batch;
	/* if no process can be started, this one does the work when it is the turn of the batch */
	(void)(!run->cli->stop && start(run, batch, &err));
}

static void take_all(struct run *run)
{
	while (run->count && !run->cli->stop)
		take_oldest(run);
}

/* Adds the place of the last step, or its error. False: memory is exhausted, which is reported. */
static bool add_item(struct run *run, struct batch *batch, enum tr_status status)
{
	struct tr_cli *cli = run->cli;
	struct tr_cli_private *p = cli->private;
	struct item item = { .status = status };

	if (status != TR_OK && (item.err = malloc(sizeof *item.err)))
		*item.err = p->err;
	if (status == TR_OK || item.err)
		item.taken = tr_trace_take(cli->trace, status == TR_OK, &p->err);
	else
		tr_error_memory(&p->err);
	if (!item.taken) {
		free(item.err);
		tr_cli_report(cli, &p->err);
		return tr_error_is_memory(&p->err) ? tr_cli_out_of_memory(cli) : true;
	}
	batch->bytes += tr_trace_taken_size(item.taken);
	batch->items[batch->count++] = item;
	return true;
}

/* Steps through all places. */
static void read_all(struct run *run)
{
	struct tr_cli *cli = run->cli;
	struct tr_cli_private *p = cli->private;
	struct tr_trace_place *place;
	struct batch *batch = NULL;
	enum tr_status status = TR_OK;

	while (!cli->stop && status != TR_FATAL) {
		status = tr_trace_step(cli->trace, &place, &p->err);
		if (status == TR_END)
			break;
		if (!batch && !(batch = new_batch())) {
			tr_cli_out_of_memory(cli);
			break;
		}
		if (tr_cli_attention)
			tr_cli_progress(cli);
		if (status == TR_OK)
			tr_cli_note_read(cli, place);
		if (!add_item(run, batch, status))
			break;
		struct item *last = batch->count ? &batch->items[batch->count - 1] : NULL;
		bool apart = !last || tr_trace_taken_is_apart(last->taken);
		if (!apart) {
			/* its rest is in the archive, which cannot be read further before */
			struct item item = *last;
			batch->count--;
			give(run, batch);
			batch = NULL;
			take_all(run);
			if (!cli->stop)
				take_here(run, &item);
			tr_trace_taken_free(item.taken);
		} else if (batch->count == BATCH_PLACES || batch->bytes >= BATCH_BYTES) {
			give(run, batch);
			batch = NULL;
		}
	}
	if (batch && !cli->stop)
		give(run, batch);
	else
		free_batch(batch);
}

void tr_cli_jobs_run(struct tr_cli *cli, struct tr_cli_jobs *jobs, void *context)
{
	struct run run = { .cli = cli, .jobs = jobs, .context = context };

	run.waiting = calloc((size_t)WAITING * jobs->count, sizeof(struct batch *));
	if (!run.waiting) {
		tr_cli_out_of_memory(cli);
		return;
	}
	read_all(&run);
	take_all(&run);
	/* after a stop nobody needs the results */
	for (size_t i = 0; i < run.count; i++) {
		if (run.waiting[i]->done >= 0)
			kill(run.waiting[i]->pid, SIGKILL);
		reap(&run, run.waiting[i]);
		free_batch(run.waiting[i]);
	}
	free(run.waiting);
}
