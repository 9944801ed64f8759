#!/bin/sh
# The hook for git refuses what is not formatted, misspelt or includes upward, and looks at what is staged, not at the files.
# Argument: the source directory.
set -u
source=$1
. "$source/tests/app/expect.sh"
for tool in git clang-format codespell; do
  command -v $tool >/dev/null 2>&1 || { echo "skipped: $tool is not installed"; exit 77; }
done
clang-format --version | grep -q 'version 14\.' || { echo 'skipped: clang-format is not version 14'; exit 77; }

mkdir -p src/base src/fem include scripts
cp "$source/.clang-format" "$source/.codespellrc" .
cp "$source/scripts/lint.py" "$source/scripts/check_includes.py" "$source/scripts/pre-commit.sh" scripts
git init -q . && git config user.email a@b && git config user.name a
cat >src/base/one.c <<'END'
// Adds one.
int one(int n) { return n + 1; }

// -------------------------------------------------------------------------------------------------
END
clang-format -i src/base/one.c
grep -q -- '-\{97\}' src/base/one.c || fail 'a separator is broken'
git add . && expect 0 'spelling: ' sh scripts/pre-commit.sh
git commit -qm 'begin' || fail 'no commit'

printf 'int two( int n );\n' >src/base/two.h && git add .
expect 1 'two.h:1:9: error: code should be clang-formatted' sh scripts/pre-commit.sh
printf 'int two(int n);\n' >src/base/two.h
expect 1 'should be clang-formatted' sh scripts/pre-commit.sh # it is not staged
git add . && expect 0 'format: 1 files' sh scripts/pre-commit.sh

word=langau; word=${word}ge # so that this file has no misspelt word
printf 'The %s.\n' $word >note.md && git add .
expect 1 "$word ==> language" sh scripts/pre-commit.sh
git rm -qf note.md

printf '#include "fem/block.h"\n' >src/base/three.h && git add .
expect 1 'goes upward, from base to fem' sh scripts/pre-commit.sh
[ "$failures" -eq 0 ] || exit 1
echo 'the hook refuses what it should'
