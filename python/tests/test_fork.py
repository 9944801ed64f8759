"""Children of a process that has used the library: they run, with the bits of their parent, or fail at once."""
import multiprocessing
import os
import signal
import threading
import unittest
from concurrent.futures import ProcessPoolExecutor

import noli
from support import beam, cube

# enough elements for loops of several threads
SCENE = cube(bodies=[{"name": "cube", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [9, 9, 9]}},
                      "translate": [0, 0.0502, 0]}])
FORK = multiprocessing.get_context("fork")


def result_of(threads, steps=2):
    sim = noli.Simulation(SCENE, threads=threads)
    sim.run(steps)
    return sim.state_hash


def result_of_child(function):
    """What `function` returns in a child process that os.fork makes."""
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # ends a child that waits forever
        try:
            os.write(begin, repr(function()).encode())
        except BaseException as error:  # noqa: BLE001: the parent shows it
            os.write(begin, repr(error).encode())
        finally:
            os._exit(0)
    os.close(begin)
    with os.fdopen(end) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


class Forks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected = result_of(2)

    def test_a_pool(self):
        for threads in (1, 2, 3):
            with FORK.Pool(2) as pool:
                self.assertEqual(pool.map_async(result_of, [threads] * 4).get(300), [self.expected] * 4)

    def test_an_executor(self):
        with ProcessPoolExecutor(2, mp_context=FORK) as executor:
            self.assertEqual(list(executor.map(result_of, [2] * 4, timeout=300)), [self.expected] * 4)

    def test_after_a_check_alone(self):
        noli.Scene(SCENE).check()
        self.assertEqual(result_of_child(lambda: len(noli.Scene(SCENE).check())), "0")

    def test_a_simulation_goes_on_in_the_child(self):
        sim = noli.Simulation(SCENE, threads=2)
        sim.step()

        def go_on():
            sim.step()
            return sim.state_hash

        self.assertEqual(result_of_child(go_on), repr(self.expected))
        sim.step()
        self.assertEqual(sim.state_hash, self.expected)

    def test_children_of_children(self):
        self.assertEqual(result_of_child(lambda: (result_of(2), result_of_child(lambda: result_of(2)))),
                         repr((self.expected, repr(self.expected))))

    def test_threads_of_children(self):
        def in_thread():
            out = [result_of(2)]
            threads = [threading.Thread(target=lambda: out.append(result_of(2))) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return out

        self.assertEqual(result_of_child(in_thread), repr([self.expected] * 3))

    def test_a_batch(self):
        def batch():
            copies = noli.Batch(noli.Simulation(SCENE, threads=1), 3, threads=2)
            copies.step(), copies.step()
            return [copies[i].state_hash for i in range(3)]

        self.assertEqual(batch(), [self.expected] * 3)
        self.assertEqual(result_of_child(batch), repr([self.expected] * 3))

    def test_other_solvers(self):
        def steps(keys):
            sim = noli.Simulation(SCENE | keys, threads=2)
            sim.run(2)
            return sim.state_hash

        for solver in ({"linear": "pcg_incomplete"}, {"linear": "multigrid"}, {"method": "implicit_newton"},
                       {"method": "augmented_lagrangian"}):
            self.assertEqual(result_of_child(lambda: steps({"solver": solver})), repr(steps({"solver": solver})))

    def test_an_object_that_another_thread_used(self):
        inside, leave = threading.Event(), threading.Event()

        def progress(_iteration):
            inside.set()
            leave.wait(300)

        sim = noli.Simulation(SCENE, threads=2)
        thread = threading.Thread(target=lambda: sim.step(progress))
        thread.start()
        inside.wait()
        try:
            self.assertRegex(result_of_child(sim.step), 'RuntimeError.*"spawn"')
            self.assertEqual(result_of_child(lambda: result_of(2)), repr(self.expected))
        finally:
            leave.set()
            thread.join()

    def test_expressions_that_another_thread_evaluates(self):
        scene = noli.Scene(beam({"displacement": ["0.1*t*X", "0.1*sin(t)", 0]}))
        done = threading.Event()

        def step():
            sim = noli.Simulation(scene, threads=1)
            while not done.is_set():
                sim.step()

        thread = threading.Thread(target=step)
        thread.start()
        try:
            for _ in range(20):
                self.assertEqual(result_of_child(lambda: noli.Simulation(scene, threads=1).step().step), "1")
        finally:
            done.set()
            thread.join()


if __name__ == "__main__":
    unittest.main()
