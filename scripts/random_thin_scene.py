#!/usr/bin/env python3
"""Prints the random scene of a seed with thin bodies: shells, rods and points among solids, with contact offsets, ties, springs
and materials with history.

usage: random_thin_scene.py SEED

As scripts/random_scene.py, from whose scenes it differs only in the bodies and in what connects them.
"""
import json
import math
import sys

from random_scene import Maker, half_extents

class ThinMaker(Maker):
    offset_share = 0.03

    def __init__(self, seed):
        super().__init__(seed)
        self.scene["name"] = f"thin_{seed}"
        self.connect()

    def sheet(self, s):
        """A mesh for shells of the size s."""
        dice, n = self.dice, self.dice.whole(2, 6)
        open_ones = self.model == "ipc"  # other models need an inside
        kind = dice.pick({"plane": 5 * open_ones, "disk": open_ones, "tube": 2 * open_ones, "icosphere": 2, "torus_shell": 1,
                          "moebius": open_ones})
        return {kind: {
            "plane": {"size": [s, s * dice.uniform(0.2, 1)], "cells": [n, dice.whole(1, 4)],
                      "pattern": dice.pick({"symmetric": 1, "alternating": 1, "unstructured": 1})},
            "disk": {"radius": s / 2, "cells": n},
            "tube": {"radius": s / 3, "height": s * dice.uniform(0.2, 1), "cells_around": 6 + n, "cells_along": dice.whole(1, 3)},
            "icosphere": {"radius": s / 2, "subdivision": dice.whole(1, 3)},
            "torus_shell": {"ring_radius": s / 3, "tube_radius": s / 10, "cells_around": 6 + n, "cells_across": dice.whole(3, 6)},
            "moebius": {"radius": s / 3, "width": s / 5, "cells_around": 10 + n, "cells_across": 2},
        }[kind]}

    def line(self, s):
        """A mesh for rods of the size s."""
        dice, n = self.dice, self.dice.whole(4, 16)
        kind = dice.pick({"line": 4, "ring": 2, "helix": 1})
        return {kind: {"line": {"length": s, "segments": n}, "ring": {"radius": s / 2, "segments": n},
                       "helix": {"radius": s / 5, "pitch": s / 5, "turns": 2, "segments": 2 * n + 8}}[kind]}

    def thin(self, kind, body):
        """Turns a body into a shell, a rod or points."""
        dice, s = self.dice, self.size * self.dice.uniform(0.3, 1.0)
        thick = s * dice.decades(1e-4, 3e-2)
        if kind == "shell":
            body["mesh"] = self.sheet(s)
            body["shell"] = shell = {"thickness": thick}
            if dice.chance(0.4):
                shell["bending_law"] = "plate"
            if dice.chance(0.2):
                shell["limit"] = dice.uniform(1.02, 2.0)
            if dice.chance(0.2):
                shell.update(woven=True, weft=dice.decades(0.1, 10))
            if dice.chance(0.2):
                shell["bending"] = dice.decades(1e-3, 10)
        elif kind == "rod":
            body["mesh"] = self.line(s) if dice.chance(0.8) else self.sheet(s)
            body["rod"] = rod = {"radius": thick}
            if dice.chance(0.5):
                rod["twist"] = 1
        else:
            body["mesh"] = self.sheet(s)
            body["point"] = {"radius": thick}
        if dice.chance(0.4) and self.model == "ipc":
            body["contact_offset"] = "thickness" if dice.chance(0.5) else thick * dice.uniform(0.1, 1)

    def body(self, index):
        dice = self.dice
        lines = self.model == "ipc"
        kind = "solid" if self.plane else dice.pick({"solid": 2, "shell": 4, "rod": 3 * lines, "point": lines})
        body = super().body(index)
        if kind != "solid":
            for key in ("order", "volume"):
                body.pop(key, None)
            self.thin(kind, body)
            if kind != "shell" or body["material"]["law"] not in ("neo_hookean", "stvk"):
                body["material"].pop("law")
            self.put(body)
        elif dice.chance(0.4) and body.get("order", 1) == 1 and "damping" not in body["material"]:
            self.enrich(body["material"])
        return body

    def put(self, body):
        """Places the body again after its shape has changed."""
        half, _ = half_extents(body["mesh"])
        far = math.sqrt(sum(c * c for c in half)) + self.margin
        begin = self.end + max(1.05 * self.distance, 1e-6 * self.size)
        body["translate"] = [(begin + far) * c for c in self.across]
        self.end = begin + 2 * far

    def enrich(self, material):
        """Laws with history, of rubber, and fibres."""
        dice, young = self.dice, material["young"]
        kind = dice.pick({"prony": 2, "hencky": 2, "fibre": 1, "ogden": 1, "mooney_rivlin": 1})
        if kind == "prony":
            material["prony"] = [[dice.uniform(0.1, 0.8), dice.decades(1e-4, 1)]]
        elif kind == "hencky":
            material.update(law="hencky", hardening=young * dice.decades(1e-3, 0.1))
            material["yield"] = young * dice.decades(1e-4, 0.1)
        elif kind == "fibre":
            material["fibre"] = {"direction": dice.direction(False), "k1": young * dice.decades(0.1, 10), "k2": dice.uniform(0, 2)}
        else:
            del material["young"], material["poisson"]
            material["law"], material["bulk"] = kind, young * dice.decades(1, 100)
            if kind == "ogden":
                material["ogden"] = [[young / 3, dice.uniform(1.5, 3)]]
            else:
                material.update(c10=young / 8, c01=young / 24)

    def connect(self):
        """Springs between neighbours, loads on shells."""
        dice, scene = self.dice, self.scene
        bodies = scene["bodies"]
        if len(bodies) > 1 and dice.chance(0.3):
            scene["springs"] = [{"body": bodies[0]["name"], "to": bodies[1]["name"], "select": {"side": "+x", "depth": 0.1},
                                 "stiffness": dice.decades(1e-2, 1e4) * self.size}]
        shells = [b for b in bodies if "shell" in b]
        if shells and dice.chance(0.3):
            # a balloon of neo-Hookean rubber bears up to 0.6 times this one
            stretches = shells[0]["material"].get("young", 1e5) * shells[0]["shell"]["thickness"] / self.size
            scene.setdefault("forces", []).append({"body": shells[0]["name"], "pressure": stretches * dice.decades(1e-3, 0.3)})


def random_thin_scene(seed):
    return ThinMaker(seed).scene


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    print(json.dumps(random_thin_scene(int(sys.argv[1])), indent=1))
