/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions with PCRE2, within limits of time and memory.
 *
 * Some patterns take exponential time, like (a+)+$, and a lookahead like (?=.*x) scans the rest of
 * the string from every position. PCRE2's match limit does not prevent that: it counts backtracking
 * only, and starts again at every position at which a match may begin; and compiled code has no
 * depth limit. So compiled code gets only as many steps as are harmless even if each of them scans
 * the whole string. If these do not suffice, or the string is long, the interpreter matches the
 * pattern again, within limits on heap and depth, and with a callout before every item that checks
 * the time.
 */
#include "expr/program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "expr/expr.h"

enum {
	SHORT_BYTES = 256,
	SHORT_LIMIT = 16000, /* steps */
	JIT_MOST_BYTES = 16 << 10,
	JIT_STACK_FIRST = 32 << 10,
	JIT_STACK_MOST = 1 << 20,
	SLOW_MATCH_LIMIT = 100000000,
	SLOW_DEPTH_LIMIT = 1000000,
	SLOW_HEAP_KIB = 64 << 10,
	BYTES_PER_LOOK = 1 << 20, /* that may be scanned before the time is checked again */
};

/*
 * Limits in nanoseconds of processor time. Time is lost if the interpreter needs more than is
 * harmless for the length of the string, with a result or without.
 */
static const int64_t slow_ns = 1000000000;     /* for one string */
static const int64_t slow_ns_later = 10000000; /* for one string, after much time was lost */
static const int64_t slow_ns_much = 10000000000;
static const int64_t slow_ns_total = 20000000000; /* after this loss nothing is matched any more */
static const int64_t slow_ns_per_byte = 1000;	  /* harmless */

/*
 * The steps of compiled code, times the positions at which it starts, times the bytes that each
 * step may scan. For a string of SHORT_BYTES this allows SHORT_LIMIT steps.
 */
static const size_t jit_byte_steps = (size_t)SHORT_BYTES * SHORT_BYTES * SHORT_LIMIT;

struct tr_regex {
	pcre2_code *fast; /* compiled by JIT where that is possible */
	pcre2_code *slow; /* with callouts */
};

struct tr_regex_scratch {
	pcre2_match_data *data;
	pcre2_match_context *fast, *slow;
	pcre2_jit_stack *stack;
	size_t subject_len;
	size_t bytes;		/* that may have been scanned since the time was checked */
	int64_t begin, allowed; /* nanoseconds */
	int64_t lost;		/* on all strings */
};

/* The processor time of this thread: a loaded machine must not make patterns fail. */
static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Stops a match that takes too long. Between two callouts the whole subject may be scanned. */
static int look_at_clock(pcre2_callout_block *block, void *context)
{
	struct tr_regex_scratch *scratch = context;

	(void)block;
	scratch->bytes += scratch->subject_len + 64;
	if (scratch->bytes < BYTES_PER_LOOK)
		return 0;
	scratch->bytes = 0;
	return clock_ns() - scratch->begin > scratch->allowed ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/*
 * Compiles a pattern. PCRE2_NEVER_UTF: a pattern cannot switch to characters, because the bytes of
 * a trace may not be UTF-8. NULL: see tr_regex_compile.
 */
static pcre2_code *compile(struct tr_text pattern, uint32_t options, char *why, size_t why_size)
{
	int error;
	PCRE2_SIZE at;
	PCRE2_UCHAR text[160];
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.len,
					 PCRE2_NEVER_UTF | options, &error, &at, NULL);

	*why = '\0';
	if (code || error == PCRE2_ERROR_HEAP_FAILED || error == PCRE2_ERROR_NOMEMORY)
		return code;
	pcre2_get_error_message(error, text, sizeof text);
	snprintf(why, why_size, "%s at byte %zu of the pattern", (char *)text, (size_t)at + 1);
	return NULL;
}

struct tr_regex *tr_regex_compile(struct tr_text pattern, char *why, size_t why_size)
{
	struct tr_regex *regex = calloc(1, sizeof *regex);

	*why = '\0';
	if (!regex)
		return NULL;
	regex->fast = compile(pattern, 0, why, why_size);
	if (regex->fast)
		regex->slow = compile(pattern, PCRE2_AUTO_CALLOUT, why, why_size);
	if (!regex->slow) {
		tr_regex_free(regex);
		return NULL;
	}
	/* if the system refuses executable memory, the pattern is interpreted */
	pcre2_jit_compile(regex->fast, PCRE2_JIT_COMPLETE);
	return regex;
}

void tr_regex_free(struct tr_regex *regex)
{
	if (!regex)
		return;
	pcre2_code_free(regex->fast);
	pcre2_code_free(regex->slow);
	free(regex);
}

