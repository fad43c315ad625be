/* From a call to its lines. */
#include "format/kwspec/kwspec.h"
#include "process/path.h"

/* Appends a field's bytes, so that they hold no separator. */
static void put_bytes(struct tr_buffer *to, struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];
		if (c == ';' || c == '%' || c == '\n' || c == '\r') {
			static const char digits[] = "0123456789ABCDEF";
			char code[] = { '%', digits[c >> 4 & 15], digits[c & 15] };
			tr_buffer_put(to, code, sizeof code);
		} else {
			tr_buffer_put_byte(to, c);
		}
	}
}

static void put_field(struct tr_buffer *to, struct tr_text bytes)
{
	tr_buffer_put_byte(to, ';');
	put_bytes(to, bytes);
}

static void put_path(struct tr_buffer *to, struct tr_text directory, struct tr_text path)
{
	struct tr_buffer whole = TR_BUFFER_INIT;

	tr_path_join(directory, path, &whole);
	put_field(to, tr_buffer_text(&whole));
	to->failed |= whole.failed;
	tr_buffer_free(&whole);
}

/*
 * An option that has other names, too, in the one that is written: what is searched
 * is -I, or -J for directories of the system. False: it has none.
 */
static bool put_renamed(struct tr_buffer *to, const struct tr_part *part, struct tr_text value)
{
	static const struct {
		const char *option, *written;
		bool apart; /* the value is a field of its own */
	} known[] = {
		/* longer ones before those that they begin with */
		{ "--include-directory-after=", "-J", false },
		{ "--include-directory-after", "-J", false },
		{ "--include-directory=", "-I", false },
		{ "--include-directory", "-I", false },
		{ "-internal-externc-isystem", "-J", false },
		{ "-internal-isystem", "-J", false },
		{ "-cxx-isystem", "-J", false },
		{ "-isystem-after", "-J", false },
		{ "-isystem", "-J", false },
		{ "-idirafter", "-J", false },
		{ "-iquote", "-I", false },
		{ "/external:I", "-J", false },
		{ "-external:I", "-J", false },
		{ "/imsvc", "-J", false },
		{ "-imsvc", "-J", false },
		{ "-I", "-I", false },
		{ "/I", "-I", false },
		{ "--define-macro=", "-D", false },
		{ "--define-macro", "-D", false },
		{ "--undefine-macro=", "-U", false },
		{ "--undefine-macro", "-U", false },
		{ "/D", "-D", false },
		{ "/U", "-U", false },
		{ "--include=", "-include", true },
		{ "--include", "-include", true },
		{ "--imacros", "-imacros", true },
		{ "/FI", "-include", true },
		{ "-FI", "-include", true },
		{ "--std=", "-std=", false },
		{ "/std:", "-std=", false },
		{ "-std:", "-std=", false },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct tr_text option = tr_text_from(known[i].option);
		if (!tr_text_starts(part->text, option))
			continue;
		if (!value.data)
			value = (struct tr_text){ part->text.data + option.len,
						  part->text.len - option.len };
		put_field(to, tr_text_from(known[i].written));
		if (known[i].apart)
			tr_buffer_put_byte(to, ';');
		put_bytes(to, value);
		return true;
	}
	return false;
}

/* An option and its value where that is a word of its own (else data NULL). */
static void put_flag(struct tr_buffer *to, const struct tr_part *part, struct tr_text value)
{
	bool joined = part->role == TR_ROLE_DEFINE;

	switch (part->role) {
	case TR_ROLE_SEARCH:
	case TR_ROLE_SYSTEM:
		put_renamed(to, part, value); /* and no frameworks */
		break;
	case TR_ROLE_DEFINE:
	case TR_ROLE_INCLUDE:
	case TR_ROLE_DIALECT:
		if (put_renamed(to, part, value))
			break;
		put_field(to, part->text);
		if (value.data && !joined)
			tr_buffer_put_byte(to, ';');
		if (value.data)
			put_bytes(to, value);
		break;
	default:
		break;
	}
}

static void put_flags(struct tr_buffer *to, const struct tr_invocation *invocation)
{
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		bool has_value = i + 1 < invocation->count && part[1].value;
		if (!part->value)
			put_flag(to, part, has_value ? part[1].text : (struct tr_text){ NULL, 0 });
	}
}

