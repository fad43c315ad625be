/*
 * -o DIR: what would become a member of an archive becomes a file below the
 * directory, which is made when the first is written. Each appears when it is
 * whole, and takes the place of one that was there. Below the directory no
 * symbolic link is followed.
 */
#include "config.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "tr_repack.h"

bool repack_is_directory(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (len && path[len - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The path of the file, for messages. False: memory is out. */
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

/* A file that was written before is to be a directory on the way: an archive may have a and a/b. */
static bool leads_through_file(const struct repack *r, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		if (repack_is_member(r, tr_text_span(path, slash)))
			return true;
	return false;
}

/* The directory of the file, and the last component of its name. -1: reported. */
static int open_parent(struct repack *r, const char *path, const char **name)
{
	struct tr_error err, why = { .sys_errno = ENOTDIR };
	int dir = -1;

	if (r->root < 0)
		r->root = tr_directory_open(r->directory, true, &why);
	if (r->root >= 0 && !leads_through_file(r, path))
		dir = tr_directory_below(r->root, path, name, &why);
	if (dir >= 0)
		return dir;
	if (why.sys_errno)
		tr_error_system(&err, why.sys_errno, "cannot create %s", r->path.data);
	else
		tr_error_set(&err, why.cause, "cannot create %s: %s", r->path.data, why.text);
	tr_cli_report(&r->cli, &err);
	return -1;
}

static bool open_below(struct repack *r, const struct tr_format *format,
		       const struct tr_trace_place *place)
{
	const struct tr_codec *codec;

	if (!repack_codec(r, format, place, &codec))
		return false;
	const char *name = repack_member_name(r, place, format, codec);
	if (!put_path(r, name)) {
		struct tr_error err;
		tr_error_memory(&err);
		tr_cli_report(&r->cli, &err);
		return false;
	}
	int dir = open_parent(r, name, &name);
	if (dir < 0)
		return false;
	r->cli.output_path = r->path.data;
	struct tr_sink *sink = repack_checked(r, tr_cli_sink_at(&r->cli, dir, name), NULL, false);
	close(dir);
	return tr_cli_output_on(&r->cli, repack_encoded(r, sink, codec));
}

void repack_directory(struct repack *r)
{
	r->directory = r->cli.output_path;
	repack_apart(r, open_below);
	r->cli.output_path = r->directory;
	if (r->root >= 0)
		close(r->root);
	tr_buffer_free(&r->path);
}
