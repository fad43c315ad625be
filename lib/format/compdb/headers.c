/* SPDX-License-Identifier: MIT */
/*
 * Entries for headers, -O headers: each has the flags of a source that reads it.
 *
 *	call that has an entry -> seed: its command line with a gap where the source was
 *	all records ----------> lib/deps: which command read which file
 *	end of the segment ---> for each seed: the headers that were read together with its source
 *			     -> for each header: the best of its seeds, with the header in the gap
 *
 * The source is read by the compiler below the driver, or by a compiler cache that has a hit. Files
 * that other commands of the call read (specs, objects, the cache itself) are not headers.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/map.h"
#include "deps/tracker.h"
#include "format/compdb/compdb.h"
#include "process/path.h"

/* The number of commands between a compiler and its driver: wrappers of compilers and caches. */
enum { LEVELS = 64 };

/* Precedes the texts of a seed: the directory, the source, then the words of the command. */
struct seed {
	uint64_t seq; /* of the exec record */
	size_t words;
	size_t gap; /* the word that the header replaces */
	bool gnu;   /* the word before the gap is the value of -x */
};

/* Identifies a candidate: the bytes of this struct are its key in a map. */
struct key {
	const struct tr_deps_command *command;
	const struct tr_deps_path *source;
};

struct candidate {
	struct candidate *next;
	struct key keys[2]; /* with the source as it is spelled, and through links */
	struct seed seed;
	struct tr_text directory, source;
	const char *words;
	bool fallback;
	const struct tr_deps_command *command;
	struct tr_deps_path *spelled, *resolved; /* of the source */
	struct tr_deps_path *project;		 /* NULL: all headers have entries */
};

struct tr_compdb_headers {
	bool all;
	uint64_t calls, unknown; /* of earlier segments, as in the tracker */
	bool followed, reported;

	/* the segment */
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_arena arena;
	struct candidate *first, *last;
};

/* Empties the graph and the seeds. */
static void begin_segment(struct tr_compdb_headers *headers)
{
	headers->arena = (struct tr_arena)TR_ARENA_INIT;
	tr_deps_graph_init(&headers->graph);
	tr_deps_tracker_init(&headers->tracker, &headers->graph);
	headers->graph.details = true;
	headers->first = headers->last = NULL;
}

/* Frees the graph and the seeds. */
static void free_segment(struct tr_compdb_headers *headers)
{
	tr_deps_tracker_free(&headers->tracker);
	tr_deps_graph_free(&headers->graph);
	tr_arena_free(&headers->arena);
}

void tr_compdb_headers_free(struct tr_compdb_headers *headers)
{
	if (headers)
		free_segment(headers);
	free(headers);
}

struct tr_compdb_headers *tr_compdb_headers_new(bool all, struct tr_error *err)
{
	struct tr_compdb_headers *headers = calloc(1, sizeof *headers);

	if (!headers) {
		tr_error_memory(err);
		return NULL;
	}
	headers->all = all;
	begin_segment(headers);
	if (!headers->graph.failed)
		return headers;
	tr_compdb_headers_free(headers);
	tr_error_memory(err);
	return NULL;
}

