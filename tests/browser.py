"""@fileoverview A headless Chromium for tests of pages, driven over a pipe (--remote-debugging-pipe): nothing but Python is needed.

The messages are those of the DevTools protocol, one JSON text each, ended by a zero byte. Every request that a page makes is
recorded, so that a test can say that none left its file.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import time

import pytest

CHROMIUM = shutil.which("chromium")
# What tests of pages need: Chromium, and npm, without which the build makes no page.
needed = pytest.mark.skipif(not shutil.which("npm") or CHROMIUM is None, reason="npm or chromium is not installed")
# Root, as in a container, has no sandbox; what it would do at its start (updates, its first run) is left out.
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--window-size=1280,900")


class Browser:
    """One page at a time: open() shows a file, the other methods act on it."""

    def __init__(self, folder):
        self.number, self.rest, self.answers, self.requests, self.problems = 0, b"", {}, [], []
        read_end, self.output = os.pipe()
        self.input, write_end = os.pipe()
        self.process = subprocess.Popen(   # the descriptors must be 3 and 4 in Chromium
            ["bash", "-c", f'exec "$@" 3<&{read_end} 4>&{write_end}', "bash", CHROMIUM, *OPTIONS, f"--user-data-dir={folder}"],
            pass_fds=(read_end, write_end), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end)
        os.close(write_end)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    session = None

    def send(self, method, timeout=120, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        number, end = self.number, time.monotonic() + timeout
        while number not in self.answers:
            self.receive(end - time.monotonic())
        answer = self.answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def receive(self, timeout):
        assert timeout > 0 and select.select([self.input], [], [], timeout)[0], "the browser does not answer"
        data = os.read(self.input, 1 << 20)
        assert data, "the browser has ended"
        *messages, self.rest = (self.rest + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.take_event(message["method"], message["params"])

    def take_event(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"]["text"])

    def run(self, expression):
        """The value of JavaScript, a promise's included."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]["exception"]["description"]
        return found["result"].get("value")

    def wait_for(self, expression, timeout=60):
        end = time.monotonic() + timeout
        while not (value := self.run(expression)):
            assert time.monotonic() < end, f"never true: {expression}; {self.problems}"
            time.sleep(0.05)
        return value

    def open(self, path, address=""):
        """Show a file and wait until it has drawn; returns the seconds that this took."""
        self.requests, self.problems = [], []
        start = time.monotonic()
        self.send("Page.navigate", url="about:blank")
        self.requests.clear()
        self.send("Page.navigate", url=f"file://{path}{address}")
        self.wait_for("document.documentElement?.dataset.ready", timeout=120)
        return time.monotonic() - start

    def click(self, selector):
        """A click with the mouse in the middle of what the selector finds."""
        box = self.run(f"(() => {{ const found = document.querySelector({json.dumps(selector)}); found.scrollIntoView("
                       "{block: 'center', inline: 'center'}); const box = found.getBoundingClientRect();"
                       " return [box.x + Math.min(box.width, 400) / 2, box.y + Math.min(box.height / 2, 8)]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, name, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **({"text": text} if kind == "keyDown" and text else {}))

    def type(self, text):
        self.send("Input.insertText", text=text)

    def close(self):
        with contextlib.suppress(OSError, AssertionError):
            self.session = None
            self.send("Browser.close", timeout=10)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)
