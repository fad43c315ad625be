#include "format/etrace/flags.h"

#include "format/etrace/line.h"

struct word {
	uint32_t bits;
	struct tr_text text;
};

#define WORD(bits, literal) \
	{ \
		bits, \
		{ \
			"" literal, sizeof(literal) - 1 \
		} \
	}
#define END \
	{ \
		0, \
		{ \
			NULL, 0 \
		} \
	}

/* Those of several bits stand before those that they consist of. */
static const struct word open_words[] = {
	WORD(0x40, "O_CREAT"),	      WORD(0x80, "O_EXCL"),	   WORD(0x100, "O_NOCTTY"),
	WORD(0x200, "O_TRUNC"),	      WORD(0x400, "O_APPEND"),	   WORD(0x800, "O_NONBLOCK"),
	WORD(0x101000, "O_SYNC"),     WORD(0x1000, "O_DSYNC"),	   WORD(0x2000, "O_ASYNC"),
	WORD(0x4000, "O_DIRECT"),     WORD(0x8000, "O_LARGEFILE"), WORD(0x410000, "O_TMPFILE"),
	WORD(0x10000, "O_DIRECTORY"), WORD(0x20000, "O_NOFOLLOW"), WORD(0x40000, "O_NOATIME"),
	WORD(0x80000, "O_CLOEXEC"),   WORD(0x200000, "O_PATH"),	   END,
};
/* Other words that strace has for some of these: read only. */
static const struct word open_aliases[] = {
	WORD(0x2000, "FASYNC"),
	WORD(0x400000, "__O_TMPFILE"),
	WORD(0x80, "O_NOTIFICATION_PIPE"),
	END,
};
static const struct word clone_words[] = {
	WORD(0x100, "CLONE_VM"),
	WORD(0x200, "CLONE_FS"),
	WORD(0x400, "CLONE_FILES"),
	WORD(0x800, "CLONE_SIGHAND"),
	WORD(0x1000, "CLONE_PIDFD"),
	WORD(0x2000, "CLONE_PTRACE"),
	WORD(0x4000, "CLONE_VFORK"),
	WORD(0x8000, "CLONE_PARENT"),
	WORD(0x10000, "CLONE_THREAD"),
	WORD(0x20000, "CLONE_NEWNS"),
	WORD(0x40000, "CLONE_SYSVSEM"),
	WORD(0x80000, "CLONE_SETTLS"),
	WORD(0x100000, "CLONE_PARENT_SETTID"),
	WORD(0x200000, "CLONE_CHILD_CLEARTID"),
	WORD(0x400000, "CLONE_DETACHED"),
	WORD(0x800000, "CLONE_UNTRACED"),
	WORD(0x1000000, "CLONE_CHILD_SETTID"),
	WORD(0x2000000, "CLONE_NEWCGROUP"),
	WORD(0x4000000, "CLONE_NEWUTS"),
	WORD(0x8000000, "CLONE_NEWIPC"),
	WORD(0x10000000, "CLONE_NEWUSER"),
	WORD(0x20000000, "CLONE_NEWPID"),
	WORD(0x40000000, "CLONE_NEWNET"),
	WORD(0x80000000, "CLONE_IO"),
	END,
};
static const struct word rename_words[] = {
	WORD(1, "RENAME_NOREPLACE"),
	WORD(2, "RENAME_EXCHANGE"),
	WORD(4, "RENAME_WHITEOUT"),
	END,
};
static const struct word link_words[] = {
	WORD(0x400, "AT_SYMLINK_FOLLOW"),
	WORD(0x1000, "AT_EMPTY_PATH"),
	END,
};
static const struct word mount_words[] = {
	WORD(0x1, "MS_RDONLY"),		WORD(0x2, "MS_NOSUID"),
	WORD(0x4, "MS_NODEV"),		WORD(0x8, "MS_NOEXEC"),
	WORD(0x10, "MS_SYNCHRONOUS"),	WORD(0x20, "MS_REMOUNT"),
	WORD(0x40, "MS_MANDLOCK"),	WORD(0x80, "MS_DIRSYNC"),
	WORD(0x100, "MS_NOSYMFOLLOW"),	WORD(0x400, "MS_NOATIME"),
	WORD(0x800, "MS_NODIRATIME"),	WORD(0x1000, "MS_BIND"),
	WORD(0x2000, "MS_MOVE"),	WORD(0x4000, "MS_REC"),
	WORD(0x8000, "MS_SILENT"),	WORD(0x10000, "MS_POSIXACL"),
	WORD(0x20000, "MS_UNBINDABLE"), WORD(0x40000, "MS_PRIVATE"),
	WORD(0x80000, "MS_SLAVE"),	WORD(0x100000, "MS_SHARED"),
	WORD(0x200000, "MS_RELATIME"),	WORD(0x400000, "MS_KERNMOUNT"),
	WORD(0x800000, "MS_I_VERSION"), WORD(0x1000000, "MS_STRICTATIME"),
	WORD(0x2000000, "MS_LAZYTIME"), END,
};
static const struct word umount_words[] = {
	WORD(1, "MNT_FORCE"),
	WORD(2, "MNT_DETACH"),
	WORD(4, "MNT_EXPIRE"),
	WORD(8, "UMOUNT_NOFOLLOW"),
	END,
};

