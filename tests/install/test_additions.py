#!/usr/bin/env python3
"""The worked additions of docs/howto/add.md: each patch applies to the sources, compiles without warnings, and what it adds works.

Only what a patch touches is compiled, in a copy, and linked with the archive of the build, in front of the old objects: into the
program, which runs a scene, and into the test of the module.

usage: test_additions.py BUILD SOURCE NAME   (NAME.patch)
"""
import csv
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(command, folder, **more):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **more)
    if result.returncode != 0:
        fail(f"{' '.join(command) if isinstance(command, list) else command}\n{result.stdout}{result.stderr}")
    return result.stdout


class Tree:
    """A copy of the files that a patch changes, and objects made of them."""

    def __init__(self, build, source, name):
        self.build, self.source, self.at = build, source, os.path.abspath(f"addition_{name}")
        patch = os.path.join(source, "docs", "howto", "add", name + ".patch")
        with open(patch, encoding="utf-8") as file:
            names = re.findall(r"^\+\+\+ b/(\S+)", file.read(), re.M)
        shutil.rmtree(self.at, ignore_errors=True)
        for each in names:
            os.makedirs(os.path.join(self.at, os.path.dirname(each)), exist_ok=True)
            if os.path.exists(os.path.join(source, each)):
                shutil.copy(os.path.join(source, each), os.path.join(self.at, each))
        run(["patch", "--strip=1", "--quiet", "--input", patch], self.at)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {os.path.relpath(row["file"], source): row for row in json.load(file)}
        made = {each: self.compile(each) for each in names if each.endswith(".c")}
        self.objects = {each: made[each] for each in made if each.startswith("src/")}
        self.test_objects = {each: made[each] for each in made if each.startswith("tests/")}

    def compile(self, name):
        """The object of a file, made as the build makes it, or one beside it where the file is new."""
        beside = name if name in self.commands else next(c for c in self.commands if os.path.dirname(c) == os.path.dirname(name))
        row = self.commands[beside]
        made = os.path.join(self.at, name + ".o")
        words = shlex.split(row["command"])
        words = [made if before == "-o" else word for before, word in zip([""] + words, words)]
        words = [word for word in words if word not in (row["file"], "-c")]
        first = words.index(next(word for word in words if word.startswith("-I")))
        own = [f"-I{self.at}/include", f"-I{self.at}/src"]
        run([*words[:first], *own, *words[first:], "-Werror", "-c", os.path.join(self.at, name)], self.build)
        return made

    def link(self, target, folder):
        """A program of the build with these objects in place of those of the same sources."""
        with open(os.path.join(folder, "CMakeFiles", f"{target}.dir", "link.txt"), encoding="utf-8") as file:
            words = shlex.split(file.read())
        for name, made in self.test_objects.items():
            own = f"CMakeFiles/{target}.dir/{os.path.relpath(name, 'tests')}.o"
            words = [made if word == own else word for word in words]
        at = words.index("-o")
        words[at + 1] = os.path.join(self.at, target)
        # what stands before an archive is not taken from it
        run(words[:at] + list(self.objects.values()) + words[at:], folder)
        return words[at + 1]

    def program(self):
        self.noli = self.link("noli_program", os.path.join(self.build, "apps", "noli"))
        return lambda *words: run([self.noli, *words], self.at)

    def test(self, name):
        """Runs a test of the build with the addition."""
        work = os.path.join(self.at, "work")
        os.makedirs(work, exist_ok=True)
        run([self.link(name, os.path.join(self.build, "tests"))], work)

    def refuses(self, scene, words):
        """Whether a search that needs derivatives of a scene is refused with these words."""
        self.write("searched.json", {**scene, "design": {
            "variables": [{"parameter": "gravity", "lower": [-20, -20, -20], "upper": [20, 20, 20]}],
            "objective": [{"quantity": "centre", "body": scene["bodies"][0]["name"]}]}})
        result = subprocess.run([self.noli, "design", "searched.json", "-o", "searched"], cwd=self.at, capture_output=True,
                                text=True, check=False)
        if result.returncode != 2 or words not in result.stderr:
            fail(f"a search says {result.returncode}, {result.stderr}")

    def write(self, name, scene):
        with open(os.path.join(self.at, name), "w", encoding="utf-8") as file:
            json.dump(scene, file)


BOX = {"name": "box", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}},
        "material": {"law": "neo_hookean", "young": 1e5, "poisson": 0.3, "density": 1000}}


def last_elastic(tree, noli, name, scene):
    tree.write(name + ".json", scene)
    noli("run", name + ".json", "-o", name, "--force")
    with open(os.path.join(tree.at, name, "steps.csv"), encoding="utf-8") as file:
        return float(list(csv.DictReader(file))[-1]["elastic"])


def stretched(tree, noli, law, length):
    """The elastic energy of a box of a law whose faces are moved apart by a length."""
    return last_elastic(tree, noli, f"{law}_{length:g}", {
        "time": {"step": 1, "steps": 1, "integrator": "quasi_static"}, "gravity": [0, 0, 0],
        "bodies": [{**BOX, "material": {**BOX["material"], "law": law}}],
        "prescribed": [{"body": "box", "select": {"side": side}, "motion": {"displacement": [0, f"{far:g}*t", 0]}}
                       for side, far in (("-y", 0.0), ("+y", length))]})


