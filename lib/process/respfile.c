/* SPDX-License-Identifier: MIT */
/*
 * Expands response files. Files are opened as levels of a stack, and each of its bounds (depth,
 * files, bytes, words) has a reason of its own, so that the message can name it. Contents come
 * from the record if they were recorded, else from this machine if the user permits that.
 */
#include "process/respfile.h"

#include <errno.h>
#include <string.h>

#include "core/utf8.h"
#include "process/path.h"

static const struct tr_respfile_rule at_file = { { "@", 1 }, TR_RESPFILE_ATTACHED };
const struct tr_respfile_rules tr_respfile_usual = { &at_file, 1 };

/* True if the text begins with the option. */
static bool begins(struct tr_text text, struct tr_text option)
{
	if (!tr_text_starts(option, TR_TEXT("--")))
		return tr_text_starts(text, option);
	return text.len >= option.len &&
	       tr_text_equal_in_any_case((struct tr_text){ text.data, option.len }, option);
}

/* The linker of macOS uses these names for folders to search in. */
static bool is_place(struct tr_text text)
{
	return tr_text_starts(text, TR_TEXT("@rpath/")) ||
	       tr_text_starts(text, TR_TEXT("@loader_path")) ||
	       tr_text_starts(text, TR_TEXT("@executable_path"));
}

/*
 * The rules are tried in order; an option that is the whole word takes its file from the next
 * word.
 */
struct tr_text tr_respfile_named(const struct tr_text *argv, size_t argc, size_t i,
				 const struct tr_respfile_rules *rules, size_t *used)
{
	struct tr_text argument = argv[i];

	*used = 1;
	for (size_t r = 0; r < rules->count; r++) {
		const struct tr_respfile_rule *rule = &rules->list[r];
		size_t len = rule->option.len;
		if (!begins(argument, rule->option) || is_place(argument))
			continue;
		if (argument.len == len && (rule->forms & TR_RESPFILE_SPACE) && i + 1 < argc) {
			*used = 2;
			return argv[i + 1];
		}
		if (argument.len > len + 1 && argument.data[len] == '=' &&
		    (rule->forms & TR_RESPFILE_EQUAL))
			return (struct tr_text){ argument.data + len + 1, argument.len - len - 1 };
		if (argument.len > len && (rule->forms & TR_RESPFILE_ATTACHED))
			return (struct tr_text){ argument.data + len, argument.len - len };
	}
	return (struct tr_text){ NULL, 0 };
}

/* The content in the field respfile, NULL: none. The last of repeated names counts. */
static const struct tr_value *recorded(const struct tr_value *field, struct tr_text name,
				       bool first, struct tr_arena *arena)
{
	if (!field)
		return NULL;
	if (field->type == TR_STRING)
		return first && !(field->flags & TR_CUT) ? field : NULL;
	for (size_t i = field->type == TR_MAP ? field->count : 0; i > 0; i--) {
		const struct tr_member *member = &field->as.members[i - 1];
		if (member->value->type != TR_STRING || (member->value->flags & TR_CUT))
			continue;
		struct tr_text key = tr_string_bytes(member->key, arena);
		if (key.data && tr_text_equal(key, name))
			return member->value;
	}
	return NULL;
}

/* Reads a file from this machine if that is permitted. */
static struct tr_text read_file(struct tr_text name, const struct tr_respfile_source *source,
				struct tr_arena *arena, struct tr_error *err)
{
	struct tr_buffer path = TR_BUFFER_INIT, bytes = TR_BUFFER_INIT;
	struct tr_text result = { NULL, 0 };

	if (!source->roots || !source->roots->count)
		return result;
	tr_path_join(source->directory, name, &path);
	bool done = !path.failed && tr_file_roots_read(source->roots, tr_buffer_text(&path),
						       TR_RESPFILE_MAX, &bytes, err);
	if (done)
		result = tr_arena_copy(arena, tr_buffer_text(&bytes));
	if (path.failed || (done && !result.data))
		tr_error_memory(err);
	tr_buffer_free(&path);
	tr_buffer_free(&bytes);
	return result;
}

static uint32_t unit_at(const char *p, bool big)
{
	unsigned char first = (unsigned char)p[0], second = (unsigned char)p[1];

	return big ? first << 8 | second : second << 8 | first;
}

/* Converts UTF-16; what is no character becomes U+FFFD. data NULL: out of memory. */
static struct tr_text from_utf16(struct tr_text text, bool big, struct tr_arena *arena)
{
	const char *p = text.data, *end = p + text.len;
	/* two bytes become at most three */
	char *utf8 = tr_arena_alloc(arena, (text.len / 2 + 1) * 3), *to = utf8;

