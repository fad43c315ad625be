/*
 * GNATcoverage checkpoints and SID files: what its coverage and instrumentation
 * steps leave to each other. The head is the same in all versions; the tables
 * behind it change with each of them, and are not read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"

#define MAGIC "GNATcov checkpoint" /* and the NUL behind it */

enum { VERSION = sizeof MAGIC, PURPOSE = VERSION + 4, BITS, LEVELS, TRACES = LEVELS + 10, HEAD };

static int bid(struct tr_input *in)
{
	tr_input_more(in, HEAD);
	return tr_input_available(in) >= sizeof MAGIC &&
			       memcmp(in->pos, MAGIC, sizeof MAGIC) == 0
		       ? 8 * (int)sizeof MAGIC
		       : 0;
}

static const char *name_of(unsigned char n, const char *const *names, size_t count)
{
	return n < count ? names[n] : "unknown";
}

/* The coverage levels that are switched on. */
static void levels(const char *flags, char *text, size_t size)
{
	static const char *const names[] = { "insn", "branch", "stmt", "decision", "mcdc", "uc_mcdc",
					     "atc",  "atcc",   "fun_call", "gexpr" };
	size_t used = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (flags[i])
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
						 names[i]);
	if (!used)
		snprintf(text, size, "none");
}

static struct tr_reader *open_it(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	static const char *const bits[] = { "no target", "32 bits", "64 bits" };
	static const char *const traces[] = { "of an unknown kind", "binary", "source", "LLVM",
					      "of all kinds" };
	char on[96];
	(void)config;
	if (!tr_input_more(in, HEAD)) {
		tr_error_set(err, TR_CAUSE_INPUT, "GNATcov checkpoint or SID file, cut in its head");
		return NULL;
	}
	const unsigned char *p = (const unsigned char *)in->pos;
	/* written by Ada's streams: little endian wherever it was seen */
	uint32_t version = p[VERSION] | (uint32_t)p[VERSION + 1] << 8 |
			   (uint32_t)p[VERSION + 2] << 16 | (uint32_t)p[VERSION + 3] << 24;
	levels(in->pos + LEVELS, on, sizeof on);
	tr_error_set(err, TR_CAUSE_INPUT,
		     "GNATcov %s, version %" PRIu32 ", %s, levels %s, traces %s: "
		     "recognised, not read",
		     p[PURPOSE] == 0 ? "SID file (instrumentation)" : "checkpoint (consolidation)",
		     version, name_of(p[BITS], bits, 3), on, name_of(p[TRACES], traces, 5));
	return NULL;
}

const struct tr_format tr_format_checkpoint = {
	.name = "checkpoint",
	.summary = "GNATcoverage checkpoint or SID file: recognised, not read",
	.exact = "-",
	.bid = bid,
	.open = open_it,
};
