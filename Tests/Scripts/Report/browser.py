# SPDX-License-Identifier: MPL-2.0
"""Headless Chromium, driven through the DevTools protocol over two pipes. Needs only Python's standard library."""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

# Long, for a machine under load; a wait ends as soon as its condition is true.
LIMIT = 60


class Failure(Exception):
    """A wait that timed out, or an exception in the page."""


class Browser:
    """A process of Chromium with a profile of its own. Of all addresses, it has only this machine's."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not program:
            raise Failure("no chromium found; Tests/Scripts/Report/run.sh installs it")
        self.profile = tempfile.mkdtemp(prefix="h26x-page-")
        to_read, to_write = os.pipe(), os.pipe()
        # The browser reads its descriptor 3 and writes its descriptor 4.
        ends = (to_read[0], to_write[1])

        def place():
            high = [os.dup2(end, 50 + number) for number, end in enumerate(ends)]
            for number, end in enumerate(high):
                os.dup2(end, 3 + number, inheritable=True)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-extensions", "--disable-component-update",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={self.profile}", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=place, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self.output, self.input = to_read[1], to_write[0]
        self.received = b""
        self.number = 0
        self.events = []

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._send(message)
        limit = time.monotonic() + LIMIT
        while True:
            answer = self._receive(limit, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def _send(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]

    def _receive(self, limit, what):
        while b"\0" not in self.received:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise Failure(f"{what}: no answer in {LIMIT} s")
            piece = os.read(self.input, 1 << 20)
            if not piece:
                raise Failure(f"{what}: the browser ended")
            self.received += piece
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def page(self, url, width=1280, height=900, dark=False):
        """Opens a page and waits until it is loaded."""
        return Page(self, url, width, height, dark)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for end in (self.input, self.output):
            os.close(end)
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """One page, in a tab of its own."""

    def __init__(self, browser, url, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def value(self, expression):
        """The value of an expression in the page; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, expression, limit=LIMIT):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + limit
        while True:
            # An element cannot be returned by value.
            value = self.value(f"((found) => found instanceof Node || found)({expression})")
            if value:
                return value
            if time.monotonic() > end:
                raise Failure(f"not true in {limit} s: {expression}")
            time.sleep(0.02)

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)")

    def place(self, selector, x=0.5, y=0.5):
        """A point of an element in window coordinates, after scrolling to it."""
        return self.value(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "nearest", behavior: "instant" }});
            const box = element.getBoundingClientRect();
            return [box.left + box.width * {x}, box.top + box.height * {y}];
        }})()""")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, x=0.5, y=0.5):
        """Clicks with the mouse."""
        x, y = self.place(selector, x, y)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, selector, start, end):
        """Drags from one part of an element's width to another."""
        x, y = self.place(selector, start)
        to, _ = self.place(selector, end)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to - x) * step / 5, y, button="left", buttons=1)
        self.mouse("mouseReleased", to, y, button="left", clickCount=1)

    def wheel(self, selector, delta, x=0.5, control=True):
        x, y = self.place(selector, x)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta, modifiers=2 if control else 0)

    def pinch(self, selector, start, end):
        """Moves two fingers from a distance to another, in parts of an element's width, around its middle."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        for step in range(7):
            apart = start + (end - start) * step / 6
            points = [dict(zip("xy", self.place(selector, 0.5 + sign * apart / 2))) for sign in (-1, 1)]
            self.call("Input.dispatchTouchEvent", type="touchMove" if step else "touchStart", touchPoints=points)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, name):
        text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)

    def write(self, selector, text):
        """Types into a field, replacing its text."""
        self.value(f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.focus(); field.select(); }})()")
        self.call("Input.insertText", text=text)
        self.key("Enter")

    def choose(self, selector, value):
        """Chooses an option of a select element."""
        self.value(f"""(() => {{
            const list = document.querySelector({json.dumps(selector)});
            list.value = {json.dumps(value)};
            list.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }})()""")

    def files(self, selector, *paths):
        """Chooses files in a file input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(pathlib.Path(path).resolve()) for path in paths])

    def drop(self, selector, *paths):
        """Drops files on an element, as the desktop does."""
        x, y = self.place(selector)
        data = {"items": [], "files": [str(pathlib.Path(path).resolve()) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def picture(self, path, **more):
        """Writes a screenshot as PNG."""
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def complaints(self):
        """Errors of the page's scripts and of the browser since the page was opened."""
        self.value("0")
        told = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                told.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                told.append(parameters["entry"]["text"])
        return told

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
