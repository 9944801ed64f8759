#!/usr/bin/env python3
"""What several ranks cost: a squeezed box or a pile of small boxes, the scenes of docs/evidence/scaling.md, on each number of ranks. Prints
a row of a table for each: memory and processor time of ranks, iterations, contacts, those between elements of different ranks,
what ranks send. From three numbers of ranks on, also the model a + b / ranks that fits memory and processor time best, and the
number of ranks from which a, what every rank does for itself, is the larger part. With --grow the size is for one rank, and each
rank more brings as many nodes.

usage: ranks.py NOLI [--cells N | --bodies N] [--grow] [--ranks 1,2] [--steps N] [--linear NAME] [--set KEY=VALUE ..] [--out DIRECTORY]
"""
import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys


def measure_one(command):
    """Runs a command and prints its peak memory, kB, and processor time, s: what `ranks.py --one` does on each rank."""
    status = subprocess.call(command)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"ONE {usage.ru_maxrss} {usage.ru_utime:.2f} {usage.ru_stime:.2f}", file=sys.stderr, flush=True)
    return status


def box(cells):
    """A box between floor and plate. The cells of the plate are about 4 of the box wide: one of its vertices is near few nodes."""
    plate = (cells + 1) // 2
    return {
        "time": {"step": 0.01, "steps": 40}, "contact": {"distance": 2e-4}, "solver": {"tolerance": 2e-3}, "friction": {"coefficient": 0},
        "half_spaces": [{"name": "floor"}],
        "bodies": [{"mesh": {"box": {"size": [0.3, 0.3, 0.3], "cells": [cells] * 3}}, "translate": [0, 0.151, 0],
                    "material": {"young": 5e4, "poisson": 0.40, "density": 1000}}],
        "obstacles": [{"mesh": {"plane": {"size": [0.6, 0.6], "cells": [plate, plate]}}, "translate": [0, 0.302, 0],
                       "motion": {"displacement": [0, "-0.18 * min(1, t / 0.3)", 0]}}]}


