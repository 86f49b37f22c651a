"""Replies that are no record, or not the one that was meant (cases of the kind forced-output).

The bound on asking again is 0, by the seed's stop rule: one model call, then a record or a
rejection; a repair is a step of its own.
"""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from graphs import open_graph
from graphs.models.capabilities import ALL, Capabilities
from graphs.models.openai import RungsChatOpenAI
from tests.records import GOOD, Deal, called, fill, rejection
from tests.stub_server import Recorded, Reply, Script, call, completion, serving
from tests.support import ALL_MODES, Mode, results, run

pytestmark = pytest.mark.parametrize("mode", ALL_MODES)
KEY: Any = "sk-test-key-0123456789"


def serve(
    mode: Mode, script: Script, db: Path, can: Capabilities | None = None, schema: Any = Deal
) -> tuple[dict[str, Any], list[Recorded]]:
    """Run the graph against a scripted server; return what came of it, and the requests."""
    with serving(script) as server:
        model = RungsChatOpenAI(
            model="stub-1", base_url=server.base_url, api_key=KEY, capabilities=can
        )
        with open_graph("forced_output", db=db, model=model, schema=schema) as graph:
            return run(mode, graph, "My password is swordfish."), server.requests


@pytest.mark.parametrize("second", [{**GOOD, "name": "B", "amount": 4}, GOOD])
def test_two_records_are_rejected_by_their_number_and_both_ids_are_answered(
    mode: Mode, second: Any
) -> None:
    """Case FRC-01; two records that say the same are two."""
    output, _ = fill(mode, called(GOOD, second))
    assert output["rejection"]["reason"] == "no single tool call"
    (error,) = output["rejection"]["errors"]
    assert error == "expected exactly one call of record_request, got 2"
    assert output["rejection"]["raw_arguments"] == [GOOD, second]
    assert [answer.tool_call_id for answer in results(output["messages"])] == ["a", "b"]


@pytest.mark.parametrize("text", ["The name is A.", "x" * 5000])
def test_text_in_place_of_a_call_is_a_rejection_that_quotes_it_within_bounds(
    mode: Mode, text: str
) -> None:
    """Case FRC-03."""
    found = rejection(mode, text)
    (error,) = found["errors"]
    assert text[:50] in error
    assert len(error) < 300
    assert found["kind"] == "no_call"


@pytest.mark.parametrize("name", ["Record_", "Record_Request", "record_request ", ""])
def test_another_tool_or_spelling_is_rejected_by_its_name(mode: Mode, name: str) -> None:
    """Case FRC-05."""
    found = rejection(mode, called(GOOD, name=name))
    if name:
        assert f"wrong tool name '{name.strip()}'" in found["errors"][0]
    assert found["reason"] in {"no single tool call", "the arguments can't be read"}
    assert found["raw_arguments"]


