"""The commands of docs/start/first_hour.md as they stand there, where another Python is the first on the path. Each scene shows
its figure, and C, Python and JSON are the same.

usage: test_first_hour.py NOLI SOURCE LIBRARY_DIRECTORY C_COMPILER
"""
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile

NOLI, SOURCE, LIBRARY, COMPILER = sys.argv[1:]
os.environ["NOLI_LIBRARY"] = LIBRARY
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.path[:0] = [os.path.join(SOURCE, folder) for folder in ("python", "scripts", "examples/python")]
sys.dont_write_bytecode = True

try:
    import numpy as np

    import noli
except ImportError as error:
    print(f"{error}: install python3-cffi and python3-numpy", file=sys.stderr)
    sys.exit(77)
if importlib.util.find_spec("ensurepip") is None:
    print("skipped: no python3-venv", file=sys.stderr)
    sys.exit(77)

import band_on_cone
import frames


with open(os.path.join(SOURCE, "docs", "start", "first_hour.md"), encoding="utf-8") as page:
    PAGE = page.read()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.S | re.M)
COMMANDS = [block.splitlines() for language, block in BLOCKS if language == "sh"]
EXPORTS = [line for line in COMMANDS[0] if line.startswith("export ")]


def make_checkout():
    """What the commands find: the sources, the build, `make python` without packages, and Pythons and compilers on the path."""
    os.makedirs("checkout/build/release")
    for name in ("examples", "include"):
        os.symlink(os.path.join(SOURCE, name), f"checkout/{name}")
    os.symlink(NOLI, "checkout/build/release/noli")
    for name in os.listdir(LIBRARY):
        if re.match(r"libnoli(_import)?\.so", name):
            os.symlink(os.path.join(LIBRARY, name), f"checkout/build/release/{name}")
    wheel = shlex.join([sys.executable, os.path.join(SOURCE, "scripts/python_wheel.py"), SOURCE, LIBRARY, "build/release/python"])
    others = "echo another Python >&2; exit 1"
    os.mkdir("path")
    for name, text in (("make", f'[ "$*" = python ] && {wheel}'), ("cc", f'exec {shlex.quote(COMPILER)} "$@"'),
                       ("python3", others), ("python", others), ("pip", others)):
        with open(f"path/{name}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"path/{name}", 0o755)


def typed(line, **environment):
    """What a command of the page prints."""
    clean = {name: os.environ[name] for name in ("HOME", "OMP_WAIT_POLICY", "OPENBLAS_NUM_THREADS") if name in os.environ}
    done = subprocess.run(["sh", "-euc", "\n".join(EXPORTS + [line])], capture_output=True, text=True, check=False,
                          cwd="checkout", env=clean | {"PATH": os.path.abspath("path") + ":/usr/bin:/bin",
                                                       "PIP_NO_INDEX": "1", "PYTHONDONTWRITEBYTECODE": "1"} | environment)
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert "warning" not in done.stderr.lower(), (line, done.stderr)
    return done.stdout


def near(value, expected, tolerance, what):
    assert abs(value - expected) <= tolerance, f"{what}: {value}, expected {expected} within {tolerance}"
    print(f"{what}: {value:.6g}, expected {expected:.6g}")


def type_scene(name):
    """Types the four commands of a scene. Returns what Python and C print alike, and the finished run of the file."""
    run, python, compiler, program = next(lines for lines in COMMANDS if f"examples/{name}.json" in lines[0])
    typed(run)
    typed(compiler)
    printed = typed(program)
    assert printed == typed(python)
    made = noli.Run(os.path.join("checkout", "out", name))
    assert made.audit().found == 0
    return printed, made


def check_kernels(name, printed):
    """Other kernels of OpenBLAS: another hash, perhaps, of Python and C alike, and the same figures."""
    _, python, _, program = next(lines for lines in COMMANDS if f"examples/{name}.json" in lines[0])
    for kernels in ("Haswell", "Prescott"):
        other = typed(program, OPENBLAS_CORETYPE=kernels)
        assert other == typed(python, OPENBLAS_CORETYPE=kernels)
        assert re.sub("state .*", "", other) == re.sub("state .*", "", printed)
        print(f"{kernels}: state {state(other):016x}, {state(printed):016x} without a choice")


def on_the_page(printed):
    """The blocks of the page without a language show lines of the programs; hashes differ by machine, and none is shown."""
    lines = [line for language, block in BLOCKS if not language for line in block.splitlines() if line != "..."]
    assert len(lines) > 10
    missing = [line for line in lines if line not in printed]
    assert not missing, missing
    assert not re.search(r"[0-9a-f]{16}", PAGE)


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
    printed, made = type_scene("gripper")
    (weight, held, grip, enough), = numbers(
        r"weight (\S+) N  held by friction (\S+) N  grip (\S+) N, at least (\S+) N", printed)
    near(enough, weight / 1.2, 1e-3, "weight / (2 friction), N")
    check_grip(weight, held, grip, "C and Python")
    # with 0.05 the fingers cannot hold it; with more they can
    heights = numbers(r"friction \S+: the ball is at (\S+) mm", printed)[:, 0]
    assert heights[0] < 70 and (heights[1:] > 75).all(), heights

    ball = made.simulation().body_state("ball")
    near(1e3 * ball.centre[1], heights[-1], 0.2, "JSON: height, mm")
    last = made.forces[made.forces["step"] == made.forces["step"].max()]
    assert sorted(last["b"]) == ["left", "right"], last["b"]
    check_grip(9.80665 * ball.mass, last["friction_y"].sum(), abs(last["normal_x"]).min(), "JSON")
    return printed


def band():
    """The forces of the cone stretch the band as far as the law of its rubber says."""
    printed, made = type_scene("band_on_cone")
    (stretch, pull, theory), = numbers(r"stretched by (\S+), the band pulls with (\S+) N, in theory (\S+) N", printed)
    assert stretch > 1.2, stretch
    near(pull, theory, 0.01 * theory, "C and Python: tension, N")
    sim = made.simulation()
    assert sim.state_hash == state(printed) == int(typed(COMMANDS[-1][0]), 16)
    frame = frames.read_frame(made.frames[-1].path)
    rows = sim.vertices("band")
    x = frame.points[rows]
    force = (frame.point_data["contact_force"] + frame.point_data["friction_force"])[rows]
    outward = ((force[:, 0] * x[:, 0] + force[:, 2] * x[:, 2]) / np.hypot(x[:, 0], x[:, 2])).sum()
    near(outward / (2 * np.pi), band_on_cone.tension(sim)[2], 0.01 * theory, "JSON: tension, N")
    return printed


def blocks():
    """Blocks slide with g (sin - friction cos), or stay."""
    printed, made = type_scene("twenty_bodies")
    table = numbers(r"friction (\S+): (\S+) m/s\^2, rigid (\S+) m/s\^2", printed)
    expected = np.maximum(9.80665 * (np.sin(np.radians(20)) - table[:, 0] * np.cos(np.radians(20))), 0)
    assert (expected > 0).sum() == 11 and len(table) == 20
    near(abs(table[:, 1] - expected).max(), 0, 1e-4, "C and Python: largest error of the acceleration, m/s^2")

    assert made.simulation().state_hash == state(printed)
    check_kernels("twenty_bodies", printed)
    probes = made.probes
    speeds = np.array([[row[f"velocity_block {block}_x"] for block in range(20)] for row in (probes[19], probes[39])])
    near(abs((speeds[1] - speeds[0]) / 0.2 - expected).max(), 0, 1e-4, "JSON: largest error of the acceleration, m/s^2")
    return printed


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    try:
        make_checkout()
        for command in COMMANDS[0]:
            typed(command)
        on_the_page((gripper() + band() + blocks()).splitlines())
    finally:
        os.chdir(SOURCE)
