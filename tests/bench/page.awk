# SPDX-License-Identifier: MIT
# Converts the output of tests/bench/run to a page of Markdown (-v md=FILE) and a plot (-v svg=FILE). -v note=TEXT describes the
# machine. The input begins with a line of titles; between the rows are lines `floor WORK CPU-SECONDS WHAT`, and after them lines
# `growth TOOL MB CPU-SECONDS PEAK-KIB`.

function trim(text) {
	gsub(/^ +| +$/, "", text)
	return text
}

function xml(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	return text
}

# a text in Markdown's code, where only | is special in a table
function code(text) {
	gsub(/\|/, "\\|", text)
	return "`" text "`"
}

/^growth\t/ {
	split($0, part, "\t")
	if (!(part[2] in grown)) {
		grown[part[2]] = 1
		tool[++tools] = part[2]
	}
	if (!(part[3] in measured)) {
		measured[part[3]] = 1
		size[++sizes] = part[3]
	}
	cpu[part[2], part[3]] = part[4]
	peak[part[2], part[3]] = part[5]
	next
}

/^floor\t/ {
	split($0, part, "\t")
	floor[part[2]] = part[3]
	does[part[2]] = part[4]
	next
}

substr($0, 76) ~ /^ *[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+ / {
	rows++
	work[rows] = trim(substr($0, 1, 34))
	peer[rows] = trim(substr($0, 36, 38))
	split(trim(substr($0, 75)), value, / +/)
	ours[rows] = value[1]
	theirs[rows] = value[2]
	rate[rows] = value[3]
	ratio[rows] = value[4]
	goal[rows] = value[5]
	# the goal is followed by a verdict unless it is "-"
	memory[rows] = goal[rows] == "-" ? value[6] : value[7]
}

# ratios from 1/16 to 128 on a logarithmic scale
function across(r) {
	return 300 + 60 * log(r < 0.0625 ? 0.0625 : r > 128 ? 128 : r) / log(2) + 240
}

function plot(    i, y, x, height) {
	height = 60 + 17 * rows
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1010\" height=\"%d\" font-family=\"sans-serif\"" \
		" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", height >svg
	print "<text x=\"10\" y=\"18\">CPU time of the other program divided by ours; right of 1 we are faster." \
		" The small line is the goal.</text>" >svg
	for (i = 0.0625; i <= 128; i *= 2) {
		x = across(i)
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"44\" y2=\"%d\" stroke=\"%s\"/>\n", x, x, height - 4,
			i == 1 ? "#444" : "#ddd" >svg
		printf "<text x=\"%d\" y=\"40\" text-anchor=\"middle\" fill=\"#666\">%s</text>\n", x,
			i < 1 ? "1/" 1 / i : i >svg
	}
	for (i = 1; i <= rows; i++) {
		y = 46 + 17 * i
		printf "<text x=\"10\" y=\"%d\">%s</text>\n", y, xml(work[i]) >svg
		split(peer[i], word, " ")
		printf "<text x=\"215\" y=\"%d\" fill=\"#666\">%s</text>\n", y, xml(word[1]) >svg
		x = across(ratio[i])
		printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"11\" fill=\"%s\"/>\n",
			x < across(1) ? x : across(1), y - 10, x < across(1) ? across(1) - x : x - across(1),
			x < across(1) ? "#d98" : "#6a9" >svg
		if (goal[i] != "-")
			printf "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#000\" stroke-width=\"2\"/>\n",
				across(goal[i]), across(goal[i]), y - 11, y + 2 >svg
	}
	print "</svg>" >svg
}

function page(    i, j) {
	print "# Speed\n\n" note "\n" >md
	print "Each row compares one of these tools with another program that does the same work on the same input. The two run in turn;" >md
	print "`ours` and `theirs` are the medians of their CPU time (user and system). The ratio is theirs divided by ours: above 1, our" >md
	print "tool is faster. If the other program is one of these tools, it only reads the input; `sh programs.sh` is the command that is" >md
	print "recorded, by itself. The goal is the ratio that we want to reach; ratios below it are in bold. MB/s is the size of the input" >md
	print "divided by our time, and the peak is our use of memory.\n" >md
	print "![Ratios of all rows](benchmark.svg)\n" >md
	print "| work | compared with | ours, s | theirs, s | MB/s | ratio | goal | peak, MiB |" >md
	print "|---|---|---|---|---|---|---|---|" >md
	for (i = 1; i <= rows; i++)
		printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", work[i], code(peer[i]), ours[i], theirs[i], rate[i],
			goal[i] != "-" && ratio[i] + 0 < goal[i] + 0 ? "**" ratio[i] "**" : ratio[i], goal[i], memory[i] >md
	print "\n## Below the goal\n" >md
	print "The floor is the ratio of a program that does only the work in the last column, which cannot be left out." >md
	print "[run.result](../tests/bench/run.result) explains where the remaining time goes.\n" >md
	print "| work | compared with | ratio | goal | floor | work of the floor |\n|---|---|---|---|---|---|" >md
	for (i = 1; i <= rows; i++)
		if (goal[i] != "-" && ratio[i] + 0 < goal[i] + 0)
			printf "| %s | %s | %s | %s | %s | %s |\n", work[i], code(peer[i]), ratio[i], goal[i],
				floor[work[i]] + 0 ? sprintf("%.2f", theirs[i] / floor[work[i]]) : "-",
				does[work[i]] >md
	print "\n## Growth\n\nCPU time and peak memory for traces of increasing size, read from a pipe.\n" >md
	printf "| command |" >md
	for (j = 1; j <= sizes; j++)
		printf " %s MB |", size[j] >md
	printf "\n|---|" >md
	for (j = 1; j <= sizes; j++)
		printf "---|" >md
	for (i = 1; i <= tools; i++) {
		printf "\n| %s |", code(tool[i]) >md
		for (j = 1; j <= sizes; j++)
			printf " %.2f s, %.1f MiB |", cpu[tool[i], size[j]], peak[tool[i], size[j]] / 1024 >md
	}
	print "" >md
}

END {
	if (!rows) {
		print "no rows" >"/dev/stderr"
		exit 1
	}
	page()
	plot()
}
