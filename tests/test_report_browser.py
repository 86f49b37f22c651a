"""The report of a comparison in a real browser: it opens offline, draws, and hides nothing.

Run by `make test-browser`: it needs Chromium and its driver (Debian: `chromium chromium-driver`).
Without them the tests are skipped, and say so; where RUNGS_BROWSER is set, they fail.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from graphs.compare.page import write_report
from graphs.compare.prices import Price
from graphs.compare.rows import Row
from graphs.compare.summary import OUTCOMES
from tests.browsing import browser
from tests.cli import home, rungs

__all__ = ["browser", "home"]

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

HOSTILE = '</svg></table><script>document.title = "owned"</script><img src=http://127.0.0.1/x>'
NAMES = ["one_call", "fixed_workflow", "full_agent", "ladder", "tools_in_context", "tool_calling"]


def made(folder: Path, *, tokens: bool = True) -> Path:
    """Write a report of six graphs and every outcome, the words of one answer hostile."""
    rows: list[Row] = []
    for place, graph in enumerate(NAMES):
        for number in range(24):
            outcome = OUTCOMES[(number * (place + 1)) % len(OUTCOMES)] if number % 3 else "right"
            rows.append(
                Row(
                    id=f"q{number}",
                    question=HOSTILE if number == 5 else f"Question {number}?",
                    hops=1 + number % 3,
                    graph=graph,
                    model="m",
                    answer=HOSTILE if number % 2 else None,
                    status="answered",
                    stop_reason="it did",
                    correct={"right": True, "not judged": None}.get(outcome, False),
                    outcome=outcome,
                    why="",
                    model_calls=2 + place,
                    tool_calls=number % 4,
                    input_tokens=400 * (place + 1) if tokens else None,
                    output_tokens=50,
                    seconds=0.1 * (place + 1),
                )
            )
    path = folder / "report.html"
    write_report(path, rows, {"m": Price(1, 2)}, f"Rungs compared: {HOSTILE}")
    return path


def show(browser: Any, path: Path) -> None:
    """Open a page and let go of what was logged before."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(path.as_uri())


@pytest.mark.parametrize("tokens", [True, False])
def test_it_opens_offline_asks_for_nothing_and_nothing_of_an_answer_runs(
    browser: Any, tmp_path: Path, *, tokens: bool
) -> None:
    path = made(tmp_path, tokens=tokens)
    show(browser, path)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
    assert browser.title == f"Rungs compared: {HOSTILE}"
    assert browser.execute_script("return document.scripts.length + document.images.length") == 0


@pytest.mark.parametrize("tokens", [True, False])
@pytest.mark.parametrize("width", [1200, 420])
def test_every_plot_is_drawn_and_its_words_lie_on_nothing_and_within(
    browser: Any, tmp_path: Path, width: int, *, tokens: bool
) -> None:
    browser.set_window_size(width, 1000)
    show(browser, made(tmp_path, tokens=tokens))
    found = browser.execute_script("""
        const faults = [], seen = [];
        for (const svg of document.querySelectorAll('svg')) {
          const frame = svg.getBoundingClientRect();
          seen.push([svg.getAttribute('aria-label'), frame.width, frame.height]);
          const words = [...svg.querySelectorAll('text')].map(
            text => [text.textContent, text.getBoundingClientRect()]);
          for (const [said, box] of words)
            if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
              faults.push(`${said} leaves ${svg.getAttribute('aria-label')}`);
          for (let i = 0; i < words.length; i++) for (let j = i + 1; j < words.length; j++) {
            const [a, b] = [words[i][1], words[j][1]];
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 1 && down > 0.35 * a.height)
              faults.push(`${words[i][0]} lies on ${words[j][0]} in `
                + svg.getAttribute('aria-label'));
          }
        }
        return {faults, seen};
    """)
    assert found["faults"] == []
    assert [label for label, _, _ in found["seen"]] == [
        "Accuracy against tokens a question",
        "Accuracy against seconds a question",
        "Where each graph fails",
        "Right answers by hops",
        "Steps by question",
    ]
    assert all(wide > 200 and high > 60 for _, wide, high in found["seen"])
    assert browser.execute_script("return document.body.scrollWidth") <= width


def test_a_mark_tells_its_numbers_and_each_failure_can_be_read(
    browser: Any, tmp_path: Path
) -> None:
    browser.set_window_size(1200, 1000)
    show(browser, made(tmp_path))
    tips = browser.execute_script(
        "return [...document.querySelectorAll('svg circle title, svg path title')]"
        ".map(title => title.textContent)"
    )
    assert any("one_call: " in tip and "model calls, tokens 450" in tip for tip in tips)
    detail = browser.find_element("css selector", "details")
    assert not detail.find_element("css selector", "dl").is_displayed()
    detail.find_element("css selector", "summary").click()
    assert detail.find_element("css selector", "dl").is_displayed()
    marks = browser.find_elements("css selector", "#matrix td.o")
    assert len(marks) == 24 * len(NAMES)


def test_it_can_be_read_on_dark_too(browser: Any, tmp_path: Path) -> None:
    show(browser, made(tmp_path))
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    paper, ink = browser.execute_script(
        "return [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('svg text')).fill]"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    dark, light = (sum(map(int, rgb[4:-1].split(","))) for rgb in (paper, ink))
    assert dark < 150
    assert light > 600


@pytest.mark.usefixtures("home")
def test_the_report_of_a_real_comparison_is_drawn(browser: Any) -> None:
    assert rungs("compare", "essay").code == 0
    show(browser, Path("compare.html").absolute())
    assert browser.get_log("browser") == []
    cells = [
        c.text for c in browser.find_elements("css selector", "#summary tbody tr:first-child td")
    ]
    assert cells[:3] == ["one_call", "4 of 5", "80 %"]
    assert len(browser.find_elements("css selector", "svg")) == 5
