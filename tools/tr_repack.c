/* SPDX-License-Identifier: MIT */
/* tr-repack: options, codecs, and the three kinds of output: a file, an archive, a directory. */

#include "tr_repack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "process/path.h"

#define CODECS "none|gzip|xz|zstd|bzip2|lz4|snappy|brotli[=LEVEL]"

enum { TO = 1, CODEC, JOBS, VERIFY, RESUME, BLOB_DIR, SPLIT, LIST0, JOIN };

static const struct tr_option options[] = {
	{ TO, 't', "to", "FORMAT", "write FORMAT (default: the format of the input)" },
	{ CODEC, 'z', "codec", CODECS,
	  "compress with this codec (default: from the extension of -o, else that of the input)" },
	{ JOBS, 'j', "jobs", "N",
	  "convert N files or members at a time, or compress one file with N threads (default 1)" },
	{ BLOB_DIR, 0, "blob-dir", "DIR",
	  "read blobs from the files that tr-parse --blob-dir wrote" },
	{ VERIFY, 0, "verify", NULL, "read the output back and compare it (needs -o)" },
	{ RESUME, 0, "resume", NULL,
	  "skip inputs that an earlier run converted without errors (needs -o DIR/)" },
	{ SPLIT, 0, "split", "KIND=N",
	  "cut each trace into parts of size=N bytes, records=N or frames=N (needs -o DIR/)" },
	{ LIST0, 0, "list0", NULL, "print the name of each part, followed by NUL (needs --split)" },
	{ JOIN, 0, "join", NULL, "join the parts of a trace" },
	{ 0 },
};

static const struct tr_format_option settings[] = {
	{ "foreign", "no|yes", false, true,
	  "accept a codec that the tools of the format cannot read (default no)" },
	{ 0 },
};

static const char *const examples[] = {
	"a build trace without the programs of configure",
	"tr-filter 'not (exec and name $= \"/conftest\")' build.json | tr-repack -o less.json",
	"compress a trace, read it back and compare",
	"tr-repack -z zstd=19 -j 4 --verify -o build.json.zst build.json.gz",
	"convert every trace in an archive",
	"tr-repack -t trec -o traces.tar.zst traces.zip",
	NULL,
};

static const char *(*const libraries[])(void) = { tr_sha256_version, NULL };

static const struct tr_tool tool = {
	.name = "tr-repack",
	.usage = "[OPTION...] [-t FORMAT] [-z CODEC[=LEVEL]] [FILE...]",
	.summary = "Writes a trace file from records or from other trace files. If the format "
		   "stays the same, the content is copied byte for byte, and only its container "
		   "changes.",
	.shared = TR_CLI_ALL | TR_CLI_FORMATS,
	.options = options,
	.settings = settings,
	.examples = examples,
	.libraries = libraries,
};

/* Takes the level after "=", which has to be one of the codec's. */
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

/* Reports a codec that does not exist, with the most similar one. */
static void unknown_codec(struct repack *r, struct tr_text name)
{
	struct tr_similar similar;

	tr_similar_begin(&similar, name);
	for (size_t i = 0; tr_codecs[i]; i++)
		tr_similar_offer(&similar, tr_text_from(tr_codecs[i]->name));
	tr_cli_unknown(&r->cli, "codec", name, &similar, ": -z takes " CODECS);
}

/* Handles -z: CODEC or CODEC=LEVEL, or none. */
static void set_codec(struct repack *r)
{
	const char *argument = r->cli.argument, *equals = strchr(argument, '=');
	struct tr_text name = { argument, equals ? (size_t)(equals - argument) : strlen(argument) };

	r->codec_given = true;
	r->level = TR_CLI_DEFAULT_LEVEL;
	r->codec = tr_codec_by_name(name);
	if (!r->codec && !tr_text_is(name, "none"))
		unknown_codec(r, name);
	else if (equals && (!r->codec || r->codec->level_max == 0))
		tr_cli_usage(&r->cli, "codec %.*s has no levels", (int)name.len, name.data);
	else if (equals)
		set_level(r, equals + 1);
}

