/* SPDX-License-Identifier: MIT */
/*
 * Runs the command under strace. A supervisor starts strace and holds the pipe, which strace opens
 * through /proc, so that the command does not inherit it. When the command ends, strace and the
 * supervisor end as well, and the pipe is closed.
 */

#include "cli.h"
#include "tr_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PIPE_SIZE = 1 << 20,
	/* exit statuses of a shell for a command that does not exist or cannot be run */
	NOT_FOUND = 127,
	NOT_EXECUTABLE = 126,
	TROUBLE = 2,
	LINGER = 5,		     /* seconds after which a message explains the wait */
	LEFT = 200 * 1000,	     /* microseconds that --no-wait gives processes to end */
	SECCOMP_SINCE = 5 * 100 + 3, /* the version of strace that has --seccomp-bpf */
};

/* The directories that execvp searches if PATH is not set. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* "?" marks a call that not every machine has. */
#define CALLS \
	"trace=execve,execveat,?clone,?clone3,?fork,?vfork,chdir,fchdir,?getcwd,?unshare,exit_" \
	"group"

/*
 * The calls of --files: those that open, name and pass on files, and transfers without their data
 * (RAW). Most file calls only query files; these are recorded with --stat.
 */
#define FILES \
	",?open,openat,?openat2,?creat,?rename,renameat,?renameat2,?link,linkat,?symlink," \
	"symlinkat,?unlink,unlinkat,?rmdir,?mkdir,mkdirat,?mknod,mknodat,truncate,ftruncate," \
	"?truncate64,?ftruncate64,close,?close_range,dup,?dup2,dup3,fcntl,?fcntl64,?pipe," \
	"pipe2,socketpair,sendmsg,recvmsg,?memfd_create,exit"
#define TRANSFERS ",sendfile,?copy_file_range,splice,tee," RAW
#define RAW "read,write,pread64,pwrite64,readv,writev,preadv,pwritev"
#define STATS \
	",?stat,?lstat,fstat,?newfstatat,?statx,?access,faccessat,?faccessat2,?readlink," \
	"readlinkat,?getdents,getdents64"

/*
 * The pid of the command once it is known, and a signal that arrived before. The command gets the
 * signal directly, because strace blocks signals while it runs a command.
 */
static volatile sig_atomic_t command_pid, early_signal;

static void pass_on(int signal_number)
{
	int saved = errno;

	if (command_pid > 0)
		kill((pid_t)command_pid, signal_number);
	else
		early_signal = signal_number;
	errno = saved;
}

/*
 * The terminal also sends its signals to the command, which handles them. Signals that are
 * sent to this process alone go to handler.
 */
