"""Simulations: steps, state, control between steps, and results. docs/howto/live.md has a tour of what C has, too."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _library, results
from ._hints import Hinted, did_you_mean
from ._library import Context, decode, encode, ffi, given, lib, pointer_to, records, result, vector, view
from .mesh import Mesh
from .scene import Scene

#: called after every Newton iteration; False ends the step
Progress = Callable[[results.NewtonStat], Any]

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
# members of NoliPairDef that say which pair it is
_NAMES_OF_PAIR = ("size", "a", "b", "name_a", "name_b", "where")


class _Host:
    """The progress function of a simulation."""

    def __init__(self) -> None:
        self.function: Progress | None = None
        #: for threads of the library
        self.sink = _library.Sink()

    def progress(self, _user, _sim, iteration) -> bool:
        """A NoliProgressFn. A KeyboardInterrupt is raised here, too."""
        if _library.current_sink(self.sink).raised is not None:
            return False
        return self.function is None or self.function(result(iteration, "NewtonStat")) is not False

    def failed(self, kind, value, trace) -> None:
        """Keeps an exception of `progress`."""
        _library.current_sink(self.sink).note(kind, value, trace)


class _Functions:
    """Makes callbacks of the motions and forces of a scene."""

    def __init__(self) -> None:
        #: for exceptions in threads of the library, of batches
        self.sink = _library.Sink()

    def _failed(self, kind, value, trace) -> None:
        """Keeps the exception; what was to be computed is not a number, so that the step fails."""
        _library.current_sink(self.sink).note(kind, value, trace)
        frame = trace.tb_frame.f_locals if trace is not None else {}
        for i in range(3 * frame.get("c_count", 1) if "c_result" in frame else 0):
            frame["c_result"][i] = float("nan")

    def motion(self, function: Callable):
        """A NoliMotionFn."""
        def move(_user, _t0, t1, c_count, _node, c_rest, _x_t0, c_result):
            _evaluate(function, t1, c_count, c_rest, c_result)
        return ffi.callback("NoliMotionFn", move, onerror=self._failed)

    def force(self, function: Callable):
        """A NoliForceFn."""
        def load(_user, t, c_rest, c_result):
            _evaluate(function, t, 1, c_rest, c_result)
        return ffi.callback("NoliForceFn", load, onerror=self._failed)


def _evaluate(function, t, count, rest, out) -> None:
    X = _library.copy(rest, (count, 3), np.float64)
    view(out, (count, 3), np.float64, None, True)[...] = function(t, X)


class Simulation(Hinted):
    """A simulation of a scene: a Scene, a dict or the path of a file.

        sim = noli.Simulation("examples/guide/first.json")
        for report in sim.steps():
            print(report.time, sim.positions[:, 1].min())

    Names or numbers select bodies, entities (bodies and half-spaces), motions and forces. Arrays are views of the
    simulation without copies unless their comment says otherwise: a view shows the present state, and lives as long
    as it is used. Another thread that uses the same simulation waits until a step is done; simulations in different
    threads run at the same time, with the same bits as one after the other.
    """

    def __init__(self, scene: Scene | Mapping[str, Any] | str | os.PathLike, *,
                 overrides: Mapping[str, Any] | None = None, threads: int = 0):
        """`threads` of parallel loops; 0: as many as the machine has cores. Raises IntersectionError where surfaces
        intersect or touch (Scene.check lists all places), InvertedElement, ArgumentError."""
        if not isinstance(scene, Scene):
            scene = Scene(scene, overrides=overrides)
        elif overrides:
            raise TypeError("overrides belong to the scene: noli.Scene(..., overrides=...)")
        self.scene: Scene = scene
        self._start(Context(threads))
        self._functions = _Functions()
        definition, kept = scene._with_functions(self._functions)
        made = ffi.new("NoliSim**")
        self.context.call(lib.noli_sim_create, self.context.c, definition, made)
        self._kept = (scene, kept)
        self._own(made[0])

    def _start(self, context: Context) -> None:
        self.context = context
        self._host = _Host()
        self._progress = ffi.callback("NoliProgressFn", self._host.progress, error=False, onerror=self._host.failed)
        self._batch = None

    def _own(self, pointer) -> None:
        # what the library may call lives as long as the simulation
        self._h = self.context.own(pointer, "NoliSim**", lib.noli_sim_destroy, self._kept, self._progress)
        lib.noli_sim_set_progress(pointer, self._progress, ffi.NULL)

    @property
    def c(self):
        """The simulation for functions of the library that have no wrapper: noli.lib.noli_sim_...(sim.c, ...)."""
        if self._h is None:
            raise ValueError("the simulation is closed")
        return self._h.c

    def close(self) -> None:
        """Ends the simulation. Its memory is released when its last view is gone."""
        self._h = None

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._h is None:
            return "<noli.Simulation, closed>"
        return f"<noli.Simulation: {len(self.bodies)} bodies, {self.node_count} nodes, step {self.step_count}, " \
               f"t {self.time:g} s>"

    # ---- steps ----------------------------------------------------------------------------------

    def step(self, progress: Progress | None = None) -> results.StepReport:
        """Advances by one time step.

        `progress` is called after every Newton iteration; if it returns False, the step ends with Cancelled. A
        step that fails, by a StepError, by an exception of a Python function or by a KeyboardInterrupt, leaves the
        simulation as it was. The `report` of a StepError says how far the step came.
        """
        report = ffi.new("NoliStepReport*")
        with self._locked():
            self._host.function = progress
            try:
                status = self._try(lib.noli_sim_step_sized, self.c, report, ffi.sizeof("NoliStepReport"))
            finally:
                self._host.function = None
            made = _report(report)
            try:
                self._check(status)
            except _library.errors.StepError as error:
                error.report = made
                raise
        return made

    def run(self, steps: int | None = None, progress: Progress | None = None) -> list[results.StepReport]:
        """Does `steps` steps, or those that the scene has left. Returns the report of each."""
        return list(self.steps(steps, progress))

    def steps(self, steps: int | None = None, progress: Progress | None = None) -> Iterator[results.StepReport]:
        """The same one by one: for report in sim.steps(): ..."""
        if steps is None:
            steps = max(self.scene.steps - self.step_count, 0)
        return (self.step(progress) for _ in range(steps))

    # ---- time and parameters --------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time, s. May be set; positions, velocities and the number of steps stay."""
        return lib.noli_sim_time(self.c)

    @time.setter
    def time(self, value: float) -> None:
        self._call(lib.noli_sim_set_time, self.c, float(value))

    @property
    def time_step(self) -> float:
        """Length of a step, s. May be set."""
        return lib.noli_sim_time_step(self.c)

    @time_step.setter
    def time_step(self, value: float) -> None:
        self._call(lib.noli_sim_set_time_step, self.c, float(value))

    @property
    def step_count(self) -> int:
        """Number of steps done."""
        return lib.noli_sim_step_count(self.c)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity, m/s^2; a copy. May be set."""
        made = np.empty(3)
        lib.noli_sim_gravity(self.c, pointer_to(made, "double*"))
        return made

    @gravity.setter
    def gravity(self, value) -> None:
        values = vector(value, "gravity")
        self._call(lib.noli_sim_set_gravity, self.c, pointer_to(values, "double*"))

    @property
    def contact_distance(self) -> float:
        """The distance below which contact acts, m."""
        return lib.noli_sim_contact_distance(self.c)

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return decode(lib.noli_sim_integrator(self.c))

    def material(self, body: str | int, part: int | None = None) -> dict[str, Any]:
        """The material of a body, of one of its parts, or of all but its parts, with the names of scenes."""
        found = self._material(body, part)
        return _values(found)

    def set_material(self, body: str | int, part: int | None = None, **values) -> None:
        """Changes a material from now on: set_material("ball", young=2e5). Costs as much as making the simulation;
        views of before show the state before."""
        found = self._material(body, part)
        kept = _assign(found, values, "material")
        index, part = self._body(body), _library.NULL_INDEX if part is None else part
        self._rebuild(lambda c: self._call(lib.noli_sim_set_material, c, index, part, found))
        del kept

    def _material(self, body, part):
        found = ffi.new("NoliMaterialDef*")
        self._call(lib.noli_sim_material, self.c, self._body(body), _library.NULL_INDEX if part is None else part,
                   found)
        return found

    def pair(self, a: str | int, b: str | int) -> dict[str, Any]:
        """Contact and friction of two entities: contact, friction, static_friction, viscosity, distance in m,
        adhesion in J/m^2, adhesion_range in m, direction (of the entity that was named first when it was set), friction_across."""
        pair = self._pair(a, b)
        found = _values(pair)
        lengths = {name: getattr(pair, name).value for name in ("distance", "adhesion_range")}
        return {name: found[name] for name in found if name not in _NAMES_OF_PAIR} | lengths

    def set_pair(self, a: str | int, b: str | int, **values) -> None:
        """Changes contact, friction, adhesion or contact distance (m) of two entities from now on:
        set_pair("ball", "floor", friction=0.3, distance=1e-3). Where it
        switches contact on or off, it costs as much as making the simulation, and views of before show the state
        before."""
        found = self._pair(a, b)
        before = found.contact
        _assign(found, values, "pair", _NAMES_OF_PAIR)
        if found.contact != before:
            self._rebuild(lambda c: self._call(lib.noli_sim_set_pair, c, found))
        else:
            self._call(lib.noli_sim_set_pair, self.c, found)

    def _pair(self, a, b):
        found = ffi.new("NoliPairDef*")
        lib.noli_pair_def_init(found, ffi.sizeof("NoliPairDef"))
        self._call(lib.noli_sim_pair, self.c, self._entity(a), self._entity(b), found)
        return found

    # ---- states ---------------------------------------------------------------------------------

    def reset(self) -> None:
        """Returns to the start: time, steps, positions, velocities, targets and values. Parameters stay."""
        self._call(lib.noli_sim_reset, self.c)

    def clone(self, threads: int | None = None) -> Simulation:
        """A second simulation in the same state, which continues with the same bits. Its functions are the same."""
        twin = Simulation.__new__(Simulation)
        twin._start(Context(self.context.threads if threads is None else threads))
        twin.scene, twin._kept, twin._functions = self.scene, self._kept, self._functions
        twin._own(self._cloned(twin.context))
        return twin

    def _cloned(self, context: Context):
        made = ffi.new("NoliSim**")
        with self._locked():
            context.call(lib.noli_sim_clone, self.c, context.c, made)
        return made[0]

    def save_state(self) -> bytes:
        """All that changes from step to step, for load_state of this simulation or one of the same bodies, with this
        version of the library."""
        with self._locked():
            size = lib.noli_sim_state_bytes(self.c)
            made = bytearray(size)
            self._call(lib.noli_sim_save_state, self.c, ffi.from_buffer(made), size)
        return bytes(made)

    def load_state(self, state: bytes) -> None:
        """Restores a state; the simulation continues with the same bits."""
        self._call(lib.noli_sim_load_state, self.c, ffi.from_buffer(state), len(state))

    def checkpoint(self) -> bytes:
        """The bytes of a checkpoint file, which later versions can read or refuse by name."""
        made, size = ffi.new("void**"), ffi.new("size_t*")
        with self._locked():
            self._call(lib.noli_checkpoint_to_memory, self._context_c, self.c, self._scene_json(), made, size)
            data = bytes(ffi.buffer(made[0], size[0]))
            lib.noli_free(self._context_c, made[0])
        return data

    def restore(self, checkpoint: bytes) -> None:
        """Restores a checkpoint of the same bodies."""
        self._call(lib.noli_checkpoint_from_memory, self._context_c, self.c, ffi.from_buffer(checkpoint),
                   len(checkpoint))

    def save_checkpoint(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint file (HDF5)."""
        self._call(lib.noli_checkpoint_save, self._context_c, self.c, self._scene_json(), encode(path))

    def load_checkpoint(self, path: str | os.PathLike) -> None:
        """Restores a checkpoint file of the same bodies."""
        self._call(lib.noli_checkpoint_load, self._context_c, self.c, encode(path))

    def _scene_json(self):
        return ffi.new("char[]", encode(self.scene.to_json()))

    @property
    def state_hash(self) -> int:
        """A hash of every bit of the state."""
        return lib.noli_sim_state_hash(self.c)

    def set_state(self, positions, velocities) -> None:
        """Overwrites positions (m) and velocities (m/s), (nodes x 3). Raises IntersectionError or InvertedElement
        and changes nothing where they are not valid."""
        x = given(positions, (self.node_count, 3), what="positions")
        v = given(velocities, (self.node_count, 3), what="velocities")
        self._call(lib.noli_sim_set_state, self.c, pointer_to(x, "double*"), pointer_to(v, "double*"))

    # ---- bodies ---------------------------------------------------------------------------------

    @property
    def bodies(self) -> list[str]:
        """Names of bodies and obstacles."""
        return self.entities[:lib.noli_sim_body_count(self.c)]

    @property
    def entities(self) -> list[str]:
        """Names of bodies, obstacles and half-spaces."""
        return [decode(lib.noli_sim_entity_name(self.c, i)) for i in range(lib.noli_sim_entity_count(self.c))]

    def vertices(self, body: str | int) -> slice:
        """The rows of a body in arrays over all vertices: sim.positions[sim.vertices("ball")]."""
        first, count = ffi.new("int32_t*"), ffi.new("int32_t*")
        lib.noli_sim_body_range(self.c, self._body(body), first, count)
        return slice(first[0], first[0] + count[0])

    def add_body(self, name: str, mesh: Mesh, *, positions=None, **members) -> int:
        """Adds a body where its mesh is, or at `positions`, behind the other bodies. Returns its number; half-spaces
        are numbered after bodies.

        `members` are those of NoliBodyDef: obstacle=True, material={"young": 1e5}, velocity=(0, 0, 1),
        shell={"thickness": 1e-3}, rod={"radius": 1e-3}, rigid=True or {"mass": 2}, order=2 and so on. Views of before show the state before.
        Raises IntersectionError and names the bodies where it would intersect another one; then nothing has changed.
        """
        definition = ffi.new("NoliBodyDef*")
        lib.noli_body_def_init(definition, ffi.sizeof("NoliBodyDef"))
        text, index = ffi.new("char[]", encode(name)), ffi.new("int32_t*")
        definition.name, definition.mesh = text, mesh.c
        if "rigid" in members:  # as in scenes
            rigid = members["rigid"]
            members["rigid"] = {"rigid": True, **rigid} if isinstance(rigid, Mapping) else {"rigid": rigid}
        kept = _assign(definition, members, "body", ("size", "name"))
        if positions is not None:
            x0 = given(positions, (mesh.c.n_vert, 3), what="positions")
            definition.x0 = pointer_to(x0, "double*")
        self._rebuild(lambda c: self._call(lib.noli_sim_add_body, c, definition, index))
        del kept
        return index[0]

    def remove_body(self, body: str | int) -> None:
        """Removes a body with its motions, forces, pairs, ties, springs and volumes; later bodies are renumbered. Views of
        before show the state before."""
        index = self._body(body)
        self._rebuild(lambda c: self._call(lib.noli_sim_remove_body, c, index))

    def _rebuild(self, change: Callable) -> None:
        """Changes a copy and continues with it: views of before keep their memory."""
        if self._batch is not None:
            raise TypeError("a copy of a batch keeps its bodies, materials and contacts")
        with self._locked():
            before = self._h
            self._own(self._cloned(self.context))
            try:
                change(self.c)
            except BaseException:
                self._h = before
                raise

    # ---- control --------------------------------------------------------------------------------

    @property
    def motions(self) -> list[str]:
        """Names of motions."""
        return [decode(lib.noli_sim_motion_name(self.c, i)) for i in range(lib.noli_sim_motion_count(self.c))]

    @property
    def forces(self) -> list[str]:
        """Names of forces."""
        return [decode(lib.noli_sim_force_name(self.c, i)) for i in range(lib.noli_sim_force_count(self.c))]

    @property
    def spring_names(self) -> list[str]:
        """Names of springs, in the order of springs()."""
        return [decode(lib.noli_sim_spring_name(self.c, i)) for i in range(lib.noli_sim_spring_count(self.c))]

    @property
    def joint_names(self) -> list[str]:
        """Names of joints, in the order of joints()."""
        return [decode(lib.noli_sim_joint_name(self.c, i)) for i in range(lib.noli_sim_joint_count(self.c))]

    def joint_target(self, joint: str | int, coordinate: int = 0) -> float:
        """The target of the motor in a coordinate of a joint at the present time; NaN where there is none."""
        return lib.noli_sim_joint_target(self.c, self._joint(joint), coordinate)

    def set_joint_target(self, joint: str | int, target: float, coordinate: int = 0) -> None:
        """Sets the target of the motor in a coordinate of a joint for the next steps, in place of that of the scene: an
        effort, a place or a speed; NaN: that of the scene again."""
        self._call(lib.noli_sim_set_joint_target, self.c, self._joint(joint), coordinate, float(target))

    def motion_nodes(self, motion: str | int) -> np.ndarray:
        """Vertices of a motion within its body, (n)."""
        count = ffi.new("int32_t*")
        node = lib.noli_sim_motion_nodes(self.c, self._motion(motion), count)
        return view(node, (count[0],), np.int32, self._h)

    def targets(self, motion: str | int) -> np.ndarray:
        """Targets of a controlled motion, m, (n x 3), to be overwritten: vertices move along straight lines and arrive
        at the end of the next step, or as far as contact allows."""
        index, count = self._motion(motion), ffi.new("int32_t*")
        target = lib.noli_sim_motion_targets(self.c, index, count)
        if target == ffi.NULL:
            raise ValueError(f'motion "{self.motions[index]}" is not controlled')
        return view(target, (count[0], 3), np.float64, self._h, True)

    def set_pose(self, motion: str | int, position=(0, 0, 0), quaternion=_IDENTITY) -> None:
        """Sets the targets of a controlled motion to the rest positions of its vertices, moved as a rigid body:
        R X + position (m); the quaternion is (w, x, y, z), of any length > 0."""
        pose = ffi.new("NoliPose*", {"position": list(vector(position, "position")),
                                     "quaternion": list(given(quaternion, (4,), what="quaternion"))})
        self._call(lib.noli_sim_set_pose, self.c, self._motion(motion), pose)

    def force_values(self, force: str | int) -> np.ndarray:
        """Values of a controlled force, (n x 3), in the unit of its kind, to be overwritten."""
        return self._force_arrays(force)[0]

    def force_nodes(self, force: str | int) -> np.ndarray:
        """Vertices of a controlled force within its body, (n)."""
        return self._force_arrays(force)[1]

    def _force_arrays(self, force):
        index, node, count = self._force(force), ffi.new("int32_t**"), ffi.new("int32_t*")
        value = lib.noli_sim_force_values(self.c, index, node, count)
        if value == ffi.NULL:
            raise ValueError(f'force "{self.forces[index]}" is not controlled')
        return (view(value, (count[0], 3), np.float64, self._h, True), view(node[0], (count[0],), np.int32, self._h))

    # ---- arrays ---------------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        """Number of nodes of all bodies."""
        return lib.noli_sim_node_count(self.c)

    @property
    def vertex_count(self) -> int:
        """Number of all vertices: nodes, then vertices of collision proxies that are no nodes."""
        return lib.noli_sim_vertex_count(self.c)

    def _vertex_view(self, function) -> np.ndarray:
        return view(function(self.c), (self.vertex_count, 3), np.float64, self._h)

    @property
    def rest_positions(self) -> np.ndarray:
        """Rest positions of all vertices, m, (n x 3)."""
        return self._vertex_view(lib.noli_sim_rest_positions)

    @property
    def positions(self) -> np.ndarray:
        """Positions of all vertices, m, (n x 3); read only: set_state changes them."""
        return self._vertex_view(lib.noli_sim_positions)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of all vertices, m/s, (n x 3); read only."""
        return self._vertex_view(lib.noli_sim_velocities)

    @property
    def masses(self) -> np.ndarray:
        """What every vertex contributes to the mass, kg, (n)."""
        return view(lib.noli_sim_masses(self.c), (self.vertex_count,), np.float64, self._h)

    @property
    def tets(self) -> np.ndarray:
        """Elements with vertices of all bodies, (n x 4); -1 fills up those with fewer vertices."""
        return view(lib.noli_sim_tets(self.c), (lib.noli_sim_tet_count(self.c), 4), np.int32, self._h)

    @property
    def surface_triangles(self) -> np.ndarray:
        """Triangles that take part in contact, (n x 3)."""
        count = lib.noli_sim_surface_triangle_count(self.c)
        return view(lib.noli_sim_surface_triangles(self.c), (count, 3), np.int32, self._h)

    @property
    def segments(self) -> np.ndarray:
        """Segments of obstacles, (n x 2)."""
        count = ffi.new("int32_t*")
        return view(lib.noli_sim_segments(self.c, count), (count[0], 2), np.int32, self._h)

    @property
    def points(self) -> np.ndarray:
        """Points of obstacles, (n)."""
        count = ffi.new("int32_t*")
        return view(lib.noli_sim_points(self.c, count), (count[0],), np.int32, self._h)

    # ---- results: copies ------------------------------------------------------------------------

    def _filled(self, function, *shape) -> np.ndarray:
        made = np.empty(shape)
        self._call(function, self.c, pointer_to(made, "double*"))
        return made

    def contact_forces(self) -> np.ndarray:
        """Normal contact forces of the last step on all vertices, N, (n x 3)."""
        return self._filled(lib.noli_sim_contact_forces, self.vertex_count, 3)

    def friction_forces(self) -> np.ndarray:
        """Friction forces of the last step on all vertices, N, (n x 3)."""
        return self._filled(lib.noli_sim_friction_forces, self.vertex_count, 3)

    def reaction_forces(self) -> np.ndarray:
        """Forces that hold or move prescribed vertices, N, (n x 3); 0 elsewhere."""
        return self._filled(lib.noli_sim_reaction_forces, self.vertex_count, 3)

    def von_mises(self) -> np.ndarray:
        """Von Mises equivalent of the Cauchy stress of all elements, Pa, (n)."""
        return self._filled(lib.noli_sim_von_mises, lib.noli_sim_tet_count(self.c))

    def plastic_strains(self) -> np.ndarray:
        """Equivalent plastic strain of all elements, (n); 0 without a yield stress."""
        return self._filled(lib.noli_sim_plastic_strains, lib.noli_sim_tet_count(self.c))

    def stresses(self) -> np.recarray:
        """Stress and strain of all elements: an array with the fields of results.Stress."""
        return self._structs("Stress", lib.noli_sim_stresses, lib.noli_sim_tet_count(self.c))

    def nodal_stresses(self) -> np.recarray:
        """Stress and strain of all vertices, means of the elements around them: an array with the fields of
        results.Stress."""
        return self._structs("Stress", lib.noli_sim_nodal_stresses, self.vertex_count)

    def contact_pressures(self) -> tuple[np.ndarray, np.ndarray]:
        """Contact pressure, Pa, and smallest gap, m, of all vertices in the last step, (n) each; 0 and infinity where
        there is no contact."""
        pressure, gap = np.empty(self.vertex_count), np.empty(self.vertex_count)
        self._call(lib.noli_sim_contact_pressures, self.c, pointer_to(pressure, "double*"),
                   pointer_to(gap, "double*"))
        return pressure, gap

    def contact_slips(self) -> tuple[np.ndarray, np.ndarray]:
        """How far contacts of all vertices have slid, m, and whether they hold, (n) each: numbers of NoliSticking, 0
        where none sticks, 1 where all hold, 2 where one slid in the last step. docs/reference/results.md"""
        slid, sticking = np.empty(self.vertex_count), np.empty(self.vertex_count, np.int32)
        self._call(lib.noli_sim_contact_slips, self.c, pointer_to(slid, "double*"), pointer_to(sticking, "int32_t*"))
        return slid, sticking

    def sheet_forces(self) -> np.recarray:
        """Forces and moments inside the triangles of shells: an array with the fields of results.SheetForces;
        zeros in elements of other bodies."""
        return self._structs("SheetForces", lib.noli_sim_sheet_forces, lib.noli_sim_tet_count(self.c))

    def rod_forces(self) -> np.recarray:
        """Forces and moments inside the segments of rods: an array with the fields of results.RodForces; zeros
        in elements of other bodies."""
        return self._structs("RodForces", lib.noli_sim_rod_forces, lib.noli_sim_tet_count(self.c))

    def _structs(self, name, function, count) -> np.recarray:
        made = ffi.new(f"Noli{name}[]", count)
        self._call(function, self.c, made)
        return records(made, count, name)

    def energies(self) -> results.Energies:
        """Energies of the present state, J."""
        return self._result("Energies", lib.noli_sim_energies_sized)

    def body_energies(self) -> dict[str, np.ndarray]:
        """Kinetic, elastic and gravity energy of each body at the present state, J, (n_bodies) each."""
        return self._shares(lib.noli_sim_body_energies, lib.noli_sim_body_count(self.c))

    def nodal_energies(self) -> dict[str, np.ndarray]:
        """Shares of the vertices in the same energies, J, (vertex_count) each."""
        return self._shares(lib.noli_sim_nodal_energies, self.vertex_count)

    def _shares(self, function, count) -> dict[str, np.ndarray]:
        shares = {name: np.empty(count) for name in ("kinetic", "elastic", "gravity")}
        self._call(function, self.c, *(pointer_to(share, "double*") for share in shares.values()))
        return shares

    def body_state(self, body: str | int) -> results.BodyState:
        """Mass, centre, inertia, momentum and spin of a body."""
        return self._result("BodyState", lib.noli_sim_body_state_sized, self._body(body))

    def wrench(self, body: str | int, origin=None) -> results.Wrench:
        """Force and moment of contact on a body, obstacle or half-space in the last step, about `origin` (m; default:
        its centre; of a half-space its origin)."""
        return self._result("Wrench", lib.noli_sim_wrench_sized, self._entity(body), *_origin(origin))

    def reaction(self, motion: str | int, origin=None) -> results.Reaction:
        """Force and moment that a motion needs, about `origin` (m; default: the centre of the body)."""
        return self._result("Reaction", lib.noli_sim_reaction_sized, self._motion(motion), *_origin(origin))

    def _result(self, name, function, *arguments):
        found = ffi.new(f"Noli{name}*")
        self._call(function, self.c, *arguments, found, ffi.sizeof(f"Noli{name}"))
        return result(found, name)

    def contacts(self) -> np.recarray:
        """All contacts of the last step: an array with the fields of results.ContactInfo."""
        return self._records("ContactInfo", lib.noli_sim_contacts, "int64_t*")

    def pair_forces(self) -> np.recarray:
        """Forces between entities in contact in the last step: an array with the fields of results.PairForce."""
        return self._records("PairForce", lib.noli_sim_pair_forces, "int32_t*")

    def volumes(self) -> np.recarray:
        """Closed regions with a volume law: an array with the fields of results.RegionVolume."""
        return self._records("RegionVolume", lib.noli_sim_volumes, "int32_t*")

    def joints(self) -> np.recarray:
        """Joints of the definition: an array with the fields of results.JointState."""
        return self._records("JointState", lib.noli_sim_joints, "int32_t*")

    def springs(self) -> np.recarray:
        """Springs of the definition: an array with the fields of results.SpringForce."""
        return self._records("SpringForce", lib.noli_sim_springs, "int32_t*")

    def diagnosis(self) -> np.recarray:
        """What held the last step back, and its smallest gap: an array with the fields of results.Diagnosis; kinds are
        the numbers of NoliDiagnosisKind. docs/howto/running.md"""
        return self._records("Diagnosis", lib.noli_sim_diagnosis, "int32_t*")

    def _records(self, name, function, counter) -> np.recarray:
        found, count = ffi.new(f"Noli{name}**"), ffi.new(counter)
        with self._locked():
            self._call(function, self.c, found, count)
            return records(found[0], count[0], name)

    # ---- modes ----------------------------------------------------------------------------------

    def modes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The `n` modes of vibration with the lowest frequencies about the present state: frequencies, Hz, (n), and
        shapes, 1/sqrt(kg), (n x nodes x 3), with phi^T M phi = 1. Rigid motions of free bodies have 0, directions in
        which the state is unstable negative ones. Prescribed components are held, ties hold; contact, friction and
        damping are left out. Raises ArgumentError where nothing can move or `n` is too large. docs/howto/modes.md."""
        frequencies, shapes = np.empty(max(n, 0)), np.empty((max(n, 0), self.node_count, 3))
        self._call(lib.noli_sim_modes, self.c, n, pointer_to(frequencies, "double*"), pointer_to(shapes, "double*"))
        return frequencies, shapes

    # ---- queries --------------------------------------------------------------------------------

    def cast_ray(self, origin, direction, length: float = float("inf")) -> results.SurfacePoint | None:
        """The first point of a surface that a ray meets within `length`, m; None if there is none."""
        origin, direction = vector(origin, "origin"), vector(direction, "direction")
        return self._point(lib.noli_sim_cast_ray, pointer_to(origin, "double*"), pointer_to(direction, "double*"),
                           float(length))

    def closest_point(self, position, max_distance: float = float("inf")) -> results.SurfacePoint | None:
        """The point of a surface nearest to `position` within `max_distance`, m; None if there is none."""
        position = vector(position, "position")
        return self._point(lib.noli_sim_closest_point, pointer_to(position, "double*"), float(max_distance))

    def _point(self, function, *arguments):
        found = ffi.new("NoliSurfacePoint*")
        self._call(function, self.c, *arguments, found)
        return None if found.entity == _library.NULL_INDEX else result(found, "SurfacePoint")

    # ---- output ---------------------------------------------------------------------------------

    def write_vtu(self, path: str | os.PathLike) -> None:
        """Writes a frame for ParaView."""
        # without tags, where bodies have come or gone
        definition = self.scene._definition() if self.bodies == self.scene.bodies else ffi.NULL
        self._call(lib.noli_output_write_vtu, self._context_c, self.c, definition, encode(path))

    # ---- calls ----------------------------------------------------------------------------------

    @property
    def _context_c(self):
        return self.context.c

    @contextmanager
    def _locked(self):
        with self.context.locked():
            yield

    def _try(self, function, *arguments) -> int:
        return self.context.try_call(function, *arguments)

    def _check(self, status: int) -> None:
        self.context.check(status)

    def _call(self, function, *arguments) -> None:
        with self._locked():
            self._check(self._try(function, *arguments))

    def _body(self, body) -> int:
        return self._index(body, lib.noli_sim_find_entity, "bodies", lib.noli_sim_body_count, "body")

    def _entity(self, entity) -> int:
        return self._index(entity, lib.noli_sim_find_entity, "entities", lib.noli_sim_entity_count, "entity")

    def _motion(self, motion) -> int:
        return self._index(motion, lib.noli_sim_find_motion, "motions", lib.noli_sim_motion_count, "motion")

    def _joint(self, joint) -> int:
        return self._index(joint, lib.noli_sim_find_joint, "joint_names", lib.noli_sim_joint_count, "joint")

    def _force(self, force) -> int:
        return self._index(force, lib.noli_sim_find_force, "forces", lib.noli_sim_force_count, "force")

    def _index(self, name, find, names, count, what) -> int:
        index = find(self.c, encode(name)) if isinstance(name, str) else int(name)
        if not 0 <= index < count(self.c):
            return _library.index_of(name, getattr(self, names), what)
        return index


