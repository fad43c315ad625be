#include "format/bear/bear.h"

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
	return 0;
}
