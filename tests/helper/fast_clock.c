/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD library: the processor time of a thread passes 500 times as fast. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FACTOR = 500 };

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (!result && clock == CLOCK_THREAD_CPUTIME_ID) {
		long long passed = (now->tv_sec * 1000000000LL + now->tv_nsec) * FACTOR;
		now->tv_sec = passed / 1000000000;
		now->tv_nsec = passed % 1000000000;
	}
	return result;
}
