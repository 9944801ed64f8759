"""Deformable solids, shells, cloth, rods and particles in contact. docs/reference/python.md is a guide.

    import noli
    sim = noli.Simulation({
        "time": {"step": 0.01, "duration": 1},
        "bodies": [{"name": "cube", "mesh": {"box": {"size": [0.1, 0.1, 0.1]}}, "translate": [0, 0.2, 0]}],
        "half_spaces": [{"name": "floor"}],
    })
    for report in sim.steps():
        print(report.time, report.min_distance)

SI units throughout; y points up.
"""
from . import errors, results
from ._hints import did_you_mean
from ._library import Context, ffi, lib
from .batch import Batch
from .choices import choices
from .design import At, Design, DesignResult, DesignRun
from .errors import *  # noqa: F403
from .mesh import Mesh
from .run import Audit, Frame, Recorder, Run, as_meshio, as_vtk
from .scene import Scene, schema
from .simulation import Simulation

__version__ = ffi.string(lib.noli_version()).decode()
__all__ = ["At", "Audit", "Batch", "Context", "Design", "DesignResult", "DesignRun", "Frame", "Mesh", "Recorder", "Run",
           "Scene", "Simulation", "as_meshio", "as_vtk", "choices", "errors", "ffi", "lib", "results", "schema",
           *errors.__all__]


def __getattr__(name):
    raise AttributeError(f"module 'noli' has no attribute {name!r}{did_you_mean(name, __all__)}")
