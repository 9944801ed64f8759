"""Result directories, as `noli run` writes them: written during a simulation, and read afterwards."""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import results
from ._hints import Hinted, hinted
from ._library import Context, decode, encode, ffi, lib, result
from ._result import Result
from .mesh import Mesh
from .scene import Scene
from .simulation import Simulation


class Recorder(Hinted):
    """Writes the steps of a simulation to a directory: frames for ParaView, histories, summary, checkpoints.

        with noli.Recorder(sim, "out/first") as recorder:
            for report in sim.steps():
                recorder.record()

    An exception within the block is noted in the summary, and `noli resume` or Recorder(..., resume=True) continues
    from the last step. Replaces the files of a finished run, those of an unfinished one only with `replace`. What is
    not given is that of the scene: `every`, steps between frames, and `format`, "vtu", "pvtu" or "ply".
    """

    def __init__(self, sim: Simulation, directory: str | os.PathLike, *, resume: bool = False, replace: bool = False,
                 every: int | None = None, format: str | None = None):  # pylint: disable=redefined-builtin
        self.sim = sim
        scene, output = sim.scene, ffi.new("NoliSceneOutput*")
        lib.noli_scene_output_sized(scene.c, output, ffi.sizeof("NoliSceneOutput"))
        definition, count, made = ffi.new("NoliRunDef*"), ffi.new("int32_t*"), ffi.new("NoliRun**")
        lib.noli_run_def_init(definition, ffi.sizeof("NoliRunDef"))
        texts = [ffi.new("char[]", encode(text)) for text in (directory, scene.name, scene.to_json(), format or "")]
        definition.directory, definition.scene_name, definition.scene_json = texts[:3]
        definition.sim_def = scene._definition() if sim.bodies == scene.bodies else ffi.NULL
        definition.frame_interval = output.frame_interval if every is None else every
        definition.frame_format = output.frame_format if format is None else texts[3]
        definition.fields, definition.n_fields = output.fields, output.n_fields
        definition.probes, definition.n_probes = output.probes, output.n_probes
        definition.checkpoint_seconds = output.checkpoint_seconds
        definition.checkpoint_steps = output.checkpoint_steps
        definition.files = lib.noli_scene_files(scene.c, count)
        definition.n_files = count[0]
        definition.replace_unfinished = replace
        sim._call(lib.noli_run_reopen if resume else lib.noli_run_open, sim.context.c, definition, sim.c, made)
        self._h = sim.context.own(made[0], "NoliRun**", lib.noli_run_close, sim._h)

    @property
    def c(self):
        """The run for functions of the library."""
        if self._h is None:
            raise ValueError("the recorder is closed")
        return self._h.c

    def record(self) -> None:
        """Records the step that was just done."""
        self.sim._call(lib.noli_run_step, self.c, self.sim.c)

    def save(self, finished: bool = False, failure: str | None = None) -> None:
        """Writes the present state: frame, summary and checkpoint."""
        self.sim._call(lib.noli_run_save, self.c, self.sim.c, finished,
                       ffi.NULL if failure is None else ffi.new("char[]", encode(failure)))

    @property
    def summary(self) -> results.Summary:
        """Totals so far."""
        return result(lib.noli_run_summary(self.c), "Summary")

    def close(self, finished: bool | None = None, failure: str | None = None) -> None:
        """Saves and ends the recording. `finished`: whether the run is complete; by default it is where the steps of
        the scene are done and nothing failed."""
        if self._h is None:
            return
        if finished is None:
            finished = failure is None and self.sim.step_count >= self.sim.scene.steps
        try:
            self.save(finished, failure)
        finally:
            self._h = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, _kind, error, _trace) -> None:
        self.close(failure=None if error is None else f"{type(error).__name__}: {error}")


@dataclass(slots=True, repr=False)
class Frame(Result):
    """A frame of a run."""

    #: number of steps done
    step: int
    #: s
    time: float
    path: Path

    def meshio(self):
        """The frame as a meshio.Mesh: points, cells, point_data["contact_force"] and so on (of the format "ply"
        without fields). Needs meshio."""
        return _meshio(self.path)

    def vtk(self):
        """The frame as a vtkUnstructuredGrid (of the format "ply": vtkPolyData). Needs VTK."""
        return _vtk(self.path)


@dataclass(slots=True, repr=False)
class Audit(Result):
    """What an audit found."""

    #: frames, checkpoints and rows that were verified
    frames: int
    checkpoints: int
    rows: int
    #: False: the run continues, or was killed
    ended: bool
    #: number of defects
    found: int
    #: at most 100 of each state
    findings: list[results.Finding]


