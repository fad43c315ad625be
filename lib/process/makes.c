/* SPDX-License-Identifier: MIT */
/*
 * Commands are compared as the text of the field argv. Where two texts differ, the word around that
 * place is found in both, and what the two words may be depends on the role of the one that was
 * parsed (enum freedom).
 */
#include "process/makes.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "process/call.h"
#include "process/path.h"
#include "record/string_scan.h"

enum {
	SETS = 256, /* many, so that two of the programs of a build seldom share one */
	WAYS = 4,   /* commands that are kept of the programs of a set */
	TEXT_MAX = 32 << 10,
	WORDS_MAX = 1024,
	NO_WORD = UINT32_MAX,
};

/* The words that another command may have in place of a word, so that the rest keep their roles. */
enum freedom {
	NOTHING_ELSE,
	ANY_VALUE,  /* of an option that neither names an output nor changes roles */
	ANY_OUTPUT, /* a value as well, but not an empty one, nor standard output */
	ANY_FILE,   /* with the same extension */
	ANY_OPTION, /* that differs only in the value that is in the same word */
};

struct word {
	uint32_t at, len; /* in the text of argv */
	enum freedom freedom;
};

/* A program that is no build tool, or a command that was parsed. */
struct known {
	char *name; /* of the program, as in the record; NULL: the entry is free */
	char *text; /* of argv, after the name; NULL: no build tool */
	struct word *words;
	size_t name_len, text_len, count;
	size_t made; /* the word that names the file; NO_WORD: none */
	struct tr_program program;
};

struct tr_makes {
	struct tr_compilers *compilers;
	uint64_t seed;
	struct known known[SETS][WAYS]; /* the one that was used last comes first */
	uint64_t tools[SETS];		/* hashes of names of programs that may be build tools */
};

struct tr_makes *tr_makes_new(struct tr_compilers *compilers)
{
	struct tr_makes *makes = calloc(1, sizeof *makes);

	if (makes) {
		makes->compilers = compilers;
		makes->seed = tr_hash_seed(makes);
	}
	return makes;
}

static void forget(struct known *known)
{
	free(known->name);
	free(known->words);
	*known = (struct known){ 0 };
}

void tr_makes_free(struct tr_makes *makes)
{
	for (size_t i = 0; makes && i < SETS * WAYS; i++)
		forget(&makes->known[i / WAYS][i % WAYS]);
	free(makes);
}

/* Comparing. */

/* True if a word begins an option, or may name a response file. */
static bool is_special(const struct known *known, struct tr_text word)
{
	struct tr_text prefix =
		tr_compilers_text(known->program.table, known->program.section->prefix);

	return !word.len || memchr("@-", *word.data, 2) ||
	       memchr(prefix.data, *word.data, prefix.len);
}

/* True if a command may have the other word where the known one has the old one. */
static bool may_replace(const struct known *known, enum freedom freedom, struct tr_text old,
			struct tr_text other)
{
	/* wherever it is, all words are read in another way */
	if (tr_text_starts(other, TR_TEXT("--driver-mode=")))
		return false;
	switch (freedom) {
	case NOTHING_ELSE:
		return false;
	case ANY_VALUE:
		/* a value may be one only because it is a number: -G 8 */
		return (!other.len || *other.data != '@') &&
		       (!tr_text_is_digits(old) || tr_text_is_digits(other));
	case ANY_OUTPUT:
		return other.len && other.data[0] != '@' && !tr_text_is(other, "-");
	case ANY_FILE:
		return !is_special(known, other) &&
		       tr_text_equal(tr_path_extension(old), tr_path_extension(other));
	case ANY_OPTION:
		return other.len > 2 && *other.data == '-' &&
		       !tr_text_starts(other, TR_TEXT("-cc1")) &&
		       tr_invocation_alike(&known->program, old, other);
	}
	return false;
}

/* The word whose text, or whose end, is at that place; a place between words has none: NULL. */
static const struct word *word_at(const struct known *known, size_t at, size_t *i)
{
	while (*i < known->count && known->words[*i].at + known->words[*i].len < at)
		++*i;
	return *i < known->count && known->words[*i].at <= at ? &known->words[*i] : NULL;
}

