"""The scripted model replays what it is given and records what it was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from graphs.models import ModelError, ModelReplyError, ScriptedModel, ScriptExhausted, resolve

TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "find it",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}
CALL = {"id": "c1", "name": "find", "args": {"q": "tea"}}


async def test_replies_come_in_order_sync_async_and_streamed() -> None:
    model = ScriptedModel(replies=["one", "two", "three four", "five six"])
    assert model.invoke("q").content == "one"
    assert (await model.ainvoke("q")).content == "two"
    assert [c.content for c in model.stream("q") if c.content] == ["three", " four"]
    assert [c.content async for c in model.astream("q") if c.content] == ["five", " six"]


async def test_running_out_of_replies_is_an_error_of_the_test_and_not_of_the_model() -> None:
    model = ScriptedModel(replies=["one"])
    model.invoke("q")
    with pytest.raises(ScriptExhausted, match="has 1 replies, and the model was called 2 times"):
        model.invoke("q")
    with pytest.raises(AssertionError):
        await model.ainvoke("q")


async def test_every_call_is_recorded_as_it_was_sent() -> None:
    model = ScriptedModel(replies=["a", "b"])
    messages = [HumanMessage("q")]
    model.bind_tools([TOOL], tool_choice="any").invoke(messages, stop=["x"])
    messages.append(HumanMessage("later"))
    await model.ainvoke(messages)
    first, second = model.requests
    assert [m.content for m in first.messages] == ["q"]
    assert (first.tools, first.tool_choice, first.stop) == (["find"], "any", ["x"])
    assert first.tool_schemas == [TOOL]
    assert (second.tools, second.stop) == ([], None)
    assert len(second.messages) == 2


async def test_a_reply_can_have_calls_usage_and_a_finish_reason() -> None:
    reply = {
        "text": "Let me see.",
        "tool_calls": [CALL],
        "finish": "length",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    model = ScriptedModel(replies=[reply, reply, {"tool_calls": [CALL]}])
    whole = model.invoke("q")
    streamed = model.invoke("q", stream=True)
    for message in (whole, streamed):
        assert message.content == "Let me see."
        assert [(c["id"], c["name"], c["args"]) for c in message.tool_calls] == [
            ("c1", "find", {"q": "tea"})
        ]
        assert message.usage_metadata == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
        assert message.response_metadata["finish_reason"] == "length"
    bare = model.invoke("q")
    assert bare.usage_metadata is None
    assert bare.response_metadata["finish_reason"] == "tool_calls"


async def test_messages_are_replayed_without_being_changed() -> None:
    message = AIMessage("hi", additional_kwargs={"a": 1}, usage_metadata=None)
    model = ScriptedModel(replies=[message, message])
    assert model.invoke("q").content == "hi"
    streamed = model.invoke("q", stream=True)
    assert (streamed.content, streamed.additional_kwargs) == ("hi", {"a": 1})
    assert message.id is None


async def test_a_reply_can_be_a_function_of_what_was_sent() -> None:
    def answer(messages: Any, tools: Any) -> Any:
        return f"{messages[-1].content} with {len(tools)}"

    model = ScriptedModel(replies=[answer, answer])
    assert model.bind_tools([TOOL]).invoke("q").content == "q with 1"
    assert (await model.ainvoke("q")).content == "q with 0"


async def test_exceptions_are_raised_and_count_as_a_call() -> None:
    model = ScriptedModel(replies=[TimeoutError("slow"), {"error": "overloaded"}, "ok"])
    with pytest.raises(TimeoutError):
        model.invoke("q")
    with pytest.raises(ModelReplyError, match="overloaded"):
        await model.ainvoke("q")
    assert model.invoke("q").content == "ok"
    assert len(model.requests) == 3


async def test_exact_pieces_are_streamed_as_they_are_given() -> None:
    pieces = [
        {"text": "a"},
        {"tool_calls": [{"index": 0, "id": "c1", "name": "find", "args": '{"q": '}]},
        {"tool_calls": [{"index": 0, "args": '"tea"}'}], "finish": "tool_calls"},
    ]
    model = ScriptedModel(replies=[{"stream_chunks": pieces}] * 3)
    chunks = [c for c in model.stream("q") if isinstance(c, AIMessageChunk)]
    assert [c.tool_call_chunks[0]["args"] for c in chunks if c.tool_call_chunks] == [
        '{"q": ',
        '"tea"}',
    ]
    for message in (model.invoke("q"), model.invoke("q", stream=True)):
        assert message.content == "a"
        assert message.tool_calls[0]["args"] == {"q": "tea"}
        assert message.response_metadata["finish_reason"] == "tool_calls"


def test_a_reply_of_no_known_kind_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="can't be a int"):
        ScriptedModel(replies=[4]).invoke("q")


def test_a_script_can_be_a_file_and_goes_on_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["one", {"tool_calls": [CALL]}, "three"]), encoding="utf-8")
    first = ScriptedModel.from_file(path)
    assert first.invoke("q").content == "one"
    assert first.invoke([HumanMessage("q"), AIMessage("one")]).tool_calls
    resumed = ScriptedModel.from_file(path)
    thread = [HumanMessage("q"), AIMessage("one"), AIMessage("")]
    assert resumed.invoke(thread).content == "three"
    named = resolve(f"scripted:{path}")
    assert isinstance(named, ScriptedModel)
    assert named is resolve(f"scripted:{path}")


@pytest.mark.parametrize("text", [None, "{", "4", '{"replies": 4}', "[4]"])
def test_a_script_file_that_is_none_is_one_line(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "script.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"script\.json") as error:
        resolve(f"scripted:{path}")
    assert "\n" not in str(error.value)
