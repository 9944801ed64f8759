#!/usr/bin/env python3
"""Writes the parts of the Python package that follow from include/noli: the declarations that cffi reads
(python/noli/declarations.h) and a dataclass for every struct of results (python/noli/results.py).

usage: python_declarations.py [--check] [--cc COMPILER] SOURCE_DIRECTORY
  --check       write nothing; exit status 1 if a file is not current
  --cc          C preprocessor (default: cc)
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Structs that the library fills for its callers.
RESULTS = ["StepTiming", "NewtonStat", "StepReport", "Energies", "BodyState", "Wrench", "Reaction", "PairForce",
           "ContactInfo", "SurfacePoint", "RegionVolume", "SpringForce", "JointState", "Diagnosis", "Defect", "MeshCheck", "Finding", "Summary",
           "CheckpointInfo", "Stress", "SheetForces", "RodForces", "GradientReport"]
# Integers that Python uses, too.
CONSTANTS = ["NOLI_NULL_INDEX", "NOLI_ABI_VERSION", "NOLI_VERSION_NUMBER"]
# Arrays that are matrices.
SHAPES = {("BodyState", "inertia"): (3, 3), ("Stress", "first_piola"): (3, 3)}
TYPES = {"double": "float", "bool": "bool", "int32_t": "int", "int64_t": "int", "uint64_t": "int",
         "const char*": "str", "char*": "str", "NoliDefectKind": "int", "NoliFindingKind": "int", "NoliDiagnosisKind": "int",
         "NoliSticking": "int"}


def preprocess(source, compiler):
    """The headers without comments, attributes and what the standard headers declare."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                pass
        unit = os.path.join(folder, "unit.h")
        with open(unit, "w", encoding="utf-8") as file:
            file.write('#include "noli/noli.h"\n#include "noli/import.h"\n')
            # a string keeps its name
            file.writelines(f'constant "{name}" {name}\n' for name in CONSTANTS)
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-U__clang__", "-I",
                   os.path.join(source, "include"), "-I", folder, unit]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def without_bodies(text):
    """Drops inline functions."""
    out, rest = [], text
    while (found := re.search(r"static inline [^{;]*\{", rest)):
        out.append(rest[:found.start()])
        depth, at = 1, found.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(rest[at], 0)
            at += 1
        rest = rest[at:]
    return "".join(out) + rest


