/* SPDX-License-Identifier: MIT */
/*
 * The common part of writers of coverage by source line. Records are added up when they arrive; the
 * text is made at the end, because it also lists what was not executed.
 *
 *	put	any record -> tr_coverage_put
 *	close	tr_coverage_finish -> the function of the format, which writes all files
 */
#include "format/lcov/lcov.h"

#include <inttypes.h>

#include "coverage/coverage.h"
#include "format/writer_base.h"

struct writer {
	struct tr_writer base;
	struct tr_writer_steps steps; /* with the name of the format */
	const struct tr_lcov_form *form;
	struct tr_settings settings;
	struct tr_coverage coverage;
	bool remarked; /* on branches without a line */
};

/* Begins a segment. */
static enum tr_status begin(struct tr_writer *base, struct tr_record *header, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)header;
	(void)err;
	tr_coverage_begin(&writer->coverage);
	return TR_OK;
}

/* Takes a record of a trace. */
static enum tr_status put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	enum tr_status status = tr_coverage_put(&writer->coverage, record, err);
	base->entries = writer->coverage.entries;
	return status;
}

/* Takes blocks without records. */
static size_t put_blocks(struct tr_writer *base, const struct tr_block *blocks, size_t count,
			 uint64_t seq)
{
	struct writer *writer = tr_container(base, struct writer, base);
	size_t taken = tr_coverage_put_blocks(&writer->coverage, blocks, count);

	(void)seq;
	base->entries = writer->coverage.entries;
	return taken;
}

/* Writes the file. */
static enum tr_status close_files(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	const struct tr_sources *sources = &writer->coverage.sources;
	bool good = tr_coverage_finish(&writer->coverage) &&
		    writer->form->write(sources, &writer->settings, base->out);
	return good ? TR_OK : tr_error_memory(err);
}

/* Returns the next remark on the programs or the lines. TR_OK: there is no other. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if (tr_coverage_remark(&writer->coverage, err))
		return TR_WARN;
	if (!writer->form->branches_in_lines || writer->remarked)
		return TR_OK;
	writer->remarked = true;
	uint64_t lone = tr_sources_lone_branches(&writer->coverage.sources);
	if (!lone)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "%" PRIu64 " outcomes of branches are left out: %s has them in lines with a "
		     "count",
		     lone, writer->form->format);
	tr_error_is_note(err);
	return TR_WARN;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_coverage_free(&writer->coverage);
}

static const struct tr_writer_steps steps = {
	.begin = begin,
	.put = put,
	.blocks = put_blocks,
	.close = close_files,
	.report = report,
	.discard = discard,
};

struct tr_writer *tr_lcov_writer(const struct tr_lcov_form *form,
				 const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->steps = steps;
	writer->steps.format = form->format;
	writer->base.steps = &writer->steps;
	writer->form = form;
	writer->settings = config->settings;
	writer->coverage.sources.one_test = form->one_test;
	if (tr_setting_programs(&config->settings, &writer->coverage.programs, err))
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
