#!/usr/bin/env python3
"""Writes twenty scenes whose start is broken: overlapping, nested, touching, folded through itself, tangled.

usage: broken_starts.py DIRECTORY

Beside the scenes, `expected.txt` has a line for each: its name, `repaired` or `refused`, and what it shows.
"""
import json
import math
import random
import sys
from pathlib import Path

SOFT = {"young": 1e5, "poisson": 0.35}


def body(name, mesh, at=(0, 0, 0), **more):
    return {"name": name, "mesh": mesh, "translate": list(at), "material": SOFT, **more}


def box(size, cells=(2, 2, 2)):
    return {"box": {"size": list(size), "cells": list(cells)}}


def sphere(radius, cells=4):
    return {"sphere": {"radius": radius, "cells": cells}}


def torus(radius=0.3, tube=0.06):
    return {"torus": {"ring_radius": radius, "tube_radius": tube}}


def scene(bodies, **more):
    return {"time": {"step": 0.01, "steps": 5}, "bodies": bodies, **more}


FLOOR = [{"name": "floor"}]


def sheet(cells, place):
    """Triangles of a unit square with their positions at rest, and those at the start."""
    n = cells + 1
    rest = [[i / cells, 0.0, k / cells] for k in range(n) for i in range(n)]
    triangles = []
    for k in range(cells):
        for i in range(cells):
            a = k * n + i
            triangles += [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
    return {"arrays": {"positions": rest, "triangles": triangles}}, [place(*x) for x in rest]


def bent(x, length, radius, pull):
    """Point at arc length x of a strip bent into a U of a radius, its second leg shifted by `pull` towards the first."""
    straight = 0.5 * (length - math.pi * radius)
    if x < straight:
        return x, 0.0
    if x < straight + math.pi * radius:
        a = (x - straight) / radius
        return straight + radius * math.sin(a), radius * (1 - math.cos(a)) - pull * (1 - math.cos(a)) / 2
    return straight - (x - straight - math.pi * radius), 2 * radius - pull


def folded(pull, wave=0.0):
    """A sheet bent over, whose legs cross where `pull` and a wave across exceed twice the radius."""
    def place(x, y, z):
        u, v = bent(x, 1.0, 0.05, pull)
        second = max(0.0, (x - 0.6) / 0.4)
        return [u, v + wave * second * math.sin(2 * math.pi * z), z]
    return sheet(16, place)


def solid_mat(pull):
    """A thin solid bent into a U whose ends pass through each other."""
    nx, ny, nz, thick = 24, 1, 4, 0.02
    rest, start = [], []
    for k in range(nz + 1):
        for j in range(ny + 1):
            for i in range(nx + 1):
                x, y, z = i / nx, thick * j / ny, 0.2 * k / nz
                rest.append([x, y, z])
                radius = 0.08
                u, v = bent(x, 1.0, radius - y, pull * x)
                straight = 0.5 * (1.0 - math.pi * radius)
                if x < straight:
                    u, v = x, y
                elif x < straight + math.pi * radius:
                    a = (x - straight) / radius
                    u = straight + (radius - y) * math.sin(a)
                    v = radius - (radius - y) * math.cos(a)
                else:
                    u = straight - (x - straight - math.pi * radius)
                    v = 2 * radius - y
                    fall = (x - straight - math.pi * radius) / straight
                    v -= pull * fall * fall
                start.append([u, v, z])
    tets = []

    def at(i, j, k):
        return (k * (ny + 1) + j) * (nx + 1) + i
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                c = [at(i + (q & 1), j + (q >> 1 & 1), k + (q >> 2 & 1)) for q in range(8)]
                for p, q in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)):
                    tets.append([c[0], c[p], c[q], c[7]])
    return {"arrays": {"positions": rest, "tets": tets}}, start


def chain(n, spacing, rings=torus):
    return [body(f"ring_{i}", rings(), (i * spacing, 0, 0), rotate=[90 * (i % 2), 0, 0]) for i in range(n)]


