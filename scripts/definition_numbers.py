#!/usr/bin/env python3
"""Writes the numbers of all definitions of include/noli as a table in C: definition, member, and whether its comment says that
it is not negative. tests/strangers/definition_numbers.c compares it with src/base/numbers.c.

usage: definition_numbers.py SOURCE_DIRECTORY OUTPUT
"""
import glob
import os
import re
import sys

TYPES = ("double", "int32_t", "int64_t", "NoliScaled")
# Not set by callers.
LEFT_OUT = {"reserved", "unused"}


def members(body):
    """(type, name, comment) of every member of a struct: comments precede it, or follow on its line and the next ones."""
    found, before = [], ""
    for line in body.splitlines():
        member = re.match(r"\s*(?:const )?(\w+) (\w+)(?:\[\w+\])*;(?:\s*///< ?(.*))?$", line)
        comment = re.match(r"\s*///(<?) ?(.*)$", line)
        if member:
            found.append([member[1], member[2], f"{before} {member[3] or ''}"])
            before = ""
        elif comment and comment[1] and found:
            found[-1][2] += " " + comment[2]
        elif comment:
            before += " " + comment[2]
        elif line.strip():
            before = ""
    return found


def main():
    source, output = sys.argv[1:]
    rows = []
    for path in sorted(glob.glob(os.path.join(source, "include", "noli", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name, body in re.findall(r"^typedef struct (Noli\w*(?:Def|Options|Prony)) \{\n(.*?)^\} \1;", text, re.M | re.S):
            for kind, member, comment in members(body):
                if kind in TYPES and member not in LEFT_OUT:
                    not_negative = re.search(r"(?<!\w)(?<!length )>=? ?0(?![.\d])|in [(\[]0, ", comment) is not None
                    rows.append(f'  {{"{name}", "{member}", {str(not_negative).lower()}}},\n')
    with open(output, "w", encoding="utf-8") as file:
        file.write("// Generated from include/noli by scripts/definition_numbers.py.\nstatic const Member members[] = {\n" + "".join(rows) + "};\n")


if __name__ == "__main__":
    main()
