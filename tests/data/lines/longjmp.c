/* SPDX-License-Identifier: MIT */
/* Control that leaves functions by longjmp, signals and atexit. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static volatile sig_atomic_t seen;

static void leave(int depth)
{
	if (depth == 0)
		longjmp(place, 7);
	leave(depth - 1);
	puts("never");
}

static void handle(int number)
{
	seen = number;
}

static void at_end(void)
{
	puts("end");
}

/* jumps past the first instruction of its closing brace */
static void either(double first)
{
	long way = 0;

	if (first >= 0 && first < 9 && (way += (long)first, 1))
		at_end();
	else
		handle(0);
}

int main(void)
{
	volatile int tries = 0;
	int got = setjmp(place);

	atexit(at_end);
	either(1);
	if (got == 0) {
		tries++;
		leave(3);
		tries = 100;
	} else if (got == 8) {
		return 2;
	}
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	if (!seen)
		return 3;
	exit(tries != 1);
}
