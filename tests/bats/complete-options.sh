#!/bin/sh
# complete-options.sh TOOL FILE: the long options that the completion FILE offers for TOOL.
case $2 in
*.bash)
	bash -c '. "$2"; COMP_WORDS=("$1" --); COMP_CWORD=1; _trec_tools "$1"
		printf "%s\n" "${COMPREPLY[@]%=}"' - "$1" "$2" ;;
*.zsh)
	# a zsh that waits sends SIGCONT, which takes the stop away that LeakSanitizer waits for
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		zsh -fc 'setopt extendedglob; . "$2"; _trec_tools_options "$1"' - "$1" "$2" |
		grep -oE '^\*--[a-z0-9-]+' | tr -d '*' ;;
*.fish)
	fish --no-config -c 'source $argv[2]; complete -C "$argv[1] --" | string replace -r "[=\t].*" ""' \
		"$1" "$2" ;;
esac
