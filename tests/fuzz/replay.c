/*
 * Runs a fuzz target over files, without a fuzzer: make check replays the
 * corpus with it. TAP; a file that breaks the target ends the program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0) {
		long length = ftell(file);
		rewind(file);
		data = length >= 0 ? malloc((size_t)length + 1) : NULL;
		*size = data ? fread(data, 1, (size_t)length, file) : 0;
	}
	fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		uint8_t *data = read_all(argv[i], &size);
		if (data)
			LLVMFuzzerTestOneInput(data, size);
		else
			failed = 1;
		printf("%sok %d - %s\n", data ? "" : "not ", i, argv[i]);
		fflush(stdout);
		free(data);
	}
	return failed;
}
