"""Scenes: dicts, texts, files, meshes and functions in them; messages."""
import inspect
import json
import os
import tempfile
import unittest

import noli
import numpy as np
from support import SOURCE, beam, cube


class Scenes(unittest.TestCase):
    def test_a_dict_a_text_and_a_file_give_the_same_bits(self):
        hashes = set()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(cube(), file)
            for scene in (cube(), noli.Scene.parse(json.dumps(cube())), path, noli.Scene(path)):
                sim = noli.Simulation(scene)
                sim.step()
                hashes.add(sim.state_hash)
        self.assertEqual(len(hashes), 1)

    def test_every_kind_of_definition_arrives(self):
        sim = noli.Simulation(os.path.join(SOURCE, "examples/suspension.json"))
        self.assertGreater(len(sim.spring_names), 0)
        report = sim.step()
        springs = sim.springs()
        self.assertEqual(len(springs), len(sim.spring_names))
        self.assertGreater(springs.energy.sum(), 0)
        self.assertAlmostEqual(sim.energies().elastic, report.elastic, places=9)
        self.assertAlmostEqual(sim.body_energies()["elastic"].sum() + springs.energy.sum(), report.elastic, places=9)

    def test_diagnosis(self):
        sim = noli.Simulation(cube(), overrides={"bodies.cube.velocity": [0, -5, 0]})
        for report in sim.steps():
            gaps = [found for found in sim.diagnosis() if found.distance == report.min_distance]
            self.assertEqual(len(gaps) > 0, report.contacts > 0)

    def test_defaults_are_filled_in(self):
        scene = noli.Scene(cube())
        self.assertEqual(scene.to_dict()["bodies"][0]["material"]["young"], 1e5)
        self.assertEqual((scene.name, scene.steps, scene.bodies), ("scene", 30, ["cube"]))
        self.assertAlmostEqual(scene.duration, 0.3)

    def test_overrides(self):
        scene = noli.Scene(cube(), overrides={"time.step": 0.02, "bodies.cube.material.law": "stvk"})
        self.assertEqual(scene.steps, 15)
        self.assertEqual(noli.Simulation(scene).material("cube")["law"], "stvk")
        with self.assertRaisesRegex(noli.ArgumentError, "bodies.ball"):
            noli.Scene(cube(), overrides={"bodies.ball.material.young": 1})

    def test_arrays_and_numbers_of_numpy(self):
        scene = cube(gravity=np.array([0, -1, 0]))
        scene["bodies"][0]["translate"] = np.array([0, np.float32(0.5), 0])
        scene["time"]["step"] = np.float64(0.05)
        sim = noli.Simulation(scene)
        np.testing.assert_array_equal(sim.gravity, [0, -1, 0])
        self.assertEqual(sim.time_step, 0.05)

    def test_messages_have_a_path(self):
        bad = cube()
        bad["bodies"][0]["material"] = {"poisson": 0.7}
        with self.assertRaises(noli.FormatError) as caught:
            noli.Scene(bad)
        self.assertEqual(str(caught.exception), "bodies[0].material.poisson: must be in (-1, 0.5), got 0.7")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(noli.FormatError, r'^bodies\[0\]\.mash: unknown key; did you mean "mesh"\?'):
            noli.Scene(cube(bodies=[{"mash": {}}]))

    def test_messages_of_texts_and_files_have_a_line(self):
        text = json.dumps(cube(gravity=[1, 2]), indent=1)
        with self.assertRaisesRegex(noli.FormatError, r"^words:\d+: gravity: "):
            noli.Scene.parse(text, name="words")
        with self.assertRaisesRegex(noli.FileError, "nowhere.json"):
            noli.Scene("nowhere.json")
        with self.assertRaisesRegex(noli.FormatError, r"^scene:\d+:\d+: "):
            noli.Scene.parse('{"time": ')

    def test_misuse(self):
        with self.assertRaisesRegex(TypeError, "not int"):
            noli.Scene(3)
        with self.assertRaisesRegex(TypeError, r"bodies\[0\]\.translate: a function is a motion"):
            noli.Scene(cube(bodies=[{"mesh": {"box": {}}, "translate": lambda t, X: X}]))
        with self.assertRaisesRegex(TypeError, "overrides belong to the scene"):
            noli.Simulation(noli.Scene(cube()), overrides={"time.step": 1})

    def test_check_finds_defects(self):
        scene = cube(bodies=[{"name": name, "mesh": {"box": {"cells": [1, 1, 1]}}, "translate": [x, 1, 0]}
                             for name, x in (("a", 0), ("b", 0.7))])
        defects = noli.Scene(scene).check()
        self.assertGreater(len(defects), 0)
        np.testing.assert_array_equal(np.sort(defects[0].entity), [0, 1])
        with self.assertRaisesRegex(noli.IntersectionError, '"a".*"b"'):
            noli.Simulation(scene)
        self.assertEqual(len(noli.Scene(cube()).check()), 0)

    def test_check_evaluates_motions_and_forces(self):
        for bad in ({"prescribed": [{"body": "cube", "motion": {"displacement": [0, "sqrt(0.015-t)", 0]}}]},
                    {"forces": [{"body": "cube", "total": [0, "1/(t-0.02)", 0]}]}):
            with self.assertRaisesRegex(noli.Error, "not finite"):
                noli.Scene(cube(**bad)).check()
        moved = cube(prescribed=[{"body": "cube", "motion": lambda t, X: X + t}])
        self.assertEqual(len(noli.Scene(moved).check()), 0)

    def test_foreign_scenes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("no such command\n")
            with self.assertRaisesRegex(noli.FormatError, "scene.txt:1"):
                noli.Scene(path)

    def test_examples_load(self):
        for name in ("guide/first", "guide/press", "grasp", "cloth", "rods"):
            self.assertGreater(noli.Scene(SOURCE / "examples" / f"{name}.json").steps, 0)