AZURE = {
    "error": {
        "message": "The response was filtered: My password is swordfish.",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}


@pytest.mark.parametrize(
    "script",
    [
        [{"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}],
        [Reply(AZURE, status=400)],
    ],
)
def test_a_content_filter_is_a_rejection_after_one_call_and_the_prompt_is_not_echoed(
    mode: Mode, script: Script, tmp_path: Path
) -> None:
    """Case FRC-07."""
    output, requests = serve(mode, script, tmp_path / "r.sqlite")
    assert len(requests) == 1
    assert output["status"] == "rejected"
    assert output["rejection"]["kind"] == "content_filter"
    assert output["usage"]["model_calls"] == 1
    told = [output["stop_reason"], output["rejection"], output["messages"][1:]]
    assert "swordfish" not in str(told)


def test_an_extra_field_is_rejected_by_its_name(mode: Mode) -> None:
    """Case FRC-09."""
    found = rejection(mode, called({**GOOD, "confidence": 0.9}))
    assert "'confidence'" in found["errors"][0]


class Open(BaseModel, extra="allow"):
    name: str = Field(description="Who.")
    inner: Deal = Field(description="What.")


def test_an_extra_field_is_rejected_at_every_level_whatever_the_model_class_allows(
    mode: Mode,
) -> None:
    """Case FRC-09, deeper."""
    inner = {**GOOD, "confidence": 1}
    errors = rejection(mode, called({"name": "A", "inner": inner, "sure": True}), Open)["errors"]
    assert any("'confidence'" in error and "'inner'" in error for error in errors)
    assert any("'sure'" in error for error in errors)


@pytest.mark.parametrize("amount", ["1234.50", "1,234.50", "1.234,50", "€5", "5 ", "3", True])
def test_a_number_sent_as_text_is_rejected_with_field_and_value_never_guessed(
    mode: Mode, amount: Any
) -> None:
    """Case FRC-11: forced output coerces nothing, so that the first is rejected too."""
    (error,) = rejection(mode, called({**GOOD, "amount": amount}))["errors"]
    assert "'amount'" in error
    assert str(amount).lower() in error


DATES = [
    "31/12/2025",
    "03/04/2025",
    "2025-02-30",
    "20251231",
    "2025-W05-1",
    1735603200,
    "2025-12-31T00:00:00Z",
]


@pytest.mark.parametrize("due", DATES)
def test_a_date_that_is_not_year_month_day_is_rejected_and_the_form_is_named(
    mode: Mode, due: Any
) -> None:
    """Case FRC-13."""
    (error,) = rejection(mode, called({**GOOD, "due": due}))["errors"]
    assert "'due'" in error
    assert "YYYY-MM-DD" in error
    assert str(due) in error


def test_a_server_that_ignores_the_forced_choice_is_not_asked_again_nor_believed(
    mode: Mode, tmp_path: Path
) -> None:
    """Case FRC-15, with the bound 0."""
    record = completion(tool_calls=[call("record_request", '{"name": "A"}')])
    output, requests = serve(mode, [completion("Sure!"), record], tmp_path / "r.sqlite")
    assert output["rejection"]["reason"] == "no single tool call"
    assert "Sure!" in output["rejection"]["errors"][0]
    assert len(requests) == 1
    choice = {"type": "function", "function": {"name": "record_request"}}
    assert requests[0].json["tool_choice"] == choice


def strict_faults(schema: Any) -> list[str]:
    """Name what a server in strict mode refuses, as OpenAI's does."""
    faults = []
    if "default" in schema:
        faults.append("default")
    if "$ref" in schema and len(schema) > 1:
        faults.append("$ref with siblings")
    if "properties" in schema:
        if schema.get("additionalProperties") is not False:
            faults.append("additionalProperties")
        if set(schema.get("required", ())) != set(schema["properties"]):
            faults.append("required")
    parts = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    parts += [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    for part in parts:
        faults += strict_faults(part)
    return faults


class Nested(BaseModel):
    first: Deal = Field(description="The first.")
    others: list[Deal] = Field(default=[], description="The others.")


@pytest.mark.parametrize("schema", [Deal, Nested])
def test_a_strict_server_takes_the_schema_and_null_is_returned_as_absent(
    mode: Mode, schema: type[BaseModel], tmp_path: Path
) -> None:
    """Case FRC-17."""
    before = schema.model_json_schema()
    deal = '{"name": "A", "status": "open", "amount": 3, "due": null, "tags": null}'
    arguments = deal if schema is Deal else f'{{"first": {deal}, "others": [{deal}]}}'

    def strict(request: Recorded) -> Any:
        (tool,) = request.json["tools"]
        parameters = tool["function"]["parameters"]
        if tool["function"].get("strict") is not True or strict_faults(parameters):
            return Reply({"error": {"message": "invalid schema"}}, status=400)
        return completion(tool_calls=[call("record_request", arguments)])

    output, requests = serve(mode, strict, tmp_path / "r.sqlite", ALL, schema)
    expected = GOOD if schema is Deal else {"first": GOOD, "others": [GOOD]}
    assert output["record"] == expected
    assert requests[0].json["parallel_tool_calls"] is False
    assert schema.model_json_schema() == before


def test_a_server_of_which_nothing_is_known_is_sent_nothing_that_it_may_refuse(
    mode: Mode, tmp_path: Path
) -> None:
    """Case FRC-17, the other kind of server."""
    record = completion(tool_calls=[call("record_request", '{"name": "A"}')])
    _, requests = serve(mode, [record], tmp_path / "r.sqlite", Capabilities())
    assert "strict" not in requests[0].json["tools"][0]["function"]
    assert "parallel_tool_calls" not in requests[0].json


def test_a_record_that_never_validates_is_rejected_after_one_call_with_its_last_errors(
    mode: Mode,
) -> None:
    """Case FRC-19, with the bound 0."""
    errors = rejection(mode, called({"name": 1}))["errors"]
    assert any("'status'" in error for error in errors)
    assert any("'name'" in error and "string" in error and "1" in error for error in errors)


@pytest.mark.parametrize("name", ["", "  ", "\n"])
def test_blank_text_is_rejected_and_zero_is_a_number(mode: Mode, name: str) -> None:
    """Case FRC-21: text must say something, by default."""
    (error,) = rejection(mode, called({**GOOD, "name": name, "amount": 0}))["errors"]
    assert "'name' must be text that is not blank" in error
    assert fill(mode, called({**GOOD, "amount": 0}))[0]["record"]["amount"] == 0


class Ruled(BaseModel):
    code: str = Field(min_length=3, description="At least three letters.")
    note: str = Field(min_length=0, description="May be empty.")
    size: str = Field(pattern="^(S|M|L)$", description="S, M or L.")


def test_a_field_with_a_rule_of_its_own_goes_by_it(mode: Mode) -> None:
    """Case FRC-21: placeholders are for a field's own rule to refuse."""
    given = {"code": "abc", "note": "", "size": "M"}
    assert fill(mode, called(given), Ruled)[0]["record"] == given
    errors = rejection(mode, called({"code": "ab", "note": "", "size": "N/A"}), Ruled)["errors"]
    assert any("'code'" in error and "3 characters" in error for error in errors)
    assert any("'size'" in error and "N/A" in error for error in errors)
