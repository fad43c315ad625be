/* SPDX-License-Identifier: MIT */
/* File calls: shared memory, whatever happens to those who write to it, and a log of the calls. */
#include "preload/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/journal.h"
#include "tap.h"

enum { MARK = 0x80c1f2a3, SECOND = 1000000000, LOST = 5 };

static char directory[TR_JOURNAL_PATH - sizeof "/journal"];

/* Lanes as the recorder makes them, and the same as a program and as the reader know them. */
struct recording {
	char path[PATH_MAX];
	struct tr_lane_writer lanes;
	struct tr_collect collect;
};

static struct recording *begin(unsigned count)
{
	struct recording *recording = calloc(1, sizeof *recording);
	struct tr_lane_writer *lanes = &recording->lanes;

	snprintf(recording->path, sizeof recording->path, "%s/lanes", directory);
	lanes->path = recording->path;
	recording->collect.fd = open(lanes->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	bool good = posix_fallocate(recording->collect.fd, 0, TR_LANES_PAGE) == 0;
	for (unsigned i = 0; i < count; i++)
		good &= tr_lanes_allocate(recording->collect.fd, i) == 0;
	lanes->mark = recording->collect.mark = MARK;
	good &= tr_lane_writer_begin(lanes);
	recording->collect.page = lanes->page;
	lanes->page->count = count;
	lanes->pid = 100;
	lanes->current = 0;
	if (!good)
		ok(false, "%s: %s", lanes->path, strerror(errno));
	return recording;
}

static void end(struct recording *recording)
{
	tr_collect_free(&recording->collect);
	close(recording->collect.fd);
	for (unsigned i = 0; i < TR_LANES; i++)
		if (recording->lanes.memory[i])
			munmap(recording->lanes.memory[i], TR_LANE_SIZE);
	munmap(recording->lanes.page, sizeof *recording->lanes.page);
	free(recording);
}

static void put(struct recording *recording, uint32_t pid, uint64_t time, const char *path)
{
	struct tr_call_record record = { .kind = TR_CALL_UNLINK, .pid = pid, .time = time };

	tr_lane_writer_put(&recording->lanes, &record, path, NULL);
}

/* The times of the calls up to that time, as text. */
static const char *taken(struct recording *recording, uint64_t until)
{
	static char text[1000];
	const struct tr_call_record *call;
	size_t len = 0;

	*text = '\0';
	while ((call = tr_collect_next(&recording->collect, until)) != NULL)
		len += (size_t)snprintf(text + len, sizeof text - len, "%u:%s ",
					(unsigned)call->time, tr_call_string(call, 0));
	return text;
}

static void test_order(void)
{
	struct recording *recording = begin(2);
	struct tr_lane_writer *lanes = &recording->lanes;

	put(recording, 100, 10, "a");
	put(recording, 100, 30, "c");
	lanes->current = 1;
	put(recording, 101, 20, "b"); /* the child of a vfork has the memory of its parent */
	put(recording, 100, 40, "later");
	tr_collect_pass(&recording->collect, 35, false);
	ok(recording->collect.horizon == 35 &&
		   strcmp(taken(recording, recording->collect.horizon), "10:a 20:b 30:c ") == 0,
	   "calls of all lanes, by time, up to the time at which the pass began");
	ok(lanes->page->used[0] == UINT64_C(1) << 32 && lanes->page->used[1] == UINT64_C(1) << 32,
	   "a lane that is read is given back");
	put(recording, 100, 50, "");
	tr_collect_pass(&recording->collect, 60, false);
	ok(strcmp(taken(recording, 60), "40:later 50: ") == 0, "the next pass continues");
	struct tr_call_record record = { .kind = TR_CALL_RENAME, .pid = 100, .time = 70 };
	char longest[PATH_MAX + 10];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	errno = ENOENT;
	tr_lane_writer_put(lanes, &record, longest, "to");
	tr_collect_pass(&recording->collect, 80, false);
	const struct tr_call_record *call = tr_collect_next(&recording->collect, 80);
	ok(call && strlen(tr_call_string(call, 0)) == PATH_MAX &&
		   strcmp(tr_call_string(call, 1), "to") == 0 && !tr_call_string(call, 2) &&
		   errno == ENOENT,
	   "a path that is too long is cut, and errno stays");
	ok(recording->collect.torn == 0 && lanes->page->lost == 0, "nothing is missing");
	end(recording);
}

/* A process that was killed while it wrote has reserved a place. */
static void test_killed(void)
{
	struct recording *recording = begin(1);
	struct tr_collect *collect = &recording->collect;

	put(recording, 100, 10, "a");
	recording->lanes.page->used[0] += 88;
	put(recording, 100, 30, "c");
	tr_collect_pass(collect, SECOND, false);
	ok(collect->horizon == 0 && collect->torn == 0,
	   "no later call is taken while a record is being written");
	tr_collect_pass(collect, SECOND + 1, false);
	ok(collect->horizon == 0, "and it may take some time");
	tr_collect_pass(collect, 4 * (uint64_t)SECOND, false);
	ok(collect->torn == 1 && strcmp(taken(recording, collect->horizon), "10:a 30:c ") == 0,
	   "then it counts as cut, and its neighbours are there");
	put(recording, 100, 40, "d");
	tr_collect_pass(collect, 5 * (uint64_t)SECOND, false);
	ok(collect->torn == 1 && strcmp(taken(recording, collect->horizon), "40:d ") == 0 &&
		   recording->lanes.page->used[0] >> 32 == 0,
	   "the lane is used, but not given back");
	recording->lanes.page->used[0] += 8;
	tr_collect_pass(collect, 6 * (uint64_t)SECOND, true);
	ok(collect->torn == 2 && collect->horizon == UINT64_MAX,
	   "at the end nothing is waited for");
	end(recording);
}

static void test_changed(void)
{
	size_t failures = 0, length = sizeof(struct tr_call_record) + 8;

	for (size_t at = 0; at < length; at++) {
		struct recording *recording = begin(1);
		char byte;
		put(recording, 100, 10, "a");
		put(recording, 100, 20, "b");
		put(recording, 100, 30, "c");
		off_t offset = (off_t)(TR_LANES_PAGE + length + at);
		failures += pread(recording->collect.fd, &byte, 1, offset) != 1;
		byte ^= 4;
		failures += pwrite(recording->collect.fd, &byte, 1, offset) != 1;
		tr_collect_pass(&recording->collect, 40, true);
		failures += strcmp(taken(recording, 40), "10:a 30:c ") != 0;
		failures += recording->collect.torn != 1;
		end(recording);
	}
	ok(failures == 0, "a byte that is changed anywhere in a record is noticed");
	/* what a lane contains of the generation before is no record of this one */
	struct recording *recording = begin(1);
	put(recording, 100, 10, "a");
	tr_collect_pass(&recording->collect, 20, false);
	taken(recording, 20);
	recording->lanes.page->used[0] += length;
	tr_collect_pass(&recording->collect, 30, true);
	ok(strcmp(taken(recording, 30), "") == 0 && recording->collect.torn == 1,
	   "an old record is not taken twice");
	end(recording);
}

static void test_full(void)
{
	struct recording *recording = begin(1);
	struct tr_lanes_page *page = recording->lanes.page;
	const struct rlimit small = { 0, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned count = 0;

	while (page->count < 3) {
		put(recording, 100, 10, "a");
		count++;
	}
	tr_collect_pass(&recording->collect, 20, false);
	ok(recording->collect.count == count && page->lost == 0,
	   "full lanes are followed by others");
	/* a program whose files have a limit makes no lane, because it could be killed for that */
	put(recording, 100, 10, "a");
	setrlimit(RLIMIT_FSIZE, &small);
	for (unsigned i = 0; page->lost < LOST && i < 10 * count; i++)
		put(recording, 100, 10, "a");
	setrlimit(RLIMIT_FSIZE, &none);
	ok(page->lost == LOST && page->count == 3, "what finds no place is counted");
	tr_collect_pass(&recording->collect, 30, false);
	put(recording, 100, 40, "b");
	ok(page->lost == LOST, "there is room again when the lanes are read");
	/* no blocks, no directory */
	unlink(recording->lanes.path);
	for (unsigned i = 0; page->lost == LOST && i < 10 * count; i++)
		put(recording, 100, 10, "a");
	ok(page->lost == LOST + 1 && page->count == 3, "the same without the file");
	page->count = 0;
	uint64_t used = page->used[2];
	put(recording, 100, 10, "a");
	ok(page->lost == LOST + 1 && page->used[2] == used, "nothing more when it has ended");
	end(recording);
}

/* Links. */

static const char *resolved(struct tr_links *links, const char *cwd, const char *path, bool follow)
{
	const char *real = tr_links_resolve(links, cwd, path, follow);

	return !real ? "(unknown)" : strstr(real, directory) ? real + strlen(directory) : real;
}

static void must_link(const char *target, const char *path)
{
	if (symlink(target, path) != 0)
		ok(false, "cannot make the link %s", path);
}

static void test_links(void)
{
	static const struct {
		const char *path, *with, *without; /* the last component is followed, or not */
	} cases[] = {
		{ "sub/f", "/sub/f", "/sub/f" },
		{ "link/f", "/sub/f", "/sub/f" },
		{ "link", "/sub", "/link" },
		{ "link/", "/sub", "/link" },
		{ "./sub//../link/./f/", "/sub/f", "/sub/f" },
		{ "link/../sub", "/sub", "/sub" },
		{ "sub/up/sub/up", "", "/sub/up" },
		{ "sub/up/..//../../../../../../etc", "/etc", "/etc" },
		{ "no/f", "/no/f", "/no/f" },
		{ "loop", "(unknown)", "/loop" },
		{ "whole/f", "/sub/f", "/sub/f" },
		{ "chain", "/sub/f", "/chain" },
		{ "/proc/self/fd/1", "(unknown)", "(unknown)" },
		{ "own", "(unknown)", "/own" },
		{ "/", "/", "/" },
	};
	struct tr_links links = { 0 };
	char whole[PATH_MAX];

	bool good = chdir(directory) == 0 && mkdir("sub", 0700) == 0 &&
		    symlink("sub", "link") == 0 && symlink("..", "sub/up") == 0 &&
		    symlink("loop", "loop") == 0 && symlink("link/g", "chain") == 0 &&
		    symlink("f", "sub/g") == 0 && symlink("/proc/self/exe", "own") == 0 &&
		    snprintf(whole, sizeof whole, "%s/link", directory) > 0 &&
		    symlink(whole, "whole") == 0;
	ok(good, "links are made");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int follow = 0; follow < 2; follow++) {
			const char *path = cases[i].path;
			const char *want = follow ? cases[i].with : cases[i].without;
			const char *got = resolved(&links, directory, path, follow);
			if (!ok(strcmp(got, want) == 0, "%s, %s", path,
				follow ? "followed" : "not"))
				diag("%s", got);
		}
	ok(strcmp(resolved(&links, "", "f", true), "(unknown)") == 0, "an unknown directory");
	/* what was looked up is kept until a call changes it */
	unlink("link");
	must_link("other", "link");
	ok(strcmp(resolved(&links, directory, "link/f", true), "/sub/f") == 0, "it is kept");
	tr_links_changed(&links, directory, "link");
	ok(strcmp(resolved(&links, directory, "link/f", true), "/other/f") == 0, "it is changed");
	rename("sub", "moved");
	must_link("moved", "sub");
	tr_links_changed(&links, directory, "sub");
	ok(strcmp(resolved(&links, directory, "sub/f", true), "/moved/f") == 0,
	   "a directory is moved");
	mkdir("deep", 0700);
	must_link("f", "deep/l");
	resolved(&links, directory, "deep/l", true);
	rename("deep", "old");
	mkdir("deep", 0700);
	close(open("deep/l", O_WRONLY | O_CREAT, 0600));
	tr_links_changed(&links, directory, "deep");
	ok(strcmp(resolved(&links, directory, "deep/l", true), "/deep/l") == 0,
	   "what was below it is forgotten");
	unlink("link");
	must_link("third", "link");
	tr_links_removed_somewhere(&links, "x/link2");
	ok(strcmp(resolved(&links, directory, "link/f", true), "/other/f") == 0, "another name");
	tr_links_removed_somewhere(&links, "x/link");
	ok(strcmp(resolved(&links, directory, "link/f", true), "/third/f") == 0,
	   "the name, in an unknown directory");
	/* the trace contains links that are gone when they are looked up */
	tr_links_made(&links, directory, "gone", "moved/g");
	ok(strcmp(resolved(&links, directory, "gone", true), "/moved/f") == 0,
	   "a link that was made and removed");
	tr_links_free(&links);
}

/* The log. */

static struct tr_journal journal = { .mark = MARK };
static struct tr_journal_page page;

static void append(struct tr_journal_record record, const char *cwd, const char *path)
{
	char *const list[] = { NULL };

	/* its time is set when it is written */
	tr_journal_append(&journal, &record,
			  &(struct tr_journal_text){ cwd, path, list, list, NULL, NULL });
}

static void put_call(struct recording *recording, struct tr_call_record record, const char *first)
{
	record.time = tr_journal_now(&journal);
	tr_lane_writer_put(&recording->lanes, &record, first, NULL);
}

/* The lines, without pids and times; "|" ends them. */
static const char *plain(const struct tr_buffer *log)
{
	static char text[1 << 16];
	char *to = text;

	for (const char *p = log->data, *stop = p + log->len; p < stop; p++) {
		if (p == log->data || p[-1] == '\n')
			p = strchr(p, ' ') + 1, p = strchr(p, ' ') + 1;
		*to++ = *p == '\n' ? '|' : *p;
	}
	*to = '\0';
	return text;
}

#define CALL(what, ...) \
	(struct tr_call_record) \
	{ \
		.kind = TR_CALL_##what, __VA_ARGS__ \
	}
#define EVENT(what, ...) \
	(struct tr_journal_record) \
	{ \
		.kind = TR_JOURNAL_##what, __VA_ARGS__ \
	}

/* Lines of a log that is inserted, as the recorder has those of strace. */
struct inserted {
	uint64_t time[2]; /* 0: it was inserted */
};

static void insert(void *context, uint64_t until, struct tr_buffer *out)
{
	struct inserted *inserted = context;

	for (int i = 0; i < 2; i++) {
		if (!inserted->time[i] || inserted->time[i] > until)
			continue;
		tr_buffer_put_literal(out, "200 1.000000 rmdir(\"x\") = 0\n");
		inserted->time[i] = 0;
	}
}

static void test_log(void)
{
	static const char want[] =
		"execveat(AT_FDCWD</srv>, \"sh\", [], [], 0 <unfinished ...>|"
		"<... execveat resumed>) = 0|"
		"openat(AT_FDCWD</srv>, \"a\\042\\074\", O_WRONLY|O_CREAT, 0640) = 3"
		"</srv/a\\042\\074>|"
		"chdir(\"x\") = 0|"
		"unlink(\"b\") = -1 ENOENT (No such file or directory)|"
		/* what libc does in the process of a program comes before it */
		"clone(child_stack=0x1, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 102|"
		"openat(AT_FDCWD</srv/x>, \"in\", O_RDONLY) = 0</srv/x/in>|"
		"execveat(AT_FDCWD</srv/x>, \"cc\", [], [], 0) = 0|"
		"close(5) = 0|"
		/* the first record of a child of vfork is a call */
		"vfork() = 103|"
		"dup2(4, 1) = 1|"
		"rmdir(\"x\") = 0|"
		"mkdirat(AT_FDCWD</srv/x>, \"d\", 0700) = 0|"
		"+++ exited with 0 +++|"
		"+++ exited with 7 +++|";
	struct recording *recording = begin(2);
	struct inserted inserted = { 0 };
	struct tr_decode decode = { .mark = MARK,
				    .calls = &recording->collect,
				    .read_all = true,
				    .insert = insert,
				    .context = &inserted };
	struct tr_buffer log = TR_BUFFER_INIT;
	static char data[1 << 16];

	journal.page = &page;
	snprintf(journal.path, sizeof journal.path, "%s/journal", directory);
	close(open(journal.path, O_WRONLY | O_CREAT, 0600));
	append(EVENT(EXEC, .pid = 101, .ppid = 1, .token_pid = 101), "/srv", "sh");
	append(EVENT(LOADED, .pid = 101, .ppid = 1, .token_pid = 101, .flags = TR_JOURNAL_SAME),
	       "/srv", NULL);
	put_call(recording,
		 CALL(OPENAT, .pid = 101, .fd = AT_FDCWD, .flags = O_WRONLY | O_CREAT, .mode = 0640,
		      .result = 3),
		 "a\"<");
	append(EVENT(CHDIR, .pid = 101, .ppid = 1), "x", "/srv/x");
	put_call(recording, CALL(UNLINK, .pid = 101, .error = ENOENT, .result = -1), "b");
	append(EVENT(EXEC, .pid = 101, .ppid = 1, .token_pid = 101, .token = 1,
		     .flags = TR_JOURNAL_IN_CHILD),
	       "/srv/x", "cc");
	put_call(recording,
		 CALL(OPENAT, .pid = 101, .fd = AT_FDCWD, .token = UINT64_C(101) << 32 | 1), "in");
	append(EVENT(LOADED, .pid = 102, .ppid = 101, .token_pid = 101, .token = 1,
		     .flags = TR_JOURNAL_SAME),
	       "/srv/x", NULL);
	put_call(recording, CALL(CLOSE, .pid = 102, .fd = 5), NULL);
	put_call(recording, CALL(DUP2, .pid = 103, .ppid = 101, .fd = 4, .other = 1, .result = 1),
		 NULL);
	inserted.time[0] = tr_journal_now(&journal);
	put_call(recording, CALL(MKDIRAT, .pid = 103, .ppid = 101, .fd = AT_FDCWD, .mode = 0700),
		 "d");
	put_call(recording, CALL(CLOSE, .pid = 104), NULL); /* no process has started it */
	append(EVENT(EXIT, .pid = 103, .value = 0), NULL, NULL);
	append(EVENT(WAIT, .pid = 101, .ppid = 1, .child = 103), NULL, NULL);
	append(EVENT(EXIT, .pid = 101, .value = 7), NULL, NULL);
	int fd = open(journal.path, O_RDONLY);
	ssize_t len = read(fd, data, sizeof data);
	close(fd);
	tr_collect_pass(&recording->collect, tr_journal_now(&journal), true);
	ok(len > 0 && tr_decode(&decode, data, (size_t)len, true, &log) == (size_t)len,
	   "the journal is decoded");
	inserted.time[1] = recording->collect.horizon = tr_journal_now(&journal);
	recording->collect.horizon--;
	size_t before = log.len;
	tr_decode_flush(&decode, &log);
	ok(log.len == before, "a line that a call may precede is not inserted");
	recording->collect.horizon++;
	tr_decode_flush(&decode, &log);
	ok(log.len > before && !inserted.time[1], "it is inserted when the calls are known");
	log.len = before;
	tr_decode_finish(&decode, false, &log);
	if (!ok(strcmp(plain(&log), want) == 0, "the log has records and calls in their order"))
		diag("%s", plain(&log));
	ok(decode.unplaced == 1 && decode.torn == 0, "a call of an unknown process is counted");
	tr_decode_free(&decode);
	tr_buffer_free(&log);
	end(recording);
	unlink(journal.path);
}

int main(void)
{
	const char *temporary = getenv("TMPDIR");
	char remove[PATH_MAX];

	snprintf(directory, sizeof directory, "%s/test_calls-XXXXXX",
		 temporary ? temporary : "/tmp");
	if (!mkdtemp(directory))
		return 1;
	signal(SIGXFSZ, SIG_DFL);
	test_order();
	test_killed();
	test_changed();
	test_full();
	test_log();
	test_links();
	snprintf(remove, sizeof remove, "rm -r '%s'", directory);
	ok(system(remove) == 0, "nothing is left");
	return done_testing();
}
