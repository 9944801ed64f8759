"""Simulations: steps, views, control, parameters, states, results, queries, misuse, interrupts."""
import _thread
import gc
import os
import signal
import tempfile
import threading
import time
import unittest

import noli
import numpy as np
from support import SOURCE, beam, cube


def plates(**keys):
    """A cube between a controlled plate above and the floor."""
    return cube(obstacles=[{"name": "plate", "mesh": {"plane": {"size": [0.3, 0.3]}}, "rotate": [180, 0, 0],
                            "translate": [0, 0.15, 0], "motion": {"controlled": True}}], **keys)


class Steps(unittest.TestCase):
    def test_a_cube_comes_to_rest(self):
        sim = noli.Simulation(cube(time={"step": 0.01, "duration": 1}))
        reports = sim.run()
        self.assertEqual(len(reports), 100)
        self.assertEqual(reports[-1].step, 100)
        self.assertAlmostEqual(sim.time, 1)
        weight = sim.body_state("cube").mass * 9.80665
        self.assertAlmostEqual(sim.wrench("cube").normal[1], weight, delta=0.01 * weight)
        # a half-space has the opposite
        np.testing.assert_allclose(sim.wrench("floor").normal, -sim.wrench("cube").normal, atol=1e-9 * weight)
        self.assertEqual(len(reports[-1].newton), reports[-1].newton_iterations)
        self.assertGreater(reports[-1].timing.assemble, 0)
        self.assertEqual(sim.run(), [])

    def test_progress_and_cancel(self):
        sim, seen = noli.Simulation(cube()), []
        sim.step(seen.append)
        self.assertIsInstance(seen[0], noli.results.NewtonStat)
        before = sim.state_hash
        with self.assertRaises(noli.Cancelled) as caught:
            sim.step(lambda iteration: False)
        self.assertEqual(caught.exception.status, 7)
        self.assertEqual(caught.exception.report.time, sim.time)
        self.assertEqual(sim.state_hash, before)
        sim.step(lambda iteration: None)

    def test_a_failed_step_has_a_report(self):
        sim = noli.Simulation(cube(solver={"max_iterations": 1, "max_substeps": 1, "tolerance": 1e-12},
                                   forces=[{"body": "cube", "acceleration": [0, "-1e4", 0]}]))
        with self.assertRaises(noli.StepError) as caught:
            sim.run(30)
        self.assertIsInstance(caught.exception.report, noli.results.StepReport)


class Views(unittest.TestCase):
    def test_no_copy(self):
        sim = noli.Simulation(cube())
        address = int(noli.ffi.cast("uintptr_t", noli.lib.noli_sim_positions(sim.c)))
        x = sim.positions
        self.assertEqual(x.ctypes.data, address)
        before = x.copy()
        sim.step()
        self.assertTrue((x != before).any())
        self.assertEqual(sim.positions.ctypes.data, address)
        self.assertEqual(sim.velocities.shape, (sim.vertex_count, 3))
        self.assertFalse(x.flags.writeable)
        with self.assertRaises(ValueError):
            x[0, 0] = 1

    def test_views_keep_the_simulation(self):
        sim = noli.Simulation(cube())
        sim.step()
        part = sim.positions[3:7, 1]
        expected, room = part.copy(), sim.context.room
        sim.close()
        del sim
        gc.collect()
        others = [noli.Simulation(cube()) for _ in range(5)]
        np.testing.assert_array_equal(part, expected)
        self.assertEqual(room.objects, 1)
        del part, others
        gc.collect()
        self.assertEqual(room.objects, 0)

    def test_views_of_before_a_rebuild_keep_their_memory(self):
        sim = noli.Simulation(cube())
        x, tets = sim.positions, sim.tets
        before = x.copy()
        sim.set_material("cube", young=3e5)
        sim.add_body("ball", noli.Mesh.sphere(0.02, 2).transform(translate=(0, 0.3, 0)))
        sim.step()
        gc.collect()
        np.testing.assert_array_equal(x, before)
        self.assertEqual(len(tets) + len(noli.Mesh.sphere(0.02, 2).tets), len(sim.tets))

    def test_reset_keeps_arrays_in_place(self):
        sim = noli.Simulation(plates())
        x, targets, start = sim.positions, sim.targets("plate"), sim.positions.copy()
        targets[:, 1] -= 0.01
        sim.step()
        sim.reset()
        np.testing.assert_array_equal(x, start)
        self.assertAlmostEqual(targets[0, 1], 0.15)
        self.assertEqual(sim.positions.ctypes.data, x.ctypes.data)


