"""graphs/README.md says what the code does."""

import json
from pathlib import Path

import pytest

from graphs import GRAPHS, drawings

ROOT = Path(drawings.__file__).parents[1]


def test_the_page_and_the_pictures_are_what_the_code_draws() -> None:
    written = drawings.files()
    assert len(written) == 1 + len(GRAPHS)
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, "run make drawings"


@pytest.mark.parametrize("name", list(GRAPHS))
def test_each_variant_has_a_paragraph_a_drawing_and_its_settings(name: str) -> None:
    section = drawings.section(name, GRAPHS[name])
    assert "```mermaid\n" in section
    for node in GRAPHS[name].graph.nodes:
        if not node.startswith("__"):
            assert node in section
    assert "| `user_id` |" in section
    assert (GRAPHS[name].__doc__ or "?").split()[0] in section


def test_the_words_of_the_conditions_are_on_the_edges() -> None:
    section = drawings.section("tools_in_context", GRAPHS["tools_in_context"])
    for word in ("tool calls", "answer", "out of rounds"):
        assert word.replace(" ", "&nbsp;") in section or word in section


@pytest.mark.parametrize("name", list(GRAPHS))
def test_every_edge_that_a_condition_chooses_says_when(name: str) -> None:
    edges = GRAPHS[name].graph.get_graph().edges
    silent = [(edge.source, edge.target) for edge in edges if edge.conditional and not edge.data]
    assert silent == []


def test_the_page_lists_the_same_names_as_the_server_s_configuration() -> None:
    listed = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert {name: (about["path"], about["description"]) for name, about in listed.items()} == {
        name: (f"graphs.{name}:graph", module.DESCRIPTION) for name, module in GRAPHS.items()
    }


@pytest.mark.parametrize("name", ["README.md", "pictures/ladder.svg"])
def test_checking_tells_an_old_file_and_changes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drawings.main(["--check"], tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
    assert drawings.main([], tmp_path) == 0
    assert drawings.main(["--check"], tmp_path) == 0
    (tmp_path / name).write_text("old", encoding="utf-8")
    assert drawings.main(["--check"], tmp_path) == 1
    assert (tmp_path / name).read_text(encoding="utf-8") == "old"
    assert f"{Path(name).name} is not what the code draws" in capsys.readouterr().err
    assert drawings.main(["--chek"], tmp_path) == 2
