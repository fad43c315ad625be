/* SPDX-License-Identifier: MIT */
/*
 * Files and members that child processes (workers) read. The parent opens them, detects their
 * formats, and gives them to workers in batches, through a temporary file for each batch:
 *
 *	parent: step, send -> file of the batch -> order
 *	worker: receive -> work -> frames, after the places in the file -> report
 *	parent: waits for the oldest batch -> frames -> take of the tool, messages
 *
 * Everything that depends on the order (names, messages and their count, the report) is decided by
 * the parent, so it does not depend on the number of processes. Memory is bounded by the number of
 * batches that wait, and results wait on the disk.
 *
 * To give a place away costs time, too, so the parent begins to read the places itself, and starts
 * workers when reading has turned out to be slow. A batch is so small that it takes a few
 * milliseconds, or is one place.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli_private.h"
#include "core/file.h"

enum {
	BATCH_PLACES = 64,
	ORDERS = 2, /* that a worker has at most, so that it does not wait for the parent */
	BATCH_BYTES = 4 << 20,
	BATCH_NS = 5000000,	 /* the time that a batch is expected to take */
	START_NS = 10000000,	 /* the time after which workers are started */
	GAUGED = 256 << 10,	 /* weight after which the cost is measured again */
	GAUGED_FIRST = 64 << 10, /* the same for the first time */
	PLACE_WEIGHT = 16 << 10, /* the fixed cost of a place, as a number of bytes */
	RESULT_BUFFER = 1 << 20, /* bytes that a worker keeps before it writes them */
	MAX_JOBS = 256,		 /* of -j */
	STATUS_ERRNO = 100,	 /* exit status of a worker that cannot write: this, and errno */
};

/* Nanoseconds for each unit of weight: work that costs less is done here; a first guess. */
static const double least_cost = 2, heavy_cost = 50;

enum frame_kind { FRAME_MESSAGE, FRAME_MESSAGE_NOWHERE, FRAME_TOOL, FRAME_END };

/* The head of each frame in the file. It is read by the same program. */
struct frame {
	enum frame_kind kind;
	size_t len;
};

/* The content of FRAME_END. */
struct ending {
	struct tr_trace_seen seen;
	uint64_t settings_taken;
	bool damaged; /* the window */
	bool stop, discard;
};

/* Places of a batch that a worker has to read, from at to end of its file. */
struct order {
	size_t batch;
	uint64_t at, end;
};

/* The state of a worker, in its process. */
struct tr_cli_child {
	int fd;			 /* of the batch */
	struct tr_buffer frames; /* that are not written yet */
};

/* A place, or a step that failed. */
struct item {
	struct tr_trace_place place; /* without a window; its texts are in texts */
	char *texts;
	struct tr_error *err; /* of a step that failed; NULL: none */
	uint64_t at;	      /* of the place in the file */
};

struct batch {
	int fd;
	struct item items[BATCH_PLACES];
	size_t count, taken;
	uint64_t end;				   /* of the places in the file; frames follow */
	uint64_t weight;			   /* of the places */
	enum { FILLED, READY, GIVEN, DONE } state; /* DONE: the worker may have died, too */
	int death;				   /* of waitpid; 0: the worker lives */
	pid_t direct; /* a child whose results come through a pipe; 0: none */
};

struct worker {
	pid_t pid;
	int fd;			/* orders to it; for each, the nanoseconds that it took back */
	size_t batches[ORDERS]; /* of its orders */
	size_t count;
};

struct run {
	struct tr_cli *cli;
	struct tr_cli_jobs *jobs;
	void *context;
	struct batch *batches; /* a ring */
	size_t room;
	size_t first, count;	/* in the order of the input; the last one may be FILLED */
	struct worker *workers; /* that live */
	size_t worker_count;
	bool alone;	    /* no worker can be started */
	bool full;	    /* results had no room */
	double cost, least; /* nanoseconds for each unit of weight; to be worth a worker */
	bool measured;	    /* cost is not a guess */
	uint64_t weight;    /* that was read here since the cost was measured */
	int64_t ns;	    /* time of this process, when it was measured */
	int64_t begun;	    /* time of this process, at the first place */
};