def make():
    random.seed(1)
    hold = {"hold": True}
    cases = {}
    cases["boxes"] = (scene([body("a", box((1, 1, 1))), body("b", box((1, 1, 1)), (0.9, 0.2, 0.1))]), True,
                      "two boxes overlap")
    cases["turned_boxes"] = (scene([body("a", box((1, 0.4, 1))), body("b", box((1, 0.4, 1)), (0.3, 0.3, 0), rotate=[20, 30, 10])]),
                             True, "two turned boxes overlap")
    cases["spheres"] = (scene([body("a", sphere(0.3)), body("b", sphere(0.3), (0.4, 0.1, 0))]), True, "two balls overlap")
    cases["floor"] = (scene([body("a", sphere(0.3), (0, 0.2, 0)), body("b", box((0.3, 0.3, 0.3)), (1, -0.5, 0))], half_spaces=FLOOR),
                      True, "bodies in the floor, one deep below")
    cases["nested"] = (scene([body("big", sphere(0.5)), body("small", sphere(0.1), (0.1, 0.1, 0))]), True,
                       "a ball inside a solid ball")
    cases["stack"] = (scene([body(f"brick_{i}", box((0.4, 0.2, 0.4)), (0, 0.1 + 0.2 * i, 0)) for i in range(5)], half_spaces=FLOOR),
                      True, "five bricks that touch")
    cases["pile"] = (scene([body("ball", sphere(0.1, 3), (0.16 * i, 0.08 + 0.17 * j, 0.16 * k)) | {"name": f"ball_{i}{j}{k}"}
                            for i in range(3) for j in range(3) for k in range(3)], half_spaces=FLOOR), True,
                     "27 balls, each overlaps its neighbours")
    cases["random_pile"] = (scene([body(f"item_{i}", [sphere(0.1, 3), box((0.16, 0.16, 0.16))][i % 2],
                                        [random.uniform(0, 0.8) for _ in range(3)], rotate=[random.uniform(0, 90) for _ in range(3)])
                                   for i in range(40)], half_spaces=FLOOR), True, "40 balls and boxes at random, also in the floor")
    cases["copies"] = (scene([body("row", box((0.2, 0.2, 0.2)), (0, 0.15, 0), copies={"count": 8, "translate": [0.17, 0, 0]})]), True,
                       "a row of copies that overlap")
    cases["wall"] = (scene([body("ball", sphere(0.3), (0.1, 0, 0))],
                           obstacles=[{"name": "wall", "mesh": {"plane": {"size": [2, 2]}}, "rotate": [0, 0, 90]}]), True,
                     "a ball in a fixed wall")
    cases["chain"] = (scene(chain(5, 0.5)), True, "five rings of a chain whose tubes overlap")
    cases["order_2"] = (scene([body("a", sphere(0.3, 2), order=2), body("b", sphere(0.3, 2), (0.4, 0, 0), order=2)]), True,
                        "elements of order 2")
    cases["plane_strain"] = (scene([body("a", {"disk": {"radius": 0.3, "cells": 6}}, plane_strain=1),
                                    body("b", {"disk": {"radius": 0.3, "cells": 6}}, (0.4, 0.2, 0), plane_strain=1)]), True,
                             "two disks in plane strain")
    cases["rods"] = (scene([body("a", {"line": {"length": 1, "segments": 12}}, rod={"radius": 0.01}, contact_offset="thickness"),
                            body("b", {"line": {"length": 1, "segments": 12}}, (0, 0.01, 0), rotate=[0, 60, 0], rod={"radius": 0.01},
                                 contact_offset="thickness")], contact={"distance": 1e-3}), True, "two rods nearer than their radii")
    mesh, start = folded(0.11, 0.03)
    cases["sheet_waves"] = (scene([body("sheet", mesh, shell={"thickness": 1e-3}, start=start)], contact={"distance": 1e-3}), True,
                            "a folded sheet whose leg waves through the other one")
    mesh, start = solid_mat(0.17)
    cases["solid_mat"] = (scene([body("mat", mesh, start=start)], contact={"distance": 1e-3}), True,
                          "a thick mat whose end passes through its other end")
    cloth, _ = sheet(14, lambda x, y, z: [x, y, z])
    cases["cloths"] = (scene([body("a", cloth, shell={"thickness": 1e-3}),
                              body("b", cloth, (0.1, -0.03, 0.1), rotate=[0, 0, 5], shell={"thickness": 1e-3})]), True,
                       "two cloths that cross")
    cases["clamped"] = (scene([body("bar", box((1, 0.1, 0.1), (12, 2, 2)))],
                              obstacles=[{"name": "block", "mesh": box((0.2, 0.2, 0.3)), "translate": [0.45, -0.13, 0]}],
                              prescribed=[{"body": "bar", "select": {"side": "-x"}, "motion": hold}]), True,
                        "a clamped bar whose end is in a fixed block")
    cases["held"] = (scene([body("a", sphere(0.3)), body("b", sphere(0.3), (0.4, 0, 0))],
                           prescribed=[{"body": "*", "motion": hold}]), False, "two prescribed bodies overlap")
    cases["press"] = (scene([body("a", box((1, 1, 1)))],
                            half_spaces=[{"name": "left", "normal": [1, 0, 0], "origin": [-0.4, 0, 0]},
                                         {"name": "right", "normal": [-1, 0, 0], "origin": [-0.45, 0, 0]}]), False,
                      "a box between half-spaces that leave no room")
    cases["tangle"] = (scene(chain(2, 0.15, lambda: torus(0.2, 0.12)), prescribed=[{"body": "ring_0", "motion": hold}],
                             obstacles=[{"name": "cage", "mesh": {"icosphere": {"radius": 0.33, "subdivision": 2}}, "translate": [0.05, 0, 0]}]),
                       False, "a ring tangled with a held one, in a closed cage")
    solid = {"arrays": {"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "tets": [[0, 1, 2, 3]]}}
    cases["inverted"] = (scene([body("tet", solid, start=[[0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 0, 1]])]), False,
                         "an element is turned inside out")
    return cases


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, (text, repaired, what) in make().items():
        (directory / f"{name}.json").write_text(json.dumps(text))
        lines.append(f"{name} {'repaired' if repaired else 'refused'} {what}\n")
    (directory / "expected.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
