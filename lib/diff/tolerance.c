/* SPDX-License-Identifier: MIT */
/*
 * Decides which fields are equal although their texts differ, and the reverse: by paired names, by
 * the tolerance for real numbers, and by durations. Records were aligned before, by their hashes;
 * this only changes which matching records are reported as changed.
 */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "process/instant.h"
#include "record/literal.h"

/* A smaller difference between durations is random. */
static const int64_t least_difference = TR_INSTANT_SECOND / 100;

/* A decimal number: a real one has a point or an exponent, and a narrow one (32 bits) an "f". */
struct number {
	struct tr_text digits;
	bool real, narrow;
};

/*
 * True if a number can start at p, so that it does not continue a word, base64 or hexadecimal
 * digits.
 */
static bool can_precede(const char *begin, const char *p)
{
	/* the key of a map ends with a quote and a colon */
	return p == begin || strchr("[{(,= ", p[-1]) ||
	       (p[-1] == ':' && p - begin >= 2 && p[-2] == '"');
}

/* Reads the number that starts at *p, and skips it. False: there is none. */
static bool take_number(const char **p, const char *end, struct number *number)
{
	const char *at = *p;

	*number = (struct number){ .real = false };
	at += at < end && *at == '-';
	if (at == end || *at < '0' || *at > '9')
		return false;
	for (; at < end && ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' ||
			    ((*at == '-' || *at == '+') && at[-1] == 'e'));
	     at++)
		number->real |= *at == '.' || *at == 'e';
	number->digits = tr_text_span(*p, at);
	number->narrow = number->real && at < end && *at == 'f';
	*p = at += number->narrow;
	return at == end || strchr("]}), ", *at);
}

/* Reads a number, and its place in the order of all numbers of its width. narrow: 32 bits. */
static bool read_number(struct tr_text digits, bool narrow, double *value, int64_t *ordinal)
{
	uint64_t bits;
	uint32_t low;
	float number;

	if (!tr_real64_read(digits, &bits))
		return false;
	memcpy(value, &bits, sizeof *value);
	*ordinal = bits >> 63 ? -(int64_t)(bits & INT64_MAX) : (int64_t)bits;
	if (!narrow)
		return true;
	if (!tr_real32_read(digits, &low))
		return false;
	memcpy(&number, &low, sizeof number);
	*value = (double)number;
	*ordinal = low >> 31 ? -(int64_t)(low & INT32_MAX) : (int64_t)low;
	return true;
}

/* True if two numbers are equal within the tolerance; if one is narrow, both are compared so. */
static bool are_near(const struct tr_diff *diff, const struct number *a, const struct number *b)
{
	bool narrow = a->narrow || b->narrow;
	int64_t left, right;
	double x, y;

	if (!read_number(a->digits, narrow, &x, &left) ||
	    !read_number(b->digits, narrow, &y, &right))
		return false;
	uint64_t steps =
		left < right ? (uint64_t)right - (uint64_t)left : (uint64_t)left - (uint64_t)right;
	return fabs(x - y) <= diff->tolerance || steps <= diff->ulps;
}

/* True if two texts differ only in real numbers that are equal within the tolerance. */
static bool are_near_texts(const struct tr_diff *diff, struct tr_text a, struct tr_text b)
{
	const char *p = a.data, *p_end = p + a.len, *q = b.data, *q_end = q + b.len;

	while (p < p_end && q < q_end) {
		const char *p_after = p, *q_after = q;
		struct number left, right;
		if (*p == '"' && *q == '"') {
			p_after = tr_normal_string_end(p, p_end);
			q_after = tr_normal_string_end(q, q_end);
			if (!tr_text_equal(tr_text_span(p, p_after), tr_text_span(q, q_after)))
				return false;
		} else if (can_precede(a.data, p) && can_precede(b.data, q) &&
			   take_number(&p_after, p_end, &left) &&
			   take_number(&q_after, q_end, &right) && (left.real || right.real)) {
			if (!are_near(diff, &left, &right))
				return false;
		} else if (*p == *q) {
			p_after = p + 1;
			q_after = q + 1;
		} else {
			return false;
		}
		p = p_after;
		q = q_after;
	}
	return p == p_end && q == q_end;
}

