/* SPDX-License-Identifier: MIT */
#include "format/etrace/schema.h"

#include "format/etrace/line.h"

#define NAME(literal) \
	{ \
		"" literal, sizeof(literal) - 1 \
	}
#define SIZE(name, slot) \
	{ \
		name, NAME(name), true, slot \
	}
#define NUMBER(name, slot) \
	{ \
		name, NAME(name), false, slot \
	}
#define PARAMETERS(list) list, sizeof(list) / sizeof *(list)

static const struct tr_etrace_parameter new_proc[] = {
	NUMBER("argsize", 0), SIZE("prognameisize", 0), SIZE("prognamepsize", 1), SIZE("cwdsize", 2)
};
static const struct tr_etrace_parameter sched_fork[] = { NUMBER("pid", 0) };
static const struct tr_etrace_parameter sys_clone[] = { NUMBER("flags", 1) };
static const struct tr_etrace_parameter status[] = { NUMBER("status", 0) };
static const struct tr_etrace_parameter comm[] = { SIZE("size", 0) };
static const struct tr_etrace_parameter open[] = { SIZE("fnamesize", 0), SIZE("forigsize", 1),
						   NUMBER("flags", 0), NUMBER("mode", 1),
						   NUMBER("fd", 2) };
static const struct tr_etrace_parameter fd[] = { NUMBER("fd", 0) };
static const struct tr_etrace_parameter pipes[] = { NUMBER("fd1", 0), NUMBER("fd2", 1),
						    NUMBER("flags", 2) };
static const struct tr_etrace_parameter dup[] = { NUMBER("oldfd", 0), NUMBER("newfd", 1),
						  NUMBER("flags", 2) };
static const struct tr_etrace_parameter from[] = { SIZE("fnamesize", 0) };
static const struct tr_etrace_parameter from_flags[] = { SIZE("fnamesize", 0), NUMBER("flags", 0) };
static const struct tr_etrace_parameter moved_to[] = { SIZE("fnamesize", 1) };
static const struct tr_etrace_parameter symlinks[] = { SIZE("targetnamesize", 0),
						       SIZE("resolvednamesize", 1),
						       SIZE("linknamesize", 2) };
static const struct tr_etrace_parameter mount[] = { SIZE("sourcenamesize", 0),
						    SIZE("targetnamesize", 1),
						    SIZE("typenamesize", 2), NUMBER("flags", 0) };
static const struct tr_etrace_parameter umount[] = { SIZE("targetnamesize", 1),
						     NUMBER("flags", 0) };

/* clang-format off */
#define BEGIN(tag, type, role, parameters) \
	{ tag, NAME(tag), TR_ETRACE_BEGIN, TR_ETRACE_##type, TR_ETRACE_##role, 0, 0, \
	  PARAMETERS(parameters) }
