# SPDX-License-Identifier: MIT
# Prints "LINE<TAB>OFFER" for everything that fish offers at the end of each LINE of
# standard input. argv: the completion file.
source $argv[1]
while read -l line
    for offer in (complete -C "$line")
        printf '%s\t%s\n' "$line" (string split \t -- $offer)[1]
    end
end