/*
 * True if a command is like a known one. Sets *file to what it makes, in its own text; data NULL:
 * nothing.
 */
static bool is_like(const struct known *known, struct tr_text argv, struct tr_text *file)
{
	const char *old = known->text, *old_end = old + known->text_len;
	const char *new = argv.data, *new_end = new + argv.len;
	const struct word *made = known->made == NO_WORD ? NULL : &known->words[known->made];
	size_t i = 0;

	*file = (struct tr_text){ NULL, 0 };
	for (;;) {
		size_t left = (size_t)(old_end - old), new_left = (size_t)(new_end - new);
		size_t same = tr_text_common(old, new, left < new_left ? left : new_left);
		size_t at = (size_t)(old - known->text) + same;
		bool ends = same == left && same == new_left;
		const struct word *word = ends ? NULL : word_at(known, at, &i);

		if (!ends && !word)
			return false;
		/* a word before this place moved as far as the text did */
		if (made && !file->data && (ends || made < word))
			*file = (struct tr_text){ new + (known->text + made->at - old), made->len };
		if (ends)
			return true;
		const char *begin = new + (known->text + word->at - old);
		const char *end = tr_string_special(new + same, new_end);
		if (new_end - end < 2 || *end != '"')
			return false;
		struct tr_text now = tr_text_span(begin, end);
		if (!may_replace(known, word->freedom,
				 (struct tr_text){ known->text + word->at, word->len }, now))
			return false;
		if (word == made)
			*file = now;
		old = known->text + word->at + word->len;
		new = end;
	}
}

/* Keeping. */

/* Returns what another command may have in place of the word of a part. */
static enum freedom freedom_of(const struct known *known, const struct tr_part *part)
{
	bool option = part->text.len > 2 && *part->text.data == '-' &&
		      !tr_text_starts(part->text, TR_TEXT("-cc1"));

	if (part->value && part->role == TR_ROLE_OUTPUT)
		return part->text.len && !tr_text_is(part->text, "-") ? ANY_OUTPUT : NOTHING_ELSE;
	if (part->value)
		return tr_invocation_is_inert(part->role) ? ANY_VALUE : NOTHING_ELSE;
	if (part->role == TR_ROLE_SOURCE || part->role == TR_ROLE_INPUT)
		return is_special(known, part->text) ? NOTHING_ELSE : ANY_FILE;
	return option && tr_invocation_is_inert(part->role) ? ANY_OPTION : NOTHING_ELSE;
}

/*
 * True if the result for other commands can be derived from this one: its words are in the text, no
 * response file takes part, and its program does not depend on the words after it.
 */
static bool is_plain(const struct tr_call *call, struct tr_text argv)
{
	const struct tr_invocation *invocation = &call->invocation;
	const struct tr_command *command = &call->command;
	const struct tr_section *section = call->program.section;

	if (call->tool == TR_TOOL_NONE || !section || call->program.calls || command->cut ||
	    !command->argc || command->argc > WORDS_MAX || argv.len > TEXT_MAX ||
	    call->expansion.files || call->expansion.missing ||
	    (call->rules->count && call->rules != &tr_respfile_usual) || !invocation->orderly ||
	    section->notation == TR_NOTATION_KEIL ||
	    invocation->launchers + invocation->count != command->argc ||
	    /* a compiler's name that is a link to ccache */
	    (!invocation->launchers && call->path.data != command->executable.data))
		return false;
	for (size_t i = 0; i < command->argc; i++)
		if (command->argv[i].data < argv.data ||
		    command->argv[i].data + command->argv[i].len >= argv.data + argv.len)
			return false;
	return true;
}

/* Sets the words of a command. False: the file that it makes is no whole word. */
static bool set_words(struct known *known, const struct tr_call *call, struct tr_text argv,
		      struct tr_text file)
{
	const struct tr_invocation *invocation = &call->invocation;
	size_t fixed = invocation->launchers + tr_call_archive(call);