#define FAILED(tag, type) \
	{ tag, NAME(tag), TR_ETRACE_BEGIN, TR_ETRACE_##type, TR_ETRACE_FAILED, 0, 0, NULL, 0 }
#define STRING(tag, slot, types) { tag, NAME(tag), TR_ETRACE_STRING, 0, 0, slot, types, NULL, 0 }
#define OTHER(tag, class) { tag, NAME(tag), TR_ETRACE_##class, 0, 0, 0, 0, NULL, 0 }
/* clang-format on */
#define OF(type) (1u << TR_ETRACE_##type)

/*
 * A perfect hash: the first and last byte and the length of a tag give its place, and no two tags
 * share one. The factors were found by trying.
 */
enum { PLACES = 128 };
#define PLACE(first, last, len) \
	(((unsigned)(first) + 54 * (unsigned)(last) + 2 * (unsigned)(len)) % PLACES)
#define AT(first, last, len) [PLACE(first, last, len)] =
static const struct tr_etrace_tag tags[PLACES] = {
	AT('F', 'N', 2) STRING("FN", 0, OF(OPEN)),
	AT('F', 'O', 2) STRING("FO", 1, OF(OPEN)),
	AT('A', 'A', 1) OTHER("A", ARGUMENT),
	AT('O', 'n', 4) BEGIN("Open", OPEN, ALONE, open),
	AT('C', 'e', 5) BEGIN("Close", CLOSE, ALONE, fd),
	AT('C', 't', 4) OTHER("Cont", CONT),
	AT('E', 't', 4) BEGIN("Exit", EXIT, ALONE, status),
	AT('P', 'I', 2) STRING("PI", 0, OF(EXEC)),
	AT('P', 'P', 2) STRING("PP", 1, OF(EXEC)),
	AT('C', 'W', 2) STRING("CW", 2, OF(EXEC)),
	AT('N', 'c', 8) BEGIN("New_proc", EXEC, ALONE, new_proc),
	AT('E', 's', 11) OTHER("End_of_args", END_OF_ARGS),
	AT('S', 'k', 9) BEGIN("SchedFork", FORK, SECOND, sched_fork),
	AT('S', 'e', 8) BEGIN("SysClone", FORK, FIRST, sys_clone),
	AT('D', 'p', 3) BEGIN("Dup", DUP, ALONE, dup),
	AT('P', 'e', 4) BEGIN("Pipe", PIPE, ALONE, pipes),
	AT('U', 'D', 4) OTHER("UPID", UPID),
	AT('E', 'v', 3) OTHER("Env", ENV),
	AT('C', 'm', 4) BEGIN("Comm", COMM, ALONE, comm),
	AT('C', 'N', 2) STRING("CN", 0, OF(COMM)),
	AT('C', 'd', 8) OTHER("Cont_end", CONT_END),
	AT('R', 'm', 10) BEGIN("RenameFrom", RENAME, FIRST, from),
	AT('R', 'm', 11) BEGIN("Rename2From", RENAME, FIRST, from_flags),
	AT('R', 'F', 2) STRING("RF", 0, OF(RENAME)),
	AT('R', 'o', 8) BEGIN("RenameTo", RENAME, SECOND, moved_to),
	AT('R', 'T', 2) STRING("RT", 1, OF(RENAME)),
	AT('R', 'd', 12) FAILED("RenameFailed", RENAME),
	AT('L', 'm', 8) BEGIN("LinkFrom", LINK, FIRST, from),
	AT('L', 'm', 10) BEGIN("LinkatFrom", LINK, FIRST, from_flags),
	AT('L', 'F', 2) STRING("LF", 0, OF(LINK)),
	AT('L', 'o', 6) BEGIN("LinkTo", LINK, SECOND, moved_to),
	AT('L', 'T', 2) STRING("LT", 1, OF(LINK)),
	AT('L', 'd', 10) FAILED("LinkFailed", LINK),
	AT('S', 'k', 7) BEGIN("Symlink", SYMLINK, ALONE, symlinks),
	AT('S', 'T', 2) STRING("ST", 0, OF(SYMLINK)),
	AT('S', 'R', 2) STRING("SR", 1, OF(SYMLINK)),
	AT('S', 'L', 2) STRING("SL", 2, OF(SYMLINK)),
	AT('S', 'd', 14) FAILED("SysCloneFailed", FORK),
	AT('M', 't', 5) BEGIN("Mount", MOUNT, MAYBE, mount),
	AT('M', 'S', 2) STRING("MS", 0, OF(MOUNT)),
	AT('M', 'T', 2) STRING("MT", 1, OF(MOUNT) | OF(UMOUNT)),
	AT('M', 'X', 2) STRING("MX", 2, OF(MOUNT)),
	AT('M', 'd', 11) FAILED("MountFailed", MOUNT),
	AT('U', 't', 6) BEGIN("Umount", UMOUNT, MAYBE, umount),
	AT('U', 'd', 12) FAILED("UmountFailed", UMOUNT),
};

static const struct tr_etrace_tag *find(struct tr_text name)
{
	size_t last = name.len - 1;
	const struct tr_etrace_tag *tag =
		&tags[PLACE((unsigned char)name.data[0], (unsigned char)name.data[last], name.len)];

	bool same =
		tag->name.len == name.len && tr_etrace_tag_begins(name.data, tag->bytes, name.len);
	return same ? tag : NULL;
}

const struct tr_etrace_tag *tr_etrace_tag_find(struct tr_text name, bool *ended)
{
	enum { END = 4 };
	const struct tr_etrace_tag *tag = find(name);

	*ended = false;
	if (tag || name.len <= END || memcmp(name.data + name.len - END, "_end", END) != 0)
		return tag;
	tag = find((struct tr_text){ name.data, name.len - END });
	*ended = tag && tag->class == TR_ETRACE_STRING;
	return *ended ? tag : NULL;
}

#define KEY(key) \
	{ \
		key, "\t" key "=", sizeof("\t" key "=") - 1 \
	}
#define NO_KEY \
	{ \
		NULL, "", 0 \
	}
#define WORD(name) name, sizeof(name) - 1

#define ROW(first, last, len) &tags[PLACE(first, last, len)]

const struct tr_etrace_shape tr_etrace_shapes[TR_ETRACE_TYPES] = {
	[TR_ETRACE_EXEC] = { WORD("exec"), .tags = { NAME("PI"), NAME("PP"), NAME("CW") },
			     .strings = { KEY("interp"), NO_KEY, KEY("cwd") },
			     .begin = ROW('N', 'c', 8) },
	[TR_ETRACE_FORK] = { WORD("fork"), .numbers = { KEY("child"), KEY("flags") }, .flags = 2,
			     .begin = ROW('S', 'e', 8), .second = ROW('S', 'k', 9),
			     .failed = ROW('S', 'd', 14) },
	[TR_ETRACE_EXIT] = { WORD("exit"), .numbers = { KEY("status") },
			     .begin = ROW('E', 't', 4) },
	[TR_ETRACE_COMM] = { WORD("comm"), .tags = { NAME("CN") }, .strings = { KEY("comm") },
			     .begin = ROW('C', 'm', 4) },
	[TR_ETRACE_ENVSET] = { WORD("envset"), .tags = { NAME("Env") }, .strings = { KEY("var") } },
	[TR_ETRACE_OPEN] = { WORD("open"), .tags = { NAME("FN"), NAME("FO") },
			     .strings = { KEY("path"), KEY("orig") },
			     .numbers = { KEY("flags"), KEY("mode"), KEY("fd") }, .always = 7,
			     .flags = 1, .begin = ROW('O', 'n', 4) },
	[TR_ETRACE_CLOSE] = { WORD("close"), .numbers = { KEY("fd") }, .always = 1,
			      .begin = ROW('C', 'e', 5) },
	[TR_ETRACE_PIPE] = { WORD("pipe"), .numbers = { KEY("fd1"), KEY("fd2"), KEY("flags") },
			     .always = 7, .flags = 4, .begin = ROW('P', 'e', 4) },
	[TR_ETRACE_DUP] = { WORD("dup"), .numbers = { KEY("oldfd"), KEY("newfd"), KEY("flags") },
			    .always = 7, .flags = 4, .begin = ROW('D', 'p', 3) },
	[TR_ETRACE_RENAME] = { WORD("rename"), .tags = { NAME("RF"), NAME("RT") },
			       .strings = { KEY("from"), KEY("to") }, .numbers = { KEY("flags") },
			       .flags = 1, .begin = ROW('R', 'm', 10),
			       .begin_flags = ROW('R', 'm', 11), .second = ROW('R', 'o', 8),
			       .failed = ROW('R', 'd', 12) },
	[TR_ETRACE_LINK] = { WORD("link"), .tags = { NAME("LF"), NAME("LT") },
			     .strings = { KEY("from"), KEY("to") }, .numbers = { KEY("flags") },
			     .flags = 1, .begin = ROW('L', 'm', 8),
			     .begin_flags = ROW('L', 'm', 10), .second = ROW('L', 'o', 6),
			     .failed = ROW('L', 'd', 10) },
	[TR_ETRACE_SYMLINK] = { WORD("symlink"), .tags = { NAME("ST"), NAME("SR"), NAME("SL") },
				.strings = { KEY("target"), KEY("resolved"), KEY("link") },
				.begin = ROW('S', 'k', 7) },
	[TR_ETRACE_MOUNT] = { WORD("mount"), .tags = { NAME("MS"), NAME("MT"), NAME("MX") },
			      .strings = { KEY("source"), KEY("target"), KEY("type") },
			      .numbers = { KEY("flags") }, .flags = 1, .begin = ROW('M', 't', 5),
			      .failed = ROW('M', 'd', 11) },
	[TR_ETRACE_UMOUNT] = { WORD("umount"), .tags = { NAME(""), NAME("MT") },
			       .strings = { NO_KEY, KEY("target") }, .numbers = { KEY("flags") },
			       .flags = 1, .begin = ROW('U', 't', 6), .failed = ROW('U', 'd', 12) },
};

struct word {
	uint32_t bits;
	struct tr_text text;
};

#define FLAG(bits, literal) \
	{ \
		bits, NAME(literal) \
	}
#define END \
	{ \
		0, \
		{ \
			NULL, 0 \
		} \
	}

/* Words of several bits come before those that they consist of. */
static const struct word open_words[] = {
	FLAG(0x40, "O_CREAT"),	      FLAG(0x80, "O_EXCL"),	   FLAG(0x100, "O_NOCTTY"),
	FLAG(0x200, "O_TRUNC"),	      FLAG(0x400, "O_APPEND"),	   FLAG(0x800, "O_NONBLOCK"),
	FLAG(0x101000, "O_SYNC"),     FLAG(0x1000, "O_DSYNC"),	   FLAG(0x2000, "O_ASYNC"),
	FLAG(0x4000, "O_DIRECT"),     FLAG(0x8000, "O_LARGEFILE"), FLAG(0x410000, "O_TMPFILE"),
	FLAG(0x10000, "O_DIRECTORY"), FLAG(0x20000, "O_NOFOLLOW"), FLAG(0x40000, "O_NOATIME"),
	FLAG(0x80000, "O_CLOEXEC"),   FLAG(0x200000, "O_PATH"),	   END,
};

/* Other words that strace uses for some of these; only read. */
static const struct word open_aliases[] = {
	FLAG(0x2000, "FASYNC"),
	FLAG(0x400000, "__O_TMPFILE"),
	FLAG(0x80, "O_NOTIFICATION_PIPE"),
	END,
};

static const struct word clone_words[] = {
	FLAG(0x100, "CLONE_VM"),
	FLAG(0x200, "CLONE_FS"),
	FLAG(0x400, "CLONE_FILES"),
	FLAG(0x800, "CLONE_SIGHAND"),
	FLAG(0x1000, "CLONE_PIDFD"),
	FLAG(0x2000, "CLONE_PTRACE"),
	FLAG(0x4000, "CLONE_VFORK"),
	FLAG(0x8000, "CLONE_PARENT"),
	FLAG(0x10000, "CLONE_THREAD"),
	FLAG(0x20000, "CLONE_NEWNS"),
	FLAG(0x40000, "CLONE_SYSVSEM"),
	FLAG(0x80000, "CLONE_SETTLS"),
	FLAG(0x100000, "CLONE_PARENT_SETTID"),
	FLAG(0x200000, "CLONE_CHILD_CLEARTID"),
	FLAG(0x400000, "CLONE_DETACHED"),
	FLAG(0x800000, "CLONE_UNTRACED"),
	FLAG(0x1000000, "CLONE_CHILD_SETTID"),
	FLAG(0x2000000, "CLONE_NEWCGROUP"),
	FLAG(0x4000000, "CLONE_NEWUTS"),
	FLAG(0x8000000, "CLONE_NEWIPC"),
	FLAG(0x10000000, "CLONE_NEWUSER"),
	FLAG(0x20000000, "CLONE_NEWPID"),
	FLAG(0x40000000, "CLONE_NEWNET"),
	FLAG(0x80000000, "CLONE_IO"),
	END,
};
static const struct word rename_words[] = {
	FLAG(1, "RENAME_NOREPLACE"),
	FLAG(2, "RENAME_EXCHANGE"),
	FLAG(4, "RENAME_WHITEOUT"),
	END,
};
static const struct word link_words[] = {
	FLAG(0x400, "AT_SYMLINK_FOLLOW"),
	FLAG(0x1000, "AT_EMPTY_PATH"),
	END,
};
static const struct word mount_words[] = {
	FLAG(0x1, "MS_RDONLY"),		FLAG(0x2, "MS_NOSUID"),
	FLAG(0x4, "MS_NODEV"),		FLAG(0x8, "MS_NOEXEC"),
	FLAG(0x10, "MS_SYNCHRONOUS"),	FLAG(0x20, "MS_REMOUNT"),
	FLAG(0x40, "MS_MANDLOCK"),	FLAG(0x80, "MS_DIRSYNC"),
	FLAG(0x100, "MS_NOSYMFOLLOW"),	FLAG(0x400, "MS_NOATIME"),
	FLAG(0x800, "MS_NODIRATIME"),	FLAG(0x1000, "MS_BIND"),
	FLAG(0x2000, "MS_MOVE"),	FLAG(0x4000, "MS_REC"),
	FLAG(0x8000, "MS_SILENT"),	FLAG(0x10000, "MS_POSIXACL"),
	FLAG(0x20000, "MS_UNBINDABLE"), FLAG(0x40000, "MS_PRIVATE"),
	FLAG(0x80000, "MS_SLAVE"),	FLAG(0x100000, "MS_SHARED"),
	FLAG(0x200000, "MS_RELATIME"),	FLAG(0x400000, "MS_KERNMOUNT"),
	FLAG(0x800000, "MS_I_VERSION"), FLAG(0x1000000, "MS_STRICTATIME"),
	FLAG(0x2000000, "MS_LAZYTIME"), END,
};
static const struct word umount_words[] = {
	FLAG(1, "MNT_FORCE"),
	FLAG(2, "MNT_DETACH"),
	FLAG(4, "MNT_EXPIRE"),
	FLAG(8, "UMOUNT_NOFOLLOW"),
	END,
};

/* Of a group of bits that holds a number: the values that have a word. */
static const struct word access_modes[] = {
	FLAG(0, "O_RDONLY"), FLAG(1, "O_WRONLY"), FLAG(2, "O_RDWR"), FLAG(3, "O_ACCMODE"), END,
};
static const struct word exit_signals[] = {
	FLAG(17, "SIGCHLD"),
	END,
};

struct set {
	const struct word *words;
	const struct word *values; /* of the group; NULL: there is none */
	uint32_t group;
	bool value_first;
};

/* The flags of descriptors are some of those of open. */
static const struct set descriptor_set = { open_words, NULL, 0, false };
static const struct set sets[TR_ETRACE_TYPES] = {
	[TR_ETRACE_OPEN] = { open_words, access_modes, 3, true },
	[TR_ETRACE_FORK] = { clone_words, exit_signals, 0xff, false },
	[TR_ETRACE_RENAME] = { rename_words, NULL, 0, false },
	[TR_ETRACE_LINK] = { link_words, NULL, 0, false },
	[TR_ETRACE_MOUNT] = { mount_words, NULL, 0, false },
	[TR_ETRACE_UMOUNT] = { umount_words, NULL, 0, false },
};

static const struct set *set_of(enum tr_etrace_type type)
{
	return sets[type].words ? &sets[type] : &descriptor_set;
}

static void put_word(struct tr_text word, size_t begin, struct tr_buffer *to)
{
	if (to->len > begin)
		tr_buffer_put_byte(to, '|');
	tr_buffer_put_text(to, word);
}

/* Appends the word of the group's value and takes it out of the bits. */
static void put_value(const struct set *set, uint32_t *bits, size_t begin, struct tr_buffer *to)
{
	for (const struct word *w = set->values; w && w->text.data; w++) {
		if ((*bits & set->group) != w->bits)
			continue;
		put_word(w->text, begin, to);
		*bits &= ~set->group;
		return;
	}
}

void tr_etrace_flags_spell(enum tr_etrace_type type, int64_t number, struct tr_buffer *to)
{
	const struct set *set = set_of(type);
	size_t begin = to->len;

	if (number < INT32_MIN || number > UINT32_MAX) {
		tr_etrace_put_number(number, to);
		return;
	}
	uint32_t bits = (uint32_t)number;
	if (set->value_first)
		put_value(set, &bits, begin, to);
	for (const struct word *w = set->words; w->text.data && bits; w++) {
		if ((bits & w->bits) != w->bits)
			continue;
		put_word(w->text, begin, to);
		bits &= ~w->bits;
	}
	if (!set->value_first)
		put_value(set, &bits, begin, to);
	bool words = to->len > begin;
	if (!bits && !words)
		tr_buffer_put_literal(to, "none");
	if (!bits)
		return;
	tr_buffer_put_text(to, words ? TR_TEXT("|0x") : TR_TEXT("?(0x"));
	tr_buffer_put_hex(to, bits, 1);
	if (!words)
		tr_buffer_put_byte(to, ')');
}

static bool add_word(const struct word *list, struct tr_text word, uint32_t *bits)
{
	for (; list && list->text.data; list++) {
		if (tr_text_equal(list->text, word)) {
			*bits |= list->bits;
			return true;
		}
	}
	return false;
}

static bool read_symbol(const struct set *set, const struct tr_symbol *symbol, int64_t *number)
{
	uint64_t all = symbol->number;

	if (symbol->numbered == TR_SYMBOL_WORDS) {
		uint32_t bits = 0;
		for (size_t i = 0; i < symbol->count; i++) {
			struct tr_text word = symbol->names[i].text;
			if (!add_word(set->words, word, &bits) &&
			    !add_word(set->values, word, &bits) &&
			    !(set->words == open_words && add_word(open_aliases, word, &bits)) &&
			    !tr_text_is(word, "none"))
				return false;
		}
		all = bits | symbol->unknown_bits;
	}
	/* the tracer prints an int */
	*number = all > UINT32_MAX ? (int64_t)all : (int32_t)(uint32_t)all;
	return all <= INT64_MAX;
}

bool tr_etrace_flags_read(enum tr_etrace_type type, const struct tr_value *value, int64_t *number)
{
	const struct set *set = set_of(type);

	switch (value->type) {
	case TR_SYMBOL:
		return read_symbol(set, value->as.symbol, number);
	case TR_UINT:
	case TR_INT:
	case TR_POINTER: /* strace -X raw */
		*number = (int64_t)(value->as.number & INT64_MAX);
		if (value->flags & TR_NEGATIVE)
			*number = -*number;
		return value->as.number <= INT64_MAX;
	default:
		return false;
	}
}
