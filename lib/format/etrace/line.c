/* SPDX-License-Identifier: MIT */
/*
 * Splits the lines of a log, and holds the tables of tags, parameters, record shapes and flags,
 * which reader and writer share.
 *
 *	tags			a tag -> its class, event, role, parameters; found by a perfect hash
 *	tr_etrace_shapes	an event -> the kind and the keys of its record, and its tags
 *	sets			an event -> the words of its flags
 *	tr_etrace_line_read	the bytes of a line -> struct tr_etrace_line
 *
 * The tags and parameters are those that the tracer's source prints. Its published description
 * lacks the "0: " before each line, Cont_end with a bar, and Env with a number; both forms are
 * accepted.
 *
 * Nearly all the time of a conversion goes to splitting lines, so numbers are read eight digits at
 * a time, and the head of a line is compared with that of the line before it.
 */
#include "core/text.h"
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

/*
 * The parameters of each tag, in the order in which the tracer prints them: a name, whether it is
 * the size of a text (SIZE) or a number, and the slot of the event that it goes to. Versions of the
 * tracer differ in which ones they print, so parameters are found by name.
 */
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

/*
 * The order since July 2024. Before, the size of the target came first; see set_parameter in
 * event.c.
 */
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

/*
 * Finds the row of a tag by its place. The name is compared, because any other tag has some place,
 * too.
 */
static const struct tr_etrace_tag *find(struct tr_text name)
{
	size_t last = name.len - 1;
	const struct tr_etrace_tag *tag =
		&tags[PLACE((unsigned char)name.data[0], (unsigned char)name.data[last], name.len)];

	bool same =
		tag->name.len == name.len && tr_etrace_tag_begins(name.data, tag->bytes, name.len);
	return same ? tag : NULL;
}

/*
 * Finds the row of a tag; NULL: it is unknown. name is not empty, and TR_INPUT_PAD bytes after it
 * can be read. ended: it is the tag of a STRING followed by "_end".
 */
static const struct tr_etrace_tag *tag_find(struct tr_text name, bool *ended)
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

/*
 * A row is the record that an event becomes: its kind or name; for each slot of a text its tag and
 * key; for each slot of a number its key; which texts (`needed`) and numbers (`always`) every version
 * of the tracer prints and which number is flags, as bits; and the tags that begin it, for the
 * writer.
 */
