/* SPDX-License-Identifier: MIT */
/*
 * Runs the command with the library of lib/preload. A supervisor makes the journal, starts the
 * command, and reads the journal while it grows; the command never waits for the supervisor.
 * Processes that lose their parent become its children, so it knows when all have ended.
 *
 * With --backend=auto, straces of the supervisor watch the programs that cannot load the library
 * (tr_record_tracers.c); their lines are inserted into the log by their time.
 *
 * With --wrap there is no library. Only the start of the command is in the journal, and the
 * supervisor ends when the command does.
 */

#include "cli.h"
#include "tr_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/buffer.h"
#include "preload/decode.h"
#include "preload/launch.h"

/* See lib/preload/Makemodule.am. */
#define LIBRARY "libasan.so/libtrec-preload.so"
#define LIBRARY_FOR_FILES "libasan.so/libtrec-files.so"

enum {
	CHUNK = 1 << 20, /* bytes that are read at once, and then freed on disk */
	PATIENCE = 20,	 /* milliseconds between two reads of the journal */
	HASTE = 2,	 /* the same if strace watches a process: response files are deleted soon */
	LATE = 5000,	 /* milliseconds in which strace writes the end of a process */
	NOT_EXECUTABLE = 126,
	TROUBLE = 2,
};

/* The end of a child, which is written after everything else that the child did. */
struct end_of_child {
	uint64_t time;
	pid_t pid;
	int status;
};

struct supervisor {
	struct tr_journal session;
	char directory[PATH_MAX];	/* of the journal */
	char lanes_directory[PATH_MAX]; /* of the file calls, if they are recorded */
	int journal, log, notes;
	struct tr_collect collect; /* the file calls */
	struct tr_buffer ended;	   /* struct end_of_child */
	off_t read, freed;	   /* offsets in the journal up to which it was read, and freed */
	struct tr_buffer in, out;
	struct tr_decode decode;
	struct tr_preload_losses *losses;
	pid_t command;
	int status;	 /* of the command */
	bool alone;	 /* only the command is recorded */
	bool incomplete; /* an allocation, a read or the write of a note failed */
	bool attaches;	 /* strace watches programs that cannot load the library */
	struct tr_tracers tracers;
};

/* Finds the library, in this build or installed. False: path is where it should be installed. */
static bool find_library(bool files, char path[PATH_MAX])
{
	const char *name = files ? LIBRARY_FOR_FILES : LIBRARY;
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(path, '/');
	size_t room = slash ? PATH_MAX - (size_t)(slash - path) : 0;
	if (slash && snprintf(slash, room, "/lib/preload/%s", name) < (int)room &&
	    access(path, R_OK) == 0)
		return true;
	snprintf(path, PATH_MAX, TREC_PRELOAD_DIR "/%s", name);
	return access(path, R_OK) == 0;
}

static bool use_library(bool files, struct tr_journal *session, struct tr_error *err)
{
	char path[PATH_MAX];

	if (!find_library(files, path)) {
		tr_error_set(err, TR_CAUSE_SYSTEM,
			     "%s: cannot find the library that programs load: %s", path,
			     strerror(errno));
		return false;
	}
	if (path[strcspn(path, ": \t\n")] || !tr_launch_set_library(session, path)) {
		tr_error_set(err, TR_CAUSE_SYSTEM,
			     "%s: LD_PRELOAD cannot hold a long path, or one with blanks or "
			     "colons",
			     path);
		return false;
	}
	return true;
}

static void remove_journal(const struct supervisor *supervisor)
{
	unlink(supervisor->session.path);
	rmdir(supervisor->directory);
	if (!*supervisor->session.lanes)
		return;
	unlink(supervisor->session.lanes);
	rmdir(supervisor->lanes_directory);
}

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Makes the file of the lanes, and allocates the first ones. */
static bool make_lanes_in(struct supervisor *supervisor, const char *temporary, uint64_t random)
{
	struct tr_collect *collect = &supervisor->collect;
	char *directory = supervisor->lanes_directory, *path = supervisor->session.lanes;
	int error = 0;

	snprintf(directory, PATH_MAX, "%s/tr-record-XXXXXX", temporary);
	if (!mkdtemp(directory))
		return false;
	int len = snprintf(path, TR_JOURNAL_PATH, "%s/%016" PRIx64, directory, random);
	collect->fd = -1;
	if (len < TR_JOURNAL_PATH && chmod(directory, 0711) == 0)
		collect->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (collect->fd < 0 || fchmod(collect->fd, 0666) != 0)
		error = errno;
	if (!error)
		error = posix_fallocate(collect->fd, 0, TR_LANES_PAGE);
	for (unsigned lane = 0; lane < TR_LANES_FIRST && !error; lane++)
		error = tr_lanes_allocate(collect->fd, lane);
	void *page = error ? MAP_FAILED
			   : mmap(NULL, TR_LANES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				  collect->fd, 0);
	if (page != MAP_FAILED) {
		collect->page = page;
		return true;
	}
	error = error ? error : errno;
	if (collect->fd >= 0)
		close(collect->fd);
	unlink(path);
	rmdir(directory);
	*path = '\0';
	errno = error;
	return false;
}

