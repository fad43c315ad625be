/* SPDX-License-Identifier: MIT */
/* Definitions and values of a recipe, as the bytes of an apitrace stream. */
#ifndef TESTS_HELPER_APITRACE_VALUE_H
#define TESTS_HELPER_APITRACE_VALUE_H

#include <stdint.h>

extern uint64_t apitrace_version;

/* The rest of the line defines an id of this kind: f(unction) e(num) m(ask) s(truct) k. */
void apitrace_declare(char kind);

/* An id, and its definition where this is the first time. One not declared is just an id. */
void apitrace_use(char kind);

void apitrace_value(void);

#endif
