/* SPDX-License-Identifier: MIT */
/* A calculator: recursive descent, and errors that leave it by longjmp. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
	char name[8];
	double value;
};

struct parser {
	const char *start, *p;
	jmp_buf failed;
	char message[80];
	struct variable variables[8];
	int variable_count;
};

static double expression(struct parser *parser);

__attribute__((noreturn)) static void fail(struct parser *parser, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = snprintf(parser->message, sizeof parser->message,
			 "column %d: ", (int)(parser->p - parser->start) + 1);
	vsnprintf(parser->message + n, sizeof parser->message - (size_t)n, format, args);
	va_end(args);
	longjmp(parser->failed, 1);
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->p))
		parser->p++;
}

static int take(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (*parser->p != c)
		return 0;
	parser->p++;
	return 1;
}

static void expect(struct parser *parser, char c)
{
	if (!take(parser, c))
		fail(parser, "'%c' expected", c);
}

static struct variable *find(struct parser *parser, const char *name, size_t len)
{
	for (int i = 0; i < parser->variable_count; i++) {
		struct variable *v = &parser->variables[i];
		if (strlen(v->name) == len && memcmp(v->name, name, len) == 0)
			return v;
	}
	return NULL;
}

static double call(struct parser *parser, const char *name, size_t len)
{
	double x = expression(parser);

	if (len == 4 && memcmp(name, "sqrt", 4) == 0) {
		if (x < 0)
			fail(parser, "root of a negative number");
		double root = x > 1 ? x : 1;
		for (int i = 0; i < 60; i++)
			root = (root + x / root) / 2;
		x = root;
	} else if (len == 3 && memcmp(name, "abs", 3) == 0) {
		x = x < 0 ? -x : x;
	} else {
		fail(parser, "unknown function %.*s", (int)len, name);
	}
	expect(parser, ')');
	return x;
}

static double primary(struct parser *parser)
{
	skip_blanks(parser);
	const char *begin = parser->p;
	char *end;

	if (take(parser, '(')) {
		double value = expression(parser);
		expect(parser, ')');
		return value;
	}
	if (take(parser, '-'))
		return -primary(parser);
	if (isalpha((unsigned char)*begin)) {
		while (isalnum((unsigned char)*parser->p))
			parser->p++;
		size_t len = (size_t)(parser->p - begin);
		if (take(parser, '('))
			return call(parser, begin, len);
		struct variable *v = find(parser, begin, len);
		if (!v)
			fail(parser, "unknown variable %.*s", (int)len, begin);
		return v->value;
	}
	double value = strtod(begin, &end);
	if (end == begin)
		fail(parser, *begin ? "number expected" : "unexpected end");
	parser->p = end;
	return value;
}

static double product(struct parser *parser)
{
	double left = primary(parser);

	for (;;) {
		skip_blanks(parser);
		switch (*parser->p) {
		case '*':
			parser->p++;
			left *= primary(parser);
			break;
		case '/': {
			parser->p++;
			double right = primary(parser);
			if (right == 0)
				fail(parser, "division by zero");
			left /= right;
			break;
		}
		default:
			return left;
		}
	}
}

static double expression(struct parser *parser)
{
	double left = product(parser);

	for (;;) {
		if (take(parser, '+'))
			left += product(parser);
		else if (take(parser, '-'))
			left -= product(parser);
		else
			return left;
	}
}

/* NAME = EXPRESSION, or an expression. */
static void statement(struct parser *parser)
{
	const char *equals = strchr(parser->p, '=');
	const char *name = parser->p;

	if (!equals) {
		printf("%g\n", expression(parser));
	} else {
		size_t len = strcspn(name, " =");
		parser->p = equals + 1;
		double value = expression(parser);
		struct variable *v = find(parser, name, len);
		if (!v) {
			if (parser->variable_count == 8 || len >= sizeof v->name)
				fail(parser, "no room for %.*s", (int)len, name);
			v = &parser->variables[parser->variable_count++];
			memcpy(v->name, name, len);
			v->name[len] = 0;
		}
		v->value = value;
	}
	skip_blanks(parser);
	if (*parser->p)
		fail(parser, "unexpected '%c'", *parser->p);
}

static void at_end(void)
{
	puts("end");
}

int main(void)
{
	static const char *const lines[] = { "1 + 2 * 3",
					     "x = (4 - 1) / 2",
					     "x * x - abs(-1)",
					     "sqrt(2 + x)",
					     "2 / (3 - 3)",
					     "y + 1",
					     "2 + + 3",
					     "cube(3)",
					     "(1 + 2",
					     "x = x * 10",
					     "x 3",
					     "" };
	static struct parser parser;
	volatile int errors = 0;

	atexit(at_end);
	for (volatile size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		parser.start = parser.p = lines[i];
		if (setjmp(parser.failed) == 0) {
			statement(&parser);
		} else {
			printf("%s: %s\n", lines[i], parser.message);
			errors++;
		}
	}
	exit(errors != 7);
}