/* Files that C, C++ and Objective-C include, and the languages of sources. */
static const struct {
	char extension[8];
	bool source;
	char language[16]; /* empty: that of the source that includes the file */
} kinds[] = {
	{ ".c", true, "c" },
	{ ".i", true, "c" },
	{ ".cc", true, "c++" },
	{ ".cp", true, "c++" },
	{ ".cxx", true, "c++" },
	{ ".cpp", true, "c++" },
	{ ".CPP", true, "c++" },
	{ ".c++", true, "c++" },
	{ ".C", true, "c++" },
	{ ".ii", true, "c++" },
	{ ".ixx", true, "c++" },
	{ ".ccm", true, "c++" },
	{ ".cppm", true, "c++" },
	{ ".m", true, "objective-c" },
	{ ".mi", true, "objective-c" },
	{ ".mm", true, "objective-c++" },
	{ ".M", true, "objective-c++" },
	{ ".mii", true, "objective-c++" },
	{ ".hh", false, "c++" },
	{ ".hp", false, "c++" },
	{ ".hxx", false, "c++" },
	{ ".hpp", false, "c++" },
	{ ".HPP", false, "c++" },
	{ ".h++", false, "c++" },
	{ ".H", false, "c++" },
	{ ".tcc", false, "c++" },
	{ ".h", false, "" },
	{ ".inc", false, "" },
	{ ".inl", false, "" },
	{ ".ipp", false, "" },
	{ ".tpp", false, "" },
	{ ".txx", false, "" },
	{ ".def", false, "" },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The index in kinds; KINDS: another file. */
static unsigned kind_of(struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);
	unsigned kind = 0;

	while (kind < KINDS && !tr_text_is(extension, kinds[kind].extension))
		kind++;
	return kind;
}

/* The languages whose headers have entries. */
static const char *const languages[] = { "c", "c++", "objective-c", "objective-c++", NULL };

/* The one that the argument of -x names; NULL: another language. */
static const char *named_language(struct tr_text name)
{
	static const char *const endings[] = { "-header", "-cpp-output" };

	for (int i = 0; i < 2; i++) {
		size_t len = strlen(endings[i]);
		if (name.len > len && memcmp(name.data + name.len - len, endings[i], len) == 0)
			name.len -= len;
	}
	for (unsigned i = 0; languages[i]; i++)
		if (tr_text_is(name, languages[i]))
			return languages[i];
	return NULL;
}

/* The argument of an option, in the same word or the next one. */
static struct tr_text language_argument(const struct tr_part *part)
{
	static const char *const names[] = { "--language=", "--language", "-x" };

	for (int i = 0; i < 3 && !part->value; i++) {
		struct tr_text name = tr_text_from(names[i]);
		if (tr_text_starts(part->text, name))
			return (struct tr_text){ part->text.data + name.len,
						 part->text.len - name.len };
	}
	return part->text;
}

/* The language that /Tp or /Tc of cl gives to a source; data NULL: none. */
static struct tr_text cl_language(const struct tr_part *source)
{
	const struct tr_part *option = source->value ? source - 1 : source;

	if (option->text.len > 2 && option->text.data[1] == 'T' &&
	    (source->value || source->file.data != source->text.data))
		return (struct tr_text){ option->text.data, 3 };
	return (struct tr_text){ NULL, 0 };
}

/*
 * The language in which a source is compiled, after an option that names one (data NULL: none).
 * NULL: one whose headers have no entries.
 */
static const char *language_of(const struct tr_invocation *invocation, const struct tr_part *source,
			       struct tr_text named)
{
	struct tr_text driver = tr_tool_base(invocation->parts[0].text);
	unsigned kind = kind_of(source->file);

	if (invocation->tool == TR_TOOL_DRIVER_CL) {
		struct tr_text own = cl_language(source);
		named = own.data ? own : named;
		if (named.len > 2)
			return named.data[2] == 'P' || named.data[2] == 'p' ? "c++" : "c";
	} else if (named.len && !tr_text_is(named, "none")) {
		return named_language(named);
	}
	if (kind == KINDS)
		return NULL;
	/* g++ compiles a.c as C++ */
	if (memmem(driver.data, driver.len, "++", 2) &&
	    (!*kinds[kind].language || strcmp(kinds[kind].language, "c") == 0))
		return "c++";
	return *kinds[kind].language ? kinds[kind].language : "c";
}

/* Options that name outputs, which checking a header must not write. */
static bool writes_file(const struct tr_invocation *invocation, const struct tr_part *part)
{
	static const char *const names[] = { "-M",
					     "-Wp,-M",
					     "-dependency-file",
					     "-serialize-diagnostics",
					     "--serialize-diagnostics",
					     "-save-temps",
					     "--save-temps",
					     NULL };

	if (part->role == TR_ROLE_OUTPUT || part->role == TR_ROLE_PRODUCT ||
	    part->role == TR_ROLE_MODE)
		return true;
	if (invocation->tool == TR_TOOL_DRIVER_CL)
		return tr_text_is(part->text, "/showIncludes") ||
		       tr_text_is(part->text, "-showIncludes");
	for (unsigned i = 0; names[i]; i++)
		if (tr_text_starts(part->text, tr_text_from(names[i])))
			return true;
	return false;
}