struct tr_regex_scratch *tr_regex_scratch_new(void)
{
	struct tr_regex_scratch *scratch = calloc(1, sizeof *scratch);
	if (!scratch)
		return NULL;
	/* one pair is enough, because only the result is used */
	scratch->data = pcre2_match_data_create(1, NULL);
	scratch->fast = pcre2_match_context_create(NULL);
	scratch->slow = pcre2_match_context_create(NULL);
	scratch->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_MOST, NULL);
	if (!scratch->data || !scratch->fast || !scratch->slow) {
		tr_regex_scratch_free(scratch);
		return NULL;
	}
	/* if there is no stack (the library has no JIT), the default is used */
	pcre2_jit_stack_assign(scratch->fast, NULL, scratch->stack);
	pcre2_match_context *both[] = { scratch->fast, scratch->slow };
	for (size_t i = 0; i < 2; i++) {
		pcre2_set_match_limit(both[i], i ? SLOW_MATCH_LIMIT : SHORT_LIMIT);
		pcre2_set_depth_limit(both[i], SLOW_DEPTH_LIMIT);
		pcre2_set_heap_limit(both[i], SLOW_HEAP_KIB);
	}
	pcre2_set_callout(scratch->slow, look_at_clock, scratch);
	return scratch;
}

void tr_regex_scratch_free(struct tr_regex_scratch *scratch)
{
	if (!scratch)
		return;
	pcre2_match_data_free(scratch->data);
	pcre2_match_context_free(scratch->fast);
	pcre2_match_context_free(scratch->slow);
	pcre2_jit_stack_free(scratch->stack);
	free(scratch);
}

/* Matches with the interpreter, within limits of time. */
static int match_slowly(const struct tr_regex *regex, struct tr_text subject,
			struct tr_regex_scratch *scratch)
{
	scratch->subject_len = subject.len;
	scratch->bytes = 0;
	int64_t harmless = (int64_t)subject.len * slow_ns_per_byte;
	scratch->begin = clock_ns();
	scratch->allowed = slow_ns;
	if (scratch->lost >= slow_ns_much && slow_ns_later + harmless < slow_ns)
		scratch->allowed = slow_ns_later + harmless;
	int result = pcre2_match(regex->slow, (PCRE2_SPTR)subject.data, subject.len, 0,
				 PCRE2_NO_JIT, scratch->data, scratch->slow);
	int64_t spent = clock_ns() - scratch->begin;
	if (spent > harmless)
		scratch->lost += spent - harmless;
	return result;
}

bool tr_regex_is_exhausted(const struct tr_regex_scratch *scratch)
{
	return scratch->lost >= slow_ns_total;
}

enum tr_regex_result tr_regex_match(const struct tr_regex *regex, struct tr_text subject,
				    struct tr_regex_scratch *scratch)
{
	int result = PCRE2_ERROR_MATCHLIMIT;

	if (tr_regex_is_exhausted(scratch))
		return TR_REGEX_LIMIT;
	if (!subject.data)
		subject = TR_TEXT("");
	if (subject.len > SHORT_BYTES)
		pcre2_set_match_limit(scratch->fast,
				      (uint32_t)(jit_byte_steps / subject.len / subject.len));
	if (subject.len <= JIT_MOST_BYTES)
		result = pcre2_match(regex->fast, (PCRE2_SPTR)subject.data, subject.len, 0, 0,
				     scratch->data, scratch->fast);
	if (subject.len > SHORT_BYTES)
		pcre2_set_match_limit(scratch->fast, SHORT_LIMIT);
	if (result < 0 && result != PCRE2_ERROR_NOMATCH && result != PCRE2_ERROR_NOMEMORY)
		result = match_slowly(regex, subject, scratch);
	if (result >= 0)
		return TR_REGEX_YES;
	if (result == PCRE2_ERROR_NOMATCH)
		return TR_REGEX_NO;
	return result == PCRE2_ERROR_NOMEMORY ? TR_REGEX_FAILED : TR_REGEX_LIMIT;
}

#define STRING_OF(x) #x
#define DOTTED(major, minor) STRING_OF(major) "." STRING_OF(minor)

const char *tr_expr_regex_version(void)
{
	return "PCRE2 " DOTTED(PCRE2_MAJOR, PCRE2_MINOR);
}

struct tr_text tr_regex_found(const struct tr_regex_scratch *scratch, struct tr_text subject)
{
	const PCRE2_SIZE *found = pcre2_get_ovector_pointer(scratch->data);

	return tr_text_span(subject.data + found[0], subject.data + found[1]);
}
