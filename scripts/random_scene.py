#!/usr/bin/env python3
"""Prints the random scene of a seed: small bodies, any solver, model, integrator and friction.

usage: random_scene.py SEED

Scenes are valid by construction, except for a few with combinations that the program rejects. Bodies and
obstacles lie next to each other along one direction with small gaps, so that they start apart. scripts/torture.py runs such
scenes and verifies the results. Needs only Python.
"""
import json
import math
import random
import sys

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Dice:
    """Random choices. Only random() is used: its sequence is the same in every version of Python."""

    def __init__(self, seed):
        self.next = random.Random(seed).random

    def uniform(self, low, high):
        return low + (high - low) * self.next()

    def decades(self, low, high):
        return low * (high / low) ** self.next()

    def chance(self, share):
        return self.next() < share

    def whole(self, low, high):
        return low + int(self.next() * (high - low + 1))

    def pick(self, weights):
        """A key of `weights`, with a probability proportional to its value."""
        at = self.next() * sum(weights.values())
        for key, weight in weights.items():
            at -= weight
            if at < 0:
                return key
        return key

    def direction(self, plane):
        while True:
            d = [self.uniform(-1, 1), self.uniform(-1, 1), 0.0 if plane else self.uniform(-1, 1)]
            length = math.sqrt(sum(c * c for c in d))
            if 0.1 < length < 1.0:
                return [c / length for c in d]

    def vector(self, low, high, plane):
        length = self.decades(low, high)
        return [length * c for c in self.direction(plane)]


def rotation(degrees):
    """The rows of Rx Ry Rz."""
    a, b, c = (math.radians(d) for d in degrees)
    cx, sx, cy, sy, cz, sz = math.cos(a), math.sin(a), math.cos(b), math.sin(b), math.cos(c), math.sin(c)
    return [[cy * cz, -cy * sz, sy],
            [cx * sz + sx * sy * cz, cx * cz - sx * sy * sz, -sx * cy],
            [sx * sz - cx * sy * cz, sx * cz + cx * sy * sz, cx * cy]]


def half_extents(mesh):
    """Size of the bounding box of a shape before rotation, and its volume; for round shapes that of the ideal shape."""
    (kind, m), = mesh.items()
    if kind == "box":
        a, b, c = m["size"]
        return [a / 2, b / 2, c / 2], a * b * c
    if kind == "sphere":
        r = m["radius"]
        return [r, r, r], 4.19 * (r ** 3 - m.get("inner_radius", 0) ** 3)
    if kind == "cylinder":
        r, h = m["radius"], m["height"]
        return [r, h / 2, r], 3.15 * r * r * h
    if kind == "rod":
        a, w = m["length"], m["width"]
        return [a / 2, w / 2, w / 2], a * w * w
    if kind == "mat":
        (a, c), b = m["size"], m["thickness"]
        return [a / 2, b / 2, c / 2], a * b * c
    if kind == "torus":
        r, t = m["ring_radius"], m["tube_radius"]
        return [r + t, t, r + t], 19.8 * r * t * t
    if kind == "rectangle":
        a, b = m["size"]
        return [a / 2, b / 2, 0.0], a * b
    return THIN_SHAPES[kind](m)


THIN_SHAPES = {  # size of the bounding box, and a lower bound of the area or length
    "plane": lambda m: ([m["size"][0] / 2, 0.0, m["size"][1] / 2], m["size"][0] * m["size"][1]),
    "disk": lambda m: ([m["radius"], m["radius"], 0.0], 3.15 * m["radius"] ** 2),
    "tube": lambda m: ([m["radius"], m["height"] / 2, m["radius"]], 6.0 * m["radius"] * m["height"]),
    "icosphere": lambda m: ([m["radius"]] * 3, 9.5 * m["radius"] ** 2),
    "torus_shell": lambda m: ([m["ring_radius"] + m["tube_radius"], m["tube_radius"], m["ring_radius"] + m["tube_radius"]],
                              25.0 * m["ring_radius"] * m["tube_radius"]),
    "moebius": lambda m: ([m["radius"] + m["width"] / 2] * 3, 6.0 * m["radius"] * m["width"]),
    "line": lambda m: ([m["length"] / 2, 0.0, 0.0], m["length"]),
    "ring": lambda m: ([m["radius"], 0.0, m["radius"]], 5.0 * m["radius"]),
    "helix": lambda m: ([m["radius"] + m["pitch"] * m["turns"]] * 3, 6.0 * m["radius"] * m["turns"]),
}


