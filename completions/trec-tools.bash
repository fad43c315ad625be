# SPDX-License-Identifier: MIT
# bash completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help=all and --help=formats, so that they always agree with it.

# The option table of TOOL, a row per line: "option<TAB>--name<TAB>ARGUMENT" for each
# name of an option, "key<TAB>name<TAB>VALUES" for each key of -O, and "command" for a
# tool whose operands are a command.
_trec_tools_table() {
	{ "$1" --help=all; "$1" --help=formats; } 2>/dev/null | awk '
		/^Usage: .*COMMAND/ { print "command" }
		/^Options:/ { kind = "option"; next }
		/^Keys of -O:/ { kind = "key"; next }
		/^$/ { kind = "" }
		# the text begins in column 30; a line that is blank before it continues a row
		!kind || substr($0, 1, 30) ~ /^ *$/ { next }
		{
			sub(/^ +/, ""); sub(/  .*/, "")
			argument = $0
			if (!sub(/^[^,= []*(, [^,= []*)*\[?[= ]/, "", argument)) argument = ""
			sub(/\[.*/, "", argument); sub(/\]$/, "", argument)
			count = split($0, name, ", ")
			for (i = 1; i <= count; i++) {
				sub(/[= [].*/, "", name[i])
				print kind "\t" name[i] "\t" argument
			}
		}'
}

# Adds to COMPREPLY what ARGUMENT can be, as "PREFIX..." that begins with "PREFIX" "REST".
_trec_tools_argument() {
	local tool=$1 table=$2 argument=$3 prefix=$4 rest=$5 values= row
	case $argument in
	KEY=VALUE)
		if [[ $rest == *=* ]]; then
			while IFS= read -r row; do
				_trec_tools_argument "$tool" "$table" "$row" "$prefix${rest%%=*}=" "${rest#*=}"
			done < <(awk -F'\t' -v key="${rest%%=*}" '$1 == "key" && $2 == key { print $3 }' <<<"$table")
			return
		fi
		values=$(awk -F'\t' '$1 == "key" { print $2 "=" }' <<<"$table")
		compopt -o nospace 2>/dev/null ;;
	*'|'*) values=$(tr '|' '\n' <<<"$argument" | grep -v '[A-Z]') ;;
	NAME) values=$("$tool" --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }') ;;
	FORMAT) values=$("$tool" --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }') ;;
	DIR | FILE | PATH* | CONFIG | DATABASE | PROG)
		local what=-f
		[ "$argument" != DIR ] || what=-d
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$prefix" $what -- "$rest")
		compopt -o filenames 2>/dev/null ;;
	esac
	[ -z "$values" ] ||
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$prefix" -W "$values" -- "$rest")
}

_trec_tools() {
	local tool=$1 current=${COMP_WORDS[COMP_CWORD]} table argument= operands= join= i last
	local -a words=() at=()
	table=$(_trec_tools_table "$tool")
	COMPREPLY=()

	# readline makes a word of "=": join what belongs together
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = "=" ] && [ "$i" -gt 1 ]; then
			words[${#words[@]} - 1]+="="
			join=yes
			continue
		elif [ -n "$join" ] && [ -n "${COMP_WORDS[i]}" ]; then
			words[${#words[@]} - 1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}") at+=("$i")
		fi
		join=
	done
	last=$((${#words[@]} - 1))
	[ "$current" != "=" ] || current=

	# an option before the cursor that takes the next word; where the operands begin
	for ((i = 1; i < last; i++)); do
		if [ -n "$argument" ]; then
			argument=
			continue
		fi
		case ${words[i]} in
		--) operands=$((i + 1)) ;;
		-*) argument=$(awk -F'\t' -v name="${words[i]}" \
			'$1 == "option" && $2 == name { print $3 }' <<<"$table") ;;
		*) [[ $table != command* ]] || operands=$i ;;
		esac
		[ -z "$operands" ] || break
	done

	local word=${words[last]}
	if [ -n "$argument" ]; then
		_trec_tools_argument "$tool" "$table" "$argument" "" "$word"
	elif [[ -z $operands && $word == --*=* ]]; then
		argument=$(awk -F'\t' -v name="${word%%=*}" '$1 == "option" && $2 == name { print $3 }' <<<"$table")
		_trec_tools_argument "$tool" "$table" "$argument" "${word%%=*}=" "${word#*=}"
	elif [[ -z $operands && $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(awk -F'\t' '$1 == "option" {
			print $2 ($3 != "" && $2 ~ /^--/ ? "=" : "") }' <<<"$table")" -- "$word")
		case ${COMPREPLY[*]} in *=) compopt -o nospace 2>/dev/null ;; esac
	elif [[ $table == command* && ${operands:-$last} -eq $last ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [[ $table == command* ]] && declare -F _command_offset >/dev/null; then
		_command_offset "${at[operands]}"
		return
	else
		_trec_tools_argument "$tool" "$table" FILE "" "$word"
	fi
	# readline replaces only what follows the last "="
	local before=$((${#word} - ${#current}))
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]:before}
	done
}

complete -F _trec_tools tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack tr-symbolize tr-record
