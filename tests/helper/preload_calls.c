/* SPDX-License-Identifier: MIT */
/*
 * Makes every call that concerns files, in the current directory, which is empty, between mkdir of
 * "begin" and of "end": preload_calls [OBJECT]. OBJECT is loaded and closed.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
int __close(int fd);
int __dup2(int fd, int other);
int __fcntl(int fd, int command, ...);

static void opening(int directory)
{
	static const char *const modes[] = { "w", "r", "a", "r+", "w+e", "a+", "wx", "rbe", "q" };
	char name[20];

	close(open("a", O_RDWR | O_CREAT | O_TRUNC, 0640));
	close(open("a", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
	close(open("no", O_RDONLY));
	close(open64("a", O_WRONLY | O_APPEND | O_SYNC));
	close(openat(directory, "a", O_RDONLY));
	close(openat64(directory, "b", O_CREAT | O_EXCL | O_WRONLY, 0600));
	close(openat64(directory, "b", O_CREAT | O_EXCL | O_WRONLY, 0600));
	close(__open("a", O_RDONLY));
	close(__open64("a", O_DSYNC));
	close(__open_2("a", O_RDONLY));
	close(__open64_2("a", O_RDONLY));
	close(__openat_2(directory, "a", O_RDONLY));
	close(__openat64_2(AT_FDCWD, "a", O_NOATIME));
	close(open(".", O_TMPFILE | O_RDWR, 0600));
	close(open("sub", O_PATH | O_DIRECTORY | O_NOFOLLOW));
	close(open("a/b", O_RDONLY));
	/* all flags, including the one that is 0 if all files are large, and an unknown one */
	close(open("no",
		   O_RDWR | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |
			   O_DIRECT | O_ASYNC | 0100000 | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |
			   O_DIRECTORY | 0x20000000,
		   0600));
	close(open("no", O_ACCMODE | O_DSYNC));
	close(open((char *)8, O_RDONLY));
	close(creat("c", 0604));
	close(creat64("c", 0));
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		FILE *file = fopen(i == 6 ? "x" : "c", modes[i]);
		if (file)
			fclose(file);
	}
	FILE *file = fopen64("c", "r");
	file = freopen("a", "r", file);
	file = freopen64("c", "w", file);
	fclose(file);
	closedir(opendir("sub"));
	if (opendir("no"))
		abort();
	strcpy(name, "tXXXXXX");
	close(mkstemp(name));
	unlink(name);
	strcpy(name, "tXXXXXX");
	close(mkostemp64(name, O_CLOEXEC));
	unlink(name);
	strcpy(name, "tXXXXXX.c");
	close(mkstemps(name, 2));
	unlink(name);
	strcpy(name, "dXXXXXX");
	if (mkdtemp(name))
		rmdir(name);
	fclose(tmpfile());
	const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	close((int)syscall(SYS_openat2, directory, "a", &how, sizeof how));
	close((int)syscall(SYS_openat, AT_FDCWD, "a", O_RDONLY));
	close(shm_open("/tr-record-test", O_RDWR | O_CREAT, 0600));
	shm_unlink("/tr-record-test");
	close(memfd_create("memory", MFD_CLOEXEC));
}

static void descriptors(void)
{
	int ends[2], fd = open("a", O_RDONLY);

	close(dup(fd));
	dup2(fd, 20);
	__dup2(fd, 21);
	dup2(fd, fd);
	dup3(fd, 22, O_CLOEXEC);
	dup2(-1, 23);
	close(fcntl(fd, F_DUPFD, 30));
	close(fcntl64(fd, F_DUPFD_CLOEXEC, 31));
	__fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFD, 0);
	__close(20);
	syscall(SYS_close, 21);
	close(22);
	close(23);
	if (pipe(ends) == 0)
		close(ends[0]), close(ends[1]);
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
		close(ends[0]), close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
		close(ends[0]), close(ends[1]);
	close(fd);
	close_range(40, 50, CLOSE_RANGE_CLOEXEC);
	close_range(40, ~0U, 0);
	close_range(50, 40, 0);
	closefrom(60);
}

