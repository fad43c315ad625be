#include "format/etrace/tag.h"

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
static const struct tr_etrace_parameter to[] = { SIZE("fnamesize", 1) };
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
 * Each tag stands where its first and last byte and its length say, and no two
 * of them at the same place: found by trying factors.
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
	AT('R', 'o', 8) BEGIN("RenameTo", RENAME, SECOND, to),
	AT('R', 'T', 2) STRING("RT", 1, OF(RENAME)),
	AT('R', 'd', 12) FAILED("RenameFailed", RENAME),
	AT('L', 'm', 8) BEGIN("LinkFrom", LINK, FIRST, from),
	AT('L', 'm', 10) BEGIN("LinkatFrom", LINK, FIRST, from_flags),
	AT('L', 'F', 2) STRING("LF", 0, OF(LINK)),
	AT('L', 'o', 6) BEGIN("LinkTo", LINK, SECOND, to),
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

const struct tr_etrace_tag *tr_etrace_tag_of(enum tr_etrace_type type, unsigned slot)
{
	for (size_t i = 0; i < PLACES; i++)
		if (tags[i].name.len && tags[i].class == TR_ETRACE_STRING && tags[i].slot == slot &&
		    tags[i].types >> type & 1)
			return &tags[i];
	return NULL;
}
