/* SPDX-License-Identifier: MIT */
/* The journal: records as they are appended, and a log of them, whatever damages the file. */
#include "preload/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/journal.h"
#include "tap.h"

enum { MARK = 0x80c1f2a3, SHELL = 100, TOOL = 101 };

static struct tr_journal journal = { .mark = MARK };
static struct tr_journal_page page;

/* A record of the table, and the log after it: without times, "|" ends a line. */
struct step {
	struct tr_journal_record record;
	const char *cwd, *path;
	const char *log;
};

#define EXEC(of, more) \
	{ \
		.kind = TR_JOURNAL_EXEC, .pid = (of), .ppid = (of) == SHELL ? 1 : SHELL, \
		.token_pid = (of), .flags = (more) \
	}
#define EVENT(what, of, ...) \
	{ \
		.kind = TR_JOURNAL_##what, .pid = (of), .ppid = (of) == SHELL ? 1 : SHELL, \
		.token_pid = (of), __VA_ARGS__ \
	}

#define BEGUN(of, ...) \
	{ \
		.kind = TR_JOURNAL_LOADED, .pid = (of), .ppid = (of) == SHELL ? 1 : SHELL, \
		.token_pid = SHELL, __VA_ARGS__ \
	}

static const char first[] = "100 execveat(AT_FDCWD</srv>, \"sh\", [\"a\\042b\", \"\"], "
			    "[\"X=\\001\"], 0 <unfinished ...>|";

/* Each line continues the one before. */
static const struct step story[] = {
	{ EXEC(SHELL, 0), "/srv", "sh", first },
	{ EVENT(LOADED, SHELL, .flags = TR_JOURNAL_SAME), "/srv", NULL,
	  "100 <... execveat resumed>) = 0|" },
	{ EVENT(CHDIR, SHELL, .value = ENOENT), "no", NULL,
	  "100 chdir(\"no\") = -1 ENOENT (No such file or directory)|" },
	/* a child of vfork is known by its first record; its exec fails */
	{ EXEC(TOOL, 0), "/", "no",
	  "100 vfork() = 101|101 execveat(AT_FDCWD</>, \"no\", [\"a\\042b\", \"\"], [\"X=\\001\"], "
	  "0 <unfinished ...>|" },
	{ EVENT(FAILED, TOOL, .value = ENOEXEC), NULL, NULL,
	  "101 <... execveat resumed>) = -1 ENOEXEC (Exec format error)|" },
	/* an end is written when the parent reports it, which is more exact */
	{ EVENT(EXIT, TOOL, .value = 3), NULL, NULL, "" },
	{ EVENT(WAIT, SHELL, .child = TOOL, .value = 23 << 8), NULL, NULL,
	  "101 +++ exited with 23 +++|" },
	/* the number is used again */
	{ EVENT(FORK, TOOL), NULL, NULL,
	  "100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD) "
	  "= 101|" },
	{ EXEC(TOOL, TR_JOURNAL_STATIC), "/", "static",
	  "101 execveat(AT_FDCWD</>, \"static\", [\"a\\042b\", \"\"], [\"X=\\001\"], 0 "
	  "<unfinished ...>|" },
	{ EVENT(WAIT, SHELL, .child = TOOL, .value = SIGKILL), NULL, NULL,
	  "101 <... execveat resumed>) = 0|101 +++ killed by SIGKILL +++|" },
	/* killed before its program could report itself */
	{ EXEC(108, 0), "/", "killed",
	  "100 vfork() = 108|108 execveat(AT_FDCWD</>, \"killed\", [\"a\\042b\", \"\"], "
	  "[\"X=\\001\"], 0 <unfinished ...>|" },
	{ EVENT(WAIT, SHELL, .child = 108, .value = SIGKILL), NULL, NULL,
	  "108 <... execveat resumed>) = 0|108 +++ killed by SIGKILL +++|" },
	/* a child of vfork has one itself, and waits for that before it reports anything */
	{ { .kind = TR_JOURNAL_EXEC, .pid = 110, .ppid = 109, .token_pid = 110 },
	  "/",
	  "deep",
	  "110 execveat(AT_FDCWD</>, \"deep\", [\"a\\042b\", \"\"], [\"X=\\001\"], 0 "
	  "<unfinished ...>|" },
	{ EVENT(EXIT, 109, .value = 2), NULL, NULL, "100 vfork() = 109|109 vfork() = 110|" },
	{ EVENT(WAIT, SHELL, .child = 109, .value = 2 << 8), NULL, NULL,
	  "109 +++ exited with 2 +++|" },
	{ { .kind = TR_JOURNAL_FAILED, .pid = 110, .token_pid = 110, .value = ENOENT },
	  NULL,
	  NULL,
	  "110 <... execveat resumed>) = -1 ENOENT (No such file or directory)|" },
	{ EVENT(WAIT, SHELL, .child = 110, .value = SIGKILL), NULL, NULL,
	  "110 +++ killed by SIGKILL +++|" },
	/* killed before it did anything */
	{ EVENT(WAIT, SHELL, .child = 102, .value = SIGSEGV | 0x80), NULL, NULL,
	  "100 vfork() = 102|102 +++ killed by SIGSEGV (core dumped) +++|" },
	/* posix_spawn: the program begins before its parent has its number, or after */
	{ EXEC(SHELL, TR_JOURNAL_IN_CHILD), "/srv", "cc", "" },
	{ BEGUN(103, .flags = TR_JOURNAL_SAME), "/tmp", NULL,
	  "100 clone(child_stack=0x1, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 103|103 "
	  "execveat(AT_FDCWD</tmp>, \"cc\", [\"a\\042b\", \"\"], [\"X=\\001\"], 0) = 0|" },
	{ EVENT(SPAWNED, SHELL, .child = 103), NULL, NULL, "" },
	{ EVENT(EXIT, 103, .value = 0), NULL, NULL, "" },
	{ EVENT(EXIT, 103, .value = 1), NULL, NULL, "" },
	{ EXEC(SHELL, TR_JOURNAL_IN_CHILD), "/srv", "ld", "" },
	{ EVENT(SPAWNED, SHELL, .child = 104), NULL, NULL,
	  "100 clone(child_stack=0x1, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 104|" },
	{ EVENT(WAIT, SHELL, .child = 104, .value = 0), NULL, NULL,
	  "104 execveat(AT_FDCWD</srv>, \"ld\", [\"a\\042b\", \"\"], [\"X=\\001\"], 0) = 0|104 +++ "
	  "exited with 0 +++|" },
	/* a process that traces others learns of the ends of threads, and before a parent does */
	{ EVENT(FORK, 105), NULL, NULL,
	  "100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD) "
	  "= 105|" },
	{ EXEC(106, 0), "/", "no",
	  "100 vfork() = 106|106 execveat(AT_FDCWD</>, \"no\", [\"a\\042b\", \"\"], [\"X=\\001\"], "
	  "0 <unfinished ...>|" },
	{ EVENT(WAIT, 106, .child = 105, .value = SIGKILL, .flags = TR_JOURNAL_TRACED), NULL, NULL,
	  "106 <... execveat resumed>) = 0|" },
	{ EVENT(WAIT, 106, .child = 107, .value = 0, .flags = TR_JOURNAL_TRACED), NULL, NULL, "" },
	{ EVENT(WAIT, SHELL, .child = 105, .value = SIGKILL), NULL, NULL,
	  "105 +++ killed by SIGKILL +++|" },
	{ EVENT(WAIT, SHELL, .child = 106, .value = SIGKILL), NULL, NULL,
	  "106 +++ killed by SIGKILL +++|" },
	/* no process waits for 103 */
	{ EVENT(EXIT, SHELL, .value = 9), NULL, NULL, "" },
};
static const char rest[] = "103 +++ exited with 1 +++|100 +++ exited with 9 +++|";

