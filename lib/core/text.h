/* SPDX-License-Identifier: MIT */
/*
 * A borrowed run of bytes. Never NUL-terminated by contract, never owned:
 * whoever hands one out says how long it lives. data is NULL where "absent"
 * has to differ from "empty".
 */
#ifndef TR_CORE_TEXT_H
#define TR_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct tr_text {
	const char *data;
	size_t len;
};

#define TR_TEXT(literal) ((struct tr_text){ "" literal, sizeof(literal) - 1 })

static inline struct tr_text tr_text_from(const char *string)
{
	return (struct tr_text){ string, string ? strlen(string) : 0 };
}

static inline struct tr_text tr_text_span(const char *begin, const char *end)
{
	return (struct tr_text){ begin, (size_t)(end - begin) };
}

static inline bool tr_text_equal(struct tr_text a, struct tr_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* True when t spells exactly the NUL-terminated word. */
static inline bool tr_text_is(struct tr_text t, const char *word)
{
	return tr_text_equal(t, tr_text_from(word));
}

static inline bool tr_text_starts(struct tr_text t, struct tr_text prefix)
{
	return t.len >= prefix.len && memcmp(t.data, prefix.data, prefix.len) == 0;
}

static inline bool tr_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without blanks and line ends before and behind. */
static inline struct tr_text tr_text_trimmed(struct tr_text t)
{
	while (t.len && tr_is_blank(*t.data)) {
		t.data++;
		t.len--;
	}
	while (t.len && tr_is_blank(t.data[t.len - 1]))
		t.len--;
	return t;
}

#endif
