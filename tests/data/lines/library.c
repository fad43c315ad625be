/* SPDX-License-Identifier: MIT */
/* With -DLIBRARY a shared library, otherwise the program that uses it. */
#include <stdio.h>

int library_add(int a, int b);
int library_pick(const char *word);

#ifdef LIBRARY
static int calls;

__attribute__((constructor)) static void begin(void)
{
	calls = 1;
}

int library_add(int a, int b)
{
	calls++;
	if (calls > 100)
		return 0;
	return a + b;
}

int library_pick(const char *word)
{
	calls++;
	for (; *word; word++)
		if (*word == 'x')
			return 1;
	return 0;
}
#else
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum = library_add(sum, i);
	if (library_pick("abc"))
		puts("picked");
	else
		printf("%d\n", sum);
	return 0;
}
#endif
