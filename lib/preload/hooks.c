/* SPDX-License-Identifier: MIT */
/*
 * The functions of libc that the library replaces in a program, and its work when a program begins.
 * Without a recording every function only calls the one that it replaces.
 *
 * vfork and clone have no hook, because code in C cannot return twice or on another stack: the
 * first record of a new process names its parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "preload/hooks.h"

extern char **environ;

/* The recording, which the constructor finds, and whether this process is recorded. */
static struct tr_journal session;
static volatile bool recording;
static volatile uint32_t forking_pid; /* of the process that called fork last */
static _Atomic long accounted;	      /* the page faults of children whose end libc has returned */

/*
 * NULL unless the program has LeakSanitizer, which creates a process and waits for it by system
 * calls of its own. A weak symbol costs less than a search by dlsym.
 */
void __lsan_do_leak_check(void) __attribute__((weak));

/* Identifies the caller of pthread_atfork; usually the compiler's start files define it. */
__attribute__((visibility("hidden"))) void *__dso_handle;

/* clang-format off */
#define REPLACED(X) \
	X(execve) X(execvpe) X(execveat) X(fexecve) X(posix_spawn) X(posix_spawnp) X(system) \
	X(popen) X(pclose) X(fclose) X(_exit) X(quick_exit) X(wait4) X(waitid) X(chdir) X(fchdir) \
	X(syscall) X(fork) X(daemon) X(prctl)
/* clang-format on */

REPLACED(DECLARE_REAL)

/* Makes a record of this process. */
static struct tr_journal_record record_of(enum tr_journal_kind kind, int value)
{
	return (struct tr_journal_record){ .kind = (uint16_t)kind,
					   .value = value,
					   .pid = (uint32_t)tr_journal_getpid(),
					   .ppid = (uint32_t)tr_journal_syscall(SYS_getppid) };
}

/*
 * Returns the page faults of all children that were waited for by any call. Every process has some:
 * if there are more than were accounted for, the program has waited for a child by a system call.
 */
static long faults_of_children(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

/* Appends a record, unless a system call has created this process in another pid namespace. */
static void append_two(struct tr_journal_record record, const char *cwd, const char *path)
{
	if (!tr_journal_is_outside(&session, record.pid, record.ppid))
		tr_journal_append(&session, &record,
				  &(struct tr_journal_text){ .cwd = cwd, .path = path });
}

static void append(struct tr_journal_record record, const char *cwd)
{
	append_two(record, cwd, NULL);
}

/* Programs. */

/* Runs the program in this process, and returns only if that fails. flags: of execveat */
static int run(const struct tr_launch_program *program, int flags, bool by_fexecve)
{
	struct tr_launch launch;
	char *const *env = program->env;

	if (recording) {
		tr_files_loaded();
		tr_launch_begin(&launch, &session, program);
		env = launch.env;
	}
	if (program->search)
		REAL(execvpe)(program->path, program->argv, env);
	else if (by_fexecve) /* libc rejects arguments that the kernel accepts */
		REAL(fexecve)(program->directory, program->argv, env);
	else if (program->directory == AT_FDCWD && !flags)
		REAL(execve)(program->path, program->argv, env);
	else if (!REAL(execveat)) /* glibc before 2.34 */
		tr_journal_syscall(SYS_execveat, program->directory, program->path, program->argv,
				   env, flags);
	else
		REAL(execveat)(program->directory, program->path, program->argv, env, flags);
	if (recording)
		tr_launch_failed(&launch, errno);
	return -1;
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	return run(&(struct tr_launch_program){ AT_FDCWD, path, false, false, argv, env, 0 }, 0,
		   false);
}

HOOK int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	return run(&(struct tr_launch_program){ AT_FDCWD, file, true, false, argv, env, 0 }, 0,
		   false);
}

HOOK int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

HOOK int execveat(int directory, const char *path, char *const argv[], char *const env[], int flags)
{
	return run(&(struct tr_launch_program){ directory, path, false, false, argv, env, 0 },
		   flags, false);
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	return run(&(struct tr_launch_program){ fd, "", false, false, argv, env, 0 }, 0, true);
}

/* The parts of a process that are recorded: the programs that it runs, and its file calls. */
enum { PROGRAMS = 1, FILES = 2 };

/* The operations of seccomp(2) that restrict the process. */
enum { SET_MODE_STRICT, SET_MODE_FILTER };

