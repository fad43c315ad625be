/*
 * Directories that files are written to. The directory itself is the user's choice and may be
 * reached through links; below it nothing follows a link, because whoever else can write there
 * could lead the output to any other file.
 */
#ifndef TR_CORE_DIRECTORY_H
#define TR_CORE_DIRECTORY_H

#include <stdbool.h>

#include "core/error.h"

/*
 * A descriptor (O_PATH) of the directory. make: it is created where it is missing, with all
 * directories above it. -1: err is filled.
 */
int tr_directory_open(const char *path, bool make, struct tr_error *err);

/*
 * A descriptor of the directory, below root, that holds the last component of path, which *name
 * is set to. Creates the directories that are missing. -1: err is filled; a component is a link
 * or a file, or "..".
 */
int tr_directory_below(int root, const char *path, const char **name, struct tr_error *err);

#endif
