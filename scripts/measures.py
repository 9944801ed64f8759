#!/usr/bin/env python3
"""Measures of the sources, as a table in Markdown: one column for each tree.

usage: measures.py [--tests] [--list MEASURE] [COMMIT ...]
  COMMIT  a commit of this repository; without one, the working tree
  --tests  tests in place of src, include and apps
  --list MEASURE  also the places: longest, parameters, files, blank, letter, shape, names, comments, nested
Needs universal-ctags and, for commits, git.

A function's lines are those from its name to its closing brace. Copies are functions of at least MANY tokens with the same
tokens (to the letter), or with the same ones where all names, numbers and texts of the body count as one each in the order of
their first use (of one shape).
"""
import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

MANY = 20
LONG = 60
WIDE = 8
LONG_FILE = 1000
OPEN_FROM = 25  # lines of a function from which on blank lines should lead its blocks
SHARED = 3  # files with the same static name
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\s+|.', re.S)
KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL""".split())

Function = collections.namedtuple("Function", "file name line end static parameters body")


def tokens_of(text):
    return [token for token in TOKEN.findall(text) if not token.isspace() and not token.startswith(("//", "/*"))]


def parameter_count(signature):
    """The parameters of "(int a, void (*f)(int, int))": commas outside of inner brackets."""
    depth, n = 0, 1
    for mark in signature.strip()[1:-1]:
        depth += (mark in "([{") - (mark in ")]}")
        n += mark == "," and depth == 0
    return 0 if signature.strip() in ("()", "(void)", "") else n


def functions_of(root, names, lines_of):
    found = subprocess.run(["ctags", "--output-format=json", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+neSf",
                            "-o", "-", "-L", "-"], cwd=root, input="\n".join(names), capture_output=True, text=True, check=True).stdout
    for row in map(json.loads, found.splitlines()):
        if "end" in row and row.get("signature"):
            text = "\n".join(lines_of[row["path"]][row["line"] - 1:row["end"]])
            yield Function(row["path"], row["name"], row["line"], row["end"], bool(row.get("file")), parameter_count(row["signature"]),
                           text[text.find("{"):] if "{" in text else "")


def shape_of(tokens):
    """The tokens with names, numbers and texts replaced by the order of their first use."""
    numbers = {}
    return tuple(token if token in KEYWORDS or not re.match(r'[\w."\']', token) else numbers.setdefault(token, len(numbers))
                 for token in tokens)


def copies(functions, key):
    """Groups of functions with the same key."""
    groups = collections.defaultdict(list)
    for function in functions:
        tokens = tokens_of(function.body)
        if len(tokens) >= MANY:
            groups[key(tokens)].append(function)
    return [group for group in groups.values() if len(group) > 1]


def pairs(groups):
    return sum(len(group) * (len(group) - 1) // 2 for group in groups)


def comments_of(lines):
    """Comments of whole lines: (line, first words) of each block of them."""
    before = False
    for number, line in enumerate(lines, 1):
        is_comment = line.lstrip().startswith(("//", "/*", "* "))
        if is_comment and not before:
            yield number, line.lstrip(" /*<!")
        before = is_comment


class Tree:
    """The sources below a folder."""

    def __init__(self, root, folders):
        self.names = sorted(os.path.relpath(os.path.join(at, name), root) for folder in folders
                            for at, _, names in os.walk(os.path.join(root, folder)) for name in names if name.endswith((".c", ".h")))
        self.lines_of = {}
        for name in self.names:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                self.lines_of[name] = file.read().split("\n")[:-1]
        self.functions = list(functions_of(root, self.names, self.lines_of))

    def measure(self):
        """[(name, text, places)] of all measures."""
        functions, lines_of = self.functions, self.lines_of
        n_lines = sum(map(len, lines_of.values()))
        sizes = sorted(f.end - f.line + 1 for f in functions)
        longest = sorted(functions, key=lambda f: f.line - f.end)
        over = [f for f in functions if f.end - f.line + 1 > LONG]
        wide = [f for f in functions if f.parameters > WIDE]
        large = [name for name in self.names if len(lines_of[name]) > LONG_FILE]
        bodies = sum(f.body.count("\n") + 1 for f in functions)
        blank = sum(sum(not line.strip() for line in f.body.split("\n")) for f in functions)
        dense = [f for f in functions if f.end - f.line + 1 > OPEN_FROM and "\n\n" not in f.body]
        only_comment = sum(line.lstrip().startswith(("//", "/*", "* ")) for lines in lines_of.values() for line in lines)
        text = {name: "\n".join(lines) for name, lines in lines_of.items()}
        asserts = sum(len(re.findall(r"\b(?:assert|[A-Z]+_ASSERT)\s*\(", t)) for t in text.values())
        letter, shape = copies(functions, tuple), copies(functions, shape_of)
        files_of = collections.defaultdict(set)
        for f in functions:
            if f.static and f.file.endswith(".c"):
                files_of[f.name].add(f.file)
        shared = {name: files for name, files in files_of.items() if len(files) >= SHARED}
        odd = [(name, number, words) for name in self.names for number, words in comments_of(lines_of[name])
               if re.match(r"(What|Of)\b", words)]
        nested = [(name, number) for name in self.names for number, line in enumerate(lines_of[name], 1) if line.count(" ? ") > 1]
        place = lambda f: f"{f.file}:{f.line} {f.name}"
        return [
            ("lines (K)", f"{n_lines / 1000:.1f}", []),
            ("functions", str(len(functions)), []),
            ("median / p90 lines", f"{statistics.median(sizes):.0f}/{sizes[int(0.9 * len(sizes))]}", []),
            ("longest", str(sizes[-1]), [f"{f.end - f.line + 1} {place(f)}" for f in longest[:40]]),
            (f"over {LONG} lines, %", f"{100 * len(over) / len(functions):.1f}", []),
            (f"more than {WIDE} parameters", str(len(wide)), [f"{f.parameters} {place(f)}" for f in wide]),
            (f"files over {LONG_FILE} lines", str(len(large)), large),
            ("blank lines in bodies, %", f"{100 * blank / bodies:.1f}", []),
            (f"functions over {OPEN_FROM} lines without a blank line", str(len(dense)), list(map(place, dense))),
            ("comments, %", f"{100 * only_comment / n_lines:.1f}", []),
            ("asserts", str(asserts), []),
            ("copies to the letter", str(pairs(letter)), [" = ".join(map(place, g)) for g in letter]),
            ("copies of one shape", str(pairs(shape)), [" ~ ".join(map(place, g)) for g in shape]),
            (f"static names in {SHARED} files and more", str(len(shared)),
             [f"{len(files)} {name}" for name, files in sorted(shared.items(), key=lambda item: -len(item[1]))]),
            ('comments that begin with "What" or "Of"', str(len(odd)), [f"{name}:{number} {words}" for name, number, words in odd]),
            ("nested conditionals in one line", str(len(nested)), [f"{name}:{number}" for name, number in nested]),
        ]


def measured(commit, folders):
    if commit is None:
        return Tree(TOP, folders).measure()
    with tempfile.TemporaryDirectory() as copy:
        archive = subprocess.Popen(["git", "-C", TOP, "archive", commit, *folders], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", copy], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"measures: there is no commit {commit} with {' '.join(folders)}")
        return Tree(copy, folders).measure()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("commits", nargs="*")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--list", action="append", default=[])
    options = parser.parse_args()
    if not shutil.which("ctags"):
        print("skipped: universal-ctags is not installed")
        return 77
    folders = ["tests"] if options.tests else ["src", "include", "apps"]
    commits = options.commits or [None]
    columns = [measured(commit, folders) for commit in commits]
    print("| |", " | ".join(commit or "now" for commit in commits), "|")
    print("|---|" + "--:|" * len(columns))
    for rows in zip(*columns):
        print("|", rows[0][0], "|", " | ".join(text for _, text, _ in rows), "|")
    for name, _, places in columns[-1]:
        if any(word in name for word in options.list):
            print(f"\n{name}:", *places, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
