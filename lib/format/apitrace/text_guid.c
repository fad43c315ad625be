/* Structures called GUID: the name that a GUID is known by, or its digits. */
#include "format/apitrace/text_private.h"

#include <stdlib.h>

struct known {
	uint64_t high, low;
	const char *name;
};

static const struct known known[] = {
#include "format/apitrace/text_guid_names.h"
};

static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return x->low < y->low ? -1 : x->low > y->low;
}

void tr_apitrace_guid_write(const struct tr_apitrace_guid *guid, struct tr_buffer *to)
{
	struct known wanted = {
		(uint64_t)guid->data1 << 32 | (uint32_t)guid->data2 << 16 | guid->data3, 0, NULL
	};

	for (size_t i = 0; i < sizeof guid->data4; i++)
		wanted.low = wanted.low << 8 | guid->data4[i];
	const struct known *found =
		bsearch(&wanted, known, sizeof known / sizeof *known, sizeof *known, compare);
	if (found) {
		tr_buffer_put_text(to, tr_text_from(found->name));
		return;
	}
	tr_buffer_put_literal(to, "uuid(");
	tr_buffer_put_hex(to, wanted.high >> 32, 8);
	for (int i = 1; i >= 0; i--) {
		tr_buffer_put_byte(to, '-');
		tr_buffer_put_hex(to, wanted.high >> (16 * i) & 0xffff, 4);
	}
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, wanted.low >> 48, 4);
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, wanted.low & 0xffffffffffff, 12);
	tr_buffer_put_byte(to, ')');
}
