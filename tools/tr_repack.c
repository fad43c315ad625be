/* tr-repack: records, or trace files, to a trace file. */
#include "config.h"

#include "tr_repack.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/value.h"

enum { TO = 1, CODEC, JOBS, VERIFY, BLOB_DIR };

static const struct tr_option options[] = {
	{ TO, 't', "to", "FORMAT", "write FORMAT (default: the one that the input came from)" },
	{ CODEC, 'z', "codec", "CODEC[=LEVEL]",
	  "compress: none, gzip, xz, zstd ... (default: as the input file)" },
	{ JOBS, 'j', "jobs", "N", "compress with N threads, where the codec can (default 1)" },
	{ BLOB_DIR, 0, "blob-dir", "DIR",
	  "take blobs that tr-parse --blob-dir wrote to files from there" },
	{ VERIFY, 0, "verify", NULL, "read back what was written and compare (needs -o)" },
	{ 0 },
};

static const struct tr_format_option settings[] = {
	{ "foreign", "yes|no", false, true,
	  "accept a codec that the tools of the format cannot read" },
	{ 0 },
};

static const char *const examples[] = {
	"the trace without what configure did",
	"tr-filter 'not (exec and name $= \"/conftest\")' build.json | tr-repack -o less.json",
	"the same trace, smaller, and read back",
	"tr-repack -z zstd=19 -j 4 --verify -o build.json.zst build.json.gz",
	"every trace of an archive into another one",
	"tr-repack -t trec -o traces.tar.zst traces.zip",
	NULL,
};

static const char *(*const libraries[])(void) = { tr_sha256_version, NULL };

static const struct tr_tool tool = {
	.name = "tr-repack",
	.usage = "[OPTION...] [-t FORMAT] [-z CODEC[=LEVEL]] [FILE...]",
	.summary = "Writes a trace file from records or from other trace files. What stays in its "
		   "format is copied byte for byte; only its container changes.",
	.shared = TR_CLI_ALL,
	.options = options,
	.settings = settings,
	.examples = examples,
	.libraries = libraries,
};

/* Options. */

static void set_target(struct repack *r)
{
	r->target = tr_format_by_name(tr_text_from(r->cli.argument));
	if (!r->target)
		tr_cli_usage(&r->cli, "unknown format '%s': see --list-formats", r->cli.argument);
	else if (!(r->target->flags & TR_FORMAT_WRITES))
		tr_cli_usage(&r->cli, "format '%s' can only be read", r->cli.argument);
}

static void set_level(struct repack *r, const char *text)
{
	char *end;
	long level = strtol(text, &end, 10);

	if (*text && !*end && level >= r->codec->level_min && level <= r->codec->level_max)
		r->level = (int)level;
	else
		tr_cli_usage(&r->cli, "level '%s' is not between %d and %d (%s)", text,
			     r->codec->level_min, r->codec->level_max, r->codec->name);
}

static void set_codec(struct repack *r)
{
	const char *argument = r->cli.argument, *equals = strchr(argument, '=');
	struct tr_text name = { argument, equals ? (size_t)(equals - argument) : strlen(argument) };

	r->codec_given = true;
	r->level = TR_REPACK_DEFAULT_LEVEL;
	r->codec = tr_codec_by_name(name);
	if (!r->codec && !tr_text_is(name, "none"))
		tr_cli_usage(&r->cli, "unknown codec '%.*s'", (int)name.len, name.data);
	else if (!r->codec && equals)
		tr_cli_usage(&r->cli, "codec none has no levels");
	else if (equals)
		set_level(r, equals + 1);
}

static void set_option(struct repack *r, int id)
{
	uint64_t number;

	switch (id) {
	case TO:
		set_target(r);
		break;
	case CODEC:
		set_codec(r);
		break;
	case JOBS:
		if (tr_cli_number(&r->cli, false, 256, &number))
			r->threads = number ? (unsigned)number : 1;
		break;
	case BLOB_DIR:
		r->blobs = (struct tr_cli_blobs){ .what = TR_BLOBS_FETCH, .path = r->cli.argument };
		break;
	default:
		if (!r->verify && !(r->verify = verify_new()))
			tr_cli_fail(&r->cli, "out of memory");
		break;
	}
}

static void look_at_settings(struct repack *r)
{
	const struct tr_settings *given = &r->cli.config.read.settings;

	r->foreign = tr_text_is(tr_setting_get(given, "foreign", "no"), "yes");
	for (size_t i = 0; i < given->count; i++)
		if (!tr_text_is(given->list[i].key, "foreign"))
			r->by_records = true;
}

/* Output. */

static struct tr_sink *made(struct repack *r, struct tr_sink *sink, const struct tr_error *err)
{
	if (!sink) {
		tr_cli_fail(&r->cli, "%s", err ? err->text : "out of memory");
		r->cli.stop = true;
	}
	return sink;
}