enum { STEPS = sizeof story / sizeof *story };

static bool append(const struct step *step)
{
	static char quoted[] = "a\"b", empty[] = "", control[] = "X=\1";
	char *const argv[] = { quoted, empty, NULL }, *const env[] = { control, NULL };
	struct tr_journal_record record = step->record;
	uint64_t lost = page.lost;

	tr_journal_append(&journal, &record,
			  &(struct tr_journal_text){ step->cwd, step->path,
						     step->path ? argv : NULL,
						     step->path ? env : NULL, NULL, NULL });
	return page.lost == lost;
}

static size_t read_all(char **data)
{
	static char memory[1 << 20];
	int fd = open(journal.path, O_RDONLY);
	ssize_t n = read(fd, memory, sizeof memory);

	close(fd);
	*data = memory;
	return n < 0 ? 0 : (size_t)n;
}

/* The log without times, its lines ended by "|". */
static const char *plain(const struct tr_buffer *log)
{
	static char text[1 << 20];
	char *to = text;

	for (const char *p = log->data, *end = p + log->len; p < end; p++) {
		*to++ = *p == '\n' ? '|' : *p;
		if (*p == ' ' && (to == text + 4 || to[-5] == '|'))
			p += strcspn(p + 1, " ") + 1;
	}
	*to = '\0';
	return text;
}

static void test_story(void)
{
	struct tr_decode decode = { .mark = MARK };
	struct tr_buffer log = TR_BUFFER_INIT;
	size_t used = 0;
	char *data;

	for (size_t i = 0; i < STEPS; i++) {
		bool appended = append(&story[i]);
		size_t len = read_all(&data);
		tr_buffer_reset(&log);
		used += tr_decode(&decode, data + used, len - used, false, &log);
		if (!ok(appended && used == len && strcmp(plain(&log), story[i].log) == 0,
			"record %zu is in the log", i))
			diag("%s", plain(&log));
	}
	tr_buffer_reset(&log);
	tr_decode_finish(&decode, true, &log);
	if (!ok(strcmp(plain(&log), rest) == 0, "what was held back is written at the end"))
		diag("%s", plain(&log));
	ok(decode.torn == 0 && decode.opaque == 3 && decode.unnoticed == 0, "nothing is missing");
	tr_decode_free(&decode);
	tr_buffer_free(&log);
}

