"""What a notebook shows of a graph: a drawing made here, steps in lines, plots as images."""

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from graphs import GRAPHS, open_graph
from graphs.compare.contestants import Contestant, Stage
from graphs.compare.questions import read_questions
from graphs.compare.svg import width_of
from graphs.models import ScriptedModel
from graphs.notebook import Picture, Steps, Table, drawing, plots, table, workplace
from graphs.notebook.workplace import OWN_FILES

SVG = "{http://www.w3.org/2000/svg}"
THREAD: Any = {"configurable": {"thread_id": "t"}}
CALL = {"tool_calls": [{"id": "c1", "name": "pay", "args": {"amount": 5}}]}


def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def parsed(picture: Picture) -> ET.Element:
    """Return the image as an XML parser reads it."""
    return ET.fromstring(picture._repr_svg_())  # noqa: S314 - it is ours


def labels(picture: Picture) -> list[tuple[str, float, float, float]]:
    """Return the words of a drawing: text, left end, right end, height."""
    found = []
    for text in parsed(picture).iter(f"{SVG}text"):
        words, x = text.text or "", float(text.attrib["x"])
        wide = width_of(words) * 11 / 12
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.attrib["text-anchor"]]
        found.append((words, left, left + wide, float(text.attrib["y"])))
    return found


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_drawing_has_every_node_and_the_words_of_every_edge(name: str) -> None:
    drawn, picture = GRAPHS[name].graph.get_graph(), drawing(GRAPHS[name].graph)
    assert list(nodes(picture)) == [node.strip("_") for node in drawn.nodes]
    told = [words for words, *_ in labels(picture)]
    for edge in drawn.edges:
        if edge.data:
            assert any(edge.data in words.split(", ") for words in told), edge


@pytest.mark.parametrize("name", list(GRAPHS))
def test_in_a_drawing_no_words_lie_on_others_or_outside(name: str) -> None:
    picture = drawing(GRAPHS[name].graph)
    wide, high = (float(parsed(picture).attrib[side]) for side in ("width", "height"))
    placed = [label for label in labels(picture) if label[0]]
    for words, left, right, y in placed:
        assert left >= 0, words
        assert right <= wide, words
        assert 10 <= y <= high, words
    for (one, left, right, y), (other, left2, right2, y2) in combinations(placed, 2):
        assert abs(y - y2) >= 12 or right <= left2 or right2 <= left, (one, other)


@pytest.mark.parametrize("name", list(GRAPHS))
def test_each_edge_of_a_drawing_ends_at_its_node(name: str) -> None:
    drawn = GRAPHS[name].graph.get_graph()
    picture = parsed(drawing(GRAPHS[name].graph))
    heads = [path for path in picture.iter(f"{SVG}path") if "head" in path.attrib["class"]]
    assert len(heads) == len({(edge.source, edge.target) for edge in drawn.edges})
    boxes = [
        [float(rect.attrib[side]) for side in ("x", "y", "width", "height")]
        for rect in picture.iter(f"{SVG}rect")
    ]
    assert len(boxes) == len(drawn.nodes)
    for head in heads:
        x, y = (float(part) for part in re.findall(r"[\d.]+", head.attrib["d"])[:2])
        at = [1 for left, top, w, h in boxes if left <= x <= left + w and top <= y <= top + h]
        assert len(at) == 1, head.attrib["d"]


def test_a_picture_asks_nobody_for_anything_and_brings_its_style() -> None:
    svg = drawing(GRAPHS["react_compaction"].graph).svg
    assert re.findall(r"https?://[^\"' ]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(script|image|use|link|foreignObject)|@import|url\(|var\(", svg)
    classes = {one for group in re.findall(r'class="([^"]+)"', svg) for one in group.split()}
    assert classes <= set(re.findall(r"\.([a-z-]+)", svg.split("</style>")[0]))
    with pytest.raises(ValueError, match="viewBox"):
        Picture.of("<svg></svg>")


def test_the_path_of_a_thread_s_newest_run_is_marked(tmp_path: Path) -> None:
    model = ScriptedModel(replies=["Hello.", CALL, CALL, "Paid."])
    tool = {**_schema(), "function": pay}
    with open_graph("one_call", db=tmp_path / "m.sqlite", model=model, tools=[tool]) as graph:
        graph.invoke({"messages": [("user", "hi")]}, THREAD)
        assert taken(drawing(graph, THREAD)) == ["start", "call_model", "end"]
    with open_graph(
        "tools_in_context", db=tmp_path / "n.sqlite", model=model, tools=[tool]
    ) as graph:
        graph.invoke({"messages": [("user", "pay")]}, THREAD)
        picture = drawing(graph, THREAD)
        assert taken(drawing(graph)) == []
    assert taken(picture) == ["start", "call_model", "run_tools", "end"]
    assert "sound calls \N{MULTIPLICATION SIGN}2" in picture.svg


