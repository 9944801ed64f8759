"""A rubber band is pushed down a cone and stays there, stretched, by friction. Prints height, radius and push, then the
tension of the band: from the forces of the cone, and in theory. The same as examples/c/band_on_cone.c."""
import numpy as np

import noli

YOUNG, POISSON, DENSITY = 2e5, 0.45, 1000


def pusher(t, X):
    """Down by 5 cm within half a second, then up again."""
    return X + [0, -0.05 * np.clip(t / 0.5, 0, 1) + 0.07 * np.clip((t - 0.6) / 0.3, 0, 1), 0]


SCENE = {
    "time": {"step": 0.01, "duration": 1},
    "bodies": [
        {
            "name": "band",
            "mesh": {"torus": {"ring_radius": 0.05, "tube_radius": 0.006, "cells_around": 20, "cells_across": 2}},
            "translate": [0, 0.0965, 0],
            "material": {"law": "stable_neo_hookean", "young": YOUNG, "poisson": POISSON, "density": DENSITY,
                         "damping": 5e-3},
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
    "friction": {"coefficient": 0.6, "iterations": "until_convergence"},
    "pairs": [{"a": "band", "b": "pusher", "friction": 0}],
}


def mean_radius(sim, x):
    """The mean distance of the band from the axis, m, weighted by mass: at rest, or now."""
    rows = sim.vertices("band")
    return np.average(np.hypot(x[rows, 0], x[rows, 2]), weights=sim.masses[rows])


def tension(sim):
    """Stretch and tension (N) of the band, and the tension in theory: the forces on a ring in equilibrium, summed along
    its radii, are 2 pi times its tension; rubber that is stretched by s has the stress (s - 1/s^2) E / (2 (1 + nu))."""
    rows = sim.vertices("band")
    x, force = sim.positions[rows], (sim.contact_forces() + sim.friction_forces())[rows]
    outward = ((force[:, 0] * x[:, 0] + force[:, 2] * x[:, 2]) / np.hypot(x[:, 0], x[:, 2])).sum()
    rest = mean_radius(sim, sim.rest_positions)
    stretch = mean_radius(sim, sim.positions) / rest
    stress = YOUNG / (2 * (1 + POISSON)) * (stretch - 1 / stretch**2)
    return stretch, outward / (2 * np.pi), stress * sim.masses[rows].sum() / DENSITY / (2 * np.pi * rest)


def main():
    """Simulates; returns height and radius of the band, m, and the push, N, of each step, and the tensions."""
    sim, history = noli.Simulation(SCENE), []
    for report in sim.steps():
        history.append((sim.body_state("band").centre[1], mean_radius(sim, sim.positions),
                        sim.wrench("pusher").normal[1]))
        if report.step % 20 == 0:
            height, radius, push = history[-1]
            print(f"t {report.time:.2f} s  height {1e3 * height:.1f} mm  radius {1e3 * radius:.1f} mm  "
                  f"push {push:.2f} N")
    stretch, pull, theory = tension(sim)
    print(f"stretched by {stretch:.3f}, the band pulls with {pull:.3f} N, in theory {theory:.3f} N")
    print(f"state {sim.state_hash:016x}")
    return np.array(history), (pull, theory)


if __name__ == "__main__":
    main()
