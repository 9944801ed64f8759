#!/usr/bin/env python3
"""Runs the script of docs/howto/exchange.md in Blender, and compares the vertices that Blender then has in each frame with those
of the point caches: equal, bit by bit. Exit status 77: skipped.

usage: test_exchange_blender.py NOLI SOURCE_DIRECTORY     in a folder for files
"""
import os
import re
import shutil
import subprocess
import sys

FOLDER = "exchange_blender"

CHECK = """
import struct, sys
names = []
for path in sorted(glob.glob(PREFIX + "*.pc2")):
    data = open(path, "rb").read()
    n, frames = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
    body = bpy.data.objects[os.path.basename(path)[len(PREFIX):-4]]
    names.append(body.name)
    colour = body.material_slots[0].material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value
    up = body.matrix_world.to_3x3() @ __import__("mathutils").Vector((0, 1, 0))
    if len(body.data.vertices) != n or max(abs(a - b) for a, b in zip(up, (0, 0, 1))) > 1e-6 or max(colour[:3]) < 0.1:
        sys.exit(f"{path}: other vertices, axes or colour")
    moved = 0.0
    for frame in range(frames):
        bpy.context.scene.frame_set(frame)
        shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
        want = struct.unpack(f"<{3 * n}f", data[32 + 12 * n * frame:32 + 12 * n * (frame + 1)])
        got = tuple(c for vertex in shown for c in vertex.co)
        if got != want:
            sys.exit(f"{path}: frame {frame}: off by {max(abs(a - b) for a, b in zip(got, want))}")
        moved = max(moved, max(abs(a - b) for a, b in zip(want, struct.unpack(f"<{3 * n}f", data[32:32 + 12 * n]))))
    print(f"{path}: {n} vertices in {frames} frames, moved by {moved:.3g} m")
print("BODIES", len(names))
"""


def main():
    noli, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if shutil.which("blender") is None:
        print("SKIPPED: no Blender (install blender)")
        return 77
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    page = open(os.path.join(source, "docs/howto/exchange.md"), encoding="utf-8").read()
    script = re.search(r"```python\n(import bpy.*?)```", page, re.S)[1]
    with open(f"{FOLDER}/script.py", "w", encoding="utf-8") as file:
        file.write(script + CHECK)
    subprocess.run([noli, "run", f"{source}/examples/demo.json", "-o", f"{FOLDER}/demo", "--steps", "12", "--quiet"], check=True)
    subprocess.run([noli, "convert", f"{FOLDER}/demo", f"{FOLDER}/demo.pc2"], check=True)
    # Blender takes the directory from PWD
    environment = dict(os.environ, PWD=os.path.abspath(FOLDER))
    result = subprocess.run(["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", "script.py"], cwd=FOLDER, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    print(result.stdout)
    bodies = len([name for name in os.listdir(FOLDER) if name.endswith(".pc2")])
    return 0 if result.returncode == 0 and bodies > 1 and f"BODIES {bodies}\n" in result.stdout else 1


if __name__ == "__main__":
    sys.exit(main())