/* Appends a length and a text, which may contain any byte. */
static void put_sized(struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put(to, (const char *)&text.len, sizeof text.len);
	tr_buffer_put_text(to, text);
}

/* Reads such a text and advances past it. */
static struct tr_text take_sized(const char **from)
{
	struct tr_text text;

	memcpy(&text.len, *from, sizeof text.len);
	text.data = *from + sizeof text.len;
	*from = text.data + text.len;
	return text;
}

/* Appends a word of the command line, and counts it. */
static void put_word(struct seed *seed, struct tr_text word, struct tr_buffer *to)
{
	put_sized(word, to);
	seed->words++;
}

/* True if entries for headers have the word, too. */
static bool is_shared(const struct tr_invocation *invocation, const struct tr_part *part,
		      bool has_value)
{
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;

	return part->role != TR_ROLE_SOURCE && part->role != TR_ROLE_INPUT &&
	       part->role != TR_ROLE_LINKING && part->role != TR_ROLE_LANGUAGE &&
	       (cl || !tr_text_is(part->text, "--")) &&
	       /* "/Tc" comes before its source */
	       !(has_value && part[1].role == TR_ROLE_SOURCE);
}

bool tr_compdb_headers_line(const struct tr_call *call, struct tr_text program, bool for_clang,
			    struct tr_arena *arena, struct tr_compdb_header_line *line)
{
	const struct tr_invocation *invocation = &call->invocation;
	const struct tr_part *parts = invocation->parts, *end = parts + invocation->count;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;
	struct tr_text named = { NULL, 0 }, word;
	size_t sources = 0, replaced = 0;

	*line = (struct tr_compdb_header_line){
		.words = tr_arena_alloc(arena, (invocation->count + 2) * sizeof *line->words),
		.sources = tr_arena_alloc(arena, invocation->sources * sizeof *line->sources),
	};
	if (!line->words || !line->sources)
		return false;
	line->words[line->count++] = program;
	line->words[line->count++] = cl ? TR_TEXT("/Zs") : TR_TEXT("-fsyntax-only");
	/* /TP and /TC apply to all sources, and -x to those that follow */
	for (size_t i = 1; cl && i < invocation->count; i++)
		if (parts[i].role == TR_ROLE_LANGUAGE)
			named = parts[i].text;
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &parts[i];
		bool has_value = i + 1 < invocation->count && parts[i + 1].value;
		if (part->role == TR_ROLE_LANGUAGE && !cl)
			named = language_argument(part);
		if (part->role == TR_ROLE_SOURCE) {
			line->sources[sources].gap = line->count;
			line->sources[sources++].language = language_of(invocation, part, named);
		} else if (!is_shared(invocation, part, has_value)) {
			continue;
		} else if (writes_file(invocation, part)) {
			i += has_value;
		} else if (for_clang &&
			   !tr_compdb_replace_for_clang(part, end, arena, &word, &replaced)) {
			return false;
		} else if (replaced) {
			if (word.len)
				line->words[line->count++] = word;
			i += replaced - 1;
		} else {
			line->words[line->count++] = part->text;
		}
	}
	return true;
}

void tr_compdb_headers_seed(struct tr_record *record, const struct tr_call *call,
			    const struct tr_compdb_header_line *line, size_t source,
			    const struct tr_call_words *more, struct tr_text path,
			    struct tr_buffer *to)
{
	const char *language = line->sources[source].language;
	size_t gap = line->sources[source].gap, begin = to->len;
	bool cl = call->invocation.tool == TR_TOOL_DRIVER_CL;
	struct seed seed = { .gnu = !cl };
	size_t options = 0; /* number of words before "--", after which there are no options */

