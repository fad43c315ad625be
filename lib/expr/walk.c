#include "config.h"

#include "expr/walk.h"

#include <string.h>

struct tr_text tr_walk_basename(struct tr_text path)
{
	const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
	return slash ? tr_text_span(slash + 1, path.data + path.len) : path;
}

static bool is_key(struct tr_text spelling, struct tr_text name, struct tr_arena *arena)
{
	if (tr_text_equal(spelling, name))
		return !memchr(name.data ? name.data : "", '\\', name.len);
	if (!spelling.len || !memchr(spelling.data, '\\', spelling.len))
		return false;
	struct tr_text bytes = tr_string_bytes(spelling, arena);
	return bytes.data && tr_text_equal(bytes, name);
}

const struct tr_value *tr_walk_step(const struct tr_value *value, const struct tr_step *step,
				    struct tr_arena *arena)
{
	if (step->type == TR_STEP_INDEX)
		return value->type == TR_LIST && step->index < value->count
			       ? &value->as.items[step->index]
			       : NULL;
	if (step->type != TR_STEP_MEMBER || (value->type != TR_MAP && value->type != TR_STRUCT))
		return NULL;
	for (size_t i = value->count; i > 0; i--) {
		const struct tr_member *member = &value->as.members[i - 1];
		if (is_key(member->key, step->name, arena))
			return member->value;
	}
	return NULL;
}

bool tr_walk_count(const struct tr_value *value, uint64_t *count)
{
	switch (value->type) {
	case TR_LIST:
	case TR_MAP:
	case TR_STRUCT:
		*count = value->count;
		return true;
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		*count = value->as.number;
		return true;
	default:
		return false;
	}
}

bool tr_walk_bytes(const struct tr_value *value, struct tr_arena *arena, struct tr_text *bytes)
{
	*bytes = value->text;
	if (value->type == TR_BLOB)
		return true;
	if (value->type != TR_STRING && value->type != TR_WSTRING) {
		*bytes = TR_TEXT("");
		return false;
	}
	if (!(value->flags & TR_PLAIN))
		*bytes = tr_string_bytes(value->text, arena);
	return bytes->data != NULL;
}

static bool walk_count(struct tr_compare *compare, const struct tr_test *test, uint64_t count,
		       const struct tr_step *steps)
{
	struct tr_leaf leaf = { .type = TR_LEAF_NUMBER, .has_number = true };
	leaf.number = tr_number_from_count(count);
	return !steps && tr_compare_leaf(compare, test, &leaf);
}

bool tr_walk_leaf(struct tr_compare *compare, const struct tr_test *test,
		  const struct tr_leaf *leaf, const struct tr_step *steps)
{
	if (!steps)
		return tr_compare_leaf(compare, test, leaf);
	if (leaf->type != TR_LEAF_TEXT)
		return false;
	if (steps->type == TR_STEP_LEN)
		return walk_count(compare, test, leaf->bytes.len, steps->next);
	struct tr_leaf base;
	base.type = TR_LEAF_TEXT;
	base.is_value = leaf->is_value;
	base.has_number = false;
	base.bytes = leaf->bytes;
	for (; steps && steps->type == TR_STEP_BASENAME; steps = steps->next)
		base.bytes = tr_walk_basename(base.bytes);
	if (!steps)
		return tr_compare_leaf(compare, test, &base);
	return steps->type == TR_STEP_LEN && walk_count(compare, test, base.bytes.len, steps->next);
}

/* What a value is that has nothing below it. */
static bool make_leaf(struct tr_compare *compare, const struct tr_value *value,
		      struct tr_leaf *leaf)
{
	*leaf = (struct tr_leaf){ .type = TR_LEAF_OTHER, .is_value = true, .value = value };
	switch (value->type) {
	case TR_NULL:
	case TR_FALSE:
	case TR_TRUE:
		leaf->type = TR_LEAF_CONSTANT;
		leaf->constant = value->type;
		return true;
	case TR_STRING:
	case TR_WSTRING:
	case TR_BLOB:
		leaf->type = TR_LEAF_TEXT;
		if (tr_walk_bytes(value, compare->arena, &leaf->bytes))
			return true;
		compare->trouble |= TR_TROUBLE_MEMORY;
		return false;
	case TR_MAP:
	case TR_STRUCT:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		return true;
	default:
		leaf->type = value->type == TR_SYMBOL ? TR_LEAF_SYMBOL : TR_LEAF_NUMBER;
		leaf->has_number = tr_number_from_value(value, &leaf->number);
		return true;
	}
}

static bool walk_items(struct tr_compare *compare, const struct tr_test *test,
		       const struct tr_value *value, const struct tr_step *steps)
{
	for (size_t i = 0; i < value->count; i++) {
		if (tr_walk_value(compare, test, &value->as.items[i], steps))
			return true;
	}
	return false;
}

bool tr_walk_value(struct tr_compare *compare, const struct tr_test *test,
		   const struct tr_value *value, const struct tr_step *steps)
{
	uint64_t count;
	struct tr_leaf leaf;
	if (!steps && test->op == TR_OP_EXISTS)
		return true;
	if (value->type == TR_REPR)
		return walk_items(compare, test, value, steps);
	/* a pointer to a structure is a list of it: a member is looked for in every element */
	if (steps && steps->type == TR_STEP_MEMBER && value->type == TR_LIST)
		return walk_items(compare, test, value, steps);
	if (steps && (steps->type == TR_STEP_INDEX || steps->type == TR_STEP_MEMBER)) {
		const struct tr_value *next = tr_walk_step(value, steps, compare->arena);
		return next && tr_walk_value(compare, test, next, steps->next);
	}
	if (steps && steps->type == TR_STEP_LEN && tr_walk_count(value, &count))
		return walk_count(compare, test, count, steps->next);
	if (value->type == TR_LIST)
		return walk_items(compare, test, value, steps);
	return make_leaf(compare, value, &leaf) && tr_walk_leaf(compare, test, &leaf, steps);
}
