#compdef tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack tr-symbolize tr-record
# SPDX-License-Identifier: MIT
# zsh completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help=all and --help=formats, so that they always agree with it.

# The option table of TOOL, a row per line: "option<TAB>-o, --name=ARGUMENT<TAB>text" for
# each option, "key<TAB>name=VALUES<TAB>text" for each key of -O, and "command" for a tool
# whose operands are a command.
_trec_tools_table() {
	{ "$1" --help=all; "$1" --help=formats; } 2>/dev/null | awk '
		function flush() { if (row != "") print row; row = "" }
		/^Usage: .*COMMAND/ { print "command" }
		/^(Options|Keys of -O):/ { kind = /^O/ ? "option" : "key"; next }
		/^$/ { flush(); kind = "" }
		!kind { next }
		# the text begins in column 30; a line that is blank before it continues a row
		substr($0, 1, 30) ~ /^ *$/ { sub(/^ +/, ""); row = row (row ~ /\t$/ ? "" : " ") $0; next }
		{ flush(); sub(/^ +/, ""); if (!sub(/  +/, "\t")) $0 = $0 "\t"; row = kind "\t" $0 }
		END { flush() }'
}

# Adds what ARGUMENT can be: a choice, the name of a format, a file.
_trec_tools_argument() {
	case $1 in
	*\|*) compadd -- ${${(s:|:)1%%[\[\]]*}:#*[A-Z]*} ;;
	NAME) compadd -- ${(f)"$($service --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }')"} ;;
	FORMAT) compadd -- ${(f)"$($service --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }')"} ;;
	DIR) _files -/ ;;
	FILE|PATH*|CONFIG|DATABASE|PROG) _files ;;
	*) _message -e argument $1 ;;
	esac
}

# Adds keys of -O, or after a key what its value can be.
_trec_tools_setting() {
	local key argument
	local -a keys=(${${(M)${(f)"$(_trec_tools_table $service)"}:#key$'\t'*}#*$'\t'})
	if [[ $PREFIX != *=* ]]; then
		compadd -qS= -- ${(u)keys%%=*}
		return
	fi
	key=${PREFIX%%=*}
	compset -P 1 '*='
	for argument in ${(u)${${(M)keys:#$key=*}#*=}%%$'\t'*}; do
		_trec_tools_argument $argument
	done
}

_trec_tools() {
	local kind names text name argument action
	local -a specs rest=('*:file:_files')
	while IFS=$'\t' read -r kind names text; do
		[[ $kind = command ]] && rest=('(-)1:command: _command_names -e' '*::argument: _normal')
		[[ $kind = option ]] || continue
		text=${text//(#m)[\[\]:\\]/\\$MATCH}
		argument= action=
		if [[ $names = (#b)[^,\[=\ ]#(,\ [^,\[=\ ]#)#(\[|)[=\ ](*) ]]; then
			argument=${match[3]}
			if [[ $argument = KEY=VALUE ]]; then
				action=':setting:_trec_tools_setting'
			else
				action=":argument:{ _trec_tools_argument ${(q)argument} }"
			fi
		fi
		for name in ${(s:, :)names}; do
			name=${name%%[\[= ]*}
			[[ $name = --* && -n $argument ]] && name+==
			specs+=("*${name}[${text}]${action}")
		done
	done < <(_trec_tools_table $service)
	_arguments -s -S $specs $rest
}

_trec_tools "$@"