static void set_place(const char *path, uint64_t place[2])
{
	struct stat st;

	if (stat(path, &st) == 0) {
		place[0] = st.st_dev;
		place[1] = st.st_ino;
	}
}

/*
 * Makes the lanes in a file system in memory; if there is no room, beside the journal. In allocated
 * blocks no write can fail.
 */
static bool make_lanes(struct supervisor *supervisor, const char *temporary, struct tr_error *err)
{
	struct tr_collect *collect = &supervisor->collect;
	uint64_t random;

	if (getrandom(&random, sizeof random, 0) != sizeof random ||
	    (!make_lanes_in(supervisor, "/dev/shm", random) &&
	     !make_lanes_in(supervisor, temporary, random))) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "%s: %s", supervisor->lanes_directory,
			     strerror(errno));
		return false;
	}
	collect->mark = supervisor->session.mark;
	collect->page->count = TR_LANES_FIRST;
	set_place("/", collect->page->root);
	set_place("/proc/self/ns/mnt", collect->page->mounts);
	supervisor->decode.calls = collect;
	return true;
}

/*
 * Makes the journal. Programs that change their user also write to it, so its directory can be
 * entered but not listed, and its name cannot be guessed. files: with lanes for file calls.
 */
static bool make_journal(struct supervisor *supervisor, bool files, struct tr_error *err)
{
	const char *temporary = getenv("TMPDIR");
	struct tr_journal *session = &supervisor->session;
	uint64_t random[2];
	struct stat st;

	if (!temporary || *temporary != '/' || strchr(temporary, ':') ||
	    strlen(temporary) > TR_JOURNAL_PATH / 2)
		temporary = "/tmp";
	snprintf(supervisor->directory, PATH_MAX, "%s/tr-record-XXXXXX", temporary);
	if (getrandom(random, sizeof random, 0) != sizeof random ||
	    !mkdtemp(supervisor->directory) || chmod(supervisor->directory, 0711) != 0) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "%s: %s", supervisor->directory,
			     strerror(errno));
		return false;
	}
	session->mark = (uint32_t)random[0] | 0x80000080; /* differs from any text */
	if (snprintf(session->path, TR_JOURNAL_PATH, "%s/%016" PRIx64, supervisor->directory,
		     random[1]) >= TR_JOURNAL_PATH)
		errno = ENAMETOOLONG;
	else
		supervisor->journal =
			open(session->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error = supervisor->journal < 0
			    ? errno
			    : posix_fallocate(supervisor->journal, 0, TR_JOURNAL_PAGE);
	void *page = error ? MAP_FAILED
			   : mmap(NULL, TR_JOURNAL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				  supervisor->journal, 0);
	session->page = page == MAP_FAILED ? NULL : page;
	if (!session->page || fchmod(supervisor->journal, 0622) != 0) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "%s: %s", session->path,
			     strerror(error ? error : errno));
		return false;
	}
	session->epoch = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
	if (stat("/proc/self/ns/pid", &st) == 0)
		session->namespace = (uint32_t)st.st_ino;
	supervisor->read = supervisor->freed = TR_JOURNAL_PAGE;
	supervisor->decode.mark = session->mark;
	return !files || make_lanes(supervisor, temporary, err);
}

/* Frees what only the supervisor needs. */
static void close_journal(struct supervisor *supervisor)
{
	if (supervisor->journal >= 0)
		close(supervisor->journal);
	if (supervisor->session.page)
		munmap(supervisor->session.page, TR_JOURNAL_PAGE);
	if (!supervisor->collect.page)
		return;
	close(supervisor->collect.fd);
	munmap(supervisor->collect.page, TR_LANES_PAGE);
}

