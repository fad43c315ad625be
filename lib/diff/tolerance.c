/* SPDX-License-Identifier: MIT */
/*
 * What counts as equal beyond equal texts: names that are partners, real numbers that are near each
 * other, durations. Records are aligned before, by their hashes; this changes only which partners
 * are reported as changed.
 */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "process/instant.h"
#include "record/literal.h"

/* A shorter difference of durations is that of chance. */
static const int64_t least_difference = TR_INSTANT_SECOND / 100;

/*
 * Takes the real number that begins at *p, with its sign, and skips it: it has a point or an
 * exponent. *ordinal: numbers of its width in their order.
 */
static bool take_real(const char **p, const char *end, double *value, int64_t *ordinal)
{
	const char *begin = *p, *at = begin;
	bool real = false;
	uint64_t bits;

	at += at < end && *at == '-';
	if (at == end || *at < '0' || *at > '9' || (end - at > 1 && at[1] == 'x'))
		return false;
	for (; at < end && ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' ||
			    (*at == '-' && at[-1] == 'e'));
	     at++)
		real |= *at == '.' || *at == 'e';
	struct tr_text text = tr_text_span(begin, at);
	if (!real)
		return false;
	if (at < end && *at == 'f') {
		uint32_t narrow;
		float number;
		if (!tr_real32_read(text, &narrow))
			return false;
		memcpy(&number, &narrow, sizeof number);
		*value = (double)number;
		*ordinal = narrow >> 31 ? -(int64_t)(narrow & INT32_MAX) : (int64_t)narrow;
		at++;
	} else {
		if (!tr_real64_read(text, &bits))
			return false;
		memcpy(value, &bits, sizeof *value);
		*ordinal = bits >> 63 ? -(int64_t)(bits & INT64_MAX) : (int64_t)bits;
	}
	*p = at;
	return true;
}

static bool are_near(const struct tr_diff *diff, double a, int64_t a_ordinal, double b,
		     int64_t b_ordinal)
{
	uint64_t steps = a_ordinal < b_ordinal ? (uint64_t)b_ordinal - (uint64_t)a_ordinal
					       : (uint64_t)a_ordinal - (uint64_t)b_ordinal;

	return fabs(a - b) <= diff->tolerance || steps <= diff->ulps;
}

/* True if two texts differ only in real numbers that are near each other. */
static bool are_near_texts(const struct tr_diff *diff, struct tr_text a, struct tr_text b)
{
	const char *p = a.data, *p_end = p + a.len, *q = b.data, *q_end = q + b.len;

	while (p < p_end && q < q_end) {
		double left, right;
		int64_t left_ordinal, right_ordinal;
		const char *p_after = p, *q_after = q;
		/* a number that continues a word is a part of it */
		bool word = p > a.data &&
			    (p[-1] == '_' || (tr_lower(p[-1]) >= 'a' && tr_lower(p[-1]) <= 'z'));
		if (*p == '"' && *q == '"') {
			p_after = tr_normal_string_end(p, p_end);
			q_after = tr_normal_string_end(q, q_end);
			if (!tr_text_equal(tr_text_span(p, p_after), tr_text_span(q, q_after)))
				return false;
		} else if (!word && take_real(&p_after, p_end, &left, &left_ordinal) &&
			   take_real(&q_after, q_end, &right, &right_ordinal)) {
			if (!are_near(diff, left, left_ordinal, right, right_ordinal))
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

/* True if one duration is longer than the other by the factor of --times, and not by chance. */
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
	if (!tr_text_equal(a->text, b->text))
		return (diff->tolerance > 0 || diff->ulps) &&
		       are_near_texts(diff, a->text, b->text);
	for (size_t i = 0; i < count; i++) {
		if (!tr_renames_agree(&diff->renames, left->names[a->names + i].hash,
				      right->names[b->names + i].hash))
			return false;
	}
	return true;
}

/* True if both records, which were read last, have equal fields. */
static bool are_equal(const struct tr_diff *diff)
{
	const struct tr_normal *a = &diff->sides[0].normal, *b = &diff->sides[1].normal;

	for (size_t i = 0; i < a->count; i++) {
		const struct tr_normal_field *other = tr_normal_partner(a, i, b);
		/* a duration that only one record has is unknown in the other */
		if (other ? !tr_diff_equal_fields(diff, &a->fields[i], other)
			  : !a->fields[i].is_duration)
			return false;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (!b->fields[i].is_duration && !tr_normal_partner(b, i, a))
			return false;
	}
	return true;
}

bool tr_diff_settle(struct tr_diff *diff, struct tr_error *err)
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
		/* partners are reported if their contents differ */
		if (are_equal(diff))
			b[match].content = a[k].content;
		else if (equal)
			b[match].content = ~a[k].content;
	}
	return true;
}
