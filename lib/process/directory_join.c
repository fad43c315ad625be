/* SPDX-License-Identifier: MIT */
/* Paths as text, as a kernel takes them. */
#include "process/directory.h"

#include <string.h>

/* Takes the last component of the path off, which begins at `root`; false: there is none. */
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

/* One component, of a path that is absolute or not. */
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

static void push_all(struct tr_text path, size_t root, bool absolute, struct tr_buffer *to)
{
	const char *p = path.data, *end = p + path.len;

	while (p < end && !to->failed) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		const char *stop = slash ? slash : end;
		push(tr_text_span(p, stop), root, absolute, to);
		p = stop + 1;
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
