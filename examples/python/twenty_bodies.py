"""Twenty blocks on a slope of 20 degrees, each with its own friction: those above tan 20 = 0.364 stay, the others slide
with the acceleration g (sin 20 - friction cos 20)."""
import numpy as np

import noli

ANGLE = np.radians(20)
FRICTION = np.linspace(0.05, 0.62, 20)
GRAVITY = 9.80665


def scene():
    """Gravity is turned instead of the slope."""
    return {
        "time": {"step": 0.01, "duration": 0.4},
        "gravity": GRAVITY * np.array([np.sin(ANGLE), -np.cos(ANGLE), 0]),
        "bodies": [{"name": f"block {i}", "mesh": {"box": {"size": [0.1, 0.05, 0.1], "cells": [2, 1, 2]}},
                    "translate": [0, 0.0252, 0.15 * i], "material": {"young": 1e6}} for i in range(len(FRICTION))],
        "half_spaces": [{"name": "slope"}],
        "contact": {"distance": 1e-4},
        "pairs": [{"a": f"block {i}", "b": "slope", "friction": friction} for i, friction in enumerate(FRICTION)],
    }


def main():
    """Simulates; returns the speeds of the blocks at the end and those of rigid blocks, m/s."""
    sim = noli.Simulation(scene())
    for report in sim.steps():
        pass
    speeds = np.array([sim.body_state(name).velocity[0] for name in sim.bodies])
    rigid = np.maximum(np.sin(ANGLE) - FRICTION * np.cos(ANGLE), 0) * GRAVITY * report.time
    for friction, speed, expected in zip(FRICTION, speeds, rigid):
        print(f"friction {friction:.2f}: {speed:.3f} m/s, rigid {expected:.3f} m/s")
    return speeds, rigid


if __name__ == "__main__":
    main()
