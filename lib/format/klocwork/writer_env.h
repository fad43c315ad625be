/*
 * Records that say their environment otherwise than the trace does: whole
 * (env), or against the env line's where the trace wants it against the
 * parent's (envtop), or the other way round. Nothing is computed, and nothing
 * remembered, before the first of them in a segment: most traces have none.
 */
#ifndef TR_FORMAT_KLOCWORK_WRITER_ENV_H
#define TR_FORMAT_KLOCWORK_WRITER_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "format/klocwork/render.h"
#include "format/klocwork/writer_kin.h"
#include "process/environment.h"
#include "record/record.h"

struct tr_klocwork_env {
	bool target_top; /* the trace shall have its differences against the env line */
	struct tr_environments *pool; /* NULL: nothing had to be computed in this segment */
	struct tr_environment *top;
	bool supplied;		   /* the env line is ours: who tells nothing may have any */
	bool differences;	   /* before that, there were some */
	bool told_top, told_other; /* records told differences against the env line, or others */
	uint64_t begin;		   /* the ordinal with which the segment begins */
	uint64_t plain_before;	   /* from there to this one all have the env line's environment */
	struct tr_buffer vars;	   /* the env line's map */
	struct tr_buffer diff;	   /* the last one that was computed */
};

/* The segment is over; the next begins with that ordinal. */
void tr_klocwork_env_end(struct tr_klocwork_env *env, uint64_t ordinal);

/* An env record; one without a map is taken for an empty one. TR_FATAL: memory. */
enum tr_status tr_klocwork_env_top(struct tr_klocwork_env *env, struct tr_record *record,
				   struct tr_error *err);

/*
 * An exec record that will have this ordinal. Sets overrides' envdiff where the
 * record's own fields are not what the trace needs, and parent_id where the
 * difference is to the env line, because the parent is not there; *known becomes
 * false where it cannot be computed. TR_WARN: a field is no map.
 */
enum tr_status tr_klocwork_env_exec(struct tr_klocwork_env *env, struct tr_record *record,
				    const struct tr_klocwork_fields *fields, uint64_t ordinal,
				    struct tr_klocwork_parentage *parentage,
				    struct tr_klocwork_overrides *overrides, bool *known,
				    struct tr_error *err);

#endif
