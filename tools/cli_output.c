/* Where the result goes, and that nothing half-written is ever left behind. */
#include "config.h"

#include "cli_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A copy, because the handler may run while its owner is being freed. */
static char unfinished[PATH_MAX];
static volatile sig_atomic_t unfinished_set;

static void remove_unfinished(void)
{
	if (unfinished_set)
		unlink(unfinished);
}

static void remove_and_die(int signal_number)
{
	remove_unfinished();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static bool running;

/*
 * libarchive calls exit(1) when it finds no memory. Status 1 means something
 * else here, and what is half written has to go as after a signal.
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

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ };
enum { DEADLY = sizeof deadly / sizeof deadly[0] };

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

static struct tr_sink *file_sink(struct tr_cli *cli, struct tr_error *err)
{
	sigset_t set, old;

	deadly_set(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	struct tr_sink *sink = tr_sink_file(cli->output_path, err);
	const char *temporary = sink ? tr_sink_file_temporary(sink) : NULL;
	if (temporary && strlen(temporary) < sizeof unfinished) {
		memcpy(unfinished, temporary, strlen(temporary) + 1);
		unfinished_set = 1;
		catch_deadly();
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return sink;
}

struct tr_sink *tr_cli_sink(struct tr_cli *cli, bool binary)
{
	struct tr_cli_private *p = cli->private;
	struct tr_sink *sink;

	if (cli->stop)
		return NULL;
	if (cli->output_path) {
		sink = file_sink(cli, &p->err);
	} else if (binary && isatty(STDOUT_FILENO)) {
		tr_cli_usage(cli, "binary output to a terminal: use -o FILE or a pipe");
		return NULL;
	} else {
		sink = tr_sink_fd(STDOUT_FILENO, &p->err);
	}
	if (!sink) {
		tr_cli_fail(cli, "%s", p->err.text);
		cli->stop = true;
	}
	return sink;
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
	if (!cli->out) {
		tr_error_memory(&p->err);
		tr_cli_report(cli, &p->err);
		cli->stop = true;
		return false;
	}
	tr_output_line_buffered(cli->out,
				p->line_buffered || (!cli->output_path && isatty(STDOUT_FILENO)));
	return true;
}

bool tr_cli_output(struct tr_cli *cli, bool binary)
{
	return tr_cli_output_on(cli, tr_cli_sink(cli, binary));
}

static void output_error(struct tr_cli *cli, const struct tr_error *err)
{
	if (err->cause == TR_CAUSE_PIPE)
		cli->stop = true;
	else
		tr_cli_fail(cli, "%s: %s", cli->output_path ? cli->output_path : "stdout",
			    err->text);
}

void tr_cli_abandon(struct tr_cli *cli)
{
	cli->stop = cli->private->discard = true;
}

bool tr_cli_finish_output(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	bool done = true;

	if (cli->out && p->discard) {
		/* what came before the trouble is fit to be seen, but no file may look whole */
		if (!cli->output_path)
			tr_output_flush(cli->out);
		tr_output_discard(cli->out);
	} else if (cli->out) {
		done = tr_output_finish(cli->out, &p->err);
		if (!done)
			output_error(cli, &p->err);
	}
	cli->out = NULL;
	p->discard = p->discard && cli->stop; /* the next output begins anew */
	return done;
}

bool tr_cli_read_nothing(const struct tr_cli *cli)
{
	return cli->status == 2 && !cli->private->any_read;
}

/* The last chance to learn that the data did not arrive (NFS, quota) is close. */
void tr_cli_output_end(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	p->discard = p->discard || tr_cli_read_nothing(cli);
	tr_cli_finish_output(cli);
	unfinished_set = 0;
	if (fflush(stdout) != 0 && errno != EPIPE)
		tr_cli_fail(cli, "stdout: %s", strerror(errno));
	if (close(STDOUT_FILENO) != 0 && errno != EBADF)
		tr_cli_fail(cli, "stdout: %s", strerror(errno));
}
