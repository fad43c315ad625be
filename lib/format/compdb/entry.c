/* SPDX-License-Identifier: MIT */
/*
 * Entries of a compilation database: the settings, which decide whether an entry is written, the
 * form of its paths, its JSON, and the hashes by which entries are compared.
 */
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/map.h"
#include "format/compdb/compdb.h"
#include "process/path.h"
#include "record/json.h"

/* Appends a key and a string. */
static void put_member(struct tr_buffer *to, const char *key, struct tr_text bytes)
{
	tr_buffer_put_literal(to, "    \"");
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_literal(to, "\": ");
	tr_json_string_from_wtf8(bytes, to);
}

/* Appends the command line, one word a line. */
static void put_arguments(struct tr_buffer *to, const struct tr_compdb_entry *entry)
{
	tr_buffer_put_literal(to, "    \"arguments\": [");
	for (size_t i = 0; i < entry->argc; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_literal(to, "\n      ");
		tr_json_string_from_wtf8(entry->argv[i], to);
	}
	if (entry->argc)
		tr_buffer_put_literal(to, "\n    ]");
	else
		tr_buffer_put_byte(to, ']');
}

/* Appends the command line as one text for a shell. */
static void put_command(struct tr_buffer *to, const struct tr_compdb_entry *entry)
{
	struct tr_buffer line = TR_BUFFER_INIT;

	for (size_t i = 0; i < entry->argc; i++) {
		if (i)
			tr_buffer_put_byte(&line, ' ');
		tr_shell_quote(entry->argv[i], &line);
	}
	put_member(to, "command", tr_buffer_text(&line));
	to->failed |= line.failed;
	tr_buffer_free(&line);
}

/*
 * Appends an entry in the layout of Bear, so that diff(1) shows only real differences. Entries of
 * Windows always have arguments, because consumers do not split a command there as a shell does.
 */
static void put_json(struct tr_buffer *to, const struct tr_compdb_entry *entry,
		     const struct tr_compdb_style *style)
{
	tr_buffer_put_literal(to, "  {\n");
	if (style->as_command && !tr_path_has_drive(entry->directory))
		put_command(to, entry);
	else
		put_arguments(to, entry);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "directory", entry->directory);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "file", entry->file);
	if (entry->output.data && !style->without_output) {
		tr_buffer_put_literal(to, ",\n");
		put_member(to, "output", entry->output);
	}
	if (entry->extra.data) {
		tr_buffer_put_literal(to, ",\n    ");
		tr_buffer_put_text(to, entry->extra);
	}
	tr_buffer_put_literal(to, "\n  }");
}

enum { PATH_ROOM = 512 }; /* bytes on the stack for paths and keys; longer ones are allocated */

/* Hashes a text. Bit 0 of the second half is set, so that it is a value in a map. */
static struct tr_compdb_hash hash_of(const struct tr_compdb_style *style, struct tr_text text)
{
	return (struct tr_compdb_hash){ tr_text_hash(style->seeds[0], text),
					tr_text_hash(style->seeds[1], text) | 1 };
}

/*
 * Sets the hashes by which entries are compared. Paths are absolute in them, so that entries with
 * different directories can be of the same file. False: memory is exhausted.
 */
static bool put_key(const struct tr_compdb_entry *entry, const struct tr_compdb_style *style,
		    struct tr_text json, struct tr_compdb_head *head)
{
	enum tr_compdb_unique unique = style->unique;
	char memory[PATH_ROOM];
	struct tr_buffer text = tr_buffer_over(memory, sizeof memory);
	struct tr_text output = entry->output.data ? entry->output : entry->implied;

	tr_path_join(entry->directory, entry->file, &text);
	head->file = hash_of(style, tr_buffer_text(&text));
	size_t file = text.len;
	tr_buffer_put_byte(&text, '\0');
	if (output.data)
		tr_path_join(entry->directory, output, &text);
	if (style->appends)
		head->made = hash_of(style, tr_buffer_text(&text));
	/* without an output, only the whole command distinguishes two entries */
	if (unique == TR_COMPDB_UNIQUE_FILE_OUTPUT && !output.data)
		tr_buffer_put_text(&text, json);
	else if (unique != TR_COMPDB_UNIQUE_FILE_OUTPUT && !text.failed)
		text.len = file;
	if (unique == TR_COMPDB_UNIQUE_ALL)
		tr_buffer_put_text(&text, json);
	head->key = hash_of(style, tr_buffer_text(&text));
	bool done = !text.failed;
	tr_buffer_free(&text);
	return done;
}

/* Copies the values of all settings with that key. False: memory is exhausted. */
static bool get_globs(const struct tr_settings *settings, const char *key,
		      struct tr_compdb_globs *globs)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct tr_text value = settings->list[i].value;
		if (!tr_text_is(settings->list[i].key, key))
			continue;
		if (!tr_array_room(globs->list, globs->count, globs->cap) ||
		    !(globs->list[globs->count] = strndup(value.data, value.len)))
			return false;
		globs->count++;
	}
	return true;
}

