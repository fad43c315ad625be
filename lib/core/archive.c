/* Knows no archive so far: everything is a plain file. Goes when the readers land. */
#include "core/archive.h"

const char *tr_archive_version(void)
{
	return "none";
}

const char *tr_archive_detect(struct tr_input *in)
{
	(void)in;
	return NULL;
}

const char *tr_archive_by_extension(struct tr_text path)
{
	(void)path;
	return NULL;
}

struct tr_archive *tr_archive_open(struct tr_input *in, const struct tr_limits *limits,
				   struct tr_error *err)
{
	(void)limits;
	tr_input_free(in);
	tr_error_set(err, TR_CAUSE_USAGE, "archives are not supported yet");
	return NULL;
}

const char *tr_archive_format(const struct tr_archive *archive)
{
	(void)archive;
	return NULL;
}

enum tr_status tr_archive_next(struct tr_archive *archive, struct tr_archive_member *member,
			       struct tr_error *err)
{
	(void)archive;
	(void)member;
	(void)err;
	return TR_END;
}

struct tr_source *tr_archive_source(struct tr_archive *archive)
{
	(void)archive;
	return NULL;
}

void tr_archive_free(struct tr_archive *archive)
{
	(void)archive;
}

struct tr_archive_writer *tr_archive_create(const char *format, struct tr_sink *sink,
					    struct tr_error *err)
{
	(void)format;
	sink->close(sink);
	tr_error_set(err, TR_CAUSE_USAGE, "archives are not supported yet");
	return NULL;
}

struct tr_sink *tr_archive_member_sink(struct tr_archive_writer *writer, const char *name,
				       int64_t mtime, struct tr_error *err)
{
	(void)writer;
	(void)name;
	(void)mtime;
	(void)err;
	return NULL;
}

bool tr_archive_finish(struct tr_archive_writer *writer, struct tr_error *err)
{
	(void)writer;
	(void)err;
	return false;
}

void tr_archive_writer_free(struct tr_archive_writer *writer)
{
	(void)writer;
}