	while (utf8 && p < end) {
		uint32_t code = end - p > 1 ? unit_at(p, big) : 0xfffd;
		p += end - p > 1 ? 2 : 1;
		uint32_t low = code >> 10 == 0x36 && end - p > 1 ? unit_at(p, big) : 0;
		if (low >> 10 == 0x37) {
			code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
			p += 2;
		}
		to += tr_utf8_encode(code >> 11 == 0x1b ? 0xfffd : code, to);
	}
	return (struct tr_text){ utf8, (size_t)(to - utf8) };
}

/* Removes a byte order mark. MSBuild writes files in UTF-16 for cl, link and lib. */
static struct tr_text decode(struct tr_text content, struct tr_arena *arena)
{
	if (tr_text_skip(&content, TR_TEXT("\xff\xfe")))
		return from_utf16(content, false, arena);
	if (tr_text_skip(&content, TR_TEXT("\xfe\xff")))
		return from_utf16(content, true, arena);
	tr_text_skip(&content, TR_TEXT("\xef\xbb\xbf"));
	return content;
}

struct tr_text tr_respfile_content(struct tr_text name, bool first,
				   const struct tr_respfile_source *source, struct tr_arena *arena,
				   struct tr_error *err)
{
	const struct tr_value *value = recorded(source->recorded, name, first, arena);
	struct tr_text content;

	tr_error_clear(err);
	content = value ? tr_string_bytes(value->text, arena) : read_file(name, source, arena, err);
	struct tr_text decoded = content.data ? decode(content, arena) : content;
	if (!decoded.data && (value || content.data))
		tr_error_memory(err);
	return decoded;
}

struct expander {
	const struct tr_respfile_rules *rules;
	const struct tr_respfile_source *source;
	struct tr_arena *arena;
	struct tr_expansion *result;
	struct tr_error *err;
	size_t opened, bytes, words; /* files so far, and what they contain */
	struct level {
		const struct tr_text *argv;
		size_t argc, next;
	} levels[TR_RESPFILE_NESTED + 1];
	size_t depth;
};

/* Makes room for one more item of an array in the arena. False: out of memory. */
static bool make_room(struct expander *e, void *array, size_t count, size_t *cap, size_t size)
{
	void *old, *more;

	if (count < *cap)
		return true;
	*cap = *cap ? *cap * 2 : 32;
	more = tr_arena_alloc(e->arena, *cap * size);
	if (!more) {
		tr_error_memory(e->err);
		return false;
	}
	memcpy(&old, array, sizeof old);
	if (count)
		memcpy(more, old, count * size);
	memcpy(array, &more, sizeof more);
	return true;
}

/* Appends a word to the result. False: out of memory. */
static bool put(struct expander *e, struct tr_text text, size_t origin, bool from_file)
{
	struct tr_expansion *result = e->result;

	if (!make_room(e, &result->words, result->count, &result->cap, sizeof *result->words))
		return false;
	result->words[result->count++] = (struct tr_word){ text, origin, from_file };
	return true;
}

/* Splits a file into words, which become the next level. TR_WARN: too many words. */
static enum tr_status open_level(struct expander *e, struct tr_text content, bool comments)
{
	struct tr_words words = {
		content.data, content.data + content.len,	e->source->quoting, comments,
		false,	      comments && e->source->c_comments
	};
	/* words are never longer than their spelling, so the buffer does not grow and move */
	struct tr_buffer bytes = tr_buffer_over(tr_arena_alloc(e->arena, content.len), content.len);
	struct tr_text *argv = NULL;
	size_t count = 0, cap = 0;

	if (!bytes.data)
		return tr_error_memory(e->err);
	for (size_t begin = 0; tr_words_next(&words, &bytes); begin = bytes.len) {
		if (!make_room(e, &argv, count, &cap, sizeof *argv))
			return TR_FATAL;
		argv[count++] = (struct tr_text){ bytes.data + begin, bytes.len - begin };
		if (e->words + count > TR_RESPFILE_WORDS)
			return TR_WARN;
	}
	e->words += count;
	e->levels[++e->depth] = (struct level){ argv, count, 0 };
	return TR_OK;
}

/* Opens a file as the next level, or sets *reason why not. False: out of memory. */
static bool open_file(struct expander *e, struct tr_text name, bool comments,
		      enum tr_respfile_reason *reason)
{
	struct tr_error err;
	struct tr_text content =
		tr_respfile_content(name, e->opened == 0, e->source, e->arena, &err);

	if (!content.data) {
		bool large = err.sys_errno == EFBIG;
		*reason = large ? TR_RESPFILE_TOO_LARGE : TR_RESPFILE_UNKNOWN;
		if (err.cause == TR_CAUSE_MEMORY)
			*e->err = err;
		return err.cause != TR_CAUSE_MEMORY;
	}
	*reason = TR_RESPFILE_TOO_LARGE;
	if (content.len > TR_RESPFILE_MAX - e->bytes)
		return true;
	e->opened++;
	e->bytes += content.len;
	enum tr_status status = open_level(e, content, comments);
	*reason = status == TR_WARN ? TR_RESPFILE_TOO_WORDY : TR_RESPFILE_EXPANDED;
	e->result->files += status == TR_OK;
	return status != TR_FATAL;
}

