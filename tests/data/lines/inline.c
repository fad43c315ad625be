/* SPDX-License-Identifier: MIT */
/* Inline functions, used and unused, nested functions and recursion. */
#include <stdio.h>

static inline int square(int x)
{
	return x * x;
}

static inline __attribute__((always_inline)) int cube(int x)
{
	return x * x * x;
}

static inline int unused(int x)
{
	return x + 1;
}

static int factorial(int n)
{
	if (n < 2)
		return 1;
	return n * factorial(n - 1);
}

__attribute__((noreturn)) static void stop(int status)
{
	printf("%d\n", status);
	__builtin_exit(status);
}

int main(int argc, char **argv)
{
	int (*call)(int) = argc > 3 ? unused : square;
	int x = call(3) + cube(2) + factorial(5);

	(void)argv;
	if (x < 0) {
		x = unused(x);
		return x;
	}
	stop(x == 0);
}
