"""A plate compresses a rubber pad and drags it: examples/guide/press.json with the motion as a Python function.
Prints the forces of the plate on the pad, as examples/guide/ratio.py does."""
import numpy as np

import noli


def smoothstep(low, high, t):
    """0 before `low`, 1 after `high`, smooth between."""
    s = np.clip((t - low) / (high - low), 0, 1)
    return s * s * (3 - 2 * s)


def plate(t, X):
    """Positions of the plate at time t, of its rest positions X (n x 3)."""
    return X + [0.03 * smoothstep(0.4, 0.9, t), -0.01 * smoothstep(0, 0.3, t), 0]


SCENE = {
    "time": {"step": 0.01, "duration": 1},
    "bodies": [
        {
            "name": "pad",
            "mesh": noli.Mesh.box((0.1, 0.05, 0.1), (6, 3, 6)),
            "translate": [0, 0.0252, 0],
            "material": {"law": "stable_neo_hookean", "young": 2e5, "poisson": 0.45, "damping": 1e-3},
        }
    ],
    "obstacles": [
        {
            "name": "plate",
            "mesh": noli.Mesh.plane((0.3, 0.2), (3, 2)),
            "rotate": [180, 0, 0],
            "translate": [0, 0.051, 0],
            "motion": plate,
        }
    ],
    "half_spaces": [{"name": "floor"}],
    "friction": {"coefficient": 0.6},
    "pairs": [{"a": "pad", "b": "plate", "friction": 0.2}],
}


def main(steps=None):
    """Simulates; returns times, and normal and friction forces of the plate, N."""
    sim = noli.Simulation(SCENE)
    history = []
    for report in sim.steps(steps):
        wrench = sim.wrench("plate")
        normal, friction = np.linalg.norm(wrench.normal), np.linalg.norm(wrench.friction)
        history.append((report.time, normal, friction))
        if report.step % 10 == 0:
            print(f"t {report.time:.2f} s  normal {normal:6.1f} N  friction/normal {friction / normal:.3f}")
    return np.array(history)


if __name__ == "__main__":
    main()
