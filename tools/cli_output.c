/* SPDX-License-Identifier: MIT */
/* The output: which codec its name selects, and that no incomplete file remains. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_private.h"
#include "core/archive.h"
#include "core/file.h"
#include "core/output.h"

/* True if the path ends in one of the extensions. The list ends with NULL. */
static bool ends_in(struct tr_text path, const char *const *extensions)
{
	while (*extensions && !tr_path_ends(path, *extensions))
		extensions++;
	return *extensions;
}

/*
 * True if the name is that of a tar archive in a codec that the tools do not have. "all.tar.txt"
 * is text about an archive, and "all.tar.EXT" may be a trace, so these are no archives.
 */
static bool is_foreign_tar(struct tr_text path)
{
	static const char *const texts[] = { "txt", "html", "dot", "sh",  "list", "log",
					     "tsv", "csv",  "md",  "svg", "json", "jsonl" };
	const char *dot = memrchr(path.data, '.', path.len);
	struct tr_text stem = { path.data, dot ? (size_t)(dot - path.data) : 0 };

	if (!dot || !tr_path_ends(stem, ".tar"))
		return false;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(dot + 1, texts[i]) == 0)
			return false;
	for (size_t i = 0; tr_formats[i]; i++)
		for (const char *const *e = tr_formats[i]->extensions; e && *e; e++)
			if (tr_path_ends(path, *e))
				return false;
	return true;
}

/*
 * The extension alone decides. A name that promises a container which the tool cannot write is an
 * error: a file x.rar with other contents would be worse.
 */
bool tr_cli_name_codec(struct tr_cli *cli, bool archives, const struct tr_codec **codec)
{
	static const char *const foreign_archives[] = {
		".rar", ".zipx", ".cab", ".arj", ".ace", ".lha", ".lzh", ".xar", ".jar",
		".deb", ".rpm",	 ".iso", ".tlz", ".tbr", ".taz", ".tZ",	 NULL,
	};
	static const char *const foreign_codecs[] = { ".lz", ".Z",  ".lzma", ".lzo", ".br",
						      ".sz", ".zz", ".lrz",  NULL };
	struct tr_text path = tr_text_from(cli->output_path);

	if (codec)
		*codec = NULL;
	if (!path.len || cli->stop)
		return !cli->stop;
	bool archive = tr_archive_by_extension(path);
	if (archive && !archives)
		return tr_cli_usage(cli, "%s: only tr-repack writes archives", path.data);
	/*
	 * few programs read brotli, and it has no magic: only tr-repack checks which formats use it
	 */
	const struct tr_codec *named = archive ? NULL : tr_codec_by_extension(path);
	if (named && !named->general && !archives)
		named = NULL;
	if (codec)
		*codec = named;
	if (archive || named)
		return true;
	if (!ends_in(path, foreign_archives) && !is_foreign_tar(path) &&
	    !(codec && ends_in(path, foreign_codecs)))
		return true;
	return tr_cli_usage(
		cli, "%s: cannot write this kind of file: use .gz, .xz, .zst, .bz2 or .lz4%s",
		path.data, archives ? ", or .tar, .zip, .cpio or .7z" : "");
}

struct tr_sink *tr_cli_encoded(struct tr_cli *cli, struct tr_sink *sink,
			       const struct tr_codec *codec, int level, unsigned threads)
{
	struct tr_cli_private *p = cli->private;

	if (!sink || !codec)
		return sink;
	cli->packed = true;
	if (level == TR_CLI_DEFAULT_LEVEL)
		level = codec->level_default;
	sink = codec->encoder(sink, level, threads, &p->err);
	if (!sink) {
		tr_cli_fail(cli, "%s", p->err.text);
		cli->stop = true;
	}
	return sink;
}

/*
 * Temporary files: copies, because the handler may run while their owner is being freed. What was
 * renamed since then is not found, and stays.
 */
static struct {
	int dir;
	char name[NAME_MAX + 1];
} unfinished[TR_FILE_GROUP];
static volatile sig_atomic_t unfinished_count;

/* Removes the temporary files. It calls only unlinkat, because it also runs in a signal handler. */
static void remove_unfinished(void)
{
	for (sig_atomic_t i = 0; i < unfinished_count; i++)
		unlinkat(unfinished[i].dir, unfinished[i].name, 0);
}

/*
 * Removes the temporary files, then lets the signal end the process, so that a shell sees the
 * cause.
 */
