#!/usr/bin/env python3
"""Updates docs/evidence/validation.md and docs/images/validation with the measurements of noli_validate.

usage: validation.py DOCS [NEW.json]            DOCS: the directory docs
       validation.py --check DOCS [QUICK.json]

The cases of NEW.json, written by `noli_validate --json`, replace those of DOCS/evidence/data/validation.json. The command, plots, tables and
bounds of a case are inserted between the lines `<!-- validation of CASE -->` and `<!-- end of CASE -->`. --check changes
nothing and fails if the files differ from the output, if a published error exceeds its bound, or if a bound differs from
that of the same error in QUICK.json. Needs only Python.
"""
import json
import os
import re
import sys

import plot

PLOTS = "images/validation"


def table_of(columns, rows):
    lines = ["| " + columns + " |", "|" + "---|" * (columns.count(" | ") + 1)]
    return lines + ["| " + row + " |" for row in rows]


def block_of(case):
    """The Markdown of a case, and its pictures by file name."""
    pictures, lines = {}, ["", "```sh", f"build/release/noli_validate {case['name']}", "```", ""]
    for drawing in case["plots"]:
        name = drawing["name"] + ".svg"
        pictures[name] = plot.svg(drawing)
        lines += [f"![{drawing['y']} over {drawing['x']}](../{PLOTS}/{name})", ""]
    for table in case["tables"]:
        lines += [table["title"] + ":", ""] + table_of(table["columns"], table["rows"]) + [""]
    rows = [f"{check['what']} | {'' if check['value'] is None else format(check['value'], '.3g')}"
            f" | {check['bound']:.3g}" for check in case["checks"]]
    lines += ["Published errors:", ""] + table_of("quantity | measured | bound", rows) + [""]
    return "\n".join(lines), pictures


def fill(text, measured):
    """The document with all blocks updated."""
    pictures = {}
    for case in measured["cases"]:
        block, drawn = block_of(case)
        pictures.update(drawn)
        name = case["name"]
        pattern = re.compile(f"(<!-- validation of {name} -->\n).*?(<!-- end of {name} -->\n)", re.S)
        text, n = pattern.subn(lambda found: found[1] + block + "\n" + found[2], text)
        if n != 1:
            sys.exit(f"validation.md has {n} places for {name}, not 1")
    return text, pictures


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


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
    document = os.path.join(docs, "evidence", "validation.md")
    text, pictures = fill(read(document), measured)
    wanted = {document: text, published: text_of(measured)}
    wanted.update((os.path.join(docs, PLOTS, name), drawn) for name, drawn in pictures.items())
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
    os.makedirs(os.path.join(docs, PLOTS), exist_ok=True)
    for path in stale:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