/* Handles one of the tool's own options. */
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
		r->cli.changes_blobs = true;
		r->cli.blobs = TR_BLOBS_FETCH;
		r->cli.blob_path = r->cli.argument;
		break;
	case RESUME:
		r->resume = true;
		break;
	case SPLIT:
		if (!r->split && !(r->split = split_new()))
			tr_cli_out_of_memory(&r->cli);
		else
			split_set(r->split, r);
		break;
	case LIST0:
		r->list = true;
		break;
	case JOIN:
		if (!r->join && !(r->join = join_new(true)))
			tr_cli_out_of_memory(&r->cli);
		break;
	default:
		if (!r->verify && !(r->verify = verify_new()))
			tr_cli_out_of_memory(&r->cli);
		break;
	}
}

/*
 * With any option of a format, the bytes of the input may not be what the user asks for, so
 * records are written instead.
 */
static void look_at_settings(struct repack *r)
{
	const struct tr_settings *given = &r->cli.config.read.settings;

	r->foreign = tr_text_is(tr_setting_get(given, "foreign", "no"), "yes");
	/* "foreign" concerns only the codec */
	for (size_t i = 0; i < given->count; i++)
		if (!tr_text_is(given->list[i].key, "foreign"))
			r->by_records = true;
}

/* The sink of a file; with --verify it is read back. outer: of an archive. NULL: reported. */
static struct tr_sink *checked_sink(struct repack *r, struct tr_sink *sink,
				    const struct tr_codec *outer, bool archive)
{
	if (!sink || !r->verify)
		return sink;
	sink = verify_file(r->verify, sink, archive ? outer : NULL, archive);
	if (!sink)
		tr_cli_out_of_memory(&r->cli);
	return sink;
}

/* The sink of the output file, which takes compressed bytes. outer: the codec of the whole file. */
static struct tr_sink *bottom_sink(struct repack *r, const struct tr_codec *outer, bool archive)
{
	bool binary = outer || archive || (r->format && (r->format->flags & TR_FORMAT_BINARY));

	return checked_sink(r, tr_cli_sink(&r->cli, binary), outer, archive);
}

/*
 * With --verify there is a tee on top of the codec, which notes the bytes before they are
 * compressed.
 */
struct tr_sink *repack_encoded(struct repack *r, struct tr_sink *sink, const struct tr_codec *codec)
{
	r->cli.packed = false;
	sink = tr_cli_encoded(&r->cli, sink, codec, r->level, r->threads);
	if (!sink || !r->verify)
		return sink;
	sink = verify_tee(r->verify, sink, codec);
	if (!sink)
		tr_cli_out_of_memory(&r->cli);
	return sink;
}

/* Returns the format's own form of the codec; NULL: the tools of the format cannot read it. */
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
 * The codec without -z and without a name that selects one: the input's own container if it is
 * one for the format. A trace that comes from a stream gets the container that the format's tools
 * write. A compilation database does not inherit the compression of the build log that it is made
 * of, and a file x.json is not compressed, unlike its source x.json.zst.
 */
static const struct tr_codec *codec_by_default(const struct repack *r,
					       const struct tr_format *format,
					       const struct tr_trace_place *place)
{
	bool is_trace = place->format && !(place->format->flags & TR_FORMAT_STREAM);
	const struct tr_codec *codec = place->codec;

	if (!format->containers)
		return place->format == format && !r->plain ? codec : NULL;
	if (is_trace && !codec && place->format == format)
		return NULL;
	if (is_trace && codec && usual(format, codec))
		return usual(format, codec);
	return format->containers[0];
}

/*
 * Chooses the codec of an output: -z, else that of the name of -o, else the default. A codec that
 * the format's own tools cannot read is refused unless -O foreign=yes is given. False: reported.
 */
bool repack_codec(struct repack *r, const struct tr_format *format,
		  const struct tr_trace_place *place, const struct tr_codec **codec)
{
	*codec = r->codec_given ? r->codec
		 : r->named	? r->named
				: codec_by_default(r, format, place);
	if (!*codec)
		return true;
	if (usual(format, *codec)) {
		*codec = usual(format, *codec);
		return true;
	}
	if (r->foreign)
		return true;
	tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
		      "no tool for %s reads %s: use -O foreign=yes to write it anyway",
		      format->name, (*codec)->name);
	return false;
}

