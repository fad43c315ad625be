/* -o out.tar.zst: every file or member that comes in becomes a member. */
#include "config.h"

#include "core/buffer.h"
#include "tr_repack.h"

/* Cuts extension off the end of name; true when it was there. */
static bool cut_end(struct tr_text *name, const char *extension)
{
	struct tr_text end = tr_text_from(extension);

	if (!end.len || name->len <= end.len ||
	    memcmp(name->data + name->len - end.len, end.data, end.len) != 0)
		return false;
	name->len -= end.len;
	return true;
}

/* Traces that are JSON are often simply called so. */
static void cut_format_extension(struct tr_text *name, const struct tr_format *format)
{
	for (const char *const *e = format->extensions; e && *e; e++)
		if (cut_end(name, *e))
			return;
	if ((format->flags & TR_FORMAT_JSON) && !cut_end(name, ".json"))
		cut_end(name, ".jsonl");
}

/* What the member is to be called after: the member the segment was, or the file it comes from. */
static struct tr_text source_name(struct repack *r, const struct tr_trace_place *place,
				  bool *by_header)
{
	struct tr_field *field = r->header ? tr_record_field(r->header, "member") : NULL;
	struct tr_value *value = field ? tr_field_value(r->header, field, NULL) : NULL;
	const char *file = place->file ? strrchr(place->file, '/') : NULL;

	*by_header = false;
	if (!place->member && value && value->type == TR_STRING) {
		struct tr_text name = tr_string_bytes(value->text, r->header->arena);
		*by_header = name.len;
		if (name.len)
			return name;
	}
	return tr_text_from(place->member ? place->member
			    : file	  ? file + 1
			    : place->file ? place->file
					  : "stdin");
}

static bool is_container(const struct tr_format *format, const struct tr_codec *codec)
{
	for (size_t i = 0; format->containers && format->containers[i]; i++)
		if (format->containers[i] == codec)
			return true;
	return false;
}

/*
 * The name a member had, with its extensions adapted where its format or its
 * compression changes: a.json.gz as trec in zstd is a.trec.zst. A container
 * that belongs to the format is not in the name.
 */
static const char *member_name(struct repack *r, const struct tr_trace_place *place,
			       const struct tr_format *format, const struct tr_codec *codec,
			       struct tr_buffer *to)
{
	bool by_header;
	struct tr_text name = source_name(r, place, &by_header);
	const char *codec_extension = codec ? codec->extension : NULL;
	const char *extension = NULL;
	bool was_named =
		place->codec && place->codec->extension && cut_end(&name, place->codec->extension);
	bool same = codec && place->codec && strcmp(codec->name, place->codec->name) == 0;

	if ((same && !was_named) || is_container(format, codec))
		codec_extension = NULL; /* it did not say so before either */
	tr_buffer_reset(to);
	if (format != place->format) {
		cut_format_extension(&name, place->format);
		extension = format->extensions ? format->extensions[0] : NULL;
	} else if (r->segment && !by_header && format->extensions) {
		extension = format->extensions[0];
	}
	if (extension)
		cut_end(&name, extension);
	tr_buffer_put_text(to, name);
	if (r->segment && !by_header) {
		tr_buffer_put_byte(to, '-');
		tr_buffer_put_decimal(to, r->segment + 1);
	}
	if (extension)
		tr_buffer_put_text(to, tr_text_from(extension));
	if (codec_extension)
		tr_buffer_put_text(to, tr_text_from(codec_extension));
	tr_buffer_put_byte(to, '\0');
	return to->failed ? NULL : to->data;
}

static bool open_member(struct repack *r, const struct tr_format *format,
			const struct tr_trace_place *place)
{
	const struct tr_codec *codec;
	struct tr_buffer buffer = TR_BUFFER_INIT;
	struct tr_sink *sink = NULL;
	struct tr_error err;

	if (!repack_codec(r, format, place, &codec))
		return false;
	const char *name = member_name(r, place, format, codec, &buffer);
	if (name)
		sink = tr_archive_member_sink(r->archive, name, place->mtime, &err);
	else
		tr_error_memory(&err);
	tr_buffer_free(&buffer);
	if (!sink) {
		tr_cli_report(&r->cli, &err);
		return false;
	}
	return tr_cli_output_on(&r->cli, repack_encoded(r, sink, codec));
}

static void repack_member(struct repack *r, struct tr_trace_place *place)
{
	r->format = NULL;
	r->cut_line = false;
	r->begun = false;
	r->header = NULL;
	r->segment = 0;
	repack_place(r, place, open_member);
	repack_finish_writer(r);
	tr_cli_finish_output(&r->cli);
}

void repack_archive(struct repack *r, const char *archive_format)
{
	const struct tr_codec *outer = tr_codec_by_extension(tr_text_from(r->cli.output_path));
	struct tr_sink *sink = repack_bottom(r, outer, true);
	struct tr_trace_place *place;
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
	r->cli.several = true;
	while (tr_cli_step(&r->cli, &place))
		repack_member(r, place);
	if (!r->cli.stop && !tr_cli_read_nothing(&r->cli) && !tr_archive_finish(r->archive, &err))
		tr_cli_fail(&r->cli, "%s: %s", r->cli.output_path, err.text);
	tr_archive_writer_free(r->archive);
}
