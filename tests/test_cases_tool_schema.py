"""Schemas and names of tools as MCP servers send them, through whole runs; one server lists all."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import Stub, bound, calls, loaded, tool, write
from tests.support import ALL_MODES, Mode, compiled, result_for, run
from tools.toolset import ToolSet

Q = {"type": "object", "properties": {"team": {"type": "integer"}}, "required": ["team"]}
KIDS = {"type": "array", "items": {"$ref": "#/$defs/N"}}
NODE = {"type": "object", "properties": {"v": {"type": "integer"}, "kids": KIDS}}
TREE = {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": NODE}}
NULLABLE = {
    "a": {"type": ["string", "null"]},
    "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
}
EITHER = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
]
OLDER = {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}
WIDE = {f"p{i}": {"type": "string", "description": "x" * 1000} for i in range(300)}
NAMES = ["calendar.create", "user-profile/update", "Dockerfile problems scanner", "größe"]


def nested(levels: int) -> dict[str, Any]:
    deep: dict[str, Any] = {}
    for _ in range(levels):
        deep = {"type": "array", "items": deep}
    return {"type": "object", "properties": {"a": deep}}


TOOLS = [
    tool(
        "ref",
        {
            "type": "object",
            "properties": {"q": {"$ref": "#/$defs/Q"}},
            "required": ["q"],
            "$defs": {"Q": Q},
        },
    ),
    tool("tree", {"type": "object", **TREE}),
    tool("empty", {}),
    tool("untyped", {"properties": {"a": {"type": "string"}}}),
    {"name": "missing", "description": "Has no schema."},
    {"name": "null", "description": "Has none either.", "inputSchema": None},
    tool("nullable", {"type": "object", "properties": NULLABLE}),
    *[tool(name) for name in NAMES],
    tool("already-legal_1"),
    tool(
        "broken",
        {"type": "object", "properties": {"coin": {"type": "string"}, "required": ["coin"]}},
    ),
    tool("anything", {"type": "object", "properties": {"l": {"type": "array"}}}),
    tool("either", {"anyOf": EITHER}),
    tool("older", {"$schema": "http://json-schema.org/draft-04/schema#", "properties": OLDER}),
    tool("wide", {"type": "object", "properties": WIDE}),
    tool("deep", nested(120)),
    tool("l" * 65),
    {"description": "Nobody knows what it is called."},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stub, ToolSet]]:
    folder = tmp_path_factory.mktemp("wild")
    stub = Stub(folder, "wild").script(TOOLS)
    with loaded(write(folder, stub.table('read_only = ["*"]'))) as tools:
        yield stub, tools


Server = tuple[Stub, ToolSet]
each_mode = pytest.mark.parametrize("mode", ALL_MODES)


def outcome(mode: Mode, server: Server, *made: tuple[str, dict[str, Any]]) -> tuple[Any, Any, Any]:
    """Run a model that makes these calls; return it, the results, and what the server received."""
    stub, tools = server
    before = len(stub.received())
    model = calls(*made)
    output = run(mode, compiled(model, tools), "?", context={"max_tool_rounds": 9})
    assert output["status"] == "answered"
    results = [result_for(output["messages"], f"c{n}") for n in range(len(made))]
    return model, results, stub.received()[before:]


@each_mode
def test_a_reference_is_sent_with_its_definition_and_checked(mode: Mode, server: Server) -> None:
    """Case SCH-01."""
    good, bad = {"q": {"team": 3}}, {"q": {"team": "x"}}
    model, results, received = outcome(mode, server, ("ref", good), ("ref", bad))
    assert bound(model)["ref"]["parameters"]["$defs"] == {"Q": Q}
    assert received == [{"name": "ref", "arguments": good}]
    assert results[0].text == 'ref: {"q": {"team": 3}}'
    assert results[1].status == "error"
    assert "q.team" in results[1].text


@each_mode
def test_a_recursive_schema_is_sent_in_bounded_size_and_checked_at_every_level(
    mode: Mode, server: Server
) -> None:
    """Case SCH-03."""
    good = {"n": {"v": 1, "kids": [{"v": 2, "kids": []}]}}
    bad = {"n": {"v": 1, "kids": [{"v": "x"}]}}
    model, results, received = outcome(mode, server, ("tree", good), ("tree", bad))
    assert len(str(bound(model)["tree"])) < 1000
    assert received == [{"name": "tree", "arguments": good}]
    assert "n.kids[0].v" in results[1].text


@each_mode
def test_a_tool_without_a_schema_takes_no_arguments_and_one_without_a_type_is_an_object(
    mode: Mode, server: Server
) -> None:
    """Case SCH-05: a schema that says nothing of additional properties takes none."""
    bare = ("empty", "missing", "null")
    made = [(name, args) for name in bare for args in ({}, {"a": 1})]
    model, results, received = outcome(mode, server, *made[:4], ("untyped", {"a": "x"}))
    for name in bare:
        shown = bound(model)[name]["parameters"]
        assert shown == {"type": "object", "properties": {}, "additionalProperties": False}
    assert bound(model)["untyped"]["parameters"]["type"] == "object"
    assert [sent["name"] for sent in received] == ["empty", "missing", "untyped"]
    assert [result.status for result in results] == ["success", "error"] * 2 + ["success"]


@each_mode
def test_type_arrays_and_nullable_unions_pass_null_and_refuse_another_type(
    mode: Mode, server: Server
) -> None:
    """Case SCH-07."""
    good = {"a": None, "b": None}
    _, results, received = outcome(mode, server, ("nullable", good), ("nullable", {"a": 5}))
    assert received == [{"name": "nullable", "arguments": good}]
    assert "must be string or null" in results[1].text


@each_mode
def test_any_name_is_shown_as_providers_take_it_and_sent_as_the_server_has_it(
    mode: Mode, server: Server
) -> None:
    """Case SCH-09: the shown names are a promise to threads that were recorded with them."""
    shown = {
        "calendar.create": "calendar_create_5a357e",
        "user-profile/update": "user-profile_update_0c6c48",
        "Dockerfile problems scanner": "Dockerfile_problems_scanner_5160e4",
        "größe": "groe_d353a2",
    }
    made = [(name, {"q": "x"}) for name in [*shown.values(), "already-legal_1"]]
    model, results, received = outcome(mode, server, *made)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in bound(model))
    assert [sent["name"] for sent in received] == [*shown, "already-legal_1"]
    assert {result.status for result in results} == {"success"}


@each_mode
def test_a_broken_schema_costs_its_own_tool_and_an_open_array_is_completed(
    mode: Mode, server: Server
) -> None:
    """Case SCH-11."""
    model, results, received = outcome(mode, server, ("broken", {}), ("anything", {"l": [1, "a"]}))
    assert "broken" not in bound(model)
    assert bound(model)["anything"]["parameters"]["properties"]["l"]["items"] == {}
    assert "does not exist" in results[0].text
    assert received == [{"name": "anything", "arguments": {"l": [1, "a"]}}]


@each_mode
def test_a_schema_that_is_too_large_or_too_deep_costs_its_own_tool(
    mode: Mode, server: Server
) -> None:
    """Case SCH-13."""
    model, results, received = outcome(mode, server, ("wide", {}), ("deep", {}), ("empty", {}))
    assert not {"wide", "deep"} & set(bound(model))
    assert [result.status for result in results] == ["error", "error", "success"]
    assert [sent["name"] for sent in received] == ["empty"]
    assert len(str(bound(model))) < 20_000


def test_each_tool_that_is_left_out_is_named_in_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stub = Stub(tmp_path, "wild").script(TOOLS)
    with caplog.at_level(logging.WARNING, "rungs"), loaded(write(tmp_path, stub.table())) as tools:
        assert len(tools) == len(TOOLS) - 4
        assert len(tools) == len(TOOLS) - 4
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 4
    for line, (name, reason) in zip(
        said,
        [
            ("broken", "not valid"),
            ("wide", "more than 100,000"),
            ("deep", "deeper than 100 levels"),
            ("", "lists a tool without a name"),
        ],
        strict=True,
    ):
        assert "MCP server 'wild'" in line
        assert name in line
        assert reason in line
        assert "\n" not in line


def test_a_list_that_cannot_be_read_at_all_costs_the_server_and_says_so_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Case SCH-13: the SDK reads no JSON that is nested 500 deep."""
    deep = Stub(tmp_path, "deep").script([tool("fine"), tool("bad", nested(500))])
    good = Stub(tmp_path, "good").script([tool("kept")])
    with loaded(write(tmp_path, deep.table(), good.table())) as tools:
        assert [made.name for made in tools] == ["kept"]
    (line,) = [record.getMessage() for record in caplog.records if "rungs" in record.name]
    assert line.startswith("MCP server 'deep' can't be used: it sent a message that can't be read")
