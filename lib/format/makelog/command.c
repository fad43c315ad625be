/* SPDX-License-Identifier: MIT */
/*
 * Finds the command of a build tool in the words of a simple command, in which launchers, wrappers
 * or unknown programs may precede it; and recognises lines that cannot contain one.
 */
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/command.h"
#include "process/directory.h"
#include "process/invocation.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/* Programs that replace themselves by the command in their arguments. */
static const char *const wrappers[] = { "env",	 "exec", "command", "time",
					"nohup", "nice", "xargs",   NULL };
/* Programs whose arguments can be names of compilers and files, which they do not run. */
static const char *const no_runners[] = { "echo",  "printf",  "test",  "[",	"rm",	"cp",
					  "mv",	   "ln",      "ls",    "cat",	"sed",	"awk",
					  "grep",  "install", "touch", "which", "type", "mkdir",
					  "chmod", "strip",   "make",  NULL };

static struct tr_makelog_program describe(const struct tr_makelog_names *names, struct tr_text name)
{
	struct tr_program program = tr_program_find(names->compilers, name, NULL, 0);
	struct tr_text path_base = tr_path_base(name), tool_base = tr_tool_base(name);

	return (struct tr_makelog_program){
		.tool = program.calls ? TR_TOOL_DRIVER : (uint8_t)program.kind,
		.calls = program.calls,
		.shell = tr_command_is_shell(name),
		.remote = tr_text_is(tool_base, "ssh"),
		.cmd = tr_text_equal_in_any_case(tool_base, TR_TEXT("cmd")),
		.wrapper = tr_text_is_among(path_base, wrappers),
		.reads_words = tr_text_is(path_base, "xargs"),
		.no_runner = tr_text_is_among(path_base, no_runners),
	};
}

static inline bool is_slot_of(const struct tr_makelog_slot *slot, struct tr_text name)
{
	return slot->len == name.len && memcmp(slot->name, name.data, name.len) == 0;
}

/*
 * Describes a program that is not in its slot, but perhaps in the other one. Not inlined, so that
 * the fast path stays short.
 */
static __attribute__((noinline)) struct tr_makelog_program
describe_in(struct tr_makelog_names *names, struct tr_makelog_slot *slot,
	    struct tr_makelog_slot *other, struct tr_text name)
{
	if (is_slot_of(other, name))
		return other->program;
	if (name.len > sizeof slot->name)
		return describe(names, name);
	*other = *slot;
	slot->len = (uint8_t)name.len;
	memcpy(slot->name, name.data, name.len);
	slot->program = describe(names, name);
	return slot->program;
}

/* A hash of all bytes of a name, of which most are a part of a path. */
static inline size_t hash_of(struct tr_text name)
{
	const char *p = name.data, *end = p + name.len;
	uint64_t hash = name.len, part;

	if (name.len < sizeof part)
		hash += (uint64_t)(unsigned char)*p << 8 |
			(uint64_t)(unsigned char)p[name.len / 2] << 16 |
			(uint64_t)(unsigned char)end[-1] << 24;
	for (; end - p >= (ptrdiff_t)sizeof part; p += sizeof part) {
		memcpy(&part, p, sizeof part);
		hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
	}
	if (p > name.data && p < end) {
		memcpy(&part, end - sizeof part, sizeof part);
		hash ^= part;
	}
	return (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

struct tr_makelog_program tr_makelog_program(struct tr_makelog_names *names, struct tr_text name)
{
	/* "--c99" is an option, not a compiler with a prefix */
	if (!name.len || *name.data == '-')
		return (struct tr_makelog_program){ 0 };
	enum { SLOTS = sizeof names->slots / sizeof *names->slots };
	size_t at = hash_of(name) % SLOTS;
	const struct tr_makelog_slot *slot = &names->slots[at];
	return is_slot_of(slot, name)
		       ? slot->program
		       : describe_in(names, &names->slots[at], &names->slots[at ^ 1], name);
}

#if defined __SSE2__ && !defined TR_PORTABLE
/* Which of sixteen bytes may begin a sign (has_sign), one bit each; next: the bytes after them. */
static inline unsigned sign_mask(__m128i bytes, __m128i next)
{
	__m128i found = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(';'));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('&')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('(')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
	__m128i letter = _mm_or_si128(_mm_cmpeq_epi8(next, _mm_set1_epi8('c')),
				      _mm_cmpeq_epi8(next, _mm_set1_epi8('o')));
	__m128i dash = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')), letter);
	__m128i here = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('<')),
				     _mm_cmpeq_epi8(next, _mm_set1_epi8('<')));
	__m128i word = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('b')),
				     _mm_cmpeq_epi8(next, _mm_set1_epi8('t')));
	found = _mm_or_si128(found, _mm_or_si128(dash, word));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(found, here));
}
#endif

