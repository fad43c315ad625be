#include "expr/parse.h"

static const struct {
	const char *word;
	enum tr_subject subject;
} columns[] = {
	{ "kind", TR_SUBJECT_KIND }, { "seq", TR_SUBJECT_SEQ },	  { "time", TR_SUBJECT_TIME },
	{ "task", TR_SUBJECT_TASK }, { "name", TR_SUBJECT_NAME },
};

static enum tr_subject subject_of(struct tr_text word)
{
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		if (tr_text_is(word, columns[i].word))
			return columns[i].subject;
	}
	return TR_SUBJECT_KEY;
}

/* A word that can begin a field. */
static bool at_word(const struct tr_parser *parser)
{
	return parser->token.type == TR_TOKEN_WORD && !tr_parse_is_word(parser, "and") &&
	       !tr_parse_is_word(parser, "or") && !tr_parse_is_word(parser, "not");
}

static struct tr_step *add_step(struct tr_parser *parser, struct tr_path *path,
				enum tr_step_type type)
{
	struct tr_step *step = tr_parse_alloc(parser, sizeof *step);
	if (!step)
		return NULL;
	step->type = type;
	*(path->last_step ? &path->last_step->next : &path->steps) = step;
	path->last_step = step;
	return step;
}

/* DIGITS; what does not fit 64 bits is out of every list's range all the same. */
static bool read_index(struct tr_text digits, uint64_t *index)
{
	*index = 0;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.data[i];
		if (c < '0' || c > '9')
			return false;
		if (__builtin_mul_overflow(*index, 10, index) ||
		    __builtin_add_overflow(*index, (uint64_t)(c - '0'), index))
			*index = UINT64_MAX / 16;
	}
	return true;
}

/* [N] or ["NAME"], at the bracket. */
static bool parse_bracket(struct tr_parser *parser, struct tr_path *path)
{
	uint64_t index = 0;
	if (!tr_parse_advance(parser))
		return false;
	bool is_name = parser->token.type == TR_TOKEN_STRING;
	if (!is_name &&
	    (parser->token.type != TR_TOKEN_NUMBER || !read_index(parser->token.text, &index)))
		return tr_parse_fail(parser, "an index or a \"name\" is expected");
	struct tr_step *step = add_step(parser, path, is_name ? TR_STEP_MEMBER : TR_STEP_INDEX);
	if (!step)
		return false;
	step->index = index;
	step->name = parser->token.text;
	return tr_parse_advance(parser) && tr_parse_expect(parser, TR_TOKEN_BRACKET_END, "']'");
}

/* .member, at the dot. */
static bool parse_member(struct tr_parser *parser, struct tr_path *path)
{
	if (!tr_parse_advance(parser))
		return false;
	if (parser->token.type != TR_TOKEN_WORD)
		return tr_parse_fail(parser, "the name of a member is expected");
	struct tr_step *step = add_step(parser, path, TR_STEP_MEMBER);
	if (!step)
		return false;
	step->name = parser->token.text;
	return tr_parse_advance(parser);
}

static bool parse_steps(struct tr_parser *parser, struct tr_path *path, bool *bare)
{
	for (;; *bare = false) {
		bool fine;
		if (parser->token.type == TR_TOKEN_BRACKET)
			fine = parse_bracket(parser, path);
		else if (parser->token.type == TR_TOKEN_DOT)
			fine = parse_member(parser, path);
		else
			return true;
		if (!fine)
			return false;
	}
}

/* KEY, `KEY` or #N behind "->". */
static bool parse_arrow(struct tr_parser *parser, struct tr_path *path)
{
	if (!tr_parse_advance(parser))
		return false;
	if (parser->token.type != TR_TOKEN_WORD && parser->token.type != TR_TOKEN_KEY)
		return tr_parse_fail(parser, "a field is expected after ->");
	path->after_arrow = true;
	path->key = parser->token.text;
	return tr_parse_advance(parser);
}

/* basename(FIELD), len(FIELD), at the parenthesis. */
static bool parse_function(struct tr_parser *parser, struct tr_path *path, struct tr_text name,
			   enum tr_step_type function)
{
	bool fine = tr_parse_enter(parser) && tr_parse_advance(parser) &&
		    tr_parse_field(parser, path, NULL) &&
		    tr_parse_close(parser, name) && add_step(parser, path, function) != NULL;
	tr_parse_leave(parser);
	return fine;
}

/* A variable is asked for, however the record spells its environment. */
static bool is_environment(const struct tr_path *path)
{
	return tr_text_is(path->key, "env") && path->steps &&
	       path->steps->type == TR_STEP_MEMBER;
}

bool tr_parse_field(struct tr_parser *parser, struct tr_path *path, bool *bare)
{
	const char *begin = parser->lexer.begin + parser->token.column - 1;
	bool ignored, fine = true;
	if (!bare)
		bare = &ignored;
	*bare = false;
	path->subject = TR_SUBJECT_KEY;
	if (parser->token.type == TR_TOKEN_ARROW) {
		fine = parse_arrow(parser, path) && parse_steps(parser, path, bare);
	} else if (parser->token.type == TR_TOKEN_KEY) {
		path->key = parser->token.text;
		fine = tr_parse_advance(parser) && parse_steps(parser, path, bare);
	} else if (at_word(parser)) {
		struct tr_text word = parser->token.text;
		path->key = word;
		if (!tr_parse_advance(parser))
			return false;
		bool call = parser->token.type == TR_TOKEN_OPEN;
		if (call && tr_text_is(word, "basename")) {
			fine = parse_function(parser, path, word, TR_STEP_BASENAME);
		} else if (call && tr_text_is(word, "len")) {
			fine = parse_function(parser, path, word, TR_STEP_LEN);
		} else {
			path->subject = subject_of(word);
			*bare = true;
			fine = parse_steps(parser, path, bare);
			path->environment = is_environment(path);
		}
	} else {
		return tr_parse_fail(parser, "a field or a kind is expected");
	}
	path->text = tr_text_span(begin, parser->last.data + parser->last.len);
	return fine;
}
