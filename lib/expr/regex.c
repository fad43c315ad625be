#include "expr/regex.h"

#include <stdio.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "expr/expr.h"

/*
 * A pattern like (a+)+$ takes exponential time. These let every sane match
 * through and stop the others after a fraction of a second.
 */
enum {
	MATCH_LIMIT = 1000000,
	DEPTH_LIMIT = 100000,
	HEAP_LIMIT_KIB = 64 << 10,
	JIT_STACK_FIRST = 32 << 10,
	JIT_STACK_MOST = 1 << 20,
};

struct tr_regex_scratch {
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

static pcre2_code *code_of(const struct tr_regex *regex)
{
	return (pcre2_code *)regex;
}

struct tr_regex *tr_regex_compile(struct tr_text pattern, char *why, size_t why_size)
{
	int error;
	PCRE2_SIZE at;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.len, PCRE2_NEVER_UTF,
					 &error, &at, NULL);
	*why = '\0';
	if (!code) {
		PCRE2_UCHAR text[160];
		if (error == PCRE2_ERROR_HEAP_FAILED || error == PCRE2_ERROR_NOMEMORY)
			return NULL;
		pcre2_get_error_message(error, text, sizeof text);
		snprintf(why, why_size, "%s at byte %zu of the pattern", (char *)text,
			 (size_t)at + 1);
		return NULL;
	}
	/* may be refused (memory that is never both writable and executable): then interpreted */
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	return (struct tr_regex *)code;
}

void tr_regex_free(struct tr_regex *regex)
{
	pcre2_code_free(code_of(regex));
}

struct tr_regex_scratch *tr_regex_scratch_new(void)
{
	struct tr_regex_scratch *scratch = calloc(1, sizeof *scratch);
	if (!scratch)
		return NULL;
	/* one pair: only whether it matches is asked for */
	scratch->data = pcre2_match_data_create(1, NULL);
	scratch->context = pcre2_match_context_create(NULL);
	scratch->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_MOST, NULL);
	if (!scratch->data || !scratch->context) {
		tr_regex_scratch_free(scratch);
		return NULL;
	}
	pcre2_set_match_limit(scratch->context, MATCH_LIMIT);
	pcre2_set_depth_limit(scratch->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(scratch->context, HEAP_LIMIT_KIB);
	/* without a stack of its own (no JIT in this library) the default serves */
	pcre2_jit_stack_assign(scratch->context, NULL, scratch->stack);
	return scratch;
}

void tr_regex_scratch_free(struct tr_regex_scratch *scratch)
{
	if (!scratch)
		return;
	pcre2_match_data_free(scratch->data);
	pcre2_match_context_free(scratch->context);
	pcre2_jit_stack_free(scratch->stack);
	free(scratch);
}

enum tr_regex_result tr_regex_match(const struct tr_regex *regex, struct tr_text subject,
				    struct tr_regex_scratch *scratch)
{
	const char *bytes = subject.data ? subject.data : "";
	int result = pcre2_match(code_of(regex), (PCRE2_SPTR)bytes, subject.len, 0, 0,
				 scratch->data, scratch->context);
	if (result >= 0)
		return TR_REGEX_YES;
	if (result == PCRE2_ERROR_NOMATCH)
		return TR_REGEX_NO;
	return result == PCRE2_ERROR_NOMEMORY ? TR_REGEX_FAILED : TR_REGEX_LIMIT;
}

#define STRING_OF(x) #x
#define VERSION(major, minor) STRING_OF(major) "." STRING_OF(minor)

const char *tr_expr_regex_version(void)
{
	return "PCRE2 " VERSION(PCRE2_MAJOR, PCRE2_MINOR);
}
