# fish completion for trec-tools. Options, their choices and the keys of -O are
# read from the tool's own --help, so that they always agree with it.

# KEY=CHOICE of -O, one a line
function __trec_tools_settings --argument-names tool
    for setting in ($tool --help 2>/dev/null | sed -n '/^Keys of -O:/,/^$/p' |
        string match -r -g '^  ([a-z][a-z0-9-]*=[^ ]*)' | sort -u)
        set -l pair (string split -m 1 = -- $setting)
        for choice in (string split '|' -- $pair[2])
            # what is in capitals stands for something
            string match -qr '[A-Z]' -- $choice; and set choice ''
            echo $pair[1]=$choice
        end
    end
end

function __trec_tools_values --argument-names tool argument
    switch $argument
        case 'KEY=VALUE'
            __trec_tools_settings $tool
        case '*|*'
            string split '|' -- $argument
        case NAME
            $tool --list-formats 2>/dev/null | awk -F'\t' '$2 == "yes" { print $1 }'
        case FORMAT
            $tool --list-formats 2>/dev/null | awk -F'\t' '$3 == "yes" { print $1 }'
        case 'CODEC*'
            printf '%s\n' none gzip xz zstd bzip2 lz4 snappy brotli
    end
end

# the options of --help, "NAMES  TEXT" a line, however long it is
function __trec_tools_rows --argument-names tool
    $tool --help 2>/dev/null | awk '
        NF && substr($0, 1, 30) ~ /^ *$/ { sub(/^ +/, ""); row = row "  " $0; next }
        { if (row) print row; row = $0 ~ /^ +-/ ? $0 : ""; sub(/^ +/, "", row) }'
end

function __trec_tools_complete --argument-names tool
    command -q $tool; or return
    for line in (__trec_tools_rows $tool)
        set -l names (string replace -r '  .*' '' -- $line)
        set -l text (string replace -r '^.*?(  +|$)' '' -- $line | string replace -ra '  +' ' ')
        set -l letter (string match -r -g '^-([A-Za-z0-9])(?:,|$)' -- $names)
        set -l long (string match -r -g -- '--([a-z][a-z0-9-]*)' $names)
        set -l argument (string match -r -g -- '--[a-z0-9-]+\[?=([^\] ]+)' $names)
        set -l flags -c $tool
        test -n "$letter"; and set -a flags -s $letter
        test -n "$long"; and set -a flags -l $long
        if test -n "$argument"
            set -a flags -r
            set -l values (__trec_tools_values $tool $argument)
            test -n "$values"; and set -a flags -f -a "$values"
        end
        complete $flags -d "$text"
    end
end

for tool in tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-repack tr-record
    __trec_tools_complete $tool
end
