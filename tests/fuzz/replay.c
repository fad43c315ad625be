/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target on files, without a fuzzer; make check replays the corpus with it. Prints TAP;
 * a file that the target fails on ends the program. --mutate, for small files: also on each prefix
 * of a file, and with each of its bytes changed in each bit and in all bits.
 *
 *	fuzz_expr [--mutate] FILE...
 *	fuzz_format FORMAT [--mutate] FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the target's own arguments; only some targets define it. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

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

/* A copy without spare bytes, so that a sanitizer reports reads beyond its end. */
static void run_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_mutations(uint8_t *data, size_t size)
{
	for (size_t cut = 0; cut < size; cut++)
		run_copy(data, cut);
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = data[i];
		for (unsigned bit = 0; bit <= 8; bit++) {
			data[i] = (uint8_t)(bit < 8 ? byte ^ 1u << bit : ~(unsigned)byte);
			run_copy(data, size);
		}
		data[i] = byte;
	}
}

int main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	int mutate = argc > 1 && strcmp(argv[1], "--mutate") == 0;
	int failed = 0;

	printf("1..%d\n", argc - 1 - mutate);
	for (int i = 1 + mutate; i < argc; i++) {
		size_t size = 0;
		uint8_t *data = read_all(argv[i], &size);
		if (data)
			run_copy(data, size);
		else
			failed = 1;
		if (data && mutate)
			run_mutations(data, size);
		printf("%sok %d - %s\n", data ? "" : "not ", i - mutate, argv[i]);
		fflush(stdout);
		free(data);
	}
	return failed;
}
