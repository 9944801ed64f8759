"""Batches: many copies of one simulation, stepped by a team of threads."""
from __future__ import annotations

import numpy as np

from . import _library
from ._hints import Hinted
from ._library import Context, Sink, decode, ffi, given, lib, pointer_to, record
from .simulation import Simulation


class Batch(Hinted):
    """`n` copies of a simulation in its present state, with parameters and controls of their own.

        batch = noli.Batch(sim, 64)
        batch[3].set_pair("ball", "left", friction=0.2)      # each copy is a simulation
        batch.set_poses("left", positions)                   # (n x 3)
        batch.step()
        heights = batch.body_states("ball").centre[:, 1]     # (n)

    `threads` step different copies at the same time; 0: as many as the machine has cores. Every copy has the bits
    that it would have alone. Python functions of a scene run one at a time: prefer controlled motions and forces.
    """

    def __init__(self, sim: Simulation, n: int, *, threads: int = 0):
        self.context = Context()
        made = ffi.new("NoliBatch**")
        with sim.context.locked():
            self.context.call(lib.noli_batch_create, self.context.c, sim.c, n, threads, made)
        self.c = made[0]
        self._functions = sim._functions
        self._stop = Sink()
        stop = self._stop
        self._progress = ffi.callback("NoliProgressFn", lambda _user, _sim, _iteration: stop.raised is None,
                                      error=False, onerror=stop.note)
        self._h = self.context.own(made[0], "NoliBatch**", lib.noli_batch_destroy, sim._kept, self._progress)
        self._copies = [_Copy(self, sim, i) for i in range(len(self))]
        #: the status of every copy in the last step that it took part in, (n): 0 success, else the `status` of an
        #: exception
        self.statuses = np.zeros(n, np.int32)

    def __len__(self) -> int:
        return lib.noli_batch_count(self.c)

    def __getitem__(self, index: int) -> Simulation:
        return self._copies[index]

    def __repr__(self) -> str:
        return f"<noli.Batch of {len(self)}: {self._copies[0]!r}>"

    def step(self, chosen=None, *, check: bool = True) -> np.recarray:
        """Advances all copies, or those that `chosen` (n booleans) names. Returns their reports, an array (n) with the
        numbers of results.StepReport; those of other copies are 0.

        If a copy fails, the others do their steps, and the exception of the first one that failed is raised; its
        `index` is the number of the copy. With check=False `statuses` says which ones failed. A KeyboardInterrupt, or
        an exception of a Python function, leaves all copies as they were.
        """
        n = len(self)
        mask = self._mask(chosen)
        reports = np.zeros(n, record("StepReport"))
        with self.context.locked():
            before = [copy.save_state() if mask is None or mask[i] else None for i, copy in enumerate(self._copies)]
            self._stop.raised = self._functions.sink.raised = None
            try:
                self.context.try_call(lib.noli_batch_step_sized, self.c, _address(mask, "bool*"),
                                      pointer_to(self.statuses, "NoliStatus*"),
                                      pointer_to(reports, "NoliStepReport*"), reports.dtype.itemsize)
                self._stop.rethrow()
                self._functions.sink.rethrow()
            except BaseException:
                for copy, state in zip(self._copies, before):
                    if state is not None:
                        copy.load_state(state)
                raise
            if check:
                self._check(mask)
        return reports.view(np.recarray)

    def _check(self, mask) -> None:
        failed = np.flatnonzero(self.statuses if mask is None else np.where(mask, self.statuses, 0))
        if len(failed):
            index = int(failed[0])
            message = decode(lib.noli_batch_message(self.c, index))
            error = _library.error_of(int(self.statuses[index]), f"copy {index}: {message}")
            error.index = index
            raise error

    def reset(self, chosen=None) -> None:
        """Returns all copies, or the chosen ones, to the start, as Simulation.reset."""
        self.context.call(lib.noli_batch_reset, self.c, _address(self._mask(chosen), "bool*"))

    def _mask(self, chosen):
        return None if chosen is None else given(chosen, (len(self),), np.bool_, "chosen")

    # -- control --

    def set_targets(self, motion: str | int, targets) -> None:
        """Targets of a controlled motion in all copies, m, (n x nodes x 3)."""
        nodes = len(self[0].motion_nodes(motion))
        values = given(targets, (len(self), nodes, 3), what="targets")
        self.context.call(lib.noli_batch_set_targets, self.c, self[0]._motion(motion), pointer_to(values, "double*"))

    def set_poses(self, motion: str | int, positions, quaternions=None) -> None:
        """Poses of a controlled motion in all copies: positions (n x 3), m, and quaternions (n x 4), (w, x, y, z);
        without them none is turned."""
        n = len(self)
        poses = np.zeros((n, 7))
        poses[:, :3] = given(positions, (n, 3), what="positions")
        poses[:, 3:] = (1, 0, 0, 0) if quaternions is None else given(quaternions, (n, 4), what="quaternions")
        self.context.call(lib.noli_batch_set_poses, self.c, self[0]._motion(motion), pointer_to(poses, "NoliPose*"))

    def set_force_values(self, force: str | int, values) -> None:
        """Values of a controlled force in all copies, (n x nodes x 3)."""
        nodes = len(self[0].force_nodes(force))
        values = given(values, (len(self), nodes, 3), what="values")
        self.context.call(lib.noli_batch_set_forces, self.c, self[0]._force(force), pointer_to(values, "double*"))

    def set_joint_targets(self, joint: str | int, targets, coordinate: int = 0) -> None:
        """Targets of the motor in a coordinate of a joint in all copies, (n): efforts, places or speeds."""
        values = given(targets, (len(self),), what="targets")
        self.context.call(lib.noli_batch_set_joint_targets, self.c, self[0]._joint(joint), coordinate,
                          pointer_to(values, "double*"))

    # -- results: copies --

    def positions(self, out: np.ndarray | None = None) -> np.ndarray:
        """Positions of all vertices of all copies, m, (n x vertices x 3), in a new array or in `out`."""
        return self._vectors(lib.noli_batch_positions, out)

    def velocities(self, out: np.ndarray | None = None) -> np.ndarray:
        """Velocities of all vertices of all copies, m/s, (n x vertices x 3), in a new array or in `out`."""
        return self._vectors(lib.noli_batch_velocities, out)

    def _vectors(self, function, out):
        shape = (len(self), self[0].vertex_count, 3)
        if out is None:
            out = np.empty(shape)
        if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous or not out.flags.writeable:
            raise ValueError(f"out must be a writable contiguous array of float64, {shape}")
        self.context.call(function, self.c, pointer_to(out, "double*"))
        return out

    def body_states(self, body: str | int) -> np.recarray:
        """The states of a body in all copies: an array (n) with the fields of results.BodyState."""
        return self._records("BodyState", lib.noli_batch_body_states_sized, self[0]._body(body))

    def joints(self) -> np.recarray:
        """The joints of all copies: an array (n x joints) with the fields of results.JointState."""
        made = np.zeros((len(self), len(self[0].joint_names)), record("JointState"))
        self.context.call(lib.noli_batch_joints, self.c, pointer_to(made, "NoliJointState*"))
        return made.view(np.recarray)

    def wrenches(self, body: str | int) -> np.recarray:
        """The wrenches on a body or half-space in all copies, about its centres: an array (n) with the fields of
        results.Wrench."""
        return self._records("Wrench", lib.noli_batch_wrenches_sized, self[0]._entity(body))

    def _records(self, name, function, index) -> np.recarray:
        made = np.zeros(len(self), record(name))
        self.context.call(function, self.c, index, pointer_to(made, f"Noli{name}*"),
                          made.dtype.itemsize)
        return made.view(np.recarray)


class _Copy(Simulation):
    """A copy of a batch."""

    def __init__(self, batch: Batch, sim: Simulation, index: int):  # pylint: disable=super-init-not-called
        self._start(batch.context)
        self._batch = batch.c
        self._number = index
        self.scene, self._kept, self._functions = sim.scene, sim._kept, sim._functions
        self._h = _library.Borrowed(lib.noli_batch_sim(batch.c, index), batch._h)
        self._kept_progress = batch._progress
        lib.noli_sim_set_progress(self._h.c, batch._progress, ffi.NULL)

    def step(self, progress=None):
        """As Simulation.step, of this copy alone."""
        c, batch_progress = self.c, self._kept_progress
        lib.noli_sim_set_progress(c, self._progress, ffi.NULL)
        try:
            return super().step(progress)
        finally:
            lib.noli_sim_set_progress(c, batch_progress, ffi.NULL)

    def close(self) -> None:
        """Does nothing: the batch owns the copy."""

    def _check(self, status: int) -> None:
        if status != 0:
            raise _library.error_of(status, decode(lib.noli_batch_message(self._batch, self._number)))


def _address(array, kind):
    return ffi.NULL if array is None else pointer_to(array, kind)
