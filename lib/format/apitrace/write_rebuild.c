/* Signatures whose definitions were lost, as far as the records show them. */
#include <string.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/write_signature.h"

struct tr_apitrace_signature *tr_rebuilt_shown(const struct tr_written_signatures *signatures)
{
	return tr_map_get(&signatures->shown, tr_buffer_text(&signatures->scratch));
}

void tr_rebuilt_begin_key(struct tr_written_signatures *signatures, char what, uint64_t number)
{
	tr_buffer_reset(&signatures->scratch);
	tr_buffer_put_byte(&signatures->scratch, what);
	tr_buffer_put_hex(&signatures->scratch, number, 1);
	tr_buffer_put_byte(&signatures->scratch, '\0');
}

struct tr_apitrace_signature *tr_rebuilt_make(struct tr_written_signatures *signatures,
					      struct tr_apitrace_signature *draft,
					      const uint64_t *preferred)
{
	draft->id = preferred && tr_written_id_is_free(signatures, draft->table, *preferred)
			    ? *preferred
			    : tr_written_free_id(signatures, draft->table);
	struct tr_text key =
		tr_arena_copy(&signatures->rebuilt.arena, tr_buffer_text(&signatures->scratch));
	struct tr_apitrace_signature *made = tr_apitrace_define(&signatures->rebuilt, draft);
	if (signatures->scratch.failed || !key.data || !made)
		return NULL;
	made->wire = made->id;
	if (!tr_id_map_put(&signatures->taken[draft->table], made->wire, made) ||
	    !tr_map_put(&signatures->shown, key, made))
		return NULL;
	return made;
}

static bool same_members(const struct tr_apitrace_signature *signature,
			 const struct tr_value *value)
{
	if (signature->count != value->count)
		return false;
	for (size_t i = 0; i < value->count; i++)
		if (!tr_text_equal(signature->labels[i].key, value->as.members[i].key))
			return false;
	return true;
}

static struct tr_apitrace_label *new_labels(struct tr_written_signatures *signatures, size_t count)
{
	struct tr_apitrace_label *labels =
		tr_arena_alloc(signatures->scratch_arena, count * sizeof *labels);
	if (labels)
		memset(labels, 0, count * sizeof *labels);
	return labels;
}

struct tr_apitrace_signature *tr_written_struct(struct tr_written_signatures *signatures,
						const struct tr_value *value)
{
	bool has_id = value->flags & TR_HAS_ID;
	struct tr_apitrace_signature *defined =
		has_id ? tr_apitrace_signature(&signatures->defined, TR_APITRACE_STRUCTS, value->id)
		       : NULL;
	if (defined && same_members(defined, value))
		return defined;
	tr_rebuilt_begin_key(signatures, has_id ? 'S' : 's', has_id ? value->id : 0);
	for (size_t i = 0; i < value->count; i++) {
		tr_buffer_put_text(&signatures->scratch, value->as.members[i].key);
		tr_buffer_put_byte(&signatures->scratch, '\0');
	}
	struct tr_apitrace_signature *rebuilt = tr_rebuilt_shown(signatures);
	if (rebuilt)
		return rebuilt;
	struct tr_apitrace_signature draft = {
		.table = TR_APITRACE_STRUCTS,
		.name = defined ? defined->name : TR_TEXT(""),
		.count = value->count,
		.labels = new_labels(signatures, value->count),
	};
	for (size_t i = 0; draft.labels && i < value->count; i++) {
		draft.labels[i].name =
			tr_string_bytes(value->as.members[i].key, signatures->scratch_arena);
		if (!draft.labels[i].name.data)
			return NULL;
	}
	signatures->any_rebuilt |= !defined;
	return draft.labels ? tr_rebuilt_make(signatures, &draft, has_id ? &value->id : NULL)
			    : NULL;
}

/* One constant, or none where the value has no name. */
static struct tr_apitrace_signature *make_single(struct tr_written_signatures *signatures,
						 enum tr_apitrace_table table, struct tr_text name,
						 uint64_t number, uint8_t tag)
{
	struct tr_apitrace_signature draft = {
		.table = table,
		.name = TR_TEXT(""),
		.count = name.data != NULL,
		.labels = new_labels(signatures, 1),
	};
	if (!draft.labels)
		return NULL;
	draft.labels[0] = (struct tr_apitrace_label){ .name = name, .number = number, .tag = tag };
	return tr_rebuilt_make(signatures, &draft, NULL);
}