/* Opens the one output file of all places (repack.open). Places after the first add to it. */
static bool open_file(struct repack *r, const struct tr_format *format,
		      const struct tr_trace_place *place)
{
	const struct tr_codec *codec;

	if (r->cli.out)
		return true; /* several places in one output */
	if (!repack_codec(r, format, place, &codec)) {
		r->cli.stop = true;
		return false;
	}
	return tr_cli_output_on(&r->cli, repack_encoded(r, bottom_sink(r, codec, false), codec));
}

/* Writes all places to one file. */
static void write_file(struct repack *r)
{
	static const struct tr_trace_place nowhere;
	struct tr_trace_place *place;

	r->open = open_file;
	while (tr_cli_step(&r->cli, &place))
		repack_place(r, place);
	bool nothing = !r->cli.out && !r->cli.stop && r->cli.status == 0;
	if (nothing && r->join && join_checks(r->join)) {
		tr_cli_fail(&r->cli, "--join: the input has no parts");
	} else if (nothing) {
		/* of an empty input comes an empty output, or the format's empty file */
		const struct tr_codec *codec = r->codec_given ? r->codec : r->named;
		if (r->target)
			repack_nothing(r, &nowhere);
		else
			tr_cli_output_on(&r->cli,
					 repack_encoded(r, bottom_sink(r, codec, false), codec));
	}
	repack_finish_writer(r);
}

/* Opens one of several outputs (repack.open). */
static bool open_apart(struct repack *r, const struct tr_format *format,
		       const struct tr_trace_place *place)
{
	const struct tr_codec *codec;

	/* reported; the other outputs are still written */
	if (!repack_codec(r, format, place, &codec))
		return false;
	struct repack_name name = repack_member_name(r, place, format, codec);
	return r->open_as(r, &name, place, codec);
}

/* Makes the output of a sink, to which compressed bytes are written. False: reported. */
static bool open_on(struct repack *r, struct tr_sink *sink, const struct tr_codec *codec)
{
	return tr_cli_output_on(&r->cli, r->job ? repack_job_sink(r, sink, codec)
						: repack_encoded(r, sink, codec));
}

/*
 * Opens a member of the archive for a place (repack.open_as). A member that cannot be opened is
 * reported, and the others are still written.
 */
static bool open_member(struct repack *r, const struct repack_name *parts,
			const struct tr_trace_place *place, const struct tr_codec *codec)
{
	struct tr_sink *sink = NULL;
	struct tr_error err;

	const char *name = repack_take_name(r, place, parts);
	r->cli.output_name = name;
	if (name)
		sink = tr_archive_member_sink(r->archive, name, place->mtime, &err);
	else
		tr_error_memory(&err);
	if (!sink) {
		tr_cli_message_of(&r->cli, place, &err);
		return false;
	}
	return open_on(r, sink, codec);
}

/* Writes each place to a member of its own. The codec of the name compresses the whole archive. */
static void write_archive(struct repack *r, const char *archive_format)
{
	const struct tr_codec *outer = tr_codec_by_extension(tr_text_from(r->cli.output_path));
	/* some codecs give other bytes with threads, and -j must not change the archive */
	struct tr_sink *sink = tr_cli_encoded(&r->cli, bottom_sink(r, outer, true), outer,
					      TR_CLI_DEFAULT_LEVEL, 1);
	struct tr_error err;

	if (!sink)
		return;
	r->archive = tr_archive_create(archive_format, sink, &err);
	if (!r->archive) {
		tr_cli_report(&r->cli, &err);
		return;
	}
	r->open = open_apart;
	r->open_as = open_member;
	repack_apart(r);
	/* an archive without its end does not get its name */
	if (!r->cli.stop && !tr_cli_read_nothing(&r->cli) && !tr_archive_finish(r->archive, &err))
		tr_cli_fail(&r->cli, "%s: %s", r->cli.output_path, err.text);
	tr_archive_writer_free(r->archive);
}