def volume(body):
    """A lower bound of the volume of a body."""
    _, measure = half_extents(body["mesh"])
    if "shell" in body:
        return measure * body["shell"]["thickness"]
    if "rod" in body:
        return measure * math.pi * body["rod"]["radius"] ** 2
    if "point" in body:
        return 8.0 * body["point"]["radius"] ** 3  # of two or more
    return measure * body.get("plane_strain", 1)


def reach(entity, d):
    """Upper bound of the extent of an entity from its centre in the direction d."""
    (kind, _), = entity["mesh"].items()
    half, _ = half_extents(entity["mesh"])
    if kind in ("sphere", "disk"):
        return half[0]
    rows = rotation(entity.get("rotate", [0, 0, 0]))
    return sum(abs(sum(rows[i][k] * d[i] for i in range(3))) * half[k] for k in range(3))


def shape(dice, s, order):
    """A built-in shape of the size s with few cells, fewer for elements of higher order."""
    s *= dice.uniform(0.3, 1.0)
    n = dice.whole(1, 3) if order == 1 else 1
    thin = s * dice.decades(0.02, 0.2)
    kind = dice.pick({"box": 3, "sphere": 2, "rod": 1, "mat": 1, "torus": 1, "cylinder": 1})
    if kind == "box":
        return {"box": {"size": [s, s * dice.uniform(0.1, 1), s * dice.uniform(0.3, 1)],
                        "cells": [n, dice.whole(1, 2), dice.whole(1, 2) if order < 3 else 1]}}
    if kind == "sphere":
        ball = {"radius": s / 2, "cells": 2 if order > 1 else dice.whole(2, 3)}
        if dice.chance(0.3):
            ball["inner_radius"] = s / 2 * dice.uniform(0.3, 0.8)
        elif dice.chance(0.3):
            ball["geometry_order"] = 2
        return {"sphere": ball}
    if kind == "rod":
        return {"rod": {"length": 1.5 * s, "width": thin, "cells_along": 3 * n, "cells_across": 1}}
    if kind == "mat":
        return {"mat": {"size": [s, s * dice.uniform(0.5, 1)], "thickness": thin, "cells": [n, n + 1]}}
    if kind == "torus":
        return {"torus": {"ring_radius": s / 2, "tube_radius": max(thin / 2, 0.02 * s),
                          "cells_around": dice.whole(4, 8) if order == 1 else 4, "cells_across": 1}}
    return {"cylinder": {"radius": s / 3, "height": s, "cells_across": 2, "cells_along": n}}


def flat_shape(dice, s):
    s *= dice.uniform(0.3, 1.0)
    if dice.chance(0.6):
        return {"rectangle": {"size": [s, s * dice.uniform(0.1, 1)], "cells": [dice.whole(1, 5), dice.whole(1, 3)]}}
    return {"disk": {"radius": s / 2, "cells": dice.whole(2, 6)}}


