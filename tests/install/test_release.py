#!/usr/bin/env python3
"""scripts/release.py finds what keeps a tree from being released, one thing at a time; the tree itself agrees on its version.

usage: test_release.py SOURCE_DIRECTORY
"""
import os
import shutil
import subprocess
import sys
import tempfile

CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.3] - 2026-01-31

### Added

- One thing ([page](page.md)).

## [1.2.2] - 2026-01-30

- Another thing.
"""
VERSION = """#define NOLI_VERSION_MAJOR 1
#define NOLI_VERSION_MINOR 2
#define NOLI_VERSION_PATCH 3
#define NOLI_ABI_VERSION 4
"""
HEADER = """NOLI_API int32_t noli_one(int32_t a);
NOLI_API const char* noli_two(void);
"""
TREE = {
    "CHANGELOG.md": CHANGELOG,
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
    "docs/reference/python.md": "build/noli-1.2.3-py3-none-linux_x86_64.whl\n",
    "examples/c/CMakeLists.txt": "find_package(noli 1.2 REQUIRED)\n",
    "include/noli/version.h": VERSION,
    "include/noli/two.h": HEADER,
}
# what is changed, by what, and the message; tagged trees are asked with --tag
DEFECTS = [
    ("CITATION.cff", "1.2.3", "1.2.4", "CITATION.cff: version 1.2.4"),
    ("docs/reference/python.md", "1.2.3", "1.0.0", "names version 1.0.0"),
    ("examples/c/CMakeLists.txt", "1.2", "1.1", "names version 1.1,"),
    ("CHANGELOG.md", "[1.2.3] - 2026-01-31", "[1.3.0] - 2026-01-31", "the first release is 1.3.0"),
    ("CHANGELOG.md", "[1.2.2] - 2026-01-30", "[1.2.2]", "[1.2.2] has no date"),
    ("CHANGELOG.md", "One thing", "One\n  thing", "CHANGELOG.md:10: an entry of [1.2.3] is longer"),
    ("include/noli/two.h", "noli_two", "noli_second", "noli_two of v1.2.2 is gone"),
]
WAITING = [
    ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- New.\n", "1 entries stand under [Unreleased]"),
    ("CITATION.cff", "cff", "# new\ncff", "not committed"),
]


def git(tree, *arguments):
    subprocess.run(["git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@example.org", *arguments], check=True,
                   stdout=subprocess.DEVNULL)


def make(tree):
    for path, text in TREE.items():
        place = os.path.join(tree, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "all")
    git(tree, "tag", "v1.2.2")


def check(source, tree, *options):
    run = subprocess.run([sys.executable, os.path.join(source, "scripts", "release.py"), tree, *options], text=True,
                         capture_output=True, check=False)
    return run.returncode, run.stderr


def expect(what, found, status, part):
    if found[0] != status or part not in found[1]:
        print(f"FAILED: {what}: status {found[0]}, expected {status} and \"{part}\":\n{found[1]}", file=sys.stderr)
        return 1
    return 0


def defect(source, work, name, change, options=()):
    path, old, new, message = change
    tree = os.path.join(work, name)
    make(tree)
    with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
        file.write(TREE[path].replace(old, new, 1))
    return expect(message, check(source, tree, *options), 1, message)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    source = os.path.abspath(sys.argv[1])
    if shutil.which("git") is None:
        return 77
    failed = expect("the sources", check(source, source), 0, "")
    with tempfile.TemporaryDirectory() as work:
        tree = os.path.join(work, "whole")
        make(tree)
        failed += expect("a release", check(source, tree, "--tag"), 0, "")
        git(tree, "tag", "v1.2.3")
        failed += expect("a second tag", check(source, tree, "--tag"), 1, "the tag v1.2.3 exists")
        for number, change in enumerate(DEFECTS):
            failed += defect(source, work, f"defect{number}", change)
        for number, change in enumerate(WAITING):
            failed += defect(source, work, f"waiting{number}", change, ("--tag",))
        # functions may go where the library gets another name
        tree = os.path.join(work, "renamed")
        make(tree)
        for path, old, new in (("include/noli/two.h", "noli_two", "noli_second"), ("include/noli/version.h", "ABI_VERSION 4", "ABI_VERSION 5")):
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(TREE[path].replace(old, new))
        failed += expect("another ABI", check(source, tree), 0, "")
    print(f"{len(DEFECTS) + len(WAITING) + 4} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