def pile(n_bodies):
    """Layers of 10 x 10 boxes of 27 nodes in a container, already in contact; layers are shifted against each other, so that boxes
    lie on up to four others."""
    size, pitch, distance = 0.1, 0.105, 1e-3
    bodies = []
    for row in range((n_bodies + 9) // 10):
        layer, z = divmod(row, 10)
        shift = 0.02 * (layer % 3 - 1)
        bodies.append({"name": f"row {row}", "mesh": {"box": {"size": [size] * 3, "cells": [2, 2, 2]}},
                       "translate": [shift - 4.5 * pitch, 0.5 * size + 0.7 * distance + layer * (size + 0.7 * distance), shift + (z - 4.5) * pitch],
                       "copies": {"count": min(10, n_bodies - 10 * row), "translate": [pitch, 0, 0]},
                       "material": {"young": 1e5, "poisson": 0.4, "density": 1000}})
    wall = 5.0 * pitch + 0.025
    sides = {"left": [1, 0, 0], "right": [-1, 0, 0], "front": [0, 0, 1], "back": [0, 0, -1]}
    return {
        "time": {"step": 0.005, "steps": 40}, "contact": {"distance": distance}, "friction": {"coefficient": 0.2}, "solver": {"tolerance": 1e-2},
        "half_spaces": [{"name": "floor"}] + [{"name": name, "normal": normal, "origin": [-wall * value for value in normal]}
                                              for name, normal in sides.items()],
        "bodies": bodies}


def size_of(options, n_ranks):
    """Cells of an edge of the box, and bodies of the pile."""
    factor = n_ranks if options.grow else 1
    return round((options.cells + 1) * factor ** (1 / 3)) - 1, options.bodies * factor


def write_scene(options, n_ranks):
    cells, bodies = size_of(options, n_ranks)
    path = os.path.join(options.out, f"pile_{bodies}.json" if bodies else f"box_{cells}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(pile(bodies) if bodies else box(cells), file)
    return path


def simulate(options, n_ranks, path):
    directory = f"{os.path.splitext(path)[0]}_{n_ranks}"
    settings = {"solver.linear": json.dumps(options.linear), "output.every": "1000000"}
    command = ["mpirun", "--oversubscribe", "-n", str(n_ranks), sys.executable, os.path.abspath(__file__), "--one", options.noli, "run", path, "-o",
               directory, "--force", "--quiet", "--steps", str(options.steps)]
    for setting in [f"{key}={value}" for key, value in settings.items()] + options.set:
        command += ["--set", setting]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive",
                   "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    ones = re.findall(r"ONE (\d+) ([\d.]+) ([\d.]+)", done.stderr)
    if done.returncode != 0 or len(ones) != n_ranks:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return directory, ones


def fit(ranks, values):
    """a and b of a + b / ranks with the least sum of squared relative errors, and the largest relative error."""
    weight = [1 / value ** 2 for value in values]
    share = [1 / n for n in ranks]
    total = sum(weight)
    mean = sum(w * x for w, x in zip(weight, share)) / total
    middle = sum(w * y for w, y in zip(weight, values)) / total
    b = sum(w * (x - mean) * (y - middle) for w, x, y in zip(weight, share, values)) / sum(w * (x - mean) ** 2 for w, x in zip(weight, share))
    a = middle - b * mean
    return a, b, max(abs(a + b * x - y) / y for x, y in zip(share, values))


def print_models(rows):
    ranks = [cells[1] for cells in rows]
    for name, column in (("peak MB", 2), ("CPU s of the slowest rank", 4)):
        values = [float(cells[column]) for cells in rows]
        if len(set(ranks)) >= 3 and min(values) > 0:
            a, b, error = fit(ranks, values)
            even = f"; a is more than b / ranks from {b / a:.0f} ranks on" if a > 0 else ""
            print(f"{name}: {a:.2f} + {b:.2f} / ranks, within {100 * error:.1f} %{even}")


def row(options, n_ranks):
    path = write_scene(options, n_ranks)
    directory, ones = simulate(options, n_ranks, path)
    with open(os.path.join(directory, "steps.csv"), encoding="utf-8") as file:
        steps = list(csv.DictReader(file))
    with open(os.path.join(directory, "log.txt"), encoding="utf-8") as file:
        log = file.read()
    sent = re.findall(r"exchanges between ranks, ([\d.]+) MB sent", log)
    load = re.findall(r"load of ranks: .*?([\d.]+) times that on rank", log)
    between = re.findall(r"between elements of different ranks: (\d+)", log)
    memory = [int(one[0]) / 1e3 for one in ones]
    cells, bodies = size_of(options, n_ranks)
    n_node = 27 * bodies if bodies else (cells + 1) ** 3
    return [n_node, n_ranks, f"{max(memory):.0f}", f"{1e3 * max(memory) / n_node:.2f}", f"{max(float(one[1]) for one in ones):.1f}",
            load[-1] if load else "-", sum(int(step["newton"]) for step in steps), sum(int(step["linear_iterations"]) for step in steps),
            max(int(step["contacts"]) for step in steps), between[-1] if between else "-", sent[-1] if sent else "-"]


def main():
    if sys.argv[1:2] == ["--one"]:
        return measure_one(sys.argv[2:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("noli")
    parser.add_argument("--cells", type=int, default=30, help="of an edge of the box")
    parser.add_argument("--bodies", type=int, default=0, help="a pile of so many boxes instead")
    parser.add_argument("--grow", action="store_true", help="as many nodes for each rank")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--linear", default="petsc:ilu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: of the scene, as for noli run")
    parser.add_argument("--out", default="out/ranks")
    options = parser.parse_args()
    options.noli = os.path.abspath(options.noli)
    os.makedirs(options.out, exist_ok=True)
    print("| nodes | ranks | peak MB, largest rank | kB for a node | CPU s, largest | of the mean | Newton iterations | linear iterations "
          "| contacts | between ranks | MB sent by the first rank |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    rows = []
    for n_ranks in options.ranks.split(","):
        rows.append(row(options, int(n_ranks)))
        print("| " + " | ".join(str(cell) for cell in rows[-1]) + " |", flush=True)
    if not options.grow:
        print_models(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
