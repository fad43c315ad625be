/*
 * Progress on stderr: a line that is redrawn four times a second on a
 * terminal, one line on SIGUSR1. Signals only set a flag; the loop over the
 * records sees it. While a read waits no record comes: for that time the
 * line is prepared, so that the handler itself can write it.
 */
#include "config.h"

#include "cli_private.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t tr_cli_attention;
static volatile sig_atomic_t tick, asked, waiting;
static char prepared[160];
static volatile sig_atomic_t prepared_len;

static void on_tick(int signal_number)
{
	(void)signal_number;
	tick = 1;
	tr_cli_attention = 1;
}

static void on_request(int signal_number)
{
	int saved = errno;

	(void)signal_number;
	if (waiting) {
		(void)!write(STDERR_FILENO, prepared, (size_t)prepared_len);
	} else {
		asked = 1;
		tr_cli_attention = 1;
	}
	errno = saved;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void catch (int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

void tr_cli_progress_begin(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	/* a result that goes to the terminal is not to be mixed with it */
	bool apart = cli->output_path || !isatty(STDOUT_FILENO);
	/* who reads a pipe of its own has none to show */
	bool shown = cli->tool->shared & TR_CLI_READS;
	bool on = p->progress == TR_CLI_ALWAYS ||
		  (p->progress == TR_CLI_AUTO && isatty(STDERR_FILENO) && apart);

	p->started = now();
	catch (SIGUSR1, on_request);
	if (on && shown) {
		struct itimerval timer = { { 0, 250000 }, { 1, 0 } };
		catch (SIGALRM, on_tick);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
}

/* "12.3 MB" in powers of 1000. */
static int put_bytes(char *to, size_t cap, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	size_t unit = 0;

	for (; bytes >= 999.5 && unit < 6; unit++)
		bytes /= 1000;
	return snprintf(to, cap, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
}

/* The line, without an end. */
static int describe(const struct tr_cli *cli, char *to, size_t cap)
{
	uint64_t done = 0, total = 0;
	tr_trace_progress(cli->trace, &done, &total);
	double seconds = (double)(now() - cli->private->started) / 1000;
	double rate = seconds > 0 ? (double)done / seconds : 0;
	int len = snprintf(to, cap, "%s: ", cli->tool->name);

	len += put_bytes(to + len, cap - (size_t)len, (double)done);
	if (total)
		len += snprintf(to + len, cap - (size_t)len, " (%.0f %%)",
				100 * (double)done / (double)total);
	len += snprintf(to + len, cap - (size_t)len, ", ");
	len += put_bytes(to + len, cap - (size_t)len, rate);
	len += snprintf(to + len, cap - (size_t)len, "/s");
	if (total > done && rate > 0) {
		long left = (long)((double)(total - done) / rate);
		len += snprintf(to + len, cap - (size_t)len, ", %ld:%02ld:%02ld left", left / 3600,
				left / 60 % 60, left % 60);
	}
	return len;
}

/*
 * As much of the line as stands on one of the terminal's, whose width may have
 * changed: what wraps cannot be taken back. Facts are shown whole or not at all.
 */
static size_t fit(const char *line, size_t len)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col || len < size.ws_col)
		return len;
	size_t room = size.ws_col - 1U;
	for (size_t at = room; at > 0; at--) {
		if (line[at] == ',')
			return at;
	}
	return room;
}

/* In the background the terminal is somebody else's. */
static bool is_ours(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

void tr_cli_progress(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;
	char line[160];

	waiting = 0;
	tr_cli_attention = 0;
	if (!asked && !tick)
		return;
	size_t len = (size_t)describe(cli, line, sizeof line - 1);
	line[len] = '\n';
	bool redraw = !asked && isatty(STDERR_FILENO);
	asked = tick = 0;
	if (redraw && !is_ours())
		return;
	tr_cli_say(cli, (struct tr_text){ line, redraw ? fit(line, len) : len + 1 });
	p->progress_up = redraw;
}

void tr_cli_progress_wait(struct tr_cli *cli)
{
	waiting = 0;
	int len = describe(cli, prepared, sizeof prepared - 1);
	prepared[len] = '\n';
	prepared_len = len + 1;
	waiting = 1;
	tr_cli_attention = 1; /* the next record ends the wait */
}

void tr_cli_progress_end(struct tr_cli *cli)
{
	struct itimerval off = { { 0, 0 }, { 0, 0 } };

	waiting = 0;
	setitimer(ITIMER_REAL, &off, NULL);
	tr_cli_progress_clear(cli);
}
