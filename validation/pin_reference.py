#!/usr/bin/env python3
"""A second computation of the pin in a hole (pin.c), which shares nothing with Noli: in the plane, with bilinear
quadrilaterals, small displacements, no clearance, and contact with Coulomb's friction between nodes that match.

usage: pin_reference.py [CELLS]      around a quarter of the hole, default 12; needs NumPy

Prints the displacement of the edge of the hole in the direction of the force and the contact pressure there; the exit
status is 1 if they are not those that docs/evidence/validation.md states.
"""
import sys

try:
    import numpy as np
except ImportError as error:
    print(f"pin_reference.py: {error}: install python3-numpy", file=sys.stderr)
    sys.exit(77)

HOLE, OUTER, LENGTH, THICKNESS = 50.0, 100.0, 200.0, 10.0  # mm
PIN_YOUNG, SHEET_YOUNG, POISSON = 2.1e5, 7e4, 0.3  # MPa
FORCE = 1e5  # N, on y >= 0
CORE = 0.01  # part of the radius of the pin that is rigid and carries the force
RANGE = np.radians(20)  # of the pressure
CORNER = np.pi - np.arctan(OUTER / LENGTH)  # angle of the corner of the sheet


def grid(n_around, n_outward, radii):
    """Points (n_around + 1, n_outward + 1, 2) between radii(angle) = (inner, outer), and angles of the columns."""
    a = np.linspace(0, 1, n_around + 1)
    angles = np.where(a <= 0.75, CORNER * a / 0.75, CORNER + (np.pi - CORNER) * (4 * a - 3))
    share = np.linspace(0, 1, n_outward + 1)
    points = np.empty((n_around + 1, n_outward + 1, 2))
    for row, angle in zip(points, angles):
        inner, outer, growth = radii(angle)
        share_of = share if growth == 0 else np.expm1(growth * share) / np.expm1(growth)
        row[:] = (inner + (outer - inner) * share_of)[:, None] * [np.cos(angle), np.sin(angle)]
    return points, angles


def sheet_radii(angle):
    if np.cos(angle) >= 0:
        outer = OUTER
    elif angle <= CORNER + 1e-9:
        outer = OUTER / np.sin(angle)
    else:
        outer = -LENGTH / np.cos(angle)
    return HOLE, outer, 1.0


def stiffness(points, young, plane_strain):
    """The matrix of a grid of bilinear quadrilaterals; node (i, j) has the degrees 2 (i n + j) and the next."""
    n_i, n_j = points.shape[:2]
    number = np.arange(n_i * n_j).reshape(n_i, n_j)
    if plane_strain:
        law = young / ((1 + POISSON) * (1 - 2 * POISSON)) * np.array(
            [[1 - POISSON, POISSON, 0], [POISSON, 1 - POISSON, 0], [0, 0, 0.5 - POISSON]])
    else:
        law = young / (1 - POISSON**2) * np.array([[1, POISSON, 0], [POISSON, 1, 0], [0, 0, 0.5 * (1 - POISSON)]])
    matrix = np.zeros((2 * n_i * n_j,) * 2)
    for i in range(n_i - 1):
        for j in range(n_j - 1):
            # counterclockwise: outward, then around
            nodes = [number[i, j], number[i, j + 1], number[i + 1, j + 1], number[i + 1, j]]
            x, block = points.reshape(-1, 2)[nodes], np.zeros((8, 8))
            for s in (-1, 1):
                for t in (-1, 1):
                    u, v = s / 3**0.5, t / 3**0.5
                    slopes = np.array([[v - 1, 1 - v, 1 + v, -1 - v], [u - 1, -1 - u, 1 + u, 1 - u]]) / 4
                    jacobian = slopes @ x
                    gradient = np.linalg.solve(jacobian, slopes)
                    strain = np.zeros((3, 8))
                    strain[0, ::2] = strain[2, 1::2] = gradient[0]
                    strain[1, 1::2] = strain[2, ::2] = gradient[1]
                    block += strain.T @ law @ strain * np.linalg.det(jacobian) * THICKNESS
            degrees = np.ravel([[2 * node, 2 * node + 1] for node in nodes])
            matrix[np.ix_(degrees, degrees)] += block
    return matrix


def compliance(points, matrix, held, column, axes):
    """Displacements along the axes (n x 2 x 2: normal, tangent) of the nodes of a column under unit forces along them."""
    n, n_j = len(points), points.shape[1]
    forces = np.zeros((len(matrix), 2 * n))
    for k in range(2):
        for i in range(n):
            forces[2 * (i * n_j + column):][:2, k * n + i] = axes[i, k]
    free = np.setdiff1d(np.arange(len(matrix)), held)
    moved = np.zeros_like(forces)
    moved[free] = np.linalg.solve(matrix[np.ix_(free, free)], forces[free])
    return forces.T @ moved