const struct tr_etrace_shape tr_etrace_shapes[TR_ETRACE_TYPES] = {
	[TR_ETRACE_EXEC] = { WORD("exec"), .tags = { NAME("PI"), NAME("PP"), NAME("CW") },
			     .strings = { KEY("interp"), NO_KEY, KEY("cwd") }, .needed = 6,
			     .begin = ROW('N', 'c', 8) },
	[TR_ETRACE_FORK] = { WORD("fork"), .numbers = { KEY("child"), KEY("flags") }, .flags = 2,
			     .begin = ROW('S', 'e', 8), .second = ROW('S', 'k', 9),
			     .failed = ROW('S', 'd', 14) },
	[TR_ETRACE_EXIT] = { WORD("exit"), .numbers = { KEY("status") },
			     .begin = ROW('E', 't', 4) },
	[TR_ETRACE_COMM] = { WORD("comm"), .tags = { NAME("CN") }, .strings = { KEY("comm") },
			     .needed = 1, .begin = ROW('C', 'm', 4) },
	[TR_ETRACE_ENVSET] = { WORD("envset"), .tags = { NAME("Env") }, .strings = { KEY("var") } },
	[TR_ETRACE_OPEN] = { WORD("open"), .tags = { NAME("FN"), NAME("FO") },
			     .strings = { KEY("path"), KEY("orig") }, .needed = 1,
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
				.needed = 5, .begin = ROW('S', 'k', 7) },
	[TR_ETRACE_MOUNT] = { WORD("mount"), .tags = { NAME("MS"), NAME("MT"), NAME("MX") },
			      .strings = { KEY("source"), KEY("target"), KEY("type") },
			      .numbers = { KEY("flags") }, .flags = 1, .begin = ROW('M', 't', 5),
			      .failed = ROW('M', 'd', 11) },
	[TR_ETRACE_UMOUNT] = { WORD("umount"), .tags = { NAME(""), NAME("MT") },
			       .strings = { NO_KEY, KEY("target") }, .numbers = { KEY("flags") },
			       .needed = 2, .flags = 1, .begin = ROW('U', 't', 6),
			       .failed = ROW('U', 'd', 12) },
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

/*
 * Flags of open, as in the headers of Linux for x86-64. Words of several bits come before those
 * that they consist of, so that O_SYNC is not split.
 */
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

/* Flags of clone(2). The lowest byte is the signal at the exit of the child. */
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

/* Words for the values of a group of bits that holds a number. */
static const struct word access_modes[] = {
	FLAG(0, "O_RDONLY"), FLAG(1, "O_WRONLY"), FLAG(2, "O_RDWR"), FLAG(3, "O_ACCMODE"), END,
};

/* The value of the lowest byte of the flags of clone that programs use. */
static const struct word exit_signals[] = {
	FLAG(17, "SIGCHLD"),
	END,
};

/* The words for the flags of an event. */
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

/* Returns the words of an event; pipe2 and dup3 take those of descriptors. */
static const struct set *set_of(enum tr_etrace_type type)
{
	return sets[type].words ? &sets[type] : &descriptor_set;
}

/* Appends a word, after a bar if it is not the first one. begin: where the flags begin. */
static void put_word(struct tr_text word, size_t begin, struct tr_buffer *to)
{
	if (to->len > begin)
		tr_buffer_put_byte(to, '|');
	tr_buffer_put_text(to, word);
}

/* Appends the word for the value of the group, and clears the group in the bits. */
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

/*
 * The order is that of strace, which has the access mode first, so that the same call gives the
 * same field from both. Bits without a word follow in hex. A number of more than 32 bits is no
 * flags: the tracer prints an int.
 */
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

/* Adds the bits of a word. False: the list, which may be NULL, does not have it. */
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

/* Reads words, or the number of a symbol that has one. False: a word is unknown. */
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

/* Bytes in front of a line that trace_pipe may have printed: command, pid, flags, time. */
enum { PREFIX_MAX = 256 };

/* The number whose digits are bytes of 0 to 9: joins two, four, then eight of them at a time. */
static inline uint64_t sum_digits(uint64_t bytes)
{
	const uint64_t mask = UINT64_C(0x000000ff000000ff);

	bytes = bytes * 10 + (bytes >> 8);
	return ((bytes & mask) * UINT64_C(0x000f424000000064) +
		(bytes >> 16 & mask) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* Returns how many of the eight bytes at p are digits, and sets their number, all at once. */
static inline unsigned eight_digits(const char *p, uint64_t *number)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof bytes);
	bytes ^= TR_EIGHT('0');
	uint64_t others = tr_eight_above_9(bytes);
	unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
	/* leading zeros make it eight digits */
	*number = sum_digits(count ? bytes << (64 - 8 * count) : 0);
	return count;
}

/* Reads digits one by one. Returns their end. NULL: the number has more than 64 bits. */
static const char *slow_digits(const char *p, const char *end, uint64_t *number)
{
	enum { SAFE = 19 }; /* digits that always fit */
	const char *safe = end - p < SAFE ? end : p + SAFE;
	uint64_t n = 0;

	for (; p < safe && (unsigned char)(*p - '0') <= 9; p++)
		n = n * 10 + (unsigned char)(*p - '0');
	for (; p < end && (unsigned char)(*p - '0') <= 9; p++) {
		unsigned digit = (unsigned char)(*p - '0');
		if (n > (UINT64_MAX - digit) / 10)
			return NULL;
		n = n * 10 + digit;
	}
	*number = n;
	return p;
}

/*
 * Reads digits, mostly eight at once; it reads up to 16 bytes after end. NULL: the number has more
 * than 64 bits.
 */
static inline const char *digits(const char *p, const char *end, uint64_t *number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	static const uint64_t powers[] = { 1,	   10,	    100,      1000,	10000,
					   100000, 1000000, 10000000, 100000000 };
	uint64_t low;
	unsigned count = eight_digits(p, number);
	const char *after = p + count;

	if (count == 8) {
		count = eight_digits(p + 8, &low);
		*number = *number * powers[count] + low;
		after += count;
	}
	if (count < 8 && after <= end)
		return after;
#endif
	return slow_digits(p, end, number);
}

/* Reads digits up to the byte `stop` and returns what follows it; NULL: bad or too many. */
static inline const char *number_to(const char *p, const char *end, char stop, uint64_t *number,
				    bool *padded)
{
	const char *after = digits(p, end, number);

	if (!after || after == p || after == end || *after != stop)
		return NULL;
	if (*p == '0' && after - p > 1)
		*padded = true;
	return after + 1;
}

bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded)
{
	const char *end = text.data + text.len;

	if (text.len == 0 || slow_digits(text.data, end, number) != end)
		return false;
	if (*text.data == '0' && text.len > 1)
		*padded = true;
	return true;
}