class Maker:
    """Creates the scene of a seed part by part; early choices determine later ones."""
    offset_share = 0.0  # largest contact offset over the size

    def __init__(self, seed):
        self.dice = dice = Dice(seed)
        self.plane = dice.chance(0.12)
        self.size = dice.decades(0.01, 10.0)
        self.across = dice.direction(self.plane) if dice.chance(0.4) else list(AXES[dice.whole(0, 1 if self.plane else 2)])
        self.end = 0.0  # of the last entity along `across`
        self.margin = self.offset_share * self.size
        self.scene = {"name": f"torture_{seed}"}
        self.solver()
        self.entities()
        self.rest()

    def solver(self):
        dice, scene = self.dice, self.scene
        model = dice.pick({"ipc": 14, "gcp": 4, "implicit_surface": 2})
        if self.plane and model == "implicit_surface":
            model = "ipc"  # that needs surfaces
        method = "projected_newton"
        if model != "implicit_surface":
            method = dice.pick({"projected_newton": 4, "augmented_lagrangian": 3 if model == "ipc" else 0,
                                "implicit_newton": 3 if model == "ipc" else 0})
        integrator = dice.pick({"backward_euler": 8, "bdf2": 2, "sdirk2": 2, "tr_bdf2": 2, "trapezoidal": 2,
                                "quasi_static": 2, "trapezoidal_decoupled": 1 if method == "projected_newton" else 0})
        self.method, self.model, self.integrator = method, model, integrator
        scene["time"] = {"step": dice.decades(1e-4, 1.0), "steps": dice.whole(5, 20), "integrator": integrator}
        self.distance = self.size * dice.decades(1e-5, 1e-2)
        scene["contact"] = {"model": model}
        if dice.chance(0.7) or model == "implicit_surface":
            scene["contact"]["distance"] = self.distance
        else:
            self.distance = 4e-3 * self.size
        if dice.chance(0.1):
            scene["contact"]["ccd"] = "inclusion"
        scene["solver"] = {"method": method}
        linear = dice.pick({None: 12, "auto": 3, "pcg": 3})
        if linear is not None:
            scene["solver"]["linear"] = linear
        if method == "implicit_newton" and dice.chance(0.3):
            scene["solver"]["implicit_newton"] = {"linear": dice.pick({"umfpack": 1, "bicgstab": 1, "matrix_free": 1})}
        if method == "augmented_lagrangian" and dice.chance(0.3):
            scene["solver"]["termination"] = "residual"

    def place(self, entity):
        """Rotates it and places it after all others."""
        dice, d = self.dice, self.across
        turn = [0.0, 0.0, 0.0]
        if dice.chance(0.6):
            turn = [90.0 * dice.whole(0, 3) if dice.chance(0.4) else dice.uniform(0, 360) for _ in range(3)]
        entity["rotate"] = [0.0, 0.0, turn[2]] if self.plane else turn
        far = reach(entity, d)
        # most start beyond the contact distance: those within it are pushed apart
        low = 1.05 * self.distance if dice.chance(0.8) else 1e-6 * self.size
        begin = self.end + max(low, 1e-9 * self.size) + self.size * dice.decades(1e-5, 0.3) * (not dice.chance(0.2))
        aside = [0.0 if dice.chance(0.5) else dice.uniform(-0.3, 0.3) * self.size for _ in range(3)]
        if self.plane:
            aside[2] = 0.0
        slip = sum(a * c for a, c in zip(aside, d))
        entity["translate"] = [a + (begin + far - slip) * c for a, c in zip(aside, d)]
        self.end = begin + 2 * far
        return entity

    def body(self, index):
        dice = self.dice
        order = 1 if self.plane else dice.pick({1: 12, 2: 2, 3: 1, 4: 0.5})
        body = {"name": f"b{index}", "mesh": flat_shape(dice, self.size) if self.plane else shape(dice, self.size, order)}
        if self.plane:
            body["plane_strain"] = self.size * dice.decades(0.01, 1)
        elif order > 1:
            body["order"] = order
        self.place(body)
        material = {"law": dice.pick({"neo_hookean": 2, "stable_neo_hookean": 1, "fixed_corotated": 1,
                                      "corotated_linear": 1, "stvk": 1}),
                    "young": dice.decades(1e2, 1e11), "poisson": dice.uniform(0, 0.49),
                    "density": dice.decades(10, 1e4)}
        if dice.chance(0.15):
            material["damping"] = dice.decades(1e-6, 1e-2)
        if dice.chance(0.1):
            material["mass_damping"] = dice.decades(0.1, 10)
        body["material"] = material
        if self.integrator != "quasi_static":
            if dice.chance(0.6):
                speed = dice.decades(1e-2, 500)
                # the first one flies towards the others, and they towards it
                along = [c if index == 0 else -c for c in self.across]
                if dice.chance(0.7):
                    # mostly fast enough to arrive
                    span = self.scene["time"]["step"] * self.scene["time"]["steps"]
                    speed = min(500.0, max(speed, self.size * dice.decades(0.3, 10) / span))
                else:
                    along = dice.direction(self.plane)
                body["velocity"] = [speed * c for c in along]
            if dice.chance(0.3) and not self.plane:
                body["angular_velocity"] = dice.vector(0.1, 100, False)
        (kind, mesh), = body["mesh"].items()
        if kind == "sphere" and "inner_radius" in mesh and dice.chance(0.4) and self.model == "ipc" and order == 1:
            body["volume"] = {"region": "cavity"}
        return body

    def obstacle(self, name, sign):
        """A surface, a net or points; one that squeezes moves along the chain with this sign."""
        dice = self.dice
        if self.plane:
            obstacle = {"name": name, "mesh": flat_shape(dice, self.size), "plane_strain": self.size}
        else:
            flat = dice.chance(0.3)
            obstacle = {"name": name, "mesh": {"plane": {"size": [3 * self.size] * 2, "cells": [dice.whole(1, 2)] * 2}}
                        if flat else shape(dice, self.size, 1)}
            if self.model == "ipc" and dice.chance(0.3):
                obstacle["as"] = dice.pick({"edges": 1, "points": 1})
        self.place(obstacle)
        if sign or dice.chance(0.4):
            speed = min(dice.decades(1e-2, 1e2) * self.size, 500.0)
            along = [sign * c for c in self.across] if sign else dice.direction(self.plane)
            obstacle["motion"] = {"velocity": [speed * c for c in along]}
            if dice.chance(0.2) and not self.plane:
                obstacle["motion"]["rotation"] = {"axis": dice.direction(False), "speed": dice.decades(1, 1e3)}
            if dice.chance(0.3):
                obstacle["motion"]["to"] = 5.5 * self.scene["time"]["step"]
        return obstacle

    def entities(self):
        dice, scene = self.dice, self.scene
        closing = dice.chance(0.15)
        obstacles = []
        if closing or dice.chance(0.2):
            obstacles.append(self.obstacle("first", 1 if closing else 0))
        scene["bodies"] = [self.body(i) for i in range(dice.pick({1: 3, 2: 3, 3: 2, 4: 1}))]
        if closing or dice.chance(0.15):
            obstacles.append(self.obstacle("last", -1 if closing else 0))
        if obstacles:
            scene["obstacles"] = obstacles
        # half-spaces that just hold everything
        planes = []
        for k in range(dice.whole(0, 2)):
            normal = [0.0, 1.0, 0.0] if dice.chance(0.6) else dice.direction(self.plane)
            low = min(sum(n * c for n, c in zip(normal, b["translate"])) - reach(b, normal) for b in scene["bodies"])
            low -= 1.05 * self.distance + self.margin + self.size * dice.decades(1e-5, 0.3)
            planes.append({"name": f"wall{k}", "origin": [low * n for n in normal], "normal": normal})
        if planes:
            scene["half_spaces"] = planes

    def rest(self):
        """Gravity, held parts, forces, friction, audits."""
        dice, scene = self.dice, self.scene
        if dice.chance(0.3):
            scene["gravity"] = [0, 0, 0]
        held = self.integrator == "quasi_static"
        prescribed = []
        for body in scene["bodies"]:
            if held:
                prescribed.append({"body": body["name"], "select": {"side": "-x", "depth": 0.75}, "motion": {"hold": True}})
            if dice.chance(0.6 if held else 0.15):
                motion = {"velocity": dice.vector(1e-2 * self.size, min(1e2 * self.size, 500), self.plane)}
                if dice.chance(0.3) and not self.plane:
                    motion["rotation"] = {"axis": dice.direction(False), "speed": dice.decades(1, 1e3)}
                if dice.chance(0.3):
                    motion["to"] = 5.5 * scene["time"]["step"]
                prescribed.append({"body": body["name"], "select": {"side": "+x"}, "motion": motion})
        if prescribed:
            scene["prescribed"] = prescribed
        if dice.chance(0.15):
            scene["forces"] = [{"body": "*", "acceleration": dice.vector(0.1, 1e4, self.plane)}]
        self.friction()
        if dice.chance(0.1) and all(body.get("order", 1) == 1 for body in scene["bodies"]):
            scene["solver"]["linear"] = "dense"
        if self.model != "implicit_surface" and dice.chance(0.5):
            scene["debug"] = {"audit": "every_step"}

    def friction(self):
        dice = self.dice
        if dice.chance(0.35):
            return
        friction = {"coefficient": dice.uniform(0.05, 1.2)}
        if dice.chance(0.2):
            friction["static_coefficient"] = friction["coefficient"] * dice.uniform(1, 2)
        if dice.chance(0.15):
            friction["viscosity"] = dice.decades(1e-3, 1)
        if self.method == "implicit_newton" and dice.chance(0.5):
            friction["method"] = "implicit"
        else:
            iterations = dice.pick({None: 4, 1: 2, 2: 1, "until_convergence": 1})
            if iterations is not None:
                friction["iterations"] = iterations
        self.scene["friction"] = friction


    def pairs(self, dice):
        """Friction with a direction, and adhesion: numbers of their own, so that all others stay as they were before."""
        scene = self.scene
        friction = scene.get("friction", {})
        implicit = friction.get("method") == "implicit"
        entities = [entity["name"] for kind in ("bodies", "obstacles", "half_spaces") for entity in scene.get(kind, [])]
        if dice.chance(0.2) and not implicit and "viscosity" not in friction:
            scene["pairs"] = [{"a": dice.pick({name: 1 for name in entities}), "b": "*", "friction": dice.uniform(0, 0.5),
                               "friction_across": dice.uniform(0, 1.5), "direction": dice.direction(False)}]
        if dice.chance(0.2) and not implicit and self.model != "implicit_surface":
            scene.setdefault("contact", {})["adhesion"] = dice.decades(1e-3, 10) * self.size
            scene["contact"]["adhesion_range"] = self.distance * dice.decades(0.3, 10)


def random_scene(seed):
    maker = Maker(seed)
    maker.pairs(Dice(f"pairs {seed}"))
    return maker.scene


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    print(json.dumps(random_scene(int(sys.argv[1])), indent=1))
