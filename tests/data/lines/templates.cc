// SPDX-License-Identifier: MIT
// Templates with several instances, classes with implicit members, and lambdas.
#include <cstdio>
#include <string>
#include <vector>

template <typename T> class Stack {
public:
	void push(const T &value)
	{
		items.push_back(value);
	}
	T pop()
	{
		if (items.empty())
			return T();
		T value = items.back();
		items.pop_back();
		return value;
	}

private:
	std::vector<T> items;
};

struct Shape {
	virtual ~Shape()
	{
	}
	virtual int area() const = 0;
};

struct Square : Shape {
	explicit Square(int s) : side(s)
	{
	}
	int area() const override
	{
		return side * side;
	}
	int side;
};

struct Circle : Shape {
	int area() const override
	{
		return 3;
	}
};

template <typename T> T largest(const T &a, const T &b)
{
	if (a < b)
		return b;
	return a;
}

static std::string name = "static";

int main()
{
	Stack<int> numbers;
	Stack<std::string> words;
	Square square(4);
	const Shape &shape = square;
	int factor = 2;

	auto scale = [factor](int x) {
		return x * factor;
	};
	auto unused = [](int x) {
		return x + 1;
	};
	(void)unused;
	numbers.push(scale(21));
	words.push(name);
	if (shape.area() != 16)
		std::puts("wrong");
	for (int n : { 1, 2, 3 })
		numbers.push(largest(n, 2));
	return numbers.pop() == 3 && words.pop() == "static" ? 0 : 1;
}
