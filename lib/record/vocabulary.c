/* SPDX-License-Identifier: MIT */
/*
 * The kinds, fields and words that trec(5) defines. Tools compare names with them, and suggest
 * them for names that were probably misspelled.
 */

#include "record/vocabulary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const known_kinds[] = {
	"meta",	  "env",     "envset", "exec",	 "fork",    "exit",	   "signal",
	"comm",	  "sys",     "line",   "lost",	 "raw",	    "call",	   "enter",
	"leave",  "section", "info",   "block",	 "load",    "unload",	   "loadaddr",
	"module", "unit",    "use",    "source", "srcline", "srcfunction", "srcbranch",
};

/* In addition: columns, and names from programs (arguments of calls; those of sys from a0 on). */
static const char *const known_fields[] = {
	"kind",	      "seq",	   "time",    "task",	 "name",      "value",	  "vars",
	"var",	      "tasks",	   "parent",  "ppid",	 "cwd",	      "argv",	  "env",
	"envdiff",    "envtop",	   "interp",  "file",	 "output",    "respfile", "status",
	"signal",     "end",	   "error",   "rid",	 "extra",     "child",	  "flags",
	"info",	      "stopped",   "core",    "comm",	 "path",      "orig",	  "mode",
	"return",     "fd",	   "oldfd",   "newfd",	 "fds",	      "from",	  "to",
	"target",     "resolved",  "link",    "source",	 "type",      "dur",	  "failed",
	"events",     "text",	   "reason",  "bits",	 "endian",    "machine",  "data",
	"size",	      "op",	   "module",  "hits",	 "address",   "id",	  "base",
	"statements", "decisions", "mcdc",    "frame",	 "backtrace", "duration", "cpu",
	"tgid",	      "pid",	   "flagged", "caller",	 "ip",	      "function", "does",
	"exec",	      "assumed",   "count",   "path1",	 "path2",     "by",	  "diff",
	"line",	      "last_line", "test",    "version", "checksum",  "block",	  "branch",
	"exception",  "language",  "part",    "project",
};

enum {
	KINDS = sizeof known_kinds / sizeof *known_kinds,
	FIELDS = sizeof known_fields / sizeof *known_fields,
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
	return is_in(known_kinds, KINDS, kind);
}

bool tr_is_known_field(struct tr_text key)
{
	return is_in(known_fields, FIELDS, key);
}

/* Offers all words of a list as suggestions. */
static void offer(struct tr_similar *similar, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tr_similar_offer(similar, tr_text_from(words[i]));
}

void tr_offer_kinds(struct tr_similar *similar)
{
	offer(similar, known_kinds, KINDS);
}

void tr_offer_fields(struct tr_similar *similar)
{
	offer(similar, known_fields, FIELDS);
}

const char *const tr_context_kinds[TR_CONTEXT_KINDS] = {
	"env",	  "envset", "meta",   "section",  "info",
	"module", "load",   "unload", "loadaddr", "source",
};

int tr_context_kind(struct tr_text kind)
{
	for (int i = 0; kind.len && i < TR_CONTEXT_KINDS; i++) {
		if (*kind.data == *tr_context_kinds[i] && tr_text_is(kind, tr_context_kinds[i]))
			return i;
	}
	return -1;
}

/* Appends as much of the text as there is room for after len; returns the new length. */
static size_t append(char label[TR_UNSUPPORTED_NAME], size_t len, struct tr_text text)
{
	size_t room = TR_UNSUPPORTED_NAME - 1 - len, more = text.len < room ? text.len : room;

	memcpy(label + len, text.data, more);
	label[len + more] = '\0';
	return len + more;
}

void tr_unsupported_add_part(struct tr_unsupported_kinds *kinds, struct tr_text kind,
			     struct tr_text call, const char *field, const char *reason)
{
	char label[TR_UNSUPPORTED_NAME] = "";
	size_t i = 0, length = append(label, 0, kind);

	if (call.len) {
		length = append(label, length, TR_TEXT(" "));
		append(label, length, call);
	}
	/*
	 * a writer may leave out millions of records, so all bytes of a label are compared:
	 * compilers make that a few instructions, but call a function for strings
	 */
	while (i < kinds->count &&
	       (kinds->kinds[i].reason != reason || kinds->kinds[i].field != field ||
		memcmp(kinds->kinds[i].kind, label, sizeof label) != 0))
		i++;
	if (i == TR_UNSUPPORTED_KINDS)
		i--;
	if (i == kinds->count) {
		memcpy(kinds->kinds[i].kind, label, sizeof label);
		kinds->kinds[i].field = field;
		kinds->kinds[i].reason = reason;
		kinds->count++;
	}
	kinds->kinds[i].count++;
}

void tr_unsupported_add(struct tr_unsupported_kinds *kinds, struct tr_text kind)
{
	if (tr_context_kind(kind) >= 0)
		kinds->context++;
	else
		tr_unsupported_add_part(kinds, kind, TR_TEXT(""), NULL, NULL);
}

bool tr_unsupported_look(struct tr_unsupported_kinds *kinds, const char *const *list,
			 struct tr_text kind)
{
	for (; *list; list++) {
		if (tr_text_is(kind, *list))
			return kinds->supported = true;
	}
	tr_unsupported_add(kinds, kind);
	return false;
}

void tr_unsupported_list(const struct tr_unsupported_kinds *kinds, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < kinds->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
					 i ? ", " : "", kinds->kinds[i].count,
					 kinds->kinds[i].kind);
}

enum tr_status tr_unsupported_report(struct tr_unsupported_kinds *kinds, const char *format,
				     struct tr_error *err)
{
	if (tr_unsupported_all(kinds)) {
		char list[TR_ERROR_TEXT / 2];
		tr_unsupported_list(kinds, list, sizeof list);
		tr_error_set(err, TR_CAUSE_INPUT, "%s cannot hold any of the records here: %s",
			     format, list);
		return TR_FATAL;
	}
	if (kinds->context && !kinds->supported && !kinds->noted) {
		kinds->noted = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "no events here, only context records: %s gets none of these %" PRIu64,
			     format, kinds->context);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (kinds->reported == kinds->count)
		return TR_OK;
	size_t i = kinds->reported++;
	const char *kind = kinds->kinds[i].kind, *field = kinds->kinds[i].field;
	const char *reason = kinds->kinds[i].reason;
	const char *open = reason ? " (" : "", *close = reason ? ")" : "";
	if (field)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "%s cannot hold the field %s of %s records: left out %" PRIu64
			     " times%s%s%s",
			     format, field, kind, kinds->kinds[i].count, open, reason ? reason : "",
			     close);
	else
		tr_error_set(err, TR_CAUSE_INPUT,
			     "%s cannot hold %s records: %" PRIu64 " left out%s%s%s", format, kind,
			     kinds->kinds[i].count, open, reason ? reason : "", close);
	if (err)
		err->severity = TR_DETAIL;
	return TR_WARN;
}
