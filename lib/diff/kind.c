/* SPDX-License-Identifier: MIT */
#include "diff/kind.h"

#define TEXT(text) \
	{ \
		text, sizeof(text) - 1 \
	}
/* clang-format off */
#define KIND(name, class) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, NULL, NULL }
#define KIND_WITHOUT(name, class, fields) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, fields, NULL }
#define KIND_BY(name, class, keys) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, NULL, keys }
/* clang-format on */

/* Fields that contain numbers of other records, process ids or times. */
static const struct tr_text of_exec[] = {
	TEXT("parent"), TEXT("ppid"), TEXT("end"), TEXT("rid"), { NULL, 0 }
};
static const struct tr_text of_task[] = { TEXT("child"), { NULL, 0 } };
static const struct tr_text of_use[] = { TEXT("exec"), TEXT("from"), { NULL, 0 } };
static const struct tr_text of_module[] = { TEXT("id"), { NULL, 0 } };
static const struct tr_text of_block[] = { TEXT("module"), { NULL, 0 } };
static const struct tr_text of_envset[] = { TEXT("tasks"), { NULL, 0 } };

/* Of a call only the first field counts: the file that it is about. */
static const struct tr_text by_file[] = { TEXT("path="), TEXT("from="), { NULL, 0 } };
static const struct tr_text by_line[] = { TEXT("line="), { NULL, 0 } };
static const struct tr_text by_branch[] = {
	TEXT("line="), TEXT("block="), TEXT("branch="), { NULL, 0 }
};
static const struct tr_text by_function[] = { TEXT("function="), { NULL, 0 } };

/* The most frequent ones first. */
static const struct tr_diff_kind kinds[] = {
	KIND_BY("sys", PROCESS, by_file),
	KIND("call", THREAD),
	{ TEXT("block"), TR_DIFF_SET, TEXT("module"), of_block, NULL },
	KIND_BY("srcline", SET, by_line),
	KIND_BY("srcbranch", SET, by_branch),
	KIND_BY("srcfunction", SET, by_function),
	KIND("source", SET),
	KIND_WITHOUT("exec", EXEC, of_exec),
	KIND_WITHOUT("fork", PROCESS, of_task),
	KIND_WITHOUT("exit", EXIT, of_task),
	KIND("signal", PROCESS),
	KIND("comm", PROCESS),
	KIND("enter", THREAD),
	KIND("leave", THREAD),
	KIND("unit", SET),
	KIND_WITHOUT("use", SET, of_use),
	{ TEXT("module"), TR_DIFF_SET, TEXT("id"), of_module, NULL },
	KIND("meta", SET),
	KIND("env", SET),
	KIND_WITHOUT("envset", SET, of_envset),
	KIND("info", SET),
	KIND("section", SET),
	KIND("load", SET),
	KIND("unload", SET),
	KIND("loadaddr", SET),
};

const struct tr_diff_kind *tr_diff_kind(struct tr_text name)
{
	static const struct tr_diff_kind other = KIND("", KIND);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (tr_text_equal(kinds[i].name, name))
			return &kinds[i];
	}
	return &other;
}
