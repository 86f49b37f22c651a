"""The notebooks: each family has one, they define nothing, hold no outputs, and run offline.

They are run by `make notebooks`, each in a kernel of its own.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import GRAPHS
from graphs.notebook.strip import main, stripped
from tests.cli import ROOT

FOLDER = ROOT / "notebooks"
FAMILIES = {
    "augmented_llm": ["tools_in_context"],
    "tool_search": ["deferred_tool_search", "tool_search_toolkit"],
    "forced_output": ["forced_output"],
    "tool_calling": ["tool_calling"],
    "react": ["react_transcript", "react_todo_notes", "react_compaction"],
    "ladder": ["ladder", "one_call", "fixed_workflow", "full_agent"],
}
PAUSES = ["augmented_llm", "tool_search", "tool_calling", "react", "ladder"]
DEFINING = {"add_node", "add_edge", "add_conditional_edges", "StateGraph", "compile"}
ASKING_A_SERVICE = {"draw_mermaid_png", "draw_png"}

SHOWN = {
    "augmented_llm": [
        "answered | 18% * 250 = 45.",
        'search_docs(query="who acquired Acme")',
        "tool_limit | the limit of 1 tool round was reached",
        'waits for a yes: issue_refund(order_id="O-2001", amount="5.00"',
        "I have refunded $5.00 of order O-2001.",
        "['How much is 18% of a $250 order?', 'And 20% of $250?']",
    ],
    "tool_search": [
        "1 ['tool_search']\n2 ['tool_search', 'refund_quote', 'issue_refund'",
        "waits for a yes: issue_refund(",
        "1 ['tool_search', 'tool_call']\n2 ['tool_search', 'tool_call']\n3 ",
        "track_order: order id O-2001, status delivered",
        "not executed, it was not approved: Ask me first.",
    ],
    "forced_output": [
        "'plan_price': 240",
        "rejected | the arguments do not match the schema",
        """* argument 'plan_price' must be number or null, got string "$240\"""",
        "('record_request', ['record_request'])",
        "{'name': 'Ann Lee', 'price': 240}",
    ],
    "tool_calling": [
        'waits for a yes: cancel_order(order_id="O-2001"',
        "issue_refund ['approve', 'edit', 'reject', 'respond']",
        '"amount":"$2.00"',
        "delete_customer changes state, and this run is read-only",
        "['not executed, it was not approved: Not yet.', 'not executed, it was not approved: Not",
    ],
    "react": [
        "Action: search_docs[who acquired Acme]",
        "turn_limit | ",
        "waits for a yes: issue_refund(",
        "answered | $5.00 are refunded.",
        "stopped_early | ",
        "[ ] How do I redeem a gift card?",
        "compaction (",
        "made by Initech?",
    ],
    "ladder": [
        "18% * 250 = 45. ['one_call']",
        "one_call incomplete 2 model calls\nfixed_workflow answered 3 model calls",
        "answered ['one_call', 'full_agent']",
        "waits for a yes: issue_refund(",
        "answered | I have refunded $5.00 of order O-2001.",
        "'one_call': 1",
    ],
}
"""What must be among the outputs of a notebook that has run."""

OFFLINE = """\
import warnings

import pytest_socket

warnings.simplefilter("error")
pytest_socket.disable_socket(allow_unix_socket=True)
"""
"""Put before the first cell: from here on no socket of Python's reaches anything."""


AT_THE_END = 'warnings.simplefilter("ignore")'
"""Put behind the last cell: the kernel warns of itself as it shuts down."""


def load(name: str) -> dict[str, Any]:
    """Return a notebook as its file has it."""
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return read


def code(name: str) -> list[ast.Module]:
    """Return the code cells, parsed as IPython does: `await` stands where it likes."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    cells = [cell for cell in load(name)["cells"] if cell["cell_type"] == "code"]
    parsed = [compile("".join(cell["source"]), name, "exec", flags) for cell in cells]
    assert all(isinstance(cell, ast.Module) for cell in parsed)
    return [cell for cell in parsed if isinstance(cell, ast.Module)]


def names(tree: ast.AST) -> Iterator[str]:
    """Yield all that is named in a piece of code: names, attributes, imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def prose(name: str) -> str:
    return "\n".join(
        "".join(cell["source"]) for cell in load(name)["cells"] if cell["cell_type"] == "markdown"
    )


def test_every_family_has_a_notebook_and_every_variant_is_in_one() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(FAMILIES)
    assert sorted(name for family in FAMILIES.values() for name in family) == sorted(GRAPHS)
    for name, variants in FAMILIES.items():
        texts = {
            node.value
            for cell in code(name)
            for node in ast.walk(cell)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert set(variants) <= texts, name


@pytest.mark.parametrize("name", FAMILIES)
def test_a_notebook_holds_no_outputs_and_nothing_of_the_machine_it_ran_on(name: str) -> None:
    read = load(name)
    assert set(read["metadata"]) == {"kernelspec", "language_info"}
    assert read["metadata"]["kernelspec"]["name"] == "python3"
    assert read["metadata"]["language_info"] == {"name": "python"}
    for cell in read["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_what_running_a_notebook_puts_in_is_taken_out_and_nothing_else(tmp_path: Path) -> None:
    before = (FOLDER / "react.ipynb").read_text(encoding="utf-8")
    assert stripped(before) == before
    ran = load("react")
    ran["metadata"]["language_info"] = {"name": "python", "version": "3.11.7"}
    for cell in ran["cells"]:
        cell["metadata"] = {"trusted": True}
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "ä"}]
            cell["execution_count"] = 7
    file = tmp_path / "ran.ipynb"
    file.write_text(json.dumps(ran), encoding="utf-8")
    assert main([str(file)]) == 0
    assert file.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cells": [1]}', '{"cells": 1}'])
