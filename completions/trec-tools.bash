# bash completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help, so that they always agree with it.

# "--option" or "--option=ARGUMENT" a line
_trec_tools_options() {
	"$1" --help 2>/dev/null | sed -nE 's/^ +(-.*)/\1/p' | sed -E 's/  .*//' |
		grep -oE -- '--[a-z][a-z0-9-]*(\[?=[^] ,]+)?' | tr -d '['
}

# "KEY=CHOICES" a line, for -O
_trec_tools_keys() {
	"$1" --help 2>/dev/null | sed -nE '/^Keys of -O:/,/^$/s/^  ([a-z][a-z0-9-]*=[^ ]*).*/\1/p'
}

# what may stand for ARGUMENT of the given tool
_trec_tools_values() {
	case $2 in
	KEY=VALUE) _trec_tools_keys "$1" | sed 's/=.*/=/' | sort -u ;;
	*'|'*) printf '%s\n' "${2//|/$'\n'}" ;;
	NAME) "$1" --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }' ;;
	FORMAT) "$1" --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }' ;;
	CODEC*) printf '%s\n' none gzip xz zstd bzip2 lz4 snappy brotli ;;
	esac
}

# what may stand behind a key of -O
_trec_tools_choices() {
	_trec_tools_keys "$1" |
		awk -F= -v key="$2" '$1 == key && $2 !~ /[A-Z]/ { gsub(/\|/, "\n", $2); print $2 }' | sort -u
}

_trec_tools() {
	local tool=$1 word=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) equals= values=
	local before option argument
	# readline takes "=" for a word of its own
	if [ "$word" = "=" ]; then
		word= equals=yes
	elif [ "${COMP_WORDS[at]}" = "=" ]; then
		at=$((at - 1)) equals=yes
	fi
	before=${COMP_WORDS[at]}
	case $before in
	-f) before=--format ;;
	-t) before=--to ;;
	-z) before=--codec ;;
	-o) before=--output ;;
	-O) before=--option ;;
	esac
	if [ -n "$equals" ] && [[ $before != -* ]]; then
		values=$(_trec_tools_choices "$tool" "$before")
	else
		while IFS='=' read -r option argument; do
			[ "$option" = "$before" ] && [ -n "$argument" ] || continue
			values=$(_trec_tools_values "$tool" "$argument")
			break
		done < <(_trec_tools_options "$tool")
	fi
	if [ -n "$values" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_trec_tools_options "$tool" | sed 's/=.*/=/')" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
	fi
	case ${COMPREPLY[*]} in *=) compopt -o nospace 2>/dev/null ;; esac
	return 0
}

complete -F _trec_tools tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-repack tr-record
