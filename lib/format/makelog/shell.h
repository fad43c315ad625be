/* SPDX-License-Identifier: MIT */
/* Private to shell.c and word.c: the state of the parser of shell commands. */
#ifndef TR_FORMAT_MAKELOG_SHELL_H
#define TR_FORMAT_MAKELOG_SHELL_H

#include "format/makelog/makelog.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/* The bytes that are examined at a time, and those that are copied at a time. */
enum { BLOCK = 64, PIECE = 32 };

/* The exit status of the last command, where that does not depend on the machine. */
enum fate { FATE_UNKNOWN, FATE_TRUE, FATE_FALSE };

struct tr_makelog_shell {
	tr_makelog_take *take;
	void *context;

	/* of the text */
	struct tr_buffer text;	  /* a copy, and blanks after it that a block may include */
	const char *pos, *end;	  /* in that copy */
	struct tr_buffer depbase; /* the value of automake's variable; empty: it is not set */
	enum tr_makelog_syntax syntax;
	struct tr_buffer directory; /* the current one */
	bool known;
	struct tr_buffer previous; /* that of cd - and popd; empty: unknown */
	struct scope {
		char *directory; /* NULL: unknown */
		size_t len;
	} scopes[TR_MAKELOG_DEPTH];
	size_t depth;
	size_t bodies; /* of if and loops, in which this is */
	size_t braces; /* { that are open */
	size_t cases;
	enum fate fate;
	bool by_line;  /* the command ends with its line */
	bool quoting;  /* the error is a quote without an end */
	bool moved;    /* a command has changed the directory */
	bool dangling; /* an operator at the end, which a command has to follow */
	struct here {
		size_t begin, len; /* of its delimiter, in delimiters */
		bool tabs;	   /* removes tabs in front of lines */
		bool script;	   /* a shell reads it */
	} heres[4];		   /* documents that begin in this line */
	size_t here_count;
	struct tr_buffer delimiters;
	bool endless; /* a document whose end is not in the text */

	/* of the command */
	struct tr_word *words; /* plain ones are parts of the text, the others in the arena */
	size_t count, cap;
	struct tr_arena arena;
	struct tr_buffer spelled; /* its words with escapes, and "," between */
	struct tr_buffer bytes;	  /* the last word that is not plain */
	bool quoted;		  /* the last word has quotes */
	bool literal;		  /* the last word means the same wherever it occurs */
	bool unexpanded;	  /* any of its words has what a shell would expand */
	bool conditional;	  /* it follows || */
	bool skipped;		  /* it is not run, or is no command: the list of a loop */
	bool failed;

	/*
	 * Literal arguments that were read before, each in the slot of a hash of its first bytes. A
	 * build repeats most of those that have quotes in every command: -DVERSION=\"1.0\".
	 */
	struct tr_makelog_seen {
		uint8_t source_len, len, spelled_len;
		char source[128]; /* with the blank after it */
		char bytes[128];
		char spelled[192];
	} seen[32];
};

/* Ends the parsing with an error; the first one counts. */
void tr_makelog_shell_fail(struct tr_makelog_shell *shell, enum tr_makelog_syntax syntax);

/*
 * True for bytes that only stand for themselves, within a word and outside of quotes, and that a
 * string of the stream has without an escape: letters, digits and those of + , - . / : = _ that are
 * frequent.
 */
static inline bool tr_makelog_is_plain(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '+' && c <= ':') || c == '=' || c == '_';
}

#if defined __SSE2__ && !defined TR_PORTABLE
/* Which of sixteen bytes are plain, one bit each. */
static inline unsigned tr_makelog_plain_mask(__m128i bytes)
{
	/* a range ends where a sum of signed bytes overflows, so one comparison finds it */
	__m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
	__m128i found = _mm_cmpgt_epi8(_mm_add_epi8(lower, _mm_set1_epi8(INT8_MAX - 'z')),
				       _mm_set1_epi8(INT8_MAX - 'z' + 'a' - 1));
	__m128i sign = _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(INT8_MAX - ':')),
				      _mm_set1_epi8(INT8_MAX - ':' + '+' - 1));

	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
	sign = _mm_or_si128(sign, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(found, sign));
}
#endif

/* Any word at pos. Valid until the next call. */
struct tr_text tr_makelog_shell_word(struct tr_makelog_shell *shell);

/* The directory of the command; data NULL: unknown. */
struct tr_text tr_makelog_shell_directory(const struct tr_makelog_shell *shell);

/* Passes on what a shell runs that is started for it: the command sh -c SCRIPT. */
void tr_makelog_shell_script(struct tr_makelog_shell *shell, struct tr_text script);

#endif
