"""Chromium, headless and driven over a pipe by its DevTools protocol; the standard library is all.

Messages are JSON with a zero byte behind each; the browser reads them from its file descriptor 3
and writes its own to 4.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import tempfile
import time
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0


class Browser:
    """A browser with one tab; what went wrong in its pages is kept in `complaints`."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise FileNotFoundError("chromium is not installed: apt-get install chromium")
        self.profile = tempfile.mkdtemp(prefix="numerate-chromium-")
        (theirs_in, self.output), (self.input, theirs_out) = os.pipe(), os.pipe()
        # Above 4, so that putting the pipes on 3 and 4 overwrites neither.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        actions = [(os.POSIX_SPAWN_DUP2, end, place) for place, end in enumerate(ends, 3)]
        actions.append((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0))
        arguments = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = os.posix_spawn(program, arguments, os.environ, file_actions=actions)
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self.buffer, self.count, self.session = b"", 0, None
        self.complaints, self.requests = [], []
        self._attach()

    def _attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.session = None
        self.call("Browser.close")
        os.waitpid(self.process, 0)
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Send a command and return its result; events that come before it are looked at."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._notice(answer)

    def _read(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("chromium does not answer")
            self.buffer += os.read(self.input, 1 << 20)
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def _notice(self, event):
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(details["args"])
        elif method == "Log.entryAdded":
            self.complaints.append(details["entry"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(details["message"])
            raise AssertionError(f"a dialog opened: {details['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])

    def open(self, path, *, width=1280, height=900, scheme="light"):
        """Load a file in a window of a size, and wait until it is drawn."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=width < 600, **size)
        wish = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=wish)
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        deadline = time.monotonic() + PATIENCE
        while self.run("document.readyState") != "complete" or self.run(
            "[...document.querySelectorAll('figure')].some(figure => !figure.children.length)"
        ):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path}: not drawn; {self.complaints}")
            time.sleep(0.1)

    def run(self, expression):
        """Return the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def point(self, selector, *, x=0.5, y=0.5, press=False):
        """Move the pointer over an element, to a share of its width and height; perhaps click."""
        quoted = json.dumps(selector)
        self.run(f"document.querySelector({quoted}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"document.querySelector({quoted}).getBoundingClientRect().toJSON()")
        place = {"x": box["left"] + x * box["width"], "y": box["top"] + y * box["height"]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        if press:
            for kind in ("mousePressed", "mouseReleased"):
                options = {"button": "left", "clickCount": 1}
                self.call("Input.dispatchMouseEvent", type=kind, **options, **place)

    def tap(self, selector):
        """Touch the middle of an element with a finger, and lift it."""
        quoted = json.dumps(selector)
        self.run(f"document.querySelector({quoted}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"document.querySelector({quoted}).getBoundingClientRect().toJSON()")
        point = {"x": box["left"] + box["width"] / 2, "y": box["top"] + box["height"] / 2}
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key):
        """Press a key that writes nothing, such as an arrow or Enter."""
        text = {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "ArrowRight": 39}[key]
        for kind in ("keyDown", "keyUp"):
            details = {"key": key, "code": key, "windowsVirtualKeyCode": code, **text}
            self.call("Input.dispatchKeyEvent", type=kind, **details)

    def take_picture(self, path, *, whole=True):
        """Write a PNG of the page."""
        options = {"captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "scale": 1} | {
                key: size[key] for key in ("width", "height")
            }
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(base64.b64decode(data))