class Control(unittest.TestCase):
    def test_targets_and_poses(self):
        sim = noli.Simulation(plates())
        rows = sim.vertices("plate")
        sim.targets("plate")[:] += [0, -0.01, 0]
        sim.step()
        np.testing.assert_allclose(sim.positions[rows, 1], 0.14, atol=1e-12)
        sim.set_pose("plate", position=(0, -0.02, 0))
        report = sim.step()
        np.testing.assert_allclose(sim.positions[rows, 1], 0.13, atol=1e-12)
        self.assertEqual(report.motion_done, 1)
        self.assertEqual(len(sim.motion_nodes("plate")), 4)
        half = np.sqrt(0.5)
        sim.set_pose(0, quaternion=(half, 0, half, 0))
        x, rest = sim.targets("plate"), sim.rest_positions[rows]
        np.testing.assert_allclose(x, np.column_stack([rest[:, 2], rest[:, 1], -rest[:, 0]]), atol=1e-12)

    def test_a_plate_presses(self):
        sim = noli.Simulation(plates(time={"step": 0.01, "duration": 1}))
        for step in range(60):
            sim.set_pose("plate", position=(0, -0.07 * min(1, step / 30), 0))
            sim.step()
        force = sim.wrench("plate").normal[1]
        self.assertGreater(force, 10)
        self.assertAlmostEqual(sim.reaction("plate").force[1], -force, delta=1e-6 * force)
        total = sum(pair.normal[1] for pair in sim.pair_forces() if pair.a == 0 and pair.b == sim.bodies.index("plate"))
        self.assertAlmostEqual(total, -force, delta=1e-9 * force)
        np.testing.assert_allclose(sim.reaction_forces()[sim.vertices("plate")].sum(axis=0)[1], -force, rtol=1e-6)

    def test_force_values(self):
        sim = noli.Simulation(beam({"hold": True}, forces=[{"body": "beam", "select": {"side": "+x"}, "name": "pull",
                                                           "nodal": "controlled"}]))
        values = sim.force_values("pull")
        values[:, 0] = 2
        self.assertEqual(len(sim.force_nodes("pull")), len(values))
        sim.run(20)
        self.assertGreater(sim.body_state("beam").centre[0], 1e-4)

    def test_misuse_of_control(self):
        sim = noli.Simulation(plates())
        with self.assertRaisesRegex(ValueError, "broadcast"):
            sim.targets("plate")[:] = np.zeros((3, 2))
        with self.assertRaisesRegex(KeyError, 'there is no motion "plat"; did you mean "plate"'):
            sim.targets("plat")
        with self.assertRaisesRegex(IndexError, "there is no motion 1; there are 1"):
            sim.set_pose(1)
        with self.assertRaisesRegex(ValueError, "position must be 3 numbers, got 2"):
            sim.set_pose("plate", position=(0, 1))
        with self.assertRaisesRegex(noli.ArgumentError, "quaternion is zero"):
            sim.set_pose("plate", quaternion=(0, 0, 0, 0))
        with self.assertRaisesRegex(ValueError, 'motion "motion 0" is not controlled'):
            noli.Simulation(beam({"hold": True})).targets(0)