/* Writes the notes, and then the lines that they are about. */
static void write_log(struct supervisor *supervisor)
{
	struct tr_buffer *out = &supervisor->out, *notes = &supervisor->decode.notes;

	supervisor->incomplete |= out->failed || notes->failed;
	if (notes->len && !notes->failed) {
		if (pwrite(supervisor->notes, notes->data, notes->len,
			   (off_t)supervisor->losses->noted) == (ssize_t)notes->len)
			supervisor->losses->noted += notes->len;
		else
			supervisor->incomplete = true;
	}
	tr_buffer_reset(notes);

	for (size_t at = 0; at < out->len && supervisor->log >= 0;) {
		ssize_t n = write(supervisor->log, out->data + at, out->len - at);
		if (n >= 0) {
			at += (size_t)n;
		} else if (errno != EINTR) { /* the records have no reader; the command continues */
			close(supervisor->log);
			supervisor->log = -1;
		}
	}
	tr_buffer_reset(out);
}

/*
 * True if a strace may still report the end of a process that is unknown so far: a process can be
 * killed before strace has written anything about it.
 */
static bool may_be_traced(const struct supervisor *supervisor, const struct end_of_child *end)
{
	return supervisor->tracers.count &&
	       !tr_decode_knows(&supervisor->decode, (uint32_t)end->pid) &&
	       tr_journal_now(&supervisor->session) - end->time < LATE * UINT64_C(1000000);
}

/* Writes the ends of children whose calls were all written. */
static void write_ends(struct supervisor *supervisor, bool final)
{
	struct tr_buffer *ended = &supervisor->ended;
	struct end_of_child *end = (void *)ended->data;
	size_t count = ended->len / sizeof *end, kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool saw = tr_tracers_saw(&supervisor->tracers, end[i].pid);
		if ((supervisor->decode.calls && end[i].time > supervisor->collect.horizon) ||
		    (!final && !saw && may_be_traced(supervisor, &end[i]))) {
			end[kept++] = end[i];
			continue;
		}
		/* strace reports the ends of those that it watches; numbers are used again */
		if (!saw || tr_decode_is_running(&supervisor->decode, (uint32_t)end[i].pid))
			tr_decode_ended(&supervisor->decode, (uint32_t)end[i].pid, end[i].status,
					end[i].time,
					tr_tracers_saw_created(&supervisor->tracers, end[i].pid),
					&supervisor->out);
		write_log(supervisor);
	}
	ended->len = kept * sizeof *end;
}

/* Starts strace for processes that wait for it, and reads the logs of the straces. */
static void serve_tracers(struct supervisor *supervisor)
{
	tr_tracers_serve(&supervisor->tracers);
	while (supervisor->tracers.count) {
		tr_decode_flush(&supervisor->decode, &supervisor->out);
		write_log(supervisor);
		if (!tr_tracers_more(&supervisor->tracers))
			break;
	}
}

/* Reads the records of the programs, and writes them as a log. */
static void copy_records(struct supervisor *supervisor, bool final)
{
	struct tr_buffer *in = &supervisor->in;
	ssize_t n;

	if (supervisor->decode.calls)
		tr_collect_pass(&supervisor->collect, tr_journal_now(&supervisor->session), final);
	/* afterwards, so that no line is missing that was written before the horizon */
	tr_tracers_read(&supervisor->tracers);
	do {
		char *room = tr_buffer_room(in, CHUNK);
		n = room ? pread(supervisor->journal, room, CHUNK, supervisor->read) : -1;
		if (n > 0) {
			tr_buffer_used(in, (size_t)n);
			supervisor->read += n;
		}
		supervisor->incomplete |= n < 0;
		supervisor->decode.read_all = n <= 0;
		do {
			size_t used = tr_decode(&supervisor->decode, in->data, in->len,
						final && n <= 0, &supervisor->out);
			memmove(in->data, in->data + used, in->len - used);
			in->len -= used;
			write_log(supervisor);
		} while (supervisor->decode.more);
	} while (n > 0);
	serve_tracers(supervisor);
	if (supervisor->ended.len)
		write_ends(supervisor, final);
	if (supervisor->read - supervisor->freed >= CHUNK &&
	    fallocate(supervisor->journal, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      supervisor->freed, supervisor->read - supervisor->freed) == 0)
		supervisor->freed = supervisor->read;
}

/* Waits for children that have ended. False: no child is left. */
static bool reap(struct supervisor *supervisor)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == supervisor->command)
			supervisor->status = status;
		if (tr_tracers_ended(&supervisor->tracers, pid, status))
			continue;
		const struct end_of_child end = { tr_journal_now(&supervisor->session), pid,
						  status };
		tr_buffer_put(&supervisor->ended, (const char *)&end, sizeof end);
		supervisor->incomplete |= supervisor->ended.failed;
		copy_records(supervisor,
			     false); /* it has written its last record before it ended */
	}
	return pid == 0;
}