/*
 * Stops recording before the process filters its system calls: the filter may kill it for a call
 * that only the library makes. The parent reports how the process ends. Returns what was recorded.
 */
static unsigned stop_recording(int operation, bool by_prctl)
{
	int saved = errno;
	unsigned before = recording ? PROGRAMS : 0;

	if (before) {
		struct tr_journal_record record = record_of(TR_JOURNAL_FILTER, operation);
		record.child = by_prctl;
		append(record, NULL);
	}
	recording = false;
	before |= tr_files_stop() ? FILES : 0;
	errno = saved;
	return before;
}

/* Records again, because the filter was not set: programs test in this way whether they could. */
static void resume_recording(unsigned before)
{
	int error = errno;

	recording = before & PROGRAMS;
	if (recording)
		append(record_of(TR_JOURNAL_UNFILTERED, error), NULL);
	if (before & FILES)
		tr_files_continue();
	errno = error;
}

HOOK int prctl(int option, ...)
{
	va_list list;
	unsigned long a[4];

	va_start(list, option);
	for (size_t i = 0; i < sizeof a / sizeof *a; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option != PR_SET_SECCOMP)
		return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
	unsigned before = stop_recording(a[0] == 1 ? SET_MODE_STRICT : SET_MODE_FILTER, true);
	int result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
	if (before && result < 0)
		resume_recording(before);
	return result;
}

/* System calls that a program makes by number; the library's own do not pass through here. */
HOOK long syscall(long number, ...)
{
	unsigned before = 0;
	va_list list;
	long a[6], result;

	va_start(list, number);
	for (size_t i = 0; i < sizeof a / sizeof *a; i++)
		a[i] = va_arg(list, long); /* the maximum that the kernel uses */
	va_end(list);
	switch (number) {
	case SYS_prctl:
		return prctl((int)a[0], a[1], a[2], a[3], a[4]);
	case SYS_seccomp:
		if (a[0] == SET_MODE_STRICT || a[0] == SET_MODE_FILTER)
			before = stop_recording((int)a[0], false);
		result = REAL(syscall)(number, a[0], a[1], a[2]);
		if (before && result < 0)
			resume_recording(before);
		return result;
	case SYS_execve:
		return execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
	case SYS_execveat:
		return execveat((int)a[0], (const char *)a[1], (char *const *)a[2],
				(char *const *)a[3], (int)a[4]);
	case SYS_exit_group:
		_exit((int)a[0]);
	default:
		if (tr_files_syscall(number, a, &result))
			return result;
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

/* The arguments of execl and its variants, which end with NULL, as an array. */
static size_t count_arguments(va_list *arguments)
{
	size_t count = 1;

	while (va_arg(*arguments, char *))
		count++;
	return count;
}

static void take_arguments(char **argv, const char *first, size_t count, va_list *arguments)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i <= count; i++) /* and the NULL */
		argv[i] = va_arg(*arguments, char *);
}

#define ARGUMENTS(argv, first) \
	va_list arguments; \
	va_start(arguments, first); \
	size_t count = count_arguments(&arguments); \
	va_end(arguments); \
	char *argv[count + 1]; \
	va_start(arguments, first); \
	take_arguments(argv, first, count, &arguments)

HOOK int execl(const char *path, const char *first, ...)
{
	ARGUMENTS(argv, first);
	va_end(arguments);
	return execve(path, argv, environ);
}

HOOK int execlp(const char *file, const char *first, ...)
{
	ARGUMENTS(argv, first);
	va_end(arguments);
	return execvpe(file, argv, environ);
}

HOOK int execle(const char *path, const char *first, ...)
{
	ARGUMENTS(argv, first);
	char **env = va_arg(arguments, char **);
	va_end(arguments);
	return execve(path, argv, env);
}

static void report_fork(pid_t child)
{
	struct tr_journal_record record = record_of(TR_JOURNAL_FORKED, 0);

	record.child = (uint32_t)child;
	append(record, NULL);
}

/* The directory in which posix_spawn starts a program, after the first `count` actions. */

enum { DEPTH = 8 /* of directories below others */ };

static int directory_at(const struct tr_spawn_action *actions, int count, int depth);

/* Closes a result of directory_at: AT_FDCWD, a descriptor, or -1 if it is unknown. */
static void leave_directory(int directory)
{
	if (directory >= 0)
		tr_journal_syscall(SYS_close, directory);
}

