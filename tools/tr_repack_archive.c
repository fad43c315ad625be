/* -o out.tar.zst: every file or member that comes in becomes a member. */
#include "config.h"

#include "tr_repack.h"

static bool open_member(struct repack *r, const struct tr_format *format,
			const struct tr_trace_place *place)
{
	const struct tr_codec *codec;
	struct tr_sink *sink = NULL;
	struct tr_error err;

	if (!repack_codec(r, format, place, &codec))
		return false;
	const char *name = repack_member_name(r, place, format, codec);
	if (name)
		sink = tr_archive_member_sink(r->archive, name, place->mtime, &err);
	else
		tr_error_memory(&err);
	if (!sink) {
		tr_cli_report(&r->cli, &err);
		return false;
	}
	return tr_cli_output_on(&r->cli, repack_encoded(r, sink, codec));
}

void repack_archive(struct repack *r, const char *archive_format)
{
	const struct tr_codec *outer = tr_codec_by_extension(tr_text_from(r->cli.output_path));
	struct tr_sink *sink = repack_bottom(r, outer, true);
	struct tr_error err;

	if (sink && outer) {
		sink = outer->encoder(sink, outer->level_default, r->threads, &err);
		if (!sink)
			tr_cli_report(&r->cli, &err);
	}
	if (!sink)
		return;
	r->archive = tr_archive_create(archive_format, sink, &err);
	if (!r->archive) {
		tr_cli_report(&r->cli, &err);
		return;
	}
	repack_apart(r, open_member);
	if (!r->cli.stop && !tr_cli_read_nothing(&r->cli) && !tr_archive_finish(r->archive, &err))
		tr_cli_fail(&r->cli, "%s: %s", r->cli.output_path, err.text);
	tr_archive_writer_free(r->archive);
}
