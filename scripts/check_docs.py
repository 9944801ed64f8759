#!/usr/bin/env python3
"""Checks the documents of the repository for dead links and outdated parts.

usage: check_docs.py [--write] [--noli PROGRAM] SOURCE_DIRECTORY

- Links and pictures of every Markdown file lead to files that exist, and #anchors to headings.
- Files of the repository named in `backquotes` exist, and so do documents named in sources; all pictures in
  docs/images and all tables in docs/evidence/data are used.
- README.md and the summaries of docs/evidence are short; CITATION.cff has the version of the headers.
- docs/start/examples.md lists every example: scenes with their command and a small picture, other files by name.
- Generated parts are up to date: the text between `<!-- noli --help -->` and
  `<!-- end -->` is the output of the program, the text between `<!-- file PATH -->` and `<!-- end -->` is
  that file, and `<!-- shapes -->` is followed by the built-in shapes of docs/scene.schema.json. --write updates them. (Scene
  tables and schema: tests/scene/test_scene_docs.c, updated by scripts/scene_docs.py; validation.md: scripts/validation.py;
  tables of measurements: scripts/bench_tables.py.)

Needs only Python.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import textwrap

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
CODE = re.compile(r"`([^`\n]+)`")
# words in backquotes that begin like this are paths of the repository
FOLDERS = ("apps/", "bench/", "cmake/", "docs/", "examples/", "include/", "scripts/", "src/", "tests/", "validation/")
DOCUMENT = re.compile(r"\bdocs/[\w/-]+\.(?:md|json|bib)\b")
BLOCK = re.compile(r"(<!-- (noli [^>]*?|file \S+|shapes) -->\n).*?(<!-- end -->\n)", re.S)
LARGEST_PICTURE = 60 * 1024
# pages that people read to the end, in words
LONGEST = {"README.md": 900, "docs/evidence/validation.md": 1500, "docs/evidence/benchmarks.md": 1500,
           "docs/evidence/coverage.md": 1500, "docs/evidence/torture.md": 1500, "docs/evidence/scaling.md": 1500}
FENCES = {".c": "c", ".json": "json", ".py": "python", ".sh": "sh"}


def slug(heading):
    """The anchor of a heading, as code hosts and scripts/site.py make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def documents(source):
    """Every Markdown file, relative to the repository."""
    for name in sorted(os.listdir(source)):
        if name.endswith(".md"):
            yield name
    for top in ("docs", "examples", "validation", "bench"):
        for place, folders, names in os.walk(os.path.join(source, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".md"):
                    yield os.path.relpath(os.path.join(place, name), source)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def prose(text):
    """Numbered lines outside of code blocks; code keeps its line numbers, but is empty."""
    fence = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fence = not fence
            continue
        yield number, "" if fence or line.startswith("    ") else line


def anchors(text):
    found, count = set(), {}
    for _, line in prose(text):
        heading = HEADING.match(line)
        if heading:
            name = slug(heading[2])
            n = count.get(name, 0)
            count[name] = n + 1
            found.add(name if n == 0 else f"{name}-{n}")
    return found


class Checker:
    def __init__(self, source):
        self.source, self.errors, self.used, self.n_links = source, [], set(), 0
        self.anchors = {path: anchors(read(os.path.join(source, path))) for path in documents(source)}

    def check(self, path):
        for number, line in prose(read(os.path.join(self.source, path))):
            where = f"{path}:{number}"
            for target in LINK.findall(line):
                self.check_link(path, where, target)
            # the history names files as they were called then
            for code in CODE.findall(line) if path != "CHANGELOG.md" else []:
                self.check_path(where, code)

    def check_link(self, path, where, target):
        self.n_links += 1
        if re.match(r"[a-z]+:", target):
            return
        file, _, anchor = target.partition("#")
        goal = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        self.used.add(goal)
        if not os.path.exists(os.path.join(self.source, goal)):
            self.errors.append(f"{where}: {target}: {goal} does not exist")
        elif anchor and anchor not in self.anchors.get(goal, ()):
            self.errors.append(f"{where}: {target}: {goal} has no heading #{anchor}")

    def check_path(self, where, code):
        if not code.startswith(FOLDERS) or re.search(r"[*<>{}%$]|NAME|CONCEPT|ROOM|\.\.\.", code):
            return
        name = re.split(r"[\s:,(#]", code)[0].rstrip(".")
        self.used.add(name)
        if not os.path.exists(os.path.join(self.source, name)):
            self.errors.append(f"{where}: `{code}`: {name} does not exist")

    def check_sources(self):
        for place, _, names in os.walk(self.source):
            folder = os.path.relpath(place, self.source).split(os.sep)[0]
            for name in names if folder in ("include", "src", "apps", "tests", "bench", "validation") else []:
                if name.endswith((".h", ".c")):
                    path = os.path.join(place, name)
                    for document in sorted(set(DOCUMENT.findall(read(path)))):
                        if not os.path.exists(os.path.join(self.source, document)):
                            where = os.path.relpath(path, self.source)
                            self.errors.append(f"{where}: {document} does not exist")

    def check_used(self):
        """Every picture and every table belongs to a document."""
        for folder, ending in (("images", ""), ("evidence/data", ".csv")):
            for place, _, names in os.walk(os.path.join(self.source, "docs", folder)):
                for name in sorted(name for name in names if name.endswith(ending)):
                    goal = os.path.relpath(os.path.join(place, name), self.source)
                    if goal not in self.used:
                        self.errors.append(f"{goal}: not used in any document")

    def check_lengths(self):
        for path, most in LONGEST.items():
            words = len(read(os.path.join(self.source, path)).split())
            if words > most:
                self.errors.append(f"{path}: {words} words, more than {most}")

    def check_citation(self):
        """CITATION.cff has the version of the headers."""
        header = read(os.path.join(self.source, "include", "noli", "version.h"))
        version = ".".join(re.search(rf"NOLI_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        if f"version: {version}\n" not in read(os.path.join(self.source, "CITATION.cff")):
            self.errors.append(f"CITATION.cff: the version is {version}")

    def check_examples(self):
        """Every example has a row, and every row an existing example."""
        page = os.path.join("docs", "start", "examples.md")
        text = read(os.path.join(self.source, page))
        pictures = dict(re.findall(r"^\| !\[[^\]]*\]\((\S+\.png)\) \| `noli (?:run|design) (\S+)` \|", text, re.M))
        scenes = sorted(pictures.values())
        for place, _, names in os.walk(os.path.join(self.source, "examples")):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), self.source)
                if name.endswith(".json") and scenes.count(path) != 1:
                    self.errors.append(f"{page}: needs one row with a picture and `noli run {path}` or `noli design`")
                elif name.endswith((".c", ".py")) and path not in text:
                    self.errors.append(f"{page}: does not mention {path}")
        for picture, scene in pictures.items():
            if not os.path.exists(os.path.join(self.source, scene)):
                self.errors.append(f"{page}: {scene} does not exist")
            path = os.path.join(self.source, "docs", "start", picture)
            if os.path.exists(path) and os.path.getsize(path) > LARGEST_PICTURE:
                self.errors.append(f"{page}: {picture} is larger than {LARGEST_PICTURE} bytes")


def shapes(types):
    """The list of built-in shapes, as an item of a list."""
    names = ", ".join(f"`{name}`" for name in types["shape"]["properties"])
    text = f"- `mesh` is a file or a built-in shape: {names}."
    return textwrap.fill(text, 110, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def made_of(source, what, noli):
    """The content of a block, or None if it cannot be determined."""
    if what.startswith("file "):
        path = what[5:]
        return f"```{FENCES.get(os.path.splitext(path)[1], '')}\n{read(os.path.join(source, path))}```\n"
    if what == "shapes":
        return shapes(json.loads(read(os.path.join(source, "docs", "scene.schema.json")))["$defs"])
    if noli is None:
        return None
    words = [noli] + what.split()[1:]
    return "```\n" + subprocess.run(words, check=True, capture_output=True, text=True).stdout + "```\n"


def fill(source, text, noli):
    def block(found):
        content = made_of(source, found[2], noli)
        return found[0] if content is None else found[1] + content + found[3]
    return BLOCK.sub(block, text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].replace("usage: ", ""))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--noli")
    parser.add_argument("source")
    words = parser.parse_args()
    stale = []
    for path in documents(words.source):
        text = read(os.path.join(words.source, path))
        fresh = fill(words.source, text, words.noli)
        if fresh != text and words.write:
            with open(os.path.join(words.source, path), "w", encoding="utf-8") as file:
                file.write(fresh)
            print(f"wrote {path}")
        elif fresh != text:
            stale.append(f"{path}: a generated part is out of date; run\n"
                         f"  scripts/check_docs.py --write --noli build/release/noli .")
    checker = Checker(words.source)
    for path in sorted(checker.anchors):
        checker.check(path)
    checker.check_used()
    checker.check_lengths()
    checker.check_citation()
    checker.check_sources()
    checker.check_examples()
    for error in checker.errors + stale:
        print(error, file=sys.stderr)
    print(f"{len(checker.anchors)} documents, {checker.n_links} links, "
          f"{len(checker.errors) + len(stale)} errors")
    return 1 if checker.errors or stale else 0


if __name__ == "__main__":
    sys.exit(main())
