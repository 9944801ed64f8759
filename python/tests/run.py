"""Runs the tests of the package: all, or those that are named.

usage: run.py [test_MODULE[.CLASS[.TEST]] ...]
Exit status: 0 passed, 1 failed, 77 a package is missing: skipped.
"""
import importlib.util
import os
import sys
import unittest


def main():
    missing = [name for name in ("cffi", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {' and no '.join(missing)} (sh scripts/setup.sh python)")
        return 77
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, folder)
    loader = unittest.TestLoader()
    tests = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(folder)
    return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
