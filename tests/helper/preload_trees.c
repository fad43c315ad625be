/* SPDX-License-Identifier: MIT */
/*
 * Random trees of processes, and the truth about them, for tr-record: preload_trees SEED COUNT
 * TRUTH. Processes append lines to the file TRUTH, each before it can matter to others:
 *
 *	exec PID ID PARENT DIRECTORY VARIABLES	a program began; PARENT is the ID of its parent's
 *	end PID status=N | end PID signal=NAME	how a process ends
 *
 * Each program runs this one with the arguments node ID PARENT SEED DEPTH TRUTH. If there is a
 * second one, with the suffix .static, every third is that.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 3, NAME = 512 };

extern char **environ;

static char programs[2][4096], id[NAME], parent_id[NAME];
static const char *truth;
static uint64_t state;
static int depth, born;

static unsigned rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	char line[3 * NAME + 4096];
	va_list arguments;
	int fd = open(truth, O_WRONLY | O_APPEND | O_CLOEXEC);

	va_start(arguments, format);
	int len = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (fd < 0 || write(fd, line, (size_t)len) != len)
		abort();
	close(fd);
}

/* Ends the process in some way. */
static _Noreturn void finish(void)
{
	int status = (int)rnd(256);

	switch (rnd(6)) {
	case 0:
		tell("end %d signal=SIGKILL\n", getpid());
		raise(SIGKILL);
		break;
	case 1:
		tell("end %d signal=SIGTERM\n", getpid());
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
		break;
	case 2:
		tell("end %d status=%d\n", getpid(), status);
		_exit(status);
	case 3:
		tell("end %d status=%d\n", getpid(), status);
		quick_exit(status);
	default:
		tell("end %d status=%d\n", getpid(), status);
	}
	exit(status);
}

static void wait_for(pid_t pid)
{
	siginfo_t info;

	switch (rnd(3)) {
	case 0:
		while (waitpid(pid, NULL, 0) != pid)
			;
		break;
	case 1:
		while (wait4(pid, NULL, 0, NULL) != pid)
			;
		break;
	default:
		while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0)
			;
	}
}

/* The path, command line and environment of a new program. */
struct program {
	const char *path;
	char child[NAME + 16], seed[32], level[16], variable[NAME + 32];
	char *argv[9], *few[2], **env;
};

static void prepare(struct program *program, const char *of)
{
	program->path = programs[*programs[1] && rnd(3) == 0];
	snprintf(program->child, sizeof program->child, "%.400s.%d", id, born++);
	snprintf(program->seed, sizeof program->seed, "%u", rnd(1u << 31) + 1);
	snprintf(program->level, sizeof program->level, "%d", depth + 1);
	snprintf(program->variable, sizeof program->variable, "OF=%s", id);
	char *const argv[] = { "trees",	      "node",	      program->child, (char *)of,
			       program->seed, program->level, (char *)truth,  NULL };
	memcpy(program->argv, argv, sizeof argv);
	program->few[0] = rnd(2) ? program->variable : NULL;
	program->few[1] = NULL;
	program->env = rnd(3) ? environ : program->few;
}

static void run(struct program *program)
{
	switch (program->env == environ ? rnd(4) : 4) {
	case 0:
		execv(program->path, program->argv);
		break;
	case 1:
		execvp(program->path, program->argv);
		break;
	case 2:
		execl(program->path, program->argv[0], program->argv[1], program->argv[2],
		      program->argv[3], program->argv[4], program->argv[5], program->argv[6], NULL);
		break;
	default:
		execve(program->path, program->argv, program->env);
	}
	_exit(99);
}

static void act(void);

/* A process that runs no program of its own. */
static void by_fork(bool program)
{
	struct program next;

	if (program)
		prepare(&next, id);
	unsigned seed = rnd(1u << 31) + 1;
	int skipped = born + 100;
	pid_t pid = fork();
	if (pid == 0) {
		state = seed;
		born = skipped;
		if (program)
			run(&next);
		act();
		finish();
	}
	born = skipped + 100;
	wait_for(pid);
}

