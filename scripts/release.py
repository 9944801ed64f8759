#!/usr/bin/env python3
"""Checks what a release must agree on, and lists what it still lacks.

usage: release.py SOURCE_DIRECTORY [--tag]

Always: include/noli/version.h, CITATION.cff, documents and examples that name a version, and the first release of CHANGELOG.md have the
same version; every release of the changelog has a date, its entries are one line each, and no function of the last tagged
release has left the public headers without a new NOLI_ABI_VERSION.
--tag: the tree is also ready to be tagged: nothing is uncommitted, nothing waits under [Unreleased], no such tag exists.
"""
import os
import re
import subprocess
import sys

RELEASE = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?\s*$")
FUNCTION = re.compile(r"^NOLI_API\b[^;(]*?\b(noli_\w+)\s*\(", re.M)
# where files other than the header name a version: the whole one, or its first two numbers
NAMED = [
    (os.path.join("docs", "reference", "python.md"), re.compile(r"noli-(\d+\.\d+\.\d+)-py3")),
    (os.path.join("examples", "c", "CMakeLists.txt"), re.compile(r"find_package\(noli (\d+\.\d+) ")),
]


def read(source, *path):
    with open(os.path.join(source, *path), encoding="utf-8") as file:
        return file.read()


def git(source, *arguments):
    """Standard output of a command of git, or None where it fails: a source archive has no repository."""
    run = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def number(header, name):
    return re.search(rf"#define NOLI_{name} (\d+)", header).group(1)


def version_of(header):
    return ".".join(number(header, "VERSION_" + part) for part in ("MAJOR", "MINOR", "PATCH"))


def releases(changelog):
    """Of each heading: name, date or None, its entries, and the number of its first line that continues another one."""
    found = []
    for place, line in enumerate(changelog.splitlines(), start=1):
        heading = RELEASE.match(line)
        if heading:
            found.append({"name": heading.group(1), "date": heading.group(2), "entries": 0, "wrapped": 0})
        elif found and line.startswith("- "):
            found[-1]["entries"] += 1
        elif found and line.startswith(" ") and not found[-1]["wrapped"]:
            found[-1]["wrapped"] = place
    return found


def versions_agree(source, version):
    cited = re.search(r"^version: (\S+)", read(source, "CITATION.cff"), re.M).group(1)
    if cited != version:
        yield f"CITATION.cff: version {cited}, include/noli/version.h has {version}"
    for path, name in NAMED:
        for named in set(name.findall(read(source, path))):
            if not (version + ".").startswith(named + "."):
                yield f"{path}: names version {named}, include/noli/version.h has {version}"


def changelog_is_complete(source, version):
    history = releases(read(source, "CHANGELOG.md"))
    released = [one for one in history if one["name"] != "Unreleased"]
    if not released or released[0]["name"] != version:
        first = released[0]["name"] if released else "none"
        yield f"CHANGELOG.md: the first release is {first}, include/noli/version.h has {version}"
    for one in history:
        if one["wrapped"]:
            yield f"CHANGELOG.md:{one['wrapped']}: an entry of [{one['name']}] is longer than a line"
    for one in released:
        if one["date"] is None:
            yield f"CHANGELOG.md: [{one['name']}] has no date"


def functions_stay(source):
    """Programs of the last release run with this library, or its file has another name."""
    tag = git(source, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    if not tag:
        return
    tag = tag.strip()
    header = "include/noli/version.h"
    if number(git(source, "show", f"{tag}:{header}"), "ABI_VERSION") != number(read(source, header), "ABI_VERSION"):
        return
    had, has = set(), set()
    for path in git(source, "ls-tree", "-r", "--name-only", tag, "include/noli").split():
        had.update(FUNCTION.findall(git(source, "show", f"{tag}:{path}")))
    for name in os.listdir(os.path.join(source, "include", "noli")):
        has.update(FUNCTION.findall(read(source, "include", "noli", name)))
    for name in sorted(had - has):
        yield f"include/noli: {name} of {tag} is gone; increase NOLI_ABI_VERSION"


def ready_for_tag(source, version):
    if git(source, "status", "--porcelain"):
        yield "there are changes that are not committed"
    waiting = [one for one in releases(read(source, "CHANGELOG.md")) if one["name"] == "Unreleased" and one["entries"]]
    if waiting:
        yield f"CHANGELOG.md: {waiting[0]['entries']} entries stand under [Unreleased]"
    if (git(source, "tag", "--list", f"v{version}") or "").strip():
        yield f"the tag v{version} exists"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--tag"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 1
    source = arguments[0]
    version = version_of(read(source, "include", "noli", "version.h"))
    errors = [*versions_agree(source, version), *changelog_is_complete(source, version), *functions_stay(source)]
    if "--tag" in sys.argv:
        errors += ready_for_tag(source, version)
    for error in errors:
        print(error, file=sys.stderr)
    print(f"version {version}, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
