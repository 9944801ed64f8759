"""An environment for training, with the interface of gymnasium's vector environments and without depending on it: a
gripper with two soft fingers picks up a soft ball. Many copies, with a friction each, are stepped at the same time.

    env = GripperEnv(16)
    observation, info = env.reset()
    observation, reward, terminated, truncated, info = env.step(action)     # (16 x 2) in [-1, 1]

An action is the speed of closing and that of lifting. An observation has, for each copy: closing and lifting of the
fingers (m), position (m) and velocity (m/s) of the ball, and the force of each finger on the ball (N), its component
across and along the fingers.
"""
import numpy as np

import noli

GRIP_FORCE = 2.5  # N
HEIGHT = 0.04  # m, to which the scripted policy lifts
SPEED = np.array([0.05, 0.1])  # m/s, of an action of 1
GRAVITY = 9.80665


def scene(steps):
    """A ball on a floor between two soft fingers, whose backs a program moves."""
    finger = {"box": {"size": [0.012, 0.03, 0.03], "cells": [2, 3, 3]}}
    rubber = {"law": "stable_neo_hookean", "young": 1e5, "poisson": 0.45, "damping": 2e-3}
    return {
        "time": {"step": 0.01, "steps": steps},
        "bodies": [
            {"name": "ball", "mesh": {"sphere": {"radius": 0.025, "cells": 4}}, "translate": [0, 0.0253, 0],
             "material": {"young": 8e4, "damping": 2e-3}},
            {"name": "left", "mesh": finger, "translate": [-0.033, 0.03, 0], "material": rubber},
            {"name": "right", "mesh": finger, "translate": [0.033, 0.03, 0], "material": rubber},
        ],
        "prescribed": [{"body": name, "select": {"side": side}, "motion": {"controlled": True, "name": name}}
                       for name, side in (("left", "-x"), ("right", "+x"))],
        "half_spaces": [{"name": "floor"}],
        "friction": {"coefficient": 0.6, "iterations": "until_convergence"},
        "solver": {"tolerance": "1e-3 l"},
    }


class GripperEnv:
    """`copies` grippers; each has a friction of `frictions` (default 0.6)."""

    def __init__(self, copies=1, frictions=None, steps=120, threads=0):
        self.copies = copies
        self.steps = steps
        self.batch = noli.Batch(noli.Simulation(scene(steps)), copies, threads=threads)
        for copy, friction in zip(self.batch, np.broadcast_to(0.6 if frictions is None else frictions, copies)):
            for finger in ("left", "right"):
                copy.set_pair("ball", finger, friction=float(friction))
        self.mass = self.batch.body_states("ball").mass
        self.hands = np.zeros((copies, 2))

    def reset(self):
        """Begins again. Returns the observation and a dict."""
        self.batch.reset()
        self.hands[:] = 0
        return self._observe()

    def step(self, action):
        """Moves the fingers by one time step. Returns observation, reward, terminated, truncated and a dict with the
        vertical force of the fingers (N) and the weight of the ball (N)."""
        action = np.clip(np.asarray(action, float).reshape(self.copies, 2), -1, 1)
        time_step = self.batch[0].time_step
        self.hands = np.maximum(self.hands + time_step * SPEED * action, 0)
        for finger, sign in (("left", 1), ("right", -1)):
            position = np.zeros((self.copies, 3))
            position[:, 0], position[:, 1] = sign * self.hands[:, 0], self.hands[:, 1]
            self.batch.set_poses(finger, position)
        self.batch.step()
        observation, info = self._observe()
        height = observation[:, 3] - 0.0253
        dropped = (self.hands[:, 1] > 0.02) & (height < 0.002)
        truncated = np.array([copy.step_count >= self.steps for copy in self.batch])
        return observation, height, dropped, truncated, info

    def _observe(self):
        ball = self.batch.body_states("ball")
        # fingers touch nothing but the ball
        forces = [self.batch.wrenches(finger) for finger in ("left", "right")]
        on_ball = [-(force.normal + force.friction) for force in forces]
        grip = np.column_stack([on_ball[0][:, 0], -on_ball[1][:, 0]])
        lift = np.column_stack([on_ball[0][:, 1], on_ball[1][:, 1]])
        observation = np.column_stack([self.hands, ball.centre, ball.velocity, grip, lift])
        return observation, {"lift": lift.sum(axis=1), "weight": self.mass * GRAVITY}


def scripted(observation):
    """A policy by hand: close until the fingers feel the ball, then lift and hold."""
    lifted, grip = observation[:, 1], observation[:, 8:10].min(axis=1)
    close = np.clip((GRIP_FORCE - grip) / GRIP_FORCE, -0.2, 1)
    lift = np.where(grip > 0.8 * GRIP_FORCE, np.clip((HEIGHT - lifted) / 0.005, -1, 1), 0)
    return np.column_stack([close, lift])


def main(frictions=(0.03, 0.3, 0.6), steps=120):
    """Runs the policy; returns rewards and the vertical force over the weight, (steps x copies)."""
    env = GripperEnv(len(frictions), frictions, steps)
    observation, info = env.reset()
    rewards, shares = [], []
    for step in range(steps):
        observation, reward, _, _, info = env.step(scripted(observation))
        rewards.append(reward)
        shares.append(info["lift"] / info["weight"])
        if (step + 1) % 20 == 0:
            print(f"step {step + 1:3}  height " + " ".join(f"{1e3 * value:5.1f}" for value in reward) + " mm  force/weight "
                  + " ".join(f"{value:5.2f}" for value in shares[-1]))
    return np.array(rewards), np.array(shares)


if __name__ == "__main__":
    main()