class Parameters(unittest.TestCase):
    def test_gravity_time_and_time_step(self):
        sim = noli.Simulation(cube())
        sim.gravity = (1, 0, 0)
        sim.time_step = 0.02
        sim.time = 5
        sim.step()
        self.assertAlmostEqual(sim.time, 5.02)
        np.testing.assert_allclose(sim.velocities.mean(axis=0), [0.02, 0, 0], atol=1e-6)
        np.testing.assert_array_equal(sim.gravity, [1, 0, 0])
        with self.assertRaisesRegex(noli.ArgumentError, "time step must be > 0"):
            sim.time_step = 0
        with self.assertRaisesRegex(ValueError, "gravity must be"):
            sim.gravity = 9.81

    def test_materials_keep_what_is_not_given(self):
        sim = noli.Simulation(cube(bodies=[{"name": "cube", "mesh": {"box": {"size": [0.1, 0.1, 0.1]}},
                                            "material": {"law": "stvk", "poisson": 0.3}, "translate": [0, 1, 0]}]))
        sim.set_material("cube", density=2000)
        self.assertEqual(sim.material("cube") | {"damping": 0}, {"law": "stvk", "young": 1e5, "poisson": 0.3,
                                                                "density": 2000, "damping": 0, "mass_damping": 0,
                                                                "parameter": [0] * 6})
        sim.set_material("cube", law="mooney_rivlin", parameter=[1e5, 2e4, 0, 0, 0, 0])
        self.assertEqual(sim.material("cube")["parameter"][:2], [1e5, 2e4])
        sim.set_material("cube", law="stvk", parameter=[0] * 6)
        self.assertAlmostEqual(sim.body_state("cube").mass, 2)
        with self.assertRaisesRegex(TypeError, 'material: unknown "colour"; known: law, young'):
            sim.set_material("cube", colour=1)
        with self.assertRaisesRegex(noli.ArgumentError, "stvk"):
            sim.set_material("cube", law="svk")
        self.assertEqual(sim.material("cube")["law"], "stvk")

    def test_pairs_keep_what_is_not_given(self):
        sim = noli.Simulation(cube(friction={"coefficient": 0.5, "static_coefficient": 0.6}))
        self.assertEqual(sim.pair("cube", "floor"),
                         {"contact": True, "friction": 0.5, "static_friction": 0.6, "viscosity": 0,
                          "distance": sim.contact_distance, "direction": [0, 0, 0], "friction_across": 0,
                          "adhesion": 0, "adhesion_range": sim.contact_distance})
        sim.set_pair("cube", "floor", adhesion=0.5, adhesion_range=2e-4, direction=[1, 0, 0], friction_across=0.9)
        self.assertEqual(sim.pair("cube", "floor")["adhesion"], 0.5)
        self.assertEqual(sim.pair("cube", "floor")["adhesion_range"], 2e-4)
        self.assertEqual(sim.pair("floor", "cube")["direction"], [1, 0, 0])
        sim.set_pair("cube", "floor", adhesion=0, direction=[0, 0, 0], friction_across=0)
        sim.set_pair("cube", "floor", distance=1e-4)
        self.assertEqual(sim.pair("cube", "floor")["distance"], 1e-4)
        sim.set_pair("cube", "floor", friction=0.2)
        self.assertEqual(sim.pair("floor", "cube")["friction"], 0.2)
        sim.set_pair("cube", "floor", contact=False)
        sim.run()
        self.assertLess(sim.positions[:, 1].min(), 0)
        with self.assertRaisesRegex(noli.IntersectionError, "floor"):
            sim.set_pair("cube", "floor", contact=True)
        self.assertFalse(sim.pair("cube", "floor")["contact"])

    def test_bodies_come_and_go(self):
        sim = noli.Simulation(cube())
        ball = noli.Mesh.sphere(0.03, 2).transform(translate=(0, 0.5, 0))
        self.assertEqual(sim.add_body("ball", ball, material={"density": 500}, velocity=(0, 0, 1)), 1)
        self.assertEqual(sim.entities, ["cube", "ball", "floor"])
        np.testing.assert_allclose(sim.body_state("ball").velocity, [0, 0, 1])
        with self.assertRaisesRegex(noli.IntersectionError, '"ball".*"other"'):
            sim.add_body("other", ball)
        for members, message in (({"colour": 1}, 'body: unknown "colour"'), ({"velocity": (1, 2)}, "body.velocity must be"),
                                 ({"material": {"young": "soft"}}, "body.material.young: "), ({"shell": {"width": 1}}, "body.shell: ")):
            with self.assertRaisesRegex((TypeError, ValueError), message):
                sim.add_body("other", ball, **members)
        self.assertEqual(sim.bodies, ["cube", "ball"])
        for name, rigid, mass in [("rigid", True, 8.0), ("given", {"mass": 3.0}, 3.0)]:
            block = noli.Mesh.box((0.2, 0.2, 0.2), (1, 1, 1)).transform(translate=(5 + mass, 1, 0))
            sim.add_body(name, block, rigid=rigid, material={"density": 1000})
            self.assertAlmostEqual(sim.body_state(name).mass, mass)
            self.assertEqual(len(np.arange(len(sim.positions))[sim.vertices(name)]), 4)  # the nodes of a rigid body
            sim.remove_body(name)
        self.assertEqual(sim.add_body("cloth", noli.Mesh.plane((0.1, 0.1), (2, 2)).transform(translate=(0, 1, 0)),
                                      shell={"thickness": 1e-3}, material={"density": 500, "law": "stvk"}), 2)
        self.assertAlmostEqual(sim.body_state("cloth").mass, 0.1 * 0.1 * 1e-3 * 500)
        sim.remove_body("cloth")
        sim.step()
        sim.remove_body("ball")
        sim.step()
        self.assertEqual((sim.bodies, sim.step_count), (["cube"], 2))
        with self.assertRaisesRegex(noli.ArgumentError, "last one"):
            sim.remove_body("cube")