static int64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t weight_of(const struct tr_trace_place *place)
{
	return PLACE_WEIGHT + (place->size > 0 ? (uint64_t)place->size : 0);
}

/* Sets the cost after work of this weight; the last work counts half. */
static void measure(struct run *run, int64_t ns, uint64_t weight)
{
	double cost = (double)ns / (double)weight;

	run->cost = run->measured ? (run->cost + cost) / 2 : cost;
	run->measured = true;
}

/* The worker: frames, and the work. */

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
	struct frame frame = { kind, head.len + body.len };

	tr_buffer_put(&child->frames, (const char *)&frame, sizeof frame);
	tr_buffer_put_text(&child->frames, head);
	tr_buffer_put_text(&child->frames, body);
	if (child->frames.failed || child->frames.len > RESULT_BUFFER)
		write_frames(child);
}

void tr_cli_job_send(struct tr_cli *cli, struct tr_text head, struct tr_text body)
{
	put_frame(cli, FRAME_TOOL, head, body);
}

/* The text of a message is short, so only that much of it is sent. */
static void relay(struct tr_cli *cli, bool of_place, const struct tr_error *err)
{
	size_t len = offsetof(struct tr_error, text) + strlen(err->text) + 1;

	put_frame(cli, of_place ? FRAME_MESSAGE : FRAME_MESSAGE_NOWHERE,
		  (struct tr_text){ (const char *)err, len }, TR_TEXT(""));
}

/* Reads the places of an order. */
static void work(const struct run *run, const struct order *order)
{
	struct tr_cli *cli = run->cli;
	struct tr_cli_private *p = cli->private;
	int from = run->batches[order->batch].fd;

	for (uint64_t at = order->at; at < order->end && !cli->stop;) {
		struct tr_trace_place *place;

		p->last = NULL;
		p->settings_taken = 0;
		enum tr_status status = tr_trace_receive(cli->trace, from, &at, &place, &p->err);
		if (status == TR_OK)
			run->jobs->work(run->context, place);
		else
			tr_cli_report(cli, &p->err);
		struct ending ending = { tr_trace_seen(cli->trace), p->settings_taken,
					 place->in && place->in->damaged, cli->stop, p->discard };
		put_frame(cli, FRAME_END, (struct tr_text){ (char *)&ending, sizeof ending },
			  TR_TEXT(""));
		/* a crash at the next place must not lose this one */
		write_frames(p->child);
		if (status == TR_FATAL && !cli->stop)
			_exit(STATUS_ERRNO + EIO); /* the other places cannot be found */
	}
}

/* Leaves all that belongs to the parent. Messages become frames. */
static void become_child(const struct run *run, struct tr_cli_child *child)
{
	struct tr_cli_private *p = run->cli->private;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tr_cli_output_is_not_ours(run->cli);
	for (size_t i = 0; i < run->worker_count; i++)
		close(run->workers[i].fd);
	p->child = child;
	p->relay = relay;
}

/* Works on orders until there are no more, or after a stop. */
static __attribute__((noreturn)) void be_worker(const struct run *run, int fd)
{
	struct tr_cli_child child = { .frames = TR_BUFFER_INIT };
	struct order order;

	become_child(run, &child);
	while (!run->cli->stop && read(fd, &order, sizeof order) == sizeof order) {
		int64_t ns = cpu_time();
		child.fd = run->batches[order.batch].fd;
		work(run, &order);
		ns = cpu_time() - ns;
		if (!tr_fd_write(fd, (const char *)&ns, sizeof ns, NULL))
			break;
	}
	_exit(0);
}

/* The parent: starts workers, and gives orders. */

