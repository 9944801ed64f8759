#!/usr/bin/env python3
"""Runs on several ranks: scenes with all kinds of bodies, contact models, solvers and friction on 1 to 4 ranks, whose
histories are compared with those of a process alone, and audited; the same bits in two runs on as many ranks; resumed runs;
errors and killed ranks.

usage: test_ranks.py NOLI SOURCE_DIRECTORY [NAME ...]
Without names all that is quick; every_example and public_scenes take minutes and run where they are named (`make mpi-check`).
Exit status 77 (skipped) where the build has no MPI or there is no mpirun.
"""
import csv
import filecmp
import glob
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time

NOLI, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# scene, steps, settings; small ones and few steps: after many contacts two runs whose sums differ by rounding drift apart
SCENES = [("demo.json", 12), ("block_slide.json", 3), ("rods.json", 3), ("cloth.json", 2), ("suspension.json", 2),
          ("smooth_contact.json", 3), ("plane_strain.json", 3), ("sewn.json", 2), ("chain.json", 3), ("pressed_ball.json", 1),
          ("curved_ball.json", 2), ("stick_slip.json", 3), ("viscous_balls.json", 2), ("falling_blocks.json", 6),
          ("thin/reef_knot.json", 2, "bodies[0].rod.twist=1"), ("ball_bounce.json", 2), ("ball_in_box.json", 1), ("bent_bars.json", 1), ("fibres.json", 1)]
# what docs/howto/mpi.md says to run on several ranks, by the example that the tests run
KINDS = [("solids", "demo.json"), ("elements of higher order", "curved_ball.json"), ("shells", "cloth.json"),
         ("rods, points, contact offsets", "rods.json"), ("rods, `rod.twist` set to 1", "thin/reef_knot.json"), ("ties", "sewn.json"),
         ("springs", "suspension.json"), ("closed volumes", "ball_bounce.json"), ("plane strain", "plane_strain.json"),
         ("voxels, parts", "ball_in_box.json"), ("metals that yield", "bent_bars.json"), ("viscoelasticity", "viscous_balls.json"),
         ("fibres", "fibres.json")]
# a ball that slides over a block: in contact from the first step on, with more nodes than PETSc factors
PILE = {
    "time": {"step": 0.01, "duration": 1},
    "bodies": [
        {"name": "block", "mesh": {"box": {"size": [0.4, 0.2, 0.4], "cells": [6, 5, 6]}}, "translate": [0, 0.1004, 0],
         "material": {"young": 1e5, "poisson": 0.4, "density": 1000}},
        {"name": "ball", "mesh": {"sphere": {"radius": 0.1, "cells": 4}}, "translate": [0.02, 0.3012, 0.01],
         "material": {"young": 5e4, "poisson": 0.3, "density": 1000}, "velocity": [0.5, -0.5, 0]}],
    "half_spaces": [{"name": "floor"}],
    "friction": {"coefficient": 0.3},
    "contact": {"distance": 1e-3}}
# which stiffness of the ball lets it sink how far into the block: one step, derivatives with contact
DESIGN = {**PILE, "time": {"step": 0.01, "duration": 0.01}, "contact": {"distance": 1e-3, "stiffness": 1e6},
          "design": {"variables": [{"parameter": "young", "of": "ball", "lower": 1e4, "upper": 1e6, "logarithmic": True}],
                     "objective": [{"quantity": "position", "body": "ball", "component": "y", "at": 0.01, "target": 0.295}], "evaluations": 1}}
# values of the scene all of which run; each with the settings that it needs
VALUES = {"time.integrator": [], "contact.model": [], "contact.ccd": [], "friction.method": [], "friction.law": [], "solver.method": [],
          "solver.termination": ["solver.method=augmented_lagrangian"], "solver.linear": [],
          "solver.implicit_newton.linear": ["solver.method=implicit_newton"]}
