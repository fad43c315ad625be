/* SPDX-License-Identifier: MIT */
/*
 * Traces of API calls, as apitrace records them. The path of the data:
 *
 *	apitrace.c         recognises a trace; the table of the format
 *	reader.c           window -> units -> records
 *	  parse.c          the head and events of a unit: signatures, values as trees
 *	  spell.c          values as text, without a tree: for lines, and for calls in apitrace's style
 *	signature.c        tables of signatures (functions, structs, enums, masks, frames);
 *	                   definition records
 *	write.c            segments -> streams
 *	  encode.c         a record -> the bytes of its events, from trees or directly from text
 *	  write_signature.c  signatures that are written, and rebuilt if they are missing
 *	call_kind.c        kinds of calls by the names of functions
 *	text.c             tr-totext --style=apitrace: see text.h
 *
 * Source: apitrace's own reader and writer (lib/trace/trace_parser.cpp,
 * trace_writer.cpp of apitrace 11.1; the published description differs from
 * both in places). The codecs decode and encode the containers.
 *
 *	trace   = uint version
 *		  [version >= 6: uint semantic version, { string name, string value }, 00]
 *		  event*
 *	event   = 00 [version >= 4: uint thread] function detail* 00      an enter
 *		| 01 uint call detail* 00                                 a leave
 *	detail  = 01 uint argument, value | 02 value (returned)
 *		| 03 uint thread (version < 4)
 *		| 04 uint count, frame*   | 05 uint flags
 *	value   = 00 null | 01 false | 02 true | 03 uint (that much below 0) | 04 uint
 *		| 05 float (4 bytes) | 06 double (8 bytes) | 07 string | 08 uint length, bytes
 *		| 09 enum | 0a mask | 0b uint count, value* | 0c struct, value* | 0d uint pointer
 *		| 0e value (for people), value (for machines) | 0f uint count, uint*  (wide string)
 *	enum    = uint id [uint count, { string name, (03 | 04) uint }], (03 | 04) uint
 *	          version < 3: uint id [string name, (03 | 04) uint], and that is the value
 *	mask    = uint id [uint count, { string name, uint flag }], uint
 *	function, struct = uint id [string name, uint count, string*]
 *	frame   = uint id [{ 01 module | 02 function | 03 file (strings)
 *		           | 04 line | 05 offset (uints) } 00]
 *	string  = uint length, bytes
 *
 * The thread as a detail is in apitrace's description and in its trace_format.hpp (CALL_THREAD),
 * for the versions before the one that has it in every enter. No version of apitrace's writer or
 * parser knows it.
 *
 * The part in [ ] after an id is there only at the first use of the id. Functions, structs, enums,
 * masks and frames each have their own ids. A uint is LEB128, floats
 * are little endian. Calls are numbered by their enters, from 0. Events have no
 * length, so after something unknown, reading can go on only at the head of another stream.
 *
 * A file may hold several streams, one after the other. apitrace 11.1 writes such
 * files for programs that fork: the child inherits the bytes that the parent has not
 * written yet, and writes them when it makes its first call (whose trace then goes to
 * a file of its own) or exits. The parent writes the same bytes again, so the first
 * stream is the beginning of the second. If the parent had written some before, the
 * child's copy has no head; the codec leaves such copies out (core/codec_snappy.c).
 */
#ifndef TR_FORMAT_APITRACE_APITRACE_H
#define TR_FORMAT_APITRACE_APITRACE_H

#include "format/format.h"

enum {
	TR_APITRACE_VERSION = 6, /* the newest that is known, and what is written */
	TR_APITRACE_ANY_VERSION =
		8, /* the highest that is recognised; bytes from 9 on begin a text */
	TR_APITRACE_HAS_ENUM_TABLES = 3,
	TR_APITRACE_HAS_THREADS = 4,
	TR_APITRACE_HAS_PROPERTIES = 6,
};

enum tr_apitrace_event_byte {
	TR_APITRACE_ENTER,
	TR_APITRACE_LEAVE,
};

enum tr_apitrace_detail {
	TR_APITRACE_END,
	TR_APITRACE_ARGUMENT,
	TR_APITRACE_RETURN,
	TR_APITRACE_THREAD, /* below TR_APITRACE_HAS_THREADS */
	TR_APITRACE_BACKTRACE,
	TR_APITRACE_FLAGS,
};

enum tr_apitrace_tag {
	TR_APITRACE_NULL,
	TR_APITRACE_FALSE,
	TR_APITRACE_TRUE,
	TR_APITRACE_SINT, /* a magnitude, below 0 */
	TR_APITRACE_UINT,
	TR_APITRACE_FLOAT,
	TR_APITRACE_DOUBLE,
	TR_APITRACE_STRING,
	TR_APITRACE_BLOB,
	TR_APITRACE_ENUM,
	TR_APITRACE_MASK,
	TR_APITRACE_ARRAY,
	TR_APITRACE_STRUCT,
	TR_APITRACE_POINTER,
	TR_APITRACE_REPR,
	TR_APITRACE_WSTRING,
};

enum tr_apitrace_frame {
	TR_APITRACE_FRAME_END,
	TR_APITRACE_FRAME_MODULE,
	TR_APITRACE_FRAME_FUNCTION,
	TR_APITRACE_FRAME_FILE,
	TR_APITRACE_FRAME_LINE,	  /* a uint; those before are strings */
	TR_APITRACE_FRAME_OFFSET, /* a uint */
};

enum { TR_APITRACE_LOOK = 64 << 10 }; /* bytes that a bid looks at, at most */

/* text.c */
extern const struct tr_text_style tr_apitrace_styles[];

/*
 * call_kind.c: returns the kinds (record/calls.h) of a function, 0 for most. name: its bytes or its
 * cell, as no known name needs an escape. A glGetError that returned GL_NO_ERROR is verbose, too,
 * but that does not depend on the name alone.
 */
unsigned tr_apitrace_call_kinds(struct tr_text name);

/* Returns the API that the name of a function identifies. NULL: none. */
const char *tr_apitrace_call_api(struct tr_text name);

/* True if the function has no side effects: apitrace does not print its name in bold. */
bool tr_apitrace_call_is_plain(struct tr_text name);

/*
 * True if a stream begins at p: a head, and definitions in the first events after it. last: the
 * input has nothing after `end`. valid: the first events must all be valid; otherwise, the reader
 * reports an event that is not.
 */
bool tr_apitrace_begins(const char *p, const char *end, bool last, bool valid);

/* True if a stream may begin at p whose head, or whose first event, is cut at `end`. */
bool tr_apitrace_begins_cut(const char *p, const char *end);

/* reader.c */
struct tr_reader *tr_apitrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err);

/* write.c */
struct tr_writer *tr_apitrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);

#endif
