// SPDX-License-Identifier: MIT
// Accounts with amounts in cents: operators, virtual functions, references, and undoing by exceptions.
#include <algorithm>
#include <cstdio>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

class Amount
{
      public:
	Amount(long c = 0) : cents(c)
	{
	}
	Amount operator+(const Amount &other) const
	{
		return Amount(cents + other.cents);
	}
	Amount operator-(const Amount &other) const
	{
		return Amount(cents - other.cents);
	}
	Amount operator-() const
	{
		return Amount(-cents);
	}
	Amount &operator+=(const Amount &other)
	{
		cents += other.cents;
		return *this;
	}
	bool operator<(const Amount &other) const
	{
		return cents < other.cents;
	}
	Amount share(int percent) const
	{
		long product = cents * percent;
		return Amount(product / 100 + (product % 100 >= 50 ? 1 : 0));
	}
	std::string text() const
	{
		long whole = cents < 0 ? -cents : cents;
		char buffer[32];
		std::snprintf(buffer, sizeof buffer, "%s%ld.%02ld", cents < 0 ? "-" : "",
			      whole / 100, whole % 100);
		return buffer;
	}

      private:
	long cents;
};

class Refused : public std::logic_error
{
      public:
	using std::logic_error::logic_error;
};

class Account
{
      public:
	Account(const std::string &n, Amount start) : name(n), balance(start)
	{
		count++;
	}
	virtual ~Account()
	{
		count--;
	}
	Account(const Account &) = delete;
	Account &operator=(const Account &) = delete;

	void deposit(Amount amount)
	{
		if (amount < Amount())
			throw Refused("negative amount");
		balance += amount;
	}
	void withdraw(Amount amount)
	{
		if (balance - amount < limit())
			throw Refused(name + " has only " + balance.text());
		balance += -amount;
	}
	virtual void end_month()
	{
	}
	const std::string name;
	const Amount &holds() const
	{
		return balance;
	}
	static int count;

      protected:
	virtual Amount limit() const
	{
		return Amount(0);
	}
	Amount balance;
};

int Account::count;

class Savings : public Account
{
      public:
	Savings(const std::string &n, Amount start, int p) : Account(n, start), percent(p)
	{
	}
	void end_month() override
	{
		balance += balance.share(percent);
	}

      private:
	int percent;
};

class Credit : public Account
{
      public:
	explicit Credit(const std::string &n, Amount most = Amount(50000))
	    : Account(n, Amount()), line(most)
	{
	}
	void end_month() override
	{
		if (balance < Amount())
			balance += -(-balance).share(2);
	}

      protected:
	Amount limit() const override
	{
		return -line;
	}

      private:
	Amount line;
};

// What was done, to be undone in the opposite order unless all of it succeeds.
class Transaction
{
      public:
	~Transaction()
	{
		if (done)
			return;
		for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
			at->to->withdraw(at->amount);
			at->from->deposit(at->amount);
		}
	}
	void move(Account &from, Account &to, Amount amount)
	{
		from.withdraw(amount);
		to.deposit(amount);
		steps.push_back({ &from, &to, amount });
	}
	void commit()
	{
		done = true;
	}

      private:
	struct Step {
		Account *from, *to;
		Amount amount;
	};
	std::vector<Step> steps;
	bool done = false;
};

class Bank
{
      public:
	template <typename Kind, typename... Arguments> Kind &open(Arguments... arguments)
	{
		Kind *account = new Kind(arguments...);
		accounts.push_back(account);
		return *account;
	}
	~Bank()
	{
		for (Account *account : accounts)
			delete account;
	}
	Account &find(const std::string &name)
	{
		auto at = std::find_if(accounts.begin(), accounts.end(),
				       [&name](const Account *a) { return a->name == name; });
		if (at == accounts.end())
			throw std::out_of_range("no account of " + name);
		return **at;
	}
	bool spread(const std::string &from, const std::vector<std::string> &to, Amount each)
	{
		try {
			Transaction transaction;
			for (const std::string &name : to)
				transaction.move(find(from), find(name), each);
			transaction.commit();
			return true;
		} catch (const Refused &refused) {
			std::printf("refused: %s\n", refused.what());
		} catch (const std::out_of_range &error) {
			std::printf("%s\n", error.what());
		}
		return false;
	}
	void end_month()
	{
		for (Account *account : accounts)
			account->end_month();
	}
	void print() const
	{
		for (const Account *account : accounts)
			std::printf("%s %s\n", account->name.c_str(),
				    account->holds().text().c_str());
	}

      private:
	std::list<Account *> accounts;
};

int main()
{
	int refused = 0;

	{
		Bank bank;
		bank.open<Savings>("anna", Amount(100000), 3);
		Credit &bert = bank.open<Credit>("bert");
		bank.open<Account>("carl", Amount(999));

		refused += !bank.spread("anna", { "bert", "carl" }, 12345);
		refused += !bank.spread("carl", { "anna", "bert" }, 10000);
		refused += !bank.spread("bert", { "carl", "dora" }, 1);
		bert.withdraw(40000);
		bank.end_month();
		bank.print();
		try {
			bert.deposit(-5);
			std::puts("accepted");
		} catch (const std::exception &error) {
			std::puts(error.what());
			refused++;
		}
	}
	return refused == 3 && Account::count == 0 ? 0 : 1;
}
