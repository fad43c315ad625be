#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"

#include <inttypes.h>

static struct tr_value *add(struct tr_apitrace_parse *parse, struct tr_record *record,
			    struct tr_text key)
{
	struct tr_value *value = tr_apitrace_alloc(parse, 1, sizeof *value);
	if (!value)
		return NULL;
	*value = (struct tr_value){ .type = TR_NULL };
	if (!tr_record_add(record, key, value)) {
		tr_apitrace_no_memory(parse);
		return NULL;
	}
	return value;
}

bool tr_apitrace_add_number(struct tr_apitrace_parse *parse, struct tr_record *record,
			    struct tr_text key, uint64_t number)
{
	struct tr_value *value = add(parse, record, key);
	if (!value)
		return false;
	*value = (struct tr_value){ .type = TR_UINT, .as.number = number };
	return true;
}

/* [NAME,VALUE] */
static bool set_pair(struct tr_apitrace_parse *parse, struct tr_text name, struct tr_text text,
		     struct tr_value *pair)
{
	enum { PAIR = 2 };
	*pair = (struct tr_value){ .type = TR_LIST, .count = PAIR };
	pair->as.items = tr_apitrace_alloc(parse, PAIR, sizeof *pair->as.items);
	return pair->as.items && tr_apitrace_set_string(parse, name, &pair->as.items[0]) &&
	       tr_apitrace_set_string(parse, text, &pair->as.items[1]);
}

/* The list grows as the properties come: nobody says how many they are. */
static bool add_pair(struct tr_apitrace_parse *parse, struct tr_value *list, size_t *cap,
		     struct tr_text name, struct tr_text text)
{
	if (list->count == *cap) {
		size_t more = *cap ? *cap * 2 : 8;
		struct tr_value *items = tr_apitrace_alloc(parse, more, sizeof *items);
		if (!items)
			return false;
		if (list->count)
			memcpy(items, list->as.items, list->count * sizeof *items);
		list->as.items = items;
		*cap = more;
	}
	return set_pair(parse, name, text, &list->as.items[list->count++]);
}

static bool parse_properties(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	struct tr_value *list = add(parse, record, TR_TEXT("properties"));
	size_t cap = 0;
	if (!list)
		return false;
	*list = (struct tr_value){ .type = TR_LIST };
	for (;;) {
		struct tr_text name, text;
		if (!tr_apitrace_string(parse, &name))
			return false;
		if (name.len == 0)
			return true;
		if (!tr_apitrace_string(parse, &text) || !add_pair(parse, list, &cap, name, text))
			return false;
	}
}

static bool newer(struct tr_apitrace_parse *parse)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_INPUT,
		     "version %" PRIu64 " of the format is not known: the newest known is %d",
		     parse->version, TR_APITRACE_VERSION);
	return false;
}

bool tr_apitrace_parse_head(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	uint64_t semantic;
	if (!tr_apitrace_uint(parse, &parse->version))
		return false;
	if (parse->version > TR_APITRACE_VERSION &&
	    (!parse->any_version || parse->version > TR_APITRACE_ANY_VERSION))
		return newer(parse);
	if (!tr_apitrace_add_number(parse, record, TR_TEXT("version"), parse->version))
		return false;
	if (parse->version < TR_APITRACE_HAS_PROPERTIES)
		return true;
	const char *where = parse->p;
	if (!tr_apitrace_uint(parse, &semantic) ||
	    !tr_apitrace_add_number(parse, record, TR_TEXT("semantic"), semantic))
		return false;
	if (semantic > parse->version) {
		parse->flawed = true;
		tr_error_set(&parse->flaw, TR_CAUSE_INPUT,
			     "semantic version %" PRIu64 " in a trace of version %" PRIu64,
			     semantic, parse->version);
		parse->flaw.severity = TR_FLAW;
		tr_error_at_offset(&parse->flaw, tr_apitrace_offset(parse, where));
	}
	return parse_properties(parse, record);
}
