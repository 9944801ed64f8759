#!/usr/bin/env python3
"""Puts the tables of measurements into docs/benchmarks.md, so that nobody types them.

Usage: bench_tables.py NOLI_BENCH DOCUMENT FILE...

Between the lines `<!-- tables of NAME -->` and `<!-- end of NAME -->` of the document comes what
`noli_bench --markdown FILE.json` prints, where NAME is that of the file; FILE.md is put there as it is. `<!-- tables of NAME beside OTHER -->`
adds `--compare OTHER`, a file in the same folder; where that is not there the tables stay as they are. Files
without such lines are an error; lines without a file stay as they are.
"""
import os
import re
import subprocess
import sys


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    bench, document, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for path in files:
        name = re.escape(os.path.basename(path))
        begin, end = f"<!-- tables of {name}(?: beside (\\S+))? -->\n", f"<!-- end of {name} -->\n"
        place = re.search(begin, text)
        command = [bench, "--markdown", path]
        if place and place[1]:
            other = os.path.join(os.path.dirname(path), place[1])
            if not os.path.exists(other):
                print(f"{document}: {other} is not there, so the tables of {path} stay as they are")
                continue
            command += ["--compare", other]
        if path.endswith(".md"):
            command = ["cat", path]
        tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        pattern = re.compile(f"({begin}).*?({end})", re.DOTALL)
        text, n = pattern.subn(lambda found: found[1] + "\n" + tables.strip() + "\n\n" + found[3], text)
        if n != 1:
            sys.exit(f"{document}: holds {n} places for {path}, not 1")
    with open(document, "w", encoding="utf-8") as file:
        file.write(text)


main()