/* A parent that learns of an end long after it. */
static void test_late(void)
{
	static const struct step steps[] = {
		{ EXEC(SHELL, 0), "/", "sh", NULL },
		{ EVENT(FORK, TOOL), NULL, NULL, NULL },
		{ EVENT(EXIT, TOOL, .value = 3), NULL, NULL, NULL },
		{ EVENT(WAIT, SHELL, .child = TOOL, .value = 3 << 8), NULL, NULL, NULL },
	};
	struct tr_decode decode = { .mark = MARK };
	struct tr_buffer log = TR_BUFFER_INIT;
	char *data;
	size_t used = read_all(&data), len;

	for (int i = 0; i < 3; i++)
		append(&steps[i]);
	len = read_all(&data);
	used += tr_decode(&decode, data + used, len - used, false, &log);
	tr_buffer_reset(&log);
	decode.now += 2000000000;
	tr_decode(&decode, data, 0, false, &log);
	ok(strcmp(plain(&log), "101 +++ exited with 3 +++|") == 0,
	   "an end that no parent learns of is written after a while");
	tr_buffer_reset(&log);
	append(&steps[3]);
	len = read_all(&data);
	tr_decode(&decode, data + used, len - used, true, &log);
	ok(log.len == 0 && decode.bypassing == 0, "and not again when the parent does");
	tr_decode_free(&decode);
	tr_buffer_free(&log);
}

/* The first record cut to len bytes, then all others. */
static void test_torn(void)
{
	size_t whole, failures = 0, first_len;
	char *data;

	whole = read_all(&data);
	char *cut = malloc(whole);
	memcpy(&first_len, data + 4, 4);
	first_len &= UINT32_MAX;
	for (size_t len = 1; len < first_len; len++) {
		struct tr_decode decode = { .mark = MARK };
		struct tr_buffer log = TR_BUFFER_INIT;
		memcpy(cut, data, len);
		memcpy(cut + len, data + first_len, whole - first_len);
		size_t used = tr_decode(&decode, cut, len, false, &log);
		failures += used != 0 || decode.torn != 0; /* the rest may come */
		used = tr_decode(&decode, cut, len + whole - first_len, false, &log);
		failures += used != len + whole - first_len || decode.torn != 1;
		failures += strstr(plain(&log), "chdir(\"no\")") == NULL;
		tr_decode_free(&decode);
		tr_buffer_free(&log);
	}
	ok(failures == 0, "a record that is cut anywhere harms no other");
	failures = 0;
	for (size_t at = 0; at < first_len; at++) {
		struct tr_decode decode = { .mark = MARK };
		struct tr_buffer log = TR_BUFFER_INIT;
		memcpy(cut, data, whole);
		cut[at] ^= 4;
		size_t used = tr_decode(&decode, cut, whole, true, &log);
		failures += used != whole || decode.torn != 1;
		failures += strstr(plain(&log), "chdir(\"no\")") == NULL;
		tr_decode_free(&decode);
		tr_buffer_free(&log);
	}
	ok(failures == 0, "a byte that is changed anywhere in a record is noticed");
	free(cut);
}

static void test_large(void)
{
	enum { MANY = 20000, WIDTH = 16 };
	char **env = calloc(MANY + 1, sizeof *env), *data;
	char *text = malloc((size_t)MANY * WIDTH);
	struct tr_decode decode = { .mark = MARK };
	struct tr_buffer log = TR_BUFFER_INIT;
	struct tr_journal_record record = EXEC(SHELL, 0);
	size_t before = read_all(&data);

	for (int i = 0; i < MANY; i++) {
		env[i] = text + i * WIDTH;
		snprintf(env[i], WIDTH, "V%d=", i);
	}
	tr_journal_append(&journal, &record,
			  &(struct tr_journal_text){ .cwd = "/", .path = "env", .env = env });
	size_t len = read_all(&data);
	ok(tr_decode(&decode, data + before, len - before, false, &log) == len - before &&
		   strstr(plain(&log), "\"V0=\", \"V1=\"") &&
		   strstr(plain(&log), "\"V19998=\", \"V19999=\"]"),
	   "an environment of 20000 variables");
	tr_decode_free(&decode);
	tr_buffer_free(&log);
	free(text);
	free(env);
}

int main(void)
{
	const char *directory = getenv("TMPDIR");

	snprintf(journal.path, sizeof journal.path, "%s/test_decode-XXXXXX",
		 directory ? directory : "/tmp");
	close(mkstemp(journal.path));
	journal.page = &page;
	test_story();
	test_torn();
	test_late();
	test_large();
	unlink(journal.path);
	ok(!append(&story[0]) && page.lost == 1, "a record that cannot be appended is counted");
	return done_testing();
}
