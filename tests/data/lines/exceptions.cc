// SPDX-License-Identifier: MIT
// Exceptions that are thrown, caught, thrown again, and not thrown; destructors on the way.
#include <cstdio>
#include <stdexcept>

struct Guard {
	~Guard()
	{
		std::puts("left");
	}
};

static int check(int n)
{
	Guard guard;

	if (n > 2)
		throw std::runtime_error("large");
	if (n < 0)
		throw 5;
	return n;
}

static int attempt(int n)
{
	try {
		return check(n);
	} catch (const std::logic_error &) {
		return -2;
	} catch (const std::exception &e) {
		std::puts(e.what());
		if (n > 100)
			throw;
		return -1;
	}
}

int main()
{
	int sum = attempt(1) + attempt(3);

	try {
		attempt(101);
		sum = 100;
	} catch (...) {
		sum++;
	}
	try {
		sum += check(0);
	} catch (int n) {
		sum += n;
	}
	return sum != 1;
}
