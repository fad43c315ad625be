/* Symbols of the value grammar: enums, masks, words of fixed sets. */
#include <string.h>

#include "record/literal_scan.h"

struct names {
	struct tr_name *list;
	size_t count, cap;
};

static bool add_name(struct tr_scan *scan, struct names *names, struct tr_text name)
{
	enum { FIRST = 4 };
	if (scan->arena && names->count == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : FIRST;
		struct tr_name *list = tr_arena_alloc(scan->arena, cap * sizeof *list);
		if (!list)
			return tr_scan_fail_memory(scan);
		if (names->count)
			memcpy(list, names->list, names->count * sizeof *list);
		names->list = list;
		names->cap = cap;
	}
	if (scan->arena)
		names->list[names->count].text = name;
	names->count++;
	return true;
}

/* Behind a "|": a name, or the bits that have none. */
static bool scan_name(struct tr_scan *scan, struct names *names, uint64_t *unknown_bits)
{
	const char *start = scan->pos;
	if (tr_scan_at(scan, '"')) {
		struct tr_text name;
		bool plain;
		if (!tr_scan_string(scan, false, &name, &plain))
			return false;
		/* quotes are for what is no word in this place */
		if (tr_is_word(name, tr_scan_at(scan, '(')))
			scan->canonical = false;
		return add_name(scan, names, name);
	}
	if (scan->end - start >= 2 && start[0] == '0' && start[1] == 'x') {
		scan->pos += 2;
		if (!tr_scan_hex(scan, "unknown bits", unknown_bits))
			return false;
		return *unknown_bits ? true
				     : tr_scan_fail(scan, scan->pos, "unknown bits are zero");
	}
	if (start == scan->end || !tr_is_word_start(*start))
		return tr_scan_fail(scan, start, "name expected");
	struct tr_text word = tr_scan_word(scan);
	if (!tr_is_word(word, tr_scan_at(scan, '(')))
		return tr_scan_fail(scan, start, "%.*s must be quoted here", (int)word.len,
				    word.data);
	return add_name(scan, names, word);
}

/* Behind the "(": the number, its table, the ")". */
static bool scan_machine_number(struct tr_scan *scan, struct tr_symbol *symbol, uint8_t *flags)
{
	bool hex = scan->end - scan->pos >= 2 && scan->pos[0] == '0' && scan->pos[1] == 'x';
	symbol->numbered = hex ? TR_SYMBOL_MASK : TR_SYMBOL_ENUM;
	if (hex) {
		scan->pos += 2;
		if (!tr_scan_hex(scan, "number", &symbol->number))
			return false;
	} else {
		if (tr_scan_at(scan, '-')) {
			*flags |= TR_NEGATIVE;
			scan->pos++;
		}
		if (!tr_scan_digits(scan, "number", &symbol->number))
			return false;
	}
	bool has_id;
	if (!tr_scan_id(scan, hex ? 'M' : 'E', &has_id, &symbol->id))
		return false;
	if (has_id)
		*flags |= TR_HAS_ID;
	if (!tr_scan_at(scan, ')'))
		return tr_scan_fail_expected(scan, "')'");
	scan->pos++;
	if (!hex && (symbol->count > 1 || symbol->unknown_bits))
		return tr_scan_fail(scan, scan->pos, "the number of a mask is hex");
	return true;
}

bool tr_scan_symbol(struct tr_scan *scan, struct tr_text first, bool quoted,
		    struct tr_value *value)
{
	struct tr_symbol symbol = { .numbered = TR_SYMBOL_WORDS };
	struct names names = { NULL, 0, 0 };
	*value = (struct tr_value){ .type = TR_SYMBOL };
	scan->traits |= TR_TRAIT_NO_JSON;
	if (first.data && !add_name(scan, &names, first))
		return false;
	if (quoted && tr_is_word(first, tr_scan_at(scan, '(')))
		scan->canonical = false;
	while (tr_scan_at(scan, '|')) {
		if (symbol.unknown_bits)
			return tr_scan_fail(scan, scan->pos, "unknown bits must be last");
		scan->pos++;
		if (!scan_name(scan, &names, &symbol.unknown_bits))
			return false;
	}
	symbol.names = names.list;
	symbol.count = names.count;
	if (tr_scan_at(scan, '(')) {
		scan->pos++;
		if (!scan_machine_number(scan, &symbol, &value->flags))
			return false;
	}
	if (!scan->arena)
		return true;
	value->as.symbol = tr_arena_alloc(scan->arena, sizeof symbol);
	if (!value->as.symbol)
		return tr_scan_fail_memory(scan);
	*value->as.symbol = symbol;
	return true;
}
