/* SPDX-License-Identifier: MIT */
/* Switches: dense, sparse, with a range, falling through, and a computed goto. */
#include <stdio.h>

static const char *dense(int n)
{
	switch (n) {
	case 0:
		return "zero";
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	case 4:
		return "four";
	case 5:
		return "five";
	default:
		return "many";
	}
}

static int sparse(int n)
{
	int result = 0;

	switch (n) {
	case 10:
		result++;
		/* fall through */
	case 1000:
		result += 2;
		break;
	case 100000:
		result = -1;
		break;
	case 'a' ... 'f':
		result = 5;
		break;
	}
	return result;
}

static int jump(int n)
{
	static const void *const places[] = { &&first, &&second };

	goto *places[n & 1];
first:
	return 1;
second:
	return 2;
}

int main(void)
{
	int n = sparse(10) + sparse('b') + jump(1);

	puts(dense(1));
	puts(dense(4));
	puts(dense(9));
	return n == 0;
}
