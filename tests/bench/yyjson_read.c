/* SPDX-License-Identifier: MIT */
/*
 * yyjson_read FILE: reads every line as JSON and keeps nothing: the floor of the cost of reading.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t capacity = 0, lines = 0;
	ssize_t size;

	if (!file)
		err(2, "usage: yyjson_read FILE");
	while ((size = getline(&line, &capacity, file)) > 0) {
		yyjson_doc *doc = yyjson_read(line, (size_t)size, 0);
		if (!doc)
			errx(2, "line %zu is not JSON", lines + 1);
		yyjson_doc_free(doc);
		lines++;
	}
	printf("%zu\n", lines);
	return 0;
}
