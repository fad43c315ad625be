/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: the N-th call of a kind fails as TREC_FAIL_CALL says, those after it succeed
 * again. Counted from 1, in each process.
 *
 *	KIND:N		read open close rename sync mmap thread process pipe
 *	none		none fails
 *
 * At the end lines "KIND CALLS" are written to the file TREC_FAIL_CALL_COUNT, where one is named.
 * Programs that a tool runs are left alone. A close that fails has closed its descriptor.
 */
#undef _FORTIFY_SOURCE /* its functions are defined here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { NONE, READ, OPEN, CLOSE, RENAME, SYNC, MMAP, THREAD, PROCESS, PIPE };

static const struct {
	const char *name;
	int failure;
} kinds[] = {
	[NONE] = { "", 0 },
	[READ] = { "read", EIO },
	[OPEN] = { "open", EMFILE },
	[CLOSE] = { "close", EIO },
	[RENAME] = { "rename", EACCES },
	[SYNC] = { "sync", EIO },
	[MMAP] = { "mmap", ENOMEM },
	[THREAD] = { "thread", EAGAIN },
	[PROCESS] = { "process", EAGAIN },
	[PIPE] = { "pipe", EMFILE },
};

enum { KINDS = sizeof kinds / sizeof *kinds };
static atomic_ulong calls[KINDS];
static unsigned long to_fail;
static enum kind kind;
static bool armed;

__attribute__((constructor)) static void arm(void)
{
	const char *text = getenv("TREC_FAIL_CALL");

	if (!text || strncmp(program_invocation_short_name, "tr-", 3) != 0)
		return;
	armed = true;
	for (size_t i = 1; i < KINDS; i++) {
		size_t len = strlen(kinds[i].name);
		if (strncmp(text, kinds[i].name, len) == 0 && text[len] == ':') {
			kind = (enum kind)i;
			to_fail = strtoul(text + len + 1, NULL, 10);
		}
	}
}

__attribute__((destructor)) static void report(void)
{
	const char *path = armed ? getenv("TREC_FAIL_CALL_COUNT") : NULL;

	armed = false;
	FILE *file = path ? fopen(path, "w") : NULL;
	for (size_t i = 1; file && i < KINDS; i++)
		if (calls[i])
			fprintf(file, "%s %lu\n", kinds[i].name, (unsigned long)calls[i]);
	if (file)
		fclose(file);
}

static bool fails(enum kind which)
{
	if (!armed || atomic_fetch_add(&calls[which], 1) + 1 != to_fail || which != kind)
		return false;
	errno = kinds[kind].failure;
	return true;
}

/* The function that is called if the call does not fail. */
#define NEXT(name) \
	static __typeof__(&name) next; \
	if (!next) { \
		void *symbol = dlsym(RTLD_NEXT, #name); \
		memcpy(&next, &symbol, sizeof next); \
	}

ssize_t read(int fd, void *buf, size_t len)
{
	NEXT(read)
	return fails(READ) ? -1 : next(fd, buf, len);
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
	NEXT(pread)
	return fails(READ) ? -1 : next(fd, buf, len, offset);
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	NEXT(recv)
	return fails(READ) ? -1 : next(fd, buf, len, flags);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;

	NEXT(open)
	va_start(args, flags);
	mode_t mode = mode_of(flags, args);
	va_end(args);
	return fails(OPEN) ? -1 : next(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;

	NEXT(openat)
	va_start(args, flags);
	mode_t mode = mode_of(flags, args);
	va_end(args);
	return fails(OPEN) ? -1 : next(dir, path, flags, mode);
}

/* with _FORTIFY_SOURCE */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	NEXT(__open_2)
	return fails(OPEN) ? -1 : next(path, flags);
}

int close(int fd)
{
	NEXT(close)
	int result = next(fd);
	return fails(CLOSE) ? -1 : result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	NEXT(renameat)
	return fails(RENAME) ? -1 : next(from_dir, from, to_dir, to);
}

int rename(const char *from, const char *to)
{
	NEXT(rename)
	return fails(RENAME) ? -1 : next(from, to);
}

int fsync(int fd)
{
	NEXT(fsync)
	return fails(SYNC) ? -1 : next(fd);
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap)
	return fails(MMAP) ? MAP_FAILED : next(address, len, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
		   void *context)
{
	NEXT(pthread_create)
	return fails(THREAD) ? errno : next(thread, attributes, start, context);
}

pid_t fork(void)
{
	NEXT(fork)
	return fails(PROCESS) ? -1 : next();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	NEXT(posix_spawn)
	return fails(PROCESS) ? errno : next(pid, path, actions, attributes, argv, env);
}

int pipe(int ends[2])
{
	NEXT(pipe)
	return fails(PIPE) ? -1 : next(ends);
}

int pipe2(int ends[2], int flags)
{
	NEXT(pipe2)
	return fails(PIPE) ? -1 : next(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	NEXT(socketpair)
	return fails(PIPE) ? -1 : next(domain, type, protocol, ends);
}

int memfd_create(const char *name, unsigned flags)
{
	NEXT(memfd_create)
	return fails(PIPE) ? -1 : next(name, flags);
}
