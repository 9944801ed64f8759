"""A shaft that is 5 micrometres too thick sits in a hub; both are elastic, a quarter of each in plane strain. The rest shape of the
shaft is the thick one, and the run starts with a shaft that is squeezed to fit. Prints the pressure beside Lame's closed form."""
import numpy as np

import noli

BORE, RADIUS, OUTSIDE = 0.004, 0.010, 0.020  # m: bore of the shaft, the fit, outside of the hub
INTERFERENCE, GAP = 5e-6, 2e-8               # m, of the radius
STEEL = {"young": 2.1e11, "poisson": 0.3, "density": 7800}


def quarter(inner, outer, around, through):
    """A quarter of a ring."""
    mesh = noli.Mesh.rectangle((1, 1), (around, through))
    angle = np.pi / 2 * (0.5 - mesh.positions[:, 0])
    radius = inner + (outer - inner) * (mesh.positions[:, 1] + 0.5)
    mesh.positions[:, 0], mesh.positions[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    # the planes of symmetry, to the bit
    mesh.positions[np.abs(mesh.positions) < 1e-12] = 0
    return mesh


def lame():
    """Pressure of two thick rings in plane strain that overlap by the interference."""
    young, poisson = STEEL["young"] / (1 - STEEL["poisson"] ** 2), STEEL["poisson"] / (1 - STEEL["poisson"])
    hub = (OUTSIDE**2 + RADIUS**2) / (OUTSIDE**2 - RADIUS**2) + poisson
    shaft = (RADIUS**2 + BORE**2) / (RADIUS**2 - BORE**2) - poisson
    return INTERFERENCE * young / (RADIUS * (hub + shaft))


def scene(around=16):
    shaft = quarter(BORE, RADIUS + INTERFERENCE, around, around // 2)
    squeezed = shaft.positions * (RADIUS - GAP) / (RADIUS + INTERFERENCE)
    planes = [{"body": body, "select": {"side": side}, "motion": {"displacement": motion}}
              for body in ("hub", "shaft")
              for side, motion in (("-x", [0, "free", "free"]), ("-y", ["free", 0, "free"]))]
    return {
        "time": {"step": 1, "steps": 1, "integrator": "quasi_static"},
        "gravity": [0, 0, 0],
        "bodies": [
            {"name": "hub", "mesh": quarter(RADIUS, OUTSIDE, around, around // 2), "plane_strain": 1, "material": STEEL},
            {"name": "shaft", "mesh": shaft, "start": squeezed.tolist(), "plane_strain": 1, "material": STEEL},
        ],
        "prescribed": planes,
        "contact": {"distance": GAP * 1.0001},
    }


def main(around=16):
    """The pressure of the simulation and Lame's, Pa."""
    sim = noli.Simulation(scene(around))
    sim.run()
    force = np.abs(sim.pair_forces()["normal"][0])
    pressure = (force[0] + force[1]) / (2 * RADIUS)
    print(f"pressure {pressure / 1e6:.2f} MPa, Lame {lame() / 1e6:.2f} MPa")
    return pressure, lame()


if __name__ == "__main__":
    main()