class Run(Hinted):
    """A result directory."""

    def __init__(self, directory: str | os.PathLike):
        self.directory = Path(directory)
        if not (self.directory / "scene.json").exists():
            raise FileNotFoundError(f"{self.directory} has no results of noli: there is no scene.json")

    @property
    def scene(self) -> Scene:
        """The scene as run."""
        return Scene(self.directory / "scene.json")

    @property
    def summary(self) -> dict[str, Any]:
        """Totals and timing."""
        return json.loads((self.directory / "summary.json").read_text(encoding="utf-8"))

    @property
    def steps(self) -> np.recarray:
        """steps.csv: an array with a row for each step: run.steps.min_distance."""
        return _table(self.directory / "steps.csv")

    @property
    def forces(self) -> np.recarray:
        """forces.csv: a row for each step and pair of entities in contact."""
        return _table(self.directory / "forces.csv")

    @property
    def reactions(self) -> np.recarray:
        """reactions.csv: a row for each step and prescribed motion."""
        return _table(self.directory / "reactions.csv")

    @property
    def joints(self) -> np.recarray:
        """joints.csv: a row for each step and joint."""
        return _table(self.directory / "joints.csv")

    @property
    def springs(self) -> np.recarray:
        """springs.csv: a row for each step and spring."""
        return _table(self.directory / "springs.csv")

    @property
    def diagnosis(self) -> np.recarray:
        """diagnosis.csv: rows for each step that something held back, and its smallest gap."""
        return _table(self.directory / "diagnosis.csv")

    @property
    def volumes(self) -> np.recarray:
        """volumes.csv: a row for each step and region with a volume law."""
        return _table(self.directory / "volumes.csv")

    @property
    def probes(self) -> np.recarray:
        """probes.csv: a row for each step, columns of the probes of the scene: run.probes["tip_y"]."""
        return _table(self.directory / "probes.csv")

    @property
    def frames(self) -> list[Frame]:
        """All frames."""
        for i in range(1000):
            name = lib.noli_run_frame_list(i)
            if name == ffi.NULL:
                break
            path = self.directory / decode(name)
            if path.exists():
                return self._frames_of(path, decode(lib.noli_run_frame_format(i)))
        raise FileNotFoundError(f"{self.directory} has no list of frames")

    def _frames_of(self, path: Path, suffix: str) -> list[Frame]:
        context, found, count = Context(), ffi.new("NoliRunFrame**"), ffi.new("int64_t*")
        context.call(lib.noli_run_read_frames, context.c, encode(path), found, count)
        frames = [Frame(found[0][i].step, found[0][i].time, self.directory / f"frame_{found[0][i].step:06d}.{suffix}")
                  for i in range(count[0])]
        lib.noli_run_free_frames(context.c, found)
        return frames

    def simulation(self, threads: int = 0) -> Simulation:
        """The simulation in the state of the last checkpoint, to look at or to continue."""
        sim = Simulation(self.scene, threads=threads)
        sim.load_checkpoint(self.directory / "checkpoint.h5")
        return sim

    def audit(self) -> Audit:
        """Verifies all states and files, with exact predicates."""
        context, found = Context(), ffi.new("NoliRunAudit*")
        context.call(lib.noli_run_audit_sized, context.c, encode(self.directory), found, ffi.sizeof("NoliRunAudit"))
        made = Audit(found.n_frames, found.n_checkpoints, found.n_rows, found.ended, found.n_found,
                     [result(found.findings[i], "Finding") for i in range(found.n_findings)])
        lib.noli_run_audit_free(context.c, found)
        return made

    def __repr__(self) -> str:
        return f"<noli.Run {str(self.directory)!r}>"


def _table(path: Path) -> np.recarray:
    table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8", comments=None).reshape(-1)
    # NumPy drops blanks, brackets and others from names
    with open(path, encoding="utf-8") as file:
        table.dtype.names = file.readline().rstrip("\n").split(",")
    return table.view(np.recarray)


def _needs(package: str, debian: str):
    return ImportError(f"this needs {package}: install the Debian package {debian}, or pip install {package}",
                       name=package)


def _meshio(path: Path):
    try:
        import meshio  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise _needs("meshio", "python3-meshio") from error
    if path.suffix != ".ply":
        return meshio.read(path)
    # meshio ends the program at the segments of these files
    surface = Mesh.read(path)
    cells = (("triangle", surface.triangles), ("line", surface.segments), ("vertex", surface.points[:, None]))
    return meshio.Mesh(surface.positions.copy(), [(kind, items.copy()) for kind, items in cells if len(items)])


def _vtk(path: Path):
    try:
        from vtkmodules.vtkIOPLY import vtkPLYReader  # pylint: disable=import-outside-toplevel
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise _needs("vtk", "python3-vtk9") from error
    reader = vtkPLYReader() if path.suffix == ".ply" else vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


@hinted
def as_meshio(sim: Simulation):
    """The present state of a simulation as a meshio.Mesh, with the fields of a frame. Needs meshio."""
    return _through_file(sim, _meshio)


@hinted
def as_vtk(sim: Simulation):
    """The present state of a simulation as a vtkUnstructuredGrid, with the fields of a frame. Needs VTK."""
    return _through_file(sim, _vtk)


def _through_file(sim: Simulation, read):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.vtu"
        sim.write_vtu(path)
        return read(path)
