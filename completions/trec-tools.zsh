#compdef tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-repack tr-record
# zsh completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help, so that they always agree with it.

# KEY=CHOICE of -O, one a line
_trec_tools_settings() {
	"$1" --help 2>/dev/null | sed -nE '/^Keys of -O:/,/^$/s/^  ([a-z][a-z0-9-]*=[^ ]*).*/\1/p' |
		awk -F= '{ n = split($2, choice, "|")
			for (i = 1; i <= n; i++) print $1 "=" (choice[i] ~ /[A-Z]/ ? "" : choice[i]) }' | sort -u
}

# the options of --help, "NAMES  TEXT" a line, however long it is
_trec_tools_rows() {
	"$1" --help 2>/dev/null | awk '
		NF && substr($0, 1, 30) ~ /^ *$/ { sub(/^ +/, ""); row = row "  " $0; next }
		{ if (row) print row; row = $0 ~ /^ +-/ ? $0 : ""; sub(/^ +/, "", row) }'
}

# specifications for _arguments, one a line
_trec_tools_options() {
	local names text name argument action
	_trec_tools_rows "$1" | tr -d '\t:' | sed -E -e 's/  +/\t/' -e 's/  +/ /g' |
	while IFS=$'\t' read -r names text; do
		text=${text//[\[\]]/}
		argument=
		[[ $names = *=* ]] && argument=${${names#*=}%\]}
		case $argument in
		KEY=VALUE) action="(${(f)$(_trec_tools_settings $1)})" ;;
		*\|*) action="(${argument//|/ })" ;;
		NAME) action="(${(f)$($1 --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }')})" ;;
		FORMAT) action="(${(f)$($1 --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }')})" ;;
		CODEC*) action="(none gzip xz zstd bzip2 lz4 snappy brotli)" ;;
		DIR) action='_files -/' ;;
		FILE|PATH) action=_files ;;
		*) action=' ' ;;
		esac
		# both names of an option take what stands behind the long one
		for name in ${(s:, :)names}; do
			name=${${name%%=*}%\[}
			if [[ -z $argument ]]; then
				print -r -- "*${name}[${text}]"
			else
				[[ $name = --* ]] && name+==
				print -r -- "*${name}[${text}]:${argument//:/}:${action//$'\n'/ }"
			fi
		done
	done
}

_trec_tools() {
	local -a options
	options=("${(@f)$(_trec_tools_options $service)}")
	_arguments -s -S "${options[@]}" '*:file:_files'
}

# sourced by a test it only defines; autoloaded it completes
[[ -n $service ]] && _trec_tools "$@"
true
