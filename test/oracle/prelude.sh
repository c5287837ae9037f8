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

# as USER COMMAND…   the command as this user, with the environment of one who is logged in. Only root can.
as() {
  local user=$1
  shift
  HOME=$PWD USER=$user LOGNAME=$user setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
}

# settled JOB…   waits until each of them, and each of their tasks, runs or has a reason of its own why not, and prints both.
settled() {
  local shown turn
  for turn in $(seq 300); do
    shown=$(squeue -h -r -j "$(IFS=,; echo "$*")" -o "%T %r" | sort)
    grep -qE "^PENDING (None|Priority|Resources)$" <<<"$shown" || break
    sleep 0.03
  done
  echo "$shown"
}

# waits OPTION…   submits job.sh as lp and tells what comes of it.
waits() {
  local job
  job=$(as lp sbatch --parsable -o /dev/null "$@" job.sh) || return
  settled "${job%%;*}"
}

# beside OPTION…   the same beside a job that runs already, with the same options.
beside() {
  waits "$@" >/dev/null
  waits "$@"
}

# booked JOB STATE   waits until the database has the job in this state.
booked() {
  local turn
  for turn in $(seq 200); do
    sacct -a -X -n -P -j "$1" -o state | grep -q "^$2" && break
    sleep 0.05
  done
}

# reserve WORD…   makes a reservation; without it the case is over.
reserve() {
  scontrol create reservation "$@" >/dev/null || exit
}