/* Reads upid, cpu and seconds from p on; NULL: they are not there. */
static const char *read_head(const char *p, const char *end, struct tr_etrace_line *line)
{
	line->padded = false;
	if ((p = number_to(p, end, ',', &line->upid, &line->padded)) &&
	    (p = number_to(p, end, ',', &line->cpu, &line->padded)))
		p = number_to(p, end, ',', &line->time.sec, &line->padded);
	/* the tracer prints these as signed numbers, which are never negative */
	return p && line->upid <= INT64_MAX && line->cpu <= INT64_MAX ? p : NULL;
}

/* The bytes that tags consist of. */
static const bool tag_bytes[256] = {
	['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true
};

/* Returns the first bar or bracket from p on, or end. */
static const char *find_mark(const char *p, const char *end)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('[')));
	unsigned mask = (unsigned)_mm_movemask_epi8(marks);
	if (mask) {
		p += __builtin_ctz(mask);
		return p < end ? p : end;
	}
#endif
	while (p < end && *p != '|' && *p != '[')
		p++;
	return p;
}

/* Reads the tag and what follows it. False: there is no tag. */
static bool read_data(const char *p, const char *end, struct tr_etrace_line *line)
{
	const char *mark = find_mark(p, end);

	line->tag = tr_text_span(p, mark);
	line->index = 0;
	line->known = line->tag.len ? tag_find(line->tag, &line->ended) : NULL;
	for (size_t i = 0; !line->known && i < line->tag.len; i++)
		if (!tag_bytes[(unsigned char)line->tag.data[i]])
			return false;
	if (!line->tag.len)
		return false;
	if (mark == end) {
		line->form = TR_ETRACE_BARE;
		line->text = tr_text_span(end, end);
		return true;
	}
	line->form = *mark == '|' ? TR_ETRACE_BAR : TR_ETRACE_PART;
	p = mark + 1;
	if (line->form == TR_ETRACE_PART)
		p = number_to(p, end, ']', &line->index, &line->padded);
	line->text = tr_text_span(p ? p : end, end);
	return p && line->index <= INT64_MAX;
}

/* Reads nine digits and the "!" after them, as nearly all nanoseconds are. False: they differ. */
static inline bool nine_digits(const char *p, uint64_t *number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	enum { DIGITS = 9 };
	unsigned last = (unsigned char)(p[DIGITS - 1] - '0');
	uint64_t bytes;

	memcpy(&bytes, p, sizeof bytes);
	bytes ^= TR_EIGHT('0');
	*number = sum_digits(bytes) * 10 + last;
	return p[DIGITS] == '!' && last <= 9 && *p != '0' && !tr_eight_above_9(bytes);
#else
	(void)p;
	(void)number;
	return false;
#endif
}

/* Reads everything after the head. */
static bool read_rest(const char *p, struct tr_etrace_line *line)
{
	const char *end = line->whole.data + line->whole.len;

	if (end - p >= 10 && nine_digits(p, &line->time.nsec))
		p += 10;
	else
		p = number_to(p, end, '!', &line->time.nsec, &line->padded);
	if (!p || line->time.nsec >= TR_ETRACE_NANOSECONDS || !read_data(p, end, line))
		return false;
	line->type = TR_ETRACE_EVENT;
	return true;
}

/* Tries the bytes from p on, after the prefix. */
static bool read_event(const char *p, struct tr_etrace_line *line, struct tr_etrace_head *head)
{
	const char *begin = line->whole.data;
	const char *rest = read_head(p, begin + line->whole.len, line);

	if (!rest)
		return false;
	line->prefix = tr_text_span(begin, p);
	size_t len = (size_t)(rest - begin);
	if (head && len <= sizeof head->text) {
		memcpy(head->text, begin, len);
		head->len = len;
		head->padded = line->padded;
		head->upid = line->upid;
		head->cpu = line->cpu;
		head->sec = line->time.sec;
		head->prefix = line->prefix.len;
	}
	return read_rest(rest, line);
}

