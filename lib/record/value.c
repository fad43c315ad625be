#include "record/value.h"

/* Words that mean something else when they stand alone. */
static bool is_reserved(struct tr_text word)
{
	static const char *const reserved[] = { "null", "true", "false", "none", "inf",
						"inff", "nan",  "nanf",  "L" };
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (tr_text_is(word, reserved[i]))
			return true;
	return false;
}

bool tr_is_word(struct tr_text name, bool before_parenthesis)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	if (name.len == 0)
		return false;
	return before_parenthesis || name.len > 5 || !is_reserved(name);
}