# and what single values need: statics has no velocities, and bodies that are held
NEEDS = {"quasi_static": ["bodies.ball.velocity=[0, 0, 0]", 'prescribed=[{"body": "ball", "select": {"side": "+y", "depth": 0.06}, '
                          '"motion": {"velocity": [0.1, -0.1, 0]}}]']}
# linear solvers that end at a residual
ITERATIVE_SOLVERS = ["auto", "automatic", "pcg", "pcg_diagonal", "pcg_incomplete", "multigrid", "bicgstab", "matrix_free", "petsc:gamg",
                     "petsc:hypre", "petsc:ilu", "petsc:bicgstab"]
# public scenes whose first steps take seconds
PUBLIC = ["paperExamples/10_cubeStack", "paperExamples/10_tetTet", "paperExamples/7_masonryArch", "paperExamples/8_rollerBall",
          "paperExamples/4_rodsTwist", "paperExamples/11_erleben/*", "paperExamples/videoExamples/chain5",
          "paperExamples/21_scalability/mat40x40_twist", "otherExamples/typical/2matsFall", "otherExamples/coDimUnitTests/mat40x40_*",
          "otherExamples/friction/*", "otherExamples/tunnel", "otherExamples/ccd/*CO", "tutorialExamples/*", "tutorialExamples/BC/*"]
# of energies, relative to the largest of all: rounding, which Newton's method does not remove below its tolerance
TOLERANCE = 1e-6
ITERATIVE = 1e-3
# times what rounding does to a process alone, of which a few runs show the order of magnitude
SPREAD = 10
ENERGIES = ["kinetic", "elastic", "gravity", "contact_energy", "friction_energy"]

# s for a run; sanitizers take ten times as long and more
PATIENCE = int(os.environ.get("NOLI_RUN_TIMEOUT", "300"))

failures = []


def fail(text):
    failures.append(text)
    print("FAILED: " + text, flush=True)


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


def launch(n_ranks):
    return ["mpirun", "--oversubscribe", "-n", str(n_ranks)] if n_ranks > 0 else []