/* The first byte of the text from p on that may begin a sign. */
static const char *skip_to_sign(struct tr_text text, const char *p)
{
	const char *end = text.data + text.len;
	static const bool begins[256] = { [';'] = true, ['&'] = true, ['|'] = true, ['('] = true,
					  ['='] = true, ['-'] = true, ['b'] = true, ['<'] = true };

#if defined __SSE2__ && !defined TR_PORTABLE
	for (; end - p > 16; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
		unsigned mask = sign_mask(bytes, next);
		if (mask)
			return p + __builtin_ctz(mask);
	}
	/* the last bytes, together with some before p; all but one have a next byte */
	if (text.len > 16 && end - p > 1) {
		const char *block = end - 17;
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)block);
		__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(block + 1));
		unsigned mask = sign_mask(bytes, next) >> (p - block);
		if (mask)
			return p + __builtin_ctz(mask);
		p = end - 1;
	}
#endif
	while (p < end && !begins[(unsigned char)*p])
		p++;
	return p;
}

/* True for an operator of the shell, "<<", an assignment, " -c ", " -o " or "libtool". */
static bool has_sign(struct tr_text text)
{
	const char *begin = text.data, *end = begin + text.len;

	for (const char *p = begin; (p = skip_to_sign(text, p)) < end; p++) {
		bool option = *p == '-', word = *p == 'b', here = *p == '<';
		if (!option && !word && !here)
			return true;
		if (here && end - p > 1 && p[1] == '<')
			return true;
		if (option && p > begin && end - p > 2 &&
		    (memcmp(p - 1, " -c ", 4) == 0 || memcmp(p - 1, " -o ", 4) == 0))
			return true;
		if (word && p - begin >= 2 && end - p > 4 && memcmp(p - 2, "libtool", 7) == 0)
			return true;
	}
	return false;
}

/*
 * True if a word such as CC is a label, which quiet makefiles print instead of a command. Compilers
 * with such names need an option.
 */
static bool is_label(struct tr_text program, struct tr_text text)
{
	for (size_t i = 0; i < program.len; i++)
		if (!(program.data[i] >= 'A' && program.data[i] <= 'Z'))
			return false;
	return !memmem(text.data, text.len, " -", 2) && !memmem(text.data, text.len, " /", 2);
}

bool tr_makelog_may_hold(struct tr_makelog_names *names, struct tr_text text,
			 struct tr_makelog_program *first)
{
	const char *blank = memchr(text.data, ' ', text.len);
	bool drive = tr_path_has_drive(text) || (text.len && *text.data == '"');
	struct tr_text word = { text.data, blank ? (size_t)(blank - text.data) : text.len };

	const char *tab = word.len ? memchr(word.data, '\t', word.len) : NULL;
	if (tab) {
		blank = tab;
		word = tr_text_span(word.data, tab);
	}
	*first = (struct tr_makelog_program){ 0 };
	if (!word.len || drive)
		return drive;
	if (word.data[word.len - 1] == ':')
		return has_sign(text);
	*first = tr_makelog_program(names, word);
	if (blank && first->tool != TR_TOOL_NONE && !is_label(word, text))
		return true;
	return first->shell || first->wrapper || first->cmd || tr_text_is(word, "eval") ||
	       tr_text_is(word, "{") || has_sign(text);
}

