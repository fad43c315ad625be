/* What a task is about: made when there is something to keep, small again when that is done. */
#include "format/strace/reader.h"

#include <stdlib.h>

enum { KEEP = 256 }; /* bytes that a task may keep for its next call: it may live for hours */

struct tr_strace_call *tr_strace_state(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_strace_call *call = task->state;

	if (!call) {
		call = task->state = calloc(1, sizeof *call);
		if (call)
			call->held = &reader->held;
	}
	reader->out_of_memory |= !call;
	return call;
}

/* There may be as many as there are tasks: no more memory than the text takes. */
bool tr_strace_call_reserve(struct tr_strace_call *call, size_t len)
{
	if (len <= call->cap)
		return true;
	char *text = realloc(call->text, len);
	if (!text)
		return false;
	*call->held += len - call->cap;
	call->text = text;
	call->cap = len;
	return true;
}

static void free_text(struct tr_strace_call *call)
{
	free(call->text);
	call->text = NULL;
	*call->held -= call->cap;
	call->cap = 0;
}

void tr_strace_state_release(void *state)
{
	struct tr_strace_call *call = state;

	tr_directory_release(call->directory);
	tr_directory_release(call->seen_from);
	free_text(call);
	free(call);
}

void tr_strace_call_close(struct tr_strace_call *call)
{
	call->open = call->proven = call->closed = false;
	tr_directory_release(call->directory);
	tr_directory_release(call->seen_from);
	call->directory = call->seen_from = NULL;
	if (call->cap > KEEP)
		free_text(call);
}
