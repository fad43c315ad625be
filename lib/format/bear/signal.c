#include "format/bear/bear.h"

/* Those for real time, as strace calls them: SIGRTMIN, SIGRT_1 ... SIGRTMAX. */
static unsigned real_time_signal(struct tr_text name)
{
	enum { FIRST = 32, LAST = 64 };
	const struct tr_text lead = TR_TEXT("SIGRT_");
	unsigned number = 0;

	if (tr_text_is(name, "SIGRTMIN"))
		return FIRST;
	if (tr_text_is(name, "SIGRTMAX"))
		return LAST;
	if (!tr_text_starts(name, lead) || name.len == lead.len)
		return 0;
	for (size_t i = lead.len; i < name.len && number <= LAST - FIRST; i++) {
		unsigned digit = (unsigned char)name.data[i] - '0';
		if (digit > 9)
			return 0;
		number = number * 10 + digit;
	}
	return number <= LAST - FIRST ? FIRST + number : 0;
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