def _members(struct) -> dict[str, Any]:
    """Types of the members that are numbers, texts, lists of numbers, or structs of these."""
    kind = ffi.typeof(struct)
    fields = (kind.item if kind.kind == "pointer" else kind).fields
    return {name: field.type for name, field in fields if name != "reserved"
            and (field.type.kind != "pointer" or field.type.item.cname == "char")}


def _values(struct) -> dict[str, Any]:
    """Numbers, lists of numbers and texts of a definition."""
    read = {"primitive": lambda value: value, "pointer": decode, "array": list}
    return {name: read[kind.kind](getattr(struct, name)) for name, kind in _members(struct).items()
            if kind.kind in read}


def _meant(struct, name: str, known: list[str]) -> str:
    """Where a member belongs: in a struct of the definition, or to a name that is nearly the same."""
    members = _members(struct)
    for holder in known:
        if members[holder].kind == "struct" and name in _members(getattr(struct, holder)):
            return f'; did you mean {holder}={{"{name}": ...}}?'
    return did_you_mean(name, known)


def _assign(struct, values: Mapping[str, Any], what: str, excluded: Sequence[str] = ()) -> list:
    """Sets members of a definition; returns the texts that it refers to."""
    members, kept = _members(struct), []
    known = [name for name in members if name not in excluded]
    for name, value in values.items():
        if name not in known:
            raise TypeError(f'{what}: unknown "{name}"{_meant(struct, name, known) or "; known: " + ", ".join(known)}')
        kind = members[name].kind
        if kind == "struct" and not isinstance(value, Mapping):
            value = {"value": value, "relative": 0}  # a length or speed
        if kind == "struct":
            kept += _assign(getattr(struct, name), value, f"{what}.{name}")
            continue
        if kind == "pointer":
            value = ffi.new("char[]", encode(value))
            kept.append(value)
        elif kind == "array":
            value = given(value, (members[name].length,), what=f"{what}.{name}").tolist()
        try:
            setattr(struct, name, value)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{what}.{name}: {error}") from None
    return kept


def _origin(origin) -> tuple:
    if origin is None:
        return (ffi.NULL,)
    return (ffi.new("double[3]", list(vector(origin, "origin"))),)


def _report(struct) -> results.StepReport:
    """A report with its own copy of the iterations."""
    made = result(struct, "StepReport")
    made.newton = records(struct.newton, struct.newton_iterations if struct.newton != ffi.NULL else 0, "NewtonStat")
    return made
