"""The project's own page in a real browser: what it shows of threads, and what is answered there.

Run by `make test-browser`: it needs Chromium and its driver (Debian: `chromium chromium-driver`).
Without them the tests are skipped, and say so; where RUNGS_BROWSER is set, they fail.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from graphs.variants import GRAPHS
from graphs.web.app import create_app
from graphs.web.paths import drawing_of
from tests.browsing import browser
from tests.cli import home, rungs, scripted

__all__ = ["browser", "home"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("default"),
]

SPOOFED = "to \u202egnp.exe\u202c end\u200b"
DOLLAR = {"order_id": "O-2001", "amount": "1.00", "reason": SPOOFED}
UNSEEN = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x200B, 0x2010), 0xFEFF, 0x1B]


@pytest.fixture
def page(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page's address, on a memory file of its own."""
    import uvicorn

    monkeypatch.setenv("RUNGS_DB", str(home / "memory.sqlite"))
    monkeypatch.setenv("RUNGS_SHOP", str(home / "shop.sqlite"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app = create_app(str(home / "memory.sqlite"))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/rungs/"
        finally:
            server.should_exit = True
            thread.join()


def ask(home: Path, replies: list[Any], thread: str, *more: str) -> None:
    """Let a thread have a run of scripted replies."""
    rungs("ask", "How much?", "--thread", thread, "--model", scripted(home, replies), *more)


def waiting(home: Path, thread: str, *more: str) -> None:
    """Let a run wait for a yes to a refund, whose reason would be shown in another order."""
    call = {"id": "c1", "name": "issue_refund", "args": DOLLAR}
    ask(home, [{"tool_calls": [call]}, "Done."], thread, "--graph", "tool_calling", *more)


def until(found: Callable[[], Any]) -> Any:
    """Wait for what the page comes to; the value, or a failure that says what it was instead."""
    end = time.monotonic() + 8
    while not (value := found()):
        assert time.monotonic() < end, "the page did not come to it"
        time.sleep(0.05)
    return value


def text(browser: Any, where: str) -> str:
    """Return the text of the first element that is there, in the order it holds it."""
    said: str = browser.execute_script(
        "return document.querySelector(arguments[0])?.textContent ?? ''", where
    )
    return said


def visit(browser: Any, address: str) -> None:
    """Open the page anew: one that stands open would only go to another thread."""
    browser.get("about:blank")
    browser.get(address)


def test_what_cant_be_seen_is_named_in_every_part_of_a_thread(
    browser: Any, page: str, home: Path
) -> None:
    every = "".join(map(chr, UNSEEN))
    calls = [
        {"id": "c1", "name": "calculator", "args": {"expression": f"1+{every}1"}},
        {"id": "c2", "name": "issue_refund", "args": DOLLAR},
    ]
    model = scripted(home, [{"text": f"so {every}", "tool_calls": calls}, f"Done {every}."])
    question = f"How {SPOOFED} much?"
    rungs("ask", question, "--thread", "t1", "--model", model, "--graph", "tool_calling")
    visit(browser, f"{page}#t1")
    until(lambda: text(browser, ".approval") and text(browser, "#threads button"))
    browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    until(lambda: "system" in text(browser, ".steps"))
    reordered = "to \\u202egnp.exe\\u202c end\\u200b"
    for part in (".approval pre", ".run h3", "#threads button", ".steps"):
        assert reordered in text(browser, part), part
    for code in UNSEEN:
        assert f"\\u{code:04x}" in text(browser, ".steps")
    whole = browser.execute_script("return document.body.innerText")
    assert not [code for code in UNSEEN if chr(code) in whole]
    for part in (".run h3", ".approval pre"):
        marked = browser.find_elements("css selector", f"{part} .unseen")
        assert [mark.text for mark in marked] == ["\\u202e", "\\u202c", "\\u200b"]


@pytest.mark.parametrize("changed", [False, True])
def test_an_edit_sends_the_characters_that_it_named(
    browser: Any, page: str, home: Path, *, changed: bool
) -> None:
    waiting(home, "t1")
    visit(browser, f"{page}#t1")
    until(lambda: text(browser, ".approval"))
    browser.find_element("css selector", "select").send_keys("edit")
    area = browser.find_element("css selector", "textarea")
    shown = until(lambda: area.get_property("value"))
    assert json.loads(shown) == DOLLAR
    assert shown.isascii()
    if changed:
        area.clear()
        area.send_keys(shown.replace("1.00", "0.50"))
    browser.find_element("css selector", ".primary").click()
    until(lambda: not text(browser, ".approval") and "Done." in text(browser, ".steps"))
    ran = rungs("audit", "t1", "--json").out
    told = [json.loads(line) for line in ran.splitlines()]
    (call,) = [event for event in told if event.get("tool") == "issue_refund"]
    assert call["arguments"] == {**DOLLAR, "amount": "0.50" if changed else "1.00"}


def test_what_went_wrong_with_one_thing_stays_when_another_succeeds(
    browser: Any, page: str, home: Path
) -> None:
    ask(home, ["Hello."], "t1", "--user", "ann")
    visit(browser, f"{page}?user=ann#nosuchthread")
    until(lambda: text(browser, "#threads button"))
    until(lambda: "there is no thread nosuchthread" in text(browser, "#problem"))
    for _ in range(5):
        browser.find_element("id", "refresh").click()
        time.sleep(0.1)
    problem = browser.find_element("id", "problem")
    assert problem.is_displayed()
    browser.find_element("css selector", "#threads button").click()
    until(lambda: "Hello." in text(browser, ".steps"))
    assert not problem.is_displayed()


def test_an_answer_that_came_too_late_says_so_whatever_is_read_after_it(
    browser: Any, page: str, home: Path
) -> None:
    waiting(home, "t1")
    visit(browser, f"{page}#t1")
    until(lambda: text(browser, ".approval"))
    assert rungs("resume", "t1", "--approve").code == 0
    browser.find_element("css selector", ".primary").click()
    late = "nothing in thread t1 waits for an answer"
    until(lambda: late in text(browser, "#problem"))
    browser.find_element("id", "refresh").click()
    until(lambda: not text(browser, ".approval") and "Done." in text(browser, ".steps"))
    assert text(browser, "#problem") == late


def test_a_prompt_that_cant_be_read_says_so_until_another_thread_is_opened(
    browser: Any, page: str, home: Path
) -> None:
    ask(home, ["Hello."], "t1")
    visit(browser, f"{page}#t1")
    until(lambda: text(browser, ".steps"))
    browser.execute_script(
        "window.fetch = (real => (url, more) =>"
        " real(url.replace('reply=', 'reply=no'), more))(fetch)"
    )
    browser.execute_script("[...document.querySelectorAll('.steps details')].at(-1).open = true")
    until(lambda: "has no reply" in text(browser, "#problem"))
    browser.execute_script("location.hash = ''")
    until(lambda: not browser.find_element("id", "problem").is_displayed())


@pytest.mark.parametrize("thread", ["team/7", "a/answer", "50%", "%2F", "a#b?c&d=e", "Übung 4 ü"])
def test_a_thread_of_any_name_is_opened_read_and_answered(
    browser: Any, page: str, home: Path, thread: str
) -> None:
    waiting(home, thread)
    visit(browser, f"{page}#{quote(thread)}")
    until(lambda: text(browser, ".approval"))
    assert text(browser, "h2") == thread
    visit(browser, page)
    until(lambda: text(browser, "#threads button"))
    browser.find_element("css selector", "#threads button").click()
    until(lambda: text(browser, ".approval"))
    browser.find_element("css selector", ".primary").click()
    until(lambda: not text(browser, ".approval") and "Done." in text(browser, ".steps"))
    browser.execute_script("[...document.querySelectorAll('.steps details')].at(-1).open = true")
    until(lambda: "human" in text(browser, ".steps"))


def test_a_thread_that_cant_be_opened_leaves_no_approval_of_the_one_before(
    browser: Any, page: str, home: Path
) -> None:
    waiting(home, "t1", "--user", "ann")
    visit(browser, f"{page}?user=ann#t1")
    until(lambda: text(browser, ".approval"))
    browser.execute_script("location.hash = 'nosuchthread'")
    until(lambda: "there is no thread nosuchthread" in text(browser, "#problem"))
    assert not browser.find_elements("css selector", ".approval, .primary, .run")
    browser.execute_script("location.hash = 't1'")
    until(lambda: text(browser, ".approval"))
    user = browser.find_element("id", "user")
    user.send_keys("a")
    browser.execute_script("arguments[0].blur()", user)
    until(lambda: "another user" in text(browser, "#problem"))
    assert not browser.find_elements("css selector", ".approval, .primary, .run")


def test_the_words_of_every_graphs_edges_lie_on_nothing_and_within(browser: Any, page: str) -> None:
    drawings = {}
    for name, module in GRAPHS.items():
        drawable = module.graph.get_graph()
        drawings[name] = drawing_of(drawable, [[node] for node in drawable.nodes])
    visit(browser, page)
    faults = browser.execute_async_script(
        """
        const [drawings, done] = arguments;
        import('/rungs/drawing.js').then(({draw}) => {
          const faults = [], apart = (a, b) => a.right < b.left + 1 || b.right < a.left + 1 ||
            a.bottom < b.top + 2 || b.bottom < a.top + 2;
          for (const [name, drawing] of Object.entries(drawings)) {
            const svg = draw(drawing);
            document.body.replaceChildren(svg);
            const frame = svg.getBoundingClientRect();
            const words = [...svg.querySelectorAll('.words tspan')];
            const paths = [...svg.querySelectorAll('path')];
            const boxes = words.map(word => word.getBoundingClientRect());
            const said = [...svg.querySelectorAll('.words')].map(word => word.textContent);
            for (const { words, taken } of drawing.edges)
              if (words.length && !said.some(one => one.startsWith(words.join(', '))))
                faults.push(`${name}: ${words} is not said`);
            boxes.forEach((box, i) => {
              const at = `${name}: ${words[i].textContent}`;
              if (box.left < frame.left || box.right > frame.right || box.top < frame.top ||
                  box.bottom > frame.bottom) faults.push(`${at} leaves the drawing`);
              boxes.slice(i + 1).forEach((other, j) => {
                const under = words[i + 1 + j].textContent;
                if (!apart(box, other)) faults.push(`${at} lies on ${under}`);
              });
              for (const rect of svg.querySelectorAll('rect'))
                if (!apart(box, rect.getBoundingClientRect())) faults.push(`${at} lies on a node`);
              for (const path of paths)
                for (let along = 0; along < path.getTotalLength(); along += 2) {
                  const { x, y } = path.getPointAtLength(along).matrixTransform(svg.getScreenCTM());
                  if (x > box.left && x < box.right && y > box.top + 2 && y < box.bottom - 2)
                    { faults.push(`${at} lies on a line`); break; }
                }
            });
          }
          done(faults);
        }, error => done([String(error)]));
        """,
        drawings,
    )
    assert faults == []
