"""Design: variables, values and gradients, searches, functions of the caller."""
import copy
import json
import tempfile
import unittest
from pathlib import Path

import noli
import numpy as np
from support import SOURCE

# a thrown cube: its flight is known
THROW = {
    "time": {"step": 0.01, "duration": 0.2},
    "bodies": [{"name": "cube", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}},
                "velocity": [1, 2, 0]}],
    "design": {
        "variables": [{"parameter": "initial_velocity", "of": "cube", "lower": [-1, -2, 0], "upper": [2, 3, 0]}],
        "objective": [{"quantity": "centre", "body": "cube", "target": [0.3, 0.4, 0]}],
    },
}


def flight(v):
    """The centre after 20 steps of backward Euler with this velocity in addition."""
    h, n, g = 0.01, 20, 9.80665
    return np.array([(1 + v[0]) * n * h, (2 + v[1]) * n * h - g * h * h * n * (n + 1) / 2, 0])


class Designs(unittest.TestCase):
    def test_variables(self):
        design = noli.Design(THROW)
        self.assertEqual(design.names, ["initial_velocity cube x", "initial_velocity cube y"])
        self.assertEqual(design.functions, ["objective"])
        self.assertEqual(design.bounds, [(-1, 2), (-2, 3)])
        np.testing.assert_array_equal(design.start, [0, 0])

    def test_value_and_gradient(self):
        design, v = noli.Design(THROW), np.array([0.3, -0.2])
        value, gradient = design.objective(v)
        off = flight(v) - [0.3, 0.4, 0]
        self.assertAlmostEqual(value, off @ off, delta=1e-9)
        np.testing.assert_allclose(gradient, 2 * off[:2] * 0.2, rtol=1e-6)
        self.assertLess(design.report.residual_error, 1e-8)
        self.assertEqual((design.report.at_yield, design.report.recomputed), (0, 0))
        values, none = design.evaluate(v, gradient=False)
        self.assertIsNone(none)
        self.assertAlmostEqual(values[0], value, delta=1e-12)
        with self.assertRaises(ValueError):
            design.evaluate([1, 2, 3])

    def test_search_save_and_simulate(self):
        design, seen = noli.Design(THROW), []
        found = design.search(seen.append)
        self.assertEqual(found.reason, "converged")
        self.assertEqual(len(seen), found.evaluations)
        self.assertTrue(seen[found.best].best)
        self.assertTrue(0 < seen[0].residual_error < 1e-6)
        self.assertTrue(all(run.at_yield == 0 for run in seen))
        np.testing.assert_allclose(flight(found.x)[:2], [0.3, 0.4], atol=1e-5)
        sim = design.simulation(found.x)
        sim.run()
        np.testing.assert_allclose(sim.body_state("cube").centre, [0.3, 0.4, 0], atol=1e-5)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "best.json"
            design.save(found.x, path)
            again = noli.Simulation(path)
            again.run()
            np.testing.assert_allclose(again.positions, sim.positions, atol=1e-12)

    def test_watch_ends_the_search(self):
        found = noli.Design(THROW).search(lambda run: run.evaluation < 2)
        self.assertEqual((found.reason, found.evaluations), ("cancelled", 3))

    def test_own_objective(self):
        scene = copy.deepcopy(THROW)
        del scene["design"]["objective"]

        def far(at):
            if at.step < at.n_steps:
                return 0
            mean = at.x[:, 0].mean()
            slope = np.zeros(at.x.shape)
            slope[:, 0] = 2 * (mean - 0.3) / len(at.x)
            return (mean - 0.3) ** 2, slope

        design = noli.Design(scene, objective=far)
        value, gradient = design.objective([0.2, 0])
        self.assertAlmostEqual(value, (1.2 * 0.2 - 0.3) ** 2, delta=1e-9)
        np.testing.assert_allclose(gradient, [2 * (1.2 * 0.2 - 0.3) * 0.2, 0], atol=1e-7)
        self.assertAlmostEqual(design.search().x[0], 0.5, delta=1e-4)

    def test_an_exception_of_the_objective(self):
        def wrong(at):
            raise KeyError("wrong")
        with self.assertRaises(KeyError):
            noli.Design(THROW, objective=wrong).evaluate([0, 0])

    def test_errors(self):
        scene = copy.deepcopy(THROW)
        scene["design"]["objective"][0]["quantity"] = "center"
        with self.assertRaisesRegex(noli.FormatError, r'design.objective\[0\].quantity.*did you mean "centre"'):
            noli.Design(scene)
        del scene["design"]
        with self.assertRaisesRegex(ValueError, 'no key "design"'):
            noli.Design(scene)

    def test_examples_are_designs(self):
        for path in sorted((SOURCE / "examples" / "design").glob("*.json")):
            self.assertIn("design", json.loads(path.read_text()), path)
            self.assertGreater(len(noli.Design(path).names), 0)