struct tr_sink *repack_bottom(struct repack *r, const struct tr_codec *outer, bool archive)
{
	bool binary = outer || archive || (r->format && (r->format->flags & TR_FORMAT_BINARY));
	struct tr_sink *sink = tr_cli_sink(&r->cli, binary);

	if (sink && r->verify)
		sink = made(r, verify_file(r->verify, sink, archive ? outer : NULL, archive), NULL);
	return sink;
}

struct tr_sink *repack_encoded(struct repack *r, struct tr_sink *sink, const struct tr_codec *codec)
{
	struct tr_error err;

	r->cli.packed = codec != NULL;
	if (sink && codec) {
		int level = r->codec_given && r->level != TR_REPACK_DEFAULT_LEVEL
				    ? r->level
				    : codec->level_default;
		sink = made(r, codec->encoder(sink, level, r->threads, &err), &err);
	}
	if (sink && r->verify)
		sink = made(r, verify_tee(r->verify, sink, codec), NULL);
	return sink;
}

/* The codec as the format wants it, where its own tools read it; NULL: they do not. */
static const struct tr_codec *usual(const struct tr_format *format, const struct tr_codec *codec)
{
	if (!format->containers)
		return codec->general ? codec : NULL;
	for (size_t i = 0; format->containers[i]; i++)
		if (strcmp(format->containers[i]->name, codec->name) == 0)
			return format->containers[i];
	return NULL;
}

/*
 * Without -z: the input's own container, if it is one for the format; what was
 * no trace file before gets the container that the format's tools write. That a
 * build log was compressed says nothing of the compilation database made of it.
 */
static const struct tr_codec *codec_by_default(const struct tr_format *format,
					       const struct tr_trace_place *place)
{
	bool is_trace = place->format && !(place->format->flags & TR_FORMAT_STREAM);
	const struct tr_codec *codec = place->codec;

	if (!format->containers)
		return place->format == format ? codec : NULL;
	if (is_trace && !codec && place->format == format)
		return NULL;
	if (is_trace && codec && usual(format, codec))
		return usual(format, codec);
	return format->containers[0];
}

bool repack_codec(struct repack *r, const struct tr_format *format,
		  const struct tr_trace_place *place, const struct tr_codec **codec)
{
	*codec = r->codec_given ? r->codec : codec_by_default(format, place);
	if (!*codec)
		return true;
	if (usual(format, *codec)) {
		*codec = usual(format, *codec);
		return true;
	}
	if (r->foreign)
		return true;
	tr_cli_fail(&r->cli, "no tool for %s reads %s: -O foreign=yes if you mean it", format->name,
		    (*codec)->name);
	return false;
}

static bool open_file(struct repack *r, const struct tr_format *format,
		      const struct tr_trace_place *place)
{
	const struct tr_codec *codec;

	if (r->cli.out)
		return true; /* what came before goes on */
	if (!repack_codec(r, format, place, &codec)) {
		r->cli.stop = true;
		return false;
	}
	return tr_cli_output_on(&r->cli, repack_encoded(r, repack_bottom(r, codec, false), codec));
}

/* Places. */

bool repack_finish_writer(struct repack *r)
{
	bool done = !r->writer || tr_cli_finish(&r->cli, r->format, r->writer);

	r->writer = NULL;
	return done;
}

/* About the file or member that is being read. */
__attribute__((format(printf, 2, 3))) static void fail_here(struct repack *r, const char *format,
							    ...)
{
	char text[TR_ERROR_TEXT];
	struct tr_error err;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	tr_error_set(&err, TR_CAUSE_USAGE, "%s", text);
	tr_cli_report(&r->cli, &err);
}

/*
 * Another trace, where a file holds one: it can only become another member of
 * an archive.
 */
static bool one_more(struct repack *r, const struct tr_format *format,
		     const struct tr_trace_place *place, repack_open *open)
{
	if (!r->archive) {
		fail_here(r,
			  "is one more trace, and a file of %s's holds one: write each by itself, "
			  "or all into an archive (-o NAME.tar)",
			  r->format->name);
		tr_cli_abandon(&r->cli);
		return false;
	}
	if (!repack_finish_writer(r) || !tr_cli_finish_output(&r->cli))
		return false;
	r->format = format;
	r->begun = false;
	r->segment++;
	return open(r, format, place);
}

/* The output is to be in this format: opens it, or sees that it is the same as before. */
static bool settle(struct repack *r, const struct tr_format *format,
		   const struct tr_trace_place *place, repack_open *open)
{
	if (r->begun && (r->format->flags & TR_FORMAT_ONE))
		return one_more(r, format, place, open);
	if (r->format == format)
		return true;
	if (r->format) {
		fail_here(r, "is %s, what came before is %s: use -t FORMAT", format->name,
			  r->format->name);
		return false;
	}
	if (!(format->flags & TR_FORMAT_WRITES)) {
		fail_here(r, "format '%s' can only be read: use -t FORMAT", format->name);
		return false;
	}
	r->format = format;
	return open(r, format, place);
}