/* True if -o names a directory: one that exists, or any name that ends in "/". */
static bool is_directory(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (len && path[len - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Sets r->path, for messages. False: memory is exhausted. */
static bool put_path(struct repack *r, const char *name)
{
	struct tr_buffer *path = &r->path;

	tr_buffer_reset(path);
	tr_buffer_put_text(path, tr_text_from(r->directory));
	if (path->len && path->data[path->len - 1] != '/')
		tr_buffer_put_byte(path, '/');
	tr_buffer_put_text(path, tr_text_from(name));
	tr_buffer_put_byte(path, '\0');
	return name && !path->failed;
}

/* True if the path leads through a file that was written: an archive may contain a and a/b. */
static bool leads_through_file(struct repack *r, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		if (repack_is_member(r, tr_text_span(path, slash)))
			return true;
	return false;
}

/*
 * The directories that lead to a file. Without a limit, each name of a small archive could make
 * thousands of directories.
 */
enum { DEEPEST = 64 };

/* True if the path has more than DEEPEST directories. */
static bool is_too_deep(const char *path)
{
	unsigned depth = 0;

	for (; (path = strchr(path, '/')); path++)
		depth++;
	return depth > DEEPEST;
}

/* Opens the directory of a file and finds the last component of its name. -1: reported. */
static int open_parent(struct repack *r, const struct tr_trace_place *place, const char *path,
		       const char **name)
{
	struct tr_error err, why = { .sys_errno = ENOTDIR };
	int dir = -1;

	if (r->root < 0)
		r->root = tr_directory_open(r->directory, true, &why);
	bool is_long = r->path.len > PATH_MAX; /* no tool could open the file */
	bool is_deep = is_too_deep(path);
	if (r->root >= 0 && !is_long && !is_deep && !leads_through_file(r, path))
		dir = tr_directory_below(r->root, path, name, &why);
	if (dir >= 0)
		return dir;
	if (r->root >= 0 && is_long)
		tr_error_set(&err, TR_CAUSE_LIMIT, "cannot be created: a path has at most %d bytes",
			     PATH_MAX - 1);
	else if (r->root >= 0 && is_deep)
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "cannot be created: a file is in at most %d directories", DEEPEST);
	else if (why.sys_errno)
		tr_error_system(&err, why.sys_errno, "cannot create %s", r->path.data);
	else
		tr_error_set(&err, why.cause, "cannot create %s: %s", r->path.data, why.text);
	tr_cli_message_of(&r->cli, place, &err);
	return -1;
}

/* A hash of the path of an operand, which is the same in every directory where a run begins. */
static uint64_t path_hash(struct repack *r, const char *file)
{
	if (r->hashed != file) {
		char *path = realpath(file, NULL);
		r->path_hash = tr_text_hash(0, tr_text_from(path ? path : file));
		free(path);
		r->hashed = file;
	}
	return r->path_hash;
}

/*
 * The mark of the next output of a place: the nanoseconds after the milliseconds of its file's
 * modification time say of which version of which input it was made. So a file and its mark appear
 * together, and concern no other file. 0: no mark, because the input is a pipe.
 */
static long mark_of(struct repack *r, const struct tr_trace_place *place)
{
	if (!place->version)
		return 0;
	uint64_t hash = tr_number_hash(path_hash(r, place->file), place->version);
	return 1 + (long)(tr_number_hash(hash, r->opened++) % (REPACK_MARKS - 1));
}

/*
 * True if an earlier run has made this file of this input, and without trouble: others have no
 * mark.
 */
static bool is_made(const struct repack *r, int dir, const char *name)
{
	struct stat st;

	return r->mark && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_mtim.tv_nsec % REPACK_MARKS == r->mark;
}

/*
 * Opens a file below the directory for a place (repack.open_as). The names come from the input, so
 * no component of the path may be a symbolic link or "..": tr_directory_below refuses them.
 */
static bool open_below(struct repack *r, const struct repack_name *parts,
		       const struct tr_trace_place *place, const struct tr_codec *codec)
{
	const char *name = repack_take_name(r, place, parts);

	if (!put_path(r, name))
		return tr_cli_out_of_memory(&r->cli);
	int dir = open_parent(r, place, name, &name);
	if (dir < 0)
		return false;
	r->cli.output_path = r->cli.output_name = r->path.data;
	r->mark = mark_of(r, place);
	r->made = r->resume && is_made(r, dir, name);
	if (r->made) {
		r->made_count++;
		tr_cli_log_output(&r->cli, true);
		close(dir);
		return true;
	}
	struct tr_sink *sink =
		checked_sink(r, tr_cli_sink_at(&r->cli, place, dir, name), NULL, false);
	close(dir);
	return open_on(r, sink, codec);
}

/* Writes each place to a file of its own below the directory of -o. */
static void write_directory(struct repack *r)
{
	r->directory = r->cli.output_path;
	r->open = open_apart;
	r->open_as = open_below;
	repack_apart(r);
	r->cli.output_path = r->directory;
	if (r->split && !r->cli.stop)
		split_note_others(r);
	if (r->made_count)
		tr_cli_note(&r->cli, "kept %" PRIu64 " file%s that an earlier run wrote",
			    r->made_count, r->made_count == 1 ? "" : "s");
	if (r->root >= 0)
		close(r->root);
	tr_buffer_free(&r->path);
}

/* True if the name of a file is that of a stream, compressed or not. */
static bool is_stream_name(const char *path)
{
	struct tr_text name = tr_text_from(path);
	const struct tr_codec *codec = tr_codec_by_extension(name);

	if (codec && codec->extension && tr_path_ends(name, codec->extension))
		name.len -= strlen(codec->extension);
	return tr_path_ends(name, tr_format_trec.extensions[0]);
}

int main(int argc, char **argv)
{
	struct repack r = { .level = TR_CLI_DEFAULT_LEVEL, .threads = 1, .root = -1 };
	struct tr_cli *cli = &r.cli;

	tr_cli_begin(cli, &tool, argc, argv);
	for (int id; (id = tr_cli_option(cli)) != 0;)
		set_option(&r, id);
	if (r.verify && !cli->output_path)
		tr_cli_usage(cli, "--verify needs -o FILE");
	look_at_settings(&r);

	const char *archive =
		cli->output_path ? tr_archive_by_extension(tr_text_from(cli->output_path)) : NULL;
	bool directory = cli->output_path && is_directory(cli->output_path);
	if (r.resume && !directory)
		tr_cli_usage(cli, "--resume needs a directory: -o DIR/");
	if (r.split && !directory)
		tr_cli_usage(cli, "--split needs a directory: -o DIR/");
	if (r.split && r.resume)
		tr_cli_usage(cli, "--split cannot be combined with --resume");
	if (r.split && r.join)
		tr_cli_usage(cli, "--split cannot be combined with --join");
	if (r.list && !r.split)
		tr_cli_usage(cli, "--list0 needs --split");
	else if (r.list)
		split_list(r.split);
	/* a trace file has no marks of parts, so its parts are always put together */
	if (!r.join && !r.split && !(r.target && r.target->flags & TR_FORMAT_STREAM))
		r.join = join_new(false);
	/* each file becomes an output of its own */
	cli->config.joins = archive || directory ? TR_JOINS_NOTHING : TR_JOINS_FILES;
	if ((archive || directory) && !r.split && r.threads > 1) {
		r.jobs = r.threads;
		r.threads = 1;
		cli->config.threads = false; /* a child process does not have the threads */
	}
	/*
	 * with -z the name does not select a codec, but it may still promise another kind of file
	 */
	bool named = directory || tr_cli_name_codec(cli, true, r.codec_given ? NULL : &r.named);
	r.plain = cli->output_path && !archive && !directory && !r.named &&
		  tr_path_extension(tr_text_from(cli->output_path)).len;
	r.trec = cli->output_path && !archive && !directory && is_stream_name(cli->output_path);
	if (named && tr_cli_open(cli)) {
		if (directory)
			write_directory(&r);
		else if (archive)
			write_archive(&r, archive);
		else
			write_file(&r);
	}
	int status = tr_cli_end(cli);
	verify_free(r.verify);
	split_free(r.split);
	join_free(r.join);
	return status;
}