def solve_contact(sum_of_both, axes, friction):
    """Normal and tangential forces. Each pair of nodes is open (0), sticks (1) or slips to either side (2, -2)."""
    n = len(axes)
    along = np.r_[axes[:, 0, 0], axes[:, 1, 0]]  # a motion of the pin along x
    signs = np.r_[-np.ones(n), np.ones(n)]  # of the forces on the pin
    relative = np.c_[sum_of_both * signs, along]
    state = np.where(np.arange(n) < 0.45 * n, 1, 0)
    for turn in range(100):
        system, right = np.zeros((2 * n + 1,) * 2), np.zeros(2 * n + 1)
        for i in range(n):
            system[i] = relative[i] if state[i] else np.eye(2 * n + 1)[i]
            system[n + i, n + i] = 1
            if state[i] == 1 and 0 < i < n - 1:
                system[n + i] = relative[n + i]
            elif abs(state[i]) == 2:
                system[n + i, i] = -friction * np.sign(state[i])
        system[-1, :-1], right[-1] = signs * along, -FORCE
        found = np.linalg.solve(system, right)
        normal, tangent, way = found[:n], found[n:-1], relative @ found
        new = state.copy()
        new[(state == 0) & (way[:n] > 1e-12)] = 1
        new[(state != 0) & (normal < 0)] = 0
        slips = (state == 1) & (normal >= 0) & (abs(tangent) > friction * normal * (1 + 1e-9))
        new[slips] = 2 * np.sign(tangent[slips])
        # friction acts against the slip
        new[(abs(state) == 2) & (way[n:] * state > 2e-12) & (normal >= 0)] = 1
        if (new == state).all():
            return normal, tangent
        # all at once, and one by one where that would alternate
        changed = np.flatnonzero(new != state)[:None if turn < 20 else 1]
        state[changed] = new[changed]
    sys.exit("pin_reference.py: the states of contact do not settle")


def compute(cells, friction, plane_strain):
    """Displacement of the edge of the hole, mm, and pressures there, MPa: at the node, and around it as in pin.c."""
    sheet, angles = grid(4 * cells, cells, sheet_radii)
    pin, _ = grid(4 * cells, cells, lambda angle: (CORE * HOLE, HOLE, 0.0))
    axes = np.stack([np.c_[np.cos(angles), np.sin(angles)], np.c_[-np.sin(angles), np.cos(angles)]], axis=1)
    x, y = sheet.reshape(-1, 2).T
    left = np.flatnonzero(abs(x + LENGTH) < 1e-6)
    held = np.concatenate([2 * np.flatnonzero(abs(y) < 1e-9) + 1, 2 * left, 2 * left + 1])
    of_sheet = compliance(sheet, stiffness(sheet, SHEET_YOUNG, plane_strain), held, 0, axes)
    x, y = pin.reshape(-1, 2).T
    core = np.flatnonzero(np.hypot(x, y) < 1.1 * CORE * HOLE)
    held = np.concatenate([2 * np.flatnonzero(abs(y) < 1e-9) + 1, 2 * core, 2 * core + 1])
    of_pin = compliance(pin, stiffness(pin, PIN_YOUNG, plane_strain), held, cells, axes)
    normal, tangent = solve_contact(of_sheet + of_pin, axes, friction)
    displacement = (of_sheet @ np.r_[normal, -tangent])[0]
    width = np.gradient(angles, edge_order=1) * np.r_[0.5, np.ones(len(angles) - 2), 0.5]
    weight = np.maximum(1 - (angles / RANGE)**2, 0)**2
    return displacement, normal[0] / (width[0] * HOLE * THICKNESS), \
        (weight * normal).sum() / (8 / 15 * RANGE * HOLE * THICKNESS)


def main():
    cells, good = int(sys.argv[1]) if len(sys.argv) > 1 else 12, True
    for name, friction, plane_strain, expected in (("plane strain", 0.1, True, (0.736, 156, 159)),
                                                   ("plane strain", 0.0, True, (0.756, 189, 190)),
                                                   ("plane stress", 0.1, False, (0.791, 156, 159))):
        found = compute(cells, friction, plane_strain)
        print(f"{name}, friction {friction}: displacement {found[0]:.5f} mm, pressure at the node {found[1]:.2f} MPa, "
              f"around it {found[2]:.2f} MPa")
        good = good and np.allclose(found, expected, rtol=0.01)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