def check_law(tree):
    """The derivatives of all laws, and a scene: as stiff as the neo-Hookean law at small strains, another law at
    large ones."""
    tree.test("test_material")
    noli = tree.program()
    for length, least, most in ((1e-5, 0.9999, 1.0001), (0.05, 1.01, 1.5)):
        ratio = stretched(tree, noli, "quadratic_volume", length) / stretched(tree, noli, "neo_hookean", length)
        print(f"moved apart by {length:g} m: {ratio:.6f} of the energy of neo_hookean")
        if not least < ratio < most:
            fail(f"want {least:g} to {most:g}")


def check_format(tree):
    """All vertices and triangles of the surface of a box, in every frame, and how far it has fallen."""
    tree.test("test_exchange")
    noli = tree.program()
    tree.write("fall.json", {"time": {"step": 0.01, "steps": 2}, "bodies": [BOX]})
    noli("run", "fall.json", "-o", "fall", "--force")
    noli("convert", "fall", "fall_%04d.off")
    heights = []
    for frame in range(3):
        with open(os.path.join(tree.at, f"fall_{frame:04d}.off"), encoding="utf-8") as file:
            kind, n_vert, n_triangles, n_edges, *rest = file.read().split()
        n_vert, n_triangles = int(n_vert), int(n_triangles)
        if (kind, n_vert, n_triangles, n_edges) != ("OFF", 26, 48, "0") or len(rest) != 3 * n_vert + 4 * n_triangles:
            fail(f"frame {frame}: {kind} {n_vert} {n_triangles} {n_edges} and {len(rest)} words")
        heights.append(sum(map(float, rest[1:3 * n_vert:3])) / n_vert)
        corners = [int(word) for word in rest[3 * n_vert:]]
        if corners[::4] != [3] * n_triangles or sorted(set(corners[1::4] + corners[2::4] + corners[3::4])) != list(range(n_vert)):
            fail(f"frame {frame}: {corners}")
    # backward Euler: g dt^2, then 2 g dt^2 more
    want = [9.80665 * 1e-4 * n for n in (0, 1, 3)]
    if any(abs(heights[0] - height - fallen) > 1e-8 for height, fallen in zip(heights, want)):
        fail(f"heights {heights}, want a fall of {want}")


def check_element(tree):
    """A cable hangs with the tension of what is below, and does not resist where its ends come together."""
    noli = tree.program()
    n, radius, young, density, gravity = 10, 0.01, 1e6, 1000, 10
    cable = {"name": "cable", "mesh": {"line": {"segments": n}}, "rod": {"radius": radius, "bending": 0},
             "material": {"young": young, "density": density}}
    held = {"body": "cable", "select": {"side": "-x"}, "motion": {"hold": True}}
    area, cell = math.pi * radius ** 2, 1 / n
    tension = [density * area * gravity * cell * (n - s - 0.5) for s in range(n)]
    want = sum(0.5 * t * t * cell / (young * area) for t in tension)
    scene = {"time": {"step": 0.05, "steps": 100}, "gravity": [gravity, 0, 0], "bodies": [cable], "prescribed": [held]}
    got = last_elastic(tree, noli, "hangs", scene)
    print(f"hangs: {got:.9g} J, want {want:.9g}")
    if not abs(got - want) < 1e-4 * want:
        fail("the tension is another one")
    moved = {"body": "cable", "select": {"side": "+x"}, "motion": {"displacement": ["-t", 0, 0]}}
    slack = last_elastic(tree, noli, "slack", {"time": {"step": 0.02, "steps": 5}, "gravity": [0, 0, 0], "bodies": [cable],
                                               "prescribed": [held, moved]})
    if slack != 0.0:
        fail(f"a slack cable stores {slack} J")
    tree.refuses(scene, 'elements of the type "cables" have none')


def check_contact(tree):
    """A box rests on a cushion that is pressed in by its weight over the stiffness of its lower vertices."""
    noli = tree.program()
    stiffness, dhat = 1e3, 0.01
    scene = {"time": {"step": 0.02, "steps": 100}, "gravity": [0, -10, 0],
             "contact": {"model": "cushion", "distance": dhat, "stiffness": stiffness},
             "bodies": [{**BOX, "translate": [0, 0.055, 0]}], "half_spaces": [{"name": "floor"}],
             "output": {"probes": [{"name": "low", "body": "box", "select": {"side": "-y"}, "quantity": "position"}]}}
    tree.write("rests.json", scene)
    noli("run", "rests.json", "-o", "rests", "--force")
    with open(os.path.join(tree.at, "rests", "probes.csv"), encoding="utf-8") as file:
        height = float(list(csv.DictReader(file))[-1]["low_y"])
    want = dhat - 1000 * 0.1 ** 3 * 10 / (9 * stiffness)
    print(f"rests: lower face at {height:.9g} m, want {want:.9g}")
    if not abs(height - want) < 1e-3 * dhat:
        fail("it is at another height")
    tree.refuses(scene, 'the contact model "cushion" has none')


CHECKS = {"law": check_law, "format": check_format, "element": check_element, "contact": check_contact}


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    build, source, name = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    if not shutil.which("patch"):
        print("skipped: patch is not installed")
        return SKIPPED
    CHECKS[name](Tree(build, source, name))
    print(f"{name}: the addition works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
