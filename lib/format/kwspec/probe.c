/* SPDX-License-Identifier: MIT */
/*
 * Runs a compiler that prints its macros and the directories where it searches for headers, as
 * kwinject does, and makes a line of them:
 *
 *	config;/usr/bin/gcc;-e;gnu;-D__GNUC__=12;...;-J/usr/include
 *
 * This runs a program that a trace names, so it is only done on request.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/kwspec/kwspec.h"
#include "process/path.h"

enum { OUTPUT_MAX = 16 << 20, TRIES = 1000, PAUSE_NS = 10 * 1000 * 1000 };

extern char **environ;

/* Starts the compiler, with messages in English. Returns 0, or an error number. */
static int start(const char *path, const char *language, int out, int errors, pid_t *pid)
{
	char *argv[] = { (char *)path, (char *)"-x",  (char *)language,	   (char *)"-E",
			 (char *)"-v", (char *)"-dM", (char *)"/dev/null", NULL };
	posix_spawn_file_actions_t actions;
	size_t count = 0, kept = 0;

	while (environ[count])
		count++;
	char **env = malloc((count + 2) * sizeof *env);
	if (!env)
		return ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0)
			env[kept++] = environ[i];
	env[kept++] = (char *)"LC_ALL=C";
	env[kept] = NULL;
	int failed = posix_spawn_file_actions_init(&actions);
	if (!failed) {
		failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		if (!failed)
			failed = posix_spawn_file_actions_adddup2(&actions, out, 1);
		if (!failed)
			failed = posix_spawn_file_actions_adddup2(&actions, errors, 2);
		if (!failed)
			failed = posix_spawn(pid, path, &actions, NULL, argv, env);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(env);
	return failed;
}

/*
 * Waits until the compiler ends, and kills it after ten seconds or if it prints too much. NULL: it
 * succeeded; else the reason.
 */
static const char *wait_for(pid_t pid, int out)
{
	const struct timespec pause = { 0, PAUSE_NS };
	const char *reason = "it takes longer than ten seconds";
	struct stat st;
	int status;

	for (int i = 0; i < TRIES; i++) {
		pid_t done = waitpid(pid, &status, WNOHANG);
		if (done < 0 && errno != EINTR)
			return "its exit status is unknown";
		if (done == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "it failed";
		if (fstat(out, &st) == 0 && st.st_size > OUTPUT_MAX) {
			reason = "it prints too much";
			break;
		}
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return reason;
}

/* Appends all that was written to a file. */
static bool read_back(int fd, struct tr_buffer *to)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || st.st_size > OUTPUT_MAX)
		return false;
	for (off_t at = 0; at < st.st_size;) {
		char *room = tr_buffer_room(to, (size_t)(st.st_size - at));
		ssize_t n = room ? pread(fd, room, (size_t)(st.st_size - at), at) : -1;
		if (n <= 0)
			return false;
		tr_buffer_used(to, (size_t)n);
		at += n;
	}
	return true;
}

/* Takes the next line. False: there is none. */
static bool next_line(struct tr_text *text, struct tr_text *line)
{
	const char *end = text->data + text->len;
	const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;

	*line = tr_text_span(text->data, lf ? lf : end);
	*text = tr_text_span(lf ? lf + 1 : end, end);
	return line->len || lf;
}

/* Appends -DNAME=VALUE for each "#define NAME VALUE". */
static void put_macros(struct tr_text text, struct tr_buffer *to)
{
	struct tr_buffer option = TR_BUFFER_INIT;
	struct tr_text line;

	while (next_line(&text, &line)) {
		if (!tr_text_skip(&line, TR_TEXT("#define ")))
			continue;
		/* "F(a, b) a" has blanks in its parameters */
		const char *end = line.data + line.len, *p = line.data;
		while (p < end && *p != ' ' && *p != '(')
			p++;
		const char *close = p < end && *p == '(' ? memchr(p, ')', (size_t)(end - p)) : NULL;
		p = close ? close + 1 : p;
		option.len = 0;
		tr_buffer_put_literal(&option, "-D");
		tr_buffer_put_text(&option, tr_text_span(line.data, p));
		tr_buffer_put_byte(&option, '=');
		tr_buffer_put_text(&option, tr_text_span(p < end ? p + 1 : end, end));
		tr_kwspec_put_field(to, tr_buffer_text(&option));
	}
	to->failed |= option.failed;
	tr_buffer_free(&option);
}

/* Appends -J for each directory in the list that -v prints. */
static void put_directories(struct tr_text text, struct tr_buffer *to)
{
	struct tr_buffer option = TR_BUFFER_INIT;
	struct tr_text line;
	bool inside = false;

	while (next_line(&text, &line)) {
		if (tr_text_starts(line, TR_TEXT("End of search list")))
			break;
		if (inside && tr_text_skip(&line, TR_TEXT(" ")) && line.len &&
		    line.data[line.len - 1] != ')') {
			option.len = 0;
			tr_buffer_put_literal(&option, "-J");
			tr_buffer_put_text(&option, line);
			tr_kwspec_put_field(to, tr_buffer_text(&option));
		}
		inside |= tr_text_starts(line, TR_TEXT("#include <...> search starts here:"));
	}
	to->failed |= option.failed;
	tr_buffer_free(&option);
}

/* Runs the compiler, and makes the line of its output. NULL: done; else why it is not. */
static const char *run_compiler(const char *path, int out, int errors, struct tr_buffer *to)
{
	struct tr_buffer macros = TR_BUFFER_INIT, messages = TR_BUFFER_INIT;
	struct tr_text name = tr_path_base(tr_text_from(path));
	const char *language = memmem(name.data, name.len, "++", 2) ? "c++" : "c", *reason;
	pid_t pid;

	int error = start(path, language, out, errors, &pid);
	if (error)
		return strerror(error);
	reason = wait_for(pid, out);
	if (!reason && (!read_back(out, &macros) || !read_back(errors, &messages)))
		reason = "its output cannot be read";
	if (!reason) {
		tr_buffer_put_literal(to, "config");
		tr_kwspec_put_field(to, tr_text_from(path));
		tr_kwspec_put_field(to, TR_TEXT("-e"));
		tr_kwspec_put_field(to, TR_TEXT("gnu"));
		put_macros(tr_buffer_text(&macros), to);
		put_directories(tr_buffer_text(&messages), to);
		tr_buffer_put_byte(to, '\n');
	}
	tr_buffer_free(&macros);
	tr_buffer_free(&messages);
	return reason;
}

const char *tr_kwspec_probe(struct tr_text compiler, struct tr_buffer *to)
{
	const char *reason = "cannot make a temporary file";

	if (!compiler.len || *compiler.data != '/' || memchr(compiler.data, '\0', compiler.len))
		return "its path is unknown";
	char *path = strndup(compiler.data, compiler.len);
	if (!path) {
		to->failed = true;
		return "out of memory";
	}
	int out = memfd_create("macros", MFD_CLOEXEC), errors = memfd_create("search", MFD_CLOEXEC);
	if (out >= 0 && errors >= 0)
		reason = run_compiler(path, out, errors, to);
	if (out >= 0)
		close(out);
	if (errors >= 0)
		close(errors);
	free(path);
	return reason;
}
