#!/usr/bin/env python3
"""Checks the include graph: modules include only lower modules, programs include only public headers, and public headers
compile alone in C and C++.

usage: check_includes.py SOURCE_DIRECTORY
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# The modules in their order: a file may include files of its own module and of modules before it.
ROOMS = ["noli", "base", "math", "linalg", "mpi", "text", "mesh", "material", "fem", "collide", "contact",
         "integrate", "solve", "define", "model", "step", "measure", "derive", "design", "repair", "scene",
         "output", "page", "exchange", "import"]
# Code linked to libnoli without its private functions includes only public headers and these.
# src/text is in both libraries; the headers of math and base/array.h have no functions to link.
OUTSIDE = {"text": ("noli/", "base/array.h", "text/", "base/byte_order.h"),
           "import": ("noli/", "base/array.h", "math/", "text/", "import/")}
# The first module that may include a public header: the one that implements it, or uses its types. All modules may
# include those in FREE; noli.h is for users.
FREE = {"noli/base.h", "noli/extend.h", "noli/profile.h", "noli/threads.h", "noli/types.h", "noli/version.h"}
HEADERS = {"noli/ranks.h": "base", "noli/mesh.h": "mesh", "noli/ccd.h": "collide", "noli/choice.h": "scene", "noli/distance.h": "collide",
           "noli/broad_phase.h": "collide", "noli/intersection.h": "collide", "noli/barrier.h": "contact",
           "noli/gcp.h": "contact", "noli/definition.h": "solve", "noli/sim.h": "solve", "noli/live.h": "step", "noli/repair.h": "repair", "noli/derivative.h": "derive", "noli/design.h": "derive", "noli/batch.h": "measure",
           "noli/scene.h": "scene", "noli/output.h": "output",
           "noli/run.h": "scene", "noli/audit.h": "output", "noli/import.h": "import"}
# The table of the numbers of all definitions.
KNOWS_ALL = "base/numbers.c"
# Programs that include only public headers and files of their own directory.
PUBLIC_ONLY = ["apps/noli", "validation", "examples/c"]
# Headers that public headers may include in addition to each other.
STANDARD = {"stdbool.h", "stddef.h", "stdint.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def files_below(root, suffixes):
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as file:
        return INCLUDE.findall(file.read())


def check_rooms(source):
    errors, graph = [], {}
    root = os.path.join(source, "src")
    for path in files_below(root, (".c", ".h")):
        name = os.path.relpath(path, root).replace(os.sep, "/")
        room = name.split("/")[0]
        if room not in ROOMS:
            errors.append(f"src/{name}: the module \"{room}\" is not in the list of modules")
            continue
        graph[name] = []
        for mark, included in includes(path):
            other = included.split("/")[0]
            if mark == "<":
                if other in ROOMS and other not in ("math",):
                    errors.append(f"src/{name}: <{included}> should be \"{included}\"")
                continue
            if "/" not in included or other not in ROOMS:
                errors.append(f"src/{name}: \"{included}\" does not begin with a module")
            elif not included.startswith(OUTSIDE.get(room, "")):
                errors.append(f"src/{name}: \"{included}\" is private to libnoli; {room} is linked to it from outside")
            elif included == "noli/noli.h" or name != KNOWS_ALL and \
                    ROOMS.index(HEADERS.get(included, "noli")) > ROOMS.index(room):
                errors.append(f"src/{name}: \"{included}\" goes upward, from {room} to a module it does not depend on")
            elif ROOMS.index(other) > ROOMS.index(room):
                errors.append(f"src/{name}: \"{included}\" goes upward, from {room} to {other}")
            graph[name].append(included)
    return errors + check_cycles(graph)


def check_programs(source):
    errors = []
    for folder in PUBLIC_ONLY:
        root = os.path.join(source, folder)
        for path in files_below(root, (".c", ".h")):
            for mark, included in includes(path):
                own = mark == '"' and "/" not in included and os.path.exists(os.path.join(root, included))
                private = mark == '"' and not own and not included.startswith("noli/")
                if private or os.path.exists(os.path.join(source, "src", included)):
                    errors.append(f"{os.path.relpath(path, source)}: \"{included}\" is not a public header")
    return errors


def check_cycles(graph):
    """Circular includes of headers."""
    errors, done = [], set()

    def visit(name, trail):
        if name in trail:
            circle = trail[trail.index(name):] + [name]
            errors.append("circular includes: " + " -> ".join(circle))
            return
        if name in done or name not in graph:
            return
        for other in graph[name]:
            visit(other, trail + [name])
        done.add(name)

    for name in graph:
        visit(name, [])
    return errors


def check_public(source):
    errors = []
    root = os.path.join(source, "include")
    for path in files_below(root, (".h",)):
        name = os.path.relpath(path, root)
        if name not in HEADERS and name not in FREE | {"noli/noli.h"}:
            errors.append(f"include/{name}: the header is missing in the lists of check_includes.py")
        for mark, included in includes(path):
            if mark == "<" and included not in STANDARD:
                errors.append(f"include/{name}: <{included}> must not appear in public headers")
            if mark == '"' and not included.startswith("noli/"):
                errors.append(f"include/{name}: \"{included}\" is not a public header")
        errors += compile_alone(root, name)
    # NOLI_API belongs to the public headers
    for path in files_below(os.path.join(source, "src"), (".c", ".h")):
        with open(path, encoding="utf-8") as file:
            if re.search(r"\bNOLI_API\b", file.read()):
                errors.append(f"{os.path.relpath(path, source)}: NOLI_API outside include/noli")
    return errors


def compile_alone(root, name):
    errors = []
    for suffix, compilers in ((".c", ("cc", "gcc", "clang")), (".cpp", ("c++", "g++", "clang++"))):
        compiler = next((c for c in compilers if shutil.which(c)), None)
        if compiler is None:
            print(f"note: no compiler for {suffix}: headers are not tested with it")
            continue
        with tempfile.TemporaryDirectory() as folder:
            unit = os.path.join(folder, "alone" + suffix)
            with open(unit, "w", encoding="utf-8") as file:
                file.write(f'#include "{name}"\nint alone;\n')
            standard = "-std=c17" if suffix == ".c" else "-std=c++17"
            result = subprocess.run(
                [compiler, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                 "-I", root, unit], capture_output=True, text=True, check=False)
            if result.returncode != 0:
                errors.append(f"include/{name} does not compile alone as {suffix}:\n{result.stderr}")
    return errors


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    errors = check_rooms(sys.argv[1]) + check_programs(sys.argv[1]) + check_public(sys.argv[1])
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
