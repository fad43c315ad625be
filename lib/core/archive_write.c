/* Writing archives: see archive.h. Each member is put aside until its size is known. */
#include "core/archive.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec_stream.h"
#include "core/packer.h"
#include "core/spool.h"

enum { COPY_SIZE = 64 << 10 };

struct tr_archive_writer {
	struct tr_sink *sink;
	struct tr_packer *packer;
};

struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err)
{
	struct tr_archive_writer *writer = malloc(sizeof *writer);
	struct tr_packer *packer = NULL;
	if (writer)
		packer = tr_packer_new(format, sink, err);
	else
		tr_error_memory(err);
	if (!packer) {
		free(writer);
		sink->close(sink);
		return NULL;
	}
	*writer = (struct tr_archive_writer){ sink, packer };
	return writer;
}

struct member_sink {
	struct tr_sink base;
	struct tr_archive_writer *writer;
	struct tr_spool *spool;
	int64_t mtime;
	char *name;
};

static bool member_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct member_sink *m = (struct member_sink *)sink;
	return tr_spool_write(m->spool, data, len, err);
}

static bool member_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true; /* nothing of an unfinished member can be readable */
}

static bool member_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct member_sink *m = (struct member_sink *)sink;
	struct tr_packer *packer = m->writer->packer;
	uint64_t size = tr_spool_size(m->spool);
	char buf[COPY_SIZE];
	if (!tr_packer_begin(packer, m->name, (int64_t)size, m->mtime, err))
		return false;
	for (uint64_t offset = 0; offset < size;) {
		const char *data = NULL;
		size_t len = sizeof buf;
		if (!tr_spool_read(m->spool, offset, buf, &data, &len, err) ||
		    !tr_packer_put(packer, data, len, err))
			return false;
		offset += len;
	}
	return true;
}

static void member_close(struct tr_sink *sink)
{
	struct member_sink *m = (struct member_sink *)sink;
	tr_spool_free(m->spool);
	free(m->name);
	free(m);
}

struct tr_sink *tr_archive_member_sink(struct tr_archive_writer *writer, const char *name,
				       int64_t mtime, struct tr_error *err)
{
	struct member_sink *m = calloc(1, sizeof *m);
	if (m) {
		*m = (struct member_sink){
			.base = { member_write, member_flush, member_finish, member_close },
			.writer = writer,
			.spool = tr_spool_new(INT64_MAX),
			.mtime = mtime,
			.name = strdup(name),
		};
		if (m->spool && m->name)
			return &m->base;
		member_close(&m->base);
	}
	tr_error_memory(err);
	return NULL;
}

bool tr_archive_finish(struct tr_archive_writer *writer, struct tr_error *err)
{
	return tr_packer_finish(writer->packer, err) && writer->sink->finish(writer->sink, err);
}

void tr_archive_writer_free(struct tr_archive_writer *writer)
{
	if (!writer)
		return;
	tr_packer_free(writer->packer);
	writer->sink->close(writer->sink);
	free(writer);
}

const char *tr_archive_by_extension(struct tr_text path)
{
	static const struct {
		const char *extension, *format;
	} plain[] = {
		{ ".tar", "tar" },
		{ ".zip", "zip" },
		{ ".cpio", "cpio" },
		{ ".7z", "7z" },
	};
	const struct tr_codec *codec = tr_codec_by_extension(path);
	if (codec && !tr_path_ends(path, codec->extension))
		return "tar"; /* .tgz and the like */
	if (codec)
		path.len -= strlen(codec->extension);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (tr_path_ends(path, plain[i].extension))
			return plain[i].format;
	return NULL;
}
