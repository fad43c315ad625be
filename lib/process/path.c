/* SPDX-License-Identifier: MIT */
#include "process/path.h"

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

bool tr_path_has_drive(struct tr_text path)
{
	return path.len >= 2 && is_letter(path.data[0]) && path.data[1] == ':';
}

static bool is_separator(char c, bool drive)
{
	return c == '/' || (drive && c == '\\');
}

bool tr_path_is_absolute(struct tr_text path)
{
	if (tr_path_has_drive(path))
		return path.len > 2 && is_separator(path.data[2], true);
	return path.len && (path.data[0] == '/' || tr_text_starts(path, TR_TEXT("\\\\")));
}

struct tr_text tr_path_base(struct tr_text path)
{
	/* without a drive, a backslash separates only if the path contains no slash */
	bool windows =
		tr_path_has_drive(path) || !memchr(path.data ? path.data : "", '/', path.len);
	size_t begin = path.len;

	while (begin > 0 && !is_separator(path.data[begin - 1], windows))
		begin--;
	return (struct tr_text){ path.data + begin, path.len - begin };
}

struct tr_text tr_path_extension(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	for (size_t i = base.len; i > 1; i--)
		if (base.data[i - 1] == '.')
			return (struct tr_text){ base.data + i - 1, base.len - i + 1 };
	return (struct tr_text){ base.data + base.len, 0 };
}

/* Removes the last component, but none of the first `root` bytes. */
static void step_up(struct tr_buffer *to, size_t root)
{
	while (to->len > root && to->data[to->len - 1] != '/')
		to->len--;
	if (to->len > root)
		to->len--; /* the slash */
}

/* Appends the components of a path, resolving . and ..; the first `root` bytes stay. */
static void append(struct tr_text path, size_t root, struct tr_buffer *to)
{
	const char *p = path.data, *end = p + path.len;

	while (p < end && !to->failed) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		struct tr_text part = tr_text_span(p, slash ? slash : end);
		if (tr_text_is(part, "..")) {
			step_up(to, root);
		} else if (part.len && !tr_text_is(part, ".")) {
			tr_buffer_put_byte(to, '/');
			tr_buffer_put_text(to, part);
		}
		p = slash ? slash + 1 : end;
	}
}

void tr_path_join(struct tr_text directory, struct tr_text path, struct tr_buffer *to)
{
	size_t root = to->len;
	bool whole = tr_path_is_absolute(path);

	if (tr_path_has_drive(whole ? path : directory) ||
	    !tr_path_is_absolute(whole ? path : directory)) {
		/* a path of Windows, or relative to an unknown place */
		if (!whole && directory.len) {
			tr_buffer_put_text(to, directory);
			if (!is_separator(directory.data[directory.len - 1], true))
				tr_buffer_put_byte(to, tr_path_has_drive(directory) ? '\\' : '/');
		}
		tr_buffer_put_text(to, path);
		return;
	}
	if (!whole)
		append(directory, root, to);
	append(path, root, to);
	if (to->len == root)
		tr_buffer_put_byte(to, '/');
}
