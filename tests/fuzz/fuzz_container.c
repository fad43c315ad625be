/* SPDX-License-Identifier: MIT */
/* Decodes any bytes as a compressed file and as an archive, to the end and within the limits. */
#include "core/archive.h"
#include "core/codec.h"
#include "core/input.h"
#include "fuzz.h"
#include "../unit/memory.h"

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

/* codec: NULL: the one that is detected. */
static void open_and_drain(const uint8_t *data, size_t size, const struct tr_codec *codec)
{
	struct tr_limits limits = fuzz_limits();
	limits.max_ratio = 100;
	struct tr_error err;
	struct tr_source *source = memory_source((struct tr_text){ (const char *)data, size }, 13);
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	if (in)
		in = codec ? tr_codec_open_as(in, codec, &limits, false, &err)
			   : tr_codec_open(in, &limits, false, &err);
	if (!in)
		return;
	if (tr_archive_detect(in)) {
		drain_members(in, &limits);
	} else {
		drain(in);
		tr_input_free(in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_and_drain(data, size, NULL);
	/* brotli has no magic: formats try it */
	open_and_drain(data, size, &tr_codec_brotli);
	return 0;
}
