/* tr-repack: records, or trace files, to a trace file. */
#include "config.h"

#include "tr_repack.h"

#include <stdlib.h>

#include "process/path.h"

#define CODECS "none|gzip|xz|zstd|bzip2|lz4|snappy|brotli[=LEVEL]"

enum { TO = 1, CODEC, JOBS, VERIFY, BLOB_DIR };

static const struct tr_option options[] = {
	{ TO, 't', "to", "FORMAT", "write FORMAT (default: the one that the input came from)" },
	{ CODEC, 'z', "codec", CODECS,
	  "compress with this codec (default: as the input file)" },
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
	.shared = TR_CLI_ALL | TR_CLI_FORMATS,
	.options = options,
	.settings = settings,
	.examples = examples,
	.libraries = libraries,
};

/* Options. */

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

static void unknown_codec(struct repack *r, struct tr_text name)
{
	struct tr_similar similar;

	tr_similar_begin(&similar, name);
	for (size_t i = 0; tr_codecs[i]; i++)
		tr_similar_offer(&similar, tr_text_from(tr_codecs[i]->name));
	tr_cli_unknown(&r->cli, "codec", name, &similar, ": -z takes " CODECS);
}

static void set_codec(struct repack *r)
{
	const char *argument = r->cli.argument, *equals = strchr(argument, '=');
	struct tr_text name = { argument, equals ? (size_t)(equals - argument) : strlen(argument) };

	r->codec_given = true;
	r->level = TR_REPACK_DEFAULT_LEVEL;
	r->codec = tr_codec_by_name(name);
	if (!r->codec && !tr_text_is(name, "none"))
		unknown_codec(r, name);
	else if (equals && (!r->codec || r->codec->level_max == 0))
		tr_cli_usage(&r->cli, "codec %.*s has no levels", (int)name.len, name.data);
	else if (equals)
		set_level(r, equals + 1);
}

static void set_option(struct repack *r, int id)
{
	uint64_t number;

	switch (id) {
	case TO:
		r->target = tr_cli_format(&r->cli, true);
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

/* One file. */

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

/* Nothing was read, and -o has to be there. */
static void open_empty(struct repack *r)
{
	const struct tr_codec *codec = r->codec_given ? r->codec : r->named;

	tr_cli_output_on(&r->cli, repack_encoded(r, repack_bottom(r, codec, false), codec));
}

static void repack_file(struct repack *r)
{
	static const struct tr_trace_place nowhere;
	struct tr_trace_place *place;

	while (tr_cli_step(&r->cli, &place))
		repack_place(r, place, open_file);
	if (!r->cli.out && !r->cli.stop && r->cli.status == 0) {
		if (r->target)
			repack_nothing(r, &nowhere, open_file);
		else
			open_empty(r);
	}
	repack_finish_writer(r);
}

int main(int argc, char **argv)
{
	struct repack r = { .level = TR_REPACK_DEFAULT_LEVEL, .threads = 1, .root = -1 };
	struct tr_cli *cli = &r.cli;

	tr_cli_begin(cli, &tool, argc, argv);
	for (int id; (id = tr_cli_option(cli)) != 0;)
		set_option(&r, id);
	if (r.verify && !cli->output_path)
		tr_cli_usage(cli, "--verify needs -o FILE");
	look_at_settings(&r);

	const char *archive =
		cli->output_path ? tr_archive_by_extension(tr_text_from(cli->output_path)) : NULL;
	bool directory = cli->output_path && repack_is_directory(cli->output_path);
	cli->config.apart = archive || directory; /* each file becomes one */
	bool named =
		directory || tr_cli_name_codec(cli, true, r.codec_given ? NULL : &r.named);
	r.plain = cli->output_path && !archive && !directory && !r.named &&
		  tr_path_extension(tr_text_from(cli->output_path)).len;
	if (named && tr_cli_open(cli) && tr_cli_blobs_open(cli, &r.blobs)) {
		if (directory)
			repack_directory(&r);
		else if (archive)
			repack_archive(&r, archive);
		else
			repack_file(&r);
	}
	tr_cli_blobs_close(cli, &r.blobs);
	int status = tr_cli_end(cli);
	verify_free(r.verify);
	return status;
}