	known->program = invocation->program;
	known->made = NO_WORD;
	for (size_t i = 0; i < known->count; i++) {
		struct tr_text word = call->command.argv[i];
		bool parsed = i >= invocation->launchers;
		known->words[i] = (struct word){ (uint32_t)(word.data - argv.data),
						 (uint32_t)word.len, NOTHING_ELSE };
		if (parsed && (call->tool != TR_TOOL_ARCHIVER || i >= fixed))
			known->words[i].freedom =
				freedom_of(known, &invocation->parts[i - invocation->launchers]);
		/* an option in place of an archive may move it: tr_call_archive */
		if (i == fixed && known->words[i].freedom != ANY_FILE)
			known->words[i].freedom = NOTHING_ELSE;
		if (file.data == word.data && file.len == word.len)
			known->made = i;
	}
	return !file.data || known->made != NO_WORD;
}

/* Keeps what is known of a program or a command. Without memory it is not kept. */
static void keep(struct known *set, struct tr_text name, const struct tr_call *call,
		 struct tr_text argv, struct tr_text file)
{
	size_t count = call->command.argc, text_len = call->unrelated ? 0 : argv.len;
	struct known new = { .name_len = name.len, .text_len = text_len, .count = count };

	if (!call->unrelated && !is_plain(call, argv))
		return;
	new.name = malloc(name.len + text_len + 1);
	new.words = malloc((count + 1) * sizeof *new.words);
	if (!new.name || !new.words || (count && !set_words(&new, call, argv, file))) {
		forget(&new);
		return;
	}
	memcpy(new.name, name.data, name.len);
	if (text_len) {
		new.text = new.name + name.len;
		memcpy(new.text, argv.data, text_len);
	}
	forget(&set[WAYS - 1]);
	memmove(set + 1, set, (WAYS - 1) * sizeof *set);
	*set = new;
}

/* Returns the text of argv. data NULL: there is none, or memory is exhausted. */
static struct tr_text argv_of(struct tr_record *record)
{
	bool fine = tr_record_split(record, NULL) != TR_FATAL;
	const struct tr_field *field = fine ? tr_record_field(record, "argv") : NULL;

	return field && !field->value ? field->text : (struct tr_text){ NULL, 0 };
}

bool tr_makes_nothing(struct tr_makes *makes, struct tr_record *record)
{
	struct tr_text name = record->name.text, file;

	if (record->name.type != TR_CELL_TEXT || !name.len)
		return false;
	uint64_t hash = tr_text_hash(makes->seed, name);
	const struct known *set = makes->known[hash % SETS];
	for (unsigned step = 0; step < 2 && makes->tools[hash % SETS] != hash; step++) {
		for (size_t i = 0; i < WAYS && set[i].name; i++)
			if (tr_text_equal((struct tr_text){ set[i].name, set[i].name_len }, name))
				return !set[i].text;
		if (step == 0 && !tr_makes_find(makes, record, &file))
			return false;
	}
	makes->tools[hash % SETS] = hash;
	return false;
}

bool tr_makes_find(struct tr_makes *makes, struct tr_record *record, struct tr_text *file)
{
	struct tr_text name = record->name.text, argv = { NULL, 0 };
	struct tr_call call;

	if (record->name.type != TR_CELL_TEXT || !name.len)
		return tr_call_read_makes(record, makes->compilers, &call, file);
	struct known *set = makes->known[tr_text_hash(makes->seed, name) % SETS];
	for (size_t i = 0; i < WAYS && set[i].name; i++) {
		if (!tr_text_equal((struct tr_text){ set[i].name, set[i].name_len }, name))
			continue;
		*file = (struct tr_text){ NULL, 0 };
		if (set[i].text && !argv.data)
			argv = argv_of(record);
		if (set[i].text && (!argv.data || !is_like(&set[i], argv, file)))
			continue;
		struct known found = set[i];
		memmove(set + 1, set, i * sizeof *set);
		*set = found;
		return true;
	}
	argv = argv_of(record);
	if (!tr_call_read_makes(record, makes->compilers, &call, file))
		return false;
	/* the arguments of a shell decide whether it runs libtool */
	if (argv.data && !(call.unrelated && tr_command_is_shell(tr_command_executable(record))))
		keep(set, name, &call, argv, *file);
	return true;
}
