/* SPDX-License-Identifier: MIT */
/*
 * The environment in an exec record: its field, and the conversion to another form, which is whole
 * (env), or a difference to the first environment (envtop) or to that of the parent (envdiff).
 */
#ifndef TR_PROCESS_ENV_LINE_H
#define TR_PROCESS_ENV_LINE_H

#include "process/env_tracker.h"

/* The field for the environment of an exec record, and its form; NULL: it has none. */
struct tr_field *tr_env_line_field(struct tr_record *record, enum tr_env_form *form);

/* The map in a field. TR_WARN: it has none. TR_FATAL: out of memory. err is filled for both. */
enum tr_status tr_env_line_map(struct tr_record *record, struct tr_field *field,
			       const struct tr_value **map, struct tr_error *err);

/*
 * Sets *env to the environment that a field describes: its map applied to base, or with base NULL,
 * the whole map (near: see tr_environment_whole). *minimal: see tr_environment_apply. The caller
 * owns the reference. TR_WARN: the field has no map. TR_FATAL: out of memory. err is filled for
 * both.
 */
enum tr_status tr_env_line_read(struct tr_environments *pool, struct tr_record *record,
				struct tr_field *field, struct tr_environment *base,
				struct tr_environment *near, struct tr_environment **env,
				bool *minimal, struct tr_error *err);

/* True if the record states that its environment is unknown: "env-unknown" is one of its flags. */
bool tr_env_line_is_unknown(struct tr_record *record);

/*
 * Sets *key to the field that holds the environment of a record, which is not pending, in the form
 * `form`, and appends its map. If the map is empty, the record needs no field.
 *
 * TR_OK: done. TR_END: not possible in that form, or the bound of tr_environments_limit is reached;
 * then the field has the form that the record had, except that an inherited environment gets a
 * field if it would mean the first one without. TR_WARN: the record's own field has no meaning.
 * TR_FATAL: out of memory.
 */
enum tr_status tr_exec_env_convert(struct tr_env_tracker *tracker, const struct tr_exec_env *exec,
				   enum tr_env_form form, const char **key, struct tr_buffer *map);

/* The reason why an environment cannot be converted, for messages; a constant. */
const char *tr_exec_env_trouble(struct tr_env_tracker *tracker, const struct tr_exec_env *exec);

/* True if the record has no field for its environment, and nothing else is known about it. */
bool tr_exec_env_is_silent(const struct tr_exec_env *exec);

/*
 * Appends the line of an exec record with key=map in place of its field for the environment, or
 * after argv if it has none, or where argv would be. An empty map only removes the field. A field
 * .raw is removed, because it contains the old environment. record: of that line, whose fields are
 * used if it was split; NULL: the caller has none. False: out of memory.
 */
bool tr_env_line_put(struct tr_text line, const struct tr_record *record, const char *key,
		     struct tr_text map, struct tr_buffer *to);

#endif
