"""Results: one dataclass for each struct that the library fills. SI units throughout.

Functions that return many of them return a NumPy record array with the same names: `contacts.gap` is the array of
all gaps, `contacts[0].gap` the first.

Generated from include/noli by scripts/python_declarations.py.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._result import Result

# Arrays that are matrices.
SHAPES = {("BodyState", "inertia"): (3, 3), ("Stress", "first_piola"): (3, 3)}


@dataclass(slots=True, repr=False)
class StepTiming(Result):
    """Wall time of the parts of a step, s."""

    assemble: float
    linear: float
    ccd: float
    contacts: float
    line_search: float
    other: float


@dataclass(slots=True, repr=False)
class NewtonStat(Result):
    """One Newton iteration."""

    #: of the scaled incremental potential, J s^2
    energy_change: float
    #: max |gradient|
    residual: float
    #: max |Newton step| / h, m/s, before any cut
    step_speed: float
    #: bound that keeps elements positive, in [0, 1]
    alpha_inversion: float
    #: bound that keeps surfaces apart, in [0, 1]
    alpha_ccd: float
    #: the step taken, in [0, 4]; longer than 1 where the model was too stiff
    alpha: float
    #: weight of the early iterations ([Zheng2025] eq. 9); 1 while unused
    beta: float
    #: penalty stiffness of the augmented Lagrangian; 0 without
    mu: float
    #: m, smallest distance of a constraint; 0 without the active set
    min_gap: float
    #: active contacts; constraints of the active set
    contacts: int
    #: constraints that push; 0 without the active set
    active: int
    #: constraints added after the iteration
    added: int
    #: constraints that had decayed and were removed
    removed: int
    #: m, deepest linearized penetration of a constraint in the target that the iteration found; 0 without the
    #: active set
    penetration: float
    #: estimate, from below, of the condition number of the linear system, preconditioned by its diagonal
    #: blocks; 0 where "pcg" did not solve it
    condition: float
    linear_iterations: int
    #: solve of the step, with lagged friction, that the iteration belongs to
    friction_iteration: int
    #: stage of the integrator, from 0
    stage: int
    #: implicit_newton: |residual| over all unknowns before the iteration, kg m
    merit: float
    #: implicit_newton: origin of the direction: 0 the exact Jacobian, 1 the one with projected Hessians, 2 a
    #: shifted one, 3 an iteration of projected Newton with lagged friction, for a better start
    fallback: int


@dataclass(slots=True, repr=False)
class StepReport(Result):
    """Report of a step. Energies in J, momentum in kg m/s."""

    #: number of steps done, this one included
    step: int
    #: s, at the end of the step
    time: float
    #: s
    wall: float
    newton_iterations: int
    #: solves with friction forces of their own; over all stages of the step
    friction_iterations: int
    linear_iterations: int
    #: active pairs at the end of the step
    contacts: int
    #: largest number over the iterations of the step
    contacts_max: int
    #: m, less the contact offsets; inf without contact; below 0: the depth of the deepest vertex, only with
    #: contact_model "implicit_surface"
    min_distance: float
    #: stiffness of barrier or penalty, of the scaled potential
    kappa: float
    #: of the penalty of "implicit_surface", each solved again
    stiffness_increases: int
    kinetic: float
    elastic: float
    gravity: float
    contact_energy: float
    #: of lagged friction; implicit friction has none: see friction_loss
    friction_energy: float
    #: of regions that resist a change of volume
    volume_energy: float
    #: energy dissipated by damping and mass_damping in this step, >= 0
    damping_loss: float
    #: energy dissipated by friction in this step, for every method: its forces at the end of the step times
    #: the motion in the step
    friction_loss: float
    #: lagged friction: largest ratio, over bodies, of friction to the limit of the law with the normal forces
    #: at the end of the step; more than 1: too much, infinite: friction without a normal force
    friction_ratio: float
    #: lagged friction, in [0, 1]: largest share of the friction of a body that is in excess or missing
    #: because the normal forces have changed
    friction_error: float
    #: (3)
    momentum: np.ndarray
    max_speed: float
    #: share of the prescribed motion that was reached, in [0, 1]
    motion_done: float
    #: m, largest distance of a prescribed vertex from its target
    motion_error: float
    #: cause that stopped the prescribed motion or the step, or ""
    blocked_by: str
    timing: StepTiming
    #: iterations whose direction was not that of the exact Jacobian
    fallbacks: int
    #: parts of the step, 1 where it was not divided; increments
    substeps: int
    #: repetitions: in more parts, or with prescribed nodes held
    retries: int
    #: (newton_iterations)
    newton: np.recarray
    #: systems that the selected iterative linear solver failed to solve, which were factored instead, and
    #: systems that rounding had made indefinite, whose diagonal was regularized
    linear_fallbacks: int
    #: 1: solver "augmented_lagrangian" failed and "projected_newton" solved the step, or the rest of it where
    #: it was divided; 0 otherwise
    solver_fallbacks: int
    #: s, length of the shortest part of the step
    increment: float
    #: largest residual force on a body, relative to the force that acts on it; at most SimDef.imbalance,
    #: unless rounding is larger
    imbalance: float
    #: Friction law "stick": energy in the slips of contacts, which friction_loss does not contain; contacts
    #: that hold and that slide; the longest way that one of them has slid
    friction_stored: float
    contacts_held: int
    contacts_sliding: int
    #: m
    slid: float
    #: J, of surfaces that adhere, 0 where they are apart, else negative
    adhesion_energy: float
    #: largest |A^T A - I| of a rigid body, in the norm of Frobenius
    rigid_stretch: float
    #: m, largest error of a joint that is not one of shared points
    joint_gap: float


@dataclass(slots=True, repr=False)
class Energies(Result):
    """Energies of the present state, J."""

    kinetic: float
    #: of elements and springs
    elastic: float
    #: 0 at the origin
    gravity: float
    #: of regions that resist a change of volume
    volume: float
    #: of the barrier or penalty in the last step; 0 before the first
    contact: float


@dataclass(slots=True, repr=False)
class BodyState(Result):
    """Inertia and motion of a body at the present state."""

    #: kg; 0 of obstacles, as all that follows but the centre
    mass: float
    #: m^3
    rest_volume: float
    #: (3) m, centre of mass; of the vertices of obstacles
    centre: np.ndarray
    #: (3) m/s, of the centre of mass
    velocity: np.ndarray
    #: (3) kg m/s
    momentum: np.ndarray
    #: (3 x 3) kg m^2, about the centre, axes of the world, row by row
    inertia: np.ndarray
    #: (3) kg m^2/s, about the centre
    angular_momentum: np.ndarray
    #: (3) rad/s, of the rigid motion with the same angular momentum
    angular_velocity: np.ndarray


@dataclass(slots=True, repr=False)
class Wrench(Result):
    """Forces of contact on a body or half-space in the last step, and their moments."""

    #: (3) N
    normal: np.ndarray
    #: (3) N
    friction: np.ndarray
    #: (3) N m
    normal_moment: np.ndarray
    #: (3) N m
    friction_moment: np.ndarray


@dataclass(slots=True, repr=False)
class Reaction(Result):
    """The total reaction to a motion."""

    #: (3) N
    force: np.ndarray
    #: (3) N m
    moment: np.ndarray


@dataclass(slots=True, repr=False)
class PairForce(Result):
    """Resultants over all contacts between two entities: forces on `a`; the opposite ones act on `b`."""

    a: int
    b: int
    contacts: int
    #: (3) N
    normal: np.ndarray
    #: (3) N
    friction: np.ndarray
    #: m, less the contact offsets
    min_distance: float


@dataclass(slots=True, repr=False)
class ContactInfo(Result):
    """A contact in the last step: two primitives that act on each other."""

    #: (2) bodies, or a body and a half-space
    entity: np.ndarray
    #: (4) of both primitives, global, those that the distance depends on: first n_first of entity[0], then
    #: those of entity[1]; -1 fills up
    vertex: np.ndarray
    n_first: int
    sticking: int
    #: (2 x 3) m, closest points of both sides, less contact offsets
    position: np.ndarray
    #: (3) unit, from entity[1] to entity[0]
    normal: np.ndarray
    #: m; inf where only friction acts, with the normal force of an earlier point (lagged friction)
    gap: float
    #: (3) N, on entity[0]
    normal_force: np.ndarray
    #: (3) N, on entity[0]
    friction_force: np.ndarray
    #: (3) m, elastic, of entity[0] against entity[1]: it is given back
    slip: np.ndarray
    #: m, how far the contact has slid in all its steps
    slid: float


@dataclass(slots=True, repr=False)
class SurfacePoint(Result):
    """A point on a surface."""

    #: body or half-space; -1: nothing was found
    entity: int
    #: of the primitive: 3 triangle, 2 segment, 1 point, 0 half-space
    n_vert: int
    #: (3) global
    vertex: np.ndarray
    #: (3) the point is the sum of weight times vertex
    weight: np.ndarray
    #: (3) m
    position: np.ndarray
    #: (3) unit, of the triangle or half-space; 0 of segments and points
    normal: np.ndarray
    #: m, from the origin of the ray or the given point
    distance: float


@dataclass(slots=True, repr=False)
class RegionVolume(Result):
    """A region of SimDef.volumes at the present state."""

    body: int
    #: m^3
    rest_volume: float
    #: m^3
    volume: float
    #: Pa, above the pressure outside
    pressure: float
    #: J, 0 at rest
    energy: float


@dataclass(slots=True, repr=False)
class SpringForce(Result):
    """Springs of a definition at the present state."""

    body: int
    #: -1: the ground
    to: int
    #: springs
    n: int
    #: (3) N, of springs and dampers on `body`
    force: np.ndarray
    #: m, mean distance of the ends
    length: float
    #: J
    energy: float


@dataclass(slots=True, repr=False)
class JointState(Result):
    """A joint at the present state. Efforts are those in its coordinates, N m or N, on `body`, at the end of
    the last step; force and torque are all that it exerts on `body`, efforts included, 0 before a step.
    docs/background/rigid.md"""

    body: int
    #: -1: the world
    to: int
    #: coordinates
    n: int
    #: (2) rad or m, 0 at the start of the scene, over full turns
    coordinate: np.ndarray
    #: (2) rad/s or m/s
    speed: np.ndarray
    #: (2) effort of the motor
    motor: np.ndarray
    #: (2) of limits
    limit: np.ndarray
    #: (2) of the spring
    spring: np.ndarray
    #: (2) of the damper
    damper: np.ndarray
    #: (2) of dry friction
    friction: np.ndarray
    #: (3) m, the point of `body`
    at: np.ndarray
    #: (3) N, at that point
    force: np.ndarray
    #: (3) N m, about that point
    torque: np.ndarray


@dataclass(slots=True, repr=False)
class Diagnosis(Result):
    """A finding about the last step, at most one of each kind."""

    kind: int
    #: Newton iterations that it cut; 0 where it cuts none
    iterations: int
    #: of these, the shortest: fraction that was left of the Newton step; of NOLI_DIAGNOSIS_MOTION the share
    #: of the motion that was done
    alpha: float
    #: (2) bodies or half-spaces of the shortest one; -1: none
    entity: np.ndarray
    #: (2) vertices of each primitive (1 point, 2 edge, 3 triangle, 4 tet)
    n_vert: np.ndarray
    #: (2 x 4) vertex indices within each body
    vertex: np.ndarray
    #: m, of the primitives in the present state, less the contact offsets; inf without a second one
    distance: float
    #: (3) m, between their closest points; centre of an element; NaN: no place
    position: np.ndarray


@dataclass(slots=True, repr=False)
class Defect(Result):
    """One initial defect: two primitives that intersect or touch, a surface inside a solid, or an inverted
    element."""

    kind: int
    #: (2) bodies or half-spaces; second -1 for inversions
    entity: np.ndarray
    #: (2) vertices of each primitive (1 point, 2 edge, 3 triangle, 4 tet)
    n_vert: np.ndarray
    #: (2 x 4) vertex indices within each body
    vertex: np.ndarray
    #: (3) where
    position: np.ndarray
    #: m; negative depth below a half-space or a surface; less the contact offsets
    distance: float


@dataclass(slots=True, repr=False)
class MeshCheck(Result):
    """Defects of a mesh. Cells are numbered consecutively: tetrahedra first, then triangles, segments,
    points. Each `first_` is -1 if there is none."""

    #: vertices, then nodes of curves, that are not finite
    n_bad_coordinates: int
    #: cells that name a vertex that does not exist, or one twice
    n_bad_indices: int
    #: tetrahedra of negative volume; curved ones whose determinant is not positive everywhere
    n_inverted: int
    #: tetrahedra of zero volume (relative to their longest edge)
    n_flat: int
    #: triangles or segments of zero size
    n_degenerate: int
    #: cells that occur again, in any order of their vertices
    n_duplicate_cells: int
    #: surface edges of more than two triangles; harmless for contact
    n_non_manifold_edges: int
    #: vertices of no cell
    n_unused_vertices: int
    #: vertex that is not finite
    first_bad_vertex: int
    #: tetrahedron
    first_inverted: int
    #: tetrahedron
    first_flat: int
    #: cell with bad indices
    first_bad_cell: int
    #: cell
    first_degenerate: int
    #: cell that occurred before
    first_duplicate: int
    first_unused_vertex: int
    #: (2) its two vertices
    first_non_manifold_edge: np.ndarray


@dataclass(slots=True, repr=False)
class Finding(Result):
    """A defect."""

    kind: int
    #: name within the directory
    file: str
    #: of the state or row; -1: none
    step: int
    #: bodies or half-spaces of the defect, else ""
    entity: list[str]
    #: of intersection, half_space, inverted and nested: primitives, position
    defect: Defect
    #: complete description
    message: str


@dataclass(slots=True, repr=False)
class Summary(Result):
    """Totals of a run."""

    #: its name
    scene: str
    nodes: int
    tets: int
    surface_triangles: int
    threads: int
    steps: int
    #: s, simulated
    time: float
    finished: bool
    #: s, sum over sessions
    wall: float
    #: s, sum of the wall times of the steps
    solve: float
    newton_total: int
    #: most in one step
    newton_max: int
    contacts_max: int
    #: m, minimum over all steps; inf: never any contact
    min_distance: float
    #: largest over sessions, 1e6 bytes
    peak_rss_mb: float
    timing: StepTiming
    n_frames: int
    #: steps repeated in more parts
    retries: int
    #: steps done in more than one part
    divided_steps: int
    #: largest of all steps, as in StepReport
    friction_ratio: float
    #: largest of all steps, as in StepReport
    friction_error: float
    #: systems that the selected linear solver did not solve
    linear_fallbacks: int
    #: steps that the selected solver did not solve
    solver_fallbacks: int
    #: why the run ended early, None if it did not
    failure: str | None
    #: largest of all steps, as in StepReport
    imbalance: float
    #: steps in which a prescribed motion did not reach its targets
    blocked_steps: int
    #: m, largest distance of a prescribed vertex from its target, last step
    motion_error: float
    #: m, largest of all steps
    motion_error_max: float
    #: what stopped a prescribed motion in the last step, or ""
    blocked_by: str


@dataclass(slots=True, repr=False)
class CheckpointInfo(Result):
    """Description of a checkpoint."""

    #: of the library that wrote it
    version: str
    #: number of steps done
    step: int
    #: s
    time: float
    #: of the state
    hash: int
    #: None if none was given
    scene_json: str | None


@dataclass(slots=True, repr=False)
class Stress(Result):
    """Stress and strain of an element, means over its volume at rest, or of a vertex, means of the elements
    around it. Symmetric tensors are xx, yy, zz, xy, yz, xz."""

    #: (6) Pa, axes of the world; of shells without bending, of rods their tension over the area at rest
    cauchy: np.ndarray
    #: (3) Pa, the eigenvalues of `cauchy`, the largest first
    principal: np.ndarray
    #: (3 x 3) Pa, P = dPsi/dF row by row; 0 in shells, rods and points
    first_piola: np.ndarray
    #: (6) (F^T F - 1) / 2, axes of the rest shape; 0 in shells, rods, points
    green_strain: np.ndarray
    #: Pa, mean of the equivalent of `cauchy`
    von_mises: float


@dataclass(slots=True, repr=False)
class SheetForces(Result):
    """Forces and moments inside a triangle of a shell: symmetric tensors in the axes of the world, xx, yy,
    zz, xy, yz, xz, per length as it is now."""

    #: (6) N/m; positive eigenvalues are tension
    membrane: np.ndarray
    #: (6) N m/m; a positive eigenvalue shortens the side of the triangle's normal
    bending: np.ndarray


@dataclass(slots=True, repr=False)
class RodForces(Result):
    """Forces and moments inside a segment of a rod: what the side of its second vertex exerts on that of the
    first one."""

    #: N, negative under pressure
    tension: float
    #: (3) N m, a vector across the segment
    bending: np.ndarray
    #: N m, about the segment from its first vertex to the second
    twist: float


@dataclass(slots=True, repr=False)
class GradientReport(Result):
    """The cost of a gradient and its estimated accuracy."""

    #: largest error of an objective that the residuals of the solves imply, relative to its value: |lambda .
    #: r| summed over all of them
    residual_error: float
    #: s, of the run
    forward: float
    #: s, of the derivatives, recomputed steps included
    backward: float
    #: steps
    recomputed: int
    #: of kept states, at most
    bytes: int
    #: points of quadrature, of all steps, whose stress is that at which they begin to flow, within 1e-8:
    #: derivatives are those of one side there
    at_yield: int
