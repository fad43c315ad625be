// SPDX-License-Identifier: MIT
// A reader and writer of JSON: errors are exceptions, values own each other.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace json
{
class Error : public std::runtime_error
{
      public:
	Error(const std::string &what, size_t where) : std::runtime_error(what), place(where)
	{
	}
	size_t where() const
	{
		return place;
	}

      private:
	size_t place;
};

struct Value {
	virtual ~Value() = default;
	virtual void write(std::string &to) const = 0;
	virtual size_t depth() const
	{
		return 0;
	}
};

using Pointer = std::unique_ptr<Value>;

static void write_string(const std::string &text, std::string &to)
{
	to += '"';
	for (char c : text) {
		if (c == '"' || c == '\\')
			to += '\\';
		if (c == '\n')
			to += "\\n";
		else
			to += c;
	}
	to += '"';
}

struct Word : Value {
	explicit Word(const char *w) : word(w)
	{
	}
	void write(std::string &to) const override
	{
		to += word;
	}
	const char *word;
};

struct Number : Value {
	explicit Number(double n) : number(n)
	{
	}
	void write(std::string &to) const override
	{
		char text[32];
		std::snprintf(text, sizeof text, "%g", number);
		to += text;
	}
	double number;
};

struct String : Value {
	explicit String(std::string t) : text(std::move(t))
	{
	}
	void write(std::string &to) const override
	{
		write_string(text, to);
	}
	std::string text;
};

struct List : Value {
	void write(std::string &to) const override
	{
		const char *before = "[";
		for (const auto &item : items) {
			to += before;
			item->write(to);
			before = ",";
		}
		to += items.empty() ? "[]" : "]";
	}
	size_t depth() const override
	{
		size_t most = 0;
		for (const auto &item : items)
			most = std::max(most, item->depth());
		return most + 1;
	}
	std::vector<Pointer> items;
};

struct Object : Value {
	void write(std::string &to) const override
	{
		to += '{';
		for (auto at = members.begin(); at != members.end(); ++at) {
			if (at != members.begin())
				to += ',';
			write_string(at->first, to);
			to += ':';
			at->second->write(to);
		}
		to += '}';
	}
	size_t depth() const override
	{
		size_t most = 0;
		for (const auto &member : members)
			most = std::max(most, member.second->depth());
		return most + 1;
	}
	std::map<std::string, Pointer> members;
};

class Parser
{
      public:
	explicit Parser(const std::string &t) : text(t)
	{
	}
	Pointer parse()
	{
		Pointer value = parse_value(0);
		skip();
		if (at < text.size())
			throw Error("more after the value", at);
		return value;
	}

      private:
	void skip()
	{
		while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
			at++;
	}
	bool take(char c)
	{
		skip();
		if (at == text.size() || text[at] != c)
			return false;
		at++;
		return true;
	}
	void expect(char c)
	{
		if (!take(c))
			throw Error(std::string("expected ") + c, at);
	}
	std::string parse_string()
	{
		std::string result;
		expect('"');
		while (at < text.size() && text[at] != '"') {
			char c = text[at++];
			if (c == '\\') {
				if (at == text.size())
					break;
				c = text[at++];
				switch (c) {
				case 'n':
					c = '\n';
					break;
				case 'u':
					throw Error("no escapes of code points", at);
				}
			}
			result += c;
		}
		if (!take('"'))
			throw Error("unclosed string", at);
		return result;
	}
	Pointer parse_value(int level)
	{
		skip();
		if (level > 20)
			throw Error("too deep", at);
		if (at == text.size())
			throw Error("value expected", at);
		if (take('[')) {
			auto list = std::make_unique<List>();
			if (take(']'))
				return list;
			do
				list->items.push_back(parse_value(level + 1));
			while (take(','));
			expect(']');
			return list;
		}
		if (take('{')) {
			auto object = std::make_unique<Object>();
			if (take('}'))
				return object;
			do {
				skip();
				std::string key = parse_string();
				expect(':');
				object->members[key] = parse_value(level + 1);
			} while (take(','));
			expect('}');
			return object;
		}
		if (text[at] == '"')
			return std::make_unique<String>(parse_string());
		for (const char *word : { "true", "false", "null" }) {
			std::string name = word;
			if (text.compare(at, name.size(), name) == 0) {
				at += name.size();
				return std::make_unique<Word>(word);
			}
		}
		const char *begin = text.c_str() + at;
		char *end;
		double number = std::strtod(begin, &end);
		if (end == begin)
			throw Error("value expected", at);
		at += static_cast<size_t>(end - begin);
		return std::make_unique<Number>(number);
	}

	const std::string &text;
	size_t at = 0;
};
} // namespace json

static int errors;

static std::string convert(const std::string &text)
{
	std::string result;

	try {
		json::Pointer value = json::Parser(text).parse();
		value->write(result);
		if (value->depth() > 2)
			result += " deep";
	} catch (const json::Error &error) {
		errors++;
		result = error.what();
		result += " at " + std::to_string(error.where());
	} catch (const std::exception &error) {
		result = std::string("trouble: ") + error.what();
	}
	return result;
}

int main()
{
	const std::vector<std::string> texts = {
		"[1, 2.5, -3e2]",
		"{\"b\": [], \"a\": {\"x\": [true, null]}}",
		"\"a\\\"b\\n\"",
		"[1, 2",
		"{\"a\" 1}",
		"[tru]",
		"\"\\u0041\"",
		"\"open",
		"1 2",
		std::string(30, '['),
		"  ",
	};

	for (const std::string &text : texts)
		std::puts(convert(text).c_str());
	return errors != 8;
}