static void remove_and_die(int signal_number)
{
	remove_unfinished();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static bool running;

/*
 * libarchive calls exit(1) when it finds no memory. Status 1 means something
 * else here, and an incomplete file is removed as after a signal.
 */
static void end_by_library(void)
{
	if (!running)
		return;
	remove_unfinished();
	_exit(2);
}

void tr_cli_watch_exit(bool on)
{
	static bool registered;

	registered = registered || atexit(end_by_library) == 0;
	running = on;
}

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
enum { DEADLY = sizeof deadly / sizeof deadly[0] };

static void do_nothing(int signal_number)
{
	(void)signal_number;
}

/*
 * A write beyond the limit for files then fails with a message, and other files can still be
 * written. A command that is started has the signal's default action, unlike with SIG_IGN.
 */
void tr_cli_catch_file_limit(void)
{
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART }, old;

	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* The signals that end a process and that a user, a pipe or a limit can cause. */
static void deadly_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < DEADLY; i++)
		sigaddset(set, deadly[i]);
}

/* Signals that were ignored when we were started (nohup) stay ignored. */
static void catch_deadly(void)
{
	struct sigaction action = { .sa_handler = remove_and_die }, old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < DEADLY; i++)
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
}

void tr_cli_output_is_not_ours(struct tr_cli *cli)
{
	struct sigaction old;

	cli->private->files.count = 0;
	unfinished_count = 0;
	for (size_t i = 0; i < DEADLY; i++)
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == remove_and_die)
			signal(deadly[i], SIG_DFL);
}

/*
 * A descriptor that is closed at the start would be given to the next file we
 * open, and messages would end up in it. Opened the wrong way round, using it
 * fails as it should.
 */
void tr_cli_standard_descriptors(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", wrong_way[fd]); /* takes the lowest: fd */
}

/*
 * Adds the temporary file of a sink to those that a signal removes. A sink without one, such as
 * that of a device, needs no removal.
 */
static void note_unfinished(const struct tr_sink *sink)
{
	const struct tr_unfinished *file = sink ? tr_sink_file_unfinished(sink) : NULL;
	sig_atomic_t at = unfinished_count;

	if (!file || strlen(file->temporary) >= sizeof unfinished[at].name)
		return;
	unfinished[at].dir = file->dir;
	memcpy(unfinished[at].name, file->temporary, strlen(file->temporary) + 1);
	unfinished_count = at + 1;
	catch_deadly();
}

bool tr_cli_is_scarce(int fd)
{
	enum { NEEDED = 16 };
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + NEEDED >= limit.rlim_cur;
}

uint64_t tr_cli_complete_files(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	while (tr_file_group_complete(&p->files, &p->err) != TR_END) {
		tr_cli_fail(cli, "%s", p->err.text);
		p->unwritten++;
	}
	unfinished_count = 0;
	p->completed = tr_cli_clock();
	return p->unwritten;
}

/*
 * Makes the sink of the output file: that of -o (dir -1), or name in the directory. Signals are
 * blocked from the creation of the temporary file until its name is recorded, so that no signal
 * leaves it.
 */
static struct tr_sink *file_sink(struct tr_cli *cli, const struct tr_trace_place *place, int dir,
				 const char *name)
{
	struct tr_cli_private *p = cli->private;
	struct tr_sink *sink;
	struct stat st;
	sigset_t set, old;
	int found = dir < 0 ? stat(cli->output_path, &st)
			    : fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);

	if (found == 0 && tr_cli_refuses(cli, place, cli->output_path, &st)) {
		cli->stop = !cli->several;
		return NULL;
	}
	if (unfinished_count == TR_FILE_GROUP ||
	    (p->files.count && tr_cli_is_scarce(p->files.list[p->files.count - 1].fd)))
		tr_cli_complete_files(cli);
	deadly_set(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	if (dir < 0)
		sink = tr_sink_file(cli->output_path, &p->err);
	else
		sink = tr_sink_file_at(dir, name, cli->output_path, &p->files, &p->err);
	note_unfinished(sink);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!sink) {
		tr_cli_message_of(cli, place, &p->err);
		cli->stop = !cli->several || p->err.cause == TR_CAUSE_MEMORY;
	}
	return sink;
}

/*
 * The sink of -o, or of stdout. Binary data on a terminal are of no use to anyone, and could
 * change its state; text on a terminal is escaped.
 */
struct tr_sink *tr_cli_sink(struct tr_cli *cli, bool binary)
{
	struct tr_cli_private *p = cli->private;