/* True if the line, which is longer, begins as the head. The bytes compared can be read. */
static inline bool begins_as(const char *line, const struct tr_etrace_head *head)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	enum { BOTH = 32 };
	unsigned equal = 0;
	for (unsigned i = 0; i < BOTH; i += 16) {
		__m128i one = _mm_loadu_si128((const __m128i *)(const void *)(line + i));
		__m128i other = _mm_loadu_si128((const __m128i *)(const void *)(head->text + i));
		equal |= (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) << i;
	}
	if (head->len < BOTH) {
		unsigned all = (1u << head->len) - 1;
		return (equal & all) == all;
	}
#endif
	return memcmp(line, head->text, head->len) == 0;
}

/* Reads a line whose head is that of the line before. */
static bool read_again(const struct tr_etrace_head *head, struct tr_etrace_line *line)
{
	const char *begin = line->whole.data;

	line->prefix = tr_text_span(begin, begin + head->prefix);
	line->padded = head->padded;
	line->upid = head->upid;
	line->cpu = head->cpu;
	line->time.sec = head->sec;
	return read_rest(begin + head->len, line);
}

/* Reads a line of a trace_pipe without the option nocontext-info: "0: " is not at its start. */
static bool read_after_context(struct tr_etrace_line *line)
{
	const char *p = line->whole.data;
	const char *end = p + (line->whole.len < PREFIX_MAX ? line->whole.len : PREFIX_MAX);

	while (p < end && (p = memmem(p, (size_t)(end - p), " 0: ", 4))) {
		p += 4;
		if (read_event(p, line, NULL))
			return true;
	}
	return false;
}

/* `CPU:3 [LOST 12 EVENTS]`, or without the number. */
static bool read_lost(struct tr_etrace_line *line)
{
	struct tr_text lost = TR_TEXT("[LOST "), tail = TR_TEXT("EVENTS]");
	const char *p = line->whole.data, *end = p + line->whole.len;
	bool padded = false;

	if (!tr_text_starts(line->whole, TR_TEXT("CPU:")))
		return false;
	p = number_to(p + 4, end, ' ', &line->cpu, &padded);
	if (!p || !tr_text_starts(tr_text_span(p, end), lost))
		return false;
	p += lost.len;
	const char *after = number_to(p, end, ' ', &line->lost, &padded);
	line->has_lost = after != NULL;
	line->type = TR_ETRACE_LOST;
	return tr_text_equal(tr_text_span(after ? after : p, end), tail);
}

/* Reads a line from its beginning. Not in line, so that most lines need no registers for it. */
static __attribute__((noinline)) void read_anew(struct tr_etrace_head *head,
						struct tr_etrace_line *line)
{
	static const struct tr_text initcwd = { "INITCWD=", 8 };
	struct tr_text whole = line->whole;
	bool usual = tr_text_starts(whole, TR_TEXT("0: "));

	if (read_event(usual ? whole.data + 3 : whole.data, line, head))
		return;
	if (tr_text_starts(whole, initcwd)) {
		line->type = TR_ETRACE_INITCWD;
		line->text = tr_text_span(whole.data + initcwd.len, whole.data + whole.len);
		return;
	}
	if (read_lost(line) || read_after_context(line))
		return;
	line->type = TR_ETRACE_NOISE;
	line->reason = whole.len ? "not a line of the tracer" : "an empty line";
}

void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_head *head,
			 struct tr_etrace_line *line)
{
	line->whole = whole;
	line->cut = false;
	bool again = head && head->len && whole.len > head->len && begins_as(whole.data, head);
	if (!again || !read_again(head, line))
		read_anew(head, line);
}

void tr_etrace_put_any_number(int64_t number, struct tr_buffer *to)
{
	if (number < 0)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* Writes eight digits with leading zeros: splits into two, four, then eight digits at a time. */
static void put_eight(uint32_t n, char *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t x = n / 10000 | (uint64_t)(n % 10000) << 32;
	uint64_t hundreds = (x * 10486 >> 20) & UINT64_C(0x0000007f0000007f);

	x = (x - hundreds * 100) << 16 | hundreds;
	uint64_t tens = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	x = ((x - tens * 10) << 8 | tens) | TR_EIGHT('0');
	memcpy(p, &x, sizeof x);
#else
	for (unsigned i = 8; i-- > 0; n /= 10)
		p[i] = (char)('0' + n % 10);
#endif
}

void tr_etrace_write_nanoseconds(uint64_t nsec, char *p)
{
	enum { EIGHT_DIGITS = 100 * 1000 * 1000 };

	*p = (char)('0' + nsec / EIGHT_DIGITS);
	put_eight((uint32_t)(nsec % EIGHT_DIGITS), p + 1);
}
