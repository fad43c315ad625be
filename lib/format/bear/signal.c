#include "format/bear/bear.h"

/* Those for real time, as strace calls them: SIGRTMIN, SIGRT_1 ... SIGRTMAX. */
static unsigned real_time_signal(struct tr_text name)
{
	enum { FIRST = 32, LAST = 64 };
	const struct tr_text lead = TR_TEXT("SIGRT_");
	uint64_t number;

	if (tr_text_is(name, "SIGRTMIN"))
		return FIRST;
	if (tr_text_is(name, "SIGRTMAX"))
		return LAST;
	if (!tr_text_starts(name, lead))
		return 0;
	const struct tr_cell cell = { .type = TR_CELL_TEXT,
				      .text = tr_text_span(name.data + lead.len,
							   name.data + name.len) };
	return tr_cell_number(&cell, &number) && number <= LAST - FIRST ? FIRST + (unsigned)number
									: 0;
}

/* Signals that end programs; their numbers are those of Linux on most machines. */
unsigned tr_bear_signal_number(struct tr_text name)
{
	static const char *const names[] = {
		"",	    "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",  "SIGTRAP",   "SIGABRT",
		"SIGBUS",   "SIGFPE",  "SIGKILL",   "SIGUSR1", "SIGSEGV", "SIGUSR2",   "SIGPIPE",
		"SIGALRM",  "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",   "SIGTSTP",
		"SIGTTIN",  "SIGTTOU", "SIGURG",    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
		"SIGWINCH", "SIGIO",   "SIGPWR",    "SIGSYS",
	};

	for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
		if (tr_text_is(name, names[i]))
			return i;
	return real_time_signal(name);
}
