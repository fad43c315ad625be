/* What the etrace recorder writes beside its log: statistics of the ring buffers, the kernel's log.
 */
#include <string.h>

#include "format/format.h"

enum { STATS_BITS = 64, KLOG_BITS = 20, KLOG_LINES = 3, PROBE = 4096 };

static const struct tr_text stats_head = { "##---------- CPU ", 17 };

static int bid_stats(struct tr_input *in)
{
	return tr_input_more(in, stats_head.len) &&
			       memcmp(in->pos, stats_head.data, stats_head.len) == 0
		       ? STATS_BITS
		       : 0;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* `[   12.345678] ` at p, as dmesg(1) has it. */
static bool is_stamp(const char *p, const char *end)
{
	enum { MICROSECONDS = 6 };

	if (p == end || *p++ != '[')
		return false;
	while (p < end && *p == ' ')
		p++;
	const char *point = skip_digits(p, end);
	if (point == p || point == end || *point != '.')
		return false;
	p = skip_digits(point + 1, end);
	return p - point - 1 == MICROSECONDS && end - p >= 2 && p[0] == ']' && p[1] == ' ';
}

/* The first lines, all of them with a time; fewer, where there are no more. */
static int bid_klog(struct tr_input *in)
{
	size_t at = 0;

	if (!tr_input_more(in, 1) || *in->pos != '[')
		return 0;
	for (int i = 0; i < KLOG_LINES; i++) {
		const char *lf;
		size_t available;
		while (!(lf = memchr(in->pos + at, '\n', tr_input_available(in) - at)) &&
		       (available = tr_input_available(in)) < PROBE &&
		       tr_input_more(in, available + 1))
			;
		if (i && at == tr_input_available(in))
			break;
		if (!lf || !is_stamp(in->pos + at, lf))
			return 0;
		at = (size_t)(lf + 1 - in->pos);
	}
	return KLOG_BITS;
}

static struct tr_reader *open_stats(const struct tr_read_config *config, struct tr_input *in,
				    struct tr_error *err)
{
	(void)config;
	(void)in;
	tr_error_set(
		err, TR_CAUSE_INPUT,
		"ring buffer statistics of an etrace recording: recognised, not read (its lines "
		"\"dropped events\" and \"overrun\" count what the log lacks)");
	return NULL;
}

static struct tr_reader *open_klog(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	(void)config;
	(void)in;
	tr_error_set(err, TR_CAUSE_INPUT, "kernel log (dmesg): recognised, not read");
	return NULL;
}

const struct tr_format tr_format_etracestats = {
	.name = "etracestats",
	.summary = "ring buffer statistics of an etrace recording: recognised, not read",
	.exact = "-",
	.bid = bid_stats,
	.open = open_stats,
};

const struct tr_format tr_format_etraceklog = {
	.name = "etraceklog",
	.summary = "kernel log of an etrace recording: recognised, not read",
	.exact = "-",
	.bid = bid_klog,
	.open = open_klog,
};
