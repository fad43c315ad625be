# SPDX-License-Identifier: MIT
# fish completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help=all and --help=formats, so that they always agree with it.

# The option table of TOOL, a row per line: "option<TAB>-o, --name=ARGUMENT<TAB>text" for
# each option, "key<TAB>name=VALUES<TAB>text" for each key of -O, and "command" for a tool
# whose operands are a command.
function __trec_tools_table --argument-names tool
    begin; $tool --help=all; $tool --help=formats; end 2>/dev/null | awk '
        function flush() { if (row != "") print row; row = "" }
        /^Usage: .*COMMAND/ { print "command" }
        /^(Options|Keys of -O):/ { kind = /^O/ ? "option" : "key"; next }
        /^$/ { flush(); kind = "" }
        !kind { next }
        # the text begins in column 30; a line that is blank before it continues a row
        substr($0, 1, 30) ~ /^ *$/ { sub(/^ +/, ""); row = row (row ~ /\t$/ ? "" : " ") $0; next }
        { flush(); sub(/^ +/, ""); if (!sub(/  +/, "\t")) $0 = $0 "\t"; row = kind "\t" $0 }
        END { flush() }'
end

# Prints what ARGUMENT can be: a choice, the name of a format, a file below the word REST.
function __trec_tools_argument --argument-names tool argument rest
    switch $argument
        case '*|*'
            string split '|' -- (string replace -r '[\[\]].*' '' -- $argument) | string match -rv '[A-Z]'
        case NAME
            $tool --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }'
        case FORMAT
            $tool --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }'
        case DIR
            __fish_complete_directories $rest ''
        case FILE 'PATH*' CONFIG DATABASE PROG
            __fish_complete_path $rest
    end
end

# Prints keys of -O, or after a key what its value can be.
function __trec_tools_setting --argument-names tool
    set -l word (commandline -ct | string replace -r '^(-O|--option=)' '')
    set -l keys (__trec_tools_table $tool | string match -r -g '^key\t([^\t]*)')
    if string match -q '*=*' -- $word
        set -l pair (string split -m 1 = -- $word)
        for row in (string match -- "$pair[1]=*" $keys)
            printf '%s\n' $pair[1]=(__trec_tools_argument $tool (string replace -r '^[^=]*=' '' -- $row) "$pair[2]")
        end
    else
        string replace -r '=.*' '=' -- $keys | sort -u
    end
end

# The words before the cursor from the first operand on; status 1 if there is none, and
# the options have not ended.
function __trec_tools_operands --argument-names tool
    set -l takes (__trec_tools_table $tool | string match -r -g '^option\t([^\t=]*)=' | string split ', ')
    set -l words (commandline -opc)[2..]
    while set -q words[1]
        switch $words[1]
            case --
                set -q words[2]; and printf '%s\n' $words[2..]
                return 0
            case '-*'
                contains -- $words[1] $takes; and set -e words[2]
                set -e words[1]
            case '*'
                printf '%s\n' $words
                return 0
        end
    end
    return 1
end

# Prints what can follow in the command that TOOL runs.
function __trec_tools_command --argument-names tool
    set -l words (__trec_tools_operands $tool)
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

function __trec_tools_complete --argument-names tool
    command -q $tool; or return
    set -l only
    for line in (__trec_tools_table $tool)
        set -l row (string split \t -- $line)
        if test $row[1] = command
            complete -c $tool -x -a "(__trec_tools_command $tool)"
            set only -n "not __trec_tools_operands $tool >/dev/null"
        end
        test $row[1] = option; or continue
        set -l letter (string match -r -g '^-([A-Za-z0-9])(?:[, ]|$)' -- $row[2])
        set -l long (string match -r -g -- '--([a-z][a-z0-9-]*)' $row[2])
        set -l argument (string match -r -g '^[^,\[= ]*(?:, [^,\[= ]*)*\[?[= ](.*)' -- $row[2])
        set -l flags -c $tool $only
        test -n "$letter"; and set -a flags -s $letter
        test -n "$long"; and set -a flags -l $long
        switch "$argument"
            case ''
            case KEY=VALUE
                set -a flags -x -a "(__trec_tools_setting $tool)"
            case FILE 'PATH*' CONFIG DATABASE PROG
                set -a flags -r -F
            case DIR
                set -a flags -x -a '(__fish_complete_directories)'
            case '*'
                set -a flags -x -a "(__trec_tools_argument $tool '$argument')"
        end
        complete $flags -d "$row[3]"
    end
end

for tool in tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack tr-symbolize tr-record
    __trec_tools_complete $tool
end
