#!/bin/sh
# Runs a verbose command and shows its progress in one line: "LABEL: 25 % 50 % ...". Shows nothing
# if there was nothing to do. Compiler messages and errors of apt-get are shown; all output goes to LOG.
#
# usage: quietly.sh packages|build LABEL STEPS LOG COMMAND...
#        STEPS: expected number of progress lines; 0 if they contain percentages
set -u
kind=$1 label=$2 steps=$3 log=$4
shift 4
mkdir -p "$(dirname "$log")" && : >"$log" || exit 4
terminal=0 count=0 shown=-1
[ -t 1 ] && terminal=1

# progress PERCENT: on a terminal one updated number, otherwise quarters.
progress() {
  [ "$shown" -ge 0 ] || { printf '%s:' "$label"; shown=0; }
  if [ "$terminal" -eq 1 ]; then
    printf '\r%s: %d %%' "$label" "$1"
    shown=$1
  else
    while [ $((shown + 25)) -le "$1" ]; do
      shown=$((shown + 25))
      printf ' %d %%' "$shown"
    done
  fi
}
# pass LINE: a message on a separate line.
pass() {
  [ "$shown" -lt 0 ] || echo
  shown=-1
  printf '%s\n' "$1" >&2
}

{
  "$@" 2>&1
  echo "quietly: exit status $?"
} | {
  status=4
  while IFS= read -r line; do
    case $line in
    'quietly: exit status '*)
      status=${line##* }
      continue
      ;;
    esac
    printf '%s\n' "$line" >>"$log"
    case $kind:$line in
    packages:Unpacking\ * | packages:'Setting up '*)
      count=$((count + 1))
      progress $((count * 100 / steps))
      ;;
    packages:E:\ * | packages:Err:* | packages:'dpkg: error'*) pass "$line" ;;
    packages:*) ;;
    build:'['*%\]\ Building\ * | build:'['*%\]\ Linking\ *)
      percent=${line%%%*}
      progress "$(echo "${percent#[}" | tr -d ' ')"
      ;;
    build:'['*%\]* | build:--\ * | build:Consolidate\ * | build:Scanning\ * | build:Dependenc* | build:) ;;
    *) pass "$line" ;;
    esac
  done
  [ "$shown" -lt 0 ] || { [ "$status" -ne 0 ] || progress 100; echo; }
  [ "$status" -eq 0 ] || echo "$label: failed; all output: $log" >&2
  exit "$status"
}
