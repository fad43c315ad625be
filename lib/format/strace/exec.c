#define _GNU_SOURCE /* memmem */
#include "format/strace/exec.h"

#include <stdlib.h>
#include <string.h>

#include "format/strace/hold.h"
#include "format/strace/names.h"
#include "format/strace/scan.h"
#include "format/strace/value.h"
#include "process/directory.h"
#include "record/record.h"
#include "record/value.h"

/* A position in the arguments. */
struct cursor {
	struct tr_buffer *to;
	const char *p, *end;
	const char *
		equals; /* the first '=' that is not behind p, end where there is none; or behind */
};

/* Over ", " to what follows. */
static void skip_comma(struct cursor *at)
{
	at->p = tr_strace_skip(at->p, at->end);
	if (at->p < at->end && *at->p == ',')
		at->p = tr_strace_skip(at->p + 1, at->end);
}

static struct tr_text take_item(struct cursor *at)
{
	const char *begin = at->p;

	at->p = tr_strace_item_end(begin, at->end);
	struct tr_text item = tr_text_span(begin, at->p);
	skip_comma(at);
	return item;
}

/* Over "..." behind a string or before a bracket, which says that something was left out. */
static void skip_dots(struct cursor *at, struct tr_strace_exec *exec, bool *cut)
{
	*cut = at->p < at->end && *at->p == '.' && tr_strace_take(&at->p, at->end, TR_TEXT("..."));
	if (*cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
}

/* The string at the cursor, with its quotes. */
static void put_string(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_buffer *to = at->to;
	bool cut;

	tr_buffer_put_byte(to, '"');
	at->p = tr_strace_spell(at->p + 1, at->end, to);
	tr_buffer_put_byte(to, '"');
	if (at->p == at->end) { /* the line was cut */
		tr_buffer_put_literal(to, "...");
		exec->flags |= TR_STRACE_FLAG_CUT;
		return;
	}
	at->p++;
	skip_dots(at, exec, &cut);
	if (cut)
		tr_buffer_put_literal(to, "...");
}

/* What is no string in a list of them: an address that could not be read. */
static void put_other(struct cursor *at)
{
	const char *begin = at->p;
	bool cut = false;

	at->p = tr_strace_item_end(begin, at->end);
	tr_strace_value(tr_text_span(begin, at->p), at->to, &cut);
}

/* The end of a list at the cursor: true, and the cursor behind it. */
static bool at_list_end(struct cursor *at, struct tr_strace_exec *exec, bool *cut)
{
	bool dots;

	*cut = false;
	if (at->p < at->end && *at->p == '"')
		return false;
	skip_dots(at, exec, &dots);
	at->p = tr_strace_skip(at->p, at->end);
	if (at->p == at->end) {
		exec->flags |= TR_STRACE_FLAG_CUT;
		*cut = true;
		return true;
	}
	if (*at->p != ']')
		return false;
	*cut = dots;
	at->p++;
	return true;
}

static void put_argv(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_buffer *to = at->to;
	bool cut, first = true;

	if (at->p == at->end)
		return;
	if (*at->p != '[') { /* not asked for in full: an address */
		struct tr_text item = take_item(at);
		if (tr_text_is(item, "NULL"))
			tr_buffer_put_literal(to, "\targv=[]");
		else
			exec->flags |= TR_STRACE_FLAG_CUT;
		return;
	}
	tr_buffer_put_literal(to, "\targv=[");
	for (at->p++; !at_list_end(at, exec, &cut); first = false) {
		const char *before = at->p;
		if (!first)
			tr_buffer_put_byte(to, ',');
		if (*at->p == '"')
			put_string(at, exec);
		else
			put_other(at);
		skip_comma(at);
		if (at->p == before) { /* a closing bracket of another kind: no more to be had */
			exec->flags |= TR_STRACE_FLAG_CUT;
			cut = true;
			at->p = at->end;
			break;
		}
	}
	tr_buffer_put_byte(to, ']');
	if (cut)
		tr_buffer_put_literal(to, "...");
	skip_comma(at);
}

/*
 * "NAME=VALUE" at the cursor as a member of a map. The first byte is the
 * name's whatever it is: "=C:=…" exists. Returns where the name ends.
 */
static size_t put_member(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_buffer *to = at->to;
	const char *begin = ++at->p, *end = at->end;
	size_t name = to->len;

	/* looked for once, however many strings have none */
	if (at->equals <= begin && begin < end) {
		const char *equals = memchr(begin + 1, '=', (size_t)(end - begin - 1));
		at->equals = equals ? equals : end;
	}
	at->p = tr_strace_spell(begin, at->equals, to);
	if (at->p < end && at->p == at->equals) {
		size_t key_end = to->len;
		tr_buffer_put_literal(to, "\":\"");
		at->p = tr_strace_spell(at->p + 1, end, to);
		return key_end;
	}
	/* with -xx it is an escape like all others, and only now a sign of its own */
	const char *sign = !to->failed && to->len > name + 1
				   ? memchr(to->data + name + 1, '=', to->len - name - 1)
				   : NULL;
	if (!sign) {
		tr_buffer_put_literal(to, "\":\"");
		exec->flags |= TR_STRACE_FLAG_ENV_NO_VALUE;
		return to->len - 3;
	}
	size_t value = (size_t)(sign - to->data) + 1, length = to->len - value;
	if (!tr_buffer_room(to, 2))
		return name;
	memmove(to->data + value + 2, to->data + value, length);
	memcpy(to->data + value - 1, "\":\"", 3);
	to->len += 2;
	return value - 1;
}

/* Spelled as the stream has it; what takes more than a look is not worth it for a guess. */
static void keep_pwd(struct tr_text spelling, struct tr_strace_exec *exec)
{
	if (spelling.len <= 4 * TR_DIRECTORY_MAX && !memmem(spelling.data, spelling.len, "\\u", 2))
		tr_strace_bytes(spelling, &exec->pwd);
}

/* One variable of the map that begins at offset `map`. */
static void put_variable(struct cursor *at, struct tr_strace_exec *exec, size_t map)
{
	struct tr_buffer *to = at->to;
	size_t begin = to->len;
	bool cut;

	if (begin > map)
		tr_buffer_put_byte(to, ',');
	size_t name = to->len + 1;
	tr_buffer_put_byte(to, '"');
	size_t name_end = put_member(at, exec);
	tr_buffer_put_byte(to, '"');
	if (at->p == at->end) {
		exec->flags |= TR_STRACE_FLAG_CUT;
		cut = true;
	} else {
		at->p++;
		skip_dots(at, exec, &cut);
	}
	if (cut)
		tr_buffer_put_literal(to, "...");
	if (to->failed)
		return;
	const char *quote = to->data + name_end;
	struct tr_text key = tr_text_span(to->data + name, quote);
	switch (tr_strace_names_add(&exec->names, to->data + map, key)) {
	case TR_STRACE_NAME_NEW:
		if (tr_text_is(key, "PWD") && !cut)
			keep_pwd(tr_text_span(quote + 3, to->data + to->len - 1), exec);
		break;
	case TR_STRACE_NAME_KNOWN: /* getenv finds the first */
		to->len = begin;
		exec->flags |= TR_STRACE_FLAG_ENV_REPEATED;
		break;
	case TR_STRACE_NAME_MEMORY:
		to->failed = true;
		break;
	}
}

static void put_env(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_buffer *to = at->to;
	bool cut;

	if (at->p == at->end || *at->p != '[') {
		struct tr_text item = take_item(at);
		if (tr_text_is(item, "NULL"))
			tr_buffer_put_literal(to, "\tenv={}");
		else
			exec->flags |= TR_STRACE_FLAG_ENV_UNKNOWN;
		return;
	}
	tr_buffer_put_literal(to, "\tenv={");
	size_t map = to->len;
	tr_strace_names_reset(&exec->names);
	for (at->p++; !at_list_end(at, exec, &cut);) {
		const char *before = at->p;
		if (*at->p == '"') {
			put_variable(at, exec, map);
		} else {
			at->p = tr_strace_item_end(at->p, at->end);
			exec->flags |= TR_STRACE_FLAG_CUT;
		}
		skip_comma(at);
		if (at->p == before) {
			exec->flags |= TR_STRACE_FLAG_CUT;
			at->p = at->end;
			break;
		}
	}
	tr_buffer_put_byte(to, '}');
	skip_comma(at);
}

static bool put_path(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_text item = take_item(at), body;
	bool cut;

	if (!tr_strace_is_string(item, &body, &cut))
		return false;
	tr_strace_bytes(body, &exec->path);
	bool absolute = exec->path.len && *exec->path.data == '/';
	exec->named = !cut && (absolute || exec->path.len <= TR_DIRECTORY_MAX);
	exec->spelled = exec->named && absolute;
	if (exec->spelled)
		tr_cell_escape(tr_buffer_text(&exec->path), false, at->to);
	if (cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
	return true;
}

bool tr_strace_exec_read(struct tr_text arguments, bool at_fd, struct tr_strace_exec *exec,
			 struct tr_buffer *to, size_t *gap)
{
	struct cursor at = { to, arguments.data, arguments.data + arguments.len, arguments.data };

	tr_buffer_reset(&exec->path);
	tr_buffer_reset(&exec->pwd);
	exec->fd = at_fd ? take_item(&at) : (struct tr_text){ NULL, 0 };
	exec->named = exec->spelled = false;
	exec->flags = 0;
	bool whole = put_path(&at, exec);
	*gap = to->len;
	put_argv(&at, exec);
	put_env(&at, exec);
	to->failed |= exec->path.failed || exec->pwd.failed;
	return whole;
}

void tr_strace_exec_free(struct tr_strace_exec *exec)
{
	tr_buffer_free(&exec->path);
	tr_buffer_free(&exec->pwd);
	tr_strace_names_free(&exec->names);
}
