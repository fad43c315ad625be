/* What the name of -o says: the compression of the output, or that it is an archive. */
#include "config.h"

#include "cli_private.h"

#include "core/archive.h"

static bool ends_in(struct tr_text path, const char *const *extensions)
{
	while (*extensions && !tr_path_ends(path, *extensions))
		extensions++;
	return *extensions;
}

/* "all.tar.EXT" may be text about all.tar, and else is an archive in a codec that is not known. */
static bool is_foreign_tar(struct tr_text path)
{
	static const char *const texts[] = { "txt",  "html", "dot", "sh", "list", "log",
					     "tsv",  "csv",  "md",  "svg", "json", "jsonl" };
	const char *dot = memrchr(path.data, '.', path.len);
	struct tr_text stem = { path.data, dot ? (size_t)(dot - path.data) : 0 };

	if (!dot || !tr_path_ends(stem, ".tar"))
		return false;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(dot + 1, texts[i]) == 0)
			return false;
	for (size_t i = 0; tr_formats[i]; i++)
		for (const char *const *e = tr_formats[i]->extensions; e && *e; e++)
			if (tr_path_ends(path, *e))
				return false;
	return true;
}

bool tr_cli_name_codec(struct tr_cli *cli, bool archives, const struct tr_codec **codec)
{
	static const char *const foreign_archives[] = {
		".rar", ".zipx", ".cab", ".arj", ".ace", ".lha", ".lzh", ".xar", ".jar", ".deb",
		".rpm", ".iso",	 ".tlz", ".tbr", ".taz", ".tZ",	 NULL,
	};
	static const char *const foreign_codecs[] = { ".lz", ".Z",  ".lzma", ".lzo", ".br",
						      ".sz", ".zz", ".lrz",  NULL };
	struct tr_text path = tr_text_from(cli->output_path);

	if (codec)
		*codec = NULL;
	if (!path.len || cli->stop)
		return !cli->stop;
	bool archive = tr_archive_by_extension(path);
	if (archive && !archives)
		return tr_cli_usage(cli, "%s: only tr-repack writes archives", path.data);
	/* brotli is read by few, and known by no magic: tr-repack knows which formats have it */
	const struct tr_codec *named = archive ? NULL : tr_codec_by_extension(path);
	if (named && !named->general && !archives)
		named = NULL;
	if (codec)
		*codec = named;
	if (archive || named)
		return true;
	if (!ends_in(path, foreign_archives) && !is_foreign_tar(path) &&
	    !(codec && ends_in(path, foreign_codecs)))
		return true;
	return tr_cli_usage(cli,
			    "%s: cannot write this kind of file: use .gz, .xz, .zst, .bz2 or .lz4%s",
			    path.data, archives ? ", or .tar, .zip, .cpio or .7z" : "");
}

struct tr_sink *tr_cli_encoded(struct tr_cli *cli, struct tr_sink *sink,
			       const struct tr_codec *codec)
{
	struct tr_cli_private *p = cli->private;

	if (!sink || !codec)
		return sink;
	cli->packed = true;
	sink = codec->encoder(sink, codec->level_default, 1, &p->err);
	if (!sink) {
		tr_cli_fail(cli, "%s", p->err.text);
		cli->stop = true;
	}
	return sink;
}
