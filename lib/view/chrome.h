/* SPDX-License-Identifier: MIT */
/*
 * Records as Chrome trace events: a timeline that Perfetto and chrome://tracing
 * show. One JSON object, an event a line:
 *
 *	{"name":"gcc","cat":"process","ph":"X","ts":400000.000,"dur":1100000.000,"pid":1,"tid":1,
 *	 "args":{"command":"gcc -c a.c","cwd":"/srv","seq":5,"exit":"0"}}
 *
 *  - runs of programs, on as few lanes as they need (process/forest.h); those
 *    that failed are in category "process,failed"
 *  - API calls, by thread: nested calls are shown below their caller; frames
 *  - system calls, signals and all other records, by task
 *  - phases of compilers (phases.h), within the runs of their processes
 *  - counters: processes that are alive; calls and draws of each frame
 *
 * The viewer shows each of the first three as a "process" and each lane or task as a thread of it;
 * each segment has "processes" of its own. Times are microseconds since the first time of the
 * segment, which is stored in otherData. A trace without times is shown as a sequence in which each
 * record takes a microsecond; the names of the "processes" and otherData state that.
 *
 * The path of the data: calls and other records become events at once, an enter with its leave;
 * exec records go to a forest (process/forest.h), whose runs become events at the end of the
 * segment, when their ends and lanes are known. An event is composed in a line and written.
 */
#ifndef TR_VIEW_CHROME_H
#define TR_VIEW_CHROME_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"
#include "view/phases.h"

struct tr_chrome;

/*
 * Borrows out; max_spool as in struct tr_limits, call_kinds as in struct tr_format. NULL: memory
 * is exhausted.
 */
struct tr_chrome *tr_chrome_new(uint64_t max_spool, unsigned (*call_kinds)(struct tr_text name),
				struct tr_output *out);

/* Sets the phases of compilers, which are drawn within their runs. They are borrowed. */
void tr_chrome_set_phases(struct tr_chrome *chrome, struct tr_phases *phases);

/* Takes the next line of the stream, or NULL at its end. TR_WARN: err states what was not shown. */
enum tr_status tr_chrome_put(struct tr_chrome *chrome, struct tr_record *record,
			     struct tr_error *err);

/* True if no record has become an event. */
bool tr_chrome_is_empty(const struct tr_chrome *chrome);

void tr_chrome_free(struct tr_chrome *chrome);

#endif