	while (options < line->count && !tr_text_is(line->words[options], "--"))
		options++;
	if ((!cl && call->invocation.tool != TR_TOOL_DRIVER) || !language ||
	    !tr_cell_number(&record->seq, &seed.seq))
		return;
	tr_buffer_put(to, (const char *)&seed, sizeof seed);
	put_sized(call->command.directory, to);
	put_sized(path, to);
	for (size_t i = 0; i <= line->count; i++) {
		if (i == 2 && cl)
			put_word(&seed, language[1] ? TR_TEXT("/TP") : TR_TEXT("/TC"), to);
		if (i == gap && !cl) {
			put_word(&seed, TR_TEXT("-x"), to);
			put_word(&seed, tr_text_from(language), to);
		}
		if (i == gap) {
			seed.gap = seed.words;
			put_word(&seed, TR_TEXT(""), to);
		}
		for (size_t k = 0; i == options && k < more->count; k++)
			put_word(&seed, more->list[k], to);
		if (i < line->count)
			put_word(&seed, line->words[i], to);
	}
	if (!to->failed)
		memcpy(to->data + begin, &seed, sizeof seed);
}

bool tr_compdb_headers_add(struct tr_compdb_headers *headers, struct tr_text seed, bool fallback)
{
	struct candidate *candidate = tr_arena_alloc(&headers->arena, sizeof *candidate);
	struct tr_text own = tr_arena_copy(&headers->arena, seed);

	if (!candidate || !own.data)
		return false;
	*candidate = (struct candidate){ .fallback = fallback };
	memcpy(&candidate->seed, own.data, sizeof candidate->seed);
	candidate->words = own.data + sizeof candidate->seed;
	candidate->directory = take_sized(&candidate->words);
	candidate->source = take_sized(&candidate->words);
	*(headers->last ? &headers->last->next : &headers->first) = candidate;
	headers->last = candidate;
	return true;
}

enum tr_status tr_compdb_headers_put(struct tr_compdb_headers *headers, struct tr_record *record,
				     struct tr_error *err)
{
	headers->followed = true;
	return tr_deps_put(&headers->tracker, record, err);
}

/* The directory that contains both paths. */
static struct tr_deps_path *common(struct tr_deps_path *a, struct tr_deps_path *b)
{
	while (a && !tr_deps_path_is_below(b, a))
		a = a->parent;
	return a;
}

/* Finds the candidate in the graph. False: its command is not there. */
static bool place(struct tr_compdb_headers *headers, struct candidate *candidate,
		  const struct tr_id_map *commands)
{
	struct tr_deps_paths *paths = &headers->graph.paths;
	struct tr_deps_path *first = headers->tracker.directory;

	candidate->command = tr_id_map_get(commands, candidate->seed.seq);
	candidate->spelled = tr_deps_paths_spelled(paths, NULL, candidate->source);
	candidate->resolved = tr_deps_paths_resolved(paths, NULL, candidate->source, true, NULL);
	if (!candidate->command || !candidate->spelled || !candidate->resolved)
		return false;
	if (headers->all)
		return true;
	if (!first)
		first = tr_deps_paths_spelled(paths, NULL, candidate->directory);
	candidate->project = common(candidate->spelled->parent, first);
	/* they have nothing in common */
	if (!candidate->project || !candidate->project->parent)
		candidate->project = candidate->spelled->parent;
	return true;
}

/* Returns a file name without its extension. */
static struct tr_text stem_of(struct tr_text name)
{
	name.len -= tr_path_extension(name).len;
	return name;
}

/*
 * Returns how well the flags of the candidate suit the header: an entry of its own counts more than
 * a fallback, then a source that exists, the same stem (a.c for a.h), the same directory.
 */
