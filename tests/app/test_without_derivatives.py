"""The program without derivatives runs scenes to the same bits as the whole, and refuses designs.

usage: test_without_derivatives.py NOLI_FORWARD NOLI SOURCE
"""
import os
import re
import subprocess
import sys
import tempfile

forward, whole, source = sys.argv[1:]
# linear and curved solids, shells, rods with twist, points; all contact models
SCENES = ["curved_ball.json", "ball_in_box.json", "sewn.json", "twisting_rod.json", "smooth_contact.json", "pile.json"]


def run(program, scene, folder):
    subprocess.run([program, "run", scene, "-o", folder, "--steps", "3", "--quiet"], check=True)
    told = subprocess.run([program, "info", os.path.join(folder, "checkpoint.h5")], capture_output=True, text=True, check=True)
    return re.search(r"state ([0-9a-f]{16})", told.stdout).group(1)


with tempfile.TemporaryDirectory() as folder:
    for name in SCENES:
        scene = os.path.join(source, "examples", name)
        hashes = [run(program, scene, os.path.join(folder, f"{name}-{k}")) for k, program in enumerate([forward, whole])]
        assert hashes[0] == hashes[1], f"{name}: {hashes}"
    design = os.path.join(source, "examples", "design", "throw.json")
    refused = subprocess.run([forward, "check", design], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "no derivatives" in refused.stderr, refused.stderr
    helped = subprocess.run([forward, "--help"], capture_output=True, text=True, check=True)
    assert "design" not in helped.stdout and "modes" in helped.stdout
