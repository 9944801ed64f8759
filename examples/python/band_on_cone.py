"""A rubber band is pushed down a cone and stays there, stretched, by friction. The motion of the pusher is a function of
Python; its force is printed."""
import numpy as np

import noli


def pusher(t, X):
    """Down by 5 cm within half a second, then up again."""
    down = np.interp(t, [0, 0.5, 0.6, 0.9], [0, 0.05, 0.05, -0.02])
    return X - [0, down, 0]


SCENE = {
    "time": {"step": 0.01, "duration": 1},
    "bodies": [
        {
            "name": "band",
            "mesh": {"torus": {"ring_radius": 0.05, "tube_radius": 0.006, "cells_around": 20, "cells_across": 2}},
            "translate": [0, 0.0965, 0],
            "material": {"law": "stable_neo_hookean", "young": 2e5, "poisson": 0.45, "damping": 5e-3},
        }
    ],
    "obstacles": [
        {"name": "cone", "mesh": {"revolution": {"profile": [[0.12, -0.1], [0, 0.2]], "cells_around": 40}}},
        {
            "name": "pusher",
            "mesh": {"revolution": {"profile": [[0.044, 0], [0.075, 0]], "cells_around": 32}},
            "translate": [0, 0.104, 0],
            "motion": pusher,
        },
    ],
    "friction": {"coefficient": 0.6},
    "pairs": [{"a": "band", "b": "pusher", "friction": 0}],
}


def main():
    """Simulates; returns height and mean radius of the band, m, and the force of the pusher, N, of each step."""
    sim = noli.Simulation(SCENE)
    rows, history = sim.vertices("band"), []
    for report in sim.steps():
        x = sim.positions[rows]
        radius = np.hypot(x[:, 0], x[:, 2]).mean()
        history.append((sim.body_state("band").centre[1], radius, sim.wrench("pusher").normal[1]))
        if report.step % 20 == 0:
            print(f"t {report.time:.2f} s  height {1e3 * history[-1][0]:.1f} mm  radius {1e3 * radius:.1f} mm  "
                  f"push {history[-1][2]:.2f} N")
    return np.array(history)


if __name__ == "__main__":
    main()