/* As apitrace shows what has no name. */
static void put_signed(struct tr_buffer *to, uint64_t bits)
{
	bool negative = bits > INT64_MAX;
	if (negative)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, negative ? 0 - bits : bits);
}

struct tr_apitrace_signature *tr_written_enum(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id,
					      bool negative, bool single)
{
	uint8_t tag = negative ? TR_APITRACE_SINT : TR_APITRACE_UINT;
	struct tr_apitrace_signature *defined =
		has_id ? tr_apitrace_signature(&signatures->defined, TR_APITRACE_ENUMS, symbol->id)
		       : NULL;
	if (defined && (!single || (defined->count == 1 && defined->labels[0].tag == tag &&
				    defined->labels[0].number == symbol->number)))
		return defined;
	struct tr_text name = { NULL, 0 };
	char digits[24];
	struct tr_buffer nameless = tr_buffer_over(digits, sizeof digits);
	if (symbol->count) {
		name = tr_string_bytes(symbol->names[0].text, signatures->scratch_arena);
		if (!name.data)
			return NULL;
	} else if (single) {
		put_signed(&nameless, negative ? 0 - symbol->number : symbol->number);
		name = tr_buffer_text(&nameless);
	}
	tr_rebuilt_begin_key(signatures, negative ? 'n' : 'e', name.data ? symbol->number : 0);
	tr_buffer_put_byte(&signatures->scratch, name.data ? '+' : '-');
	tr_buffer_put_text(&signatures->scratch, name);
	signatures->any_rebuilt |= !defined;
	struct tr_apitrace_signature *rebuilt = tr_rebuilt_shown(signatures);
	return rebuilt ? rebuilt
		       : make_single(signatures, TR_APITRACE_ENUMS, name, symbol->number, tag);
}

/*
 * Which of several names has which bits cannot be known: together they are one
 * name for all of them, spelled as apitrace shows them.
 */
struct tr_apitrace_signature *tr_written_mask(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id)
{
	struct tr_apitrace_signature *defined =
		has_id ? tr_apitrace_signature(&signatures->defined, TR_APITRACE_MASKS, symbol->id)
		       : NULL;
	if (defined)
		return defined;
	uint64_t bits = symbol->count ? symbol->number & ~symbol->unknown_bits : 0;
	tr_rebuilt_begin_key(signatures, 'm', bits);
	tr_buffer_put_byte(&signatures->scratch, symbol->count ? '+' : '-');
	size_t start = signatures->scratch.len;
	for (size_t i = 0; i < symbol->count; i++) {
		struct tr_text name =
			tr_string_bytes(symbol->names[i].text, signatures->scratch_arena);
		if (!name.data)
			return NULL;
		if (i)
			tr_buffer_put_literal(&signatures->scratch, " | ");
		tr_buffer_put_text(&signatures->scratch, name);
	}
	signatures->any_rebuilt = true;
	struct tr_apitrace_signature *rebuilt = tr_rebuilt_shown(signatures);
	if (rebuilt)
		return rebuilt;
	struct tr_text joined = { NULL, 0 };
	if (symbol->count)
		joined = tr_arena_copy(
			signatures->scratch_arena,
			tr_text_span(signatures->scratch.data + start,
				     signatures->scratch.data + signatures->scratch.len));
	return make_single(signatures, TR_APITRACE_MASKS, joined, bits, 0);
}

struct tr_apitrace_signature *tr_written_frame(struct tr_written_signatures *signatures,
					       uint64_t id)
{
	struct tr_apitrace_signature *frame =
		tr_apitrace_signature(&signatures->defined, TR_APITRACE_FRAMES, id);
	if (frame)
		return frame;
	tr_rebuilt_begin_key(signatures, 'k', id);
	frame = tr_rebuilt_shown(signatures);
	struct tr_apitrace_signature draft = { .table = TR_APITRACE_FRAMES, .name = TR_TEXT("") };
	signatures->any_rebuilt |= !frame;
	return frame ? frame : tr_rebuilt_make(signatures, &draft, &id);
}
