/* SPDX-License-Identifier: MIT */
/*
 * What a log makes of tasks, descriptors and contents: who used which version of a file, until when
 * and by which evidence; and what searches find there.
 */
#include "deps/graph.h"

#include <stdlib.h>

#include "deps/search.h"
#include "log.h"
#include "tap.h"

/*
 * Uses in the order of commands: NAME(PATH#VERSION HOW...) of programs, (...) of forks. A version
 * has a number for each content of a file, and <N if it contains the content N. HOW is r or w, a
 * capital if that counts; then its evidence: h(eld) o(pened) p(assed) s(een); then the moment.
 * Without a file: PATH and what was done.
 */
struct test {
	const char *what, *log, *want;
};

#define EXEC(task, name) "exec " task " " name " argv=[\"" name "\"]\n"
#define OPEN(task, path, flags, fd) \
	"sys " task " open path=\"" path "\" flags=" flags " -> return=" fd "\n"
#define READS(task, path, fd) OPEN(task, path, "O_RDONLY", fd)
#define MAKES(task, path, fd) OPEN(task, path, "O_WRONLY|O_CREAT|O_TRUNC", fd)
#define CLOSE(task, fd) "sys " task " close fd=" fd " -> return=0\n"
#define DUP(task, fd, to) "sys " task " dup2 oldfd=" fd " newfd=" to " -> return=" to "\n"
#define FORK(task, child, flags) "fork " task " - child=" child " flags=" flags "\n"
#define EXIT(task) "exit " task " - status=0\n"
#define PIPE(task, fds) "sys " task " pipe fds=[" fds "] -> return=0\n"

