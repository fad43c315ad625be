/* SPDX-License-Identifier: MIT */

#include "record/vocabulary.h"

#include "record/context.h"

static const char *const kinds[] = {
	"meta", "env",	 "envset", "exec",   "fork",	 "exit",   "signal", "comm",
	"sys",	"line",	 "lost",   "raw",    "call",	 "enter",  "leave",  "section",
	"info", "block", "load",   "unload", "loadaddr", "module", "unit",
};

/* Beside the columns and what programs name themselves: arguments of calls, and of sys from a0 on.
 */
static const char *const fields[] = {
	"kind",	      "seq",	   "time",    "task",	"name",	     "value",	 "vars",
	"var",	      "tasks",	   "parent",  "ppid",	"cwd",	     "argv",	 "env",
	"envdiff",    "envtop",	   "interp",  "file",	"output",    "respfile", "status",
	"signal",     "end",	   "error",   "rid",	"extra",     "child",	 "flags",
	"info",	      "stopped",   "core",    "comm",	"path",	     "orig",	 "mode",
	"return",     "fd",	   "oldfd",   "newfd",	"fds",	     "from",	 "to",
	"target",     "resolved",  "link",    "source", "type",	     "dur",	 "failed",
	"events",     "text",	   "reason",  "bits",	"endian",    "machine",	 "data",
	"size",	      "op",	   "module",  "hits",	"address",   "id",	 "base",
	"statements", "decisions", "mcdc",    "frame",	"backtrace", "duration", "cpu",
	"tgid",	      "pid",	   "flagged",
};

enum {
	KINDS = sizeof kinds / sizeof *kinds,
	FIELDS = sizeof fields / sizeof *fields,
};

static bool is_in(const char *const *words, size_t count, struct tr_text word)
{
	for (size_t i = 0; i < count; i++) {
		if (tr_text_is(word, words[i]))
			return true;
	}
	return false;
}

bool tr_is_known_kind(struct tr_text kind)
{
	return is_in(kinds, KINDS, kind);
}

bool tr_is_known_field(struct tr_text key)
{
	return is_in(fields, FIELDS, key);
}

static void offer(struct tr_similar *similar, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tr_similar_offer(similar, tr_text_from(words[i]));
}

void tr_offer_kinds(struct tr_similar *similar)
{
	offer(similar, kinds, KINDS);
}

void tr_offer_fields(struct tr_similar *similar)
{
	offer(similar, fields, FIELDS);
}

const char *const tr_context_kinds[TR_CONTEXT_KINDS] = {
	"env", "envset", "meta", "section", "info", "module", "load", "unload", "loadaddr",
};

int tr_context_kind(struct tr_text kind)
{
	for (int i = 0; i < TR_CONTEXT_KINDS; i++) {
		if (tr_text_is(kind, tr_context_kinds[i]))
			return i;
	}
	return -1;
}
