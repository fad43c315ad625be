# SPDX-License-Identifier: MIT
# Prints "LINE<TAB>OFFER" for everything that bash offers at the end of each LINE of
# standard input. $1: the completion file.
. "$1"
while IFS= read -r line; do
	# words as readline makes them: "=" is one of its own, and so is nothing after a blank
	read -ra COMP_WORDS <<<"${line//=/ = }"
	case $line in *' ') COMP_WORDS+=("") ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
	function=$(complete -p "${COMP_WORDS[0]}") function=${function#* -F }
	"${function%% *}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	for offer in "${COMPREPLY[@]}"; do
		printf '%s\t%s\n' "$line" "$offer"
	done
done
