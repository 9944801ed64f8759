#!/usr/bin/env python3
"""Runs on several ranks: scenes with all kinds of bodies, contact models, solvers and friction on 1 to 4 ranks, whose
histories are compared with those of a process alone, and audited; the same bits in two runs on as many ranks; resumed runs;
errors and killed ranks.

usage: test_ranks.py NOLI SOURCE_DIRECTORY [NAME ...]
Exit status 77 (skipped) where the build has no MPI or there is no mpirun.
"""
import csv
import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys
import time

NOLI, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# scene, steps; small ones and few steps: after many contacts two runs whose sums differ by rounding drift apart
SCENES = [("demo.json", 12), ("block_slide.json", 3), ("rods.json", 3), ("cloth.json", 2), ("suspension.json", 2),
          ("smooth_contact.json", 3), ("plane_strain.json", 3), ("sewn.json", 2), ("chain.json", 3), ("pressed_ball.json", 1),
          ("curved_ball.json", 2), ("stick_slip.json", 3), ("viscous_balls.json", 2), ("falling_blocks.json", 6)]
# variants of the first scene
VARIANTS = ["solver.method=augmented_lagrangian", "solver.method=implicit_newton", "contact.model=gcp",
            "friction.method=implicit", "time.integrator=bdf2", "solver.linear=petsc:gamg", "solver.linear=petsc:ilu",
            "solver.linear=petsc:hypre", "solver.linear=pcg", "solver.linear=petsc:mumps"]
# of energies, relative to the largest of all: rounding, which Newton's method does not remove below its tolerance
TOLERANCE = 1e-6
ITERATIVE = 1e-3
ENERGIES = ["kinetic", "elastic", "gravity", "contact_energy", "friction_energy"]

failures = []


def fail(text):
    failures.append(text)
    print("FAILED: " + text, flush=True)


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


def launch(n_ranks):
    return ["mpirun", "--oversubscribe", "-n", str(n_ranks)] if n_ranks > 0 else []