class States(unittest.TestCase):
    def test_states_checkpoints_and_clones_continue_with_the_same_bits(self):
        sim = noli.Simulation(cube())
        sim.run(12)
        state, checkpoint, twin = sim.save_state(), sim.checkpoint(), sim.clone()
        sim.step()
        expected = sim.state_hash
        twin.step()
        self.assertEqual(twin.state_hash, expected)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.h5")
            noli.Simulation(cube()).save_checkpoint(path)
            sim.load_checkpoint(path)
        self.assertEqual(sim.time, 0)
        for restore in (lambda: sim.load_state(state), lambda: sim.restore(checkpoint)):
            sim.reset()
            restore()
            sim.step()
            self.assertEqual(sim.state_hash, expected)

    def test_damaged_states_are_refused(self):
        sim = noli.Simulation(cube())
        before = sim.state_hash
        for load, data in ((sim.load_state, b"nonsense"), (sim.load_state, sim.save_state()[:-8]),
                           (sim.restore, b"nonsense")):
            with self.assertRaises(noli.FormatError):
                load(data)
        self.assertEqual(sim.state_hash, before)

    def test_set_state(self):
        sim = noli.Simulation(cube())
        x = np.array(sim.positions, np.float32) + [0, 1, 0]
        sim.set_state(x, np.zeros_like(x))
        np.testing.assert_allclose(sim.positions, x, atol=1e-12)
        sim.set_state(np.asfortranarray(sim.positions), sim.velocities[::1])
        before = sim.state_hash
        for x, error, message in ((x[:-1], ValueError, r"positions must be \(27 x 3\), got \(26 x 3\)"),
                                  (x.astype(complex), TypeError, "positions must be of type float64, got complex128"),
                                  (x - [0, 5, 0], noli.IntersectionError, "floor"),
                                  (x * [-1, 1, 1], noli.InvertedElement, "")):
            with self.assertRaisesRegex(error, message):
                sim.set_state(x, np.zeros((27, 3)))
        self.assertEqual(sim.state_hash, before)


