/* SPDX-License-Identifier: MIT */
/*
 * Formats that are recognised and named, not read:
 *
 *  - GNATcoverage checkpoints and SID files, which its steps pass to each other. The head is the
 *    same in all versions; the tables after it change with each of them.
 *  - The files that the etrace recorder writes with its log: statistics of the ring buffers, and
 *    the kernel's log.
 *  - LLVM's raw profiles: counters that mean nothing without their program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"

/* GNATcoverage checkpoints and SID files. */

#define CHECKPOINT "GNATcov checkpoint" /* and a NUL */

enum {
	VERSION_AT = sizeof CHECKPOINT,
	PURPOSE = VERSION_AT + 4,
	BITS,
	LEVELS,
	TRACES = LEVELS + 10,
	CHECKPOINT_HEAD
};

/* A file that is cut in its head is recognised, too. */
static int bid_checkpoint(struct tr_input *in)
{
	tr_input_more(in, CHECKPOINT_HEAD);
	return tr_input_available(in) >= sizeof CHECKPOINT &&
			       memcmp(in->pos, CHECKPOINT, sizeof CHECKPOINT) == 0
		       ? 8 * (int)sizeof CHECKPOINT
		       : 0;
}

/* Returns the name of a number, which another version may have more of. */
static const char *name_in(unsigned char n, const char *const *names, size_t count)
{
	return n < count ? names[n] : "unknown";
}

/* The coverage levels that are switched on. */
static void put_levels(const char *flags, char *text, size_t size)
{
	static const char *const names[] = { "insn",	"branch", "stmt", "decision", "mcdc",
					     "uc_mcdc", "atc",	  "atcc", "fun_call", "gexpr" };
	size_t used = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (flags[i])
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
						 names[i]);
	if (!used)
		snprintf(text, size, "none");
}

static struct tr_reader *open_checkpoint(const struct tr_read_config *config, struct tr_input *in,
					 struct tr_error *err)
{
	static const char *const bits[] = { "no target", "32 bits", "64 bits" };
	static const char *const traces[] = { "of an unknown kind", "binary", "source", "LLVM",
					      "of all kinds" };
	char on[96];
	(void)config;
	if (!tr_input_more(in, CHECKPOINT_HEAD)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "GNATcov checkpoint or SID file, truncated in its header");
		return NULL;
	}
	const unsigned char *p = (const unsigned char *)in->pos;
	/* Ada's streams have written little endian on all machines seen so far */
	uint32_t version = p[VERSION_AT] | (uint32_t)p[VERSION_AT + 1] << 8 |
			   (uint32_t)p[VERSION_AT + 2] << 16 | (uint32_t)p[VERSION_AT + 3] << 24;
	put_levels(in->pos + LEVELS, on, sizeof on);
	tr_error_set(err, TR_CAUSE_INPUT,
		     "GNATcov %s, version %" PRIu32 ", %s, levels %s, traces %s: "
		     "recognised, not read",
		     p[PURPOSE] == 0 ? "SID file (instrumentation)" : "checkpoint (consolidation)",
		     version, name_in(p[BITS], bits, 3), on, name_in(p[TRACES], traces, 5));
	return NULL;
}

const struct tr_format tr_format_checkpoint = {
	.name = "checkpoint",
	.summary = "GNATcoverage checkpoint or SID file: recognised, not read",
	.exact = "-",
	.bid = bid_checkpoint,
	.open = open_checkpoint,
};

/* What the etrace recorder writes beside its log: statistics of the ring buffers, the kernel's log.
 */

enum { STATS_BITS = 64, KLOG_BITS = 20, KLOG_LINES = 3, PROBE = 4096 };

static const struct tr_text stats_head = { "##---------- CPU ", 17 };

/* Each of these files begins with the heading of a CPU. */
static int bid_stats(struct tr_input *in)
{
	return tr_input_more(in, stats_head.len) &&
			       memcmp(in->pos, stats_head.data, stats_head.len) == 0
		       ? STATS_BITS
		       : 0;
}

/* `[   12.345678] ` at p, as dmesg(1) has it. */
static bool is_stamp(const char *p, const char *end)
{
	enum { MICROSECONDS = 6 };

	if (p == end || *p++ != '[')
		return false;
	while (p < end && *p == ' ')
		p++;
	const char *point = tr_skip_digits(p, end);
	if (point == p || point == end || *point != '.')
		return false;
	p = tr_skip_digits(point + 1, end);
	return p - point - 1 == MICROSECONDS && end - p >= 2 && p[0] == ']' && p[1] == ' ';
}

/* Looks for a time in each of the first lines. */
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

/* LLVM's raw profiles: counters that mean nothing without the program they came from. */

enum { PROFILE_MAGIC = 8, PROFILE_HEAD = 16 };

/* "lprofr" or "lprofR" (32 bits) between 0xff and 0x81, as a number of the target's byte order. */
static bool is_magic(const char *p, unsigned *bits, bool *big)
{
	static const char magics[4][PROFILE_MAGIC + 1] = { "\x81rforpl\xff", "\x81Rforpl\xff",
							   "\xfflprofr\x81", "\xfflprofR\x81" };
	for (unsigned i = 0; i < 4; i++) {
		if (memcmp(p, magics[i], PROFILE_MAGIC) != 0)
			continue;
		*bits = i % 2 ? 32 : 64;
		*big = i >= 2;
		return true;
	}
	return false;
}

/* Recognises the magic, which also shows the width and the byte order. */
static int bid_profile(struct tr_input *in)
{
	unsigned bits;
	bool big;
	return tr_input_more(in, PROFILE_MAGIC) && is_magic(in->pos, &bits, &big)
		       ? 8 * PROFILE_MAGIC
		       : 0;
}

static struct tr_reader *open_profile(const struct tr_read_config *config, struct tr_input *in,
				      struct tr_error *err)
{
	enum { VERSION_MASK = 0xffffff }; /* the byte above holds flags */
	unsigned bits = 0;
	bool big = false;
	uint64_t version = 0;
	(void)config;
	if (!tr_input_more(in, PROFILE_HEAD) || !is_magic(in->pos, &bits, &big)) {
		tr_error_set(err, TR_CAUSE_INPUT, "LLVM raw profile, truncated in its header");
		return NULL;
	}
	for (unsigned i = 0; i < 8; i++)
		version = version << 8 | (unsigned char)in->pos[PROFILE_MAGIC + (big ? i : 7 - i)];
	tr_error_set(err, TR_CAUSE_INPUT,
		     "LLVM raw profile, version %" PRIu64 ", %u bits, %s endian: recognised, not "
		     "read (see llvm-profdata)",
		     version & VERSION_MASK, bits, big ? "big" : "little");
	return NULL;
}

const struct tr_format tr_format_profraw = {
	.name = "profraw",
	.summary = "LLVM raw profile: recognised, not read",
	.exact = "-",
	.bid = bid_profile,
	.open = open_profile,
};