/* Two texts one after the other are not to share a line. */
static void end_line(struct repack *r)
{
	if (r->cut_line && !(r->format->flags & TR_FORMAT_BINARY))
		tr_output_put_byte(r->cli.out, '\n');
	r->cut_line = false;
}

static void copy(struct repack *r, struct tr_trace_place *place)
{
	repack_finish_writer(r);
	if (r->cli.stop)
		return;
	r->begun = true;
	end_line(r);
	if (place->bom && tr_output_count(r->cli.out) == 0)
		tr_output_put_literal(r->cli.out, "\xef\xbb\xbf");
	tr_cli_copy_bytes(&r->cli, place->in, &r->cut_line);
}

/* The format that the header of a stream names; NULL: reported. */
static const struct tr_format *format_of_header(struct repack *r, struct tr_record *header)
{
	struct tr_field *field = tr_record_field(header, "format");
	const struct tr_format *format = field ? tr_format_by_name(field->text) : NULL;

	if (!field)
		fail_here(r, "the stream does not say which format it came from: use -t FORMAT");
	else if (!format)
		fail_here(r, "the stream came from the unknown format '%.*s': use -t FORMAT",
			  (int)(field->text.len < 80 ? field->text.len : 80), field->text.data);
	return format;
}

/* Before the format is known nothing can be written; a comment or a stray trailer is no loss. */
static bool know_format(struct repack *r, const struct tr_trace_place *place,
			struct tr_record *record, repack_open *open, bool *skip)
{
	const struct tr_format *format = r->target;

	if (record->type != TR_HEADER && r->format)
		return true; /* a segment goes on, or an anonymous one goes where the others went */
	r->header = record->type == TR_HEADER ? record : NULL;
	if (!format && record->type == TR_HEADER)
		format = format_of_header(r, record);
	else if (!format) {
		*skip = record->type == TR_COMMENT || record->type == TR_TRAILER;
		if (!*skip)
			fail_here(r, "the stream has no header that says which format it came "
				     "from: use -t FORMAT");
		return *skip;
	}
	return format && settle(r, format, place, open);
}

static bool put(struct repack *r, struct tr_record *record)
{
	r->begun |= record->type == TR_HEADER || record->type == TR_RECORD;
	/* a stream that stays one keeps the spelling of its lines */
	if (r->format == &tr_format_trec && record->line.data)
		return tr_cli_put_line(&r->cli, record);
	if (!r->writer) {
		end_line(r);
		r->writer = tr_cli_writer(&r->cli, r->format);
	}
	return r->writer && tr_cli_put(&r->cli, r->format, r->writer, record);
}

static void convert(struct repack *r, const struct tr_trace_place *place, repack_open *open)
{
	struct tr_record *record;

	while (tr_cli_next_here(&r->cli, &record)) {
		bool skip = false;
		if (!know_format(r, place, record, open, &skip))
			break;
		skip = skip ||
		       (r->blobs.wanted && !tr_cli_blobs_change(&r->cli, &r->blobs, record));
		if (r->cli.stop || (!skip && !put(r, record)))
			break;
	}
}

void repack_place(struct repack *r, struct tr_trace_place *place, repack_open *open)
{
	const struct tr_format *format = place->format;
	bool is_trace = format && !(format->flags & TR_FORMAT_STREAM) &&
			(format->flags & TR_FORMAT_READS);
	bool same = is_trace && !r->by_records && (!r->target || r->target == format) &&
		    (r->archive || tr_cli_stands_alone(&r->cli, place));

	if (same && settle(r, format, place, open))
		copy(r, place);
	else if (!same)
		convert(r, place, open);
}

static void repack_file(struct repack *r)
{
	struct tr_trace_place *place;

	while (tr_cli_step(&r->cli, &place))
		repack_place(r, place, open_file);
	/* of nothing comes nothing, but -o has to be there */
	if (!r->cli.out && !r->cli.stop && r->cli.status == 0)
		tr_cli_output(&r->cli, false);
	repack_finish_writer(r);
}

int main(int argc, char **argv)
{
	struct repack r = { .level = TR_REPACK_DEFAULT_LEVEL, .threads = 1 };
	struct tr_cli *cli = &r.cli;

	tr_cli_begin(cli, &tool, argc, argv);
	for (int id; (id = tr_cli_option(cli)) != 0;)
		set_option(&r, id);
	if (r.verify && !cli->output_path)
		tr_cli_usage(cli, "--verify needs -o FILE");
	look_at_settings(&r);

	const char *archive =
		cli->output_path ? tr_archive_by_extension(tr_text_from(cli->output_path)) : NULL;
	cli->config.apart = archive; /* each file becomes a member */
	if (tr_cli_open(cli) && tr_cli_blobs_open(cli, &r.blobs)) {
		if (archive)
			repack_archive(&r, archive);
		else
			repack_file(&r);
	}
	int status = tr_cli_end(cli);
	tr_blob_dir_close(r.blobs.dir);
	verify_free(r.verify);
	return status;
}
