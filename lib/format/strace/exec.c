/* SPDX-License-Identifier: MIT */
/* The arguments of execve and execveat: file, argument list, environment. */
#include "format/strace/strace.h"

#include <stdlib.h>

#include "record/literal.h"
#include "record/value.h"

/* Names of an environment: a set of offsets, emptied for each one. */

enum { FIRST = 256, KEPT = 4096 };

enum name_status { NAME_NEW, NAME_KNOWN, NAME_MEMORY };

static void free_names(struct tr_strace_names *names)
{
	free(names->slots);
	*names = (struct tr_strace_names){ 0 };
}

static void reset_names(struct tr_strace_names *names)
{
	names->count = 0;
	if (names->cap > KEPT)
		free_names(names);
	else if (names->cap)
		memset(names->slots, 0, names->cap * sizeof *names->slots);
}

/* The seed is an address, which no input can know. */
static uint64_t hash_name(const struct tr_strace_names *names, struct tr_text name)
{
	const uint64_t factor = UINT64_C(0x9fb21c651e98df25);
	uint64_t hash = (uint64_t)(uintptr_t)names ^ name.len * factor;
	const char *p = name.data;
	size_t left = name.len;

	for (; left >= sizeof hash; left -= sizeof hash, p += sizeof hash) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32 ^ (uint64_t)(uintptr_t)names;
	}
	uint64_t tail = 0;
	memcpy(&tail, p, left);
	hash = (hash ^ tail) * factor;
	return hash ^ hash >> 32;
}

/* The slot of the name, or the free one in which it belongs. */
static uint32_t *find(const struct tr_strace_names *names, const char *base, struct tr_text name)
{
	for (size_t i = (size_t)hash_name(names, name);; i++) {
		uint32_t *slot = &names->slots[i & (names->cap - 1)];
		const char *known = base + *slot;
		/* known names come first and end in a quote, so nothing beyond name is read */
		if (!*slot || (memcmp(known, name.data, name.len) == 0 && known[name.len] == '"'))
			return slot;
	}
}

/* Doubles the table. The names, all of which end before `end`, are read again. */
static bool grow(struct tr_strace_names *names, const char *base, const char *end)
{
	uint32_t *old = names->slots;
	size_t old_cap = names->cap, cap = old_cap ? old_cap * 2 : FIRST;
	uint32_t *slots = calloc(cap, sizeof *slots);

	if (!slots)
		return false;
	names->slots = slots;
	names->cap = cap;
	for (size_t i = 0; i < old_cap; i++) {
		if (!old[i])
			continue;
		const char *name = base + old[i], *after = tr_strace_string_end(name, end);
		*find(names, base, tr_text_span(name, after - 1)) = old[i];
	}
	free(old);
	return true;
}

/* Adds a name in the text that begins at base, which may move between calls, but not change. */
static enum name_status add_name(struct tr_strace_names *names, const char *base,
				 struct tr_text name)
{
	if (names->count >= names->cap / 2 && !grow(names, base, name.data))
		return NAME_MEMORY;
	uint32_t *slot = find(names, base, name);
	if (*slot)
		return NAME_KNOWN;
	if (name.data - base <= UINT32_MAX) { /* later ones are not looked for */
		*slot = (uint32_t)(name.data - base);
		names->count++;
	}
	return NAME_NEW;
}

/* The lists. */

/* A position in the arguments, and the record that they are put into. */
struct cursor {
	struct tr_buffer *to;
	const char *p, *end;
	const char *equals; /* the first '=' from p on, end if there is none; or before p */
};

/* Skips ", ". */
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

/* Skips "..." after a string or before a bracket: a part was left out. */
static void skip_dots(struct cursor *at, struct tr_strace_exec *exec, bool *cut)
{
	*cut = at->p < at->end && *at->p == '.' && tr_strace_take(&at->p, at->end, TR_TEXT("..."));
	if (*cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
}

/* Puts the string at the cursor with its quotes. */
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

/* Puts an item that is no string: an address that strace could not read. */
static void put_other(struct cursor *at)
{
	const char *begin = at->p;
	bool cut = false;

	at->p = tr_strace_item_end(begin, at->end);
	tr_strace_value(tr_text_span(begin, at->p), at->to, &cut);
}

/* Whether the cursor is at the end of a list, which it then skips. */
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
	if (*at->p != '[') { /* an address: strace was not asked for the list */
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
		if (at->p == before) { /* a closing bracket of another kind */
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
 * Puts "NAME=VALUE" at the cursor as a member of a map. The first byte belongs to the name even if
 * it is a sign: "=C:=..." exists. Returns the end of the name.
 */
static size_t put_member(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_buffer *to = at->to;
	const char *begin = ++at->p, *end = at->end;
	size_t name = to->len;

	/* searched once, however many strings have none */
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
	/* with -xx the sign is an escape as well, and decoded only now */
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

/*
 * Keeps PWD, which is only needed for a guess, unless its spelling takes more than one step to
 * decode.
 */
static void keep_pwd(struct tr_text spelling, struct tr_strace_exec *exec)
{
	if (spelling.len <= 4 * TR_DIRECTORY_MAX && !memmem(spelling.data, spelling.len, "\\u", 2))
		tr_strace_bytes(spelling, &exec->pwd);
}

/* Puts one variable of the map that begins at offset `map`. */
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
	switch (add_name(&exec->names, to->data + map, key)) {
	case NAME_NEW:
		if (tr_text_is(key, "PWD") && !cut)
			keep_pwd(tr_text_span(quote + 3, to->data + to->len - 1), exec);
		break;
	case NAME_KNOWN: /* getenv finds the first one */
		to->len = begin;
		exec->flags |= TR_STRACE_FLAG_ENV_REPEATED;
		break;
	case NAME_MEMORY:
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
	reset_names(&exec->names);
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

static void put_path(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_text item = take_item(at), body;
	bool cut;

	if (!tr_strace_is_string(item, &body, &cut))
		return;
	tr_strace_bytes(body, &exec->path);
	bool absolute = exec->path.len && *exec->path.data == '/';
	exec->named = !cut && (absolute || exec->path.len <= TR_DIRECTORY_MAX);
	exec->spelled = exec->named && absolute;
	if (exec->spelled)
		tr_cell_escape(tr_buffer_text(&exec->path), false, at->to);
	if (cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
}

void tr_strace_exec_read(struct tr_text arguments, bool at_fd, struct tr_strace_exec *exec,
			 struct tr_buffer *to)
{
	struct cursor at = { to, arguments.data, arguments.data + arguments.len, arguments.data };

	tr_buffer_reset(&exec->path);
	tr_buffer_reset(&exec->pwd);
	exec->fd = at_fd ? take_item(&at) : (struct tr_text){ NULL, 0 };
	exec->named = exec->spelled = false;
	exec->flags = 0;
	put_path(&at, exec);
	exec->gap = to->len;
	put_argv(&at, exec);
	put_env(&at, exec);
	to->failed |= exec->path.failed || exec->pwd.failed;
}

void tr_strace_exec_free(struct tr_strace_exec *exec)
{
	tr_buffer_free(&exec->path);
	tr_buffer_free(&exec->pwd);
	free_names(&exec->names);
}