/* Expands a file, or leaves its arguments. False: out of memory. */
static bool take_file(struct expander *e, struct tr_text name, const struct tr_text *argv,
		      size_t used, size_t origin)
{
	enum tr_respfile_reason reason;

	if (e->depth == TR_RESPFILE_NESTED)
		reason = TR_RESPFILE_TOO_DEEP;
	else if (e->opened == TR_RESPFILE_FILES)
		reason = TR_RESPFILE_TOO_MANY;
	/* files of --via may contain comments, files of @ may not */
	else if (!open_file(e, name, argv[0].data[0] != '@', &reason))
		return false;
	if (reason == TR_RESPFILE_EXPANDED)
		return true;
	e->result->missing++;
	if (e->result->left.reason < reason)
		e->result->left = (struct tr_respfile_left){ reason, name };
	for (size_t i = 0; i < used; i++)
		if (!put(e, argv[i], origin + (e->depth == 0 ? i : 0), e->depth > 0))
			return false;
	return true;
}

/* A quick test by the first byte, because most words name no response file. */
static bool may_name_file(struct tr_text word, const struct tr_respfile_rules *rules)
{
	for (size_t r = 0; r < rules->count; r++)
		if (word.len && *word.data == *rules->list[r].option.data)
			return true;
	return false;
}

/*
 * Words are taken from the innermost open file; a file that ends gives way to the one that named
 * it.
 */
enum tr_status tr_respfile_expand(const struct tr_text *argv, size_t argc,
				  const struct tr_respfile_rules *rules,
				  const struct tr_respfile_source *source, struct tr_arena *arena,
				  struct tr_expansion *result, struct tr_error *err)
{
	struct expander e = {
		.rules = rules, .source = source, .arena = arena, .result = result, .err = err
	};
	size_t origin = 0;
	bool fine = true;

	/* nearly all command lines name no file, so that this is all the room that they need */
	*result = (struct tr_expansion){ .cap = argc };
	result->words = tr_arena_alloc(arena, argc * sizeof *result->words);
	if (!result->words)
		return tr_error_memory(err);
	/* the words before the first that may name one; the program is none */
	size_t plain = 0;
	for (; plain < argc && (!plain || !may_name_file(argv[plain], rules)); plain++)
		result->words[plain] = (struct tr_word){ argv[plain], plain, false };
	result->count = plain;
	e.levels[0] = (struct level){ argv, argc, plain };
	while (fine) {
		struct level *level = &e.levels[e.depth];
		if (level->next == level->argc) {
			if (e.depth == 0)
				return TR_OK;
			e.depth--;
			continue;
		}
		size_t i = level->next, used = 1;
		struct tr_text name = { NULL, 0 };
		if (e.depth == 0)
			origin = i;
		if ((e.depth > 0 || i > 0) && may_name_file(level->argv[i], rules))
			name = tr_respfile_named(level->argv, level->argc, i, rules, &used);
		level->next += used;
		fine = name.data ? take_file(&e, name, level->argv + i, used, origin)
				 : put(&e, level->argv[i], origin, e.depth > 0);
	}
	return TR_FATAL;
}

/* A limit is a flaw, because the file is there; a file that is not in the trace is a note. */
enum tr_status tr_respfile_report(const struct tr_respfile_left *left,
				  const struct tr_file_roots *roots, struct tr_error *err)
{
	static const char *const reasons[] = {
		[TR_RESPFILE_TOO_DEEP] = "files are nested more than 32 levels deep",
		[TR_RESPFILE_TOO_MANY] = "the command names more than 2000 files",
		[TR_RESPFILE_TOO_LARGE] = "the files of the command exceed 16 MiB",
		[TR_RESPFILE_TOO_WORDY] = "the files of the command hold more than 1048576 words",
	};
	struct tr_text name = left->name;

	if (left->reason == TR_RESPFILE_EXPANDED)
		return TR_OK;
	if (left->reason != TR_RESPFILE_UNKNOWN) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "response file '%.*s' is not expanded: %s; sources and options in "
			     "it are missing",
			     TR_SHOWN(name, 200), reasons[left->reason]);
		err->severity = TR_FLAW;
		return TR_WARN;
	}
	if (roots && roots->count)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "response file '%.*s' is not expanded: it is not in the trace, and "
			     "not a regular file below respfile-root",
			     TR_SHOWN(name, 200));
	else
		tr_error_set(err, TR_CAUSE_INPUT,
			     "response file '%.*s' is not expanded: it is not in the trace; to "
			     "read it from this machine use -O respfile-root=DIR",
			     TR_SHOWN(name, 200));
	tr_error_is_note(err);
	return TR_WARN;
}
