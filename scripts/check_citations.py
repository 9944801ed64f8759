#!/usr/bin/env python3
"""Checks that every citation such as [Li2020] has an entry in docs/reference/references.bib.

usage: check_citations.py SOURCE_DIRECTORY
"""
import os
import re
import sys

CITATION = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[A-Za-z]*)\]")
ENTRY = re.compile(r"^@\w+\{([^,]+),", re.M)
FOLDERS = ["include", "src", "apps", "tests", "docs", "bench", "validation", "examples"]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    source = sys.argv[1]
    with open(os.path.join(source, "docs", "reference", "references.bib"), encoding="utf-8") as file:
        known = set(ENTRY.findall(file.read()))
    errors, n_citations = [], 0
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(source, folder)):
            for name in sorted(n for n in names if n.endswith((".h", ".c", ".md", ".py"))):
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, start=1):
                        for key in CITATION.findall(line):
                            n_citations += 1
                            if key not in known:
                                where = os.path.relpath(path, source)
                                errors.append(f"{where}:{number}: [{key}] is not in references.bib")
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{n_citations} citations, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
