/* SPDX-License-Identifier: MIT */
/* The file descriptor source on what a descriptor may be. */
#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static struct tr_error error;
static char buf[100];

static void test_regular(void)
{
	FILE *file = tmpfile();
	if (!file)
		return;
	fputs("content", file);
	fflush(file);
	rewind(file);
	struct tr_source *source = tr_source_fd(fileno(file), false);
	ok(!source->would_wait(source), "a file never waits");
	ok(source->read(source, buf, 4, &error) == 4 && !memcmp(buf, "cont", 4), "reads");
	ok(source->raw_offset(source) == 4, "counts");
	ok(source->read(source, buf, sizeof buf, &error) == 3, "what there is");
	ok(source->read(source, buf, sizeof buf, &error) == 0, "and the end");
	source->close(source);
	ok(fcntl(fileno(file), F_GETFD) >= 0, "leaves a descriptor alone that it does not own");
	fclose(file);
}

/* A file that another process changes: what was there must come, and more may. */
static void test_changing_size(void)
{
	char name[] = "test_source_fd.XXXXXX";
	int fd = mkstemp(name);
	unlink(name);
	if (fd < 0 || write(fd, "content", 7) != 7 || lseek(fd, 0, SEEK_SET) != 0)
		return;
	struct tr_source *source = tr_source_fd(fd, false);
	ok(source->read(source, buf, 4, &error) == 4 && ftruncate(fd, 10) == 0 &&
		   source->read(source, buf, sizeof buf, &error) == 6 &&
		   source->read(source, buf, sizeof buf, &error) == 0,
	   "a file may grow");
	source->close(source);
	lseek(fd, 0, SEEK_SET);
	source = tr_source_fd(fd, false);
	ok(source->read(source, buf, 4, &error) == 4 && ftruncate(fd, 7) == 0 &&
		   source->read(source, buf, sizeof buf, &error) == 3 &&
		   source->read(source, buf, sizeof buf, &error) == -1 &&
		   error.cause == TR_CAUSE_CUT,
	   "a file that became shorter is an error, after what is left of it");
	diag("%s", error.text);
	source->close(source);
	lseek(fd, 0, SEEK_SET);
	source = tr_source_fd(fd, false);
	ok(source->read(source, buf, sizeof buf, &error) == 7 && ftruncate(fd, 4) == 0 &&
		   source->read(source, buf, sizeof buf, &error) == 0,
	   "unless all of it was read before");
	source->close(source);
	close(fd);
}

static void test_refusals(void)
{
	int fd = open("/", O_RDONLY);
	struct tr_source *source = tr_source_fd(fd, true);
	ok(source->read(source, buf, sizeof buf, &error) == -1 && error.sys_errno == EISDIR &&
		   error.cause == TR_CAUSE_SYSTEM,
	   "a directory");
	diag("%s", error.text);
	source->close(source);
	ok(fcntl(fd, F_GETFD) < 0, "closes a descriptor that it owns");
	source = tr_source_fd(fd, false);
	ok(source->read(source, buf, sizeof buf, &error) == -1 && error.sys_errno == EBADF,
	   "a closed descriptor");
	source->close(source);
}

/* One byte at a time from a child, through a descriptor that somebody made non-blocking. */
static void test_nonblocking(void)
{
	int fds[2];
	if (pipe(fds) != 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 5; i++) {
			usleep(2000);
			if (write(fds[1], &"12345"[i], 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	struct tr_source *source = tr_source_fd(fds[0], true);
	size_t total = 0;
	for (ssize_t n; (n = source->read(source, buf + total, sizeof buf - total, &error)) > 0;)
		total += (size_t)n;
	ok(total == 5 && !memcmp(buf, "12345", 5), "waits where read does not");
	ok(!source->would_wait(source), "an end is no wait");
	source->close(source);
	waitpid(child, NULL, 0);
}

static void test_interrupt(void)
{
	int fds[2];
	if (pipe(fds) != 0)
		return;
	struct tr_source *source = tr_source_fd(fds[0], true);
	ok(source->would_wait(source), "an empty pipe waits");
	source->interrupt(source);
	ok(source->read(source, buf, sizeof buf, &error) == 0, "unless it is interrupted");
	source->close(source);
	close(fds[1]);
}

int main(void)
{
	alarm(60);
	test_regular();
	test_changing_size();
	test_refusals();
	test_nonblocking();
	test_interrupt();
	return done_testing();
}