static int open_below(int directory, const char *path)
{
	int fd = -1;

	if (*path == '/' || directory != -1)
		fd = (int)tr_journal_syscall(SYS_openat, directory, path,
					     O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	leave_directory(directory);
	return fd;
}

/* Opens the directory that a descriptor is; the actions may open that descriptor. */
static int descriptor_at(const struct tr_spawn_action *actions, int count, int fd, int depth)
{
	while (count--) {
		const struct tr_spawn_action *action = &actions[count];
		if (action->tag == TR_SPAWN_DUPLICATES && action->dup2.other == fd)
			fd = action->dup2.fd;
		else if (action->tag == TR_SPAWN_OPENS && action->open.fd == fd)
			return open_below(directory_at(actions, count, depth), action->open.path);
	}
	return (int)tr_journal_syscall(SYS_openat, fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* AT_FDCWD: the program starts in the directory of this process. */
static int directory_at(const struct tr_spawn_action *actions, int count, int depth)
{
	while (count--) {
		const struct tr_spawn_action *action = &actions[count];
		if (action->tag != TR_SPAWN_CHANGES && action->tag != TR_SPAWN_CHANGES_BY_FD)
			continue;
		if (!depth)
			return -1;
		return action->tag == TR_SPAWN_CHANGES
			       ? open_below(directory_at(actions, count, depth - 1),
					    action->directory)
			       : descriptor_at(actions, count, action->fd, depth - 1);
	}
	return AT_FDCWD;
}

static int spawn(pid_t *pid, const char *path, bool search,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	struct tr_launch_program program = { AT_FDCWD,		 path, search, false, argv, env,
					     TR_JOURNAL_IN_CHILD };
	__typeof__(&posix_spawn) function = search ? REAL(posix_spawnp) : REAL(posix_spawn);
	struct tr_launch launch;
	pid_t child = 0;

	if (!recording)
		return function(pid, path, actions, attributes, argv, env);
	int saved = errno;
	if (actions)
		program.directory =
			directory_at((const void *)actions->__actions, actions->__used, DEPTH);
	program.enters = program.directory != AT_FDCWD;
	tr_launch_begin(&launch, &session, &program);
	leave_directory(program.directory);
	tr_files_spawn(&launch, actions);
	errno = saved;
	if (launch.instead) {
		path = launch.instead;
		function = REAL(posix_spawn);
	}
	int error = function(&child, path, actions, attributes, argv, launch.env);
	if (error) {
		accounted = faults_of_children(); /* libc has waited for a child */
		saved = errno;
		tr_launch_failed(&launch, error);
		errno = saved;
		return error;
	}
	if (launch.instead)
		report_fork(child);
	else
		tr_launch_spawned(&launch, child);
	tr_launch_end(&launch);
	if (pid)
		*pid = child;
	return 0;
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return spawn(pid, path, false, actions, attributes, argv, env);
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return spawn(pid, file, true, actions, attributes, argv, env);
}

/*
 * system and popen pass environ on to the shell. Those of libc cannot be used, because environ would
 * have to point to an environment with our variables, which other threads could see and change. If
 * the shell cannot be started, libc is called after all, and returns its own error.
 */

/* A lock, as libc takes one there; recursive, as that of popen is for a signal handler. */
static pthread_mutex_t shells = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/*
 * A child of vfork, of _Fork, or whose handlers of pthread_atfork run before begin_child takes no
 * lock, because a thread of its parent may hold it. False: it was not taken.
 */
static bool lock_shells(void)
{
	bool own = session.pid == (uint32_t)tr_journal_getpid();

	if (own)
		pthread_mutex_lock(&shells);
	return own;
}

static void unlock_shells(bool locked)
{
	if (locked)
		pthread_mutex_unlock(&shells);
}

/* As posix_spawn, with the arguments that libc gives to the shell. */
static int spawn_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes)
{
	bool newer = strverscmp(gnu_get_libc_version(), "2.38") >= 0;
	char *argv[] = { (char *)"sh", (char *)"-c", newer ? (char *)"--" : (char *)command,
			 newer ? (char *)command : NULL, NULL };

	return spawn(pid, "/bin/sh", false, actions, attributes, argv, environ);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	while (wait4(pid, &status, 0, NULL) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* The threads that are in system, and what two signals did before the first of them. */
static unsigned waiting;
static struct sigaction interrupt, quit;

static void ignore_signals(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	bool locked = lock_shells();
	if (!waiting++) {
		sigaction(SIGINT, &ignore, &interrupt);
		sigaction(SIGQUIT, &ignore, &quit);
	}
	unlock_shells(locked);
}

static void restore_signals(void)
{
	bool locked = lock_shells();

	if (!--waiting) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
	}
	unlock_shells(locked);
}

/* A thread is cancelled while it waits, or leaves by longjmp: as in libc, the shell ends with it. */
static void end_shell(void *data)
{
	pid_t pid = *(const pid_t *)data;

	kill(pid, SIGKILL);
	wait_for(pid);
	restore_signals();
}

/*
 * What libc itself uses there: longjmp runs these handlers, unlike those of pthread_cleanup_push.
 * glibc before 2.34 has them in the library of threads; without that, no thread is cancelled.
 */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*handler)(void *),
			   void *data);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int run);
