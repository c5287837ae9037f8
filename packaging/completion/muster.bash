# bash completion for muster
_muster_muster() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W 'explain lint check-config report token maintenance topology up status logs down help --help --version' -- "$cur"))
    return
  fi
  case $verb:$cur in
    up:-*) COMPREPLY=($(compgen -W '--nodes= --gpus-per-node= --gpu-type= --cpus= --memory= --state= --no-accounting' -- "$cur")); compopt -o nospace ;;
    status:-*|logs:-*|down:-*) COMPREPLY=($(compgen -W '--state=' -- "$cur")); compopt -o nospace ;;
    lint:-*) COMPREPLY=($(compgen -W '--json --offline' -- "$cur")) ;;
    report:-*) COMPREPLY=($(compgen -W '--by --month --start --end --csv --json --svg --html' -- "$cur")) ;;
    report:*) COMPREPLY=($(compgen -W 'gpu-hours efficiency account user partition qos job' -- "$cur")) ;;
    token:-*) COMPREPLY=($(compgen -W '--nodes --logins --expires --uses --node --login' -- "$cur")) ;;
    token:*) COMPREPLY=($(compgen -W 'create list revoke' -- "$cur")) ;;
    maintenance:-*) COMPREPLY=($(compgen -W '--nodes= --at-once= --reboot --run= --stop-after= --reason= --json' -- "$cur")) ;;
    maintenance:*) COMPREPLY=($(compgen -W 'start show pause continue cancel' -- "$cur")) ;;
    topology:*) COMPREPLY=($(compgen -W '--check --conf --json' -- "$cur")) ;;
    explain:-*|check-config:-*) COMPREPLY=($(compgen -W '--json' -- "$cur")) ;;
    explain:*) COMPREPLY=($(compgen -W "$(squeue -h -o %i 2>/dev/null) $(sinfo -h -N -o %N 2>/dev/null)" -- "$cur")) ;;
  esac
}
complete -o default -F _muster_muster muster