static unsigned rank(const struct candidate *candidate, const struct tr_deps_path *header)
{
	const struct tr_deps_path *source = candidate->spelled;
	bool exists = source->file || candidate->resolved->file;
	bool stem = tr_text_equal(stem_of(source->name), stem_of(header->name));
	bool directory =
		source->parent == header->parent || candidate->resolved->parent == header->parent;

	return (candidate->fallback ? 0 : 8) + (exists ? 4 : 0) + (stem ? 2 : 0) + directory;
}

/*
 * True if a suits better than b. Of equal ones the earlier command is chosen, so that the result
 * does not depend on the order of the graph.
 */
static bool is_better(const struct candidate *a, const struct candidate *b,
		      const struct tr_deps_path *header)
{
	unsigned x = rank(a, header), y = rank(b, header);

	return x != y ? x > y : a->command->began < b->command->began;
}

/* The headers; path->user is the best candidate of each. */
struct found {
	struct tr_deps_path **paths;
	size_t count, cap;
};

/* Offers a candidate to the headers that a command has read. False: memory is exhausted. */
static bool offer(struct candidate *candidate, const struct tr_deps_command *command,
		  struct found *found)
{
	for (const struct tr_deps_use *use = command->uses; use; use = use->next_of_command) {
		struct tr_deps_path *path = use->path;
		if (!path || path == candidate->resolved || !path->file || path->directory ||
		    path->special || !tr_deps_is_reader(use) || kind_of(path->name) == KINDS ||
		    (candidate->project && !tr_deps_path_is_below(path, candidate->project)))
			continue;
		if (!path->user) {
			if (!tr_array_room(found->paths, found->count, found->cap))
				return false;
			found->paths[found->count++] = path;
		}
		if (!path->user || is_better(candidate, path->user, path))
			path->user = candidate;
	}
	return true;
}

/* The candidate of that command and source, or NULL. */
static struct candidate *find(const struct tr_map *candidates,
			      const struct tr_deps_command *command,
			      const struct tr_deps_path *source)
{
	struct key key = { command, source };

	return tr_map_get(candidates, (struct tr_text){ (const char *)&key, sizeof key });
}

/* Offers the candidates whose source a command has read: its own and those of its parents. */
static bool offer_all(const struct tr_map *candidates, const struct tr_deps_command *command,
		      struct found *found)
{
	for (const struct tr_deps_use *use = command->uses; use; use = use->next_of_command) {
		if (!use->path || !(use->path->set || use->details->spelled->set) ||
		    !tr_deps_is_reader(use))
			continue;
		const struct tr_deps_command *above = command;
		for (int level = 0; above && level < LEVELS; level++, above = above->parent) {
			struct candidate *candidate = find(candidates, above, use->path);
			if (!candidate)
				candidate = find(candidates, above, use->details->spelled);
			if (candidate && !offer(candidate, command, found))
				return false;
		}
	}
	return true;
}

/*
 * Adds a candidate to the map, by its command and a spelling of its source. The first candidate of
 * a key stays.
 */
static bool add_key(struct tr_map *candidates, struct candidate *candidate, struct key *key,
		    struct tr_deps_path *source)
{
	struct tr_text text = { (const char *)key, sizeof *key };

	*key = (struct key){ candidate->command, source };
	source->set = 1;
	return tr_map_get(candidates, text) || tr_map_put(candidates, text, candidate);
}

/* Finds the best candidate of each header. False: memory is exhausted. */
static bool find_headers(struct tr_compdb_headers *headers, struct found *found)
{
	struct tr_deps_command *first = headers->graph.first_command;
	struct tr_id_map commands = TR_ID_MAP_INIT;
	struct tr_map candidates = TR_MAP_INIT;
	bool fine = true;

	for (struct tr_deps_command *c = first; fine && c; c = c->next)
		if (c->program && c->seq != TR_DEPS_NO_SEQ)
			fine = tr_id_map_put(&commands, c->seq, c);
	for (struct candidate *c = headers->first; fine && c; c = c->next)
		if (place(headers, c, &commands))
			fine = add_key(&candidates, c, &c->keys[0], c->spelled) &&
			       add_key(&candidates, c, &c->keys[1], c->resolved);
	for (struct tr_deps_command *c = first; fine && c; c = c->next)
		fine = offer_all(&candidates, c, found);
	tr_id_map_free(&commands);
	tr_map_free(&candidates);
	return fine && !headers->graph.paths.failed;
}

