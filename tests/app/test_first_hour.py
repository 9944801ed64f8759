"""The scenes of docs/first_hour.md from C, Python and JSON: each shows its figure, and the three are the same.

usage: test_first_hour.py NOLI SOURCE LIBRARY_DIRECTORY C_COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile

NOLI, SOURCE, LIBRARY, COMPILER = sys.argv[1:]
os.environ["NOLI_LIBRARY"] = os.environ["LD_LIBRARY_PATH"] = LIBRARY
os.environ["PYTHONPATH"] = os.path.join(SOURCE, "python")
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.path[:0] = [os.path.join(SOURCE, folder) for folder in ("python", "scripts", "examples/python")]
sys.dont_write_bytecode = True

try:
    import numpy as np

    import noli
except ImportError as error:
    print(f"{error}: install python3-cffi and python3-numpy", file=sys.stderr)
    sys.exit(77)

import band_on_cone
import frames


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert not done.stderr, (words, done.stderr)
    return done.stdout


def near(value, expected, tolerance, what):
    assert abs(value - expected) <= tolerance, f"{what}: {value}, expected {expected} within {tolerance}"
    print(f"{what}: {value:.6g}, expected {expected:.6g}")


def from_c(name):
    """What the program of examples/c prints."""
    run(COMPILER, "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(SOURCE, "include"),
        os.path.join(SOURCE, "examples", "c", name + ".c"), "-o", name, "-L", LIBRARY, "-lnoli", "-lm")
    return run(os.path.join(".", name))


def from_python(name):
    return run(sys.executable, os.path.join(SOURCE, "examples", "python", name + ".py"))


def from_json(name):
    """The finished run of the scene."""
    run(NOLI, "run", os.path.join(SOURCE, "examples", name + ".json"), "-o", os.path.join("out", name), "--quiet")
    made = noli.Run(os.path.join("out", name))
    assert made.audit().found == 0
    return made


def on_the_page(printed):
    """The blocks of the page without a language show lines of the programs, but other bits where libraries differ."""
    with open(os.path.join(SOURCE, "docs", "first_hour.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", file.read(), re.S | re.M)
    lines = [line for language, block in blocks if not language for line in block.splitlines()
             if line != "..." and not line.startswith("state")]
    assert len(lines) > 10
    missing = [line for line in lines if line not in printed]
    assert not missing, missing


def numbers(pattern, text):
    """The numbers of all lines that match."""
    found = [[float(number) for number in match.groups()] for match in re.finditer(pattern, text)]
    assert found, (pattern, text)
    return np.array(found)


def state(text):
    return int(re.search(r"^state ([0-9a-f]{16})$", text, re.M)[1], 16)


def check_grip(weight, held, grip, language):
    near(held, weight, 1e-3 * weight, f"{language}: friction holds the weight, N")
    assert grip > weight / (2 * 0.6), (language, grip, weight)
    near(grip, 3.2, 0.05, f"{language}: each finger presses, N")


def gripper():
    """Friction of two fingers holds the ball: each presses with weight / (2 friction) or more."""
    printed = from_c("gripper")
    assert printed == from_python("gripper")
    (weight, held, grip, enough), = numbers(
        r"weight (\S+) N  held by friction (\S+) N  grip (\S+) N, at least (\S+) N", printed)
    near(enough, weight / 1.2, 1e-3, "weight / (2 friction), N")
    check_grip(weight, held, grip, "C and Python")
    # with 0.05 the fingers cannot hold it; with more they can
    heights = numbers(r"friction \S+: the ball is at (\S+) mm", printed)[:, 0]
    assert heights[0] < 70 and (heights[1:] > 75).all(), heights

    made = from_json("gripper")
    ball = made.simulation().body_state("ball")
    near(1e3 * ball.centre[1], heights[-1], 0.2, "JSON: height, mm")
    last = made.forces[made.forces["step"] == made.forces["step"].max()]
    assert sorted(last["b"]) == ["left", "right"], last["b"]
    check_grip(9.80665 * ball.mass, last["friction_y"].sum(), abs(last["normal_x"]).min(), "JSON")
    return printed


def band():
    """The forces of the cone stretch the band as far as the law of its rubber says."""
    printed = from_c("band_on_cone")
    assert printed == from_python("band_on_cone")
    (stretch, pull, theory), = numbers(r"stretched by (\S+), the band pulls with (\S+) N, in theory (\S+) N", printed)
    assert stretch > 1.2, stretch
    near(pull, theory, 0.01 * theory, "C and Python: tension, N")

    made = from_json("band_on_cone")
    sim = made.simulation()
    assert sim.state_hash == state(printed)
    frame = frames.read_frame(made.frames[-1].path)
    rows = sim.vertices("band")
    x = frame.points[rows]
    force = (frame.point_data["contact_force"] + frame.point_data["friction_force"])[rows]
    outward = ((force[:, 0] * x[:, 0] + force[:, 2] * x[:, 2]) / np.hypot(x[:, 0], x[:, 2])).sum()
    near(outward / (2 * np.pi), band_on_cone.tension(sim)[2], 0.01 * theory, "JSON: tension, N")
    return printed


def blocks():
    """Blocks slide with g (sin - friction cos), or stay."""
    printed = from_c("twenty_bodies")
    assert printed == from_python("twenty_bodies")
    table = numbers(r"friction (\S+): (\S+) m/s\^2, rigid (\S+) m/s\^2", printed)
    expected = np.maximum(9.80665 * (np.sin(np.radians(20)) - table[:, 0] * np.cos(np.radians(20))), 0)
    assert (expected > 0).sum() == 11 and len(table) == 20
    near(abs(table[:, 1] - expected).max(), 0, 1e-4, "C and Python: largest error of the acceleration, m/s^2")

    made = from_json("twenty_bodies")
    assert made.simulation().state_hash == state(printed)
    probes = made.probes
    speeds = np.array([[row[f"velocity_block {block}_x"] for block in range(20)] for row in (probes[19], probes[39])])
    near(abs((speeds[1] - speeds[0]) / 0.2 - expected).max(), 0, 1e-4, "JSON: largest error of the acceleration, m/s^2")
    return printed


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    try:
        on_the_page((gripper() + band() + blocks()).splitlines())
    finally:
        os.chdir(SOURCE)
