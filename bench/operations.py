#!/usr/bin/env python3
"""Operations and bytes of the stages of a step, beside what the machine can do: a row of docs/evidence/benchmarks.md for each stage.

Floating-point operations are counted instruction by instruction, bytes by a simulated cache, both with callgrind; so they do not
depend on what else runs. Times are those of `noli_bench --profile`, limits those of `noli_bench_linear --limits`.

usage: operations.py BUILD --suite NAME --scene PART [--steps N] [--product GFLOPS] [--memory GBS]
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

# Stages: the functions that begin and end them, the kinds of work of `--profile`, and the stage inside them that is not theirs.
STAGES = [
    ("assembly", ["noli_assembler_linearize"], ["gradient", "Hessian"], None),
    ("broad phase", ["find"], ["broad phase"], None),
    ("collision detection, contact sets", ["filter_step", "noli_stage_find_contacts", "noli_stage_trial_contacts"], ["CCD", "contact set"],
     "broad phase"),
    ("energies", ["noli_stage_role_energy", "noli_stage_energy_change"], ["energy"], None),
]
CACHE = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"]
LINE = 64  # bytes


def operations(line):
    """Floating-point operations of a line of objdump."""
    found = re.match(r"v?(fn?m(?:add|sub)(?:sub|add)?\d*|add|sub|mul|div|sqrt|max|min|hadd|addsub)(sd|ss|pd|ps)\b", line)
    if not found:
        return 0
    kind, width = found.groups()
    register = 64 if "%zmm" in line else 32 if "%ymm" in line else 16
    lanes = {"sd": 1, "ss": 1, "pd": register // 8, "ps": register // 4}[width]
    return lanes * (2 if kind.startswith("f") else 1)


def operations_by_address(library):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        parts = line.split("\t", 1)
        if len(parts) == 2 and parts[0].rstrip().endswith(":"):
            n = operations(parts[1])
            if n:
                found[int(parts[0].strip()[:-1], 16)] = n
    return found


def count(command, functions, folder):
    """Sums of the events of callgrind inside `functions`, and the operations of the libraries."""
    path = os.path.join(folder, "callgrind")
    toggles = [f"--toggle-collect={name}" for name in functions]
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no", "--trace-children=yes",
                    *CACHE, *toggles, f"--callgrind-out-file={path}.%p", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    total, flops, tables = {}, 0, {}
    for name in os.listdir(folder):
        events, library, skip = [], "", False
        for line in open(os.path.join(folder, name)):
            if line.startswith("events:"):
                events = line.split()[1:]
            elif line.startswith("ob="):
                library = line[3:].strip()
                if library not in tables:
                    tables[library] = operations_by_address(library) if os.path.exists(library) else {}
            elif line.startswith("calls="):
                skip = True  # the next line has what the called function costs, which is counted there
            elif line.startswith("0x"):
                fields = line.split()
                if not skip:
                    costs = [int(value) for value in fields[2:]]
                    for event, cost in zip(events, costs):
                        total[event] = total.get(event, 0) + cost
                    flops += costs[0] * tables[library].get(int(fields[0], 16), 0) if costs else 0
                skip = False
        os.remove(os.path.join(folder, name))
    total["flops"] = flops
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--suite", default="paper")
    parser.add_argument("--scene", required=True)
    parser.add_argument("--steps", default="4")
    parser.add_argument("--product", type=float, help="GFlop/s of the dense product")
    parser.add_argument("--memory", type=float, help="GB/s of memory")
    arguments = parser.parse_args()
    bench = os.path.join(arguments.build, "noli_bench")
    scene = ["--suite", arguments.suite, "--scene", arguments.scene, "--steps", arguments.steps, "--threads", "1"]
    with tempfile.TemporaryDirectory() as folder:
        timed = os.path.join(folder, "timed.json")
        best = {}
        for _ in range(3):
            subprocess.run([bench, *scene, "--profile", "--json", timed], check=True, stdout=subprocess.DEVNULL)
            row = json.load(open(timed))["scenes"][0]
            for name, cost in row["work"].items():
                best[name] = min(best.get(name, 1e300), cost["seconds_cpu"])
        os.remove(timed)
        costs = {}
        for stage, functions, works, inside in STAGES:
            cost = count([bench, *scene], functions, folder)
            costs[stage] = cost
            if inside:
                cost = {event: max(0, cost[event] - costs[inside][event]) for event in cost}
            seconds = sum(best.get(work, 0.0) for work in works)
            if seconds <= 0.0:
                continue
            n = row["newton"]
            near = LINE * (cost["D1mr"] + cost["D1mw"])
            far = LINE * (cost["DLmr"] + cost["DLmw"])
            share = lambda rate, limit: f"{100 * rate / limit:.0f} %" if limit else "-"
            print(f"| {row['scene']} | {stage} | {1e3 * seconds / n:.3g} | {1e-6 * cost['Ir'] / n:.3g} | {1e-6 * cost['flops'] / n:.3g} | {1e-6 * near / n:.3g} | "
                  f"{1e-6 * far / n:.3g} | {1e-9 * cost['flops'] / seconds:.2f} | {share(1e-9 * cost['flops'] / seconds, arguments.product)} | "
                  f"{1e-9 * far / seconds:.2f} | {share(1e-9 * far / seconds, arguments.memory)} |", flush=True)


if __name__ == "__main__":
    main()
