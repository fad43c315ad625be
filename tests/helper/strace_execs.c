/* SPDX-License-Identifier: MIT */
/*
 * A program to be traced: it runs itself in every way in which a build runs
 * programs, and in more difficult ones. It prints a line for each execution that happened, in
 * the words of the stream:
 *
 *	DIRECTORY TAB ARGUMENTS TAB ENVIRONMENT TAB ARGUMENTS of the parent
 *
 * strace_execs DIRECTORY: begins. DIRECTORY has the folders "sub" and "other".
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[4096], top[4096];
static int sub_fd;

/* The environment of all children; parent contains the parent's arguments. */
static char parent[4096] = "PARENT=";
static char *environment[] = { "PS1=[\\u@\\h \\W]\\$ ",
			       "B\xc3\xa4r=\xff\xfe"
			       "9\033"
			       "1\n\t",
			       "EMPTY=",
			       "A=b=c",
			       parent,
			       NULL };

static void put_string(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else if (*p == '\n')
			printf("\\n");
		else if (*p == '\t')
			printf("\\t");
		else if (*p < 0x20)
			printf("\\u%04x", *p);
		else if (*p == 0xc3 &&
			 p[1] >= 0x80) /* the only characters there are beyond ASCII */
			printf("%c%c", p[0], p[1]), p++;
		else if (*p >= 0x80)
			printf("\\x%02x", *p);
		else
			putchar(*p);
	}
}

static void put_list(char **list)
{
	putchar('[');
	for (int i = 0; list[i]; i++) {
		printf("%s\"", i ? "," : "");
		put_string(list[i]);
		putchar('"');
	}
	putchar(']');
}

static void put_environment(void)
{
	putchar('{');
	for (int i = 0; environ[i]; i++) {
		char *equals = strchr(environ[i] + 1, '=');
		printf("%s\"", i ? "," : "");
		*equals = '\0';
		put_string(environ[i]);
		printf("\":\"");
		put_string(equals + 1);
		putchar('"');
		*equals = '=';
	}
	putchar('}');
}

/* In one write, so that lines of several processes do not mix. */
static void confess(char **argv)
{
	const char *of = getenv("PARENT");
	char directory[4096];

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	printf("%s\t", getcwd(directory, sizeof directory));
	put_list(argv);
	putchar('\t');
	put_environment();
	printf("\t%s\n", of ? of : "-");
	fflush(stdout);
}

static void run(const char *path, char **argv)
{
	execve(path, argv, environment);
}

#define RUN(path, ...) run(path, (char *[]){ __VA_ARGS__, NULL })

static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		;
}

/* In a child: body, which does not come back. */
#define CHILD(body) \
	do { \
		pid_t child_pid = fork(); \
		if (child_pid == 0) { \
			body; \
			_exit(9); \
		} \
		wait_for(child_pid); \
	} while (0)

static void *in_thread(void *name)
{
	if (chdir("sub") == 0)
		RUN(self, "leaf", name);
	return NULL;
}

static void exec_in_thread(char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, name);
	for (;;)
		pause();
}

static void by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		RUN("/nowhere/strace_execs", "leaf", "never");
		RUN("./link", "leaf", "by vfork, relative");
		_exit(9);
	}
	wait_for(pid);
}

static void by_spawn(void)
{
	char *argv[] = { "leaf", "by posix_spawn", NULL };
	pid_t pid;

	posix_spawn(&pid, self, NULL, NULL, argv, environment);
	wait_for(pid);
}

static int shared_child(void *unused)
{
	(void)unused;
	_exit(chdir(top) || chdir("other"));
}

/* A child that shares the directory moves it, for its parent too. */
static void by_clone_fs(void)
{
	char *stack = malloc(1 << 16);
	pid_t pid = clone(shared_child, stack + (1 << 16), CLONE_FS | SIGCHLD, NULL);

	wait_for(pid);
	RUN(self, "leaf", "moved by a child");
}

static void grandchild(void)
{
	if (chdir("sub") == 0)
		CHILD(CHILD(RUN(self, "leaf", "of two that never ran anything")));
	_exit(0);
}

/* Two that run at the same time. */
static void both(void)
{
	pid_t a = fork();

	if (a == 0) {
		RUN(self, "leaf", "one of two");
		_exit(9);
	}
	pid_t b = fork();
	if (b == 0) {
		RUN(self, "leaf", "the other one");
		_exit(9);
	}
	wait_for(a);
	wait_for(b);
}

static void everything(void)
{
	CHILD(RUN(self, "leaf", "a\nb\t\"c\" \\d",
		  "\xff\xfe"
		  "1",
		  "\033"
		  "19",
		  "\xc3\xbc", "", "[x", "]), = 0"));
	CHILD(if (fchdir(sub_fd) == 0) RUN(self, "leaf", "after fchdir"));
	CHILD(if (chdir("sub/../other") == 0) RUN("../link", "leaf", "after chdir"));
	CHILD(exec_in_thread("in a thread"));
	by_vfork();
	by_spawn();
	CHILD(syscall(SYS_execveat, sub_fd, "../link", (char *[]){ "leaf", "by execveat", NULL },
		      environment, 0));
	CHILD(by_clone_fs());
	CHILD(RUN(self, "chain", "first"));
	CHILD(grandchild());
	CHILD(RUN(self, "middle", "of three"));
	CHILD(RUN(self, "killed"));
	both();
}

static void remember_parent(char **argv)
{
	char *to = parent + strlen(parent);

	for (int i = 0; argv[i]; i++)
		to += sprintf(to, "%s%s", i ? " " : "", argv[i]);
}

int main(int argc, char **argv)
{
	(void)argc;
	confess(argv);
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 2;
	if (strcmp(argv[0], "leaf") == 0)
		return 0;
	if (strcmp(argv[0], "chain") == 0) {
		/* the same process, so that its parent stays the same */
		snprintf(parent, sizeof parent, "PARENT=%s", getenv("PARENT"));
		RUN(self, "leaf", "chained");
	}
	remember_parent(argv);
	if (strcmp(argv[0], "killed") == 0)
		raise(SIGTERM);
	if (strcmp(argv[0], "middle") == 0) {
		CHILD(RUN(self, "leaf", "of the middle"));
		return 0;
	}
	snprintf(top, sizeof top, "%s", argv[1]);
	if (chdir(top) != 0)
		return 2;
	sub_fd = open("sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	everything();
	return 3;
}
