#include "format/apitrace/signature.h"

#include "core/buffer.h"
#include "format/apitrace/apitrace.h"
#include "record/literal.h"

const char *const tr_apitrace_words[TR_APITRACE_TABLES] = { "fn", "struct", "enum", "mask",
							    "frame" };
const char tr_apitrace_letters[TR_APITRACE_TABLES + 1] = "FSEMK";

void tr_apitrace_signatures_free(struct tr_apitrace_signatures *signatures)
{
	for (unsigned i = 0; i < TR_APITRACE_TABLES; i++) {
		struct tr_apitrace_signature *signature;
		size_t position = 0;
		while ((signature = tr_id_map_next(&signatures->tables[i], &position))) {
			tr_id_map_free(&signature->values);
			tr_map_free(&signature->names);
		}
		tr_id_map_free(&signatures->tables[i]);
	}
	tr_map_free(&signatures->functions);
	tr_arena_free(&signatures->arena);
	memset(signatures->few, 0, sizeof signatures->few);
}

bool tr_apitrace_index_enum(struct tr_apitrace_signature *signature)
{
	for (size_t i = signature->count; i-- > 0;) {
		struct tr_apitrace_label *label = &signature->labels[i];
		uint64_t key = tr_apitrace_enum_key(label->tag == TR_APITRACE_SINT, label->number);
		/* backwards: of equal ones the first counts */
		if (!tr_id_map_put(&signature->values, key, label))
			return false;
	}
	return true;
}

struct tr_apitrace_signature *tr_apitrace_function(const struct tr_apitrace_signatures *signatures,
						   struct tr_text name)
{
	return tr_map_get(&signatures->functions, name);
}

/* tr_map knows no key without data. */
static struct tr_text present(struct tr_text text)
{
	return text.data ? text : TR_TEXT("");
}

/* Copies all texts of the draft into one block; what is left of it is returned. */
static char *copy_texts(const struct tr_apitrace_signature *draft, char *to,
			struct tr_apitrace_signature *signature)
{
	for (size_t i = 0; i <= draft->count; i++) {
		bool last = i == draft->count;
		struct tr_text from = last ? draft->name : draft->labels[i].name;
		if (from.len)
			memcpy(to, from.data, from.len);
		*(last ? &signature->name : &signature->labels[i].name) =
			(struct tr_text){ to, from.len };
		to += from.len;
	}
	return to;
}

static struct tr_apitrace_signature *copy(struct tr_arena *arena,
					  const struct tr_apitrace_signature *draft)
{
	size_t bytes = draft->name.len;
	for (size_t i = 0; i < draft->count; i++)
		bytes += draft->labels[i].name.len;
	if (draft->count > (SIZE_MAX / 2 - sizeof *draft - bytes) / sizeof *draft->labels)
		return NULL;
	size_t labels = draft->count * sizeof *draft->labels;
	struct tr_apitrace_signature *signature =
		tr_arena_alloc(arena, sizeof *signature + labels + bytes);
	if (!signature)
		return NULL;
	*signature = (struct tr_apitrace_signature){
		.table = draft->table,
		.id = draft->id,
		.count = draft->count,
		.labels = (struct tr_apitrace_label *)(signature + 1),
	};
	for (size_t i = 0; i < draft->count; i++)
		signature->labels[i] = (struct tr_apitrace_label){
			.number = draft->labels[i].number,
			.tag = draft->labels[i].tag,
		};
	copy_texts(draft, (char *)(signature + 1) + labels, signature);
	return signature;
}

/*
 * Marks the arguments whose name cannot be a key, because a key has to say
 * which argument it is: by `plain`, which stays set where it can.
 */
static bool mark_keys(struct tr_apitrace_signature *function)
{
	struct tr_map names = TR_MAP_INIT;
	bool done = true;
	for (size_t i = 0; i < function->count && done; i++) {
		struct tr_apitrace_label *label = &function->labels[i], *first;
		label->plain = label->name.len && !tr_text_is(label->name, "return");
		first = tr_map_get(&names, label->name);
		if (first)
			first->plain = label->plain = false;
		else
			done = tr_map_put(&names, label->name, label);
	}
	tr_map_free(&names);
	return done;
}

static void spell_argument(const struct tr_apitrace_label *label, size_t i, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '\t');
	if (label->plain) {
		tr_cell_escape(label->name, true, to);
	} else {
		tr_buffer_put_byte(to, '#');
		tr_buffer_put_decimal(to, i);
	}
	tr_buffer_put_byte(to, '=');
}

