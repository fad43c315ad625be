#include "record/literal.h"

enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err)
{
	unsigned traits = 0;
	enum tr_spelling spelling = tr_literal_examine(text, &traits, err);
	if (json)
		*json = spelling == TR_CANONICAL && !(traits & TR_TRAIT_NO_JSON);
	return spelling;
}
