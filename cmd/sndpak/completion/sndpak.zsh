#compdef sndpak
# zsh completion of sndpak. Quotes are taken off the words, and a home folder or a variable in front of
# one is resolved: nothing else on the line is evaluated, whatever the names in a pack look like.
_sndpak() {
  local word line name about begun
  local -a args lines names shown open opened space
  local -i directive width=0
  for word in "${(@)words[1,CURRENT-1]}"; do
    case $word in
      '~/'*) word=$HOME/${(Q)word#??} ;;
      (#b)'$'(|'{')([A-Za-z_][A-Za-z0-9_]#)(|'}')(*)) word=${(P)match[2]}${(Q)match[4]} ;;
      *) word=${(Q)word} ;;
    esac
    args+=("$word")
  done
  begun=${(Q)PREFIX}
  [[ $compstate[quote] == \' ]] && begun=$PREFIX
  lines=("${(@f)$("${args[1]}" __complete "${(@)args[2,-1]}" "$begun" 2>/dev/null)}")
  [[ $lines[-1] == :<-> ]] || return 1
  directive=${lines[-1]#:}
  lines[-1]=()
  (( directive & 1 )) && return 1
  [[ $begun == -*=* ]] && (( ! ${args[(Ie)--]} )) && compset -P 1 '*='
  if (( directive & 16 )); then
    _files -/
    return
  fi
  for line in "${(@)lines}"; do
    name=${line%%$'\t'*}
    (( $#name > width )) && width=$#name
  done
  for line in "${(@)lines}"; do
    name=${line%%$'\t'*} about=
    [[ -n $name ]] || continue
    [[ $line == *$'\t'?* ]] && about="${(l:width-$#name:)}  -- ${line#*$'\t'}"
    if [[ $name == *[/:=] ]]; then # more comes behind it
      open+=("$name") opened+=("$name$about")
    else
      names+=("$name") shown+=("$name$about")
    fi
  done
  if (( ! $#names && ! $#open && ! (directive & 4) )); then
    _files
    return
  fi
  (( directive & 2 )) && space=(-S '')
  (( width )) && [[ "$lines" == *$'\t'* ]] && space+=(-l)
  compadd -S '' -d opened -a open
  local -i found=$?
  compadd "${(@)space}" -d shown -a names || return found
}
if [[ $funcstack[1] == _sndpak ]]; then
  _sndpak "$@"
else
  compdef _sndpak sndpak
fi