/* False: no worker can be started. */
static bool start_worker(struct run *run)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_worker(run, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	run->workers[run->worker_count++] = (struct worker){ .pid = pid, .fd = ends[0] };
	return true;
}

static void close_batches(struct run *run)
{
	for (size_t i = 0; run->batches && i < run->room; i++)
		if (run->batches[i].fd >= 0)
			close(run->batches[i].fd);
	free(run->batches);
	run->batches = NULL;
}

/* Makes the files of all batches, which workers inherit, and the first worker. */
static bool prepare(struct run *run)
{
	struct tr_error err;

	if (run->batches)
		return true;
	tr_cli_complete_files(run->cli); /* they hold descriptors */
	run->room = 2 * (size_t)run->jobs->count + 8;
	run->workers = calloc(run->jobs->count, sizeof *run->workers);
	run->batches = calloc(run->room, sizeof *run->batches);
	bool good = run->workers && run->batches;
	for (size_t i = 0; run->batches && i < run->room; i++) {
		run->batches[i].fd = good ? tr_file_unnamed(&err) : -1;
		good = good && run->batches[i].fd >= 0 && !tr_cli_is_scarce(run->batches[i].fd);
	}
	if (good && start_worker(run))
		return true;
	close_batches(run); /* others need the descriptors */
	return false;
}

/* Waits for the end of a child. */
static int death_of(pid_t pid)
{
	int death = 0;

	while (waitpid(pid, &death, 0) < 0 && errno == EINTR)
		;
	return death;
}

/* Notes that a worker has died. Its first batch is done as far as it came, if it did not stop. */
static void end_worker(struct run *run, struct worker *worker)
{
	int death = death_of(worker->pid);

	close(worker->fd);
	for (size_t i = 0; i < worker->count; i++)
		run->batches[worker->batches[i]].state = i || !death ? READY : DONE;
	if (worker->count)
		run->batches[worker->batches[0]].death = death;
	*worker = run->workers[--run->worker_count];
}

/* Handles the report of a worker: the end of its first order, or its own end. */
static void take_report(struct run *run, struct worker *worker)
{
	struct batch *batch = &run->batches[worker->batches[0]];
	int64_t ns;
	ssize_t n = recv(worker->fd, &ns, sizeof ns, MSG_WAITALL);

	if (n < 0 && errno == EINTR)
		return;
	if (n != (ssize_t)sizeof ns || !worker->count) {
		if (n)
			kill(worker->pid, SIGKILL); /* it lives, and cannot report */
		end_worker(run, worker);
		return;
	}
	batch->state = DONE;
	batch->death = 0;
	if (batch->weight)
		measure(run, ns, batch->weight);
	memmove(worker->batches, worker->batches + 1, --worker->count * sizeof *worker->batches);
}

/* Handles the available reports. wait: waits if there is none. */
static void take_reports(struct run *run, bool wait)
{
	struct pollfd list[MAX_JOBS];
	size_t count = run->worker_count;

	for (size_t i = 0; i < count; i++)
		list[i] = (struct pollfd){ .fd = run->workers[i].fd, .events = POLLIN };
	if (poll(list, count, wait ? -1 : 0) <= 0)
		return;
	/* the last worker takes the place of one that has died */
	for (size_t i = count; i-- > 0;)
		if (list[i].revents)
			take_report(run, &run->workers[i]);
}

/* The worker with the fewest orders, perhaps a new one. NULL: there is none, or all are busy. */
static struct worker *idle_worker(struct run *run)
{
	struct worker *idle = NULL;

	for (size_t i = 0; i < run->worker_count; i++)
		if (!idle || run->workers[i].count < idle->count)
			idle = &run->workers[i];
	if ((!idle || idle->count) && run->worker_count < run->jobs->count && start_worker(run))
		idle = &run->workers[run->worker_count - 1];
	return idle && idle->count < ORDERS ? idle : NULL;
}