def declarations(source, compiler):
    text = re.sub(r"\s+", " ", without_bodies(preprocess(source, compiler)))
    constants = re.findall(r'constant "(\w+)" (.+?)(?= constant|$)', text)
    text = re.sub(r" *constant .*$", "", text)
    lines = ["// Generated from include/noli by scripts/python_declarations.py.\n"]
    for _, value in constants:
        if not re.fullmatch(r"[-+*()\d\s]+", value):
            raise SystemExit(f"{value} is not a number")
    lines += [f"#define {name} {eval(value)}\n" for name, value in constants]  # pylint: disable=eval-used

    # one member of a struct or enumeration, or one declaration, on a line
    depth, line = 0, ""
    for token in re.findall(r"[{};,]|[^{};,]+", text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        line += token
        if (token == "{" or (token == ";") or (token == "," and depth > 0 and "(" not in line.split("=")[0])):
            indent = "  " if depth > 0 and token != "{" else ""
            lines.append(indent + line.strip() + "\n")
            line = ""
    if line.strip():
        raise SystemExit(f"not a complete declaration: {line}")
    return "".join(lines)


# ---- dataclasses --------------------------------------------------------------------------------

def struct_text(headers, name):
    """The comment of a struct and its lines."""
    for text in headers:
        found = re.search(r"((?:^///[^\n]*\n)*)^typedef struct Noli" + name + r" \{\n(.*?)^\} Noli" + name + ";", text,
                          re.M | re.S)
        if found:
            return (" ".join(re.findall(r"^/// ?(.*)$", found[1], re.M)), found[2])
    raise SystemExit(f"include/noli has no struct Noli{name}")


def members(body):
    """Type, name, dimensions and comment of every member."""
    before, found = "", []
    for line in body.splitlines():
        member = re.match(r"  (\w[\w ]*?)(\**) (\w+)((?:\[\d+\])*);(?:\s*///< ?(.*))?$", line)
        comment = re.match(r"\s*///<? ?(.*)$", line)
        if member:
            kind, star, name, dims, doc = member.groups()
            doc = f"{before} {doc or ''}".strip()
            found.append([(kind + star).strip(), name, [int(n) for n in re.findall(r"\d+", dims)], doc])
            before = ""
        elif comment and line.lstrip().startswith("///<"):
            found[-1][3] += " " + comment[1]
        elif comment:
            before += " " + comment[1]
        elif line.strip():
            raise SystemExit(f"not understood: {line}")
    return [member for member in found if member[1] != "reserved"]


def wrap(text, indent, width=110):
    lines, line = [], ""
    for word in text.split():
        if line and len(indent) + len(line) + 1 + len(word) > width:
            lines.append(indent + line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + ([indent + line] if line else [])


# Words of C.
WORDS = [(r"; (borrowed|owned)\b[^;]*", ""), (r"^borrowed; ", ""), (r"^owned; released with \w+; ", ""),
         (r"; valid until the next step$", ""), (r", valid until the next step$", ""), (r"\bNOLI_NULL_INDEX\b", "-1"),
         (r"\bINFINITY\b", "inf"), (r"\bNULL\b", "None"), (r"\bNoli([A-Z])", r"\1"),
         (r" Never changes its size\.", "")]


def in_python(text):
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text


def python_type(kind, dims, comment):
    if dims:
        return {1: "str", 2: "list[str]"}[len(dims)] if kind == "char" else "np.ndarray"
    if kind in TYPES:
        return TYPES[kind] + (" | None" if "None" in comment else "")
    if kind.endswith("*"):
        return "np.recarray"
    return kind.removeprefix("Noli")


def dataclass(headers, name):
    doc, body = struct_text(headers, name)
    lines = ["@dataclass(slots=True, repr=False)", f"class {name}(Result):"] + wrap(f'"""{in_python(doc)}"""', "    ") + [""]
    for kind, member, dims, comment in members(body):
        comment = in_python(comment)
        shape = SHAPES.get((name, member), tuple(dims))
        size = f"({' x '.join(map(str, shape))}) " if dims and kind != "char" else ""
        lines += wrap((size + comment).strip(), "    #: ")
        lines.append(f"    {member}: {python_type(kind, dims, comment)}")
    return "\n".join(lines) + "\n"


def results(source):
    headers = []
    for name in sorted(os.listdir(os.path.join(source, "include", "noli"))):
        with open(os.path.join(source, "include", "noli", name), encoding="utf-8") as file:
            headers.append(file.read())
    text = '''"""Results: one dataclass for each struct that the library fills. SI units throughout.

Functions that return many of them return a NumPy record array with the same names: `contacts.gap` is the array of
all gaps, `contacts[0].gap` the first.

Generated from include/noli by scripts/python_declarations.py.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._result import Result

'''
    shapes = ", ".join(f'("{name}", "{member}"): {shape}' for (name, member), shape in SHAPES.items())
    text += f"# Arrays that are matrices.\nSHAPES = {{{shapes}}}\n\n\n"
    return text + "\n\n".join(dataclass(headers, name) for name in RESULTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("source")
    arguments = parser.parse_args()
    outdated = []
    for name, text in (("declarations.h", declarations(arguments.source, arguments.cc)),
                       ("results.py", results(arguments.source))):
        path = os.path.join(arguments.source, "python", "noli", name)
        present = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                present = file.read()
        if present != text:
            outdated.append(name)
            if not arguments.check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if outdated and arguments.check:
        print(f"python/noli: {' and '.join(outdated)} not current: run scripts/python_declarations.py .", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
