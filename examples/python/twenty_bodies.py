"""Twenty blocks on a slope of 20 degrees, each with its own friction: those above tan 20 = 0.364 stay, the others
slide. Prints the acceleration of each, and g (sin 20 - friction cos 20). The same as examples/c/twenty_bodies.c."""
import numpy as np

import noli

FRICTION = (5 + 3 * np.arange(20)) / 100
GRAVITY = (3.3540718, -9.2152366, 0)  # turned by 20 degrees instead of the slope


def scene():
    """A block and a pair with the slope for each coefficient of friction."""
    return {
        "time": {"step": 0.01, "duration": 0.4},
        "gravity": GRAVITY,
        "bodies": [{"name": f"block {i}", "mesh": {"box": {"size": [0.1, 0.05, 0.1], "cells": [2, 1, 2]}},
                    "translate": [0, 0.0252, 15 * i / 100], "material": {"young": 1e6}} for i in range(len(FRICTION))],
        "half_spaces": [{"name": "slope"}],
        "contact": {"distance": 1e-4},
        "pairs": [{"a": f"block {i}", "b": "slope", "friction": friction} for i, friction in enumerate(FRICTION)],
    }


def main():
    """Simulates; returns the accelerations in the second half and those of rigid blocks, m/s^2."""
    sim = noli.Simulation(scene())
    times, speeds = [], []
    for report in sim.steps():
        times.append(report.time)
        speeds.append([sim.body_state(name).velocity[0] for name in sim.bodies])
    half = len(times) // 2 - 1
    accelerations = (np.array(speeds[-1]) - speeds[half]) / (times[-1] - times[half])
    rigid = np.maximum(GRAVITY[0] + FRICTION * GRAVITY[1], 0)
    for friction, acceleration, expected in zip(FRICTION, accelerations, rigid):
        print(f"friction {friction:.2f}: {acceleration:.4f} m/s^2, rigid {expected:.4f} m/s^2")
    print(f"state {sim.state_hash:016x}")
    return accelerations, rigid


if __name__ == "__main__":
    main()
