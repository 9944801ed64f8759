#!/usr/bin/env python3
"""Programs and the library: each public header compiles alone as C17 and C++17, a C++ program runs, and so does a
program that was compiled with the headers of an older version, whose structs are shorter.

usage: test_callers.py SOURCE_DIRECTORY LIBRARY C_COMPILER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
# Structs whose last member, or as many as make them shorter, an older version does not have.
GROWN = {"definition.h": {"NoliBodyDef": 1, "NoliPairDef": 1, "NoliMotionDef": 1, "NoliForceDef": 1, "NoliVolumeDef": 1,
                          "NoliSimDef": 1},
         "sim.h": {"NoliStepReport": 2}}


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def without_last_member(text, struct):
    start = text.index(f"typedef struct {struct} {{")
    end = text.index(f"}} {struct};")
    lines = text[start:end].splitlines()
    members = [i for i, line in enumerate(lines) if re.match(r"  [A-Za-z].*;", re.sub(r"//.*", "", line).rstrip())]
    lines = lines[:members[-1]]
    return text[:start] + "\n".join(lines) + "\n" + text[end:]


def older_headers(source, folder):
    include = os.path.join(folder, "older")
    shutil.copytree(os.path.join(source, "include"), include)
    for name, structs in GROWN.items():
        path = os.path.join(include, "noli", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for struct, count in structs.items():
            for _ in range(count):
                text = without_last_member(text, struct)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return include


def sizes(compiler, include, folder):
    """What sizeof says about the structs above."""
    structs = sorted(struct for names in GROWN.values() for struct in names)
    path = os.path.join(folder, "sizes.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <noli/noli.h>\n#include <stdio.h>\nint main(void) {\n")
        file.write("".join(f'  printf("%zu\\n", sizeof({struct}));\n' for struct in structs) + "}\n")
    # only inline functions that are called need the library
    run([compiler, "-std=c17", "-O1", "-I", include, path, "-o", os.path.join(folder, "sizes")])
    printed = run([os.path.join(folder, "sizes")]).split()
    return dict(zip(structs, map(int, printed)))


def build(compiler, standard, source, include, library, program):
    run([compiler, standard, *STRICT, "-O1", "-I", include, source, library,
         "-Wl,-rpath," + os.path.dirname(library), "-lm", "-o", program])


def check_headers(source, compilers, folder):
    include = os.path.join(source, "include")
    names = sorted(os.listdir(os.path.join(include, "noli")))
    for name in names:
        for standard, compiler, suffix in compilers:
            unit = os.path.join(folder, "alone" + suffix)
            with open(unit, "w", encoding="utf-8") as file:
                file.write(f"#include <noli/{name}>\nint alone;\n")
            run([compiler, standard, *STRICT, "-fsyntax-only", "-I", include, unit])
        with open(os.path.join(include, "noli", name), encoding="utf-8") as file:
            if re.search(r"^\s*enum\s*\{", file.read(), re.M):
                sys.exit(f"include/noli/{name}: an enumeration has no name")
    print(f"{len(names)} headers")


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 1
    source, library, c_compiler = sys.argv[1:]
    cpp_compiler = next((c for c in ("c++", "g++", "clang++") if shutil.which(c)), None)
    compilers = [("-std=c17", c_compiler, ".c")] + ([("-std=c++17", cpp_compiler, ".cpp")] if cpp_compiler else [])
    with tempfile.TemporaryDirectory() as folder:
        check_headers(source, compilers, folder)
        include, older = os.path.join(source, "include"), older_headers(source, folder)
        ours, theirs = sizes(c_compiler, include, folder), sizes(c_compiler, older, folder)
        for struct, size in ours.items():
            if theirs[struct] >= size:
                sys.exit(f"{struct}: the older one has {theirs[struct]} bytes of {size}")
        printed = []
        for headers in (include, older):
            program = os.path.join(folder, "press")
            build(c_compiler, "-std=c17", os.path.join(source, "examples", "c", "press.c"), headers, library, program)
            printed.append(run([program], cwd=folder))
        if not printed[0].strip() or printed[0] != printed[1]:
            sys.exit(f"with older headers:\n{printed[1]}instead of:\n{printed[0]}")
        print(printed[1], end="")
        if cpp_compiler is None:
            print("no C++ compiler")
            return 77
        program = os.path.join(folder, "caller")
        build(cpp_compiler, "-std=c++17", os.path.join(source, "tests", "install", "caller.cpp"), include, library,
              program)
        text = run([program])
        if "first defect: half-space" not in text or "step 5" not in text:
            sys.exit(f"the C++ program printed:\n{text}")
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