static void put_slack(struct tr_buffer *to)
{
	static const char slack[TR_APITRACE_LEAD_SLACK];
	tr_buffer_put(to, slack, sizeof slack);
}

/* The keys of arguments, each within its lead, all in one block. */
static bool spell_arguments(struct tr_arena *arena, struct tr_apitrace_signature *function)
{
	struct tr_buffer leads = TR_BUFFER_INIT;
	for (size_t i = 0; i < function->count; i++) {
		struct tr_apitrace_label *label = &function->labels[i];
		size_t start = leads.len;
		spell_argument(label, i, &leads);
		label->lead.len = leads.len - start;
	}
	put_slack(&leads);
	struct tr_text block = tr_arena_copy(arena, tr_buffer_text(&leads));
	bool done = !leads.failed && block.data;
	for (size_t i = 0; i < function->count && done; i++) {
		struct tr_apitrace_label *label = &function->labels[i];
		label->lead.data = block.data;
		label->key = (struct tr_text){ block.data + 1, label->lead.len - 2 };
		block.data += label->lead.len;
	}
	tr_buffer_free(&leads);
	return done;
}

/* The keys of the others; those that are the names themselves need no bytes of their own. */
static bool spell_keys(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	struct tr_buffer keys = TR_BUFFER_INIT;
	for (size_t i = 0; i < signature->count; i++) {
		struct tr_apitrace_label *label = &signature->labels[i];
		size_t start = keys.len;
		label->plain = tr_string_escape(label->name, &keys);
		if (keys.failed)
			break;
		label->key = (struct tr_text){ NULL, keys.len - start };
		if (label->plain) {
			label->key = label->name;
			keys.len = start;
		}
	}
	struct tr_text block = tr_arena_copy(arena, tr_buffer_text(&keys));
	bool done = !keys.failed && block.data;
	for (size_t i = 0; i < signature->count && done; i++) {
		struct tr_text *key = &signature->labels[i].key;
		if (signature->labels[i].plain)
			continue;
		key->data = block.data;
		block.data += key->len;
	}
	tr_buffer_free(&keys);
	return done;
}

static bool spell_cell(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	struct tr_buffer cell = TR_BUFFER_INIT;
	tr_cell_escape(signature->name, false, &cell);
	size_t len = cell.len;
	put_slack(&cell);
	if (!cell.failed)
		signature->cell = tr_arena_copy(arena, tr_buffer_text(&cell));
	signature->cell.len = len;
	tr_buffer_free(&cell);
	return signature->cell.data;
}

static bool spell(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	switch (signature->table) {
	case TR_APITRACE_FUNCTIONS:
		return mark_keys(signature) && spell_cell(arena, signature) &&
		       spell_arguments(arena, signature);
	case TR_APITRACE_FRAMES:
		return true;
	default:
		return spell_keys(arena, signature);
	}
}

struct tr_apitrace_signature *tr_apitrace_define(struct tr_apitrace_signatures *signatures,
						 const struct tr_apitrace_signature *draft)
{
	struct tr_apitrace_signature *signature = copy(&signatures->arena, draft);
	if (!signature || !spell(&signatures->arena, signature))
		return NULL;
	if (draft->table == TR_APITRACE_FUNCTIONS) {
		struct tr_text name = present(signature->name);
		signature->again = tr_map_get(&signatures->functions, name);
		if (!signature->again && !tr_map_put(&signatures->functions, name, signature))
			return NULL;
	}
	if (!tr_id_map_put(&signatures->tables[draft->table], draft->id, signature)) {
		if (draft->table == TR_APITRACE_FUNCTIONS && !signature->again)
			tr_map_take(&signatures->functions, signature->name);
		return NULL;
	}
	if (draft->id < TR_APITRACE_FEW)
		signatures->few[draft->table][draft->id] = signature;
	return signature;
}

bool tr_apitrace_signature_equal(const struct tr_apitrace_signature *a,
				 const struct tr_apitrace_signature *b)
{
	if (a->table != b->table || a->id != b->id || a->count != b->count ||
	    !tr_text_equal(a->name, b->name))
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct tr_apitrace_label *x = &a->labels[i], *y = &b->labels[i];
		if (x->number != y->number || x->tag != y->tag || !tr_text_equal(x->name, y->name))
			return false;
	}
	return true;
}
