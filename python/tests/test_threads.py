"""Batches, and simulations in several threads: the same bits as one after the other."""
import os
import signal
import threading
import time
import unittest

import noli
import numpy as np
from support import beam, cube

PRESS = cube(obstacles=[{"name": "plate", "mesh": {"plane": {"size": [0.3, 0.3]}}, "rotate": [180, 0, 0],
                         "translate": [0, 0.12, 0], "motion": {"displacement": [0, "-0.1*t", 0]}}])


def run_press(steps, out, index, scene=None):
    sim = noli.Simulation(scene or PRESS, threads=1)
    for _ in sim.steps(steps):
        sim.contacts()
    out[index] = sim.state_hash


class Threads(unittest.TestCase):
    def test_simulations_in_threads_have_the_same_bits(self):
        scene, out = noli.Scene(PRESS), [None] * 6
        # the last three share a scene, whose motion is an expression
        threads = [threading.Thread(target=run_press, args=(15, out, i, scene if i > 2 else None)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = [None]
        run_press(15, alone, 0)
        self.assertEqual(out, alone * 6)

    def test_other_threads_run_during_a_step(self):
        sim, ticks, done = noli.Simulation(PRESS, threads=1), [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(sim.context.room.lock.acquire(blocking=False))
                if ticks[-1]:
                    sim.context.room.lock.release()

        # A busy machine may not wake the other thread within one step, so
        # steps follow until it has found the room locked.
        thread = threading.Thread(target=tick)
        thread.start()
        for _ in range(2000):
            sim.step()
            if False in ticks:
                break
        done.set()
        thread.join()
        self.assertIn(False, ticks)

    def test_another_thread_waits_for_the_step(self):
        sim, inside, results = noli.Simulation(PRESS), threading.Event(), []

        def read():
            inside.wait()
            results.append(sim.energies())
            results.append(sim.step_count)

        thread = threading.Thread(target=read)
        thread.start()

        def progress(_iteration):
            inside.set()
            time.sleep(0.02)

        sim.step(progress)
        thread.join()
        self.assertEqual(results[1], 1)

    def test_objects_die_in_any_thread(self):
        def make():
            for _ in range(20):
                sim = noli.Simulation(cube(), threads=1)
                views.append(sim.positions[0])
                sim.clone()

        views = []
        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            del views[::2]
        for thread in threads:
            thread.join()


class Batches(unittest.TestCase):
    def test_copies_have_the_bits_of_single_simulations(self):
        sim = noli.Simulation(PRESS, threads=1)
        batch = noli.Batch(sim, 4, threads=3)
        self.assertEqual(len(batch), 4)
        for i in range(4):
            batch[i].set_pair("cube", "floor", friction=0.1 * i)
            batch[i].gravity = (i, -9, 0)
        for _ in range(12):
            reports = batch.step()
        np.testing.assert_allclose(reports.time, 0.12)
        self.assertGreater(len(set(batch[i].state_hash for i in range(4))), 3)
        for i in range(4):
            single = sim.clone()
            single.set_pair("cube", "floor", friction=0.1 * i)
            single.gravity = (i, -9, 0)
            for _ in range(12):
                report = single.step()
            self.assertEqual(single.state_hash, batch[i].state_hash)
            self.assertEqual(report.newton_iterations, reports.newton_iterations[i])
            np.testing.assert_array_equal(batch.positions()[i], single.positions)
            np.testing.assert_array_equal(batch.velocities()[i], single.velocities)
            np.testing.assert_array_equal(batch.body_states("cube").centre[i], single.body_state("cube").centre)
            for name in ("plate", "floor"):
                np.testing.assert_array_equal(batch.wrenches(name).normal[i], single.wrench(name).normal)

    def test_chosen_copies(self):
        batch = noli.Batch(noli.Simulation(cube()), 3)
        batch.step([True, False, True])
        self.assertEqual([batch[i].step_count for i in range(3)], [1, 0, 1])
        batch.reset([True, False, False])
        self.assertEqual([batch[i].step_count for i in range(3)], [0, 0, 1])
        batch[1].step()
        self.assertEqual(batch[1].state_hash, batch[2].state_hash)

    def test_control(self):
        scene = cube(obstacles=[{"name": "plate", "mesh": {"plane": {}}, "translate": [0, 1, 0],
                                 "motion": {"controlled": True}}],
                     forces=[{"body": "cube", "name": "push", "total": "controlled"}])
        batch = noli.Batch(noli.Simulation(scene), 3, threads=2)
        batch.set_poses("plate", [[0, 0.01 * i, 0] for i in range(3)])
        push = np.zeros((3, len(batch[0].force_nodes("push")), 3))
        push[:, :, 0] = np.arange(3)[:, None]
        batch.set_force_values("push", push)
        batch.step()
        rows = batch[0].vertices("plate")
        np.testing.assert_allclose(batch.positions()[:, rows, 1], np.array([1, 1.01, 1.02])[:, None] * np.ones((3, 4)))
        np.testing.assert_allclose(batch.body_states("cube").momentum[:, 0], [0, 0.01, 0.02], atol=1e-9)
        targets = batch.positions()[:, rows] + [0, 0, 0.02]
        batch.set_targets("plate", targets)
        batch.step()
        np.testing.assert_allclose(batch.positions()[:, rows], targets)

    def test_misuse(self):
        batch = noli.Batch(noli.Simulation(cube()), 2)
        with self.assertRaisesRegex(ValueError, "chosen must be 2 numbers, got 3"):
            batch.step([True] * 3)
        with self.assertRaisesRegex(TypeError, "chosen must be of type bool"):
            batch.step([1, 0])
        with self.assertRaisesRegex(ValueError, "out must be a writable contiguous array"):
            batch.positions(np.zeros((2, 27, 4))[:, :, :3])
        with self.assertRaisesRegex(TypeError, "keeps its bodies"):
            batch[0].add_body("ball", noli.Mesh.sphere())
        with self.assertRaises(IndexError):
            batch[2]
        with self.assertRaisesRegex(noli.ArgumentError, "the time step must be > 0"):
            batch[1].time_step = -1

    def test_copies_outlive_the_batch(self):
        batch = noli.Batch(noli.Simulation(cube()), 2)
        copy, x = batch[1], batch[0].positions
        del batch
        copy.step()
        self.assertEqual(x.shape, (27, 3))

    def test_a_copy_that_fails(self):
        batch = noli.Batch(noli.Simulation(beam(lambda t, X: X)), 3, threads=2)
        bad = noli.Simulation(cube(solver={"max_iterations": 1, "max_substeps": 1, "tolerance": 1e-12},
                                   forces=[{"body": "cube", "acceleration": "controlled"}]))
        batch = noli.Batch(bad, 3, threads=2)
        batch[1].force_values(0)[:] = [[1e7 * (-1) ** i, 0, 0] for i in range(27)]
        with self.assertRaisesRegex(noli.StepError, "^copy 1: ") as caught:
            batch.step()
        self.assertEqual(caught.exception.index, 1)
        self.assertEqual([batch[i].step_count for i in range(3)], [1, 0, 1])
        batch.step(check=False)
        self.assertEqual((batch.statuses == 0).tolist(), [True, False, True])

    def test_functions_and_their_exceptions(self):
        def move(t, X):
            if t > 0.025:
                raise ZeroDivisionError("in a copy")
            return X + [0, t, 0]

        batch = noli.Batch(noli.Simulation(beam(move)), 4, threads=3)
        batch.step(), batch.step()
        before = [batch[i].state_hash for i in range(4)]
        self.assertEqual(len(set(before)), 1)
        with self.assertRaisesRegex(ZeroDivisionError, "in a copy"):
            batch.step()
        self.assertEqual([batch[i].state_hash for i in range(4)], before)

    def test_interrupt(self):
        # one thread, that of the signal; the third copy is interrupted
        calls = []

        def move(t, X):
            calls.append(t)
            if t > 0.025 and len(calls) == 11:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(3000):  # until the signal arrives: under valgrind that takes a while
                    time.sleep(0.01)
            return X

        batch = noli.Batch(noli.Simulation(beam(move)), 4, threads=1)
        batch.step(), batch.step()
        before = [batch[i].state_hash for i in range(4)]
        with self.assertRaises(KeyboardInterrupt):
            batch.step()
        self.assertEqual([batch[i].state_hash for i in range(4)], before)


if __name__ == "__main__":
    unittest.main()
