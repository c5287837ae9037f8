# Words that the cases use, read before each of them. The shell stands in a folder with job.sh (sleeps) and true.sh.

# submit OPTION… : FIELD…   submits job.sh held; each FIELD of its record on a line of its own. sbatch's messages pass through.
submit() {
  local options=() job
  while [ $# -gt 0 ] && [ "$1" != : ]; do options+=("$1"); shift; done
  shift
  job=$(sbatch --parsable -H "${options[@]}" job.sh) || return
  record "${job%%;*}" "$@"
}

# directives LINE… : FIELD…   the same for a script of these #SBATCH lines.
directives() {
  local job
  echo "#!/bin/sh" >directives.sh
  while [ $# -gt 0 ] && [ "$1" != : ]; do printf "%s\n" "$1" >>directives.sh; shift; done
  shift
  echo "sleep 100000" >>directives.sh
  job=$(sbatch --parsable -H directives.sh) || return
  record "${job%%;*}" "$@"
}

# record JOB FIELD…   fields of `scontrol show job`, as Field=value.
record() {
  local job=$1 text field
  shift
  text=$(scontrol show job "$job") || return
  for field; do
    grep -oE "(^| )$field=[^ ]*" <<<"$text" | sed 's/^ //;q' | grep . || echo "$field: none"
  done
}

# values TEMPLATE FIELD VALUE…   for each VALUE: what comes of `submit` with the option TEMPLATE, whose @ is the value.
values() {
  local template=$1 field=$2 value
  shift 2
  for value; do
    printf '%s -> ' "$value"
    submit "${template//@/$value}" : "$field" 2>&1 || true
  done
}

# started OPTION…   submits job.sh, waits until it runs, and prints its id.
started() {
  local job turn
  job=$(sbatch --parsable -o /dev/null "$@" job.sh) || return
  for turn in $(seq 1000); do
    [ "$(squeue -h -j "$job" -o %t)" = R ] && break
    sleep 0.02
  done
  echo "$job"
}
