/* SPDX-License-Identifier: MIT */
/*
 * measure [-1] COMMAND [ARG...]: runs the command with its output in a pipe that cat(1) drains,
 * because some programs skip work if they detect /dev/null. Prints CPU seconds, with those of
 * processes that the command started, wall seconds and peak KiB. -1: it may end with status 1.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* start ARGV with standard input IN and output OUT; the other ends are closed by FD_CLOEXEC */
static pid_t start(char **argv, int in, int out)
{
	pid_t pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid > 0)
		return pid;
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		err(2, "dup2");
	execvp(argv[0], argv);
	err(127, "%s", argv[0]);
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static char *drain[] = { "cat", NULL };
	int pipe_ends[2];

	bool differences = argc > 1 && strcmp(argv[1], "-1") == 0;
	argv += differences;
	argc -= differences;
	if (argc < 2)
		errx(2, "usage: measure [-1] COMMAND [ARG...]");
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || pipe2(pipe_ends, O_CLOEXEC))
		err(2, "pipe");

	pid_t drain_pid = start(drain, pipe_ends[0], null);
	double begin = now();
	pid_t pid = start(argv + 1, STDIN_FILENO, pipe_ends[1]);
	close(pipe_ends[0]);
	close(pipe_ends[1]);

	struct rusage usage;
	int status;
	if (wait4(pid, &status, 0, &usage) != pid)
		err(2, "wait4");
	double wall = now() - begin;
	if (waitpid(drain_pid, NULL, 0) != drain_pid)
		err(2, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > differences)
		errx(1, "%s failed (status 0x%x)", argv[1], (unsigned int)status);
	printf("%.4f %.4f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall,
	       usage.ru_maxrss);
	return 0;
}
