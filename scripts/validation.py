#!/usr/bin/env python3
"""Updates the pages docs/evidence/validation*.md, their tables and pictures with the measurements of noli_validate.

usage: validation.py DOCS [NEW.json]            DOCS: the directory docs
       validation.py --check DOCS [QUICK.json]

The cases of NEW.json, written by `noli_validate --json`, replace those of DOCS/evidence/data/validation.json. The command, the plots and
links to the tables of a case are inserted between the lines `<!-- validation of CASE -->` and `<!-- end of CASE -->` of a page; the tables
are DOCS/evidence/data/validation/CASE.csv, CASE_2.csv, .., and CASE_errors.csv, the errors with their bounds; summary.csv has a row for
each case. --check changes nothing and fails if the files differ from the
output, if a published error exceeds its bound, or if a bound differs from that of the same error in QUICK.json. Needs only Python.
"""
import glob
import json
import os
import re
import sys

import plot
import tables
from tables import read

PLOTS = "images/validation"
DATA = os.path.join("data", "validation")


def tables_of(case):
    """The tables of a case: caption, name of the file, lines."""
    for k, table in enumerate(case["tables"]):
        yield table["title"], f"{case['name']}{f'_{k + 1}' if k else ''}.csv", [table["columns"]] + table["rows"]
    rows = [f"{check['what']} | {'' if check['value'] is None else format(check['value'], '.3g')} | {check['bound']:.3g}" for check in case["checks"]]
    yield "Published errors and their bounds", f"{case['name']}_errors.csv", ["quantity | measured | bound"] + rows


def block_of(case):
    """The Markdown of a case, and its pictures and tables by path below DOCS."""
    files, lines = {}, ["", "```sh", f"build/release/noli_validate {case['name']}", "```", ""]
    for drawing in case["plots"]:
        name = drawing["name"] + ".svg"
        files[os.path.join(PLOTS, name)] = plot.svg(drawing)
        lines += [f"![{drawing['y']} over {drawing['x']}](../{PLOTS}/{name})", ""]
    for caption, name, rows in tables_of(case):
        files[os.path.join("evidence", DATA, name)] = tables.csv_of(rows)
        lines += [tables.link(caption, len(rows) - 1, os.path.join(DATA, name)), ""]
    return "\n".join(lines), files


def nearest(case):
    """The error that comes nearest to its bound."""
    return max(case["checks"], key=lambda check: (check["value"] or 0) / check["bound"] if check["bound"] else 0)


def summary_of(pages, cases):
    """A row for each case, in the order of the pages."""
    rows = ["case | page | errors | nearest to its bound | measured | bound"]
    for page, text in sorted(pages.items()):
        for name in re.findall(r"^<!-- validation of (\w+) -->$", text, re.M):
            if name in cases:
                one = nearest(cases[name])
                rows.append(f"{name} | {page} | {len(cases[name]['checks'])} | {one['what']} | {one['value']:.3g} | {one['bound']:.3g}")
    return rows


def replace(text, begin, end, content):
    return re.subn(rf"({re.escape(begin)}\n).*?({re.escape(end)}\n)", lambda found: found[1] + content + found[2], text, flags=re.S)


def fill(pages, measured):
    """The pages, by name, with all blocks updated, and the files that they link to."""
    files, cases = {}, {case["name"]: case for case in measured["cases"]}
    for name, case in cases.items():
        block, made = block_of(case)
        files.update(made)
        places = 0
        for page, text in pages.items():
            pages[page], n = replace(text, f"<!-- validation of {name} -->", f"<!-- end of {name} -->", block)
            places += n
        if places != 1:
            sys.exit(f"the pages of validation have {places} places for {name}, not 1")
    rows = summary_of(pages, cases)
    path = os.path.join(DATA, "summary.csv")
    files[os.path.join("evidence", path)] = tables.csv_of(rows)
    link = "\n" + tables.link("Each case: number of errors, and the one that is nearest to its bound", len(rows) - 1, path) + "\n\n"
    pages["validation.md"], n = replace(pages["validation.md"], "<!-- summary of validation -->", "<!-- end of summary -->", link)
    if n != 1:
        sys.exit(f"validation.md has {n} places for the summary, not 1")
    return files


def text_of(measured):
    """JSON with one line for each case."""
    cases = ",\n".join(json.dumps(case) for case in measured["cases"])
    return json.dumps(measured["noli"]).join(['{"noli": ', ', "cases": [\n']) + cases + "\n]}\n"


def merge(measured, fresh):
    """All cases, those of `fresh` if both have them."""
    cases = {case["name"]: case for case in measured["cases"] + fresh["cases"]}
    return {"noli": fresh["noli"], "cases": list(cases.values())}


def bounds_of(measured):
    return {(case["name"], one["what"]): one["bound"] for case in measured["cases"] for one in case["checks"]}


def main():
    check = "--check" in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    docs = words[0]
    published = os.path.join(docs, "evidence", "data", "validation.json")
    measured = json.loads(read(published) or '{"cases": []}')
    old = []
    if check and len(words) == 2:
        bounds = bounds_of(measured)
        old = [f"{name}: {what}" for (name, what), bound in bounds_of(json.loads(read(words[1]))).items()
               if bounds.get((name, what)) != bound]
    elif len(words) == 2:
        measured = merge(measured, json.loads(read(words[1])))
    pages = {os.path.basename(path): read(path) for path in sorted(glob.glob(os.path.join(docs, "evidence", "validation*.md")))}
    files = fill(pages, measured)
    wanted = {published: text_of(measured)}
    wanted.update((os.path.join(docs, "evidence", name), text) for name, text in pages.items())
    wanted.update((os.path.join(docs, path), content) for path, content in files.items())
    stale = [path for path, content in wanted.items() if read(path) != content]
    if check:
        beyond = [f"{case['name']}: {one['what']}" for case in measured["cases"] for one in case["checks"]
                  if one["value"] is None or one["value"] > one["bound"]]
        for what in beyond:
            print(f"{published}: {what}: the published error exceeds its bound")
        for what in old:
            print(f"{published}: {what}: the program has a different bound: run make validate")
        for path in stale:
            print(f"{path} differs from {published}: run scripts/validation.py {docs}")
        return 1 if stale or beyond or old else 0
    for path in stale:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