def test_a_file_that_is_no_notebook_is_said_in_a_line_and_nothing_is_written(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.ipynb", tmp_path / "bad.ipynb"
    good.write_text('{"cells": []}', encoding="utf-8")
    bad.write_text(text, encoding="utf-8")
    assert main([str(good), str(bad)]) == 2
    assert main([str(tmp_path / "none.ipynb")]) == 2
    assert [line.split(" is no notebook")[0] for line in capsys.readouterr().err.splitlines()] == [
        str(bad),
        str(tmp_path / "none.ipynb"),
    ]
    assert (good.read_text(encoding="utf-8"), bad.read_text(encoding="utf-8")) == (
        '{"cells": []}',
        text,
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_a_notebook_imports_and_runs_and_defines_no_node(name: str) -> None:
    used = {used for cell in code(name) for used in names(cell)}
    assert not used & DEFINING
    assert not used & ASKING_A_SERVICE
    assert not any("nest_asyncio" in used_name for used_name in used)
    # What a graph is bound to; a cell that ends in one would ask a web service for its picture.
    bound = {
        target.id
        for cell in code(name)
        for node in ast.walk(cell)
        if isinstance(node, ast.Assign) and "open_graph" in names(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert bound
    for cell in code(name):
        last = cell.body[-1]
        assert not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Name)) or (
            last.value.id not in bound
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_a_notebook_shows_drawing_stream_history_fork_and_both_ways_to_call(name: str) -> None:
    used = [used for cell in code(name) for used in names(cell)]
    assert {"workplace", "draw_mermaid", "drawing", "Steps", "get_state_history"} <= set(used)
    assert {"stream", "astream"} & set(used)
    assert {"invoke", "ainvoke"} <= set(used)
    awaited = [
        node for cell in code(name) for node in ast.walk(cell) if isinstance(node, ast.Await)
    ]
    assert any("ainvoke" in names(node) for node in awaited), "Case RUN-05"
    text = prose(name)
    assert text.startswith("# ")
    assert "**Take" in text
    assert "fork" in text
    assert "pause" in text.lower()  # which is there, or which this family has not
    keywords = [
        node.arg for cell in code(name) for node in ast.walk(cell) if isinstance(node, ast.keyword)
    ]
    assert ("resume" in keywords) == (name in PAUSES)


def run(cells: list[str], place: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Run cells in a kernel of their own that reaches nothing, and return their outputs.

    Raises:
        CellExecutionError: A cell failed.
    """
    import nbformat
    from nbclient import NotebookClient

    for variable, folder in {
        "TMPDIR": "tmp",
        "XDG_CACHE_HOME": "cache",
        "IPYTHONDIR": "ipython",
        "JUPYTER_RUNTIME_DIR": "runtime",
    }.items():
        (place / folder).mkdir()
        monkeypatch.setenv(variable, str(place / folder))
    (place / "here").mkdir()
    written: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for cell in [OFFLINE, *cells, AT_THE_END]
    ]
    whole = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    notebook = nbformat.reads(json.dumps(whole), as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(place / "here")}},
    ).execute()
    return [output for cell in notebook.cells for output in cell.outputs]


pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.notebooks
@pytest.mark.parametrize("name", FAMILIES)
def test_a_notebook_runs_from_top_to_bottom_offline_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case RUN-05."""
    # A reader's own settings: none of them may reach a notebook's graphs.
    monkeypatch.setenv("RUNGS_MODEL", "openai:none")
    monkeypatch.setenv("RUNGS_TOOLS", str(tmp_path / "none.toml"))
    monkeypatch.setenv("RUNGS_DOCS", str(tmp_path / "none"))
    cells = ["".join(c["source"]) for c in load(name)["cells"] if c["cell_type"] == "code"]
    outputs = run(cells, tmp_path, monkeypatch)
    told = "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs
    )
    for words in SHOWN[name]:
        assert words in told, told
    images = [output for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert len(images) >= (6 if name == "ladder" else 2)
    assert "graph TD" in told
    assert "Warning" not in told
    assert list((tmp_path / "here").iterdir()) == []
    assert list((tmp_path / "tmp").glob("rungs-notebook-*")) == []


@pytest.mark.notebooks
def test_a_cell_that_asks_a_web_service_for_a_picture_fails_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what passes above has asked nobody."""
    from nbclient.exceptions import CellExecutionError

    cell = "from graphs.one_call import graph\ngraph.get_graph().draw_mermaid_png(max_retries=1)"
    with pytest.raises(CellExecutionError, match="SocketBlockedError"):
        run([cell], tmp_path, monkeypatch)
