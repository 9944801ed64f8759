#!/usr/bin/env python3
"""Verifies docs/evidence/data/coverage: no figure or table of a paper is missing, and every command refers to something that exists, also
those of the features of thin bodies.

usage: coverage.py [--bench PROGRAM] [--validate PROGRAM] SOURCE_DIRECTORY

- `noli run SCENE`, `noli check SCENE`: the scene is a file of the repository.
- `make TARGET`: the Makefile has the target; with BENCH="--scene PART ..." the suite has a scene of that name (listed by
  noli_bench, with --bench; scenes of missing public data are not checked).
- `ctest -R NAME`: a test of that name.
- `noli_validate CASE...`: cases of the program (with --validate).
- `noli_PROGRAM ...`: bench/CMakeLists.txt builds it, and the files among its arguments exist.

Complete and partial rows have a command; rows that are not reproduced give a reason; features have a command.
"""
import argparse
import os
import re
import subprocess
import sys

import tables

# the papers and how many figures and tables they have
PAPERS = {"Li2020": (23, 1), "Larionov2024": (11, 2), "Zheng2025": (24, 3), "Huang2025": (41, 3), "Ferguson2023": (11, 2)}
STATUS = re.compile(r"^(complete|partial|not|drawing)\b")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Commands:
    """Everything that commands of the document may refer to."""

    def __init__(self, source, bench, validate):
        self.source, self.bench, self.suites = source, bench, {}
        makefile = read(source, "Makefile")
        self.targets = set()
        for names in re.findall(r"^([a-z][\w -]*):", makefile.replace("\\\n", " "), re.M):
            self.targets |= set(names.split())
        self.tests = set(re.findall(r"noli_add_scripted_test\((\w+)", read(source, "tests", "scripted.cmake")))
        for _, _, names in os.walk(os.path.join(source, "tests")):
            self.tests |= {name[:-2] for name in names if name.startswith("test_") and name.endswith(".c")}
        self.programs = set(re.findall(r"add_executable\((\w+)", read(source, "bench", "CMakeLists.txt")))
        self.cases = None
        if validate:
            said = subprocess.run([validate, "--help"], capture_output=True, text=True)
            self.cases = set(re.search(r"^cases: (.*)$", said.stdout + said.stderr, re.M)[1].split())

    def scenes(self, suite):
        """Names of a suite, or None if they cannot be determined."""
        if self.bench and suite not in self.suites:
            said = subprocess.run([self.bench, "--suite", suite, "--list"], capture_output=True, text=True)
            self.suites[suite] = [re.split(r"  +", line)[0] for line in said.stdout.splitlines()]
        return self.suites.get(suite)

    def file(self, name):
        return None if os.path.exists(os.path.join(self.source, name)) else f"there is no {name}"

    def make(self, words, bench):
        if words[0] not in self.targets or any("=" not in word for word in words[1:]):
            return f"the Makefile has no target {' '.join(words)}"
        scenes = self.scenes("paper" if words[0] == "bench" else words[0].replace("bench-", ""))
        for part in re.findall(r"--scene (\S+)", bench or ""):
            # without the public data only scenes of the repository are listed
            if scenes and not any(part in scene for scene in scenes):
                return f"the suite of {words[0]} has no scene {part}"
        return None

    def wrong(self, command):
        """What is wrong with a command, or None."""
        bench = re.search(r'\s+BENCH="([^"]*)"$', command)
        words = command[:bench.start()].split() if bench else command.split()
        if words[:2] in (["noli", "run"], ["noli", "check"], ["noli", "design"]) and len(words) >= 3:
            return self.file(words[2])
        if words[0] == "make" and len(words) > 1:
            return self.make(words[1:], bench and bench[1])
        if words[:2] == ["ctest", "-R"] and len(words) == 3:
            return None if words[2] in self.tests else f"there is no test {words[2]}"
        if words[0] == "noli_validate" and len(words) > 1:
            missing = set(words[1:]) - self.cases if self.cases is not None else set()
            return f"noli_validate has no case {' '.join(sorted(missing))}" if missing else None
        if words[0] in self.programs:
            files = [self.file(word) for word in words[1:] if "/" in word]
            return next((said for said in files if said), None)
        return "unknown command"


def check_commands(where, found, commands, errors):
    for words in found:
        said = commands.wrong(words)
        if said:
            errors.append(f"{where}: `{words}`: {said}")
    return len(found)


def check_row(where, cells, commands, errors):
    item, _, status, _, _, command = cells
    if not STATUS.match(status):
        errors.append(f"{where}: {item}: status \"{status}\" is none of complete, partial, not, drawing")
    found = re.findall(r"`([^`]+)`", command)
    if re.match(r"complete|partial", status) and not found:
        errors.append(f"{where}: {item}: {status}, but no command")
    if status.startswith("not") and (found or not status.startswith("not: ")):
        errors.append(f"{where}: {item}: \"not\" needs a reason and has no command")
    return check_commands(f"{where}: {item}", found, commands, errors)


def check_feature(where, cells, commands, errors):
    feature, _, command = cells
    found = re.findall(r"`([^`]+)`", command)
    if not found:
        errors.append(f"{where}: {feature}: no command")
    return check_commands(f"{where}: {feature}", found, commands, errors)


def rows_of(source, name, n_cells, errors):
    """The rows of a table with their places."""
    path = f"docs/evidence/data/coverage/{name}.csv"
    rows = [(f"{path}:{number}", cells) for number, cells in enumerate(tables.rows_of(read(source, path))[1:], start=2)]
    errors += [f"{where}: {len(cells)} cells, not {n_cells}" for where, cells in rows if len(cells) != n_cells]
    return [(where, cells) for where, cells in rows if len(cells) == n_cells]


def count(source, paper):
    """How many rows are complete, partial, drawings, and not reproduced."""
    found = [re.match(r"\w*", cells[2])[0] for _, cells in rows_of(source, paper, 6, [])]
    return [found.count(status) for status in ("complete", "partial", "drawing", "not")]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].replace("usage: ", ""))
    parser.add_argument("--bench")
    parser.add_argument("--validate")
    parser.add_argument("source")
    words = parser.parse_args()
    commands = Commands(words.source, words.bench, words.validate)
    seen, errors, n_commands = {}, [], 0
    for paper in PAPERS:
        rows = rows_of(words.source, paper, 6, errors)
        seen[paper] = [cells[0] for _, cells in rows]
        n_commands += sum(check_row(where, cells, commands, errors) for where, cells in rows)
    features = rows_of(words.source, "thin", 3, errors)
    n_commands += sum(check_feature(where, cells, commands, errors) for where, cells in features)
    document = read(words.source, "docs", "evidence", "coverage.md")
    for paper, (n_figures, n_tables) in PAPERS.items():
        statuses = count(words.source, paper)
        if f"| [{paper}] | {n_figures + n_tables} | {' | '.join(map(str, statuses))} |" not in document:
            errors.append(f"docs/evidence/coverage.md: [{paper}] has {statuses} rows that are complete, partial, drawing, not")
    for paper, (n_figures, n_tables) in PAPERS.items():
        want = [f"fig. {i + 1}" for i in range(n_figures)] + [f"table {i + 1}" for i in range(n_tables)]
        if seen[paper] != want:
            odd = sorted(set(want) ^ set(seen[paper])) or ["order"]
            errors.append(f"docs/evidence/data/coverage/{paper}.csv: missing, unknown or out of order: {', '.join(odd)}")
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{sum(map(len, seen.values()))} figures and tables, {len(features)} features, {n_commands} commands, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
