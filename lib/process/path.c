/* SPDX-License-Identifier: MIT */
/*
 * Paths as text, of POSIX and of Windows. Nothing is looked up on this machine, because the trace
 * is often from another one.
 */
#include "process/path.h"

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

bool tr_path_is_absolute(struct tr_text path)
{
	if (tr_path_has_drive(path))
		return path.len > 2 && is_separator(path.data[2]);
	return path.len && (path.data[0] == '/' || tr_text_starts(path, TR_TEXT("\\\\")));
}

struct tr_text tr_path_base(struct tr_text path)
{
	const char *last = path.len ? memrchr(path.data, '/', path.len) : NULL;
	const char *begin = last ? last : path.data;

	/* without a drive, a backslash separates only if the path contains no slash */
	if (path.len && (!last || tr_path_has_drive(path))) {
		const char *backslash =
			memrchr(begin, '\\', (size_t)(path.data + path.len - begin));
		last = backslash ? backslash : last;
	}
	return last ? tr_text_span(last + 1, path.data + path.len) : path;
}

struct tr_text tr_path_extension(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	for (size_t i = base.len; i > 1; i--)
		if (base.data[i - 1] == '.')
			return (struct tr_text){ base.data + i - 1, base.len - i + 1 };
	return (struct tr_text){ base.data + base.len, 0 };
}

bool tr_path_is_assembly(struct tr_text path)
{
	static const char *const extensions[] = { ".s", ".S", ".sx", ".asm", NULL };

	return tr_text_is_among(tr_path_extension(path), extensions);
}

/* Removes the last component of the path that begins at `root`; false: there is none. */
static bool pop(struct tr_buffer *to, size_t root)
{
	size_t len = to->len;

	while (len > root && to->data[len - 1] != '/')
		len--;
	if (to->len == root || (to->len - len == 2 && memcmp(to->data + len, "..", 2) == 0))
		return false;
	to->len = len > root ? len - 1 : root;
	return true;
}

/* Appends one component to a path that is absolute or not. */
static void push(struct tr_text component, size_t root, bool absolute, struct tr_buffer *to)
{
	if (component.len == 0 || tr_text_is(component, "."))
		return;
	if (tr_text_is(component, "..") && (pop(to, root) || absolute))
		return;
	if (to->len > root || absolute)
		tr_buffer_put_byte(to, '/');
	tr_buffer_put_text(to, component);
}

/*
 * Appends all components of a path, so that the result has no ".", no doubled slash and, as far as
 * that is possible, no "..".
 */
static void push_all(struct tr_text path, size_t root, bool absolute, struct tr_buffer *to)
{
	const char *p = path.data, *end = p + path.len;

	while (p < end && !to->failed) {
		/* components that are not empty, "." or ".." are appended together */
		const char *next = p, *slash;
		do {
			slash = memchr(next, '/', (size_t)(end - next));
			next = slash ? slash + 1 : end + 1;
		} while (*p != '.' && *p != '/' && next < end && *next != '/' && *next != '.');
		push(tr_text_span(p, next - 1), root, absolute, to);
		p = next;
	}
}

void tr_directory_join(struct tr_text base, struct tr_text path, struct tr_buffer *to)
{
	size_t root = to->len;
	bool own = path.len && *path.data == '/';
	bool absolute = own || (base.len && *base.data == '/');

	if (!own)
		push_all(base, root, absolute, to);
	push_all(path, root, absolute, to);
	if (absolute && to->len == root)
		tr_buffer_put_byte(to, '/');
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
			if (!is_separator(directory.data[directory.len - 1]))
				tr_buffer_put_byte(to, tr_path_has_drive(directory) ? '\\' : '/');
		}
		tr_buffer_put_text(to, path);
		return;
	}
	if (!whole)
		push_all(directory, root, true, to);
	push_all(path, root, true, to);
	if (to->len == root)
		tr_buffer_put_byte(to, '/');
}
