/* SPDX-License-Identifier: MIT */
/* A machine with a stack: an assembler for it, and the loop that runs its code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op { PUSH, POP, ADD, SUB, MUL, LESS, JUMP, JUMPZ, LOAD, STORE, PRINT, HALT };

enum { CODE = 64, STACK = 16, LABELS = 8, CELLS = 4 };

struct code {
	enum op op;
	int argument;
};

struct label {
	char name[12];
	int at;
};

struct program {
	struct code code[CODE];
	int count;
	struct label labels[LABELS];
	int label_count;
};

static const struct {
	const char *name;
	enum op op;
	int has_argument;
} names[] = {
	{ "push", PUSH, 1 }, { "pop", POP, 0 },	    { "add", ADD, 0 },	   { "sub", SUB, 0 },
	{ "mul", MUL, 0 },   { "less", LESS, 0 },   { "jump", JUMP, 1 },   { "jumpz", JUMPZ, 1 },
	{ "load", LOAD, 1 }, { "store", STORE, 1 }, { "print", PRINT, 0 }, { "halt", HALT, 0 },
};

/* Returns the place of a label; -1: it is unknown. */
static int find_label(const struct program *program, const char *name)
{
	for (int i = 0; i < program->label_count; i++)
		if (strcmp(program->labels[i].name, name) == 0)
			return program->labels[i].at;
	return -1;
}

static int add_label(struct program *program, const char *name)
{
	if (program->label_count == LABELS) {
		fprintf(stderr, "too many labels: %s\n", name);
		return 0;
	}
	struct label *label = &program->labels[program->label_count++];

	snprintf(label->name, sizeof label->name, "%s", name);
	label->at = program->count;
	return 1;
}

static int assemble_word(struct program *program, const char *word, const char *argument, int pass)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i].name, word) != 0)
			continue;
		if (program->count == CODE)
			return 0;
		struct code *code = &program->code[program->count++];
		code->op = names[i].op;
		if (!names[i].has_argument)
			return 1;
		if (*argument == ':') {
			code->argument = find_label(program, argument + 1);
			return pass == 0 || code->argument >= 0;
		}
		code->argument = atoi(argument);
		return 1;
	}
	fprintf(stderr, "unknown instruction: %s\n", word);
	return 0;
}

/* Translates lines; labels may be used before they are defined, so that it takes two passes. */
static int assemble(struct program *program, const char *text)
{
	char line[40], word[16], argument[16];

	memset(program, 0, sizeof *program);
	for (int pass = 0; pass < 2; pass++) {
		program->count = 0;
		for (const char *p = text; *p;) {
			size_t len = strcspn(p, "\n");
			if (len >= sizeof line)
				return 0;
			memcpy(line, p, len);
			line[len] = 0;
			p += len + (p[len] == '\n');
			argument[0] = 0;
			if (sscanf(line, "%15s %15s", word, argument) < 1)
				continue;
			size_t last = strlen(word) - 1;
			if (word[last] == ':') {
				word[last] = 0;
				if (pass == 0 && !add_label(program, word))
					return 0;
			} else if (!assemble_word(program, word, argument, pass)) {
				return 0;
			}
		}
	}
	return 1;
}

/* Runs the program; returns the number of its steps, or -1. */
static int run(const struct program *program)
{
	int stack[STACK] = { 0 }, cells[CELLS] = { 0 };
	int top = 0, steps = 0;

	for (int at = 0; at < program->count; steps++) {
		const struct code *code = &program->code[at++];
		if (top < 2)
			stack[top] = stack[top + 1] = 0;
		switch (code->op) {
		case PUSH:
			if (top == STACK) {
				fprintf(stderr, "the stack is full at %d\n", at - 1);
				return -1;
			}
			stack[top++] = code->argument;
			break;
		case POP:
			top--;
			break;
		case ADD:
			stack[top - 2] += stack[top - 1];
			top--;
			break;
		case SUB:
			stack[top - 2] -= stack[top - 1];
			top--;
			break;
		case MUL:
			stack[top - 2] *= stack[top - 1];
			top--;
			break;
		case LESS:
			stack[top - 2] = stack[top - 2] < stack[top - 1];
			top--;
			break;
		case JUMP:
			at = code->argument;
			break;
		case JUMPZ:
			if (!stack[--top])
				at = code->argument;
			break;
		case LOAD:
			stack[top++] = cells[code->argument % CELLS];
			break;
		case STORE:
			cells[code->argument % CELLS] = stack[--top];
			break;
		case PRINT:
			printf("%d\n", stack[--top]);
			break;
		case HALT:
			return steps;
		}
	}
	return steps;
}

int main(void)
{
	static const char factorial[] = "push 1\nstore 0\npush 6\nstore 1\n"
					"again:\nload 1\npush 1\nless\njumpz :more\njump :done\n"
					"more:\npush 0\nload 1\nless\njumpz :done\n"
					"load 0\nload 1\nmul\nstore 0\n"
					"load 1\npush 1\nsub\nstore 1\njump :again\n"
					"done:\nload 0\nprint\nhalt\n";
	static struct program program;

	if (!assemble(&program, factorial))
		return 1;
	int steps = run(&program);
	printf("%d instructions, %d steps\n", program.count, steps);
	if (assemble(&program, "push 1\nfly 2\n"))
		return 2;
	if (assemble(&program, "jump :nowhere\n"))
		return 3;
	if (!assemble(&program, "more:\npush 1\njump :more\n") || run(&program) != -1)
		return 4;
	return steps < 0;
}