/*
 * True if one duration is longer than the other by the factor of --times and by least_difference.
 */
static bool are_far(const struct tr_diff *diff, int64_t a, int64_t b)
{
	int64_t shorter = a < b ? a : b, longer = a < b ? b : a;

	return longer - shorter >= least_difference &&
	       (double)longer > diff->times * (double)shorter;
}

bool tr_diff_equal_fields(const struct tr_diff *diff, const struct tr_normal_field *a,
			  const struct tr_normal_field *b)
{
	const struct tr_normal *left = &diff->sides[0].normal, *right = &diff->sides[1].normal;
	size_t count = tr_normal_names_end(left, a) - a->names;

	if (a->is_duration || b->is_duration)
		return a->is_duration == b->is_duration &&
		       !are_far(diff, left->duration, right->duration);
	if (!tr_normal_equal(diff->rules.seed, a, b))
		return (diff->tolerance > 0 || diff->ulps) &&
		       are_near_texts(diff, a->text, b->text);
	for (size_t i = 0; i < count; i++) {
		if (!tr_renames_agree(&diff->renames, left->names[a->names + i].hash,
				      right->names[b->names + i].hash))
			return false;
	}
	return true;
}

bool tr_diff_pairs_names(const struct tr_diff *diff, const struct tr_normal_field *a,
			 const struct tr_normal_field *b)
{
	const struct tr_normal *left = &diff->sides[0].normal, *right = &diff->sides[1].normal;
	size_t count = tr_normal_names_end(left, a) - a->names;

	if (!tr_diff_equal_fields(diff, a, b))
		return false;
	if (!tr_text_equal(a->text, b->text) || !diff->renames.conflict)
		return true;
	for (size_t i = 0; i < count; i++) {
		uint64_t name;
		if (!tr_renames_find(&diff->renames, left->names[a->names + i].hash, &name) ||
		    name != right->names[b->names + i].hash)
			return false;
	}
	return true;
}

/*
 * True if the records that were read last on both sides have equal fields in the same order. Sets
 * *near to whether some of them are equal only within the tolerance.
 */
static bool are_equal(const struct tr_diff *diff, bool *near)
{
	const struct tr_normal *a = &diff->sides[0].normal, *b = &diff->sides[1].normal;
	const struct tr_normal_field *last = NULL;

	*near = false;
	for (size_t i = 0; i < a->count; i++) {
		const struct tr_normal_field *other = tr_normal_match(a, i, b);
		if (other) {
			if ((last && other < last) || other->result != a->fields[i].result)
				return false;
			last = other;
			*near |= !other->is_duration &&
				 !tr_normal_equal(diff->rules.seed, &a->fields[i], other);
		}
		/* a duration that only one record has is unknown for the other */
		if (other ? !tr_diff_equal_fields(diff, &a->fields[i], other)
			  : !a->fields[i].is_duration)
			return false;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (!b->fields[i].is_duration && !tr_normal_match(b, i, a))
			return false;
	}
	return true;
}

bool tr_diff_apply_tolerances(struct tr_diff *diff, struct tr_error *err)
{
	struct tr_diff_record *a = diff->sides[0].records, *b = diff->sides[1].records;
	bool tolerant = diff->tolerance > 0 || diff->ulps;

	if (!tolerant && diff->times <= 0 && !diff->add_fields)
		return true;
	for (size_t k = 0; k < diff->sides[0].count; k++) {
		uint32_t match = a[k].match;
		if (match == TR_ALIGN_NONE)
			continue;
		bool equal = a[k].content == b[match].content;
		bool more = diff->times > 0 || (diff->add_fields && a[k].class == TR_DIFF_EXEC);
		if (equal ? !more : !tolerant)
			continue;
		if (!tr_diff_read(diff, 0, (uint32_t)k, err).data ||
		    !tr_diff_read(diff, 1, match, err).data)
			return false;
		/*
		 * Matching records are reported if their contents differ. Records without near
		 * numbers differ in what no tolerance covers: in the order of fields, or in names.
		 */
		bool near, equal_now = are_equal(diff, &near);
		if (equal_now && near)
			b[match].content = a[k].content;
		else if (equal && !equal_now)
			b[match].content = ~a[k].content;
	}
	return true;
}
