#!/usr/bin/env python3
"""Runs random scenes and verifies every result: no wrong state, and a true reason if a run stops.

usage: torture.py --noli PROGRAM [--series NAME] [--scenes N] [--seed K] [--jobs J] [--cpu S] [--out DIR] [--docs FILE]
       torture.py --noli PROGRAM --replay SCENE|SEED        runs and verifies one scene, keeps its files in --out
       torture.py --noli PROGRAM --minimize SCENE|SEED      removes parts of a scene while it fails in the same way

Scenes come from scripts/random_scene.py, or with `--series thin` from scripts/random_thin_scene.py, seeds K to K + N - 1, one thread
each. A run is

  done      exit status 0, and no defect of the list below
  refused   exit status 2: a combination that the program rejects; or load steps in which nothing holds a body
  stopped   exit status 3: the solver could not finish; grouped by reason
  slow      not finished after --cpu seconds of CPU time
  wrong     another exit status or a signal, a finding of `noli audit`, missing or non-finite rows of steps.csv, unexplained gain
            of energy or momentum, a friction error without a warning, different bits after `noli resume`

Exit status: 0 no wrong run, 1 wrong usage, 3 a wrong run. --docs writes the tables as data/torture/results*.csv beside the page
FILE, with links between its lines `<!-- torture -->` and `<!-- end -->`. Needs only Python.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys

import tables
from random_scene import random_scene, reach, volume
from random_thin_scene import random_thin_scene

GAIN = 0.25     # maximum gain, relative to the energy at the start of a step or the run
FACTOR = 10     # maximum ratio of the energies of two solvers in driven scenes
FINER = 8       # shorter time steps of the reference
SLOW = -24      # SIGXCPU
# these may gain energy in contact: docs/background/integrators.md, docs/background/contact.md
MAY_GAIN = ("trapezoidal", "trapezoidal_decoupled", "implicit_surface")
# no contact; friction without a normal force
MAY_BE_INFINITE = ("min_distance", "friction_ratio")
SERIES = {"solids": random_scene, "thin": random_thin_scene}
REASONS = [
    ("nothing holds a body", r"nothing holds|without resistance|meets no resistance"),
    ("an audit found something", r"audit: \d+ defect"),
    ("stalled by the line search", r"(blocked|stalled) by the line search"),
    ("stalled by friction", r"(blocked|stalled) by the friction residual"),
    ("stalled by slow convergence", r"(blocked|stalled) by slow convergence"),
    ("stalled by contact", r"(blocked|stalled) by contact"),
    ("stalled by an element", r"(blocked|stalled) by .*(element|tetrahedron|triangle)"),
    ("no step past contact", r"CCD: no step"),
    ("linear solver did not converge", r"did not converge|not reduce|pcg"),
    ("matrix not positive definite", r"not positive definite|singular"),
    ("residual does not decrease", r"does not decrease"),
    ("line search failed", r"line search"),
    ("not within max_iterations", r"no end in|no convergence in"),
]


# ---- runs -----------------------------------------------------------------------------------------

def run(noli, cpu, *arguments):
    """Exit status (negative: a signal), stderr and stdout, seconds of CPU time."""
    command = ["sh", "-c", f'ulimit -S -t {cpu}; ulimit -c 0; exec "$0" "$@"', noli, *arguments]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True,
                               errors="replace")
    text = process.stdout.read()
    process.stdout.close()
    _, state, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    return process.returncode, text, usage.ru_utime + usage.ru_stime


def write(path, scene):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1)


def rows_of(folder):
    """The rows of steps.csv as numbers, without wall time."""
    path = os.path.join(folder, "steps.csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: float(value) for key, value in row.items() if key != "wall_s"} for row in csv.DictReader(file)]


def simulate(noli, cpu, scene, folder, *options):
    """Runs a scene in a fresh directory; its output and its rows."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
    write(folder + ".json", scene)
    status, text, seconds = run(noli, cpu, "run", folder + ".json", "-o", folder, "--threads", "1", "-q", *options)
    return status, text, seconds, rows_of(folder)


