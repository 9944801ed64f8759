#!/usr/bin/env python3
"""Updates the tables of measurements in docs/evidence/benchmarks.md.

Usage: bench_tables.py NOLI_BENCH DOCUMENT FILE...
       bench_tables.py --check NOLI_BENCH DOCUMENT

Between the lines `<!-- tables of NAME -->` and `<!-- end of NAME -->` of the document it puts the output of
`noli_bench --markdown FILE.json`, where NAME is the name of the file; FILE.md is inserted unchanged. `<!-- tables of NAME beside OTHER -->`
adds `--compare OTHER`, a file in the same directory; if that file is missing, the tables stay unchanged. Between `<!-- work of NAME -->` and
`<!-- end of NAME -->` it puts the output of `noli_bench --work FILE.json`. A file
without such lines is an error; lines without a file stay unchanged.

If there is a directory `data/benchmarks` next to the document, JSON files are copied to it for later comparisons.
--check fails if the tables of the document differ from those of the files in that directory.
"""
import json
import os
import re
import subprocess
import sys


def keep(path, folder):
    """A copy with one line for each scene. Returns its path, or the old path if no copy is kept."""
    if not path.endswith(".json") or not os.path.isdir(folder):
        return path
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    kept = os.path.join(folder, os.path.basename(path))
    scenes = ",\n".join(json.dumps(scene) for scene in measured.pop("scenes"))
    with open(kept, "w", encoding="utf-8") as file:
        file.write(json.dumps(measured)[:-1] + f', "scenes": [\n{scenes}\n]}}\n')
    return kept


def tables_of(bench, document, text, path):
    """The text with the tables of one file, or None if they stay unchanged."""
    name = re.escape(os.path.basename(path))
    begin, end = f"<!-- (tables|work) of {name}(?: beside (\\S+))? -->\n", f"<!-- end of {name} -->\n"
    place = re.search(begin, text)
    command = [bench, "--work" if place and place[1] == "work" else "--markdown", path]
    if place and place[2]:
        other = os.path.join(os.path.dirname(path), place[2])
        if not os.path.exists(other):
            print(f"{document}: {other} is missing, so the tables of {path} stay unchanged")
            return None
        command += ["--compare", other]
    if path.endswith(".md"):
        command = ["cat", path]
    tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pattern = re.compile(f"({begin}).*?({end})", re.DOTALL)
    text, n = pattern.subn(lambda found: found[1] + "\n" + tables.strip() + "\n\n" + found[4], text)
    if n != 1:
        sys.exit(f"{document}: has {n} places for {path}, not 1")
    return text


def main():
    check = sys.argv[1:2] == ["--check"]
    words = sys.argv[2:] if check else sys.argv[1:]
    if len(words) < 2 or (len(words) < 3 and not check):
        sys.exit(__doc__)
    bench, document, files = words[0], words[1], words[2:]
    folder = os.path.join(os.path.dirname(document), "data", "benchmarks")
    with open(document, encoding="utf-8") as file:
        text = before = file.read()
    if check:
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    else:
        files = [keep(path, folder) for path in files]
    for path in files:
        text = tables_of(bench, document, text, path) or text
    if check and text != before:
        sys.exit(f"{document}: tables differ from {folder}; make bench-tables updates both")
    if not check:
        with open(document, "w", encoding="utf-8") as file:
            file.write(text)


main()