static struct order order_of(const struct run *run, const struct batch *batch)
{
	return (struct order){ (size_t)(batch - run->batches), batch->items[batch->taken].at,
			       batch->end };
}

/* Orders the places of a batch that were not taken. False: no worker can take an order now. */
static bool give(struct run *run, struct batch *batch)
{
	struct order order = order_of(run, batch);
	struct worker *worker = idle_worker(run);

	if (!worker)
		return false;
	if (ftruncate(batch->fd, (off_t)batch->end) != 0 ||
	    lseek(batch->fd, (off_t)batch->end, SEEK_SET) < 0) {
		tr_cli_fail(run->cli, "cannot use a temporary file: %s", strerror(errno));
		run->cli->stop = true;
		return false;
	}
	batch->state = GIVEN;
	worker->batches[worker->count++] = order.batch;
	/* a worker that has died meanwhile reports its end */
	(void)!send(worker->fd, &order, sizeof order, MSG_NOSIGNAL);
	return true;
}

static struct batch *batch_at(const struct run *run, size_t i)
{
	return &run->batches[(run->first + i) % run->room];
}

/* Gives the batches that are ready to workers that are not busy. */
static void give_all(struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (batch_at(run, i)->state == READY && !give(run, batch_at(run, i)))
			return;
}

/* Waits until a batch is done. False: there is no worker. */
static bool wait_for(struct run *run, const struct batch *batch)
{
	for (;;) {
		give_all(run);
		if (batch->state == DONE)
			return true;
		if (!run->worker_count || run->cli->stop)
			return false;
		take_reports(run, true);
	}
}

/* The parent: takes the results in the order of the input. */

/*
 * A frame is not what a worker sends if another process has changed the file. Its lengths are
 * checked, so that nothing beyond it is read.
 */

/* The next frame; its content is at the beginning of the window. False: there is none. */
static bool next_frame(struct tr_input *in, struct frame *frame)
{
	if (!tr_input_more(in, sizeof *frame))
		return false;
	memcpy(frame, in->pos, sizeof *frame);
	tr_input_skip(in, sizeof *frame);
	return tr_input_more(in, frame->len);
}

/* False: the content is not a message. */
static bool take_message(struct run *run, const struct tr_trace_place *place,
			 struct tr_text content)
{
	struct tr_error err;

	if (content.len <= offsetof(struct tr_error, text) || content.len > sizeof err ||
	    content.data[content.len - 1] != '\0')
		return false;
	memcpy(&err, content.data, content.len);
	if (!run->jobs->muted)
		tr_cli_message_of(run->cli, place, &err);
	return true;
}

/* False: the content is not an ending. */
static bool take_ending(struct run *run, const struct tr_trace_place *place, struct tr_text content)
{
	struct tr_cli_private *p = run->cli->private;
	struct ending ending;

	if (content.len != sizeof ending)
		return false;
	memcpy(&ending, content.data, sizeof ending);
	p->settings_taken |= ending.settings_taken;
	run->jobs->end(run->context, place, true);
	tr_cli_log_place(run->cli, place, &ending.seen, ending.damaged);
	if (ending.stop && !run->cli->stop) {
		run->cli->stop = true;
		p->discard = p->discard || ending.discard;
	}
	return true;
}

/* False: it is not a frame that a worker sends. */
static bool take_frame(struct run *run, const struct tr_trace_place *place, enum frame_kind kind,
		       struct tr_text content)
{
	switch (kind) {
	case FRAME_MESSAGE:
		return take_message(run, place, content);
	case FRAME_MESSAGE_NOWHERE:
		return take_message(run, NULL, content);
	case FRAME_TOOL:
		return run->jobs->take(run->context, place, content);
	case FRAME_END:
		return take_ending(run, place, content);
	}
	return false;
}

