# SPDX-License-Identifier: MIT
# Prints "LINE<TAB>OFFER" for everything that zsh offers at the end of each LINE of
# standard input. $1: the completion file. $2: a folder for temporary files.
# Completion functions run only in a line editor, so this file starts a shell on a
# pseudo-terminal, which sources this file too, and completes when its editor starts.
if [[ ! -o interactive ]]; then
	mkdir -p $2/functions
	cp $1 $2/functions/_${${1:t}:r}
	cat >$2/typed
	: >$2/offers
	export COMPLETE_FOLDER=$2
	zmodload zsh/zpty
	zpty shell zsh -f -i
	zpty -w shell "source ${(q)0:A}"
	while zpty -r shell out; do print -rn -- $out >&2; done
	cat $2/offers
	exit
fi

fpath=($COMPLETE_FOLDER/functions $fpath)
autoload -Uz compinit
compinit -u -D

# Replaces the builtin command: collects the matches that are added.
compadd() {
	local -a found
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -A found "$@"
		(( $#found )) && print -rl -- "$typed"$'\t'${^found} >>$COMPLETE_FOLDER/offers
	fi
	builtin compadd "$@"
}

capture() {
	_main_complete
	compstate[insert]= compstate[list]=
}
zle -C capture complete-word capture

zle-line-init() {
	local typed
	for typed in ${(f)"$(<$COMPLETE_FOLDER/typed)"}; do
		BUFFER=$typed CURSOR=$#typed
		zle capture
	done
	exit
}
zle -N zle-line-init
