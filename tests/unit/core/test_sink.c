/* SPDX-License-Identifier: MIT */
/* Sinks on real files, pipes and devices. Works in a directory of its own. */
#include "core/output.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "tap.h"

static struct tr_error error;

static bool holds(const char *path, const char *expected)
{
	char got[100] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(expected) && !strcmp(got, expected);
}

static void put_file(const char *path, const char *content, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, content, strlen(content)) < 0 || fchmod(fd, mode) != 0)
		diag("cannot make %s", path);
	close(fd);
}

/* Names in the working directory, hidden ones too. */
static int entries(void)
{
	DIR *dir = opendir(".");
	int count = -2;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Writes to the sink, NULL if it could not be made, and closes it. */
static bool write_to(struct tr_sink *sink, const char *content, bool finish)
{
	if (!sink)
		return false;
	bool done = sink->write(sink, content, strlen(content), &error) &&
		    sink->flush(sink, &error) && (!finish || sink->finish(sink, &error));
	sink->close(sink);
	return done;
}

static bool write_file(const char *path, const char *content, bool finish)
{
	return write_to(tr_sink_file(path, &error), content, finish);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void test_regular(void)
{
	umask(027);
	ok(write_file("new", "content", true) && holds("new", "content"), "a new file");
	ok(mode_of("new") == 0640, "has the mode of the umask");
	ok(write_file("new", "other", false) && holds("new", "content"), "unfinished: as it was");
	ok(entries() == 1, "nothing else is left");
	put_file("kept", "old", 0604);
	ok(write_file("kept", "young", true) && holds("kept", "young") && mode_of("kept") == 0604,
	   "keeps the mode of what it replaces");
	ok(!write_file(".", "x", true) && error.sys_errno == EISDIR, "a directory");
	ok(!write_file("", "x", true) && error.sys_errno == ENOENT, "an empty name");
	ok(!write_file("none/x", "x", true) && error.sys_errno == ENOENT,
	   "a directory that is not there");
	ok(!write_file("new/x", "x", true) && error.sys_errno == ENOTDIR, "a file as directory");
	char name[300];
	memset(name, 'n', 250);
	name[250] = '\0';
	ok(write_file(name, "x", true) && holds(name, "x"), "a long name");
	name[250] = 'n';
	memset(name, 'n', 299);
	name[299] = '\0';
	ok(!write_file(name, "x", true) && error.sys_errno == ENAMETOOLONG, "a name too long");
	if (geteuid() != 0) {
		put_file("locked", "old", 0400);
		ok(!write_file("locked", "x", true) && error.sys_errno == EACCES,
		   "a read-only file");
	}
}

static void test_temporary(void)
{
	struct tr_sink *sink = tr_sink_file("target", &error);
	const char *path = tr_sink_file_unfinished(sink)->temporary;
	ok(path && path[0] == '.' && access(path, F_OK) == 0 && access("target", F_OK) != 0,
	   "written under a hidden name");
	struct tr_sink *twin = tr_sink_file("target", &error);
	ok(twin && strcmp(path, tr_sink_file_unfinished(twin)->temporary) != 0, "of its own");
	ok(sink->finish(sink, &error) && !tr_sink_file_unfinished(sink), "renamed by finish");
	sink->close(sink);
	twin->close(twin);
	ok(access("target", F_OK) == 0, "which stays");
}

static void test_links(void)
{
	mkdir("dir", 0700);
	put_file("dir/real", "old", 0600);
	ok(symlink("dir/hop", "link") == 0 && symlink("real", "dir/hop") == 0, "two links");
	ok(write_file("link", "through", true) && holds("dir/real", "through"), "are followed");
	struct stat st;
	ok(lstat("link", &st) == 0 && S_ISLNK(st.st_mode) && lstat("dir/hop", &st) == 0 &&
		   S_ISLNK(st.st_mode),
	   "and stay");
	ok(symlink("dir/later", "dangling") == 0 && write_file("dangling", "made", true) &&
		   holds("dir/later", "made"),
	   "a dangling link");
	ok(symlink("loop", "loop") == 0 && !write_file("loop", "x", true) &&
		   error.sys_errno == ELOOP,
	   "a link to itself");
}

/* In a directory that others can write to, a name is a name, whatever it leads to. */
static void test_directory(void)
{
	struct tr_file_group group = { .count = 0 }, at_once = { .named_at_once = true };
	const char *name;
	int root = tr_directory_open("made/here", true, &error);

	put_file("victim", "safe", 0600);
	ok(root >= 0 && symlink("../../victim", "made/here/a") == 0 &&
		   symlink("../..", "made/here/up") == 0,
	   "a directory with links out of it");
	struct tr_sink *sink = tr_sink_file_at(root, "a", "here/a", &group, &error);
	ok(sink && sink->write(sink, "new", 3, &error) && sink->finish(sink, &error),
	   "a file with the name of a link");
	sink->close(sink);
	ok(group.count == 1 && holds("made/here/a", "safe"), "waits for its group");
	ok(tr_file_group_complete(&group, &error) == TR_END && group.count == 0 &&
		   holds("made/here/a", "new") && holds("victim", "safe"),
	   "and replaces the link, not what it leads to");
	ok(tr_directory_below(root, "up/x", &name, &error) < 0 &&
		   strcmp(error.text, "up is a symbolic link, which is not followed") == 0,
	   "a link is no directory");
	ok(tr_directory_below(root, "a/x", &name, &error) < 0 && error.sys_errno == ENOTDIR,
	   "nor is a file");
	ok(tr_directory_below(root, "../x", &name, &error) < 0, "nothing is above");
	int sub = tr_directory_below(root, "b//c/x", &name, &error);
	ok(sub >= 0 && strcmp(name, "x") == 0 && access("made/here/b/c", F_OK) == 0,
	   "what is missing is made");
	sink = tr_sink_file_at(sub, name, "x", &at_once, &error);
	ok(sink && sink->write(sink, "new", 3, &error) && sink->finish(sink, &error) &&
		   holds("made/here/b/c/x", "new") && at_once.count == 1,
	   "a file that is to be there at once");
	sink->close(sink);
	ok(tr_file_group_complete(&at_once, &error) == TR_END, "is synced later");
	sink = tr_sink_file_at(sub, "late", "c/late", &group, &error);
	ok(sink && sink->finish(sink, &error) && mkdir("made/here/b/c/late", 0700) == 0, "taken");
	sink->close(sink);
	ok(tr_file_group_complete(&group, &error) == TR_WARN && strstr(error.text, "c/late: "),
	   "what cannot be completed is reported by its path");
	ok(tr_file_group_complete(&group, &error) == TR_END, "once");
	close(sub);
	close(root);
}

static void test_special(void)
{
	ok(write_file("/dev/null", "x", true), "a device is written as it is");
	struct tr_sink *sink = tr_sink_file("/dev/null", &error);
	ok(!tr_sink_file_unfinished(sink), "without a temporary file");
	sink->close(sink);
	if (access("/dev/full", W_OK) == 0) {
		ok(!write_file("/dev/full", "x", true) && error.sys_errno == ENOSPC &&
			   error.cause == TR_CAUSE_SYSTEM && strstr(error.text, strerror(ENOSPC)),
		   "a full device");
	}
	int fds[2];
	if (mkfifo("fifo", 0600) == 0 && (fds[0] = open("fifo", O_RDONLY | O_NONBLOCK)) >= 0) {
		char got[5] = "";
		ok(write_file("fifo", "pipe", true) && read(fds[0], got, 4) == 4 &&
			   !strcmp(got, "pipe"),
		   "a named pipe");
		close(fds[0]);
	}
}

/* /dev/stdout is the file that the shell opened, not a name to be replaced. */
static void test_descriptor(void)
{
	if (access("/proc/self/fd", F_OK) != 0)
		return;
	put_file("opened", "first,", 0600);
	int fd = open("opened", O_WRONLY | O_APPEND);
	char path[40];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ok(symlink(path, "out") == 0 && write_file("out", "second", true) &&
		   write(fd, ",third", 6) == 6 && holds("opened", "first,second,third"),
	   "a descriptor's file is not replaced");
	close(fd);
}

static void test_pipe(void)
{
	int fds[2];
	if (pipe(fds) != 0)
		return;
	struct tr_sink *sink = tr_sink_fd(fds[1], &error);
	close(fds[0]);
	ok(!sink->write(sink, "x", 1, &error) && error.cause == TR_CAUSE_PIPE, "a broken pipe");
	sink->close(sink);
	ok(fcntl(fds[1], F_GETFD) >= 0, "does not own its descriptor");
	close(fds[1]);
}

/* The other end takes its time, and somebody set O_NONBLOCK. */
static void test_nonblocking(void)
{
	enum { LENGTH = 3 << 20 };
	int fds[2];
	if (pipe(fds) != 0)
		return;
	fflush(stdout); /* ThreadSanitizer flushes it in the child, too */
	pid_t child = fork();
	if (child == 0) {
		static char got[4096];
		size_t total = 0;
		close(fds[1]);
		for (ssize_t n; (n = read(fds[0], got, sizeof got)) > 0;)
			total += (size_t)n;
		_exit(total == LENGTH ? 0 : 1);
	}
	close(fds[0]);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	struct tr_sink *sink = tr_sink_fd(fds[1], &error);
	char *data = calloc(1, LENGTH);
	bool written = sink->write(sink, data, LENGTH, &error) && sink->finish(sink, &error);
	free(data);
	sink->close(sink);
	close(fds[1]);
	int status = 1;
	waitpid(child, &status, 0);
	ok(written && status == 0, "a non-blocking pipe");
}

static bool append(const char *path, const char *content, bool finish)
{
	const struct tr_append_format format = { TR_TEXT("%t"), TR_TEXT("%"), TR_TEXT("% cut\n") };
	return write_to(tr_sink_append(path, &format, 0, &error), content, finish);
}

static void test_append(void)
{
	ok(append("added", "%t a\n", true) && append("added", "%t b\n", true) &&
		   holds("added", "%t a\n%t b\n"),
	   "one output after the other");
	ok(append("added", "%t c\n", false) && holds("added", "%t a\n%t b\n"),
	   "an output that is not finished is not added");
	put_file("added", "%t cu", 0600);
	ok(append("added", "%t d\n", true) && holds("added", "%t cu\n% cut\n%t d\n"),
	   "a process was killed while it wrote a line");
	put_file("added", "%t\nd\n", 0600);
	ok(append("added", "%t e\n", true) && holds("added", "%t\nd\n% cut\n%t e\n"),
	   "and before it wrote the last line");
	put_file("added", "other", 0600);
	ok(!append("added", "%t e\n", true) && error.cause == TR_CAUSE_USAGE &&
		   holds("added", "other"),
	   "a file that begins in another way stays: %s", error.text);
	put_file("added", "", 0600);
	int fd = open("added", O_RDONLY);
	ok(flock(fd, LOCK_EX) == 0 && !append("added", "%t f\n", true) && holds("added", ""),
	   "a locked file is not waited for without an end: %s", error.text);
	close(fd);
	ok(!append(".", "", true) && error.sys_errno == EISDIR, "not a directory: %s", error.text);
	/* the first page of a process is never mapped, so it can be opened and not read */
	ok(!append("/proc/self/mem", "", true) && error.cause == TR_CAUSE_SYSTEM &&
		   error.sys_errno == EIO && strstr(error.text, "cannot read /proc/self/mem"),
	   "a file that cannot be read: %s", error.text);
	unlink("added");
}

int main(void)
{
	char directory[] = "/tmp/trec-sink-XXXXXX";
	if (!mkdtemp(directory) || chdir(directory) != 0) {
		printf("1..0 # SKIP no temporary directory\n");
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);
	test_regular();
	test_temporary();
	test_links();
	test_directory();
	test_special();
	test_descriptor();
	test_pipe();
	test_nonblocking();
	test_append();
	if (chdir("/") != 0)
		return 1;
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return done_testing() | (system(command) != 0);
}
