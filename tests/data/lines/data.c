/* SPDX-License-Identifier: MIT */
/* A small data structure: pointers, structs by value, early returns, long expressions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *left, *right;
	char key[16];
	int count;
};

struct pair {
	int least, most;
};

static struct node *insert(struct node *root, const char *key)
{
	if (!root) {
		root = calloc(1, sizeof *root);
		if (!root)
			abort();
		strncpy(root->key, key, sizeof root->key - 1);
		root->count = 1;
		return root;
	}
	int order = strcmp(key, root->key);

	if (order == 0)
		root->count++;
	else if (order < 0)
		root->left = insert(root->left, key);
	else
		root->right = insert(root->right, key);
	return root;
}

static struct pair range(const struct node *root)
{
	struct pair both = { 0, 0 };

	if (!root)
		return both;
	both.least = root->left ? range(root->left).least : root->count;
	both.most = root->right ? range(root->right).most : root->count;
	return both;
}

static void drop(struct node *root)
{
	if (!root)
		return;
	drop(root->left);
	drop(root->right);
	free(root);
}

int main(void)
{
	static const char *const words[] = { "m", "c", "x", "m", "a", "z", "m" };
	struct node *root = NULL;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		root = insert(root, words[i]);
	struct pair both = range(root);

	printf("%d %d\n", both.least, both.most);
	if (both.least > both.most)
		printf("odd: %d %d\n", both.least, both.most);
	drop(root);
	return 0;
}