/* Takes the frames of a place. False: they end early, because the worker has died, or are wrong. */
static bool take_frames(struct run *run, const struct tr_trace_place *place, struct tr_input *in)
{
	struct frame frame;

	while (next_frame(in, &frame)) {
		struct tr_text content = { in->pos, frame.len };
		if (!take_frame(run, place, frame.kind, content))
			return false;
		tr_input_skip(in, frame.len);
		if (frame.kind == FRAME_END)
			return true;
	}
	return false;
}

/* A window on frames, which takes over the source. NULL: memory is exhausted. */
static struct tr_input *frames_of(struct tr_source *source)
{
	/* the longest frame has a name of the input, which the worker has limited */
	static const struct tr_limits limits = { .max_record = SIZE_MAX };

	return source ? tr_input_new(source, &limits, 0) : NULL;
}

/* A window on the frames of a file, from an offset on. NULL: memory is exhausted. */
static struct tr_input *open_frames(int fd, uint64_t begin)
{
	return frames_of(lseek(fd, (off_t)begin, SEEK_SET) >= 0 ? tr_source_fd(fd, false) : NULL);
}

/* True if the worker has ended because it could not store its results. */
static bool had_no_room(const struct batch *batch)
{
	return WIFEXITED(batch->death) && WEXITSTATUS(batch->death) > STATUS_ERRNO;
}

/*
 * A window on the frames of a child that does the work of a batch again and sends its results
 * through a pipe, which needs no room. NULL: there is none, or memory is exhausted.
 */
static struct tr_input *open_direct(struct run *run, struct batch *batch)
{
	int ends[2];

	/* the results may have taken the room that other processes, or an archive, need */
	if (ftruncate(batch->fd, (off_t)batch->end) != 0 || pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	batch->direct = fork();
	if (batch->direct == 0) {
		struct tr_cli_child child = { .fd = ends[1], .frames = TR_BUFFER_INIT };
		struct order order = order_of(run, batch);
		close(ends[0]);
		become_child(run, &child);
		work(run, &order);
		_exit(0);
	}
	close(ends[1]);
	batch->direct = batch->direct > 0 ? batch->direct : 0;
	if (!batch->direct) {
		close(ends[0]);
		return NULL;
	}
	return frames_of(tr_source_fd(ends[0], true));
}

/* Ends the child of a pipe. One that has ended itself, or was killed, says so all the same. */
static void end_direct(struct batch *batch)
{
	if (!batch->direct)
		return;
	kill(batch->direct, SIGKILL);
	batch->death = death_of(batch->direct);
	batch->direct = 0;
}

/* Reports a place whose worker has died before it was read, or that no worker can read. */
static void report_crash(struct run *run, const struct tr_trace_place *place, struct batch *batch)
{
	static const struct tr_trace_seen nothing = { .parsed = true };
	struct tr_error err;

	end_direct(batch);
	int death = batch->death;
	if (batch->state != DONE)
		tr_error_say(&err, TR_CAUSE_SYSTEM,
			     "left out: cannot start another process to convert it");
	else if (WIFSIGNALED(death))
		tr_error_set(&err, TR_CAUSE_SYSTEM,
			     "left out: the process converting it was killed by signal %d (%s)",
			     WTERMSIG(death), strsignal(WTERMSIG(death)));
	else if (!death)
		tr_error_say(&err, TR_CAUSE_SYSTEM,
			     "left out: the result of the process converting it cannot be read");
	else
		tr_error_set(&err, TR_CAUSE_SYSTEM,
			     "left out: the process converting it cannot store its result: %s",
			     strerror(WEXITSTATUS(death) - STATUS_ERRNO));
	tr_cli_message_of(run->cli, place, &err);
	run->jobs->end(run->context, place, false);
	tr_cli_log_place(run->cli, place, &nothing, true);
}

/* Reports a step that failed. */
static void take_failure(struct run *run, const struct tr_trace_place *place,
			 const struct tr_error *err)
{
	tr_cli_message_of(run->cli, place, err);
	tr_cli_log_missed(run->cli, place, err);
}

/* Reads the place that is open in this process. */
static void take_here(struct run *run, struct tr_trace_place *place)
{
	run->cli->private->last = NULL;
	tr_cli_log_step(run->cli);
	run->jobs->here(run->context, place);
	run->cli->private->last = NULL;
	tr_cli_log_member(run->cli);
}

/* Takes results of a batch (NULL: there are none). False: a worker has died, and some are left. */
static bool take_places(struct run *run, struct batch *batch, struct tr_input *in)
{
	while (batch->taken < batch->count && !run->cli->stop) {
		const struct item *item = &batch->items[batch->taken++];
		if (item->err) {
			take_failure(run, &item->place, item->err);
			continue;
		}
		tr_cli_log_step(run->cli);
		run->jobs->muted = false;
		run->jobs->begin(run->context, &item->place);
		if (!in || !take_frames(run, &item->place, in)) {
			report_crash(run, &item->place, batch);
			return batch->taken == batch->count;
		}
	}
	return true;
}

static void empty_batch(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		free(batch->items[i].texts);
		free(batch->items[i].err);
	}
	*batch = (struct batch){ .fd = batch->fd };
}

