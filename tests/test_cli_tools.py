"""`rungs tools`: a search with its reasons, and a check that names what to mend and where."""

from pathlib import Path

import pytest

from graphs.memory import open_memory
from tests.cli import home, rungs
from tools import LIBRARY_FILE, as_contracts
from tools.catalog import Catalog
from tools.catalog_check import check_tools
from tools.registry import DEFAULT_FILE, SHOP_FILE
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


def moved(to: dict[str, str], stops: list[str]) -> str:
    return f"{to} {stops}"


def test_a_check_sees_fields_inside_of_fields_what_they_refer_to_and_the_search_s_own_names() -> (
    None
):
    street = {"type": "string", "description": "The street."}
    city = {"$ref": "#/$defs/City"}
    schema = {
        "type": "object",
        "properties": {
            "to": {
                "type": "object",
                "description": "Where to.",
                "properties": {"street": street, "city": city, "floor": {"type": "integer"}},
            },
            "stops": {
                "type": "array",
                "description": "On the way.",
                "items": {"$ref": "#/$defs/Stop"},
            },
        },
        "$defs": {
            "City": {"type": "string", "description": "The city's name."},
            "Stop": {"type": "object", "properties": {"at": {"type": "string"}}},
        },
    }
    described = "Move an order to another address; use it before the parcel has left."
    tools = [
        {"name": name, "description": described, "parameters": schema, "function": moved}
        for name in ("move_order", "tool_call")
    ]
    found = [(finding.kind, finding.tool) for finding in check_tools(Catalog(as_contracts(tools)))]
    assert ("name", "tool_call") in found
    assert ("name", "move_order") not in found
    (text, *_) = (
        f.text for f in check_tools(Catalog(as_contracts(tools))) if f.kind == "parameters"
    )
    assert text.startswith("not described: to.floor, Stop.at;")


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
            searched("5", "reimburse", [], ["refund_sum"]),
        ):
            record(memory.store, search)
    said = rungs("tools", "check", "--tools", str(tools_file), "--db", str(home / "m.sqlite"))
    assert said.code == 1
    assert "'locate parcel' found nothing" in said.out
    assert "refund_quote: a search for 'money back' returned find_it" in said.out
    assert "refund_sum: a search for 'reimburse' found nothing" in said.out
    assert "search for 'refund' " not in said.out
    assert "a tool of old" not in said.out
    assert "5 searches read" in said.out


@pytest.mark.parametrize("file", [DEFAULT_FILE, LIBRARY_FILE, SHOP_FILE], ids=lambda f: f.name)
def test_the_shipped_tools_have_nothing_to_mend(home: Path, file: Path) -> None:
    said = rungs("tools", "check", "--tools", str(file))
    assert said.code == 0, said.out
    assert "0 to mend" in said.out


def test_without_a_file_the_library_is_searched_and_checked(home: Path) -> None:
    found = rungs("tools", "search", "refund an order", "--json").json
    assert "issue_refund" in [tool["name"] for tool in found["tools"]]
    checked = rungs("tools", "check")
    assert str(LIBRARY_FILE) in checked.out
    assert "issue_refund" in checked.out


def test_a_memory_file_that_is_not_there_is_told(home: Path) -> None:
    said = rungs("tools", "check", "--db", str(home / "mistyped.sqlite"))
    assert said.code == 2
    assert "there is no memory file" in said.error
