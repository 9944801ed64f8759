"""Scenes that several tests share."""
import copy
import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
CUBE = {
    "time": {"step": 0.01, "duration": 0.3},
    "bodies": [{"name": "cube", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}},
                "translate": [0, 0.06, 0]}],
    "half_spaces": [{"name": "floor"}],
}


def cube(**keys):
    """A soft cube above a floor, with more keys of the scene."""
    return copy.deepcopy(CUBE) | keys


def beam(motion, **keys):
    """A block without gravity and contact whose left side moves."""
    return {"time": {"step": 0.01, "duration": 1}, "gravity": [0, 0, 0], "contact": {"enabled": False},
            "bodies": [{"name": "beam", "mesh": {"box": {"size": [1, 0.2, 0.2], "cells": [4, 1, 1]}}}],
            "prescribed": [{"body": "beam", "select": {"side": "-x"}, "motion": motion}]} | keys


def example(name):
    """A module of examples/python."""
    sys.path.insert(0, os.fspath(SOURCE / "examples" / "python"))
    try:
        return __import__(name)
    finally:
        sys.path.pop(0)
