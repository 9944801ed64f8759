"""The package and the library: declarations, structs, statuses, memory."""
import dataclasses
import gc
import logging
import os
import re
import shutil
import subprocess
import sys
import unittest

import noli
import numpy as np
from noli import _library
from support import SOURCE, cube


class Declarations(unittest.TestCase):
    def test_are_current(self):
        script = SOURCE / "scripts" / "python_declarations.py"
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None or not script.exists():
            self.skipTest("no C compiler, or no source")
        found = subprocess.run([sys.executable, script, "--check", "--cc", compiler, SOURCE], capture_output=True,
                               text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stderr)

    def test_every_function_exists(self):
        text = (SOURCE / "python" / "noli" / "declarations.h").read_text(encoding="utf-8")
        names = set(re.findall(r"\b(noli_\w+)\(", text))
        self.assertGreater(len(names), 200)
        def has(library, name):
            try:
                return bool(getattr(library, name))
            except (AttributeError, getattr(noli.ffi, "error", AttributeError)):
                return False

        libraries = [noli.lib, _library.importer()]
        for name in names:
            self.assertTrue(any(has(library, name) for library in libraries), name)

    def test_every_status_has_an_exception(self):
        statuses = _library.ffi.typeof("NoliStatus").relements
        for name, value in statuses.items():
            if value != 0:
                self.assertIn(value, noli.errors.BY_STATUS, name)
                self.assertEqual(issubclass(noli.errors.BY_STATUS[value], noli.StepError), value > 0, name)

    def test_every_member_of_a_result_has_a_field(self):
        for name, kind in vars(noli.results).items():
            if dataclasses.is_dataclass(kind):
                members = {member for member, _ in noli.ffi.typeof("Noli" + name).fields} - {"reserved"}
                self.assertEqual(members, {field.name for field in dataclasses.fields(kind)}, name)

    def test_records_have_the_layout_of_c(self):
        struct = noli.ffi.new("NoliContactInfo*", {"entity": [1, 2], "position": [[1, 2, 3], [4, 5, 6]], "gap": 0.5})
        record = _library.records(struct, 1, "ContactInfo")[0]
        self.assertEqual(record.gap, 0.5)
        np.testing.assert_array_equal(record.entity, [1, 2])
        np.testing.assert_array_equal(record.position, [[1, 2, 3], [4, 5, 6]])


class Names(unittest.TestCase):
    def test_choices(self):
        self.assertIn("backward_euler", noli.choices("integrator"))
        self.assertIn("contact model", noli.choices())
        with self.assertRaisesRegex(KeyError, 'no kind of choice "colour"; known: "integrator"'):
            noli.choices("colour")

    def test_misspelt_names_are_suggested(self):
        sim = noli.Simulation(cube())
        batch = noli.Batch(sim, 1)
        for call, text in ((lambda: noli.Mesh.disk(ring=4), r'disk\(\).*\'ring\'; did you mean "rings"'),
                           (lambda: noli.Mesh.box(zzzzzz=4), "box.*it takes size, cells, surface"),
                           (lambda: noli.Simulation(cube(), thread=1), 'did you mean "threads"'),
                           (lambda: noli.Scene(cube(), override={}), 'did you mean "overrides"'),
                           (lambda: sim.step(progres=None), 'did you mean "progress"'),
                           (lambda: noli.choices(kinds="law"), 'did you mean "kind"'),
                           (lambda: sim.set_material("cube", yuong=1), 'did you mean "young"'),
                           (lambda: sim.add_body("b", noli.Mesh.box(), thickness=1),
                            r'body: unknown "thickness"; did you mean shell=\{"thickness": ...\}')):
            with self.assertRaisesRegex(TypeError, text):
                call()
        for call, text in ((lambda: sim.positons, 'did you mean "positions"'), (lambda: noli.Mesh.boxx, '"box"'),
                           (lambda: noli.Simulatoin, 'did you mean "Simulation"'), (lambda: batch.wrenchs, '"wrenches"'),
                           (lambda: sim.step().min_distanse, 'did you mean "min_distance"'),
                           (lambda: setattr(sim, "gravty", (0, 0, 0)), 'did you mean "gravity"'),
                           (lambda: setattr(sim, "timestep", 1), 'did you mean "time_step"'),
                           (lambda: sim.zzzzzz, "no attribute 'zzzzzz'$")):
            with self.assertRaisesRegex(AttributeError, text):
                call()
        with self.assertRaisesRegex(KeyError, 'there is no body "cub"; did you mean "cube"'):
            sim.body_state("cub")
        # what others add to objects is theirs; errors of properties are their own
        sim.mine = 1

        class Counted(noli.Simulation):
            def count(self):
                self.step_counts = 3
                return self.step_counts
        self.assertEqual((sim.mine, Counted(cube()).count()), (1, 3))
        sim.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            sim.time

    def test_results_are_written_on_one_line(self):
        sim = noli.Simulation(cube())
        report = sim.step()
        for thing in (report, sim.body_state("cube"), sim.wrench("floor"), sim.scene.mesh("cube").check(), sim.energies()):
            self.assertNotIn("\n", repr(thing))
            self.assertTrue(repr(thing).startswith(type(thing).__name__ + "("))
        self.assertIn(f"newton=<{report.newton_iterations} records>", repr(report))
        self.assertIn("time=0.01", repr(report))

    def test_schema(self):
        self.assertIn("bodies", noli.schema()["properties"])

    def test_all_public_names_have_docstrings(self):
        for name in noli.__all__:
            kind = getattr(noli, name)
            if not isinstance(kind, type):
                continue
            self.assertTrue(kind.__doc__, name)
            for member, value in vars(kind).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    self.assertTrue(value.__doc__, f"{name}.{member}")


