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

/* The exit status of the last command, if it is always the same. */
enum fate { FATE_UNKNOWN, FATE_TRUE, FATE_FALSE };

struct tr_makelog_shell {
	tr_makelog_take *take;
	void *context;

	/* the text and where the parser is */
	struct tr_buffer text;	  /* a copy of it, with blanks after it for wide loads */
	const char *pos, *end;	  /* in that copy */
	struct tr_buffer depbase; /* value of automake's variable $depbase; empty: not set */
	enum tr_makelog_syntax syntax;
	struct tr_buffer directory; /* the current one */
	bool known;
	struct tr_buffer previous; /* the directory of cd - and popd; empty: unknown */
	struct scope {
		char *directory; /* NULL: unknown */
		size_t len;
	} scopes[TR_MAKELOG_DEPTH];
	size_t depth;
	size_t bodies; /* open bodies of if and loops */
	size_t braces; /* open { */
	size_t cases;  /* open case */
	enum fate fate;
	bool by_line;  /* stop at the end of the line in which the first command ends */
	bool quoting;  /* the error is a quote that is open at the end */
	bool moved;    /* a command has changed the directory */
	bool dangling; /* the last operator needs another command after it */
	struct here {
		size_t begin, len; /* its delimiter, in delimiters */
		bool tabs;	   /* tabs in front of its lines are removed */
		bool script;	   /* a shell reads it */
	} heres[4];		   /* here-documents that begin after this line */
	size_t here_count;
	struct tr_buffer delimiters;
	bool endless; /* the end of a here-document is not in the text */

	/* the command */
	struct tr_word *words; /* plain ones are parts of the text, the others in the arena */
	size_t count, cap;
	struct tr_arena arena;
	struct tr_buffer spelled; /* its words as strings of the stream, with "," between */
	struct tr_buffer bytes;	  /* the last word that is not plain */
	bool quoted;		  /* the last word has quotes */
	bool literal;		  /* the last word means the same wherever it occurs */
	bool unexpanded;	  /* a word has text that only a shell can expand */
	bool conditional;	  /* it follows || */
	bool skipped;		  /* it does not run, or is the list of a loop */
	bool failed;

	/*
	 * A cache of literal arguments, by a hash of their first bytes. A build repeats most of
	 * those that have quotes in every command: -DVERSION=\"1.0\".
	 */
	struct tr_makelog_seen {
		uint8_t source_len, len, spelled_len;
		char source[128]; /* with the blank after it */
		char bytes[128];
		char spelled[192];
	} seen[32];
};

/* Ends the parsing with an error. A second error is ignored. */
void tr_makelog_shell_fail(struct tr_makelog_shell *shell, enum tr_makelog_syntax syntax);

/*
 * True for bytes that have no special meaning in a word outside of quotes, and need no escape in a
 * string of the stream: letters, digits and + , - . / : = _, as the most frequent ones.
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
	/* bytes above a range overflow to negative ones, so one comparison checks both ends */
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

/* Reads the word at pos, of any kind. Valid until the next call. */
struct tr_text tr_makelog_shell_word(struct tr_makelog_shell *shell);

/* The directory of the command; data NULL: unknown. */
struct tr_text tr_makelog_shell_directory(const struct tr_makelog_shell *shell);

/* Passes a script that a subshell runs to take, as the command sh -c SCRIPT. */
void tr_makelog_shell_script(struct tr_makelog_shell *shell, struct tr_text script);

#endif