static void by_vfork(void)
{
	static struct program next;

	prepare(&next, id);
	pid_t pid = vfork();
	if (pid == 0) {
		execve("/no/such/program", next.argv, next.env);
		execve(next.path, next.argv, next.env);
		_exit(99);
	}
	wait_for(pid);
}

static void by_spawn(void)
{
	struct program next;
	pid_t pid;

	prepare(&next, id);
	if (posix_spawnp(&pid, next.path, NULL, NULL, next.argv, next.env) != 0)
		abort();
	wait_for(pid);
}

static void by_system(void)
{
	struct program next;
	char command[8192];

	prepare(&next, id);
	/* the shell, which has no ID, is replaced */
	snprintf(command, sizeof command, "exec '%s' node %s %s %s %s '%s'", next.path,
		 next.argv[2], next.argv[3], next.argv[4], next.argv[5], truth);
	(void)!system(command);
}

static void *in_thread(void *unused)
{
	(void)unused;
	by_fork(true);
	return NULL;
}

static void by_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

/* A process that is killed while it does nothing. */
static void by_kill(void)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		(void)!write(ends[1], "", 1);
		for (;;)
			pause();
	}
	(void)!read(ends[0], &byte, 1);
	close(ends[0]);
	close(ends[1]);
	tell("end %d signal=SIGKILL\n", pid);
	kill(pid, SIGKILL);
	wait_for(pid);
}

/* A program whose parent has ended. */
static void by_orphan(void)
{
	struct program next;

	prepare(&next, id);
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			run(&next);
		tell("end %d status=0\n", getpid());
		_exit(0);
	}
	wait_for(pid);
}

static void act(void)
{
	static void (*const ways[])(void) = { by_vfork,	 by_spawn, by_system,
					      by_thread, by_kill,  by_orphan };

	if (rnd(4) == 0 && chdir(rnd(2) ? "/" : "/tmp") != 0)
		abort();
	for (unsigned i = depth < DEPTH ? rnd(4) : 0; i; i--) {
		unsigned way = rnd(8);
		if (way >= 6)
			by_fork(way == 6);
		else
			ways[way]();
	}
}

static void tell_exec(void)
{
	char directory[4096];
	int variables = 0;

	while (environ && environ[variables])
		variables++;
	if (!getcwd(directory, sizeof directory))
		abort();
	tell("exec %d %s %s %s %d\n", getpid(), id, parent_id, directory, variables);
}

static int be_node(char **argv)
{
	struct program next;

	snprintf(id, sizeof id, "%s", argv[2]);
	snprintf(parent_id, sizeof parent_id, "%s", argv[3]);
	state = strtoull(argv[4], NULL, 10);
	depth = atoi(argv[5]);
	truth = argv[6];
	tell_exec();
	act();
	if (depth < DEPTH && rnd(4) == 0) { /* the same process, so its parent stays */
		prepare(&next, parent_id);
		run(&next);
	}
	finish();
}

/* This one without the suffix, and the second one, or "". */
static bool find_programs(void)
{
	static const char suffix[] = ".static";
	ssize_t len = readlink("/proc/self/exe", programs[0], sizeof programs[0] - sizeof suffix);

	if (len < 0)
		return false;
	char *end = programs[0] + len - (sizeof suffix - 1);
	if (end <= programs[0] || strcmp(end, suffix) != 0)
		end = programs[0] + len;
	*end = '\0';
	memcpy(programs[1], programs[0], sizeof programs[0]);
	memcpy(programs[1] + (end - programs[0]), suffix, sizeof suffix);
	if (access(programs[1], X_OK) != 0)
		*programs[1] = '\0';
	return true;
}

int main(int argc, char **argv)
{
	if (!find_programs())
		return 2;
	if (argc == 7)
		return be_node(argv);
	if (argc != 4)
		return 2;
	snprintf(id, sizeof id, "0");
	snprintf(parent_id, sizeof parent_id, "-");
	truth = argv[3];
	state = strtoull(argv[1], NULL, 10) * 2654435761u + 1;
	tell_exec();
	for (int count = atoi(argv[2]); count; count--)
		by_fork(true);
	tell("end %d status=0\n", getpid());
	return 0;
}