/* True for x.c, but not for 12.2 and the end of a sentence. */
static bool is_file_name(struct tr_text text)
{
	struct tr_text extension = tr_path_extension(text);

	return extension.len > 1 && ((extension.data[1] | 0x20) >= 'a') &&
	       ((extension.data[1] | 0x20) <= 'z');
}

/* The program of a command. */
static struct tr_program find_program(struct tr_makelog_names *names, const struct tr_word *words,
				      size_t count)
{
	enum { MOST = 16 };
	struct tr_text rest[MOST];
	size_t i = 0;

	for (; i < MOST && i + 1 < count; i++)
		rest[i] = words[i + 1].text;
	return tr_program_find(names->compilers, words[0].text, rest, i);
}

/* True if the words can be a command of this tool, not a sentence that begins with its name. */
static bool is_plausible(struct tr_makelog_names *names, struct tr_makelog_program known,
			 const struct tr_word *words, size_t count)
{
	enum tr_tool_kind tool = (enum tr_tool_kind)known.tool;
	bool driver =
		tool == TR_TOOL_DRIVER || tool == TR_TOOL_DRIVER_CL || tool == TR_TOOL_COMPILER;
	bool option = false, file = false;
	struct tr_invocation invocation;

	for (size_t i = 1; i < count && !option; i++) {
		struct tr_text text = words[i].text;
		char c = text.len ? *text.data : 0;
		option = text.len > 1 &&
			 (c == '-' || c == '@' || (c == '/' && tool == TR_TOOL_DRIVER_CL));
	}
	for (size_t i = 1; i < count && !driver && !option && !file; i++)
		file = is_file_name(words[i].text);
	/* "CC = gcc -O2" shows a variable */
	if (count > 1 && words[1].text.len && words[1].text.data[words[1].text.len - 1] == '=' &&
	    words[1].text.len <= 2)
		return false;
	if (!driver || (option && !known.calls))
		return file || option;
	struct tr_program program = find_program(names, words, count);
	if (option || (program.kind != TR_TOOL_DRIVER && program.kind != TR_TOOL_DRIVER_CL))
		return program.kind != TR_TOOL_NONE;
	tr_arena_reset(&names->arena);
	if (!tr_invocation_parse(&program, words, count, &names->arena, &invocation)) {
		names->failed = true;
		return false;
	}
	return invocation.sources > 0;
}

/*
 * Programs whose arguments often end with a command, after a script, a time and the like, so a
 * linking command is accepted as well. is_runner adds all versions of Python.
 */
static const char *const runners[] = { "perl",	 "ruby",    "timeout",	"ionice",  "taskset",
				       "stdbuf", "setarch", "linux32",	"linux64", "fakeroot",
				       "sudo",	 "strace",  "unbuffer", "xcrun",   "doas",
				       "flock",	 NULL };

static bool is_runner(struct tr_text base)
{
	return tr_text_is_among(base, runners) || tr_text_starts(base, TR_TEXT("python"));
}

/*
 * True if words in the arguments of another program are a compiler that only compiles a source, or,
 * with links, one that links.
 */
static bool is_run(struct tr_makelog_names *names, const struct tr_word *words, size_t count,
		   bool links)
{
	struct tr_program program = find_program(names, words, count);
	struct tr_invocation invocation;

	tr_arena_reset(&names->arena);
	if (!tr_invocation_parse(&program, words, count, &names->arena, &invocation)) {
		names->failed = true;
		return false;
	}
	if (links && invocation.mode == TR_MODE_LINK)
		return invocation.output.data && invocation.sources + invocation.inputs;
	return invocation.sources && invocation.mode == TR_MODE_COMPILE;
}

