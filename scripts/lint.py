#!/usr/bin/env python3
"""Checks the form of the sources: clang-format and codespell on all, clang-tidy on src and apps.

usage: lint.py format|spelling|tidy SOURCE_DIRECTORY [--build DIRECTORY]
       lint.py staged    what git would commit: format, spelling, and the includes
  format    needs clang-format 14, as other versions format differently (.clang-format)
  spelling  needs codespell (.codespellrc)
  tidy      needs clang-tidy 14 (.clang-tidy) and the compile_commands.json of a build
Exit status: 0 all is well, 1 not, 77 skipped because the program is not installed.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

VERSION = "14"
SKIPPED = 77
CODE = (".c", ".h", ".cpp")
# Folders with code of our own, and files in them that scripts write.
FOLDERS = ("apps", "bench", "examples", "include", "python", "src", "tests", "validation")
GENERATED = ("python/noli/declarations.h",)
# Folders of text, and files in them that are data.
TEXT_FOLDERS = FOLDERS + ("cmake", "docs", "scripts")
TEXT = CODE + (".py", ".sh", ".md", ".js", ".css", ".html", ".cmake", ".txt", ".bib", ".in")
DATA = ("tests/fuzz/seeds/", "docs/evidence/data/")
SPARE = 20  # files of one call of clang-tidy: a process of all of them would hold their memory


class Skip(Exception):
    pass


def program(name, version=None):
    """The path of an installed program, of that version where one is asked for."""
    found = version and shutil.which(f"{name}-{version}") or shutil.which(name)
    if not found:
        raise Skip(f"{name} is not installed")
    if version:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if not re.search(rf"version {version}\.", said):
            raise Skip(f"{found} is not version {version}")
    return found


def files_below(source, folders, endings):
    """Files of the tree, relative to it; the files of its top as well."""
    found = [name for name in sorted(os.listdir(source)) if os.path.isfile(os.path.join(source, name))]
    for folder in folders:
        for at, inner, names in os.walk(os.path.join(source, folder)):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            found += [os.path.relpath(os.path.join(at, name), source) for name in sorted(names)]
    return [name for name in found if name.endswith(endings)]


def in_folders(names, folders, endings):
    return [name for name in names if name.endswith(endings) and name.startswith(tuple(f"{folder}/" for folder in folders))]


def call(command, source):
    """The exit status of a command on files of the tree; its messages go on."""
    return subprocess.run(command, cwd=source, check=False).returncode


def check_format(source, names, _):
    chosen = [name for name in in_folders(names, FOLDERS, CODE) if name not in GENERATED]
    print(f"format: {len(chosen)} files")
    status = call([program("clang-format", VERSION), "--dry-run", "-Werror", *chosen], source) if chosen else 0
    if status:
        print("mend it with: clang-format -i FILES", file=sys.stderr)
    return status


def check_spelling(source, names, _):
    chosen = [name for name in names if name.endswith(TEXT) and not name.startswith(DATA)]
    print(f"spelling: {len(chosen)} files")
    status = call([program("codespell"), *chosen], source) if chosen else 0
    if status:
        print("mend the words, or give them a reason in .codespellrc", file=sys.stderr)
    return status


def check_tidy(source, names, build):
    tidy = program("clang-tidy", VERSION)
    try:
        with open(os.path.join(build or ".", "compile_commands.json"), encoding="utf-8") as file:
            built = {os.path.relpath(entry["file"], source) for entry in json.load(file)}
    except FileNotFoundError as error:
        raise Skip(f"{error.filename}: there is no such file") from None
    chosen = [name for name in in_folders(names, ("src", "apps"), (".c",)) if name in built]
    print(f"tidy: {len(chosen)} files")
    status = 0
    for first in range(0, len(chosen), SPARE):
        result = subprocess.run([tidy, "--quiet", "-p", build, *chosen[first:first + SPARE]], cwd=source, capture_output=True,
                                text=True, check=False)
        if result.returncode:
            print(result.stdout, result.stderr, file=sys.stderr)
            status = 1
    return status


CHECKS = {"format": check_format, "spelling": check_spelling, "tidy": check_tidy}


def check_staged():
    """Checks a copy of what is staged, which may differ from the files."""
    top = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
    listed = subprocess.run(["git", "diff", "--cached", "--name-only", "--diff-filter=ACMR", "-z"], cwd=top, capture_output=True,
                            text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name]
    failed = False
    with tempfile.TemporaryDirectory() as copy:
        subprocess.run(["git", "checkout-index", "--all", f"--prefix={copy}/"], cwd=top, check=True)
        for check in (check_format, check_spelling):
            try:
                failed |= check(copy, names, None) != 0
            except Skip as reason:
                print(f"skipped: {reason}")
        if in_folders(names, FOLDERS, CODE):
            failed |= call([sys.executable, "scripts/check_includes.py", "."], copy) != 0
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("check", choices=[*CHECKS, "staged"])
    parser.add_argument("source", nargs="?", default=".")
    parser.add_argument("--build")
    options = parser.parse_args()
    if options.check == "staged":
        return check_staged()
    source = os.path.abspath(options.source)
    build = os.path.abspath(options.build) if options.build else None
    try:
        return 1 if CHECKS[options.check](source, files_below(source, TEXT_FOLDERS, TEXT), build) else 0
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
