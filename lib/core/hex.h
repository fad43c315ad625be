/* Hex digits of either case, without a locale. */
#ifndef TR_CORE_HEX_H
#define TR_CORE_HEX_H

/* The value of a hex digit; -1: c is none. */
static inline int tr_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
