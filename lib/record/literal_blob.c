/* The bytes of a blob, in base64, or where they are instead: left out, or in a file. */
#include "record/base64.h"
#include "record/literal_scan.h"

static bool is_base64(char c)
{
	/* the URL alphabet's digits too: they are meant, though wrong */
	return tr_is_word_start(c) || tr_is_digit(c) || memchr("+/=-", c, 4) != NULL;
}

bool tr_scan_base64(struct tr_scan *scan, struct tr_value *value)
{
	const char *start = scan->pos, *p = start;
	while (p < scan->end && is_base64(*p))
		p++;
	struct tr_text text = tr_text_span(start, p);
	char *bytes = NULL;
	if (scan->arena) {
		bytes = tr_arena_alloc(scan->arena, tr_base64_size(text.len));
		if (!bytes)
			return tr_scan_fail_memory(scan);
	}
	size_t size;
	const char *reason = tr_base64_read(text, bytes, &size);
	if (reason)
		return tr_scan_fail_reason(scan, start, reason);
	*value = (struct tr_value){ .type = TR_BLOB, .text = { bytes, size } };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos = p;
	return true;
}

bool tr_scan_blob_left(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_BLOB_LEFT };
	scan->traits |= TR_TRAIT_NO_JSON;
	return tr_scan_digits(scan, "length", &value->as.number);
}

bool tr_scan_blob_file(struct tr_scan *scan, struct tr_value *value)
{
	enum { DIGITS = 64 };
	const char *start = scan->pos, *p = start;
	while (p < scan->end && (tr_is_digit(*p) || (*p >= 'a' && *p <= 'f')))
		p++;
	if (p - start != DIGITS)
		return tr_scan_fail(scan, start, "64 lower-case hex digits expected");
	scan->pos = p;
	if (!tr_scan_at(scan, ':'))
		return tr_scan_fail_expected(scan, "':'");
	scan->pos++;
	*value = (struct tr_value){ .type = TR_BLOB_FILE, .text = { start, DIGITS } };
	scan->traits |= TR_TRAIT_NO_JSON;
	return tr_scan_digits(scan, "length", &value->as.number);
}
