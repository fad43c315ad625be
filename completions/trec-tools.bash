# bash completion for trec-tools. Options and their choices are read from the
# tool's own --help, so that they always agree with it.

# "--option" or "--option=ARGUMENT" a line
_trec_tools_options() {
	"$1" --help 2>/dev/null | sed -nE 's/^ +(-.*)/\1/p' | sed -E 's/  .*//' |
		grep -oE -- '--[a-z][a-z0-9-]*(\[?=[^] ,]+)?' | tr -d '['
}

# what may stand for ARGUMENT of the given tool
_trec_tools_values() {
	case $2 in
	*'|'*) printf '%s\n' "${2//|/$'\n'}" ;;
	FORMAT | NAME) "$1" --list-formats 2>/dev/null | cut -f1 ;;
	CODEC*) printf '%s\n' none gzip xz zstd bzip2 lz4 snappy brotli ;;
	esac
}

_trec_tools() {
	local tool=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option argument
	# readline takes "=" for a word of its own
	[ "$word" = "=" ] && word=
	[ "$before" = "=" ] && before=${COMP_WORDS[COMP_CWORD - 2]}
	case $before in
	-f) before=--format ;;
	-t) before=--to ;;
	-z) before=--codec ;;
	-o) before=--output ;;
	esac
	COMPREPLY=()
	while IFS='=' read -r option argument; do
		[ "$option" = "$before" ] && [ -n "$argument" ] || continue
		local values
		values=$(_trec_tools_values "$tool" "$argument")
		[ -n "$values" ] || break
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	done < <(_trec_tools_options "$tool")
	case $word in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(_trec_tools_options "$tool" | sed 's/=.*/=/')" -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	esac
	case ${COMPREPLY[*]} in *=) compopt -o nospace 2>/dev/null ;; esac
	return 0
}

complete -o filenames -F _trec_tools tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-repack tr-record
