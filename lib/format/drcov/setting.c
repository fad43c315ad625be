#include "core/hex.h"
#include "format/drcov/drcov.h"

/* PATH@BASE, of which the last @ counts. */
bool tr_drcov_setting(struct tr_text value, struct tr_text *path, uint64_t *base)
{
	size_t at = value.len;
	while (at && value.data[at - 1] != '@')
		at--;
	if (at < 2 || value.len - at < 3 || value.data[at] != '0' || value.data[at + 1] != 'x' ||
	    value.len - at > 18)
		return false;
	*base = 0;
	for (size_t i = at + 2; i < value.len; i++) {
		int digit = tr_hex_digit(value.data[i]);
		if (digit < 0)
			return false;
		*base = *base << 4 | (unsigned)digit;
	}
	*path = (struct tr_text){ value.data, at - 1 };
	return true;
}
