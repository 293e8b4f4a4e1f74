# SPDX-License-Identifier: BSD-3-Clause
# Completion of mrc for bash. The program itself says what a word may be.

_mrc() {
  local word=${COMP_WORDS[COMP_CWORD]} line
  [[ $word == = ]] && word=""
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
      :folders)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        ;;
      :programs) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
      :hosts) mapfile -t COMPREPLY < <(compgen -A hostname -- "$word") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -F _mrc mrc
