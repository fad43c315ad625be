/* SPDX-License-Identifier: MIT */
/* The library of demo.c, whose calls demo.conf describes. */
#include <string.h>

struct point {
	int x, y;
};

int measure(struct point *from, int *list, int count, double scale, const char *unit, unsigned set)
{
	return from->x + list[0] + count + (int)scale + unit[0] + (int)set;
}

int name_it(char *name, int size)
{
	memset(name, 'n', (size_t)size);
	return size;
}

int visit(int (*call)(char *, int), char *name)
{
	return call(name, 4);
}