/* Becomes the command. */
static void run_command(struct supervisor *supervisor, const struct tr_start *start)
{
	size_t count = 0;

	while (start->command[count])
		count++;
	const char **argv = calloc(count + 2, sizeof *argv);
	if (argv) {
		memcpy(argv + (start->script != NULL), start->command, count * sizeof *argv);
		if (start->script) {
			argv[0] = "/bin/sh";
			argv[1] = start->script;
		}
		const struct tr_launch_program program = {
			.directory = AT_FDCWD,
			.path = start->script ? "/bin/sh" : argv[0],
			.search = !start->script,
			.argv = (char *const *)argv,
			.env = environ,
		};
		struct tr_launch launch;
		supervisor->session.pid = (uint32_t)getpid();
		tr_launch_begin(&launch, &supervisor->session, &program);
		execvpe(program.path, program.argv, launch.env);
		tr_launch_failed(&launch, errno);
		struct tr_journal_record end = { .kind = TR_JOURNAL_EXIT,
						 .pid = supervisor->session.pid,
						 .ppid = (uint32_t)getppid(),
						 .value = NOT_EXECUTABLE };
		tr_journal_append(&supervisor->session, &end, NULL);
	}
	fprintf(stderr, "tr-record: %s: %s\n", start->command[0], strerror(errno));
	_exit(NOT_EXECUTABLE);
}

static void supervise(struct supervisor *supervisor, const struct tr_start *start)
{
	struct timespec patience = { 0 };
	sigset_t signals, old;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, &old);
	supervisor->tracers = (struct tr_tracers){ .directory = supervisor->directory,
						   .page = supervisor->session.page,
						   .decode = &supervisor->decode,
						   .signals = old };
	supervisor->decode.insert = supervisor->attaches ? tr_tracers_insert : NULL;
	supervisor->decode.context = &supervisor->tracers;
	if (supervisor->attaches)
		supervisor->session.page->tracer = (uint32_t)getpid();
	if (!supervisor->alone)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	supervisor->status = TROUBLE << 8;
	if (start->divert)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	supervisor->command = fork();
	if (supervisor->command == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 0);
		sigprocmask(SIG_SETMASK, &old, NULL);
		run_command(supervisor, start);
	}
	tr_mind_signals(SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	bool ended = false;
	while (supervisor->command > 0 && !(ended = !reap(supervisor))) {
		patience.tv_nsec = (supervisor->tracers.count ? HASTE : PATIENCE) * 1000000;
		if (sigtimedwait(&signals, NULL, &patience) == SIGUSR1)
			break;
		copy_records(supervisor, false);
	}
	copy_records(supervisor, true);
	tr_tracers_free(&supervisor->tracers);
	tr_decode_finish(&supervisor->decode, ended, &supervisor->out);
	write_log(supervisor);
	remove_journal(supervisor);
	uint64_t lost = supervisor->session.page->lost + supervisor->decode.unplaced +
			supervisor->tracers.lost;
	if (supervisor->decode.calls) {
		lost += supervisor->collect.page->lost;
		supervisor->collect.page->count = 0; /* processes that continue record no more */
	}
	struct tr_preload_losses *losses = supervisor->losses;
	losses->lost = lost;
	losses->torn = supervisor->decode.torn + supervisor->collect.torn;
	losses->opaque = supervisor->decode.opaque;
	losses->unnoticed = supervisor->decode.unnoticed;
	losses->bypassing = supervisor->decode.bypassing;
	losses->filtered = supervisor->decode.filtered;
	losses->outside = supervisor->session.page->outside;
	losses->straces = supervisor->tracers.made;
	losses->incomplete = supervisor->incomplete || supervisor->tracers.incomplete ||
			     supervisor->decode.out_of_memory || supervisor->collect.failed;
	tr_collect_free(&supervisor->collect);
	tr_decode_free(&supervisor->decode);
	tr_buffer_free(&supervisor->in);
	tr_buffer_free(&supervisor->out);
	tr_buffer_free(&supervisor->ended);
	tr_end_as(supervisor->status);
}

/* The notes that were read, and not yet returned. */
struct tr_preload_notes {
	int fd;
	off_t read;
	char journal[TR_JOURNAL_PATH], directory[PATH_MAX];
	char lanes[TR_JOURNAL_PATH], lanes_directory[PATH_MAX]; /* "": there are none */
	struct tr_id_map by_line;				/* struct noted */
	struct noted *current;
};

