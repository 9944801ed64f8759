#!/usr/bin/env python3
"""Writes closed and broken surfaces as OBJ files.

usage: surfaces.py DIRECTORY
"""
import math
import sys
from pathlib import Path


def ball(radius, n, centre=(0, 0, 0)):
    vertices, triangles, m = [(0, 0, 1)], [], 2 * n
    for i in range(1, n):
        for j in range(m):
            a, b = math.pi * i / n, math.pi * j / n
            vertices.append((math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)))
    vertices.append((0, 0, -1))
    last = len(vertices) - 1
    for j in range(m):
        k = (j + 1) % m
        triangles += [(0, 1 + j, 1 + k), (last, 1 + (n - 2) * m + k, 1 + (n - 2) * m + j)]
        for i in range(n - 2):
            a, b = 1 + i * m + j, 1 + i * m + k
            triangles += [(a, a + m, b), (b, a + m, b + m)]
    return [tuple(radius * x + o for x, o in zip(v, centre)) for v in vertices], triangles


def box(size, centre=(0, 0, 0), drop=0):
    vertices = [tuple((i >> k & 1) * size - size / 2 + centre[k] for k in range(3)) for i in range(8)]
    sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    return vertices, triangles[:len(triangles) - drop]


def write(path, *parts):
    lines, first = [], 1
    for vertices, triangles in parts:
        lines += ["v %.17g %.17g %.17g" % v for v in vertices]
        lines += ["f %d %d %d" % tuple(first + i for i in t) for t in triangles]
        first += len(vertices)
    path.write_text("\n".join(lines) + "\n")


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    write(directory / "ball.obj", ball(1, 10))
    write(directory / "box.obj", box(1))
    # the cavity comes first; inside it is another solid; a fourth part stands alone
    write(directory / "nested.obj", ball(0.7, 9), ball(1, 10), ball(0.4, 8), box(0.5, (3, 0, 0)))
    write(directory / "open.obj", box(1, drop=1))
    write(directory / "crossing.obj", box(1), box(1, (0.5, 0.3, 0.2)))


if __name__ == "__main__":
    main()
