"""`rungs tools`: a search with its reasons, and a check that names what to mend and where."""

from pathlib import Path

import pytest

from graphs.memory import open_memory
from tests.cli import home, rungs
from tools.search_log import Search, record

__all__ = ["home"]

MODULE = '''
def refund_quote(order: str) -> str:
    """Work out what a customer would get back for an order.

    Args:
        order: The order's number, such as 1001.
    """
    return order


def refund_sum(order: str) -> str:
    """Work out what a customer would get back for an order.

    Args:
        order: The order's number, such as 1001.
    """
    return order


def find_it(text: str) -> str:
    """Find it."""
    return text
'''


@pytest.fixture
def tools_file(home: Path) -> Path:
    """A tools file of one's own, with faults."""
    (home / "own_tools_for_check.py").write_text(MODULE, encoding="utf-8")
    path = home / "own.toml"
    tables = [
        f'[read_only.{name}]\nuse = "own_tools_for_check:{name}"\n'
        for name in ("refund_quote", "refund_sum")
    ]
    written = '[read_only.find_it]\nuse = "own_tools_for_check:find_it"\ndescription = "Find it."\n'
    path.write_text("\n".join([*tables, written]), encoding="utf-8")
    return path


def test_a_search_shows_each_tool_with_the_words_that_found_it(tools_file: Path) -> None:
    said = rungs("tools", "search", "refund quote", "--tools", str(tools_file))
    assert said.code == 0, said.err
    assert "refund_quote" in said.out.splitlines()[0]
    assert "refund in name" in said.out
    assert "quot in name" in said.out
    assert "2 of 3 tools match" in said.out


def test_a_search_as_json_has_scores_that_its_reasons_add_up_to(tools_file: Path) -> None:
    said = rungs("tools", "search", "refund quote", "--tools", str(tools_file), "--json").json
    assert (said["matched"], said["available"]) == (2, 3)
    best = said["tools"][0]
    assert sum(reason["share"] for reason in best["reasons"]) == pytest.approx(best["score"], 1e-3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["  "], "say in a few words"), (["refund", "--limit", "0"], "1 to 20, not 0")],
)
def test_a_search_that_can_t_be_made_ends_with_2_and_says_what_to_do(
    tools_file: Path, arguments: list[str], told: str
) -> None:
    said = rungs("tools", "search", *arguments, "--tools", str(tools_file))
    assert said.code == 2
    assert told in said.error


def test_a_bad_tools_file_ends_with_2(home: Path) -> None:
    said = rungs("tools", "check", "--tools", str(home / "none.toml"))
    assert said.code == 2
    assert "none.toml" in said.error


def test_a_check_names_each_fault_and_the_place_to_mend_it(tools_file: Path) -> None:
    said = rungs("tools", "check", "--tools", str(tools_file), "--json")
    assert said.code == 1
    found = {(finding["kind"], finding["tool"]): finding for finding in said.json["findings"]}
    assert set(found) == {
        ("description", "find_it"),
        ("parameters", "find_it"),
        ("alike", "refund_quote"),
    }
    assert found["description", "find_it"]["place"].endswith(
        "own.toml: [read_only.find_it] description"
    )
    place = found["alike", "refund_quote"]["place"]
    assert place.endswith("own_tools_for_check.py:2: refund_quote")
    assert "refund_sum" in found["alike", "refund_quote"]["text"]
    assert "text" in found["parameters", "find_it"]["text"]


def test_a_check_tells_what_each_schema_costs(tools_file: Path) -> None:
    said = rungs("tools", "check", "--tools", str(tools_file), "--json").json
    assert set(said["tokens"]) == {"refund_quote", "refund_sum", "find_it"}
    assert list(said["tokens"].values()) == sorted(said["tokens"].values(), reverse=True)
    assert all(cost > 20 for cost in said["tokens"].values())


def searched(call_id: str, query: str, returned: list[str], called: list[str]) -> Search:
    return {
        "query": query,
        "limit": 3,
        "returned": returned,
        "matched": len(returned),
        "available": 3,
        "thread": "t",
        "user": None,
        "step": 1,
        "call_id": call_id,
        "at": f"2026-01-01T00:00:0{call_id}",
        "called": called,
    }


def test_a_check_reads_the_log_of_searches(tools_file: Path, home: Path) -> None:
    """Those that found nothing, and those followed by a call of something else."""
    with open_memory(home / "m.sqlite") as memory:
        for search in (
            searched("1", "locate parcel", [], []),
            searched("2", "money back", ["find_it"], ["refund_quote"]),
            searched("3", "refund", ["refund_quote"], ["refund_quote"]),
            searched("4", "a tool of old", ["find_it"], ["gone"]),
        ):
            record(memory.store, search)
    said = rungs("tools", "check", "--tools", str(tools_file), "--db", str(home / "m.sqlite"))
    assert said.code == 1
    assert "'locate parcel' found nothing" in said.out
    assert "refund_quote: a search for 'money back' returned find_it" in said.out
    assert "search for 'refund' " not in said.out
    assert "a tool of old" not in said.out
    assert "4 searches read" in said.out


def test_the_shipped_tools_have_nothing_to_mend(home: Path) -> None:
    said = rungs("tools", "check")
    assert said.code == 0, said.out
    assert "0 to mend" in said.out