#pragma weak _pthread_cleanup_push
#pragma weak _pthread_cleanup_pop

static int wait_for_shell(pid_t pid)
{
	struct _pthread_cleanup_buffer buffer;

	if (!_pthread_cleanup_push)
		return wait_for(pid);
	_pthread_cleanup_push(&buffer, end_shell, &pid);
	int status = wait_for(pid);
	_pthread_cleanup_pop(&buffer, 0);
	return status;
}

HOOK int system(const char *command)
{
	posix_spawnattr_t attributes;
	sigset_t child, before, defaults;
	pid_t pid;

	if (!recording || !command)
		return REAL(system)(command);
	ignore_signals();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	sigemptyset(&defaults);
	if (interrupt.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGINT);
	if (quit.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &before);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	bool started = spawn_shell(&pid, command, NULL, &attributes) == 0;
	posix_spawnattr_destroy(&attributes);
	int status = started ? wait_for_shell(pid) : 0;
	restore_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!started) {
		long faults = faults_of_children();
		status = REAL(system)(command);
		accounted += faults_of_children() - faults;
	}
	return status;
}

/* A stream of popen, which fclose or pclose closes before it waits for the shell. */
struct stream {
	struct stream *next;
	FILE *stream;
	int fd;
	pid_t pid;
};
static struct stream *volatile streams;

/* Starts the shell of a stream, without the other streams. False: that failed. */
static bool start_stream(struct stream *stream, const char *command, int from, int to)
{
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	bool good = posix_spawn_file_actions_adddup2(&actions, from, to) == 0;
	bool locked = lock_shells();
	for (struct stream *p = streams; p; p = p->next)
		if (p->fd != to)
			good &= posix_spawn_file_actions_addclose(&actions, p->fd) == 0;
	good = good && spawn_shell(&stream->pid, command, &actions, NULL) == 0;
	if (good) {
		stream->next = streams;
		streams = stream;
	}
	unlock_shells(locked);
	posix_spawn_file_actions_destroy(&actions);
	return good;
}

static FILE *open_stream(const char *command, bool writes, bool stays_open)
{
	struct stream *made = tr_journal_borrow(sizeof *made);
	int ends[2], to = writes ? STDIN_FILENO : STDOUT_FILENO;

	if (!made || pipe2(ends, O_CLOEXEC) != 0) {
		tr_journal_return(made, sizeof *made);
		return NULL;
	}
	int own = ends[writes], other = ends[!writes];
	if (other == to) { /* dup2 to the same number would not leave it open */
		other = fcntl(to, F_DUPFD_CLOEXEC, 0);
		close(to);
	}
	FILE *stream = other < 0 ? NULL : fdopen(own, writes ? "w" : "r");
	if (stream)
		fwide(stream, -1); /* bytes, as in libc */
	made->stream = stream;
	made->fd = own;
	bool good = stream && start_stream(made, command, other, to);
	if (other >= 0)
		close(other);
	if (good) {
		if (stays_open)
			fcntl(own, F_SETFD, 0);
		return stream;
	}
	if (stream)
		fclose(stream);
	else
		close(own);
	tr_journal_return(made, sizeof *made);
	return NULL;
}

HOOK FILE *popen(const char *command, const char *mode)
{
	bool writes = recording && strchr(mode, 'w');
	int saved = errno, state;

	if (!recording || mode[strspn(mode, "rwe")] || writes == !!strchr(mode, 'r'))
		return REAL(popen)(command, mode); /* libc rejects such a mode */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	FILE *stream = open_stream(command, writes, !strchr(mode, 'e'));
	pthread_setcancelstate(state, NULL);
	errno = saved;
	if (!stream) {
		long faults = faults_of_children();
		stream = REAL(popen)(command, mode);
		accounted += faults_of_children() - faults;
	}
	return stream;
}

