"""Design and identification: objectives with their gradients, and searches. docs/howto/design_problems.md is a guide."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library, results
from ._hints import Hinted
from ._library import Context, copy, decode, encode, ffi, given, lib, pointer_to, view
from ._result import Result
from .scene import Scene
from .simulation import Simulation

#: adds to the objective at one time: f(at) -> value, or (value, d_x), or (value, d_x, d_v) with derivatives by
#: positions and velocities, (n x 3); None: they are 0
Objective = Callable[["At"], Any]


@dataclass(repr=False)
class At(Result):
    """A time of a run, as an objective sees it. Arrays are views that end with the call."""
    step: int          #: steps done, 0 at the start
    n_steps: int       #: of the run
    time: float        #: s
    x: np.ndarray      #: positions, (n x 3) m
    v: np.ndarray      #: velocities, (n x 3) m/s


@dataclass(repr=False)
class DesignRun(Result):
    """A run of a search."""
    evaluation: int               #: from 0
    status: int                   #: 0; or that of the failure, after which the next step is shorter
    x: np.ndarray                 #: variables
    values: np.ndarray | None     #: of the functions
    gradients: np.ndarray | None  #: (functions x variables)
    violation: float              #: largest excess of a constraint, relative to its bound
    slope: float                  #: largest derivative by a variable that may move, over the range of the variable
    best: bool                    #: so far
    residual_error: float         #: of the gradient, as in results.GradientReport
    at_yield: int                 #: as in results.GradientReport


@dataclass(repr=False)
class DesignResult(Result):
    """How a search ended."""
    x: np.ndarray     #: the best variables
    reason: str       #: "converged", "enough", "evaluations", "stuck", "cancelled", "infeasible"
    objective: float
    violation: float
    evaluations: int  #: runs, those that failed included
    failures: int
    best: int         #: number of the best run


class _Host:
    """The callbacks of a design."""

    def __init__(self, objective: Objective | None) -> None:
        self.objective = objective
        self.watch: Callable[[DesignRun], Any] | None = None
        self.size = (0, 0)
        self.sink = _library.Sink()

    def failed(self, kind, value, trace) -> None:
        """Keeps an exception."""
        _library.current_sink(self.sink).note(kind, value, trace)

    def evaluate(self, _user, sim, at) -> int:
        """A NoliObjectiveFn."""
        n = lib.noli_sim_vertex_count(sim)
        found = self.objective(At(at.step, at.n_steps, at.time, view(at.x, (n, 3), np.float64, None),
                                  view(at.v, (n, 3), np.float64, None)))
        value, *slopes = found if isinstance(found, tuple) else (found,)
        at.value = float(value)
        for pointer, slope in zip((at.d_x, at.d_v), slopes):
            if pointer != ffi.NULL and slope is not None:
                view(pointer, (n, 3), np.float64, None, True)[...] += given(slope, (n, 3), what="derivative")
        return 0

    def see(self, _user, run) -> bool:
        """A NoliDesignWatchFn. An exception ends the search, too."""
        if _library.current_sink(self.sink).raised is not None:
            return False
        n, m = self.size
        seen = DesignRun(run.evaluation, run.status, copy(run.variable, (n,), np.float64),
                         copy(run.value, (m,), np.float64) if run.value != ffi.NULL else None,
                         copy(run.gradient, (m, n), np.float64) if run.gradient != ffi.NULL else None,
                         run.violation, run.slope, run.best, run.residual_error, run.at_yield)
        return self.watch is None or self.watch(seen) is not False


class Design(Hinted):
    """A problem of design: the key "design" of a scene.

        design = noli.Design("examples/design/friction.json")
        found = design.search(lambda run: print(run.evaluation, run.values))
        print(dict(zip(design.names, found.x)))

    Own optimizers take values and gradients in one call, `scipy.optimize.minimize(design.objective, design.start,
    jac=True, bounds=design.bounds)`. `objective`, a function, is added to the objective of the scene, which may then
    have none; it must be a pure function of what it is given.
    """

    def __init__(self, scene: Scene | Mapping[str, Any] | str | os.PathLike, *, objective: Objective | None = None,
                 overrides: Mapping[str, Any] | None = None, threads: int = 0):
        self._sim = Simulation(scene, overrides=overrides, threads=threads)
        self.scene: Scene = self._sim.scene
        self.context: Context = self._sim.context
        given_def = lib.noli_scene_design(self.scene.c)
        if given_def == ffi.NULL:
            raise ValueError(f'the scene "{self.scene.name}" has no key "design"')
        self._host = _Host(objective)
        self._watch = ffi.callback("NoliDesignWatchFn", self._host.see, error=False, onerror=self._host.failed)
        self._evaluate = ffi.callback("NoliObjectiveFn", self._host.evaluate, error=int(lib.NOLI_CANCELLED),
                                      onerror=self._host.failed)
        definition = ffi.new("NoliDesignDef*", given_def[0])
        if objective is not None:
            definition.objective.custom.evaluate = self._evaluate
        made = ffi.new("NoliDesign**")
        self.context.call(lib.noli_design_create, self._sim.c, definition, made)
        self._h = self.context.own(made[0], "NoliDesign**", lib.noli_design_destroy, self._sim._h, self._evaluate,
                                   self._watch)
        self.c = made[0]
        self._host.size = (lib.noli_design_count(self.c), lib.noli_design_function_count(self.c))

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        buffer = ffi.new("char[]", 160)
        made = []
        for i in range(self._host.size[0]):
            lib.noli_design_variable_name(self.c, i, buffer, len(buffer))
            made.append(decode(buffer))
        return made

    @property
    def functions(self) -> list[str]:
        """Names of the functions: the objective, then the constraints."""
        return [decode(lib.noli_design_function_name(self.c, k)) for k in range(self._host.size[1])]

    def _range(self, which: int) -> np.ndarray:
        made = np.empty(self._host.size[0])
        places = [ffi.NULL] * 3
        places[which] = pointer_to(made, "double*")
        lib.noli_design_range(self.c, *places)
        return made

    @property
    def start(self) -> np.ndarray:
        """Start of the variables."""
        return self._range(0)

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds."""
        return self._range(1)

    @property
    def upper(self) -> np.ndarray:
        """Upper bounds."""
        return self._range(2)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Both bounds of each variable."""
        return list(zip(self.lower.tolist(), self.upper.tolist()))

    def evaluate(self, x, gradient: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
        """Simulates with variables x: the values of the functions, (functions), and their gradients,
        (functions x variables), or None. Raises what a run raises, and IntersectionError and InvertedElement where a
        shape is not possible."""
        n, m = self._host.size
        x = given(x, (n,), what="variables")
        values, gradients = np.empty(m), np.empty((m, n)) if gradient else None
        slopes = pointer_to(gradients, "double*") if gradients is not None else ffi.NULL
        self.context.call(lib.noli_design_evaluate, self.c, pointer_to(x, "double*"), pointer_to(values, "double*"),
                          slopes)
        return values, gradients

    def objective(self, x) -> tuple[float, np.ndarray]:
        """Value and gradient of the objective."""
        values, gradients = self.evaluate(x)
        return float(values[0]), gradients[0]

    @property
    def report(self) -> results.GradientReport:
        """What the gradient of the last evaluation has cost and how far to trust it."""
        return _library.result(lib.noli_design_report(self.c), "GradientReport")

    def search(self, watch: Callable[[DesignRun], Any] | None = None) -> DesignResult:
        """Searches for the smallest objective by the method of the scene. `watch` sees every run; where it returns
        False, the search ends with what it has."""
        x, found = np.empty(self._host.size[0]), ffi.new("NoliDesignResult*")
        self._host.watch = watch
        try:
            self.context.call(lib.noli_design_search, self.c, self._watch, ffi.NULL, pointer_to(x, "double*"), found)
        finally:
            self._host.watch = None
        return DesignResult(x, decode(found.reason), found.objective, found.violation, found.evaluations,
                            found.failures, found.best)

    def simulation(self, x, threads: int | None = None) -> Simulation:
        """A simulation with variables x, at its start."""
        n = self._host.size[0]
        x, made = given(x, (n,), what="variables"), ffi.new("NoliSim**")
        parameters = lib.noli_design_parameters(self.c)
        values = np.empty(lib.noli_parameters_count(parameters))
        lib.noli_design_values(self.c, pointer_to(x, "double*"), pointer_to(values, "double*"))
        twin = Simulation.__new__(Simulation)
        twin._start(Context(self.context.threads if threads is None else threads))
        twin.scene, twin._kept, twin._functions = self.scene, self._sim._kept, self._sim._functions
        with self.context.locked():
            twin.context.call(lib.noli_parameters_apply, parameters, pointer_to(values, "double*"), twin.context.c,
                              made)
        twin._own(made[0])
        return twin

    def save(self, x, path: str | os.PathLike) -> None:
        """Writes the scene with variables x, for `noli run`."""
        x = given(x, (self._host.size[0],), what="variables")
        self.context.call(lib.noli_output_write_design, self.context.c, self.scene.c, self.c,
                          pointer_to(x, "double*"), encode(path))

    def __repr__(self) -> str:
        n, m = self._host.size
        return f"<noli.Design {self.scene.name!r}: {n} variables, {m - 1} constraints>"
