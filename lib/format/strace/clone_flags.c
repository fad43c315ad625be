#define _GNU_SOURCE /* memmem */
#include "format/strace/clone_flags.h"

#include "format/strace/scan.h"
#include "format/strace/value.h"

/* Linux's, as in clone(2); the lowest byte is the signal at the child's end. */
static const struct {
	uint64_t bit;
	const char *name;
} flags_table[] = {
	{ 0x80, "CLONE_NEWTIME" },
	{ 0x100, "CLONE_VM" },
	{ 0x200, "CLONE_FS" },
	{ 0x400, "CLONE_FILES" },
	{ 0x800, "CLONE_SIGHAND" },
	{ 0x1000, "CLONE_PIDFD" },
	{ 0x2000, "CLONE_PTRACE" },
	{ 0x4000, "CLONE_VFORK" },
	{ 0x8000, "CLONE_PARENT" },
	{ 0x10000, "CLONE_THREAD" },
	{ 0x20000, "CLONE_NEWNS" },
	{ 0x40000, "CLONE_SYSVSEM" },
	{ 0x80000, "CLONE_SETTLS" },
	{ 0x100000, "CLONE_PARENT_SETTID" },
	{ 0x200000, "CLONE_CHILD_CLEARTID" },
	{ 0x400000, "CLONE_DETACHED" },
	{ 0x800000, "CLONE_UNTRACED" },
	{ 0x1000000, "CLONE_CHILD_SETTID" },
	{ 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, "CLONE_NEWUTS" },
	{ 0x8000000, "CLONE_NEWIPC" },
	{ 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, "CLONE_NEWNET" },
	{ 0x80000000, "CLONE_IO" },
	{ 0x100000000, "CLONE_CLEAR_SIGHAND" },
	{ 0x200000000, "CLONE_INTO_CGROUP" },
};

enum { FLAGS = sizeof flags_table / sizeof *flags_table, SIGNAL = 0xff };

static uint64_t flag_bit(struct tr_text name)
{
	for (size_t i = 0; i < FLAGS; i++)
		if (tr_text_is(name, flags_table[i].name))
			return flags_table[i].bit;
	return 0;
}

/* One of A|B|0x10|17 with what -X verbose says in a comment behind it. */
static uint64_t read_flag(struct tr_text text)
{
	unsigned long long number;
	const char *end = text.data;

	while (end < text.data + text.len && *end != ' ' && *end != '/')
		end++;
	struct tr_text word = tr_text_span(text.data, end);
	if (tr_strace_number(word, &number))
		return number & ~(uint64_t)SIGNAL;
	return flag_bit(word);
}

uint64_t tr_strace_clone_flags(struct tr_text name, struct tr_text arguments)
{
	const char *p = arguments.data, *end = p + arguments.len;
	uint64_t flags = 0;

	if (tr_text_is(name, "vfork"))
		return 0x100 | 0x4000;
	if (!tr_text_is(name, "unshare")) { /* which has nothing else */
		p = arguments.len ? memmem(p, arguments.len, "flags=", 6) : NULL;
		if (!p)
			return 0;
		p += 6;
	}
	end = tr_strace_item_end(p, end);
	while (p < end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *comment = memmem(p, (size_t)(end - p), "/*", 2);
		if (comment && bar && comment < bar) { /* with bars of its own */
			const char *close = memmem(comment, (size_t)(end - comment), "*/", 2);
			bar = close ? memchr(close, '|', (size_t)(end - close)) : NULL;
		}
		const char *stop = bar ? bar : end;
		flags |= read_flag(tr_text_span(p, stop));
		p = bar ? bar + 1 : end;
	}
	return flags;
}

void tr_strace_put_clone_flags(uint64_t flags, struct tr_buffer *to)
{
	const char *before = "\tflags=";

	for (size_t i = 0; i < FLAGS; i++) {
		if (!(flags & flags_table[i].bit))
			continue;
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(flags_table[i].name));
		before = "|";
	}
}