/* A field of bits that holds a number: its values that have a word. */
static const struct word access_modes[] = {
	WORD(0, "O_RDONLY"), WORD(1, "O_WRONLY"), WORD(2, "O_RDWR"), WORD(3, "O_ACCMODE"), END,
};
static const struct word exit_signals[] = {
	WORD(17, "SIGCHLD"),
	END,
};

struct set {
	const struct word *words;
	const struct word *values; /* of the field; NULL: it has none */
	uint32_t field;
	bool value_first;
};

static struct set set_of(enum tr_etrace_type type)
{
	switch (type) {
	case TR_ETRACE_OPEN:
		return (struct set){ open_words, access_modes, 3, true };
	case TR_ETRACE_FORK:
		return (struct set){ clone_words, exit_signals, 0xff, false };
	case TR_ETRACE_RENAME:
		return (struct set){ rename_words, NULL, 0, false };
	case TR_ETRACE_LINK:
		return (struct set){ link_words, NULL, 0, false };
	case TR_ETRACE_MOUNT:
		return (struct set){ mount_words, NULL, 0, false };
	case TR_ETRACE_UMOUNT:
		return (struct set){ umount_words, NULL, 0, false };
	default: /* those of descriptors are a part of those of open */
		return (struct set){ open_words, NULL, 0, false };
	}
}

static void put_word(struct tr_text word, size_t begin, struct tr_buffer *to)
{
	if (to->len > begin)
		tr_buffer_put_byte(to, '|');
	tr_buffer_put_text(to, word);
}

/* The word of the field's value; it is taken out of the bits. */
static void put_value(const struct set *set, uint32_t *bits, size_t begin, struct tr_buffer *to)
{
	for (const struct word *w = set->values; w && w->text.data; w++) {
		if ((*bits & set->field) != w->bits)
			continue;
		put_word(w->text, begin, to);
		*bits &= ~set->field;
		return;
	}
}

void tr_etrace_flags_spell(enum tr_etrace_type type, int64_t number, struct tr_buffer *to)
{
	const struct set set = set_of(type);
	size_t begin = to->len;

	if (number < INT32_MIN || number > UINT32_MAX) {
		tr_etrace_put_number(number, to);
		return;
	}
	uint32_t bits = (uint32_t)number;
	if (set.value_first)
		put_value(&set, &bits, begin, to);
	for (const struct word *w = set.words; w->text.data && bits; w++) {
		if ((bits & w->bits) != w->bits)
			continue;
		put_word(w->text, begin, to);
		bits &= ~w->bits;
	}
	if (!set.value_first)
		put_value(&set, &bits, begin, to);
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
	const struct set set = set_of(type);

	switch (value->type) {
	case TR_SYMBOL:
		return read_symbol(&set, value->as.symbol, number);
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

bool tr_etrace_flags_of_clone3(const struct tr_value *value)
{
	static const char *const words[] = { "CLONE_NEWTIME", "CLONE_CLEAR_SIGHAND",
					     "CLONE_INTO_CGROUP" };
	const struct tr_symbol *symbol = value->type == TR_SYMBOL ? value->as.symbol : NULL;

	for (size_t i = 0; symbol && i < symbol->count; i++)
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			if (tr_text_is(symbol->names[i].text, words[k]))
				return true;
	return false;
}