struct noted {
	struct tr_preload_note note;
	char files[];
};

static struct tr_preload_notes *make_notes(int *fd)
{
	struct tr_preload_notes *notes = calloc(1, sizeof *notes);
	FILE *file = notes ? tmpfile() : NULL;

	*fd = notes && file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3) : -1;
	if (file)
		fclose(file);
	if (*fd < 0) {
		free(notes);
		return NULL;
	}
	notes->fd = *fd;
	return notes;
}

/* Reads the next note. False: there are no more. */
static bool read_note(struct tr_preload_notes *notes)
{
	struct tr_decode_note head;

	if (pread(notes->fd, &head, sizeof head, notes->read) != sizeof head)
		return false;
	struct noted *noted = malloc(sizeof *noted + head.len);
	if (!noted || pread(notes->fd, noted->files, head.len, notes->read + (off_t)sizeof head) !=
			      (ssize_t)head.len) {
		free(noted);
		return false;
	}
	noted->note = (struct tr_preload_note){ head.flags, { noted->files, head.len } };
	notes->read += (off_t)(sizeof head + head.len);
	free(tr_id_map_take(&notes->by_line, head.line));
	if (!tr_id_map_put(&notes->by_line, head.line, noted)) {
		free(noted);
		return false;
	}
	return true;
}

const struct tr_preload_note *tr_preload_note(struct tr_capture *capture, uint64_t line)
{
	struct tr_preload_notes *notes = capture->notes;

	if (!notes)
		return NULL;
	while (notes->read < (off_t)capture->losses->noted && read_note(notes))
		;
	free(notes->current);
	notes->current = tr_id_map_take(&notes->by_line, line);
	return notes->current ? &notes->current->note : NULL;
}

void tr_preload_free(struct tr_capture *capture)
{
	struct tr_preload_notes *notes = capture->notes;
	void *noted;

	if (!notes)
		return;
	for (size_t i = 0; (noted = tr_id_map_next(&notes->by_line, &i)) != NULL;)
		free(noted);
	unlink(notes->journal); /* the files still exist if the supervisor was killed */
	rmdir(notes->directory);
	unlink(notes->lanes);
	rmdir(notes->lanes_directory);
	tr_id_map_free(&notes->by_line);
	free(notes->current);
	close(notes->fd);
	free(notes);
	capture->notes = NULL;
}

/* Makes the memory that the supervisor shares with its parent, and the pipe for the log. */
static bool share(struct supervisor *supervisor, struct tr_capture *capture, int ends[2],
		  struct tr_error *err)
{
	struct tr_preload_losses *losses = mmap(NULL, sizeof *losses, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	capture->losses = supervisor->losses = losses == MAP_FAILED ? NULL : losses;
	capture->notes = make_notes(&supervisor->notes);
	if (!capture->losses || !capture->notes || pipe2(ends, O_CLOEXEC) != 0) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	memcpy(capture->notes->journal, supervisor->session.path, TR_JOURNAL_PATH);
	memcpy(capture->notes->directory, supervisor->directory, PATH_MAX);
	memcpy(capture->notes->lanes, supervisor->session.lanes, TR_JOURNAL_PATH);
	memcpy(capture->notes->lanes_directory, supervisor->lanes_directory, PATH_MAX);
	return true;
}

bool tr_preload_begin(struct tr_capture *capture, const struct tr_start *start,
		      struct tr_error *err)
{
	struct supervisor supervisor = { .journal = -1,
					 .alone = capture->alone,
					 .attaches = capture->attaches };
	int ends[2] = { -1, -1 };

	/* without a library, the command is announced as one that cannot load it */
	bool good = (capture->alone || use_library(capture->files, &supervisor.session, err)) &&
		    make_journal(&supervisor, capture->files, err) &&
		    share(&supervisor, capture, ends, err);
	fflush(NULL);
	capture->supervisor = good ? fork() : -1;
	if (capture->supervisor == 0) {
		close(ends[0]);
		supervisor.log = ends[1];
		supervise(&supervisor, start);
	}
	if (good && capture->supervisor < 0)
		tr_error_set(err, TR_CAUSE_SYSTEM, "cannot start a process: %s", strerror(errno));
	close_journal(&supervisor);
	if (ends[1] >= 0)
		close(ends[1]);
	capture->log = ends[0];
	if (capture->supervisor > 0)
		return true;
	remove_journal(&supervisor);
	if (ends[0] >= 0)
		close(ends[0]);
	tr_preload_free(capture);
	capture->losses = NULL;
	return false;
}
