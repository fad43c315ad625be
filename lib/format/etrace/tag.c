#include "format/etrace/tag.h"

#define NAME(literal) \
	{ \
		"" literal, sizeof(literal) - 1 \
	}
#define SIZE(name, slot) \
	{ \
		NAME(name), true, slot \
	}
#define NUMBER(name, slot) \
	{ \
		NAME(name), false, slot \
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

#define BEGIN(tag, type, role, parameters) \
	{ \
		NAME(tag), TR_ETRACE_BEGIN, TR_ETRACE_##type, TR_ETRACE_##role, 0, 0, \
			PARAMETERS(parameters) \
	}
#define FAILED(tag, type) \
	{ \
		NAME(tag), TR_ETRACE_BEGIN, TR_ETRACE_##type, TR_ETRACE_FAILED, 0, 0, NULL, 0 \
	}
#define STRING(tag, slot, types) \
	{ \
		NAME(tag), TR_ETRACE_STRING, 0, 0, slot, types, NULL, 0 \
	}
#define OTHER(tag, class) \
	{ \
		NAME(tag), TR_ETRACE_##class, 0, 0, 0, 0, NULL, 0 \
	}
#define OF(type) (1u << TR_ETRACE_##type)

/* The most frequent ones first: the table is searched from its beginning. */
static const struct tr_etrace_tag tags[] = {
	STRING("FN", 0, OF(OPEN)),
	STRING("FO", 1, OF(OPEN)),
	OTHER("A", ARGUMENT),
	BEGIN("Open", OPEN, ALONE, open),
	BEGIN("Close", CLOSE, ALONE, fd),
	OTHER("Cont", CONT),
	BEGIN("Exit", EXIT, ALONE, status),
	STRING("PI", 0, OF(EXEC)),
	STRING("PP", 1, OF(EXEC)),
	STRING("CW", 2, OF(EXEC)),
	BEGIN("New_proc", EXEC, ALONE, new_proc),
	OTHER("End_of_args", END_OF_ARGS),
	BEGIN("SchedFork", FORK, SECOND, sched_fork),
	BEGIN("SysClone", FORK, FIRST, sys_clone),
	BEGIN("Dup", DUP, ALONE, dup),
	BEGIN("Pipe", PIPE, ALONE, pipes),
	OTHER("UPID", UPID),
	OTHER("Env", ENV),
	BEGIN("Comm", COMM, ALONE, comm),
	STRING("CN", 0, OF(COMM)),
	OTHER("Cont_end", CONT_END),
	BEGIN("RenameFrom", RENAME, FIRST, from),
	BEGIN("Rename2From", RENAME, FIRST, from_flags),
	STRING("RF", 0, OF(RENAME)),
	BEGIN("RenameTo", RENAME, SECOND, to),
	STRING("RT", 1, OF(RENAME)),
	FAILED("RenameFailed", RENAME),
	BEGIN("LinkFrom", LINK, FIRST, from),
	BEGIN("LinkatFrom", LINK, FIRST, from_flags),
	STRING("LF", 0, OF(LINK)),
	BEGIN("LinkTo", LINK, SECOND, to),
	STRING("LT", 1, OF(LINK)),
	FAILED("LinkFailed", LINK),
	BEGIN("Symlink", SYMLINK, ALONE, symlinks),
	STRING("ST", 0, OF(SYMLINK)),
	STRING("SR", 1, OF(SYMLINK)),
	STRING("SL", 2, OF(SYMLINK)),
	FAILED("SysCloneFailed", FORK),
	BEGIN("Mount", MOUNT, MAYBE, mount),
	STRING("MS", 0, OF(MOUNT)),
	STRING("MT", 1, OF(MOUNT) | OF(UMOUNT)),
	STRING("MX", 2, OF(MOUNT)),
	FAILED("MountFailed", MOUNT),
	BEGIN("Umount", UMOUNT, MAYBE, umount),
	FAILED("UmountFailed", UMOUNT),
};

enum { TAGS = sizeof tags / sizeof *tags };

static const struct tr_etrace_tag *find(struct tr_text name)
{
	for (size_t i = 0; i < TAGS; i++)
		if (tags[i].name.len == name.len && tags[i].name.data[0] == name.data[0] &&
		    memcmp(tags[i].name.data, name.data, name.len) == 0)
			return &tags[i];
	return NULL;
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
	for (size_t i = 0; i < TAGS; i++)
		if (tags[i].class == TR_ETRACE_STRING && tags[i].slot == slot &&
		    tags[i].types >> type & 1)
			return &tags[i];
	return NULL;
}
