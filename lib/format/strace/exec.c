/* SPDX-License-Identifier: MIT */
/*
 * The arguments of execve and execveat: file, argument list, environment. They are read apart from
 * those of other calls, because most bytes of a log of a build are here, and because the
 * environment becomes a map.
 *
 *	put_path	the name of the record, or bytes that pending.c makes absolute
 *	put_list	argv as a list, env as a map; put_plain copies most strings
 *	put_environment	env, from one that was printed alike a short time ago if there is one
 *	reader->exec	what pending.c needs to complete the record: the gap, PWD, flags
 *
 * An environment may have a name twice, and a map must not. getenv() finds the first one, so that
 * one is kept, and the record is flagged. The names that were seen are a hash table of offsets.
 */
#include "format/strace/strace.h"

#include <stdlib.h>

#include "core/map.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/value.h"

/*
 * Names of an environment: a set of offsets, emptied for each one. FIRST: slots at first; KEPT: a
 * larger table is freed after its record.
 */

enum { FIRST = 256, KEPT = 4096 };

/* Also empties the set, which can be used again. */
static void free_names(struct tr_strace_names *names)
{
	free(names->slots);
	*names = (struct tr_strace_names){ 0 };
}

/* Empties the set for the next environment. */
static void reset_names(struct tr_strace_names *names)
{
	names->count = 0;
	if (names->cap > KEPT)
		free_names(names);
	else if (names->cap)
		memset(names->slots, 0, names->cap * sizeof *names->slots);
}

/* The slot of the name, or the free one in which it belongs. */
static uint32_t *find(const struct tr_strace_names *names, const char *base, struct tr_text name)
{
	/*
	 * an address as the seed, which no input can know: else a log could have names that collide
	 */
	for (size_t i = tr_text_hash((uintptr_t)names, name);; i++) {
		uint32_t *slot = &names->slots[i & (names->cap - 1)];
		const char *known = base + *slot;
		/* known names come first and end in a quote, so nothing beyond name is read */
		if (!*slot || (memcmp(known, name.data, name.len) == 0 && known[name.len] == '"'))
			return slot;
	}
}

/*
 * Doubles the table. The hashes are not stored, so the names, all of which end before `end`, are
 * read again. False: memory is exhausted.
 */
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

/*
 * Adds a name in the text that begins at base, which may move between calls, but not change. False:
 * the text has it already. If memory is exhausted, *failed is set.
 */
static bool add_name(struct tr_strace_names *names, const char *base, struct tr_text name,
		     bool *failed)
{
	if (names->count >= names->cap / 2 && !grow(names, base, name.data)) {
		*failed = true;
		return true;
	}
	uint32_t *slot = find(names, base, name);
	if (*slot)
		return false;
	if ((uint64_t)(name.data - base) <= UINT32_MAX) { /* later ones are not looked for */
		*slot = (uint32_t)(name.data - base);
		names->count++;
	}
	return true;
}

/* The lists. */

/* A position in the arguments, and the record that they are put into. */
struct cursor {
	struct tr_buffer *to;
	const char *p, *end;
};

/* Skips ", ". */
static void skip_comma(struct cursor *at)
{
	at->p = tr_strace_skip(at->p, at->end);
	if (at->p < at->end && *at->p == ',')
		at->p = tr_strace_skip(at->p + 1, at->end);
}

/* Takes one argument and the comma after it. */
static struct tr_text take_item(struct cursor *at)
{
	const char *begin = at->p;

	at->p = tr_strace_item_end(begin, at->end);
	struct tr_text item = tr_text_span(begin, at->p);
	skip_comma(at);
	return item;
}

