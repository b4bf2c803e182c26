"""A headless Chromium, driven by its DevTools protocol over a pair of pipes."""

import base64
import json
import os
import subprocess
import tempfile

CHROMIUM = "chromium"
# No sandbox: tests may run as root. The other switches keep the browser from asking the network for anything of its own.
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-dev-shm-usage",
)


class PageFailed(AssertionError):
    pass


class Chromium:
    """A browser with one page. Use it with `with`."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        redirect = f'exec "$@" 3<&{read_there} 4>&{write_there}'
        command = ["bash", "-c", redirect, "bash", CHROMIUM, *SWITCHES, f"--user-data-dir={self.profile.name}"]
        self.process = subprocess.Popen(
            command, pass_fds=(read_there, write_there), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(read_there)
        os.close(write_there)
        self.commands = os.fdopen(write_here, "wb", buffering=0)
        self.answers = os.fdopen(read_here, "rb")
        self.number = 0
        self.session = None
        self.events = []
        self.begin()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, PageFailed):
            self.process.kill()
        self.process.wait(30)
        self.commands.close()
        self.answers.close()
        self.profile.cleanup()

    def begin(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Sends a command and returns its result; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise PageFailed(f"{method}: {answer['error']}")
                return answer["result"]

    def read(self):
        parts = []
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                raise PageFailed("the browser has ended")
            parts.append(byte)
        message = json.loads(b"".join(parts))
        if "method" in message:
            self.events.append(message)
        return message

    def wait_for(self, method):
        while not any(event["method"] == method for event in self.events):
            self.read()

    def open(self, address):
        """Loads a page and waits until it is drawn."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def named(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    def requests(self):
        """What the page asked for, itself included."""
        return [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]

    def complaints(self):
        """Errors and warnings of scripts, of the console and of the page's policy."""
        errors = [event["exceptionDetails"]["text"] for event in self.named("Runtime.exceptionThrown")]
        errors += [str(event["args"]) for event in self.named("Runtime.consoleAPICalled")]
        return errors + [event["entry"]["text"] for event in self.named("Log.entryAdded")]

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageFailed(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            parameters = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}
            if text and kind == "keyDown":
                parameters["text"] = text
            self.call("Input.dispatchKeyEvent", **parameters)

    def click(self, selector, text=""):
        """A real click on the first element of that selector whose text begins so, wherever the page must scroll for it."""
        x, y = self.evaluate(
            f"(() => {{ const found = [...document.querySelectorAll({selector!r})]"
            f".find(element => element.textContent.startsWith({text!r}));"
            " found.scrollIntoView({ behavior: 'instant', block: 'center' });"
            " const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def appear(self, width, height, scheme):
        """Size of the window, and `light` or `dark`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # Scrolling ends at once, so that no test waits for it.
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()])

    def screenshot(self, path, clip=None):
        """The whole page, or a part of it: (x, y, width, height)."""
        parameters = {"format": "png", "captureBeyondViewport": True}
        if clip:
            parameters["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True), scale=1)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"]))