def reason_of(text, status):
    """The class of the message of a run that ends early, and the message without names and numbers."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = [line for line in lines if re.search(r"failed: |blocked by |error: ", line) and "last iteration" not in line
            and "the last good state" not in line] or lines[-1:] or [""]
    if status == SLOW:
        said = [line for line in lines if "stalled by" in line][-1:] or ["no stall was reported"]
    # for a split step, the reason of the last substep
    kinds = [class_of(line.split(" parts: ")[-1]) for line in said]
    message = re.sub(r'"[^"]*"', '"..."', re.sub(r"\S*\.json\S*", "FILE", " | ".join(said)))
    return "; ".join(dict.fromkeys(kinds)), re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", message)[:600]


def class_of(line):
    return next((name for name, pattern in REASONS if re.search(pattern, line)), line[:80].replace("|", "/"))


# ---- expectations ---------------------------------------------------------------------------------

def is_driven(scene):
    """Whether external work is done on the bodies."""
    moving = any("motion" in obstacle for obstacle in scene.get("obstacles", []))
    return moving or bool(scene.get("forces")) or any("hold" not in p["motion"] for p in scene.get("prescribed", []))


def mass_of(scene):
    """A lower bound of the mass of all bodies."""
    return sum(volume(body) * body["material"]["density"] for body in scene["bodies"])


def tolerance_of(scene):
    """Upper bound of the speed error at the solver's default tolerance."""
    size = math.sqrt(sum((max(b["translate"][k] + reach(b, [k == 0, k == 1, k == 2]) for b in scene["bodies"]) -
                          min(b["translate"][k] - reach(b, [k == 0, k == 1, k == 2]) for b in scene["bodies"])) ** 2
                         for k in range(3)))
    return 1e-2 * size


def energy_of(row):
    """Without contact, whose stiffness changes from step to step."""
    return row["kinetic"] + row["elastic"] + row["gravity"] + row["adhesion_energy"]


def at_start(noli, scene, folder):
    """The row of the start: that after a tiny step; nothing if bodies start within the contact distance."""
    start = json.loads(json.dumps(scene))
    start["time"].update(step=1e-6 * scene["time"]["step"], steps=1, integrator="backward_euler")
    start["solver"] = {"max_iterations": 20, "max_substeps": 1}
    start.pop("friction", None)
    start.pop("debug", None)
    status, _, _, rows = simulate(noli, 10, start, folder + "_start")
    return rows[0] if status == 0 and rows and rows[0]["contacts"] == 0 else None


def largest_gain(scene, start, rows):
    """Largest energy gain of all steps and of the run, relative to the previous energy; and the step."""
    largest, at = 0.0, 0
    speed, mass = tolerance_of(scene), mass_of(scene)
    pairs = list(zip(rows, rows[1:])) + ([(start, row) for row in rows] if start else [])
    for before, row in pairs:
        slack = mass * speed * (before["max_speed"] + speed) + 1e-12 * abs(row["gravity"])
        there = before["kinetic"] + before["elastic"] + abs(before["contact_energy"]) + abs(before["adhesion_energy"])
        given = abs(before["gravity"] - row["gravity"])
        # a barrier that becomes stiffer stores more
        stiffer = max(row["kappa"] / before["kappa"], 1.0) if before["kappa"] > 0.0 else 1.0
        gain = energy_of(row) - energy_of(before) - stiffer * before["contact_energy"]
        gain /= there + given + slack + 1e-300
        if gain > largest:
            largest, at = gain, int(row["step"])
    return largest, at


def judge_energy(noli, scene, folder, text, rows, found, result):
    """Unexplained energy gain; `result` keeps the largest gain, or the ratio of two solvers' energies."""
    time, method = scene["time"], scene["solver"]["method"]
    if not is_driven(scene):
        start = at_start(noli, scene, folder)
        gain, step = largest_gain(scene, start, rows)
        result["gain"] = gain
        may = time["integrator"] in MAY_GAIN or scene["contact"]["model"] in MAY_GAIN
        if gain > GAIN and not may:
            found.append(f"energy: step {step} gains {gain:.3g} times its initial energy")
    elif method != "projected_newton" and time["integrator"] not in MAY_GAIN and not is_cut_short(text):
        mine, its = peak(rows), reference_peak(noli, scene, folder, mass_of(scene) * tolerance_of(scene)**2, peak(rows))
        if its is not None:
            result["ratio"] = mine / its if its > 0 else 1.0
            if result["ratio"] > FACTOR:
                found.append(f"energy: {result['ratio']:.3g} times that of projected_newton")