/* Takes the results of the oldest batch. */
static void take_oldest(struct run *run)
{
	struct batch *batch = batch_at(run, 0);

	for (bool done = false; !done && !run->cli->stop;) {
		struct tr_input *in = NULL;
		bool there = wait_for(run, batch);
		if (there && had_no_room(batch)) {
			run->full = true;
			in = open_direct(run, batch);
		} else if (there && !(in = open_frames(batch->fd, batch->end))) {
			tr_cli_out_of_memory(run->cli);
		}
		done = take_places(run, batch, in);
		tr_input_free(in);
		end_direct(batch);
		batch->state = READY; /* for another worker */
	}
	empty_batch(batch);
	run->first++;
	run->count--;
}

static void take_all(struct run *run)
{
	while (run->count && !run->cli->stop)
		take_oldest(run);
}

/* The parent: reads, or fills batches. */

/* Finishes the batch that is being filled, and takes results that are there or must be. */
static void finish_batch(struct run *run)
{
	if (!run->count || batch_at(run, run->count - 1)->state != FILLED)
		return;
	if (!batch_at(run, run->count - 1)->count) {
		run->count--;
		return;
	}
	batch_at(run, run->count - 1)->state = READY;
	take_reports(run, false);
	give_all(run);
	while (run->count && !run->cli->stop &&
	       (run->count == run->room || batch_at(run, 0)->state == DONE))
		take_oldest(run);
}

/* Adds the place of the last step, which is in the file at `at`; err: its step failed. */
static bool add_item(struct run *run, struct batch *batch, uint64_t at,
		     const struct tr_trace_place *place, const struct tr_error *err)
{
	struct item *item = &batch->items[batch->count];
	size_t name = place && place->name ? strlen(place->name) + 1 : 0;
	size_t member = place && place->member ? strlen(place->member) + 1 : 0;

	*item = (struct item){ .texts = malloc(name + member + 1), .at = at };
	if (place)
		item->place = *place;
	item->err = err ? malloc(sizeof *err) : NULL;
	if (!item->texts || (err && !item->err)) {
		free(item->texts);
		free(item->err);
		return tr_cli_out_of_memory(run->cli);
	}
	if (err)
		*item->err = *err;
	if (name)
		item->place.name = memcpy(item->texts, place->name, name);
	if (member)
		item->place.member = memcpy(item->texts + name, place->member, member);
	item->place.in = NULL;
	batch->count++;
	return true;
}

/* The batch that is being filled, perhaps a new one. NULL: there is none. */
static struct batch *filled_batch(struct run *run)
{
	if (run->count && batch_at(run, run->count - 1)->state == FILLED)
		return batch_at(run, run->count - 1);
	run->alone = run->alone || !prepare(run);
	return run->alone ? NULL : batch_at(run, run->count++);
}

