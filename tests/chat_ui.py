"""Agent Chat UI of the npm registry: set up by the commands of the README, and driven."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.browsing import needed
from tests.serving import free_port
from tests.test_readme import commands

VERSION = "0.1.6"
"""The page's version in the registry. What it depends on comes as new as it allows."""

COMMANDS = [command for command in commands() if command.startswith(("npx ", "npm ", "cd chat"))]
ENV = {**os.environ, "NEXT_TELEMETRY_DISABLED": "1", "CI": "1"}
NO_NPM = "there is no npm: install Node.js 20 or newer, with npm"


def set_up() -> Path:
    """Install the page once, beside the Python packages, and return its folder."""
    if not shutil.which("npm"):
        needed(NO_NPM)
    place = Path(sys.prefix) / f"agent-chat-ui-{VERSION}"
    done = place / ".ready"
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        made = subprocess.run(
            ["sh", "-e", "-c", "\n".join(COMMANDS[:-1])],
            cwd=place,
            env=ENV,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        assert made.returncode == 0, made.stdout
        done.touch()
    return place / "chat"


@contextmanager
def chat_page() -> Iterator[str]:
    """Serve the page as the README says, on a port of its own; yields its address."""
    folder, port = set_up(), free_port()
    log = folder / "page.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {COMMANDS[-1]} -- --hostname 127.0.0.1 --port {port}"],
            cwd=folder,
            env=ENV,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # npm starts others, which it does not end
        )
    url = f"http://127.0.0.1:{port}/"
    try:
        _opened(url, log, process)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _opened(url: str, log: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the page is compiled, which without Google's fonts takes a minute."""
    end = time.monotonic() + 300
    while True:
        assert process.poll() is None, log.read_text("utf-8", "replace")
        try:
            with urllib.request.urlopen(url, timeout=300):
                return
        except OSError:
            assert time.monotonic() < end, log.read_text("utf-8", "replace")
            time.sleep(0.2)


class Chat:
    """The page in a browser, as a person uses it."""

    def __init__(self, browser: Any, page: str, server: str) -> None:
        self.browser, self.page, self.server = browser, page, server

    def open(self, assistant: str, **more: str) -> None:
        """Open a new chat with a graph or an assistant."""
        query = {"apiUrl": self.server, "assistantId": assistant, **more}
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(f"{self.page}?{urlencode(query)}")

    def text(self) -> str:
        """Return what the page shows."""
        return str(self.browser.find_element("css selector", "body").text)

    def shows(self, *words: str) -> str:
        """Wait until the page shows all of the words and no run goes on; return its text."""

        def found() -> str | None:
            text = self.text()
            at_rest = self._button("Send") is not None
            return text if at_rest and all(word in text for word in words) else None

        return str(self._wait(found, f"the page to show {words}"))

    def ask(self, question: str) -> None:
        """Type a message and send it."""
        box = self._wait(lambda: self._box("Type your message..."), "a box to type in")
        box.send_keys(question + "\n")
        self._wait(lambda: not box.get_attribute("value"), "the message to be sent")

    def click(self, label: str, place: int = -1) -> None:
        """Click a button of a label, the newest one; some are seen only where the mouse is."""
        button = self._wait(lambda: self._button(label, place), f"a button {label}")
        self.browser.execute_script("arguments[0].click()", button)

    def change(self, value: str, to: str) -> None:
        """Replace the text of the box that has a value."""
        from selenium.webdriver.common.keys import Keys

        box = self._wait(lambda: self._box(value), f"a box with {value}")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(to)

    def complaints(self) -> list[str]:
        """Return the errors that the browser logged since the chat was opened."""
        logged = self.browser.get_log("browser")
        return [entry["message"] for entry in logged if entry["level"] == "SEVERE"]

    def _box(self, value: str) -> Any:
        boxes = self.browser.find_elements("css selector", "textarea")
        shown = ((b, b.get_attribute("value") or b.get_attribute("placeholder")) for b in boxes)
        return next((box for box, text in shown if text == value), None)

    def _button(self, label: str, place: int = -1) -> Any:
        buttons = self.browser.find_elements("css selector", "button")
        named = [b for b in buttons if (b.get_attribute("textContent") or "").strip() == label]
        return named[place] if named else None

    def _wait(self, condition: Callable[[], Any], what: str) -> Any:
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if found := condition():
                    return found
            except StaleElementReferenceException:
                continue  # the page drew itself anew meanwhile
            time.sleep(0.1)
        raise AssertionError(f"waited in vain for {what}; the page shows:\n{self.text()}")