/* Sources of assemblers are none that Klocwork looks at. */
static bool is_assembly(struct tr_text source)
{
	static const char *const extensions[] = { ".s", ".S", ".sx", ".asm", NULL };
	struct tr_text extension = tr_path_extension(source);

	for (size_t i = 0; extensions[i]; i++)
		if (tr_text_is(extension, extensions[i]))
			return true;
	return false;
}

/* The object of a source; of several, or on the way to a program, each has its own. */
static bool put_object(struct tr_buffer *to, const struct tr_call *call, struct tr_text source,
		       struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool failed = false;
	struct tr_text object = tr_invocation_output(invocation, source, arena, &failed);

	if (!object.data && !failed)
		object = tr_invocation_object(invocation, source, arena);
	if (!object.data)
		return false;
	put_path(to, call->command.directory, object);
	return true;
}

static bool put_compile(struct tr_buffer *to, const struct tr_call *call, struct tr_text source,
			struct tr_text flags, struct tr_arena *arena)
{
	struct tr_text directory = call->command.directory;
	struct tr_text compiler = call->invocation.launchers ? call->expansion.words[0].text
							     : tr_command_program(&call->command);

	tr_buffer_put_literal(to, "compile");
	put_field(to, directory);
	/* a name alone was looked for in PATH */
	if (compiler.len && memchr(compiler.data, '/', compiler.len))
		put_path(to, directory, compiler);
	else
		put_field(to, compiler);
	if (!put_object(to, call, source, arena))
		return false;
	put_field(to, source);
	tr_buffer_put_text(to, flags);
	tr_buffer_put_byte(to, '\n');
	return true;
}

static bool put_link(struct tr_buffer *to, const struct tr_call *call, struct tr_text product,
		     struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text directory = call->command.directory;

	tr_buffer_put_literal(to, "link");
	put_field(to, directory);
	if (product.len)
		put_field(to, product);
	else
		put_path(to, directory, TR_TEXT("a.out"));
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role == TR_ROLE_SOURCE) {
			if (!put_object(to, call, part->file, arena))
				return false;
		} else if (part->role == TR_ROLE_INPUT && !tr_text_is(part->text, "-")) {
			put_path(to, directory, part->text);
		}
	}
	tr_buffer_put_byte(to, '\n');
	return true;
}

/* Only what puts files in. */
static void put_archive(struct tr_buffer *to, const struct tr_call *call)
{
	size_t count = call->expansion.count, i = tr_call_archive(call);
	struct tr_text directory = call->command.directory;

	if (i + 1 >= count)
		return;
	tr_buffer_put_literal(to, "link");
	put_field(to, directory);
	for (; i < count; i++)
		put_path(to, directory, call->expansion.words[i].text);
	tr_buffer_put_byte(to, '\n');
}

/* A line for each source. TR_WARN: they are too long. */
static enum tr_status put_compiles(struct tr_buffer *to, const struct tr_call *call,
				   struct tr_arena *arena, struct tr_error *err)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_buffer flags = TR_BUFFER_INIT;
	enum tr_status status = TR_OK;
	size_t begin = to->len;

	put_flags(&flags, invocation);
	if (flags.failed)
		status = tr_error_memory(err);
	for (size_t i = 1; i < invocation->count && status == TR_OK; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role != TR_ROLE_SOURCE || is_assembly(part->file))
			continue;
		if (!put_compile(to, call, part->file, tr_buffer_text(&flags), arena))
			status = tr_error_memory(err);
		else if (to->len - begin > TR_CALL_TEXT_MAX)
			status = tr_call_too_long(call, err);
	}
	tr_buffer_free(&flags);
	return status;
}

enum tr_status tr_kwspec_lines(const struct tr_call *call, struct tr_text product,
			       struct tr_arena *arena, struct tr_buffer *to, struct tr_error *err)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool driver = call->kin == TR_KIN_DRIVER || call->kin == TR_KIN_COMPILER;
	enum tr_status status = TR_OK;
	size_t begin = to->len;

	if (call->tool == TR_TOOL_ARCHIVER)
		put_archive(to, call);
	if (driver && invocation->mode <= TR_MODE_SYNTAX)
		status = put_compiles(to, call, arena, err);
	if (status == TR_OK && product.data && (invocation->inputs || invocation->sources) &&
	    !put_link(to, call, product, arena))
		status = tr_error_memory(err);
	if (status == TR_WARN)
		to->len = begin;
	return to->failed ? tr_error_memory(err) : status;
}