class Results(unittest.TestCase):
    def test_contacts(self):
        sim = noli.Simulation(cube(time={"step": 0.01, "duration": 1}))
        self.assertEqual(len(sim.contacts()), 0)
        sim.run()
        contacts = sim.contacts()
        self.assertEqual(len(contacts), 9)
        np.testing.assert_allclose(contacts.normal, np.tile([0, 1, 0], (9, 1)), atol=1e-12)
        np.testing.assert_allclose(contacts.gap, contacts.position[:, 0, 1] - contacts.position[:, 1, 1], atol=1e-12)
        total = contacts.normal_force.sum(axis=0)
        np.testing.assert_allclose(total, sim.wrench("cube").normal, atol=1e-9)
        np.testing.assert_allclose(total, sim.contact_forces().sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(sim.pair_forces()[0].normal, total, atol=1e-9)
        stresses = sim.stresses()
        np.testing.assert_allclose(stresses.von_mises, sim.von_mises(), rtol=1e-12)
        self.assertEqual(stresses.first_piola.shape, (len(sim.tets), 3, 3))
        np.testing.assert_allclose(stresses.principal.sum(axis=1), stresses.cauchy[:, :3].sum(axis=1), atol=1e-6)
        self.assertEqual(len(sim.nodal_stresses()), sim.vertex_count)
        pressure, gap = sim.contact_pressures()
        np.testing.assert_array_equal(pressure > 0, np.isfinite(gap))
        self.assertEqual(np.count_nonzero(pressure), 9)
        self.assertEqual(gap.min(), contacts.gap.min())
        self.assertFalse(sim.sheet_forces().membrane.any() or sim.rod_forces().tension.any())
        kept = contacts.gap.copy()
        sim.set_pair("cube", "floor", friction=0.5)
        sim.gravity = (0, -30, 0)
        sim.run(3)
        np.testing.assert_array_equal(contacts.gap, kept)
        self.assertTrue((sim.contacts().gap < kept).all())

    def test_slips(self):
        gravity = (1.0, -9.81, 0)
        for coefficient, sticking in ((0.2, 1), (0.05, 2)):
            sim = noli.Simulation(cube(time={"step": 0.01, "duration": 1}, gravity=gravity,
                                       friction={"coefficient": coefficient, "law": "stick", "stick_length": 1e-6}))
            sim.run(60)
            contacts = sim.contacts()
            slid, state = sim.contact_slips()
            touching = contacts.vertex[:, 0]
            self.assertEqual(len(contacts), 9)
            np.testing.assert_array_equal(contacts.sticking, sticking)
            np.testing.assert_array_equal(state[touching], sticking)
            np.testing.assert_array_equal(slid[touching], contacts.slid)
            self.assertEqual(np.count_nonzero(state), 9)
            size = np.linalg.norm(contacts.slip, axis=1)
            if sticking == 1:
                # a force of mu N f1(|s|), at a slip below the stick length
                self.assertTrue((size < 1.001e-6).all() and (size > 0).all())
                y = np.minimum(size / 1e-6, 1)
                force = coefficient * contacts.normal_force[:, 1] * (2 * y - y * y)
                np.testing.assert_allclose(np.linalg.norm(contacts.friction_force, axis=1), force, rtol=1e-2)
            else:
                np.testing.assert_allclose(size, 1e-6, rtol=1e-3)
                centre = sim.body_state("cube").centre[0]
                np.testing.assert_allclose(contacts.slid, centre, rtol=0.02)

    def test_body_states(self):
        sim = noli.Simulation(cube())
        state = sim.body_state("cube")
        self.assertAlmostEqual(state.mass, 1)
        np.testing.assert_allclose(state.centre, [0, 0.06, 0], atol=1e-15)
        # lumped masses: above that of the solid cube
        self.assertEqual(state.inertia.shape, (3, 3))
        self.assertGreater(state.inertia[0, 0], 0.1**2 / 6)
        np.testing.assert_allclose(sim.masses.sum(), 1)
        sim.step()
        energies = sim.energies()
        self.assertAlmostEqual(energies.kinetic, 0.5 * 0.0980665**2, places=6)
        # the cube has all of it, the floor nothing
        by_body, shares = sim.body_energies(), sim.nodal_energies()
        for name in ("kinetic", "elastic", "gravity"):
            np.testing.assert_allclose(by_body[name][0], getattr(energies, name), rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(shares[name].sum(), by_body[name].sum(), rtol=1e-12, atol=1e-15)
            self.assertEqual(shares[name].shape, (sim.vertex_count,))

    def test_modes(self):
        sim = noli.Simulation(beam({"hold": True}, bodies=[
            {"name": "beam", "order": 2, "mesh": {"box": {"size": [1, 0.1, 0.05], "cells": [10, 1, 1]}},
             "material": {"young": 1e7, "poisson": 0, "density": 1000}}]))
        frequencies, shapes = sim.modes(3)
        # Euler and Bernoulli, across the thin side first
        want = 1.8751040687**2 / (2 * np.pi) * np.sqrt(1e4 / 12) * np.array([0.05, 0.1])
        np.testing.assert_allclose(frequencies[:2], want, rtol=0.02)
        self.assertEqual(shapes.shape, (3, sim.node_count, 3))
        tips = shapes[np.arange(3), :, [2, 1, 2]].max(axis=1)
        # 2 / sqrt(mass) at the free end
        np.testing.assert_allclose(tips[:2], 2 / np.sqrt(5), rtol=0.02)
        with self.assertRaisesRegex(noli.ArgumentError, "free components"):
            sim.modes(3 * sim.node_count)
        with self.assertRaises(noli.ArgumentError):
            sim.modes(0)

    def test_queries(self):
        sim = noli.Simulation(cube())
        hit = sim.cast_ray((0, 1, 0.01), (0, -1, 0))
        self.assertEqual(sim.entities[hit.entity], "cube")
        self.assertAlmostEqual(hit.distance, 1 - 0.11)
        np.testing.assert_allclose(hit.normal, [0, 1, 0], atol=1e-12)
        self.assertIsNone(sim.cast_ray((0, 1, 0), (0, -1, 0), 0.5))
        self.assertIsNone(sim.cast_ray((5, 1, 0), (0, 1, 0)))
        closest = sim.closest_point((1, 0.3, 0))
        self.assertEqual(sim.entities[closest.entity], "floor")
        self.assertAlmostEqual(closest.distance, 0.3)
        with self.assertRaises(noli.ArgumentError):
            sim.cast_ray((0, 1, 0), (0, 0, 0))

    def test_volumes(self):
        scene = cube()
        scene["bodies"][0] |= {"mesh": {"sphere": {"radius": 0.1, "inner_radius": 0.08, "cells": 4}},
                               "translate": [0, 0.2, 0], "volume": {"region": "cavity"}}
        sim = noli.Simulation(scene)
        sim.step()
        volumes = sim.volumes()
        self.assertEqual(len(volumes), 1)
        self.assertAlmostEqual(volumes[0].volume / volumes[0].rest_volume, 1, places=4)


class Closed(unittest.TestCase):
    def test_a_closed_simulation_says_so(self):
        with noli.Simulation(cube()) as sim:
            sim.step()
        for use in (sim.step, lambda: sim.positions, lambda: sim.time, sim.contacts, sim.clone, sim.reset):
            with self.assertRaisesRegex(ValueError, "the simulation is closed"):
                use()
        self.assertEqual(repr(sim), "<noli.Simulation, closed>")
        sim.close()


class Interrupts(unittest.TestCase):
    def test_within_a_step(self):
        sim = noli.Simulation(cube())
        sim.step()
        before = sim.state_hash
        with self.assertRaises(KeyboardInterrupt):
            sim.step(lambda iteration: os.kill(os.getpid(), signal.SIGINT) or time.sleep(0.01))
        self.assertEqual(sim.state_hash, before)
        sim.step()

    def test_of_a_run_from_outside(self):
        sim = noli.Simulation(SOURCE / "examples" / "grasp.json")
        timer = threading.Timer(0.5, _thread.interrupt_main)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            sim.run(10**6)
        timer.join()
        twin = noli.Simulation(SOURCE / "examples" / "grasp.json")
        twin.run(sim.step_count)
        self.assertEqual(twin.state_hash, sim.state_hash)

    def test_within_functions(self):
        def move(t, X):
            if t > 0.015:
                raise KeyboardInterrupt
            return X

        sim = noli.Simulation(beam(move))
        sim.step()
        before = sim.state_hash
        with self.assertRaises(KeyboardInterrupt):
            sim.step()
        self.assertEqual(sim.state_hash, before)


if __name__ == "__main__":
    unittest.main()
