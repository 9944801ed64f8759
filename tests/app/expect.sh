# Sourced by the tests of the program: a place to work in, and commands whose status and words are
# wanted.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: runs it, expects the exit status and the text in its output.
expect() {
  status=$1 text=$2
  shift 2
  "$@" >said 2>&1
  got=$?
  [ "$got" -eq "$status" ] || { fail "$*: status $got, want $status"; cat said >&2; }
  [ -z "$text" ] || grep -qF -- "$text" said || { fail "$*: does not say \"$text\""; cat said >&2; }
}
