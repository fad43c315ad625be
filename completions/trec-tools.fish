# fish completion for trec-tools. Options and their choices are read from the
# tool's own --help, so that they always agree with it.

function __trec_tools_values --argument-names tool argument
    switch $argument
        case '*|*'
            string split '|' -- $argument
        case FORMAT NAME
            $tool --list-formats 2>/dev/null | cut -f1
        case 'CODEC*'
            printf '%s\n' none gzip xz zstd bzip2 lz4 snappy brotli
    end
end

function __trec_tools_complete --argument-names tool
    command -q $tool; or return
    for line in ($tool --help 2>/dev/null | string match -r '^ +-.*' | string trim)
        set -l names (string replace -r '  .*' '' -- $line)
        set -l text (string replace -r '^.*?(  +|$)' '' -- $line)
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
