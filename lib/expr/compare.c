#include "config.h"

#include "expr/compare.h"

#include <string.h>

#include "expr/many.h"

/* The bytes of a symbol's name. */
static struct tr_text name_bytes(struct tr_compare *compare, const struct tr_name *name)
{
	struct tr_text bytes = tr_string_bytes(name->text, compare->arena);
	if (!bytes.data) {
		compare->trouble |= TR_TROUBLE_MEMORY;
		return TR_TEXT("");
	}
	return bytes;
}

/* A symbol is equal to a word when that is all it is: one name and no further bits. */
static bool symbol_is(struct tr_compare *compare, const struct tr_value *value, struct tr_text word)
{
	const struct tr_symbol *symbol = value->as.symbol;
	return symbol->count == 1 && !symbol->unknown_bits &&
	       tr_text_equal(name_bytes(compare, &symbol->names[0]), word);
}

static bool symbol_has(struct tr_compare *compare, const struct tr_value *value,
		       struct tr_text word)
{
	const struct tr_symbol *symbol = value->as.symbol;
	for (size_t i = 0; i < symbol->count; i++) {
		if (tr_text_equal(name_bytes(compare, &symbol->names[i]), word))
			return true;
	}
	return false;
}

static bool has_words(struct tr_compare *compare, const struct tr_test *test,
		      const struct tr_leaf *leaf)
{
	if (leaf->type == TR_LEAF_TEXT)
		compare->trouble |= TR_TROUBLE_WORD;
	if (leaf->type != TR_LEAF_SYMBOL)
		return false;
	for (const struct tr_literal *word = test->literals; word; word = word->next) {
		if (!symbol_has(compare, leaf->value, word->text))
			return false;
	}
	return true;
}

static bool in_range(const struct tr_leaf *leaf, const struct tr_literal *range)
{
	enum tr_order low = tr_number_compare(&leaf->number, &range->number);
	enum tr_order high = tr_number_compare(&leaf->number, &range->high);
	return (low == TR_EQUAL || low == TR_GREATER) && (high == TR_EQUAL || high == TR_LESS);
}

static bool is_equal(struct tr_compare *compare, const struct tr_leaf *leaf,
		     const struct tr_literal *literal)
{
	switch (literal->type) {
	case TR_LITERAL_NULL:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_NULL;
	case TR_LITERAL_FALSE:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_FALSE;
	case TR_LITERAL_TRUE:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_TRUE;
	case TR_LITERAL_NUMBER:
		return leaf->has_number &&
		       tr_number_compare(&leaf->number, &literal->number) == TR_EQUAL;
	case TR_LITERAL_RANGE:
		return leaf->has_number && in_range(leaf, literal);
	case TR_LITERAL_STRING:
		if (leaf->type == TR_LEAF_SYMBOL)
			return symbol_is(compare, leaf->value, literal->text);
		return leaf->type == TR_LEAF_TEXT && tr_text_equal(leaf->bytes, literal->text);
	case TR_LITERAL_WORD:
		if (leaf->type == TR_LEAF_TEXT && leaf->is_value)
			compare->trouble |= TR_TROUBLE_WORD;
		return leaf->type == TR_LEAF_SYMBOL &&
		       symbol_is(compare, leaf->value, literal->text);
	}
	return false;
}

static bool is_any_equal(struct tr_compare *compare, const struct tr_test *test,
			 const struct tr_leaf *leaf)
{
	if (test->many && leaf->type != TR_LEAF_SYMBOL &&
	    (!leaf->has_number || tr_many_takes(&leaf->number)))
		return (leaf->type == TR_LEAF_TEXT && tr_many_has_text(test->many, leaf->bytes)) ||
		       (leaf->has_number && tr_many_has_number(test->many, &leaf->number));
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (is_equal(compare, leaf, literal))
			return true;
	}
	return false;
}

