"""Several, broken, repeated and empty calls in one reply: what a run makes of them."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from graphs.models import ScriptedModel
from tests.support import MODES, Mode, compiled, result_for, results, run

pytestmark = pytest.mark.parametrize("mode", MODES)


class Ran(list[dict[str, Any]]):
    """The arguments of each execution of a tool's body."""


def adding(ran: Ran) -> Any:
    def add(a: int, b: int = 2) -> int:
        """Add two numbers."""
        ran.append({"a": a, "b": b})
        return a + b

    return add


def finding(ran: Ran) -> Any:
    def find(q: str = "") -> str:
        """Find something."""
        ran.append({"q": q})
        return f"found {q}"

    return find


def with_schema(name: str, schema: dict[str, Any], ran: Ran) -> dict[str, Any]:
    def body(**arguments: Any) -> str:
        ran.append(arguments)
        return "done"

    return {"name": name, "description": f"Do {name}.", "parameters": schema, "function": body}


def call(call_id: str, name: str, **args: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "args": args}


def chunks(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Script a reply whose calls come in exactly these pieces."""
    made = [{"tool_calls": [piece]} for piece in pieces]
    return {"stream_chunks": [*made, {"finish": "tool_calls"}]}


def replayed_arguments_are_json(model: ScriptedModel) -> bool:
    """Tell whether each call in the last request is one that a provider takes."""
    for message in model.requests[-1].messages:
        assert not getattr(message, "invalid_tool_calls", [])
        for made in getattr(message, "tool_calls", []):
            json.dumps(made["args"])
    return True


def test_truncated_arguments_are_answered_with_where_they_broke_and_the_model_goes_on(
    mode: Mode,
) -> None:
    """Case ARG-01."""
    ran = Ran()
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    cut = {"id": "c1", "name": "get_weather", "args_raw": '{"city": "Par'}
    model = ScriptedModel(
        replies=[{"tool_calls": [cut], "finish": "tool_calls"}, "Sunny in Paris."]
    )
    output = run(mode, compiled(model, [with_schema("get_weather", schema, ran)]), "?")
    answer = result_for(output["messages"], "c1")
    assert ran == []
    assert answer.status == "error"
    assert "JSON" in answer.text
    assert "14" in answer.text or "end" in answer.text
    assert len(model.requests) == 2
    assert output["answer"] == "Sunny in Paris."


def test_a_streamed_call_cut_in_the_middle_of_a_list_never_runs(mode: Mode) -> None:
    """Case ARG-03: a partial parse would give a valid call with two ids."""
    ran = Ran()
    schema = {
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "integer"}}},
        "required": ["ids"],
    }
    chunk = {"index": 0, "id": "c1", "name": "delete_orders", "args": '{"ids":[101,102'}
    model = ScriptedModel(replies=[chunks([chunk]), "Nothing was deleted."])
    output = run(mode, compiled(model, [with_schema("delete_orders", schema, ran)]), "?")
    assert ran == []
    assert result_for(output["messages"], "c1").status == "error"


def test_only_a_field_whose_schema_forbids_text_is_decoded(mode: Mode) -> None:
    """Case ARG-05."""
    ran = Ran()
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
        },
        "required": ["tags"],
    }
    good = call("c1", "set_tags", tags='["a","b"]', note="[1]")
    cut = call("c2", "set_tags", tags='["a","b', note="[1]")
    model = ScriptedModel(replies=[{"tool_calls": [good, cut]}, "ok"])
    output = run(mode, compiled(model, [with_schema("set_tags", schema, ran)]), "?")
    assert ran == [{"tags": ["a", "b"], "note": "[1]"}]
    assert "tags" in result_for(output["messages"], "c2").text


def test_empty_arguments_for_required_fields_never_run_and_the_field_is_named(mode: Mode) -> None:
    """Case ARG-09."""
    ran = Ran()
    schema = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
    model = ScriptedModel(
        replies=[{"tool_calls": [{"id": "c1", "name": "refund", "args_raw": ""}]}, "ok"]
    )
    output = run(mode, compiled(model, [with_schema("refund", schema, ran)]), "?")
    assert ran == []
    assert "'order'" in result_for(output["messages"], "c1").text


def test_text_false_becomes_false_only_where_the_schema_wants_a_boolean(mode: Mode) -> None:
    """Case ARG-11."""
    ran = Ran()
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "all": {"type": "boolean"},
            "label": {"type": "string"},
        },
        "required": ["id"],
    }
    model = ScriptedModel(
        replies=[
            {"tool_calls": [call("c", "remove_alert", id=7, all="false", label="false")]},
            "ok",
        ]
    )
    run(mode, compiled(model, [with_schema("remove_alert", schema, ran)]), "?")
    assert ran == [{"id": 7, "all": False, "label": "false"}]


def test_null_for_an_optional_field_means_left_out(mode: Mode) -> None:
    """Case ARG-13."""
    ran = Ran()
    model = ScriptedModel(replies=[{"tool_calls": [call("c", "add", a=3, b=None)]}, "5"])
    run(mode, compiled(model, [adding(ran)]), "?")
    assert ran == [{"a": 3, "b": 2}]


def test_an_invented_argument_is_named_with_those_allowed_and_nothing_runs(mode: Mode) -> None:
    """Case ARG-15."""
    ran = Ran()
    schema = {"type": "object", "properties": {"topic": {"type": "string", "default": ""}}}
    model = ScriptedModel(replies=[{"tool_calls": [call("c", "read_doc", path="intro")]}, "ok"])
    output = run(mode, compiled(model, [with_schema("read_doc", schema, ran)]), "?")
    text = result_for(output["messages"], "c").text
    assert ran == []
    assert "'path'" in text
    assert "topic" in text


def test_a_tool_may_opt_in_to_further_arguments(mode: Mode) -> None:
    """Case ARG-15."""
    ran = Ran()
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    model = ScriptedModel(replies=[{"tool_calls": [call("c", "read_doc", path="intro")]}, "ok"])
    run(mode, compiled(model, [with_schema("read_doc", schema, ran)]), "?")
    assert ran == [{"path": "intro"}]


def test_declared_defaults_are_filled_in_and_recorded(mode: Mode) -> None:
    """Case ARG-17."""
    ran = Ran()
    schema = {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "limit": {"type": "integer", "default": 20},
            "opt": {"type": "object", "properties": {"lang": {"type": "string", "default": "en"}}},
        },
        "required": ["q"],
    }
    replies = [
        {"tool_calls": [call("c1", "search", q="tea")]},
        {
            "tool_calls": [
                call("c2", "search", q="tea", opt={}),
                call("c3", "search", q="", limit=0),
            ]
        },
        "ok",
    ]
    output = run(
        mode, compiled(ScriptedModel(replies=replies), [with_schema("search", schema, ran)]), "?"
    )
    assert {"q": "tea", "limit": 20} in ran
    assert {"q": "tea", "limit": 20, "opt": {"lang": "en"}} in ran
    assert {"q": "", "limit": 0} in ran
    recorded = result_for(output["messages"], "c1").additional_kwargs["arguments"]
    assert recorded == {"q": "tea", "limit": 20}


def test_lone_surrogates_and_nuls_never_enter_the_transcript(mode: Mode) -> None:
    """Case ARG-19."""
    ran = Ran()
    schema = {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}
    replies = [
        {"tool_calls": [{"id": "c1", "name": "note", "args_raw": '{"t":"fish \\ud83c end"}'}]},
        {
            "tool_calls": [
                {"id": "c2", "name": "note", "args_raw": '{"t":"\\ud83c\\udf78 a\\u0000b"}'}
            ]
        },
        "ok",
    ]
    output = run(
        mode, compiled(ScriptedModel(replies=replies), [with_schema("note", schema, ran)]), "?"
    )
    assert output["answer"] == "ok"
    for made in ran:
        made["t"].encode("utf-8")
        assert "\0" not in made["t"]
    assert any("🍸" in made["t"] for made in ran)
    for message in output["messages"]:
        message.model_dump_json().encode("utf-8")


def test_a_good_call_runs_beside_a_malformed_one_and_each_id_has_one_result(mode: Mode) -> None:
    """Case MUL-01."""
    ran = Ran()
    calls = [call("a", "add", a=1, b=2), {"id": "b", "name": "add", "args_raw": "{bad"}]
    model = ScriptedModel(replies=[{"tool_calls": calls}, "3"])
    output = run(mode, compiled(model, [adding(ran)]), "?")
    assert ran == [{"a": 1, "b": 2}]
    assert result_for(output["messages"], "a").status == "success"
    assert result_for(output["messages"], "b").status == "error"
    assert replayed_arguments_are_json(model)


def test_a_server_that_repeats_its_call_ids_gets_fresh_ones(mode: Mode) -> None:
    """Case MUL-03."""
    ran: list[str] = []

    def make(f: str) -> str:
        """Make a file."""
        ran.append(f)
        return f"made {f}"

    replies = [
        {"tool_calls": [call("Z", "make", f="a")]},
        {"tool_calls": [call("Z", "make", f="b")]},
        "done",
    ]
    model = ScriptedModel(replies=replies)
    output = run(mode, compiled(model, [make]), "?")
    assert ran == ["a", "b"]
    sent = results(model.requests[-1].messages)
    assert [message.text for message in sent] == ["made a", "made b"]
    assert len({message.tool_call_id for message in sent}) == 2
    assert output["answer"] == "done"


def test_a_call_without_an_id_gets_one(mode: Mode) -> None:
    ran = Ran()
    model = ScriptedModel(
        replies=[{"tool_calls": [{"id": None, "name": "add", "args": {"a": 1}}]}, "3"]
    )
    output = run(mode, compiled(model, [adding(ran)]), "?")
    (answer,) = results(output["messages"])
    assert answer.tool_call_id
    assert ran == [{"a": 1, "b": 2}]


def test_an_empty_reply_is_asked_for_once_more(mode: Mode) -> None:
    """Case MUL-05."""
    replies = [{"tool_calls": [call("a", "add", a=1, b=2)]}, {"text": ""}, {"text": "3"}]
    model = ScriptedModel(replies=replies)
    output = run(mode, compiled(model, [adding(Ran())]), "?")
    assert output["answer"] == "3"
    assert output["status"] == "answered"
    assert model.requests[2].tools == ["add"]
    replies_sent = [m for m in model.requests[2].messages if isinstance(m, AIMessage)]
    assert all(reply.text or reply.tool_calls for reply in replies_sent)


def test_a_reply_that_stays_empty_ends_in_no_answer_and_never_in_an_empty_one(mode: Mode) -> None:
    """Cases MUL-05 and CAP-07."""
    model = ScriptedModel(replies=["", ""])
    output = run(mode, compiled(model, [adding(Ran())]), "?")
    assert output["status"] == "no_answer"
    assert output["answer"] is None
    assert len(model.requests) == 2


def test_text_beside_a_call_is_kept_and_is_not_the_answer(mode: Mode) -> None:
    """Case MUL-07."""
    ran = Ran()
    aside = {"text": "Let me look that up.", "tool_calls": [call("a", "find", q="x")]}
    output = run(mode, compiled(ScriptedModel(replies=[aside, "It is 5."]), [finding(ran)]), "?")
    assert ran == [{"q": "x"}]
    assert output["answer"] == "It is 5."
    assert output["messages"][1].text == "Let me look that up."


def test_an_unknown_tool_names_those_that_exist_and_nothing_runs_in_its_place(mode: Mode) -> None:
    """Case MUL-09."""
    ran = Ran()

    def find_files(q: str) -> str:
        """Find files."""
        ran.append({"q": q})
        return "a.cfg"

    def read_file(path: str) -> str:
        """Read a file."""
        return path

    replies = [
        {"tool_calls": [call("a", "search_files", q="cfg")]},
        {"tool_calls": [call("b", "find_files", q="cfg")]},
        "ok",
    ]
    output = run(mode, compiled(ScriptedModel(replies=replies), [find_files, read_file]), "?")
    answer = result_for(output["messages"], "a")
    assert answer.status == "error"
    assert "find_files" in answer.text
    assert "read_file" in answer.text
    assert ran == [{"q": "cfg"}]


def test_an_unknown_tool_in_a_read_only_run_names_only_what_may_run(mode: Mode) -> None:
    """Case MUL-09: only the tools that this run may use."""
    model = ScriptedModel(replies=[{"tool_calls": [call("a", "serch", q="x")]}, "ok"])
    output = run(mode, compiled(model), "?", context={"read_only": True})
    text = result_for(output["messages"], "a").text
    assert "search_docs" in text
    assert "save_note" not in text


def test_a_call_written_as_text_is_not_the_answer(mode: Mode) -> None:
    """Case MUL-11."""
    ran = Ran()
    written = '{"name": "find", "arguments": {"q": "tea"}}'
    model = ScriptedModel(replies=[written, "Tea costs 3."])
    output = run(mode, compiled(model, [finding(ran)]), "?")
    assert output["answer"] == "Tea costs 3."
    assert ran == []
    assert len(model.requests) == 2
    assert "tool call as text" in model.requests[1].messages[-1].text


def test_an_answer_that_merely_contains_such_text_is_left_alone(mode: Mode) -> None:
    """Case MUL-11."""
    prose = 'Send {"name": "find", "arguments": {"q": "tea"}} to the API.'
    model = ScriptedModel(replies=[prose])
    assert run(mode, compiled(model, [finding(Ran())]), "?")["answer"] == prose


def test_glued_or_fragmentary_streamed_arguments_are_never_lost_in_silence(mode: Mode) -> None:
    """Case MUL-13: one index for two objects, no index, and a name repeated in each piece."""
    ran = Ran()
    schema = {"type": "object", "properties": {"p": {"type": "string"}}}
    glued = [{"index": 0, "id": "a", "name": "read", "args": '{"p":"a"}{"p":"b"}'}]
    fragments: list[dict[str, Any]] = [
        {"index": None, "id": "b", "name": "read", "args": '{"p'},
        {"index": None, "id": None, "name": None, "args": '":"a"}'},
    ]
    repeated: list[dict[str, Any]] = [
        {"index": 0, "id": "d", "name": "read", "args": '{"p":'},
        {"index": 0, "id": None, "name": "read", "args": '"z"}'},
    ]
    replies: list[Any] = [chunks(glued), chunks(fragments), chunks(repeated), "done"]
    graph = compiled(ScriptedModel(replies=replies), [with_schema("read", schema, ran)])
    output = _streamed(mode, graph)
    assert {} not in ran
    assert all(made in ({"p": "a"}, {"p": "z"}) for made in ran)
    answered = results(output["messages"])
    assert len(answered) == 3
    assert answered[0].status == "error"


def _streamed(mode: Mode, graph: Any) -> Any:
    """Run with `messages` streamed too, which makes the model stream its reply."""
    import asyncio

    given = {"messages": [{"role": "user", "content": "?"}]}
    modes = ["messages", "values"]

    async def collect() -> Any:
        return [part async for part in graph.astream(given, stream_mode=modes)]

    parts = (
        list(graph.stream(given, stream_mode=modes)) if mode == "invoke" else asyncio.run(collect())
    )
    return [values for kind, values in parts if kind == "values"][-1]


def test_a_streamed_reply_with_a_cut_call_is_checked_from_its_raw_text(mode: Mode) -> None:
    """Case ARG-03, with the pieces really streamed."""
    ran = Ran()
    schema = {
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "integer"}}},
    }
    chunk = {"index": 0, "id": "c1", "name": "delete_orders", "args": '{"ids":[101,102'}
    replies: list[Any] = [chunks([chunk]), "Nothing."]
    graph = compiled(ScriptedModel(replies=replies), [with_schema("delete_orders", schema, ran)])
    output = _streamed(mode, graph)
    assert ran == []
    assert result_for(output["messages"], "c1").status == "error"
    assert output["answer"] == "Nothing."


def test_more_than_twenty_calls_in_a_reply_are_answered_and_do_not_run(mode: Mode) -> None:
    ran = Ran()
    calls = [call(f"c{n}", "add", a=n) for n in range(25)]
    output = run(
        mode, compiled(ScriptedModel(replies=[{"tool_calls": calls}, "ok"]), [adding(ran)]), "?"
    )
    answered = results(output["messages"])
    assert len(ran) == 20
    assert len(answered) == 25
    assert [message.status for message in answered].count("error") == 5


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**5000], ids=["above", "below", "huge"])
def test_a_parsed_integer_beyond_64_bits_is_an_error_result_as_a_raw_one_is(
    mode: Mode, number: int
) -> None:
    ran = Ran()
    calls = [call("c1", "add", a=number), call("c2", "add", a=1)]
    model = ScriptedModel(replies=[AIMessage("", tool_calls=calls), "Done."])
    saved = compiled(model, [adding(ran)], checkpointer=InMemorySaver())
    result = run(mode, saved, "?")
    assert "beyond 64 bits; send it as text" in str(result_for(result["messages"], "c1").content)
    assert result_for(result["messages"], "c2").content == "3"
    assert ran == [{"a": 1, "b": 2}]
    assert result["answer"] == "Done."
    assert replayed_arguments_are_json(model)


def test_an_integer_beyond_64_bits_elsewhere_in_a_reply_is_kept_as_its_text(mode: Mode) -> None:
    reply = AIMessage(
        [{"type": "text", "text": "Done.", "n": [2**64]}],
        additional_kwargs={"x": {"y": 2**70}},
        response_metadata={"seed": -(2**64), "small": 7},
        usage_metadata={"input_tokens": 2**64, "output_tokens": 1, "total_tokens": 2**64 + 1},
    )
    graph = compiled(ScriptedModel(replies=[reply]), [], checkpointer=InMemorySaver())
    kept = run(mode, graph, "?")["messages"][-1]
    assert kept.text == "Done."
    assert kept.additional_kwargs["x"] == {"y": str(2**70)}
    assert kept.response_metadata["seed"] == str(-(2**64))
    assert kept.response_metadata["small"] == 7
    assert kept.usage_metadata is None
