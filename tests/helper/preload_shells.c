/* SPDX-License-Identifier: MIT */
/*
 * preload_shells: prints what system and popen do, with wrong arguments and other streams, too.
 * preload_shells threads: several threads call them at the same time, 120 times in all; prints what
 * becomes of the environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Streams of fopen go to pclose, and those of popen to fclose: the compiler would warn of that. */
static int (*volatile close_file)(FILE *) = fclose;
static FILE *(*volatile open_file)(const char *, const char *) = fopen;

static volatile sig_atomic_t caught;

static void note(int number)
{
	caught = number;
}

static void show(const char *what, int result)
{
	printf("%s: %d, errno %d\n", what, result, errno);
	errno = 0;
}

/* Prints which of two signals the process ignores, and which of SIGINT and SIGCHLD it blocks. */
static void show_signals(const char *what)
{
	struct sigaction interrupt, quit;
	sigset_t mask;

	sigaction(SIGINT, NULL, &interrupt);
	sigaction(SIGQUIT, NULL, &quit);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	printf("%s: %d %d %d %d\n", what, interrupt.sa_handler == SIG_IGN,
	       quit.sa_handler == SIG_IGN, sigismember(&mask, SIGINT), sigismember(&mask, SIGCHLD));
}

/* A command of 200,000 bytes, which the kernel refuses. */
static const char *too_long(void)
{
	static char command[200001];

	memset(command, ':', sizeof command - 1);
	return command;
}

static void by_system(void)
{
	show("status", system("exit 3"));
	show("killed", system("kill -TERM $$"));
	show("too long", system(too_long()));
	signal(SIGINT, note);
	signal(SIGCHLD, note);
	show("signals of the shell", system("grep 'Sig[BIC]' /proc/self/status"));
	show("ignored by the program", system("kill -INT $PPID; kill -QUIT $PPID; kill -INT $$"));
	printf("caught %d\n", caught);
	signal(SIGINT, SIG_IGN);
	show("ignored by both", system("kill -INT $$; exit 5"));
	signal(SIGCHLD, SIG_IGN);
	show("nothing to wait for", system("exit 3"));
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	show_signals("after");
}

static void *sleeps(void *unused)
{
	(void)unused;
	return (void *)(long)system("exec sleep 60");
}

static void by_cancelled(void)
{
	const struct timespec moment = { .tv_nsec = 300000000 };
	time_t start = time(NULL);
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, sleeps, NULL);
	nanosleep(&moment, NULL);
	show_signals("in system");
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled %d, at once %d\n", result == PTHREAD_CANCELED, time(NULL) < start + 30);
	show_signals("cancelled");
	errno = 0;
	show("child", (int)wait(NULL));
}

static sigjmp_buf before;

static void leave(int number)
{
	siglongjmp(before, number);
}

static void by_longjmp(void)
{
	signal(SIGALRM, leave);
	if (sigsetjmp(before, 1) == 0) {
		alarm(1);
		show("not left", system("exec sleep 60"));
	}
	show_signals("left");
	errno = 0;
	show("child", (int)wait(NULL));
	signal(SIGALRM, SIG_DFL);
}

/* A function of libc closes a stream of popen; a file may get its address. */
static void by_libc(void)
{
	FILE *stream = popen("exit 4", "r");

	endmntent(stream);
	stream = open_file("/dev/null", "r");
	show("another file", close_file(stream));
}

static void by_popen(void)
{
	static const char *const modes[] = { "r", "w", "re", "ew", "rr", "rw", "x", "", "e", "r+" };
	char line[64];
	FILE *stream, *other;

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		errno = 0;
		stream = popen("exit 4", modes[i]);
		printf("%s ", modes[i]);
		show("opened", stream ? fcntl(fileno(stream), F_GETFD) : -1);
		if (stream)
			show("status", pclose(stream));
	}
	show("too long", popen(too_long(), "r") != NULL);
	stream = popen("cat", "w");
	other = popen("echo /proc/self/fd/[!012]*; ls /proc/$$/fd", "r");
	while (fgets(line, sizeof line, other))
		fputs(line, stdout);
	show("other", pclose(other));
	show("put", fputs("line\n", stream));
	fflush(stdout);
	show("closed", close_file(stream));
	signal(SIGPIPE, SIG_IGN);
	stream = popen("exec <&-", "w");
	waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	fputs("line\n", stream);
	show("broken pipe", pclose(stream));
	signal(SIGPIPE, SIG_DFL);
	stream = popen("exit 4", "r");
	close(fileno(stream));
	show("closed before", pclose(stream));
	show("child", wait(NULL) > 0);
	stream = popen("exit 4", "r");
	wait(NULL);
	show("waited for", pclose(stream));
	show("another stream", pclose(open_file("/dev/null", "r")));
	fflush(stdout);
	close(STDIN_FILENO);
	stream = popen("cat", "w");
	show("standard input", fileno(stream));
	fputs("line\n", stream);
	fflush(stdout);
	show("status", pclose(stream));
}

static _Atomic bool ends;
static _Atomic int seen;

static void *calls_system(void *command)
{
	for (int i = 0; i < 30; i++)
		seen += system(command) != 0;
	return NULL;
}

static void *calls_popen(void *command)
{
	for (int i = 0; i < 10; i++) {
		FILE *streams[3];
		for (int k = 0; k < 3; k++)
			streams[k] = popen(command, "r");
		for (int k = 0; k < 3; k++)
			seen += !streams[k] || pclose(streams[k]) != 0;
	}
	return NULL;
}

static void *looks(void *own)
{
	while (!ends)
		seen += environ != own || getenv("LD_PRELOAD");
	return NULL;
}

static void in_threads(void)
{
	static void *(*const functions[])(void *) = { calls_system, calls_popen, calls_system,
						      calls_popen };
	pthread_t threads[4], looker;

	pthread_create(&looker, NULL, looks, (void *)environ);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, functions[i],
			       (void *)(i < 2 ? "true" : "exec sleep 0.01"));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ends = true;
	pthread_join(looker, NULL);
	printf("seen %d\n", seen);
	show_signals("signals");
}

int main(int argc, char **argv)
{
	(void)argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) {
		in_threads();
	} else {
		by_system();
		by_cancelled();
		by_longjmp();
		by_popen();
		by_libc();
	}
	return 0;
}
