#compdef tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-repack tr-record
# zsh completion for trec-tools. Options and their choices are read from the
# tool's own --help, so that they always agree with it.

# specifications for _arguments, one a line
_trec_tools_options() {
	local names text name argument action
	"$1" --help 2>/dev/null | sed -nE 's/^ +(-.*)/\1/p' | tr -d '\t:' | sed -E 's/  +/\t/' |
	while IFS=$'\t' read -r names text; do
		text=${text//[\[\]]/}
		for name in ${(s:, :)names}; do
			argument=
			[[ $name = *=* ]] && argument=${name#*=} name=${${name%%=*}%\[}
			case $argument in
			'') print -r -- "*${name}[${text}]"; continue ;;
			*\|*) action="(${argument//|/ })" ;;
			FORMAT|NAME) action="(${(f)$($1 --list-formats 2>/dev/null | cut -f1)})" ;;
			CODEC*) action="(none gzip xz zstd bzip2 lz4 snappy brotli)" ;;
			FILE|PATH) action=_files ;;
			*) action=' ' ;;
			esac
			[[ $name = --* ]] && name+==
			print -r -- "*${name}[${text}]:${argument//:/}:${action//$'\n'/ }"
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