static void free_globs(struct tr_compdb_globs *globs)
{
	while (globs->count)
		free(globs->list[--globs->count]);
	free(globs->list);
}

/* The index of the value of a setting in a list of words; 0 if it is not in the list, or unset. */
static unsigned choice(const struct tr_settings *settings, const char *key,
		       const char *const *words)
{
	struct tr_text value = tr_setting_get(settings, key, "");

	for (unsigned i = 0; words[i]; i++)
		if (tr_text_is(value, words[i]))
			return i;
	return 0;
}

bool tr_compdb_style_read(const struct tr_settings *settings, struct tr_compdb_style *style,
			  struct tr_error *err)
{
	static const char *const uniques[] = { "file+output", "file", "all", "none", NULL };
	static const char *const paths[] = {
		"", "absolute", "relative", "canonical", "as-is", NULL
	};
	static const char *const forms[] = { "arguments", "command", NULL };
	static const char *const outputs[] = { "yes", "no", NULL };
	static const char *const existing[] = { "no", "yes", NULL };
	static const char *const consumers[] = { "any", "clangd", NULL };

	for (size_t i = 0; i < sizeof style->seeds / sizeof *style->seeds; i++)
		style->seeds[i] = tr_hash_seed(style + i);
	style->unique = (enum tr_compdb_unique)choice(settings, "unique", uniques);
	style->paths = (enum tr_compdb_paths)choice(settings, "paths", paths);
	style->as_command = choice(settings, "form", forms);
	style->without_output = choice(settings, "output", outputs);
	style->existing = choice(settings, "existing", existing);
	style->for_clang = choice(settings, "for", consumers);
	if (get_globs(settings, "include", &style->include) &&
	    get_globs(settings, "exclude", &style->exclude))
		return true;
	tr_error_memory(err);
	return false;
}

void tr_compdb_style_free(struct tr_compdb_style *style)
{
	free_globs(&style->include);
	free_globs(&style->exclude);
}

static bool matches(const struct tr_compdb_globs *globs, const char *path)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->list[i], path, 0) == 0)
			return true;
	return false;
}

/* True if the settings leave the entry out. */
static bool is_left_out(const struct tr_compdb_entry *entry, struct tr_compdb_style *style,
			bool *failed)
{
	struct tr_buffer path = TR_BUFFER_INIT;
	struct stat st;

	if (!style->existing && !style->include.count && !style->exclude.count)
		return false;
	tr_path_join(entry->directory, entry->file, &path);
	tr_buffer_put_byte(&path, '\0');
	*failed = path.failed;
	bool out = path.failed || (style->include.count && !matches(&style->include, path.data)) ||
		   matches(&style->exclude, path.data) ||
		   (style->existing && stat(path.data, &st) != 0);
	tr_buffer_free(&path);
	style->left_out += out;
	return out;
}

/*
 * Resolves the links in an absolute path, after which there is a NUL. Trailing components that do
 * not exist stay. exact: the path with its "..", because "a/.." leads elsewhere if a is a link.
 */
static void resolve_links(struct tr_buffer *path, const char *exact)
{
	struct tr_buffer whole = TR_BUFFER_INIT;
	char resolved[PATH_MAX];
	size_t end = path->len;

	if (realpath(exact, resolved)) {
		path->len = 0;
		tr_buffer_put_text(path, tr_text_from(resolved));
		return;
	}
	for (; end > 0; end--) {
		char next = path->data[end];
		if (next && next != '/')
			continue;
		path->data[end] = '\0';
		bool found = realpath(path->data, resolved) != NULL;
		path->data[end] = next;
		if (found)
			break;
	}
	if (end == 0)
		return;
	size_t rest = end + (end < path->len); /* skips the slash */
	tr_path_join(tr_text_from(resolved),
		     (struct tr_text){ path->data + rest, path->len - rest }, &whole);
	path->len = 0;
	tr_buffer_put_text(path, tr_buffer_text(&whole));
	path->failed |= whole.failed;
	tr_buffer_free(&whole);
}

/* True for an absolute path of POSIX. */
static bool is_absolute(struct tr_text path)
{
	return path.len && *path.data == '/';
}