void tr_mind_signals(void (*handler)(int))
{
	static const int sent[] = { SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
		if (sigaction(sent[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(sent[i], &action, NULL);
}

void tr_capture_command(pid_t pid)
{
	command_pid = (sig_atomic_t)pid;
	if (early_signal)
		pass_on(early_signal);
	early_signal = 0;
}

static void explain_wait(int signal_number)
{
	static const char words[] = "tr-record: the command has ended; waiting for the processes "
				    "that it left running (Ctrl-C ends the wait)\n";

	(void)signal_number;
	(void)!write(STDERR_FILENO, words, sizeof words - 1);
}

/* The wait for processes that the command left running. */
static volatile sig_atomic_t watching_supervisor, wait_ended;
static int waited_log = -1, nothing = -1;

/*
 * Ctrl-C ends the log. strace must continue, because without it the calls of those processes would
 * fail; a child process reads what it still writes.
 */
static void end_wait(int signal_number)
{
	char rest[1 << 12];
	int saved = errno;

	(void)signal_number;
	if (wait_ended)
		return;
	wait_ended = 1;
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_IGN);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		for (ssize_t n;
		     (n = read(waited_log, rest, sizeof rest)) > 0 || (n < 0 && errno == EINTR);)
			;
		_exit(0);
	}
	dup2(nothing, STDIN_FILENO);
	errno = saved;
}

/* --no-wait ends strace. It traces without a seccomp filter, so no process depends on it. */
static void end_watch(int signal_number)
{
	int saved = errno;

	(void)signal_number;
	wait_ended = 1;
	kill((pid_t)watching_supervisor, SIGUSR1);
	errno = saved;
}

void tr_capture_lingers(const struct tr_capture *capture, bool quiet)
{
	struct sigaction action = { .sa_handler = explain_wait, .sa_flags = SA_RESTART };
	struct sigaction interrupt = { .sa_handler = end_wait, .sa_flags = SA_RESTART };

	if (capture->no_wait) {
		const struct itimerval soon = { .it_value = { .tv_usec = LEFT } };
		watching_supervisor = (sig_atomic_t)capture->supervisor;
		action.sa_handler = end_watch;
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &soon, NULL);
		return;
	}
	if (capture->backend == TR_BACKEND_PRELOAD) {
		/* the supervisor ends the log; the processes need neither it nor strace */
		watching_supervisor = (sig_atomic_t)capture->supervisor;
		interrupt.sa_handler = end_watch;
		sigaction(SIGINT, &interrupt, NULL);
		if (quiet)
			return;
		sigaction(SIGALRM, &action, NULL);
		alarm(LINGER);
		return;
	}
	waited_log = fcntl(capture->log, F_DUPFD_CLOEXEC, 3);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (waited_log >= 0 && nothing >= 0)
		sigaction(SIGINT, &interrupt, NULL);
	if (quiet)
		return;
	sigaction(SIGALRM, &action, NULL);
	alarm(LINGER);
}

bool tr_capture_was_left(void)
{
	return wait_ended;
}

static bool is_program(const char *path, bool *there)
{
	struct stat st;

	if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
		return false;
	*there = true;
	return access(path, X_OK) == 0;
}

/* Searches for a program. Returns 0 and its path in candidate, or the exit status. */
static int search(const char *list, const char *name, char candidate[PATH_MAX])
{
	bool there = false;

	for (const char *p = list; *name; p++) {
		size_t len = strcspn(p, ":");
		int n = snprintf(candidate, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? p : ".",
				 name);
		if (n > 0 && n < PATH_MAX && is_program(candidate, &there))
			return 0;
		p += len;
		if (!*p)
			break;
	}
	return there ? NOT_EXECUTABLE : NOT_FOUND;
}

/* Searches for a program as execvp does. Returns 0, or the exit status. */
static int find_program(const char *name, char candidate[PATH_MAX])
{
	const char *path = getenv("PATH");
	bool there = false;

	if (!strchr(name, '/'))
		return search(path ? path : DEFAULT_PATH, name, candidate);
	snprintf(candidate, PATH_MAX, "%s", name);
	return is_program(name, &there) ? 0 : access(name, F_OK) == 0 ? NOT_EXECUTABLE : NOT_FOUND;
}

/* An empty PATH is the working directory, which is where the command is, and not strace. */
static const char *find_strace(char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	return search(list && *list ? list : DEFAULT_PATH, "strace", path) == 0 ? path : NULL;
}

/*
 * True if this is a text without "#!", which the kernel does not run. Shells, make and execvp pass
 * it to the shell; strace does not.
 */
static bool is_plain_script(const char *path)
{
	char head[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;

	if (fd >= 0)
		close(fd);
	return n >= 0 && !(n >= 2 && memcmp(head, "#!", 2) == 0) && !memchr(head, '\0', (size_t)n);
}

/* Waits for the process, even if signals arrive. Returns its pid, or -1. */
static pid_t wait_for(pid_t pid, int *status)
{
	pid_t got;

	while ((got = waitpid(pid, status, 0)) < 0 && errno == EINTR)
		;
	return got;
}

/* Returns major * 100 + minor of the version of strace; 0: unknown. */
static unsigned strace_version(void)
{
	char line[256] = "", path[PATH_MAX];
	unsigned major = 0, minor = 0;
	int ends[2], status;

	if (!find_strace(path) || pipe2(ends, O_CLOEXEC) != 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, "strace", "-V", (char *)NULL);
		_exit(NOT_FOUND);
	}
	close(ends[1]);
	size_t len = 0;
	for (ssize_t n; pid > 0 && len < sizeof line - 1 &&
			(n = read(ends[0], line + len, sizeof line - 1 - len)) > 0;)
		len += (size_t)n;
	close(ends[0]);
	if (pid > 0)
		wait_for(pid, &status);
	const char *version = strstr(line, "version ");
	if (!version || sscanf(version, "version %u.%u", &major, &minor) != 2)
		return 0;
	return major * 100 + minor;
}

/* Tries whether a process may trace its child. Returns 0 or an errno. */
static int ptrace_error(void)
{
	int result = 0, status;
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	if (pid < 0)
		return errno;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
		result = errno;
	kill(pid, SIGKILL);
	wait_for(pid, &status);
	return result;
}

/* Finds the pid and name of the process that traces this one. False: there is none. */
static bool find_tracer(long *pid, char name[32])
{
	char line[128];
	FILE *file = fopen("/proc/self/status", "re");

	*pid = 0;
	while (file && fgets(line, sizeof line, file) && !*pid)
		(void)!sscanf(line, "TracerPid: %ld", pid);
	if (file)
		fclose(file);
	if (!*pid)
		return false;
	snprintf(line, sizeof line, "/proc/%ld/comm", *pid);
	file = fopen(line, "re");
	if (!file || !fgets(name, 32, file))
		snprintf(name, 32, "?");
	if (file)
		fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return true;
}

static void report_ptrace(struct tr_cli *cli, int error)
{
	char name[32];
	long tracer;

	if (find_tracer(&tracer, name))
		tr_cli_fail(cli,
			    "process %ld (%s) already traces tr-record, and a process can have "
			    "only one tracer: run tr-record outside of it",
			    tracer, name);
	else
		tr_cli_fail(cli,
			    "processes cannot be traced here (ptrace: %s): a container needs "
			    "the capability SYS_PTRACE, else see kernel.yama.ptrace_scope",
			    strerror(error));
}

/* Reports what prevents strace from watching the command, before anything runs. */
static bool can_strace(struct tr_cli *cli)
{
	char path[PATH_MAX];

	if (!find_strace(path)) {
		tr_cli_fail(cli, "strace(1), which watches the command, is not installed");
		return false;
	}
	int error = ptrace_error();
	if (error)
		report_ptrace(cli, error);
	return !error;
}

/* The options with which strace runs. */
struct tracing {
	bool filter;	   /* the kernel selects the calls */
	const char *calls; /* the value of -e that selects them */
	bool files;
};

/* Becomes strace. */
static void run_strace(const char *log, const struct tr_start *start, const struct tracing *tracing)
{
	/*
	 * A string of an argument list has at most 128 KiB, so -s cuts none.
	 * Without signals strace would not print that one killed a process. Calls in other pid
	 * namespaces return other numbers than those by which strace knows the processes.
	 */
	static const char *const fixed[] = { "strace",
					     "-f",
					     "-v",
					     "-y",
					     "-ttt",
					     "-s",
					     "1048576",
					     "-e",
					     "signal=!SIGCHLD",
					     "--pidns-translation" };
	enum { FIXED = sizeof fixed / sizeof *fixed, MORE = 12 };
	const char *list = getenv("PATH");
	char path[PATH_MAX];
	size_t count = 0, n = 0;

	while (start->command[count])
		count++;
	const char **argv = calloc(FIXED + MORE + count, sizeof *argv);
	if (!argv || !find_strace(path))
		return;
	for (; n < FIXED; n++)
		argv[n] = fixed[n];
	argv[n++] = "-e";
	argv[n++] = tracing->calls;
	if (tracing->files) {
		argv[n++] = "-e";
		argv[n++] = "raw=" RAW;
	}
	if (tracing->filter)
		argv[n++] = "--seccomp-bpf";
	if (!list || !*list) { /* strace would find no program; the command keeps its PATH */
		argv[n++] = "-E";
		argv[n++] = list ? "PATH=" : "PATH";
		setenv("PATH", list ? ":" : DEFAULT_PATH, 1);
	}
	argv[n++] = "-o";
	argv[n++] = log;
	argv[n++] = "--";
	if (start->script) {
		argv[n++] = "/bin/sh";
		argv[n++] = start->script;
	}
	for (size_t i = start->script != NULL; i < count; i++)
		argv[n++] = start->command[i];
	execv(path, (char *const *)argv);
}

/*
 * Transfers are left out, because the library does not record them, and tr-deps assumes who made
 * them. If the trace had those of some programs, others that wrote to the same file would seem not
 * to have written.
 */
void tr_strace_attach(const char *log, pid_t pid, bool files)
{
	char number[16], path[PATH_MAX];

	snprintf(number, sizeof number, "%ld", (long)pid);
	if (find_strace(path))
		execl(path, "strace", "-q", "-f", "-v", "-y", "-ttt", "-s", "1048576", "-e",
		      "signal=!SIGCHLD", "--pidns-translation", "-e", files ? CALLS FILES : CALLS,
		      "-o", log, "-p", number, (char *)NULL);
}

/* Ends as the command did, without a core file. */
void tr_end_as(int wait_status)
{
	struct rlimit none = { 0, 0 };

	if (!WIFSIGNALED(wait_status))
		_exit(WEXITSTATUS(wait_status));
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(wait_status), SIG_DFL);
	raise(WTERMSIG(wait_status));
	_exit(128 + WTERMSIG(wait_status));
}