static enum tr_order order_of_bytes(struct tr_text a, struct tr_text b)
{
	size_t common = a.len < b.len ? a.len : b.len;
	int order = common ? memcmp(a.data, b.data, common) : 0;
	if (order == 0)
		order = (a.len > b.len) - (a.len < b.len);
	return order < 0 ? TR_LESS : order > 0 ? TR_GREATER : TR_EQUAL;
}

static enum tr_order order_of(struct tr_compare *compare, const struct tr_leaf *leaf,
			      const struct tr_literal *literal)
{
	if (literal->type == TR_LITERAL_NUMBER && leaf->has_number)
		return tr_number_compare(&leaf->number, &literal->number);
	if (literal->type == TR_LITERAL_STRING && leaf->type == TR_LEAF_TEXT)
		return order_of_bytes(leaf->bytes, literal->text);
	if (literal->type == TR_LITERAL_WORD && leaf->type == TR_LEAF_TEXT && leaf->is_value)
		compare->trouble |= TR_TROUBLE_WORD;
	return TR_UNORDERED;
}

static bool match_regex(struct tr_compare *compare, const struct tr_regex *regex,
			struct tr_text bytes)
{
	switch (tr_regex_match(regex, bytes, compare->scratch)) {
	case TR_REGEX_YES:
		return true;
	case TR_REGEX_NO:
		return false;
	case TR_REGEX_LIMIT:
		compare->trouble |= TR_TROUBLE_REGEX;
		return false;
	case TR_REGEX_FAILED:
		compare->trouble |= TR_TROUBLE_MEMORY;
		return false;
	}
	return false;
}

static bool match_bytes(struct tr_compare *compare, const struct tr_test *test,
			struct tr_text bytes)
{
	if (test->op == TR_OP_REGEX)
		return match_regex(compare, test->regex, bytes);
	struct tr_text part = test->literals->text;
	if (part.len > bytes.len)
		return false;
	if (part.len == 0)
		return true;
	if (test->op == TR_OP_PREFIX)
		return memcmp(bytes.data, part.data, part.len) == 0;
	if (test->op == TR_OP_SUFFIX)
		return memcmp(bytes.data + bytes.len - part.len, part.data, part.len) == 0;
	return memmem(bytes.data, bytes.len, part.data, part.len) != NULL;
}

/* Of a symbol, any of its names. */
static bool match_text(struct tr_compare *compare, const struct tr_test *test,
		       const struct tr_leaf *leaf)
{
	if (leaf->type == TR_LEAF_TEXT)
		return match_bytes(compare, test, leaf->bytes);
	if (leaf->type != TR_LEAF_SYMBOL)
		return false;
	const struct tr_symbol *symbol = leaf->value->as.symbol;
	for (size_t i = 0; i < symbol->count; i++) {
		if (match_bytes(compare, test, name_bytes(compare, &symbol->names[i])))
			return true;
	}
	return false;
}

bool tr_compare_leaf(struct tr_compare *compare, const struct tr_test *test,
		     const struct tr_leaf *leaf)
{
	enum tr_order order;
	switch (test->op) {
	case TR_OP_EXISTS:
		return true;
	case TR_OP_EQ:
		return is_any_equal(compare, test, leaf);
	case TR_OP_LT:
		return order_of(compare, leaf, test->literals) == TR_LESS;
	case TR_OP_GT:
		return order_of(compare, leaf, test->literals) == TR_GREATER;
	case TR_OP_LE:
		order = order_of(compare, leaf, test->literals);
		return order == TR_LESS || order == TR_EQUAL;
	case TR_OP_GE:
		order = order_of(compare, leaf, test->literals);
		return order == TR_GREATER || order == TR_EQUAL;
	case TR_OP_PREFIX:
	case TR_OP_SUFFIX:
	case TR_OP_CONTAINS:
	case TR_OP_REGEX:
		return match_text(compare, test, leaf);
	case TR_OP_HAS_WORDS:
		return has_words(compare, test, leaf);
	}
	return false;
}
