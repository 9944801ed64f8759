"""Bodies a micrometre apart do not show through each other: pixels of one body where the other one is in front, on pages of
runs and of scenes, and the order of positions that pages store.

usage: test_gaps.py NOLI. The browser is Chromium; without it only the order is tested.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, find_browser
from page_reader import Page

NOLI = sys.argv[1]
GAP = 1e-6
# nothing is that near: what is 1 um apart stays there
SCENE = {"time": {"step": 0.01, "steps": 2}, "gravity": [0, 0, 0], "contact": {"distance": 5e-7}}
SHEET = {"shell": {"thickness": 1e-3}, "material": {"young": 1e5}}


def box_under_plate(corner):
    """A box of many vertices under a plate of few, both below and above the plane y = 0 through the corner."""
    return {"bodies": [{"name": "below", "mesh": {"box": {"size": [0.1, 0.05, 0.1], "cells": [5, 2, 5]}},
                        "translate": [corner[0], corner[1] - 0.025 - GAP, corner[2]]}],
            "obstacles": [{"name": "above", "mesh": {"plane": {"size": [0.3, 0.2], "cells": [3, 2]}}, "translate": corner}]}


def two_sheets(turn):
    """One sheet over another one, with meshes that do not match."""
    return {"bodies": [{"name": "below", "mesh": {"plane": {"size": [1, 1], "cells": [7, 7]}}, "translate": [0, -GAP, 0], **SHEET},
                       {"name": "above", "mesh": {"plane": {"size": [0.9, 0.8], "cells": [5, 4]}}, "rotate": [0, turn, 0], **SHEET}]}


CASES = {"box": box_under_plate([0, 0, 0]), "far": box_under_plate([300, -200, 100]), "sheets": two_sheets(0), "turned": two_sheets(37)}


def run(*words):
    done = subprocess.run([NOLI, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


def write_pages(work, name, scene):
    """The page of the run and that of the scene; both store the gap."""
    path = f"{work}/{name}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**SCENE, **scene}, file)
    run("run", path, "-o", f"{work}/{name}", "--quiet")
    run("view", f"{work}/{name}")
    pages = [f"{work}/{name}/view.html"]
    if name == "box":
        run("check", "--view", "-o", f"{work}/{name}.html", path)
        pages.append(f"{work}/{name}.html")
    for page in map(Page, pages):
        names = [body["name"] for body in page.about["bodies"]]
        triangles, body, _ = page.surface()
        assert len(numpy.unique(numpy.sort(triangles, axis=1), axis=0)) == len(triangles), "a triangle is drawn twice"
        for x, *_ in page.frames():
            gap = x[body == names.index("above"), 1].min() - x[body == names.index("below"), 1].max()
            assert abs(gap - GAP) < 0.1 * GAP, (name, gap)
    return pages


def pixels_of(page, shown):
    """The picture with these bodies only."""
    page.value(f"(state.bodies.forEach((body, b) => {{ body.alpha = {json.dumps(shown)}.includes(about.bodies[b].name) ? 1 : 0; }}),"
               " state.fresh = true, 1)")
    return page.pixels()[:, :, :3]


def check_views(page, path):
    """From both sides, along the gap, at a slant and perpendicular to it, from afar and near."""
    page.ask("Page.navigate", url=f"file://{path}#last")
    page.wait(f"document.documentElement?.dataset.ready === 'yes' && location.pathname === '{path}'")
    page.value("(about.bodies.forEach((body, b) => { if (body.name === 'above') state.bodies[b].colour = [1, 0, 0];"
               " if (body.name === 'below') state.bodies[b].colour = [0, 0, 1]; }), 1)")
    for side, front in ((1, "above"), (-1, "below")):
        for angle in (0.1, 0.7, 1.55):
            for nearer in (1, 0.15):
                page.value(f"(fit(), state.view.target[1] = about.box.high[1], state.view.above = {side * angle}, state.view.distance *= {nearer}, placeEye(), 1)")
                mine, other = (0, 2) if front == "above" else (2, 0)
                alone, both = pixels_of(page, [front]), pixels_of(page, ["above", "below"])
                inside = alone[:, :, mine] > alone[:, :, other] + 40
                inside[1:-1, 1:-1] &= inside[2:, 1:-1] & inside[:-2, 1:-1] & inside[1:-1, 2:] & inside[1:-1, :-2]
                assert inside.sum() > 500, (path, front, angle, inside.sum())
                mixed = inside & (both[:, :, other] > alone[:, :, other] + 24)
                wrong = mixed & (both[:, :, other] > both[:, :, mine])
                assert wrong.sum() == 0, (path, front, angle, nearer, wrong.sum())
                assert mixed.sum() < 2e-3 * inside.sum() + 10, (path, front, angle, nearer, mixed.sum())
    assert not page.messages, page.messages


def main():
    work = tempfile.mkdtemp()
    try:
        pages = [page for name, scene in CASES.items() for page in write_pages(work, name, scene)]
        program = find_browser()
        if program is None:
            print("the pages were not opened: there is no Chromium")
            return
        browser = Browser(program, work, 700, 500)
        try:
            for path in pages:
                check_views(browser, path)
        finally:
            browser.end()
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