def test_the_path_of_a_ladder_is_that_of_its_rungs(tmp_path: Path) -> None:
    """The steps inside a rung are kept in the same thread, and are none of the ladder's."""
    question = "What is the warranty on the earbuds made by the company that acquired Acme?"
    with open_graph("ladder", db=tmp_path / "m.sqlite", model="offline") as graph:
        graph.invoke({"messages": [("user", "What is 18% of $250?")]}, THREAD)
        assert taken(drawing(graph, THREAD)) == ["start", "one_call", "end"]
        graph.invoke({"messages": [("user", question)]}, THREAD)
        marked = taken(drawing(graph, THREAD))
    assert marked == ["start", "one_call", "fixed_workflow", "end"]


def _schema() -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"amount": {"type": "integer", "description": "Dollars."}},
        "required": ["amount"],
    }
    return {"name": "pay", "description": "Pay an amount.", "parameters": parameters}


def nodes(picture: Picture) -> dict[str, str]:
    """Return the class of each node's box by the node's name, from above."""
    tree = parsed(picture)
    named = [text.text or "" for text in tree.iter(f"{SVG}text") if "class" not in text.attrib]
    boxes = [rect.attrib["class"] for rect in tree.iter(f"{SVG}rect")]
    return dict(zip(named, boxes, strict=True))


def taken(picture: Picture) -> list[str]:
    """Return the nodes that are marked as visited, from above."""
    return [name for name, kind in nodes(picture).items() if "taken" in kind.split()]


def test_the_steps_are_told_in_lines_up_to_a_pause_and_on_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from langgraph.types import Command

    model = ScriptedModel(replies=[CALL, "Paid."])
    with open_graph("tool_calling", db=tmp_path / "m.sqlite", model=model, tools=[pay]) as graph:
        steps = Steps(graph, THREAD)
        for update in graph.stream({"messages": [("user", "?")]}, THREAD, stream_mode="updates"):
            steps.show(update)
        first = capsys.readouterr().out.splitlines()
        steps = Steps(graph, THREAD)
        yes: Any = Command(resume={"decisions": [{"type": "approve"}]})
        for update in graph.stream(yes, THREAD, stream_mode="updates"):
            steps.show(update)
    second = capsys.readouterr().out.splitlines()
    assert [re.sub(r" \([\d.]+ s.*?\)", "", line) for line in first] == [
        "model call 1: asked for pay(amount=5)",
        "  waits for a yes: pay(amount=5)",
    ]
    assert [re.sub(r" \([\d.]+ s.*?\)", "", line) for line in second] == [
        "  pay(amount=5): paid 5",
        "model call 2: answered",
    ]


def test_a_comparison_is_told_in_a_table_and_plotted_in_images() -> None:
    stage = Stage()
    rows = [
        stage.ask(Contestant(name, "offline"), question)
        for question in read_questions("essay", judge=False)[:2]
        for name in ("one_call", "full_agent")
    ]
    shown = table(rows)._repr_html_()
    assert shown.count("<tr>") == 3
    assert "<td>one_call</td>" in shown
    drawn = plots(rows)
    assert set(drawn) == {"accuracy", "failures", "hops", "steps"}
    for picture in drawn.values():
        words = "".join(parsed(picture).itertext())
        assert "full_agent" in words
        assert "var(" not in picture.svg
        assert "nobody told" not in words  # the offline model tells no tokens, but is drawn


def test_a_table_shows_words_as_words() -> None:
    assert "<td>&lt;b&gt;</td>" in Table(["x"], [["<b>"]])._repr_html_()


@pytest.mark.processes
def test_a_workplace_is_of_its_own_works_offline_and_is_gone_in_the_end(tmp_path: Path) -> None:
    code = (
        "import os\nfrom graphs.notebook import workplace\nplace = workplace()\n"
        "(place / 'x').write_text('x')\nprint(place, os.environ['RUNGS_MODEL'], "
        "os.environ.get('RUNGS_TOOLS'), os.environ['RUNGS_SHOP'])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path), "RUNGS_MODEL": "x:y", "RUNGS_TOOLS": "no.toml"},
        capture_output=True,
        text=True,
        check=True,
    )
    place, model, tools, shop = said.stdout.split()
    assert Path(place).parent == tmp_path
    assert (model, tools, Path(shop).parent) == ("offline", "None", Path(place))
    assert list(tmp_path.iterdir()) == []


def test_two_workplaces_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*OWN_FILES, "RUNGS_MODEL", "RUNGS_DOCS", "RUNGS_TOOLS"):
        monkeypatch.setenv(name, "before")
    one, other = workplace(), workplace()
    assert one != other
    assert one.is_dir()
    assert Path(os.environ["RUNGS_DB"]).parent == other
    assert "RUNGS_DOCS" not in os.environ
