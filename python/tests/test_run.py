"""Result directories: recorded, resumed, read, audited; frames for meshio and VTK."""
import os
import tempfile
import unittest
from unittest import mock

import noli
import numpy as np
from support import cube

SCENE = cube(time={"step": 0.01, "duration": 0.2}, output={"every": 5})


def record(folder, steps=None, **options):
    sim = noli.Simulation(SCENE)
    with noli.Recorder(sim, folder, **options) as recorder:
        for _ in sim.steps(steps):
            recorder.record()
    return sim


class Runs(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = os.path.join(self.temporary.name, "run")

    def test_a_run_is_read_back(self):
        sim = record(self.folder)
        run = noli.Run(self.folder)
        self.assertEqual([frame.step for frame in run.frames], [0, 5, 10, 15, 20])
        self.assertAlmostEqual(run.frames[-1].time, 0.2)
        self.assertTrue(all(frame.path.exists() for frame in run.frames))
        self.assertEqual((run.summary["finished"], run.summary["steps"]), (True, 20))
        self.assertEqual(len(run.steps), 20)
        self.assertAlmostEqual(run.steps.time[-1], 0.2)
        self.assertGreater(run.forces.normal_y[-1], 0)
        self.assertEqual((run.forces.a[-1], run.forces.b[-1]), ("cube", "floor"))
        self.assertEqual(run.scene.bodies, ["cube"])
        self.assertEqual(run.simulation().state_hash, sim.state_hash)
        audit = run.audit()
        self.assertEqual((audit.frames, audit.rows, audit.ended, audit.found), (5, 20, True, 0))

    def test_probes_are_columns(self):
        probes = [{"name": "file", "body": "cube", "quantity": "position", "of": "min"},
                  {"name": "down # 1", "body": "*", "quantity": "contact_force"},
                  {"name": "mises", "body": "cube", "quantity": "von_mises", "of": "max"}]
        scene = cube(time={"step": 0.01, "duration": 0.2}, output={"every": 5, "probes": probes})
        sim = noli.Simulation(scene)
        with noli.Recorder(sim, self.folder) as recorder:
            for _ in sim.steps():
                recorder.record()
        table = noli.Run(self.folder).probes
        self.assertEqual(table.dtype.names, ("step", "time", "file_x", "file_y", "file_z", "down # 1_x", "down # 1_y",
                                             "down # 1_z", "mises"))
        self.assertEqual((len(table), table.step[-1]), (20, 20))
        np.testing.assert_array_equal([table[-1][name] for name in ("file_x", "file_y", "file_z")],
                                      sim.positions.min(axis=0))
        self.assertAlmostEqual(table["down # 1_y"][-1], sim.contact_forces()[:, 1].sum(), delta=1e-9)
        self.assertEqual(table.mises[-1], max(sim.nodal_stresses().von_mises))

    def test_an_audit_finds_a_missing_frame(self):
        record(self.folder)
        os.remove(noli.Run(self.folder).frames[2].path)
        audit = noli.Run(self.folder).audit()
        self.assertGreater(audit.found, 0)
        self.assertIn("frame_000010.vtu", {finding.file for finding in audit.findings})

    def test_an_interrupted_run_is_resumed(self):
        whole = record(os.path.join(self.temporary.name, "whole"))
        with self.assertRaises(KeyboardInterrupt):
            sim = noli.Simulation(SCENE)
            with noli.Recorder(sim, self.folder) as recorder:
                for report in sim.steps():
                    recorder.record()
                    if report.step == 7:
                        raise KeyboardInterrupt
        self.assertFalse(noli.Run(self.folder).summary["finished"])
        with self.assertRaisesRegex(noli.FileError, "not finished|unfinished"):
            record(self.folder)
        sim = noli.Simulation(SCENE)
        with noli.Recorder(sim, self.folder, resume=True) as recorder:
            self.assertEqual(sim.step_count, 7)
            for _ in sim.steps():
                recorder.record()
            self.assertEqual(recorder.summary.steps, 20)
        self.assertEqual(sim.state_hash, whole.state_hash)
        self.assertTrue(noli.Run(self.folder).summary["finished"])
        with self.assertRaisesRegex(ValueError, "the recorder is closed"):
            recorder.record()

    def test_misuse(self):
        with self.assertRaisesRegex(FileNotFoundError, "no results of noli"):
            noli.Run(self.temporary.name)
        with self.assertRaisesRegex(noli.Error, "obj"):
            noli.Recorder(noli.Simulation(SCENE), self.folder, format="obj")
        sim = noli.Simulation(SCENE)
        with noli.Recorder(sim, self.folder) as recorder, self.assertRaises(noli.ArgumentError):
            recorder.record()

    def test_frames_as_meshio(self):
        try:
            import meshio  # noqa: F401
        except ImportError:
            self.skipTest("no meshio")
        sim = record(self.folder)
        for mesh in (noli.Run(self.folder).frames[-1].meshio(), noli.as_meshio(sim)):
            np.testing.assert_array_equal(mesh.points, sim.positions)
            np.testing.assert_array_equal(mesh.cells[0].data, sim.tets)
            np.testing.assert_allclose(mesh.point_data["contact_force"], sim.contact_forces(), rtol=1e-6, atol=1e-6)
        record(self.folder, format="ply")
        mesh = noli.Run(self.folder).frames[-1].meshio()
        self.assertEqual(mesh.cells[0].type, "triangle")

    def test_frames_as_vtk(self):
        try:
            from vtkmodules.util.numpy_support import vtk_to_numpy
        except ImportError:
            self.skipTest("no VTK")
        sim = record(self.folder)
        for grid in (noli.Run(self.folder).frames[-1].vtk(), noli.as_vtk(sim)):
            np.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), sim.positions)
            self.assertEqual(grid.GetNumberOfCells(), len(sim.tets))
            np.testing.assert_allclose(vtk_to_numpy(grid.GetPointData().GetArray("velocity")), sim.velocities, atol=1e-6)
        record(self.folder, format="ply")
        self.assertEqual(noli.Run(self.folder).frames[-1].vtk().GetNumberOfPolys(), 48)

    def test_without_meshio_and_vtk(self):
        sim = noli.Simulation(SCENE)
        with mock.patch.dict("sys.modules", {"meshio": None, "vtkmodules.vtkIOPLY": None}):
            with self.assertRaisesRegex(ImportError, "needs meshio: install the Debian package python3-meshio"):
                noli.as_meshio(sim)
            with self.assertRaisesRegex(ImportError, "needs vtk"):
                noli.as_vtk(sim)


if __name__ == "__main__":
    unittest.main()
