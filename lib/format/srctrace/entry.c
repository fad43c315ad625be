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

void tr_srctrace_put_u32(uint32_t n, bool big, struct tr_buffer *to)
{
	char bytes[sizeof n];
	tr_wire_put_u32(bytes, big, n);
	tr_buffer_put(to, bytes, sizeof bytes);
}

void tr_srctrace_pad(size_t start, unsigned align, struct tr_buffer *to)
{
	while ((to->len - start) % align && !to->failed)
		tr_buffer_put_byte(to, 0);
}