/*
 * Takes a stream from the list. NULL: it is another one. Shells that start from now on do not get its
 * descriptor, although closing it may still have to wait until all is written.
 */
static struct stream *take_stream(FILE *stream)
{
	struct stream *taken = NULL;

	if (!streams)
		return NULL;
	bool locked = lock_shells();
	for (struct stream *volatile *p = &streams; *p; p = &(*p)->next)
		if ((*p)->stream == stream) {
			taken = *p;
			tr_journal_syscall(SYS_fcntl, fileno(stream), F_SETFD, FD_CLOEXEC);
			*p = taken->next;
			break;
		}
	unlock_shells(locked);
	return taken;
}

/* libc does not wait if the descriptor is closed already. */
static int end_stream(struct stream *taken)
{
	pid_t pid = taken->pid;
	bool open = tr_journal_syscall(SYS_fcntl, fileno(taken->stream), F_GETFD, 0) >= 0;
	int written = REAL(fclose)(taken->stream), state;

	tr_journal_return(taken, sizeof *taken);
	if (!open)
		return written;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	int status = wait_for(pid);
	pthread_setcancelstate(state, NULL);
	return status ? status : written;
}

HOOK int pclose(FILE *stream)
{
	struct stream *taken = take_stream(stream);

	tr_files_closed(stream);
	if (taken)
		return end_stream(taken);
	long before = faults_of_children();
	int status = REAL(pclose)(stream);
	accounted += faults_of_children() - before;
	return status;
}

HOOK int fclose(FILE *stream)
{
	struct stream *taken = take_stream(stream);
	struct stat status;

	tr_files_closed(stream);
	/* something else may have closed a stream of popen, and this one is at the same address */
	if (taken && fstat(fileno(stream), &status) == 0 && !S_ISFIFO(status.st_mode)) {
		tr_journal_return(taken, sizeof *taken);
		taken = NULL;
	}
	return taken ? end_stream(taken) : REAL(fclose)(stream);
}

/* The end of a process. */

static void report_exit(int status)
{
	tr_files_loaded();
	if (!recording)
		return;
	struct tr_journal_record record = record_of(TR_JOURNAL_EXIT, status & 0xff);
	if (!__lsan_do_leak_check && record.pid == session.pid && faults_of_children() > accounted)
		record.flags = TR_JOURNAL_BYPASS;
	append(record, NULL);
}

static void report_exit_of_libc(int status, void *unused)
{
	(void)unused;
	report_exit(status);
}

HOOK void _exit(int status)
{
	report_exit(status);
	REAL(_exit)(status);
	__builtin_unreachable();
}

HOOK void _Exit(int status)
{
	_exit(status);
}

HOOK void quick_exit(int status)
{
	report_exit(status);
	REAL(quick_exit)(status);
	__builtin_unreachable();
}

static volatile bool tracing; /* the program traces processes, which need not be its children */

static void report_wait(pid_t child, int status)
{
	int saved = errno;
	struct tr_journal_record record;

	if (child > 0 && WIFSTOPPED(status) && status >> 16) /* an event that ptrace reports */
		tracing = true;
	if (!recording || child <= 0 || !(WIFEXITED(status) || WIFSIGNALED(status)))
		return;
	record = record_of(TR_JOURNAL_WAIT, status);
	record.child = (uint32_t)child;
	record.flags = tracing ? TR_JOURNAL_TRACED : 0;
	append(record, NULL);
	errno = saved;
}

HOOK pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct rusage of_child;
	int local = 0;

	if (!usage)
		usage = &of_child;
	if (!status)
		status = &local;
	pid_t child = REAL(wait4)(pid, status, options, usage);
	if (child < 0 && recording && errno == EFAULT) /* the kernel may have taken a child */
		accounted = faults_of_children();
	if (child <= 0)
		return child;
	if (WIFEXITED(*status) || WIFSIGNALED(*status))
		accounted += usage->ru_minflt + usage->ru_majflt;
	report_wait(child, *status);
	return child;
}

HOOK pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

HOOK pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

HOOK pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