size_t tr_makelog_skip_wrappers(struct tr_makelog_names *names,
				const struct tr_makelog_found *found,
				struct tr_makelog_program *program, bool *reads_words)
{
	*reads_words = false;
	for (size_t i = 0; i < found->count;) {
		*program = tr_makelog_program(names, found->words[i].text);
		if (!program->wrapper)
			return i;
		struct tr_text name = tr_path_base(found->words[i].text);
		const char *values = program->reads_words ? "EILPadns"
				     : *name.data == 'n'  ? "n"
							  : "Cu";
		*reads_words |= program->reads_words;
		for (i++; i < found->count; i++) {
			struct tr_text text = found->words[i].text;
			bool option = text.len && *text.data == '-';
			if (!option && !memchr(text.data, '=', text.len))
				break;
			i += option && text.len == 2 && text.data[1] &&
			     strchr(values, text.data[1]);
		}
	}
	return found->count;
}

size_t tr_makelog_find_tool(struct tr_makelog_names *names, const struct tr_makelog_found *found,
			    size_t begin, struct tr_makelog_program first)
{
	const struct tr_word *words = found->words;
	size_t count = found->count, i = begin;

	if (begin == count)
		return count;
	struct tr_makelog_program program = first;
	if (program.tool == TR_TOOL_NONE && program.shell && i + 1 < count &&
	    tr_makelog_program(names, words[i + 1].text).tool == TR_TOOL_LIBTOOL)
		program.tool = TR_TOOL_LIBTOOL;
	while (program.tool == TR_TOOL_LAUNCHER && i + 1 < count)
		program = tr_makelog_program(names, words[++i].text);
	if (program.tool != TR_TOOL_NONE && program.tool != TR_TOOL_LAUNCHER)
		return is_plausible(names, program, words + i, count - i) ? begin : count;
	if (first.no_runner)
		return count;
	for (i = begin + 1; i < count && i < begin + 64; i++) {
		uint8_t tool = tr_makelog_program(names, words[i].text).tool;
		if ((tool == TR_TOOL_DRIVER || tool == TR_TOOL_DRIVER_CL) &&
		    is_run(names, words + i, count - i, is_runner(tr_path_base(words[begin].text))))
			return i;
	}
	return count;
}

size_t tr_makelog_find_script(const struct tr_makelog_found *found, size_t shell)
{
	bool script = false;
	size_t i = shell + 1;

	while (i < found->count) {
		struct tr_text text = found->words[i].text;
		if (text.len < 2 || *text.data != '-')
			break;
		bool letters = text.data[1] != '-';
		script |= letters && memchr(text.data, 'c', text.len);
		i += 1 + (letters && memchr(text.data, 'o', text.len));
	}
	return script && i < found->count ? i : 0;
}

size_t tr_makelog_find_remote(const struct tr_makelog_found *found, size_t ssh)
{
	size_t i = ssh + 1;

	for (; i < found->count && tr_text_starts(found->words[i].text, TR_TEXT("-")); i++) {
		struct tr_text text = found->words[i].text;
		i += text.len == 2 && memchr("BDEFIJLOPQRSWbceilmopw", text.data[1], 22);
	}
	return i + 2 == found->count ? i + 1 : 0;
}

struct tr_text tr_makelog_directory_of(const struct tr_makelog_found *found, size_t begin,
				       struct tr_buffer *to)
{
	struct tr_text directory = found->directory, path = { NULL, 0 };

	for (size_t i = 1; i < begin; i++) {
		struct tr_text text = found->words[i].text;
		if (tr_text_is(text, "-C") || tr_text_is(text, "chdir"))
			path = i + 1 < begin ? found->words[i + 1].text : path;
		else if (tr_text_starts(text, TR_TEXT("--chdir=")))
			path = (struct tr_text){ text.data + 8, text.len - 8 };
	}
	if (!path.len || (!tr_path_is_absolute(path) && !directory.data))
		return directory;
	tr_directory_join(tr_path_is_absolute(path) ? TR_TEXT("/") : directory, path, to);
	return tr_buffer_text(to);
}
