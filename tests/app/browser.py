"""Pages in headless Chromium, driven as a person would, and the pixels that they show."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time

import numpy


def find_browser():
    """Chromium by the names that it has in distributions; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
        return numpy.frombuffer(base64.b64decode(data[2]), dtype=numpy.uint8).reshape(data[1], data[0], 4).astype(int)

    def end(self):
        self.process.kill()
        self.process.wait()


def differs(a, b):
    """Share of the pixels that differ visibly."""
    return (abs(a - b).max(axis=2) > 24).mean()