/* Resolves the links in `whole`, which is `path` joined with its directory `from`. */
static void make_canonical(struct tr_text path, struct tr_text from, struct tr_buffer *whole)
{
	struct tr_buffer exact = TR_BUFFER_INIT;

	/* a path of Windows, or with a NUL, stays */
	if (!is_absolute(tr_buffer_text(whole)) || memchr(whole->data, '\0', whole->len))
		return;
	if (!is_absolute(path)) {
		tr_buffer_put_text(&exact, from);
		tr_buffer_put_byte(&exact, '/');
	}
	tr_buffer_put_text(&exact, path);
	tr_buffer_put_byte(&exact, '\0');
	tr_buffer_put_byte(whole, '\0');
	whole->len -= !whole->failed;
	whole->failed |= exact.failed;
	if (!whole->failed)
		resolve_links(whole, exact.data);
	tr_buffer_free(&exact);
}

/* Makes an absolute path relative to an absolute directory; both have no "." and "..". */
static void make_relative(struct tr_text directory, struct tr_buffer *path)
{
	struct tr_buffer up = TR_BUFFER_INIT;
	size_t shared = 0;

	if (directory.len == 1)
		directory.len = 0; /* the root: every path begins with its slash */
	for (size_t i = 0; i <= directory.len && i <= path->len; i++) {
		char ours = i < directory.len ? directory.data[i] : '/';
		char theirs = i < path->len ? path->data[i] : '/';
		if (ours != theirs)
			break;
		if (ours == '/')
			shared = i + (i < path->len);
	}
	for (size_t i = shared; i < directory.len; i++)
		if (i == shared || directory.data[i] == '/')
			tr_buffer_put_literal(&up, "../");
	tr_buffer_put(&up, path->data + shared, path->len - shared);
	if (!up.len)
		tr_buffer_put_byte(&up, '.');
	path->len = 0;
	tr_buffer_put_text(path, tr_buffer_text(&up));
	path->failed |= up.failed;
	tr_buffer_free(&up);
}

/*
 * Returns the path in the form of the settings, in the arena. from: the directory of the entry;
 * data NULL if the path is that directory. Returns data NULL if there is no path or memory is
 * exhausted.
 */
static struct tr_text convert(struct tr_text path, struct tr_text from, enum tr_compdb_paths paths,
			      struct tr_arena *arena)
{
	char memory[PATH_ROOM];
	struct tr_buffer whole = tr_buffer_over(memory, sizeof memory);
	bool directory = !from.data;

	if (!path.data || paths == TR_COMPDB_PATHS_AS_IS ||
	    (directory && paths != TR_COMPDB_PATHS_CANONICAL))
		return path;
	if (directory)
		from = TR_TEXT("");
	tr_path_join(from, path, &whole);
	if (paths == TR_COMPDB_PATHS_CANONICAL)
		make_canonical(path, from, &whole);
	if (paths == TR_COMPDB_PATHS_RELATIVE && is_absolute(from) &&
	    is_absolute(tr_buffer_text(&whole))) {
		struct tr_buffer base = TR_BUFFER_INIT;
		tr_path_join(TR_TEXT(""), from, &base);
		make_relative(tr_buffer_text(&base), &whole);
		whole.failed |= base.failed;
		tr_buffer_free(&base);
	}
	path = tr_arena_copy(arena, tr_buffer_text(&whole));
	if (whole.failed)
		path.data = NULL;
	tr_buffer_free(&whole);
	return path;
}

/* Gives the paths of an entry the form of the settings. False: memory is exhausted. */
static bool convert_paths(struct tr_compdb_entry *entry, const struct tr_compdb_style *style,
			  struct tr_arena *arena)
{
	enum tr_compdb_paths paths = style->paths;
	bool has_output = entry->output.data;

	if (paths == TR_COMPDB_PATHS_DEFAULT)
		paths = entry->made ? TR_COMPDB_PATHS_ABSOLUTE : TR_COMPDB_PATHS_AS_IS;
	entry->directory = convert(entry->directory, (struct tr_text){ NULL, 0 }, paths, arena);
	if (!entry->directory.data)
		return false;
	entry->file = convert(entry->file, entry->directory, paths, arena);
	entry->output = convert(entry->output, entry->directory, paths, arena);
	return entry->file.data && (!has_output || entry->output.data);
}

bool tr_compdb_entry_append(const struct tr_compdb_entry *given, struct tr_compdb_style *style,
			    bool fallback, struct tr_arena *arena, struct tr_buffer *to)
{
	struct tr_compdb_head head = { .fallback = fallback };
	struct tr_compdb_entry own = *given, *entry = &own;
	size_t begin = to->len;
	bool failed = false;

	if (!convert_paths(entry, style, arena))
		return false;
	if (is_left_out(entry, style, &failed))
		return !failed;
	tr_buffer_put(to, (const char *)&head, sizeof head);
	size_t text = to->len;
	put_json(to, entry, style);
	if (to->failed)
		return false;
	struct tr_text json = { to->data + text, to->len - text };
	head.len = json.len;
	if (!put_key(entry, style, json, &head))
		return false;
	memcpy(to->data + begin, &head, sizeof head);
	return true;
}
