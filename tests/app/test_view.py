"""The page, the report and pictures of a run: what they store against its files, clean errors, and both at work in a
browser.

usage: test_view.py NOLI SOURCE. The browser is Chromium; without it that part is skipped.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, differs, find_browser
from page_reader import Page

NOLI, SOURCE = sys.argv[1], sys.argv[2]
STEPS = 40


def run(*words, status=0):
    done = subprocess.run([NOLI, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def check_content(directory, page):
    """Positions and fields are those of the frames, to the rounding that the documents state."""
    import meshio

    triangles, body, number = page.surface()
    assert [b["name"] for b in page.about["bodies"]] == ["ring", "ball", "box"]
    assert len(triangles) == page.about["n_triangles"] and triangles.max() == page.about["n_vert"] - 1
    first = numpy.searchsorted(meshio.read(f"{directory}/frame_000000.vtu").point_data["body"], numpy.arange(3))
    vertex = first[body] + number
    assert (numpy.diff(vertex) > 0).all()
    n_frames = 0
    for listed, (x, fields, low, high, scale) in zip(page.about["frames"], page.frames(), strict=True):
        mesh = meshio.read(f"{directory}/frame_{listed['step']:06d}.vtu")
        assert abs(x - mesh.points[vertex]).max() <= 0.5001 * (high - low).max() / 65535
        assert (mesh.point_data["body"][vertex] == body).all()
        speed = numpy.linalg.norm(mesh.point_data["velocity"][vertex], axis=1)
        assert abs(fields["speed"] - speed).max() <= 0.51 * scale[1] / 255 + 1e-30
        for k, name in ((2, "contact_force"), (3, "friction_force")):
            assert abs(fields[name] - mesh.point_data[name][vertex]).max() <= 0.51 * scale[k] / 127 + 1e-30
        total, count = numpy.zeros(len(mesh.points)), numpy.zeros(len(mesh.points))
        for cells, stress in zip(mesh.cells, mesh.cell_data["von_mises"], strict=True):
            for k in range(cells.data.shape[1]):
                numpy.add.at(total, cells.data[:, k], stress)
                numpy.add.at(count, cells.data[:, k], 1)
        assert abs(fields["von_mises"] - (total / count)[vertex]).max() <= 0.51 * scale[0] / 255 + 1e-4 * scale[0]
        step = 2 * (page.about["reach"] ** 0.5) * scale[4] / 255  # of a distance near the reach
        assert (fields["distance"] <= numpy.minimum(x[:, 1], page.about["reach"]) + step).all()
        n_frames += 1
    assert n_frames == STEPS + 1
    for name in ("steps.csv", "forces.csv", "diagnosis.csv"):
        with open(f"{directory}/{name}", encoding="utf-8") as file:
            own, stored = csv.reader(file), csv.reader(page.inflate(f"file-{name}").decode().splitlines())
            for a, b in zip(own, stored, strict=True):
                for one, other in zip(a, b, strict=True):
                    assert one == other or abs(float(one) - float(other)) <= 1e-6 * abs(float(one)), (name, a, b)
    assert json.loads(page.inflate("file-summary.json"))["steps"] == STEPS


def check_report(directory, page):
    """Six frames, the audit, and the same histories."""
    assert len(page.about["frames"]) == 6 and page.about["frames"][-1]["step"] == STEPS
    assert page.about["frames"][0]["step"] == 0
    assert page.about["audit"]["found"] == 0 and page.about["audit"]["frames"] == STEPS + 1
    assert page.inflate("file-steps.csv") == Page(f"{directory}/view.html").inflate("file-steps.csv")


def check_pictures(directory, work):
    """A picture shows what it is asked for, and nothing is left behind where it cannot."""
    def size(path):
        with open(path, "rb") as file:
            head = file.read(24)
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big"), os.path.getsize(path)

    environment = dict(os.environ, TMPDIR=work)
    def picture(*words, status=0, path=None):
        done = subprocess.run([NOLI, "picture", directory, *words], capture_output=True, text=True, check=False,
                              env=environment if path is None else dict(environment, PATH=path))
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stderr

    picture("--size", "400x300", "-o", f"{work}/one.png")
    picture("--size", "400x300", "--step", "20", "--colour", "von_mises", "--arrows", "-o", f"{work}/two.png")
    one, two = size(f"{work}/one.png"), size(f"{work}/two.png")
    assert one[:2] == two[:2] == (400, 300) and one[2] > 5000 and one[2] != two[2]
    assert "no frame of step 999" in picture("--step", "999", "-o", f"{work}/three.png", status=2)
    assert "contact_pressure" in picture("--colour", "stress", "-o", f"{work}/three.png", status=2)
    assert "1280x800" in picture("--size", "0x0", "-o", f"{work}/three.png", status=2)
    assert "Chromium" in picture("-o", f"{work}/three.png", status=4, path="/nowhere")
    assert not [name for name in os.listdir(work) if name.startswith(("three", "noli-")) or "part" in name]


def check_errors(directory, work):
    assert "not a result of Noli" in run("view", work, status=2)
    assert "no-such" in run("view", f"{work}/no-such", status=2)
    assert "cannot" in run("view", directory, "-o", f"{work}/no/page.html", status=4)
    os.rename(f"{directory}/frame_000007.vtu", f"{work}/kept")
    assert "frame_000007.vtu" in run("view", directory, "-o", f"{work}/page.html", status=4)
    assert not os.path.exists(f"{work}/page.html")
    with open(f"{work}/kept", "rb") as kept, open(f"{directory}/frame_000007.vtu", "wb") as damaged:
        damaged.write(kept.read()[:9000])
    assert "frame_000007.vtu" in run("view", directory, "-o", f"{work}/page.html", status=2)
    assert not os.path.exists(f"{work}/page.html")
    os.rename(f"{work}/kept", f"{directory}/frame_000007.vtu")


def shown(page):
    return page.value("state.data && state.frame")


BROKEN = {
    "time": {"step": 0.01, "steps": 100},
    "bodies": [
        {"name": "slab", "mesh": {"box": {"size": [2, 0.2, 2], "cells": [6, 1, 6]}}, "translate": [0, 0.2, 0]},
        {"name": "ball", "mesh": {"sphere": {"radius": 0.4, "cells": 6}}, "translate": [0.1, 0.63, 0.07]},
        {"name": "near", "mesh": {"box": {"size": [0.4, 0.4, 0.4], "cells": [2, 2, 2]}}, "translate": [-0.7, 0.5008, 0.5]},
        {"name": "rod", "mesh": {"line": {"length": 1, "segments": 8}}, "rod": {"radius": 0.02, "twist": 1},
         "translate": [0, 1, 2]}],
    "obstacles": [{"name": "press", "mesh": {"plane": {"size": [2, 2]}}, "translate": [0, 1.5, 0]}],
    "half_spaces": [{"name": "floor", "origin": [0, 0, 0]}],
    "prescribed": [
        {"body": "press", "motion": {"velocity": [0, -0.4, 0]}},
        {"body": "slab", "select": {"side": "-x"}, "motion": {"hold": True, "name": "grip"}},
        {"body": "slab", "select": {"side": "+x"}, "motion": {"displacement": ["0.3*t", "free", 0]}},
        {"body": "rod", "select": {"side": "-x", "depth": 0.2}, "motion": {"hold": True}}],
    "forces": [{"name": "pull", "body": "near", "select": {"side": "+y"}, "total": [10, 0, 0]}],
    "output": {"probes": [{"name": "tip", "body": "slab", "select": {"side": "+z"}, "quantity": "position"}]}}


def check_scene_page(work):
    """A scene that does not start: parts, motions, defects and gaps; what is told in the terminal is the same."""
    scene, path = f"{work}/broken.json", f"{work}/broken.html"
    with open(scene, "w", encoding="utf-8") as file:
        json.dump(BROKEN, file)
    said = run("check", scene, "--view", "--all", "-o", path, status=2)
    assert "broken.html" in said and not os.path.exists(f"{work}/defects.vtu")
    about = Page(path).about
    kinds = [body["kind"] for body in about["bodies"]]
    assert kinds[:5] == ["body"] * 5 and about["bodies"][4]["obstacle"]
    assert [body["name"] for body in about["bodies"] if body["kind"] in ("prescribed", "load", "probe")] == [
        'prescribed "grip" of "slab"', 'prescribed 2 of "slab"', 'prescribed 3 of "rod"', 'load "pull" of "near"',
        'probe "tip" of "slab"']
    assert kinds.count("defect") == kinds.count("gap") == 1

    # defects are those of the list, and lie where it says; the gap is the smallest one
    n = said.count("noli: error: ")
    assert about["n_defects"] == n > 4 and f"{n} initial defects" in said
    defects = [f for f in about["findings"] if f["kind"] == "defect"]
    gaps = [f for f in about["findings"] if f["kind"] == "gap"]
    assert len(defects) == n and all("slab" in f["text"] and "ball" in f["text"] for f in defects)
    assert all(abs(f["at"][0] - 0.1) < 0.6 and 0.1 < f["at"][1] < 0.5 and f["size"] < 1 for f in defects)
    assert len(gaps) == 2 and '"slab" and "near"' in gaps[1]["text"] and gaps[1]["text"].endswith("0.0008 m")

    # gaps are those below the distance of their pair
    for distance, n_gaps in ((5e-4, 1), (5e-3, 2)):
        with open(scene, "w", encoding="utf-8") as file:
            json.dump({**BROKEN, "pairs": [*BROKEN.get("pairs", []), {"a": "slab", "b": "near", "distance": distance}]}, file)
        run("check", scene, "--view", "-o", f"{work}/pair.html", status=2)
        gaps = [f["text"] for f in Page(f"{work}/pair.html").about["findings"] if f["kind"] == "gap"]
        assert len(gaps) == n_gaps, gaps
        assert n_gaps == 1 or "0.005 m; the smallest 0.0008 m" in gaps[1], gaps
    with open(scene, "w", encoding="utf-8") as file:
        json.dump(BROKEN, file)

    # marks are the vertices that are selected, ghosts where the motions lead
    _, part, _ = Page(path).surface()
    x = next(iter(Page(path).frames()))[0]
    at = {body["name"]: x[part == k] for k, body in enumerate(about["bodies"])}
    assert len(at['prescribed "grip" of "slab"']) == 14 and abs(at['prescribed "grip" of "slab"'][:, 0] + 1).max() < 1e-3
    assert len(at['prescribed 3 of "rod"']) == 2  # without the angle
    assert len(at['load "pull" of "near"']) == 9
    for time_ in (0.25, 0.5, 0.75, 1):
        assert abs(at[f'"press" at {time_:g} s'][:, 1] - (1.5 - 0.4 * time_)).max() < 1e-3
        assert abs(at[f'"slab" at {time_:g} s'][:, 0] - (1 + 0.3 * time_)).max() < 1e-3
    assert kinds.count("ghost") == 8

    # a scene that runs has none, and keeps the status; what contradicts is refused
    said = run("check", f"{SOURCE}/examples/demo.json", "--view", "-o", f"{work}/good.html")
    assert "ready to run" in said and Page(f"{work}/good.html").about["findings"] == []
    assert "--view" in run("check", scene, "--view", "--repair", "-o", f"{work}/x.json", status=1)
    assert "cannot" in run("check", scene, "--view", "-o", f"{work}/none/x.html", status=4)
    return path


def check_opened_scene(program, path, work):
    page = Browser(program, work)
    try:
        for theme in ("light", "dark"):
            page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            page.ask("Page.navigate", url=f"file://{path}")
            page.wait("document.documentElement?.dataset.ready === 'yes'")
            before = page.pixels()
            reds = (before[:, :, 0] > 190) & (before[:, :, 1] < 60) & (before[:, :, 2] < 60)
            assert reds.sum() > 50, "no defect is seen"
            assert page.value("element('play').offsetParent === null && element('verdict').textContent.includes('does not run')")

            # a click on a defect goes there
            count = page.value("element('findings').querySelectorAll('button').length")
            assert count == len(Page(path).about["findings"])
            page.value("element('findings').querySelectorAll('button')[1].click()")
            target = page.value("state.view.target")
            assert numpy.allclose(target, Page(path).about["findings"][1]["at"])
            assert page.value("state.view.distance < state.view.size")
            assert differs(before, page.pixels()) > 0.05

            # switches of marks and ghosts
            before = page.pixels()
            page.value("fit()")
            for k in range(page.value("element('bodies').children.length")):
                page.value(f"element('bodies').children[{k}].querySelector('input').click()")
            assert differs(before, page.pixels()) > 0.05
        assert not page.messages, page.messages
    finally:
        page.end()


def check_browser(program, path, work):
    page = Browser(program, work)
    try:
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        page.ask("Page.navigate", url=f"file://{path}")
        page.wait("document.documentElement?.dataset.ready === 'yes'")
        start = page.pixels()
        assert start.shape[0] > 300 and start.std() > 10, "the picture is empty"
        assert page.value("element('bodies').children.length") == 3
        assert page.value("charts.map((c) => c.title).includes('Normal forces by pair')")

        # keys and the slider lead to frames; the same frame gives the same picture
        page.key("End")
        page.wait(f"state.frame === {STEPS} && element('time').value === '{STEPS}'")
        end = page.pixels()
        assert differs(start, end) > 0.02
        page.key("ArrowLeft")
        page.wait(f"state.frame === {STEPS - 1}")
        page.value("(element('time').value = 0, element('time').dispatchEvent(new Event('input')), 1)")
        page.wait("element('clock').textContent.includes('step 0')")
        assert differs(start, page.pixels()) < 1e-3
        x = page.value("Array.from(state.x.slice(0, 6))")
        assert numpy.allclose(x, next(iter(Page(path).frames()))[0][:2].reshape(-1), atol=1e-5)

        # colours, edges, arrows and clipping show
        page.key("End")
        page.wait(f"element('clock').textContent.includes('step {STEPS}')")
        for key, least in (("1", 0.01), ("e", 0.002), ("c", 1e-4), ("x", 0.005)):
            before = page.pixels()
            page.key(key, key)
            assert differs(before, page.pixels()) > least, key
        assert page.value("!element('legend').hidden && element('legend').textContent.startsWith('Von Mises')")
        page.key("x", "x")
        page.key("x", "x")
        page.key("x", "x")

        check_plots(page)
        check_scales(page)
        check_colours(page)

        # what held a step back: the rows of its step as sentences, pins, and a click that goes there
        with open(f"{os.path.dirname(path)}/diagnosis.csv", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "contact"]
        row = min(rows, key=lambda row: float(row["alpha"]))
        page.value(f"show({row['step']})")
        before = page.pixels()
        page.key("d", "d")
        assert differs(before, page.pixels()) > 5e-4
        told = page.value("element('held').textContent")
        assert f'"{row["a"]}" (' in told and f"{row['iterations']} Newton step" in told and "Smallest gap" in told
        page.value("element('held').querySelector('button').click()")
        assert numpy.allclose(page.value("state.view.target"), [float(row[c]) for c in "xyz"])
        assert page.value("element('hardest').querySelectorAll('button').length") > 3
        page.value("element('hardest').querySelector('button').click()")
        page.wait("state.held.length > 0 && element('hardest').querySelector('button').getAttribute('aria-current') === 'true'")
        page.key("d", "d")
        page.key("f", "f")
        page.key("End")
        page.wait(f"element('clock').textContent.includes('step {STEPS}')")

        # a click picks the body under it, a drag turns
        centre = page.value("(() => { const b = element('view').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            page.mouse(kind, *centre, buttons=1 if kind == "mousePressed" else 0)
        assert page.value("!element('picked').hidden && /ring|ball|box/.test(element('picked').textContent)")
        before = page.value("state.view.around")
        page.mouse("mousePressed", *centre)
        page.mouse("mouseMoved", centre[0] + 60, centre[1])
        page.mouse("mouseReleased", centre[0] + 60, centre[1], buttons=0)
        assert page.value("state.view.around") != before

        # a hidden body is gone; the plot leads to its time; playing moves on
        before = page.pixels()
        page.value("element('bodies').querySelector('input').click()")
        assert differs(before, page.pixels()) > 0.01
        page.value("plot.canvas.scrollIntoView()")
        box = page.value("(() => { const b = plot.canvas.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
        page.mouse("mousePressed", box[0] + box[2] / 2, box[1] + box[3] / 2)
        page.wait(f"Math.abs(state.frame - {STEPS // 2}) < 3")
        before = shown(page)
        page.key(" ", " ")
        page.wait(f"state.frame > {before}")
        page.key(" ", " ")

        # the panel goes and comes, and the buttons stay
        page.key("p", "p")
        assert page.value("element('side').offsetParent === null && element('time').clientWidth > 600")
        page.key("p", "p")
        assert page.value("element('side').offsetParent !== null && element('time').clientWidth > 200")

        # dark, and small
        page.key("l", "l")
        assert page.value("document.documentElement.dataset.theme") == "dark"
        assert page.pixels()[-1, 0, :3].max() < 60
        page.ask("Emulation.setDeviceMetricsOverride", width=390, height=780, deviceScaleFactor=1, mobile=True)
        page.wait("element('view').clientWidth <= 390 && element('view').clientHeight > 200")
        assert page.value("document.documentElement.scrollWidth") <= 390
        assert page.value("[...document.querySelectorAll('footer *, #legend')].every((e) => e.getBoundingClientRect().right <= 390)")
        assert page.pixels().std() > 5
        assert not page.messages, page.messages
    finally:
        page.end()


WITHOUT_WEBGL = """const known = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind === 'webgl2' ? null : known.call(this, kind, ...more); };"""


def check_plots(page):
    """Axes of the charts: ticks are round and span the values, decades where values span them; the total is a sum."""
    assert page.value("JSON.stringify(ticksOf(0, 0.93, 5))") == "[0,0.2,0.4,0.6,0.8]"
    assert page.value("JSON.stringify(ticksOf(-2e-5, 3e-5, 4))") == "[-0.00002,0,0.00002]"
    axis = "axisOf({series: [{points: [[0, 2e-6], [1, 0.03]]}], unit: 'm'}, 6)"
    assert page.value(f"{axis}.logarithmic") and page.value(f"{axis}.ticks.map((v) => v.toExponential(0)).join()") == "1e-6,1e-5,1e-4,1e-3,1e-2,1e-1"
    assert abs(page.value(f"{axis}.share(1e-3)") - 0.6) < 1e-9
    assert not page.value("axisOf({series: [{points: [[0, 0], [1, 5]]}], unit: ''}, 6).logarithmic")
    assert page.value("charts.find((c) => c.title === 'Smallest distance').line.value === about.contact_distance && about.contact_distance > 0")
    total, parts = page.value("(() => { const s = charts.find((c) => c.title === 'Energies').series, at = (n) => s.find((e) => e.name === n).points[9][1];"
                              "return [at('total'), ['kinetic', 'elastic', 'gravity', 'contact energy'].map(at)]; })()")
    assert abs(total - sum(parts)) <= 1e-9 * sum(map(abs, parts))


def check_early_keys(program, path, work):
    """Keys that come before the page is ready act when it is."""
    page = Browser(program, work)
    try:
        page.ask("Page.addScriptToEvaluateOnNewDocument", source="""document.addEventListener("DOMContentLoaded", () => {
            for (const key of ["e", "End"]) document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); });""")
        page.ask("Page.navigate", url=f"file://{path}")
        page.wait("document.documentElement?.dataset.ready === 'yes'")
        page.wait(f"state.frame === {STEPS} && element('edges').checked")
        assert not page.messages, page.messages
    finally:
        page.end()


def check_scales(page):
    """The axes and the spacing of the grid are drawn, and an arrow of a round number for those that are shown."""
    count = "(() => { const c = element('scale'), g = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true});" \
            " g.drawImage(c, 0, 0); const d = g.getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
    page.pixels()
    with_arrow = page.value(count)
    page.key("c", "c")
    page.pixels()
    assert 300 < page.value(count) < with_arrow - 100
    page.key("c", "c")
    assert page.value("Math.log10(gridSpacing(state.view)) % 1 === 0")


def check_colours(page):
    """One table: what the page has is what scripts/render.py draws with."""
    sys.path.insert(0, f"{SOURCE}/scripts")
    import render

    want = numpy.concatenate([render.PALETTE, [render.OBSTACLE_COLOUR]])
    assert numpy.allclose(page.value("about.colours"), want, atol=1e-6)
    assert numpy.allclose(page.value("state.bodies.map((body) => body.colour)"), want[:3], atol=1e-6)


def check_obstacle_colours(program, work):
    """Forces on a plate colour it; stresses, which it has none, do not."""
    directory = f"{work}/press"
    run("run", f"{SOURCE}/examples/guide/press.json", "-o", directory, "--steps", "30", "--quiet")
    run("view", directory)
    page = Browser(program, work)
    try:
        for field, mapped in (("contact_force", True), ("distance", True), ("von_mises", False)):
            page.ask("Page.navigate", url="about:blank")
            page.ask("Page.navigate", url=f"file://{directory}/view.html#last&colour={field}")
            page.wait("document.documentElement?.dataset.ready === 'yes'")
            picture = page.pixels()
            vivid = (picture[:, :, :3].max(axis=2) - picture[:, :, :3].min(axis=2) > 60).mean()
            assert page.value("isMapped(state.bodies[1])") == mapped
            assert (vivid > 0.08) == mapped, (field, vivid)
    finally:
        page.end()


def check_progress(directory):
    """On a terminal a line says how far the page is."""
    import pty

    master, slave = pty.openpty()
    done = subprocess.run([NOLI, "view", directory], stdout=subprocess.PIPE, stderr=slave, check=True)
    os.close(slave)
    said = os.read(master, 1 << 16).decode()
    os.close(master)
    assert f"frame 1/{STEPS + 1}" in said and "wall" in said and "left" in said and b"view.html" in done.stdout


def check_opened_report(program, path, work, without_webgl=False):
    page = Browser(program, work)
    try:
        if without_webgl:
            page.ask("Page.addScriptToEvaluateOnNewDocument", source=WITHOUT_WEBGL)
        page.ask("Page.navigate", url=f"file://{path}")
        page.wait("document.documentElement?.dataset.ready === 'yes'")
        assert page.value("document.querySelectorAll('figure img').length") == 6
        assert page.value("[...document.querySelectorAll('figure img')].every((i) => i.src.length > 8000)")
        assert page.value("element('verdict').textContent.includes('The audit found nothing wrong')")
        assert page.value("document.querySelectorAll('#plots canvas').length") >= 8
        assert page.value("[...document.querySelectorAll('#timing tr')].length") >= 4
        assert not page.messages, page.messages
    finally:
        page.end()


def check_kept_fresh(work):
    """A run with --view has a page of its last frame, resumed too."""
    directory = f"{work}/fresh"
    said = run("run", f"{SOURCE}/examples/demo.json", "-o", directory, "--steps", "4", "--view")
    assert "view.html" in said and len(Page(f"{directory}/view.html").about["frames"]) == 5
    run("resume", directory, "--steps", "2", "--view")
    assert len(Page(f"{directory}/view.html").about["frames"]) == 7


def check_plastic_strain(work):
    """Frames of what yields have it unasked, and so has the page: averaged to vertices, none in the elastic bar."""
    import meshio

    directory = f"{work}/bars"
    run("run", f"{SOURCE}/examples/bent_bars.json", "-o", directory, "--steps", "20")
    run("view", directory)
    page = Page(f"{directory}/view.html")
    assert page.about["fields"][-1]["name"] == "plastic_strain"
    cells = numpy.concatenate(meshio.read(f"{directory}/frame_000020.vtu").cell_data["plastic_strain"])
    _, body, _ = page.surface()
    *_, (_, fields, _, _, _) = page.frames()
    assert 0.5 * cells.max() < fields["plastic_strain"][body == 1].max() <= cells.max()
    assert fields["plastic_strain"][body != 1].max() == 0
    assert "plastic_strain" not in Page(f"{work}/run/view.html").text.split('id="file-')[0]


def check_sticking(work):
    """Runs that write which contacts hold, and how far they have slid, have pages that show it."""
    directory, scene = f"{work}/sticking", f"{work}/sticking.json"
    blocks = [{"name": name, "mesh": {"box": {"size": [0.1, 0.02, 0.1], "cells": [2, 1, 2]}}, "translate": [0, 0.0102, z],
               "material": {"young": 1e6}, "velocity": [speed, 0, 0]} for name, z, speed in (("slides", 0, 0.5), ("stands", 0.2, 0))]
    with open(scene, "w") as file:
        json.dump({"bodies": blocks, "time": {"step": 0.01, "duration": 0.1}, "half_spaces": [{"name": "floor"}],
                   "friction": {"coefficient": 0.3}, "output": {"fields": ["slid", "held"]}}, file)
    run("run", scene, "-o", directory)
    run("view", directory)
    page = Page(f"{directory}/view.html")
    assert [field["name"] for field in page.about["fields"][-2:]] == ["slid", "held"]
    _, body, _ = page.surface()
    *_, (_, fields, _, _, _) = page.frames()
    slid, held = fields["slid"], fields["held"]
    assert abs(held[body == 0].max() - 1) < 0.01 and abs(held[body == 1].max() - 2) < 0.01 and held.min() == 0
    assert 0.03 < slid[body == 0].max() < 0.05 and slid[body == 1].max() < 1e-3


def check_elliptic_sections(work):
    """Pages of runs with frames of both formats, and of the scene, know both radii and the first axis of a section."""
    scene = {
        "time": {"step": 0.01, "steps": 2}, "gravity": [0, 0, 0],
        "bodies": [{"name": "block", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}}, "translate": [0, 3, 0]},
                   {"name": "ribbon", "mesh": {"line": {"length": 1, "segments": 8}}, "rotate": [0, 0, 30],
                    "rod": {"radius": 0.05, "second_radius": 0.01, "normal": [0, 1, 0], "twist": 1}}]}
    pages = []
    for name, output in (("vtu", {}), ("ply", {"format": "ply"})):
        with open(f"{work}/ribbon.json", "w", encoding="utf-8") as file:
            json.dump({**scene, "output": output}, file)
        run("run", f"{work}/ribbon.json", "-o", f"{work}/ribbon_{name}")
        run("view", f"{work}/ribbon_{name}", "-o", f"{work}/{name}.html")
        pages.append(Page(f"{work}/{name}.html"))
    run("check", f"{work}/ribbon.json", "--view", "-o", f"{work}/start.html")
    pages.append(Page(f"{work}/start.html"))
    for page in pages:
        about, (_, body, _) = page.about, page.surface()
        assert about["fields"][-1]["name"] == "rod_normal" and about["fields"][-1]["hidden"]
        assert (about["bodies"][1]["radius"], about["bodies"][1]["second"]) == (0.05, 0.01)
        axis = next(iter(page.frames()))[1]["rod_normal"]
        assert abs(abs(axis[body == 1] @ [-0.5, 3 ** 0.5 / 2, 0]) - 1).max() < 0.02, axis
        assert abs(axis[body == 0]).max() < 0.02


def main():
    work = tempfile.mkdtemp()
    try:
        directory = f"{work}/run"
        run("run", f"{SOURCE}/examples/demo.json", "-o", directory, "--steps", str(STEPS))
        assert "view.html" in run("view", directory)
        path = f"{directory}/view.html"
        check_content(directory, Page(path))
        assert "report.html" in run("report", directory)
        check_report(directory, Page(f"{directory}/report.html"))
        check_errors(directory, work)
        assert "not in" not in run("audit", directory)
        check_progress(directory)
        check_kept_fresh(work)
        check_plastic_strain(work)
        check_sticking(work)
        check_elliptic_sections(work)
        broken = check_scene_page(work)
        program = find_browser()
        if program is None:
            print("the page was not opened: there is no Chromium")
            return
        check_browser(program, path, work)
        check_opened_scene(program, broken, work)
        check_early_keys(program, path, work)
        check_obstacle_colours(program, work)
        check_opened_report(program, f"{directory}/report.html", work)
        check_opened_report(program, f"{directory}/report.html", work, without_webgl=True)
        check_pictures(directory, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