def is_cut_short(text):
    """Whether contact has stopped prescribed motion, or friction is known to be wrong: energies then say little."""
    return "motion stopped" in text or "of the friction of" in text


def peak(rows):
    return max(row["elastic"] + row["kinetic"] for row in rows)


def reference_peak(noli, scene, folder, slack, mine):
    """The largest energy that `projected_newton` gives, with these time steps and, if it is much smaller, with shorter
    ones: impacts that a step does not resolve lose energy. None if there is none, or contact has stopped its motion."""
    other = json.loads(json.dumps(scene))
    other["solver"] = {"method": "projected_newton"}
    other["contact"]["model"] = "ipc"
    other.get("friction", {}).pop("method", None)
    other.pop("debug", None)
    largest = None
    for cpu, parts in ((10, 1), (40, FINER)):
        other["time"].update(step=scene["time"]["step"] / parts, steps=scene["time"]["steps"] * parts)
        status, text, _, rows = simulate(noli, cpu, other, folder + "_reference")
        if status != 0 or is_cut_short(text):
            return None
        largest = max(peak(rows) + slack, largest or 0.0)
        if mine <= FACTOR * largest:
            break
    return largest


def judge_momentum(scene, rows, found):
    """Without external forces, momentum is conserved."""
    outside = [scene.get(key) for key in ("half_spaces", "obstacles", "prescribed", "forces")]
    damped = any("mass_damping" in body["material"] for body in scene["bodies"])
    if any(outside) or damped or any(scene.get("gravity", [0, 9.8, 0])):
        return
    slack = mass_of(scene) * (tolerance_of(scene) + 1e-6 * max(row["max_speed"] for row in rows))
    for before, row in zip(rows, rows[1:]):
        change = math.dist(*([r["momentum_" + k] for k in "xyz"] for r in (before, row)))
        if change > slack:
            found.append(f"momentum: step {int(row['step'])} changes it by {change:.3g}, {slack:.3g} are allowed")
            return


def judge_audit(noli, scene, folder, found):
    status, text, _ = run(noli, 60, "audit", folder, "--json", "--threads", "1")
    try:
        verdict = json.loads(text[text.index("{"):])
    except ValueError:
        found.append(f"audit: status {status}: {text.strip()[-200:]}")
        return
    # implicit surfaces may overlap, docs/background/contact.md
    allowed = ("intersection", "half_space") if scene["contact"]["model"] == "implicit_surface" else ()
    kinds = collections.Counter(one["kind"] for one in verdict["findings"] if one["kind"] not in allowed)
    if kinds:
        first = next(one for one in verdict["findings"] if one["kind"] not in allowed)
        found.append(f"audit: {dict(kinds)}: {first['message'][:200]}")


def judge_resume(noli, scene, folder, rows, found):
    """A run in two parts has the same rows."""
    steps = scene["time"]["steps"]
    half = steps // 2
    parts = folder + "_parts"
    status, text, _, _ = simulate(noli, 60, scene, parts, "--steps", str(half))
    if status == 0:
        status, text, _ = run(noli, 60, "resume", parts, "--threads", "1", "-q", "--steps", str(steps - half))
    if status != 0 or rows_of(parts) != rows:
        differ = next((int(a["step"]) for a, b in zip(rows, rows_of(parts)) if a != b), 0)
        found.append(f"resume: status {status}, different bits from step {differ} on: {text.strip()[-150:]}")


def judge(noli, scene, folder, text, rows, thorough, result):
    """All defects of a run that ended well."""
    found = []
    if [int(row["step"]) for row in rows] != list(range(1, scene["time"]["steps"] + 1)):
        found.append(f"steps.csv: {len(rows)} rows of {scene['time']['steps']}")
    bad = [(int(row["step"]), key) for row in rows for key, value in row.items()
           if math.isnan(value) or (math.isinf(value) and key not in MAY_BE_INFINITE)]
    if bad or not rows:
        return found + [f"not finite: {bad[:3]}"]
    judge_audit(noli, scene, folder, found)
    judge_energy(noli, scene, folder, text, rows, found, result)
    judge_momentum(scene, rows, found)
    if "iterations" not in scene.get("friction", {}) and max(row["friction_error"] for row in rows) > 0.05 \
            and "of the friction of" not in text:
        found.append("friction: wrong by more than 5 % without a warning")
    if thorough:
        judge_resume(noli, scene, folder, rows, found)
    return found