/* Gives the place that is open away. False: it has to be read here, after all before it. */
static bool send_place(struct run *run, struct tr_trace_place *place)
{
	struct batch *batch = filled_batch(run);
	uint64_t at = batch ? batch->end : 0;
	struct tr_error *err = &run->cli->private->err;

	if (!batch)
		return false;
	enum tr_status status = tr_trace_send(run->cli->trace, batch->fd, &batch->end, err);
	if (status == TR_END)
		return false;
	if (status != TR_OK)
		return tr_cli_abort(run->cli, err);
	if (!add_item(run, batch, at, place, NULL))
		return false;
	batch->weight += place->member ? PLACE_WEIGHT + (batch->end - at) : weight_of(place);
	if (batch->count == BATCH_PLACES || batch->end >= BATCH_BYTES ||
	    (double)batch->weight * run->cost >= BATCH_NS)
		finish_batch(run);
	return true;
}

/* Reads a place here, and measures what that costs. */
static void read_here(struct run *run, struct tr_trace_place *place)
{
	finish_batch(run);
	take_all(run);
	if (run->cli->stop)
		return;
	run->weight += weight_of(place);
	take_here(run, place);
	if (run->weight < (run->measured ? GAUGED : GAUGED_FIRST))
		return;
	int64_t now = cpu_time();
	measure(run, now - run->ns, run->weight);
	run->ns = now;
	run->weight = 0;
}

/* True if workers should read the next places. */
static bool wants_workers(struct run *run, const struct tr_trace_place *place)
{
	if (run->alone || run->full || run->jobs->skips)
		return false;
	if (!run->begun)
		run->begun = run->ns = cpu_time(); /* libraries have been loaded */
	if (run->worker_count && run->cost < run->least) {
		/* the outputs are slow, and they are written here in any case */
		run->least *= 4;
		finish_batch(run);
		take_all(run);
		run->ns = cpu_time();
		run->weight = 0;
	}
	return run->cost >= run->least &&
	       (run->worker_count ||
		(double)(run->ns - run->begun) +
				run->cost * (double)(run->weight + weight_of(place)) >=
			START_NS);
}

/* Steps through all places. */
static void read_all(struct run *run)
{
	struct tr_cli *cli = run->cli;
	struct tr_error *err = &cli->private->err;
	enum tr_status status = TR_OK;

	while (!cli->stop && status != TR_FATAL) {
		struct tr_trace_place *place;
		status = tr_trace_step(cli->trace, &place, err);
		if (status == TR_END)
			break;
		if (tr_cli_attention)
			tr_cli_progress(cli);
		if (status == TR_OK) {
			tr_cli_note_read(cli, place);
			if (!wants_workers(run, place) || !send_place(run, place))
				read_here(run, place);
		} else if (!run->count) {
			take_failure(run, tr_trace_here(cli->trace), err);
		} else {
			struct batch *batch = filled_batch(run);
			if (!add_item(run, batch, batch->end, tr_trace_here(cli->trace), err))
				break;
			if (batch->count == BATCH_PLACES)
				finish_batch(run);
		}
	}
}

void tr_cli_jobs_run(struct tr_cli *cli, struct tr_cli_jobs *jobs, void *context)
{
	struct run run = { .cli = cli, .jobs = jobs, .context = context, .least = least_cost };

	run.cost = jobs->heavy ? heavy_cost : 0;
	run.alone = jobs->count < 2;
	read_all(&run);
	finish_batch(&run);
	take_all(&run);
	/* after a stop the results are not needed */
	while (run.worker_count) {
		kill(run.workers[0].pid, SIGKILL);
		end_worker(&run, &run.workers[0]);
	}
	for (size_t i = 0; run.batches && i < run.room; i++)
		empty_batch(&run.batches[i]);
	close_batches(&run);
	free(run.workers);
}
