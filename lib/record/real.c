/* Real numbers to text and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/literal.h"

static double double_of(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

static float float_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static bool spells_zero(struct tr_text decimal)
{
	for (size_t i = 0; i < decimal.len && decimal.data[i] != 'e' && decimal.data[i] != 'E'; i++)
		if (decimal.data[i] >= '1' && decimal.data[i] <= '9')
			return false;
	return true;
}

bool tr_real64_read(struct tr_text decimal, uint64_t *bits)
{
	char *copy = strndup(decimal.data, decimal.len);
	double d = copy ? strtod(copy, NULL) : INFINITY;
	free(copy);
	memcpy(bits, &d, sizeof d);
	return isfinite(d) && (d != 0 || spells_zero(decimal));
}

bool tr_real32_read(struct tr_text decimal, uint32_t *bits)
{
	char *copy = strndup(decimal.data, decimal.len);
	float f = copy ? strtof(copy, NULL) : INFINITY;
	free(copy);
	memcpy(bits, &f, sizeof f);
	return isfinite(f) && (f != 0 || spells_zero(decimal));
}

/* "d.ddde-dd" of printf to the spelling. */
static size_t layout(const char *printed, char *to)
{
	char digits[20];
	size_t n = 0, len = 0;
	int exponent = atoi(strchr(printed, 'e') + 1);
	for (const char *p = printed; *p != 'e'; p++) {
		if (*p == '-')
			to[len++] = '-';
		else if (*p != '.')
			digits[n++] = *p;
	}
	while (n > 1 && digits[n - 1] == '0')
		n--;
	if (exponent < -5 || exponent >= 16) {
		to[len++] = digits[0];
		if (n > 1)
			to[len++] = '.';
		memcpy(to + len, digits + 1, n - 1);
		len += n - 1;
		return len + (size_t)snprintf(to + len, 6, "e%d", exponent);
	}
	if (exponent < 0) {
		memcpy(to + len, "0.0000", (size_t)(1 - exponent));
		len += (size_t)(1 - exponent);
		memcpy(to + len, digits, n);
		return len + n;
	}
	for (size_t i = 0; i <= (size_t)exponent || i < n; i++) {
		to[len++] = i < n ? digits[i] : '0';
		if (i == (size_t)exponent)
			to[len++] = '.';
	}
	if (n <= (size_t)exponent + 1)
		to[len++] = '0';
	return len;
}

size_t tr_real64_write(uint64_t bits, char *to)
{
	double d = double_of(bits);
	if (d != d) {
		if (bits == UINT64_C(0x7ff8000000000000))
			return (size_t)snprintf(to, TR_REAL_MAX, "nan");
		return (size_t)snprintf(to, TR_REAL_MAX, "nan:%016llx", (unsigned long long)bits);
	}
	if (!isfinite(d))
		return (size_t)snprintf(to, TR_REAL_MAX, d < 0 ? "-inf" : "inf");
	char printed[40];
	for (int digits = 0; digits < 17; digits++) {
		snprintf(printed, sizeof printed, "%.*e", digits, d);
		if (strtod(printed, NULL) == d)
			break;
	}
	return layout(printed, to);
}

size_t tr_real32_write(uint32_t bits, char *to)
{
	float f = float_of(bits);
	if (f != f) {
		if (bits == 0x7fc00000)
			return (size_t)snprintf(to, TR_REAL_MAX, "nanf");
		return (size_t)snprintf(to, TR_REAL_MAX, "nanf:%08x", bits);
	}
	if (!isfinite(f))
		return (size_t)snprintf(to, TR_REAL_MAX, f < 0 ? "-inff" : "inff");
	char printed[40];
	for (int digits = 0; digits < 9; digits++) {
		snprintf(printed, sizeof printed, "%.*e", digits, f);
		if (strtof(printed, NULL) == f)
			break;
	}
	size_t len = layout(printed, to);
	to[len] = 'f';
	return len + 1;
}
