/* SPDX-License-Identifier: MIT */
/*
 * Demangles names of C++ and Ada. The encoding of Ada's names is described in exp_dbug.ads of GNAT:
 *
 *	_ada_NAME		a main program
 *	a__b			a.b
 *	a__Oadd			a."+"
 *	a__b__2			the second overloading of a.b; also a__b__2_3
 *	a__bX, a__bXnb		b is nested in a body
 *	a__tTKB			the body of a task
 *	a__pN, a__pP		a protected operation, without and with its lock
 *	a__tSR, SW, SI, SO	a stream attribute: a.t'Read and so on
 *	a__tDF, DA		an operation of a controlled type: a.t.Finalize, .Adjust
 *	a___elabb, ___elabs	a'Elab_Body, a'Elab_Spec
 *	a__b_B2s, a__b_E2s	the body or the barrier of an entry
 *	a__b.1			a nested subprogram, numbered
 */
#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "core/library.h"

bool tr_demangle_begin(struct tr_demangle *demangle, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct tr_demangle, cxx, __cxa_demangle),
		{ NULL, 0 },
	};
	return tr_library_load("libstdc++.so.6", symbols, demangle, err);
}

void tr_demangle_free(struct tr_demangle *demangle)
{
	free(demangle->room);
	tr_buffer_free(&demangle->text);
}

/* True for a character of an identifier, which GNAT writes in lower case. */
static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || tr_is_digit(c);
}

struct replacement {
	const char *code, *text;
};

/* Moves *p over a code of the table, and appends its replacement. False: no code is there. */
static bool replace(const struct replacement *table, const char **p, struct tr_buffer *to)
{
	for (; table->code; table++) {
		size_t len = strlen(table->code);
		if (strncmp(*p, table->code, len) != 0)
			continue;
		*p += len;
		tr_buffer_put_text(to, tr_text_from(table->text));
		return true;
	}
	return false;
}

/* Moves *p over an identifier or an operator, and appends it. False: there is neither. */
static bool take_name(const char **p, struct tr_buffer *to)
{
	static const struct replacement operators[] = {
		{ "Oabs", "\"abs\"" },	{ "Oand", "\"and\"" },	  { "Omod", "\"mod\"" },
		{ "Onot", "\"not\"" },	{ "Oor", "\"or\"" },	  { "Orem", "\"rem\"" },
		{ "Oxor", "\"xor\"" },	{ "Oeq", "\"=\"" },	  { "One", "\"/=\"" },
		{ "Olt", "\"<\"" },	{ "Ole", "\"<=\"" },	  { "Ogt", "\">\"" },
		{ "Oge", "\">=\"" },	{ "Oadd", "\"+\"" },	  { "Osubtract", "\"-\"" },
		{ "Oconcat", "\"&\"" }, { "Omultiply", "\"*\"" }, { "Odivide", "\"/\"" },
		{ "Oexpon", "\"**\"" }, { NULL, NULL },
	};
	if (**p == 'O')
		return replace(operators, p, to);
	if (**p < 'a' || **p > 'z')
		return false;
	while (is_word(**p) || (**p == '_' && is_word((*p)[1])))
		tr_buffer_put_byte(to, *(*p)++);
	return true;
}

/* Moves *p over the marks of a body in which a name is nested. */
static void skip_nesting(const char **p)
{
	if (**p != 'X')
		return;
	do
		++*p;
	while (**p == 'n' || **p == 'b');
}

/* After an identifier: another one follows, the name has ended, or it cannot be decoded. */
enum next { NAME, END, UNKNOWN };

/*
 * Handles what follows two underscores: another name, an attribute, or the number of an
 * overloading.
 */
static enum next take_separator(const char **p, struct tr_buffer *to)
{
	static const struct replacement special[] = {
		{ "_elabb", "'Elab_Body" },	{ "_elabs", "'Elab_Spec" }, { "_size", "'Size" },
		{ "_alignment", "'Alignment" }, { "_assign", ".\":=\"" },   { NULL, NULL },
	};
	bool is_special = **p == '_';
	if (is_special && !replace(special, p, to))
		return UNKNOWN;
	if (is_special && strncmp(*p, "__", 2) == 0)
		*p += 2;
	if (tr_is_digit(**p)) {
		while (tr_is_digit(**p) || (**p == '_' && tr_is_digit((*p)[1])))
			++*p;
	} else if (!is_special) {
		tr_buffer_put_byte(to, '.');
		return NAME;
	}
	skip_nesting(p);
	return END;
}

/* Handles what follows an identifier. */
static enum next take_suffix(const char **p, struct tr_buffer *to)
{
	static const struct replacement attributes[] = {
		{ "SR", "'Read" },   { "SW", "'Write" }, { "SI", "'Input" },
		{ "SO", "'Output" }, { NULL, NULL },
	};
	static const struct replacement operations[] = {
		{ "DF", ".Finalize" },
		{ "DA", ".Adjust" },
		{ NULL, NULL },
	};
	if (strcmp(*p, "TKB") == 0 || strcmp(*p, "P") == 0 || strcmp(*p, "N") == 0) {
		*p += strlen(*p);
		return END;
	}
	if (strncmp(*p, "TK__", 4) == 0) {
		*p += 4;
		tr_buffer_put_byte(to, '.');
		return NAME;
	}
	skip_nesting(p);
	if (**p == 'S' && (*p)[1] && ((*p)[2] == '_' || !(*p)[2])) {
		if (!replace(attributes, p, to))
			return UNKNOWN;
	} else if (**p == 'D') {
		if (!replace(operations, p, to))
			return UNKNOWN;
		*p += strlen(*p);
		return END;
	}
	if (**p != '_')
		return END;
	++*p;
	if (**p == '_') {
		++*p;
		return take_separator(p, to);
	}
	if (**p != 'B' && **p != 'E')
		return UNKNOWN;
	do
		++*p;
	while (tr_is_digit(**p));
	if (strcmp(*p, "s") != 0)
		return UNKNOWN;
	++*p;
	return END;
}

/* Demangles a name of Ada. False: the name is not one. */
static bool demangle_ada(const char *p, struct tr_buffer *to)
{
	enum next next;
	if (strncmp(p, "_ada_", 5) == 0)
		p += 5;
	if (*p < 'a' || *p > 'z')
		return false;
	do {
		if (!take_name(&p, to))
			return false;
		next = take_suffix(&p, to);
	} while (next == NAME);
	if (*p == '.' && tr_is_digit(p[1]))
		do
			p++;
		while (tr_is_digit(*p));
	return next == END && !*p;
}

const char *tr_demangle(struct tr_demangle *demangle, const char *name, bool ada)
{
	int status = 0;
	if (!name)
		return name;
	if (strncmp(name, "_Z", 2) == 0) {
		char *text = demangle->cxx(name, demangle->room, &demangle->size, &status);
		demangle->failed |= status == -1;
		demangle->room = text ? text : demangle->room;
		return text ? text : name;
	}
	if (!ada && strncmp(name, "_ada_", 5) != 0)
		return name;
	tr_buffer_reset(&demangle->text);
	if (!demangle_ada(name, &demangle->text))
		return name;
	tr_buffer_put_byte(&demangle->text, 0);
	demangle->failed |= demangle->text.failed;
	return demangle->text.failed ? name : demangle->text.data;
}
