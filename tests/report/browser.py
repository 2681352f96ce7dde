"""A headless Chromium, driven through its DevTools protocol over a pipe: no driver and no package is needed."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
PATIENCE = 60.0  # seconds; a browser that starts takes some, and ten times that on a busy machine
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Enter": 13, " ": 32}


class Browser:
    """One page. `errors` are what it said on the console, exceptions, dialogs, and files that it asked for.

    own: addresses that it may ask.
    """

    def __init__(self, profile):
        command = [
            CHROMIUM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--window-size=1200,1000", "about:blank",
        ]  # fmt: skip
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # The browser takes its commands on descriptor 3 and answers on 4; copies above 9 are out of their way
        there = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]

        def arrange():
            os.dup2(there[0], 3)
            os.dup2(there[1], 4)

        self._process = subprocess.Popen(
            command, preexec_fn=arrange, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (theirs_in, theirs_out, *there):
            os.close(end)
        self._in, self._out, self._rest, self._number = ours_in, ours_out, b"", 0
        self.errors, self.own = [], ("file:", "data:", "about:", "blob:")
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")

    def close(self):
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._in)
        os.close(self._out)

    def open(self, path):
        """Show a file, or what an address gives, and wait until it has been drawn."""
        url = path if isinstance(path, str) else path.as_uri()
        self._send("Page.navigate", url=url)
        end = time.monotonic() + PATIENCE
        while self.run("document.readyState + location.protocol") != f"complete{url.partition(':')[0]}:":
            assert time.monotonic() < end
            time.sleep(0.02)

    def run(self, script):
        """The value of a script."""
        result = self._send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key, shift=False):
        """A key, as a person presses it."""
        more = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = KEYS.get(key, ord(key[0]))
        for kind in ("keyDown", "keyUp"):
            self._send(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=8 * shift,
                **(more if kind == "keyDown" else {}),
            )  # fmt: skip

    def mouse(self, kind, x, y, **more):
        """A mouse event: mousePressed, mouseMoved, mouseReleased, mouseWheel; x and y of the window."""
        self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def dark(self, wanted):
        """What the system prefers."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}]
        self._send("Emulation.setEmulatedMedia", features=features)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # pages are told then

    def size(self, width, height):
        """The window's, in dots."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", **metrics)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def accessible(self):
        """What a screen reader is given: (role, name) of all that is not ignored."""
        nodes = self._send("Accessibility.getFullAXTree")["nodes"]
        lines = [node for node in nodes if not node.get("ignored")]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in lines]

    def _send(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            reported = self._receive(end)
            if reported.get("id") == self._number:
                assert "error" not in reported, reported
                return reported["result"]
            self._note(reported)

    def _receive(self, end):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._in, 1 << 16)
            assert read, "the browser has gone"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, told):
        method, parameters = told.get("method"), told.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(parameters)
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(self.own):
                self.errors.append(url)
        elif method == "Page.javascriptDialogOpening":
            raise AssertionError(parameters)


def contrast(one, other):
    """As WCAG 2.1 defines it."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