HOOK int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	siginfo_t local;

	if (!info)
		info = &local;
	long before = recording ? faults_of_children() : 0;
	int result = REAL(waitid)(type, id, info, options);
	if (recording)
		accounted += faults_of_children() - before;
	if (result != 0 || !info->si_pid || (options & WNOWAIT))
		return result;
	if (info->si_code == CLD_EXITED)
		report_wait(info->si_pid, (info->si_status & 0xff) << 8);
	else if (info->si_code == CLD_KILLED)
		report_wait(info->si_pid, info->si_status);
	else if (info->si_code == CLD_DUMPED)
		report_wait(info->si_pid, info->si_status | 0x80);
	return result;
}

/* Directories. */

HOOK int chdir(const char *path)
{
	int result = REAL(chdir)(path), saved = errno;

	if (recording) {
		struct tr_journal_record record = record_of(TR_JOURNAL_CHDIR, result ? saved : 0);
		struct tr_journal_cwd cwd;
		const char *directory = tr_journal_cwd(&cwd);
		if (result && saved == EFAULT)
			path = "";
		append_two(record, path, result ? NULL : directory);
		tr_journal_end_cwd(&cwd);
	}
	errno = saved;
	return result;
}

HOOK int fchdir(int fd)
{
	int result = REAL(fchdir)(fd), saved = errno;

	if (recording) {
		struct tr_journal_record record = record_of(TR_JOURNAL_FCHDIR, result ? saved : 0);
		struct tr_journal_cwd cwd;
		record.child = (uint32_t)fd;
		append(record, tr_journal_cwd(&cwd));
		tr_journal_end_cwd(&cwd);
	}
	errno = saved;
	return result;
}

/* The beginning of a program. */

/* The parent also reports its child, because it may end before the child does. */
HOOK pid_t fork(void)
{
	pid_t child = REAL(fork)();

	if (recording && child > 0)
		report_fork(child);
	return child;
}

/*
 * Does what daemon of libc does, whose _exit has no hook: the process would end without a report,
 * as if its program made system calls itself.
 */
HOOK int daemon(int keep_directory, int keep_files)
{
	struct stat status;

	if (!recording)
		return REAL(daemon)(keep_directory, keep_files);
	pid_t child = fork();
	if (child > 0)
		_exit(0);
	if (child < 0 || setsid() < 0)
		return -1;
	if (!keep_directory && chdir("/") != 0)
		errno = 0; /* libc ignores that, too */
	if (keep_files)
		return 0;
	int null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -1;
	bool good = fstat(null, &status) == 0;
	if (good && !(S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3))) {
		errno = ENODEV;
		good = false;
	}
	for (int fd = 0; good && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (!good || null > STDERR_FILENO)
		close(null);
	return good ? 0 : -1;
}

/* Reports a process in another pid namespace. creator: 0 if that reports its child itself. */
static void report_outside(uint32_t creator)
{
	struct tr_journal_record record = record_of(TR_JOURNAL_OUTSIDE, 0);

	if (session.page)
		session.page->outside++;
	record.pid = creator;
	if (creator)
		tr_journal_append(&session, &record, NULL);
}

static void begin_fork(void)
{
	int saved = errno;

	forking_pid = (uint32_t)tr_journal_getpid();
	errno = saved;
}

/* Runs in the child of a fork, also if libc calls fork. */
static void begin_child(void)
{
	int saved = errno;
	struct tr_journal_record record = record_of(TR_JOURNAL_FORK, 0);

	tr_files_forked();
	shells = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	if (tr_journal_is_outside(&session, record.pid, record.ppid)) {
		if (recording) /* the process that forked may be there, too */
			report_outside(record.ppid == 0 ? forking_pid : session.pid);
		recording = false;
		tr_files_stop();
		errno = saved;
		return;
	}
	session.pid = record.pid;
	accounted = 0;
	record.ppid = forking_pid;
	if (recording)
		append(record, NULL);
	errno = saved;
}

/* Removes the library from the value of LD_PRELOAD. False: the value is empty then. */
static bool shorten_list(char *value)
{
	size_t len = strlen(session.own);
	char *found = strstr(value, session.own);

	if (!found)
		return *value;
	if (found > value && found[-1] == ':')
		found--, len++;
	else if (found[len] == ':')
		len++;
	memmove(found, found + len, strlen(found + len) + 1);
	return *value;
}

