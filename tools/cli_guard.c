/* The guard of lib/core/file_view.h: SIGBUS in the bytes that are looked at makes zeros of them. */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

/* Of the process, as signals are; only the thread that reads looks at files. */
static struct {
	volatile uintptr_t begin, end;
	volatile sig_atomic_t faults;
	uintptr_t page;
} guarded;

/*
 * mmap is on no list of what a handler may call, but it is a system call and nothing
 * else, and the signal comes from our own instruction, not from within some function.
 * A fault that is not ours, or cannot be mended, ends the process as ever.
 */
static void mend(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	uintptr_t page = address - address % guarded.page;

	(void)context;
	if (address >= guarded.begin && address < guarded.end &&
	    mmap((void *)page, guarded.page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != MAP_FAILED)
		guarded.faults = 1;
	else if (signal(number, SIG_DFL) != SIG_ERR)
		raise(number);
}

static void enter(const char *data, size_t len)
{
	guarded.faults = 0;
	guarded.begin = (uintptr_t)data;
	guarded.end = guarded.begin + len;
}

static bool leave(void)
{
	guarded.begin = guarded.end = 0;
	return !guarded.faults;
}

const struct tr_fault_guard *tr_cli_fault_guard(void)
{
	static const struct tr_fault_guard guard = { enter, leave };
	struct sigaction action = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };

	guarded.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	return sigaction(SIGBUS, &action, NULL) == 0 ? &guard : NULL;
}
