#!/usr/bin/env python3
"""Updates the tables of measurements of docs/evidence.

Usage: bench_tables.py NOLI_BENCH EVIDENCE FILE...         EVIDENCE: the directory docs/evidence
       bench_tables.py --check NOLI_BENCH EVIDENCE

The tables of `noli_bench --markdown FILE.json`, and those of FILE.md, become files of EVIDENCE/data/benchmarks: NAME.csv,
NAME_2.csv, .., and NAME_remarks.csv. A page of EVIDENCE has links to them between the lines `<!-- tables of NAME -->` and
`<!-- end of NAME -->`, where NAME is the name of the file. `<!-- tables of NAME beside OTHER -->` adds `--compare OTHER`, a file in
the same directory; if that file is missing, the tables stay unchanged. `<!-- work of NAME -->` has the output of
`noli_bench --work FILE.json`. A file without such lines is an error; lines without a file stay unchanged.

JSON files are copied to EVIDENCE/data/benchmarks for later comparisons. --check fails if the tables differ from those files.
"""
import json
import os
import re
import subprocess
import sys

import tables
from tables import read

DATA = os.path.join("data", "benchmarks")


def keep(path, folder):
    """A copy with one line for each scene. Returns its path, or the old path if no copy is kept."""
    if not path.endswith(".json"):
        return path
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    kept = os.path.join(folder, os.path.basename(path))
    scenes = ",\n".join(json.dumps(scene) for scene in measured.pop("scenes"))
    with open(kept, "w", encoding="utf-8") as file:
        file.write(json.dumps(measured)[:-1] + f', "scenes": [\n{scenes}\n]}}\n')
    return kept


def publish(markdown, stem):
    """Links to the tables of a text, as lines of a page, and the tables by file name."""
    lines, files, remarks = [], {}, []
    for before, table in tables.split(markdown):
        remarks += [line[2:] for line in before if line.startswith("- ")]
        caption = " ".join(line for line in before if line and not line.startswith("- "))
        if not table:
            lines += [caption, ""] if caption else []
            continue
        name = f"{stem}{f'_{len(files) + 1}' if files else ''}.csv"
        files[name] = tables.csv_of(table)
        lines += [tables.link(caption.rstrip(".:") or "Measurements", len(table) - 2, os.path.join(DATA, name)), ""]
    if remarks:
        name = f"{stem}_remarks.csv"
        files[name] = tables.csv_of(["scene | remark"] + [remark.replace(": ", " | ", 1).replace("|", "\\|").replace(" \\| ", " | ", 1)
                                                          for remark in remarks])
        lines += [tables.link("Remarks", len(remarks), os.path.join(DATA, name)), ""]
    return "\n".join(lines), files


def markdown_of(bench, path, place):
    """The tables of one file, or None if what they are compared with is missing."""
    if path.endswith(".md"):
        with open(path, encoding="utf-8") as file:
            return file.read()
    command = [bench, "--work" if place[1] == "work" else "--markdown", path]
    if place[2]:
        other = os.path.join(os.path.dirname(path), place[2])
        if not os.path.exists(other):
            print(f"{other} is missing, so the tables of {path} stay unchanged")
            return None
        command += ["--compare", other]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def update(bench, path, pages):
    """Changes the page of one file of measurements in `pages`; returns the tables by file name."""
    name = os.path.basename(path)
    pattern = re.compile(rf"(<!-- (?:tables|work) of {re.escape(name)}(?: beside \S+)? -->\n).*?(<!-- end of {re.escape(name)} -->\n)", re.S)
    found = [page for page, text in pages.items() for _ in pattern.finditer(text)]
    if len(found) != 1:
        sys.exit(f"the pages have {len(found)} places for {path}, not 1")
    text = pages[found[0]]
    place = re.search(rf"<!-- (tables|work) of {re.escape(name)}(?: beside (\S+))? -->\n", text)
    markdown = markdown_of(bench, path, place)
    if markdown is None:
        return {}
    links, files = publish(markdown, re.sub(r"^bench-|\.\w+$", "", name).replace("-", "_"))
    pages[found[0]] = pattern.sub(lambda block: block[1] + "\n" + links + block[2], text)
    return files


def main():
    check = sys.argv[1:2] == ["--check"]
    words = sys.argv[2:] if check else sys.argv[1:]
    if len(words) < 2 or (len(words) < 3 and not check):
        sys.exit(__doc__)
    bench, evidence, files = words[0], words[1], words[2:]
    folder = os.path.join(evidence, DATA)
    pages = {name: read(os.path.join(evidence, name)) for name in os.listdir(evidence) if name.endswith(".md")}
    if check:
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))
    else:
        files = [keep(path, folder) for path in files]
    wanted = {}
    for path in files:
        wanted.update({os.path.join(folder, name): text for name, text in update(bench, path, pages).items()})
    wanted.update({os.path.join(evidence, name): text for name, text in pages.items()})
    stale = [path for path, text in wanted.items() if read(path) != text]
    if check and stale:
        sys.exit(f"{', '.join(stale)}: not the tables of the JSON files beside them; make bench-tables updates both")
    for path in stale:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted[path])
        print(f"wrote {path}")


main()