def run(n_ranks, *arguments, status=0, timeout=PATIENCE):
    """Runs noli on ranks, 0: without mpirun; returns standard error."""
    done = subprocess.run(launch(n_ranks) + [NOLI, *arguments], env=environment(), capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != status:
        fail(f"{n_ranks} ranks, {' '.join(arguments)}: exit status {done.returncode}, not {status}\n{done.stderr[-1500:]}")
    return done.stderr


def run_with(prefix, odd_rank, *arguments, timeout=PATIENCE):
    """Two ranks of noli, one of which is started by the words of `prefix`; returns status and standard error."""
    command = ["mpirun", "--oversubscribe"]
    for rank in range(2):
        command += [":"] * rank + ["-n", "1"] + (prefix if rank == odd_rank else []) + [NOLI, *arguments]
    try:
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "nothing ended"
    return done.returncode, done.stderr


def history(directory):
    with open(os.path.join(directory, "steps.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def largest_of(errors):
    """NaN if one of them is, which max may leave out."""
    return max(errors, key=lambda error: (math.isnan(error), error))


def difference(rows, wanted):
    """The largest one of energies, relative to the largest of all."""
    largest = max(abs(float(row[energy])) for row in wanted for energy in ENERGIES[:3])
    return largest_of(abs(float(a[energy]) - float(b[energy])) for a, b in zip(rows, wanted) for energy in ENERGIES) / largest


def compare(name, directory, reference, tolerance):
    rows, wanted = history(directory), history(reference)
    if len(rows) != len(wanted) or not wanted:
        fail(f"{name}: {len(rows)} steps, not {len(wanted)}")
        return
    worst = difference(rows, wanted)
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
    for number, (scene, steps, *settings) in enumerate(SCENES):
        rank_counts_agree(scene, scene, steps, (1, 2, 3, 4) if number == 0 else (2 + number % 3,),
                          *[word for setting in settings for word in ("--set", setting)])


def write_pile():
    with open("pile.json", "w", encoding="utf-8") as file:
        json.dump(PILE, file)
    return os.path.abspath("pile.json")


def schema_values(path):
    """The values that the schema of scenes allows at a path, such as solver.method."""
    with open(os.path.join(SOURCE, "docs", "scene.schema.json"), encoding="utf-8") as file:
        definitions = json.load(file)["$defs"]
    words = path.split(".")
    return definitions[words[-2]]["properties"][words[-1]]["enum"]


def variants_agree():
    """Every value of a choice that the schema knows, on 2 or 3 ranks; those of linear solvers compared with the default one."""
    scene, steps, number = write_pile(), 3, 0
    for path, needs in VALUES.items():
        linear = path.endswith(".linear")
        for value in schema_values(path):
            settings = [word for need in needs + NEEDS.get(value, []) for word in ("--set", need)]
            variant = settings + ["--set", f"{path}={value}"]
            if not linear or value == schema_values(path)[0]:
                simulate(0, scene, "alone", steps, "--threads", "1", *(settings if linear else variant))
            n_ranks = 2 + number % 2
            number += 1
            simulate(n_ranks, scene, "ranks", steps, *variant)
            compare(f"{path}={value} on {n_ranks} ranks", "ranks", "alone",
                    ITERATIVE if value in ITERATIVE_SOLVERS else TOLERANCE)


def documents_tell():
    """The page about ranks names every value and kind that these tests run."""
    with open(os.path.join(SOURCE, "docs", "howto", "mpi.md"), encoding="utf-8") as file:
        page = file.read()
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in page.splitlines() if line.startswith("| ")]
    for path in VALUES:
        if [f"`{path}`", ", ".join(f"`{value}`" for value in schema_values(path))] not in rows:
            fail(f"docs/howto/mpi.md: no row of {path} with its values")
    for kind, scene in KINDS:
        if [kind, f"`examples/{scene}`"] not in rows:
            fail(f"docs/howto/mpi.md: no row of {kind}, {scene}")
        if not any(scene == tested[0] for tested in SCENES):
            fail(f"{scene} is not tested")


def what_rounding_does(name, scene, steps, *options):
    """How far a process alone is from itself when its time step differs in the last bits: what it makes of rounding."""
    wanted, farthest = history("alone"), 0.0
    for k in range(1, 7):
        step = float(wanted[0]["time"]) * (1 + 2 * k * sys.float_info.epsilon)
        simulate(0, scene, "nearby", steps, "--threads", "1", "--set", f"time.step={step!r}", *options)
        farthest = largest_of([farthest, difference(history("nearby"), wanted)])
    print(f"{name}: rounding of the time step makes a difference of {farthest:.2g} in a process alone", flush=True)
    return farthest


def rank_counts_agree(name, scene, steps, counts, *options):
    """A scene on several numbers of ranks: histories and audits are those of a process alone. A few scenes pass an unstable
    equilibrium, or a tie of contacts, where rounding decides; ranks may differ from a process there as it does from itself."""
    simulate(0, scene, "alone", steps, "--threads", "1", *options)
    tolerance = TOLERANCE
    for n_ranks in counts:
        simulate(n_ranks, scene, "ranks", steps, *options)
        if n_ranks > 1 and tolerance == TOLERANCE and not difference(history("ranks"), history("alone")) <= TOLERANCE:
            tolerance = max(TOLERANCE, SPREAD * what_rounding_does(name, scene, steps, *options))
        compare(f"{name} on {n_ranks} ranks", "ranks", "alone", 0.0 if n_ranks == 1 else tolerance)
        if audit("ranks") != audit("alone"):
            fail(f"{name} on {n_ranks} ranks: the audit says something else")


def every_example():
    """All examples on 1 to 4 ranks, a step each."""
    root = os.path.join(SOURCE, "examples")
    for path in sorted(glob.glob(os.path.join(root, "**", "*.json"), recursive=True)):
        rank_counts_agree(os.path.relpath(path, root), path, 1, (1, 2, 3, 4))


def public_scenes():
    """The first two steps of public scenes on two ranks, with linear systems solved closely: solvers of PETSc stand in for others in
    large ones, and leave another residual."""
    root = os.path.join(os.environ.get("NOLI_DATA", ""), "ipc", "input")
    scenes = [path for name in PUBLIC for path in sorted(glob.glob(os.path.join(root, name + ".txt")))]
    if not scenes:
        print("SKIPPED: the public scenes are not there (set NOLI_DATA)")
    for path in scenes:
        rank_counts_agree(os.path.relpath(path, root), path, 2, (2,), "--set", "solver.linear_tolerance=1e-10")


def bits_repeat():
    for solver in ("auto", "petsc:gamg", "petsc:ilu"):
        for n_ranks in (2, 3):
            for name in ("first", "second"):
                simulate(n_ranks, "demo.json", name, 15, "--set", f"solver.linear={solver}")
            same_bits(f"{solver} on {n_ranks} ranks", "first", "second")


def continued(n_ranks, directory, name, wanted, tolerance):
    """Goes on from the checkpoint of a run on other ranks, 0: as a process alone."""
    shutil.rmtree("continued", ignore_errors=True)
    shutil.copytree(directory, "continued")
    run(n_ranks, "resume", "continued", "-q", "--steps", "2", "--threads", "1")
    if tolerance is None:
        same_bits(name, wanted, "continued")
    else:
        compare(name, "continued", wanted, tolerance)


def pairs_agree():
    """Friction with a direction, and adhesion with its friction, where contacts are divided among ranks."""
    scene, pair = os.path.abspath("pair.json"), {"a": "ball", "b": "block", "friction": 0.1, "friction_across": 0.4, "direction": [1, 0, 0.5]}
    for name, more in (("direction", {}), ("adhesion", {"adhesion": 0.5, "adhesion_range": 2e-3})):
        with open(scene, "w", encoding="utf-8") as file:
            json.dump({**PILE, "pairs": [{**pair, **more}]}, file)
        simulate(0, scene, "alone", 6, "--threads", "1")
        if more and not min(float(row["adhesion_energy"]) for row in history("alone")) < 0:
            fail("nothing adheres")
        for n_ranks in (2, 3):
            simulate(n_ranks, scene, "several", 6, "--threads", "1")
            compare(f"{name} on {n_ranks} ranks", "several", "alone", TOLERANCE)


def rigid_agree():
    """Rigid bodies, joints of shared points and joints with constraints, on a soft block; checkpoints go on on other ranks."""
    def link(name, place, **more):
        return {"name": name, "mesh": {"box": {"size": [0.1, 0.03, 0.03]}}, "rigid": True, "material": {"density": 1000}, "translate": place,
                **more}
    scene = os.path.abspath("linkage.json")
    bodies = [{**PILE["bodies"][1], "rigid": True}, link("arm", [0.1, 0.35, 0]), link("hand", [0.2, 0.35, 0]), link("sledge", [0.1, 0.42, 0]),
              link("bob", [-0.1, 0.45, 0])]
    joints = [{"type": "hinge", "a": "arm", "b": "ball", "at": [0.05, 0.35, 0]}, {"type": "ball", "a": "hand", "b": "arm", "at": [0.15, 0.35, 0]},
              {"type": "slider", "a": "sledge", "b": "arm", "at": [0.1, 0.42, 0], "axis": [1, 0, 0]},
              {"type": "distance", "a": "bob", "b": "ball", "at": [-0.05, 0.45, 0], "b_at": [0, 0.35, 0]}]
    with open(scene, "w", encoding="utf-8") as file:
        json.dump({**PILE, "bodies": [PILE["bodies"][0], *bodies], "joints": joints}, file)
    simulate(0, scene, "alone", 6, "--threads", "1")
    simulate(2, scene, "part", 4, "--threads", "1")
    if not int(history("alone")[-1]["contacts"]) > 0:
        fail("nothing touches")
    for n_ranks in (2, 3):
        simulate(n_ranks, scene, "several", 6, "--threads", "1")
        compare(f"a linkage on {n_ranks} ranks", "several", "alone", TOLERANCE)
    continued(0, "part", "a linkage from 2 to 0 ranks", "alone", TOLERANCE)


def runs_resume():
    """Checkpoints of 3, 4 and 1 ranks and of a process alone go on on others; on as many as before with the same bits."""
    scene = write_pile()
    for n_ranks, others in ((3, (3, 2, 0)), (4, (2,)), (1, (3,)), (0, (0, 1, 2))):
        simulate(n_ranks, scene, "whole", 5, "--threads", "1")
        simulate(n_ranks, scene, "part", 3, "--threads", "1")
        for other in others:
            # a process alone has the bits of one rank
            same = max(n_ranks, 1) == max(other, 1)
            continued(other, "part", f"from {n_ranks} to {other} ranks", "whole", None if same else TOLERANCE)
    # elastic slips are a part of checkpoints
    sticks = ("--threads", "1", "--set", "friction.law=stick")
    for n_ranks, other in ((2, 0), (0, 2)):
        simulate(n_ranks, scene, "whole", 5, *sticks)
        simulate(n_ranks, scene, "part", 3, *sticks)
        if not any(int(row["contacts_held"]) + int(row["contacts_sliding"]) > 0 for row in history("part")):
            fail("no contacts stick in the run that is resumed")
        continued(other, "part", f"with slips from {n_ranks} to {other} ranks", "whole", TOLERANCE)


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


def rows_of(path):
    """Objectives and variables of a search."""
    with open(path, encoding="utf-8") as file:
        return [[float(row[column]) for column in list(row)[7:]] for row in csv.DictReader(file)]


def searches_agree():
    """A search takes the same way on one and two ranks, and goes on on two where one has begun it."""
    with open("design.json", "w", encoding="utf-8") as file:
        json.dump(DESIGN, file)
    more = ("--set", "design.evaluations=2")
    for directory in ("search_alone", "search"):
        shutil.rmtree(directory, ignore_errors=True)
    run(0, "design", "design.json", "-o", "search_alone", "--threads", "1", *more)
    run(0, "design", "design.json", "-o", "search", "--threads", "1")
    run(2, "design", "design.json", "-o", "search", "--resume", *more)
    with open("in_the_way", "w", encoding="utf-8") as file:
        file.write("a file")
    words = run(2, "design", "design.json", "-o", "in_the_way/inside", status=4)
    if words.count("noli: error") != 1:
        fail(f"no directory: not one message\n{words}")
    alone, ranks = rows_of("search_alone/history.csv"), rows_of("search/history.csv")
    if len(alone) != 2 or len(ranks) != 2:
        fail(f"searches: {len(alone)} and {len(ranks)} runs, not 2")
    for a, b in zip(alone, ranks):
        worst = largest_of(abs(x - y) / max(abs(x), 1e-300) for x, y in zip(a, b))
        print(f"search: {a}, on ranks off by {worst:.2g}", flush=True)
        if not worst <= TOLERANCE:
            fail(f"a search on two ranks: off by {worst:.3g}")
    if sorted(os.listdir("search")) != sorted(os.listdir("search_alone")):
        fail(f"searches write {os.listdir('search')}")


def frames_come_in_parts():
    """Each rank writes its part of a frame; the frames are those of one file, also after a run has gone on on other ranks."""
    scene, parts = write_pile(), ("--set", "output.format=pvtu")
    simulate(3, scene, "one_file", 4)
    simulate(3, scene, "parts", 2, *parts)
    names = os.listdir("parts")
    if sorted(name for name in names if name.startswith("frame_000002")) != ["frame_000002.pvtu"] + [
            f"frame_000002_{k:04d}.vtu" for k in range(3)]:
        fail(f"frames in parts: {sorted(names)}")
    run(3, "resume", "parts", "-q", "--steps", "2")
    run(0, "audit", "parts")
    for directory in ("one_file", "parts"):
        os.makedirs(directory + "_pc2", exist_ok=True)
        run(0, "convert", directory, directory + "_pc2/x.pc2")
        run(0, "view", directory)
    compare_trees("frames in parts", "one_file_pc2", "parts_pc2")
    run(2, "resume", "parts", "-q", "--steps", "1")
    run(0, "audit", "parts")
    if len([name for name in os.listdir("parts") if name.startswith("frame_000005_")]) != 2:
        fail("frames in parts: not one of each rank")


def compare_trees(name, one, other):
    names = sorted(os.listdir(one))
    if not names or names != sorted(os.listdir(other)):
        fail(f"{name}: {names}, {sorted(os.listdir(other))}")
    for file in names:
        if not filecmp.cmp(os.path.join(one, file), os.path.join(other, file), shallow=False):
            fail(f"{name}: {file} differs")


def full_disks_end_all():
    """The rank that writes has no more room: exit status 4, and the checkpoint before goes on as if nothing had been."""
    scene = write_pile()
    for name, steps in (("whole", 4), ("full", 2)):
        simulate(2, scene, name, steps)
    blocks = os.path.getsize("full/checkpoint.h5") // 512
    status, words = run_with(["sh", "-c", f'ulimit -f {blocks // 2}; exec "$@"', "sh"], 0, "resume", "full", "-q", "--steps", "2")
    if status != 4 or words.count("cannot write") != 1 or "the last checkpoint is untouched" not in words:
        fail(f"a full disk: exit status {status}, not 4\n{words}")
    run(2, "resume", "full", "-q", "--steps", "2")
    same_bits("resumed after a full disk", "whole", "full")


def refused_memory_ends_all():
    """A request for memory is refused on one rank, to the library or to PETSc, now here and now there: all ranks end, with one
    message of why, and what is left of the run goes on."""
    library = os.environ.get("NOLI_REFUSE_MEMORY")
    if library is None:
        print("SKIPPED: memory cannot be refused to this build")
        return
    scene, number = write_pile(), 0
    arguments = ["run", scene, "-o", "poor", "-q", "--force", "--steps", "2", "--set", "output.checkpoint_steps=1"]
    for meets, solver, n_tries in (("noli", "auto", 8), ("libpetsc", "petsc:gamg", 6), ("libpetsc", "petsc:ilu", 4)):
        def refuse(rank, k):
            shutil.rmtree("poor", ignore_errors=True)
            if os.path.exists("refused"):
                os.remove("refused")
            return run_with(["env", f"LD_PRELOAD={library}", f"NOLI_REFUSE={k}", f"NOLI_REFUSE_MEETS={meets}",
                             f"NOLI_MEMORY_LOG={os.path.abspath('refused')}"], rank, *arguments, "--set", f"solver.linear={solver}")
        status, words = refuse(1, 0)
        if status != 0:
            fail(f"{meets}, {solver}: exit status {status} with all the memory\n{words}")
            continue
        with open("refused", encoding="utf-8") as file:
            n_requests = int(file.read().split()[0])
        n_ended = 0
        for k in range(n_tries):
            request, rank = 1 + (2 * k + 1) * n_requests // (2 * n_tries), number % 2
            number += 1
            status, words = refuse(rank, request)
            what = f"{meets}, {solver}: request {request} of {n_requests} refused on rank {rank}"
            print(f"{what}: exit status {status}", flush=True)
            n_ended += status != 0
            if status not in (0, 4) or (status == 4 and words.lower().count("memory") != 1):
                fail(f"{what}: exit status {status}\n{words}")
            elif status == 4 and os.path.exists("poor/checkpoint.h5"):
                run(2, "resume", "poor", "-q", "--steps", "1")
                run(0, "audit", "poor")
        if n_ended < n_tries // 2:
            fail(f"{meets}, {solver}: only {n_ended} of {n_tries} runs ended")


def children_of(process):
    """Ranks that mpirun has started."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def data_of(pid):
    """Bytes of data of a process now, in kB, as `ulimit -d` counts them; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return max([int(line.split()[1]) for line in file if line.startswith("VmData:")], default=0)
    except (OSError, ValueError):
        return 0


def data_seen(n_ranks, *arguments):
    """Runs noli on ranks; returns the largest number of kB of data that one of them was seen to have, which is less than its peak."""
    with open("seen.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(launch(n_ranks) + [NOLI, *arguments], env=environment(), stdout=log, stderr=log)
        most = 0
        while process.poll() is None:
            most = max([most] + [data_of(pid) for pid in children_of(process)])
            time.sleep(0.01)
    if process.returncode != 0:
        fail(f"{n_ranks} ranks, {' '.join(arguments)}: exit status {process.returncode}")
    return most


def run_limited(n_ranks, limit, *arguments):
    """Runs noli on ranks with at most so many kB of data each; returns exit status and standard error."""
    done = subprocess.run(launch(n_ranks) + ["sh", "-c", f'ulimit -d {limit}; exec "$@"', "sh", NOLI, *arguments], env=environment(),
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stderr


def two_ranks_have_room():
    """A squeezed box in as little memory for each rank as two need: they end with the same result as without a limit, and one rank
    says that there is no more."""
    if "NOLI_REFUSE_MEMORY" not in os.environ:
        print("SKIPPED: a sanitizer reserves more memory than any limit")
        return
    box = {**PILE, "contact": {"distance": 2e-4}, "solver": {"linear": "petsc:ilu", "tolerance": 2e-3}, "friction": {"coefficient": 0},
           "bodies": [{"name": "box", "mesh": {"box": {"size": [0.3, 0.3, 0.3], "cells": [16, 16, 16]}}, "translate": [0, 0.1501, 0],
                       "material": {"young": 5e4, "poisson": 0.4, "density": 1000}}]}
    with open("box.json", "w", encoding="utf-8") as file:
        json.dump(box, file)
    arguments = ("run", "box.json", "-q", "--force", "--steps", "1", "-o")
    run(1, *arguments, "room_1")
    seen = data_seen(2, *arguments, "room_2")
    limit, status = seen, 4
    while status == 4 and limit < 2 * seen:
        limit += seen // 16
        status, words = run_limited(2, limit, *arguments, "limited")
    print(f"two ranks were seen with {seen} kB of data, and have room in {limit} kB", flush=True)
    if status != 0:
        fail(f"two ranks with {limit} kB: exit status {status}\n{words}")
        return
    same_bits("two ranks with a limit of memory", "room_2", "limited")
    compare("two ranks with a limit of memory", "limited", "room_1", ITERATIVE)
    status, words = run_limited(1, limit, *arguments, "limited")
    if status != 4 or words.lower().count("memory") != 1:
        fail(f"one rank with {limit} kB: exit status {status}, not 4\n{words}")


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
         (documents_tell, examples_agree, variants_agree, bits_repeat, pairs_agree, rigid_agree, runs_resume, errors_end_once, searches_agree, frames_come_in_parts, full_disks_end_all,
          refused_memory_ends_all, two_ranks_have_room, killed_ranks_end_all)}
LONG = {test.__name__: test for test in (every_example, public_scenes)}


def main():
    version = subprocess.run([NOLI, "run", "--help"], capture_output=True, text=True, check=False)
    if version.returncode != 0 or shutil.which("mpirun") is None:
        return 77
    for name in sys.argv[3:] or TESTS:
        print(f"--- {name}", flush=True)
        {**TESTS, **LONG}[name]()
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