class Meshes(unittest.TestCase):
    def test_a_mesh_in_a_scene(self):
        mesh = noli.Mesh.box((0.1, 0.1, 0.1), (2, 2, 2))
        scene = cube()
        scene["bodies"][0]["mesh"] = mesh
        ours, theirs = noli.Simulation(scene), noli.Simulation(cube())
        ours.step(), theirs.step()
        self.assertEqual(ours.state_hash, theirs.state_hash)
        self.assertEqual(ours.scene.mesh("cube").positions.shape, mesh.positions.shape)

    def test_arrays(self):
        mesh = noli.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]], tet_tags=[7])
        self.assertEqual(mesh.tet_tags.tolist(), [7])
        self.assertEqual(len(mesh.boundary()), 4)
        self.assertEqual(mesh.refined().tets.shape, (8, 4))
        self.assertEqual(mesh.with_order(2).order, 2)
        mesh.positions[3, 2] = -1
        self.assertEqual(mesh.check().n_inverted, 1)
        self.assertEqual(mesh.orient(), 1)
        self.assertEqual(mesh.check().n_inverted, 0)
        moved = noli.Mesh.plane().transform(scale=2, rotate=(0, 0, 90), translate=(1, 0, 0))
        np.testing.assert_allclose(moved.bounds, ([1, -1, -1], [1, 1, 1]))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ball.msh")
            ball = noli.Mesh.sphere(0.3, 4)
            ball.write(path)
            read = noli.Mesh.read(path)
            np.testing.assert_array_equal(read.positions, ball.positions)
            np.testing.assert_array_equal(read.tets, ball.tets)
            with self.assertRaisesRegex(noli.FileError, "nothing.msh"):
                noli.Mesh.read(os.path.join(folder, "nothing.msh"))

    def test_shapes(self):
        for mesh, kind in ((noli.Mesh.hollow_sphere(), "tets"), (noli.Mesh.cylinder(cells_across=2, cells_along=2), "tets"),
                           (noli.Mesh.rod(), "tets"), (noli.Mesh.mat(cells=(2, 2)), "tets"), (noli.Mesh.torus(), "tets"),
                           (noli.Mesh.voxels(np.ones((2, 2, 2), bool)), "tets"), (noli.Mesh.sheet(), "triangles"),
                           (noli.Mesh.disk(), "triangles"), (noli.Mesh.polygon([[0, 0], [1, 0], [0, 1]]), "triangles"),
                           (noli.Mesh.revolution([[1, 0], [1, 1]]), "triangles"), (noli.Mesh.tube(), "triangles"),
                           (noli.Mesh.icosphere(), "triangles"), (noli.Mesh.line(), "segments"),
                           (noli.Mesh.helix(), "segments"), (noli.Mesh.sphere(cells=2, surface=True), "triangles")):
            self.assertGreater(len(getattr(mesh, kind)), 0)
        for made, size in ((noli.Mesh.sphere(geometry_order=2, cells=2), 2), (noli.Mesh.truss(geometry_order=3), 3)):
            self.assertEqual(made.order, size)
        surface = noli.Mesh.box().extract("edges")
        self.assertGreater(len(surface.segments), 0)

    def test_every_shape_of_scenes(self):
        # with the keys of scenes as parameters, their defaults, and the same bits; arrays are Mesh itself
        shapes = noli.schema()["$defs"]["shape"]["properties"]
        self.assertGreater(len(shapes), 20)
        others = {"inside": "filled", "position": "points"}
        given = {"revolution": {"profile": [[1, 0], [1, 1]]}, "polygon": {"corners": [[0, 0], [1, 0], [0, 1]]},
                 "voxels": {"inside": "X*X + Y*Y < 0.2"}, "curve": {"position": ["t", "t*t", 0]}}
        functions = {"voxels": lambda x, y, z: x * x + y * y < 0.2, "curve": lambda t: (t, t * t, 0)}
        more = [("sphere", {"inner_radius": 0.3, "layers": 2}), ("disk", {"rings": 4, "radius": 1}),
                ("plane", {"pattern": "alternating", "cells": [3, 2]}), ("rectangle", {"pattern": "unstructured"}),
                ("chain_mail", {"tube_radius": 0.005}), ("voxels", given["voxels"] | {"cells": [4, 5, 6]})]
        for name, keys in [(name, given.get(name, {})) for name in shapes if name != "arrays"] + more:
            make = getattr(noli.Mesh, name)
            known = inspect.signature(make).parameters
            wanted = shapes[name].get("properties") or noli.schema()["$defs"][name]["properties"]
            self.assertLessEqual({others.get(key, key) for key in wanted}, set(known), name)
            words = {others.get(key, key): functions[name] if key in others else value for key, value in keys.items()}
            thin = {"plane": "shell", "disk": "shell", "rectangle": "shell", "polygon": "shell", "revolution": "shell",
                    "tube": "shell", "icosphere": "shell", "torus_shell": "shell", "moebius": "shell"}
            lines = ("line", "ring", "helix", "curve") + (() if "tube_radius" in keys else ("chain_mail",))
            kind = {"shell": {"thickness": 1e-3}} if name in thin else {"rod": {"radius": 1e-3}} if name in lines else {}
            scene = noli.Scene({"time": {"steps": 1}, "bodies": [{"name": "b", "mesh": {name: keys}, **kind}]})
            ours, theirs = make(**words), scene.mesh("b")
            np.testing.assert_array_equal(ours.positions, theirs.positions, name)
            for cells in ("tets", "triangles", "segments"):
                np.testing.assert_array_equal(getattr(ours, cells), getattr(theirs, cells), name)

    def test_sizes_are_counted(self):
        for call, text in ((lambda: noli.Mesh.box((1, 1)), "size must be 3 numbers, got 2"),
                           (lambda: noli.Mesh.box(2), r"size must be \(3\), got \(a number\)"),
                           (lambda: noli.Mesh.box(cells=(2, 2)), "cells must be 3 numbers, got 2"),
                           (lambda: noli.Mesh.plane((1, 1, 1)), "size must be 2 numbers, got 3"),
                           (lambda: noli.Mesh.mat(cells=(1,)), "cells must be 2 numbers, got 1"),
                           (lambda: noli.Mesh.chain_mail((1, 2, 3)), "rings must be 2 numbers, got 3"),
                           (lambda: noli.Mesh.sphere(geometry_order=2, surface=True), "straight")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(TypeError, "cells must be of type int32, got float64"):
            noli.Mesh.box(cells=(1.5, 2, 2))
        self.assertEqual(len(noli.Mesh.box(cells=np.array([1.0, 1, 1])).positions), 8)

    def test_misuse(self):
        with self.assertRaisesRegex(ValueError, r"positions must be \(n x 3\), got \(2 x 2\)"):
            noli.Mesh([[0, 0], [1, 1]])
        with self.assertRaisesRegex(TypeError, "tets must be of type int32, got float64"):
            noli.Mesh(np.zeros((4, 3)), [[0.0, 1, 2, 3]])
        with self.assertRaisesRegex(ValueError, "triangles name a vertex that does not exist; there are 3"):
            noli.Mesh(np.eye(3), triangles=[[0, 1, 3]])
        with self.assertRaisesRegex(noli.ArgumentError, "radius"):
            noli.Mesh.sphere(-1)
        with self.assertRaisesRegex(ValueError, "curved"):
            noli.Scene(cube(bodies=[{"mesh": noli.Mesh.box().with_order(2)}]))

    def test_views_outlive_the_mesh(self):
        x = noli.Mesh.box(cells=(8, 8, 8)).positions
        self.assertEqual(x.sum(), x.copy().sum())
        self.assertEqual(x.shape, (729, 3))


class Functions(unittest.TestCase):
    def test_a_motion_is_that_of_the_expression(self):
        ours = noli.Simulation(beam(lambda t, X: X + [0, 0.2 * t, 0]))
        theirs = noli.Simulation(beam({"displacement": [0, "0.2*t", 0]}))
        for sim in (ours, theirs):
            sim.run(5)
        np.testing.assert_allclose(ours.positions, theirs.positions, rtol=0, atol=1e-12)
        self.assertEqual(ours.motions, ["motion 0"])

    def test_a_force_is_that_of_the_expression(self):
        sims = [noli.Simulation(beam({"hold": True}, forces=[{"body": "beam", "select": {"side": "+x"}, "name": "pull",
                                                             "total": value}]))
                for value in (lambda t, X: np.column_stack([0 * X[:, 0], -40 * t - X[:, 1], 0 * X[:, 0]]),
                              [0, "-40*t - Y", 0])]
        for sim in sims:
            sim.run(5)
        np.testing.assert_allclose(sims[0].positions, sims[1].positions, rtol=0, atol=1e-12)
        self.assertEqual(sims[0].forces, ["pull"])

    def test_names_of_obstacles(self):
        scene = cube(obstacles=[{"name": "plate", "mesh": {"plane": {}}, "translate": [0, 1, 0],
                                 "motion": lambda t, X: X - [0, 0.1 * t, 0]}])
        sim = noli.Simulation(scene)
        self.assertEqual(sim.motions, ["plate"])
        sim.step()
        self.assertAlmostEqual(sim.positions[sim.vertices("plate"), 1].max(), 0.999)
        self.assertNotIn("#function", sim.scene.to_json())

    def test_exceptions_propagate_and_leave_the_state(self):
        def fail(t, X):
            if t > 0.025:
                raise ZeroDivisionError("at a time")
            return X

        for keys in ({"motion": fail}, {"motion": {"hold": True}, "forces": [{"body": "beam", "total": fail}]}):
            sim = noli.Simulation(beam(**keys))
            sim.step(), sim.step()
            before = sim.state_hash
            with self.assertRaisesRegex(ZeroDivisionError, "at a time"):
                sim.step()
            self.assertEqual((sim.state_hash, sim.step_count), (before, 2))
            twin = sim.clone()
            with self.assertRaises(ZeroDivisionError):
                twin.step()

    def test_wrong_results_of_functions(self):
        for wrong in (lambda t, X: X[:1, :2], lambda t, X: "far away", lambda t: t):
            sim = noli.Simulation(beam(wrong))
            with self.assertRaises((ValueError, TypeError)):
                sim.step()
            self.assertEqual(sim.step_count, 0)
        sim = noli.Simulation(beam(lambda t, X: X * float("nan")))
        with self.assertRaises(noli.Error):
            sim.step()

    def test_a_function_may_not_use_its_simulation(self):
        sims = []
        sims.append(noli.Simulation(beam(lambda t, X: X + sims[0].energies().kinetic)))
        with self.assertRaisesRegex(RuntimeError, "callback"):
            sims[0].step()


if __name__ == "__main__":
    unittest.main()
