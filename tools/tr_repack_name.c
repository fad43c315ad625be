/*
 * What members of the archive are called: the path that was given, as tar has
 * it, or the name that the member had, with its extensions adapted where its
 * format or its compression changes (a.json.gz as trec in zstd is a.trec.zst),
 * and with a number where there is such a member already.
 */
#include "config.h"

#include "core/buffer.h"
#include "tr_repack.h"

/* A name in its parts. */
struct parts {
	struct tr_text stem, extension, codec; /* the last two may be empty */
};

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

/* The format's extension, or what stands behind the last dot of the last component. */
static void cut_any_extension(struct tr_text *name, const struct tr_format *format)
{
	struct tr_text whole = *name;

	cut_format_extension(name, format);
	if (name->len < whole.len)
		return;
	for (size_t i = whole.len; i > 1 && whole.data[i - 1] != '/'; i--) {
		if (whole.data[i - 1] == '.' && whole.data[i - 2] != '/') {
			name->len = i - 1;
			return;
		}
	}
}

/* A name that stays below where the archive is unpacked: nothing absolute, nothing behind "..". */
static struct tr_text below(struct tr_text name)
{
	const char *end = name.data + strnlen(name.data, name.len), *begin = name.data;

	while (end > begin && end[-1] == '/')
		end--;
	for (const char *p = begin, *slash; p < end; p = slash + 1) {
		slash = memchr(p, '/', (size_t)(end - p));
		slash = slash ? slash : end;
		if (slash == p ? p == begin : tr_text_is(tr_text_span(p, slash), ".."))
			begin = slash < end ? slash + 1 : end;
	}
	name = tr_text_span(begin, end);
	return name.len && !tr_text_is(name, ".") ? name : TR_TEXT("trace");
}

/* What the member is to be called after, and what is known of that. */
struct origin {
	struct tr_text name;
	const struct tr_format *format;
	const struct tr_codec *codec;
	bool told; /* by the header of a stream, where it was a member before */
};

static struct tr_text header_text(struct repack *r, const char *key)
{
	struct tr_field *field = r->header ? tr_record_field(r->header, key) : NULL;
	struct tr_value *value = field ? tr_field_value(r->header, field, NULL) : NULL;

	if (!value || value->type != TR_STRING)
		return field && field->text.data ? field->text : TR_TEXT("");
	return tr_string_bytes(value->text, r->header->arena);
}

static struct origin find_origin(struct repack *r, const struct tr_trace_place *place)
{
	const char *given = place->member ? place->member : place->file ? place->file : "stdin";
	struct tr_text name = place->member ? TR_TEXT("") : header_text(r, "member");

	if (name.len)
		return (struct origin){ below(name), tr_format_by_name(header_text(r, "format")),
					tr_codec_by_name(header_text(r, "container")), true };
	return (struct origin){ below(tr_text_from(given)), r->log ? NULL : place->format,
				place->codec, false };
}

static bool is_container(const struct tr_format *format, const struct tr_codec *codec)
{
	for (size_t i = 0; format->containers && format->containers[i]; i++)
		if (format->containers[i] == codec)
			return true;
	return false;
}

/* number 0: without one. */
static struct tr_text put_together(const struct parts *parts, uint64_t number, struct tr_buffer *to)
{
	tr_buffer_reset(to);
	tr_buffer_put_text(to, parts->stem);
	if (number) {
		tr_buffer_put_byte(to, '-');
		tr_buffer_put_decimal(to, number);
	}
	tr_buffer_put_text(to, parts->extension);
	tr_buffer_put_text(to, parts->codec);
	tr_buffer_put_byte(to, '\0');
	return (struct tr_text){ to->data, to->failed ? 0 : to->len - 1 };
}

/* ./a is the same file as a. */
static struct tr_text unpacked_as(struct tr_text name)
{
	while (tr_text_starts(name, TR_TEXT("./")))
		name = (struct tr_text){ name.data + 2, name.len - 2 };
	return name;
}

struct used {
	uint64_t next; /* number to try for another one of this name */
	char name[];
};

static struct used *find(const struct repack *r, struct tr_text name)
{
	return tr_map_get(&r->names.taken, unpacked_as(name));
}

bool repack_is_member(const struct repack *r, struct tr_text name)
{
	return find(r, name) != NULL;
}

/* NULL: memory is out. */
static const char *keep(struct repack *r, struct tr_text name)
{
	struct used *used = tr_arena_alloc(&r->names.memory, sizeof *used + name.len + 1);

	if (!used)
		return NULL;
	used->next = 2;
	memcpy(used->name, name.data, name.len + 1);
	struct tr_text kept = { used->name, name.len };
	return tr_map_put(&r->names.taken, unpacked_as(kept), used) ? used->name : NULL;
}

/* The first name with a number that is free, or without one. NULL: memory is out. */
static const char *keep_free(struct repack *r, const struct parts *parts, bool *numbered)
{
	struct tr_buffer buffer = TR_BUFFER_INIT;
	struct tr_text name = put_together(parts, 0, &buffer);
	struct used *first = name.len ? find(r, name) : NULL;

	*numbered = first != NULL;
	while (first && name.len && find(r, name))
		name = put_together(parts, first->next++, &buffer);
	const char *kept = name.len ? keep(r, name) : NULL;
	tr_buffer_free(&buffer);
	return kept;
}

/* A container that belongs to the format is not in the name. */
static struct tr_text codec_extension(const struct origin *origin, const struct tr_format *format,
				      const struct tr_codec *codec, bool was_named)
{
	bool same = codec && origin->codec && strcmp(codec->name, origin->codec->name) == 0;

	if (!codec || !codec->extension || is_container(format, codec) || (same && !was_named))
		return TR_TEXT(""); /* it did not say so before either */
	return tr_text_from(codec->extension);
}

const char *repack_member_name(struct repack *r, const struct tr_trace_place *place,
			       const struct tr_format *format, const struct tr_codec *codec)
{
	bool numbered;
	struct origin origin = find_origin(r, place);
	struct tr_text name = origin.name;
	bool was_named =
		origin.codec && origin.codec->extension && cut_end(&name, origin.codec->extension);
	struct parts parts = { name, TR_TEXT(""),
			       codec_extension(&origin, format, codec, was_named) };

	if (format != origin.format) {
		if (origin.format)
			cut_format_extension(&parts.stem, origin.format);
		if (format->extensions && format->extensions[0])
			parts.extension = tr_text_from(format->extensions[0]);
		cut_end(&parts.stem, parts.extension.data);
	} else {
		cut_any_extension(&parts.stem, format);
		parts.extension =
			tr_text_span(parts.stem.data + parts.stem.len, name.data + name.len);
	}
	const char *kept = keep_free(r, &parts, &numbered);
	if (kept && numbered && (origin.told || !r->segment))
		tr_cli_note(&r->cli, "%s: the %s of this name: added as %s", place->name,
			    r->archive ? "archive has a member" : "directory got a file", kept);
	return kept;
}
