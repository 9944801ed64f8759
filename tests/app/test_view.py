"""The page of a run: what it stores against the frames of the run, clean errors, and the page at work in a browser.

usage: test_view.py NOLI SOURCE. The browser is Chromium; without it that part is skipped.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
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

    triangles, body, vertex = page.surface()
    assert [b["name"] for b in page.about["bodies"]] == ["ring", "ball", "box"]
    assert len(triangles) == page.about["n_triangles"] and triangles.max() == page.about["n_vert"] - 1
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
        n_frames += 1
    assert n_frames == STEPS + 1
    for name in ("steps.csv", "forces.csv"):
        with open(f"{directory}/{name}", "rb") as file:
            assert page.inflate(f"file-{name}") == file.read()
    assert json.loads(page.inflate("file-summary.json"))["steps"] == STEPS


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


class Browser:
    """A page in headless Chromium, driven through its pipe of the DevTools protocol."""

    def __init__(self, program, work, width=1100, height=700):
        # the browser reads from descriptor 3 and writes to 4: ours are elsewhere
        (to_read, self.write), (self.read, to_write) = [
            [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in os.pipe()] for _ in range(2)]

        def connect():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--hide-scrollbars", f"--window-size={width},{height}",
             f"--user-data-dir={work}/profile", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.messages, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.ask(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            assert more, "the browser has ended"
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.messages.append(json.dumps(answer["params"]))
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            assert time.monotonic() < end, (expression, self.messages)
            time.sleep(0.05)

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, buttons=1):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def pixels(self):
        """The picture on the canvas, (height x width x 4)."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        data = self.value("""(() => { const gl = renderer.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
            const p = new Uint8Array(4 * w * h); gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p);
            let s = ''; for (let i = 0; i < p.length; i += 8192) s += String.fromCharCode(...p.subarray(i, i + 8192));
            return [w, h, btoa(s)]; })()""")
        import base64

        return numpy.frombuffer(base64.b64decode(data[2]), dtype=numpy.uint8).reshape(data[1], data[0], 4).astype(int)

    def end(self):
        self.process.kill()
        self.process.wait()


def differs(a, b):
    """Share of the pixels that differ visibly."""
    return (abs(a - b).max(axis=2) > 24).mean()


def shown(page):
    return page.value("state.data && state.frame")


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

        # dark, and small
        page.key("l", "l")
        assert page.value("document.documentElement.dataset.theme") == "dark"
        assert page.pixels()[-1, 0, :3].max() < 60
        page.ask("Emulation.setDeviceMetricsOverride", width=390, height=780, deviceScaleFactor=1, mobile=True)
        page.wait("element('view').clientWidth <= 390 && element('view').clientHeight > 200")
        assert page.pixels().std() > 5
        assert not page.messages, page.messages
    finally:
        page.end()


def main():
    work = tempfile.mkdtemp()
    try:
        directory = f"{work}/run"
        run("run", f"{SOURCE}/examples/demo.json", "-o", directory, "--steps", str(STEPS))
        assert "view.html" in run("view", directory)
        path = f"{directory}/view.html"
        check_content(directory, Page(path))
        check_errors(directory, work)
        assert "not in" not in run("audit", directory)
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            print("the page was not opened: there is no Chromium")
            return
        check_browser(program, path, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
