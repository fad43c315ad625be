/* SPDX-License-Identifier: MIT */
/* Macros that contain branches and loops, in one line and in many. */
#include <stdio.h>
#include <stdlib.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "failed: %s\n", #x); \
			exit(1); \
		} \
	} while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define GETTER(name) \
	static int name(void) \
	{ \
		return name##_value; \
	}

static int width_value = 4, height_value = 5;
GETTER(width)
GETTER(height)

static int clamp(int x, int low, int high)
{
	CHECK(low <= high);
	if (x < low)
		return low;
	return x > high ? high : x;
}

int main(int argc, char **argv)
{
	int best = 0;

	(void)argv;
	EACH(i, 5)
	{
		best = MAX(best, i * (5 - i));
	}
	CHECK(best == 6);
	best += clamp(best, 0, 3) + clamp(-1, 0, 3);
	if (argc > 1 && argv[1][0] == 'x' || argc > 7)
		best = MAX(argc, 7);
	if (best > 100)
		best = height();
	return best != 5 + width();
}
