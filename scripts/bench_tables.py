#!/usr/bin/env python3
"""Puts the tables of measurements into docs/benchmarks.md, so that nobody types them.

Usage: bench_tables.py NOLI_BENCH DOCUMENT FILE.json...

Between the lines `<!-- tables of NAME -->` and `<!-- end of NAME -->` of the document comes what
`noli_bench --markdown FILE.json` prints, where NAME is that of the file. Files without such lines
are an error; lines without a file stay as they are.
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
        tables = subprocess.run([bench, "--markdown", path], check=True, capture_output=True, text=True).stdout
        begin, end = f"<!-- tables of {name} -->\n", f"<!-- end of {name} -->\n"
        pattern = re.compile(f"({begin}).*?({end})", re.DOTALL)
        text, n = pattern.subn(lambda found: found[1] + "\n" + tables.strip() + "\n\n" + found[2], text)
        if n != 1:
            sys.exit(f"{document}: holds {n} places for {path}, not 1")
    with open(document, "w", encoding="utf-8") as file:
        file.write(text)


main()