static const struct test tests[] = {
	{ "a program reads its own file", EXEC("1", "/a"), "/a(/a#0 Rs1)" },
	{ "and its interpreter", "exec 1 /a argv=[\"a\"] interp=\"/sh\"\n",
	  "/a(/a#0 Rs1 /sh#0 Rs1)" },
	{ "writing ends with the last close",
	  EXEC("1", "/a") MAKES("1", "/x", "3") DUP("1", "3", "4") CLOSE("1", "3") CLOSE("1", "4")
		  READS("1", "/y", "3"),
	  "/a(/a#0 Rs1 /x#0 Wo5 /y#0 Ro6)" },
	{ "or with the program",
	  EXEC("1", "/a") MAKES("1", "/x", "3") READS("1", "/y", "4") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo4 /y#0 Ro3)" },
	{ "or with the log", EXEC("1", "/a") MAKES("1", "/x", "3"), "/a(/a#0 Rs1 /x#0 Wo2)" },
	{ "or with another program of the task",
	  EXEC("1", "/a") OPEN("1", "/x", "O_WRONLY|O_TRUNC|O_CLOEXEC", "3") EXEC("1", "/b"),
	  "/a(/a#0 Rs1 /x#0 Wo3) /b(/b#0 Rs3)" },
	{ "a descriptor that is used again is closed first",
	  EXEC("1", "/a") MAKES("1", "/x", "3") READS("1", "/y", "3") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo3 /y#0 Ro3)" },
	{ "dup to itself closes nothing",
	  EXEC("1", "/a") MAKES("1", "/x", "3") DUP("1", "3", "3") READS("1", "/y", "4") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo5 /y#0 Ro4)" },
	{ "dup of an unknown descriptor closes the other one",
	  EXEC("1", "/a") MAKES("1", "/x", "3") DUP("1", "9", "3") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo3)" },
	{ "a range of descriptors",
	  EXEC("1", "/a") MAKES("1", "/x", "3") MAKES("1", "/y", "4")
		  MAKES("1", "/z", "5") "sys 1 close_range first=4 last=4 -> return=0\n" EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo6 /y#0 Wo5 /z#0 Wo6)" },
	{ "a range that is closed by exec alone",
	  EXEC("1", "/a") MAKES("1", "/x", "0")
		  MAKES("1", "/y", "1") "sys 1 close_range first=0 last=0 "
					"flags=CLOSE_RANGE_CLOEXEC -> return=0\n" EXEC("1", "/b"),
	  "/a(/a#0 Rs1 /x#0 Wo5 /y#0 wo5) /b(/b#0 Rs5 /y#0 Wp5)" },
	{ "O_TRUNC begins another content, O_APPEND adds to the old one",
	  EXEC("1", "/a") READS("1", "/x", "3") CLOSE("1", "3") MAKES("1", "/x", "3") CLOSE(
		  "1", "3") EXIT("1") EXEC("2", "/b") OPEN("2", "/x", "O_WRONLY|O_APPEND", "3")
		  EXIT("2") EXEC("3", "/c") OPEN("3", "/x", "O_RDWR", "3") EXIT("3"),
	  "/a(/a#0 Rs1 /x#0 Ro2 /x#1 Wo5) /b(/b#0 Rs7 /x#2<1 Wo9) /c(/c#0 Rs10 /x#2<1 Ro11 /x#3<2 "
	  "Wo12)" },
	{ "a command that writes again changes its own content",
	  EXEC("1", "/a") MAKES("1", "/x", "3") CLOSE("1", "3")
		  OPEN("1", "/x", "O_WRONLY|O_APPEND", "3") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo5)" },
	{ "what was there before the trace is not in a file that it creates",
	  EXEC("1", "/a") OPEN("1", "/x", "O_WRONLY|O_CREAT|O_EXCL", "3")
		  OPEN("1", "/y", "O_WRONLY|O_CREAT", "4"),
	  "/a(/a#0 Rs1 /x#0 Wo3 /y#0 Wo3)" },
	{ "writing into a file that is older than the trace",
	  EXEC("1", "/a") OPEN("1", "/x", "O_WRONLY", "3"), "/a(/a#0 Rs1 /x#0<? Wo2)" },
	{ "truncate by path, to nothing and to a length",
	  EXEC("1", "/a") "sys 1 truncate path=\"/x\" length=0 -> return=0\nsys 1 truncate "
			  "path=\"/y\" length=7 -> return=0\n" READS("1", "/z", "3"),
	  "/a(/a#0 Rs1 /x#0 Ws2 /y#0<? Ws3 /z#0 Ro4)" },
	{ "ftruncate of a file of another command",
	  EXEC("1", "/a") MAKES("1", "/x", "3")
		  FORK("1", "2", "SIGCHLD") "sys 2 ftruncate fd=3 length=0 -> return=0\n" EXIT("2")
			  EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo6) (/x#1 Ws5)" },
	{ "a redirection: who inherits it writes, unless transfers were seen",
	  EXEC("1", "/sh") FORK("1", "2", "SIGCHLD") MAKES("2", "/x", "3") DUP("2", "3", "1")
		  CLOSE("2", "3") EXEC("2", "/b") EXIT("2"),
	  "/sh(/sh#0 Rs1) (/x#0 wo6) /b(/b#0 Rs6 /x#0 Wp7)" },
	{ "the same, with a write of another",
	  EXEC("1", "/sh") MAKES("1", "/x", "1") FORK("1", "2", "SIGCHLD")
		  EXEC("2", "/b") "sys 1 write fd=1 count=3 -> return=3\n" EXIT("2") EXIT("1"),
	  "/sh(/sh#0 Rs1 /x#0 Ws7) () /b(/b#0 Rs4 /x#0 wp6)" },
	{ "standard input that is inherited is read",
	  EXEC("1", "/sh") FORK("1", "2", "SIGCHLD") READS("2", "/x", "0") EXEC("2", "/b"),
	  "/sh(/sh#0 Rs1) (/x#0 Ro3) /b(/b#0 Rs4 /x#0 Rp4)" },
	{ "a descriptor above 2 is meant for a program if a fork opened it for it",
	  EXEC("1", "/sh") READS("1", "/mine", "8") FORK("1", "2", "SIGCHLD") READS("2", "/x", "9")
		  EXEC("2", "/b"),
	  "/sh(/sh#0 Rs1 /mine#0 Ro2) (/x#0 Ro4) /b(/b#0 Rs5 /x#0 Rp5)" },
	{ "a pipe between two commands",
	  EXEC("1", "/sh") PIPE("1", "3,4") FORK("1", "2", "SIGCHLD") DUP("2", "4", "1")
		  EXEC("2", "/a") FORK("1", "3", "SIGCHLD") CLOSE("3", "4") DUP("3", "3", "0")
			  EXEC("3", "/b") EXIT("2") EXIT("3"),
	  "/sh(/sh#0 Rs1 |#0 wh11) (|#0 wo5) /a(/a#0 Rs5 |#0 Wp10) (|#0 ro7) /b(/b#0 Rs9 |#0 "
	  "Rp9)" },
	{ "the jobserver of make is neither read nor written",
	  EXEC("1", "/make") PIPE("1", "3,4") FORK("1", "2", "SIGCHLD") EXEC("2", "/a"),
	  "/make(/make#0 Rs1 |#0 -) () /a(/a#0 Rs4)" },
	{ "a program that has only the read end of a pipe reads it",
	  EXEC("1", "/make") PIPE("1", "3,4") FORK("1", "2", "SIGCHLD") CLOSE("2", "4")
		  EXEC("2", "/a"),
	  "/make(/make#0 Rs1 |#0 -) (|#0 ro4) /a(/a#0 Rs5 |#0 Rp5)" },
	{ "a fork has the descriptors of its parent, and its own after that",
	  EXEC("1", "/a") MAKES("1", "/x", "3") FORK("1", "2", "SIGCHLD")
		  CLOSE("2", "3") "sys 1 write fd=3 count=1 -> return=1\n" EXIT(
			  "1") "sys 2 write fd=3 count=1 -> return=1\n",
	  "/a(/a#0 Rs1 /x#0 Ws6) (/x#0 -)" },
	{ "CLONE_FILES shares them",
	  EXEC("1", "/a") MAKES("1", "/x", "3") FORK("1", "2", "CLONE_FILES|SIGCHLD")
		  CLOSE("2", "3") "sys 1 write fd=3 count=1 -> return=1\n" EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo6) (/x#0 -)" },
	{ "until unshare, or exec",
	  EXEC("1", "/a") MAKES("1", "/x", "3") FORK(
		  "1", "2",
		  "CLONE_FILES|SIGCHLD") "sys 2 unshare flags=CLONE_FILES -> "
					 "return=0\n" CLOSE("2", "3") "sys 1 write fd=3 count=1 -> "
								      "return=1\n" EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Ws7) (/x#0 -)" },
	{ "a thread is its process",
	  EXEC("1", "/a") FORK("1", "2", "CLONE_THREAD|CLONE_FILES|CLONE_FS|CLONE_VM")
		  MAKES("2", "/x", "3") EXIT("2") READS("1", "/y", "4") EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Wo6 /y#0 Ro5)" },
	{ "a directory is its own, or shared by CLONE_FS",
	  "exec 1 /a cwd=\"/w\"\n" FORK("1", "2", "SIGCHLD")
		  FORK("1", "3", "CLONE_FS|SIGCHLD") "sys 1 chdir path=\"d\" -> return=0\n" READS(
			  "1", "x", "3") READS("2", "x", "3") READS("3", "x", "3"),
	  "/a(/a#0 Rs1 /w/d stat /w/d/x#0 Ro5) (/w/x#0 Ro6) (/w/d/x#0 Ro7)" },
	{ "fchdir, and a path below a descriptor",
	  "exec 1 /a cwd=\"/w\"\n" OPEN(
		  "1", "d", "O_RDONLY|O_DIRECTORY",
		  "5") "sys 1 openat dirfd=5 path=\"x\" flags=O_RDONLY -> return=6\nsys 1 fchdir "
		       "fd=5 -> return=0\n" READS("1", "y", "7"),
	  "/a(/a#0 Rs1 /w/d stat,list /w/d/x#0 Ro3 /w/d/y#0 Ro5)" },
	{ "a relative path of a task whose directory is unknown is left out",
	  EXEC("1", "/a") READS("1", "x", "3"), "/a(/a#0 Rs1)" },
	{ "failures: missing, and there but refused",
	  EXEC("1", "/a") "sys 1 open path=\"/x\" flags=O_RDONLY -> error=ENOENT\n"
			  "sys 1 open path=\"/y\" flags=O_RDONLY -> error=EACCES\nsys 1 stat "
			  "path=\"/y/z\" -> error=ENOTDIR\n",
	  "/a(/a#0 Rs1 /x missing /y stat /y/z missing)" },
	{ "an exec that fails is a use of its parent", EXEC("1", "/a") "exec 1 /b error=ENOENT\n",
	  "/a(/a#0 Rs1 /b missing)" },
	{ "a memfd has no name, and is passed on",
	  EXEC("1", "/a") "sys 1 memfd_create name=\"m\" flags=0 -> return=3\nsys 1 write fd=3 "
			  "count=1 -> return=1\n" FORK(
				  "1", "2", "SIGCHLD") "sys 2 read fd=3 count=1 -> return=1\n",
	  "/a(/a#0 Rs1 |#0 Ws5) (|#0 Rs5)" },
	{ "a mapping reads; a shared one that may write, writes",
	  EXEC("1", "/a")
		  OPEN("1", "/x", "O_RDWR",
		       "3") "sys 1 mmap length=1 prot=PROT_READ|PROT_WRITE flags=MAP_SHARED fd=3 "
			    "-> return=0x7f\n" READS("1", "/y", "4") "sys 1 mmap length=1 "
								     "prot=PROT_READ|PROT_WRITE "
								     "flags=MAP_PRIVATE fd=4 -> "
								     "return=0x7f\n" EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Ro2 /x#1<0 Rs3Ws6 /y#0 Rs4)" },
	{ "sendfile reads one and writes the other",
	  EXEC("1", "/a") READS("1", "/x", "3") MAKES(
		  "1", "/y", "4") "sys 1 sendfile out_fd=4 in_fd=3 count=1 -> return=1\n" EXIT("1"),
	  "/a(/a#0 Rs1 /x#0 Rs2 /y#0 Ws5)" },
	{ "/dev/stdin is what is at 0",
	  EXEC("1", "/a") READS("1", "/x", "0")
		  READS("1", "/dev/stdin",
			"3") "sys 1 read fd=3 count=1 -> return=1\n" READS("1", "/dev/fd/0", "4")
			  READS("1", "/dev/fd/77", "5") READS("1", "/proc/self/fd/0x", "6"),
	  "/a(/a#0 Rs1 /x#0 Rs2 /proc/self/fd/0x read)" },
	{ "devices are uses without a content",
	  EXEC("1", "/a") OPEN("1", "/dev/null", "O_RDWR", "3") READS("1", "/proc/x", "4"),
	  "/a(/a#0 Rs1 /dev/null write /proc/x read)" },
	{ "a task number that is used again, and its end was not seen",
	  EXEC("1", "/a") FORK("1", "2", "SIGCHLD") MAKES("2", "/x", "3") FORK("1", "2", "SIGCHLD")
		  READS("2", "/y", "3"),
	  "/a(/a#0 Rs1) (/x#0 Wo4) (/y#0 Ro5)" },
	{ "records that come before their fork",
	  EXEC("1", "/a") READS("2", "/x", "3") EXEC("3", "/c") FORK("2", "3", "SIGCHLD") EXIT("3")
		  EXIT("2") FORK("1", "2", "SIGCHLD"),
	  "/a(/a#0 Rs1) (/x#0 Ro3) () /c(/c#0 Rs5)" },
	{ "a task without a fork has no parent", EXEC("1", "/a") EXEC("2", "/b") EXIT("2"),
	  "/a(/a#0 Rs1) /b(/b#0 Rs2)" },
	{ "no process forks itself",
	  EXEC("1", "/a") FORK("1", "1", "SIGCHLD") READS("1", "/x", "3"),
	  "/a(/a#0 Rs1 /x#0 Ro3)" },
	{ "one use for many events, also when others come between them",
	  EXEC("1", "/a") FORK("1", "2", "SIGCHLD") FORK("1", "3", "SIGCHLD") READS(
		  "1", "/x", "3") READS("2", "/x", "3") READS("3", "/x", "3") READS("1", "/x", "3")
		  READS("2", "/x", "3") FORK("2", "4", "SIGCHLD") FORK("2", "5", "SIGCHLD") FORK(
			  "2", "6", "SIGCHLD") READS("4", "/x", "3") READS("5", "/x", "3")
			  READS("6", "/x", "3") READS("1", "/x", "3") READS(
				  "2", "/x", "3") "sys 1 access path=\"/n\" -> error=ENOENT\nsys 2 "
						  "access path=\"/n\" -> error=ENOENT\n"
						  "sys 1 access path=\"/n\" -> error=ENOENT\n",
	  "/a(/a#0 Rs1 /x#0 Ro4 /n missing) (/x#0 Ro5 /n missing) (/x#0 Ro6) (/x#0 Ro12) (/x#0 "
	  "Ro13) (/x#0 Ro14)" },
};

static void put_version(const struct tr_deps_version *version, const struct tr_deps_version **seen,
			size_t *count, struct tr_buffer *to)
{
	uint64_t number = 0;
	size_t i = 0;

	for (; i < *count && seen[i] != version; i++)
		number += seen[i]->file == version->file;
	if (i == *count)
		seen[(*count)++] = version;
	tr_buffer_put_decimal(to, number);
}

static void put_evidence(char way, bool counts, unsigned evidence, uint32_t moment,
			 struct tr_buffer *to)
{
	if (!evidence)
		return;
	tr_buffer_put_byte(to, counts ? (char)(way - 0x20) : way);
	tr_buffer_put_byte(to, "-hops"[evidence]);
	if (moment == TR_DEPS_NEVER)
		tr_buffer_put_byte(to, '-');
	else
		tr_buffer_put_decimal(to, moment);
}

static void put_use(const struct tr_deps_use *use, const struct tr_deps_version **seen,
		    size_t *count, struct tr_buffer *to)
{
	const struct tr_deps_version *version = use->version;
	bool known = false;

	if (use->path)
		tr_deps_path_write(use->path, to);
	else
		tr_buffer_put_byte(to, '|');
	if (!version) {
		tr_buffer_put_byte(to, ' ');
		tr_deps_put_does(use->does, ",", to);
		return;
	}
	tr_buffer_put_byte(to, '#');
	put_version(version, seen, count, to);
	if (version->older) {
		tr_buffer_put_byte(to, '<');
		for (size_t i = 0; i < *count; i++)
			known |= seen[i] == version->older;
		if (known)
			put_version(version->older, seen, count, to);
		else
			tr_buffer_put_byte(to, '?');
	}
	tr_buffer_put_byte(to, ' ');
	if (!use->read && !use->written)
		tr_buffer_put_byte(to, '-');
	put_evidence('r', tr_deps_is_reader(use), use->read, use->read_at, to);
	put_evidence('w', tr_deps_is_writer(use), use->written, use->written_until, to);
}

static void put_graph(const struct tr_deps_graph *graph, struct tr_buffer *to)
{
	const struct tr_deps_version *seen[64];
	size_t count = 0;

	for (const struct tr_deps_command *c = graph->first_command; c; c = c->next) {
		const struct tr_deps_use *uses[64];
		size_t n = 0;
		for (const struct tr_deps_use *use = c->uses; use; use = use->next_of_command)
			uses[n++] = use;
		if (!n && !c->program && !c->parent)
			continue; /* a task before its first program */
		if (to->len)
			tr_buffer_put_byte(to, ' ');
		tr_buffer_put_text(to, c->name);
		tr_buffer_put_byte(to, '(');
		for (size_t i = n; i-- > 0;) {
			put_use(uses[i], seen, &count, to);
			if (i)
				tr_buffer_put_byte(to, ' ');
		}
		tr_buffer_put_byte(to, ')');
		if (n != c->use_count)
			tr_buffer_put_byte(to, '!');
	}
}

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const struct test *t = &tests[i];
		struct tr_deps_graph graph;
		struct tr_deps_tracker tracker;
		struct tr_buffer got = TR_BUFFER_INIT;
		tr_deps_graph_init(&graph);
		tr_deps_tracker_init(&tracker, &graph);
		bool good = log_put(&tracker, t->log);
		put_graph(&graph, &got);
		if (!ok(good && tr_text_is(tr_buffer_text(&got), t->want), "%s", t->what))
			diag("got %.*s\nnot %s", (int)got.len, got.data, t->want);
		tr_buffer_free(&got);
		tr_deps_tracker_free(&tracker);
		tr_deps_graph_free(&graph);
	}
}

/* However many files a command uses and however many others use them: one use of each content. */
static void test_many_uses(void)
{
	enum { FILES = 80, OTHERS = 6 };
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_buffer log = TR_BUFFER_INIT;
	char line[100];

	tr_buffer_put_literal(&log, EXEC("1", "/a"));
	for (int i = 0; i < OTHERS; i++) {
		snprintf(line, sizeof line, FORK("1", "%d", "SIGCHLD") EXEC("%d", "/b"), 2 + i,
			 2 + i);
		tr_buffer_put_text(&log, tr_text_from(line));
	}
	/* all read all files, by turns, and then once more; some are missing */
	for (int i = 0; i < 2 * FILES * (1 + OTHERS); i++) {
		int file = i / (1 + OTHERS) % FILES, task = 1 + i % (1 + OTHERS);
		snprintf(line, sizeof line, "sys %d open path=\"/f%d\" flags=O_RDONLY -> %s\n",
			 task, file, file % 8 ? "return=3" : "error=ENOENT");
		tr_buffer_put_text(&log, tr_text_from(line));
	}
	tr_buffer_put_byte(&log, '\0');
	tr_deps_graph_init(&graph);
	tr_deps_tracker_init(&tracker, &graph);
	bool good = log_put(&tracker, log.data) && !log.failed;
	for (const struct tr_deps_command *c = graph.first_command; c; c = c->next)
		good = good && (!c->program || c->use_count == 1 + FILES);
	ok(good, "one use of each file, however many there are");
	tr_buffer_free(&log);
	tr_deps_tracker_free(&tracker);
	tr_deps_graph_free(&graph);
}

/* What --of and --from are made of: everything that a search finds, in the order of its paths. */
struct search {
	const char *what, *log, *path;
	bool forward;
	enum tr_deps_through through;
	bool missing;
	const char *want, *commands;
};

static const char steps[] =
	EXEC("1", "/make") READS("1", "/rules", "3") FORK("1", "2", "SIGCHLD") EXEC("2", "/sh")
		READS("2", "/script", "3") "sys 2 access path=\"/none\" -> error=ENOENT\n" FORK(
			"2", "3", "SIGCHLD") EXEC("3", "/cc") READS("3", "/in", "4")
			MAKES("3", "/mid", "5") "sys 3 access path=\"/no\" -> error=ENOENT\n" CLOSE(
				"3", "5") READS("3", "/late", "4") EXIT("3")
				FORK("2", "4", "SIGCHLD") READS("2", "/later", "4")
					READS("4", "/mid", "3") MAKES("4", "/out", "1")
						READS("4", "/after", "3") CLOSE("4", "1") EXIT("4")
							EXIT("2") EXIT("1");

static const struct search searches[] = {
	{ "one step", steps, "/mid", false, TR_THROUGH_NONE, false, "/cc /in", "/cc" },
	{ "all steps, and what a fork had from its parent", steps, "/out", false, TR_THROUGH_NONE,
	  false, "/after /cc /in /mid /script /sh", "/cc /sh" },
	{ "with the reads of wrappers", steps, "/mid", false, TR_THROUGH_WRAPPERS, false,
	  "/cc /in /script /sh", "/cc /sh" },
	{ "with those of build tools", steps, "/mid", false, TR_THROUGH_ALL, false,
	  "/cc /in /make /rules /script /sh", "/cc /make /sh" },
	{ "with files that were missing", steps, "/mid", false, TR_THROUGH_WRAPPERS, true,
	  "/cc /in /no /none /script /sh", "/cc /sh" },
	{ "forward, over all steps", steps, "/in", true, TR_THROUGH_NONE, false, "/mid /out",
	  "/cc /sh" },
	{ "forward: what was read too late has no effect", steps, "/late", true, TR_THROUGH_NONE,
	  false, "", "/cc" },
	{ "forward: of several files, those that were closed after it",
	  EXEC("1", "/a") MAKES("1", "/x", "3") MAKES("1", "/y", "4") MAKES("1", "/z", "5")
		  CLOSE("1", "3") READS("1", "/p", "3") CLOSE("1", "5") CLOSE("1", "4"),
	  "/p", true, TR_THROUGH_NONE, false, "/y /z", "/a" },
	{ "forward, into a fork", steps, "/script", true, TR_THROUGH_NONE, false, "/out", "/sh" },
	{ "forward: not into a fork that was made before", steps, "/later", true, TR_THROUGH_NONE,
	  false, "", "/sh" },
	{ "forward, into commands", steps, "/script", true, TR_THROUGH_WRAPPERS, false, "/mid /out",
	  "/cc /sh" },
	{ "a content is made from the one that it contains",
	  EXEC("1", "/a") MAKES("1", "/x", "3") EXIT("1") EXEC("2", "/b")
		  OPEN("2", "/x", "O_WRONLY|O_APPEND", "3") EXIT("2"),
	  "/x", false, TR_THROUGH_NONE, false, "/a /b", "/a /b" },
	{ "and not from one that it replaces",
	  EXEC("1", "/a") MAKES("1", "/x", "3") EXIT("1") EXEC("2", "/b") MAKES("2", "/x", "3")
		  EXIT("2"),
	  "/x", false, TR_THROUGH_NONE, false, "/b", "/b" },
	{ "a command that is found again at a later moment has read more",
	  EXEC("1", "/a") READS("1", "/p", "3") MAKES("1", "/x", "4") CLOSE("1", "4")
		  READS("1", "/q", "3") FORK("1", "2", "SIGCHLD") EXEC("2", "/b")
			  READS("2", "/x", "5") MAKES("2", "/y", "6") EXIT("2")
				  READS("1", "/y", "5") MAKES("1", "/z", "6") EXIT("1"),
	  "/z", false, TR_THROUGH_NONE, false, "/a /b /p /q /x /y", "/a /b" },
	{ "files that need each other end the search",
	  EXEC("1", "/a") FORK("1", "2", "SIGCHLD") MAKES("1", "/x", "3") MAKES("2", "/y", "3")
		  READS("1", "/y", "4") READS("2", "/x", "4") EXIT("2") EXIT("1"),
	  "/x", false, TR_THROUGH_NONE, false, "/a /x /y", "/a" },
};

static bool add_path(void *context, struct tr_deps_use *use)
{
	(void)context;
	if (use->path)
		use->path->set = 1;
	return use->version;
}

static void add_command(void *context, struct tr_deps_command *command)
{
	(void)context;
	while (command && !command->program)
		command = command->parent;
	if (command)
		command->chosen = true;
}

/* Appends the paths below this one that were found. */
static void put_found(const struct tr_deps_path *path, struct tr_buffer *to)
{
	if (path->set) {
		tr_buffer_put_byte(to, ' ');
		tr_deps_path_write(path, to);
	}
	const struct tr_deps_path *sorted[64];
	size_t n = 0;
	for (const struct tr_deps_path *child = path->children; child; child = child->next) {
		size_t i = n++;
		for (; i && tr_text_compare(sorted[i - 1]->name, child->name) > 0; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = child;
	}
	for (size_t i = 0; i < n; i++)
		put_found(sorted[i], to);
}

static int compare_names(const void *a, const void *b)
{
	const struct tr_deps_command *x = *(struct tr_deps_command *const *)a;
	const struct tr_deps_command *y = *(struct tr_deps_command *const *)b;

	return tr_text_compare(x->name, y->name);
}

static bool finds(struct tr_deps_graph *graph, const struct search *t)
{
	struct tr_deps_search search = { .graph = graph,
					 .through = t->through,
					 .missing = t->missing,
					 .forward = t->forward,
					 .found = add_path,
					 .visited = add_command };
	struct tr_deps_path *path =
		tr_deps_paths_spelled(&graph->paths, NULL, tr_text_from(t->path));
	struct tr_buffer paths = TR_BUFFER_INIT, commands = TR_BUFFER_INIT;
	const struct tr_deps_command *list[64];
	size_t n = 0;

	tr_deps_search_begin(&search);
	bool good = tr_deps_search(&search, path->file->version);
	tr_deps_search_free(&search);
	put_found(graph->paths.root, &paths);
	for (const struct tr_deps_command *c = graph->first_command; c; c = c->next)
		if (c->chosen)
			list[n++] = c;
	qsort(list, n, sizeof *list, compare_names);
	for (size_t i = 0; i < n; i++) {
		tr_buffer_put_byte(&commands, ' ');
		tr_buffer_put_text(&commands, list[i]->name);
	}
	const char *got = paths.len ? paths.data + 1 : "",
		   *ran = commands.len ? commands.data + 1 : "";
	good = good && tr_text_is((struct tr_text){ got, paths.len - !!paths.len }, t->want) &&
	       tr_text_is((struct tr_text){ ran, commands.len - !!commands.len }, t->commands);
	if (!good)
		diag("got %.*s by %.*s\nnot %s by %s", (int)paths.len - !!paths.len, got,
		     (int)commands.len - !!commands.len, ran, t->want, t->commands);
	tr_buffer_free(&paths);
	tr_buffer_free(&commands);
	return good;
}

/* Each search twice, and one in the other direction between: marks and orders are its own. */
static void test_searches(void)
{
	for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
		const struct search *t = &searches[i];
		struct tr_deps_graph graph;
		struct tr_deps_tracker tracker;
		tr_deps_graph_init(&graph);
		tr_deps_tracker_init(&tracker, &graph);
		bool good = log_put(&tracker, t->log) && finds(&graph, t);
		struct tr_deps_search other = { .graph = &graph,
						.forward = !t->forward,
						.found = add_path };
		for (int round = 0; good && round < 2; round++) {
			tr_deps_search_begin(&other);
			good = tr_deps_search(&other, graph.last_file->version);
			for (struct tr_deps_command *c = graph.first_command; c; c = c->next) {
				c->chosen = false;
				for (struct tr_deps_use *use = c->uses; use;
				     use = use->next_of_command)
					if (use->path)
						use->path->set = 0;
			}
			good = good && finds(&graph, t);
		}
		tr_deps_search_free(&other);
		ok(good, "%s", t->what);
		tr_deps_tracker_free(&tracker);
		tr_deps_graph_free(&graph);
	}
}

static bool only_reads(void *context, const struct tr_deps_use *use)
{
	(void)context;
	return tr_deps_is_droppable(use) && !use->written;
}

static void drop_reads(void *context, struct tr_deps_command *program)
{
	for (const struct tr_deps_command *c = program; c; c = tr_deps_next_fork(c))
		tr_deps_drop_uses(context, (struct tr_deps_command *)c, only_reads, NULL);
}

/* Uses are dropped when their program and what it forked have ended, but their effects remain. */
static void test_dropped_uses(void)
{
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_buffer log = TR_BUFFER_INIT;

	tr_buffer_put_literal(&log, EXEC("1", "/sh"));
	for (int i = 0; i < 500; i++) { /* programs with few uses and with many */
		char text[128];
		tr_buffer_put_literal(&log, FORK("1", "2", "SIGCHLD") EXEC("2", "/a"));
		for (int k = 0; k < (i % 2 ? 40 : 2); k++) {
			snprintf(text, sizeof text, READS("2", "/x%d", "3"), k);
			tr_buffer_put_text(&log, tr_text_from(text));
		}
		tr_buffer_put_literal(&log, EXIT("2"));
	}
	tr_buffer_put_literal(&log, MAKES("1", "/x0", "3") CLOSE("1", "3") EXIT("1"));
	tr_buffer_put_byte(&log, '\0');
	tr_deps_graph_init(&graph);
	tr_deps_tracker_init(&tracker, &graph);
	tracker.program_ended = drop_reads;
	tracker.context = &graph;
	ok(log_put(&tracker, log.data), "a log of 500 programs");
	ok(graph.use_count == 1, "only the use that writes is left: %d", (int)graph.use_count);
	ok(graph.uses.count == 0, "none is found by its command");
	const struct tr_deps_use *use = graph.first_command->became->uses;
	ok(use && use->written && use->version->older == NULL &&
		   use->version->file->version == use->version,
	   "it writes the last content of its file");
	int free_uses = 0;
	for (use = graph.free_uses; use; use = use->next_of_command)
		free_uses++;
	ok(free_uses < 100, "the memory of dropped uses was used again: %d", free_uses);
	tr_buffer_free(&log);
	tr_deps_tracker_free(&tracker);
	tr_deps_graph_free(&graph);
}

int main(void)
{
	test_rules();
	test_dropped_uses();
	test_many_uses();
	test_searches();
	return done_testing();
}
