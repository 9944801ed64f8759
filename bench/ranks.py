#!/usr/bin/env python3
"""What several ranks cost: a squeezed box, the scene of docs/scaling.md, on each number of ranks. Prints a row of a table for
each: memory and processor time of ranks, iterations, contacts, what ranks send.

usage: ranks.py NOLI [--cells N] [--ranks 1,2] [--steps N] [--linear NAME] [--set KEY=VALUE ..] [--out DIRECTORY]
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


def scene(cells):
    return {
        "time": {"step": 0.01, "steps": 40}, "contact": {"distance": 2e-4}, "solver": {"tolerance": 2e-3}, "friction": {"coefficient": 0},
        "half_spaces": [{"name": "floor"}],
        "bodies": [{"mesh": {"box": {"size": [0.3, 0.3, 0.3], "cells": [cells] * 3}}, "translate": [0, 0.151, 0],
                    "material": {"young": 5e4, "poisson": 0.40, "density": 1000}}],
        "obstacles": [{"mesh": {"plane": {"size": [0.6, 0.6], "cells": [4, 4]}}, "translate": [0, 0.302, 0],
                       "motion": {"displacement": [0, "-0.18 * min(1, t / 0.3)", 0]}}]}


def simulate(options, n_ranks, path):
    directory = os.path.join(options.out, f"{options.cells}_{n_ranks}")
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


def row(options, n_ranks, path):
    directory, ones = simulate(options, n_ranks, path)
    with open(os.path.join(directory, "steps.csv"), encoding="utf-8") as file:
        steps = list(csv.DictReader(file))
    with open(os.path.join(directory, "log.txt"), encoding="utf-8") as file:
        sent = re.findall(r"exchanges between ranks, ([\d.]+) MB sent", file.read())
    memory = [int(one[0]) / 1e3 for one in ones]
    n_node = (options.cells + 1) ** 3
    return [n_node, n_ranks, f"{max(memory):.0f}", f"{1e3 * max(memory) / n_node:.2f}", f"{max(float(one[1]) for one in ones):.0f}",
            sum(int(step["newton"]) for step in steps), sum(int(step["linear_iterations"]) for step in steps),
            max(int(step["contacts"]) for step in steps), sent[-1] if sent else "-"]


def main():
    if sys.argv[1:2] == ["--one"]:
        return measure_one(sys.argv[2:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("noli")
    parser.add_argument("--cells", type=int, default=30, help="of an edge of the box")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--linear", default="petsc:ilu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: of the scene, as for noli run")
    parser.add_argument("--out", default="out/ranks")
    options = parser.parse_args()
    options.noli = os.path.abspath(options.noli)
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, f"box_{options.cells}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene(options.cells), file)
    print("| nodes | ranks | peak MB, largest rank | kB for a node | CPU s, largest | Newton iterations | linear iterations | contacts | MB sent by the first rank |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for n_ranks in options.ranks.split(","):
        print("| " + " | ".join(str(cell) for cell in row(options, int(n_ranks), path)) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
