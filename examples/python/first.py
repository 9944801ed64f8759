"""A cube of soft rubber falls on a floor: the first scene of the guide (docs/start/guide.md), recorded for ParaView."""
import sys

import noli

SCENE = {
    "name": "first",
    "time": {"step": 0.01, "duration": 1},
    "bodies": [
        {
            "name": "cube",
            "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [4, 4, 4]}},
            "translate": [0, 0.2, 0],
            "material": {"young": 1e5, "poisson": 0.4, "density": 1000},
        }
    ],
    "half_spaces": [{"name": "floor"}],
}


def main(directory="out/first"):
    """Simulates and records; returns the simulation."""
    sim = noli.Simulation(SCENE)
    with noli.Recorder(sim, directory, replace=True) as recorder:
        for report in sim.steps():
            recorder.record()
            if report.step % 10 == 0:
                print(f"t {report.time:.2f} s  height {sim.positions[:, 1].min():.4f} m  "
                      f"force {sim.wrench('cube').normal[1]:.1f} N")
    return sim


if __name__ == "__main__":
    main(*sys.argv[1:])
