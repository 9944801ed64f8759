#!/bin/sh
# Tests that are started by hand, from any folder, leave no files there: once the results of one were
# committed with the sources. Arguments: test programs that write files.
set -u
. "${0%/*}/../app/expect.sh"
mkdir sources && cd sources || exit 1
for program; do
  "$program" >../said 2>&1 || { fail "$program"; cat ../said >&2; }
  [ -z "$(ls)" ] || fail "$program left files in the folder it was started in: $(ls)"
done
[ "$failures" -eq 0 ] || exit 1
