#include "format/trec/pass_by.h"

#include <errno.h>

/* Then the caller wants to look up: at a progress line, say. */
enum { AT_ONCE = 64 << 20 /* bytes */ };

enum { CHUNK = TR_LINE_BLOCKS * TR_LINE_BLOCK };
_Static_assert((int)CHUNK <= (int)TR_FILE_VIEW_LEAST, "a view has a chunk");

enum outcome { GO_ON, STOP, TORN };

/*
 * Sifts the whole lines of the chunk at *p, and moves *p behind those that are done
 * with. What it finds out about them is bound to the places of line ends that were
 * found first, so whatever somebody writes there meanwhile, nothing goes astray.
 */
static enum outcome sift_chunk(struct tr_sieve *sieve, struct tr_line_ends *ends, const char **p,
			       uint64_t *lines)
{
	struct tr_pick pick;

	sieve->guard->enter(*p, CHUNK);
	tr_line_ends(*p, TR_LINE_BLOCKS, ends);
	if (!sieve->guard->leave() || !ends->clean || !ends->last)
		return STOP; /* nothing is lost yet: the window will meet the same */
	sieve->guard->enter(*p, CHUNK + TR_INPUT_PAD);
	bool picked = tr_sieve_pick(sieve, ends, *p, &pick);
	bool whole = sieve->guard->leave();
	*p = picked ? pick.line.data : ends->last + 1;
	*lines += pick.left_out;
	sieve->left_out += pick.left_out;
	if (!whole)
		return TORN;
	return picked ? STOP : GO_ON;
}

static enum tr_status torn(const struct tr_input *in, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the file was cut, or cannot be read, while it was read: "
		     "some lines before this place may be wrong");
	tr_error_at_offset(err, in->offset);
	return TR_WARN;
}

enum tr_status tr_trec_pass_by(struct tr_input *in, struct tr_sieve *sieve,
			       struct tr_line_ends *ends, uint64_t *lines, struct tr_error *err)
{
	enum outcome outcome = sieve && sieve->guard ? GO_ON : STOP;

	for (uint64_t begin = in->offset; outcome == GO_ON && in->offset - begin < AT_ONCE;) {
		struct tr_text bytes = tr_input_look(in);
		if (bytes.len < CHUNK)
			break; /* or there is nothing to look at, not even an address */
		const char *p = bytes.data, *end = bytes.data + bytes.len;
		while (outcome == GO_ON && end - p >= CHUNK)
			outcome = sift_chunk(sieve, ends, &p, lines);
		if (!tr_input_pass(in, (size_t)(p - bytes.data))) {
			tr_error_system(err, errno, "cannot seek");
			return TR_FATAL;
		}
	}
	return outcome == TORN ? torn(in, err) : TR_OK;
}
