// SPDX-License-Identifier: MIT
// Graphs as templates: shortest paths, an order of dependencies, components; lambdas and a heap.
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

template <typename T, typename Before = std::less<T>> class Heap
{
      public:
	void push(const T &item)
	{
		items.push_back(item);
		size_t at = items.size() - 1;
		while (at > 0) {
			size_t parent = (at - 1) / 2;
			if (!before(items[at], items[parent]))
				break;
			std::swap(items[at], items[parent]);
			at = parent;
		}
	}
	T pop()
	{
		T top = items.front();
		items.front() = items.back();
		items.pop_back();
		size_t at = 0;
		for (;;) {
			size_t first = at, left = 2 * at + 1;
			for (size_t child = left; child < left + 2 && child < items.size(); child++)
				if (before(items[child], items[first]))
					first = child;
			if (first == at)
				return top;
			std::swap(items[at], items[first]);
			at = first;
		}
	}
	bool empty() const
	{
		return items.empty();
	}

      private:
	std::vector<T> items;
	Before before;
};

template <typename Node, typename Weight = int> class Graph
{
      public:
	void add(const Node &from, const Node &to, Weight weight = Weight(1))
	{
		edges[from].push_back({ to, weight });
		edges[to];
	}

	std::optional<Weight> distance(const Node &from, const Node &to,
				       std::vector<Node> *path = nullptr) const
	{
		std::map<Node, Node> came_from;
		std::map<Node, Weight> best;
		Heap<std::pair<Weight, Node>> open;

		if (!edges.count(from))
			return std::nullopt;
		best[from] = Weight();
		open.push({ Weight(), from });
		while (!open.empty()) {
			auto [weight, node] = open.pop();
			if (best[node] < weight)
				continue;
			if (node == to) {
				if (path)
					*path = trace(came_from, from, to);
				return weight;
			}
			for (const auto &edge : edges.at(node)) {
				Weight sum = weight + edge.weight;
				auto known = best.find(edge.to);
				if (known != best.end() && !(sum < known->second))
					continue;
				best[edge.to] = sum;
				came_from[edge.to] = node;
				open.push({ sum, edge.to });
			}
		}
		return std::nullopt;
	}

	// Each node after those that it leads to; empty if there is a circle.
	std::vector<Node> order() const
	{
		std::vector<Node> result;
		std::set<Node> done, active;
		bool circle = false;

		std::function<void(const Node &)> visit = [&](const Node &node) {
			if (done.count(node))
				return;
			if (!active.insert(node).second) {
				circle = true;
				return;
			}
			for (const auto &edge : edges.at(node))
				visit(edge.to);
			active.erase(node);
			done.insert(node);
			result.push_back(node);
		};
		for (const auto &entry : edges)
			visit(entry.first);
		if (circle)
			result.clear();
		return result;
	}

	template <typename Function> size_t each_component(Function &&call) const
	{
		std::map<Node, Node> leader;
		auto find = [&leader](Node node) {
			while (leader[node] != node)
				node = leader[node] = leader[leader[node]];
			return node;
		};
		for (const auto &entry : edges)
			leader[entry.first] = entry.first;
		for (const auto &entry : edges)
			for (const auto &edge : entry.second)
				leader[find(edge.to)] = find(entry.first);
		std::map<Node, std::vector<Node>> parts;
		for (const auto &entry : edges)
			parts[find(entry.first)].push_back(entry.first);
		for (const auto &part : parts)
			call(part.second);
		return parts.size();
	}

      private:
	struct Edge {
		Node to;
		Weight weight;
	};

	static std::vector<Node> trace(const std::map<Node, Node> &came_from, const Node &from,
				       Node node)
	{
		std::vector<Node> path;
		while (node != from) {
			path.insert(path.begin(), node);
			node = came_from.at(node);
		}
		path.insert(path.begin(), from);
		return path;
	}

	std::map<Node, std::vector<Edge>> edges;
};

static const std::string root = "main.o";

int main()
{
	Graph<std::string, double> roads;
	Graph<std::string> depends;
	Graph<int> ring;
	std::vector<std::string> path;
	auto print = [](const std::vector<std::string> &names) {
		for (const std::string &name : names)
			std::printf("%s ", name.c_str());
		std::putchar('\n');
	};

	roads.add("Kiel", "Hamburg", 95.5);
	roads.add("Hamburg", "Bremen", 126);
	roads.add("Kiel", "Bremen", 230);
	roads.add("Bremen", "Hannover", 127);
	roads.add("Hamburg", "Hannover", 151);
	if (auto length = roads.distance("Kiel", "Hannover", &path)) {
		std::printf("%g km: ", *length);
		print(path);
	} else {
		std::puts("no way");
	}
	if (roads.distance("Hannover", "Kiel") || roads.distance("Rome", "Kiel"))
		return 1;

	depends.add("prog", root);
	depends.add("prog", "util.o");
	depends.add(root, "util.h");
	depends.add("util.o", "util.h");
	depends.add("doc", "text");
	print(depends.order());
	size_t largest = 0;
	size_t parts = depends.each_component([&largest](const std::vector<std::string> &part) {
		if (part.size() > largest)
			largest = part.size();
	});
	std::printf("%zu parts, the largest of %zu\n", parts, largest);

	for (int i = 0; i < 5; i++)
		ring.add(i, (i + 1) % 5);
	if (!ring.order().empty())
		std::puts("an order of a ring?");
	return ring.distance(0, 4).value_or(-1) == 4 ? 0 : 2;
}
