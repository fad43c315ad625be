/* SPDX-License-Identifier: MIT */
/* Test Anything Protocol in a header: ok(condition, name…), then return done_testing(). */
#ifndef TR_TESTS_TAP_H
#define TR_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_run, tap_failed;

__attribute__((format(printf, 3, 4), unused)) static bool tap_ok(bool passed, int line,
								 const char *format, ...)
{
	tap_run++;
	tap_failed += !passed;
	printf("%sok %d - ", passed ? "" : "not ", tap_run);
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (!passed)
		printf(" (line %d)", line);
	putchar('\n');
	return passed;
}

/*
 * The step of loops that change or cut a trace at every byte. Sanitizers make them up to twenty
 * times slower, so there only every nth place is tried; CI runs both builds.
 */
__attribute__((unused)) static size_t every(size_t nth)
{
	return getenv("TREC_SANITIZED") ? nth : 1;
}

#define ok(condition, ...) tap_ok((condition), __LINE__, __VA_ARGS__)
#define diag(...) (printf("# "), printf(__VA_ARGS__), putchar('\n'))

__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#endif
