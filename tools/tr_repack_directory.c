/*
 * -o DIR: what would become a member of an archive becomes a file below the
 * directory, which is made when the first is written. Each appears when it is
 * whole, and takes the place of one that was there.
 */
#include "config.h"

#include <errno.h>
#include <sys/stat.h>

#include "tr_repack.h"

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool repack_is_directory(const char *path)
{
	size_t len = strlen(path);

	return (len && path[len - 1] == '/') || is_there(path);
}

/*
 * Makes all directories that stand in path, where no file may stand and which is
 * none itself: an archive may have both a and a/b. False: errno says why.
 */
static bool make_way(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
		bool wrong = made && !is_there(path);
		*slash = '/';
		if (wrong)
			errno = ENOTDIR;
		if (!made || wrong)
			return false;
	}
	errno = EISDIR;
	return !is_there(path);
}

/* The path of the file that the place becomes. NULL: reported. */
static const char *file_path(struct repack *r, const struct tr_trace_place *place,
			     const struct tr_format *format, const struct tr_codec *codec)
{
	struct tr_buffer *path = &r->path;
	const char *name = repack_member_name(r, place, format, codec);
	struct tr_error err;

	tr_buffer_reset(path);
	tr_buffer_put_text(path, tr_text_from(r->directory));
	if (path->len && path->data[path->len - 1] != '/')
		tr_buffer_put_byte(path, '/');
	tr_buffer_put_text(path, tr_text_from(name));
	tr_buffer_put_byte(path, '\0');
	if (!name || path->failed)
		tr_error_memory(&err);
	else if (make_way(path->data))
		return path->data;
	else
		tr_error_system(&err, errno, "cannot create %s", path->data);
	tr_cli_report(&r->cli, &err);
	return NULL;
}

static bool open_below(struct repack *r, const struct tr_format *format,
		       const struct tr_trace_place *place)
{
	const struct tr_codec *codec;

	if (!repack_codec(r, format, place, &codec))
		return false;
	const char *path = file_path(r, place, format, codec);
	if (!path)
		return false;
	r->cli.output_path = path;
	return tr_cli_output_on(&r->cli, repack_encoded(r, repack_bottom(r, codec, false), codec));
}

void repack_directory(struct repack *r)
{
	r->directory = r->cli.output_path;
	repack_apart(r, open_below);
	r->cli.output_path = r->directory;
	tr_buffer_free(&r->path);
}
