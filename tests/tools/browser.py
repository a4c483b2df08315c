"""A real headless Chromium, driven over the pipe of its DevTools protocol: no driver, no package, no port.

Chromium reads commands from descriptor 3 and answers on 4 (`--remote-debugging-pipe`): JSON, each message
ended by a zero byte. Methods are those of the protocol's domains Page, Runtime, Input, Network, Emulation.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

Answer = dict[str, Any]
SECONDS = 60
"""After which a browser that says nothing is taken for dead: a safety stop, nothing is measured with it."""


def chromium() -> str:
    """Path of the browser; skips the test where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("chromium is not installed: `make tools-test` installs it")
    return found


@contextmanager
def browser(profile: Path) -> Generator["Browser", None, None]:
    """A browser with a profile of its own, ended at the end."""
    to_child, to_parent = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_child[0], to_parent[1])]
    for fd in (to_child[0], to_parent[1]):
        os.close(fd)

    def connect() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(theirs[1], 4)

    words = [
        chromium(),
        "--headless=new",
        "--no-sandbox",  # CI runs as the superuser, whom the sandbox refuses; what is loaded is ours
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-extensions",
        "--no-first-run",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
        "about:blank",
    ]
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        words,
        preexec_fn=connect,
        pass_fds=(3, 4),
        stdin=silent,
        stdout=silent,
        stderr=silent,
    )
    for fd in theirs:
        os.close(fd)
    found = Browser(to_child[1], to_parent[0])
    try:
        found.open()
        yield found
    finally:
        found.close()
        try:
            process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Browser:
    """One page of a browser, without network."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._rest, self._number, self._session = b"", 0, ""
        self.problems: list[str] = []
        """Errors of the console, exceptions."""
        self.loaded: list[str] = []
        """Addresses that the page asked for."""

    def open(self) -> None:
        """Make a page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScrollbarsHidden", hidden=True)  # pictures are as wide as the page
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        with suppress(BrokenPipeError, EOFError):  # it is gone already
            self.call("Browser.close")
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> Answer:
        """Send a command, wait for its answer. Raises RuntimeError for what the browser refuses."""
        self._number += 1
        message: Answer = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._heard(answer)

    def load(self, file: Path, *, width: int = 1280, height: int = 900) -> None:
        """Open a file, wait until it is loaded."""
        self.problems.clear()
        self.loaded.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call("Page.navigate", url=file.resolve().as_uri())
        while self.value("document.readyState") != "complete" or self.value("location.href") == "about:blank":
            pass

    def value(self, expression: str) -> Any:
        """What JavaScript gives."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def point(self, selector: str, nth: int = 0) -> None:
        """Move the mouse onto the middle of an element."""
        x, y = self._middle(selector, nth)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str, nth: int = 0) -> None:
        """Click on the middle of an element."""
        x, y = self._middle(selector, nth)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: int = 0) -> None:
        """Press a key in what has the focus."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, target: Path, *, whole: bool = True) -> None:
        """The whole page as PNG, or what of it is in the window: a tip is gone once the window grows."""
        if whole:  # what sticks to the window's top would be in the middle
            self.value("scrollTo({top: 0, behavior: 'instant'})")
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        target.write_bytes(base64.b64decode(found["data"]))

    def _middle(self, selector: str, nth: int) -> tuple[float, float]:
        element = f"document.querySelectorAll({json.dumps(selector)})[{nth}]"
        place = self.value(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        return place[0], place[1]

    def _heard(self, event: Answer) -> None:
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.problems.append(str(told["entry"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.problems.append(str(told["args"]))
        elif event.get("method") == "Network.requestWillBeSent":
            self.loaded.append(told["request"]["url"])

    def _next(self) -> Answer:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], SECONDS)
            if not ready:
                raise TimeoutError("the browser says nothing")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