static int names(int directory)
{
	int bad = 0;

	bad += rename("a", "r1");
	bad += renameat(directory, "r1", AT_FDCWD, "r2");
	bad += renameat2(AT_FDCWD, "r2", directory, "a", RENAME_NOREPLACE);
	bad += rename("no", "r3") != -1;
	bad += syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "c", RENAME_EXCHANGE);
	bad += link("a", "l1");
	bad += linkat(directory, "a", AT_FDCWD, "l2", 0);
	bad += symlink("a", "s1");
	bad += symlinkat("l1", directory, "s2");
	bad += symlink("sub", "s3");
	bad += linkat(AT_FDCWD, "s1", AT_FDCWD, "l3", AT_SYMLINK_FOLLOW);
	close(open("s1", O_RDONLY));
	close(open("s2", O_RDONLY));
	close(open("s3/../s3/f", O_RDWR | O_CREAT, 0666));
	close(open("s1", O_PATH | O_NOFOLLOW));
	bad += unlink("l1");
	bad += unlinkat(directory, "l2", 0);
	bad += remove("s1");
	bad += remove("sub") != -1;
	bad += mkdir("d1", 0750);
	bad += mkdirat(directory, "d2", 0);
	bad += rmdir("d1");
	bad += unlinkat(AT_FDCWD, "d2", AT_REMOVEDIR);
	bad += rmdir("sub") != -1;
	bad += mknod("n", S_IFREG | 0600, 0);
	bad += mknodat(directory, "p", S_IFIFO | 0600, 0);
	bad += mkfifo("q", 0644);
	bad += mkfifoat(directory, "r", 0);
	bad += truncate("a", 5);
	bad += truncate64("no", 0) != -1;
	int fd = open("a", O_WRONLY);
	bad += ftruncate(fd, 7);
	bad += ftruncate64(fd, 0);
	close(fd);
	close(open("odd \"<\n\303\244>\\", O_WRONLY | O_CREAT, 0600));
	return bad;
}

static int run_by_vfork(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		int fd = open("c", O_RDONLY);
		dup2(fd, 0);
		close(fd);
		execlp("cat", "cat", NULL);
		_exit(9);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

/* Sends a descriptor to a child, which copies it to its output. */
static int message(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 'x';
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof control };
	int ends[2], status;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		if (recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC) != 1)
			_exit(1);
		dup2(*(int *)(void *)CMSG_DATA(&control.head), 0);
		dup2(open("sent", O_WRONLY | O_CREAT, 0600), 1);
		execlp("cat", "cat", NULL);
		_exit(9);
	}
	int fd = open("x", O_RDWR);
	bool good = fd >= 0 && write(fd, "text", 4) == 4 && lseek(fd, 0, SEEK_SET) == 0;
	control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(sizeof fd) };
	memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
	good = good && sendmsg(ends[0], &message, 0) == 1;
	return !good || waitpid(pid, &status, 0) != pid || status;
}

/* Files that libc opens in the processes that it creates, and inherited descriptors. */
static int processes(void)
{
	char *const argv[] = { "cat", NULL };
	posix_spawn_file_actions_t actions;
	int bad = 0, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "c", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 5, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 5, 1);
	posix_spawn_file_actions_addclose(&actions, 5);
	bad += posix_spawnp(&pid, "cat", &actions, NULL, argv, environ) ||
	       waitpid(pid, &status, 0) != pid || status;
	posix_spawn_file_actions_destroy(&actions);
	FILE *pipe = popen("exec cat >piped", "w");
	bad += !pipe || fputs("data", pipe) < 0 || pclose(pipe);
	pipe = popen("cat out", "r");
	bad += !pipe || pclose(pipe);
	return bad + run_by_vfork() + message();
}

int main(int argc, char **argv)
{
	int bad = 0;

	if (argc > 1) {
		void *object = dlopen(argv[1], RTLD_NOW);
		bad += !object || dlclose(object);
	}
	mkdir("begin", 0777);
	mkdir("sub", 0777);
	int directory = open(".", O_RDONLY | O_DIRECTORY);
	opening(directory);
	descriptors();
	bad += names(directory);
	mkdir("end", 0777);
	bad += processes();
	return bad;
}