/* Skips "..." after a string or before a bracket. True: strace left out a part. */
static bool skip_dots(struct cursor *at, struct tr_strace_exec *exec)
{
	bool cut =
		at->p < at->end && *at->p == '.' && tr_strace_take(&at->p, at->end, TR_TEXT("..."));

	if (cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
	return cut;
}

/* Ends a string, whose closing quote is at the cursor. True: a part of it is missing. */
static bool end_string(struct cursor *at, struct tr_strace_exec *exec)
{
	bool cut = at->p == at->end;

	tr_buffer_put_byte(at->to, '"');
	if (cut) { /* the line was cut */
		exec->flags |= TR_STRACE_FLAG_CUT;
	} else {
		at->p++;
		cut = skip_dots(at, exec);
	}
	if (cut)
		tr_buffer_put_literal(at->to, "...");
	return cut;
}

/* True if the cursor is at the end of a list, which it then skips. *cut: a part is missing. */
static bool at_list_end(struct cursor *at, struct tr_strace_exec *exec, bool *cut)
{
	if (at->p < at->end && *at->p == '"')
		return false;
	bool dots = skip_dots(at, exec);
	at->p = tr_strace_skip(at->p, at->end);
	if (at->p < at->end && *at->p != ']')
		return false;
	*cut = dots || at->p == at->end;
	if (at->p == at->end)
		exec->flags |= TR_STRACE_FLAG_CUT;
	else
		at->p++;
	return true;
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

/* A variable in the record: offsets. `begin` is before the comma that separates it from others. */
struct variable {
	size_t begin, name, name_end, value, end;
	bool cut;
};

/* Removes the variable if the map, which begins at offset `map`, already has its name. */
static void end_variable(struct tr_buffer *to, struct tr_strace_exec *exec, size_t map,
			 const struct variable *variable)
{
	struct tr_text name =
		tr_text_span(to->data + variable->name, to->data + variable->name_end);

	if (!add_name(&exec->names, to->data + map, name, &to->failed)) {
		to->len = variable->begin; /* getenv finds the first one */
		exec->flags |= TR_STRACE_FLAG_ENV_REPEATED;
	} else if (tr_text_is(name, "PWD") && !variable->cut) {
		keep_pwd(tr_text_span(to->data + variable->value, to->data + variable->end), exec);
	}
}

/*
 * Puts the string at the cursor, in a list that begins at offset `list`, if it is spelled as in the
 * stream, as most are. False: it is not, or it is cut, or it is not a NAME=VALUE in an environment.
 */
static bool put_plain(struct cursor *at, struct tr_strace_exec *exec, bool env, size_t list)
{
	enum { SEPARATORS = 7 };
	struct tr_buffer *to = at->to;
	const char *begin = at->p + 1, *close = tr_string_special(begin, at->end), *equals = close;

	if (at->end - close < 2 || *close != '"' || (close[1] != ',' && close[1] != ']'))
		return false;
	if (env)
		equals = close > begin ? memchr(begin + 1, '=', (size_t)(close - begin - 1)) : NULL;
	char *p = equals ? tr_buffer_room(to, (size_t)(close - begin) + SEPARATORS) : NULL;
	if (!p)
		return false;
	struct variable variable = { .begin = to->len };
	if (to->len > list)
		*p++ = ',';
	*p++ = '"';
	variable.name = (size_t)(p - to->data);
	p = mempcpy(p, begin, (size_t)(equals - begin));
	variable.name_end = (size_t)(p - to->data);
	if (env) {
		p = mempcpy(p, "\":\"", 3);
		variable.value = (size_t)(p - to->data);
		p = mempcpy(p, equals + 1, (size_t)(close - equals - 1));
		variable.end = (size_t)(p - to->data);
	}
	*p++ = '"';
	to->len = (size_t)(p - to->data);
	at->p = close + 1;
	if (env)
		end_variable(to, exec, list, &variable);
	return true;
}

/*
 * Puts a variable with escapes, without a value, or that is cut. The first byte belongs to the name
 * even if it is a sign: "=C:=..." exists.
 */
static void put_variable(struct cursor *at, struct tr_strace_exec *exec, size_t map)
{
	struct tr_buffer *to = at->to;
	struct variable variable = { .begin = to->len };
	const char *begin = ++at->p, *close = tr_strace_string_end(begin, at->end);
	const char *end = close ? close - 1 : at->end;
	const char *equals = end > begin ? memchr(begin + 1, '=', (size_t)(end - begin - 1)) : NULL;

	tr_buffer_put_text(to, to->len > map ? TR_TEXT(",\"") : TR_TEXT("\""));
	variable.name = to->len;
	tr_strace_spell(begin, equals ? equals : end, to);
	variable.name_end = to->len;
	/* with -xx the sign is an escape as well, and decoded only now */
	size_t length = to->len - variable.name;
	const char *sign = !equals && !to->failed && length > 1
				   ? memchr(to->data + variable.name + 1, '=', length - 1)
				   : NULL;
	if (sign) {
		variable.name_end = (size_t)(sign - to->data);
		if (tr_buffer_insert(to, variable.name_end, 2))
			memcpy(to->data + variable.name_end, "\":\"", 3);
	} else {
		tr_buffer_put_literal(to, "\":\"");
		if (equals)
			tr_strace_spell(equals + 1, end, to);
		else
			exec->flags |= TR_STRACE_FLAG_ENV_NO_VALUE;
	}
	variable.value = variable.name_end + 3;
	variable.end = to->len;
	at->p = end;
	variable.cut = end_string(at, exec);
	if (!to->failed)
		end_variable(to, exec, map, &variable);
}

/* Puts the argument list, or the environment as a map. */
static void put_list(struct cursor *at, struct tr_strace_exec *exec, bool env)
{
	struct tr_buffer *to = at->to;
	bool cut = false;

	if (at->p == at->end || *at->p != '[') { /* an address: strace was not asked for the list */
		bool missing = at->p == at->end;
		struct tr_text item = take_item(at);
		if (tr_text_is(item, "NULL"))
			tr_buffer_put_text(to, env ? TR_TEXT("\tenv={}") : TR_TEXT("\targv=[]"));
		else if (env)
			exec->flags |= TR_STRACE_FLAG_ENV_UNKNOWN;
		else if (!missing)
			exec->flags |= TR_STRACE_FLAG_CUT;
		return;
	}
	tr_buffer_put_text(to, env ? TR_TEXT("\tenv={") : TR_TEXT("\targv=["));
	size_t first = to->len;
	if (env)
		reset_names(&exec->names);
	for (at->p++; !at_list_end(at, exec, &cut);) {
		const char *before = at->p;
		if (*at->p == '"' && put_plain(at, exec, env, first)) {
			skip_comma(at);
			continue;
		}
		if (*at->p == '"' && env) {
			put_variable(at, exec, first);
		} else if (env) {
			at->p = tr_strace_item_end(at->p, at->end);
			exec->flags |= TR_STRACE_FLAG_CUT;
		} else {
			if (to->len > first)
				tr_buffer_put_byte(to, ',');
			if (*at->p == '"') {
				tr_buffer_put_byte(to, '"');
				at->p = tr_strace_spell(at->p + 1, at->end, to);
				end_string(at, exec);
			} else { /* the address of a string that strace could not read */
				at->p = tr_strace_item_end(before, at->end);
				tr_strace_value(tr_text_span(before, at->p), to, NULL);
			}
		}
		skip_comma(at);
		if (at->p == before) { /* a closing bracket of another kind */
			exec->flags |= TR_STRACE_FLAG_CUT;
			cut = true;
			at->p = at->end;
			break;
		}
	}
	tr_buffer_put_byte(to, env ? '}' : ']');
	if (cut && !env)
		tr_buffer_put_literal(to, "...");
	skip_comma(at);
}

/* Puts an environment that was printed in the same way a short time ago. False: none was. */
static bool put_recent(struct cursor *at, struct tr_strace_exec *exec)
{
	const struct tr_text printed = tr_text_span(at->p, at->end);

	for (unsigned i = 0; i < TR_STRACE_ENVIRONMENTS; i++) {
		const struct tr_strace_environment *known = &exec->recent[i];
		if (!printed.len || !tr_text_equal(tr_buffer_text(&known->printed), printed))
			continue;
		tr_buffer_put_text(at->to, tr_buffer_text(&known->field));
		tr_buffer_put_text(&exec->pwd, tr_buffer_text(&known->pwd));
		exec->flags |= known->flags;
		at->p = at->end;
		return true;
	}
	return false;
}

/* Puts the environment, which is the rest of the arguments. Most programs inherit theirs. */
static void put_environment(struct cursor *at, struct tr_strace_exec *exec)
{
	enum { LONGEST = 64 << 10 }; /* that is kept */
	struct tr_strace_environment *known = &exec->recent[exec->oldest];
	const struct tr_text printed = tr_text_span(at->p, at->end);
	const size_t begin = at->to->len;
	const unsigned flags = exec->flags;

	if (put_recent(at, exec))
		return;
	exec->flags = 0;
	put_list(at, exec, true);
	tr_buffer_reset(&known->printed);
	tr_buffer_reset(&known->field);
	tr_buffer_reset(&known->pwd);
	if (printed.len <= LONGEST && at->to->len - begin <= LONGEST && !at->to->failed) {
		tr_buffer_put_text(&known->pwd, tr_buffer_text(&exec->pwd));
		tr_buffer_put(&known->field, at->to->data + begin, at->to->len - begin);
		if (!known->pwd.failed && !known->field.failed)
			tr_buffer_put_text(&known->printed, printed);
		known->flags = exec->flags;
		exec->oldest = (exec->oldest + 1) % TR_STRACE_ENVIRONMENTS;
	}
	exec->flags |= flags;
}

/*
 * Puts the path of the file as the name of the record. A relative one needs the directory, which
 * may not be known yet: then its bytes are kept, and pending.c puts it. A path that strace cut is
 * unknown, and so is one that is not a string: an address, or a string with a context after it.
 */
static void put_path(struct cursor *at, struct tr_strace_exec *exec)
{
	struct tr_text item = take_item(at), body;
	bool cut;

	if (!tr_strace_is_string(item, &body, &cut)) {
		if (item.len && !tr_text_is(item, "NULL"))
			exec->flags |= TR_STRACE_FLAG_CUT;
		return;
	}
	tr_strace_bytes(body, &exec->path);
	bool absolute = exec->path.len && *exec->path.data == '/';
	exec->named = !cut && (absolute || exec->path.len <= TR_DIRECTORY_MAX);
	exec->spelled = exec->named && absolute;
	if (exec->spelled)
		tr_cell_escape(tr_buffer_text(&exec->path), false, at->to);
	if (cut)
		exec->flags |= TR_STRACE_FLAG_CUT;
}

/*
 * The path of execveat starts at its descriptor. If the call began in a thread, that is the
 * directory that was kept then (seen_from); the descriptors may have changed since.
 */
void tr_strace_put_exec(struct tr_strace_reader *reader, struct tr_task *task,
			const struct tr_strace_done *call, bool failed)
{
	struct tr_strace_exec *exec = &reader->exec;
	struct tr_buffer *to = &reader->out.head;
	const char *arguments = call->arguments.data;
	struct cursor at = { to, arguments, arguments + call->arguments.len };
	struct tr_directory *seen_from;
	struct tr_text fd;

	tr_strace_begin(reader, "exec", call->from, task);
	tr_buffer_reset(&exec->path);
	tr_buffer_reset(&exec->pwd);
	exec->named = exec->spelled = false;
	exec->flags = call->flags;
	bool at_fd = call->syscall->effect == TR_STRACE_EXECVEAT;
	if (at_fd)
		fd = take_item(&at);
	put_path(&at, exec);
	exec->gap = to->len;
	put_list(&at, exec, false);
	if (at_fd) /* flags follow */
		put_list(&at, exec, true);
	else
		put_environment(&at, exec);
	to->failed |= exec->path.failed || exec->pwd.failed;
	if (at_fd) {
		const struct tr_strace_call *begun = task->state;
		bool absolute = exec->path.len && *exec->path.data == '/';
		seen_from = begun && begun->seen_from ? tr_directory_retain(begun->seen_from)
						      : tr_strace_descriptor(reader, task, fd);
		if (!seen_from && !absolute)
			exec->flags |= TR_STRACE_FLAG_FD_UNKNOWN;
		exec->named &= seen_from || exec->path.len;
	} else {
		seen_from = tr_directory_retain(task->place->directory);
	}
	if (failed) {
		tr_buffer_put_literal(to, "\terror=");
		tr_strace_value(call->result->error, to, NULL);
	}
	tr_strace_put_frames(reader, call);
	tr_strace_emit_exec(reader, task, seen_from);
	tr_directory_release(seen_from);
}

void tr_strace_exec_free(struct tr_strace_exec *exec)
{
	tr_buffer_free(&exec->path);
	tr_buffer_free(&exec->pwd);
	free_names(&exec->names);
	for (unsigned i = 0; i < TR_STRACE_ENVIRONMENTS; i++) {
		tr_buffer_free(&exec->recent[i].printed);
		tr_buffer_free(&exec->recent[i].field);
		tr_buffer_free(&exec->recent[i].pwd);
	}
}
