#!/bin/sh
# A hook for git that refuses a commit whose staged files are not formatted, are misspelt, or include upward.
# It is installed by: ln -s ../../scripts/pre-commit.sh .git/hooks/pre-commit
set -eu
exec python3 "$(git rev-parse --show-toplevel)/scripts/lint.py" staged