/* A header by its path, for sorting. */
struct named {
	struct tr_text text;
	const struct candidate *candidate;
};

/* By the bytes of the path. */
static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return tr_text_compare(x->text, y->text);
}

/* Puts the entry of a header: the candidate's words, with the header in the gap. */
static bool put_header(struct tr_compdb_headers *headers, const struct named *named,
		       tr_compdb_header_put *put, void *context)
{
	const struct candidate *candidate = named->candidate;
	const struct seed *seed = &candidate->seed;
	struct tr_text *argv = tr_arena_alloc(&headers->arena, seed->words * sizeof *argv);
	const char *p = candidate->words;
	struct tr_buffer language = TR_BUFFER_INIT;
	unsigned kind = kind_of(named->text);

	if (!argv)
		return false;
	for (size_t i = 0; i < seed->words; i++)
		argv[i] = take_sized(&p);
	argv[seed->gap] = named->text;
	if (seed->gnu) {
		tr_buffer_put_text(&language, argv[seed->gap - 1]);
		if (!kinds[kind].source)
			tr_buffer_put_literal(&language, "-header");
		argv[seed->gap - 1] = tr_buffer_text(&language);
	}
	bool fine = !language.failed &&
		    put(context, candidate->directory, named->text, argv, seed->words);
	tr_buffer_free(&language);
	return fine;
}

/* Puts the headers that were found, in the order of their paths. */
static bool put_found(struct tr_compdb_headers *headers, const struct found *found,
		      tr_compdb_header_put *put, void *context)
{
	struct named *named = tr_arena_alloc(&headers->arena, found->count * sizeof *named);
	struct tr_buffer text = TR_BUFFER_INIT;
	bool fine = named;

	for (size_t i = 0; fine && i < found->count; i++) {
		tr_buffer_reset(&text);
		tr_deps_path_write(found->paths[i], &text);
		named[i].text = tr_arena_copy(&headers->arena, tr_buffer_text(&text));
		named[i].candidate = found->paths[i]->user;
		fine = named[i].text.data && !text.failed;
	}
	tr_buffer_free(&text);
	if (fine && found->count)
		qsort(named, found->count, sizeof *named, compare_named);
	for (size_t i = 0; fine && i < found->count; i++)
		fine = put_header(headers, &named[i], put, context);
	return fine;
}

enum tr_status tr_compdb_headers_end(struct tr_compdb_headers *headers, tr_compdb_header_put *put,
				     void *context, struct tr_error *err)
{
	struct found found = { NULL, 0, 0 };
	bool fine = tr_deps_finish(&headers->tracker, err) != TR_FATAL &&
		    find_headers(headers, &found) && put_found(headers, &found, put, context) &&
		    !headers->graph.failed;

	headers->calls += headers->tracker.calls;
	headers->unknown += headers->tracker.unknown;
	free(found.paths);
	free_segment(headers);
	begin_segment(headers);
	fine = fine && !headers->graph.failed;
	return fine ? TR_OK : tr_error_memory(err);
}

enum tr_status tr_compdb_headers_report(struct tr_compdb_headers *headers, struct tr_error *err)
{
	if (headers->reported || !headers->followed)
		return TR_OK;
	headers->reported = true;
	if (!headers->calls)
		tr_error_say(err, TR_CAUSE_INPUT,
			     "no header has an entry, because the trace has no file "
			     "calls: " TR_DEPS_ADVICE);
	else if (headers->unknown)
		tr_error_say(err, TR_CAUSE_INPUT,
			     "headers may be missing, because the working directory is not known "
			     "(for strace, add -O cwd=DIR)");
	else
		return TR_OK;
	return TR_WARN;
}