	if (cli->stop)
		return NULL;
	if (cli->output_path)
		return file_sink(cli, NULL, -1, NULL);
	if (binary && isatty(STDOUT_FILENO)) {
		tr_cli_usage(cli, "binary output to a terminal: use -o FILE or a pipe");
		return NULL;
	}
	struct tr_sink *sink = tr_sink_fd(STDOUT_FILENO, &p->err);
	/* names in a trace may contain control sequences */
	if (sink && isatty(STDOUT_FILENO) && !(sink = tr_sink_terminal(sink)))
		tr_error_memory(&p->err);
	if (!sink) {
		tr_cli_fail(cli, "%s", p->err.text);
		cli->stop = true;
	}
	return sink;
}

struct tr_sink *tr_cli_sink_at(struct tr_cli *cli, const struct tr_trace_place *place, int dir,
			       const char *name)
{
	return cli->stop ? NULL : file_sink(cli, place, dir, name);
}

bool tr_cli_output_on(struct tr_cli *cli, struct tr_sink *sink)
{
	struct tr_cli_private *p = cli->private;

	if (!sink || cli->stop) {
		if (sink)
			sink->close(sink);
		return false;
	}
	cli->out = tr_output_new(sink);
	if (!cli->out)
		return tr_cli_out_of_memory(cli);
	tr_output_line_buffered(cli->out,
				p->line_buffered || (!cli->output_path && isatty(STDOUT_FILENO)));
	return true;
}

bool tr_cli_output(struct tr_cli *cli, bool binary)
{
	const struct tr_codec *codec;

	return tr_cli_name_codec(cli, false, &codec) &&
	       tr_cli_output_on(cli, tr_cli_encoded(cli, tr_cli_sink(cli, binary), codec,
						    TR_CLI_DEFAULT_LEVEL, 1));
}

/* Reports an error of the output. A closed pipe is not an error: the reader has seen enough. */
static void output_error(struct tr_cli *cli, const struct tr_trace_place *place,
			 const struct tr_error *err)
{
	struct tr_error named;

	tr_error_set(&named, err->cause, "%s: %s", cli->output_path ? cli->output_path : "stdout",
		     err->text);
	tr_cli_message_of(cli, place, &named);
}

void tr_cli_abandon(struct tr_cli *cli)
{
	cli->stop = cli->private->discard = true;
}

bool tr_cli_finish_output(struct tr_cli *cli, const struct tr_trace_place *place,
			  const struct timespec *mtime)
{
	enum { LONGEST = 1000 /* milliseconds without a new file */ };
	struct tr_cli_private *p = cli->private;
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, *mtime };
	size_t before = p->files.count;
	bool done = true;

	if (cli->out && p->discard) {
		/*
		 * what was written before the trouble may be shown, but no file may look complete
		 */
		if (!cli->output_path)
			tr_output_flush(cli->out);
		tr_output_discard(cli->out);
	} else if (cli->out) {
		done = tr_output_finish(cli->out, &p->err);
		if (done)
			tr_cli_log_output(cli, false);
		else
			output_error(cli, place, &p->err);
	}
	/* a file system that keeps no such time makes --resume write the file again */
	if (p->files.count > before)
		(void)futimens(p->files.list[before].fd, times);
	/* many small files wait for the disk together, and those that take long do not wait */
	if (p->files.count && tr_cli_clock() - p->completed >= LONGEST)
		tr_cli_complete_files(cli);
	cli->out = NULL;
	p->discard = p->discard && cli->stop; /* the next output begins anew */
	return done;
}

bool tr_cli_list_file(struct tr_cli *cli, const char *path)
{
	struct tr_error err;

	if (tr_fd_write(STDOUT_FILENO, path, strlen(path) + 1, &err))
		return true;
	if (err.cause != TR_CAUSE_PIPE)
		tr_cli_fail(cli, "stdout: %s", err.text);
	cli->stop = true;
	return false;
}

bool tr_cli_read_nothing(const struct tr_cli *cli)
{
	return cli->status == 2 && !cli->private->any_read;
}

/*
 * Ends the output and standard output. close is the last call that can report that the data did
 * not arrive (NFS, quota).
 */
void tr_cli_output_end(struct tr_cli *cli)
{
	static const struct timespec now = { .tv_nsec = UTIME_NOW };
	struct tr_cli_private *p = cli->private;

	p->discard = p->discard || tr_cli_read_nothing(cli);
	tr_cli_finish_output(cli, NULL, &now);
	tr_cli_complete_files(cli);
	if (fflush(stdout) != 0 && errno != EPIPE)
		tr_cli_fail(cli, "stdout: %s", strerror(errno));
	if (close(STDOUT_FILENO) != 0 && errno != EBADF)
		tr_cli_fail(cli, "stdout: %s", strerror(errno));
}
