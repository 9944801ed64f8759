"""Two rigid fingers pick up a soft ball: live stepping with feedback, as examples/c/gripper.c. Fingers close until they
feel the force that they shall grip with, lift the ball and hold it; a batch of four tries other frictions."""
import noli

GRIP_FORCE = 3.0  # N, of each finger
FRICTION = 0.6
SPEED = 0.1  # m/s, of fingers and of lifting
FRICTIONS = (0.05, 0.2, 0.35, 0.5)


def scene():
    """A ball on a floor between two fingers that a program moves."""
    finger = {"box": {"size": [0.01, 0.03, 0.03], "cells": [1, 1, 1]}}
    return {
        "time": {"step": 0.01, "steps": 100},
        "bodies": [{"name": "ball", "mesh": {"sphere": {"radius": 0.03, "cells": 2}}, "translate": [0, 0.0302, 0],
                    "material": {"young": 5e4}}],
        "obstacles": [{"name": name, "mesh": finger, "translate": [x, 0.03, 0], "motion": {"controlled": True}}
                      for name, x in (("left", -0.036), ("right", 0.036))],
        "half_spaces": [{"name": "floor"}],
        "friction": {"coefficient": FRICTION},
    }


class Hand:
    """What the controller remembers: how far the fingers have closed and lifted, m."""

    def __init__(self):
        self.closed = self.lifted = 0.0

    def control(self, sim):
        """Fingers close while they feel less than the grip force, and lift while they feel more."""
        way = SPEED * sim.time_step
        if -sim.wrench("left").normal[0] < GRIP_FORCE:
            self.closed += 0.25 * way
        elif self.lifted < 0.05:
            self.lifted += way
        sim.set_pose("left", (self.closed, self.lifted, 0))
        sim.set_pose("right", (-self.closed, self.lifted, 0))


def pick(sim):
    """Picks up the ball; returns its weight, what friction carries of it, the force of a finger, and the force that is
    enough, weight / (2 friction), N."""
    hand = Hand()
    for _ in range(100):
        hand.control(sim)
        report = sim.step()
        if report.step % 20 == 0:
            print(f"t {sim.time:.2f} s  grip {-sim.wrench('left').normal[0]:.2f} N  "
                  f"height {1e3 * sim.body_state('ball').centre[1]:.1f} mm")
    left, right = sim.wrench("left"), sim.wrench("right")
    weight = -sim.gravity[1] * sim.body_state("ball").mass
    held, grip, enough = -left.friction[1] - right.friction[1], -left.normal[0], weight / (2 * FRICTION)
    print(f"weight {weight:.3f} N  held by friction {held:.3f} N  grip {grip:.3f} N, at least {enough:.3f} N")
    print(f"state {sim.state_hash:016x}")
    return weight, held, grip, enough


def try_frictions(sim):
    """The same from the start with four frictions, at the same time; returns the heights, m."""
    sim.reset()
    batch = noli.Batch(sim, len(FRICTIONS))
    hands = [Hand() for _ in batch]
    for copy, friction in zip(batch, FRICTIONS):
        copy.set_pair("ball", "left", friction=friction)
        copy.set_pair("ball", "right", friction=friction)
    for _ in range(100):
        for copy, hand in zip(batch, hands):
            hand.control(copy)
        batch.step()
    heights = batch.body_states("ball").centre[:, 1]
    for friction, height in zip(FRICTIONS, heights):
        print(f"friction {friction:.2f}: the ball is at {1e3 * height:.1f} mm")
    return heights


def main():
    """Both; returns the height of the ball, m, the forces that hold it, and the heights with other frictions."""
    sim = noli.Simulation(scene())
    forces = pick(sim)
    height = sim.body_state("ball").centre[1]
    return height, forces, try_frictions(sim)


if __name__ == "__main__":
    main()