/*
 * Removes our variables from a list of variables. adjacent: the strings may be where the kernel has
 * put them, one after the other; then those that follow move up, so that /proc/self/environ has no
 * gap.
 */
static void hide(char **list, bool adjacent)
{
	char **to = list, *end = *list;
	bool move = false;

	for (char **p = list; *p; p++) {
		adjacent &= *p == end;
		end = *p + strlen(*p) + 1;
	}
	char *place = *list;
	for (char **p = list; *p; p++) {
		char *variable = *p;
		size_t old = strlen(variable) + 1;
		if (strncmp(variable, TR_PRELOAD_VARIABLE, sizeof TR_PRELOAD_VARIABLE - 1) == 0 ||
		    strncmp(variable, TR_PRELOAD_START, sizeof TR_PRELOAD_START - 1) == 0 ||
		    (strncmp(variable, "LD_PRELOAD=", 11) == 0 && !shorten_list(variable + 11))) {
			move = adjacent;
			continue;
		}
		size_t len = strlen(variable) + 1;
		if (move)
			variable = memmove(place, variable, len);
		move |= adjacent && len != old;
		place = variable + len;
		*to++ = variable;
	}
	if (move)
		memset(place, 0, (size_t)(end - place));
	*to = NULL;
}

/* Reports that the program has begun; it may have been announced or not. */
static void report_program(const struct tr_launch_token *token, bool bypass, char **argv,
			   char **env)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	struct tr_journal_record record = record_of(TR_JOURNAL_FOREIGN, 0);
	struct tr_journal_cwd cwd;
	bool by_fd = path && strncmp(path, "/dev/fd/", 8) == 0;
	bool same = path && (by_fd || tr_journal_hash(path) == token->hash);
	uint32_t process = token->flags & TR_JOURNAL_IN_CHILD ? record.ppid : record.pid;

	record.token_pid = token->pid;
	record.token = token->number;
	record.flags = (uint16_t)(token->flags & ~(unsigned)TR_JOURNAL_BYPASS) |
		       (same ? TR_JOURNAL_SAME : 0) | (bypass ? TR_JOURNAL_BYPASS : 0);
	bool announced = same && process == token->pid &&
			 !(token->flags & (TR_JOURNAL_STATIC | TR_JOURNAL_BYPASS));
	if (announced)
		record.kind = TR_JOURNAL_LOADED;
	struct tr_journal_text text = { .cwd = tr_journal_cwd(&cwd) };
	if (!announced) {
		text.path = path ? path : "";
		text.argv = argv;
		text.env = env;
	}
	struct tr_gathered files = { 0 };
	tr_gather(&files, argv);
	text.files = files.strings;
	tr_journal_begin(&session, &record, &text);
	tr_gather_end(&files);
	tr_journal_end_cwd(&cwd);
}

/*
 * Whether the program is in another pid namespace. It is not if the process that announced it is
 * this one, or the parent that this one sees. Variables that were passed on by others prove
 * nothing.
 */
static bool is_outside(const struct tr_launch_token *token)
{
	enum { PASSED_ON = TR_JOURNAL_STATIC | TR_JOURNAL_BYPASS };
	uint32_t pid = (uint32_t)tr_journal_getpid(),
		 parent = (uint32_t)tr_journal_syscall(SYS_getppid);
	bool announced = !(token->flags & PASSED_ON) &&
			 token->pid == (token->flags & TR_JOURNAL_IN_CHILD ? parent : pid);

	session.pid = announced ? pid : 0;
	return tr_journal_is_outside(&session, pid, parent);
}

/*
 * Reports the processes between this one and the one that announced a program, whose variables this
 * one has inherited: they do not report themselves.
 */
static void report_ancestors(const struct tr_launch_token *token)
{
	enum { LEVELS = 32 };
	uint32_t chain[LEVELS], count = 1;

	chain[0] = (uint32_t)tr_journal_syscall(SYS_getppid);
	while (chain[count - 1] != token->pid) {
		uint32_t parent = count < LEVELS ? tr_journal_parent(chain[count - 1]) : 0;
		if (parent <= 1)
			return;
		chain[count++] = parent;
	}
	while (--count) {
		struct tr_journal_record record = record_of(TR_JOURNAL_ANCESTOR, 0);
		record.pid = chain[count - 1];
		record.ppid = chain[count];
		record.token_pid = token->pid;
		record.token = token->number;
		append(record, NULL);
	}
}

