# bash completion of sndpak. The line goes to sndpak as it stands, which takes it apart: nothing on it
# is run, whatever the names in a pack look like.
_sndpak() {
  local kind line type=$COMP_TYPE
  COMPREPLY=()
  [[ $(type -t compopt) == builtin ]] || type=33 # bash 3 cannot leave the space out: it gets whole names alone
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <("${1/#\~\//$HOME/}" __bash "${COMP_LINE:0:COMP_POINT}" "$type" "$COMP_WORDBREAKS" 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    dirs) compopt -o dirnames ;;
    part) compopt -o nospace ;;
  esac 2>/dev/null
}
complete -F _sndpak sndpak
