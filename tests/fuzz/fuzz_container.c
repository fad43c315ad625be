/* Any bytes as compressed file and as archive: decoded to the end, within the limits. */
#include "core/archive.h"
#include "core/codec.h"
#include "core/input.h"
#include "fuzz.h"
#include "memory.h"

enum { MOST_OUTPUT = 64 << 20 };

static uint64_t drain(struct tr_input *in)
{
	while (tr_input_available(in) || tr_input_more(in, 1)) {
		tr_input_skip(in, tr_input_available(in));
		if (in->offset > MOST_OUTPUT)
			break;
	}
	return in->offset;
}

static void drain_members(struct tr_input *in, const struct tr_limits *limits)
{
	struct tr_error err;
	struct tr_archive *archive = tr_archive_open(in, limits, &err);
	if (!archive)
		return;
	struct tr_archive_member member;
	for (enum tr_status status; (status = tr_archive_next(archive, &member, &err)) != TR_END;) {
		if (status == TR_FATAL)
			break;
		if (status == TR_WARN)
			continue;
		struct tr_source *source = tr_archive_source(archive);
		struct tr_input *bytes = source ? tr_input_new(source, limits, 0) : NULL;
		if (bytes)
			drain(bytes);
		tr_input_free(bytes);
	}
	tr_archive_free(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_limits limits = fuzz_limits();
	limits.max_ratio = 100;
	struct tr_error err;
	struct tr_source *source = memory_source(data, size, 13);
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	if (in)
		in = tr_codec_open(in, &limits, false, &err);
	if (!in)
		return 0;
	if (tr_archive_detect(in)) {
		drain_members(in, &limits);
	} else {
		drain(in);
		tr_input_free(in);
	}
	return 0;
}