def run(n_ranks, *arguments, status=0, timeout=300):
    """Runs noli on ranks, 0: without mpirun; returns standard error."""
    done = subprocess.run(launch(n_ranks) + [NOLI, *arguments], env=environment(), capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != status:
        fail(f"{n_ranks} ranks, {' '.join(arguments)}: exit status {done.returncode}, not {status}\n{done.stderr[-1500:]}")
    return done.stderr


def history(directory):
    with open(os.path.join(directory, "steps.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def compare(name, directory, reference, tolerance):
    rows, wanted = history(directory), history(reference)
    if len(rows) != len(wanted):
        fail(f"{name}: {len(rows)} steps, not {len(wanted)}")
        return
    largest = max(abs(float(row[energy])) for row in wanted for energy in ENERGIES[:3])
    worst = max(abs(float(a[energy]) - float(b[energy])) for a, b in zip(rows, wanted) for energy in ENERGIES) / largest
    if not worst <= tolerance:
        fail(f"{name}: energies differ by {worst:.3g} of the largest")
    contacts = max(int(row["contacts"]) for row in wanted)
    print(f"{name}: {len(rows)} steps, up to {contacts} contacts, differs by {worst:.2g}", flush=True)


def audit(directory):
    """What the audit finds, without the name of the directory."""
    done = subprocess.run([NOLI, "audit", directory], capture_output=True, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith(directory)]


def simulate(n_ranks, scene, directory, steps, *options, **more):
    return run(n_ranks, "run", os.path.join(SOURCE, "examples", scene), "-o", directory, "--steps", str(steps), "--force", "-q",
               *options, **more)


def frames(directory):
    return sorted(name for name in os.listdir(directory) if name.startswith("frame_"))


def same_bits(name, one, other):
    for frame in frames(one):
        if not filecmp.cmp(os.path.join(one, frame), os.path.join(other, frame), shallow=False):
            fail(f"{name}: {frame} differs between two runs on as many ranks")
            return


def examples_agree():
    for number, (scene, steps) in enumerate(SCENES):
        simulate(0, scene, "alone", steps, "--threads", "1")
        for n_ranks in (1, 2, 3, 4) if number == 0 else (2 + number % 3,):
            simulate(n_ranks, scene, f"ranks_{n_ranks}", steps)
            compare(f"{scene} on {n_ranks} ranks", f"ranks_{n_ranks}", "alone", 0.0 if n_ranks == 1 else TOLERANCE)
            if audit(f"ranks_{n_ranks}") != audit("alone"):
                fail(f"{scene} on {n_ranks} ranks: the audit says something else")


def variants_agree():
    scene, steps = "demo.json", 11
    for number, variant in enumerate(VARIANTS):
        iterative = "linear" in variant
        simulate(0, scene, "alone", steps, "--threads", "1", *([] if iterative else ["--set", variant]))
        n_ranks = 2 + number % 2
        simulate(n_ranks, scene, "ranks", steps, "--set", variant)
        compare(f"{variant} on {n_ranks} ranks", "ranks", "alone", ITERATIVE if iterative else TOLERANCE)


def bits_repeat():
    for solver in ("auto", "petsc:gamg", "petsc:ilu"):
        for n_ranks in (2, 3):
            for name in ("first", "second"):
                simulate(n_ranks, "demo.json", name, 15, "--set", f"solver.linear={solver}")
            same_bits(f"{solver} on {n_ranks} ranks", "first", "second")


def runs_resume():
    """A checkpoint of three ranks goes on on two and on one; on as many ranks as before with the same bits."""
    simulate(3, "demo.json", "whole", 12)
    simulate(3, "demo.json", "part", 8)
    for name in ("on_two", "alone_again"):
        shutil.rmtree(name, ignore_errors=True)
        shutil.copytree("part", name)
    run(3, "resume", "part", "-q", "--steps", "4")
    same_bits("resumed run", "whole", "part")
    run(2, "resume", "on_two", "-q", "--steps", "4")
    compare("resumed on 2 ranks", "on_two", "whole", TOLERANCE)
    run(0, "resume", "alone_again", "-q", "--steps", "4")
    compare("resumed alone", "alone_again", "whole", TOLERANCE)


def errors_end_once():
    """One message, the usual exit status, and no rank that waits for others."""
    with open("bad.json", "w", encoding="utf-8") as file:
        json.dump({"name": "bad", "time": {"step": 0.01, "duration": 1}, "bodies": [{"name": "b", "mesh": {"box": {"size": [1, 1, 1]}}, "material": {"young": -1}}]},
                  file)
    words = run(3, "run", "bad.json", "-o", "bad", status=2)
    if words.count("noli: error") != 1 or "young" not in words:
        fail(f"bad scene: not one message\n{words}")
    words = run(2, "run", "none.json", "-o", "bad", status=4)
    if words.count("noli: error") != 1:
        fail(f"missing scene: not one message\n{words}")
    with open("file", "w", encoding="utf-8") as file:
        file.write("in the way")
    words = run(2, "run", os.path.join(SOURCE, "examples", "demo.json"), "-o", "file/inside", "--steps", "1", status=4)
    if words.count("noli: error") != 1:
        fail(f"no directory: not one message\n{words}")
    words = run(2, "info", "part", status=1)
    if words.count("noli: error") != 1 or "runs on one rank" not in words:
        fail(f"a command of one rank: not refused once\n{words}")


def children_of(process):
    """Ranks that mpirun has started."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def killed_ranks_end_all():
    """A rank that is killed ends all, and the run can be resumed from its checkpoint."""
    shutil.rmtree("killed", ignore_errors=True)
    process = subprocess.Popen(launch(3) + [NOLI, "run", os.path.join(SOURCE, "examples", "demo.json"), "-o", "killed", "-q",
                                            "--force", "--set", "output.checkpoint_steps=2"],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        time.sleep(0.1)
        if os.path.exists("killed/frame_000005.vtu"):
            break
    ranks = children_of(process)
    if len(ranks) != 3:
        fail(f"{len(ranks)} ranks run, not 3")
    os.kill(ranks[-1], signal.SIGKILL)
    try:
        if process.wait(timeout=60) == 0:
            fail("a killed rank: exit status 0")
    except subprocess.TimeoutExpired:
        fail("a killed rank: the others go on")
        process.kill()
    n_done = len(frames("killed"))
    run(2, "resume", "killed", "-q", "--steps", "3")
    if len(frames("killed")) < 5:
        fail(f"killed after {n_done} frames, resumed to {len(frames('killed'))}")
    run(0, "audit", "killed")


TESTS = {test.__name__: test for test in
         (examples_agree, variants_agree, bits_repeat, runs_resume, errors_end_once, killed_ranks_end_all)}


def main():
    version = subprocess.run([NOLI, "run", "--help"], capture_output=True, text=True, check=False)
    if version.returncode != 0 or shutil.which("mpirun") is None:
        return 77
    for name in sys.argv[3:] or TESTS:
        print(f"--- {name}", flush=True)
        TESTS[name]()
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