static volatile sig_atomic_t strace_pid;

static void kill_strace(int signal_number)
{
	(void)signal_number;
	kill((pid_t)strace_pid, SIGKILL);
}

static void supervise(int log, const struct tr_start *start, const struct tracing *tracing)
{
	char path[64];
	int status = TROUBLE << 8;

	snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), log);
	if (start->divert)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	pid_t pid = fork();
	if (pid == 0) {
		run_strace(path, start, tracing);
		_exit(TROUBLE);
	}
	if (pid > 0) {
		strace_pid = (sig_atomic_t)pid;
		signal(SIGUSR1, kill_strace);
		tr_mind_signals(SIG_IGN);
		wait_for(pid, &status);
	}
	tr_end_as(status);
}

/* Starts the supervisor of strace. The counterpart of tr_preload_begin. */
static bool begin_strace(struct tr_cli *cli, struct tr_capture *capture,
			 const struct tr_start *start)
{
	struct tracing tracing = { .calls = CALLS, .files = capture->files };
	int ends[2];

	tracing.filter = !capture->no_wait && strace_version() >= SECCOMP_SINCE;
	if (capture->files)
		tracing.calls = capture->stat ? CALLS FILES TRANSFERS STATS : CALLS FILES TRANSFERS;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		tr_cli_fail(cli, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* a smaller pipe works, too */
	fflush(NULL);
	capture->log = ends[0];
	capture->supervisor = fork();
	if (capture->supervisor == 0) {
		close(ends[0]);
		supervise(ends[1], start, &tracing);
	}
	close(ends[1]);
	if (capture->supervisor < 0) {
		tr_cli_fail(cli, "cannot start a process: %s", strerror(errno));
		close(ends[0]);
		return false;
	}
	return true;
}

/* Starts the command with the library. If that is impossible, auto uses strace alone. */
static bool begin_preload(struct tr_cli *cli, struct tr_capture *capture,
			  const struct tr_start *start)
{
	bool automatic = capture->backend == TR_BACKEND_AUTO;
	struct tr_error err;
	char path[PATH_MAX];

	capture->backend = TR_BACKEND_PRELOAD;
	capture->attaches = automatic && find_strace(path) && ptrace_error() == 0;
	if (tr_preload_begin(capture, start, &err))
		return true;
	if (capture->attaches) {
		capture->backend = TR_BACKEND_STRACE;
		return begin_strace(cli, capture, start);
	}
	tr_cli_fail(cli, "%s", err.text);
	if (automatic)
		can_strace(cli); /* reports why strace cannot be used instead */
	return false;
}

bool tr_capture_begin(struct tr_cli *cli, struct tr_capture *capture, const char *const *command,
		      bool divert, int *status)
{
	char path[PATH_MAX];
	struct tr_start start = { .command = command, .divert = divert };

	*status = TROUBLE;
	/* the library does not record calls that only query files */
	if (capture->backend == TR_BACKEND_AUTO && capture->stat)
		capture->backend = TR_BACKEND_STRACE;
	if (capture->backend == TR_BACKEND_STRACE && !can_strace(cli)) {
		if (!capture->stat)
			tr_cli_note(cli, "without --backend=strace, programs report themselves");
		return false;
	}
	int error = find_program(command[0], path);
	if (error) {
		tr_cli_fail(cli, "%s: %s", command[0],
			    error == NOT_FOUND ? "command not found" : "cannot be executed");
		*status = error;
		return false;
	}
	start.script = is_plain_script(path) ? path : NULL;
	if (!(capture->backend == TR_BACKEND_STRACE ? begin_strace(cli, capture, &start)
						    : begin_preload(cli, capture, &start)))
		return false;
	tr_mind_signals(pass_on);
	/* the command continues if the records have no reader, or exceed the limit for files */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return true;
}

int tr_capture_end(struct tr_capture *capture)
{
	char rest[1 << 14];
	int status = TROUBLE << 8;
	ssize_t n;

	/* the command continues even if its records cannot be written */
	do
		n = read(capture->log, rest, sizeof rest);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (!wait_ended || capture->no_wait || capture->backend == TR_BACKEND_PRELOAD)
		wait_for(capture->supervisor, &status);
	alarm(0);
	return status;
}

int tr_capture_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		tr_end_as(wait_status);
	return WEXITSTATUS(wait_status);
}