def outcome(options, scene, folder, thorough):
    """Runs and verifies one scene."""
    status, text, seconds, rows = simulate(options.noli, options.cpu, scene, folder)
    result = {"name": scene["name"], "method": scene["solver"]["method"], "model": scene["contact"]["model"],
              "integrator": scene["time"]["integrator"], "status": status, "cpu": round(seconds, 2)}
    kinds = {0: "done", 2: "refused", 3: "stopped", SLOW: "slow"}
    result["kind"] = kinds.get(status, "wrong")
    result["contacts"] = max((int(row["contacts"]) for row in rows), default=0)
    result["newton"] = sum(int(row["newton"]) for row in rows)
    if status == 0:
        result["found"] = judge(options.noli, scene, folder, text, rows, thorough, result)
        if result["found"]:
            result["kind"] = "wrong"
    else:
        result["reason"], result["message"] = reason_of(text, status)
        # load steps of such a body have no solution
        if status == 3 and "nothing holds a body" in result["reason"]:
            result["kind"] = "refused"
        # audits within a run that fail are wrong states, not stops
        if status == 3 and "an audit found something" in result["reason"]:
            result["kind"], result["found"] = "wrong", ["audit: " + result["message"]]
        elif result["kind"] == "wrong":
            result["found"] = [f"status {status}: {result['message']}"]
    return result


def remove(folder):
    for end in ("", "_start", "_reference", "_parts"):
        shutil.rmtree(folder + end, ignore_errors=True)
        if os.path.exists(folder + end + ".json") and end:
            os.remove(folder + end + ".json")


# ---- many scenes, one scene, and a smaller one ----------------------------------------------------

def table_of(results):
    """Markdown: counts by solver, model and integrator, and the reasons of stops."""
    kinds = ["done", "refused", "stopped", "slow", "wrong"]
    lines = ["| | scenes | " + " | ".join(kinds) + " |", "|---|" + "---|" * (len(kinds) + 1)]

    def add(name, part):
        counts = collections.Counter(r["kind"] for r in part)
        lines.append(f"| {name} | {len(part)} | " + " | ".join(str(counts[k]) for k in kinds) + " |")
    add("all", results)
    for key in ("method", "model", "integrator"):
        for value in sorted({r[key] for r in results}):
            add(f"`{value}`", [r for r in results if r[key] == value])
    causes = collections.Counter((r["kind"], r["method"], r.get("reason") or r["found"][0].split(":")[0])
                                 for r in results if r["kind"] in ("stopped", "slow", "wrong"))
    if causes:
        lines += ["", "| outcome | solver | reason | scenes |", "|---|---|---|---|"]
        lines += [f"| {kind} | `{method}` | {reason} | {n} |" for (kind, method, reason), n in causes.most_common()]
    return "\n".join(lines) + "\n"


def fill(path, markdown):
    """Writes the tables beside a page, and links to them into it."""
    lines, n_tables = [], 0
    for before, table in tables.split(markdown):
        lines += [" ".join(line for line in before if line), ""] if any(before) else []
        if table:
            name = f"data/torture/results{f'_{n_tables + 1}' if n_tables else ''}.csv"
            n_tables += 1
            with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8") as file:
                file.write(tables.csv_of(table))
            columns = ", ".join(filter(None, tables.cells_of(table[0])))
            lines += [tables.link(columns.capitalize(), len(table) - 2, name), ""]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    block = "\n" + "\n".join(lines)
    text, n = re.subn(r"(<!-- torture -->\n).*?(<!-- end -->\n)", lambda m: m[1] + block + m[2], text, flags=re.S)
    if n != 1:
        sys.exit(f"torture.py: {path} has {n} places for the tables, not 1")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def many(options):
    """Runs scenes, keeps those that did not end well, and summarizes."""
    os.makedirs(options.out, exist_ok=True)
    results = []

    def one(seed):
        folder = os.path.join(options.out, f"t{seed}")
        result = outcome(options, SERIES[options.series](seed), folder, seed % 10 == 0)
        remove(folder)
        if result["kind"] in ("done", "refused"):
            os.remove(folder + ".json")
        return dict(result, seed=seed)

    seeds = range(options.seed, options.seed + options.scenes)
    path = os.path.join(options.out, f"results_{options.seed}.jsonl")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(path, "w", encoding="utf-8") as file:
        for result in pool.map(one, seeds):
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            if result["kind"] not in ("done", "refused"):
                print(result["seed"], result["kind"], result.get("found") or result["message"][:200], flush=True)
    header = f"Seeds {seeds[0]} to {seeds[-1]}, at most {options.cpu} s of CPU time each.\n\n"
    print("\n" + header + table_of(results))
    if options.docs:
        fill(options.docs, "\n" + header + table_of(results) + "\n")
    return 3 if any(r["kind"] == "wrong" for r in results) else 0


