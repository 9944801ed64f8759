"""The examples of the documentation, with their physics."""
import contextlib
import io
import os
import re
import tempfile
import unittest

import noli
import numpy as np
from support import SOURCE, example


def quietly(function, *arguments):
    """The result of a function and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        made = function(*arguments)
    return made, printed.getvalue()


class Examples(unittest.TestCase):
    def test_first(self):
        with tempfile.TemporaryDirectory() as folder:
            sim, printed = quietly(example("first").main, folder)
            self.assertEqual(len(noli.Run(folder).frames), 101)
            self.assertEqual(noli.Run(folder).audit().found, 0)
        twin = noli.Simulation(SOURCE / "examples" / "guide" / "first.json")
        twin.run()
        self.assertEqual(sim.state_hash, twin.state_hash)
        self.assertRegex(printed, r"t 1\.00 s  height 0\.0000 m  force 9\.8 N")

    def test_press(self):
        module = example("press")
        forces, _ = quietly(module.main, 20)
        twin = noli.Simulation(SOURCE / "examples" / "guide" / "press.json")
        expected = []
        for report in twin.steps(20):
            wrench = twin.wrench("plate")
            expected.append((report.time, np.linalg.norm(wrench.normal), np.linalg.norm(wrench.friction)))
        np.testing.assert_allclose(forces, expected, rtol=1e-4, atol=1e-3)

    def test_gripper(self):
        (height, (weight, held, grip, enough), heights), _ = quietly(example("gripper").main)
        self.assertGreater(height, 0.07)
        self.assertAlmostEqual(held, weight, delta=1e-3 * weight)
        self.assertGreater(grip, enough)
        np.testing.assert_array_less(heights[0], heights[1:] - 0.005)

    def test_gripper_environment(self):
        module = example("gripper_env")
        (rewards, shares), _ = quietly(module.main, (0.03, 0.6), 100)
        # the ball hangs in the fingers: their forces are its weight
        np.testing.assert_allclose(shares[70:, 1], 1, atol=0.02)
        self.assertAlmostEqual(rewards[-1, 1], module.HEIGHT, delta=0.005)
        self.assertLess(rewards[-1, 0], 0.002)

    def test_gripper_environment_repeats_itself(self):
        env = example("gripper_env").GripperEnv(2, threads=2)
        action = np.full((2, 2), 0.5)
        runs = []
        for _ in range(2):
            observation, info = env.reset()
            self.assertEqual(observation.shape, (2, 12))
            for _ in range(3):
                observation, reward, terminated, truncated, info = env.step(action)
            runs.append(observation)
            self.assertEqual((reward.shape, terminated.any(), truncated.any()), ((2,), False, False))
        np.testing.assert_array_equal(*runs)
        np.testing.assert_array_equal(runs[0][0], runs[0][1])

    def test_band_on_cone(self):
        (history, (pull, theory)), _ = quietly(example("band_on_cone").main)
        height, radius, push = history.T
        self.assertGreater(push.max(), 10)
        # it stays, stretched by more than a fifth
        self.assertGreater(radius[-1], 0.06)
        self.assertLess(abs(height[-1] - height[-10]), 1e-4)
        self.assertAlmostEqual(pull, theory, delta=0.02 * theory)

    def test_arm(self):
        sim = noli.Simulation(SOURCE / "examples" / "arm.json")
        sim.run()
        self.assertEqual(sim.joint_names, ["shoulder", "elbow", "wrist", "guide"])
        joints = dict(zip(sim.joint_names, sim.joints()))
        place = {name: joint["coordinate"][0] for name, joint in joints.items()}
        effort = {name: joint["motor"][0] for name, joint in joints.items()}
        # motors miss their targets by what they bear
        self.assertAlmostEqual(effort["shoulder"], 400 * (0.3 - place["shoulder"]), delta=1e-4)
        self.assertAlmostEqual(effort["elbow"], 200 * (-1.6 - place["elbow"]), delta=1e-3)
        # the hand and the weight of the plate compress its spring
        g, pressed = 9.80665, -sim.wrench("plate").normal[1]
        self.assertAlmostEqual(place["guide"], -0.0523, delta=2e-4)
        self.assertAlmostEqual(joints["guide"]["spring"][0], pressed + 0.3 * g, delta=1e-4)
        # the shoulder bears the arm and pulls the hand down
        self.assertAlmostEqual(joints["shoulder"]["force"][1], 1.5 * g - pressed, delta=1e-4)
        self.assertAlmostEqual(joints["guide"]["force"][0], -joints["shoulder"]["force"][0], delta=1e-4)
        self.assertAlmostEqual(joints["shoulder"]["torque"][2], effort["shoulder"] + joints["shoulder"]["friction"][0],
                               delta=1e-4)

        # the host lifts the hand
        sim.set_joint_target("shoulder", 0.8)
        self.assertEqual(sim.joint_target("shoulder"), 0.8)
        for _ in sim.steps(300):
            pass
        joints = dict(zip(sim.joint_names, sim.joints()))
        self.assertAlmostEqual(joints["guide"]["coordinate"][0], -0.3 * g / 800, delta=1e-5)
        self.assertAlmostEqual(joints["shoulder"]["coordinate"][0], 0.8, delta=0.02)
        sim.set_joint_target("shoulder", float("nan"))
        self.assertAlmostEqual(sim.joint_target("shoulder"), 0.3, delta=1e-12)
        with self.assertRaises(noli.ArgumentError):
            sim.set_joint_target("wrist", 1)
        with self.assertRaisesRegex(KeyError, "elbow"):
            sim.set_joint_target("ellbow", 1)

    def test_arm_in_batches(self):
        sim = noli.Simulation(SOURCE / "examples" / "arm.json")
        batch = noli.Batch(sim, 3, threads=1)
        batch.set_joint_targets("shoulder", [0.0, 0.2, 0.4])
        for _ in range(60):
            batch.step()
        joints = batch.joints()
        self.assertEqual(joints.shape, (3, 4))
        np.testing.assert_array_less(0.1, np.diff(joints["coordinate"][:, 0, 0]))
        for copy, own in zip(batch, joints):
            np.testing.assert_array_equal(copy.joints()["force"], own["force"])

    def test_twenty_bodies(self):
        (accelerations, rigid), _ = quietly(example("twenty_bodies").main)
        np.testing.assert_allclose(accelerations, rigid, atol=1e-4)
        self.assertGreater((rigid > 0).sum(), 10)


class HowTo(unittest.TestCase):
    """The scenes of docs/howto, and the figures that the pages state."""

    @staticmethod
    def simulation(name, **overrides):
        return noli.Simulation(SOURCE / "examples" / "howto" / f"{name}.json", overrides=overrides)

    def test_press_fit(self):
        (coarse, _), _ = quietly(example("press_fit").main, 8)
        (fine, theory), _ = quietly(example("press_fit").main, 16)
        self.assertAlmostEqual(fine / theory, 1, delta=0.015)
        self.assertLess(abs(fine - theory), 0.5 * abs(coarse - theory))

    def test_bolt(self):
        sim = self.simulation("bolt")
        bolt, floor = [], []
        for _ in sim.steps():
            bolt.append(-sim.reaction("pull").force[1])
            floor.append(sim.wrench("floor").normal[1])
        bolt, floor = np.array(bolt), np.abs(floor)
        # the preload; then the bolt takes a part of the load, and all of it once the plate has parted from the floor
        self.assertAlmostEqual(bolt[9], 711.0, delta=0.5)
        self.assertAlmostEqual(floor[9], bolt[9], delta=2e-3 * bolt[9])
        np.testing.assert_allclose(bolt[10:] - floor[10:], 1500 * np.arange(0.1, 1.05, 0.1), rtol=0, atol=2)
        self.assertLess(bolt[13], 800)
        self.assertEqual(floor[16], 0)
        self.assertAlmostEqual(bolt[19], 1500, delta=2)

    def test_joints(self):
        sim = self.simulation("joints")
        ends = {name: np.flatnonzero(sim.rest_positions[:, 0] > 0.399) for name in ("flap", "bar")}
        rows = {name: np.intersect1d(end, np.arange(sim.vertex_count)[sim.vertices(name)]) for name, end in ends.items()}
        speed, away = {"flap": 0, "bar": 0}, 0
        for report in sim.steps():
            for name in speed:
                speed[name] = max(speed[name], np.linalg.norm(sim.velocities[rows[name]].mean(axis=0)))
            away = max(away, abs(sim.body_state("carriage").centre[0] - 0.1 - 0.1 * np.cos(10 * report.time)))
        for name in speed:
            self.assertAlmostEqual(speed[name], np.sqrt(3 * 9.80665 * 0.4), delta=0.005)
        self.assertLess(away, 3e-5)

    def test_garment(self):
        sim = self.simulation("garment")
        sim.run()
        gaps = dict(zip(sim.spring_names, sim.springs()["length"]))
        self.assertLess(max(gaps["left side"], gaps["right side"]), 0.003)
        # the tunic hangs on its shoulders
        self.assertGreater(sim.positions[sim.vertices("front"), 1].max(), 0.5)

    def test_texture(self):
        sim = self.simulation("texture")
        with tempfile.TemporaryDirectory() as folder:
            with noli.Recorder(sim, folder) as recorder:
                for _ in sim.steps(1):
                    recorder.record()
            self.assertEqual(len(noli.Run(folder).frames), 2)

    def test_torch_gradient(self):
        try:
            module = example("torch_gradient")
        except ImportError:
            self.skipTest("no PyTorch: install python3-torch")
        (friction, error), _ = quietly(module.main, 40)
        self.assertLess(error, 1e-8)
        self.assertAlmostEqual(friction, 0.3, delta=0.05)


class Page(unittest.TestCase):
    def test_the_pieces_of_the_page_run(self):
        """All blocks of docs/reference/python.md that are complete programs: they import noli."""
        text = (SOURCE / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
        text = re.sub(r"<!-- file .*?<!-- end -->", "", text, flags=re.S)
        blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "import noli" in block]
        self.assertGreater(len(blocks), 2)
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            try:
                os.chdir(folder)
                for block in blocks:
                    quietly(exec, compile(block, "docs/reference/python.md", "exec"), {"__name__": "page"})
            finally:
                os.chdir(here)


if __name__ == "__main__":
    unittest.main()
