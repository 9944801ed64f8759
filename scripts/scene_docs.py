#!/usr/bin/env python3
"""Updates the tables of scene keys in docs/reference/scene.md and docs/scene.schema.json.

usage: scene_docs.py SOURCE_DIRECTORY TEST_PROGRAM       TEST_PROGRAM: build/release/tests/test_scene_docs

The test compares both with the tables of src/scene/format*.c and writes the expected files; this script copies them.
"""
import os
import subprocess
import sys

NAMES = ("scene.schema.json", "scene_reference.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def take_over(source, folder):
    schema, reference = (os.path.join(folder, name) for name in NAMES)
    page = os.path.join(source, "docs", "reference", "scene.md")
    if os.path.exists(schema):
        with open(os.path.join(source, "docs", "scene.schema.json"), "w", encoding="utf-8") as file:
            file.write(read(schema))
        print("wrote docs/scene.schema.json")
    if os.path.exists(reference):
        # the reference is the last part of the page
        head = read(page).split("\n### scene\n")[0]
        tables = read(reference)
        with open(page, "w", encoding="utf-8") as file:
            file.write(head + "\n" + tables[tables.index("### scene\n"):])
        print("wrote docs/reference/scene.md")


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, program = (os.path.abspath(word) for word in sys.argv[1:])
    # the test writes to its own folder, and only what is out of date
    folder = os.path.dirname(program)
    for name in NAMES:
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    subprocess.run([program], capture_output=True, check=False)
    take_over(source, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