/* Whether this is a program in Go: these make system calls themselves. */
static bool is_go(void)
{
	static const char owner[] = "Go";
	const ElfW(Phdr) *parts = (const void *)getauxval(AT_PHDR), *part;
	size_t count = parts ? getauxval(AT_PHNUM) : 0;
	const char *base = NULL;

	for (part = parts; part < parts + count; part++)
		if (part->p_type == PT_PHDR)
			base = (const char *)parts - part->p_vaddr;
	for (part = parts; base && part < parts + count; part++) {
		const char *p = base + part->p_vaddr, *end = p + part->p_memsz;
		ElfW(Nhdr) note;
		if (part->p_type != PT_NOTE)
			continue;
		for (; (size_t)(end - p) >= sizeof note; p += note.n_namesz + note.n_descsz) {
			memcpy(&note, p, sizeof note);
			p += sizeof note;
			note.n_namesz = (note.n_namesz + 3) & ~3U;
			note.n_descsz = (note.n_descsz + 3) & ~3U;
			size_t left = (size_t)(end - p);
			if (note.n_namesz > left || note.n_descsz > left - note.n_namesz)
				break;
			if (note.n_namesz == 4 && memcmp(p, owner, sizeof owner) == 0)
				return true;
		}
	}
	return false;
}

/* Copies the path of the program to start in place of this one. NULL: there is none. */
static char *copy_start(void)
{
	char *copy = NULL;

	for (char **p = environ; p && *p && !copy; p++) {
		if (strncmp(*p, TR_PRELOAD_START, sizeof TR_PRELOAD_START - 1) != 0)
			continue;
		const char *path = *p + sizeof TR_PRELOAD_START - 1;
		size_t size = strlen(path) + 1;
		copy = tr_journal_borrow(size);
		if (copy)
			memcpy(copy, path, size);
	}
	return copy;
}

/* Starts the program in place of this one, as soon as strace watches the process. */
static _Noreturn void start_program(const char *path, char **argv)
{
	if (path)
		execve(path, argv, environ);
	REAL(_exit)(127);
	__builtin_unreachable();
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **env)
{
	struct tr_launch_token token;
	const char *value = NULL;
	int saved = errno;

	(void)argc;
	for (char **p = environ; p && *p && !value; p++)
		if (strncmp(*p, TR_PRELOAD_VARIABLE, sizeof TR_PRELOAD_VARIABLE - 1) == 0)
			value = *p + sizeof TR_PRELOAD_VARIABLE - 1;
	if (!value || !tr_launch_read(value, &token, &session))
		return;
	tr_hook_begin();
#ifdef TR_JOURNAL_NEEDS_SYSCALL
	tr_journal_syscall = REAL(syscall);
#endif
	tr_journal_set_given(argv, (const void *)getauxval(AT_EXECFN));
	recording = !is_outside(&token);
	session.pid = (uint32_t)tr_journal_getpid();
	if (!recording || token.flags & (TR_JOURNAL_START | TR_JOURNAL_STATIC | TR_JOURNAL_BYPASS))
		tr_journal_map(&session);
	char *start = token.flags & TR_JOURNAL_START ? copy_start() : NULL;
	bool bypass = recording && is_go();
	if (bypass) { /* what it starts inherits the variables, or is missing */
		tr_launch_mark((char *)value, token.flags | TR_JOURNAL_BYPASS);
	} else {
		if (environ && *environ)
			hide(environ, environ == env);
		if (env && env != environ && *env)
			hide(env, false);
	}
	if (!recording) {
		report_outside(token.flags & TR_JOURNAL_IN_CHILD ? token.pid : 0);
		if (token.flags & TR_JOURNAL_START)
			start_program(start, argv);
		errno = saved;
		return;
	}
	accounted = faults_of_children();
	if (token.flags & TR_JOURNAL_START) {
		struct tr_journal_record record = record_of(TR_JOURNAL_LOADED, 0);
		record.flags = TR_JOURNAL_START;
		record.token_pid = token.pid;
		record.token = token.number;
		append(record, NULL);
		start_program(start, argv);
	}
	if (token.flags & (TR_JOURNAL_STATIC | TR_JOURNAL_BYPASS))
		report_ancestors(&token);
	report_program(&token, bypass, argv, environ);
	tr_files_begin(&session);
	pthread_atfork(begin_fork, NULL, begin_child);
	on_exit(report_exit_of_libc, NULL);
	errno = saved;
}
