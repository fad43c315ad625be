/* SPDX-License-Identifier: MIT */
/*
 * With -DLIBRARY a shared library, otherwise the program that uses it: numbers of any size, in digits
 * of nine decimal places.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct big {
	size_t count;
	uint32_t *digits; /* the lowest first */
};

struct big *big_from(const char *text);
struct big *big_add(const struct big *a, const struct big *b);
struct big *big_multiply(const struct big *a, const struct big *b);
uint32_t big_divide(struct big *a, uint32_t by);
int big_compare(const struct big *a, const struct big *b);
char *big_text(const struct big *a);
void big_free(struct big *a);
int big_live(void);

#ifdef LIBRARY
enum { DIGIT = 1000000000, PLACES = 9 };

static int live;

__attribute__((constructor)) static void begin(void)
{
	live = 0;
}

static struct big *make(size_t count)
{
	struct big *big = calloc(1, sizeof *big);

	if (!big)
		return NULL;
	big->digits = calloc(count ? count : 1, sizeof *big->digits);
	if (!big->digits) {
		free(big);
		return NULL;
	}
	big->count = count;
	live++;
	return big;
}

static struct big *trim(struct big *a)
{
	while (a->count && !a->digits[a->count - 1])
		a->count--;
	return a;
}

struct big *big_from(const char *text)
{
	size_t len = strlen(text);
	struct big *big = make((len + PLACES - 1) / PLACES);

	if (!big)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c < '0' || c > '9') {
			big_free(big);
			return NULL;
		}
		size_t at = (len - 1 - i) / PLACES;
		big->digits[at] = big->digits[at] * 10 + (uint32_t)(c - '0');
	}
	return trim(big);
}

struct big *big_add(const struct big *a, const struct big *b)
{
	size_t count = a->count > b->count ? a->count : b->count;
	struct big *sum = make(count + 1);
	uint32_t carry = 0;

	if (!sum)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i < a->count)
			carry += a->digits[i];
		if (i < b->count)
			carry += b->digits[i];
		sum->digits[i] = carry % DIGIT;
		carry /= DIGIT;
	}
	sum->digits[count] = carry;
	return trim(sum);
}

struct big *big_multiply(const struct big *a, const struct big *b)
{
	struct big *product = make(a->count + b->count);

	if (!product)
		return NULL;
	for (size_t i = 0; i < a->count; i++) {
		uint64_t carry = 0;
		for (size_t k = 0; k < b->count || carry; k++) {
			carry += product->digits[i + k];
			if (k < b->count)
				carry += (uint64_t)a->digits[i] * b->digits[k];
			product->digits[i + k] = (uint32_t)(carry % DIGIT);
			carry /= DIGIT;
		}
	}
	return trim(product);
}

uint32_t big_divide(struct big *a, uint32_t by)
{
	uint64_t rest = 0;

	for (size_t i = a->count; i-- > 0;) {
		rest = rest * DIGIT + a->digits[i];
		a->digits[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	trim(a);
	return (uint32_t)rest;
}

int big_compare(const struct big *a, const struct big *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (size_t i = a->count; i-- > 0;)
		if (a->digits[i] != b->digits[i])
			return a->digits[i] < b->digits[i] ? -1 : 1;
	return 0;
}

char *big_text(const struct big *a)
{
	char *text = malloc(a->count * PLACES + 2), *p = text;

	if (!text)
		return NULL;
	if (!a->count)
		return strcpy(text, "0");
	p += sprintf(p, "%u", (unsigned)a->digits[a->count - 1]);
	for (size_t i = a->count - 1; i-- > 0;)
		p += sprintf(p, "%09u", (unsigned)a->digits[i]);
	return text;
}

void big_free(struct big *a)
{
	if (!a)
		return;
	free(a->digits);
	free(a);
	live--;
}

int big_live(void)
{
	return live;
}
#else
static void print(const char *name, const struct big *a)
{
	char *text = a ? big_text(a) : NULL;

	printf("%s = %s\n", name, text ? text : "no number");
	free(text);
}

static struct big *factorial(unsigned n)
{
	struct big *result = big_from("1");

	for (unsigned i = 2; result && i <= n; i++) {
		char text[12];
		snprintf(text, sizeof text, "%u", i);
		struct big *factor = big_from(text);
		struct big *next = factor ? big_multiply(result, factor) : NULL;
		big_free(factor);
		big_free(result);
		result = next;
	}
	return result;
}

static struct big *fibonacci(unsigned n)
{
	struct big *a = big_from("0"), *b = big_from("1");

	while (n-- && a && b) {
		struct big *sum = big_add(a, b);
		big_free(a);
		a = b;
		b = sum;
	}
	big_free(b);
	return a;
}

int main(void)
{
	struct big *f = factorial(30), *g = fibonacci(150), *none = big_from("12x4");

	print("30!", f);
	print("fibonacci 150", g);
	print("none", none);
	if (!f || !g)
		return 1;
	printf("compare %d %d\n", big_compare(f, g), big_compare(g, g));
	uint32_t rest = big_divide(f, 1000003);
	print("30! / 1000003", f);
	printf("rest %u\n", (unsigned)rest);
	struct big *zero = big_from("000");
	print("zero", zero);
	if (!zero || zero->count)
		puts("not zero");
	big_free(zero);
	big_free(f);
	big_free(g);
	big_free(none);
	return big_live();
}
#endif
