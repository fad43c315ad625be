/* SPDX-License-Identifier: MIT */
/* Loops of all kinds, some of which do not run. */
#include <stdio.h>

static int sum(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += i;
	return total;
}

static int halve(int n)
{
	int steps = 0;

	while (n > 1) {
		if (n % 2)
			n = 3 * n + 1;
		else
			n /= 2;
		steps++;
	}
	return steps;
}

static void never(int n)
{
	do {
		printf("%d\n", n);
		n--;
	} while (n > 0);
}

int main(int argc, char **argv)
{
	int total = sum(10);

	(void)argv;
	total += halve(27);
	if (argc > 5)
		never(argc);
	for (int i = argc; i < 0; i++)
		total--;
	for (;;) {
		if (total > 1000)
			break;
		total *= 2;
		continue;
	}
	return total == 0;
}
