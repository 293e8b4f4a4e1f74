# SPDX-License-Identifier: BSD-3-Clause
# Completion of mrc for fish. The program itself says what a word may be.

function __mrc_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option (string match -r '^--[^=]*=' -- "$word")
    set -l value (string replace -- "$option" "" "$word")
    for line in ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case :files
                printf '%s\n' "$option"(__fish_complete_path "$value")
            case :folders
                printf '%s\n' "$option"(__fish_complete_directories "$value")
            case :programs
                __fish_complete_command
            case :hosts
                __fish_print_hostnames
            case '*'
                echo $line
        end
    end
end

complete -c mrc -f -a '(__mrc_complete)'