class Memory(unittest.TestCase):
    def test_nothing_is_left(self):
        sim = noli.Simulation(cube())
        context, room = sim.context, sim.context.room
        self.assertGreater(context.bytes, 1000)
        sim.step()
        del sim
        gc.collect()
        self.assertEqual(room.objects, 0)
        self.assertEqual(context.bytes, 0)

    def test_cycles_are_collected(self):
        class Owner:
            def __init__(self):
                self.sim = noli.Simulation(cube(forces=[{"body": "cube", "total": self.push}]))

            def push(self, _t, _X):
                return 0, 0, 0

        owner = Owner()
        owner.sim.step()
        context, room = owner.sim.context, owner.sim.context.room
        del owner
        gc.collect()
        self.assertEqual(room.objects, 0)
        self.assertEqual(context.bytes, 0)

    def test_an_exception_may_hold_a_simulation(self):
        code = ("import noli, sys; sys.path.insert(0, sys.argv[1]); from support import cube\n"
                "sim = noli.Simulation(cube())\n"
                "try: sim.step(lambda iteration: 1 / 0)\n"
                "except ZeroDivisionError as error: kept = error\n")
        subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__)], check=True)


class Environment(unittest.TestCase):
    def test_variables_stay(self):
        code = "import os; before = dict(os.environ); import noli; assert dict(os.environ) == before"
        for policy in (None, "active"):
            environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
            environment |= {"OMP_WAIT_POLICY": policy} if policy else {}
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)

    def test_a_missing_library_is_named(self):
        found = subprocess.run([sys.executable, "-c", "import noli"], capture_output=True, text=True, check=False,
                               env=os.environ | {"NOLI_LIBRARY": "/nowhere"})
        self.assertIn("ImportError: libnoli was not found; set NOLI_LIBRARY", found.stderr)
        self.assertIn("/nowhere/libnoli.so.", found.stderr)


class Log(unittest.TestCase):
    def test_warnings_reach_the_logger(self):
        scene = cube(obstacles=[{"name": "plate", "mesh": {"plane": {}}, "translate": [0, 5, 0],
                                 "motion": {"velocity": [0, 0, 0]}}])
        with self.assertLogs("noli", logging.WARNING) as log:
            noli.Scene(scene)
        self.assertRegex(log.output[0], r"obstacles\[0\]\.motion: never acts")


if __name__ == "__main__":
    unittest.main()
