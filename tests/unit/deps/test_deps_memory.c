/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a log and of the searches in it fails once. Then that is reported, or the
 * result is complete; nothing is freed twice or lost, which the sanitizers would report.
 */
#include <stdlib.h>

#include "deps/search.h"
#include "failing_alloc.h"
#include "log.h"
#include "tap.h"

/* Tasks of all kinds, records before their forks, messages, links, directories that move. */
static const char log_text[] =
	"exec 1 /bin/sh argv=[\"sh\"] cwd=\"/w\" interp=\"/bin/dash\"\n"
	"sys 1 pipe fds=[3,4] -> return=0\n"
	"sys 1 socketpair fds=[5,6] -> return=0\n"
	"sys 2 open path=\"x\" flags=O_WRONLY|O_CREAT|O_TRUNC -> return=7\n"
	"fork 2 - child=3 flags=CLONE_THREAD|CLONE_FILES|CLONE_FS\n"
	"sys 2 sendmsg fd=5 msg={msg_control=[{cmsg_type=SCM_RIGHTS,cmsg_data=[7]}]} -> return=1\n"
	"fork 1 - child=2 flags=SIGCHLD\n"
	"sys 1 recvmsg fd=6 msg={msg_control=[{cmsg_type=SCM_RIGHTS,cmsg_data=[40]}]} -> return=1\n"
	"sys 2 dup2 oldfd=4 newfd=1 -> return=1\n"
	"exec 2 /bin/cc argv=[\"cc\"]\n"
	"sys 1 symlink target=\"d/e\" link=\"l\" -> return=0\n"
	"sys 1 open path=\"l/\\\\f\" flags=O_RDWR -> return=8\n"
	"sys 1 open path=\"d/in\" flags=O_RDONLY -> return=9\n"
	"sys 1 write fd=40 count=1 -> return=1\n"
	"sys 1 stat path=\"none\" -> error=ENOENT\n"
	"sys 1 mkdir path=\"g\" -> return=0\n"
	"sys 1 renameat2 from=\"d\" to=\"g\" flags=RENAME_EXCHANGE -> return=0\n"
	"sys 1 link from=\"x\" to=\"y\" -> return=0\n"
	"fork 1 - child=5 flags=CLONE_FILES|SIGCHLD\n"
	"sys 5 unshare flags=CLONE_FILES -> return=0\n"
	"sys 5 open path=\"d/in\" flags=O_RDONLY -> return=9\n"
	"sys 1 open path=\"d/in\" flags=O_RDONLY -> return=9\n"
	"exit 5 - status=0\n"
	"sys 9 open path=\"/z\" flags=O_RDONLY -> return=3\n"
	"exit 2 - status=0\n";

static bool count_line(void *context, struct tr_text line)
{
	*(size_t *)context += line.len;
	return true;
}

static bool count_use(void *context, struct tr_deps_use *use)
{
	++*(size_t *)context;
	return use->version;
}

/* Puts the log, and searches from each command. *sum: of what came out. False: memory. */
static bool run(bool events, bool forward, size_t *sum)
{
	struct tr_deps_graph graph;
	struct tr_deps_tracker tracker;
	struct tr_deps_search search = { .graph = &graph,
					 .forward = forward,
					 .through = TR_THROUGH_ALL,
					 .found = count_use,
					 .context = sum };
	*sum = 0;
	tr_deps_graph_init(&graph);
	tr_deps_tracker_init(&tracker, &graph);
	graph.details = !events;
	if (events) {
		tracker.emit = count_line;
		tracker.context = sum;
	}
	bool fine = !graph.failed && log_put(&tracker, log_text);
	for (struct tr_deps_file *file = fine ? graph.first_file : NULL; file && fine;
	     file = file->next) {
		tr_deps_search_begin(&search);
		fine = tr_deps_search(&search, file->version);
	}
	*sum += fine ? graph.use_count : 0;
	tr_deps_search_free(&search);
	tr_deps_tracker_free(&tracker);
	tr_deps_graph_free(&graph);
	return fine;
}

int main(void)
{
	for (int way = 0; way < 4; way++) {
		size_t whole, sum;
		int at = 1, reported = 0;
		bool good = run(way & 1, way & 2, &whole) && whole > 20;
		for (failed = true; failed && good; at++) {
			failed = false;
			countdown = at;
			bool fine = run(way & 1, way & 2, &sum);
			countdown = 0;
			reported += !fine;
			good = fine ? sum == whole : failed;
		}
		ok(good && reported > 20, "%s, %s: %d allocations, %d failures reported",
		   way & 1 ? "with events" : "without events", way & 2 ? "forward" : "backward",
		   at - 2, reported);
	}
	return done_testing();
}
