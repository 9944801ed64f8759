#!/bin/sh
# Runs a verbose command and shows its progress in one line: "LABEL: 25 % 50 % ...". Shows nothing
# if there was nothing to do. Compiler messages and errors of apt-get are shown; all output goes to LOG.
#
# usage: quietly.sh download|packages|build LABEL STEPS LOG COMMAND...
#        STEPS: of packages the expected number of progress lines, of a download its size in MB; 0 if lines contain
#        percentages
# A download is a command of apt-get with APT::Status-Fd=1; its errors are summed up in one sentence, and its status is 3
# where the servers cannot be reached.
set -u
kind=$1 label=$2 steps=$3 log=$4
shift 4
mkdir -p "$(dirname "$log")" && : >"$log" || exit 4
terminal=0 count=0 shown=-1 lost=0 cause=
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
# progress in bytes: download PERCENT
download() {
  [ "$shown" -ge 0 ] || { printf '%s:' "$label"; shown=0; }
  if [ "$terminal" -eq 1 ]; then
    printf '\r%s: %d of %d MB' "$label" $(($1 * steps / 100)) "$steps"
    shown=$1
  else
    while [ $((shown + 25)) -le "$1" ]; do
      shown=$((shown + 25))
      printf ' %d MB' $((shown * steps / 100))
    done
  fi
}
# failed_download STATUS: says how many files are missing, and the first reason; 3 where no server was reached
failed_download() {
  case $cause in
  *'resolving'* | *'resolve'* | *'onnect'* | *'unreachable'* | *'timed out'* | *'imeout'*)
    echo "$label: there is no network: $cause; connect this machine and run the same command again (all output: $log)" >&2
    return 3
    ;;
  esac
  case $lost in
  0) echo "$label: failed${cause:+: $cause} (all output: $log)" ;;
  1) echo "$label: a file could not be fetched: $cause (all output: $log)" ;;
  *) echo "$label: $lost files could not be fetched, the first one: $cause (all output: $log)" ;;
  esac >&2
  return "$1"
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
    download:dlstatus:*)
      percent=${line#dlstatus:*:} percent=${percent%%[.:]*}
      [ "$percent" -eq 0 ] || download "$percent"
      ;;
    download:E:\ * | download:W:\ *'Failed to fetch'*)
      # "E: Failed to fetch URL  REASON"
      case $line in *'Failed to fetch'*) lost=$((lost + 1)) ;; esac
      case $cause:$line in
      :*'Failed to fetch '*'  '*) cause=${line#*  } ;;
      :E:\ *) cause=${line#E: } ;;
      esac
      ;;
    download:*) ;;
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
  [ "$shown" -lt 0 ] || { [ "$status" -ne 0 ] || [ "$kind" = download ] || progress 100; echo; }
  if [ "$kind" = download ] && [ "$((status + lost))" -ne 0 ]; then
    failed_download "$((status > 0 ? status : 4))"
    exit
  fi
  [ "$status" -eq 0 ] || echo "$label: failed; all output: $log" >&2
  exit "$status"
}
