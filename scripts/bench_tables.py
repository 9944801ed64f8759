#!/usr/bin/env python3
"""Puts the tables of measurements into docs/benchmarks.md, so that nobody types them.

Usage: bench_tables.py NOLI_BENCH DOCUMENT FILE...
       bench_tables.py --check NOLI_BENCH DOCUMENT

Between the lines `<!-- tables of NAME -->` and `<!-- end of NAME -->` of the document comes what
`noli_bench --markdown FILE.json` prints, where NAME is that of the file; FILE.md is put there as it is. `<!-- tables of NAME beside OTHER -->`
adds `--compare OTHER`, a file in the same folder; where that is not there the tables stay as they are. Files
without such lines are an error; lines without a file stay as they are.

Where there is a folder `measurements` beside the document, JSON files are kept in it: what was published can be
compared with later. --check fails where the tables of the document are not those of what is kept there.
"""
import json
import os
import re
import subprocess
import sys


def keep(path, folder):
    """A copy with one line for each scene. Returns its path, or the old one where nothing is kept."""
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
    """The text with the tables of one file, or None where they stay as they are."""
    name = re.escape(os.path.basename(path))
    begin, end = f"<!-- tables of {name}(?: beside (\\S+))? -->\n", f"<!-- end of {name} -->\n"
    place = re.search(begin, text)
    command = [bench, "--markdown", path]
    if place and place[1]:
        other = os.path.join(os.path.dirname(path), place[1])
        if not os.path.exists(other):
            print(f"{document}: {other} is not there, so the tables of {path} stay as they are")
            return None
        command += ["--compare", other]
    if path.endswith(".md"):
        command = ["cat", path]
    tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pattern = re.compile(f"({begin}).*?({end})", re.DOTALL)
    text, n = pattern.subn(lambda found: found[1] + "\n" + tables.strip() + "\n\n" + found[3], text)
    if n != 1:
        sys.exit(f"{document}: holds {n} places for {path}, not 1")
    return text


def main():
    check = sys.argv[1:2] == ["--check"]
    words = sys.argv[2:] if check else sys.argv[1:]
    if len(words) < 2 or (len(words) < 3 and not check):
        sys.exit(__doc__)
    bench, document, files = words[0], words[1], words[2:]
    folder = os.path.join(os.path.dirname(document), "measurements")
    with open(document, encoding="utf-8") as file:
        text = before = file.read()
    if check:
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    else:
        files = [keep(path, folder) for path in files]
    for path in files:
        text = tables_of(bench, document, text, path) or text
    if check and text != before:
        sys.exit(f"{document}: tables are not those of {folder}; make bench-tables puts both there")
    if not check:
        with open(document, "w", encoding="utf-8") as file:
            file.write(text)


main()
