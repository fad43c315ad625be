#include "format/srctrace/entry.h"

static const char *const names[TR_SRCTRACE_INFO_KINDS] = {
	[TR_SRCTRACE_PROGRAM_NAME] = "PROGRAM_NAME",
	[TR_SRCTRACE_EXEC_DATE] = "EXEC_DATE",
	[TR_SRCTRACE_USER_DATA] = "USER_DATA",
};

const char *tr_srctrace_info_name(uint32_t kind)
{
	return kind < TR_SRCTRACE_INFO_KINDS ? names[kind] : NULL;
}

bool tr_srctrace_info_kind(struct tr_text name, uint32_t *kind)
{
	for (*kind = 1; *kind < TR_SRCTRACE_INFO_KINDS; ++*kind)
		if (tr_text_is(name, names[*kind]))
			return true;
	uint64_t n = 0;
	for (size_t i = 0; i < name.len; i++) {
		unsigned digit = (unsigned char)name.data[i] - (unsigned)'0';
		n = n * 10 + digit;
		if (digit > 9 || n > UINT32_MAX)
			return false;
	}
	*kind = (uint32_t)n;
	return n != TR_SRCTRACE_INFO_END;
}

uint32_t tr_srctrace_u32(const char *p, bool big)
{
	const unsigned char *b = (const unsigned char *)p;
	return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
		   : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

void tr_srctrace_put_u32(uint32_t n, bool big, struct tr_buffer *to)
{
	for (unsigned i = 0; i < 4; i++)
		tr_buffer_put_byte(to, (char)(n >> (big ? 24 - 8 * i : 8 * i)));
}

void tr_srctrace_pad(size_t start, unsigned align, struct tr_buffer *to)
{
	while ((to->len - start) % align && !to->failed)
		tr_buffer_put_byte(to, 0);
}