def scene_of(options, name):
    """The scene of a seed or of a file, with the keys that the checks need."""
    if name.isdigit():
        return SERIES[options.series](int(name))
    with open(name, encoding="utf-8") as file:
        scene = json.load(file)
    for key in ("contact", "solver"):
        scene.setdefault(key, {})
    scene["contact"].setdefault("model", "ipc")
    scene["solver"].setdefault("method", "projected_newton")
    scene["time"].setdefault("integrator", "backward_euler")
    scene.setdefault("name", "scene")
    return scene


def signature(result):
    """Properties that minimization preserves."""
    return result["kind"], result.get("reason") or (result.get("found") or [""])[0].split(":")[0]


def smaller(value):
    """Copies of a scene, each without one entry of a list or one key that has a default, or with fewer steps."""
    for path in (["bodies"], ["obstacles"], ["half_spaces"], ["prescribed"], ["forces"], ["springs"]):
        for i in range(len(value.get(path[0], []))):
            less = json.loads(json.dumps(value))
            gone = less[path[0]].pop(i)
            less["prescribed"] = [p for p in less.get("prescribed", []) if p["body"] != gone.get("name")]
            if less["bodies"]:
                yield less
    for key in ("friction", "debug", "gravity", "contact.distance", "contact.ccd", "contact.model", "solver.linear",
                "solver.termination", "solver.implicit_newton", "time.integrator"):
        less = json.loads(json.dumps(value))
        part, _, last = key.rpartition(".")
        if (less[part] if part else less).pop(last, None) not in (None, "ipc", "backward_euler"):
            less["contact"].setdefault("model", "ipc")
            less["time"].setdefault("integrator", "backward_euler")
            yield less
    for i, body in enumerate(value["bodies"]):
        for key in ("angular_velocity", "velocity", "rotate", "order", "volume"):
            if any(body.get(key, [0])) if isinstance(body.get(key), list) else key in body:
                less = json.loads(json.dumps(value))
                del less["bodies"][i][key]
                yield less
        for key in ("damping", "mass_damping", "law"):
            if body["material"].get(key, "neo_hookean") != "neo_hookean":
                less = json.loads(json.dumps(value))
                del less["bodies"][i]["material"][key]
                yield less
    if value["time"]["steps"] > 1:
        less = json.loads(json.dumps(value))
        less["time"]["steps"] = (value["time"]["steps"] + 1) // 2
        yield less


def minimize(options):
    """Prints the smallest scene found that fails as the given one does."""
    scene = scene_of(options, options.minimize)
    folder = os.path.join(options.out, "small")
    wanted = signature(outcome(options, scene, folder, False))
    again = wanted[0] not in ("done", "refused")
    while again:
        again = False
        for less in smaller(scene):
            if signature(outcome(options, less, folder, False)) == wanted:
                scene, again = less, True
                break
    remove(folder)
    write(folder + ".json", scene)
    print(wanted, folder + ".json")
    return 0


def replay(options):
    folder = os.path.join(options.out, "replay")
    result = outcome(options, scene_of(options, options.replay), folder, True)
    print(json.dumps(result, indent=1))
    return 3 if result["kind"] == "wrong" else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noli", required=True)
    parser.add_argument("--series", choices=SERIES, default="solids")
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cpu", type=int, default=20)
    parser.add_argument("--out", default="out/torture")
    parser.add_argument("--docs")
    parser.add_argument("--replay")
    parser.add_argument("--minimize", "--minimise")
    options = parser.parse_args()
    if options.replay:
        return replay(options)
    return minimize(options) if options.minimize else many(options)


if __name__ == "__main__":
    sys.exit(main())
